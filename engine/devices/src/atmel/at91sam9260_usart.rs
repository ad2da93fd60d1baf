//! `atmel,at91sam9260-usart` and `atmel,at91sam9260-dbgu` for parts with a UART: SAMA5D2's Universal Asynchronous
//! Receiver Transmitter (datasheet DS60001476, section UART).
//!
//! Modelled: all registers; the transmitter with its holding register and its shift register, whose characters take the
//! time given by UART_BRGR, parity, 8 data bits and a stop bit; the receiver with UART_RHR; TXRDY, TXEMPTY, RXRDY,
//! OVRE, TIMEOUT, interrupts, write protection. A character is on the console, or in UART_RHR, when its stop bit has
//! ended; characters in the transmitter when the firmware ends are sent nevertheless. The bit clock is assumed to start
//! with the character.
//!
//! Not modelled: the receiver's comparison; framing and parity errors, which the other end never causes; echo and
//! loopback; a baud rate from a programmable clock.

use crate::prelude::*;
use crate::support::activities::SERIAL;
use crate::support::receiver::{Receiver, WhenFull, passage};
use crate::support::shift_register::ShiftRegister;
use crate::support::write_protection;
use engine::bus::device::{SerialPort, Unsent, WhenReceived};
use engine::bus::rates::LINE_HEARD;
use engine::serial::Passage;
use engine::serial::wave::{Errors, Format, Parity};

registers! {
    /// The register map (UART User Interface).
    const MAP "UART_" {
        CR 0x00 wo mask 0x9dfc {
            RSTRX 2, RSTTX 3, RXEN 4, RXDIS 5, TXEN 6, TXDIS 7, RSTSTA 8, RETTO 10, STTTO 11
        };
        MR 0x04 rw locked_by WPMR_WPEN in WPMR { FILTER 4, PAR 9..12, BRSRCCK 12, CHMODE 14..16 };
        IER 0x08 set IMR mask INTERRUPTS;
        IDR 0x0c clear IMR mask INTERRUPTS;
        IMR 0x10 ro mask INTERRUPTS;
        SR 0x14 ro mask 0x00e0_83e3 {
            RXRDY 0, TXRDY 1, OVRE 5, FRAME 6, PARE 7, TIMEOUT 8, TXEMPTY 9
        };
        RHR 0x18 ro mask 0xff;
        THR 0x1c wo mask 0xff;
        BRGR 0x20 rw locked_by WPMR_WPEN in WPMR mask 0xffff;
        CMPR 0x24 rw locked_by WPMR_WPEN in WPMR mask 0x00ff_50ff;
        RTOR 0x28 rw locked_by WPMR_WPEN in WPMR mask 0xff;
        WPMR 0xe4 rw keyed WPKEY in 0xffff_ff00 { WPEN 0 };
    }
}

/// UART_WPMR.WPKEY: "UAR".
const WPKEY: u32 = 0x55_4152;
const INTERRUPTS: u32 = 0x83e3;
/// The lowest value of UART_MR.PAR without a parity bit.
const PAR_NO: u32 = 4;
/// What UART_CR.RSTSTA clears.
const ERRORS: u32 = SR_OVRE | SR_FRAME | SR_PARE;

/// Token of the time-out's event; the token of the transmitter's line is 0.
const TIMEOUT: u32 = 1;

/// A bit is this many periods of the divided clock.
const OVERSAMPLING: u64 = 16;
/// Start bit, data and stop bit.
const FRAME_BITS: u64 = 10;

/// The device.
#[derive(Debug, State, Polled, RegisterBank)]
#[port(Port::APB)]
#[poll(first = Uart::look)]
pub struct Uart {
    #[poll(phase)]
    clock: ClockInput,
    interrupt: Option<IrqLine>,
    /// UART_SR holds the flags that stay set until UART_CR clears them, UART_RHR what was read last.
    registers: Registers,
    transmits: bool,
    holding: Option<u8>,
    line: ShiftRegister,
    receives: bool,
    receiver: Receiver,
    /// The cycle of the time-out, while it is counted.
    timeout_cycle: Option<u64>,
    timeout_alarm: Alarm,
}

/// For the list of models.
pub const MODEL: Model =
    Model::device(Group::Serial, &["atmel,at91sam9260-dbgu", "atmel,at91sam9260-usart"], 1, from_node)
        .with_activities(SERIAL)
        .naming(MAP.rows);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    let clock = reader.clock_input(0, "the peripheral clock, which the baud rate is divided from");
    reader.known(&["clock-names"]);
    Box::new(Uart::new(clock, reader.interrupt(0, "its interrupt")))
}

impl Uart {
    /// The device after reset.
    pub fn new(clock: impl Into<ClockInput>, interrupt: Option<IrqLine>) -> Uart {
        let clock = clock.into();
        Uart {
            clock,
            interrupt,
            registers: Registers::new(&MAP),
            transmits: false,
            holding: None,
            line: ShiftRegister::new(clock.rate),
            receives: false,
            receiver: Receiver::default(),
            timeout_cycle: None,
            timeout_alarm: Alarm::default(),
        }
    }

    /// Moves the held character, if there is one, to the shift register, which is free.
    fn shift(&mut self, cycle: u64) {
        if self.registers[BRGR] != 0
            && self.line.is_free()
            && let Some(character) = self.holding.take()
        {
            let format = self.format();
            self.line.start(character, (cycle, cycle + self.character_clocks()), format);
        }
    }

    /// The format of characters on the line. UART_MR.PAR: even, odd, space, mark, none.
    fn format(&self) -> Format {
        let parity = match self.registers.field(MR, MR_PAR) {
            0 => Parity::Even,
            1 => Parity::Odd,
            2 => Parity::Fixed(false),
            3 => Parity::Fixed(true),
            _ => Parity::None,
        };
        let bit_fs = Format::bit_of(self.bit_clocks().max(1), self.line.clock().get(), 1);
        Format { parity, ..Format::of_clocks(bit_fs) }
    }

    fn bit_clocks(&self) -> u64 {
        OVERSAMPLING * u64::from(self.registers[BRGR])
    }

    fn character_clocks(&self) -> u64 {
        let parity = u64::from(self.registers.field(MR, MR_PAR) < PAR_NO);
        (FRAME_BITS + parity) * self.bit_clocks()
    }

    /// Updates the interrupt line, and requests an event at the end of the character.
    fn drive(&mut self, ctx: &mut Ctx) {
        ctx.set_irq(self.interrupt, self.status() & self.registers[IMR] != 0);
        self.line.set_alarm(ctx);
        if let Some(at) = self.timeout_at() {
            self.timeout_alarm.set(at, TIMEOUT, ctx);
        }
    }

    fn timeout_at(&self) -> Option<Ps> {
        self.timeout_cycle.and_then(|cycle| self.line.edge(cycle))
    }

    /// Restarts the receiver's time-out, counted in bits.
    fn count_timeout(&mut self, now: Ps) {
        let clocks = u64::from(self.registers[RTOR]) * self.bit_clocks();
        self.timeout_cycle = (clocks > 0).then(|| self.line.cycle(now) + clocks);
    }

    fn status(&self) -> u32 {
        let ready = self.transmits && self.holding.is_none();
        self.registers[SR]
            | flag(SR_TXRDY, ready)
            | flag(SR_TXEMPTY, ready && self.line.is_free())
            | flag(SR_RXRDY, !self.receiver.is_empty())
    }

    fn command(&mut self, value: u32, now: Ps) {
        if value & CR_RSTTX != 0 {
            self.holding = None;
            self.line.clear(now);
        }
        // A character in progress is completed nevertheless.
        if value & CR_TXDIS != 0 {
            self.transmits = false;
        } else if value & CR_TXEN != 0 {
            self.transmits = true;
        }
        if value & (CR_RSTRX | CR_RXDIS) != 0 {
            self.receives = false;
        } else if value & CR_RXEN != 0 {
            self.receives = true;
        }
        if value & CR_RSTRX != 0 {
            self.receiver.clear();
        }
        if value & CR_RSTSTA != 0 {
            self.registers.put(SR, ERRORS, false);
        }
        if value & (CR_STTTO | CR_RETTO) != 0 {
            self.registers.put(SR, SR_TIMEOUT, false);
            self.timeout_cycle = None;
        }
        if value & CR_RETTO != 0 {
            self.count_timeout(now);
        }
    }

    fn send(&mut self, character: u8, ctx: &mut Ctx) {
        if !self.transmits {
            ctx.note("a character was written while the transmitter is disabled (UART_CR.TXEN): it is not sent");
            return;
        }
        if self.registers[BRGR] == 0 {
            ctx.note("a character was written while UART_BRGR is 0: without a baud rate it stays where it is");
        }
        if self.holding.replace(character).is_some() {
            ctx.note("a character was written to UART_THR while TXRDY is 0: the one before it is lost");
        }
        self.shift(self.line.cycle(ctx.now));
    }

    /// The time-out is a deadline.
    fn look(&mut self, poll: &mut Poll) -> bool {
        let timeout = self.timeout_at();
        if let Some(at) = timeout {
            poll.until(at);
        }
        timeout.is_none_or(|at| at > poll.now())
    }
}

impl Table for Uart {
    fn settle(&mut self, ctx: &mut Ctx) {
        if self.timeout_cycle.is_some_and(|at| at <= self.line.cycle(ctx.now)) {
            self.timeout_cycle = None;
            self.registers.put(SR, SR_TIMEOUT, true);
        }
        while let Some(cycle) = self.line.sent(ctx) {
            self.shift(cycle);
        }
    }

    fn shown(&mut self, register: u32, held: u32, _ctx: &mut Ctx) -> u32 {
        match register {
            SR => self.status(),
            RHR => {
                let received = self.receiver.take().map_or(held, u32::from);
                self.registers.set(RHR, received);
                received
            }
            _ => held,
        }
    }

    fn was_read(&mut self, _register: u32, ctx: &mut Ctx) {
        self.drive(ctx);
    }

    fn wrote(&mut self, register: u32, _old: u32, new: u32, ctx: &mut Ctx) {
        match register {
            CR => self.command(new, ctx.now),
            MR if new & (MR_CHMODE | MR_BRSRCCK) != 0 => {
                ctx.note("echo, loopback and a baud rate from PCK (UART_MR) are not modelled");
            }
            THR => self.send(new as u8, ctx),
            BRGR => self.shift(self.line.cycle(ctx.now)),
            _ => {}
        }
    }

    fn refused(&mut self, register: u32, why: Refused, ctx: &mut Ctx) {
        write_protection::refused(&mut self.registers, register, why, ctx);
    }

    fn update(&mut self, ctx: &mut Ctx) {
        self.drive(ctx);
        ctx.line_changed();
    }
}

impl Device for Uart {
    by_table!();

    fn pops(&self, _range: usize, offset: u32) -> bool {
        offset & !3 == RHR
    }

    fn reset(&mut self, ctx: &mut Ctx) {
        self.line.observe(ctx.scope());
    }

    fn event(&mut self, token: u32, ctx: &mut Ctx) {
        if token == TIMEOUT {
            self.timeout_alarm.rang(ctx.now);
        } else if token == LINE_HEARD {
            ctx.hear_line(self.line.known(ctx.now));
        } else {
            self.line.rang(ctx.now);
        }
        self.settle(ctx);
        self.drive(ctx);
    }

    fn clocks_changed(&mut self, ctx: &mut Ctx) {
        self.settle(ctx);
        ctx.bus.clocks.update(&mut self.clock);
        let from = self.line.cycle(ctx.now);
        self.line.change_clock(self.clock.rate, ctx);
        let to = self.line.cycle(ctx.now);
        self.timeout_cycle = self.timeout_cycle.map(|at| to + at.saturating_sub(from));
        self.timeout_alarm.cancel(TIMEOUT, ctx);
        self.drive(ctx);
    }

    fn unsent(&self) -> Unsent {
        self.line.unsent(self.holding)
    }

    fn send_on(&mut self, ctx: &mut Ctx) {
        self.settle(ctx);
    }

    fn serial_port(&mut self) -> Option<&mut dyn SerialPort> {
        Some(self)
    }

    fn counters(&self) -> Vec<(String, u64)> {
        self.receiver.counters(self.line.counters())
    }
}

impl SerialPort for Uart {
    fn when_received(&self) -> WhenReceived {
        let on = self.receives && self.registers.has(IMR, SR_RXRDY | SR_TIMEOUT);
        WhenReceived::raises(on, self.interrupt)
    }

    fn format(&self) -> Option<Format> {
        (self.registers[BRGR] > 0).then(|| Uart::format(self))
    }

    fn begin(&mut self, ctx: &mut Ctx) -> Option<Passage> {
        passage(self.clock.rate, ctx.now, self.character_clocks()).filter(|_| self.receives)
    }

    fn receive_damaged(&mut self, character: u8, errors: Errors, ctx: &mut Ctx) {
        if self.receives {
            self.registers.put(SR, flag(SR_FRAME, errors.framing) | flag(SR_PARE, errors.parity), true);
        }
        self.receive(character, ctx);
    }

    fn receive(&mut self, character: u8, ctx: &mut Ctx) {
        self.settle(ctx);
        if self.receives {
            if !self.receiver.put(character, 1, WhenFull::Overwrite, ctx) {
                self.registers.put(SR, SR_OVRE, true);
            }
            self.count_timeout(ctx.now);
        }
        self.drive(ctx);
    }
}

#[cfg(test)]
mod tests;

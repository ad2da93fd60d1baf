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

use crate::model::{Group, Model};
use crate::support::activities::SERIAL;
use crate::support::apb::{self, WriteProtection};
use crate::support::receiver::{Receiver, WhenFull, passage};
use crate::support::registers::{AccessKind, Register, flag};
use crate::support::shift_register::ShiftRegister;
use engine::bus::device::{
    AccessSize, Alarm, Ctx, Device, IrqLine, Reply, SerialPort, SlaveError, Unsent, WhenReceived,
};
use engine::bus::rates::LINE_HEARD;
use engine::dt::reader::NodeReader;
use engine::dt::wiring::ClockInput;
use engine::polling::{Poll, Polled};
use engine::serial::Passage;
use engine::serial::wave::{Errors, Format, Parity};
use engine::state::State;
use engine::time::Ps;

/// The register map (UART User Interface).
pub const REGISTERS: &[Register] = &[
    Register::new("UART_CR", CR, AccessKind::Wo, 0, 0x9dfc),
    Register::new("UART_MR", MR, AccessKind::Rw, 0, MR_MASK),
    Register::new("UART_IER", IER, AccessKind::Wo, 0, INTERRUPTS),
    Register::new("UART_IDR", IDR, AccessKind::Wo, 0, INTERRUPTS),
    Register::new("UART_IMR", IMR, AccessKind::Ro, 0, INTERRUPTS),
    Register::new("UART_SR", SR, AccessKind::Ro, 0, 0x00e0_83e3),
    Register::new("UART_RHR", RHR, AccessKind::Ro, 0, 0xff),
    Register::new("UART_THR", THR, AccessKind::Wo, 0, 0xff),
    Register::new("UART_BRGR", BRGR, AccessKind::Rw, 0, 0xffff),
    Register::new("UART_CMPR", CMPR, AccessKind::Rw, 0, 0x00ff_50ff),
    Register::new("UART_RTOR", RTOR, AccessKind::Rw, 0, 0xff),
    Register::new("UART_WPMR", WPMR, AccessKind::Rw, 0, apb::WPMR_WPEN),
];

const CR: u32 = 0x00;
const MR: u32 = 0x04;
const IER: u32 = 0x08;
const IDR: u32 = 0x0c;
const IMR: u32 = 0x10;
const SR: u32 = 0x14;
const RHR: u32 = 0x18;
const THR: u32 = 0x1c;
const BRGR: u32 = 0x20;
const CMPR: u32 = 0x24;
const RTOR: u32 = 0x28;
const WPMR: u32 = 0xe4;

const CR_RSTRX: u32 = 1 << 2;
const CR_RSTTX: u32 = 1 << 3;
const CR_RXEN: u32 = 1 << 4;
const CR_RXDIS: u32 = 1 << 5;
const CR_TXEN: u32 = 1 << 6;
const CR_TXDIS: u32 = 1 << 7;
const CR_RSTSTA: u32 = 1 << 8;
const CR_RETTO: u32 = 1 << 10;
const CR_STTTO: u32 = 1 << 11;

const MR_MASK: u32 = 1 << 4 | MR_PAR | MR_BRSRCCK | MR_CHMODE;
const MR_PAR: u32 = 7 << 9;
/// The lowest value of PAR without a parity bit.
const MR_PAR_NO: u32 = 4 << 9;
const MR_BRSRCCK: u32 = 1 << 12;
const MR_CHMODE: u32 = 3 << 14;

const SR_RXRDY: u32 = 1 << 0;
const SR_TXRDY: u32 = 1 << 1;
const SR_OVRE: u32 = 1 << 5;
const SR_FRAME: u32 = 1 << 6;
const SR_PARE: u32 = 1 << 7;
const SR_TIMEOUT: u32 = 1 << 8;
const SR_TXEMPTY: u32 = 1 << 9;
const INTERRUPTS: u32 = 0x83e3;
/// UART_WPMR.WPKEY: "UAR".
const WPKEY: u32 = 0x55_4152;

/// Token of the time-out's event; the token of the transmitter's line is 0.
const TIMEOUT: u32 = 1;

/// A bit is this many periods of the divided clock.
const OVERSAMPLING: u64 = 16;
/// Start bit, data and stop bit.
const FRAME_BITS: u64 = 10;

/// The device.
#[derive(Debug, State)]
pub struct Uart {
    clock: ClockInput,
    #[state(skip)]
    interrupt: Option<IrqLine>,
    mode: u32,
    interrupt_mask: u32,
    divider: u32,
    comparison: u32,
    timeout: u32,
    transmits: bool,
    holding: Option<u8>,
    line: ShiftRegister,
    receives: bool,
    receiver: Receiver,
    /// The value of UART_RHR after it has been read.
    last_received: u8,
    overrun: bool,
    /// FRAME and PARE.
    errors: u32,
    /// The cycle of the time-out, while it is counted.
    timeout_cycle: Option<u64>,
    timed_out: bool,
    timeout_alarm: Alarm,
    protection: WriteProtection,
}

/// For the list of models.
pub const MODEL: Model =
    Model::device(Group::Serial, &["atmel,at91sam9260-dbgu", "atmel,at91sam9260-usart"], 1, from_node)
        .with_activities(SERIAL)
        .naming(REGISTERS);

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
            mode: 0,
            interrupt_mask: 0,
            divider: 0,
            comparison: 0,
            timeout: 0,
            transmits: false,
            holding: None,
            line: ShiftRegister::new(clock.rate),
            receives: false,
            receiver: Receiver::default(),
            last_received: 0,
            overrun: false,
            errors: 0,
            timeout_cycle: None,
            timed_out: false,
            timeout_alarm: Alarm::default(),
            protection: WriteProtection::new(WPKEY),
        }
    }

    /// Brings the transmitter up to `ctx.now`.
    fn settle(&mut self, ctx: &mut Ctx) {
        if self.timeout_cycle.is_some_and(|at| at <= self.line.cycle(ctx.now)) {
            self.timeout_cycle = None;
            self.timed_out = true;
        }
        while let Some(cycle) = self.line.sent(ctx) {
            self.shift(cycle);
        }
    }

    /// Moves the held character, if there is one, to the shift register, which is free.
    fn shift(&mut self, cycle: u64) {
        if self.divider != 0
            && self.line.is_free()
            && let Some(character) = self.holding.take()
        {
            let format = self.format();
            self.line.start(character, (cycle, cycle + self.character_clocks()), format);
        }
    }

    /// The format of characters on the line. UART_MR.PAR: even, odd, space, mark, none.
    fn format(&self) -> Format {
        let parity = match (self.mode & MR_PAR) >> 9 {
            0 => Parity::Even,
            1 => Parity::Odd,
            2 => Parity::Fixed(false),
            3 => Parity::Fixed(true),
            _ => Parity::None,
        };
        let bit_fs = Format::bit_of(OVERSAMPLING * u64::from(self.divider).max(1), self.line.clock().get(), 1);
        Format { parity, ..Format::of_clocks(bit_fs) }
    }

    fn character_clocks(&self) -> u64 {
        let parity = u64::from(self.mode & MR_PAR < MR_PAR_NO);
        (FRAME_BITS + parity) * OVERSAMPLING * u64::from(self.divider)
    }

    /// Updates the interrupt line, and requests an event at the end of the character.
    fn update(&mut self, ctx: &mut Ctx) {
        ctx.set_irq(self.interrupt, self.status() & self.interrupt_mask != 0);
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
        let clocks = u64::from(self.timeout) * OVERSAMPLING * u64::from(self.divider);
        self.timeout_cycle = (clocks > 0).then(|| self.line.cycle(now) + clocks);
    }

    fn status(&self) -> u32 {
        let ready = self.transmits && self.holding.is_none();
        flag(SR_TXRDY, ready)
            | flag(SR_TXEMPTY, ready && self.line.is_free())
            | flag(SR_RXRDY, !self.receiver.is_empty())
            | flag(SR_OVRE, self.overrun)
            | self.errors
            | flag(SR_TIMEOUT, self.timed_out)
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
        self.overrun &= value & CR_RSTSTA == 0;
        if value & CR_RSTSTA != 0 {
            self.errors = 0;
        }
        if value & (CR_STTTO | CR_RETTO) != 0 {
            self.timed_out = false;
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
        if self.divider == 0 {
            ctx.note("a character was written while UART_BRGR is 0: without a baud rate it stays where it is");
        }
        if self.holding.replace(character).is_some() {
            ctx.note("a character was written to UART_THR while TXRDY is 0: the one before it is lost");
        }
        self.shift(self.line.cycle(ctx.now));
    }

    fn set_register(&mut self, offset: u32, value: u32, ctx: &mut Ctx) {
        if matches!(offset, MR | BRGR | CMPR | RTOR) && self.protection.refuses(offset, ctx) {
            return;
        }
        match offset {
            CR => self.command(value, ctx.now),
            MR => {
                self.mode = value & MR_MASK;
                if value & (MR_CHMODE | MR_BRSRCCK) != 0 {
                    ctx.note("echo, loopback and a baud rate from PCK (UART_MR) are not modelled");
                }
            }
            IER => self.interrupt_mask |= value & INTERRUPTS,
            IDR => self.interrupt_mask &= !value,
            THR => self.send(value as u8, ctx),
            BRGR => {
                self.divider = value & 0xffff;
                self.shift(self.line.cycle(ctx.now));
            }
            CMPR => self.comparison = value & 0x00ff_50ff,
            RTOR => self.timeout = value & 0xff,
            WPMR => self.protection.set_mode(value),
            _ => {}
        }
    }
}

impl Device for Uart {
    fn pops(&self, _range: usize, offset: u32) -> bool {
        offset & !3 == RHR
    }

    fn reset(&mut self, ctx: &mut Ctx) {
        self.line.observe(ctx.scope());
    }

    fn read(&mut self, _: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> Result<Reply, SlaveError> {
        self.settle(ctx);
        let register = match offset & !3 {
            MR => self.mode,
            IMR => self.interrupt_mask,
            SR => self.status(),
            RHR => {
                self.last_received = self.receiver.take().unwrap_or(self.last_received);
                self.last_received.into()
            }
            BRGR => self.divider,
            CMPR => self.comparison,
            RTOR => self.timeout,
            WPMR => self.protection.mode(),
            _ => 0,
        };
        self.update(ctx);
        Ok(apb::read(register, offset, size, ctx))
    }

    fn write(
        &mut self,
        _: usize,
        offset: u32,
        size: AccessSize,
        value: u32,
        ctx: &mut Ctx,
    ) -> Result<Reply, SlaveError> {
        self.settle(ctx);
        let (offset, value) = apb::written(value, offset, size);
        self.set_register(offset, value, ctx);
        self.update(ctx);
        ctx.line_changed();
        Ok(Reply::written(ctx.now))
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
        self.update(ctx);
    }

    fn clocks_changed(&mut self, ctx: &mut Ctx) {
        self.settle(ctx);
        ctx.bus.clocks.update(&mut self.clock);
        let from = self.line.cycle(ctx.now);
        self.line.change_clock(self.clock.rate, ctx);
        let to = self.line.cycle(ctx.now);
        self.timeout_cycle = self.timeout_cycle.map(|at| to + at.saturating_sub(from));
        self.timeout_alarm.cancel(TIMEOUT, ctx);
        self.update(ctx);
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

impl Polled for Uart {
    fn polled(&mut self, poll: &mut Poll) -> bool {
        if !self.line.polled(poll) {
            return false;
        }
        poll.phase(self.clock.rate);
        for register in [self.mode, self.interrupt_mask, self.divider, self.comparison, self.timeout] {
            poll.state(register);
        }
        poll.state(self.status());
        if let Some(at) = self.timeout_at() {
            if at <= poll.now() {
                return false;
            }
            poll.until(at);
        }
        poll.state(self.timeout_cycle.unwrap_or(u64::MAX));
        self.receiver.polled(poll);
        poll.state(self.last_received);
        poll.state(self.holding.map_or(u32::MAX, u32::from));
        poll.state(self.protection.state());
        true
    }
}

impl SerialPort for Uart {
    fn when_received(&self) -> WhenReceived {
        let on = self.receives && self.interrupt_mask & (SR_RXRDY | SR_TIMEOUT) != 0;
        WhenReceived::raises(on, self.interrupt)
    }

    fn format(&self) -> Option<Format> {
        (self.divider > 0).then(|| Uart::format(self))
    }

    fn begin(&mut self, ctx: &mut Ctx) -> Option<Passage> {
        passage(self.clock.rate, ctx.now, self.character_clocks()).filter(|_| self.receives)
    }

    fn receive_damaged(&mut self, character: u8, errors: Errors, ctx: &mut Ctx) {
        if self.receives {
            self.errors |= flag(SR_FRAME, errors.framing) | flag(SR_PARE, errors.parity);
        }
        self.receive(character, ctx);
    }

    fn receive(&mut self, character: u8, ctx: &mut Ctx) {
        self.settle(ctx);
        if self.receives {
            self.overrun |= !self.receiver.put(character, 1, WhenFull::Overwrite, ctx);
            self.count_timeout(ctx.now);
        }
        self.update(ctx);
    }
}

#[cfg(test)]
mod tests;

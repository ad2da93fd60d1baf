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
use crate::support::kernel_clock::KernelClock;
use crate::support::serial::line::Line;
use crate::support::serial::receiver::Room;
use crate::support::serial::{Serial, Transceiver};
use crate::support::write_protection;
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

/// The receiver's time-out among the line's timers.
const TIMEOUT: usize = 0;

/// A bit is this many periods of the divided clock.
const OVERSAMPLING: u64 = 16;
/// Start bit, data and stop bit.
const FRAME_BITS: u64 = 10;

/// The device.
#[derive(Debug, State, Polled, RegisterBank)]
#[port(Port::APB)]
#[poll(first = Uart::look)]
pub struct Uart {
    /// UART_SR holds the flags that stay set until UART_CR clears them, UART_RHR what was read last.
    registers: Registers,
    transmits: bool,
    receives: bool,
    line: Line,
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
    Box::new(Uart::device(clock, reader.interrupt(0, "its interrupt")))
}

impl Uart {
    /// The device after reset.
    pub fn device(clock: impl Into<ClockInput>, interrupt: Option<IrqLine>) -> Serial<Uart> {
        let line = Line::new(KernelClock::new(clock.into()), interrupt);
        Serial(Uart { registers: Registers::new(&MAP), transmits: false, receives: false, line })
    }

    fn bit_cycles(&self) -> u64 {
        OVERSAMPLING * u64::from(self.registers[BRGR])
    }

    /// Restarts the receiver's time-out, counted in bits.
    fn count_timeout(&mut self, now: Ps) {
        let cycles = u64::from(self.registers[RTOR]) * self.bit_cycles();
        self.line.timers[TIMEOUT] = (cycles > 0).then(|| self.line.cycle(now) + cycles);
    }

    fn status(&self) -> u32 {
        let ready = self.transmits && self.line.waiting() == 0;
        self.registers[SR]
            | flag(SR_TXRDY, ready)
            | flag(SR_TXEMPTY, ready && !self.line.is_shifting())
            | flag(SR_RXRDY, !self.line.receiver.is_empty())
    }

    fn command(&mut self, value: u32, ctx: &mut Ctx) {
        if value & CR_RSTTX != 0 {
            self.line.cut(ctx);
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
            self.line.drop_received(ctx.now);
        }
        if value & CR_RSTSTA != 0 {
            self.registers.put(SR, ERRORS, false);
        }
        if value & (CR_STTTO | CR_RETTO) != 0 {
            self.registers.put(SR, SR_TIMEOUT, false);
            self.line.timers[TIMEOUT] = None;
        }
        if value & CR_RETTO != 0 {
            self.count_timeout(ctx.now);
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
        if self.line.waiting() > 0 {
            ctx.note("a character was written to UART_THR while TXRDY is 0: the one before it is lost");
            self.line.drop_waiting(ctx.now);
        }
        self.line.put(character.into(), self.line.cycle(ctx.now), None);
    }

    fn look(&mut self, poll: &mut Poll) -> bool {
        poll.phase(self.line.clock.rate());
        self.list_changes(poll)
    }
}

impl Table for Uart {
    fn settle(&mut self, ctx: &mut Ctx) {
        self.advance(ctx);
    }

    fn shown(&mut self, register: u32, held: u32, ctx: &mut Ctx) -> u32 {
        match register {
            SR => self.status(),
            RHR => {
                let received = self.line.take(ctx.now).map_or(held, u32::from);
                self.registers.set(RHR, received);
                received
            }
            _ => held,
        }
    }

    fn was_read(&mut self, _register: u32, ctx: &mut Ctx) {
        self.refresh(ctx);
    }

    fn wrote(&mut self, register: u32, _old: u32, new: u32, ctx: &mut Ctx) {
        match register {
            CR => self.command(new, ctx),
            MR if new & (MR_CHMODE | MR_BRSRCCK) != 0 => {
                ctx.note("echo, loopback and a baud rate from PCK (UART_MR) are not modelled");
            }
            THR => self.send(new as u8, ctx),
            // A character that has waited for a rate begins now.
            BRGR => self.line.hold_until(self.line.cycle(ctx.now)),
            _ => {}
        }
    }

    fn refused(&mut self, register: u32, why: Refused, ctx: &mut Ctx) {
        write_protection::refused(&mut self.registers, register, why, ctx);
    }

    fn update(&mut self, ctx: &mut Ctx) {
        self.settle(ctx);
        self.refresh(ctx);
        ctx.line_changed();
    }
}

impl Transceiver for Uart {
    fn line(&self) -> &Line {
        &self.line
    }

    fn line_mut(&mut self) -> &mut Line {
        &mut self.line
    }

    fn pops(&self, register: u32) -> bool {
        register == RHR
    }

    fn character_cycles(&self) -> Option<u64> {
        let parity = u64::from(self.registers.field(MR, MR_PAR) < PAR_NO);
        Some((FRAME_BITS + parity) * self.bit_cycles())
    }

    /// UART_MR.PAR: even, odd, space, mark, none.
    fn format(&self) -> Option<Format> {
        let parity = match self.registers.field(MR, MR_PAR) {
            0 => Parity::Even,
            1 => Parity::Odd,
            2 => Parity::Fixed(false),
            3 => Parity::Fixed(true),
            _ => Parity::None,
        };
        let bit_fs = Format::bit_of(self.bit_cycles(), self.line.clock.rate().get(), 1);
        self.is_sending().then_some(Format { parity, ..Format::of_clocks(bit_fs) })
    }

    fn is_sending(&self) -> bool {
        self.registers[BRGR] != 0
    }

    fn is_receiving(&self) -> bool {
        self.receives
    }

    fn room(&self, _now: Ps) -> Room {
        Room::REGISTER
    }

    fn announces(&self) -> bool {
        self.registers.has(IMR, SR_RXRDY | SR_TIMEOUT)
    }

    fn level(&self) -> Option<bool> {
        Some(self.status() & self.registers[IMR] != 0)
    }

    fn timed_out(&mut self, _timer: usize) {
        self.registers.put(SR, SR_TIMEOUT, true);
    }

    fn damaged(&mut self, errors: Errors) {
        self.registers.put(SR, flag(SR_FRAME, errors.framing) | flag(SR_PARE, errors.parity), true);
    }

    fn received(&mut self, had_room: bool, ctx: &mut Ctx) {
        self.registers.put(SR, flag(SR_OVRE, !had_room), true);
        self.count_timeout(ctx.now);
    }
}

#[cfg(test)]
mod tests;

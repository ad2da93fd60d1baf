//! `ingenic,jz4740-uart`: the JZ4740's UARTs, 16550s whose registers are four bytes apart, with an additional enable
//! bit, UFCR.UME (Linux's 8250_ingenic.c; U-Boot's asm/jz4740.h for names).
//!
//! Modelled: all registers; the transmitter with its FIFO of 16 characters, or its holding register without UFCR.FME,
//! and its shift register. A bit takes the divisor latch's number of periods of the baud clock, EXTAL, times 16 or UMR,
//! and one more for each one in UACR; start, data, parity and stop bits are set in ULCR. A character is on the console
//! when its stop bits have ended; characters in the transmitter when the firmware ends are sent nevertheless. ULSR.TDRQ
//! is set while half of the FIFO is free. Its interrupt is cleared by a read of UIIR or by a character, and raised
//! again with each character that leaves the FIFO.
//!
//! The receiver has a FIFO of 16 characters, or only URBR without UFCR.FME. A further character is lost with ULSR.OVER;
//! in URBR the previous one is lost. Its interrupt is pending while at least the number of characters in UFCR.RDTR
//! waits; its time-out interrupt (UIER.RTOIE) when characters have waited for the time of four characters without a new
//! one or a read.
//!
//! Not modelled: modem lines, loopback, break, infrared, DMA; framing and parity errors, which the other end never
//! causes; the clock gate in the CGU, and whether the GPIO port gives the pins to the UART.

use crate::prelude::*;
use crate::support::activities::SERIAL_WITH_FIFOS;
use crate::support::kernel_clock::KernelClock;
use crate::support::serial::line::{Line, Shifting};
use crate::support::serial::receiver::{Room, WhenFull};
use crate::support::serial::{Serial, Transceiver};
use engine::serial::wave::{Errors, Format, Parity};

registers! {
    /// The register map while ULCR.DLAB is 0.
    const MAP "" {
        URBR 0x00 ro volatile mask 0xff;
        UIER 0x04 rw mask 0x1f { RDRIE 0, TDRIE 1, RLSIE 2, RTOIE 4 };
        UIIR 0x08 ro volatile reset 1 mask 0xcf {
            /// No interrupt is pending.
            INPEND 0,
            INID 1..4,
            FFMSEL 6..8,
        };
        ULCR 0x0c rw { WLS 0..2, SBLS 2, PARE 3, PEVEN 4, STPAR 5, SBK 6, DLAB 7 };
        UMCR 0x10 rw mask 0x9f { LOOP 4 };
        ULSR 0x14 ro reset 0x60 mask 0xff { DR 0, OVER 1 rc, PARER 2 rc, FMER 3 rc, TDRQ 5, TEMP 6 };
        UMSR 0x18 ro volatile mask 0xff;
        USPR 0x1c rw mask 0xff;
        ISR 0x20 rw mask 0x1f;
        UMR 0x24 rw mask 0x1f;
        UACR 0x28 rw mask 0xfff;
    }

    /// Registers at the offsets of URBR, UIER and UIIR: those for writes, and the divisor latch. They are kept beyond
    /// the device's range.
    const HIDDEN "" {
        UTHR 0x1000 wo mask 0xff;
        UFCR 0x1008 rw mask 0xdf { FME 0, RFRT 1, TFRT 2, UME 4, RDTR 6..8 };
        UDLLR 0x1100 rw mask 0xff;
        UDLHR 0x1104 rw mask 0xff;
    }
}

const ALL: Map = joined!(MAP, HIDDEN);

/// Bits of ULSR that a character sets, and a read clears.
const ERRORS: u32 = ULSR_OVER | ULSR_PARER | ULSR_FMER;
/// UIIR.INID: the transmitter requests data.
const UIIR_TDR: u32 = 1 << 1;
/// UIIR.INID: at least the number of characters in UFCR.RDTR waits.
const UIIR_RDR: u32 = 2 << 1;
/// UIIR.INID: a character was lost.
const UIIR_RLS: u32 = 3 << 1;
/// UIIR.INID: the receiver's time-out.
const UIIR_RTO: u32 = 6 << 1;

const FIFO_CHARACTERS: usize = 16;
/// Periods of a bit, unless UMR sets another number.
const OVERSAMPLING: u64 = 16;
/// The numbers of characters for the receive FIFO's interrupt, by UFCR.RDTR.
const RDTR_CHARACTERS: [usize; 4] = [1, 4, 8, 15];
/// The receiver's time-out among the line's timers.
const TIMEOUT: usize = 0;
/// The time-out, in times of a character.
const TIMEOUT_CHARACTERS: u64 = 4;

/// The device.
#[derive(Debug, State, Polled, RegisterBank)]
#[port(Port::APB)]
#[poll(first = Uart::list_changes)]
pub struct Uart {
    #[poll(phase)]
    bus_clock: ClockInput,
    registers: Registers,
    line: Line,
    /// True if the transmitter requests data, and has not been answered.
    wants_data: bool,
    /// True if received characters have waited for the time of the time-out.
    timed_out: bool,
}

/// For the list of models.
pub const MODEL: Model = Model::device(Group::Serial, &["ingenic,jz4740-uart"], 1, from_node)
    .with_activities(SERIAL_WITH_FIFOS)
    .naming(MAP.rows);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    let baud_clock = reader.clock(0, "the baud clock, EXTAL");
    let bus_clock = reader.clock_input(1, "clock of its bus");
    reader.known(&["clock-names"]);
    Box::new(Uart::device(baud_clock, bus_clock, reader.interrupt(0, "its interrupt")))
}

impl Uart {
    /// The device after reset.
    pub fn device(baud_clock: Hz, bus_clock: impl Into<ClockInput>, interrupt: Option<IrqLine>) -> Serial<Uart> {
        let line = Line::new(KernelClock::new(baud_clock.into()), interrupt);
        let (bus_clock, registers) = (bus_clock.into(), Registers::new(&ALL));
        Serial(Uart { bus_clock, registers, line, wants_data: false, timed_out: false })
    }

    fn is_on(&self) -> bool {
        self.registers.has(UFCR, UFCR_UME)
    }

    fn has_fifo(&self) -> bool {
        self.registers.has(UFCR, UFCR_FME)
    }

    fn capacity(&self) -> usize {
        if self.has_fifo() { FIFO_CHARACTERS } else { 1 }
    }

    fn divisor(&self) -> u32 {
        self.registers[UDLHR] << 8 | self.registers[UDLLR]
    }

    fn line_status(&self) -> u32 {
        // Half of the FIFO; without it the whole holding register.
        let wants = self.line.waiting() <= self.capacity() / 2;
        self.registers[ULSR] & ERRORS
            | flag(ULSR_DR, !self.line.receiver.is_empty())
            | flag(ULSR_TDRQ, wants)
            | flag(ULSR_TEMP, self.line.is_idle())
    }

    fn identification(&self) -> u32 {
        self.pending_interrupt().unwrap_or(UIIR_INPEND) | flag(UIIR_FFMSEL, self.has_fifo())
    }

    /// UIIR.INID of the pending interrupt with the highest priority.
    fn pending_interrupt(&self) -> Option<u32> {
        let pending = [
            (UIER_RLSIE, self.registers.has(ULSR, ERRORS), UIIR_RLS),
            (UIER_RDRIE, self.line.receiver.len() >= self.wanted(), UIIR_RDR),
            (UIER_RTOIE, self.timed_out, UIIR_RTO),
            (UIER_TDRIE, self.wants_data, UIIR_TDR),
        ];
        pending.iter().find(|(enable, is, _)| *is && self.registers.has(UIER, *enable)).map(|(.., number)| *number)
    }

    /// The bits of a character before the stop bits, and the halves of those.
    fn frame(&self) -> (u64, u64) {
        let data_bits = self.data_bits();
        let stop_halves = match (self.registers.has(ULCR, ULCR_SBLS), data_bits) {
            (false, _) => 2,
            (true, 5) => 3,
            (true, _) => 4,
        };
        (1 + u64::from(data_bits) + u64::from(self.registers.has(ULCR, ULCR_PARE)), stop_halves)
    }

    /// The number of characters for the receive interrupt.
    fn wanted(&self) -> usize {
        if self.has_fifo() { RDTR_CHARACTERS[self.registers.field(UFCR, UFCR_RDTR) as usize] } else { 1 }
    }

    /// Restarts the time-out, after a character or a read.
    fn restart_timeout(&mut self, now: Ps) {
        let waits = self.has_fifo() && !self.line.receiver.is_empty();
        let cycles = self.character_cycles().map(|cycles| TIMEOUT_CHARACTERS * cycles);
        self.timed_out = false;
        self.line.timers[TIMEOUT] = cycles.filter(|_| waits).map(|cycles| self.line.cycle(now) + cycles);
    }

    fn send(&mut self, character: u16, ctx: &mut Ctx) {
        if !self.is_on() {
            ctx.note("a character was written while UFCR.UME is 0: the UART is off, and does not send it");
            return;
        }
        if self.divisor() == 0 {
            ctx.note("a character was written while the divisor latch is 0: without a baud rate it stays where it is");
        }
        self.wants_data = false;
        if self.line.waiting() == self.capacity() {
            ctx.note("a character was written while there was no room for it (ULSR.TDRQ): it is lost");
        } else {
            self.line.put(character, self.line.cycle(ctx.now), self.has_fifo().then_some(ctx.now));
        }
    }

    fn read_character(&mut self, now: Ps) -> u32 {
        let character = self.line.take(now).unwrap_or(0);
        self.restart_timeout(now);
        character.into()
    }

    /// A read of UIIR, which answers the transmitter.
    fn read_identification(&mut self) -> u32 {
        let identification = self.identification();
        self.wants_data &= self.pending_interrupt() != Some(UIIR_TDR);
        identification
    }

    fn wrote_fifo_control(&mut self, old: u32, new: u32, now: Ps) {
        self.registers.put(UFCR, UFCR_TFRT | UFCR_RFRT, false);
        // Changing the mode empties the FIFOs, as a 16550 does.
        let changes = (new ^ old) & UFCR_FME != 0;
        if new & UFCR_TFRT != 0 || changes {
            self.line.drop_waiting(now);
        }
        if new & UFCR_RFRT != 0 || changes {
            self.line.drop_received(now);
            self.restart_timeout(now);
        }
    }
}

impl Table for Uart {
    fn settle(&mut self, ctx: &mut Ctx) {
        self.advance(ctx);
    }

    fn shown(&mut self, register: u32, held: u32, ctx: &mut Ctx) -> u32 {
        match register {
            URBR => self.read_character(ctx.now),
            UIIR => self.read_identification(),
            ULSR => self.line_status(),
            _ => held,
        }
    }

    fn was_read(&mut self, _: u32, ctx: &mut Ctx) {
        self.refresh(ctx);
    }

    fn wrote(&mut self, register: u32, old: u32, new: u32, ctx: &mut Ctx) {
        match register {
            UTHR => self.send(new as u16, ctx),
            UIER => self.wants_data |= new & !old & UIER_TDRIE != 0 && self.line_status() & ULSR_TDRQ != 0,
            UFCR => self.wrote_fifo_control(old, new, ctx.now),
            ULCR if new & ULCR_SBK != 0 => ctx.note("a break (ULCR.SBK) is not modelled: nothing sees it"),
            UMCR if new & UMCR_LOOP != 0 => {
                ctx.note("loopback (UMCR.LOOP) is not modelled: nothing is received");
            }
            _ => {}
        }
        if matches!(register, UFCR | UDLLR | UDLHR) {
            // A character that has waited for the rate, or for the UART, begins now.
            self.line.hold_until(self.line.cycle(ctx.now));
        }
        ctx.line_changed();
    }

    fn update(&mut self, ctx: &mut Ctx) {
        self.settle(ctx);
        self.refresh(ctx);
    }
}

impl Transceiver for Uart {
    fn line(&self) -> &Line {
        &self.line
    }

    fn line_mut(&mut self) -> &mut Line {
        &mut self.line
    }

    fn register_at(&self, offset: u32, is_write: bool) -> u32 {
        match offset & !3 {
            URBR | UIER if self.registers.has(ULCR, ULCR_DLAB) => UDLLR + offset,
            URBR | UIIR if is_write => UTHR + offset,
            _ => offset,
        }
    }

    fn character_cycles(&self) -> Option<u64> {
        let (bits, stop_halves) = self.frame();
        let clocks_of_a_bit = if self.registers[UMR] == 0 { OVERSAMPLING } else { self.registers[UMR].into() };
        let extra = u64::from((self.registers[UACR] & ((1 << bits) - 1)).count_ones());
        Some(((2 * bits + stop_halves) * clocks_of_a_bit / 2 + extra) * u64::from(self.divisor()))
    }

    /// With bits of their mean length.
    fn format(&self) -> Option<Format> {
        let has = |bit| self.registers.has(ULCR, bit);
        let parity = match (has(ULCR_PARE), has(ULCR_PEVEN)) {
            (false, _) => Parity::None,
            (true, even) if has(ULCR_STPAR) => Parity::Fixed(!even),
            (true, true) => Parity::Even,
            (true, false) => Parity::Odd,
        };
        let (bits, stop_halves) = self.frame();
        let cycles = self.character_cycles().filter(|cycles| *cycles > 0)?;
        let bit_fs = Format::bit_of(2 * cycles, self.line.clock.rate().get(), 2 * bits + stop_halves);
        Some(Format { data_bits: self.data_bits(), parity, stop_halves, ..Format::of_clocks(bit_fs) })
    }

    fn data_bits(&self) -> u32 {
        self.registers.field(ULCR, ULCR_WLS) + 5
    }

    fn is_sending(&self) -> bool {
        self.divisor() != 0 && self.is_on()
    }

    fn is_receiving(&self) -> bool {
        self.is_on()
    }

    fn room(&self, now: Ps) -> Room {
        match self.has_fifo() {
            true => Room {
                characters: FIFO_CHARACTERS,
                when_full: WhenFull::Keep,
                recorded: Some((now, self.line.clock.rate())),
            },
            false => Room::REGISTER,
        }
    }

    fn announces(&self) -> bool {
        self.registers.has(UIER, UIER_RDRIE | UIER_RTOIE)
    }

    fn level(&self) -> Option<bool> {
        Some(self.pending_interrupt().is_some())
    }

    fn begun(&mut self, _: Shifting, _: &mut Ctx) {
        self.wants_data |= self.line_status() & ULSR_TDRQ != 0;
    }

    fn timed_out(&mut self, _timer: usize) {
        self.timed_out = true;
    }

    fn damaged(&mut self, errors: Errors) {
        self.registers.put(ULSR, flag(ULSR_FMER, errors.framing) | flag(ULSR_PARER, errors.parity), true);
    }

    fn received(&mut self, had_room: bool, ctx: &mut Ctx) {
        self.registers.put(ULSR, flag(ULSR_OVER, !had_room), true);
        self.restart_timeout(ctx.now);
    }

    /// The baud clock does not change.
    fn clocks_changed(&mut self, ctx: &mut Ctx) {
        ctx.bus.clocks.update(&mut self.bus_clock);
    }
}

#[cfg(test)]
mod tests;

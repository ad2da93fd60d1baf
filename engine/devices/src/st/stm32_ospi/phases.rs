//! The phases of a command before its data, and its passage on lines that may have no pin.

use super::registers::*;
use super::{CLK, IO0, NCS, Ospi};
use crate::support::memory_wire::FrameTiming;
use crate::support::pin_functions::PinFunctions;
use engine::wire::spi::{Burst, Drive, Header, Lines, PULLED_UP, Rate};

/// Lines and rate of a phase.
pub type Width = (Lines, Rate);

/// The first bits of the phases' fields in OCTOSPI_CCR: three bits for the lines, one for the double rate, two for the
/// bytes.
const INSTRUCTION: u32 = 0;
pub const ADDRESS: u32 = 8;
const ALTERNATE: u32 = 16;
pub const DATA: u32 = 24;

/// A command: the bursts before its data, and the format of the data, if it has data.
#[derive(Clone, Copy, Debug)]
pub struct Command {
    pub header: Header,
    pub data: Option<Width>,
}

/// Lines and rate of a phase: `Ok(None)` if the command has no such phase, an error for eight lines.
const fn width(ccr: u32, phase: u32) -> Result<Option<Width>, ()> {
    let rate = if ccr >> (phase + 3) & 1 != 0 { Rate::Double } else { Rate::Single };
    match ccr >> phase & 7 {
        0 => Ok(None),
        1 => Ok(Some((Lines::Single, rate))),
        2 => Ok(Some((Lines::Dual, rate))),
        3 => Ok(Some((Lines::Quad, rate))),
        _ => Err(()),
    }
}

/// A byte that the controller reads.
pub const fn byte_in((lines, rate): Width) -> Burst {
    Burst::input(lines, rate, u8::BITS)
}

impl Ospi {
    /// True if the registers' command has this phase.
    pub(super) fn has_phase(&self, phase: u32) -> bool {
        self.registers[CCR] >> phase & 7 != 0
    }

    /// The registers' command for an address. An error for eight lines.
    pub(super) fn phases(&self, address: u32) -> Result<Command, ()> {
        let ccr = self.registers[CCR];
        let data = width(ccr, DATA)?;
        let clock = (self.wire.clock, self.wire.timing.period);
        let mut header = Header::new(data.unwrap_or((Lines::Single, Rate::Single)), clock, 0);
        let mut lines = Lines::Single;
        for (phase, value) in [(INSTRUCTION, self.registers[IR]), (ADDRESS, address), (ALTERNATE, self.registers[ABR])]
        {
            let Some((on, rate)) = width(ccr, phase)? else { continue };
            // The instruction may be sent only once.
            if phase == INSTRUCTION && self.is_open && ccr & CCR_SIOO != 0 {
                continue;
            }
            let bits = 8 * ((ccr >> (phase + 4) & 3) + 1);
            header = header.with(Burst::output(on, rate, bits, value & u32::MAX >> (32 - bits)));
            lines = on;
        }
        Ok(Command { header: header.with(Burst::dummy(lines, self.registers[TCR] & 0x1f)), data })
    }

    /// Begins a command at `at`, or as soon as possible, up to its data.
    pub(super) fn open(&mut self, at: u64, command: &Command) {
        self.wire.reaches_chip = missing(1 << NCS, &self.pins, &mut self.spoiled) == 0;
        self.wire.select(at);
        self.is_open = true;
        for burst in command.header.bursts(0) {
            self.shift(0, burst);
        }
    }

    /// Sends clocks from `at` on, or directly after the previous ones, on the lines that have pins. Returns the sampled
    /// bits.
    pub(super) fn shift(&mut self, at: u64, burst: Burst) -> u32 {
        let reaches_chip = missing(1 << CLK, &self.pins, &mut self.spoiled) == 0 && self.wire.reaches_chip;
        self.wire.shift_by(at, burst, |chip, burst, end| {
            if !reaches_chip {
                return PULLED_UP;
            }
            let ones = bits_on(missing(lines_of(burst) << IO0, &self.pins, &mut self.spoiled) >> IO0, burst);
            match burst.drive {
                Drive::Controller => chip.shift(Burst { bits: burst.bits | ones, ..burst }, end),
                _ => chip.shift(burst, end) | ones,
            }
        })
    }

    /// Edges of a command with `bytes` bytes, from chip select to chip select, and its clocks.
    pub(super) fn command_edges(&self, command: &Command, bytes: u64) -> (u64, u64) {
        let byte = command.data.map_or(0, |width| u64::from(byte_in(width).clocks));
        let clocks = u64::from(command.header.clocks) + bytes * byte;
        let FrameTiming { period, before_clock, after_clock, .. } = self.wire.timing;
        (before_clock + clocks * period + after_clock, clocks)
    }

    /// Edges that a byte takes.
    pub(super) const fn byte_edges(&self, width: Width) -> u64 {
        byte_in(width).clocks as u64 * self.wire.timing.period
    }
}

/// Those of the needed signals, one bit each, that have no pin: they have spoiled the command.
fn missing(needed: u32, pins: &PinFunctions, spoiled: &mut u32) -> u32 {
    let missing = needed & !pins.carried();
    *spoiled |= missing;
    missing
}

/// The data lines that are driven in a burst, one bit each. On single lines the chip answers on IO1.
fn lines_of(burst: Burst) -> u32 {
    match (burst.drive, burst.lines) {
        (Drive::Controller, Lines::Single) => 1,
        (Drive::Target, Lines::Single) => 2,
        (Drive::Controller | Drive::Target, lines) => u32::from(lines.mask()),
        _ => 0,
    }
}

/// The bits of a burst on these lines.
fn bits_on(lines: u32, burst: Burst) -> u32 {
    let each = burst.lines.bits();
    let count = if lines == 0 { 0 } else { burst.clocks * burst.bits_per_clock() };
    let is_there = |bit: &u32| burst.lines == Lines::Single || lines >> (bit % each) & 1 != 0;
    (0..count.min(u32::BITS)).filter(is_there).fold(0, |bits, bit| bits | 1 << bit)
}

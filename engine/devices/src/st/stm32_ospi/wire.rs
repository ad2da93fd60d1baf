//! The wire, in edges of the kernel clock, and the phases of a command before its data.

use super::registers::CCR_SIOO;
use super::{CLK, IO0, NCS};
use crate::prelude::*;
use crate::support::hosted_chip::HostedChip;
use crate::support::kernel_clock::KernelClock;
use engine::observe::spi::{SerialClock, SpiSignals};
use engine::wire::spi::{Burst, Drive, Lines, PULLED_UP, Rate};

/// Lines and rate of a phase.
pub type Width = (Lines, Rate);

/// The registers that make up a command.
#[derive(Clone, Copy, Debug)]
pub struct Settings {
    /// OCTOSPI_CCR.
    pub ccr: u32,
    /// OCTOSPI_TCR.
    pub tcr: u32,
    /// OCTOSPI_IR.
    pub instruction: u32,
    /// OCTOSPI_ABR.
    pub alternate: u32,
}

/// A command: the bursts before its data, and the format of the data.
#[derive(Clone, Debug, Default)]
pub struct Command {
    /// The bursts.
    pub header: Vec<Burst>,
    /// The format of the data, if the command has data.
    pub data: Option<Width>,
}

/// The number of lines of a phase, by its field of OCTOSPI_CCR (three bits, and one for the double rate): `Ok(None)` if
/// the command has no such phase.
const fn width(ccr: u32, field: u32) -> Result<Option<Width>, ()> {
    let rate = if ccr >> (field + 3) & 1 != 0 { Rate::Double } else { Rate::Single };
    match ccr >> field & 7 {
        0 => Ok(None),
        1 => Ok(Some((Lines::Single, rate))),
        2 => Ok(Some((Lines::Dual, rate))),
        3 => Ok(Some((Lines::Quad, rate))),
        _ => Err(()),
    }
}

impl Settings {
    /// True if the command has an address.
    pub const fn has_address(self) -> bool {
        self.ccr >> 8 & 7 != 0
    }

    /// True if the command has data.
    pub const fn has_data(self) -> bool {
        self.ccr >> 24 & 7 != 0
    }

    /// The command for an address; `is_open` if its instruction is sent only once, and has been sent. An error for
    /// eight lines.
    pub fn command(self, address: u32, is_open: bool) -> Result<Command, ()> {
        let Settings { ccr, tcr, instruction, alternate } = self;
        let mut command = Command { data: width(ccr, 24)?, ..Command::default() };
        let phases = [(width(ccr, 0)?, ccr >> 4, instruction), (width(ccr, 8)?, ccr >> 12, address)];
        let alternate = (width(ccr, 16)?, ccr >> 20, alternate);
        let mut lines = Lines::Single;
        for (number, (width, bytes, value)) in phases.into_iter().chain([alternate]).enumerate() {
            let Some((on, rate)) = width.filter(|_| number > 0 || !is_open || ccr & CCR_SIOO == 0) else { continue };
            let bits = 8 * ((bytes & 3) + 1);
            command.header.push(Burst::output(on, rate, bits, value & u32::MAX >> (32 - bits)));
            lines = on;
        }
        let dummies = tcr & 0x1f;
        if dummies > 0 {
            command.header.push(Burst::dummy(lines, dummies));
        }
        Ok(command)
    }
}

/// The wire, and the chip on it.
#[derive(State, Polled)]
pub struct Wire {
    /// The kernel clock.
    pub clock: KernelClock,
    pub chip: HostedChip,
    #[poll(skip = "waveforms show what happens")]
    pub signals: SpiSignals,
    /// Edges in a period of the serial clock.
    pub period: u64,
    /// Periods for which chip select stays high between commands.
    pub high: u64,
    /// The clock is high at rest.
    pub rests_high: bool,
    pub is_selected: bool,
    /// Signals that have a pin, one bit each, and signals that were needed without a pin.
    pub carried: u32,
    pub spoiled: u32,
    /// The chip has seen that it is selected.
    reaches_chip: bool,
    /// The edge at which the next clock's period can begin, and chip select may go low again.
    pub free: u64,
    pub may_select: u64,
    pub frames: u64,
    pub clocks: u64,
}

impl Wire {
    /// An idle wire.
    pub fn new(clock: KernelClock, chip: HostedChip) -> Wire {
        Wire {
            clock,
            chip,
            signals: SpiSignals::default(),
            period: 1,
            high: 1,
            rests_high: false,
            is_selected: false,
            carried: u32::MAX,
            spoiled: 0,
            reaches_chip: false,
            free: 0,
            may_select: 0,
            frames: 0,
            clocks: 0,
        }
    }

    /// The time of an edge.
    pub fn time(&self, edge: u64) -> Ps {
        self.clock.rate().ps_at_floor(Cycles(edge))
    }

    /// Chip select is low for a period before the first rising edge and after the last one: half a period, as that edge
    /// is in the middle of the clock period.
    const fn margin(&self) -> u64 {
        self.period.div_ceil(2)
    }

    /// Begins a command at `at`, or as soon as possible, up to its data.
    pub fn open(&mut self, at: u64, command: &Command) {
        let at = at.max(self.may_select);
        let time = self.time(at);
        self.reaches_chip = self.needs(NCS);
        if self.reaches_chip {
            self.chip.select(time);
        }
        self.signals.select(0, true, time);
        self.is_selected = true;
        self.frames += 1;
        self.free = at + self.margin();
        for burst in &command.header {
            self.shift(self.free, *burst);
        }
    }

    /// Sends clocks from `at` on, or directly after the previous ones. Returns the sampled bits.
    pub fn shift(&mut self, at: u64, burst: Burst) -> u32 {
        let start = self.free.max(at);
        self.free = start + u64::from(burst.clocks) * self.period;
        self.clocks += u64::from(burst.clocks);
        let received = self.pass(burst);
        let (period, rests_high) = (self.period, self.rests_high);
        // Modes 0 and 3: data change at the clock's falling edge.
        let clock = SerialClock { source: self.clock.rate(), start, period, cpol: rests_high, cpha: rests_high };
        self.signals.burst(burst, received, clock)
    }

    /// True if a signal that is needed has a pin.
    fn needs(&mut self, signal: usize) -> bool {
        self.spoiled |= !self.carried & 1 << signal;
        self.carried >> signal & 1 != 0
    }

    /// The chip's answer to clocks that end at `free`, on the lines that have pins.
    fn pass(&mut self, burst: Burst) -> u32 {
        if burst.clocks > 0 && !self.needs(CLK) || !self.reaches_chip {
            return PULLED_UP;
        }
        let missing = lines_of(burst) & !(self.carried >> IO0);
        self.spoiled |= missing << IO0;
        let (ones, end) = (bits_on(missing, burst), self.time(self.free));
        match burst.drive {
            Drive::Controller => self.chip.shift(Burst { bits: burst.bits | ones, ..burst }, end),
            _ => self.chip.shift(burst, end) | ones,
        }
    }

    /// Edges of a command with `bytes` bytes, from chip select to chip select, and its clocks.
    pub fn frame(&self, command: &Command, bytes: u64) -> (u64, u64) {
        let header: u64 = command.header.iter().map(|burst| u64::from(burst.clocks)).sum();
        let byte = command.data.map_or(0, |(lines, rate)| u64::from(Burst::input(lines, rate, 8).clocks));
        let clocks = header + bytes * byte;
        (clocks * self.period + 2 * self.margin(), clocks)
    }

    /// Edges that a byte takes.
    pub const fn byte_edges(&self, (lines, rate): Width) -> u64 {
        Burst::input(lines, rate, 8).clocks as u64 * self.period
    }

    /// Reads a byte, from `at` on.
    pub fn read(&mut self, at: u64, (lines, rate): Width) -> u8 {
        self.shift(at, Burst::input(lines, rate, 8)) as u8
    }

    /// Writes a byte, from `at` on.
    pub fn write(&mut self, at: u64, (lines, rate): Width, byte: u8) {
        self.shift(at, Burst::output(lines, rate, 8, byte.into()));
    }

    /// Sets chip select high after the last clock, at `at` or later. Returns the edge.
    pub fn close(&mut self, at: u64) -> u64 {
        let at = at.max(self.free + self.margin());
        if std::mem::take(&mut self.is_selected) {
            let time = self.time(at);
            if std::mem::take(&mut self.reaches_chip) {
                self.chip.deselect(time);
            }
            self.signals.select(0, false, time);
            self.may_select = at + self.high * self.period;
        }
        at
    }
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

//! Frames on the wire: their headers, repeated reads, and the errors of SPI modes 1 and 2.

use super::registers::{Settings, timing};
use crate::prelude::*;
use crate::support::hosted_chip::HostedChip;
use crate::support::memory_wire::{FrameTiming, MemoryWire};
use engine::wire::spi::{Burst, Drive, Header, Lines, Rate};

/// The errors if CPOL and CPHA differ: the memory samples on the rising edge and changes its data on the falling edge.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State, Fresh, Polled)]
enum Skew {
    /// No error: they are equal.
    #[default]
    None,
    /// The controller changes its data on the edge on which the chip samples: the chip gets each bit a clock late.
    Output,
    /// The controller samples on the edge on which the chip changes its data: it gets each bit a clock late.
    Input,
}

/// The wire, and the chip on it.
#[derive(State, Polled)]
pub struct Wire {
    /// The wire without the errors, in edges of the peripheral clock.
    pub line: MemoryWire,
    skew: Skew,
    /// Levels of the lines in the last clock, if they are skewed.
    last_levels: u32,
    /// The number of headers that were made.
    #[poll(skip = "each header has a number of its own")]
    headers: u32,
}

impl Wire {
    /// An idle wire.
    pub fn new(clock: Hz, chip: HostedChip) -> Wire {
        let line = MemoryWire::new(clock, chip, FrameTiming::default());
        Wire { line, skew: Skew::None, last_levels: 0, headers: 0 }
    }

    /// [`MemoryWire::trial`].
    pub fn trial(&self) -> Option<Wire> {
        Some(Wire { line: self.line.trial()?, ..*self })
    }

    /// The peripheral clock has another rate: its edge `from` is its edge `to`. Edges that lie ahead stay as many edges
    /// ahead.
    pub fn change_clock(&mut self, clock: Hz, renumbering: (u64, u64)) {
        self.line.look_closely();
        self.line.clock = clock;
        for edge in [&mut self.line.free, &mut self.line.may_select] {
            *edge = renumbered(*edge, renumbering);
        }
    }

    /// Applies the registers' settings from `edge` on.
    pub fn set(&mut self, registers: &Registers, edge: u64) {
        self.line.look_closely();
        let timing = timing(registers);
        if timing.cpol != self.line.timing.cpol {
            self.line.signals.rest(timing.cpol, self.line.time(edge.max(self.line.free)));
        }
        self.skew = match (timing.cpol, timing.cpha) {
            (false, true) => Skew::Output,
            (true, false) => Skew::Input,
            _ => Skew::None,
        };
        self.line.timing = timing;
    }

    /// True if CPOL and CPHA differ.
    pub fn is_skewed(&self) -> bool {
        self.skew != Skew::None
    }

    /// Chip select goes active at `at`, or as soon as it may.
    pub fn select(&mut self, at: u64) {
        self.line.select(at);
        self.last_levels = if self.skew == Skew::Input { u32::MAX } else { 0 };
    }

    /// Chip select goes inactive, if it is active, at `at` or directly after the last clock.
    pub fn deselect(&mut self, at: u64) {
        if self.line.selected {
            self.line.free = self.line.deselect(at);
            self.line.signals.set_in_place(false);
        }
    }

    /// Reads `bits` bits of data, directly after the previous clocks or from `at` on.
    #[inline]
    pub fn read(&mut self, at: u64, lines: Lines, bits: u32) -> u32 {
        let burst = Burst::input(lines, Rate::Single, bits);
        let word = if bits == u32::BITS { self.line.next_word() } else { None };
        let Some(word) = word else { return self.shift(at, burst) };
        self.line.pass(at, burst);
        word
    }

    /// [`MemoryWire::shift`], with errors.
    #[inline]
    pub fn shift(&mut self, at: u64, burst: Burst) -> u32 {
        if self.skew == Skew::None {
            return self.line.shift(at, burst);
        }
        let (skew, last) = (self.skew, &mut self.last_levels);
        self.line.shift_by(at, burst, |chip, burst, end| shift_skewed(chip, burst, end, (skew, last)))
    }

    /// The header of a frame with the present settings: instruction, address, option, dummy clocks.
    pub fn header(&mut self, settings: Settings, with_opcode: bool) -> Header {
        self.headers = self.headers.wrapping_add(1);
        let (instruction_lines, address_lines, data_lines) = settings.lines();
        let clock = (self.line.clock, self.line.timing.period);
        let mut header = Header::new((data_lines, Rate::Single), clock, self.headers);
        if let Some(opcode) = settings.opcode().filter(|_| with_opcode) {
            header = header.with(Burst::byte_out(instruction_lines, opcode));
        }
        if let Some(bits) = settings.address_bits() {
            header = header.with_address(address_lines, Rate::Single, bits, (0, 0));
        }
        if let Some((bits, code)) = settings.option() {
            // A code with fewer bits than a clock takes a whole clock, its bits on the lowest lines and zeroes above.
            header = header.with(Burst::output(address_lines, Rate::Single, bits.max(address_lines.bits()), code));
        }
        // The dummy clocks use the lines of the address, if there is one.
        let lines = if settings.address_bits().is_some() { address_lines } else { data_lines };
        header.with(Burst::dummy(lines, settings.dummies()))
    }

    /// Begins a frame at `at`, up to its data.
    pub fn begin(&mut self, at: u64, header: &Header, address: u32) {
        self.select(at);
        for burst in header.bursts(address) {
            self.shift(at, burst);
        }
    }

    /// Begins a read frame at `at`, up to its data, as a repeated read if the chip supports that, and the lines are not
    /// recorded. Otherwise returns false, and does nothing.
    #[inline]
    pub fn start_repeated_read(&mut self, at: u64, header: &Header, address: u32) -> bool {
        let starts = self.skew == Skew::None && self.line.start_repeated_read(at, header, address);
        if starts {
            self.last_levels = 0;
        }
        starts
    }

    /// The peripheral clocks and serial clocks of a frame with this header and a word of data, after an identical one.
    fn frame_cycles(&self, header: &Header, lines: Lines) -> (u64, u64) {
        let FrameTiming { period, before_clock, inactive, .. } = self.line.timing;
        let clocks = u64::from(header.clocks + Burst::input(lines, Rate::Single, u32::BITS).clocks);
        (inactive + before_clock + clocks * period, clocks)
    }

    /// The cycles of two such frames, if frames like the one in progress can follow each other at any time.
    pub fn pair_cycles(&self, header: &Header, lines: Lines) -> Option<u64> {
        let line = &self.line;
        let is_sure = line.selected && line.is_repeated() && !line.notes_due && line.chip.can_repeat_read();
        is_sure.then(|| 2 * self.frame_cycles(header, lines).0)
    }

    /// Accounts for `frames` such frames, the last of them up to before `address`, and up to edge `free`.
    pub fn have_passed(&mut self, frames: u64, address: u32, free: u64, header: &Header, lines: Lines) {
        let (cycles, clocks) = self.frame_cycles(header, lines);
        self.line.free = free;
        self.line.may_select = free - cycles + self.line.timing.inactive;
        self.line.frames += frames;
        self.line.sck_clocks += frames * clocks;
        self.line.chip.skip_repeated_reads(frames * u64::from(u32::BITS / u8::BITS), address);
    }
}

/// A burst that ends at `end`, each of whose bits is a clock late in one direction.
#[cold]
fn shift_skewed(chip: &mut HostedChip, burst: Burst, end: Ps, (skew, last_levels): (Skew, &mut u32)) -> u32 {
    let (width, bits) = (burst.bits_per_clock(), burst.clocks * burst.bits_per_clock());
    let late = |levels: u32, last: u32| {
        let last = last & ((1 << width) - 1);
        (u64::from(levels) >> width) as u32 | (u64::from(last) << bits >> width) as u32
    };
    match (skew, burst.drive) {
        (_, Drive::Nobody) => {
            *last_levels = chip.shift(burst, end);
            *last_levels
        }
        (Skew::Output, Drive::Controller) => {
            let last = std::mem::replace(last_levels, burst.bits);
            chip.shift(Burst { bits: late(burst.bits, last), ..burst }, end)
        }
        (Skew::Output, _) => chip.shift(burst, end),
        _ => {
            let sampled = chip.shift(burst, end);
            late(sampled, std::mem::replace(last_levels, sampled))
        }
    }
}

/// An edge after edge `from`, if that is renumbered to `to`; an edge that has passed stays in the past.
pub fn renumbered(edge: u64, (from, to): (u64, u64)) -> u64 {
    if edge > from { to + (edge - from) } else { 0 }
}

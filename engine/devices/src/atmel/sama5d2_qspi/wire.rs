//! The SPI wire, in edges of the peripheral clock: chip select with its delays, and bursts of the serial clock.

use super::registers::{Instruction, Mode, SerialClock as ClockRegister};
use crate::prelude::*;
use crate::support::hosted_chip::HostedChip;
use engine::observe::spi::{SerialClock, SpiSignals};
use engine::wire::spi::{Burst, Drive, Header, Lines, Rate};

/// Totals since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State, Polled)]
pub struct Totals {
    /// Times that the chip was selected.
    #[poll(total)]
    pub frames: u64,
    /// Periods of the serial clock.
    #[poll(total)]
    pub sck_clocks: u64,
}

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
#[poll(first = Wire::list_ends)]
pub struct Wire {
    /// The peripheral clock.
    pub clock: Hz,
    /// The chip.
    pub chip: HostedChip,
    /// Peripheral clocks of a period of the serial clock.
    period: u64,
    before_clock: u64,
    inactive: u64,
    skew: Skew,
    cpol: bool,
    cpha: bool,
    /// The lines, for waveforms.
    #[poll(skip = "no answer depends on waveforms")]
    pub signals: SpiSignals,
    /// Levels of the lines in the last clock, if they are skewed.
    last_levels: u32,
    /// Chip select is active.
    pub selected: bool,
    /// The next clock's period can begin.
    #[poll(skip = "it is listed as an end")]
    pub free: u64,
    /// Chip select may go active again.
    #[poll(skip = "it is listed as an end")]
    may_select: u64,
    /// True if the frame in progress is a repeated read ([`HostedChip::start_repeated_read`]).
    repeated: bool,
    /// The number of headers that were made.
    #[poll(skip = "each header has a number of its own")]
    headers: u32,
    /// The chip may have notes.
    #[poll(skip = "the chip lists its notes")]
    pub notes_due: bool,
    /// Totals.
    pub totals: Totals,
}

impl Wire {
    /// An idle wire.
    pub fn new(clock: Hz, chip: HostedChip) -> Wire {
        Wire {
            clock,
            chip,
            period: 1,
            before_clock: 0,
            inactive: 1,
            skew: Skew::None,
            cpol: false,
            cpha: false,
            signals: SpiSignals::default(),
            last_levels: 0,
            selected: false,
            free: 0,
            may_select: 0,
            repeated: false,
            headers: 0,
            notes_due: false,
            totals: Totals::default(),
        }
    }

    /// The same wire with a copy of the chip, to try an access; `None` if the chip can't be copied.
    pub fn trial(&self) -> Option<Wire> {
        let chip = HostedChip::new(self.chip.copy()?, String::new(), None, 0);
        Some(Wire { chip, signals: SpiSignals::default(), ..*self })
    }

    /// Gives the chip the time of a repeated read in progress: it may have to compare the time with the next edges.
    fn give_time(&mut self) {
        if self.selected && std::mem::take(&mut self.repeated) {
            let end = self.time(self.free);
            self.chip.shift(Burst::dummy(Lines::Single, 0), end);
        }
    }

    /// The peripheral clock has another rate: its edge `from` is its edge `to`. Edges that lie ahead stay as many edges
    /// ahead.
    pub fn change_clock(&mut self, clock: Hz, (from, to): (u64, u64)) {
        self.give_time();
        self.clock = clock;
        for edge in [&mut self.free, &mut self.may_select] {
            *edge = renumbered(*edge, (from, to));
        }
    }

    /// Applies the settings from `edge` on.
    pub fn set(&mut self, mode: Mode, serial: ClockRegister, edge: u64) {
        self.give_time();
        self.period = serial.period_cycles();
        self.before_clock = serial.before_clock_cycles();
        self.inactive = mode.inactive_cycles();
        if serial.polarity() != self.cpol {
            self.signals.rest(serial.polarity(), self.time(edge.max(self.free)));
        }
        (self.cpol, self.cpha) = (serial.polarity(), serial.phase());
        self.skew = match (self.cpol, self.cpha) {
            (false, true) => Skew::Output,
            (true, false) => Skew::Input,
            _ => Skew::None,
        };
    }

    /// True if CPOL and CPHA differ.
    pub fn is_skewed(&self) -> bool {
        self.skew != Skew::None
    }

    /// The time of `edge`.
    #[inline]
    pub fn time(&self, edge: u64) -> Ps {
        self.clock.ps_at_floor(Cycles(edge))
    }

    fn list_ends(&mut self, poll: &mut Poll) -> bool {
        poll.end_edge(self.clock, &mut self.free);
        poll.end_edge(self.clock, &mut self.may_select);
        true
    }

    /// Chip select goes active at `at`, or as soon as it may.
    pub fn select(&mut self, at: u64) {
        let at = at.max(self.may_select);
        let time = self.time(at);
        self.chip.select(time);
        self.signals.select(0, true, time);
        self.selected = true;
        self.repeated = false;
        self.notes_due = true;
        self.totals.frames += 1;
        self.free = at + self.before_clock;
        self.last_levels = if self.skew == Skew::Input { u32::MAX } else { 0 };
    }

    /// Chip select goes inactive, if it is active, at `at` or directly after the last clock.
    pub fn deselect(&mut self, at: u64) {
        if !std::mem::take(&mut self.selected) {
            return;
        }
        let at = at.max(self.free);
        if !(self.is_repeated() && self.chip.end_repeated_read()) {
            let time = self.time(at);
            self.chip.deselect(time);
            self.signals.select(0, false, time);
        }
        self.signals.set_in_place(false);
        self.notes_due = true;
        self.free = at;
        self.may_select = at + self.inactive;
    }

    /// Reads `bits` bits of data, directly after the previous clocks or from `at` on.
    #[inline]
    pub fn read(&mut self, at: u64, lines: Lines, bits: u32) -> u32 {
        let burst = Burst::input(lines, Rate::Single, bits);
        let word = if bits == u32::BITS && self.is_repeated() { self.chip.read_next_word() } else { None };
        let Some(word) = word else { return self.shift(at, burst) };
        self.free = self.free.max(at) + u64::from(burst.clocks) * self.period;
        self.totals.sck_clocks += u64::from(burst.clocks);
        word
    }

    /// True if the frame in progress is a repeated read, and the lines are not recorded.
    #[inline]
    fn is_repeated(&self) -> bool {
        self.repeated && self.skew == Skew::None && !self.signals.are_recorded()
    }

    /// Sends the clocks of a burst, directly after the previous ones or from `at` on: returns the sampled bits. `free`
    /// is then their end.
    #[inline]
    pub fn shift(&mut self, at: u64, burst: Burst) -> u32 {
        let start = self.free.max(at);
        self.free = start + u64::from(burst.clocks) * self.period;
        self.totals.sck_clocks += u64::from(burst.clocks);
        let end = self.time(self.free);
        let clock = SerialClock { source: self.clock, start, period: self.period, cpol: self.cpol, cpha: self.cpha };
        if self.skew == Skew::None {
            return self.signals.burst(burst, self.chip.shift(burst, end), clock);
        }
        let sampled = self.shift_skewed(burst, end);
        self.signals.burst(burst, sampled, clock);
        sampled
    }

    #[cold]
    fn shift_skewed(&mut self, burst: Burst, end: Ps) -> u32 {
        if burst.drive == Drive::Nobody {
            self.last_levels = self.chip.shift(burst, end);
            return self.last_levels;
        }
        let (width, bits) = (burst.bits_per_clock(), burst.clocks * burst.bits_per_clock());
        let late = |levels: u32, last: u32| {
            let last = last & ((1 << width) - 1);
            (u64::from(levels) >> width) as u32 | (u64::from(last) << bits >> width) as u32
        };
        if self.skew == Skew::Output {
            let Drive::Controller = burst.drive else { return self.chip.shift(burst, end) };
            let skewed = Burst { bits: late(burst.bits, self.last_levels), ..burst };
            self.last_levels = burst.bits;
            return self.chip.shift(skewed, end);
        }
        let sampled = self.chip.shift(burst, end);
        let seen = late(sampled, self.last_levels);
        self.last_levels = sampled;
        seen
    }

    /// The header of a frame with the present settings: instruction, address, option, dummy clocks.
    pub fn header(&mut self, instruction: Instruction, with_opcode: bool) -> Header {
        self.headers = self.headers.wrapping_add(1);
        let (instruction_lines, address_lines, data_lines) = instruction.lines();
        let mut header = Header::new((data_lines, Rate::Single), (self.clock, self.period), self.headers);
        if let Some(opcode) = instruction.opcode().filter(|_| with_opcode) {
            header = header.with(Burst::byte_out(instruction_lines, opcode));
        }
        if let Some(bits) = instruction.address_bits() {
            header = header.with_address(address_lines, Rate::Single, bits, (0, 0));
        }
        if let Some((bits, code)) = instruction.option() {
            header = header.with(option(address_lines, bits, code));
        }
        if instruction.dummies() > 0 {
            // The dummy clocks use the lines of the address, if there is one.
            let lines = if instruction.address_bits().is_some() { address_lines } else { data_lines };
            header = header.with(Burst::dummy(lines, instruction.dummies()));
        }
        header
    }

    /// Sends the frame up to its data, from `at` on.
    pub fn send_header(&mut self, at: u64, header: &Header, address: u32) {
        for burst in header.bursts(address) {
            self.shift(at, burst);
        }
    }

    /// Begins a read frame at `at`, up to its data.
    #[inline]
    pub fn begin_read(&mut self, at: u64, header: &Header, address: u32) {
        if !self.start_repeated_read(at, header, address) {
            self.select(at);
            self.send_header(at, header, address);
        }
    }

    /// The same, if the chip supports the frame as a repeated read, and the lines are not recorded. Otherwise returns
    /// false, and does nothing.
    #[inline]
    pub fn start_repeated_read(&mut self, at: u64, header: &Header, address: u32) -> bool {
        if self.skew != Skew::None || self.signals.are_recorded() {
            return false;
        }
        let at = at.max(self.may_select);
        let free = at + self.before_clock + u64::from(header.clocks) * self.period;
        if !self.chip.start_repeated_read(header, address) {
            return false;
        }
        self.selected = true;
        self.repeated = true;
        self.notes_due = true;
        self.last_levels = 0;
        self.free = free;
        self.totals.frames += 1;
        self.totals.sck_clocks += u64::from(header.clocks);
        true
    }

    /// The peripheral clocks and serial clocks of a frame with this header and a word of data, after an identical one.
    fn frame_cycles(&self, header: &Header, lines: Lines) -> (u64, u64) {
        let clocks = u64::from(header.clocks + Burst::input(lines, Rate::Single, u32::BITS).clocks);
        (self.inactive + self.before_clock + clocks * self.period, clocks)
    }

    /// The cycles of two such frames, if frames like the one in progress can follow each other at any time.
    pub fn pair_cycles(&self, header: &Header, lines: Lines) -> Option<u64> {
        let is_sure = self.selected && self.is_repeated() && !self.notes_due && self.chip.can_repeat_read();
        is_sure.then(|| 2 * self.frame_cycles(header, lines).0)
    }

    /// Accounts for `frames` such frames, the last of them up to before `address`, and up to edge `free`.
    pub fn have_passed(&mut self, frames: u64, address: u32, free: u64, header: &Header, lines: Lines) {
        let (cycles, clocks) = self.frame_cycles(header, lines);
        self.free = free;
        self.may_select = free - cycles + self.inactive;
        self.totals.frames += frames;
        self.totals.sck_clocks += frames * clocks;
        self.chip.skip_repeated_reads(frames * u64::from(u32::BITS / u8::BITS), address);
    }

    /// True if the chip has no reaction to the end of the frame, if there is a frame.
    #[inline]
    pub fn ends_quietly(&self) -> bool {
        (self.repeated || !self.selected) && !self.notes_due && !self.signals.are_recorded()
    }
}

/// An edge after edge `from`, if that is renumbered to `to`; an edge that has passed stays in the past.
pub fn renumbered(edge: u64, (from, to): (u64, u64)) -> u64 {
    if edge > from { to + (edge - from) } else { 0 }
}

/// A code with fewer bits than a clock takes a whole clock, its bits on the lowest lines and zeroes above.
fn option(lines: Lines, bits: u32, code: u32) -> Burst {
    Burst::output(lines, Rate::Single, bits.max(lines.bits()), code)
}

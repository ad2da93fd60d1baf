//! The SPI wire between a controller and its memory: frames, and bursts of serial clocks in them, by edges of the clock
//! from which the serial clock is divided.
//!
//! Clocks follow each other directly, unless the controller asks for a later edge. A memory that can predict a frame
//! for any time gets no bursts but a *repeated read* ([`HostedChip::start_repeated_read`]), as long as the lines are
//! not recorded.

use crate::prelude::*;
use crate::support::hosted_chip::HostedChip;
use engine::observe::spi::{SerialClock, SpiSignals};
use engine::wire::spi::{Burst, Header, Lines};

/// The times of a frame, in edges.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State, Polled)]
pub struct FrameTiming {
    /// A period of the serial clock.
    pub period: u64,
    /// From chip select to the first clock's period.
    pub before_clock: u64,
    /// From the last clock's period to the end of chip select.
    pub after_clock: u64,
    /// The least time for which chip select is inactive.
    pub inactive: u64,
    /// From an edge to the one at which the lines show what was done: outputs may be registers.
    pub shown_after: u64,
    /// Clock polarity: the clock rests high.
    pub cpol: bool,
    /// Clock phase: bits are sampled on a clock's second edge.
    pub cpha: bool,
}

/// The wire, and the memory on it.
#[derive(State, Polled)]
pub struct MemoryWire {
    /// The clock whose edges are counted.
    pub clock: Hz,
    /// The memory.
    pub chip: HostedChip,
    /// The times of a frame.
    pub timing: FrameTiming,
    /// The lines, for waveforms.
    #[poll(skip = "no answer depends on waveforms")]
    pub signals: SpiSignals,
    /// Chip select is active.
    pub selected: bool,
    /// False if chip select does not reach the memory.
    pub reaches_chip: bool,
    /// The next clock's period can begin.
    #[poll(skip = "the controller lists it: it knows whether a loop moves it")]
    pub free: u64,
    /// Chip select may go active again.
    #[poll(skip = "the controller lists it: it knows whether a loop moves it")]
    pub may_select: u64,
    /// The frame in progress is a repeated read.
    repeated: bool,
    /// The memory may have notes.
    pub notes_due: bool,
    /// Times that the memory was selected.
    #[poll(total)]
    pub frames: u64,
    /// Periods of the serial clock.
    #[poll(total)]
    pub sck_clocks: u64,
}

impl MemoryWire {
    /// An idle wire.
    pub fn new(clock: Hz, chip: HostedChip, timing: FrameTiming) -> MemoryWire {
        MemoryWire {
            clock,
            chip,
            timing,
            signals: SpiSignals::default(),
            selected: false,
            reaches_chip: true,
            free: 0,
            may_select: 0,
            repeated: false,
            notes_due: false,
            frames: 0,
            sck_clocks: 0,
        }
    }

    /// The board comes out of reset.
    pub fn start(&mut self, ctx: &mut Ctx) {
        self.signals = SpiSignals::new(&ctx.bus.waves, ctx.scope(), ctx.label(), Lines::Quad, 1);
        self.chip.start(ctx);
    }

    /// The same wire with a copy of the memory, to try an access; `None` if the memory can't be copied.
    pub fn trial(&self) -> Option<MemoryWire> {
        let chip = HostedChip::new(self.chip.copy()?, String::new(), None, 0);
        Some(MemoryWire { chip, signals: SpiSignals::default(), ..*self })
    }

    /// The time of `edge`.
    #[inline]
    pub fn time(&self, edge: u64) -> Ps {
        self.clock.ps_at_floor(Cycles(edge))
    }

    /// The time at which the lines show what was done at `edge`.
    pub fn time_shown(&self, edge: u64) -> Ps {
        self.time(edge + self.timing.shown_after)
    }

    /// Chip select goes active at `at`, or as soon as it may.
    pub fn select(&mut self, at: u64) {
        let at = at.max(self.may_select);
        if self.reaches_chip {
            let time = self.time(at);
            self.chip.select(time);
        }
        self.signals.select(0, true, self.time_shown(at));
        self.repeated = false;
        self.begin_frame(at);
    }

    #[inline]
    fn begin_frame(&mut self, at: u64) {
        self.selected = true;
        self.notes_due = true;
        self.frames += 1;
        self.free = at + self.timing.before_clock;
    }

    /// Chip select goes inactive, if it is active, at `at` or as soon as it may after the last clock. Returns the edge.
    #[inline]
    pub fn deselect(&mut self, at: u64) -> u64 {
        let at = at.max(self.free + self.timing.after_clock);
        if std::mem::take(&mut self.selected) {
            if !(self.is_repeated() && self.chip.end_repeated_read()) {
                self.end_frame(at);
            }
            self.notes_due = true;
            self.may_select = at + self.timing.inactive;
        }
        at
    }

    fn end_frame(&mut self, at: u64) {
        if self.reaches_chip {
            let time = self.time(at);
            self.chip.deselect(time);
        }
        self.signals.select(0, false, self.time_shown(at));
    }

    /// Sends the clocks of a burst, directly after the previous ones or from `at` on: returns the sampled bits. `free`
    /// is then their end.
    #[inline]
    pub fn shift(&mut self, at: u64, burst: Burst) -> u32 {
        self.shift_by(at, burst, |chip, burst, end| chip.shift(burst, end))
    }

    /// The same, where `exchange` says what reaches the memory of the burst, which ends at this time, and of its
    /// answer.
    #[inline]
    pub fn shift_by(&mut self, at: u64, burst: Burst, exchange: impl FnOnce(&mut HostedChip, Burst, Ps) -> u32) -> u32 {
        let start = self.pass(at, burst);
        let end = self.time(self.free);
        let sampled = exchange(&mut self.chip, burst, end);
        self.signals.burst(burst, sampled, self.serial_clock(start))
    }

    /// Accounts for the clocks of a burst, directly after the previous ones or from `at` on: returns the edge at which
    /// they begin.
    #[inline]
    pub fn pass(&mut self, at: u64, burst: Burst) -> u64 {
        let start = self.free.max(at);
        self.free = start + u64::from(burst.clocks) * self.timing.period;
        self.sck_clocks += u64::from(burst.clocks);
        start
    }

    /// Clocks that begin at `start`, for waveforms.
    pub fn serial_clock(&self, start: u64) -> SerialClock {
        let FrameTiming { period, shown_after, cpol, cpha, .. } = self.timing;
        SerialClock { source: self.clock, start: start + shown_after, period, cpol, cpha }
    }

    /// Begins a repeated read at `at`, up to its data, if the memory supports it and the lines are not recorded.
    /// Otherwise returns false, and does nothing.
    #[inline]
    pub fn start_repeated_read(&mut self, at: u64, header: &Header, address: u32) -> bool {
        if self.signals.are_recorded() || !self.chip.start_repeated_read(header, address) {
            return false;
        }
        self.begin_frame(at.max(self.may_select));
        self.repeated = true;
        self.free += u64::from(header.clocks) * self.timing.period;
        self.sck_clocks += u64::from(header.clocks);
        true
    }

    /// The next word of a repeated read; [`MemoryWire::pass`] accounts for its clocks.
    #[inline]
    pub fn next_word(&mut self) -> Option<u32> {
        if self.is_repeated() { self.chip.read_next_word() } else { None }
    }

    /// True if the frame in progress is a repeated read, and the lines are not recorded.
    #[inline]
    pub fn is_repeated(&self) -> bool {
        self.repeated && !self.signals.are_recorded()
    }

    /// Continues a repeated read clock by clock: the memory gets the time, which it may have to compare with the next
    /// edges.
    pub fn look_closely(&mut self) {
        if self.selected && std::mem::take(&mut self.repeated) {
            let end = self.time(self.free);
            self.chip.shift(Burst::dummy(Lines::Single, 0), end);
        }
    }

    /// True if the memory has no reaction to the end of the frame, if there is a frame.
    #[inline]
    pub fn ends_quietly(&self) -> bool {
        (self.repeated || !self.selected) && !self.notes_due && !self.signals.are_recorded()
    }

    /// Updates the memory's pins after an access ([`HostedChip::follow`]). `end` gives the edge at which the wire has
    /// to be brought up to date.
    #[inline]
    pub fn follow(&mut self, end: impl FnOnce() -> Option<u64>, ctx: &mut Ctx) {
        if self.chip.has_pin() {
            let due = end().map(|edge| self.time(edge));
            self.chip.follow(due, ctx);
        }
    }

    /// Prints the memory's notes.
    #[cold]
    pub fn take_notes(&mut self, ctx: &mut Ctx) {
        self.notes_due = false;
        self.chip.take_notes(ctx);
    }
}

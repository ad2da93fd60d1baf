//! The prescaler, the counter and the auto-reload register (RM0090, "Time-base unit" and "Counter modes").
//!
//! The counter's place is known at an edge of the timer's clock; where it is later follows from how many edges lie
//! between. A *sweep* is what it counts in one direction, up to its end: an overflow or an underflow.

use crate::state::{Fresh, State};
use crate::time::{Cycles, Hz, Ps};

/// How the counter counts (TIM_CR1.CMS, DIR).
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
pub enum Mode {
    /// From 0 to ARR, or from ARR to 0.
    Edge,
    /// From 0 to ARR, and back.
    Centre,
}

/// The time base.
#[derive(Clone, Copy, Debug, State)]
pub struct Counter {
    /// The timer's clock.
    pub clock: Hz,
    /// The last of its edges that has been counted.
    edge: u64,
    /// Those since the last tick of the counter.
    prescaled: u64,
    /// TIM_PSC and TIM_ARR as they are in force.
    pub prescaler: u32,
    pub reload: u32,
    pub mode: Mode,
    pub value: u32,
    /// It counts down.
    pub down: bool,
    pub running: bool,
    /// The largest value that it can hold.
    #[state(skip)]
    pub most: u32,
}

/// What the end of a sweep was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// An overflow or an underflow.
    Event,
    /// The counter was above TIM_ARR and went on to its largest value: nothing happens.
    Wrap,
}

impl Counter {
    /// Stopped at 0.
    pub const fn new(clock: Hz, most: u32) -> Counter {
        Counter {
            clock,
            edge: 0,
            prescaled: 0,
            prescaler: 0,
            reload: most,
            mode: Mode::Edge,
            value: 0,
            down: false,
            running: false,
            most,
        }
    }

    /// CEN is set at `now`. The counter is enabled one clock later (RM0090, "Counter modes": CNT_EN is set a clock
    /// after CEN), and counts from the next one on.
    pub fn start(&mut self, now: Ps) {
        self.running = true;
        self.edge = self.clock.cycles_until_ceil(now).0 + 1;
    }

    /// The prescaler begins anew at `now`.
    pub fn restart_prescaler(&mut self, now: Ps) {
        self.prescaled = 0;
        if self.running {
            self.edge = self.edge.max(self.clock.cycles_until_ceil(now).0);
        }
    }

    /// The clock has another rate from `now` on: the next edge that counts is the new clock's.
    pub fn set_clock(&mut self, clock: Hz, now: Ps) {
        // A counter that is not enabled yet stays so for the clock that is left of it.
        let waits = self.edge.saturating_sub(self.clock.cycles_until_floor(now).0);
        self.clock = clock;
        self.edge = clock.cycles_until_floor(now).0 + waits;
    }

    const fn clocks_of_tick(&self) -> u64 {
        self.prescaler as u64 + 1
    }

    /// Ticks that have come by `now` and are not counted yet.
    pub fn ticks_by(&self, now: Ps) -> u64 {
        if !self.running {
            return 0;
        }
        let edges = self.clock.cycles_until_floor(now).0.saturating_sub(self.edge);
        (self.prescaled + edges) / self.clocks_of_tick()
    }

    /// When so many ticks, at least one, will have come.
    pub fn time_of(&self, ticks: u64) -> Ps {
        let clocks = ticks.saturating_mul(self.clocks_of_tick()) - self.prescaled;
        self.clock.ps_at_floor(Cycles(self.edge.saturating_add(clocks)))
    }

    /// Ticks to the end of the sweep; `None` where none comes: the counter is blocked while TIM_ARR is 0.
    pub const fn ticks_to_end(&self) -> Option<u64> {
        if self.reload == 0 || !self.running {
            return None;
        }
        let (value, reload) = (self.value as u64, self.reload as u64);
        Some(match (self.mode, self.down) {
            (Mode::Edge, false) if value <= reload => reload - value + 1,
            (Mode::Edge, false) => self.most as u64 - value + 1,
            (Mode::Edge, true) => value + 1,
            (Mode::Centre, false) if value < reload => reload - value,
            (Mode::Centre, true) if value > 0 => value,
            (Mode::Centre, _) => 1,
        })
    }

    /// Ticks to where the counter is `value` in this sweep, not at its end.
    pub const fn ticks_to(&self, value: u32) -> Option<u64> {
        if !self.running || self.reload == 0 {
            return None;
        }
        if self.down {
            return if value < self.value { Some((self.value - value) as u64) } else { None };
        }
        let last = if self.value > self.reload { self.most } else { self.reload };
        if value > self.value && value <= last { Some((value - self.value) as u64) } else { None }
    }

    /// So many ticks pass, which do not reach the sweep's end.
    pub fn pass(&mut self, ticks: u64) {
        self.value = if self.down { self.value - ticks as u32 } else { self.value + ticks as u32 };
        self.count(ticks);
    }

    /// Ticks pass while TIM_ARR is 0, which blocks the counter: they are not counted later either (RM0090,
    /// "TIMx_ARR": "The counter is blocked while the auto-reload value is null").
    pub fn stay(&mut self, ticks: u64) {
        self.count(ticks);
    }

    /// The sweep ends, so many ticks from here. The counter then has its next value, but for a reload from TIM_ARR,
    /// which an update may change first: [`Counter::turn`].
    pub fn end(&mut self, ticks: u64) -> End {
        let wraps = self.mode == Mode::Edge && !self.down && self.value > self.reload;
        self.count(ticks);
        if wraps { End::Wrap } else { End::Event }
    }

    /// The first value of the next sweep.
    pub fn turn(&mut self) {
        match self.mode {
            Mode::Edge => self.value = if self.down { self.reload } else { 0 },
            Mode::Centre => {
                self.value = if self.down { 0 } else { self.reload };
                self.down = !self.down;
            }
        }
    }

    /// Whole periods, of so many ticks each, that fit into `ticks` are skipped: the counter is where it was.
    pub fn skip(&mut self, ticks: u64, period: u64) {
        self.count(ticks - ticks % period);
    }

    /// Ticks from one end of a sweep to the next one of the same kind.
    pub const fn period(&self) -> u64 {
        match self.mode {
            Mode::Edge => self.reload as u64 + 1,
            Mode::Centre => 2 * self.reload as u64,
        }
    }

    /// The edges of so many ticks have been counted.
    fn count(&mut self, ticks: u64) {
        if ticks > 0 {
            self.edge += ticks * self.clocks_of_tick() - self.prescaled;
            self.prescaled = 0;
        }
    }

    /// Counts the edges up to `now`, which lie within a tick.
    pub fn rest(&mut self, now: Ps) {
        let edges = if self.running { self.clock.cycles_until_floor(now).0.saturating_sub(self.edge) } else { 0 };
        self.prescaled += edges;
        self.edge += edges;
    }
}

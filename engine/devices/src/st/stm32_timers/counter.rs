//! The prescaler, the counter and the auto-reload register (RM0090, "Time-base unit" and "Counter modes").
//!
//! The counter's state is known at an edge of the timer's clock; its state at a later edge follows from the number of
//! edges between. A *sweep* is the counting in one direction, up to its end: an overflow or an underflow.

use crate::prelude::*;

/// The counting mode (TIM_CR1.CMS, DIR).
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh, Polled)]
pub enum Mode {
    /// From 0 to ARR, or from ARR to 0.
    Edge,
    /// From 0 to ARR, and back.
    Centre,
}

/// The time base.
#[derive(Clone, Copy, Debug, State, Polled)]
pub struct Counter {
    /// The timer's clock.
    #[poll(phase)]
    pub clock: ClockInput,
    /// The last edge that has been counted.
    #[poll(skip = "it follows from the time; loops that read it count as moving accesses")]
    edge: u64,
    /// Edges since the last tick of the counter.
    #[poll(skip = "it follows from the time; loops that read it count as moving accesses")]
    prescaled: u64,
    /// TIM_PSC and TIM_ARR in force.
    pub prescaler: u32,
    pub reload: u32,
    pub mode: Mode,
    #[poll(skip = "it follows from the time; loops that read it count as moving accesses")]
    pub value: u32,
    /// True when counting down.
    pub down: bool,
    pub running: bool,
    /// The counter's largest value.
    #[state(skip)]
    pub most: u32,
}

impl Counter {
    /// A counter that is stopped at 0.
    pub const fn new(clock: ClockInput, most: u32) -> Counter {
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
        self.edge = self.clock.rate.cycles_until_ceil(now).0 + 1;
    }

    /// Restarts the prescaler at `now`.
    pub fn restart_prescaler(&mut self, now: Ps) {
        self.prescaled = 0;
        if self.running {
            self.edge = self.edge.max(self.clock.rate.cycles_until_ceil(now).0);
        }
    }

    /// Takes over the clock's rate from now on: the next edge that counts is the new clock's.
    pub fn follow_clock(&mut self, ctx: &Ctx) {
        // A counter that is not enabled yet waits for one clock of the new rate.
        let waits = self.edge.saturating_sub(self.edge_at(ctx.now));
        ctx.bus.clocks.update(&mut self.clock);
        self.edge = self.edge_at(ctx.now) + waits;
    }

    fn edge_at(&self, now: Ps) -> u64 {
        self.clock.rate.cycles_until_floor(now).0
    }

    const fn clocks_of_tick(&self) -> u64 {
        self.prescaler as u64 + 1
    }

    /// Ticks up to `now` that are not counted yet.
    pub fn ticks_by(&self, now: Ps) -> u64 {
        if !self.running {
            return 0;
        }
        let edges = self.edge_at(now).saturating_sub(self.edge);
        (self.prescaled + edges) / self.clocks_of_tick()
    }

    /// The time of the tick that is `ticks` ticks ahead; at least one.
    pub fn time_of(&self, ticks: u64) -> Ps {
        let clocks = ticks.saturating_mul(self.clocks_of_tick()) - self.prescaled;
        self.clock.rate.ps_at_floor(Cycles(self.edge.saturating_add(clocks)))
    }

    /// Ticks to the end of the sweep; `None` while TIM_ARR is 0, which blocks the counter.
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

    /// Ticks until the counter is `value` in this sweep, without its end.
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

    /// Advances by `ticks` ticks, which do not reach the sweep's end. While TIM_ARR is 0, which blocks the counter,
    /// they are discarded (RM0090, "TIMx_ARR": "The counter is blocked while the auto-reload value is null").
    pub fn pass(&mut self, ticks: u64) {
        if self.reload != 0 {
            self.value = if self.down { self.value - ticks as u32 } else { self.value + ticks as u32 };
        }
        self.count(ticks);
    }

    /// Ends the sweep, `ticks` ticks from here. The counter then has its next value, except for a reload from TIM_ARR,
    /// which an update may change first: [`Counter::begin_sweep`]. False if that is no event: the counter was above
    /// TIM_ARR and continued to its largest value.
    pub fn end(&mut self, ticks: u64) -> bool {
        self.count(ticks);
        self.mode == Mode::Centre || self.down || self.value <= self.reload
    }

    /// Sets the first value of the next sweep.
    pub fn begin_sweep(&mut self) {
        match self.mode {
            Mode::Edge => self.value = if self.down { self.reload } else { 0 },
            Mode::Centre => {
                self.value = if self.down { 0 } else { self.reload };
                self.down = !self.down;
            }
        }
    }

    /// Skips the whole periods in `ticks`: the counter has the same value afterwards.
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

    /// Counts the edges of `ticks` ticks.
    fn count(&mut self, ticks: u64) {
        if ticks > 0 {
            self.edge += ticks * self.clocks_of_tick() - self.prescaled;
            self.prescaled = 0;
        }
    }

    /// Counts the edges up to `now`, which are within one tick.
    pub fn rest(&mut self, now: Ps) {
        let edges = if self.running { self.edge_at(now).saturating_sub(self.edge) } else { 0 };
        self.prescaled += edges;
        self.edge += edges;
    }
}

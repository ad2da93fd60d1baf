//! `atmel,at91sam9260-pit`: Periodic Interval Timer (SAM9N12 datasheet 11063K, section 16; the same in SAMA5D2).
//!
//! Modelled: all registers. CPIV counts every 16 clocks from 0 to PIV and restarts at 0, which sets PITS and increments
//! PICNT; reading PIVR clears both. Setting PITEN starts the prescaler. Clearing PITEN stops the counter at its next 0;
//! with a PIV below the count, CPIV first wraps at 20 bits. CPIV is a function of time; there is an event only for an
//! overflow that raises the interrupt.
//!
//! Not modelled: the stop in debug state.

use crate::prelude::*;
use crate::support::activities::TIMER;
use crate::support::counter::{Counter, Range, Ticks};
use crate::support::timer_interrupt::TimerInterrupt;

registers! {
    /// The register map (Periodic Interval Timer User Interface).
    const MAP "PIT_" {
        MR 0x0 rw reset MR_PIV { PIV 0..20, PITEN 24, PITIEN 25 };
        SR 0x4 ro { PITS 0 };
        PIVR 0x8 ro volatile { CPIV 0..20, PICNT 20..32 };
        PIIR 0xc ro volatile { CPIV 0..20, PICNT 20..32 };
    }
}

/// Clocks of a count.
const PRESCALER: u64 = 16;
const MOST_PICNT: u32 = field(PIVR_PICNT, PIVR_PICNT);

/// The device.
#[derive(Debug, State, Polled, RegisterBank)]
#[port(Port::APB)]
#[poll(first = Pit::look)]
pub struct Pit {
    #[poll(phase)]
    clock: ClockInput,
    interrupt: TimerInterrupt,
    registers: Registers,
    /// CPIV.
    #[poll(skip = "its next reload is listed, and its reads are counted")]
    counter: Counter,
    /// The cycle in which the prescaler was started; `None` while CPIV is stopped at 0.
    started: Option<u64>,
    picnt: u32,
    /// Reads of PIVR and PIIR so far: a loop with a read of them is in another state each iteration.
    counter_reads: u64,
}

/// For the list of models.
pub const MODEL: Model =
    Model::device(Group::Timer, &["atmel,at91sam9260-pit"], 1, from_node).with_activities(TIMER).naming(MAP.rows);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    Box::new(Pit::new(
        reader.clock_input(0, "the master clock, which is divided by 16 and counted"),
        reader.interrupt(0, "its interrupt"),
    ))
}

impl Pit {
    /// The device after reset.
    pub fn new(clock: impl Into<ClockInput>, interrupt: Option<IrqLine>) -> Pit {
        let (registers, interrupt) = (Registers::new(&MAP), TimerInterrupt::new(interrupt));
        let (counter, started) = Default::default();
        Pit { clock: clock.into(), interrupt, registers, counter, started, picnt: 0, counter_reads: 0 }
    }

    fn is_enabled(&self) -> bool {
        self.registers.has(MR, MR_PITEN)
    }

    fn range(&self) -> Range {
        Range::up((self.registers[MR] & MR_PIV).into(), MR_PIV.into())
    }

    /// Counts of CPIV; `None` while it is stopped.
    fn ticks(&self) -> Option<Ticks> {
        let origin = self.started?;
        Some(Ticks { origin, ..Ticks::of(self.clock.rate, PRESCALER) })
    }

    /// The time at which CPIV is 0 again.
    fn next_zero(&self) -> Option<Ps> {
        self.ticks()?.time_of(self.counter.reload_tick(self.range()))
    }

    /// The next overflow is a deadline.
    fn look(&mut self, poll: &mut Poll) -> bool {
        self.pass_to(poll.now());
        self.counter.list(self.started.is_some(), self.range(), poll);
        self.next_zero().into_iter().for_each(|zero| poll.until(zero));
        true
    }
}

impl Table for Pit {
    const UPDATES_AFTER_READS: bool = true;

    /// Brings the counters up to `now`.
    fn pass_to(&mut self, now: Ps) {
        let Some(ticks) = self.ticks() else { return };
        let (range, mut tick) = (self.range(), ticks.at(now));
        if let Some(zero) = self.counter.tick_of(0, range).filter(|zero| *zero <= tick && !self.is_enabled()) {
            (self.started, tick) = (None, zero);
        }
        let overflows = self.counter.settle(tick, range);
        if overflows > 0 {
            self.registers.put(SR, SR_PITS, true);
            self.picnt = self.picnt.wrapping_add(overflows as u32) & MOST_PICNT;
        }
    }

    fn shown(&mut self, register: u32, held: u32, _: &mut Ctx) -> u32 {
        if !matches!(register, PIVR | PIIR) {
            return held;
        }
        self.counter_reads += 1;
        let value = self.picnt << 20 | self.counter.value as u32;
        if register == PIVR {
            self.picnt = 0;
            self.registers.put(SR, SR_PITS, false);
        }
        value
    }

    fn wrote(&mut self, register: u32, _old: u32, _new: u32, ctx: &mut Ctx) {
        if register == MR && self.started.is_none() && self.is_enabled() {
            (self.started, self.counter) = (Some(self.clock.rate.cycles_until_floor(ctx.now).0), Counter::default());
        }
    }

    /// Updates the interrupt line, and requests an event for its next rise.
    fn update(&mut self, ctx: &mut Ctx) {
        let (enabled, pits) = (self.registers.has(MR, MR_PITIEN), self.registers.has(SR, SR_PITS));
        let rises = if enabled { self.next_zero() } else { None };
        self.interrupt.drive(enabled && pits, rises, ctx);
    }
}

impl Device for Pit {
    by_table!(interrupt);

    fn clocks_changed(&mut self, ctx: &mut Ctx) {
        self.pass_to(ctx.now);
        let from = self.clock.rate.cycles_until_floor(ctx.now).0;
        ctx.bus.clocks.update(&mut self.clock);
        let to = self.clock.rate.cycles_until_floor(ctx.now).0;
        // It may have begun before cycle 0 of the new clock.
        self.started = self.started.map(|started| started.wrapping_sub(from).wrapping_add(to));
        self.interrupt.cancel(ctx);
        self.update(ctx);
    }
}

#[cfg(test)]
mod tests;

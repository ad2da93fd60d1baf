//! `arm,armv7m-systick`: the system timer of an M-profile core (ARMv7-M Architecture Reference Manual, DDI 0403E,
//! B3.3).
//!
//! Modelled: all registers, both clocks. SYST_CVR counts down to 0. At 0, COUNTFLAG is set, and with TICKINT the core
//! gets an interrupt; a clock later the counter continues from SYST_RVR. Reading SYST_CSR clears COUNTFLAG. Writing
//! SYST_CVR sets it to 0, which is no tick. While SYST_RVR is 0 the counter stays 0; a value written then is loaded at
//! the next clock, however long ago the counter was enabled. The counter is computed from the time; only ticks that
//! interrupt need events.
//!
//! When firmware changes a clock, the counter continues at the new rate from its present value. The first of `clocks`
//! is the core's; the second, if present, is the external reference. The interrupt line changes its level with each
//! tick.
//!
//! Not modelled: a calibration value. SYST_CALIB reads as "not known" (TENMS 0).

use crate::prelude::*;
use crate::support::activities::TIMER;
use crate::support::counter::{Counter, Range, Ticks};
use crate::support::timer_interrupt::TimerInterrupt;
use engine::dt::node::Property;

registers! {
    /// The register map.
    const MAP "SYST_" {
        CSR 0x0 rw { ENABLE 0, TICKINT 1, CLKSOURCE 2, COUNTFLAG 16 rc };
        RVR 0x4 rw mask 0xff_ffff;
        CVR 0x8 rw volatile mask 0xff_ffff;
        CALIB 0xc ro { NOREF 31 };
    }
}

/// The device.
#[derive(Debug, State, Polled, RegisterBank)]
#[port(Port::APB)]
#[poll(first = SysTick::list_tick)]
pub struct SysTick {
    core_clock: ClockInput,
    #[state(with = engine::state::present)]
    external_clock: Option<ClockInput>,
    interrupt: TimerInterrupt,
    registers: Registers,
    #[poll(skip = "its next reload is listed")]
    counter: Counter,
    /// The counter ticked, and the core has not been interrupted yet.
    ticked: bool,
    /// Level of the interrupt line.
    level: bool,
    /// Reads of SYST_CVR since the start: a loop with such a read has a new state in each iteration.
    counter_reads: u64,
}

/// For the list of models.
pub const MODEL: Model =
    Model::device(Group::Timer, &["arm,armv7m-systick"], 1, from_node).with_activities(TIMER).naming(MAP.rows);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    let core_clock = reader.clock_input(0, "the core's clock");
    let external = reader.node.property("clocks").and_then(Property::cells).is_some_and(|clocks| clocks.len() > 1);
    let external_clock =
        reader.only_if(external, "", |reader| reader.clock_input(1, "the external reference, if there is one"));
    Box::new(SysTick::new(core_clock, external_clock, reader.interrupt(0, "its interrupt")))
}

impl SysTick {
    /// The device after reset.
    pub fn new(core_clock: ClockInput, external_clock: Option<ClockInput>, interrupt: Option<IrqLine>) -> SysTick {
        let mut systick = SysTick {
            core_clock,
            external_clock,
            interrupt: TimerInterrupt::new(interrupt),
            registers: Registers::new(&MAP),
            counter: Counter::default(),
            ticked: false,
            level: false,
            counter_reads: 0,
        };
        systick.registers.put(CALIB, CALIB_NOREF, external_clock.is_none());
        systick.select_core_clock();
        systick
    }

    /// Without an external clock the core's is selected for good.
    fn select_core_clock(&mut self) {
        if self.external_clock.is_none() {
            self.registers.put(CSR, CSR_CLKSOURCE, true);
        }
    }

    /// The selected clock.
    fn ticks(&self) -> Ticks {
        let external = self.external_clock.filter(|_| !self.registers.has(CSR, CSR_CLKSOURCE));
        Ticks::of(external.unwrap_or(self.core_clock).rate, 1)
    }

    fn range(&self) -> Range {
        Range::down(self.registers[RVR].into())
    }

    /// False for a counter that is disabled, or is 0 without a value to reload.
    fn runs(&self) -> bool {
        self.registers.has(CSR, CSR_ENABLE) && (self.counter.value > 0 || self.registers[RVR] > 0)
    }

    /// The time of the next tick.
    fn next_tick(&self) -> Option<Ps> {
        self.ticks().time_of(self.counter.tick_of(0, self.range()).filter(|_| self.runs())?)
    }

    fn list_tick(&mut self, poll: &mut Poll) -> bool {
        poll.phase(self.ticks().clock);
        self.pass_to(poll.now());
        self.counter.list(self.runs(), self.range(), poll);
        if let Some(tick) = self.next_tick() {
            poll.until(tick);
        }
        true
    }
}

impl Table for SysTick {
    const UPDATES_AFTER_READS: bool = true;

    /// Updates the counter to `now`.
    fn pass_to(&mut self, now: Ps) {
        let tick = self.ticks().at(now);
        if !self.runs() {
            self.counter.tick = tick;
            return;
        }
        let zero = self.counter.tick_of(0, self.range());
        self.counter.settle(tick, self.range());
        if zero.is_some_and(|zero| zero <= tick) {
            self.registers.put(CSR, CSR_COUNTFLAG, true);
            self.ticked |= self.registers.has(CSR, CSR_TICKINT);
        }
    }

    fn shown(&mut self, register: u32, held: u32, _: &mut Ctx) -> u32 {
        if register != CVR {
            return held;
        }
        self.counter_reads += 1;
        self.counter.value as u32
    }

    fn wrote(&mut self, register: u32, _: u32, _: u32, ctx: &mut Ctx) {
        match register {
            CSR => {
                // Another clock counts on from the value that the old one has reached.
                self.select_core_clock();
                self.counter.tick = self.ticks().at(ctx.now);
            }
            CVR => {
                self.registers.put(CSR, CSR_COUNTFLAG, false);
                self.counter.value = 0;
            }
            _ => {}
        }
    }

    /// Interrupts the core for a tick, and schedules an event for the next.
    fn update(&mut self, ctx: &mut Ctx) {
        if std::mem::take(&mut self.ticked) {
            self.level = !self.level;
            ctx.change_irq(self.interrupt.line(), self.level);
        }
        self.interrupt.expect(self.next_tick().filter(|_| self.registers.has(CSR, CSR_TICKINT)), ctx);
    }
}

impl Device for SysTick {
    by_table!(interrupt);

    fn clocks_changed(&mut self, ctx: &mut Ctx) {
        self.pass_to(ctx.now);
        let before = self.ticks().at(ctx.now);
        for clock in [Some(&mut self.core_clock), self.external_clock.as_mut()].into_iter().flatten() {
            clock.rate = ctx.bus.clocks.rate_of(*clock);
        }
        self.counter.renumber(before, self.ticks().at(ctx.now));
        self.interrupt.cancel(ctx);
        self.update(ctx);
    }
}

#[cfg(test)]
mod tests;

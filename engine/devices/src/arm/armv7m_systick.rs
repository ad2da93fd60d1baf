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
use crate::support::activities::{COUNTING, TIMER};
use crate::support::axi_lite::edge_in_reach;
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

/// The counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh, Polled)]
enum Count {
    /// Stopped at this value.
    Stopped(u32),
    /// At 0, while SYST_RVR is 0: nothing to reload.
    Empty,
    /// Running; the counter is 0 in cycle `zero_cycle` of its clock.
    Running {
        zero_cycle: u64,
        /// Reaching 0 is a tick that has not been handled yet.
        ticks: bool,
    },
}

/// The device.
#[derive(Debug, State, Polled, RegisterBank)]
#[port(Port::APB)]
#[poll(first = SysTick::list_tick)]
pub struct SysTick {
    core_clock: ClockInput,
    #[state(with = engine::state::present)]
    external_clock: Option<ClockInput>,
    #[state(skip)]
    interrupt: Option<IrqLine>,
    registers: Registers,
    count: Count,
    /// The counter ticked, and the core has not been interrupted yet.
    ticked: bool,
    /// Level of the interrupt line.
    level: bool,
    alarm: Alarm,
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
            interrupt,
            registers: Registers::new(&MAP),
            count: Count::Stopped(0),
            ticked: false,
            level: false,
            alarm: Alarm::default(),
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
    fn clock(&self) -> Hz {
        let external = self.external_clock.filter(|_| !self.registers.has(CSR, CSR_CLKSOURCE));
        external.unwrap_or(self.core_clock).rate
    }

    fn cycle(&self, now: Ps) -> u64 {
        self.clock().cycles_until_floor(now).0
    }

    /// Updates the counter to `now`.
    fn advance(&mut self, now: Ps) {
        let (cycle, reload) = (self.cycle(now), u64::from(self.registers[RVR]));
        let Count::Running { mut zero_cycle, mut ticks } = self.count else { return };
        let mut ticked = ticks && cycle >= zero_cycle;
        ticks &= !ticked;
        if cycle > zero_cycle && reload > 0 {
            let after = (cycle - zero_cycle - 1) / (reload + 1);
            zero_cycle += (after + 1) * (reload + 1);
            let at_zero = cycle == zero_cycle;
            ticked |= after > 0 || at_zero;
            ticks = !at_zero;
        }
        // The tick at which it became 0 has been handled.
        let is_empty = reload == 0 && cycle > zero_cycle;
        self.count = if is_empty { Count::Empty } else { Count::Running { zero_cycle, ticks } };
        if ticked {
            self.registers.put(CSR, CSR_COUNTFLAG, true);
            self.ticked |= self.registers.has(CSR, CSR_TICKINT);
        }
    }

    /// The counter's value; the counter has been updated to `now`.
    fn value(&self, now: Ps) -> u32 {
        match self.count {
            Count::Stopped(value) => value,
            Count::Empty => 0,
            Count::Running { zero_cycle, .. } => zero_cycle.saturating_sub(self.cycle(now)) as u32,
        }
    }

    /// Continues from `value`, if the counter is enabled.
    fn set_value(&mut self, value: u32, now: Ps) {
        let running = Count::Running { zero_cycle: self.cycle(now) + u64::from(value), ticks: value > 0 };
        self.count = if self.registers.has(CSR, CSR_ENABLE) { running } else { Count::Stopped(value) };
    }

    /// A counter without a reload value becomes 0 in this cycle, and is reloaded in the next.
    fn reload(&mut self, value: u32, now: Ps) {
        if value > 0 && self.count == Count::Empty {
            self.count = Count::Running { zero_cycle: self.cycle(now), ticks: false };
        }
    }

    /// A write of SYST_CSR, which held `old`: another clock counts on from the value that the old one has reached.
    fn control(&mut self, old: u32, new: u32, now: Ps) {
        self.registers.set(CSR, old);
        let count = self.value(now);
        self.registers.set(CSR, new);
        self.select_core_clock();
        if (self.registers[CSR] ^ old) & (CSR_ENABLE | CSR_CLKSOURCE) != 0 {
            self.set_value(count, now);
        }
    }

    /// The time of the next tick.
    fn next_tick(&self) -> Option<Ps> {
        let Count::Running { zero_cycle, ticks } = self.count else { return None };
        let at = if ticks { zero_cycle } else { zero_cycle + u64::from(self.registers[RVR]) + 1 };
        if ticks || self.registers[RVR] > 0 { edge_in_reach(self.clock(), at) } else { None }
    }

    fn list_tick(&mut self, poll: &mut Poll) -> bool {
        poll.phase(self.clock());
        self.advance(poll.now());
        if let Some(tick) = self.next_tick() {
            poll.until(tick);
        }
        true
    }
}

impl Table for SysTick {
    fn settle(&mut self, ctx: &mut Ctx) {
        self.advance(ctx.now);
    }

    fn shown(&mut self, register: u32, held: u32, ctx: &mut Ctx) -> u32 {
        if register != CVR {
            return held;
        }
        self.counter_reads += 1;
        self.value(ctx.now)
    }

    fn was_read(&mut self, _: u32, ctx: &mut Ctx) {
        self.update(ctx);
    }

    fn wrote(&mut self, register: u32, old: u32, new: u32, ctx: &mut Ctx) {
        match register {
            CSR => self.control(old, new, ctx.now),
            RVR => self.reload(new, ctx.now),
            CVR => {
                self.registers.put(CSR, CSR_COUNTFLAG, false);
                self.set_value(0, ctx.now);
            }
            _ => {}
        }
    }

    /// Interrupts the core for a tick, and schedules an event for the next.
    fn update(&mut self, ctx: &mut Ctx) {
        if std::mem::take(&mut self.ticked) {
            self.level = !self.level;
            ctx.change_irq(self.interrupt, self.level);
        }
        let due = self.next_tick().filter(|_| self.registers.has(CSR, CSR_TICKINT));
        ctx.awaits(&COUNTING, due, Detail::None);
        if let Some(due) = due {
            self.alarm.set(due, 0, ctx);
        }
    }
}

impl Device for SysTick {
    by_table!();

    fn clocks_changed(&mut self, ctx: &mut Ctx) {
        self.advance(ctx.now);
        let before = self.cycle(ctx.now);
        for clock in [Some(&mut self.core_clock), self.external_clock.as_mut()].into_iter().flatten() {
            clock.rate = ctx.bus.clocks.rate_of(*clock);
        }
        let now = self.cycle(ctx.now);
        if let Count::Running { zero_cycle, .. } = &mut self.count {
            // The counter has been updated: it is 0 now or later.
            *zero_cycle = zero_cycle.saturating_sub(before) + now;
        }
        self.alarm.cancel(0, ctx);
        self.update(ctx);
    }

    fn event(&mut self, _token: u32, ctx: &mut Ctx) {
        self.alarm.rang(ctx.now);
        self.advance(ctx.now);
        self.update(ctx);
    }
}

#[cfg(test)]
mod tests;

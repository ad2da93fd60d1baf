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

use crate::model::{Group, Model};
use crate::support::activities::{COUNTING, TIMER};
use crate::support::apb;
use crate::support::axi_lite::edge_in_reach;
use crate::support::registers::{AccessKind, Register, flag};
use engine::activity::Detail;
use engine::bus::device::{AccessSize, Alarm, Ctx, Device, IrqLine, Reply, SlaveError};
use engine::dt::node::Property;
use engine::dt::reader::NodeReader;
use engine::dt::wiring::ClockInput;
use engine::polling::{Poll, Polled};
use engine::state::{Fresh, State};
use engine::time::{Hz, Ps};

/// The register map.
pub const REGISTERS: &[Register] = &[
    Register::new("SYST_CSR", CSR, AccessKind::Rw, 0, CSR_ENABLE | CSR_TICKINT | CSR_CLKSOURCE | CSR_COUNTFLAG),
    Register::new("SYST_RVR", RVR, AccessKind::Rw, 0, RELOAD_MASK),
    Register::new("SYST_CVR", CVR, AccessKind::Rw, 0, RELOAD_MASK),
    Register::new("SYST_CALIB", CALIB, AccessKind::Ro, 0, CALIB_NOREF),
];

const CSR: u32 = 0x0;
const RVR: u32 = 0x4;
const CVR: u32 = 0x8;
const CALIB: u32 = 0xc;

const CSR_ENABLE: u32 = 1 << 0;
const CSR_TICKINT: u32 = 1 << 1;
const CSR_CLKSOURCE: u32 = 1 << 2;
const CSR_COUNTFLAG: u32 = 1 << 16;
const RELOAD_MASK: u32 = 0xff_ffff;
const CALIB_NOREF: u32 = 1 << 31;

/// The counter.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
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
#[derive(Debug, State)]
pub struct SysTick {
    core_clock: ClockInput,
    #[state(with = engine::state::present)]
    external_clock: Option<ClockInput>,
    #[state(skip)]
    interrupt: Option<IrqLine>,
    /// SYST_CSR without COUNTFLAG.
    control: u32,
    reload: u32,
    count: Count,
    count_flag: bool,
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
    Model::device(Group::Timer, &["arm,armv7m-systick"], 1, from_node).with_activities(TIMER).naming(REGISTERS);

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
        let control = flag(CSR_CLKSOURCE, external_clock.is_none());
        SysTick {
            core_clock,
            external_clock,
            interrupt,
            control,
            reload: 0,
            count: Count::Stopped(0),
            count_flag: false,
            ticked: false,
            level: false,
            alarm: Alarm::default(),
            counter_reads: 0,
        }
    }

    /// The selected clock.
    fn clock(&self) -> Hz {
        let external = self.external_clock.filter(|_| self.control & CSR_CLKSOURCE == 0);
        external.unwrap_or(self.core_clock).rate
    }

    fn cycle(&self, now: Ps) -> u64 {
        self.clock().cycles_until_floor(now).0
    }

    /// Updates the counter to `now`.
    fn settle(&mut self, now: Ps) {
        let (cycle, period) = (self.cycle(now), u64::from(self.reload) + 1);
        let Count::Running { mut zero_cycle, mut ticks } = self.count else { return };
        let mut ticked = ticks && cycle >= zero_cycle;
        ticks &= !ticked;
        if cycle > zero_cycle && self.reload > 0 {
            let after = (cycle - zero_cycle - 1) / period;
            zero_cycle += (after + 1) * period;
            let at_zero = cycle == zero_cycle;
            ticked |= after > 0 || at_zero;
            ticks = !at_zero;
        }
        // The tick at which it became 0 has been handled.
        let is_empty = self.reload == 0 && cycle > zero_cycle;
        self.count = if is_empty { Count::Empty } else { Count::Running { zero_cycle, ticks } };
        self.count_flag |= ticked;
        self.ticked |= ticked && self.control & CSR_TICKINT != 0;
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
        self.count = if self.control & CSR_ENABLE != 0 { running } else { Count::Stopped(value) };
    }

    /// A counter without a reload value becomes 0 in this cycle, and is reloaded in the next.
    fn set_reload(&mut self, value: u32, now: Ps) {
        self.reload = value & RELOAD_MASK;
        if self.reload > 0 && self.count == Count::Empty {
            self.count = Count::Running { zero_cycle: self.cycle(now), ticks: false };
        }
    }

    fn set_control(&mut self, value: u32, now: Ps) {
        let count = self.value(now);
        let before = self.control;
        let fixed = flag(CSR_CLKSOURCE, self.external_clock.is_none());
        self.control = value & (CSR_ENABLE | CSR_TICKINT | CSR_CLKSOURCE) | fixed;
        if (self.control ^ before) & (CSR_ENABLE | CSR_CLKSOURCE) != 0 {
            self.set_value(count, now);
        }
    }

    /// The time of the next tick.
    fn next_tick(&self) -> Option<Ps> {
        let Count::Running { zero_cycle, ticks } = self.count else { return None };
        let at = if ticks { zero_cycle } else { zero_cycle + u64::from(self.reload) + 1 };
        if ticks || self.reload > 0 { edge_in_reach(self.clock(), at) } else { None }
    }

    /// Interrupts the core for a tick, and schedules an event for the next.
    fn update(&mut self, ctx: &mut Ctx) {
        if std::mem::take(&mut self.ticked) {
            self.level = !self.level;
            ctx.change_irq(self.interrupt, self.level);
        }
        let due = self.next_tick().filter(|_| self.control & CSR_TICKINT != 0);
        ctx.awaits(&COUNTING, due, Detail::None);
        if let Some(due) = due {
            self.alarm.set(due, 0, ctx);
        }
    }
}

impl Device for SysTick {
    fn read(&mut self, _: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> Result<Reply, SlaveError> {
        self.settle(ctx.now);
        let register = match offset & !3 {
            CSR => self.control | flag(CSR_COUNTFLAG, std::mem::take(&mut self.count_flag)),
            RVR => self.reload,
            CVR => {
                self.counter_reads += 1;
                self.value(ctx.now)
            }
            CALIB => flag(CALIB_NOREF, self.external_clock.is_none()),
            _ => 0,
        };
        self.update(ctx);
        Ok(apb::read(register, offset, size, ctx))
    }

    fn write(
        &mut self,
        _: usize,
        offset: u32,
        size: AccessSize,
        value: u32,
        ctx: &mut Ctx,
    ) -> Result<Reply, SlaveError> {
        self.settle(ctx.now);
        match apb::written(value, offset, size) {
            (CSR, value) => self.set_control(value, ctx.now),
            (RVR, value) => self.set_reload(value, ctx.now),
            (CVR, _) => {
                self.count_flag = false;
                self.set_value(0, ctx.now);
            }
            _ => {}
        }
        self.update(ctx);
        Ok(Reply::written(ctx.now))
    }

    fn clocks_changed(&mut self, ctx: &mut Ctx) {
        self.settle(ctx.now);
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
        self.settle(ctx.now);
        self.update(ctx);
    }
}

impl Polled for SysTick {
    fn polled(&mut self, poll: &mut Poll) -> bool {
        poll.phase(self.clock());
        self.settle(poll.now());
        poll.state(self.counter_reads);
        poll.state(self.control);
        poll.state(self.reload);
        poll.state(self.count_flag);
        poll.state(self.ticked);
        poll.state(self.level);
        match self.count {
            Count::Stopped(value) => poll.state(value),
            Count::Empty => poll.state(u64::MAX),
            Count::Running { zero_cycle, .. } => poll.state(zero_cycle),
        }
        if let Some(tick) = self.next_tick() {
            poll.until(tick);
        }
        true
    }
}

#[cfg(test)]
mod tests;

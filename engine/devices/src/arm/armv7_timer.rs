//! `arm,armv7-timer`: the generic timers of the cores (Arm Architecture Reference Manual, ARMv7-A and ARMv7-R edition,
//! DDI 0406C, chapter B8). The core's instructions name its registers; it has no address.
//!
//! Modelled: CNTFRQ; the physical counter and the virtual counter, which are equal, as no hypervisor sets an offset;
//! the physical and the virtual timer, with their interrupts. The counter counts the node's clock from the start of the
//! run, as if a boot loader had started it. Only the secure world exists: the physical timer is the secure one, and its
//! interrupt is the node's first, as in Linux's binding; the virtual timer's is the third. Each application core has
//! timers of its own, whose interrupts are private to it; the counter and CNTFRQ are common, as the firmware sets
//! CNTFRQ of all cores.
//!
//! Not modelled: the hypervisor's timer and offset, and event streams for wfe.

use super::gic_400::INPUTS_OF_CORE;
use crate::prelude::*;
use crate::support::activities::TIMER;
use crate::support::axi_lite::edge_in_reach;
use crate::support::interrupt_output::InterruptOutput;
use crate::support::timer_interrupt::TimerInterrupt;
use engine::bus::device::CoreRegister;

/// CNTP_CTL and CNTV_CTL: enables the timer.
const CTL_ENABLE: u32 = 1 << 0;
/// CNTP_CTL and CNTV_CTL: masks the timer's interrupt.
const CTL_IMASK: u32 = 1 << 1;
/// CNTP_CTL and CNTV_CTL: the timer's condition is met.
const CTL_ISTATUS: u32 = 1 << 2;

/// The timers' interrupts in the node: the physical timer's and the virtual one's.
const LINES: [(usize, &str); 2] = [(0, "the physical timer's interrupt"), (2, "the virtual timer's interrupt")];

/// One timer.
#[derive(Clone, Copy, Debug, State, Polled)]
struct Timer {
    interrupt: InterruptOutput,
    next: TimerInterrupt,
    compare_value: u64,
    control: u32,
}

/// The device. Instructions that name its registers end a skip, and its only other effects are interrupts, which are
/// events.
#[derive(Debug, State, Polled)]
pub struct GenericTimer {
    #[state(skip)]
    clock: Hz,
    frequency: u32,
    /// The physical timer and the virtual one of each core.
    #[state(with = engine::state::fixed)]
    timers: Vec<Timer>,
    /// The latest time of an access or event. An event may be handled after an access at a later time.
    latest: Ps,
}

/// For the list of models.
pub const MODEL: Model = Model::device(Group::Timer, &["arm,armv7-timer"], 0, from_node).with_activities(TIMER);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    reader.known(&["always-on", "arm,no-tick-in-suspend", "clock-frequency"]);
    let clock = reader.clock(0, "the clock that the counter counts");
    let lines = LINES.map(|(line, meaning)| reader.interrupt(line, meaning));
    let cores = reader.application_cores().max(1) as u32;
    Box::new(GenericTimer::new(
        clock,
        &(0..cores).map(|core| lines.map(|line| of_core(line, core))).collect::<Vec<_>>(),
    ))
}

/// The line of a core's private interrupt, from that of the first core.
fn of_core(line: Option<IrqLine>, core: u32) -> Option<IrqLine> {
    match line? {
        IrqLine::Device { device, input } => Some(IrqLine::Device { device, input: input + core * INPUTS_OF_CORE }),
        // A core's own input.
        line => (core == 0).then_some(line),
    }
}

impl GenericTimer {
    /// The device after reset. `lines` are the interrupts of the physical and the virtual timer of each core.
    pub fn new(clock: Hz, lines: &[[Option<IrqLine>; 2]]) -> GenericTimer {
        let timer = |(number, line): (usize, &Option<IrqLine>)| Timer {
            interrupt: InterruptOutput::new(*line),
            next: TimerInterrupt::default().numbered(number as u32),
            compare_value: 0,
            control: 0,
        };
        let frequency = u32::try_from(clock.get()).unwrap_or(u32::MAX);
        let timers = lines.as_flattened().iter().enumerate().map(timer).collect();
        GenericTimer { clock, frequency, timers, latest: Ps::ZERO }
    }

    /// CNTPCT, CNTVCT.
    fn count(&self, now: Ps) -> u64 {
        self.clock.cycles_until_floor(now).0
    }

    /// True if the counter has reached the timer's value. The difference is signed (ARM, B8.1.5).
    fn is_met(&self, timer: usize, now: Ps) -> bool {
        self.count(now).wrapping_sub(self.timers[timer].compare_value) as i64 >= 0
    }

    /// Sets a timer's interrupt to its level at `now`, and schedules an event for its next change.
    fn update(&mut self, timer: usize, ctx: &mut Ctx) {
        self.latest = self.latest.max(ctx.now);
        let (met, count) = (self.is_met(timer, self.latest), self.count(self.latest));
        let Timer { interrupt, next, compare_value, control } = &mut self.timers[timer];
        let on = *control & (CTL_ENABLE | CTL_IMASK) == CTL_ENABLE;
        interrupt.drive(on && met, ctx);
        let edge = count.checked_add(compare_value.wrapping_sub(count)).filter(|_| on && !met);
        next.expect(edge.and_then(|edge| edge_in_reach(self.clock, edge)), ctx);
    }

    fn read(&self, core: usize, register: CoreRegister, now: Ps) -> Option<u64> {
        match register {
            CoreRegister::Single(14, 0, 0, 0) => return Some(u64::from(self.frequency)),
            CoreRegister::Double(14, 0 | 1) => return Some(self.count(now)),
            _ => {}
        }
        let (which, kind) = find(register)?;
        let index = self.place(core, which);
        let Timer { compare_value, control, .. } = self.timers[index];
        let met = control & CTL_ENABLE != 0 && self.is_met(index, now);
        Some(match kind {
            Kind::TimerValue => u64::from(compare_value.wrapping_sub(self.count(now)) as u32),
            Kind::Control => u64::from(control | flag(CTL_ISTATUS, met)),
            Kind::CompareValue => compare_value,
        })
    }

    /// The place of a core's timer.
    fn place(&self, core: usize, which: usize) -> usize {
        let index = 2 * core + which;
        if index < self.timers.len() { index } else { which }
    }

    fn write(&mut self, register: CoreRegister, value: u64, ctx: &mut Ctx) -> Option<()> {
        if let CoreRegister::Single(14, 0, 0, 0) = register {
            self.frequency = value as u32;
            return Some(());
        }
        let (which, kind) = find(register)?;
        let index = self.place(ctx.core.unwrap_or(0), which);
        let count = self.count(ctx.now);
        let timer = &mut self.timers[index];
        match kind {
            // It is signed (ARM, B8.1.5).
            Kind::TimerValue => timer.compare_value = count.wrapping_add(i64::from(value as i32) as u64),
            Kind::Control => timer.control = value as u32 & (CTL_ENABLE | CTL_IMASK),
            Kind::CompareValue => timer.compare_value = value,
        }
        self.update(index, ctx);
        Some(())
    }
}

/// The registers of a timer: CNTP_* and CNTV_*.
enum Kind {
    TimerValue,
    Control,
    CompareValue,
}

/// The timer that a register belongs to, by CRm or opc1, and the register's kind.
const fn find(register: CoreRegister) -> Option<(usize, Kind)> {
    match register {
        CoreRegister::Single(14, 0, crm @ 2..=3, 0) => Some((crm as usize - 2, Kind::TimerValue)),
        CoreRegister::Single(14, 0, crm @ 2..=3, 1) => Some((crm as usize - 2, Kind::Control)),
        CoreRegister::Double(14, opc1 @ 2..=3) => Some((opc1 as usize - 2, Kind::CompareValue)),
        _ => None,
    }
}

impl Device for GenericTimer {
    fn read(&mut self, _: usize, _: u32, _: AccessSize, ctx: &mut Ctx) -> AccessResult {
        Err(SlaveError { done: ctx.now })
    }

    fn write(&mut self, _: usize, _: u32, _: AccessSize, _: u32, ctx: &mut Ctx) -> AccessResult {
        Err(SlaveError { done: ctx.now })
    }

    fn has_core_registers(&self) -> bool {
        true
    }

    fn core_register(&mut self, register: CoreRegister, written: Option<u64>, ctx: &mut Ctx) -> Option<u64> {
        let Some(value) = written else { return GenericTimer::read(self, ctx.core.unwrap_or(0), register, ctx.now) };
        GenericTimer::write(self, register, value, ctx).map(|()| 0)
    }

    fn count_at(&self, register: CoreRegister, at: Ps) -> Option<u64> {
        matches!(register, CoreRegister::Double(14, 0 | 1)).then(|| self.count(at))
    }

    fn event(&mut self, token: u32, ctx: &mut Ctx) {
        let timer = token as usize;
        self.timers[timer].next.rang(ctx.now);
        self.update(timer, ctx);
    }
}

#[cfg(test)]
mod tests;

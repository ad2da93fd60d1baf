//! `arm,cortex-a7-pmu`, `arm,cortex-a5-pmu`: the interrupts of the cores' performance monitors (Arm Architecture
//! Reference Manual, ARMv7-A and ARMv7-R edition, DDI 0406C, C12.4.9). The core has the registers and the counters; the
//! device has the line, and the event at which the core looks at its counters next.
//!
//! The line is high while an overflow is set in PMOVSR and enabled in PMINTENSET, and PMCR.E is set. It rises at the
//! end of the instruction in which the cycle counter, or a counter of instructions or cycles, overflows; with counters
//! of other events up to 100 cycles later.

use crate::prelude::*;
use crate::support::interrupt_output::InterruptOutput;

/// The device: the lines of all cores.
#[derive(Debug, State, Polled)]
pub struct CounterInterrupt {
    #[state(with = engine::state::fixed)]
    cores: Vec<OfCore>,
}

/// A core's line.
#[derive(Debug, State, Polled)]
struct OfCore {
    output: InterruptOutput,
    look: Alarm,
}

/// For the list of models.
pub const MODEL: Model = Model::device(Group::Interrupt, &["arm,cortex-a7-pmu", "arm,cortex-a5-pmu"], 0, from_node);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    reader.known(&["interrupt-affinity"]);
    let first = reader.interrupt(0, "the interrupt when a counter of the first core overflows");
    let others = 1..reader.application_cores();
    let others = others.map(|core| reader.interrupt(core, "that of a further core")).collect::<Vec<_>>();
    Box::new(CounterInterrupt::new(&[&[first], &others[..]].concat()))
}

impl CounterInterrupt {
    /// The device after reset, with the line of each core.
    pub fn new(lines: &[Option<IrqLine>]) -> CounterInterrupt {
        let of_core = |line: &Option<IrqLine>| OfCore { output: InterruptOutput::new(*line), look: Alarm::default() };
        CounterInterrupt { cores: lines.iter().map(of_core).collect() }
    }
}

impl Device for CounterInterrupt {
    fn read(&mut self, _: usize, _: u32, _: AccessSize, ctx: &mut Ctx) -> AccessResult {
        Err(SlaveError { done: ctx.now })
    }

    fn write(&mut self, _: usize, _: u32, _: AccessSize, _: u32, ctx: &mut Ctx) -> AccessResult {
        Err(SlaveError { done: ctx.now })
    }

    fn is_counter_interrupt(&self) -> bool {
        true
    }

    fn counter_interrupt(&mut self, level: bool, look: Option<Ps>, ctx: &mut Ctx) {
        let core = ctx.core.unwrap_or(0);
        let Some(OfCore { output, look: alarm }) = self.cores.get_mut(core) else { return };
        output.drive(level, ctx);
        alarm.follow(look, core as u32, ctx);
    }

    /// The core has to stop for it, and that is all.
    fn event(&mut self, token: u32, ctx: &mut Ctx) {
        self.cores.get_mut(token as usize).into_iter().for_each(|core| core.look.rang(ctx.now));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::Bench;
    use engine::bus::device::DeviceId;

    fn follow(bench: &mut Bench, at: u64, level: bool, look: Option<u64>) {
        let look = look.map(Ps);
        bench.bus.with_device(DeviceId(0), Ps(at), |device, ctx| device.counter_interrupt(level, look, ctx));
    }

    #[test]
    fn the_line_follows_and_one_event_comes_at_the_next_look() {
        let mut bench = Bench::new(CounterInterrupt::new(&[Some(IrqLine::Core { core: 0, bit: 4 })]));
        follow(&mut bench, 10, false, Some(500));
        follow(&mut bench, 20, false, Some(500));
        assert_eq!((bench.pending(), bench.bus.events.next_due()), (0, Ps(500)));
        bench.run(Ps(500));
        assert_eq!(bench.bus.events.next_due(), Ps::MAX);
        follow(&mut bench, 500, true, Some(900));
        assert_eq!(bench.pending(), 1 << 4);
        follow(&mut bench, 600, false, None);
        assert_eq!((bench.pending(), bench.bus.events.next_due()), (0, Ps::MAX));
    }
}

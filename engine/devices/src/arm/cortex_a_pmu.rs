//! `arm,cortex-a7-pmu`, `arm,cortex-a5-pmu`: the interrupt of a core's performance monitors (Arm Architecture Reference
//! Manual, ARMv7-A and ARMv7-R edition, DDI 0406C, C12.4.9). The core has the registers and the counters; the device
//! has the line, and the event at which the core looks at its counters next.
//!
//! The line is high while an overflow is set in PMOVSR and enabled in PMINTENSET, and PMCR.E is set. It rises at the
//! end of the instruction in which the cycle counter, or a counter of instructions or cycles, overflows; with counters
//! of other events up to 100 cycles later.

use crate::prelude::*;
use crate::support::interrupt_output::InterruptOutput;

/// The token of its events.
const LOOK: u32 = 0;

/// The device.
#[derive(Debug, State, Polled)]
pub struct CounterInterrupt {
    output: InterruptOutput,
    look: Alarm,
}

/// For the list of models.
pub const MODEL: Model = Model::device(Group::Interrupt, &["arm,cortex-a7-pmu", "arm,cortex-a5-pmu"], 0, from_node);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    reader.known(&["interrupt-affinity"]);
    let line = reader.interrupt(0, "the interrupt when a counter overflows");
    Box::new(CounterInterrupt::new(line))
}

impl CounterInterrupt {
    /// The device after reset, with its line.
    pub fn new(line: Option<IrqLine>) -> CounterInterrupt {
        CounterInterrupt { output: InterruptOutput::new(line), look: Alarm::default() }
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
        self.output.drive(level, ctx);
        self.look.follow(look, LOOK, ctx);
    }

    /// The core has to stop for it, and that is all.
    fn event(&mut self, _token: u32, ctx: &mut Ctx) {
        self.look.rang(ctx.now);
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
        let mut bench = Bench::new(CounterInterrupt::new(Some(IrqLine::Core { core: 0, bit: 4 })));
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

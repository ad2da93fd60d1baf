mod f4;
mod g4;
mod h7;

use super::*;
use crate::bench::{Bench, CPU_INTC, read_plain_node};
use crate::registers::walk;
use crate::support::clock_gate::ClockGate;
use crate::support::kernel_clock::KernelClock;
use crate::support::pin_functions::PinFunctions;
use engine::bus::device::{AccessSize, DeviceId, IrqLine, Reply, Unsent};
use engine::dt::wiring::{ClockId, ClockInput};
use engine::time::Hz;

/// The end of the idle frame that comes first.
const START: u64 = 10_000;

/// A USART with this clock, and with FIFOs of the given size.
fn params_of(clock: ClockInput, fifo_characters: usize) -> Params {
    Params {
        clock: KernelClock::new(clock),
        start_cycles: Cycles(2),
        interrupts: [None; 2],
        gate: ClockGate::default(),
        fifo_characters,
        dma: Default::default(),
        pins: PinFunctions::default(),
    }
}

/// A core's interrupts.
fn interrupts<const COUNT: usize>(bits: [u32; COUNT]) -> [Option<IrqLine>; COUNT] {
    bits.map(|bit| Some(IrqLine::Core { core: 0, bit }))
}

/// Lists the device's state in a loop of a core with this clock; `None` if it refuses.
fn look(bench: &mut Bench, core: Hz, at: Ps) -> Option<Poll> {
    let mut poll = Poll::look(core, core.cycles_until_ceil(at));
    bench.bus.devices[0].as_mut().unwrap().polled(&mut poll).then_some(poll)
}

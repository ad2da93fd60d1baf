//! What the tests of all families use.

use engine::bus::device::{DeviceId, IrqLine};
use engine::dt::wiring::{ClockId, ClockInput};
use engine::time::{Cycles, Hz, Ps};

use super::family::{Family, Name};
use super::sources::Hse;
use super::{Params, Rcc};
use crate::bench::Bench;

pub const MHZ: u64 = 1_000_000;

pub fn hz(frequency: u64) -> Hz {
    Hz::new(frequency).unwrap()
}

pub const NO_HSE: Hse = Hse { rate: None, is_external: false, start: Ps::from_us(2_000), external_cycles: Cycles(512) };

/// A board with these oscillators, start times in microseconds, and lock time.
pub fn params(family: &Family, oscillators: &[Option<u64>], starts: &[Ps], lock: Ps) -> Params {
    let mut oscillators: Vec<Option<Hz>> = oscillators.iter().map(|rate| rate.map(hz)).collect();
    oscillators.resize(family.sources.len(), None);
    Params {
        hse: Hse { rate: oscillators[family.place(Name::Hse)], ..NO_HSE },
        oscillators,
        starts: starts.to_vec(),
        stop_cycles: [Cycles(6), Cycles(3)],
        lock,
        switch_cycles: Cycles(2),
        divider_cycles: Cycles(2),
        outputs: (0..family.clocks().count() as u32).map(ClockId).collect(),
        interrupt: Some(IrqLine::Core { core: 0, bit: 5 }),
    }
}

/// The device after reset.
pub fn with(family: &'static Family, params: Params) -> Bench {
    let mut bench = Bench::new(Rcc::new(family, params));
    bench.bus.with_device(DeviceId(0), Ps(0), |device, ctx| device.reset(ctx));
    bench
}

pub fn output(number: u32) -> ClockInput {
    ClockInput { rate: hz(1), id: Some(ClockId(number)) }
}

/// The rate of an output at a time.
pub fn rate(bench: &mut Bench, at: Ps, number: u32) -> u64 {
    bench.run(at);
    bench.bus.clocks.rate_of(output(number)).get()
}

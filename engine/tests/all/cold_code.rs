//! Code that comes for the first time is decoded once.

use crate::conformance::{Target, arm, prepared, riscv, sweep};
use crate::support;
use cyclescope_engine::core::Core;
use cyclescope_engine::isa::arm::core::CortexA;
use cyclescope_engine::isa::riscv::core::Hart;
use cyclescope_engine::time::Ps;

/// Runs the sweep's code on this core, in a machine of its target. Gives how many instructions it ran.
fn run<T: Target>(core: &mut impl Core, at: u32) -> usize {
    let mut machine = prepared::<T>(at & !1, &sweep::<T>()).machine;
    core.set_pc(at);
    core.run(machine.bus(), Ps::from_us(10_000));
    core.report(machine.bus()).instructions as usize
}

#[test]
fn an_arm_core_decodes_cold_code_once() {
    for thumb in [0, 1] {
        let mut core = CortexA::new(support::arm::config());
        let ran = match thumb {
            0 => run::<arm::CortexA5>(&mut core, support::arm::DDR),
            _ => run::<arm::CortexA5Thumb>(&mut core, support::arm::DDR | 1),
        };
        // Some more behind lines' ends, and where loops are entered in their middle.
        assert!(ran > 5000 && core.decoded() < 5 * ran / 2, "{} of {ran}", core.decoded());
    }
}

#[test]
fn a_riscv_core_decodes_cold_code_once() {
    use support::riscv::{BRAM, DDR, cache, config};
    for at in [DDR, BRAM] {
        let mut core = Hart::new(config(cache(1), cache(1)));
        let ran = run::<riscv::Pipelined<0>>(&mut core, at);
        // Each block ends with an operation that is no instruction, past the cache a block is one, and some are there
        // twice: for when what was under way is still so, and for when it has come while the code was fetched.
        assert!(ran > 5000 && core.decoded() < 5 * ran, "{} of {ran}", core.decoded());
    }
}

//! Code that runs for the first time is decoded once, wherever a core's time slice ends in it.

use crate::whole::conformance::{Target, arm, prepared, riscv, sweep};
use crate::whole::support;
use engine::core::{Core, Stop};
use engine::isa::arm::instruction_set::CortexA;
use engine::isa::riscv::instruction_set::Hart;
use engine::time::Ps;

const TURN: Ps = Ps::from_ns(200);
const END: Ps = Ps::from_us(10_000);

/// Runs the sweep's code on this core, in a machine of its target. Gives how many instructions it ran.
fn run<T: Target>(core: &mut impl Core, at: u32) -> usize {
    run_in_slices::<T>(core, at, END)
}

/// Like `run`, in time slices of the given length.
fn run_in_slices<T: Target>(core: &mut impl Core, at: u32, turn: Ps) -> usize {
    let mut machine = prepared::<T>(at & !1, &sweep::<T>()).machine;
    core.set_pc(at);
    let turns = (1..=END.0 / turn.0).map(|n| core.run(machine.bus(), Ps(n * turn.0)));
    turns.take_while(|stop| *stop == Stop::Horizon).for_each(drop);
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
        // Some instructions after lines' ends are decoded twice, and so are loops that are entered in their middle.
        assert!(ran > 5000 && core.decoded() < 5 * ran / 2, "{} of {ran}", core.decoded());
    }
}

#[test]
fn a_riscv_core_decodes_cold_code_once() {
    use support::riscv::{BRAM, DDR, cache, config};
    for at in [DDR, BRAM] {
        let mut core = Hart::new(config(cache(1), cache(1)));
        let ran = run::<riscv::Pipelined<0>>(&mut core, at);
        // Each block ends with an operation that is no instruction; past the cache, a block is one instruction; and
        // some blocks exist twice: for a pending result that is still pending, and for one that has arrived while the
        // code was fetched.
        assert!(ran > 5000 && core.decoded() < 5 * ran, "{} of {ran}", core.decoded());
    }
}

#[test]
fn a_core_goes_on_in_the_block_in_which_its_turn_has_ended() {
    let arm = || CortexA::new(support::arm::config());
    let (mut whole, mut in_slices) = (arm(), arm());
    let ran = run::<arm::CortexA5>(&mut whole, support::arm::DDR);
    assert_eq!(run_in_slices::<arm::CortexA5>(&mut in_slices, support::arm::DDR, TURN), ran);
    assert_eq!(in_slices.decoded(), whole.decoded());
    use support::riscv::{DDR, cache, config};
    let hart = || Hart::new(config(cache(1), cache(1)));
    let (mut whole, mut in_slices) = (hart(), hart());
    let ran = run::<riscv::Pipelined<0>>(&mut whole, DDR);
    assert_eq!(run_in_slices::<riscv::Pipelined<0>>(&mut in_slices, DDR, TURN), ran);
    assert_eq!(in_slices.decoded(), whole.decoded());
}

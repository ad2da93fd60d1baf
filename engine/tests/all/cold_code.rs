//! Code that comes for the first time, on an Arm core with its instruction cache on: it is decoded once, and takes the
//! time that it takes in steps.

use crate::support::arm::*;
use cyclescope_engine::core::Core;
use cyclescope_engine::isa::arm::config::CoreConfig;
use cyclescope_engine::isa::arm::core::CortexA;
use cyclescope_engine::machine::{Machine, Outcome};
use cyclescope_engine::time::Ps;

/// Words of the code that is swept.
const WORDS: usize = 6000;

/// Switches the instruction cache on, and jumps to DDR (in T32, if its address is odd).
fn start(target: u32) -> Vec<u32> {
    let to = [mov(2, target & 0xffff), movt(2, target >> 16), bx(2)];
    [&[mrc(5, SCTLR), ORR_I, mcr(5, SCTLR)][..], &to].concat()
}

/// Pseudo-random numbers (xorshift).
fn numbers(mut state: u32) -> impl FnMut() -> u32 {
    move || {
        state ^= state << 13;
        state ^= state >> 17;
        state ^= state << 5;
        state
    }
}

/// A sweep's code: additions and multiplications, and now and then a branch backward, or one over a few instructions.
fn mixed() -> Vec<u32> {
    let mut number = numbers(7);
    let mut code: Vec<u32> = Vec::new();
    while code.len() < WORDS {
        match number() % 40 {
            0 => code.extend([mov(6, 3), subs(6, 6, 1), when(NE, b(-4))]),
            1 => code.push(when(NE, b(4 * (number() % 12) as i32 + 4))),
            2..8 => code.push(mul(3, 4, 3)),
            n => code.push(add_register(3 + n % 3, 3 + n / 3 % 3, 4)),
        }
    }
    code.extend([NOP; 16]);
    then_exit(&code)
}

/// The same in T32, of which some instructions have four bytes and lie in two lines.
fn mixed_thumb() -> Vec<u32> {
    let mut number = numbers(11);
    let mut halves: Vec<u16> = Vec::new();
    while halves.len() < 2 * WORDS {
        match number() % 6 {
            // add.w r3, r4, r3; beq.n over one; adds r3, r4, r5
            0 | 1 => halves.extend([0xeb04, 0x0303]),
            2 => halves.extend([0xd000, 0x46c0]),
            _ => halves.push(0x1963),
        }
    }
    // bx pc, to A32 behind it.
    halves.resize(halves.len().next_multiple_of(2), 0x46c0);
    halves.extend([0x4778, 0x46c0]);
    let words: Vec<u32> = halves.chunks(2).map(|pair| u32::from(pair[1]) << 16 | u32::from(pair[0])).collect();
    then_exit(&words)
}

fn swept(config: CoreConfig, at: u32, code: &[u32]) -> Machine {
    let mut machine = machine_with(config, PROGRAM, &start(at));
    put(&mut machine, at & !1, code);
    machine
}

#[test]
fn a_sweep_takes_the_time_that_it_takes_in_steps() {
    let zeros = then_exit(&[0; WORDS]);
    for (at, code) in [(DDR, &zeros), (DDR, &mixed()), (DDR + 8, &mixed()), (DDR | 1, &mixed_thumb())] {
        for config in [config(), cortex_a7()] {
            let mut machine = swept(config.clone(), at, code);
            let ran = machine.run(Ps::from_us(10_000), |_| true);
            assert_exit(&ran);
            let mut machine = swept(config, at, code);
            assert_eq!(machine.trace(1_000_000, |_| ()), Some(Outcome::Exit(0)));
            let stepped = machine.report(Outcome::Exit(0));
            assert_eq!((&stepped.cores, &stepped.counters), (&ran.cores, &ran.counters));
        }
    }
}

#[test]
fn cold_code_is_decoded_once() {
    for (at, code) in [(DDR, then_exit(&[0; WORDS])), (DDR, mixed()), (DDR | 1, mixed_thumb())] {
        let mut machine = swept(config(), at, &code);
        let mut core = CortexA::new(config());
        core.set_pc(PROGRAM);
        core.run(machine.bus(), Ps::from_us(10_000));
        let ran = core.report(machine.bus()).instructions as usize;
        assert!(ran >= WORDS, "{ran}");
        // Some more behind lines' ends, and where loops are entered in their middle.
        assert!(core.decoded() < 2 * ran, "{} of {ran}", core.decoded());
    }
}

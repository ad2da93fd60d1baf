//! Code that comes for the first time, on a RISC-V core with an instruction cache and past it: it is decoded once, and
//! takes the time that it takes in steps.

use crate::support::riscv::*;
use cyclescope_engine::core::Core;
use cyclescope_engine::isa::riscv::core::Hart;
use cyclescope_engine::machine::{Machine, Outcome};
use cyclescope_engine::time::Ps;

const WORDS: usize = 6000;

/// Additions, divisions that take their time, short loops, and pairs of compressed instructions, some of which lie
/// before an instruction in two lines.
fn code() -> Vec<u32> {
    let mut halves: Vec<u16> = Vec::new();
    let mut state = 5_u32;
    while halves.len() < 2 * WORDS {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let word = match state >> 24 {
            0..8 => divu(6, 7, 5),
            8..16 => bne(0, 0, 8),
            // c.nop
            16..80 => {
                halves.push(1);
                continue;
            }
            n => add(5 + n % 3, 6 + n % 2, 7),
        };
        halves.extend([word as u16, (word >> 16) as u16]);
    }
    halves.resize(halves.len().next_multiple_of(2), 1);
    let words: Vec<u32> = halves.chunks(2).map(|pair| u32::from(pair[1]) << 16 | u32::from(pair[0])).collect();
    then_exit(&words)
}

fn hart() -> Hart {
    Hart::new(config(cache(1), cache(1)))
}

fn swept(at: u32) -> Machine {
    let mut machine = machine(LOCAL, &[lui(3, at), jalr(0, 3, 0)], 1);
    put(&mut machine, at, &code());
    machine
}

#[test]
fn a_sweep_takes_the_time_that_it_takes_in_steps() {
    for at in [DDR, BRAM] {
        let ran = swept(at).run(Ps::from_us(10_000), |_| true);
        assert_exit(&ran);
        let mut machine = swept(at);
        assert_eq!(machine.trace(1_000_000, |_| ()), Some(Outcome::Exit(0)));
        let stepped = machine.report(Outcome::Exit(0));
        assert_eq!((&stepped.cores, &stepped.counters), (&ran.cores, &ran.counters));
    }
}

#[test]
fn cold_code_is_decoded_once() {
    for at in [DDR, BRAM] {
        let (mut machine, mut hart) = (swept(at), hart());
        hart.set_pc(LOCAL);
        hart.run(machine.bus(), Ps::from_us(10_000));
        let ran = hart.report(machine.bus()).instructions as usize;
        assert!(ran >= WORDS, "{ran}");
        // Each block ends with an operation that is no instruction, past the cache a block is one, and some are there
        // twice: for when what was under way is still so, and for when it has come while the code was fetched.
        assert!(hart.decoded() < 5 * ran, "{} of {ran}", hart.decoded());
    }
}

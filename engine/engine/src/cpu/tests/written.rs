//! Code that is overwritten, and data next to it: which blocks are killed, and which stay.

use crate::bus::{Bus, MapEntry, Target};
use crate::core::{Core, Stop};
use crate::cpu::Config;
use crate::cpu::memory_system::MemoryConfig;
use crate::cpu::toy::{EXIT, ToyCore, add, branch_if, jump, store};
use crate::memory::ram::{PortTiming, Ram};
use crate::time::{Cycles, Hz, Ps};

/// Addresses of programs, and of a function: not in the same 64 bytes.
const PROGRAM: u32 = 0x200;
const FUNCTION: u32 = 0x280;
/// Number of iterations of loops.
const ROUNDS: i8 = 100;

/// A core at a program in local memory, with the function after it.
fn core_at(program: &[u32], function: &[u32]) -> (ToyCore, Bus) {
    let mut bus = Bus::default();
    let clock = Hz::new(100_000_000).unwrap();
    bus.rams.push(Ram::new(0x1_0000, PortTiming::symmetric(clock, Cycles(0), Cycles(1), 4)));
    let (name, target) = ("local", Target::Ram(0));
    bus.map.push(MapEntry::new(name, 0, 0xffff, target));
    bus.add_core();
    let memory = MemoryConfig::unbuffered(clock, None, None);
    let config = Config { name: "toy".into(), index: 0, clock, timing: (), system: (), memory };
    for (at, words) in [(PROGRAM, program), (FUNCTION, function)] {
        write(&mut bus, at, words);
    }
    let mut core = ToyCore::at(config, PROGRAM);
    core.x[6] = FUNCTION;
    (core, bus)
}

fn write(bus: &mut Bus, at: u32, words: &[u32]) {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    assert!(bus.poke(at, &bytes));
}

/// Runs from the program's start to its exit.
fn run(core: &mut ToyCore, bus: &mut Bus) {
    core.pc = PROGRAM;
    assert_eq!(core.run(bus, Ps::from_us(100_000)), Stop::Exit(0));
    let report = core.report(bus);
    assert_eq!(report.causes().iter().map(|(_, cycles)| cycles.0).sum::<u64>(), report.cycles.0);
}

/// Number of decoded blocks, and the addresses of the dead ones.
fn blocks(core: &ToyCore) -> (usize, Vec<u32>) {
    let dead = core.blocks.cold.iter().filter(|cold| cold.is_dead).map(|cold| cold.entry.pc);
    (core.blocks.hot.len(), dead.collect())
}

/// Calls the function, whose address is in register 6, in each iteration.
fn calls(body: &[u32]) -> Vec<u32> {
    let round = [&[jump(14, 6)][..], body, &[add(1, 1, -1), branch_if(1, -2 - body.len() as i8), EXIT]].concat();
    [&[add(1, 0, ROUNDS)][..], &round].concat()
}

#[test]
fn a_store_beside_code_is_an_ordinary_store() {
    // Registers 2 and 3 hold the addresses of words after the program and after the function.
    let program = calls(&[add(4, 4, 1), store(4, 2, 0), store(4, 3, 0)]);
    let after = PROGRAM + 4 * program.len() as u32;
    let (mut core, mut bus) = core_at(&program, &[add(5, 5, 1), jump(12, 14)]);
    (core.x[2], core.x[3]) = (after, FUNCTION + 8);
    run(&mut core, &mut bus);
    let once = blocks(&core);
    assert_eq!((core.x[4], core.x[5], bus.code_written.epoch()), (ROUNDS as u32, ROUNDS as u32, 0));
    assert_eq!(bus.peek_word(after), Some(ROUNDS as u32));
    assert_eq!(bus.peek_word(FUNCTION + 8), Some(ROUNDS as u32));
    run(&mut core, &mut bus);
    assert_eq!(blocks(&core), once, "nothing was decoded again");
    assert!(once.1.is_empty());
}

#[test]
fn a_store_to_code_kills_what_is_there() {
    // From the first call on, the function's second instruction adds 2.
    let function = [add(5, 5, 1), add(7, 7, 1), jump(12, 14)];
    let (mut core, mut bus) = core_at(&calls(&[store(4, 2, 0)]), &function);
    (core.x[2], core.x[4]) = (FUNCTION + 4, add(7, 7, 2));
    run(&mut core, &mut bus);
    assert_eq!((core.x[5], core.x[7]), (ROUNDS as u32, 2 * ROUNDS as u32 - 1));
    let (_, dead) = blocks(&core);
    assert!(dead.iter().all(|pc| *pc == FUNCTION) && dead.len() == ROUNDS as usize, "{dead:x?}");
    // Next to the function's code: no effect.
    let before = blocks(&core);
    write(&mut bus, FUNCTION + 12, &[0]);
    write(&mut bus, FUNCTION - 4, &[0]);
    run(&mut core, &mut bus);
    assert_eq!(blocks(&core).1.iter().filter(|pc| **pc != FUNCTION).count(), 0);
    assert!(blocks(&core).0 <= before.0 + ROUNDS as usize + 1);
}

#[test]
fn a_write_from_outside_kills_what_is_there() {
    let (mut core, mut bus) = core_at(&calls(&[]), &[add(5, 5, 1), jump(12, 14)]);
    run(&mut core, &mut bus);
    let before = blocks(&core);
    write(&mut bus, FUNCTION + 8, &[1, 2, 3]);
    run(&mut core, &mut bus);
    assert_eq!(blocks(&core), before);
    // The upper half of an instruction, as DMA may write it.
    assert!(bus.poke(FUNCTION + 3, &[2]));
    run(&mut core, &mut bus);
    assert_eq!(core.x[5], 4 * ROUNDS as u32);
    assert_eq!(blocks(&core).1, [FUNCTION]);
    // More writes than are recorded.
    for part in 0..40 {
        write(&mut bus, FUNCTION, &[add(5, 5, part)]);
        run(&mut core, &mut bus);
    }
    let sum = core.x[5];
    for part in 0..40 {
        core.blocks.place(0, bus.mark_code(FUNCTION, 4));
        write(&mut bus, FUNCTION, &[add(5, 5, part)]);
    }
    run(&mut core, &mut bus);
    assert_eq!(core.x[5], sum + 39 * ROUNDS as u32);
    assert!(blocks(&core).1.is_empty(), "all were dropped");
}

#[test]
fn a_block_that_reaches_into_the_next_page_goes_with_its_last_bytes() {
    let (mut core, mut bus) = core_at(&[], &[]);
    // The toy's instructions need no alignment.
    let last = 0x1ffe;
    core.x[6] = last - 4;
    write(&mut bus, PROGRAM, &[jump(14, 6), EXIT]);
    for (number, add) in [1, 2, 4].into_iter().enumerate() {
        write(&mut bus, last - 4, &[add_to_five(add), add_to_five(8), jump(12, 14)]);
        run(&mut core, &mut bus);
        assert_eq!(blocks(&core).1.len(), 2 * number, "{number}");
    }
    assert_eq!(core.x[5], 1 + 2 + 4 + 3 * 8);
    let (decoded, dead) = blocks(&core);
    // The number of the second instruction, the last of its block, is after the page's end.
    assert!(bus.poke(last + 3, &[16]));
    run(&mut core, &mut bus);
    assert_eq!(core.x[5], 1 + 2 + 4 + 3 * 8 + 4 + 16);
    assert_eq!((blocks(&core).0, blocks(&core).1.len()), (decoded + 1, dead.len() + 1));
}

fn add_to_five(number: i8) -> u32 {
    add(5, 5, number)
}

#[test]
fn code_that_is_modified_for_ever_fills_no_memory() {
    let (mut core, mut bus) = core_at(&calls(&[store(4, 2, 0)]), &[add(5, 5, 1), jump(12, 14)]);
    (core.x[2], core.x[4]) = (FUNCTION, add(5, 5, 1));
    for _ in 0..100 {
        run(&mut core, &mut bus);
        assert!(core.blocks.hot.len() < 5000);
    }
    assert_eq!(core.x[5], 100 * ROUNDS as u32);
}

#[test]
fn popular_blocks_are_unlinked_wherever_they_were_linked_to() {
    // More callers than are listed one by one.
    let callers: Vec<u32> = (0..60).map(|at| 0x1000 + 0x40 * at).collect();
    let (mut core, mut bus) = core_at(&[], &[]);
    core.x[6] = 0x3000;
    for round in 1..3 {
        write(&mut bus, 0x3000, &[add(5, 5, round), add(0, 0, 0), EXIT]);
        for caller in &callers {
            write(&mut bus, *caller, &[jump(14, 6)]);
        }
        for _ in 0..2 {
            for caller in &callers {
                core.pc = *caller;
                assert_eq!(core.run(&mut bus, Ps::from_us(100_000)), Stop::Exit(0));
            }
        }
    }
    assert_eq!(core.x[5], 2 * 60 * (1 + 2));
}

//! Blocks of a MIPS core: that code is decoded once, and that two cores see each other's accesses in one order.

use crate::Machine;
use crate::whole::support::mips::*;
use crate::whole::support::pair::{Entries, JOURNAL, PROGRAMS, SHARED, pair_at, run_and_compare, xburst};
use engine::core::Core;
use engine::isa::mips::instruction_set::Mips;
use engine::time::Ps;
use std::sync::{Arc, Mutex};

/// Runs the machine's program on a core of its own: what that has decoded, and how many instructions it has run.
fn decoded(machine: &mut Machine) -> (usize, usize) {
    let mut core = Mips::new(config());
    core.set_pc(PROGRAM);
    core.run(machine.bus(), Ps::from_us(20_000));
    let ran = core.report(machine.bus()).instructions as usize;
    (core.decoded(), ran)
}

#[test]
fn cold_code_is_decoded_once() {
    let words = 3000;
    let mut code: Vec<u32> = Vec::new();
    while code.len() < words {
        // Pending results at a line's end, and branches that are not taken.
        let n = code.len() as u32;
        code.extend([mul(T0, T1, T1), addu(T2, T0, T0), lw(T1, S0, 0), bne(ZERO, ZERO, 5), addiu(T3, T3, n as i32)]);
        code.extend(vec![NOP; n as usize % 7]);
    }
    let mut machine = machine(PROGRAM, &[la(S0, KSEG0), la(K0, KSEG0 + DDR), jr(K0), NOP]);
    put(&mut machine, KSEG0 + DDR, &then_exit(&code));
    let (decoded, ran) = decoded(&mut machine);
    assert!(ran > words, "{ran}");
    // Some instructions after lines' ends are decoded twice.
    assert!(decoded < 2 * ran, "{decoded} of {ran}");
}

/// Enters the pair of pages at 4 MiB, for an address space, as entry `index`: both are the page at `physical`, cached
/// and writable.
fn entry(index: i32, asid: i32, physical: u32) -> Vec<u32> {
    let lo = physical >> 12 << 6 | 3 << 3 | 6;
    let mut code = vec![addiu(K0, ZERO, index), mtc0(K0, 0), lui(K0, 0x0040), addiu(K0, K0, asid), mtc0(K0, ENTRY_HI)];
    code.extend([lui(K1, lo >> 16), ori(K1, K1, lo & 0xffff), mtc0(K1, ENTRY_LO0), mtc0(K1, ENTRY_LO1), TLBWI]);
    code
}

#[test]
fn another_address_space_has_its_code_decoded_once() {
    // A function that is at the same address in both spaces, on different pages, and is called alternately.
    let decoded_in = |iterations: i32| {
        let call = |asid| [addiu(K0, S0, asid), mtc0(K0, ENTRY_HI), register(0x09, RA, S0, 0), NOP];
        let pages = [entry(0, 1, DDR + 0x8000), entry(1, 2, DDR + 0xa000)].concat();
        let body = [&call(1)[..], &call(2), &[addiu(T0, T0, -1)]].concat();
        let back = [bne(T0, ZERO, -(body.len() as i32 + 1)), NOP];
        let start = [NORMAL, la(S0, 0x0040_0000), addiu(T0, ZERO, iterations)];
        let mut machine = machine(PROGRAM, &then_exit(&[&start[..], &pages, &body, &back].concat()));
        for (page, by) in [(0x8000, 1), (0xa000, 2)] {
            let function = [addiu(T1, T1, by), addu(T2, T2, T1), jr(RA), mul(T3, T2, T2)];
            put(&mut machine, KSEG0 + DDR + page, &function);
        }
        let (decoded, ran) = decoded(&mut machine);
        assert!(ran > 15 * iterations as usize, "{ran}");
        decoded
    };
    let few = decoded_in(10);
    assert_eq!(decoded_in(1000), few);
}

// ---- Two cores

/// Two cores with programs in kseg0, in the state after reset: low addresses are what they say then, uncached.
fn pair(programs: [&[u32]; 2]) -> (Machine, Arc<Mutex<Entries>>) {
    let code = programs.map(|program| program.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>());
    pair_at([0, 1].map(xburst), PROGRAMS.map(|at| KSEG0 + at), 2, [&code[0], &code[1]])
}

const BASES: [u32; 2] = [0x3c10_0000 | SHARED >> 16, 0x3c11_0000 | JOURNAL >> 16];

/// Waits until the word at shared memory + `offset` is equal to T2, with a pending quotient.
fn until_equal(offset: i32) -> [u32; 4] {
    [lw(T3, S0, offset), divu(T3, S1), bne(T3, T2, -3), NOP]
}

/// Sets shared memory + 12, and sleeps: the other core ends the run.
const DONE: [u32; 4] = [0xae0a_000c, WAIT, 0x1000_fffe, NOP];

#[test]
fn messages_of_two_cores_go_back_and_forth_in_order() {
    let iterations = 100;
    let asks =
        [&[addiu(T2, T2, 1), sw(T2, S0, 0)][..], &until_equal(4), &[sw(T3, S1, 0x40), mflo(T1), addu(T1, T1, T2)]]
            .concat();
    let back = |code: &[u32]| [addiu(T0, ZERO, iterations), bne(T2, T0, -(code.len() as i32 + 2)), NOP];
    let ping = then_exit(&[&BASES[..], &asks, &back(&asks), &until_equal(12)].concat());
    let answers = [&[addiu(T2, T2, 1)][..], &until_equal(0), &[sw(T3, S1, 0x44), sw(T2, S0, 4)]].concat();
    let pong = [&BASES[..], &answers, &back(&answers), &DONE].concat();
    let (_, entries) = run_and_compare(|| pair([&ping, &pong]));
    let expected = (1..=iterations as u32).flat_map(|n| [(Some(1), 0x44, n), (Some(0), 0x40, n)]);
    let reported: Vec<_> = entries.iter().map(|(core, offset, value, _)| (*core, *offset, *value)).collect();
    assert_eq!(reported, expected.collect::<Vec<_>>());
    assert!(entries.is_sorted_by_key(|entry| entry.3));
}

#[test]
fn conditional_stores_lose_no_addition_of_two_cores() {
    let total = |exclusively| {
        let careful = [ll(T1, S0, 0), addiu(T1, T1, 1), addu(T3, T1, ZERO), sc(T3, S0, 0), beq(T3, ZERO, -5), NOP];
        let careless = [lw(T1, S0, 0), addiu(T1, T1, 1), NOP, sw(T1, S0, 0)];
        let body = if exclusively { &careful[..] } else { &careless[..] };
        let add = [body, &[sw(T1, S1, 0x40), addiu(T0, T0, -1)]].concat();
        let adds = |code: &[u32]| {
            let back = [bne(T0, ZERO, -(code.len() as i32 + 1)), NOP];
            [&BASES[..], &[addiu(T0, ZERO, 200)], code, &back].concat()
        };
        let one = addiu(T2, ZERO, 1);
        let first = then_exit(&[&adds(&add)[..], &[one], &until_equal(12)].concat());
        let second = [&adds(&add)[..], &[one], &DONE].concat();
        let (_, entries) = run_and_compare(|| pair([&first, &second]));
        assert_eq!(entries.len(), 400);
        entries.iter().map(|entry| entry.2).max().unwrap()
    };
    assert!(total(false) < 390, "{}", total(false));
    assert_eq!(total(true), 400);
}

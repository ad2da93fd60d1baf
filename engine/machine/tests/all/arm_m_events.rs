//! The Cortex-M4's event counters: the events of each, and the number of instructions that follows from all of them.

use crate::whole::support::arm_m::*;

const ISER: u32 = 0xe000_e100;
const ISPR: u32 = 0xe000_e200;
const DEMCR: u32 = 0xe000_edfc;
const DWT_CTRL: u32 = 0xe000_1000;
/// Of the watchpoint unit: CYCCNT, and the event counters.
const CYCCNT: u16 = 0x4;
const CPICNT: u16 = 0x8;
const EXCCNT: u16 = 0xc;
const SLEEPCNT: u16 = 0x10;
const LSUCNT: u16 = 0x14;
const FOLDCNT: u16 = 0x18;

/// The count of a counter between a load of it before `body` and a load of it after; interrupt 0 has `handler`.
fn count(counter: u16, body: &[u16], handler: Code) -> u32 {
    let program = code![
        load_constant(0, DEMCR),
        load_constant(1, 1 << 24),
        str(1, 0, 0),
        load_constant(7, DWT_CTRL),
        load_constant(1, 1 | 0x1f << 17),
        str(1, 7, 0),
        load_constant(0, ISER),
        movs(1, 1),
        str(1, 0, 0),
        load_constant(6, ISPR),
        NOP,
        ldr(3, 7, counter),
        NOP,
        body.to_vec(),
        NOP,
        ldr(4, 7, counter),
        exit()
    ];
    let (_, registers) = run_with(&program, &[(16, handler)]);
    // The address comes first.
    registers[1 + 4].wrapping_sub(registers[1 + 3]) & 0xff
}

/// As [`count`], beyond what it counts without the body.
fn more(counter: u16, body: &[u16]) -> u32 {
    let without = count(counter, &[], code![BX_LR]);
    count(counter, body, code![BX_LR]).wrapping_sub(without) & 0xff
}

#[test]
fn further_cycles_of_loads_and_stores_are_theirs() {
    // A load by itself takes two cycles. A nop in the second of them takes none: it counts as folded.
    assert_eq!(
        [LSUCNT, CPICNT, EXCCNT, SLEEPCNT, FOLDCNT].map(|counter| more(counter, &code![ldr(5, 7, 4), NOP])),
        [1, 0, 0, 0, 1]
    );
    assert_eq!(more(LSUCNT, &code![NOP, NOP]), 0);
}

#[test]
fn further_cycles_of_jumps_are_those_of_other_instructions() {
    // Nine taken branches, at a cycle beyond their own.
    let body = code![movs(2, 10), subs(2, 1), bne_back(1)];
    assert_eq!([CPICNT, LSUCNT, EXCCNT].map(|counter| more(counter, &body)), [9, 0, 0]);
}

#[test]
fn the_way_to_a_handler_and_back_is_an_exceptions() {
    // 12 in, 10 out; the return itself is a jump of two cycles, which is counted as one.
    let body = code![movs(1, 1), str(1, 6, 0), NOP];
    assert_eq!([EXCCNT, SLEEPCNT].map(|counter| more(counter, &body)), [12 + 10 - 2, 0]);
}

#[test]
fn all_counters_together_leave_the_instructions() {
    let body = code![
        movs(2, 10),
        subs(2, 1),
        bne_back(1),
        NOP,
        ldr(5, 7, 4),
        ldr(5, 7, 4),
        str(2, 7, 0x20),
        movs(1, 1),
        str(1, 6, 0),
        NOP
    ];
    let handler = code![ldr(5, 7, 4), NOP, BX_LR];
    let [cycles, cpi, exceptions, sleep, load_store, folded] =
        [CYCCNT, CPICNT, EXCCNT, SLEEPCNT, LSUCNT, FOLDCNT].map(|counter| count(counter, &body, handler.clone()));
    // One of the two loads of the counter, two NOPs, the body with its loop, the handler.
    let instructions = 1 + 2 + 1 + 20 + 7 + 3;
    let left = cycles.wrapping_sub(cpi + exceptions + sleep + load_store).wrapping_add(folded) & 0xff;
    assert_eq!(left, instructions, "{cycles} {cpi} {exceptions} {sleep} {load_store} {folded}");
}

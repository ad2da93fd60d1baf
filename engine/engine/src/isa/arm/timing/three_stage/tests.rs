//! Costs of short programs, against the manual and measurements.

use super::*;
use crate::isa::arm::op::{Code, Op};
use crate::isa::arm::registers::RegisterSet;

const STAGES: ThreeStage = ThreeStage {
    address_use: 1,
    load: 2,
    multiple: 1,
    register_jump: 2,
    memory_jump: 3,
    table_branch: 3,
    store_overlap: 1,
    store_to_load: 1,
    other_memory: 1,
    front_end: FrontEnd {
        words: 3,
        late_release: 1,
        branch_fetches: 1,
        constant_fetches: 1,
        most_refill: 3,
        system_fetch: 1,
        folds: true,
    },
    waits_for_grants: false,
    vfp_move_two: 2,
    vfp_use: true,
    floating_frame: 17,
    tail_chain: 6,
};

fn load(to: u32, from: &[u32]) -> Decoded {
    let base = from.iter().fold(0, |set, register| set | 1 << register);
    decoded(TimingClass::Load, 1 << to, base, base, 1 << to, 1)
}

fn store(value: u32, to: &[u32]) -> Decoded {
    let base = to.iter().fold(0, |set, register| set | 1 << register);
    decoded(TimingClass::Store, 0, base | 1 << value, base, 0, 1)
}

fn add(to: u32, from: u32) -> Decoded {
    decoded(TimingClass::Alu, 1 << to, 1 << from, 0, 0, 0)
}

fn wide(decoded: Decoded) -> Decoded {
    Decoded { instr: Instr { len_bytes: 4, ..decoded.instr }, ..decoded }
}

fn upper(decoded: Decoded) -> Decoded {
    Decoded { in_upper_half: true, ..decoded }
}

/// An instruction of four bytes across words.
fn across(decoded: Decoded) -> Decoded {
    upper(wide(decoded))
}

fn decoded(
    class: TimingClass,
    writes: RegisterSet,
    reads: RegisterSet,
    reads_early: RegisterSet,
    loaded: RegisterSet,
    words: u8,
) -> Decoded {
    let instr = Instr { len_bytes: 2, class, reads, reads_early, writes, words, ends_block: false };
    Decoded {
        instr,
        loaded,
        it: 0,
        in_upper_half: false,
        is_nop: false,
        on_system_bus: false,
        floating: FloatingUses::default(),
        flow_of_data: crate::isa::arm::timing::Dataflow::default(),
        is_left: false,
    }
}

fn total(program: &[Decoded]) -> u32 {
    let table = CoreTiming {
        three_stage: Some(STAGES),
        taken_branch: 2,
        vfp_multiply_add: 3,
        vfp_divide_single: 14,
        ..CoreTiming::default()
    };
    let mut pending = Pending::NONE;
    program.iter().map(|decoded| table.step(decoded, &mut pending).cycles()).sum()
}

#[test]
fn the_manuals_pairs_of_loads_and_stores() {
    assert_eq!(total(&[load(0, &[1]), load(1, &[2])]), 3);
    assert_eq!(total(&[load(0, &[1, 2]), store(0, &[3])]), 2, "with the loaded value, too");
    assert_eq!(total(&[load(0, &[1, 2]), store(1, &[3, 2])]), 3);
    assert_eq!(total(&[load(0, &[1, 5]), load(1, &[2]), load(2, &[3])]), 4);
    assert_eq!(total(&[store(0, &[1]), store(0, &[1])]), 2);
    assert_eq!(total(&[store(0, &[1, 2]), load(0, &[1])]), 4, "nothing goes along with such a store");
    assert_eq!(total(&[load(0, &[1]), load(1, &[0])]), 4, "an address from memory");
}

#[test]
fn accesses_that_overlap_a_load_through_a_register_are_in_a_row_with_it() {
    let constant = decoded(TimingClass::Load, 1, 0, 0, 1, 1);
    let places = |program: &[Decoded]| -> Vec<InRow> {
        let table = CoreTiming { three_stage: Some(STAGES), ..CoreTiming::default() };
        let mut pending = Pending::NONE;
        program.iter().map(|decoded| table.step(decoded, &mut pending).in_row).collect()
    };
    use InRow::{Alone, First, Next};
    assert_eq!(
        places(&[load(0, &[1]), load(3, &[2]), store(4, &[5]), load(0, &[1])]),
        [First, Next(1), Next(1), First]
    );
    assert_eq!(places(&[load(0, &[1]), load(3, &[0]), store(4, &[5, 6])]), [First, First, Next(1)]);
    assert_eq!(places(&[load(0, &[1]), load(3, &[1]), load(3, &[2, 1])]), [First, First, Next(1)], "one base");
    assert_eq!(places(&[load(0, &[1]), store(3, &[1])]), [First, Alone], "one base");
    let conditional = Decoded { it: 8, ..load(0, &[1]) };
    assert_eq!(places(&[conditional, load(3, &[2])]), [First, First], "it may not run");
    assert_eq!(places(&[constant, load(3, &[2]), add(4, 5), store(4, &[5])]), [Alone, First, Alone, Alone]);
}

#[test]
fn measured_pairs_of_loads_stores_and_nops() {
    let nop = Decoded { is_nop: true, ..decoded(TimingClass::Hint, 0, 0, 0, 0, 0) };
    let several = |class| decoded(class, 0, 1 << 13, 1 << 13, 0, 2);
    assert_eq!(total(&[load(0, &[1]), nop, add(3, 4)]), 3);
    assert_eq!(total(&[store(0, &[1, 2]), nop, add(3, 4)]), 3);
    assert_eq!(total(&[load(0, &[1]), add(3, 4)]), 3, "only a nop");
    assert_eq!(total(&[store(0, &[1]), nop]), 2);
    assert_eq!(total(&[store(0, &[1]), load(2, &[1])]), 4);
    assert_eq!(total(&[store(0, &[1]), add(3, 4), load(2, &[1])]), 4);
    assert_eq!(total(&[store(0, &[1]), several(TimingClass::LoadMultiple)]), 5);
    assert_eq!(total(&[store(0, &[1]), several(TimingClass::StoreMultiple)]), 4);
    let constant = load(0, &[]);
    assert_eq!(total(&[constant, constant, load(2, &[1])]), 2 + 1 + 2, "constants are in another memory");
    let near = Decoded { on_system_bus: true, ..constant };
    assert_eq!(total(&[near, load(2, &[1])]), 2 + 1);
}

#[test]
fn an_address_waits_for_arithmetic_and_arithmetic_for_nothing() {
    assert_eq!(total(&[add(0, 1), load(2, &[0])]), 4);
    assert_eq!(total(&[add(0, 1), store(0, &[2])]), 2);
    assert_eq!(total(&[add(0, 1), add(3, 1), load(2, &[0])]), 4);
    assert_eq!(total(&[load(0, &[1]), add(2, 0)]), 3);
}

/// The state of the bus for each instruction.
fn on_bus(program: &[Decoded]) -> Vec<OnBus> {
    let stages = ThreeStage { waits_for_grants: true, ..STAGES };
    let table = CoreTiming { three_stage: Some(stages), taken_branch: 2, ..CoreTiming::default() };
    let mut pending = Pending::NONE;
    program.iter().map(|decoded| table.step(decoded, &mut pending).on_bus).collect()
}

#[test]
fn the_bus_is_idle_after_a_load_unless_the_next_access_goes_right_after() {
    use OnBus::{AfterIdleStore, AsItIs, Idle, RightAfter};
    let sum = add(5, 6);
    assert_eq!(on_bus(&[load(0, &[1]), load(2, &[1]), sum, load(3, &[1])]), [Idle, RightAfter, AsItIs, Idle]);
    assert_eq!(on_bus(&[load(0, &[1]), load(1, &[0])]), [Idle, Idle], "an address from memory");
    let (kept, loaded) = (store(2, &[1]), load(3, &[1]));
    assert_eq!(on_bus(&[load(0, &[1]), kept, kept, loaded]), [Idle, RightAfter, RightAfter, RightAfter]);
    assert_eq!(on_bus(&[sum, kept, kept, loaded]), [AsItIs, Idle, AfterIdleStore, RightAfter]);
    assert_eq!(on_bus(&[store(0, &[1]), load(2, &[1])]), [Idle, AfterIdleStore]);
    assert_eq!(on_bus(&[store(0, &[1]), sum, load(2, &[1])]), [Idle, AsItIs, Idle]);
    assert_eq!(on_bus(&[load(0, &[1]), sum, load(2, &[5])]), [Idle, AsItIs, Idle]);
    let pop = decoded(TimingClass::LoadMultiple, 0xf, 1 << 13, 1 << 13, 0xf, 2);
    assert_eq!(on_bus(&[load(0, &[1]), pop, load(2, &[1])]), [Idle, Idle, Idle]);
    let literal = load(0, &[]);
    assert_eq!(on_bus(&[load(0, &[1]), literal, load(2, &[1])]), [Idle, AsItIs, Idle]);
    let in_sram = Decoded { on_system_bus: true, ..literal };
    assert_eq!(on_bus(&[store(0, &[1]), in_sram, load(2, &[1])]), [Idle, AfterIdleStore, RightAfter]);
    assert_eq!(total(&[load(0, &[1]), sum, load(2, &[1])]), 5, "it takes no time of the core's own");
}

#[test]
fn several_registers_take_one_cycle_more() {
    let pop = |words| decoded(TimingClass::LoadMultiple, 0xf, 1 << 13, 1 << 13, 0xf, words);
    assert_eq!(total(&[pop(2)]), 3);
    assert_eq!(total(&[pop(8)]), 9);
    assert_eq!(total(&[load(0, &[1]), pop(3)]), 6);
}

#[test]
fn a_jump_waits_for_both_words_of_its_target() {
    let table = CoreTiming { three_stage: Some(STAGES), ..CoreTiming::default() };
    // The jump's own cycles beyond its first, and those of the target with its own cycle: 1 + P, P from 1 to 3.
    let cases = [(1, add(0, 1), 1), (1, wide(add(0, 1)), 1), (1, across(add(0, 1)), 2)];
    let unforeseen = [(2, wide(add(0, 1)), 1), (2, across(add(0, 1)), 2), (3, across(add(0, 1)), 1)];
    for (refilled, target, expected) in cases.into_iter().chain(unforeseen) {
        let mut pending = Pending::NONE;
        table.jump(&mut pending, refilled);
        assert_eq!(table.step(&target, &mut pending).cycles(), expected);
        assert_eq!(table.step(&target, &mut pending).cycles(), 1);
    }
}

#[test]
fn a_branch_that_is_not_taken_takes_a_fetch() {
    let table = CoreTiming { three_stage: Some(STAGES), taken_branch: 2, ..CoreTiming::default() };
    let branch = wide(decoded(TimingClass::Branch, 0, FLAGS, 0, 0, 0));
    let cycles = |program: &[Decoded]| {
        let mut pending = Pending::NONE;
        table.jump(&mut pending, 1);
        program.iter().map(|decoded| table.step(decoded, &mut pending).cycles()).sum::<u32>()
    };
    let (sum, short) = (wide(add(0, 1)), add(0, 1));
    assert_eq!(cycles(&[sum, sum, branch, sum, sum]), 5 + 1);
    let upper = Decoded { in_upper_half: true, ..short };
    assert_eq!(cycles(&[short, upper, branch, sum, sum]), 5, "two short instructions leave time for it");
}

#[test]
fn a_jump_to_code_on_the_system_bus_takes_a_cycle_more() {
    let table = CoreTiming { three_stage: Some(STAGES), ..CoreTiming::default() };
    let far = |decoded| Decoded { on_system_bus: true, ..decoded };
    for (target, expected) in [(add(0, 1), 2), (across(add(0, 1)), 3)] {
        let mut pending = Pending::NONE;
        table.jump(&mut pending, 1);
        assert_eq!(table.step(&far(target), &mut pending).cycles(), expected);
        assert_eq!(table.step(&far(target), &mut pending).cycles(), 1, "the next word is on its way");
    }
}

#[test]
fn instructions_across_words_wait_after_one_of_several_cycles() {
    let sum = across(add(0, 1));
    let several = decoded(TimingClass::LoadMultiple, 0, 1 << 13, 1 << 13, 0, 3);
    assert_eq!(total(&[sum; 8]), 8);
    assert_eq!(total(&[several, sum, sum]), 4 + 2);
    assert_eq!(total(&[several, sum, sum, sum]), 4 + 3 + 1, "the third one");
    assert_eq!(total(&[several, sum, sum, sum, sum, sum, sum]), 4 + 6 + 1, "once");
    assert_eq!(total(&[across(several), sum, sum, sum]), 4 + 3 + 1);
    assert_eq!(total(&[several, upper(add(0, 1)), add(0, 1), sum, sum, sum]), 4 + 5, "short ones between");
    assert_eq!(total(&[load(0, &[1]), sum, sum, sum]), 2 + 3, "a load of one register");
}

#[test]
fn floating_point_across_words_waits_once_for_each_three() {
    let op = Op { code: Code::Vfp, rd: 1, rn: 0, rm: 0, ra: 2, imm: 0xee30_0a81 };
    let floating = FloatingUses::of(&[op]);
    let sum = Decoded { floating, ..wide(decoded(TimingClass::VfpAdd, 0, 0, 0, 0, 0)) };
    assert_eq!(total(&[sum; 60]), 60);
    let late = total(&[across(sum); 60]) - 60;
    assert!((19..=20).contains(&late), "{late}");
}

#[test]
fn an_address_waits_for_a_base_that_is_written_back() {
    let writes_back = |decoded: Decoded, base: u32| {
        let instr = Instr { writes: decoded.instr.writes | 1 << base, ..decoded.instr };
        Decoded { instr, ..decoded }
    };
    let loads = |to| writes_back(load(to, &[1]), 1);
    assert_eq!(total(&[loads(0), loads(2), loads(3)]), 6);
    assert_eq!(total(&[loads(0), load(2, &[3]), loads(3)]), 4, "another base");
    let stores = writes_back(store(0, &[1]), 1);
    assert_eq!(total(&[stores; 4]), 7);
    assert_eq!(total(&[stores, add(2, 3), stores]), 3);
    assert_eq!(total(&[stores, load(2, &[1])]), 1 + 1 + 2);
    assert_eq!(total(&[loads(2), store(2, &[1])]), 2 + 1, "the store does not overlap the load");
}

#[test]
fn a_condition_goes_along_with_a_short_instruction() {
    let it = decoded(TimingClass::IfThen, 0, 0, 0, 0, 0);
    assert_eq!(total(&[add(0, 1), it, add(0, 1)]), 2);
    assert_eq!(total(&[wide(add(0, 1)), it, add(0, 1)]), 3);
    assert_eq!(total(&[it, add(0, 1)]), 2, "nothing before it");
    assert_eq!(total(&[add(0, 1), it, load(2, &[0])]), 4, "the address waits all the same");
}

#[test]
fn table_branches_and_barriers_fill_the_pipeline_anew() {
    let table_branch = decoded(TimingClass::TableBranch, 0, 0b11, 0b11, 0, 1);
    let table = CoreTiming { three_stage: Some(STAGES), ..CoreTiming::default() };
    assert_eq!(total(&[table_branch]) + table.refill_cycles(&table_branch.instr, &Pending::NONE), 6);
    let barrier = wide(decoded(TimingClass::InstructionBarrier, 0, 0, 0, 0, 0));
    assert_eq!(total(&[barrier, add(0, 1)]), 1 + 2 + 1);
    assert_eq!(total(&[barrier, across(add(0, 1))]), 1 + 3 + 1);
}

#[test]
fn floating_point_results_come_a_cycle_late() {
    let vfp = |class, imm| {
        let op = Op { code: Code::Vfp, rd: 1, rn: 0, rm: 0, ra: 2, imm };
        Decoded { floating: FloatingUses::of(&[op]), ..wide(decoded(class, 0, 0, 0, 0, 0)) }
    };
    use TimingClass::{VfpAdd, VfpDivide32, VfpMove, VfpMoveTwo, VfpMultiply, VfpMultiplyAdd};
    // vadd.f32 s0, s1, s2; vmul.f32 s3, s0, s0; vmla.f32 s0, s1, s2; vdiv.f32 s0, s1, s2; vmov r1, s0
    let (sum, product) = (vfp(VfpAdd, 0xee30_0a81), vfp(VfpMultiply, 0xee60_1a00));
    let (accumulates, quotient) = (vfp(VfpMultiplyAdd, 0xee00_0a81), vfp(VfpDivide32, 0xee80_0a81));
    let read = vfp(VfpMove, 0xee10_1a10);
    assert_eq!(total(&[sum, product]), 3);
    assert_eq!(total(&[sum, add(0, 1), product]), 3);
    assert_eq!(total(&[sum, sum]), 2);
    assert_eq!(total(&[sum, read]), 3);
    assert_eq!(total(&[sum, accumulates, accumulates]), 7, "an addend is needed later");
    assert_eq!(total(&[accumulates, product]), 5);
    assert_eq!(total(&[quotient; 3]), 1 + 13 + 1 + 13 + 1);
    assert_eq!(total(&[quotient, product]), 14 + 1 + 1);
    for (waited, left) in [(0, 14), (5, 9), (13, 1), (20, 1)] {
        let mut pending = Pending::NONE;
        let table = CoreTiming { three_stage: Some(STAGES), vfp_divide_single: 14, ..CoreTiming::default() };
        table.step(&quotient, &mut pending);
        pending.wait(waited);
        assert_eq!(table.step(&accumulates, &mut pending).stall_cycles + 1, left, "a division goes on in a wait");
    }
    let beside = [quotient, add(0, 1), add(0, 1), add(0, 1), add(0, 1), add(0, 1), sum];
    assert_eq!(total(&beside), 14 + 1, "integers go on beside it");
    // vmov r1, r2, s0, s1
    assert_eq!(total(&[vfp(VfpMoveTwo, 0xec52_1a10)]), 2);
}

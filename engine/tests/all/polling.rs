//! Polling loops: skipping their rounds changes nothing that anyone can see.

use crate::support::riscv::*;
use cyclescope_engine::machine::{Machine, RunReport};
use cyclescope_engine::time::Ps;
use proptest::prelude::*;

const A0: u32 = 10;
const T0: u32 = 5;
const T1: u32 = 6;
const T2: u32 = 7;
const S0: u32 = 8;
const S1: u32 = 9;
const SP: u32 = 2;
const RA: u32 = 1;

/// Runs a program with and without skipping. Gives what both have in common, and the cycles that were skipped.
fn both_ways(at: u32, program: &[u32]) -> (RunReport, u64) {
    both_ways_of(|| machine(at, program, 2))
}

/// As [`both_ways`], for a machine of one's own.
fn both_ways_of(prepared: impl Fn() -> Machine) -> (RunReport, u64) {
    let once = |skip: bool| {
        let mut machine = prepared();
        machine.skip_polling(skip);
        let report = machine.run(Ps::from_us(20_000), |_| true);
        assert_exit(&report);
        (report, machine.registers(), machine.skipped()[0].0)
    };
    let ((skipping, registers, skipped), (running, same, nothing)) = (once(true), once(false));
    assert_eq!((&skipping, &registers), (&running, &same));
    assert_eq!(nothing, 0);
    (skipping, skipped)
}

/// The device's address in S0, `cycles` in T0, DDR in SP and S1.
fn set_up(cycles: u32) -> Vec<u32> {
    vec![
        lui(S0, DEVICE),
        lui(S1, DDR + 0x8000),
        addi(SP, S1, 0x100),
        lui(T0, cycles.wrapping_add(0x800)),
        addi(T0, T0, (cycles << 20) as i32 >> 20),
    ]
}

/// Waits for an event that comes after `cycles`.
fn wait_for_event(cycles: u32, padding: usize) -> Vec<u32> {
    let mut program = set_up(cycles);
    program.push(sw(T0, S0, 4));
    program.push(lw(A0, S0, 0));
    program.extend(vec![NOP; padding]);
    program.push(beq(A0, 0, -4 * (padding as i32 + 1)));
    then_exit(&program)
}

/// Exchanges bytes of `byte_cycles` until the device is ready after `cycles`: in a function that keeps registers on a stack in DDR.
fn exchange_until_ready(cycles: u32, byte_cycles: i32) -> Vec<u32> {
    let mut program = set_up(cycles);
    program.extend([sw(T0, S0, 20), jal(RA, 12), beq(A0, 0, -4), jal(0, 48)]);
    program.extend([addi(SP, SP, -16), sw(RA, SP, 12), sw(S1, SP, 8), addi(T1, 0, byte_cycles), sw(T1, S0, 16)]);
    program.extend([lw(T2, S0, 16), bne(T2, 0, -4), lw(A0, S0, 20), lw(RA, SP, 12), addi(SP, SP, 16), jalr(0, RA, 0)]);
    then_exit(&program)
}

/// Exchanges bytes as [`exchange_until_ready`], in a loop that sees the byte's end and the answer in the same register.
fn exchange_in_one_register(cycles: u32, byte_cycles: i32) -> Vec<u32> {
    let mut program = set_up(cycles);
    program.extend([sw(T0, S0, 20), addi(T1, 0, byte_cycles)]);
    program.extend([sw(T1, S0, 16), lw(A0, S0, 24), andi(T2, A0, 1), bne(T2, 0, -8), beq(A0, 0, -16)]);
    then_exit(&program)
}

/// As [`wait_for_event`], counting its rounds in a word of DDR.
fn count_in_memory(cycles: u32) -> Vec<u32> {
    let mut program = set_up(cycles);
    program.extend([sw(0, S1, 0), sw(T0, S0, 4)]);
    program.extend([lw(A0, S0, 0), lw(T1, S1, 0), addi(T1, T1, 1), sw(T1, S1, 0), addi(T1, 0, 0), beq(A0, 0, -20)]);
    then_exit(&program)
}

/// As [`wait_for_event`], with a time-out in a register.
fn count_in_a_register(cycles: u32) -> Vec<u32> {
    let mut program = set_up(cycles);
    program.extend([sw(T0, S0, 4), lw(A0, S0, 0), addi(T1, T1, 1), beq(A0, 0, -8)]);
    then_exit(&program)
}

#[test]
fn a_wait_for_an_event_is_skipped() {
    let (report, skipped) = both_ways(LOCAL, &wait_for_event(1_000_000, 0));
    assert!(report.cores[0].cycles.0 > 1_000_000);
    assert!(skipped > 990_000, "{skipped}");
    // A round takes 14 cycles, and reads once.
    assert!(report.counters.iter().any(|(name, reads)| name == "late.reads" && *reads > 1_000_000 / 15));
}

#[test]
fn an_exchange_of_bytes_with_a_stack_in_cached_memory_is_skipped() {
    for at in [LOCAL, DDR] {
        let (_, skipped) = both_ways(at, &exchange_until_ready(1_000_000, 34));
        assert!(skipped > 990_000, "{skipped}");
    }
}

#[test]
fn a_wait_that_passes_one_read_several_times_a_round_is_skipped() {
    for byte_cycles in [34, 150] {
        let (_, skipped) = both_ways(LOCAL, &exchange_in_one_register(1_000_000, byte_cycles));
        assert!(skipped > 990_000, "{byte_cycles}: {skipped}");
    }
}

#[test]
fn a_loop_that_counts_is_run() {
    let (_, skipped) = both_ways(LOCAL, &count_in_memory(100_000));
    assert_eq!(skipped, 0);
    let (_, skipped) = both_ways(LOCAL, &count_in_a_register(100_000));
    assert_eq!(skipped, 0);
}

/// As [`wait_for_event`], with a store in each round to memory so near to the code that what was decoded of it is dropped.
fn store_beside_the_code(cycles: u32) -> Vec<u32> {
    let mut program = set_up(cycles);
    program.extend([sw(T0, S0, 4), jal(T1, 8), 0, lw(A0, S0, 0), NOP, sw(0, T1, 0), beq(A0, 0, -12)]);
    then_exit(&program)
}

#[test]
fn a_loop_that_writes_beside_its_code_is_run() {
    for at in [LOCAL, DDR] {
        let (_, skipped) = both_ways(at, &store_beside_the_code(100_000));
        assert_eq!(skipped, 0);
    }
}

/// The table of decoded blocks has 65536 places, and each instruction of uncached code takes two: straight-line code leaves so few that
/// the first look at the loop behind it may not find room for the loop's single instructions.
#[test]
fn a_loop_is_skipped_when_the_table_of_blocks_is_nearly_full() {
    const C_NOP_TWICE: u32 = 0x0001_0001;
    for shorter in [0, 4, 8, 12, 16, 20] {
        let mut filler = vec![C_NOP_TWICE; 0x1_0000 / 4 - 2 - shorter];
        filler.extend([addi(T2, 0, LOCAL as i32), jalr(0, T2, 0)]);
        let (_, skipped) = both_ways_of(|| {
            let mut machine = machine(BRAM, &filler, 2);
            put(&mut machine, LOCAL, &wait_for_event(100_000, 60));
            machine
        });
        assert!(skipped > 90_000, "{skipped}");
    }
}

#[test]
fn uncached_code_is_skipped_over() {
    let (_, skipped) = both_ways(BRAM, &wait_for_event(1_000_000, 3));
    assert!(skipped > 990_000, "{skipped}");
}

#[test]
fn a_loop_whose_lines_push_each_other_out_is_skipped() {
    // 240 bytes and a cache of 128.
    let (report, skipped) = both_ways(DDR, &wait_for_event(1_000_000, 60));
    assert!(skipped > 990_000, "{skipped}");
    assert!(
        report.counters.iter().any(|(name, fills)| name.ends_with("i-cache.fills") && *fills > 10_000),
        "{:?}",
        report.counters
    );
}

/// Interrupts each `cycles` cycles count up a word of DDR; the program polls the device and that word, until it is 5.
#[test]
fn interrupts_are_taken_at_the_same_instruction() {
    for cycles in [977, 10_000, 12_345] {
        let mut program = set_up(cycles);
        let setup = [addi(T1, 0, 0x100), csrrw(0, MTVEC, T1), lui(T1, 0x1000), addi(T1, T1, -2048), csrrw(0, MIE, T1)];
        program.extend(setup);
        program.extend([sw(T0, S0, 4), csrrsi(0, MSTATUS, 8), addi(T2, 0, 5)]);
        program.extend([lw(A0, S0, 20), lw(A0, S1, 0), bne(A0, T2, -8)]);
        let mut program = then_exit(&program);
        program.resize(0x40, NOP);
        program.extend([sw(0, S0, 8), lw(T1, S1, 0), addi(T1, T1, 1), sw(T1, S1, 0), sw(T0, S0, 4), MRET]);
        let (_, skipped) = both_ways(LOCAL, &program);
        assert!(cycles < 1000 || skipped > u64::from(3 * cycles), "{cycles}: {skipped}");
    }
}

#[test]
fn a_watched_loop_keeps_its_stack() {
    let program = exchange_until_ready(50_000, 34);
    let once = |skip: bool| {
        let mut machine = machine(LOCAL, &program, 2);
        machine.skip_polling(skip);
        machine.watch_address("exchange", LOCAL + 4 * 9);
        machine.run(Ps::from_us(20_000), |_| true)
    };
    let (skipping, running) = (once(true), once(false));
    assert_eq!(skipping, running);
    assert!(skipping.cores[0].sections[0].calls > 500);
}

proptest! {
    #[test]
    fn skipping_changes_nothing(cycles in 0_u32..200_000, byte_cycles in 0_i32..200, padding in 0_usize..60, at in 0_usize..3) {
        let at = [LOCAL, DDR, BRAM][at];
        both_ways(at, &wait_for_event(cycles, padding));
        both_ways(at, &exchange_until_ready(cycles, byte_cycles));
        both_ways(at, &exchange_in_one_register(cycles, byte_cycles));
    }
}

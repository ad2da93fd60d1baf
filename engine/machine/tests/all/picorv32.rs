//! PicoRV32 in a small machine: the cycles of each kind of instruction with a memory that answers in its second cycle,
//! and with a slow one; the fetch of halves; interrupts; that no cycle is lost. The numbers are those of its RTL.

use crate::whole::support::riscv::*;
use crate::{Description, Machine, Outcome, RunReport};
use engine::bus::{Bus, MapEntry, Target};
use engine::core::Core;
use engine::isa::riscv::picorv32::{Config, Extensions, Picorv32, Timing};
use engine::memory::ram::{PortTiming, Ram};
use engine::time::{Cycles, Ps};

/// Memory that answers in its second cycle.
const FAST: u32 = 0;
/// Memory that answers 30 cycles after the request.
const SLOW: u32 = 0x1000_0000;
const SLOW_CYCLES: u64 = 30;
/// Where the handler is.
const HANDLER: u32 = 0x800;
const RDCYCLE: u32 = 0xc00;
const RDINSTRET: u32 = 0xc02;

const SERIAL: Timing = Timing {
    execute: 2,
    shift: 3,
    shift_stage_bits: 4,
    multiply: 39,
    multiply_high: 71,
    divide: 39,
    csr: 3,
    jump: 1,
    indirect_jump: 4,
    return_from_interrupt: 3,
    breakpoint: 3,
    illegal: 20,
    access: 2,
    interrupt: 2,
};

/// A core after reset, which multiplies and divides, with its handler and its stack there.
pub fn core(interrupt_addr: u32, stack_addr: u32) -> Picorv32 {
    Picorv32::new(Config {
        name: "cpu0".to_owned(),
        index: 0,
        clock: clock(),
        timing: SERIAL,
        extensions: Extensions { multiply: true, divide: true },
        interrupt_addr,
        stack_addr,
    })
}

fn machine_at(at: u32, program: &[u32], handler: &[u32]) -> Machine {
    let mut bus = Bus::default();
    for (name, base, cycles) in [("fast", FAST, 1), ("slow", SLOW, SLOW_CYCLES)] {
        let timing = PortTiming::symmetric(clock(), Cycles(cycles), Cycles(1), 4);
        let target = Target::Ram(bus.rams.len());
        bus.rams.push(Ram::new(0x1000, timing));
        bus.map.push(MapEntry::new(name, base, base + 0xfff, target));
    }
    bus.add_core();
    let mut core = self::core(HANDLER, 0x1000);
    core.set_pc(at);
    let mut machine = Machine::new(bus, vec![Box::new(core)], Description::default());
    put(&mut machine, at, program);
    put(&mut machine, HANDLER, handler);
    machine
}

/// Runs until the core stops forever.
fn run_to_trap(machine: &mut Machine) -> (RunReport, Vec<u32>) {
    let report = machine.run(Ps::from_us(1000), |_| true);
    assert_sums(&report);
    (report, machine.registers()[1..].to_vec())
}

/// Cycles of `body` at an address, from its first launch to that of what follows it.
fn cost_at(at: u32, body: &[u32]) -> u64 {
    let mut program = vec![csrrs(30, RDCYCLE, 0)];
    program.extend(body);
    program.extend([csrrs(31, RDCYCLE, 0), EBREAK]);
    let (_, x) = run_to_trap(&mut machine_at(at, &program, &[]));
    let own = match at {
        FAST => 4,
        // A launch is one cycle after its word, which is asked for two cycles after the launch before.
        _ => SLOW_CYCLES + 3,
    };
    u64::from(x[31] - x[30]) - own
}

/// Cycles of `body` in the fast memory.
fn cost(body: &[u32]) -> u64 {
    cost_at(FAST, body)
}

fn r_type(funct7: u32, rs2: u32, rs1: u32, funct3: u32, rd: u32) -> u32 {
    funct7 << 25 | rs2 << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | 0x33
}

/// Compressed instructions, two a word.
fn pair(low: u16, high: u16) -> u32 {
    u32::from(high) << 16 | u32::from(low)
}

const C_ADDI_5: u16 = 0x0285; // c.addi x5, 1
const C_NOP: u16 = 0x0001;

fn custom(funct7: u32, rd: u32, rs1: u32) -> u32 {
    funct7 << 25 | rs1 << 15 | rd << 7 | 0x0b
}
fn retirq() -> u32 {
    custom(2, 0, 3)
}
fn maskirq(rd: u32, rs1: u32) -> u32 {
    custom(3, rd, rs1)
}
fn waitirq(rd: u32) -> u32 {
    custom(4, rd, 0)
}
fn timer(rd: u32, rs1: u32) -> u32 {
    custom(5, rd, rs1)
}

// ---- Costs

#[test]
fn each_kind_of_instruction_takes_its_cycles() {
    assert_eq!(cost(&[addi(5, 0, 1)]), 4);
    assert_eq!(cost(&[addi(5, 0, 1), add(6, 5, 5), lui(7, 0x1000)]), 12);
    assert_eq!(cost(&[lw(5, 0, 0x100)]), 7);
    assert_eq!(cost(&[sw(5, 0, 0x100)]), 7);
    assert_eq!(cost(&[bne(0, 0, 8)]), 4);
    assert_eq!(cost(&[beq(0, 0, 4)]), 7);
    assert_eq!(cost(&[beq(0, 0, 8), NOP]), 7);
    assert_eq!(cost(&[jal(1, 4)]), 4);
    // auipc x5, 0; jalr x1, 8(x5)
    assert_eq!(cost(&[0x0000_0297, jalr(1, 5, 8)]), 4 + 7);
    assert_eq!(cost(&[csrrs(5, RDCYCLE, 0), csrrs(6, RDINSTRET, 0)]), 8);
    assert_eq!(cost(&[maskirq(0, 0)]), 4);
}

#[test]
fn long_operations_take_the_same_for_any_operands() {
    for values in [(0, 0), (-1, 3), (1234, -7)] {
        let set = [addi(5, 0, values.0), addi(6, 0, values.1)];
        for (funct3, cycles) in [(0, 40), (1, 72), (2, 72), (3, 72), (4, 40), (5, 40), (6, 40), (7, 40)] {
            let body = [set[0], set[1], r_type(1, 6, 5, funct3, 7)];
            assert_eq!(cost(&body), 8 + cycles, "funct3 {funct3}");
        }
    }
}

#[test]
fn a_serial_shifter_moves_four_bits_a_cycle_then_one() {
    for bits in 0..32 {
        let cycles = 4 + u64::from(bits / 4 + bits % 4);
        let slli = bits << 20 | 5 << 15 | 1 << 12 | 5 << 7 | 0x13;
        assert_eq!(cost(&[slli]), cycles);
        // Of a register's bits the low five count.
        assert_eq!(cost(&[addi(6, 0, bits as i32 + 32), r_type(0, 6, 5, 5, 5)]), 4 + cycles);
    }
}

#[test]
fn the_counters_count_cycles_and_launches() {
    let program = [NOP, csrrs(5, RDINSTRET, 0), csrrs(6, RDCYCLE, 0), csrrs(7, 0xc80, 0), csrrs(8, 0xc82, 0), EBREAK];
    let (report, x) = run_to_trap(&mut machine_at(FAST, &program, &[]));
    // The first fetch: request up in cycle 1, answered in 2, launched in 3; then every 4.
    assert_eq!((x[5], x[6], x[7], x[8]), (2, 3 + 2 * 4 + 1, 0, 0));
    assert_eq!(report.cores[0].instructions, 6);
}

// ---- Fetch

#[test]
fn a_held_compressed_instruction_needs_no_fetch() {
    // The first of a pair pays the fetch of the second's word: none, it is held.
    assert_eq!(cost(&[pair(C_ADDI_5, C_ADDI_5)]), 3 + 4);
    assert_eq!(cost(&[pair(C_ADDI_5, C_ADDI_5), pair(C_NOP, C_NOP)]), 3 + 4 + 3 + 4);
}

#[test]
fn a_straddling_instruction_is_read_when_it_can_be_accepted() {
    // c.addi, addi x6, x0, 1 (straddling), c.nop: the straddler's upper word is asked for one cycle after the core can
    // accept it.
    let addi = addi(6, 0, 1);
    let words = [pair(C_ADDI_5, addi as u16), pair((addi >> 16) as u16, C_NOP)];
    // c.addi: X = L+2, V = L+3, D = L+4; addi: the held c.nop, D = L+2; c.nop: aligned.
    assert_eq!(cost(&words), 5 + 3 + 4);
}

#[test]
fn slow_code_takes_the_time_of_its_words() {
    let word = SLOW_CYCLES + 3;
    assert_eq!(cost_at(SLOW, &[NOP; 5]), 5 * word);
    // The wait for the next word covers a multiplication, but not completely.
    assert_eq!(cost_at(SLOW, &[r_type(1, 6, 5, 0, 7)]), 40);
    // jal waits for its target only; a taken branch for the fall-through as well.
    assert_eq!(cost_at(SLOW, &[jal(1, 8), NOP]), word);
    assert_eq!(cost_at(SLOW, &[beq(0, 0, 8), NOP]), 2 * word - 1);
    // A load from there comes after the prefetch: two cycles, the answer, and the launch.
    assert_eq!(cost_at(SLOW, &[lui(5, SLOW), lw(6, 5, 0)]), word + (word - 1 + 2 + SLOW_CYCLES + 1));
}

#[test]
fn a_branch_to_an_odd_halfword_may_read_its_target_twice() {
    // beq over an aligned fall-through whose upper half looks like the start of a 32-bit instruction: target at an odd
    // halfword.
    let target = pair(C_NOP, C_NOP);
    let plain = pair(C_NOP, C_NOP);
    let looks_long = pair(C_NOP, 0x0013);
    // To the second half of the word after the fall-through.
    assert_eq!(cost(&[beq(0, 0, 10), plain, target]), 7 + 4);
    assert_eq!(cost(&[beq(0, 0, 10), looks_long, target]), 7 + 3 + 4);
    // To its first half: nothing is read twice.
    assert_eq!(cost(&[beq(0, 0, 8), looks_long, target]), 7 + 3 + 4);
}

// ---- Interrupts

#[test]
fn an_unknown_instruction_interrupts_and_goes_on_after() {
    let handler = [addi(10, 3, 0), addi(11, 4, 0), retirq()];
    let program = [maskirq(0, 0), 0xffff_ffff, csrrs(31, RDCYCLE, 0), addi(5, 0, -1), maskirq(6, 5), EBREAK];
    let (report, x) = run_to_trap(&mut machine_at(FAST, &program, &handler));
    assert_eq!((x[10], x[11]), (8, 2));
    assert_eq!(x[6], 0);
    assert!(matches!(report.outcome, Outcome::Fault(_)));
    // maskirq at 3, unknown at 7 accepts in 27, launch refused in 28; handler from 33; addi, addi, retirq (6) to 47.
    assert_eq!(x[31], 28 + 5 + 4 + 4 + 6 + 1);
}

#[test]
fn the_timer_interrupts_at_its_cycle_and_one_instruction_runs_after_a_return() {
    // The handler sets a timer that has run out before it returns: one instruction in between.
    let handler = [addi(10, 10, 1), addi(9, 0, 1), timer(0, 9), retirq()];
    let body = [maskirq(0, 0), addi(9, 0, 5), timer(0, 9), addi(5, 5, 1), addi(5, 5, 1), addi(5, 5, 1), addi(5, 5, 1)];
    let program = [&body[..], &[addi(6, 0, -1), maskirq(0, 6), EBREAK]].concat();
    let (_, x) = run_to_trap(&mut machine_at(FAST, &program, &handler));
    // Due 7 cycles after the timer's launch: two launches later; then before every other one, until masked.
    assert_eq!((x[5], x[10]), (4, 5));
}

#[test]
fn waitirq_waits_for_the_timer_even_if_it_is_masked() {
    let program = [addi(9, 0, 100), timer(0, 9), waitirq(7), csrrs(31, RDCYCLE, 0), csrrs(8, RDINSTRET, 0), EBREAK];
    let (report, x) = run_to_trap(&mut machine_at(FAST, &program, &[]));
    // timer launched in 7: pending from 109; then as a jump: fetch wanted in 110, done in 112, launch in 113.
    assert_eq!((x[7], x[31]), (1, 114));
    assert_eq!(x[8], 4);
    assert_eq!(cause(&report, "wait for interrupt"), 109 - 11);
}

#[test]
fn what_is_held_after_waitirq_is_no_wait_for_memory() {
    // waitirq at an odd halfword: a compressed instruction after it is held.
    let wait = waitirq(0);
    let program = [addi(9, 0, 400), timer(0, 9), pair(C_NOP, wait as u16), pair((wait >> 16) as u16, C_NOP), EBREAK];
    let (report, _) = run_to_trap(&mut machine_at(SLOW, &program, &[]));
    assert!(cause(&report, "wait for interrupt") > 0);
    // All comes from the slow memory.
    assert_eq!(cause(&report, "fetch: fast"), 0);
}

#[test]
fn a_misaligned_access_interrupts_or_stops_the_core() {
    let handler = [addi(11, 4, 0), retirq()];
    let program =
        [maskirq(0, 0), addi(5, 0, 0x100), sw(5, 5, 0), lw(6, 5, 2), addi(7, 0, -1), maskirq(0, 7), lw(6, 5, 1)];
    let (report, x) = run_to_trap(&mut machine_at(FAST, &program, &handler));
    assert_eq!((x[6], x[11]), (0x100, 4));
    let Outcome::Fault(message) = report.outcome else { panic!("{:?}", report.outcome) };
    assert!(
        message.contains("0x00000018") && message.contains("0x00000101") && message.contains("masked"),
        "{message}"
    );
}

#[test]
fn stepping_and_running_take_the_same_cycles() {
    let handler = [addi(10, 10, 1), timer(0, 9), retirq()];
    let body =
        [addi(9, 0, 50), maskirq(0, 0), timer(0, 9), addi(5, 0, 40), sw(5, 0, 0x100), lw(6, 0, 0x100), addi(5, 5, -1)];
    let program = [&body[..], &[bne(5, 0, -12), addi(6, 0, -1), maskirq(0, 6), csrrs(31, RDCYCLE, 0), EBREAK]].concat();
    let (_, ran) = run_to_trap(&mut machine_at(FAST, &program, &handler));
    let mut stepped = machine_at(FAST, &program, &handler);
    assert!(matches!(stepped.trace(10_000, |_| {}), Some(Outcome::Fault(_))));
    assert_eq!(stepped.registers()[1..], ran);
    assert!(ran[10] > 10);
}

#[test]
fn the_fetch_of_a_fall_through_that_is_not_run_is_accounted_for() {
    let (report, _) = run_to_trap(&mut machine_at(SLOW, &[beq(0, 0, 8), NOP, EBREAK], &[]));
    // Beyond the cycle in which the core could have taken it, of 30 from its request in that cycle.
    assert_eq!(cause(&report, "discarded fetch: slow"), SLOW_CYCLES);
    assert_eq!(cause(&report, "jumps and taken branches"), 1);
}

#[test]
fn no_two_memories_differ_but_in_time() {
    // The same program from both, data in both: same registers.
    let body = |data: u32| {
        let set = [lui(5, data), addi(5, 5, 0x200), addi(6, 0, 20)];
        let iteration = [sw(6, 5, 0), lw(7, 5, 0), add(8, 8, 7), addi(6, 6, -1), bne(6, 0, -16)];
        [&set[..], &iteration, &[EBREAK]].concat()
    };
    let mut seen = Vec::new();
    for code in [FAST, SLOW] {
        for data in [FAST, SLOW] {
            let (report, x) = run_to_trap(&mut machine_at(code, &body(data), &[]));
            assert_eq!(x[8], 210);
            seen.push(report.cores[0].cycles.0);
        }
    }
    assert!(seen.is_sorted(), "{seen:?}");
}

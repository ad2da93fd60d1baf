//! VFP compiled and interpreted: the same registers, flags and time, for all kinds of numbers, in all modes of FPSCR.

use crate::whole::support::arm::{self, RETURN, put};
use crate::whole::support::arm_m;
use crate::whole::support::floats::Random;
use crate::{Machine, Outcome, RunReport};
use engine::core::Compiling;
use engine::tiers::sized;
use engine::time::Ps;

/// Where d0 to d3 are loaded from, and stored to.
const STAGE: u32 = arm::LOCAL + 0x1e00;
const STAGE_WORDS: u32 = 8;
/// Rows of operands (`rows`), each what d0 to d3 have, and FPSCR; and the flags, what they became, and FPSCR.
const OPERANDS: u32 = arm::LOCAL + 0x2000;
const RESULTS: u32 = arm::LOCAL + 0x8000;
const ROW_WORDS: u32 = 9;
const RESULT_WORDS: u32 = 10;
/// Where programs are: cached by a Cortex-A, local memory of a Cortex-M.
const CODE_A: u32 = arm::DDR + 0x400;
const CODE_M: u32 = arm::LOCAL + 0x400;

/// How many rows each instruction has.
fn row_count() -> u32 {
    sized(200, 600)
}

// ---- Instructions

/// A field of four bits and a fifth one.
fn register(number: u32, is_double: bool, four: u32, fifth: u32) -> u32 {
    if is_double { (number & 15) << four | number >> 4 << fifth } else { number >> 1 << four | (number & 1) << fifth }
}

/// With Vd, Vn and Vm, each a double or not.
fn data(opcode: u32, [d, n, m]: [(u32, bool); 3]) -> u32 {
    0xee00_0a00 | opcode | register(d.0, d.1, 12, 22) | register(n.0, n.1, 16, 7) | register(m.0, m.1, 0, 5)
}

/// vmla, vmls, vnmls, vnmla, vmul, vnmul, vadd, vsub, vdiv, vfnms, vfnma, vfma, vfms.
const OF_TWO: [u32; 13] = [
    0x00_0000, 0x00_0040, 0x10_0000, 0x10_0040, 0x20_0000, 0x20_0040, 0x30_0000, 0x30_0040, 0x80_0000, 0x90_0000,
    0x90_0040, 0xa0_0000, 0xa0_0040,
];
/// vmov, vabs, vneg, vsqrt, vcmp, vcmpe.
const OF_ONE: [u32; 6] = [0xb0_0040, 0xb0_00c0, 0xb1_0040, 0xb1_00c0, 0xb4_0040, 0xb4_00c0];
/// vcmp and vcmpe with zero.
const WITH_ZERO: [u32; 2] = [0xb5_0040, 0xb5_00c0];
const CHANGE_PRECISION: u32 = 0xb7_00c0;
/// vcvt from unsigned and signed integers; to them, in the mode of FPSCR and towards zero.
const OF_INTEGER: [u32; 2] = [0xb8_0040, 0xb8_00c0];
const TO_INTEGER: [u32; 4] = [0xbc_0040, 0xbc_00c0, 0xbd_0040, 0xbd_00c0];
/// vmrs apsr_nzcv, fpscr
const VMRS_FLAGS: u32 = 0xeef1_fa10;

/// Each instruction for a precision, between registers like these.
fn each(is_double: bool, [d, n, m]: [u32; 3]) -> Vec<u32> {
    let size = u32::from(is_double) << 8;
    let of = |number: u32| (number, is_double);
    let single = |number: u32| (number, false);
    let none = single(0);
    let mut all: Vec<u32> = OF_TWO.iter().map(|opcode| data(opcode | size, [of(d), of(n), of(m)])).collect();
    all.extend(OF_ONE.iter().map(|opcode| data(opcode | size, [of(d), none, of(m)])));
    all.extend(WITH_ZERO.iter().map(|opcode| data(opcode | size, [of(d), none, none])));
    all.extend(OF_INTEGER.iter().map(|opcode| data(opcode | size, [of(d), none, single(m)])));
    all.extend(TO_INTEGER.iter().map(|opcode| data(opcode | size, [single(d), none, of(m)])));
    // vmov #1.0, #-0.3125.
    all.extend([0x7, 0xd4].map(|imm: u32| data(0xb0_0000 | size | imm >> 4 << 16 | imm & 15, [of(d), none, none])));
    all
}

fn change_precision(is_double: bool, d: u32, m: u32) -> u32 {
    data(CHANGE_PRECISION | u32::from(is_double) << 8, [(d, !is_double), (0, false), (m, is_double)])
}

/// Moves between r4, r5 and VFP registers.
fn moves(is_double: bool, m: u32) -> Vec<u32> {
    // vmov sn, r4; vmov r5, sn; vmov r4, r5, sm, sm1; and back.
    let one = 0xee00_0a10 | register(m, false, 16, 7);
    let two = 0xec45_4a10 | u32::from(is_double) << 8 | register(m, is_double, 0, 5);
    let mut all = vec![one | 4 << 12, one | 1 << 20 | 5 << 12, two, two | 1 << 20];
    if is_double {
        // vmov dn[1], r4; vmov r5, dn[0].
        all.extend([0xee20_4b10, 0xee10_5b10].map(|encoding: u32| encoding | register(m, true, 16, 7)));
    }
    all
}

// ---- Programs

/// The offsets of the first `words` words in [`STAGE`].
fn offsets(words: u32) -> impl Iterator<Item = u32> {
    (0..words).map(|word| 4 * word)
}

/// Copies words from the address in r1 to [`STAGE`], and loads them there, so that shortcuts to them exist.
fn copy_in(ldr: u32, str_stage: u32, ldr_stage: u32) -> Vec<u32> {
    offsets(STAGE_WORDS).flat_map(|at| [ldr, str_stage | at, ldr_stage | at]).collect()
}

fn a32(body: &[u32], at: u32) -> Vec<u32> {
    use arm::*;
    // CPACR, FPEXC; the caches and branch prediction.
    let mut program = vec![mrc(5, SCTLR), ORR_Z, ORR_I, mcr(5, SCTLR), 0xe3a0_560f, mcr(5, (1, 0, 0, 2))];
    program.extend([
        0xe3a0_5101,
        0xeee8_5a10,
        mov(1, OPERANDS),
        mov(3, RESULTS),
        mov(0, row_count()),
        mov(4, 7),
        mov(5, 9),
    ]);
    program.push(mov(10, STAGE));
    let top = program.len();
    // ldr r2, [r1], #4; str r2, [r10, ...]; ldr r2, [r10, ...].
    program.extend(copy_in(0xe491_2004, 0xe58a_2000, 0xe59a_2000));
    // ldr r2, [r1], #4; vmsr fpscr, r2; vldmia r10, {d0-d3}.
    program.extend([0xe491_2004, 0xeee1_2a10, 0xec9a_0b08]);
    program.extend(body);
    // vstmia r10, {d0-d3}; vmrs r2, fpscr; str r2, [r10, #32]; a jump, as blocks that end with what follows are not
    // compiled; mrs r2, cpsr; str r2, [r3], #4.
    program.extend([0xec8a_0b08, 0xeef1_2a10, 0xe58a_2020, b(4), 0xe10f_2000, 0xe483_2004]);
    // ldr r2, [r10, ...]; str r2, [r3], #4.
    program.extend(offsets(STAGE_WORDS + 1).flat_map(|at| [0xe59a_2000 | at, 0xe483_2004]));
    program.push(subs(0, 0, 1));
    program.push(when(NE, b(4 * (top as i32 - program.len() as i32))));
    assert!(4 * program.len() as u32 + at < arm::DDR + 0x4000);
    then_exit(&program)
}

/// The same in T32.
fn t32(body: &[u32]) -> Vec<u16> {
    use arm_m::*;
    let halves = |words: &[u32]| words.iter().flat_map(|word| [(word >> 16) as u16, *word as u16]).collect::<Vec<_>>();
    let enable = code![load_constant(0, 0xe000_ed88), load_constant(1, 0xf << 20), str(1, 0, 0)];
    let set = code![load_constant(1, OPERANDS), load_constant(3, RESULTS), load_constant(0, row_count())];
    let mut program = code![enable, set, movs(4, 7), movs(5, 9), load_constant(10, STAGE)];
    let top = program.len();
    program.extend(halves(&copy_in(0xf851_2b04, 0xf8ca_2000, 0xf8da_2000)));
    program.extend(halves(&[0xf851_2b04, 0xeee1_2a10, 0xec9a_0b08]));
    program.extend(halves(body));
    program.extend(halves(&[0xec8a_0b08, 0xeef1_2a10, 0xf8ca_2020]));
    // b to what follows.
    program.push(0xe7ff);
    program.extend(halves(&[0xf3ef_8200, 0xf843_2b04]));
    let copies: Vec<u32> = offsets(STAGE_WORDS + 1).flat_map(|at| [0xf8da_2000 | at, 0xf843_2b04]).collect();
    program.extend(halves(&copies));
    // subs r0, #1; beq over a wide branch back.
    program.extend([arm_m::subs(0, 1), 0xd001]);
    let by = (top as i32 - program.len() as i32 - 2) as u32;
    program.extend([0xf000 | (by >> 11 & 0x3ff) as u16 | 0x400, 0xb800 | (by & 0x7ff) as u16]);
    code![program, exit()]
}

/// The state after a run.
fn run(mut machine: Machine, rows: &[u32], compile_after: u16) -> (RunReport, Vec<u32>, Vec<u8>) {
    put(&mut machine, OPERANDS, rows);
    machine.compile(Compiling::after(compile_after));
    let report = machine.run(Ps::from_us(20_000), |_| true);
    assert_eq!(report.outcome, Outcome::Exit(0));
    let regions: u64 = machine.compiled().iter().map(|core| core.regions).sum();
    assert_eq!(regions > 0, compile_after > 0);
    let mut results = vec![0; (4 * row_count() * RESULT_WORDS) as usize];
    assert!(machine.bus().peek(RESULTS, &mut results));
    (report, machine.registers(), results)
}

/// Compares the rows of two runs.
fn compare(
    body: &[u32],
    rows: &[u32],
    interpreted: (RunReport, Vec<u32>, Vec<u8>),
    compiled: (RunReport, Vec<u32>, Vec<u8>),
) {
    let bytes = 4 * RESULT_WORDS as usize;
    for (row, (one, other)) in interpreted.2.chunks(bytes).zip(compiled.2.chunks(bytes)).enumerate() {
        let operands = &rows[row * ROW_WORDS as usize..][..ROW_WORDS as usize];
        let words = |bytes: &[u8]| -> Vec<u32> {
            bytes.chunks(4).map(|word| u32::from_le_bytes(word.try_into().unwrap())).collect()
        };
        let (one, other) = (words(one), words(other));
        assert_eq!(one, other, "{body:x?} of {operands:x?}: {one:x?} interpreted, {other:x?} compiled");
    }
    assert_eq!(interpreted, compiled, "{body:x?}");
}

fn check_a(body: &[u32], seed: u64) {
    let rows = Random::new(seed).rows(row_count(), true);
    let run = |compile_after| {
        let mut machine = arm::machine(CODE_A, &a32(body, CODE_A));
        // Undefined instructions are passed over.
        put(&mut machine, arm::LOCAL + 4, &[RETURN]);
        run(machine, &rows, compile_after)
    };
    compare(body, &rows, run(0), run(1));
}

fn check_m(body: &[u32], seed: u64) {
    let rows = Random::new(seed).rows(row_count(), false);
    let run = |compile_after| {
        let mut machine = arm_m::machine(&[], &[]);
        arm_m::put_code(&mut machine, CODE_M, &t32(body));
        run(machine, &rows, compile_after)
    };
    compare(body, &rows, run(0), run(1));
}

/// Few where the tests themselves are emulated, as they are for aarch64.
const SEQUENCES: u64 = if cfg!(target_arch = "x86_64") { 120 } else { 4 };

#[test]
fn each_instruction_comes_to_the_same() {
    // d3 = d0 . d1, or an operation on the same words as singles; then the flags, which are part of the results.
    for (is_double, registers) in [(true, [3, 0, 1]), (true, [2, 2, 1]), (false, [7, 0, 2]), (false, [2, 1, 2])] {
        let mut bodies = each(is_double, registers);
        bodies.extend([change_precision(true, 5, 1), change_precision(false, 3, 1)]);
        bodies.extend(moves(is_double, registers[2]));
        for (seed, encoding) in (0..).zip(bodies) {
            check_a(&[encoding, VMRS_FLAGS], seed);
        }
    }
}

#[test]
fn each_instruction_of_a_microcontroller_comes_to_the_same() {
    for (seed, encoding) in (100..).zip([each(false, [7, 0, 2]), moves(false, 3)].concat()) {
        check_m(&[encoding, VMRS_FLAGS], seed);
    }
}

/// Instructions that need each other's results, some with conditions.
#[test]
fn sequences_come_to_the_same() {
    for seed in 0..sized(SEQUENCES.div_ceil(4), SEQUENCES) {
        let mut random = Random::new(1000 + seed);
        let mut body = Vec::new();
        for _ in 0..1 + random.below(10) {
            let is_double = random.below(2) == 0;
            let registers = [0; 3].map(|_| random.below(if is_double { 4 } else { 8 }));
            let mut some = each(is_double, registers);
            some.extend(moves(is_double, registers[2] & !1));
            some.extend([true, false].map(|from| change_precision(from, registers[0] & 3, registers[1] & 3)));
            some.extend([VMRS_FLAGS; 4]);
            let encoding = some[random.below(some.len() as u32) as usize];
            let condition = if random.below(4) == 0 { random.below(14) } else { 14 };
            body.push(arm::when(condition, encoding));
        }
        check_a(&body, 5000 + seed);
    }
}

/// A store may switch VFP off between two instructions of a block.
#[test]
fn a_microcontroller_may_switch_it_off_in_a_block() {
    use arm_m::*;
    // subs r2, #1; itt eq; moveq r1, #0; moveq r3, #5; vadd.f32 s0, s0, s1, str to CPACR, vadd.f32; b if not.
    let top = [subs(2, 1), 0xbf04, 0x2100, 0x2305, 0xee30, 0x0a20, str(1, 0, 0), 0xee30, 0x0a20];
    let enable = code![load_constant(0, 0xe000_ed88), load_constant(1, 0xf << 20), str(1, 0, 0), movs(2, 50)];
    let program = code![enable, top, bne_back(top.len() as u16), FOREVER];
    let run = |compile_after| {
        let mut machine = machine(&program, &[(HARD_FAULT, exit())]);
        machine.compile(Compiling::after(compile_after));
        let report = machine.run(Ps::from_us(100), |_| true);
        assert_eq!((&report.outcome, machine.registers()[1 + 3]), (&Outcome::Exit(0), 5));
        (report, machine.registers())
    };
    assert_eq!(run(0), run(1));
}

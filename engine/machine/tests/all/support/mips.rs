//! A small machine with a MIPS core: local memory at 0, DDR behind caches, a device that answers late and can
//! interrupt, slow RAM.
use super::late::Late;
pub use super::rig::*;
use crate::{Description, Machine, Outcome, RunReport};
use engine::core::Core;
use engine::cpu::memory_system::config::TlbShape;
use engine::isa::mips::config::CoreConfig;
use engine::isa::mips::config::SystemConfig;
use engine::isa::mips::instruction_set::Mips;
use engine::isa::mips::timing::CoreTiming;

/// The addresses of a physical address in kseg0, cached, and in kseg1, uncached.
pub const KSEG0: u32 = 0x8000_0000;
pub const KSEG1: u32 = 0xa000_0000;
/// DDR: 10 cycles to the first word, 1 a further one.
pub const DDR: u32 = 0x0800_0000;
/// RAM behind the interconnect: 3 cycles, and 3 on the way.
pub const SLOW: u32 = 0x0c00_0000;
/// The device.
pub const DEVICE: u32 = 0x1000_0000;
/// Where programs begin: vectors are before it.
pub const PROGRAM: u32 = KSEG0 + 0x400;
/// The vectors of TLB refills and of all other exceptions, while Status.BEV is 0.
pub const REFILL_VECTOR: u32 = KSEG0;
pub const GENERAL_VECTOR: u32 = KSEG0 + 0x180;
const LAYOUT: Layout = Layout { route: "ahb", device: DEVICE, ddr: DDR, slow: ("slow", SLOW, true) };

pub fn timing() -> CoreTiming {
    CoreTiming {
        load_use: 2,
        multiply: 2,
        multiply_use: 4,
        divide: 20,
        coprocessor: 2,
        barrier: 1,
        exception: 5,
        exception_return: 4,
        taken_branch: 1,
        unpredicted_jump: 3,
        mispredicted_branch: 6,
    }
}

/// The core, with caches of eight sets with 32-byte lines.
pub fn config() -> CoreConfig {
    let memory = first_level(TlbShape { micro_entries: 4, main_entries: 32, main_ways: 32 });
    CoreConfig {
        name: "cpu0".to_owned(),
        index: 0,
        clock: clock(),
        timing: timing(),
        system: SystemConfig { branch_targets: 16, ..SystemConfig::xburst(memory.icache, memory.dcache) },
        memory,
    }
}

/// The machine, with a program at an address of kseg0 or kseg1.
pub fn machine(at: u32, program: &[u32]) -> Machine {
    machine_with(config(), at, program)
}

/// The machine with another core.
pub fn machine_with(config: CoreConfig, at: u32, program: &[u32]) -> Machine {
    let mut core = Mips::new(config);
    core.set_pc(at);
    let mut machine = Machine::new(bus(&LAYOUT, Late::new(2)), vec![Box::new(core)], Description::default());
    put(&mut machine, at, program);
    machine
}

/// Words into memory, at an address of kseg0 or kseg1.
pub fn put(machine: &mut Machine, at: u32, words: &[u32]) {
    put_physical(machine, at & 0x1fff_ffff, words);
}

/// Runs a program at [`PROGRAM`] in local memory that ends in `EXIT`.
pub fn run_program(program: &[u32]) -> (RunReport, Vec<u32>) {
    run_to_end(machine(PROGRAM, program))
}

/// The message of the fault with which the run ended.
pub fn fault_text(report: &RunReport) -> &str {
    assert_sums(report);
    let Outcome::Fault(text) = &report.outcome else { panic!("{:?}", report.outcome) };
    text
}

// ---- Encodings

/// Names of registers.
pub const ZERO: u32 = 0;
pub const V0: u32 = 2;
pub const A0: u32 = 4;
pub const T0: u32 = 8;
pub const T1: u32 = 9;
pub const T2: u32 = 10;
pub const T3: u32 = 11;
pub const S0: u32 = 16;
pub const S1: u32 = 17;
pub const T9: u32 = 25;
pub const K0: u32 = 26;
pub const K1: u32 = 27;
pub const SP: u32 = 29;
pub const RA: u32 = 31;

pub const NOP: u32 = 0;
pub const ERET: u32 = 0x4200_0018;
pub const WAIT: u32 = 0x4200_0020;
pub const SYSCALL: u32 = 0x0000_000c;
pub const TLBWI: u32 = 0x4200_0002;

fn immediate(opcode: u32, rt: u32, rs: u32, imm: i32) -> u32 {
    opcode << 26 | rs << 21 | rt << 16 | imm as u32 & 0xffff
}
pub fn register(function: u32, rd: u32, rs: u32, rt: u32) -> u32 {
    rs << 21 | rt << 16 | rd << 11 | function
}
pub fn addiu(rt: u32, rs: u32, imm: i32) -> u32 {
    immediate(0x09, rt, rs, imm)
}
pub fn addi(rt: u32, rs: u32, imm: i32) -> u32 {
    immediate(0x08, rt, rs, imm)
}
pub fn ori(rt: u32, rs: u32, imm: u32) -> u32 {
    immediate(0x0d, rt, rs, imm as i32)
}
pub fn lui(rt: u32, imm: u32) -> u32 {
    immediate(0x0f, rt, 0, imm as i32)
}
/// The upper half of an address.
pub fn la(rt: u32, addr: u32) -> u32 {
    lui(rt, addr >> 16)
}
pub fn addu(rd: u32, rs: u32, rt: u32) -> u32 {
    register(0x21, rd, rs, rt)
}
pub fn mul(rd: u32, rs: u32, rt: u32) -> u32 {
    0x1c << 26 | register(0x02, rd, rs, rt)
}
pub fn multu(rs: u32, rt: u32) -> u32 {
    register(0x19, 0, rs, rt)
}
pub fn divu(rs: u32, rt: u32) -> u32 {
    register(0x1b, 0, rs, rt)
}
pub fn mflo(rd: u32) -> u32 {
    register(0x12, rd, 0, 0)
}
pub fn lw(rt: u32, base: u32, offset: i32) -> u32 {
    immediate(0x23, rt, base, offset)
}
pub fn lbu(rt: u32, base: u32, offset: i32) -> u32 {
    immediate(0x24, rt, base, offset)
}
pub fn lwl(rt: u32, base: u32, offset: i32) -> u32 {
    immediate(0x22, rt, base, offset)
}
pub fn lwr(rt: u32, base: u32, offset: i32) -> u32 {
    immediate(0x26, rt, base, offset)
}
pub fn sw(rt: u32, base: u32, offset: i32) -> u32 {
    immediate(0x2b, rt, base, offset)
}
pub fn sb(rt: u32, base: u32, offset: i32) -> u32 {
    immediate(0x28, rt, base, offset)
}
pub fn swl(rt: u32, base: u32, offset: i32) -> u32 {
    immediate(0x2a, rt, base, offset)
}
pub fn swr(rt: u32, base: u32, offset: i32) -> u32 {
    immediate(0x2e, rt, base, offset)
}
pub fn ll(rt: u32, base: u32, offset: i32) -> u32 {
    immediate(0x30, rt, base, offset)
}
pub fn sc(rt: u32, base: u32, offset: i32) -> u32 {
    immediate(0x38, rt, base, offset)
}
pub fn cache(operation: u32, base: u32, offset: i32) -> u32 {
    immediate(0x2f, operation, base, offset)
}
/// Branches by `by` instructions from the delay slot on.
pub fn beq(rs: u32, rt: u32, by: i32) -> u32 {
    immediate(0x04, rt, rs, by)
}
pub fn bne(rs: u32, rt: u32, by: i32) -> u32 {
    immediate(0x05, rt, rs, by)
}
pub fn beql(rs: u32, rt: u32, by: i32) -> u32 {
    immediate(0x14, rt, rs, by)
}
pub fn j(target: u32) -> u32 {
    0x02 << 26 | target >> 2 & 0x03ff_ffff
}
pub fn jal(target: u32) -> u32 {
    0x03 << 26 | target >> 2 & 0x03ff_ffff
}
pub fn jr(rs: u32) -> u32 {
    register(0x08, 0, rs, 0)
}
pub fn mfc0(rt: u32, rd: u32) -> u32 {
    0x4000_0000 | rt << 16 | rd << 11
}
pub fn mtc0(rt: u32, rd: u32) -> u32 {
    0x4080_0000 | rt << 16 | rd << 11
}

/// Registers of coprocessor 0.
pub const ENTRY_LO0: u32 = 2;
pub const ENTRY_LO1: u32 = 3;
pub const ENTRY_HI: u32 = 10;
pub const STATUS: u32 = 12;
pub const CAUSE: u32 = 13;
pub const EPC: u32 = 14;

/// Vectors in memory, no error level, interrupts off: Status = 0.
pub const NORMAL: u32 = 0x4080_6000;
/// Status with IE and IM 2, for [`ori`].
pub const ENABLED: u32 = 0x0401;

/// Ends the run with status 0: t9 = UHI_exit, a0 = 0, then the call: 3 instructions.
pub const EXIT: [u32; 3] = [0x2419_0001, 0x2404_0000, 0x7000_007f];

/// A program followed by `EXIT`.
pub fn then_exit(program: &[u32]) -> Vec<u32> {
    [program, &EXIT].concat()
}

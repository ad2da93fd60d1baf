//! A small machine for tests of the core: local memory at 0, DDR behind caches, a device that answers late and can
//! interrupt.
use super::late::Late;
pub use super::rig::{put_physical as put, *};
use crate::{Description, Machine, RunReport};
use engine::cpu::memory_system::MemoryConfig;
use engine::isa::riscv::exceptions::MACHINE_INTERRUPTS;
use engine::isa::riscv::instruction_set::{CoreConfig, Hart, SystemConfig};
use engine::isa::riscv::timing::CoreTiming;
use engine::memory::cache::CacheShape;

/// DDR: 10 cycles to the first word, 1 a further one.
pub const DDR: u32 = 0x8000_0000;
/// The device.
pub const DEVICE: u32 = 0x4000_0000;
/// Uncached RAM behind the interconnect: 3 cycles.
pub const BRAM: u32 = 0xc000_0000;
pub const LAYOUT: Layout = Layout { route: "axi", device: DEVICE, ddr: DDR, slow: ("bram", BRAM, false) };

pub fn timing() -> CoreTiming {
    CoreTiming {
        load_use: 1,
        multiply_use: 1,
        multiply: 1,
        divide: 34,
        taken_branch: 3,
        mispredicted_branch: None,
        jump: 3,
        indirect_jump: 3,
        csr: 1,
        trap: 5,
        mret: 3,
        fence_i: 2,
    }
}

/// Caches of four sets with 16-byte lines.
pub fn cache(ways: u32) -> Option<CacheShape> {
    cache_of(64 * ways, 16, ways)
}

/// The core with these caches, and no buffers.
pub fn config(icache: Option<CacheShape>, dcache: Option<CacheShape>) -> CoreConfig {
    CoreConfig {
        name: "cpu0".to_owned(),
        index: 0,
        clock: clock(),
        timing: timing(),
        memory: MemoryConfig::unbuffered(clock(), icache, dcache),
        system: SystemConfig { hart: 0, interrupts: MACHINE_INTERRUPTS },
    }
}

/// The machine, with a program in one of its memories.
pub fn machine(at: u32, program: &[u32], ways: u32) -> Machine {
    machine_with(timing(), at, program, ways)
}

/// The machine with another timing table.
pub fn machine_with(timing: CoreTiming, at: u32, program: &[u32], ways: u32) -> Machine {
    machine_of(CoreConfig { timing, ..config(cache(ways), cache(ways)) }, at, program)
}

/// The machine with this core.
pub fn machine_of(config: CoreConfig, at: u32, program: &[u32]) -> Machine {
    let mut hart = Hart::new(config);
    engine::core::Core::set_pc(&mut hart, at);
    let mut machine = Machine::new(bus(&LAYOUT, Late::new(11)), vec![Box::new(hart)], Description::default());
    put(&mut machine, at, program);
    machine
}

/// Runs a program from local memory that ends in `EXIT`.
pub fn run_program(program: &[u32]) -> (RunReport, Vec<u32>) {
    run_to_end(machine(LOCAL, program, 1))
}

// ---- Encodings

pub fn lui(rd: u32, upper: u32) -> u32 {
    upper & 0xffff_f000 | rd << 7 | 0x37
}
pub fn addi(rd: u32, rs1: u32, imm: i32) -> u32 {
    (imm as u32) << 20 | rs1 << 15 | rd << 7 | 0x13
}
pub fn andi(rd: u32, rs1: u32, imm: i32) -> u32 {
    (imm as u32) << 20 | rs1 << 15 | 7 << 12 | rd << 7 | 0x13
}
pub fn add(rd: u32, rs1: u32, rs2: u32) -> u32 {
    rs2 << 20 | rs1 << 15 | rd << 7 | 0x33
}
pub fn divu(rd: u32, rs1: u32, rs2: u32) -> u32 {
    1 << 25 | rs2 << 20 | rs1 << 15 | 5 << 12 | rd << 7 | 0x33
}
pub fn lw(rd: u32, rs1: u32, imm: i32) -> u32 {
    (imm as u32) << 20 | rs1 << 15 | 2 << 12 | rd << 7 | 0x03
}
pub fn sw(rs2: u32, rs1: u32, imm: i32) -> u32 {
    let imm = imm as u32;
    (imm >> 5 & 0x7f) << 25 | rs2 << 20 | rs1 << 15 | 2 << 12 | (imm & 0x1f) << 7 | 0x23
}
fn branch(funct3: u32, rs1: u32, rs2: u32, offset: i32) -> u32 {
    let imm = offset as u32;
    (imm >> 12 & 1) << 31
        | (imm >> 5 & 0x3f) << 25
        | rs2 << 20
        | rs1 << 15
        | funct3 << 12
        | (imm >> 1 & 0xf) << 8
        | (imm >> 11 & 1) << 7
        | 0x63
}
pub fn beq(rs1: u32, rs2: u32, offset: i32) -> u32 {
    branch(0, rs1, rs2, offset)
}
pub fn bne(rs1: u32, rs2: u32, offset: i32) -> u32 {
    branch(1, rs1, rs2, offset)
}
pub fn jal(rd: u32, offset: i32) -> u32 {
    let imm = offset as u32;
    (imm >> 20 & 1) << 31 | (imm >> 1 & 0x3ff) << 21 | (imm >> 11 & 1) << 20 | (imm >> 12 & 0xff) << 12 | rd << 7 | 0x6f
}
pub fn jalr(rd: u32, rs1: u32, imm: i32) -> u32 {
    (imm as u32) << 20 | rs1 << 15 | rd << 7 | 0x67
}
pub fn csrrw(rd: u32, csr: u32, rs1: u32) -> u32 {
    csr << 20 | rs1 << 15 | 1 << 12 | rd << 7 | 0x73
}
pub fn csrrs(rd: u32, csr: u32, rs1: u32) -> u32 {
    csr << 20 | rs1 << 15 | 2 << 12 | rd << 7 | 0x73
}
pub fn csrrsi(rd: u32, csr: u32, imm: u32) -> u32 {
    csr << 20 | imm << 15 | 6 << 12 | rd << 7 | 0x73
}
pub const NOP: u32 = 0x13;
pub const ECALL: u32 = 0x73;
pub const EBREAK: u32 = 0x0010_0073;
pub const MRET: u32 = 0x3020_0073;
pub const WFI: u32 = 0x1050_0073;
pub const FENCE_I: u32 = 0x100f;

pub const MSTATUS: u32 = 0x300;
pub const MIE: u32 = 0x304;
pub const MTVEC: u32 = 0x305;
pub const MEPC: u32 = 0x341;
pub const MCAUSE: u32 = 0x342;
pub const MTVAL: u32 = 0x343;
pub const MCYCLE: u32 = 0xb00;
pub const MINSTRET: u32 = 0xb02;

/// Ends the run with status 0: a0 = SYS_EXIT, a1 = ADP_Stopped_ApplicationExit, then the semihosting call: 6
/// instructions; the three that set registers, the first mark and the call itself take a cycle each and run, so 5
/// cycles.
pub const EXIT: [u32; 6] = [0x0180_0513, 0x0002_05b7, 0x0265_8593, 0x01f0_1013, EBREAK, 0x4070_5013];
/// Cycles of `EXIT`.
pub const EXIT_CYCLES: u64 = 5;

/// A program followed by `EXIT`.
pub fn then_exit(program: &[u32]) -> Vec<u32> {
    [program, &EXIT].concat()
}

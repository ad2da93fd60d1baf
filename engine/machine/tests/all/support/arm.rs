//! A small machine with an Arm core: local memory at 0, DDR behind caches, a device that answers late and can
//! interrupt, slow RAM.
use super::late::Late;
pub use super::rig::{put_physical as put, *};
use crate::{Description, Machine, RunReport};
use engine::core::Core;
use engine::cpu::memory_system::config::TlbShape;
use engine::isa::arm::config::CoreConfig;
use engine::isa::arm::instruction_set::CortexA;
use engine::isa::arm::op::Features;
use engine::isa::arm::system::SystemConfig;
use engine::isa::arm::timing::CoreTiming;

/// DDR: 10 cycles to the first word, 1 a further one.
pub const DDR: u32 = 0x8000_0000;
/// The device.
pub const DEVICE: u32 = 0x4000_0000;
/// RAM behind the interconnect: 3 cycles, and 3 on the way.
pub const SLOW: u32 = 0xc000_0000;
const LAYOUT: Layout = Layout { route: "axi", device: DEVICE, ddr: DDR, slow: ("slow", SLOW, true) };

pub fn timing() -> CoreTiming {
    CoreTiming {
        early_use: 1,
        load_use: 1,
        multiply_use: 1,
        register_shift: 1,
        multiply: 1,
        multiply_long: 2,
        multiple_word: 1,
        status: 2,
        coprocessor: 2,
        barrier: 1,
        exception: 5,
        exception_return: 4,
        taken_branch: 1,
        mispredicted_branch: 5,
        ..CoreTiming::default()
    }
}

/// The core, with caches of eight sets with 32-byte lines.
pub fn config() -> CoreConfig {
    let memory = first_level(TlbShape { micro_entries: 8, main_entries: 64, main_ways: 2 });
    let features = Features { vfp: true, vfp_d32: true, ..Features::default() };
    CoreConfig {
        name: "cpu0".to_owned(),
        index: 0,
        clock: clock(),
        timing: timing(),
        system: SystemConfig::cortex_a5(features, memory.icache, memory.dcache),
        memory,
    }
}

/// A core with the same caches that issues two instructions at a time.
pub fn cortex_a7() -> CoreConfig {
    let features = Features { divide: true, ..config().system.features };
    let timing = CoreTiming { dual_issue: true, dual_issue_immediates: true, transfer_words: 2, divide: 5, ..timing() };
    let memory = config().memory;
    CoreConfig { timing, system: SystemConfig::cortex_a7(features, memory.icache, memory.dcache), ..config() }
}

/// The machine, with a program in one of its memories. Bit 0 of `at` chooses T32.
pub fn machine(at: u32, program: &[u32]) -> Machine {
    machine_with(config(), at, program)
}

/// The machine with another core.
pub fn machine_with(config: CoreConfig, at: u32, program: &[u32]) -> Machine {
    let mut core = CortexA::new(config);
    core.set_pc(at);
    let mut machine = Machine::new(bus(&LAYOUT, Late::new(0)), vec![Box::new(core)], Description::default());
    put(&mut machine, at & !1, program);
    machine
}

/// Runs a program at [`PROGRAM`] in local memory that ends in `EXIT`.
pub fn run_program(program: &[u32]) -> (RunReport, Vec<u32>) {
    run_to_end(machine(PROGRAM, program))
}

/// The start of programs: vectors are before it.
pub const PROGRAM: u32 = LOCAL + 0x100;

// ---- Encodings, all with condition "always"

pub fn mov(rd: u32, imm: u32) -> u32 {
    0xe300_0000 | imm >> 12 << 16 | rd << 12 | imm & 0xfff
}
pub fn movt(rd: u32, imm: u32) -> u32 {
    0xe340_0000 | imm >> 12 << 16 | rd << 12 | imm & 0xfff
}
pub fn add(rd: u32, rn: u32, imm: u32) -> u32 {
    0xe280_0000 | rn << 16 | rd << 12 | imm
}
pub fn add_register(rd: u32, rn: u32, rm: u32) -> u32 {
    0xe080_0000 | rn << 16 | rd << 12 | rm
}
/// With rm shifted left by `by`.
pub fn add_shifted(rd: u32, rn: u32, rm: u32, by: u32) -> u32 {
    add_register(rd, rn, rm) | by << 7
}
pub fn subs(rd: u32, rn: u32, imm: u32) -> u32 {
    0xe250_0000 | rn << 16 | rd << 12 | imm
}
pub fn cmp(rn: u32, imm: u32) -> u32 {
    0xe350_0000 | rn << 16 | imm
}
pub fn mul(rd: u32, rn: u32, rm: u32) -> u32 {
    0xe000_0090 | rd << 16 | rm << 8 | rn
}
pub fn ldr(rt: u32, rn: u32, imm: u32) -> u32 {
    0xe590_0000 | rn << 16 | rt << 12 | imm
}
pub fn str(rt: u32, rn: u32, imm: u32) -> u32 {
    0xe580_0000 | rn << 16 | rt << 12 | imm
}
/// ldmia rn!, {list}
pub fn ldm(rn: u32, list: u32) -> u32 {
    0xe8b0_0000 | rn << 16 | list
}
/// stmdb rn!, {list}
pub fn stmdb(rn: u32, list: u32) -> u32 {
    0xe920_0000 | rn << 16 | list
}
pub fn b(offset: i32) -> u32 {
    0xea00_0000 | ((offset - 8) >> 2) as u32 & 0x00ff_ffff
}
pub fn bl(offset: i32) -> u32 {
    b(offset) | 1 << 24
}
pub fn bx(rm: u32) -> u32 {
    0xe12f_ff10 | rm
}
/// The instruction, if `condition` holds (0 eq, 1 ne, ...).
pub fn when(condition: u32, encoding: u32) -> u32 {
    encoding & 0x0fff_ffff | condition << 28
}
/// Moves r`rt` to cp15's crn, opc1, crm, opc2.
pub fn mcr(rt: u32, (crn, opc1, crm, opc2): (u32, u32, u32, u32)) -> u32 {
    0xee00_0f10 | opc1 << 21 | crn << 16 | rt << 12 | opc2 << 5 | crm
}
pub fn mrc(rt: u32, register: (u32, u32, u32, u32)) -> u32 {
    mcr(rt, register) | 1 << 20
}
/// orr r5, r5, #1 << 11 (SCTLR.Z), and #1 << 12 (SCTLR.I).
pub const ORR_Z: u32 = 0xe385_5b02;
pub const ORR_I: u32 = 0xe385_5a01;
pub const ISB: u32 = 0xf57f_f06f;
pub const SCTLR: (u32, u32, u32, u32) = (1, 0, 0, 0);
pub const EQ: u32 = 0;
pub const NE: u32 = 1;
pub const NOP: u32 = 0xe320_f000;
pub const WFI: u32 = 0xe320_f003;
/// cpsie i
pub const ENABLE: u32 = 0xf108_0080;
/// subs pc, lr, #4
pub const RETURN_FROM_IRQ: u32 = 0xe25e_f004;
/// movs pc, lr
pub const RETURN: u32 = 0xe1b0_f00e;

/// Ends the run with status 0: r0 = SYS_EXIT, r1 = ADP_Stopped_ApplicationExit, then the semihosting call: 4
/// instructions.
pub const EXIT: [u32; 4] = [0xe3a0_0018, 0xe300_1026, 0xe340_1002, 0xef12_3456];

/// A program followed by `EXIT`.
pub fn then_exit(program: &[u32]) -> Vec<u32> {
    [program, &EXIT].concat()
}

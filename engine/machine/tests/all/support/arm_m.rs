//! A small machine with a Cortex-M4: local memory at 0 with the vector table, a device that answers late and can
//! interrupt.
use super::late::Late;
pub use super::rig::*;
use crate::{Description, Machine, RunReport};
use engine::bus::Bus;
use engine::cpu::memory_system::MemoryConfig;
use engine::cpu::memory_system::config::TlbShape;
use engine::isa::arm::config::CoreConfig;
use engine::isa::arm::instruction_set::CortexM;
use engine::isa::arm::m_profile::SystemConfig;
use engine::isa::arm::timing::{CoreTiming, EarlyDivision, FrontEnd, ThreeStage};

/// The device, whose interrupt is external interrupt 5.
pub const DEVICE: u32 = 0x4000_0000;
const LAYOUT: Layout = Layout { route: "ahb", device: DEVICE, ddr: 0x8000_0000, slow: ("slow", 0x6000_0000, false) };
pub const DEVICE_INTERRUPT: u32 = 5;

/// Where programs begin, and handlers: that of exception n is at `HANDLERS + 0x40 * n`, and does nothing unless a test
/// puts something there.
pub const PROGRAM: u32 = LOCAL + 0x400;
const HANDLERS: u32 = LOCAL + 0x2000;
/// The stack goes down from here.
pub const STACK: u32 = LOCAL + 0x8000;

/// Numbers of exceptions.
pub const HARD_FAULT: u32 = 3;
pub const SVCALL: u32 = 11;
pub const fn external(interrupt: u32) -> u32 {
    16 + interrupt
}

pub fn timing() -> CoreTiming {
    let three_stage = ThreeStage {
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
    CoreTiming {
        three_stage: Some(three_stage),
        early_division: Some(EarlyDivision { of_zero: 2, of_less: 3, least: 5, bits_a_cycle: 4 }),
        multiple_word: 1,
        status: 2,
        barrier: 1,
        exception: 12,
        exception_return: 10,
        taken_branch: 2,
        vfp_add: 1,
        vfp_multiply: 1,
        vfp_multiply_add: 3,
        vfp_divide_single: 14,
        ..CoreTiming::default()
    }
}

pub fn config() -> CoreConfig<SystemConfig> {
    let first_level = first_level(TlbShape { micro_entries: 1, main_entries: 1, main_ways: 1 });
    CoreConfig {
        name: "cm4".to_owned(),
        index: 0,
        clock: clock(),
        timing: timing(),
        system: SystemConfig::cortex_m4(true, 16, 4, LOCAL),
        memory: MemoryConfig {
            icache: None,
            dcache: None,
            store_buffer_entries: 1,
            unaligned_cycles: Some(1),
            slave_switch_cycles: 1,
            ..first_level
        },
    }
}

/// Code: halfwords one after the other.
pub type Code = Vec<u16>;

/// The machine with a program, and handlers of exceptions.
pub fn machine(program: &[u16], handlers: &[(u32, Code)]) -> Machine {
    machine_with(CortexM::new(config()), program, handlers)
}

/// The machine with this core.
pub fn machine_with(core: CortexM, program: &[u16], handlers: &[(u32, Code)]) -> Machine {
    machine_on(bus_with_device(), core, program, handlers)
}

/// The bus of the machine.
pub fn bus_with_device() -> Bus {
    bus(&LAYOUT, Late::new(DEVICE_INTERRUPT))
}

/// The machine with this bus, which has local memory, and this core.
pub fn machine_on(bus: Bus, core: CortexM, program: &[u16], handlers: &[(u32, Code)]) -> Machine {
    let mut machine = Machine::new(bus, vec![Box::new(core)], Description::default());
    let vectors: Vec<u32> = (0..48).map(|number| handler_of(number) | 1).collect();
    put_physical(&mut machine, LOCAL, &vectors);
    put_physical(&mut machine, LOCAL, &[STACK, PROGRAM | 1]);
    for number in 0..48 {
        put_code(&mut machine, handler_of(number), &[BX_LR]);
    }
    for (number, code) in handlers {
        put_code(&mut machine, handler_of(*number), code);
    }
    put_code(&mut machine, PROGRAM, program);
    machine
}

fn handler_of(number: u32) -> u32 {
    HANDLERS + 0x40 * number
}

pub fn put_code(machine: &mut Machine, at: u32, code: &[u16]) {
    let bytes: Vec<u8> = code.iter().flat_map(|half| half.to_le_bytes()).collect();
    assert!(machine.bus().poke(at, &bytes));
}

/// Runs a program, which has to end with [`exit`]: the report, and the registers at the end (pc, r0 to r14, xPSR, s0
/// ...).
pub fn run_with(program: &[u16], handlers: &[(u32, Code)]) -> (RunReport, Vec<u32>) {
    let (report, registers) = run_to_end(machine(program, handlers));
    assert_exit(&report);
    (report, registers)
}

// ---- Encodings

pub const BX_LR: u16 = 0x4770;
pub const NOP: u16 = 0xbf00;
pub const WFI: u16 = 0xbf30;
pub const CPSID_I: u16 = 0xb672;
pub const CPSIE_I: u16 = 0xb662;
/// push {r4, lr} and pop {r4, pc}
pub const PUSH_R4_LR: u16 = 0xb510;
pub const POP_R4_PC: u16 = 0xbd10;
/// b to itself
pub const FOREVER: u16 = 0xe7fe;

pub const fn movs(rd: u16, imm: u16) -> u16 {
    0x2000 | rd << 8 | imm
}
pub const fn adds(rd: u16, imm: u16) -> u16 {
    0x3000 | rd << 8 | imm
}
pub const fn subs(rd: u16, imm: u16) -> u16 {
    0x3800 | rd << 8 | imm
}
/// Branches back by `halves` halfwords from the branch itself.
pub const fn bne_back(halves: u16) -> u16 {
    0xd100 | 0u16.wrapping_sub(halves + 2) & 0xff
}
pub const fn ldr(rt: u16, rn: u16, imm: u16) -> u16 {
    0x6800 | (imm / 4) << 6 | rn << 3 | rt
}
pub const fn str(rt: u16, rn: u16, imm: u16) -> u16 {
    0x6000 | (imm / 4) << 6 | rn << 3 | rt
}
pub const fn bx(rm: u16) -> u16 {
    0x4700 | rm << 3
}
pub const fn svc(number: u16) -> u16 {
    0xdf00 | number
}
/// movw and movt: any word.
pub fn load_constant(rd: u16, value: u32) -> Code {
    let wide = |opcode: u16, value: u16| {
        [opcode | value >> 11 << 10 & 0x400 | value >> 12, (value >> 8 & 7) << 12 | rd << 8 | value & 0xff]
    };
    [wide(0xf240, value as u16), wide(0xf2c0, (value >> 16) as u16)].concat()
}
/// vmov s`sn`, r`rt`
pub const fn vmov(sn: u16, rt: u16) -> [u16; 2] {
    [0xee00 | sn >> 1, rt << 12 | 0xa10 | (sn & 1) << 7]
}

/// Ends the run with status 0: r0 = SYS_EXIT, r1 = ADP_Stopped_ApplicationExit, then the semihosting call.
pub fn exit() -> Code {
    [load_constant(0, 0x18), load_constant(1, 0x2_0026), vec![0xbeab]].concat()
}

/// Puts a program together.
macro_rules! code {
    ($($part:expr),* $(,)?) => {{
        let mut code: Vec<u16> = Vec::new();
        $(code.extend($crate::whole::support::arm_m::Halves::from($part).0);)*
        code
    }};
}
pub(crate) use code;

/// One halfword or more.
pub struct Halves(pub Vec<u16>);

impl From<u16> for Halves {
    fn from(half: u16) -> Halves {
        Halves(vec![half])
    }
}

impl<const N: usize> From<[u16; N]> for Halves {
    fn from(halves: [u16; N]) -> Halves {
        Halves(halves.to_vec())
    }
}

impl From<Vec<u16>> for Halves {
    fn from(halves: Vec<u16>) -> Halves {
        Halves(halves)
    }
}

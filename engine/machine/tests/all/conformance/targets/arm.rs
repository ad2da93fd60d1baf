//! Cortex-A in A32: a Cortex-A5, and a Cortex-A7, which issues two instructions at a time. In T32: a Cortex-A5 and a
//! Cortex-M4.

use super::super::order::Pair;
use super::super::program::*;
use super::super::target::{HANDLER, Target};
use crate::Machine;
use crate::whole::support::{arm, arm_m, pair};
use engine::core::Core;
use engine::isa::arm::instruction_set::CortexM;

/// The register for a program's register: r4 to r11, lr, and sp.
fn r(register: u32) -> u32 {
    match register {
        LINK => 14,
        STACK => 13,
        _ => 4 + register,
    }
}

fn encode_a32(step: Step, at: u32, to: u32) -> Vec<u8> {
    use arm::*;
    let by = to.wrapping_sub(at) as i32;
    let exit = |low: u32| words(&[EXIT[0], mov(1, low), EXIT[2], EXIT[3]]);
    match step {
        Label(_) => Vec::new(),
        Begin => words(&[mrc(5, SCTLR), ORR_Z, ORR_I, mcr(5, SCTLR), ISB]),
        Set(rd, value) => words(&[mov(r(rd), value & 0xffff), movt(r(rd), value >> 16)]),
        // add and sub with the same number.
        Add(rd, n) if n < 0 => words(&[0xe240_0000 | r(rd) << 16 | r(rd) << 12 | n.unsigned_abs()]),
        Add(rd, n) => words(&[add(r(rd), r(rd), n as u32)]),
        AddTo(rd, rm) => words(&[add_register(r(rd), r(rd), r(rm))]),
        Multiply(rd, rm) => words(&[mul(r(rd), r(rd), r(rm))]),
        And(rd, rn, bits) => words(&[0xe200_0000 | r(rn) << 16 | r(rd) << 12 | bits]),
        Load(rt, rn, offset) | LoadAfterJump(rt, rn, offset) => words(&[ldr(r(rt), r(rn), offset)]),
        Store(rt, rn, offset) | StoreAfterJump(rt, rn, offset) => words(&[str(r(rt), r(rn), offset)]),
        IfZero(rn, _) => words(&[cmp(r(rn), 0), when(EQ, b(by - 4))]),
        IfNotZero(rn, _) => words(&[cmp(r(rn), 0), when(NE, b(by - 4))]),
        Jump(_) => words(&[b(by)]),
        Call(_) => words(&[bl(by)]),
        Return => words(&[bx(14)]),
        Nop => words(&[NOP]),
        Wait => words(&[WFI]),
        Enable => words(&[ENABLE]),
        Trap => words(&[0xef00_0001]),
        Undefined => words(&[0xe7f0_00f0]),
        ReturnFromTrap | ReturnAfter => words(&[RETURN]),
        ReturnFromInterrupt => words(&[RETURN_FROM_IRQ]),
        Own(number) => halves(A32_OWN[number]),
        Print(text) => words(&[mov(0, 3), mov(1, text), EXIT[3]]),
        Exit => exit(0x26),
        Fail => exit(0x23),
    }
}

/// Two halves of a branch instruction, with the bits of its offset that they have room for.
fn branch(first: u16, high_bits: u32, second: u16, by: i32) -> [u16; 2] {
    let (sign, by) = (u16::from(by < 0) << 10, by as u32);
    [first | sign | (by >> 12 & high_bits) as u16, second | (by >> 1 & 0x7ff) as u16]
}

fn encode_t32(step: Step, at: u32, to: u32) -> Vec<u8> {
    use arm_m::*;
    let wide = |first: u32, second: u32| halves(&[first as u16, second as u16]);
    let by = to.wrapping_sub(at + 4) as i32;
    // cmp.w rn, #0, then b<condition>.w.
    let branch_if = |condition: u16, rn: u32| {
        let sign = if by < 0 { 0x2800 } else { 0 };
        [wide(0xf1b0 | r(rn), 0xf00), halves(&branch(0xf000 | condition << 6, 0x3f, 0x8000 | sign, by - 4))].concat()
    };
    match step {
        Label(_) => Vec::new(),
        Set(rd, value) => halves(&load_constant(r(rd) as u16, value)),
        Add(rd, n) if n < 0 => wide(0xf2a0 | r(rd), r(rd) << 8 | n.unsigned_abs()),
        Add(rd, n) => wide(0xf200 | r(rd), r(rd) << 8 | n as u32),
        AddTo(rd, rm) => wide(0xeb00 | r(rd), r(rd) << 8 | r(rm)),
        Multiply(rd, rm) => wide(0xfb00 | r(rd), 0xf000 | r(rd) << 8 | r(rm)),
        And(rd, rn, bits) => wide(0xf000 | r(rn), r(rd) << 8 | bits),
        Load(rt, rn, offset) | LoadAfterJump(rt, rn, offset) => wide(0xf8d0 | r(rn), r(rt) << 12 | offset),
        Store(rt, rn, offset) | StoreAfterJump(rt, rn, offset) => wide(0xf8c0 | r(rn), r(rt) << 12 | offset),
        IfZero(rn, _) => branch_if(0, rn),
        IfNotZero(rn, _) => branch_if(1, rn),
        Jump(_) => halves(&branch(0xf000, 0x3ff, 0xb800, by)),
        Call(_) => halves(&branch(0xf000, 0x3ff, 0xf800, by)),
        Return => halves(&[BX_LR]),
        Nop => halves(&[NOP]),
        Wait => halves(&[WFI]),
        Trap => halves(&[svc(1)]),
        Undefined => halves(&[0xde00]),
        Own(number) => halves(THUMB_OWN[number]),
        _ => panic!("{step:?} is not the same on both profiles"),
    }
}

/// muls r3, r2, r3; an it block: cmp r2, #5; itte eq; moveq r3, #1; addeq r3, #2; movne r3, #9; a narrow nop.
const THUMB_OWN: &[&[u16]] = &[&[0x4353], &[0x2a05, 0xbf06, 0x2301, 0x3302, 0x2309], &[0x46c0]];

/// A32: cmp r2, #10, mulne r3, r2, r2, addeq r3, r3, #1; add r3, r3, r2, lsl #4; stmdb and ldmia of a stack.
const A32_OWN: &[&[u16]] = &[
    &[0x000a, 0xe352, 0x0293, 0x1003, 0x3001, 0x0283],
    &[0x3202, 0xe083],
    &[0xdb02, 0xe3a0, 0x00fc, 0xe92d, 0x00fc, 0xe8bd],
];

/// Cortex-A5 in A32. Its blocks are compiled after `COMPILE_AFTER` runs; so are those of the other cores.
pub struct CortexA5<const COMPILE_AFTER: u16 = 0>;
/// Cortex-A7 in A32.
pub struct CortexA7<const COMPILE_AFTER: u16 = 0>;
/// Cortex-A5 in T32.
pub struct CortexA5Thumb<const COMPILE_AFTER: u16 = 0>;
/// Cortex-M4.
pub struct CortexM4<const COMPILE_AFTER: u16 = 0>;

impl<const COMPILE_AFTER: u16> Pair for CortexA5<COMPILE_AFTER> {
    fn core(index: u32) -> Box<dyn Core> {
        let mut core = pair::cortex_a5(index);
        core.compile_after(COMPILE_AFTER);
        core
    }
}

impl<const COMPILE_AFTER: u16> Pair for CortexA5Thumb<COMPILE_AFTER> {
    fn core(index: u32) -> Box<dyn Core> {
        let mut core = pair::cortex_a5(index);
        core.compile_after(COMPILE_AFTER);
        core
    }
    fn start(at: u32) -> u32 {
        at | 1
    }
}

const CODE_A: [u32; 3] = [arm::LOCAL + 0x400, arm::DDR + 0x400, arm::SLOW + 0x400];

macro_rules! cortex_a {
    ($target:ty, $caches_are_off:expr, $own:expr, $machine:expr, $encode:expr) => {
        impl<const COMPILE_AFTER: u16> Target for $target {
            const CODE: [u32; 3] = CODE_A;
            const DATA: u32 = arm::DDR + 0x8000;
            const DEVICE: u32 = arm::DEVICE;
            const NOWHERE: (u32, u32) = (0x7000_0000, 0x7000_0000);
            const CACHES_ARE_OFF: bool = $caches_are_off;
            const VECTORS: &[u32] = &[4, 8, 0x18];
            const OWN: &[&[u16]] = $own;

            fn machine(at: u32) -> Machine {
                let mut machine = $machine(at);
                machine.compile_after(COMPILE_AFTER);
                machine
            }
            fn encode(step: Step, at: u32, to: u32) -> Vec<u8> {
                $encode(step, at, to)
            }
            fn register(register: u32) -> usize {
                1 + r(register) as usize
            }
        }
    };
}

cortex_a!(CortexA5<COMPILE_AFTER>, true, A32_OWN, |at| arm::machine(at, &[]), encode_a32);
cortex_a!(CortexA7<COMPILE_AFTER>, true, A32_OWN, |at| arm::machine_with(arm::cortex_a7(), at, &[]), encode_a32);
cortex_a!(CortexA5Thumb<COMPILE_AFTER>, false, THUMB_OWN, |at| arm::machine(at | 1, &[]), encode_a5_thumb);

fn encode_a5_thumb(step: Step, at: u32, to: u32) -> Vec<u8> {
    let swapped = |word: u32| [(word >> 16) as u16, word as u16];
    let exit = |low| halves(&[arm_m::load_constant(0, 0x18), arm_m::load_constant(1, low), vec![0xdfab]].concat());
    match step {
        // mrc and mcr are the same in both; orr.w r5, r5, #1 << 11, 12 and 30; isb.
        Begin => {
            let [read, write] = [arm::mrc(5, arm::SCTLR), arm::mcr(5, arm::SCTLR)].map(swapped);
            let [z, i, te] = [[0xf445, 0x6500], [0xf445, 0x5580], [0xf045, 0x4580]];
            halves(&[read, z, i, te, write, [0xf3bf, 0x8f6f]].concat())
        }
        Enable => halves(&[arm_m::CPSIE_I]),
        ReturnFromTrap | ReturnAfter => halves(&[0xf3de, 0x8f00]),
        ReturnFromInterrupt => halves(&[0xf3de, 0x8f04]),
        Print(text) => halves(&[arm_m::load_constant(0, 3), arm_m::load_constant(1, text), vec![0xdfab]].concat()),
        Exit => exit(0x2_0026),
        Fail => exit(0x2_0023),
        _ => encode_t32(step, at, to),
    }
}

impl<const COMPILE_AFTER: u16> Target for CortexM4<COMPILE_AFTER> {
    const CODE: [u32; 3] = [arm_m::LOCAL + 0x400, 0x8000_0400, 0x6000_0400];
    const COMPILED: u32 = Self::CODE[0];
    const DATA: u32 = 0x8000_8000;
    const DEVICE: u32 = arm_m::DEVICE;
    const NOWHERE: (u32, u32) = (0x3000_0000, 0x3000_0000);
    const OWN: &[&[u16]] = THUMB_OWN;

    fn machine(at: u32) -> Machine {
        let mut core = CortexM::new(arm_m::config());
        core.set_pc(at | 1);
        let mut machine = arm_m::machine_with(core, &[], &[]);
        arm_m::put_physical(&mut machine, arm_m::LOCAL, &[arm_m::STACK, at | 1]);
        arm_m::put_code(&mut machine, HANDLER, &[arm_m::FOREVER]);
        for number in [arm_m::HARD_FAULT, arm_m::SVCALL, arm_m::external(arm_m::DEVICE_INTERRUPT)] {
            arm_m::put_physical(&mut machine, arm_m::LOCAL + 4 * number, &[HANDLER | 1]);
        }
        machine.compile_after(COMPILE_AFTER);
        machine
    }
    fn encode(step: Step, at: u32, to: u32) -> Vec<u8> {
        use arm_m::{BX_LR, adds, external, load_constant, movs, str};
        let exit = |low| halves(&[load_constant(0, 0x18), load_constant(1, low), vec![0xbeab]].concat());
        match step {
            Begin => Vec::new(),
            // The bit of NVIC_ISER0.
            Enable => {
                let bit = external(arm_m::DEVICE_INTERRUPT) - external(0);
                halves(&[load_constant(2, 0xe000_e100), vec![movs(3, 1 << bit), str(3, 2, 0)]].concat())
            }
            ReturnFromTrap | ReturnFromInterrupt => halves(&[BX_LR]),
            // The frame's address to return to: ldr r0, [sp, #24]; adds r0, #2; str r0, [sp, #24].
            ReturnAfter => halves(&[0x9806, adds(0, 2), 0x9006, BX_LR]),
            Print(text) => halves(&[load_constant(0, 3), load_constant(1, text), vec![0xbeab]].concat()),
            Exit => exit(0x2_0026),
            Fail => exit(0x2_0023),
            _ => encode_t32(step, at, to),
        }
    }
    fn register(register: u32) -> usize {
        1 + r(register) as usize
    }
}

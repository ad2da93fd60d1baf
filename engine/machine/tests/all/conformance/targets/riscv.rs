//! RISC-V: a pipelined core whose blocks are interpreted, the same with blocks compiled for the host, and PicoRV32.

use super::super::order::Pair;
use super::super::program::*;
use super::super::target::{HANDLER, Target};
use crate::whole::support::late::{EXIT_STATUS, Late};
use crate::whole::support::pair;
use crate::whole::support::riscv::*;
use crate::{Description, Machine};
use engine::core::Core;

/// The register for a program's register: x18 to x25, ra, and sp. x5 and x6 are for steps of more than one instruction.
fn x(register: u32) -> u32 {
    match register {
        LINK => 1,
        STACK => 2,
        _ => 18 + register,
    }
}

fn set(rd: u32, value: u32) -> [u32; 2] {
    [lui(rd, value.wrapping_add(0x800)), addi(rd, rd, (value << 20) as i32 >> 20)]
}

/// Instructions that all cores have.
fn encode(step: Step, at: u32, to: u32) -> Vec<u8> {
    let by = to.wrapping_sub(at) as i32;
    words(&match step {
        Set(rd, value) => set(x(rd), value).to_vec(),
        Add(rd, n) => vec![addi(x(rd), x(rd), n)],
        AddTo(rd, rs) => vec![add(x(rd), x(rd), x(rs))],
        Multiply(rd, rs) => vec![1 << 25 | add(x(rd), x(rd), x(rs))],
        And(rd, rs, bits) => vec![andi(x(rd), x(rs), bits as i32)],
        Load(rd, rs, offset) | LoadAfterJump(rd, rs, offset) => vec![lw(x(rd), x(rs), offset as i32)],
        Store(rd, rs, offset) | StoreAfterJump(rd, rs, offset) => vec![sw(x(rd), x(rs), offset as i32)],
        IfZero(rs, _) => vec![beq(x(rs), 0, by)],
        IfNotZero(rs, _) => vec![bne(x(rs), 0, by)],
        Jump(_) => vec![jal(0, by)],
        Call(_) => vec![jal(1, by)],
        Return => vec![jalr(0, 1, 0)],
        Nop => vec![NOP],
        Trap => vec![ECALL],
        Undefined => vec![0xffff_ffff],
        _ => panic!("{step:?} is not the same on all cores"),
    })
}

/// A core with a pipeline. Its blocks are compiled after `COMPILE_AFTER` runs.
pub struct Pipelined<const COMPILE_AFTER: u16>;

impl<const COMPILE_AFTER: u16> Target for Pipelined<COMPILE_AFTER> {
    const CODE: [u32; 3] = [LOCAL + 0x400, DDR + 0x400, BRAM + 0x400];
    const DATA: u32 = DDR + 0x8000;
    const DEVICE: u32 = DEVICE;
    const NOWHERE: (u32, u32) = (0x2000_0000, 0x2000_0000);
    /// divu x6, x5, x5; two c.nop; csrr x6, mcycle.
    const OWN: &[&[u16]] = &[&[0xd333, 0x0252], &[1, 1], &[0x2373, 0xb000]];

    fn machine(at: u32) -> Machine {
        let mut machine = machine(at, &[], 2);
        machine.compile_after(COMPILE_AFTER);
        machine
    }
    fn encode(step: Step, at: u32, to: u32) -> Vec<u8> {
        let exit = |low| words(&[EXIT[0], EXIT[1], addi(11, 11, low), EXIT[3], EXIT[4], EXIT[5]]);
        match step {
            Begin => words(&[set(5, HANDLER).as_slice(), &[csrrw(0, MTVEC, 5)]].concat()),
            // The external interrupt's bit in mie; then mstatus.MIE.
            Enable => words(&[set(5, 1 << 11).as_slice(), &[csrrw(0, MIE, 5), csrrsi(0, MSTATUS, 8)]].concat()),
            Wait => words(&[WFI]),
            ReturnFromInterrupt => words(&[MRET]),
            ReturnFromTrap | ReturnAfter => words(&[csrrs(6, MEPC, 0), addi(6, 6, 4), csrrw(0, MEPC, 6), MRET]),
            Own(number) => halves(Self::OWN[number]),
            Print(text) => words(&[addi(10, 0, 3), lui(11, text), EXIT[3], EBREAK, EXIT[5]]),
            Exit => exit(0x26),
            Fail => exit(0x23),
            _ => encode(step, at, to),
        }
    }
    fn register(register: u32) -> usize {
        1 + x(register) as usize
    }
}

impl<const COMPILE_AFTER: u16> Pair for Pipelined<COMPILE_AFTER> {
    /// The external interrupt.
    const INTERRUPT: u32 = 11;
    /// li x5, 1 << 11; csrw mie, x5: mstatus.MIE stays off.
    const LISTENS: &[u32] = &[0x0000_12b7, 0x8002_8293, 0x3042_9073];

    fn core(index: u32) -> Box<dyn Core> {
        let mut hart = pair::hart(index);
        hart.compile_after(COMPILE_AFTER);
        Box::new(hart)
    }
}

/// PicoRV32.
pub struct PicoRv32;

/// One of its interrupt instructions.
fn custom(funct7: u32, rd: u32, rs1: u32) -> u32 {
    funct7 << 25 | rs1 << 15 | rd << 7 | 0x0b
}

impl Target for PicoRv32 {
    const CODE: [u32; 3] = [LOCAL + 0x400, DDR + 0x400, BRAM + 0x400];
    const DATA: u32 = DDR + 0x8000;
    const DEVICE: u32 = DEVICE;
    const NOWHERE: (u32, u32) = (0x2000_0000, 0x2000_0000);
    const ADD_CYCLES: u64 = 3;
    const DROPS_CODE: bool = false;
    const COMPILES: bool = false;
    const PRINTS: bool = false;
    /// A line that is high is latched: once more while the handler runs.
    const TAKEN: u32 = 2;
    /// divu x6, x5, x5; two c.nop; csrr x6, cycle.
    const OWN: &[&[u16]] = &[&[0xd333, 0x0252], &[1, 1], &[0x2373, 0xc000]];

    fn machine(at: u32) -> Machine {
        let mut core = crate::whole::picorv32::core(HANDLER, 0x1_0000);
        core.set_pc(at);
        Machine::new(bus(&LAYOUT, Late::new(5)), vec![Box::new(core)], Description::default())
    }
    fn encode(step: Step, at: u32, to: u32) -> Vec<u8> {
        let exit = |status| words(&[lui(5, DEVICE), addi(6, 0, status), sw(6, 5, EXIT_STATUS as i32)]);
        match step {
            Begin | Print(_) => Vec::new(),
            // maskirq x0, x0; waitirq x6; retirq, which also returns to after a trap.
            Enable => words(&[custom(3, 0, 0)]),
            Wait => words(&[custom(4, 6, 0)]),
            ReturnFromInterrupt | ReturnFromTrap | ReturnAfter => words(&[custom(2, 0, 3)]),
            Own(number) => halves(Self::OWN[number]),
            Exit => exit(0),
            Fail => exit(1),
            _ => encode(step, at, to),
        }
    }
    fn register(register: u32) -> usize {
        1 + x(register) as usize
    }
}

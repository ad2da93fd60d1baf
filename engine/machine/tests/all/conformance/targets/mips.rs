//! MIPS32: an XBurst core. Each branch has a nop in its delay slot.

use super::super::order::Pair;
use super::super::program::*;
use super::super::target::Target;
use crate::Machine;
use crate::whole::support::mips::*;
use crate::whole::support::pair;
use engine::core::Core;

/// The register for a program's register: s0 to s7, ra, and sp.
fn r(register: u32) -> u32 {
    match register {
        LINK => RA,
        STACK => 29,
        _ => S0 + register,
    }
}

/// XBurst. Its blocks are compiled after `COMPILE_AFTER` runs.
pub struct XBurst<const COMPILE_AFTER: u16 = 0>;

impl<const COMPILE_AFTER: u16> Target for XBurst<COMPILE_AFTER> {
    const CODE: [u32; 3] = [KSEG0 + 0x400, KSEG0 + DDR + 0x400, KSEG1 + SLOW + 0x400];
    const DATA: u32 = KSEG0 + DDR + 0x8000;
    const DEVICE: u32 = KSEG1 + DEVICE;
    const NOWHERE: (u32, u32) = (0x1800_0000, KSEG1 + 0x1800_0000);
    const VECTORS: &[u32] = &[GENERAL_VECTOR - KSEG0];
    /// multu s0, s1 and mflo t0; divu t0, s0; beql and bnel of zero and zero, each with its delay slot.
    const OWN: &[&[u16]] =
        &[&[0x0019, 0x0211, 0x4012, 0x0000], &[0x001b, 0x0110], &[0x0001, 0x5000, 0, 0], &[0x0001, 0x5400, 0, 0]];

    fn machine(at: u32) -> Machine {
        let mut machine = machine(at, &[]);
        machine.compile_after(COMPILE_AFTER);
        machine
    }
    fn encode(step: Step, at: u32, to: u32) -> Vec<u8> {
        let by = to.wrapping_sub(at + 4) as i32 / 4;
        let exit = |status| vec![EXIT[0], addiu(A0, ZERO, status), EXIT[2]];
        words(&match step {
            Label(_) => Vec::new(),
            Begin => vec![NORMAL],
            Set(rd, value) => vec![lui(r(rd), value >> 16), ori(r(rd), r(rd), value & 0xffff)],
            Add(rd, n) => vec![addiu(r(rd), r(rd), n)],
            AddTo(rd, rt) => vec![addu(r(rd), r(rd), r(rt))],
            Multiply(rd, rt) => vec![mul(r(rd), r(rd), r(rt))],
            // andi
            And(rd, rs, bits) => vec![0x3000_0000 | r(rs) << 21 | r(rd) << 16 | bits],
            Load(rt, base, offset) => vec![lw(r(rt), r(base), offset as i32)],
            Store(rt, base, offset) => vec![sw(r(rt), r(base), offset as i32)],
            // The jump skips an instruction with a visible effect.
            LoadAfterJump(rt, base, offset) => {
                vec![beq(ZERO, ZERO, 2), lw(r(rt), r(base), offset as i32), addiu(r(rt), r(rt), 1)]
            }
            StoreAfterJump(rt, base, offset) => {
                vec![beq(ZERO, ZERO, 2), sw(r(rt), r(base), offset as i32), addiu(r(rt), r(rt), 1)]
            }
            IfZero(rs, _) => vec![beq(r(rs), ZERO, by), NOP],
            IfNotZero(rs, _) => vec![bne(r(rs), ZERO, by), NOP],
            Jump(_) => vec![beq(ZERO, ZERO, by), NOP],
            Call(_) => vec![jal(to), NOP],
            Return => vec![jr(RA), NOP],
            Nop => vec![NOP],
            Wait => vec![WAIT],
            Enable => vec![ori(T1, ZERO, ENABLED), mtc0(T1, STATUS)],
            Trap => vec![SYSCALL],
            Undefined => vec![0x7000_003e],
            ReturnFromTrap | ReturnAfter => vec![mfc0(K0, EPC), addiu(K0, K0, 4), mtc0(K0, EPC), ERET],
            ReturnFromInterrupt => vec![ERET],
            Own(number) => return halves(Self::OWN[number]),
            Print(text) => {
                let text = KSEG0 + text;
                let call = [addiu(6, ZERO, 1), EXIT[2]];
                [&[addiu(T9, ZERO, 5), addiu(A0, ZERO, 1), la(5, text), ori(5, 5, text & 0xffff)], &call[..]].concat()
            }
            Exit => exit(0),
            Fail => exit(1),
        })
    }
    fn register(register: u32) -> usize {
        1 + r(register) as usize
    }
    fn physical(addr: u32) -> u32 {
        addr & 0x1fff_ffff
    }
    fn local(addr: u32) -> u32 {
        KSEG0 + addr
    }
}

impl<const COMPILE_AFTER: u16> Pair for XBurst<COMPILE_AFTER> {
    const INTERRUPT: u32 = 2;
    /// lui t1, 0x40; ori t1, t1, 0x404; mtc0 t1, Status: IM2, and BEV and ERL as after reset.
    const LISTENS: &[u32] = &[0x3c09_0040, 0x3529_0404, 0x4089_6000];

    fn core(index: u32) -> Box<dyn Core> {
        let mut core = pair::xburst(index);
        core.compile_after(COMPILE_AFTER);
        core
    }
}

//! Decoded instructions, by address and encoding: the fetched encoding is executed, whatever stores or the flash do to
//! the code.

use super::config::{Extensions, Timing};
use crate::isa::riscv::decode::decode;
use crate::isa::riscv::instruction_set::{resolve, taken_pc};
use crate::isa::riscv::op::{Code, Instr, Op, TimingClass};

/// Slots of the table, selected by an instruction's address.
const SLOTS: usize = 1 << 12;
/// Opcode of PicoRV32's own instructions (custom-0); bits 31 to 25 select one.
const CUSTOM_0: u32 = 0x0b;

/// Kind of execution of an instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Kind {
    /// Computes a result, in a fixed time.
    Compute,
    /// As Compute, in a longer time: multiplications, divisions, shifts by a serial shifter.
    LongCompute,
    /// A shift by a register's bits with a serial shifter.
    SerialShift,
    Load,
    Store,
    Branch,
    Jal,
    Jalr,
    /// rdcycle, rdinstret and their upper halves; the counter's number is in `imm`.
    Counter,
    Maskirq,
    Timer,
    Waitirq,
    Retirq,
    /// ebreak, ecall.
    Breakpoint,
    Illegal,
}

/// An instruction, ready to be launched.
#[derive(Clone, Copy, Debug)]
pub struct Decoded {
    pub pc: u32,
    pub encoding: u32,
    pub op: Op,
    /// Target of a jump or taken branch.
    pub target: u32,
    pub kind: Kind,
    pub len_bytes: u8,
    /// From the launch to the first cycle in which the next instruction is accepted.
    pub accepts_cycles: u16,
}

/// The table.
#[derive(Debug)]
pub struct Table {
    slots: Box<[Decoded; SLOTS]>,
    pub timing: Timing,
    extensions: Extensions,
}

impl Table {
    /// An empty table for a core.
    pub fn new(timing: Timing, extensions: Extensions) -> Table {
        let op = Op { code: Code::Nop, rd: 0, rs1: 0, rs2: 0, imm: 0 };
        let (kind, len_bytes, accepts_cycles) = (Kind::Illegal, 4, 1);
        // Instructions do not have odd addresses.
        let empty = Decoded { pc: 1, encoding: 0, op, target: 0, kind, len_bytes, accepts_cycles };
        Table { slots: Box::new([empty; SLOTS]), timing, extensions }
    }

    /// The slot that has the instruction at `pc` with this encoding from now on.
    #[inline(always)]
    pub fn find(&mut self, pc: u32, encoding: u32) -> usize {
        let slot = (pc >> 1) as usize % SLOTS;
        if (self.slots[slot].pc, self.slots[slot].encoding) != (pc, encoding) {
            self.slots[slot] = self.decode(pc, encoding);
        }
        slot
    }

    /// The instruction in a slot.
    #[inline(always)]
    pub fn at(&self, slot: usize) -> &Decoded {
        &self.slots[slot % SLOTS]
    }

    #[cold]
    #[inline(never)]
    fn decode(&self, pc: u32, encoding: u32) -> Decoded {
        let instr = decode(encoding);
        let kind = self.kind(encoding, &instr);
        let mut op = resolve(&instr, pc);
        if matches!(kind, Kind::Maskirq | Kind::Timer | Kind::Waitirq | Kind::Retirq) {
            op = custom_operands(encoding);
        }
        Decoded {
            pc,
            encoding,
            op,
            target: taken_pc(pc.wrapping_add(u32::from(instr.len_bytes)), &instr),
            kind,
            len_bytes: instr.len_bytes,
            accepts_cycles: self.accepts_cycles(kind, &instr),
        }
    }

    fn kind(&self, encoding: u32, instr: &Instr) -> Kind {
        if encoding & 0x7f == CUSTOM_0 {
            return match encoding >> 25 {
                2 => Kind::Retirq,
                3 => Kind::Maskirq,
                4 => Kind::Waitirq,
                5 => Kind::Timer,
                _ => Kind::Illegal,
            };
        }
        let Extensions { multiply, divide } = self.extensions;
        match (instr.op.code.class(), instr.op.code) {
            (TimingClass::Load, _) => Kind::Load,
            (TimingClass::Store, _) => Kind::Store,
            (TimingClass::Branch, _) => Kind::Branch,
            (TimingClass::Jump, _) => Kind::Jal,
            (TimingClass::IndirectJump, _) => Kind::Jalr,
            (TimingClass::Multiply | TimingClass::MultiplyHigh, _) if multiply => Kind::LongCompute,
            (TimingClass::Divide, _) if divide => Kind::LongCompute,
            (TimingClass::Multiply | TimingClass::MultiplyHigh | TimingClass::Divide, _) => Kind::Illegal,
            (TimingClass::Shift, _) if self.timing.shift_stage_bits == 0 => Kind::Compute,
            (TimingClass::Shift, Code::Slli | Code::Srli | Code::Srai) => Kind::LongCompute,
            (TimingClass::Shift, _) => Kind::SerialShift,
            (TimingClass::Csr, code) if reads_counter(code, instr.op) => Kind::Counter,
            (_, Code::Ecall | Code::Ebreak) => Kind::Breakpoint,
            (TimingClass::Csr | TimingClass::System, _) => Kind::Illegal,
            (TimingClass::Alu, _) => Kind::Compute,
        }
    }

    fn accepts_cycles(&self, kind: Kind, instr: &Instr) -> u16 {
        let timing = &self.timing;
        let own = match (kind, instr.op.code.class()) {
            (_, TimingClass::Shift) => timing.shift,
            (Kind::LongCompute, TimingClass::Multiply) => timing.multiply,
            (Kind::LongCompute, TimingClass::MultiplyHigh) => timing.multiply_high,
            (Kind::LongCompute, TimingClass::Divide) => timing.divide,
            (Kind::Counter | Kind::Maskirq | Kind::Timer, _) => timing.csr,
            (Kind::Jal | Kind::Waitirq, _) => timing.jump,
            (Kind::Jalr, _) => timing.indirect_jump,
            (Kind::Retirq, _) => timing.return_from_interrupt,
            (Kind::Breakpoint, _) => timing.breakpoint,
            (Kind::Illegal, _) => timing.illegal,
            _ => timing.execute,
        };
        // A serial shift by a register takes longer still, depending on the register's value.
        let shifts = kind == Kind::LongCompute && instr.op.code.class() == TimingClass::Shift;
        let bits = if shifts { instr.op.imm as u32 } else { 0 };
        u16::from(own) + serial_cycles(bits, timing.shift_stage_bits)
    }
}

/// Cycles of a serial shifter for `bits`, which moves `stage_bits` per cycle while possible, then one.
pub fn serial_cycles(bits: u32, stage_bits: u8) -> u16 {
    let bits = (bits & 31) as u16;
    match u16::from(stage_bits) {
        0 => 0,
        stage => bits / stage + bits % stage,
    }
}

/// True for csrrs of cycle, time or instret, or their upper halves, with x0: the only CSR accesses that PicoRV32
/// decodes.
fn reads_counter(code: Code, op: Op) -> bool {
    code == Code::Csrrs && op.rs1 == 0 && matches!(op.imm, 0xc00..=0xc02 | 0xc80..=0xc82)
}

/// rd and rs1 of an instruction of PicoRV32's own.
fn custom_operands(encoding: u32) -> Op {
    let rd = (encoding >> 7 & 31) as u8;
    let rd = if rd == 0 { crate::isa::riscv::instruction_set::SINK } else { rd };
    Op { code: Code::Nop, rd, rs1: (encoding >> 15 & 31) as u8, rs2: 0, imm: 0 }
}

#[cfg(test)]
mod tests;

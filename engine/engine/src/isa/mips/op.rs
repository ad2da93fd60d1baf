//! The typed operation: an instruction after decoding.
//!
//! All operands are indices into the core's array of 256 registers, and every operation has them in the same fields: it
//! reads `x[rs]` and `x[rt]` (0, the register that is zero, without such an operand) and writes `x[rd]` (SINK without a
//! result). So the fields can be used without a check of the operation.

/// The register that reads as zero. It is never written: results for it have SINK as their destination.
pub const ZERO: u8 = 0;
/// The register that holds the return address of jal, bltzal and bgezal.
pub const RA: u8 = 31;
/// Target of unused results.
pub const SINK: u8 = 32;
/// The high half of a product, or the remainder of a division.
pub const HI: u8 = 33;
/// The low half of a product, or the quotient of a division.
pub const LO: u8 = 34;

/// Code of an operation, with the manual's names (MIPS32 Architecture for Programmers, volume II, release 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Code {
    /// No effect: includes ssnop, and arithmetic for register zero that raises no exception.
    Nop,
    // ---- Arithmetic on registers. Add and Sub (and Addi) raise an exception on overflow.
    Add,
    Addu,
    Sub,
    Subu,
    And,
    Or,
    Xor,
    Nor,
    Slt,
    Sltu,
    /// x[rt] shifted by the low five bits of x[rs], as in the next two.
    Sllv,
    Srlv,
    Srav,
    /// Movz: x[rd] = x[rs] if x[rt] is 0; Movn: if it is not 0.
    Movz,
    Movn,
    // ---- With an immediate in `imm`, extended as the manual defines.
    Addi,
    Addiu,
    Slti,
    Sltiu,
    Andi,
    Ori,
    Xori,
    /// lui: `imm` has the shifted value.
    Li,
    /// x[rt] shifted by `imm`, as in the next two.
    Sll,
    Srl,
    Sra,
    /// Of x[rs].
    Clz,
    Clo,
    // ---- Multiplication and division. All but Mul write HI and LO: `rd` is LO. The accumulating ones read both, too.
    Mult,
    Multu,
    Madd,
    Maddu,
    Msub,
    Msubu,
    /// The low half into x[rd]. HI and LO, which the manual does not define, do not change.
    Mul,
    Div,
    Divu,
    /// x[rd] = x[rs], as in the next three; `rs` or `rd` is HI or LO.
    Mfhi,
    Mflo,
    Mthi,
    Mtlo,
    // ---- Memory: the address is x[rs] + imm. Loads have `rd`, stores `rt`.
    Lb,
    Lbu,
    Lh,
    Lhu,
    Lw,
    /// The part of x[rt] that is not loaded is kept: `rd` is the same register (or SINK).
    Lwl,
    Lwr,
    Ll,
    Sb,
    Sh,
    Sw,
    Swl,
    Swr,
    /// Stores x[rt]; x[rd] (the same register, or SINK) gets the success.
    Sc,
    // ---- Branches: to `imm`, an absolute address, after the next instruction (the delay slot).
    Beq,
    Bne,
    Blez,
    Bgtz,
    Bltz,
    Bgez,
    /// `rd` is RA, taken or not.
    Bltzal,
    Bgezal,
    /// The likely forms: the delay slot is annulled unless the branch is taken.
    Beql,
    Bnel,
    Blezl,
    Bgtzl,
    Bltzl,
    Bgezl,
    Bltzall,
    Bgezall,
    // ---- Jumps, with delay slots.
    /// To `imm`, an absolute address.
    J,
    /// As J; `rd` is RA.
    Jal,
    /// To x[rs].
    Jr,
    /// To x[rs]; the return address into x[rd].
    Jalr,
    // ---- Traps, on x[rs] and x[rt] or on x[rs] and `imm`.
    Tge,
    Tgeu,
    Tlt,
    Tltu,
    Teq,
    Tne,
    Tgei,
    Tgeiu,
    Tlti,
    Tltiu,
    Teqi,
    Tnei,
    // ---- System. `imm` is the code field of the first three.
    Syscall,
    Break,
    Sdbbp,
    Sync,
    /// At x[rs] + [`Op::offset`]; [`Op::operation`] is the hint.
    Pref,
    /// At x[rs] + [`Op::offset`]; [`Op::operation`] has the cache and the operation.
    Cache,
    /// Coprocessor 0: register [`Op::register`], [`Op::select`] to x[rd], or x[rt] to it.
    Mfc0,
    Mtc0,
    Tlbr,
    Tlbwi,
    Tlbwr,
    Tlbp,
    Eret,
    Wait,
    /// Reserved instruction; `imm` is the encoding.
    Reserved,
    /// An instruction of coprocessor `imm` (1 to 3), which the core does not have.
    CopUnusable,
    /// Not an instruction: the end of a block.
    End,
}

impl Code {
    /// True for loads, and other operations with a result from memory.
    pub const fn is_load(self) -> bool {
        use Code::*;
        matches!(self, Lb | Lbu | Lh | Lhu | Lw | Lwl | Lwr | Ll | Sc)
    }

    /// True for loads and stores.
    pub const fn accesses_memory(self) -> bool {
        use Code::*;
        self.is_load() || matches!(self, Sb | Sh | Sw | Swl | Swr)
    }

    /// True for operations of the multiplier and divider.
    pub const fn uses_unit(self) -> bool {
        use Code::*;
        matches!(self, Mult | Multu | Madd | Maddu | Msub | Msubu | Mul | Div | Divu)
    }

    /// True for branches and jumps, which have a delay slot.
    pub const fn is_branch(self) -> bool {
        use Code::*;
        self.is_likely()
            || matches!(self, Beq | Bne | Blez | Bgtz | Bltz | Bgez | Bltzal | Bgezal | J | Jal | Jr | Jalr)
    }

    /// True for branches whose delay slot has no effect unless they are taken.
    pub const fn is_likely(self) -> bool {
        use Code::*;
        matches!(self, Beql | Bnel | Blezl | Bgtzl | Bltzl | Bgezl | Bltzall | Bgezall)
    }

    /// True for moves to and from coprocessor 0, and the TLB's instructions.
    pub const fn uses_coprocessor_0(self) -> bool {
        use Code::*;
        matches!(self, Mfc0 | Mtc0 | Tlbr | Tlbwi | Tlbwr | Tlbp)
    }

    /// True for operations that may change more than registers and memory: such an operation is the last of a block.
    pub const fn is_system(self) -> bool {
        use Code::*;
        self.uses_coprocessor_0()
            || matches!(self, Syscall | Break | Sdbbp | Sync | Cache | Eret | Wait | Reserved | CopUnusable)
    }
}

/// A decoded operation: 8 bytes, all fields extracted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Op {
    /// Its code.
    pub code: Code,
    /// Destination; SINK without a result.
    pub rd: u8,
    /// First operand; ZERO without one.
    pub rs: u8,
    /// Second operand; ZERO without one.
    pub rt: u8,
    /// Immediate, offset, target, or another value given by [`Code`].
    pub imm: i32,
}

impl Op {
    /// An operation that reads and writes no registers.
    pub const fn without_operands(code: Code) -> Op {
        Op { code, rd: SINK, rs: ZERO, rt: ZERO, imm: 0 }
    }

    /// The offset of pref and cache.
    pub const fn offset(self) -> i32 {
        self.imm as i16 as i32
    }

    /// The operation of cache, the hint of pref: 0 to 31.
    pub const fn operation(self) -> u8 {
        (self.imm >> 16) as u8
    }

    /// The coprocessor register of mfc0 and mtc0: 0 to 31.
    pub const fn register(self) -> u8 {
        (self.imm >> 3) as u8
    }

    /// Its select field: 0 to 7.
    pub const fn select(self) -> u8 {
        (self.imm & 7) as u8
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_operation_takes_eight_bytes() {
        assert_eq!(size_of::<Op>(), 8);
    }
}

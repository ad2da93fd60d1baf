//! The typed operation: an instruction after decoding.

/// Code of an operation, with the manual's names. Compressed instructions become the operations of their expansion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Code {
    // Unprivileged specification, chapter 2: RV32I. Immediates are sign-extended in `imm`.
    Add,
    Sub,
    Sll,
    Slt,
    Sltu,
    Xor,
    Srl,
    Sra,
    Or,
    And,
    Addi,
    Slti,
    Sltiu,
    Xori,
    Ori,
    Andi,
    /// Shift amount in `imm`, as in the next two.
    Slli,
    Srli,
    Srai,
    /// `imm` has the upper 20 bits, shifted.
    Lui,
    /// As Lui; relative to the instruction's own address.
    Auipc,
    Lb,
    Lh,
    Lw,
    Lbu,
    Lhu,
    Sb,
    Sh,
    Sw,
    /// `imm` is the offset to the target, as in all branches and Jal.
    Beq,
    Bne,
    Blt,
    Bge,
    Bltu,
    Bgeu,
    Jal,
    Jalr,
    Fence,
    FenceI,
    Ecall,
    Ebreak,
    // Chapter 13: M.
    Mul,
    Mulh,
    Mulhsu,
    Mulhu,
    Div,
    Divu,
    Rem,
    Remu,
    // Chapter 6: Zicsr. The CSR's number is in `imm`; in the three immediate forms `rs1` is the 5-bit immediate itself.
    Csrrw,
    Csrrs,
    Csrrc,
    Csrrwi,
    Csrrsi,
    Csrrci,
    // Privileged specification, chapter 3.
    Mret,
    Wfi,
    /// An undefined encoding; `imm` has it, for mtval.
    Illegal,
    // Operations that only the block builder makes.
    /// `rd = imm`: lui, and auipc with its address added.
    Li,
    /// No effect (fence, a result for x0): affects only timing.
    Nop,
    /// Not an instruction: fetches an instruction of `rd` bytes at the address `imm` past the cache.
    Fetch,
    /// Not an instruction: the block falls through to its end address.
    End,
}

/// A decoded operation: 8 bytes, all fields extracted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Op {
    /// Its code.
    pub code: Code,
    /// Destination register.
    pub rd: u8,
    /// First source register.
    pub rs1: u8,
    /// Second source register.
    pub rs2: u8,
    /// Immediate, sign-extended.
    pub imm: i32,
}

/// An operation with the length of its encoding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instr {
    /// Its operation.
    pub op: Op,
    /// 2 for a compressed instruction, else 4.
    pub len_bytes: u8,
}

/// Groups of operations that take the same time in every modelled core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TimingClass {
    /// Register and immediate arithmetic, lui, auipc, fences.
    Alu,
    /// Shifts, which take longer in cores without a barrel shifter.
    Shift,
    /// mul.
    Multiply,
    /// mulh, mulhsu, mulhu.
    MultiplyHigh,
    /// div, divu, rem, remu.
    Divide,
    /// Loads.
    Load,
    /// Stores.
    Store,
    /// Conditional branches.
    Branch,
    /// jal.
    Jump,
    /// jalr.
    IndirectJump,
    /// CSR accesses.
    Csr,
    /// ecall, ebreak, mret, wfi, fence.i, and undefined encodings.
    System,
}

impl Code {
    /// The timing class.
    pub const fn class(self) -> TimingClass {
        use Code::*;
        match self {
            Sll | Srl | Sra | Slli | Srli | Srai => TimingClass::Shift,
            Mul => TimingClass::Multiply,
            Mulh | Mulhsu | Mulhu => TimingClass::MultiplyHigh,
            Div | Divu | Rem | Remu => TimingClass::Divide,
            Lb | Lh | Lw | Lbu | Lhu => TimingClass::Load,
            Sb | Sh | Sw => TimingClass::Store,
            Beq | Bne | Blt | Bge | Bltu | Bgeu => TimingClass::Branch,
            Jal => TimingClass::Jump,
            Jalr => TimingClass::IndirectJump,
            Csrrw | Csrrs | Csrrc | Csrrwi | Csrrsi | Csrrci => TimingClass::Csr,
            FenceI | Ecall | Ebreak | Mret | Wfi | Illegal => TimingClass::System,
            _ => TimingClass::Alu,
        }
    }

    /// True if a block of straight-line code ends with it.
    pub const fn ends_block(self) -> bool {
        use TimingClass::*;
        matches!(self.class(), Branch | Jump | IndirectJump | Csr | System)
    }
}

impl Op {
    /// True if the operation reads integer register `register`.
    pub const fn reads(self, register: u8) -> bool {
        // Without such an operand, the decoder puts x0 there.
        let number = matches!(self.code, Code::Csrrwi | Code::Csrrsi | Code::Csrrci);
        register != 0 && (self.rs1 == register && !number || self.rs2 == register)
    }

    /// True if the operation writes `rd`.
    pub const fn writes_rd(self) -> bool {
        use Code::*;
        !matches!(self.code.class(), TimingClass::Store | TimingClass::Branch | TimingClass::System)
            && !matches!(self.code, Fence | Nop | Fetch | End)
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

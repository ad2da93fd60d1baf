//! The typed operation: what is left of an instruction once it is decoded.
//!
//! All operands are indices into the core's array of 256 registers, and every operation has them in the same places: it reads `x[rs]` and
//! `x[rt]` (0, the register that is zero, where it has no such operand) and writes `x[rd]` (SINK where it has no result). So nobody has to
//! ask an operation which of its fields mean something.

/// The register that reads as zero. Nothing writes there: results for it have SINK as their destination.
pub const ZERO: u8 = 0;
/// The register that holds the return address of jal, bltzal and bgezal.
pub const RA: u8 = 31;
/// Where results go that nobody reads.
pub const SINK: u8 = 32;
/// The high half of a product, or the remainder of a division.
pub const HI: u8 = 33;
/// The low half of a product, or the quotient of a division.
pub const LO: u8 = 34;

/// What an operation does, under the manual's names (MIPS32 Architecture for Programmers, volume II, release 1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Code {
    /// No effect: all arithmetic for register zero that raises no exception, ssnop too.
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
    /// x[rt] shifted by the low five bits of x[rs], as in the two that follow.
    Sllv,
    Srlv,
    Srav,
    /// x[rd] = x[rs] if x[rt] is 0, if it is not.
    Movz,
    Movn,
    // ---- With an immediate: in `imm`, extended as the manual says.
    Addi,
    Addiu,
    Slti,
    Sltiu,
    Andi,
    Ori,
    Xori,
    /// lui: `imm` has the value in place.
    Li,
    /// x[rt] shifted by `imm`, as in the two that follow.
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
    /// The low half into x[rd]. HI and LO, which the manual leaves open, stay.
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
    /// The part of x[rt] that is not loaded stays: `rd` is the same register (or SINK).
    Lwl,
    Lwr,
    Ll,
    Sb,
    Sh,
    Sw,
    Swl,
    Swr,
    /// Stores x[rt]; x[rd] (the same register, or SINK) says whether it did.
    Sc,
    // ---- Branches: to `imm`, an absolute address, after the instruction behind it (the delay slot).
    Beq,
    Bne,
    Blez,
    Bgtz,
    Bltz,
    Bgez,
    /// `rd` is RA, taken or not.
    Bltzal,
    Bgezal,
    /// The likely forms: without effect of the delay slot unless taken.
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
    /// At x[rs] + [`Op::offset`]; [`Op::operation`] says which cache and what.
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
    /// No instruction: the place of one that has not been decoded.
    Undecoded,
}

/// A decoded operation: 8 bytes, all fields extracted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Op {
    /// What to do.
    pub code: Code,
    /// Destination; SINK for none.
    pub rd: u8,
    /// First operand; ZERO for none.
    pub rs: u8,
    /// Second operand; ZERO for none.
    pub rt: u8,
    /// Immediate, offset, target, or what [`Code`] says.
    pub imm: i32,
}

/// Groups of operations that take the same time in a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TimingClass {
    /// Arithmetic, shifts, conditional moves, traps that do not happen, and what writes HI or LO from a register.
    Alu,
    /// mult, madd and their kin: into HI and LO.
    Multiply,
    /// mul: into a register.
    MultiplyRegister,
    /// div, divu: into HI and LO.
    Divide,
    /// mfhi, mflo.
    MoveFromHiLo,
    /// Loads; ll.
    Load,
    /// Stores; sc.
    Store,
    /// Conditional branches, likely ones too.
    Branch,
    /// j, jal.
    Jump,
    /// jr, jalr.
    IndirectJump,
    /// pref.
    Prefetch,
    /// cache.
    CacheMaintenance,
    /// sync.
    Barrier,
    /// mfc0, mtc0 and the TLB's instructions.
    Coprocessor,
    /// syscall, break, sdbbp, eret, and what raises an exception whatever it finds.
    Exception,
    /// wait.
    Wait,
}

impl Code {
    /// The timing class.
    pub const fn class(self) -> TimingClass {
        use Code::*;
        match self {
            Mult | Multu | Madd | Maddu | Msub | Msubu => TimingClass::Multiply,
            Mul => TimingClass::MultiplyRegister,
            Div | Divu => TimingClass::Divide,
            Mfhi | Mflo => TimingClass::MoveFromHiLo,
            Lb | Lbu | Lh | Lhu | Lw | Lwl | Lwr | Ll => TimingClass::Load,
            Sb | Sh | Sw | Swl | Swr | Sc => TimingClass::Store,
            Beq | Bne | Blez | Bgtz | Bltz | Bgez | Bltzal | Bgezal => TimingClass::Branch,
            Beql | Bnel | Blezl | Bgtzl | Bltzl | Bgezl | Bltzall | Bgezall => TimingClass::Branch,
            J | Jal => TimingClass::Jump,
            Jr | Jalr => TimingClass::IndirectJump,
            Pref => TimingClass::Prefetch,
            Cache => TimingClass::CacheMaintenance,
            Sync => TimingClass::Barrier,
            Mfc0 | Mtc0 | Tlbr | Tlbwi | Tlbwr | Tlbp => TimingClass::Coprocessor,
            Syscall | Break | Sdbbp | Eret | Reserved | CopUnusable => TimingClass::Exception,
            Wait => TimingClass::Wait,
            _ => TimingClass::Alu,
        }
    }

    /// True for branches and jumps: the instruction behind it is its delay slot.
    pub const fn has_delay_slot(self) -> bool {
        matches!(self.class(), TimingClass::Branch | TimingClass::Jump | TimingClass::IndirectJump)
    }

    /// True for branches that annul their delay slot if they are not taken.
    pub const fn is_likely(self) -> bool {
        use Code::*;
        matches!(self, Beql | Bnel | Blezl | Bgtzl | Bltzl | Bgezl | Bltzall | Bgezall)
    }
}

impl Op {
    /// The registers that it reads; ZERO where there is none. The accumulating multiplications read HI and LO beside them.
    #[inline(always)]
    pub const fn reads(self) -> (u8, u8) {
        (self.rs, self.rt)
    }

    /// The register that it writes, or SINK. Multiplications into LO and divisions write HI at the same time.
    #[inline(always)]
    pub const fn writes(self) -> u8 {
        self.rd
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

    /// Which of the registers with that number: 0 to 7.
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

//! Micro-operations, into which A32 and T32 instructions are decoded.
//!
//! An instruction becomes one micro-operation, or a few: a shifted operand is shifted first, an addressing mode with
//! write-back adds its offset afterwards, a load multiple becomes several loads. So each micro-operation is simple, and
//! there are few kinds of them. An instruction changes nothing that a fault within it would have to revert: write-back
//! comes last, and a loaded base register after all others.
//!
//! In what follows, `a` is `x[rn]`, `b` is `x[rm] + imm`; an immediate operand has `rm` = [`super::registers::ZERO`], a
//! register has `imm` = 0.

use super::registers::RegisterSet;

/// Code of a micro-operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Code {
    // ---- Arithmetic without flags: x[rd] = ...
    /// a & b.
    And,
    /// a ^ b.
    Eor,
    /// a - b.
    Sub,
    /// b - a.
    Rsb,
    /// a + b.
    Add,
    /// a + b + C.
    Adc,
    /// a - b - !C.
    Sbc,
    /// b - a - !C.
    Rsc,
    /// a | b.
    Orr,
    /// a | !b.
    Orn,
    /// a & !b.
    Bic,
    /// b.
    Mov,
    /// !b.
    Mvn,
    // ---- With flags. Logical ones set N and Z (C is set by the shift before them), the others N, Z, C and V.
    // Comparisons write to SINK.
    Ands,
    Eors,
    Subs,
    Rsbs,
    Adds,
    Adcs,
    Sbcs,
    Rscs,
    Orrs,
    Orns,
    Bics,
    Movs,
    Mvns,
    /// C = imm: the carry out of a rotated immediate.
    SetC,
    // ---- Shifts: x[rd] = x[rm] shifted by imm (Lsl 0 to 31, Lsr and Asr 1 to 32, Ror 1 to 31), or by the low byte of
    // x[rn]. With the s: C is the carry out (unchanged for a shift by register of 0).
    LslImm,
    LsrImm,
    AsrImm,
    RorImm,
    /// Rotated right through C by one.
    Rrx,
    LslReg,
    LsrReg,
    AsrReg,
    RorReg,
    LslImms,
    LsrImms,
    AsrImms,
    RorImms,
    Rrxs,
    LslRegs,
    LsrRegs,
    AsrRegs,
    RorRegs,
    // ---- Further arithmetic.
    /// x[rd] = imm << 16 | low half of x[rd].
    Movt,
    /// Low half: a * b.
    Mul,
    /// x[ra] + a * b.
    Mla,
    /// x[ra] - a * b.
    Mls,
    /// N and Z from x[rm].
    TestNz,
    /// N and Z from the 64 bits x[rm] (low), x[rn] (high).
    TestNz64,
    /// x[rd] (low), x[ra] (high) = a * b, unsigned. The next operations use the same registers.
    Umull,
    /// Adds to their value.
    Umlal,
    /// a * b + x[rd] + x[ra].
    Umaal,
    /// Signed.
    Smull,
    /// Signed; adds to their value.
    Smlal,
    /// a / b, signed; 0 for a division by 0.
    Sdiv,
    /// a / b, unsigned; 0 for a division by 0.
    Udiv,
    /// Number of leading zeroes of b.
    Clz,
    /// b with its bits in reverse order.
    Rbit,
    /// b with its bytes in reverse order.
    Rev,
    /// b with the bytes of each half in reverse order.
    Rev16,
    /// The low half of b with its bytes in reverse order, sign-extended.
    Revsh,
    /// The low byte of b, sign-extended; the next three are analogous.
    Sxtb,
    Sxth,
    Uxtb,
    Uxth,
    /// Bits of x[rm] from bit `imm & 31` on, `imm >> 8` of them, sign-extended.
    Sbfx,
    /// As Sbfx, zero-extended.
    Ubfx,
    /// The low `imm >> 8` bits of x[rm] into those of x[rd] from bit `imm & 31` on. Bfc has ZERO there.
    Bfi,
    /// The rare media instructions: `imm` has the [`Media`].
    Media,
    // ---- Memory: the address is x[rn] + x[rm] + imm. `ra` has the flags of
    // [`crate::cpu::memory_system::access::how`] ("how").
    /// x[rd] = the word at the address; shorter values are extended according to their names.
    Ldr,
    Ldrb,
    Ldrh,
    Ldrsb,
    Ldrsh,
    /// Stores the word x[rd]; shorter ones store its low part.
    Str,
    Strb,
    Strh,
    /// Announces the accesses of a load or store multiple, which follow: `imm & 0xff` words from address x[rn] + (imm
    /// >> 8, signed) up. `ra` as for them, with how::STORE. The memory may make one transfer of them.
    Multiple,
    /// Exclusive load; `imm` 1, 2, 4 or 8 bytes at x[rn] (8: into x[rd] and x[ra]; here `ra` has no flags).
    Ldrex,
    /// Exclusive store of `imm` bytes of x[rm] (and x[ra]) at x[rn]; x[rd] = 0 if it was done, else 1.
    Strex,
    /// Clears the exclusive monitor.
    Clrex,
    /// A system instruction that ends no block: `imm` has the [`super::in_block::InBlock`].
    InBlock,
    /// Before a division by x[rm]: an exception if that is 0.
    TrapIfZero,
    /// Before a division of x[rn] by x[rm], which is signed if `imm` is 1: it takes less time than the longest one.
    EndEarly,
    /// Before an access of memory on an idle bus, at x[rn] + x[rm] + imm: a bus matrix may have to grant the port.
    Grant,
    /// The same before a store of one register, which waits for the port in the write buffer: only an access right
    /// after it waits with it.
    AskForGrant,
    /// Before an instruction that may not run, with an AskForGrant: clears the wait.
    AskForNone,
    /// Before an access right after such a store: it waits until the store has the port.
    AwaitGrant,
    /// Before a load at x[rn] + x[rm] + imm that the next instruction may overlap: remembers its memory.
    LoadedMemory,
    /// Before a load or store there that overlaps a load: if it is of another memory, it waits for `ra` cycles.
    OtherMemory,
    /// Swp, Swpb: x[rd] = memory at x[rn], which is set to x[rm]; `imm` 1 or 4 bytes.
    Swap,
    /// Load and store of a word with `rd` a register of User mode.
    LdrUser,
    StrUser,
    /// The word at the address into VFP register word `rd` (S0 to S31 are 0 to 31, D16 to D31 are 32 to 63), and back.
    Vldr,
    Vstr,
    // ---- Jumps. All but SkipUnless end a block.
    /// If condition `rd` does not hold, continues after the next `imm` micro-operations, which belong to the same
    /// instruction.
    SkipUnless,
    /// To `imm`; its bit 0 is the T bit.
    Jump,
    /// To `imm` (bit 0: T) if condition `rd` holds.
    JumpIf,
    /// To `imm` (bit 0: T) if x[rn] is 0, if it is not.
    JumpIfZero,
    JumpIfNotZero,
    /// To x[rm]: bit 0 becomes T (interworking). A target with the low bits 10 is unpredictable.
    JumpTo,
    /// To x[rm], in the same instruction set.
    JumpToSame,
    // ---- VFP: `imm` has the encoding (condition 1110, as in A32). `rd`, `rn`, `rm` are free. Moves between the
    // register files have the general registers in `rd` and `ra`, and so does vmrs from FPSCR: with PC it goes to the
    // flags.
    Vfp,
    // ---- System. All of them end a block.
    /// Software interrupt `imm`.
    Svc,
    /// Secure monitor call.
    Smc,
    Bkpt,
    /// An undefined encoding, in `imm` (T32: first halfword on top).
    Undefined,
    /// x[rd] = CPSR, or SPSR if `imm` is 1. M profile: the special register with number `imm`.
    Mrs,
    /// CPSR, or SPSR if `imm >> 8` is 1, from b's bits under the field mask `ra` (c 1, x 2, s 4, f 8); the operand is
    /// x[rm] for a register, else it has been moved to [`super::registers::OPERAND`]. M profile: the special register
    /// with number `imm`; of the field mask, f is the flags, and s GE.
    Msr,
    /// Changes A, I, F (M profile: PRIMASK is I, FAULTMASK F) and the mode: `imm` has `mode` (bits 4:0), 1 << 5 if the
    /// mode changes, F 1 << 6, I 1 << 7, A 1 << 8, 1 << 9 to set (disable), 1 << 10 to clear them.
    Cps,
    /// Data endianness `imm`.
    Setend,
    /// Coprocessor registers of cp14 and cp15: `imm` = the encoding's fields coproc (bits 3:0), opc1 (7:4), crn (11:8),
    /// crm (15:12), opc2 (19:16); x[rd] moves. Mrc to register 15 sets the flags: `rd` is then PC.
    Mrc,
    Mcr,
    /// As above with opc1 and crm; x[rd] and x[ra].
    Mrrc,
    Mcrr,
    /// x[rd] = a VFP system register other than FPSCR, and back (vmrs, vmsr): number in `imm`.
    Vmrs,
    Vmsr,
    Wfi,
    Wfe,
    Sev,
    /// Yield, debug hints.
    Hint,
    Dsb,
    Dmb,
    Isb,
    /// Preloads: at x[rn] + x[rm] + imm. They end no block.
    Pld,
    /// Return from an exception: CPSR from SPSR, then to x[rm].
    ExceptionReturn,
    /// Rfe: the words at x[rn] + imm are pc and CPSR. Write-back: x[ra] += rd as i8 (ra = SINK for none).
    Rfe,
    /// Srs: LR and SPSR of the current mode to the words at `imm >> 8` (signed) + SP of the mode `imm & 31`.
    /// Write-back: that SP += rd as i8.
    Srs,
    // ---- Micro-operations that only the block builder makes.
    /// Before an instruction that no cache holds: fetches `rd` bytes at address `imm`.
    Fetch,
    /// Before a block of lines that no cache keeps: fetches the lines of its `rd` bytes at address `imm`.
    FetchLines,
    /// The block falls through to its end address.
    End,
}

/// A micro-operation: 12 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Op {
    /// Its code.
    pub code: Code,
    /// Destination, or the stored register.
    pub rd: u8,
    /// First operand.
    pub rn: u8,
    /// Second operand.
    pub rm: u8,
    /// A third one, or flags.
    pub ra: u8,
    /// Immediate.
    pub imm: u32,
}

impl Op {
    /// The encoding of vmrs or vmsr, restored for messages.
    pub fn vfp_system_encoding(&self) -> u32 {
        let read = u32::from(self.code == Code::Vmrs) << 20;
        0xeee0_0a10 | read | self.imm << 16 | u32::from(self.rd & 15) << 12
    }
}

/// Operation of [`Code::Media`] with a = x[rn], b = x[rm] (and c = x[ra]); it is in the low 8 bits of `imm`, with
/// parameters above.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
#[allow(missing_docs)]
pub enum Media {
    /// Saturating: Q is set. a and b as the manual's Rn and Rm: qadd is Rm + Rn.
    Qadd,
    Qsub,
    Qdadd,
    Qdsub,
    /// x[rm], shifted already, saturated to `imm >> 8` bits (1 to 32; usat 0 to 31).
    Ssat,
    Usat,
    Ssat16,
    Usat16,
    /// Parallel arithmetic: `imm >> 8 & 7` is the kind (0 s, 1 q, 2 sh, 3 u, 4 uq, 5 uh), `imm >> 12 & 7` the operation
    /// (0 add16, 1 asx, 2 sax, 3 sub16, 4 add8, 5 sub8).
    Parallel,
    /// Bytes of a where GE is set, of b elsewhere.
    Sel,
    /// Sum of absolute differences, plus c (ZERO for usad8).
    Usada8,
    /// Halves, from bytes 0 and 2 of x[rm] (rotated already), plus the halves of a (ZERO for sxtb16).
    Sxtab16,
    Uxtab16,
    /// 16 x 16: `imm >> 8 & 1` takes the top half of a, `imm >> 9 & 1` of b; plus c, with Q on overflow (ZERO for
    /// smulxy).
    Smlaxy,
    /// 32 x 16 (bit 9 as above), the top 32 of 48; plus c, with Q (ZERO for smulwy).
    Smlawy,
    /// x[rd] (low), x[ra] (high) += 16 x 16 as above.
    Smlalxy,
    /// Both products of halves, added; plus c with Q. `imm >> 8 & 1`: b's halves are swapped (x).
    Smlad,
    /// The first minus the second.
    Smlsd,
    /// As Smlad, x[rd], x[ra] += 64-bit; and the difference.
    Smlald,
    Smlsld,
    /// c + top 32 bits of a * b; `imm >> 8 & 1`: rounded. smmul has c ZERO.
    Smmla,
    /// c - top 32 bits of a * b.
    Smmls,
    /// a's low half with b's high half (b is shifted already), and the opposite.
    Pkhbt,
    Pkhtb,
}

impl Media {
    /// All of them, in the order of their numbers.
    #[rustfmt::skip]
    const ALL: [Media; 24] = [
        Media::Qadd, Media::Qsub, Media::Qdadd, Media::Qdsub, Media::Ssat, Media::Usat, Media::Ssat16, Media::Usat16,
        Media::Parallel, Media::Sel, Media::Usada8, Media::Sxtab16, Media::Uxtab16, Media::Smlaxy, Media::Smlawy,
        Media::Smlalxy, Media::Smlad, Media::Smlsd, Media::Smlald, Media::Smlsld, Media::Smmla, Media::Smmls,
        Media::Pkhbt, Media::Pkhtb,
    ];

    /// The operation in an immediate of [`Code::Media`].
    pub const fn of(imm: u32) -> Media {
        Media::ALL[(imm & 0xff) as usize]
    }

    /// Timing class of its instruction.
    pub const fn class(self) -> TimingClass {
        use Media::*;
        match self {
            Smlaxy | Smlawy | Smlad | Smlsd | Smmla | Smmls => TimingClass::Multiply,
            Smlalxy | Smlald | Smlsld => TimingClass::MultiplyLong,
            _ => TimingClass::Media,
        }
    }
}

/// Groups of instructions that take the same time in a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[allow(missing_docs)]
pub enum TimingClass {
    /// Data processing with an immediate or a register, moves, extensions, bit fields.
    Alu,
    /// With a register shifted by an immediate.
    AluShift,
    /// With a register shifted by a register.
    AluShiftRegister,
    /// Saturating and parallel arithmetic, sel, usad8.
    Media,
    /// mul and other 16 or 32-bit products.
    Multiply,
    /// 64-bit products.
    MultiplyLong,
    /// sdiv, udiv.
    Divide,
    /// A load of one register.
    Load,
    /// ldrd, ldm, pop: see [`Instr::words`].
    LoadMultiple,
    /// A store of one register.
    Store,
    /// strd, stm, push.
    StoreMultiple,
    /// it.
    IfThen,
    /// b, bl, blx to an immediate, cbz.
    Branch,
    /// bx, blx, and other writes to the program counter, loads included (they count [`Instr::words`], too).
    IndirectBranch,
    /// tbb, tbh.
    TableBranch,
    /// mrs, msr, cps, setend.
    Status,
    /// cp14, cp15.
    Coprocessor,
    /// dsb, dmb.
    Barrier,
    /// isb.
    InstructionBarrier,
    /// svc, exception returns, undefined.
    Exception,
    /// wfi, wfe, sev, hints, pld, clrex.
    Hint,
    /// ldrex, strex, swp.
    Exclusive,
    /// VFP moves, abs, neg, vmrs, vmsr.
    VfpMove,
    /// VFP moves of two general registers.
    VfpMoveTwo,
    /// VFP add, sub, compare, conversions.
    VfpAdd,
    /// VFP multiply.
    VfpMultiply,
    /// VFP multiply-accumulate, fused or not.
    VfpMultiplyAdd,
    /// VFP divide and square root: single, double.
    VfpDivide32,
    VfpDivide64,
    /// VFP loads: see [`Instr::words`].
    VfpLoad,
    VfpStore,
}

/// Properties of an instruction beside its micro-operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Instr {
    /// 2 or 4.
    pub len_bytes: u8,
    /// Its timing class.
    pub class: TimingClass,
    /// General registers (and flags) that it reads.
    pub reads: RegisterSet,
    /// Those of them that it needs early: bases of addresses, shifted registers.
    pub reads_early: RegisterSet,
    /// General registers (and flags) that it writes.
    pub writes: RegisterSet,
    /// Words that it moves between memory and registers.
    pub words: u8,
    /// It can jump, or always ends a block.
    pub ends_block: bool,
}

/// Properties of the core that a decoder depends on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Features {
    /// sdiv and udiv.
    pub divide: bool,
    /// VFPv4.
    pub vfp: bool,
    /// 32 double registers, not 16.
    pub vfp_d32: bool,
    /// ARMv7-M: no A32, other system instructions, VFP only in single precision.
    pub m_profile: bool,
    /// A division by 0 is an exception.
    pub traps_division: bool,
    /// The time of a division depends on its operands.
    pub ends_division_early: bool,
}

//! Properties of an instruction, computed from its micro-operations.

use super::in_block;
use super::op::{Code, Instr, Media, Op, TimingClass};
use super::registers::{ADDRESS, FLAGS, LR, PC, RegisterSet, SP, one};

/// The summary of an instruction that became `ops`.
pub fn instr(len_bytes: u8, class: TimingClass, ops: &[Op]) -> Instr {
    let mut instr =
        Instr { len_bytes, class, reads: 0, reads_early: 0, writes: 0, words: 0, ends_block: ops.iter().any(ends) };
    for op in ops {
        let mut used = Used::of(op);
        if op.rd == ADDRESS {
            used.early |= used.late;
        }
        // Values made by earlier micro-operations of the same instruction are not its operands.
        instr.reads |= (used.early | used.late) & !instr.writes;
        instr.reads_early |= used.early & !instr.writes;
        instr.writes |= used.writes;
        instr.words += words(op);
    }
    instr
}

/// True if `op` ends its block.
fn ends(op: &Op) -> bool {
    op.code >= Code::Jump && !matches!(op.code, Code::Vfp | Code::Pld)
}

/// Words that `op` moves between memory and registers.
fn words(op: &Op) -> u8 {
    match op.code {
        Code::Ldr | Code::Ldrb | Code::Ldrh | Code::Ldrsb | Code::Ldrsh | Code::Str | Code::Strb | Code::Strh => 1,
        Code::LdrUser | Code::StrUser | Code::Vldr | Code::Vstr | Code::Swap => 1,
        Code::Ldrex | Code::Strex => 1 + u8::from(op.imm == 8),
        Code::Rfe | Code::Srs => 2,
        _ => 0,
    }
}

/// Registers that one micro-operation reads, early or not, and writes.
struct Used {
    early: RegisterSet,
    late: RegisterSet,
    writes: RegisterSet,
}

impl Used {
    const fn new(early: RegisterSet, late: RegisterSet, writes: RegisterSet) -> Self {
        Self { early, late, writes }
    }

    fn of(op: &Op) -> Self {
        use Code::*;
        let (rd, rn, rm, ra) = (one(op.rd), one(op.rn), one(op.rm), one(op.ra));
        match op.code {
            And | Eor | Sub | Rsb | Add | Orr | Orn | Bic | Mul | Sdiv | Udiv => Self::new(0, rn | rm, rd),
            Adc | Sbc | Rsc => Self::new(0, rn | rm | FLAGS, rd),
            Ands | Eors | Subs | Rsbs | Adds | Orrs | Orns | Bics => Self::new(0, rn | rm, rd | FLAGS),
            Adcs | Sbcs | Rscs => Self::new(0, rn | rm | FLAGS, rd | FLAGS),
            Mov | Mvn | Clz | Rbit | Rev | Rev16 | Revsh | Sxtb | Sxth | Uxtb | Uxth | Sbfx | Ubfx => {
                Self::new(0, rm, rd)
            }
            Movs | Mvns => Self::new(0, rm, rd | FLAGS),
            SetC => Self::new(0, 0, FLAGS),
            LslImm | LsrImm | AsrImm | RorImm => Self::new(rm, 0, rd),
            LslImms | LsrImms | AsrImms | RorImms => Self::new(rm, 0, rd | FLAGS),
            Rrx => Self::new(rm, FLAGS, rd),
            Rrxs => Self::new(rm, FLAGS, rd | FLAGS),
            LslReg | LsrReg | AsrReg | RorReg => Self::new(rm | rn, 0, rd),
            LslRegs | LsrRegs | AsrRegs | RorRegs => Self::new(rm | rn, 0, rd | FLAGS),
            Movt => Self::new(0, rd, rd),
            Bfi => Self::new(0, rm | rd, rd),
            Mla | Mls => Self::new(0, rn | rm | ra, rd),
            TestNz => Self::new(0, rm, FLAGS),
            TestNz64 => Self::new(0, rm | rn, FLAGS),
            Umull | Smull => Self::new(0, rn | rm, rd | ra),
            Umlal | Umaal | Smlal => Self::new(0, rn | rm | rd | ra, rd | ra),
            Media => Self::of_media(op),
            Ldr | Ldrb | Ldrh | Ldrsb | Ldrsh => Self::new(rn | rm, 0, rd),
            Str | Strb | Strh | StrUser => Self::new(rn | rm, rd, 0),
            LdrUser => Self::new(rn | rm, 0, rd),
            Multiple => Self::new(rn, 0, 0),
            Vldr | Vstr | Pld => Self::new(rn | rm, 0, 0),
            Ldrex => Self::new(rn, 0, if op.imm == 8 { rd | ra } else { rd }),
            Strex => Self::new(rn, if op.imm == 8 { rm | ra } else { rm }, rd),
            TrapIfZero => Self::new(0, rm, 0),
            EndEarly => Self::new(0, rn | rm, 0),
            Grant | AskForGrant | LoadedMemory | OtherMemory => Self::new(rn | rm, 0, 0),
            AskForNone | AwaitGrant => Self::new(0, 0, 0),
            Swap => Self::new(rn, rm, rd),
            SkipUnless | JumpIf => Self::new(0, if op.rd < 14 { FLAGS } else { 0 }, 0),
            JumpIfZero | JumpIfNotZero => Self::new(0, rn, 0),
            JumpTo | JumpToSame => Self::new(0, rm, 0),
            Vfp => Self::of_vfp(op),
            InBlock => {
                Self::new(0, if in_block::InBlock::of(op.imm) == in_block::InBlock::Status { FLAGS } else { 0 }, rd)
            }
            Mrs => Self::new(0, FLAGS, rd),
            Msr => Self::new(0, rm, if op.ra & 0xc != 0 { FLAGS } else { 0 }),
            Mrc | Vmrs => Self::new(0, 0, if op.rd == PC { FLAGS } else { rd }),
            Mcr | Vmsr => Self::new(0, rd, 0),
            Mrrc => Self::new(0, 0, rd | ra),
            Mcrr => Self::new(0, rd | ra, 0),
            ExceptionReturn => Self::new(0, rm, FLAGS),
            Rfe => Self::new(rn, 0, ra | FLAGS),
            Srs => Self::new(one(SP), one(LR), one(SP)),
            Clrex | Jump | Svc | Smc | Bkpt | Undefined | Cps | Setend | Wfi | Wfe | Sev | Hint | Dsb | Dmb | Isb
            | End | Fetch | FetchLines => Self::new(0, 0, 0),
        }
    }

    fn of_media(op: &Op) -> Self {
        use Media::*;
        let (rd, rn, rm, ra) = (one(op.rd), one(op.rn), one(op.rm), one(op.ra));
        match Media::of(op.imm) {
            Smlalxy | Smlald | Smlsld => Self::new(0, rn | rm | rd | ra, rd | ra),
            // The kinds s and u set GE.
            Parallel => Self::new(0, rn | rm, if matches!(op.imm >> 8 & 7, 0 | 3) { rd | FLAGS } else { rd }),
            Sel => Self::new(0, rn | rm | FLAGS, rd),
            Usada8 | Smlaxy | Smlawy | Smlad | Smlsd | Smmla | Smmls => Self::new(0, rn | rm | ra, rd),
            Ssat | Usat | Ssat16 | Usat16 => Self::new(0, rm, rd),
            Qadd | Qsub | Qdadd | Qdsub | Sxtab16 | Uxtab16 | Pkhbt | Pkhtb => Self::new(0, rn | rm, rd),
        }
    }

    /// Moves between the register files: bit 20 is the direction.
    fn of_vfp(op: &Op) -> Self {
        let general = if op.imm & 0x0f00_0010 == 0x0e00_0010 {
            if op.rd == PC { FLAGS } else { one(op.rd) }
        } else if op.imm & 0x0fe0_0000 == 0x0c40_0000 {
            one(op.rd) | one(op.ra)
        } else {
            0
        };
        if op.imm & 1 << 20 != 0 { Self::new(0, 0, general) } else { Self::new(0, general, 0) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::arm::registers::{OPERAND, ZERO};

    fn op(code: Code, rd: u8, rn: u8, rm: u8, imm: u32) -> Op {
        Op { code, rd, rn, rm, ra: 0, imm }
    }

    #[test]
    fn an_operand_made_on_the_way_is_not_read() {
        // add r0, r1, r2 lsl 3
        let ops = [op(Code::LslImm, OPERAND, 0, 2, 3), op(Code::Add, 0, 1, OPERAND, 0)];
        let made = instr(4, TimingClass::AluShift, &ops);
        assert_eq!((made.reads, made.reads_early, made.writes), (0b110, 0b100, 0b1));
        // muls r1, r0, r1
        let ops = [op(Code::Mul, 1, 0, 1, 0), op(Code::TestNz, 0, 0, 1, 0)];
        assert_eq!(instr(2, TimingClass::Multiply, &ops).reads, 0b11);
        let ops = [op(Code::LslImm, 1, 0, 0, 1), op(Code::TestNz, 0, 0, 1, 0)];
        let made = instr(2, TimingClass::AluShift, &ops);
        assert_eq!((made.reads, made.writes), (1, 0b10 | FLAGS));
    }

    #[test]
    fn bases_are_early_and_stored_registers_late() {
        let ops = [op(Code::Str, 3, 4, 5, 0), op(Code::Add, 4, 4, ZERO, 8)];
        let made = instr(4, TimingClass::Store, &ops);
        assert_eq!((made.reads, made.reads_early, made.writes, made.words), (0b11_1000, 0b11_0000, 0b1_0000, 1));
        let ops = [op(Code::Add, ADDRESS, 4, ZERO, 8), op(Code::Ldrex, 1, ADDRESS, 0, 4)];
        assert_eq!(instr(4, TimingClass::Exclusive, &ops).reads_early, 0b1_0000);
    }

    #[test]
    fn jumps_and_system_instructions_end_a_block() {
        let ends = |code| instr(4, TimingClass::Alu, &[op(code, 0, 0, 0, 0)]).ends_block;
        assert!([Code::Jump, Code::JumpToSame, Code::Svc, Code::Undefined, Code::Rfe].into_iter().all(ends));
        assert!(![Code::Add, Code::SkipUnless, Code::Vfp, Code::Pld, Code::Clrex].into_iter().any(ends));
    }

    #[test]
    fn vfp_moves_name_general_registers() {
        let vmov = |imm| instr(4, TimingClass::VfpMove, &[Op { code: Code::Vfp, rd: 1, rn: 0, rm: 0, ra: 2, imm }]);
        // vmov s0, r1; vmov r1, s0; vmov r1, r2, d0; vadd
        assert_eq!((vmov(0xee00_1a10).reads, vmov(0xee00_1a10).writes), (0b10, 0));
        assert_eq!((vmov(0xee10_1a10).reads, vmov(0xee10_1a10).writes), (0, 0b10));
        assert_eq!(vmov(0xec52_1b10).writes, 0b110);
        assert_eq!((vmov(0xee30_0a20).reads, vmov(0xee30_0a20).writes), (0, 0));
        // vmrs apsr_nzcv, fpscr
        let vmrs = Op { code: Code::Vfp, rd: PC, rn: 0, rm: 0, ra: 0, imm: 0xeef1_fa10 };
        assert_eq!(instr(4, TimingClass::VfpMove, &[vmrs]).writes, FLAGS);
    }
}

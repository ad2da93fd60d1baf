//! Functions with which decoders append micro-operations, and instructions that both instruction sets share.

use super::in_block::InBlock;
use super::op::{Code, Features, Media, Op, TimingClass};
use super::registers::{LR, OPERAND, PC, PC_VALUE, RESULT, SINK, ZERO};
use crate::cpu::memory_system::access::how;

/// The micro-operations of an instruction that is being decoded. A decoding function returns `None` for an undefined
/// encoding; the operations that it has appended are then dropped.
#[derive(Debug)]
pub struct Emit<'a> {
    /// List to which they are appended.
    pub ops: &'a mut Vec<Op>,
    /// Value of the program counter: the instruction's address plus 8 (A32) or 4 (T32).
    pub pc_value: u32,
    /// Features of the core.
    pub features: Features,
}

impl Emit<'_> {
    /// Appends a micro-operation without `ra`.
    pub fn op(&mut self, code: Code, rd: u8, rn: u8, rm: u8, imm: u32) {
        self.op4(code, rd, rn, rm, 0, imm);
    }

    /// Appends a micro-operation.
    pub fn op4(&mut self, code: Code, rd: u8, rn: u8, rm: u8, ra: u8, imm: u32) {
        self.ops.push(Op { code, rd, rn, rm, ra, imm });
    }

    /// A micro-operation with only an immediate.
    pub fn imm(&mut self, code: Code, imm: u32) {
        self.op(code, 0, 0, ZERO, imm);
    }

    /// A move of a constant.
    pub fn constant(&mut self, rd: u8, value: u32) {
        self.op(Code::Mov, rd, ZERO, ZERO, value);
    }

    /// An instruction without effect.
    pub fn nothing(&mut self) {
        self.constant(SINK, 0);
    }

    /// The register to read for an encoding's `register`: for the program counter, one that gets its value.
    pub fn read(&mut self, register: u8) -> u8 {
        if register != PC {
            return register;
        }
        self.constant(PC_VALUE, self.pc_value);
        PC_VALUE
    }

    /// The base of addresses relative to the program counter.
    pub fn aligned_pc(&self) -> u32 {
        self.pc_value & !3
    }

    /// Sets N and Z by `rd`, if the instruction sets flags; C has been set.
    pub fn test(&mut self, flags: bool, rd: u8) {
        if flags {
            self.op(Code::TestNz, 0, 0, rd, 0);
        }
    }

    // ---- Jumps

    /// A jump to the address in a register, which may change the instruction set.
    pub fn jump_to(&mut self, rm: u8) -> TimingClass {
        self.op(Code::JumpTo, 0, 0, rm, 0);
        TimingClass::IndirectBranch
    }

    /// blx to a register, which may be LR; the return address is `return_to`.
    pub fn call(&mut self, rm: u8, return_to: u32) -> Option<TimingClass> {
        not_pc(&[rm])?;
        let target = if rm == LR { RESULT } else { rm };
        if rm == LR {
            self.op(Code::Mov, RESULT, 0, LR, 0);
        }
        self.constant(LR, return_to);
        Some(self.jump_to(target))
    }

    /// The return from an exception to the address in a register.
    pub fn exception_return(&mut self, rm: u8) -> TimingClass {
        self.op(Code::ExceptionReturn, 0, 0, rm, 0);
        TimingClass::Exception
    }

    // ---- Memory

    /// Announces a transfer of `words` from x[base] + `offset` up, if it is more than one word; returns the flags of
    /// the accesses.
    pub fn announce(&mut self, base: u8, offset: u32, words: u32, is_load: bool) -> u8 {
        if words == 1 {
            return how::ALIGNED;
        }
        let direction = if is_load { 0 } else { how::STORE };
        self.op4(Code::Multiple, 0, base, ZERO, how::ALIGNED | direction, words | offset << 8);
        how::ALIGNED | how::REPORTED
    }

    // ---- Shifts, saturation, extension, bit fields

    /// A shift of `rm` into `rd` by an immediate, as encoded; with `carry`, C is the carry out.
    pub fn shift(&mut self, carry: bool, rd: u8, rm: u8, kind: u32, imm5: u32) {
        let (plain, with_carry, amount) = immediate_shift(kind, imm5);
        self.op(if carry { with_carry } else { plain }, rd, 0, rm, amount);
    }

    /// A shift of `rm` into `rd` by the low byte of `rs`; with `carry`, C is the carry out.
    pub fn shift_by_register(&mut self, carry: bool, rd: u8, rm: u8, kind: u32, rs: u8) {
        let (plain, with_carry) = match kind {
            0 => (Code::LslReg, Code::LslRegs),
            1 => (Code::LsrReg, Code::LsrRegs),
            2 => (Code::AsrReg, Code::AsrRegs),
            _ => (Code::RorReg, Code::RorRegs),
        };
        self.op(if carry { with_carry } else { plain }, rd, rs, rm, 0);
    }

    /// The register that has `rm` shifted by an immediate: `rm` itself for no shift.
    pub fn shifted(&mut self, carry: bool, rm: u8, kind: u32, imm5: u32) -> u8 {
        if (kind, imm5) == (0, 0) {
            return rm;
        }
        self.shift(carry, OPERAND, rm, kind, imm5);
        OPERAND
    }

    /// A media micro-operation; `parameters` are those above the low 8 bits of its immediate.
    pub fn media(&mut self, media: Media, [rd, rn, rm, ra]: [u8; 4], parameters: u32) -> TimingClass {
        self.op4(Code::Media, rd, rn, rm, ra, media as u32 | parameters << 8);
        media.class()
    }

    /// ssat, usat and the forms for halves; `field` is as encoded, which is the number of bits minus 1 for the signed
    /// ones.
    pub fn saturate(&mut self, media: Media, rd: u8, rm: u8, field: u32) -> TimingClass {
        let is_signed = matches!(media, Media::Ssat | Media::Ssat16);
        self.media(media, [rd, 0, rm, 0], field + u32::from(is_signed))
    }

    /// sxtb and similar extensions of `rm`, rotated; those that add have a first operand, which is the program counter
    /// otherwise.
    pub fn extend(&mut self, code: Code, [rd, rn, rm]: [u8; 3], rotation: u32) -> TimingClass {
        let operand = self.rotated(rm, rotation);
        if rn == PC {
            self.op(code, rd, 0, operand, 0);
            return if rotation == 0 { TimingClass::Alu } else { TimingClass::AluShift };
        }
        self.op(code, OPERAND, 0, operand, 0);
        self.op(Code::Add, rd, rn, OPERAND, 0);
        TimingClass::AluShift
    }

    /// sxtb16 and uxtb16, with the same operands.
    pub fn extend_halves(&mut self, media: Media, [rd, rn, rm]: [u8; 3], rotation: u32) -> TimingClass {
        let operand = self.rotated(rm, rotation);
        self.media(media, [rd, or_zero(rn), operand, 0], 0)
    }

    fn rotated(&mut self, rm: u8, rotation: u32) -> u8 {
        if rotation == 0 {
            return rm;
        }
        self.op(Code::RorImm, OPERAND, 0, rm, rotation);
        OPERAND
    }

    /// sbfx, ubfx: `width` bits from `low` on.
    pub fn extract(&mut self, code: Code, rd: u8, rn: u8, low: u32, width: u32) -> Option<TimingClass> {
        not_pc(&[rn])?;
        only_if(low + width <= 32)?;
        self.op(code, rd, 0, rn, low | width << 8);
        Some(TimingClass::Alu)
    }

    /// bfi, bfc: bits `low` to `high`. The program counter stands for zeros.
    pub fn insert(&mut self, rd: u8, rn: u8, low: u32, high: u32) -> Option<TimingClass> {
        only_if(low <= high)?;
        self.op(Code::Bfi, rd, 0, or_zero(rn), low | (high + 1 - low) << 8);
        Some(TimingClass::Alu)
    }

    // ---- System

    /// Hints: unallocated ones do nothing.
    pub fn hint(&mut self, operation: u32) -> TimingClass {
        match operation {
            1 | 0xf0.. => self.imm(Code::Hint, 0),
            2 => self.imm(Code::Wfe, 0),
            3 => self.imm(Code::Wfi, 0),
            4 => self.imm(Code::Sev, 0),
            _ => self.nothing(),
        }
        TimingClass::Hint
    }

    /// dsb, dmb, isb by bits 7:4; and clrex, if `clears`.
    pub fn barrier(&mut self, encoding: u32, clears: bool) -> Option<TimingClass> {
        let (code, class) = match bits(encoding, 7, 4) {
            _ if clears => (Code::Clrex, TimingClass::Hint),
            4 => (Code::Dsb, TimingClass::Barrier),
            // Later accesses wait by themselves for earlier ones, where that is required.
            5 if !self.features.m_profile => {
                self.op(Code::Pld, 0, ZERO, ZERO, 0);
                return Some(TimingClass::Barrier);
            }
            5 => (Code::Dmb, TimingClass::Barrier),
            6 => (Code::Isb, TimingClass::InstructionBarrier),
            _ => return None,
        };
        self.imm(code, 0);
        Some(class)
    }

    /// A system instruction of the application profile that ends no block, with its register.
    pub fn in_block(&mut self, rd: u8, what: InBlock) {
        self.op(Code::InBlock, rd, ZERO, ZERO, what.imm());
    }

    /// cps: `imm` is that of [`Code::Cps`].
    pub fn change_state(&mut self, imm: u32) -> TimingClass {
        let only_sets_masks = imm & !(7 << 6) == 1 << 9;
        if only_sets_masks && !self.features.m_profile {
            self.in_block(SINK, InBlock::Mask(imm & 7 << 6));
        } else {
            self.imm(Code::Cps, imm);
        }
        TimingClass::Status
    }

    /// mrs of CPSR, or of SPSR if `spsr` is 1, in the application profile.
    pub fn read_status(&mut self, rd: u8, spsr: u32) -> TimingClass {
        if spsr == 0 {
            self.in_block(rd, InBlock::Status);
        } else {
            self.op(Code::Mrs, rd, 0, ZERO, spsr);
        }
        TimingClass::Status
    }
}

/// Registers of a load or store multiple, and the addresses of their words.
#[derive(Clone, Copy)]
pub struct Block {
    /// Register that holds an address.
    pub base: u8,
    /// Offset of the first word, which is the lowest.
    pub offset: u32,
    /// Bit n: register n.
    pub list: u32,
}

impl Block {
    /// Announces the accesses; returns their flags.
    pub fn announce(self, emit: &mut Emit, is_load: bool) -> u8 {
        emit.announce(self.base, self.offset, self.list.count_ones(), is_load)
    }

    /// Register and offset of each access.
    pub fn accesses(self) -> impl Iterator<Item = (u8, u32)> {
        let listed = (0..16u8).filter(move |register| self.list >> register & 1 != 0);
        listed.zip(0..).map(move |(register, index)| (register, self.offset.wrapping_add(4 * index)))
    }

    /// The loads: the base after all others, because it is needed until then. The program counter goes to RESULT.
    pub fn load(self, emit: &mut Emit, code: Code) {
        let flags = self.announce(emit, true);
        let is_base = |access: &(u8, u32)| access.0 == self.base;
        let others = self.accesses().filter(|access| !is_base(access));
        for (register, offset) in others.chain(self.accesses().filter(is_base)) {
            let rd = if register == PC { RESULT } else { register };
            emit.op4(code, rd, self.base, ZERO, flags, offset);
        }
    }

    /// The stores.
    pub fn store(self, emit: &mut Emit, code: Code) {
        let pc = if self.list >> PC & 1 != 0 { emit.read(PC) } else { PC };
        let flags = self.announce(emit, false);
        for (register, offset) in self.accesses() {
            match register {
                PC => emit.op4(Code::Str, pc, self.base, ZERO, flags, offset),
                _ => emit.op4(code, register, self.base, ZERO, flags, offset),
            }
        }
    }
}

/// A shift by an immediate as encoded (ARM DDI 0406C, A8.4.3): without and with carry, and its amount. 0 has its
/// special meaning for each type.
fn immediate_shift(kind: u32, imm5: u32) -> (Code, Code, u32) {
    let or_32 = if imm5 == 0 { 32 } else { imm5 };
    match (kind, imm5) {
        (0, _) => (Code::LslImm, Code::LslImms, imm5),
        (1, _) => (Code::LsrImm, Code::LsrImms, or_32),
        (2, _) => (Code::AsrImm, Code::AsrImms, or_32),
        (_, 0) => (Code::Rrx, Code::Rrxs, 0),
        _ => (Code::RorImm, Code::RorImms, imm5),
    }
}

/// The flag-setting form of a data processing operation.
pub const fn with_flags(code: Code) -> Code {
    match code {
        Code::And => Code::Ands,
        Code::Eor => Code::Eors,
        Code::Sub => Code::Subs,
        Code::Rsb => Code::Rsbs,
        Code::Add => Code::Adds,
        Code::Adc => Code::Adcs,
        Code::Sbc => Code::Sbcs,
        Code::Rsc => Code::Rscs,
        Code::Orr => Code::Orrs,
        Code::Orn => Code::Orns,
        Code::Bic => Code::Bics,
        Code::Mov => Code::Movs,
        Code::Mvn => Code::Mvns,
        other => other,
    }
}

/// Bits `high` to `low` of `word`, at the right.
pub const fn bits(word: u32, high: u32, low: u32) -> u32 {
    word << (31 - high) >> (31 - high + low)
}

/// A bit of `word`.
pub const fn bit(word: u32, index: u32) -> bool {
    word >> index & 1 != 0
}

/// The register given by the four bits from `low` on.
pub const fn register(word: u32, low: u32) -> u8 {
    (word >> low & 15) as u8
}

/// The register to read where the program counter stands for no register.
pub const fn or_zero(register: u8) -> u8 {
    if register == PC { ZERO } else { register }
}

/// `Some` if none of `registers` is the program counter, which most instructions do not accept.
pub fn not_pc(registers: &[u8]) -> Option<()> {
    (!registers.contains(&PC)).then_some(())
}

/// `Some` if the condition holds.
pub fn only_if(condition: bool) -> Option<()> {
    condition.then_some(())
}

//! Loads and stores of one or two registers: ARM DDI 0406C, sections A5.2.8, A5.2.9 and A5.3.

use crate::cpu::memory_system::access::how;
use crate::isa::arm::emit::{Emit, bit, bits, not_pc, only_if, register};
use crate::isa::arm::op::{Code, TimingClass};
use crate::isa::arm::registers::{ADDRESS, PC, RESULT, SPARE, ZERO};

/// Offset from the base register.
#[derive(Clone, Copy)]
enum Offset {
    Immediate(u32),
    /// x\[register\], added or subtracted.
    Register {
        register: u8,
        subtract: bool,
    },
}

/// An addressing mode.
struct Mode {
    rn: u8,
    offset: Offset,
    /// The access is at the sum, not at the base register.
    is_indexed: bool,
    writes_back: bool,
    /// Access as from User mode.
    is_unprivileged: bool,
}

impl Mode {
    /// Bits 24 (p), 23 (u, in `offset` already) and 21 (w).
    fn of(encoding: u32, offset: Offset) -> Option<Self> {
        let (p, w, rn) = (bit(encoding, 24), bit(encoding, 21), register(encoding, 16));
        only_if(rn != PC || p && !w)?;
        Some(Self { rn, offset, is_indexed: p, writes_back: !p || w, is_unprivileged: !p && w })
    }

    /// True if it needs x[`register`].
    fn needs(&self, register: u8) -> bool {
        self.rn == register || matches!(self.offset, Offset::Register { register: offset, .. } if offset == register)
    }

    /// The sum, in x[`into`].
    fn add(&self, emit: &mut Emit, into: u8) {
        let rn = emit.read(self.rn);
        match self.offset {
            Offset::Immediate(imm) => emit.op(Code::Add, into, rn, ZERO, imm),
            Offset::Register { register, subtract: false } => emit.op(Code::Add, into, rn, register, 0),
            Offset::Register { register, subtract: true } => emit.op(Code::Sub, into, rn, register, 0),
        }
    }
}

/// ldr, str, ldrb, strb, and those that act as from User mode.
pub fn words_and_bytes(emit: &mut Emit, encoding: u32) -> Option<TimingClass> {
    let subtract = !bit(encoding, 23);
    let offset = if bit(encoding, 25) {
        let rm = register(encoding, 0);
        not_pc(&[rm])?;
        Offset::Register { register: emit.shifted(false, rm, bits(encoding, 6, 5), bits(encoding, 11, 7)), subtract }
    } else {
        signed(bits(encoding, 11, 0), subtract)
    };
    let mode = Mode::of(encoding, offset)?;
    let (is_byte, is_load, rt) = (bit(encoding, 22), bit(encoding, 20), register(encoding, 12));
    only_if(rt != PC || !is_byte && !mode.is_unprivileged)?;
    let code = match (is_load, is_byte) {
        (true, false) => Code::Ldr,
        (true, true) => Code::Ldrb,
        (false, false) => Code::Str,
        (false, true) => Code::Strb,
    };
    Some(one(emit, code, rt, &mode))
}

/// ldrh, strh, ldrsb, ldrsh, ldrd, strd, and those that act as from User mode.
pub fn halfwords_and_doublewords(emit: &mut Emit, encoding: u32) -> Option<TimingClass> {
    let subtract = !bit(encoding, 23);
    let offset = if bit(encoding, 22) {
        signed(bits(encoding, 11, 8) << 4 | bits(encoding, 3, 0), subtract)
    } else {
        let rm = register(encoding, 0);
        only_if(bits(encoding, 11, 8) == 0 && rm != PC)?;
        Offset::Register { register: rm, subtract }
    };
    let mode = Mode::of(encoding, offset)?;
    let rt = register(encoding, 12);
    not_pc(&[rt])?;
    let code = match (bits(encoding, 6, 5), bit(encoding, 20)) {
        (0b01, false) => Code::Strh,
        (0b01, true) => Code::Ldrh,
        (0b10, false) => return two(emit, Code::Ldr, rt, &mode),
        (0b10, true) => Code::Ldrsb,
        (0b11, false) => return two(emit, Code::Str, rt, &mode),
        _ => Code::Ldrsh,
    };
    Some(one(emit, code, rt, &mode))
}

fn signed(offset: u32, subtract: bool) -> Offset {
    Offset::Immediate(if subtract { offset.wrapping_neg() } else { offset })
}

/// One register.
fn one(emit: &mut Emit, code: Code, rt: u8, mode: &Mode) -> TimingClass {
    let is_load = !matches!(code, Code::Str | Code::Strb | Code::Strh);
    let flags = if mode.is_unprivileged { how::UNPRIVILEGED } else { 0 };
    let register = match (is_load, rt) {
        (true, PC) => RESULT,
        (true, _) => rt,
        (false, _) => emit.read(rt),
    };
    // A loaded base register keeps the loaded value.
    let writes_back = mode.writes_back && !(is_load && rt == mode.rn);
    let (base, offset, sum) = address(emit, mode, writes_back && is_load && mode.needs(rt));
    let (rm, imm) = match offset {
        Offset::Immediate(imm) => (ZERO, imm),
        Offset::Register { register, .. } => (register, 0),
    };
    emit.op4(code, register, base, rm, flags, imm);
    if writes_back {
        write_back(emit, mode, sum);
    }
    match (is_load, rt) {
        (true, PC) => emit.jump_to(RESULT),
        (true, _) => TimingClass::Load,
        (false, _) => TimingClass::Store,
    }
}

/// Base and offset of the access (never to be subtracted), and the register with the sum, if it has been computed, as
/// `now` requests.
fn address(emit: &mut Emit, mode: &Mode, now: bool) -> (u8, Offset, Option<u8>) {
    const NO_OFFSET: Offset = Offset::Immediate(0);
    match (mode.is_indexed, mode.rn, mode.offset) {
        (true, PC, Offset::Immediate(imm)) => (ZERO, Offset::Immediate(emit.aligned_pc().wrapping_add(imm)), None),
        (true, _, Offset::Register { subtract, .. }) if now || subtract => {
            mode.add(emit, ADDRESS);
            (ADDRESS, NO_OFFSET, Some(ADDRESS))
        }
        (true, ..) => (emit.read(mode.rn), mode.offset, None),
        (false, rn, _) if now => {
            mode.add(emit, ADDRESS);
            (rn, NO_OFFSET, Some(ADDRESS))
        }
        (false, rn, _) => (rn, NO_OFFSET, None),
    }
}

/// Writes the sum to the base register; the sum may be in a register already.
fn write_back(emit: &mut Emit, mode: &Mode, sum: Option<u8>) {
    match sum {
        Some(sum) => emit.op(Code::Mov, mode.rn, 0, sum, 0),
        None => mode.add(emit, mode.rn),
    }
}

/// ldrd, strd: x[rt] and the next register.
fn two(emit: &mut Emit, code: Code, rt: u8, mode: &Mode) -> Option<TimingClass> {
    let (rt2, is_load) = (rt + 1, code == Code::Ldr);
    only_if(rt.is_multiple_of(2) && rt2 != PC && !mode.is_unprivileged)?;
    // QEMU writes back before it writes the loaded registers: then a loaded base register keeps the loaded value.
    let writes_back = mode.writes_back && !(is_load && (mode.rn == rt || mode.rn == rt2));
    let needed_later = writes_back && is_load && (mode.needs(rt) || mode.needs(rt2));
    let in_a_register = matches!(mode.offset, Offset::Register { .. }) && mode.is_indexed || mode.rn == PC;
    let (base, offset, sum) = if in_a_register {
        mode.add(emit, ADDRESS);
        (ADDRESS, Offset::Immediate(0), Some(ADDRESS))
    } else {
        address(emit, mode, needed_later)
    };
    let Offset::Immediate(imm) = offset else { return None };
    let flags = emit.announce(base, imm, 2, is_load);
    // The second access can fault: the registers of the address change after it.
    let first = if is_load && mode.needs(rt) { SPARE } else { rt };
    emit.op4(code, first, base, ZERO, flags, imm);
    emit.op4(code, rt2, base, ZERO, flags, imm.wrapping_add(4));
    if first != rt {
        emit.op(Code::Mov, rt, 0, SPARE, 0);
    }
    if writes_back {
        write_back(emit, mode, sum);
    }
    Some(if is_load { TimingClass::LoadMultiple } else { TimingClass::StoreMultiple })
}

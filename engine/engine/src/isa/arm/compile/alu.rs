//! Arithmetic, in the interpreter's order ([`super::super::alu`]).

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I8, I16, I32, I64};
use cranelift_codegen::ir::{InstBuilder, Type, Value};

use super::super::architecture::Profile;
use super::super::op::{Code, Op};
use super::super::registers::ZERO;
use super::flags::{self, Carry};
use super::{Emit, register, set};

/// Emits the micro-operation `op`, which is arithmetic.
pub fn emit<P: Profile>(e: &mut Emit<P>, op: &Op) {
    use Code::*;
    match op.code {
        SetC => {
            let value = e.constant(op.imm);
            flags::set_carry_value(e, value);
        }
        Subs | Rsbs | Adds | Adcs | Sbcs | Rscs => with_flags(e, op),
        LslImm | LsrImm | AsrImm | RorImm | LslImms | LsrImms | AsrImms | RorImms => shift_by_constant(e, op),
        LslReg | LsrReg | AsrReg | RorReg | LslRegs | LsrRegs | AsrRegs | RorRegs => shift_by_register(e, op),
        Rrx | Rrxs => rotate_through_carry(e, op),
        TestNz => {
            let value = register(e, op.rm);
            flags::set_nz(e, value);
        }
        TestNz64 => test_nz64(e, op),
        Umull | Umlal | Umaal | Smull | Smlal => long_product(e, op),
        And | Eor | Orr | Orn | Bic | Mov | Mvn => {
            let value = logical(e, op);
            set(e, op.rd, value);
        }
        Ands | Eors | Orrs | Orns | Bics | Movs | Mvns => {
            let value = logical(e, op);
            set(e, op.rd, value);
            flags::set_nz(e, value);
        }
        _ => {
            let value = plain(e, op);
            set(e, op.rd, value);
        }
    }
}

/// Prepares a division that may be shorter than the longest one, which the block's time includes: see
/// [`EarlyDivision`](super::super::timing::EarlyDivision).
pub fn end_early<P: Profile>(e: &mut Emit<P>, at: u32, op: &Op) {
    let Some(division) = e.cpu.timing.early_division else { return };
    let mut operand = |number: u8| {
        let value = register(e, number);
        let magnitude = if op.imm != 0 { e.b.ins().iabs(value) } else { value };
        let is_zero = e.b.ins().icmp_imm(IntCC::Equal, value, 0);
        (e.b.ins().clz(magnitude), is_zero)
    };
    let [(dividend, no_dividend), (divisor, no_divisor)] = [operand(op.rn), operand(op.rm)];
    // Number of bits that the dividend has more.
    let further = e.b.ins().isub(divisor, dividend);
    let steps = e.b.ins().sshr_imm(further, i64::from(division.shift()));
    let most = i64::from(division.most_cycles());
    let constant = |e: &mut Emit<P>, cycles: u8| e.b.ins().iconst(I32, most - i64::from(cycles));
    let (least, less, zero) =
        (constant(e, division.least), constant(e, division.of_less), constant(e, division.of_zero));
    let saved = e.b.ins().isub(least, steps);
    let is_less = e.b.ins().icmp_imm(IntCC::SignedLessThan, further, 0);
    let saved = e.b.ins().select(is_less, less, saved);
    let has_zero = e.b.ins().bor(no_dividend, no_divisor);
    let saved = e.b.ins().select(has_zero, zero, saved);
    let saved = e.b.ins().uextend(I64, saved);
    e.take_back(saved, e.pc_of(at));
}

/// The second operand.
fn operand<P: Profile>(e: &mut Emit<P>, op: &Op) -> Value {
    if op.rm == ZERO {
        return e.constant(op.imm);
    }
    let value = register(e, op.rm);
    if op.imm == 0 { value } else { e.b.ins().iadd_imm(value, i64::from(op.imm as i32)) }
}

fn logical<P: Profile>(e: &mut Emit<P>, op: &Op) -> Value {
    use Code::*;
    let b = operand(e, op);
    if matches!(op.code, Mov | Movs) {
        return b;
    }
    if matches!(op.code, Mvn | Mvns) {
        return e.b.ins().bnot(b);
    }
    let a = register(e, op.rn);
    match op.code {
        And | Ands => e.b.ins().band(a, b),
        Eor | Eors => e.b.ins().bxor(a, b),
        Orr | Orrs => e.b.ins().bor(a, b),
        Orn | Orns => e.b.ins().bor_not(a, b),
        _ => e.b.ins().band_not(a, b),
    }
}

fn with_flags<P: Profile>(e: &mut Emit<P>, op: &Op) {
    let (a, b) = (register(e, op.rn), operand(e, op));
    let value = match op.code {
        Code::Subs if op.rm == ZERO && op.imm == 0 => flags::compare_with_zero(e, a, b),
        Code::Subs => flags::subtract(e, a, b),
        Code::Rsbs => flags::subtract(e, b, a),
        Code::Adds => flags::add(e, a, b),
        Code::Adcs => flags::add_with_carry(e, a, b),
        Code::Sbcs => {
            let b = e.b.ins().bnot(b);
            flags::add_with_carry(e, a, b)
        }
        _ => {
            let a = e.b.ins().bnot(a);
            flags::add_with_carry(e, a, b)
        }
    };
    set(e, op.rd, value);
}

/// Operations that return one value, and no flags.
fn plain<P: Profile>(e: &mut Emit<P>, op: &Op) -> Value {
    use Code::*;
    match op.code {
        Movt => {
            let old = register(e, op.rd);
            let low = e.b.ins().band_imm(old, 0xffff);
            e.b.ins().bor_imm(low, i64::from((op.imm << 16) as i32))
        }
        Sbfx | Ubfx => extract(e, op),
        Bfi => insert(e, op),
        Clz | Rbit | Rev | Rev16 | Revsh | Sxtb | Sxth | Uxtb | Uxth => of_one(e, op),
        _ => of_two(e, op),
    }
}

fn of_two<P: Profile>(e: &mut Emit<P>, op: &Op) -> Value {
    use Code::*;
    let (a, b) = (register(e, op.rn), operand(e, op));
    match op.code {
        Sub => e.b.ins().isub(a, b),
        Rsb => e.b.ins().isub(b, a),
        Add => e.b.ins().iadd(a, b),
        Adc | Sbc | Rsc => {
            let (a, b) = match op.code {
                Adc => (a, b),
                Sbc => (a, e.b.ins().bnot(b)),
                _ => (b, e.b.ins().bnot(a)),
            };
            let sum = e.b.ins().iadd(a, b);
            let carry = flags::carry(e);
            e.b.ins().iadd(sum, carry)
        }
        Mul => e.b.ins().imul(a, b),
        Mla | Mls => {
            let (product, third) = (e.b.ins().imul(a, b), register(e, op.ra));
            if op.code == Mla { e.b.ins().iadd(third, product) } else { e.b.ins().isub(third, product) }
        }
        // Division by zero returns 0.
        _ => {
            let division = e.divide(a, b, op.code == Sdiv);
            let (quotient, zero) = (e.quotient(division), e.constant(0));
            e.b.ins().select(division.by_zero, zero, quotient)
        }
    }
}

fn of_one<P: Profile>(e: &mut Emit<P>, op: &Op) -> Value {
    use Code::*;
    let b = operand(e, op);
    match op.code {
        Clz => e.b.ins().clz(b),
        Rbit => e.b.ins().bitrev(b),
        Rev => e.b.ins().bswap(b),
        Rev16 => {
            let swapped = e.b.ins().bswap(b);
            e.b.ins().rotl_imm(swapped, 16)
        }
        Revsh => {
            let swapped = e.b.ins().bswap(b);
            e.b.ins().sshr_imm(swapped, 16)
        }
        Sxtb | Sxth => {
            let part = narrow(e, b, if op.code == Sxtb { I8 } else { I16 });
            e.b.ins().sextend(I32, part)
        }
        _ => e.b.ins().band_imm(b, if op.code == Uxtb { 0xff } else { 0xffff }),
    }
}

fn narrow<P: Profile>(e: &mut Emit<P>, value: Value, to: Type) -> Value {
    e.b.ins().ireduce(to, value)
}

/// Sbfx and Ubfx: the field goes to the top first, then down.
fn extract<P: Profile>(e: &mut Emit<P>, op: &Op) -> Value {
    let (first, width) = (op.imm & 31, op.imm >> 8);
    let value = register(e, op.rm);
    let top = e.b.ins().ishl_imm(value, i64::from(32u32.wrapping_sub(first + width) & 31));
    let down = i64::from(32u32.wrapping_sub(width) & 31);
    if op.code == Code::Sbfx { e.b.ins().sshr_imm(top, down) } else { e.b.ins().ushr_imm(top, down) }
}

fn insert<P: Profile>(e: &mut Emit<P>, op: &Op) -> Value {
    let (first, ones) = (op.imm & 31, u32::MAX >> (32u32.wrapping_sub(op.imm >> 8) & 31));
    let (into, value) = (register(e, op.rd), register(e, op.rm));
    let kept = e.b.ins().band_imm(into, i64::from(!(ones << first) as i32));
    let field = e.b.ins().band_imm(value, i64::from(ones as i32));
    let field = e.b.ins().ishl_imm(field, i64::from(first));
    e.b.ins().bor(kept, field)
}

fn shift_by_constant<P: Profile>(e: &mut Emit<P>, op: &Op) {
    use Code::*;
    let value = register(e, op.rm);
    let amount = i64::from(op.imm);
    let shifted = match op.code {
        LslImm | LslImms => e.b.ins().ishl_imm(value, amount & 31),
        LsrImm | LsrImms if amount >= 32 => e.constant(0),
        LsrImm | LsrImms => e.b.ins().ushr_imm(value, amount),
        AsrImm | AsrImms => e.b.ins().sshr_imm(value, amount.min(31)),
        _ => e.b.ins().rotr_imm(value, amount & 31),
    };
    set(e, op.rd, shifted);
    let out = match op.code {
        LslImms => 32u32.wrapping_sub(op.imm),
        LsrImms | AsrImms | RorImms => op.imm.wrapping_sub(1),
        _ => return,
    };
    if amount != 0 {
        flags::set_carry(e, Carry::Bit(value, out));
    }
}

/// Shifts by the low byte of a register: 0 to 255.
fn shift_by_register<P: Profile>(e: &mut Emit<P>, op: &Op) {
    use Code::*;
    let (value, by) = (register(e, op.rm), register(e, op.rn));
    let amount = e.b.ins().band_imm(by, 0xff);
    let sets_carry = matches!(op.code, LslRegs | LsrRegs | AsrRegs | RorRegs);
    if matches!(op.code, RorReg | RorRegs) {
        let rotated = e.b.ins().rotr(value, amount);
        set(e, op.rd, rotated);
        if sets_carry {
            let out = e.b.ins().ushr_imm(rotated, 31);
            carry_of_shift(e, amount, out);
        }
        return;
    }
    // In 64 bits, with the bit that is shifted out last next to the word. Amounts above 63 give the same result as 63.
    let most = e.constant(63);
    let amount_63 = e.b.ins().umin(amount, most);
    let wide = e.widen(value, matches!(op.code, AsrReg | AsrRegs));
    if matches!(op.code, LslReg | LslRegs) {
        let shifted = e.b.ins().ishl(wide, amount_63);
        let [low, high] = e.words(shifted);
        // After a shift by 64 and more, 63 leaves bits in the upper word, but not in its lowest bit.
        set(e, op.rd, low);
        if sets_carry {
            let out = e.b.ins().band_imm(high, 1);
            carry_of_shift(e, amount, out);
        }
        return;
    }
    let doubled = e.b.ins().ishl_imm(wide, 1);
    let shifted = if matches!(op.code, AsrReg | AsrRegs) {
        e.b.ins().sshr(doubled, amount_63)
    } else {
        e.b.ins().ushr(doubled, amount_63)
    };
    let word = e.b.ins().sshr_imm(shifted, 1);
    let word = e.b.ins().ireduce(I32, word);
    set(e, op.rd, word);
    if sets_carry {
        let low = e.b.ins().ireduce(I32, shifted);
        let out = e.b.ins().band_imm(low, 1);
        carry_of_shift(e, amount, out);
    }
}

/// Sets C for a shift by a register: unchanged for one by 0.
fn carry_of_shift<P: Profile>(e: &mut Emit<P>, amount: Value, out: Value) {
    let before = flags::carry(e);
    let carry = e.b.ins().select(amount, out, before);
    flags::set_carry_value(e, carry);
}

fn rotate_through_carry<P: Profile>(e: &mut Emit<P>, op: &Op) {
    let (value, carry) = (register(e, op.rm), flags::carry(e));
    let (low, top) = (e.b.ins().ushr_imm(value, 1), e.b.ins().ishl_imm(carry, 31));
    let rotated = e.b.ins().bor(low, top);
    set(e, op.rd, rotated);
    if op.code == Code::Rrxs {
        flags::set_carry(e, Carry::Bit(value, 0));
    }
}

/// Sets N and Z by 64 bits.
fn test_nz64<P: Profile>(e: &mut Emit<P>, op: &Op) {
    let (low, high) = (register(e, op.rm), register(e, op.rn));
    let some = e.b.ins().bor(low, high);
    flags::set_n_and_z(e, high, some);
}

fn long_product<P: Profile>(e: &mut Emit<P>, op: &Op) {
    use Code::*;
    let signed = matches!(op.code, Smull | Smlal);
    let (a, b) = (register(e, op.rn), operand(e, op));
    let mut value = e.product(a, signed, b, signed);
    if !matches!(op.code, Umull | Smull) {
        let [low, high] = [op.rd, op.ra].map(|number| register(e, number)).map(|word| e.widen(word, false));
        if op.code == Umaal {
            value = e.b.ins().iadd(value, low);
            value = e.b.ins().iadd(value, high);
        } else {
            let high = e.b.ins().ishl_imm(high, 32);
            let sum = e.b.ins().bor(low, high);
            value = e.b.ins().iadd(value, sum);
        }
    }
    let [low, high] = e.words(value);
    set(e, op.rd, low);
    set(e, op.ra, high);
}

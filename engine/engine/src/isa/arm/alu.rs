//! Arithmetic micro-operations, and conditions.
//!
//! ARM Architecture Reference Manual, ARMv7-A and ARMv7-R edition (ARM DDI 0406C), sections A2.2.1 (integer arithmetic)
//! and A8.3 (conditional execution). The table of operations is a macro: an inner loop has to dispatch only once
//! between all micro-operations, the arithmetic ones and its own.

use super::registers::{C, COUNT, N_SOURCE, V, Z_SOURCE};

/// The register file, flags included.
pub type Registers = [u32; COUNT];

/// A `match` on the code of `$op`, a micro-operation: does the arithmetic ones on the registers `$x`, with `$done`
/// after each; further arms follow.
macro_rules! match_arithmetic {
    (($x:expr, $op:expr) done => $done:expr, $($further:tt)*) => {{
        use $crate::isa::arm::alu;
        // a, b and so on, as in the micro-operations' description.
        macro_rules! a { () => { $x[usize::from($op.rn)] }; }
        macro_rules! b { () => { $x[usize::from($op.rm)].wrapping_add($op.imm) }; }
        macro_rules! rm { () => { $x[usize::from($op.rm)] }; }
        macro_rules! ra { () => { $x[usize::from($op.ra)] }; }
        macro_rules! rd { () => { $x[usize::from($op.rd)] }; }
        macro_rules! plain { ($value:expr) => {{ rd!() = $value; $done }}; }
        macro_rules! logical { ($value:expr) => {{
            let value = $value;
            rd!() = value;
            alu::set_nz($x, value);
            $done
        }}; }
        macro_rules! sum { ($a:expr, $b:expr, $carry:expr) => {{
            let (a, b, carry) = ($a, $b, $carry);
            rd!() = alu::add_with_flags($x, a, b, carry);
            $done
        }}; }
        macro_rules! carried { ($shifted:expr) => {{
            let (value, carry) = $shifted;
            rd!() = value;
            $x[usize::from($crate::isa::arm::registers::C)] = carry;
            $done
        }}; }
        macro_rules! long { ($value:expr) => {{
            let value: u64 = $value;
            rd!() = value as u32;
            ra!() = (value >> 32) as u32;
            $done
        }}; }
        match $op.code {
            Code::And => plain!(a!() & b!()),
            Code::Eor => plain!(a!() ^ b!()),
            Code::Sub => plain!(a!().wrapping_sub(b!())),
            Code::Rsb => plain!(b!().wrapping_sub(a!())),
            Code::Add => plain!(a!().wrapping_add(b!())),
            Code::Adc => plain!(a!().wrapping_add(b!()).wrapping_add(alu::carry($x))),
            Code::Sbc => plain!(a!().wrapping_add(!b!()).wrapping_add(alu::carry($x))),
            Code::Rsc => plain!(b!().wrapping_add(!a!()).wrapping_add(alu::carry($x))),
            Code::Orr => plain!(a!() | b!()),
            Code::Orn => plain!(a!() | !b!()),
            Code::Bic => plain!(a!() & !b!()),
            Code::Mov => plain!(b!()),
            Code::Mvn => plain!(!b!()),
            Code::Ands => logical!(a!() & b!()),
            Code::Eors => logical!(a!() ^ b!()),
            Code::Subs => sum!(a!(), !b!(), 1),
            Code::Rsbs => sum!(!a!(), b!(), 1),
            Code::Adds => sum!(a!(), b!(), 0),
            Code::Adcs => sum!(a!(), b!(), alu::carry($x)),
            Code::Sbcs => sum!(a!(), !b!(), alu::carry($x)),
            Code::Rscs => sum!(!a!(), b!(), alu::carry($x)),
            Code::Orrs => logical!(a!() | b!()),
            Code::Orns => logical!(a!() | !b!()),
            Code::Bics => logical!(a!() & !b!()),
            Code::Movs => logical!(b!()),
            Code::Mvns => logical!(!b!()),
            Code::SetC => { $x[usize::from($crate::isa::arm::registers::C)] = $op.imm; $done }
            Code::LslImm => plain!(rm!().wrapping_shl($op.imm)),
            Code::LsrImm => plain!(alu::lsr(rm!(), $op.imm)),
            Code::AsrImm => plain!(alu::asr(rm!(), $op.imm)),
            Code::RorImm => plain!(rm!().rotate_right($op.imm)),
            Code::Rrx => plain!(alu::rrx(rm!(), alu::carry($x)).0),
            Code::LslReg => plain!(alu::lsl(rm!(), a!() & 0xff)),
            Code::LsrReg => plain!(alu::lsr(rm!(), a!() & 0xff)),
            Code::AsrReg => plain!(alu::asr(rm!(), a!() & 0xff)),
            Code::RorReg => plain!(rm!().rotate_right(a!() & 31)),
            Code::LslImms => carried!(alu::lsl_carry(rm!(), $op.imm, alu::carry($x))),
            Code::LsrImms => carried!(alu::lsr_carry(rm!(), $op.imm, alu::carry($x))),
            Code::AsrImms => carried!(alu::asr_carry(rm!(), $op.imm, alu::carry($x))),
            Code::RorImms => carried!(alu::ror_carry(rm!(), $op.imm, alu::carry($x))),
            Code::Rrxs => carried!(alu::rrx(rm!(), alu::carry($x))),
            Code::LslRegs => carried!(alu::lsl_carry(rm!(), a!() & 0xff, alu::carry($x))),
            Code::LsrRegs => carried!(alu::lsr_carry(rm!(), a!() & 0xff, alu::carry($x))),
            Code::AsrRegs => carried!(alu::asr_carry(rm!(), a!() & 0xff, alu::carry($x))),
            Code::RorRegs => carried!(alu::ror_carry(rm!(), a!() & 0xff, alu::carry($x))),
            Code::Movt => plain!($op.imm << 16 | rd!() & 0xffff),
            Code::Mul => plain!(a!().wrapping_mul(b!())),
            Code::Mla => plain!(ra!().wrapping_add(a!().wrapping_mul(b!()))),
            Code::Mls => plain!(ra!().wrapping_sub(a!().wrapping_mul(b!()))),
            Code::TestNz => { alu::set_nz($x, rm!()); $done }
            Code::TestNz64 => { alu::set_nz64($x, rm!(), a!()); $done }
            Code::Umull => long!(alu::umull(a!(), b!())),
            Code::Umlal => long!(alu::umull(a!(), b!()).wrapping_add(alu::pair(rd!(), ra!()))),
            Code::Umaal => long!(alu::umull(a!(), b!()) + u64::from(rd!()) + u64::from(ra!())),
            Code::Smull => long!(alu::smull(a!(), b!())),
            Code::Smlal => long!(alu::smull(a!(), b!()).wrapping_add(alu::pair(rd!(), ra!()))),
            Code::Sdiv => plain!(alu::sdiv(a!(), b!())),
            Code::Udiv => plain!(a!().checked_div(b!()).unwrap_or(0)),
            Code::Clz => plain!(b!().leading_zeros()),
            Code::Rbit => plain!(b!().reverse_bits()),
            Code::Rev => plain!(b!().swap_bytes()),
            Code::Rev16 => plain!(b!().swap_bytes().rotate_left(16)),
            Code::Revsh => plain!((b!() as u16).swap_bytes() as i16 as u32),
            Code::Sxtb => plain!(b!() as i8 as u32),
            Code::Sxth => plain!(b!() as i16 as u32),
            Code::Uxtb => plain!(b!() & 0xff),
            Code::Uxth => plain!(b!() & 0xffff),
            Code::Sbfx => plain!(alu::sbfx(rm!(), $op.imm)),
            Code::Ubfx => plain!(alu::ubfx(rm!(), $op.imm)),
            Code::Bfi => plain!(alu::bfi(rd!(), rm!(), $op.imm)),
            $($further)*
        }
    }};
}
pub(super) use match_arithmetic;

/// C: 0 or 1.
#[inline(always)]
pub fn carry(x: &Registers) -> u32 {
    x[usize::from(C)]
}

/// Sets N and Z by a result.
#[inline(always)]
pub fn set_nz(x: &mut Registers, value: u32) {
    x[usize::from(N_SOURCE)] = value;
    x[usize::from(Z_SOURCE)] = value;
}

/// Sets N and Z by a result of 64 bits.
#[inline(always)]
pub fn set_nz64(x: &mut Registers, low: u32, high: u32) {
    x[usize::from(N_SOURCE)] = high;
    x[usize::from(Z_SOURCE)] = low | high;
}

/// a + b + carry (0 or 1), with N, Z, C and V. A subtraction adds the complement and 1.
#[inline(always)]
pub fn add_with_flags(x: &mut Registers, a: u32, b: u32, carry: u32) -> u32 {
    let sum = u64::from(a) + u64::from(b) + u64::from(carry);
    let value = sum as u32;
    set_nz(x, value);
    x[usize::from(C)] = (sum >> 32) as u32;
    x[usize::from(V)] = ((a ^ value) & (b ^ value)) >> 31;
    value
}

/// True if a condition (0 to 15, as encoded; 14 and 15 are always) holds.
#[inline(always)]
pub fn holds(x: &Registers, condition: u8) -> bool {
    let (n, v) = (x[usize::from(N_SOURCE)] >> 31, x[usize::from(V)] & 1);
    let (z, c) = (u32::from(x[usize::from(Z_SOURCE)] == 0), x[usize::from(C)] & 1);
    HOLDS[usize::from(condition & 15)] >> (n << 3 | z << 2 | c << 1 | v) & 1 != 0
}

/// For each condition, the values of N, Z, C and V (as a number of four bits) for which it holds.
const HOLDS: [u16; 16] = holds_table();

const fn holds_table() -> [u16; 16] {
    let mut table = [0; 16];
    let mut at = 0;
    while at < 256 {
        let (condition, flags) = (at >> 4, at & 15);
        let (n, z, c, v) = (flags & 8 != 0, flags & 4 != 0, flags & 2 != 0, flags & 1 != 0);
        let base = match condition >> 1 {
            0 => z,
            1 => c,
            2 => n,
            3 => v,
            4 => c && !z,
            5 => n == v,
            6 => n == v && !z,
            _ => true,
        };
        // 14 and 15 always hold.
        if base != (condition & 1 != 0 && condition < 14) {
            table[condition] |= 1 << flags;
        }
        at += 1;
    }
    table
}

/// Shifted left by 0 to 255.
#[inline(always)]
pub fn lsl(value: u32, amount: u32) -> u32 {
    value.checked_shl(amount).unwrap_or(0)
}

/// Shifted right by 0 to 255.
#[inline(always)]
pub fn lsr(value: u32, amount: u32) -> u32 {
    value.checked_shr(amount).unwrap_or(0)
}

/// Shifted right by 0 to 255 with its sign.
#[inline(always)]
pub fn asr(value: u32, amount: u32) -> u32 {
    (value as i32 >> amount.min(31)) as u32
}

/// Shifted left by 0 to 255, and the carry out; `carry` for 0. The next three functions are analogous.
#[inline(always)]
pub fn lsl_carry(value: u32, amount: u32, carry: u32) -> (u32, u32) {
    let wide = u64::from(value) << amount.min(63);
    let out = if amount == 0 { carry } else { (wide >> 32) as u32 & 1 };
    (wide as u32, if amount > 32 { 0 } else { out })
}

/// Shifted right.
#[inline(always)]
pub fn lsr_carry(value: u32, amount: u32, carry: u32) -> (u32, u32) {
    let out = if amount == 0 { carry } else { lsr(value, amount - 1) & 1 };
    (lsr(value, amount), out)
}

/// Shifted right with its sign.
#[inline(always)]
pub fn asr_carry(value: u32, amount: u32, carry: u32) -> (u32, u32) {
    let out = if amount == 0 { carry } else { asr(value, amount - 1) & 1 };
    (asr(value, amount), out)
}

/// Rotated right.
#[inline(always)]
pub fn ror_carry(value: u32, amount: u32, carry: u32) -> (u32, u32) {
    let rotated = value.rotate_right(amount & 31);
    (rotated, if amount == 0 { carry } else { rotated >> 31 })
}

/// Rotated right through the carry by one, and the carry out.
#[inline(always)]
pub fn rrx(value: u32, carry: u32) -> (u32, u32) {
    (carry << 31 | value >> 1, value & 1)
}

/// 64 bits from two words.
#[inline(always)]
pub fn pair(low: u32, high: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

/// a * b, unsigned.
#[inline(always)]
pub fn umull(a: u32, b: u32) -> u64 {
    u64::from(a) * u64::from(b)
}

/// a * b, signed.
#[inline(always)]
pub fn smull(a: u32, b: u32) -> u64 {
    (i64::from(a as i32) * i64::from(b as i32)) as u64
}

/// a / b, signed, towards 0; 0 for a division by 0, and the overflow wraps.
#[inline(always)]
pub fn sdiv(a: u32, b: u32) -> u32 {
    if b == 0 { 0 } else { (a as i32).wrapping_div(b as i32) as u32 }
}

/// A bit field, as encoded in the immediate of bit field micro-operations: first bit, and a mask of its width (1 to
/// 32).
#[inline(always)]
fn bit_field(imm: u32) -> (u32, u32) {
    (imm & 31, u32::MAX >> (32u32.wrapping_sub(imm >> 8) & 31))
}

/// A bit field, zero-extended.
#[inline(always)]
pub fn ubfx(value: u32, imm: u32) -> u32 {
    let (first, ones) = bit_field(imm);
    value >> first & ones
}

/// A bit field, sign-extended.
#[inline(always)]
pub fn sbfx(value: u32, imm: u32) -> u32 {
    let (first, ones) = bit_field(imm);
    let above = ones.leading_zeros();
    ((value >> first << above) as i32 >> above) as u32
}

/// `into` with a bit field of it replaced by the low bits of `value`.
#[inline(always)]
pub fn bfi(into: u32, value: u32, imm: u32) -> u32 {
    let (first, ones) = bit_field(imm);
    into & !(ones << first) | (value & ones) << first
}

#[cfg(test)]
mod tests;

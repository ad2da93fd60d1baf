//! Operations: arithmetic, the conditions of branches and traps, and words that are merged with registers.
//!
//! MIPS32 Architecture for Programmers, volume II, release 1. The table of operations is a macro: an inner loop has to
//! dispatch only once between all operations, the arithmetic ones and its own.

/// A `match` on an operation's code, with `$a` = x[rs], `$b` = x[rt], `$imm` (u32), `$old` = x[rd] before, and `$acc` =
/// HI and LO (u64). It has arms for
/// - `$value`: the result for x[rd];
/// - `$checked`: the same, None on overflow (an exception);
/// - `$product`: the new HI and LO;
/// - `$taken`: whether a branch is taken;
/// - `$likely`: the same for a likely branch;
/// - `$trapped`: whether a trap happens;
///
/// further arms follow.
macro_rules! match_operation {
    (
        ($code:expr, $a:expr, $b:expr, $imm:expr, $old:expr, $acc:expr)
        $value:ident => $computed:expr,
        $checked:ident => $may_overflow:expr,
        $product:ident => $multiplied:expr,
        $taken:ident => $branched:expr,
        $likely:ident => $branched_likely:expr,
        $trapped:ident => $tested:expr,
        $($further:tt)*
    ) => {
        match $code {
            Code::Addu => { let $value = $a.wrapping_add($b); $computed }
            Code::Subu => { let $value = $a.wrapping_sub($b); $computed }
            Code::And => { let $value = $a & $b; $computed }
            Code::Or => { let $value = $a | $b; $computed }
            Code::Xor => { let $value = $a ^ $b; $computed }
            Code::Nor => { let $value = !($a | $b); $computed }
            Code::Slt => { let $value = u32::from(($a as i32) < $b as i32); $computed }
            Code::Sltu => { let $value = u32::from($a < $b); $computed }
            Code::Sllv => { let $value = $b.wrapping_shl($a); $computed }
            Code::Srlv => { let $value = $b.wrapping_shr($a); $computed }
            Code::Srav => { let $value = ($b as i32).wrapping_shr($a) as u32; $computed }
            Code::Movz => { let $value = if $b == 0 { $a } else { $old }; $computed }
            Code::Movn => { let $value = if $b != 0 { $a } else { $old }; $computed }
            Code::Addiu => { let $value = $a.wrapping_add($imm); $computed }
            Code::Slti => { let $value = u32::from(($a as i32) < $imm as i32); $computed }
            Code::Sltiu => { let $value = u32::from($a < $imm); $computed }
            Code::Andi => { let $value = $a & $imm; $computed }
            Code::Ori => { let $value = $a | $imm; $computed }
            Code::Xori => { let $value = $a ^ $imm; $computed }
            Code::Li => { let $value = $imm; $computed }
            Code::Sll => { let $value = $b.wrapping_shl($imm); $computed }
            Code::Srl => { let $value = $b.wrapping_shr($imm); $computed }
            Code::Sra => { let $value = ($b as i32).wrapping_shr($imm) as u32; $computed }
            Code::Clz => { let $value = $a.leading_zeros(); $computed }
            Code::Clo => { let $value = $a.leading_ones(); $computed }
            Code::Mul => { let $value = $a.wrapping_mul($b); $computed }
            Code::Mfhi | Code::Mflo | Code::Mthi | Code::Mtlo => { let $value = $a; $computed }
            Code::Add => { let $checked = ($a as i32).checked_add($b as i32); $may_overflow }
            Code::Sub => { let $checked = ($a as i32).checked_sub($b as i32); $may_overflow }
            Code::Addi => { let $checked = ($a as i32).checked_add($imm as i32); $may_overflow }
            Code::Mult => { let $product = $crate::isa::mips::alu::signed_product($a, $b); $multiplied }
            Code::Multu => { let $product = u64::from($a) * u64::from($b); $multiplied }
            Code::Madd => {
                let $product = $acc.wrapping_add($crate::isa::mips::alu::signed_product($a, $b));
                $multiplied
            }
            Code::Maddu => { let $product = $acc.wrapping_add(u64::from($a) * u64::from($b)); $multiplied }
            Code::Msub => {
                let $product = $acc.wrapping_sub($crate::isa::mips::alu::signed_product($a, $b));
                $multiplied
            }
            Code::Msubu => { let $product = $acc.wrapping_sub(u64::from($a) * u64::from($b)); $multiplied }
            Code::Div => { let $product = $crate::isa::mips::alu::signed_quotient($a, $b); $multiplied }
            Code::Divu => { let $product = $crate::isa::mips::alu::quotient($a, $b); $multiplied }
            Code::Beq => { let $taken = $a == $b; $branched }
            Code::Bne => { let $taken = $a != $b; $branched }
            Code::Blez => { let $taken = $a as i32 <= 0; $branched }
            Code::Bgtz => { let $taken = $a as i32 > 0; $branched }
            Code::Bltz | Code::Bltzal => { let $taken = ($a as i32) < 0; $branched }
            Code::Bgez | Code::Bgezal => { let $taken = $a as i32 >= 0; $branched }
            Code::Beql => { let $likely = $a == $b; $branched_likely }
            Code::Bnel => { let $likely = $a != $b; $branched_likely }
            Code::Blezl => { let $likely = $a as i32 <= 0; $branched_likely }
            Code::Bgtzl => { let $likely = $a as i32 > 0; $branched_likely }
            Code::Bltzl | Code::Bltzall => { let $likely = ($a as i32) < 0; $branched_likely }
            Code::Bgezl | Code::Bgezall => { let $likely = $a as i32 >= 0; $branched_likely }
            Code::Tge => { let $trapped = $a as i32 >= $b as i32; $tested }
            Code::Tgeu => { let $trapped = $a >= $b; $tested }
            Code::Tlt => { let $trapped = ($a as i32) < $b as i32; $tested }
            Code::Tltu => { let $trapped = $a < $b; $tested }
            Code::Teq => { let $trapped = $a == $b; $tested }
            Code::Tne => { let $trapped = $a != $b; $tested }
            Code::Tgei => { let $trapped = $a as i32 >= $imm as i32; $tested }
            Code::Tgeiu => { let $trapped = $a >= $imm; $tested }
            Code::Tlti => { let $trapped = ($a as i32) < $imm as i32; $tested }
            Code::Tltiu => { let $trapped = $a < $imm; $tested }
            Code::Teqi => { let $trapped = $a == $imm; $tested }
            Code::Tnei => { let $trapped = $a != $imm; $tested }
            $($further)*
        }
    };
}

pub(super) use match_operation;

/// mult: all 64 bits.
#[inline(always)]
pub(super) const fn signed_product(a: u32, b: u32) -> u64 {
    ((a as i32 as i64) * (b as i32 as i64)) as u64
}

/// div: remainder and quotient, as HI and LO. The manual does not define the results of a division by zero, or with an
/// overflow: here the dividend, and remainder 0, as in QEMU.
#[inline(always)]
pub(super) const fn signed_quotient(a: u32, b: u32) -> u64 {
    let (a, b) = (a as i32, if b == 0 { 1 } else { b as i32 });
    hi_lo(a.wrapping_rem(b) as u32, a.wrapping_div(b) as u32)
}

/// divu: as [`signed_quotient`].
#[inline(always)]
pub(super) const fn quotient(a: u32, b: u32) -> u64 {
    let b = if b == 0 { 1 } else { b };
    hi_lo(a % b, a / b)
}

/// HI and LO as one number.
#[inline(always)]
pub const fn hi_lo(hi: u32, lo: u32) -> u64 {
    (hi as u64) << 32 | lo as u64
}

/// lwl: the register that held `old`, after the bytes from `address` down to its word's first byte were loaded into its
/// upper end. `word` is the aligned word in memory, as in the next three functions.
#[inline(always)]
pub const fn load_left(address: u32, word: u32, old: u32) -> u32 {
    let shift = 24 - (address & 3) * 8;
    word << shift | old & !(u32::MAX << shift)
}

/// lwr: after the bytes from `address` up to its word's last byte were loaded into its lower end.
#[inline(always)]
pub const fn load_right(address: u32, word: u32, old: u32) -> u32 {
    let shift = (address & 3) * 8;
    word >> shift | old & !(u32::MAX >> shift)
}

/// swl: the word in memory, after the upper end of `value` was stored in the bytes from `address` down.
#[inline(always)]
pub const fn store_left(address: u32, word: u32, value: u32) -> u32 {
    let shift = 24 - (address & 3) * 8;
    value >> shift | word & !(u32::MAX >> shift)
}

/// swr: after the lower end of `value` was stored in the bytes from `address` up.
#[inline(always)]
pub const fn store_right(address: u32, word: u32, value: u32) -> u32 {
    let shift = (address & 3) * 8;
    value << shift | word & !(u32::MAX << shift)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::isa::mips::op::Code;

    /// Operands of an operation, for [`compute`].
    #[derive(Clone, Copy)]
    struct Operands {
        /// x[rs].
        a: u32,
        /// x[rt].
        b: u32,
        /// The immediate.
        imm: u32,
        /// x[rd] before.
        old: u32,
        /// HI and LO.
        acc: u64,
    }

    /// Result of an operation.
    #[derive(Debug, PartialEq, Eq)]
    enum Outcome {
        /// A value for x[rd].
        Value(u32),
        /// An exception; x[rd] does not change.
        Overflow,
        /// HI and LO.
        Product(u64),
        /// The condition of a branch, likely or not.
        Taken(bool),
        /// The condition of a trap.
        Trapped(bool),
        /// No result: the operation is not arithmetic.
        Other,
    }

    /// Result of the operation `code`.
    fn compute(code: Code, operands: Operands) -> Outcome {
        let Operands { a, b, imm, old, acc } = operands;
        match_operation! { (code, a, b, imm, old, acc)
            value => Outcome::Value(value),
            checked => checked.map_or(Outcome::Overflow, |value| Outcome::Value(value as u32)),
            product => Outcome::Product(product),
            taken => Outcome::Taken(taken),
            likely => Outcome::Taken(likely),
            trapped => Outcome::Trapped(trapped),
            _ => Outcome::Other
        }
    }

    const MIN: u32 = 0x8000_0000;

    fn outcome(code: Code, a: u32, b: u32) -> Outcome {
        compute(code, Operands { a, b, imm: b, old: 0x01d, acc: hi_lo(1, 2) })
    }

    #[test]
    fn arithmetic_is_as_in_the_manual() {
        let cases = [
            (Code::Addu, u32::MAX, 2, 1),
            (Code::Subu, 1, 2, u32::MAX),
            (Code::Nor, 0xff00_0000, 0x0000_00f0, 0x00ff_ff0f),
            (Code::Slt, u32::MAX, 0, 1),
            (Code::Sltu, u32::MAX, 0, 0),
            (Code::Slti, 0, u32::MAX, 0),
            (Code::Sltiu, 0, u32::MAX, 1),
            (Code::Sllv, 0x21, 3, 6),
            (Code::Srlv, 31, MIN, 1),
            (Code::Srav, 31, MIN, u32::MAX),
            (Code::Movz, 7, 0, 7),
            (Code::Movz, 7, 1, 0x01d),
            (Code::Movn, 7, 0, 0x01d),
            (Code::Movn, 7, 1, 7),
            (Code::Clz, 0, 0, 32),
            (Code::Clz, 0x0001_0000, 0, 15),
            (Code::Clo, u32::MAX, 0, 32),
            (Code::Clo, 0xe000_0000, 0, 3),
            (Code::Mul, 0x10001, 0x10001, 0x20001),
        ];
        for (code, a, b, value) in cases {
            assert_eq!(outcome(code, a, b), Outcome::Value(value), "{code:?} {a:#x} {b:#x}");
        }
    }

    #[test]
    fn overflow_is_of_signed_numbers() {
        for (code, a, b, expected) in [
            (Code::Add, 0x7fff_ffff, 1, Outcome::Overflow),
            (Code::Addi, MIN, u32::MAX, Outcome::Overflow),
            (Code::Sub, MIN, 1, Outcome::Overflow),
            (Code::Sub, 0, MIN, Outcome::Overflow),
            (Code::Add, u32::MAX, 1, Outcome::Value(0)),
            (Code::Addi, 0x7fff_ffff, MIN, Outcome::Value(u32::MAX)),
            (Code::Sub, 0, 1, Outcome::Value(u32::MAX)),
        ] {
            assert_eq!(outcome(code, a, b), expected, "{code:?} {a:#x} {b:#x}");
        }
    }

    #[test]
    fn products_and_quotients_take_hi_and_lo() {
        for (code, a, b, hi, lo) in [
            (Code::Mult, u32::MAX, 2, u32::MAX, u32::MAX - 1),
            (Code::Multu, u32::MAX, 2, 1, u32::MAX - 1),
            (Code::Madd, u32::MAX, 3, 0, u32::MAX),
            (Code::Maddu, u32::MAX, 3, 3, u32::MAX),
            (Code::Msub, 1, 3, 0, u32::MAX),
            (Code::Msubu, u32::MAX, 2, u32::MAX, 4),
            (Code::Div, -7_i32 as u32, 2, u32::MAX, -3_i32 as u32),
            (Code::Divu, 7, 2, 1, 3),
            (Code::Div, 5, 0, 0, 5),
            (Code::Divu, 5, 0, 0, 5),
            (Code::Div, MIN, u32::MAX, 0, MIN),
        ] {
            assert_eq!(outcome(code, a, b), Outcome::Product(hi_lo(hi, lo)), "{code:?} {a:#x} {b:#x}");
        }
    }

    #[test]
    fn conditions_are_signed_where_they_say_so() {
        for (code, a, b, taken) in [
            (Code::Blez, 0, 0, true),
            (Code::Bgtz, MIN, 0, false),
            (Code::Bltzall, MIN, 0, true),
            (Code::Bgezal, 0, 0, true),
            (Code::Bnel, 1, 1, false),
        ] {
            assert_eq!(outcome(code, a, b), Outcome::Taken(taken), "{code:?} {a:#x} {b:#x}");
        }
        for (code, a, b, trapped) in [
            (Code::Tge, 0, MIN, true),
            (Code::Tgeu, 0, MIN, false),
            (Code::Tlti, u32::MAX, 0, true),
            (Code::Tltiu, 0, u32::MAX, true),
            (Code::Tnei, 4, 4, false),
        ] {
            assert_eq!(outcome(code, a, b), Outcome::Trapped(trapped), "{code:?} {a:#x} {b:#x}");
        }
        assert_eq!(outcome(Code::Lw, 0, 0), Outcome::Other);
    }

    #[test]
    fn two_instructions_move_any_word() {
        let memory = [0x4433_2211_u32, 0x8877_6655];
        let bytes = 0x8877_6655_4433_2211_u64;
        for first in 0..4_u32 {
            let last = first + 3;
            let word = |address: u32| memory[address as usize / 4];
            let loaded = load_left(last, word(last), load_right(first, word(first), 0xaabb_ccdd));
            assert_eq!(loaded, (bytes >> (first * 8)) as u32, "{first}");

            let mut changed = memory;
            changed[0] = store_right(first, changed[0], 0xaabb_ccdd);
            changed[last as usize / 4] = store_left(last, changed[last as usize / 4], 0xaabb_ccdd);
            let mask = u64::from(u32::MAX) << (first * 8);
            assert_eq!(hi_lo(changed[1], changed[0]), bytes & !mask | 0xaabb_ccdd << (first * 8), "{first}");
        }
    }
}

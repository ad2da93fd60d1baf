//! Operations: arithmetic on two registers or a register and an immediate, and the conditions of branches.
//!
//! Unprivileged specification, chapters 2 and 13. The table of operations is a macro: an inner loop has to dispatch
//! only once between all operations, the arithmetic ones and its own.

use super::op::Code;

/// A `match` on an operation's code: `$value` is the result of an arithmetic one on `$a` (rs1), `$b` (rs2) and `$imm`,
/// `$taken` the condition of a branch; further arms follow.
macro_rules! match_operation {
    (
        ($code:expr, $a:expr, $b:expr, $imm:expr)
        $value:ident => $computed:expr,
        $taken:ident => $branched:expr,
        $($further:tt)*
    ) => {
        match $code {
            Code::Add => { let $value = $a.wrapping_add($b); $computed }
            Code::Sub => { let $value = $a.wrapping_sub($b); $computed }
            Code::Sll => { let $value = $a.wrapping_shl($b); $computed }
            Code::Slt => { let $value = u32::from(($a as i32) < $b as i32); $computed }
            Code::Sltu => { let $value = u32::from($a < $b); $computed }
            Code::Xor => { let $value = $a ^ $b; $computed }
            Code::Srl => { let $value = $a.wrapping_shr($b); $computed }
            Code::Sra => { let $value = ($a as i32).wrapping_shr($b) as u32; $computed }
            Code::Or => { let $value = $a | $b; $computed }
            Code::And => { let $value = $a & $b; $computed }
            Code::Addi => { let $value = $a.wrapping_add($imm); $computed }
            Code::Slti => { let $value = u32::from(($a as i32) < $imm as i32); $computed }
            Code::Sltiu => { let $value = u32::from($a < $imm); $computed }
            Code::Xori => { let $value = $a ^ $imm; $computed }
            Code::Ori => { let $value = $a | $imm; $computed }
            Code::Andi => { let $value = $a & $imm; $computed }
            Code::Slli => { let $value = $a.wrapping_shl($imm); $computed }
            Code::Srli => { let $value = $a.wrapping_shr($imm); $computed }
            Code::Srai => { let $value = ($a as i32).wrapping_shr($imm) as u32; $computed }
            Code::Li => { let $value = $imm; $computed }
            Code::Mul => { let $value = $a.wrapping_mul($b); $computed }
            Code::Mulh => { let $value = ((i64::from($a as i32) * i64::from($b as i32)) >> 32) as u32; $computed }
            Code::Mulhsu => { let $value = ((i64::from($a as i32) * i64::from($b)) >> 32) as u32; $computed }
            Code::Mulhu => { let $value = ((u64::from($a) * u64::from($b)) >> 32) as u32; $computed }
            Code::Div => { let $value = $crate::isa::riscv::alu::div($a as i32, $b as i32) as u32; $computed }
            Code::Divu => { let $value = $a.checked_div($b).unwrap_or(u32::MAX); $computed }
            Code::Rem => { let $value = $crate::isa::riscv::alu::rem($a as i32, $b as i32) as u32; $computed }
            Code::Remu => { let $value = $a.checked_rem($b).unwrap_or($a); $computed }
            Code::Beq => { let $taken = $a == $b; $branched }
            Code::Bne => { let $taken = $a != $b; $branched }
            Code::Blt => { let $taken = ($a as i32) < $b as i32; $branched }
            Code::Bge => { let $taken = $a as i32 >= $b as i32; $branched }
            Code::Bltu => { let $taken = $a < $b; $branched }
            Code::Bgeu => { let $taken = $a >= $b; $branched }
            $($further)*
        }
    };
}
pub(super) use match_operation;

/// The result of an arithmetic operation on `a` (rs1), `b` (rs2) and `imm`; 0 for other operations.
#[inline(always)]
pub fn compute(code: Code, a: u32, b: u32, imm: u32) -> u32 {
    match_operation! { (code, a, b, imm) value => value, _taken => 0, _ => 0 }
}

/// The condition of a branch on `a` (rs1) and `b` (rs2); false for other operations.
#[inline(always)]
pub fn is_taken(code: Code, a: u32, b: u32) -> bool {
    let no_imm = 0u32;
    match_operation! { (code, a, b, no_imm) _value => false, taken => taken, _ => false }
}

/// div: by zero gives -1, overflow gives the dividend (section 13.2).
pub(super) fn div(a: i32, b: i32) -> i32 {
    if b == 0 { -1 } else { a.wrapping_div(b) }
}

/// rem: by zero gives the dividend, overflow gives 0 (section 13.2).
pub(super) fn rem(a: i32, b: i32) -> i32 {
    if b == 0 { a } else { a.wrapping_rem(b) }
}

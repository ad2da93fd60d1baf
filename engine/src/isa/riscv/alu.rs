//! What operations compute: arithmetic on two registers or a register and an immediate, and the conditions of branches.
//!
//! Unprivileged specification, chapters 2 and 13.

use super::op::Code;

/// The result of an arithmetic operation on `a` (rs1), `b` (rs2) and `imm`; 0 for an operation that has none.
#[inline(always)]
pub fn compute(code: Code, a: u32, b: u32, imm: u32) -> u32 {
    match code {
        Code::Add => a.wrapping_add(b),
        Code::Sub => a.wrapping_sub(b),
        Code::Sll => a.wrapping_shl(b),
        Code::Slt => u32::from((a as i32) < b as i32),
        Code::Sltu => u32::from(a < b),
        Code::Xor => a ^ b,
        Code::Srl => a.wrapping_shr(b),
        Code::Sra => (a as i32).wrapping_shr(b) as u32,
        Code::Or => a | b,
        Code::And => a & b,
        Code::Addi => a.wrapping_add(imm),
        Code::Slti => u32::from((a as i32) < imm as i32),
        Code::Sltiu => u32::from(a < imm),
        Code::Xori => a ^ imm,
        Code::Ori => a | imm,
        Code::Andi => a & imm,
        Code::Slli => a.wrapping_shl(imm),
        Code::Srli => a.wrapping_shr(imm),
        Code::Srai => (a as i32).wrapping_shr(imm) as u32,
        Code::Li => imm,
        Code::Mul => a.wrapping_mul(b),
        Code::Mulh => ((i64::from(a as i32) * i64::from(b as i32)) >> 32) as u32,
        Code::Mulhsu => ((i64::from(a as i32) * i64::from(b)) >> 32) as u32,
        Code::Mulhu => ((u64::from(a) * u64::from(b)) >> 32) as u32,
        Code::Div => div(a as i32, b as i32) as u32,
        Code::Divu => a.checked_div(b).unwrap_or(u32::MAX),
        Code::Rem => rem(a as i32, b as i32) as u32,
        Code::Remu => a.checked_rem(b).unwrap_or(a),
        _ => 0,
    }
}

/// Whether a branch on `a` (rs1) and `b` (rs2) is taken; false for an operation that is none.
#[inline(always)]
pub fn is_taken(code: Code, a: u32, b: u32) -> bool {
    match code {
        Code::Beq => a == b,
        Code::Bne => a != b,
        Code::Blt => (a as i32) < b as i32,
        Code::Bge => a as i32 >= b as i32,
        Code::Bltu => a < b,
        Code::Bgeu => a >= b,
        _ => false,
    }
}

/// div: by zero gives -1, overflow gives the dividend (section 13.2).
fn div(a: i32, b: i32) -> i32 {
    if b == 0 { -1 } else { a.wrapping_div(b) }
}

/// rem: by zero gives the dividend, overflow gives 0 (section 13.2).
fn rem(a: i32, b: i32) -> i32 {
    if b == 0 { a } else { a.wrapping_rem(b) }
}

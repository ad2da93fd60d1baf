//! Instruction sets: one folder each.

pub mod arm;
pub mod mips;
pub mod riscv;

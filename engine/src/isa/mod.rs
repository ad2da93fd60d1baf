//! Instruction sets: one folder each.

pub mod arm;
pub mod mips;
mod polls;
pub mod riscv;
mod rounds;
mod sections;

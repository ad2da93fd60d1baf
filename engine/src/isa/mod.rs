//! Instruction sets: one folder each.

pub mod arm;
mod polls;
pub mod riscv;
mod rounds;
mod sections;

//! Instruction sets: one folder each.

pub mod riscv;

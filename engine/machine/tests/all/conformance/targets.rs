//! The cores that are tested.

pub mod arm;
pub mod mips;
pub mod riscv;

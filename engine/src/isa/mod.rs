//! Instruction sets: one folder each.

pub mod arm;
mod deadline;
mod handlers;
mod lines;
pub mod mips;
mod polls;
pub mod riscv;
mod rounds;
mod sections;
mod skip;

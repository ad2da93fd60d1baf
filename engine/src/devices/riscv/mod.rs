//! What the RISC-V specifications describe.

pub mod clint0;

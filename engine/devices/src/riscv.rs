//! Devices of the RISC-V specifications.

pub mod clint0;

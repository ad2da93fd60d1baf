//! MIPS32 release 1, little-endian, without coprocessors beside 0.
//!
//! [`decode`] turns an encoding into an [`op::Op`]; [`alu`] has what operations compute; [`system`] is what is not the
//! general registers. [`decoded`] makes blocks of operations, with their static [`timing`]; `execute` runs them, with
//! a branch [`predictor`]; [`core`] has what the core that all share ([`crate::cpu`]) asks of an instruction set.

mod access;
pub mod alu;
mod compile;
pub mod config;
pub mod core;
mod counting;
mod debug;
pub mod decode;
pub mod decoded;
mod execute;
mod faults;
mod instructions;
pub mod op;
mod pages;
pub mod predictor;
pub mod system;
pub mod timing;
mod uhi;

//! MIPS32 release 1, little-endian, without coprocessors beside 0.
//!
//! [`decode`] turns an encoding into an [`op::Op`]; [`alu`] has what operations compute; [`system`] is what is not the general registers.
//! Decoded code is kept by `pages`; `execute` runs it, with the numbers of [`timing`] and a branch [`predictor`]; [`core`] chooses what runs next and
//! takes interrupts.

mod access;
mod accounts;
pub mod alu;
pub mod config;
pub mod core;
pub mod decode;
mod execute;
mod faults;
mod instructions;
pub mod op;
mod pages;
pub mod predictor;
mod skip;
pub mod system;
pub mod timing;
mod uhi;

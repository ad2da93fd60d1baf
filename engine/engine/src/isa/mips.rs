//! MIPS32 release 1, little-endian, with coprocessor 0 only.
//!
//! [`decode`] turns an encoding into an [`op::Op`]; [`alu`] computes the operations' results; [`system`] has the state
//! outside of the general registers. [`decoded`] makes blocks of operations, with their static [`timing`]; `execute`
//! runs them, with a branch [`predictor`]; [`instruction_set`] has the parts that the shared core ([`crate::cpu`])
//! needs.

mod access;
pub mod alu;
mod compile;
pub mod config;
mod counting;
mod debug;
pub mod decode;
pub mod decoded;
mod execute;
mod faults;
pub mod instruction_set;
mod instructions;
pub mod op;
mod pages;
pub mod predictor;
pub mod system;
pub mod timing;
mod uhi;

//! MIPS32 release 1, little-endian, without coprocessors beside 0.
//!
//! [`decode`] turns an encoding into an [`op::Op`]; [`alu`] has what operations compute; [`system`] is what is not the general registers.

pub mod alu;
pub mod decode;
pub mod op;
pub mod system;

//! MIPS32 release 1, little-endian, without coprocessors beside 0.
//!
//! An encoding becomes an [`op::Op`].

pub mod op;

//! Arm: ARMv7-A, in A32 and T32.
//!
//! Instructions of both sets are decoded into the same micro-operations ([`op`]); everything behind the decoders knows only those.

pub mod alu;
pub mod decode_a32;
pub mod decode_coprocessor;
pub mod decode_t32;
pub mod emit;
pub mod media;
pub mod memory;
pub mod op;
pub mod registers;
pub mod summary;
pub mod system;

//! Arm: ARMv7-A, in A32 and T32, and ARMv7E-M.
//!
//! Instructions of both sets are decoded into the same micro-operations ([`op`]); all code after the decoders uses only
//! these. [`instruction_set`] has the parts that the shared core ([`crate::cpu`]) needs, [`decoded`] the static
//! [`timing`] of a block; [`execute`] runs blocks; [`system`] has all state outside of the general registers.
//! [`crate::cpu::memory_system`] handles every load, store and fetch that costs more than its instruction.

mod a_profile;
mod access;
pub mod alu;
pub mod architecture;
mod compile;
pub mod config;
mod counting;
mod debug;
pub mod decode_a32;
pub mod decode_coprocessor;
pub mod decode_t32;
pub mod decoded;
pub mod emit;
pub mod event_register;
mod exclusive;
mod execute;
mod faults;
mod floating;
mod hints;
pub mod in_block;
pub mod instruction_set;
mod instructions;
pub mod m_core;
pub mod m_profile;
pub mod media;
pub mod op;
pub mod predictor;
pub mod psr;
pub mod registers;
pub mod summary;
pub mod system;
pub mod timing;
pub mod vfp;

//! RV32IMC with Zicsr and Zifencei, machine mode.
//!
//! [`decode`] turns an encoding into an [`op::Op`]; [`instruction_set`] has the parts that the shared core
//! ([`crate::cpu`]) needs, including static timing; [`execute`] runs blocks, and `compile` turns hot ones into host
//! code.

pub mod alu;
mod compile;
pub mod compressed;
mod counting;
mod debug;
pub mod decode;
pub mod disasm;
pub mod exceptions;
pub mod execute;
pub mod instruction_set;
pub mod op;
pub mod picorv32;
pub mod system;
pub mod timing;

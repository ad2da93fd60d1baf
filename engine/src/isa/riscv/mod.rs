//! RV32IMC with Zicsr and Zifencei, machine mode.
//!
//! [`decode`] turns an encoding into an [`op::Op`]; [`block`] collects operations into straight-line code with its static
//! [`timing`]; [`execute`] runs it; [`core`] chooses what runs next and takes interrupts; [`access`] is every load, store and
//! fetch that costs more than its instruction.

pub mod access;
pub mod block;
pub mod compressed;
pub mod core;
pub mod decode;
pub mod disasm;
pub mod exceptions;
pub mod execute;
pub mod op;
mod sections;
pub mod system;
pub mod timing;

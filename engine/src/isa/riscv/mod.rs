//! RV32IMC with Zicsr and Zifencei, machine mode.
//!
//! [`decode`] turns an encoding into an [`op::Op`]; [`block`] collects operations into straight-line code with its static
//! [`timing`]; [`execute`] runs it, and [`compile`] turns what is hot of it into host code; [`core`] chooses what runs next and
//! takes interrupts; [`access`] is every load, store and fetch that costs more than its instruction; `turns` keeps the order of
//! several cores' accesses; `skip` skips iterations of polling loops.

pub mod access;
mod accounts;
pub mod alu;
pub mod block;
#[cfg_attr(not(target_arch = "x86_64"), path = "compile/absent.rs")]
pub mod compile;
pub mod compressed;
pub mod core;
pub mod decode;
pub mod disasm;
pub mod exceptions;
pub mod execute;
pub mod op;
pub mod picorv32;
mod sections;
mod skip;
pub mod system;
pub mod timing;
mod turns;

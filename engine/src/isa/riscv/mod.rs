//! RV32IMC with Zicsr and Zifencei, machine mode.
//!
//! [`decode`] turns an encoding into an [`op::Op`].

pub mod op;

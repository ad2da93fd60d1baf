//! Small machines with a core each, and what they have in common.

#![allow(dead_code)]

pub mod arm;
pub mod arm_m;
pub mod debugged;
pub mod floats;
pub mod late;
pub mod mips;
pub mod pair;
pub mod printer;
pub mod random;
pub mod rig;
pub mod riscv;
pub mod snapshots;

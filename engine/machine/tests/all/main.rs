//! The whole simulator by its public names, like a user of the crates. It is a module of this crate's own tests: one
//! program has all tests, so the crate is compiled once for them.

#![allow(clippy::panic, clippy::unwrap_used)]

mod any_isa;
mod arm;
mod arm_m;
mod arm_m_events;
mod arm_m_lockup;
mod arm_m_matrix;
mod arm_m_random;
mod arm_m_vectors;
mod arm_vfp;
mod board_riscv;
mod clocks;
mod cold_code;
mod conformance;
mod critical_path;
mod elf_fuzz;
mod event_rates;
mod hand_over;
mod hart;
mod loading;
mod messages;
mod mips;
mod mips_blocks;
mod mips_polling;
mod mips_random;
mod overlays;
mod picorv32;
mod picorv32_polling;
mod quad_spi_dma;
mod riscv_polling;
mod support;
mod two_cores;
mod two_cores_clocks;

//! How a core gets its instructions where no cache holds them: policies, by name.
//!
//! - [`on_demand`]: words are fetched when an instruction needs them, and the last two are remembered.
//! - [`prefetch_next`]: the next instruction is fetched while the current one executes, through the port that data uses
//!   as well.
//!
//! A policy knows word addresses, halfwords and cycles. What an instruction is stays with the instruction set: all that
//! a policy asks is whether a halfword is an instruction by itself.

pub mod on_demand;
pub mod prefetch_next;

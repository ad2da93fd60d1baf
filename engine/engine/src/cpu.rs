//! The core that all instruction sets share.
//!
//! [`Cpu`] keeps its time, finds, links and fetches blocks of decoded code ([`block`]), leaves them where it has to
//! check for news, alternates with other cores, fast-forwards polling loops, times functions, and reports its time by
//! cause. An instruction set supplies [`isa::Isa`]. A core that runs instructions in another manner shares the
//! [`shell`].

pub(crate) mod access;
pub mod accounts;
pub mod block;
pub(crate) mod calls;
pub(crate) mod compile;
pub mod cost;
pub(crate) mod deadline;
mod debugging;
mod fetch;
mod followed;
mod forgetting;
pub(crate) mod handlers;
pub(crate) mod irqs;
pub mod isa;
pub(crate) mod kept_calls;
mod leave;
pub mod memory_system;
pub mod polling_loops;
pub(crate) mod profiler;
pub mod read;
mod run_loop;
mod saving;
pub mod sections;
pub(crate) mod shell;
#[cfg(test)]
mod tests;
#[cfg(any(test, feature = "testing"))]
pub mod toy;
mod turns;
mod waiting;
pub mod waits;

pub use self::run_loop::{Config, Cpu, REGISTERS};

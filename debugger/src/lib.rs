//! GDB's remote protocol for a machine: all cores are threads of one process.
//!
//! [`serve()`] holds a machine for a client at a [`Link`]: it halts the machine, shows it, and runs it for the client,
//! until the client leaves or the run is over. The crate gdbstub implements the protocol; this crate has the machine's
//! answers ([`target`](self)), the registers ([`layout`]), and the `monitor` commands.

pub mod conditions;
mod extended;
pub mod history;
pub mod layout;
mod link;
mod monitor;
mod program_file;
mod registers;
mod serve;
mod target;

pub use link::Link;
pub use serve::{Ended, Options, Typist, serve, serve_typed};

//! GDB's remote protocol for a machine: all cores are threads of one process.
//!
//! [`serve()`] holds a machine for a client at a [`Link`]: it halts the machine, shows it, and lets it run as the
//! client wants, until the client leaves or the run is over. The protocol itself is the crate gdbstub's; what is here
//! is what the machine answers ([`target`](self)), which registers there are ([`layout`]), and the `monitor` commands.

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

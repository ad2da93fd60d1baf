//! A board: from a devicetree's nodes to typed, checked parameters.
//!
//! `.dts` -> [`node::Node`] (raw, with file and line) -> [`reader::NodeReader`] (each device reads and checks what it takes)
//! -> a machine. Every fault is collected; nothing is built while there is one.

pub mod bindings;
pub mod build;
mod common;
mod cores;
pub mod fault;
mod images;
mod inputs;
pub mod interrupts;
mod linux;
mod memories;
pub mod node;
pub mod params;
mod passive;
pub mod pins;
pub mod reader;
pub mod ways;

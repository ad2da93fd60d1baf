//! Cyclescope's engine: it runs firmware on a simulated board, with timing.
//!
//! It knows time, events, buses, cores, memories, devices and wires. It does not know Python, experiments, published
//! tables, or any file format but ELF and waveforms.
//!
//! Where to start reading: [`machine`] ties the parts together; [`bus::device`] has the interface of device models;
//! [`wire::spi`] has the interface of chips on an SPI wire; [`dt`] turns the properties of a devicetree node into
//! checked, typed parameters, and [`board`] turns nodes into a machine; [`cpu`] is the core, and [`isa`] adds the
//! instruction sets to it.

pub mod activity;
pub mod board;
pub mod bus;
pub mod clocks;
pub mod core;
pub mod cpu;
pub mod devices;
pub mod disassembly;
pub mod dt;
pub mod elf;
pub mod encoding;
pub mod event;
pub mod event_rates;
pub mod faults;
pub mod host;
pub mod host_image;
pub mod inputs;
pub mod isa;
pub mod machine;
pub mod memory;
pub mod observe;
pub mod one_line;
pub mod order;
pub mod patience;
pub mod pipe;
pub mod polling;
pub mod semihosting;
pub mod serial;
pub mod state;
pub mod time;
pub mod wire;
pub mod wires;

#[cfg(test)]
extern crate self as cyclescope_engine;

#[cfg(test)]
mod tiers;
#[cfg(test)]
#[path = "../tests/all/main.rs"]
mod whole;

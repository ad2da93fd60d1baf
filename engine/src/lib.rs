//! Cyclescope's engine: it runs firmware on a simulated board, with timing.
//!
//! What it knows: time, events, buses, cores, memories, devices and wires. What it does not know: Python,
//! experiments, published tables, any file format but ELF and waveforms.
//!
//! Where to start reading: [`machine`] ties the parts together; [`bus::device`] is what a device model implements;
//! [`wire::spi`] is what a chip on an SPI wire implements; [`dt`] is how properties of a devicetree node become a
//! typed, checked parameter set, [`board`] how nodes become a machine; [`cpu`] is the core, and [`isa`] what each
//! instruction set adds to it.

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

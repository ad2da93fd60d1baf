//! Cyclescope's engine: what the inner loop of a simulation needs, with timing.
//!
//! It knows time, events, buses, cores, memories and wires. The crate `devices` has the models of devices, the crate
//! `machine` puts a board together and runs it. None of them knows Python, experiments, published tables, or any file
//! format but ELF and waveforms.
//!
//! Where to start reading: [`bus::device`] has the interface of device models; [`wire::spi`] has the interface of chips
//! on an SPI wire; [`dt`] turns the properties of a devicetree node into checked, typed parameters; [`cpu`] is the
//! core, and [`isa`] adds the instruction sets to it.

// Derived code names this crate wherever it is.
extern crate self as engine;

pub mod activity;
pub mod bus;
pub mod clocks;
pub mod core;
pub mod cpu;
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
pub mod memory;
pub mod observe;
pub mod one_line;
pub mod order;
pub mod patience;
pub mod pins;
pub mod pipe;
pub mod polling;
pub mod semihosting;
pub mod serial;
pub mod state;
#[cfg(any(test, feature = "testing"))]
pub mod tiers;
pub mod time;
pub mod wire;

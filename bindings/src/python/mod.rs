//! Devices in Python: the engine calls objects of the user's, and takes up what they ask for meanwhile.
//!
//! `cyclescope.devices` says what such an object is. A run goes on without the interpreter's lock; each call takes it,
//! and lets it go.

pub mod base;
pub mod calls;
mod chip;
mod device;
mod i2c_chip;
mod instance;
pub mod models;
mod spi_chip;

/// After so many calls of a device the machine looks whether the user wants to stop.
const CALLS_BETWEEN_LOOKS: u32 = 64;

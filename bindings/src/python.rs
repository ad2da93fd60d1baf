//! Devices in Python: the engine calls the user's objects, and carries out their requests.
//!
//! `cyclescope.devices` documents these objects. A run does not hold the interpreter's lock; each call takes it, and
//! releases it.

pub mod base;
pub mod calls;
mod chip;
mod device;
mod i2c_chip;
mod instance;
pub mod models;
mod spi_chip;

/// After this many calls of a device, the machine checks whether the user wants to stop.
const CALLS_BETWEEN_LOOKS: u32 = 64;

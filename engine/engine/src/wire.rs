//! Wires between a controller and the chips next to it.

pub mod bytes;
pub mod can;
pub mod chip;
pub mod i2c;
pub mod i2c_pins;
pub mod notes;
pub mod spi;
pub mod spi_pins;

//! Wires between a controller and the chips beside it.

pub mod pins;
pub mod spi;

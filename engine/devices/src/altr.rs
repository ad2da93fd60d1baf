//! Models of Altera's (Intel's) cores.

pub mod juart;
pub mod spi;
pub mod timer;

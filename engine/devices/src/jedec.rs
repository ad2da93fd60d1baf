//! Chips of JEDEC's standards.

pub mod spi_nor;

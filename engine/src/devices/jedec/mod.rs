//! Chips that JEDEC's standards describe.

pub mod spi_nor;

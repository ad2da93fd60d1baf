//! Models whose compatibles name no vendor.

pub mod cache;
pub mod mmc_spi_slot;
pub mod spi_gpio;

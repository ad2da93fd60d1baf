//! Models whose compatibles name no vendor.

pub mod cache;
pub mod gpio_keys;
pub mod gpio_leds;
pub mod i2c_gpio;
pub mod mmc_spi_slot;
pub mod spi_gpio;

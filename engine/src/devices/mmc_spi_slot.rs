//! An SD card in SPI mode (`mmc-spi-slot`).

pub mod translation;

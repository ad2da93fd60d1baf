//! `cyclescope,sd-card`: an SD memory card, SDSC or SDHC, in the slot of a host controller that drives CMD and four
//! data lines: SD mode. It is the card of `mmc-spi-slot` (SD Association, "SD Specifications Part 1, Physical Layer
//! Simplified Specification", Version 4.10): the same contents, registers, flash and faults.
//!
//! Modelled: the states from idle to programming, with the commands 0, 2, 3, 6 to 10, 12, 13, 15 to 18, 23 to 25, 32,
//! 33, 38 and 55, and 6, 13, 22, 23, 41, 42 and 51 after CMD55; the card status with its errors; one data line or
//! four; High Speed (`cyclescope,high-speed`); the busy time on DAT0 after blocks, CMD12, and CMD38.
//!
//! Not modelled: UHS-I (CMD11, CMD19), locking, the write protection of groups, and all that `mmc-spi-slot` lacks. On
//! an SPI controller it works as `mmc-spi-slot`.

use crate::generic::mmc_spi_slot::{self, Card};
use crate::prelude::*;

/// For the list of models.
pub const MODEL: Model = Model::spi_chip(&["cyclescope,sd-card"], |reader| Box::new(Card::from_node(reader)))
    .with_activities(mmc_spi_slot::MODEL.activities);

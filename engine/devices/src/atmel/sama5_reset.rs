//! The reset controller and the shutdown controller of SAMA5 chips: a command register at offset 0, whose command ends
//! the run, and registers of settings. A write has an effect with its key only.

pub mod sama5d2_shdwc;
pub mod sama5d3_rstc;

/// The key, and its bits of a write.
const KEY: u32 = 0xa5;
const KEY_BITS: u32 = 0xff00_0000;

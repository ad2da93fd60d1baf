//! Models of National Semiconductor's parts, which are TI's today.

pub mod lm75;

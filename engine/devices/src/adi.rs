//! Models of Analog Devices' parts.

pub mod adxl345;

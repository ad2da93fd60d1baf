//! Devices of the virtio standard.

pub mod mmio;

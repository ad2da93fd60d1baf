//! Devices that the virtio standard describes.

pub mod mmio;

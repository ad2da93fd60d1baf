//! Which chips of a board keep what they store in which files of the host.

use crate::device::Device;
use crate::dt::fault::BoardFault;
use crate::host_image::{HostImage, ImageError};

/// Two chips with one image, unless both only read it, are a fault of the second.
pub fn check_distinct(devices: &mut [Option<Box<dyn Device>>], faults: &mut Vec<BoardFault>) {
    let mut seen: Vec<&mut HostImage> = Vec::new();
    for image in devices.iter_mut().flatten().flat_map(|device| device.chips()).filter_map(|chip| chip.image()) {
        if let Some(other) = seen.iter().find(|other| image.clashes_with(other)) {
            faults.push(image.fault(&ImageError::Shared { other: other.label().to_owned() }));
        }
        seen.push(image);
    }
}

//! The file on the host that holds the array's contents.

use super::array::Array;
use engine::dt::reader::NodeReader;
use engine::host_image::{self, Access, HostImage};

/// The array's file. A copy of a chip, on which a controller tries an access, has no file.
#[derive(Debug, Default)]
pub struct Backing {
    pub image: Option<HostImage>,
    /// Bytes that a programmer stored before the run, with their addresses: they take precedence over the image's
    /// contents when it begins.
    pub programmed: Vec<(u32, Vec<u8>)>,
}

impl Clone for Backing {
    fn clone(&self) -> Backing {
        Backing::default()
    }
}

impl Backing {
    /// The image that a node names; its contents go to the array.
    pub fn from_node(reader: &mut NodeReader, array: &mut Array) -> Backing {
        let Some((image, file)) = HostImage::from_node(reader, Access::Replaced) else { return Backing::default() };
        match file.map_or(Ok(Vec::new()), |file| host_image::read(&file, array.size_bytes())) {
            Ok(contents) => array.fill(&contents),
            Err(error) => reader.fault_at("cyclescope,image", image.fault(&error).kind),
        }
        Backing { image: Some(image), programmed: Vec::new() }
    }
}

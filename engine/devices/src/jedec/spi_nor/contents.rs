//! The file on the host that holds the array's contents.

use std::sync::Arc;

use super::Flash;
use super::array::Array;
use engine::dt::reader::NodeReader;
use engine::host_image::{self, Access, HostImage, ImageError};

/// The array's file. A copy of a chip, on which a controller tries an access, has no file.
#[derive(Debug, Default)]
pub struct Backing {
    pub image: Option<HostImage>,
    /// Bytes that a programmer stored before the run, with their addresses.
    programmed: Vec<(u32, Vec<u8>)>,
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

impl Flash {
    /// Stores bytes before the run; they take precedence over the image's contents when it begins.
    pub(super) fn store(&mut self, address: u32, bytes: &[u8]) -> bool {
        if self.backing.image.is_some() {
            self.backing.programmed.push((address, bytes.to_vec()));
        }
        Arc::make_mut(&mut self.array).write(address, bytes)
    }

    /// Takes the image, and reads it again: another run may have ended since the board was made.
    pub(super) fn take_image(&mut self) -> Result<(), ImageError> {
        let Some(image) = &mut self.backing.image else { return Ok(()) };
        let array = Arc::make_mut(&mut self.array);
        let (file, is_locked) = image.take()?;
        let contents = host_image::read(file, array.size_bytes())?;
        if !is_locked {
            self.notes.add(host_image::NOT_LOCKED.to_owned());
        }
        array.fill(&contents);
        for (address, bytes) in self.backing.programmed.drain(..) {
            array.write(address, &bytes);
        }
        Ok(())
    }

    /// Replaces the image, if anything was changed.
    pub(super) fn save(&mut self) -> Result<(), ImageError> {
        let Some(image) = self.backing.image.as_mut().filter(|_| self.array.is_dirty()) else { return Ok(()) };
        image.replace(&|out| self.array.write_to(out))
    }
}

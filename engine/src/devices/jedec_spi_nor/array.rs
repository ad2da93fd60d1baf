//! The memory array: subsectors that exist only where something was programmed, and the file behind them.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use super::parts::SUBSECTOR_BYTES;

const CHUNK_BYTES: usize = SUBSECTOR_BYTES as usize;
const ERASED: u8 = 0xff;

/// Why an image could not be used.
#[derive(Debug, thiserror::Error)]
pub enum ImageError {
    /// It could not be read.
    #[error("it cannot be read: {0}")]
    Read(io::Error),
    /// It is longer than the flash.
    #[error("it has {bytes} bytes, the flash {size_bytes}")]
    TooLong {
        /// Of the file.
        bytes: usize,
        /// Of the flash.
        size_bytes: u32,
    },
    /// It could not be written. The file is as before.
    #[error("{path} could not be written and is as before: {source}")]
    Write {
        /// The file.
        path: String,
        /// Why.
        source: io::Error,
    },
}

/// Contents of the array.
#[derive(Clone, Debug)]
pub struct Array {
    /// One a subsector; `None` is erased.
    chunks: Vec<Option<Box<[u8; CHUNK_BYTES]>>>,
    image: Option<PathBuf>,
    dirty: bool,
}

impl Array {
    /// An erased array of `size_bytes`, a multiple of the subsector.
    pub fn erased(size_bytes: u32) -> Array {
        Array { chunks: vec![None; (size_bytes / SUBSECTOR_BYTES) as usize], image: None, dirty: false }
    }

    /// Takes the contents from `image`, and [`Array::save`] will write them there. A file that does not exist is an
    /// erased array, a shorter one is erased at its end.
    ///
    /// # Errors
    /// [`ImageError::Read`] and [`ImageError::TooLong`].
    pub fn load(&mut self, image: &Path) -> Result<(), ImageError> {
        let size_bytes = self.chunks.len() * CHUNK_BYTES;
        let bytes = match fs::read(image) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(ImageError::Read(error)),
        };
        if bytes.len() > size_bytes {
            return Err(ImageError::TooLong { bytes: bytes.len(), size_bytes: size_bytes as u32 });
        }
        for (chunk, bytes) in self.chunks.iter_mut().zip(bytes.chunks(CHUNK_BYTES)) {
            if bytes.iter().any(|byte| *byte != ERASED) {
                let mut contents = Box::new([ERASED; CHUNK_BYTES]);
                contents[..bytes.len()].copy_from_slice(bytes);
                *chunk = Some(contents);
            }
        }
        self.image = Some(image.to_owned());
        Ok(())
    }

    /// The byte at `address`, which lies within the array.
    pub fn byte(&self, address: u32) -> u8 {
        match &self.chunks[(address / SUBSECTOR_BYTES) as usize] {
            Some(chunk) => chunk[(address % SUBSECTOR_BYTES) as usize],
            None => ERASED,
        }
    }

    /// The four bytes from `address` on, the first highest; `None` if they cross a subsector.
    pub fn word(&self, address: u32) -> Option<u32> {
        let first = (address % SUBSECTOR_BYTES) as usize;
        match self.chunks.get((address / SUBSECTOR_BYTES) as usize)? {
            Some(chunk) => chunk.get(first..)?.first_chunk().copied().map(u32::from_be_bytes),
            None => (first <= CHUNK_BYTES - 4).then_some(u32::MAX),
        }
    }

    /// Copies bytes out; `false` if any of them lies past the end.
    pub fn read(&self, address: u32, into: &mut [u8]) -> bool {
        let size_bytes = (self.chunks.len() * CHUNK_BYTES) as u64;
        if u64::from(address) + into.len() as u64 > size_bytes {
            return false;
        }
        for (at, byte) in (address..).zip(into) {
            *byte = self.byte(at);
        }
        true
    }

    /// Replaces bytes; `false`, with nothing changed, if any of them lies past the end.
    pub fn write(&mut self, address: u32, bytes: &[u8]) -> bool {
        let size_bytes = (self.chunks.len() * CHUNK_BYTES) as u64;
        if u64::from(address) + bytes.len() as u64 > size_bytes {
            return false;
        }
        let mut at = address as usize;
        let mut rest = bytes;
        while !rest.is_empty() {
            let first = at % CHUNK_BYTES;
            let (now, later) = rest.split_at(rest.len().min(CHUNK_BYTES - first));
            let contents = self.chunks[at / CHUNK_BYTES].get_or_insert_with(|| Box::new([ERASED; CHUNK_BYTES]));
            contents[first..first + now.len()].copy_from_slice(now);
            at += now.len();
            rest = later;
        }
        self.dirty |= !bytes.is_empty();
        true
    }

    /// Programs a page's worth of bytes, which do not cross a subsector: bits go from 1 to 0, never back.
    pub fn program(&mut self, address: u32, bytes: &[u8]) {
        let chunk = &mut self.chunks[(address / SUBSECTOR_BYTES) as usize];
        let contents = chunk.get_or_insert_with(|| Box::new([ERASED; CHUNK_BYTES]));
        let first = (address % SUBSECTOR_BYTES) as usize;
        for (cell, byte) in contents[first..].iter_mut().zip(bytes) {
            *cell &= byte;
        }
        self.dirty = true;
    }

    /// Erases `bytes` from `address`, both multiples of the subsector.
    pub fn erase(&mut self, address: u32, bytes: u32) {
        let first = (address / SUBSECTOR_BYTES) as usize;
        self.chunks[first..first + (bytes / SUBSECTOR_BYTES) as usize].fill(None);
        self.dirty = true;
    }

    /// Writes changed contents to the image, if there is one: to a new file beside it, synced to the disk and then
    /// renamed, so that a crash at any time leaves either the old file or the new one.
    ///
    /// # Errors
    /// [`ImageError::Write`]; the old file is untouched.
    pub fn save(&mut self) -> Result<(), ImageError> {
        let Some(image) = self.image.clone().filter(|_| self.dirty) else { return Ok(()) };
        let temporary = temporary_beside(&image);
        let written = self.write_to(&temporary).and_then(|()| fs::rename(&temporary, &image));
        if let Err(source) = written {
            // Best effort: what matters is that the image itself was not touched.
            let _ = fs::remove_file(&temporary);
            return Err(ImageError::Write { path: image.display().to_string(), source });
        }
        sync_directory_of(&image);
        self.dirty = false;
        Ok(())
    }

    fn write_to(&self, path: &Path) -> io::Result<()> {
        let mut out = BufWriter::with_capacity(CHUNK_BYTES * 16, File::create(path)?);
        for chunk in &self.chunks {
            out.write_all(chunk.as_deref().unwrap_or(&[ERASED; CHUNK_BYTES]))?;
        }
        out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all()
    }
}

/// A name in the same directory (renames do not cross file systems) that no other run or flash uses.
fn temporary_beside(image: &Path) -> PathBuf {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let mut name = image.file_name().unwrap_or_default().to_owned();
    name.push(format!(".{}-{}.tmp", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed)));
    image.with_file_name(name)
}

/// Makes the rename itself durable, where the system can.
fn sync_directory_of(image: &Path) {
    let parent = image.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    if let Ok(directory) = File::open(parent) {
        // Not all file systems can sync a directory; the contents are safe either way.
        let _ = directory.sync_all();
    }
}

//! The contents of the card: blocks of 512 bytes in memory, kept only if they were written, or in a file.

mod image;

use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::ops::Range;

use engine::host_image::{self, ImageError};
use engine::state::{Damaged, Loader, Saver, State, pages};
use image::Image;

/// Bytes of a block.
pub const BLOCK_BYTES: usize = 512;
/// Blocks that are kept, read and erased together.
const CHUNK_BLOCKS: u32 = 8;
const CHUNK_BYTES: usize = BLOCK_BYTES * CHUNK_BLOCKS as usize;
const _: () = assert!(CHUNK_BYTES == pages::PAGE_BYTES);
/// The contents of unwritten and erased blocks (DATA_STAT_AFTER_ERASE in the SCR).
const ERASED: u8 = 0;

/// Chunks of eight blocks by their numbers, if a block in them was written.
type Chunks = BTreeMap<u32, Box<[u8; CHUNK_BYTES]>>;

/// Contents of the card.
#[derive(Debug)]
pub enum Medium {
    /// Memory.
    Memory(Chunks),
    /// A raw image.
    Image(Image),
}

/// A chunk's part of a span of bytes.
struct Part {
    number: u32,
    /// The range of bytes in the span, and in the chunk.
    span: Range<usize>,
    within: Range<usize>,
}

/// A span of bytes, chunk by chunk.
fn chunks_of(at: u64, len: usize) -> impl Iterator<Item = Part> {
    let mut done = 0;
    std::iter::from_fn(move || {
        let place = at + done as u64;
        let first = (place % CHUNK_BYTES as u64) as usize;
        let bytes = (len - done).min(CHUNK_BYTES - first);
        let number = (place / CHUNK_BYTES as u64) as u32;
        let part = Part { number, span: done..done + bytes, within: first..first + bytes };
        done += bytes;
        (bytes > 0).then_some(part)
    })
}

/// Memory in which all blocks are unwritten.
impl Default for Medium {
    fn default() -> Medium {
        Medium::Memory(BTreeMap::new())
    }
}

impl Medium {
    /// An image, and its size in bytes.
    ///
    /// # Errors
    /// [`ImageError::Size`] if it does not hold whole blocks, and [`ImageError::Read`].
    pub fn image(file: File) -> Result<(Medium, u64), ImageError> {
        let bytes = host_image::size_bytes(&file).map_err(ImageError::Read)?;
        if bytes == 0 || !bytes.is_multiple_of(BLOCK_BYTES as u64) {
            return Err(ImageError::Size(bytes));
        }
        Ok((Medium::Image(Image::new(file)), bytes))
    }

    /// Copies bytes out, from byte `at` on.
    ///
    /// # Errors
    /// The host's, for an image.
    pub fn read(&self, at: u64, into: &mut [u8]) -> io::Result<()> {
        match self {
            Medium::Memory(chunks) => {
                for Part { number, span, within } in chunks_of(at, into.len()) {
                    match chunks.get(&number) {
                        Some(chunk) => into[span].copy_from_slice(&chunk[within]),
                        None => into[span].fill(ERASED),
                    }
                }
                Ok(())
            }
            Medium::Image(image) => image.read(at, into),
        }
    }

    /// Replaces bytes from byte `at` on.
    ///
    /// # Errors
    /// The host's, for an image.
    pub fn write(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        match self {
            Medium::Memory(chunks) => {
                for Part { number, span, within } in chunks_of(at, bytes.len()) {
                    let chunk = chunks.entry(number).or_insert_with(|| Box::new([ERASED; CHUNK_BYTES]));
                    chunk[within].copy_from_slice(&bytes[span]);
                }
                Ok(())
            }
            Medium::Image(image) => image.write(at, bytes),
        }
    }

    /// Erases blocks `first` to `last`. Erased chunks are not written again, so that holes of a sparse image stay
    /// holes.
    ///
    /// # Errors
    /// The host's, for an image; blocks before the faulty one are erased.
    pub fn erase(&mut self, first: u32, last: u32) -> io::Result<()> {
        let mut block = first;
        while block <= last {
            let end = (block | (CHUNK_BLOCKS - 1)).min(last);
            let whole = end - block + 1 == CHUNK_BLOCKS;
            match self {
                Medium::Memory(chunks) if whole => {
                    chunks.remove(&(block / CHUNK_BLOCKS));
                }
                _ => self.clear(block, end - block + 1)?,
            }
            let Some(next) = end.checked_add(1) else { break };
            block = next;
        }
        Ok(())
    }

    /// Erases up to a chunk.
    fn clear(&mut self, first: u32, blocks: u32) -> io::Result<()> {
        let at = u64::from(first) * BLOCK_BYTES as u64;
        let mut bytes = [ERASED; CHUNK_BYTES];
        let bytes = &mut bytes[..blocks as usize * BLOCK_BYTES];
        self.read(at, bytes)?;
        if bytes.iter().all(|byte| *byte == ERASED) {
            return Ok(());
        }
        bytes.fill(ERASED);
        self.write(at, bytes)
    }

    /// Makes all writes durable even if the host fails.
    ///
    /// # Errors
    /// The host's, for an image.
    pub fn sync(&mut self) -> io::Result<()> {
        match self {
            Medium::Memory(_) => Ok(()),
            Medium::Image(image) => image.sync(),
        }
    }
}

/// The board decides whether there is an image.
impl State for Medium {
    fn save(&self, to: &mut Saver) {
        match self {
            Medium::Memory(chunks) => {
                pages::save(chunks.iter().map(|(number, chunk)| (*number, chunk.as_ref())), to);
            }
            Medium::Image(image) => image.save(to),
        }
    }

    fn load(&mut self, from: &mut Loader) -> Result<(), Damaged> {
        match self {
            Medium::Memory(chunks) => *chunks = pages::loaded(1 << 32, from)?,
            Medium::Image(image) => image.load(from)?,
        }
        Ok(())
    }
}

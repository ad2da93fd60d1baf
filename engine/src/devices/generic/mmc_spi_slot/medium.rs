//! What the card stores: blocks of 512 bytes in memory, kept only where something was written, or in a file.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};

use crate::host_image::{self, ImageError};

/// Bytes of a block.
pub const BLOCK_BYTES: usize = 512;
/// Blocks that are kept, read and erased together.
const CHUNK_BLOCKS: u32 = 8;
const CHUNK_BYTES: usize = BLOCK_BYTES * CHUNK_BLOCKS as usize;
/// What blocks hold that were never written, and erased ones (DATA_STAT_AFTER_ERASE in the SCR).
const ERASED: u8 = 0;

/// Contents of the card.
#[derive(Debug)]
pub enum Medium {
    /// Chunks of eight blocks, where anything was written.
    Memory(BTreeMap<u32, Box<[u8; CHUNK_BYTES]>>),
    /// A raw image. What is written is handed to the system at once: it outlives a crash of this program.
    Image(File),
}

impl Medium {
    /// Memory in which nothing was written.
    pub fn memory() -> Medium {
        Medium::Memory(BTreeMap::new())
    }

    /// An image, and its size in bytes.
    ///
    /// # Errors
    /// [`ImageError::Size`] if it does not hold whole blocks, and [`ImageError::Read`].
    pub fn image(file: File) -> Result<(Medium, u64), ImageError> {
        let bytes = host_image::size_bytes(&file).map_err(ImageError::Read)?;
        if bytes == 0 || !bytes.is_multiple_of(BLOCK_BYTES as u64) {
            return Err(ImageError::Size(bytes));
        }
        Ok((Medium::Image(file), bytes))
    }

    /// Copies bytes out, from byte `at` on.
    ///
    /// # Errors
    /// The host's, for an image.
    pub fn read(&self, at: u64, into: &mut [u8]) -> io::Result<()> {
        match self {
            Medium::Memory(chunks) => {
                let (mut at, mut rest) = (at, into);
                while !rest.is_empty() {
                    let first = (at % CHUNK_BYTES as u64) as usize;
                    let (now, later) = rest.split_at_mut(rest.len().min(CHUNK_BYTES - first));
                    match chunks.get(&((at / CHUNK_BYTES as u64) as u32)) {
                        Some(chunk) => now.copy_from_slice(&chunk[first..first + now.len()]),
                        None => now.fill(ERASED),
                    }
                    at += now.len() as u64;
                    rest = later;
                }
                Ok(())
            }
            Medium::Image(file) => {
                let mut file = file;
                file.seek(SeekFrom::Start(at))?;
                file.read_exact(into)
            }
        }
    }

    /// Replaces bytes from byte `at` on.
    ///
    /// # Errors
    /// The host's, for an image.
    pub fn write(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        match self {
            Medium::Memory(chunks) => {
                let mut at = at;
                let mut rest = bytes;
                while !rest.is_empty() {
                    let first = (at % CHUNK_BYTES as u64) as usize;
                    let (now, later) = rest.split_at(rest.len().min(CHUNK_BYTES - first));
                    let chunk = chunks.entry((at / CHUNK_BYTES as u64) as u32);
                    let chunk = chunk.or_insert_with(|| Box::new([ERASED; CHUNK_BYTES]));
                    chunk[first..first + now.len()].copy_from_slice(now);
                    at += now.len() as u64;
                    rest = later;
                }
                Ok(())
            }
            Medium::Image(file) => {
                file.seek(SeekFrom::Start(at))?;
                file.write_all(bytes)
            }
        }
    }

    /// Erases blocks `first` to `last`. What is erased already is not written, so that holes of a sparse image stay
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
    pub fn sync(&self) -> io::Result<()> {
        match self {
            Medium::Memory(_) => Ok(()),
            Medium::Image(file) => file.sync_all(),
        }
    }
}

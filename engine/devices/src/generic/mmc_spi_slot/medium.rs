//! The contents of a card or a disk: blocks of 512 bytes in memory, kept only if they were written, or in a raw image
//! on the host, and their part of snapshots.
//!
//! Data written to an image are passed to the operating system at once, so that they survive a crash of this program.
//! From the first snapshot on the file is not changed, so that the snapshot stays valid: later writes are kept here,
//! are part of snapshots, and go to the file at the end of the run. Neither saving nor loading a snapshot writes the
//! file.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::os::unix::fs::MetadataExt;

use engine::host_image::{ImageError, size_bytes};
use engine::state::{Damaged, Fresh, Loader, Saver, State, pages};

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

/// Identifies the contents of a file: its size, and its modification time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
struct Stamp {
    bytes: u64,
    seconds: i64,
    nanoseconds: i64,
}

/// Contents of a card or a disk.
#[derive(Debug, Default)]
pub struct Medium {
    /// The image, if there is one: the board decides that.
    file: Option<File>,
    /// The stamp of the file at the first snapshot, from which on the file is not changed.
    base: Cell<Option<Stamp>>,
    /// All chunks without a file, or those written since that snapshot.
    written: Chunks,
    /// The previous contents of chunks that were written to the file at the end of a run.
    replaced: Chunks,
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

fn stamp(file: &File) -> io::Result<Stamp> {
    let found = file.metadata()?;
    Ok(Stamp { bytes: found.len(), seconds: found.mtime(), nanoseconds: found.mtime_nsec() })
}

/// The number of bytes that a file has of a chunk, and the place of the chunk.
fn bytes_of(file: &File, number: u32) -> io::Result<(usize, SeekFrom)> {
    let first = u64::from(number) * CHUNK_BYTES as u64;
    let bytes = size_bytes(file)?.saturating_sub(first).min(CHUNK_BYTES as u64);
    Ok((bytes as usize, SeekFrom::Start(first)))
}

impl Medium {
    /// An image, and its size in bytes.
    ///
    /// # Errors
    /// [`ImageError::Size`] if it does not hold whole blocks, and [`ImageError::Read`].
    pub fn image(file: File) -> Result<(Medium, u64), ImageError> {
        let bytes = size_bytes(&file).map_err(ImageError::Read)?;
        if bytes == 0 || !bytes.is_multiple_of(BLOCK_BYTES as u64) {
            return Err(ImageError::Size(bytes));
        }
        Ok((Medium { file: Some(file), ..Medium::default() }, bytes))
    }

    /// Copies bytes out, from byte `at` on.
    ///
    /// # Errors
    /// The host's, for an image.
    pub fn read(&self, at: u64, into: &mut [u8]) -> io::Result<()> {
        match self.file.as_ref() {
            Some(mut file) => {
                file.seek(SeekFrom::Start(at))?;
                file.read_exact(into)?;
            }
            None => into.fill(ERASED),
        }
        for part in chunks_of(at, into.len()).filter(|_| !self.written.is_empty()) {
            if let Some(chunk) = self.written.get(&part.number) {
                into[part.span].copy_from_slice(&chunk[part.within]);
            }
        }
        Ok(())
    }

    /// Replaces bytes from byte `at` on.
    ///
    /// # Errors
    /// The host's, for an image.
    pub fn write(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        if let Some(mut file) = self.file.as_ref().filter(|_| self.base.get().is_none()) {
            file.seek(SeekFrom::Start(at))?;
            return file.write_all(bytes);
        }
        for part in chunks_of(at, bytes.len()) {
            let mut chunk = match self.written.remove(&part.number) {
                Some(chunk) => chunk,
                None => self.stored(part.number)?,
            };
            chunk[part.within].copy_from_slice(&bytes[part.span]);
            self.written.insert(part.number, chunk);
        }
        Ok(())
    }

    /// A chunk as the file has it; erased without a file, and after its end.
    fn stored(&self, number: u32) -> io::Result<Box<[u8; CHUNK_BYTES]>> {
        let mut chunk = Box::new([ERASED; CHUNK_BYTES]);
        if let Some(mut file) = self.file.as_ref() {
            let (len, place) = bytes_of(file, number)?;
            file.seek(place)?;
            file.read_exact(&mut chunk[..len])?;
        }
        Ok(chunk)
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
            if self.file.is_none() && end - block + 1 == CHUNK_BLOCKS {
                self.written.remove(&(block / CHUNK_BLOCKS));
            } else {
                self.clear(block, end - block + 1)?;
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

    /// The run is over: writes kept chunks to the file, and makes all writes durable even if the host fails.
    ///
    /// # Errors
    /// The host's, for an image.
    pub fn sync(&mut self) -> io::Result<()> {
        let Some(mut file) = self.file.as_ref() else { return Ok(()) };
        for number in self.written.keys().copied().collect::<Vec<_>>() {
            let before = self.stored(number)?;
            let (len, place) = bytes_of(file, number)?;
            if let Some(chunk) = self.written.get(&number).filter(|chunk| **chunk != before) {
                file.seek(place)?;
                file.write_all(&chunk[..len])?;
                self.replaced.entry(number).or_insert(before);
            }
        }
        file.sync_all()
    }
}

/// A snapshot has the stamp of the file, and the chunks that differ from it.
impl State for Medium {
    fn save(&self, to: &mut Saver) {
        if let Some(file) = self.file.as_ref().filter(|_| !to.is_shown()) {
            match self.base.get().map_or_else(|| stamp(file), Ok) {
                Ok(stamp) => {
                    self.base.set(Some(stamp));
                    stamp.save(to);
                }
                Err(error) => to.refuse(format!("the image could not be looked at: {error}")),
            }
        }
        pages::save(self.written.iter().map(|(number, chunk)| (*number, chunk.as_ref())), to);
    }

    fn load(&mut self, from: &mut Loader) -> Result<(), Damaged> {
        let mut most = 1 << 32;
        if let Some(file) = &self.file {
            let saved = Stamp::loaded(from)?;
            let base = self.base.get().or_else(|| stamp(file).ok());
            if base != Some(saved) {
                let why = "the image has been written since the snapshot, or is a copy with another date";
                return Err(from.refuse(why.to_owned()));
            }
            self.base.set(base);
            most = saved.bytes.div_ceil(CHUNK_BYTES as u64);
        }
        let written = pages::loaded(most, from)?;
        self.written = self.replaced.clone();
        self.written.extend(written);
        Ok(())
    }
}

//! A raw image on the host as the contents of a card, and its part of snapshots.
//!
//! Written data are passed to the operating system at once, so that they survive a crash of this program. From the
//! first snapshot on the file is not changed, so that the snapshot stays valid: later writes are kept here, are part of
//! snapshots, and go to the file at the end of the run. Neither saving nor loading a snapshot writes the file.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;

use super::{CHUNK_BYTES, Chunks, chunks_of};
use engine::state::{Damaged, Fresh, Loader, Saver, State, pages};

/// Identifies the contents of a file: its size, and its modification time.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
struct Stamp {
    bytes: u64,
    seconds: i64,
    nanoseconds: i64,
}

/// The image.
#[derive(Debug)]
pub struct Image {
    file: File,
    /// The stamp of the file at the first snapshot, from which on the file is not changed.
    base: Cell<Option<Stamp>>,
    /// The chunks written since then.
    written: Chunks,
    /// The previous contents of chunks that were written to the file at the end of a run.
    replaced: Chunks,
}

impl Image {
    /// The image in a file.
    pub fn new(file: File) -> Image {
        Image { file, base: Cell::new(None), written: BTreeMap::new(), replaced: BTreeMap::new() }
    }

    fn stamp(&self) -> io::Result<Stamp> {
        let found = self.file.metadata()?;
        Ok(Stamp { bytes: found.len(), seconds: found.mtime(), nanoseconds: found.mtime_nsec() })
    }

    /// Copies bytes out, from byte `at` on.
    pub fn read(&self, at: u64, into: &mut [u8]) -> io::Result<()> {
        let mut file = &self.file;
        file.seek(SeekFrom::Start(at))?;
        file.read_exact(into)?;
        for part in chunks_of(at, into.len()).filter(|_| !self.written.is_empty()) {
            if let Some(chunk) = self.written.get(&part.number) {
                into[part.span].copy_from_slice(&chunk[part.within]);
            }
        }
        Ok(())
    }

    /// Replaces bytes from byte `at` on.
    pub fn write(&mut self, at: u64, bytes: &[u8]) -> io::Result<()> {
        if self.base.get().is_none() {
            self.file.seek(SeekFrom::Start(at))?;
            return self.file.write_all(bytes);
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

    /// A chunk as the file has it; zeroes after the file's end.
    fn stored(&self, number: u32) -> io::Result<Box<[u8; CHUNK_BYTES]>> {
        let mut chunk = Box::new([0; CHUNK_BYTES]);
        let first = u64::from(number) * CHUNK_BYTES as u64;
        let len = self.bytes_of(first)?;
        let mut file = &self.file;
        file.seek(SeekFrom::Start(first))?;
        file.read_exact(&mut chunk[..len])?;
        Ok(chunk)
    }

    /// The number of bytes of the chunk at `first` that the card has.
    fn bytes_of(&self, first: u64) -> io::Result<usize> {
        let bytes = engine::host_image::size_bytes(&self.file)?;
        Ok(bytes.saturating_sub(first).min(CHUNK_BYTES as u64) as usize)
    }

    /// The run is over: writes the kept chunks to the file.
    pub fn sync(&mut self) -> io::Result<()> {
        for number in self.written.keys().copied().collect::<Vec<_>>() {
            let before = self.stored(number)?;
            let first = u64::from(number) * CHUNK_BYTES as u64;
            let len = self.bytes_of(first)?;
            if let Some(chunk) = self.written.get(&number).filter(|chunk| **chunk != before) {
                self.file.seek(SeekFrom::Start(first))?;
                self.file.write_all(&chunk[..len])?;
                self.replaced.entry(number).or_insert(before);
            }
        }
        self.file.sync_all()
    }

    /// Saves the stamp of the file, and the chunks that differ from it.
    pub fn save(&self, to: &mut Saver) {
        if !to.is_shown() {
            match self.base.get().map_or_else(|| self.stamp(), Ok) {
                Ok(stamp) => {
                    self.base.set(Some(stamp));
                    stamp.save(to);
                }
                Err(error) => to.refuse(format!("the card's image could not be looked at: {error}")),
            }
        }
        pages::save(self.written.iter().map(|(number, chunk)| (*number, chunk.as_ref())), to);
    }

    /// Loads a saved state.
    pub fn load(&mut self, from: &mut Loader) -> Result<(), Damaged> {
        let saved = Stamp::loaded(from)?;
        let base = self.base.get().or_else(|| self.stamp().ok());
        if base != Some(saved) {
            let why = "the card's image has been written since the snapshot, or is a copy with another date";
            return Err(from.refuse(why.to_owned()));
        }
        self.base.set(base);
        let written = pages::loaded(saved.bytes.div_ceil(CHUNK_BYTES as u64), from)?;
        self.written = self.replaced.clone();
        self.written.extend(written);
        Ok(())
    }
}

//! The memory array: subsectors that exist only where something was programmed.

use std::io::{self, Write};

use super::parts::SUBSECTOR_BYTES;
use engine::state::{Damaged, Loader, Saver, State, pages};

const CHUNK_BYTES: usize = SUBSECTOR_BYTES as usize;
const _: () = assert!(CHUNK_BYTES == pages::PAGE_BYTES);
const ERASED: u8 = 0xff;

/// Contents of the array. A snapshot has all subsectors in which something was programmed: the image's may have changed
/// when it is loaded.
#[derive(Clone, Debug)]
pub struct Array {
    /// One a subsector; `None` is erased.
    chunks: Vec<Option<Box<[u8; CHUNK_BYTES]>>>,
    /// True if a byte was changed since [`Array::fill`].
    dirty: bool,
}

impl Array {
    /// An erased array of `size_bytes`, a multiple of the subsector.
    pub fn erased(size_bytes: u32) -> Array {
        Array { chunks: vec![None; (size_bytes / SUBSECTOR_BYTES) as usize], dirty: false }
    }

    /// Size in bytes.
    pub fn size_bytes(&self) -> u64 {
        (self.chunks.len() * CHUNK_BYTES) as u64
    }

    /// Fills the array with `contents`, which are not longer than it; the rest is erased.
    pub fn fill(&mut self, contents: &[u8]) {
        self.chunks.fill(None);
        for (chunk, bytes) in self.chunks.iter_mut().zip(contents.chunks(CHUNK_BYTES)) {
            if bytes.iter().any(|byte| *byte != ERASED) {
                let mut contents = Box::new([ERASED; CHUNK_BYTES]);
                contents[..bytes.len()].copy_from_slice(bytes);
                *chunk = Some(contents);
            }
        }
        self.dirty = false;
    }

    /// True if a byte was changed since [`Array::fill`].
    pub fn is_dirty(&self) -> bool {
        self.dirty
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
        if u64::from(address) + into.len() as u64 > self.size_bytes() {
            return false;
        }
        for (at, byte) in (address..).zip(into) {
            *byte = self.byte(at);
        }
        true
    }

    /// Replaces bytes; `false`, with nothing changed, if any of them lies past the end.
    pub fn write(&mut self, address: u32, bytes: &[u8]) -> bool {
        if u64::from(address) + bytes.len() as u64 > self.size_bytes() {
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

    /// Writes all contents.
    ///
    /// # Errors
    /// Those of `out`.
    pub fn write_to(&self, out: &mut dyn Write) -> io::Result<()> {
        self.chunks.iter().try_for_each(|chunk| out.write_all(chunk.as_deref().unwrap_or(&[ERASED; CHUNK_BYTES])))
    }
}

impl State for Array {
    fn save(&self, to: &mut Saver) {
        let chunks = self.chunks.iter().zip(0..);
        pages::save(chunks.filter_map(|(chunk, number)| Some((number, chunk.as_deref()?))), to);
    }

    fn load(&mut self, from: &mut Loader) -> Result<(), Damaged> {
        let mut loaded = pages::loaded(self.chunks.len() as u64, from)?;
        for (chunk, number) in self.chunks.iter_mut().zip(0..) {
            let before = loaded.remove(&number);
            if *chunk != before {
                *chunk = before;
                // The image's contents differ from the array's now.
                self.dirty = true;
            }
        }
        Ok(())
    }
}

/// Saving and loading of an array that copies share.
pub mod shared {
    use std::sync::Arc;

    use super::Array;
    use engine::state::{Damaged, Loader, Saver, State};

    /// As [`State::save`].
    pub fn save(array: &Arc<Array>, to: &mut Saver) {
        (**array).save(to);
    }

    /// As [`State::load`].
    ///
    /// # Errors
    /// As for [`State::load`].
    pub fn load(array: &mut Arc<Array>, from: &mut Loader) -> Result<(), Damaged> {
        Arc::make_mut(array).load(from)
    }
}

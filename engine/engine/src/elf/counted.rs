//! A reader of DWARF that counts the bytes read. Parts of debug information refer to each other, so a small file can
//! make some of it be read again and again. The limit on reads is proportional to the size of the debug information,
//! and bounds both the time of reading and the memory of the result.

use std::borrow::Cow;
use std::cell::Cell;

use addr2line::gimli::{self, EndianSlice, Error, Reader, ReaderOffsetId, RunTimeEndian};

use crate::patience;

/// How often each byte may be read. Compilers' own debug information is read some four times.
const MOST_TIMES: u64 = 8;
/// Minimum of that limit, for small files.
const LEAST_BYTES: u64 = 256 << 10;

/// The number of bytes that may still be read.
#[derive(Debug, Default)]
pub struct Budget {
    left: Cell<u64>,
}

impl Budget {
    /// Sets the limit for sections of `bytes` bytes together.
    pub fn set_for(&self, bytes: u64) {
        self.left.set(bytes.saturating_mul(MOST_TIMES).saturating_add(LEAST_BYTES));
    }

    /// True if the limit is reached.
    pub fn is_spent(&self) -> bool {
        self.left.get() == 0
    }

    #[inline]
    fn spend(&self, bytes: usize) -> bool {
        let bytes = bytes.max(1) as u64;
        let left = self.left.get().checked_sub(bytes).filter(|_| !patience::is_over(bytes));
        self.left.set(left.unwrap_or(0));
        left.is_some()
    }
}

/// A part of a section.
#[derive(Clone, Copy, Debug)]
pub struct Counted<'a> {
    slice: EndianSlice<'a, RunTimeEndian>,
    budget: &'a Budget,
}

impl<'a> Counted<'a> {
    /// A whole section.
    pub fn new(bytes: &'a [u8], budget: &'a Budget) -> Counted<'a> {
        Counted { slice: EndianSlice::new(bytes, RunTimeEndian::Little), budget }
    }

    /// Its bytes, without counting: for names that have been found.
    pub fn bytes(&self) -> &'a [u8] {
        self.slice.slice()
    }

    fn spend(&self, bytes: usize) -> gimli::Result<()> {
        if self.budget.spend(bytes) { Ok(()) } else { Err(Error::UnexpectedEof(self.slice.offset_id())) }
    }
}

impl Reader for Counted<'_> {
    type Endian = RunTimeEndian;
    type Offset = usize;

    #[inline]
    fn endian(&self) -> RunTimeEndian {
        self.slice.endian()
    }

    #[inline]
    fn len(&self) -> usize {
        self.slice.slice().len()
    }

    #[inline]
    fn empty(&mut self) {
        self.slice.empty();
    }

    #[inline]
    fn truncate(&mut self, len: usize) -> gimli::Result<()> {
        self.slice.truncate(len)
    }

    #[inline]
    fn offset_from(&self, base: &Self) -> usize {
        self.slice.offset_from(base.slice)
    }

    #[inline]
    fn offset_id(&self) -> ReaderOffsetId {
        self.slice.offset_id()
    }

    #[inline]
    fn lookup_offset_id(&self, id: ReaderOffsetId) -> Option<usize> {
        self.slice.lookup_offset_id(id)
    }

    fn find(&self, byte: u8) -> gimli::Result<usize> {
        let found = Reader::find(&self.slice, byte);
        self.spend(*found.as_ref().unwrap_or(&self.len()))?;
        found
    }

    #[inline]
    fn skip(&mut self, len: usize) -> gimli::Result<()> {
        self.spend(1)?;
        self.slice.skip(len)
    }

    #[inline]
    fn split(&mut self, len: usize) -> gimli::Result<Self> {
        self.spend(1)?;
        Ok(Counted { slice: self.slice.split(len)?, budget: self.budget })
    }

    fn to_slice(&self) -> gimli::Result<Cow<'_, [u8]>> {
        self.spend(self.len())?;
        Ok(self.bytes().into())
    }

    fn to_string(&self) -> gimli::Result<Cow<'_, str>> {
        self.spend(self.len())?;
        self.slice.to_string().map(Cow::from)
    }

    fn to_string_lossy(&self) -> gimli::Result<Cow<'_, str>> {
        self.spend(self.len())?;
        Ok(self.slice.to_string_lossy())
    }

    #[inline]
    fn read_slice(&mut self, buf: &mut [u8]) -> gimli::Result<()> {
        self.spend(buf.len())?;
        Reader::read_slice(&mut self.slice, buf)
    }
}

//! Used pages of memory: few pages of a board's DDR are ever used.
//!
//! The host reports them in /proc/self/pagemap (Linux): a page that is neither in memory nor swapped out has not been
//! touched. On other hosts all pages are searched.

use std::fs::File;
use std::os::unix::fs::FileExt;

use super::Bytes;

/// A page of a snapshot.
pub(super) const PAGE_BYTES: usize = 4096;
/// Size of an entry of the page map.
const ENTRY_BYTES: usize = 8;
/// Entries that are read at once.
const READ_ENTRIES: usize = 1 << 14;
/// Bits of an entry: the page is in memory, or swapped out.
const IS_THERE: u64 = 0b11 << 62;

impl Bytes {
    /// Number of pages; the last one may be shorter.
    pub(super) fn pages(&self) -> usize {
        self.layout.size().div_ceil(PAGE_BYTES)
    }

    /// Bytes of a page.
    pub(super) fn page_len(&self, page: usize) -> usize {
        PAGE_BYTES.min(self.layout.size() - page * PAGE_BYTES)
    }

    /// True if a page is all zeroes.
    pub(super) fn is_zero(&self, page: usize) -> bool {
        // As the host's words, so that it can compare several at once.
        let mut bytes = [0_u64; PAGE_BYTES / 8];
        let len = self.page_len(page);
        // SAFETY: the page is inside the allocation, and no reference into that exists; any bytes are a `u64`.
        unsafe {
            let from = self.start.as_ptr().add(page * PAGE_BYTES);
            std::ptr::copy_nonoverlapping(from, bytes.as_mut_ptr().cast::<u8>(), len);
        }
        bytes.iter().fold(0, |any, word| any | word) == 0
    }

    /// Sets a page to zeroes.
    pub(super) fn clear(&mut self, page: usize) {
        if !self.is_zero(page) {
            let zeroes = [0; PAGE_BYTES];
            let len = self.page_len(page);
            self.write(page * PAGE_BYTES, &zeroes[..len]);
        }
    }

    /// The pages that may not be all zeroes, in order.
    pub(super) fn touched_pages(&self) -> Box<dyn Iterator<Item = usize>> {
        match self.pages_of_host() {
            Some(pages) => Box::new(pages.into_iter()),
            None => Box::new(0..self.pages()),
        }
    }

    /// As [`Bytes::touched_pages`], from the host's page map.
    fn pages_of_host(&self) -> Option<Vec<usize>> {
        let host_bytes = rustix::param::page_size();
        let map = File::open("/proc/self/pagemap").ok()?;
        let (start, len) = (self.start.as_ptr().addr(), self.layout.size());
        let (first, after) = (start / host_bytes, (start + len).div_ceil(host_bytes));
        let mut found: Vec<usize> = Vec::new();
        let mut entries = vec![0; READ_ENTRIES.min(after - first) * ENTRY_BYTES];
        for from in (first..after).step_by(READ_ENTRIES) {
            let count = READ_ENTRIES.min(after - from);
            let read = &mut entries[..count * ENTRY_BYTES];
            map.read_exact_at(read, (from * ENTRY_BYTES) as u64).ok()?;
            for (host_page, entry) in (from..).zip(read.chunks_exact(ENTRY_BYTES)) {
                if u64::from_ne_bytes(entry.try_into().ok()?) & IS_THERE == 0 {
                    continue;
                }
                // The memory need not begin at a page of the host's.
                let begin = (host_page * host_bytes).max(start) - start;
                let end = ((host_page + 1) * host_bytes).min(start + len) - start;
                let pages = begin / PAGE_BYTES..end.div_ceil(PAGE_BYTES);
                let known = found.last().map_or(0, |last| last + 1);
                found.extend(pages.start.max(known)..pages.end);
            }
        }
        Some(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::state::{Loader, State, saved};
    use proptest::prelude::*;

    const LEN: usize = 40 * PAGE_BYTES + 100;

    fn bytes(writes: &[(usize, u8)]) -> Bytes {
        let mut bytes = Bytes::zeroed(LEN).unwrap();
        writes.iter().for_each(|(at, byte)| bytes.write(*at, &[*byte]));
        bytes
    }

    proptest! {
        #[test]
        fn what_was_saved_is_there_and_nothing_else(
            saves in prop::collection::vec((0..LEN, any::<u8>()), 0..20),
            before in prop::collection::vec((0..LEN, any::<u8>()), 0..20),
        ) {
            let (from, mut to) = (bytes(&saves), bytes(&before));
            let saved = saved(&from);
            prop_assert!(saved.len() <= 100 + saves.len() * (PAGE_BYTES + 4));
            let mut loader = Loader::new(&saved);
            to.load(&mut loader).unwrap();
            prop_assert!(loader.is_over());
            let all = |bytes: &Bytes| {
                let mut all = vec![0; LEN];
                bytes.read(0, &mut all);
                all
            };
            prop_assert!(all(&from) == all(&to));
        }
    }

    #[test]
    fn of_a_large_memory_only_touched_pages_are_looked_at() {
        let mut bytes = Bytes::zeroed(1 << 30).unwrap();
        bytes.write((1 << 29) + 5, &[7]);
        assert!(bytes.touched_pages().any(|page| page == (1 << 29) / PAGE_BYTES));
        if std::path::Path::new("/proc/self/pagemap").exists() {
            // A huge page of the host's is touched as a whole.
            assert!(bytes.touched_pages().count() <= 2 * (2 << 20) / PAGE_BYTES);
        }
    }
}

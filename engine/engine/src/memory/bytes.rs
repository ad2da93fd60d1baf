//! Memory of the host that is accessed through raw pointers only: cores keep pointers into it across calls to the bus.

mod pages;

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;

use crate::state::{Damaged, Fresh, Loader, Saver, State};
use pages::PAGE_BYTES;

/// Bytes, initially zeroes.
#[derive(Debug)]
pub(super) struct Bytes {
    start: NonNull<u8>,
    layout: Layout,
}

// SAFETY: `Bytes` owns its allocation, and nothing ties it to a thread.
unsafe impl Send for Bytes {}

impl Bytes {
    /// `len` zeroes. `None` if the host does not provide that much; pages are allocated when they are first used.
    pub fn zeroed(len: usize) -> Option<Bytes> {
        // A larger alignment would make the allocator write the zeroes itself: seconds for a board's DDR.
        let layout = Layout::from_size_align(len.max(1), 16).expect("a board's RAM is below 4 GiB");
        // SAFETY: the layout's size is at least 1.
        let start = unsafe { alloc_zeroed(layout) };
        Some(Bytes { start: NonNull::new(start)?, layout })
    }

    /// Number of bytes.
    pub const fn len(&self) -> usize {
        self.layout.size()
    }

    /// Their address on the host. Valid for as long as they live; nothing else may hold a reference into them.
    pub fn as_ptr(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    /// Copies bytes out.
    ///
    /// # Panics
    ///
    /// If the span is not inside.
    pub fn read(&self, offset: usize, into: &mut [u8]) {
        assert!(offset + into.len() <= self.layout.size(), "the bus checks spans");
        // SAFETY: the span was checked just now, and no reference into the allocation exists.
        unsafe { std::ptr::copy_nonoverlapping(self.start.as_ptr().add(offset), into.as_mut_ptr(), into.len()) }
    }

    /// Reads a few bytes.
    ///
    /// # Panics
    ///
    /// If the span is not inside.
    #[inline(always)]
    pub fn array<const N: usize>(&self, offset: usize) -> [u8; N] {
        assert!(offset + N <= self.layout.size(), "the bus checks spans");
        // SAFETY: as in `read`; an array of bytes has no alignment.
        unsafe { self.start.as_ptr().add(offset).cast::<[u8; N]>().read() }
    }

    /// Writes a few bytes.
    ///
    /// # Panics
    ///
    /// If the span is not inside.
    #[inline(always)]
    pub fn put<const N: usize>(&mut self, offset: usize, from: [u8; N]) {
        assert!(offset + N <= self.layout.size(), "the bus checks spans");
        // SAFETY: as in `array`.
        unsafe { self.start.as_ptr().add(offset).cast::<[u8; N]>().write(from) }
    }

    /// Copies bytes in.
    ///
    /// # Panics
    ///
    /// If the span is not inside.
    pub fn write(&mut self, offset: usize, from: &[u8]) {
        assert!(offset + from.len() <= self.layout.size(), "the bus checks spans");
        // SAFETY: as in `read`.
        unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), self.start.as_ptr().add(offset), from.len()) }
    }
}

/// Only pages that are not all zeroes are saved: a board's DDR may have hundreds of thousands of pages.
impl State for Bytes {
    fn save(&self, to: &mut Saver) {
        if to.is_shown() {
            return ().save(to);
        }
        self.layout.size().save(to);
        let pages: Vec<usize> = self.touched_pages().filter(|page| !self.is_zero(*page)).collect();
        pages.len().save(to);
        for page in pages {
            (page as u32).save(to);
            let mut bytes = [0; PAGE_BYTES];
            let len = self.page_len(page);
            self.read(page * PAGE_BYTES, &mut bytes[..len]);
            to.raw(&bytes[..len]);
        }
    }

    fn load(&mut self, from: &mut Loader) -> Result<(), Damaged> {
        if usize::loaded(from)? != self.layout.size() {
            return Err(Damaged);
        }
        let count = from.list()?;
        let touched: Vec<usize> = self.touched_pages().collect();
        let mut touched = touched.into_iter().peekable();
        let mut last = None;
        for _ in 0..count {
            let page = u32::loaded(from)? as usize;
            if last.is_some_and(|last| last >= page) || page >= self.pages() {
                return Err(Damaged);
            }
            last = Some(page);
            while let Some(other) = touched.next_if(|other| *other <= page) {
                if other != page {
                    self.clear(other);
                }
            }
            let bytes = from.raw(self.page_len(page))?;
            self.write(page * PAGE_BYTES, bytes);
        }
        touched.for_each(|page| self.clear(page));
        Ok(())
    }
}

impl Drop for Bytes {
    fn drop(&mut self) {
        // SAFETY: allocated in `zeroed` with this layout.
        unsafe { dealloc(self.start.as_ptr(), self.layout) }
    }
}

//! Memory of the host that is reached by raw pointers only: cores keep pointers into it across calls to the bus.

use std::alloc::{Layout, alloc_zeroed, dealloc};
use std::ptr::NonNull;

/// Bytes that are zeroes at first.
#[derive(Debug)]
pub(super) struct Bytes {
    start: NonNull<u8>,
    layout: Layout,
}

// SAFETY: `Bytes` owns its allocation, and nothing ties it to a thread.
unsafe impl Send for Bytes {}

impl Bytes {
    /// So many zeroes. `None` if the host does not give that much; its pages come as they are used.
    pub fn zeroed(len: usize) -> Option<Bytes> {
        // A larger alignment would make the allocator write the zeroes itself: seconds for a board's DDR.
        let layout = Layout::from_size_align(len.max(1), 16).expect("a board's RAM is below 4 GiB");
        // SAFETY: the layout's size is at least 1.
        let start = unsafe { alloc_zeroed(layout) };
        Some(Bytes { start: NonNull::new(start)?, layout })
    }

    /// Where they are on the host. Valid for as long as they live; nothing else may hold a reference into them.
    pub fn as_ptr(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    /// Copies bytes out.
    ///
    /// # Panics
    /// If they are not all inside.
    pub fn read(&self, offset: usize, into: &mut [u8]) {
        assert!(offset + into.len() <= self.layout.size(), "the bus checks spans");
        // SAFETY: the span was checked just now, and no reference into the allocation exists.
        unsafe { std::ptr::copy_nonoverlapping(self.start.as_ptr().add(offset), into.as_mut_ptr(), into.len()) }
    }

    /// A few bytes.
    ///
    /// # Panics
    /// If they are not all inside.
    #[inline(always)]
    pub fn array<const N: usize>(&self, offset: usize) -> [u8; N] {
        assert!(offset + N <= self.layout.size(), "the bus checks spans");
        // SAFETY: as in `read`; an array of bytes has no alignment.
        unsafe { self.start.as_ptr().add(offset).cast::<[u8; N]>().read() }
    }

    /// A few bytes from now on.
    ///
    /// # Panics
    /// If they are not all inside.
    #[inline(always)]
    pub fn put<const N: usize>(&mut self, offset: usize, from: [u8; N]) {
        assert!(offset + N <= self.layout.size(), "the bus checks spans");
        // SAFETY: as in `array`.
        unsafe { self.start.as_ptr().add(offset).cast::<[u8; N]>().write(from) }
    }

    /// Copies bytes in.
    ///
    /// # Panics
    /// If they do not all go inside.
    pub fn write(&mut self, offset: usize, from: &[u8]) {
        assert!(offset + from.len() <= self.layout.size(), "the bus checks spans");
        // SAFETY: as in `read`.
        unsafe { std::ptr::copy_nonoverlapping(from.as_ptr(), self.start.as_ptr().add(offset), from.len()) }
    }
}

impl Drop for Bytes {
    fn drop(&mut self) {
        // SAFETY: allocated in `zeroed` with this layout.
        unsafe { dealloc(self.start.as_ptr(), self.layout) }
    }
}

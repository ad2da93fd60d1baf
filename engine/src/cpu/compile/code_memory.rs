//! Memory for code: written while it can't be executed, executed while it can't be written.

use memmap2::{Mmap, MmapMut};
use wasmtime_internal_jit_icache_coherence::{clear_cache, pipeline_flush_mt};

/// Room for some thousand regions; pages that are not used cost nothing.
const BYTES: usize = 16 << 20;
/// No function is longer, but for those that the interpreter does without.
const LONGEST_BYTES: usize = 256 << 10;
/// Functions begin at multiples of this, a line of the host's instruction cache at best.
const ALIGN: usize = 32;

/// Pages of code.
pub struct CodeMemory {
    /// `None` once the host has refused to change the pages' protection.
    pages: Option<Mmap>,
    /// Bytes with code in them; what lies behind is free.
    pub used: usize,
}

impl CodeMemory {
    /// Empty pages, if the host gives any.
    pub fn new() -> Option<CodeMemory> {
        Some(CodeMemory { pages: Some(MmapMut::map_anon(BYTES).ok()?.make_exec().ok()?), used: 0 })
    }

    /// False once pages with code have been lost.
    pub fn is_sound(&self) -> bool {
        self.pages.is_some()
    }

    /// True if there may be no room for another function.
    pub fn is_full(&self) -> bool {
        self.used + LONGEST_BYTES > BYTES
    }

    /// Appends a function; gives its address. `None` if there is no room for it, or no way to execute it.
    pub fn append(&mut self, code: &[u8]) -> Option<usize> {
        let end = self.used + code.len();
        if end > BYTES {
            return None;
        }
        let mut pages = self.pages.take()?.make_mut().ok()?;
        pages[self.used..end].copy_from_slice(code);
        let pages = pages.make_exec().ok()?;
        make_visible(pages.as_ptr().wrapping_add(self.used), code.len())?;
        let address = pages.as_ptr().wrapping_add(self.used).expose_provenance();
        self.pages = Some(pages);
        self.used = end.next_multiple_of(ALIGN);
        Some(address)
    }
}

/// Has the host fetch what was written, where its instruction cache does not see that by itself.
fn make_visible(code: *const u8, bytes: usize) -> Option<()> {
    // SAFETY: the range is mapped; nobody executes it yet.
    unsafe { clear_cache(code.cast(), bytes) }.ok()?;
    pipeline_flush_mt().ok()
}

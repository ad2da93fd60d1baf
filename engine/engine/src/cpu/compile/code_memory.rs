//! Memory for code: written while it can't be executed, executed while it can't be written.

use crate::core::Compiling;
use memmap2::{Mmap, MmapMut};
use wasmtime_internal_jit_icache_coherence::{clear_cache, pipeline_flush_mt};

/// Alignment of functions: a line of the host's instruction cache at best.
const ALIGN: usize = 32;

/// Pages of code.
pub struct CodeMemory {
    /// `None` once the host has refused to change the pages' protection.
    pages: Option<Mmap>,
    /// Bytes with code; the rest is free.
    pub used: usize,
    bytes: usize,
}

impl CodeMemory {
    /// Empty pages of `bytes` bytes, if the host provides any. Unused pages cost nothing.
    pub fn new(bytes: usize) -> Option<CodeMemory> {
        Some(CodeMemory { pages: Some(MmapMut::map_anon(bytes).ok()?.make_exec().ok()?), used: 0, bytes })
    }

    /// False once pages with code have been lost.
    pub fn is_sound(&self) -> bool {
        self.pages.is_some()
    }

    /// True if there may be no room for another function.
    pub fn is_full(&self) -> bool {
        self.used + Compiling::LONGEST_BYTES > self.bytes
    }

    /// Appends a function; returns its address. `None` if there is no room for it, or it can't be made executable.
    pub fn append(&mut self, code: &[u8]) -> Option<usize> {
        let end = self.used + code.len();
        if end > self.bytes {
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

/// Makes written code visible to the host's instruction fetch, where its instruction cache is not coherent.
fn make_visible(code: *const u8, bytes: usize) -> Option<()> {
    // SAFETY: the range is mapped; nobody executes it yet.
    unsafe { clear_cache(code.cast(), bytes) }.ok()?;
    pipeline_flush_mt().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Protection of the pages at an address, as listed by Linux, and that of all pages of the process.
    #[cfg(target_os = "linux")]
    fn protections(address: usize) -> (String, Vec<String>) {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let (mut here, mut all) = (String::new(), Vec::new());
        for line in maps.lines() {
            let (range, rest) = line.split_once(' ').unwrap();
            let (from, to) = range.split_once('-').unwrap();
            let [from, to] = [from, to].map(|end| usize::from_str_radix(end, 16).unwrap_or(usize::MAX));
            all.push(rest[..4].to_owned());
            if (from..to).contains(&address) {
                here = rest[..4].to_owned();
            }
        }
        (here, all)
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn code_is_never_in_pages_that_can_be_written_and_executed() {
        let mut memory = CodeMemory::new(1 << 20).unwrap();
        for code in [[0x90; 40].as_slice(), &[0xc3; 70_000]] {
            let address = memory.append(code).unwrap();
            // SAFETY: the pages are there as long as the memory is, and can be read.
            let kept =
                unsafe { std::slice::from_raw_parts(std::ptr::with_exposed_provenance::<u8>(address), code.len()) };
            assert_eq!(kept, code);
            let (here, all) = protections(address);
            assert_eq!(here, "r-xp");
            assert!(all.iter().all(|protection| !protection.starts_with("rwx")), "{all:?}");
        }
        // Nothing may execute the pages while code is appended: they are taken first.
        let pages = memory.pages.take().unwrap().make_mut().unwrap();
        let (here, _) = protections(pages.as_ptr().expose_provenance());
        assert_eq!(here, "rw-p");
    }

    #[test]
    fn what_does_not_fit_is_refused_and_leaves_the_rest_alone() {
        let mut memory = CodeMemory::new(Compiling::LONGEST_BYTES + 100).unwrap();
        assert!(!memory.is_full());
        assert!(memory.append(&[0; Compiling::LONGEST_BYTES + 101]).is_none());
        let first = memory.append(&[1; 101]).unwrap();
        assert!(memory.is_full() && memory.is_sound());
        assert_eq!(memory.append(&[2; 10]), Some(first + 128));
    }
}

//! Accesses in the terms of a core's memory management: kinds, translations and refusals; and maintenance of caches and
//! TLBs.
//!
//! "ARM" below is the Arm Architecture Reference Manual, ARMv7-A and ARMv7-R edition (DDI 0406C), whose terms are used
//! here; other instruction sets use those that fit.

use crate::faults::BusFaultKind;
pub use crate::memory::snoop::TlbEntries;
use crate::state::{Fresh, State};

/// Kind and privilege of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// Its kind.
    pub kind: Kind,
    /// It is not made as from User mode.
    pub privileged: bool,
}

/// Kinds of access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
#[allow(missing_docs)]
pub enum Kind {
    Read,
    Write,
    Execute,
}

/// Result of a translation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
pub struct Translation {
    /// The physical address.
    pub physical: u32,
    /// Size of the surrounding page or section, which has these attributes throughout.
    pub page_bytes: u32,
    /// Memory type if the cache is on: the instruction cache may be on while the data cache is off, and a TLB entry is
    /// for both.
    pub memory: MemoryType,
    /// Memory type for descriptor reads of a table walk.
    pub walk_memory: MemoryType,
    /// The entry matches in all address spaces, not only in `asid`.
    pub global: bool,
    /// The address space in which it was looked up.
    pub asid: u8,
}

impl Translation {
    /// Memory in all address spaces that is translated without descriptors.
    pub const fn of(physical: u32, page_bytes: u32, memory: MemoryType) -> Translation {
        Translation { physical, page_bytes, memory, walk_memory: memory, global: true, asid: 0 }
    }
}

/// Memory type of an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, State, Fresh)]
pub enum MemoryType {
    /// Accesses happen exactly as programmed, one after the other.
    StronglyOrdered,
    /// Accesses happen as programmed; writes may be buffered.
    Device {
        /// Other masters see them in order, too.
        shareable: bool,
    },
    /// Memory that can be cached and read ahead.
    Normal {
        /// Attributes for the core's own caches.
        inner: Cacheability,
        /// Attributes for the caches beyond them.
        outer: Cacheability,
        /// Shared with other masters.
        shareable: bool,
    },
}

/// Cacheability of Normal memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, State, Fresh)]
pub enum Cacheability {
    /// Caches do not keep it.
    NonCacheable,
    /// Written back later; lines are allocated on reads and writes.
    WriteBackAllocate,
    /// Written through; lines are allocated on reads.
    WriteThrough,
    /// Written back later; lines are allocated on reads.
    WriteBack,
}

impl MemoryType {
    /// Normal memory that no cache keeps.
    pub const NON_CACHEABLE: MemoryType =
        MemoryType::Normal { inner: Cacheability::NonCacheable, outer: Cacheability::NonCacheable, shareable: false };

    /// Normal memory as non-cacheable, as with the cache off; other types unchanged.
    pub fn uncached(self) -> MemoryType {
        match self {
            MemoryType::Normal { shareable, .. } => {
                MemoryType::Normal { inner: Cacheability::NonCacheable, outer: Cacheability::NonCacheable, shareable }
            }
            other => other,
        }
    }

    /// Memory type with the cache on, or off.
    pub fn with_cache(self, on: bool) -> MemoryType {
        if on { self } else { self.uncached() }
    }
}

/// Reason of an abort, in the terms of the instruction set.
pub trait Status: Copy {
    /// The address is not a multiple of the access's size.
    const ALIGNMENT: Self;
    /// The bus answered with an error.
    const EXTERNAL: Self;
}

/// An access that was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
pub struct Abort<S> {
    /// Virtual address.
    pub va: u32,
    /// Its reason.
    pub status: S,
    /// It was a write.
    pub write: bool,
    /// Domain of the page, where pages have one and as far as it is known.
    pub domain: u8,
    /// The bus's answer, if the access reached the bus.
    pub bus: Option<BusFaultKind>,
}

/// An operation on caches, TLBs or branch predictors, or a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Maintenance {
    /// Invalidates lines of the instruction cache; an operation on all lines also clears the branch predictor.
    Icache(Lines),
    /// Operates on lines of the data cache: writes them back if dirty (clean), drops them (invalidate), or both.
    Dcache {
        /// The lines.
        lines: Lines,
        /// Writes dirty lines back.
        clean: bool,
        /// Drops the lines, dirty or not.
        invalidate: bool,
    },
    /// Invalidates translations.
    Tlb(TlbEntries),
    /// Invalidates branch predictions, all of them or those of one address.
    BranchPredictor(Lines),
    /// A barrier.
    Barrier(Barrier),
}

/// Lines of a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lines {
    /// All of them.
    All,
    /// The line of this virtual address, if present.
    At(u32),
    /// The line in a set and way of level 1, given by the operation's register value: the way is in the top bits, the
    /// set above the line's offset, the level minus 1 in bits 3:1.
    SetWay(u32),
}

/// Barriers (ARM, A3.8.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Barrier {
    /// Data memory barrier: accesses before it are seen before those after it.
    DataMemory,
    /// Data synchronization barrier: accesses and maintenance before it are complete.
    DataSynchronization,
    /// Instruction synchronization barrier: later instructions are fetched anew.
    InstructionSynchronization,
}

/// Flags of an access, as given by an instruction.
pub mod how {
    /// Made as from User mode (ldrt, strt).
    pub const UNPRIVILEGED: u8 = 1;
    /// Must be aligned, whatever the core checks (ldm, stm, ldrd, strd, VFP).
    pub const ALIGNED: u8 = 2;
    /// A store, where nothing else says so.
    pub const STORE: u8 = 4;
    /// One of the accesses of an instruction, whose common transfer has been charged already.
    pub const REPORTED: u8 = 8;
}

//! Accesses as a core's memory management sees them: what is asked, where it leads, why it is refused; and maintenance
//! of what is remembered.
//!
//! "ARM" below is the Arm Architecture Reference Manual, ARMv7-A and ARMv7-R edition (DDI 0406C), whose terms these
//! are; other instruction sets use those that fit.

use crate::faults::BusFaultKind;
use crate::state::{Fresh, State};

/// What is done with an address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Access {
    /// What.
    pub kind: Kind,
    /// Not as from User mode.
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

/// What an address means.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
pub struct Translation {
    /// The physical address.
    pub physical: u32,
    /// Size of the page (or section) around it, all of which has these attributes.
    pub page_bytes: u32,
    /// As what it is accessed if its cache is on: that of instructions may be while that of data is off, and what is
    /// remembered is for both.
    pub memory: MemoryType,
    /// As what a walk reads descriptors.
    pub walk_memory: MemoryType,
    /// In all address spaces, not only in `asid`.
    pub global: bool,
    /// The address space that it was looked up in.
    pub asid: u8,
}

impl Translation {
    /// Memory in all address spaces that is translated without descriptors.
    pub const fn of(physical: u32, page_bytes: u32, memory: MemoryType) -> Translation {
        Translation { physical, page_bytes, memory, walk_memory: memory, global: true, asid: 0 }
    }
}

/// What kind of memory an address is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
pub enum MemoryType {
    /// Accesses happen exactly as programmed, one after the other.
    StronglyOrdered,
    /// As programmed; writes may be buffered.
    Device {
        /// Seen by others in order, too.
        shareable: bool,
    },
    /// Memory that can be cached and read ahead.
    Normal {
        /// In the core's own caches.
        inner: Cacheability,
        /// In caches behind them.
        outer: Cacheability,
        /// Shared with other masters.
        shareable: bool,
    },
}

/// Whether and how caches keep Normal memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
pub enum Cacheability {
    /// Not at all.
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

    /// Normal memory as non-cacheable, as it is with the cache off; others as they are.
    pub fn uncached(self) -> MemoryType {
        match self {
            MemoryType::Normal { shareable, .. } => {
                MemoryType::Normal { inner: Cacheability::NonCacheable, outer: Cacheability::NonCacheable, shareable }
            }
            other => other,
        }
    }

    /// As what it is accessed where its cache is on, or off.
    pub fn with_cache(self, on: bool) -> MemoryType {
        if on { self } else { self.uncached() }
    }
}

/// Why an access could not be done, in the words of the instruction set.
pub trait Status: Copy {
    /// The address is no multiple of the access's size.
    const ALIGNMENT: Self;
    /// The bus answered with an error.
    const EXTERNAL: Self;
}

/// An access that could not be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
pub struct Abort<S> {
    /// Virtual address.
    pub va: u32,
    /// Why.
    pub status: S,
    /// It was a write.
    pub write: bool,
    /// Domain of the page, where pages have one and as far as it is known.
    pub domain: u8,
    /// What the bus answered, if it was asked.
    pub bus: Option<BusFaultKind>,
}

/// An operation on caches, TLBs or branch predictors, or a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Maintenance {
    /// Invalidates lines of the instruction cache; all of them takes the branch predictor along.
    Icache(Lines),
    /// Of the data cache: written back if dirty (clean), thrown away (invalidate), or both.
    Dcache {
        /// Which.
        lines: Lines,
        /// Write dirty ones back.
        clean: bool,
        /// Throw them away, dirty or not.
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
    /// The one of this virtual address, if it is there.
    At(u32),
    /// The one in this set and way of level 1, as the operation's register value says: the way is in the top bits, the
    /// set above the line's offset, the level less one in bits 3:1.
    SetWay(u32),
}

/// Entries of the TLBs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TlbEntries {
    /// All of them.
    All,
    /// That of the page at a virtual address, if it is global or has this ASID.
    Page {
        /// Address; the low 12 bits are 0.
        va: u32,
        /// Address space.
        asid: u8,
    },
    /// Those of the page at this virtual address in all address spaces.
    PageOfAll(u32),
    /// All of this address space that are not global.
    Asid(u8),
}

/// Barriers (ARM, A3.8.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Barrier {
    /// Data memory barrier: accesses before it are seen before those after it.
    DataMemory,
    /// Data synchronization barrier: accesses and maintenance before it are complete.
    DataSynchronization,
    /// Instruction synchronization barrier: what follows is fetched anew.
    InstructionSynchronization,
}

/// Flags of an access, as an instruction says them.
pub mod how {
    /// As if from User mode (ldrt, strt).
    pub const UNPRIVILEGED: u8 = 1;
    /// Has to be aligned whatever the core checks (ldm, stm, ldrd, strd, VFP).
    pub const ALIGNED: u8 = 2;
    /// A store, where that is not said otherwise.
    pub const STORE: u8 = 4;
    /// One of the accesses of an instruction, whose common transfer has been paid for.
    pub const REPORTED: u8 = 8;
}

//! Address translation: segments, and pages of the TLB (PRA, virtual memory).

use super::System;
use super::registers::CONFIG_K0;
use super::status::ERL;
use super::tlb::{HI_ASID, LO_D, LO_V};
use crate::cpu::memory_system::Mmu;
use crate::cpu::memory_system::access::{self, Access, Cacheability, Kind, MemoryType, Status, Translation};

/// Size of kuseg; kseg0 and kseg1 have 512 MiB each.
const KUSEG_BYTES: u32 = 2 << 30;
const KSEG_BYTES: u32 = 512 << 20;
/// Cacheability by Config.K0 and EntryLo.C.
const UNCACHED: u32 = 2;
const UNCACHED_ACCELERATED: u32 = 1;

/// A refused access.
pub type Abort = access::Abort<TlbFault>;

/// Reason of an abort.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TlbFault {
    /// The address is not a multiple of the size.
    Alignment,
    /// User mode may not use it.
    Privilege,
    /// The TLB has no entry for it.
    Refill,
    /// Its entry is not valid.
    Invalid,
    /// Its entry allows no store.
    Modified,
    /// The bus did not answer, or answered with an error.
    External,
}

impl TlbFault {
    /// What the address has, for messages.
    pub fn name(self) -> &'static str {
        match self {
            TlbFault::Alignment => "misaligned",
            TlbFault::Privilege => "a kernel segment",
            TlbFault::Refill => "no TLB entry",
            TlbFault::Invalid => "a TLB entry that is not valid",
            TlbFault::Modified => "a page that is not writable",
            TlbFault::External => "bus error",
        }
    }
}

impl Status for TlbFault {
    const ALIGNMENT: TlbFault = TlbFault::Alignment;
    const EXTERNAL: TlbFault = TlbFault::External;
}

/// The memory side keeps translations until it is notified of a change: see [`super::Effect::TranslationChanged`].
/// There are no tables to walk.
impl Mmu for System {
    type Status = TlbFault;

    fn translate(&self, va: u32, access: Access, _read: impl FnMut(u32) -> Option<u32>) -> Result<Translation, Abort> {
        let write = access.kind == Kind::Write;
        self.translate_address(va, access).map_err(|status| Abort { va, status, write, domain: 0, bus: None })
    }

    fn mmu_is_on(&self) -> bool {
        true
    }

    fn is_mapped(&self, va: u32) -> bool {
        match va >> 29 {
            0..=3 => self.registers.status & ERL == 0,
            4 | 5 => false,
            _ => true,
        }
    }

    fn is_privileged(&self) -> bool {
        self.is_privileged()
    }

    fn asid(&self) -> u8 {
        (self.registers.entry_hi & HI_ASID) as u8
    }

    fn keeps_shareable(&self) -> bool {
        true
    }
}

impl System {
    /// Translation of virtual address `va` for an access.
    ///
    /// # Errors
    ///
    /// The reason of a refusal.
    pub fn translate_address(&self, va: u32, access: Access) -> Result<Translation, TlbFault> {
        match va >> 29 {
            // kuseg; with ERL, for handlers of errors, it is unmapped and uncached.
            0..=3 if self.registers.status & ERL != 0 => Ok(self.segment(va, KUSEG_BYTES, UNCACHED)),
            0..=3 => self.page(va, access),
            _ if !access.privileged => Err(TlbFault::Privilege),
            4 => Ok(self.segment(va & !0xe000_0000, KSEG_BYTES, self.registers.config & CONFIG_K0)),
            5 => Ok(self.segment(va & !0xe000_0000, KSEG_BYTES, UNCACHED)),
            _ => self.page(va, access),
        }
    }

    fn segment(&self, physical: u32, page_bytes: u32, cacheability: u32) -> Translation {
        self.translation(physical, page_bytes, cacheability, true)
    }

    fn page(&self, va: u32, access: Access) -> Result<Translation, TlbFault> {
        let asid = self.registers.entry_hi & HI_ASID;
        let entry = self.tlb.find(va, asid).ok_or(TlbFault::Refill)?;
        let lo = entry.lo(va);
        if lo & LO_V == 0 {
            return Err(TlbFault::Invalid);
        }
        if access.kind == Kind::Write && lo & LO_D == 0 {
            return Err(TlbFault::Modified);
        }
        let offset = entry.page_bytes() - 1;
        let physical = (lo >> 6 << 12) & !offset | va & offset;
        Ok(self.translation(physical, entry.page_bytes(), lo >> 3 & 7, entry.global))
    }

    fn translation(&self, physical: u32, page_bytes: u32, cacheability: u32, global: bool) -> Translation {
        Translation { global, asid: self.asid(), ..Translation::of(physical, page_bytes, memory_type(cacheability)) }
    }
}

/// Memory type of a cacheability. 2 and 3 are defined by the architecture: uncached and cached. 1 is XBurst's uncached
/// accelerated, whose stores the core does not wait for (Linux, arch/mips/include/asm/pgtable-bits.h). The other values
/// are not documented: cached.
fn memory_type(cacheability: u32) -> MemoryType {
    match cacheability {
        UNCACHED => MemoryType::StronglyOrdered,
        UNCACHED_ACCELERATED => MemoryType::NON_CACHEABLE,
        _ => MemoryType::Normal {
            inner: Cacheability::WriteBackAllocate,
            outer: Cacheability::NonCacheable,
            shareable: false,
        },
    }
}

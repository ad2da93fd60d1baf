//! Translation with short descriptors (ARM, B3.3 to B3.7).

use super::exceptions::{Abort, FaultStatus};
use super::registers::{
    ACTLR_L1PCTL, ACTLR_L1RADIS, ACTLR_L2RADIS, ACTLR_SMP, SCTLR_A, SCTLR_AFE, SCTLR_C, SCTLR_I, SCTLR_M, SCTLR_TRE,
};
use super::{Access, Kind, System, Translation};
use super::{Cacheability, MemoryType};
use crate::cpu::memory_system::Mmu;
use crate::cpu::memory_system::access::Status;

/// TTBCR.PD0: no walks from TTBR0; PD1 is the next bit.
const TTBCR_PD0: u32 = 1 << 4;
/// Sizes of the blocks of memory that a descriptor can map.
const SUPERSECTION_BYTES: u32 = 16 << 20;
const SECTION_BYTES: u32 = 1 << 20;
const LARGE_PAGE_BYTES: u32 = 64 << 10;
const SMALL_PAGE_BYTES: u32 = 4 << 10;

/// Contents of a page or section descriptor, in one form.
#[derive(Clone, Copy)]
struct Leaf {
    base: u32,
    bytes: u32,
    /// AP\[2:0\].
    permissions: u32,
    tex: u32,
    c: bool,
    b: bool,
    s: bool,
    global: bool,
    never_execute: bool,
    domain: u8,
    /// It is in a second-level table.
    page: bool,
}

impl Leaf {
    fn section(descriptor: u32) -> Leaf {
        let bit = |n: u32| descriptor >> n & 1 != 0;
        let supersection = bit(18);
        Leaf {
            base: descriptor & if supersection { 0xff00_0000 } else { 0xfff0_0000 },
            bytes: if supersection { SUPERSECTION_BYTES } else { SECTION_BYTES },
            permissions: descriptor >> 10 & 3 | (descriptor >> 15 & 1) << 2,
            tex: descriptor >> 12 & 7,
            c: bit(3),
            b: bit(2),
            s: bit(16),
            global: !bit(17),
            never_execute: bit(4),
            // In a supersection the domain's field is a part of the address.
            domain: if supersection { 0 } else { (descriptor >> 5 & 15) as u8 },
            page: false,
        }
    }

    fn page(descriptor: u32, domain: u8) -> Leaf {
        let bit = |n: u32| descriptor >> n & 1 != 0;
        let large = !bit(1);
        Leaf {
            base: descriptor & if large { 0xffff_0000 } else { 0xffff_f000 },
            bytes: if large { LARGE_PAGE_BYTES } else { SMALL_PAGE_BYTES },
            permissions: descriptor >> 4 & 3 | (descriptor >> 9 & 1) << 2,
            tex: descriptor >> if large { 12 } else { 6 } & 7,
            c: bit(3),
            b: bit(2),
            s: bit(10),
            global: !bit(11),
            never_execute: if large { bit(15) } else { bit(0) },
            domain,
            page: true,
        }
    }

    /// True if its permissions allow the access (ARM, access permissions).
    fn allows(&self, access: Access) -> bool {
        let write = access.kind == Kind::Write;
        let data = match (self.permissions, access.privileged) {
            (0b001, privileged) => privileged,
            (0b010, privileged) => privileged || !write,
            (0b011, _) => true,
            (0b101, privileged) => privileged && !write,
            (0b110 | 0b111, _) => !write,
            _ => false,
        };
        data && !(access.kind == Kind::Execute && self.never_execute)
    }
}

impl Status for FaultStatus {
    const ALIGNMENT: FaultStatus = FaultStatus::Alignment;
    const EXTERNAL: FaultStatus = FaultStatus::External;
}

impl Mmu for System {
    type Status = FaultStatus;

    const WALKS: bool = true;

    /// The tables in memory are read each time: other code decides which entries are in TLBs, and which walks take
    /// time.
    fn translate(&self, va: u32, access: Access, read: impl FnMut(u32) -> Option<u32>) -> Result<Translation, Abort> {
        if !self.mmu_is_on() {
            return Ok(self.flat(va, access));
        }
        let abort = |status, domain| Abort { va, status, write: access.kind == Kind::Write, domain, bus: None };
        let (leaf, walk_memory) = self.walk(va, read).map_err(|(status, domain)| abort(status, domain))?;
        self.check(&leaf, access).map_err(|status| abort(status, leaf.domain))?;
        Ok(Translation {
            physical: leaf.base | va & (leaf.bytes - 1),
            page_bytes: leaf.bytes,
            memory: self.memory_type(&leaf),
            walk_memory,
            global: leaf.global,
            asid: self.asid(),
        })
    }

    fn mmu_is_on(&self) -> bool {
        self.registers.sctlr & SCTLR_M != 0
    }

    /// It holds no lines without the MMU. A Cortex-A7 caches no data while it is not coherent (Cortex-A7 TRM, Auxiliary
    /// Control Register, SMP).
    fn dcache_is_on(&self) -> bool {
        self.registers.sctlr & SCTLR_C != 0 && (self.keeps_shareable() || !self.config.caches_need_smp)
    }

    fn icache_is_on(&self) -> bool {
        self.registers.sctlr & SCTLR_I != 0
    }

    fn checks_alignment(&self) -> bool {
        self.registers.sctlr & SCTLR_A != 0
    }

    fn is_privileged(&self) -> bool {
        self.is_privileged()
    }

    fn asid(&self) -> u8 {
        self.registers.contextidr as u8
    }

    fn keeps_shareable(&self) -> bool {
        self.registers.actlr & ACTLR_SMP != 0
    }

    fn may_stream(&self) -> [bool; 2] {
        [ACTLR_L1RADIS, ACTLR_L2RADIS].map(|disabled| self.registers.actlr & disabled == 0)
    }

    fn prefetched_lines(&self) -> u32 {
        (self.registers.actlr & ACTLR_L1PCTL) >> ACTLR_L1PCTL.trailing_zeros()
    }
}

impl System {
    /// Without the MMU (ARM, B3.2).
    fn flat(&self, va: u32, access: Access) -> Translation {
        let cached = MemoryType::Normal {
            inner: Cacheability::WriteThrough,
            outer: Cacheability::WriteThrough,
            shareable: false,
        };
        let memory = match access.kind {
            Kind::Execute if self.registers.sctlr & SCTLR_I != 0 => cached,
            Kind::Execute => MemoryType::NON_CACHEABLE,
            _ => MemoryType::StronglyOrdered,
        };
        Translation::of(va, SECTION_BYTES, memory)
    }

    /// Finds the descriptor, and the memory type of the tables; a fault comes with the domain, as far as known.
    fn walk(&self, va: u32, mut read: impl FnMut(u32) -> Option<u32>) -> Result<(Leaf, MemoryType), (FaultStatus, u8)> {
        let n = self.registers.ttbcr & 7;
        let second = n != 0 && va >> (32 - n) != 0;
        let (base, disabled, n) = match second {
            true => (self.registers.ttbr[1], TTBCR_PD0 << 1, 0),
            false => (self.registers.ttbr[0], TTBCR_PD0, n),
        };
        if self.registers.ttbcr & disabled != 0 {
            return Err((FaultStatus::TranslationSection, 0));
        }
        let memory = self.walk_memory(base);
        let index_mask = (1 << (12 - n)) - 1;
        let first_at = base & !((1 << (14 - n)) - 1) | (va >> 20 & index_mask) << 2;
        let first = read(first_at).ok_or((FaultStatus::WalkFirst, 0))?;
        match first & 3 {
            2 => return Ok((Leaf::section(first), memory)),
            1 => {}
            // 3 is for cores with PXN.
            _ => return Err((FaultStatus::TranslationSection, 0)),
        }
        let domain = (first >> 5 & 15) as u8;
        let second_at = first & 0xffff_fc00 | (va >> 12 & 0xff) << 2;
        let descriptor = read(second_at).ok_or((FaultStatus::WalkSecond, domain))?;
        if descriptor & 3 == 0 {
            return Err((FaultStatus::TranslationPage, domain));
        }
        Ok((Leaf::page(descriptor, domain), memory))
    }

    /// Memory type of the tables below a TTBR: IRGN is in bits 0 and 6, RGN in 4:3, S in 1 (ARM, TTBR0, with the
    /// Multiprocessing Extensions).
    fn walk_memory(&self, ttbr: u32) -> MemoryType {
        let memory = MemoryType::Normal {
            inner: Cacheability::from_bits(ttbr << 1 & 2 | ttbr >> 6 & 1),
            outer: Cacheability::from_bits(ttbr >> 3),
            shareable: ttbr & 2 != 0,
        };
        memory.with_cache(self.registers.sctlr & SCTLR_C != 0)
    }

    /// Access flag, then domain, then permissions (ARM, B3.12).
    fn check(&self, leaf: &Leaf, access: Access) -> Result<(), FaultStatus> {
        let status = |page, section| if leaf.page { page } else { section };
        let access_flag = self.registers.sctlr & SCTLR_AFE != 0;
        if access_flag && leaf.permissions & 1 == 0 {
            return Err(status(FaultStatus::AccessFlagPage, FaultStatus::AccessFlagSection));
        }
        match self.registers.dacr >> (2 * leaf.domain) & 3 {
            3 => Ok(()),
            1 if leaf.allows(access) => Ok(()),
            1 => Err(status(FaultStatus::PermissionPage, FaultStatus::PermissionSection)),
            _ => Err(status(FaultStatus::DomainPage, FaultStatus::DomainSection)),
        }
    }

    fn memory_type(&self, leaf: &Leaf) -> MemoryType {
        let registers = &self.registers;
        match registers.sctlr & SCTLR_TRE != 0 {
            true => MemoryType::remapped(leaf.tex, leaf.c, leaf.b, leaf.s, registers.prrr, registers.nmrr),
            false => MemoryType::plain(leaf.tex, leaf.c, leaf.b, leaf.s),
        }
    }
}

#[cfg(test)]
mod tests;

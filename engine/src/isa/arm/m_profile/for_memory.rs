//! The system registers, as the memory sees them.

use super::{Abort, FaultStatus, System};
use crate::memory::first_level::Mmu;
use crate::memory::first_level::access::{Access, Translation};

impl Mmu for System {
    type Status = FaultStatus;

    fn translate(&self, va: u32, access: Access, _: impl FnMut(u32) -> Option<u32>) -> Result<Translation, Abort> {
        self.translate(va, access)
    }

    /// Addresses have attributes and permissions, with or without regions.
    fn mmu_is_on(&self) -> bool {
        true
    }

    /// There is no TLB.
    fn is_mapped(&self, _: u32) -> bool {
        false
    }

    fn dcache_is_on(&self) -> bool {
        false
    }

    fn icache_is_on(&self) -> bool {
        false
    }

    fn checks_alignment(&self) -> bool {
        self.scb.traps_unaligned()
    }

    fn is_privileged(&self) -> bool {
        self.is_privileged()
    }

    fn asid(&self) -> u8 {
        0
    }

    fn keeps_shareable(&self) -> bool {
        false
    }
}

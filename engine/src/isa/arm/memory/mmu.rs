//! What the memory needs of the system registers.

use super::super::system::{Abort, Access, System, Translation};

/// The system registers, as the memory sees them.
pub trait Mmu {
    /// Where `va` leads, or why it doesn't. `read` gives the descriptor at a physical address, or `None` where nothing answers.
    ///
    /// # Errors
    /// The abort that the access takes.
    fn translate(&self, va: u32, access: Access, read: impl FnMut(u32) -> Option<u32>) -> Result<Translation, Abort>;

    /// SCTLR.M.
    fn mmu_is_on(&self) -> bool;

    /// SCTLR.C.
    fn dcache_is_on(&self) -> bool;

    /// SCTLR.I.
    fn icache_is_on(&self) -> bool;

    /// SCTLR.A.
    fn checks_alignment(&self) -> bool;

    /// True in a privileged mode.
    fn is_privileged(&self) -> bool;

    /// CONTEXTIDR.ASID.
    fn asid(&self) -> u8;

    /// ACTLR.SMP: shareable memory is kept in the data cache, too.
    fn keeps_shareable(&self) -> bool;
}

impl Mmu for System {
    fn translate(&self, va: u32, access: Access, read: impl FnMut(u32) -> Option<u32>) -> Result<Translation, Abort> {
        self.translate(va, access, read)
    }

    fn mmu_is_on(&self) -> bool {
        self.mmu_is_on()
    }

    fn dcache_is_on(&self) -> bool {
        self.dcache_is_on()
    }

    fn icache_is_on(&self) -> bool {
        self.icache_is_on()
    }

    fn checks_alignment(&self) -> bool {
        self.checks_alignment()
    }

    fn is_privileged(&self) -> bool {
        self.is_privileged()
    }

    fn asid(&self) -> u8 {
        self.asid()
    }

    fn keeps_shareable(&self) -> bool {
        self.keeps_shareable()
    }
}

//! What the memory needs of the system registers.

use super::access::{Abort, Access, Status, Translation};

/// The system registers, as the memory sees them.
pub trait Mmu {
    /// Why it refuses accesses.
    type Status: Status;

    /// Where `va` leads, or why it doesn't. `read` gives the descriptor at a physical address, or `None` where nothing answers.
    ///
    /// # Errors
    /// The abort that the access takes.
    fn translate(
        &self,
        va: u32,
        access: Access,
        read: impl FnMut(u32) -> Option<u32>,
    ) -> Result<Translation, Abort<Self::Status>>;

    /// Addresses are translated (Arm: SCTLR.M).
    fn mmu_is_on(&self) -> bool;

    /// With that on: true if `va` is translated by an entry of a TLB. What is not takes no entry, and no time.
    fn is_mapped(&self, _va: u32) -> bool {
        true
    }

    /// The data cache is on (Arm: SCTLR.C).
    fn dcache_is_on(&self) -> bool;

    /// The instruction cache is on (Arm: SCTLR.I).
    fn icache_is_on(&self) -> bool;

    /// An address that is no multiple of the size is refused (Arm: SCTLR.A).
    fn checks_alignment(&self) -> bool;

    /// True in a privileged mode.
    fn is_privileged(&self) -> bool;

    /// The current address space (Arm: CONTEXTIDR.ASID).
    fn asid(&self) -> u8;

    /// Shareable memory is kept in the data cache, too (Arm: ACTLR.SMP).
    fn keeps_shareable(&self) -> bool;
}

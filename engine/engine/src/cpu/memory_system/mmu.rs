//! The memory side's view of the system registers.

use super::access::{Abort, Access, Cacheability, Kind, MemoryType, Status, Translation, how};
use crate::bus::Bus;
use crate::semihosting::program_memory::View;

/// The abort of an access that memory management or the bus refuses.
pub(super) type AbortOf<M> = Abort<<M as Mmu>::Status>;

/// The system registers, in the memory side's view.
pub trait Mmu {
    /// Its reasons to refuse accesses.
    type Status: Status;

    /// False if all addresses are physical, with the attributes of the board's map: see [`Identity`].
    const TRANSLATES: bool = true;

    /// True if addresses are translated by tables in memory, which programs change without a notice to the core: only
    /// TLBs keep their contents.
    const WALKS: bool = false;

    /// True where blocks fetch lines of instructions that no cache keeps ([`Via::Passing`](super::Via::Passing)).
    const FETCHES_LINES: bool = false;

    /// Translates `va`. `read` returns the descriptor at a physical address, or `None` if no memory answers.
    ///
    /// # Errors
    ///
    /// The abort of the access.
    fn translate(
        &self,
        va: u32,
        access: Access,
        read: impl FnMut(u32) -> Option<u32>,
    ) -> Result<Translation, Abort<Self::Status>>;

    /// Addresses are translated (Arm: SCTLR.M).
    fn mmu_is_on(&self) -> bool;

    /// With the MMU on: true if a TLB entry translates `va`. Other addresses need no entry and no time.
    fn is_mapped(&self, _va: u32) -> bool {
        true
    }

    /// The data cache is on (Arm: SCTLR.C).
    fn dcache_is_on(&self) -> bool {
        true
    }

    /// The instruction cache is on (Arm: SCTLR.I).
    fn icache_is_on(&self) -> bool {
        true
    }

    /// An address that is not a multiple of the size is refused (Arm: SCTLR.A).
    fn checks_alignment(&self) -> bool {
        true
    }

    /// True in a privileged mode.
    fn is_privileged(&self) -> bool;

    /// An access with the current privilege and its instruction's flags ([`how`]).
    fn access(&self, kind: Kind, how: u8) -> Access {
        Access { kind, privileged: self.is_privileged() && how & how::UNPRIVILEGED == 0 }
    }

    /// The current address space (Arm: CONTEXTIDR.ASID).
    fn asid(&self) -> u8;

    /// Shareable memory is kept in the data cache, too (Arm: ACTLR.SMP).
    fn keeps_shareable(&self) -> bool;

    /// The data cache, and the second level, may stop to allocate lines for stores (Arm: read allocate mode, unless
    /// ACTLR.L1RADIS or L2RADIS is set).
    fn may_stream(&self) -> [bool; 2] {
        [true; 2]
    }

    /// The most lines that the data cache may request ahead (Arm: ACTLR.L1PCTL).
    fn prefetched_lines(&self) -> u32 {
        u32::MAX
    }
}

/// The view of a semihosting program: all that privileged modes may access.
impl<M: Mmu> View for M {
    fn physical(&self, bus: &Bus, va: u32, write: bool) -> Option<(u32, u32)> {
        let kind = if write { Kind::Write } else { Kind::Read };
        let access = Access { kind, privileged: true };
        let to = self.translate(va, access, |physical| bus.peek_word(physical)).ok()?;
        Some((to.physical, to.page_bytes - (va & (to.page_bytes - 1))))
    }
}

/// No translation: for a core whose addresses are physical. Cacheable memory of the board's map is Normal memory,
/// written back if the data cache does so; the ranges of devices are accessed in order (RISC-V privileged
/// specification, section 3.6, physical memory attributes). Misaligned accesses are refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Identity;

/// Reasons for which a core without translation refuses an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refusal {
    /// The address is not a multiple of the size.
    Misaligned,
    /// The bus did not answer, or answered with an error.
    Bus,
}

impl Status for Refusal {
    const ALIGNMENT: Refusal = Refusal::Misaligned;
    const EXTERNAL: Refusal = Refusal::Bus;
}

impl Identity {
    /// The translation of any address.
    #[inline(always)]
    pub(super) const fn translation(physical: u32) -> Translation {
        let cached = Cacheability::WriteBackAllocate;
        let memory = MemoryType::Normal { inner: cached, outer: cached, shareable: false };
        Translation::of(physical, 1 << 31, memory)
    }
}

impl Mmu for Identity {
    type Status = Refusal;

    const TRANSLATES: bool = false;

    #[inline(always)]
    fn translate(
        &self,
        va: u32,
        _access: Access,
        _read: impl FnMut(u32) -> Option<u32>,
    ) -> Result<Translation, Abort<Refusal>> {
        Ok(Identity::translation(va))
    }

    fn mmu_is_on(&self) -> bool {
        false
    }

    fn is_privileged(&self) -> bool {
        true
    }

    fn asid(&self) -> u8 {
        0
    }

    fn keeps_shareable(&self) -> bool {
        false
    }
}

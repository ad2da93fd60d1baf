//! The system registers, as the memory sees them.

use super::{Abort, Access, FaultStatus, System, Translation};
use crate::memory::first_level::Mmu;
use crate::memory::first_level::access::Status;

impl Status for FaultStatus {
    const ALIGNMENT: FaultStatus = FaultStatus::Alignment;
    const EXTERNAL: FaultStatus = FaultStatus::External;
}

impl Mmu for System {
    type Status = FaultStatus;

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

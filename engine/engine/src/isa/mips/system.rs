//! The state outside of the general registers: coprocessor 0, the TLB, exceptions.
//!
//! "PRA" below is the MIPS32 Privileged Resource Architecture (MD00090), by its chapters; release 1 of it. There is no
//! supervisor mode, no watch register, no debug mode and no shadow set. Coprocessor 0 of an XBurst has no timer: Count
//! and Compare read as 0 (Linux, arch/mips/kernel/cpu-probe.c, cpu_probe_ingenic).

pub mod exceptions;
pub mod hints;
pub mod mmu;
pub mod registers;
mod status;
pub mod tlb;

pub use exceptions::Exception;
pub use mmu::{Abort, TlbFault};

use super::config::SystemConfig;
use registers::Registers;
use tlb::Tlb;

use crate::state::State;

/// The system side of a core.
#[derive(Clone, Debug, PartialEq, Eq, State)]
pub struct System {
    #[state(skip)]
    config: SystemConfig,
    registers: Registers,
    tlb: Tlb,
    /// LLbit: an ll was run, and no eret since.
    linked: bool,
}

impl System {
    /// After reset (PRA, reset exception): kernel mode by ERL, vectors in the boot ROM, interrupts off.
    pub fn new(config: SystemConfig) -> System {
        System { registers: Registers::new(config.config), tlb: Tlb::new(config.tlb_entries), linked: false, config }
    }

    /// Records an ll: the next sc stores.
    #[inline]
    pub fn link(&mut self) {
        self.linked = true;
    }

    /// True if an sc may store. It ends the sequence either way.
    #[inline]
    pub fn take_link(&mut self) -> bool {
        std::mem::take(&mut self.linked)
    }
}

/// The core's state on which system instructions depend.
#[derive(Clone, Copy, Debug)]
pub struct Now {
    /// Interrupt lines that are high: bit n is Cause.IP n.
    pub pending: u32,
    /// Instructions since reset.
    pub instructions: u64,
}

/// The next step of the core, beyond registers that have changed already.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Continue after the instruction, in the privilege that is then current ([`System::is_privileged`]).
    Next,
    /// Address translation has changed: drop every translation, and all values that depend on it.
    TranslationChanged,
}

#[cfg(test)]
mod tests;

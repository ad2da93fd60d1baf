//! What is not the general registers: modes and their banked registers, exceptions, coprocessor 15, translation,
//! counters.
//!
//! "ARM" below is the Arm Architecture Reference Manual, ARMv7-A and ARMv7-R edition (DDI 0406C); "TRM" the Cortex-A5
//! Technical Reference Manual (DDI 0433). There is one world here: the secure one, in which a core starts. There is no
//! monitor mode, and smc is undefined.

mod attributes;
pub mod config;
pub mod effect;
pub mod exceptions;
mod execute;
mod maintenance;
pub mod mmu;
pub mod modes;
pub mod monitor;
pub mod pmu;
pub(super) mod psr;
pub mod registers;
mod timer;
pub mod vfp_control;

pub use crate::memory::first_level::access::{
    Access, Barrier, Cacheability, Kind, Lines, Maintenance, MemoryType, TlbEntries, Translation,
};
pub use config::SystemConfig;
pub use effect::{DeviceRegister, Effect, Lookup, Now};
pub use exceptions::{Abort, Exception, FaultStatus};
pub use modes::Mode;
pub use pmu::Events;

use super::psr::ExecutionState;
use super::registers::COUNT;
use modes::Banks;
use monitor::Monitor;
use pmu::Pmu;
use registers::Registers;
use vfp_control::VfpControl;

/// The register file of micro-operations: see [`super::registers`].
pub type X = [u32; COUNT];

/// The system side of a core.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct System {
    config: SystemConfig,
    mode: Mode,
    pub(super) state: ExecutionState,
    /// CPSR.A, I and F, in their places.
    masks: u32,
    /// The event register of wfe.
    event: bool,
    banks: Banks,
    registers: Registers,
    monitor: Monitor,
    pmu: Pmu,
    vfp: VfpControl,
}

impl System {
    /// After reset: Supervisor mode, A32, all interrupts masked, caches and MMU off.
    pub fn new(config: SystemConfig) -> System {
        System {
            mode: Mode::Supervisor,
            state: ExecutionState::new(false),
            masks: psr::A | psr::I | psr::F,
            event: false,
            banks: Banks::default(),
            registers: Registers::new(),
            monitor: Monitor::default(),
            pmu: Pmu::default(),
            vfp: VfpControl::default(),
            config,
        }
    }

    /// What the board says of it.
    pub fn config(&self) -> &SystemConfig {
        &self.config
    }

    /// The mode of the core.
    pub fn mode(&self) -> Mode {
        self.mode
    }

    /// True in all modes but User.
    #[inline]
    pub fn is_privileged(&self) -> bool {
        self.mode != Mode::User
    }
}

#[cfg(test)]
mod tests;

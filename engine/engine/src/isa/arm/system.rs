//! The state outside of the general registers: modes and their banked registers, exceptions, coprocessor 15,
//! translation, counters.
//!
//! "ARM" below is the Arm Architecture Reference Manual, ARMv7-A and ARMv7-R edition (DDI 0406C); "TRM" the Cortex-A5
//! Technical Reference Manual (DDI 0433). Only the secure world is modelled, in which a core starts. There is no
//! monitor mode: smc calls a model of the firmware if the board has one, and is undefined otherwise.

mod attributes;
pub mod config;
mod cp14;
mod debug;
pub mod effect;
pub mod exceptions;
pub mod execute;
mod maintenance;
pub mod mmu;
pub mod modes;
pub mod pmu;
pub(super) mod psr;
pub mod registers;
mod timer;
pub mod vfp_control;

pub use crate::cpu::memory_system::access::{
    Access, Barrier, Cacheability, Kind, Lines, Maintenance, MemoryType, TlbEntries, Translation,
};
pub use config::SystemConfig;
pub use cp14::DebugConfig;
pub use effect::{DeviceRegister, Effect, Lookup, Now};
pub use exceptions::{Abort, Exception, FaultStatus};
pub use modes::Mode;
pub use pmu::Events;

use super::architecture::{SystemSide, byte_with};
use super::event_register::{EventRegister, Sleep};
use super::op::{Features, Op};
use super::psr::ExecutionState;
use super::registers::COUNT;
use crate::core::Awaited;
use crate::inputs::Inputs;
use crate::state::State;
use cp14::Cp14;
use modes::Banks;
use pmu::Pmu;
use registers::{Registers, SCTLR_Z};
use std::mem::offset_of;
use vfp_control::{FPEXC_EN, FPSCR_MASK};

/// The register file of micro-operations: see [`super::registers`].
pub type X = [u32; COUNT];

/// The system side of a core.
#[derive(Clone, Debug, PartialEq, Eq, State)]
pub struct System {
    #[state(skip)]
    config: SystemConfig,
    mode: Mode,
    pub(super) state: ExecutionState,
    /// CPSR.A, I and F, in their bit positions.
    masks: u32,
    event: EventRegister,
    banks: Banks,
    registers: Registers,
    cp14: Cp14,
    /// An exception has returned to User mode with the MMU on: an operating system runs processes.
    has_processes: bool,
    /// The local exclusive monitor (ARM, A3.4.1): physical address and size in bytes of the last exclusive load, while
    /// its reservation holds.
    reserved: Option<(u32, u32)>,
    pmu: Pmu,
}

impl SystemSide for System {
    type Config = SystemConfig;
    type Exception = Exception;

    const FPSCR_OFFSET: usize = offset_of!(System, registers.fpscr);
    const THREAD_IDS_OFFSET: usize = offset_of!(System, registers.tpidr);
    /// If only privileged code may use it, compiled code calls the function. Without VFP, CPACR reads as zero.
    const VFP_READY: &[(usize, u8)] = &[
        byte_with(offset_of!(System, registers.fpexc), FPEXC_EN),
        byte_with(offset_of!(System, registers.cpacr), 0xf << 20),
    ];

    /// After reset: Supervisor mode, A32, all interrupts masked, caches and MMU off.
    fn new(config: SystemConfig) -> System {
        System {
            mode: Mode::Supervisor,
            state: ExecutionState::new(false),
            masks: psr::A | psr::I | psr::F,
            event: EventRegister::default(),
            banks: Banks::default(),
            registers: Registers::new(),
            cp14: Cp14::new(config.debug),
            has_processes: false,
            reserved: None,
            pmu: Pmu::default(),
            config,
        }
    }

    #[inline]
    fn features(&self) -> Features {
        self.config.features
    }

    #[inline(always)]
    fn state(&self) -> &ExecutionState {
        &self.state
    }

    #[inline(always)]
    fn state_mut(&mut self) -> &mut ExecutionState {
        &mut self.state
    }

    fn status(&self, x: &X) -> u32 {
        self.cpsr(x)
    }

    fn predicts_branches(&self) -> bool {
        self.registers.sctlr & SCTLR_Z != 0
    }

    #[inline]
    fn fpscr(&self) -> u32 {
        self.registers.fpscr
    }

    #[inline]
    fn set_fpscr(&mut self, value: u32) {
        self.registers.fpscr = value & FPSCR_MASK;
    }

    /// True if CPACR allows it in this mode, and FPEXC.EN is set. Else VFP instructions are undefined.
    #[inline]
    fn vfp_is_ready(&self) -> bool {
        self.registers.fpexc & FPEXC_EN != 0 && self.cpacr_allows_vfp()
    }

    fn reserve(&mut self, physical: u32, bytes: u32) {
        self.reserved = Some((physical, bytes));
    }

    /// A store to another address or of another size than that of the load fails.
    fn claim(&mut self, physical: u32, bytes: u32) -> bool {
        self.reserved.take() == Some((physical, bytes))
    }

    fn clear_reservation(&mut self) {
        self.reserved = None;
    }

    fn undefined(encoding: u32) -> Exception {
        Exception::Undefined(encoding)
    }

    fn fetch_abort(abort: Abort) -> Exception {
        Exception::PrefetchAbort(abort)
    }

    fn data_abort(abort: Abort) -> Exception {
        Exception::DataAbort(abort)
    }

    #[inline]
    fn deliverable(&self, inputs: &Inputs) -> Option<Exception> {
        self.deliverable(inputs.low())
    }

    fn see(&mut self, inputs: &Inputs) {
        self.event.see(inputs.events());
    }

    fn wakes(&self, inputs: &Inputs) -> bool {
        match self.event.sleep() {
            Sleep::Interrupt => self.wakes(inputs.low()),
            Sleep::Event => self.event.has_not_seen(inputs.events()) || self.deliverable(inputs.low()).is_some(),
            Sleep::Over => true,
        }
    }

    fn awaits(&self, inputs: &Inputs) -> Awaited {
        let is_event = self.event.sleep() == Sleep::Event;
        let held_back = (is_event && self.wakes(inputs.low()))
            .then(|| "an interrupt is pending, but masked in CPSR: to wfe that is no event".to_owned());
        Awaited { is_event, held_back }
    }

    fn event_register(&mut self) -> &mut EventRegister {
        &mut self.event
    }

    fn execute_in_block(&mut self, x: &mut X, op: &Op) -> Result<(), Exception> {
        self.execute_in_block(x, op)
    }

    fn execute(&mut self, x: &mut X, op: &Op, now: &Now) -> Result<Effect, Exception> {
        self.execute(x, op, now)
    }
}

impl System {
    /// Sets ACTLR.SMP, as a firmware does.
    pub fn join_cluster(&mut self) {
        self.registers.join_cluster();
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

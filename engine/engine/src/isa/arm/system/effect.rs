//! Effects of system instructions on the core, beyond the registers that they change themselves.

use super::pmu::Events;
use super::{Access, Barrier, Maintenance};
use crate::bus::device::CoreRegister;
use crate::isa::arm::op::Code;

/// The core's state on which system instructions depend.
#[derive(Clone, Copy, Debug)]
pub struct Now<'a> {
    /// Cycles of its clock since reset, up to this instruction, without those asleep (ARM, C12.1).
    pub cycles: u64,
    /// Counts of the performance monitors' events, up to this instruction.
    pub events: &'a Events,
    /// Interrupt lines that are high: bit 0 IRQ, bit 1 FIQ.
    pub pending: u32,
}

/// The next step of the core. Any of the instructions may have changed the mode, the masks of interrupts and the
/// privilege: check them afterwards ([`super::System::is_privileged`], [`super::System::deliverable`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Continue after the instruction.
    Next,
    /// Continue at this address; the instruction set has been set.
    JumpTo(u32),
    /// Continue after the instruction, but not before [`super::System::wakes`].
    Wait,
    /// Send an event to the other cores of the cluster.
    SendEvent,
    /// Make the semihosting call x0 with the parameter x1; write the answer to x0; then continue after the instruction.
    Semihosting,
    /// Call the firmware of the board by the SMC calling convention (DEN0028): the number of the function in x0, its
    /// parameters in x1 to x3, its result in x0. Undefined on a board without firmware.
    FirmwareCall,
    /// Note once that this is not modelled; then continue after the instruction.
    NotModelled(&'static str),
    /// The performance monitors were written: their interrupt may change.
    CountersChanged,
    /// Maintain caches or TLBs in the memory side.
    Maintain(Maintenance),
    /// The same in all cores of the cluster.
    MaintainAll(Maintenance),
    /// Translation, permissions or the enables of caches have changed: drop all values that depend on them.
    TranslationChanged,
    /// As [`Effect::TranslationChanged`], but neither the enables of caches nor the way in which code is decoded.
    MappingChanged,
    /// The rights to domains have changed.
    DomainsChanged,
    /// Translate, and pass the result to [`super::System::translated`].
    Translate(Lookup),
    /// Access a register of the device beside the core.
    DeviceRegister(DeviceRegister),
}

impl Effect {
    /// The effect of an instruction that changes nothing in the core: barriers; others that use this have no effect.
    pub fn of(code: Code) -> Effect {
        match code {
            Code::Dsb => Effect::Maintain(Maintenance::Barrier(Barrier::DataSynchronization)),
            Code::Dmb => Effect::Maintain(Maintenance::Barrier(Barrier::DataMemory)),
            Code::Isb => Effect::Maintain(Maintenance::Barrier(Barrier::InstructionSynchronization)),
            _ => Effect::Next,
        }
    }
}

/// An access to a register of the device beside the core: the generic timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DeviceRegister {
    /// Which register.
    pub register: CoreRegister,
    /// The value to write; without one the register is read.
    pub written: Option<u64>,
    /// Registers for the low and the high word of the value read.
    pub to: [u8; 2],
    /// The encoding of the instruction, which is undefined if the register does not exist.
    pub encoding: u32,
}

/// A translation requested by software (ARM, B4.2: ATS1CPR and similar).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lookup {
    /// The virtual address.
    pub va: u32,
    /// The access for which it is made.
    pub access: Access,
}

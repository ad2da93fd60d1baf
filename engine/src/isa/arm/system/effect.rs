//! What a system instruction asks the core to do, beyond the registers that it has changed already.

use super::pmu::Events;
use super::{Access, Barrier, Maintenance};
use crate::bus::device::CoreRegister;
use crate::isa::arm::op::Code;

/// What system instructions need to know of the core at the moment.
#[derive(Clone, Copy, Debug)]
pub struct Now<'a> {
    /// Cycles of its clock since reset, up to this instruction: those asleep are none (ARM, C12.1).
    pub cycles: u64,
    /// What the performance monitors can count, up to this instruction.
    pub events: &'a Events,
    /// Interrupt lines that are up: bit 0 IRQ, bit 1 FIQ.
    pub pending: u32,
}

/// What is to be done next. Any of the instructions may have changed the mode, the masks of interrupts and the
/// privilege: look at them afterwards ([`super::System::is_privileged`], [`super::System::deliverable`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Go on behind the instruction.
    Next,
    /// Go on at this address; the instruction set has been chosen.
    JumpTo(u32),
    /// Go on behind the instruction, but not before [`super::System::wakes`].
    Wait,
    /// Send an event to the other cores of the cluster.
    SendEvent,
    /// Run the semihosting call x0 with the parameter x1; the answer goes to x0; then go on behind the instruction.
    Semihosting,
    /// Tell the memory.
    Maintain(Maintenance),
    /// What addresses mean, who may use them or which caches are on has changed: forget everything worked out from it.
    TranslationChanged,
    /// Translate, and hand the result to [`super::System::translated`].
    Translate(Lookup),
    /// Access a register of the device beside the core.
    DeviceRegister(DeviceRegister),
}

impl Effect {
    /// Of an instruction that changes nothing in the core: barriers; others that come here do nothing.
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
    /// What is written; else the register is read.
    pub written: Option<u64>,
    /// Where the low and the high word of what is read go.
    pub to: [u8; 2],
    /// The encoding of the instruction, which is undefined where there is no such register.
    pub encoding: u32,
}

/// A translation that software asked for (ARM, B4.2: ATS1CPR and the like).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lookup {
    /// The virtual address.
    pub va: u32,
    /// As if for this access.
    pub access: Access,
}

//! What a system instruction asks the core to do, beyond the registers that it has changed already.

use super::mmu::Access;
use super::pmu::Events;

/// What system instructions need to know of the core at the moment.
#[derive(Clone, Copy, Debug)]
pub struct Now<'a> {
    /// Cycles since reset, up to this instruction.
    pub cycles: u64,
    /// What the performance monitors can count, up to this instruction.
    pub events: &'a Events,
    /// Interrupt lines that are up: bit 0 IRQ, bit 1 FIQ.
    pub pending: u32,
}

/// What is to be done next. Any of the instructions may have changed the mode, the masks of interrupts and the privilege: look at them
/// afterwards ([`super::System::is_privileged`], [`super::System::deliverable`]).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Effect {
    /// Go on behind the instruction.
    Next,
    /// Go on at this address; the instruction set has been chosen.
    JumpTo(u32),
    /// Go on behind the instruction, but not before [`super::System::wakes`].
    Wait,
    /// Run the semihosting call x0 with the parameter x1; the answer goes to x0; then go on behind the instruction.
    Semihosting,
    /// Tell the memory.
    Maintain(Maintenance),
    /// What addresses mean, who may use them or which caches are on has changed: forget everything worked out from it.
    TranslationChanged,
    /// Translate, and hand the result to [`super::System::translated`].
    Translate(Lookup),
}

/// A translation that software asked for (ARM, B4.2: ATS1CPR and the like).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lookup {
    /// The virtual address.
    pub va: u32,
    /// As if for this access.
    pub access: Access,
}

/// An operation on caches, TLBs or branch predictors, or a barrier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Maintenance {
    /// Invalidates lines of the instruction cache; all of them takes the branch predictor along.
    Icache(Lines),
    /// Of the data cache: written back if dirty (clean), thrown away (invalidate), or both.
    Dcache {
        /// Which.
        lines: Lines,
        /// Write dirty ones back.
        clean: bool,
        /// Throw them away, dirty or not.
        invalidate: bool,
    },
    /// Invalidates translations.
    Tlb(TlbEntries),
    /// Invalidates branch predictions, all of them or those of one address.
    BranchPredictor(Lines),
    /// A barrier.
    Barrier(Barrier),
}

/// Lines of a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lines {
    /// All of them.
    All,
    /// The one of this virtual address, if it is there.
    At(u32),
    /// The one in this set and way of level 1, as the operation's register value says: the way is in the top bits, the set above the
    /// line's offset, the level less one in bits 3:1.
    SetWay(u32),
}

/// Entries of the TLBs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TlbEntries {
    /// All of them.
    All,
    /// That of the page at a virtual address, if it is global or has this ASID.
    Page {
        /// Address; the low 12 bits are 0.
        va: u32,
        /// Address space.
        asid: u8,
    },
    /// Those of the page at this virtual address in all address spaces.
    PageOfAll(u32),
    /// All of this address space that are not global.
    Asid(u8),
}

/// Barriers (ARM, A3.8.3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Barrier {
    /// Data memory barrier: accesses before it are seen before those behind it.
    DataMemory,
    /// Data synchronization barrier: accesses and maintenance before it are complete.
    DataSynchronization,
    /// Instruction synchronization barrier: what follows is fetched anew.
    InstructionSynchronization,
}

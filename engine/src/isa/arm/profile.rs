//! What a profile of the architecture adds to what all Arm cores have in common.
//!
//! [`SystemSide`] is the state beside the general registers, and answers for it alone; [`Profile`] is how a core of
//! that profile enters and leaves exceptions, and the few instructions and addresses that it has of its own. Cores are
//! made for one profile each: nothing here is decided while they run.

use super::core::Arm;
use super::event_register::EventRegister;
use super::op::{Features, Op};
use super::psr::ExecutionState;
use super::system::{Effect, Lookup, Now, X};
use crate::bus::Bus;
use crate::bus::device::AccessSize;
use crate::core::Awaited;
use crate::core::debug::{Architecture, Register};
use crate::cpu::memory::Mmu;
use crate::cpu::memory::access::{Abort, Status};
use crate::encoding::Encoding;
use crate::inputs::Inputs;
use crate::state::State;

/// The state of a core beside its general and VFP registers. Where the memory asks it what addresses mean, it answers
/// as an [`Mmu`].
pub trait SystemSide: Mmu + Clone + PartialEq + Send + State {
    /// What the board says of it.
    type Config: Clone + Send;
    /// Why the flow of instructions is left: faults, calls, interrupts.
    type Exception: Copy;

    /// After reset.
    fn new(config: Self::Config) -> Self;

    /// What the decoders have to know.
    fn features(&self) -> Features;

    /// By what the next instruction is decoded. A core without A32 faults when that comes to be executed.
    fn state(&self) -> &ExecutionState;

    /// The same, to be changed.
    fn state_mut(&mut self) -> &mut ExecutionState;

    /// The status register (CPSR, xPSR) with the flags of `x`, for the user.
    fn status(&self, x: &X) -> u32;

    /// Branches are predicted, as far as the core can.
    fn predicts_branches(&self) -> bool;

    // ---- VFP

    /// Where FPSCR is in it, for compiled code.
    const FPSCR_OFFSET: usize;

    /// Bytes of it, by their offsets, with bits that are all set only if [`SystemSide::vfp_is_ready`] holds: compiled
    /// code looks there first, and asks if it has to.
    const VFP_READY: &[(usize, u8)];

    /// FPSCR.
    fn fpscr(&self) -> u32;

    /// Sets FPSCR, as far as its bits are there.
    fn set_fpscr(&mut self, value: u32);

    /// True if a VFP instruction may be executed with nothing to be done before: else [`Profile::prepare_vfp`] is
    /// asked.
    fn vfp_is_ready(&self) -> bool;

    // ---- The local exclusive monitor

    /// After an exclusive load of `bytes` at a physical address.
    fn reserve(&mut self, physical: u32, bytes: u32);

    /// Before an exclusive store: true if it is to be done. The reservation is gone afterwards.
    fn claim(&mut self, physical: u32, bytes: u32) -> bool;

    /// As clrex does.
    fn clear_reservation(&mut self);

    // ---- Exceptions

    /// The exception of an encoding that means nothing (T32: first halfword on top).
    fn undefined(encoding: u32) -> Self::Exception;

    /// See [`crate::cpu::isa::Isa::fetch_abort`].
    fn fetch_abort(abort: Abort<Self::Status>) -> Self::Exception;

    /// See [`crate::cpu::isa::Isa::data_abort`].
    fn data_abort(abort: Abort<Self::Status>) -> Self::Exception;

    /// The exception of a division by 0, where there is one.
    fn divide_by_zero() -> Option<Self::Exception> {
        None
    }

    /// See [`crate::cpu::isa::Isa::refuses_code`].
    fn wrong_state(&self) -> Option<Self::Exception> {
        None
    }

    /// See [`crate::cpu::isa::Isa::see`].
    #[inline(always)]
    fn see(&mut self, _inputs: &Inputs) {}

    /// See [`crate::cpu::isa::Isa::deliverable`].
    fn deliverable(&self, inputs: &Inputs) -> Option<Self::Exception>;

    /// See [`crate::cpu::isa::Isa::is_news`].
    fn is_news(&self, inputs: &Inputs) -> bool {
        self.deliverable(inputs).is_some()
    }

    /// See [`crate::cpu::isa::Isa::wakes`].
    fn wakes(&self, inputs: &Inputs) -> bool;

    /// See [`crate::core::Core::awaits`].
    fn awaits(&self, inputs: &Inputs) -> Awaited;

    /// The event register of wfe.
    fn event_register(&mut self) -> &mut EventRegister;

    // ---- Instructions

    /// Executes a system instruction that needs no memory: those from [`super::op::Code::Svc`] on. ITSTATE is that of
    /// the instruction. What it asks of the core it returns.
    ///
    /// # Errors
    /// The exception that the instruction takes; it has changed nothing.
    fn execute(&mut self, x: &mut X, op: &Op, now: &Now) -> Result<Effect, Self::Exception>;
}

/// How a core of a profile enters and leaves exceptions, and what it has of its own.
pub trait Profile: SystemSide + Sized + 'static {
    /// An exception that is being entered or left.
    type Flow: Clone + Default + PartialEq + Send + State;

    /// What time in exceptions is called, for the user.
    const EXCEPTIONS: &str = "exception entry";
    /// What debuggers call it.
    const ARCHITECTURE: Architecture;
    /// Code that is fetched past the cache is compiled, too. Not where the next fetch is under way while the last one's
    /// instructions run: compiled code would do little but ask.
    const COMPILES_UNCACHED: bool = true;
    /// How Thumb code is encoded.
    const THUMB: Encoding = Encoding::T32;

    /// See [`crate::cpu::isa::Isa::begin`].
    #[inline(always)]
    fn begin(_core: &mut Arm<Self>, _bus: &mut Bus) {}

    /// See [`crate::cpu::isa::Isa::reset`].
    fn reset(_core: &mut Arm<Self>, _bus: &mut Bus) {}

    /// See [`crate::cpu::isa::Isa::clock_changed`].
    fn clock_changed(_core: &mut Arm<Self>, _before: u64) {}

    /// See [`crate::cpu::isa::Isa::vector_table`].
    fn vector_table(_core: &Arm<Self>) -> Option<u32> {
        None
    }

    /// See [`crate::cpu::isa::Isa::set_vector_table`].
    fn set_vector_table(_core: &mut Arm<Self>, _table: u32) {}

    /// See [`crate::cpu::isa::Isa::is_between`].
    #[inline(always)]
    fn is_between(_core: &Arm<Self>) -> bool {
        false
    }

    /// See [`crate::cpu::isa::Isa::go_on`].
    fn go_on(_core: &mut Arm<Self>, _bus: &mut Bus) {}

    /// See [`crate::cpu::isa::Isa::take`].
    fn take(core: &mut Arm<Self>, bus: &mut Bus, exception: Self::Exception);

    /// See [`crate::cpu::isa::Isa::raise`].
    fn raise(core: &mut Arm<Self>, bus: &mut Bus, exception: Self::Exception);

    /// See [`crate::cpu::isa::Isa::follow_jump`].
    #[inline(always)]
    fn follow_jump(_core: &mut Arm<Self>, _bus: &mut Bus) {}

    /// See [`crate::cpu::isa::Isa::is_at_return`].
    #[inline(always)]
    fn is_at_return(_core: &Arm<Self>) -> bool {
        false
    }

    /// See [`crate::cpu::isa::Isa::follow_map`].
    #[inline(always)]
    fn follow_map(_core: &mut Arm<Self>) {}

    /// A VFP instruction is to be executed, which begins in core cycle `_begins`, and [`SystemSide::vfp_is_ready`] does
    /// not hold: does what has to be done before. Gives the cycles that it takes, accounted for but not added to the
    /// core's.
    ///
    /// # Errors
    /// The exception to be taken instead of the instruction; `None` for an undefined instruction.
    fn prepare_vfp(_core: &mut Arm<Self>, _bus: &mut Bus, _begins: u64) -> Result<u64, Option<Self::Exception>> {
        Err(None)
    }

    /// Registers that debuggers show behind those of all profiles.
    fn special_registers(core: &Arm<Self>, bus: &Bus) -> Vec<Register>;

    /// Writes one of them, by its place. False if it can't be written.
    fn set_special_register(core: &mut Arm<Self>, bus: &mut Bus, number: usize, value: u32) -> bool;

    /// Writes the status register, as far as a debugger may. False if it may not.
    fn set_status(core: &mut Arm<Self>, value: u32) -> bool;

    /// What a load from one of the core's own registers would give, without side effects; `None` if there is none.
    fn peek_own(_core: &Arm<Self>, _addr: u32, _size: AccessSize) -> Option<u32> {
        None
    }

    /// True if the address is one of the core's own registers: asked before each access that has no shortcut.
    fn is_own(_addr: u32) -> bool {
        false
    }

    /// Loads from one of the core's own registers, in core cycle `_cycle`. What that takes beyond the instruction's own
    /// issue it adds to the core's time.
    ///
    /// # Errors
    /// The exception that the access takes.
    fn load_own(_core: &mut Arm<Self>, _bus: &mut Bus, _cycle: u64, access: Own) -> Result<u32, Self::Exception> {
        Err(Self::data_abort(access.refused(false)))
    }

    /// Stores to one of them.
    ///
    /// # Errors
    /// The exception that the access takes.
    fn store_own(
        _core: &mut Arm<Self>,
        _bus: &mut Bus,
        _cycle: u64,
        access: Own,
        _value: u32,
    ) -> Result<(), Self::Exception> {
        Err(Self::data_abort(access.refused(true)))
    }

    /// An operation in the middle of a block that only this profile has (swap, registers of another mode). True if the
    /// block goes on; else it has been left.
    fn special(core: &mut Arm<Self>, bus: &mut Bus, index: u32, at: u32, _op: Op) -> bool {
        core.raise_at(bus, index, at, Self::undefined(0))
    }

    /// An instruction that moves processor state to or from memory (rfe, srs). The block has been left before it.
    ///
    /// # Errors
    /// The exception that it takes.
    fn state_in_memory(_core: &mut Arm<Self>, _bus: &mut Bus, _op: Op) -> Result<Effect, Self::Exception> {
        Err(Self::undefined(0))
    }

    /// Translates an address for software that asked.
    fn look_up(_core: &mut Arm<Self>, _bus: &Bus, _lookup: Lookup) {}
}

/// The byte with these bits of the word at an offset.
pub const fn byte_with(offset: usize, bits: u32) -> (usize, u8) {
    let byte = bits.trailing_zeros() as usize / 8;
    (offset + if cfg!(target_endian = "little") { byte } else { 3 - byte }, (bits >> (8 * byte)) as u8)
}

/// An access to one of a core's own registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Own {
    /// Its address, aligned or not.
    pub addr: u32,
    /// Its size.
    pub size: AccessSize,
    /// The block that runs, and its operation.
    pub place: (u32, u32),
}

impl Own {
    /// The abort of an access that no register answers.
    pub fn refused<S: Status>(self, write: bool) -> Abort<S> {
        Abort { va: self.addr, status: S::EXTERNAL, write, domain: 0, bus: None }
    }
}

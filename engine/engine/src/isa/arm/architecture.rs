//! The parts of an Arm core that depend on the architecture's profile.
//!
//! [`SystemSide`] is the state beside the general registers; [`Profile`] is how a core of that profile enters and
//! leaves exceptions, and its own instructions and addresses. The profile is a type parameter of the core: nothing here
//! is decided at run time.

use super::event_register::EventRegister;
use super::instruction_set::Arm;
use super::op::{Features, Op};
use super::psr::ExecutionState;
use super::system::{Effect, Lookup, Now, X};
use crate::bus::Bus;
use crate::bus::device::AccessSize;
use crate::core::Awaited;
use crate::core::debug::{Architecture, Register};
use crate::cpu::memory_system::Mmu;
use crate::cpu::memory_system::access::{Abort, Status};
use crate::encoding::Encoding;
use crate::inputs::Inputs;
use crate::order::CoreStart;
use crate::state::State;

/// The state of a core beside its general and VFP registers. For the memory side it is an [`Mmu`].
pub trait SystemSide: Mmu + Clone + PartialEq + Send + State {
    /// Its configuration by the board.
    type Config: Clone + Send;
    /// Reason to leave the flow of instructions: faults, calls, interrupts.
    type Exception: Copy;

    /// The state after reset.
    fn new(config: Self::Config) -> Self;

    /// Features for the decoders.
    fn features(&self) -> Features;

    /// State on which decoding depends. A core without A32 faults when an instruction is executed in that state.
    fn state(&self) -> &ExecutionState;

    /// The same, mutable.
    fn state_mut(&mut self) -> &mut ExecutionState;

    /// The status register (CPSR, xPSR) with the flags of `x`, for the user.
    fn status(&self, x: &X) -> u32;

    /// True if branches are predicted.
    fn predicts_branches(&self) -> bool;

    // ---- VFP

    /// Offset of FPSCR in this, for compiled code.
    const FPSCR_OFFSET: usize;

    /// Offset of TPIDRURW, TPIDRURO and TPIDRPRW in this, for compiled code.
    const THREAD_IDS_OFFSET: usize = 0;

    /// Bytes of this, by their offsets, with bits that are all set only if [`SystemSide::vfp_is_ready`] holds: compiled
    /// code tests them first, and calls that only if necessary.
    const VFP_READY: &[(usize, u8)];

    /// FPSCR.
    fn fpscr(&self) -> u32;

    /// Sets the implemented bits of FPSCR.
    fn set_fpscr(&mut self, value: u32);

    /// True if a VFP instruction may be executed without preparation; otherwise [`Profile::prepare_vfp`] is called.
    fn vfp_is_ready(&self) -> bool;

    // ---- The local exclusive monitor

    /// After an exclusive load of `bytes` at a physical address.
    fn reserve(&mut self, physical: u32, bytes: u32);

    /// Before an exclusive store: true if it succeeds. The reservation is gone afterwards.
    fn claim(&mut self, physical: u32, bytes: u32) -> bool;

    /// The effect of clrex.
    fn clear_reservation(&mut self);

    // ---- Exceptions

    /// The exception of an undefined encoding (T32: first halfword on top).
    fn undefined(encoding: u32) -> Self::Exception;

    /// See [`crate::cpu::isa::Isa::fetch_abort`].
    fn fetch_abort(abort: Abort<Self::Status>) -> Self::Exception;

    /// See [`crate::cpu::isa::Isa::data_abort`].
    fn data_abort(abort: Abort<Self::Status>) -> Self::Exception;

    /// The exception of a division by 0, if the core has one.
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

    /// Executes an instruction of [`super::op::Code::InBlock`].
    ///
    /// # Errors
    ///
    /// The exception of the instruction, which has changed nothing.
    fn execute_in_block(&mut self, _x: &mut X, op: &Op) -> Result<(), Self::Exception> {
        Err(Self::undefined(op.imm))
    }

    /// Executes a system instruction that needs no memory: those from [`super::op::Code::Svc`] on. ITSTATE is that of
    /// the instruction. Returns its effect on the core.
    ///
    /// # Errors
    ///
    /// The exception of the instruction, which has changed nothing.
    fn execute(&mut self, x: &mut X, op: &Op, now: &Now) -> Result<Effect, Self::Exception>;
}

/// Exception entry and return of a profile's cores, and the profile's own instructions and addresses.
pub trait Profile: SystemSide + Sized + 'static {
    /// An exception entry or return under way.
    type Flow: Clone + Default + PartialEq + Send + State;

    /// Name of the time in exceptions, for the user.
    const EXCEPTIONS: &str = "exception entry";
    /// Its name in debuggers.
    const ARCHITECTURE: Architecture;
    /// Code that is fetched past the cache is compiled, too. False if the next fetch is under way while the
    /// instructions of the last one run: compiled code would only call the interpreter's functions.
    const COMPILES_UNCACHED: bool = true;
    /// Encoding of Thumb code.
    const THUMB: Encoding = Encoding::T32;

    /// See [`crate::cpu::isa::Isa::begin`].
    #[inline(always)]
    fn begin(_core: &mut Arm<Self>, _bus: &mut Bus) {}

    /// See [`crate::cpu::isa::Isa::reset`].
    fn reset(_core: &mut Arm<Self>, _bus: &mut Bus) {}

    /// See [`crate::cpu::isa::Isa::start`].
    fn start(core: &mut Arm<Self>, bus: &mut Bus, _start: CoreStart) {
        Self::reset(core, bus);
    }

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

    /// Prepares for a VFP instruction that begins in core cycle `_begins`, where [`SystemSide::vfp_is_ready`] does not
    /// hold. Returns the cycles of that, accounted for but not added to the core's.
    ///
    /// # Errors
    ///
    /// The exception to be taken instead of the instruction; `None` for an undefined instruction.
    fn prepare_vfp(_core: &mut Arm<Self>, _bus: &mut Bus, _begins: u64) -> Result<u64, Option<Self::Exception>> {
        Err(None)
    }

    /// Registers that debuggers show after those of all profiles.
    fn special_registers(core: &Arm<Self>, bus: &Bus) -> Vec<Register>;

    /// Writes the register at an index of that list. False if it can't be written.
    fn set_special_register(core: &mut Arm<Self>, bus: &mut Bus, number: usize, value: u32) -> bool;

    /// Writes the status register, as far as a debugger may. False if it may not.
    fn set_status(core: &mut Arm<Self>, value: u32) -> bool;

    /// The value of a load from one of the core's own registers, without side effects; `None` if there is no such
    /// register.
    fn peek_own(_core: &Arm<Self>, _addr: u32, _size: AccessSize) -> Option<u32> {
        None
    }

    /// True if the address is one of the core's own registers: called before each access without a shortcut.
    fn is_own(_addr: u32) -> bool {
        false
    }

    /// Loads from one of the core's own registers, in core cycle `_cycle`. Adds the time beyond the instruction's own
    /// issue to the core's time.
    ///
    /// # Errors
    ///
    /// The exception of the access.
    fn load_own(_core: &mut Arm<Self>, _bus: &mut Bus, _cycle: u64, access: Own) -> Result<u32, Self::Exception> {
        Err(Self::data_abort(access.refused(false)))
    }

    /// Stores to one of the core's own registers.
    ///
    /// # Errors
    ///
    /// The exception of the access.
    fn store_own(
        _core: &mut Arm<Self>,
        _bus: &mut Bus,
        _cycle: u64,
        access: Own,
        _value: u32,
    ) -> Result<(), Self::Exception> {
        Err(Self::data_abort(access.refused(true)))
    }

    /// An operation within a block that only this profile has (swap, registers of another mode). True if the block
    /// continues; else it has been left.
    fn special(core: &mut Arm<Self>, bus: &mut Bus, index: u32, at: u32, _op: Op) -> bool {
        core.raise_at(bus, index, at, Self::undefined(0))
    }

    /// An instruction that moves processor state to or from memory (rfe, srs). The block has been left before it.
    ///
    /// # Errors
    ///
    /// The exception of the instruction.
    fn state_in_memory(_core: &mut Arm<Self>, _bus: &mut Bus, _op: Op) -> Result<Effect, Self::Exception> {
        Err(Self::undefined(0))
    }

    /// The performance monitors were written.
    fn counters_changed(_core: &mut Arm<Self>, _bus: &mut Bus) {}

    /// The exception that a semihosting call with number `_number` raises instead, where the host must not answer it.
    fn call_of_program(_core: &mut Arm<Self>, _bus: &mut Bus, _number: u32) -> Option<Self::Exception> {
        None
    }

    /// Translates an address on request by software.
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
    /// The abort of an access without a register.
    pub fn refused<S: Status>(self, write: bool) -> Abort<S> {
        Abort { va: self.addr, status: S::EXTERNAL, write, domain: 0, bus: None }
    }
}

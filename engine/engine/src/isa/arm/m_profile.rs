//! The system side of the M profile: exceptions, the interrupt controller, stacks, memory protection, and the other
//! registers of the system control space.
//!
//! "ARM" below is the ARMv7-M Architecture Reference Manual (DDI 0403E); "TRM" the Cortex-M4 Technical Reference Manual
//! (DDI 0439).
//!
//! Steps of an exception, with the core's part between them:
//! 1. It becomes pending: [`System::set_inputs`] for interrupts, [`System::raise`] for instructions.
//!    [`System::due`] returns the exception to take.
//! 2. [`System::begin_entry`] returns the frame; the core stores it, and reports failed accesses
//!    ([`System::stacking_failed`]).
//! 3. [`System::activate`] selects the most urgent exception *now* (so one that became pending meanwhile is taken
//!    with this frame: late arrival), and returns the address of its vector, which the core reads.
//! 4. A jump to an [`exc_return`] value in Handler mode calls [`System::begin_return`]: either another exception is
//!    pending, which is activated with the existing frame (tail-chaining), or the core reads the frame and passes it to
//!    [`System::finish_return`].

pub mod config;
mod debug;
pub mod entry;
pub mod exceptions;
mod execute;
mod faults;
pub mod floating;
mod held_back;
pub mod mpu;
mod nvic;
pub mod ppb;
pub mod psr;
pub mod returning;
mod scb;
mod trace;

pub use config::SystemConfig;
pub use entry::{Activated, Floating, Frame, exc_return};
pub use exceptions::{Abort, Exception, FaultStatus, Lockup};
pub use mpu::{FetchMap, Protection};
pub use ppb::{Outcome, counts_events, is_itm, is_ppb};
pub use psr::is_special_register;
pub use returning::{Return, Unstack};

use super::architecture::SystemSide;
use super::event_register::{EventRegister, Sleep};
use super::op::{Features, Op};
use super::psr::ExecutionState;
use super::system::{Effect, Now, X};
use crate::core::Awaited;
use crate::inputs::Inputs;
use crate::state::State;
use floating::{FPSCR_MASK, FloatingPoint};
use mpu::Mpu;
use nvic::Nvic;
use psr::Masks;
use scb::{CCR_DIV_0_TRP, Scb};
use std::mem::offset_of;
pub use trace::Events;
use trace::Trace;

/// Levels of a core's 256 inputs ([`crate::inputs::Inputs::levels`]). External interrupt n is input n;
/// [`SYSTICK_INPUT`] is the system timer's.
pub type Levels = [u32; 8];
/// The input of the system timer. Each *change* of its level is a tick, so that no tick is lost if the core samples it
/// late.
pub const SYSTICK_INPUT: u32 = 255;

/// The system side of a core.
#[derive(Clone, Debug, PartialEq, Eq, State)]
pub struct System {
    #[state(skip)]
    config: SystemConfig,
    /// EPSR.T and ITSTATE. While T is 0 no instruction can be executed ([`Exception::InvalidState`]).
    pub(super) state: ExecutionState,
    /// IPSR: the number of the active exception, 0 in Thread mode.
    ipsr: u16,
    /// CONTROL.nPRIV: Thread mode is unprivileged.
    unprivileged: bool,
    /// CONTROL.SPSEL: Thread mode uses the process stack.
    process_stack: bool,
    /// The stack pointer that is not in use.
    other_sp: u32,
    masks: Masks,
    event: EventRegister,
    nvic: Nvic,
    scb: Scb,
    mpu: Mpu,
    floating: FloatingPoint,
    trace: Trace,
    /// An exclusive load has been done, and its reservation still holds.
    reserved: bool,
    /// Values that depend on the above, updated after each change: the exception to take now, and whether a wfi ends.
    due: Option<u8>,
    wakes: bool,
}

impl SystemSide for System {
    type Config = SystemConfig;
    type Exception = Exception;

    const FPSCR_OFFSET: usize = offset_of!(System, floating.fpscr);
    const VFP_READY: &[(usize, u8)] = &[(offset_of!(System, floating.ready), 1)];

    /// After reset: Thread mode, privileged, main stack. The core reads SP and the first address from the vector table
    /// ([`System::vectors`]).
    fn new(config: SystemConfig) -> System {
        System {
            config,
            state: ExecutionState::new(true),
            ipsr: 0,
            unprivileged: false,
            process_stack: false,
            other_sp: 0,
            masks: Masks::default(),
            event: EventRegister::default(),
            nvic: Nvic::new(config.interrupts, config.priority_bits),
            scb: Scb::new(config.vectors),
            mpu: Mpu::default(),
            floating: FloatingPoint::default(),
            trace: Trace::default(),
            reserved: false,
            due: None,
            wakes: false,
        }
    }

    fn features(&self) -> Features {
        Features { traps_division: self.scb.ccr_has(CCR_DIV_0_TRP), ..self.config.features }
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
        self.xpsr(x)
    }

    /// There is no predictor: the cost of a jump is in the table.
    fn predicts_branches(&self) -> bool {
        false
    }

    #[inline]
    fn fpscr(&self) -> u32 {
        self.floating.fpscr
    }

    #[inline]
    fn set_fpscr(&mut self, value: u32) {
        self.floating.fpscr = value & FPSCR_MASK;
    }

    #[inline]
    fn vfp_is_ready(&self) -> bool {
        self.floating.ready
    }

    // The local monitor records no address (TRM, 3.6).
    fn reserve(&mut self, _physical: u32, _bytes: u32) {
        self.reserved = true;
    }

    fn claim(&mut self, _physical: u32, _bytes: u32) -> bool {
        std::mem::take(&mut self.reserved)
    }

    fn clear_reservation(&mut self) {
        self.reserved = false;
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

    fn divide_by_zero() -> Option<Exception> {
        Some(Exception::DivideByZero)
    }

    fn wrong_state(&self) -> Option<Exception> {
        (!self.state.thumb).then_some(Exception::InvalidState)
    }

    fn see(&mut self, inputs: &Inputs) {
        self.set_inputs(inputs.levels());
        self.event.see(inputs.events());
    }

    #[inline]
    fn deliverable(&self, _inputs: &Inputs) -> Option<Exception> {
        self.due.map(|_| Exception::Due)
    }

    fn is_news(&self, inputs: &Inputs) -> bool {
        self.due.is_some() || !self.nvic.knows(inputs.levels())
    }

    fn wakes(&self, inputs: &Inputs) -> bool {
        if self.nvic.knows(inputs.levels()) && !self.event.has_not_seen(inputs.events()) {
            return self.is_awake();
        }
        let mut changed = self.clone();
        changed.see(inputs);
        changed.is_awake()
    }

    fn awaits(&self, inputs: &Inputs) -> Awaited {
        let mut now = self.clone();
        now.see(inputs);
        Awaited { is_event: self.event.sleep() == Sleep::Event, held_back: now.held_back() }
    }

    fn event_register(&mut self) -> &mut EventRegister {
        &mut self.event
    }

    fn execute(&mut self, x: &mut X, op: &Op, _now: &Now) -> Result<Effect, Exception> {
        self.execute(x, op)
    }
}

impl System {
    /// True in Handler mode.
    #[inline]
    pub fn in_handler(&self) -> bool {
        self.ipsr != 0
    }

    /// True in Handler mode, and in Thread mode unless CONTROL.nPRIV is set.
    #[inline]
    pub fn is_privileged(&self) -> bool {
        self.in_handler() || !self.unprivileged
    }

    /// Base of the vector table (VTOR).
    pub fn vectors(&self) -> u32 {
        self.scb.vtor
    }

    /// Sets the present levels of the interrupt lines.
    pub fn set_inputs(&mut self, inputs: &Levels) {
        if self.nvic.set_inputs(inputs) {
            self.changed();
        }
    }

    /// The exception to be taken now, if any: pending, enabled, and more urgent than the running code (ARM, B1.5.4).
    #[inline]
    pub fn due(&self) -> Option<u8> {
        self.due
    }

    /// True if the core's last sleep is over. For wfi PRIMASK does not matter (ARM, B1.5.19); for wfe it takes an
    /// event, or an exception that is taken (B1.5.18).
    fn is_awake(&self) -> bool {
        match self.event.sleep() {
            Sleep::Interrupt => self.wakes,
            Sleep::Event => self.due.is_some(),
            Sleep::Over => true,
        }
    }

    /// The interrupt that became pending again at the end of its own handler, because its line was still high; returned
    /// once.
    pub fn take_pended_again(&mut self) -> Option<u8> {
        self.nvic.pended_again.take()
    }

    // ---- Stack pointers

    /// True if the process stack pointer is in use.
    fn on_process_stack(&self) -> bool {
        self.process_stack && !self.in_handler()
    }

    /// Calls `change`, which may change the mode or CONTROL.SPSEL, and puts the stack pointer in use into `x`.
    fn keep_stacks(&mut self, x: &mut X, change: impl FnOnce(&mut System)) {
        let sp = &mut x[usize::from(super::registers::SP)];
        let before = self.on_process_stack();
        change(self);
        if before != self.on_process_stack() {
            std::mem::swap(sp, &mut self.other_sp);
        }
    }

    /// Main stack pointer, and process stack pointer.
    pub fn stack_pointers(&self, x: &X) -> [u32; 2] {
        let sp = x[usize::from(super::registers::SP)];
        if self.on_process_stack() { [self.other_sp, sp] } else { [sp, self.other_sp] }
    }

    fn set_stack_pointer(&mut self, x: &mut X, process: bool, value: u32) {
        let value = value & !3;
        if process == self.on_process_stack() {
            x[usize::from(super::registers::SP)] = value;
        } else {
            self.other_sp = value;
        }
    }

    /// Updates the values that depend on exceptions' states. An exception that has become pending is an event if
    /// SCR.SEVONPEND is set, enabled or not (ARM, B1.5.18).
    fn changed(&mut self) {
        if std::mem::take(&mut self.nvic.has_pended) && self.scb.sends_events() {
            self.event.send();
        }
        let (best, active) = (self.nvic.best(), self.nvic.active_priority());
        let preempts = |current: i16| best.filter(|best| best.group < current.min(active)).map(|best| best.number);
        self.due = preempts(self.masks.boosted(self.nvic.grouping));
        self.wakes = preempts(self.masks.but_primask(self.nvic.grouping)).is_some();
    }

    /// The most urgent exception that is pending, enabled, and not masked by BASEPRI or FAULTMASK, whatever is active.
    fn best_unmasked(&self) -> Option<u8> {
        let mask = self.masks.but_primask(self.nvic.grouping);
        self.nvic.best().filter(|best| best.group < mask).map(|best| best.number)
    }

    /// The priority at which instructions run now: 256 is the least urgent (ARM, B1.5.4).
    pub fn execution_priority(&self) -> i16 {
        self.masks.boosted(self.nvic.grouping).min(self.nvic.active_priority())
    }
}

#[cfg(test)]
mod tests;

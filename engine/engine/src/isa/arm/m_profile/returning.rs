//! Return from exceptions (ARM, B1.5.8).

use super::super::registers::{LR, SP};
use super::entry::{BASIC_BYTES, EXTENDED_BYTES, FRAME_ALIGNED};
use super::exceptions::number;
use super::floating::fpccr;
use super::scb::{CCR_NONBASETHRDENA, CCR_STKALIGN};
use super::{Exception, System, X, exc_return};

use crate::state::{Fresh, State};

/// Result of a return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Return {
    /// Another exception is pending: it is activated with this value in LR, and the frame stays.
    Chain(u32),
    /// The frame has to be read.
    Unstack(Unstack),
}

/// A frame to be read, and the kind of return.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
pub struct Unstack {
    /// Address of its 8 words.
    pub address: u32,
    /// The words after them, S0 to S15 and FPSCR, have to be read, too.
    pub floating: bool,
    link: u32,
}

impl Unstack {
    /// Address of the floating-point state.
    pub fn floating_address(&self) -> u32 {
        self.address.wrapping_add(BASIC_BYTES)
    }

    fn extended(&self) -> bool {
        self.link & exc_return::BASIC_FRAME == 0
    }
}

impl System {
    /// True if a jump to `target` is a return from an exception.
    #[inline]
    pub fn is_return(&self, target: u32) -> bool {
        target >= exc_return::PREFIX && self.in_handler()
    }

    /// Handles a jump to `link`, for which [`System::is_return`] holds: ends the exception.
    ///
    /// # Errors
    ///
    /// [`Exception::InvalidReturn`]: to be raised without storing a frame, and activated with `link` in LR.
    pub fn begin_return(&mut self, x: &X, link: u32) -> Result<Return, Exception> {
        let nested = self.nvic.active_count();
        let number = self.ipsr as u8;
        let was_active = self.nvic.active.contains(number);
        self.deactivate(number);
        let basic = link | exc_return::BASIC_FRAME;
        let known = match basic {
            exc_return::HANDLER => true,
            exc_return::THREAD_MAIN | exc_return::THREAD_PROCESS => nested == 1 || self.scb.ccr_has(CCR_NONBASETHRDENA),
            _ => false,
        };
        let has_floating = link & exc_return::BASIC_FRAME == 0;
        if !was_active || !known || has_floating && !self.config.features.vfp {
            return Err(Exception::InvalidReturn(link));
        }
        if self.due.is_some() {
            return Ok(Return::Chain(link));
        }
        let [main, process] = self.stack_pointers(x);
        let address = if basic == exc_return::THREAD_PROCESS { process } else { main };
        Ok(Return::Unstack(Unstack { address, floating: has_floating && !self.is_floating_lazy(), link }))
    }

    /// Restores the state from a frame's words. If the frame had floating-point state, the core has restored S0 to S15
    /// and FPSCR. Returns the address at which to continue; with [`System::sleeps_on_exit`] the core then waits as
    /// after wfi.
    ///
    /// # Errors
    ///
    /// [`Exception::InvalidReturn`], if the frame's mode differs from the return's: then nothing has changed, and it is
    /// raised as by [`System::begin_return`].
    pub fn finish_return(&mut self, x: &mut X, frame: Unstack, words: &[u32; 8]) -> Result<u32, Exception> {
        let [r0, r1, r2, r3, r12, lr, pc, status] = *words;
        let basic = frame.link | exc_return::BASIC_FRAME;
        let to_handler = basic == exc_return::HANDLER;
        let exception = (status & 0x1ff) as u16;
        if to_handler != (exception != 0) {
            return Err(Exception::InvalidReturn(frame.link));
        }
        if frame.extended() {
            // The registers hold the state again for which the frame has room.
            self.floating.fpccr &= !fpccr::LSPACT;
        }
        if self.config.features.vfp {
            self.set_floating_context(frame.extended());
        }
        let process = basic == exc_return::THREAD_PROCESS;
        let (bytes, aligns) =
            if frame.extended() { (EXTENDED_BYTES, true) } else { (BASIC_BYTES, self.scb.ccr_has(CCR_STKALIGN)) };
        let padding = if aligns && status & FRAME_ALIGNED != 0 { 4 } else { 0 };
        let sp = frame.address.wrapping_add(bytes) | padding;
        self.keep_stacks(x, |system| {
            system.ipsr = exception;
            if !to_handler {
                system.process_stack = process;
            }
        });
        x[usize::from(SP)] = sp & !3;
        for (register, value) in [(0, r0), (1, r1), (2, r2), (3, r3), (12, r12), (LR, lr)] {
            x[usize::from(register)] = value;
        }
        self.restore_xpsr(x, status);
        self.reserved = false;
        self.event.send();
        self.changed();
        Ok(pc & !1)
    }

    /// True if the core sleeps after an exception return: SCR.SLEEPONEXIT is set, and Thread mode reached.
    pub fn sleeps_on_exit(&self) -> bool {
        self.scb.sleeps_on_exit() && !self.in_handler() && self.nvic.active_count() == 0
    }

    fn deactivate(&mut self, exception: u8) {
        self.nvic.deactivate(exception);
        if exception != number::NMI {
            self.masks.faultmask = false;
        }
        self.changed();
    }
}

//! Entry of exceptions (ARM, B1.5.6).

use super::super::registers::{LR, SP};
use super::System;
use super::X;
use super::scb::CCR_STKALIGN;

/// Bytes of a frame without floating-point state, and of the words for that: S0 to S15, FPSCR and one that is reserved.
pub(super) const BASIC_BYTES: u32 = 0x20;
pub(super) const EXTENDED_BYTES: u32 = 0x68;
/// xPSR of a frame: the stack pointer was not a multiple of 8.
pub(super) const FRAME_ALIGNED: u32 = 1 << 9;

/// Values of LR with which exceptions are left (ARM, B1.5.8).
pub mod exc_return {
    /// Their common bits: a jump to such a value in Handler mode is a return.
    pub const PREFIX: u32 = 0xf000_0000;
    /// Returns to Handler mode, to Thread mode on the main stack, and on the process stack; the frame has no
    /// floating-point state.
    pub const HANDLER: u32 = 0xffff_fff1;
    /// See [`HANDLER`].
    pub const THREAD_MAIN: u32 = 0xffff_fff9;
    /// See [`HANDLER`].
    pub const THREAD_PROCESS: u32 = 0xffff_fffd;
    /// Clear in a value whose frame has floating-point state.
    pub const BASIC_FRAME: u32 = 1 << 4;
}

/// Floating-point state in a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Floating {
    /// No floating-point state.
    None,
    /// Room for 18 words, stored only if the handler needs the registers (lazy preservation).
    Reserved,
    /// S0 to S15 and FPSCR are to be stored after the words.
    Stored,
}

/// Words that the core stores on exception entry, from `address` up, which is the new stack pointer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Address of the first word.
    pub address: u32,
    /// R0 to R3, R12, LR, return address, xPSR.
    pub words: [u32; 8],
    /// The state after them.
    pub floating: Floating,
    /// LR in the handler.
    pub link: u32,
}

impl Frame {
    /// Address of the floating-point state.
    pub fn floating_address(&self) -> u32 {
        self.address.wrapping_add(BASIC_BYTES)
    }
}

/// An exception that has just been activated.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Activated {
    /// Its number.
    pub number: u8,
    /// Address of its vector; the vector has the T bit.
    pub vector: u32,
}

impl System {
    /// The frame of an exception that is taken now, with `pc` as the return address. The stack pointer is already below
    /// it.
    pub fn begin_entry(&mut self, x: &mut X, pc: u32) -> Frame {
        let floating = self.floating_frame();
        let extended = floating != Floating::None;
        let (bytes, align) =
            if extended { (EXTENDED_BYTES, true) } else { (BASIC_BYTES, self.scb.ccr_has(CCR_STKALIGN)) };
        let sp = x[usize::from(SP)];
        let aligned = align && sp & 4 != 0;
        let address = sp.wrapping_sub(bytes) & if align { !7 } else { !3 };
        let at = |register: u8| x[usize::from(register)];
        let status = self.xpsr(x) & !FRAME_ALIGNED | if aligned { FRAME_ALIGNED } else { 0 };
        let words = [at(0), at(1), at(2), at(3), at(12), at(LR), pc, status];
        x[usize::from(SP)] = address;
        let frame = Frame { address, words, floating, link: self.link(extended) };
        if floating == Floating::Reserved {
            self.reserve_floating(frame.floating_address());
        }
        frame
    }

    fn link(&self, extended: bool) -> u32 {
        let basic = match (self.in_handler(), self.on_process_stack()) {
            (true, _) => exc_return::HANDLER,
            (false, false) => exc_return::THREAD_MAIN,
            (false, true) => exc_return::THREAD_PROCESS,
        };
        if extended { basic & !exc_return::BASIC_FRAME } else { basic }
    }

    /// Activates the most urgent pending exception, with `link` in LR. `None` if none is pending any more.
    pub fn activate(&mut self, x: &mut X, link: u32) -> Option<Activated> {
        let number = self.due?;
        self.keep_stacks(x, |system| system.ipsr = u16::from(number));
        self.process_stack = false;
        x[usize::from(LR)] = link;
        self.state.it = 0;
        self.nvic.activate(number);
        self.reserved = false;
        self.event.send();
        // A handler starts without floating-point state.
        self.set_floating_context(false);
        self.changed();
        Some(Activated { number, vector: self.scb.vtor.wrapping_add(4 * u32::from(number)) })
    }
}

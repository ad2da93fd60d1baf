//! The bytes that a read of the window would return, without the read: for instructions, which are decoded before they
//! are fetched.
//!
//! If the memory takes a frame as the controller intends it, these are the stored bytes. Otherwise (wrong dummy clocks,
//! wrong lines, a command that the memory does not have) they are the answer of a copy of the memory to a frame at that
//! address.

use std::cell::Cell;

use super::Sama5d2Qspi;
use super::frames::Wire;
use super::window::Access;
use crate::prelude::*;
use engine::bus::code::CodeSpan;
use engine::wire::spi::{Burst, Rate};

/// An address for a trial that all memories have, and that has no regular bit pattern.
const TRIAL_ADDRESS: u32 = 0x1a64;
/// After a change of settings, the memory's reaction to a frame may change with the first frame (it enters continuous
/// read) and with the second (it has done so, but gets an instruction).
const UNSETTLED_FRAMES: u8 = 2;

/// The memory's reaction to frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State, Fresh)]
enum Answers {
    /// Not known yet.
    #[default]
    Unknown,
    /// It returns the bytes from the address on; the address has the bits of this mask.
    Truly(u32),
    /// It returns other bytes.
    Falsely,
}

/// The knowledge about the memory's answers.
#[derive(Debug, Default, State)]
pub struct Look {
    answers: Cell<Answers>,
    /// True if the bytes have been read since the answers changed.
    looked: Cell<bool>,
    unsettled: u8,
}

impl Look {
    /// The settings have changed.
    pub fn forget(&mut self, ctx: &mut Ctx) {
        self.unsettled = UNSETTLED_FRAMES;
        self.doubt(ctx);
    }

    /// A frame has begun.
    #[inline]
    pub fn framed(&mut self, ctx: &mut Ctx) {
        if self.unsettled > 0 {
            self.unsettled -= 1;
            self.doubt(ctx);
        }
    }

    /// True if a frame does not change the memory's reaction to the next one.
    #[inline]
    pub fn is_settled(&self) -> bool {
        self.unsettled == 0
    }

    fn doubt(&mut self, ctx: &mut Ctx) {
        self.answers.set(Answers::Unknown);
        // It is not known which of the bytes have been decoded.
        if self.looked.take() {
            ctx.bus.code_written.report(CodeSpan::ELSEWHERE);
        }
    }
}

impl Sama5d2Qspi {
    /// The bytes from `offset` on. While the window does not read memory, the chip's: a program is loaded there.
    pub(super) fn window_peek(&self, offset: u32, into: &mut [u8]) -> bool {
        self.look.looked.set(true);
        if self.window.access != Access::Memory {
            return self.wire.line.chip.peek(offset, into);
        }
        if self.look.answers.get() == Answers::Unknown {
            self.look.answers.set(self.try_frame());
        }
        match self.look.answers.get() {
            Answers::Truly(mask) => {
                let present = self.wire.line.chip.peek(offset & mask, into);
                self.scrambler.apply(offset, into);
                present
            }
            _ => self.read_on_trial(offset, into),
        }
    }

    fn try_frame(&self) -> Answers {
        let Some(mut trial) = self.wire.trial() else { return Answers::Falsely };
        self.begin_on(&mut trial, TRIAL_ADDRESS);
        let sends_address = self.settings().address_bits().is_some();
        match trial.line.chip.next_read() {
            Some(read) if sends_address && read.address == TRIAL_ADDRESS && read.lines == self.data_lines => {
                Answers::Truly(read.last_address)
            }
            _ => Answers::Falsely,
        }
    }

    fn read_on_trial(&self, offset: u32, into: &mut [u8]) -> bool {
        let Some(mut trial) = self.wire.trial() else { return self.wire.line.chip.peek(offset, into) };
        self.begin_on(&mut trial, offset);
        for byte in into.iter_mut() {
            *byte = trial.shift(0, Burst::input(self.data_lines, Rate::Single, 8)) as u8;
        }
        self.scrambler.apply(offset, into);
        true
    }

    fn begin_on(&self, trial: &mut Wire, offset: u32) {
        trial.deselect(0);
        let header = trial.header(*self.settings(), self.sends_opcode());
        trial.begin(0, &header, offset);
    }
}

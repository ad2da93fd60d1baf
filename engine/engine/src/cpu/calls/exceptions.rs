//! Exceptions as calls: how handlers begin and end, and the stack on which the core continues.
//!
//! An exception is a frame below that of its handler. Both end with the exception return, whichever instruction does it
//! (EXC_RETURN, mret, eret, a load of the status register), and so do all calls from which the handler has not
//! returned. A return to another place than the interrupted one is a switch of stacks: the calls of the old stack
//! continue later.

use super::{Calls, Frame, NO_FRAME, NONE, NOWHERE, Stack};
use crate::cpu::profiler::Profile;
use crate::event_rates::Source;

/// A handler may continue up to this many bytes after the interrupted instruction: it has emulated that instruction.
const SKIPPED_BYTES: u32 = 8;

impl Calls {
    /// Follows an exception, taken from the code at `pc`, with this stack pointer.
    pub fn exception(&mut self, on: &mut Option<Box<Profile>>, source: Source, (pc, sp): (u32, u32), now: u64) {
        self.absorb();
        self.delayed = None;
        let from = self.here();
        let path = on.as_mut().map_or(0, |profile| profile.exception_path(from, source));
        let known = self.sources.iter().position(|known| *known == source);
        let exception = known.unwrap_or_else(|| {
            self.sources.push(source);
            self.sources.len() - 1
        });
        self.push(Frame { return_pc: pc, sp, begun: now, exception: exception as u32, path, from, ..NO_FRAME });
        self.lights.begin(self.top_sp());
    }

    /// The innermost exception, for which the profile may record more, and the start of its handler, if it has begun.
    pub fn innermost_exception(&mut self) -> Option<(&mut Frame, Option<u64>)> {
        // On some cores the handler has already begun when its interrupt is known.
        let begun = self.current.frames.last().filter(|top| !top.is_exception()).map(|top| top.begun);
        let frame = self.current.frames.iter_mut().rfind(|frame| frame.is_exception())?;
        Some((frame, begun))
    }

    /// Follows the start of the innermost exception's handler at `pc`.
    pub fn handler(&mut self, on: &mut Option<Box<Profile>>, pc: u32, now: u64) {
        let top = self.current.frames.last().filter(|top| top.is_exception()).copied();
        if let Some(top) = top {
            if let Some(profile) = on.as_mut().filter(|_| top.interrupt != NONE) {
                profile.handler_begun(top.interrupt, now);
            }
            self.enter(on, NOWHERE, pc, NOWHERE, now);
            self.lights.begin(self.top_sp());
        }
    }

    /// Follows an exception that is handled with the frame of the innermost one: as a replacement if that one has been
    /// handled or has another source.
    pub fn chain(&mut self, on: &mut Option<Box<Profile>>, source: Source, now: u64) {
        self.absorb();
        let Some(place) = self.current.frames.iter().rposition(Frame::is_exception) else { return };
        let Frame { return_pc, sp, exception, .. } = self.current.frames[place];
        let is_last = place + 1 == self.current.frames.len();
        if is_last && self.sources.get(exception as usize) == Some(&source) {
            return;
        }
        self.pop_to(on, place, now);
        self.exception(on, source, (return_pc, sp), now);
    }

    /// Follows an exception return to the code at `pc`, with this stack pointer.
    pub fn exception_return(&mut self, on: &mut Option<Box<Profile>>, pc: u32, sp: u32, now: u64) {
        self.absorb();
        self.return_to(on, pc, sp, now);
        self.lights.begin(self.top_sp());
    }

    fn return_to(&mut self, on: &mut Option<Box<Profile>>, pc: u32, sp: u32, now: u64) {
        let Some(place) = self.current.frames.iter().rposition(Frame::is_exception) else {
            // A kernel starts its first task this way, or software has built a frame by itself.
            return self.jump(on, pc, sp, now);
        };
        let Frame { return_pc, sp: interrupted_sp, .. } = self.current.frames[place];
        self.pop_to(on, place, now);
        if sp == interrupted_sp {
            return;
        }
        let goes_on = |stack: &Stack| {
            stack.interrupted.is_some_and(|(at, with)| with == sp && pc.wrapping_sub(at) <= SKIPPED_BYTES)
        };
        let interrupted = Some((return_pc, interrupted_sp));
        if let Some(place) = self.parked.iter().position(goes_on) {
            let other = Stack { interrupted: None, ..self.parked.remove(place) };
            let left = self.switch_to(on, other, now);
            return self.park(Stack { interrupted, ..left });
        }
        self.current.interrupted = interrupted;
        if !self.go_back_to_parked(on, pc, sp, now) {
            self.begin_task(on, pc, now);
        }
    }
}

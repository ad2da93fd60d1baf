//! Which call path a core is on: stacks of calls, followed as calls, jumps and exceptions happen.
//!
//! A call is known by the address that it returns to and the stack pointer when it begins. A jump to that address
//! with that stack pointer ends it, whatever instruction jumps. Other jumps are looked at closer: one to the entry of
//! a function, with the stack pointer that the present one was called with, is a tail call, which takes the present
//! one's place; one to where an outer call returns, or with a stack pointer that was its own (longjmp), ends all calls
//! above it; one with the stack pointer of a stack that was left before goes on there; one with a stack pointer that no
//! call of this stack had begins a new one: a task. Exceptions are calls that code has not made; a return from one
//! that leads elsewhere is a switch of tasks.

use super::paths::{Call, Kind, NO_SITE};
use super::switches::Switch;
use super::{MOST_INTERRUPTS, Profile, Taken};
use crate::state::{Fresh, State};
use crate::storms::Source;
use crate::time::Ps;

/// Calls under way in a stack at the most: what is called beyond belongs to the innermost of them.
const MOST_FRAMES: usize = 1 << 12;
/// Stacks that may be gone back to.
const MOST_PARKED: usize = 1 << 10;
/// No address that code returns to, and no stack pointer: of what nothing returns from.
const NOWHERE: u32 = u32::MAX;
/// A handler may go on so many bytes behind the instruction that was interrupted: it has done that itself.
const SKIPPED_BYTES: u32 = 8;

/// How a block ends, as far as calls are concerned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State, Fresh)]
#[repr(u32)]
pub enum Flow {
    /// It goes on in the same function, as far as its instructions tell.
    #[default]
    On,
    /// Where its jump is taken, it calls a function, which returns to the address behind the block.
    Call,
    /// It jumps to an address in a register, or from memory: a return, a tail call, a switch of stacks, or no more than
    /// a jump.
    Jump,
}

/// A call under way.
#[derive(Clone, Copy, Debug, State, Fresh)]
struct Frame {
    path: u32,
    /// The path that the caller is on.
    from: u32,
    /// Where it returns to, as blocks have addresses.
    return_pc: u32,
    /// The stack pointer when it began.
    sp: u32,
    /// When it began.
    begun: u64,
    /// It is an exception: the stack pointer of calls in its handler says nothing of those below it.
    is_exception: bool,
    /// Of an interrupt that is kept: its place.
    interrupt: Option<usize>,
}

/// A stack of calls.
#[derive(Clone, Debug, State, Fresh)]
struct Stack {
    task: u32,
    frames: Vec<Frame>,
    /// Where it goes on if an exception has left it: address and stack pointer.
    interrupted: Option<(u32, u32)>,
}

/// The stacks of calls of a core.
#[derive(Debug, State)]
pub(super) struct Stacks {
    current: Stack,
    parked: Vec<Stack>,
    /// Calls that are in no stack, as there were too many.
    pub lost: u64,
    /// A jump that has been decided on, behind which another instruction runs first: how, and where it returns to.
    pub delayed: Option<(Flow, u32)>,
}

impl Stacks {
    /// A core that begins on a path.
    pub fn new(task: u32) -> Stacks {
        let current = Stack { task, frames: Vec::with_capacity(MOST_FRAMES), interrupted: None };
        Stacks { current, parked: Vec::new(), lost: 0, delayed: None }
    }

    /// The path that the core is on.
    #[inline]
    fn here(&self) -> u32 {
        self.current.frames.last().map_or(self.current.task, |frame| frame.path)
    }

    #[inline]
    fn push(&mut self, frame: Frame) {
        if self.current.frames.len() == MOST_FRAMES {
            self.lost += 1;
        } else {
            self.current.frames.push(frame);
        }
    }

    /// The frames above the last exception.
    fn above_exception(&self) -> usize {
        self.current.frames.iter().rposition(|frame| frame.is_exception).map_or(0, |place| place + 1)
    }
}

impl Profile {
    /// A block has ended by a jump to `target`; `return_pc` is the address behind it, both as blocks have addresses.
    /// The core has had `now` cycles.
    #[inline]
    pub fn follow(&mut self, flow: Flow, return_pc: u32, target: u32, sp: u32, now: u64) {
        match flow {
            Flow::On => return,
            Flow::Call => self.call(return_pc, target, sp, now),
            Flow::Jump => {
                let top = self.stacks.current.frames.last();
                if top.is_some_and(|top| top.return_pc == target && top.sp == sp) {
                    self.pop(now);
                } else {
                    self.jump(target, sp, now);
                }
            }
        }
        self.arrive();
    }

    /// A jump has been decided on: see [`Stacks::delayed`].
    pub fn decide(&mut self, flow: Flow, return_pc: u32) {
        self.stacks.delayed = Some((flow, return_pc));
    }

    /// What has been decided on, if anything has, which is then forgotten.
    pub fn take_decided(&mut self) -> Option<(Flow, u32)> {
        self.stacks.delayed.take()
    }

    /// All calls that have not ended, also those in stacks that were left: the path, and when it began.
    pub(super) fn unended(&self) -> impl Iterator<Item = (u32, u64)> {
        let stacks = self.stacks.parked.iter().chain([&self.stacks.current]);
        stacks.flat_map(|stack| stack.frames.iter().map(|frame| (frame.path, frame.begun)))
    }

    /// The calls under way, the outermost first: the path, and when it began.
    pub fn calls_under_way(&self) -> impl Iterator<Item = (u32, u64)> {
        let task = std::iter::once((self.stacks.current.task, 0));
        task.chain(self.stacks.current.frames.iter().map(|frame| (frame.path, frame.begun)))
    }

    /// Calls that have begun since then have done so in the last of the iterations that were skipped. The path that the
    /// outermost of them was made from, and when it began before it was put off.
    pub(super) fn put_off_calls(&mut self, since: u64, cycles: u64) -> Option<(u32, u64)> {
        let mut outermost = None;
        for frame in self.stacks.current.frames.iter_mut().filter(|frame| frame.begun >= since) {
            outermost = outermost.or(Some((frame.from, frame.begun)));
            frame.begun += cycles;
        }
        outermost
    }

    /// The same of calls in other stacks, where iterations went from one to another.
    pub(super) fn put_off_parked_calls(&mut self, since: u64, cycles: u64) {
        let frames = self.stacks.parked.iter_mut().flat_map(|stack| &mut stack.frames);
        frames.filter(|frame| frame.begun >= since).for_each(|frame| frame.begun += cycles);
    }

    /// The program begins at an address.
    pub(super) fn begin_in(&mut self, pc: u32, now: u64) {
        if self.entries.binary_search(&(pc & self.address_mask)).is_ok() {
            self.enter(NOWHERE, pc, NOWHERE, now);
            self.arrive();
        }
    }

    /// The innermost call has ended.
    #[inline]
    fn pop(&mut self, now: u64) {
        let Some(frame) = self.stacks.current.frames.pop() else { return };
        if let Some(interrupt) = frame.interrupt {
            self.interrupts[interrupt].ended = Some(now);
        }
        if frame.path != frame.from {
            self.paths.end_call(frame.path, frame.begun, now);
            self.keep_slice(Call { path: frame.path, begun: frame.begun, cycles: now.wrapping_sub(frame.begun) }, 0);
            if let Some(repeated) = &mut self.repeated {
                repeated.calls.push((frame.path, now.wrapping_sub(frame.begun)));
            }
        }
    }

    fn pop_to(&mut self, depth: usize, now: u64) {
        while self.stacks.current.frames.len() > depth {
            self.pop(now);
        }
    }

    /// The core is on the path of the innermost call.
    #[inline]
    pub(super) fn arrive(&mut self) {
        self.here = self.stacks.here();
        self.counts = self.paths.counts(self.here);
    }

    #[inline]
    fn call(&mut self, return_pc: u32, target: u32, sp: u32, now: u64) {
        // Calls that were left without a return.
        while let Some(top) = self.stacks.current.frames.last()
            && !top.is_exception
            && top.sp != NOWHERE
            && top.sp < sp
            && self.stacks.current.frames.iter().rev().any(|frame| frame.sp >= sp)
        {
            self.pop(now);
        }
        self.enter(return_pc, target, sp, now);
    }

    #[inline]
    fn enter(&mut self, return_pc: u32, target: u32, sp: u32, now: u64) {
        let from = self.stacks.here();
        let site = if return_pc == NOWHERE { NO_SITE } else { return_pc & self.address_mask };
        let path = self.paths.function(self.counters.get_mut(), from, target & self.address_mask, site);
        self.stacks.push(Frame { path, from, return_pc, sp, begun: now, is_exception: false, interrupt: None });
    }

    /// A jump that does not end the innermost call in the ordinary way.
    #[cold]
    #[inline(never)]
    fn jump(&mut self, target: u32, sp: u32, now: u64) {
        let frames = &self.stacks.current.frames;
        let above = self.stacks.above_exception();
        let returns = frames[above..].iter().rposition(|frame| frame.return_pc == target && frame.sp == sp);
        if let Some(place) = returns {
            return self.pop_to(above + place, now);
        }
        if self.go_back_to_parked(target, sp, now) {
            return;
        }
        let top = frames_top(&self.stacks.current.frames, above);
        let is_entry = self.entries.binary_search(&(target & self.address_mask)).is_ok();
        match top {
            // A program begins, or a handler goes on in another function.
            None if is_entry => self.enter(NOWHERE, target, NOWHERE, now),
            None => {}
            Some(top) if is_entry && (top.sp == sp || top.sp == NOWHERE) => {
                self.pop(now);
                self.enter(top.return_pc, target, top.sp, now);
            }
            Some(_) if is_entry => self.begin_task(target, now),
            Some(top) if top.sp != NOWHERE && sp > top.sp => {
                // What longjmp goes back to has called setjmp, so it has a frame: its stack pointer is below the one
                // that it was called with. A call that began with just this one was made by it.
                let outer = self.stacks.current.frames[above..].iter().rposition(|frame| frame.sp > sp);
                if let Some(place) = outer {
                    self.pop_to(above + place + 1, now);
                }
            }
            Some(_) => {}
        }
    }

    /// Goes on in a stack that was left in a call which returns so. False if there is none.
    fn go_back_to_parked(&mut self, target: u32, sp: u32, now: u64) -> bool {
        let returns = |stack: &Stack| {
            let top = stack.frames.last();
            stack.interrupted.is_none() && top.is_some_and(|top| top.return_pc == target && top.sp == sp)
        };
        let Some(place) = self.stacks.parked.iter().position(returns) else { return false };
        let other = self.stacks.parked.remove(place);
        let left = self.switch_to(other, now);
        self.park(left);
        self.pop(now);
        true
    }

    /// The core goes on in another stack: the one that it leaves.
    fn switch_to(&mut self, other: Stack, now: u64) -> Stack {
        let switch = Switch { at: now, task: other.task };
        if let Some(repeated) = &mut self.repeated {
            repeated.switches.push(switch);
        }
        if let Some(switches) = &mut self.switches {
            switches.push(switch);
        }
        std::mem::replace(&mut self.stacks.current, other)
    }

    fn park(&mut self, stack: Stack) {
        if self.stacks.parked.len() == MOST_PARKED {
            self.stacks.parked.remove(0);
        }
        self.stacks.parked.push(stack);
    }

    /// The core goes on at `target` in a stack that is not known.
    fn begin_task(&mut self, target: u32, now: u64) {
        let name = std::mem::take(&mut self.task_name);
        let address = target & self.address_mask;
        let Some(task) = self.paths.add_task(self.counters.get_mut(), address, name) else { return };
        let stack = Stack { task, frames: Vec::new(), interrupted: None };
        let left = self.switch_to(stack, now);
        self.park(left);
        if self.entries.binary_search(&address).is_ok() {
            self.enter(NOWHERE, target, NOWHERE, now);
        }
    }

    /// An exception is taken from the code at `pc`, with this stack pointer.
    pub fn exception(&mut self, source: Source, pc: u32, sp: u32, now: u64) {
        self.stacks.delayed = None;
        let from = self.stacks.here();
        let path = self.paths.exception(self.counters.get_mut(), from, source);
        self.stacks.push(Frame { path, from, return_pc: pc, sp, begun: now, is_exception: true, interrupt: None });
        self.arrive();
    }

    /// The innermost exception is the interrupt at an input, whose line went up then, raised by a device.
    pub fn raised(&mut self, input: u32, raised: Option<(Ps, String)>) {
        let kept = self.interrupts.len();
        let Some(frame) = self.stacks.current.frames.iter_mut().rfind(|frame| frame.is_exception) else { return };
        if kept == MOST_INTERRUPTS || frame.interrupt.is_some() {
            return;
        }
        frame.interrupt = Some(kept);
        let (path, taken) = (frame.path, frame.begun);
        // Of some cores the handler has begun by now.
        let begun = self.stacks.current.frames.last().filter(|top| !top.is_exception).map(|top| top.begun);
        self.interrupts.push(Taken { path, input, raised, taken, begun, ended: None });
    }

    /// The handler of the innermost exception begins at `pc`.
    pub fn handler(&mut self, pc: u32, now: u64) {
        let top = self.stacks.current.frames.last().filter(|top| top.is_exception).copied();
        if let Some(top) = top {
            if let Some(interrupt) = top.interrupt {
                self.interrupts[interrupt].begun = Some(now);
            }
            self.enter(NOWHERE, pc, NOWHERE, now);
            self.arrive();
        }
    }

    /// This exception is handled with the frame of the innermost one: in its place if that has been handled, or is
    /// another.
    pub fn chain(&mut self, source: Source, now: u64) {
        let Some(place) = self.stacks.current.frames.iter().rposition(|frame| frame.is_exception) else { return };
        let Frame { return_pc, sp, path, .. } = self.stacks.current.frames[place];
        let is_last = place + 1 == self.stacks.current.frames.len();
        if is_last && self.paths.all[path as usize].kind == Kind::Exception(source) {
            return;
        }
        self.pop_to(place, now);
        self.exception(source, return_pc, sp, now);
    }

    /// The core returns from an exception to the code at `pc`, with this stack pointer.
    pub fn exception_return(&mut self, pc: u32, sp: u32, now: u64) {
        self.return_to(pc, sp, now);
        self.arrive();
    }

    fn return_to(&mut self, pc: u32, sp: u32, now: u64) {
        let Some(place) = self.stacks.current.frames.iter().rposition(|frame| frame.is_exception) else {
            // A kernel starts its first task so, or software has made a frame by itself.
            return self.jump(pc, sp, now);
        };
        let Frame { return_pc, sp: interrupted_sp, .. } = self.stacks.current.frames[place];
        self.pop_to(place, now);
        if sp == interrupted_sp {
            return;
        }
        let goes_on = |stack: &Stack| {
            stack.interrupted.is_some_and(|(at, with)| with == sp && pc.wrapping_sub(at) <= SKIPPED_BYTES)
        };
        let interrupted = Some((return_pc, interrupted_sp));
        if let Some(place) = self.stacks.parked.iter().position(goes_on) {
            let other = Stack { interrupted: None, ..self.stacks.parked.remove(place) };
            let left = self.switch_to(other, now);
            return self.park(Stack { interrupted, ..left });
        }
        self.stacks.current.interrupted = interrupted;
        if !self.go_back_to_parked(pc, sp, now) {
            self.begin_task(pc, now);
        }
    }
}

/// The innermost call that an exception has not come between.
fn frames_top(frames: &[Frame], above: usize) -> Option<Frame> {
    frames[above..].last().copied()
}

#[cfg(test)]
mod tests;

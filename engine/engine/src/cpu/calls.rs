//! The calls that a core is in: stacks of calls, which follow calls, jumps and exceptions. All users (profiles, watched
//! functions, conditions, waits) share one record. Only runs with such a user keep it, and others do not pay for it.
//!
//! A call is identified by its return address and the stack pointer at its start. A jump to that address with that
//! stack pointer ends it, whatever the jumping instruction. Other jumps are examined: a jump to the entry of a
//! function, with the stack pointer that the present function was called with, is a tail call, which returns together
//! with the present call; a jump to the return address of an outer call, or with a stack pointer that was its own
//! (longjmp), ends all calls above it; a jump with the stack pointer of a stack that was left before resumes that
//! stack; a jump with a stack pointer that no call of this stack had begins a new stack: a task. Exceptions are calls
//! that no call instruction made: their handlers end with the exception return, whatever is in the link register
//! ([`exceptions`]).
//!
//! Compiled code and blocks report calls before their end, when the core's cycles are not up to date. So the calls
//! record what begins and ends for watched functions ([`News`]), and the core leaves the code at once: it accounts for
//! the news before the next instruction, and before any more time passes.

mod exceptions;
mod lights;
mod linux;

use std::collections::{BTreeMap, BTreeSet};

pub(crate) use lights::{Light, Lights};
pub(crate) use linux::{Reached, TaskSwitch};

use linux::{NO_TASK, OwnTasks};

use super::profiler::{ELSEWHERE, Profile};
use crate::event_rates::Source;
use crate::observe::profile::Functions;
use crate::state::{Fresh, State};

/// Most calls under way in a stack: deeper calls are not followed.
pub(crate) const MOST_FRAMES: usize = 1 << 14;
/// Most stacks that can be resumed.
const MOST_PARKED: usize = 1 << 10;
/// Most functions that jump to each other, one after the other, and return together.
const MOST_TAIL_CALLS: usize = 64;
/// A return address and stack pointer that never occur: of calls that do not return.
pub(crate) const NOWHERE: u32 = u32::MAX;
/// Index that stands for no entry.
pub(crate) const NONE: u32 = u32::MAX;

/// The end of a block, as far as calls are concerned.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State, Fresh)]
#[repr(u32)]
pub enum Flow {
    /// The same function continues, unless the jump has a fixed target that is another function's entry.
    #[default]
    On,
    /// A taken jump calls a function, which returns to the address after the block.
    Call,
    /// It jumps to an address in a register, or from memory: a return, a tail call, a switch of stacks, or a plain
    /// jump.
    Jump,
}

/// A call under way.
#[derive(Clone, Copy, Debug, State, Fresh)]
pub(crate) struct Frame {
    /// The function's address; [`ELSEWHERE`] for an exception.
    function: u32,
    /// Its return address, in the form that blocks use.
    return_pc: u32,
    /// The stack pointer when it began.
    sp: u32,
    /// The core's cycles when it began.
    pub begun: u64,
    /// The exception that it is, as an index into [`Calls::sources`], or [`NONE`]: stack pointers of calls in its
    /// handler are not comparable with those below it.
    exception: u32,
    /// It was made by a tail call: it returns together with the call below it.
    is_tail: bool,
    /// Of a watched function: its section, and the call's number.
    section: u32,
    /// See [`Frame::section`].
    number: u64,
    /// Its path in the profile, if there is one, and the path from which it was called.
    pub path: u32,
    /// See [`Frame::path`].
    pub from: u32,
    /// Of an interrupt that the profile records: its index there.
    pub interrupt: u32,
}

/// A stack of calls.
#[derive(Clone, Debug, State, Fresh)]
struct Stack {
    /// Its path in the profile, if there is one.
    task: u32,
    frames: Vec<Frame>,
    /// Where it resumes if an exception has left it: address and stack pointer.
    interrupted: Option<(u32, u32)>,
    /// The address of a kernel's structure of the task, or [`NO_TASK`].
    owner: u32,
}

/// Begin or end of a call of a watched function that has not been accounted for yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
pub(crate) struct News {
    /// Its section.
    pub section: usize,
    /// Its number: later calls have higher ones.
    pub number: u64,
    /// What happened.
    pub what: What,
}

/// Change of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
pub(crate) enum What {
    /// It has begun, and returns to this address.
    Begun(u32),
    /// It has ended.
    Ended,
    /// Its end will not be known.
    Lost,
}

impl Fresh for News {
    fn fresh() -> News {
        News { section: 0, number: 0, what: What::Ended }
    }
}

/// The calls of a core.
#[derive(Debug, State)]
pub(crate) struct Calls {
    current: Stack,
    parked: Vec<Stack>,
    /// Calls above the innermost frame that compiled code has made, and that have not been examined otherwise.
    pub lights: Lights,
    /// Exceptions that were taken.
    sources: Vec<Source>,
    /// Entries of functions.
    functions: Functions,
    /// The bits of a block's address that are part of the address.
    address_mask: u32,
    /// A kernel that says which task runs.
    tasks: OwnTasks,
    /// The core has begun to run.
    has_begun: bool,
    /// A decided jump that follows a delay slot: its flow, and its return address.
    delayed: Option<(Flow, u32)>,
    /// Calls that are not recorded in any stack, because there were too many.
    pub lost: u64,
    /// Watched functions, and their sections.
    watched: BTreeMap<u32, usize>,
    /// Calls of watched functions that have begun.
    begun: u64,
    /// Calls of watched functions that are no longer followed.
    pub lost_watched: u64,
    news: Vec<News>,
    /// Functions whose calls are counted on request, and the number of their calls under way. The requests are repeated
    /// after a snapshot is loaded.
    #[state(skip)]
    asked: BTreeMap<u32, usize>,
    /// A count has become 0, or has changed from 0.
    #[state(skip)]
    has_changed: bool,
}

impl Fresh for Calls {
    fn fresh() -> Calls {
        Calls::new(u32::MAX)
    }
}

impl Calls {
    /// No calls yet; `address_mask` has the address bits of a block's address.
    pub fn new(address_mask: u32) -> Calls {
        Calls {
            current: Stack { task: 0, frames: Vec::new(), interrupted: None, owner: NO_TASK },
            parked: Vec::new(),
            lights: Lights::new(),
            sources: Vec::new(),
            functions: Functions::default(),
            address_mask,
            tasks: OwnTasks::default(),
            has_begun: false,
            delayed: None,
            lost: 0,
            watched: BTreeMap::new(),
            begun: 0,
            lost_watched: 0,
            news: Vec::new(),
            asked: BTreeMap::new(),
            has_changed: false,
        }
    }

    /// Adds functions. True if one was not known.
    pub fn know(&mut self, functions: &Functions) -> bool {
        let before = (self.functions.entries.len(), self.functions.whole.len());
        let masked = |all: &[u32]| all.iter().map(|entry| entry & self.address_mask).collect::<Vec<u32>>();
        let more = [masked(&functions.entries), masked(&functions.whole)];
        for (known, more) in [&mut self.functions.entries, &mut self.functions.whole].into_iter().zip(more) {
            known.extend(more);
            known.sort_unstable();
            known.dedup();
        }
        before != (self.functions.entries.len(), self.functions.whole.len())
    }

    /// True if a function begins at `target`.
    #[inline]
    fn is_entry(&self, target: u32) -> bool {
        self.functions.entries.binary_search(&(target & self.address_mask)).is_ok()
    }

    /// True if a jump with the fixed target `target` may be a tail call.
    #[inline]
    pub fn is_function(&self, target: u32) -> bool {
        self.functions.whole.binary_search(&(target & self.address_mask)).is_ok()
    }

    /// Reports begins and ends of calls of the function at `pc` as news, under this number of a section.
    pub fn watch(&mut self, pc: u32, section: usize) {
        self.watched.insert(pc, section);
    }

    /// Begins a profile: calls under way, and the current stack, have no path but `task`.
    pub fn begin_profile(&mut self, task: u32) {
        self.absorb();
        self.lights.begin(self.top_sp());
        for frame in self.parked.iter_mut().chain([&mut self.current]).flat_map(|stack| &mut stack.frames) {
            (frame.path, frame.from, frame.interrupt) = (task, task, NONE);
        }
        self.parked.iter_mut().for_each(|stack| stack.task = task);
        self.current.task = task;
        self.has_begun = false;
    }

    /// Counts the calls of `functions`, and of no others.
    pub fn ask_for(&mut self, functions: &BTreeSet<u32>) {
        if functions.is_empty() && self.asked.is_empty() {
            return;
        }
        self.absorb();
        self.lights.begin(self.top_sp());
        let of = |function: &u32| self.frames().filter(|frame| frame.is_call_of(*function)).count();
        self.asked = functions.iter().map(|function| (*function, of(function))).collect();
        self.has_changed = false;
    }

    /// True if exactly these functions are counted.
    pub fn is_asked_for(&self, functions: &BTreeSet<u32>) -> bool {
        self.asked.keys().eq(functions)
    }

    /// True if the calls of the function at an address need not be reported one by one.
    pub fn is_unwatched(&self, target: u32) -> bool {
        let function = target & self.address_mask;
        !self.watched.contains_key(&function) && !self.asked.contains_key(&function)
    }

    /// A block's address with only its address bits.
    pub fn function_at(&self, target: u32) -> u32 {
        target & self.address_mask
    }

    /// True if a counted function has a call under way.
    pub fn are_under_way(&self, function: u32) -> bool {
        self.asked.get(&function).is_some_and(|calls| *calls > 0)
    }

    /// True if that has changed for one of the functions since the last call of this.
    pub fn take_change(&mut self) -> bool {
        std::mem::take(&mut self.has_changed)
    }

    /// True if begins or ends must be handled before the core continues.
    #[inline(always)]
    pub fn has_news(&self) -> bool {
        !self.news.is_empty() || self.has_changed
    }

    /// Takes the begins and ends since the last call of this.
    pub fn take_news(&mut self) -> Vec<News> {
        std::mem::take(&mut self.news)
    }

    /// Prepares calls that were loaded from a snapshot.
    pub fn follow_loaded(&mut self) {
        self.lights.lie_above(self.top_sp());
    }

    /// False if the indices of loaded calls exceed the numbers of paths, interrupts and sections.
    pub fn are_sound(&self, paths: usize, interrupts: usize, sections: usize) -> bool {
        let is_path = |path: u32| (path as usize) < paths.max(1);
        let is_sound = |frame: &Frame| {
            is_path(frame.path)
                && is_path(frame.from)
                && (frame.interrupt == NONE || (frame.interrupt as usize) < interrupts)
                && (frame.section == NONE || (frame.section as usize) < sections)
                && (frame.exception == NONE || (frame.exception as usize) < self.sources.len())
        };
        let stacks = self.parked.iter().chain([&self.current]);
        let are_sound = |stack: &Stack| is_path(stack.task) && stack.frames.iter().all(is_sound);
        let sections_are = self.watched.values().chain(self.news.iter().map(|news| &news.section));
        stacks.into_iter().all(are_sound)
            && sections_are.into_iter().all(|section| *section < sections)
            && self.functions.entries.is_sorted()
            && self.functions.whole.is_sorted()
    }

    /// All calls under way, also those in stacks that were left.
    pub fn frames(&self) -> impl Iterator<Item = &Frame> {
        self.parked.iter().chain([&self.current]).flat_map(|stack| &stack.frames)
    }

    /// The calls under way on the profile's path, the outermost first: the path, and the cycle in which it began.
    pub fn on_path(&self) -> impl Iterator<Item = (u32, u64)> {
        let task = std::iter::once((self.current.task, 0));
        task.chain(self.current.frames.iter().map(|frame| (frame.path, frame.begun)))
    }

    /// The current path.
    #[inline]
    pub fn here(&self) -> u32 {
        self.current.frames.last().map_or(self.current.task, |frame| frame.path)
    }

    /// Shifts calls that have begun since `since`: they began in the last of the skipped iterations. Returns the path
    /// from which the outermost of them was made, and its start before the shift.
    pub fn put_off(&mut self, since: u64, cycles: u64) -> Option<(u32, u64)> {
        let mut outermost = None;
        for frame in self.current.frames.iter_mut().filter(|frame| frame.begun >= since) {
            outermost = outermost.or(Some((frame.from, frame.begun)));
            frame.begun += cycles;
        }
        outermost
    }

    /// As [`Calls::put_off`], for calls in other stacks, where iterations switched stacks.
    pub fn put_off_parked(&mut self, since: u64, cycles: u64) {
        let frames = self.parked.iter_mut().flat_map(|stack| &mut stack.frames);
        frames.filter(|frame| frame.begun >= since).for_each(|frame| frame.begun += cycles);
    }

    // ---- Jumps

    /// The core starts at `pc`. True if it has not run since calls are followed.
    #[inline]
    pub fn begin(&mut self, on: &mut Option<Box<Profile>>, pc: u32, now: u64) -> bool {
        let begins = !self.has_begun;
        if begins {
            self.begin_at(on, pc, now);
        }
        begins
    }

    #[cold]
    #[inline(never)]
    fn begin_at(&mut self, on: &mut Option<Box<Profile>>, pc: u32, now: u64) {
        self.has_begun = true;
        if self.current.frames.is_empty() && self.is_entry(pc) {
            self.enter(on, NOWHERE, pc, NOWHERE, now);
        }
        self.lights.begin(self.top_sp());
    }

    /// Follows the end of a block by a jump to `target`; `return_pc` is the address after it, both in the form that
    /// blocks use. The core has had `now` cycles.
    #[inline]
    pub fn follow(
        &mut self,
        on: &mut Option<Box<Profile>>,
        (flow, return_pc): (Flow, u32),
        target: u32,
        (sp, now): (u32, u64),
    ) {
        let is_profiled = on.is_some();
        if !is_profiled {
            self.absorb();
        }
        match flow {
            Flow::On if self.is_function(target) => self.branch(on, target, sp, now),
            Flow::On => {}
            Flow::Call => self.call(on, return_pc, target, sp, now),
            Flow::Jump if self.is_switching() => self.switch_task(on, target, sp, now),
            Flow::Jump => {
                let top = self.current.frames.last();
                if top.is_some_and(|top| top.return_pc == target && top.sp == sp) {
                    self.end_call(on, now);
                } else {
                    self.jump(on, target, sp, now);
                }
            }
        }
        if !is_profiled {
            self.lights.begin(self.top_sp());
        }
    }

    /// The stack pointer of the innermost call, if it determines where other calls begin.
    #[inline]
    fn top_sp(&self) -> u32 {
        self.current.frames.last().map_or(NOWHERE, |top| top.sp_of_call())
    }

    /// Turns the calls made by compiled code into ordinary calls.
    #[inline]
    fn absorb(&mut self) {
        if self.lights.are_some() {
            self.absorb_all();
        }
    }

    #[cold]
    #[inline(never)]
    fn absorb_all(&mut self) {
        // With a profile, each call is followed individually.
        let (path, from) = (self.here(), self.here());
        for place in 0..self.lights.count() {
            let Light { return_pc, sp, function, .. } = self.lights.at(place);
            self.push(Frame { function, return_pc, sp, path, from, ..NO_FRAME });
        }
        self.lights.begin(self.top_sp());
    }

    /// Decides on a jump that follows a delay slot: see [`Calls::take_decided`].
    pub fn decide(&mut self, flow: Flow, return_pc: u32) {
        self.delayed = Some((flow, return_pc));
    }

    /// Takes the jump that has been decided on, if any.
    pub fn take_decided(&mut self) -> Option<(Flow, u32)> {
        self.delayed.take()
    }

    /// Ends the innermost call, which has returned, together with the functions that tail-called it.
    #[inline]
    fn end_call(&mut self, on: &mut Option<Box<Profile>>, now: u64) {
        while self.pop(on, now) {}
    }

    /// The innermost call has ended. True if the one below it returns together with it.
    #[inline]
    fn pop(&mut self, on: &mut Option<Box<Profile>>, now: u64) -> bool {
        let Some(frame) = self.current.frames.pop() else { return false };
        if let Some(profile) = on {
            profile.call_ended(&frame, now);
        }
        self.count_out(&frame, What::Ended);
        frame.is_tail
    }

    /// Counts a call that is no longer under way.
    #[inline]
    fn count_out(&mut self, frame: &Frame, what: What) {
        if frame.section != NONE {
            self.lost_watched += u64::from(what == What::Lost);
            self.news.push(News { section: frame.section as usize, number: frame.number, what });
        }
        if !self.asked.is_empty()
            && !frame.is_exception()
            && let Some(calls) = self.asked.get_mut(&frame.function)
        {
            *calls = calls.saturating_sub(1);
            self.has_changed |= *calls == 0;
        }
    }

    fn pop_to(&mut self, on: &mut Option<Box<Profile>>, depth: usize, now: u64) {
        while self.current.frames.len() > depth {
            self.pop(on, now);
        }
    }

    /// The frames above the last exception.
    fn above_exception(&self) -> usize {
        self.current.frames.iter().rposition(Frame::is_exception).map_or(0, |place| place + 1)
    }

    #[inline]
    fn call(&mut self, on: &mut Option<Box<Profile>>, return_pc: u32, target: u32, sp: u32, now: u64) {
        // Calls that were left without a return: the caller has the stack pointer that they were called with.
        while let Some(top) = self.current.frames.last()
            && !top.is_exception()
            && top.sp != NOWHERE
            && (top.sp == sp && top.return_pc == return_pc
                || top.sp < sp && self.current.frames.iter().rev().any(|frame| frame.sp >= sp))
        {
            self.pop(on, now);
        }
        self.enter(on, return_pc, target, sp, now);
    }

    #[inline(always)]
    fn enter(&mut self, on: &mut Option<Box<Profile>>, return_pc: u32, target: u32, sp: u32, now: u64) {
        let (from, function) = (self.here(), target & self.address_mask);
        let site = if return_pc == NOWHERE { return_pc } else { return_pc & self.address_mask };
        let path = on.as_mut().map_or(0, |profile| profile.call_path(from, function, site));
        self.push(Frame { function, return_pc, sp, begun: now, path, from, ..NO_FRAME });
    }

    #[inline(always)]
    fn push(&mut self, mut frame: Frame) {
        let watched = if self.watched.is_empty() { None } else { self.watched.get(&frame.function).copied() };
        if self.current.frames.len() == MOST_FRAMES {
            self.lost += 1;
            self.lost_watched += u64::from(watched.is_some());
            return;
        }
        if let Some(section) = watched {
            (frame.section, frame.number) = (section as u32, self.begun);
            let returns = if frame.return_pc == NOWHERE { NOWHERE } else { frame.return_pc & self.address_mask };
            self.news.push(News { section, number: self.begun, what: What::Begun(returns) });
            self.begun += 1;
        }
        self.tasks.meet(frame.function);
        if !self.asked.is_empty()
            && let Some(calls) = self.asked.get_mut(&frame.function)
        {
            *calls += 1;
            self.has_changed |= *calls == 1;
        }
        self.current.frames.push(frame);
    }

    /// Follows a jump to a fixed target that is a function's entry: a tail call if the present function has nothing
    /// left on the stack. Otherwise the entry is another part of the present function.
    #[cold]
    fn branch(&mut self, on: &mut Option<Box<Profile>>, target: u32, sp: u32, now: u64) {
        let function = target & self.address_mask;
        let top = self.current.frames.last().copied().filter(|top| !top.is_exception());
        // A function may begin with a loop.
        if let Some(top) = top.filter(|top| (top.sp == sp || top.sp == NOWHERE) && top.function != function) {
            self.tail_call(on, top, target, now);
        }
    }

    /// Follows a tail call: the innermost call, `top`, continues in another function.
    fn tail_call(&mut self, on: &mut Option<Box<Profile>>, top: Frame, target: u32, now: u64) {
        let frames = &self.current.frames;
        let function = target & self.address_mask;
        let first = frames.iter().rposition(|frame| !frame.is_tail).unwrap_or(0);
        // Functions may jump to each other for ever: each has one call.
        let again = (first..frames.len()).find(|place| frames[*place].function == function);
        let is_root = top.return_pc == NOWHERE && self.above_exception() == 0;
        let depth = match again {
            _ if is_root => frames.len() - 1,
            Some(place) => place,
            None if frames.len() - first >= MOST_TAIL_CALLS => frames.len() - 1,
            None => frames.len(),
        };
        let called_from = frames.get(first).map_or(top.from, |first| first.from);
        self.pop_to(on, depth, now);
        // On the path of the jumping function: its call lasts until this one ends, and includes its cycles.
        let from = if depth > first { self.here() } else { called_from };
        let path = on.as_mut().map_or(0, |profile| {
            // The call does not return to the place of the jump.
            let none = top.return_pc == NOWHERE || depth > first;
            profile.call_path(from, function, if none { NOWHERE } else { top.return_pc & self.address_mask })
        });
        let Frame { return_pc, sp, .. } = top;
        self.push(Frame { function, return_pc, sp, begun: now, path, from, is_tail: depth > first, ..NO_FRAME });
    }

    /// Follows a jump that does not end the innermost call in the ordinary way.
    #[cold]
    #[inline(never)]
    fn jump(&mut self, on: &mut Option<Box<Profile>>, target: u32, sp: u32, now: u64) {
        let frames = &self.current.frames;
        let above = self.above_exception();
        let returns = frames[above..].iter().rposition(|frame| frame.return_pc == target && frame.sp == sp);
        if let Some(place) = returns {
            self.pop_to(on, above + place + 1, now);
            return self.end_call(on, now);
        }
        let has_own_tasks = self.tasks.are_some();
        if !has_own_tasks && self.go_back_to_parked(on, target, sp, now) {
            return;
        }
        // The innermost call above the last exception.
        let top = self.current.frames[above..].last().copied();
        let is_entry = self.is_entry(target);
        match top {
            // A program begins, or a handler continues in another function.
            None if is_entry => self.enter(on, NOWHERE, target, NOWHERE, now),
            None => {}
            Some(top) if is_entry && (top.sp == sp || top.sp == NOWHERE) => self.tail_call(on, top, target, now),
            Some(_) if is_entry && !has_own_tasks => self.begin_task(on, target, now),
            Some(top) if top.sp != NOWHERE && sp > top.sp => {
                // What longjmp goes back to has called setjmp, so it has a frame: its stack pointer is below the one
                // that it was called with. A call that began with just this one was made by it.
                let outer = self.current.frames[above..].iter().rposition(|frame| frame.sp > sp);
                // A function that was followed only from its middle has no frame.
                let depth = outer.map_or(above, |place| above + place + 1);
                self.pop_to(on, depth, now);
            }
            Some(_) => {}
        }
    }

    /// Resumes a stack that was left in a call with this return. False if there is no such stack.
    fn go_back_to_parked(&mut self, on: &mut Option<Box<Profile>>, target: u32, sp: u32, now: u64) -> bool {
        let returns = |stack: &Stack| {
            let top = stack.frames.last();
            stack.interrupted.is_none() && top.is_some_and(|top| top.return_pc == target && top.sp == sp)
        };
        let Some(place) = self.parked.iter().position(returns) else { return false };
        let other = self.parked.remove(place);
        let left = self.switch_to(on, other, now);
        self.park(left);
        self.end_call(on, now);
        true
    }

    /// Switches to another stack; returns the previous one.
    fn switch_to(&mut self, on: &mut Option<Box<Profile>>, other: Stack, now: u64) -> Stack {
        if let Some(profile) = on {
            profile.switched(other.task, now);
        }
        std::mem::replace(&mut self.current, other)
    }

    fn park(&mut self, stack: Stack) {
        if self.parked.len() == MOST_PARKED {
            let oldest = self.parked.remove(0);
            self.lose(&oldest);
        }
        self.parked.push(stack);
    }

    /// The calls of a stack are no longer followed.
    fn lose(&mut self, stack: &Stack) {
        stack.frames.iter().for_each(|frame| self.count_out(frame, What::Lost));
    }

    /// Starts an unknown stack at `target`.
    fn begin_task(&mut self, on: &mut Option<Box<Profile>>, target: u32, now: u64) {
        let Some(task) = on.as_mut().map_or(Some(0), |profile| profile.add_task(target & self.address_mask)) else {
            return;
        };
        self.begin_stack(on, Stack { task, frames: Vec::new(), interrupted: None, owner: NO_TASK }, target, now);
    }

    fn begin_stack(&mut self, on: &mut Option<Box<Profile>>, stack: Stack, target: u32, now: u64) {
        let left = self.switch_to(on, stack, now);
        self.park(left);
        if self.is_entry(target) {
            self.enter(on, NOWHERE, target, NOWHERE, now);
        }
    }
}

impl Frame {
    #[inline]
    fn is_exception(&self) -> bool {
        self.exception != NONE
    }

    #[inline]
    fn sp_of_call(&self) -> u32 {
        if self.is_exception() { NOWHERE } else { self.sp }
    }

    fn is_call_of(&self, function: u32) -> bool {
        !self.is_exception() && self.function == function
    }
}

/// Common values of frames.
const NO_FRAME: Frame = Frame {
    function: ELSEWHERE,
    return_pc: NOWHERE,
    sp: NOWHERE,
    begun: 0,
    exception: NONE,
    is_tail: false,
    section: NONE,
    number: 0,
    path: 0,
    from: 0,
    interrupt: NONE,
};

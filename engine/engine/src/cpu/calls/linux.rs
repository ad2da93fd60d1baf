//! Stacks of a Linux kernel, which says itself which of its tasks runs: no jump but that at the end of `__switch_to`
//! leads to another stack. A return to other code than was interrupted belongs to the same task: a handler of a signal
//! begins or ends, or a program replaces the present one.

use super::{Calls, Frame, NO_FRAME, NOWHERE, Stack};
use crate::cpu::profiler::Profile;
use crate::observe::profile::LinuxKernel;
use crate::state::{Fresh, State};

/// The owner of a stack whose task is not known.
pub(super) const NO_TASK: u32 = 0;
/// Not the address of a function: those of instructions are even.
const NO_FUNCTION: u32 = 1;

/// A function of the kernel that has just been called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reached {
    /// It switches to another task.
    Switch,
    /// It starts a module that has been loaded.
    Load,
}

/// The kernel's functions, and the switch that is under way.
#[derive(Clone, Debug, State, Fresh)]
pub(super) struct OwnTasks {
    switches: u32,
    loads: u32,
    reached: u32,
    /// The task that the next jump of `switches` leads to.
    next: u32,
}

impl Default for OwnTasks {
    fn default() -> OwnTasks {
        OwnTasks { switches: NO_FUNCTION, loads: NO_FUNCTION, reached: NO_FUNCTION, next: NO_TASK }
    }
}

impl OwnTasks {
    /// True if there is a kernel.
    #[inline]
    pub fn are_some(&self) -> bool {
        self.switches != NO_FUNCTION
    }

    /// Notes a call of one of the kernel's functions.
    #[inline(always)]
    pub fn meet(&mut self, function: u32) {
        if function == self.switches || function == self.loads {
            self.reached = function;
        }
    }
}

/// A switch between tasks, by the addresses of their structures.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TaskSwitch {
    /// The task that the present stack belongs to; `None` if the stack is left to no task.
    pub from: Option<u32>,
    /// The task that runs next.
    pub to: u32,
}

impl Calls {
    /// Follows the tasks of this kernel from now on; without one, of none.
    pub fn follow_kernel(&mut self, kernel: Option<&LinuxKernel>) {
        let masked = |function: u32| function & self.address_mask;
        self.tasks = kernel.map_or_else(OwnTasks::default, |kernel| OwnTasks {
            switches: masked(kernel.switches),
            loads: kernel.loads.map_or(NO_FUNCTION, masked),
            ..OwnTasks::default()
        });
    }

    /// True if there is a kernel that has tasks of its own.
    #[inline]
    pub fn have_kernel(&self) -> bool {
        self.tasks.are_some()
    }

    /// True if one of the kernel's functions has just been called.
    #[inline(always)]
    pub fn have_reached_kernel(&self) -> bool {
        self.tasks.reached != NO_FUNCTION
    }

    /// Takes the function that has been called.
    pub fn take_reached(&mut self) -> Option<Reached> {
        let reached = std::mem::replace(&mut self.tasks.reached, NO_FUNCTION);
        let is_switch = reached == self.tasks.switches;
        (reached != NO_FUNCTION).then_some(if is_switch { Reached::Switch } else { Reached::Load })
    }

    /// The function that switches tasks has been called with these.
    pub fn expect_switch(&mut self, switch: TaskSwitch) {
        if let Some(from) = switch.from {
            self.current.owner = from;
        }
        self.tasks.next = switch.to;
    }

    /// True if a jump now leads to the stack of another task.
    #[inline(always)]
    pub(super) fn is_switching(&self) -> bool {
        self.tasks.next != NO_TASK && self.current.frames.last().is_some_and(|top| top.function == self.tasks.switches)
    }

    /// Follows the jump to the stack of the expected task.
    #[cold]
    #[inline(never)]
    pub(super) fn switch_task(&mut self, on: &mut Option<Box<Profile>>, target: u32, sp: u32, now: u64) {
        let owner = std::mem::replace(&mut self.tasks.next, NO_TASK);
        let place = self.parked.iter().position(|stack| stack.owner == owner);
        if let Some(stack) = place.map(|place| self.parked.remove(place)) {
            if stack.frames.last().is_some_and(|top| top.return_pc == target && top.sp == sp) {
                let left = self.switch_to(on, stack, now);
                self.park(left);
                return self.end_call(on, now);
            }
            // That task has ended; the new one has its memory.
            self.lose(&stack);
        }
        let task = on.as_mut().map_or(0, |profile| profile.add_task_of(owner, target & self.address_mask));
        self.begin_stack(on, Stack { task, frames: Vec::new(), interrupted: None, owner }, target, now);
    }

    /// Follows an exception return to the code at `pc`, with this stack pointer, in a privileged mode or in a program.
    pub fn return_in_kernel(
        &mut self,
        on: &mut Option<Box<Profile>>,
        (pc, sp): (u32, u32),
        is_privileged: bool,
        now: u64,
    ) {
        self.absorb();
        let exception = self.current.frames.iter().rposition(Frame::is_exception);
        match exception.map(|place| (place, self.current.frames[place])) {
            // The handler goes on in another mode.
            Some((place, frame)) if is_privileged && pc != frame.return_pc && self.is_entry(pc) => {
                self.pop_to(on, place + 1, now);
                self.enter(on, NOWHERE, pc, NOWHERE, now);
            }
            Some((place, frame)) => {
                self.pop_to(on, place, now);
                if sp != frame.sp {
                    self.go_on(on, pc, (sp, frame.sp), now);
                }
            }
            // A task runs a program for the first time.
            None if !is_privileged => {
                self.pop_to(on, 0, now);
                self.go_on(on, pc, (sp, NOWHERE), now);
            }
            None => self.jump(on, pc, sp, now),
        }
        self.lights.begin(self.top_sp());
    }

    /// The task goes on elsewhere than it was interrupted: `sp` is its stack pointer now, `before` the one that it had.
    fn go_on(&mut self, on: &mut Option<Box<Profile>>, pc: u32, (sp, before): (u32, u32), now: u64) {
        let above = self.above_exception();
        let outer = self.current.frames[above..].iter().rposition(|frame| frame.sp != NOWHERE && frame.sp > sp);
        self.pop_to(on, outer.map_or(above, |place| above + place + 1), now);
        let is_signal = before != NOWHERE && sp < before;
        if is_signal || self.is_entry(pc) {
            self.enter(on, NOWHERE, pc, NOWHERE, now);
        }
    }
}

const _: () = assert!(NO_FRAME.function != NO_FUNCTION);

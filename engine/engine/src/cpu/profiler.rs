//! A profile: every cycle of a core, by call path, instruction and cause. Exact, and free when off.
//!
//! The work of a core is counted in the array of the current path ([`counters`]), which changes where functions are
//! called and left ([`super::calls`], [`paths`]): runs of blocks, with the known cost of each instruction, and further
//! cycles of accesses and exceptions. Compiled code counts runs by itself, and reports calls and returns. All other
//! time is in sums of the core's ([`Seen`]): their growth is charged to the completed instruction.

pub mod counters;
mod following;
pub mod linux;
pub mod paths;
pub mod reporting;
mod saving;
mod slices;
mod switches;

use counters::{Cause, Counters, Own, Rows, Step, What};
use linux::Linux;
use paths::{Call, NO_SITE, Paths};
use reporting::AtRate;
use slices::KeptSlices;
use std::cell::RefCell;
use std::sync::Arc;
use switches::{Switch, Switches};

use super::accounts::Spent;
use super::calls::{Calls, Frame, NONE, NOWHERE};
use super::cost::Breakdown;
use super::memory_system::{Accounts, LONG_CYCLES};
use crate::bus::Bus;
use crate::event_rates::Source;
use crate::observe::profile::{LoadedFunction, ProfileOptions, TaskName};
use crate::state::{Fresh, State};
use crate::time::Ps;

/// Stands for the address of cycles that belong to no instruction.
pub const ELSEWHERE: u32 = u32::MAX;

/// Sums of a core's time as last seen: any growth since then has not been charged yet.
#[derive(Clone, Debug, Default, State, Fresh)]
#[repr(C)]
pub struct Seen {
    /// Static cycles of instructions outside of whole blocks, which have counters.
    pub fixed: Breakdown,
    /// Other cycles of the core.
    pub spent: Spent,
    /// Cycles of accesses.
    pub memory: Accounts,
}

/// The profile of a core.
#[derive(Debug)]
pub struct Profile {
    /// Compiled code requests numbers while the core can't change.
    counters: RefCell<Counters>,
    paths: Paths,
    /// The core's current path, and its counters.
    here: u32,
    counts: *mut u64,
    /// See [`Seen`].
    pub seen: Seen,
    /// The instruction that ran last, as far as known.
    pub last_pc: u32,
    /// The counts since the start of a polling loop's iteration, to be repeated.
    repeated: Option<Repeated>,
    /// The source of the names of a kernel's tasks.
    names_tasks: Option<TaskName>,
    /// The present name, for a stack that begins.
    task_name: String,
    /// The path of a stack that has begun without a name.
    unnamed: Option<u32>,
    /// The Linux kernel that runs.
    linux: Option<Box<Linux>>,
    /// Interrupts that were taken.
    interrupts: Vec<Taken>,
    /// Calls kept for a timeline.
    slices: Option<KeptSlices>,
    /// Switches of stacks, for a timeline.
    switches: Option<Switches>,
    /// Counts at earlier rates of the core's clock.
    earlier_rates: Vec<Rows>,
    /// Place at which the last long wait was charged: the path, the instruction, and the sum.
    last_long: Option<(u32, u32, u32)>,
}

// SAFETY: `counts` is an array of `counters`, which no other object shares.
unsafe impl Send for Profile {}

/// Most interrupts that are kept one by one.
const MOST_INTERRUPTS: usize = 1 << 18;

/// An interrupt that was taken. Times are cycles of the core.
#[derive(Clone, Debug, State, Fresh)]
struct Taken {
    path: u32,
    input: Option<u32>,
    /// Time at which its line went high, and the device that raised it.
    raised: Option<(Ps, String)>,
    taken: u64,
    /// Start and end of its handler.
    begun: Option<u64>,
    ended: Option<u64>,
}

/// Counts to be repeated.
#[derive(Debug, Default)]
struct Repeated {
    /// Their start, in cycles of the core.
    since: u64,
    counts: Vec<(u32, u32, u64)>,
    calls: Vec<(u32, u64)>,
    switches: Vec<Switch>,
}

impl Profile {
    /// A profile of a core whose sums are `seen`, after `now` cycles. `None` if the host has no memory for it.
    pub fn new(options: &ProfileOptions, seen: Seen, now: u64) -> Option<Profile> {
        let mut counters = Counters::new();
        let mut paths = Paths::new(options.watched.clone(), options.by_site);
        let task = paths.add_task(&mut counters, ELSEWHERE, String::new())?;
        let counts = paths.counts(task);
        Some(Profile {
            counters: RefCell::new(counters),
            paths,
            here: task,
            counts,
            seen,
            last_pc: ELSEWHERE,
            repeated: None,
            names_tasks: options.task_name.clone(),
            task_name: String::new(),
            unnamed: None,
            linux: options.linux.as_ref().map(|kernel| Box::new(Linux::new(kernel, now == 0))),
            interrupts: Vec::new(),
            slices: options.slices.map(KeptSlices::new),
            switches: options.slices.map(|slices| Switches::new(slices.most, Switch { at: now, task })),
            earlier_rates: Vec::new(),
            last_long: None,
        })
    }

    /// The path of the stack on which the profile began.
    pub fn first_task(&self) -> u32 {
        self.here
    }

    /// Sets the current path.
    #[inline]
    pub fn arrive(&mut self, path: u32) {
        self.here = path;
        self.counts = self.paths.counts(path);
        self.counters.get_mut().visit(path);
    }

    /// Restarts full counters: see [`Counters::begin_anew`].
    pub fn begin_counters_anew(&mut self) {
        self.counters.get_mut().begin_anew();
        self.arrive(self.here);
    }

    // ---- Reports of the core's calls

    /// The path of a call of `function` from another path, with the return address `site`.
    #[inline]
    pub fn call_path(&mut self, from: u32, function: u32, site: u32) -> u32 {
        const { assert!(NOWHERE == NO_SITE) };
        self.paths.function(self.counters.get_mut(), from, function, site)
    }

    /// The path of an exception that is taken on another path.
    pub fn exception_path(&mut self, from: u32, source: Source) -> u32 {
        self.paths.exception(self.counters.get_mut(), from, source)
    }

    /// Counts a call that has ended.
    #[inline]
    pub fn call_ended(&mut self, frame: &Frame, now: u64) {
        let Frame { path, from, begun, interrupt, .. } = *frame;
        if interrupt != NONE {
            self.interrupts[interrupt as usize].ended = Some(now);
        }
        if path != from {
            let cycles = now.wrapping_sub(begun);
            self.paths.end_call(path, begun, now);
            self.keep_slice(Call { path, begun, cycles }, 0);
            if let Some(repeated) = &mut self.repeated {
                repeated.calls.push((path, cycles));
            }
        }
    }

    /// Records the start of the handler of a kept interrupt.
    pub fn handler_begun(&mut self, interrupt: u32, now: u64) {
        self.interrupts[interrupt as usize].begun = Some(now);
    }

    /// The path of a stack that begins at an address; `None` if there is no room.
    pub fn add_task(&mut self, address: u32) -> Option<u32> {
        let name = std::mem::take(&mut self.task_name);
        let is_unnamed = name.is_empty() && self.names_tasks.is_some();
        let task = self.paths.add_task(self.counters.get_mut(), address, name);
        self.unnamed = task.filter(|_| is_unnamed);
        task
    }

    /// The path of a task of the Linux kernel that begins at an address.
    pub fn add_task_of(&mut self, owner: u32, address: u32) -> u32 {
        let Profile { linux: Some(linux), paths, counters, .. } = self else { return 0 };
        linux.begin_task(owner, || paths.add_task(counters.get_mut(), address, String::new()))
    }

    /// The Linux kernel that runs, and the paths.
    pub fn linux(&mut self) -> Option<(&mut Linux, &mut Paths)> {
        Some((self.linux.as_deref_mut()?, &mut self.paths))
    }

    /// The functions of modules that the kernel has loaded.
    pub fn loaded_functions(&self) -> &[LoadedFunction] {
        self.linux.as_ref().map_or(&[], |linux| linux.loaded())
    }

    /// Marks a stack that has begun as unnamed.
    pub fn leave_unnamed(&mut self) {
        self.unnamed = None;
    }

    /// True if a stack has begun without a name, though its kernel has task names.
    #[inline]
    pub fn has_unnamed(&self) -> bool {
        self.unnamed.is_some()
    }

    /// Gives it the name of the running task.
    pub fn name_task(&mut self, bus: &Bus) {
        self.look_at_task(bus);
        let name = std::mem::take(&mut self.task_name);
        if let Some(task) = self.unnamed.take() {
            self.paths.name_task(task, name);
        }
    }

    /// Records a switch to the stack of another task.
    pub fn switched(&mut self, task: u32, now: u64) {
        let switch = Switch { at: now, task };
        if let Some(repeated) = &mut self.repeated {
            repeated.switches.push(switch);
        }
        if let Some(switches) = &mut self.switches {
            switches.push(switch);
        }
    }

    /// Records the source of the innermost exception: the input (or one of the core's own interrupts), and the time and
    /// the device that raised it.
    pub fn raised(&mut self, calls: &mut Calls, input: Option<u32>, raised: Option<(Ps, String)>) {
        let kept = self.interrupts.len();
        let Some((frame, begun)) = calls.innermost_exception() else { return };
        if kept == MOST_INTERRUPTS || frame.interrupt != NONE {
            return;
        }
        frame.interrupt = kept as u32;
        self.interrupts.push(Taken { path: frame.path, input, raised, taken: frame.begun, begun, ended: None });
    }

    /// Number of paths, and of kept interrupts.
    pub fn counted(&self) -> (usize, usize) {
        (self.paths.all.len(), self.interrupts.len())
    }

    /// Keeps a call that has ended, or one that stands for skipped iterations, for a timeline, if there is one.
    #[inline]
    fn keep_slice(&mut self, call: Call, skipped: u64) {
        if let Some(slices) = &mut self.slices {
            slices.keep(call, skipped);
        }
    }

    /// Sets the rates that the core's clock has had; the last of them is the present one.
    pub fn follow_rates(&mut self, rates: &[AtRate]) {
        if let Some(slices) = &mut self.slices {
            slices.follow_rates(rates);
            self.switches.iter_mut().for_each(|switches| switches.window = slices.window);
        }
    }

    /// The counters of the current path.
    #[inline(always)]
    pub fn counts(&self) -> *mut u64 {
        self.counts
    }

    /// The number of the counter of runs of `steps`.
    pub fn ran(&mut self, steps: Arc<[Step]>) -> u32 {
        self.counters.get_mut().ran(steps)
    }

    /// The number of the counter of an instruction's work: see [`Counters::did`].
    pub fn did(&self, pc: u32, what: What) -> u32 {
        self.counters.borrow_mut().did(pc, what)
    }

    /// Counts work of the instruction at `pc` once.
    pub fn count_did(&mut self, pc: u32, what: What) {
        let counter = self.counters.get_mut().did(pc, what);
        self.count(counter, 1);
    }

    /// Adds to a counter of the current path.
    #[inline]
    pub fn count(&mut self, counter: u32, amount: u64) {
        // SAFETY: the array has room for all counters, and nobody holds a reference into it.
        unsafe { *self.counts.add(counter as usize) += amount };
        if let Some(repeated) = &mut self.repeated {
            repeated.counts.push((self.here, counter, amount));
        }
    }

    /// Subtracts from a counter of that path.
    pub fn take_back(&mut self, counter: u32, amount: u64) {
        // SAFETY: as above.
        unsafe { *self.counts.add(counter as usize) -= amount };
    }

    /// Charges the growth of the core's sums to the instruction at `pc`.
    #[inline]
    pub fn charge(&mut self, pc: u32, fixed: &Breakdown, spent: &Spent, memory: &mut Accounts) {
        self.last_pc = pc;
        if *fixed != self.seen.fixed || *spent != self.seen.spent {
            self.charge_own(pc, fixed, spent);
        }
        if !memory.are_seen(&self.seen.memory) {
            self.charge_memory(pc, memory);
        }
    }

    #[inline(never)]
    fn charge_own(&mut self, pc: u32, fixed: &Breakdown, spent: &Spent) {
        let seen = std::mem::replace(&mut self.seen.fixed, *fixed);
        let more = [
            (Own::Issue, fixed.issue, seen.issue),
            (Own::OperandWait, fixed.operand_wait, seen.operand_wait),
            (Own::LongOperation, fixed.long_operation, seen.long_operation),
            (Own::Jump, fixed.jump, seen.jump),
        ];
        let seen = std::mem::replace(&mut self.seen.spent, *spent);
        let further = [
            (Own::Saved, spent.saved, seen.saved),
            (Own::Mispredicted, spent.mispredicted, seen.mispredicted),
            (Own::Annulled, spent.annulled, seen.annulled),
            (Own::Exceptions, spent.exceptions, seen.exceptions),
            (Own::Idle, spent.idle, seen.idle),
        ];
        for (own, now, before) in more.into_iter().chain(further) {
            if now != before {
                self.spend(pc, Cause::Own(own), now.wrapping_sub(before));
            }
        }
    }

    #[inline(never)]
    fn charge_memory(&mut self, pc: u32, memory: &mut Accounts) {
        let mut seen = std::mem::take(&mut self.seen.memory);
        memory.report_growth(&mut seen, |sum, cycles| {
            self.spend(pc, Cause::Memory(sum), cycles);
            if cycles >= LONG_CYCLES {
                self.last_long = Some((self.here, pc, sum));
            }
        });
        self.seen.memory = seen;
    }

    /// Starts a new rate of the core's clock. No code may use the old numbers of counters from then on.
    pub fn end_rate(&mut self) {
        self.earlier_rates.push(self.counters.get_mut().take_rows());
        self.arrive(self.here);
    }

    /// Reads the name of the task that runs from now on.
    pub fn look_at_task(&mut self, bus: &Bus) {
        if let Some(names) = &self.names_tasks {
            self.task_name = task_that_runs(names, bus).unwrap_or_default();
        }
    }

    // ---- Polling loops whose iterations are counted without being run

    /// Starts recording counts, from `now` on, that may be repeated.
    pub fn begin_repeating(&mut self, now: u64) {
        self.repeated = Some(Repeated { since: now, ..Repeated::default() });
    }

    /// Ends the recording of counts to be repeated.
    pub fn end_repeating(&mut self) {
        self.repeated = None;
    }

    /// Adds all counts since [`Profile::begin_repeating`] `times` more times, which take `cycles` in total; the
    /// core's sums are then the given ones.
    pub fn repeat(
        &mut self,
        calls: &mut Calls,
        (times, cycles): (u64, u64),
        (fixed, spent): (Breakdown, Spent),
        memory: &Accounts,
    ) {
        let Some(repeated) = self.repeated.take() else { return };
        for (path, counter, amount) in repeated.counts {
            // SAFETY: the arrays have room for all counters, and nobody holds a reference into them.
            unsafe { *self.paths.counts(path).add(counter as usize) += amount * times };
            self.counters.get_mut().visit(path);
        }
        let has_calls = !repeated.calls.is_empty();
        for (path, cycles) in repeated.calls {
            self.paths.repeat_call(path, cycles, times);
        }
        let put_off = calls.put_off(repeated.since, cycles);
        if !repeated.switches.is_empty() {
            calls.put_off_parked(repeated.since, cycles);
        }
        if let Some(switches) = &mut self.switches {
            switches.repeat(&repeated.switches, times, cycles / times);
        }
        if has_calls {
            let (path, begun) = put_off.unwrap_or((self.here, repeated.since + cycles / times));
            self.keep_slice(Call { path, begun, cycles }, times);
        }
        (self.seen.fixed, self.seen.spent) = (fixed, spent);
        // Compiled code contains the addresses of the sums.
        self.seen.memory.become_as(memory);
    }

    fn spend(&mut self, pc: u32, cause: Cause, cycles: u64) {
        let counter = self.counters.get_mut().did(pc, What::Spent(cause));
        self.count(counter, cycles);
    }
}

/// The name of the running task; `None` where there is no name yet.
fn task_that_runs(names: &TaskName, bus: &Bus) -> Option<String> {
    let task = bus.peek_word(names.variable)?;
    let place = task.wrapping_add(names.offset);
    let at = if names.is_pointer { bus.peek_word(place).filter(|name| *name != 0)? } else { place };
    let mut name = Vec::new();
    for offset in 0..names.bytes {
        let mut byte = [0];
        if !bus.peek(at.wrapping_add(offset), &mut byte) || byte[0] == 0 {
            break;
        }
        name.push(byte[0]);
    }
    (task != 0 && !name.is_empty()).then(|| String::from_utf8_lossy(&name).into_owned())
}

#[cfg(test)]
mod tests;

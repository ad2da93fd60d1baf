//! A debugger's control of the machine: breakpoints, watchpoints, steps.
//!
//! Halting costs no simulated time and changes nothing. The core that stops does so in the middle of its time slice,
//! and later continues that slice, so the order in which cores run is the same as without a debugger. Another core may
//! therefore be up to a quantum before or after the one that stopped.
//!
//! A step is one instruction of one core; the others run as usual. An interrupt that is taken before the instruction is
//! handled first, so that the step ends after the instruction.

mod inspection;
mod registers;
pub mod states;

use std::collections::BTreeSet;

use super::exchange::Pause;
use super::progress::TimeSlice;
use super::{Machine, Outcome, Printed, RunReport};
use engine::bus::watches::{Hit, Watch};
use engine::core::Stop;
use engine::core::debug::Position;
use engine::time::Ps;

/// A step of a core.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Step {
    /// The core, by its index.
    pub core: usize,
    /// The step continues while the next instruction is from the first address up to, but not including, the second.
    pub range: Option<(u32, u32)>,
    /// Interrupt handlers are stepped into.
    pub into_handlers: bool,
}

/// Why the machine halted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Halt {
    /// A core is at a breakpoint.
    Break {
        /// The core, by its index.
        core: usize,
    },
    /// A watched access.
    Watch {
        /// The core that runs, by its index.
        core: usize,
        /// The access.
        hit: Hit,
    },
    /// A step is done.
    Stepped {
        /// The core, by its index.
        core: usize,
    },
    /// Conditions of triggers have become true.
    Trigger {
        /// The core at whose time they did, by its index.
        core: usize,
        /// The triggers' numbers.
        numbers: Vec<usize>,
    },
    /// The machine has reached the time up to which it was to run.
    Time,
    /// The user requested it.
    Interrupted,
    /// The run is over, or can't continue.
    Ended(Outcome),
}

/// A debugger's requests, and their progress.
#[derive(Debug, Default)]
pub(super) struct Debugging {
    breaks: BTreeSet<u32>,
    step: Option<Stepping>,
    until: Option<Ps>,
    halt: Option<Halt>,
    ended: Option<Outcome>,
    /// The run so far is repeated: the machine halts where it waits for new input from the host.
    pub replays: bool,
    /// Whether polling loops are skipped, if the user has chosen.
    pub skips_polling: Option<bool>,
}

/// A step in progress.
#[derive(Clone, Debug)]
struct Stepping {
    step: Step,
    /// Position at the start of the step; of a range, at the start of its last instruction.
    from: Option<Position>,
    /// An interrupt was taken: its handler runs until the core is back at `from`.
    in_handler: bool,
}

impl Stepping {
    /// The address at which a core continues after the handler that it runs within its step.
    fn returns_to(&self, core: usize) -> Option<u32> {
        let is_in_handler = self.in_handler && self.step.core == core;
        self.from.filter(|_| is_in_handler).map(|from| from.pc)
    }
}

/// True if nothing can run after such an end.
fn is_final(outcome: &Outcome) -> bool {
    matches!(outcome, Outcome::Exit(_) | Outcome::Fault(_) | Outcome::Script(_))
}

impl Debugging {
    /// The end of a debugged run.
    pub fn take_ended(&mut self) -> Option<Outcome> {
        self.ended.take()
    }

    /// Records the end of the run. After an end by the firmware, or a fault, every later run has ended, too: a limit
    /// and an interruption end only one run.
    pub fn keep_end(&mut self, outcome: &Outcome) {
        self.ended = Some(outcome).filter(|outcome| is_final(outcome)).cloned();
    }

    /// The end, for a snapshot.
    pub fn final_end(&self) -> Option<Outcome> {
        self.ended.clone().filter(is_final)
    }

    /// Sets the end from a snapshot.
    pub fn set_end(&mut self, outcome: Option<Outcome>) {
        self.ended = outcome;
    }

    /// True if the machine has to halt.
    pub fn is_halted(&self) -> bool {
        self.halt.is_some()
    }

    /// The time at which the machine halts; [`Ps::MAX`] if it halts for other reasons only.
    pub fn until(&self) -> Ps {
        self.until.unwrap_or(Ps::MAX)
    }

    /// Halts the machine if that time has come; true if so.
    pub fn halt_in_time(&mut self, now: Ps) -> bool {
        if now >= self.until() {
            self.halt.get_or_insert(Halt::Time);
        }
        self.is_halted()
    }

    /// Takes the reason of a halt, if there is one: the machine then continues.
    pub fn take_halt(&mut self) -> Option<Halt> {
        self.halt.take()
    }

    /// Halts the machine for a trigger, unless it halts for another reason.
    pub fn halt_for_trigger(&mut self, core: usize, number: usize) {
        if let Halt::Trigger { numbers, .. } = self.halt.get_or_insert(Halt::Trigger { core, numbers: Vec::new() }) {
            numbers.push(number);
        }
    }

    /// True if this core is being stepped.
    pub fn steps(&self, core: usize) -> bool {
        self.step.as_ref().is_some_and(|stepping| stepping.step.core == core)
    }
}

impl Machine {
    /// Makes all cores stop before instructions at these addresses, as each core sees them, and at no others.
    pub fn set_breaks(&mut self, breaks: BTreeSet<u32>) {
        if breaks != self.debugging.breaks {
            self.debugging.breaks.clone_from(&breaks);
            self.apply_breaks();
        }
    }

    /// Sets the debugger's breakpoints in all cores.
    pub(super) fn apply_breaks(&mut self) {
        (0..self.cores.len()).for_each(|core| self.apply_breaks_of(core));
    }

    pub(super) fn apply_breaks_of(&mut self, core: usize) {
        // During a step, a running handler has a breakpoint of its own.
        let returns_to = self.debugging.step.as_ref().and_then(|stepping| stepping.returns_to(core));
        let all = self.debugging.breaks.iter().copied().chain(returns_to);
        self.cores[core].set_breaks(all.collect());
    }

    /// The breakpoints: see [`Machine::set_breaks`].
    pub fn breaks(&self) -> BTreeSet<u32> {
        self.debugging.breaks.clone()
    }

    /// The watchpoints: see [`Machine::set_watches`].
    pub fn watches(&self) -> Vec<Watch> {
        self.bus.watches.all().to_vec()
    }

    /// Watches these physical addresses, and no others. Returns those that can't be watched: see
    /// [`engine::bus::Bus::watch`].
    pub fn set_watches(&mut self, watches: Vec<Watch>) -> Vec<Watch> {
        let refused = self.bus.watch(watches);
        self.choose_skipping();
        refused
    }

    /// Skips polling loops if the user wants that, except where each iteration must be seen.
    pub(super) fn choose_skipping(&mut self) {
        let sees_all = self.bus.watches.has_device_reads() || self.triggers.see_iterations();
        let skips = self.debugging.skips_polling.unwrap_or(true) && !sees_all;
        self.cores.iter_mut().for_each(|core| core.skip_polling(skips));
    }

    /// Starts or continues the run until something halts the machine, at `until` at the latest: as [`Machine::run`],
    /// but its report comes from [`Machine::end_debugged`]. A run that has ended stays ended.
    pub fn resume(
        &mut self,
        step: Option<Step>,
        until: Option<Ps>,
        limit: Ps,
        mut pause: impl FnMut(&Printed) -> bool,
    ) -> Halt {
        if let Err(fault) = self.begin_or_fault() {
            return Halt::Ended(fault);
        }
        if let Some(outcome) = self.debugging.ended.clone() {
            return Halt::Ended(outcome);
        }
        self.debugging.step = step.map(|step| Stepping { step, from: None, in_handler: false });
        self.debugging.until = until;
        let halt = self.run_to_halt(limit, &mut pause);
        self.debugging.until = None;
        if let Some(stepping) = self.debugging.step.take().filter(|stepping| stepping.in_handler) {
            self.leave_handler(stepping.step.core);
        }
        if let Halt::Ended(outcome) = &halt {
            self.debugging.ended = Some(outcome.clone());
        }
        halt
    }

    fn run_to_halt(&mut self, limit: Ps, pause: Pause) -> Halt {
        loop {
            let ended = self.run_next_slice(limit, pause);
            let go_on = pause(&self.take_printed());
            if let Some(halt) = self.debugging.take_halt() {
                return halt;
            }
            match ended {
                Some(Outcome::Interrupted) => return Halt::Interrupted,
                Some(outcome) => return Halt::Ended(outcome),
                None if self.debugging.replays && self.bus.host.is_waiting() => return Halt::Interrupted,
                None if !go_on => return Halt::Interrupted,
                None => {}
            }
        }
    }

    /// Continues up to `until`, where the machine stops and may continue, or to the end of the run. Returns its report
    /// then. `pause` is as for [`Machine::run`].
    pub fn run_to(&mut self, until: Ps, mut pause: impl FnMut(&Printed) -> bool) -> Option<RunReport> {
        match self.resume(None, Some(until), Ps::MAX, &mut pause) {
            Halt::Ended(outcome) => Some(self.end(outcome, &mut pause)),
            Halt::Interrupted => Some(self.end(Outcome::Interrupted, &mut pause)),
            _ => None,
        }
    }

    /// Ends a debugged run: returns the report, as [`Machine::run`] does.
    pub fn end_debugged(&mut self, outcome: Outcome, mut pause: impl FnMut(&Printed) -> bool) -> RunReport {
        self.end(outcome, &mut pause)
    }

    /// The time at which cores stop, for a debugger or for triggers.
    pub(super) fn stops_at(&self) -> Ps {
        self.debugging.until().min(self.triggers.alarm())
    }

    /// Runs a core in its time slice up to `horizon`. Also returns [`Stop::Break`] if the machine halts at a time
    /// before that.
    pub(super) fn run_to_time(&mut self, core: usize, horizon: Ps, pause: Pause) -> Option<Stop> {
        let until = self.stops_at();
        if until >= horizon {
            return self.run_printing(core, horizon, pause);
        }
        let stop = self.run_printing(core, until, pause)?;
        let now = self.core_time(core);
        if until <= now && self.continues_in_time_slice(&stop, now, horizon) {
            self.debugging.halt_in_time(now);
            return Some(Stop::Break);
        }
        Some(stop)
    }

    /// True if a stopped core would continue its time slice up to `horizon`: it stopped only for a debugger.
    fn continues_in_time_slice(&self, stop: &Stop, now: Ps, horizon: Ps) -> bool {
        *stop == Stop::Horizon
            && now < horizon
            && self.bus.next_stop() > now
            && !self.bus.order.wants()
            && !self.bus.clocks.are_pending()
            && self.bus.exit.is_none()
    }

    /// A core has stopped for a debugger, or for triggers, in its time slice up to `horizon`. False if it continues.
    pub(super) fn halt_in_time_slice(&mut self, core: usize, horizon: Ps) -> bool {
        self.time_slice = Some(TimeSlice::new(core, horizon));
        let is_at_break = self.cores[core].take_break();
        if self.debugging.halt.is_none() {
            // The handler during a step has a breakpoint of its own.
            let is_users = is_at_break && self.debugging.breaks.contains(&self.cores[core].position().pc);
            let halt = self.take_watch_halt(core).or(is_users.then_some(Halt::Break { core }));
            self.debugging.halt = halt;
        }
        if self.triggers.are_set() {
            self.evaluate_triggers(core);
        }
        if !self.debugging.is_halted() {
            self.time_slice = None;
        }
        self.debugging.is_halted()
    }

    /// A watched access happened while no core ran: the machine halts before core `next` continues.
    pub(super) fn halt_for_watch(&mut self, next: usize) -> bool {
        if self.bus.watches.are_hit() {
            self.debugging.halt = self.take_watch_halt(next);
        }
        self.debugging.is_halted()
    }

    fn take_watch_halt(&mut self, core: usize) -> Option<Halt> {
        let hit = self.bus.watches.take_hits().into_iter().next()?;
        Some(Halt::Watch { core: hit.core.unwrap_or(core), hit })
    }

    /// Runs the core that is being stepped, up to `horizon`. Returns [`Stop::Break`] when the step is done, or
    /// something else halts it.
    pub(super) fn run_stepped(&mut self, core: usize, horizon: Ps, pause: Pause) -> Option<Stop> {
        let mut stepping = self.debugging.step.take()?;
        let stop = loop {
            if stepping.in_handler {
                match self.run_printing(core, horizon, pause) {
                    Some(Stop::Break) if self.is_back(core, &mut stepping) => {}
                    stop => break stop,
                }
                continue;
            }
            let from = *stepping.from.get_or_insert_with(|| self.cores[core].position());
            let before = self.core_time(core);
            let stop = self.cores[core].step_until(&mut self.bus, horizon);
            let now = self.cores[core].position();
            if now.instructions != from.instructions {
                stepping.from = None;
                if stop == Stop::Horizon && self.step_continues(&stepping.step, now) {
                    if self.has_to_evaluate(self.core_time(core)) || self.cores[core].has_changed_calls() {
                        break Some(Stop::Break);
                    }
                    continue;
                }
                break Some(self.stepped(core, stop));
            }
            if now.interrupts == from.interrupts || now.is_between {
                // An exception was entered, for example: others run no sooner than without a debugger.
                let time = self.core_time(core);
                if time > before && self.continues_in_time_slice(&stop, time, horizon) {
                    continue;
                }
                break Some(stop);
            }
            if stepping.step.into_handlers {
                break Some(self.stepped(core, stop));
            }
            stepping.in_handler = true;
            let breaks = self.debugging.breaks.iter().copied().chain([from.pc]).collect();
            self.cores[core].set_breaks(breaks);
        };
        self.debugging.step = Some(stepping);
        stop
    }

    /// The core stopped while an interrupt's handler ran. True if it has to continue: it is back where it was
    /// interrupted, or at the same address in another call.
    fn is_back(&mut self, core: usize, stepping: &mut Stepping) -> bool {
        let (now, from) = (self.cores[core].position(), stepping.from);
        let at = |from: Position| now.pc == from.pc && !self.bus.watches.are_hit();
        let Some(from) = from.filter(|from| at(*from)) else { return false };
        self.cores[core].take_break();
        if now.sp == from.sp {
            (stepping.in_handler, stepping.from) = (false, None);
            self.leave_handler(core);
        }
        now.sp == from.sp || !self.debugging.breaks.contains(&now.pc)
    }

    /// Removes the breakpoint at the return address of an interrupt's handler.
    fn leave_handler(&mut self, core: usize) {
        self.apply_breaks_of(core);
    }

    /// True if a step continues after an instruction.
    fn step_continues(&self, step: &Step, now: Position) -> bool {
        let is_in_range = step.range.is_some_and(|(first, end)| first <= now.pc && now.pc < end);
        let is_stopped = self.bus.watches.are_hit() || self.debugging.breaks.contains(&now.pc);
        now.is_between || is_in_range && !is_stopped
    }

    /// Completes a step, unless its instruction has ended the run.
    fn stepped(&mut self, core: usize, stop: Stop) -> Stop {
        if matches!(stop, Stop::Exit(_) | Stop::Fault(_)) {
            return stop;
        }
        let halt = self.take_watch_halt(core).unwrap_or(Halt::Stepped { core });
        self.debugging.halt = Some(halt);
        Stop::Break
    }
}

//! A core's reports to its calls ([`super::calls`]), where they are followed.

use std::collections::BTreeSet;

use super::Cpu;
use super::block::TAKEN;
use super::calls::{Calls, Flow, Reached, TaskSwitch};
use super::isa::Isa;
use super::memory_system::Mmu as _;
use super::profiler::linux::Words;
use super::shell::Shell;
use crate::bus::Bus;
use crate::event_rates::Source;
use crate::observe::profile::Functions;

impl Shell {
    /// Follows calls from now on, in code with these functions. True if less was known before: then code has to be
    /// compiled anew.
    pub fn follow_calls(&mut self, functions: &Functions, address_mask: u32) -> bool {
        let begins = self.calls.is_none();
        let calls = self.calls.get_or_insert_with(|| Box::new(Calls::new(address_mask)));
        calls.know(functions) || begins
    }

    /// Counts the calls of `functions`, and of no others. True if code has to be compiled anew.
    pub fn asks_for_calls(&mut self, functions: &BTreeSet<u32>, address_mask: u32) -> bool {
        if functions.is_empty() && self.calls.is_none() {
            return false;
        }
        let entries: Vec<u32> = functions.iter().copied().collect();
        let compiles = self.follow_calls(&Functions { whole: entries.clone(), entries }, address_mask);
        let Some(calls) = &mut self.calls else { return compiles };
        let is_known = calls.is_asked_for(functions);
        calls.ask_for(functions);
        compiles || !is_known
    }

    /// True if a counted function has a call under way.
    pub fn is_in_call(&self, function: u32) -> bool {
        self.calls.as_ref().is_some_and(|calls| calls.are_under_way(function))
    }

    /// Follows the end of a block by a jump: see [`Calls::follow`].
    #[inline]
    pub fn follow_jump(&mut self, flow: Flow, return_pc: u32, target: u32, (sp, cycle): (u32, u64)) {
        let now = self.had(cycle);
        let Some(calls) = &mut self.calls else { return };
        calls.follow(&mut self.profile, (flow, return_pc), target, (sp, now));
        if let Some(profile) = &mut self.profile {
            profile.arrive(calls.here());
            self.counts = profile.counts();
        }
        let has_unnamed = self.profile.as_ref().is_some_and(|profile| profile.has_unnamed());
        if calls.has_news() || calls.have_reached_kernel() || has_unnamed {
            self.deadline.hold();
        }
    }

    /// Names a stack of calls that has just begun, before the core does anything else.
    #[inline(always)]
    pub fn name_task(&mut self, bus: &Bus) {
        if let Some(profile) = &mut self.profile
            && profile.has_unnamed()
        {
            profile.name_task(bus);
            self.deadline.release();
        }
    }

    /// False if the calls of a loaded snapshot are inconsistent.
    pub fn calls_are_sound(&self) -> bool {
        let (paths, interrupts) = self.profile.as_ref().map_or((0, 0), |profile| profile.counted());
        let sections = self.sections.sections.len();
        self.calls.as_ref().is_none_or(|calls| calls.are_sound(paths, interrupts, sections))
    }
}

impl<I: Isa> Cpu<I> {
    /// True if calls are followed.
    #[inline(always)]
    pub(crate) fn follows_calls(&self) -> bool {
        self.shell.calls.is_some()
    }

    /// True if the core is about to begin following calls.
    #[inline]
    pub(super) fn begin_calls(&mut self) -> bool {
        let now = self.shell.had(self.shell.cycles);
        let pc = I::address(self);
        let Shell { calls, profile, .. } = &mut self.shell;
        if !calls.as_mut().is_some_and(|calls| calls.begin(profile, pc, now)) {
            return false;
        }
        if let Some(profile) = profile {
            profile.last_pc = pc & I::ADDRESS_MASK;
        }
        self.shell.follow_path();
        self.settle_calls();
        true
    }

    /// Follows the exit of a block that has run to its end.
    #[cold]
    #[inline(never)]
    pub(super) fn follow_block(&mut self, index: u32, exit: usize) {
        self.profile_block(index, exit);
        if exit == TAKEN {
            let flow = I::flow(&self.blocks, index);
            let hot = &self.blocks.hot[index as usize];
            self.follow_flow(flow, hot.end_pc, hot.taken_pc);
        }
    }

    /// Follows a jump.
    pub(crate) fn follow_flow(&mut self, flow: Flow, return_pc: u32, target: u32) {
        let now = (self.x[I::SP], self.shell.cycles);
        self.shell.follow_jump(flow, return_pc, target, now);
    }

    /// Notes a decided jump, which follows a delay slot.
    pub(crate) fn decide_flow(&mut self, flow: Flow, return_pc: u32) {
        if let Some(calls) = &mut self.shell.calls {
            calls.decide(flow, return_pc);
        }
    }

    /// Follows the decided jump, if any, which has led to `target`.
    pub(crate) fn follow_decided(&mut self, target: u32) {
        let decided = self.shell.calls.as_mut().and_then(|calls| calls.take_decided());
        if let Some((flow, return_pc)) = decided {
            self.follow_flow(flow, return_pc, target);
        }
    }

    /// Accounts for the calls that have begun and ended, before the core does anything else.
    #[inline(always)]
    pub(crate) fn settle_calls(&mut self) {
        if self.shell.calls.as_ref().is_some_and(|calls| calls.has_news()) {
            self.settle_news();
        }
    }

    #[cold]
    #[inline(never)]
    fn settle_news(&mut self) {
        self.shell.deadline.release();
        let (arguments, totals) = (I::arguments(self), self.totals());
        self.shell.settle_news(arguments, &totals);
    }

    // ---- Exceptions

    /// Follows an exception, taken from the code at the core's address.
    pub(crate) fn follow_exception(&mut self, source: Source) {
        if !self.follows_calls() {
            return;
        }
        self.begin_calls();
        self.charge_last();
        let (pc, sp, now) = (I::address(self), self.x[I::SP], self.shell.had(self.shell.cycles));
        self.report_calls(|calls, profile| calls.exception(profile, source, (pc, sp), now));
    }

    /// Follows the start of this exception's handler; the exception has the frame of the exception taken last.
    pub(crate) fn follow_chained(&mut self, source: Source) {
        if !self.follows_calls() {
            return;
        }
        let now = self.shell.had(self.shell.cycles);
        self.report_calls(|calls, profile| calls.chain(profile, source, now));
        self.follow_handler();
    }

    /// Follows the start of the handler of the exception that was taken last.
    pub(crate) fn follow_handler(&mut self) {
        if !self.follows_calls() {
            return;
        }
        let (pc, now) = (I::address(self), self.shell.had(self.shell.cycles));
        self.charge(pc);
        self.report_calls(|calls, profile| calls.handler(profile, pc, now));
    }

    /// Follows an exception return.
    pub(crate) fn follow_exception_return(&mut self, bus: &Bus) {
        if !self.follows_calls() {
            return;
        }
        self.charge_last();
        let (pc, sp, now) = (I::address(self), self.x[I::SP], self.shell.had(self.shell.cycles));
        let is_privileged = self.isa.mmu().is_privileged();
        self.report_calls(|calls, profile| {
            if calls.have_kernel() {
                return calls.return_in_kernel(profile, (pc, sp), is_privileged, now);
            }
            profile.iter_mut().for_each(|profile| profile.look_at_task(bus));
            calls.exception_return(profile, pc, sp, now);
            profile.iter_mut().for_each(|profile| profile.leave_unnamed());
        });
    }

    // ---- A kernel's own tasks

    /// Looks at the kernel's task or module, where the core has just called a function that says more of it.
    #[inline(always)]
    pub(super) fn meet_kernel(&mut self, bus: &Bus) {
        if self.shell.calls.as_ref().is_some_and(|calls| calls.have_reached_kernel()) {
            self.look_at_kernel(bus);
        }
    }

    #[cold]
    #[inline(never)]
    fn look_at_kernel(&mut self, bus: &Bus) {
        self.shell.deadline.release();
        let arguments = I::arguments(self);
        let Shell { calls: Some(calls), profile, .. } = &mut self.shell else { return };
        let reached = calls.take_reached();
        let Some(profile) = profile else {
            if reached == Some(Reached::Switch) {
                let [_, before, next, _] = arguments;
                calls.expect_switch(TaskSwitch { from: Some(before), to: next });
            }
            return;
        };
        let Some((linux, paths)) = profile.linux() else { return };
        let memory = Words { view: self.isa.mmu(), bus };
        let loaded = match reached {
            Some(Reached::Switch) => {
                let (switch, loaded) = linux.switch(arguments, paths, &memory);
                if let Some(switch) = switch {
                    calls.expect_switch(switch);
                }
                loaded
            }
            Some(Reached::Load) => linux.load(arguments[0], paths, &memory),
            None => return,
        };
        if !loaded.is_empty() {
            calls.know(&Functions { entries: loaded.clone(), whole: loaded });
        }
    }

    /// Names the tasks of a kernel as they are called now.
    pub(super) fn name_tasks(&mut self, bus: &Bus) {
        let memory = Words { view: self.isa.mmu(), bus };
        if let Some((linux, _)) = self.shell.profile.as_mut().and_then(|profile| profile.linux()) {
            linux.name_tasks(&memory);
        }
    }

    fn report_calls(&mut self, report: impl FnOnce(&mut Calls, &mut Option<Box<super::profiler::Profile>>)) {
        let Shell { calls, profile, .. } = &mut self.shell;
        if let Some(calls) = calls {
            report(calls, profile);
        }
        self.shell.follow_path();
        self.settle_calls();
    }
}

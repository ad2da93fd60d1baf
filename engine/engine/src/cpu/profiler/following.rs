//! Reports of a core with blocks to its profile.

use std::sync::Arc;

use super::counters::{MOST_COUNTERS, Step, What};
use super::{Profile, Seen};
use crate::cpu::Cpu;
use crate::cpu::block::{FALLEN, TAKEN};
use crate::cpu::cost::Breakdown;
use crate::cpu::isa::Isa;
use crate::cpu::shell::Shell;
use crate::observe::profile::ProfileOptions;

impl Shell {
    /// Charges the cycles that the core has spent, and accesses have taken, to the instruction at `pc`.
    #[inline]
    pub fn charge(&mut self, pc: u32, memory: &mut crate::cpu::memory_system::Accounts) {
        if let Some(profile) = &mut self.profile {
            profile.charge(pc, &self.fixed, &self.spent, memory);
        }
    }

    /// Starts a profile; `seen` has the core's sums up to now. False if the host has no memory for it.
    pub fn begin_profile(&mut self, options: &ProfileOptions, address_mask: u32, seen: Seen) -> bool {
        let now = self.had(self.cycles);
        self.follow_calls(&options.functions, address_mask);
        self.profile = Profile::new(options, seen, now).map(Box::new);
        if let Some(profile) = &mut self.profile {
            profile.follow_rates(&self.rates);
            let task = profile.first_task();
            self.calls.iter_mut().for_each(|calls| {
                calls.begin_profile(task);
                calls.follow_kernel(options.linux.as_ref());
            });
        }
        self.follow_path();
        self.profile.is_some()
    }

    /// Makes compiled code count on the core's current path.
    #[inline]
    pub fn follow_path(&mut self) {
        let here = self.calls.as_ref().map_or(0, |calls| calls.here());
        self.counts = self.profile.as_mut().map_or(std::ptr::null_mut(), |profile| {
            profile.arrive(here);
            profile.counts()
        });
    }
}

impl<I: Isa> Cpu<I> {
    /// Starts a profile.
    pub(crate) fn begin_profile(&mut self, options: &ProfileOptions) -> bool {
        self.drop_blocks();
        let memory = self.memory.accounts().clone();
        let seen = Seen { fixed: self.shell.fixed, spent: self.shell.spent, memory };
        let begun = self.shell.begin_profile(options, I::ADDRESS_MASK, seen);
        let how = self.host.how();
        self.host = crate::cpu::compile::HostCode::new(how);
        self.blocks.forget_code(0);
        begun
    }

    /// True if there is a profile.
    #[inline(always)]
    pub(crate) fn is_profiled(&self) -> bool {
        self.shell.profile.is_some()
    }

    /// Charges completed work to the instruction at `pc`.
    #[inline]
    pub(crate) fn charge(&mut self, pc: u32) {
        if self.is_profiled() {
            self.shell.charge(pc & I::ADDRESS_MASK, self.memory.accounts_mut());
        }
    }

    /// Charges completed work to the instruction of operation `at` of a block.
    #[inline]
    pub(crate) fn charge_at(&mut self, index: u32, at: u32) {
        if self.is_profiled() {
            let pc = self.pc_at(index, at);
            self.charge(pc);
        }
    }

    /// The address of the instruction of an operation.
    pub(crate) fn pc_at(&mut self, index: u32, at: u32) -> u32 {
        let count = self.blocks.info(index, at).instr;
        self.before(index, count).pc & I::ADDRESS_MASK
    }

    /// The address of the last instruction of a block.
    pub(crate) fn last_pc(&self, index: u32) -> u32 {
        let last = self.blocks.instrs_of(index).last();
        let end_pc = self.blocks.hot[index as usize].end_pc;
        end_pc.wrapping_sub(last.map_or(0, |last| I::instr_bytes(last))) & I::ADDRESS_MASK
    }

    /// Charges work outside of blocks to the previous instruction.
    pub(crate) fn charge_last(&mut self) {
        if !self.is_profiled() {
            return;
        }
        self.begin_calls();
        let last = self.shell.profile.as_ref().map_or(0, |profile| profile.last_pc);
        self.charge(last);
    }

    /// The numbers of the counters of a block's runs, by exit.
    fn counters_of(&mut self, index: u32) -> [u32; 2] {
        if let Some(counters) = self.blocks.cold[index as usize].counters {
            return counters;
        }
        let counters = [FALLEN, TAKEN].map(|exit| self.new_counter(index, exit));
        self.blocks.cold[index as usize].counters = Some(counters);
        counters
    }

    fn new_counter(&mut self, index: u32, exit: usize) -> u32 {
        let count = self.blocks.hot[index as usize].instructions;
        let whole = self.blocks.cold[index as usize].breakdown[exit];
        let steps = self.steps(index, count, whole);
        self.shell.profile.as_mut().map_or(0, |profile| profile.ran(steps))
    }

    /// The instructions of a block before number `count`, with the total cost `whole`.
    fn steps(&mut self, index: u32, count: u16, whole: Breakdown) -> Arc<[Step]> {
        let before = |core: &mut Self, number: u16| core.before(index, number);
        (0..count)
            .map(|number| {
                let (begins, pc) = (before(self, number).fixed, before(self, number).pc & I::ADDRESS_MASK);
                let ends = if number + 1 == count { whole } else { before(self, number + 1).fixed };
                let mut cost = Breakdown::default();
                cost.add_difference(ends, begins, 1);
                Step { pc, cost }
            })
            .collect()
    }

    /// Counts a block that has run to its end, and is left by `exit`.
    pub(crate) fn profile_block(&mut self, index: u32, exit: usize) {
        if !self.is_profiled() {
            return;
        }
        let counter = self.counters_of(index)[exit];
        let pc = self.last_pc(index);
        self.charge(pc);
        if let Some(profile) = &mut self.shell.profile {
            profile.count(counter, 1);
        }
    }

    /// Follows the end of compiled code after a block.
    #[inline]
    pub(crate) fn profile_left(&mut self, index: u32) {
        if self.is_profiled() {
            let last = self.last_pc(index);
            if let Some(profile) = &mut self.shell.profile {
                profile.last_pc = last;
            }
        }
    }

    /// Counts the instructions of a block before number `count`, at which it has been left.
    #[inline]
    pub(crate) fn profile_part(&mut self, index: u32, count: u16) {
        if self.is_profiled() && count > 0 {
            self.count_part(index, count, true);
        }
    }

    /// Reverts that count: the core resumes the block.
    #[inline]
    pub(crate) fn unprofile_part(&mut self, index: u32, count: u16) {
        if self.is_profiled() && count > 0 {
            self.count_part(index, count, false);
        }
    }

    #[cold]
    #[inline(never)]
    fn count_part(&mut self, index: u32, count: u16, ran: bool) {
        let fixed = self.before(index, count).fixed;
        let counter = self.counter_of_part(index, count, fixed);
        let last_pc = self.before(index, count - 1).pc & I::ADDRESS_MASK;
        let Some(profile) = &mut self.shell.profile else { return };
        if ran {
            profile.count(counter, 1);
            profile.seen.fixed.add_runs(fixed, 1);
        } else {
            profile.take_back(counter, 1);
            profile.seen.fixed.remove(fixed);
        }
        profile.last_pc = last_pc;
    }

    fn counter_of_part(&mut self, index: u32, count: u16, fixed: Breakdown) -> u32 {
        let parts = &mut self.blocks.cold[index as usize].part_counters;
        parts.resize(parts.len().max(usize::from(count) + 1), None);
        if let Some(counter) = parts[usize::from(count)] {
            return counter;
        }
        let steps = self.steps(index, count, fixed);
        let counter = self.shell.profile.as_mut().map_or(0, |profile| profile.ran(steps));
        self.blocks.cold[index as usize].part_counters[usize::from(count)] = Some(counter);
        counter
    }

    /// Counts instructions that are in the core's sums as `fixed`.
    pub(crate) fn profile_steps(&mut self, steps: Arc<[Step]>, fixed: Breakdown) {
        let last = steps.last().map(|step| step.pc);
        let Some(profile) = &mut self.shell.profile else { return };
        let counter = profile.ran(steps);
        profile.count(counter, 1);
        profile.seen.fixed.add_runs(fixed, 1);
        profile.last_pc = last.unwrap_or(profile.last_pc);
    }

    /// Counts an instruction at `pc` that ran outside of blocks; its cycles are in the core's sums.
    pub(crate) fn profile_instruction(&mut self, pc: u32) {
        let Some(profile) = &mut self.shell.profile else { return };
        profile.count_did(pc & I::ADDRESS_MASK, What::Ran);
        self.charge(pc);
    }

    /// Counts an annulled instruction, which its block counts as run.
    pub(crate) fn profile_annulled(&mut self, pc: u32) {
        let Some(profile) = &mut self.shell.profile else { return };
        profile.count_did(pc & I::ADDRESS_MASK, What::Annulled);
        self.charge(pc);
    }

    /// Called before the core's clock changes its rate.
    pub(crate) fn end_rate_of_profile(&mut self) {
        self.charge_last();
        if self.is_profiled() {
            self.drop_blocks();
        }
        if let Some(profile) = &mut self.shell.profile {
            profile.end_rate();
        }
    }

    // ---- For compiled code

    /// The number of the counter for compiled code where a block is left by `exit`.
    pub(crate) fn counter_of(&self, index: u32, exit: usize) -> Option<u32> {
        self.blocks.cold[index as usize].counters.map(|counters| counters[exit])
    }

    /// Requests counters for all blocks that are about to be compiled.
    pub(crate) fn prepare_counters(&mut self, members: impl Iterator<Item = u32>) {
        if self.is_profiled() {
            members.for_each(|index| {
                self.counters_of(index);
            });
        }
    }

    /// Restarts full counters: blocks that use their numbers have been dropped.
    pub(crate) fn begin_counters_anew(&mut self) {
        if let Some(profile) = &mut self.shell.profile {
            profile.begin_counters_anew();
        }
    }

    /// True if blocks have to be dropped before more counters are requested.
    pub(crate) fn are_counters_full(&self) -> bool {
        self.shell.profile.as_ref().is_some_and(|profile| profile.counters.borrow().are_full())
    }
}

const _: () = assert!(MOST_COUNTERS * size_of::<u64>() <= i32::MAX as usize);

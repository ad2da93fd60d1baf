//! Exits from a block: after it, or within it, where the core has to check for news before the next instruction.

use super::Cpu;
use super::block::{BeforeOf, Extent, FALLEN, NO_BLOCK, TAKEN};
use super::cost::Breakdown;
use super::isa::Isa;
use crate::bus::Bus;

/// The position where a core stopped: within a block, or before one.
#[derive(Clone, Copy, Debug)]
pub(super) struct Paused<I: Isa> {
    /// The block.
    pub index: u32,
    /// The next operation, which begins an instruction.
    pub at: u32,
    /// Instructions of the block that have run.
    count: u16,
    /// The state there.
    before: BeforeOf<I>,
}

impl<I: Isa> Cpu<I> {
    /// Ends a block that has run to its end and is left by `exit`: returns the next block, if it can be entered without
    /// a check. Otherwise the core's address is that after the block.
    #[inline(always)]
    pub(crate) fn next_block(&mut self, index: u32, exit: usize) -> Option<u32> {
        self.use_lines(index);
        let hot = &mut self.blocks.hot[index as usize];
        hot.runs[exit] += 1;
        self.shell.cycles = self.shell.cycles.wrapping_add(u64::from(hot.cycles[exit]));
        self.shell.instructions = self.shell.instructions.wrapping_add(u64::from(hot.instructions));
        let mut next = hot.links[exit];
        I::resolve(self, index, exit);
        if I::COMPILE_AFTER > 0 {
            let hot = &mut self.blocks.hot[index as usize];
            hot.runs_to_go = hot.runs_to_go.wrapping_sub(1);
            if hot.runs_to_go == 0 {
                self.compile(index);
            }
        }
        if self.follows_calls() {
            self.follow_block(index, exit);
        }
        if next == NO_BLOCK {
            next = if exit == TAKEN { self.blocks.settled_after(index) } else { NO_BLOCK };
            if next == NO_BLOCK {
                self.leave(index, exit, self.blocks.exit_pc(index, exit));
                return None;
            }
            let [from, to] = [index, next].map(|index| self.blocks.cold[index as usize].entry.context);
            if I::may_link(from, to) {
                self.blocks.link(index, exit, next);
            }
        }
        if !self.may_enter(next) && !self.may_begin(next) {
            self.stop_before(next);
            return None;
        }
        Some(next)
    }

    /// True if a block that may end after the limit can be entered all the same, and left where the limit may be
    /// reached. News that must be handled before the next block has brought the limit forward, so that no block begins.
    #[cold]
    #[inline(never)]
    pub(crate) fn may_begin(&mut self, index: u32) -> bool {
        I::CUTS_BLOCKS
            && self.patched.is_none()
            && self.shell.cycles < self.shell.deadline.limit
            && self.has_lines(index)
            && self.cut(index, 0)
    }

    /// Ends a block by an indirect jump to `target`, an address in the form that blocks use.
    #[inline(always)]
    pub(crate) fn jump_to(&mut self, index: u32, target: u32) {
        let hot = &mut self.blocks.hot[index as usize];
        hot.taken_pc = target;
        // The link of an indirect jump is a guess: the last target.
        let guess = hot.links[TAKEN];
        if guess != NO_BLOCK && self.blocks.hot[guess as usize].pc != target {
            self.blocks.hot[index as usize].links[TAKEN] = NO_BLOCK;
        }
    }

    /// Completes the last instruction of a block that was left before it.
    pub(crate) fn complete_last(&mut self, index: u32) {
        let cold = &self.blocks.cold[index as usize];
        let (cost, pending) = cold.last;
        let instr = self.blocks.instrs_of(index).last();
        self.shell.fixed.add(cost, instr.map(|instr| I::sort(instr, cold.fetch)).unwrap_or_default());
        self.shell.cycles += u64::from(cost.cycles());
        self.shell.instructions += 1;
        self.pending = pending;
        self.profile_instruction(self.last_pc(index));
    }

    /// Leaves a block by an exit that has no link.
    pub(crate) fn leave(&mut self, index: u32, exit: usize, pc: u32) {
        let cold = &self.blocks.cold[index as usize];
        self.pending = cold.pending[exit];
        let context = if exit == FALLEN { cold.context_after } else { I::context_of_target(self) };
        I::go_to(self, pc, context);
        self.left = self.isa.runs_blocks().then_some((index, exit));
    }

    /// Stops between two blocks.
    pub(crate) fn stop_before(&mut self, next: u32) {
        let pc = self.blocks.hot[next as usize].pc;
        let entry = &self.blocks.cold[next as usize].entry;
        self.pending = entry.pending;
        let context = entry.context;
        if I::CUTS_BLOCKS {
            let before = BeforeOf::<I> { fixed: Breakdown::default(), pending: entry.pending, pc, context };
            self.paused = Some(Paused { index: next, at: 0, count: 0, before });
        }
        I::go_to(self, pc, context);
    }

    /// Leaves the block after the instruction of operation `at`, which is not its last.
    pub(crate) fn leave_after(&mut self, index: u32, at: u32) {
        let first = self.blocks.hot[index as usize].first_op as usize;
        let infos = &self.blocks.infos[first..];
        let instr = infos[at as usize].instr;
        if instr + 1 == self.blocks.hot[index as usize].instructions {
            // Such a block ends there anyway; no other may be entered.
            if self.blocks.cold[index as usize].entry.extent != Extent::One {
                self.shell.deadline.limit = 0;
            }
            return;
        }
        let after = infos[at as usize..].iter().position(|info| info.instr != instr).unwrap_or(1);
        self.patch(first + at as usize + after);
    }

    /// Lets operation `at` wait for `cycles`, which [`Hot::longest_cycles`](super::block::Hot::longest_cycles)
    /// includes. A block that is to be left where the limit may be reached is left earlier now.
    #[inline]
    pub(crate) fn wait_in_block(&mut self, index: u32, at: u32, cycles: u64) {
        self.shell.cycles = self.shell.cycles.wrapping_add(cycles);
        self.charge_at(index, at);
        let longest = u64::from(self.blocks.hot[index as usize].longest_cycles);
        if cycles > 0 && self.shell.cycles.wrapping_add(longest) > self.shell.deadline.limit {
            self.leave_after(index, at);
        }
    }

    /// Leaves the block before operation `patch` (an index among all operations), or earlier, if that has been
    /// requested.
    pub(super) fn patch(&mut self, patch: usize) {
        if self.patched.is_some_and(|(before, _)| before <= patch) {
            return;
        }
        self.unpatch();
        self.patched = Some((patch, self.blocks.ops[patch]));
        // SAFETY: `patch` is one of the block's operations; the inner loop reads them through pointers only.
        unsafe { self.blocks.ops.as_mut_ptr().add(patch).write(I::leave_op()) };
    }

    /// Restores the operation that was replaced to leave the block.
    #[inline]
    pub(crate) fn unpatch(&mut self) {
        if let Some((patch, op)) = self.patched.take() {
            self.blocks.ops[patch] = op;
        }
    }

    /// Leaves the block before the instruction of operation `at`, which is [`Isa::leave_op`].
    pub(crate) fn leave_here(&mut self, index: u32, at: u32) {
        self.unpatch();
        self.pause(index, at);
    }

    /// Leaves a block before the instruction that begins with operation `at`, accounting for those that ran. The core
    /// may resume there.
    pub(super) fn pause(&mut self, index: u32, at: u32) {
        let count = self.blocks.info(index, at).instr;
        let before = self.before(index, count);
        self.leave_with(index, &before, count);
        if I::CUTS_BLOCKS {
            self.paused = Some(Paused { index, at, count, before });
        }
    }

    /// Leaves a block before its instruction number `count`, accounting for those that ran. It has been fetched.
    pub(crate) fn leave_in_the_middle(&mut self, index: u32, count: u16) {
        let before = self.before(index, count);
        self.leave_with(index, &before, count);
        if count < self.blocks.hot[index as usize].instructions {
            self.use_line_of_last(before.pc);
        }
    }

    #[inline(always)]
    fn leave_with(&mut self, index: u32, before: &BeforeOf<I>, count: u16) {
        self.use_lines_before(index, before.pc);
        self.shell.instructions += u64::from(count);
        self.shell.fixed.add_runs(before.fixed, 1);
        self.shell.cycles = self.shell.cycles.wrapping_add(before.fixed.cycles());
        self.pending = before.pending;
        self.left = None;
        self.profile_part(index, count);
        I::go_to(self, before.pc, before.context);
    }

    /// Resumes the block in which, or before which, the core stopped: the state is as if it had not stopped, apart from
    /// the limit. False, and nothing done, if the core is elsewhere by now, or has to check for news.
    #[inline]
    pub(super) fn goes_on_in(&mut self, paused: &Paused<I>) -> bool {
        let Paused { index, count, before, .. } = *paused;
        let stays = before.pc == I::address(self)
            && before.pending == self.pending
            && before.context == self.isa.context()
            && !self.blocks.is_uncached(index)
            && (!self.blocks.is_passing(index) || self.lines_are_there(index))
            // Calls are detected where blocks begin.
            && !self.shell.has_stops()
            && self.has_lines(index);
        if !stays {
            return false;
        }
        self.shell.instructions -= u64::from(count);
        self.shell.fixed.remove(before.fixed);
        self.shell.cycles = self.shell.cycles.wrapping_sub(before.fixed.cycles());
        self.unprofile_part(index, count);
        let longest = u64::from(self.blocks.hot[index as usize].longest_cycles);
        if self.shell.cycles.wrapping_add(longest) > self.shell.deadline.limit {
            self.cut(index, count);
        }
        true
    }

    /// The state before instruction number `count` of a block, or after its last.
    #[inline]
    pub(super) fn before(&mut self, index: u32, count: u16) -> BeforeOf<I> {
        if self.blocks.cold[index as usize].before.is_empty() {
            // The most frequent case: the last instruction always leaves the block.
            if count + 1 == self.blocks.hot[index as usize].instructions {
                return self.before_last(index);
            }
            self.work_out_before(index);
        }
        self.blocks.cold[index as usize].before[usize::from(count)]
    }

    fn before_last(&self, index: u32) -> BeforeOf<I> {
        let (hot, cold) = (&self.blocks.hot[index as usize], &self.blocks.cold[index as usize]);
        let (fixed, pending) = cold.before_last;
        let last = self.blocks.instrs_of(index).last();
        let pc = hot.end_pc.wrapping_sub(last.map_or(0, |last| I::instr_bytes(last)));
        let context = last.map_or(cold.entry.context, |last| I::context_before(last, cold.entry.context));
        BeforeOf::<I> { fixed, pending, pc, context }
    }

    #[cold]
    #[inline(never)]
    fn work_out_before(&mut self, index: u32) {
        let cold = &self.blocks.cold[index as usize];
        let (entry, fetch, instrs) = (cold.entry, cold.fetch, self.blocks.instrs_of(index));
        let (mut fixed, mut pending, mut pc) = (Breakdown::default(), entry.pending, entry.pc);
        let mut all = Vec::with_capacity(instrs.len() + 1);
        for instr in instrs {
            all.push(BeforeOf::<I> { fixed, pending, pc, context: I::context_before(instr, entry.context) });
            let cost = I::pass(&self.timing, instr, fetch, &mut pending);
            fixed.add(cost, I::sort(instr, fetch));
            pc = pc.wrapping_add(I::instr_bytes(instr));
        }
        all.push(BeforeOf::<I> { fixed, pending, pc, context: cold.context_after });
        self.blocks.cold[index as usize].before = all.into();
    }

    /// Raises the exception of the instruction of operation `at`, which has changed nothing. The block has been left,
    /// so this returns false.
    pub(crate) fn raise_at(&mut self, bus: &mut Bus, index: u32, at: u32, exception: I::Exception) -> bool {
        self.unpatch();
        let count = self.blocks.info(index, at).instr;
        self.leave_in_the_middle(index, count);
        I::raise(self, bus, exception);
        false
    }
}

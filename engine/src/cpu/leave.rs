//! How a block is left: behind it, or in its middle, where something needs a look before the next instruction.

use super::Cpu;
use super::block::{Extent, FALLEN, NO_BLOCK, TAKEN};
use super::isa::Isa;
use crate::bus::Bus;

impl<I: Isa> Cpu<I> {
    /// A block has run to its end and is left by `exit`: the block to run next, if it can be entered without a look.
    /// Else the core is behind the block.
    #[inline(always)]
    pub(crate) fn next_block(&mut self, index: u32, exit: usize) -> Option<u32> {
        let hot = &mut self.blocks.hot[index as usize];
        hot.runs[exit] += 1;
        self.shell.cycles = self.shell.cycles.wrapping_add(u64::from(hot.cycles[exit]));
        self.shell.instructions = self.shell.instructions.wrapping_add(u64::from(hot.instructions));
        let next = hot.links[exit];
        I::resolve(self, index, exit);
        if I::COMPILE_AFTER > 0 {
            let hot = &mut self.blocks.hot[index as usize];
            hot.runs_to_go = hot.runs_to_go.wrapping_sub(1);
            if hot.runs_to_go == 0 {
                self.compile(index);
            }
        }
        if next == NO_BLOCK {
            self.leave(index, exit, self.blocks.exit_pc(index, exit));
            return None;
        }
        if !self.may_enter(next) {
            self.stop_before(next);
            return None;
        }
        Some(next)
    }

    /// A block ends in an indirect jump to `target`, an address as blocks have it.
    #[inline(always)]
    pub(crate) fn jump_to(&mut self, index: u32, target: u32) {
        let hot = &mut self.blocks.hot[index as usize];
        hot.taken_pc = target;
        // The link of an indirect jump is a guess: the target of last time.
        let guess = hot.links[TAKEN];
        if guess != NO_BLOCK && self.blocks.hot[guess as usize].pc != target {
            self.blocks.hot[index as usize].links[TAKEN] = NO_BLOCK;
        }
    }

    /// The last instruction of a block, before which it was left, has been done after all.
    pub(crate) fn complete_last(&mut self, index: u32) {
        let cold = &self.blocks.cold[index as usize];
        let (cost, pending) = cold.last;
        let instr = self.blocks.instrs_of(index).last();
        self.shell.fixed.add(cost, instr.is_some_and(|instr| I::is_never_compiled(instr, cold.fetch)));
        self.shell.cycles += u64::from(cost.cycles());
        self.shell.instructions += 1;
        self.pending = pending;
    }

    /// Leaves a block by an exit that has no link.
    pub(crate) fn leave(&mut self, index: u32, exit: usize, pc: u32) {
        let cold = &self.blocks.cold[index as usize];
        self.pending = cold.pending[exit];
        let context = if exit == FALLEN { cold.context_behind } else { I::context_of_target(self) };
        I::go_to(self, pc, context);
        self.left = self.isa.runs_blocks().then_some((index, exit));
    }

    /// Stops between two blocks.
    pub(crate) fn stop_before(&mut self, next: u32) {
        let pc = self.blocks.hot[next as usize].pc;
        let entry = &self.blocks.cold[next as usize].entry;
        self.pending = entry.pending;
        let context = entry.context;
        I::go_to(self, pc, context);
    }

    /// Has the block left behind the instruction of operation `at`, which is in its middle.
    pub(crate) fn leave_behind(&mut self, index: u32, at: u32) {
        let first = self.blocks.hot[index as usize].first_op as usize;
        let infos = &self.blocks.infos[first..];
        let instr = infos[at as usize].instr;
        if instr + 1 == self.blocks.hot[index as usize].instructions {
            // The block ends there anyway; no other may be entered.
            if self.blocks.cold[index as usize].entry.extent != Extent::One {
                self.shell.deadline.limit = 0;
            }
            return;
        }
        let behind = infos[at as usize..].iter().position(|info| info.instr != instr).unwrap_or(1);
        self.patch(first + at as usize + behind);
    }

    /// Has the block left before operation `patch` of all, or before, if that has been asked for.
    pub(super) fn patch(&mut self, patch: usize) {
        if self.patched.is_some_and(|(before, _)| before <= patch) {
            return;
        }
        self.unpatch();
        self.patched = Some((patch, self.blocks.ops[patch]));
        // SAFETY: `patch` is one of the block's operations; the inner loop reads them through pointers only.
        unsafe { self.blocks.ops.as_mut_ptr().add(patch).write(I::leave_op()) };
    }

    /// Puts back the operation that had been replaced to leave the block.
    #[inline]
    pub(crate) fn unpatch(&mut self) {
        if let Some((patch, op)) = self.patched.take() {
            self.blocks.ops[patch] = op;
        }
    }

    /// The operation `at`, that of [`Isa::leave_op`], has been reached: leaves the block before its instruction.
    pub(crate) fn leave_here(&mut self, index: u32, at: u32) {
        self.unpatch();
        let instr = self.blocks.info(index, at).instr;
        self.leave_in_the_middle(index, instr);
    }

    /// Leaves a block before its instruction number `count`, accounting for those that ran.
    pub(crate) fn leave_in_the_middle(&mut self, index: u32, count: u16) {
        if count + 1 == self.blocks.hot[index as usize].instructions {
            return self.leave_before_last(index);
        }
        let cold = &self.blocks.cold[index as usize];
        let (mut pending, mut pc, mut context) = (cold.entry.pending, cold.entry.pc, cold.entry.context);
        for (number, instr) in self.blocks.instrs_of(index).iter().enumerate() {
            context = I::context_before(instr, cold.entry.context);
            if number == usize::from(count) {
                break;
            }
            let cost = I::pass(&self.timing, instr, cold.fetch, &mut pending);
            self.shell.fixed.add(cost, I::is_never_compiled(instr, cold.fetch));
            self.shell.cycles = self.shell.cycles.wrapping_add(u64::from(cost.cycles()));
            pc = pc.wrapping_add(I::instr_bytes(instr));
            context = cold.context_behind;
        }
        self.shell.instructions += u64::from(count);
        self.pending = pending;
        self.left = None;
        I::go_to(self, pc, context);
    }

    /// The same before the last instruction, for which all has been worked out.
    fn leave_before_last(&mut self, index: u32) {
        let (hot, cold) = (&self.blocks.hot[index as usize], &self.blocks.cold[index as usize]);
        let (fixed, pending) = cold.before_last;
        let Some(last) = self.blocks.instrs_of(index).last() else { return };
        let pc = hot.end_pc.wrapping_sub(I::instr_bytes(last));
        let context = I::context_before(last, cold.entry.context);
        self.shell.instructions += u64::from(hot.instructions - 1);
        self.shell.fixed.add_runs(fixed, 1);
        self.shell.cycles = self.shell.cycles.wrapping_add(fixed.cycles());
        self.pending = pending;
        self.left = None;
        I::go_to(self, pc, context);
    }

    /// Raises the exception of the instruction of operation `at`, which has changed nothing. The block has been left,
    /// so this is false.
    pub(crate) fn raise_at(&mut self, bus: &mut Bus, index: u32, at: u32, exception: I::Exception) -> bool {
        self.leave_here(index, at);
        I::raise(self, bus, exception);
        false
    }
}

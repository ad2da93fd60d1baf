//! The inner loop: runs blocks, one after the other, until the core has to check for news.

use super::alu::{self, hi_lo, match_operation};
use super::decoded::{Ending, OP_BYTES, flow, flow_of};
use super::faults::Raised;
use super::instruction_set::{Mips, MipsSet};
use super::op::{Code, HI, LO, Op};
use super::system::Exception;
use super::timing::Pending;
use crate::bus::Bus;
use crate::cpu::block::TAKEN;
use crate::cpu::compile::Resumed;
use crate::cpu::cost::Breakdown;
use crate::cpu::isa::{Isa as _, Pending as _};
use crate::cpu::profiler::counters::Step;

impl Mips {
    /// Runs the block `index`, whose first line has been fetched, and the blocks after it.
    pub(super) fn execute(&mut self, bus: &mut Bus, mut index: u32) {
        loop {
            let Some(resumed) = self.run_compiled(bus, index) else { return };
            index = resumed.index;
            if resumed.at > 0 {
                self.resume(resumed);
            }
            let first = self.blocks.hot[index as usize].first_op as usize + resumed.at;
            // SAFETY: each block's operations are in `ops` and end with two that leave the inner loop, so `ip`, and the
            // operation after it, stay within them; `ops` only grows outside this function.
            let mut ip = unsafe { self.blocks.ops.as_ptr().add(first) };
            // SAFETY: as above.
            let mut next = unsafe { *ip };
            // A branch sets the exit that is taken after its slot.
            let mut exit = resumed.exit;
            loop {
                let op = next;
                // The host has it loaded when this operation is done.
                // SAFETY: as above.
                (ip, next) = unsafe { (ip.add(1), *ip.add(1)) };
                let rd = usize::from(op.rd);
                let (a, b, imm) = (self.x[usize::from(op.rs)], self.x[usize::from(op.rt)], op.imm as u32);
                // Only slow paths need the operation's index in the block.
                macro_rules! at {
                    () => {
                        self.index_before(index, ip)
                    };
                }
                macro_rules! raise {
                    ($exception:expr) => {{
                        return self.raise_here(bus, index, at!(), $exception);
                    }};
                }
                macro_rules! load {
                    ($type:ty) => {{
                        let addr = a.wrapping_add(imm);
                        if let Some(value) = self.load_by_shortcut::<$type>(addr) {
                            self.x[rd] = value as u32;
                        } else if !self.load_slowly(bus, index, at!(), op, addr) {
                            return;
                        }
                    }};
                }
                macro_rules! load_part {
                    ($merge:path) => {{
                        let addr = a.wrapping_add(imm);
                        if let Some(word) = self.load_by_shortcut(addr & !3) {
                            self.x[rd] = $merge(addr, word, b);
                        } else if !self.load_slowly(bus, index, at!(), op, addr) {
                            return;
                        }
                    }};
                }
                macro_rules! store {
                    ($type:ty) => {{
                        let addr = a.wrapping_add(imm);
                        if !self.store_by_shortcut(addr, b as $type) && !self.store_slowly(bus, index, at!(), op, addr)
                        {
                            return;
                        }
                    }};
                }
                macro_rules! store_part {
                    ($merge:path) => {{
                        let addr = a.wrapping_add(imm);
                        if let Some(host) = self.memory.store_shortcut(addr & !3, 4) {
                            let host = host.cast::<u32>();
                            // SAFETY: a shortcut's line lies inside a RAM that lives as long as the machine.
                            unsafe { host.write_unaligned($merge(addr, host.read_unaligned(), b)) }
                        } else if !self.store_part_slowly(bus, index, at!(), op, addr) {
                            return;
                        }
                    }};
                }
                macro_rules! link {
                    () => {
                        self.x[rd] = self.branch_pc(index).wrapping_add(8)
                    };
                }
                // Sets the exit; the delay slot follows.
                macro_rules! branch {
                    ($taken:expr, $target:expr, $otherwise:ident) => {{
                        let pc = self.branch_pc(index);
                        let branch = Branch { pc, taken: $taken, target: $target };
                        exit = usize::from(branch.taken);
                        if self.isa.predictor.resolve(branch.pc, branch.taken, branch.target) {
                            if branch.taken && self.timing.taken_branch > 1 {
                                let extra_cycles = self.timing.taken_branch - 1;
                                self.shell.fixed.jump += u64::from(extra_cycles);
                                if !self.goes_on_after_branch(bus, index, at!(), branch, extra_cycles) {
                                    return;
                                }
                            }
                        } else {
                            let extra_cycles = self.timing.$otherwise;
                            self.mispredictions += 1;
                            self.shell.spent.mispredicted += u64::from(extra_cycles);
                            if !self.goes_on_after_branch(bus, index, at!(), branch, extra_cycles) {
                                return;
                            }
                        }
                        if self.blocks.hot[index as usize].jump == Ending::Branch {
                            return self.leave_after_branch(index, at!(), branch, 0);
                        }
                        self.isa.delayed = Some(if branch.taken { branch.target } else { branch.pc.wrapping_add(8) });
                    }};
                }
                let (hi, lo) = (usize::from(HI), usize::from(LO));
                match_operation! { (op.code, a, b, imm, self.x[rd], hi_lo(self.x[hi], self.x[lo]))
                    value => self.x[rd] = value,
                    checked => match checked {
                        Some(value) => self.x[rd] = value as u32,
                        None => raise!(Exception::Overflow),
                    },
                    product => {
                        (self.x[hi], self.x[lo]) = ((product >> 32) as u32, product as u32);
                    },
                    taken => {
                        if matches!(op.code, Code::Bltzal | Code::Bgezal) {
                            link!();
                        }
                        branch!(taken, imm, mispredicted_branch);
                    },
                    taken => {
                        if matches!(op.code, Code::Bltzall | Code::Bgezall) {
                            link!();
                        }
                        branch!(taken, imm, mispredicted_branch);
                        if !taken {
                            self.annul(index);
                            break;
                        }
                    },
                    trapped => if trapped {
                        raise!(Exception::Trap)
                    },
                    Code::Lw => load!(u32),
                    Code::Lbu => load!(u8),
                    Code::Lb => load!(i8),
                    Code::Lhu => load!(u16),
                    Code::Lh => load!(i16),
                    Code::Sw => store!(u32),
                    Code::Sb => store!(u8),
                    Code::Sh => store!(u16),
                    Code::J | Code::Jal => {
                        if op.code == Code::Jal {
                            link!();
                        }
                        branch!(true, imm, unpredicted_jump);
                    }
                    Code::Jr | Code::Jalr => {
                        if op.code == Code::Jalr {
                            link!();
                        }
                        self.jump_to(index, a);
                        branch!(true, a, mispredicted_branch);
                    }
                    Code::Nop | Code::Pref => {}
                    Code::Lwl => load_part!(alu::load_left),
                    Code::Lwr => load_part!(alu::load_right),
                    Code::Swl => store_part!(alu::store_left),
                    Code::Swr => store_part!(alu::store_right),
                    Code::Ll => {
                        if !self.load_slowly(bus, index, at!(), op, a.wrapping_add(imm)) {
                            return;
                        }
                    }
                    Code::Sc => {
                        if !self.store_conditional(bus, index, at!(), op, a.wrapping_add(imm)) {
                            return;
                        }
                    }
                    Code::End => break,
                    _ => return self.system_instruction(bus, index, at!(), op),
                }
            }
            let delayed = self.isa.delayed.take();
            match self.next_block(index, exit) {
                Some(next) => index = next,
                None => {
                    // In a delay slot that ran by itself.
                    self.pc = delayed.unwrap_or(self.pc);
                    if delayed.is_some() {
                        self.follow_decided(self.pc);
                    }
                    return;
                }
            }
        }
    }

    /// Resumes a block that compiled code has left at an operation: if that is a delay slot, restores its branch.
    #[cold]
    pub(super) fn resume(&mut self, resumed: Resumed) {
        let Resumed { index, at, exit } = resumed;
        let branch = self.blocks.ops_from(index)[at - 1];
        if !branch.code.is_branch() {
            return;
        }
        let hot = &self.blocks.hot[index as usize];
        let target = if exit == TAKEN { hot.taken_pc } else { hot.end_pc };
        if matches!(branch.code, Code::Jr | Code::Jalr) {
            self.jump_to(index, target);
        }
        self.isa.delayed = Some(target);
    }

    /// The address of the branch that ends a block.
    #[inline(always)]
    fn branch_pc(&self, index: u32) -> u32 {
        let hot = &self.blocks.hot[index as usize];
        hot.end_pc.wrapping_sub(if hot.jump == Ending::Slot { 2 * OP_BYTES } else { OP_BYTES })
    }

    /// The index of the operation of a block that is before `after`, which points into its operations.
    #[cold]
    #[inline(never)]
    fn index_before(&self, index: u32, after: *const Op) -> u32 {
        ((after.addr() - self.blocks.ops_from(index).as_ptr().addr()) / size_of::<Op>()) as u32 - 1
    }

    /// Annuls the slot of a likely branch. The block's instructions include it, but not its time.
    #[cold]
    #[inline(never)]
    fn annul(&mut self, index: u32) {
        self.shell.cycles = self.shell.cycles.wrapping_add(1);
        self.shell.spent.annulled += 1;
        self.shell.instructions = self.shell.instructions.wrapping_sub(1);
        self.profile_annulled(self.branch_pc(index).wrapping_add(OP_BYTES));
    }

    /// Operation `at`, a branch, takes further cycles. False if the time of later instructions depends on them: then
    /// the block has been left there.
    #[cold]
    #[inline(never)]
    fn goes_on_after_branch(&mut self, bus: &Bus, index: u32, at: u32, branch: Branch, extra_cycles: u8) -> bool {
        self.shell.cycles = self.shell.cycles.wrapping_add(u64::from(extra_cycles));
        self.charge(branch.pc);
        let wait_effects = self.blocks.instrs_of(index)[at as usize].wait_effects[usize::from(branch.taken)];
        let alone = self.blocks.hot[index as usize].jump == Ending::Branch;
        if extra_cycles > 0 && (wait_effects.next || wait_effects.some && !bus.order.is_alone()) || alone {
            self.leave_after_branch(index, at, branch, extra_cycles);
            return false;
        }
        true
    }

    /// Leaves a block after operation `at`, a branch, whose extra cycles have been counted.
    #[inline(never)]
    fn leave_after_branch(&mut self, index: u32, at: u32, branch: Branch, extra_cycles: u8) {
        let annuls = self.blocks.instrs_of(index)[at as usize].op.code.is_likely() && !branch.taken;
        // A branch in a delay slot has no slot of its own.
        let in_slot = self.isa.delayed.take().is_some();
        self.leave_before(index, at + 1);
        self.pending.pass(extra_cycles.into());
        let target = if branch.taken { branch.target } else { branch.pc.wrapping_add(8) };
        if annuls {
            self.pass(1);
            self.shell.spent.annulled += 1;
            self.charge(branch.pc.wrapping_add(OP_BYTES));
        }
        if annuls || in_slot {
            self.pc = target;
        } else {
            self.isa.delayed = Some(target);
        }
        if branch.taken {
            self.decide_flow(flow_of(self.blocks.instrs_of(index)[at as usize].op.code), branch.pc.wrapping_add(8));
        }
        if in_slot {
            self.follow_decided(target);
        }
    }

    /// Leaves the block after operation `at`, which waited for memory for `waited_cycles`.
    pub(super) fn leave_after_access(&mut self, index: u32, at: u32, waited_cycles: u64) {
        let op = self.blocks.instrs_of(index)[at as usize].op;
        self.leave_before(index, at + 1);
        self.pending.wait(waited_cycles, op.code.is_load().then_some(op.rd));
        if at + 1 == u32::from(self.blocks.hot[index as usize].instructions) {
            // In a delay slot.
            let delayed = self.isa.delayed.take();
            self.pc = delayed.unwrap_or(self.pc);
            if let Some(target) = delayed {
                self.follow_slot(index, target);
            }
        }
    }

    /// Follows the delay slot that ends a block, after which the core is at `target`.
    fn follow_slot(&mut self, index: u32, target: u32) {
        let end_pc = self.blocks.hot[index as usize].end_pc;
        if self.follows_calls() && target != end_pc && self.blocks.hot[index as usize].jump == Ending::Slot {
            self.decide_flow(flow(&self.blocks, index), end_pc);
        }
        self.follow_decided(target);
    }

    /// Leaves a block before its instruction number `count`, which may be one past its last, accounting for those that
    /// ran. As [`crate::cpu::Cpu::leave_in_the_middle`], but it examines only instructions with results under way.
    fn leave_before(&mut self, index: u32, count: u32) {
        let pc = self.blocks.hot[index as usize].pc.wrapping_add(OP_BYTES * count);
        self.use_lines_before(index, pc);
        let instrs = self.blocks.instrs_of(index);
        let fetch = self.blocks.cold[index as usize].fetch;
        let (cycles, never_compiled) = match (instrs.get(count as usize), instrs.last()) {
            (Some(instr), _) => (instr.before_cycles, u64::from(instr.never_compiled_before)),
            (None, last) => {
                let before = last.map_or(0, |last| u64::from(last.never_compiled_before));
                let more = last.is_some_and(|last| MipsSet::is_never_compiled(last, fetch));
                (self.blocks.info(index, count).begins_cycles, before + u64::from(more))
            }
        };
        let begun = &instrs[..(count as usize + 1).min(instrs.len())];
        let clean = begun.iter().rposition(|instr| instr.clean);
        let mut pending = if clean.is_some() { Pending::NONE } else { self.blocks.cold[index as usize].entry.pending };
        for instr in &instrs[clean.unwrap_or(0)..count as usize] {
            self.timing.step(&instr.op, &mut pending);
        }
        (self.pending, self.left) = (pending, None);
        self.shell.cycles = self.shell.cycles.wrapping_add(u64::from(cycles));
        self.shell.instructions += u64::from(count);
        self.shell.fixed.issue += u64::from(count);
        self.shell.fixed.never_compiled += never_compiled;
        self.shell.fixed.operand_wait += u64::from(cycles) - u64::from(count);
        if self.is_profiled() {
            self.profile_before(index, count, cycles, never_compiled);
        }
        self.pc = pc;
    }

    /// Counts the instructions of a block up to number `count`, which took `cycles`.
    #[cold]
    fn profile_before(&mut self, index: u32, count: u32, cycles: u16, never_compiled: u64) {
        let start = self.blocks.hot[index as usize].pc;
        let befores = self.blocks.instrs_of(index).iter().take(count as usize).map(|instr| instr.before_cycles);
        let befores: Vec<u16> = befores.chain([cycles]).collect();
        let step = |(number, pair): (usize, &[u16])| {
            let operand_wait = u64::from(pair[1] - pair[0]) - 1;
            let cost = Breakdown { issue: 1, operand_wait, ..Breakdown::default() };
            Step { pc: start.wrapping_add(OP_BYTES * number as u32), cost }
        };
        let steps = befores.windows(2).enumerate().map(step).collect();
        let (issue, operand_wait) = (u64::from(count), u64::from(cycles) - u64::from(count));
        let fixed = Breakdown { issue, operand_wait, never_compiled, ..Breakdown::default() };
        self.profile_steps(steps, fixed);
    }

    /// As [`Cpu::leave_before`], for an instruction that ends by itself: it has waited for its operands, and taken its
    /// cycle, which has not been accounted for yet.
    pub(super) fn leave_at(&mut self, index: u32, at: u32) {
        self.leave_before(index, at);
        self.use_line_of_last(self.pc);
        let op = self.blocks.instrs_of(index)[at as usize].op;
        let stall_cycles = u64::from(self.pending.issue(&op));
        self.shell.cycles = self.shell.cycles.wrapping_add(stall_cycles + 1);
        self.shell.fixed.operand_wait += stall_cycles;
    }

    /// Raises the exception of operation `at`, which has changed nothing.
    #[cold]
    #[inline(never)]
    fn raise_here(&mut self, bus: &mut Bus, index: u32, at: u32, exception: Exception) {
        self.leave_at(index, at);
        self.shell.spent.exceptions += 1;
        self.raise(bus, Raised::of(exception));
    }
}

/// A branch whose direction is known.
#[derive(Clone, Copy)]
struct Branch {
    pc: u32,
    taken: bool,
    target: u32,
}

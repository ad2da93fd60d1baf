//! Code for a profile, if there is one: counts runs of blocks on the current call path, and charges the delays beyond a
//! block's static time. Where calls are followed, the code reports them, with or without a profile.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{InstBuilder, Value};
use std::mem::offset_of;

use super::HostCode;
use super::emit::{Emitter, own};
use crate::cpu::Cpu;
use crate::cpu::accounts::Spent;
use crate::cpu::block::TAKEN;
use crate::cpu::calls::{Calls, Flow, Light};
use crate::cpu::cost::Breakdown;
use crate::cpu::isa::Isa;
use crate::cpu::memory_system::plan::Plan;
use crate::cpu::memory_system::{Accounts, Part};
use crate::cpu::profiler::counters::{Cause, Own, What};
use crate::cpu::profiler::{Profile, Seen};

/// Lowest bit of the flow in the argument of [`follow`]; the address after the block is below it.
const FLOW_SHIFT: u32 = 32;

/// Follows a call or a return: `what` has the [`Flow`], and the address after the block.
extern "C" fn follow<I: Isa>(core: *mut Cpu<I>, what: u64, target: u32, sp: u32, cycles: u64) {
    // SAFETY: compiled code passes on the core that it got, which is borrowed exclusively meanwhile.
    let core = unsafe { &mut *core };
    let flow = match what >> FLOW_SHIFT {
        flow if flow == Flow::Call as u64 => Flow::Call,
        flow if flow == Flow::Jump as u64 => Flow::Jump,
        _ => Flow::On,
    };
    core.shell.follow_jump(flow, what as u32, target, (sp, cycles));
}

impl<I: Isa> Emitter<'_, I> {
    fn profile(&self) -> Option<&Profile> {
        self.cpu.shell.profile.as_deref()
    }

    /// The address of the instruction of operation `at` of the current block.
    pub fn pc_of(&self, at: u32) -> u32 {
        let count = usize::from(self.blocks().info(self.index, at).instr);
        let before = &self.blocks().instrs_of(self.index)[..count];
        let pc = self.blocks().hot[self.index as usize].pc & I::ADDRESS_MASK;
        before.iter().fold(pc, |pc, instr| pc.wrapping_add(I::instr_bytes(instr)))
    }

    /// Counts a complete run of the current block.
    pub(super) fn count_run(&mut self, exit: usize) {
        if let Some(counter) = self.cpu.counter_of(self.index, exit) {
            self.add_to_counter(counter, None);
        }
    }

    /// Adds `amount`, or 1, to a counter of the current path.
    fn add_to_counter(&mut self, counter: u32, amount: Option<Value>) {
        let counts = self.b.ins().load(I64, own(), self.core, offset_of!(Cpu<I>, shell.counts) as i32);
        self.add_to(counts, (counter as usize * size_of::<u64>()) as i32, amount);
    }

    fn add_to(&mut self, base: Value, offset: i32, amount: Option<Value>) {
        let sum = self.b.ins().load(I64, own(), base, offset);
        let sum = match amount {
            Some(amount) => self.b.ins().iadd(sum, amount),
            None => self.b.ins().iadd_imm(sum, 1),
        };
        self.b.ins().store(own(), sum, base, offset);
    }

    /// Follows the exit of the current block by `exit`, to `target` if the target is known only at run time.
    pub(super) fn follow_flow(&mut self, exit: usize, target: Option<Value>) {
        let Some(calls) = self.cpu.shell.calls.as_deref().filter(|_| exit == TAKEN) else { return };
        let flow = I::flow(self.blocks(), self.index);
        let hot = &self.blocks().hot[self.index as usize];
        let (end_pc, taken_pc) = (hot.end_pc, hot.taken_pc);
        if flow == Flow::On && !calls.is_function(taken_pc) {
            return;
        }
        let may_be_light = self.profile().is_none();
        if may_be_light && flow == Flow::Call && calls.is_unwatched(taken_pc) {
            let function = calls.function_at(taken_pc);
            return self.call_lightly(end_pc, (taken_pc, target), function);
        }
        if may_be_light
            && flow == Flow::Jump
            && let Some(target) = target
        {
            return self.return_lightly(end_pc, target);
        }
        self.report_flow(flow, end_pc, taken_pc, target);
    }

    fn report_flow(&mut self, flow: Flow, end_pc: u32, taken_pc: u32, target: Option<Value>) {
        let what = self.b.ins().iconst(I64, ((flow as u64) << FLOW_SHIFT | u64::from(end_pc)) as i64);
        let target = target.unwrap_or_else(|| self.b.ins().iconst(I32, i64::from(taken_pc as i32)));
        let sp = self.register(I::SP as u8);
        let cycles = self.b.use_var(self.cycles);
        let core = self.core;
        self.call(follow::<I> as *const () as usize, &[core, what, target, sp, cycles]);
    }

    /// The calls of the core, and the innermost call made by compiled code.
    fn innermost_light(&mut self) -> [Value; 2] {
        let calls = self.b.ins().load(I64, own(), self.core, offset_of!(Cpu<I>, shell.calls) as i32);
        let top = self.b.ins().load(I64, own(), calls, offset_of!(Calls, lights.top) as i32);
        [calls, top]
    }

    /// Emits `yes` where `condition` holds; otherwise, far from the hot path, reports the flow.
    fn or_report(&mut self, condition: Value, yes: impl FnOnce(&mut Self), report: impl FnOnce(&mut Self)) {
        let [light, looked_at] = self.fork(condition);
        let merged = self.b.create_block();
        self.b.set_cold_block(looked_at);
        self.b.switch_to_block(looked_at);
        report(self);
        self.b.ins().jump(merged, &[]);
        self.b.switch_to_block(light);
        yes(self);
        self.b.ins().jump(merged, &[]);
        self.b.seal_block(merged);
        self.b.switch_to_block(merged);
    }

    /// Calls an unwatched function, unless `target` differs from the last time: see
    /// [`Lights`](crate::cpu::calls::Lights).
    fn call_lightly(&mut self, end_pc: u32, (taken_pc, target): (u32, Option<Value>), function: u32) {
        let [calls, top] = self.innermost_light();
        let last = self.b.ins().load(I64, own(), calls, offset_of!(Calls, lights.last) as i32);
        let top_sp = self.b.ins().load(I32, own(), top, offset_of!(Light, sp) as i32);
        let sp = self.register(I::SP as u8);
        let below = self.b.ins().icmp(IntCC::UnsignedLessThan, sp, top_sp);
        let room = self.b.ins().icmp(IntCC::UnsignedLessThan, top, last);
        let mut may = self.b.ins().band(below, room);
        if let Some(target) = target {
            let same = self.b.ins().icmp_imm(IntCC::Equal, target, i64::from(taken_pc as i32));
            may = self.b.ins().band(may, same);
        }
        self.or_report(
            may,
            |this| {
                let constant = |this: &mut Self, value: u32| this.b.ins().iconst(I32, i64::from(value as i32));
                let next = this.b.ins().iadd_imm(top, Light::BYTES as i64);
                let (returns, function) = (constant(this, end_pc), constant(this, function));
                this.b.ins().store(own(), returns, next, offset_of!(Light, return_pc) as i32);
                this.b.ins().store(own(), sp, next, offset_of!(Light, sp) as i32);
                this.b.ins().store(own(), function, next, offset_of!(Light, function) as i32);
                this.b.ins().store(own(), next, calls, offset_of!(Calls, lights.top) as i32);
            },
            |this| this.report_flow(Flow::Call, end_pc, taken_pc, target),
        );
    }

    /// Emits a jump to `target`, which may be the return from such a call.
    fn return_lightly(&mut self, end_pc: u32, target: Value) {
        let [calls, top] = self.innermost_light();
        let returns = self.b.ins().load(I32, own(), top, offset_of!(Light, return_pc) as i32);
        let top_sp = self.b.ins().load(I32, own(), top, offset_of!(Light, sp) as i32);
        let sp = self.register(I::SP as u8);
        let same_pc = self.b.ins().icmp(IntCC::Equal, returns, target);
        let same_sp = self.b.ins().icmp(IntCC::Equal, top_sp, sp);
        let same = self.b.ins().band(same_pc, same_sp);
        self.or_report(
            same,
            |this| {
                let before = this.b.ins().iadd_imm(top, -(Light::BYTES as i64));
                this.b.ins().store(own(), before, calls, offset_of!(Calls, lights.top) as i32);
            },
            |this| this.report_flow(Flow::Jump, end_pc, 0, Some(target)),
        );
    }

    // ---- Delays beyond a block's static time

    /// Charges `cycles` of the core to the cause `own` and the instruction at `pc`; they are not counted as passed yet.
    pub fn spend(&mut self, own: Own, cycles: i64, pc: u32) {
        let cycles = self.b.ins().iconst(I64, cycles);
        self.spend_value(own, cycles, pc);
    }

    /// As [`Emitter::spend`], for a value known only at run time.
    pub fn spend_value(&mut self, own: Own, cycles: Value, pc: u32) {
        let (in_core, in_seen) = places_of::<I>(own);
        self.add_to(self.core, in_core as i32, Some(cycles));
        self.charge(pc, Cause::Own(own), in_seen, cycles);
    }

    /// Counts an instruction of the block as annulled.
    pub fn count_annulled(&mut self, pc: u32) {
        if let Some(counter) = self.profile().map(|profile| profile.did(pc, What::Annulled)) {
            self.add_to_counter(counter, None);
        }
    }

    /// Charges the growth of one of the core's sums, which [`Seen`] has at an offset.
    fn charge(&mut self, pc: u32, cause: Cause, in_seen: usize, cycles: Value) {
        let Some(seen) = self.profile().map(|profile| (&raw const profile.seen).expose_provenance()) else { return };
        self.charge_at(pc, cause, seen + in_seen, cycles);
    }

    fn charge_at(&mut self, pc: u32, cause: Cause, seen_at: usize, cycles: Value) {
        let Some(counter) = self.profile().map(|profile| profile.did(pc, What::Spent(cause))) else { return };
        self.add_to_counter(counter, Some(cycles));
        let seen_at = self.b.ins().iconst(I64, seen_at as i64);
        self.add_to(seen_at, 0, Some(cycles));
    }

    /// Charges the wait of operation `at` for a part of the memory side, whose sum has grown.
    pub(super) fn charge_part(&mut self, at: u32, part: Part, cycles: Value) {
        let in_seen = offset_of!(Seen, memory) + Accounts::PARTS + part as usize * size_of::<u64>();
        self.charge(self.pc_of(at), Cause::Memory(part as u32), in_seen, cycles);
    }

    /// Charges the wait of the instruction at `pc` for a transfer by `plan`, unless it is 0 cycles.
    pub(super) fn charge_transfer(&mut self, pc: u32, plan: &Plan, waited: Value) {
        let Some(seen) = self.profile().and_then(|profile| profile.seen.memory.seen_at(plan.numbers)) else { return };
        let none = self.b.ins().icmp_imm(IntCC::Equal, waited, 0);
        self.rarely(none, |this| {
            for (place, seen_at) in seen.into_iter().enumerate().take(if plan.routed { 2 } else { 1 }) {
                let at = offset_of!(Cpu<I>, host) + HostCode::<I>::CHARGED + place * size_of::<u64>();
                let cycles = this.b.ins().load(I64, own(), this.core, at as i32);
                this.charge_at(pc, Cause::Memory(plan.numbers[place]), seen_at, cycles);
            }
            let outer = plan.outer_cycles.0 + plan.outer_cycles.1;
            if outer > 0 {
                let cycles = this.b.ins().iconst(I64, outer as i64);
                let in_seen = offset_of!(Seen, memory) + Accounts::PARTS + Part::Outer as usize * size_of::<u64>();
                this.charge(pc, Cause::Memory(Part::Outer as u32), in_seen, cycles);
            }
        });
    }
}

/// Offsets of a sum in the core and in [`Seen`].
fn places_of<I: Isa>(own: Own) -> (usize, usize) {
    let (fixed, spent) = (offset_of!(Cpu<I>, shell.fixed), offset_of!(Cpu<I>, shell.spent));
    let in_fixed = |part: usize| (fixed + part, offset_of!(Seen, fixed) + part);
    let in_spent = |part: usize| (spent + part, offset_of!(Seen, spent) + part);
    match own {
        Own::Issue => in_fixed(offset_of!(Breakdown, issue)),
        Own::OperandWait => in_fixed(offset_of!(Breakdown, operand_wait)),
        Own::LongOperation => in_fixed(offset_of!(Breakdown, long_operation)),
        Own::Jump => in_fixed(offset_of!(Breakdown, jump)),
        Own::Saved => in_spent(offset_of!(Spent, saved)),
        Own::Mispredicted => in_spent(offset_of!(Spent, mispredicted)),
        Own::Annulled => in_spent(offset_of!(Spent, annulled)),
        Own::Exceptions => in_spent(offset_of!(Spent, exceptions)),
        Own::Idle => in_spent(offset_of!(Spent, idle)),
    }
}

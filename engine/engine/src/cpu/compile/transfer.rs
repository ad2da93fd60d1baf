//! Transfers past the caches whose time is known, as host code: those with a plan of
//! [`crate::cpu::memory_system::plan`]. Most are functions, one for each kind, which regions call
//! ([`super::past_caches`]); lines of code are fetched in place.
//!
//! Such code does exactly what the interpreter does for a transfer that no event precedes and after which the block
//! still fits. In other cases it does nothing and reports that, and the interpreter's own function is called.

use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{I32, I64};
use cranelift_codegen::ir::{self, AbiParam, InstBuilder, MemFlags, Signature, Value};
use cranelift_codegen::isa::CallConv;
use cranelift_frontend::FunctionBuilder;
use std::marker::PhantomData;
use std::mem::offset_of;

use super::HostCode;
use super::compiler::Compiler;
use super::emit::own;
use crate::bus::repeated_reads::{ReadRecord, Stream};
use crate::cpu::Cpu;
use crate::cpu::isa::Isa;
use crate::cpu::memory_system::fetch::Chunk;
use crate::cpu::memory_system::plan::{MOST_CYCLES, Plan};
use crate::cpu::memory_system::{FetchPolicy, Memory, Part, Via};
use crate::memory::dram::Dram;
use crate::memory::ram::Direction;

/// More than several registers take.
const FAR_BYTES: u32 = 64;

/// Functions for a region's accesses past the caches.
#[derive(Clone, Copy, Debug, Default)]
pub struct Transfers {
    /// Fetches, with the plan that they were made for. Chunks: for a block's start, and for a chunk that the core does
    /// not hold. Words: for an instruction's only or first word, and for its second.
    pub fetch: Option<(Plan, [usize; 2])>,
    /// A fetch of a line that no cache keeps.
    pub line: Option<Plan>,
    /// A load, and a store: of one register, and of several in the same 32 bytes.
    pub data: [Option<(Plan, [usize; 2])>; 2],
}

/// Signature of all of them: the core, the cycle in which the transfer begins, the most cycles of the block after the
/// transfer, what is transferred (a chunk or word of instructions; an address), and more about it (the instruction; the
/// size, minus 1).
pub fn signature() -> Signature {
    let mut signature = Signature::new(CallConv::PreserveAll);
    signature.params.extend([I64, I64, I64, I64, I32].map(AbiParam::new));
    signature
}

impl<I: Isa> Compiler<I> {
    /// Functions for a region whose first instruction is at `pc`.
    pub fn transfers(&mut self, memory: &Memory, pc: u32, via: Via) -> Transfers {
        let bytes = match memory.fetch_policy() {
            FetchPolicy::OnDemand => 4,
            FetchPolicy::Chunks(chunks) if chunks.ahead => 0,
            FetchPolicy::Chunks(chunks) => chunks.bytes,
        };
        let is_one_beat = (1..=Chunk::MOST_ALIGNED).contains(&bytes);
        let fetch = if is_one_beat { memory.plan_fetch(pc & !(bytes - 1), bytes) } else { None };
        // The data of code that is fetched through the cache, or at no cost, is mostly there, too.
        let data = [false, true].map(|store| fetch.and_then(|_| memory.plan_data(store)));
        let known = self.transfers;
        let same = |plan: Plan, known: Option<Plan>| known.is_some_and(|known| known.sums == plan.sums);
        Transfers {
            line: if via == Via::Passing { memory.plan_line(pc) } else { None },
            fetch: fetch.and_then(|plan| match known.fetch {
                Some(known) if same(plan, Some(known.0)) => Some(known),
                _ => Some((plan, [self.make_fetch(memory, &plan, true)?, self.make_fetch(memory, &plan, false)?])),
            }),
            data: [0, 1].map(|store| {
                let plan = data[store]?;
                match known.data[store] {
                    Some(known) if same(plan, Some(known.0)) => Some(known),
                    _ => Some((plan, [self.make_data(&plan)?, self.make_multiple(memory, &plan)?])),
                }
            }),
        }
    }

    fn make_fetch(&mut self, memory: &Memory, plan: &Plan, looks: bool) -> Option<usize> {
        let by_words = memory.fetch_policy() == FetchPolicy::OnDemand;
        self.make_transfer(|this, [begins, more, what, pc]| {
            let first = this.b.ins().ireduce(I32, what);
            let older = if by_words {
                Some(this.look_for_word(first, begins, looks))
            } else {
                if looks {
                    this.look_for_chunk(first, pc, begins);
                }
                None
            };
            let offset = this.b.ins().iadd_imm(first, -i64::from(plan.origin as i32));
            this.is_inside(plan, offset);
            let done = this.transfer(plan, begins, more, offset, None);
            match older {
                Some(newer) => {
                    this.store(Memory::WORDS, newer);
                    this.store(Memory::WORDS + 4, first);
                }
                None => this.store(Memory::CHUNK, what),
            }
            if let Some(record) = plan.record {
                let offset = this.b.ins().uextend(I64, offset);
                this.report(record, offset);
            }
            done
        })
    }

    fn make_data(&mut self, plan: &Plan) -> Option<usize> {
        let marks = plan.ram?.marks;
        self.make_transfer(|this, [begins, more, addr, size]| {
            let addr = this.b.ins().ireduce(I32, addr);
            let offset = this.b.ins().iadd_imm(addr, -i64::from(plan.origin as i32));
            this.is_inside(plan, offset);
            let odd = this.b.ins().band(addr, size);
            this.go_on_if_zero(odd);
            if plan.direction == Direction::Write {
                let mask = this.b.ins().bor_imm(size, 1);
                let mask = this.b.ins().uextend(I64, mask);
                this.has_no_code(marks, offset, mask);
            }
            this.all_stores_are_done(begins);
            this.transfer(plan, begins, more, offset, None)
        })
    }

    /// Address of the function for several registers; 0, which is no address, where the core moves them otherwise.
    fn make_multiple(&mut self, memory: &Memory, plan: &Plan) -> Option<usize> {
        let marks = plan.ram?.marks;
        if !memory.moves_words() {
            return Some(0);
        }
        self.make_transfer(|this, [begins, more, addr, words]| {
            let addr = this.b.ins().ireduce(I32, addr);
            let offset = this.b.ins().iadd_imm(addr, -i64::from(plan.origin as i32));
            let bytes = this.b.ins().ishl_imm(words, 2);
            let last = this.b.ins().iadd(addr, bytes);
            // All in the same 32 bytes, and some distance from the end of the memory.
            let other = this.b.ins().bxor(addr, last);
            let other = this.b.ins().band_imm(other, !31);
            let odd = this.b.ins().band_imm(addr, 3);
            let elsewhere = this.b.ins().bor(other, odd);
            this.go_on_if_zero(elsewhere);
            let far = this.b.ins().iadd_imm(offset, i64::from(FAR_BYTES));
            this.is_inside(plan, offset);
            this.is_inside(plan, far);
            if plan.direction == Direction::Write {
                let halves = this.b.ins().ishl_imm(words, 1);
                let halves = this.b.ins().uextend(I64, halves);
                let others = this.b.ins().iconst(I64, !3);
                let mask = this.b.ins().ishl(others, halves);
                let mask = this.b.ins().bnot(mask);
                this.has_no_code(marks, offset, mask);
            }
            this.all_stores_are_done(begins);
            this.transfer(plan, begins, more, offset, Some(words))
        })
    }

    fn make_transfer(&mut self, body: impl FnOnce(&mut Transfer<I>, [Value; 4]) -> Value) -> Option<usize> {
        let convention = self.isa.default_call_conv();
        self.context.func.signature = signature();
        let mut b = FunctionBuilder::new(&mut self.context.func, &mut self.builder);
        let entry = b.create_block();
        let out = b.create_block();
        b.append_block_params_for_function_params(entry);
        b.switch_to_block(entry);
        let &[core, begins, more, what, detail] = b.block_params(entry) else { return None };
        let profiles = self.profiles;
        let mut transfer =
            Transfer { b: &mut b, core, out, convention, profiles, free: None, line: None, of: PhantomData };
        let done = body(&mut transfer, [begins, more, what, detail]);
        transfer.end(done);
        transfer.b.switch_to_block(out);
        let nothing = transfer.b.ins().iconst(I64, 0);
        transfer.end(nothing);
        b.seal_all_blocks();
        b.finalize();
        self.finish()
    }
}

/// A line of instructions that is fetched.
#[derive(Clone, Copy, Debug)]
pub(super) struct WantedLine {
    /// Its size.
    pub bytes: u32,
    /// The words from the first wanted one to its end.
    pub words: u64,
    /// Its offset in the target.
    pub offset: u32,
}

/// Code of a transfer that is being made.
pub(super) struct Transfer<'a, 'f, I: Isa> {
    pub b: &'a mut FunctionBuilder<'f>,
    pub core: Value,
    /// Exit where nothing has been done.
    pub out: ir::Block,
    /// The host's calling convention.
    pub convention: CallConv,
    /// There is a profile, for which the cycles of transfers are recorded.
    pub profiles: bool,
    /// The edge from which the target is free, where that is known.
    pub free: Option<Value>,
    /// The line, if it is a fetch of one.
    pub line: Option<WantedLine>,
    pub of: PhantomData<I>,
}

impl<I: Isa> Transfer<'_, '_, I> {
    /// Fetches a line of code, after which the buffers have it and another one; returns the cycle in which it is
    /// complete.
    pub fn fetch_line(&mut self, plan: &Plan, lines: [Value; 2], offset: u32, begins: Value, more: Value) -> Value {
        let wide = self.b.ins().iconst(I64, i64::from(offset));
        if let Some(record) = plan.record {
            self.is_another_than_last(record, wide);
        }
        let offset = self.b.ins().iconst(I32, i64::from(offset as i32));
        let done = self.transfer(plan, begins, more, offset, None);
        for (slot, line) in lines.into_iter().enumerate() {
            self.store(Memory::PASSING + slot * size_of::<u32>(), line);
        }
        if let Some(record) = plan.record {
            self.report(record, wide);
        }
        done
    }

    fn load(&mut self, kind: ir::Type, part: usize) -> Value {
        self.b.ins().load(kind, own(), self.core, memory::<I>(part))
    }

    fn store(&mut self, part: usize, value: Value) {
        self.b.ins().store(own(), value, self.core, memory::<I>(part));
    }

    /// Ends the function: returns the cycle in which the answer arrives; 0 if nothing was done.
    fn end(&mut self, done: Value) {
        self.b.ins().store(own(), done, self.core, (offset_of!(Cpu<I>, host) + HostCode::<I>::DONE) as i32);
        self.b.ins().return_(&[]);
    }

    fn go_on_if(&mut self, condition: Value) {
        let on = self.b.create_block();
        self.b.ins().brif(condition, on, &[], self.out, &[]);
        self.b.seal_block(on);
        self.b.switch_to_block(on);
    }

    /// Ends the function, with an immediate answer, if `condition` holds.
    fn end_if(&mut self, condition: Value, begins: Value) {
        let [end, on] = [self.b.create_block(), self.b.create_block()];
        self.b.ins().brif(condition, end, &[], on, &[]);
        [end, on].into_iter().for_each(|block| self.b.seal_block(block));
        self.b.switch_to_block(end);
        self.end(begins);
        self.b.switch_to_block(on);
    }

    fn is_inside(&mut self, plan: &Plan, offset: Value) {
        let into = match plan.first_offset {
            0 => offset,
            first => self.b.ins().iadd_imm(offset, -i64::from(first as i32)),
        };
        let last = i64::from((plan.last_offset - plan.first_offset) as i32);
        let inside = self.b.ins().icmp_imm(IntCC::UnsignedLessThanOrEqual, into, last);
        self.go_on_if(inside);
    }

    /// Ends the function if the core holds the chunk that begins at `first` for the instruction at `pc`.
    fn look_for_chunk(&mut self, first: Value, pc: Value, begins: Value) {
        let granted = self.load(I32, Memory::GRANTED);
        let none = self.b.ins().icmp_imm(IntCC::Equal, granted, i64::from(Chunk::NONE.first));
        self.go_on_if(none);
        let (next, held) = (self.load(I32, Memory::NEXT_PC), self.load(I32, Memory::CHUNK));
        let flows = self.b.ins().icmp(IntCC::Equal, next, pc);
        let here = self.b.ins().icmp(IntCC::Equal, held, first);
        let has = self.b.ins().band(flows, here);
        self.end_if(has, begins);
    }

    /// Ends the function if the core holds the word at `addr`; else continues, and returns the word fetched last.
    /// Unless `addr` is the `only` word of its instruction, the word fetched last has to be the one before it.
    fn look_for_word(&mut self, addr: Value, begins: Value, only: bool) -> Value {
        let (older, newer) = (self.load(I32, Memory::WORDS), self.load(I32, Memory::WORDS + 4));
        if !only {
            let first = self.b.ins().iadd_imm(addr, -4);
            let has_first = self.b.ins().icmp(IntCC::Equal, newer, first);
            self.go_on_if(has_first);
        }
        let [is_older, is_newer] = [older, newer].map(|word| self.b.ins().icmp(IntCC::Equal, word, addr));
        let has = self.b.ins().bor(is_older, is_newer);
        self.end_if(has, begins);
        newer
    }

    /// Continues if a store hits no decoded instruction: it writes `halves` from `offset` on, all in the same 32 bytes.
    /// Otherwise the core must be notified.
    fn has_no_code(&mut self, marks: usize, offset: Value, halves: Value) {
        let offset = self.b.ins().uextend(I64, offset);
        let word = self.b.ins().ushr_imm(offset, 6);
        let word = self.b.ins().ishl_imm(word, 2);
        let at = self.b.ins().iadd_imm(word, marks as i64);
        let word = self.b.ins().uload32(other(), at, 0);
        let half = self.b.ins().ushr_imm(offset, 1);
        let half = self.b.ins().band_imm(half, 31);
        let marked = self.b.ins().ushr(word, half);
        let marked = self.b.ins().band(marked, halves);
        self.go_on_if_zero(marked);
    }

    /// Continues if all earlier stores are complete: only then a transfer begins.
    fn all_stores_are_done(&mut self, begins: Value) {
        let stored = self.load(I64, Memory::ALL_STORED);
        let are = self.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, stored, begins);
        self.go_on_if(are);
    }

    fn go_on_if_zero(&mut self, value: Value) {
        let is_zero = self.b.ins().icmp_imm(IntCC::Equal, value, 0);
        self.go_on_if(is_zero);
    }

    /// A transfer that begins in cycle `begins`, after which the block may take `more` cycles: of the plan's size, or
    /// of the given number of words beyond one. Returns the cycle of its answer.
    fn transfer(&mut self, plan: &Plan, begins: Value, more: Value, offset: Value, words: Option<Value>) -> Value {
        let (steps, (there, back), [before, busy]) = (plan.steps, plan.outer_cycles, plan.cycles);
        let record = plan.record.map(|record| self.b.ins().iconst(I64, record as i64));
        if let Some(record) = record {
            let holds = self.b.ins().load(I64, other(), record, offset_of!(ReadRecord, holds) as i32);
            self.go_on_if(holds);
        }
        let sent = self.plus(begins, there);
        let edge = if steps.ratio == 1 {
            sent
        } else {
            let up = self.plus(sent, steps.ratio - 1);
            let inverse = self.b.ins().iconst(I64, steps.inverse as i64);
            self.b.ins().umulhi(up, inverse)
        };
        let arrived = self.plus(edge, steps.request_cycles);
        let ready = self.plus(arrived, before);
        let free_at = self.b.ins().iconst(I64, plan.free_edge as i64);
        let free = self.free.unwrap_or_else(|| self.b.ins().load(I64, other(), free_at, 0));
        let line = record.zip(self.line);
        let asked = line.map_or(ready, |(record, line)| self.asked(record, line, ready));
        let start = self.b.ins().umax(asked, free);
        let words = words.map(|words| self.b.ins().uextend(I64, words));
        let mut free = match (record, words, plan.ram) {
            (Some(record), ..) => {
                let busy = self.b.ins().load(I64, other(), record, offset_of!(ReadRecord, busy_cycles) as i32);
                self.b.ins().iadd(start, busy)
            }
            (None, Some(words), Some(port)) => {
                let beats = self.times(words, port.timing.beat_cycles.0);
                let free = self.plus(start, busy);
                self.b.ins().iadd(free, beats)
            }
            _ => self.plus(start, busy),
        };
        let dram = plan.ram.and_then(|port| port.dram);
        // A line that was asked for early may have come before its instructions are due.
        let due = line.map(|_| self.plus(ready, plan.after_cycles.unsigned_abs()));
        let used = due.map_or(free, |due| self.b.ins().umax(free, due));
        let latest = self.plus(used, dram.map_or(0, |(_, longest)| longest));
        let [_, _, latest] = self.answer(plan, latest);
        self.is_in_time(latest, more, steps.ratio);
        if let Some((dram, _)) = dram {
            let beats = match words {
                Some(words) => self.b.ins().iadd_imm(words, 1),
                None => self.b.ins().iconst(I64, plan.beats as i64),
            };
            let waits = self.wait_for_dram(dram, start, offset, beats, plan.direction);
            free = self.b.ins().iadd(free, waits);
        }
        self.b.ins().store(other(), free, free_at, 0);
        self.free = Some(free);
        let used = if line.is_some() { used } else { free };
        let [answered, received, done] = self.answer(plan, used);
        if let Some((record, line)) = line {
            self.begin_stream(plan, record, line, [free, used]);
        }
        let total = self.b.ins().isub(received, sent);
        let at_target = if plan.routed {
            let edges = self.b.ins().isub(answered, arrived);
            self.times(edges, steps.ratio)
        } else {
            total
        };
        let on_the_way = self.b.ins().isub(total, at_target);
        for (sum, cycles) in plan.sums.into_iter().zip([Some(at_target), plan.routed.then_some(on_the_way)]) {
            if let Some(cycles) = cycles {
                let at = self.b.ins().iconst(I64, sum as i64);
                self.add(at, 0, cycles);
            }
        }
        if there + back > 0 {
            let cycles = self.b.ins().iconst(I64, (there + back) as i64);
            self.add(self.core, memory::<I>(Memory::sum_of(Part::Outer)), cycles);
        }
        for (place, cycles) in [at_target, on_the_way].into_iter().enumerate().filter(|_| self.profiles) {
            let at = offset_of!(Cpu<I>, host) + HostCode::<I>::CHARGED + place * size_of::<u64>();
            self.b.ins().store(own(), cycles, self.core, at as i32);
        }
        let (byte, bit) = plan.touched;
        let touched = self.load(I64, Memory::TOUCHED + byte);
        let touched = self.b.ins().bor_imm(touched, bit as i64);
        self.store(Memory::TOUCHED + byte, touched);
        done
    }

    /// The edge at which the core asks for a line whose instructions are due at the edge `due`: [`Stream::asked`].
    fn asked(&mut self, record: Value, line: WantedLine, due: Value) -> Value {
        let at = |part: usize| (offset_of!(ReadRecord, stream) + part) as i32;
        let [runs, may_ask, rate, longest] = [
            offset_of!(Stream, runs),
            offset_of!(Stream, may_ask),
            offset_of!(Stream, rate),
            offset_of!(Stream, longest),
        ]
        .map(|part| self.b.ins().load(I64, other(), record, at(part)));
        let last = self.b.ins().load(I64, other(), record, offset_of!(ReadRecord, last) as i32);
        let before = i64::from(line.offset) - i64::from(line.bytes);
        let follows = self.b.ins().icmp_imm(IntCC::Equal, last, before);
        let ran = self.b.ins().isub(due, runs);
        let short = self.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, ran, longest);
        let streams = self.b.ins().band(follows, short);
        let early = self.b.ins().imul(ran, rate);
        let early = self.b.ins().iadd_imm(early, (Stream::UNIT / 2) as i64);
        let early = self.b.ins().ushr_imm(early, i64::from(Stream::UNIT_BITS));
        let early = self.b.ins().iadd_imm(early, -(Stream::REQUEST_CYCLES as i64));
        let none = self.b.ins().iconst(I64, 0);
        let early = self.b.ins().smax(early, none);
        let busy = self.b.ins().load(I64, other(), record, offset_of!(ReadRecord, busy_cycles) as i32);
        let most = self.b.ins().iadd_imm(busy, -1);
        let early = self.b.ins().umin(early, most);
        let asked = self.b.ins().isub(due, early);
        let asked = self.b.ins().umax(asked, may_ask);
        let asked = self.b.ins().umin(asked, due);
        self.b.ins().select(streams, asked, due)
    }

    /// Records the [`Stream`] of a line after which the target is free from an edge on; the other edge is that of the
    /// answer, as such an edge.
    fn begin_stream(&mut self, plan: &Plan, record: Value, line: WantedLine, [free, used]: [Value; 2]) {
        let [arrived, runs] = [free, used].map(|edge| self.b.ins().iadd_imm(edge, plan.after_cycles));
        let may_ask = self.plus(arrived, line.words);
        let rate = self.b.ins().iconst(I64, Stream::rate(line.words, plan.words_ahead) as i64);
        let longest = self.b.ins().iconst(I64, Stream::longest(line.words) as i64);
        let parts = [
            (offset_of!(Stream, runs), runs),
            (offset_of!(Stream, may_ask), may_ask),
            (offset_of!(Stream, rate), rate),
            (offset_of!(Stream, longest), longest),
        ];
        for (part, value) in parts {
            self.b.ins().store(other(), value, record, (offset_of!(ReadRecord, stream) + part) as i32);
        }
    }

    /// For a target that is free from an edge on: the edge of its answer, the cycle in which the answer has crossed the
    /// interconnect, and the cycle in which the core has it.
    fn answer(&mut self, plan: &Plan, free: Value) -> [Value; 3] {
        let answered = match plan.after_cycles {
            0 => free,
            cycles => self.b.ins().iadd_imm(free, cycles),
        };
        let answer = self.plus(answered, plan.steps.response_cycles);
        let received = self.times(answer, plan.steps.ratio);
        [answered, received, self.plus(received, plan.outer_cycles.1)]
    }

    /// Cycles that an SDRAM adds to its port's time.
    fn wait_for_dram(&mut self, dram: usize, from: Value, offset: Value, beats: Value, direction: Direction) -> Value {
        let mut signature = Signature::new(self.convention);
        signature.params.extend([I64, I64, I32, I64].map(AbiParam::new));
        signature.returns.push(AbiParam::new(I64));
        let signature = self.b.import_signature(signature);
        let function = match direction {
            Direction::Read => dram_read as *const () as i64,
            Direction::Write => dram_write as *const () as i64,
        };
        let function = self.b.ins().iconst(I64, function);
        let dram = self.b.ins().iconst(I64, dram as i64);
        let call = self.b.ins().call_indirect(signature, function, &[dram, from, offset, beats]);
        self.b.inst_results(call)[0]
    }

    /// Continues if the block fits after a transfer that is answered in `done`, and that is before the next event; and,
    /// where the ratio of clocks is more than 1, if the quotient holds up to there.
    fn is_in_time(&mut self, done: Value, more: Value, ratio: u64) {
        let limit = offset_of!(Cpu<I>, shell.deadline.limit) as i32;
        let limit = self.b.ins().load(I64, own(), self.core, limit);
        let end = self.b.ins().iadd(done, more);
        let fits = self.b.ins().icmp(IntCC::UnsignedLessThanOrEqual, end, limit);
        self.go_on_if(fits);
        if ratio > 1 {
            let holds = self.b.ins().icmp_imm(IntCC::UnsignedLessThan, done, MOST_CYCLES as i64);
            self.go_on_if(holds);
        }
    }

    /// Continues if the last read was of another register.
    fn is_another_than_last(&mut self, record: usize, offset: Value) {
        let record = self.b.ins().iconst(I64, record as i64);
        let last = self.b.ins().load(I64, other(), record, offset_of!(ReadRecord, last) as i32);
        let other = self.b.ins().icmp(IntCC::NotEqual, last, offset);
        self.go_on_if(other);
    }

    /// Adds a read to a device's record.
    fn report(&mut self, record: usize, offset: Value) {
        let record = self.b.ins().iconst(I64, record as i64);
        let one = self.b.ins().iconst(I64, 1);
        self.add(record, offset_of!(ReadRecord, reads) as i32, one);
        self.b.ins().store(other(), offset, record, offset_of!(ReadRecord, last) as i32);
    }

    fn add(&mut self, base: Value, offset: i32, amount: Value) {
        let sum = self.b.ins().load(I64, other(), base, offset);
        let sum = self.b.ins().iadd(sum, amount);
        self.b.ins().store(other(), sum, base, offset);
    }

    fn plus(&mut self, value: Value, more: u64) -> Value {
        if more == 0 { value } else { self.b.ins().iadd_imm(value, more as i64) }
    }

    fn times(&mut self, value: Value, factor: u64) -> Value {
        if factor == 1 { value } else { self.b.ins().imul_imm(value, factor as i64) }
    }
}

/// Calls [`Dram::transfer`] for a read: the memory's address, time, offset, number of beats.
extern "C" fn dram_read(dram: *mut Dram, from: u64, offset: u32, beats: u64) -> u64 {
    // SAFETY: it is part of a RAM of the machine's, and nobody else uses that while compiled code runs.
    unsafe { &mut *dram }.transfer(from, offset, beats, Direction::Read)
}

/// As [`dram_read`], for a write.
extern "C" fn dram_write(dram: *mut Dram, from: u64, offset: u32, beats: u64) -> u64 {
    // SAFETY: as for reads.
    unsafe { &mut *dram }.transfer(from, offset, beats, Direction::Write)
}

/// Flags for accesses of memory that may be a part of the core.
pub(super) fn other() -> MemFlags {
    MemFlags::trusted()
}

/// Offset in the core of a part of its memory side.
pub(super) fn memory<I: Isa>(part: usize) -> i32 {
    (offset_of!(Cpu<I>, memory) + part) as i32
}

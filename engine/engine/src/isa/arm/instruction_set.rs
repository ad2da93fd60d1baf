//! An Arm core: the parts that its instruction sets add to the shared core ([`crate::cpu`]).

use super::access::moves;
use super::architecture::Profile;
use super::compile;
use super::config::CoreConfig;
use super::counting;
use super::debug;
use super::decoded::{self, Decoded};
use super::m_profile;
use super::op::{Code, Op};
use super::predictor::{Jump, Predictor};
use super::registers::{ADDRESS, OPERAND, SINK, SP};
use super::system::{Events, System};
use super::timing::{CoreTiming, Pending, accesses};
use super::{decode_a32, decode_t32};
use crate::bus::Bus;
use crate::bus::device::AccessSize;
use crate::core::debug::{Architecture, Register};
use crate::core::{Awaited, CallReport, Core};
use crate::cpu::Cpu;
use crate::cpu::block::{Blocks, Draft, EntryOf, TAKEN};
use crate::cpu::calls::Flow;
use crate::cpu::compile::{COMPILE_AFTER, Emitter, RegisterBits, Resumed, Value};
use crate::cpu::cost::Cost;
use crate::cpu::handlers::Nesting;
use crate::cpu::isa::{AbortOf, CauseNames, Isa};
use crate::cpu::memory_system::Via;
use crate::cpu::memory_system::access::how;
use crate::cpu::memory_system::fetch::pages::{PageNumber, UNTRANSLATED};
use crate::cpu::polling_loops::counting::Counting;
use crate::cpu::polling_loops::iteration::Iteration;
use crate::cpu::read::Read;
use crate::elf::Machine;
use crate::encoding::Encoding;
use crate::inputs::Inputs;
use crate::memory::line_buffers::Answer;
use crate::order::CoreStart;
use crate::state::State;

/// A core of the application profile.
pub type CortexA = Arm<System>;

/// A core of the microcontroller profile.
pub type CortexM = Arm<m_profile::System>;

/// A core of a profile.
pub type Arm<P> = Cpu<ArmSet<P>>;

/// A core of the application profile for a board.
///
/// It is made here so that its run loop is compiled in this crate, which is one unit, and in no other.
#[inline(never)]
pub fn cortex_a(config: CoreConfig) -> Box<dyn Core> {
    Box::new(CortexA::new(config))
}

/// A core of the microcontroller profile for a board.
///
/// It is made here so that its run loop is compiled in this crate, which is one unit, and in no other.
#[inline(never)]
pub fn cortex_m(config: CoreConfig<m_profile::SystemConfig>) -> Box<dyn Core> {
    Box::new(CortexM::new(config))
}

/// [`Op::rm`] of a [`Code::End`] that replaces the operation after an instruction, to leave the block there.
pub(super) const LEAVE: u8 = 1;

/// An Arm core's own state.
#[derive(Clone, PartialEq, State)]
pub struct ArmSet<P: Profile> {
    /// VFP registers, in words.
    pub(super) s: [u32; 64],
    pub(super) system: P,
    /// An exception entry or return under way.
    pub(super) flow: P::Flow,
    pub(super) predictor: Predictor,
    /// The general registers after an exception's entry: the link register identifies the instruction.
    pub(super) nesting: Nesting<[u32; 16]>,
    /// See [`Context::flash`].
    pub(super) flash: Answer,
    /// The page of code of the next instruction, when last looked up.
    #[state(skip)]
    pub(super) page: PageNumber,
}

/// State on which decoding depends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Context {
    /// ITSTATE.
    pub it: u8,
    /// In a privileged mode. Not part of the position at which the core continues.
    pub privileged: bool,
    /// How a flash interface answers, which determines how code is fetched. Not part of the position at which the core
    /// continues.
    pub flash: Answer,
    /// The page of code. Not part of the position at which the core continues.
    pub page: PageNumber,
}

impl<P: Profile> Isa for ArmSet<P> {
    type Config = P::Config;
    type Timing = CoreTiming;
    type Op = Op;
    type Instr = Decoded;
    type Context = Context;
    type Pending = Pending;
    type Jump = Jump;
    type Exception = P::Exception;
    type Mmu = P;
    type Lazy = compile::Lazy;

    const MACHINE: Machine = Machine::Arm;
    /// Without the T bit.
    const ADDRESS_MASK: u32 = !1;
    /// The general registers, and flags.
    const RESULTS: usize = 32;
    const SP: usize = SP as usize;
    const CAUSES: CauseNames = CauseNames {
        issue: "issue",
        operand_wait: "operand results",
        long_operation: "long operations",
        jump: "taken branches",
        mispredicted: "mispredicted branches",
        annulled: "",
        exceptions: P::EXCEPTIONS,
        idle: "wait for interrupt",
    };
    const FETCHES_IN_BLOCKS: bool = true;
    const CUTS_BLOCKS: bool = true;
    const COMPILE_AFTER: u16 = COMPILE_AFTER;
    const TRANSIENT: RegisterBits = compile::TRANSIENT;
    const LATE: RegisterBits = compile::LATE;

    fn new(config: &P::Config) -> ArmSet<P> {
        ArmSet {
            s: [0; 64],
            system: P::new(config.clone()),
            flow: P::Flow::default(),
            predictor: Predictor::default(),
            nesting: Nesting::default(),
            flash: Answer::Kept,
            page: UNTRANSLATED,
        }
    }

    #[inline(always)]
    fn mmu(&self) -> &P {
        &self.system
    }

    #[inline]
    fn context(&self) -> Context {
        let (it, privileged) = (self.system.state().it, self.system.is_privileged());
        Context { it, privileged, flash: self.flash, page: self.page }
    }

    #[inline(always)]
    fn page(context: &Context) -> PageNumber {
        context.page
    }

    #[inline(always)]
    fn is_apart(context: &Context) -> bool {
        P::WALKS && !context.privileged
    }

    #[inline(always)]
    fn locate(core: &mut Arm<P>, bus: &mut Bus) -> bool {
        !P::WALKS || core.find_page(bus)
    }

    /// With the T bit in bit 0.
    #[inline]
    fn address(core: &Arm<P>) -> u32 {
        core.pc | u32::from(core.isa.system.state().thumb)
    }

    #[inline]
    fn go_to(core: &mut Arm<P>, address: u32, context: Context) {
        core.pc = address & !1;
        core.isa.system.state_mut().thumb = address & 1 != 0;
        core.isa.system.state_mut().it = context.it;
    }

    #[inline]
    fn context_of_target(_core: &Arm<P>) -> Context {
        Context { it: 0, privileged: false, flash: Answer::Kept, page: UNTRANSLATED }
    }

    /// Within an IT block, instructions run one by one: their meaning depends on ITSTATE.
    #[inline]
    fn runs_blocks(&self) -> bool {
        self.system.state().it == 0
    }

    fn blocks_begin_in(context: Context) -> bool {
        context.it == 0
    }

    fn may_link(from: Context, to: Context) -> bool {
        (from.privileged, from.flash) == (to.privileged, to.flash) && Self::blocks_begin_in(to)
    }

    /// r0 to r3 (AAPCS, section 6.1.1).
    fn arguments(core: &Arm<P>) -> [u32; CallReport::REGISTERS] {
        [0, 1, 2, 3].map(|register: usize| core.x[register])
    }

    const ARCHITECTURE: Architecture = P::ARCHITECTURE;

    fn debug_registers(core: &Arm<P>, bus: &Bus) -> Vec<Register> {
        debug::registers(core, bus)
    }

    fn set_debug_register(core: &mut Arm<P>, bus: &mut Bus, number: usize, value: u64) -> bool {
        debug::set(core, bus, number, value)
    }

    fn peek_own(core: &Arm<P>, addr: u32, size: AccessSize) -> Option<u32> {
        P::peek_own(core, addr, size)
    }

    fn registers(core: &Arm<P>) -> Vec<u32> {
        let system = &core.isa.system;
        let general = std::iter::once(core.pc).chain(core.x[..15].iter().copied());
        let mut registers: Vec<u32> = general.chain([system.status(&core.x)]).collect();
        if system.features().vfp {
            registers.extend(core.isa.s);
            registers.push(system.fpscr());
        }
        registers
    }

    fn refuses_code(&self) -> Option<P::Exception> {
        self.system.wrong_state()
    }

    fn read_instr(core: &mut Arm<P>, bus: &mut Bus, read: &mut Read<Self>, at: u32) -> Result<bool, AbortOf<Self>> {
        let (first, it) = (read.ops.len(), read.context.it);
        let features = core.isa.system.features();
        let instr = if core.isa.system.state().thumb {
            let first = u16::from_le_bytes(core.code(bus, at)?);
            let long = first >> 11 >= 0b11101;
            let second = if long { u16::from_le_bytes(core.code(bus, at.wrapping_add(2))?) } else { 0 };
            decode_t32::decode(first, second, at, features, &mut read.context.it, &mut read.ops)
        } else {
            decode_a32::decode(u32::from_le_bytes(core.code(bus, at)?), at, features, &mut read.ops)
        };
        let decoded = Decoded::new(instr, &read.ops[first..], at, it, core.data_line_bytes);
        read.push(decoded, u32::from(instr.len_bytes));
        Ok(instr.ends_block)
    }

    fn draft(core: &Arm<P>, entry: EntryOf<Self>, fetch: Via, read: Read<Self>) -> Draft<Self> {
        let mut draft = decoded::draft(&core.timing, core.isa.system.predicts_branches(), entry, fetch, &read);
        let longest_grant_cycles = core.memory.longest_grant_cycles() as u16;
        draft.further_cycles = draft
            .ops
            .iter()
            .map(|op| match op.code {
                Code::Grant | Code::AwaitGrant => longest_grant_cycles,
                Code::OtherMemory => u16::from(op.ra),
                _ => 0,
            })
            .sum();
        draft
    }

    fn pass(timing: &CoreTiming, instr: &Decoded, fetch: Via, pending: &mut Pending) -> Cost {
        instr.pass(timing, fetch, pending)
    }

    #[inline(always)]
    fn follow_map(core: &mut Arm<P>) {
        P::follow_map(core);
    }

    fn is_sound(&self) -> bool {
        self.predictor.is_sound()
    }

    fn wait(pending: &mut Pending, cycles: u64) {
        pending.wait(cycles);
    }

    fn encoding(&self) -> Option<Encoding> {
        Some(if self.system.state().thumb { P::THUMB } else { Encoding::A32 })
    }

    fn flow(blocks: &Blocks<Self>, index: u32) -> Flow {
        blocks.instrs_of(index).last().map_or(Flow::On, Decoded::flow)
    }

    fn instr_bytes(instr: &Decoded) -> u32 {
        u32::from(instr.instr.len_bytes)
    }

    fn context_before(instr: &Decoded, entry: Context) -> Context {
        Context { it: instr.it, ..entry }
    }

    #[inline]
    fn execute(core: &mut Arm<P>, bus: &mut Bus, index: u32, at: usize) {
        core.execute(bus, index, at);
    }

    #[inline(always)]
    fn resolve(core: &mut Arm<P>, index: u32, exit: usize) {
        let hot = &core.blocks.hot[index as usize];
        if hot.jump != Jump::Sure
            && !core.isa.predictor.resolve(hot.jump, hot.end_pc, exit == TAKEN, hot.taken_pc, hot.end_pc)
        {
            core.mispredicted(u64::from(core.timing.mispredicted_branch));
        }
    }

    /// Decoding does not depend on the privilege, but the permissions of accesses do.
    #[inline]
    fn is_current(core: &Arm<P>, index: u32) -> bool {
        let context = core.blocks.cold[index as usize].entry.context;
        context.privileged == core.isa.system.is_privileged() && context.flash == core.isa.flash
    }

    /// A flash that is being programmed has wait states, and afterwards none again: code of both kinds is kept.
    fn follow_line_buffers(core: &mut Arm<P>, answer: Answer) -> bool {
        core.isa.flash = answer;
        true
    }

    fn accesses_memory(instr: &Decoded) -> bool {
        accesses(&instr.instr)
    }

    fn is_never_compiled(instr: &Decoded, fetch: Via) -> bool {
        fetch == Via::Uncached && !P::COMPILES_UNCACHED || instr.is_left
    }

    fn compiles(blocks: &Blocks<Self>, index: u32) -> bool {
        compile::compiles(blocks, index)
    }

    fn writes(op: &Op) -> RegisterBits {
        compile::writes(op)
    }

    fn kept_after(op: &Op) -> usize {
        compile::kept_after(op)
    }

    fn register_offset(register: u8) -> usize {
        compile::register_offset::<P>(register)
    }

    fn late_value(emitter: &mut Emitter<Self>, register: u8) -> Option<Value> {
        compile::late_value(emitter, register)
    }

    fn settle(emitter: &mut Emitter<Self>) {
        compile::settle(emitter);
    }

    fn emit(emitter: &mut Emitter<Self>, ops: &[Op]) {
        compile::emit(emitter, ops);
    }

    fn emit_resolve(emitter: &mut Emitter<Self>, exit: usize, target: Option<Value>) {
        compile::emit_resolve(emitter, exit, target);
    }

    fn leave_op() -> Op {
        Op { code: Code::End, rd: SINK, rn: 0, rm: LEAVE, ra: 0, imm: 0 }
    }

    fn may_be_unaligned(op: &Op) -> bool {
        compile::may_be_unaligned(op)
    }

    fn accesses(op: &Op) -> bool {
        use Code::*;
        matches!(
            op.code,
            Ldr | Ldrb | Ldrh | Ldrsb | Ldrsh | Str | Strb | Strh | Multiple | Vldr | Vstr | LdrUser | StrUser
        )
    }

    fn fetches(op: &Op) -> bool {
        op.code == Code::Fetch
    }

    fn access(core: &mut Arm<P>, bus: &mut Bus, place: Resumed, addr: u32) -> bool {
        let (index, at, op) = (place.index, place.at as u32, core.blocks.ops_from(place.index)[place.at]);
        if op.code == Code::Fetch {
            core.fetch_if_needed(bus, index, at, op.imm, op.imm.wrapping_add(u32::from(op.rd)))
        } else if op.code == Code::FetchLines {
            core.fetch_lines(bus, index)
        } else if op.ra & how::REPORTED != 0 {
            core.access_all(bus, index, at, addr)
        } else if moves(op.code).store {
            core.store_slowly(bus, index, at, op, addr)
        } else {
            core.load_slowly(bus, index, at, op, addr)
        }
    }

    fn note_writes(core: &Arm<P>, bus: &Bus, index: u32, iteration: &mut Iteration) -> Option<()> {
        for op in core.blocks.ops_from(index).iter().take_while(|op| op.code != Code::End) {
            match op.code {
                Code::Str | Code::Strh | Code::Strb | Code::Vstr => core.note_write(bus, *op, iteration)?,
                Code::Strex | Code::Swap | Code::Ldrex | Code::Clrex => return None,
                Code::Pld | Code::Vfp | Code::Fetch | Code::FetchLines => {}
                Code::Mrrc | Code::Isb | Code::Dmb | Code::Dsb | Code::Hint if core.polls.clock().is_some() => {}
                code if code > Code::JumpToSame => return None,
                _ => {}
            }
        }
        Some(())
    }

    fn count(ops: &[Op], counting: &mut Counting) -> Option<()> {
        counting::count(ops, counting)
    }

    fn fetch_abort(abort: AbortOf<Self>) -> P::Exception {
        P::fetch_abort(abort)
    }

    fn data_abort(abort: AbortOf<Self>) -> P::Exception {
        P::data_abort(abort)
    }

    #[inline(always)]
    fn see(&mut self, inputs: &Inputs) {
        self.system.see(inputs);
    }

    #[inline]
    fn deliverable(&self, inputs: &Inputs) -> Option<P::Exception> {
        self.system.deliverable(inputs)
    }

    #[inline]
    fn is_news(&self, inputs: &Inputs) -> bool {
        self.system.is_news(inputs)
    }

    fn wakes(&self, inputs: &Inputs) -> bool {
        self.system.wakes(inputs)
    }

    fn awaits(&self, inputs: &Inputs) -> Awaited {
        self.system.awaits(inputs)
    }

    fn woken(&mut self, inputs: &Inputs) {
        self.system.see(inputs);
        self.system.event_register().wake();
    }

    fn take(core: &mut Arm<P>, bus: &mut Bus, exception: P::Exception) {
        P::take(core, bus, exception);
    }

    fn raise(core: &mut Arm<P>, bus: &mut Bus, exception: P::Exception) {
        P::raise(core, bus, exception);
    }

    #[inline(always)]
    fn is_between(core: &Arm<P>) -> bool {
        P::is_between(core)
    }

    fn go_on(core: &mut Arm<P>, bus: &mut Bus) {
        P::go_on(core, bus);
    }

    #[inline(always)]
    fn follow_jump(core: &mut Arm<P>, bus: &mut Bus) {
        P::follow_jump(core, bus);
    }

    #[inline(always)]
    fn is_at_return(core: &Arm<P>) -> bool {
        P::is_at_return(core)
    }

    fn call_host(core: &mut Arm<P>, bus: &mut Bus) {
        core.call_host(bus);
    }

    #[inline(always)]
    fn begin(core: &mut Arm<P>, bus: &mut Bus) {
        P::begin(core, bus);
    }

    fn clock_changed(core: &mut Arm<P>, before: u64) {
        P::clock_changed(core, before);
    }

    fn reset(core: &mut Arm<P>, bus: &mut Bus) {
        P::reset(core, bus);
    }

    fn start(core: &mut Arm<P>, bus: &mut Bus, start: CoreStart) {
        P::start(core, bus, start);
    }

    fn forget_branches(core: &mut Arm<P>) {
        core.isa.predictor.invalidate();
    }

    fn set_pc(core: &mut Arm<P>, pc: u32) {
        core.set_place(pc, 0);
    }

    fn vector_table(core: &Arm<P>) -> Option<u32> {
        P::vector_table(core)
    }

    fn set_vector_table(core: &mut Arm<P>, table: u32) {
        P::set_vector_table(core, table);
    }
}

impl<P: Profile> Arm<P> {
    /// The events of the performance monitors.
    /// Finds the page of the current address. False if it can't be fetched, and the core is at its handler.
    #[inline]
    fn find_page(&mut self, bus: &mut Bus) -> bool {
        match self.memory.code_page(bus, &self.isa.system, self.pc) {
            Ok(page) => {
                self.isa.page = page;
                true
            }
            Err(abort) => {
                P::raise(self, bus, P::fetch_abort(abort));
                false
            }
        }
    }

    pub(super) fn events(&self) -> Events {
        let [icache, dcache] = self.memory.cache_counters();
        Events {
            instructions: self.shell.instructions,
            icache_refills: icache.fills,
            dcache_refills: dcache.fills,
            dcache_write_backs: dcache.write_backs,
            exceptions: self.shell.exceptions,
        }
    }

    /// Sets the core's position: an address with the T bit, and ITSTATE.
    pub(super) fn set_place(&mut self, address: u32, it: u8) {
        let context = Context { it, privileged: false, flash: Answer::Kept, page: UNTRANSLATED };
        ArmSet::go_to(self, address, context);
    }

    /// The base of a store may be computed by its own instruction first; only stores without that count.
    fn note_write(&self, bus: &Bus, op: Op, iteration: &mut Iteration) -> Option<()> {
        if [op.rn, op.rm].contains(&ADDRESS) || [op.rn, op.rm].contains(&OPERAND) {
            return None;
        }
        let addr = self.x[usize::from(op.rn)].wrapping_add(self.x[usize::from(op.rm)]).wrapping_add(op.imm);
        self.note_store(bus, addr, iteration)
    }
}

#[cfg(test)]
mod tests;

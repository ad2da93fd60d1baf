//! A MIPS core: the parts that its instruction set adds to the shared core ([`crate::cpu`]).

use super::access::moves;
use super::compile;
use super::config::{CoreConfig, SystemConfig};
use super::counting;
use super::debug;
use super::decoded::{self, Decoded, Ending, OP_BYTES};
use super::faults::Raised;
use super::op::{Code, HI, LO, Op};
use super::pages::{NO_PAGE, PAGE_BYTES, Page, Pages};
use super::predictor::Predictor;
use super::system::exceptions::RESET_VECTOR;
use super::system::{Exception, Now, System};
use super::timing::{CoreTiming, Pending};
use crate::bus::Bus;
use crate::core::debug::{Architecture, Register};
use crate::core::{Awaited, CallReport, Core};
use crate::cpu::Cpu;
use crate::cpu::block::{Blocks, Draft, EntryOf};
use crate::cpu::calls::Flow;
use crate::cpu::compile::{COMPILE_AFTER, Emitter, RegisterBits, Resumed};
use crate::cpu::cost::Cost;
use crate::cpu::handlers::Nesting;
use crate::cpu::isa::{AbortOf, CauseNames, Isa};
use crate::cpu::memory_system::Via;
use crate::cpu::memory_system::fetch::pages::PageNumber;
use crate::cpu::polling_loops::counting::Counting;
use crate::cpu::polling_loops::iteration::Iteration;
use crate::cpu::read::Read;
use crate::elf::Machine;
use crate::encoding::Encoding;
use crate::faults::FaultedAccess;
use crate::inputs::Inputs;
use crate::state::State;

/// A core.
pub type Mips = Cpu<MipsSet>;

/// A core for a board.
///
/// It is made here so that its run loop is compiled in this crate, which is one unit, and in no other.
#[inline(never)]
pub fn mips(config: CoreConfig) -> Box<dyn Core> {
    Box::new(Mips::new(config))
}

/// Start of kseg0, and of kseg1: two views of the first 512 MiB of physical addresses.
const KSEG0: u32 = 0x8000_0000;
const KSEG1_LAST: u32 = 0xbfff_ffff;
const KSEG_MASK: u32 = 0x1fff_ffff;
/// The stack pointer.
const SP: usize = 29;
/// Coprocessor 0: Random, which every instruction changes, and Status.
const RANDOM: (u8, u8) = (1, 0);
const STATUS: (u8, u8) = (12, 0);

/// A MIPS core's own state.
#[derive(Clone, PartialEq, State)]
pub struct MipsSet {
    pub(super) system: System,
    pub(super) predictor: Predictor,
    /// The next instruction is in the delay slot of the previous branch, whose target this is.
    pub(super) delayed: Option<u32>,
    /// Known pages of the current translation.
    #[state(skip)]
    pub(super) pages: Pages,
    /// The page of the next instruction, when last looked up.
    #[state(skip)]
    pub(super) page: Page,
    /// The address of an exception, and the general registers.
    pub(super) nesting: Nesting<(u32, [u32; 32])>,
}

impl Isa for MipsSet {
    type Config = SystemConfig;
    type Timing = CoreTiming;
    type Op = Op;
    type Instr = Decoded;
    /// Page of the code: targets of branches are absolute, so translations may change without decoding the code anew.
    type Context = Page;
    type Pending = Pending;
    type Jump = Ending;
    type Exception = Raised;
    type Mmu = System;
    type Lazy = ();

    const MACHINE: Machine = Machine::Mips;
    /// The general registers, HI and LO.
    const RESULTS: usize = LO as usize + 1;
    const SP: usize = SP;
    const CAUSES: CauseNames = CauseNames {
        issue: "issue",
        operand_wait: "operand results",
        long_operation: "long operations",
        jump: "taken branches",
        mispredicted: "mispredicted branches",
        annulled: "annulled delay slots",
        exceptions: "exception entry",
        idle: "wait for interrupt",
    };
    const FETCHES_FIRST: bool = true;
    const COMPILE_AFTER: u16 = COMPILE_AFTER;
    const SHARES_BLOCKS: bool = false;
    const RESET_PC: u32 = RESET_VECTOR;

    fn new(config: &SystemConfig) -> MipsSet {
        MipsSet {
            system: System::new(*config),
            predictor: Predictor::new(config.branch_targets),
            delayed: None,
            pages: Pages::new(),
            page: NO_PAGE,
            nesting: Nesting::default(),
        }
    }

    #[inline(always)]
    fn mmu(&self) -> &System {
        &self.system
    }

    #[inline]
    fn context(&self) -> Page {
        self.page
    }

    #[inline]
    fn locate(core: &mut Mips, bus: &mut Bus) -> bool {
        core.find_page(bus) && (core.isa.page.via != Via::Uncached || core.fetch_uncached(bus))
    }

    #[inline(always)]
    fn page(context: &Page) -> PageNumber {
        context.number
    }

    fn is_current(core: &Mips, index: u32) -> bool {
        let entry = &core.blocks.cold[index as usize].entry;
        core.isa.pages.find(entry.pc) == Some(entry.context)
    }

    #[inline]
    fn go_to(core: &mut Mips, address: u32, _page: Page) {
        core.pc = address;
    }

    fn loaded(core: &mut Mips) {
        core.isa.pages.forget();
        core.isa.page = NO_PAGE;
    }

    #[inline]
    fn context_of_target(_core: &Mips) -> Page {
        NO_PAGE
    }

    /// A delay slot may belong to any branch. Past the cache, each instruction is fetched by itself.
    #[inline]
    fn runs_blocks(&self) -> bool {
        self.delayed.is_none() && self.page.via != Via::Uncached
    }

    /// Before a block is entered, its code is compared with the current one.
    fn may_link(_from: Page, _to: Page) -> bool {
        true
    }

    /// $4 to $7: a0 to a3 of the o32 calling convention.
    fn arguments(core: &Mips) -> [u32; CallReport::REGISTERS] {
        [4, 5, 6, 7].map(|register: usize| core.x[register])
    }

    /// pc, $0 to $31, HI, LO, Status, Cause, EPC.
    const ARCHITECTURE: Architecture = Architecture::Mips32;

    fn debug_registers(core: &Mips, bus: &Bus) -> Vec<Register> {
        debug::registers(core, bus)
    }

    fn set_debug_register(core: &mut Mips, bus: &mut Bus, number: usize, value: u64) -> bool {
        debug::set(core, bus, number, value as u32)
    }

    fn is_in_slot(core: &Mips) -> bool {
        core.isa.delayed.is_some()
    }

    fn registers(core: &Mips) -> Vec<u32> {
        let now = Now { pending: core.shell.irqs.seen().low(), instructions: core.shell.instructions };
        let system = [12, 13, 14].map(|register| core.isa.system.register(register, 0, now));
        let general = std::iter::once(core.pc).chain(core.x[..32].iter().copied());
        general.chain([core.x[usize::from(HI)], core.x[usize::from(LO)]]).chain(system).collect()
    }

    fn read_instr(core: &mut Mips, bus: &mut Bus, read: &mut Read<Self>, at: u32) -> Result<bool, AbortOf<Self>> {
        decoded::read(core, bus, read, at)
    }

    fn draft(core: &Mips, entry: EntryOf<Self>, fetch: Via, read: Read<Self>) -> Draft<Self> {
        decoded::draft(&core.timing, entry, fetch, &read)
    }

    fn pass(timing: &CoreTiming, instr: &Decoded, _fetch: Via, pending: &mut Pending) -> Cost {
        timing.step(&instr.op, pending)
    }

    fn wait(pending: &mut Pending, cycles: u64) {
        pending.pass(cycles);
    }

    fn rest(pending: &mut Pending, cycles: u64) {
        pending.pass(cycles);
    }

    fn encoding(&self) -> Option<Encoding> {
        Some(Encoding::Mips)
    }

    fn flow(blocks: &Blocks<Self>, index: u32) -> Flow {
        decoded::flow(blocks, index)
    }

    fn instr_bytes(_instr: &Decoded) -> u32 {
        OP_BYTES
    }

    fn context_before(_instr: &Decoded, entry: Page) -> Page {
        entry
    }

    #[inline]
    fn execute(core: &mut Mips, bus: &mut Bus, index: u32, _at: usize) {
        // An event before a fill may have brought news, however short the fill was.
        core.update_limit(bus);
        if !core.has_news(bus) && core.shell.cycles < core.shell.deadline.limit {
            core.execute(bus, index);
        }
    }

    fn is_never_compiled(instr: &Decoded, fetch: Via) -> bool {
        fetch == Via::Uncached || compile::is_left(instr.op.code)
    }

    fn compiles(blocks: &Blocks<Self>, index: u32) -> bool {
        compile::compiles(blocks, index)
    }

    fn writes(op: &Op) -> RegisterBits {
        compile::writes(op)
    }

    /// The delay slot of a likely branch may be annulled.
    fn kept_after(op: &Op) -> usize {
        usize::from(op.code.is_likely())
    }

    fn emit(emitter: &mut Emitter<Self>, ops: &[Op]) {
        compile::emit(emitter, ops);
    }

    /// A block is left at once after an instruction.
    fn leave_op() -> Op {
        Op::without_operands(Code::End)
    }

    fn accesses(op: &Op) -> bool {
        op.code.accesses_memory()
    }

    fn access(core: &mut Mips, bus: &mut Bus, place: Resumed, addr: u32) -> bool {
        if place.at > 0 {
            core.resume(place);
        }
        let (index, at, op) = (place.index, place.at as u32, core.blocks.ops_from(place.index)[place.at]);
        let goes_on = if matches!(op.code, Code::Swl | Code::Swr) {
            core.store_part_slowly(bus, index, at, op, addr)
        } else if moves(op.code).store {
            core.store_slowly(bus, index, at, op, addr)
        } else {
            core.load_slowly(bus, index, at, op, addr)
        };
        if goes_on {
            // Compiled code knows the target of its branch.
            core.isa.delayed = None;
        }
        goes_on
    }

    fn note_writes(core: &Mips, bus: &Bus, index: u32, iteration: &mut Iteration) -> Option<()> {
        use Code::*;
        let op = core.blocks.ops_from(index)[0];
        match op.code {
            Sb | Sh | Sw => core.note_store(bus, core.x[usize::from(op.rs)].wrapping_add(op.imm as u32), iteration),
            Swl | Swr => core.note_store(bus, core.x[usize::from(op.rs)].wrapping_add(op.imm as u32) & !3, iteration),
            Mfc0 => ((op.register(), op.select()) != RANDOM).then_some(()),
            Mtc0 => ((op.register(), op.select()) == STATUS).then_some(()),
            Ll | Sc | Cache | Tlbr | Tlbwi | Tlbwr | Tlbp | Eret | Wait => None,
            Syscall | Break | Sdbbp | Reserved | CopUnusable | End => None,
            _ => Some(()),
        }
    }

    fn count(ops: &[Op], counting: &mut Counting) -> Option<()> {
        ops.iter().try_for_each(|op| counting::count(op, counting))
    }

    fn fetch_abort(abort: AbortOf<Self>) -> Raised {
        Raised::of_abort(abort, true)
    }

    fn data_abort(abort: AbortOf<Self>) -> Raised {
        Raised::of_abort(abort, false)
    }

    #[inline]
    fn deliverable(&self, inputs: &Inputs) -> Option<Raised> {
        self.system.deliverable(inputs.low()).then_some(Raised::of(Exception::Interrupt))
    }

    fn awaits(&self, inputs: &Inputs) -> Awaited {
        let held_back = self.system.held_back(inputs.low());
        Awaited { is_event: false, held_back }
    }

    fn wakes(&self, inputs: &Inputs) -> bool {
        self.system.wakes(inputs.low())
    }

    fn take(core: &mut Mips, bus: &mut Bus, _interrupt: Raised) {
        core.interrupt(bus);
    }

    fn raise(core: &mut Mips, bus: &mut Bus, raised: Raised) {
        core.raise(bus, raised);
    }

    fn call_host(core: &mut Mips, bus: &mut Bus) {
        core.call_host(bus);
    }

    fn load_address(addr: u32) -> u32 {
        if (KSEG0..=KSEG1_LAST).contains(&addr) { addr & KSEG_MASK } else { addr }
    }

    fn set_pc(core: &mut Mips, pc: u32) {
        (core.pc, core.isa.delayed, core.left) = (pc, None, None);
    }
}

impl Mips {
    /// The state on which system instructions depend.
    pub(super) fn moment(&self, bus: &Bus) -> Now {
        Now { pending: self.interrupts(bus).low(), instructions: self.shell.instructions }
    }

    /// Finds the page of the current address. False if it can't be fetched, and the core is at its handler.
    fn find_page(&mut self, bus: &mut Bus) -> bool {
        if self.pc & 3 != 0 {
            self.access_kind = FaultedAccess::FETCH;
            self.raise(bus, Raised::of(Exception::AddressLoad(self.pc)));
            return false;
        }
        if let Some(page) = self.isa.pages.find(self.pc) {
            self.isa.page = page;
            return true;
        }
        let found = self
            .memory
            .code_via(bus, &self.isa.system, self.pc)
            .and_then(|(via, physical)| Ok((physical, (via, self.memory.code_page(bus, &self.isa.system, self.pc)?))));
        match found {
            Ok((physical, how)) => {
                let whole = bus.unsplit(physical, PAGE_BYTES);
                self.isa.page = self.isa.pages.add(self.pc, physical, how, whole);
                true
            }
            Err(abort) => {
                self.raise(bus, Raised::of_abort(abort, true));
                false
            }
        }
    }

    /// Fetches the instruction at the current address past the cache. False if the core has to check for news before it
    /// runs the instruction.
    fn fetch_uncached(&mut self, bus: &mut Bus) -> bool {
        if self.line_must_wait(bus, self.pc) {
            return false;
        }
        let end_pc = self.pc.wrapping_add(OP_BYTES);
        let done = self.memory.fetch_uncached(bus, &self.isa.system, self.shell.cycles, self.pc, end_pc);
        self.pass(done.cycles);
        match done.result {
            Ok(true) => true,
            Ok(false) => {
                self.update_limit(bus);
                let goes_on = !self.has_news(bus) && self.shell.cycles < self.shell.deadline.limit;
                if goes_on {
                    self.memory.use_fetched();
                } else {
                    // The fetch is charged to this instruction, whatever precedes it now.
                    self.charge(self.pc);
                }
                goes_on
            }
            Err(abort) => {
                self.raise(bus, Raised::of_abort(abort, true));
                false
            }
        }
    }

    /// Lets time pass between two instructions.
    pub(super) fn pass(&mut self, cycles: u64) {
        self.shell.cycles = self.shell.cycles.wrapping_add(cycles);
        self.pending.pass(cycles);
    }
}

//! A hart: its state, and the loop that chooses what runs next.

use super::accounts::{Cause, Totals};
use super::block::{Blocks, Extent, Place};
use super::compile::{COMPILE_AFTER, Compiler};
use super::exceptions::Exception;
use super::system::{CsrContext, Csrs};
use super::timing::{CoreTiming, Pending};
use crate::bus::{Bus, BusFaultKind};
use crate::core::{CallMark, Core, CoreFault, CoreReport, FaultedAccess, Stop};
use crate::cpu::deadline::Deadline;
use crate::cpu::polls::Polls;
use crate::cpu::sections::{Sections, Totals as _};
use crate::cpu::skips::Skips as _;
use crate::elf::Machine;
use crate::inputs::Inputs;
use crate::cpu::lines::Lines;
use crate::memory::first_level::{Memory, MemoryConfig, Way};
use crate::storms::Source;
use crate::time::{Cycles, Hz, Ps};

/// What a board says of a core.
#[derive(Clone, Debug)]
pub struct CoreConfig {
    /// Label of its node.
    pub name: String,
    /// Its index in the machine, and its hart id.
    pub index: u32,
    /// Its clock.
    pub clock: Hz,
    /// Its timing table.
    pub timing: CoreTiming,
    /// Its memory side.
    pub memory: MemoryConfig,
    /// The bits of mip and mie that it has.
    pub interrupts: u32,
}

/// A hart.
pub struct Hart {
    pub(super) config: CoreConfig,
    /// x0 to x31, then the sink for writes to x0; the rest is there so that any 8-bit number is an index.
    pub(super) x: [u32; 256],
    pub(super) pc: u32,
    pub(super) cycles: u64,
    pub(super) deadline: Deadline,
    pub(super) instructions: u64,
    /// Exceptions and interrupts taken.
    pub(super) traps: u64,
    /// Results under way at the current address.
    pub(super) pending: Pending,
    pub(super) csrs: Csrs,
    pub(super) blocks: Blocks,
    pub(super) memory: Memory,
    /// Size of the instruction cache's lines.
    pub(super) line_bytes: u32,
    /// Where the last block was left, to link it to the next.
    pub(super) left: Option<(u32, usize)>,
    pub(super) stop: Option<Stop>,
    pub(super) causes: [u64; Cause::Count as usize],
    /// Static time of parts of blocks, where one was left in the middle.
    pub(super) parts: super::block::Breakdown,
    pub(super) sections: Sections<Totals>,
    pub(super) polls: Polls,
    pub(super) lines: Lines,
    waiting: bool,
    /// A semihosting call has no answer yet.
    pub(super) in_call: bool,
    code_epoch: u64,
    code_marks: u64,
    last_fault: Option<FaultedAccess>,
    pub(super) compiler: Option<Compiler>,
    /// Way into compiled code; only of use while there is a compiler.
    pub(super) enter_code: usize,
}

impl Hart {
    /// A hart after reset.
    pub fn new(config: CoreConfig) -> Hart {
        let memory = Memory::new(config.memory);
        Hart {
            x: [0; 256],
            pc: 0,
            cycles: 0,
            deadline: Deadline::new(config.clock),
            instructions: 0,
            traps: 0,
            pending: Pending::NONE,
            csrs: Csrs::new(config.index, config.interrupts),
            blocks: Blocks::new(COMPILE_AFTER),
            line_bytes: 1 << memory.fetch_line_shift(),
            memory,
            left: None,
            stop: None,
            causes: [0; Cause::Count as usize],
            parts: super::block::Breakdown::default(),
            sections: Sections::default(),
            polls: Polls::default(),
            lines: Lines::new(config.clock, config.index),
            waiting: false,
            in_call: false,
            code_epoch: 0,
            code_marks: 0,
            last_fault: None,
            compiler: None,
            enter_code: 0,
            config,
        }
    }

    /// Instructions that are kept decoded, as often as they are, for tests: what all blocks have together.
    pub fn decoded(&self) -> usize {
        self.blocks.infos.len()
    }

    /// The core's time, as simulated time.
    pub(super) fn now(&self) -> Ps {
        self.config.clock.ps_at_floor(Cycles(self.cycles))
    }

    /// Brings the limit in line with what the bus has scheduled, and looks at the interrupt lines.
    pub(super) fn update_limit(&mut self, bus: &Bus) {
        self.deadline.follow(bus);
        self.lines.follow(bus, self.cycles, &mut self.deadline);
    }

    /// The interrupt lines that are up now.
    pub(super) fn interrupts<'a>(&'a self, bus: &'a Bus) -> &'a Inputs {
        self.lines.up(bus, self.cycles)
    }

    /// True if something has happened that the loop below has to look at before the next instruction.
    pub(super) fn has_news(&self, bus: &Bus) -> bool {
        bus.exit.is_some()
            || bus.code_epoch != self.code_epoch
            || self.stop.is_some()
            || self.csrs.deliverable(self.interrupts(bus).low()).is_some()
    }

    pub(super) fn csr_context(&self, bus: &Bus, cycles: u64, instructions: u64) -> CsrContext {
        CsrContext { cycles, instructions, pending: self.lines.up(bus, cycles).low() }
    }

    pub(super) fn note_fault(&mut self, access: FaultedAccess) {
        self.last_fault = Some(access);
    }

    pub(super) fn wait(&mut self, bus: &Bus) {
        self.waiting = !self.csrs.wakes(self.interrupts(bus).low());
        if self.waiting {
            self.stop = Some(Stop::Waiting);
        }
    }

    /// Runs until something stops the core; only one instruction if `single`.
    fn run_loop(&mut self, bus: &mut Bus, single: bool) -> Stop {
        self.stop = None;
        if self.in_call {
            self.call_host(bus);
            if let Some(stop) = self.stop.take() {
                return stop;
            }
        }
        if self.waiting && !self.csrs.wakes(self.interrupts(bus).low()) {
            return Stop::Waiting;
        }
        self.waiting = false;
        loop {
            if let Some(stop) = self.stop.take() {
                self.left = None;
                return stop;
            }
            if self.cycles >= self.deadline.limit || bus.exit.is_some() {
                self.left = None;
                return Stop::Horizon;
            }
            self.follow_memory(bus);
            if let Some(interrupt) = self.csrs.deliverable(self.lines.look(bus, self.cycles).low()) {
                self.trap(bus, interrupt, 0, true);
                if single {
                    return self.stop.take().unwrap_or(Stop::Horizon);
                }
                continue;
            }
            self.follow_sections();
            if self.sections.has_marks() {
                self.stop = Some(Stop::Mark);
                continue;
            }
            if self.polls.found && !single {
                self.skip_rounds(bus);
                continue;
            }
            let before = (self.instructions, self.traps);
            self.run_once(bus, single);
            if single && (self.instructions, self.traps) != before {
                return self.stop.take().unwrap_or(Stop::Horizon);
            }
        }
    }

    /// Finds the block at the current address, links it to where we came from, fetches it, and runs from there.
    fn run_once(&mut self, bus: &mut Bus, single: bool) {
        if self.blocks.are_full() {
            self.drop_blocks();
        }
        let left = self.left.take();
        // Without a cache, instructions are fetched one by one.
        let whole = !single && self.memory.fetch_way(bus, self.pc) != Way::Uncached;
        let index = if whole { self.longest_block(bus, left) } else { self.block_at(bus, Extent::One) };
        let Some(index) = index else {
            let value = self.pc;
            return self.fetch_fault(bus, value, BusFaultKind::Unmapped);
        };
        if self.fetch(bus, index) {
            self.execute(bus, index);
        }
    }

    /// The block at the current address, as much of it as can run without a wait for a fetch in its middle, and before
    /// the limit. `left` is linked to it.
    fn longest_block(&mut self, bus: &mut Bus, left: Option<(u32, usize)>) -> Option<u32> {
        let mut index = self.block_at(bus, Extent::Whole)?;
        if self.blocks.cold[index as usize].extent == Extent::Whole {
            if let Some((from, exit)) = left {
                self.link(from, exit, index);
            }
            if !self.only_first_line_misses(index) {
                index = self.block_at(bus, Extent::Line)?;
            }
        }
        let fits = self.cycles + u64::from(self.blocks.hot[index as usize].longest_cycles) <= self.deadline.limit;
        if fits { Some(index) } else { self.block_at(bus, Extent::One) }
    }

    /// The block at the current address, decoded if need be. Of cold code, of which only one line is to be run now, a
    /// whole one is not decoded: the line's stands for it.
    pub(super) fn block_at(&mut self, bus: &mut Bus, extent: Extent) -> Option<u32> {
        let (pc, entry) = (self.pc, self.pending);
        if let Some(index) = self.known_block(extent) {
            return Some(index);
        }
        let fetch = self.memory.fetch_way(bus, pc);
        let cold = fetch == Way::Cached && !self.memory.has_fetch_line(self.next_line(pc));
        if extent == Extent::Whole
            && cold
            && let Some(index) = self.known_block(Extent::Line)
        {
            return Some(index);
        }
        let place = Place { pc, extent, cold, entry, fetch, line_bytes: self.line_bytes };
        let index = self.blocks.build(bus, &self.config.timing, place);
        self.follow_memory(bus);
        index
    }

    fn known_block(&mut self, extent: Extent) -> Option<u32> {
        let (pc, entry) = (self.pc, self.pending);
        let known = self.blocks.find(pc, extent, entry);
        known.or_else(|| self.blocks.find_unaffected(&self.config.timing, pc, extent, entry))
    }

    fn link(&mut self, from: u32, exit: usize, to: u32) {
        // Parts of blocks stay unlinked: a step is one instruction, and what goes on behind a line may be a whole block
        // the next time.
        let cold = &self.blocks.cold[from as usize];
        if cold.extent == Extent::Whole && !self.sections.stops_at(self.pc) && self.pending == cold.pending[exit] {
            self.blocks.hot[from as usize].links[exit] = to;
        }
    }

    /// Drops decoded blocks if memory under them was written, and shortcuts for stores if instructions were decoded.
    pub(super) fn follow_memory(&mut self, bus: &mut Bus) {
        if bus.code_epoch != self.code_epoch {
            self.code_epoch = bus.code_epoch;
            self.drop_blocks();
        }
        if bus.code_marks != self.code_marks {
            self.code_marks = bus.code_marks;
            self.memory.forbid_quick_stores();
        }
    }

    /// Drops all decoded blocks.
    pub(super) fn drop_blocks(&mut self) {
        self.blocks.flush();
        if let Some(compiler) = &mut self.compiler {
            compiler.clear();
        }
        self.left = None;
    }

    /// Enters the handler of an exception raised by the instruction at the current address.
    pub(super) fn raise(&mut self, bus: &mut Bus, exception: Exception) {
        let access = self.last_fault.take();
        let encoding =
            (exception.cause == super::exceptions::ExceptionCause::IllegalInstruction).then_some(exception.value);
        let fault = CoreFault { pc: self.pc, what: exception.cause.name(), access, encoding, ..CoreFault::default() };
        let handler = self.trap(bus, exception.cause as u32, exception.value, false);
        let why_fatal = if !self.csrs.has_handler() {
            "no trap handler is set (mtvec has not been written)"
        } else if !bus.peek(handler, &mut [0; 2]) {
            "mtvec leads to no memory"
        } else if handler == fault.pc {
            "it happened on the first instruction of the trap handler"
        } else {
            if fault.access.is_some() || fault.encoding.is_some() {
                bus.note_trap(fault);
            }
            return;
        };
        self.stop = Some(Stop::Fault(CoreFault { why_fatal, ..fault }));
    }

    fn trap(&mut self, bus: &mut Bus, cause: u32, value: u32, interrupt: bool) -> u32 {
        self.pc = self.csrs.enter_trap(self.pc, cause, value, interrupt);
        self.traps += 1;
        let name = if interrupt { "interrupt" } else { "exception of cause" };
        let source = Source { name, number: Some(cause), input: interrupt.then_some(cause) };
        bus.storms.exception(self.config.index, self.now(), source);
        let cycles = u64::from(self.config.timing.trap);
        self.cycles += cycles;
        self.causes[Cause::Trap as usize] += cycles;
        self.pending = Pending::NONE;
        self.left = None;
        self.memory.flush_prefetch();
        self.update_limit(bus);
        self.pc
    }

    fn begin(&mut self, bus: &Bus, until: Ps) {
        self.deadline.begin(bus, until);
        self.update_limit(bus);
    }
}

impl Core for Hart {
    fn name(&self) -> &str {
        &self.config.name
    }

    fn clock(&self) -> Hz {
        self.config.clock
    }

    fn cycles(&self) -> Cycles {
        Cycles(self.cycles)
    }

    fn run(&mut self, bus: &mut Bus, until: Ps) -> Stop {
        self.begin(bus, until);
        self.run_loop(bus, false)
    }

    fn step(&mut self, bus: &mut Bus) -> Stop {
        self.begin(bus, Ps(u64::MAX / 2));
        self.run_loop(bus, true)
    }

    fn keeps_order(&self) -> bool {
        true
    }

    fn idle(&mut self, until: Ps) {
        let cycles = self.config.clock.cycles_until_ceil(until).0.saturating_sub(self.cycles);
        self.cycles += cycles;
        self.causes[Cause::Idle as usize] += cycles;
        self.pending = Pending::NONE;
    }

    fn machine(&self) -> Machine {
        Machine::RiscV
    }

    fn set_pc(&mut self, pc: u32) {
        self.pc = pc;
    }

    fn registers(&self) -> Vec<u32> {
        std::iter::once(self.pc).chain(self.x[..32].iter().copied()).collect()
    }

    fn watch(&mut self, name: &str, pc: u32) {
        self.sections.watch(name, pc, Totals::default());
        self.drop_blocks();
    }

    fn mark_calls(&mut self, pc: u32) -> bool {
        self.sections.mark_calls(pc)
    }

    fn take_marks(&mut self) -> Vec<CallMark> {
        self.sections.take_marks()
    }

    fn report(&mut self, bus: &Bus) -> CoreReport {
        let totals = self.totals();
        CoreReport {
            name: self.config.name.clone(),
            clock: self.config.clock,
            instructions: self.instructions,
            cycles: Cycles(self.cycles),
            causes: totals.named(bus),
            cut: None,
            sections: self.sections.reports(bus),
            counters: self.counters(),
        }
    }

    fn compile_after(&mut self, runs: u16) {
        self.blocks.compile_after = runs;
        self.drop_blocks();
    }

    fn skip_polling(&mut self, skip: bool) {
        self.polls.enable(skip);
    }

    fn skipped(&self) -> Cycles {
        Cycles(self.polls.skipped_cycles)
    }

    fn lost_calls(&self) -> u64 {
        self.sections.lost()
    }
}

impl Hart {
    fn counters(&self) -> Vec<(String, u64)> {
        let MemoryConfig { icache, dcache, .. } = self.config.memory;
        let caches = [("i-cache", icache), ("d-cache", dcache)].into_iter().zip(self.memory.cache_counters());
        let traps = (format!("{}.traps", self.config.name), self.traps);
        caches
            .filter_map(|((name, shape), counters)| shape.map(|_| (name, counters)))
            .flat_map(|(name, counters)| {
                [("fills", counters.fills), ("write-backs", counters.write_backs)]
                    .map(|(what, count)| (format!("{}.{name}.{what}", self.config.name), count))
            })
            .chain([traps])
            .collect()
    }

    /// Leaves a block by an exit that has no link.
    pub(super) fn leave(&mut self, index: u32, exit: usize, pc: u32) {
        self.pc = pc;
        self.pending = self.blocks.cold[index as usize].pending[exit];
        self.left = Some((index, exit));
    }
}

//! A hart: its state, and the loop that chooses what runs next.

use super::access::{Way, way_to};
use super::accounts::{Cause, EntryCycles, Totals};
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
use crate::memory::cache::{Cache, CacheShape, NO_LINE};
use crate::memory::fetch::on_demand::WordBuffer;
use crate::memory::shortcut::Shortcuts;
use crate::storms::Source;
use crate::time::{Cycles, Hz, Ps};

/// Granule of shortcuts where there is no data cache to give one.
const UNCACHED_SHORTCUT_BYTES: u32 = 1 << 8;
/// Lines of the instruction cache that need no look at its directory.
const FETCH_SLOTS: usize = 1 << 10;

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
    /// Instruction cache, if it has one.
    pub icache: Option<CacheShape>,
    /// Data cache, if it has one.
    pub dcache: Option<CacheShape>,
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
    pub(super) icache: Option<Cache>,
    pub(super) dcache: Option<Cache>,
    pub(super) shortcuts: Shortcuts,
    pub(super) fetch_lines: Box<[u32; FETCH_SLOTS]>,
    pub(super) fetch_shift: u32,
    /// Grows whenever one of `fetch_lines` goes; never 0.
    pub(super) fetch_epoch: u32,
    /// Words last fetched without a cache.
    pub(super) fetch_buffer: WordBuffer,
    /// Where the last block was left, to link it to the next.
    pub(super) left: Option<(u32, usize)>,
    pub(super) stop: Option<Stop>,
    pub(super) causes: [u64; Cause::Count as usize],
    pub(super) entry_cycles: Vec<EntryCycles>,
    /// Static time of parts of blocks, where one was left in the middle.
    pub(super) parts: super::block::Breakdown,
    pub(super) sections: Sections<Totals>,
    pub(super) polls: Polls,
    /// Map entries that were accessed since this was last cleared: bit n is entry n.
    pub(super) touched: u64,
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
        let shortcut_bytes = config.dcache.map_or(UNCACHED_SHORTCUT_BYTES, |shape| shape.line_bytes);
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
            icache: config.icache.map(Cache::new),
            dcache: config.dcache.map(Cache::new),
            shortcuts: Shortcuts::new(shortcut_bytes),
            fetch_lines: Box::new([NO_LINE; FETCH_SLOTS]),
            fetch_shift: config.icache.map_or(6, |shape| shape.line_bytes.trailing_zeros()),
            fetch_epoch: 1,
            fetch_buffer: WordBuffer::default(),
            left: None,
            stop: None,
            causes: [0; Cause::Count as usize],
            entry_cycles: Vec::new(),
            parts: super::block::Breakdown::default(),
            sections: Sections::default(),
            polls: Polls::default(),
            touched: 0,
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

    /// True if something has happened that the loop below has to look at before the next instruction.
    pub(super) fn has_news(&self, bus: &Bus) -> bool {
        bus.exit.is_some()
            || bus.code_epoch != self.code_epoch
            || self.csrs.deliverable(bus.core_irqs[self.config.index as usize].low()).is_some()
    }

    pub(super) fn csr_context(&self, bus: &Bus, cycles: u64, instructions: u64) -> CsrContext {
        CsrContext { cycles, instructions, pending: bus.core_irqs[self.config.index as usize].low() }
    }

    pub(super) fn note_fault(&mut self, access: FaultedAccess) {
        self.last_fault = Some(access);
    }

    pub(super) fn wait(&mut self, bus: &Bus) {
        self.waiting = !self.csrs.wakes(bus.core_irqs[self.config.index as usize].low());
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
        if self.waiting && !self.csrs.wakes(bus.core_irqs[self.config.index as usize].low()) {
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
            if let Some(interrupt) = self.csrs.deliverable(bus.core_irqs[self.config.index as usize].low()) {
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
        let whole = !single && way_to(bus, self.pc, self.icache.is_some()) != Way::Uncached;
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
        let line_bytes = self.icache.as_ref().map_or(4, |cache| cache.shape().line_bytes);
        let fetch = way_to(bus, pc, self.icache.is_some());
        let next_line = (pc & !(line_bytes - 1)).wrapping_add(line_bytes);
        let cold = fetch == Way::Cached && !self.has_fetch_line(next_line);
        if extent == Extent::Whole
            && cold
            && let Some(index) = self.known_block(Extent::Line)
        {
            return Some(index);
        }
        let place = Place { pc, extent, cold, entry, fetch, line_bytes };
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
            self.shortcuts.forbid_stores();
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
        self.deadline.follow(bus);
        self.pc
    }

    fn begin(&mut self, bus: &Bus, until: Ps) {
        self.deadline.begin(bus, until);
        self.entry_cycles.resize(bus.map.len(), EntryCycles::default());
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
        let caches = [("i-cache", &self.icache), ("d-cache", &self.dcache)];
        let traps = (format!("{}.traps", self.config.name), self.traps);
        let present = caches.into_iter().filter_map(|(name, cache)| Some((name, cache.as_ref()?.counters())));
        present
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

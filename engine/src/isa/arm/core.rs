//! A core: its state, and the loop that chooses what runs next.

use super::accounts::Totals;
use super::block::{Blocks, Entry, Extent};
use super::breakdown::Breakdown;
use super::config::CoreConfig;
use super::m_profile;
use super::op::Op;
use super::predictor::Predictor;
use super::profile::Profile;
use super::system::{Events, System, X};
use super::timing::Pending;
use crate::bus::Bus;
use crate::core::{CallMark, Core, CoreReport, Stop};
use crate::elf::Machine;
use crate::inputs::Inputs;
use crate::isa::deadline::Deadline;
use crate::isa::handlers::Nesting;
use crate::isa::lines::Lines;
use crate::isa::polls::Polls;
use crate::isa::sections::{Sections, Totals as _};
use crate::isa::skip::Skips as _;
use crate::memory::cache::CacheShape;
use crate::memory::first_level::Memory;
use crate::time::{Cycles, Hz, Ps};

/// A core of the application profile.
pub type CortexA = Arm<System>;

/// A core of the microcontroller profile.
pub type CortexM = Arm<m_profile::System>;

/// A core, of the profile that its system side is of.
pub struct Arm<P: Profile> {
    pub(super) config: CoreConfig<P::Config>,
    /// The registers of micro-operations: see [`super::registers`].
    pub(super) x: X,
    /// VFP registers, in words.
    pub(super) s: [u32; 64],
    pub(super) system: P,
    /// An exception that is being entered or left.
    pub(super) flow: P::Flow,
    pub(super) memory: Memory,
    pub(super) predictor: Predictor,
    /// Address of the next instruction. T and ITSTATE are in `system`.
    pub(super) pc: u32,
    pub(super) cycles: u64,
    pub(super) deadline: Deadline,
    pub(super) instructions: u64,
    /// Exceptions and interrupts taken.
    pub(super) exceptions: u64,
    /// Results under way at the current address.
    pub(super) pending: Pending,
    pub(super) blocks: Blocks,
    /// Size of the instruction cache's lines.
    pub(super) line_bytes: u32,
    /// Of the data cache's.
    pub(super) data_line_bytes: u32,
    /// Where the last block was left, to link it to the next.
    pub(super) left: Option<(u32, usize)>,
    /// An operation in whose place the block is to be left, and its index.
    pub(super) patched: Option<(usize, Op)>,
    pub(super) stop: Option<Stop>,
    /// Static time of parts of blocks, where one was left in the middle.
    pub(super) parts: Breakdown,
    /// Static time of instructions whose condition did not hold.
    pub(super) saved_cycles: u64,
    pub(super) mispredicted_cycles: u64,
    pub(super) mispredictions: u64,
    pub(super) exception_cycles: u64,
    pub(super) idle_cycles: u64,
    pub(super) sections: Sections<Totals>,
    pub(super) polls: Polls,
    pub(super) waiting: bool,
    /// A semihosting call has no answer yet.
    pub(super) in_call: bool,
    pub(super) lines: Lines,
    /// What the last access was that did not go the quick way, for messages.
    pub(super) access_kind: &'static str,
    /// By the general registers behind an exception's entry: the link register tells the instruction.
    pub(super) nesting: Nesting<[u32; 16]>,
    code_epoch: u64,
    code_marks: u64,
}

impl<P: Profile> Arm<P> {
    /// A core after reset.
    pub fn new(config: CoreConfig<P::Config>) -> Arm<P> {
        let system = P::new(config.system.clone());
        let mut memory = Memory::new(config.memory);
        memory.translation_changed(&system);
        Arm {
            x: [0; super::registers::COUNT],
            s: [0; 64],
            system,
            flow: P::Flow::default(),
            memory,
            predictor: Predictor::default(),
            pc: 0,
            cycles: 0,
            deadline: Deadline::new(config.clock),
            instructions: 0,
            exceptions: 0,
            pending: Pending::NONE,
            blocks: Blocks::new(),
            line_bytes: line_bytes(config.memory.icache),
            data_line_bytes: line_bytes(config.memory.dcache),
            left: None,
            patched: None,
            stop: None,
            parts: Breakdown::default(),
            saved_cycles: 0,
            mispredicted_cycles: 0,
            mispredictions: 0,
            exception_cycles: 0,
            idle_cycles: 0,
            sections: Sections::default(),
            polls: Polls::default(),
            waiting: false,
            in_call: false,
            lines: Lines::new(config.clock, config.index),
            access_kind: "",
            nesting: Nesting::default(),
            code_epoch: 0,
            code_marks: 0,
            config,
        }
    }

    /// Instructions that are kept decoded, as often as they are, for tests: what all blocks have together.
    pub fn decoded(&self) -> usize {
        self.blocks.instrs.len()
    }

    /// The core's time, as simulated time.
    pub(super) fn now(&self) -> Ps {
        self.config.clock.ps_at_floor(Cycles(self.cycles))
    }

    /// Sets where the core is: an address with the T bit, and ITSTATE.
    pub(super) fn set_place(&mut self, pc: u32, it: u8) {
        self.pc = pc & !1;
        self.system.set_thumb(pc & 1 != 0);
        self.system.set_it(it);
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
            || self.system.is_news(self.interrupts(bus))
    }

    /// What the performance monitors can count.
    pub(super) fn events(&self) -> Events {
        let [icache, dcache] = self.memory.cache_counters();
        Events {
            instructions: self.instructions,
            icache_refills: icache.fills,
            dcache_refills: dcache.fills,
            dcache_write_backs: dcache.write_backs,
            exceptions: self.exceptions,
            ..Events::default()
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
        if self.waiting && !self.system.wakes(self.interrupts(bus)) {
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
            self.system.see(self.lines.look(bus, self.cycles));
            if P::is_between(self) {
                P::go_on(self, bus);
            } else if let Some(interrupt) = self.system.deliverable(self.lines.seen()) {
                P::take(self, bus, interrupt);
            } else if !self.run_next(bus, single) {
                continue;
            }
            if single && !P::is_between(self) {
                return self.stop.take().unwrap_or(Stop::Horizon);
            }
        }
    }

    /// Runs from the current address. False if that came to no instruction and no exception.
    fn run_next(&mut self, bus: &mut Bus, single: bool) -> bool {
        self.follow_sections();
        if self.sections.has_marks() {
            self.stop = Some(Stop::Mark);
            return false;
        }
        let before = (self.instructions, self.exceptions);
        if self.polls.found && !single {
            self.skip_rounds(bus);
        } else {
            self.run_once(bus, single);
        }
        P::follow_jump(self, bus);
        (self.instructions, self.exceptions) != before
    }

    /// Finds the block at the current address, links it to where we came from, fetches it, and runs from there.
    fn run_once(&mut self, bus: &mut Bus, single: bool) {
        if self.blocks.are_full() {
            self.drop_blocks();
        }
        let left = self.left.take();
        // Within an IT block, instructions run one by one: what they are depends on ITSTATE.
        let whole = !single && self.system.it() == 0;
        let index = if whole { self.longest_block(bus, left) } else { self.block_at(bus, Extent::One) };
        if let Some(index) = index
            && self.fetch(bus, index)
        {
            self.execute(bus, index);
        }
    }

    /// The block at the current address, as much of it as can run without a wait for a fetch in its middle, and before
    /// the limit. `left` is linked to it.
    fn longest_block(&mut self, bus: &mut Bus, left: Option<(u32, usize)>) -> Option<u32> {
        let mut index = self.block_at(bus, Extent::Whole)?;
        if self.blocks.cold[index as usize].entry.extent == Extent::Whole {
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
    /// whole one is not decoded: the line's stands for it. `None` if it can't be fetched: the core is at its handler
    /// then.
    pub(super) fn block_at(&mut self, bus: &mut Bus, extent: Extent) -> Option<u32> {
        let entry = Entry {
            pc: self.pc | u32::from(self.system.thumb()),
            it: self.system.it(),
            privileged: self.system.is_privileged(),
            extent,
            pending: self.pending,
        };
        if let Some(index) = self.known_block(entry) {
            return Some(index);
        }
        if extent == Extent::Whole
            && !self.memory.has_fetch_line(self.next_line(self.pc))
            && let Some(index) = self.known_block(Entry { extent: Extent::Line, ..entry })
        {
            return Some(index);
        }
        match self.read_block(bus, entry) {
            Ok(index) => {
                self.follow_memory(bus);
                Some(index)
            }
            Err(exception) => {
                P::raise(self, bus, exception);
                None
            }
        }
    }

    fn known_block(&mut self, entry: Entry) -> Option<u32> {
        self.blocks.find(entry).or_else(|| {
            let unaffected = !entry.pending.is_none();
            unaffected.then(|| self.blocks.find_unaffected(&self.config.timing, entry)).flatten()
        })
    }

    fn link(&mut self, from: u32, exit: usize, to: u32) {
        // Parts of blocks stay unlinked: a step is one instruction, and what goes on behind a line may be a whole block
        // the next time.
        let (cold, entry) = (&self.blocks.cold[from as usize], &self.blocks.cold[to as usize].entry);
        let same = cold.entry.privileged == entry.privileged && cold.pending[exit] == self.pending && entry.it == 0;
        if cold.entry.extent == Extent::Whole && !self.sections.stops_at(self.pc) && same {
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

    /// What addresses mean has changed in the middle of a block: it is left behind its instruction, and decoded code is dropped then.
    pub(super) fn map_changed(&mut self) {
        self.memory.translation_changed(&self.system);
        self.code_epoch = self.code_epoch.wrapping_sub(1);
    }

    /// Drops all decoded blocks.
    pub(super) fn drop_blocks(&mut self) {
        self.blocks.flush();
        self.left = None;
    }

    /// Leaves a block by an exit that has no link.
    pub(super) fn leave(&mut self, index: u32, exit: usize, pc: u32) {
        let cold = &self.blocks.cold[index as usize];
        self.pending = cold.pending[exit];
        let it = if exit == super::block::FALLEN { cold.it } else { 0 };
        self.left = (it == 0).then_some((index, exit));
        self.set_place(pc, it);
    }

    fn begin(&mut self, bus: &mut Bus, until: Ps) {
        P::begin(self, bus);
        self.deadline.begin(bus, until);
        self.update_limit(bus);
    }
}

/// Size of the lines of a cache; where there is none, that of the lines for which the memory keeps shortcuts.
fn line_bytes(cache: Option<CacheShape>) -> u32 {
    cache.map_or(32, |shape| shape.line_bytes)
}

impl<P: Profile> Core for Arm<P> {
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

    fn reset(&mut self, bus: &mut Bus) {
        P::reset(self, bus);
    }

    fn keeps_order(&self) -> bool {
        true
    }

    fn idle(&mut self, until: Ps) {
        let cycles = self.config.clock.cycles_until_ceil(until).0.saturating_sub(self.cycles);
        self.cycles += cycles;
        self.idle_cycles += cycles;
        self.pending = Pending::NONE;
    }

    fn machine(&self) -> Machine {
        Machine::Arm
    }

    fn set_pc(&mut self, pc: u32) {
        self.set_place(pc, 0);
    }

    fn vector_table(&self) -> Option<u32> {
        P::vector_table(self)
    }

    fn set_vector_table(&mut self, table: u32) {
        P::set_vector_table(self, table);
    }

    fn registers(&self) -> Vec<u32> {
        let general = std::iter::once(self.pc).chain(self.x[..15].iter().copied());
        let mut registers: Vec<u32> = general.chain([self.system.status(&self.x)]).collect();
        if self.system.features().vfp {
            registers.extend(self.s);
            registers.push(self.system.fpscr());
        }
        registers
    }

    fn watch(&mut self, name: &str, pc: u32) {
        self.sections.watch(name, pc & !1);
        self.drop_blocks();
    }

    fn mark_calls(&mut self, pc: u32) -> bool {
        self.sections.mark_calls(pc & !1)
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

impl<P: Profile> Arm<P> {
    fn counters(&self) -> Vec<(String, u64)> {
        let own = [("exceptions", self.exceptions), ("mispredicted branches", self.mispredictions)];
        self.memory.counters(&self.config.name, &own)
    }
}

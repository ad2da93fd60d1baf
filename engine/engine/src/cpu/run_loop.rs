//! A core: its state, and the loop that chooses the next work.

use super::block::{Blocks, EntryOf, Extent, Hot, OpInfo};
use super::compile::HostCode;
use super::isa::{Isa, Pending};
use super::leave::Paused;
use super::memory_system::{LINE_BYTES, Memory, MemoryConfig, Mmu as _, Via};
use super::polling_loops::fast_forward::fast_forward;
use super::polling_loops::polls::Polls;
use super::polling_loops::wait_loops::WaitLoops;
use super::shell::Shell;
use crate::bus::Bus;
use crate::core::debug::Debugged as _;
use crate::core::{Awaited, CallMark, Compiled, Compiling, Core, CoreReport, Cut, Stop, WaitedIn, WindowIntervals};
use crate::elf::Machine;
use crate::inputs::Inputs;
use crate::memory::cache::CacheShape;
use crate::observe::critical_path::Paths;
use crate::observe::profile::{CoreProfile, Functions, LinuxKernel, LoadedFunction, ProfileOptions};
use crate::order::CoreStart;
use crate::time::{Cycles, Hz, Ps};

/// Number of registers that operations can name: any 8-bit number is valid.
pub const REGISTERS: usize = 256;

/// A core's configuration by the board. `T` is its timing table, `C` the instruction set's own configuration.
#[derive(Clone, Debug)]
pub struct Config<T, C> {
    /// Label of its node.
    pub name: String,
    /// Its index in the machine.
    pub index: u32,
    /// Its clock.
    pub clock: Hz,
    /// Its timing table.
    pub timing: T,
    /// The instruction set's own configuration.
    pub system: C,
    /// Its memory side.
    pub memory: MemoryConfig,
}

/// A core of an instruction set.
pub struct Cpu<I: Isa> {
    pub(crate) shell: Shell,
    pub(crate) timing: I::Timing,
    pub(crate) config: I::Config,
    /// The instruction set's own state.
    pub(crate) isa: I,
    /// The registers that operations name.
    pub(crate) x: [u32; REGISTERS],
    pub(crate) memory: Memory,
    /// Address of the next instruction.
    pub(crate) pc: u32,
    pub(crate) mispredictions: u64,
    /// Results under way at the current address.
    pub(crate) pending: I::Pending,
    pub(crate) blocks: Blocks<I>,
    /// Size of the instruction cache's lines.
    pub(crate) line_bytes: u32,
    /// Size of the data cache's lines.
    pub(crate) data_line_bytes: u32,
    /// The block and exit by which the core left last, to link it to the next block.
    pub(crate) left: Option<(u32, usize)>,
    /// An operation that was replaced by one that leaves the block, and its index.
    pub(crate) patched: Option<(usize, I::Op)>,
    /// The place where the core stopped, if nothing has run since.
    pub(super) paused: Option<Paused<I>>,
    /// Compiled code.
    pub(crate) host: HostCode<I>,
    pub(crate) polls: Polls,
    pub(super) wait_loops: WaitLoops<I>,
    /// A semihosting call has no answer yet.
    pub(crate) in_call: bool,
    /// Kind of the last access without a shortcut, for messages.
    pub(crate) access_kind: &'static str,
    /// The machine has no other core.
    only_core: bool,
    /// Last seen value of [`Bus::code_written`] and [`Bus::code_marked`].
    pub(super) written_epoch: u64,
    pub(super) marked_epoch: u64,
    /// Last seen value of [`Bus::line_buffers`].
    pub(super) buffers_epoch: u64,
}

impl<I: Isa> Cpu<I> {
    /// A core after reset.
    pub fn new(config: Config<I::Timing, I::Config>) -> Cpu<I> {
        let Config { name, index, clock, timing, system: config, memory } = config;
        let isa = I::new(&config);
        let [line_bytes, data_line_bytes] = [memory.icache, memory.dcache].map(line_bytes);
        let mut memory = Memory::new(memory);
        memory.translation_changed(isa.mmu());
        Cpu {
            shell: Shell::new(name, index, clock, &I::CAUSES),
            timing,
            isa,
            x: [0; REGISTERS],
            memory,
            pc: I::RESET_PC,
            mispredictions: 0,
            pending: I::Pending::NONE,
            blocks: Blocks::new(I::COMPILE_AFTER),
            line_bytes,
            data_line_bytes,
            left: None,
            patched: None,
            paused: None,
            host: HostCode::new(Compiling { waits: false, ..Compiling::after(I::COMPILE_AFTER) }),
            polls: Polls::default(),
            wait_loops: WaitLoops::default(),
            in_call: false,
            access_kind: "",
            only_core: false,
            written_epoch: 0,
            marked_epoch: 0,
            buffers_epoch: 0,
            config,
        }
    }

    /// Number of decoded instructions in all blocks, with repetitions, for tests.
    pub fn decoded(&self) -> usize {
        self.blocks.instrs.len()
    }

    /// After an access to the bus: updates the limit to the next scheduled event, and checks the interrupt inputs and
    /// the devices' transfers.
    pub(crate) fn update_limit(&mut self, bus: &Bus) {
        self.memory.follow_transfers(bus);
        self.shell.update_limit(bus, self.shell.cycles);
    }

    /// True if there is no other core to wait for.
    pub(super) fn is_only_core(&self) -> bool {
        self.only_core
    }

    /// The interrupt lines that are high now.
    pub(crate) fn interrupts<'a>(&'a self, bus: &'a Bus) -> &'a Inputs {
        self.shell.irqs.up(bus, self.shell.cycles)
    }

    /// True if memory with decoded code was written, or is fetched in another way than before, and the loop below has
    /// yet to handle that.
    #[inline(always)]
    pub(super) fn code_was_written(&self, bus: &Bus) -> bool {
        bus.code_written.epoch() != self.written_epoch || bus.line_buffers.epoch() != self.buffers_epoch
    }

    /// True if the loop below has to handle something before the next instruction.
    pub(crate) fn has_news(&self, bus: &Bus) -> bool {
        bus.exit.is_some()
            || bus.clocks.are_pending()
            || self.code_was_written(bus)
            || self.shell.stop.is_some()
            || self.isa.is_news(self.interrupts(bus))
    }

    /// Runs until something stops the core; only one instruction if `single`.
    pub(super) fn run_loop(&mut self, bus: &mut Bus, single: bool) -> Stop {
        let stop = self.run_until_stopped(bus, single);
        if stop == Stop::Waiting {
            self.shell.sleeps(bus);
        }
        stop
    }

    fn run_until_stopped(&mut self, bus: &mut Bus, single: bool) -> Stop {
        self.shell.stop = None;
        if self.in_call {
            I::call_host(self, bus);
            if let Some(stop) = self.shell.stop.take() {
                return stop;
            }
        }
        if self.shell.waiting && !self.isa.wakes(self.interrupts(bus)) {
            return Stop::Waiting;
        }
        if std::mem::take(&mut self.shell.waiting) {
            self.shell.wakes(bus);
            self.woken(bus);
        }
        loop {
            if let Some(stop) = self.shell.stop.take().or_else(|| self.shell.stops_for_calls(single)) {
                self.left = None;
                return stop;
            }
            if self.shell.cycles >= self.shell.deadline.limit || bus.exit.is_some() || bus.clocks.are_pending() {
                self.left = None;
                return Stop::Horizon;
            }
            self.follow_memory(bus);
            if self.shell.stop.is_some() {
                continue;
            }
            self.memory.follow_transfers(bus);
            self.isa.see(self.shell.irqs.look(bus, self.shell.cycles));
            if I::is_between(self) {
                I::go_on(self, bus);
            } else if let Some(interrupt) = self.isa.deliverable(self.shell.irqs.seen()) {
                // The sleep was that of the interrupted code, not of the handler.
                self.shell.waits_woke(bus);
                self.note_interrupt(bus);
                self.shell.breaks.interrupts += 1;
                I::take(self, bus, interrupt);
            } else if !self.run_next(bus, single) {
                continue;
            }
            if single && !I::is_between(self) {
                return self.shell.stop.take().unwrap_or(Stop::Horizon);
            }
        }
    }

    /// Runs from the current address. False if neither an instruction nor an exception has run.
    fn run_next(&mut self, bus: &mut Bus, single: bool) -> bool {
        I::follow_map(self);
        if self.follows_calls() {
            if self.begin_calls() {
                return false;
            }
            self.charge_last();
        }
        self.shell.waits_woke(bus);
        if !single && self.shell.breaks_at(self.pc & I::ADDRESS_MASK) {
            self.shell.stop = Some(Stop::Break);
            return false;
        }
        let before = (self.shell.instructions, self.shell.exceptions);
        if self.polls.has_candidate && !single {
            self.wait_loops.give_up();
            fast_forward(self, bus);
        } else if !(self.wait_loops.are_on() && !single && self.watch(bus)) {
            self.run_once(bus, single);
        }
        self.settle_calls();
        self.shell.name_task(bus);
        self.meet_kernel(bus);
        I::follow_jump(self, bus);
        (self.shell.instructions, self.shell.exceptions) != before
    }

    /// Finds the block at the current address, links it to the previous one, fetches it, and runs it.
    fn run_once(&mut self, bus: &mut Bus, single: bool) {
        if self.blocks.are_full() {
            self.drop_blocks();
        }
        if self.memory.code_pages_are_full() {
            self.drop_blocks();
            self.memory.number_code_pages_anew();
            I::loaded(self);
        }
        self.follow_lines();
        if self.are_counters_full() {
            self.drop_blocks();
            self.begin_counters_anew();
        }
        if self.host.has_work_under_way() {
            self.adopt_compiled();
        }
        let left = self.left.take();
        let paused = self.paused.take();
        if !I::locate(self, bus) {
            return;
        }
        if let Some(paused) = paused
            && !single
            && self.goes_on_in(&paused)
        {
            I::execute(self, bus, paused.index, paused.at as usize);
            self.unpatch();
            return;
        }
        let whole = !single && self.isa.runs_blocks() && !self.runs_one_by_one(bus);
        let index = if whole { self.longest_block(bus, left) } else { self.block_at(bus, Extent::One) };
        if let Some(index) = index
            && left.is_none()
            // A block that had to wait for a line is linked, to be entered the same way each time.
            && !self.blocks.is_passing(index)
        {
            self.blocks.enter_by_chance(index);
        }
        if let Some(index) = index
            && self.fetch(bus, index)
        {
            I::execute(self, bus, index, 0);
        }
        self.unpatch();
    }

    /// True where the memory map shows that instructions are fetched past the cache, and so run one by one.
    #[inline(always)]
    fn runs_one_by_one(&self, bus: &Bus) -> bool {
        !I::FETCHES_IN_BLOCKS && !I::Mmu::TRANSLATES && self.memory.fetch_via(bus, self.pc) == Via::Uncached
    }

    /// The block at the current address, as much of it as can run without a wait for a fetch within it, and before the
    /// limit. `left` is linked to it.
    fn longest_block(&mut self, bus: &mut Bus, left: Option<(u32, usize)>) -> Option<u32> {
        let mut index = self.block_at(bus, Extent::Whole)?;
        if I::COMPILE_AFTER > 0 {
            self.settle(index);
        }
        if !I::FETCHES_IN_BLOCKS && self.blocks.cold[index as usize].fetch == Via::Uncached {
            return self.block_at(bus, Extent::One);
        }
        if self.blocks.cold[index as usize].entry.extent == Extent::Whole {
            if let Some((from, exit)) = left {
                self.link(from, exit, index);
            }
            if !self.only_first_line_misses(index) {
                index = self.block_at(bus, Extent::Line)?;
            }
        }
        let fits =
            self.shell.cycles + u64::from(self.blocks.hot[index as usize].longest_cycles) <= self.shell.deadline.limit;
        if fits || self.cut(index, 0) { Some(index) } else { self.block_at(bus, Extent::One) }
    }

    /// Makes a block that may end after the limit end earlier: before its first instruction after number `count` that
    /// could begin after the limit. False if that can't be done.
    pub(super) fn cut(&mut self, index: u32, count: u16) -> bool {
        if !I::CUTS_BLOCKS || self.blocks.is_uncached(index) {
            return false;
        }
        let left_cycles = self.shell.deadline.limit.wrapping_sub(self.shell.cycles);
        let Hot { first_op, instructions, .. } = self.blocks.hot[index as usize];
        let begins = |info: &OpInfo| u64::from(info.begins_cycles).saturating_sub(1);
        let in_time = |info: &OpInfo| info.instr <= count || info.instr < instructions && begins(info) < left_cycles;
        let infos = self.blocks.infos_of(index);
        // Waits within the block may make the last instruction late, even if it is in time without them.
        let last = infos.partition_point(|info| info.instr + 1 < instructions);
        let late = infos.partition_point(in_time).min(last);
        if infos.get(late).is_some_and(|info| info.instr > count) {
            self.patch(first_op as usize + late);
        }
        true
    }

    /// Makes the block `index` at the current address visible to compiled code.
    fn settle(&mut self, index: u32) {
        let cold = &self.blocks.cold[index as usize];
        if cold.entry.extent == Extent::Whole {
            let entry = EntryOf::<I> { pending: self.pending, ..cold.entry };
            self.blocks.settle(&entry, index);
        }
    }

    /// The block at the current address, decoded if necessary. Only one line of cold code is run at first: then no
    /// whole block is decoded, and the line's block stands for it. `None` if it can't be fetched, and the core is at
    /// its handler.
    pub(super) fn block_at(&mut self, bus: &mut Bus, extent: Extent) -> Option<u32> {
        let entry = EntryOf::<I> { pc: I::address(self), context: self.isa.context(), extent, pending: self.pending };
        if let Some(index) = self.known_block(entry) {
            return Some(index);
        }
        if extent == Extent::Whole
            && !self.memory.has_fetch_line(I::page(&entry.context), self.next_line(self.pc))
            && let Some(index) = self.known_block(EntryOf::<I> { extent: Extent::Line, ..entry })
        {
            return Some(index);
        }
        match self.read_block(bus, entry) {
            Ok(index) => {
                self.follow_marks(bus);
                Some(index)
            }
            Err(exception) => {
                I::raise(self, bus, exception);
                None
            }
        }
    }

    fn known_block(&mut self, entry: EntryOf<I>) -> Option<u32> {
        if self.blocks.is_missing(&entry) {
            return None;
        }
        let known = self.blocks.find(entry).or_else(|| {
            let unaffected = I::SHARES_BLOCKS && !entry.pending.is_none();
            unaffected.then(|| self.blocks.find_unaffected(&self.timing, entry)).flatten()
        });
        if known.is_none() {
            self.blocks.note_missing(entry);
        }
        known
    }

    fn link(&mut self, from: u32, exit: usize, to: u32) {
        // Parts of blocks stay unlinked: a step is one instruction, and the code after a line may be a whole block the
        // next time.
        let (cold, entry) = (&self.blocks.cold[from as usize], &self.blocks.cold[to as usize].entry);
        let same = I::may_link(cold.entry.context, entry.context) && cold.pending[exit] == self.pending;
        if cold.entry.extent == Extent::Whole && !self.shell.stops_at(self.pc & I::ADDRESS_MASK) && same {
            self.blocks.link(from, exit, to);
        }
    }

    /// Charges `cycles` for the misprediction of the branch at the end of a block.
    #[inline(always)]
    pub(crate) fn mispredicted(&mut self, cycles: u64) {
        self.shell.cycles += cycles;
        self.shell.spent.mispredicted += cycles;
        self.mispredictions += 1;
    }

    /// Waits for an interrupt, unless a pending one ends the wait at once.
    pub(crate) fn wait(&mut self, bus: &Bus) {
        let will_change = self.shell.irqs.will_change(bus, self.shell.cycles);
        if will_change {
            self.shell.sleeps(bus);
            self.idle(self.shell.irqs.since(bus));
        }
        self.shell.waiting = !self.isa.wakes(self.interrupts(bus));
        if will_change && !self.shell.waiting {
            self.shell.wakes(bus);
        }
        if self.shell.waiting {
            self.shell.stop = Some(Stop::Waiting);
        } else {
            self.woken(bus);
        }
    }

    /// Ends a wait for an interrupt, or the attempt at one.
    fn woken(&mut self, bus: &Bus) {
        let inputs = *self.interrupts(bus);
        self.isa.woken(&inputs);
    }

    pub(super) fn begin(&mut self, bus: &mut Bus, until: Ps) {
        self.follow_cluster(bus);
        I::begin(self, bus);
        self.only_core = bus.core_irqs.len() == 1;
        self.shell.deadline.begin(bus, until);
        self.update_limit(bus);
    }
}

/// Size of the lines of a cache; without a cache, that of the lines for which the memory keeps shortcuts.
fn line_bytes(cache: Option<CacheShape>) -> u32 {
    cache.map_or(LINE_BYTES, |shape| shape.line_bytes)
}

impl<I: Isa> Core for Cpu<I> {
    fn name(&self) -> &str {
        &self.shell.name
    }

    fn clock(&self) -> Hz {
        self.shell.clock
    }

    fn cycles(&self) -> Cycles {
        Cycles(self.shell.cycles)
    }

    fn cycles_had(&self) -> Cycles {
        Cycles(self.shell.had(self.shell.cycles))
    }

    fn change_clock(&mut self, rate: Hz) {
        let (before, totals) = (self.shell.cycles, self.totals());
        self.end_rate_of_profile();
        self.shell.change_clock(rate, totals);
        self.memory.change_clock(rate, before, self.shell.cycles);
        I::clock_changed(self, before);
    }

    fn paths_changed(&mut self) {
        self.memory.forget_paths();
        // Compiled code contains prices of paths.
        self.drop_blocks();
        self.polls = self.polls.afresh();
    }

    fn run(&mut self, bus: &mut Bus, until: Ps) -> Stop {
        if self.wait_loops.are_on() {
            return self.run_and_watch(bus, until);
        }
        self.begin(bus, until);
        self.run_loop(bus, false)
    }

    fn step(&mut self, bus: &mut Bus) -> Stop {
        self.step_until(bus, Ps(u64::MAX / 2))
    }

    fn reset(&mut self, bus: &mut Bus) {
        self.wait_loops.give_up();
        I::reset(self, bus);
    }

    fn start(&mut self, bus: &mut Bus, start: CoreStart) {
        self.wait_loops.give_up();
        self.memory.lose_all(bus, self.shell.index as usize);
        I::start(self, bus, start);
    }

    fn data_cache(&self) -> Option<CacheShape> {
        self.memory.config.dcache
    }

    fn keeps_order(&self) -> bool {
        true
    }

    fn idle(&mut self, until: Ps) {
        let cycles = self.shell.idle(until);
        I::rest(&mut self.pending, cycles);
    }

    fn awaits(&self, bus: &Bus) -> Awaited {
        self.isa.awaits(self.interrupts(bus))
    }

    fn would_wake(&self, bus: &Bus, bit: u32) -> bool {
        let mut inputs = *self.interrupts(bus);
        inputs.set(bit, true, self.shell.now());
        self.isa.wakes(&inputs)
    }

    fn machine(&self) -> Machine {
        I::MACHINE
    }

    fn load_address(&self, addr: u32) -> u32 {
        I::load_address(addr)
    }

    fn set_pc(&mut self, pc: u32) {
        I::set_pc(self, pc);
    }

    fn vector_table(&self) -> Option<u32> {
        I::vector_table(self)
    }

    fn set_vector_table(&mut self, table: u32) {
        I::set_vector_table(self, table);
    }

    fn registers(&self) -> Vec<u32> {
        I::registers(self)
    }

    fn know_functions(&mut self, functions: &Functions) {
        if self.shell.follow_calls(functions, I::ADDRESS_MASK) {
            self.drop_blocks();
        }
    }

    fn follow_tasks_of(&mut self, kernel: &LinuxKernel) {
        if self.shell.profile.is_none()
            && let Some(calls) = &mut self.shell.calls
            && !calls.have_kernel()
        {
            calls.follow_kernel(Some(kernel));
            // Compiled code makes calls by itself that are followed now.
            self.drop_blocks();
        }
    }

    fn watch(&mut self, name: &str, pc: u32) {
        let pc = pc & I::ADDRESS_MASK;
        self.know_functions(&Functions { entries: vec![pc], whole: vec![pc] });
        self.shell.watch(name, pc);
        // Compiled code makes calls of unwatched functions by itself.
        self.drop_blocks();
    }

    fn mark_calls(&mut self, pc: u32) -> bool {
        self.shell.sections.mark_calls(pc & I::ADDRESS_MASK)
    }

    fn keep_calls(&mut self, pc: u32, most: usize) -> bool {
        self.shell.sections.keep_calls(pc & I::ADDRESS_MASK, most)
    }

    fn take_marks(&mut self) -> Vec<CallMark> {
        self.shell.sections.take_marks()
    }

    fn report(&mut self, bus: &Bus) -> CoreReport {
        self.shell.waits_woke(bus);
        let totals = self.totals();
        self.shell.report(bus, &totals, I::counters(self))
    }

    fn begin_interval(&mut self, bus: &Bus, interval: Option<u32>) -> CoreReport {
        let totals = self.totals();
        self.shell.begin_interval(bus, &totals, interval)
    }

    fn waited_in(&self, bus: &Bus, windows: &[WindowIntervals]) -> Option<Vec<WaitedIn>> {
        self.shell.waited_in(bus, windows)
    }

    fn profile(&mut self, options: &ProfileOptions) -> bool {
        self.begin_profile(options)
    }

    fn record_waits(&mut self) {
        self.shell.begin_waits();
    }

    fn watch_loops(&mut self) {
        self.wait_loops.start();
    }

    fn add_to_path(&self, bus: &Bus, paths: &mut Paths) {
        self.shell.waits.iter().for_each(|waits| waits.add_to_path(bus, paths));
    }

    fn profiled(&mut self, bus: &Bus, cut: Option<Cut>) -> Option<CoreProfile> {
        self.charge_last();
        self.name_tasks(bus);
        self.shell.profile(bus, cut)
    }

    fn loaded_functions(&self) -> &[LoadedFunction] {
        self.shell.profile.as_ref().map_or(&[], |profile| profile.loaded_functions())
    }

    fn cut(&self, end: Ps) -> Option<Cut> {
        self.shell.cut(self.memory.accounts(), end)
    }

    fn compile(&mut self, how: Compiling) {
        if I::COMPILE_AFTER > 0 {
            self.drop_blocks();
            self.blocks.forget_code(0);
            self.blocks.compile_after = how.after;
            self.host = HostCode::new(how);
        }
    }

    fn compiled(&self) -> Compiled {
        self.host.compiled
    }

    fn skip_polling(&mut self, skip: bool) {
        self.polls.enable(skip);
    }

    fn skipped(&self) -> Cycles {
        Cycles(self.polls.skipped_cycles)
    }

    fn lost_calls(&self) -> u64 {
        self.shell.lost_calls()
    }
}

//! The memory side of a core, between the core and the bus: first-level caches, translation lookaside buffers, the
//! store buffer, instruction fetches.
//!
//! The caches are directories: bytes stay in the memories, so contents are always coherent, and only time depends on
//! the caches. A [`meter::Meter`] counts the cost of an access beyond its instruction in the core's cycles, and charges
//! each cycle to a cause: so the causes sum to the core's waits.
//!
//! The model is that of the Cortex-A5; other cores use the parts that they have. "TRM" is the Cortex-A5 Technical
//! Reference Manual (DDI 0433).

pub mod access;
mod accounts;
mod cached;
pub mod config;
mod data;
mod data_pages;
pub mod fetch;
mod flat;
mod known_path;
mod maintain;
mod matrix;
mod meter;
mod mmu;
mod multiple;
mod other_memory;
mod outward;
pub mod plan;
pub(crate) mod port;
mod prefetching;
mod registers;
mod saving;
pub mod shortcut;
pub mod snooping;
mod stores;
mod streaming;
#[cfg(test)]
mod tests;
mod tlb;
pub(crate) mod translate;
mod unaligned;

pub use accounts::{Accounts, LONG_CYCLES, LongWait, Part, Purpose};
pub use config::{Chunks, FetchPolicy, MemoryConfig, WriteBack};
pub use flat::Quiet;
use matrix::Grants;
pub use matrix::{GRANTS, Grant, SYSTEM_BUS};
pub use mmu::{Identity, Mmu, Refusal};
use other_memory::MemoryNumber;
pub use other_memory::{MEMORY_BITS, SYSTEM_MEMORY};

use crate::bus::code::CodeSpan;
use crate::bus::entries::Entries;
use crate::bus::{Bus, BusFault, Target};
use crate::memory::cache::{Cache, CacheCounters, CacheShape, WritePolicy};
use crate::state::Fresh;
use crate::time::Hz;
use access::{Abort, Status};
use data_pages::DataPages;
use fetch::on_demand::WordBuffer;
use fetch::pages::CodePages;
use fetch::passing::Passing;
use fetch::{FetchLines, Prefetch};
use known_path::KnownPath;
use meter::{Meter, Trip};
use plan::Known;
use prefetching::Prefetching;
use registers::KnownDevices;
use shortcut::Shortcuts;
use std::borrow::Cow;
use stores::StoreBuffer;
use streaming::Streaming;
use tlb::Tlb;

/// Line size where no cache defines it.
pub(crate) const LINE_BYTES: u32 = 32;

/// Number of times that lines of a set may take shortcuts from each other. An access by a shortcut with stamps costs
/// the host a little more: it is not worthwhile for a set whose lines are seldom used alternately.
const STAMPED_AFTER: u8 = 4;

/// Result of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Done<T, S> {
    /// Core cycles that it took beyond the instruction's own issue.
    pub cycles: u64,
    /// Its value, or abort.
    pub result: Result<T, Abort<S>>,
}

/// Path of an access, which determines its cost.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, crate::state::State, Fresh)]
pub enum Via {
    /// Tightly coupled memory: no cost.
    Local,
    /// A cache: no cost for a hit, else a line fill.
    Cached,
    /// A line of instructions that no cache keeps: no cost while a buffer has it, else it is read ([`fetch::passing`]).
    Passing,
    /// The bus, each time.
    Uncached,
}

/// The memory side of a core.
#[derive(Debug)]
pub struct Memory {
    pub(crate) config: MemoryConfig,
    /// All state on which further accesses depend, except for the values below, which follow from it.
    state: State,
    accounts: Accounts,
    /// The last seen value of [`Bus::transfers_by_devices`].
    transfers_by_devices: u64,
    /// The bus matrix's grants by the number of the slave, and the grant of the slave that was accessed last.
    grants: Grants,
    grant: Grant,
    /// Lines of data whose accesses cost nothing and change nothing, by virtual address.
    shortcuts: Shortcuts,
    /// The pages of shortcuts, where addresses are translated by tables in memory.
    data_pages: DataPages,
    /// How often a line of each set of the data cache lost its shortcuts to another present line: from
    /// [`STAMPED_AFTER`] on they have stamps. Empty if they can't have any.
    shortcut_losses: Box<[u8]>,
    /// The privilege for which `shortcuts` holds.
    shortcuts_privileged: bool,
    /// The instruction cache may have lines: that of a flash interface has none while it is off.
    icache_has_lines: bool,
    /// Lines of instructions whose fetches cost nothing and change nothing, by virtual address.
    fetched: FetchLines,
    /// Places from which decoded code was read.
    code_pages: CodePages,
    /// Map entries that were accessed since [`Memory::forget_touched`].
    touched: Entries,
    /// Addresses may be translated.
    translates: bool,
    /// They are translated by tables in memory.
    walks: bool,
    /// Addresses are not translated now (the MMU is off or missing), data is uncached, and the core waits for each
    /// store.
    flat: bool,
    /// Data accesses use a cache with few checks: see [`cached`].
    cached: bool,
    /// The data cache, and the second level, may stop to allocate lines for stores: see [`streaming`].
    streams: [bool; 2],
    /// Lines that the data cache may request ahead now: see [`prefetching`].
    prefetched_lines: usize,
    /// Instructions are uncached, too.
    flat_fetch: bool,
    /// Path of the last such fetch.
    code_path: KnownPath,
    /// Path of the last such data access.
    data_path: KnownPath,
    /// Devices whose registers were accessed.
    devices: KnownDevices,
    /// First and last address of the device last read this way.
    window: (u32, u32),
    /// Targets of such accesses for which compiled code has plans.
    known: Vec<Known>,
}

/// The number of a cycle after cycle `before` has become cycle `now`; 0 for a cycle in the past.
fn renumbered(cycle: u64, before: u64, now: u64) -> u64 {
    if cycle > before { now + (cycle - before) } else { 0 }
}

/// State on which further accesses depend.
#[derive(Clone, Debug, crate::state::State)]
pub struct State {
    #[state(with = crate::state::present)]
    icache: Option<Cache>,
    #[state(with = crate::state::present)]
    dcache: Option<Cache>,
    tlb: Tlb,
    /// Chunks fetched past the cache.
    prefetch: Prefetch,
    /// Words fetched past the cache on demand.
    words: WordBuffer,
    stores: StoreBuffer,
    /// Stores that write whole lines.
    streaming: Streaming,
    /// Lines of data requested ahead.
    prefetching: Prefetching,
    /// The end of a line fill for which the core does not wait, as a core cycle.
    fill_ends: u64,
    /// Number of lookups in the second-level cache.
    outer_uses: u64,
    /// The slave of the bus matrix that was accessed last; 0 for none.
    slave: u8,
    /// Wait of the last store that asked for a slave's port, in the write buffer.
    asked_cycles: u64,
    /// The memory of the last load that another access may overlap.
    loaded_memory: MemoryNumber,
    /// Lines of instructions in buffers, which are in no cache.
    passing: Passing,
}

impl Memory {
    /// The state after reset, with empty caches.
    pub fn new(config: MemoryConfig) -> Memory {
        let line_bytes =
            |shape: Option<CacheShape>, otherwise| shape.map_or(otherwise, |shape: CacheShape| shape.line_bytes);
        let dcache = config.dcache.map(Cache::new);
        let stamped = dcache.as_ref().filter(|cache| may_have_stamps(cache.shape()));
        let shortcut_losses = vec![0; stamped.map_or(0, |cache| cache.sets() as usize)].into_boxed_slice();
        Memory {
            state: State {
                icache: config.icache.map(Cache::new),
                dcache,
                tlb: Tlb::new(config.tlb),
                prefetch: Prefetch::default(),
                words: WordBuffer::default(),
                stores: StoreBuffer::default(),
                streaming: Streaming::default(),
                prefetching: Prefetching::default(),
                fill_ends: 0,
                outer_uses: 0,
                slave: 0,
                asked_cycles: 0,
                loaded_memory: 0,
                passing: Passing::default(),
            },
            accounts: Accounts::default(),
            transfers_by_devices: 0,
            grants: Grants::default(),
            grant: Grant::default(),
            shortcuts: Shortcuts::new(
                line_bytes(config.dcache, config.granule_bytes),
                !shortcut_losses.is_empty(),
                config.slave_switch_cycles > 0,
            ),
            data_pages: DataPages::new(),
            shortcut_losses,
            shortcuts_privileged: true,
            icache_has_lines: true,
            fetched: FetchLines::new(line_bytes(config.icache, LINE_BYTES), fetch::line_order::matters(config.icache)),
            code_pages: CodePages::new(),
            touched: Entries::default(),
            translates: true,
            walks: false,
            flat: true,
            cached: false,
            streams: [false; 2],
            prefetched_lines: 0,
            flat_fetch: true,
            code_path: KnownPath::NOWHERE,
            data_path: KnownPath::NOWHERE,
            devices: KnownDevices::default(),
            window: (1, 0),
            known: Vec::new(),
            config,
        }
    }

    // ---- Quick accesses

    /// The host address for an aligned load, if it costs nothing and changes nothing. Uses the privilege set by
    /// [`Memory::privilege_changed`].
    #[inline(always)]
    pub fn load_shortcut(&self, va: u32, bytes: u32) -> Option<*const u8> {
        self.shortcuts.load(va, bytes)
    }

    /// The host address for an aligned store, if it costs nothing and changes nothing.
    #[inline(always)]
    pub fn store_shortcut(&self, va: u32, bytes: u32) -> Option<*mut u8> {
        self.shortcuts.store(va, bytes)
    }

    /// The host address for an aligned store of up to a word, if it costs nothing and changes nothing, next to decoded
    /// instructions: for stores without another shortcut.
    #[inline]
    pub fn store_beside_code(&self, va: u32, bytes: u32) -> Option<*mut u8> {
        self.shortcuts.store_beside_code(va, bytes)
    }

    /// The host address for an aligned load, if it costs nothing and changes only the order in which lines were used:
    /// for loads without another shortcut. `stamp` is greater than those of all earlier instructions.
    #[inline]
    pub fn load_stamped(&mut self, va: u32, bytes: u32, stamp: u64) -> Option<*const u8> {
        self.shortcuts.load_stamped(va, bytes, stamp)
    }

    /// As [`Memory::load_stamped`], for stores, next to decoded instructions, too.
    #[inline]
    pub fn store_stamped(&mut self, va: u32, bytes: u32, stamp: u64) -> Option<*mut u8> {
        self.shortcuts.store_stamped(va, bytes, stamp)
    }

    /// Sets whether the core is in a privileged mode. Called after each change of mode. True if that has changed.
    #[inline]
    pub fn privilege_changed(&mut self, privileged: bool) -> bool {
        let changed = self.shortcuts_privileged != privileged;
        if changed {
            self.shortcuts_privileged = privileged;
            if self.keeps_shortcuts() {
                self.data_pages.privilege_changed(&mut self.shortcuts, privileged);
            } else {
                self.clear_shortcuts();
            }
            // Where addresses are translated by tables, pages of code have a privilege.
            if !self.walks || self.flat {
                self.learn_fetches();
                self.clear_fetched();
            }
        }
        changed
    }

    /// Updates this after a change of registers that control translation, permissions or caches.
    pub fn translation_changed<M: Mmu>(&mut self, mmu: &M) {
        self.clear_shortcuts();
        self.look_at(mmu);
        self.learn_fetches();
        self.clear_fetched();
        self.domains_changed();
    }

    /// Updates this after a change of the rights to domains.
    pub fn domains_changed(&mut self) {
        self.state.tlb.forget_permissions();
        self.mapping_changed();
    }

    /// Updates this after a change of registers that control translation only: lines of instructions stay where they
    /// are.
    pub fn mapping_changed(&mut self) {
        // TRM, Micro TLB: any change of such a register flushes the micro TLBs.
        self.state.tlb.flush_micro();
        self.follow_empty_micro_tlbs();
    }

    /// Updates this after the micro TLBs have been flushed.
    fn follow_empty_micro_tlbs(&mut self) {
        if self.keeps_shortcuts() {
            self.data_pages.all_left(&mut self.shortcuts);
        } else {
            self.clear_shortcuts();
        }
        self.lose_code_pages();
        self.forget_uncached();
    }

    /// True if shortcuts stay when their pages leave the micro TLB: see [`data_pages`].
    #[inline(always)]
    fn keeps_shortcuts(&self) -> bool {
        self.walks && !self.flat && self.shortcuts.may_sleep()
    }

    /// Updates this after a change of registers that control permissions of data only; instructions stay where they
    /// are.
    pub fn rights_changed(&mut self) {
        self.clear_shortcuts();
        self.forget_uncached();
    }

    /// Determines the modes of access from these registers.
    fn look_at<M: Mmu>(&mut self, mmu: &M) {
        self.translates = M::TRANSLATES;
        self.walks = M::WALKS;
        self.flat = if M::TRANSLATES {
            !mmu.mmu_is_on()
        } else {
            self.config.dcache.is_none() && self.config.store_buffer_entries == 0
        };
        self.cached = Memory::is_cached_simply(&self.config, mmu);
        self.streams = self.streaming_levels(mmu);
        self.prefetched_lines = self.config.prefetch_lines.min(mmu.prefetched_lines()) as usize;
        let icache = mmu.icache_is_on() && self.config.icache.is_some();
        self.flat_fetch = !icache && (self.flat || !M::TRANSLATES);
    }

    /// Drops computed values after a change of a software-filled TLB or of the current address space.
    pub fn forget_translations(&mut self, mmu: &impl Mmu) {
        self.state.tlb.invalidate(access::TlbEntries::All);
        self.translation_changed(mmu);
    }

    /// Removes shortcuts for stores to memory that now holds decoded instructions. Called when [`Bus::code_marked`] has
    /// grown; `epoch` is its last seen value.
    pub fn follow_marks(&mut self, bus: &Bus, epoch: u64) {
        let Some(spans) = bus.code_marked.since(epoch) else { return self.shortcuts.forbid_stores() };
        for CodeSpan { ram, first, last } in spans {
            // A forged snapshot may name a RAM that does not exist.
            let Some(memory) = bus.rams.get(ram) else { continue };
            let host = memory.as_ptr().wrapping_add(first as usize);
            // A RAM may have several addresses.
            for entry in bus.map.iter().filter(|entry| entry.target == Target::Ram(ram)) {
                self.shortcuts.forbid_stores_at(entry.origin.wrapping_add(first), host, last - first + 1);
            }
        }
    }

    /// Offset of the table of [`Memory::shortcuts`].
    pub const SHORTCUTS: usize = std::mem::offset_of!(Memory, shortcuts);

    /// True if an unaligned access takes longer than an aligned one.
    pub fn splits_unaligned(&self) -> bool {
        self.config.unaligned_cycles.is_some()
    }

    /// The table of [`Memory::load_shortcut`], for compiled code.
    pub fn shortcuts(&self) -> &Shortcuts {
        &self.shortcuts
    }

    // ---- Accounts and state

    /// The time of accesses, by cause.
    pub fn accounts(&self) -> &Accounts {
        &self.accounts
    }

    /// Mutable accounts, for adding the skipped iterations of a loop at once.
    pub fn accounts_mut(&mut self) -> &mut Accounts {
        &mut self.accounts
    }

    /// All state on which further accesses depend, for a later comparison.
    pub fn state(&self) -> State {
        let mut state = self.state.clone();
        if let Some(Cow::Owned(dcache)) = self.ordered_dcache() {
            state.dcache = Some(dcache);
        }
        if let Some(Cow::Owned(icache)) = self.ordered_icache() {
            state.icache = Some(icache);
        }
        state
    }

    /// The data cache with all uses of its lines entered.
    fn ordered_dcache(&self) -> Option<Cow<'_, Cache>> {
        let cache = self.state.dcache.as_ref()?;
        let uses = self.shortcuts.uses();
        Some(if uses.is_empty() { Cow::Borrowed(cache) } else { Cow::Owned(cache.after_uses(uses)) })
    }

    /// True if further accesses, the first of them at core cycle `now`, behave as they did in the state `before`,
    /// `then` cycles after reset.
    pub fn behaves_like(&self, now: u64, before: &State, then: u64) -> bool {
        let (state, icache, dcache) = (&self.state, self.ordered_icache(), self.ordered_dcache());
        let same_behaviour = |now: Option<&Cache>, before: &Option<Cache>| match (now, before) {
            (Some(now), Some(before)) => now.behaves_like(before),
            _ => true,
        };
        // The contents of the second level are not compared: it must not have been used.
        state.outer_uses == before.outer_uses
            && same_behaviour(icache.as_deref(), &before.icache)
            && same_behaviour(dcache.as_deref(), &before.dcache)
            && state.tlb == before.tlb
            && state.prefetch.behaves_like(now, &before.prefetch, then)
            && state.words == before.words
            && (state.slave, state.asked_cycles) == (before.slave, before.asked_cycles)
            && state.loaded_memory == before.loaded_memory
            && state.passing.behaves_like(&before.passing)
            && state.stores.behaves_like(now, &before.stores, then)
            && state.streaming.behaves_like(now, &before.streaming, then)
            && state.prefetching.behaves_like(now, &before.prefetching, then)
            && state.fill_ends.saturating_sub(now) == before.fill_ends.saturating_sub(then)
    }

    /// Adds the events since `before`, `times` more times, and shifts future cycles by `cycles`.
    pub fn repeat(&mut self, before: &State, times: u64, cycles: u64) {
        let state = &mut self.state;
        for (cache, before) in [(&mut state.icache, &before.icache), (&mut state.dcache, &before.dcache)] {
            if let (Some(cache), Some(before)) = (cache, before) {
                cache.repeat(before, times);
            }
        }
        state.tlb.repeat(&before.tlb, times);
        state.prefetch.move_on(cycles);
        state.stores.move_on(cycles);
        state.streaming.move_on(cycles);
        state.prefetching.move_on(cycles);
        state.fill_ends += cycles;
    }

    /// True if no store is under way in core cycle `now`.
    pub fn is_settled(&self, now: u64) -> bool {
        self.state.stores.all_done() <= now
    }

    /// Map entries that were accessed since [`Memory::forget_touched`].
    pub fn touched(&self) -> Entries {
        self.touched
    }

    /// See [`Memory::touched`].
    pub fn forget_touched(&mut self) {
        self.touched = Entries::default();
    }

    /// Totals of the instruction and the data cache.
    pub fn cache_counters(&self) -> [CacheCounters; 2] {
        let counters = |cache: &Option<Cache>| cache.as_ref().map_or_else(CacheCounters::default, Cache::counters);
        [counters(&self.state.icache), counters(&self.state.dcache)]
    }

    /// Named totals since reset of the core `core`: its `own` ones, then the memory side's.
    pub fn counters(&self, core: &str, own: &[(&str, u64)]) -> Vec<(String, u64)> {
        let [instructions, data] = self.cache_counters();
        let (misses, walks) = self.state.tlb.counters();
        let named = [
            ("i-cache fills", instructions.fills),
            ("d-cache fills", data.fills),
            ("d-cache write-backs", data.write_backs),
            ("micro TLB misses", misses),
            ("table walks", walks),
        ];
        own.iter().chain(&named).map(|(what, total)| (format!("{core}.{what}"), *total)).collect()
    }

    // ---- Clocks that change

    /// The rate of the core's clock.
    pub fn clock(&self) -> Hz {
        self.config.clock
    }

    /// Changes the rate of the core's clock: its cycle `before` is its cycle `now`. Work under way takes the remaining
    /// number of cycles at the new rate.
    pub fn change_clock(&mut self, rate: Hz, before: u64, now: u64) {
        self.config.clock = rate;
        self.accounts.renumber();
        let state = &mut self.state;
        state.stores.renumber(before, now);
        state.streaming.renumber(before, now);
        state.prefetching.renumber(before, now);
        state.prefetch.renumber(before, now);
        state.fill_ends = renumbered(state.fill_ends, before, now);
    }

    /// Drops the known paths.
    pub fn forget_paths(&mut self) {
        (self.code_path, self.data_path) = (KnownPath::NOWHERE, KnownPath::NOWHERE);
        self.devices = KnownDevices::default();
        self.window = (1, 0);
        self.known.clear();
    }

    // ---- Helpers of the slow paths

    /// True if stores stay in the data cache.
    fn writes_back(&self) -> bool {
        self.config.dcache.is_some_and(|shape| shape.write == WritePolicy::WriteBack)
    }

    /// Drops all instructions fetched past the cache.
    fn forget_uncached(&mut self) {
        self.state.prefetch.flush();
        self.state.words.clear();
    }

    /// An access that begins in core cycle `now`.
    fn trip<'a>(&self, bus: &'a mut Bus, now: u64) -> Trip<'a> {
        Trip { bus, meter: Meter::new(self.config.clock, now) }
    }

    /// Removes the shortcuts to the line at a physical address.
    fn forget_shortcuts(&mut self, bus: &Bus, physical: u32) {
        if let Some(host) = host_of(bus, physical) {
            self.shortcuts.remove_host(physical, host);
        }
    }

    /// Removes all shortcuts.
    fn clear_shortcuts(&mut self) {
        self.learn_uses();
        self.shortcuts.clear();
        self.data_pages.clear();
    }

    /// Enters the uses of all lines by shortcuts in the data cache, before the shortcuts are removed.
    pub(super) fn learn_uses(&mut self) {
        if let Some(cache) = self.state.dcache.as_mut().filter(|_| self.shortcuts.have_stamps()) {
            self.shortcuts.take_uses(|line| _ = cache.touch(line, false));
        }
    }

    /// As [`Memory::learn_uses`], for the set of a physical address, before the set is looked up.
    fn learn_uses_of_set(&mut self, physical: u32) {
        if let Some(cache) = &mut self.state.dcache
            && has_stamps_at(&self.shortcut_losses, cache, physical)
        {
            let way_bytes = cache.way_bytes();
            self.shortcuts.take_uses_of_set(physical, way_bytes, |line| _ = cache.touch(line, false));
        }
    }

    /// Removes shortcuts after the use of a line, which was present if it was a `hit`: without stamps to record that,
    /// accesses to the other lines of its set are no longer free of changes. Only the line that was used before it can
    /// have shortcuts.
    fn forget_neighbours(&mut self, bus: &Bus, physical: u32, hit: bool) {
        let Some(cache) = &mut self.state.dcache else { return };
        if Cache::keeps_order(cache.shape())
            && !has_stamps_at(&self.shortcut_losses, cache, physical)
            && let Some(other) = cache.used_before(physical)
            && let Some(host) = host_of(bus, other)
            && self.shortcuts.remove_host(other, host)
            && hit
            && let Some(shortcut_losses) = self.shortcut_losses.get_mut(cache.set_number(physical) as usize)
        {
            *shortcut_losses += 1;
            // No line of the set has a shortcut without stamps from now on.
            if *shortcut_losses == STAMPED_AFTER
                && let Some(host) = host_of(bus, cache.line_addr(physical))
            {
                self.shortcuts.remove_host(physical, host);
            }
        }
    }
}

/// True if shortcuts to the lines of an address's set have stamps: see [`Memory::shortcut_losses`].
fn has_stamps_at(shortcut_losses: &[u8], cache: &Cache, physical: u32) -> bool {
    shortcut_losses
        .get(cache.set_number(physical) as usize)
        .is_some_and(|shortcut_losses| *shortcut_losses >= STAMPED_AFTER)
}

/// True if shortcuts to the lines of a data cache may have stamps: the order of their use matters, a bit is free to
/// mark them, and no instruction accesses two lines of a set (all its accesses have the same stamp).
fn may_have_stamps(shape: CacheShape) -> bool {
    let way_bytes = shape.size_bytes / shape.ways;
    Cache::keeps_order(shape) && shape.line_bytes >= 2 * shortcut::STAMPED && way_bytes >= 256
}

/// The host address of the byte at a physical address, if it is in a RAM.
fn host_of(bus: &Bus, physical: u32) -> Option<*mut u8> {
    let entry = &bus.map[bus.entry_at(physical)?];
    let Target::Ram(ram) = entry.target else { return None };
    Some(bus.rams[ram].as_ptr().wrapping_add(entry.offset(physical) as usize))
}

/// The abort of an access that failed on the bus.
fn abort_of<S: Status>(va: u32, write: bool, fault: BusFault) -> Abort<S> {
    Abort { va, status: S::EXTERNAL, write, domain: 0, bus: Some(fault.kind) }
}

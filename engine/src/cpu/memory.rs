//! What is between a core and the bus: first-level caches, translation lookaside buffers, the store buffer, instruction
//! fetches.
//!
//! The caches are directories: bytes stay in the memories, so contents are always coherent, and only time depends on
//! what is here. What an access costs beyond its instruction is worked out in the core's cycles by a [`meter::Meter`],
//! which charges each of them to a cause: so causes sum to what the core waited.
//!
//! It was made after the Cortex-A5; other cores take of it what they have. "TRM" is the Cortex-A5 Technical Reference
//! Manual (DDI 0433).

pub mod access;
mod accounts;
mod cached;
pub mod config;
mod data;
pub mod fetch;
mod flat;
mod known_path;
mod maintain;
mod matrix;
mod meter;
mod mmu;
mod multiple;
mod outward;
pub mod plan;
pub(crate) mod port;
mod registers;
mod saving;
pub mod shortcut;
mod stores;
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

use crate::bus::code::CodeSpan;
use crate::bus::entries::Entries;
use crate::bus::{Bus, BusFault, Target};
use crate::memory::cache::{Cache, CacheCounters, CacheShape, WritePolicy};
use crate::state::Fresh;
use crate::time::Hz;
use access::{Abort, Status};
use fetch::on_demand::WordBuffer;
use fetch::pages::CodePages;
use fetch::passing::Passing;
use fetch::{FetchLines, Prefetch};
use known_path::KnownPath;
use meter::{Meter, Trip};
use plan::Known;
use registers::KnownDevices;
use shortcut::Shortcuts;
use std::borrow::Cow;
use stores::StoreBuffer;
use tlb::Tlb;

/// Bytes of a line where there is no cache to say it.
pub(crate) const LINE_BYTES: u32 = 32;

/// So often may lines of a set take shortcuts from each other. An access by a shortcut with stamps costs the host a
/// little more: it is not worth while for a set whose lines are seldom used in turn.
const TURNS: u8 = 4;

/// What an access came to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Done<T, S> {
    /// Core cycles that it took beyond the instruction's own issue.
    pub cycles: u64,
    /// What came of it.
    pub result: Result<T, Abort<S>>,
}

/// What an access goes through, which decides what it costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, crate::state::State, Fresh)]
pub enum Via {
    /// Tightly coupled memory: nothing.
    Local,
    /// A cache: nothing if that has it, else a line fill.
    Cached,
    /// A line of instructions that nothing keeps: nothing while it is there, else it is read
    /// ([`fetch::passing`]).
    Passing,
    /// The bus, each time.
    Uncached,
}

/// The memory side of a core.
#[derive(Debug)]
pub struct Memory {
    pub(crate) config: MemoryConfig,
    /// All that accesses to come depend on, but for what is worked out from it below.
    state: State,
    accounts: Accounts,
    /// [`Bus::transfers_by_devices`], as far as this knows of them.
    transfers_by_devices: u64,
    /// What the bus matrix grants anew, by the number of its slave, and of the slave that was accessed last.
    grants: Grants,
    grant: Grant,
    /// Lines of data whose accesses cost and change nothing, by virtual address.
    shortcuts: Shortcuts,
    /// How often, in each set of the data cache, a line lost its shortcuts to another that was there: from [`TURNS`] on
    /// they have stamps. Empty if they can't.
    turns: Box<[u8]>,
    /// The privilege for which `shortcuts` holds.
    shortcuts_privileged: bool,
    /// The instruction cache may have lines: that of a flash interface has none while it is off.
    icache_has_lines: bool,
    /// Lines of instructions whose fetches cost and change nothing, by virtual address.
    fetched: FetchLines,
    /// From where decoded code was read.
    code_pages: CodePages,
    /// Map entries that were accessed since [`Memory::forget_touched`].
    touched: Entries,
    /// Addresses may mean something else than they say.
    translates: bool,
    /// They mean what they say now (the MMU is off, or there is none), data is uncached, and each store is waited for.
    flat: bool,
    /// Data goes through a cache of which there is little to ask: see [`cached`].
    cached: bool,
    /// Instructions are uncached, too.
    flat_fetch: bool,
    /// Where instructions were last fetched from so.
    code_path: KnownPath,
    /// Where data last went so.
    data_path: KnownPath,
    /// Devices whose registers were accessed.
    devices: KnownDevices,
    /// First and last address of the device that was last read so.
    window: (u32, u32),
    /// What answered so, as far as compiled code can do without being asked for more.
    known: Vec<Known>,
}

/// A cycle that lies ahead of cycle `before` by as much as before of cycle `now`; 0 for one that is over.
fn renumbered(cycle: u64, before: u64, now: u64) -> u64 {
    if cycle > before { now + (cycle - before) } else { 0 }
}

/// What accesses to come depend on.
#[derive(Clone, Debug, crate::state::State)]
pub struct State {
    #[state(with = crate::state::present)]
    icache: Option<Cache>,
    #[state(with = crate::state::present)]
    dcache: Option<Cache>,
    tlb: Tlb,
    /// What was fetched past the cache by chunks.
    prefetch: Prefetch,
    /// What was fetched past the cache on demand.
    words: WordBuffer,
    stores: StoreBuffer,
    /// The core cycle in which a line fill ends that nobody waits for.
    fill_ends: u64,
    /// How often the second-level cache was looked up.
    outer_uses: u64,
    /// The slave of the bus matrix that was accessed last; 0 for none.
    slave: u8,
    /// What the last store that asked for the port of a slave waits for in the write buffer.
    asked_cycles: u64,
    /// Lines of instructions that are there and in no cache.
    passing: Passing,
}

impl Memory {
    /// After reset: nothing in the caches.
    pub fn new(config: MemoryConfig) -> Memory {
        let line_bytes =
            |shape: Option<CacheShape>, otherwise| shape.map_or(otherwise, |shape: CacheShape| shape.line_bytes);
        let dcache = config.dcache.map(Cache::new);
        let stamped = dcache.as_ref().filter(|cache| may_have_stamps(cache.shape()));
        let turns = vec![0; stamped.map_or(0, |cache| cache.sets() as usize)].into_boxed_slice();
        Memory {
            state: State {
                icache: config.icache.map(Cache::new),
                dcache,
                tlb: Tlb::new(config.tlb),
                prefetch: Prefetch::default(),
                words: WordBuffer::default(),
                stores: StoreBuffer::default(),
                fill_ends: 0,
                outer_uses: 0,
                slave: 0,
                asked_cycles: 0,
                passing: Passing::default(),
            },
            accounts: Accounts::default(),
            transfers_by_devices: 0,
            grants: Grants::default(),
            grant: Grant::default(),
            shortcuts: Shortcuts::new(
                line_bytes(config.dcache, config.granule_bytes),
                !turns.is_empty(),
                config.slave_switch_cycles > 0,
            ),
            turns,
            shortcuts_privileged: true,
            icache_has_lines: true,
            fetched: FetchLines::new(line_bytes(config.icache, LINE_BYTES), fetch::order::matters(config.icache)),
            code_pages: CodePages::new(),
            touched: Entries::default(),
            translates: true,
            flat: true,
            cached: false,
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

    /// Where the bytes of an aligned load are, if it costs and changes nothing. For the privilege that
    /// [`Memory::privilege_changed`] told.
    #[inline(always)]
    pub fn load_shortcut(&self, va: u32, bytes: u32) -> Option<*const u8> {
        self.shortcuts.load(va, bytes)
    }

    /// Where the bytes of an aligned store go, if it costs and changes nothing.
    #[inline(always)]
    pub fn store_shortcut(&self, va: u32, bytes: u32) -> Option<*mut u8> {
        self.shortcuts.store(va, bytes)
    }

    /// Where the bytes of an aligned store of a word or less go, if it costs and changes nothing, beside decoded
    /// instructions: for stores that have found no shortcut.
    #[inline]
    pub fn store_beside_code(&self, va: u32, bytes: u32) -> Option<*mut u8> {
        self.shortcuts.store_beside_code(va, bytes)
    }

    /// Where the bytes of an aligned load are, if it costs nothing and changes no more than the order in which lines
    /// were used: for loads that have found no shortcut. `stamp` is greater than those of all instructions before.
    #[inline]
    pub fn load_stamped(&mut self, va: u32, bytes: u32, stamp: u64) -> Option<*const u8> {
        self.shortcuts.load_stamped(va, bytes, stamp)
    }

    /// The same for stores, beside decoded instructions too.
    #[inline]
    pub fn store_stamped(&mut self, va: u32, bytes: u32, stamp: u64) -> Option<*mut u8> {
        self.shortcuts.store_stamped(va, bytes, stamp)
    }

    /// The core is in a privileged mode now, or in none. To be told after each change of mode. True if it has been in
    /// the other.
    #[inline]
    pub fn privilege_changed(&mut self, privileged: bool) -> bool {
        let changed = self.shortcuts_privileged != privileged;
        if changed {
            self.shortcuts_privileged = privileged;
            self.clear_shortcuts();
            self.learn_fetches();
            self.fetched.clear();
        }
        changed
    }

    /// Registers that say what addresses mean, who may use them or which caches are on have changed.
    pub fn translation_changed<M: Mmu>(&mut self, mmu: &M) {
        self.look_at(mmu);
        self.clear_shortcuts();
        self.learn_fetches();
        self.fetched.clear();
        self.forget_uncached();
        // TRM, Micro TLB: any change of such a register flushes the micro TLBs.
        self.state.tlb.flush_micro();
    }

    /// Registers that say who may use data have changed; instructions come from where they came from.
    pub fn rights_changed(&mut self) {
        self.clear_shortcuts();
        self.forget_uncached();
    }

    /// How accesses go follows from these registers.
    fn look_at<M: Mmu>(&mut self, mmu: &M) {
        self.translates = M::TRANSLATES;
        self.flat = if M::TRANSLATES {
            !mmu.mmu_is_on()
        } else {
            self.config.dcache.is_none() && self.config.store_buffer_entries == 0
        };
        self.cached = Memory::is_cached_simply(&self.config, mmu);
        let icache = mmu.icache_is_on() && self.config.icache.is_some();
        self.flat_fetch = !icache && (self.flat || !M::TRANSLATES);
    }

    /// What a TLB that software fills has, or which address space is the current one, has changed: what was worked out
    /// from it does not hold.
    pub fn forget_translations(&mut self, mmu: &impl Mmu) {
        self.state.tlb.invalidate(access::TlbEntries::All);
        self.translation_changed(mmu);
    }

    /// Some memory holds decoded instructions now: stores have to look. To be told when [`Bus::code_marked`] has grown;
    /// `epoch` is the state of that which is known.
    pub fn follow_marks(&mut self, bus: &Bus, epoch: u64) {
        let Some(spans) = bus.code_marked.since(epoch) else { return self.shortcuts.forbid_stores() };
        for CodeSpan { ram, first, last } in spans {
            // A forged snapshot may name one that is not there.
            let Some(memory) = bus.rams.get(ram) else { continue };
            let host = memory.as_ptr().wrapping_add(first as usize);
            // A RAM may be at several addresses.
            for entry in bus.map.iter().filter(|entry| entry.target == Target::Ram(ram)) {
                self.shortcuts.forbid_stores_at(entry.origin.wrapping_add(first), host, last - first + 1);
            }
        }
    }

    /// Where the table of [`Memory::shortcuts`] is in this.
    pub const SHORTCUTS: usize = std::mem::offset_of!(Memory, shortcuts);

    /// True if an unaligned access takes longer than an aligned one.
    pub fn splits_unaligned(&self) -> bool {
        self.config.unaligned_cycles.is_some()
    }

    /// The table behind [`Memory::load_shortcut`], for compiled code.
    pub fn shortcuts(&self) -> &Shortcuts {
        &self.shortcuts
    }

    // ---- What it has done

    /// Where the time went.
    pub fn accounts(&self) -> &Accounts {
        &self.accounts
    }

    /// For counting skipped iterations of a loop at once.
    pub fn accounts_mut(&mut self) -> &mut Accounts {
        &mut self.accounts
    }

    /// All that accesses to come depend on, to be compared with later.
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

    /// The data cache as if it had learned of all uses of its lines.
    fn ordered_dcache(&self) -> Option<Cow<'_, Cache>> {
        let cache = self.state.dcache.as_ref()?;
        let uses = self.shortcuts.uses();
        Some(if uses.is_empty() { Cow::Borrowed(cache) } else { Cow::Owned(cache.after_uses(uses)) })
    }

    /// True if further accesses, the first of them at core cycle `now`, go as they did in the state `before`, `then`
    /// cycles after reset.
    pub fn behaves_like(&self, now: u64, before: &State, then: u64) -> bool {
        let (state, icache, dcache) = (&self.state, self.ordered_icache(), self.ordered_dcache());
        let alike = |now: Option<&Cache>, before: &Option<Cache>| match (now, before) {
            (Some(now), Some(before)) => now.behaves_like(before),
            _ => true,
        };
        // What the second level has is not compared: it must not have been asked.
        state.outer_uses == before.outer_uses
            && alike(icache.as_deref(), &before.icache)
            && alike(dcache.as_deref(), &before.dcache)
            && state.tlb == before.tlb
            && state.prefetch.behaves_like(now, &before.prefetch, then)
            && state.words == before.words
            && (state.slave, state.asked_cycles) == (before.slave, before.asked_cycles)
            && state.passing.behaves_like(&before.passing)
            && state.stores.behaves_like(now, &before.stores, then)
            && state.fill_ends.saturating_sub(now) == before.fill_ends.saturating_sub(then)
    }

    /// Counts all that came and went since `before` so many more times, and moves what lies ahead on by `cycles`.
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
        state.fill_ends += cycles;
    }

    /// True if no store is under way in core cycle `now`.
    pub fn is_settled(&self, now: u64) -> bool {
        self.state.stores.all_done() <= now
    }

    /// Map entries that were accessed since this was last forgotten.
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

    /// The rate of the core's clock, as it is known here.
    pub fn clock(&self) -> Hz {
        self.config.clock
    }

    /// The core's clock runs at another rate: its cycle `before` is its cycle `now`. What is under way takes as many
    /// cycles more as it had left.
    pub fn change_clock(&mut self, rate: Hz, before: u64, now: u64) {
        self.config.clock = rate;
        self.accounts.renumber();
        let state = &mut self.state;
        state.stores.renumber(before, now);
        state.prefetch.renumber(before, now);
        state.fill_ends = renumbered(state.fill_ends, before, now);
    }

    /// Forgets what is known of paths.
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

    /// Forgets all that was fetched past the cache.
    fn forget_uncached(&mut self) {
        self.state.prefetch.flush();
        self.state.words.clear();
    }

    /// An access that begins in core cycle `now`.
    fn trip<'a>(&self, bus: &'a mut Bus, now: u64) -> Trip<'a> {
        Trip { bus, meter: Meter::new(self.config.clock, now) }
    }

    /// Takes the shortcuts to the line at a physical address.
    fn forget_shortcuts(&mut self, bus: &Bus, physical: u32) {
        if let Some(host) = host_of(bus, physical) {
            self.shortcuts.remove_host(physical, host);
        }
    }

    /// Takes all shortcuts.
    fn clear_shortcuts(&mut self) {
        self.learn_uses();
        self.shortcuts.clear();
    }

    /// The data cache learns in which order lines of all sets were used by shortcuts: before those go.
    pub(super) fn learn_uses(&mut self) {
        if let Some(cache) = self.state.dcache.as_mut().filter(|_| self.shortcuts.have_stamps()) {
            self.shortcuts.take_uses(|line| _ = cache.touch(line, false));
        }
    }

    /// The same of the set of a physical address: before that is looked at.
    fn learn_uses_of_set(&mut self, physical: u32) {
        if let Some(cache) = &mut self.state.dcache
            && has_stamps_at(&self.turns, cache, physical)
        {
            let way_bytes = cache.way_bytes();
            self.shortcuts.take_uses_of_set(physical, way_bytes, |line| _ = cache.touch(line, false));
        }
    }

    /// A line was used, which was there if it was a `hit`: where no stamp tells that, it changes what accesses to the
    /// others of its set do. Only the one that was used before it can have shortcuts.
    fn forget_neighbours(&mut self, bus: &Bus, physical: u32, hit: bool) {
        let Some(cache) = &mut self.state.dcache else { return };
        if Cache::keeps_order(cache.shape())
            && !has_stamps_at(&self.turns, cache, physical)
            && let Some(other) = cache.used_before(physical)
            && let Some(host) = host_of(bus, other)
            && self.shortcuts.remove_host(other, host)
            && hit
            && let Some(turns) = self.turns.get_mut(cache.set_number(physical) as usize)
        {
            *turns += 1;
            // No line of the set has a shortcut without stamps from now on.
            if *turns == TURNS
                && let Some(host) = host_of(bus, cache.line_addr(physical))
            {
                self.shortcuts.remove_host(physical, host);
            }
        }
    }
}

/// True if shortcuts to the lines of an address's set have stamps: see [`Memory::turns`].
fn has_stamps_at(turns: &[u8], cache: &Cache, physical: u32) -> bool {
    turns.get(cache.set_number(physical) as usize).is_some_and(|turns| *turns >= TURNS)
}

/// True if shortcuts to the lines of a data cache may have stamps: the order of their use matters, there is a bit to
/// tell them by, and no instruction, of which all accesses have the same stamp, reaches two lines of a set.
fn may_have_stamps(shape: CacheShape) -> bool {
    let way_bytes = shape.size_bytes / shape.ways;
    Cache::keeps_order(shape) && shape.line_bytes >= 2 * shortcut::STAMPED && way_bytes >= 256
}

/// Where the byte at a physical address is on the host, if a RAM has it.
fn host_of(bus: &Bus, physical: u32) -> Option<*mut u8> {
    let entry = &bus.map[bus.entry_at(physical)?];
    let Target::Ram(ram) = entry.target else { return None };
    Some(bus.rams[ram].as_ptr().wrapping_add(entry.offset(physical) as usize))
}

/// The abort of an access that went wrong on the bus.
fn abort_of<S: Status>(va: u32, write: bool, fault: BusFault) -> Abort<S> {
    Abort { va, status: S::EXTERNAL, write, domain: 0, bus: Some(fault.kind) }
}

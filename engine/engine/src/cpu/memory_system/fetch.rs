//! Instruction fetches: through the instruction cache, line by line, or past it, a few bytes at a time.
//!
//! Past the cache a core has a fetch policy: by chunks, which are here; [`on_demand`], words when an instruction needs
//! them, with the last two kept; [`prefetch_next`], the next instruction while the current one executes, through the
//! port that data uses as well. The latter two work with word addresses, halfwords and cycles; only the instruction set
//! knows the instructions.

pub mod line_order;
pub mod on_demand;
pub mod pages;
pub mod passing;
pub mod prefetch_next;

use std::mem::offset_of;

use super::access::Kind;
use super::accounts::{Part, Purpose};
use super::meter::{Passed, Trip};
use super::mmu::{AbortOf, Mmu};
use super::outward::Transfer;
use super::translate::Place;
use super::{Chunks, Done, FetchPolicy, Memory, Via, abort_of, renumbered};
use crate::bus::device::AccessSize;
use crate::bus::{Bus, BusFault, Target};
use crate::faults::BusFaultKind;
use crate::memory::cache::{Cache, NO_LINE};
use crate::state::{Fresh, State};
use crate::time::Ps;
use line_order::Stamps;
use pages::{NO_PAGE, PageNumber};
use passing::Passing;

/// Lines that [`FetchLines`] can hold.
const SLOTS: usize = 1 << 10;

/// Lines whose fetch takes no time and changes nothing, in slots by their virtual addresses.
#[derive(Debug)]
pub(super) struct FetchLines {
    /// Virtual and physical address of the line in each slot.
    slots: Box<[(u32, u32); SLOTS]>,
    /// The page of code in which each of them is.
    pages: Box<[PageNumber; SLOTS]>,
    /// Blocks whose lines were all found, by the slots of their lines.
    blocks: Box<[Vec<u32>; SLOTS]>,
    /// Blocks that have lost lines since [`Memory::take_stale_blocks`].
    stale: Vec<u32>,
    /// All blocks are stale.
    all_stale: bool,
    /// Slots that hold a line, in no order; and the place of each of them in that list.
    held: Vec<u16>,
    places: Box<[u16; SLOTS]>,
    shift: u32,
    /// Incremented whenever a line is removed, or a page leaves the micro TLB; never 0.
    pub epoch: u32,
    /// The order in which lines are used matters: see [`line_order`].
    by_use: bool,
    /// Inside the core, at a fixed offset for compiled code.
    stamps: Stamps,
    /// Buffer for the uses that are being taken.
    uses: Vec<(u64, u32)>,
}

impl FetchLines {
    /// No lines yet, of `line_bytes`; `by_use` if the order in which they are used matters.
    pub fn new(line_bytes: u32, by_use: bool) -> FetchLines {
        FetchLines {
            slots: Box::new([(NO_LINE, NO_LINE); SLOTS]),
            pages: Box::new([NO_PAGE; SLOTS]),
            blocks: Box::new([const { Vec::new() }; SLOTS]),
            stale: Vec::new(),
            all_stale: false,
            held: Vec::with_capacity(SLOTS),
            places: Box::new([0; SLOTS]),
            shift: line_bytes.trailing_zeros(),
            epoch: 1,
            by_use,
            stamps: [0; SLOTS],
            uses: Vec::new(),
        }
    }

    #[inline(always)]
    fn has(&self, page: PageNumber, line: u32) -> bool {
        let slot = self.slot_of(line);
        self.slots[slot].0 == line && self.pages[slot] == page
    }

    fn add(&mut self, page: PageNumber, line: u32, physical: u32) {
        let slot = self.slot_of(line);
        let before = std::mem::replace(&mut self.slots[slot], (line, physical));
        let page_before = std::mem::replace(&mut self.pages[slot], page);
        if before.0 == NO_LINE {
            self.places[slot] = self.held.len() as u16;
            self.held.push(slot as u16);
        } else if (before.0, page_before) != (line, page) {
            self.stale.append(&mut self.blocks[slot]);
            self.went();
        }
    }

    /// Records that a block has been found to have this line, which is present.
    fn note_block(&mut self, line: u32, index: u32) {
        let slot = self.slot_of(line);
        let blocks = &mut self.blocks[slot];
        if !blocks.contains(&index) {
            blocks.push(index);
        }
    }

    /// Forgets all blocks: they have been dropped.
    fn forget_blocks(&mut self) {
        self.held.iter().for_each(|slot| self.blocks[usize::from(*slot)].clear());
        self.stale.clear();
    }

    /// Empties a slot, and drops its stamp.
    fn give_up(&mut self, slot: usize) {
        let place = usize::from(self.places[slot]);
        self.held.swap_remove(place);
        if let Some(moved) = self.held.get(place) {
            self.places[usize::from(*moved)] = place as u16;
        }
        self.slots[slot] = (NO_LINE, NO_LINE);
        self.stamps[slot] = 0;
        self.stale.append(&mut self.blocks[slot]);
    }

    /// Removes the line at a physical address, under all of its virtual addresses: their low 12 bits are equal.
    pub fn remove_physical(&mut self, physical: u32) {
        let in_page = ((physical & 0xfff) >> self.shift) as usize;
        let step = (0x1000 >> self.shift).max(1) as usize;
        self.remove(in_page, step, |slot| slot.1 == physical);
    }

    /// Removes all lines and their stamps. The marks of their blocks have become invalid.
    fn clear(&mut self) {
        while let Some(slot) = self.held.pop() {
            let slot = usize::from(slot);
            self.slots[slot] = (NO_LINE, NO_LINE);
            self.stamps[slot] = 0;
            self.blocks[slot].clear();
        }
        self.stale.clear();
        self.went();
    }

    #[inline]
    fn remove(&mut self, first: usize, step: usize, goes: impl Fn((u32, u32)) -> bool) {
        let mut some = false;
        for index in (first..SLOTS).step_by(step) {
            let slot = self.slots[index];
            if slot.0 != NO_LINE && goes(slot) {
                self.give_up(index);
                some = true;
            }
        }
        if some {
            self.went();
        }
    }

    fn went(&mut self) {
        self.epoch = self.epoch.wrapping_add(1).max(1);
    }
}

/// Not an instruction's address: those are even.
const NOWHERE: u32 = 1;

/// Bytes that were fetched past the cache: virtual addresses. Compiled code writes both as one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
#[repr(C, align(8))]
pub(crate) struct Chunk {
    pub first: u32,
    pub last: u32,
}

impl Chunk {
    /// No bytes.
    pub const NONE: Chunk = Chunk { first: NOWHERE, last: 0 };

    /// The bytes that one fetch of `bytes` for `va` brings.
    pub fn at(va: u32, bytes: u32) -> Chunk {
        // The bus is at most 8 bytes wide: a longer fetch begins with the wanted beat.
        Chunk { first: va & !(bytes.min(super::config::BUS_BYTES) - 1), last: va | (bytes - 1) }
    }

    /// Largest chunk that begins at a multiple of its size.
    pub const MOST_ALIGNED: u32 = super::config::BUS_BYTES;

    /// Its bytes in memory, as a number.
    pub fn as_number(self) -> u64 {
        let (first, last) = (u64::from(self.first), u64::from(self.last));
        if cfg!(target_endian = "little") { last << u32::BITS | first } else { first << u32::BITS | last }
    }

    pub fn holds(self, va: u32) -> bool {
        self.first <= va && va <= self.last
    }

    /// The fetch that brings it.
    fn transfer(self) -> Transfer {
        Transfer::ReadBurst(Purpose::Fetch, self.last - self.first + 1)
    }
}

/// A fetch ahead, which may have been completed since it was last checked.
#[derive(Clone, Copy, Debug, State, Fresh)]
pub(super) struct Ahead {
    chunk: Chunk,
    /// The core cycle in which it is complete.
    ends: u64,
    passed: Passed,
}

/// The prefetch unit for instructions that no cache holds. It follows sequential instructions; after a jump everything
/// is dropped and fetched anew.
#[derive(Clone, Copy, Debug, State, Fresh)]
pub(super) struct Prefetch {
    pub chunk: Chunk,
    pub ahead: Option<Ahead>,
    /// Address of the next sequential instruction.
    pub next_pc: u32,
    /// An instruction whose fetch was waited for, and that has yet to run.
    pub granted: u32,
}

impl Default for Prefetch {
    fn default() -> Prefetch {
        Prefetch { chunk: Chunk::NONE, ahead: None, next_pc: NOWHERE, granted: NOWHERE }
    }
}

impl Prefetch {
    /// True if every fetched instruction has run.
    pub fn is_used_up(&self) -> bool {
        self.granted == NOWHERE
    }

    /// Drops everything.
    pub fn flush(&mut self) {
        // A fetch under way has to be completed.
        *self = Prefetch { ahead: self.ahead, ..Prefetch::default() };
    }

    pub fn behaves_like(&self, now: u64, before: &Prefetch, then: u64) -> bool {
        let ahead =
            |prefetch: &Prefetch, now: u64| prefetch.ahead.map(|ahead| (ahead.chunk, ahead.ends.saturating_sub(now)));
        (self.chunk, self.next_pc, self.granted) == (before.chunk, before.next_pc, before.granted)
            && ahead(self, now) == ahead(before, then)
    }

    /// Renumbers cycles: `before` is `now` from now on.
    pub fn renumber(&mut self, before: u64, now: u64) {
        if let Some(ahead) = &mut self.ahead {
            ahead.ends = renumbered(ahead.ends, before, now);
            let times = &mut ahead.passed.times;
            for time in [&mut times.arrived, &mut times.answered, &mut times.done] {
                *time = renumbered(*time, before, now);
            }
        }
    }

    pub fn move_on(&mut self, cycles: u64) {
        if let Some(ahead) = &mut self.ahead {
            ahead.ends += cycles;
            ahead.passed.times.arrived += cycles;
            ahead.passed.times.answered += cycles;
            ahead.passed.times.done += cycles;
        }
    }
}

impl Memory {
    /// Offset of the fetch epoch, for compiled code.
    pub const FETCH_EPOCH: usize = offset_of!(Memory, fetched) + offset_of!(FetchLines, epoch);

    /// The path by which the instruction at `va` is fetched, and its physical address. Takes no time.
    ///
    /// # Errors
    ///
    /// The abort of the fetch.
    pub fn code_via<M: Mmu>(&self, bus: &Bus, mmu: &M, va: u32) -> Result<(Via, u32), AbortOf<M>> {
        let to = self.meaning(bus, mmu, va, mmu.access(Kind::Execute, 0))?;
        let place = self.code_place_of(bus, mmu, to);
        if refuses_fetches(bus, place.physical) || !bus.peek(place.physical, &mut [0; 2]) {
            return Err(abort_of(va, false, no_code(bus, place.physical, Ps::ZERO)));
        }
        Ok((place.via, place.physical))
    }

    /// Number of bytes of code from `va` on with the same translation: a region of memory protection may be shorter
    /// than a page.
    pub fn code_room<M: Mmu>(&self, bus: &Bus, mmu: &M, va: u32) -> u32 {
        let to = self.meaning(bus, mmu, va, mmu.access(Kind::Execute, 0));
        to.map_or(u32::MAX, |to| to.page_bytes - (va & (to.page_bytes - 1)))
    }

    /// Reads instructions at `va`, without time. False if some bytes do not exist, or must not be executed.
    pub fn read_code<M: Mmu>(&self, bus: &Bus, mmu: &M, va: u32, into: &mut [u8]) -> bool {
        let access = mmu.access(Kind::Execute, 0);
        let mut done = 0;
        while done < into.len() {
            let from = va.wrapping_add(done as u32);
            let Ok(to) = self.meaning(bus, mmu, from, access) else { return false };
            let in_page = to.page_bytes - (from & (to.page_bytes - 1));
            let here = (into.len() - done).min(in_page as usize);
            if !bus.peek(to.physical, &mut into[done..done + here]) {
                return false;
            }
            done += here;
        }
        true
    }

    /// True if the instruction cache has the line at `va_line`, in a page of code, and its use changes nothing.
    #[inline(always)]
    pub fn has_fetch_line(&self, page: PageNumber, va_line: u32) -> bool {
        self.fetched.has(page, va_line) && self.has_code_page(page)
    }

    /// Records that a block has been found to have this line, which is present.
    pub fn note_block(&mut self, va_line: u32, index: u32) {
        self.fetched.note_block(va_line, index);
    }

    /// True if some blocks have lost lines since [`Memory::take_stale_blocks`].
    #[inline(always)]
    pub fn has_stale_blocks(&self) -> bool {
        !self.fetched.stale.is_empty() || self.fetched.all_stale
    }

    /// The blocks that have lost lines since this was last called; `None` for all of them.
    pub fn take_stale_blocks(&mut self) -> Option<std::vec::Drain<'_, u32>> {
        if std::mem::take(&mut self.fetched.all_stale) {
            self.fetched.stale.clear();
            return None;
        }
        Some(self.fetched.stale.drain(..))
    }

    /// Removes all lines of [`Memory::has_fetch_line`], whose uses have been taken.
    pub(super) fn clear_fetched(&mut self) {
        self.fetched.all_stale |= !self.code_pages.begin_generation();
        self.fetched.clear();
    }

    /// A number that changes whenever a line of [`Memory::has_fetch_line`] is removed, or a page leaves the micro TLB;
    /// never 0.
    #[inline(always)]
    pub fn fetch_epoch(&self) -> u32 {
        self.fetched.epoch
    }

    /// Loads a line into the instruction cache. True if that took no time.
    pub fn fetch_line<M: Mmu>(&mut self, bus: &mut Bus, mmu: &M, now: u64, va_line: u32) -> Done<bool, M::Status> {
        let mut trip = self.trip(bus, now);
        let result = self.look_up_line(&mut trip, mmu, va_line);
        trip.done(result.map(|()| trip.meter.spent() == 0))
    }

    fn look_up_line<M: Mmu>(&mut self, trip: &mut Trip, mmu: &M, va: u32) -> Result<(), AbortOf<M>> {
        let (place, page) = self.code_place(trip, mmu, va)?;
        let Some(cache) = self.state.icache.as_mut().filter(|_| place.via == Via::Cached) else { return Ok(()) };
        let line = cache.line_addr(place.physical);
        self.learn_fetches_of_set(line);
        let Some(cache) = &mut self.state.icache else { return Ok(()) };
        let is_kept = self.icache_has_lines && cache.touch(line, false);
        if !is_kept && !self.state.passing.has(line) {
            let fill = Transfer::ReadBurst(Purpose::Fetch, cache.shape().line_bytes);
            self.accounts.spend(&mut trip.meter, Part::Fill, self.state.fill_ends);
            let wanted = trip.bus.line_buffers.asked_for(line, place.physical);
            let filled = self.read(trip, Place { physical: wanted, ..place }, fill);
            filled.map_err(|fault| abort_of(va, false, fault))?;
            let passes = trip.bus.line_buffers.passes;
            self.pass(line, passes);
            self.icache_has_lines |= !passes;
            let cache = self.state.icache.as_mut().filter(|_| !passes);
            let victim = cache.and_then(|cache| cache.fill(line, false));
            if let Some(victim) = victim {
                self.fetched.remove_physical(victim.line_addr);
            }
        }
        if mmu.is_privileged() == self.shortcuts_privileged {
            if let Some(other) = self.fetched.used_in_slot_of(va) {
                self.learn_fetches_of_set(other);
            }
            self.fetched.add(page, va & !((1 << self.fetched.shift) - 1), line);
        }
        Ok(())
    }

    /// Drops all fetched instructions, in the cache too, without time.
    pub fn forget_fetched(&mut self) {
        self.forget_uncached();
        self.learn_fetches();
        self.clear_fetched();
        self.state.passing = Passing::default();
        self.state.icache.iter_mut().for_each(Cache::invalidate_all);
        self.icache_has_lines = false;
    }

    /// Drops the chunk that was fetched past the cache, on an exception. Words that were fetched on demand stay.
    pub fn flush_prefetch(&mut self) {
        self.state.prefetch.flush();
    }

    /// Fetches the instruction from `pc` up to `end_pc` past the cache. True if there was no wait; otherwise the caller
    /// checks for an interrupt, and asks again before the instruction runs.
    pub fn fetch_uncached<M: Mmu>(
        &mut self,
        bus: &mut Bus,
        mmu: &M,
        now: u64,
        pc: u32,
        end_pc: u32,
    ) -> Done<bool, M::Status> {
        let mut trip = self.trip(bus, now);
        let result = match self.config.fetch {
            FetchPolicy::OnDemand => self.fetch_word(&mut trip, mmu, pc, end_pc),
            FetchPolicy::Chunks(chunks) => self.fetch_chunks(&mut trip, mmu, (pc, end_pc), chunks),
        };
        trip.done(result)
    }

    /// On demand: fetches the first missing word of the instruction.
    fn fetch_word<M: Mmu>(&mut self, trip: &mut Trip, mmu: &M, pc: u32, end_pc: u32) -> Result<bool, AbortOf<M>> {
        let Some(va) = self.state.words.missing(pc, end_pc) else { return Ok(true) };
        let (place, _) = self.code_place(trip, mmu, va)?;
        let word = self.read(trip, place, Transfer::Read(Purpose::Fetch, AccessSize::Word));
        word.map_err(|fault| abort_of(va, false, fault))?;
        self.state.words.fetched(va);
        Ok(false)
    }

    fn fetch_chunks<M: Mmu>(
        &mut self,
        trip: &mut Trip,
        mmu: &M,
        (pc, end_pc): (u32, u32),
        chunks: Chunks,
    ) -> Result<bool, AbortOf<M>> {
        let prefetch = &mut self.state.prefetch;
        if std::mem::replace(&mut prefetch.granted, NOWHERE) == pc {
            return Ok(true);
        }
        if prefetch.next_pc != pc {
            prefetch.chunk = Chunk::NONE;
        }
        prefetch.next_pc = end_pc;
        for va in [pc, end_pc.wrapping_sub(1)] {
            self.hold(trip, mmu, va, chunks).inspect_err(|_| self.state.prefetch.flush())?;
        }
        let at_once = trip.meter.spent() == 0;
        if !at_once {
            self.state.prefetch.granted = pc;
        }
        Ok(at_once)
    }

    /// Keeps the instruction at `pc`, whose fetch was waited for: it runs later, and will be requested again. Words
    /// that were fetched on demand are kept anyway.
    pub fn keep_fetched(&mut self, pc: u32) {
        if self.config.fetch != FetchPolicy::OnDemand {
            self.state.prefetch.granted = pc;
        }
    }

    /// The instruction whose fetch was waited for runs at once, without another request. False if only one word was
    /// fetched, on demand, and another one may be missing.
    pub fn use_fetched(&mut self) -> bool {
        self.state.prefetch.granted = NOWHERE;
        self.config.fetch != FetchPolicy::OnDemand
    }

    /// True if the instruction from `pc` up to `end_pc` has been fetched past the cache, and costs nothing more: it is
    /// then the next one in the flow.
    #[inline(always)]
    pub fn has_fetched(&mut self, pc: u32, end_pc: u32) -> bool {
        if self.config.fetch == FetchPolicy::OnDemand {
            return self.state.words.missing(pc, end_pc).is_none();
        }
        let prefetch = &mut self.state.prefetch;
        let (flows, last) = (prefetch.next_pc == pc && prefetch.is_used_up(), end_pc.wrapping_sub(1));
        let has = flows && prefetch.chunk.holds(pc) && prefetch.chunk.holds(last);
        if has {
            prefetch.next_pc = end_pc;
        }
        has
    }

    /// Waits until the byte at `va` has been fetched.
    fn hold<M: Mmu>(&mut self, trip: &mut Trip, mmu: &M, va: u32, chunks: Chunks) -> Result<(), AbortOf<M>> {
        let holds = |chunk: Chunk| chunk.holds(va);
        let prefetch = &mut self.state.prefetch;
        if holds(prefetch.chunk) {
            return Ok(());
        }
        // One fetch at a time: a fetch under way is waited for, wanted or not.
        let in_flow = prefetch.chunk != Chunk::NONE;
        let ahead = prefetch.ahead.take();
        if let Some(ahead) = &ahead {
            self.accounts.charge(&mut trip.meter, Purpose::Fetch, &ahead.passed);
            self.accounts.spend(&mut trip.meter, Part::Outer, ahead.ends);
        }
        let chunk = match ahead {
            Some(ahead) if in_flow && holds(ahead.chunk) => ahead.chunk,
            _ => {
                let (place, _) = self.code_place(trip, mmu, va)?;
                let chunk = Chunk::at(va, chunks.bytes);
                self.fetch_chunk(trip, place, chunk, va).map_err(|fault| abort_of(va, false, fault))?;
                chunk
            }
        };
        self.state.prefetch.chunk = chunk;
        if chunks.ahead {
            let next = Chunk::at(chunk.last.wrapping_add(1), chunks.bytes);
            self.fetch_ahead(&mut trip.after(), mmu, next, va);
        }
        Ok(())
    }

    fn fetch_chunk(&mut self, trip: &mut Trip, place: Place, chunk: Chunk, va: u32) -> Result<(), BusFault> {
        let physical = place.physical.wrapping_sub(va.wrapping_sub(chunk.first));
        if !trip.bus.peek(physical, &mut [0; 4]) {
            return Err(no_code(trip.bus, physical, trip.meter.at()));
        }
        self.read(trip, Place { physical, ..place }, chunk.transfer()).map(|_| ())
    }

    /// Starts the fetch of the next chunk. It is dropped if the chunk can't be read, or would evict the page of the
    /// current instructions, which is at `flow`, from the micro TLB.
    fn fetch_ahead<M: Mmu>(&mut self, trip: &mut Trip, mmu: &M, chunk: Chunk, flow: u32) {
        if self.would_lose_page(mmu, chunk.first, flow) {
            return;
        }
        let Ok((place, _)) = self.code_place(trip, mmu, chunk.first) else { return };
        let bus = &trip.bus;
        let kept = place.outer && bus.outer().is_some_and(|outer| outer.enabled);
        let in_sight = bus.entry_at(place.physical).is_some_and(|entry| bus.map[entry].last - place.physical >= 31);
        if place.via != Via::Uncached || kept || !in_sight || !bus.peek(place.physical, &mut [0; 4]) {
            return;
        }
        if let Ok(passed) = self.transfer(trip, place.physical, chunk.transfer()) {
            self.state.prefetch.ahead = Some(Ahead { chunk, ends: trip.meter.now(), passed });
        }
    }
}

/// True for memory with data only.
fn refuses_fetches(bus: &Bus, physical: u32) -> bool {
    bus.ram_at(physical).is_some_and(|place| bus.rams[place.ram].refuses_fetches())
}

/// Fault of a fetch: the address has registers, memory for data, or nothing.
fn no_code(bus: &Bus, physical: u32, at: Ps) -> BusFault {
    let entry = bus.entry_at(physical);
    let kind = match entry.map(|entry| bus.map[entry].target) {
        Some(Target::Ram(_)) if refuses_fetches(bus, physical) => BusFaultKind::Slave,
        None | Some(Target::Ram(_)) => BusFaultKind::Unmapped,
        Some(Target::Device(..)) => BusFaultKind::Slave,
    };
    BusFault { addr: physical, kind, done: at, entry }
}

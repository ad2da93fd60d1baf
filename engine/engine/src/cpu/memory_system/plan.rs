//! Transfers that compiled code does itself: reads and writes without translation, past all caches, of a memory or a
//! window that takes the same time for each transfer once it is free.
//!
//! A plan has the numbers of [`super::flat`], and the host addresses of the values that such a transfer changes. The
//! results equal those of the functions there; where the plan does not hold (an event is due first, or the block would
//! not fit), compiled code calls them.

use std::mem::offset_of;

use super::accounts::{Accounts, Part, Purpose};
use super::fetch::Prefetch;
use super::fetch::passing::Passing;
use super::stores::StoreBuffer;
use super::{FetchPolicy, Memory, State};
use crate::bus::device::AccessSize;
use crate::bus::entries::Entries;
use crate::bus::path::{InStep, StepNumbers};
use crate::bus::repeated_reads::{ReadRecord, RepeatedReads};
use crate::bus::{Bus, MapEntry, Target};
use crate::memory::code_marks::WORD_BYTES;
use crate::memory::ram::{Direction, RamPort};

/// Most remembered memories.
const MOST_TARGETS: usize = 8;

/// A target that was accessed by the simple functions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Known {
    base: u32,
    /// Number of bytes after the first one.
    rest: u32,
    /// The address of the target's first byte: different from the base if there is an overlay.
    origin: u32,
    entry: usize,
    routed: bool,
    outer_cycles: (u64, u64),
    steps: StepNumbers,
    /// Address of its sums of time.
    sums: usize,
    served: Served,
}

/// Kind of a target.
#[derive(Clone, Copy, Debug)]
enum Served {
    Ram(RamPort),
    RepeatedReads(RepeatedReads),
}

/// A transfer of a fixed kind.
#[derive(Clone, Copy, Debug)]
pub struct Plan {
    /// The address of the target's first byte, or the address that it would have without an overlay.
    pub origin: u32,
    /// The lowest offset from there at which such a transfer can begin.
    pub first_offset: u32,
    /// The highest such offset.
    pub last_offset: u32,
    /// Steps of the target's clock.
    pub steps: StepNumbers,
    /// Cycles in the second-level cache's controller, there and back.
    pub outer_cycles: (u64, u64),
    /// There is an interconnect on the path.
    pub routed: bool,
    /// Address of the edge up to which the target is busy.
    pub free_edge: usize,
    /// Edges from the arrival until the transfer can begin; from then until the next one can, which the
    /// [`ReadRecord`] of a window gives.
    pub cycles: [u64; 2],
    /// Edges from there to the answer; negative if the answer comes before.
    pub after_cycles: i64,
    /// Beats of a RAM's port.
    pub beats: u64,
    /// Addresses of the two sums of time, and their numbers.
    pub sums: [usize; 2],
    /// See [`Plan::sums`].
    pub numbers: [u32; 2],
    /// Position of the map entry in [`Entries`]: the byte, and the bit.
    pub touched: (usize, u64),
    /// The RAM, if it is one.
    pub ram: Option<RamPort>,
    /// Read or write.
    pub direction: Direction,
    /// Address of the [`ReadRecord`], if it is a window.
    pub record: Option<usize>,
    /// See [`RepeatedReads::words_ahead`].
    pub words_ahead: u64,
}

impl Plan {
    /// True if such a transfer can begin at an address.
    pub fn reaches(&self, addr: u32) -> bool {
        (self.first_offset..=self.last_offset).contains(&addr.wrapping_sub(self.origin))
    }
}

impl Memory {
    /// Offsets of parts of this, for compiled code: fetched instructions, and values to update.
    pub const CHUNK: usize = offset_of!(Memory, state) + offset_of!(State, prefetch) + offset_of!(Prefetch, chunk);
    /// See [`Memory::CHUNK`].
    pub const NEXT_PC: usize = offset_of!(Memory, state) + offset_of!(State, prefetch) + offset_of!(Prefetch, next_pc);
    /// See [`Memory::CHUNK`].
    pub const GRANTED: usize = offset_of!(Memory, state) + offset_of!(State, prefetch) + offset_of!(Prefetch, granted);
    /// The words of [`FetchPolicy::OnDemand`].
    pub const WORDS: usize = offset_of!(Memory, state) + offset_of!(State, words);
    /// The lines of [`Passing`](super::fetch::passing::Passing): the present one, and the one that was held.
    pub const PASSING: usize = offset_of!(Memory, state) + offset_of!(State, passing) + Passing::LINES;
    /// See [`Memory::touched`].
    pub const TOUCHED: usize = offset_of!(Memory, touched);
    /// The cycle in which all stores are complete.
    pub const ALL_STORED: usize = offset_of!(Memory, state) + offset_of!(State, stores) + StoreBuffer::ALL_DONE;

    /// See [`Memory::switch_matrix_to`]: the slave that was accessed last.
    pub const SLAVE: usize = offset_of!(Memory, state) + offset_of!(State, slave);
    /// See [`Memory::grant_cycles`]: the [`Grant`](super::matrix::Grant) of the slave that was accessed last, and those
    /// of all slaves.
    pub const GRANT: usize = offset_of!(Memory, grant);
    /// See [`Memory::ask_for_grant`].
    pub const ASKED_CYCLES: usize = offset_of!(Memory, state) + offset_of!(State, asked_cycles);
    /// See [`Memory::remember_memory`].
    pub const LOADED_MEMORY: usize = offset_of!(Memory, state) + offset_of!(State, loaded_memory);
    /// See [`Memory::GRANT`].
    pub const GRANTS: usize = offset_of!(Memory, grants);

    /// The time charged to a part.
    pub const fn sum_of(part: Part) -> usize {
        offset_of!(Memory, accounts) + Accounts::PARTS + part as usize * size_of::<u64>()
    }

    /// True if a load or store of several registers moves one register per beat, as compiled code assumes.
    pub fn moves_words(&self) -> bool {
        self.config.multiple_beat_bytes == AccessSize::Word.bytes()
    }

    /// The fetch policy past the cache.
    pub fn fetch_policy(&self) -> FetchPolicy {
        self.config.fetch
    }

    /// Remembers the target at `addr` for the only core, if its transfers of each kind take equal time. Called for
    /// targets that were accessed by the simple functions.
    pub(super) fn remember(&mut self, bus: &mut Bus, addr: u32, window: Option<RepeatedReads>) {
        if bus.core_irqs.len() > 1 || self.known.len() == MOST_TARGETS || self.known_at(addr).is_some() {
            return;
        }
        self.accounts.follow(bus);
        let known = self.find_known(bus, addr, window);
        self.known.extend(known);
    }

    fn find_known(&mut self, bus: &mut Bus, addr: u32, window: Option<RepeatedReads>) -> Option<Known> {
        let (entry, outer_cycles) = (bus.entry_at(addr)?, self.outer_cycles(bus)?);
        let (in_step, routed) = bus.path_in_step(entry)?;
        let MapEntry { base, last, origin, target, .. } = bus.map[entry];
        let served = match (target, window) {
            (Target::Ram(ram), None) => Served::Ram(bus.rams[ram].port()?),
            (Target::Device(..), Some(window)) => Served::RepeatedReads(window),
            _ => return None,
        };
        let (steps, sums) = (in_step.numbers()?, self.accounts.sums_at(entry));
        Some(Known { base, rest: last - base, origin, entry, routed, outer_cycles, steps, sums, served })
    }

    /// True if the target at `addr` is remembered.
    pub(super) fn is_known(&self, addr: u32) -> bool {
        self.known_at(addr).is_some()
    }

    fn known_at(&self, addr: u32) -> Option<&Known> {
        self.known.iter().find(|known| addr.wrapping_sub(known.base) <= known.rest)
    }

    /// The fetch of `bytes` at `addr`.
    pub fn plan_fetch(&self, addr: u32, bytes: u32) -> Option<Plan> {
        let known = self.known_at(addr).filter(|_| self.flat_fetch)?;
        let plan = Memory::plan(known, bytes, Direction::Read, Purpose::Fetch)?;
        (addr.wrapping_sub(plan.origin) <= plan.last_offset).then_some(plan)
    }

    /// The fetch of the line at `addr`, which no cache keeps.
    pub fn plan_line(&self, addr: u32) -> Option<Plan> {
        let line_bytes = self.config.icache?.line_bytes;
        let known = self.known_at(addr).filter(|_| self.config.dcache.is_none())?;
        let plan = Memory::plan(known, line_bytes, Direction::Read, Purpose::Fetch)?;
        (plan.record.is_some() && plan.reaches(addr)).then_some(plan)
    }

    /// A load or store of up to a word in the RAM of the last data access.
    pub fn plan_data(&self, store: bool) -> Option<Plan> {
        let known = self.known_at(self.data_path.base()?).filter(|_| self.flat)?;
        let (direction, purpose) =
            if store { (Direction::Write, Purpose::Store) } else { (Direction::Read, Purpose::Load) };
        let aligned = known.origin.is_multiple_of(WORD_BYTES);
        let is_one_beat =
            matches!(known.served, Served::Ram(port) if aligned && port.timing.beat_bytes >= AccessSize::Word.bytes());
        Memory::plan(known, AccessSize::Word.bytes(), direction, purpose).filter(|_| is_one_beat)
    }

    fn plan(known: &Known, bytes: u32, direction: Direction, purpose: Purpose) -> Option<Plan> {
        let Known { base, rest, origin, entry, routed, outer_cycles, steps, sums, served } = *known;
        let first_offset = base.wrapping_sub(origin);
        let last_offset = first_offset + rest.checked_sub(bytes - 1)?;
        let (free_edge, cycles, after_cycles) = match served {
            Served::Ram(port) => (port.free_edge, [0, port.timing.beats_and_cycles(bytes, direction).1], 0),
            Served::RepeatedReads(window) if window.bytes == bytes => {
                (window.record + offset_of!(ReadRecord, free_edge), [window.before_cycles, 0], window.after_cycles)
            }
            Served::RepeatedReads(_) => return None,
        };
        let (ram, record, words_ahead) = match served {
            Served::Ram(port) => (Some(port), None, 0),
            Served::RepeatedReads(window) => (None, Some(window.record), window.words_ahead),
        };
        Some(Plan {
            origin,
            first_offset,
            last_offset,
            steps,
            outer_cycles,
            routed,
            free_edge,
            cycles,
            after_cycles,
            beats: ram.map_or(0, |port| port.timing.beats_and_cycles(bytes, direction).0),
            sums: Accounts::sums_of(sums, purpose),
            numbers: Accounts::numbers_of(entry, purpose),
            touched: Entries::place(entry),
            ram,
            direction,
            record,
            words_ahead,
        })
    }
}

/// Last cycle for which plans hold.
pub const MOST_CYCLES: u64 = InStep::MOST_CYCLES;

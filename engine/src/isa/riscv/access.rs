//! Accesses that cost more than their instruction, or may: the slow paths of fetch, load and store.
//!
//! An access begins when its instruction's own cycle ends, and the core waits for it. The wait is charged to the map entry that
//! answers, and to the interconnect on the way.

use super::accounts::{ON_THE_WAY, Purpose};
use super::core::Hart;
use super::exceptions::{Exception, ExceptionCause};
use super::op::{Code, Op};
use super::skip::is_ram;
use crate::bus::{Access, Bus, BusFault, BusFaultKind, Target};
use crate::core::{Answer, FaultedAccess};
use crate::device::AccessSize;
use crate::memory::cache::{NO_LINE, WritePolicy};
use crate::time::{Cycles, Ps};

/// How an access in the middle of a block went.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Flow {
    /// On with the next operation.
    Continue,
    /// The instruction is complete, but what follows needs a look first.
    Break,
    /// The instruction raised an exception instead.
    Raise(Exception),
}

impl Hart {
    // ---- Fetch

    /// Fetches a block's instructions. False if the caller has to look again before running it.
    pub(super) fn fetch(&mut self, bus: &mut Bus, index: u32) -> bool {
        match self.blocks.cold[index as usize].fetch {
            Way::Local => true,
            Way::Cached => self.fetch_cached(bus, index),
            Way::Uncached => self.fetch_uncached(bus, index),
        }
    }

    /// True if all of a block's lines but perhaps the first are present: then nothing in the middle of it waits for a fetch.
    pub(super) fn only_first_line_misses(&self, index: u32) -> bool {
        let hot = &self.blocks.hot[index as usize];
        let first = hot.pc >> self.fetch_shift << self.fetch_shift;
        let later = (1..u32::from(hot.lines)).map(|line| first.wrapping_add(line << self.fetch_shift));
        later.into_iter().all(|line| self.has_fetch_line(line))
    }

    /// True if a block's first line is present.
    pub(super) fn has_first_line(&self, index: u32) -> bool {
        self.has_fetch_line(self.blocks.hot[index as usize].pc >> self.fetch_shift << self.fetch_shift)
    }

    /// True if the instruction cache has a line and using it changes nothing in the directory.
    #[inline(always)]
    pub(super) fn has_fetch_line(&self, line: u32) -> bool {
        self.fetch_lines[(line >> self.fetch_shift) as usize & (self.fetch_lines.len() - 1)] == line
    }

    fn fetch_cached(&mut self, bus: &mut Bus, index: u32) -> bool {
        let hot = &self.blocks.hot[index as usize];
        let shift = self.fetch_shift;
        let (first, lines) = (hot.pc >> shift << shift, u32::from(hot.lines));
        for line in (0..lines).map(|line| first.wrapping_add(line << shift)) {
            if !self.has_fetch_line(line) && !self.look_up_line(bus, line) {
                return false;
            }
        }
        true
    }

    /// Looks a line up in the directory; true for a hit. A miss fills it.
    fn look_up_line(&mut self, bus: &mut Bus, line: u32) -> bool {
        let Some(cache) = &mut self.icache else { return true };
        let hit = cache.touch(line, false);
        if !hit {
            let at = self.now();
            bus.run_events_before(at, line);
            match bus.read_burst(at, line, 1 << self.fetch_shift) {
                Ok(access) => self.charge(bus, Purpose::Fetch, at, access),
                Err(fault) => {
                    self.fetch_fault(bus, line, fault.kind);
                    return false;
                }
            }
            if let Some(victim) = self.icache.as_mut().and_then(|cache| cache.fill(line, false)) {
                self.forget_fetch_line(victim.line_addr);
            }
        }
        let neighbours: Vec<u32> = self.icache.as_mut().map_or(Vec::new(), |cache| cache.neighbours(line).collect());
        for other in neighbours {
            self.forget_fetch_line(other);
        }
        let slots = self.fetch_lines.len() - 1;
        let slot = &mut self.fetch_lines[(line >> self.fetch_shift) as usize & slots];
        let before = std::mem::replace(slot, line);
        if before != line && before != NO_LINE {
            self.fetched_lines_went();
        }
        hit
    }

    fn forget_fetch_line(&mut self, line: u32) {
        let slots = self.fetch_lines.len() - 1;
        let slot = &mut self.fetch_lines[(line >> self.fetch_shift) as usize & slots];
        if *slot == line {
            *slot = NO_LINE;
            self.fetched_lines_went();
        }
    }

    /// Blocks that were found to be in the instruction cache have to be looked at again.
    fn fetched_lines_went(&mut self) {
        self.fetch_epoch = self.fetch_epoch.wrapping_add(1);
        if self.fetch_epoch == 0 {
            self.blocks.forget_fetched();
            self.fetch_epoch = 1;
        }
    }

    /// Forgets everything fetched: fence.i.
    pub(super) fn invalidate_fetched(&mut self) {
        self.fetch_lines.fill(NO_LINE);
        self.fetched_lines_went();
        self.fetch_buffer.clear();
        if let Some(cache) = &mut self.icache {
            cache.invalidate_all();
        }
        self.drop_blocks();
    }

    /// Fetches a word of a single instruction over the bus, on demand. True if none was missing.
    fn fetch_uncached(&mut self, bus: &mut Bus, index: u32) -> bool {
        let hot = &self.blocks.hot[index as usize];
        let Some(word) = self.fetch_buffer.missing(hot.pc, hot.end_pc) else { return true };
        let at = self.now();
        bus.run_events_before(at, word);
        match bus.read(at, word, AccessSize::Word) {
            Ok(access) => {
                self.charge(bus, Purpose::Fetch, at, access);
                self.fetch_buffer.fetched(word);
            }
            Err(fault) => self.fetch_fault(bus, word, fault.kind),
        }
        false
    }

    /// Raises the exception of a fetch that nothing, or an error, answered.
    pub(super) fn fetch_fault(&mut self, bus: &mut Bus, addr: u32, answer: BusFaultKind) {
        let answer = if bus.entry_at(addr).is_some() { BusFaultKind::Slave } else { answer };
        self.note_fault(FaultedAccess { addr, kind: "instruction fetch", answer: Answer::Bus(answer) });
        self.raise(bus, Exception { cause: ExceptionCause::InstructionAccessFault, value: addr });
    }

    // ---- Loads and stores

    /// A load that found no shortcut. `begins_cycles` is the static time from the block's beginning to the access.
    pub(super) fn load(&mut self, bus: &mut Bus, index: u32, begins_cycles: u64, op: Op, addr: u32) -> Flow {
        let size = size_of_access(op.code);
        if !addr.is_multiple_of(size.bytes()) {
            return self.refuse(ExceptionCause::LoadAddressMisaligned, op.code, addr);
        }
        let at = self.config.clock.ps_at_floor(Cycles(self.cycles + begins_cycles));
        let way = self.way(bus, addr);
        let value = match way {
            Way::Local => Ok(self.peek_and_remember(bus, addr, size)),
            Way::Cached => {
                self.use_line(bus, at, addr, Purpose::Load).map(|()| self.peek_and_remember(bus, addr, size))
            }
            Way::Uncached => self.uncached(bus, at, addr, Purpose::Load, |bus| bus.read(at, addr, size)),
        };
        match value {
            Ok(value) => {
                self.x[op.rd as usize] = extend(op.code, value);
                if way == Way::Uncached && !is_ram(bus, addr) {
                    self.polls.saw(u64::from(index) << 32 | begins_cycles, &self.x);
                }
                self.after_access(bus, index)
            }
            Err(fault) => self.faulted(bus, ExceptionCause::LoadAccessFault, op.code, at, fault),
        }
    }

    /// A store that found no shortcut.
    pub(super) fn store(&mut self, bus: &mut Bus, index: u32, begins_cycles: u64, op: Op, addr: u32) -> Flow {
        let size = size_of_access(op.code);
        if !addr.is_multiple_of(size.bytes()) {
            return self.refuse(ExceptionCause::StoreAddressMisaligned, op.code, addr);
        }
        let value = self.x[op.rs2 as usize];
        let at = self.config.clock.ps_at_floor(Cycles(self.cycles + begins_cycles));
        let way = self.way(bus, addr);
        let stays = way == Way::Local || way == Way::Cached && self.writes_back();
        let result = if !stays {
            if way == Way::Cached
                && let Some(cache) = &mut self.dcache
                && cache.touch(addr, true)
            {
                self.forget_neighbours(addr);
            }
            self.uncached(bus, at, addr, Purpose::Store, |bus| bus.write(at, addr, size, value)).map(|_| ())
        } else if way == Way::Cached {
            self.use_line(bus, at, addr, Purpose::Store).map(|()| self.poke_and_remember(bus, addr, size, value))
        } else {
            self.poke_and_remember(bus, addr, size, value);
            Ok(())
        };
        match result {
            Ok(()) => self.after_access(bus, index),
            Err(fault) => self.faulted(bus, ExceptionCause::StoreAccessFault, op.code, at, fault),
        }
    }

    fn writes_back(&self) -> bool {
        self.config.dcache.is_some_and(|shape| shape.write == WritePolicy::WriteBack)
    }

    /// What an access to data costs.
    fn way(&self, bus: &Bus, addr: u32) -> Way {
        way_to(bus, addr, self.dcache.is_some())
    }

    /// Makes a line of the data cache present and the most recently used: a miss writes back what has to go, then fills.
    fn use_line(&mut self, bus: &mut Bus, at: Ps, addr: u32, purpose: Purpose) -> Result<(), BusFault> {
        let Some(cache) = &mut self.dcache else { return Ok(()) };
        let store = purpose == Purpose::Store;
        if !cache.touch(addr, store) {
            let (line, bytes) = (cache.line_addr(addr), cache.shape().line_bytes);
            let victim = cache.fill(addr, store);
            bus.run_events_before(at, addr);
            let mut from = at;
            if let Some(victim) = victim {
                self.shortcuts.remove(victim.line_addr);
                if victim.dirty {
                    let access = bus.write_burst(from, victim.line_addr, bytes)?;
                    self.charge(bus, Purpose::Store, from, access);
                    from = access.done;
                }
            }
            match bus.read_burst(from, line, bytes) {
                Ok(access) => self.charge(bus, purpose, from, access),
                Err(fault) => {
                    self.dcache.as_mut().into_iter().for_each(|cache| cache.drop_line(line));
                    return Err(fault);
                }
            }
        }
        self.forget_neighbours(addr);
        Ok(())
    }

    /// Takes the shortcuts of the lines that are no longer the most recently used of their set.
    fn forget_neighbours(&mut self, addr: u32) {
        let Some(cache) = &mut self.dcache else { return };
        for other in cache.neighbours(addr) {
            self.shortcuts.remove(other);
        }
    }

    fn uncached(
        &mut self,
        bus: &mut Bus,
        at: Ps,
        addr: u32,
        purpose: Purpose,
        access: impl FnOnce(&mut Bus) -> Result<Access, BusFault>,
    ) -> Result<u32, BusFault> {
        bus.run_events_before(at, addr);
        let access = access(bus)?;
        self.charge(bus, purpose, at, access);
        Ok(access.value)
    }

    fn peek_and_remember(&mut self, bus: &Bus, addr: u32, size: AccessSize) -> u32 {
        let mut bytes = [0; 4];
        bus.peek(addr, &mut bytes[..size.bytes() as usize]);
        self.add_shortcut(bus, addr);
        u32::from_le_bytes(bytes)
    }

    fn poke_and_remember(&mut self, bus: &mut Bus, addr: u32, size: AccessSize, value: u32) {
        bus.poke(addr, &value.to_le_bytes()[..size.bytes() as usize]);
        self.add_shortcut(bus, addr);
    }

    /// From now on, accesses to the line of `addr` cost nothing: it is local, or present and the most recently used of its set.
    fn add_shortcut(&mut self, bus: &Bus, addr: u32) {
        let Some(entry) = bus.entry_at(addr).map(|entry| &bus.map[entry]) else { return };
        let Target::Ram(ram) = entry.target else { return };
        let (line, bytes) = self.shortcuts.line_of(addr);
        if line < entry.base || entry.last - line < bytes - 1 {
            return;
        }
        let clean = self.way(bus, addr) == Way::Cached
            && !(self.writes_back() && self.dcache.as_mut().is_some_and(|cache| cache.is_dirty(addr)));
        let stores = !clean && !bus.rams[ram].holds_code(line - entry.base, bytes);
        let host = bus.rams[ram].as_ptr().wrapping_add((addr - entry.base) as usize);
        self.shortcuts.add(addr, host, stores);
    }

    /// Charges the time of an access that began at `at`.
    fn charge(&mut self, bus: &Bus, purpose: Purpose, at: Ps, access: Access) {
        let clock = self.config.clock;
        let edge = |time: Ps| clock.cycles_until_ceil(time).0;
        let (begun, arrived, answered, done) =
            (edge(at), edge(access.arrived), edge(access.answered), edge(access.done));
        self.cycles += done - begun;
        self.touched |= 1_u64.checked_shl(access.entry as u32).unwrap_or(0);
        let charged = &mut self.entry_cycles[access.entry];
        charged[purpose as usize] += answered - arrived;
        charged[ON_THE_WAY] += (arrived - begun) + (done - answered);
        debug_assert!(bus.route(access.entry).is_some() || charged[ON_THE_WAY] == 0);
    }

    /// Looks whether the block may go on behind an access.
    fn after_access(&mut self, bus: &Bus, index: u32) -> Flow {
        self.deadline.follow(bus);
        let longest = u64::from(self.blocks.hot[index as usize].longest_cycles);
        if self.polls.found || self.has_news(bus) || self.cycles + longest > self.deadline.limit {
            Flow::Break
        } else {
            Flow::Continue
        }
    }

    fn refuse(&mut self, cause: ExceptionCause, code: Code, addr: u32) -> Flow {
        self.note_fault(FaultedAccess { addr, kind: access_kind(code), answer: Answer::Misaligned });
        Flow::Raise(Exception { cause, value: addr })
    }

    fn faulted(&mut self, bus: &Bus, cause: ExceptionCause, code: Code, at: Ps, fault: BusFault) -> Flow {
        let purpose = if cause == ExceptionCause::LoadAccessFault { Purpose::Load } else { Purpose::Store };
        if let Some(entry) = fault.entry {
            let access = Access { value: 0, entry, arrived: at, answered: fault.done, done: fault.done };
            self.charge(bus, purpose, at, access);
        }
        self.note_fault(FaultedAccess { addr: fault.addr, kind: access_kind(code), answer: Answer::Bus(fault.kind) });
        Flow::Raise(Exception { cause, value: fault.addr })
    }
}

/// What an access to an address costs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// Nothing: tightly coupled memory.
    Local,
    /// Nothing if the cache has it, else a line fill.
    Cached,
    /// An access over the bus.
    Uncached,
}

/// The way to `addr`, for a fetch or for data; `has_cache` tells whether there is a cache for it.
pub(super) fn way_to(bus: &Bus, addr: u32, has_cache: bool) -> Way {
    match bus.entry_at(addr) {
        Some(entry) if bus.is_local(entry) => Way::Local,
        Some(entry) if bus.map[entry].cacheable && has_cache => Way::Cached,
        _ => Way::Uncached,
    }
}

pub(super) fn size_of_access(code: Code) -> AccessSize {
    match code {
        Code::Lb | Code::Lbu | Code::Sb => AccessSize::Byte,
        Code::Lh | Code::Lhu | Code::Sh => AccessSize::Half,
        _ => AccessSize::Word,
    }
}

pub(super) fn access_kind(code: Code) -> &'static str {
    match code {
        Code::Lb | Code::Lbu => "1-byte load",
        Code::Lh | Code::Lhu => "2-byte load",
        Code::Lw => "4-byte load",
        Code::Sb => "1-byte store",
        Code::Sh => "2-byte store",
        _ => "4-byte store",
    }
}

/// A loaded value as the register gets it.
pub(super) fn extend(code: Code, value: u32) -> u32 {
    match code {
        Code::Lb => value as i8 as u32,
        Code::Lh => value as i16 as u32,
        Code::Lbu => value & 0xff,
        Code::Lhu => value & 0xffff,
        _ => value,
    }
}

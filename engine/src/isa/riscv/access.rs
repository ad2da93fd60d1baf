//! Accesses that cost more than their instruction, or may: the slow paths of fetch, load and store.
//!
//! An access begins when its instruction's own cycle ends, and the core waits for it. What it costs, and to what it is charged, is the
//! memory's business.

use super::core::Hart;
use super::exceptions::{Exception, ExceptionCause};
use super::op::{Code, Op};
use super::skip::is_ram;
use crate::bus::{Bus, BusFaultKind};
use crate::core::{Answer, FaultedAccess};
use crate::device::AccessSize;
use crate::memory::first_level::access::Abort;
use crate::memory::first_level::{Done, Identity, Refusal, Way};
use crate::time::{Cycles, Ps};

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
        self.lines_of(index).skip(1).all(|line| self.memory.has_fetch_line(line))
    }

    /// The cache line behind that of `addr`.
    pub(super) fn next_line(&self, addr: u32) -> u32 {
        (addr & !(self.line_bytes - 1)).wrapping_add(self.line_bytes)
    }

    /// The cache lines that a block lies in; none if it is not fetched through the cache.
    fn lines_of(&self, index: u32) -> impl Iterator<Item = u32> + use<> {
        let hot = &self.blocks.hot[index as usize];
        let bytes = self.line_bytes;
        let first = hot.pc & !(bytes - 1);
        (0..u32::from(hot.lines)).map(move |line| first.wrapping_add(line * bytes))
    }

    fn fetch_cached(&mut self, bus: &mut Bus, index: u32) -> bool {
        for line in self.lines_of(index) {
            if !self.memory.has_fetch_line(line) {
                if self.line_must_wait(bus, line) {
                    return false;
                }
                let done = self.memory.fetch_line(bus, &Identity, self.now(), line);
                if !self.fetched(bus, done) {
                    return false;
                }
            }
        }
        true
    }

    /// Fetches what is missing of a single instruction past the cache. True if none was missing.
    fn fetch_uncached(&mut self, bus: &mut Bus, index: u32) -> bool {
        let hot = &self.blocks.hot[index as usize];
        let (pc, end_pc) = (hot.pc, hot.end_pc);
        if self.line_must_wait(bus, pc) {
            return false;
        }
        let done = self.memory.fetch_uncached(bus, &Identity, self.now(), pc, end_pc);
        self.fetched(bus, done)
    }

    /// What has come of a fetch: true if it took no time. Results under way are no sooner there: the pipeline stands still.
    fn fetched(&mut self, bus: &mut Bus, done: Done<bool, Refusal>) -> bool {
        self.cycles += done.cycles;
        match done.result {
            Ok(true) => true,
            Ok(false) => {
                self.update_limit(bus);
                false
            }
            Err(abort) => {
                self.fetch_fault(bus, abort.va, abort.bus.unwrap_or(BusFaultKind::Unmapped));
                false
            }
        }
    }

    /// Raises the exception of a fetch that nothing, or an error, answered.
    pub(super) fn fetch_fault(&mut self, bus: &mut Bus, addr: u32, answer: BusFaultKind) {
        let answer = if bus.entry_at(addr).is_some() { BusFaultKind::Slave } else { answer };
        self.note_fault(FaultedAccess { addr, kind: "instruction fetch", answer: Answer::Bus(answer) });
        self.raise(bus, Exception { cause: ExceptionCause::InstructionAccessFault, value: addr });
    }

    /// Forgets everything fetched: fence.i.
    pub(super) fn invalidate_fetched(&mut self) {
        self.memory.forget_fetched();
        self.drop_blocks();
    }

    /// Blocks can be entered without a look at their lines where those were found present, and nobody watches for them.
    #[cold]
    #[inline(never)]
    pub(super) fn look_for_lines(&mut self, index: u32) -> bool {
        let here = match self.blocks.cold[index as usize].fetch {
            _ if self.sections.stops_at(self.blocks.hot[index as usize].pc) => false,
            Way::Local => true,
            Way::Cached => self.lines_of(index).all(|line| self.memory.has_fetch_line(line)),
            Way::Uncached => false,
        };
        if here {
            self.blocks.hot[index as usize].fetched_epoch = self.memory.fetch_epoch();
        }
        here
    }

    // ---- Loads and stores

    /// When an access by operation `at` begins.
    pub(super) fn begins(&self, index: u32, at: u32) -> Ps {
        self.config.clock.ps_at_floor(Cycles(self.begins_cycle(index, at)))
    }

    /// The same as a core cycle: the end of the operation's own.
    fn begins_cycle(&self, index: u32, at: u32) -> u64 {
        let info = &self.blocks.infos[(self.blocks.hot[index as usize].first_op + at) as usize];
        self.cycles + u64::from(info.start_cycles) + 1
    }

    /// A load that found no shortcut. True if the block goes on; else it has been left.
    #[cold]
    #[inline(never)]
    pub(super) fn load_slowly(&mut self, bus: &mut Bus, index: u32, at: u32, op: Op, addr: u32) -> bool {
        if self.must_wait(bus, index, at, addr) {
            return false;
        }
        let now = self.begins(index, at);
        let done = self.memory.load(bus, &Identity, now, addr, size_of_access(op.code), 0);
        self.cycles += done.cycles;
        match done.result {
            Ok(value) => {
                self.x[op.rd as usize] = extend(op.code, value);
                if self.memory.data_way(bus, addr) == Way::Uncached && !is_ram(bus, addr) {
                    self.polls.saw(u64::from(index) << 32 | u64::from(at), &self.x);
                }
                self.after_access(bus, index, at)
            }
            Err(abort) => self.refuse_access(bus, index, at, op, abort),
        }
    }

    /// A store that found no shortcut. True if the block goes on; else it has been left.
    #[cold]
    #[inline(never)]
    pub(super) fn store_slowly(&mut self, bus: &mut Bus, index: u32, at: u32, op: Op, addr: u32) -> bool {
        if self.must_wait(bus, index, at, addr) {
            return false;
        }
        let (now, value) = (self.begins(index, at), self.x[op.rs2 as usize]);
        let done = self.memory.store(bus, &Identity, now, addr, size_of_access(op.code), value, 0);
        self.cycles += done.cycles;
        match done.result {
            Ok(()) => self.after_access(bus, index, at),
            Err(abort) => self.refuse_access(bus, index, at, op, abort),
        }
    }

    /// Looks whether the block may go on behind an access; if not, it is left behind the instruction.
    fn after_access(&mut self, bus: &Bus, index: u32, at: u32) -> bool {
        self.update_limit(bus);
        let longest = u64::from(self.blocks.hot[index as usize].longest_cycles);
        let leaves = self.polls.found || self.has_news(bus) || self.cycles + longest > self.deadline.limit;
        if leaves {
            self.leave_in_the_middle(index, at + 1);
        }
        !leaves
    }

    /// Raises the exception of an access that could not be done.
    fn refuse_access(&mut self, bus: &mut Bus, index: u32, at: u32, op: Op, abort: Abort<Refusal>) -> bool {
        self.leave_in_the_middle(index, at);
        let answer = match (abort.status, abort.bus) {
            (Refusal::Misaligned, _) => Answer::Misaligned,
            (Refusal::Bus, kind) => Answer::Bus(kind.unwrap_or(BusFaultKind::Unmapped)),
        };
        let cause = match (abort.status, abort.write) {
            (Refusal::Misaligned, false) => ExceptionCause::LoadAddressMisaligned,
            (Refusal::Misaligned, true) => ExceptionCause::StoreAddressMisaligned,
            (Refusal::Bus, false) => ExceptionCause::LoadAccessFault,
            (Refusal::Bus, true) => ExceptionCause::StoreAccessFault,
        };
        self.note_fault(FaultedAccess { addr: abort.va, kind: access_kind(op.code), answer });
        self.raise(bus, Exception { cause, value: abort.va });
        false
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

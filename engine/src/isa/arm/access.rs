//! Accesses that cost more than their instruction, or may: the slow paths of fetch, load and store.
//!
//! An access begins when its instruction's own cycle ends, and the core waits for it. What it costs, and to what it is charged, is the
//! memory's business.

use super::core::Arm;
use super::op::{Code, Op};
use super::profile::{Own, Profile};
use super::system::Kind;
use super::timing::Pending;
use crate::bus::{Bus, Target};
use crate::device::AccessSize;
use crate::memory::first_level::access::how;
use crate::memory::first_level::{Done, Quiet, Way};
use crate::time::{Cycles, Ps};

impl<P: Profile> Arm<P> {
    // ---- Fetch

    /// Fetches a block's instructions. False if the caller has to look again before running it.
    pub(super) fn fetch(&mut self, bus: &mut Bus, index: u32) -> bool {
        match self.blocks.cold[index as usize].fetch {
            // Past the cache, each instruction is fetched on its own.
            Way::Local | Way::Uncached => true,
            Way::Cached => self.fetch_cached(bus, index),
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

    fn lines_of(&self, index: u32) -> impl Iterator<Item = u32> + use<P> {
        let hot = &self.blocks.hot[index as usize];
        let bytes = self.line_bytes;
        let first = hot.address() & !(bytes - 1);
        (0..u32::from(hot.lines)).map(move |line| first.wrapping_add(line * bytes))
    }

    fn fetch_cached(&mut self, bus: &mut Bus, index: u32) -> bool {
        for line in self.lines_of(index) {
            if !self.memory.has_fetch_line(line) {
                if self.line_must_wait(bus, line) {
                    return false;
                }
                let done = self.memory.fetch_line(bus, &self.system, self.now(), line);
                self.cycles = self.cycles.wrapping_add(done.cycles);
                match done.result {
                    Ok(true) => {}
                    Ok(false) => {
                        // Whatever was under way has arrived meanwhile.
                        self.pending = Pending::NONE;
                        self.update_limit(bus);
                        return false;
                    }
                    Err(abort) => {
                        P::raise(self, bus, P::fetch_abort(abort));
                        return false;
                    }
                }
            }
        }
        true
    }

    /// Fetches one instruction past the cache. False if the block has been left before it, for others to look first.
    #[inline(never)]
    pub(super) fn fetch_instruction(&mut self, bus: &mut Bus, index: u32, at: u32, op: Op) -> bool {
        let hot = &self.blocks.hot[index as usize];
        let (longest, info) = (u64::from(hot.longest_cycles), self.blocks.infos[(hot.first_op + at) as usize]);
        let begins = self.cycles.wrapping_add(u64::from(info.begins_cycles) - 1);
        let end_pc = op.imm.wrapping_add(u32::from(op.rd));
        if self.fetch_must_wait(bus, index, at, begins, op.imm) {
            return false;
        }
        if let Some(cycles) = self.memory.fetch_direct(bus, self.quiet_from(begins), op.imm, end_pc) {
            self.cycles = self.cycles.wrapping_add(cycles);
            // No event came: there is no news.
            if cycles > 0 && self.cycles.wrapping_add(longest) > self.deadline.limit {
                self.memory.keep_fetched(op.imm);
                self.leave_in_the_middle(index, info.instr);
                return false;
            }
            return true;
        }
        let now = self.config.clock.ps_at_floor(Cycles(begins));
        let done = self.memory.fetch_uncached(bus, &self.system, now, op.imm, end_pc);
        self.cycles = self.cycles.wrapping_add(done.cycles);
        match done.result {
            Ok(true) => true,
            Ok(false) => {
                self.update_limit(bus);
                if self.cycles.wrapping_add(longest) <= self.deadline.limit && !self.has_news(bus) {
                    self.memory.use_fetched();
                    return true;
                }
                self.leave_in_the_middle(index, info.instr);
                false
            }
            Err(abort) => {
                self.leave_in_the_middle(index, info.instr);
                P::raise(self, bus, P::fetch_abort(abort));
                false
            }
        }
    }

    /// Blocks can be entered without a look at their lines where those were found present, and nobody watches for them.
    #[cold]
    #[inline(never)]
    pub(super) fn look_for_lines(&mut self, index: u32) -> bool {
        let here = match self.blocks.cold[index as usize].fetch {
            _ if self.sections.stops_at(self.blocks.hot[index as usize].address()) => false,
            Way::Local | Way::Uncached => true,
            Way::Cached => self.lines_of(index).all(|line| self.memory.has_fetch_line(line)),
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

    /// Core cycle `now`, and up to when no event comes.
    fn quiet_from(&self, now: u64) -> Quiet {
        Quiet { now, until: self.deadline.limit }
    }

    /// The same as a core cycle.
    fn begins_cycle(&self, index: u32, at: u32) -> u64 {
        let info = &self.blocks.infos[(self.blocks.hot[index as usize].first_op + at) as usize];
        self.cycles.wrapping_add(u64::from(info.begins_cycles))
    }

    /// A load that found no shortcut. True if the block goes on.
    #[cold]
    #[inline(never)]
    pub(super) fn load_slowly(&mut self, bus: &mut Bus, index: u32, at: u32, op: Op, addr: u32) -> bool {
        let (size, told) = (size_of_access(op.code), op.ra & how::TOLD != 0);
        let begins = self.begins_cycle(index, at);
        if P::HAS_OWN_REGISTERS && P::is_own(addr) {
            return match P::load_own(self, bus, begins, Own { addr, size }) {
                Ok(value) => {
                    self.x[usize::from(op.rd)] = extended(op.code, value);
                    self.after_access(bus, index, at)
                }
                Err(exception) => self.refuse_access(bus, index, at, op, exception),
            };
        }
        if self.must_wait(bus, index, at, addr, size.bytes(), Kind::Read) {
            return false;
        }
        if let Some((cycles, value)) = self.memory.load_direct(bus, self.quiet_from(begins), addr, size.bytes(), told) {
            self.cycles = self.cycles.wrapping_add(cycles);
            self.x[usize::from(op.rd)] = extended(op.code, value);
            return self.after_access(bus, index, at);
        }
        let now = self.begins(index, at);
        let done = self.memory.load(bus, &self.system, now, addr, size, op.ra);
        self.cycles = self.cycles.wrapping_add(done.cycles);
        match done.result {
            Ok(value) => {
                self.x[usize::from(op.rd)] = extended(op.code, value);
                if !is_ram(bus, addr) {
                    self.polls.saw(u64::from(index) << 32 | u64::from(at), &self.x);
                }
                self.after_access(bus, index, at)
            }
            Err(abort) => self.refuse_access(bus, index, at, op, P::data_abort(abort)),
        }
    }

    fn refuse_access(&mut self, bus: &mut Bus, index: u32, at: u32, op: Op, exception: P::Exception) -> bool {
        self.access_kind = kind_of_access(op.code);
        self.raise_at(bus, index, at, exception)
    }

    /// A store that found no shortcut. True if the block goes on.
    #[cold]
    #[inline(never)]
    pub(super) fn store_slowly(&mut self, bus: &mut Bus, index: u32, at: u32, op: Op, addr: u32) -> bool {
        let (size, told) = (size_of_access(op.code), op.ra & how::TOLD != 0);
        let (begins, value) = (self.begins_cycle(index, at), self.x[usize::from(op.rd)]);
        if P::HAS_OWN_REGISTERS && P::is_own(addr) {
            return match P::store_own(self, bus, begins, Own { addr, size }, value) {
                Ok(()) => self.after_access(bus, index, at),
                Err(exception) => self.refuse_access(bus, index, at, op, exception),
            };
        }
        if self.must_wait(bus, index, at, addr, size.bytes(), Kind::Write) {
            return false;
        }
        if let Some(cycles) = self.memory.store_direct(bus, self.quiet_from(begins), addr, size.bytes(), value, told) {
            self.cycles = self.cycles.wrapping_add(cycles);
            return self.after_access(bus, index, at);
        }
        let now = self.begins(index, at);
        let done = self.memory.store(bus, &self.system, now, addr, size, value, op.ra);
        self.access_kind = kind_of_access(op.code);
        self.written(bus, index, at, done)
    }

    pub(super) fn written(&mut self, bus: &mut Bus, index: u32, at: u32, done: Done<(), P::Status>) -> bool {
        self.cycles = self.cycles.wrapping_add(done.cycles);
        match done.result {
            Ok(()) => self.after_access(bus, index, at),
            Err(abort) => self.raise_at(bus, index, at, P::data_abort(abort)),
        }
    }

    /// A load or store of several words follows.
    #[cold]
    #[inline(never)]
    pub(super) fn several(&mut self, bus: &mut Bus, index: u32, at: u32, op: Op, addr: u32) -> bool {
        let kind = if op.ra & how::STORE != 0 { Kind::Write } else { Kind::Read };
        if self.must_wait(bus, index, at, addr, 4 * (op.imm & 0xff), kind) {
            return false;
        }
        if !self.system.vfp_is_ready() && self.is_of_vfp(index, at) && !self.prepare_vfp(bus, index, at) {
            return false;
        }
        let (begins, words, store) = (self.begins_cycle(index, at), op.imm & 0xff, op.ra & how::STORE != 0);
        if let Some(cycles) = self.memory.several_direct(bus, self.quiet_from(begins), addr, words, store) {
            self.cycles = self.cycles.wrapping_add(cycles);
            return self.after_access(bus, index, at);
        }
        self.access_kind = if op.ra & how::STORE != 0 { "store of several words" } else { "load of several words" };
        let done = self.memory.several(bus, &self.system, self.begins(index, at), addr, op.imm & 0xff, op.ra);
        self.written(bus, index, at, done)
    }

    /// Looks whether the block may go on behind an access; if not, it is left behind the instruction. False if that is at once.
    pub(super) fn after_access(&mut self, bus: &Bus, index: u32, at: u32) -> bool {
        self.update_limit(bus);
        let longest = u64::from(self.blocks.hot[index as usize].longest_cycles);
        if self.polls.found || self.has_news(bus) || self.cycles.wrapping_add(longest) > self.deadline.limit {
            self.leave_behind(index, at);
        }
        true
    }

    // ---- Instructions that access memory in more than one way, or change more than registers

    /// A word for an instruction that ends its block, which has been left before it.
    pub(super) fn load_word(&mut self, bus: &mut Bus, addr: u32, how: u8) -> Result<u32, P::Exception> {
        let now = self.config.clock.ps_at_floor(Cycles(self.cycles + 1));
        self.access_kind = "4-byte load";
        let done = self.memory.load(bus, &self.system, now, addr, AccessSize::Word, how);
        self.cycles = self.cycles.wrapping_add(done.cycles);
        done.result.map_err(P::data_abort)
    }

    /// As [`Arm::load_word`].
    pub(super) fn store_word(&mut self, bus: &mut Bus, addr: u32, value: u32, how: u8) -> Result<(), P::Exception> {
        let now = self.config.clock.ps_at_floor(Cycles(self.cycles + 1));
        self.access_kind = "4-byte store";
        let done = self.memory.store(bus, &self.system, now, addr, AccessSize::Word, value, how);
        self.cycles = self.cycles.wrapping_add(done.cycles);
        done.result.map_err(P::data_abort)
    }
}

/// True if a RAM answers at `addr`, as it is where translation changes no address: elsewhere, a loop that polls may go unnoticed.
fn is_ram(bus: &Bus, addr: u32) -> bool {
    bus.entry_at(addr).is_some_and(|entry| matches!(bus.map[entry].target, Target::Ram(_)))
}

fn size_of_access(code: Code) -> AccessSize {
    match code {
        Code::Ldrb | Code::Ldrsb | Code::Strb => AccessSize::Byte,
        Code::Ldrh | Code::Ldrsh | Code::Strh => AccessSize::Half,
        _ => AccessSize::Word,
    }
}

pub(super) fn kind_of_access(code: Code) -> &'static str {
    match code {
        Code::Ldrb | Code::Ldrsb => "1-byte load",
        Code::Ldrh | Code::Ldrsh => "2-byte load",
        Code::Strb => "1-byte store",
        Code::Strh => "2-byte store",
        Code::Str | Code::StrUser => "4-byte store",
        _ => "4-byte load",
    }
}

/// A loaded value as the register gets it.
fn extended(code: Code, value: u32) -> u32 {
    match code {
        Code::Ldrsb => value as i8 as u32,
        Code::Ldrsh => value as i16 as u32,
        Code::Ldrb => value & 0xff,
        Code::Ldrh => value & 0xffff,
        _ => value,
    }
}

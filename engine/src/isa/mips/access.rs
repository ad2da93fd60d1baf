//! Accesses that cost more than their instruction, or may: the slow paths of fetch, load and store.
//!
//! An access begins when its instruction's own cycle ends, and the core waits for it. What it costs, and to what it is charged, is the
//! memory's business.

use super::alu;
use super::core::Mips;
use super::decode::decode;
use super::op::{Code, Op};
use super::pages::{Found, PAGE_BYTES};
use super::system::{Exception, TlbFault};
use crate::bus::{Bus, BusFaultKind, Target};
use crate::device::AccessSize;
use crate::memory::first_level::access::{Abort, Access, Kind};
use crate::memory::first_level::{Done, Mmu, Way};
use crate::memory::ram::CODE_GRANULE_BYTES;

/// Bytes of an instruction.
const OP_BYTES: u32 = 4;

impl Mips {
    // ---- Fetch

    /// Fetches the instruction at the current address. False if the caller has to look again before running it.
    pub(super) fn fetch(&mut self, bus: &mut Bus, found: Found) -> bool {
        let line = self.pc & !(self.line_bytes - 1);
        let done = match found.way {
            Way::Local => return true,
            Way::Cached if self.memory.has_fetch_line(line) => return true,
            Way::Cached => self.memory.fetch_line(bus, &self.system, self.now(), line),
            Way::Uncached => {
                let end_pc = self.pc.wrapping_add(OP_BYTES);
                self.memory.fetch_uncached(bus, &self.system, self.now(), self.pc, end_pc)
            }
        };
        self.cycles += done.cycles;
        match done.result {
            Ok(at_once) => {
                self.update_limit(bus);
                // An event that came before a fill may have brought news, however fast that was.
                at_once && !(found.way == Way::Cached && self.has_news(bus))
            }
            Err(abort) => {
                self.raise_fetch(bus, abort);
                false
            }
        }
    }

    pub(super) fn raise_fetch(&mut self, bus: &mut Bus, abort: Abort<TlbFault>) {
        self.access_kind = "instruction fetch";
        self.raise_abort(bus, abort, true);
    }

    /// Has the instruction at the current address decoded. Where the outer loop wants to see each pass, it is given, to be run alone. `None` if
    /// there is nothing: the core is at its handler then.
    #[allow(clippy::option_option)]
    pub(super) fn decoded(&mut self, bus: &mut Bus, found: Found) -> Option<Option<Op>> {
        let at = (self.pc % PAGE_BYTES / OP_BYTES) as usize;
        if self.pages.ops(found)[at].code != Code::Undecoded {
            return Some(None);
        }
        if !self.sections.stops_at(self.pc) {
            self.decode_line(bus, found);
        }
        if self.pages.ops(found)[at].code != Code::Undecoded {
            return Some(None);
        }
        self.mark_code(bus, found.physical + self.pc % PAGE_BYTES, OP_BYTES);
        let op = self.read_op(bus, found, self.pc);
        if op.is_none() {
            let bus_kind = Some(BusFaultKind::Slave);
            let abort = Abort { va: self.pc, status: TlbFault::External, write: false, domain: 0, bus: bus_kind };
            self.raise_fetch(bus, abort);
        }
        op.map(Some)
    }

    /// Decodes the line of the current address, as far as nobody watches for its instructions.
    fn decode_line(&mut self, bus: &mut Bus, found: Found) {
        let bytes = self.line_bytes.min(PAGE_BYTES);
        let first = self.pc & !(bytes - 1);
        for pc in (first..=first + (bytes - 1)).step_by(OP_BYTES as usize) {
            if !self.sections.stops_at(pc)
                && let Some(op) = self.read_op(bus, found, pc)
            {
                self.pages.set(found, pc, op);
            }
        }
        self.mark_code(bus, found.physical + first % PAGE_BYTES, bytes);
    }

    /// Has stores to these bytes noticed.
    fn mark_code(&mut self, bus: &mut Bus, physical: u32, bytes: u32) {
        let entry = bus.entry_at(physical).map(|entry| &bus.map[entry]);
        let is_marked = entry.is_some_and(|entry| match entry.target {
            Target::Ram(ram) => bus.rams[ram].holds_code(physical - entry.base, bytes.min(CODE_GRANULE_BYTES)),
            Target::Device(..) => true,
        });
        // A line larger than a granule may be marked in part: there is no harm in doing it again.
        if !is_marked || bytes > CODE_GRANULE_BYTES {
            bus.mark_code(physical, bytes);
            self.follow_marks(bus);
        }
    }

    /// The instruction at an address of the page.
    fn read_op(&self, bus: &Bus, found: Found, pc: u32) -> Option<Op> {
        let mut bytes = [0; OP_BYTES as usize];
        bus.peek(found.physical + pc % PAGE_BYTES, &mut bytes).then(|| decode(u32::from_le_bytes(bytes), pc))
    }

    // ---- Loads and stores

    /// A load that found no shortcut: what it gives. `None` if it raised an exception.
    #[cold]
    #[inline(never)]
    pub(super) fn load_slowly(&mut self, bus: &mut Bus, addr: u32, code: Code) -> Option<u32> {
        let size = size_of_access(code);
        self.access_kind = kind_of_access(code);
        let done = self.memory.load(bus, &self.system, self.now(), word_or(addr, code), size, 0);
        let value = self.accessed(bus, addr, done)?;
        if self.ram_at(bus, addr).is_none() {
            self.polls.saw(u64::from(self.pc), &self.x);
            self.look |= self.polls.found;
        }
        Some(value)
    }

    /// A store that found no shortcut. `None` if it raised an exception.
    #[cold]
    #[inline(never)]
    pub(super) fn store_slowly(&mut self, bus: &mut Bus, addr: u32, code: Code, value: u32) -> Option<()> {
        self.access_kind = kind_of_access(code);
        let done = self.memory.store(bus, &self.system, self.now(), addr, size_of_access(code), value, 0);
        self.accessed(bus, addr, done)
    }

    /// swl or swr without a shortcut: to a RAM a store of the merged word, elsewhere one of each byte.
    #[cold]
    #[inline(never)]
    pub(super) fn store_part_slowly(&mut self, bus: &mut Bus, addr: u32, code: Code, value: u32) -> Option<()> {
        let word = addr & !3;
        let merge = |old: u32, value: u32| match code {
            Code::Swl => alu::store_left(addr, old, value),
            _ => alu::store_right(addr, old, value),
        };
        let mut old = [0; 4];
        if self.ram_at(bus, word).is_some_and(|physical| bus.peek(physical, &mut old)) {
            let merged = merge(u32::from_le_bytes(old), value);
            self.access_kind = kind_of_access(code);
            let done = self.memory.store(bus, &self.system, self.now(), word, AccessSize::Word, merged, 0);
            return self.accessed(bus, addr, done);
        }
        let (bytes, written) = (merge(0, value).to_le_bytes(), merge(0, u32::MAX).to_le_bytes());
        self.access_kind = kind_of_access(Code::Sb);
        for n in (0..4_u32).filter(|n| written[*n as usize] != 0) {
            let value = u32::from(bytes[n as usize]);
            let done = self.memory.store(bus, &self.system, self.now(), word + n, AccessSize::Byte, value, 0);
            // BadVAddr is the instruction's address, whichever byte was refused.
            self.accessed(bus, addr, done)?;
        }
        Some(())
    }

    /// Where a store to `va` goes, if that is a RAM.
    pub(super) fn ram_at(&self, bus: &Bus, va: u32) -> Option<u32> {
        let access = Access { kind: Kind::Write, privileged: self.system.is_privileged() };
        let physical = self.system.translate(va, access, |_| None).ok()?.physical;
        matches!(bus.map[bus.entry_at(physical)?].target, Target::Ram(_)).then_some(physical)
    }

    /// What follows an access to `addr`, as the instruction has it.
    fn accessed<T>(&mut self, bus: &mut Bus, addr: u32, done: Done<T, TlbFault>) -> Option<T> {
        self.cycles += done.cycles;
        match done.result {
            Ok(value) => {
                self.update_limit(bus);
                self.look = self.has_news(bus);
                Some(value)
            }
            Err(abort) => {
                self.raise_abort(bus, Abort { va: addr, ..abort }, false);
                None
            }
        }
    }

    pub(super) fn raise_abort(&mut self, bus: &mut Bus, abort: Abort<TlbFault>, fetch: bool) {
        let exception = Exception::from_abort(abort, fetch);
        self.raise_access(bus, exception, Some(abort));
    }
}

/// lwl and lwr load the word that holds their address.
fn word_or(addr: u32, code: Code) -> u32 {
    if matches!(code, Code::Lwl | Code::Lwr) { addr & !3 } else { addr }
}

fn size_of_access(code: Code) -> AccessSize {
    match code {
        Code::Lb | Code::Lbu | Code::Sb => AccessSize::Byte,
        Code::Lh | Code::Lhu | Code::Sh => AccessSize::Half,
        _ => AccessSize::Word,
    }
}

fn kind_of_access(code: Code) -> &'static str {
    match code {
        Code::Lb | Code::Lbu => "1-byte load",
        Code::Lh | Code::Lhu => "2-byte load",
        Code::Sb => "1-byte store",
        Code::Sh => "2-byte store",
        Code::Sw | Code::Swl | Code::Swr | Code::Sc => "4-byte store",
        _ => "4-byte load",
    }
}

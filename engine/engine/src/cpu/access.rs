//! Loads and stores: by a shortcut, or by the memory's own path.
//!
//! An access begins when its instruction's own cycle ends, and the core waits for it. The memory side computes the cost
//! of the access and its causes.

use super::Cpu;
use super::isa::{AbortOf, Isa};
use super::memory_system::access::{Access, Kind, how};
use super::memory_system::{Done, Mmu};
use super::polling_loops::iteration::Iteration;
use crate::bus::device::AccessSize;
use crate::bus::{Bus, Target};
use crate::core::Stop;
use crate::semihosting::Answer;
use crate::semihosting::program_memory::Caller;
use crate::time::{Cycles, Ps};

/// A load or store, as given by its instruction.
#[derive(Clone, Copy, Debug)]
pub struct AccessRequest {
    /// Virtual address.
    pub addr: u32,
    /// Size and direction of the access.
    pub moves: Moves,
    /// Flags of [`how`].
    pub how: u8,
}

/// Size and direction of a load or store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Moves {
    /// Number of bytes.
    pub size: AccessSize,
    /// A load extends the value with its sign.
    pub signed: bool,
    /// The access is a store.
    pub store: bool,
}

impl Moves {
    /// A load that extends with zeros.
    pub const fn load(size: AccessSize) -> Moves {
        Moves { size, signed: false, store: false }
    }

    /// A load that extends with the sign.
    pub const fn load_signed(size: AccessSize) -> Moves {
        Moves { size, signed: true, store: false }
    }

    /// A store.
    pub const fn store(size: AccessSize) -> Moves {
        Moves { size, signed: false, store: true }
    }

    /// Its name in messages.
    pub const fn name(self) -> &'static str {
        match (self.size, self.store) {
            (AccessSize::Byte, false) => "1-byte load",
            (AccessSize::Half, false) => "2-byte load",
            (AccessSize::Word, false) => "4-byte load",
            (AccessSize::Byte, true) => "1-byte store",
            (AccessSize::Half, true) => "2-byte store",
            (AccessSize::Word, true) => "4-byte store",
        }
    }

    /// A loaded value, extended to the register's 32 bits.
    pub const fn extended(self, value: u32) -> u32 {
        match (self.size, self.signed) {
            (AccessSize::Byte, true) => value as i8 as u32,
            (AccessSize::Half, true) => value as i16 as u32,
            (AccessSize::Byte, false) => value & 0xff,
            (AccessSize::Half, false) => value & 0xffff,
            (AccessSize::Word, _) => value,
        }
    }
}

/// An integer in memory, in the host's byte order.
pub(crate) trait Integer: Copy {}

impl Integer for u8 {}
impl Integer for i8 {}
impl Integer for u16 {}
impl Integer for i16 {}
impl Integer for u32 {}

impl<I: Isa> Cpu<I> {
    /// The value at `addr`, if it has a shortcut: a load that costs nothing else and changes nothing else.
    #[inline(always)]
    pub(crate) fn load_by_shortcut<T: Integer>(&self, addr: u32) -> Option<T> {
        let host = self.memory.load_shortcut(addr, size_of::<T>() as u32)?;
        // SAFETY: a shortcut's line lies inside a RAM that lives as long as the machine.
        Some(unsafe { host.cast::<T>().read_unaligned() })
    }

    /// Stores a value at `addr`, if it has a shortcut; true if it has.
    #[inline(always)]
    pub(crate) fn store_by_shortcut<T: Integer>(&mut self, addr: u32, value: T) -> bool {
        let host = self.memory.store_shortcut(addr, size_of::<T>() as u32);
        if let Some(host) = host {
            // SAFETY: as for loads.
            unsafe { host.cast::<T>().write_unaligned(value) }
        }
        host.is_some()
    }

    /// Stores the low `bytes` of `value` at `addr`, next to decoded instructions, if `addr` has a shortcut; true if it
    /// has.
    #[inline]
    pub(crate) fn store_beside_code(&mut self, addr: u32, bytes: u32, value: u32) -> bool {
        let host = self.memory.store_beside_code(addr, bytes);
        if let Some(host) = host {
            // SAFETY: as for loads.
            unsafe { host.copy_from_nonoverlapping(value.to_le_bytes().as_ptr(), bytes as usize) }
        }
        host.is_some()
    }

    /// The value at `addr`, not extended, if a shortcut with stamps for operation `at` covers it.
    #[inline]
    pub(crate) fn load_stamped(&mut self, index: u32, at: u32, addr: u32, size: AccessSize) -> Option<u32> {
        if !self.memory.shortcuts().have_stamps() {
            return None;
        }
        let stamp = self.stamp(index, at);
        let host = self.memory.load_stamped(addr, size.bytes(), stamp)?;
        // SAFETY: as for loads.
        Some(unsafe { read(host, size) })
    }

    /// Stores a word, halfword or byte, which `value` computes, at `addr`, if a shortcut with stamps for operation `at`
    /// covers it; true if one does.
    #[inline]
    pub(crate) fn store_stamped(
        &mut self,
        index: u32,
        at: u32,
        addr: u32,
        size: AccessSize,
        value: impl FnOnce(u32) -> u32,
    ) -> bool {
        if !self.memory.shortcuts().have_stamps() {
            return false;
        }
        let stamp = self.stamp(index, at);
        let host = self.memory.store_stamped(addr, size.bytes(), stamp);
        if let Some(host) = host {
            // SAFETY: as for loads.
            unsafe {
                let value = value(read(host, size));
                match size {
                    AccessSize::Byte => host.write(value as u8),
                    AccessSize::Half => host.cast::<u16>().write_unaligned(value as u16),
                    AccessSize::Word => host.cast::<u32>().write_unaligned(value),
                }
            }
        }
        host.is_some()
    }

    /// The stamp of accesses by operation `at`: see [`Used`](super::memory_system::shortcut::Used). The first is 1.
    fn stamp(&self, index: u32, at: u32) -> u64 {
        self.shell.instructions.wrapping_add(u64::from(self.blocks.info(index, at).instr) + 1)
    }

    /// Time at which an access by operation `at` begins.
    pub(crate) fn begins(&self, index: u32, at: u32) -> Ps {
        self.shell.clock.ps_at_floor(Cycles(self.begins_cycle(index, at)))
    }

    /// Core cycle in which an access by operation `at` begins.
    pub(crate) fn begins_cycle(&self, index: u32, at: u32) -> u64 {
        self.shell.cycles.wrapping_add(u64::from(self.blocks.info(index, at).begins_cycles))
    }

    /// A load without a shortcut; `set` writes the extended value into a register. True if the block continues.
    #[inline]
    pub(crate) fn load(
        &mut self,
        bus: &mut Bus,
        index: u32,
        at: u32,
        request: AccessRequest,
        set: impl FnOnce(&mut Self, u32),
    ) -> bool {
        let AccessRequest { addr, moves, how } = request;
        let size = moves.size;
        if how & how::UNPRIVILEGED == 0
            && let Some(value) = self.load_stamped(index, at, addr, size)
        {
            set(self, moves.extended(value));
            return true;
        }
        if self.must_wait(bus, index, at, addr, size.bytes(), Kind::Read) {
            return false;
        }
        if self.switch_matrix_to(bus, addr, Kind::Read)
            && how & how::UNPRIVILEGED == 0
            && let Some(host) = self.memory.load_shortcut(addr, size.bytes())
        {
            // SAFETY: as for loads by shortcuts.
            set(self, moves.extended(unsafe { read(host, size) }));
            return self.after_flat(bus, index, at);
        }
        let (begins, reported) = (self.begins_cycle(index, at), how & how::REPORTED != 0);
        let quiet = self.quiet_from(begins);
        if let Some((done, alone)) = self.memory.load_register(bus, quiet, addr, size) {
            let goes_on = self.register_loaded(bus, index, at, moves, (done, alone), set);
            self.note_look(bus, index, at, addr);
            return goes_on;
        }
        if let Some((cycles, value)) = self.memory.load_cached(bus, quiet, addr, size.bytes()) {
            self.shell.cycles = self.shell.cycles.wrapping_add(cycles);
            set(self, moves.extended(value));
            return self.after_flat(bus, index, at);
        }
        if let Some((cycles, value)) = self.memory.load_flat(bus, quiet, addr, size.bytes(), reported) {
            self.shell.cycles = self.shell.cycles.wrapping_add(cycles);
            set(self, moves.extended(value));
            return self.after_flat(bus, index, at);
        }
        if !reported && let Some((cycles, value)) = self.memory.load_alone(bus, quiet, addr, size.bytes()) {
            self.shell.cycles = self.shell.cycles.wrapping_add(cycles);
            set(self, moves.extended(value));
            self.polls.note_read(u64::from(index) << 32 | u64::from(at), &self.x);
            self.note_look(bus, index, at, addr);
            return self.after_flat(bus, index, at);
        }
        let done = self.memory.load(bus, self.isa.mmu(), begins, addr, size, how);
        self.shell.cycles = self.shell.cycles.wrapping_add(done.cycles);
        match done.result {
            Ok(value) => {
                set(self, moves.extended(value));
                if !is_ram(bus, addr) {
                    self.memory.remember_device(bus, addr);
                    self.polls.note_read(u64::from(index) << 32 | u64::from(at), &self.x);
                    self.note_look(bus, index, at, addr);
                }
                self.after_access(bus, index, at)
            }
            Err(abort) => {
                self.access_kind = moves.name();
                self.refused(bus, index, at, abort)
            }
        }
    }

    /// Waits for the bus matrix before an access at `addr`. True if the matrix switches to another slave.
    #[inline]
    fn switch_matrix_to(&mut self, bus: &Bus, addr: u32, kind: Kind) -> bool {
        let (switches, cycles) = self.memory.switch_matrix_to(bus, addr, kind);
        self.shell.cycles = self.shell.cycles.wrapping_add(cycles);
        switches
    }

    /// Stores the low bytes of `value` in a slave to which the bus matrix has just switched, if `addr` has a shortcut
    /// there; true if it has.
    fn store_on_slave(&mut self, addr: u32, size: AccessSize, value: u32) -> bool {
        let stored = match size {
            AccessSize::Byte => self.store_by_shortcut(addr, value as u8),
            AccessSize::Half => self.store_by_shortcut(addr, value as u16),
            AccessSize::Word => self.store_by_shortcut(addr, value),
        };
        stored || self.store_beside_code(addr, size.bytes(), value)
    }

    /// Finishes a load of a device's register; `alone` says that the access reached nothing else. True if the block
    /// continues.
    #[inline(always)]
    fn register_loaded(
        &mut self,
        bus: &mut Bus,
        index: u32,
        at: u32,
        moves: Moves,
        (done, alone): (Done<u32, <I::Mmu as Mmu>::Status>, bool),
        set: impl FnOnce(&mut Self, u32),
    ) -> bool {
        self.shell.cycles = self.shell.cycles.wrapping_add(done.cycles);
        match done.result {
            Ok(value) => {
                set(self, moves.extended(value));
                self.polls.note_read(u64::from(index) << 32 | u64::from(at), &self.x);
                if alone { self.after_flat(bus, index, at) } else { self.after_access(bus, index, at) }
            }
            Err(abort) => {
                self.access_kind = moves.name();
                self.refused(bus, index, at, abort)
            }
        }
    }

    /// A store of the low bytes of `value` without a shortcut. True if the block continues.
    #[inline]
    pub(crate) fn store(&mut self, bus: &mut Bus, index: u32, at: u32, request: AccessRequest, value: u32) -> bool {
        let AccessRequest { addr, moves, how } = request;
        let size = moves.size;
        if how & how::UNPRIVILEGED == 0
            && (self.store_beside_code(addr, size.bytes(), value)
                || self.store_stamped(index, at, addr, size, |_| value))
        {
            return true;
        }
        if self.must_wait(bus, index, at, addr, size.bytes(), Kind::Write) {
            return false;
        }
        let switches = self.switch_matrix_to(bus, addr, Kind::Write);
        if switches && how & how::UNPRIVILEGED == 0 && self.store_on_slave(addr, size, value) {
            return self.after_flat(bus, index, at);
        }
        let (begins, reported) = (self.begins_cycle(index, at), how & how::REPORTED != 0);
        let quiet = self.quiet_from(begins);
        if let Some(done) = self.memory.store_register(bus, quiet, addr, size, value) {
            self.access_kind = moves.name();
            self.note_stored(bus, addr);
            return self.written(bus, index, at, done);
        }
        if let Some(cycles) = self.memory.store_cached(bus, quiet, addr, size.bytes(), value) {
            self.shell.cycles = self.shell.cycles.wrapping_add(cycles);
            return self.after_flat(bus, index, at);
        }
        if let Some(cycles) = self.memory.store_flat(bus, quiet, addr, size.bytes(), value, reported) {
            self.shell.cycles = self.shell.cycles.wrapping_add(cycles);
            return self.after_flat(bus, index, at);
        }
        let done = self.memory.store(bus, self.isa.mmu(), begins, addr, size, value, how);
        self.memory.remember_device(bus, addr);
        self.access_kind = moves.name();
        self.note_stored(bus, addr);
        self.written(bus, index, at, done)
    }

    /// Finishes an access that returns no value. True if the block continues.
    pub(crate) fn written(
        &mut self,
        bus: &mut Bus,
        index: u32,
        at: u32,
        done: Done<(), <I::Mmu as Mmu>::Status>,
    ) -> bool {
        self.shell.cycles = self.shell.cycles.wrapping_add(done.cycles);
        match done.result {
            Ok(()) => self.after_access(bus, index, at),
            Err(abort) => self.refused(bus, index, at, abort),
        }
    }

    /// Takes the abort of an access by operation `at`; the block has been left.
    #[cold]
    fn refused(&mut self, bus: &mut Bus, index: u32, at: u32, abort: AbortOf<I>) -> bool {
        // The instruction does not count: the next one gets the stamp of its other accesses.
        self.memory.learn_uses();
        self.report_site(bus, index, at);
        self.charge_at(index, at);
        self.raise_at(bus, index, at, I::data_abort(abort))
    }

    /// Finishes an access; the block continues, and the function returns true. If the core has to check for news, the
    /// block ends after this instruction.
    pub(crate) fn after_access(&mut self, bus: &mut Bus, index: u32, at: u32) -> bool {
        self.report_site(bus, index, at);
        self.charge_at(index, at);
        self.update_limit(bus);
        let longest = u64::from(self.blocks.hot[index as usize].longest_cycles);
        if self.polls.has_candidate
            || self.has_news(bus)
            || self.shell.cycles.wrapping_add(longest) > self.shell.deadline.limit
        {
            self.leave_after(index, at);
        }
        true
    }

    /// Reports operation `at` as the source of the access that it has just made, if a device asked for that. Every way
    /// of finishing an access has to come here: else a later instruction is reported.
    #[inline]
    pub(crate) fn report_site(&mut self, bus: &mut Bus, index: u32, at: u32) {
        if bus.access_sites.are_wanted() {
            self.report_origin(bus, index, at);
        }
    }

    #[cold]
    fn report_origin(&mut self, bus: &mut Bus, index: u32, at: u32) {
        let count = self.blocks.info(index, at).instr;
        let pc = self.before(index, count).pc & I::ADDRESS_MASK;
        bus.access_sites.record(bus.master.unwrap_or(0), pc);
    }

    /// As [`Cpu::after_access`], after an access that no event preceded and that reached only memory: the only possible
    /// news is written code, and the limit has not changed.
    #[inline]
    pub(crate) fn after_flat(&mut self, bus: &Bus, index: u32, at: u32) -> bool {
        self.charge_at(index, at);
        let longest = u64::from(self.blocks.hot[index as usize].longest_cycles);
        if self.polls.has_candidate
            || self.code_was_written(bus)
            || self.shell.cycles.wrapping_add(longest) > self.shell.deadline.limit
        {
            self.leave_after(index, at);
        }
        true
    }

    /// Loads a word for an instruction that ends its block; the block has been left before that instruction.
    pub(crate) fn load_word(&mut self, bus: &mut Bus, addr: u32, how: u8) -> Result<u32, I::Exception> {
        self.access_kind = "4-byte load";
        let now = self.shell.cycles + 1;
        self.load_at(bus, now, addr, AccessSize::Word, how)
    }

    /// As [`Cpu::load_word`].
    pub(crate) fn store_word(&mut self, bus: &mut Bus, addr: u32, value: u32, how: u8) -> Result<(), I::Exception> {
        self.access_kind = "4-byte store";
        let now = self.shell.cycles + 1;
        self.store_at(bus, now, addr, (AccessSize::Word, value), how)
    }

    /// One of the loads of an instruction that begins in core cycle `now`.
    pub(crate) fn load_at(
        &mut self,
        bus: &mut Bus,
        now: u64,
        addr: u32,
        size: AccessSize,
        how: u8,
    ) -> Result<u32, I::Exception> {
        let (_, switch_cycles) = self.memory.switch_matrix_to(bus, addr, Kind::Read);
        self.shell.cycles = self.shell.cycles.wrapping_add(switch_cycles);
        let now = now + switch_cycles;
        let done = self.memory.load(bus, self.isa.mmu(), now, addr, size, how);
        self.shell.cycles = self.shell.cycles.wrapping_add(done.cycles);
        self.report_own_origin(bus);
        done.result.map_err(I::data_abort)
    }

    /// As [`Cpu::load_at`].
    pub(crate) fn store_at(
        &mut self,
        bus: &mut Bus,
        now: u64,
        addr: u32,
        (size, value): (AccessSize, u32),
        how: u8,
    ) -> Result<(), I::Exception> {
        self.switch_matrix_to(bus, addr, Kind::Write);
        let done = self.memory.store(bus, self.isa.mmu(), now, addr, size, value, how);
        self.shell.cycles = self.shell.cycles.wrapping_add(done.cycles);
        self.report_own_origin(bus);
        done.result.map_err(I::data_abort)
    }

    /// Reports the instruction at the current address, before which its block was left, as the source of an access to a
    /// register without a model, if it made one.
    pub(super) fn report_own_origin(&self, bus: &mut Bus) {
        if bus.access_sites.are_wanted() {
            bus.access_sites.record(bus.master.unwrap_or(0), self.pc & I::ADDRESS_MASK);
        }
    }

    /// Physical address of an access. Takes no time.
    pub(crate) fn physical(&self, bus: &Bus, addr: u32, kind: Kind) -> Result<u32, AbortOf<I>> {
        let mmu = self.isa.mmu();
        let access = Access { kind, privileged: mmu.is_privileged() };
        Ok(self.memory.meaning(bus, mmu, addr, access)?.physical)
    }

    /// Physical address of an access, if it reaches a RAM.
    pub(crate) fn ram_at(&self, bus: &Bus, addr: u32, kind: Kind) -> Option<u32> {
        self.physical(bus, addr, kind).ok().filter(|physical| is_ram(bus, *physical))
    }

    /// Records in `iteration` the memory that a store of up to a word at `addr` is about to overwrite.
    pub(crate) fn note_store(&self, bus: &Bus, addr: u32, iteration: &mut Iteration) -> Option<()> {
        let Some(physical) = self.ram_at(bus, addr, Kind::Write) else { return Some(()) };
        // An unaligned store reaches into the next word.
        let (word, last) = (physical & !3, physical.wrapping_add(3) & !3);
        iteration.note_word(bus, word)?;
        if last == word { Some(()) } else { iteration.note_word(bus, last) }
    }

    /// The program, as the semihosting host sees it.
    pub(crate) fn caller<'a>(&'a self, bus: &'a mut Bus) -> Caller<'a> {
        Caller { bus, view: self.isa.mmu(), now: self.shell.now() }
    }

    /// Applies the host's answer to a semihosting call: a value, if the core continues.
    pub(crate) fn host_answered(&mut self, answer: Answer) -> Option<u32> {
        self.in_call = answer == Answer::Wait;
        match answer {
            Answer::Value(value) => return Some(value),
            Answer::Exit(status) => self.shell.stop = Some(Stop::Exit(status)),
            Answer::Wait => self.shell.stop = Some(Stop::Horizon),
        }
        None
    }
}

/// The value at a host address, not extended. Shortcuts lead to memory in the host's byte order, too.
///
/// # Safety
///
/// `size` bytes are readable at `host`.
#[inline]
unsafe fn read(host: *const u8, size: AccessSize) -> u32 {
    // By the caller's promise.
    unsafe {
        match size {
            AccessSize::Byte => u32::from(host.read()),
            AccessSize::Half => u32::from(host.cast::<u16>().read_unaligned()),
            AccessSize::Word => host.cast::<u32>().read_unaligned(),
        }
    }
}

/// True if a RAM answers at `addr`, provided that translation does not change the address; otherwise a polling loop may
/// go unnoticed.
fn is_ram(bus: &Bus, addr: u32) -> bool {
    bus.entry_at(addr).is_some_and(|entry| matches!(bus.map[entry].target, Target::Ram(_)))
}

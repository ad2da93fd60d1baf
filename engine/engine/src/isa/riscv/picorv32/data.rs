//! Loads and stores, and the port.

use super::Picorv32;
use super::next::Next;
use crate::bus::device::AccessSize;
use crate::bus::{Bus, BusFault, Target};
use crate::cpu::memory_system::Purpose;
use crate::cpu::memory_system::port::Answer;
use crate::isa::riscv::execute::moves;

/// No cycle.
pub(super) const NEVER: u64 = u64::MAX;

impl Picorv32 {
    /// Completes the prefetch, then reads.
    #[inline(never)]
    pub(super) fn load(&mut self, bus: &mut Bus, slot: usize, addr: u32, next: Next) {
        let Some(begins) = self.before_access(bus, slot, addr, next) else { return };
        let op = self.table.at(slot).op;
        let moves = moves(op.code);
        let size = moves.size;
        let until = self.shell.deadline.limit;
        match self.port.read(bus, addr & !(size.bytes() - 1), size, begins, until) {
            Ok(answer) => {
                self.x[op.rd as usize] = moves.extended(answer.value);
                self.note_read(bus, self.table.at(slot).pc, addr, answer.entry);
                self.report_origin(bus, slot);
                self.after_access(bus, answer, begins, Purpose::Load);
            }
            Err(fault) => self.unanswered(*self.table.at(slot), fault),
        }
    }

    /// Completes the prefetch, then writes.
    #[inline(never)]
    pub(super) fn store(&mut self, bus: &mut Bus, slot: usize, addr: u32, value: u32, next: Next) {
        let Some(begins) = self.before_access(bus, slot, addr, next) else { return };
        let size = moves(self.table.at(slot).op.code).size;
        match self.port.write(bus, addr & !(size.bytes() - 1), size, value, begins) {
            Ok(answer) => {
                self.report_origin(bus, slot);
                self.shell.waits_write(bus, addr);
                self.after_access(bus, answer, begins, Purpose::Store);
            }
            Err(fault) => self.unanswered(*self.table.at(slot), fault),
        }
    }

    /// Fetches the next instruction; returns the cycle in which the request for data is on the port.
    #[inline(always)]
    fn before_access(&mut self, bus: &mut Bus, slot: usize, addr: u32, next: Next) -> Option<u64> {
        self.shell.fixed.issue += next.accepts - self.shell.cycles + 1;
        self.proceed(bus, next);
        if self.shell.stop.is_some() {
            return None;
        }
        let access_cycles = u64::from(self.table.timing.access);
        let begins = self.shell.cycles - 1 + access_cycles;
        self.shell.fixed.issue += access_cycles - 1;
        self.shell.cycles = begins;
        if addr & (moves(self.table.at(slot).op.code).size.bytes() - 1) != 0 {
            self.misaligned(bus, *self.table.at(slot), addr);
            if self.shell.stop.is_some() {
                return None;
            }
        }
        self.shell.fixed.issue += 1;
        self.shell.cycles = begins + 1;
        Some(begins)
    }

    #[inline(always)]
    fn after_access(&mut self, bus: &Bus, answer: Answer, begins: u64, purpose: Purpose) {
        let waited = (answer.done_cycles - begins, answer.done_cycles);
        self.charge_entry(answer.entry, waited, answer.interconnect_cycles, purpose);
        self.touch(answer.entry);
        self.shell.cycles = answer.done_cycles + 1;
        self.follow_access(bus, answer.done_cycles);
    }

    #[inline(always)]
    fn touch(&mut self, entry: usize) {
        self.touched.add(entry);
    }

    /// Reports an instruction as the source of an access to a register without a model, if it made one.
    #[inline(always)]
    fn report_origin(&self, bus: &mut Bus, slot: usize) {
        if bus.access_sites.are_wanted() {
            bus.access_sites.record(bus.master.unwrap_or(0), self.table.at(slot).pc);
        }
    }

    /// Records a load from a device: a loop may be polling.
    #[inline]
    fn note_read(&mut self, bus: &Bus, pc: u32, addr: u32, entry: usize) {
        // A window onto a memory is not a register.
        if matches!(bus.map[entry].target, Target::Device(..)) && !bus.peek(addr, &mut [0]) {
            self.polls.note_read(u64::from(pc), &self.x);
            let place = (pc, self.shell.cycles, self.shell.instructions);
            self.shell.waits_read(bus, addr, place, &self.accounts);
            if self.polls.has_candidate {
                self.pause_at = 0;
            }
        }
    }

    /// Reads a word of code of a device on the core's clock, if the read reaches nothing else: the cycle in which it is
    /// answered ([`NEVER`] if it has to be read over the bus), and the word, with the map entry above it. The result
    /// fits two registers of the host: passing it through memory, written in parts and read as a whole, would take
    /// longer than everything else.
    #[inline(never)]
    pub(super) fn read_alone(&mut self, bus: &mut Bus, addr: u32, begins: u64) -> (u64, u64) {
        let until = self.shell.deadline.limit;
        let Some(answer) = self.port.read_alone(bus, addr, AccessSize::Word.bytes(), begins, until) else {
            return (NEVER, 0);
        };
        self.touch(answer.entry);
        self.follow_access(bus, answer.done_cycles);
        (answer.done_cycles, (answer.entry as u64) << u32::BITS | u64::from(answer.value))
    }

    /// Reads a word of code that is not in a memory on the port itself.
    #[inline(never)]
    pub(super) fn read_over_bus(&mut self, bus: &mut Bus, addr: u32, begins: u64) -> Result<Answer, BusFault> {
        let answer = self.port.read(bus, addr, AccessSize::Word, begins, 0)?;
        self.touch(answer.entry);
        self.follow_access(bus, answer.done_cycles);
        Ok(answer)
    }

    /// Follows an access to a device, answered in cycle `done`, which may have scheduled an event, changed an
    /// interrupt, or ended the run.
    #[inline(always)]
    fn follow_access(&mut self, bus: &Bus, done: u64) {
        if bus.exit.is_some() || self.shell.deadline.is_after(bus) || self.shell.irqs.have_changed(bus) {
            self.follow_bus(bus, done);
        }
    }
}

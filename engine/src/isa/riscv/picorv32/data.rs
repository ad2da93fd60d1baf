//! Loads and stores, and the port.

use super::Picorv32;
use super::decoded::Decoded;
use super::next::Next;
use crate::bus::device::AccessSize;
use crate::bus::{Bus, BusFault, Target};
use crate::cpu::memory::Purpose;
use crate::cpu::memory::port::Answer;
use crate::isa::riscv::execute::moves;

impl Picorv32 {
    /// Completes the prefetch, then reads.
    #[inline(never)]
    pub(super) fn load(&mut self, bus: &mut Bus, decoded: Decoded, addr: u32, next: Next) {
        let Some(begins) = self.before_access(bus, decoded, addr, next) else { return };
        let moves = moves(decoded.op.code);
        let size = moves.size;
        match self.port.read(bus, addr & !(size.bytes() - 1), size, begins) {
            Ok(answer) => {
                self.x[decoded.op.rd as usize] = moves.extended(answer.value);
                self.note_read(bus, decoded.pc, addr, answer.entry);
                self.after_access(bus, answer, begins, Purpose::Load);
            }
            Err(fault) => self.unanswered(decoded, fault),
        }
    }

    /// Completes the prefetch, then writes.
    #[inline(never)]
    pub(super) fn store(&mut self, bus: &mut Bus, decoded: Decoded, addr: u32, value: u32, next: Next) {
        let Some(begins) = self.before_access(bus, decoded, addr, next) else { return };
        let size = moves(decoded.op.code).size;
        match self.port.write(bus, addr & !(size.bytes() - 1), size, value, begins) {
            Ok(answer) => self.after_access(bus, answer, begins, Purpose::Store),
            Err(fault) => self.unanswered(decoded, fault),
        }
    }

    /// Fetches the next instruction; gives the cycle in which the request for data is up.
    #[inline(always)]
    fn before_access(&mut self, bus: &mut Bus, decoded: Decoded, addr: u32, next: Next) -> Option<u64> {
        self.shell.fixed.issue += next.accepts - self.shell.cycles + 1;
        self.proceed(bus, next);
        if self.shell.stop.is_some() {
            return None;
        }
        let access_cycles = u64::from(self.table.timing.access);
        let begins = self.shell.cycles - 1 + access_cycles;
        self.shell.fixed.issue += access_cycles - 1;
        self.shell.cycles = begins;
        if addr & (moves(decoded.op.code).size.bytes() - 1) != 0 {
            self.misaligned(bus, decoded, addr);
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
        self.charge_entry(answer.entry, answer.done_cycles - begins, answer.interconnect_cycles, purpose);
        self.touch(answer.entry);
        self.shell.cycles = answer.done_cycles + 1;
        self.follow_access(bus, answer.done_cycles);
    }

    #[inline(always)]
    fn touch(&mut self, entry: usize) {
        self.touched |= 1_u64.checked_shl(entry as u32).unwrap_or(0);
    }

    /// A load has read from a device: a loop may be polling.
    #[inline]
    fn note_read(&mut self, bus: &Bus, pc: u32, addr: u32, entry: usize) {
        // What is read of a window onto a memory is no register.
        if matches!(bus.map[entry].target, Target::Device(..)) && !bus.peek(addr, &mut [0]) {
            self.polls.note_read(u64::from(pc), &self.x);
            if self.polls.has_candidate {
                self.pause_at = 0;
            }
        }
    }

    /// Reads a word of code that lies in no memory on the port itself.
    #[inline(never)]
    pub(super) fn read_over_bus(&mut self, bus: &mut Bus, addr: u32, begins: u64) -> Result<Answer, BusFault> {
        let answer = self.port.read(bus, addr, AccessSize::Word, begins)?;
        self.touch(answer.entry);
        self.follow_access(bus, answer.done_cycles);
        Ok(answer)
    }

    /// A device, which has answered in cycle `done`, may have scheduled something, raised or lowered an interrupt, or
    /// ended the run.
    #[inline(always)]
    fn follow_access(&mut self, bus: &Bus, done: u64) {
        if bus.exit.is_some() || self.shell.deadline.is_behind(bus) || self.shell.irqs.have_changed(bus) {
            self.follow_bus(bus, done);
        }
    }
}

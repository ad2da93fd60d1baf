//! Loads and stores, and the port.

use super::Picorv32;
use super::decoded::Decoded;
use super::next::Next;
use crate::bus::{Bus, BusFault};
use crate::device::AccessSize;
use crate::isa::riscv::access::{extend, size_of_access};
use crate::memory::first_level::Purpose;
use crate::memory::port::Answer;

impl Picorv32 {
    /// Completes the prefetch, then reads.
    #[inline(never)]
    pub(super) fn load(&mut self, bus: &mut Bus, decoded: Decoded, addr: u32, next: Next) {
        let Some(begins) = self.before_access(bus, decoded, addr, next) else { return };
        let size = size_of_access(decoded.op.code);
        match self.port.read(bus, addr & !(size.bytes() - 1), size, begins) {
            Ok(answer) => {
                self.x[decoded.op.rd as usize] = extend(decoded.op.code, answer.value);
                self.after_access(bus, answer, begins, Purpose::Load);
            }
            Err(fault) => self.unanswered(decoded, fault),
        }
    }

    /// Completes the prefetch, then writes.
    #[inline(never)]
    pub(super) fn store(&mut self, bus: &mut Bus, decoded: Decoded, addr: u32, value: u32, next: Next) {
        let Some(begins) = self.before_access(bus, decoded, addr, next) else { return };
        let size = size_of_access(decoded.op.code);
        match self.port.write(bus, addr & !(size.bytes() - 1), size, value, begins) {
            Ok(answer) => self.after_access(bus, answer, begins, Purpose::Store),
            Err(fault) => self.unanswered(decoded, fault),
        }
    }

    /// Fetches the next instruction; gives the cycle in which the request for data is up.
    #[inline(always)]
    fn before_access(&mut self, bus: &mut Bus, decoded: Decoded, addr: u32, next: Next) -> Option<u64> {
        self.fixed.issue += next.accepts - self.cycles + 1;
        self.proceed(bus, next);
        if self.stop.is_some() {
            return None;
        }
        let access_cycles = u64::from(self.config.timing.access);
        let begins = self.cycles - 1 + access_cycles;
        self.fixed.issue += access_cycles - 1;
        self.cycles = begins;
        if addr & (size_of_access(decoded.op.code).bytes() - 1) != 0 {
            self.misaligned(decoded, addr);
            if self.stop.is_some() {
                return None;
            }
        }
        self.fixed.issue += 1;
        self.cycles = begins + 1;
        Some(begins)
    }

    #[inline(always)]
    fn after_access(&mut self, bus: &Bus, answer: Answer, begins: u64, purpose: Purpose) {
        self.charge_entry(answer.entry, answer.done_cycles - begins, answer.on_the_way_cycles, purpose);
        self.cycles = answer.done_cycles + 1;
        self.follow_access(bus);
    }

    /// Reads a word of code that lies in no memory on the port itself.
    #[inline(never)]
    pub(super) fn read_over_bus(&mut self, bus: &mut Bus, addr: u32, begins: u64) -> Result<Answer, BusFault> {
        let answer = self.port.read(bus, addr, AccessSize::Word, begins)?;
        self.follow_access(bus);
        Ok(answer)
    }

    /// A device may have scheduled something, raised or lowered an interrupt, or ended the run.
    #[inline(always)]
    fn follow_access(&mut self, bus: &Bus) {
        let lines = bus.core_irqs[self.config.index as usize].low();
        if bus.exit.is_some() || self.deadline.is_behind(bus) || lines != self.interrupts.lines() {
            self.follow_bus(bus);
        }
    }
}

//! The inner loop: launches one instruction after the other.
//!
//! An instruction is launched in cycle L; `accepts` (N) is the first in which the next can be accepted. The fetch of
//! the next ends in D, and it is launched in D + 1. Names and rules: docs/picosoc.md.

use super::Picorv32;
use super::decoded::{Decoded, Kind, serial_cycles};
use super::interrupts::BREAKPOINT;
use super::next::Next;
use super::stops::note_illegal;
use crate::bus::Bus;
use crate::core::Stop;
use crate::cpu::polling_loops::fast_forward::fast_forward;
use crate::event_rates::Source;
use crate::isa::riscv::alu::{compute, is_taken};

/// Registers that an interrupt writes: the return address and the causes.
const RETURN_ADDRESS: usize = 3;
const CAUSES: usize = 4;

impl Picorv32 {
    /// Runs until something stops the core; only one instruction or interrupt if `single`.
    pub(super) fn run_loop(&mut self, bus: &mut Bus, single: bool) -> Stop {
        loop {
            while !single && self.shell.cycles < self.pause_at && self.encoding.is_some() {
                self.launch(bus);
            }
            if let Some(stop) = self.shell.stop.take() {
                return stop;
            }
            if bus.watches.stop_core() {
                return Stop::Break;
            }
            if bus.exit.is_some() || self.shell.cycles >= self.shell.deadline.limit {
                return Stop::Horizon;
            }
            if self.begin_calls() {
                continue;
            }
            if let Some(stop) = self.shell.stops_for_calls(single) {
                return stop;
            }
            if self.encoding.is_none() {
                self.start(bus);
                continue;
            }
            self.shell.waits_woke(bus);
            if self.shell.waiting {
                match self.wake(bus) {
                    Some(stop) => return stop,
                    None => continue,
                }
            }
            if self.interrupts.are_due(self.shell.cycles, self.shell.instructions) {
                self.enter_handler(bus);
            } else {
                if !single && self.shell.breaks_at(self.pc) {
                    return Stop::Break;
                }
                if self.polls.has_candidate && !single {
                    fast_forward(self, bus);
                } else {
                    self.launch_one(bus);
                }
                self.settle_calls();
                self.shell.name_task(bus);
                self.look_ahead();
            }
            if single {
                return self.shell.stop.take().unwrap_or(Stop::Horizon);
            }
        }
    }

    /// The first fetch, after reset or after the address has been set.
    fn start(&mut self, bus: &mut Bus) {
        self.shell.fixed.issue += 1;
        self.proceed(bus, Next { addr: self.pc, wanted: self.shell.cycles, accepts: self.shell.cycles });
    }

    /// Launches the instruction at the current address.
    #[inline(always)]
    pub(super) fn launch(&mut self, bus: &mut Bus) {
        let Some(encoding) = self.encoding else { return };
        let slot = self.table.find(self.pc, encoding);
        // Only the needed fields: a copy of all passes through memory, which takes longer than most of the code below.
        let Decoded { op, kind, len_bytes, accepts_cycles, target, .. } = *self.table.at(slot);
        let launched = self.shell.cycles;
        let accepts = launched + u64::from(accepts_cycles);
        let after = self.pc.wrapping_add(u32::from(len_bytes));
        let next = Next { addr: after, wanted: launched + 1, accepts };
        let (a, b) = (self.x[op.rs1 as usize], self.x[op.rs2 as usize]);
        self.shell.instructions += 1;
        self.was_compressed = len_bytes == 2;
        let next = match kind {
            Kind::Compute => {
                self.x[op.rd as usize] = compute(op.code, a, b, op.imm as u32);
                self.shell.fixed.issue += accepts - launched + 1;
                next
            }
            Kind::LongCompute => {
                self.x[op.rd as usize] = compute(op.code, a, b, op.imm as u32);
                self.shell.fixed.long_operation += accepts - launched + 1;
                next
            }
            Kind::Branch => {
                self.shell.fixed.issue += accepts - launched + 1;
                if is_taken(op.code, a, b) {
                    return self.branch(bus, next, target);
                }
                next
            }
            Kind::Load => return self.load(bus, slot, a.wrapping_add(op.imm as u32), next),
            Kind::Store => return self.store(bus, slot, a.wrapping_add(op.imm as u32), b, next),
            Kind::Jal => {
                self.x[op.rd as usize] = after;
                self.jump(target, launched, accepts)
            }
            Kind::Jalr => {
                self.x[op.rd as usize] = after;
                self.jump(a.wrapping_add(op.imm as u32) & !1, launched, accepts)
            }
            _ => return self.launch_rare(bus, slot, a, b, next),
        };
        self.proceed(bus, next);
    }

    #[inline(never)]
    fn launch_rare(&mut self, bus: &mut Bus, slot: usize, a: u32, b: u32, mut next: Next) {
        let decoded = *self.table.at(slot);
        let (launched, op, rd) = (self.shell.cycles, decoded.op, decoded.op.rd as usize);
        let own_cycles = next.accepts - launched + 1;
        match decoded.kind {
            Kind::SerialShift => {
                let shift_cycles = u64::from(serial_cycles(b, self.table.timing.shift_stage_bits));
                self.x[rd] = compute(op.code, a, b, 0);
                self.shell.fixed.long_operation += own_cycles + shift_cycles;
                next.accepts += shift_cycles;
            }
            Kind::Counter => {
                self.x[rd] = self.counter(op.imm as u32, launched);
                self.shell.fixed.issue += own_cycles;
            }
            Kind::Maskirq => {
                self.x[rd] = self.interrupts.set_mask(a);
                self.shell.fixed.issue += own_cycles;
            }
            Kind::Timer => {
                self.x[rd] = self.interrupts.set_timer(launched, a);
                self.shell.fixed.issue += own_cycles;
            }
            Kind::Retirq => {
                let target = self.x[RETURN_ADDRESS] & !1;
                self.x[rd] = next.addr;
                self.interrupts.leave(self.shell.instructions);
                next = self.jump(target, launched, next.accepts);
            }
            Kind::Waitirq => return self.wait(),
            _ if self.interrupts.raise(BREAKPOINT) => {
                note_illegal(bus, decoded);
                self.shell.spent.exceptions += own_cycles;
            }
            _ => return self.halt(decoded, next.accepts - 1),
        }
        self.proceed(bus, next);
        self.look_ahead();
    }

    fn counter(&self, number: u32, launched: u64) -> u32 {
        let value = if number & 0x7f == 2 { self.shell.instructions } else { launched + 1 };
        (if number & 0x80 == 0 { value } else { value >> 32 }) as u32
    }

    fn enter_handler(&mut self, bus: &mut Bus) {
        let taken = self.shell.cycles;
        self.shell.breaks.interrupts += 1;
        let wanted = taken + u64::from(self.table.timing.interrupt);
        self.x[RETURN_ADDRESS] = self.pc | u32::from(self.was_compressed);
        self.x[CAUSES] = self.interrupts.enter(wanted);
        let bit = self.x[CAUSES].trailing_zeros();
        let source = Source { name: "interrupt", number: Some(bit), input: Some(bit) };
        self.follow_interrupt(source);
        self.shell.count_exception(bus, source);
        self.shell.spent.exceptions += wanted - taken + 1;
        self.unit.forget();
        self.proceed(bus, Next { addr: self.interrupt_addr, wanted, accepts: wanted });
        self.follow_handler();
        self.look_ahead();
    }

    /// waitirq: the core waits from here on. rdinstret does not count it.
    fn wait(&mut self) {
        self.shell.instructions -= 1;
        self.shell.waiting = true;
        self.look_ahead();
    }

    /// Continues after waitirq once an interrupt is pending, masked or not; else lets time pass up to the limit.
    fn wake(&mut self, bus: &mut Bus) -> Option<Stop> {
        if self.shell.irqs.will_change(bus, self.shell.cycles) {
            self.shell.idle(self.shell.irqs.since(bus));
        }
        self.follow_bus(bus, self.shell.cycles);
        if self.interrupts.pending_at(self.shell.cycles) == 0 {
            let ends = self.interrupts.timer_ends;
            if ends == u64::MAX {
                return Some(Stop::Waiting);
            }
            let until = ends.min(self.shell.deadline.limit);
            self.shell.spent.idle += until - self.shell.cycles;
            self.shell.cycles = until;
        }
        let pending = self.interrupts.pending_at(self.shell.cycles);
        if pending == 0 {
            return Some(Stop::Horizon);
        }
        self.shell.waiting = false;
        let slot = self.table.find(self.pc, self.encoding?);
        let decoded = *self.table.at(slot);
        self.x[decoded.op.rd as usize] = pending;
        let wanted = self.shell.cycles + u64::from(decoded.accepts_cycles);
        self.shell.fixed.issue += wanted - self.shell.cycles + 1;
        let addr = self.pc.wrapping_add(u32::from(decoded.len_bytes));
        self.proceed(bus, Next { addr, wanted, accepts: wanted });
        self.look_ahead();
        None
    }
}

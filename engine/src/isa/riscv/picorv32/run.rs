//! The inner loop: launches one instruction after the other.
//!
//! `L` is the cycle of an instruction's launch, and `accepts` (N) the first in which the next can be accepted; the fetch of the next ends in
//! D, and it is launched in D + 1. Names and rules: docs/picosoc.md.

use super::Picorv32;
use super::decoded::{Decoded, Kind, serial_cycles};
use super::interrupts::{BREAKPOINT, BUS_ERROR};
use crate::bus::{Bus, BusFault};
use crate::core::{CoreFault, FaultedAccess, Stop};
use crate::device::AccessSize;
use crate::isa::riscv::access::{access_kind, extend, size_of_access};
use crate::isa::riscv::accounts::{Cause, ON_THE_WAY, Purpose};
use crate::isa::riscv::alu::{compute, is_taken};
use crate::isa::riscv::op::TimingClass;
use crate::memory::fetch::prefetch_next::Fetched;
use crate::memory::port::Answer;

/// Registers that an interrupt writes: the return address and the causes.
const RETURN_ADDRESS: usize = 3;
const CAUSES: usize = 4;

/// A halfword that is an instruction by itself (unprivileged specification, section 1.5).
#[inline(always)]
fn is_compressed(half: u16) -> bool {
    half & 3 != 3
}

impl Picorv32 {
    /// Runs until something stops the core; only one instruction or interrupt if `single`.
    pub(super) fn run_loop(&mut self, bus: &mut Bus, single: bool) -> Stop {
        loop {
            while !single && self.cycles < self.pause_at && self.encoding.is_some() {
                self.launch(bus);
            }
            if let Some(stop) = self.stop.take() {
                return stop;
            }
            if bus.exit.is_some() || self.cycles >= self.limit {
                return Stop::Horizon;
            }
            if self.encoding.is_none() {
                self.start(bus);
                continue;
            }
            if self.waiting {
                match self.wake(bus) {
                    Some(stop) => return stop,
                    None => continue,
                }
            }
            if self.interrupts.are_due(self.cycles, self.instructions) {
                self.enter_handler(bus);
            } else {
                self.follow_sections();
                self.launch(bus);
                self.look_ahead();
            }
            if single {
                return self.stop.take().unwrap_or(Stop::Horizon);
            }
        }
    }

    /// The first fetch, after reset or where someone set the address.
    fn start(&mut self, bus: &mut Bus) {
        let wanted = self.cycles;
        match self.fetch_at(bus, self.pc, wanted, wanted) {
            Ok(fetched) => self.go_on(self.pc, fetched, wanted),
            Err(fault) => self.unanswered_fetch(fault, wanted),
        }
        self.fixed.issue += 1;
    }

    /// Launches the instruction at the current address.
    #[inline(always)]
    fn launch(&mut self, bus: &mut Bus) {
        let Some(encoding) = self.encoding else { return };
        let decoded = self.table.get(self.pc, encoding);
        let Decoded { op, kind, .. } = decoded;
        let launched = self.cycles;
        let next = self.pc.wrapping_add(u32::from(decoded.len_bytes));
        let accepts = launched + u64::from(decoded.accepts_cycles);
        let (a, b) = (self.x[op.rs1 as usize], self.x[op.rs2 as usize]);
        self.instructions += 1;
        self.was_compressed = decoded.len_bytes == 2;
        match kind {
            Kind::Compute => {
                self.x[op.rd as usize] = compute(op.code, a, b, op.imm as u32);
                self.fixed.issue += accepts - launched + 1;
                self.advance(bus, next, launched, accepts);
            }
            Kind::LongCompute => {
                self.x[op.rd as usize] = compute(op.code, a, b, op.imm as u32);
                self.fixed.long_operation += accepts - launched + 1;
                self.advance(bus, next, launched, accepts);
            }
            Kind::Branch => {
                self.fixed.issue += accepts - launched + 1;
                if is_taken(op.code, a, b) {
                    self.branch(bus, next, decoded.target, launched, accepts);
                } else {
                    self.advance(bus, next, launched, accepts);
                }
            }
            Kind::Load => self.load(bus, decoded, a.wrapping_add(op.imm as u32), next),
            Kind::Store => self.store(bus, decoded, a.wrapping_add(op.imm as u32), b, next),
            Kind::Jal => {
                self.x[op.rd as usize] = next;
                self.jump(bus, decoded.target, launched, accepts);
            }
            Kind::Jalr => {
                self.x[op.rd as usize] = next;
                self.jump(bus, a.wrapping_add(op.imm as u32) & !1, launched, accepts);
            }
            _ => self.launch_rare(bus, decoded, a, b, next),
        }
    }

    #[inline(never)]
    fn launch_rare(&mut self, bus: &mut Bus, decoded: Decoded, a: u32, b: u32, next: u32) {
        let (launched, op) = (self.cycles, decoded.op);
        let mut accepts = launched + u64::from(decoded.accepts_cycles);
        let rd = op.rd as usize;
        match decoded.kind {
            Kind::SerialShift => {
                accepts += u64::from(serial_cycles(b, self.config.timing.shift_stage_bits));
                self.x[rd] = compute(op.code, a, b, 0);
                self.fixed.long_operation += accepts - launched + 1;
            }
            Kind::Counter => {
                self.x[rd] = self.counter(op.imm as u32, launched);
                self.fixed.issue += accepts - launched + 1;
            }
            Kind::Maskirq => {
                self.x[rd] = self.interrupts.set_mask(a);
                self.fixed.issue += accepts - launched + 1;
            }
            Kind::Timer => {
                self.x[rd] = self.interrupts.set_timer(launched, a);
                self.fixed.issue += accepts - launched + 1;
            }
            Kind::Retirq => {
                let target = self.x[RETURN_ADDRESS] & !1;
                self.x[rd] = next;
                self.interrupts.leave(self.instructions);
                self.jump(bus, target, launched, accepts);
                return self.look_ahead();
            }
            Kind::Waitirq => return self.wait(),
            _ => {
                if !self.interrupts.raise(BREAKPOINT) {
                    let stops = accepts - 1;
                    self.causes[Cause::Trap as usize] += stops - launched;
                    self.cycles = stops;
                    return self.halt(decoded);
                }
                self.causes[Cause::Trap as usize] += accepts - launched + 1;
            }
        }
        self.advance(bus, next, launched, accepts);
        self.look_ahead();
    }

    fn counter(&self, number: u32, launched: u64) -> u32 {
        let value = if number & 0x7f == 2 { self.instructions } else { launched + 1 };
        (if number & 0x80 == 0 { value } else { value >> 32 }) as u32
    }

    // ---- The next instruction

    /// Fetches the instruction behind the current one, launched in `launched`.
    #[inline(always)]
    fn advance(&mut self, bus: &mut Bus, next: u32, launched: u64, accepts: u64) {
        self.advance_from(bus, next, launched + 1, accepts);
    }

    #[inline(always)]
    fn advance_from(&mut self, bus: &mut Bus, next: u32, wanted: u64, accepts: u64) {
        match self.fetch_at(bus, next, wanted, accepts) {
            Ok(fetched) => self.go_on(next, fetched, accepts),
            Err(fault) => self.unanswered_fetch(fault, accepts),
        }
    }

    /// Fetches a jump's target, wanted and accepted from `wanted` on.
    #[inline(always)]
    fn jump(&mut self, bus: &mut Bus, target: u32, launched: u64, wanted: u64) {
        self.fixed.jump += wanted - launched + 1;
        self.redirect(bus, target, wanted);
    }

    /// A taken branch: its fall-through is fetched to the end, then its target.
    #[inline(always)]
    fn branch(&mut self, bus: &mut Bus, fall_through: u32, target: u32, launched: u64, accepts: u64) {
        let prefetched = match self.fetch_at(bus, fall_through, launched + 1, accepts) {
            Ok(prefetched) => prefetched,
            Err(fault) => return self.unanswered_fetch(fault, accepts),
        };
        self.charge(&prefetched, accepts, Purpose::Discarded);
        let mut wanted = prefetched.done_cycles + 1;
        self.fixed.jump += 1;
        self.was_compressed = is_compressed(prefetched.encoding as u16);
        let late_half = prefetched.late_upper_half(accepts).filter(|_| target & 2 != 0);
        if let Some(half) = late_half {
            self.was_compressed = true;
            if !is_compressed(half) {
                // The fetch unit takes the late answer for the first half of the target: it reads the target for nothing, and once more.
                self.fetch.forget();
                match self.fetch_at(bus, target, wanted, wanted) {
                    Ok(dropped) => {
                        self.charge(&dropped, wanted, Purpose::Discarded);
                        self.was_compressed = is_compressed(dropped.encoding as u16);
                        wanted = dropped.done_cycles + 1;
                        self.fixed.jump += 1;
                    }
                    Err(fault) => return self.unanswered_fetch(fault, wanted),
                }
            }
        }
        self.redirect(bus, target, wanted);
    }

    #[inline(always)]
    fn redirect(&mut self, bus: &mut Bus, target: u32, wanted: u64) {
        self.fetch.forget();
        match self.fetch_at(bus, target, wanted, wanted) {
            Ok(fetched) => self.go_on(target, fetched, wanted),
            Err(fault) => self.unanswered_fetch(fault, wanted),
        }
    }

    #[inline(always)]
    fn fetch_at(&mut self, bus: &mut Bus, addr: u32, wanted: u64, accepts: u64) -> Result<Fetched, BusFault> {
        let mut fetch = self.fetch;
        let fetched =
            fetch.fetch(addr, wanted, accepts, is_compressed, |addr, begins| self.read_word(bus, addr, begins));
        self.fetch = fetch;
        fetched
    }

    /// The instruction at `pc` has been fetched and will be launched in the cycle behind.
    #[inline(always)]
    fn go_on(&mut self, pc: u32, fetched: Fetched, accepts: u64) {
        self.charge(&fetched, accepts, Purpose::Fetch);
        self.pc = pc;
        self.encoding = Some(fetched.encoding);
        self.cycles = fetched.done_cycles + 1;
    }

    // ---- Data

    /// Completes the prefetch, then reads.
    #[inline(always)]
    fn load(&mut self, bus: &mut Bus, decoded: Decoded, addr: u32, next: u32) {
        let code = decoded.op.code;
        let Some(begins) = self.before_access(bus, decoded, next, addr) else { return };
        let size = size_of_access(code);
        match self.read(bus, addr & !(size.bytes() - 1), size, begins) {
            Ok(answer) => {
                self.x[decoded.op.rd as usize] = extend(code, answer.value);
                self.after_access(answer, begins, Purpose::Load);
            }
            Err(fault) => self.unanswered(decoded, fault),
        }
    }

    /// Completes the prefetch, then writes.
    #[inline(always)]
    fn store(&mut self, bus: &mut Bus, decoded: Decoded, addr: u32, value: u32, next: u32) {
        let Some(begins) = self.before_access(bus, decoded, next, addr) else { return };
        let size = size_of_access(decoded.op.code);
        match self.write(bus, addr & !(size.bytes() - 1), size, value, begins) {
            Ok(answer) => self.after_access(answer, begins, Purpose::Store),
            Err(fault) => self.unanswered(decoded, fault),
        }
    }

    /// Fetches the next instruction; gives the cycle in which the request for data is up.
    #[inline(always)]
    fn before_access(&mut self, bus: &mut Bus, decoded: Decoded, next: u32, addr: u32) -> Option<u64> {
        let accepts = self.cycles + u64::from(decoded.accepts_cycles);
        self.fixed.issue += accepts - self.cycles + 1;
        self.advance(bus, next, self.cycles, accepts);
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
    fn after_access(&mut self, answer: Answer, begins: u64, purpose: Purpose) {
        self.charge_entry(answer.entry, answer.done_cycles - begins, answer.on_the_way_cycles, purpose);
        self.cycles = answer.done_cycles + 1;
    }

    // ---- The port

    #[inline(always)]
    fn read_word(&mut self, bus: &mut Bus, addr: u32, begins: u64) -> Result<Answer, BusFault> {
        match self.port.read_direct(addr, begins) {
            Some(answer) => Ok(answer),
            None => self.read(bus, addr, AccessSize::Word, begins),
        }
    }

    #[inline(always)]
    fn read(&mut self, bus: &mut Bus, addr: u32, size: AccessSize, begins: u64) -> Result<Answer, BusFault> {
        let answer = self.port.read(bus, addr, size, begins)?;
        self.follow_access(bus);
        Ok(answer)
    }

    #[inline(always)]
    fn write(
        &mut self,
        bus: &mut Bus,
        addr: u32,
        size: AccessSize,
        value: u32,
        begins: u64,
    ) -> Result<Answer, BusFault> {
        let answer = self.port.write(bus, addr, size, value, begins)?;
        self.follow_access(bus);
        Ok(answer)
    }

    /// A device may have scheduled something, raised an interrupt, or ended the run.
    #[inline(always)]
    fn follow_access(&mut self, bus: &Bus) {
        if bus.exit.is_some()
            || bus.events.next_due() != self.next_due
            || bus.core_irqs[self.config.index as usize] != 0
        {
            self.follow_bus(bus);
        }
    }

    // ---- Interrupts

    fn enter_handler(&mut self, bus: &mut Bus) {
        let taken = self.cycles;
        let wanted = taken + u64::from(self.config.timing.interrupt);
        self.x[RETURN_ADDRESS] = self.pc | u32::from(self.was_compressed);
        self.x[CAUSES] = self.interrupts.enter(wanted);
        self.interrupts_taken += 1;
        self.causes[Cause::Trap as usize] += wanted - taken + 1;
        self.redirect(bus, self.config.interrupt_addr, wanted);
        self.look_ahead();
    }

    /// waitirq: the core waits from here on. It is no instruction that rdinstret counts.
    fn wait(&mut self) {
        self.instructions -= 1;
        self.waiting = true;
        self.look_ahead();
    }

    /// Goes on behind waitirq once anything is pending, masked or not; else lets time pass up to the limit.
    fn wake(&mut self, bus: &mut Bus) -> Option<Stop> {
        self.follow_bus(bus);
        if self.interrupts.pending_at(self.cycles) == 0 {
            let ends = self.interrupts.timer_ends();
            if ends == u64::MAX {
                return Some(Stop::Waiting);
            }
            let until = ends.min(self.limit);
            self.causes[Cause::Idle as usize] += until - self.cycles;
            self.cycles = until;
        }
        let pending = self.interrupts.pending_at(self.cycles);
        if pending == 0 {
            return Some(Stop::Horizon);
        }
        self.waiting = false;
        let decoded = self.table.get(self.pc, self.encoding?);
        self.x[decoded.op.rd as usize] = pending;
        let (seen, wanted) = (self.cycles, self.cycles + u64::from(decoded.accepts_cycles));
        self.fixed.issue += wanted - seen + 1;
        self.advance_from(bus, self.pc.wrapping_add(u32::from(decoded.len_bytes)), wanted, wanted);
        self.look_ahead();
        None
    }

    // ---- What it can't go on from

    /// An instruction's own cause can't be taken: the core stops for good.
    fn halt(&mut self, decoded: Decoded) {
        let (what, encoding) = match (decoded.kind, decoded.op.code.class()) {
            (Kind::Breakpoint, _) => ("environment call or breakpoint", None),
            (_, TimingClass::Multiply | TimingClass::MultiplyHigh) => {
                ("multiplication, which this core lacks:", Some(decoded.encoding))
            }
            (_, TimingClass::Divide) => ("division, which this core lacks:", Some(decoded.encoding)),
            _ => ("unknown instruction", Some(decoded.encoding)),
        };
        self.fault(CoreFault { pc: decoded.pc, what, access: None, encoding, why_fatal: self.interrupts.why_fatal() });
    }

    fn misaligned(&mut self, decoded: Decoded, addr: u32) {
        if self.interrupts.raise(BUS_ERROR) {
            return self.look_ahead();
        }
        let access = FaultedAccess { addr, kind: access_kind(decoded.op.code), answer: None };
        let why_fatal = self.interrupts.why_fatal();
        let pc = decoded.pc;
        self.fault(CoreFault { pc, what: "misaligned access", access: Some(access), encoding: None, why_fatal });
    }

    /// The core could have accepted the instruction in cycle `accepts`.
    fn unanswered_fetch(&mut self, fault: BusFault, accepts: u64) {
        self.cycles = accepts + 1;
        let access = FaultedAccess { addr: fault.addr, kind: "instruction fetch", answer: Some(fault.kind) };
        self.hang(self.pc, "instruction fetch without an answer", access);
    }

    fn unanswered(&mut self, decoded: Decoded, fault: BusFault) {
        let access = FaultedAccess { addr: fault.addr, kind: access_kind(decoded.op.code), answer: Some(fault.kind) };
        self.hang(decoded.pc, "access without an answer", access);
    }

    /// The bus has no errors: a request that nothing answers keeps the core waiting.
    fn hang(&mut self, pc: u32, what: &'static str, access: FaultedAccess) {
        let why_fatal = "the core waits for an answer for ever";
        self.fault(CoreFault { pc, what, access: Some(access), encoding: None, why_fatal });
    }

    fn fault(&mut self, fault: CoreFault) {
        self.stop = Some(Stop::Fault(fault));
        self.look_ahead();
    }

    // ---- Accounts

    /// Charges the wait for a fetch beyond the cycle in which the core could accept it.
    #[inline(always)]
    fn charge(&mut self, fetched: &Fetched, accepts: u64, purpose: Purpose) {
        let waited = fetched.done_cycles - accepts;
        if waited > 0 {
            self.charge_entry(fetched.entry, waited, fetched.on_the_way_cycles, purpose);
        }
    }

    #[inline(always)]
    fn charge_entry(&mut self, entry: usize, waited: u64, on_the_way: u64, purpose: Purpose) {
        let on_the_way = on_the_way.min(waited);
        let charged = &mut self.entry_cycles[entry];
        charged[purpose as usize] += waited - on_the_way;
        charged[ON_THE_WAY] += on_the_way;
    }
}

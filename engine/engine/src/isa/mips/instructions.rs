//! Instructions other than arithmetic, jumps, loads and stores.

use super::faults::Raised;
use super::instruction_set::Mips;
use super::op::{Code, Op};
use super::system::{Effect, Exception, Now};
use super::uhi;
use crate::bus::Bus;
use crate::cpu::memory_system::access::{Barrier, Lines, Maintenance};
use crate::memory::cache::CacheShape;

/// The opcode of coprocessor 0's instructions.
const COP0: u32 = 0x10;
/// `sdbbp` with this code is a semihosting call.
const SEMIHOSTING: i32 = 1;
/// Config7, a register specific to XBurst, and its bit that clears the branch target buffer.
const CONFIG7: (u8, u8) = (16, 7);
const CONFIG7_INVALIDATE: u32 = 1 << 1;

impl Mips {
    /// Executes the last instruction of a block, if it changes more than registers.
    #[cold]
    #[inline(never)]
    pub(super) fn system_instruction(&mut self, bus: &mut Bus, index: u32, at: u32, op: Op) {
        self.leave_at(index, at);
        let extra = u64::from(self.issue_cycles(op.code)) - 1;
        if let Err(exception) = self.run_system(bus, op) {
            self.shell.spent.exceptions += 1;
            return self.raise(bus, Raised::of(exception));
        }
        self.pass(extra);
        self.shell.fixed.long_operation += extra;
        if op.code == Code::Eret {
            // All of its cycles are charged to the handler.
            self.follow_exception_return(bus);
        }
        self.follow_privilege();
        self.update_limit(bus);
    }

    fn issue_cycles(&self, code: Code) -> u8 {
        let timing = &self.timing;
        match code {
            code if code.uses_coprocessor_0() => timing.coprocessor,
            Code::Sync => timing.barrier,
            Code::Eret => timing.exception_return,
            _ => 1,
        }
    }

    fn run_system(&mut self, bus: &mut Bus, op: Op) -> Result<(), Exception> {
        match op.code {
            Code::Syscall => return Err(Exception::Syscall),
            Code::Break => return Err(Exception::Break),
            Code::Sdbbp if op.imm == SEMIHOSTING => {
                self.go_on();
                self.call_host(bus);
            }
            Code::Sdbbp => return Err(Exception::Reserved(uhi::SDBBP | (op.imm as u32) << 6)),
            // The coprocessor has to be usable before its instructions are decoded.
            Code::Reserved if op.imm as u32 >> 26 == COP0 && !self.isa.system.may_use_cp0() => {
                return Err(Exception::CopUnusable(0));
            }
            Code::Reserved => return Err(Exception::Reserved(op.imm as u32)),
            Code::CopUnusable => return Err(Exception::CopUnusable(op.imm as u8)),
            Code::Sync => {
                self.go_on();
                self.maintain(bus, Maintenance::Barrier(Barrier::DataSynchronization));
            }
            _ if !self.isa.system.may_use_cp0() => return Err(Exception::CopUnusable(0)),
            Code::Cache => self.cache(bus, op),
            Code::Eret => {
                let (pc, effect) = self.isa.system.eret();
                self.count();
                (self.pc, self.isa.delayed) = (pc, None);
                self.follow(effect);
            }
            Code::Wait => {
                self.go_on();
                self.wait(bus);
            }
            _ => {
                let effect = self.coprocessor(op, self.moment(bus));
                self.go_on();
                self.follow(effect);
            }
        }
        Ok(())
    }

    /// Makes the hosting call of the instruction before the current address, or tries it again.
    pub(super) fn call_host(&mut self, bus: &mut Bus) {
        let mut registers = self.x;
        let answer = uhi::call(self.caller(bus), &mut registers);
        self.x = registers;
        self.host_answered(answer);
    }

    /// Finishes an instruction: continues after it, or, if it was in a delay slot, at the branch's target.
    fn go_on(&mut self) {
        self.count();
        let delayed = self.isa.delayed.take();
        self.pc = delayed.unwrap_or(self.pc.wrapping_add(4));
        if delayed.is_some() {
            self.follow_decided(self.pc);
        }
    }

    fn count(&mut self) {
        self.shell.instructions += 1;
        self.shell.fixed.issue += 1;
        self.shell.fixed.never_compiled += 1;
        self.profile_instruction(self.pc);
    }

    /// Moves to and from coprocessor 0, and the TLB's instructions.
    fn coprocessor(&mut self, op: Op, now: Now) -> Effect {
        let (register, select, value) = (op.register(), op.select(), self.x[usize::from(op.rt)]);
        match op.code {
            Code::Mfc0 => {
                self.x[usize::from(op.rd)] = self.isa.system.register(register, select, now);
                Effect::Next
            }
            Code::Mtc0 => {
                if (register, select) == CONFIG7 && value & CONFIG7_INVALIDATE != 0 {
                    self.isa.predictor.invalidate();
                }
                self.isa.system.write(register, select, value, now)
            }
            Code::Tlbr => self.isa.system.tlbr(),
            Code::Tlbwi => self.isa.system.tlbwi(),
            Code::Tlbwr => self.isa.system.tlbwr(now),
            Code::Tlbp => self.isa.system.tlbp(),
            _ => Effect::Next,
        }
    }

    /// Applies the effect of a system instruction. Interrupts are checked before the next instruction anyway.
    fn follow(&mut self, effect: Effect) {
        if effect == Effect::TranslationChanged {
            self.memory.forget_translations(&self.isa.system);
            self.isa.pages.forget();
        }
    }

    /// `cache`: operations of the first-level caches (MIPS32 Architecture for Programmers, volume II, cache). Those
    /// with tags have no effect, except Index Store Tag, which invalidates a line, as software uses it.
    fn cache(&mut self, bus: &mut Bus, op: Op) {
        let addr = self.x[usize::from(op.rs)].wrapping_add(op.offset() as u32);
        let dcache = |lines, clean, invalidate| Some(Maintenance::Dcache { lines, clean, invalidate });
        let what = match (op.operation() & 3, op.operation() >> 2) {
            (0, 0 | 2) => Some(Maintenance::Icache(set_way(self.memory.config.icache, addr))),
            (0, 4) => Some(Maintenance::Icache(Lines::At(addr))),
            (1, 0) => dcache(set_way(self.memory.config.dcache, addr), true, true),
            (1, 2) => dcache(set_way(self.memory.config.dcache, addr), false, true),
            (1, 4) => dcache(Lines::At(addr), false, true),
            (1, 5) => dcache(Lines::At(addr), true, true),
            (1, 6) => dcache(Lines::At(addr), true, false),
            _ => None,
        };
        match what {
            // If it raises an exception, it has not been executed.
            Some(what) if !self.maintain(bus, what) => {}
            _ => self.go_on(),
        }
    }

    /// False if it raised an exception.
    fn maintain(&mut self, bus: &mut Bus, what: Maintenance) -> bool {
        let done = self.memory.maintain(bus, &self.isa.system, self.shell.cycles, what);
        self.pass(done.cycles);
        match done.result {
            Ok(()) => true,
            Err(abort) => {
                self.access_kind = "cache operation";
                // Its own cycle.
                self.shell.spent.exceptions += 1;
                self.raise(bus, Raised::of_abort(abort, false));
                false
            }
        }
    }
}

/// The set and way of an address in operations by index: the way is above the set.
fn set_way(shape: Option<CacheShape>, addr: u32) -> Lines {
    let Some(shape) = shape else { return Lines::At(addr) };
    let sets = shape.size_bytes / (shape.line_bytes * shape.ways);
    let line = addr / shape.line_bytes;
    let (set, way) = (line % sets, line / sets % shape.ways);
    let way = way.checked_shl(32 - shape.ways.trailing_zeros()).unwrap_or(0);
    Lines::SetWay(way + set * shape.line_bytes)
}

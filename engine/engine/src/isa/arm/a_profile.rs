//! The application profile: exceptions with banked registers, modes that access each other's registers, swaps.

use super::access::moves;
use super::architecture::{Profile, SystemSide as _};
use super::event_register::EventRegister;
use super::exclusive::size_of;
use super::instruction_set::Arm;
use super::op::{Code, Op};
use super::registers::{COUNT, LR, SINK};
use super::system::{Effect, Exception, Kind, Lookup, Now, System};
use super::timing::Pending;
use crate::bus::Bus;
use crate::core::debug::{Architecture, Group, Register};
use crate::cpu::access::AccessRequest;
use crate::cpu::memory_system::Mmu as _;
use crate::cpu::memory_system::access::how;
use crate::order::CoreStart;
use crate::time::Cycles;

/// Offset of the vector for svc.
const SVC_VECTOR: u32 = 0x08;

impl Profile for System {
    type Flow = ();

    const ARCHITECTURE: Architecture = Architecture::ArmA;

    fn special_registers(core: &Arm<System>, bus: &Bus) -> Vec<Register> {
        let pending = core.shell.irqs.up(bus, core.shell.cycles).low();
        let registers = core.isa.system.special_registers(&core.x, pending);
        registers.into_iter().map(|(name, value)| Register::word(name, Group::System, value)).collect()
    }

    fn set_special_register(core: &mut Arm<System>, bus: &mut Bus, number: usize, value: u32) -> bool {
        let pending = core.shell.irqs.up(bus, core.shell.cycles).low();
        let effect = core.isa.system.set_special_register(number, value, pending);
        if let Some(effect) = effect {
            core.follow(bus, effect);
        }
        effect.is_some()
    }

    /// The mode stays, and so do its banked registers.
    fn set_status(core: &mut Arm<System>, value: u32) -> bool {
        core.isa.system.set_status(&mut core.x, value);
        core.drop_blocks();
        true
    }

    #[inline(always)]
    fn begin(core: &mut Arm<System>, bus: &mut Bus) {
        if core.isa.system.counters_may_interrupt() {
            core.follow_counters(bus);
        }
    }

    /// As after a reset, and as TF-A leaves it: ACTLR.SMP is set (its cpu_helpers for the Cortex-A7).
    fn start(core: &mut Arm<System>, bus: &mut Bus, start: CoreStart) {
        core.isa.system = System::new(core.config);
        core.isa.system.join_cluster();
        *core.isa.system.event_register() = EventRegister::after(core.interrupts(bus).events());
        (core.x, core.isa.s) = ([0; COUNT], [0; 64]);
        core.x[0] = start.context;
        (core.shell.waiting, core.shell.stop, core.pending) = (false, None, Pending::NONE);
        core.set_place(start.entry, 0);
        core.memory.translation_changed(&core.isa.system);
        core.memory.privilege_changed(true);
        core.drop_blocks();
    }

    fn counters_changed(core: &mut Arm<System>, bus: &mut Bus) {
        core.follow_counters(bus);
    }

    /// svc in User mode with the MMU on is a call of the operating system, if that has a handler for it: a process must
    /// not reach the host.
    fn call_of_program(core: &mut Arm<System>, bus: &mut Bus, number: u32) -> Option<Exception> {
        let system = &core.isa.system;
        let is_process = system.mmu_is_on() && !system.is_privileged();
        let vector = system.vectors().wrapping_add(SVC_VECTOR);
        let has_handler = is_process && core.code_word(bus, vector).is_some_and(|word| word != 0);
        has_handler.then_some(Exception::Svc(number))
    }

    fn take(core: &mut Arm<System>, bus: &mut Bus, exception: Exception) {
        core.take_exception(bus, exception);
    }

    fn raise(core: &mut Arm<System>, bus: &mut Bus, exception: Exception) {
        core.raise_exception(bus, exception);
    }

    fn special(core: &mut Arm<System>, bus: &mut Bus, index: u32, at: u32, op: Op) -> bool {
        if op.code == Code::Swap { core.swap(bus, index, at, op) } else { core.access_user(bus, index, at, op) }
    }

    fn state_in_memory(core: &mut Arm<System>, bus: &mut Bus, op: Op) -> Result<Effect, Exception> {
        if op.code == Code::Rfe { core.return_from_exception(bus, op) } else { core.store_return_state(bus, op) }
    }

    fn look_up(core: &mut Arm<System>, bus: &Bus, lookup: Lookup) {
        let result = core.isa.system.translate(lookup.va, lookup.access, |physical| bus.peek_word(physical));
        core.isa.system.translated(result);
    }
}

impl Arm<System> {
    /// Sets the interrupt of the performance monitors to its level, and asks for a look at the counters when the next
    /// may overflow. Called whenever the core begins to run, as it does after each event, while an overflow raises the
    /// interrupt: the counters stand still while the core sleeps.
    fn follow_counters(&mut self, bus: &mut Bus) {
        if bus.monitors.is_none() {
            return;
        }
        let events = self.events();
        let now = Now { cycles: self.shell.clocked(self.shell.cycles), events: &events, pending: 0 };
        let (level, look) = self.isa.system.counter_interrupt(&now);
        let look = look.map(|cycle| Cycles(self.shell.cycles.wrapping_add(cycle - now.cycles)));
        let look = look.map(|cycle| self.shell.clock.ps_at_floor(cycle));
        bus.counter_interrupt(level, look, self.shell.now());
        self.update_limit(bus);
    }

    /// Swp, Swpb.
    pub(super) fn swap(&mut self, bus: &mut Bus, index: u32, at: u32, op: Op) -> bool {
        if !self.isa.system.has_swap() {
            // swp, or swpb in bit 22, with these registers.
            let fields = u32::from(op.rn & 15) << 16 | u32::from(op.rd & 15) << 12 | u32::from(op.rm & 15);
            let encoding = 0xe100_0090 | u32::from(op.imm == 1) << 22 | fields;
            return self.raise_at(bus, index, at, Exception::Undefined(encoding));
        }
        if self.must_wait(bus, index, at, self.x[usize::from(op.rn)], op.imm, Kind::Write) {
            return false;
        }
        match self.exchange(bus, index, at, op) {
            Ok(old) => {
                self.x[usize::from(op.rd)] = old;
                self.after_access(bus, index, at)
            }
            Err(exception) => self.raise_at(bus, index, at, exception),
        }
    }

    fn exchange(&mut self, bus: &mut Bus, index: u32, at: u32, op: Op) -> Result<u32, Exception> {
        let (addr, value, size) = (self.x[usize::from(op.rn)], self.x[usize::from(op.rm)], size_of(op.imm));
        self.access_kind = "exclusive load";
        let old = self.load_at(bus, self.begins_cycle(index, at), addr, size, how::ALIGNED)?;
        self.access_kind = "exclusive store";
        self.store_at(bus, self.begins_cycle(index, at), addr, (size, value), how::ALIGNED)?;
        Ok(old)
    }

    /// A load or store of a register of User mode.
    pub(super) fn access_user(&mut self, bus: &mut Bus, index: u32, at: u32, op: Op) -> bool {
        let addr = self.x[usize::from(op.rn)].wrapping_add(self.x[usize::from(op.rm)]).wrapping_add(op.imm);
        let request = AccessRequest { addr, moves: moves(op.code), how: op.ra };
        if op.code == Code::StrUser {
            let value = *self.isa.system.user_register(&mut self.x, op.rd);
            return self.store(bus, index, at, request, value);
        }
        self.load(bus, index, at, request, |core, value| *core.isa.system.user_register(&mut core.x, op.rd) = value)
    }

    fn return_from_exception(&mut self, bus: &mut Bus, op: Op) -> Result<Effect, Exception> {
        let addr = self.x[usize::from(op.rn)].wrapping_add(op.imm);
        let pc = self.load_word(bus, addr, how::ALIGNED)?;
        let cpsr = self.load_word(bus, addr.wrapping_add(4), how::ALIGNED)?;
        if op.ra != SINK {
            let base = &mut self.x[usize::from(op.ra)];
            *base = base.wrapping_add(i32::from(op.rd as i8) as u32);
        }
        Ok(Effect::JumpTo(self.isa.system.leave(&mut self.x, pc, cpsr)))
    }

    fn store_return_state(&mut self, bus: &mut Bus, op: Op) -> Result<Effect, Exception> {
        let mode = op.imm & 31;
        // Unpredictable for a mode that does not exist: no effect.
        let Some(sp) = self.isa.system.sp_of(&mut self.x, mode).copied() else { return Ok(Effect::Next) };
        let addr = sp.wrapping_add((op.imm as i32 >> 8) as u32);
        let (lr, spsr) = (self.x[usize::from(LR)], self.isa.system.spsr());
        self.store_word(bus, addr, lr, how::ALIGNED)?;
        self.store_word(bus, addr.wrapping_add(4), spsr, how::ALIGNED)?;
        if let Some(base) = self.isa.system.sp_of(&mut self.x, mode) {
            *base = sp.wrapping_add(i32::from(op.rd as i8) as u32);
        }
        Ok(Effect::Next)
    }
}

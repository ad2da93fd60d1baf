//! Instructions other than arithmetic, jumps, loads and stores.

use super::architecture::Profile;
use super::instruction_set::Arm;
use super::op::{Code, Op};
use super::system::execute::SMC;
use super::system::{DeviceRegister, Effect, Lines, Maintenance, Now};
use super::timing::Pending;
use crate::bus::Bus;
use crate::bus::device::FirmwareAnswer;
use crate::core::Stop;
use crate::cpu::memory_system::snooping::message_of;
use crate::semihosting;

impl<P: Profile> Arm<P> {
    /// Executes the last instruction of a block, if it changes more than registers.
    pub(super) fn system_instruction(&mut self, bus: &mut Bus, index: u32, at: u32, op: Op) {
        let instr = self.blocks.info(index, at).instr;
        self.leave_in_the_middle(index, instr);
        if leaves_the_core(op) && self.instruction_must_wait(bus) {
            return;
        }
        let decoded = self.blocks.instrs_of(index)[usize::from(instr)];
        let next_pc = self.pc.wrapping_add(u32::from(decoded.instr.len_bytes));
        if matches!(op.code, Code::Vmrs | Code::Vmsr) && !self.isa.system.vfp_is_ready() {
            match P::prepare_vfp(self, bus, self.shell.cycles) {
                Ok(cycles) => self.shell.cycles += cycles,
                Err(Some(exception)) => return P::raise(self, bus, exception),
                // The undefined instruction reports itself.
                Err(None) => {}
            }
        }
        let done = match op.code {
            Code::Rfe | Code::Srs => P::state_in_memory(self, bus, op),
            _ => {
                let events = self.events();
                let now = Now {
                    cycles: self.shell.clocked(self.shell.cycles),
                    events: &events,
                    pending: self.interrupts(bus).low(),
                };
                self.isa.system.execute(&mut self.x, &op, &now)
            }
        };
        let effect = match done {
            Ok(Effect::Semihosting) if let Some(call) = P::call_of_program(self, bus, op.imm) => {
                return P::raise(self, bus, call);
            }
            Ok(Effect::FirmwareCall) if bus.firmware.is_none() => return P::raise(self, bus, P::undefined(SMC)),
            Ok(Effect::DeviceRegister(access)) => match self.device_register(bus, access) {
                Some(()) => Effect::Next,
                None => return P::raise(self, bus, P::undefined(access.encoding)),
            },
            Ok(effect) => effect,
            Err(exception) => return P::raise(self, bus, exception),
        };
        self.complete_last(index);
        self.memory.privilege_changed(self.isa.system.is_privileged());
        match effect {
            Effect::JumpTo(target) => {
                self.pc = target;
                self.pending = Pending::NONE;
                self.follow_exception_return(bus);
            }
            effect => {
                self.pc = next_pc;
                self.isa.system.state_mut().advance_it();
                self.follow(bus, effect);
            }
        }
        self.update_limit(bus);
    }

    /// Accesses a register of the device beside the core. `None` if there is no such register. Other cores do not see
    /// it, so nothing has to happen before the access.
    fn device_register(&mut self, bus: &mut Bus, access: DeviceRegister) -> Option<()> {
        let value = bus.core_register(access.register, access.written, self.shell.now())?;
        if access.written.is_none() && bus.count_at(access.register, self.shell.now()).is_some() {
            self.polls.note_clock(self.pc, access.register, access.to[0], self.shell.cycles);
        }
        if access.written.is_none() {
            self.x[usize::from(access.to[0])] = value as u32;
            self.x[usize::from(access.to[1])] = (value >> 32) as u32;
        }
        Some(())
    }

    /// Applies the effect of a system instruction.
    pub(super) fn follow(&mut self, bus: &mut Bus, effect: Effect) {
        match effect {
            Effect::Next | Effect::JumpTo(_) | Effect::DeviceRegister(_) => {}
            Effect::Wait => self.wait(bus),
            Effect::SendEvent => {
                bus.send_event_from(self.shell.index, self.shell.now());
                self.update_limit(bus);
            }
            Effect::Semihosting => self.call_host(bus),
            Effect::FirmwareCall => self.call_firmware(bus),
            Effect::CountersChanged => P::counters_changed(self, bus),
            Effect::NotModelled(what) => {
                let name = &self.shell.name;
                bus.note_of_core(what, || format!("{name}: {what}"));
            }
            Effect::TranslationChanged => {
                self.memory.translation_changed(&self.isa.system);
                self.drop_blocks();
            }
            Effect::MappingChanged => self.memory.mapping_changed(),
            Effect::DomainsChanged => self.memory.domains_changed(),
            Effect::Maintain(maintenance) => self.maintain(bus, maintenance),
            Effect::MaintainAll(maintenance) => {
                if let Some((snoop, message)) = bus.snoop.as_mut().zip(message_of(maintenance)) {
                    snoop.notify_others(self.shell.index as usize, message);
                }
                self.maintain(bus, maintenance);
            }
            Effect::Translate(lookup) => P::look_up(self, bus, lookup),
        }
    }

    /// Makes the semihosting call of the instruction before the current address, or tries it again.
    pub(super) fn call_host(&mut self, bus: &mut Bus) {
        let answer = semihosting::call(self.caller(bus), self.x[0], self.x[1]);
        if let Some(value) = self.host_answered(answer) {
            self.x[0] = value;
        }
    }

    /// Makes the call of the board's firmware: the core spends the call's cycles in it.
    fn call_firmware(&mut self, bus: &mut Bus) {
        let [function, parameters @ ..] = [0, 1, 2, 3].map(|register: usize| self.x[register]);
        let Some(done) = bus.firmware_call(function, parameters, self.shell.now()) else { return };
        self.shell.cycles += done.cycles;
        self.shell.spent.exceptions += done.cycles;
        self.pending = Pending::NONE;
        if let Some((core, start)) = done.starts {
            bus.start_core(core, start, self.shell.now());
        }
        match done.then {
            FirmwareAnswer::Value(value) => self.x[0] = value,
            FirmwareAnswer::WaitForInterrupt(value) => {
                self.x[0] = value;
                self.isa.system.event_register().wait_for_interrupt();
                self.wait(bus);
            }
            FirmwareAnswer::Off => {
                bus.core_reset(self.shell.index as usize, true, self.shell.now());
                self.shell.stop = Some(Stop::Horizon);
            }
            FirmwareAnswer::Exit(status) => self.shell.stop = Some(Stop::Exit(status)),
        }
    }

    fn maintain(&mut self, bus: &mut Bus, maintenance: Maintenance) {
        match maintenance {
            Maintenance::BranchPredictor(_) | Maintenance::Icache(Lines::All) => self.isa.predictor.invalidate(),
            _ => {}
        }
        let done = self.memory.maintain(bus, &self.isa.system, self.shell.cycles, maintenance);
        self.shell.cycles += done.cycles;
        self.follow_lines();
        if let Err(abort) = done.result {
            P::raise(self, bus, P::data_abort(abort));
        }
    }
}

/// True for instructions that may access memory: also those that maintain caches (c7).
const fn leaves_the_core(op: Op) -> bool {
    match op.code {
        Code::Rfe | Code::Srs => true,
        Code::Mcr => op.imm & 15 == 15 && op.imm >> 8 & 15 == 7,
        _ => false,
    }
}

//! A core's reports of its waits ([`super::waits`]).

use std::sync::Arc;

use super::Cpu;
use super::isa::Isa;
use super::memory_system::Accounts;
use super::memory_system::access::Kind;
use super::shell::Shell;
use super::waits::{Gives, Moment, Waits, Within};
use crate::bus::{Bus, Target};
use crate::time::Cycles;

impl Shell {
    /// Records waits from now on.
    pub fn begin_waits(&mut self) {
        self.waits = Some(Box::new(Waits::new(self.index, self.clock, self.spent.idle)));
    }

    /// The calls that the core is in: the same object as long as they do not change.
    fn within(&mut self) -> Arc<Within> {
        let profiled = self.calls.as_ref().filter(|_| self.profile.is_some());
        let frames = || profiled.iter().flat_map(|calls| calls.on_path());
        let known = &self.known_calls;
        if !self.sections.are_open_calls(&known.sections) || !frames().eq(known.frames.iter().copied()) {
            let frames = frames().collect();
            self.known_calls = Arc::new(Within { sections: self.sections.open_calls(), frames });
        }
        self.known_calls.clone()
    }

    /// Records a load at the physical address `addr`, by the instruction at `pc`, answered in `cycle`; `instructions`
    /// were complete before it.
    pub fn waits_read(&mut self, bus: &Bus, addr: u32, (pc, cycle, instructions): (u32, u64, u64), memory: &Accounts) {
        let within = self.within();
        let moment = Moment { pc, cycle, instructions, idle: self.spent.idle, memory, within };
        if self.waits.as_mut().is_none_or(|waits| waits.looks_again(addr, &moment)) {
            return;
        }
        let Some(entry) = bus.entry_at(addr) else { return };
        let Target::Device(device, range) = bus.map[entry].target else { return };
        // A window onto a memory is not a register.
        if bus.peek(addr, &mut [0]) {
            return;
        }
        let offset = bus.map[entry].offset(addr);
        let model = bus.devices[device.0 as usize].as_ref();
        let gives = match model {
            Some(model) if model.pops(range, offset) => Gives::Data,
            Some(model) if model.shows_answers(range, offset) => Gives::Both,
            _ => Gives::State,
        };
        if let Some(waits) = &mut self.waits {
            waits.read(bus, device, addr, gives, moment);
            for (call, waited) in waits.take_ended() {
                self.sections.waited(call, &waited);
            }
        }
    }

    /// Records a store at the physical address `addr`.
    pub fn waits_write(&mut self, bus: &Bus, addr: u32) {
        if let Some(waits) = &mut self.waits
            && bus.entry_at(addr).is_some_and(|entry| matches!(bus.map[entry].target, Target::Device(..)))
        {
            waits.wrote();
        }
    }

    /// Records a sleep of the core, if it has slept.
    #[inline]
    pub fn waits_woke(&mut self, bus: &Bus) {
        if self.waits.as_ref().is_some_and(|waits| waits.has_slept(self.spent.idle)) {
            let (cycle, idle, within) = (self.cycles, self.spent.idle, self.within());
            if let Some(waits) = &mut self.waits {
                waits.woke(bus, cycle, idle, within);
            }
        }
    }
}

impl Shell {
    /// Records the start of a sleep, if the core does not sleep yet.
    #[inline]
    pub fn sleeps(&mut self, bus: &Bus) {
        self.clocked_asleep = bus.clocked_asleep;
        bus.core_sleeps(self.index as usize, self.now());
    }

    /// Records the end of a sleep.
    #[inline]
    pub fn wakes(&self, bus: &Bus) {
        if bus.critical.is_some() {
            let edge_before = self.clock.ps_at_floor(Cycles(self.cycles.saturating_sub(1)));
            bus.core_wakes(self.index as usize, self.now(), edge_before);
        }
    }
}

impl<I: Isa> Cpu<I> {
    /// Records a load from a device at `addr` by operation `at` of a block.
    #[inline]
    pub(crate) fn note_look(&mut self, bus: &Bus, index: u32, at: u32, addr: u32) {
        if self.shell.waits.is_some() {
            self.report_look(bus, index, at, addr);
        }
    }

    #[cold]
    #[inline(never)]
    fn report_look(&mut self, bus: &Bus, index: u32, at: u32, addr: u32) {
        let Ok(physical) = self.physical(bus, addr, Kind::Read) else { return };
        let instructions = self.shell.instructions + u64::from(self.blocks.info(index, at).instr);
        let place = (self.pc_at(index, at), self.begins_cycle(index, at), instructions);
        self.shell.waits_read(bus, physical, place, self.memory.accounts());
    }

    /// Records a store at `addr`.
    #[inline]
    pub(crate) fn note_stored(&mut self, bus: &Bus, addr: u32) {
        if self.shell.waits.is_some()
            && let Ok(physical) = self.physical(bus, addr, Kind::Write)
        {
            self.shell.waits_write(bus, physical);
        }
    }
}

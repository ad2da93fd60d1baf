//! Debuggers' access to cores, registers and memory. Nothing here takes simulated time.

use super::super::Machine;
use super::super::progress::Activity;
use engine::bus::device::AccessSize;
use engine::bus::{BusFault, Target};
use engine::core::CoreReport;
use engine::core::debug::{Architecture, Position, Register};
use engine::time::Ps;

impl Machine {
    /// Number of cores.
    pub fn core_count(&self) -> usize {
        self.cores.len()
    }

    /// The label of a core.
    pub fn core_name(&self, core: usize) -> &str {
        self.cores[core].name()
    }

    /// The file that a core's program was loaded from, if one was.
    pub fn program_file(&self, core: usize) -> Option<&[u8]> {
        self.program(core).map(|program| program.elf.as_slice())
    }

    /// The core that the loaded program is for.
    pub fn main_core(&self) -> usize {
        self.main
    }

    /// The architecture of a core.
    pub fn architecture(&self, core: usize) -> Architecture {
        self.cores[core].architecture()
    }

    /// A core's registers: see [`engine::core::debug::Debugged::debug_registers`].
    pub fn debug_registers(&mut self, core: usize) -> Vec<Register> {
        self.bus.master = Some(core);
        let registers = self.cores[core].debug_registers(&self.bus);
        self.bus.master = None;
        registers
    }

    /// Writes a register of a core by its index. False if it can't be written.
    pub fn set_debug_register(&mut self, core: usize, number: usize, value: u64) -> bool {
        self.bus.master = Some(core);
        let is_set = self.cores[core].set_debug_register(&mut self.bus, number, value);
        self.bus.master = None;
        is_set
    }

    /// The position of a core.
    pub fn position(&self, core: usize) -> Position {
        self.cores[core].position()
    }

    /// The local time of a core.
    pub fn time_of_core(&self, core: usize) -> Ps {
        self.core_time(core)
    }

    /// What a core is doing, in words.
    pub fn activity_of_core(&self, core: usize) -> &'static str {
        match self.last_activity(core) {
            Activity::Running => "runs",
            Activity::Waiting => "waits for an interrupt",
            Activity::Held => "is held in reset",
        }
    }

    /// The reports of all cores so far.
    pub fn debug_reports(&mut self) -> Vec<CoreReport> {
        self.core_reports()
    }

    /// Scheduled events: their times, and the devices that scheduled them.
    pub fn events_to_come(&self) -> Vec<(Ps, String)> {
        let events = self.bus.events.to_come();
        events.into_iter().map(|event| (event.due, self.device_name(event.device).to_owned())).collect()
    }

    /// Levels of the wires that waveforms can have, with their names.
    pub fn wire_levels(&mut self) -> Vec<(String, bool)> {
        self.bus.wires.named_levels(&self.bus.waves)
    }

    /// The physical address of a core's address `addr`, and the number of contiguous bytes from there on.
    pub fn physical(&self, core: usize, addr: u32) -> Option<(u32, u32)> {
        self.cores[core].physical(&self.bus, addr)
    }

    /// Copies memory as a core sees it, without side effects. Returns the number of bytes before the first one that
    /// can't be read in this way, such as a device's register.
    pub fn debug_read(&self, core: usize, addr: u32, into: &mut [u8]) -> usize {
        let mut done = 0;
        while done < into.len() {
            let at = addr.wrapping_add(done as u32);
            let word = (into.len() - done).min(4 - (at % 4) as usize);
            let word = if word == 3 { 1 } else { word };
            if self.cores[core].peek_own(at, &mut into[done..done + word]) {
                done += word;
                continue;
            }
            let Some((physical, room)) = self.physical(core, at) else { break };
            let count = (into.len() - done).min(room as usize);
            if self.bus.peek(physical, &mut into[done..done + count]) {
                done += count;
            } else if self.bus.peek(physical, &mut into[done..done + 1]) {
                // The rest may be in another memory.
                done += 1;
            } else {
                break;
            }
        }
        done
    }

    /// Writes memory as a core sees it, without time, including flash whose model can be programmed in this way. False,
    /// with some of it written, where that can't be done.
    pub fn debug_write(&mut self, core: usize, addr: u32, bytes: &[u8]) -> bool {
        let mut done = 0;
        while done < bytes.len() {
            let Some((physical, room)) = self.physical(core, addr.wrapping_add(done as u32)) else { return false };
            let count = (bytes.len() - done).min(room as usize);
            let part = &bytes[done..done + count];
            if !self.bus.can_load(physical, count as u32, count as u32) {
                return false;
            }
            self.bus.load(physical, part, count as u32);
            done += count;
        }
        // A debugger's own accesses hit no watchpoints.
        self.bus.watches.take_hits();
        true
    }

    /// Loads from a physical address as a core does, with side effects in a device. Returns the value.
    ///
    /// # Errors
    /// [`BusFault`] if nothing or an error answers.
    pub fn force_read(&mut self, core: usize, physical: u32, size: AccessSize) -> Result<u32, BusFault> {
        let at = self.core_time(core);
        self.bus.run_events(at);
        self.bus.master = Some(core);
        let answer = self.bus.read(at, physical, size);
        self.bus.master = None;
        self.bus.watches.take_hits();
        answer.map(|access| access.value)
    }

    /// Stores to a physical address as a core does.
    ///
    /// # Errors
    /// [`BusFault`] if nothing or an error answers.
    pub fn force_write(&mut self, core: usize, physical: u32, size: AccessSize, value: u32) -> Result<(), BusFault> {
        let at = self.core_time(core);
        self.bus.run_events(at);
        self.bus.master = Some(core);
        let answer = self.bus.write(at, physical, size, value);
        self.bus.master = None;
        self.bus.watches.take_hits();
        answer.map(|_| ())
    }

    /// The label of the target at a physical address, and whether it is a memory.
    pub fn at_address(&self, physical: u32) -> Option<(&str, bool)> {
        let entry = &self.bus.map[self.bus.entry_at(physical)?];
        Some((&entry.name, matches!(entry.target, Target::Ram(_)) || self.bus.peek(physical, &mut [0])))
    }
}

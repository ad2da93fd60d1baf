//! The machine's messages about its cores: their places, and faults.

use super::Machine;
use super::progress::Activity;
use engine::bus::{MapEntry, Target};
use engine::disassembly::known_text_of;
use engine::elf::debug::line_of;
use engine::elf::names::Names;
use engine::faults::BusFaultKind;
use engine::faults::{Answer, CoreFault, FaultedAccess};
use engine::time::Ps;

/// Advice after an access to an unmapped address.
const GO_ON: &str = "; --unmapped warn goes on";

impl Machine {
    fn place_text(&self, core: usize, pc: u32) -> String {
        format!("pc {}", self.code_text(core, pc, pc))
    }

    /// An address in code, with its symbol, and the line of the instruction at `line`.
    pub(super) fn code_text(&self, core: usize, addr: u32, line: u32) -> String {
        let line = self.program(core).and_then(|program| line_of(&program.elf, line));
        let known: Vec<String> = [self.symbol_at(core, addr), line].into_iter().flatten().collect();
        if known.is_empty() { format!("{addr:#010x}") } else { format!("{addr:#010x} ({})", known.join(", ")) }
    }

    fn symbol_at(&self, core: usize, addr: u32) -> Option<String> {
        self.program(core).and_then(|program| program.image.place_at(addr, &Names::default()))
    }

    pub(super) fn trap_text(&self, core: usize, fault: &CoreFault) -> String {
        let mut text = format!("{}: {}", self.place_text(core, fault.pc), fault.what);
        match (fault.access, fault.encoding) {
            (Some(access), _) => text += &format!(": {}", self.access_text(access)),
            (None, Some(encoding)) => text += &format!(" {encoding:#010x}"),
            (None, None) => {}
        }
        if !fault.hint.is_empty() {
            text += &format!(": {}", fault.hint);
        }
        let instruction = fault.instruction;
        if let Some(instruction) = instruction.and_then(|(set, encoding)| known_text_of(encoding, set, fault.pc)) {
            text += &format!("; the instruction: {instruction}");
        }
        match fault.link {
            // The call is the instruction before the return address.
            Some(link) if self.symbol_at(core, fault.pc).is_none() => {
                text + &format!("; lr {}", self.code_text(core, link, link.wrapping_sub(2)))
            }
            _ => text,
        }
    }

    fn access_text(&self, access: FaultedAccess) -> String {
        let FaultedAccess { addr, kind, answer } = access;
        match answer {
            Answer::Misaligned => format!("{kind} at {addr:#010x}, which is no multiple of its size"),
            Answer::Refused(why) => format!("{kind} at {addr:#010x}: {why}"),
            Answer::Bus(BusFaultKind::Slave) if !self.is_in_gap(addr) => {
                let entry = self.bus.entry_at(addr).map_or("the device", |entry| &self.bus.map[entry].name);
                format!("{kind} at {addr:#010x}: {entry} answered with an error")
            }
            Answer::Bus(_) => match self.description.unmodelled_at(addr) {
                Some(region) => format!("{kind} at {addr:#010x}: there is no model of {}", region.name),
                None => {
                    let nearest = self.nearest_text(addr);
                    format!("{kind} at {addr:#010x}: nothing is mapped there; nearest: {nearest}")
                }
            },
        }
    }

    fn is_in_gap(&self, addr: u32) -> bool {
        self.bus.entry_at(addr).is_some_and(|entry| self.is_gap(&self.bus.map[entry]))
    }

    /// True for the entry that answers at unmapped addresses.
    fn is_gap(&self, entry: &MapEntry) -> bool {
        matches!(entry.target, Target::Device(id, _) if Some(id) == self.bus.gaps)
    }

    fn nearest_text(&self, addr: u32) -> String {
        let distance = |base: u32, last: u32| if addr < base { base - addr } else { addr.saturating_sub(last) };
        let described = self.bus.map.iter().filter(|entry| !self.is_gap(entry));
        let nearest = described.min_by_key(|entry| distance(entry.base, entry.last));
        nearest.map_or_else(
            || "nothing".to_owned(),
            |entry| format!("{} {:#010x}-{:#010x}", entry.name, entry.base, entry.last),
        )
    }

    pub(super) fn fault_text(&self, core: usize, fault: &CoreFault) -> String {
        let mut text = format!("{}: {}; {}", self.cores[core].name(), self.trap_text(core, fault), fault.why_fatal);
        if !fault.registers.is_empty() {
            text += &format!("; {}", fault.registers);
        }
        let is_of_nothing = |access: FaultedAccess| {
            access.answer == Answer::Bus(BusFaultKind::Unmapped) && access.kind != FaultedAccess::FETCH
        };
        if self.bus.gaps.is_none() && fault.access.is_some_and(is_of_nothing) {
            text += GO_ON;
        }
        text
    }

    pub(super) fn limit_text(&mut self, limit: Ps) -> String {
        let cores: Vec<String> = (0..self.cores.len()).map(|core| self.state_text(core, true)).collect();
        let cores = cores.join("; ");
        let what_next = self.awaited_text().unwrap_or_else(|| "raise it with --limit".to_owned());
        format!("the limit of {limit} simulated time is reached; {cores}: {what_next}")
    }

    /// The place of a core and its activity; in the `past` tense for a run that is over.
    pub(super) fn state_text(&self, core: usize, past: bool) -> String {
        let (name, place) = (self.cores[core].name(), self.place_text(core, self.cores[core].registers()[0]));
        let does = match (self.last_activity(core), self.bus.polled_by(core)) {
            (Activity::Held, _) if past => return format!("{name} was held in reset"),
            (Activity::Held, _) => return format!("{name} is held in reset"),
            (Activity::Waiting, _) => {
                let what = if self.cores[core].awaits(&self.bus).is_event { "an event" } else { "an interrupt" };
                format!("{} for {what}", if past { "waited" } else { "waits" })
            }
            (Activity::Running, Some(device)) => format!("polled {device}"),
            (Activity::Running, None) => "was".to_owned(),
        };
        format!("{name} {does} at {place}")
    }
}

//! What the machine tells the user: where its cores are, and what went wrong there.

use super::Machine;
use crate::bus::BusFaultKind;
use crate::core::{Answer, CoreFault, FaultedAccess};
use crate::lines;
use crate::time::Ps;

impl Machine {
    fn place_text(&self, pc: u32) -> String {
        format!("pc {}", self.code_text(pc, pc))
    }

    /// An address in code, with its symbol, and the line of the instruction at `line_of`.
    fn code_text(&self, addr: u32, line_of: u32) -> String {
        let known: Vec<String> =
            [self.symbol_at(addr), lines::line_of(&self.elf, line_of)].into_iter().flatten().collect();
        if known.is_empty() { format!("{addr:#010x}") } else { format!("{addr:#010x} ({})", known.join(", ")) }
    }

    fn symbol_at(&self, addr: u32) -> Option<String> {
        self.image.as_ref().and_then(|image| image.symbol_at(addr))
    }

    pub(super) fn trap_text(&self, fault: &CoreFault) -> String {
        let mut text = format!("{}: {}", self.place_text(fault.pc), fault.what);
        match (fault.access, fault.encoding) {
            (Some(access), _) => text += &format!(": {}", self.access_text(access)),
            (None, Some(encoding)) => text += &format!(" {encoding:#010x}"),
            (None, None) => {}
        }
        if !fault.hint.is_empty() {
            text += &format!(": {}", fault.hint);
        }
        match fault.link {
            // The call is the instruction before.
            Some(link) if self.symbol_at(fault.pc).is_none() => {
                text + &format!("; lr {}", self.code_text(link, link.wrapping_sub(2)))
            }
            _ => text,
        }
    }

    fn access_text(&self, access: FaultedAccess) -> String {
        let FaultedAccess { addr, kind, answer } = access;
        match answer {
            Answer::Misaligned => format!("{kind} at {addr:#010x}, which is no multiple of its size"),
            Answer::Refused(why) => format!("{kind} at {addr:#010x}: {why}"),
            Answer::Bus(BusFaultKind::Slave) => {
                let entry = self.bus.entry_at(addr).map_or("the device", |entry| &self.bus.map[entry].name);
                format!("{kind} at {addr:#010x}: {entry} answered with an error")
            }
            Answer::Bus(BusFaultKind::Unmapped) => {
                format!("{kind} at {addr:#010x}: nothing is mapped there; nearest: {}", self.nearest_text(addr))
            }
        }
    }

    fn nearest_text(&self, addr: u32) -> String {
        let distance = |base: u32, last: u32| if addr < base { base - addr } else { addr.saturating_sub(last) };
        let nearest = self.bus.map.iter().min_by_key(|entry| distance(entry.base, entry.last));
        nearest.map_or_else(
            || "nothing".to_owned(),
            |entry| format!("{} {:#010x}-{:#010x}", entry.name, entry.base, entry.last),
        )
    }

    pub(super) fn fault_text(&self, core: usize, fault: &CoreFault) -> String {
        let core = self.cores[core].name();
        format!("{core}: {}; {}", self.trap_text(fault), fault.why_fatal)
    }

    pub(super) fn limit_text(&self, core: usize, limit: Ps) -> String {
        let (name, pc) = (self.cores[core].name(), self.cores[core].registers()[0]);
        let place = self.place_text(pc);
        let did = if self.waits(core) { "waited for an interrupt at" } else { "was at" };
        format!("the limit of {limit} simulated time is reached; {name} {did} {place}: raise it with --limit")
    }

    pub(super) fn deadlock_text(&self, core: usize) -> String {
        let (name, pc) = (self.cores[core].name(), self.cores[core].registers()[0]);
        let place = self.place_text(pc);
        format!("{name}: {place}: waits for an interrupt, and nothing on the board is due to raise one")
    }
}

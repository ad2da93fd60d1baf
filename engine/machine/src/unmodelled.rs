//! The run's report on registers and peripherals without a model that the firmware used.

mod answers;

use std::iter;

use super::Machine;
use engine::bus::Target;
use engine::bus::device::DeviceId;
use engine::observe::unmodelled::{Place, Touched};
use engine::time::Ps;

pub use answers::Answer;

/// This many loads of a register without a store to it are a wait.
const WAITS: u64 = 1000;

/// A register without a model that the firmware used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnmodelledRegister {
    /// Label of the peripheral; at an unmapped address, the name in the board's list, else "unmapped".
    pub device: String,
    /// The register's name, if the board has it.
    pub name: Option<String>,
    /// Its offset from the start of the peripheral.
    pub offset: u32,
    /// Its address.
    pub addr: u32,
    /// Loads.
    pub reads: u64,
    /// Stores.
    pub writes: u64,
    /// Maximum number of loads in a row without a store to it.
    pub most_reads_in_a_row: u64,
    /// Time of the first access.
    pub first: Ps,
    /// The first instructions that accessed it, with function and line; empty if only a DMA engine did.
    pub places: Vec<String>,
}

impl Machine {
    /// All registers without a model that the firmware used, by peripherals in the order of the board.
    pub(super) fn unmodelled(&self) -> Vec<UnmodelledRegister> {
        let devices = (0..).map(DeviceId).zip(&self.bus.devices);
        let used = devices.flat_map(|(id, device)| {
            let touched = device.as_ref().map_or_else(Vec::new, |device| device.unmodelled());
            touched.into_iter().map(move |touched| (id, touched))
        });
        used.map(|(id, touched)| self.unmodelled_register(id, touched)).collect()
    }

    fn address_of(&self, id: DeviceId, touched: &Touched) -> u32 {
        let base = self.bus.map.iter().find(|entry| entry.target == Target::Device(id, touched.range));
        base.map_or(touched.offset, |entry| entry.origin.wrapping_add(touched.offset))
    }

    fn unmodelled_register(&self, id: DeviceId, touched: Touched) -> UnmodelledRegister {
        let addr = self.address_of(id, &touched);
        let Touched { range, offset, name, reads, writes, most_reads_in_a_row, first, .. } = touched;
        let region = self.description.unmodelled_at(addr).filter(|_| self.bus.gaps == Some(id));
        UnmodelledRegister {
            device: region.map_or(&self.bus.device_names[id.0 as usize], |region| &region.name).clone(),
            name,
            offset: region.map_or(offset, |region| addr - region.base),
            addr,
            reads,
            writes,
            most_reads_in_a_row,
            first,
            places: self
                .bus
                .access_sites
                .of((id, range, offset))
                .iter()
                .map(|place| self.origin_text(*place))
                .collect(),
        }
    }

    /// Notes of devices, each with the instruction whose access caused it.
    pub(super) fn device_notes(&self) -> Vec<String> {
        let placed = |(number, line): (usize, &String)| match self.bus.access_sites.of_note(number) {
            // They end with the time in brackets.
            Some(place) => format!("{}, by {})", line.trim_end_matches(')'), self.origin_text(place)),
            None => line.clone(),
        };
        self.bus.notes().iter().enumerate().map(placed).collect()
    }

    fn origin_text(&self, (core, pc): Place) -> String {
        let text = self.code_text(core, pc, pc);
        if self.cores.len() > 1 { format!("{}: {text}", self.cores[core].name()) } else { text }
    }

    /// A note for each peripheral without a model that the firmware used.
    pub(super) fn unmodelled_notes(&self) -> Vec<String> {
        let used = self.unmodelled();
        let each = used.chunk_by(|one, other| one.device == other.device);
        let waits = |register: &UnmodelledRegister| {
            let answer = self.answers.iter().find(|(addr, _)| *addr == register.addr);
            waits_text(register, answer.map(|(_, answer)| *answer))
        };
        each.flat_map(|registers| iter::once(used_text(registers)).chain(registers.iter().filter_map(waits))).collect()
    }
}

/// The accesses to the registers of a peripheral.
fn used_text(registers: &[UnmodelledRegister]) -> String {
    let count = |of: fn(&UnmodelledRegister) -> u64| registers.iter().map(of).sum::<u64>();
    let first = registers.iter().min_by_key(|register| register.first);
    let place = first.and_then(|register| register.places.first().cloned());
    format!(
        "{}: it has no model: {}, {}, {}, first by {}",
        registers[0].device,
        counted(registers.len() as u64, "register"),
        counted(count(|register| register.reads), "load"),
        counted(count(|register| register.writes), "store"),
        place.unwrap_or_else(|| "a DMA engine".to_owned()),
    )
}

/// Advice about a register that the firmware waits for; `answer` is the value that ended the wait in a trial.
fn waits_text(register: &UnmodelledRegister, answer: Option<Answer>) -> Option<String> {
    let UnmodelledRegister { device, name, offset, most_reads_in_a_row, .. } = register;
    let name = name.as_ref().map_or_else(|| format!("{device}+{offset:#x}"), |name| format!("{device}.{name}"));
    let advice = answer.map_or_else(
        || {
            "if the firmware waits for bits of it, a cyclescope,stub can have them as `ones`, and bits that it waits \
             to see cleared as zeroes of a register that is `ro`"
                .to_owned()
        },
        Answer::text,
    );
    (*most_reads_in_a_row >= WAITS)
        .then(|| format!("{name}: {most_reads_in_a_row} loads in a row returned the same value: {advice}"))
}

fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

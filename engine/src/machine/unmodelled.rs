//! What the firmware used that has no model, as a run tells it.

use super::Machine;
use crate::bus::Target;
use crate::bus::device::DeviceId;
use crate::observe::unmodelled::{Place, Touched};
use crate::time::Ps;

/// A register without a model that the firmware used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnmodelledRegister {
    /// Label of the peripheral; "unmapped" where the board has nothing.
    pub device: String,
    /// The register's name, if the board tells it.
    pub name: Option<String>,
    /// Its address.
    pub addr: u32,
    /// Loads.
    pub reads: u64,
    /// Stores.
    pub writes: u64,
    /// Most loads without a store to it between them.
    pub most_reads_in_a_row: u64,
    /// When it was accessed first.
    pub first: Ps,
    /// The first instructions that accessed it, with function and line; none if only a DMA engine did.
    pub places: Vec<String>,
}

impl Machine {
    /// All registers without a model that were used, by peripherals in the order of the board.
    pub(super) fn unmodelled(&self) -> Vec<UnmodelledRegister> {
        let devices = (0..).map(DeviceId).zip(&self.bus.devices);
        let used = devices.flat_map(|(id, device)| {
            let touched = device.as_ref().map_or_else(Vec::new, |device| device.unmodelled());
            touched.into_iter().map(move |touched| (id, touched))
        });
        used.map(|(id, touched)| self.unmodelled_register(id, touched)).collect()
    }

    fn unmodelled_register(&self, id: DeviceId, touched: Touched) -> UnmodelledRegister {
        let Touched { range, offset, name, reads, writes, most_reads_in_a_row, first } = touched;
        let entry = self.bus.map.iter().find(|entry| entry.target == Target::Device(id, range));
        UnmodelledRegister {
            device: self.bus.device_names[id.0 as usize].clone(),
            name,
            addr: entry.map_or(offset, |entry| entry.base + offset),
            reads,
            writes,
            most_reads_in_a_row,
            first,
            places: self.bus.origins.of((id, range, offset)).iter().map(|place| self.origin_text(*place)).collect(),
        }
    }

    fn origin_text(&self, (core, pc): Place) -> String {
        let text = self.code_text(core, pc, pc);
        if self.cores.len() > 1 { format!("{}: {text}", self.cores[core].name()) } else { text }
    }

    /// A note for each peripheral without a model that was used.
    pub(super) fn unmodelled_notes(&self) -> Vec<String> {
        let used = self.unmodelled();
        let each = used.chunk_by(|one, other| one.device == other.device);
        each.map(|registers| {
            let count = |of: fn(&UnmodelledRegister) -> u64| registers.iter().map(of).sum::<u64>();
            let first = registers.iter().min_by_key(|register| register.first);
            let place = first.and_then(|register| register.places.first().cloned());
            let place = place.unwrap_or_else(|| "a DMA engine".to_owned());
            let device = &registers[0].device;
            let what = if self.is_gap(device) { "nothing is on the board there" } else { "it has no model" };
            format!(
                "{device}: {what}: {}, {}, {}, first by {place}",
                counted(registers.len() as u64, "register"),
                counted(count(|register| register.reads), "load"),
                counted(count(|register| register.writes), "store"),
            )
        })
        .collect()
    }

    fn is_gap(&self, device: &str) -> bool {
        self.bus.gaps.is_some_and(|id| self.bus.device_names[id.0 as usize] == device)
    }
}

fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

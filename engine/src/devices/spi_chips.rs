//! Chips on SPI wires, by their compatibles: what a controller's child node stands for.

use super::about;
use super::atmel_at86rf231::{Part, Transceiver};
use super::chip_host::HostedChip;
use super::jedec_spi_nor::{self, Flash};
use super::mmc_spi_slot::Card;
use crate::board::fault::{FaultKind, near_matches};
use crate::board::node::{Node, Property};
use crate::board::reader::NodeReader;
use crate::wire::spi::SpiTarget;

/// A place for a chip on a slave select.
pub type Chip = Option<Box<dyn SpiTarget>>;

/// Reads a chip's node.
pub type FromNode = fn(&mut NodeReader) -> Box<dyn SpiTarget>;

/// A chip: its compatible, how it is built, and what its module says of itself.
pub struct ChipModel {
    /// The devicetree compatible.
    pub compatible: &'static str,
    /// Reads the node; faults go to the reader, and then the result is never used.
    pub from_node: FromNode,
    /// What it is, and what is modelled.
    pub about: &'static str,
}

/// All chips, in the order of their compatibles.
pub const CHIPS: &[ChipModel] = &[
    ChipModel {
        compatible: "atmel,at86rf230",
        from_node: |reader| Box::new(Transceiver::from_node(reader, Part::At86rf230)),
        about: about::atmel_at86rf231,
    },
    ChipModel {
        compatible: "atmel,at86rf231",
        from_node: |reader| Box::new(Transceiver::from_node(reader, Part::At86rf231)),
        about: about::atmel_at86rf231,
    },
    ChipModel {
        compatible: jedec_spi_nor::COMPATIBLE,
        from_node: |reader| Box::new(Flash::from_node(reader)),
        about: about::jedec_spi_nor,
    },
    ChipModel {
        compatible: "mmc-spi-slot",
        from_node: |reader| Box::new(Card::from_node(reader)),
        about: about::mmc_spi_slot,
    },
];

/// Builds the chip of a child node; `None`, with a fault, if no model answers to any of its compatibles.
pub fn from_node(reader: &mut NodeReader) -> Option<Box<dyn SpiTarget>> {
    let compatibles = reader.node.compatibles();
    for compatible in &compatibles {
        if let Some(chip) = CHIPS.iter().find(|chip| chip.compatible == *compatible) {
            return Some((chip.from_node)(reader));
        }
    }
    let compatible = compatibles.first().map_or_else(String::new, |first| (*first).to_owned());
    let near = near_matches(&compatible, CHIPS.iter().map(|chip| chip.compatible));
    reader.fault_at("compatible", FaultKind::UnknownCompatible { compatible, near });
    None
}

/// The chips on a controller's `selects` slave selects, each on the one that its `reg` names, and their labels. A chip on a select that the
/// controller does not have, or that another has already, is a fault.
pub fn on_selects(reader: &mut NodeReader, selects: u32) -> (Vec<Chip>, Vec<String>) {
    let mut labels = vec![String::new(); selects as usize];
    let chips = each_on_its_select(reader, selects, |chip| {
        let target = from_node(chip);
        if let Some(label) = labels.get_mut(slave_select(chip.node) as usize) {
            chip.node.label().clone_into(label);
        }
        target
    });
    (chips, labels)
}

/// As [`on_selects`], for a controller that serves the chips beyond the wire, too: the chip on select n is woken by events with the token n.
pub fn hosted_on_selects(reader: &mut NodeReader, selects: u32) -> Vec<Option<HostedChip>> {
    each_on_its_select(reader, selects, |chip| {
        let target = from_node(chip)?;
        let token = slave_select(chip.node);
        Some(HostedChip::from_node(target, chip, token))
    })
}

/// Chips as [`crate::device::Device::chips`] gives them.
pub fn all<'a>(chips: impl Iterator<Item = &'a mut Box<dyn SpiTarget>>) -> Vec<&'a mut dyn SpiTarget> {
    let mut all: Vec<&mut dyn SpiTarget> = Vec::new();
    chips.for_each(|chip| all.push(chip.as_mut()));
    all
}

fn each_on_its_select<T>(
    reader: &mut NodeReader,
    selects: u32,
    mut read: impl FnMut(&mut NodeReader) -> Option<T>,
) -> Vec<Option<T>> {
    let mut chips: Vec<Option<T>> = (0..selects).map(|_| None).collect();
    let mut taken = vec![false; selects as usize];
    for child in reader.children() {
        let select = slave_select(child);
        let chip = reader.child(child, |chip| {
            let allowed = match taken.get(select as usize) {
                Some(false) => None,
                Some(true) => Some("another chip has this slave select".to_owned()),
                None if selects == 1 => Some("the controller has one slave select, 0".to_owned()),
                None => Some(format!("the controller has slave selects 0 to {}", selects.saturating_sub(1))),
            };
            if let Some(allowed) = allowed {
                let kind = FaultKind::OutOfRange { property: "reg".into(), value: select.to_string(), allowed };
                chip.fault_at("reg", kind);
            }
            read(chip)
        });
        if let Some(place) = chips.get_mut(select as usize) {
            *place = chip;
            taken[select as usize] = true;
        }
    }
    chips
}

fn slave_select(child: &Node) -> u32 {
    child.property("reg").and_then(Property::cells).and_then(|cells| cells.first().copied()).unwrap_or(0)
}

//! Chips on SPI wires, by their compatibles: what a controller's child node stands for.

use super::about;
use super::atmel_at86rf231::{Part, Transceiver};
use super::jedec_spi_nor::{self, Flash};
use super::mmc_spi_slot::Card;
use crate::board::fault::{FaultKind, near_matches};
use crate::board::reader::NodeReader;
use crate::wire::spi::SpiTarget;

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

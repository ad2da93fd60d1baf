//! Chips on SPI wires, by their compatibles: what a controller's child node stands for.

use super::jedec_spi_nor::Flash;
use crate::board::fault::{FaultKind, near_matches};
use crate::board::reader::NodeReader;
use crate::wire::spi::SpiTarget;

type FromNode = fn(&mut NodeReader) -> Box<dyn SpiTarget>;

/// All chips, in the order of their compatibles.
const CHIPS: &[(&str, FromNode)] = &[("jedec,spi-nor", |reader| Box::new(Flash::from_node(reader)))];

/// Builds the chip of a child node; `None`, with a fault, if no model answers to any of its compatibles.
pub fn from_node(reader: &mut NodeReader) -> Option<Box<dyn SpiTarget>> {
    let compatibles = reader.node.compatibles();
    for compatible in &compatibles {
        if let Some((_, build)) = CHIPS.iter().find(|(known, _)| known == compatible) {
            return Some(build(reader));
        }
    }
    let compatible = compatibles.first().map_or_else(String::new, |first| (*first).to_owned());
    let near = near_matches(&compatible, CHIPS.iter().map(|(known, _)| *known));
    reader.fault_at("compatible", FaultKind::UnknownCompatible { compatible, near });
    None
}

//! Device models, by vendors: `devices/<vendor>/<device>.rs` is the model of the devicetree compatible of that name.
//!
//! A model's file has a constant `MODEL`, which says what it answers to, and its folder's `mod.rs` a line for the file.
//! The build script lists all that there are.

use std::sync::LazyLock;

use crate::dt::fault::{FaultKind, near_matches};
use crate::dt::node::Node;
use crate::dt::reader::NodeReader;
use crate::wire::spi::SpiTarget;

pub mod altr;
pub mod arm;
pub mod atmel;
#[cfg(test)]
pub mod bench;
pub mod cyclescope;
pub mod far_end;
pub mod generic;
pub mod ingenic;
pub mod jedec;
pub mod model;
pub mod riscv;
pub mod st;
pub mod support;
pub mod virtio;
pub mod xlnx;

pub use model::{Group, Kind, Model};

/// All models, each with what its file says of itself at the top.
const LISTED: &[(Model, &str)] = include!(concat!(env!("OUT_DIR"), "/models.rs"));

/// A model under one of its compatibles.
pub struct Entry {
    /// The devicetree compatible.
    pub compatible: &'static str,
    /// What answers to it.
    pub model: Model,
    /// What it is, and what is modelled: what its module says of itself.
    pub about: &'static str,
}

static ENTRIES: LazyLock<Vec<Entry>> = LazyLock::new(|| {
    let each = |(model, about): &(Model, &'static str)| {
        let (model, about) = (*model, *about);
        model.compatibles.iter().map(move |compatible| Entry { compatible, model, about })
    };
    let mut entries: Vec<Entry> = LISTED.iter().flat_map(each).collect();
    entries.sort_by_key(|entry| entry.compatible);
    entries
});

/// All models, in the order of their compatibles.
pub fn entries() -> &'static [Entry] {
    &ENTRIES
}

/// The model that answers to a compatible.
pub fn find(compatible: &str) -> Option<&'static Entry> {
    let index = ENTRIES.binary_search_by_key(&compatible, |entry| entry.compatible).ok()?;
    Some(&ENTRIES[index])
}

/// True if `node` is a port whose pins can be wired to something.
pub fn is_port(node: &Node) -> bool {
    let is_port = |compatible: &&str| find(compatible).is_some_and(|entry| matches!(entry.model.kind, Kind::Port(..)));
    node.property("gpio-controller").is_some() && node.compatibles().iter().any(is_port)
}

/// Builds the chip of a child node of an SPI controller; `None`, with a fault, if no model answers to any of its
/// compatibles.
pub fn spi_chip(reader: &mut NodeReader) -> Option<Box<dyn SpiTarget>> {
    let compatibles = reader.node.compatibles();
    let chip = |compatible: &&str| match find(compatible)?.model.kind {
        Kind::SpiChip(from_node) => Some(from_node),
        _ => None,
    };
    if let Some(from_node) = compatibles.iter().find_map(chip) {
        return Some(from_node(reader));
    }
    let compatible = compatibles.first().map_or_else(String::new, |first| (*first).to_owned());
    let chips = entries().iter().filter(|entry| matches!(entry.model.kind, Kind::SpiChip(_)));
    let near = near_matches(&compatible, chips.map(|entry| entry.compatible));
    reader.fault_at("compatible", FaultKind::UnknownCompatible { compatible, near });
    None
}

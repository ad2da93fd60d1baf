//! Device models, by vendor: `<vendor>/<device>.rs` is the model of the devicetree compatible of that name.
//!
//! A model's file has a constant `MODEL`, which gives its compatibles, and `<vendor>.rs` has a line for the file. The
//! build script lists all models.

extern crate self as devices;

use std::sync::LazyLock;

use engine::dt::fault::{FaultKind, similar_names};
use engine::dt::node::Node;
use engine::dt::reader::NodeReader;
use engine::dt::wiring::PINS_OF_PORT;
use engine::wire::i2c::I2cTarget;
use engine::wire::spi::SpiTarget;
use jedec::spi_nor;

pub mod adi;
pub mod altr;
pub mod arm;
pub mod atmel;
#[cfg(test)]
pub mod bench;
pub mod cyclescope;
pub mod external;
pub mod far_end;
pub mod generic;
pub mod ingenic;
pub mod jedec;
pub mod model;
pub mod national;
pub mod prelude;
pub mod registers;
pub mod riscv;
pub mod st;
pub mod support;
pub mod virtio;
pub mod xlnx;

use external::{ExternalModel, Externals, Wire};
pub use model::{Group, Kind, Model};
use registers::Row;

/// All models, each with the comment at the top of its file.
const LISTED: &[(Model, &str)] = include!(concat!(env!("OUT_DIR"), "/models.rs"));

/// A model under one of its compatibles.
pub struct Entry {
    /// The devicetree compatible.
    pub compatible: &'static str,
    /// The model of this compatible.
    pub model: Model,
    /// The description of the device and of its model: the comment at the top of its file.
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

/// The model of a compatible.
pub fn find(compatible: &str) -> Option<&'static Entry> {
    let index = ENTRIES.binary_search_by_key(&compatible, |entry| entry.compatible).ok()?;
    Some(&ENTRIES[index])
}

/// The named registers of a device, by its compatible.
pub fn registers_of(compatible: &str) -> &'static [Row] {
    find(compatible).map_or(&[], |entry| entry.model.registers(compatible))
}

/// The number of pins of a port, which can be wired; 0 for other nodes.
pub fn pins_of(node: &Node) -> u32 {
    let banks = |compatible: &&str| find(compatible).map(|entry| entry.model.banks).filter(|banks| *banks > 0);
    let port = node.property("gpio-controller").and_then(|_| node.compatibles().iter().find_map(banks));
    port.map_or(0, |banks| banks * PINS_OF_PORT)
}

/// True if `node` is a port, whose pins can be wired.
pub fn is_port(node: &Node) -> bool {
    pins_of(node) > 0
}

/// Compatibles of the flash parts.
fn parts() -> impl Iterator<Item = &'static str> {
    spi_nor::parts::PARTS.iter().map(|part| part.compatible)
}

/// Builds the chip of an SPI controller's child node; `None`, with a fault, if there is no model of its compatibles.
pub fn spi_chip(reader: &mut NodeReader) -> Option<Box<dyn SpiTarget>> {
    let own = |kind| match kind {
        Kind::SpiChip(from_node) => Some(from_node),
        _ => None,
    };
    chip(reader, own, Wire::Spi, ExternalModel::spi_chip)
}

/// Builds the chip of an I2C master's child node; see [`spi_chip`].
pub fn i2c_chip(reader: &mut NodeReader) -> Option<Box<dyn I2cTarget>> {
    let own = |kind| match kind {
        Kind::I2cChip(from_node) => Some(from_node),
        _ => None,
    };
    chip(reader, own, Wire::I2c, ExternalModel::i2c_chip)
}

/// Makes a chip from its node.
type FromNode<T> = fn(&mut NodeReader) -> Box<T>;

/// Builds the chip of a node. `made_by` gives the constructors of the engine's own models, `external` makes chips of
/// external models.
fn chip<T: ?Sized>(
    reader: &mut NodeReader,
    made_by: fn(Kind) -> Option<FromNode<T>>,
    wire: Wire,
    external: fn(&ExternalModel, &mut NodeReader) -> Box<T>,
) -> Option<Box<T>> {
    let (compatibles, externals) = (reader.node.compatibles(), Externals::of(reader.external()));
    let own = |compatible: &str| made_by(find(compatible)?.model.kind);
    for compatible in &compatibles {
        let model = externals.and_then(|externals| externals.find(compatible));
        if let Some(model) = model.filter(|model| model.wire() == Some(wire)) {
            return Some(external(model, reader));
        }
        if let Some(from_node) = own(compatible) {
            return Some(from_node(reader));
        }
    }
    // A flash names its part and the common compatible: the part is enough.
    let flash = own(spi_nor::COMPATIBLE);
    if let Some(from_node) = flash.filter(|_| parts().any(|part| compatibles.contains(&part))) {
        return Some(from_node(reader));
    }
    let compatible = compatibles.first().map_or_else(String::new, |first| (*first).to_owned());
    let chips = entries().iter().filter(|entry| made_by(entry.model.kind).is_some());
    let more = externals.into_iter().flat_map(Externals::all).filter(|model| model.wire() == Some(wire));
    let mut names: Vec<&str> = chips.map(|entry| entry.compatible).collect();
    names.extend(more.map(|model| model.compatible.as_str()));
    parts().filter(|_| flash.is_some()).for_each(|part| names.push(part));
    let similar = similar_names(&compatible, names);
    reader.fault_at("compatible", FaultKind::UnknownCompatible { compatible, similar });
    None
}

#[cfg(test)]
mod tests;

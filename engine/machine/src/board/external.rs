//! Models from outside the engine ([`devices::external`]): which may be added, and which properties they
//! declare.

use super::bindings::{declared, is_listed};
use super::memories;
use devices::external::{ExternalModel, Externals, Make, Wire};
use devices::jedec::spi_nor;
use devices::{self, Kind};
use engine::dt::reader::Declared;
use engine::wire::i2c::ADDRESSES;

/// Adds a model to those that a board is built with.
///
/// # Errors
/// Why the model can't be added, in one line: another model answers to its compatible, and this one does not replace
/// it.
pub fn add(externals: &mut Externals, model: ExternalModel) -> Result<(), String> {
    let name = model.compatible.clone();
    if is_listed(&name) {
        if !model.replaces {
            return Err(format!("'{name}' has a model already; replace=True takes its place"));
        }
        if !can_replace(&model) {
            let what =
                "only a device can take the place of a device, and a chip that of a chip; a GPIO port has to stay";
            return Err(format!("the model of '{name}' can't be replaced: {what}"));
        }
    }
    match externals.insert(model) {
        Some(_) => Err(format!("there are two models of '{name}'")),
        None => Ok(()),
    }
}

/// The properties that a model declares for its node.
pub fn declared_by(model: &ExternalModel) -> Vec<Declared> {
    declared(&model.compatible, |reader| match model.make {
        Make::Device(ranges, _) => {
            if ranges > 0 {
                memories::read_device_ranges(reader, ranges);
            }
            model.device(reader);
        }
        Make::SpiChip(..) => drop(model.spi_chip(reader)),
        Make::I2cChip(_) => {
            reader.u32("reg", ADDRESSES, "the chip's address on the bus, 7 bits");
            drop(model.i2c_chip(reader));
        }
    })
}

fn can_replace(model: &ExternalModel) -> bool {
    let is_part = spi_nor::parts::PARTS.iter().any(|part| part.compatible == model.compatible);
    let name = if is_part { spi_nor::COMPATIBLE } else { &model.compatible };
    devices::find(name).is_some_and(|own| match own.model.kind {
        Kind::Device(..) => model.ranges().is_some(),
        Kind::SpiChip(_) => model.wire() == Some(Wire::Spi),
        Kind::I2cChip(_) => model.wire() == Some(Wire::I2c),
        Kind::Port(..) => false,
    })
}

#[cfg(test)]
mod tests;

//! Models outside of the engine: the program that embeds the engine provides them, and a board is built with them
//! (`board::build::build_with`).
//!
//! The properties that such a model's node may have are data ([`Property`]). They are read and checked here in the same
//! way as those of the engine's own models. A function makes the device or chip from the values.

mod properties;

use std::any::Any;
use std::collections::BTreeMap;

use crate::prelude::*;
use engine::dt::fault::FaultKind;
use engine::dt::reader::Declared;
use engine::dt::wiring::Pin;
use engine::wire::bytes::{ByteTarget, OnWire};
use engine::wire::chip::INTERRUPT;
use engine::wire::i2c::{self, Answer, Direction, I2cTarget, PULLED_UP};
use engine::wire::notes::Notes;
use engine::wire::spi::SpiTarget;
pub use properties::{Numbers, Property, PropertyKind, Value};

/// The values of a node, from which its model is made.
#[derive(Clone, Debug)]
pub struct Given {
    /// The node's label, or else its name.
    pub label: String,
    /// One for each property, in their order.
    pub values: Vec<Value>,
    /// The rates of the clocks that the node names.
    pub clocks: Vec<Hz>,
    /// The destinations of its interrupt lines; `None` where the node has no such line. Empty for a chip: its host has
    /// the line.
    pub interrupts: Vec<Option<IrqLine>>,
    /// The port pins that the node names; `None` where the node has no such property. Empty for a chip.
    pub pins: Vec<Option<Pin>>,
    /// True if `/chosen` names this node as the console.
    pub is_console: bool,
}

/// Makes a device, or returns in one line why it can't be made.
pub type MakeDevice = Box<dyn Fn(Given) -> Result<Box<dyn Device>, String>>;
/// Makes a chip on SPI. The reader is for the properties that all chips on SPI have.
pub type MakeSpiChip = Box<dyn Fn(Given, &mut NodeReader) -> Result<Box<dyn SpiTarget>, String>>;
/// Makes a chip on I2C.
pub type MakeI2cChip = Box<dyn Fn(Given) -> Result<Box<dyn I2cTarget>, String>>;

/// The bus that chips are on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    /// SPI.
    Spi,
    /// I2C.
    I2c,
}

/// The kind of device that a model makes.
pub enum Make {
    /// A device on a bus, with at least this many ranges of `reg`.
    Device(usize, MakeDevice),
    /// A chip on SPI, with its fastest clock in hertz; `spi-max-frequency` in the node takes precedence.
    SpiChip(u32, MakeSpiChip),
    /// A chip on an I2C bus.
    I2cChip(MakeI2cChip),
}

/// A model.
pub struct ExternalModel {
    /// The devicetree compatible that it answers to.
    pub compatible: String,
    /// True if it replaces the engine's own model of that compatible.
    pub replaces: bool,
    /// Properties that its node may have.
    pub properties: Vec<Property>,
    /// Properties that its node may have and that have no effect.
    pub ignored: Vec<String>,
    /// Meanings of the clocks that its node has to name.
    pub clocks: Vec<String>,
    /// Meanings of its interrupt lines. A chip has at most one.
    pub interrupts: Vec<String>,
    /// Properties that name a pin of a port ("reset-gpios"), with their meanings. A chip has none.
    pub pins: Vec<(String, String)>,
    /// The kind of device that it makes.
    pub make: Make,
}

/// All external models, by their compatibles.
#[derive(Default)]
pub struct Externals {
    models: BTreeMap<String, ExternalModel>,
}

impl Externals {
    /// Adds a model, and returns the previous one for its compatible. `board::external` decides which models may be
    /// added.
    pub fn insert(&mut self, model: ExternalModel) -> Option<ExternalModel> {
        self.models.insert(model.compatible.clone(), model)
    }

    /// The model of a compatible.
    pub fn find(&self, compatible: &str) -> Option<&ExternalModel> {
        self.models.get(compatible)
    }

    /// All models, in the order of their compatibles.
    pub fn all(&self) -> impl Iterator<Item = &ExternalModel> {
        self.models.values()
    }

    /// The external models of the board that is being read.
    pub(super) fn of(external: Option<&dyn Any>) -> Option<&Externals> {
        external.and_then(|any| any.downcast_ref())
    }
}

impl ExternalModel {
    /// The least number of `reg` ranges of a device's node; `None` if the model is not a device on a bus.
    pub fn ranges(&self) -> Option<usize> {
        match self.make {
            Make::Device(ranges, _) => Some(ranges),
            Make::SpiChip(..) | Make::I2cChip(_) => None,
        }
    }

    /// The bus that a chip is on.
    pub fn wire(&self) -> Option<Wire> {
        match self.make {
            Make::Device(..) => None,
            Make::SpiChip(..) => Some(Wire::Spi),
            Make::I2cChip(_) => Some(Wire::I2c),
        }
    }

    /// The device of a node; `None` for a chip, and `None` with a fault if the device can't be made.
    pub fn device(&self, reader: &mut NodeReader) -> Option<Box<dyn Device>> {
        let mut given = self.read(reader);
        for (index, meaning) in self.interrupts.iter().enumerate() {
            given.interrupts.push(reader.interrupt(index, meaning));
        }
        given.pins = self.pins.iter().map(|(name, meaning)| reader.gpio(name, 0, meaning)).collect();
        let Make::Device(_, make) = &self.make else { return None };
        made(reader, |_| make(given))
    }

    /// The SPI chip of a node; a chip that does nothing, with a fault, if it can't be made.
    pub fn spi_chip(&self, reader: &mut NodeReader) -> Box<dyn SpiTarget> {
        let given = self.read(reader);
        let (max_hz, chip) = match &self.make {
            Make::SpiChip(max_hz, make) => (*max_hz, made(reader, |reader| make(given, reader))),
            _ => (0, None),
        };
        chip.unwrap_or_else(|| Box::new(OnWire::from_node(self.stand_in(), max_hz, reader)))
    }

    /// The I2C chip of a node; a chip that does nothing, with a fault, if it can't be made.
    pub fn i2c_chip(&self, reader: &mut NodeReader) -> Box<dyn I2cTarget> {
        let given = self.read(reader);
        if !self.interrupts.is_empty() {
            reader.declare(Declared::new("interrupts", "interrupts", INTERRUPT));
        }
        let chip = match &self.make {
            Make::I2cChip(make) => made(reader, |_| make(given)),
            _ => None,
        };
        chip.unwrap_or_else(|| Box::new(self.stand_in()))
    }

    fn stand_in(&self) -> StandIn {
        StandIn { has_interrupt: !self.interrupts.is_empty() }
    }

    /// The rate of a clock that its node names. A device is notified of changes (`Device::clocks_changed`); a chip is
    /// not, so that its clocks must have a fixed rate.
    fn clock(&self, reader: &mut NodeReader, index: usize, meaning: &str) -> Hz {
        match self.make {
            Make::Device(..) => reader.clock_input(index, meaning).rate,
            _ => reader.clock(index, meaning),
        }
    }

    fn read(&self, reader: &mut NodeReader) -> Given {
        for name in &self.ignored {
            let meaning = "taken, and not looked at";
            reader.declare(Declared { ignored: true, ..Declared::new(name, "any", meaning) });
        }
        let (clocks, properties) = (self.clocks.iter().enumerate(), self.properties.iter());
        Given {
            label: reader.node.label().to_owned(),
            clocks: clocks.map(|(index, meaning)| self.clock(reader, index, meaning)).collect(),
            values: properties.map(|property| property.read(reader)).collect(),
            interrupts: Vec::new(),
            pins: Vec::new(),
            is_console: reader.is_stdout(),
        }
    }
}

/// Makes a device or chip, unless its properties are only listed; `None`, with a fault, if it can't be made.
fn made<T>(reader: &mut NodeReader, make: impl FnOnce(&mut NodeReader) -> Result<T, String>) -> Option<T> {
    if reader.is_documenting() {
        return None;
    }
    make(reader).map_err(|what| reader.fault_at("compatible", FaultKind::Incomplete { what })).ok()
}

/// Stands in for a chip that could not be made.
#[derive(State)]
struct StandIn {
    #[state(skip)]
    has_interrupt: bool,
}

impl ByteTarget for StandIn {
    fn byte(&mut self, _: u64, _: u8, _: Ps, _: &mut Notes<String>) -> u8 {
        0xff
    }

    fn interrupt(&self) -> Option<bool> {
        self.has_interrupt.then_some(false)
    }
}

impl I2cTarget for StandIn {
    fn address(&mut self, _: Direction, _: Ps) -> Answer {
        Answer::NACK
    }

    fn write(&mut self, _: u8, _: Ps) -> Answer {
        Answer::NACK
    }

    fn read(&mut self, _: Ps) -> i2c::Given {
        i2c::Given::byte(PULLED_UP)
    }

    fn stop(&mut self, _: Ps) {}

    fn interrupt(&self) -> Option<bool> {
        self.has_interrupt.then_some(false)
    }
}

#[cfg(test)]
mod tests;

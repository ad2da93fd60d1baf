//! Models that are not the engine's own: who embeds it brings them, and a board is built with them
//! (`board::build::build_with`).
//!
//! What the node of such a model may say is data ([`Property`]); it is read and checked here as the engine's own models
//! read theirs. What the node becomes is a function of what was given there.

mod properties;

use std::any::Any;
use std::collections::BTreeMap;

use crate::bus::device::{Device, IrqLine};
use crate::dt::fault::FaultKind;
use crate::dt::reader::{Declared, NodeReader};
use crate::dt::wiring::Pin;
use crate::state::State;
use crate::time::{Hz, Ps};
use crate::wire::bytes::{ByteTarget, OnWire};
use crate::wire::chip::INTERRUPT;
use crate::wire::i2c::{self, Answer, Direction, I2cTarget, PULLED_UP};
use crate::wire::notes::Notes;
use crate::wire::spi::SpiTarget;
pub use properties::{Numbers, Property, PropertyKind, Value};

/// What a node gives to its model.
#[derive(Clone, Debug)]
pub struct Given {
    /// The node's label, or else its name.
    pub label: String,
    /// One for each property, in their order.
    pub values: Vec<Value>,
    /// The clocks that it names.
    pub clocks: Vec<Hz>,
    /// Where its interrupt lines lead: nowhere, where the node has no such line. None of a chip's, which its host has.
    pub interrupts: Vec<Option<IrqLine>>,
    /// The pins of ports that it names: none, where the node has no such property. None of a chip's.
    pub pins: Vec<Option<Pin>>,
    /// `/chosen` names it as the console.
    pub is_console: bool,
}

/// Makes a device; else why it can't be made, in one line.
pub type MakeDevice = Box<dyn Fn(Given) -> Result<Box<dyn Device>, String>>;
/// The same of a chip on SPI, which reads what any chip's node says of its wire.
pub type MakeSpiChip = Box<dyn Fn(Given, &mut NodeReader) -> Result<Box<dyn SpiTarget>, String>>;
/// The same of a chip on I2C.
pub type MakeI2cChip = Box<dyn Fn(Given) -> Result<Box<dyn I2cTarget>, String>>;

/// What chips are on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Wire {
    /// SPI.
    Spi,
    /// I2C.
    I2c,
}

/// What a model's node becomes.
pub enum Make {
    /// A device on a bus, with so many ranges of `reg` at least.
    Device(usize, MakeDevice),
    /// A chip on an SPI wire, which takes clocks up to so many hertz where its node says nothing else.
    SpiChip(u32, MakeSpiChip),
    /// A chip on an I2C bus.
    I2cChip(MakeI2cChip),
}

/// A model.
pub struct ExternalModel {
    /// The devicetree compatible that it answers to.
    pub compatible: String,
    /// It takes the place of the engine's own model of that compatible.
    pub replaces: bool,
    /// What its node may say.
    pub properties: Vec<Property>,
    /// Properties that its node may have, and that change nothing.
    pub ignored: Vec<String>,
    /// Meanings of the clocks that its node has to name.
    pub clocks: Vec<String>,
    /// Meanings of its interrupt lines. A chip has one at the most.
    pub interrupts: Vec<String>,
    /// Properties that name a pin of a port, as "reset-gpios", with their meanings. A chip has none.
    pub pins: Vec<(String, String)>,
    /// What the node becomes.
    pub make: Make,
}

/// All of them, by their compatibles.
#[derive(Default)]
pub struct Externals {
    models: BTreeMap<String, ExternalModel>,
}

impl Externals {
    /// Adds a model, and gives the one that there was for its compatible. What may be added,
    /// `board::external` says.
    pub fn insert(&mut self, model: ExternalModel) -> Option<ExternalModel> {
        self.models.insert(model.compatible.clone(), model)
    }

    /// The model that answers to a compatible.
    pub fn find(&self, compatible: &str) -> Option<&ExternalModel> {
        self.models.get(compatible)
    }

    /// All of them, in the order of their compatibles.
    pub fn all(&self) -> impl Iterator<Item = &ExternalModel> {
        self.models.values()
    }

    /// Those of a board that is being read.
    pub(super) fn of(external: Option<&dyn Any>) -> Option<&Externals> {
        external.and_then(|any| any.downcast_ref())
    }
}

impl ExternalModel {
    /// How many ranges a device's node has at least; `None` of what is no device on a bus.
    pub fn ranges(&self) -> Option<usize> {
        match self.make {
            Make::Device(ranges, _) => Some(ranges),
            Make::SpiChip(..) | Make::I2cChip(_) => None,
        }
    }

    /// What a chip is on.
    pub fn wire(&self) -> Option<Wire> {
        match self.make {
            Make::Device(..) => None,
            Make::SpiChip(..) => Some(Wire::Spi),
            Make::I2cChip(_) => Some(Wire::I2c),
        }
    }

    /// The device of a node; `None`, with a fault, where it can't be made, and of a chip.
    pub fn device(&self, reader: &mut NodeReader) -> Option<Box<dyn Device>> {
        let mut given = self.read(reader);
        for (index, meaning) in self.interrupts.iter().enumerate() {
            given.interrupts.push(reader.interrupt(index, meaning));
        }
        given.pins = self.pins.iter().map(|(name, meaning)| reader.gpio(name, 0, meaning)).collect();
        let Make::Device(_, make) = &self.make else { return None };
        if reader.is_documenting() {
            return None;
        }
        make(given).map_err(|what| reader.fault_at("compatible", FaultKind::Incomplete { what })).ok()
    }

    /// The chip of a node on SPI; one that does nothing, with a fault, where it can't be made.
    pub fn spi_chip(&self, reader: &mut NodeReader) -> Box<dyn SpiTarget> {
        let given = self.read(reader);
        let Make::SpiChip(max_hz, make) = &self.make else { return Box::new(self.stand_in(0, reader)) };
        if reader.is_documenting() {
            return Box::new(self.stand_in(*max_hz, reader));
        }
        make(given, reader).unwrap_or_else(|what| {
            reader.fault_at("compatible", FaultKind::Incomplete { what });
            Box::new(self.stand_in(*max_hz, reader))
        })
    }

    /// The same on I2C.
    pub fn i2c_chip(&self, reader: &mut NodeReader) -> Box<dyn I2cTarget> {
        let given = self.read(reader);
        let has_interrupt = !self.interrupts.is_empty();
        if has_interrupt {
            reader.declare(Declared::new("interrupts", "interrupts", INTERRUPT));
        }
        let Make::I2cChip(make) = &self.make else { return Box::new(StandIn { has_interrupt }) };
        if reader.is_documenting() {
            return Box::new(StandIn { has_interrupt });
        }
        make(given).unwrap_or_else(|what| {
            reader.fault_at("compatible", FaultKind::Incomplete { what });
            Box::new(StandIn { has_interrupt })
        })
    }

    fn stand_in(&self, max_hz: u32, reader: &mut NodeReader) -> OnWire<StandIn> {
        OnWire::from_node(StandIn { has_interrupt: !self.interrupts.is_empty() }, max_hz, reader)
    }

    /// The rate of a clock that its node names. A device learns of changes (`Device::clocks_changed`), a chip has no
    /// way to: its clocks are such as stay.
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

/// In the place of a chip that could not be made.
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

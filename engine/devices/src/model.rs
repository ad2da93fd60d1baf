//! The description of a model in the list of models: the constant `MODEL` in its file.

use crate::registers::Row;
use engine::activity::Activity;
use engine::bus::device::Device;
use engine::dt::reader::NodeReader;
use engine::wire::i2c::I2cTarget;
use engine::wire::spi::SpiTarget;

/// The kind of a binding: the page of the reference on which it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// Cores.
    Core,
    /// Memories and caches.
    Memory,
    /// Buses.
    Bus,
    /// SPI controllers.
    Spi,
    /// Chips on SPI.
    SpiChip,
    /// I2C controllers.
    I2c,
    /// Chips on I2C.
    I2cChip,
    /// Serial ports.
    Serial,
    /// USB controllers.
    Usb,
    /// CAN controllers and buses.
    Can,
    /// Timers and counters.
    Timer,
    /// Interrupt controllers.
    Interrupt,
    /// DMA controllers.
    Dma,
    /// Host controllers of memory cards.
    Storage,
    /// Mailboxes, semaphores, and devices that drivers of other cores talk to.
    Message,
    /// Clocks, resets, pins, and other functions that configure a chip.
    System,
    /// Parts that no real board has, for firmware that is measured.
    Own,
    /// Nodes that are not devices.
    Passive,
}

impl Group {
    /// The title of the page in the reference.
    pub fn title(self) -> &'static str {
        match self {
            Group::Core => "Cores",
            Group::Memory => "Memories and caches",
            Group::Bus => "Buses",
            Group::Spi => "SPI controllers",
            Group::SpiChip => "SPI chips",
            Group::I2c => "I2C controllers",
            Group::I2cChip => "I2C chips",
            Group::Serial => "Serial ports",
            Group::Usb => "USB controllers",
            Group::Can => "CAN",
            Group::Timer => "Timers and counters",
            Group::Interrupt => "Interrupt controllers",
            Group::Dma => "DMA controllers",
            Group::Storage => "Card controllers",
            Group::Message => "Communication between cores",
            Group::System => "Clocks, resets and pins",
            Group::Own => "For measured firmware",
            Group::Passive => "Other nodes",
        }
    }
}

/// The kind of device that a model makes, with its constructor. Faults go to the reader; the result is not used then.
#[derive(Clone, Copy)]
pub enum Kind {
    /// A device on a bus, with at least this many ranges of `reg`.
    Device(usize, fn(&mut NodeReader) -> Box<dyn Device>),
    /// A device with pins that can be wired: the bus keeps the wires ([`engine::pins`]), and an interrupt line that
    /// ends at the device is a pin.
    Port(usize, fn(&mut NodeReader) -> Box<dyn Device>),
    /// A chip on an SPI wire.
    SpiChip(fn(&mut NodeReader) -> Box<dyn SpiTarget>),
    /// A chip on an I2C bus.
    I2cChip(fn(&mut NodeReader) -> Box<dyn I2cTarget>),
}

/// A model.
#[derive(Clone, Copy)]
pub struct Model {
    /// The page of the reference.
    pub group: Group,
    /// Its devicetree compatibles.
    pub compatibles: &'static [&'static str],
    /// The kind of device that it makes.
    pub kind: Kind,
    /// The number of banks of 32 pins that a port has.
    pub banks: u32,
    /// The activities that it records.
    pub activities: &'static [&'static Activity],
    /// Registers of its first range, by the data sheet's names.
    registers: &'static [Row],
    /// The registers of one of its compatibles, if they differ.
    other: Option<(&'static str, &'static [Row])>,
}

impl Model {
    /// A model without anything of its own.
    const fn new(group: Group, compatibles: &'static [&'static str], kind: Kind) -> Model {
        Model { group, compatibles, kind, banks: 0, activities: &[], registers: &[], other: None }
    }

    /// A device.
    pub const fn device(
        group: Group,
        compatibles: &'static [&'static str],
        ranges: usize,
        from_node: fn(&mut NodeReader) -> Box<dyn Device>,
    ) -> Model {
        Model::new(group, compatibles, Kind::Device(ranges, from_node))
    }

    /// The same model, which records these activities.
    #[must_use]
    pub const fn with_activities(self, activities: &'static [&'static Activity]) -> Model {
        Model { activities, ..self }
    }

    /// The same model, with these named registers in its first range.
    #[must_use]
    pub const fn naming(self, registers: &'static [Row]) -> Model {
        Model { registers, ..self }
    }

    /// The same model, with other registers for one of its compatibles.
    #[must_use]
    pub const fn naming_as(self, compatible: &'static str, registers: &'static [Row]) -> Model {
        Model { other: Some((compatible, registers)), ..self }
    }

    /// The same model, on the page of `group`.
    #[must_use]
    pub const fn in_group(self, group: Group) -> Model {
        Model { group, ..self }
    }

    /// The named registers of a compatible.
    pub fn registers(&self, compatible: &str) -> &'static [Row] {
        match self.other {
            Some((other, registers)) if other == compatible => registers,
            _ => self.registers,
        }
    }

    /// The same model of a port with this many banks of 32 pins; properties number the pins across banks.
    #[must_use]
    pub const fn with_banks(self, banks: u32) -> Model {
        Model { banks, ..self }
    }

    /// A GPIO port.
    pub const fn port(
        compatibles: &'static [&'static str],
        ranges: usize,
        from_node: fn(&mut NodeReader) -> Box<dyn Device>,
    ) -> Model {
        Model::new(Group::System, compatibles, Kind::Port(ranges, from_node)).with_banks(1)
    }

    /// A chip on an SPI wire.
    pub const fn spi_chip(
        compatibles: &'static [&'static str],
        from_node: fn(&mut NodeReader) -> Box<dyn SpiTarget>,
    ) -> Model {
        Model::new(Group::SpiChip, compatibles, Kind::SpiChip(from_node))
    }

    /// A chip on an I2C bus.
    pub const fn i2c_chip(
        compatibles: &'static [&'static str],
        from_node: fn(&mut NodeReader) -> Box<dyn I2cTarget>,
    ) -> Model {
        Model::new(Group::I2cChip, compatibles, Kind::I2cChip(from_node))
    }
}

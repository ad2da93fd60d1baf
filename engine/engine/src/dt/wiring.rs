//! Targets of references in a devicetree: devices, interrupt lines, pins of ports, clocks.

use crate::state::{Damaged, Fresh, Loader, Saver, State};
use crate::time::Hz;

/// A device's identity in the machine: its index in the bus, in the order of the board description.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct DeviceId(pub u32);

/// Snapshots do not contain the device: it is looked up by its number.
impl State for DeviceId {
    fn save(&self, to: &mut Saver) {
        self.0.save(to);
    }

    fn load(&mut self, from: &mut Loader) -> Result<(), Damaged> {
        self.0.load(from)?;
        if from.has_device(self.0) { Ok(()) } else { Err(Damaged) }
    }
}

impl Fresh for DeviceId {
    fn fresh() -> DeviceId {
        DeviceId(0)
    }
}

/// An interrupt line, as wired by the board.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, State, Fresh)]
pub enum IrqLine {
    /// Bit `bit` of core `core`'s pending interrupts (RISC-V: the number in `mip`).
    Core {
        /// Index of the core.
        core: u32,
        /// The core's own number of the interrupt.
        bit: u32,
    },
    /// Input `input` of an interrupt controller.
    Device {
        /// The controller.
        device: DeviceId,
        /// Its input.
        input: u32,
    },
}

/// A clock that firmware can change: the phandle of its node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, State, Fresh)]
pub struct ClockId(pub u32);

/// A clock as its user has it: its last known rate, and its identity if its rate can change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State)]
pub struct ClockInput {
    /// Its rate.
    pub rate: Hz,
    /// Its identity; `None` for a clock with a fixed rate.
    #[state(skip)]
    pub id: Option<ClockId>,
}

impl ClockInput {
    /// A clock with a fixed rate.
    pub const fn fixed(rate: Hz) -> ClockInput {
        ClockInput { rate, id: None }
    }
}

impl From<Hz> for ClockInput {
    fn from(rate: Hz) -> ClockInput {
        ClockInput::fixed(rate)
    }
}

/// Maximum number of pins of a port.
pub const PINS_OF_PORT: u32 = 32;

/// A port of up to 32 pins: a device, or one bank of a device with more pins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, State, Fresh)]
pub struct PortId {
    /// The device that has the pins.
    pub device: DeviceId,
    /// The bank of 32 pins, from 0 on.
    pub bank: u32,
}

impl From<DeviceId> for PortId {
    fn from(device: DeviceId) -> PortId {
        PortId { device, bank: 0 }
    }
}

/// A pin of a port, and the wire at it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, State, Fresh)]
pub struct Pin {
    /// The port that has the pin.
    pub port: PortId,
    /// Its number there, 0 to 31.
    pub number: u32,
}

impl Pin {
    /// Pin number `number` of a device, counted through its banks.
    pub const fn new(device: DeviceId, number: u32) -> Pin {
        let (bank, number) = (number / PINS_OF_PORT, number % PINS_OF_PORT);
        Pin { port: PortId { device, bank }, number }
    }

    /// Its number among all pins of its device.
    pub const fn number_of_device(self) -> u32 {
        self.port.bank * PINS_OF_PORT + self.number
    }

    /// The pin's bit in words of its port.
    pub const fn mask(self) -> u32 {
        1 << (self.number % 32)
    }

    /// The wire's level in a word of its port's levels.
    pub const fn of(self, levels: u32) -> bool {
        levels & self.mask() != 0
    }
}

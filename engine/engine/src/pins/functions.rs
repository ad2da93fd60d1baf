//! The functions of a port's pins, as its registers select them: inputs, outputs, analog pins, or pins of another
//! peripheral of the chip. The number of the alternate function selects that peripheral's signal. The peripheral then
//! drives the wire, and is notified when the selection changes ([`crate::bus::device::Device::pins_switched`]).

use super::{Drive, Pin, PortId};
use crate::dt::wiring::DeviceId;
use crate::state::State;

/// The mode of a pin.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Input: the port only reads it.
    Input,
    /// Output: the port drives it.
    Output,
    /// A pin of another peripheral, by the number of this alternate function.
    Alternate(u32),
    /// Analog: digital circuits don't read it.
    Analog,
}

/// The modes of a port's pins, as its registers select them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State)]
pub struct Functions {
    /// Pins of other peripherals, a bit a pin.
    pub alternate: u32,
    /// The numbers of their alternate functions, 4 bits a pin.
    pub numbers: u64,
    /// Outputs of the port.
    pub outputs: u32,
    /// Analog pins.
    pub analog: u32,
    /// Open-drain pins, which are driven low only.
    pub open_drain: u32,
    /// Pins without their supply, which pass no signal.
    pub isolated: u32,
    /// Pins that the port pulls up.
    pub pull_ups: u32,
}

impl Functions {
    /// The mode of a pin.
    #[inline]
    pub fn mode(&self, number: u32) -> Mode {
        let is_in = |pins: u32| pins >> (number % 32) & 1 != 0;
        match () {
            () if is_in(self.alternate) => Mode::Alternate(self.number(number)),
            () if is_in(self.outputs) => Mode::Output,
            () if is_in(self.analog) => Mode::Analog,
            () => Mode::Input,
        }
    }

    /// True if a peripheral's signal passes the pin.
    #[inline]
    pub fn carries(&self, number: u32, function: u32) -> bool {
        self.mode(number) == Mode::Alternate(function) && self.isolated >> (number % 32) & 1 == 0
    }

    fn number(&self, pin: u32) -> u32 {
        (self.numbers >> (4 * (pin % 16)) & 0xf) as u32
    }

    /// The part that peripherals depend on.
    fn shared(&self) -> (u32, u64, u32) {
        let alternate = self.alternate & !self.isolated;
        let wide = (0..16).filter(|pin| alternate >> pin & 1 != 0).fold(0, |mask, pin| mask | 0xf_u64 << (4 * pin));
        (alternate, self.numbers & wide, self.open_drain & alternate)
    }

    /// Pins that have the same alternate function in both.
    fn kept(&self, other: &Functions) -> u32 {
        let same = (0..16).filter(|pin| self.number(*pin) == other.number(*pin)).fold(0, |pins, pin| pins | 1 << pin);
        self.alternate & other.alternate & same & !(self.isolated | other.isolated)
    }
}

/// How peripherals use a port's pins.
#[derive(Debug, Default, State)]
pub(crate) struct Shared {
    pub(crate) functions: Functions,
    /// The pins that they drive.
    pub(crate) drive: Drive,
    /// Devices that are notified of changes.
    #[state(skip)]
    users: Vec<DeviceId>,
}

impl super::Wires {
    /// The modes of a port's pins.
    #[inline]
    pub fn functions(&self, port: impl Into<PortId>) -> Functions {
        self.port(port.into()).map_or_else(Functions::default, |port| port.shared.functions)
    }

    /// Notifies `user` of changes of the functions of a port's pins.
    #[inline]
    pub fn follow_functions(&mut self, port: PortId, user: DeviceId) {
        if let Some(port) = self.port_mut(port)
            && !port.shared.users.contains(&user)
        {
            port.shared.users.push(user);
        }
    }

    /// A device that is notified of changes of a port's functions, by its index.
    pub(crate) fn user_of_functions(&self, port: PortId, index: usize) -> Option<DeviceId> {
        self.port(port)?.shared.users.get(index).copied()
    }

    /// Sets the functions of a port's pins; a peripheral that loses a pin no longer drives it. False if no peripheral
    /// has won or lost a pin.
    pub(crate) fn set_functions(&mut self, port: PortId, functions: Functions) -> bool {
        let Some(port) = self.port_mut(port) else { return false };
        let before = std::mem::replace(&mut port.shared.functions, functions);
        port.shared.drive.enables &= functions.kept(&before);
        before.shared() != functions.shared()
    }

    /// Drives a pin for a peripheral, or releases it, through the pin's output stage. False if that changes nothing.
    pub(crate) fn set_function_drive(&mut self, pin: Pin, level: Option<bool>) -> bool {
        let Some(port) = self.port_mut(pin.port) else { return false };
        let Shared { functions, drive, .. } = &mut port.shared;
        let level = level.filter(|high| !(*high && pin.of(functions.open_drain)));
        let with = |word: u32, on: bool| word & !pin.mask() | if on { pin.mask() } else { 0 };
        let after = Drive {
            enables: with(drive.enables, level.is_some() && pin.of(functions.alternate & !functions.isolated)),
            levels: with(drive.levels, level == Some(true)),
        };
        std::mem::replace(drive, after) != after
    }

    /// Ends [`super::Wires::watch`].
    #[inline]
    pub fn unwatch(&mut self, pin: Pin, watcher: DeviceId) {
        if let Some(port) = self.port_mut(pin.port) {
            let watched = port.watchers.iter_mut().filter(|known| known.device == watcher);
            watched.for_each(|known| known.pins &= !pin.mask());
        }
    }
}

//! What a port's registers make of its pins: inputs, outputs, analog pins, or pins of another peripheral of the chip,
//! which has the signal that the number of the alternate function says. That peripheral drives the wire then, and is
//! told where this changes ([`crate::bus::device::Device::pins_switched`]).

use super::{Drive, Pin, PortId};
use crate::dt::wiring::DeviceId;
use crate::state::State;

/// What a pin is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// It only listens.
    Input,
    /// The port drives it.
    Output,
    /// Another peripheral has it, by this number.
    Alternate(u32),
    /// Digital circuits don't see it.
    Analog,
}

/// The pins of a port, as its registers have them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State)]
pub struct Functions {
    /// Pins that other peripherals have, a bit a pin.
    pub alternate: u32,
    /// The numbers of their functions, 4 bits a pin.
    pub numbers: u64,
    /// Outputs of the port.
    pub outputs: u32,
    /// Analog pins.
    pub analog: u32,
    /// Pins that are driven low only.
    pub open_drain: u32,
    /// Pins without their supply: nothing passes them.
    pub isolated: u32,
    /// Pins that the port pulls up.
    pub pull_ups: u32,
}

impl Functions {
    /// What a pin is.
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
    pub fn carries(&self, number: u32, function: u32) -> bool {
        self.mode(number) == Mode::Alternate(function) && self.isolated >> (number % 32) & 1 == 0
    }

    fn number(&self, pin: u32) -> u32 {
        (self.numbers >> (4 * (pin % 16)) & 0xf) as u32
    }

    /// What peripherals see of it.
    fn shared(&self) -> (u32, u64, u32) {
        let alternate = self.alternate & !self.isolated;
        let wide = (0..16).filter(|pin| alternate >> pin & 1 != 0).fold(0, |mask, pin| mask | 0xf_u64 << (4 * pin));
        (alternate, self.numbers & wide, self.open_drain & alternate)
    }

    /// Pins that both have for the same function.
    fn kept(&self, other: &Functions) -> u32 {
        let same = (0..16).filter(|pin| self.number(*pin) == other.number(*pin)).fold(0, |pins, pin| pins | 1 << pin);
        self.alternate & other.alternate & same & !(self.isolated | other.isolated)
    }
}

/// What peripherals have of a port's pins.
#[derive(Debug, Default, State)]
pub(crate) struct Shared {
    pub(crate) functions: Functions,
    /// What they drive.
    pub(crate) drive: Drive,
    /// Who is told of changes.
    #[state(skip)]
    users: Vec<DeviceId>,
}

impl super::Wires {
    /// What a port's registers make of its pins.
    pub fn functions(&self, port: impl Into<PortId>) -> Functions {
        self.port(port.into()).map_or_else(Functions::default, |port| port.shared.functions)
    }

    /// `user` is told where a port's pins get other functions.
    pub fn follow_functions(&mut self, port: PortId, user: DeviceId) {
        if let Some(port) = self.port_mut(port)
            && !port.shared.users.contains(&user)
        {
            port.shared.users.push(user);
        }
    }

    /// Who is told of a port's pins, by their order.
    pub(crate) fn user_of_functions(&self, port: PortId, index: usize) -> Option<DeviceId> {
        self.port(port)?.shared.users.get(index).copied()
    }

    /// A port's pins get these functions; who loses a pin no longer drives it. False if
    /// nobody has won or lost one.
    pub(crate) fn set_functions(&mut self, port: PortId, functions: Functions) -> bool {
        let Some(port) = self.port_mut(port) else { return false };
        let before = std::mem::replace(&mut port.shared.functions, functions);
        port.shared.drive.enables &= functions.kept(&before);
        before.shared() != functions.shared()
    }

    /// A peripheral drives a pin of its, or lets go of it: what the pin's output stage makes of that. False where that
    /// changes nothing.
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

    /// As [`super::Wires::watch`], no longer.
    pub fn unwatch(&mut self, pin: Pin, watcher: DeviceId) {
        if let Some(port) = self.port_mut(pin.port) {
            let watched = port.watchers.iter_mut().filter(|known| known.device == watcher);
            watched.for_each(|known| known.pins &= !pin.mask());
        }
    }
}

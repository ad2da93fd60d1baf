//! Wires between pins of devices: between GPIO ports and the chips at their pins.
//!
//! A wire starts at a pin of a port. A port is a device with up to 32 pins; a device with more pins has several ports,
//! its banks. A wire is identified by its [`Pin`], and all wires of a port are kept as words, a bit a pin. Two sides
//! can drive a wire: the port, and whatever is wired to the pin. The level of the wire is
//! - the driven level; low if one side drives high and the other low (most outputs have stronger transistors for low):
//!   the user gets a note, once for each wire;
//! - if no side drives it, the level of a resistor on the board that is stronger than the port's own;
//! - high if the port's pull-up is on; low if only its pull-down is on;
//! - the level of a weaker resistor on the board;
//! - its previous level, if nothing holds it.
//!
//! A port reports a register write as one change, at its exact time. The devices that watch its pins get that change
//! ([`crate::bus::device::Device::pins_changed`]), and may drive wires while the port is still being called. So a port
//! reads its wires again after it has driven them; edges in between are kept for it ([`Wires::take_edges`]).

pub mod functions;
pub mod parts;

use self::functions::Shared;
use crate::activity::{Activity, Kind, Scope};
use crate::dt::wiring::DeviceId;
pub use crate::dt::wiring::{PINS_OF_PORT, Pin, PortId};
use crate::observe::waves::{SignalId, Waves};
use crate::state::{Fresh, State};
use crate::time::Ps;

/// The level of a port's pin; recorded on request only.
pub static PIN: Activity = Activity::new(Kind::Pin, "pin", "a pin of the port is high; its number is the part's");

/// How one side drives the wires of a port, a bit a pin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State)]
pub struct Drive {
    /// Wires that it drives.
    pub enables: u32,
    /// The levels to which it drives them; bits of other wires have no meaning.
    pub levels: u32,
}

impl Drive {
    const fn high(self) -> u32 {
        self.enables & self.levels
    }
}

/// A device that is notified of changes of a port's wires.
#[derive(Clone, Copy, Debug, State, Fresh)]
pub(crate) struct Watcher {
    pub(crate) device: DeviceId,
    pub(crate) pins: u32,
    /// Wires that it drives with a delay: it is called to update them before they are read.
    pub(crate) late: u32,
}

/// The wires of a port.
#[derive(Debug, State)]
pub(crate) struct Port {
    pub(crate) own: Drive,
    /// Pins that the port gives to other peripherals of the chip.
    pub(crate) shared: Shared,
    pub(crate) far: Drive,
    pub(crate) pull_ups: u32,
    /// Wires that the port pulls down.
    pull_downs: u32,
    /// Wires that a resistor of the board pulls up permanently: strong resistors, weak resistors.
    board_pull_ups: [u32; 2],
    /// The same for pull-downs.
    board_pull_downs: [u32; 2],
    pub(crate) levels: u32,
    /// Wires that rose or fell since the port last read them.
    pub(crate) rose: u32,
    pub(crate) fell: u32,
    /// Wires that will change without an event, because their driver has a delay.
    pub(crate) moving: u32,
    /// Wires whose drivers conflict, for which the user has a note.
    pub(crate) disputed: u32,
    pub(crate) watchers: Vec<Watcher>,
    /// Wires that have a name in waveforms.
    #[state(skip)]
    pub(crate) named: Vec<(u32, SignalId)>,
    /// The signal of the first pin, and the number of pins that have signals, in their order.
    #[state(skip)]
    shown: Option<(SignalId, u32)>,
    /// The scope in which the port records its pins.
    pub(crate) scope: Scope,
    /// The device's number of the first pin.
    #[state(skip)]
    first: u32,
}

impl Port {
    fn new(bank: u32) -> Port {
        Port {
            own: Drive::default(),
            shared: Shared::default(),
            far: Drive::default(),
            pull_ups: u32::MAX,
            pull_downs: 0,
            board_pull_ups: [0; 2],
            board_pull_downs: [0; 2],
            levels: u32::MAX,
            rose: 0,
            fell: 0,
            moving: 0,
            disputed: 0,
            watchers: Vec::new(),
            named: Vec::new(),
            shown: None,
            scope: Scope::default(),
            first: bank * PINS_OF_PORT,
        }
    }

    /// How the chip drives its wires: the port, and peripherals that have pins of it.
    fn chip_drive(&self) -> Drive {
        let (own, shared) = (self.own, self.shared.drive);
        Drive { enables: own.enables | shared.enables, levels: own.high() | shared.high() }
    }

    pub(crate) fn disputes(&self) -> u32 {
        let chip = self.chip_drive();
        chip.enables & self.far.enables & (chip.levels ^ self.far.levels)
    }

    /// Computes the levels: returns the wires that changed.
    pub(crate) fn settle(&mut self) -> u32 {
        let chip = self.chip_drive();
        let driven = chip.enables | self.far.enables;
        let high = (chip.high() | self.far.high()) & !self.disputes();
        let ([strong_ups, weak_ups], [strong_downs, weak_downs]) = (self.board_pull_ups, self.board_pull_downs);
        let unpulled = weak_ups | self.levels & !weak_downs;
        let inside = self.pull_ups | unpulled & !self.pull_downs;
        let left = !driven & (strong_ups | inside & !strong_downs);
        let before = std::mem::replace(&mut self.levels, high | left);
        let changed = before ^ self.levels;
        self.rose |= changed & self.levels;
        self.fell |= changed & !self.levels;
        changed
    }

    pub(crate) fn record(&self, changed: u32, at: Ps, waves: &Waves) {
        for (mask, signal) in self.named.iter().filter(|(mask, _)| changed & mask != 0) {
            waves.set(*signal, at, self.levels & mask != 0);
        }
        let Some((first, count)) = self.shown else { return };
        for number in bits(changed & (u32::MAX >> (u32::BITS - count))) {
            waves.set(first.plus(number), at, self.levels >> number & 1 != 0);
        }
    }

    fn signal_of(&self, pin: u32) -> Option<SignalId> {
        self.shown.filter(|(_, count)| pin < *count).map(|(first, _)| first.plus(pin))
    }

    /// Records which pins have changed.
    #[cold]
    pub(crate) fn record_pins(&self, changed: u32, at: Ps) {
        let level = |number: u32| self.levels >> number & 1 != 0;
        bits(changed).for_each(|number| self.scope.level((&PIN, self.first + number), level(number), at));
    }
}

/// The numbers of the bits that are set.
#[inline]
pub fn bits(mut word: u32) -> impl Iterator<Item = u32> {
    std::iter::from_fn(move || {
        let lowest = (word != 0).then(|| word.trailing_zeros())?;
        word &= word - 1;
        Some(lowest)
    })
}

/// The wires of all ports.
#[derive(Debug, Default, State)]
pub struct Wires {
    /// By device, each with its banks; empty for devices without pins.
    #[state(with = banks)]
    ports: Vec<Box<[Port]>>,
}

/// The wires of the devices to which the board gives pins.
mod banks {
    use super::Port;
    use crate::state::{Damaged, Loader, Saver, fixed};

    #[inline]
    pub fn save(ports: &[Box<[Port]>], to: &mut Saver) {
        if to.is_shown() {
            to.list(ports.len());
        }
        for banks in ports {
            to.item();
            fixed::save(banks, to);
        }
        to.end();
    }

    #[inline]
    pub fn load(ports: &mut [Box<[Port]>], from: &mut Loader) -> Result<(), Damaged> {
        ports.iter_mut().try_for_each(|banks| fixed::load(banks, from))
    }
}

impl Wires {
    /// Makes `device` a port with `banks` banks of 32 pins, with all wires pulled up, unless it is one already.
    #[inline]
    pub fn add_port(&mut self, device: DeviceId, banks: u32) {
        let index = device.0 as usize;
        if index >= self.ports.len() {
            self.ports.resize_with(index + 1, Box::default);
        }
        if self.ports[index].is_empty() {
            self.ports[index] = (0..banks).map(Port::new).collect();
        }
    }

    /// True if `device` has pins.
    #[inline]
    pub fn is_port(&self, device: DeviceId) -> bool {
        self.banks(device) > 0
    }

    /// The number of banks of pins that `device` has.
    #[inline]
    pub fn banks(&self, device: DeviceId) -> u32 {
        self.ports.get(device.0 as usize).map_or(0, |banks| banks.len() as u32)
    }

    #[inline]
    pub(crate) fn port(&self, port: PortId) -> Option<&Port> {
        self.ports.get(port.device.0 as usize)?.get(port.bank as usize)
    }

    #[inline]
    pub(crate) fn port_mut(&mut self, port: PortId) -> Option<&mut Port> {
        self.ports.get_mut(port.device.0 as usize)?.get_mut(port.bank as usize)
    }

    /// Notifies `watcher` of changes of the wire at `pin` from now on. `late`: the watcher drives that wire with a
    /// delay, and is called to update it before the port reads it.
    #[inline]
    pub fn watch(&mut self, pin: Pin, watcher: DeviceId, late: bool) {
        let Some(port) = self.port_mut(pin.port) else { return };
        let index = port.watchers.iter().position(|known| known.device == watcher).unwrap_or_else(|| {
            port.watchers.push(Watcher { device: watcher, pins: 0, late: 0 });
            port.watchers.len() - 1
        });
        let watcher = &mut port.watchers[index];
        if late {
            watcher.late |= pin.mask();
        } else {
            watcher.pins |= pin.mask();
        }
    }

    /// Sets the wires that a port pulls down from its next change of the wires on.
    #[inline]
    pub fn set_pull_downs(&mut self, port: impl Into<PortId>, pull_downs: u32) {
        if let Some(port) = self.port_mut(port.into()) {
            port.pull_downs = pull_downs;
        }
    }

    /// Adds a board resistor that pulls the wire at `pin` up, stronger than the port's own.
    #[inline]
    pub fn pull_up(&mut self, pin: Pin) {
        self.pull(pin, true, true);
    }

    /// Adds a board resistor that pulls the wire at `pin` down, stronger than the port's own.
    #[inline]
    pub fn pull_down(&mut self, pin: Pin) {
        self.pull(pin, false, true);
    }

    /// Adds a board resistor that pulls the wire at `pin` up or down, stronger or weaker than the port's own.
    #[inline]
    pub fn pull(&mut self, pin: Pin, up: bool, is_strong: bool) {
        if let Some(port) = self.port_mut(pin.port) {
            let pulls = if up { &mut port.board_pull_ups } else { &mut port.board_pull_downs };
            pulls[usize::from(!is_strong)] |= pin.mask();
        }
    }

    /// Gives the first `count` pins of the device called `label` signals, named by their numbers.
    #[inline]
    pub fn show_pins(&mut self, device: DeviceId, label: &str, count: u32, waves: &Waves, scope: impl Fn() -> Scope) {
        let Some(banks) = self.ports.get_mut(device.0 as usize) else { return };
        let level =
            |pin: u32| banks.get((pin / PINS_OF_PORT) as usize).is_some_and(|port| port.levels >> (pin % 32) & 1 != 0);
        let first = waves.numbered_signals(label, (0..count).map(level));
        for port in banks {
            let count = count.saturating_sub(port.first).min(PINS_OF_PORT);
            port.shown = first.filter(|_| count > 0).map(|first| (first.plus(port.first), count));
            port.scope = scope();
        }
    }

    /// The signals of all ports' pins by number, each with whether its wire also has a name.
    #[inline]
    pub fn pin_signals(&self) -> Vec<(SignalId, bool)> {
        let pins =
            self.all().filter_map(|port| Some((port.shown?, port.named.iter().fold(0, |all, (mask, _)| all | mask))));
        pins.flat_map(|((first, count), named)| (0..count).map(move |pin| (first.plus(pin), named >> pin & 1 != 0)))
            .collect()
    }

    /// Shows the wire at `pin` as `signal` in waveforms.
    pub fn name(&mut self, pin: Pin, signal: SignalId) {
        if let Some(port) = self.port_mut(pin.port) {
            port.named.push((pin.mask(), signal));
        }
    }

    /// The levels of a port's wires, as last driven.
    #[inline]
    pub fn levels(&self, port: impl Into<PortId>) -> u32 {
        self.port(port.into()).map_or(u32::MAX, |port| port.levels)
    }

    /// The level of the wire at `pin`, as last driven.
    #[inline]
    pub fn level(&self, pin: Pin) -> bool {
        pin.of(self.levels(pin.port))
    }

    /// The wires of a port that rose, and those that fell, since the last call.
    #[inline]
    pub fn take_edges(&mut self, port: impl Into<PortId>) -> (u32, u32) {
        let Some(port) = self.port_mut(port.into()) else { return (0, 0) };
        (std::mem::take(&mut port.rose), std::mem::take(&mut port.fell))
    }

    /// Marks the wire at `pin` as about to change after its driver's delay, or as changed.
    #[inline]
    pub fn set_moving(&mut self, pin: Pin, moving: bool) {
        if let Some(port) = self.port_mut(pin.port) {
            port.moving = port.moving & !pin.mask() | if moving { pin.mask() } else { 0 };
        }
    }

    /// True if one of a port's wires will change without an event.
    #[inline]
    pub fn is_moving(&self, port: impl Into<PortId>) -> bool {
        self.port(port.into()).is_some_and(|port| port.moving != 0)
    }

    fn all(&self) -> impl Iterator<Item = &Port> {
        self.ports.iter().flatten()
    }

    /// The levels of all wires that have a name in waveforms.
    #[inline]
    pub fn named_levels(&self, waves: &Waves) -> Vec<(String, bool)> {
        let named = self
            .all()
            .flat_map(|port| port.named.iter().map(|(mask, signal)| (waves.name_of(*signal), port.levels & mask != 0)));
        named.collect()
    }

    /// The level of the wire that a signal shows; `None` if it shows none.
    #[inline]
    pub fn level_of(&self, signal: SignalId) -> Option<bool> {
        self.all().find_map(|port| {
            let named = port.named.iter().find(|(_, named)| *named == signal).map(|(mask, _)| *mask);
            let numbered = || bits(u32::MAX).find(|pin| port.signal_of(*pin) == Some(signal)).map(|pin| 1 << pin);
            Some(port.levels & named.or_else(numbered)? != 0)
        })
    }

    /// Records the levels of all named wires, for a recorder that starts.
    #[inline]
    pub fn record_levels(&self, waves: &Waves) {
        for port in self.all() {
            port.record(u32::MAX, Ps::ZERO, waves);
        }
    }
}

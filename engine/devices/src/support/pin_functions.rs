//! Signals of a peripheral, and the pins of its chip that carry them: a signal is on a pin only while a port's
//! registers select it there (RM0090, "General-purpose I/Os", alternate function; the data sheets' "Alternate function
//! mapping").
//!
//! The peripheral's node has a property for each signal: `cyclescope,tx-pins = <&gpioa 2 7>, <&gpiod 5 7>` with port,
//! pin and function. Without it the signal always leaves the chip. If a board has wired the peripheral to something,
//! `cyclescope,board-pins = <&gpioa 2>, <&gpioa 3>` lists those pins: other pins are not connected to it.

use crate::prelude::*;
use engine::bus::Bus;
use engine::dt::wiring::Pin;
use engine::pins::functions::Mode;

const BOARD_PINS: &str = "cyclescope,board-pins";

/// The end of the note for a UART's character without a pin, for [`PinFunctions::note`].
pub const NOT_SENT: &str = "a character was written, and nothing is on the line";
/// The end of the note for a character that is sent to a UART without a pin.
pub const NOT_RECEIVED: &str = "a character came, and is lost, as are those that follow";

/// An I2C interface's signals.
pub const I2C_SIGNALS: &[&str] = &["scl", "sda"];

/// A pin that can carry a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The pin.
    pub pin: Pin,
    /// The alternate function that selects it.
    pub function: u32,
    /// True if the board has wired this pin to the other end of the signal.
    pub is_wired: bool,
}

/// A signal.
#[derive(Clone, Debug)]
struct Signal {
    name: &'static str,
    places: Vec<Place>,
}

/// The signals of a peripheral, and the signals that leave the chip.
#[derive(Clone, Debug, State, Polled)]
pub struct PinFunctions {
    #[state(skip)]
    signals: Vec<Signal>,
    /// The signals that leave the chip, a bit a signal.
    carried: u32,
    /// Signals for which the user has a note.
    #[poll(skip = "a note changes no answer")]
    noted: u32,
}

/// A peripheral without such properties: all signals leave the chip.
impl Default for PinFunctions {
    fn default() -> PinFunctions {
        PinFunctions { signals: Vec::new(), carried: u32::MAX, noted: 0 }
    }
}

impl PinFunctions {
    /// Reads the pins of the signals in `names`; a signal's number is its index there.
    pub fn from_node(reader: &mut NodeReader, names: &[&'static str]) -> PinFunctions {
        let mut signals: Vec<Signal> = Vec::with_capacity(names.len());
        for name in names {
            let meaning = format!(
                "the pins that carry {}: port, number of the pin (0 to 15), alternate function (0 to 15); without it \
                 the signal always leaves the chip",
                name.to_uppercase()
            );
            let places =
                reader.pin_places(&format!("cyclescope,{name}-pins"), 2, |[pin, af]| pin < 16 && af < 16, &meaning);
            let place = |(pin, cells): (Pin, Vec<u32>)| Place { pin, function: cells[1], is_wired: true };
            signals.push(Signal { name, places: places.into_iter().map(place).collect() });
        }
        let meaning = "the pins to which the board has wired something, of those that carry its signals; without it, \
                       whatever is on a signal is at each of the pins that carry it";
        let wired = reader.pin_places(BOARD_PINS, 1, |[pin, _]| pin < 16, meaning);
        let wired: Vec<Pin> = wired.into_iter().map(|(pin, _)| pin).collect();
        for signal in &mut signals {
            if signal.places.iter().any(|place| wired.contains(&place.pin)) {
                signal.places.iter_mut().for_each(|place| place.is_wired = wired.contains(&place.pin));
            }
        }
        let known: Vec<Pin> = signals.iter().flat_map(|signal| &signal.places).map(|place| place.pin).collect();
        if wired.iter().any(|pin| !known.contains(pin)) {
            reader.bad_pin(BOARD_PINS, "pins that carry a signal of this node");
        }
        PinFunctions { signals, ..PinFunctions::default() }
    }

    /// Signals that no pin carries, for tests; a signal without a name needs no pin.
    #[cfg(test)]
    pub fn nowhere(names: &[&'static str]) -> PinFunctions {
        let pin = Pin::new(engine::dt::wiring::DeviceId(u32::MAX), 0);
        let places = vec![Place { pin, function: 0, is_wired: true }];
        let of = |name: &str| if name.is_empty() { Vec::new() } else { places.clone() };
        let signals = names.iter().map(|name| Signal { name, places: of(name) }).collect();
        PinFunctions { signals, ..PinFunctions::default() }
    }

    /// Notifies the device of changes from now on; called when it comes out of reset.
    pub fn follow(&mut self, ctx: &mut Ctx) {
        for place in self.signals.iter().flat_map(|signal| &signal.places) {
            ctx.bus.wires.follow_functions(place.pin.port, ctx.id);
        }
        self.look(ctx);
    }

    /// Reads the ports' registers: true if a signal now leaves the chip, or no longer does.
    pub fn look(&mut self, ctx: &Ctx) -> bool {
        let mut carried = u32::MAX;
        for (index, signal) in self.signals.iter().enumerate() {
            let carries = |place: &Place| place.is_wired && is_carried(ctx.bus, place);
            if !signal.places.is_empty() && !signal.places.iter().any(carries) {
                carried &= !(1 << index);
            }
        }
        std::mem::replace(&mut self.carried, carried) != carried
    }

    /// True if the signal passes a pin to which something may be wired.
    #[inline]
    pub const fn carries(&self, signal: usize) -> bool {
        self.carried >> signal & 1 != 0
    }

    /// Pin number `index` of the pins that can carry a signal, with its alternate function.
    pub fn place(&self, signal: usize, index: usize) -> (Pin, u32) {
        let place = &self.places(signal)[index];
        (place.pin, place.function)
    }

    /// True if all signals leave the chip.
    pub const fn carries_all(&self) -> bool {
        self.carried == u32::MAX
    }

    /// The signals that leave the chip, a bit a signal.
    pub const fn carried(&self) -> u32 {
        self.carried
    }

    /// The pins that carry a signal now.
    pub fn pins<'a>(&'a self, signal: usize, bus: &'a Bus) -> impl Iterator<Item = Pin> + 'a {
        self.places(signal).iter().filter(|place| is_carried(bus, place)).map(|place| place.pin)
    }

    /// All pins that can carry a signal.
    pub fn places(&self, signal: usize) -> &[Place] {
        self.signals.get(signal).map_or(&[], |signal| &signal.places)
    }

    /// Notes, once for each signal of an I2C interface that starts a frame: no pin carries it, or the pin is push-pull.
    pub fn check_i2c(&mut self, ctx: &mut Ctx) {
        for index in 0..self.signals.len() {
            if !self.carries(index) {
                self.note(index, "a frame was begun, and nobody on the bus hears or answers", ctx);
            }
            let push_pull = |pin: &Pin| ctx.bus.wires.functions(pin.port).open_drain & pin.mask() == 0;
            let pin = self.pins(index, ctx.bus).find(push_pull);
            if let Some(pin) = pin {
                let (pin, name) = (pin_name(ctx.bus, pin), self.signals[index].name.to_uppercase());
                ctx.note(&format!(
                    "its {name} is at {pin}, which is push-pull (GPIOx_OTYPER): on the board it drives against \
                     the chips that answer. It goes on as if it were open-drain"
                ));
            }
        }
    }

    /// Notes, once for a signal, that no pin carries it; `so` says what happens instead.
    #[cold]
    pub fn note(&mut self, signal: usize, so: &str, ctx: &mut Ctx) {
        if self.noted >> signal & 1 != 0 {
            return;
        }
        self.noted |= 1 << signal;
        let Some(Signal { name, places }) = self.signals.get(signal) else { return };
        let (bus, name) = (&*ctx.bus, name.to_uppercase());
        let place = |place: &&Place| {
            let (pin, function) = (pin_name(bus, place.pin), place.function);
            format!("{pin} (alternate function {function}; now {})", state_of(bus, place.pin))
        };
        let wired: Vec<String> = places.iter().filter(|place| place.is_wired).map(|of| place(&of)).collect();
        let elsewhere = places.iter().find(|place| !place.is_wired && is_carried(bus, place));
        let elsewhere = elsewhere
            .map(|place| format!(". {} has it, where the board has nothing", pin_name(bus, place.pin)))
            .unwrap_or_default();
        let what = format!("no pin carries its {name}: {so}. It takes {}{elsewhere}", wired.join(" or "));
        ctx.note(&what);
    }
}

fn is_carried(bus: &Bus, place: &Place) -> bool {
    bus.wires.functions(place.pin.port).carries(place.pin.number, place.function)
}

/// The chip manual's name of a pin, if the port's label has the letter: PA2 of gpioa.
pub fn pin_name(bus: &Bus, pin: Pin) -> String {
    let label = label(bus, pin);
    match label.strip_prefix("gpio") {
        Some(port) if port.len() == 1 => format!("P{}{}", port.to_uppercase(), pin.number),
        _ => format!("pin {} of {label}", pin.number_of_device()),
    }
}

fn label(bus: &Bus, pin: Pin) -> &str {
    bus.device_names.get(pin.port.device.0 as usize).map_or("", String::as_str)
}

/// The present mode of a pin, for a note.
fn state_of(bus: &Bus, pin: Pin) -> String {
    let functions = bus.wires.functions(pin.port);
    let is_isolated = functions.isolated >> pin.number & 1 != 0;
    let mode = match functions.mode(pin.number) {
        Mode::Input => "an input".to_owned(),
        Mode::Output => "an output of the port".to_owned(),
        Mode::Analog => "analog".to_owned(),
        Mode::Alternate(number) => format!("in function {number}"),
    };
    if is_isolated { format!("{mode}, and without its supply: PWR_CR2.IOSV is 0") } else { mode }
}

//! `gpio-leds`: lights on pins of GPIO ports (Linux's binding of that name, which Zephyr has too). Each child node is a
//! light: `gpios` is its pin; its name for users is `label`, or else its node's label or name. The properties in the
//! reference are those of the child nodes.
//!
//! Modelled: a light is on while its wire has the active level, whichever side drives it. It needs more current than a
//! pull-up or pull-down of the port supplies: without a driver, the light pulls the wire to the level at which it is
//! off. A run's result has the number of times that it went on and off, and its period. Flags other than
//! GPIO_ACTIVE_LOW have no effect.
//!
//! Not modelled: brightness. A light that a timer dims goes on and off at the timer's rate.

use std::collections::VecDeque;

use crate::prelude::*;
use engine::activity::{Activity, Kind, Scope};
use engine::bus::device::PortId;
use engine::pins::Pin;
use engine::pins::parts::Light;

/// GPIO_ACTIVE_LOW of dt-bindings/gpio/gpio.h.
pub(super) const ACTIVE_LOW: u32 = 1;
/// The number of periods for the mean; all of them have to be equal within a tenth.
const PERIODS: usize = 8;
/// The least number of periods: a light that went on three times.
const LEAST_PERIODS: usize = 2;

static LIT: Activity = Activity::new(Kind::Led, "on", "a light is on; the track is the light's, by its label");
const ACTIVITIES: &[&Activity] = &[&LIT];

/// A light.
#[derive(Debug, State)]
struct Led {
    #[state(skip)]
    names: [String; 3],
    #[state(skip)]
    pin: Pin,
    #[state(skip)]
    active_low: bool,
    is_on: bool,
    /// The time at which it last went on or off.
    since: Option<Ps>,
    times_on: u64,
    times_off: u64,
    /// The time for which it was on up to `since`.
    lit: Ps,
    /// The last times at which it went on, each with the time for which it had been on before.
    rises: VecDeque<(Ps, Ps)>,
    scope: Scope,
}

impl Led {
    fn new(names: [String; 3], pin: Pin, active_low: bool) -> Led {
        Led {
            names,
            pin,
            active_low,
            is_on: false,
            since: None,
            times_on: 0,
            times_off: 0,
            lit: Ps::ZERO,
            rises: VecDeque::new(),
            scope: Scope::default(),
        }
    }

    /// Its wire has a level from `now` on.
    fn set(&mut self, level: bool, now: Ps) {
        let is_on = level != self.active_low;
        // Changes while the board comes out of reset are not visible.
        if is_on == self.is_on || now == Ps::ZERO {
            self.is_on = is_on;
            return;
        }
        if is_on {
            self.times_on += 1;
            self.rises.push_back((now, self.lit));
            if self.rises.len() > PERIODS + 1 {
                self.rises.pop_front();
            }
        } else {
            self.times_off += 1;
            self.lit = self.lit.saturating_add(now.saturating_sub(self.since.unwrap_or(Ps::ZERO)));
        }
        (self.is_on, self.since) = (is_on, Some(now));
        if self.scope.records(Kind::Led) {
            self.scope.level(&LIT, is_on, now);
        }
    }

    /// The mean of the last periods and of the time on in each, if all are within a tenth of the mean.
    fn period(&self) -> Option<(Ps, Ps)> {
        let (first, last) = (self.rises.front()?, self.rises.back()?);
        let count = (self.rises.len() - 1) as u64;
        if count < LEAST_PERIODS as u64 {
            return None;
        }
        let mean = last.0.saturating_sub(first.0).0 / count;
        let pairs = self.rises.iter().zip(self.rises.iter().skip(1));
        let are_equal =
            pairs.map(|(one, next)| next.0.saturating_sub(one.0).0).all(|period| period.abs_diff(mean) <= mean / 10);
        are_equal.then(|| (Ps(mean), Ps(last.1.saturating_sub(first.1).0 / count)))
    }

    fn record(&self, now: Ps) -> Light {
        let under_way = now.saturating_sub(self.since.unwrap_or(Ps::ZERO));
        Light {
            names: self.names.clone(),
            pin: self.pin,
            pin_name: String::new(),
            active_low: self.active_low,
            is_on: self.is_on,
            times_on: self.times_on,
            times_off: self.times_off,
            on: if self.is_on { self.lit.saturating_add(under_way) } else { self.lit },
            last: self.since,
            period: self.period(),
        }
    }
}

/// The lights of a node.
#[derive(Debug, State, Polled)]
#[poll(never = "no loop reads it: it has no address")]
pub struct Leds {
    #[state(with = engine::state::fixed)]
    leds: Vec<Led>,
}

/// For the list of models.
pub const MODEL: Model = Model::device(Group::System, &["gpio-leds"], 0, from_node).with_activities(ACTIVITIES);

/// Builds the lights of a node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    Box::new(Leds { leds: of_children(reader, led) })
}

/// The children of a node. The reference lists the properties of the children as those of the node.
pub(super) fn of_children<T>(reader: &mut NodeReader, read: fn(&mut NodeReader) -> Option<T>) -> Vec<T> {
    if reader.is_documenting() {
        return read(reader).into_iter().collect();
    }
    reader.children().into_iter().filter_map(|child| reader.child(child, read)).collect()
}

fn led(reader: &mut NodeReader) -> Option<Led> {
    reader.known(&["color", "function", "function-enumerator", "default-state", "linux,default-trigger"]);
    let names = names_of(reader);
    let (pin, flags) = reader.required_gpio_with_flags("gpios", "the light's pin")?;
    Some(Led::new(names, pin, flags & ACTIVE_LOW != 0))
}

/// The names of a light or a button: the name for users, and the label and the name of its node.
pub(super) fn names_of(reader: &mut NodeReader) -> [String; 3] {
    let label = reader.string("label", "what users call it; without it the label of its node, or else its name");
    let (label, node) = (label.map(str::to_owned), reader.node);
    [label.unwrap_or_else(|| node.label().to_owned()), node.label().to_owned(), node.name.clone()]
}

/// The name of a light or a button in waveforms, in the characters that waveform viewers accept.
pub(super) fn signal_name(label: &str) -> String {
    label.replace(|it: char| !it.is_ascii_alphanumeric() && it != '-', "_")
}

impl Device for Leds {
    fn reset(&mut self, ctx: &mut Ctx) {
        let scope = ctx.label().to_owned();
        for led in &mut self.leds {
            if led.active_low {
                ctx.bus.wires.pull_up(led.pin);
            } else {
                ctx.bus.wires.pull_down(led.pin);
            }
            ctx.bus.wires.watch(led.pin, ctx.id, false);
            ctx.bus.drive_pin(led.pin, None, ctx.now);
            led.set(ctx.bus.wires.level(led.pin), ctx.now);
            let signal = ctx.bus.waves.signal(&scope, &signal_name(&led.names[0]), led.is_on != led.active_low);
            ctx.bus.wires.name(led.pin, signal);
            led.scope = ctx.bus.activities.scope(&led.names[0]);
        }
    }

    fn pins_changed(&mut self, port: PortId, changed: u32, levels: u32, ctx: &mut Ctx) {
        for led in self.leds.iter_mut().filter(|led| led.pin.port == port && led.pin.of(changed)) {
            led.set(led.pin.of(levels), ctx.now);
        }
    }

    fn lights(&self, now: Ps) -> Vec<Light> {
        self.leds.iter().map(|led| led.record(now)).collect()
    }
}

#[cfg(test)]
mod tests;

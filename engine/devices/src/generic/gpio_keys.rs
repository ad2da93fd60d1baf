//! `gpio-keys`: buttons on pins of GPIO ports (Linux's binding of that name, which Zephyr has too). Each child node is
//! a button: `gpios` is its pin; its name for users is `label`, or else its node's label or name. The properties in the
//! reference are those of the child nodes.
//!
//! Modelled: a pressed button connects its pin to the level of its flags: low with GPIO_ACTIVE_LOW, else high. A
//! released button has no effect: the level of its pin then depends on a resistor of the board
//! (`cyclescope,board-pull-ups` and `-pull-downs` of the port) or on the port's own, which firmware sets; the flags
//! GPIO_PULL_UP and GPIO_PULL_DOWN are for drivers that do so. Scripts press buttons (`press`).
//!
//! Not modelled: bouncing.

use super::gpio_leds::{ACTIVE_LOW, names_of, of_children, signal_name};
use crate::prelude::*;
use engine::pins::parts::Key;

/// The buttons of a node.
#[derive(Debug, State, Polled)]
#[poll(never = "no loop reads it: it has no address")]
pub struct Keys {
    #[state(skip)]
    keys: Vec<Key>,
}

/// For the list of models.
pub const MODEL: Model = Model::device(Group::System, &["gpio-keys", "gpio-keys-polled"], 0, from_node);

/// Builds the buttons of a node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    reader.known(&["autorepeat", "poll-interval", "debounce-interval-ms"]);
    Box::new(Keys { keys: of_children(reader, key) })
}

fn key(reader: &mut NodeReader) -> Option<Key> {
    reader.known(&["linux,code", "linux,input-type", "zephyr,code", "debounce-interval", "wakeup-source"]);
    let names = names_of(reader);
    let (pin, flags) = reader.required_gpio_with_flags("gpios", "the button's pin")?;
    Some(Key { names, pin, active_low: flags & ACTIVE_LOW != 0 })
}

impl Device for Keys {
    fn reset(&mut self, ctx: &mut Ctx) {
        let scope = ctx.label().to_owned();
        for key in &self.keys {
            let level = ctx.bus.wires.level(key.pin);
            let signal = ctx.bus.waves.signal(&scope, &signal_name(&key.names[0]), level);
            ctx.bus.wires.name(key.pin, signal);
        }
    }

    fn keys(&self) -> &[Key] {
        &self.keys
    }
}

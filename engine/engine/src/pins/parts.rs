//! Parts of a board that people see and press: lights and buttons at pins.

use super::Pin;
use crate::time::Ps;

/// A light, with its record of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Light {
    /// Its user-visible name, the label of its node, and the name of its node.
    pub names: [String; 3],
    /// The pin to which it is connected.
    pub pin: Pin,
    /// The user-visible name of the pin: "gpioa.5".
    pub pin_name: String,
    /// It is on while its pin is low.
    pub active_low: bool,
    /// It is on.
    pub is_on: bool,
    /// The number of times that it went on, and off.
    pub times_on: u64,
    /// See [`Light::times_on`].
    pub times_off: u64,
    /// The time for which it was on.
    pub on: Ps,
    /// The last time that it went on or off, if it did.
    pub last: Option<Ps>,
    /// The mean of its last periods, and of the time in a period for which it was on; `None` if the periods differ.
    pub period: Option<(Ps, Ps)>,
}

/// A button.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// Its user-visible name, the label of its node, and the name of its node.
    pub names: [String; 3],
    /// The pin that it drives while it is pressed.
    pub pin: Pin,
    /// True if it drives the pin low.
    pub active_low: bool,
}

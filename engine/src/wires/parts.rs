//! What people see and press on a board: lights and buttons at pins.

use super::Pin;
use crate::time::Ps;

/// A light, with what it has done in a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Light {
    /// What users call it, the label of its node, and its name.
    pub names: [String; 3],
    /// The pin that it hangs on.
    pub pin: Pin,
    /// What users call that: "gpioa.5".
    pub pin_name: String,
    /// It is on while its pin is low.
    pub active_low: bool,
    /// It is on.
    pub is_on: bool,
    /// How often it went on, and how often off.
    pub times_on: u64,
    /// See [`Light::times_on`].
    pub times_off: u64,
    /// For how long it was on.
    pub on: Ps,
    /// When it last went on or off, if it ever did.
    pub last: Option<Ps>,
    /// The mean of its last periods, and for how long of such a period it was on, if they are alike.
    pub period: Option<(Ps, Ps)>,
}

/// A button.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Key {
    /// What users call it, the label of its node, and its name.
    pub names: [String; 3],
    /// The pin that it drives while it is pressed.
    pub pin: Pin,
    /// It drives it low.
    pub active_low: bool,
}

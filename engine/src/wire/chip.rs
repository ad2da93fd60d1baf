//! What chips have beyond their wire, whichever that is: an interrupt pin, pins that a port controls, things that they
//! do by themselves, notes and totals.

use super::notes::ChipReport;
use crate::activity::Scope;
use crate::state::State;
use crate::time::Ps;

/// What the interrupt of a chip's node is.
pub const INTERRUPT: &str = "where the chip's interrupt pin leads to";
/// Properties that lead a port's pin to a pin of the chip: the name of the wire, the pin, and what that is.
pub const CONTROLS: [(&str, &str, ControlPin, &str); 3] = [
    ("sleep-gpio", "sleep", ControlPin::Sleep, "a port's pin that leads to the one that lets the chip sleep"),
    ("reset-gpio", "reset", ControlPin::Reset, "a port's pin that leads to the chip's reset"),
    ("vdd-off-gpio", "vdd_off", ControlPin::PowerOff, "a port's pin that switches the chip's supply off"),
];

/// A pin of a chip beyond the wire, which a board may lead to an output of something else.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ControlPin {
    /// Sends the chip to sleep, or starts what it does otherwise with the same pin; active high (a transceiver's
    /// SLP_TR).
    Sleep,
    /// Reset, active low.
    Reset,
    /// Takes the chip's supply away, active high: not a pin of the chip, but of the switch in front of it.
    PowerOff,
}

/// What a host of chips does with any of them. Chips do not implement this: they implement the trait of their wire
/// ([`crate::wire::spi::SpiTarget`], [`crate::wire::i2c::I2cTarget`]), whose methods of the same names say more.
pub trait Chip: State + Send {
    /// The chip tells from now on what it does, as this one.
    fn observe(&mut self, scope: Scope);

    /// A pin beyond the wire has this level from `now` on.
    fn control(&mut self, pin: ControlPin, level: bool, now: Ps);

    /// Carries out what the chip does by itself up to `now`.
    fn advance(&mut self, now: Ps);

    /// When the chip next does something by itself that shows beyond the wire.
    fn wakes_at(&self) -> Option<Ps>;

    /// The level of the chip's interrupt pin; `None` if it has none.
    fn interrupt(&self) -> Option<bool>;

    /// Notes for the user, taken away by the call.
    fn take_notes(&mut self) -> Vec<String>;

    /// What else the chip has for the run; `None` of a chip that never has anything.
    fn chip_report(&mut self) -> Option<&mut ChipReport>;

    /// Named totals since reset.
    fn counters(&self) -> Vec<(&'static str, u64)>;
}

/// Makes a wire's targets chips, by their methods of the same names.
macro_rules! targets_are_chips {
    ($target:ident) => {
        impl $crate::wire::chip::Chip for dyn $target + '_ {
            fn observe(&mut self, scope: $crate::activity::Scope) {
                $target::observe(self, scope);
            }

            fn control(&mut self, pin: $crate::wire::chip::ControlPin, level: bool, now: $crate::time::Ps) {
                $target::control(self, pin, level, now);
            }

            #[inline]
            fn advance(&mut self, now: $crate::time::Ps) {
                $target::advance(self, now);
            }

            #[inline]
            fn wakes_at(&self) -> Option<$crate::time::Ps> {
                $target::wakes_at(self)
            }

            #[inline]
            fn interrupt(&self) -> Option<bool> {
                $target::interrupt(self)
            }

            fn take_notes(&mut self) -> Vec<String> {
                $target::take_notes(self)
            }

            fn chip_report(&mut self) -> Option<&mut $crate::wire::notes::ChipReport> {
                $target::chip_report(self)
            }

            fn counters(&self) -> Vec<(&'static str, u64)> {
                $target::counters(self)
            }
        }
    };
}
pub(crate) use targets_are_chips;

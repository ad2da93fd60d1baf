//! The functions of chips outside of their wire, for all kinds of wire: an interrupt pin, pins that a port controls,
//! own operations, notes and totals.

use super::notes::ChipReport;
use crate::activity::Scope;
use crate::state::State;
use crate::time::Ps;

/// The meaning of a chip's interrupt property.
pub const INTERRUPT: &str = "where the chip's interrupt pin leads to";
/// Properties that connect a port's pin to a pin of the chip: the property, the wire's name, the pin, the meaning.
pub const CONTROLS: [(&str, &str, ControlPin, &str); 3] = [
    ("sleep-gpio", "sleep", ControlPin::Sleep, "a port's pin that leads to the one that lets the chip sleep"),
    ("reset-gpio", "reset", ControlPin::Reset, "a port's pin that leads to the chip's reset"),
    ("vdd-off-gpio", "vdd_off", ControlPin::PowerOff, "a port's pin that switches the chip's supply off"),
];

/// A pin of a chip outside of its wire, which a board may connect to another part's output.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ControlPin {
    /// Sends the chip to sleep, or starts another operation that uses the same pin; active high (a transceiver's
    /// SLP_TR).
    Sleep,
    /// Reset, active low.
    Reset,
    /// Switches the chip's supply off, active high: not a pin of the chip, but of the switch in front of it.
    PowerOff,
}

/// The calls of a chip that its host makes on any wire. Chips do not implement this trait: they implement the trait of
/// their wire ([`crate::wire::spi::SpiTarget`], [`crate::wire::i2c::I2cTarget`]), whose methods of the same names have
/// the details.
pub trait Chip: State + Send {
    /// Has the chip record its activities from now on, in this scope.
    fn observe(&mut self, scope: Scope);

    /// A pin outside of the wire has this level from `now` on.
    fn control(&mut self, pin: ControlPin, level: bool, now: Ps);

    /// Carries out the chip's own operations up to `now`.
    fn advance(&mut self, now: Ps);

    /// The time of the chip's next own operation that is visible outside of the wire.
    fn wakes_at(&self) -> Option<Ps>;

    /// The level of the chip's interrupt pin; `None` if it has none.
    fn interrupt(&self) -> Option<bool>;

    /// Notes for the user; the call removes them.
    fn take_notes(&mut self) -> Vec<String>;

    /// Further reports of the chip for the run; `None` for a chip that never has any.
    fn chip_report(&mut self) -> Option<&mut ChipReport>;

    /// Named totals since reset.
    fn counters(&self) -> Vec<(&'static str, u64)>;
}

/// Implements [`Chip`] for a wire's targets, by their methods of the same names.
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

//! The I2C wire: two lines with pull-ups, SCL and SDA, which the master and the chips only ever pull low (NXP UM10204,
//! "I2C-bus specification and user manual", from which sections are cited).
//!
//! A chip sees its bus byte by byte ([`I2cTarget`]), at the edges of SCL that matter to it. Between a START and a STOP
//! each byte takes eight clocks for its bits, highest first, and a ninth for the acknowledge of who takes the byte:
//!
//! ```text
//!      ___                                                                   ___
//! SDA     \___ 7 bits of address, R/W ___ ACK ___ 8 bits ___ ACK ___ ... ___/
//!      ____    _   _   _   _   _   _   _   _     _                         _____
//! SCL      \__/1\_/2\_/3\_/4\_/5\_/6\_/7\_/8\___/9\___ ...             ___/
//!       START                               A         B                    STOP
//! ```
//!
//! At A, the falling edge behind the eighth clock, the chip that takes the byte answers it. At B, the falling edge
//! behind the acknowledge, the chip that is read gives its next byte. At both it may stretch the clock: it keeps SCL
//! low for a while, and the master waits (3.1.9).

use super::chip::{ControlPin, targets_are_chips};
use super::notes::ChipReport;
use crate::activity::Scope;
use crate::state::{Fresh, State};
use crate::time::Ps;

/// The address of a general call (3.1.13), which all chips may take; its direction is [`Direction::Write`].
pub const GENERAL_CALL: u8 = 0;
/// Addresses of chips: those below and above are reserved (3.1.12).
pub const ADDRESSES: std::ops::RangeInclusive<u32> = 0x08..=0x77;
/// What a master reads while no chip drives SDA.
pub const PULLED_UP: u8 = 0xff;

/// Who sends the bytes behind an address: the R/W bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
pub enum Direction {
    /// The master writes to the chip (0).
    Write,
    /// The master reads from the chip (1).
    Read,
}

impl Direction {
    /// That of an address byte.
    pub const fn of(address_byte: u8) -> Direction {
        if address_byte & 1 == 0 { Direction::Write } else { Direction::Read }
    }
}

/// A chip's answer to a byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State, Fresh)]
pub struct Answer {
    /// It pulls SDA low in the acknowledge clock.
    pub ack: bool,
    /// It keeps SCL low for so long from the call's time on, before the acknowledge clock.
    pub stretch: Ps,
}

impl Answer {
    /// It takes the byte.
    pub const ACK: Answer = Answer { ack: true, stretch: Ps::ZERO };
    /// It does not.
    pub const NACK: Answer = Answer { ack: false, stretch: Ps::ZERO };

    /// The same, behind a clock that is stretched.
    #[must_use]
    pub const fn stretched(self, stretch: Ps) -> Answer {
        Answer { stretch, ..self }
    }
}

/// A byte that a chip gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
pub struct Given {
    /// What it drives, highest bit first.
    pub byte: u8,
    /// It keeps SCL low for so long from the call's time on, before the first bit's clock.
    pub stretch: Ps,
}

impl Given {
    /// A byte that is there at once.
    pub const fn byte(byte: u8) -> Given {
        Given { byte, stretch: Ps::ZERO }
    }

    /// The same, behind a clock that is stretched.
    #[must_use]
    pub const fn stretched(self, stretch: Ps) -> Given {
        Given { stretch, ..self }
    }
}

/// A chip on an I2C bus. Times are those at which the wire changes, never earlier than in the call before. A chip is
/// not told of what goes on between a START that is followed by another address and the next START.
/// For skipping of polling loops it has nothing to list: each call comes from an event of the master, or from a change
/// of pins, and the master lists how many there were.
///
/// The calls of a frame: [`I2cTarget::address`]; then [`I2cTarget::write`] a byte, or [`I2cTarget::read`] and
/// [`I2cTarget::acknowledged`] a byte, until the master does not acknowledge one; then [`I2cTarget::stop`], or
/// [`I2cTarget::repeated_start`] and the next frame.
pub trait I2cTarget: State + Send {
    /// The chip's own address has come behind a START or a repeated START; `now` is the falling edge behind the
    /// eighth clock.
    fn address(&mut self, direction: Direction, now: Ps) -> Answer;

    /// The address of a general call has come: what follows is written to all chips that acknowledge it. By default
    /// the chip does not.
    fn general_call(&mut self, _now: Ps) -> Answer {
        Answer::NACK
    }

    /// The master has written a byte; `now` is the falling edge behind the eighth clock.
    fn write(&mut self, byte: u8, now: Ps) -> Answer;

    /// The master reads: the next byte that the chip gives; `now` is the falling edge behind the acknowledge before
    /// it. Only called after the chip has acknowledged its address for reading.
    fn read(&mut self, now: Ps) -> Given;

    /// The master has acknowledged the byte that was read, and wants another one, or has not, and then the chip lets
    /// go of SDA; `now` is the falling edge behind the acknowledge clock. [`I2cTarget::read`] follows at the same time
    /// if it has.
    fn acknowledged(&mut self, _ack: bool, _now: Ps) {}

    /// A repeated START has ended the frame, at its falling edge of SDA. Which chip the next frame is for shows with
    /// its address.
    fn repeated_start(&mut self, _now: Ps) {}

    /// A STOP has ended the frame, at its rising edge of SDA. What the chip does on that (store a page) begins at
    /// `now`.
    fn stop(&mut self, now: Ps);

    /// A pin beyond the wire has this level from `now` on. A chip that has no such pin, or whose pin has the level
    /// already, does nothing.
    fn control(&mut self, _pin: ControlPin, _level: bool, _now: Ps) {}

    /// The chip tells from now on what it does, as this one, and declares what that may be. By default it tells
    /// nothing.
    fn observe(&mut self, _scope: Scope) {}

    /// Carries out what the chip does by itself up to `now`. All calls with a time do so as well.
    fn advance(&mut self, _now: Ps) {}

    /// When the chip next does something by itself that shows beyond the wire; `None` if it does nothing by itself. Its
    /// host calls [`I2cTarget::advance`] then.
    fn wakes_at(&self) -> Option<Ps> {
        None
    }

    /// The level of the chip's interrupt pin, as of the last call with a time; `None` if it has none.
    fn interrupt(&self) -> Option<bool> {
        None
    }

    /// What a user should know and the wire does not show, as one line each, taken away by the call.
    fn take_notes(&mut self) -> Vec<String> {
        Vec::new()
    }

    /// What else the chip has for the run; `None` of a chip that never has anything.
    fn chip_report(&mut self) -> Option<&mut ChipReport> {
        None
    }

    /// Named totals since reset, for the results ("conversions", ...).
    fn counters(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }
}

targets_are_chips!(I2cTarget);

//! The I2C wire: two lines with pull-ups, SCL and SDA, which the master and the chips only pull low (NXP UM10204,
//! "I2C-bus specification and user manual", from which sections are cited).
//!
//! A chip sees the bus byte by byte ([`I2cTarget`]), at the edges of SCL that matter to it. Between a START and a STOP,
//! each byte takes eight clocks for its bits, highest first, and a ninth for the receiver's acknowledge:
//!
//! ```text
//!      ___                                                                   ___
//! SDA     \___ 7 bits of address, R/W ___ ACK ___ 8 bits ___ ACK ___ ... ___/
//!      ____    _   _   _   _   _   _   _   _     _                         _____
//! SCL      \__/1\_/2\_/3\_/4\_/5\_/6\_/7\_/8\___/9\___ ...             ___/
//!       START                               A         B                    STOP
//! ```
//!
//! At A, the falling edge after the eighth clock, the receiving chip answers the byte. At B, the falling edge after the
//! acknowledge, the transmitting chip gives its next byte. At both it may stretch the clock: it holds SCL low for some
//! time, and the master waits (3.1.9).

use super::chip::{ControlPin, targets_are_chips};
use super::notes::ChipReport;
use crate::activity::Scope;
use crate::state::{Fresh, State};
use crate::time::Ps;

/// The address of a general call (3.1.13), which all chips may take; its direction is [`Direction::Write`].
pub const GENERAL_CALL: u8 = 0;
/// Addresses of chips: those below and above are reserved (3.1.12).
pub const ADDRESSES: std::ops::RangeInclusive<u32> = 0x08..=0x77;
/// The byte that a master reads while no chip drives SDA.
pub const PULLED_UP: u8 = 0xff;

/// The direction of the bytes after an address: the R/W bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
pub enum Direction {
    /// The master writes to the chip (0).
    Write,
    /// The master reads from the chip (1).
    Read,
}

impl Direction {
    /// The direction in an address byte.
    #[inline]
    pub const fn of(address_byte: u8) -> Direction {
        if address_byte & 1 == 0 { Direction::Write } else { Direction::Read }
    }
}

/// A chip's answer to a byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State, Fresh)]
pub struct Answer {
    /// True if it pulls SDA low in the acknowledge clock.
    pub ack: bool,
    /// It holds SCL low for this long from the call's time on, before the acknowledge clock.
    pub stretch: Ps,
}

impl Answer {
    /// Acknowledges the byte.
    pub const ACK: Answer = Answer { ack: true, stretch: Ps::ZERO };
    /// Does not acknowledge the byte.
    pub const NACK: Answer = Answer { ack: false, stretch: Ps::ZERO };

    /// The same answer after a stretched clock.
    #[must_use]
    #[inline]
    pub const fn stretched(self, stretch: Ps) -> Answer {
        Answer { stretch, ..self }
    }
}

/// A byte that a chip transmits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
pub struct Given {
    /// The byte, highest bit first on the wire.
    pub byte: u8,
    /// It holds SCL low for this long from the call's time on, before the first bit's clock.
    pub stretch: Ps,
}

impl Given {
    /// A byte without clock stretching.
    #[inline]
    pub const fn byte(byte: u8) -> Given {
        Given { byte, stretch: Ps::ZERO }
    }

    /// The same byte after a stretched clock.
    #[must_use]
    #[inline]
    pub const fn stretched(self, stretch: Ps) -> Given {
        Given { stretch, ..self }
    }
}

/// A chip on an I2C bus. Times are those at which the wire changes, and never decrease from call to call. A chip is not
/// notified of the traffic between a START with another address and the next START. For skipping of polling loops it
/// has nothing to list: each call comes from an event of the master, or from a change of pins, and the master lists how
/// many there were.
///
/// The calls of a frame: [`I2cTarget::address`]; then [`I2cTarget::write`] a byte, or [`I2cTarget::read`] and
/// [`I2cTarget::acknowledged`] a byte, until the master does not acknowledge one; then [`I2cTarget::stop`], or
/// [`I2cTarget::repeated_start`] and the next frame.
pub trait I2cTarget: State + Send {
    /// The chip's own address was received after a START or a repeated START; `now` is the falling edge after the
    /// eighth clock.
    fn address(&mut self, direction: Direction, now: Ps) -> Answer;

    /// The address of a general call was received: the following bytes are written to all chips that acknowledge it. By
    /// default the chip does not acknowledge.
    fn general_call(&mut self, _now: Ps) -> Answer {
        Answer::NACK
    }

    /// The master has written a byte; `now` is the falling edge after the eighth clock.
    fn write(&mut self, byte: u8, now: Ps) -> Answer;

    /// The master reads the chip's next byte; `now` is the falling edge after the previous acknowledge. Only called
    /// after the chip has acknowledged its address for reading.
    fn read(&mut self, now: Ps) -> Given;

    /// The ninth clock of a byte that was read has passed. `ack`: the master has acknowledged it and reads another
    /// byte, so that [`I2cTarget::read`] follows at the same time; else the chip releases SDA. `now` is the falling
    /// edge after the acknowledge clock.
    fn acknowledged(&mut self, _ack: bool, _now: Ps) {}

    /// A repeated START has ended the frame, at its falling edge of SDA. The address that follows selects the chip of
    /// the next frame.
    fn repeated_start(&mut self, _now: Ps) {}

    /// A STOP has ended the frame, at its rising edge of SDA. An operation that the STOP starts (store a page) begins
    /// at `now`.
    fn stop(&mut self, now: Ps);

    /// A pin outside of the wire has this level from `now` on. A chip without such a pin, or whose pin has the level
    /// already, does nothing.
    fn control(&mut self, _pin: ControlPin, _level: bool, _now: Ps) {}

    /// Has the chip record its activities from now on, in this scope. By default it has none.
    fn observe(&mut self, _scope: Scope) {}

    /// Carries out the chip's own operations up to `now`. All other calls with a time do so as well.
    fn advance(&mut self, _now: Ps) {}

    /// The time of the chip's next own operation that is visible outside of the wire, if any. Its host
    /// calls [`I2cTarget::advance`] then.
    fn wakes_at(&self) -> Option<Ps> {
        None
    }

    /// The level of the chip's interrupt pin, as of the last call with a time; `None` if it has none.
    fn interrupt(&self) -> Option<bool> {
        None
    }

    /// Messages for the user about what the wire does not show, one line each; the call removes them.
    fn take_notes(&mut self) -> Vec<String> {
        Vec::new()
    }

    /// Further reports of the chip for the run; `None` for a chip that never has any.
    fn chip_report(&mut self) -> Option<&mut ChipReport> {
        None
    }

    /// Named totals since reset, for the results ("conversions", ...).
    fn counters(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }
}

targets_are_chips!(I2cTarget);

//! From clocks to bytes: for chips with one line in each direction that transfer whole bytes, most significant bit
//! first.
//!
//! [`single_lines`] splits a burst of any width into the clocks that such a chip sees; [`ByteLine`] assembles bytes
//! from them. A chip that needs no more implements [`ByteTarget`], and [`OnWire`] connects it to the wire. (A flash
//! uses four lines and both edges, and checks each clock for the controller's errors, so it has its own code for the
//! wire.)

use super::notes::{ChipReport, Notes};
use super::spi::{Burst, ControlPin, Drive, INTERRUPT, Lines, MISO, NextClock, Rate, SpiTarget};
use crate::dt::reader::{Declared, NodeReader};
use crate::polling::{Poll, Polled};
use crate::state::State;
use crate::time::{Cycles, Hz, Ps};

/// Passes the clocks of a burst to a chip with one line in and one line out. `clock` gets the level of IO0 on the
/// rising edge and the number of remaining clocks, and returns the level that the chip drives on IO1. Returns the bits
/// that the controller samples, as [`SpiTarget::shift`] does.
pub fn single_lines(burst: Burst, mut clock: impl FnMut(bool, u32) -> bool) -> u32 {
    let Burst { lines, rate, drive, clocks, bits } = burst;
    let (width, mask) = (burst.bits_per_clock(), u32::from(lines.mask()));
    (0..clocks).rev().fold(0, |sampled, left| {
        // If the controller does not drive there are no bits, and dummy clocks may be more than 32 bits' worth.
        let out = bits.checked_shr(left.saturating_mul(width)).unwrap_or(0);
        let first = if rate == Rate::Double { out >> lines.bits() } else { out };
        // A line without a driver is pulled up; a single line of a controller that only listens is kept low.
        let io0 = match drive {
            Drive::Controller => first & 1 != 0,
            Drive::Target => lines != Lines::Single,
            Drive::Nobody => true,
        };
        let io1 = u32::from(clock(io0, left));
        (0..rate as u32).rev().fold(sampled, |sampled, edge| {
            let echo = if drive == Drive::Controller { out >> (edge * lines.bits()) & mask } else { mask };
            let seen = if lines == Lines::Single { io1 } else { echo & !u32::from(MISO) | io1 << 1 };
            sampled << lines.bits() | seen
        })
    })
}

/// The times of a burst's clocks: evenly spaced from the edge before the first to the end of the last.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    /// The edge before the first clock.
    pub start: Ps,
    /// The end of the last one.
    pub end: Ps,
    /// The number of clocks.
    pub clocks: u32,
}

impl Span {
    /// The end of clock number `clock`, from 1; the start for 0. Rounded down to a picosecond.
    #[inline]
    pub fn at(&self, clock: u32) -> Ps {
        if clock == self.clocks {
            return self.end;
        }
        let length = u128::from(self.end.saturating_sub(self.start).0);
        self.start.saturating_add(Ps((length * u128::from(clock) / u128::from(self.clocks)) as u64))
    }
}

/// The byte that is being shifted.
#[derive(Clone, Copy, Debug, Default, State)]
pub struct ByteLine {
    /// Bits that have passed, 0 to 7, and the bits that were shifted in.
    bits: u32,
    shifter: u8,
}

impl ByteLine {
    /// Bits of the byte that have passed, 0 to 7.
    #[inline]
    pub const fn bits(&self) -> u32 {
        self.bits
    }

    /// The level of the next bit of the byte `out`.
    #[inline]
    pub const fn level(&self, out: u8) -> bool {
        out << self.bits & 0x80 != 0
    }

    /// Shifts in the bit of a clock. Returns the byte if this was its last bit.
    #[inline]
    pub fn clock(&mut self, input: bool) -> Option<u8> {
        self.shifter = self.shifter << 1 | u8::from(input);
        self.bits = (self.bits + 1) % 8;
        (self.bits == 0).then_some(self.shifter)
    }
}

/// A chip that transfers bytes while it is selected. Times never decrease from call to call. [`SpiTarget`] describes
/// the calls that both traits have.
pub trait ByteTarget: State + Send {
    /// Chip select goes active. Returns the byte that the chip sends during the first byte.
    fn select(&mut self, _now: Ps) -> u8 {
        0xff
    }

    /// Byte number `index` of the frame, from 0, was received at `now`. Returns the byte that the chip sends during the
    /// next one. Messages for the user go to `notes`.
    fn byte(&mut self, index: u64, input: u8, now: Ps, notes: &mut Notes<String>) -> u8;

    /// Chip select goes inactive.
    fn deselect(&mut self, _now: Ps) {}

    /// [`SpiTarget::control`].
    fn control(&mut self, _pin: ControlPin, _level: bool, _now: Ps) {}

    /// [`SpiTarget::advance`]. Called before all other calls with a time, too.
    fn advance(&mut self, _now: Ps) {}

    /// [`SpiTarget::wakes_at`].
    fn wakes_at(&self) -> Option<Ps> {
        None
    }

    /// [`SpiTarget::interrupt`].
    fn interrupt(&self) -> Option<bool> {
        None
    }

    /// [`SpiTarget::take_notes`], of other calls than [`ByteTarget::byte`].
    fn take_notes(&mut self) -> Vec<String> {
        Vec::new()
    }

    /// [`SpiTarget::chip_report`].
    fn chip_report(&mut self) -> Option<&mut ChipReport> {
        None
    }

    /// [`SpiTarget::counters`].
    fn counters(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }
}

/// A [`ByteTarget`] on the wire, in SPI modes 0 and 3.
#[derive(State)]
pub struct OnWire<T> {
    chip: T,
    #[state(skip)]
    max_clock: Option<Hz>,
    line: ByteLine,
    /// The byte that is being sent while the chip is selected, and its number in the frame.
    out: Option<u8>,
    index: u64,
    last_edge: Ps,
    /// Counts accesses to the chip: two states with the same number are the same.
    version: u64,
    notes: Notes<String>,
}

impl<T: ByteTarget> OnWire<T> {
    /// The chip of a node, not selected. Reads the properties of all chips on the wire: `reg`, and `spi-max-frequency`
    /// with the default `max_hz`.
    pub fn from_node(chip: T, max_hz: u32, reader: &mut NodeReader) -> OnWire<T> {
        reader.u32("reg", 0..=31, "the chip select line, 0 to 31");
        if chip.interrupt().is_some() {
            reader.declare(Declared::new("interrupts", "interrupts", INTERRUPT));
        }
        let max_clock = reader.frequency_or("spi-max-frequency", Some(max_hz), "the fastest clock that the chip takes");
        let (line, notes) = (ByteLine::default(), Notes::default());
        OnWire { chip, max_clock, line, out: None, index: 0, last_edge: Ps::ZERO, version: 0, notes }
    }

    fn touch(&mut self, now: Ps) {
        self.version += 1;
        self.chip.advance(now);
    }

    /// Notes a clock that is too fast: the burst is shorter than this many clocks at the greatest frequency.
    fn check(&mut self, burst: Burst, span: Span) {
        let length = span.end.saturating_sub(span.start);
        let shortest = self.max_clock.map_or(Ps::ZERO, |hz| hz.ps_at_floor(Cycles(burst.clocks.into())));
        if length < shortest {
            self.notes.add("the clock is faster than spi-max-frequency".to_owned());
        }
        if burst.lines != Lines::Single || burst.rate != Rate::Single {
            self.notes.add("clocks have data on more than one line or edge, which the chip does not know".to_owned());
        }
    }
}

impl<T: ByteTarget> SpiTarget for OnWire<T> {
    fn select(&mut self, now: Ps) {
        self.touch(now);
        self.line = ByteLine::default();
        (self.out, self.index) = (Some(self.chip.select(now)), 0);
        self.last_edge = now;
    }

    fn shift(&mut self, burst: Burst, end: Ps) -> u32 {
        let start = std::mem::replace(&mut self.last_edge, end);
        let Some(mut out) = self.out else { return u32::MAX };
        let span = Span { start, end, clocks: burst.clocks };
        self.check(burst, span);
        let sampled = single_lines(burst, |io0, left| {
            let level = self.line.level(out);
            if let Some(byte) = self.line.clock(io0) {
                let now = span.at(burst.clocks - left);
                self.touch(now);
                out = self.chip.byte(self.index, byte, now, &mut self.notes);
                self.index += 1;
            }
            level
        });
        self.version += 1;
        self.out = Some(out);
        sampled
    }

    fn deselect(&mut self, now: Ps) {
        if self.out.take().is_some() {
            self.touch(now);
            self.chip.deselect(now);
            if self.line.bits() > 0 {
                self.notes.add("chip select went inactive within a byte, which is lost".to_owned());
            }
        }
    }

    fn control(&mut self, pin: ControlPin, level: bool, now: Ps) {
        self.touch(now);
        self.chip.control(pin, level, now);
    }

    fn advance(&mut self, now: Ps) {
        self.chip.advance(now);
    }

    fn wakes_at(&self) -> Option<Ps> {
        self.chip.wakes_at()
    }

    fn interrupt(&self) -> Option<bool> {
        self.chip.interrupt()
    }

    fn next_clock(&self) -> NextClock {
        let level = |out| if self.line.level(out) { MISO } else { 0 };
        let shown = |out| NextClock { rate: Rate::Single, driven: MISO, levels: [level(out); 2] };
        self.out.map_or_else(NextClock::default, shown)
    }

    fn take_notes(&mut self) -> Vec<String> {
        self.chip.take_notes().into_iter().for_each(|note| self.notes.add(note));
        self.notes.take()
    }

    fn chip_report(&mut self) -> Option<&mut ChipReport> {
        self.chip.chip_report()
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        self.chip.counters()
    }
}

impl<T: ByteTarget> Polled for OnWire<T> {
    fn polled(&mut self, poll: &mut Poll) -> bool {
        poll.state(self.version);
        if let Some(at) = self.chip.wakes_at() {
            poll.until(at);
        }
        true
    }
}

//! The SPI wire: 1, 2 or 4 data lines, seen clock by clock.
//!
//! A controller drives a [`SpiTarget`] with bursts of clocks in which nothing about the lines changes. The target keeps
//! its own idea of what each clock means (command, address, mode, dummy, data), as the chip does: a controller that
//! sends too few dummy clocks, or on the wrong number of lines, reads wrong data, and nobody has to detect it.

use super::chip::targets_are_chips;
pub use super::chip::{CONTROLS, ControlPin, INTERRUPT};
use crate::activity::Scope;
use crate::host_image::{HostImage, ImageError};
use crate::polling::Poll;
use crate::state::{Fresh, State};
use crate::time::{Cycles, Hz, Ps};
use crate::wire::notes::ChipReport;

/// IO1 among a target's lines, on which a chip with single lines answers.
pub const MISO: u8 = 0b10;
/// What a controller samples while nobody drives the lines.
pub const PULLED_UP: u32 = u32::MAX;

/// How many data lines carry bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, State, Fresh)]
pub enum Lines {
    /// Standard SPI: IO0 (MOSI) from the controller, IO1 (MISO) from the target, both at once.
    Single = 1,
    /// IO0 and IO1, one direction at a time.
    Dual = 2,
    /// IO0 to IO3, one direction at a time.
    Quad = 4,
}

impl Lines {
    /// Data bits on an edge of the clock that carries data.
    pub const fn bits(self) -> u32 {
        self as u32
    }

    /// Clocks that `bits` take at the single rate; a part of a clock counts as a whole one.
    pub const fn clocks(self, bits: u32) -> u32 {
        bits.div_ceil(self as u32)
    }

    /// The lines as a mask: bit n stands for IOn.
    pub const fn mask(self) -> u8 {
        (1 << self as u32) - 1
    }
}

/// How many edges of a clock carry bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, State, Fresh)]
pub enum Rate {
    /// One: both sides sample on the rising edge.
    #[default]
    Single = 1,
    /// Both (DDR, DTR): the rising edge and then the falling one.
    Double = 2,
}

/// Who puts bits on the lines during a burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
pub enum Drive {
    /// The controller drives all `lines` (on a single line: IO0), and samples what the target drives on IO1 if single.
    Controller,
    /// The controller has let go of all lines and samples them; on a single line IO0 stays driven low.
    Target,
    /// Dummy clocks: the controller has let go of all lines, and does not look at them either.
    Nobody,
}

/// Clocks in which width, rate and direction stay the same. At most 32 bits of data: `clocks * lines * rate <= 32`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
pub struct Burst {
    /// Width of the data.
    pub lines: Lines,
    /// Edges with data in a clock.
    pub rate: Rate,
    /// Who drives.
    pub drive: Drive,
    /// Number of serial clocks.
    pub clocks: u32,
    /// What the controller drives, right-aligned, first edge in the highest bits; 0 where it does not.
    pub bits: u32,
}

impl Burst {
    /// `bits` bits of `data` from the controller, a whole number of clocks, highest first.
    pub const fn output(lines: Lines, rate: Rate, bits: u32, data: u32) -> Burst {
        Burst { lines, rate, drive: Drive::Controller, clocks: clocks_of(bits, lines, rate), bits: data }
    }

    /// `bits` bits to the controller, a whole number of clocks.
    pub const fn input(lines: Lines, rate: Rate, bits: u32) -> Burst {
        Burst { lines, rate, drive: Drive::Target, clocks: clocks_of(bits, lines, rate), bits: 0 }
    }

    /// Dummy clocks for which the controller lets go of the lines.
    pub const fn dummy(lines: Lines, clocks: u32) -> Burst {
        Burst { lines, rate: Rate::Single, drive: Drive::Nobody, clocks, bits: 0 }
    }

    /// One byte from the controller at the single rate.
    pub const fn byte_out(lines: Lines, byte: u8) -> Burst {
        Burst::output(lines, Rate::Single, 8, byte as u32)
    }

    /// One byte to the controller at the single rate.
    pub const fn byte_in(lines: Lines) -> Burst {
        Burst::input(lines, Rate::Single, 8)
    }

    /// Data bits a clock.
    pub const fn bits_per_clock(&self) -> u32 {
        self.lines as u32 * self.rate as u32
    }
}

/// Clocks of so many bits, a whole number; lines and rates are powers of two.
const fn clocks_of(bits: u32, lines: Lines, rate: Rate) -> u32 {
    bits >> (lines as u32 * rate as u32).trailing_zeros()
}

/// The most bursts of a [`Header`].
const MOST_HEADER_BURSTS: usize = 4;

/// What a read sends in front of its data: the same for all addresses, but for the address itself. Controllers make it
/// once for their settings.
#[derive(Clone, Copy, Debug, State, Fresh)]
pub struct Header {
    bursts: [Burst; MOST_HEADER_BURSTS],
    count: usize,
    /// The burst that has the address, its bits, and the bits behind them.
    address: (usize, u32, u32),
    /// Its serial clocks.
    pub clocks: u32,
    /// Lines and rate of the data behind it, in which the controller listens.
    pub data: (Lines, Rate),
    /// What the serial clock is divided from, and by how much.
    pub clock: (Hz, u64),
    /// Tells it from all others of its controller.
    pub version: u32,
}

impl Header {
    /// Without any clocks so far.
    pub const fn new(data: (Lines, Rate), clock: (Hz, u64), version: u32) -> Header {
        let bursts = [Burst::dummy(Lines::Single, 0); MOST_HEADER_BURSTS];
        // No burst has the address yet.
        let address = (MOST_HEADER_BURSTS, 0, 0);
        Header { bursts, count: 0, address, clocks: 0, data, clock, version }
    }

    /// The same with a burst behind it, if that has any clocks.
    #[must_use]
    pub const fn with(mut self, burst: Burst) -> Header {
        if burst.clocks == 0 {
            return self;
        }
        self.bursts[self.count] = burst;
        self.count += 1;
        self.clocks += burst.clocks;
        self
    }

    /// The same with the address behind it, of 24 or 32 bits, and so many further `bits` of `data` on the same lines.
    #[must_use]
    pub const fn with_address(
        mut self,
        lines: Lines,
        rate: Rate,
        address_bits: u32,
        (bits, data): (u32, u32),
    ) -> Header {
        self.address = (self.count, address_bits, bits);
        self.with(Burst::output(lines, rate, address_bits + bits, data))
    }

    /// Its bursts, for an address.
    pub fn bursts(&self, address: u32) -> impl Iterator<Item = Burst> {
        let (at, bits, after) = self.address;
        let address = (address & u32::MAX >> (32 - bits.max(1))) << after;
        let bursts = self.bursts.into_iter().take(self.count).enumerate();
        bursts
            .map(move |(index, burst)| if index == at { Burst { bits: burst.bits | address, ..burst } } else { burst })
    }

    /// The least that so many clocks take, wherever they begin: times of edges are rounded down.
    pub const fn least(&self, clocks: u32) -> Ps {
        let (source, period) = self.clock;
        source.ps_at_floor(Cycles(clocks as u64 * period))
    }
}

/// What the target is about to do in the clock that comes next.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NextClock {
    /// Edges on which it takes or changes bits.
    pub rate: Rate,
    /// Lines that it drives: bit n is IOn.
    pub driven: u8,
    /// Levels of those lines around the rising edge and, at the double rate, around the falling one; 0 on all others.
    pub levels: [u8; 2],
}

/// A read in which the target's next clock begins a byte that it stores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NextRead {
    /// The byte's address. The next ones follow it.
    pub address: u32,
    /// The last address that there is, all ones: behind it comes 0.
    pub last_address: u32,
    /// The width at which bytes come.
    pub lines: Lines,
}

/// Where the edges of a burst of clocks lie, for chips that hold a controller to limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
pub struct Edges {
    /// IO0 has had the level of the first bit since.
    pub data_since: Ps,
    /// Rising edge of the first clock.
    pub first_rise: Ps,
    /// From rising edge to rising edge; the same in the whole burst, and of no meaning where that is one clock.
    pub period: Ps,
    /// How long each clock is high.
    pub high: Ps,
    /// IO0 keeps the level of each bit for so long from the rising edge on: until it changes, or the clock falls.
    pub held: Ps,
}

/// A chip on an SPI wire. Times are those at which the wire changes, never earlier than in the call before.
pub trait SpiTarget: State + Send {
    /// Chip select goes active.
    fn select(&mut self, now: Ps);

    /// `burst.clocks` serial clocks pass, the last of them ending at `end`. Returns the bits that the controller
    /// samples (right-aligned, first edge highest, `clocks * lines * rate` of them, of the last 32 if dummy clocks are
    /// more); a line that nobody drives reads 1, as pulled up.
    fn shift(&mut self, burst: Burst, end: Ps) -> u32;

    /// The same as [`SpiTarget::select`] and [`SpiTarget::shift`] of the bursts of `header`, of a chip that is not
    /// selected, and whose data clocks follow at once. False, with nothing done, unless the chip knows beforehand what
    /// comes of it, whenever that is: whole bytes that it stores, from `address` on, without a note; and that a further
    /// such frame behind this one is no different.
    fn open_read(&mut self, _header: &Header, _address: u32) -> bool {
        false
    }

    /// The same as [`SpiTarget::shift`] of 32 bits to the controller, in a frame of [`SpiTarget::open_read`]. `None`,
    /// with nothing done, where it is not as simple as that.
    fn read_on(&mut self) -> Option<u32> {
        None
    }

    /// True if the chip is in a frame of [`SpiTarget::open_read`], in which each [`SpiTarget::read_on`] gives a word,
    /// and would be in one behind each further one.
    fn reads_on(&self) -> bool {
        false
    }

    /// The word that such a frame at `address` begins with; false if there is none.
    fn peek_word(&self, _address: u32, _into: &mut [u8; 4]) -> bool {
        false
    }

    /// Where [`SpiTarget::reads_on`] holds, further such frames have been read, of `bytes` in all, the last of them up
    /// to `address`.
    fn has_read(&mut self, _bytes: u64, _address: u32) {}

    /// The same as [`SpiTarget::deselect`], if the chip is in a frame of [`SpiTarget::open_read`]; else false, with
    /// nothing done.
    fn close_read(&mut self) -> bool {
        false
    }

    /// Chip select goes inactive. What the chip does on this edge (program, erase) begins at `now`.
    fn deselect(&mut self, now: Ps);

    /// Tells where the edges of the clocks of the next [`SpiTarget::shift`] lie. A controller that does not know that
    /// does not call this.
    fn edges(&mut self, _edges: Edges) {}

    /// The clock, which was high as chip select went active (SPI modes 2 and 3), falls before it has risen in this
    /// frame.
    fn falls_first(&mut self, _now: Ps) {}

    /// A pin beyond the wire has this level from `now` on. A chip that has no such pin, or whose pin has the level
    /// already, does nothing.
    fn control(&mut self, _pin: ControlPin, _level: bool, _now: Ps) {}

    /// The chip tells from now on what it does, as this one, and declares what that may be. By default it tells
    /// nothing.
    fn observe(&mut self, _scope: Scope) {}

    /// Carries out what the chip does by itself up to `now`. All calls with a time do so as well.
    fn advance(&mut self, _now: Ps) {}

    /// When the chip next does something by itself that shows beyond the wire; `None` if it does nothing by itself. Its
    /// host calls [`SpiTarget::advance`] then.
    fn wakes_at(&self) -> Option<Ps> {
        None
    }

    /// The level of the chip's interrupt pin, as of the last call with a time; `None` if it has none.
    fn interrupt(&self) -> Option<bool> {
        None
    }

    /// `clocks` serial clocks pass while chip select is inactive, IO0 high, the last of them ending at `end`: a memory
    /// card counts them at power-up.
    fn idle_clocks(&mut self, _clocks: u32, _end: Ps) {}

    /// False once a removable chip is out of its slot, as the slot's switch shows it. Where that changes at a fixed
    /// time, [`SpiTarget::polled`] names the time as a deadline.
    fn present(&self, _now: Ps) -> bool {
        true
    }

    /// True if the chip's slot shows that it is write-protected.
    fn write_protected(&self) -> bool {
        false
    }

    /// Lists all state that answers can depend on, for skipping of polling loops, as
    /// [`crate::bus::device::Device::polled`] does. Deadlines are times of the wire. Clocks that have been shifted may
    /// lie ahead of the list: their end is for the controller to list.
    fn polled(&mut self, _poll: &mut Poll) -> bool {
        false
    }

    /// What the target does in the next clock, as far as the lines show it: for a controller whose pins are driven and
    /// read by hand. Without side effects. By default it drives nothing.
    fn next_clock(&self) -> NextClock {
        NextClock::default()
    }

    /// What the lines show at `now`, while the next clock has not come: a chip whose output has a delay still shows the
    /// level before. Without side effects.
    fn next_clock_at(&self, _now: Ps) -> NextClock {
        self.next_clock()
    }

    /// A copy, on which a controller can try what the chip would do, if the chip can be copied cheaply.
    fn copy(&self) -> Option<Box<dyn SpiTarget>> {
        None
    }

    /// The read that is going on, if its next clock at the single rate begins a stored byte and the bytes after it
    /// follow.
    fn next_read(&self) -> Option<NextRead> {
        None
    }

    /// What a user should know and the wire does not show (a frame that the chip ignored, a wait too short), as one
    /// line each, taken away by the call.
    fn take_notes(&mut self) -> Vec<String> {
        Vec::new()
    }

    /// What else the chip has for the run; `None` of a chip that never has anything.
    fn chip_report(&mut self) -> Option<&mut ChipReport> {
        None
    }

    /// Stored bytes from `addr` on, copied to `into` without time or side effects: what a controller's execute-in-place
    /// window shows. `false` if the chip stores none there.
    fn peek(&self, _addr: u32, _into: &mut [u8]) -> bool {
        false
    }

    /// Stores bytes from `addr` on, as a programmer or a debugger does before the run: without time, and whatever was
    /// there before. `false`, with nothing stored, if the chip has no such place.
    fn preload(&mut self, _addr: u32, _bytes: &[u8]) -> bool {
        false
    }

    /// The file on the host that keeps what the chip stores, if it has one.
    fn image(&mut self) -> Option<&mut HostImage> {
        None
    }

    /// A run begins: the chip takes its image ([`HostImage::take`]), and stores what that holds by now.
    ///
    /// # Errors
    /// Those of an image that can't be used, or that another run has.
    fn begin_run(&mut self) -> Result<(), ImageError> {
        Ok(())
    }

    /// The run is over: what the chip still holds for its image is written. The machine releases it then.
    ///
    /// # Errors
    /// What the image lacks, or may lack, of what the firmware stored.
    fn finish(&mut self, _now: Ps) -> Result<(), ImageError> {
        Ok(())
    }

    /// Named totals since reset, for the results ("pages_programmed", ...).
    fn counters(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }
}

targets_are_chips!(SpiTarget);

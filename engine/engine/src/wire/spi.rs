//! The SPI wire: 1, 2 or 4 data lines, clock by clock.
//!
//! A controller drives a [`SpiTarget`] with bursts of clocks in which width, rate and direction stay the same. The
//! target keeps its own state of what each clock means (command, address, mode, dummy, data), as the chip does: a
//! controller that sends too few dummy clocks, or uses the wrong number of lines, reads wrong data.

use super::chip::targets_are_chips;
pub use super::chip::{CONTROLS, ControlPin, INTERRUPT};
use crate::activity::Scope;
use crate::host_image::{HostImage, ImageError};
use crate::polling::Polled;
use crate::state::{Fresh, State};
use crate::time::{Cycles, Hz, Ps};
use crate::wire::notes::ChipReport;

/// IO1 among a target's lines, on which a chip with single lines answers.
pub const MISO: u8 = 0b10;
/// The bits that a controller samples while no side drives the lines.
pub const PULLED_UP: u32 = u32::MAX;

/// How many data lines carry bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, State, Fresh, Polled)]
pub enum Lines {
    /// Standard SPI: IO0 (MOSI) from the controller, IO1 (MISO) from the target, both at once.
    #[default]
    Single = 1,
    /// IO0 and IO1, one direction at a time.
    Dual = 2,
    /// IO0 to IO3, one direction at a time.
    Quad = 4,
}

impl Lines {
    /// Data bits on an edge of the clock that carries data.
    #[inline]
    pub const fn bits(self) -> u32 {
        self as u32
    }

    /// Clocks for `bits` at the single rate, rounded up.
    #[inline]
    pub const fn clocks(self, bits: u32) -> u32 {
        bits.div_ceil(self as u32)
    }

    /// The lines as a mask: bit n stands for IOn.
    #[inline]
    pub const fn mask(self) -> u8 {
        (1 << self as u32) - 1
    }
}

/// How many edges of a clock carry bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, State, Fresh, Polled)]
pub enum Rate {
    /// One: both sides sample on the rising edge.
    #[default]
    Single = 1,
    /// Both (DDR, DTR): the rising edge and then the falling one.
    Double = 2,
}

/// The side that drives the lines during a burst.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
pub enum Drive {
    /// The controller drives all `lines` (on a single line: IO0), and samples what the target drives on IO1 if single.
    Controller,
    /// The controller has released all lines and samples them; on a single line IO0 stays driven low.
    Target,
    /// Dummy clocks: the controller has released all lines, and does not sample them.
    Nobody,
}

/// Clocks in which width, rate and direction stay the same. At most 32 bits of data: `clocks * lines * rate <= 32`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
pub struct Burst {
    /// Width of the data.
    pub lines: Lines,
    /// Edges with data in a clock.
    pub rate: Rate,
    /// The side that drives.
    pub drive: Drive,
    /// Number of serial clocks.
    pub clocks: u32,
    /// The bits that the controller drives, right-aligned, first edge in the highest bits; 0 if it does not drive.
    pub bits: u32,
}

impl Burst {
    /// `bits` bits of `data` from the controller, a whole number of clocks, highest first.
    #[inline]
    pub const fn output(lines: Lines, rate: Rate, bits: u32, data: u32) -> Burst {
        Burst { lines, rate, drive: Drive::Controller, clocks: clocks_of(bits, lines, rate), bits: data }
    }

    /// `bits` bits to the controller, a whole number of clocks.
    #[inline]
    pub const fn input(lines: Lines, rate: Rate, bits: u32) -> Burst {
        Burst { lines, rate, drive: Drive::Target, clocks: clocks_of(bits, lines, rate), bits: 0 }
    }

    /// Dummy clocks for which the controller releases the lines.
    #[inline]
    pub const fn dummy(lines: Lines, clocks: u32) -> Burst {
        Burst { lines, rate: Rate::Single, drive: Drive::Nobody, clocks, bits: 0 }
    }

    /// One byte from the controller at the single rate.
    #[inline]
    pub const fn byte_out(lines: Lines, byte: u8) -> Burst {
        Burst::output(lines, Rate::Single, 8, byte as u32)
    }

    /// One byte to the controller at the single rate.
    #[inline]
    pub const fn byte_in(lines: Lines) -> Burst {
        Burst::input(lines, Rate::Single, 8)
    }

    /// Data bits a clock.
    #[inline]
    pub const fn bits_per_clock(&self) -> u32 {
        self.lines as u32 * self.rate as u32
    }
}

/// Clocks for this many bits, a whole number; lines and rates are powers of two.
const fn clocks_of(bits: u32, lines: Lines, rate: Rate) -> u32 {
    bits >> (lines as u32 * rate as u32).trailing_zeros()
}

/// The largest number of bursts in a [`Header`].
const MOST_HEADER_BURSTS: usize = 4;

/// The part of a read before its data: the same for all addresses except for the address itself. Controllers make it
/// once for their settings.
#[derive(Clone, Copy, Debug, State, Fresh)]
pub struct Header {
    bursts: [Burst; MOST_HEADER_BURSTS],
    count: usize,
    /// The index of the burst with the address, the number of its address bits, and the bits after them.
    address: (usize, u32, u32),
    /// Its serial clocks.
    pub clocks: u32,
    /// Lines and rate of the data after it, which the controller samples.
    pub data: (Lines, Rate),
    /// The clock from which the serial clock is divided, and the divider.
    pub clock: (Hz, u64),
    /// Identifies this header among all headers of its controller.
    pub version: u32,
}

impl Header {
    /// A header without clocks.
    pub const fn new(data: (Lines, Rate), clock: (Hz, u64), version: u32) -> Header {
        let bursts = [Burst::dummy(Lines::Single, 0); MOST_HEADER_BURSTS];
        // No burst has the address yet.
        let address = (MOST_HEADER_BURSTS, 0, 0);
        Header { bursts, count: 0, address, clocks: 0, data, clock, version }
    }

    /// Appends a burst, if it has any clocks.
    #[must_use]
    #[inline]
    pub const fn with(mut self, burst: Burst) -> Header {
        if burst.clocks == 0 {
            return self;
        }
        self.bursts[self.count] = burst;
        self.count += 1;
        self.clocks += burst.clocks;
        self
    }

    /// Appends the address, of 24 or 32 bits, and `bits` further bits of `data` on the same lines.
    #[must_use]
    #[inline]
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
    #[inline]
    pub fn bursts(&self, address: u32) -> impl Iterator<Item = Burst> {
        let (at, bits, after) = self.address;
        let address = (address & u32::MAX >> (32 - bits.max(1))) << after;
        let bursts = self.bursts.into_iter().take(self.count).enumerate();
        bursts
            .map(move |(index, burst)| if index == at { Burst { bits: burst.bits | address, ..burst } } else { burst })
    }

    /// The shortest time of this many clocks, wherever they begin: times of edges are rounded down.
    #[inline]
    pub const fn least(&self, clocks: u32) -> Ps {
        let (source, period) = self.clock;
        source.ps_at_floor(Cycles(clocks as u64 * period))
    }
}

/// The target's output in the next clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct NextClock {
    /// Edges on which it takes or changes bits.
    pub rate: Rate,
    /// Lines that it drives: bit n is IOn.
    pub driven: u8,
    /// Levels of those lines around the rising edge and, at the double rate, around the falling one; 0 on all others.
    pub levels: [u8; 2],
}

/// A read in which the target's next clock begins a stored byte.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NextRead {
    /// The byte's address. The next bytes follow it.
    pub address: u32,
    /// The last address, all ones: address 0 follows it.
    pub last_address: u32,
    /// The width at which bytes come.
    pub lines: Lines,
}

/// The edges of a burst of clocks, for chips that check a controller's timing limits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
pub struct Edges {
    /// The time since which IO0 has had the level of the first bit.
    pub data_since: Ps,
    /// Rising edge of the first clock.
    pub first_rise: Ps,
    /// From rising edge to rising edge; the same in the whole burst, and without meaning for a burst of one clock.
    pub period: Ps,
    /// The time for which each clock is high.
    pub high: Ps,
    /// The hold time of IO0: from the rising edge until the level changes or the clock falls.
    pub held: Ps,
}

/// A chip on an SPI wire. Times are those at which the wire changes, and never decrease from call to call.
///
/// In the list of a polling loop ([`Polled`]), deadlines are times of the wire. Clocks that have been shifted may lie
/// ahead of the list: the controller lists their end.
pub trait SpiTarget: State + Polled + Send {
    /// Chip select goes active.
    fn select(&mut self, now: Ps);

    /// `burst.clocks` serial clocks pass, the last of them ending at `end`. Returns the bits that the controller
    /// samples (right-aligned, first edge highest, `clocks * lines * rate` bits, or the last 32 if dummy clocks are
    /// more); a line without a driver reads 1, as pulled up.
    fn shift(&mut self, burst: Burst, end: Ps) -> u32;

    /// Begins a repeated read: same effect as [`SpiTarget::select`] and [`SpiTarget::shift`] of the bursts of `header`,
    /// on a chip that is not selected; the data clocks follow at once. Returns false, and does nothing, unless the chip
    /// can predict the result for any time: whole stored bytes from `address` on, without a note, and the same for
    /// every further frame of this kind.
    fn start_repeated_read(&mut self, _header: &Header, _address: u32) -> bool {
        false
    }

    /// Reads the next word of a repeated read: same effect as [`SpiTarget::shift`] of 32 bits to the controller.
    /// Returns `None`, and does nothing, if the word needs more than a fetch of stored bytes.
    fn read_next_word(&mut self) -> Option<u32> {
        None
    }

    /// True if the chip is in a repeated read in which each [`SpiTarget::read_next_word`] gives a word, and in which
    /// every further such frame would do so.
    fn can_repeat_read(&self) -> bool {
        false
    }

    /// Copies the first word of a repeated read at `address`; false if there is no such word.
    fn peek_word(&self, _address: u32, _into: &mut [u8; 4]) -> bool {
        false
    }

    /// Accounts for further frames of a repeated read, where [`SpiTarget::can_repeat_read`] holds: `bytes` in all, the
    /// last of them up to `address`.
    fn skip_repeated_reads(&mut self, _bytes: u64, _address: u32) {}

    /// Ends a repeated read: same effect as [`SpiTarget::deselect`]. Returns false, and does nothing, if the chip is in
    /// no repeated read.
    fn end_repeated_read(&mut self) -> bool {
        false
    }

    /// Chip select goes inactive. Operations that start on this edge (program, erase) begin at `now`.
    fn deselect(&mut self, now: Ps);

    /// Gives the times of the edges of the next [`SpiTarget::shift`]. A controller that does not know them does not
    /// call this.
    fn edges(&mut self, _edges: Edges) {}

    /// The clock, which was high when chip select went active (SPI modes 2 and 3), falls before its first rise in this
    /// frame.
    fn falls_first(&mut self, _now: Ps) {}

    /// A pin outside of the wire has this level from `now` on. A chip without such a pin, or whose pin has the level
    /// already, does nothing.
    fn control(&mut self, _pin: ControlPin, _level: bool, _now: Ps) {}

    /// Has the chip record its activities from now on, in this scope. By default it has none.
    fn observe(&mut self, _scope: Scope) {}

    /// Carries out the chip's own operations up to `now`. All other calls with a time do so as well.
    fn advance(&mut self, _now: Ps) {}

    /// The time of the chip's next own operation that is visible outside of the wire, if any. Its host
    /// calls [`SpiTarget::advance`] then.
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

    /// False once a removable chip is out of its slot, as the slot's switch shows it. If that changes at a fixed time,
    /// [`Polled::polled`] gives the time as a deadline.
    fn present(&self, _now: Ps) -> bool {
        true
    }

    /// True if the chip's slot shows that it is write-protected.
    fn write_protected(&self) -> bool {
        false
    }

    /// The target's output in the next clock: for a controller whose pins firmware drives
    /// and reads by hand. Without side effects. By default it drives nothing.
    fn next_clock(&self) -> NextClock {
        NextClock::default()
    }

    /// The levels of the lines at `now`, before the next clock: a chip with an output delay still shows the previous
    /// level. Without side effects.
    fn next_clock_at(&self, _now: Ps) -> NextClock {
        self.next_clock()
    }

    /// A copy on which a controller can try an access, if the chip can be copied cheaply.
    fn copy(&self) -> Option<Box<dyn SpiTarget>> {
        None
    }

    /// The read in progress, if its next clock at the single rate begins a stored byte and the following bytes come
    /// after it.
    fn next_read(&self) -> Option<NextRead> {
        None
    }

    /// Messages for the user about what the wire does not show (a frame that the chip ignored, a wait that was too
    /// short), one line each; the call removes them.
    fn take_notes(&mut self) -> Vec<String> {
        Vec::new()
    }

    /// Further reports of the chip for the run; `None` for a chip that never has any.
    fn chip_report(&mut self) -> Option<&mut ChipReport> {
        None
    }

    /// Copies stored bytes from `addr` on to `into`, without time or side effects, for a controller's execute-in-place
    /// window. False if the chip has no stored bytes there.
    fn peek(&self, _addr: u32, _into: &mut [u8]) -> bool {
        false
    }

    /// Stores bytes from `addr` on, as a programmer or a debugger does before the run: without time, whatever the
    /// previous contents. False, with nothing stored, if the chip has no such address.
    fn preload(&mut self, _addr: u32, _bytes: &[u8]) -> bool {
        false
    }

    /// The file on the host that keeps the stored contents, if there is one.
    fn image(&mut self) -> Option<&mut HostImage> {
        None
    }

    /// A run begins: the chip takes its image ([`HostImage::take`]), and loads its present contents.
    ///
    /// # Errors
    /// Those of an image that can't be used, or that another run has.
    fn begin_run(&mut self) -> Result<(), ImageError> {
        Ok(())
    }

    /// The run is over: the chip writes the contents that its image does not have yet. The machine releases the image
    /// then.
    ///
    /// # Errors
    /// The parts of the stored contents that the image lacks, or may lack.
    fn finish(&mut self, _now: Ps) -> Result<(), ImageError> {
        Ok(())
    }

    /// Named totals since reset, for the results ("pages_programmed", ...).
    fn counters(&self) -> Vec<(&'static str, u64)> {
        Vec::new()
    }
}

targets_are_chips!(SpiTarget);

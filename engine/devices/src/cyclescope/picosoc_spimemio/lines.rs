//! The stream on the SPI wire: every clock that the interface sends, and the data that the flash returns.
//!
//! SCK is half the SoC's clock. Frames that the stream's arithmetic has computed become bursts here; a word's bits are
//! those that the flash returned.
//!
//! Waveforms show the pins, which are registers: a change in one cycle is on the pins in the next.

use super::look::Ahead;
use super::mode::{CLOCK_CYCLES, Mode};
use super::stream::{COMMAND_CYCLES, Frames};
use crate::prelude::*;
use crate::support::hosted_chip::HostedChip;
use crate::support::memory_wire::{FrameTiming, MemoryWire};
use engine::wire::spi::{Burst, Header, Lines, Rate};
use engine::wire::spi_pins::PinLevels;

/// The start of the preamble's three commands, in cycles before its end. In the first of the two cycles between two
/// commands, chip select is still active.
const PREAMBLE_STARTS: [u64; 3] = [52, 34, 16];
/// Leaves continuous read.
const MODE_BIT_RESET: u8 = 0xff;
/// Leaves deep power-down.
const RELEASE_POWER_DOWN: u8 = 0xab;

/// The wire, and the flash on it.
#[derive(State, Polled)]
pub struct Wire {
    /// The wire, in cycles of the SoC's clock. Its next clock begins the next word, unless that is held back.
    pub line: MemoryWire,
    /// The settings of flash reads.
    #[poll(skip = "its setter lists it")]
    pub(super) mode: Mode,
    /// The header of a frame with these settings.
    #[poll(skip = "follows from the mode")]
    header: Header,
    /// A jump's frame is about to begin at this cycle, with the command if true.
    begins: Option<(u64, bool)>,
    /// The word that was read last, as the core sees it.
    pub word: u32,
    /// True if no request for that word has come.
    pub unused: bool,
    /// Words that were read without a request and dropped.
    #[poll(total)]
    pub words_unused: u64,
    /// Frames that were started by a jump.
    #[poll(total)]
    pub jumps: u64,
    /// Clocks that have already been sent because firmware reads the lines.
    pub(super) ahead: Ahead,
}

impl Wire {
    /// An idle wire.
    pub fn new(clock: Hz, chip: HostedChip) -> Wire {
        // Chip select is inactive for a cycle between two frames.
        let timing = FrameTiming { period: CLOCK_CYCLES, inactive: 1, shown_after: 1, ..FrameTiming::default() };
        Wire {
            line: MemoryWire::new(clock, chip, timing),
            mode: Mode::RESET,
            header: header(Mode::RESET, clock, 0),
            begins: None,
            word: 0,
            unused: false,
            words_unused: 0,
            jumps: 0,
            ahead: Ahead::default(),
        }
    }

    /// Sets the settings of flash reads from now on.
    pub fn set_mode(&mut self, mode: Mode) {
        self.mode = mode;
        self.header = header(mode, self.line.clock, self.header.version.wrapping_add(1));
    }

    /// Drops the held word.
    pub fn drop_word(&mut self) {
        self.words_unused += u64::from(std::mem::take(&mut self.unused));
    }

    /// Chip select goes inactive, if it is active, for the cycle before `start`, whatever is on the wire.
    #[inline]
    fn end(&mut self, start: u64) {
        self.line.free = start - 1;
        self.line.deselect(start - 1);
    }

    /// Makes chip select inactive for a cycle, if it is active, and active at `start`.
    fn begin(&mut self, start: u64) {
        self.end(start);
        self.line.select(start);
    }

    /// True if the chip has no reaction to the end of the frame or to the start of another one.
    #[inline]
    pub fn jumps_quietly(&self) -> bool {
        self.line.selected && self.line.ends_quietly()
    }

    /// The preamble's commands, with the start of each.
    pub(super) fn preamble_frames(&self, ready: u64) -> [(u64, u8); 3] {
        let commands = [MODE_BIT_RESET, RELEASE_POWER_DOWN, self.mode.width.opcode];
        std::array::from_fn(|index| (ready - PREAMBLE_STARTS[index], commands[index]))
    }

    /// Sends the commands of the preamble that begin before `until`, with those of their clocks that have ended at
    /// `over`, except for clocks that have been sent already. A command in progress has begun by `over`.
    pub(super) fn send_preamble(&mut self, ready: u64, until: u64, over: u64) {
        let passed = self.ahead.frames.saturating_sub(1);
        for (index, (start, command)) in self.preamble_frames(ready).into_iter().enumerate().skip(passed) {
            if start >= until {
                break;
            }
            if index == self.ahead.frames {
                self.begin(start);
                self.ahead = Ahead::begun(index + 1);
            }
            let from = self.ahead.clocks;
            self.ahead.clocks = (over.min(start + COMMAND_CYCLES) - start) as u32 / 2;
            let rest = command.unbounded_shl(from);
            self.command(start + 2 * u64::from(from), rest, self.ahead.clocks - from);
        }
    }

    /// The first `clocks` bits of a command byte, on one line.
    fn command(&mut self, start: u64, command: u8, clocks: u32) {
        let bits = u32::from(command) >> (8 - clocks);
        self.shift(Burst::output(Lines::Single, Rate::Single, clocks, bits), start);
    }

    /// Sends a burst that begins at `start`; returns the cycle after it.
    fn shift(&mut self, burst: Burst, start: u64) -> u64 {
        self.line.free = start;
        if burst.clocks > 0 {
            self.line.shift(start, burst);
        }
        self.line.free
    }

    /// Shows the clocks of a word that have been sent, with their bits: three bytes directly after the previous word,
    /// then the last one from `last_byte` on.
    #[inline]
    fn show_word(&self, clocks: u32, bits: u32, last_byte: u64) {
        if self.line.signals.are_recorded() {
            self.show_clocks(clocks, bits, last_byte);
        }
    }

    #[cold]
    fn show_clocks(&self, clocks: u32, bits: u32, last_byte: u64) {
        let first = Burst { clocks: clocks.min(self.mode.width.data(3 * u8::BITS).clocks), ..self.mode.width.data(0) };
        let rest = Burst { clocks: clocks - first.clocks, ..first };
        let rest_bits = rest.clocks * rest.bits_per_clock();
        for (burst, bits, start) in [(first, bits >> rest_bits, self.line.free), (rest, bits, last_byte)] {
            self.line.signals.burst(burst, bits, self.line.serial_clock(start));
        }
    }

    /// Shows the pins that firmware drives by hand from cycle `at` on.
    pub fn show_pins(&self, pins: PinLevels, at: u64) {
        let data = pins.read(&*self.line.chip, pins.clock);
        self.line.signals.pins(pins.clock, data, pins.selected, self.line.time_shown(at));
    }

    /// The clocks of a word.
    pub(super) const fn data(&self) -> Burst {
        self.mode.width.data(u32::BITS)
    }
}

/// The header of a jump's frame.
const fn header(mode: Mode, clock: Hz, version: u32) -> Header {
    let (lines, rate) = (mode.width.lines, mode.width.rate);
    let mut header = Header::new((lines, rate), (clock, CLOCK_CYCLES), version);
    if !mode.continuous {
        header = header.with(Burst::byte_out(Lines::Single, mode.width.opcode));
    }
    let after = match mode.mode_byte() {
        Some(byte) => (u8::BITS, byte as u32),
        None => (0, 0),
    };
    header.with_address(lines, rate, 24, after).with(Burst::dummy(lines, mode.dummies()))
}

impl Frames for Wire {
    fn preamble(&mut self, ready: u64, until: u64) {
        self.send_preamble(ready, until, until);
        self.ahead = Ahead::default();
    }

    #[inline]
    fn frame(&mut self, start: u64, command: bool) {
        self.drop_word();
        self.jumps += 1;
        self.end(start);
        self.begins = Some((start, command));
    }

    #[inline]
    fn address(&mut self, start: u64, address: u32) {
        if let Some((begins, command)) = self.begins.take() {
            if self.line.start_repeated_read(begins, &self.header, address) {
                return;
            }
            self.begin(begins);
            if command {
                self.command(begins, self.mode.width.opcode, u8::BITS);
            }
        }
        let (lines, rate) = (self.mode.width.lines, self.mode.width.rate);
        let header = match self.mode.mode_byte() {
            Some(mode) => Burst::output(lines, rate, 32, address << 8 | u32::from(mode)),
            None => Burst::output(lines, rate, 24, address),
        };
        let start = self.shift(header, start);
        self.shift(Burst::dummy(lines, self.mode.dummies()), start);
    }

    #[inline]
    fn word(&mut self, _address: u32, end: u64) {
        let burst = self.data();
        let word = if self.ahead.clocks == 0 { self.line.next_word() } else { None };
        let bits = word.unwrap_or_else(|| self.send_word(burst.clocks, end).bits);
        self.show_word(burst.clocks, bits, end - self.mode.byte_cycles());
        self.line.free = end;
        // The first byte on the wire is the one at the lowest address.
        self.word = bits.swap_bytes();
        self.line.sck_clocks += u64::from(burst.clocks);
        self.drop_word();
        self.unused = true;
    }

    fn cut(&mut self, at: u64, clocks: u32, last_byte: u64) {
        let word = self.send_word(clocks, at);
        self.line.sck_clocks += u64::from(word.clocks);
        self.show_word(word.clocks, word.bits, last_byte);
    }
}

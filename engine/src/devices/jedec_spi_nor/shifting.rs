//! The lines: how bits get in and out, clock by clock.
//!
//! Whole bytes on the right lines in the right direction take [`Flash::byte`]; all else goes clock by clock through
//! [`Flash::clock`], which looks at the level of each line. Both give the same result (a test compares them).

use super::Flash;
use super::commands::Source;
use super::frame::Phase;
use super::notes::Note;
use crate::time::Ps;
use crate::wire::spi::{Drive, Lines, Stretch};

/// When the clocks of a stretch pass: evenly from the edge before to its end.
#[derive(Clone, Copy)]
pub(super) struct Span {
    pub start: Ps,
    pub end: Ps,
    pub clocks: u32,
}

impl Span {
    /// The end of clock number `clock`, from 1; the start for 0. Rounded down to a picosecond.
    pub fn at(&self, clock: u32) -> Ps {
        if clock == self.clocks {
            return self.end;
        }
        let length = u128::from(self.end.saturating_sub(self.start).0);
        self.start.saturating_add(Ps((length * u128::from(clock) / u128::from(self.clocks)) as u64))
    }
}

/// The low `lines` bits.
const fn mask(lines: Lines) -> u8 {
    (1 << lines as u32) - 1
}

impl Flash {
    /// Clocks pass, `span` says when. The result has the first clock highest.
    pub(super) fn pass(&mut self, stretch: Stretch, span: Span) -> u32 {
        let Stretch { lines, drive, clocks, bits } = stretch;
        let width = lines.bits_per_clock();
        let byte_clocks = lines.clocks(8);
        let mut left = clocks;
        let mut sampled = 0;
        while left > 0 {
            let done = clocks - left;
            if left >= byte_clocks {
                let out = (bits >> ((left - byte_clocks) * width)) as u8;
                if let Some(byte) = self.byte(lines, drive, out, span, done) {
                    sampled = sampled << 8 | u32::from(byte);
                    left -= byte_clocks;
                    continue;
                }
            }
            left -= 1;
            let out = (bits >> (left * width)) as u8 & mask(lines);
            sampled = sampled << width | u32::from(self.clock(lines, drive, out, span, done));
        }
        sampled
    }

    /// Eight bits at once, if the phase takes them so: what the controller samples. `done` clocks of `span` have
    /// passed.
    fn byte(&mut self, lines: Lines, drive: Drive, out: u8, span: Span, done: u32) -> Option<u8> {
        let driven = drive == Drive::Controller;
        let matches = lines == self.frame.lines && self.frame.bits == 0;
        // What the controller sees where the chip is silent: its own bits, or the pull-ups (IO1 on a single line).
        let echo = if driven && lines != Lines::Single { out } else { 0xff };
        let byte_clocks = lines.clocks(8);
        match self.frame.phase {
            Phase::Output(source) if matches && (!driven || lines == Lines::Single) => {
                self.count_turn(driven, byte_clocks);
                Some(self.next_byte(source, span, done))
            }
            Phase::Input if matches && driven => {
                self.take_data(out);
                Some(echo)
            }
            Phase::Opcode | Phase::Address if matches && driven => {
                self.take_header(out, span.at(done + byte_clocks));
                Some(echo)
            }
            Phase::Dummy if self.frame.left >= byte_clocks => {
                let first_io0 = match (drive, lines) {
                    (Drive::Target, Lines::Single) => false,
                    (Drive::Target, _) => true,
                    (Drive::Controller, Lines::Single) => out & 0x80 != 0,
                    (Drive::Controller, Lines::Dual) => out & 0x40 != 0,
                    (Drive::Controller, Lines::Quad) => out & 0x10 != 0,
                };
                self.take_dummies(first_io0, driven, byte_clocks);
                Some(echo)
            }
            Phase::Ignored => Some(echo),
            _ => None,
        }
    }

    /// One clock, line by line: what the controller samples.
    fn clock(&mut self, lines: Lines, drive: Drive, out: u8, span: Span, done: u32) -> u8 {
        let driven = drive == Drive::Controller;
        // Lines that the controller drives, and the level of all four: IO0 stays low while a single line is being read.
        let (controller, mut levels) = match (drive, lines) {
            (Drive::Controller, _) => (mask(lines), !mask(lines) & 0xf | out),
            (Drive::Target, Lines::Single) => (1, 0xe),
            (Drive::Target, _) => (0, 0xf),
        };
        if let Phase::Output(source) = self.frame.phase {
            self.note_output(lines, driven);
            self.count_turn(driven, 1);
            let (chip, value) = self.next_bits(source, span, done);
            let free = chip & !controller;
            levels = levels & !free | value & free;
        } else {
            self.take_levels(levels, controller, lines, driven, span.at(done + 1));
        }
        if lines == Lines::Single { levels >> 1 & 1 } else { levels & mask(lines) }
    }

    /// The chip samples its inputs in one clock.
    fn take_levels(&mut self, levels: u8, controller: u8, lines: Lines, driven: bool, at: Ps) {
        let frame = &mut self.frame;
        match frame.phase {
            Phase::Dummy => return self.take_dummies(levels & 1 != 0, driven, 1),
            Phase::Complete => {
                frame.overrun = true;
                return;
            }
            Phase::Ignored | Phase::Output(_) => return,
            Phase::Opcode | Phase::Address | Phase::Input => {}
        }
        let width = frame.lines as u32;
        frame.shifter = ((u32::from(frame.shifter) << width) as u8) | levels & mask(frame.lines);
        frame.bits += width;
        if lines != frame.lines || controller & mask(frame.lines) != mask(frame.lines) || !driven {
            self.note_input(lines);
        }
        if self.frame.bits == 8 {
            self.frame.bits = 0;
            let byte = self.frame.shifter;
            if self.frame.phase == Phase::Input { self.take_data(byte) } else { self.take_header(byte, at) }
        }
    }

    /// The bits that the chip puts out in a clock: which lines, and their levels.
    fn next_bits(&mut self, source: Source, span: Span, done: u32) -> (u8, u8) {
        if self.frame.bits == 0 {
            self.frame.shifter = self.next_byte(source, span, done);
            self.frame.bits = 8;
        }
        let frame = &mut self.frame;
        let width = frame.lines as u32;
        let value = frame.shifter >> (8 - width);
        frame.shifter = ((u32::from(frame.shifter)) << width) as u8;
        frame.bits -= width;
        if frame.lines == Lines::Single { (2, value << 1) } else { (mask(frame.lines), value) }
    }

    /// Counts the clocks after the address that the controller drives. When it lets go, that number tells how many
    /// dummy clocks it believes in, unless it let go before the dummy clocks or after a mode nibble or byte.
    pub(super) fn count_turn(&mut self, driven: bool, clocks: u32) {
        if self.frame.turned {
            return;
        }
        if driven {
            self.frame.driven_clocks = self.frame.driven_clocks.saturating_add(clocks);
            return;
        }
        self.frame.turned = true;
        self.note_turn();
    }

    #[cold]
    fn note_turn(&mut self) {
        let frame = &self.frame;
        let Some(command) = frame.command else { return };
        let expected = self.registers.dummy_clocks(command.dummies);
        let got = frame.driven_clocks;
        let address_lines =
            command.address.map_or(Lines::Single, |lines| self.registers.protocol().lines(lines)) as u32;
        let mode =
            got < expected && (got <= 1 || address_lines > 1 && (got * address_lines == 8 || got * address_lines == 4));
        if got != expected && !mode {
            self.notes.add(Note::DummyClocks { opcode: command.opcode, got, expected });
        }
    }

    fn note_output(&mut self, lines: Lines, driven: bool) {
        let frame = &self.frame;
        let opcode = frame.opcode();
        if lines != frame.lines {
            let (got, expected) = (lines, frame.lines);
            self.notes.add(Note::WrongLines { opcode: Some(opcode), phase: "data", got, expected });
        } else if driven && lines != Lines::Single {
            self.notes.add(Note::Contention { opcode });
        }
    }

    #[cold]
    fn note_input(&mut self, got: Lines) {
        let frame = &self.frame;
        let expected = frame.lines;
        let phase = match frame.phase {
            Phase::Opcode => "the command",
            Phase::Address => "address",
            _ => "data",
        };
        let opcode = frame.command.map(|command| command.opcode);
        self.notes.add(if got == expected {
            Note::Undriven { opcode, phase }
        } else {
            Note::WrongLines { opcode, phase, got, expected }
        });
    }
}

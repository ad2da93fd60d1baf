//! The lines: shifting of bits, clock by clock.
//!
//! Whole bytes on the right lines at the right rate in the right direction are shifted by [`Flash::byte`], parts of
//! bytes that are read in this way by [`Flash::part_of_byte`]; all other clocks by [`Flash::clock`], which checks the
//! level of each line on each edge. All give the same result (a test compares them).

use super::*;
use engine::wire::spi::Drive;

/// The levels of the four lines around an edge.
#[derive(Clone, Copy)]
struct Levels {
    /// Lines that the controller drives: bit n is IOn.
    controller: u8,
    /// Lines that the chip drives and the controller does not.
    chip: u8,
    /// All levels.
    all: u8,
}

impl Levels {
    /// The controller's levels; other lines are pulled up, and IO0 stays low while a single line is being read.
    fn new(burst: Burst, out: u8) -> Levels {
        let mask = burst.lines.mask();
        let (controller, all) = match (burst.drive, burst.lines) {
            (Drive::Controller, _) => (mask, !mask & 0xf | out),
            (Drive::Target, Lines::Single) => (1, 0xe),
            (Drive::Target | Drive::Nobody, _) => (0, 0xf),
        };
        Levels { controller, chip: 0, all }
    }

    fn with_chip(self, lines: u8, levels: u8) -> Levels {
        let chip = lines & !self.controller;
        Levels { chip, all: self.all & !chip | levels & chip, ..self }
    }

    /// The controller changes its lines, the chip does not.
    fn with_controller(self, burst: Burst, out: u8) -> Levels {
        Levels::new(burst, out).with_chip(self.chip, self.all)
    }

    /// The bits that a controller samples on `lines`.
    const fn seen(self, lines: Lines) -> u8 {
        match lines {
            Lines::Single => self.all >> 1 & 1,
            Lines::Dual | Lines::Quad => self.all & lines.mask(),
        }
    }
}

/// Lines and levels of bits that the chip sends: on a single line, IO1.
const fn on_lines(lines: Lines, bits: u8) -> (u8, u8) {
    match lines {
        Lines::Single => (2, bits << 1),
        Lines::Dual | Lines::Quad => (lines.mask(), bits),
    }
}

impl Flash {
    /// Shifts the clocks of a burst, at the times of `span`. The result has the first edge in the highest bits.
    pub(super) fn pass(&mut self, burst: Burst, span: Span) -> u32 {
        if let Some(word) = self.word(burst) {
            return word;
        }
        let width = burst.bits_per_clock();
        if self.frame.phase == Phase::Dummy && burst.drive == Drive::Nobody && burst.clocks <= self.frame.left {
            self.take_dummies(true, Drive::Nobody, burst.clocks);
            return u32::MAX.unbounded_shr(32u32.saturating_sub(burst.clocks * width));
        }
        let byte_clocks = 8 / width;
        // If the controller does not drive there are no bits, and dummy clocks may be more than 32 bits' worth.
        let bits_before = |left: u32| burst.bits.checked_shr(left * width).unwrap_or(0);
        let mut left = burst.clocks;
        let mut sampled = 0;
        while left > 0 {
            let done = burst.clocks - left;
            if left >= byte_clocks {
                let out = bits_before(left - byte_clocks) as u8;
                if let Some(byte) = self.byte(burst, out, span, done) {
                    sampled = sampled << 8 | u32::from(byte);
                    left -= byte_clocks;
                    continue;
                }
            }
            if let Some((clocks, bits)) = self.part_of_byte(burst, left, span, done) {
                sampled = sampled << (clocks * width) | u32::from(bits);
                left -= clocks;
                continue;
            }
            left -= 1;
            let out = bits_before(left) as u8;
            sampled = sampled << width | u32::from(self.clock(burst, out, span, done));
        }
        sampled
    }

    /// Shifts 32 bits at once, if they are four bytes of the array that do not wrap.
    fn word(&mut self, burst: Burst) -> Option<u32> {
        let frame = &self.frame;
        let matches = frame.phase == Phase::Output(Source::Array)
            && burst.drive == Drive::Target
            && burst.lines == frame.lines
            && burst.rate == frame.rate
            && burst.clocks * burst.bits_per_clock() == 32;
        let word = if matches { self.next_word() } else { None }?;
        self.count_turn(Drive::Target, burst.clocks);
        Some(word)
    }

    /// The next four bytes of a read of the array, if they do not wrap.
    #[inline(always)]
    pub(super) fn next_word(&mut self) -> Option<u32> {
        let frame = &mut self.frame;
        if frame.bits != 0 || frame.count_mask != self.part.size_bytes - 1 {
            return None;
        }
        let word = self.array.word(frame.address)?;
        frame.address = frame.address.wrapping_add(4) & frame.count_mask;
        self.bytes_read += 4;
        Some(word)
    }

    /// Shifts eight bits at once, if the phase allows it: returns the bits that the controller samples. `done` clocks
    /// of `span` have passed.
    fn byte(&mut self, burst: Burst, out: u8, span: Span, done: u32) -> Option<u8> {
        let Burst { lines, drive, .. } = burst;
        let driven = drive == Drive::Controller;
        let matches = lines == self.frame.lines && burst.rate == self.frame.rate && self.frame.bits == 0;
        // The bits that the controller samples while the chip is silent: its own, or the pull-ups (IO1 on a single
        // line).
        let echo = if driven && lines != Lines::Single { out } else { 0xff };
        let byte_clocks = 8 / burst.bits_per_clock();
        match self.frame.phase {
            Phase::Output(source) if matches && (drive == Drive::Target || driven && lines == Lines::Single) => {
                self.count_turn(drive, byte_clocks);
                Some(self.next_byte(source, span, done))
            }
            Phase::Input if matches && driven => {
                self.take_data(out);
                Some(echo)
            }
            Phase::Opcode | Phase::Address | Phase::Mode if matches && driven => {
                // Only a command depends on the time.
                let is_command = self.frame.phase == Phase::Opcode;
                self.take_header(out, if is_command { span.at(done + byte_clocks) } else { span.end });
                Some(echo)
            }
            Phase::Dummy if self.frame.left >= byte_clocks => {
                let first_io0 = match (drive, lines) {
                    (Drive::Target, Lines::Single) => false,
                    (Drive::Target | Drive::Nobody, _) => true,
                    (Drive::Controller, Lines::Single) => out & 0x80 != 0,
                    (Drive::Controller, Lines::Dual) => out & 0x40 != 0,
                    (Drive::Controller, Lines::Quad) => out & 0x10 != 0,
                };
                self.take_dummies(first_io0, drive, byte_clocks);
                Some(echo)
            }
            Phase::Ignored => Some(echo),
            _ => None,
        }
    }

    /// Shifts the rest of a byte that the chip sends, or as much of it as fits in `left` clocks, if the controller
    /// reads on the chip's lines: returns the clocks, and the bits that the controller samples. A single clock is left
    /// to [`Flash::clock`].
    fn part_of_byte(&mut self, burst: Burst, left: u32, span: Span, done: u32) -> Option<(u32, u8)> {
        let frame = &self.frame;
        let Phase::Output(source) = frame.phase else { return None };
        let width = burst.bits_per_clock();
        let clocks = left.min(if frame.bits == 0 { 8 } else { frame.bits } / width);
        if burst.drive != Drive::Target || (burst.lines, burst.rate) != (frame.lines, frame.rate) || clocks < 2 {
            return None;
        }
        self.count_turn(burst.drive, clocks);
        if self.frame.bits == 0 {
            self.frame.shifter = self.next_byte(source, span, done);
            self.frame.bits = 8;
        }
        let (frame, bits) = (&mut self.frame, clocks * width);
        let value = frame.shifter.unbounded_shr(8 - bits);
        frame.shifter = frame.shifter.unbounded_shl(bits);
        frame.bits -= bits;
        Some((clocks, value))
    }

    /// Shifts one clock, line by line: returns what the controller samples on its rising edge and, at the double rate,
    /// on its falling edge. `out` is what it drives on these edges.
    fn clock(&mut self, burst: Burst, out: u8, span: Span, done: u32) -> u8 {
        let Burst { lines, rate, .. } = burst;
        let width = lines.bits();
        let doubled = self.frame.rate == Rate::Double;
        let controller_doubled = rate == Rate::Double;
        if let Phase::Output(_) = self.frame.phase {
            self.note_output(burst);
            self.count_turn(burst.drive, 1);
        }
        let first = if controller_doubled { out >> width } else { out } & lines.mask();
        let rising = self.edge(burst, first, span, done);
        if !doubled && !controller_doubled {
            return rising.seen(lines);
        }
        let second = out & lines.mask();
        // At the single rate the chip ignores the falling edge, and changes nothing before it.
        let falling =
            if doubled { self.edge(burst, second, span, done) } else { rising.with_controller(burst, second) };
        if controller_doubled { rising.seen(lines) << width | falling.seen(lines) } else { rising.seen(lines) }
    }

    /// One edge on which the chip puts out or samples bits: the levels around it.
    fn edge(&mut self, burst: Burst, out: u8, span: Span, done: u32) -> Levels {
        let levels = Levels::new(burst, out);
        if let Phase::Output(source) = self.frame.phase {
            let (chip, value) = self.next_bits(source, span, done);
            levels.with_chip(chip, value)
        } else {
            self.take_levels(levels, burst, span.at(done + 1));
            levels
        }
    }

    /// Samples the chip's inputs on an edge.
    fn take_levels(&mut self, levels: Levels, burst: Burst, at: Ps) {
        let frame = &mut self.frame;
        match frame.phase {
            Phase::Dummy => return self.take_dummies(levels.all & 1 != 0, burst.drive, 1),
            Phase::Complete => {
                frame.overrun = true;
                return;
            }
            Phase::Ignored | Phase::Output(_) => return,
            Phase::Opcode | Phase::Address | Phase::Mode | Phase::Input => {}
        }
        let width = frame.lines.bits();
        let mask = frame.lines.mask();
        frame.shifter = ((u32::from(frame.shifter) << width) as u8) | levels.all & mask;
        frame.bits += width;
        let driven = burst.drive == Drive::Controller;
        // Ones on IO0 alone are MODE BIT RESET, whatever the lines of the read that it ends.
        let mode_bit_reset = frame.continuing && burst.lines == Lines::Single && driven && levels.all & 1 != 0;
        let matches = burst.lines == frame.lines && burst.rate == frame.rate && levels.controller & mask == mask;
        if !(matches && driven || mode_bit_reset) {
            self.note_input(burst);
        }
        if self.frame.bits == 8 {
            self.frame.bits = 0;
            let byte = self.frame.shifter;
            if self.frame.phase == Phase::Input { self.take_data(byte) } else { self.take_header(byte, at) }
        }
    }

    /// The bits that the chip sends on an edge: lines and levels.
    fn next_bits(&mut self, source: Source, span: Span, done: u32) -> (u8, u8) {
        if self.frame.bits == 0 {
            self.frame.shifter = self.next_byte(source, span, done);
            self.frame.bits = 8;
        }
        let frame = &mut self.frame;
        let width = frame.lines.bits();
        let value = frame.shifter >> (8 - width);
        frame.shifter = ((u32::from(frame.shifter)) << width) as u8;
        frame.bits -= width;
        on_lines(frame.lines, value)
    }

    /// The bits that [`Flash::next_bits`] will send in the next clock.
    pub(super) fn next_output(&self) -> NextClock {
        let frame = &self.frame;
        let rate = frame.rate;
        let Phase::Output(source) = frame.phase else { return NextClock { rate, ..NextClock::default() } };
        let byte = if frame.bits == 0 { self.output_byte(source, self.last_edge) } else { frame.shifter };
        let width = frame.lines.bits();
        let (driven, first) = on_lines(frame.lines, byte >> (8 - width));
        let (_, second) = on_lines(frame.lines, (u32::from(byte) << width) as u8 >> (8 - width));
        NextClock { rate, driven, levels: [first, if rate == Rate::Double { second } else { first }] }
    }

    /// Counts the clocks after the address in which the controller does not read. When it starts to read, this is the
    /// number of dummy clocks that it uses, unless it released the lines before the dummy clocks or after a mode nibble
    /// or byte.
    pub(super) fn count_turn(&mut self, drive: Drive, clocks: u32) {
        let frame = &mut self.frame;
        if frame.turned {
            return;
        }
        frame.released |= drive == Drive::Nobody;
        if drive != Drive::Target {
            frame.deaf_clocks = frame.deaf_clocks.saturating_add(clocks);
            return;
        }
        frame.turned = true;
        self.note_turn();
    }

    #[cold]
    fn note_turn(&mut self) {
        let frame = &self.frame;
        let Some(command) = frame.command else { return };
        let expected = self.registers.dummy_clocks(command.dummies);
        let got = frame.deaf_clocks;
        let protocol = self.registers.protocol();
        let address_lines = command.address.map_or(Lines::Single, |lines| lines_in(protocol, lines)).bits();
        let mode = !frame.released
            && !command.mode
            && got < expected
            && (got <= 1 || address_lines > 1 && (got * address_lines == 8 || got * address_lines == 4));
        if got != expected && !mode {
            let opcode = command.opcode;
            self.notes.add(format!("command {opcode:02X}h: {got} dummy clocks, the chip expects {expected}"));
        }
    }

    fn note_output(&mut self, burst: Burst) {
        let frame = &self.frame;
        let mode_bit_reset = frame.continuing && burst.lines == Lines::Single && burst.drive == Drive::Controller;
        if burst.drive == Drive::Nobody || mode_bit_reset {
            // A surplus of dummy clocks is noted when the controller starts to read; MODE BIT RESET does not read.
        } else if burst.lines != frame.lines {
            self.note_lines("data", burst.lines);
        } else if burst.rate != frame.rate {
            self.note_rate("data");
        } else if burst.drive == Drive::Controller && burst.lines != Lines::Single {
            self.note_frame("the controller drives the lines on which the chip puts out data");
        }
    }

    #[cold]
    fn note_input(&mut self, burst: Burst) {
        let frame = &self.frame;
        let phase = match frame.phase {
            Phase::Opcode => "the command",
            Phase::Address if frame.continuing => "address (which comes first in continuous read, or XIP, mode)",
            Phase::Address => "address",
            Phase::Mode => "the mode byte",
            _ => "data",
        };
        if burst.drive != Drive::Nobody && burst.lines != frame.lines {
            self.note_lines(phase, burst.lines);
        } else if burst.drive != Drive::Nobody && burst.rate != frame.rate {
            self.note_rate(phase);
        } else {
            self.note_frame(&format!("{phase} taken by the chip while the controller drives nothing"));
        }
    }

    #[cold]
    fn note_lines(&mut self, phase: &str, got: Lines) {
        let (got, expected) = (got as u32, self.frame.lines as u32);
        self.note_frame(&format!("{phase} on {got} line(s), the chip uses {expected}"));
    }

    #[cold]
    fn note_rate(&mut self, phase: &str) {
        let edges = if self.frame.rate == Rate::Double { "both edges" } else { "one edge" };
        let opcode = self.frame.opcode();
        self.notes.add(format!("command {opcode:02X}h: the chip takes {phase} on {edges} of each clock"));
    }

    /// Notes what is wrong in the present frame.
    fn note_frame(&mut self, what: &str) {
        let command = match self.frame.command {
            Some(command) => format!("command {:02X}h", command.opcode),
            None => "a command".to_owned(),
        };
        self.notes.add(format!("{command}: {what}"));
    }
}

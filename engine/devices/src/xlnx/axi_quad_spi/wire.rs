//! The SPI side of the core: its shift engine, slave selects and lines, in EXT_SPI_CLK's domain.
//!
//! Times are edges of EXT_SPI_CLK; SCK takes `ratio` of them and runs only while a byte is shifted. Bytes follow each
//! other without a gap while the transmit FIFO has bytes; otherwise SCK stops. The engine is brought up to date on
//! request: [`Wire::advance`] carries out everything that is complete by an edge.

use super::commands::{self, Command, Data};
use super::fifo::{RxFifo, TxFifo};
use super::frames::{Frames, Shifted};
use crate::prelude::*;
use crate::support::hosted_chip::Chips;
use engine::observe::spi::{SerialClock, SpiSignals};
use engine::wire::spi::{Burst, Lines, PULLED_UP};

/// The settings of SPICR for the wire.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State, Polled)]
pub struct Control {
    /// Enabled, master, not inhibited, and nothing else forbids a transfer.
    pub running: bool,
    /// SPISSR drives the slave selects; otherwise the core selects a slave while it has bytes.
    pub manual_select: bool,
    /// The sent bits are received, and the wire stays idle.
    pub loopback: bool,
    /// Bit 0 first.
    pub lsb_first: bool,
}

/// The state of the current frame, in dual and quad mode.
#[derive(Clone, Copy, Debug, State, Fresh)]
enum Frame {
    /// The next byte is a command.
    Command,
    /// The command, and the number of bytes after it.
    Known(&'static Command, u32),
    /// The command is not in the table: no byte is sent until the FIFO is reset.
    Refused,
}

/// After the dummies all bytes have the same format: their number is not listed.
impl Polled for Frame {
    fn polled(&mut self, poll: &mut Poll) -> bool {
        poll.state(match self {
            Frame::Command => 0,
            Frame::Refused => 1,
            Frame::Known(command, index) => {
                2 + (u32::from(command.opcode) << 8) + ((*index).min(command.header_bytes()) << 1)
            }
        });
        true
    }
}

/// Totals since the start of the run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State, Polled)]
pub struct Totals {
    /// Bytes that went over the wire.
    #[poll(total)]
    pub bytes: u64,
    /// Periods of SCK.
    #[poll(total)]
    pub sck_clocks: u64,
    /// Times that a slave was selected.
    #[poll(total)]
    pub frames: u64,
    /// Received bytes that were lost because the FIFO was full.
    #[poll(total)]
    pub overruns: u64,
}

/// The wire and the chips on it.
#[derive(State, Polled)]
pub struct Wire {
    /// EXT_SPI_CLK.
    #[state(skip)]
    pub clock: Hz,
    /// EXT_SPI_CLK periods a period of SCK.
    #[state(skip)]
    pub ratio: u64,
    /// The widest transfer that the core is built for.
    #[state(skip)]
    pub lines: Lines,
    /// On the slave selects.
    pub chips: Chips,
    /// As set by [`Wire::set_control`].
    pub control: Control,
    /// Totals.
    pub totals: Totals,
    /// Statistics of the wire, by the frames' first bytes.
    #[poll(edge = self.clock)]
    pub frames: Frames,
    /// The lines, for waveforms.
    #[poll(skip = "software does not see them")]
    pub signals: SpiSignals,
    cpol: bool,
    cpha: bool,
    selected: Option<usize>,
    select_request: Option<usize>,
    frame: Frame,
    /// No byte starts before this edge.
    #[poll(edge = self.clock)]
    free_edge: u64,
}

impl Wire {
    /// An idle wire.
    pub fn new(clock: Hz, ratio: u64, lines: Lines, chips: Chips) -> Wire {
        Wire {
            clock,
            ratio,
            lines,
            chips,
            control: Control::default(),
            totals: Totals::default(),
            frames: Frames::default(),
            signals: SpiSignals::default(),
            cpol: false,
            cpha: false,
            selected: None,
            select_request: None,
            frame: Frame::Command,
            free_edge: 0,
        }
    }

    /// True if the core's decoder has refused a command.
    pub fn has_command_error(&self) -> bool {
        matches!(self.frame, Frame::Refused)
    }

    /// The edge at which the byte at the front will have been sent, if nothing changes; `None` if no byte is being
    /// sent.
    pub fn next_completion(&self, tx: &TxFifo) -> Option<u64> {
        let (byte, visible_edge) = tx.front().filter(|_| self.control.running)?;
        let burst = self.burst(byte)?;
        Some(visible_edge.max(self.free_edge) + u64::from(burst.clocks) * self.ratio)
    }

    /// The latest edge at which all bytes will have been sent, if nothing changes; `None` if no byte is being sent.
    pub fn last_completion(&self, tx: &TxFifo) -> Option<u64> {
        let ahead = self.next_completion(tx)?;
        let (bytes, visible_edge) = tx.unsent()?;
        // A byte on one line has the most clocks.
        Some(ahead.max(visible_edge) + bytes * u64::from(Lines::Single.clocks(u8::BITS)) * self.ratio)
    }

    /// Carries out everything that is complete by `limit_edge`.
    pub fn advance(&mut self, tx: &mut TxFifo, rx: &mut RxFifo, limit_edge: u64) {
        if !self.control.running {
            return;
        }
        while let Some((byte, visible_edge)) = tx.front() {
            let start = visible_edge.max(self.free_edge);
            if start > limit_edge {
                break;
            }
            let Some(burst) = self.burst(byte) else {
                self.frame = Frame::Refused;
                break;
            };
            let end = start + u64::from(burst.clocks) * self.ratio;
            if end > limit_edge {
                break;
            }
            self.shift(burst, byte, start, end, tx, rx);
        }
        self.stall(tx, limit_edge);
    }

    /// Deselects a slave that the core itself has selected, if the FIFO was empty before `limit_edge`.
    fn stall(&mut self, tx: &TxFifo, limit_edge: u64) {
        let starved = tx.front().is_none_or(|(_, visible_edge)| visible_edge > self.free_edge);
        if !self.control.manual_select && self.selected.is_some() && starved && self.free_edge <= limit_edge {
            self.select(None, self.free_edge);
        }
    }

    /// Completes a byte that is on the wire at `edge`: true if there was one. The hardware would interrupt it.
    pub fn finish_byte(&mut self, tx: &mut TxFifo, rx: &mut RxFifo, edge: u64) -> bool {
        match self.next_completion(tx) {
            Some(end) if tx.front().is_some_and(|(_, visible_edge)| visible_edge.max(self.free_edge) < edge) => {
                self.advance(tx, rx, end);
                true
            }
            _ => false,
        }
    }

    /// SPICR takes effect at `edge`.
    pub fn set_control(&mut self, control: Control, edge: u64) {
        self.free_edge = self.free_edge.max(edge);
        if control.manual_select != self.control.manual_select {
            self.control = control;
            self.select(self.select_request.filter(|_| control.manual_select), self.free_edge);
        }
        self.control = control;
    }

    /// Sets SCK's polarity and phase from `edge` on. The memory behaves identically in both modes that it supports.
    pub fn set_clock_mode(&mut self, cpol: bool, cpha: bool, edge: u64) {
        if cpol != self.cpol {
            self.signals.rest(cpol, self.time(edge.max(self.free_edge)));
        }
        (self.cpol, self.cpha) = (cpol, cpha);
    }

    /// SPISSR takes effect at `edge`: the slave with an active (low) select, if any.
    pub fn request_select(&mut self, slave: Option<usize>, edge: u64) {
        self.free_edge = self.free_edge.max(edge);
        self.select_request = slave;
        if self.control.manual_select {
            self.select(slave, self.free_edge);
        }
    }

    /// The transmit FIFO was reset: the next byte is the first entry again.
    pub fn reset_frame(&mut self) {
        self.frame = Frame::Command;
    }

    fn select(&mut self, slave: Option<usize>, edge: u64) {
        if slave == self.selected {
            return;
        }
        self.frames.end();
        let now = self.time(edge);
        if let Some(chip) = self.selected.and_then(|old| self.chips.get_mut(old)) {
            chip.deselect(now);
        }
        if let Some(old) = self.selected {
            self.signals.select(old, false, now);
        }
        self.selected = slave;
        if !self.has_command_error() {
            self.frame = Frame::Command;
        }
        if let Some(new) = slave {
            self.totals.frames += 1;
            self.signals.select(new, true, now);
            if let Some(chip) = self.chips.get_mut(new) {
                chip.select(now);
            }
        }
    }

    /// The burst of `byte`; `None` if it is a command that the core refuses.
    fn burst(&self, byte: u8) -> Option<Burst> {
        if self.lines == Lines::Single {
            let bits = if self.control.lsb_first { byte.reverse_bits() } else { byte };
            return Some(Burst::byte_out(Lines::Single, bits));
        }
        match self.frame {
            Frame::Refused => None,
            Frame::Command => commands::find(byte, self.lines).map(|_| Burst::byte_out(Lines::Single, byte)),
            Frame::Known(command, index) => Some(follower(command, index, byte)),
        }
    }

    fn shift(&mut self, burst: Burst, byte: u8, start: u64, end: u64, tx: &mut TxFifo, rx: &mut RxFifo) {
        if !self.control.manual_select && !self.control.loopback {
            self.select(self.select_request, start);
        }
        if self.selected.is_some() && !self.control.loopback {
            let there = tx.front().map_or(start, |(_, visible_edge)| visible_edge);
            self.frames.byte(Shifted { byte, sck_clocks: burst.clocks, there, start, end });
        }
        let received = self.exchange(burst, end) as u8;
        let received = if self.control.lsb_first { received.reverse_bits() } else { received };
        self.frame = match self.frame {
            Frame::Known(command, index) => Frame::Known(command, index + 1),
            Frame::Command if self.lines != Lines::Single => {
                commands::find(byte, self.lines).map_or(Frame::Refused, |command| Frame::Known(command, 1))
            }
            other => other,
        };
        self.free_edge = end;
        tx.complete(end);
        self.totals.overruns += u64::from(!rx.push(received, end));
        self.totals.bytes += 1;
        self.totals.sck_clocks += u64::from(burst.clocks);
    }

    fn exchange(&mut self, burst: Burst, end: u64) -> u32 {
        if self.control.loopback {
            return burst.bits;
        }
        let now = self.time(end);
        let clock = SerialClock {
            source: self.clock,
            start: end - u64::from(burst.clocks) * self.ratio,
            period: self.ratio,
            cpol: self.cpol,
            cpha: self.cpha,
        };
        let chip = self.selected.and_then(|slave| self.chips.get_mut(slave));
        self.signals.burst(burst, chip.map_or(PULLED_UP, |chip| chip.shift(burst, now)), clock)
    }

    /// One frame of the execute-in-place window, from `edge` on: `command`, `address`, its dummies, and `into.len()`
    /// bytes of data. Returns the edge after its last clock.
    pub fn read_frame(&mut self, command: &Command, address: u32, bytes: u32, into: &mut [u8], edge: u64) -> u64 {
        self.free_edge = self.free_edge.max(edge);
        self.select(Some(0), self.free_edge);
        let header = [command.opcode, (address >> 16) as u8, (address >> 8) as u8, address as u8];
        let header_bytes = command.header_bytes();
        for index in 0..header_bytes + bytes {
            let byte = header.get(index as usize).copied().unwrap_or(0);
            let burst = if index == 0 { Burst::byte_out(Lines::Single, byte) } else { follower(command, index, byte) };
            let start = self.free_edge;
            self.free_edge += u64::from(burst.clocks) * self.ratio;
            self.frames.byte(Shifted { byte, sck_clocks: burst.clocks, there: start, start, end: self.free_edge });
            let received = self.exchange(burst, self.free_edge) as u8;
            self.totals.sck_clocks += u64::from(burst.clocks);
            if let Some(place) = index.checked_sub(header_bytes).and_then(|data| into.get_mut(data as usize)) {
                *place = received;
            }
        }
        self.totals.bytes += u64::from(header_bytes + bytes);
        self.select(None, self.free_edge);
        self.free_edge
    }

    fn time(&self, edge: u64) -> Ps {
        self.clock.ps_at_floor(Cycles(edge))
    }
}

/// Byte `index` of a frame that began with `command` (which is byte 0).
fn follower(command: &Command, index: u32, byte: u8) -> Burst {
    let address_end = 1 + u32::from(command.address_bytes);
    let dummy_end = address_end + u32::from(command.dummy_bytes);
    if index < address_end {
        return Burst::byte_out(command.address_lines, byte);
    }
    match command.data {
        Data::Single => Burst::byte_out(Lines::Single, byte),
        // Dummies of a read command: the core has released the lines already.
        Data::In(lines) => Burst::byte_in(lines),
        Data::Out(lines) if index < dummy_end => Burst::byte_in(lines),
        Data::Out(lines) => Burst::byte_out(lines, byte),
    }
}

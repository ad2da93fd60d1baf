//! The SPI side of the core: its shift engine, slave selects and lines, in EXT_SPI_CLK's domain.
//!
//! Times are edges of EXT_SPI_CLK; SCK takes `ratio` of them and runs only while a byte is shifted. Bytes follow each
//! other without a gap while the transmit FIFO has bytes; otherwise SCK stops. The engine is brought up to date on
//! request: [`Shifter::advance`] carries out everything that is complete by an edge.

use super::commands::{self, Command, Data};
use super::fifo::Fifo;
use super::frames::{Frames, Shifted};
use super::params::Params;
use crate::prelude::*;
use crate::support::hosted_chip::Chips;
use crate::support::spi_controller::{Format, SpiBus};
use engine::wire::spi::{Burst, Lines};

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
    Known(Command, u32),
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

/// The shift engine with its FIFOs, and the bus.
#[derive(State, Polled)]
pub struct Shifter {
    #[state(skip)]
    params: Params,
    /// Words are bytes.
    pub bus: SpiBus,
    /// SPI DTR.
    #[poll(edge = self.params.ext_spi_clock)]
    pub tx: Fifo,
    /// SPI DRR.
    #[poll(edge = self.params.ext_spi_clock)]
    pub rx: Fifo,
    /// As set by [`Shifter::set_control`].
    pub control: Control,
    /// Received bytes that were lost because the FIFO was full.
    #[poll(total)]
    pub overruns: u64,
    /// One was lost since this was last cleared.
    pub has_overrun: bool,
    /// Statistics of the wire, by the frames' first bytes.
    #[poll(edge = self.params.ext_spi_clock)]
    pub frames: Frames,
    /// Of words on one line.
    format: Format,
    select_request: Option<usize>,
    frame: Frame,
    /// No byte starts before this edge.
    #[poll(edge = self.params.ext_spi_clock)]
    free_edge: u64,
}

impl Shifter {
    /// Idle, with empty FIFOs.
    pub fn new(params: Params, chips: Chips) -> Shifter {
        // Without FIFOs there is one register each.
        let (depth, axi) = (params.fifo_depth.max(1), params.port.clock);
        Shifter {
            params,
            bus: SpiBus::new(chips),
            tx: Fifo::to_wire(depth, axi),
            rx: Fifo::from_wire(depth, axi),
            control: Control::default(),
            overruns: 0,
            has_overrun: false,
            frames: Frames::default(),
            format: Format { bits: u8::BITS, half: u64::from(params.sck_ratio / 2), ..Format::default() },
            select_request: None,
            frame: Frame::Command,
            free_edge: 0,
        }
    }

    /// True if the core's decoder has refused a command.
    pub fn has_command_error(&self) -> bool {
        matches!(self.frame, Frame::Refused)
    }

    /// The edge at which the byte at the front starts, and its clocks, if nothing changes; `None` if no byte is being
    /// sent.
    fn next_byte(&self) -> Option<(u64, Burst)> {
        let (byte, visible_edge) = self.tx.front().filter(|_| self.control.running)?;
        Some((visible_edge.max(self.free_edge), self.burst(byte)?))
    }

    /// The edge at which this byte will have been sent.
    pub fn next_completion(&self) -> Option<u64> {
        self.next_byte().map(|(start, burst)| start + self.edges(burst))
    }

    /// Periods of EXT_SPI_CLK in a burst.
    fn edges(&self, burst: Burst) -> u64 {
        u64::from(burst.clocks) * self.format.period()
    }

    /// The latest edge at which all bytes will have been sent, if nothing changes; `None` if no byte is being sent.
    pub fn last_completion(&self) -> Option<u64> {
        let ahead = self.next_completion()?;
        let (bytes, visible_edge) = self.tx.unsent()?;
        // A byte on one line has the most clocks.
        Some(ahead.max(visible_edge) + bytes * self.edges(self.format.burst(0)))
    }

    /// Carries out everything that is complete by `limit_edge`.
    pub fn advance(&mut self, limit_edge: u64) {
        if !self.control.running {
            return;
        }
        while let Some((byte, visible_edge)) = self.tx.front() {
            let start = visible_edge.max(self.free_edge);
            if start > limit_edge {
                break;
            }
            let Some(burst) = self.burst(byte) else {
                self.frame = Frame::Refused;
                break;
            };
            if start + self.edges(burst) > limit_edge {
                break;
            }
            self.shift(burst, (byte, visible_edge), start);
        }
        self.stall(limit_edge);
    }

    /// Deselects a slave that the core itself has selected, if the FIFO was empty before `limit_edge`.
    fn stall(&mut self, limit_edge: u64) {
        let starved = self.tx.front().is_none_or(|(_, visible_edge)| visible_edge > self.free_edge);
        if !self.control.manual_select && starved && self.free_edge <= limit_edge {
            self.select(None, self.free_edge);
        }
    }

    /// Completes a byte that is on the wire at `edge`: true if there was one. The hardware would interrupt it.
    pub fn finish_byte(&mut self, edge: u64) -> bool {
        let Some((start, burst)) = self.next_byte().filter(|(start, _)| *start < edge) else { return false };
        self.advance(start + self.edges(burst));
        true
    }

    /// SPICR takes effect at `edge`.
    pub fn set_control(&mut self, control: Control, edge: u64) {
        self.free_edge = self.free_edge.max(edge);
        self.format.lsb_first = control.lsb_first;
        let before = std::mem::replace(&mut self.control, control);
        if control.manual_select != before.manual_select {
            self.select(self.select_request.filter(|_| control.manual_select), self.free_edge);
        }
    }

    /// Sets SCK's polarity and phase from `edge` on. The memory behaves identically in both modes that it supports.
    pub fn set_clock_mode(&mut self, cpol: bool, cpha: bool, edge: u64) {
        if cpol != self.format.cpol {
            self.bus.signals.rest(cpol, self.params.spi_time(edge.max(self.free_edge)));
        }
        (self.format.cpol, self.format.cpha) = (cpol, cpha);
    }

    /// SPISSR takes effect at `edge`: the slave with an active (low) select, if any.
    pub fn request_select(&mut self, slave: Option<usize>, edge: u64) {
        self.free_edge = self.free_edge.max(edge);
        self.select_request = slave;
        if self.control.manual_select {
            self.select(slave, self.free_edge);
        }
    }

    /// Resets the transmit FIFO: the next byte is the first entry again.
    pub fn reset_tx(&mut self, now: Ps) {
        self.tx.reset(now);
        self.frame = Frame::Command;
    }

    fn select(&mut self, slave: Option<usize>, edge: u64) {
        if slave == self.bus.selected() {
            return;
        }
        self.frames.end();
        self.bus.select_only(slave, self.params.spi_time(edge));
        if !self.has_command_error() {
            self.frame = Frame::Command;
        }
    }

    /// The burst of `byte`; `None` if it is a command that the core refuses.
    fn burst(&self, byte: u8) -> Option<Burst> {
        if self.params.lines == Lines::Single {
            return Some(self.format.burst(self.format.ordered(byte.into())));
        }
        match self.frame {
            Frame::Refused => None,
            Frame::Command => commands::find(byte, self.params.lines).map(|_| Burst::byte_out(Lines::Single, byte)),
            Frame::Known(command, index) => Some(follower(&command, index, byte)),
        }
    }

    fn shift(&mut self, burst: Burst, (byte, there): (u8, u64), start: u64) {
        if !self.control.manual_select && !self.control.loopback {
            self.select(self.select_request, start);
        }
        let received = if self.control.loopback {
            self.bus.count(burst);
            self.free_edge = start + self.edges(burst);
            burst.bits
        } else {
            self.exchange(burst, (byte, there), start)
        };
        self.frame = match self.frame {
            Frame::Known(command, index) => Frame::Known(command, index + 1),
            Frame::Command if self.params.lines != Lines::Single => {
                commands::find(byte, self.params.lines).map_or(Frame::Refused, |command| Frame::Known(command, 1))
            }
            other => other,
        };
        self.tx.complete(self.free_edge);
        let received = self.format.ordered(received & self.format.mask()) as u8;
        let is_lost = !self.rx.push(received, self.free_edge);
        self.overruns += u64::from(is_lost);
        self.has_overrun |= is_lost;
    }

    /// Sends a byte, which was there from an edge on, with the clocks of `burst` from `start` on.
    fn exchange(&mut self, burst: Burst, (byte, there): (u8, u64), start: u64) -> u32 {
        let end = start + self.edges(burst);
        self.free_edge = end;
        if self.bus.selected().is_some() {
            self.frames.byte(Shifted { byte, sck_clocks: burst.clocks, there, start, end });
        }
        self.bus.exchange(burst, self.params.spi_time(end), self.format.clock(self.params.ext_spi_clock, start))
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
            let received = self.exchange(burst, (byte, self.free_edge), self.free_edge) as u8;
            if let Some(place) = index.checked_sub(header_bytes).and_then(|data| into.get_mut(data as usize)) {
                *place = received;
            }
        }
        self.select(None, self.free_edge);
        self.free_edge
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

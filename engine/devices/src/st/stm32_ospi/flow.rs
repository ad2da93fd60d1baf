//! Activity without the firmware: bytes between wire and FIFO, polls, ends of commands; and the firmware's data
//! accesses.

use super::phases::{DATA, Width, byte_in};
use super::registers::*;
use super::{Ctx, FIFO_BYTES, Flow, Ospi};
use engine::wire::spi::Burst;

/// The maximum number of polls that one access simulates one by one.
const MOST_POLLS_AT_ONCE: u64 = 1000;

impl Ospi {
    /// Performs all that happens up to an edge.
    pub(super) fn advance(&mut self, edge: u64) {
        while self.step(edge) {}
    }

    /// Performs the next change up to an edge; false if nothing changes.
    pub(super) fn step(&mut self, edge: u64) -> bool {
        match self.flow {
            Flow::Read(_, 0) | Flow::Write(_, 0) => self.flow = Flow::Ending(self.wire.deselect(0)),
            Flow::Read(width, left) if self.can_fetch(width, edge) => {
                self.fetch(width);
                self.flow = Flow::Read(width, left - 1);
            }
            Flow::Write(width @ (lines, rate), left) => {
                let Some((byte, from)) = self.fifo.front().copied() else { return false };
                if from.max(self.wire.free) > edge {
                    return false;
                }
                self.fifo.pop_front();
                self.shift(from, Burst::output(lines, rate, u8::BITS, byte.into()));
                self.flow = Flow::Write(width, left - 1);
            }
            Flow::PollFrom(at) if at <= edge => self.poll_memory(at, edge),
            Flow::Polled(at, value) if at <= edge => self.compare(at, value),
            Flow::Ending(at) if at <= edge => {
                self.registers.put(SR, SR_TCF, true);
                self.flow = Flow::Idle;
            }
            Flow::Mapped(width, _) if self.can_fetch(width, edge) => self.fetch(width),
            Flow::Mapped(..) => match self.timeout().filter(|at| *at <= edge) {
                Some(at) => {
                    self.wire.deselect(at);
                    self.registers.put(SR, SR_TOF, true);
                }
                None => return false,
            },
            _ => return false,
        }
        true
    }

    /// The edge at which the next byte will have been read, if the FIFO has room for it.
    fn next_byte(&self, width: Width) -> Option<u64> {
        let end = self.wire.free.max(self.room_from) + self.byte_edges(width);
        (self.wire.selected && self.fifo.len() < FIFO_BYTES).then_some(end)
    }

    fn can_fetch(&self, width: Width, edge: u64) -> bool {
        self.next_byte(width).is_some_and(|end| end <= edge)
    }

    pub(super) fn fetch(&mut self, width: Width) {
        let byte = self.shift(self.room_from, byte_in(width)) as u8;
        self.fifo.push_back((byte, self.wire.free));
    }

    /// The edge at which memory-mapped reads end if no access continues them.
    pub(super) fn timeout(&self) -> Option<u64> {
        let waits = self.wire.selected && self.registers.has(CR, CR_TCEN) && self.fifo.len() == FIFO_BYTES;
        waits.then(|| self.wire.free + u64::from(self.registers[LPTR]) * self.wire.timing.period)
    }

    /// Reads the memory's registers. After many polls without an access, polls long before `edge` are only counted:
    /// they read the same as the next ones.
    pub(super) fn poll_memory(&mut self, at: u64, edge: u64) {
        let Ok(command) = self.phases(self.registers[AR]) else {
            self.flow = Flow::Idle;
            return;
        };
        let bytes = self.length().min(4);
        let (frame, clocks) = self.command_edges(&command, bytes);
        let each = frame + self.poll_pause();
        let skipped = ((edge - at) / each).saturating_sub(MOST_POLLS_AT_ONCE);
        self.wire.frames += skipped;
        self.wire.sck_clocks += skipped * clocks;
        self.wire.signals.set_in_place(false);
        self.open(at + skipped * each, &command);
        let mut value = 0;
        for index in 0..bytes {
            let byte = command.data.map_or(0, |width| self.shift(0, byte_in(width)) & 0xff);
            value |= byte << (8 * index);
        }
        self.flow = Flow::Polled(self.wire.deselect(0), value);
    }

    /// Edges from one poll to the next: PIR, but at least the minimum high time of chip select.
    fn poll_pause(&self) -> u64 {
        (u64::from(self.registers[PIR]) * self.wire.timing.period).max(self.wire.timing.inactive)
    }

    pub(super) fn compare(&mut self, at: u64, value: u32) {
        let differing = (value ^ self.registers[PSMAR]) & self.registers[PSMKR];
        let matches = if self.registers.has(CR, CR_PMM) { differing != self.registers[PSMKR] } else { differing == 0 };
        self.registers.put(SR, SR_SMF, self.registers.has(SR, SR_SMF) || matches);
        self.flow = match matches && self.registers.has(CR, CR_APMS) {
            true => Flow::Idle,
            false => Flow::PollFrom(at + self.poll_pause()),
        };
    }

    /// The edge of the next change that firmware can see.
    pub(super) fn next_change(&self) -> Option<u64> {
        match self.flow {
            Flow::Idle | Flow::Held => None,
            Flow::Read(_, 0) | Flow::Write(_, 0) => Some(self.wire.free),
            Flow::Read(width, _) => self.next_byte(width),
            Flow::Write(..) => self.fifo.front().map(|(_, from)| (*from).max(self.wire.free)),
            Flow::PollFrom(at) | Flow::Polled(at, _) | Flow::Ending(at) => Some(at),
            Flow::Mapped(..) => self.timeout(),
        }
    }

    /// An access waits for an edge of the stopped kernel clock. On the chip it blocks the bus until the clock runs.
    pub(super) fn never_ends(&self, ctx: &mut Ctx) {
        self.clock.is_needed(ctx);
        ctx.note("an access waits for the kernel clock, which is stopped, and would never end: it ends without data");
    }

    /// A read of OCTOSPI_DR: the data, and the edge at which they are available.
    pub(super) fn receive(&mut self, bytes: u32, edge: u64, ctx: &mut Ctx) -> (u32, u64) {
        let (mut value, mut done) = (0, edge);
        for index in 0..bytes {
            if let (true, Flow::Read(width, left @ 1..)) = (self.fifo.is_empty(), self.flow) {
                if !self.clock.is_running() {
                    self.never_ends(ctx);
                    break;
                }
                self.fetch(width);
                self.flow = Flow::Read(width, left - 1);
            }
            let was_full = self.fifo.len() == FIFO_BYTES;
            let Some((byte, from)) = self.fifo.pop_front() else {
                if index == 0 {
                    self.names.note("OCTOSPI_DR was read while no more data come: it reads 0", ctx);
                }
                break;
            };
            done = done.max(from);
            self.room_from = if was_full { done } else { self.room_from };
            value |= u32::from(byte) << (8 * index);
        }
        (value, done)
    }

    /// A write of OCTOSPI_DR: the edge at which the FIFO has accepted it.
    pub(super) fn transmit(&mut self, value: u32, bytes: u32, ctx: &mut Ctx) -> u64 {
        let mut edge = self.clock.next_edge(ctx.now);
        if self.flow == Flow::Idle && self.mode() == 0 && self.has_phase(DATA) {
            self.start(ctx);
        }
        for byte in &value.to_le_bytes()[..bytes as usize] {
            let left = match self.flow {
                Flow::Write(_, left) => left,
                Flow::Held if self.mode() == 0 => self.length(),
                _ => {
                    self.names.note("OCTOSPI_DR was written without a command that takes data: the data are lost", ctx);
                    break;
                }
            };
            if self.fifo.len() as u64 >= left {
                self.names.note(
                    "OCTOSPI_DR was written after the last byte of a command (OCTOSPI_DLR): the data are lost",
                    ctx,
                );
                break;
            }
            if self.fifo.len() == FIFO_BYTES && !self.clock.is_running() {
                self.never_ends(ctx);
                break;
            }
            if self.fifo.len() == FIFO_BYTES {
                let begins = self.fifo.front().map_or(0, |(_, from)| (*from).max(self.wire.free));
                self.step(begins);
                edge = edge.max(begins);
            }
            self.fifo.push_back((*byte, edge));
        }
        edge
    }
}

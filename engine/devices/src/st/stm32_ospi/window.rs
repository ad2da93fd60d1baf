//! Memory-mapped mode: reads of the memory through the window, with prefetch.

use super::registers::*;
use super::{Ctx, FIFO_BYTES, Flow, Ospi, SlaveError};

impl Ospi {
    /// A read of `bytes` bytes: the first four, and the edge at which the last one is available.
    pub(super) fn window_read(&mut self, address: u32, bytes: u32, ctx: &mut Ctx) -> Result<(u32, u64), SlaveError> {
        let edge = self.clock.next_edge(ctx.now);
        self.advance(edge);
        let error = SlaveError { done: ctx.now };
        if !self.clock.is_running() {
            self.never_ends(ctx);
            return Err(error);
        }
        if self.mode() != 3 || !self.registers.has(CR, CR_EN) {
            self.names.note(
                "the memory window was read while the controller is not in memory-mapped mode (OCTOSPI_CR.FMODE)",
                ctx,
            );
            return Err(error);
        }
        if u64::from(address) + u64::from(bytes) > self.size() {
            self.names.note("a read is beyond the memory's size (OCTOSPI_DCR1.DEVSIZE): a bus error", ctx);
            return Err(error);
        }
        let ahead = match self.flow {
            Flow::Mapped(_, first) => address.checked_sub(first).filter(|ahead| *ahead as usize <= self.fifo.len()),
            _ => None,
        };
        let (mut value, mut done) = (0, edge);
        self.drop_ahead(ahead.unwrap_or(0), edge);
        if ahead.is_none() && !self.map_from(address, edge, ctx) {
            return Err(error);
        }
        for index in 0..bytes {
            let Flow::Mapped(width, _) = self.flow else { return Err(error) };
            if self.fifo.is_empty() {
                if !self.wire.selected && !self.map_from(address + index, done, ctx) {
                    return Err(error);
                }
                self.fetch(width);
            }
            if let Some((byte, from)) = self.fifo.front().copied() {
                done = done.max(from);
                value |= u32::from(byte).checked_shl(8 * index).unwrap_or(0);
            }
            self.drop_ahead(1, done);
        }
        Ok((value, done))
    }

    /// Removes bytes from the FIFO.
    pub(super) fn drop_ahead(&mut self, bytes: u32, edge: u64) {
        for _ in 0..bytes {
            if self.fifo.len() == FIFO_BYTES {
                self.room_from = edge;
            }
            self.fifo.pop_front();
            if let Flow::Mapped(width, first) = self.flow {
                self.flow = Flow::Mapped(width, first + 1);
            }
        }
    }

    /// Starts reads at an address; false if the registers have no such command.
    pub(super) fn map_from(&mut self, address: u32, edge: u64, ctx: &mut Ctx) -> bool {
        let Some(command) = self.command(address, ctx) else { return false };
        let Some(width) = command.data else {
            self.names.note("the command of a memory-mapped read has no data (OCTOSPI_CCR.DMODE): a bus error", ctx);
            return false;
        };
        self.fifo.clear();
        self.wire.deselect(edge);
        self.wire.signals.set_in_place(true);
        self.open(edge + self.start.0, &command);
        self.flow = Flow::Mapped(width, address);
        true
    }
}

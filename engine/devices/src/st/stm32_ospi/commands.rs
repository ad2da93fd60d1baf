//! Commands from the registers: their start, their progress, and its status in OCTOSPI_SR.

use super::phases::{ADDRESS, Command};
use super::registers::*;
use super::{Ctx, FIFO_BYTES, Flow, Ospi};
use crate::registers::flag;

impl Ospi {
    /// Starts the registers' command.
    pub(super) fn start(&mut self, ctx: &mut Ctx) {
        if self.command(self.registers[AR], ctx).is_none() {
            return;
        }
        if self.has_phase(ADDRESS) && u64::from(self.registers[AR]) >= self.size() {
            self.names
                .note("OCTOSPI_AR is beyond the memory's size (OCTOSPI_DCR1.DEVSIZE): nothing is sent (TEF)", ctx);
            self.registers.put(SR, SR_TEF, true);
            return;
        }
        self.fifo.clear();
        self.flow = Flow::Held;
        if self.clock.is_running() {
            self.begin(ctx);
        } else {
            self.clock.is_needed(ctx);
        }
    }

    /// Sends the command; its data may have been written before.
    pub(super) fn begin(&mut self, ctx: &mut Ctx) {
        let at = self.clock.next_edge(ctx.now) + self.start.0;
        self.flow = Flow::Idle;
        let Some(command) = self.command(self.registers[AR], ctx) else { return };
        self.flow = match (self.mode(), command.data) {
            (2, _) => Flow::PollFrom(at),
            (mode, data) => {
                self.wire.signals.set_in_place(false);
                self.open(at, &command);
                match data {
                    Some(width) if mode == 0 => Flow::Write(width, self.length()),
                    Some(width) => Flow::Read(width, self.length()),
                    None => Flow::Ending(self.wire.deselect(0)),
                }
            }
        };
    }

    /// The registers' command for an address, if it can be sent.
    pub(super) fn command(&mut self, address: u32, ctx: &mut Ctx) -> Option<Command> {
        if !self.registers.has(CR, CR_EN) {
            self.names.note("a command was begun while the controller is off (OCTOSPI_CR.EN): nothing is sent", ctx);
            return None;
        }
        let command = self.phases(address).ok();
        if command.is_none() {
            self.names.note("eight data lines (OCTOSPI_CCR) are not modelled: nothing is sent", ctx);
            self.registers.put(SR, SR_TEF, true);
        }
        command
    }

    /// OCTOSPI_SR.BUSY.
    pub(super) fn is_busy(&self) -> bool {
        match self.flow {
            Flow::Idle => false,
            Flow::Mapped(..) => self.wire.selected,
            _ => true,
        }
    }

    /// OCTOSPI_SR at an edge.
    pub(super) fn status(&self, edge: u64) -> u32 {
        let there = self.fifo.iter().filter(|(_, from)| *from <= edge).count();
        let threshold = self.registers.field(CR, CR_FTHRES) as usize + 1;
        let full_enough = match (self.flow, self.mode()) {
            (Flow::Write(..), _) | (Flow::Held, 0) => FIFO_BYTES - self.fifo.len() >= threshold,
            (Flow::Idle, 0) => self.registers.has(CR, CR_EN),
            (Flow::Read(..), _) => there >= threshold,
            (Flow::Idle | Flow::Ending(_), 1) => there > 0,
            _ => false,
        };
        let level = if matches!(self.flow, Flow::Write(..) | Flow::Held) { self.fifo.len() } else { there };
        self.registers[SR] | flag(SR_FTF, full_enough) | flag(SR_BUSY, self.is_busy()) | (level as u32) << 8
    }
}

//! XIP mode (PG153 v3.2, "XIP Mode", "XIP Configuration Register", "XIP Status Register", "XIP Mode Commands"): two
//! registers on AXI4-Lite, and a window on AXI4 whose every read transaction is one frame of the fast read of the
//! core's width: 0Bh, BBh or EBh. The beats of a burst are more clocks of the same frame. The memory is on slave select
//! 0.

use super::commands::{self, Command};
use super::{AxiQuadSpi, flag};
use crate::support::registers::{AccessKind, Register};
use engine::bus::device::{AccessSize, Ctx, Reply, SlaveError};
use engine::polling::Poll;
use engine::state::State;
use engine::time::{Cycles, Ps};
use engine::wire::spi::Lines;

const XIPCR: u32 = 0x60;
const XIPSR: u32 = 0x64;

/// The register map in XIP mode.
pub const XIP_REGISTERS: &[Register] = &[
    Register::new("XIP-CR", XIPCR, AccessKind::Rw, 0, 0x3),
    Register::new("XIP-SR", XIPSR, AccessKind::Ro, 0x1, 0x1f),
];

const XIPCR_CPHA: u32 = 1 << 0;
const XIPCR_CPOL: u32 = 1 << 1;
/// XIP-SR: the receive FIFO is empty between transactions.
const XIPSR_RX_EMPTY: u32 = 1 << 0;
const XIPSR_CPOL_CPHA_ERROR: u32 = 1 << 3;
const XIPSR_AXI_TRANSACTION_ERROR: u32 = 1 << 4;

/// State of XIP mode.
#[derive(Clone, Copy, Debug, Default, State)]
pub struct Xip {
    config: u32,
    /// Errors since XIP-SR was last read, which clears them.
    errors: u32,
}

impl Xip {
    /// For skipping of polling loops.
    pub fn polled(&self, poll: &mut Poll) {
        poll.state(self.config);
        poll.state(self.errors);
    }
}

/// The command that the core sends for a read of the window.
fn fast_read(lines: Lines) -> &'static Command {
    let opcode = match lines {
        Lines::Single => 0x0b,
        Lines::Dual => 0xbb,
        Lines::Quad => 0xeb,
    };
    commands::find(opcode, lines).expect("the table has the fast reads")
}

impl AxiQuadSpi {
    pub(super) fn xip_read(
        &mut self,
        range: usize,
        offset: u32,
        size: AccessSize,
        ctx: &mut Ctx,
    ) -> Result<Reply, SlaveError> {
        if range == 0 {
            let value = match offset & !3 {
                XIPCR => self.xip.config,
                XIPSR => std::mem::take(&mut self.xip.errors) | XIPSR_RX_EMPTY,
                _ => 0,
            };
            return Ok(self.params.port.read(value, offset, size, ctx.now));
        }
        let mut word = [0; 4];
        let done = self.xip_frame(offset & !3, 4, &mut word, ctx)?;
        Ok(Reply::read(size.extracted(u32::from_le_bytes(word), offset), done))
    }

    pub(super) fn xip_write(
        &mut self,
        range: usize,
        offset: u32,
        value: u32,
        ctx: &mut Ctx,
    ) -> Result<Reply, SlaveError> {
        let reply = self.params.port.written(ctx.now);
        if range != 0 {
            self.xip.errors |= XIPSR_AXI_TRANSACTION_ERROR;
            ctx.note("a write to the read window has no effect: the core answers with an error");
            return Err(SlaveError { done: reply.done });
        }
        match offset & !3 {
            XIPCR => {
                self.xip.config = XIP_REGISTERS[0].after_write(self.xip.config, value);
                let edge = self.effect_edge(ctx.now);
                self.wire.set_clock_mode(self.xip.config & XIPCR_CPOL != 0, self.xip.config & XIPCR_CPHA != 0, edge);
            }
            XIPSR => ctx.note("a write to XIP-SR, which is read only, has no effect"),
            _ => {}
        }
        Ok(reply)
    }

    pub(super) fn xip_peek(&self, range: usize, offset: u32, into: &mut [u8]) -> bool {
        self.params.xip && range == 1 && self.wire.chips.get(0).is_some_and(|chip| chip.peek(offset, into))
    }

    pub(super) fn xip_load(&mut self, range: usize, offset: u32, bytes: &[u8]) -> bool {
        self.params.xip && range == 1 && self.wire.chips.get_mut(0).is_some_and(|chip| chip.preload(offset, bytes))
    }

    pub(super) fn xip_burst(&mut self, range: usize, offset: u32, bytes: u32, ctx: &mut Ctx) -> Result<Ps, SlaveError> {
        if !self.params.xip || range != 1 {
            return Err(SlaveError { done: ctx.now });
        }
        self.xip_frame(offset, bytes, &mut [], ctx)
    }

    /// One read transaction: copies the bytes from `offset` on, up to the length of `into`. Returns the time of its
    /// last beat.
    fn xip_frame(&mut self, offset: u32, bytes: u32, into: &mut [u8], ctx: &mut Ctx) -> Result<Ps, SlaveError> {
        let differ = matches!(self.xip.config, 0b01 | 0b10);
        if differ {
            self.xip.errors |= flag(XIPSR_CPOL_CPHA_ERROR, differ);
            ctx.note(
                "XIP-CR's CPOL and CPHA differ: the core does not take the read; here it is answered with an error",
            );
            return Err(SlaveError { done: self.params.port.written(ctx.now).done });
        }
        let edge = self.effect_edge(ctx.now);
        let end = self.wire.read_frame(fast_read(self.params.lines), offset, bytes, into, edge);
        self.take_notes(ctx);
        self.follow_chips(ctx);
        let ended = self.params.ext_spi_clock.ps_at_floor(Cycles(end));
        let latency = Cycles(self.params.rx_sync_cycles.0 + self.params.port.read_cycles.0);
        Ok(self.params.port.clock.after(ended, latency))
    }
}

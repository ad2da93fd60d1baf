//! XIP mode (PG153 v3.2, "XIP Mode", "XIP Configuration Register", "XIP Status Register", "XIP Mode Commands"): two
//! registers on AXI4-Lite, and a window on AXI4 whose every read transaction is one frame of the fast read of the
//! core's width: 0Bh, BBh or EBh. The beats of a burst are more clocks of the same frame. The memory is on slave select
//! 0.

use super::AxiQuadSpi;
use super::commands::{self, Command};
use crate::prelude::*;
use engine::wire::spi::Lines;

registers! {
    /// The register map in XIP mode.
    pub const MAP "" {
        XIPCR "XIP-CR" 0x60 rw { CPHA 0, CPOL 1 };
        XIPSR "XIP-SR" 0x64 ro reset 0x1 mask 0x1f {
            /// The receive FIFO is empty between transactions.
            RX_EMPTY 0,
            CPOL_CPHA_ERROR 3 rc,
            AXI_TRANSACTION_ERROR 4 rc,
        };
    }
}

/// The command that the core sends for a read of the window.
fn fast_read(lines: Lines) -> Command {
    let opcode = match lines {
        Lines::Single => 0x0b,
        Lines::Dual => 0xbb,
        Lines::Quad => 0xeb,
    };
    commands::find(opcode, lines).expect("the table has the fast reads")
}

impl AxiQuadSpi {
    /// Outside of XIP mode the core has no read window, even if the board has an address range for it.
    pub(super) fn has_window(&self, range: usize) -> bool {
        self.params.xip && range == 1
    }

    fn check_window(&self, ctx: &mut Ctx) -> Result<(), SlaveError> {
        if self.params.xip {
            return Ok(());
        }
        ctx.note("the read window was accessed, but the core is not configured for XIP mode (xlnx,xip-mode)");
        Err(SlaveError { done: ctx.now })
    }

    pub(super) fn read_window(&mut self, offset: u32, size: AccessSize, ctx: &mut Ctx) -> AccessResult {
        self.check_window(ctx)?;
        let mut word = [0; 4];
        let done = self.xip_read(offset & !3, 4, &mut word, ctx)?;
        Ok(Reply::read(size.extracted(u32::from_le_bytes(word), offset), done))
    }

    pub(super) fn write_window(&mut self, ctx: &mut Ctx) -> AccessResult {
        self.check_window(ctx)?;
        self.registers.put(XIPSR, XIPSR_AXI_TRANSACTION_ERROR, true);
        ctx.note("a write to the read window has no effect: the core answers with an error");
        Err(SlaveError { done: self.params.port.written(ctx.now).done })
    }

    pub(super) fn wrote_xip(&mut self, ctx: &mut Ctx) {
        let [cpol, cpha] = [XIPCR_CPOL, XIPCR_CPHA].map(|bit| self.registers.has(XIPCR, bit));
        let edge = self.params.effect_edge(ctx.now);
        self.shifter.set_clock_mode(cpol, cpha, edge);
    }

    /// One read transaction: copies the bytes from `offset` on, up to the length of `into`. Returns the time of its
    /// last beat.
    pub(super) fn xip_read(
        &mut self,
        offset: u32,
        bytes: u32,
        into: &mut [u8],
        ctx: &mut Ctx,
    ) -> Result<Ps, SlaveError> {
        if self.registers[XIPCR].count_ones() == 1 {
            self.registers.put(XIPSR, XIPSR_CPOL_CPHA_ERROR, true);
            ctx.note(
                "XIP-CR's CPOL and CPHA differ: the core does not take the read; here it is answered with an error",
            );
            return Err(SlaveError { done: self.params.port.written(ctx.now).done });
        }
        let edge = self.params.effect_edge(ctx.now);
        let end = self.shifter.read_frame(&fast_read(self.params.lines), offset, bytes, into, edge);
        self.shifter.bus.chips.take_notes(ctx);
        self.follow_chips(ctx);
        let latency = Cycles(self.params.rx_sync_cycles.0 + self.params.port.read_cycles.0);
        Ok(self.params.port.clock.after(self.params.spi_time(end), latency))
    }
}

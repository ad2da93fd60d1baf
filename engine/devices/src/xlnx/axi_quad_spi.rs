//! `xlnx,axi-quad-spi-1.00.a`: AMD's AXI Quad SPI v3.2 (PG153; register space, "Designing with the Core", command
//! tables).
//!
//! Modelled: legacy (AXI4-Lite) and enhanced (AXI4, FIXED bursts at the FIFOs) access; standard, dual and quad mode;
//! FIFOs of 16 or 256 bytes or none; all SCK ratios; the command decoder for Micron memories; all status, interrupt and
//! occupancy registers in master mode; loopback; the read window of XIP mode.
//!
//! Not modelled: slave mode and mode faults (the core is the only master of its wire: with SPICR.Master 0 nothing is
//! transferred, and a note says so), transfers of 16 and 32 bits, memories other than Micron's, 32-bit addresses, the
//! STARTUP primitive, the dual quad mode. In standard mode, if CPOL and CPHA differ, which the memory does not support,
//! a note says so, and data are shifted as if they were equal.

pub mod commands;
pub mod fifo;
pub mod frames;
pub mod params;
mod queues;
pub mod wire;
pub mod xip;

#[cfg(test)]
mod tests;

use self::fifo::{RxFifo, TxFifo};
use self::params::Params;
use self::wire::{Control, Wire};
use crate::model::{Group, Model};
use crate::support::axi_lite::on_lanes;
use crate::support::fifo_entries::Queues;
use crate::support::hosted_chip::{CONTROLLER_EVENT, Chips};
use crate::support::registers::{AccessKind, Register, find, flag};
use engine::bus::device::{AccessSize, Ctx, Device, PortId, Reply, SlaveError};
use engine::dt::reader::NodeReader;
use engine::observe::spi::SpiSignals;
use engine::polling::{Edge, Poll, Polled};
use engine::state::State;
use engine::time::{Cycles, Ps};
use engine::wire::spi::{Lines, SpiTarget};

const DGIER: u32 = 0x1c;
const IPISR: u32 = 0x20;
const IPIER: u32 = 0x28;
const SRR: u32 = 0x40;
const SPICR: u32 = 0x60;
const SPISR: u32 = 0x64;
const DTR: u32 = 0x68;
const DRR: u32 = 0x6c;
const SPISSR: u32 = 0x70;
const TX_FIFO_OCY: u32 = 0x74;
const RX_FIFO_OCY: u32 = 0x78;

/// The register map outside XIP mode (PG153 v3.2, "Register Space").
pub const REGISTERS: &[Register] = &[
    Register::new("DGIER", DGIER, AccessKind::Rw, 0, 0x8000_0000),
    Register::new("IPISR", IPISR, AccessKind::W1t, 0, 0x3fff),
    Register::new("IPIER", IPIER, AccessKind::Rw, 0, 0x3fff),
    Register::new("SRR", SRR, AccessKind::Wo, 0, u32::MAX),
    Register::new("SPICR", SPICR, AccessKind::Rw, 0x180, 0x3ff),
    Register::new("SPISR", SPISR, AccessKind::Ro, 0x25, 0x7ff),
    Register::new("SPI DTR", DTR, AccessKind::Wo, 0, 0xff),
    Register::new("SPI DRR", DRR, AccessKind::Ro, 0, 0xff),
    Register::new("SPISSR", SPISSR, AccessKind::Rw, u32::MAX, u32::MAX),
    Register::new("TX_FIFO_OCY", TX_FIFO_OCY, AccessKind::Ro, 0, 0xff),
    Register::new("RX_FIFO_OCY", RX_FIFO_OCY, AccessKind::Ro, 0, 0xff),
];

/// Fields of SPICR.
mod cr {
    pub const LOOP: u32 = 1 << 0;
    pub const SPE: u32 = 1 << 1;
    pub const MASTER: u32 = 1 << 2;
    pub const CPOL: u32 = 1 << 3;
    pub const CPHA: u32 = 1 << 4;
    pub const TX_FIFO_RESET: u32 = 1 << 5;
    pub const RX_FIFO_RESET: u32 = 1 << 6;
    pub const MANUAL_SELECT: u32 = 1 << 7;
    pub const INHIBIT: u32 = 1 << 8;
    pub const LSB_FIRST: u32 = 1 << 9;
}

/// Fields of SPISR.
mod sr {
    pub const RX_EMPTY: u32 = 1 << 0;
    pub const RX_FULL: u32 = 1 << 1;
    pub const TX_EMPTY: u32 = 1 << 2;
    pub const TX_FULL: u32 = 1 << 3;
    /// The core is not selected as a slave: it never is.
    pub const SLAVE_MODE_SELECT: u32 = 1 << 5;
    pub const CPOL_CPHA_ERROR: u32 = 1 << 6;
    pub const SLAVE_MODE_ERROR: u32 = 1 << 7;
    pub const MSB_ERROR: u32 = 1 << 8;
    pub const LOOPBACK_ERROR: u32 = 1 << 9;
    pub const COMMAND_ERROR: u32 = 1 << 10;
    /// Settings that dual and quad mode do not allow: with them nothing is transferred.
    pub const SETTINGS: u32 = CPOL_CPHA_ERROR | SLAVE_MODE_ERROR | MSB_ERROR | LOOPBACK_ERROR;
}

/// Bits of IPISR and IPIER that master mode can raise.
mod irq {
    pub const DTR_EMPTY: u32 = 1 << 2;
    pub const DRR_FULL: u32 = 1 << 4;
    pub const DRR_OVERRUN: u32 = 1 << 5;
    pub const TX_HALF_EMPTY: u32 = 1 << 6;
    pub const COMMAND_ERROR: u32 = 1 << 13;
    /// Interrupts at the end of a byte.
    pub const BY_BYTES: u32 = DTR_EMPTY | DRR_FULL | DRR_OVERRUN | TX_HALF_EMPTY | COMMAND_ERROR;
    /// IPISR bits 9 to 12 stand for SPISR bits 6 to 9.
    pub const SETTINGS_SHIFT: u32 = 3;
}

const DGIER_GIE: u32 = 1 << 31;
const SRR_RESET: u32 = 0xa;

/// The core.
#[derive(State)]
pub struct AxiQuadSpi {
    #[state(skip)]
    params: Params,
    wire: Wire,
    tx: TxFifo,
    rx: RxFifo,
    queues: Queues,
    cr: u32,
    ssr: u32,
    dgier: u32,
    ipisr: u32,
    ipier: u32,
    xip: xip::Xip,
    overruns_seen: u64,
    command_error_seen: bool,
    irq_level: bool,
    event_due: Ps,
}

/// For the list of models.
pub const MODEL: Model = Model::device(Group::Spi, &["xlnx,axi-quad-spi-1.00.a", "xlnx,xps-spi-2.00.a"], 1, from_node)
    .with_activities(queues::ACTIVITIES)
    .naming(REGISTERS);

/// Builds the core from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    let params = Params::from_node(reader);
    let chips = Chips::from_node(reader, params.slaves);
    Box::new(AxiQuadSpi::new(params, chips))
}

impl AxiQuadSpi {
    /// The core with a chip or without on each slave select.
    pub fn new(params: Params, chips: Chips) -> AxiQuadSpi {
        let depth = params.register_or_fifo_depth();
        AxiQuadSpi {
            params,
            wire: Wire::new(params.ext_spi_clock, u64::from(params.sck_ratio), params.lines, chips),
            tx: TxFifo::new(depth),
            rx: RxFifo::new(depth),
            queues: Queues::default(),
            cr: reset_of(SPICR),
            ssr: reset_of(SPISSR),
            dgier: 0,
            ipisr: 0,
            ipier: 0,
            xip: xip::Xip::default(),
            overruns_seen: 0,
            command_error_seen: false,
            irq_level: false,
            event_due: Ps::MAX,
        }
    }

    /// Brings the core up to the state that AXI sees at `now`.
    fn catch_up(&mut self, now: Ps) {
        let seen_edge = self.seen_edge(now);
        self.wire.advance(&mut self.tx, &mut self.rx, seen_edge);
        while self.tx.free_one(seen_edge) {
            self.report_sent();
            self.ipisr |= match self.tx.occupancy() {
                0 => irq::DTR_EMPTY,
                left if left * 2 == self.params.fifo_depth => irq::TX_HALF_EMPTY,
                _ => 0,
            };
        }
        while self.rx.see_one(seen_edge) {
            self.report_received();
            self.ipisr |= if self.rx.is_full() { irq::DRR_FULL } else { 0 };
        }
        if self.wire.totals.overruns != self.overruns_seen {
            self.overruns_seen = self.wire.totals.overruns;
            self.ipisr |= irq::DRR_OVERRUN;
        }
        if self.wire.has_command_error() != self.command_error_seen {
            self.command_error_seen = !self.command_error_seen;
            self.ipisr |= flag(irq::COMMAND_ERROR, self.command_error_seen);
        }
    }

    /// SPISR as a function of the state.
    fn status(&self) -> u32 {
        let depth = self.params.register_or_fifo_depth();
        flag(sr::RX_EMPTY, self.rx.occupancy() == 0)
            | flag(sr::RX_FULL, self.rx.occupancy() == depth)
            | flag(sr::TX_EMPTY, self.tx.occupancy() == 0)
            | flag(sr::TX_FULL, self.tx.is_full())
            | sr::SLAVE_MODE_SELECT
            | flag(sr::COMMAND_ERROR, self.wire.has_command_error())
            | self.setting_errors()
    }

    /// Settings in SPICR that dual and quad mode do not allow (SPISR bits 6 to 9).
    fn setting_errors(&self) -> u32 {
        if self.params.lines == Lines::Single {
            return 0;
        }
        flag(sr::CPOL_CPHA_ERROR, clock_modes_differ(self.cr))
            | flag(sr::SLAVE_MODE_ERROR, self.cr & cr::MASTER == 0)
            | flag(sr::MSB_ERROR, self.cr & cr::LSB_FIRST != 0)
            | flag(sr::LOOPBACK_ERROR, self.cr & cr::LOOP != 0)
    }

    fn register(&mut self, offset: u32) -> Option<u32> {
        let fifos = self.params.fifo_depth != 0;
        Some(match offset {
            DGIER => self.dgier,
            IPISR => self.ipisr,
            IPIER => self.ipier,
            SPICR => self.cr,
            SPISR => self.status(),
            DRR => u32::from(self.rx.pop()?),
            SPISSR => self.ssr,
            TX_FIFO_OCY if fifos => self.tx.occupancy().saturating_sub(1),
            RX_FIFO_OCY if fifos => self.rx.occupancy().saturating_sub(1),
            _ => 0,
        })
    }

    /// A write; false if the core answers with an error.
    fn set_register(&mut self, register: &Register, value: u32, ctx: &mut Ctx) -> bool {
        match register.offset {
            DGIER => self.dgier = register.after_write(self.dgier, value),
            IPISR => self.ipisr = register.after_write(self.ipisr, value),
            IPIER => self.ipier = register.after_write(self.ipier, value),
            SRR if value == SRR_RESET => self.reset(ctx),
            SRR => ctx.note("a write to SRR that is not 0xa has no effect"),
            SPICR => self.set_control(value & register.mask, ctx),
            DTR => {
                let visible_edge = self.effect_edge(ctx.now);
                let accepted = self.tx.push(value as u8, visible_edge);
                if accepted {
                    self.record_written(value as u8, ctx.now);
                }
                return accepted;
            }
            SPISSR => self.set_select(value, ctx),
            _ => ctx.note(&format!("a write to {}, which is read only, has no effect", register.name)),
        }
        true
    }

    fn reset(&mut self, ctx: &mut Ctx) {
        self.set_control(reset_of(SPICR) | cr::TX_FIFO_RESET | cr::RX_FIFO_RESET, ctx);
        self.set_select(reset_of(SPISSR), ctx);
        (self.dgier, self.ipisr, self.ipier) = (0, 0, 0);
    }

    fn set_control(&mut self, value: u32, ctx: &mut Ctx) {
        self.cr = value & !(cr::TX_FIFO_RESET | cr::RX_FIFO_RESET);
        let control = self.control();
        let tx_reset = value & cr::TX_FIFO_RESET != 0;
        let edge = self.effect_edge(ctx.now);
        if control != self.wire.control || tx_reset {
            self.settle_wire(edge, ctx);
            self.wire.set_control(control, edge);
        }
        self.wire.set_clock_mode(value & cr::CPOL != 0, value & cr::CPHA != 0, edge);
        if tx_reset {
            self.record_tx_reset(ctx.now);
            self.tx.clear();
            self.wire.reset_frame();
        }
        if value & cr::RX_FIFO_RESET != 0 {
            self.wire.advance(&mut self.tx, &mut self.rx, edge);
            self.record_rx_reset(ctx.now);
            self.rx.clear();
        }
        if value & cr::SPE != 0 {
            self.ipisr |= self.setting_errors() << irq::SETTINGS_SHIFT;
            self.note_settings(ctx);
        }
    }

    fn set_select(&mut self, value: u32, ctx: &mut Ctx) {
        self.ssr = value;
        let edge = self.effect_edge(ctx.now);
        self.settle_wire(edge, ctx);
        let active = !value & (u32::MAX >> (32 - self.params.slaves));
        if active.count_ones() > 1 {
            ctx.note("SPISSR selects several slaves at once: the lowest is taken");
        }
        self.wire.request_select((active != 0).then(|| active.trailing_zeros() as usize), edge);
    }

    /// The settings of SPICR for the wire.
    fn control(&self) -> Control {
        let enabled = self.cr & cr::SPE != 0 && self.cr & cr::MASTER != 0;
        Control {
            running: enabled && self.cr & cr::INHIBIT == 0 && self.setting_errors() & sr::SETTINGS == 0,
            manual_select: self.cr & cr::MANUAL_SELECT != 0,
            loopback: self.cr & cr::LOOP != 0 && self.params.lines == Lines::Single,
            lsb_first: self.cr & cr::LSB_FIRST != 0,
        }
    }

    /// Brings the wire up to a change that takes effect at `edge`.
    fn settle_wire(&mut self, edge: u64, ctx: &mut Ctx) {
        self.wire.advance(&mut self.tx, &mut self.rx, edge);
        if self.wire.finish_byte(&mut self.tx, &mut self.rx, edge) {
            ctx.note(
                "a transfer was stopped, or its slave select changed, in the middle of a byte: the core's outcome is \
                 undefined; here the byte is completed",
            );
        }
    }

    fn note_settings(&self, ctx: &mut Ctx) {
        if self.cr & cr::MASTER == 0 {
            ctx.note("SPICR enables the core as a slave, which is not modelled: nothing is transferred");
        }
        if self.params.lines == Lines::Single && clock_modes_differ(self.cr) {
            ctx.note("SPICR's CPOL and CPHA differ: the memory would read wrong bits; here it reads right ones");
        }
    }

    /// The edge of EXT_SPI_CLK at which a write at `now` takes effect on the wire's side.
    fn effect_edge(&self, now: Ps) -> u64 {
        self.params.ext_spi_clock.cycles_until_ceil(now).0 + self.params.tx_sync_clocks.0
    }

    /// The last edge of EXT_SPI_CLK that the AXI side has seen at `now`.
    fn seen_edge(&self, now: Ps) -> u64 {
        let axi = self.params.port.clock;
        let cycle = axi.cycles_until_floor(now).0.saturating_sub(self.params.rx_sync_cycles.0);
        self.params.ext_spi_clock.cycles_until_floor(axi.ps_at_floor(Cycles(cycle))).0
    }

    /// The time at which the AXI side sees a byte that ended at `edge`.
    fn seen_at(&self, edge: u64) -> Ps {
        let ended = self.params.ext_spi_clock.ps_at_floor(Cycles(edge));
        self.params.port.clock.after(ended, self.params.rx_sync_cycles)
    }

    /// The edges of the ends of bytes that the AXI side has not seen: ends in the past, the next one, and the last one.
    fn ends_to_be_seen(&self) -> Vec<u64> {
        let to_come = self.wire.next_completion(&self.tx).into_iter().chain(self.wire.last_completion(&self.tx));
        self.tx.unseen().chain(self.rx.unseen()).chain(to_come).collect()
    }

    /// Updates the interrupt line, and requests an event at the end of the next byte while it might raise the line.
    fn update_interrupts(&mut self, ctx: &mut Ctx) {
        let enabled = if self.dgier & DGIER_GIE != 0 { self.ipier } else { 0 };
        let level = self.ipisr & enabled != 0;
        if level != self.irq_level {
            self.irq_level = level;
            ctx.set_irq(self.params.interrupt, level);
        }
        if level || enabled & irq::BY_BYTES == 0 {
            return;
        }
        if let Some(edge) = self.wire.next_completion(&self.tx) {
            let due = self.seen_at(edge).max(ctx.now + Ps(1));
            if due < self.event_due {
                self.event_due = due;
                ctx.schedule(due, CONTROLLER_EVENT);
            }
        }
    }

    fn take_notes(&mut self, ctx: &mut Ctx) {
        self.wire.chips.take_notes(ctx);
    }

    /// Brings the wire up to `now`, whether the AXI side has seen it or not: the chips' pins do not wait for that.
    fn catch_wire_up(&mut self, now: Ps) {
        let edge = self.params.ext_spi_clock.cycles_until_floor(now).0;
        self.wire.advance(&mut self.tx, &mut self.rx, edge);
    }

    /// Updates the lines of the chips' pins after an access on the wire, and for those that follow.
    fn follow_chips(&mut self, ctx: &mut Ctx) {
        if self.wire.chips.have_pins() {
            let end =
                self.wire.next_completion(&self.tx).map(|edge| self.params.ext_spi_clock.ps_at_floor(Cycles(edge)));
            self.wire.chips.follow(end, ctx);
        }
    }
}

/// Outside of XIP mode the core has no read window, even if the board has an address range for it.
fn only_registers(range: usize, ctx: &mut Ctx) -> Result<(), SlaveError> {
    if range == 0 {
        return Ok(());
    }
    ctx.note("the read window was accessed, but the core is not configured for XIP mode (xlnx,xip-mode)");
    Err(SlaveError { done: ctx.now })
}

fn clock_modes_differ(value: u32) -> bool {
    (value & cr::CPOL != 0) != (value & cr::CPHA != 0)
}

fn reset_of(offset: u32) -> u32 {
    find(REGISTERS, offset).map_or(0, |register| register.reset)
}

impl Device for AxiQuadSpi {
    fn pops(&self, _range: usize, offset: u32) -> bool {
        offset & !3 == DRR
    }

    fn reset(&mut self, ctx: &mut Ctx) {
        self.wire.signals =
            SpiSignals::new(&ctx.bus.waves, ctx.scope(), ctx.label(), self.params.lines, self.params.slaves as usize);
        self.wire.signals.set_in_place(self.params.xip);
        if self.params.fifo_depth > 0 {
            self.queues.observe(ctx);
        }
        self.wire.chips.start(ctx);
    }

    fn read(&mut self, range: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> Result<Reply, SlaveError> {
        if self.params.xip {
            return self.xip_read(range, offset, size, ctx);
        }
        only_registers(range, ctx)?;
        self.catch_up(ctx.now);
        let value = self.register(offset & !3);
        if offset & !3 == DRR && value.is_some() {
            self.record_read(ctx.now);
        }
        self.follow_chips(ctx);
        self.update_interrupts(ctx);
        let reply = self.params.port.read(value.unwrap_or(0), offset, size, ctx.now);
        if value.is_none() {
            ctx.note("SPI DRR was read while it was empty: the core answers with an error");
            return Err(SlaveError { done: reply.done });
        }
        Ok(reply)
    }

    fn write(
        &mut self,
        range: usize,
        offset: u32,
        size: AccessSize,
        value: u32,
        ctx: &mut Ctx,
    ) -> Result<Reply, SlaveError> {
        let value = on_lanes(value, offset, size);
        if self.params.xip {
            return self.xip_write(range, offset, value, ctx);
        }
        only_registers(range, ctx)?;
        self.catch_up(ctx.now);
        let accepted = match find(REGISTERS, offset & !3) {
            Some(register) => self.set_register(register, value, ctx),
            // PG153: an access to an offset without a register is answered with OKAY.
            None => true,
        };
        self.take_notes(ctx);
        self.follow_chips(ctx);
        self.update_interrupts(ctx);
        let reply = self.params.port.written(ctx.now);
        if !accepted {
            ctx.note("SPI DTR was written while it was full: the core answers with an error");
            return Err(SlaveError { done: reply.done });
        }
        Ok(reply)
    }

    fn event(&mut self, token: u32, ctx: &mut Ctx) {
        if ctx.now >= self.event_due {
            self.event_due = Ps::MAX;
        }
        self.catch_up(ctx.now);
        if self.wire.chips.have_pins() {
            self.catch_wire_up(ctx.now);
            self.wire.chips.event(token, ctx);
        }
        self.follow_chips(ctx);
        self.update_interrupts(ctx);
    }

    fn pins_changed(&mut self, port: PortId, changed: u32, levels: u32, ctx: &mut Ctx) {
        self.catch_wire_up(ctx.now);
        self.wire.chips.pins_changed(port, changed, levels, ctx);
        self.follow_chips(ctx);
    }

    fn streams(&self, range: usize, offset: u32) -> bool {
        self.params.enhanced && range == 0 && matches!(offset & !3, DTR | DRR)
    }

    fn peek(&self, range: usize, offset: u32, into: &mut [u8]) -> bool {
        self.xip_peek(range, offset, into)
    }

    fn preload(&mut self, range: usize, offset: u32, bytes: &[u8]) -> bool {
        self.xip_load(range, offset, bytes)
    }

    fn burst(&mut self, range: usize, offset: u32, bytes: u32, ctx: &mut Ctx) -> Result<Ps, SlaveError> {
        self.xip_burst(range, offset, bytes, ctx)
    }

    fn finish(&mut self, now: Ps) {
        self.catch_wire_up(now);
        self.record_rest();
    }

    fn chips(&mut self) -> Vec<&mut dyn SpiTarget> {
        self.wire.chips.targets()
    }

    fn counters(&self) -> Vec<(String, u64)> {
        let totals = self.wire.totals;
        let mut counters = vec![
            ("bytes".to_owned(), totals.bytes),
            ("sck_clocks".to_owned(), totals.sck_clocks),
            ("frames".to_owned(), totals.frames),
            ("rx_overruns".to_owned(), totals.overruns),
        ];
        counters.extend(self.wire.frames.counters());
        counters.extend(self.wire.chips.counters());
        counters
    }
}

impl Polled for AxiQuadSpi {
    fn polled(&mut self, poll: &mut Poll) -> bool {
        let (axi, spi) = (self.params.port.clock, self.params.ext_spi_clock);
        if !self.params.xip {
            self.catch_up(poll.now());
        }
        // An event has to come first, or will, at the end of a byte that starts only in the next iteration.
        let waits = self.wire.chips.have_pins() && self.wire.next_completion(&self.tx).is_some();
        if self.event_due <= poll.now() || waits {
            return false;
        }
        poll.phase(axi);
        poll.phase(spi);
        for state in [self.cr, self.ssr, self.dgier, self.ipisr, self.ipier] {
            poll.state(state);
        }
        self.xip.polled(poll);
        for flag in [self.irq_level, self.command_error_seen] {
            poll.state(flag);
        }
        poll.state(self.event_due.0);
        poll.counter(&mut self.overruns_seen);
        for edge in self.ends_to_be_seen() {
            poll.end_ps(&mut self.seen_at(edge));
        }
        self.tx.polled(spi, poll);
        self.rx.polled(spi, poll);
        Edge::edge(&mut self.queues, axi, poll);
        self.wire.polled(poll)
    }
}

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
pub mod shifter;
pub mod xip;

#[cfg(test)]
mod tests;

use self::params::Params;
use self::shifter::{Control, Shifter};
use crate::prelude::*;
use crate::support::activities::{RX_FIFO, TX_FIFO};
use crate::support::hosted_chip::{CONTROLLER_EVENT, Chips};
use crate::support::interrupt_output::InterruptOutput;
use crate::support::spi_controller::lowest;
use engine::activity::Activity;
use engine::bus::device::PortId;
use engine::observe::spi::{FRAME, READING, SHIFTING};
use engine::wire::spi::{Lines, SpiTarget};

registers! {
    /// The register map outside XIP mode (PG153 v3.2, "Register Space").
    const MAP "" {
        DGIER 0x1c rw { GIE 31 };
        IPISR 0x20 w1t mask 0x3fff {
            DTR_EMPTY 2, DRR_FULL 4, DRR_OVERRUN 5, TX_HALF_EMPTY 6,
            /// The errors of settings in SPISR.
            SETTINGS 9..13,
            COMMAND_ERROR 13,
        };
        IPIER 0x28 rw mask 0x3fff;
        SRR 0x40 wo;
        SPICR 0x60 rw reset 0x180 {
            LOOP 0, SPE 1, MASTER 2, CPOL 3, CPHA 4, TX_FIFO_RESET 5, RX_FIFO_RESET 6, MANUAL_SELECT 7, INHIBIT 8,
            LSB_FIRST 9
        };
        SPISR 0x64 ro volatile reset 0x25 mask 0x7ff {
            RX_EMPTY 0, RX_FULL 1, TX_EMPTY 2, TX_FULL 3,
            /// The core is not selected as a slave: it never is.
            SLAVE_MODE_SELECT 5,
            CPOL_CPHA_ERROR 6, SLAVE_MODE_ERROR 7, MSB_ERROR 8, LOOPBACK_ERROR 9, COMMAND_ERROR 10
        };
        DTR "SPI DTR" 0x68 wo mask 0xff;
        DRR "SPI DRR" 0x6c ro volatile mask 0xff;
        SPISSR 0x70 rw reset u32::MAX;
        TX_FIFO_OCY 0x74 ro volatile mask 0xff;
        RX_FIFO_OCY 0x78 ro volatile mask 0xff;
    }
}

/// Bits of SPISR for settings that dual and quad mode do not allow: with them nothing is transferred.
const SETTINGS: u32 = SPISR_CPOL_CPHA_ERROR | SPISR_SLAVE_MODE_ERROR | SPISR_MSB_ERROR | SPISR_LOOPBACK_ERROR;
/// From these bits to those of IPISR.
const SETTINGS_SHIFT: u32 = IPISR_SETTINGS.trailing_zeros() - SETTINGS.trailing_zeros();
/// Interrupts at the end of a byte.
const BY_BYTES: u32 = IPISR_DTR_EMPTY | IPISR_DRR_FULL | IPISR_DRR_OVERRUN | IPISR_TX_HALF_EMPTY | IPISR_COMMAND_ERROR;
/// Both FIFOs are reset by these bits, which read 0.
const FIFO_RESETS: u32 = SPICR_TX_FIFO_RESET | SPICR_RX_FIFO_RESET;
const SRR_RESET: u32 = 0xa;

/// The core.
#[derive(State, Polled, RegisterBank)]
#[port(Port::axi_lite(self.params.port))]
#[poll(first = AxiQuadSpi::list_ends)]
pub struct AxiQuadSpi {
    #[state(skip)]
    params: Params,
    shifter: Shifter,
    registers: Registers,
    command_error_seen: bool,
    interrupt: InterruptOutput,
    alarm: Alarm,
}

/// The activities that the core records.
const ACTIVITIES: &[&Activity] = &[&SHIFTING, &FRAME, &READING, &TX_FIFO, &RX_FIFO];

/// For the list of models.
pub const MODEL: Model = Model::device(Group::Spi, &["xlnx,axi-quad-spi-1.00.a", "xlnx,xps-spi-2.00.a"], 1, from_node)
    .with_activities(ACTIVITIES)
    .naming(MAP.rows);

/// Builds the core from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    let params = Params::from_node(reader);
    let chips = Chips::from_node(reader, params.slaves);
    Box::new(AxiQuadSpi::new(params, chips))
}

impl AxiQuadSpi {
    /// The core with a chip or without on each slave select.
    pub fn new(params: Params, chips: Chips) -> AxiQuadSpi {
        AxiQuadSpi {
            params,
            shifter: Shifter::new(params, chips),
            registers: Registers::new(if params.xip { &xip::MAP } else { &MAP }),
            command_error_seen: false,
            interrupt: InterruptOutput::new(params.interrupt),
            alarm: Alarm::default(),
        }
    }

    /// Brings the core up to the state that AXI sees at `now`.
    fn catch_up(&mut self, now: Ps) {
        let (params, seen_edge) = (self.params, self.params.seen_edge(now));
        self.shifter.advance(seen_edge);
        let Shifter { tx, rx, .. } = &mut self.shifter;
        let mut raised = 0;
        while tx.see_one(seen_edge, |edge| params.seen_at(edge)) {
            raised |= match tx.occupancy() {
                0 => IPISR_DTR_EMPTY,
                left if left * 2 == params.fifo_depth => IPISR_TX_HALF_EMPTY,
                _ => 0,
            };
        }
        while rx.see_one(seen_edge, |edge| params.seen_at(edge)) {
            raised |= flag(IPISR_DRR_FULL, rx.is_full());
        }
        raised |= flag(IPISR_DRR_OVERRUN, std::mem::take(&mut self.shifter.has_overrun));
        let has_error = self.shifter.has_command_error();
        let had_error = std::mem::replace(&mut self.command_error_seen, has_error);
        raised |= flag(IPISR_COMMAND_ERROR, has_error && !had_error);
        if raised != 0 {
            self.registers.put(IPISR, raised, true);
        }
    }

    /// SPISR as a function of the state.
    fn status(&self) -> u32 {
        let Shifter { tx, rx, .. } = &self.shifter;
        flag(SPISR_RX_EMPTY, rx.occupancy() == 0)
            | flag(SPISR_RX_FULL, rx.is_full())
            | flag(SPISR_TX_EMPTY, tx.occupancy() == 0)
            | flag(SPISR_TX_FULL, tx.is_full())
            | SPISR_SLAVE_MODE_SELECT
            | flag(SPISR_COMMAND_ERROR, self.shifter.has_command_error())
            | self.setting_errors()
    }

    /// Settings in SPICR that dual and quad mode do not allow (SPISR bits 6 to 9).
    fn setting_errors(&self) -> u32 {
        if self.params.lines == Lines::Single {
            return 0;
        }
        flag(SPISR_CPOL_CPHA_ERROR, self.clock_modes_differ())
            | flag(SPISR_SLAVE_MODE_ERROR, !self.is_set(SPICR_MASTER))
            | flag(SPISR_MSB_ERROR, self.is_set(SPICR_LSB_FIRST))
            | flag(SPISR_LOOPBACK_ERROR, self.is_set(SPICR_LOOP))
    }

    /// True if SPICR has this bit.
    fn is_set(&self, bit: u32) -> bool {
        self.registers.has(SPICR, bit)
    }

    fn clock_modes_differ(&self) -> bool {
        self.is_set(SPICR_CPOL) != self.is_set(SPICR_CPHA)
    }

    /// An occupancy register: one less than the number of bytes, and 0 without FIFOs.
    fn occupancy(&self, bytes: u32) -> u32 {
        if self.params.fifo_depth == 0 { 0 } else { bytes.saturating_sub(1) }
    }

    fn write_reset(&mut self, value: u32, ctx: &mut Ctx) {
        if value != SRR_RESET {
            ctx.note("a write to SRR that is not 0xa has no effect");
            return;
        }
        self.registers.reset();
        self.wrote_control(self.registers[SPICR] | FIFO_RESETS, ctx);
        self.wrote_select(ctx);
    }

    fn wrote_control(&mut self, value: u32, ctx: &mut Ctx) {
        self.registers.put(SPICR, FIFO_RESETS, false);
        let control = self.control();
        let tx_reset = value & SPICR_TX_FIFO_RESET != 0;
        let edge = self.params.effect_edge(ctx.now);
        if control != self.shifter.control || tx_reset {
            self.settle_wire(edge, ctx);
            self.shifter.set_control(control, edge);
        }
        self.shifter.set_clock_mode(value & SPICR_CPOL != 0, value & SPICR_CPHA != 0, edge);
        if tx_reset {
            self.shifter.reset_tx(ctx.now);
        }
        if value & SPICR_RX_FIFO_RESET != 0 {
            self.shifter.advance(edge);
            self.shifter.rx.reset(ctx.now);
        }
        if value & SPICR_SPE != 0 {
            self.registers.put(IPISR, self.setting_errors() << SETTINGS_SHIFT, true);
            self.note_settings(ctx);
        }
    }

    fn wrote_select(&mut self, ctx: &mut Ctx) {
        let edge = self.params.effect_edge(ctx.now);
        self.settle_wire(edge, ctx);
        let active = self.shifter.bus.existing(!self.registers[SPISSR]);
        if active.count_ones() > 1 {
            ctx.note("SPISSR selects several slaves at once: the lowest is taken");
        }
        self.shifter.request_select(lowest(active), edge);
    }

    /// The settings of SPICR for the wire.
    fn control(&self) -> Control {
        let enabled = self.is_set(SPICR_SPE) && self.is_set(SPICR_MASTER);
        Control {
            running: enabled && !self.is_set(SPICR_INHIBIT) && self.setting_errors() == 0,
            manual_select: self.is_set(SPICR_MANUAL_SELECT),
            loopback: self.is_set(SPICR_LOOP) && self.params.lines == Lines::Single,
            lsb_first: self.is_set(SPICR_LSB_FIRST),
        }
    }

    /// Brings the wire up to a change that takes effect at `edge`.
    fn settle_wire(&mut self, edge: u64, ctx: &mut Ctx) {
        self.shifter.advance(edge);
        if self.shifter.finish_byte(edge) {
            ctx.note(
                "a transfer was stopped, or its slave select changed, in the middle of a byte: the core's outcome is \
                 undefined; here the byte is completed",
            );
        }
    }

    fn note_settings(&self, ctx: &mut Ctx) {
        if !self.is_set(SPICR_MASTER) {
            ctx.note("SPICR enables the core as a slave, which is not modelled: nothing is transferred");
        }
        if self.params.lines == Lines::Single && self.clock_modes_differ() {
            ctx.note("SPICR's CPOL and CPHA differ: the memory would read wrong bits; here it reads right ones");
        }
    }

    /// Updates the interrupt line, and requests an event at the end of the next byte while it might raise the line.
    fn update_interrupts(&mut self, ctx: &mut Ctx) {
        let enabled = if self.registers.has(DGIER, DGIER_GIE) { self.registers[IPIER] } else { 0 };
        let level = self.registers.has(IPISR, enabled);
        self.interrupt.drive(level, ctx);
        if level || enabled & BY_BYTES == 0 {
            return;
        }
        if let Some(edge) = self.shifter.next_completion() {
            self.alarm.set(self.params.seen_at(edge).max(ctx.now + Ps(1)), CONTROLLER_EVENT, ctx);
        }
    }

    /// Brings the wire up to `now`, whether the AXI side has seen it or not: the chips' pins do not wait for that.
    fn catch_wire_up(&mut self, now: Ps) {
        self.shifter.advance(self.params.ext_spi_clock.cycles_until_floor(now).0);
    }

    /// Updates the lines of the chips' pins after an access on the wire, and for those that follow.
    fn follow_chips(&mut self, ctx: &mut Ctx) {
        if self.shifter.bus.chips.have_pins() {
            let end = self.shifter.next_completion().map(|edge| self.params.spi_time(edge));
            self.shifter.bus.chips.follow(end, ctx);
        }
    }

    /// Updates the chips' pins and the interrupt after an access of a register.
    fn follow(&mut self, ctx: &mut Ctx) {
        if !self.params.xip {
            self.follow_chips(ctx);
            self.update_interrupts(ctx);
        }
    }

    /// Lists the ends of bytes that the AXI side has not seen: those in the past, the next, and the last. False if an
    /// event will come at the end of a byte that starts only in the next iteration.
    fn list_ends(&mut self, poll: &mut Poll) -> bool {
        if !self.params.xip {
            self.catch_up(poll.now());
        }
        poll.phase(self.params.port.clock);
        poll.phase(self.params.ext_spi_clock);
        let Shifter { tx, rx, bus, .. } = &self.shifter;
        let (next, last) = (self.shifter.next_completion(), self.shifter.last_completion());
        for edge in tx.unseen().chain(rx.unseen()).map(|slot| slot.edge).chain(next).chain(last) {
            poll.end_ps(&mut self.params.seen_at(edge));
        }
        !bus.chips.have_pins() || next.is_none()
    }

    fn note_write(&self, register: u32, ctx: &mut Ctx) {
        // PG153: an access to an offset without a register is answered with OKAY.
        if let Some(row) = self.registers.map().row(register) {
            ctx.note(&format!("a write to {}, which is read only, has no effect", row.name));
        }
    }
}

impl Table for AxiQuadSpi {
    fn settle(&mut self, ctx: &mut Ctx) {
        if !self.params.xip {
            self.catch_up(ctx.now);
        }
    }

    fn error(&self, register: u32, is_write: bool) -> Option<&'static str> {
        match register {
            DRR if !self.params.xip && !is_write && self.shifter.rx.occupancy() == 0 => {
                Some("SPI DRR was read while it was empty: the core answers with an error")
            }
            DTR if !self.params.xip && is_write && self.shifter.tx.is_full() => {
                Some("SPI DTR was written while it was full: the core answers with an error")
            }
            _ => None,
        }
    }

    fn shown(&mut self, register: u32, held: u32, ctx: &mut Ctx) -> u32 {
        match register {
            _ if self.params.xip => held,
            SPISR => self.status(),
            DRR => self.shifter.rx.read(ctx.now).map_or(0, u32::from),
            TX_FIFO_OCY => self.occupancy(self.shifter.tx.occupancy()),
            RX_FIFO_OCY => self.occupancy(self.shifter.rx.occupancy()),
            _ => held,
        }
    }

    fn was_read(&mut self, _: u32, ctx: &mut Ctx) {
        self.follow(ctx);
    }

    fn wrote(&mut self, register: u32, _: u32, new: u32, ctx: &mut Ctx) {
        match register {
            _ if self.params.xip => self.wrote_xip(ctx),
            SRR => self.write_reset(new, ctx),
            SPICR => self.wrote_control(new, ctx),
            DTR => self.shifter.tx.write(new as u8, self.params.effect_edge(ctx.now), ctx.now),
            SPISSR => self.wrote_select(ctx),
            SPISR | DRR | TX_FIFO_OCY | RX_FIFO_OCY => self.note_write(register, ctx),
            _ => {}
        }
    }

    fn refused(&mut self, register: u32, _: Refused, ctx: &mut Ctx) {
        self.note_write(register, ctx);
    }

    fn update(&mut self, ctx: &mut Ctx) {
        self.shifter.bus.chips.take_notes(ctx);
        self.follow(ctx);
    }
}

impl Device for AxiQuadSpi {
    fn pops(&self, _range: usize, offset: u32) -> bool {
        offset & !3 == DRR
    }

    fn reset(&mut self, ctx: &mut Ctx) {
        self.shifter.bus.name_lines(self.params.lines, ctx);
        self.shifter.bus.signals.set_in_place(self.params.xip);
        if self.params.fifo_depth > 0 {
            self.shifter.tx.observe(ctx);
            self.shifter.rx.observe(ctx);
        }
        self.shifter.bus.chips.start(ctx);
    }

    fn read(&mut self, range: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> AccessResult {
        match range {
            0 => crate::registers::read(self, offset, size, ctx),
            _ => self.read_window(offset, size, ctx),
        }
    }

    fn write(&mut self, range: usize, offset: u32, size: AccessSize, value: u32, ctx: &mut Ctx) -> AccessResult {
        match range {
            0 => crate::registers::write(self, offset, size, value, ctx),
            _ => self.write_window(ctx),
        }
    }

    fn event(&mut self, token: u32, ctx: &mut Ctx) {
        self.alarm.rang(ctx.now);
        self.catch_up(ctx.now);
        if self.shifter.bus.chips.have_pins() {
            self.catch_wire_up(ctx.now);
            self.shifter.bus.chips.event(token, ctx);
        }
        self.follow_chips(ctx);
        self.update_interrupts(ctx);
    }

    fn pins_changed(&mut self, port: PortId, changed: u32, levels: u32, ctx: &mut Ctx) {
        self.catch_wire_up(ctx.now);
        self.shifter.bus.chips.pins_changed(port, changed, levels, ctx);
        self.follow_chips(ctx);
    }

    fn streams(&self, range: usize, offset: u32) -> bool {
        self.params.enhanced && range == 0 && matches!(offset & !3, DTR | DRR)
    }

    fn peek(&self, range: usize, offset: u32, into: &mut [u8]) -> bool {
        self.has_window(range) && self.shifter.bus.chips.get(0).is_some_and(|chip| chip.peek(offset, into))
    }

    fn preload(&mut self, range: usize, offset: u32, bytes: &[u8]) -> bool {
        self.has_window(range) && self.shifter.bus.chips.get_mut(0).is_some_and(|chip| chip.preload(offset, bytes))
    }

    fn burst(&mut self, range: usize, offset: u32, bytes: u32, ctx: &mut Ctx) -> Result<Ps, SlaveError> {
        if self.has_window(range) {
            self.xip_read(offset, bytes, &mut [], ctx)
        } else {
            Err(SlaveError { done: ctx.now })
        }
    }

    fn finish(&mut self, now: Ps) {
        self.catch_wire_up(now);
        let params = self.params;
        let Shifter { tx, rx, .. } = &mut self.shifter;
        tx.record_rest(|edge| params.seen_at(edge));
        rx.record_rest(|edge| params.seen_at(edge));
    }

    fn chips(&mut self) -> Vec<&mut dyn SpiTarget> {
        self.shifter.bus.chips.targets()
    }

    fn counters(&self) -> Vec<(String, u64)> {
        let Shifter { bus, frames, overruns, .. } = &self.shifter;
        let own =
            [("bytes", bus.words), ("sck_clocks", bus.clocks), ("frames", bus.frames), ("rx_overruns", *overruns)];
        let mut counters = bus.chips.counters_after(&own);
        counters.splice(own.len()..own.len(), frames.counters());
        counters
    }
}

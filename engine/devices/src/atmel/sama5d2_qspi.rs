//! `atmel,sama5d2-qspi`: the QSPI controller of Atmel's (Microchip's) SAMA5D2.
//!
//! Documents: SAMA5D2 Series datasheet (DS60001476), "Quad Serial Peripheral Interface (QSPI)"; application note 44043,
//! "SAMA5D2 Quad SPI (QSPI) Performance". Facts that this datasheet shares with those of the manufacturer's later chips
//! were taken from the latter.
//!
//! Modelled: SPI mode with words of 8 to 16 bits (the register has no wider ones), all delays and chip select modes,
//! loopback; serial memory mode with all seven widths, frames without data, with data through the window (SMRM 0) and
//! through QSPI_RDR and QSPI_TDR (SMRM 1), memory reads and continuous read mode; scrambling; write protection;
//! interrupts and DMA requests. All clocks pass on the wire: reads return what the memory answers to them.
//!
//! The window is `reg` range 1, at 0xd0000000; range 2, at 0x90000000, is the same window through the AES bridge, which
//! is off.
//!
//! Undocumented behaviour is chosen as follows. While the window does not read, a read of it is answered with an error
//! and a note; a write that no frame takes is answered without an error, with a note. In frames through QSPI_RDR, the
//! write of QSPI_IFR fetches the first byte, and each read of QSPI_RDR the next one, up to LASTXFER. An option code
//! shorter than OPT is its low bits. The scrambling function is Cyclescope's own. If CPOL and CPHA differ, data are
//! shifted by a clock, as on the edges of a memory that samples on the rising edge.
//!
//! Not modelled: pins (PIO), the AES bridge, a frame that a disable interrupts in the middle of a byte (the byte is
//! completed).

mod frames;
mod look;
mod params;
mod registers;
mod scrambling;
mod serial;
mod window;

#[cfg(test)]
mod tests;

use self::frames::Wire;
use self::params::Params;
use self::registers::{
    CR, CR_LASTXFER, CR_QSPIDIS, CR_QSPIEN, CR_SWRST, IAR, ICR, IFR, IFR_WIDTH, IMR, INTERRUPTS, MAP, MR, MR_SMM,
    MR_SMRM, RDR, SCR, SKR, SMR, SMR_RVDIS, SMR_SCREN, SR, SR_CSS, SR_QSPIENS, SR_RDRF, SR_TDRE, Settings, TDR,
    Transfer,
};
use self::scrambling::Scrambler;
use self::serial::{Flow, Serial};
use self::window::Window;
use crate::prelude::*;
use crate::support::hosted_chip::{CONTROLLER_EVENT, Chips, HostedChip};
use crate::support::interrupt_output::InterruptOutput;
use crate::support::write_protection;
use engine::bus::device::PortId;
use engine::bus::repeated_reads::RepeatedReads;
use engine::observe::spi::SPI_WINDOW;
use engine::wire::spi::{Lines, SpiTarget};

/// The controller.
#[derive(State, Polled, RegisterBank)]
#[port(self.params.port())]
#[poll(first = Sama5d2Qspi::look_ahead)]
pub struct Sama5d2Qspi {
    params: Params,
    wire: Wire,
    serial: Serial,
    window: Window,
    registers: Registers,
    enabled: bool,
    /// QSPI_SKR.
    key: u32,
    #[poll(skip = "it follows from the registers and the key")]
    scrambler: Scrambler,
    /// Lines of the frame's data.
    #[poll(skip = "they follow from the registers")]
    data_lines: Lines,
    #[poll(skip = "what is known of the memory does not change its answers")]
    look: look::Look,
    alarm: Alarm,
    interrupt: InterruptOutput,
    dma_levels: [bool; 2],
}

/// For the list of models.
pub const MODEL: Model =
    Model::device(Group::Spi, &["atmel,sama5d2-qspi"], 2, from_node).with_activities(SPI_WINDOW).naming(MAP.rows);

/// Builds the controller from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    let params = Params::from_node(reader);
    let chip = Chips::from_node(reader, 1).into_only().unwrap_or_else(HostedChip::none);
    Box::new(Sama5d2Qspi::new(params, chip))
}

impl Sama5d2Qspi {
    /// The controller after reset, with its chip.
    fn new(params: Params, chip: HostedChip) -> Sama5d2Qspi {
        let mut qspi = Sama5d2Qspi {
            params,
            wire: Wire::new(params.clock.rate, chip),
            serial: Serial::default(),
            window: Window::default(),
            registers: Registers::new(&MAP),
            enabled: false,
            key: 0,
            scrambler: Scrambler::off(),
            data_lines: Lines::Single,
            look: look::Look::default(),
            alarm: Alarm::default(),
            interrupt: InterruptOutput::new(params.interrupt),
            dma_levels: [false; 2],
        };
        qspi.settings_changed(0);
        qspi
    }

    fn settings(&self) -> &Settings {
        &self.serial.settings
    }

    fn edge(&self, now: Ps) -> u64 {
        self.params.clock.rate.cycles_until_ceil(now).0
    }

    /// Carries out everything up to `now`, and returns the last edge.
    fn pass_to(&mut self, now: Ps) -> u64 {
        let edge = self.params.clock.rate.cycles_until_floor(now).0;
        self.serial.advance(edge, &mut self.wire);
        edge
    }

    /// QSPI_SR without the effect of reading it.
    fn status(&self) -> u32 {
        if !self.enabled {
            return self.serial.flags & INTERRUPTS;
        }
        self.serial.status() | self.serial.flags | flag(SR_CSS, !self.wire.line.selected) | SR_QSPIENS
    }

    fn advance(&mut self, ctx: &Ctx) {
        self.serial.advance(self.edge(ctx.now), &mut self.wire);
    }

    fn control(&mut self, value: u32, edge: u64, ctx: &mut Ctx) {
        if value & CR_SWRST != 0 {
            self.reset(edge);
        }
        if value & CR_LASTXFER != 0 {
            self.serial.end_after_this(edge, &mut self.wire);
            self.window.next = None;
        }
        if value & CR_QSPIDIS != 0 {
            self.enabled = false;
            self.window.next = None;
            self.serial.stop(edge, &mut self.wire);
        } else if value & CR_QSPIEN != 0 && !self.enabled {
            self.enabled = true;
            if self.wire.is_skewed() {
                ctx.note(
                    "QSPI_SCR's CPOL and CPHA differ: a memory that samples when the clock rises gets or gives wrong \
                     bits",
                );
            }
        }
    }

    fn reset(&mut self, edge: u64) {
        self.serial.stop(edge, &mut self.wire);
        self.serial = Serial::default();
        let Window { continued, is_shared, .. } = self.window;
        self.window = Window { continued, is_shared, ..Window::default() };
        self.enabled = false;
        self.key = 0;
        self.registers.reset();
    }

    fn mode_changed(&mut self, before: u32, mode: u32, edge: u64) {
        if (before ^ mode) & (MR_SMM | MR_SMRM) != 0 {
            self.serial.end_frame(edge, &mut self.wire);
            self.window.next = None;
        }
    }

    /// QSPI_TDR.
    fn transmit(&mut self, word: u16, edge: u64, ctx: &mut Ctx) {
        if !matches!(self.serial.flow, Flow::Spi | Flow::Send) {
            ctx.note(if self.enabled {
                "a write to QSPI_TDR has no effect: the frame's data is read, or passes through the memory window"
            } else {
                "a write to QSPI_TDR has no effect: the controller is disabled"
            });
        } else if !self.serial.write(word, edge) {
            ctx.note("QSPI_TDR was written while it was full (QSPI_SR.TDRE was 0): a word is lost");
        }
    }

    /// QSPI_IFR: a frame without data begins at once, a frame with data begins with its first access.
    fn begin_frame(&mut self, edge: u64, ctx: &mut Ctx) {
        self.serial.settings = Settings::of(&self.registers);
        self.window.sent = false;
        self.window.unsynchronised = true;
        let settings = *self.settings();
        if !self.enabled || !settings.serial_memory() {
            return;
        }
        note_frame(settings, ctx);
        self.window.next = None;
        let edge = if self.serial.is_idle() { edge } else { self.end_transfers(edge) };
        let receives = settings.transfer() == Transfer::Read && settings.register_mode();
        if !settings.has_data() {
            self.serial.end_frame(edge, &mut self.wire);
            self.serial.send_frame(edge, &mut self.wire);
        } else if receives {
            self.serial.end_frame(edge, &mut self.wire);
            self.serial.begin_receiving(edge);
        }
    }

    /// Applies the registers' settings.
    fn settings_changed(&mut self, edge: u64) {
        self.serial.settings = Settings::of(&self.registers);
        self.wire.set(&self.registers, edge);
        (.., self.data_lines) = self.settings().lines();
        let random = if self.registers.has(SMR, SMR_RVDIS) { 0 } else { self.params.random };
        let scrambles = self.registers.has(SMR, SMR_SCREN);
        self.scrambler = if scrambles { Scrambler::on(self.key, random) } else { Scrambler::off() };
        (self.serial.flow, self.window.access) = self.uses();
        self.window.headers = [None; 2];
    }

    /// Updates the interrupt and the DMA requests, and requests an event for the next change of state.
    fn update_lines(&mut self, ctx: &mut Ctx) {
        let level = self.status() & self.registers[IMR] != 0;
        self.interrupt.drive(level, ctx);
        let asks = self.params.dma.iter().any(Option::is_some);
        if asks && self.dma_requests() != self.dma_levels {
            // The DMA controller may be the device that makes this access: it is notified by an event.
            self.alarm.set(ctx.now, CONTROLLER_EVENT, ctx);
        }
        if let Some(edge) = self.serial.next_change().filter(|_| asks || self.registers[IMR] != 0 && !level) {
            let due = self.wire.line.time(edge).max(ctx.now + Ps(1));
            self.alarm.set(due, CONTROLLER_EVENT, ctx);
        }
    }

    /// QSPI_TDR is empty, QSPI_RDR is full.
    fn dma_requests(&self) -> [bool; 2] {
        let status = self.serial.status();
        let flow = self.serial.flow;
        [
            matches!(flow, Flow::Spi | Flow::Send) && status & SR_TDRE != 0,
            matches!(flow, Flow::Spi | Flow::Receive) && status & SR_RDRF != 0,
        ]
    }

    /// After a call that is no access to the window.
    fn end_call(&mut self, ctx: &mut Ctx) {
        self.wire.line.take_notes(ctx);
        self.follow_chip(ctx);
        self.update_lines(ctx);
    }

    /// Updates the line of the chip's pin after an access on the wire, and for those that follow.
    #[inline]
    fn follow_chip(&mut self, ctx: &mut Ctx) {
        self.wire.line.follow(|| self.serial.next_change(), ctx);
    }

    /// False while transfers end that its lines or its chip's pin show; lists the ends of what is on the wire.
    fn look_ahead(&mut self, poll: &mut Poll) -> bool {
        self.learn_of_reads();
        self.pass_to(poll.now());
        let line = &mut self.wire.line;
        let asks = self.registers[IMR] != 0 || self.params.dma.iter().any(Option::is_some) || line.chip.has_pin();
        if asks && !self.serial.is_idle() {
            return false;
        }
        for edge in [&mut line.free, &mut line.may_select, &mut self.serial.ends] {
            poll.end_edge(line.clock, edge);
        }
        true
    }
}

fn note_frame(settings: Settings, ctx: &mut Ctx) {
    if field(settings.frame, IFR_WIDTH) == 7 {
        ctx.note("QSPI_IFR.WIDTH is 7, which is reserved: 6 is taken");
    }
    let (_, lines, _) = settings.lines();
    if settings.option().is_some_and(|(bits, _)| bits < lines.bits()) {
        ctx.note("QSPI_IFR.OPTL is shorter than a clock of its width carries: a whole clock is sent");
    }
}

impl Table for Sama5d2Qspi {
    fn settle(&mut self, ctx: &mut Ctx) {
        self.learn_of_reads();
        self.advance(ctx);
    }

    fn shown(&mut self, register: u32, held: u32, ctx: &mut Ctx) -> u32 {
        match register {
            RDR => self.serial.read(self.edge(ctx.now)).into(),
            SR => {
                let status = self.status();
                self.serial.flags = 0;
                status
            }
            IFR => {
                self.window.unsynchronised = false;
                held
            }
            _ => held,
        }
    }

    fn was_read(&mut self, _register: u32, ctx: &mut Ctx) {
        self.update(ctx);
    }

    fn wrote(&mut self, register: u32, old: u32, new: u32, ctx: &mut Ctx) {
        let edge = self.edge(ctx.now);
        match register {
            CR => self.control(new, edge, ctx),
            MR => self.mode_changed(old, new, edge),
            RDR | SR => self.refused(register, Refused::ReadOnly, ctx),
            TDR => self.transmit(new as u16, edge, ctx),
            IAR => self.serial.settings.address = new,
            IFR => self.begin_frame(edge, ctx),
            SKR => self.key = new,
            _ => {}
        }
        if matches!(register, CR | MR | SCR | ICR | IFR | SMR | SKR) {
            self.settings_changed(edge);
            self.look.forget(ctx);
        }
    }

    fn refused(&mut self, register: u32, why: Refused, ctx: &mut Ctx) {
        match MAP.row(register) {
            None => ctx.note(&format!("a write to offset {register:#x}, where no register is, has no effect")),
            Some(row) if why == Refused::ReadOnly => {
                ctx.note(&format!("a write to {}, which is read only, has no effect", row.name));
            }
            Some(_) => write_protection::refused(&mut self.registers, register, why, ctx),
        }
    }

    fn update(&mut self, ctx: &mut Ctx) {
        self.advance(ctx);
        self.end_call(ctx);
    }
}

impl Device for Sama5d2Qspi {
    fn pops(&self, _range: usize, offset: u32) -> bool {
        offset & !3 == RDR
    }

    fn reset(&mut self, ctx: &mut Ctx) {
        self.wire.line.start(ctx);
    }

    #[inline]
    fn read(&mut self, range: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> AccessResult {
        if range == 0 {
            return crate::registers::read(self, offset, size, ctx);
        }
        self.learn_of_reads();
        self.window_read(offset, size, ctx)
    }

    fn write(&mut self, range: usize, offset: u32, size: AccessSize, value: u32, ctx: &mut Ctx) -> AccessResult {
        if range == 0 {
            return crate::registers::write(self, offset, size, value, ctx);
        }
        self.learn_of_reads();
        self.window_write(offset, size, value, ctx)
    }

    fn event(&mut self, token: u32, ctx: &mut Ctx) {
        self.learn_of_reads();
        self.pass_to(ctx.now);
        if token == CONTROLLER_EVENT {
            self.alarm.rang(ctx.now);
        } else {
            self.wire.line.chip.event(ctx);
        }
        let requests = self.dma_requests();
        for (index, request) in requests.into_iter().enumerate() {
            if request != std::mem::replace(&mut self.dma_levels[index], request) {
                ctx.set_irq(self.params.dma[index], request);
            }
        }
        self.end_call(ctx);
    }

    fn clocks_changed(&mut self, ctx: &mut Ctx) {
        self.learn_of_reads();
        let from = self.pass_to(ctx.now);
        ctx.bus.clocks.update(&mut self.params.clock);
        let to = self.params.clock.rate.cycles_until_floor(ctx.now).0;
        self.wire.change_clock(self.params.clock.rate, (from, to));
        self.serial.renumber((from, to));
        self.settings_changed(to);
        self.look.forget(ctx);
        self.alarm.cancel(CONTROLLER_EVENT, ctx);
        self.end_call(ctx);
    }

    fn pins_changed(&mut self, port: PortId, changed: u32, levels: u32, ctx: &mut Ctx) {
        self.learn_of_reads();
        self.pass_to(ctx.now);
        self.wire.line.chip.pins_changed(port, changed, levels, ctx);
        self.follow_chip(ctx);
    }

    fn peek(&self, range: usize, offset: u32, into: &mut [u8]) -> bool {
        range != 0 && self.window_peek(offset, into)
    }

    fn preload(&mut self, range: usize, offset: u32, bytes: &[u8]) -> bool {
        self.learn_of_reads();
        range != 0 && self.wire.line.chip.preload(offset, bytes)
    }

    fn burst(&mut self, range: usize, offset: u32, bytes: u32, ctx: &mut Ctx) -> Result<Ps, SlaveError> {
        self.learn_of_reads();
        if range == 0 {
            return Err(SlaveError { done: ctx.now });
        }
        self.window_burst(offset, bytes, ctx)
    }

    fn own_clock(&self) -> Option<Hz> {
        Some(self.params.clock.rate)
    }

    fn read_alone(&mut self, range: usize, offset: u32, bytes: u32, edge: u64) -> Option<(u32, u64)> {
        if range == 0 { None } else { self.read_window_alone(offset, bytes, edge) }
    }

    fn repeated_reads(&mut self, range: usize, bytes: u32) -> Option<RepeatedReads> {
        if range == 0 || bytes != window::BEAT_BYTES { None } else { self.pairs() }
    }

    fn learn(&mut self) {
        self.learn_of_reads();
    }

    fn streams(&self, range: usize, _offset: u32) -> bool {
        range != 0
    }

    fn finish(&mut self, now: Ps) {
        self.learn_of_reads();
        self.pass_to(now);
    }

    fn chips(&mut self) -> Vec<&mut dyn SpiTarget> {
        self.learn_of_reads();
        vec![self.wire.line.chip.target()]
    }

    fn counters(&self) -> Vec<(String, u64)> {
        let line = &self.wire.line;
        line.chip.counters_after(&[
            ("frames", line.frames),
            ("continued_accesses", self.window.continued),
            ("sck_clocks", line.sck_clocks),
        ])
    }
}

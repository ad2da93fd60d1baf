//! `st,stm32-spi`: the SPI interface of STM32F4 (`st,stm32f4-spi`; RM0090, "Serial peripheral interface (SPI)") and, as
//! `st,stm32-spi-fifo`, the SPI of STM32L4 with FIFOs (RM0432, likewise), as a master.
//!
//! Modelled: all registers; words of 8 and 16 bits, with FIFOs 4 to 16 bits; all four modes, either bit first; SCK of
//! PCLK / 2 to PCLK / 256; TXE, RXNE, BSY, OVR, MODF; FRXTH, FRLVL, FTLVL, and two frames packed into an access of 16
//! bits; one data line for both directions (BIDIMODE), receive-only mode (RXONLY); interrupts, DMA requests. Chip
//! selects are pins that the firmware drives (`cs-gpios`), or, for a chip without such a pin, NSS as driven with SSOE.
//!
//! A word begins `cyclescope,start-cycles` after the write of SPI_DR, and the next one follows it without a pause. The
//! data register is free when its word begins. RXNE is set with the edge that samples the last bit, BSY falls at the
//! end of the word. The model computes a chip's answer when the word begins.
//!
//! SCK, MISO and MOSI need their pins (`devices/support/pin_functions.rs`). Without SCK no chip sees a clock, without
//! MISO ones are received, and without MOSI the chip reads ones; a note reports the first word that this spoils.
//!
//! In receive-only modes, SCK runs from the setting of SPE (or the clearing of BIDIOE) on, and unread words cause an
//! overrun. A word that is on the wire when SPE is cleared is completed. While the interface sends on one data line, it
//! receives nothing, so no overrun occurs. On that line a chip with `spi-3wire` answers; other chips answer on MISO,
//! which is not sampled then: the line is pulled up.
//!
//! Not modelled: slave mode, TI's frame format, I2S (nothing is sent, with a note), CRC (its registers keep written
//! values, and no CRC is sent, with a note), NSSP.

mod registers;
mod shifter;
mod status;

#[cfg(test)]
mod tests;

use self::registers::*;
use self::shifter::Shifter;
use crate::prelude::*;
use crate::support::activities::{RX_FIFO, TX_FIFO};
use crate::support::dma_lines::DmaLine;
use crate::support::fifo_entries::Fifo;
use crate::support::hosted_chip::{CONTROLLER_EVENT, Chips};
use crate::support::pin_functions::PinFunctions;
use crate::support::spi_controller::Format;
use engine::activity::Activity;
use engine::bus::device::PortId;
use engine::dt::wiring::Pin;
use engine::observe::spi::{FRAME, SHIFTING};
use engine::wire::spi::{Lines, SpiTarget};

/// Maximum number of chip selects.
const SELECTS: usize = 8;
/// The token of the event that updates the DMA requests.
const DMA_ACTIVITIES: u32 = CONTROLLER_EVENT + 1;
/// Names of the signals at pins; the constants are their indices.
const SIGNALS: &[&str] = &["sck", "miso", "mosi"];
const SCK: usize = 0;
const MISO: usize = 1;
const MOSI: usize = 2;
/// Bytes of each FIFO.
const FIFO_BYTES: usize = 4;

/// The device.
#[derive(State, Polled, RegisterBank)]
#[port(Port::gated(self.gate))]
#[poll(first = Spi::look)]
pub struct Spi {
    /// PCLK.
    clock: ClockInput,
    /// Clocks from a write of SPI_DR to the word's first bit.
    #[state(skip)]
    start_cycles: Cycles,
    #[state(skip)]
    has_fifos: bool,
    interrupt: Option<IrqLine>,
    /// Pins that are chip selects.
    #[state(skip)]
    selects: Vec<Pin>,
    /// Its clock enable bit in the RCC.
    gate: ClockGate,
    registers: Registers,
    /// The size of the access under way: one of SPI_DR takes as many frames as fit.
    #[state(skip)]
    size: AccessSize,
    /// OVR and MODF.
    flags: u32,
    /// SPI_DR was read after an overrun: a read of SPI_SR clears OVR. SPI_SR was accessed after a mode fault: a write
    /// of SPI_CR1 clears MODF.
    clears_ovr: bool,
    clears_modf: bool,
    /// Frames to send, and received frames.
    #[poll(edge = poll.clock())]
    transmit: Fifo<u16>,
    #[poll(edge = poll.clock())]
    receive: Fifo<u16>,
    shifter: Shifter,
    /// The pins that carry [`SCK`], [`MISO`] and [`MOSI`].
    pins: PinFunctions,
    /// Requests: transmit, receive.
    dma: [DmaLine; 2],
    alarm: Alarm,
    overruns: u64,
}

/// Activities of the interface.
const ACTIVITIES: &[&Activity] = &[&SHIFTING, &FRAME, &TX_FIFO, &RX_FIFO];

/// For the list of models.
pub const MODEL: Model =
    Model::device(Group::Spi, &["st,stm32-spi", "st,stm32f4-spi", "st,stm32-spi-fifo"], 1, from_node)
        .with_activities(ACTIVITIES)
        .naming(WITH_FIFOS.rows);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    reader.known(&["clock-names", "interrupt-names", "resets"]);
    let has_fifos = reader.node.compatibles().contains(&"st,stm32-spi-fifo");
    let meaning = "the pins that select its chips, from select 0 on";
    let clock = reader.clock_input(0, "PCLK, from which SCK is divided");
    let start_cycles =
        reader.timing_cycles("cyclescope,start-cycles", "clocks from a write of SPI_DR to the first bit");
    let interrupt = reader.interrupt(0, "its interrupt");
    let selects: Vec<Pin> = (0..SELECTS).map_while(|index| reader.gpio("cs-gpios", index, meaning)).collect();
    let gate = ClockGate::from_node(reader);
    let dma =
        [DmaLine::from_node(reader, "tx", "SPI_DR takes data"), DmaLine::from_node(reader, "rx", "SPI_DR has data")];
    let chips = Chips::from_node_by_three_wires(reader, selects.len().max(1) as u32);
    let pins = PinFunctions::from_node(reader, SIGNALS);
    Box::new(Spi { start_cycles, interrupt, selects, gate, dma, pins, ..Spi::new(clock, has_fifos, chips) })
}

impl Spi {
    /// The device after reset, with the chips on its selects, and nothing else connected.
    fn new(clock: ClockInput, has_fifos: bool, chips: Chips) -> Spi {
        Spi {
            clock,
            start_cycles: Cycles(0),
            has_fifos,
            interrupt: None,
            selects: Vec::new(),
            gate: ClockGate::NONE,
            registers: Registers::new(if has_fifos { &WITH_FIFOS } else { &WITHOUT_FIFOS }),
            size: AccessSize::Word,
            flags: 0,
            clears_ovr: false,
            clears_modf: false,
            transmit: Fifo::new(&TX_FIFO),
            receive: Fifo::new(&RX_FIFO),
            shifter: Shifter::new(chips),
            pins: PinFunctions::default(),
            dma: Default::default(),
            alarm: Alarm::default(),
            overruns: 0,
        }
    }

    /// The cycle of PCLK at a time.
    fn cycle(&self, now: Ps) -> u64 {
        self.clock.rate.cycles_until_floor(now).0
    }

    /// The time of a cycle.
    fn time(&self, cycle: u64) -> Ps {
        self.clock.rate.ps_at_floor(Cycles(cycle))
    }

    /// Bits of a word.
    fn bits(&self) -> u32 {
        if self.has_fifos {
            // Sizes below 4 act as 8.
            let size = self.registers.field(CR2, CR2_DS) + 1;
            return if size < 4 { 8 } else { size };
        }
        if self.registers.has(CR1, CR1_DFF) { 16 } else { 8 }
    }

    /// Bytes that a frame takes in a FIFO.
    fn frame_bytes(&self) -> usize {
        if self.bits() > 8 { 2 } else { 1 }
    }

    /// Frames that the buffer of each direction can hold.
    fn room(&self) -> usize {
        if self.has_fifos { FIFO_BYTES / self.frame_bytes() } else { 1 }
    }

    /// Performs all that happens on the wire up to `now`.
    fn advance(&mut self, now: Ps) {
        let cycle = self.cycle(now);
        loop {
            if let Some((word, sampled_at)) = self.shifter.take_received(cycle) {
                self.take(word, sampled_at);
            }
            let Some(start) = self.shifter.next_start(cycle) else { return };
            if !self.has_next() {
                return;
            }
            let clock = self.clock.rate;
            // In receive-only modes, data to send stay in the FIFO.
            let data = if self.clocks_by_itself() { None } else { self.transmit.pop(self.time(start), clock) };
            let how = (self.format(), self.direction());
            self.shifter.begin(data.unwrap_or(0), how, (clock, start), &self.pins);
        }
    }

    /// True if there is a word to begin.
    fn has_next(&self) -> bool {
        self.clocks_by_itself() || self.is_on() && !self.transmit.is_empty()
    }

    fn format(&self) -> Format {
        Format {
            bits: self.bits(),
            lsb_first: self.registers.has(CR1, CR1_LSBFIRST),
            cpol: self.registers.has(CR1, CR1_CPOL),
            cpha: self.registers.has(CR1, CR1_CPHA),
            half: 1 << self.registers.field(CR1, CR1_BR),
        }
    }

    /// Stores a received word whose last bit was sampled in this cycle.
    fn take(&mut self, word: u16, sampled_at: u64) {
        if self.receive.len() < self.room() {
            return self.receive.push(word, self.time(sampled_at));
        }
        self.overruns += u64::from(self.flags & SR_OVR == 0);
        self.flags |= SR_OVR;
        self.clears_ovr = false;
    }

    /// True if the access has two frames.
    fn packs(&self) -> bool {
        self.has_fifos && self.bits() <= 8 && self.size != AccessSize::Byte
    }

    /// The interface may begin with a word that software provides now.
    fn get_ready(&mut self, now: Ps) {
        let cycle = self.clock.rate.cycles_until_ceil(now).0;
        self.shifter.ready_at(cycle + self.start_cycles.0);
    }

    /// A write of SPI_DR.
    fn send(&mut self, value: u32, ctx: &mut Ctx) {
        let packs = self.packs();
        let [low, high, ..] = value.to_le_bytes().map(u16::from);
        let frames = if packs { [low, high] } else { [value as u16, 0] };
        for frame in &frames[..1 + usize::from(packs)] {
            if self.transmit.len() >= self.room() {
                ctx.note("SPI_DR was written while it was full (TXE is 0): the word is lost");
                return;
            }
            self.transmit.push_as(*frame, u32::from(*frame) & u32::MAX >> (32 - self.bits()), ctx.now);
        }
        self.get_ready(ctx.now);
    }

    /// A read of SPI_DR.
    fn receive(&mut self, now: Ps) -> u32 {
        self.clears_ovr |= self.flags & SR_OVR != 0;
        let packs = self.packs();
        let clock = self.clock.rate;
        let [first, second] = [true, packs].map(|takes| if takes { self.receive.pop(now, clock) } else { None });
        u32::from(first.unwrap_or(0)) | u32::from(second.unwrap_or(0)) << 8
    }

    /// A write of SPI_CR1, except for MODF: the value that stays in it.
    fn after_mode_fault(&mut self, value: u32, ctx: &mut Ctx) -> u32 {
        if value & (CR1_MSTR | CR1_SPE | CR1_SSM | CR1_SSI) == CR1_MSTR | CR1_SPE | CR1_SSM {
            ctx.note("a master whose NSS is low (SPI_CR1: SSM without SSI) is in mode fault: it leaves master mode");
            self.flags |= SR_MODF;
        } else if self.flags & SR_MODF != 0 && value & (CR1_MSTR | CR1_SPE) != 0 {
            ctx.note("MSTR and SPE stay 0 while SPI_SR.MODF is set: a read of SPI_SR and a write of SPI_CR1 clear it");
        }
        if self.flags & SR_MODF != 0 { value & !(CR1_MSTR | CR1_SPE) } else { value }
    }

    /// SPI_CR1, which held `old`, gets a value, or SPI_CR2 has changed.
    fn set_control(&mut self, old: u32, value: u32, ctx: &mut Ctx) {
        let value = self.after_mode_fault(value, ctx);
        if value & CR1_SPE != 0 && value & CR1_MSTR == 0 {
            ctx.note("slave mode (SPI_CR1.MSTR is 0) is not modelled: nothing is sent");
        }
        if value & CR1_CRCEN != 0 {
            ctx.note("CRC (SPI_CR1.CRCEN) is not modelled: none is sent, and none is checked");
        }
        self.registers.set(CR1, old);
        let clocked = self.clocks_by_itself();
        // A word that is being received is completed.
        if old & !value & CR1_SPE != 0 && !clocked {
            if self.shifter.is_busy() {
                ctx.note("SPI_CR1.SPE was cleared while a word was on the wire: it is cut off");
            }
            self.shifter.abandon();
        }
        self.registers.set(CR1, value);
        if value & !old & CR1_SPE != 0 || self.clocks_by_itself() && !clocked {
            self.get_ready(ctx.now);
        }
        self.shifter.bus.signals.rest(value & CR1_CPOL != 0, ctx.now);
        // NSS selects a chip without a chip-select pin.
        if self.selects.is_empty() {
            self.shifter.bus.select(0, self.is_on() && self.registers.has(CR2, CR2_SSOE), ctx.now);
        }
    }

    /// Reset by the RCC: registers return to their reset values.
    fn reset_registers(&mut self, ctx: &mut Ctx) {
        self.shifter.abandon();
        self.transmit.clear(ctx.now, self.clock.rate);
        self.receive.clear(ctx.now, self.clock.rate);
        (self.flags, self.clears_ovr, self.clears_modf) = (0, false, false);
        let control = self.registers[CR1];
        self.registers.reset();
        self.set_control(control, 0, ctx);
        self.drive(ctx);
    }

    /// A read of SPI_SR.
    fn look_at_status(&mut self) -> u32 {
        let status = self.status();
        self.clears_modf |= status & SR_MODF != 0;
        if std::mem::take(&mut self.clears_ovr) {
            self.flags &= !SR_OVR;
        }
        status
    }

    /// After any change: updates chips, interrupt, requests, and the next event.
    fn drive(&mut self, ctx: &mut Ctx) {
        let (status, enables) = (self.status(), self.registers[CR2]);
        let on = |enable: u32, flags: u32| enables & enable != 0 && status & flags != 0;
        let level = on(CR2_TXEIE, SR_TXE) || on(CR2_RXNEIE, SR_RXNE) || on(CR2_ERRIE, SR_OVR | SR_MODF);
        ctx.set_irq(self.interrupt, level);
        self.dma[0].set(on(CR2_TXDMAEN, SR_TXE), DMA_ACTIVITIES, ctx);
        self.dma[1].set(on(CR2_RXDMAEN, SR_RXNE), DMA_ACTIVITIES, ctx);
        let due = self.next().map(|cycle| self.time(cycle));
        self.shifter.bus.chips.follow(due, ctx);
        self.shifter.bus.chips.take_notes(ctx);
        self.note_pins(ctx);
        if std::mem::take(&mut self.shifter.unheard) {
            ctx.note(
                "a word was received on the data line, MOSI (SPI_CR1.BIDIMODE without BIDIOE), which no chip drives: \
                 it reads ones; a chip with `spi-3wire` in its node answers there",
            );
        }
        self.alarm.follow(due, CONTROLLER_EVENT, ctx);
    }

    /// Adds notes for words that a signal without a pin has spoiled.
    fn note_pins(&mut self, ctx: &mut Ctx) {
        let spoiled = std::mem::take(&mut self.shifter.spoiled);
        for (signal, effect) in [
            (SCK, "a word is sent, but no chip gets a clock"),
            (MOSI, "a word is sent, but the chip reads ones"),
            (MISO, "the chip answers, but ones are received"),
        ] {
            if spoiled >> signal & 1 != 0 {
                self.pins.note(signal, effect, ctx);
            }
        }
    }

    /// The cycle of the next change on the wire.
    fn next(&self) -> Option<u64> {
        self.shifter.next(self.has_next())
    }

    fn look(&mut self, poll: &mut Poll) -> bool {
        if let Some(next) = self.next() {
            if next <= self.cycle(poll.now()) {
                return false;
            }
            poll.until(self.time(next));
        }
        poll.state(self.status());
        true
    }
}

impl Table for Spi {
    fn settle(&mut self, ctx: &mut Ctx) {
        self.advance(ctx.now);
    }

    fn shown(&mut self, register: u32, held: u32, ctx: &mut Ctx) -> u32 {
        match register {
            SR => self.look_at_status(),
            DR => self.receive(ctx.now),
            _ => held,
        }
    }

    fn was_read(&mut self, _: u32, ctx: &mut Ctx) {
        self.drive(ctx);
    }

    fn wrote(&mut self, register: u32, old: u32, new: u32, ctx: &mut Ctx) {
        match register {
            CR1 => {
                if std::mem::take(&mut self.clears_modf) {
                    self.flags &= !SR_MODF;
                }
                self.set_control(old, new, ctx);
            }
            CR2 => self.set_control(self.registers[CR1], self.registers[CR1], ctx),
            SR => self.clears_modf |= self.flags & SR_MODF != 0,
            DR => self.send(new, ctx),
            _ => {}
        }
    }

    fn update(&mut self, ctx: &mut Ctx) {
        self.advance(ctx.now);
        self.drive(ctx);
    }
}

impl Device for Spi {
    fn pops(&self, _range: usize, offset: u32) -> bool {
        offset & !3 == DR
    }

    fn reset(&mut self, ctx: &mut Ctx) {
        self.gate.follow(ctx);
        self.pins.follow(ctx);
        self.shifter.bus.name_lines(Lines::Single, ctx);
        for (index, pin) in self.selects.iter().enumerate() {
            ctx.bus.wires.watch(*pin, ctx.id, false);
            self.shifter.bus.select(index, !ctx.bus.wires.level(*pin), ctx.now);
        }
        self.shifter.bus.chips.start(ctx);
        if self.has_fifos {
            self.transmit.observe(ctx);
            self.receive.observe(ctx);
        }
    }

    fn read(&mut self, _: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> AccessResult {
        self.size = size;
        crate::registers::read(self, offset, size, ctx)
    }

    fn write(&mut self, _: usize, offset: u32, size: AccessSize, value: u32, ctx: &mut Ctx) -> AccessResult {
        self.size = size;
        crate::registers::write(self, offset, size, value, ctx)
    }

    fn event(&mut self, token: u32, ctx: &mut Ctx) {
        if token == DMA_ACTIVITIES {
            self.dma.iter_mut().for_each(|line| line.event(DMA_ACTIVITIES, ctx));
            return;
        }
        if token == CONTROLLER_EVENT {
            self.alarm.rang(ctx.now);
        }
        self.advance(ctx.now);
        self.shifter.bus.chips.event(token, ctx);
        self.drive(ctx);
    }

    /// The rest of a word continues at the new clock's rate.
    fn clocks_changed(&mut self, ctx: &mut Ctx) {
        self.advance(ctx.now);
        let before = self.cycle(ctx.now);
        self.clock.rate = ctx.bus.clocks.rate_of(self.clock);
        self.shifter.move_by(before, self.cycle(ctx.now));
        self.alarm.cancel(CONTROLLER_EVENT, ctx);
        self.drive(ctx);
        if self.gate.is_reset(ctx.bus) {
            self.reset_registers(ctx);
        }
    }

    fn pins_changed(&mut self, port: PortId, changed: u32, levels: u32, ctx: &mut Ctx) {
        self.advance(ctx.now);
        for (index, pin) in self.selects.iter().enumerate() {
            if pin.port == port && pin.of(changed) {
                self.shifter.bus.select(index, !pin.of(levels), ctx.now);
            }
        }
        self.shifter.bus.chips.pins_changed(port, changed, levels, ctx);
        self.drive(ctx);
    }

    fn pins_switched(&mut self, ctx: &mut Ctx) {
        self.advance(ctx.now);
        self.pins.look(ctx);
        self.drive(ctx);
    }

    fn finish(&mut self, _now: Ps) {
        self.transmit.stay(self.clock.rate);
        self.receive.stay(self.clock.rate);
    }

    fn chips(&mut self) -> Vec<&mut dyn SpiTarget> {
        self.shifter.bus.chips.targets()
    }

    fn counters(&self) -> Vec<(String, u64)> {
        let bus = &self.shifter.bus;
        bus.chips.counters_after(&[("words", bus.words), ("sck_clocks", bus.clocks), ("rx_overruns", self.overruns)])
    }
}

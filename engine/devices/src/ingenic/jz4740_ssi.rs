//! `ingenic,jz4740-ssi`: the JZ4740's synchronous serial interface as an SPI controller (JZ4740 Programming Manual,
//! chapter Synchronous Serial Interface).
//!
//! Modelled: all registers; two FIFOs of 16 words; Motorola's format with words of 2 to 17 bits, either bit first, in
//! all four modes, edge by edge: a chip in another mode samples on its own edges; both chip selects, active low or
//! high; SCK, the device clock divided by 2 (CGV + 1); TFVCK and TCKFI, in clocks of SCK; UNFIN, which keeps the frame
//! open while the transmit FIFO is empty; overrun and underrun; interrupts; the internal loop. The device clock comes
//! from the CGU (SSICDR): EXTAL, or the PLL's output divided. If it changes within a word, the rest of the word
//! continues at the new rate; in waveforms the whole word has the new rate.
//!
//! MISO is sampled half a period after the start of a bit's time, with the level that the chip drives then.
//!
//! Not modelled: the other formats (frames are Motorola's, with a note), interval mode (words follow each other without
//! a pause, with a note), receive-only transfers (RFINE, RFINC: every received word needs a sent one), MULTS, DMA, the
//! clock gate in the CGU, and whether the GPIO port gives the pins to the SSI.

mod registers;
#[cfg(test)]
mod tests;
mod wire;

use std::collections::VecDeque;

use self::registers::{SSICR0, SSICR1, SSIDR, SSIGR, SSIICR, SSIITR, SSISR, Settings, cr0, cr1, sr};
use self::wire::{SELECTS, Wire};
use crate::model::{Group, Model};
use crate::support::activities::{RX_FIFO, TX_FIFO};
use crate::support::apb;
use crate::support::fifo_entries::Queues;
use crate::support::hosted_chip::{CONTROLLER_EVENT, Chips};
use crate::support::registers::flag;
use engine::activity::Activity;
use engine::bus::device::{AccessSize, Alarm, Ctx, Device, IrqLine, PortId, Reply, SlaveError};
use engine::dt::reader::NodeReader;
use engine::dt::wiring::ClockInput;
use engine::observe::spi::{FRAME, SHIFTING};
use engine::polling::{Edge, Poll, Polled};
use engine::state::State;
use engine::time::Ps;
use engine::wire::spi::SpiTarget;

pub use self::registers::REGISTERS;

const FIFO_WORDS: usize = 16;

/// The device.
#[derive(State)]
pub struct Ssi {
    #[state(skip)]
    label: String,
    /// The device clock.
    clock: ClockInput,
    #[state(skip)]
    interrupt: Option<IrqLine>,
    settings: Settings,
    interval: u32,
    characters: u32,
    /// UNDR and OVER.
    flags: u32,
    transmit: VecDeque<u32>,
    receive: VecDeque<u32>,
    /// The entries of the FIFOs, for recording.
    queues: Queues,
    wire: Wire,
    /// The time at which software last changed a setting of the wire.
    changed_at: Ps,
    alarm: Alarm,
    irq_level: bool,
    overruns: u64,
    underruns: u64,
}

/// The activities that it records.
const ACTIVITIES: &[&Activity] = &[&SHIFTING, &FRAME, &TX_FIFO, &RX_FIFO];

/// For the list of models.
pub const MODEL: Model =
    Model::device(Group::Spi, &["ingenic,jz4740-ssi"], 1, from_node).with_activities(ACTIVITIES).naming(REGISTERS);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    let clock = reader.clock_input(0, "the device clock");
    reader.clock_input(1, "clock of its bus");
    reader.known(&["clock-names"]);
    let interrupt = reader.interrupt(0, "its interrupt");
    let chips = Chips::from_node(reader, SELECTS as u32);
    Box::new(Ssi::new(reader.node.label().to_owned(), clock, interrupt, chips))
}

impl Ssi {
    /// The device after reset, with a chip or without on each of its chip selects.
    pub fn new(label: String, clock: impl Into<ClockInput>, interrupt: Option<IrqLine>, chips: Chips) -> Ssi {
        let clock = clock.into();
        let reset = |offset| REGISTERS.iter().find(|register| register.offset == offset).map_or(0, |found| found.reset);
        Ssi {
            label,
            clock,
            interrupt,
            settings: Settings { cr0: 0, cr1: reset(SSICR1), divider: 0 },
            interval: 0,
            characters: 0,
            flags: 0,
            transmit: VecDeque::with_capacity(FIFO_WORDS),
            receive: VecDeque::with_capacity(FIFO_WORDS),
            queues: Queues::default(),
            wire: Wire::new(chips, clock.rate),
            changed_at: Ps::ZERO,
            alarm: Alarm::default(),
            irq_level: false,
            overruns: 0,
            underruns: 0,
        }
    }

    /// Brings the wire up to `now`.
    fn pass_to(&mut self, now: Ps) {
        loop {
            if let Some(received) = self.wire.pass_to(now) {
                self.take_received(received, self.wire.free_from());
            }
            let goes_on = if self.wire.waits() { self.go_on() } else { self.begin() };
            if !goes_on && self.wire.next_end().is_none_or(|end| end > now) {
                return;
            }
        }
    }

    /// Begins a frame if there is a word for it, and no frame is open.
    fn begin(&mut self) -> bool {
        if self.settings.cr0 & cr0::SSIE == 0 || self.wire.is_busy() {
            return false;
        }
        let Some(word) = self.pop_word() else { return false };
        self.wire.set_idle(self.settings, self.clock.rate, self.changed_at);
        self.wire.begin(word, self.changed_at);
        true
    }

    /// Continues the open frame with the next word, or ends it. False if it waits for either.
    fn go_on(&mut self) -> bool {
        if let Some(word) = self.pop_word() {
            self.wire.go_on(word, self.changed_at);
            return true;
        }
        if self.settings.cr1 & cr1::UNFIN == 0 {
            self.wire.release(self.changed_at);
            return true;
        }
        self.underruns += u64::from(self.flags & sr::UNDR == 0);
        self.flags |= sr::UNDR;
        false
    }

    /// The next word to send, which leaves the FIFO as soon as the wire is free.
    fn pop_word(&mut self) -> Option<u32> {
        let word = self.transmit.pop_front()?;
        let at = self.changed_at.max(self.wire.free_from());
        self.queues.tx.leave(self.transmit.len() + 1, at, self.clock.rate);
        Some(word)
    }

    /// Takes a word that was received by `at`.
    fn take_received(&mut self, word: u32, at: Ps) {
        if self.settings.cr0 & cr0::DISREV != 0 {
            return;
        }
        if self.receive.len() == FIFO_WORDS {
            self.flags |= sr::OVER;
            self.overruns += 1;
            return;
        }
        self.queues.rx.come(self.receive.len(), at, word);
        self.receive.push_back(word);
    }

    fn status(&self) -> u32 {
        let (waiting, come) = (self.transmit.len(), self.receive.len());
        let busy = self.wire.is_busy();
        self.flags
            | (waiting as u32) << sr::TFIFO_NUM_SHIFT
            | (come as u32) << sr::RFIFO_NUM_SHIFT
            | flag(sr::END, !busy && waiting == 0)
            | flag(sr::BUSY, busy)
            | flag(sr::TFF, waiting == FIFO_WORDS)
            | flag(sr::RFE, come == 0)
            | flag(sr::TFHE, waiting <= self.settings.transmit_trigger())
            | flag(sr::RFHF, come >= self.settings.receive_trigger())
    }

    fn register(&mut self, offset: u32, now: Ps) -> u32 {
        match offset {
            SSIDR => {
                let Some(word) = self.receive.pop_front() else { return 0 };
                self.queues.rx.leave(self.receive.len() + 1, now, self.clock.rate);
                word
            }
            SSICR0 => self.settings.cr0,
            SSICR1 => self.settings.cr1,
            SSISR => self.status(),
            SSIITR => self.interval,
            SSIICR => self.characters,
            SSIGR => self.settings.divider,
            _ => 0,
        }
    }

    fn set_register(&mut self, offset: u32, value: u32, ctx: &mut Ctx) {
        let Some(register) = crate::support::registers::find(REGISTERS, offset) else {
            ctx.note(&format!("a write to offset {offset:#x}, where no register is, has no effect"));
            return;
        };
        let value = value & register.mask;
        match offset {
            SSIDR if self.transmit.len() == FIFO_WORDS => {
                ctx.note("a word was written to SSIDR while the transmit FIFO was full: it is lost");
            }
            SSIDR => {
                self.queues.tx.come(self.transmit.len(), ctx.now, value);
                self.transmit.push_back(value);
            }
            SSICR0 => self.set_control(value, ctx),
            SSICR1 => {
                if value & cr1::FMAT != 0 {
                    ctx.note(
                        "SSICR1.FMAT selects another format than Motorola's, which is not modelled: frames are \
                         Motorola's",
                    );
                }
                self.settings.cr1 = value;
            }
            // Zeroes clear bits.
            SSISR => self.flags &= value,
            SSIITR => {
                if value != 0 {
                    ctx.note("SSIITR asks for pauses between words, which are not modelled: words follow each other");
                }
                self.interval = value;
            }
            SSIICR => self.characters = value,
            _ => self.settings.divider = value,
        }
    }

    fn set_control(&mut self, value: u32, ctx: &mut Ctx) {
        if value & cr0::TFLUSH != 0 {
            self.queues.tx.clear(self.transmit.len(), ctx.now, self.clock.rate);
            self.transmit.clear();
        }
        if value & cr0::RFLUSH != 0 {
            self.queues.rx.clear(self.receive.len(), ctx.now, self.clock.rate);
            self.receive.clear();
        }
        self.settings.cr0 = value & !(cr0::TFLUSH | cr0::RFLUSH);
        if value & cr0::SSIE == 0 && self.wire.is_busy() {
            ctx.note("SSICR0.SSIE was cleared within a frame, which ended there");
            self.wire.abort(ctx.now);
        }
    }

    /// Updates the chips, the interrupt line and the event for the end on the wire after a possible change.
    fn settle(&mut self, ctx: &mut Ctx) {
        if !self.wire.is_busy() {
            self.wire.set_idle(self.settings, self.clock.rate, ctx.now);
        }
        self.wire.chips.settle(ctx);
        let (status, control) = (self.status(), self.settings.cr0);
        let on = |enable: u32, flag: u32| control & enable != 0 && status & flag != 0;
        let level =
            on(cr0::TIE, sr::TFHE) || on(cr0::TEIE, sr::UNDR) || on(cr0::RIE, sr::RFHF) || on(cr0::REIE, sr::OVER);
        let level = level && control & cr0::SSIE != 0;
        if level != self.irq_level {
            self.irq_level = level;
            ctx.set_irq(self.interrupt, level);
        }
        if let Some(end) = self.wire.next_end() {
            self.alarm.set(end, CONTROLLER_EVENT, ctx);
        }
    }
}

impl Device for Ssi {
    fn pops(&self, _range: usize, offset: u32) -> bool {
        offset & !3 == SSIDR
    }

    fn read(&mut self, _: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> Result<Reply, SlaveError> {
        self.pass_to(ctx.now);
        let register = self.register(offset & !3, ctx.now);
        self.settle(ctx);
        Ok(apb::read(register, offset, size, ctx))
    }

    fn write(
        &mut self,
        _: usize,
        offset: u32,
        size: AccessSize,
        value: u32,
        ctx: &mut Ctx,
    ) -> Result<Reply, SlaveError> {
        self.pass_to(ctx.now);
        let (register, value) = apb::written(value, offset, size);
        self.changed_at = ctx.now;
        self.set_register(register, value, ctx);
        self.pass_to(ctx.now);
        self.settle(ctx);
        Ok(Reply::written(ctx.now))
    }

    fn reset(&mut self, ctx: &mut Ctx) {
        self.wire.start(&self.label, ctx);
        self.queues.observe(ctx);
    }

    fn event(&mut self, token: u32, ctx: &mut Ctx) {
        self.pass_to(ctx.now);
        if token == CONTROLLER_EVENT {
            self.alarm.rang(ctx.now);
        }
        self.wire.chips.event(token, ctx);
        self.settle(ctx);
    }

    fn pins_changed(&mut self, port: PortId, changed: u32, levels: u32, ctx: &mut Ctx) {
        self.pass_to(ctx.now);
        self.wire.chips.pins_changed(port, changed, levels, ctx);
        self.settle(ctx);
    }

    fn clocks_changed(&mut self, ctx: &mut Ctx) {
        self.pass_to(ctx.now);
        ctx.bus.clocks.update(&mut self.clock);
        self.wire.change_clock(self.clock.rate, ctx.now);
        self.alarm.cancel(CONTROLLER_EVENT, ctx);
        self.settle(ctx);
    }

    fn finish(&mut self, _now: Ps) {
        self.queues.stay((self.transmit.len(), self.receive.len()), self.clock.rate);
    }

    fn chips(&mut self) -> Vec<&mut dyn SpiTarget> {
        self.wire.chips.targets()
    }

    fn counters(&self) -> Vec<(String, u64)> {
        let mut counters = vec![
            ("sck_clocks".to_owned(), self.wire.clocks),
            ("words".to_owned(), self.wire.words),
            ("frames".to_owned(), self.wire.frames),
            ("rx_overruns".to_owned(), self.overruns),
            ("tx_underruns".to_owned(), self.underruns),
        ];
        counters.extend(self.wire.chips.counters());
        counters
    }
}

impl Polled for Ssi {
    fn polled(&mut self, poll: &mut Poll) -> bool {
        if self.wire.is_busy() || !self.transmit.is_empty() {
            return false;
        }
        let Settings { cr0, cr1, divider } = self.settings;
        for register in [cr0, cr1, divider, self.interval, self.characters, self.flags] {
            poll.state(register);
        }
        poll.state(self.receive.len() as u64);
        self.receive.iter().for_each(|word| poll.state(*word));
        poll.state(self.wire.words);
        poll.state(self.wire.frames);
        Edge::edge(&mut self.queues, poll.clock(), poll);
        self.wire.chips.polled(poll)
    }
}

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
mod shifter;
#[cfg(test)]
mod tests;

use self::registers::*;
use self::shifter::{SELECTS, Shifter};
use crate::prelude::*;
use crate::support::activities::{RX_FIFO, TX_FIFO};
use crate::support::fifo_entries::Fifo;
use crate::support::hosted_chip::{CONTROLLER_EVENT, Chips};
use crate::support::interrupt_output::InterruptOutput;
use engine::activity::Activity;
use engine::bus::device::PortId;
use engine::observe::spi::{FRAME, SHIFTING};
use engine::wire::spi::{Lines, SpiTarget};

const FIFO_WORDS: usize = 16;

/// The device.
#[derive(State, Polled, RegisterBank)]
#[port(Port::APB)]
#[poll(first = Ssi::is_idle)]
pub struct Ssi {
    /// The device clock.
    clock: ClockInput,
    registers: Registers,
    #[poll(edge = poll.clock())]
    transmit: Fifo<u32>,
    #[poll(edge = poll.clock())]
    receive: Fifo<u32>,
    shifter: Shifter,
    /// The time at which software last changed a setting of the wire.
    #[poll(skip = "only the end of a frame and the next word depend on it, and that is a change, too")]
    changed_at: Ps,
    alarm: Alarm,
    interrupt: InterruptOutput,
    overruns: u64,
    underruns: u64,
}

/// The activities that it records.
const ACTIVITIES: &[&Activity] = &[&SHIFTING, &FRAME, &TX_FIFO, &RX_FIFO];

/// For the list of models.
pub const MODEL: Model =
    Model::device(Group::Spi, &["ingenic,jz4740-ssi"], 1, from_node).with_activities(ACTIVITIES).naming(MAP.rows);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    let clock = reader.clock_input(0, "the device clock");
    reader.clock_input(1, "clock of its bus");
    reader.known(&["clock-names"]);
    let interrupt = reader.interrupt(0, "its interrupt");
    let chips = Chips::from_node(reader, SELECTS as u32);
    Box::new(Ssi::new(clock, interrupt, chips))
}

impl Ssi {
    /// The device after reset, with a chip or without on each of its chip selects.
    pub fn new(clock: impl Into<ClockInput>, interrupt: Option<IrqLine>, chips: Chips) -> Ssi {
        let clock = clock.into();
        Ssi {
            clock,
            registers: Registers::new(&MAP),
            transmit: Fifo::new(&TX_FIFO),
            receive: Fifo::new(&RX_FIFO),
            shifter: Shifter::new(chips, clock.rate),
            changed_at: Ps::ZERO,
            alarm: Alarm::default(),
            interrupt: InterruptOutput::new(interrupt),
            overruns: 0,
            underruns: 0,
        }
    }

    /// Brings the wire up to `now`.
    fn pass_to(&mut self, now: Ps) {
        loop {
            if let Some(received) = self.shifter.pass_to(now) {
                self.take_received(received, self.shifter.free_from());
            }
            let goes_on = self.go_on();
            if !goes_on && self.shifter.next_end().is_none_or(|end| end > now) {
                return;
            }
        }
    }

    /// Begins a frame if there is a word for it, or continues the open one with the next word, or ends it. False if
    /// nothing of that is possible now.
    fn go_on(&mut self) -> bool {
        let (is_open, is_between) = (self.shifter.is_busy(), self.shifter.is_between_words());
        if is_open && !is_between || !is_open && !self.registers.has(SSICR0, SSICR0_SSIE) {
            return false;
        }
        if let Some(word) = self.pop_word() {
            if !is_open {
                self.shifter.set_idle(Settings::of(&self.registers), self.clock.rate, self.changed_at);
            }
            self.shifter.begin(word, self.changed_at);
        } else if is_open && !self.registers.has(SSICR1, SSICR1_UNFIN) {
            self.shifter.release(self.changed_at);
        } else {
            self.underruns += u64::from(is_open && !self.registers.has(SSISR, SSISR_UNDR));
            self.registers.put(SSISR, flag(SSISR_UNDR, is_open), true);
            return false;
        }
        true
    }

    /// The next word to send, which leaves the FIFO as soon as the wire is free.
    fn pop_word(&mut self) -> Option<u32> {
        let at = self.changed_at.max(self.shifter.free_from());
        self.transmit.pop(at, self.clock.rate)
    }

    /// Takes a word that was received by `at`.
    fn take_received(&mut self, word: u32, at: Ps) {
        if self.registers.has(SSICR0, SSICR0_DISREV) {
            return;
        }
        if self.receive.len() == FIFO_WORDS {
            self.registers.put(SSISR, SSISR_OVER, true);
            self.overruns += 1;
            return;
        }
        self.receive.push(word, at);
    }

    fn status(&self) -> u32 {
        let (waiting, come) = (self.transmit.len(), self.receive.len());
        let busy = self.shifter.is_busy();
        let trigger = |bits: u32| TRIGGERS[self.registers.field(SSICR1, bits) as usize];
        self.registers[SSISR] & (SSISR_UNDR | SSISR_OVER)
            | (waiting as u32) << SSISR_TFIFO_NUM.trailing_zeros()
            | (come as u32) << SSISR_RFIFO_NUM.trailing_zeros()
            | flag(SSISR_END, !busy && waiting == 0)
            | flag(SSISR_BUSY, busy)
            | flag(SSISR_TFF, waiting == FIFO_WORDS)
            | flag(SSISR_RFE, come == 0)
            | flag(SSISR_TFHE, waiting <= trigger(SSICR1_TTRG))
            | flag(SSISR_RFHF, come >= trigger(SSICR1_RTRG))
    }

    fn send(&mut self, word: u32, ctx: &mut Ctx) {
        if self.transmit.len() == FIFO_WORDS {
            ctx.note("a word was written to SSIDR while the transmit FIFO was full: it is lost");
        } else {
            self.transmit.push(word, ctx.now);
        }
    }

    fn wrote_control(&mut self, new: u32, ctx: &mut Ctx) {
        self.registers.put(SSICR0, SSICR0_TFLUSH | SSICR0_RFLUSH, false);
        if new & SSICR0_TFLUSH != 0 {
            self.transmit.clear(ctx.now, self.clock.rate);
        }
        if new & SSICR0_RFLUSH != 0 {
            self.receive.clear(ctx.now, self.clock.rate);
        }
        if new & SSICR0_SSIE == 0 && self.shifter.is_busy() {
            ctx.note("SSICR0.SSIE was cleared within a frame, which ended there");
            self.shifter.abort(ctx.now);
        }
    }

    /// Updates the chips, the interrupt line and the event for the end on the wire after a possible change.
    fn follow(&mut self, ctx: &mut Ctx) {
        if !self.shifter.is_busy() {
            self.shifter.set_idle(Settings::of(&self.registers), self.clock.rate, ctx.now);
        }
        self.shifter.bus.chips.settle(ctx);
        let (status, control) = (self.status(), self.registers[SSICR0]);
        let interrupts =
            [(SSICR0_TIE, SSISR_TFHE), (SSICR0_TEIE, SSISR_UNDR), (SSICR0_RIE, SSISR_RFHF), (SSICR0_REIE, SSISR_OVER)];
        let level = interrupts.iter().any(|(enable, flag)| control & enable != 0 && status & flag != 0);
        self.interrupt.drive(level && control & SSICR0_SSIE != 0, ctx);
        if let Some(end) = self.shifter.next_end() {
            self.alarm.set(end, CONTROLLER_EVENT, ctx);
        }
    }

    /// True if no frame is open, and no word waits for one.
    fn is_idle(&mut self, _: &mut Poll) -> bool {
        !self.shifter.is_busy() && self.transmit.is_empty()
    }
}

impl Table for Ssi {
    fn settle(&mut self, ctx: &mut Ctx) {
        self.pass_to(ctx.now);
    }

    fn shown(&mut self, register: u32, held: u32, ctx: &mut Ctx) -> u32 {
        match register {
            SSIDR => self.receive.pop(ctx.now, self.clock.rate).unwrap_or(0),
            SSISR => self.status(),
            _ => held,
        }
    }

    fn was_read(&mut self, _: u32, ctx: &mut Ctx) {
        self.follow(ctx);
    }

    fn wrote(&mut self, register: u32, _: u32, new: u32, ctx: &mut Ctx) {
        self.changed_at = ctx.now;
        match register {
            SSIDR => self.send(new, ctx),
            SSICR0 => self.wrote_control(new, ctx),
            SSICR1 if new & SSICR1_FMAT != 0 => ctx.note(
                "SSICR1.FMAT selects another format than Motorola's, which is not modelled: frames are Motorola's",
            ),
            SSIITR if new != 0 => {
                ctx.note("SSIITR asks for pauses between words, which are not modelled: words follow each other");
            }
            _ => {}
        }
    }

    fn refused(&mut self, register: u32, _: Refused, ctx: &mut Ctx) {
        ctx.note(&format!("a write to offset {register:#x}, where no register is, has no effect"));
    }

    fn update(&mut self, ctx: &mut Ctx) {
        self.pass_to(ctx.now);
        self.follow(ctx);
    }
}

impl Device for Ssi {
    by_table!();

    fn pops(&self, _range: usize, offset: u32) -> bool {
        offset & !3 == SSIDR
    }

    fn reset(&mut self, ctx: &mut Ctx) {
        self.shifter.bus.name_lines(Lines::Single, ctx);
        self.shifter.bus.chips.start(ctx);
        self.transmit.observe(ctx);
        self.receive.observe(ctx);
    }

    fn event(&mut self, token: u32, ctx: &mut Ctx) {
        self.pass_to(ctx.now);
        if token == CONTROLLER_EVENT {
            self.alarm.rang(ctx.now);
        }
        self.shifter.bus.chips.event(token, ctx);
        self.follow(ctx);
    }

    fn pins_changed(&mut self, port: PortId, changed: u32, levels: u32, ctx: &mut Ctx) {
        self.pass_to(ctx.now);
        self.shifter.bus.chips.pins_changed(port, changed, levels, ctx);
        self.follow(ctx);
    }

    fn clocks_changed(&mut self, ctx: &mut Ctx) {
        self.pass_to(ctx.now);
        ctx.bus.clocks.update(&mut self.clock);
        self.shifter.change_clock(self.clock.rate, ctx.now);
        self.alarm.cancel(CONTROLLER_EVENT, ctx);
        self.follow(ctx);
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
        bus.chips.counters_after(&[
            ("sck_clocks", bus.clocks),
            ("words", bus.words),
            ("frames", bus.frames),
            ("rx_overruns", self.overruns),
            ("tx_underruns", self.underruns),
        ])
    }
}

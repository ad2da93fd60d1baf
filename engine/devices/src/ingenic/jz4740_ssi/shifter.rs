//! Words on the wire, edge by edge: chips sample on their own edges, in any of the four modes.

use super::registers::Settings;
use crate::prelude::*;
use crate::support::hosted_chip::Chips;
use crate::support::spi_controller::SpiBus;
use engine::wire::spi_pins::{PinLevels, Pins};

/// Chip selects: SSI_CE_ and SSI_CE2_.
pub const SELECTS: usize = 2;

/// A word in the shift register.
#[derive(Clone, Copy, Debug, State, Fresh)]
struct Word {
    /// Cycle of the device clock in which its first bit's time begins; before time 0 for a word that began at another
    /// rate.
    start: i64,
    /// The bits that are sent, first bit highest, and those that were received.
    sent: u32,
    received: u32,
    /// Halves of SCK's period that have ended.
    step: u32,
}

/// The state of the wire.
#[derive(Clone, Copy, Debug, State, Fresh)]
enum Phase {
    /// No frame.
    Idle,
    Word(Word),
    /// The frame continues when there is a word: the last word ended in this cycle.
    Waiting(u64),
    /// The frame ends in this cycle.
    Releasing(u64),
}

/// The controller's side of the wire, and the bus.
#[derive(State, Polled)]
pub struct Shifter {
    /// The bus.
    pub bus: SpiBus,
    #[poll(skip = "between frames they follow from the settings")]
    pins: [Pins; SELECTS],
    /// The settings at the frame's start.
    settings: Settings,
    clock: Hz,
    #[poll(skip = "a loop within a frame is not skipped")]
    phase: Phase,
    /// The earliest start of a frame.
    free_at: Ps,
    selected: bool,
    mosi: bool,
}

impl Shifter {
    /// At rest.
    pub fn new(chips: Chips, clock: Hz) -> Shifter {
        Shifter {
            bus: SpiBus::new(chips),
            pins: [Pins::new(); SELECTS],
            settings: Settings::default(),
            clock,
            phase: Phase::Idle,
            free_at: Ps::ZERO,
            selected: false,
            mosi: true,
        }
    }

    /// True while a frame is open.
    pub fn is_busy(&self) -> bool {
        !matches!(self.phase, Phase::Idle)
    }

    /// True if the last word of an open frame has ended.
    pub fn is_between_words(&self) -> bool {
        matches!(self.phase, Phase::Waiting(_))
    }

    /// After [`Shifter::pass_to`]: the end of a word after which the frame waits for the next one, or of the last
    /// frame.
    pub fn free_from(&self) -> Ps {
        match self.phase {
            Phase::Waiting(end) => self.time(end),
            _ => self.free_at,
        }
    }

    /// The end of the word or of the frame in progress, for which an event is needed.
    pub fn next_end(&self) -> Option<Ps> {
        match self.phase {
            Phase::Idle | Phase::Waiting(_) => None,
            Phase::Word(word) => Some(self.time(self.end_of(word))),
            Phase::Releasing(at) => Some(self.time(at)),
        }
    }

    /// Between frames: the settings are those of the registers; the clock rests at their level.
    pub fn set_idle(&mut self, settings: Settings, clock: Hz, now: Ps) {
        let now = now.max(self.free_at);
        self.show_rest(settings, now);
        (self.settings, self.clock) = (settings, clock);
        self.set_pins(settings.format.cpol, now);
    }

    /// The device clock has another rate from `now` on; all edges up to then have been carried out. Cycles that lie
    /// ahead stay as many cycles ahead.
    pub fn change_clock(&mut self, clock: Hz, now: Ps) {
        let [from, to] = [self.clock, clock].map(|clock| clock.cycles_until_floor(now).0);
        self.phase = match self.phase {
            Phase::Idle => Phase::Idle,
            Phase::Word(word) => Phase::Word(Word { start: word.start - from as i64 + to as i64, ..word }),
            Phase::Waiting(end) => Phase::Waiting(clock.cycles_until_ceil(self.time(end)).0),
            Phase::Releasing(cycle) => Phase::Releasing(to + cycle.saturating_sub(from)),
        };
        self.clock = clock;
    }

    /// Sends a word, which was there at `at`: it continues the open frame, or begins one when the previous frame is
    /// over.
    pub fn begin(&mut self, word: u32, at: Ps) {
        let start = match self.phase {
            Phase::Waiting(end) => self.clock.cycles_until_ceil(at).0.max(end),
            _ => self.begin_frame(at.max(self.free_at)),
        };
        let format = self.settings.format;
        let sent = format.ordered(word & format.mask());
        self.phase = Phase::Word(Word { start: start as i64, sent, received: 0, step: 0 });
    }

    /// Selects the chip at `at`: the cycle in which the first bit's time begins.
    fn begin_frame(&mut self, at: Ps) -> u64 {
        let cycle = self.clock.cycles_until_ceil(at).0;
        let now = self.time(cycle);
        self.selected = true;
        self.bus.frames += 1;
        self.show_select(true, now);
        self.set_pins(self.settings.format.cpol, now);
        cycle + self.settings.lead
    }

    /// Ends the open frame: there is no further word.
    pub fn release(&mut self, at: Ps) {
        if let Phase::Waiting(end) = self.phase {
            let from = self.clock.cycles_until_ceil(at).0.max(end);
            self.phase = Phase::Releasing(from + self.settings.trail);
        }
    }

    /// The controller is switched off: the frame ends at once.
    pub fn abort(&mut self, now: Ps) {
        self.phase = Phase::Idle;
        if std::mem::take(&mut self.selected) {
            self.show_select(false, now);
        }
        self.free_at = now;
        self.set_pins(self.settings.format.cpol, now);
    }

    /// Carries out all edges by `now`, up to the end of the word or the frame in progress: returns the received word if
    /// a word ended.
    pub fn pass_to(&mut self, now: Ps) -> Option<u32> {
        match self.phase {
            Phase::Idle | Phase::Waiting(_) => None,
            Phase::Releasing(cycle) => {
                let at = self.time(cycle);
                if at <= now {
                    self.abort(at);
                }
                None
            }
            Phase::Word(mut word) => {
                while word.step <= 2 * self.settings.format.bits {
                    let at = self.time(self.cycle_of(word, word.step));
                    if at > now {
                        self.phase = Phase::Word(word);
                        return None;
                    }
                    self.half_step(&mut word, at);
                }
                Some(self.end_word(word))
            }
        }
    }

    fn end_word(&mut self, word: Word) -> u32 {
        let end = self.end_of(word);
        self.phase = Phase::Waiting(end);
        let format = self.settings.format;
        let (burst, clock) = (format.burst(word.sent), format.clock(self.clock, word.start.max(0) as u64));
        self.bus.count(burst);
        format.ordered(self.bus.signals.burst(burst, word.received, clock))
    }

    /// Begins half `word.step` of the word's half periods. With CPHA 0 a bit is set in the first half of its clock and
    /// sampled at the start of the second; with CPHA 1 the clock is half a period ahead of that.
    fn half_step(&mut self, word: &mut Word, at: Ps) {
        let (step, format) = (word.step, self.settings.format);
        let second = step % 2 == 1;
        if second {
            word.received = word.received << 1 | u32::from(self.miso(at));
        } else if step < 2 * format.bits {
            self.mosi = word.sent >> (format.bits - 1 - step / 2) & 1 != 0;
        }
        let leading = second != format.cpha && step < 2 * format.bits;
        self.set_pins(leading != format.cpol, at);
        word.step += 1;
    }

    /// The level of MISO that the controller samples: pulled up if no chip drives it.
    fn miso(&self, at: Ps) -> bool {
        if self.settings.is_loop {
            return self.mosi;
        }
        self.bus.chips.miso(&self.pins, at)[0].unwrap_or(true)
    }

    fn set_pins(&mut self, clock: bool, at: Ps) {
        for (select, pins) in self.pins.iter_mut().enumerate() {
            let active = self.selected && self.settings.select == select;
            // Chips are selected by a low level.
            let selected = active != self.settings.is_active_high(select);
            let levels = PinLevels { selected, clock, enables: 1, levels: u8::from(self.mosi) };
            if let Some(chip) = self.bus.chips.get_mut(select).filter(|_| pins.levels() != levels) {
                pins.set(levels, at, chip.target());
            }
        }
    }

    /// The lines' levels at rest change with new settings.
    fn show_rest(&self, settings: Settings, now: Ps) {
        if settings.format.cpol != self.settings.format.cpol {
            self.bus.signals.rest(settings.format.cpol, now);
        }
        for select in 0..SELECTS {
            let low = settings.is_active_high(select);
            if low != self.settings.is_active_high(select) {
                self.bus.signals.select(select, low, now);
            }
        }
    }

    fn show_select(&self, active: bool, at: Ps) {
        let select = self.settings.select;
        self.bus.signals.select(select, active != self.settings.is_active_high(select), at);
    }

    /// The cycle in which half `halves` of the word's half periods begins.
    fn cycle_of(&self, word: Word, halves: u32) -> u64 {
        word.start.saturating_add_unsigned(u64::from(halves) * self.settings.format.half).max(0) as u64
    }

    fn end_of(&self, word: Word) -> u64 {
        self.cycle_of(word, 2 * self.settings.format.bits)
    }

    fn time(&self, cycle: u64) -> Ps {
        self.clock.ps_at_floor(Cycles(cycle))
    }
}

//! The shift register, the transmit holding register, and the slave selects. Times are edges of the core's clock.

use super::params::Params;
use crate::prelude::*;
use crate::support::hosted_chip::Chips;
use engine::observe::spi::{SerialClock, SpiSignals};
use engine::wire::spi::{Burst, Lines, PULLED_UP, Rate};

/// A word on the wire.
#[derive(Clone, Copy, Debug, State, Fresh, Polled)]
struct Word {
    /// The edge at which the core has finished it.
    #[poll(end)]
    end: Cycles,
    /// The bits that were received by then.
    received: u32,
}

/// The core's side of the wire, and the chips on it.
#[derive(State, Polled)]
#[poll(first = Shifter::list_first_state)]
pub struct Shifter {
    #[state(skip)]
    params: Params,
    /// On the slave selects.
    pub chips: Chips,
    /// Words so far.
    #[poll(total)]
    pub words: u64,
    /// Times that a slave was selected.
    #[poll(total)]
    pub frames: u64,
    /// The lines, for waveforms.
    #[poll(skip = "software does not see them")]
    pub signals: SpiSignals,
    word: Option<Word>,
    /// txdata, until the previous word is finished.
    held: Option<u32>,
    /// slaveselect as written, and as in effect.
    select_holding: u32,
    select: u32,
    /// SSO: the slave stays selected between words.
    select_output: bool,
    selected: Option<usize>,
    has_let_go: bool,
    /// The last edge that the chips have seen.
    #[poll(end)]
    last_edge: Cycles,
}

impl Shifter {
    /// After reset.
    pub fn new(params: Params, chips: Chips) -> Shifter {
        Shifter {
            params,
            chips,
            words: 0,
            frames: 0,
            signals: SpiSignals::default(),
            word: None,
            held: None,
            select_holding: 1,
            select: 1,
            select_output: false,
            selected: None,
            has_let_go: false,
            last_edge: Cycles(0),
        }
    }

    /// TMT: no word waits or is being sent.
    pub fn is_empty(&self) -> bool {
        self.word.is_none()
    }

    /// TRDY: a word can be written.
    pub fn takes_word(&self) -> bool {
        self.held.is_none()
    }

    /// When the word on the wire ends.
    pub fn word_end(&self) -> Option<Cycles> {
        self.word.map(|word| word.end)
    }

    /// True if the word on the wire ends at `edge`.
    pub fn ends_at(&self, edge: Cycles) -> bool {
        self.word_end() == Some(edge)
    }

    /// slaveselect as software reads it: as in effect.
    pub fn select_register(&self) -> u32 {
        self.select
    }

    /// A write of slaveselect: takes effect from the next word on.
    pub fn set_select_holding(&mut self, selects: u32) {
        self.select_holding = selects;
    }

    /// Takes a word from txdata at `edge`, if [`Shifter::takes_word`]: it starts with the next edge if no word is on
    /// the wire.
    pub fn take_word(&mut self, word: u32, edge: Cycles) {
        match self.word {
            Some(_) => self.held = Some(word),
            None => self.start(word, Cycles(edge.0 + 1)),
        }
    }

    /// Ends the word on the wire if it is finished at `edge`, and starts the next: returns the received word.
    pub fn end_word(&mut self, edge: Cycles) -> Option<u32> {
        let word = self.word.filter(|word| word.end <= edge)?;
        self.word = None;
        if !self.select_output {
            self.move_select(None, Cycles(word.end.0 - u64::from(self.params.clock_phase)));
        }
        if let Some(next) = self.held.take() {
            self.start(next, Cycles(word.end.0 + 1));
        }
        Some(word.received)
    }

    /// SSO as written at `edge`; true if the select changes during a word on the wire.
    pub fn set_select_output(&mut self, on: bool, edge: Cycles) -> bool {
        if on && !self.select_output {
            self.select = self.select_holding;
        }
        self.select_output = on;
        let select = (on || self.word.is_some()).then(|| self.lowest()).flatten();
        let changes = select != self.selected;
        self.move_select(select, edge);
        changes && self.word.is_some()
    }

    /// True, once, after a slave was deselected.
    pub fn has_let_go(&mut self) -> bool {
        std::mem::take(&mut self.has_let_go)
    }

    fn list_first_state(&mut self, poll: &mut Poll) -> bool {
        poll.state(self.first_state());
        true
    }

    /// Puts a word on the wire: it is in the shift register from `edge` on.
    fn start(&mut self, word: u32, edge: Cycles) {
        let Params { bits, half_cycles, lsb_first, clock_phase, .. } = self.params;
        // The RTL's counter of halves goes from 0 to 2 bits + 1; SCK changes at the end of all halves except the first
        // and the last.
        let halves = u64::from(2 * bits + 2) - self.first_state();
        self.select = self.select_holding;
        let select_halves = if self.select_output { 0 } else { 1 - self.first_state() };
        self.move_select(self.lowest(), Cycles(edge.0 + select_halves * half_cycles));
        let last_sck = Cycles(edge.0 + (halves - 1) * half_cycles);
        let reversed = |word: u32| if lsb_first { word.reverse_bits() >> (32 - bits) } else { word };
        let received = reversed(self.exchange(reversed(word), last_sck));
        let end = Cycles(edge.0 + halves * half_cycles + u64::from(clock_phase));
        self.word = Some(Word { end, received });
        self.words += 1;
    }

    /// The first value of the counter of halves. With CPHA 1 the core takes a clock to detect a word's end, and if SCK
    /// has half the clock's frequency, the counter advances with that clock: from the second word on it starts from 1.
    fn first_state(&self) -> u64 {
        u64::from(self.params.clock_phase && self.params.half_cycles == 1 && self.words > 0)
    }

    fn exchange(&mut self, word: u32, end: Cycles) -> u32 {
        let now = self.time(end);
        let ones = self.params.data_mask();
        let burst = Burst::output(Lines::Single, Rate::Single, self.params.bits, word);
        let clock = self.serial_clock(end);
        // The data line is pulled up unless a chip drives it.
        let (mut received, mut is_answered) = (ones, false);
        for (select, chip) in self.chips.each() {
            if self.selected == Some(select) {
                received = self.signals.burst(burst, chip.shift(burst, now), clock) & ones;
                is_answered = true;
            } else if word == ones {
                chip.idle_clocks(self.params.bits, now);
            }
        }
        if !is_answered {
            self.signals.burst(burst, PULLED_UP, clock);
        }
        received
    }

    /// The clocks of a word whose last edge is `end`. With CPHA 0 the first bit's time begins half a period before the
    /// first edge.
    fn serial_clock(&self, end: Cycles) -> SerialClock {
        let Params { bits, half_cycles, clock_polarity, clock_phase, .. } = self.params;
        let halves = u64::from(2 * bits) - u64::from(clock_phase);
        SerialClock {
            source: self.params.port.clock,
            start: end.0 - halves * half_cycles,
            period: 2 * half_cycles,
            cpol: clock_polarity,
            cpha: clock_phase,
        }
    }

    /// The slave that slaveselect selects.
    fn lowest(&self) -> Option<usize> {
        (self.select != 0).then(|| self.select.trailing_zeros() as usize)
    }

    fn move_select(&mut self, select: Option<usize>, edge: Cycles) {
        if select == self.selected {
            return;
        }
        let now = self.time(edge);
        let old = std::mem::replace(&mut self.selected, select);
        for (select, low) in old.map(|old| (old, false)).into_iter().chain(select.map(|new| (new, true))) {
            self.signals.select(select, low, now);
        }
        self.has_let_go |= old.is_some();
        self.frames += u64::from(select.is_some());
        if let Some(chip) = old.and_then(|old| self.chips.get_mut(old)) {
            chip.deselect(now);
        }
        if let Some(chip) = select.and_then(|new| self.chips.get_mut(new)) {
            chip.select(now);
        }
    }

    /// The time of an edge for the chips; never before the last one, since a word on the wire may be ahead.
    fn time(&mut self, edge: Cycles) -> Ps {
        self.last_edge = self.last_edge.max(edge);
        self.params.port.clock.ps_at_floor(self.last_edge)
    }
}

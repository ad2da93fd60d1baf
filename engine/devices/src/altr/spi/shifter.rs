//! The shift register, the transmit holding register, and the slave selects. Times are edges of the core's clock.

use super::params::Params;
use crate::prelude::*;
use crate::support::hosted_chip::Chips;
use crate::support::spi_controller::{SpiBus, lowest};

/// A word on the wire.
#[derive(Clone, Copy, Debug, State, Fresh, Polled)]
struct Word {
    /// The edge at which the core has finished it.
    #[poll(end)]
    end: Cycles,
    /// The bits that were received by then.
    received: u32,
}

/// The core's side of the wire, and the bus.
#[derive(State, Polled)]
#[poll(first = Shifter::list_first_state)]
pub struct Shifter {
    /// Of the core.
    #[state(skip)]
    pub params: Params,
    /// The bus.
    pub bus: SpiBus,
    word: Option<Word>,
    /// txdata, until the previous word is finished.
    held: Option<u32>,
    /// slaveselect as written: takes effect from the next word on.
    pub select_holding: u32,
    /// slaveselect as in effect, and as software reads it.
    pub select: u32,
    /// SSO: the slave stays selected between words.
    select_output: bool,
    /// A slave was deselected since this was last cleared.
    pub has_let_go: bool,
    /// The last edge that the chips have seen.
    #[poll(end)]
    last_edge: Cycles,
}

impl Shifter {
    /// After reset.
    pub fn new(params: Params, chips: Chips) -> Shifter {
        Shifter {
            params,
            bus: SpiBus::new(chips),
            word: None,
            held: None,
            select_holding: 1,
            select: 1,
            select_output: false,
            has_let_go: false,
            last_edge: Cycles(0),
        }
    }

    /// TRDY: a word can be written.
    pub fn takes_word(&self) -> bool {
        self.held.is_none()
    }

    /// When the word on the wire ends. TMT: no word waits or is being sent.
    pub fn word_end(&self) -> Option<Cycles> {
        self.word.map(|word| word.end)
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
            self.move_select(None, Cycles(word.end.0 - u64::from(self.params.format.cpha)));
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
        let select = (on || self.word.is_some()).then(|| lowest(self.select)).flatten();
        self.move_select(select, edge) && self.word.is_some()
    }

    fn list_first_state(&mut self, poll: &mut Poll) -> bool {
        poll.state(self.first_state());
        true
    }

    /// Puts a word on the wire: it is in the shift register from `edge` on.
    fn start(&mut self, word: u32, edge: Cycles) {
        let format = self.params.format;
        // The RTL's counter of halves goes from 0 to 2 bits + 1; SCK changes at the end of all halves except the first
        // and the last.
        let halves = u64::from(2 * format.bits + 2) - self.first_state();
        self.select = self.select_holding;
        let select_halves = if self.select_output { 0 } else { 1 - self.first_state() };
        self.move_select(lowest(self.select), Cycles(edge.0 + select_halves * format.half));
        let last_sck = Cycles(edge.0 + (halves - 1) * format.half);
        let received = format.ordered(self.exchange(format.ordered(word), last_sck));
        let end = Cycles(edge.0 + halves * format.half + u64::from(format.cpha));
        self.word = Some(Word { end, received });
    }

    /// The first value of the counter of halves. With CPHA 1 the core takes a clock to detect a word's end, and if SCK
    /// has half the clock's frequency, the counter advances with that clock: from the second word on it starts from 1.
    fn first_state(&self) -> u64 {
        u64::from(self.params.format.cpha && self.params.format.half == 1 && self.bus.words > 0)
    }

    /// Shifts a word whose last edge is `end`. With CPHA 0 the first bit's time begins half a period before the first
    /// edge.
    fn exchange(&mut self, word: u32, end: Cycles) -> u32 {
        let format = self.params.format;
        let (now, burst) = (self.time(end), format.burst(word));
        let halves = u64::from(2 * format.bits) - u64::from(format.cpha);
        let clock = format.clock(self.params.port.clock, end.0 - halves * format.half);
        self.bus.pass_idle_clocks(burst, now);
        self.bus.exchange(burst, now, clock) & format.mask()
    }

    /// Selects a slave, or none; true if that is a change.
    fn move_select(&mut self, select: Option<usize>, edge: Cycles) -> bool {
        if select == self.bus.selected() {
            return false;
        }
        let now = self.time(edge);
        self.has_let_go |= self.bus.selected().is_some();
        self.bus.select_only(select, now);
        true
    }

    /// The time of an edge for the chips; never before the last one, since a word on the wire may be ahead.
    fn time(&mut self, edge: Cycles) -> Ps {
        self.last_edge = self.last_edge.max(edge);
        self.params.port.clock.ps_at_floor(self.last_edge)
    }
}

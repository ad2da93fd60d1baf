//! The shift register and the wire, in cycles of PCLK.

use super::registers::{CR1_BR, CR1_CPHA, CR1_CPOL, CR1_LSBFIRST};
use super::{MISO, MOSI, SCK};
use crate::devices::support::hosted_chip::Chips;
use crate::devices::support::pin_functions::PinFunctions;
use crate::observe::spi::{SerialClock, SpiSignals};
use crate::state::{Fresh, State};
use crate::time::{Cycles, Hz, Ps};
use crate::wire::spi::{Burst, Lines, PULLED_UP, Rate};

/// A word on the wire.
#[derive(Clone, Copy, Debug, State, Fresh)]
struct Word {
    /// What has been received when the last bit is sampled.
    received: Option<u16>,
    sampled_at: u64,
    end: u64,
}

/// The wire, and the chips on it.
#[derive(State)]
pub struct Wire {
    pub chips: Chips,
    pub signals: SpiSignals,
    word: Option<Word>,
    /// From when on a word that was written may begin.
    ready: u64,
    /// When the last word ended.
    free: u64,
    selected: u32,
    /// Signals without a pin that have spoiled a word, and of which the user does not know yet: a bit each.
    pub spoiled: u32,
    pub words: u64,
    pub clocks: u64,
}

impl Wire {
    /// At rest.
    pub fn new(chips: Chips) -> Wire {
        let signals = SpiSignals::default();
        Wire { chips, signals, word: None, ready: 0, free: 0, selected: 0, spoiled: 0, words: 0, clocks: 0 }
    }

    pub const fn is_busy(&self) -> bool {
        self.word.is_some()
    }

    /// A word was written, which may begin in this cycle if the wire is at rest.
    pub fn ready_at(&mut self, cycle: u64) {
        if self.word.is_none() {
            self.ready = self.ready.max(cycle);
        }
    }

    /// The word that has been received by `cycle`, once, and when its last bit was sampled.
    pub fn take_received(&mut self, cycle: u64) -> Option<(u16, u64)> {
        let word = self.word.as_mut().filter(|word| word.sampled_at <= cycle)?;
        Some((word.received.take()?, word.sampled_at))
    }

    /// Ends the word on the wire if it is over in `cycle`: when the wire has been free since; `None` where it is not.
    pub fn end_word(&mut self, cycle: u64) -> Option<u64> {
        if let Some(word) = self.word {
            if word.end > cycle {
                return None;
            }
            (self.word, self.free) = (None, word.end);
        }
        Some(self.free)
    }

    /// When the next word begins, if that is by `cycle`. One that was there in time follows without a pause.
    pub fn start_by(&self, free: u64, cycle: u64) -> Option<u64> {
        let start = free.max(self.ready);
        (start <= cycle).then_some(start)
    }

    /// When something happens next; `waits` tells that there is a word to begin.
    pub fn next(&self, waits: bool) -> Option<u64> {
        match self.word {
            Some(Word { received: Some(_), sampled_at, .. }) => Some(sampled_at),
            Some(word) => Some(word.end),
            None => waits.then_some(self.free.max(self.ready)),
        }
    }

    /// A word begins in the cycle `start`.
    pub fn begin(&mut self, start: u64, frame: u16, control: u32, bits: u32, clock: Hz, pins: &PinFunctions) {
        let half = 1 << (control >> CR1_BR & 7);
        let cpha = control & CR1_CPHA != 0;
        let end = start + 2 * half * u64::from(bits);
        let sampled_at = end - half;
        let ordered = |word: u32| if control & CR1_LSBFIRST != 0 { word.reverse_bits() >> (32 - bits) } else { word };
        let mask = u32::MAX >> (32 - bits);
        let meant = ordered(u32::from(frame) & mask);
        let sent = if pins.carries(MOSI) { meant } else { PULLED_UP & mask };
        let burst = Burst::output(Lines::Single, Rate::Single, bits, sent);
        let serial = SerialClock { source: clock, start, period: 2 * half, cpol: control & CR1_CPOL != 0, cpha };
        let at = clock.ps_at_floor(Cycles(end));
        let mut received = PULLED_UP;
        self.spoiled |= u32::from(!pins.carries(SCK)) << SCK;
        // What is not meant for anybody is often all zeroes.
        self.spoiled |= u32::from(sent != meant && meant != 0) << MOSI;
        for (select, chip) in self.chips.each().filter(|_| pins.carries(SCK)) {
            if self.selected >> select & 1 != 0 {
                received = chip.shift(burst, at);
                break;
            }
        }
        if !pins.carries(MISO) {
            self.spoiled |= u32::from(received & mask != PULLED_UP & mask) << MISO;
            received = PULLED_UP;
        }
        let received = ordered(self.signals.burst(burst, received, serial) & mask) as u16;
        self.word = Some(Word { received: Some(received), sampled_at, end });
        self.words += 1;
        self.clocks += u64::from(bits);
    }

    /// The word on the wire comes to nothing.
    pub fn abandon(&mut self) {
        self.word = None;
    }

    /// SCK rests at this level.
    pub fn rest(&self, cpol: bool, at: Ps) {
        self.signals.rest(cpol, at);
    }

    /// A chip select goes low or high.
    pub fn select(&mut self, select: usize, low: bool, at: Ps) {
        let mask = 1 << select;
        if low == (self.selected & mask != 0) {
            return;
        }
        self.selected ^= mask;
        self.signals.select(select, low, at);
        if let Some(chip) = self.chips.get_mut(select) {
            if low { chip.select(at) } else { chip.deselect(at) }
        }
    }

    /// Cycle numbers are those of another clock: what was `before` is `now`.
    pub fn move_by(&mut self, before: u64, now: u64) {
        let moved = |cycle: u64| if cycle > before { now + (cycle - before) } else { cycle.min(now) };
        if let Some(word) = &mut self.word {
            (word.sampled_at, word.end) = (moved(word.sampled_at), moved(word.end));
        }
        (self.ready, self.free) = (moved(self.ready), moved(self.free));
    }
}

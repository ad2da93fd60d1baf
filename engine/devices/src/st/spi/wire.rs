//! The shift register and the wire, in cycles of PCLK.

use super::registers::{CR1_BR, CR1_CPHA, CR1_CPOL, CR1_LSBFIRST};
use super::{MISO, MOSI, SCK};
use crate::prelude::*;
use crate::support::hosted_chip::Chips;
use crate::support::pin_functions::PinFunctions;
use engine::observe::spi::{SerialClock, SpiSignals};
use engine::wire::spi::{Burst, Lines, PULLED_UP, Rate};

/// The direction of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// Out on MOSI, in on MISO.
    Both,
    /// Out on MOSI; nothing is sampled.
    Out,
    /// In on MISO; MOSI is released.
    In,
    /// In on MOSI, which the interface has released.
    InOnMosi,
}

impl Direction {
    /// True if words follow each other while the interface is on, with or without data to send.
    pub const fn clocks_by_itself(self) -> bool {
        matches!(self, Direction::In | Direction::InOnMosi)
    }
}

/// A word to send.
#[derive(Clone, Copy, Debug)]
pub struct Frame {
    /// The data, in the lowest bits.
    pub data: u16,
    pub bits: u32,
    pub direction: Direction,
}

/// A word on the wire.
#[derive(Clone, Copy, Debug, State, Fresh, Polled)]
struct Word {
    /// The received word, from the sampling of the last bit on.
    received: Option<u16>,
    sampled_at: u64,
    end: u64,
}

/// The wire, and the chips on it.
#[derive(Default, State, Polled)]
pub struct Wire {
    pub chips: Chips,
    #[poll(skip = "what is recorded changes no answer")]
    pub signals: SpiSignals,
    word: Option<Word>,
    /// The cycle from which a written word may begin.
    ready: u64,
    /// The end of the last word.
    free: u64,
    selected: u32,
    /// Signals without a pin that have spoiled a word and are not reported yet, one bit each.
    pub spoiled: u32,
    /// A word was sampled on a data line that no chip drives.
    pub unheard: bool,
    pub words: u64,
    pub clocks: u64,
}

impl Wire {
    /// The wire at rest.
    pub fn new(chips: Chips) -> Wire {
        Wire { chips, ..Wire::default() }
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

    /// The word that has been received by `cycle`, and when its last bit was sampled; returned once.
    pub fn take_received(&mut self, cycle: u64) -> Option<(u16, u64)> {
        let word = self.word.as_mut().filter(|word| word.sampled_at <= cycle)?;
        Some((word.received.take()?, word.sampled_at))
    }

    /// Ends the word on the wire if it is over in `cycle`. Returns since when the wire has been free; `None` if it is
    /// busy.
    pub fn end_word(&mut self, cycle: u64) -> Option<u64> {
        if let Some(word) = self.word {
            if word.end > cycle {
                return None;
            }
            (self.word, self.free) = (None, word.end);
        }
        Some(self.free)
    }

    /// The start of the next word, if that is by `cycle`. A word that was written in time follows without a pause.
    pub fn start_by(&self, free: u64, cycle: u64) -> Option<u64> {
        let start = free.max(self.ready);
        (start <= cycle).then_some(start)
    }

    /// The cycle of the next change; `waits` if there is a word to begin.
    pub fn next(&self, waits: bool) -> Option<u64> {
        match self.word {
            Some(Word { received: Some(_), sampled_at, .. }) => Some(sampled_at),
            Some(word) => Some(word.end),
            None => waits.then_some(self.free.max(self.ready)),
        }
    }

    /// Begins a word in the cycle `start`.
    pub fn begin(&mut self, start: u64, frame: Frame, control: u32, clock: Hz, pins: &PinFunctions) {
        let half = 1 << field(control, CR1_BR);
        let cpha = control & CR1_CPHA != 0;
        let end = start + 2 * half * u64::from(frame.bits);
        let sampled_at = end - half;
        let Frame { data, bits, direction } = frame;
        let mask = u32::MAX >> (32 - bits);
        let ordered = |word: u32| if control & CR1_LSBFIRST != 0 { word.reverse_bits() >> (32 - bits) } else { word };
        // A line that the interface does not drive is pulled up.
        let meant = if direction.clocks_by_itself() { mask } else { ordered(u32::from(data) & mask) };
        let sent = if pins.carries(MOSI) { meant } else { mask };
        let burst = Burst::output(Lines::Single, Rate::Single, bits, sent);
        let serial = SerialClock { source: clock, start, period: 2 * half, cpol: control & CR1_CPOL != 0, cpha };
        self.spoiled |= u32::from(!pins.carries(SCK)) << SCK;
        // Words that are sent only to receive are often all zeroes.
        self.spoiled |= u32::from(sent != meant && meant != 0) << MOSI;
        let (answer, is_on_mosi) = self.answer(burst, clock.ps_at_floor(Cycles(end)), pins);
        let (mosi, miso) = if is_on_mosi { (answer, PULLED_UP) } else { (PULLED_UP, answer) };
        let mosi = self.passing(MOSI, mosi, mask, pins);
        let miso = if direction == Direction::InOnMosi { miso } else { self.passing(MISO, miso, mask, pins) };
        let received = match direction {
            Direction::Both | Direction::In => Some(self.signals.burst(burst, miso, serial)),
            Direction::Out => {
                self.signals.burst(burst, miso, serial);
                None
            }
            Direction::InOnMosi => {
                self.unheard |= !is_on_mosi;
                Some(self.signals.burst_on_mosi(burst, (mosi, miso), serial))
            }
        };
        let received = received.map(|received| ordered(received & mask) as u16);
        self.word = Some(Word { received, sampled_at, end });
        self.words += 1;
        self.clocks += u64::from(bits);
    }

    /// The selected chip's answer, and whether it drives MOSI. Without a clock no chip answers.
    fn answer(&mut self, burst: Burst, at: Ps, pins: &PinFunctions) -> (u32, bool) {
        let selected = if pins.carries(SCK) { self.selected } else { 0 };
        let chip = self.chips.each().find(|(select, _)| selected >> select & 1 != 0);
        chip.map_or((PULLED_UP, false), |(_, chip)| (chip.shift(burst, at), chip.is_on_three_wires()))
    }

    /// A chip's data as the interface receives them: ones, if the signal has no pin.
    fn passing(&mut self, signal: usize, driven: u32, mask: u32, pins: &PinFunctions) -> u32 {
        if pins.carries(signal) {
            return driven;
        }
        self.spoiled |= u32::from(driven & mask != PULLED_UP & mask) << signal;
        PULLED_UP
    }

    /// Cuts off the word on the wire.
    pub fn abandon(&mut self) {
        self.word = None;
    }

    /// Sets SCK to its level at rest.
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

    /// Renumbers cycles for another clock: cycle `before` becomes cycle `now`.
    pub fn move_by(&mut self, before: u64, now: u64) {
        let moved = |cycle: u64| if cycle > before { now + (cycle - before) } else { cycle.min(now) };
        if let Some(word) = &mut self.word {
            (word.sampled_at, word.end) = (moved(word.sampled_at), moved(word.end));
        }
        (self.ready, self.free) = (moved(self.ready), moved(self.free));
    }
}

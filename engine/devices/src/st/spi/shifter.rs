//! The shift register and its words on the wire, in cycles of PCLK.

use super::{MISO, MOSI, SCK};
use crate::prelude::*;
use crate::support::hosted_chip::Chips;
use crate::support::pin_functions::PinFunctions;
use crate::support::spi_controller::{Format, SpiBus};
use engine::wire::spi::{Burst, PULLED_UP};

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

/// A word on the wire.
#[derive(Clone, Copy, Debug, State, Fresh, Polled)]
struct Word {
    /// The received word, from the sampling of the last bit on.
    received: Option<u16>,
    sampled_at: u64,
    end: u64,
}

/// The shift register, and the bus that it drives.
#[derive(Default, State, Polled)]
pub struct Shifter {
    pub bus: SpiBus,
    word: Option<Word>,
    /// The cycle from which a written word may begin.
    ready: u64,
    /// The end of the last word.
    free: u64,
    /// Signals without a pin that have spoiled a word and are not reported yet, one bit each.
    pub spoiled: u32,
    /// A word was sampled on a data line that no chip drives.
    pub unheard: bool,
}

impl Shifter {
    /// At rest.
    pub fn new(chips: Chips) -> Shifter {
        Shifter { bus: SpiBus::new(chips), ..Shifter::default() }
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

    /// Ends the word on the wire if it is over in `cycle`. Returns the start of the next word, if that is by `cycle`: a
    /// word that was written in time follows without a pause.
    pub fn next_start(&mut self, cycle: u64) -> Option<u64> {
        if let Some(word) = self.word {
            if word.end > cycle {
                return None;
            }
            (self.word, self.free) = (None, word.end);
        }
        Some(self.free.max(self.ready)).filter(|start| *start <= cycle)
    }

    /// The cycle of the next change; `waits` if there is a word to begin.
    pub fn next(&self, waits: bool) -> Option<u64> {
        match self.word {
            Some(Word { received: Some(_), sampled_at, .. }) => Some(sampled_at),
            Some(word) => Some(word.end),
            None => waits.then_some(self.free.max(self.ready)),
        }
    }

    /// Begins a word, with `data` in the lowest bits, in the cycle `start` of `clock`.
    pub fn begin(
        &mut self,
        data: u16,
        (format, direction): (Format, Direction),
        (clock, start): (Hz, u64),
        pins: &PinFunctions,
    ) {
        let mask = format.mask();
        let end = start + format.period() * u64::from(format.bits);
        // A line that the interface does not drive is pulled up.
        let meant = if direction.clocks_by_itself() { mask } else { format.ordered(u32::from(data) & mask) };
        let sent = if pins.carries(MOSI) { meant } else { mask };
        let (burst, serial) = (format.burst(sent), format.clock(clock, start));
        self.spoiled |= u32::from(!pins.carries(SCK)) << SCK;
        // Words that are sent only to receive are often all zeroes.
        self.spoiled |= u32::from(sent != meant && meant != 0) << MOSI;
        let (answer, is_on_mosi) = self.answer(burst, clock.ps_at_floor(Cycles(end)), pins);
        let (mosi, miso) = if is_on_mosi { (answer, PULLED_UP) } else { (PULLED_UP, answer) };
        let mosi = self.passing(MOSI, mosi, mask, pins);
        let received = if direction == Direction::InOnMosi {
            self.unheard |= !is_on_mosi;
            self.bus.signals.burst_on_mosi(burst, (mosi, miso), serial)
        } else {
            let miso = self.passing(MISO, miso, mask, pins);
            self.bus.signals.burst(burst, miso, serial)
        };
        let received = (direction != Direction::Out).then(|| format.ordered(received & mask) as u16);
        self.word = Some(Word { received, sampled_at: end - format.half, end });
        self.bus.count(burst);
    }

    /// The selected chip's answer, and whether it drives MOSI. Without a clock no chip answers.
    fn answer(&mut self, burst: Burst, at: Ps, pins: &PinFunctions) -> (u32, bool) {
        let chip = self.bus.selected_chip().filter(|_| pins.carries(SCK));
        chip.map_or((PULLED_UP, false), |chip| (chip.shift(burst, at), chip.is_on_three_wires()))
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

    /// Renumbers cycles for another clock: cycle `before` becomes cycle `now`.
    pub fn move_by(&mut self, before: u64, now: u64) {
        let moved = |cycle: u64| if cycle > before { now + (cycle - before) } else { cycle.min(now) };
        if let Some(word) = &mut self.word {
            (word.sampled_at, word.end) = (moved(word.sampled_at), moved(word.end));
        }
        (self.ready, self.free) = (moved(self.ready), moved(self.free));
    }
}

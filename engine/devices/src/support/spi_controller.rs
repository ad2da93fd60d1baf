//! What SPI controllers have in common: the bus with its chips, lines and totals ([`SpiBus`]), and the format of the
//! words on it ([`Format`]). FIFOs are in [`crate::support::fifo_entries`], the interrupt line in
//! [`crate::support::interrupt_output`].

use crate::prelude::*;
use crate::support::hosted_chip::{Chips, HostedChip};
use engine::observe::spi::{SerialClock, SpiSignals};
use engine::wire::spi::{Burst, Lines, PULLED_UP, Rate};

/// The format of words, and the clock that shifts them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State, Polled)]
pub struct Format {
    /// Bits of a word: 1 to 32, once registers have said so.
    pub bits: u32,
    /// Bit 0 is the first on the wire.
    pub lsb_first: bool,
    /// Clock polarity: the clock rests high.
    pub cpol: bool,
    /// Clock phase: bits are sampled on a clock's second edge.
    pub cpha: bool,
    /// Cycles of the controller's clock in half a period of SCK.
    pub half: u64,
}

impl Format {
    /// The bits of a word, as a mask.
    pub const fn mask(self) -> u32 {
        u32::MAX >> (32 - self.bits)
    }

    /// A word in the order of the wire, or back: the first bit highest.
    pub const fn ordered(self, word: u32) -> u32 {
        if self.lsb_first { word.reverse_bits() >> (32 - self.bits) } else { word }
    }

    /// The clocks of a word that is sent, in the order of the wire.
    pub const fn burst(self, ordered: u32) -> Burst {
        Burst::output(Lines::Single, Rate::Single, self.bits, ordered)
    }

    /// Cycles of the controller's clock in a period of SCK.
    pub const fn period(self) -> u64 {
        2 * self.half
    }

    /// The clocks of a word whose first bit's time begins in the cycle `start` of `source`.
    pub const fn clock(self, source: Hz, start: u64) -> SerialClock {
        SerialClock { source, start, period: self.period(), cpol: self.cpol, cpha: self.cpha }
    }
}

/// The first of the selects that are set.
pub fn lowest(selects: u32) -> Option<usize> {
    (selects != 0).then(|| selects.trailing_zeros() as usize)
}

/// The bus as its controller drives it: chip selects, lines, and totals for the results.
#[derive(Default, State, Polled)]
pub struct SpiBus {
    /// On the chip selects.
    pub chips: Chips,
    /// The lines, for waveforms.
    #[poll(skip = "software does not see them")]
    pub signals: SpiSignals,
    /// The selects that are low, one bit each.
    selected: u32,
    /// Words that were shifted.
    #[poll(total)]
    pub words: u64,
    /// Periods of SCK.
    #[poll(total)]
    pub clocks: u64,
    /// Times that a chip was selected.
    #[poll(total)]
    pub frames: u64,
}

impl SpiBus {
    /// The bus at rest.
    pub fn new(chips: Chips) -> SpiBus {
        SpiBus { chips, ..SpiBus::default() }
    }

    /// The board comes out of reset: names the lines of a controller with data lines for `widest`. Their levels follow,
    /// and [`Chips::start`].
    pub fn name_lines(&mut self, widest: Lines, ctx: &Ctx) {
        self.signals = SpiSignals::new(&ctx.bus.waves, ctx.scope(), ctx.label(), widest, self.chips.selects());
    }

    /// The select that is low, the first of several.
    #[inline]
    pub fn selected(&self) -> Option<usize> {
        lowest(self.selected)
    }

    /// `selects` without those that the controller does not have.
    pub fn existing(&self, selects: u32) -> u32 {
        selects & ((1 << self.chips.selects()) - 1u64) as u32
    }

    /// A chip select goes low or high.
    pub fn select(&mut self, select: usize, low: bool, at: Ps) {
        if low == (self.selected >> select & 1 != 0) {
            return;
        }
        self.selected ^= 1 << select;
        self.frames += u64::from(low);
        self.signals.select(select, low, at);
        if let Some(chip) = self.chips.get_mut(select) {
            if low { chip.select(at) } else { chip.deselect(at) }
        }
    }

    /// For a controller that selects one chip at a time: this select goes low, and another one high.
    pub fn select_only(&mut self, select: Option<usize>, at: Ps) {
        if let Some(old) = self.selected().filter(|old| select != Some(*old)) {
            self.select(old, false, at);
        }
        if let Some(new) = select {
            self.select(new, true, at);
        }
    }

    /// The selected chip.
    #[inline]
    pub fn selected_chip(&mut self) -> Option<&mut HostedChip> {
        let selected = self.selected;
        self.chips.each().find(|(select, _)| selected >> select & 1 != 0).map(|(_, chip)| chip)
    }

    /// Shifts a burst, which for the chip ends at `end`: the bits that the controller samples.
    #[inline]
    pub fn exchange(&mut self, burst: Burst, end: Ps, clock: SerialClock) -> u32 {
        self.count(burst);
        let answer = self.selected_chip().map_or(PULLED_UP, |chip| chip.shift(burst, end));
        self.signals.burst(burst, answer, clock)
    }

    /// Adds a burst to the totals, for a controller that shifts by itself.
    #[inline]
    pub fn count(&mut self, burst: Burst) {
        self.words += 1;
        self.clocks += u64::from(burst.clocks);
    }

    /// Chips that are not selected see the clocks of a burst of ones, too: a memory card counts them at power-up.
    #[inline]
    pub fn pass_idle_clocks(&mut self, burst: Burst, end: Ps) {
        let (selected, is_high) = (self.selected, burst.bits == u32::MAX >> (32 - burst.clocks));
        for (_, chip) in self.chips.each().filter(|(select, _)| is_high && selected >> select & 1 == 0) {
            chip.idle_clocks(burst.clocks, end);
        }
    }
}

//! Waveforms: when which wire changed its level, recorded only if the user asks for it.

use crate::time::Ps;

/// Most changes that are kept: a run that never ends must not fill the memory.
const MOST_CHANGES: usize = 1 << 24;

/// A recorded wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignalId(u32);

/// A wire, as the user sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signal {
    /// Label of the node that it belongs to.
    pub scope: String,
    /// Its name there.
    pub name: String,
    /// Its level when the recording begins.
    pub first: bool,
}

/// A change of a wire's level.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// When.
    pub at: Ps,
    /// Of which signal: its place in [`Waves::signals`].
    pub signal: u32,
    /// To what.
    pub level: bool,
}

/// Names and recorded levels of wires.
#[derive(Debug, Default)]
pub struct Waves {
    on: bool,
    signals: Vec<Signal>,
    changes: Vec<Change>,
    dropped: u64,
}

impl Waves {
    /// A signal called `name`, of the node with the label `scope`. `first` is its level at rest.
    pub fn signal(&mut self, scope: &str, name: &str, first: bool) -> SignalId {
        self.signals.push(Signal { scope: scope.to_owned(), name: name.to_owned(), first });
        SignalId(self.signals.len() as u32 - 1)
    }

    /// From now on changes are recorded.
    pub fn start(&mut self) {
        self.on = true;
    }

    /// True if changes are recorded.
    #[inline]
    pub fn is_on(&self) -> bool {
        self.on
    }

    /// The signal has this level from `at` on; before the recording has begun, from the start. Calls need not come in the order of time.
    pub fn set(&mut self, signal: SignalId, at: Ps, level: bool) {
        if !self.on {
            self.signals[signal.0 as usize].first = level;
        } else if self.changes.len() < MOST_CHANGES {
            self.changes.push(Change { at, signal: signal.0, level });
        } else {
            self.dropped += 1;
        }
    }

    /// All signals.
    pub fn signals(&self) -> &[Signal] {
        &self.signals
    }

    /// What was recorded, by time; at the same time as it was told.
    pub fn take(&mut self) -> Vec<Change> {
        let mut changes = std::mem::take(&mut self.changes);
        changes.sort_by_key(|change| change.at);
        changes
    }

    /// Changes that found no room any more.
    pub fn dropped(&self) -> u64 {
        self.dropped
    }
}

/// The wires of an SPI bus whose controller knows of clocks and bits, not of pins.
#[derive(Clone, Debug)]
pub struct SpiSignals {
    sck: SignalId,
    mosi: SignalId,
    miso: SignalId,
    selects: Vec<SignalId>,
}

/// Clocks that follow each other without a pause, with a bit each way in each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SpiClocks {
    /// When the first bit's time begins: with CPHA 0 half a period before the clock's first edge, with CPHA 1 on it.
    pub start: Ps,
    /// The clock's period, which is also a bit's time.
    pub period: Ps,
    /// How many, up to 32.
    pub clocks: u32,
    /// What the controller sends, right-aligned, first bit highest.
    pub sent: u32,
    /// What the chip sends, likewise.
    pub received: u32,
    /// Clock polarity: the clock rests high.
    pub cpol: bool,
    /// Clock phase: bits change on a clock's first edge and are sampled on its second one.
    pub cpha: bool,
}

impl SpiSignals {
    /// The signals of a controller with the label `scope` and so many slave selects; its clock rests at the level `cpol`.
    pub fn new(waves: &mut Waves, scope: &str, selects: usize, cpol: bool) -> SpiSignals {
        SpiSignals {
            sck: waves.signal(scope, "sck", cpol),
            mosi: waves.signal(scope, "mosi", true),
            miso: waves.signal(scope, "miso", true),
            selects: (0..selects).map(|select| waves.signal(scope, &format!("cs{select}"), true)).collect(),
        }
    }

    /// Slave select number `select` goes low, which for most chips is active, or high at `at`.
    pub fn select(&self, waves: &mut Waves, select: usize, low: bool, at: Ps) {
        if let Some(signal) = self.selects.get(select).filter(|_| waves.is_on()) {
            waves.set(*signal, at, !low);
        }
    }

    /// The clock rests at the level `cpol` from `at` on.
    pub fn rest(&self, waves: &mut Waves, cpol: bool, at: Ps) {
        if waves.is_on() {
            waves.set(self.sck, at, cpol);
        }
    }

    /// A stretch of clocks.
    pub fn clocks(&self, waves: &mut Waves, stretch: SpiClocks) {
        if !waves.is_on() {
            return;
        }
        let SpiClocks { start, period, clocks, sent, received, cpol, cpha } = stretch;
        for clock in 0..clocks {
            let (begin, bit) = (start + Ps(period.0 * u64::from(clock)), clocks - 1 - clock);
            let (middle, end) = (begin + Ps(period.0 / 2), begin + period);
            waves.set(self.mosi, begin, sent >> bit & 1 != 0);
            waves.set(self.miso, begin, received >> bit & 1 != 0);
            let (first, second) = if cpha { (begin, middle) } else { (middle, end) };
            waves.set(self.sck, first, !cpol);
            waves.set(self.sck, second, cpol);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn levels(changes: &[Change], signal: u32) -> Vec<(u64, bool)> {
        changes.iter().filter(|change| change.signal == signal).map(|change| (change.at.0, change.level)).collect()
    }

    #[test]
    fn nothing_is_kept_until_someone_asks() {
        let mut waves = Waves::default();
        let wire = waves.signal("gpd", "irq", true);
        waves.set(wire, Ps(5), false);
        assert!(waves.take().is_empty());
        assert!(!waves.signals()[0].first);
        waves.start();
        waves.set(wire, Ps(20), true);
        waves.set(wire, Ps(10), false);
        assert_eq!(levels(&waves.take(), 0), [(10, false), (20, true)]);
    }

    #[test]
    fn a_stretch_of_clocks_has_its_edges_where_the_mode_puts_them() {
        for (cpol, cpha, edges) in [
            (false, false, [(150, true), (200, false), (250, true), (300, false)]),
            (true, false, [(150, false), (200, true), (250, false), (300, true)]),
            (false, true, [(100, true), (150, false), (200, true), (250, false)]),
            (true, true, [(100, false), (150, true), (200, false), (250, true)]),
        ] {
            let mut waves = Waves::default();
            let spi = SpiSignals::new(&mut waves, "ssi", 1, cpol);
            waves.start();
            spi.select(&mut waves, 0, true, Ps(90));
            let stretch =
                SpiClocks { start: Ps(100), period: Ps(100), clocks: 2, sent: 0b10, received: 0b01, cpol, cpha };
            spi.clocks(&mut waves, stretch);
            let changes = waves.take();
            assert_eq!(levels(&changes, 0), edges, "cpol {cpol}, cpha {cpha}");
            assert_eq!(levels(&changes, 1), [(100, true), (200, false)]);
            assert_eq!(levels(&changes, 2), [(100, false), (200, true)]);
            assert_eq!(levels(&changes, 3), [(90, false)]);
        }
    }
}

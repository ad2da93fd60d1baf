//! The wires of an SPI bus whose controller is modelled by clocks and bits, not by pins: the times of their edges.

use super::waves::{SignalId, Waves};
use crate::activity::{Activity, Detail, Kind, Scope};
use crate::state::State;
use crate::time::{Cycles, Hz, Ps};
use crate::wire::spi::{Burst, Drive, Lines, Rate};

const PS_PER_SECOND: u128 = 1_000_000_000_000;
/// Times within a clock are counted in quarters of its period.
const QUARTERS: u64 = 4;

/// The clocks of a burst. They follow each other without a pause.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SerialClock {
    /// The rate that the serial clock is divided from.
    pub source: Hz,
    /// The cycle of `source` in which the time of the first bit begins: with CPHA 0 half a period before the clock's
    /// first edge, with CPHA 1 on it.
    pub start: u64,
    /// Cycles of `source` in a period of the serial clock.
    pub period: u64,
    /// Clock polarity: the clock rests high.
    pub cpol: bool,
    /// Clock phase: bits change on a clock's first edge and are sampled on its second one.
    pub cpha: bool,
}

impl SerialClock {
    /// The time `quarters` of a period after the start, computed from the count: rounding errors do not add up.
    fn time(self, quarters: u64) -> Ps {
        let at = QUARTERS * self.start + quarters * self.period;
        if at.is_multiple_of(QUARTERS) {
            return self.source.ps_at_floor(Cycles(at / QUARTERS));
        }
        Ps((u128::from(at) * PS_PER_SECOND / u128::from(QUARTERS * self.source.get())) as u64)
    }
}

/// Clocks on the wire.
pub static SHIFTING: Activity =
    Activity::new(Kind::Wire, "shifting", "from the begin of the first bit's time to the end of the last one's")
        .joining();
/// A chip is selected.
pub static FRAME: Activity =
    Activity::new(Kind::Frame, "frame", "a chip select is active, by its number; with the bytes that went each way");
/// Clocks on the wire for a memory window.
pub static READING: Activity =
    Activity::new(Kind::InPlace, "read in place", "clocks of reads of the memory window").joining();
/// The activities of all SPI controllers.
pub const SPI: &[&Activity] = &[&SHIFTING, &FRAME];
/// The activities of buses whose pins are driven by firmware.
pub const SPI_BY_PINS: &[&Activity] = &[&FRAME];
/// The activities of controllers with a memory window.
pub const SPI_WINDOW: &[&Activity] = &[&SHIFTING, &FRAME, &READING];

/// The wires of a bus. A controller shifts through them, and their edges are recorded on request. The default records
/// nothing: it is for copies on which a controller tries what would happen.
#[derive(Debug, Default, State)]
pub struct SpiSignals(#[state(with = crate::state::present)] Option<Box<Named>>);

#[derive(Debug, State)]
struct Named {
    #[state(skip)]
    waves: Waves,
    scope: Scope,
    /// The current burst is for a memory window.
    in_place: bool,
    #[state(skip)]
    sck: SignalId,
    /// IO0 and the lines above.
    #[state(skip)]
    data: Vec<SignalId>,
    #[state(skip)]
    selects: Vec<SignalId>,
}

impl SpiSignals {
    /// The signals of a controller with the label `scope`, with data lines for `widest` and `selects` slave selects;
    /// its clock rests low. `activities` records what the controller does. The data lines are `mosi` and `miso` if they
    /// never change their direction, else `io0` and up.
    pub fn new(waves: &Waves, activities: Scope, scope: &str, widest: Lines, selects: usize) -> SpiSignals {
        let names: &[&str] = match widest {
            Lines::Single => &["mosi", "miso"],
            Lines::Dual => &["io0", "io1"],
            Lines::Quad => &["io0", "io1", "io2", "io3"],
        };
        SpiSignals(Some(Box::new(Named {
            waves: waves.clone(),
            scope: activities,
            in_place: false,
            sck: waves.signal(scope, "sck", false),
            data: names.iter().map(|name| waves.signal(scope, name, true)).collect(),
            selects: (0..selects).map(|select| waves.signal(scope, &format!("cs{select}"), true)).collect(),
        })))
    }

    /// The signals, if they are recorded.
    #[inline]
    fn recorded(&self) -> Option<&Named> {
        self.0.as_deref().filter(|named| named.waves.is_on())
    }

    /// True if each clock of a read in place is to be recorded.
    #[inline]
    pub fn are_recorded(&self) -> bool {
        self.0.as_deref().is_some_and(|named| named.waves.is_on() || named.scope.records(Kind::InPlace))
    }

    /// Sets whether the following bursts are reads of a memory window.
    #[inline]
    pub fn set_in_place(&mut self, in_place: bool) {
        if let Some(named) = &mut self.0 {
            named.in_place = in_place;
        }
    }

    /// Slave select number `select` goes low, which for most chips is active, or high at `at`.
    #[inline]
    pub fn select(&self, select: usize, low: bool, at: Ps) {
        if let Some(named) = self.recorded()
            && let Some(signal) = named.selects.get(select)
        {
            named.waves.set(*signal, at, !low);
        }
        if let Some(named) = self.0.as_deref().filter(|named| named.records_frames()) {
            named.scope.level((&FRAME, select as u32), low, at);
        }
    }

    /// The clock rests at the level `cpol` from `at` on. Before the recording begins, that is the level from the start.
    #[inline]
    pub fn rest(&self, cpol: bool, at: Ps) {
        if let Some(named) = &self.0 {
            named.waves.set(named.sck, at, cpol);
        }
    }

    /// The levels of pins that firmware drives, from `at` on: the clock, the data lines (bit n is IOn), and slave
    /// select 0.
    #[inline]
    pub fn pins(&self, clock: bool, data: u8, selected: bool, at: Ps) {
        if let Some(named) = self.0.as_deref().filter(|named| named.scope.records(Kind::Frame)) {
            named.scope.level(&FRAME, selected, at);
        }
        if let Some(named) = self.recorded() {
            named.waves.set_many(|set| {
                set(named.selects[0], at, !selected);
                named.set_data(data, at, set);
                set(named.sck, at, clock);
            });
        }
    }

    /// Records the clocks of a burst: the controller sampled `received`, as [`crate::wire::spi::SpiTarget::shift`]
    /// gives it. Returns `received`.
    #[inline]
    pub fn burst(&self, burst: Burst, received: u32, clock: SerialClock) -> u32 {
        if let Some(named) = self.recorded() {
            named.waves.set_many(|set| named.clocks(burst, received, clock, set));
        }
        if let Some(named) = self.0.as_deref().filter(|named| named.scope.is_on()) {
            named.record(burst, received, clock);
        }
        received
    }

    /// Like [`SpiSignals::burst`], for a controller that has released MOSI and samples it: `levels` are those on MOSI
    /// and MISO.
    #[inline]
    pub fn burst_on_mosi(&self, burst: Burst, levels: (u32, u32), clock: SerialClock) -> u32 {
        let (mosi, miso) = levels;
        if let Some(named) = self.recorded() {
            named.waves.set_many(|set| named.clocks(Burst { bits: mosi, ..burst }, miso, clock, set));
        }
        if let Some(named) = self.0.as_deref().filter(|named| named.scope.is_on()) {
            named.record(Burst { drive: Drive::Target, bits: 0, ..burst }, mosi, clock);
        }
        mosi
    }
}

impl Named {
    /// True if frames are recorded: of reads in place, only if those are recorded.
    fn records_frames(&self) -> bool {
        self.scope.records(Kind::Frame) && (!self.in_place || self.scope.records(Kind::InPlace))
    }

    /// Records a burst as an activity.
    #[cold]
    fn record(&self, burst: Burst, received: u32, clock: SerialClock) {
        let what = if self.in_place { &READING } else { &SHIFTING };
        let [begin, end] = [0, QUARTERS * u64::from(burst.clocks)].map(|quarters| clock.time(quarters));
        self.scope.clocked_span(what, clock.source, begin, end, Detail::None);
        if self.records_frames() {
            let sent = (burst.drive == Drive::Controller).then_some(burst.bits);
            let both = burst.drive == Drive::Controller && burst.lines == Lines::Single;
            let received = (both || burst.drive == Drive::Target).then_some(received);
            self.scope.bits(&FRAME, burst.clocks * burst.bits_per_clock(), sent, received);
        }
    }

    fn set_data(&self, levels: u8, at: Ps, set: &mut dyn FnMut(SignalId, Ps, bool)) {
        for (line, signal) in self.data.iter().enumerate() {
            set(*signal, at, levels >> line & 1 != 0);
        }
    }

    /// Bits change half a period before the edge that samples them; at the double rate, where each edge samples, a
    /// quarter of a period.
    #[cold]
    fn clocks(&self, burst: Burst, received: u32, clock: SerialClock, set: &mut dyn FnMut(SignalId, Ps, bool)) {
        let mut last = None;
        for index in 0..burst.clocks {
            let begin = QUARTERS * u64::from(index);
            let (first, second) = match clock.cpha {
                false => (clock.time(begin + 2), clock.time(begin + 4)),
                true => (clock.time(begin), clock.time(begin + 2)),
            };
            for half in 0..burst.rate as u32 {
                let levels = levels_at(burst, received, index * burst.rate as u32 + half);
                if last.replace(levels) != Some(levels) {
                    let at = if burst.rate == Rate::Single { begin } else { begin + 1 + 2 * u64::from(half) };
                    self.set_data(levels, clock.time(at), set);
                }
            }
            set(self.sck, first, !clock.cpol);
            set(self.sck, second, clock.cpol);
        }
    }
}

/// The levels of IO0 (bit 0) to IO3 around edge `edge` of the edges that carry bits. Lines without data are pulled up.
fn levels_at(burst: Burst, received: u32, edge: u32) -> u8 {
    const PULLED_UP: u8 = 0b1111;
    let width = burst.lines.bits();
    // Of dummy clocks only the last bits are known.
    let later = (burst.clocks * burst.rate as u32 - 1 - edge) * width;
    let bits = |word: u32| word.checked_shr(later).unwrap_or(u32::MAX) as u8 & burst.lines.mask();
    let unused = PULLED_UP & !burst.lines.mask();
    match (burst.drive, burst.lines) {
        // IO0 is the controller's, IO1 the chip's.
        (Drive::Controller, Lines::Single) => 0b1100 | bits(received) << 1 | bits(burst.bits),
        (Drive::Target, Lines::Single) => 0b1100 | bits(received) << 1,
        (Drive::Nobody, Lines::Single) => 0b1101 | bits(received) << 1,
        (Drive::Controller, _) => unused | bits(burst.bits),
        (Drive::Target | Drive::Nobody, _) => unused | bits(received),
    }
}

#[cfg(test)]
mod tests;

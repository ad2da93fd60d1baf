//! Signals that are not wires: activities of devices and their interrupt lines, which waveforms show next to wires.
//!
//! A signal is made of activities ([`crate::activity`]): it is high while any of its tracks has a span; the signal of a
//! FIFO is high while the FIFO has an entry. All times in which a chip is busy are one signal, `busy`; an interrupt or
//! request line is `irq`, `irq_2` and so on, in the order of the node's interrupts; any other activity has its own
//! name, the same for all parts of the device.

use std::collections::BTreeMap;

use super::waves::{SignalId, Waves};
use crate::activity::{Activities, Kind, Kinds, Span, Track};
use crate::time::Ps;

/// The name of a track's signal; `None` where wires show it better, or nobody needs it.
fn name_of(track: &Track) -> Option<String> {
    match track.activity.kind {
        Kind::Frame | Kind::InPlace | Kind::Exception | Kind::Led | Kind::Pin => None,
        Kind::Busy => Some("busy".to_owned()),
        Kind::Bus => Some("bus_busy".to_owned()),
        Kind::Interrupt if track.part == 0 => Some("irq".to_owned()),
        Kind::Interrupt => Some(format!("irq_{}", track.part + 1)),
        _ => Some(track.activity.name.to_lowercase().replace(|it: char| !it.is_ascii_alphanumeric(), "_")),
    }
}

/// The signals of a board.
#[derive(Clone, Debug, Default)]
pub struct DeviceSignals {
    /// By scope and name.
    signals: BTreeMap<(String, String), SignalId>,
}

impl DeviceSignals {
    /// Declares the signals of all declared tracks: they are among the signals of `waves` from now on.
    pub fn declare(activities: &Activities, waves: &Waves) -> DeviceSignals {
        let mut signals = BTreeMap::new();
        for track in activities.tracks() {
            let Some(name) = name_of(&track) else { continue };
            let scope = track.scope.clone();
            signals.entry((scope, name)).or_insert_with_key(|(scope, name)| waves.counted_signal(scope, name));
        }
        DeviceSignals { signals }
    }

    /// The signal of a node with a name.
    pub fn named(&self, scope: &str, name: &str) -> Option<SignalId> {
        self.signals.get(&(scope.to_owned(), name.to_owned())).copied()
    }

    /// The tracks of a signal, by their indices, and their kinds.
    pub fn tracks_of(&self, signal: SignalId, activities: &Activities) -> (Vec<u32>, Vec<Kind>) {
        let all = activities.tracks();
        let own = all.iter().enumerate().filter(|(_, track)| self.of(track) == Some(signal));
        own.map(|(place, track)| (place as u32, track.activity.kind)).unzip()
    }

    fn of(&self, track: &Track) -> Option<SignalId> {
        self.signals.get(&(track.scope.clone(), name_of(track)?)).copied()
    }

    /// The indices in [`Waves::signals`] of the signals that are made of activities of `kinds`, in their order.
    pub fn of_kinds(&self, kinds: Kinds, activities: &Activities) -> Vec<usize> {
        let tracks = activities.tracks().into_iter().filter(|track| kinds.has(track.activity.kind));
        let mut places: Vec<usize> = tracks.filter_map(|track| self.of(&track)).map(SignalId::place).collect();
        places.sort_unstable();
        places.dedup();
        places
    }

    /// Records the signals with these indices in [`Waves::signals`] from now on.
    pub fn record(&self, chosen: &[usize], activities: &Activities, waves: &Waves) {
        let is_chosen = |track: &Track| self.of(track).is_some_and(|signal| chosen.contains(&signal.place()));
        let kinds: Vec<Kind> =
            activities.tracks().iter().filter(|track| is_chosen(track)).map(|track| track.activity.kind).collect();
        if kinds.is_empty() {
            return;
        }
        let (signals, waves) = (self.clone(), waves.clone());
        // The signals by track, as far as they are known.
        let mut known: Vec<Option<SignalId>> = Vec::new();
        activities.pass_to(Kinds::of(&kinds), move |tracks: &dyn Fn(u32) -> Track, span: &Span, until: Ps| {
            while known.len() <= span.track as usize {
                known.push(signals.of(&tracks(known.len() as u32)));
            }
            let Some(signal) = known[span.track as usize] else { return };
            waves.set_many(|set| {
                for (begin, end) in span.instances_within(Ps::ZERO, until) {
                    set(signal, begin, true);
                    // A span that is open at the end leaves its signal high.
                    if end < until {
                        set(signal, end, false);
                    }
                }
            });
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::activity::{Activity, Detail};

    static PROGRAM: Activity = Activity::new(Kind::Busy, "page program", "");
    static ERASE: Activity = Activity::new(Kind::Busy, "sector erase", "");
    static TRANSFER: Activity = Activity::new(Kind::Transfer, "DMA transfer", "");

    #[test]
    fn a_signal_is_high_while_any_of_its_tracks_goes_on() {
        let (activities, waves) = (Activities::default(), Waves::default());
        let (flash, dma) = (activities.scope("flash0"), activities.scope("dma0"));
        flash.declare(&[&PROGRAM, &ERASE]);
        dma.declare(&[&TRANSFER]);
        let signals = DeviceSignals::declare(&activities, &waves);
        let names: Vec<String> = waves.signals().iter().map(|it| format!("{}.{}", it.scope, it.name)).collect();
        assert_eq!(names, ["flash0.busy", "dma0.dma_transfer"]);
        let of = |kinds: &[Kind]| signals.of_kinds(Kinds::of(kinds), &activities);
        assert_eq!((of(&[Kind::Busy]), of(&[Kind::Transfer]), of(&[Kind::Bus])), (vec![0], vec![1], vec![]));
        signals.record(&[0, 1], &activities, &waves);
        waves.start();
        flash.span(&PROGRAM, Ps(30), Ps(40), Detail::None);
        // The span is recorded ahead, begins later, and is aborted.
        flash.span(&ERASE, Ps(40), Ps(900), Detail::None);
        flash.cut(&ERASE, Ps(60));
        dma.span((&TRANSFER, 3), Ps(10), Ps(30), Detail::None);
        dma.span((&TRANSFER, 4), Ps(20), Ps(50), Detail::None);
        dma.begin((&TRANSFER, 3), Ps(70), Detail::None);
        activities.end(Ps(80));
        let changes = waves.recorded().unwrap().map(Result::unwrap);
        let changes: Vec<_> = changes.map(|change| (change.at.0, change.signal, change.level)).collect();
        let expected = [(10, 1, true), (30, 0, true), (50, 1, false), (60, 0, false), (70, 1, true)];
        assert_eq!(changes, expected);
    }

    #[test]
    fn a_span_that_is_recorded_long_before_its_end_can_still_change() {
        let (activities, waves) = (Activities::default(), Waves::default());
        let flash = activities.scope("flash0");
        flash.declare(&[&ERASE, &TRANSFER]);
        let signals = DeviceSignals::declare(&activities, &waves);
        signals.record(&[0, 1], &activities, &waves);
        waves.start();
        flash.span(&ERASE, Ps(5), Ps(90_000_000), Detail::None);
        for at in 0..100_000 {
            flash.span(&TRANSFER, Ps(10 * at), Ps(10 * at + 4), Detail::None);
        }
        flash.cut(&ERASE, Ps(2_000_000));
        activities.end(Ps(3_000_000));
        let changes = waves.recorded().unwrap().map(Result::unwrap);
        let busy: Vec<_> = changes.filter(|it| it.signal == 0).map(|it| (it.at.0, it.level)).collect();
        assert_eq!(busy, [(5, true), (2_000_000, false)]);
        assert_eq!(waves.summary().changes, 2 * 100_001);
    }
}

//! Waveforms: the changes of wires' levels, recorded only on request.
//!
//! Changes come in any order, as a device may know them late or ahead. They are sorted by time at the end; those that
//! do not fit in memory go to a file meanwhile ([`super::spool`]).

mod live;
mod saving;

use std::fs::File;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::spool::{Merged, Spool};
use crate::state::{Fresh, State};
use crate::time::Ps;
pub use live::Live;

/// The most changes that are kept without a file: a run that never ends must not fill the memory. Tests reach it
/// sooner.
const MOST_CHANGES: usize = if cfg!(test) { 1 << 19 } else { 1 << 24 };
/// Changes that wait for the file: some 16 MB. Tests reach it sooner.
const RUN_CHANGES: usize = if cfg!(test) { 1 << 15 } else { 1 << 20 };
/// The bit of a [`Change`]'s signal that marks, within a recording, a counted signal.
pub(super) const COUNTED: u32 = 1 << 30;
/// The coarsest unit of time that is tried: 100 s.
const COARSEST_PS: u64 = 100_000_000_000_000;

/// A recorded wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, State, Fresh)]
pub struct SignalId(u32);

impl SignalId {
    /// Its index in [`Waves::signals`].
    #[inline]
    pub const fn place(self) -> usize {
        (self.0 & !COUNTED) as usize
    }

    /// The signal that was added `more` places after this one.
    #[inline]
    pub const fn plus(self, more: u32) -> SignalId {
        SignalId(self.0 + more)
    }
}

/// A wire, as the user sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Signal {
    /// Label of the node that it belongs to.
    pub scope: String,
    /// Its name there, which is unique.
    pub name: String,
    /// Its level when the recording begins.
    pub first: bool,
}

/// A change of a wire's level.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
pub struct Change {
    /// When.
    pub at: Ps,
    /// The index of the signal in [`Waves::signals`].
    pub signal: u32,
    /// The new level.
    pub level: bool,
}

impl Change {
    /// Changes at the same time are in the order in which they were recorded, but counts go up before they go down.
    pub(super) const fn order(&self) -> (Ps, bool) {
        (self.at, self.signal & COUNTED != 0 && !self.level)
    }
}

/// The size of a recording.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Summary {
    /// Changes that were recorded and kept, including those to the same level.
    pub changes: u64,
    /// Changes that found no room.
    pub dropped: u64,
    /// The coarsest power of ten, in picoseconds, that divides the times of all changes; `None` without a change after
    /// time 0.
    pub unit: Option<Ps>,
}

/// Names and recorded levels of wires: a handle. Each part of the machine that records wires has a copy.
#[derive(Clone, Debug, Default)]
pub struct Waves(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    on: AtomicBool,
    /// A followed signal has changed since the last look.
    news: AtomicBool,
    recording: Mutex<Recording>,
}

/// The recording.
#[derive(Debug, Default)]
struct Recording {
    on: bool,
    ended: bool,
    signals: Vec<Signal>,
    /// By signal: its changes are not recorded.
    left_out: Vec<bool>,
    /// By signal: a change of it was recorded. The vector ends with the last such signal.
    moved: Vec<bool>,
    kept: Vec<Change>,
    spool: Option<Spool>,
    failure: Option<io::Error>,
    changes: u64,
    dropped: u64,
    unit: Option<u64>,
    /// The signals that are followed while the machine runs.
    live: Live,
}

impl Waves {
    fn recording(&self) -> MutexGuard<'_, Recording> {
        self.0.recording.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Adds a signal called `name` to the node with the label `scope`; `name_2` if it has one already. `first` is its
    /// level at rest.
    pub fn signal(&self, scope: &str, name: &str, first: bool) -> SignalId {
        let mut recording = self.recording();
        let is_taken = |name: &str| recording.signals.iter().any(|signal| signal.scope == scope && signal.name == name);
        let numbered = (2u32..).map(|number| format!("{name}_{number}"));
        let free = std::iter::once(name.to_owned()).chain(numbered).find(|name| !is_taken(name));
        recording.signals.push(Signal { scope: scope.to_owned(), name: free.unwrap_or_default(), first });
        SignalId(recording.signals.len() as u32 - 1)
    }

    /// Adds signals called "0", "1" and so on, with these levels at rest, to a node without signals of such names, and
    /// gives the first of them.
    #[inline]
    pub fn numbered_signals(&self, scope: &str, levels: impl Iterator<Item = bool>) -> Option<SignalId> {
        let mut recording = self.recording();
        let first = recording.signals.len();
        let signals = levels.enumerate().map(|(number, first)| (number.to_string(), first));
        recording.signals.extend(signals.map(|(name, first)| Signal { scope: scope.to_owned(), name, first }));
        (recording.signals.len() > first).then_some(SignalId(first as u32))
    }

    /// Adds a signal that is high while it was raised more often than it was lowered; low at rest. Each change is
    /// recorded, in any order.
    #[inline]
    pub fn counted_signal(&self, scope: &str, name: &str) -> SignalId {
        let SignalId(place) = self.signal(scope, name, false);
        SignalId(place | COUNTED)
    }

    /// The name of a signal for users: the label of its node, and its name there.
    pub fn name_of(&self, signal: SignalId) -> String {
        let recording = self.recording();
        let signal = recording.signals.get((signal.0 & !COUNTED) as usize);
        signal.map_or_else(String::new, |Signal { scope, name, .. }| format!("{scope}.{name}"))
    }

    /// Records changes from now on, in memory.
    #[inline]
    pub fn start(&self) {
        self.recording().on = true;
        self.0.on.store(true, Ordering::Relaxed);
    }

    /// Records changes from now on, with `file`, which is empty, for what should not stay in memory.
    #[inline]
    pub fn start_into(&self, file: File) {
        self.recording().spool = Some(Spool::new(file));
        self.start();
    }

    /// Records only these signals, by their indices in [`Waves::signals`].
    #[inline]
    pub fn choose(&self, chosen: &[usize]) {
        let mut recording = self.recording();
        recording.left_out = (0..recording.signals.len()).map(|index| !chosen.contains(&index)).collect();
    }

    /// Ends the recording: later changes are not recorded.
    #[inline]
    pub fn end(&self) {
        self.recording().ended = true;
    }

    /// True if changes are recorded.
    #[inline]
    pub fn is_on(&self) -> bool {
        self.0.on.load(Ordering::Relaxed)
    }

    /// Records that the signal has this level from `at` on. Before the recording begins, that is the level from the
    /// start.
    #[inline]
    pub fn set(&self, signal: SignalId, at: Ps, level: bool) {
        let mut recording = self.recording();
        recording.set(signal, at, level);
        self.note_news(&recording);
    }

    /// Records many changes at once.
    #[inline]
    pub fn set_many(&self, changes: impl FnOnce(&mut dyn FnMut(SignalId, Ps, bool))) {
        let mut recording = self.recording();
        changes(&mut |signal, at, level| recording.set(signal, at, level));
        self.note_news(&recording);
    }

    /// The number of changes that were recorded so far: an iteration of a loop in which a wire changes can't be
    /// skipped.
    #[inline]
    pub fn change_count(&self) -> u64 {
        if !self.is_on() {
            return 0;
        }
        let recording = self.recording();
        recording.changes + recording.dropped + recording.live.change_count()
    }

    /// All signals.
    #[inline]
    pub fn signals(&self) -> Vec<Signal> {
        self.recording().signals.clone()
    }

    /// True if a change of the signal with this index was recorded.
    #[inline]
    pub fn has_moved(&self, place: usize) -> bool {
        self.recording().moved.get(place).is_some_and(|moved| *moved)
    }

    /// The size of the recording.
    #[inline]
    pub fn summary(&self) -> Summary {
        let recording = self.recording();
        Summary { changes: recording.changes, dropped: recording.dropped, unit: recording.unit.map(Ps) }
    }

    /// Takes all changes that are in memory, in the order of time, and at the same time in the order of recording.
    #[inline]
    pub fn take(&self) -> Vec<Change> {
        let mut kept = std::mem::take(&mut self.recording().kept);
        kept.sort_by_key(Change::order);
        kept
    }

    /// All changes in the order of time, and at the same time in the order of recording. Each changes the level.
    ///
    /// # Errors
    /// If the file could not be written, now or before.
    pub fn recorded(&self) -> io::Result<Recorded> {
        let mut recording = self.recording();
        recording.kept.sort_by_key(Change::order);
        if recording.spool.is_some() {
            recording.write_run();
        }
        if let Some(failure) = &recording.failure {
            let copy = failure.raw_os_error().map(io::Error::from_raw_os_error);
            return Err(copy.unwrap_or_else(|| io::Error::new(failure.kind(), failure.to_string())));
        }
        let source = match &recording.spool {
            Some(spool) => Source::Spool(spool.merged()?),
            None => Source::Memory(recording.kept.clone().into_iter()),
        };
        let levels: Vec<bool> = recording.signals.iter().map(|signal| signal.first).collect();
        Ok(Recorded { counts: vec![0; levels.len()], levels, source })
    }
}

impl Recording {
    fn records(&self, signal: usize) -> bool {
        !self.left_out.get(signal).is_some_and(|left_out| *left_out)
    }

    fn set(&mut self, signal: SignalId, at: Ps, level: bool) {
        self.live.set(signal, at, level);
        let SignalId(signal) = signal;
        if self.ended {
            return;
        }
        if !self.on {
            self.signals[(signal & !COUNTED) as usize].first = level;
            return;
        }
        if !self.records((signal & !COUNTED) as usize) {
            return;
        }
        let is_full = self.spool.is_none() && self.kept.len() >= MOST_CHANGES;
        if is_full || self.failure.is_some() {
            self.dropped += 1;
            return;
        }
        self.changes += 1;
        let place = (signal & !COUNTED) as usize;
        if self.moved.len() <= place {
            self.moved.resize(place + 1, false);
        }
        self.moved[place] = true;
        self.note_time(at);
        self.kept.push(Change { at, signal, level });
        if self.spool.is_some() && self.kept.len() >= RUN_CHANGES {
            self.kept.sort_by_key(Change::order);
            self.write_run();
        }
    }

    /// Keeps the coarsest unit that divides all times.
    #[inline]
    fn note_time(&mut self, at: Ps) {
        let mut unit = self.unit.unwrap_or(COARSEST_PS);
        while !at.0.is_multiple_of(unit) {
            unit /= 10;
        }
        if at != Ps::ZERO {
            self.unit = Some(unit);
        }
    }

    /// Sorts the changes in memory, and writes them to the file.
    fn write_run(&mut self) {
        if let Some(spool) = &mut self.spool
            && let Err(failure) = spool.write_run(&self.kept)
        {
            self.failure.get_or_insert(failure);
        }
        self.kept.clear();
    }
}

/// Recorded changes in the order of time.
#[derive(Debug)]
pub struct Recorded {
    /// By signal: its level, and of a counted one the number of rises minus the number of falls.
    levels: Vec<bool>,
    counts: Vec<u32>,
    source: Source,
}

#[derive(Debug)]
enum Source {
    Memory(std::vec::IntoIter<Change>),
    Spool(Merged),
}

impl Recorded {
    /// The change with its signal's index, and of a counted signal the level that follows from the count.
    fn counted(&mut self, change: Change) -> Change {
        if change.signal & COUNTED == 0 {
            return change;
        }
        let signal = change.signal & !COUNTED;
        let count = &mut self.counts[signal as usize];
        *count = if change.level { *count + 1 } else { count.saturating_sub(1) };
        Change { signal, level: *count > 0, ..change }
    }
}

impl Iterator for Recorded {
    type Item = io::Result<Change>;

    fn next(&mut self) -> Option<io::Result<Change>> {
        loop {
            let change = match &mut self.source {
                Source::Memory(changes) => changes.next()?,
                Source::Spool(merged) => match merged.next()? {
                    Ok(change) => change,
                    Err(failure) => return Some(Err(failure)),
                },
            };
            let change = self.counted(change);
            let before = std::mem::replace(&mut self.levels[change.signal as usize], change.level);
            if before != change.level {
                return Some(Ok(change));
            }
        }
    }
}

#[cfg(test)]
mod tests;

//! Arrival times of the entries of a FIFO, kept next to the FIFO only while a recorder wants its contents.

use std::collections::VecDeque;

use super::activities::{RX_FIFO, TX_FIFO};
use crate::prelude::*;
use engine::activity::{Activity, Kind, Scope};
use engine::polling::Edge;

/// The contents of a FIFO as an activity of [`Kind::Queue`]: an entry is recorded when it leaves. The device reports
/// arrivals and departures, each with the number of entries before it; entries from before the recording are not
/// recorded. A copy does not record.
#[derive(Clone, Debug, State)]
pub struct FifoEntries {
    #[state(skip)]
    activity: &'static Activity,
    scope: Scope,
    /// First in, first out. `None`: its arrival time is not known.
    entries: VecDeque<Option<Entry>>,
}

#[derive(Clone, Copy, Debug, State, Fresh)]
struct Entry {
    came: Ps,
    value: u32,
}

impl FifoEntries {
    /// An empty FIFO, which is not recorded before [`FifoEntries::observe`].
    pub const fn new(activity: &'static Activity) -> FifoEntries {
        FifoEntries { activity, scope: Scope::nobody(), entries: VecDeque::new() }
    }

    /// Records them as activities of this device from now on.
    pub fn observe(&mut self, scope: Scope) {
        self.scope = scope;
    }

    /// True if they are recorded.
    #[inline]
    pub fn are_recorded(&self) -> bool {
        self.scope.records(Kind::Queue)
    }

    /// An entry arrives at `at`; there were `before` entries.
    #[inline]
    pub fn come(&mut self, before: usize, at: Ps, value: u32) {
        if self.keeps(before) {
            self.entries.push_back(Some(Entry { came: at, value }));
        }
    }

    /// The first of `before` entries leaves at `at`, an edge of `clock`.
    #[inline]
    pub fn leave(&mut self, before: usize, at: Ps, clock: Hz) {
        if self.keeps(before) {
            let entry = self.entries.pop_front().flatten();
            self.record(entry, at, clock);
        }
    }

    /// The last of `before` entries leaves and is replaced by another.
    pub fn leave_last(&mut self, before: usize, at: Ps, clock: Hz) {
        if self.keeps(before) {
            let entry = self.entries.pop_back().flatten();
            self.record(entry, at, clock);
        }
    }

    /// All of `before` entries leave at once: the FIFO is reset.
    pub fn clear(&mut self, before: usize, at: Ps, clock: Hz) {
        if self.keeps(before) {
            for entry in std::mem::take(&mut self.entries) {
                self.record(entry, at, clock);
            }
        }
    }

    /// The run is over: the remaining entries stay in the FIFO.
    pub fn stay(&mut self, before: usize, clock: Hz) {
        self.clear(before, Ps::MAX, clock);
    }

    /// True if entries are recorded; there are then `before` of them.
    #[inline]
    fn keeps(&mut self, before: usize) -> bool {
        if !self.are_recorded() {
            self.entries.clear();
            return false;
        }
        while self.entries.len() < before {
            self.entries.push_front(None);
        }
        while self.entries.len() > before {
            self.entries.pop_front();
        }
        true
    }

    fn record(&self, entry: Option<Entry>, left: Ps, clock: Hz) {
        if let Some(Entry { came, value }) = entry {
            self.scope.clocked_span(self.activity, clock, came, left.max(came), Detail::Value(value));
        }
    }
}

/// In a loop that moves entries through, their arrival times advance each time. The rate is that of a clock whose
/// [`Poll::phase`] is listed, or of the polling clock.
impl Edge for FifoEntries {
    fn edge(&mut self, clock: Hz, poll: &mut Poll) {
        for entry in self.entries.iter_mut().flatten() {
            poll.edge_ps(clock, &mut entry.came);
        }
    }
}

/// A FIFO whose entries are recorded. It has no limit of its own: the device asks for its length.
#[derive(Clone, Debug, State)]
pub struct Fifo<T: Fresh> {
    waiting: VecDeque<T>,
    entries: FifoEntries,
}

impl<T: Copy + Fresh + Into<u32>> Fifo<T> {
    /// An empty FIFO, which is not recorded before [`Fifo::observe`].
    pub const fn new(activity: &'static Activity) -> Fifo<T> {
        Fifo { waiting: VecDeque::new(), entries: FifoEntries::new(activity) }
    }

    /// Records its entries as activities of this device from now on.
    pub fn observe(&mut self, ctx: &Ctx) {
        self.entries.observe(ctx.scope());
    }

    /// The number of entries.
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// True if it has no entry.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// The entry that comes next.
    pub fn front(&self) -> Option<T> {
        self.waiting.front().copied()
    }

    /// The entries in their order.
    pub fn iter(&self) -> impl Iterator<Item = T> {
        self.waiting.iter().copied()
    }

    /// An entry arrives at `at`.
    pub fn push(&mut self, value: T, at: Ps) {
        self.push_as(value, value.into(), at);
    }

    /// An entry arrives at `at`; recordings show it as `recorded`.
    pub fn push_as(&mut self, value: T, recorded: u32, at: Ps) {
        self.entries.come(self.len(), at, recorded);
        self.hold(value);
    }

    /// An entry arrives that is not recorded: the FIFO is off, and is a holding register.
    pub fn hold(&mut self, value: T) {
        self.waiting.push_back(value);
    }

    /// The first entry leaves at `at`, an edge of `clock`.
    pub fn pop(&mut self, at: Ps, clock: Hz) -> Option<T> {
        let value = self.waiting.pop_front()?;
        self.entries.leave(self.len() + 1, at, clock);
        Some(value)
    }

    /// The last entry leaves: another replaces it. With recording, at an edge of a clock.
    pub fn drop_last(&mut self, recorded: Option<(Ps, Hz)>) {
        if let Some((at, clock)) = recorded {
            self.entries.leave_last(self.len(), at, clock);
        }
        self.waiting.pop_back();
    }

    /// The entries in their order, to be changed.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = &mut T> {
        self.waiting.iter_mut()
    }

    /// All entries leave: the FIFO is reset.
    pub fn clear(&mut self, at: Ps, clock: Hz) {
        self.entries.clear(self.len(), at, clock);
        self.waiting.clear();
    }

    /// The run is over: the remaining entries stay in the FIFO.
    pub fn stay(&mut self, clock: Hz) {
        self.entries.stay(self.len(), clock);
    }
}

/// The entries have to be the same in each iteration; their arrival times may advance as those of [`FifoEntries`].
impl<T: Fresh + Polled> Edge for Fifo<T> {
    fn edge(&mut self, clock: Hz, poll: &mut Poll) {
        self.waiting.polled(poll);
        self.entries.edge(clock, poll);
    }
}

/// The entries of the two FIFOs that most devices have.
#[derive(Clone, Debug, State)]
pub struct Queues {
    /// The transmit FIFO.
    pub tx: FifoEntries,
    /// The receive FIFO.
    pub rx: FifoEntries,
}

impl Default for Queues {
    fn default() -> Queues {
        Queues { tx: FifoEntries::new(&TX_FIFO), rx: FifoEntries::new(&RX_FIFO) }
    }
}

impl Queues {
    /// Records them as activities of this device from now on.
    pub fn observe(&mut self, ctx: &Ctx) {
        self.tx.observe(ctx.scope());
        self.rx.observe(ctx.scope());
    }

    /// [`FifoEntries::clear`] of both, with their numbers of entries.
    pub fn clear(&mut self, (sending, received): (usize, usize), at: Ps, clock: Hz) {
        self.tx.clear(sending, at, clock);
        self.rx.clear(received, at, clock);
    }

    /// [`FifoEntries::stay`] of both.
    pub fn stay(&mut self, entries: (usize, usize), clock: Hz) {
        self.clear(entries, Ps::MAX, clock);
    }
}

impl Edge for Queues {
    fn edge(&mut self, clock: Hz, poll: &mut Poll) {
        self.tx.edge(clock, poll);
        self.rx.edge(clock, poll);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::activity::{Activities, Kinds};

    static FIFO: Activity = Activity::new(Kind::Queue, "TX FIFO", "");

    #[test]
    fn entries_are_reported_as_they_leave() {
        let (clock, activities) = (Hz::new(100_000_000).unwrap(), Activities::default());
        let mut entries = FifoEntries::new(&FIFO);
        entries.observe(activities.scope("uart0"));
        // Its arrival is not known.
        entries.come(0, Ps(1), 7);
        activities.start(Kinds::of(&[Kind::Queue]), 1 << 16);
        for (before, at, value) in [(1, 10, b'a'), (2, 20, b'b'), (3, 30, b'c'), (4, 40, b'd')] {
            entries.come(before, Ps(at), value.into());
        }
        entries.leave(5, Ps(50), clock);
        entries.leave(4, Ps(60), clock);
        entries.leave_last(3, Ps(70), clock);
        entries.clear(2, Ps(80), clock);
        entries.come(0, Ps(90), b'e'.into());
        entries.stay(1, clock);
        activities.end(Ps(100));
        let spans = activities.spans(Ps::ZERO, Ps::MAX);
        let recorded: Vec<_> = spans.iter().map(|it| (it.begin.0, it.end.0, it.detail.clone())).collect();
        let value = |character: u8| Detail::Value(character.into());
        let expected = [
            (10, 60, value(b'a')),
            (20, 80, value(b'b')),
            (30, 80, value(b'c')),
            (40, 70, value(b'd')),
            (90, 100, value(b'e')),
        ];
        assert_eq!(recorded, expected);
    }

    #[test]
    fn entries_of_skipped_iterations_have_come_later() {
        let (clock, activities) = (Hz::new(100_000_000).unwrap(), Activities::default());
        let mut entries = FifoEntries::new(&FIFO);
        entries.observe(activities.scope("uart0"));
        activities.start(Kinds::of(&[Kind::Queue]), 1 << 16);
        // One between two edges, which stays; then one for each iteration of 50 clocks.
        let look = |entries: &mut FifoEntries, cycle: u64| {
            let mut poll = Poll::look(clock, Cycles(cycle));
            entries.edge(clock, &mut poll);
            poll
        };
        entries.come(0, Ps(1_000_500), 0);
        entries.come(1, Ps(10_000_000), 1);
        let before = look(&mut entries, 1_010);
        entries.leave_last(2, Ps(10_200_000), clock);
        entries.come(1, Ps(10_500_000), 1);
        let after = look(&mut entries, 1_060);
        assert!(after.repeats(&before));
        entries.edge(clock, &mut after.skip(&before, 10));
        entries.clear(2, Ps(20_000_000), clock);
        let begins: Vec<_> = activities.spans(Ps::ZERO, Ps::MAX).iter().map(|span| span.begin.0).collect();
        assert_eq!(begins, [1_000_500, 10_000_000, 15_500_000]);
    }
}

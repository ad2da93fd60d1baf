//! The memory of a recording: closed spans in a ring, and open ones.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;

use super::shares::Candidate;
use super::span::{Data, Detail, Span, Step, Transaction};
use super::{Activity, INTERRUPT, Kind, Master, TRANSACTION, Track, What};
use crate::state::{Fresh, State};
use crate::time::{Hz, Ps};

/// The size of a recording.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Summary {
    /// Spans that are kept; repetitions count.
    pub spans: u64,
    /// Spans that were dropped for want of memory.
    pub dropped: u64,
    /// No span that ends after this time is missing.
    pub complete_from: Ps,
    /// Memory in use.
    pub bytes: usize,
}

/// This many spans are searched without an attempt to have fewer.
const FEW: usize = 64;

/// A span whose end is not known.
#[derive(Clone, Debug, State, Fresh)]
pub(super) struct Open {
    pub begin: Ps,
    pub detail: Detail,
    pub clock: Option<Hz>,
    /// The count of opened spans when it was opened, which distinguishes it from an earlier one of the same track.
    pub number: u64,
}

/// A device's activity.
#[derive(Clone, Copy, Debug, State, Fresh)]
pub(super) struct Place {
    scope: u32,
    what: What,
    /// The number of its span that was recorded last, if any.
    last: Option<u64>,
}

/// Gets spans when they leave the ring, with a function that describes tracks and the end of the recording.
pub(super) type Sink = Box<dyn FnMut(&dyn Fn(u32) -> Track, &Span, Ps) + Send>;

/// The size of the ring if spans only pass through it: large enough that a span is final when it leaves.
const PASSED_BYTES: usize = 1 << 20;

/// The recording of all devices.
#[derive(Default, State)]
pub(super) struct Recording {
    scopes: Vec<String>,
    tracks: Vec<Place>,
    /// By scope: its tracks.
    of_scope: Vec<Vec<u32>>,
    /// Where interrupt lines end, by track.
    lines: BTreeMap<u32, String>,
    /// The masters of transactions, by track.
    masters: BTreeMap<u32, String>,
    pub ring: VecDeque<Span>,
    /// For each span of the ring, the number of the one before it on the same track.
    before: VecDeque<Option<u64>>,
    /// Spans that have left the ring and last longer, in the order in which they left it.
    pub kept: Vec<Span>,
    /// The number of the ring's first span; all spans that were ever recorded are counted.
    pub first: u64,
    pub open: BTreeMap<u32, Open>,
    pub begun: u64,
    /// By track: the end that was recorded last of a span whose end may change.
    awaited: BTreeMap<u32, Ps>,
    /// Changes to spans that had been recorded before.
    pub changes: u64,
    most_bytes: usize,
    bytes: usize,
    dropped: u64,
    complete_from: Ps,
    /// Spans up to this number do not change any more: a mark was set after them.
    pub fixed: u64,
    ended: Option<Ps>,
    /// Spans that begin then or later are not recorded.
    until: Ps,
    for_waits: bool,
    /// Activities are followed while the machine runs.
    #[state(skip)]
    is_followed: bool,
    /// For the followers: tracks whose last span was extended, and from when.
    #[state(skip)]
    pub joined: Vec<(u32, Ps)>,
    /// By core: its waits up to here have been assigned.
    waited_to: Vec<Ps>,
    #[state(skip)]
    sink: Option<Sink>,
    /// The latest begin that was recorded.
    latest: Ps,
}

impl fmt::Debug for Recording {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recording")
            .field("tracks", &self.tracks)
            .field("recorded", &self.recorded())
            .finish_non_exhaustive()
    }
}

impl Recording {
    /// True if a sink gets spans when they leave the ring.
    #[inline]
    pub fn has_sink(&self) -> bool {
        self.sink.is_some()
    }

    /// True if all indices of scopes and tracks are valid.
    #[inline]
    pub fn is_sound(&self) -> bool {
        let (scopes, tracks) = (self.scopes.len() as u32, self.tracks.len() as u32);
        let is_track = |track: &u32| *track < tracks;
        let spans = self.ring.iter().chain(&self.kept).map(|span| span.track);
        self.of_scope.len() == self.scopes.len()
            && self.of_scope.iter().flatten().all(is_track)
            && self.tracks.iter().all(|place| place.scope < scopes)
            && spans.chain(self.open.keys().copied()).all(|track| track < tracks)
            && self.before.len() == self.ring.len()
    }

    #[inline]
    pub fn scope(&mut self, label: &str) -> u32 {
        let known = self.scopes.iter().position(|scope| scope == label);
        known.unwrap_or_else(|| {
            self.scopes.push(label.to_owned());
            self.of_scope.push(Vec::new());
            self.scopes.len() - 1
        }) as u32
    }

    /// The index of the track of a scope's activity.
    #[inline]
    pub fn track(&mut self, scope: u32, what: What) -> u32 {
        let same = |track: &&u32| {
            let Place { what: known, .. } = &self.tracks[**track as usize];
            // An activity from a snapshot is a copy.
            known.part == what.part && (std::ptr::eq(known.activity, what.activity) || known.activity == what.activity)
        };
        if let Some(track) = self.of_scope[scope as usize].iter().find(same) {
            return *track;
        }
        let track = self.tracks.len() as u32;
        self.tracks.push(Place { scope, what, last: None });
        self.of_scope[scope as usize].push(track);
        track
    }

    #[inline]
    pub fn tracks(&self) -> Vec<Track> {
        (0..self.tracks.len() as u32).map(|track| self.track_at(track)).collect()
    }

    fn track_at(&self, track: u32) -> Track {
        let place = &self.tracks[track as usize];
        Track {
            scope: self.scopes[place.scope as usize].clone(),
            activity: place.what.activity,
            part: place.what.part,
            line: self.lines.get(&track).or_else(|| self.masters.get(&track)).cloned().unwrap_or_default(),
        }
    }

    #[inline]
    pub fn start(&mut self, most_bytes: usize, until: Ps) {
        self.most_bytes = most_bytes;
        let only_kept = self.sink.is_none() && !self.for_waits && !self.is_followed;
        self.until = if only_kept { until } else { Ps::MAX };
        self.ended = None;
    }

    /// Makes room for followed activities if nothing else is recorded.
    #[inline]
    pub fn start_to_follow(&mut self) {
        if self.most_bytes == 0 {
            self.most_bytes = PASSED_BYTES;
        }
        (self.until, self.is_followed) = (Ps::MAX, true);
        self.ended = None;
    }

    /// True if waits are assigned to the recorded activities.
    #[inline]
    pub fn is_for_waits(&self) -> bool {
        self.for_waits
    }

    #[inline]
    pub fn start_for_waits(&mut self, most_bytes: usize, cores: usize) {
        self.for_waits = true;
        self.waited_to = vec![Ps::ZERO; cores];
        self.start(most_bytes, Ps::MAX);
    }

    #[inline]
    pub fn pass_to(&mut self, sink: Sink) {
        self.sink = Some(sink);
        self.until = Ps::MAX;
        self.most_bytes = self.most_bytes.max(PASSED_BYTES);
        self.ended = None;
    }

    #[inline]
    pub fn end(&mut self, at: Ps) {
        self.ended = Some(at);
        // A dropped span may have ended later.
        self.complete_from = self.complete_from.min(at);
        if let Some(mut sink) = self.sink.take() {
            let spans = self.spans(Ps::ZERO, at);
            spans.iter().for_each(|span| sink(&|track| self.track_at(track), span, at));
            // A snapshot may go back to before the end.
            self.sink = Some(sink);
        }
    }

    /// The number of spans that were recorded so far, which is the number of the next one.
    #[inline]
    pub fn recorded(&self) -> u64 {
        self.first + self.ring.len() as u64
    }

    #[inline]
    pub fn candidate(&self, track: usize) -> Candidate<'_> {
        let place = &self.tracks[track];
        Candidate { scope: &self.scopes[place.scope as usize], activity: place.what.activity }
    }

    /// The spans of a track that are in the ring, the last one first.
    #[inline]
    pub fn backwards(&self, track: u32) -> impl Iterator<Item = &Span> {
        let place = |number: u64| number.checked_sub(self.first);
        let mut next = self.tracks[track as usize].last.and_then(place);
        std::iter::from_fn(move || {
            let at = next? as usize;
            next = self.before[at].and_then(place);
            Some(&self.ring[at])
        })
    }

    /// How many tracks there are.
    #[inline]
    pub fn track_count(&self) -> usize {
        self.tracks.len()
    }

    fn activity(&self, track: u32) -> &'static Activity {
        self.tracks[track as usize].what.activity
    }

    #[inline]
    pub fn span(&mut self, scope: u32, what: What, ends: (Ps, Ps), detail: Detail, clock: Option<Hz>) {
        let track = self.track(scope, what);
        self.push(track, ends, detail, clock);
    }

    fn push(&mut self, track: u32, (begin, end): (Ps, Ps), detail: Detail, clock: Option<Hz>) {
        let is_mark = matches!(self.activity(track).kind, Kind::Exception | Kind::Interrupt);
        let is_none = end < begin || end == begin && !is_mark;
        if is_none || self.join(track, begin, end, &detail) || begin >= self.until {
            return;
        }
        let step = Step { hz: clock.map_or(0, Hz::get), by: 0 };
        let span = Span { track, begin, end, detail, times: 1, step };
        self.latest = self.latest.max(begin);
        let number = self.recorded();
        self.before.push_back(self.tracks[track as usize].last.replace(number));
        self.bytes += span.bytes();
        self.ring.push_back(span);
        while self.bytes > self.most_bytes && self.drop_first() {}
    }

    /// Extends the last span of the track by this one, if it follows without a pause.
    fn join(&mut self, track: u32, begin: Ps, end: Ps, detail: &Detail) -> bool {
        if !self.activity(track).joins {
            return false;
        }
        let Some(last) = self.tracks[track as usize].last.filter(|last| *last >= self.fixed.max(self.first)) else {
            return false;
        };
        let span = &mut self.ring[(last - self.first) as usize];
        let joins = span.times == 1 && span.end == begin && span.detail.join(detail);
        if joins {
            span.end = end;
            if self.is_followed {
                self.joined.push((track, begin));
            }
        }
        joins
    }

    fn drop_first(&mut self) -> bool {
        let Some(span) = self.pop_first() else { return false };
        self.dropped += span.times;
        self.complete_from = self.complete_from.max(span.last_end());
        self.pass(span);
        true
    }

    fn pop_first(&mut self) -> Option<Span> {
        let span = self.ring.pop_front()?;
        self.before.pop_front();
        self.first += 1;
        self.bytes -= span.bytes();
        Some(span)
    }

    /// A span leaves the ring. If there is a sink, one that may still change is kept.
    fn pass(&mut self, span: Span) {
        if self.sink.is_none() {
            return;
        }
        self.pass_kept(self.latest);
        if span.last_end() > self.latest {
            self.kept.push(span);
        } else {
            self.give(&span);
        }
    }

    /// Passes on the spans that left the ring before they ended, and have ended by `at`.
    fn pass_kept(&mut self, at: Ps) {
        if self.kept.iter().any(|span| span.last_end() <= at) {
            let ended = |span: &Span| span.last_end() <= at;
            let (going, kept): (Vec<_>, Vec<_>) = std::mem::take(&mut self.kept).into_iter().partition(ended);
            self.kept = kept;
            going.iter().for_each(|span| self.give(span));
        }
    }

    fn give(&mut self, span: &Span) {
        if let Some(mut sink) = self.sink.take() {
            sink(&|track| self.track_at(track), span, Ps::MAX);
            self.sink = Some(sink);
        }
    }

    /// Drops spans that have ended by `at`. Those that began before and last longer are kept outside the ring.
    #[inline]
    pub fn forget_before(&mut self, at: Ps) {
        while self.ring.front().is_some_and(|span| span.last_end() <= at || span.begin < at && self.ring.len() > FEW) {
            let span = self.pop_first();
            self.kept.extend(span);
        }
        self.pass_kept(at);
        self.complete_from = self.complete_from.max(at);
    }

    /// A core needs no span any more that has ended by `at`: spans that no core needs are dropped.
    #[inline]
    pub fn waited_to(&mut self, core: usize, at: Ps) {
        if let Some(own) = self.waited_to.get_mut(core) {
            *own = at.max(*own);
        }
        if let Some(all) = self.waited_to.iter().min().copied() {
            self.forget_before(all);
        }
    }

    #[inline]
    pub fn begin(&mut self, scope: u32, what: What, at: Ps, detail: Detail, clock: Option<Hz>) {
        let track = self.track(scope, what);
        if !self.open.contains_key(&track) {
            self.begun += 1;
            self.open.insert(track, Open { begin: at, detail, clock, number: self.begun });
        }
    }

    #[inline]
    pub fn end_open(&mut self, scope: u32, what: What, at: Ps) {
        let track = self.track(scope, what);
        if let Some(Open { begin, detail, clock, .. }) = self.open.remove(&track) {
            self.push(track, (begin, at), detail, clock);
        }
    }

    /// The last recorded span of a track, if it is still kept.
    fn last_of(&mut self, track: u32) -> Option<&mut Span> {
        let last = self.tracks[track as usize].last?;
        match last.checked_sub(self.first) {
            Some(place) => self.ring.get_mut(place as usize),
            None => self.kept.iter_mut().rfind(|span| span.track == track),
        }
    }

    /// The last span of a track ends at `at`; with `cut`, only if that is earlier.
    pub fn change_end(&mut self, scope: u32, what: What, at: Ps, cut: bool) {
        let track = self.track(scope, what);
        let Some(span) = self.last_of(track) else { return };
        if cut && span.last_end() <= at {
            return;
        }
        if span.times == 1 {
            span.end = at.max(span.begin);
            self.changes += 1;
            return;
        }
        // Only the last repetition changes.
        span.times -= 1;
        let (ends, detail) = (span.instance(span.times), span.detail.clone());
        let clock = Hz::new(span.step.hz);
        self.changes += 1;
        self.push(track, (ends.0, at), detail, clock);
    }

    /// The span of a track ends at `due`: from `now` on, if the end has changed.
    pub fn awaits(&mut self, scope: u32, what: What, (due, now): (Option<Ps>, Ps), detail: Detail) {
        let track = self.track(scope, what);
        let due = due.filter(|due| *due > now);
        let before = self.awaited.get(&track).copied().filter(|before| *before > now);
        if due == before {
            return;
        }
        if before.is_some() {
            self.change_end(scope, what, now, true);
        }
        match due {
            Some(due) => {
                self.awaited.insert(track, due);
                self.push(track, (now, due), detail, None);
            }
            None => drop(self.awaited.remove(&track)),
        }
    }

    #[inline]
    pub fn add_bits(&mut self, scope: u32, what: What, count: u32, sent: Option<u32>, received: Option<u32>) {
        let track = self.track(scope, what);
        let Some(open) = self.open.get_mut(&track) else { return };
        if !matches!(open.detail, Detail::Data(_)) {
            open.detail = Detail::Data(Box::<Data>::default());
        }
        if let Detail::Data(data) = &mut open.detail {
            data.add(count, sent, received);
        }
    }

    /// The activity of an interrupt line that ends at `line`.
    #[inline]
    pub fn line(&mut self, scope: u32, line: String) -> What {
        let own = &self.of_scope[scope as usize];
        let known = own.iter().find(|track| self.lines.get(track) == Some(&line));
        let part = match known {
            Some(track) => self.tracks[*track as usize].what.part,
            None => own.iter().filter(|track| self.lines.contains_key(track)).count() as u32,
        };
        let what = What { activity: &INTERRUPT, part };
        let track = self.track(scope, what);
        self.lines.entry(track).or_insert(line);
        what
    }

    /// Uses the first track of its master that is free: a master may begin a transaction before another is answered.
    pub fn transaction(
        &mut self,
        scope: u32,
        master: Master,
        ends: (Ps, Ps),
        clock: Option<Hz>,
        transaction: Transaction,
    ) {
        let mut part = master.number;
        let track = loop {
            let track = self.track(scope, What { activity: &TRANSACTION, part });
            if self.last_of(track).is_none_or(|last| last.last_end() <= ends.0) {
                break track;
            }
            part += master.of;
        };
        self.masters.entry(track).or_insert_with(|| match part / master.of {
            0 => master.label.to_owned(),
            further => format!("{} ({})", master.label, further + 1),
        });
        self.push(track, ends, Detail::Transaction(Box::new(transaction)), clock);
    }

    #[inline]
    pub fn interrupt(&mut self, scope: u32, line: String, level: bool, at: Ps) {
        let what = self.line(scope, line);
        if level {
            self.begin(scope, what, at, Detail::None, None);
        } else {
            self.end_open(scope, what, at);
        }
    }

    pub fn spans(&self, from: Ps, to: Ps) -> Vec<Span> {
        let to = self.ended.map_or(to, |end| end.min(to));
        let is_in = |span: &&Span| span.begin < to && span.last_end() > from;
        let mut spans: Vec<Span> = self.kept.iter().chain(&self.ring).filter(is_in).cloned().collect();
        spans.extend(self.open.iter().filter(|(_, open)| open.begin < to).map(|(track, open)| {
            let detail = open.detail.clone();
            Span { track: *track, begin: open.begin, end: to, detail, times: 1, step: Step::default() }
        }));
        if let Some(end) = self.ended {
            spans.iter_mut().filter(|span| span.times == 1).for_each(|span| span.end = span.end.min(end));
        }
        // Changed ends may have left spans without a duration.
        let is_mark = |track: u32| matches!(self.activity(track).kind, Kind::Exception | Kind::Interrupt);
        spans.retain(|span| span.end > span.begin || span.end == span.begin && is_mark(span.track));
        spans.sort_by_key(|span| (span.begin, span.track));
        spans
    }

    #[inline]
    pub fn summary(&self) -> Summary {
        Summary {
            spans: self.ring.iter().map(|span| span.times).sum::<u64>() + self.open.len() as u64,
            dropped: self.dropped,
            complete_from: self.complete_from,
            bytes: self.bytes,
        }
    }
}

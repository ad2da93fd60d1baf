//! Activities of devices: a page program, a card's busy time, a DMA transfer, a character, the clocks on a wire. They
//! are recorded only on request. The device itself records each activity once; waveforms and timelines show it, and the
//! time that a core waited is assigned to it.
//!
//! An [`Activity`] is one thing that a model does, a constant of its file. A device records spans of time of its
//! activities, exact to the picosecond, each with a [`Detail`]. Spans of one track (a device's activity, or one
//! channel's activity) do not overlap, except those of [`Kind::Queue`]: a FIFO holds several entries at once. Spans are
//! recorded in any order of time: most of them when they begin, with an end in the future; an entry of a FIFO when it
//! leaves.
//!
//! Polling loops are skipped while a recording runs, too: the spans of one iteration are then repeated for each
//! iteration that was skipped, in one record ([`Span::instances`]).

use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::state::{Fresh, State};
use crate::time::{Hz, Ps};

mod live;
mod recording;
mod repeats;
mod saving;
mod shares;
mod span;

use recording::Recording;
pub use recording::Summary;
pub use repeats::Mark;
pub use shares::{Candidate, Ranks};
pub use span::{Data, Detail, Span, Transaction, Within};

/// The kind of an activity. Waits are distinguished by it, and users choose by it what is recorded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, State, Fresh)]
pub enum Kind {
    /// Clocks on a wire between chips.
    Wire,
    /// A chip is selected, or a frame is on a bus. Its detail has the bytes.
    Frame,
    /// Clocks on a wire for reads in place, of a memory window. The core or the master waits for each of them anyway.
    InPlace,
    /// Accesses of cores and DMA engines over a bus.
    Bus,
    /// A chip can't be used: program, erase, a card's busy time.
    Busy,
    /// A DMA engine moves data.
    Transfer,
    /// A character on a serial line.
    Serial,
    /// Entries of a FIFO: one span for each entry, from when it enters to when it leaves. These spans overlap.
    Queue,
    /// A converter samples an analog value, or a peripheral computes a result.
    Conversion,
    /// A timer counts up to its event.
    Timer,
    /// Anything else: a message that waits for its reader, a frame in the air.
    Other,
    /// An interrupt line is up.
    Interrupt,
    /// The state of a core.
    Core,
    /// A core takes an exception or an interrupt.
    Exception,
    /// A light is on.
    Led,
    /// A pin of a port is high.
    Pin,
}

impl Kind {
    /// All kinds, in the order of their bits in [`Kinds`].
    pub const ALL: [Kind; 16] = [
        Kind::Wire,
        Kind::Frame,
        Kind::InPlace,
        Kind::Bus,
        Kind::Busy,
        Kind::Transfer,
        Kind::Serial,
        Kind::Queue,
        Kind::Conversion,
        Kind::Timer,
        Kind::Other,
        Kind::Interrupt,
        Kind::Core,
        Kind::Exception,
        Kind::Led,
        Kind::Pin,
    ];

    /// Its name in tables and files.
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Wire => "wire",
            Kind::Frame => "frame",
            Kind::InPlace => "reads in place",
            Kind::Bus => "bus",
            Kind::Busy => "busy",
            Kind::Transfer => "transfer",
            Kind::Serial => "serial",
            Kind::Queue => "queue",
            Kind::Conversion => "conversion",
            Kind::Timer => "timer",
            Kind::Other => "other",
            Kind::Interrupt => "interrupt",
            Kind::Core => "core",
            Kind::Exception => "exception",
            Kind::Led => "led",
            Kind::Pin => "pin",
        }
    }
}

/// The kinds that are recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State, Fresh)]
pub struct Kinds(u32);

impl Kinds {
    /// No kind.
    pub const NONE: Kinds = Kinds(0);
    /// All kinds. With [`Kind::InPlace`], controllers make each read in place clock by clock; with [`Kind::Bus`], each
    /// access goes over the bus by itself. Both take the host longer.
    pub const ALL: Kinds = Kinds::of(&Kind::ALL);

    /// The given kinds.
    #[inline]
    pub const fn of(kinds: &[Kind]) -> Kinds {
        let (mut bits, mut index) = (0, 0);
        while index < kinds.len() {
            bits |= 1 << kinds[index] as u32;
            index += 1;
        }
        Kinds(bits)
    }

    /// These kinds and one more.
    #[must_use]
    #[inline]
    pub const fn with(self, kind: Kind) -> Kinds {
        Kinds(self.0 | 1 << kind as u32)
    }

    /// These kinds without one.
    #[must_use]
    #[inline]
    pub const fn without(self, kind: Kind) -> Kinds {
        Kinds(self.0 & !(1 << kind as u32))
    }

    /// True if `kind` is among them.
    #[inline]
    pub const fn has(self, kind: Kind) -> bool {
        self.0 >> kind as u32 & 1 != 0
    }
}

/// The kinds that waits are assigned to.
const FOR_WAITS: Kinds = Kinds::ALL
    .without(Kind::InPlace)
    .without(Kind::Bus)
    .without(Kind::Queue)
    .without(Kind::Frame)
    .without(Kind::Core)
    .without(Kind::Interrupt)
    .without(Kind::Exception)
    .without(Kind::Led)
    .without(Kind::Pin);

/// One thing that a model does: a constant of its file, which its `MODEL` lists.
#[derive(Debug, PartialEq, Eq)]
pub struct Activity {
    /// Its kind.
    pub kind: Kind,
    /// Its name for users: "page program".
    pub name: &'static str,
    /// When a span begins and ends, and what its detail means: a clause, for the reference.
    pub meaning: &'static str,
    /// Spans that follow each other without a pause become one.
    joins: bool,
}

impl Activity {
    /// An activity.
    pub const fn new(kind: Kind, name: &'static str, meaning: &'static str) -> Activity {
        Activity { kind, name, meaning, joins: false }
    }

    /// The same activity, but spans without a pause between them become one.
    #[must_use]
    #[inline]
    pub const fn joining(self) -> Activity {
        Activity { joins: true, ..self }
    }

    /// Whether spans without a pause between them become one.
    #[inline]
    pub const fn joins(&self) -> bool {
        self.joins
    }
}

/// An activity of a device, or of one of its identical parts (a channel, a chip select).
#[derive(Clone, Copy, Debug, State, Fresh)]
pub struct What {
    activity: &'static Activity,
    part: u32,
}

impl From<&'static Activity> for What {
    fn from(activity: &'static Activity) -> What {
        What { activity, part: 0 }
    }
}

impl From<(&'static Activity, u32)> for What {
    fn from((activity, part): (&'static Activity, u32)) -> What {
        What { activity, part }
    }
}

/// The place of spans: an activity of one device, or of a part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Track {
    /// Label of the device's node.
    pub scope: String,
    /// The activity.
    pub activity: &'static Activity,
    /// The number of the part, from 0 on.
    pub part: u32,
    /// For an interrupt line: where it ends, as a user reads it ("core 0, input 11"). For transactions: the label of
    /// the master.
    pub line: String,
}

/// The activities of all devices: a handle. Each part of the machine that records has a copy.
#[derive(Clone, Debug, Default)]
pub struct Activities(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    kinds: AtomicU32,
    /// The recording is kept for later ([`Activities::start`]), not only for waits or for a sink.
    is_kept: AtomicBool,
    /// The kinds that are followed while the machine runs ([`Activities::follow`]).
    followed: AtomicU32,
    /// A followed activity was recorded since the last look.
    news: AtomicBool,
    recording: Mutex<Recording>,
}

impl Activities {
    fn recording(&self) -> MutexGuard<'_, Recording> {
        self.0.recording.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The scope of the device with the label `label`, with which it records its activities.
    #[inline]
    pub fn scope(&self, label: &str) -> Scope {
        Scope { scope: self.recording().scope(label), activities: Some(self.clone()) }
    }

    /// Records activities of `kinds` from now on, in `most_bytes` of memory. When the memory is full, the spans that
    /// were recorded first are dropped.
    #[inline]
    pub fn start(&self, kinds: Kinds, most_bytes: usize) {
        self.start_until(kinds, most_bytes, Ps::MAX);
    }

    /// Like [`Activities::start`], but only spans that begin before `until`.
    #[inline]
    pub fn start_until(&self, kinds: Kinds, most_bytes: usize, until: Ps) {
        self.recording().start(most_bytes, until);
        self.0.is_kept.store(true, Ordering::Relaxed);
        self.0.kinds.fetch_or(kinds.0, Ordering::Relaxed);
    }

    /// Passes each span of one of `kinds` to `sink` from now on, as soon as it is final. `sink` gets a function that
    /// describes tracks, the span, and the end of the recording if it has ended. This is independent of
    /// [`Activities::start`].
    #[inline]
    pub fn pass_to(&self, kinds: Kinds, sink: impl FnMut(&dyn Fn(u32) -> Track, &Span, Ps) + Send + 'static) {
        self.recording().pass_to(Box::new(sink));
        self.0.kinds.fetch_or(kinds.0, Ordering::Relaxed);
    }

    /// Ends the recording at `at`: open spans end there, and later ones are not recorded.
    #[inline]
    pub fn end(&self, at: Ps) {
        if self.0.kinds.swap(0, Ordering::Relaxed) != 0 {
            self.recording().end(at);
        }
    }

    /// True if the recording is kept for later: [`Activities::start`].
    #[inline]
    pub fn are_kept(&self) -> bool {
        self.0.is_kept.load(Ordering::Relaxed)
    }

    /// The kinds that are recorded.
    #[inline]
    pub fn kinds(&self) -> Kinds {
        Kinds(self.0.kinds.load(Ordering::Relaxed))
    }

    /// Ends what [`Activities::start`] began: from now on only `kinds` are recorded, for other uses.
    #[inline]
    pub fn keep_no_more(&self, kinds: Kinds) {
        self.0.is_kept.store(false, Ordering::Relaxed);
        self.0.kinds.store(kinds.0, Ordering::Relaxed);
    }

    /// True if activities of this kind are recorded.
    #[inline]
    pub fn records(&self, kind: Kind) -> bool {
        Kinds(self.0.kinds.load(Ordering::Relaxed)).has(kind)
    }

    /// True if any activity is recorded.
    #[inline]
    pub fn is_on(&self) -> bool {
        self.0.kinds.load(Ordering::Relaxed) != 0
    }

    /// All tracks, in the order in which they were declared or first recorded. A span's `track` is an index into this
    /// list.
    #[inline]
    pub fn tracks(&self) -> Vec<Track> {
        self.recording().tracks()
    }

    /// The recorded spans that overlap `from..to`, in the order of their begins. Open spans end at `to`.
    #[inline]
    pub fn spans(&self, from: Ps, to: Ps) -> Vec<Span> {
        self.recording().spans(from, to)
    }

    /// Like [`Activities::spans`], but each repetition is a span of its own, and spans are joined where an activity
    /// continues. Identical runs give identical lists, however many iterations were skipped. At most `most` spans.
    #[inline]
    pub fn instances(&self, from: Ps, to: Ps, most: usize) -> Vec<Span> {
        span::instances(self.spans(from, to), &self.tracks(), (from, to), most)
    }

    /// Assigns the time of consecutive intervals to the activities of that time, and gives each interval to `shared`:
    /// [`Recording::share`]. `ranks` is extended by what `rank` says of new tracks.
    #[inline]
    pub fn share(
        &self,
        intervals: &[(Ps, Ps)],
        ranks: &mut Ranks,
        rank: impl Fn(Candidate) -> Option<u8>,
        shared: impl FnMut((Ps, Ps), &[(u32, Ps)]),
    ) {
        let recording = self.recording();
        recording.rank(ranks, rank);
        recording.share(intervals, ranks, shared);
    }

    /// True if there was no activity to which [`Activities::share`] would assign a part of the interval.
    #[inline]
    pub fn had_none(&self, interval: (Ps, Ps), ranks: &mut Ranks, rank: impl Fn(Candidate) -> Option<u8>) -> bool {
        let recording = self.recording();
        recording.rank(ranks, rank);
        recording.had_none(interval, ranks)
    }

    /// Records activities for the waits of `cores` cores from now on ([`Activities::share`]). Unless the recording has
    /// another user, spans are kept only as long as these waits need them.
    #[inline]
    pub fn start_for_waits(&self, cores: usize) {
        const MOST_BYTES: usize = 1 << 26;
        if !self.0.is_kept.load(Ordering::Relaxed) {
            self.recording().start_for_waits(MOST_BYTES, cores);
            self.0.kinds.fetch_or(FOR_WAITS.0, Ordering::Relaxed);
        }
    }

    /// All waits of a core (by its index) up to `at` have been assigned.
    #[inline]
    pub fn waited_to(&self, core: usize, at: Ps) {
        if !self.0.is_kept.load(Ordering::Relaxed) {
            self.recording().waited_to(core, at);
        }
    }

    /// Drops the spans that ended at `at` or before.
    #[inline]
    pub fn forget_before(&self, at: Ps) {
        self.recording().forget_before(at);
    }

    /// The size of the recording.
    #[inline]
    pub fn summary(&self) -> Summary {
        self.recording().summary()
    }

    /// Marks the current end of the recording, so that the spans of one iteration of a polling loop can be found later.
    #[inline]
    pub fn mark(&self) -> Mark {
        if self.is_on() { self.recording().mark() } else { Mark::default() }
    }

    /// True if the spans since `mark` can be repeated `cycles` of `clock` later, and so on, exact to the picosecond.
    #[inline]
    pub fn can_repeat(&self, mark: &Mark, clock: Hz, cycles: u64) -> bool {
        if !self.is_on() {
            return true;
        }
        let recording = self.recording();
        // Followed activities are not repeated: the follower sees each iteration by itself.
        let is_followed = self.followed() != Kinds::NONE && recording.has_recorded_since(mark);
        !is_followed && recording.can_repeat(mark, clock, cycles)
    }

    /// Repeats the spans since `mark` `count` times, each time `cycles` of `clock` later.
    #[inline]
    pub fn repeat(&self, mark: &Mark, clock: Hz, cycles: u64, count: u64) {
        if self.is_on() {
            self.recording().repeat(mark, clock, cycles, count);
        }
    }
}

/// The recorder of a device's activities. The default records nothing, and neither does a clone: devices are cloned to
/// try what they would do.
#[derive(Debug, Default)]
pub struct Scope {
    activities: Option<Activities>,
    scope: u32,
}

impl Clone for Scope {
    fn clone(&self) -> Scope {
        Scope::default()
    }
}

impl PartialEq for Scope {
    /// It is not part of the device's state.
    fn eq(&self, _: &Scope) -> bool {
        true
    }
}

impl Eq for Scope {}

impl Scope {
    /// A scope that records nothing, like the default.
    #[inline]
    pub const fn nobody() -> Scope {
        Scope { activities: None, scope: 0 }
    }

    /// The recording, if activities of this kind are recorded.
    #[inline]
    fn recorded(&self, kind: Kind) -> Option<MutexGuard<'_, Recording>> {
        let activities = self.activities.as_ref().filter(|activities| activities.records(kind))?;
        if activities.followed().has(kind) {
            activities.0.news.store(true, Ordering::Relaxed);
        }
        Some(activities.recording())
    }

    /// Declares activities before they are recorded, so that a user can choose among them.
    pub fn declare(&self, activities: &[&'static Activity]) {
        if let Some(all) = &self.activities {
            let mut recording = all.recording();
            activities.iter().for_each(|activity| {
                recording.track(self.scope, What::from(*activity));
            });
        }
    }

    /// Declares an interrupt line of the device, by where it ends, before it is recorded.
    pub fn declare_line(&self, line: String) {
        if let Some(all) = &self.activities {
            all.recording().line(self.scope, line);
        }
    }

    /// True if activities of this kind are recorded.
    #[inline]
    pub fn records(&self, kind: Kind) -> bool {
        self.activities.as_ref().is_some_and(|activities| activities.records(kind))
    }

    /// True if any activity is recorded.
    #[inline]
    pub fn is_on(&self) -> bool {
        self.activities.as_ref().is_some_and(Activities::is_on)
    }

    /// Records that `what` lasts from `begin` to `end`, which may be in the future.
    #[inline]
    pub fn span(&self, what: impl Into<What>, begin: Ps, end: Ps, detail: Detail) {
        let what = what.into();
        if let Some(mut recording) = self.recorded(what.activity.kind) {
            recording.span(self.scope, what, (begin, end), detail, None);
        }
    }

    /// Like [`Scope::span`], for spans that begin and end at edges of `clock`. Polling loops with such spans can be
    /// skipped although a period of the clock is not a whole number of picoseconds.
    #[inline]
    pub fn clocked_span(&self, what: impl Into<What>, clock: Hz, begin: Ps, end: Ps, detail: Detail) {
        let what = what.into();
        if let Some(mut recording) = self.recorded(what.activity.kind) {
            recording.span(self.scope, what, (begin, end), detail, Some(clock));
        }
    }

    /// Records that `what` happens at `at`, without a duration.
    #[inline]
    pub fn mark(&self, what: impl Into<What>, at: Ps, detail: Detail) {
        let what = what.into();
        if let Some(mut recording) = self.recorded(what.activity.kind) {
            recording.span(self.scope, what, (at, at), detail, None);
        }
    }

    /// Opens a span of `what` at `at`, which [`Scope::end`] closes. Does nothing if one is open.
    #[inline]
    pub fn begin(&self, what: impl Into<What>, at: Ps, detail: Detail) {
        let what = what.into();
        if let Some(mut recording) = self.recorded(what.activity.kind) {
            recording.begin(self.scope, what, at, detail, None);
        }
    }

    /// Closes the span that [`Scope::begin`] opened, at `at`. Does nothing if none is open.
    #[inline]
    pub fn end(&self, what: impl Into<What>, at: Ps) {
        let what = what.into();
        if let Some(mut recording) = self.recorded(what.activity.kind) {
            recording.end_open(self.scope, what, at);
        }
    }

    /// Opens or closes a span of `what` at `at`: [`Scope::begin`] or [`Scope::end`].
    #[inline]
    pub fn level(&self, what: impl Into<What>, on: bool, at: Ps) {
        if on { self.begin(what, at, Detail::None) } else { self.end(what, at) }
    }

    /// The last recorded span of `what` ends at `at` instead, as its clock has changed. One that would end before its
    /// begin is dropped.
    #[inline]
    pub fn ends_instead(&self, what: impl Into<What>, at: Ps) {
        let what = what.into();
        if let Some(mut recording) = self.recorded(what.activity.kind) {
            recording.change_end(self.scope, what, at, false);
        }
    }

    /// Records that `what` lasts from `now` to `due`. Called each time that `due` may have changed; the span continues
    /// while it has not. With `None`, the span ends at `now`.
    #[inline]
    pub fn awaits(&self, what: impl Into<What>, due: Option<Ps>, now: Ps, detail: Detail) {
        let what = what.into();
        if let Some(mut recording) = self.recorded(what.activity.kind) {
            recording.awaits(self.scope, what, (due, now), detail);
        }
    }

    /// The last recorded span of `what` is aborted at `at`, if it would end later.
    #[inline]
    pub fn cut(&self, what: impl Into<What>, at: Ps) {
        let what = what.into();
        if let Some(mut recording) = self.recorded(what.activity.kind) {
            recording.change_end(self.scope, what, at, true);
        }
    }

    /// Like [`Scope::level`], at an edge of a clock.
    #[inline]
    pub fn clocked_level(&self, what: impl Into<What>, on: bool, clock: Hz, at: Ps) {
        let what = what.into();
        if let Some(mut recording) = self.recorded(what.activity.kind) {
            if on {
                recording.begin(self.scope, what, at, Detail::None, Some(clock));
            } else {
                recording.end_open(self.scope, what, at);
            }
        }
    }

    /// Adds `count` bits to the open span of `what`, highest first: those that were sent and those that were received,
    /// where there are any.
    #[inline]
    pub fn bits(&self, what: impl Into<What>, count: u32, sent: Option<u32>, received: Option<u32>) {
        let what = what.into();
        if let Some(mut recording) = self.recorded(what.activity.kind) {
            recording.add_bits(self.scope, what, count, sent, received);
        }
    }

    /// Records a transaction of a master on this bus, with begin and end at edges of `clock`, if it is known.
    #[inline]
    pub fn transaction(&self, master: Master, ends: (Ps, Ps), clock: Option<Hz>, transaction: Transaction) {
        if let Some(mut recording) = self.recorded(Kind::Bus) {
            recording.transaction(self.scope, master, ends, clock, transaction);
        }
    }

    /// Records the level of an interrupt line of the device, which ends at `line`, from `at` on.
    #[inline]
    pub fn interrupt(&self, line: String, level: bool, at: Ps) {
        if let Some(mut recording) = self.recorded(Kind::Interrupt) {
            recording.interrupt(self.scope, line, level, at);
        }
    }
}

/// A master of transactions on a bus.
#[derive(Clone, Copy, Debug)]
pub struct Master<'a> {
    /// Its label.
    pub label: &'a str,
    /// Its number among all possible masters, from 0 on.
    pub number: u32,
    /// The number of all possible masters.
    pub of: u32,
}

/// Accesses of masters on a bus.
pub static TRANSACTION: Activity = Activity::new(
    Kind::Bus,
    "transactions",
    "accesses of cores and DMA engines, each from its request to the answer: what is read or written, and where",
);
/// The activities of interconnects.
pub const BUS: &[&Activity] = &[&TRANSACTION];
/// An interrupt line that a device drives.
pub static INTERRUPT: Activity = Activity::new(Kind::Interrupt, "interrupt", "the line is up");
/// A core that waits for an interrupt or an event.
pub static IDLE: Activity = Activity::new(Kind::Core, "idle", "the core waits for an interrupt or an event").joining();
/// A core that is held in reset.
pub static HELD_IN_RESET: Activity = Activity::new(Kind::Core, "held in reset", "the core does not run").joining();

/// A core takes an exception.
pub static EXCEPTION: Activity =
    Activity::new(Kind::Exception, "exceptions", "the core takes one, or an interrupt: which, and its input");
/// The activities of cores.
pub const CORE: &[&Activity] = &[&IDLE, &HELD_IN_RESET, &EXCEPTION];

#[cfg(test)]
mod tests;

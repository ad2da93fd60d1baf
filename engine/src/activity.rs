//! What devices are doing: a page program, a card's busy, a DMA transfer, a character, the clocks on a wire. Recorded
//! only if someone asks for it; told once, by the device itself, and used for waveforms, for timelines, and to say what
//! a core waited for.
//!
//! An [`Activity`] is one thing that a model does, a constant of its file. What a device tells of it are spans of time,
//! exact to the picosecond, each with a [`Detail`]. Spans of one track (a device's activity, or one channel's of it)
//! do not overlap, but for those of [`Kind::Queue`]: a FIFO holds several entries at once. They are told in any order
//! of time: mostly as they begin, with an end that lies ahead; an entry of a FIFO as it leaves.
//!
//! Polling loops are skipped all the same: what an iteration tells is then told as many times as it was skipped, in one
//! record ([`Span::instances`]).

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

/// What an activity is one of: by this, waits are told apart, and a recording is chosen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, State, Fresh)]
pub enum Kind {
    /// Clocks on a wire between chips.
    Wire,
    /// A chip is selected, or a frame on a bus is under way: it has the bytes.
    Frame,
    /// Clocks on a wire for reads in place, of a memory window: each of them makes a core or a master wait itself.
    InPlace,
    /// What cores and DMA engines access over a bus.
    Bus,
    /// A chip can't be used meanwhile: program, erase, a card's busy.
    Busy,
    /// A DMA engine moves data.
    Transfer,
    /// A character on a serial line.
    Serial,
    /// What is in a FIFO: a span for each entry, from when it enters to when it leaves. These overlap.
    Queue,
    /// An analog value becomes a number, or a peripheral works one out.
    Conversion,
    /// A timer counts up to what it tells.
    Timer,
    /// All else: a message that waits for its reader, a frame in the air.
    Other,
    /// An interrupt line is up.
    Interrupt,
    /// What a core does.
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

    /// What it is called in tables and files.
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

/// Which kinds are recorded.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State, Fresh)]
pub struct Kinds(u32);

impl Kinds {
    /// No kind.
    pub const NONE: Kinds = Kinds(0);
    /// All of them. [`Kind::InPlace`] has controllers make each read in place clock by clock, and [`Kind::Bus`] has
    /// each access go over the bus by itself, which takes the host longer.
    pub const ALL: Kinds = Kinds::of(&Kind::ALL);

    /// These kinds.
    pub const fn of(kinds: &[Kind]) -> Kinds {
        let (mut bits, mut index) = (0, 0);
        while index < kinds.len() {
            bits |= 1 << kinds[index] as u32;
            index += 1;
        }
        Kinds(bits)
    }

    /// All of these and one more.
    #[must_use]
    pub const fn with(self, kind: Kind) -> Kinds {
        Kinds(self.0 | 1 << kind as u32)
    }

    /// All of these but one.
    #[must_use]
    pub const fn without(self, kind: Kind) -> Kinds {
        Kinds(self.0 & !(1 << kind as u32))
    }

    /// True if `kind` is one of them.
    pub const fn has(self, kind: Kind) -> bool {
        self.0 >> kind as u32 & 1 != 0
    }
}

/// What waits are shared out among.
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
    /// What it is one of.
    pub kind: Kind,
    /// What users see: "page program".
    pub name: &'static str,
    /// From when to when, and what its detail is: a clause, for the reference.
    pub meaning: &'static str,
    /// Spans that follow each other without a pause are one.
    joins: bool,
}

impl Activity {
    /// An activity.
    pub const fn new(kind: Kind, name: &'static str, meaning: &'static str) -> Activity {
        Activity { kind, name, meaning, joins: false }
    }

    /// The same, where spans without a pause between them are one.
    #[must_use]
    pub const fn joining(self) -> Activity {
        Activity { joins: true, ..self }
    }

    /// Whether spans without a pause between them are one.
    pub const fn joins(&self) -> bool {
        self.joins
    }
}

/// An activity of a device, or of one of several parts of it that do the same at once (a channel, a chip select).
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

/// Where spans belong: an activity of one device, or of a part of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Track {
    /// Label of the device's node.
    pub scope: String,
    /// What it does.
    pub activity: &'static Activity,
    /// Which of its parts, from 0 on.
    pub part: u32,
    /// For an interrupt line: where it ends, as a user reads it ("core 0, input 11"). For transactions: whose they are.
    pub line: String,
}

/// What all devices tell: a handle, of which everything that tells has a copy.
#[derive(Clone, Debug, Default)]
pub struct Activities(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    kinds: AtomicU32,
    /// Somebody wants to see the recording later: it is not only for waits, or passed on.
    is_kept: AtomicBool,
    /// Kinds of which somebody follows what goes on while the machine runs.
    followed: AtomicU32,
    /// Something of those was told.
    news: AtomicBool,
    recording: Mutex<Recording>,
}

impl Activities {
    fn recording(&self) -> MutexGuard<'_, Recording> {
        self.0.recording.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The device with the label `label`, to tell of what it does.
    pub fn scope(&self, label: &str) -> Scope {
        Scope { scope: self.recording().scope(label), activities: Some(self.clone()) }
    }

    /// From now on what devices do is recorded, as far as it is of one of `kinds`, in `most_bytes` of memory: what was
    /// told first goes first.
    pub fn start(&self, kinds: Kinds, most_bytes: usize) {
        self.start_until(kinds, most_bytes, Ps::MAX);
    }

    /// The same, of what begins before `until`.
    pub fn start_until(&self, kinds: Kinds, most_bytes: usize, until: Ps) {
        self.recording().start(most_bytes, until);
        self.0.is_kept.store(true, Ordering::Relaxed);
        self.0.kinds.fetch_or(kinds.0, Ordering::Relaxed);
    }

    /// From now on each span of one of `kinds`, as soon as it changes no more, goes to `sink`: what tells of tracks,
    /// the span, and when the recording ended, if it has. Beside what [`Activities::start`] keeps.
    pub fn pass_to(&self, kinds: Kinds, sink: impl FnMut(&dyn Fn(u32) -> Track, &Span, Ps) + Send + 'static) {
        self.recording().pass_to(Box::new(sink));
        self.0.kinds.fetch_or(kinds.0, Ordering::Relaxed);
    }

    /// The recording is over at `at`: what is under way ends there, and what comes later is not in it.
    pub fn end(&self, at: Ps) {
        if self.0.kinds.swap(0, Ordering::Relaxed) != 0 {
            self.recording().end(at);
        }
    }

    /// True if somebody wants to see the recording later: [`Activities::start`].
    pub fn are_kept(&self) -> bool {
        self.0.is_kept.load(Ordering::Relaxed)
    }

    /// The kinds that are recorded.
    pub fn kinds(&self) -> Kinds {
        Kinds(self.0.kinds.load(Ordering::Relaxed))
    }

    /// Nobody wants to see the recording any more: only these kinds are recorded from now on, for others.
    pub fn keep_no_more(&self, kinds: Kinds) {
        self.0.is_kept.store(false, Ordering::Relaxed);
        self.0.kinds.store(kinds.0, Ordering::Relaxed);
    }

    /// True if activities of this kind are recorded.
    #[inline]
    pub fn records(&self, kind: Kind) -> bool {
        Kinds(self.0.kinds.load(Ordering::Relaxed)).has(kind)
    }

    /// True if any are.
    #[inline]
    pub fn is_on(&self) -> bool {
        self.0.kinds.load(Ordering::Relaxed) != 0
    }

    /// All tracks, in the order in which they were declared or first told of: spans name them by their places here.
    pub fn tracks(&self) -> Vec<Track> {
        self.recording().tracks()
    }

    /// What was recorded so far and has a part in `from..to`, in the order of its begin. What is under way ends at
    /// `to`.
    pub fn spans(&self, from: Ps, to: Ps) -> Vec<Span> {
        self.recording().spans(from, to)
    }

    /// The same, each time that something happens by itself, and joined where an activity goes on: so two runs that are
    /// the same have the same, however many iterations were skipped. At most `most` of them.
    pub fn instances(&self, from: Ps, to: Ps, most: usize) -> Vec<Span> {
        span::instances(self.spans(from, to), &self.tracks(), (from, to), most)
    }

    /// Shares intervals, which follow each other, out among what went on then, and gives each to `shared`:
    /// [`Recording::share`]. `ranks` gets what `rank` says of tracks that it does not have yet.
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

    /// True if nothing went on that [`Activities::share`] would give a part of `from..to` to.
    pub fn had_none(&self, interval: (Ps, Ps), ranks: &mut Ranks, rank: impl Fn(Candidate) -> Option<u8>) -> bool {
        let recording = self.recording();
        recording.rank(ranks, rank);
        recording.had_none(interval, ranks)
    }

    /// From now on waits of so many cores are shared out ([`Activities::share`]): as far as nobody else has the
    /// recording, it is kept no longer than they need it.
    pub fn start_for_waits(&self, cores: usize) {
        const MOST_BYTES: usize = 1 << 26;
        if !self.0.is_kept.load(Ordering::Relaxed) {
            self.recording().start_for_waits(MOST_BYTES, cores);
            self.0.kinds.fetch_or(FOR_WAITS.0, Ordering::Relaxed);
        }
    }

    /// All waits of a core, by its place, up to `at` have been shared out.
    pub fn waited_to(&self, core: usize, at: Ps) {
        if !self.0.is_kept.load(Ordering::Relaxed) {
            self.recording().waited_to(core, at);
        }
    }

    /// Forgets what ended at `at` or before.
    pub fn forget_before(&self, at: Ps) {
        self.recording().forget_before(at);
    }

    /// How much there is.
    pub fn summary(&self) -> Summary {
        self.recording().summary()
    }

    /// What has been told so far: to see later what an iteration of a polling loop told.
    pub fn mark(&self) -> Mark {
        if self.is_on() { self.recording().mark() } else { Mark::default() }
    }

    /// True if what was told since `mark` can be told again, `cycles` of `clock` later and so on, to the picosecond.
    pub fn can_repeat(&self, mark: &Mark, clock: Hz, cycles: u64) -> bool {
        if !self.is_on() {
            return true;
        }
        let recording = self.recording();
        // Who follows what goes on sees each time by itself.
        let is_followed = self.followed() != Kinds::NONE && recording.has_reported_since(mark);
        !is_followed && recording.can_repeat(mark, clock, cycles)
    }

    /// What was told since `mark` happens `count` more times, each time `cycles` of `clock` later.
    pub fn repeat(&self, mark: &Mark, clock: Hz, cycles: u64, count: u64) {
        if self.is_on() {
            self.recording().repeat(mark, clock, cycles, count);
        }
    }
}

/// A device that tells what it does. The default tells nobody, and so does a copy: copies are made to try what a device
/// would do.
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
    /// It is no state of the device.
    fn eq(&self, _: &Scope) -> bool {
        true
    }
}

impl Eq for Scope {}

impl Scope {
    /// A device that tells nobody, as by default.
    pub const fn nobody() -> Scope {
        Scope { activities: None, scope: 0 }
    }

    /// The recording, if it has activities of this kind.
    #[inline]
    fn recorded(&self, kind: Kind) -> Option<MutexGuard<'_, Recording>> {
        let activities = self.activities.as_ref().filter(|activities| activities.records(kind))?;
        if activities.followed().has(kind) {
            activities.0.news.store(true, Ordering::Relaxed);
        }
        Some(activities.recording())
    }

    /// Names activities before they are told of, so that a user can choose among them.
    pub fn declare(&self, activities: &[&'static Activity]) {
        if let Some(all) = &self.activities {
            let mut recording = all.recording();
            activities.iter().for_each(|activity| {
                recording.track(self.scope, What::from(*activity));
            });
        }
    }

    /// Names an interrupt line of the device before it is told of: where it ends.
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

    /// True if any are.
    #[inline]
    pub fn is_on(&self) -> bool {
        self.activities.as_ref().is_some_and(Activities::is_on)
    }

    /// `what` goes on from `begin` to `end`, which may lie ahead.
    #[inline]
    pub fn span(&self, what: impl Into<What>, begin: Ps, end: Ps, detail: Detail) {
        let what = what.into();
        if let Some(mut recording) = self.recorded(what.activity.kind) {
            recording.span(self.scope, what, (begin, end), detail, None);
        }
    }

    /// The same, of what begins and ends at edges of `clock`: polling loops in which that happens can be skipped then
    /// though a period of the clock is no whole number of picoseconds.
    #[inline]
    pub fn clocked_span(&self, what: impl Into<What>, clock: Hz, begin: Ps, end: Ps, detail: Detail) {
        let what = what.into();
        if let Some(mut recording) = self.recorded(what.activity.kind) {
            recording.span(self.scope, what, (begin, end), detail, Some(clock));
        }
    }

    /// `what` happens at `at`, and has no length.
    #[inline]
    pub fn mark(&self, what: impl Into<What>, at: Ps, detail: Detail) {
        let what = what.into();
        if let Some(mut recording) = self.recorded(what.activity.kind) {
            recording.span(self.scope, what, (at, at), detail, None);
        }
    }

    /// `what` goes on from `at` to a time that is told later. Nothing if it goes on already.
    #[inline]
    pub fn begin(&self, what: impl Into<What>, at: Ps, detail: Detail) {
        let what = what.into();
        if let Some(mut recording) = self.recorded(what.activity.kind) {
            recording.begin(self.scope, what, at, detail, None);
        }
    }

    /// What goes on since [`Scope::begin`] ends at `at`. Nothing if nothing does.
    #[inline]
    pub fn end(&self, what: impl Into<What>, at: Ps) {
        let what = what.into();
        if let Some(mut recording) = self.recorded(what.activity.kind) {
            recording.end_open(self.scope, what, at);
        }
    }

    /// Goes on with `what`, or not, from `at` on: [`Scope::begin`] and [`Scope::end`].
    #[inline]
    pub fn level(&self, what: impl Into<What>, on: bool, at: Ps) {
        if on { self.begin(what, at, Detail::None) } else { self.end(what, at) }
    }

    /// The span of `what` that was told last ends at `at` instead, as its clock is another from now on. One that would
    /// end before it began is none.
    #[inline]
    pub fn ends_instead(&self, what: impl Into<What>, at: Ps) {
        let what = what.into();
        if let Some(mut recording) = self.recorded(what.activity.kind) {
            recording.change_end(self.scope, what, at, false);
        }
    }

    /// `what` goes on from `now` to `due`, which is told each time that it may be another: it goes on as long as it
    /// stays the same. `None`: nothing goes on; what did is over at `now`.
    #[inline]
    pub fn awaits(&self, what: impl Into<What>, due: Option<Ps>, now: Ps, detail: Detail) {
        let what = what.into();
        if let Some(mut recording) = self.recorded(what.activity.kind) {
            recording.awaits(self.scope, what, (due, now), detail);
        }
    }

    /// The span of `what` that was told last, if it has not ended by `at`, is aborted then.
    #[inline]
    pub fn cut(&self, what: impl Into<What>, at: Ps) {
        let what = what.into();
        if let Some(mut recording) = self.recorded(what.activity.kind) {
            recording.change_end(self.scope, what, at, true);
        }
    }

    /// As [`Scope::begin`] and [`Scope::end`], at edges of a clock.
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

    /// Bits passed in what goes on since [`Scope::begin`]: so many, highest first, that were sent and received, as far
    /// as they were.
    #[inline]
    pub fn bits(&self, what: impl Into<What>, count: u32, sent: Option<u32>, received: Option<u32>) {
        let what = what.into();
        if let Some(mut recording) = self.recorded(what.activity.kind) {
            recording.add_bits(self.scope, what, count, sent, received);
        }
    }

    /// A transaction of a master on this bus, with begin and end at edges of `clock`, if that is known.
    pub fn transaction(&self, master: Master, ends: (Ps, Ps), clock: Option<Hz>, transaction: Transaction) {
        if let Some(mut recording) = self.recorded(Kind::Bus) {
            recording.transaction(self.scope, master, ends, clock, transaction);
        }
    }

    /// An interrupt line of the device, which ends at `line`, has this level from `at` on.
    pub fn interrupt(&self, line: String, level: bool, at: Ps) {
        if let Some(mut recording) = self.recorded(Kind::Interrupt) {
            recording.interrupt(self.scope, line, level, at);
        }
    }
}

/// Who makes transactions on a bus.
#[derive(Clone, Copy, Debug)]
pub struct Master<'a> {
    /// Its label.
    pub label: &'a str,
    /// Which of all that could be masters it is, from 0 on, and how many there are.
    pub number: u32,
    /// See there.
    pub of: u32,
}

/// What masters access on a bus.
pub static TRANSACTION: Activity = Activity::new(
    Kind::Bus,
    "transactions",
    "accesses of cores and DMA engines, each from its request to the answer: what is read or written, and where",
);
/// What interconnects tell.
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
/// What cores tell.
pub const CORE: &[&Activity] = &[&IDLE, &HELD_IN_RESET, &EXCEPTION];

#[cfg(test)]
mod tests;

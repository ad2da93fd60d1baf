//! A run as a timeline, in the format of Perfetto (`ui.perfetto.dev`, `trace_processor`): what devices did as slices on
//! tracks, with their details; what cores did; interrupts as flows from the device to the core that takes them; totals
//! as counters.
//!
//! The format has nanoseconds. Times are rounded down to these; a slice whose time is no whole number of them has its
//! picoseconds as arguments. What a polling loop did in iterations that were skipped is one slice where it is often.
//!
//! Who knows of functions adds [`CoreSlice`]s.

mod counters;
mod flows;
mod packets;

use std::collections::{BTreeMap, BTreeSet};

use crate::activity::{Activities, Detail, Kind, Span, Track};
use crate::time::Ps;
pub use counters::{Counters, Sample};
use flows::Flows;
use packets::{
    CounterDescriptor, DebugAnnotation, EXPLICIT, EventType, Interned, InternedData, SEQ_INCREMENTAL_STATE_CLEARED,
    SEQ_NEEDS_INCREMENTAL_STATE, TracePacket, TrackDescriptor, TrackEvent,
};

/// A piece has at least so many bytes, but for the last.
const PIECE_BYTES: usize = 1 << 20;
/// Repetitions that are slices of their own: more of them, by one polling loop, are one.
const MOST_REPETITIONS: u64 = 64;
const PS_PER_NS: u64 = 1000;
/// All packets are of one sequence.
const SEQUENCE: u32 = 1;
/// Bytes of a frame in its name.
const NAME_BYTES: usize = 4;

/// Identifiers of tracks: of scopes, of activities, of functions of a core, of counters, from these on.
const SCOPES: u64 = 1 << 32;
const TRACKS: u64 = 2 << 32;
const FUNCTIONS: u64 = 3 << 32;
const COUNTERS: u64 = 4 << 32;

/// Something that a core did: a function, say. Those of a core's task lie one in another, each told when it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoreSlice {
    /// The core's label.
    pub core: String,
    /// The task that did it; empty for what is of none.
    pub task: String,
    /// What it is called.
    pub name: String,
    /// When it begins.
    pub begin: Ps,
    /// When it ends.
    pub end: Ps,
}

/// What a timeline is made of.
#[derive(Debug, Default)]
pub struct Source {
    /// Labels of the cores, in their order: their tracks come first.
    pub cores: Vec<String>,
    /// The window.
    pub from: Ps,
    /// Its end.
    pub to: Ps,
    /// Totals.
    pub counters: Counters,
    /// What cores did, in the order of their begins; of those that begin at once the outer one first.
    pub slices: Vec<CoreSlice>,
}

/// The trace, a piece at a time.
#[derive(Debug)]
pub struct Timeline {
    spans: std::vec::IntoIter<Span>,
    slices: std::vec::IntoIter<CoreSlice>,
    samples: std::vec::IntoIter<Sample>,
    window: (Ps, Ps),
    tracks: Vec<Track>,
    scopes: BTreeMap<String, u64>,
    /// Tracks of functions, by core and task.
    functions: BTreeMap<(String, String), u64>,
    flows: Flows,
    names: Names,
    /// How many spans were written: flows are known by these.
    written: usize,
    piece: Vec<u8>,
}

/// Names that are written once.
#[derive(Debug, Default)]
struct Names {
    known: BTreeMap<(Named, String), u64>,
    new: InternedData,
}

/// What a name is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Named {
    Category,
    Event,
    Argument,
}

impl Names {
    /// The number of a name, which is written with the next packet if it is new.
    fn of(&mut self, what: Named, name: &str) -> u64 {
        let next = self.known.len() as u64 + 1;
        let iid = *self.known.entry((what, name.to_owned())).or_insert(next);
        if iid == next {
            let interned = Interned { iid: Some(iid), name: Some(name.to_owned()) };
            match what {
                Named::Category => self.new.event_categories.push(interned),
                Named::Event => self.new.event_names.push(interned),
                Named::Argument => self.new.debug_annotation_names.push(interned),
            }
        }
        iid
    }
}

impl Timeline {
    /// The timeline of what was recorded.
    pub fn new(activities: &Activities, source: Source) -> Timeline {
        let (from, to) = (source.from, source.to);
        let (spans, tracks) = (activities.spans(from, to), activities.tracks());
        let mut timeline = Timeline {
            flows: Flows::new(&spans, &tracks, &source.cores),
            spans: spans.into_iter(),
            slices: source.slices.into_iter(),
            samples: Vec::new().into_iter(),
            window: (from, to),
            tracks,
            scopes: BTreeMap::new(),
            functions: BTreeMap::new(),
            names: Names::default(),
            written: 0,
            piece: Vec::with_capacity(PIECE_BYTES + 4096),
        };
        let first = TracePacket { sequence_flags: Some(SEQ_INCREMENTAL_STATE_CLEARED), ..TracePacket::default() };
        timeline.packet(first);
        timeline.describe(&source.cores, &source.counters);
        let moved = source.counters.moved(from, to);
        let within = source.counters.samples().iter().filter(|sample| from <= sample.at && sample.at <= to);
        let counted = within.map(|Sample { at, changed }| {
            let changed = changed.iter().copied().filter(|(place, _)| moved[*place as usize]).collect();
            Sample { at: *at, changed }
        });
        timeline.samples = counted.collect::<Vec<_>>().into_iter();
        timeline
    }

    fn packet(&mut self, packet: TracePacket) {
        TracePacket { trusted_packet_sequence_id: Some(SEQUENCE), ..packet }.write(&mut self.piece);
    }

    /// Writes which tracks there are: the cores, then devices, each with its activities and its totals.
    fn describe(&mut self, cores: &[String], counters: &Counters) {
        let mut scopes: Vec<String> = cores.to_vec();
        let told: Vec<bool> = self.told();
        let active = self.tracks.iter().zip(&told).filter(|(_, told)| **told).map(|(track, _)| track.scope.clone());
        let moved = counters.moved(self.window.0, self.window.1);
        let all = || counters.names().iter().enumerate().filter(|(index, _)| moved[*index]);
        let counted = all().map(|(_, name)| scope_of(name).to_owned());
        for scope in active.chain(counted).collect::<Vec<_>>() {
            if !scopes.contains(&scope) {
                scopes.push(scope);
            }
        }
        for (rank, scope) in scopes.iter().enumerate() {
            let uuid = SCOPES + rank as u64;
            self.scopes.insert(scope.clone(), uuid);
            self.track(uuid, None, scope, Some(rank), None);
        }
        let tasks = self.slices.as_slice().iter().map(|slice| (slice.core.clone(), slice.task.clone()));
        let tasks: BTreeSet<(String, String)> = tasks.collect();
        for (number, (core, task)) in tasks.into_iter().enumerate() {
            let uuid = FUNCTIONS + number as u64;
            let name = if task.is_empty() { "functions".to_owned() } else { format!("task {task}") };
            self.track(uuid, self.scopes.get(&core).copied(), &name, Some(0), None);
            self.functions.insert((core, task), uuid);
        }
        for index in (0..told.len()).filter(|index| told[*index]) {
            let track = self.tracks[index].clone();
            let parent = self.scopes.get(&track.scope).copied();
            self.track(TRACKS + index as u64, parent, &title(&track), Some(index + 1), None);
        }
        for (index, name) in all() {
            let parent = self.scopes.get(scope_of(name)).copied();
            let what = name.split_once('.').map_or(name.as_str(), |(_, what)| what);
            let rank = self.tracks.len() + 1 + index;
            let counter = CounterDescriptor { unit_name: None };
            self.track(COUNTERS + index as u64, parent, what, Some(rank), Some(counter));
        }
    }

    /// By track: whether anything was told of it.
    fn told(&self) -> Vec<bool> {
        let mut told = vec![false; self.tracks.len()];
        self.spans.as_slice().iter().for_each(|span| told[span.track as usize] = true);
        told
    }

    fn track(
        &mut self,
        uuid: u64,
        parent: Option<u64>,
        name: &str,
        rank: Option<usize>,
        counter: Option<CounterDescriptor>,
    ) {
        let descriptor = TrackDescriptor {
            uuid: Some(uuid),
            name: Some(name.to_owned()),
            parent_uuid: parent,
            child_ordering: counter.is_none().then_some(EXPLICIT),
            sibling_order_rank: rank.map(|rank| rank as i32),
            counter,
        };
        self.packet(TracePacket { track_descriptor: Some(descriptor), ..TracePacket::default() });
    }

    fn event(&mut self, at: Ps, event: TrackEvent) {
        let new = std::mem::take(&mut self.names.new);
        let interned_data = (new != InternedData::default()).then_some(new);
        self.packet(TracePacket {
            timestamp: Some(at.0 / PS_PER_NS),
            track_event: Some(event),
            interned_data,
            sequence_flags: Some(SEQ_NEEDS_INCREMENTAL_STATE),
            ..TracePacket::default()
        });
    }

    fn text(&mut self, name: &str, value: String) -> DebugAnnotation {
        let name_iid = Some(self.names.of(Named::Argument, name));
        DebugAnnotation { name_iid, string_value: Some(value), ..DebugAnnotation::default() }
    }

    fn number(&mut self, name: &str, value: u64) -> DebugAnnotation {
        let name_iid = Some(self.names.of(Named::Argument, name));
        DebugAnnotation { name_iid, uint_value: Some(value), ..DebugAnnotation::default() }
    }

    fn span(&mut self, span: &Span) {
        let (from, to) = self.window;
        let index = self.written;
        self.written += 1;
        let times = span.times_within(from, to);
        if times <= MOST_REPETITIONS || span.begin == span.end {
            let repetitions: Vec<(Ps, Ps)> = match span.begin == span.end {
                true => vec![(span.begin, span.end)],
                false => span.instances_within(from, to).collect(),
            };
            for (nth, (begin, end)) in repetitions.into_iter().enumerate() {
                // Nothing interrupts a loop that is skipped.
                let flows = if nth == 0 { self.flows.of(index) } else { Vec::new() };
                self.slice(span, (begin, end), 1, flows);
            }
        } else {
            self.slice(span, (span.begin.max(from), span.last_end().min(to)), times, Vec::new());
        }
    }

    /// One slice for `times` times that something happened.
    fn slice(&mut self, span: &Span, (begin, end): (Ps, Ps), times: u64, flows: Vec<u64>) {
        let track = self.tracks[span.track as usize].clone();
        let mut event = TrackEvent {
            track_uuid: Some(TRACKS + u64::from(span.track)),
            category_iids: vec![self.names.of(Named::Category, track.activity.kind.name())],
            debug_annotations: self.arguments(span, (begin, end), times),
            ..TrackEvent::default()
        };
        match name_of(&track, &span.detail) {
            Some(name) => event.name = Some(name),
            None => event.name_iid = Some(self.names.of(Named::Event, track.activity.name)),
        }
        if track.activity.kind == Kind::Exception {
            event.terminating_flow_ids = flows;
        } else {
            event.flow_ids = flows;
        }
        if begin == end {
            event.r#type = Some(EventType::Instant.into());
            return self.event(begin, event);
        }
        let (r#type, track_uuid) = (Some(EventType::SliceEnd.into()), event.track_uuid);
        event.r#type = Some(EventType::SliceBegin.into());
        self.event(begin, event);
        self.event(end, TrackEvent { r#type, track_uuid, ..TrackEvent::default() });
    }

    fn arguments(&mut self, span: &Span, (begin, end): (Ps, Ps), times: u64) -> Vec<DebugAnnotation> {
        let mut all = Vec::new();
        match &span.detail {
            Detail::None => {}
            Detail::Bytes(bytes) => all.push(self.number("bytes", u64::from(*bytes))),
            Detail::Address { address, bytes } => {
                all.push(self.text("address", format!("{address:#x}")));
                if *bytes > 0 {
                    all.push(self.number("bytes", u64::from(*bytes)));
                }
            }
            Detail::Value(value) => all.push(self.number("value", u64::from(*value))),
            Detail::Data(data) => {
                for (name, bytes, total) in
                    [("sent", &data.sent, data.sent_bytes), ("received", &data.received, data.received_bytes)]
                {
                    if total > 0 {
                        all.push(self.text(name, hex(bytes)));
                        all.push(self.number(&format!("bytes {name}"), total));
                    }
                }
            }
            Detail::Exception { input, .. } => {
                if let Some(input) = input {
                    all.push(self.number("input", u64::from(*input)));
                }
            }
        }
        let line = self.tracks[span.track as usize].line.clone();
        if !line.is_empty() {
            all.push(self.text("to", line));
        }
        if times > 1 {
            all.push(self.number("times, in a polling loop", times));
            all.push(self.number("each, in picoseconds", span.end.0 - span.begin.0));
        } else if !begin.0.is_multiple_of(PS_PER_NS) || !end.0.is_multiple_of(PS_PER_NS) {
            all.push(self.number("begin_ps", begin.0));
            all.push(self.number("end_ps", end.0));
        }
        all
    }

    fn core_slice(&mut self, slice: &CoreSlice) {
        let track_uuid = self.functions.get(&(slice.core.clone(), slice.task.clone())).copied();
        let (from, to) = self.window;
        let (begin, end) = (slice.begin.max(from), slice.end.min(to));
        if begin >= end {
            return;
        }
        let name_iid = Some(self.names.of(Named::Event, &slice.name));
        let r#type = Some(EventType::SliceBegin.into());
        self.event(begin, TrackEvent { r#type, track_uuid, name_iid, ..TrackEvent::default() });
        let r#type = Some(EventType::SliceEnd.into());
        self.event(end, TrackEvent { r#type, track_uuid, ..TrackEvent::default() });
    }

    fn sample(&mut self, sample: &Sample) {
        for (place, total) in &sample.changed {
            let event = TrackEvent {
                r#type: Some(EventType::Counter.into()),
                track_uuid: Some(COUNTERS + u64::from(*place)),
                counter_value: Some((*total).min(i64::MAX as u64) as i64),
                ..TrackEvent::default()
            };
            self.event(sample.at, event);
        }
    }
}

impl Iterator for Timeline {
    type Item = Vec<u8>;

    fn next(&mut self) -> Option<Vec<u8>> {
        while self.piece.len() < PIECE_BYTES {
            if let Some(span) = self.spans.next() {
                self.span(&span);
            } else if let Some(slice) = self.slices.next() {
                self.core_slice(&slice);
            } else if let Some(sample) = self.samples.next() {
                self.sample(&sample);
            } else {
                break;
            }
        }
        let room = Vec::with_capacity(PIECE_BYTES + 4096);
        Some(std::mem::replace(&mut self.piece, room)).filter(|piece| !piece.is_empty())
    }
}

/// The label that a total's name begins with.
fn scope_of(name: &str) -> &str {
    name.split_once('.').map_or(name, |(scope, _)| scope)
}

/// What a track is called below its device.
fn title(track: &Track) -> String {
    match (track.line.is_empty(), track.part) {
        (false, _) => format!("{} to {}", track.activity.name, track.line),
        (true, 0) => track.activity.name.to_owned(),
        (true, part) => format!("{} {part}", track.activity.name),
    }
}

/// What a slice is called, where its activity does not say it all.
fn name_of(track: &Track, detail: &Detail) -> Option<String> {
    match detail {
        Detail::Data(data) => {
            let bytes = if data.sent.is_empty() { &data.received } else { &data.sent };
            let more = if bytes.len() > NAME_BYTES { " ..." } else { "" };
            Some(format!("{}{more}", hex(&bytes[..bytes.len().min(NAME_BYTES)])))
        }
        Detail::Value(value) if track.activity.kind == Kind::Serial => {
            let character = u8::try_from(*value).ok()?;
            let quoted = match character {
                b' '..=b'~' => char::from(character).to_string(),
                _ => character.escape_ascii().to_string(),
            };
            Some(format!("'{quoted}'"))
        }
        Detail::Exception { name, number, .. } => {
            Some(number.map_or_else(|| (*name).to_owned(), |number| format!("{name} {number}")))
        }
        _ => None,
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests;

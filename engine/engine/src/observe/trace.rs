//! A run as a timeline, in the format of Perfetto (`ui.perfetto.dev`, `trace_processor`): activities of devices are
//! slices on tracks, with their details; so are those of cores; interrupts are flows from the device to the core that
//! takes them; totals, and the numbers of entries in FIFOs, are counters.
//!
//! The format has nanoseconds. Times are rounded down to them; a slice that does not begin and end at whole nanoseconds
//! has its picoseconds as arguments. Activities of skipped iterations of a polling loop are one slice if there are
//! many.
//!
//! Callers that know functions add [`CoreSlice`]s.

mod counters;
mod flows;
mod levels;
mod packets;
mod slices;
mod tasks;

use std::collections::BTreeMap;

use crate::activity::{Activities, Detail, Kind, Span, Track};
use crate::time::Ps;
pub use counters::{Counters, Sample};
use flows::Flows;
use levels::Level;
use packets::{
    CounterDescriptor, DebugAnnotation, EXPLICIT, EventType, Interned, InternedData, SEQ_INCREMENTAL_STATE_CLEARED,
    SEQ_NEEDS_INCREMENTAL_STATE, TracePacket, TrackDescriptor, TrackEvent,
};
use slices::{Slice, Slices, lanes};
pub use tasks::{CoreTasks, TaskSlice};

/// The least size of a piece, except for the last.
const PIECE_BYTES: usize = 1 << 20;
const PS_PER_NS: u64 = 1000;
/// All packets belong to one sequence.
const SEQUENCE: u32 = 1;
/// The number of a frame's bytes that its name shows.
const NAME_BYTES: usize = 4;

/// First identifiers of tracks: of scopes, of activities, of a core's functions, of counters.
const SCOPES: u64 = 1 << 32;
const TRACKS: u64 = 2 << 32;
const FUNCTIONS: u64 = 3 << 32;
const COUNTERS: u64 = 4 << 32;

/// An activity of a core, such as a function. Slices of one stack are nested; a slice is given where it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoreSlice {
    /// The core's label.
    pub core: String,
    /// The task; empty without one.
    pub task: String,
    /// The number of the core's stack of calls: several tasks may have one name.
    pub stack: u32,
    /// Its name.
    pub name: String,
    /// When it begins.
    pub begin: Ps,
    /// When it ends.
    pub end: Ps,
}

/// The contents of a timeline.
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
    /// Activities of cores, in the order of their begins; of those that begin at the same time, the outer one first.
    pub slices: Vec<CoreSlice>,
    /// The tasks that the cores ran, for cores with several.
    pub tasks: Vec<CoreTasks>,
}

/// The trace, one piece at a time.
#[derive(Debug)]
pub struct Timeline {
    devices: Slices,
    slices: std::vec::IntoIter<CoreSlice>,
    /// Periods of tasks, each with its track.
    task_slices: std::vec::IntoIter<(u64, TaskSlice)>,
    samples: std::vec::IntoIter<Sample>,
    /// The numbers of entries in FIFOs.
    levels: std::vec::IntoIter<Level>,
    window: (Ps, Ps),
    tracks: Vec<Track>,
    scopes: BTreeMap<String, u64>,
    /// Tracks of functions, by core and stack.
    functions: BTreeMap<(String, u32), u64>,
    flows: Flows,
    names: Names,
    piece: Vec<u8>,
}

/// Names. Each is written once.
#[derive(Debug, Default)]
struct Names {
    known: BTreeMap<(Named, String), u64>,
    new: InternedData,
}

/// The kind of a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Named {
    Category,
    Event,
    Argument,
}

impl Names {
    /// The number of a name. A new one is written with the next packet.
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
    /// The timeline of the recorded activities.
    pub fn new(activities: &Activities, source: Source) -> Timeline {
        let (from, to) = (source.from, source.to);
        let tracks = activities.tracks();
        let is_entry = |span: &Span| tracks[span.track as usize].activity.kind == Kind::Queue;
        let (entries, spans): (Vec<Span>, Vec<Span>) = activities.spans(from, to).into_iter().partition(is_entry);
        // Before that time, entries may be missing.
        let complete_from = from.max(activities.summary().complete_from);
        let flows = Flows::new(&spans, &tracks, &source.cores);
        let mut timeline = Timeline {
            devices: Slices::new(spans, &tracks, &flows, (from, to)),
            flows,
            slices: source.slices.into_iter(),
            task_slices: Vec::new().into_iter(),
            samples: Vec::new().into_iter(),
            levels: levels::levels(&entries, (complete_from, to)).into_iter(),
            window: (from, to),
            tracks,
            scopes: BTreeMap::new(),
            functions: BTreeMap::new(),
            names: Names::default(),
            piece: Vec::with_capacity(PIECE_BYTES + 4096),
        };
        let first = TracePacket { sequence_flags: Some(SEQ_INCREMENTAL_STATE_CLEARED), ..TracePacket::default() };
        timeline.packet(first);
        timeline.describe(&source.cores, &source.counters);
        timeline.describe_tasks(source.tasks);
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

    /// Writes the descriptions of tracks: the cores, then devices, each with its activities and its totals.
    fn describe(&mut self, cores: &[String], counters: &Counters) {
        let mut scopes: Vec<String> = cores.to_vec();
        let has_records: Vec<bool> = self.tracks_with_records();
        let active = self
            .tracks
            .iter()
            .zip(&has_records)
            .filter(|(_, has_records)| **has_records)
            .map(|(track, _)| track.scope.clone());
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
        for (number, lane) in lanes(self.slices.as_slice()).into_iter().enumerate() {
            let uuid = FUNCTIONS + number as u64;
            let name = if lane.task.is_empty() { "functions".to_owned() } else { format!("task {}", lane.task) };
            self.track(uuid, self.scopes.get(&lane.core).copied(), &name, Some(0), None);
            self.functions.extend(lane.stacks.into_iter().map(|stack| ((lane.core.clone(), stack), uuid)));
        }
        for index in (0..has_records.len()).filter(|index| has_records[*index]) {
            let track = self.tracks[index].clone();
            let parent = self.scopes.get(&track.scope).copied();
            let counter = (track.activity.kind == Kind::Queue).then_some(CounterDescriptor { unit_name: None });
            self.track(TRACKS + index as u64, parent, &title(&track), Some(index + 1), counter);
        }
        for (index, name) in all() {
            let parent = self.scopes.get(scope_of(name)).copied();
            let what = name.split_once('.').map_or(name.as_str(), |(_, what)| what);
            let rank = self.tracks.len() + 1 + index;
            let counter = CounterDescriptor { unit_name: None };
            self.track(COUNTERS + index as u64, parent, what, Some(rank), Some(counter));
        }
    }

    /// By track: whether anything was recorded on it.
    fn tracks_with_records(&self) -> Vec<bool> {
        let mut has_records = vec![false; self.tracks.len()];
        let queues = self.levels.as_slice().iter().map(|level| level.track);
        self.devices.tracks().chain(queues).for_each(|track| has_records[track as usize] = true);
        has_records
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

    fn slice(&mut self, slice: &Slice) {
        let track = self.tracks[slice.track as usize].clone();
        let mut event = TrackEvent {
            track_uuid: Some(TRACKS + u64::from(slice.track)),
            category_iids: vec![self.names.of(Named::Category, track.activity.kind.name())],
            debug_annotations: self.arguments(slice, &track),
            ..TrackEvent::default()
        };
        let mut names: Vec<String> = Vec::new();
        for detail in &slice.details {
            let name = name_of(&track, detail).unwrap_or_else(|| track.activity.name.to_owned());
            if !names.contains(&name) {
                names.push(name);
            }
        }
        match names.as_slice() {
            [name] if name == track.activity.name => event.name_iid = Some(self.names.of(Named::Event, name)),
            _ => event.name = Some(names.join(", ")),
        }
        let flows = slice.span.map(|place| self.flows.of(place)).unwrap_or_default();
        if track.activity.kind == Kind::Exception {
            event.terminating_flow_ids = flows;
        } else {
            event.flow_ids = flows;
        }
        if slice.begin == slice.end {
            event.r#type = Some(EventType::Instant.into());
            return self.event(slice.begin, event);
        }
        let (r#type, track_uuid) = (Some(EventType::SliceEnd.into()), event.track_uuid);
        event.r#type = Some(EventType::SliceBegin.into());
        self.event(slice.begin, event);
        self.event(slice.end, TrackEvent { r#type, track_uuid, ..TrackEvent::default() });
    }

    fn arguments(&mut self, slice: &Slice, track: &Track) -> Vec<DebugAnnotation> {
        let mut all = Vec::new();
        if let [detail] = slice.details.as_slice() {
            self.details(detail, &mut all);
        }
        if track.activity.kind == Kind::Interrupt {
            all.push(self.text("to", track.line.clone()));
        }
        let Slice { begin, end, .. } = slice;
        if slice.times > 1 {
            all.push(self.number("times", slice.times));
            all.push(self.number("busy_ps", slice.busy.0));
        } else if !begin.0.is_multiple_of(PS_PER_NS) || !end.0.is_multiple_of(PS_PER_NS) {
            all.push(self.number("begin_ps", begin.0));
            all.push(self.number("end_ps", end.0));
        }
        all
    }

    fn details(&mut self, detail: &Detail, all: &mut Vec<DebugAnnotation>) {
        match detail {
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
            Detail::Transaction(transaction) => {
                all.push(self.text("address", format!("{:#x}", transaction.address)));
                all.push(self.number("bytes", u64::from(transaction.bytes)));
                if let Some(value) = transaction.value {
                    all.push(self.text("value", format!("{value:#x}")));
                }
                if transaction.is_refused {
                    all.push(self.text("answer", "error".to_owned()));
                }
            }
            Detail::Exception { input, .. } => {
                if let Some(input) = input {
                    all.push(self.number("input", u64::from(*input)));
                }
            }
        }
    }

    fn core_slice(&mut self, slice: &CoreSlice) {
        let track_uuid = self.functions.get(&(slice.core.clone(), slice.stack)).copied();
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
            self.counter(sample.at, COUNTERS + u64::from(*place), *total);
        }
    }

    fn counter(&mut self, at: Ps, track_uuid: u64, value: u64) {
        let event = TrackEvent {
            r#type: Some(EventType::Counter.into()),
            track_uuid: Some(track_uuid),
            counter_value: Some(value.min(i64::MAX as u64) as i64),
            ..TrackEvent::default()
        };
        self.event(at, event);
    }
}

impl Iterator for Timeline {
    type Item = Vec<u8>;

    fn next(&mut self) -> Option<Vec<u8>> {
        while self.piece.len() < PIECE_BYTES {
            if let Some(slice) = self.devices.next() {
                self.slice(&slice);
            } else if let Some((track, slice)) = self.task_slices.next() {
                self.task_slice(track, &slice);
            } else if let Some(slice) = self.slices.next() {
                self.core_slice(&slice);
            } else if let Some(sample) = self.samples.next() {
                self.sample(&sample);
            } else if let Some(Level { at, track, entries }) = self.levels.next() {
                self.counter(at, TRACKS + u64::from(track), entries);
            } else {
                break;
            }
        }
        let room = Vec::with_capacity(PIECE_BYTES + 4096);
        Some(std::mem::replace(&mut self.piece, room)).filter(|piece| !piece.is_empty())
    }
}

/// The label with which a total's name begins.
fn scope_of(name: &str) -> &str {
    name.split_once('.').map_or(name, |(scope, _)| scope)
}

/// The name of a track below its device.
fn title(track: &Track) -> String {
    match (track.line.is_empty(), track.part) {
        (false, _) if track.activity.kind == Kind::Bus => format!("{} of {}", track.activity.name, track.line),
        (false, _) => format!("{} to {}", track.activity.name, track.line),
        (true, part) if track.activity.kind == Kind::Pin => format!("{} {part}", track.activity.name),
        (true, 0) => track.activity.name.to_owned(),
        (true, part) => format!("{} {part}", track.activity.name),
    }
}

/// The name of a slice, if it says more than the name of its activity.
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
        Detail::Transaction(transaction) => Some(transaction.what()),
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

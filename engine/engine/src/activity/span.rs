//! A span of time of an activity, as the recording has it and as it is passed on.

use std::fmt;
use std::sync::Arc;

use super::Track;
use crate::state::{Fresh, State};
use crate::time::{Cycles, Hz, Ps};

/// The first bytes of a frame are kept, up to this number; the rest is only counted.
const MOST_DATA: usize = 64;
const PS_PER_SECOND: u128 = 1_000_000_000_000;

/// The detail of a span.
#[derive(Clone, Debug, Default, PartialEq, Eq, State, Fresh)]
pub enum Detail {
    /// Nothing.
    #[default]
    None,
    /// The number of bytes that are moved.
    Bytes(u32),
    /// Bytes that are moved or erased, and where.
    Address {
        /// The first address: on the bus, or within the chip.
        address: u32,
        /// The number of bytes; 0 where it is not known.
        bytes: u32,
    },
    /// A value: a character, a result, a count.
    Value(u32),
    /// The bytes of a frame.
    Data(Box<Data>),
    /// An access on a bus.
    Transaction(Box<Transaction>),
    /// An exception or an interrupt that a core takes.
    Exception {
        /// The core's name for it.
        name: &'static str,
        /// The number, if several exceptions have that name.
        number: Option<u32>,
        /// For an interrupt, the core's input.
        input: Option<u32>,
    },
}

impl fmt::Display for Detail {
    /// As a user reads it; nothing for [`Detail::None`].
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Detail::None => Ok(()),
            Detail::Bytes(bytes) => write!(f, "{bytes} bytes"),
            Detail::Address { address, bytes: 0 } => write!(f, "{address:#x}"),
            Detail::Address { address, bytes } => write!(f, "{address:#x}, {bytes} bytes"),
            Detail::Value(value) => write!(f, "{value}"),
            Detail::Data(data) => data.fmt(f),
            Detail::Transaction(transaction) => transaction.fmt(f),
            Detail::Exception { name, number: Some(number), .. } => write!(f, "{name} {number}"),
            Detail::Exception { name, .. } => f.write_str(name),
        }
    }
}

impl fmt::Display for Data {
    /// The bytes that were sent and received, and the number of those that were not kept.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let side = |bytes: &[u8], total: u64| {
            let shown = bytes.iter().map(|byte| format!("{byte:02x}")).collect::<Vec<_>>().join(" ");
            let more = total - bytes.len() as u64;
            if more > 0 { format!("{shown} and {more} more") } else { shown }
        };
        let (sent, received) = (side(&self.sent, self.sent_bytes), side(&self.received, self.received_bytes));
        match (sent.is_empty(), received.is_empty()) {
            (false, false) => write!(f, "sent {sent}; received {received}"),
            (false, true) => write!(f, "sent {sent}"),
            (true, _) => write!(f, "received {received}"),
        }
    }
}

impl Detail {
    /// Adds the detail of a span that follows without a pause; false if the two can't be joined.
    pub(crate) fn join(&mut self, more: &Detail) -> bool {
        match (self, more) {
            (Detail::None, Detail::None) => true,
            (Detail::Bytes(sum), Detail::Bytes(more)) => {
                *sum = sum.saturating_add(*more);
                true
            }
            _ => false,
        }
    }

    /// Memory outside the span itself.
    fn heap_bytes(&self) -> usize {
        match self {
            Detail::Data(data) => size_of::<Data>() + data.sent.capacity() + data.received.capacity(),
            Detail::Transaction(_) => size_of::<Transaction>(),
            _ => 0,
        }
    }
}

/// An access on a bus.
#[derive(Clone, Debug, PartialEq, Eq, State, Fresh)]
pub struct Transaction {
    /// The label of the node that answers.
    pub target: Arc<str>,
    /// The offset from the first address of the target's range.
    pub offset: u32,
    /// The address.
    pub address: u32,
    /// The number of bytes.
    pub bytes: u32,
    /// True for a write.
    pub is_write: bool,
    /// The value that was read or written; not known of a burst, and of a read that was refused.
    pub value: Option<u32>,
    /// The answer was an error.
    pub is_refused: bool,
}

impl fmt::Display for Transaction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Transaction { bytes, value, .. } = self;
        write!(f, "{}, {bytes} bytes", self.what())?;
        value.map_or(Ok(()), |value| write!(f, ": {value:#x}"))?;
        if self.is_refused { f.write_str(", answered with an error") } else { Ok(()) }
    }
}

impl Transaction {
    /// The direction and the target: "read spi0 + 0x64".
    pub fn what(&self) -> String {
        let Transaction { target, offset, is_write, .. } = self;
        format!("{} {target} + {offset:#x}", if *is_write { "write" } else { "read" })
    }
}

/// The first bytes of a frame in each direction, and the number of all.
#[derive(Clone, Debug, Default, PartialEq, Eq, State, Fresh)]
pub struct Data {
    /// Bytes that the controller sent.
    pub sent: Vec<u8>,
    /// Bytes that it received.
    pub received: Vec<u8>,
    /// Bytes sent in all.
    pub sent_bytes: u64,
    /// Bytes received in all.
    pub received_bytes: u64,
    sending: Bits,
    receiving: Bits,
}

/// Bits of an incomplete byte.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State, Fresh)]
struct Bits {
    bits: u8,
    count: u32,
}

impl Bits {
    /// Adds bits, highest first, and gives complete bytes to `byte`.
    fn add(&mut self, count: u32, word: u32, mut byte: impl FnMut(u8)) {
        for bit in (0..count).rev() {
            // Of dummy clocks only the last 32 bits are known: the others are pulled up.
            let level = word.checked_shr(bit).unwrap_or(1) & 1;
            self.bits = self.bits << 1 | level as u8;
            self.count += 1;
            if self.count == 8 {
                byte(self.bits);
                *self = Bits::default();
            }
        }
    }
}

impl Data {
    /// Adds `count` bits in each direction that carries data.
    pub(super) fn add(&mut self, count: u32, sent: Option<u32>, received: Option<u32>) {
        let keep = |bytes: &mut Vec<u8>, total: &mut u64, byte: u8| {
            *total += 1;
            if bytes.len() < MOST_DATA {
                bytes.push(byte);
            }
        };
        if let Some(word) = sent {
            self.sending.add(count, word, |byte| keep(&mut self.sent, &mut self.sent_bytes, byte));
        }
        if let Some(word) = received {
            self.receiving.add(count, word, |byte| keep(&mut self.received, &mut self.received_bytes, byte));
        }
    }

    /// Repeats `count` times the bytes that came since the totals were (`sent`, `received`).
    pub(super) fn repeat(&mut self, (sent, received): (u64, u64), count: u64) {
        let again = |bytes: &mut Vec<u8>, total: &mut u64, since: u64| {
            let new = *total - since;
            let first = (since as usize).min(bytes.len());
            for index in 0..(new * count).min(MOST_DATA as u64) as usize {
                // Bytes that were not kept are not known, and none is kept after them.
                let Some(byte) = bytes.get(first + index).copied() else { break };
                if bytes.len() < MOST_DATA {
                    bytes.push(byte);
                }
            }
            *total += new * count;
        };
        again(&mut self.sent, &mut self.sent_bytes, sent);
        again(&mut self.received, &mut self.received_bytes, received);
    }

    /// Bytes so far.
    pub(super) fn totals(&self) -> (u64, u64) {
        (self.sent_bytes, self.received_bytes)
    }

    /// True if it has no incomplete byte.
    pub(super) fn is_whole(&self) -> bool {
        self.sending.count == 0 && self.receiving.count == 0
    }
}

/// The distance between repetitions of a span.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State, Fresh)]
pub(super) struct Step {
    /// The clock at whose edges the span begins and ends; 0 for none, and then `by` is in picoseconds.
    pub hz: u64,
    /// The number of edges or picoseconds.
    pub by: u64,
}

impl Step {
    /// The time `count` steps after `at`.
    #[inline]
    pub fn shift(self, at: Ps, count: u64) -> Ps {
        match Hz::new(self.hz) {
            None => at + Ps(self.by.saturating_mul(count)),
            Some(clock) => {
                let edge = clock.cycles_until_ceil(at).0;
                clock.ps_at_floor(Cycles(edge.saturating_add(self.by.saturating_mul(count))))
            }
        }
    }

    /// About the number of steps in a time.
    fn steps_in(self, time: Ps) -> u64 {
        let units = Hz::new(self.hz).map_or(time.0, |clock| clock.cycles_until_floor(time).0);
        units.checked_div(self.by).unwrap_or(0)
    }

    /// The step of `cycles` of `clock` for a span that begins and ends at `ends`, expressed in edges of `own` if
    /// needed. `None` if it can't be expressed exactly.
    #[inline]
    pub fn of(clock: Hz, cycles: u64, own: Option<Hz>, ends: (Ps, Ps)) -> Option<Step> {
        let picoseconds = u128::from(cycles) * PS_PER_SECOND;
        if picoseconds.is_multiple_of(u128::from(clock.get())) {
            return Some(Step { hz: 0, by: (picoseconds / u128::from(clock.get())) as u64 });
        }
        let is_edge = |clock: Hz, at: Ps| clock.edge_at_or_after(at) == at;
        own.into_iter().chain([clock]).find_map(|edges| {
            let steps = u128::from(cycles) * u128::from(edges.get());
            let in_step =
                steps.is_multiple_of(u128::from(clock.get())) && is_edge(edges, ends.0) && is_edge(edges, ends.1);
            in_step.then(|| Step { hz: edges.get(), by: (steps / u128::from(clock.get())) as u64 })
        })
    }
}

/// The repetitions of a span in an interval, together.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
pub struct Within {
    /// When the first one begins.
    pub begin: Ps,
    /// When the last one ends.
    pub end: Ps,
    /// Their number.
    pub times: u64,
    /// The sum of their durations.
    pub busy: Ps,
}

/// A span of time of an activity, or several spans that differ only in time.
#[derive(Clone, Debug, PartialEq, Eq, State, Fresh)]
pub struct Span {
    /// Its index in [`super::Activities::tracks`].
    pub track: u32,
    /// When it begins.
    pub begin: Ps,
    /// When it ends: not earlier.
    pub end: Ps,
    /// Its detail.
    pub detail: Detail,
    /// The number of repetitions: more than 1 where iterations of a polling loop were skipped.
    pub times: u64,
    pub(super) step: Step,
}

impl Span {
    /// Begin and end of repetition `nth`.
    #[inline]
    pub fn instance(&self, nth: u64) -> (Ps, Ps) {
        match nth {
            0 => (self.begin, self.end),
            _ => (self.step.shift(self.begin, nth), self.step.shift(self.end, nth)),
        }
    }

    /// Begins and ends of all repetitions, in the order of time. They do not overlap, except for entries of a FIFO.
    #[inline]
    pub fn instances(&self) -> impl DoubleEndedIterator<Item = (Ps, Ps)> {
        (0..self.times).map(|nth| self.instance(nth))
    }

    /// The repetitions that overlap `from..to`. The cost does not depend on the number of those before.
    #[inline]
    pub fn instances_within(&self, from: Ps, to: Ps) -> impl Iterator<Item = (Ps, Ps)> {
        let first = self.first(from.saturating_sub(self.end), |(_, end)| end > from);
        (first..self.times).map(|nth| self.instance(nth)).take_while(move |(begin, _)| *begin < to)
    }

    /// True if the other span has as many repetitions at the same distance, as spans of the same iterations have.
    #[inline]
    pub fn recurs_with(&self, other: &Span) -> bool {
        (self.times, self.step) == (other.times, other.step)
    }

    /// The number of repetitions that overlap `from..to`. The cost does not depend on their number.
    #[inline]
    pub fn times_within(&self, from: Ps, to: Ps) -> u64 {
        let begun = self.first(to.saturating_sub(self.begin), |(begin, _)| begin >= to);
        begun.saturating_sub(self.first(from.saturating_sub(self.end), |(_, end)| end > from))
    }

    /// The first repetition for which `holds` is true; it is true for all later ones. Probably that is the one about
    /// `ahead` after the first.
    fn first(&self, ahead: Ps, holds: impl Fn((Ps, Ps)) -> bool) -> u64 {
        let (mut low, mut high) = (0, self.times);
        let guess = self.step.steps_in(ahead).min(self.times);
        // In most cases it is next to the guess.
        for probe in [guess.saturating_sub(1), guess, guess + 1] {
            if low <= probe && probe < high {
                if holds(self.instance(probe)) { high = probe } else { low = probe + 1 }
            }
        }
        while low < high {
            let middle = low + (high - low) / 2;
            if holds(self.instance(middle)) { high = middle } else { low = middle + 1 }
        }
        low
    }

    /// When the last repetition ends.
    #[inline]
    pub fn last_end(&self) -> Ps {
        self.instance(self.times - 1).1
    }

    /// The time within `from..to` that all repetitions take together.
    #[inline]
    pub fn within(&self, from: Ps, to: Ps) -> Ps {
        self.instances_within(from, to).fold(Ps::ZERO, |sum, (begin, end)| sum + (end.min(to) - begin.max(from)))
    }

    /// All repetitions that overlap `from..to`, with their full durations; `None` without any.
    #[inline]
    pub fn whole_within(&self, from: Ps, to: Ps) -> Option<Within> {
        let first = self.first(from.saturating_sub(self.end), |(_, end)| end > from);
        let times = self.times_within(from, to);
        let last = first + times.checked_sub(1)?;
        let busy = match self.step.hz {
            0 => Ps((self.end - self.begin).0.saturating_mul(times)),
            // Edges of a clock are rounded one by one.
            _ => (first..=last).map(|nth| self.instance(nth)).fold(Ps::ZERO, |sum, (begin, end)| sum + (end - begin)),
        };
        Some(Within { begin: self.instance(first).0, end: self.instance(last).1, times, busy })
    }

    /// Its size in memory.
    pub(super) fn bytes(&self) -> usize {
        size_of::<Span>() + self.detail.heap_bytes()
    }
}

/// Each repetition of `spans` as a span of its own, in the order of begins; spans of joining tracks are joined.
pub(super) fn instances(spans: Vec<Span>, tracks: &[Track], (from, to): (Ps, Ps), most: usize) -> Vec<Span> {
    let mut all: Vec<Span> = Vec::new();
    for span in &spans {
        let room = most.saturating_sub(all.len());
        let each = span.instances_within(from, to).take(room);
        all.extend(each.map(|(begin, end)| Span { begin, end, times: 1, step: Step::default(), ..span.clone() }));
    }
    all.sort_by_key(|span| (span.begin, span.track));
    let mut last: Vec<Option<usize>> = vec![None; tracks.len()];
    let mut joined: Vec<Span> = Vec::with_capacity(all.len());
    for span in all {
        let before = last[span.track as usize].map(|place| &mut joined[place]);
        let joins = tracks[span.track as usize].activity.joins;
        if let Some(before) = before.filter(|before| joins && before.end == span.begin)
            && before.detail.join(&span.detail)
        {
            before.end = span.end;
        } else {
            last[span.track as usize] = Some(joined.len());
            joined.push(span);
        }
    }
    joined
}

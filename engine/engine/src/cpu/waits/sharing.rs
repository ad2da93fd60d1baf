//! Waits, and their attribution to devices' activities.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Within;
use super::intervals::Intervals;
use crate::activity::{Candidate, Kind, Ranks};
use crate::bus::Bus;
use crate::bus::device::DeviceId;
use crate::cpu::memory_system::Accounts;
use crate::state::{Fresh, State};
use crate::time::{Cycles, Ps};

/// Most pieces of an episode.
const MOST_PIECES: usize = 64;

/// How a wait was detected.
#[derive(Clone, Debug, PartialEq, Eq, State, Fresh)]
pub enum Found {
    /// The core polled a device.
    Looking(DeviceId),
    /// A chip on the wires of this device answered repeatedly: the core has waited only if the chip was busy.
    Answered(DeviceId),
    /// The core slept, and the interrupt of this device woke it.
    Asleep(Option<String>),
}

/// A period in which a core may have waited.
#[derive(Clone, Debug, State, Fresh)]
pub struct Episode {
    pub found: Found,
    pub whole: (Ps, Ps),
    /// The parts of it that are not in other episodes; empty for all of it.
    pub pieces: Vec<(Ps, Ps)>,
    /// Cycles that the core spent in accesses in these pieces.
    pub memory: Growth,
    /// The calls that were under way throughout.
    pub within: Arc<Within>,
}

/// Cycles by the numbers of sums of [`Accounts`], and by intervals until they are attributed.
#[derive(Clone, Debug, Default, PartialEq, Eq, State, Fresh)]
pub struct Growth(Vec<Grown>);

/// Growth of a sum in an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
struct Grown {
    interval: u32,
    sum: u32,
    cycles: u64,
}

impl Growth {
    /// Adds the growth between two moments of an interval; there is no earlier growth.
    pub fn extend(&mut self, interval: u32, from: &Accounts, to: &Accounts) {
        to.report_growth_since(from, |sum, cycles| self.0.push(Grown { interval, sum, cycles }));
    }

    /// Clears the growth.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Adds further growth.
    pub fn add(&mut self, more: &Growth) {
        more.0.iter().for_each(|grown| self.add_one(*grown));
    }

    fn add_one(&mut self, more: Grown) {
        match self.of(more) {
            Some(known) => known.cycles += more.cycles,
            None => self.0.push(more),
        }
    }

    /// Subtracts a part.
    pub fn remove(&mut self, part: &Growth) {
        for grown in &part.0 {
            if let Some(known) = self.of(*grown) {
                known.cycles = known.cycles.saturating_sub(grown.cycles);
            }
        }
    }

    fn of(&mut self, same: Grown) -> Option<&mut Grown> {
        self.0.iter_mut().find(|known| (known.interval, known.sum) == (same.interval, same.sum))
    }

    /// The sums by number, separately for each interval.
    #[cfg(test)]
    pub fn sums(&self) -> impl Iterator<Item = (u32, u64)> {
        self.0.iter().map(|grown| (grown.sum, grown.cycles))
    }

    /// The sums with their intervals.
    #[cfg(test)]
    pub fn by_interval(&self) -> impl Iterator<Item = (u32, u32, u64)> {
        self.0.iter().map(|grown| (grown.interval, grown.sum, grown.cycles))
    }

    /// The sums by name.
    pub fn named(&self, names: &[String]) -> Vec<(String, Cycles)> {
        let named = |grown: &Grown| Some((names.get(grown.sum as usize)?.clone(), Cycles(grown.cycles)));
        // In a fixed order, whichever came first.
        let mut sums: Vec<&Grown> = self.0.iter().collect();
        sums.sort_unstable_by_key(|grown| (grown.sum, grown.interval));
        sums.into_iter().filter_map(named).collect()
    }
}

impl Episode {
    /// The device that was polled.
    pub fn device(&self) -> Option<DeviceId> {
        match self.found {
            Found::Looking(device) | Found::Answered(device) => Some(device),
            Found::Asleep(_) => None,
        }
    }

    /// The parts of it that are not in other episodes.
    pub fn pieces(&self) -> &[(Ps, Ps)] {
        if self.pieces.is_empty() { std::slice::from_ref(&self.whole) } else { &self.pieces }
    }

    /// True if `more`, a later episode, continues this one.
    pub fn goes_on(&self, more: &Episode) -> bool {
        matches!(self.found, Found::Looking(_))
            && self.found == more.found
            && self.pieces.len() < MOST_PIECES
            && (Arc::ptr_eq(&self.within, &more.within) || self.within == more.within)
    }

    /// Merges both.
    pub fn append(&mut self, more: Episode) {
        if self.whole.1 != more.whole.0 {
            if self.pieces.is_empty() {
                self.pieces.push(self.whole);
            }
            self.pieces.push(more.whole);
        } else if let Some(last) = self.pieces.last_mut() {
            last.1 = more.whole.1;
        }
        self.whole.1 = more.whole.1;
        self.memory.add(&more.memory);
    }
}

/// Waits by activity. Activities are identified by their tracks.
#[derive(Clone, Debug, Default, PartialEq, Eq, State, Fresh)]
pub struct Waited {
    /// Picoseconds of waits for an activity.
    pub activities: BTreeMap<u32, u64>,
    /// Picoseconds in which the core polled a device without known activity, by the device's number.
    pub looking: BTreeMap<u32, u64>,
    /// Picoseconds in which the core slept without known activity, by the device whose interrupt woke it.
    pub asleep: BTreeMap<String, u64>,
    /// The part of all of that which the core spent in accesses.
    pub memory: Growth,
}

impl Waited {
    /// Adds further waits.
    pub fn add(&mut self, more: &Waited) {
        let add = |sums: &mut BTreeMap<u32, u64>, more: &BTreeMap<u32, u64>| {
            more.iter().for_each(|(key, time)| *sums.entry(*key).or_default() += time);
        };
        add(&mut self.activities, &more.activities);
        add(&mut self.looking, &more.looking);
        more.asleep.iter().for_each(|(by, time)| *self.asleep.entry(by.clone()).or_default() += time);
        self.memory.add(&more.memory);
    }
}

/// Attributed waits.
#[derive(Clone, Debug, Default, State, Fresh)]
pub struct Shared {
    /// All waits.
    pub all: Waited,
    /// Waits in ended calls of watched functions, by function.
    pub sections: BTreeMap<usize, Waited>,
    /// Waits in each call that may be under way: the function, and the call's number.
    open: BTreeMap<(usize, u64), Waited>,
    /// Waits of calls that have ended, in parts.
    ended: Vec<((usize, u64), Waited)>,
    /// Waits by call path.
    pub paths: BTreeMap<u32, Waited>,
}

impl Shared {
    /// Attributes an episode, also to intervals; returns its waits.
    pub fn share(
        &mut self,
        bus: &Bus,
        known: &mut KnownRanks,
        intervals: &mut Intervals,
        episode: &Episode,
    ) -> Option<Waited> {
        let parts = waited_by_interval(bus, known, intervals, episode);
        parts.iter().for_each(|part| intervals.add(part.interval, &part.waited));
        let waited = whole(parts)?;
        self.all.add(&waited);
        episode.within.sections.iter().for_each(|call| self.open.entry(*call).or_default().add(&waited));
        if let Some((path, _)) = episode.within.frames.last() {
            self.paths.entry(*path).or_default().add(&waited);
        }
        Some(waited)
    }

    /// Only these calls are still under way: waits of other calls are added to their functions, like their time.
    /// Returns those other calls.
    pub fn close_calls(&mut self, open: &[(usize, u64)]) -> &[((usize, u64), Waited)] {
        let known = self.ended.len();
        if self.open.keys().all(|call| open.contains(call)) {
            return &[];
        }
        for (call, waited) in std::mem::take(&mut self.open) {
            if open.contains(&call) {
                self.open.insert(call, waited);
            } else {
                self.sections.entry(call.0).or_default().add(&waited);
                self.ended.push((call, waited));
            }
        }
        &self.ended[known..]
    }

    /// Takes the waits of each ended call since the last call of this. Further waits of such a call may follow.
    pub fn take_ended(&mut self) -> Vec<((usize, u64), Waited)> {
        std::mem::take(&mut self.ended)
    }
}

/// The ranks of activities for each kind of wait that has occurred.
#[derive(Clone, Debug, Default, State, Fresh)]
pub struct KnownRanks(Vec<(Found, Ranks)>);

impl KnownRanks {
    fn of(&mut self, found: &Found) -> &mut Ranks {
        let known = self.0.iter().position(|(known, _)| known == found);
        let place = known.unwrap_or_else(|| {
            self.0.push((found.clone(), Ranks::default()));
            self.0.len() - 1
        });
        &mut self.0[place].1
    }
}

/// The waits in an episode; `None` if it was not a wait.
pub fn waited(bus: &Bus, known: &mut KnownRanks, episode: &Episode) -> Option<Waited> {
    whole(waited_by_interval(bus, known, &Intervals::default(), episode))
}

/// Waits in an interval.
#[derive(Debug, Default)]
struct Part {
    interval: u32,
    waited: Waited,
    /// Picoseconds without known activity.
    rest: u64,
}

/// All parts together.
fn whole(parts: Vec<Part>) -> Option<Waited> {
    parts.into_iter().map(|part| part.waited).reduce(|mut all, more| {
        all.add(&more);
        all
    })
}

/// The part of an interval.
fn part(parts: &mut Vec<Part>, interval: u32) -> &mut Part {
    let place = parts.iter().rposition(|part| part.interval == interval).unwrap_or_else(|| {
        parts.push(Part { interval, ..Part::default() });
        parts.len() - 1
    });
    &mut parts[place]
}

/// The waits in an episode, by interval; empty if it was not a wait.
fn waited_by_interval(bus: &Bus, known: &mut KnownRanks, intervals: &Intervals, episode: &Episode) -> Vec<Part> {
    let ranks = known.of(&episode.found);
    let found = |candidate: Candidate| match &episode.found {
        Found::Looking(device) => rank(bus, *device, candidate),
        Found::Answered(device) => rank_of_answer(bus, *device, candidate),
        Found::Asleep(by) => rank_of_sleep(bus, by.as_deref(), candidate),
    };
    let mut parts = Vec::new();
    if matches!(episode.found, Found::Answered(_)) && bus.activities.had_none(episode.whole, ranks, found) {
        return parts;
    }
    bus.activities.share(&intervals.cut(episode.pieces()), ranks, found, |(from, to), shares| {
        let Part { waited, rest, .. } = part(&mut parts, intervals.at(from));
        *rest += (to - from).0 - shares.iter().map(|(_, time)| time.0).sum::<u64>();
        shares.iter().for_each(|(track, time)| *waited.activities.entry(*track).or_default() += time.0);
    });
    // It has waited only if the chip was busy at some time.
    if matches!(episode.found, Found::Answered(_)) && parts.iter().all(|part| part.waited.activities.is_empty()) {
        return Vec::new();
    }
    for Part { waited, rest, .. } in parts.iter_mut().filter(|part| part.rest > 0) {
        match &episode.found {
            Found::Asleep(by) => drop(waited.asleep.insert(by.clone().unwrap_or_default(), *rest)),
            Found::Looking(device) | Found::Answered(device) => drop(waited.looking.insert(device.0, *rest)),
        }
    }
    for grown in &episode.memory.0 {
        // Accesses in a whole interval may be polls, which are waits by themselves.
        let interval = if intervals.are_none() { 0 } else { grown.interval };
        part(&mut parts, interval).waited.memory.add_one(Grown { interval: 0, ..*grown });
    }
    parts
}

/// Rank of an activity when the core polls a device: its chips' activities come before the wire to them.
fn rank(bus: &Bus, device: DeviceId, candidate: Candidate) -> Option<u8> {
    match (bus.hosts.get(candidate.scope), candidate.activity.kind) {
        (
            _,
            Kind::InPlace
            | Kind::Bus
            | Kind::Queue
            | Kind::Frame
            | Kind::Core
            | Kind::Interrupt
            | Kind::Exception
            | Kind::Led
            | Kind::Pin,
        ) => None,
        (Some(host), kind) if *host == device => Some(match kind {
            Kind::Busy => 0,
            Kind::Transfer | Kind::Conversion | Kind::Serial => 1,
            Kind::Wire => 2,
            _ => 3,
        }),
        // A chip on pins belongs to no controller.
        (None, Kind::Busy) => Some(4),
        _ => None,
    }
}

/// As [`rank`], for an answer, which is waited for only while a chip is busy.
fn rank_of_answer(bus: &Bus, device: DeviceId, candidate: Candidate) -> Option<u8> {
    rank(bus, device, candidate).filter(|_| candidate.activity.kind == Kind::Busy)
}

/// As [`rank`], for a sleep from which an interrupt of `woken_by` woke the core.
fn rank_of_sleep(bus: &Bus, woken_by: Option<&str>, candidate: Candidate) -> Option<u8> {
    let host = |scope: &str| bus.hosts.get(scope).copied();
    let is_own = woken_by
        .is_some_and(|scope| scope == candidate.scope || host(scope).is_some() && host(scope) == host(candidate.scope));
    let order = match candidate.activity.kind {
        Kind::InPlace
        | Kind::Bus
        | Kind::Queue
        | Kind::Frame
        | Kind::Core
        | Kind::Interrupt
        | Kind::Exception
        | Kind::Led
        | Kind::Pin => {
            return None;
        }
        Kind::Busy => 0,
        Kind::Transfer => 1,
        Kind::Conversion => 2,
        Kind::Serial => 3,
        Kind::Wire => 4,
        Kind::Other => 5,
        Kind::Timer => 6,
    };
    match (is_own, order) {
        // Firmware may let a timer wake it to poll the device for which it waits.
        (true, 6) => Some(20),
        (true, order) => Some(order),
        // A free-running timer or serial line is not waited for.
        (false, 0 | 1 | 4) => Some(10 + order),
        _ => None,
    }
}

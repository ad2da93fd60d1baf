//! Waits, and how they are shared out among what devices did.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::Within;
use super::intervals::Intervals;
use crate::activity::{Candidate, Kind, Ranks};
use crate::bus::Bus;
use crate::bus::device::DeviceId;
use crate::cpu::memory::Accounts;
use crate::state::{Fresh, State};
use crate::time::{Cycles, Ps};

/// An episode has as many pieces.
const MOST_PIECES: usize = 64;

/// How it was found that a core waits.
#[derive(Clone, Debug, PartialEq, Eq, State, Fresh)]
pub enum Found {
    /// It looked at a device.
    Looking(DeviceId),
    /// A chip behind this device answered, again and again: it has waited only if that was busy.
    Answered(DeviceId),
    /// It slept, and the interrupt of this device ended that.
    Asleep(Option<String>),
}

/// A time in which a core may have waited.
#[derive(Clone, Debug, State, Fresh)]
pub struct Episode {
    pub found: Found,
    pub whole: (Ps, Ps),
    /// What of it is not in other episodes; nothing for all of it.
    pub pieces: Vec<(Ps, Ps)>,
    /// Cycles that the core spent in accesses in these pieces.
    pub memory: Growth,
    /// The calls that lasted all the time.
    pub within: Arc<Within>,
}

/// Cycles by the numbers of sums of [`Accounts`], and by eras as long as it is not shared out what they were for.
#[derive(Clone, Debug, Default, PartialEq, Eq, State, Fresh)]
pub struct Growth(Vec<Grown>);

/// What a sum has grown by in an era.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
struct Grown {
    interval: u32,
    sum: u32,
    cycles: u64,
}

impl Growth {
    /// Adds what has come between two moments of an era, before which nothing of that has come.
    pub fn extend(&mut self, interval: u32, from: &Accounts, to: &Accounts) {
        to.report_growth_since(from, |sum, cycles| self.0.push(Grown { interval, sum, cycles }));
    }

    /// Nothing has come.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// Adds more.
    pub fn add(&mut self, more: &Growth) {
        more.0.iter().for_each(|grown| self.add_one(*grown));
    }

    fn add_one(&mut self, more: Grown) {
        match self.of(more) {
            Some(known) => known.cycles += more.cycles,
            None => self.0.push(more),
        }
    }

    /// Takes a part of it away.
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

    /// The sums by number, those of each era by themselves.
    #[cfg(test)]
    pub fn sums(&self) -> impl Iterator<Item = (u32, u64)> {
        self.0.iter().map(|grown| (grown.sum, grown.cycles))
    }

    /// The same with their eras.
    #[cfg(test)]
    pub fn by_interval(&self) -> impl Iterator<Item = (u32, u32, u64)> {
        self.0.iter().map(|grown| (grown.interval, grown.sum, grown.cycles))
    }

    /// By the names of sums.
    pub fn named(&self, names: &[String]) -> Vec<(String, Cycles)> {
        let named = |grown: &Grown| Some((names.get(grown.sum as usize)?.clone(), Cycles(grown.cycles)));
        // In one order, whatever came first.
        let mut sums: Vec<&Grown> = self.0.iter().collect();
        sums.sort_unstable_by_key(|grown| (grown.sum, grown.interval));
        sums.into_iter().filter_map(named).collect()
    }
}

impl Episode {
    /// The device that it was for.
    pub fn device(&self) -> Option<DeviceId> {
        match self.found {
            Found::Looking(device) | Found::Answered(device) => Some(device),
            Found::Asleep(_) => None,
        }
    }

    /// What of it is not in other episodes.
    pub fn pieces(&self) -> &[(Ps, Ps)] {
        if self.pieces.is_empty() { std::slice::from_ref(&self.whole) } else { &self.pieces }
    }

    /// True if another, which is later, is more of the same.
    pub fn goes_on(&self, more: &Episode) -> bool {
        matches!(self.found, Found::Looking(_))
            && self.found == more.found
            && self.pieces.len() < MOST_PIECES
            && (Arc::ptr_eq(&self.within, &more.within) || self.within == more.within)
    }

    /// Makes one of both.
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

/// What was waited for. Activities go by their tracks.
#[derive(Clone, Debug, Default, PartialEq, Eq, State, Fresh)]
pub struct Waited {
    /// Picoseconds in which an activity was waited for.
    pub activities: BTreeMap<u32, u64>,
    /// Picoseconds in which the core looked at a device, by its number, that was doing nothing known.
    pub looking: BTreeMap<u32, u64>,
    /// Picoseconds in which the core slept, and nothing known went on, by the device whose interrupt ended that.
    pub asleep: BTreeMap<String, u64>,
    /// Of all of that, what the core spent in accesses.
    pub memory: Growth,
}

impl Waited {
    /// Adds more.
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

/// Waits that are shared out.
#[derive(Clone, Debug, Default, State, Fresh)]
pub struct Shared {
    /// All of them.
    pub all: Waited,
    /// Those in calls of watched functions that have ended, by function.
    pub sections: BTreeMap<usize, Waited>,
    /// Those in each call that may be under way: the function, and the call's number.
    open: BTreeMap<(usize, u64), Waited>,
    /// What calls waited for that have ended, in parts.
    ended: Vec<((usize, u64), Waited)>,
    /// Those on call paths.
    pub paths: BTreeMap<u32, Waited>,
}

impl Shared {
    /// Shares an episode out, among eras, too: gives what was waited for.
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

    /// Only these calls are still under way: what others waited for goes to their functions, as their time does. Gives
    /// these others.
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

    /// What each call waited for that has ended, since this was last asked. More of a call may come later.
    pub fn take_ended(&mut self) -> Vec<((usize, u64), Waited)> {
        std::mem::take(&mut self.ended)
    }
}

/// What comes first of all that may go on, for each way to wait that there has been.
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

/// What was waited for in an episode; `None` if it was no wait.
pub fn waited(bus: &Bus, known: &mut KnownRanks, episode: &Episode) -> Option<Waited> {
    whole(waited_by_interval(bus, known, &Intervals::default(), episode))
}

/// What was waited for in an era.
#[derive(Debug, Default)]
struct Part {
    interval: u32,
    waited: Waited,
    /// Picoseconds in which nothing known went on.
    rest: u64,
}

/// All of it together.
fn whole(parts: Vec<Part>) -> Option<Waited> {
    parts.into_iter().map(|part| part.waited).reduce(|mut all, more| {
        all.add(&more);
        all
    })
}

/// The part of an era.
fn part(parts: &mut Vec<Part>, interval: u32) -> &mut Part {
    let place = parts.iter().rposition(|part| part.interval == interval).unwrap_or_else(|| {
        parts.push(Part { interval, ..Part::default() });
        parts.len() - 1
    });
    &mut parts[place]
}

/// What was waited for in an episode, by era; nothing if it was no wait.
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
    // It has waited only if the chip was busy at all.
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
        // Accesses in all of an era may be those of looks, which are waits by themselves.
        let interval = if intervals.are_none() { 0 } else { grown.interval };
        part(&mut parts, interval).waited.memory.add_one(Grown { interval: 0, ..*grown });
    }
    parts
}

/// In which order a look at a device is for what went on: what its chips do comes before the wire that leads to them.
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
        // What hangs on pins belongs to no controller.
        (None, Kind::Busy) => Some(4),
        _ => None,
    }
}

/// The same of an answer, which is waited for only while a chip is busy.
fn rank_of_answer(bus: &Bus, device: DeviceId, candidate: Candidate) -> Option<u8> {
    rank(bus, device, candidate).filter(|_| candidate.activity.kind == Kind::Busy)
}

/// The same of a sleep that an interrupt of `woken_by` has ended.
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
        // Firmware may let a timer wake it to look at what it waits for.
        (true, 6) => Some(20),
        (true, order) => Some(order),
        // A timer or a line that goes on by itself keeps nobody.
        (false, 0 | 1 | 4) => Some(10 + order),
        _ => None,
    }
}

//! Waits of a core: time in which it only polls a device, or sleeps, attributed to the devices' activities meanwhile
//! ([`crate::activity`]).
//!
//! A core waits from one load of a device's register to the next by the same instruction, if nothing was written to a
//! device between them and few instructions ran: it polls. A load that takes data out of a register
//! ([`crate::bus::device::Device::pops`]) is not a poll. When a chip behind a controller is busy, the core polls it by
//! frames on the wire: then it waits from one answer to the next, even if it sleeps between them.
//!
//! Skipped iterations of polling loops have no polls: the time from the last poll before them to the first after them
//! is a wait, too. A device may record its activity later, when its registers show it: waits are attributed after
//! another access to it, or at the end.

mod intervals;
mod path;
mod reported;
mod sharing;

pub use intervals::{CallsAtEdge, IntervalWaits};
pub use reported::Reporter;
pub use sharing::{Shared, Waited};

use std::sync::Arc;

use super::memory_system::Accounts;
use crate::bus::Bus;
use crate::bus::device::DeviceId;
use crate::observe::critical_path::Paths;
use crate::state::{Fresh, State};
use crate::time::{Cycles, Hz, Ps};
use intervals::Intervals;
use sharing::{Episode, Found, Growth, KnownRanks};

/// Most instructions from one poll of a device to the next, in a loop that only polls.
const MOST_BETWEEN: u64 = 64;
/// Most instructions from one answer of a chip to the next.
const MOST_BETWEEN_ANSWERS: u64 = 1 << 12;
/// Most loads from devices in a loop.
const MOST_LOADS: usize = 6;
/// Most instructions of polls that are not in an episode yet.
const MOST_IN_A_RUN: u64 = 1 << 12;
/// A device has recorded its activities older than this, if it was accessed since.
const REPORTED_AFTER: Ps = Ps::from_us(10);
/// Episodes younger than this are not checked for that.
const SHARED_AFTER: Ps = Ps::from_us(50);
/// Most episodes that wait for that.
const MOST_PENDING: usize = 1 << 10;

/// A core's state.
#[derive(Clone, Debug, Default, State, Fresh)]
struct Point {
    cycle: u64,
    instructions: u64,
    /// Cycles that it has slept.
    idle: u64,
    memory: Accounts,
}

impl Point {
    /// Copies `other`, reusing the memory of the accounts.
    fn become_as(&mut self, other: &Point) {
        (self.cycle, self.instructions, self.idle) = (other.cycle, other.instructions, other.idle);
        self.memory.become_as(&other.memory);
    }
}

/// The calls that a core is in.
#[derive(Clone, Debug, Default, PartialEq, Eq, State, Fresh)]
pub struct Within {
    /// Calls of watched functions: the function, and the number of the call.
    pub sections: Vec<(usize, u64)>,
    /// Calls on the call path: the path, and the cycle in which it began.
    pub frames: Vec<(u32, u64)>,
}

impl Within {
    /// The calls that were under way throughout.
    fn and(self: &Arc<Within>, later: &Arc<Within>) -> Arc<Within> {
        if Arc::ptr_eq(self, later) {
            return self.clone();
        }
        let both = self.frames.iter().zip(&later.frames).take_while(|(a, b)| a == b);
        let sections = self.sections.iter().filter(|call| later.sections.contains(call));
        Arc::new(Within { sections: sections.copied().collect(), frames: both.map(|(call, _)| *call).collect() })
    }
}

/// A load of a device's register.
#[derive(Clone, Debug, State, Fresh)]
struct Look {
    device: DeviceId,
    /// The instruction.
    pc: u32,
    /// Stores to devices before it.
    writes: u64,
    at: Point,
    within: Arc<Within>,
}

impl Default for Look {
    fn default() -> Look {
        Look { device: DeviceId(0), pc: 0, writes: 0, at: Point::default(), within: Arc::default() }
    }
}

impl Look {
    fn become_as(&mut self, other: &Look) {
        (self.device, self.pc, self.writes) = (other.device, other.pc, other.writes);
        self.at.become_as(&other.at);
        self.within.clone_from(&other.within);
    }

    /// True if `later` polls the same device, and few instructions ran between them.
    fn goes_on(&self, later: &Look, most_between: u64) -> bool {
        self.device == later.device && between(&self.at, &later.at) <= most_between
    }
}

/// A load that took data out of a device, which may be a chip's answer.
#[derive(Clone, Debug, State, Fresh)]
struct Answer {
    look: Look,
    /// Time before this point belongs to another answer.
    from: Point,
    /// Polls and sleeps since, which are waits by themselves.
    looked: Vec<(Ps, Ps)>,
    /// Accesses in these polls.
    memory: Growth,
}

impl Answer {
    fn new(look: Look) -> Answer {
        Answer { from: look.at.clone(), look, looked: Vec::new(), memory: Growth::default() }
    }

    /// Excludes a wait of another kind.
    fn leave_out(&mut self, (begin, end): (Ps, Ps)) {
        match self.looked.last_mut().filter(|last| last.1 == begin) {
            Some(last) => last.1 = end,
            None => self.looked.push((begin, end)),
        }
    }

    /// Sets the start of its time.
    fn begin(&mut self, from: &Point) {
        self.from.become_as(from);
        self.looked.clear();
        self.memory.clear();
    }
}

/// Polls by one instruction, one after the other, without other polls between them: they become an episode when it
/// ends.
#[derive(Debug, Default, State, Fresh)]
struct Run {
    /// The physical address, if the previous load was such a poll.
    addr: Option<u32>,
    /// Index of the first poll.
    place: usize,
    /// The last poll, if there is more than one.
    last: Option<Box<Look>>,
    spare: Option<Box<Look>>,
}

/// The waits of a core.
#[derive(Debug, State, Fresh)]
pub struct Waits {
    /// The core, by its index in the machine.
    core: u32,
    clock: Hz,
    /// Buffer for the current load.
    room: Option<Box<Look>>,
    looks: Vec<Look>,
    answers: Vec<Answer>,
    run: Run,
    /// Stores to devices so far.
    writes: u64,
    /// Polls before this point are in episodes.
    done: Point,
    /// Instructions that were counted without being run.
    skipped_instructions: u64,
    /// Sleep that has been seen.
    slept: u64,
    /// Episodes that are not attributed yet.
    pending: Vec<Episode>,
    ranks: KnownRanks,
    shared: Shared,
    intervals: Intervals,
}

/// Value of a device's register for a load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gives {
    /// Status of the device: the load is a poll.
    State,
    /// Data, which the load takes out.
    Data,
    /// Both in one register.
    Both,
}

/// A core's state when it accesses a device.
pub struct Moment<'a> {
    /// The accessing instruction.
    pub pc: u32,
    /// The core's cycle.
    pub cycle: u64,
    /// Its number of instructions.
    pub instructions: u64,
    /// Cycles that it has slept.
    pub idle: u64,
    /// Its time in accesses.
    pub memory: &'a Accounts,
    /// The calls that it is in.
    pub within: Arc<Within>,
}

impl Waits {
    /// The waits of a core with this clock that has slept for `slept` cycles.
    pub fn new(core: u32, clock: Hz, slept: u64) -> Waits {
        Waits {
            core,
            clock,
            room: None,
            looks: Vec::new(),
            answers: Vec::new(),
            run: Run::default(),
            writes: 0,
            done: Point::default(),
            skipped_instructions: 0,
            slept,
            pending: Vec::new(),
            ranks: KnownRanks::default(),
            shared: Shared::default(),
            intervals: Intervals::default(),
        }
    }

    /// Changes the rate of the core's clock: cycles are renumbered.
    pub fn change_clock(&mut self, rate: Hz) {
        self.end_run();
        self.clock = rate;
        self.looks.clear();
        self.answers.clear();
        self.done = Point::default();
        self.intervals.change_clock();
    }

    /// Counts iterations with `instructions` without running them. They equal one that began after `begun`
    /// instructions, so each of them has the same loads.
    pub fn skip(&mut self, begun: u64, instructions: u64) {
        self.end_run();
        let begun = begun.wrapping_sub(self.skipped_instructions);
        let answers = self.answers.iter_mut().map(|answer| &mut answer.look);
        for look in self.looks.iter_mut().chain(answers) {
            let is_in_each = look.at.instructions.wrapping_sub(begun).cast_signed() >= 0;
            if !is_in_each {
                look.at.instructions = look.at.instructions.wrapping_sub(instructions);
            }
        }
        self.skipped_instructions += instructions;
    }

    /// Makes polls in calls that equal `known` share that object.
    pub fn share_calls(&mut self, known: &Arc<Within>) {
        let looks = self.looks.iter_mut().map(|look| &mut look.within);
        let pending = self.pending.iter_mut().map(|episode| &mut episode.within);
        looks.chain(pending).filter(|within| within == &known).for_each(|within| within.clone_from(known));
    }

    /// Counts a store to a device.
    pub fn wrote(&mut self) {
        self.writes += 1;
    }

    /// Number of stores to devices.
    pub fn stores(&self) -> u64 {
        self.writes
    }

    fn time(&self, cycle: u64) -> Ps {
        self.clock.ps_at_floor(Cycles(cycle))
    }

    /// A load from the physical address `addr`: true if it is another poll like the previous one.
    #[inline]
    pub fn looks_again(&mut self, addr: u32, moment: &Moment) -> bool {
        let run = &mut self.run;
        if run.addr != Some(addr) {
            return false;
        }
        let begun = &self.looks[run.place];
        let instructions = moment.instructions.wrapping_sub(self.skipped_instructions);
        let before = run.last.as_deref().map_or(begun, |last| last);
        let goes_on = begun.pc == moment.pc
            && begun.writes == self.writes
            && begun.at.idle == moment.idle
            && instructions.wrapping_sub(before.at.instructions) <= MOST_BETWEEN
            && instructions.wrapping_sub(begun.at.instructions) <= MOST_IN_A_RUN
            && Arc::ptr_eq(&begun.within, &moment.within);
        if goes_on {
            let last = run.last.get_or_insert_with(|| {
                let mut last = run.spare.take().unwrap_or_default();
                last.become_as(begun);
                last
            });
            (last.at.cycle, last.at.instructions) = (moment.cycle, instructions);
            last.at.memory.become_as(moment.memory);
        }
        goes_on
    }

    /// Ends the run: the next poll is of another kind.
    fn end_run(&mut self) {
        if let Some(last) = self.run.last.take() {
            self.wait_since(self.run.place, &last);
            self.looks[self.run.place].become_as(&last);
            self.run.spare = Some(last);
        }
        self.run.addr = None;
    }

    /// Records a load of a register of `device`, at the physical address `addr`, with this kind of value.
    pub fn read(&mut self, bus: &Bus, device: DeviceId, addr: u32, gives: Gives, moment: Moment) {
        self.end_run();
        let Moment { pc, cycle, instructions, idle, memory, within } = moment;
        let mut now = self.room.take().unwrap_or_default();
        (now.device, now.pc, now.writes, now.within) = (device, pc, self.writes, within);
        (now.at.cycle, now.at.idle) = (cycle, idle);
        now.at.instructions = instructions.wrapping_sub(self.skipped_instructions);
        now.at.memory.become_as(memory);
        // Older loads are not continued.
        self.looks.retain(|before| between(&before.at, &now.at) <= MOST_BETWEEN);
        self.answers.retain(|before| between(&before.look.at, &now.at) <= MOST_BETWEEN_ANSWERS);
        match gives {
            Gives::State => self.looked(addr, &now),
            Gives::Data => self.answered(&now),
            // The first poll of an exchange stands for its answer: it has the same delay in each exchange.
            Gives::Both => {
                let is_first = self.looks.iter().all(|before| (before.pc, before.writes) != (pc, self.writes));
                self.looked(addr, &now);
                if is_first {
                    self.answered(&now);
                }
            }
        }
        self.share_reported(bus, Some(device), self.time(cycle), &now.within);
        self.room = Some(now);
    }

    /// Follows a poll of the device: if it was polled before, the core has waited since then.
    fn looked(&mut self, addr: u32, now: &Look) {
        let known = self.looks.iter().position(|look| look.pc == now.pc);
        let place = match known {
            None => remember(&mut self.looks, now.clone()),
            Some(place) => {
                let before = &self.looks[place];
                let is_awake = before.at.idle == now.at.idle;
                if is_awake && before.writes == now.writes && before.goes_on(now, MOST_BETWEEN) {
                    self.wait_since(place, now);
                }
                self.looks[place].become_as(now);
                place
            }
        };
        (self.run.addr, self.run.place) = (Some(addr), place);
    }

    /// Records a wait from one poll to another.
    fn wait_since(&mut self, place: usize, now: &Look) {
        let episode = self.waited_since(place, now);
        for answer in &mut self.answers {
            answer.leave_out(episode.whole);
            answer.memory.add(&episode.memory);
        }
        self.done.become_as(&now.at);
        self.add(episode);
    }

    fn waited_since(&self, place: usize, now: &Look) -> Episode {
        let before = &self.looks[place];
        let from = if before.at.cycle < self.done.cycle { &self.done } else { &before.at };
        Episode {
            found: Found::Looking(now.device),
            whole: (self.time(from.cycle), self.time(now.at.cycle)),
            pieces: Vec::new(),
            memory: self.intervals.grown(from, &now.at),
            within: before.within.and(&now.within),
        }
    }

    /// Follows a load of data: if a chip on its wires was busy since the last data, the core has waited.
    fn answered(&mut self, now: &Look) {
        let Some(place) = self.answers.iter().position(|answer| answer.look.pc == now.pc) else {
            remember(&mut self.answers, Answer::new(now.clone()));
            return;
        };
        let before = &self.answers[place];
        if before.look.goes_on(now, MOST_BETWEEN_ANSWERS) {
            let whole = (self.time(before.from.cycle), self.time(now.at.cycle));
            let pieces = without(whole, &before.looked);
            let mut memory = self.intervals.grown(&before.from, &now.at);
            memory.remove(&before.memory);
            let within = before.look.within.and(&now.within);
            let found = Found::Answered(now.device);
            self.done.become_as(&now.at);
            self.answers.iter_mut().for_each(|answer| answer.begin(&now.at));
            if !pieces.is_empty() {
                self.add(Episode { found, whole, pieces, memory, within });
            }
        }
        let answer = &mut self.answers[place];
        answer.look.become_as(now);
        answer.begin(&now.at);
    }

    /// Records a sleep up to now, which is `cycle`, if the core has slept; `idle` is its total sleep.
    pub fn woke(&mut self, bus: &Bus, cycle: u64, idle: u64, within: Arc<Within>) {
        let Some(cycles) = idle.checked_sub(self.slept).filter(|cycles| *cycles > 0) else { return };
        self.slept = idle;
        self.end_run();
        let ends = (self.time(cycle - cycles), self.time(cycle));
        self.answers.iter_mut().for_each(|answer| answer.leave_out(ends));
        self.add(Episode {
            found: Found::Asleep(bus.interrupted_last(self.core, ends)),
            whole: ends,
            pieces: Vec::new(),
            memory: Growth::default(),
            within: within.clone(),
        });
        if self.pending.len() > MOST_PENDING {
            self.share_reported(bus, None, ends.1, &within);
        }
    }

    /// True if the core has slept since that was last seen.
    #[inline]
    pub fn has_slept(&self, idle: u64) -> bool {
        idle > self.slept
    }

    fn add(&mut self, episode: Episode) {
        // Between two polls of one device there may be an answer.
        match self.pending.iter_mut().rev().take(2).find(|before| before.goes_on(&episode)) {
            Some(before) => before.append(episode),
            None => self.pending.push(episode),
        }
    }

    /// Attributes episodes for which devices have recorded their activities; `device` has been accessed at `now`, if
    /// any. The core is in these calls.
    fn share_reported(&mut self, bus: &Bus, device: Option<DeviceId>, now: Ps, within: &Within) {
        let is_reported = |episode: &Episode| {
            let old = episode.whole.1.saturating_add(REPORTED_AFTER) <= now;
            old && (episode.device().is_none() || episode.device() == device)
        };
        // Attributing many at once is cheaper.
        let is_recent = |first: &Episode| first.whole.0.saturating_add(SHARED_AFTER) > now;
        if self.pending.len() <= MOST_PENDING && self.pending.first().is_none_or(is_recent) {
            return;
        }
        // The last one may continue.
        let ready = self.pending.len().saturating_sub(1);
        let place = self.pending[..ready].iter().take_while(|episode| is_reported(episode)).count();
        let place = if self.pending.len() > MOST_PENDING { ready } else { place };
        if place > 0 {
            for episode in self.pending.drain(..place) {
                let waited = self.shared.share(bus, &mut self.ranks, &mut self.intervals, &episode);
                if let Some(critical) = &bus.critical {
                    path::add(bus, &mut critical.borrow_mut(), &mut self.ranks, self.core, &episode, waited);
                }
            }
            bus.activities.waited_to(self.core as usize, self.oldest());
            self.intervals.add_calls(self.shared.close_calls(&within.sections));
        }
        self.report_path(bus, now);
    }

    /// Reports all waits that ended before the first episode not attributed yet to the critical path.
    fn report_path(&self, bus: &Bus, now: Ps) {
        if let Some(critical) = &bus.critical
            && critical.borrow().has_incomplete(self.core)
        {
            critical.borrow_mut().waits_complete(self.core, self.begins().min().unwrap_or(now).min(now));
        }
    }

    /// Adds episodes not attributed yet to the critical path, with the activities recorded so far.
    pub fn add_to_path(&self, bus: &Bus, paths: &mut Paths) {
        let mut ranks = self.ranks.clone();
        for episode in self.pending.iter().chain(&self.run_so_far()) {
            let waited = sharing::waited(bus, &mut ranks, episode);
            path::add(bus, paths, &mut ranks, self.core, episode, waited);
        }
    }

    /// The current run of polls.
    fn run_so_far(&self) -> Option<Episode> {
        self.run.last.as_deref().map(|last| self.waited_since(self.run.place, last))
    }

    /// Takes the waits of calls that have ended, since the last call of this: see [`Shared::take_ended`].
    pub fn take_ended(&mut self) -> Vec<((usize, u64), Waited)> {
        self.shared.take_ended()
    }

    /// The start of the first time that may still be attributed.
    fn oldest(&self) -> Ps {
        self.begins().min().unwrap_or(Ps::ZERO)
    }

    /// Starts of the waits that may still be attributed.
    fn begins(&self) -> impl Iterator<Item = Ps> {
        let looks = self.looks.iter().map(|look| self.time(look.at.cycle));
        let answers = self.answers.iter().map(|answer| self.time(answer.look.at.cycle));
        let pending = self.pending.iter().map(|episode| episode.whole.0);
        looks.chain(answers).chain(pending)
    }

    /// All waits so far; pending episodes are attributed with the activities recorded so far.
    pub fn sums(&self, bus: &Bus) -> Shared {
        let mut shared = self.shared.clone();
        let mut ranks = self.ranks.clone();
        for episode in self.pending.iter().chain(&self.run_so_far()) {
            shared.share(bus, &mut ranks, &mut Intervals::default(), episode);
        }
        shared
    }
}

/// Adds a load, in place of the first if there are many; returns its index.
fn remember<T>(all: &mut Vec<T>, new: T) -> usize {
    if all.len() == MOST_LOADS {
        all.remove(0);
    }
    all.push(new);
    all.len() - 1
}

/// Number of instructions that ran between two points, without the skipped ones.
fn between(from: &Point, to: &Point) -> u64 {
    to.instructions.wrapping_sub(from.instructions)
}

/// The parts of an interval outside of others, which are in order.
fn without((begin, end): (Ps, Ps), others: &[(Ps, Ps)]) -> Vec<(Ps, Ps)> {
    let mut left = Vec::new();
    let mut from = begin;
    for (first, last) in others {
        if *first > from {
            left.push((from, (*first).min(end)));
        }
        from = from.max(*last);
    }
    if from < end {
        left.push((from, end));
    }
    left
}

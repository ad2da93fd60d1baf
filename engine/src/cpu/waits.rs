//! What a core waits for: time in which it does nothing but look at a device, or sleeps, shared out among what devices
//! do meanwhile ([`crate::activity`]).
//!
//! A core waits from one load of a device's register to the next of the same instruction, if nothing was written to a
//! device between them and few instructions ran: it looks whether something is over. A register that such a load takes
//! something out of ([`crate::bus::device::Device::pops`]) is no look. Where a chip behind a controller is busy, the
//! core asks it again and again by frames on the wire: it waits from one answer to the next then, also if it sleeps
//! between them.
//!
//! Iterations of polling loops that are skipped have no looks of their own: the time from the last before them to the
//! first behind them is waited just so. A device may tell later what it did, as its registers show it later: waits are
//! shared out when it has been accessed again, or in the end.

mod intervals;
mod path;
mod reported;
mod sharing;

pub use intervals::{CallsAtEdge, IntervalWaits};
pub use reported::Reporter;
pub use sharing::{Shared, Waited};

use std::sync::Arc;

use super::memory::Accounts;
use crate::bus::Bus;
use crate::bus::device::DeviceId;
use crate::observe::critical_path::Paths;
use crate::state::{Fresh, State};
use crate::time::{Cycles, Hz, Ps};
use intervals::Intervals;
use sharing::{Episode, Found, Growth, KnownRanks};

/// Instructions from one look at a device to the next, in a loop that does nothing else.
const MOST_BETWEEN: u64 = 64;
/// The same from one answer of a chip to the next.
const MOST_BETWEEN_ANSWERS: u64 = 1 << 12;
/// Instructions of a loop that load from devices.
const MOST_LOADS: usize = 6;
/// Instructions of looks that are not in an episode yet.
const MOST_IN_A_RUN: u64 = 1 << 12;
/// What a device did so long ago it has told, if it was accessed since.
const REPORTED_AFTER: Ps = Ps::from_us(10);
/// Up to then nobody looks whether it has.
const SHARED_AFTER: Ps = Ps::from_us(50);
/// Episodes that wait for that.
const MOST_PENDING: usize = 1 << 10;

/// Where a core stands.
#[derive(Clone, Debug, Default, State, Fresh)]
struct Point {
    cycle: u64,
    instructions: u64,
    /// Cycles that it has slept.
    idle: u64,
    memory: Accounts,
}

impl Point {
    /// The same as `other` from now on: without a new place for its accounts.
    fn become_as(&mut self, other: &Point) {
        (self.cycle, self.instructions, self.idle) = (other.cycle, other.instructions, other.idle);
        self.memory.become_as(&other.memory);
    }
}

/// The calls that a core is in.
#[derive(Clone, Debug, Default, PartialEq, Eq, State, Fresh)]
pub struct Within {
    /// Calls of watched functions: the function, and a number of the call.
    pub sections: Vec<(usize, u64)>,
    /// Calls on the call path: the path, and when it began.
    pub frames: Vec<(u32, u64)>,
}

impl Within {
    /// The calls that lasted all the time.
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

    /// True if `later` is of the same device, and few instructions ran between them.
    fn goes_on(&self, later: &Look, most_between: u64) -> bool {
        self.device == later.device && between(&self.at, &later.at) <= most_between
    }
}

/// A load that took something out of a device, which a chip may have answered.
#[derive(Clone, Debug, State, Fresh)]
struct Answer {
    look: Look,
    /// Up to here the time since is that of another answer.
    from: Point,
    /// When the core has looked or slept since, which are waits by themselves.
    looked: Vec<(Ps, Ps)>,
    /// What these looks took in accesses.
    memory: Growth,
}

impl Answer {
    fn new(look: Look) -> Answer {
        Answer { from: look.at.clone(), look, looked: Vec::new(), memory: Growth::default() }
    }

    /// The core has waited in another way.
    fn leave_out(&mut self, (begin, end): (Ps, Ps)) {
        match self.looked.last_mut().filter(|last| last.1 == begin) {
            Some(last) => last.1 = end,
            None => self.looked.push((begin, end)),
        }
    }

    /// Its time begins at `from`.
    fn begin(&mut self, from: &Point) {
        self.from.become_as(from);
        self.looked.clear();
        self.memory.clear();
    }
}

/// Looks of one instruction, one after the other, with nothing else looked at between them: they make an episode when
/// that has ended.
#[derive(Debug, Default, State, Fresh)]
struct Run {
    /// The physical address, if the load before was such a look.
    addr: Option<u32>,
    /// Which of the looks it began with.
    place: usize,
    /// The last look, if there have been more.
    last: Option<Box<Look>>,
    spare: Option<Box<Look>>,
}

/// What a core waits for.
#[derive(Debug, State, Fresh)]
pub struct Waits {
    /// The core, by its index in the machine.
    core: u32,
    clock: Hz,
    /// Room for the load that is looked at.
    room: Option<Box<Look>>,
    looks: Vec<Look>,
    answers: Vec<Answer>,
    run: Run,
    /// Stores to devices so far.
    writes: u64,
    /// Up to here looks are in episodes.
    done: Point,
    /// Instructions that were counted without being run.
    skipped_instructions: u64,
    /// Sleep that has been seen.
    slept: u64,
    /// What is not shared out yet.
    pending: Vec<Episode>,
    ranks: KnownRanks,
    shared: Shared,
    intervals: Intervals,
}

/// What a load of a device's register gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Gives {
    /// What the device is doing: the core looks.
    State,
    /// Data, which it takes out.
    Data,
    /// Both in one register.
    Both,
}

/// What a core is doing when it accesses a device.
pub struct Moment<'a> {
    /// The instruction that accesses.
    pub pc: u32,
    /// The core's cycle.
    pub cycle: u64,
    /// Its instructions.
    pub instructions: u64,
    /// What it has slept.
    pub idle: u64,
    /// Where its time in accesses has gone.
    pub memory: &'a Accounts,
    /// The calls that it is in.
    pub within: Arc<Within>,
}

impl Waits {
    /// Those of a core with this clock that has slept so many cycles.
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

    /// The core's clock runs at another rate: cycles have other numbers.
    pub fn change_clock(&mut self, rate: Hz) {
        self.end_run();
        self.clock = rate;
        self.looks.clear();
        self.answers.clear();
        self.done = Point::default();
        self.intervals.change_clock();
    }

    /// Iterations with so many instructions are counted without being run. They are like one that began after `begun`
    /// instructions, so each has the loads that were in that.
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

    /// What was looked at in these calls, which are the same as those that are known, was so in these themselves.
    pub fn share_calls(&mut self, known: &Arc<Within>) {
        let looks = self.looks.iter_mut().map(|look| &mut look.within);
        let pending = self.pending.iter_mut().map(|episode| &mut episode.within);
        looks.chain(pending).filter(|within| within == &known).for_each(|within| within.clone_from(known));
    }

    /// A store to a device.
    pub fn wrote(&mut self) {
        self.writes += 1;
    }

    /// Stores to devices so far.
    pub fn stores(&self) -> u64 {
        self.writes
    }

    fn time(&self, cycle: u64) -> Ps {
        self.clock.ps_at_floor(Cycles(cycle))
    }

    /// A load from the physical address `addr`: true if it is one more look like the one before.
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

    /// What is looked at next is something else.
    fn end_run(&mut self) {
        if let Some(last) = self.run.last.take() {
            self.wait_since(self.run.place, &last);
            self.looks[self.run.place].become_as(&last);
            self.run.spare = Some(last);
        }
        self.run.addr = None;
    }

    /// A register of `device`, at the physical address `addr`, has been loaded, which gives something.
    pub fn read(&mut self, bus: &Bus, device: DeviceId, addr: u32, gives: Gives, moment: Moment) {
        self.end_run();
        let Moment { pc, cycle, instructions, idle, memory, within } = moment;
        let mut now = self.room.take().unwrap_or_default();
        (now.device, now.pc, now.writes, now.within) = (device, pc, self.writes, within);
        (now.at.cycle, now.at.idle) = (cycle, idle);
        now.at.instructions = instructions.wrapping_sub(self.skipped_instructions);
        now.at.memory.become_as(memory);
        // What was so long ago is not gone on with.
        self.looks.retain(|before| between(&before.at, &now.at) <= MOST_BETWEEN);
        self.answers.retain(|before| between(&before.look.at, &now.at) <= MOST_BETWEEN_ANSWERS);
        match gives {
            Gives::State => self.looked(addr, &now),
            Gives::Data => self.answered(&now),
            // What is looked at first of an exchange stands for its answer: it is as late as that in each of them.
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

    /// The device has been looked at: if it has been before, the core has waited since then.
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

    /// The core has waited from a look up to another one.
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

    /// The device has given something: where a chip behind it was busy since it did so the last time, the core has
    /// waited.
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

    /// The core may have slept up to now, which is `cycle`: `idle` is what it has slept in all.
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
        // Between two of one device there may be an answer.
        match self.pending.iter_mut().rev().take(2).find(|before| before.goes_on(&episode)) {
            Some(before) => before.append(episode),
            None => self.pending.push(episode),
        }
    }

    /// Shares out what `device`, if one has been accessed at `now`, has told of by now; the core is in these calls.
    fn share_reported(&mut self, bus: &Bus, device: Option<DeviceId>, now: Ps, within: &Within) {
        let is_reported = |episode: &Episode| {
            let old = episode.whole.1.saturating_add(REPORTED_AFTER) <= now;
            old && (episode.device().is_none() || episode.device() == device)
        };
        // Many at once take less.
        let is_recent = |first: &Episode| first.whole.0.saturating_add(SHARED_AFTER) > now;
        if self.pending.len() <= MOST_PENDING && self.pending.first().is_none_or(is_recent) {
            return;
        }
        // The last one may go on.
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

    /// The critical path has all waits that ended before what is still to be shared out.
    fn report_path(&self, bus: &Bus, now: Ps) {
        if let Some(critical) = &bus.critical
            && critical.borrow().has_incomplete(self.core)
        {
            critical.borrow_mut().waits_complete(self.core, self.begins().min().unwrap_or(now).min(now));
        }
    }

    /// Adds what is not shared out yet to the critical path, as far as devices have told.
    pub fn add_to_path(&self, bus: &Bus, paths: &mut Paths) {
        let mut ranks = self.ranks.clone();
        for episode in self.pending.iter().chain(&self.run_so_far()) {
            let waited = sharing::waited(bus, &mut ranks, episode);
            path::add(bus, paths, &mut ranks, self.core, episode, waited);
        }
    }

    /// Looks that still go on.
    fn run_so_far(&self) -> Option<Episode> {
        self.run.last.as_deref().map(|last| self.waited_since(self.run.place, last))
    }

    /// What calls that have ended waited for, since this was last asked: see [`Shared::take_ended`].
    pub fn take_ended(&mut self) -> Vec<((usize, u64), Waited)> {
        self.shared.take_ended()
    }

    /// From here on something may still be shared out.
    fn oldest(&self) -> Ps {
        self.begins().min().unwrap_or(Ps::ZERO)
    }

    /// When what may still be shared out began.
    fn begins(&self) -> impl Iterator<Item = Ps> {
        let looks = self.looks.iter().map(|look| self.time(look.at.cycle));
        let answers = self.answers.iter().map(|answer| self.time(answer.look.at.cycle));
        let pending = self.pending.iter().map(|episode| episode.whole.0);
        looks.chain(answers).chain(pending)
    }

    /// All so far: what is not shared out yet is, as far as devices have told.
    pub fn sums(&self, bus: &Bus) -> Shared {
        let mut shared = self.shared.clone();
        let mut ranks = self.ranks.clone();
        for episode in self.pending.iter().chain(&self.run_so_far()) {
            shared.share(bus, &mut ranks, &mut Intervals::default(), episode);
        }
        shared
    }
}

/// Adds one more load, in place of the first where there are many: where it is.
fn remember<T>(all: &mut Vec<T>, new: T) -> usize {
    if all.len() == MOST_LOADS {
        all.remove(0);
    }
    all.push(new);
    all.len() - 1
}

/// Instructions that ran between two points, without those that were skipped.
fn between(from: &Point, to: &Point) -> u64 {
    to.instructions.wrapping_sub(from.instructions)
}

/// What is left of an interval without others, which are in order.
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

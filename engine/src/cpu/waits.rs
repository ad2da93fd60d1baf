//! What a core waits for: time in which it does nothing but look at a device, or sleeps, shared out among what devices
//! do meanwhile ([`crate::activity`]).
//!
//! A core waits from one load of a device's register to the next of the same instruction, if nothing was written to a
//! device between them and few instructions ran: it looks whether something is over. A register that such a load takes
//! something out of ([`crate::bus::device::Device::pops`]) is no look. Where a chip behind a controller is busy, the
//! core asks it again and again by frames on the wire: it waits from one answer to the next then.
//!
//! Iterations of polling loops that are skipped have no looks of their own: the time from the last before them to the
//! first behind them is waited just so. A device may tell later what it did, as its registers show it later: waits are
//! shared out when it has been accessed again, or in the end.

mod sharing;
mod told;

pub use sharing::{Shared, Waited};

use std::sync::Arc;

use super::memory::Accounts;
use crate::bus::Bus;
use crate::bus::device::DeviceId;
use crate::time::{Cycles, Hz, Ps};
use sharing::{Episode, Found, Growth};

/// Instructions from one look at a device to the next, in a loop that does nothing else.
const MOST_BETWEEN: u64 = 64;
/// The same from one answer of a chip to the next.
const MOST_BETWEEN_ANSWERS: u64 = 1 << 12;
/// Instructions of a loop that load from devices.
const MOST_LOADS: usize = 6;
/// What a device did so long ago it has told, if it was accessed since.
const TOLD_AFTER: Ps = Ps::from_us(10);
/// Episodes that wait for that.
const MOST_PENDING: usize = 1 << 10;

/// Where a core stands.
#[derive(Clone, Debug, Default)]
struct Point {
    cycle: u64,
    instructions: u64,
    /// Cycles that it has slept.
    idle: u64,
    memory: Accounts,
}

/// The calls that a core is in.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
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
#[derive(Clone, Debug)]
struct Look {
    device: DeviceId,
    /// The instruction.
    pc: u32,
    /// Stores to devices before it.
    writes: u64,
    at: Point,
    within: Arc<Within>,
}

/// A load that took something out of a device, which a chip may have answered.
#[derive(Clone, Debug)]
struct Answer {
    look: Look,
    /// Up to here the time since is that of another answer.
    from: Point,
    /// When the core has looked since.
    looked: Vec<(Ps, Ps)>,
    /// What these looks took in accesses.
    memory: Growth,
}

impl Answer {
    fn new(look: Look) -> Answer {
        Answer { from: look.at.clone(), look, looked: Vec::new(), memory: Growth::default() }
    }
}

/// What a core waits for.
#[derive(Debug)]
pub struct Waits {
    clock: Hz,
    looks: Vec<Look>,
    answers: Vec<Answer>,
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
    shared: Shared,
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
    pub fn new(clock: Hz, slept: u64) -> Waits {
        Waits {
            clock,
            looks: Vec::new(),
            answers: Vec::new(),
            writes: 0,
            done: Point::default(),
            skipped_instructions: 0,
            slept,
            pending: Vec::new(),
            shared: Shared::default(),
        }
    }

    /// The core's clock runs at another rate: cycles have other numbers.
    pub fn change_clock(&mut self, rate: Hz) {
        self.clock = rate;
        self.looks.clear();
        self.answers.clear();
        self.done = Point::default();
    }

    /// Iterations with so many instructions are counted without being run. They are like one that began after `begun`
    /// instructions, so each has the loads that were in that.
    pub fn skip(&mut self, begun: u64, instructions: u64) {
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

    /// A store to a device.
    pub fn wrote(&mut self) {
        self.writes += 1;
    }

    fn time(&self, cycle: u64) -> Ps {
        self.clock.ps_at_floor(Cycles(cycle))
    }

    /// A register of `device` has been loaded, which gives something.
    pub fn read(&mut self, bus: &Bus, device: DeviceId, gives: Gives, moment: Moment) {
        let Moment { pc, cycle, instructions, idle, memory, within } = moment;
        let instructions = instructions.wrapping_sub(self.skipped_instructions);
        let at = Point { cycle, instructions, idle, memory: memory.clone() };
        let look = Look { device, pc, writes: self.writes, at, within: within.clone() };
        // What was so long ago is not gone on with.
        self.looks.retain(|before| between(&before.at, &look.at) <= MOST_BETWEEN);
        self.answers.retain(|before| between(&before.look.at, &look.at) <= MOST_BETWEEN_ANSWERS);
        match gives {
            Gives::State => self.looked(look),
            Gives::Data => self.answered(look),
            // What is looked at first of an exchange stands for its answer: it is as late as that in each of them.
            Gives::Both => {
                let is_first = self.looks.iter().all(|before| (before.pc, before.writes) != (pc, self.writes));
                self.looked(look.clone());
                if is_first {
                    self.answered(look);
                }
            }
        }
        self.share_told(bus, device, self.time(cycle), &within);
    }

    fn looked(&mut self, look: Look) {
        let Some(before) = replaced(&mut self.looks, look.clone(), |look| look.pc) else { return };
        let goes_on = before.device == look.device
            && before.writes == look.writes
            && before.at.idle == look.at.idle
            && between(&before.at, &look.at) <= MOST_BETWEEN;
        if !goes_on {
            return;
        }
        let from = if before.at.cycle < self.done.cycle { self.done.clone() } else { before.at };
        let ends = (self.time(from.cycle), self.time(look.at.cycle));
        let memory = Growth::between(&from.memory, &look.at.memory);
        for answer in &mut self.answers {
            match answer.looked.last_mut().filter(|last| last.1 == ends.0) {
                Some(last) => last.1 = ends.1,
                None => answer.looked.push(ends),
            }
            answer.memory.add(&memory);
        }
        let within = before.within.and(&look.within);
        self.done = look.at;
        self.add(Episode { found: Found::Looking(look.device), whole: ends, pieces: vec![ends], memory, within });
    }

    /// The device has given something: where a chip behind it was busy since it did so the last time, the core has
    /// waited.
    fn answered(&mut self, look: Look) {
        let Some(before) = replaced(&mut self.answers, Answer::new(look.clone()), |answer| answer.look.pc) else {
            return;
        };
        let goes_on = before.look.device == look.device
            && before.look.at.idle == look.at.idle
            && between(&before.look.at, &look.at) <= MOST_BETWEEN_ANSWERS;
        if !goes_on {
            return;
        }
        let from = &before.from;
        let whole = (self.time(from.cycle), self.time(look.at.cycle));
        let mut memory = Growth::between(&from.memory, &look.at.memory);
        memory.remove(&before.memory);
        self.add(Episode {
            found: Found::Answered(look.device),
            whole,
            pieces: without(whole, &before.looked),
            memory,
            within: before.look.within.and(&look.within),
        });
        let others = self.answers.iter_mut().filter(|answer| answer.look.pc != look.pc);
        others.for_each(|answer| *answer = Answer { from: look.at.clone(), ..Answer::new(answer.look.clone()) });
        self.done = look.at;
    }

    /// The core may have slept up to now, which is `cycle`: `idle` is what it has slept in all.
    pub fn woke(&mut self, bus: &Bus, cycle: u64, idle: u64, within: Arc<Within>) {
        let Some(cycles) = idle.checked_sub(self.slept).filter(|cycles| *cycles > 0) else { return };
        self.slept = idle;
        let ends = (self.time(cycle - cycles), self.time(cycle));
        self.add(Episode {
            found: Found::Asleep(bus.activities.raised_last(ends.1)),
            whole: ends,
            pieces: vec![ends],
            memory: Growth::default(),
            within,
        });
    }

    /// True if the core has slept since that was last seen.
    #[inline]
    pub fn has_slept(&self, idle: u64) -> bool {
        idle > self.slept
    }

    fn add(&mut self, episode: Episode) {
        match self.pending.last_mut() {
            Some(last) if last.goes_on(&episode) => last.append(episode),
            _ => self.pending.push(episode),
        }
    }

    /// Shares out what `device`, which has been accessed at `now`, has told of by now; the core is in these calls.
    fn share_told(&mut self, bus: &Bus, device: DeviceId, now: Ps, within: &Within) {
        let is_told = |episode: &Episode| {
            let old = episode.whole.1.saturating_add(TOLD_AFTER) <= now;
            old && episode.device().is_none_or(|of| of == device)
        };
        // The last one may go on.
        let ready = self.pending.len().saturating_sub(1);
        let place = self.pending[..ready].iter().take_while(|episode| is_told(episode)).count();
        let place = if self.pending.len() > MOST_PENDING { ready } else { place };
        if place > 0 {
            let told: Vec<Episode> = self.pending.drain(..place).collect();
            for episode in told {
                bus.activities.waited_to(episode.whole.0.min(self.oldest()));
                self.shared.share(bus, &episode);
            }
            self.shared.close_calls(&within.sections);
        }
    }

    /// From here on something may still be shared out.
    fn oldest(&self) -> Ps {
        let looks = self.looks.iter().map(|look| self.time(look.at.cycle));
        let answers = self.answers.iter().map(|answer| self.time(answer.look.at.cycle));
        let pending = self.pending.iter().map(|episode| episode.whole.0);
        looks.chain(answers).chain(pending).min().unwrap_or(Ps::ZERO)
    }

    /// All so far: what is not shared out yet is, as far as devices have told.
    pub fn sums(&self, bus: &Bus) -> Shared {
        let mut shared = self.shared.clone();
        self.pending.iter().for_each(|episode| shared.share(bus, episode));
        shared
    }
}

/// Puts something in place of what was there of the same instruction: gives that.
fn replaced<T>(all: &mut Vec<T>, new: T, pc: impl Fn(&T) -> u32) -> Option<T> {
    if let Some(place) = all.iter().position(|known| pc(known) == pc(&new)) {
        return Some(std::mem::replace(&mut all[place], new));
    }
    if all.len() == MOST_LOADS {
        all.remove(0);
    }
    all.push(new);
    None
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

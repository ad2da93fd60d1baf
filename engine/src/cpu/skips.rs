//! Skips rounds of a polling loop, with exactly the result of running them.
//!
//! A loop that was found is run on, instruction by instruction, with a look at everything each time that it passes the
//! instruction at which it was found (several times a round, if that belongs to a loop within the loop): the core
//! itself, the memory that the loop wrote, events to come, and the lists of the devices that it accessed. Once nothing
//! has changed since the first look but times and totals, what lies between is a round, and the next rounds are the
//! same, up to the next event, the core's horizon, or the first deadline that a device names; all of them but the last
//! are put behind at once.

use super::polls::Polls;
use super::rounds::{LONGEST_ROUND, Lists, MOST_ENTRIES, MOST_PASSES, Round, TRIES, View};
use crate::bus::Bus;
use crate::time::Ps;

/// Everything that a round may change, but what it wrote.
struct Moment<C: Skips> {
    pc: u32,
    results: C::Results,
    state: C::State,
    cycles: u64,
    events: (u64, Ps),
    devices: Lists,
    /// Changes of wires that were recorded so far.
    waves_told: u64,
}

/// A core that skips rounds of polling loops.
pub(crate) trait Skips: Sized {
    /// The registers that instructions leave behind.
    type Results: PartialEq;
    /// All the rest that the core is itself made of, with its totals.
    type State;

    /// What watches its reads of devices.
    fn polls(&mut self) -> &mut Polls;

    /// Its time, and what it accessed since [`Skips::forget_touched`].
    fn view(&self) -> View;

    /// Forgets what it accessed.
    fn forget_touched(&mut self);

    /// The address of the next instruction.
    fn pc(&self) -> u32;

    /// Instructions so far.
    fn instructions(&self) -> u64;

    /// The registers now.
    fn results(&self) -> Self::Results;

    /// The rest now.
    fn state(&self, bus: &Bus) -> Self::State;

    /// True if there is room for code that has yet to be decoded.
    fn has_room(&self) -> bool {
        true
    }

    /// True if no store is on its way that a device has seen already.
    fn is_settled(&self, _bus: &Bus) -> bool {
        true
    }

    /// True if it is about to run the instruction at `head`.
    fn is_at(&self, head: u32) -> bool {
        self.pc() == head
    }

    /// One instruction, or a wait for its fetch. What it writes is remembered in `round` first. `None` if something
    /// comes up that the outer loop has to see before it, or if it changes more than registers and memory.
    fn walk_one(&mut self, bus: &mut Bus, round: &mut Round) -> Option<()>;

    /// True if it goes on now, in state `after`, as it did from `before` in cycle `since`.
    fn goes_on_as(&self, since: u64, before: &Self::State, after: &Self::State) -> bool;

    /// The cycle in which it has to stop, going by what the bus has scheduled by now.
    fn last_cycle(&mut self, bus: &Bus) -> u64;

    /// Counts so many more rounds like the one from `before` to `after`, of so many cycles in all.
    fn put_behind(&mut self, before: &Self::State, after: &Self::State, round: &Round, rounds: u64, cycles: u64);

    /// Runs a round or two, to see whether the registers come back to what they are: most loops that don't poll show it
    /// here.
    fn goes_round(&mut self, bus: &mut Bus) -> Option<()> {
        let (head, results, mut round) = (self.pc(), self.results(), Round::default());
        for _ in 0..MOST_PASSES {
            walk(self, bus, head, &mut round)?;
            if self.results() == results {
                return Some(());
            }
        }
        None
    }

    /// Puts rounds of the loop at the current address behind, if it polls.
    #[cold]
    #[inline(never)]
    fn skip_rounds(&mut self, bus: &mut Bus) {
        self.polls().look();
        let skipped = try_to_skip(self, bus).is_some();
        self.polls().looked(skipped);
    }
}

fn try_to_skip<C: Skips>(core: &mut C, bus: &mut Bus) -> Option<()> {
    if !core.has_room() || bus.map.len() > MOST_ENTRIES {
        return None;
    }
    core.goes_round(bus)?;
    (0..TRIES).find_map(|_| {
        core.is_settled(bus).then_some(())?;
        let before = moment(core, bus);
        let (after, round, rounds) = find_round(core, bus, &before)?;
        let (view, cycles) = (core.view(), rounds * (after.cycles - before.cycles));
        core.put_behind(&before.state, &after.state, &round, rounds, cycles);
        core.polls().skipped_cycles += cycles;
        view.move_devices_on(bus, rounds, &before.devices, after.devices);
        Some(())
    })
}

/// Runs until everything is again as it was, and will be so often that it is worth while: how often. `None` if that
/// does not happen soon.
fn find_round<C: Skips>(core: &mut C, bus: &mut Bus, before: &Moment<C>) -> Option<(Moment<C>, Round, u64)> {
    core.forget_touched();
    let mut round = Round::default();
    let expected = core.polls().expected_passes();
    for pass in 1..=MOST_PASSES {
        walk(core, bus, before.pc, &mut round)?;
        // Of a loop that was skipped before, the passes within its rounds are known.
        if pass < expected
            || core.results() != before.results
            || !core.is_settled(bus)
            || !core.view().devices_repeat(bus, &before.devices)?
        {
            continue;
        }
        let after = moment(core, bus);
        if is_steady(core, bus, before, &after, &round)
            && let Some(rounds) = rounds_to_come(core, bus, before, &after)
        {
            core.polls().passes = pass;
            return Some((after, round, rounds));
        }
    }
    None
}

fn moment<C: Skips>(core: &C, bus: &mut Bus) -> Moment<C> {
    Moment {
        pc: core.pc(),
        results: core.results(),
        devices: core.view().lists(bus),
        state: core.state(bus),
        cycles: core.view().cycles,
        events: (bus.events.scheduled(), bus.events.next_due()),
        waves_told: bus.waves.told(),
    }
}

/// Runs until the core is back at `head`, one instruction at a time. `None` if something comes up that the outer loop
/// has to see first.
fn walk<C: Skips>(core: &mut C, bus: &mut Bus, head: u32, round: &mut Round) -> Option<()> {
    let begun = core.instructions();
    while round.steps < LONGEST_ROUND {
        round.steps += 1;
        core.walk_one(bus, round)?;
        if core.is_at(head) && core.instructions() != begun {
            return Some(());
        }
    }
    None
}

/// True if the round from `before` to `after` changed nothing but times and totals, so that the next is the same.
fn is_steady<C: Skips>(core: &C, bus: &Bus, before: &Moment<C>, after: &Moment<C>, round: &Round) -> bool {
    (after.pc, after.events, after.waves_told) == (before.pc, before.events, before.waves_told)
        && after.results == before.results
        && core.goes_on_as(before.cycles, &before.state, &after.state)
        && round.left_memory_alone(bus)
        && bus.exit.is_none()
        && core.view().accesses_repeat(bus, &before.devices, &after.devices)
}

fn rounds_to_come<C: Skips>(core: &mut C, bus: &Bus, before: &Moment<C>, after: &Moment<C>) -> Option<u64> {
    let limit = core.last_cycle(bus);
    core.view().rounds_to_come(bus, limit, after.cycles - before.cycles, &before.devices, &after.devices)
}

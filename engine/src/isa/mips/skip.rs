//! Skips rounds of a polling loop, with exactly the result of running them.
//!
//! As for the other cores: a loop that was found is run on, instruction by instruction, with a look at everything each time that it passes
//! the instruction at which it was found. Once nothing has changed since the first look but times and totals, what lies between is a
//! round, and the next rounds are the same, up to the next event, the core's horizon, or the first deadline that a device names; all of them
//! but the last are put behind at once.

use super::accounts::Totals;
use super::core::Mips;
use super::op::{Code, LO, Op};
use super::pages::PAGE_BYTES;
use super::predictor::Predictor;
use super::system::System;
use crate::bus::Bus;
use crate::isa::rounds::{LONGEST_ROUND, Lists, MOST_ENTRIES, MOST_PASSES, Round, TRIES, View};
use crate::isa::sections::Totals as _;
use crate::memory::first_level::{State, Way};
use crate::time::Ps;

/// Registers that instructions leave behind: the general ones, HI and LO.
const REGISTERS: usize = LO as usize + 1;
/// Coprocessor 0: Random, which every instruction changes, and Status.
const RANDOM: (u8, u8) = (1, 0);
const STATUS: (u8, u8) = (12, 0);

type X = [u32; REGISTERS];

/// Results under way, in cycles from now; 0 for what has come.
#[derive(PartialEq, Eq)]
struct Pending {
    ready: [u64; REGISTERS],
    busy: u64,
    unit: u64,
}

/// Everything that a round may change.
struct Moment {
    pc: u32,
    delayed: Option<u32>,
    x: X,
    pending: Pending,
    system: System,
    predictor: Predictor,
    memory: State,
    interrupts: u32,
    exceptions: u64,
    events: (u64, Ps),
    devices: Lists,
    cycles: u64,
    totals: Totals,
    mispredictions: u64,
}

impl Mips {
    /// Puts rounds of the loop at the current address behind, if it polls.
    #[cold]
    #[inline(never)]
    pub(super) fn skip_rounds(&mut self, bus: &mut Bus) {
        self.polls.look();
        let skipped = self.try_to_skip(bus).is_some();
        self.polls.looked(skipped);
    }

    fn try_to_skip(&mut self, bus: &mut Bus) -> Option<()> {
        if bus.map.len() > MOST_ENTRIES {
            return None;
        }
        self.goes_round(bus)?;
        (0..TRIES).find_map(|_| {
            self.is_settled(bus).then_some(())?;
            let before = self.instant(bus);
            let (after, rounds) = self.find_round(bus, &before)?;
            self.put_behind(bus, &before, after, rounds);
            Some(())
        })
    }

    /// Runs a round or two, to see whether the registers come back to what they are: most loops that don't poll show it here.
    fn goes_round(&mut self, bus: &mut Bus) -> Option<()> {
        let (head, x, mut round) = (self.pc, self.results(), Round::default());
        for _ in 0..MOST_PASSES {
            self.walk(bus, head, &mut round)?;
            if self.results() == x {
                return Some(());
            }
        }
        None
    }

    /// Runs until everything is again as it was, and will be so often that it is worth while: how often. `None` if that does not happen soon.
    fn find_round(&mut self, bus: &mut Bus, before: &Moment) -> Option<(Moment, u64)> {
        self.memory.forget_touched();
        let mut round = Round::default();
        let expected = self.polls.expected_passes();
        for pass in 1..=MOST_PASSES {
            self.walk(bus, before.pc, &mut round)?;
            // Of a loop that was skipped before, the passes within its rounds are known.
            if pass < expected
                || self.results() != before.x
                || !self.is_settled(bus)
                || !self.view().devices_repeat(bus, &before.devices)?
            {
                continue;
            }
            let after = self.instant(bus);
            if self.is_steady(bus, before, &after, &round)
                && let Some(rounds) = self.rounds_to_come(bus, before, &after)
            {
                self.polls.passes = pass;
                return Some((after, rounds));
            }
        }
        None
    }

    fn results(&self) -> X {
        let mut x = [0; REGISTERS];
        x.copy_from_slice(&self.x[..REGISTERS]);
        x
    }

    fn pending(&self) -> Pending {
        let from_now = |cycle: u64| cycle.saturating_sub(self.cycles);
        let mut ready = [0; REGISTERS];
        ready.iter_mut().zip(self.ready).for_each(|(ready, cycle)| *ready = from_now(cycle));
        Pending { ready, busy: from_now(self.busy_until), unit: from_now(self.unit_free) }
    }

    /// True if no store is on its way that a device has seen already.
    fn is_settled(&self, bus: &Bus) -> bool {
        self.memory.is_settled(self.cycles) && !self.lines.will_change(bus, self.cycles)
    }

    /// The core's time, and what it accessed.
    fn view(&self) -> View {
        View { clock: self.config.clock, cycles: self.cycles, touched: self.memory.touched() }
    }

    fn instant(&mut self, bus: &mut Bus) -> Moment {
        Moment {
            pc: self.pc,
            delayed: self.delayed,
            x: self.results(),
            pending: self.pending(),
            devices: self.view().lists(bus),
            system: self.system.clone(),
            predictor: self.predictor.clone(),
            memory: self.memory.state().clone(),
            interrupts: self.interrupts(bus),
            exceptions: self.exceptions,
            events: (bus.events.scheduled(), bus.events.next_due()),
            cycles: self.cycles,
            totals: self.totals(),
            mispredictions: self.mispredictions,
        }
    }

    /// Runs until the core is back at `head`, one instruction at a time. `None` if something comes up that the outer loop has to see first.
    fn walk(&mut self, bus: &mut Bus, head: u32, round: &mut Round) -> Option<()> {
        let begun = self.instructions;
        while round.steps < LONGEST_ROUND {
            round.steps += 1;
            if self.has_news(bus) {
                return None;
            }
            self.follow_memory(bus);
            if self.stop.is_some() || self.cycles >= self.deadline.limit || self.sections.stops_at(self.pc) {
                return None;
            }
            self.walk_one(bus, round)?;
            if self.pc == head && self.delayed.is_none() && self.instructions != begun {
                return Some(());
            }
        }
        None
    }

    /// One instruction, or a wait for its fetch.
    fn walk_one(&mut self, bus: &mut Bus, round: &mut Round) -> Option<()> {
        let found = self.page(bus)?;
        if !self.fetch(bus, found) {
            return Some(());
        }
        // What the outer loop wants to see is given apart.
        let watched = self.decoded(bus, found)?.is_some();
        let op = self.pages.ops(found)[(self.pc % PAGE_BYTES / 4) as usize];
        if watched || self.note_writes(bus, op, round).is_none() {
            if found.way == Way::Uncached {
                self.memory.keep_fetched(self.pc);
            }
            return None;
        }
        self.execute(bus, found, true);
        Some(())
    }

    /// Remembers what the instruction is about to overwrite. `None` for one that changes more than registers, memory and Status.
    fn note_writes(&self, bus: &Bus, op: Op, round: &mut Round) -> Option<()> {
        use Code::*;
        match op.code {
            Sb | Sh | Sw | Swl | Swr => {
                let addr = self.x[usize::from(op.rs)].wrapping_add(op.imm as u32);
                self.ram_at(bus, addr).map_or(Some(()), |physical| round.note_word(bus, physical & !3))
            }
            Mfc0 => ((op.register(), op.select()) != RANDOM).then_some(()),
            Mtc0 => ((op.register(), op.select()) == STATUS).then_some(()),
            Ll | Sc | Cache | Tlbr | Tlbwi | Tlbwr | Tlbp | Eret | Wait => None,
            Syscall | Break | Sdbbp | Reserved | CopUnusable | Undecoded => None,
            _ => Some(()),
        }
    }

    /// True if the round from `before` to `after` changed nothing but times and totals, so that the next is the same.
    fn is_steady(&self, bus: &Bus, before: &Moment, after: &Moment, round: &Round) -> bool {
        let same_core = (after.pc, after.delayed, after.exceptions) == (before.pc, before.delayed, before.exceptions)
            && (after.x, &after.pending) == (before.x, &before.pending)
            && after.system == before.system
            && after.predictor == before.predictor
            && self.memory.behaves_like(self.cycles, &before.memory, before.cycles);
        let same_memory = round.left_memory_alone(bus);
        let nothing_new = (after.events, after.interrupts) == (before.events, before.interrupts) && bus.exit.is_none();
        same_core && same_memory && nothing_new && self.view().accesses_repeat(bus, &before.devices, &after.devices)
    }

    fn rounds_to_come(&mut self, bus: &Bus, before: &Moment, after: &Moment) -> Option<u64> {
        self.update_limit(bus);
        let period = after.cycles - before.cycles;
        self.view().rounds_to_come(bus, self.deadline.limit, period, &before.devices, &after.devices)
    }

    fn put_behind(&mut self, bus: &mut Bus, before: &Moment, after: Moment, rounds: u64) {
        let view = self.view();
        let mut totals = after.totals.clone();
        totals.add_difference(&after.totals, &before.totals, rounds);
        let skipped_cycles = rounds * (after.cycles - before.cycles);
        let now = self.cycles;
        for cycle in self.ready[..REGISTERS].iter_mut().chain([&mut self.busy_until, &mut self.unit_free]) {
            if *cycle > now {
                *cycle += skipped_cycles;
            }
        }
        self.cycles += skipped_cycles;
        self.polls.skipped_cycles += skipped_cycles;
        self.mispredictions += rounds * (after.mispredictions - before.mispredictions);
        (self.instructions, self.spent) = (totals.instructions, totals.spent);
        *self.memory.accounts_mut() = totals.memory;
        self.memory.repeat(&before.memory, rounds, skipped_cycles);
        view.move_devices_on(bus, rounds, &before.devices, after.devices);
    }
}

//! What skipping polling loops has to know of a core.

use super::accounts::Totals;
use super::core::Mips;
use super::op::{Code, LO, Op};
use super::pages::PAGE_BYTES;
use super::predictor::Predictor;
use super::system::System;
use crate::bus::Bus;
use crate::cpu::polls::Polls;
use crate::cpu::rounds::{Round, View};
use crate::cpu::sections::Totals as _;
use crate::cpu::skips::Skips;
use crate::memory::first_level::{self, Way};

/// Registers that instructions leave behind: the general ones, HI and LO.
const REGISTERS: usize = LO as usize + 1;
/// Coprocessor 0: Random, which every instruction changes, and Status.
const RANDOM: (u8, u8) = (1, 0);
const STATUS: (u8, u8) = (12, 0);

/// Results under way, in cycles from now; 0 for what has come.
#[derive(PartialEq, Eq)]
struct Pending {
    ready: [u64; REGISTERS],
    busy: u64,
    unit: u64,
}

/// All that a round may change in a core but these.
pub(crate) struct State {
    delayed: Option<u32>,
    pending: Pending,
    system: System,
    predictor: Predictor,
    memory: first_level::State,
    interrupts: u32,
    exceptions: u64,
    totals: Totals,
    mispredictions: u64,
}

impl Skips for Mips {
    type Results = [u32; REGISTERS];
    type State = State;

    fn polls(&mut self) -> &mut Polls {
        &mut self.polls
    }

    fn view(&self) -> View {
        View { clock: self.config.clock, cycles: self.cycles, touched: self.memory.touched() }
    }

    fn forget_touched(&mut self) {
        self.memory.forget_touched();
    }

    fn pc(&self) -> u32 {
        self.pc
    }

    fn instructions(&self) -> u64 {
        self.instructions
    }

    fn results(&self) -> [u32; REGISTERS] {
        let mut x = [0; REGISTERS];
        x.copy_from_slice(&self.x[..REGISTERS]);
        x
    }

    fn state(&self, bus: &Bus) -> State {
        State {
            delayed: self.delayed,
            pending: self.pending(),
            system: self.system.clone(),
            predictor: self.predictor.clone(),
            memory: self.memory.state().clone(),
            interrupts: self.interrupts(bus),
            exceptions: self.exceptions,
            totals: self.totals(),
            mispredictions: self.mispredictions,
        }
    }

    fn is_settled(&self, bus: &Bus) -> bool {
        self.memory.is_settled(self.cycles) && !self.lines.will_change(bus, self.cycles)
    }

    fn is_at(&self, head: u32) -> bool {
        self.pc == head && self.delayed.is_none()
    }

    fn walk_one(&mut self, bus: &mut Bus, round: &mut Round) -> Option<()> {
        if self.has_news(bus) {
            return None;
        }
        self.follow_memory(bus);
        if self.stop.is_some() || self.cycles >= self.deadline.limit || self.sections.stops_at(self.pc) {
            return None;
        }
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

    fn goes_on_as(&self, since: u64, before: &State, after: &State) -> bool {
        (after.delayed, after.exceptions, after.interrupts) == (before.delayed, before.exceptions, before.interrupts)
            && after.pending == before.pending
            && after.system == before.system
            && after.predictor == before.predictor
            && self.memory.behaves_like(self.cycles, &before.memory, since)
    }

    fn last_cycle(&mut self, bus: &Bus) -> u64 {
        self.update_limit(bus);
        self.deadline.limit
    }

    fn put_behind(&mut self, before: &State, after: &State, _round: &Round, rounds: u64, cycles: u64) {
        let mut totals = after.totals.clone();
        totals.add_difference(&after.totals, &before.totals, rounds);
        let now = self.cycles;
        for cycle in self.ready[..REGISTERS].iter_mut().chain([&mut self.busy_until, &mut self.unit_free]) {
            if *cycle > now {
                *cycle += cycles;
            }
        }
        self.cycles += cycles;
        self.mispredictions += rounds * (after.mispredictions - before.mispredictions);
        (self.instructions, self.spent) = (totals.instructions, totals.spent);
        *self.memory.accounts_mut() = totals.memory;
        self.memory.repeat(&before.memory, rounds, cycles);
    }
}

impl Mips {
    fn pending(&self) -> Pending {
        let from_now = |cycle: u64| cycle.saturating_sub(self.cycles);
        let mut ready = [0; REGISTERS];
        ready.iter_mut().zip(self.ready).for_each(|(ready, cycle)| *ready = from_now(cycle));
        Pending { ready, busy: from_now(self.busy_until), unit: from_now(self.unit_free) }
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
}

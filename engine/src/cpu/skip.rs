//! What skipping polling loops has to know of a core.

use super::Cpu;
use super::accounts::Totals;
use super::block::Extent;
use super::isa::Isa;
use super::polls::Polls;
use super::rounds::{Round, View};
use super::sections::Totals as _;
use super::skips::Skips;
use crate::bus::Bus;
use crate::inputs::Inputs;
use crate::memory::first_level::{self, Way};

/// Most registers that instructions leave behind: see [`Isa::RESULTS`].
const MOST_RESULTS: usize = 40;

/// All that an iteration may change in a core but these.
pub(crate) struct State<I: Isa> {
    isa: I,
    pending: I::Pending,
    memory: first_level::State,
    /// Levels of the interrupt inputs.
    interrupts: [u32; Inputs::WORDS],
    exceptions: u64,
    counted: Totals,
    mispredictions: u64,
}

impl<I: Isa> Skips for Cpu<I> {
    type Results = [u32; MOST_RESULTS];
    type State = State<I>;

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

    fn results(&self) -> [u32; MOST_RESULTS] {
        let mut x = [0; MOST_RESULTS];
        x[..I::RESULTS].copy_from_slice(&self.x[..I::RESULTS]);
        x
    }

    fn state(&self, bus: &Bus) -> State<I> {
        State {
            isa: self.isa.clone(),
            pending: self.pending,
            memory: self.memory.state().clone(),
            interrupts: *self.interrupts(bus).levels(),
            exceptions: self.exceptions,
            counted: self.counted(),
            mispredictions: self.mispredictions,
        }
    }

    fn has_room(&self) -> bool {
        !self.blocks.are_full()
    }

    fn is_settled(&self, bus: &Bus) -> bool {
        self.memory.is_settled(self.cycles) && !self.lines.will_change(bus, self.cycles)
    }

    fn walk_one(&mut self, bus: &mut Bus, round: &mut Round) -> Option<()> {
        // What was left for a return from an exception still counts for it.
        if I::is_between(self) || I::is_at_return(self) {
            return None;
        }
        self.left = None;
        // Blocks that are dropped, because code was written or for want of room, would take the runs in `round` with
        // them.
        if self.has_news(bus) || self.blocks.are_full() {
            return None;
        }
        self.follow_memory(bus);
        if self.stop.is_some() || self.cycles >= self.deadline.limit || self.sections.stops_at(self.pc) {
            return None;
        }
        if !I::locate(self, bus) {
            return None;
        }
        let index = self.block_at(bus, Extent::One)?;
        if I::note_writes(self, bus, index, round).is_none() {
            if I::FETCHES_FIRST && self.blocks.cold[index as usize].fetch == Way::Uncached {
                self.memory.keep_fetched(self.pc);
            }
            return None;
        }
        let runs = self.blocks.hot[index as usize].runs;
        if self.fetch(bus, index) {
            I::execute(self, bus, index);
            let after = self.blocks.hot[index as usize].runs;
            round.runs.extend((0..2).filter(|exit| after[*exit] != runs[*exit]).map(|exit| (index, exit)));
        }
        Some(())
    }

    fn goes_on_as(&self, since: u64, before: &State<I>, after: &State<I>) -> bool {
        (after.pending, after.exceptions, after.interrupts) == (before.pending, before.exceptions, before.interrupts)
            && after.isa == before.isa
            && self.memory.behaves_like(self.cycles, &before.memory, since)
    }

    fn last_cycle(&mut self, bus: &Bus) -> u64 {
        self.update_limit(bus);
        self.deadline.limit
    }

    fn put_behind(&mut self, before: &State<I>, after: &State<I>, round: &Round, rounds: u64, cycles: u64) {
        let mut counted = after.counted.clone();
        counted.add_difference(&after.counted, &before.counted, rounds);
        self.mispredictions += rounds * (after.mispredictions - before.mispredictions);
        (self.instructions, self.cycles, self.parts) = (counted.instructions, counted.cycles, counted.fixed);
        self.spent = counted.spent;
        *self.memory.accounts_mut() = counted.memory;
        for (index, exit) in &round.runs {
            self.blocks.hot[*index as usize].runs[*exit] += rounds;
        }
        self.memory.repeat(&before.memory, rounds, cycles);
    }
}

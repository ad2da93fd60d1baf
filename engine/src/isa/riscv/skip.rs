//! What skipping polling loops has to know of a hart.

use super::accounts::Totals;
use super::block::Extent;
use super::core::Hart;
use super::op::{Code, TimingClass};
use super::system::Csrs;
use super::timing::Pending;
use crate::bus::{Bus, Target};
use crate::inputs::Inputs;
use crate::cpu::polls::Polls;
use crate::cpu::rounds::{Round, View};
use crate::cpu::sections::Totals as _;
use crate::cpu::skips::Skips;
use crate::memory::first_level;

/// Registers that instructions leave behind.
const REGISTERS: usize = 32;

/// All that a round may change in a hart but these.
pub(crate) struct State {
    pending: Pending,
    csrs: Csrs,
    memory: first_level::State,
    /// Levels of the interrupt inputs.
    interrupts: [u32; Inputs::WORDS],
    traps: u64,
    counted: Totals,
}

impl Skips for Hart {
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
            pending: self.pending,
            csrs: self.csrs.clone(),
            memory: self.memory.state().clone(),
            interrupts: *self.interrupts(bus).levels(),
            traps: self.traps,
            counted: self.counted(),
        }
    }

    fn has_room(&self) -> bool {
        !self.blocks.are_full()
    }

    fn is_settled(&self, bus: &Bus) -> bool {
        self.memory.is_settled(self.cycles) && !self.lines.will_change(bus, self.cycles)
    }

    /// A look costs a hart too little to run rounds beforehand.
    fn goes_round(&mut self, _bus: &mut Bus) -> Option<()> {
        Some(())
    }

    fn walk_one(&mut self, bus: &mut Bus, round: &mut Round) -> Option<()> {
        self.left = None;
        // Blocks that are dropped, because code was written or for want of room, would take the runs in `round` with them.
        if self.has_news(bus) || self.blocks.are_full() {
            return None;
        }
        self.follow_memory(bus);
        if self.stop.is_some() || self.cycles >= self.deadline.limit || self.sections.stops_at(self.pc) {
            return None;
        }
        let index = self.block_at(bus, Extent::One)?;
        self.note_write(bus, index, round)?;
        let runs = self.blocks.hot[index as usize].runs;
        if self.fetch(bus, index) {
            self.execute(bus, index);
            let after = self.blocks.hot[index as usize].runs;
            round.runs.extend((0..2).filter(|exit| after[*exit] != runs[*exit]).map(|exit| (index, exit)));
        }
        Some(())
    }

    fn goes_on_as(&self, since: u64, before: &State, after: &State) -> bool {
        (after.pending, after.traps, after.interrupts) == (before.pending, before.traps, before.interrupts)
            && after.csrs == before.csrs
            && self.memory.behaves_like(self.cycles, &before.memory, since)
    }

    fn last_cycle(&mut self, bus: &Bus) -> u64 {
        self.update_limit(bus);
        self.deadline.limit
    }

    fn put_behind(&mut self, before: &State, after: &State, round: &Round, rounds: u64, cycles: u64) {
        let mut counted = after.counted.clone();
        counted.add_difference(&after.counted, &before.counted, rounds);
        (self.instructions, self.cycles, self.parts) = (counted.instructions, counted.cycles, counted.fixed);
        (self.causes, *self.memory.accounts_mut()) = (counted.causes, counted.memory);
        for (index, exit) in &round.runs {
            self.blocks.hot[*index as usize].runs[*exit] += rounds;
        }
        self.memory.repeat(&before.memory, rounds, cycles);
    }
}

impl Hart {
    /// Remembers what the instruction is about to overwrite. `None` for one that changes more than registers and memory.
    fn note_write(&self, bus: &Bus, index: u32, round: &mut Round) -> Option<()> {
        let op = self.blocks.ops[self.blocks.hot[index as usize].first_op as usize];
        match op.code.class() {
            TimingClass::Csr | TimingClass::System => return None,
            TimingClass::Store => {}
            _ => return Some(()),
        }
        debug_assert!(matches!(op.code, Code::Sb | Code::Sh | Code::Sw));
        let addr = self.x[op.rs1 as usize].wrapping_add(op.imm as u32);
        if is_ram(bus, addr) {
            round.note_word(bus, addr & !3)?;
        }
        Some(())
    }
}

/// True if a RAM answers at `addr`.
pub(super) fn is_ram(bus: &Bus, addr: u32) -> bool {
    bus.entry_at(addr).is_some_and(|entry| matches!(bus.map[entry].target, Target::Ram(_)))
}

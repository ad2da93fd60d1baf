//! What skipping polling loops has to know of a hart.

use super::accounts::Totals;
use super::block::Extent;
use super::core::Hart;
use super::op::{Code, TimingClass};
use super::system::Csrs;
use super::timing::Pending;
use crate::bus::{Bus, Target};
use crate::cpu::polls::Polls;
use crate::cpu::rounds::{Round, View};
use crate::cpu::sections::Totals as _;
use crate::cpu::skips::Skips;
use crate::memory::cache::Cache;
use crate::memory::fetch::on_demand::WordBuffer;

/// Registers that instructions leave behind.
const REGISTERS: usize = 32;

/// All that a round may change in a hart but these.
pub(crate) struct State {
    pending: Pending,
    csrs: Csrs,
    interrupts: u32,
    fetch_buffer: WordBuffer,
    icache: Option<Cache>,
    dcache: Option<Cache>,
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
        View { clock: self.config.clock, cycles: self.cycles, touched: self.touched }
    }

    fn forget_touched(&mut self) {
        self.touched = 0;
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
            interrupts: bus.core_irqs[self.config.index as usize].low(),
            fetch_buffer: self.fetch_buffer,
            icache: self.icache.clone(),
            dcache: self.dcache.clone(),
            traps: self.traps,
            counted: self.counted(),
        }
    }

    fn has_room(&self) -> bool {
        !self.blocks.are_full()
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

    fn goes_on_as(&self, _since: u64, before: &State, after: &State) -> bool {
        (after.pending, after.traps, after.interrupts) == (before.pending, before.traps, before.interrupts)
            && after.csrs == before.csrs
            && after.fetch_buffer == before.fetch_buffer
            && behave_alike(&after.icache, &before.icache)
            && behave_alike(&after.dcache, &before.dcache)
    }

    fn last_cycle(&mut self, bus: &Bus) -> u64 {
        self.deadline.follow(bus);
        self.deadline.limit
    }

    fn put_behind(&mut self, before: &State, after: &State, round: &Round, rounds: u64, _cycles: u64) {
        let mut counted = after.counted.clone();
        counted.add_difference(&after.counted, &before.counted, rounds);
        let Totals { instructions, cycles, fixed, causes, entries } = counted;
        (self.instructions, self.cycles, self.parts) = (instructions, cycles, fixed);
        (self.causes, self.entry_cycles) = (causes, entries);
        for (index, exit) in &round.runs {
            self.blocks.hot[*index as usize].runs[*exit] += rounds;
        }
        for (cache, before) in [(&mut self.icache, &before.icache), (&mut self.dcache, &before.dcache)] {
            if let (Some(cache), Some(before)) = (cache, before) {
                cache.repeat(before, rounds);
            }
        }
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

fn behave_alike(after: &Option<Cache>, before: &Option<Cache>) -> bool {
    match (after, before) {
        (Some(after), Some(before)) => after.behaves_like(before),
        _ => true,
    }
}

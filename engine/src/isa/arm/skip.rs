//! What skipping polling loops has to know of a core.

use super::accounts::Totals;
use super::block::Extent;
use super::core::Arm;
use super::op::{Code, Op};
use super::predictor::Predictor;
use super::profile::Profile;
use super::system::Kind;
use super::timing::Pending;
use crate::bus::{Bus, Target};
use crate::inputs::Inputs;
use crate::isa::polls::Polls;
use crate::isa::rounds::{Round, View};
use crate::isa::sections::Totals as _;
use crate::isa::skip::Skips;
use crate::memory::first_level;

/// Registers that instructions leave behind: the general ones, and flags.
const REGISTERS: usize = 32;

/// All that a round may change in a core but these.
pub(crate) struct State<P> {
    s: [u32; 64],
    pending: Pending,
    system: P,
    predictor: Predictor,
    memory: first_level::State,
    /// Levels of the interrupt inputs.
    interrupts: [u32; Inputs::WORDS],
    exceptions: u64,
    counted: Totals,
    mispredictions: u64,
}

impl<P: Profile> Skips for Arm<P> {
    type Results = [u32; REGISTERS];
    type State = State<P>;

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

    fn state(&self, bus: &Bus) -> State<P> {
        State {
            s: self.s,
            pending: self.pending,
            system: self.system.clone(),
            predictor: self.predictor.clone(),
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
        if P::is_between(self) || P::is_at_return(self) {
            return None;
        }
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
        self.note_writes(bus, index, round)?;
        let runs = self.blocks.hot[index as usize].runs;
        if self.fetch(bus, index) {
            self.execute(bus, index);
            let after = self.blocks.hot[index as usize].runs;
            round.runs.extend((0..2).filter(|exit| after[*exit] != runs[*exit]).map(|exit| (index, exit)));
        }
        Some(())
    }

    fn goes_on_as(&self, since: u64, before: &State<P>, after: &State<P>) -> bool {
        (after.pending, after.exceptions, after.interrupts) == (before.pending, before.exceptions, before.interrupts)
            && after.s == before.s
            && after.system == before.system
            && after.predictor == before.predictor
            && self.memory.behaves_like(self.cycles, &before.memory, since)
    }

    fn last_cycle(&mut self, bus: &Bus) -> u64 {
        self.update_limit(bus);
        self.deadline.limit
    }

    fn put_behind(&mut self, before: &State<P>, after: &State<P>, round: &Round, rounds: u64, cycles: u64) {
        let mut counted = after.counted.clone();
        counted.add_difference(&after.counted, &before.counted, rounds);
        self.mispredictions += rounds * (after.mispredictions - before.mispredictions);
        (self.instructions, self.cycles, self.parts) = (counted.instructions, counted.cycles, counted.fixed);
        (self.saved_cycles, self.mispredicted_cycles) = (counted.saved, counted.mispredicted);
        (self.exception_cycles, self.idle_cycles) = (counted.exceptions, counted.idle);
        *self.memory.accounts_mut() = counted.memory;
        for (index, exit) in &round.runs {
            self.blocks.hot[*index as usize].runs[*exit] += rounds;
        }
        self.memory.repeat(&before.memory, rounds, cycles);
    }
}

impl<P: Profile> Arm<P> {
    /// Remembers what the instruction is about to overwrite. `None` for one that changes more than registers and memory.
    fn note_writes(&self, bus: &Bus, index: u32, round: &mut Round) -> Option<()> {
        let hot = &self.blocks.hot[index as usize];
        for op in self.blocks.ops[hot.first_op as usize..].iter().take_while(|op| op.code != Code::End) {
            match op.code {
                Code::Str | Code::Strh | Code::Strb | Code::Vstr => self.note_write(bus, *op, round)?,
                Code::Strex | Code::Swap | Code::Ldrex | Code::Clrex => return None,
                Code::Pld | Code::Vfp | Code::Fetch => {}
                code if code > Code::JumpToSame => return None,
                _ => {}
            }
        }
        Some(())
    }

    /// The base of a store may be what its own instruction works out first; only those without count.
    fn note_write(&self, bus: &Bus, op: Op, round: &mut Round) -> Option<()> {
        if [op.rn, op.rm].contains(&super::registers::ADDRESS) || [op.rn, op.rm].contains(&super::registers::OPERAND) {
            return None;
        }
        let addr = self.x[usize::from(op.rn)].wrapping_add(self.x[usize::from(op.rm)]).wrapping_add(op.imm);
        let addr = self.physical(bus, addr, Kind::Write).ok()?;
        if matches!(bus.map[bus.entry_at(addr)?].target, Target::Ram(_)) {
            // An unaligned store reaches into the next word.
            for word in [addr & !3, addr.wrapping_add(3) & !3] {
                round.note_word(bus, word)?;
            }
        }
        Some(())
    }
}

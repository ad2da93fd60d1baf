//! The interface of a core with blocks to fast-forwarding of polling loops: each instruction runs as a block of one.

use super::counting::Counting;
use super::fast_forward::{MOST_RESULTS, Repeats};
use super::iteration::Iteration;
use super::polls::Polls;
use crate::bus::Bus;
use crate::bus::entries::Entries;
use crate::cpu::Cpu;
use crate::cpu::block::Extent;
use crate::cpu::isa::Isa;
use crate::cpu::memory_system::{self, Accounts, Via};
use crate::cpu::shell::Shell;

/// The core's own part of an iteration's state.
pub(crate) struct Own<I: Isa> {
    isa: I,
    pending: I::Pending,
    memory: memory_system::State,
    mispredictions: u64,
}

/// Registers that only the operations of one instruction use: the next instruction does not depend on them.
fn own_registers<I: Isa>() -> impl Iterator<Item = u8> {
    (0..I::RESULTS as u8).filter(|register| I::TRANSIENT >> register & 1 != 0)
}

impl<I: Isa> Repeats for Cpu<I> {
    type Own = Own<I>;

    fn shell(&self) -> &Shell {
        &self.shell
    }

    fn shell_mut(&mut self) -> &mut Shell {
        &mut self.shell
    }

    fn polls(&mut self) -> &mut Polls {
        &mut self.polls
    }

    fn accounts(&self) -> &Accounts {
        self.memory.accounts()
    }

    fn accounts_mut(&mut self) -> &mut Accounts {
        self.memory.accounts_mut()
    }

    fn pc(&self) -> u32 {
        self.pc
    }

    fn results(&self) -> [u32; MOST_RESULTS] {
        let mut x = [0; MOST_RESULTS];
        x[..I::RESULTS].copy_from_slice(&self.x[..I::RESULTS]);
        own_registers::<I>().for_each(|register| x[usize::from(register)] = 0);
        x
    }

    fn follow(&self, iteration: &Iteration, counting: &mut Counting) -> Option<()> {
        iteration.instrs.iter().try_for_each(|index| {
            I::count(self.blocks.ops_of(*index), counting)?;
            own_registers::<I>().for_each(|register| counting.write(register));
            Some(())
        })
    }

    fn count_on(&mut self, growth: &[u32; MOST_RESULTS]) {
        for (register, growth) in self.x.iter_mut().zip(growth) {
            *register = register.wrapping_add(*growth);
        }
    }

    fn own(&self) -> Own<I> {
        Own {
            isa: self.isa.clone(),
            pending: self.pending,
            memory: self.memory.state(),
            mispredictions: self.mispredictions,
        }
    }

    fn settle_profile(&mut self) {
        self.charge_last();
    }

    fn behaves_like(&self, before: &Own<I>, then: u64) -> bool {
        self.pending == before.pending
            && self.isa == before.isa
            && self.memory.behaves_like(self.shell.cycles, &before.memory, then)
    }

    fn repeat(&mut self, before: &Own<I>, iteration: &Iteration, times: u64, cycles: u64) {
        self.mispredictions += times * (self.mispredictions - before.mispredictions);
        for (index, exit) in &iteration.runs {
            self.blocks.hot[*index as usize].runs[*exit] += times;
        }
        self.memory.repeat(&before.memory, times, cycles);
    }

    fn is_settled(&self) -> bool {
        self.memory.is_settled(self.shell.cycles)
    }

    fn is_full(&self) -> bool {
        self.blocks.are_full()
    }

    fn touched(&self) -> Entries {
        self.memory.touched()
    }

    fn forget_touched(&mut self) {
        self.memory.forget_touched();
    }

    fn run_watched(&mut self, bus: &mut Bus, iteration: &mut Iteration) -> Option<()> {
        // State that is kept for a return from an exception still counts for it.
        if I::is_between(self) || I::is_at_return(self) {
            return None;
        }
        self.left = None;
        // Dropping blocks, because code was written or because they are full, would invalidate the runs in `iteration`.
        if self.has_news(bus) || self.blocks.are_full() {
            return None;
        }
        self.follow_memory(bus);
        I::follow_map(self);
        if self.shell.stop.is_some()
            || self.shell.cycles >= self.shell.deadline.limit
            || self.shell.stops_at(self.pc & I::ADDRESS_MASK)
        {
            return None;
        }
        if !I::locate(self, bus) {
            return None;
        }
        let index = self.block_at(bus, Extent::One)?;
        if I::note_writes(self, bus, index, iteration).is_none() {
            if I::FETCHES_FIRST && self.blocks.cold[index as usize].fetch == Via::Uncached {
                self.memory.keep_fetched(self.pc);
            }
            return None;
        }
        let (runs, instructions) = (self.blocks.hot[index as usize].runs, self.shell.instructions);
        if self.fetch(bus, index) {
            I::execute(self, bus, index, 0);
            if self.shell.instructions != instructions {
                iteration.instrs.push(index);
            }
            let after = self.blocks.hot[index as usize].runs;
            iteration.runs.extend((0..2).filter(|exit| after[*exit] != runs[*exit]).map(|exit| (index, exit)));
        }
        // A watched call has begun or ended.
        self.shell.calls.as_ref().is_none_or(|calls| !calls.has_news()).then_some(())
    }

    fn limit(&mut self, bus: &mut Bus) -> u64 {
        self.update_limit(bus);
        self.shell.deadline.limit
    }
}

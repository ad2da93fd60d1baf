//! The interface of this core to fast-forwarding of polling loops.

use super::Picorv32;
use super::decoded::Kind;
use super::interrupts::Interrupts;
use crate::bus::entries::Entries;
use crate::bus::{Bus, Target};
use crate::cpu::memory_system::Accounts;
use crate::cpu::memory_system::fetch::prefetch_next::PrefetchNext;
use crate::cpu::polling_loops::counting::Counting;
use crate::cpu::polling_loops::fast_forward::{MOST_RESULTS, Repeats};
use crate::cpu::polling_loops::iteration::Iteration;
use crate::cpu::polling_loops::polls::Polls;
use crate::cpu::shell::Shell;
use crate::isa::riscv::counting;
use crate::isa::riscv::decode::decode;

/// The state on which the next launches depend beside the registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Own {
    encoding: Option<u32>,
    was_compressed: bool,
    unit: PrefetchNext,
    interrupts: Interrupts,
}

impl Repeats for Picorv32 {
    type Own = Own;

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
        &self.accounts
    }

    fn accounts_mut(&mut self) -> &mut Accounts {
        &mut self.accounts
    }

    fn pc(&self) -> u32 {
        self.pc
    }

    fn results(&self) -> [u32; MOST_RESULTS] {
        let mut results = [0; MOST_RESULTS];
        results[..32].copy_from_slice(&self.x[..32]);
        results
    }

    fn follow(&self, iteration: &Iteration, counting: &mut Counting) -> Option<()> {
        iteration.instrs.iter().try_for_each(|encoding| counting::count(&decode(*encoding).op, counting))
    }

    fn count_on(&mut self, growth: &[u32; MOST_RESULTS]) {
        for (register, growth) in self.x.iter_mut().take(32).zip(growth) {
            *register = register.wrapping_add(*growth);
        }
    }

    fn own(&self) -> Own {
        let Picorv32 { encoding, was_compressed, unit, interrupts, .. } = *self;
        Own { encoding, was_compressed, unit, interrupts }
    }

    fn settle_profile(&mut self) {
        self.charge_last();
    }

    fn behaves_like(&self, before: &Own, _then: u64) -> bool {
        self.own() == *before
    }

    fn repeat(&mut self, _before: &Own, _iteration: &Iteration, _times: u64, _cycles: u64) {}

    /// The core waits for each store.
    fn is_settled(&self) -> bool {
        true
    }

    fn touched(&self) -> Entries {
        self.touched
    }

    fn forget_touched(&mut self) {
        self.touched = Entries::default();
    }

    fn run_watched(&mut self, bus: &mut Bus, iteration: &mut Iteration) -> Option<()> {
        let (cycle, launched) = (self.shell.cycles, self.shell.instructions);
        if bus.exit.is_some()
            || self.shell.stop.is_some()
            || self.shell.waiting
            || cycle >= self.shell.deadline.limit
            || self.shell.stops_at(self.pc)
            || self.interrupts.are_due(cycle, launched)
        {
            return None;
        }
        let slot = self.table.find(self.pc, self.encoding?);
        let decoded = *self.table.at(slot);
        match decoded.kind {
            Kind::Store => {
                let addr = self.x[decoded.op.rs1 as usize].wrapping_add(decoded.op.imm as u32) & !3;
                // Registers are in their device's list.
                if let Some(entry) = bus.entry_at(addr)
                    && matches!(bus.map[entry].target, Target::Ram(_))
                {
                    iteration.note_word(bus, addr)?;
                }
            }
            Kind::Maskirq | Kind::Timer | Kind::Waitirq | Kind::Retirq | Kind::Breakpoint | Kind::Illegal => {
                return None;
            }
            _ => {}
        }
        iteration.instrs.push(self.encoding?);
        self.launch_one(bus);
        // A watched call has begun or ended.
        self.shell.calls.as_ref().is_none_or(|calls| !calls.has_news()).then_some(())
    }

    fn limit(&mut self, bus: &mut Bus) -> u64 {
        self.follow_bus(bus, self.shell.cycles);
        self.shell.deadline.limit.min(self.interrupts.attention_cycles(self.shell.instructions))
    }
}

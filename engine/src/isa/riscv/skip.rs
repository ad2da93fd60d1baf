//! Skips rounds of a polling loop, with exactly the result of running them.
//!
//! A loop that was found is run on, instruction by instruction, with a look at everything each time that it passes the instruction at which
//! it was found (several times a round, if that belongs to a loop within the loop): registers, CSRs, results under way, the caches' directories, the memory that it wrote, events to come, and the lists of the devices that it
//! accessed. Once nothing has changed since the first look but times and totals, what lies between is a round, and the next rounds are the same, up to
//! the next event, the core's horizon, or the first deadline that a device names; all of them but the last are put behind at once.

use super::accounts::Totals;
use super::core::Hart;
use super::op::{Code, TimingClass};
use super::system::Csrs;
use super::timing::Pending;
use crate::bus::{Bus, Target};
use crate::isa::rounds::{LONGEST_ROUND, Lists, MOST_ENTRIES, MOST_PASSES, Round, TRIES, View};
use crate::isa::sections::Totals as _;
use crate::memory::cache::Cache;
use crate::memory::fetch::on_demand::WordBuffer;
use crate::time::Ps;

/// Everything that a round may change.
struct Moment {
    pc: u32,
    x: [u32; 32],
    pending: Pending,
    csrs: Csrs,
    interrupts: u32,
    fetch_buffer: WordBuffer,
    icache: Option<Cache>,
    dcache: Option<Cache>,
    traps: u64,
    events: (u64, Ps),
    devices: Lists,
    counted: Totals,
}

impl Hart {
    /// Puts rounds of the loop at the current address behind, if it polls.
    #[cold]
    #[inline(never)]
    pub(super) fn skip_polling(&mut self, bus: &mut Bus) {
        self.polls.look();
        let skipped = self.try_to_skip(bus).is_some();
        self.polls.looked(skipped);
    }

    fn try_to_skip(&mut self, bus: &mut Bus) -> Option<()> {
        if self.blocks.are_full() || bus.map.len() > MOST_ENTRIES {
            return None;
        }
        (0..TRIES).find_map(|_| {
            let before = self.moment(bus);
            let (after, round, rounds) = self.find_round(bus, &before)?;
            self.put_behind(bus, &before, after, &round, rounds);
            Some(())
        })
    }

    /// Runs until everything is again as it was, and will be so often that it is worth while: how often. `None` if that does not happen soon.
    fn find_round(&mut self, bus: &mut Bus, before: &Moment) -> Option<(Moment, Round, u64)> {
        self.touched = 0;
        let mut round = Round::default();
        let expected = self.polls.expected_passes();
        for pass in 1..=MOST_PASSES {
            self.walk(bus, before.pc, &mut round)?;
            // Of a loop that was skipped before, the passes within its rounds are known.
            if pass < expected || self.x[..32] != before.x || !self.view().devices_repeat(bus, &before.devices)? {
                continue;
            }
            let after = self.moment(bus);
            if self.is_steady(bus, before, &after, &round)
                && let Some(rounds) = self.rounds_to_come(bus, before, &after)
            {
                self.polls.passes = pass;
                return Some((after, round, rounds));
            }
        }
        None
    }

    /// The core's time, and what it accessed.
    fn view(&self) -> View {
        View { clock: self.config.clock, cycles: self.cycles, touched: self.touched }
    }

    fn moment(&mut self, bus: &mut Bus) -> Moment {
        let mut x = [0; 32];
        x.copy_from_slice(&self.x[..32]);
        Moment {
            pc: self.pc,
            x,
            pending: self.pending,
            devices: self.view().lists(bus),
            csrs: self.csrs.clone(),
            interrupts: bus.core_irqs[self.config.index as usize],
            fetch_buffer: self.fetch_buffer,
            icache: self.icache.clone(),
            dcache: self.dcache.clone(),
            traps: self.traps,
            events: (bus.events.scheduled(), bus.events.next_due()),
            counted: self.counted(),
        }
    }

    /// Runs until the core is back at `head`, one instruction at a time. `None` if something comes up that the outer loop has to see first.
    fn walk(&mut self, bus: &mut Bus, head: u32, round: &mut Round) -> Option<()> {
        let begun = self.instructions;
        while round.steps < LONGEST_ROUND {
            round.steps += 1;
            self.left = None;
            // Blocks that are dropped, because code was written or for want of room, would take the runs in `round` with them.
            if self.has_news(bus) || self.blocks.are_full() {
                return None;
            }
            self.follow_memory(bus);
            if self.stop.is_some() || self.cycles >= self.deadline.limit || self.sections.stops_at(self.pc) {
                return None;
            }
            let index = self.block_at(bus, true)?;
            self.note_write(bus, index, round)?;
            let runs = self.blocks.hot[index as usize].runs;
            if self.fetch(bus, index) {
                self.execute(bus, index);
                let after = self.blocks.hot[index as usize].runs;
                round.runs.extend((0..2).filter(|exit| after[*exit] != runs[*exit]).map(|exit| (index, exit)));
            }
            if self.pc == head && self.instructions != begun {
                return Some(());
            }
        }
        None
    }

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

    /// True if the round from `before` to `after` changed nothing but times and totals, so that the next is the same.
    fn is_steady(&self, bus: &Bus, before: &Moment, after: &Moment, round: &Round) -> bool {
        let same_core = (after.pc, after.x, after.pending, after.traps)
            == (before.pc, before.x, before.pending, before.traps)
            && after.csrs == before.csrs
            && after.fetch_buffer == before.fetch_buffer
            && behave_alike(&after.icache, &before.icache)
            && behave_alike(&after.dcache, &before.dcache);
        let same_memory = round.left_memory_alone(bus);
        let nothing_new = (after.events, after.interrupts) == (before.events, before.interrupts) && bus.exit.is_none();
        same_core && same_memory && nothing_new && self.view().accesses_repeat(bus, &before.devices, &after.devices)
    }

    fn rounds_to_come(&mut self, bus: &Bus, before: &Moment, after: &Moment) -> Option<u64> {
        self.deadline.follow(bus);
        let period = after.counted.cycles - before.counted.cycles;
        self.view().rounds_to_come(bus, self.deadline.limit, period, &before.devices, &after.devices)
    }

    fn put_behind(&mut self, bus: &mut Bus, before: &Moment, after: Moment, round: &Round, rounds: u64) {
        let view = self.view();
        let mut counted = after.counted.clone();
        counted.add_difference(&after.counted, &before.counted, rounds);
        self.polls.skipped_cycles += counted.cycles - self.cycles;
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
        view.move_devices_on(bus, rounds, &before.devices, after.devices);
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

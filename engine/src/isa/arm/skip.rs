//! Skips rounds of a polling loop, with exactly the result of running them.
//!
//! As for the other cores: a loop that was found is run on, instruction by instruction, with a look at everything each time that it passes
//! the instruction at which it was found. Once nothing has changed since the first look but times and totals, what lies between is a
//! round, and the next rounds are the same, up to the next event, the core's horizon, or the first deadline that a device names; all of them
//! but the last are put behind at once.

use super::accounts::Totals;
use super::core::Arm;
use super::op::{Code, Op};
use super::predictor::Predictor;
use super::system::{Kind, System};
use super::timing::Pending;
use crate::bus::{Bus, Target};
use crate::isa::rounds::{LONGEST_ROUND, Lists, MOST_ENTRIES, MOST_PASSES, Round, TRIES, View};
use crate::isa::sections::Totals as _;
use crate::memory::first_level::State;
use crate::time::Ps;

/// Registers that instructions leave behind: the general ones, and flags.
const REGISTERS: usize = 32;

/// Everything that a round may change.
struct Moment {
    pc: u32,
    x: [u32; REGISTERS],
    s: [u32; 64],
    pending: Pending,
    system: System,
    predictor: Predictor,
    memory: State,
    interrupts: u32,
    exceptions: u64,
    events: (u64, Ps),
    devices: Lists,
    counted: Totals,
    mispredictions: u64,
}

impl Arm {
    /// Puts rounds of the loop at the current address behind, if it polls.
    #[cold]
    #[inline(never)]
    pub(super) fn skip_rounds(&mut self, bus: &mut Bus) {
        self.polls.look();
        let skipped = self.try_to_skip(bus).is_some();
        self.polls.looked(skipped);
    }

    fn try_to_skip(&mut self, bus: &mut Bus) -> Option<()> {
        if self.blocks.are_full() || bus.map.len() > MOST_ENTRIES {
            return None;
        }
        self.goes_round(bus)?;
        (0..TRIES).find_map(|_| {
            self.is_settled(bus).then_some(())?;
            let before = self.moment(bus);
            let (after, round, rounds) = self.find_round(bus, &before)?;
            self.put_behind(bus, &before, after, &round, rounds);
            Some(())
        })
    }

    /// Runs a round or two, to see whether the registers come back to what they are: most loops that don't poll show it here.
    fn goes_round(&mut self, bus: &mut Bus) -> Option<()> {
        let (head, mut x, mut round) = (self.pc, [0; REGISTERS], Round::default());
        x.copy_from_slice(&self.x[..REGISTERS]);
        for _ in 0..MOST_PASSES {
            self.walk(bus, head, &mut round)?;
            if self.x[..REGISTERS] == x {
                return Some(());
            }
        }
        None
    }

    /// Runs until everything is again as it was, and will be so often that it is worth while: how often. `None` if that does not happen soon.
    fn find_round(&mut self, bus: &mut Bus, before: &Moment) -> Option<(Moment, Round, u64)> {
        self.memory.forget_touched();
        let mut round = Round::default();
        let expected = self.polls.expected_passes();
        for pass in 1..=MOST_PASSES {
            self.walk(bus, before.pc, &mut round)?;
            // Of a loop that was skipped before, the passes within its rounds are known.
            if pass < expected
                || self.x[..REGISTERS] != before.x
                || !self.is_settled(bus)
                || !self.view().devices_repeat(bus, &before.devices)?
            {
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

    /// True if no store is on its way that a device has seen already.
    fn is_settled(&self, bus: &Bus) -> bool {
        self.memory.is_settled(self.cycles) && !self.lines.will_change(bus, self.cycles)
    }

    /// The core's time, and what it accessed.
    fn view(&self) -> View {
        View { clock: self.config.clock, cycles: self.cycles, touched: self.memory.touched() }
    }

    fn moment(&mut self, bus: &mut Bus) -> Moment {
        let mut x = [0; REGISTERS];
        x.copy_from_slice(&self.x[..REGISTERS]);
        Moment {
            pc: self.pc,
            x,
            s: self.s,
            pending: self.pending,
            devices: self.view().lists(bus),
            system: self.system.clone(),
            predictor: self.predictor.clone(),
            memory: self.memory.state().clone(),
            interrupts: self.interrupts(bus),
            exceptions: self.exceptions,
            events: (bus.events.scheduled(), bus.events.next_due()),
            counted: self.counted(),
            mispredictions: self.mispredictions,
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
            self.note_writes(bus, index, round)?;
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

    /// True if the round from `before` to `after` changed nothing but times and totals, so that the next is the same.
    fn is_steady(&self, bus: &Bus, before: &Moment, after: &Moment, round: &Round) -> bool {
        let same_core = (after.pc, after.x, after.pending, after.exceptions)
            == (before.pc, before.x, before.pending, before.exceptions)
            && after.s == before.s
            && after.system == before.system
            && after.predictor == before.predictor
            && self.memory.behaves_like(self.cycles, &before.memory, before.counted.cycles);
        let same_memory = round.left_memory_alone(bus);
        let nothing_new = (after.events, after.interrupts) == (before.events, before.interrupts) && bus.exit.is_none();
        same_core && same_memory && nothing_new && self.view().accesses_repeat(bus, &before.devices, &after.devices)
    }

    fn rounds_to_come(&mut self, bus: &Bus, before: &Moment, after: &Moment) -> Option<u64> {
        self.update_limit(bus);
        let period = after.counted.cycles - before.counted.cycles;
        self.view().rounds_to_come(bus, self.deadline.limit, period, &before.devices, &after.devices)
    }

    fn put_behind(&mut self, bus: &mut Bus, before: &Moment, after: Moment, round: &Round, rounds: u64) {
        let view = self.view();
        let mut counted = after.counted.clone();
        counted.add_difference(&after.counted, &before.counted, rounds);
        let skipped_cycles = counted.cycles - self.cycles;
        self.polls.skipped_cycles += skipped_cycles;
        self.mispredictions += rounds * (after.mispredictions - before.mispredictions);
        (self.instructions, self.cycles, self.parts) = (counted.instructions, counted.cycles, counted.fixed);
        (self.saved_cycles, self.mispredicted_cycles) = (counted.saved, counted.mispredicted);
        (self.exception_cycles, self.idle_cycles) = (counted.exceptions, counted.idle);
        *self.memory.accounts_mut() = counted.memory;
        for (index, exit) in &round.runs {
            self.blocks.hot[*index as usize].runs[*exit] += rounds;
        }
        self.memory.repeat(&before.memory, rounds, skipped_cycles);
        view.move_devices_on(bus, rounds, &before.devices, after.devices);
    }
}

//! Skips rounds of a polling loop, with exactly the result of running them.
//!
//! As for the other cores: a loop that was found is run on, instruction by instruction, with a look at everything each time that it passes
//! the instruction at which it was found. Once nothing has changed since the first look but times and totals, what lies between is a
//! round, and the next rounds are the same, up to the next event, the core's horizon, or the first deadline that a device names; all of them
//! but the last are put behind at once.

use super::accounts::Totals;
use super::core::Arm;
use super::memory::State;
use super::op::{Code, Op};
use super::predictor::Predictor;
use super::system::{Kind, System};
use super::timing::Pending;
use crate::bus::{Bus, Target};
use crate::device::{Device, DeviceId};
use crate::isa::sections::Totals as _;
use crate::polling::Poll;
use crate::time::{Cycles, Ps};

/// Instructions of the longest loop that is looked at.
const LONGEST_ROUND: usize = 1 << 10;
/// Passes in the longest round.
const MOST_PASSES: u32 = 24;
/// A look costs about as much as running so many rounds.
const LEAST_ROUNDS: u64 = 16;
/// How often a round is looked for: the first time, the loop may still be on its way to go round the same way each time.
const TRIES: usize = 2;
/// Map entries whose accesses are told apart.
const MOST_ENTRIES: usize = u64::BITS as usize;
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
    devices: Vec<Option<Poll>>,
    counted: Totals,
    mispredictions: u64,
}

/// What was done since the first look.
#[derive(Default)]
struct Round {
    /// Instructions.
    steps: usize,
    /// Runs of blocks of one instruction: index and exit.
    runs: Vec<(u32, usize)>,
    /// Words of RAM that it wrote, as they were before.
    written: Vec<(u32, [u8; 4])>,
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
                || !self.devices_repeat(bus, before)?
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
        self.memory.is_settled(self.cycles) && !self.awaits_interrupts(bus)
    }

    /// True if the devices that were accessed have the same to say as before: most passes that are no whole round show it here. `None`
    /// if one of them had nothing to say.
    fn devices_repeat(&self, bus: &mut Bus, before: &Moment) -> Option<bool> {
        let (clock, now) = (self.config.clock, Cycles(self.cycles));
        let mut same = true;
        for entry in self.accessed(bus) {
            let Some(id) = device_at(bus, entry) else { continue };
            let mut poll = Poll::look(clock, now);
            let earlier = before.devices[id].as_ref()?;
            same &= polled(bus, id, self.now(), &mut poll) && poll.repeats(earlier);
        }
        Some(same)
    }

    fn moment(&mut self, bus: &mut Bus) -> Moment {
        let mut x = [0; REGISTERS];
        x.copy_from_slice(&self.x[..REGISTERS]);
        let (clock, now) = (self.config.clock, Cycles(self.cycles));
        let devices = (0..bus.devices.len()).map(|index| {
            let mut poll = Poll::look(clock, now);
            polled(bus, index, self.now(), &mut poll).then_some(poll)
        });
        Moment {
            pc: self.pc,
            x,
            s: self.s,
            pending: self.pending,
            devices: devices.collect(),
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
            if self.stop.is_some() || self.cycles >= self.limit || self.sections.stops_at(self.pc) {
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
                let mut bytes = [0; 4];
                // Where a memory ends within a word there is nothing to compare with.
                bus.peek(word, &mut bytes).then(|| round.written.push((word, bytes)))?;
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
        let same_memory = round.written.iter().all(|(word, before)| {
            // A word that was written twice counts as it was first.
            let first = round.written.iter().find(|(other, _)| other == word).map_or(before, |(_, bytes)| bytes);
            let mut bytes = [0; 4];
            bus.peek(*word, &mut bytes) && bytes == *first
        });
        let nothing_new = (after.events, after.interrupts) == (before.events, before.interrupts) && bus.exit.is_none();
        same_core
            && same_memory
            && nothing_new
            && self.accessed(bus).all(|entry| self.repeats(bus, entry, before, after))
    }

    /// True if an entry's accesses take the same time again, and its device has the same to say.
    fn repeats(&self, bus: &Bus, entry: usize, before: &Moment, after: &Moment) -> bool {
        let clock = self.config.clock;
        let entry = &bus.map[entry];
        if entry.route.is_some_and(|route| bus.routes[route].clock != clock) {
            return false;
        }
        match entry.target {
            Target::Ram(ram) => {
                let ram = &bus.rams[ram];
                ram.timing().clock == clock && ram.is_idle(self.now()) && !bus.has_several_masters()
            }
            Target::Device(DeviceId(id), _) => match (&before.devices[id as usize], &after.devices[id as usize]) {
                (Some(before), Some(after)) => after.repeats(before),
                _ => false,
            },
        }
    }

    /// The map entries that the last round accessed.
    fn accessed(&self, bus: &Bus) -> impl Iterator<Item = usize> + use<> {
        let touched = self.memory.touched();
        (0..bus.map.len()).filter(move |entry| touched >> entry & 1 != 0)
    }

    /// How many rounds certainly go like the last one: the one in which something may happen is left to be run, and so is the one before.
    fn rounds_to_come(&mut self, bus: &Bus, before: &Moment, after: &Moment) -> Option<u64> {
        self.update_limit(bus);
        let period = after.counted.cycles - before.counted.cycles;
        let clock = self.config.clock;
        let lists = || {
            let devices = self.accessed(bus).filter_map(|entry| device_at(bus, entry));
            devices.filter_map(|id| Some((after.devices[id].as_ref()?, before.devices[id].as_ref()?)))
        };
        let deadline = lists().map(|(after, before)| after.deadline(before)).min().unwrap_or(Ps::MAX);
        // What the loop started may end, and be seen by a chip, later than the loop's own time.
        let ahead = lists().map(|(list, _)| list.latest_end().0.saturating_sub(self.cycles)).max().unwrap_or(0);
        let until = match deadline {
            Ps::MAX => u64::MAX,
            deadline => clock.cycles_until_floor(deadline).0.saturating_sub(ahead),
        };
        let rounds = (self.limit.min(until).saturating_sub(self.cycles) / period).saturating_sub(1);
        (rounds >= LEAST_ROUNDS).then_some(rounds)
    }

    fn put_behind(&mut self, bus: &mut Bus, before: &Moment, after: Moment, round: &Round, rounds: u64) {
        let accessed: Vec<usize> = self.accessed(bus).collect();
        let now = self.now();
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
        let mut lists = after.devices;
        for entry in accessed {
            let Target::Device(DeviceId(id), _) = bus.map[entry].target else { continue };
            // A device with several ranges is moved on once.
            if let (Some(list), Some(before)) = (lists[id as usize].take(), &before.devices[id as usize]) {
                polled(bus, id as usize, now, &mut list.skip(before, rounds));
            }
        }
    }
}

fn polled(bus: &mut Bus, device: usize, now: Ps, poll: &mut Poll) -> bool {
    bus.with_device(DeviceId(device as u32), now, |device: &mut dyn Device, _| device.polled(poll))
}

fn device_at(bus: &Bus, entry: usize) -> Option<usize> {
    match bus.map[entry].target {
        Target::Ram(_) => None,
        Target::Device(DeviceId(id), _) => Some(id as usize),
    }
}

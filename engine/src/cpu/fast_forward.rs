//! Fast-forwards polling loops, with exactly the result of running every iteration.
//!
//! A candidate ([`super::polls`]) is run on, instruction by instruction, with a look at everything each time that it
//! passes the instruction at which it was found (several times an iteration, if that belongs to a loop within the
//! loop): the core itself, the memory that the loop wrote, events to come, and the lists of the devices that it
//! accessed. Once nothing has changed since the first look but times and totals, what lies between is an iteration, and
//! the next ones are the same, up to the next event, the core's horizon, or the first deadline that a device names. All
//! of them but the last are added at once.

use super::Cpu;
use super::accounts::Totals;
use super::block::Extent;
use super::isa::Isa;
use super::iteration::{Iteration, LONGEST_ITERATION, Lists, MOST_ENTRIES, MOST_PASSES, TRIES, View};
use super::memory::{self, Via};
use super::sections::Totals as _;
use crate::bus::Bus;
use crate::inputs::Inputs;
use crate::time::Ps;

/// Most registers that instructions leave behind: see [`Isa::RESULTS`].
const MOST_RESULTS: usize = 40;

/// Everything that an iteration may change, but the memory that it wrote.
struct Snapshot<I: Isa> {
    pc: u32,
    results: [u32; MOST_RESULTS],
    isa: I,
    pending: I::Pending,
    memory: memory::State,
    /// Levels of the interrupt inputs.
    interrupts: [u32; Inputs::WORDS],
    exceptions: u64,
    counted: Totals,
    mispredictions: u64,
    /// How many were scheduled so far, and when the next is due.
    events: (u64, Ps),
    devices: Lists,
    /// Changes of wires that were recorded so far.
    waves_told: u64,
}

impl<I: Isa> Cpu<I> {
    /// Adds iterations of the loop at the current address, if it polls.
    #[cold]
    #[inline(never)]
    pub(super) fn fast_forward(&mut self, bus: &mut Bus) {
        self.polls.look();
        let done = self.try_fast_forward(bus).is_some();
        self.polls.looked(done);
    }

    fn try_fast_forward(&mut self, bus: &mut Bus) -> Option<()> {
        if self.blocks.are_full() || bus.map.len() > MOST_ENTRIES {
            return None;
        }
        self.registers_recur(bus)?;
        (0..TRIES).find_map(|_| {
            self.is_settled(bus).then_some(())?;
            let before = self.snapshot(bus);
            let (after, iteration, count) = self.find_iteration(bus, &before)?;
            self.add_iterations(&before, &after, &iteration, count);
            self.view().move_devices_on(bus, count, &before.devices, after.devices);
            Some(())
        })
    }

    /// Runs an iteration or two, to see whether the registers come back to what they are: most loops that don't poll
    /// show it here.
    fn registers_recur(&mut self, bus: &mut Bus) -> Option<()> {
        let (head, results, mut iteration) = (self.pc, self.results(), Iteration::default());
        for _ in 0..MOST_PASSES {
            self.run_back_to(head, bus, &mut iteration)?;
            if self.results() == results {
                return Some(());
            }
        }
        None
    }

    /// Runs until everything is again as it was, and will be so often that it is worth while: how often. `None` if that
    /// does not happen soon.
    fn find_iteration(&mut self, bus: &mut Bus, before: &Snapshot<I>) -> Option<(Snapshot<I>, Iteration, u64)> {
        self.memory.forget_touched();
        let mut iteration = Iteration::default();
        let expected = self.polls.expected_passes();
        for pass in 1..=MOST_PASSES {
            self.run_back_to(before.pc, bus, &mut iteration)?;
            // Of a loop that was fast-forwarded before, the passes within its iterations are known.
            if pass < expected
                || self.results() != before.results
                || !self.is_settled(bus)
                || !self.view().devices_repeat(bus, &before.devices)?
            {
                continue;
            }
            let after = self.snapshot(bus);
            if self.is_steady(bus, before, &after, &iteration)
                && let Some(count) = self.iterations_to_come(bus, before, &after)
            {
                self.polls.passes = pass;
                return Some((after, iteration, count));
            }
        }
        None
    }

    /// Runs until the core is back at `head`, one instruction at a time. `None` if something comes up that the outer
    /// loop has to see first.
    fn run_back_to(&mut self, head: u32, bus: &mut Bus, iteration: &mut Iteration) -> Option<()> {
        let begun = self.shell.instructions;
        while iteration.steps < LONGEST_ITERATION {
            iteration.steps += 1;
            self.run_watched(bus, iteration)?;
            if self.pc == head && self.shell.instructions != begun {
                return Some(());
            }
        }
        None
    }

    /// One instruction, or a wait for its fetch. What it writes is remembered in `iteration` first. `None` if something
    /// comes up that the outer loop has to see before it, or if it changes more than registers and memory.
    fn run_watched(&mut self, bus: &mut Bus, iteration: &mut Iteration) -> Option<()> {
        // What was left for a return from an exception still counts for it.
        if I::is_between(self) || I::is_at_return(self) {
            return None;
        }
        self.left = None;
        // Blocks that are dropped, because code was written or for want of room, would take the runs in `iteration`
        // with them.
        if self.has_news(bus) || self.blocks.are_full() {
            return None;
        }
        self.follow_memory(bus);
        if self.shell.stop.is_some()
            || self.shell.cycles >= self.shell.deadline.limit
            || self.shell.sections.stops_at(self.pc)
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
        let runs = self.blocks.hot[index as usize].runs;
        if self.fetch(bus, index) {
            I::execute(self, bus, index);
            let after = self.blocks.hot[index as usize].runs;
            iteration.runs.extend((0..2).filter(|exit| after[*exit] != runs[*exit]).map(|exit| (index, exit)));
        }
        Some(())
    }

    /// True if the iteration from `before` to `after` changed nothing but times and totals, so that the next is the
    /// same.
    fn is_steady(&self, bus: &Bus, before: &Snapshot<I>, after: &Snapshot<I>, iteration: &Iteration) -> bool {
        (after.pc, after.events, after.waves_told) == (before.pc, before.events, before.waves_told)
            && after.results == before.results
            && (after.pending, after.exceptions) == (before.pending, before.exceptions)
            && after.interrupts == before.interrupts
            && after.isa == before.isa
            && self.memory.behaves_like(self.shell.cycles, &before.memory, before.counted.cycles)
            && iteration.left_memory_alone(bus)
            && bus.exit.is_none()
            && self.view().accesses_repeat(bus, &before.devices, &after.devices)
    }

    fn iterations_to_come(&mut self, bus: &Bus, before: &Snapshot<I>, after: &Snapshot<I>) -> Option<u64> {
        self.update_limit(bus);
        let period = after.counted.cycles - before.counted.cycles;
        self.view().iterations_to_come(bus, self.shell.deadline.limit, period, &before.devices, &after.devices)
    }

    /// Counts so many more iterations like the one from `before` to `after`.
    fn add_iterations(&mut self, before: &Snapshot<I>, after: &Snapshot<I>, iteration: &Iteration, count: u64) {
        let cycles = count * (after.counted.cycles - before.counted.cycles);
        let mut counted = after.counted.clone();
        counted.add_difference(&after.counted, &before.counted, count);
        self.mispredictions += count * (after.mispredictions - before.mispredictions);
        (self.shell.instructions, self.shell.cycles, self.shell.fixed) =
            (counted.instructions, counted.cycles, counted.fixed);
        self.shell.spent = counted.spent;
        *self.memory.accounts_mut() = counted.memory;
        for (index, exit) in &iteration.runs {
            self.blocks.hot[*index as usize].runs[*exit] += count;
        }
        self.memory.repeat(&before.memory, count, cycles);
        self.polls.skipped_cycles += cycles;
    }

    fn snapshot(&self, bus: &mut Bus) -> Snapshot<I> {
        Snapshot {
            pc: self.pc,
            results: self.results(),
            isa: self.isa.clone(),
            pending: self.pending,
            memory: self.memory.state().clone(),
            interrupts: *self.interrupts(bus).levels(),
            exceptions: self.shell.exceptions,
            counted: self.counted(),
            mispredictions: self.mispredictions,
            events: (bus.events.scheduled(), bus.events.next_due()),
            devices: self.view().lists(bus),
            waves_told: bus.waves.told(),
        }
    }

    fn results(&self) -> [u32; MOST_RESULTS] {
        let mut x = [0; MOST_RESULTS];
        x[..I::RESULTS].copy_from_slice(&self.x[..I::RESULTS]);
        x
    }

    fn view(&self) -> View {
        View { clock: self.shell.clock, cycles: self.shell.cycles, touched: self.memory.touched() }
    }

    /// True if no store is on its way that a device has seen already.
    fn is_settled(&self, bus: &Bus) -> bool {
        self.memory.is_settled(self.shell.cycles) && !self.shell.irqs.will_change(bus, self.shell.cycles)
    }
}

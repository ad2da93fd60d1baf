//! Loops in which a core only waits for memory to change, for the critical path
//! ([`crate::observe::critical_path`]): its own interrupt handler sets a flag, say.
//!
//! At fixed times the core is watched, instruction by instruction. If it returns to the same instruction with the same
//! registers and memory, and has accessed no device, it loops until something else changes memory. An interrupt still
//! finds it in the loop if the core is at one of the loop's instructions, with its registers, and if the number of
//! instructions run since then is that of whole iterations and a part.

use super::fast_forward::{MOST_RESULTS, Repeats};
use super::iteration::{Iteration, View};
use crate::bus::Bus;
use crate::core::Stop;
use crate::cpu::Cpu;
use crate::cpu::isa::Isa;
use crate::state::{Damaged, Fresh, Loader, Saver, State};
use crate::time::Ps;

/// Time between two watches.
const INTERVAL: Ps = Ps::from_us(50);
/// Most instructions of a loop.
const MOST_INSTRUCTIONS: usize = 256;

/// An instruction of a loop: its address, and a hash of the registers before it.
type Spot = (u32, u64);

/// The loop in which a core was last seen.
#[derive(Debug, State, Fresh)]
struct WaitLoop {
    since: Ps,
    /// Instructions before the watched iteration.
    instructions: u64,
    cycles: u64,
    /// Duration of an iteration.
    period_cycles: u64,
    states: Vec<Spot>,
    /// Number of stores to devices before.
    device_stores: u64,
}

/// An iteration that is being watched.
struct Watch<I> {
    isa: I,
    since: Ps,
    pc: u32,
    results: [u32; MOST_RESULTS],
    instructions: u64,
    cycles: u64,
    iteration: Iteration,
    states: Vec<Spot>,
}

/// State of the detection for a core.
pub(in crate::cpu) struct WaitLoops<I> {
    /// Time of the next watch; [`Ps::MAX`] for never.
    pub next: Ps,
    watch: Option<Box<Watch<I>>>,
    found: Option<WaitLoop>,
}

impl<I> Default for WaitLoops<I> {
    fn default() -> WaitLoops<I> {
        WaitLoops { next: Ps::MAX, watch: None, found: None }
    }
}

impl<I> WaitLoops<I> {
    /// Starts to watch the core.
    pub fn start(&mut self) {
        self.next = INTERVAL;
    }

    /// Drops the loops: the core does something else.
    pub fn give_up(&mut self) {
        self.watch = None;
    }

    /// Adds the loops to a snapshot.
    pub fn save(&self, to: &mut Saver)
    where
        I: State,
    {
        to.begin("Spins");
        to.field("next");
        self.next.save(to);
        to.field("found");
        self.found.save(to);
        to.field("watch");
        self.watch.is_some().save(to);
        if let Some(watch) = &self.watch {
            let Watch { isa, since, pc, results, instructions, cycles, iteration, states } = &**watch;
            to.field("watched");
            isa.save(to);
            ((*since, *pc), (*instructions, *cycles)).save(to);
            results.save(to);
            iteration.save(to);
            states.save(to);
        }
        to.end();
    }

    /// Loads the state from a snapshot; `isa` is any state of the core's instruction set.
    pub fn load(&mut self, isa: &I, from: &mut Loader) -> Result<(), Damaged>
    where
        I: State + Clone,
    {
        self.next.load(from)?;
        self.found.load(from)?;
        self.watch = None;
        if bool::loaded(from)? {
            let mut isa = isa.clone();
            isa.load(from)?;
            let ((since, pc), (instructions, cycles)) = Fresh::loaded(from)?;
            let results = Fresh::loaded(from)?;
            let (mut iteration, mut states) = (Iteration::default(), Vec::new());
            iteration.load(from)?;
            states.load(from)?;
            self.watch = Some(Box::new(Watch { isa, since, pc, results, instructions, cycles, iteration, states }));
        }
        Ok(())
    }

    /// True if there may be work to do before the next instruction.
    #[inline]
    pub fn are_on(&self) -> bool {
        self.next != Ps::MAX
    }
}

impl<I: Isa> Cpu<I> {
    /// Runs up to `until`, and watches the core at the due times. The machine does not notice: the choice of the next
    /// core must not depend on it.
    pub(in crate::cpu) fn run_and_watch(&mut self, bus: &mut Bus, until: Ps) -> Stop {
        loop {
            let next = self.wait_loops.next;
            let ends = if next > self.shell.now() { until.min(next) } else { until };
            self.begin(bus, ends);
            let stop = self.run_loop(bus, false);
            let now = self.shell.now();
            let is_between = stop == Stop::Horizon
                && (ends..until).contains(&now)
                && bus.next_stop() > now
                && !bus.order.wants()
                && !bus.clocks.are_pending()
                && bus.exit.is_none();
            if !is_between {
                return stop;
            }
        }
    }

    /// Watches the core, if it is time. True if it has been run, as far as possible.
    #[cold]
    #[inline(never)]
    pub(in crate::cpu) fn watch(&mut self, bus: &mut Bus) -> bool {
        if self.wait_loops.watch.is_none() && !self.begins_watch() {
            return false;
        }
        let Some(mut watch) = self.wait_loops.watch.take() else { return false };
        let instructions = self.shell.instructions;
        let runs = self.run_watched(bus, &mut watch.iteration).is_some();
        let waits = self.shell.cycles >= self.shell.deadline.limit || self.shell.stop.is_some();
        let view = View { clock: self.shell.clock, cycles: self.shell.cycles, touched: self.touched() };
        let goes_on = (runs || waits) && !view.has_accessed_devices(bus) && watch.states.len() <= MOST_INSTRUCTIONS;
        if !goes_on {
            self.wait_loops.found = None;
            return true;
        }
        if self.shell.instructions != instructions {
            let results = self.results();
            if (self.pc, results) == (watch.pc, watch.results)
                && self.isa == watch.isa
                && watch.iteration.left_memory_alone(bus)
            {
                self.wait_loops.found = Some(self.found(*watch));
                return true;
            }
            watch.states.push((self.pc, number(&results)));
        }
        self.wait_loops.watch = Some(watch);
        true
    }

    fn begins_watch(&mut self) -> bool {
        let now = self.shell.now();
        if now < self.wait_loops.next {
            return false;
        }
        self.wait_loops.next = Ps((now.0 / INTERVAL.0 + 1) * INTERVAL.0);
        if !self.is_settled() || self.is_looping() {
            return false;
        }
        self.forget_touched();
        let results = self.results();
        self.wait_loops.watch = Some(Box::new(Watch {
            isa: self.isa.clone(),
            since: now,
            pc: self.pc,
            results,
            instructions: self.shell.instructions,
            cycles: self.shell.cycles,
            iteration: Iteration::default(),
            states: vec![(self.pc, number(&results))],
        }));
        true
    }

    /// Returns the detected loop; the former one, if only an interrupt of the core's own has come between.
    fn found(&self, watch: Watch<I>) -> WaitLoop {
        let device_stores = self.device_stores();
        let before = self.wait_loops.found.as_ref();
        let same = before.filter(|wait_loop| {
            wait_loop.device_stores == device_stores
                && wait_loop.states.contains(&watch.states[0])
                && wait_loop.since < watch.since
        });
        WaitLoop {
            since: same.map_or(watch.since, |wait_loop| wait_loop.since),
            instructions: watch.instructions,
            cycles: watch.cycles,
            period_cycles: self.shell.cycles.wrapping_sub(watch.cycles),
            states: watch.states,
            device_stores,
        }
    }

    fn device_stores(&self) -> u64 {
        self.shell.waits.as_ref().map_or(0, |waits| waits.stores())
    }

    /// True if the core has only looped since it was seen in its loop.
    fn is_looping(&self) -> bool {
        let Some(wait_loop) = &self.wait_loops.found else { return false };
        let period = wait_loop.states.len() as u64;
        let instructions = self.shell.instructions.wrapping_sub(wait_loop.instructions);
        let cycles = u128::from(self.shell.cycles.wrapping_sub(wait_loop.cycles)) * u128::from(period);
        let expected = u128::from(instructions) * u128::from(wait_loop.period_cycles);
        // Waits for shared memories may be a little longer or shorter.
        let slack = expected / 4 + u128::from(period * wait_loop.period_cycles);
        wait_loop.states[(instructions % period) as usize] == (self.pc, number(&self.results()))
            && cycles.abs_diff(expected) <= slack
    }

    /// Notes that an interrupt is about to be taken.
    #[inline]
    pub(in crate::cpu) fn note_interrupt(&mut self, bus: &Bus) {
        if self.wait_loops.are_on() {
            self.end_wait_loop(bus);
        }
    }

    #[cold]
    #[inline(never)]
    fn end_wait_loop(&mut self, bus: &Bus) {
        self.wait_loops.watch = None;
        let held_since = self.wait_loops.found.as_ref().filter(|_| self.is_looping()).map(|wait_loop| wait_loop.since);
        // An interrupted loop may continue afterwards.
        if held_since.is_none_or(|since| bus.core_interrupted(self.shell.index as usize, since, self.shell.now())) {
            self.wait_loops.found = None;
        }
    }
}

/// A hash: it differs, except for rare collisions, when any register does.
fn number(registers: &[u32; MOST_RESULTS]) -> u64 {
    registers.iter().fold(0xcbf2_9ce4_8422_2325, |sum: u64, register| {
        (sum ^ u64::from(*register)).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29)
    })
}

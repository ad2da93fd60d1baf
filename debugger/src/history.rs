//! Going back: snapshots of the run so far, and replay from them.
//!
//! A run is deterministic, so the state before any instruction is restored by loading the last snapshot before it and
//! running from there. Snapshots are taken at the start and while the machine runs, and some are dropped when they
//! exceed the memory limit. The debugger's own writes are not part of the firmware's run: history starts again after
//! them.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use engine::bus::watches::Watch;
use engine::time::Ps;
use machine::debugging::{Halt, Step};
use machine::snapshots::{Snapshot, SnapshotError};
use machine::{Machine, Printed};

/// The memory limit for snapshots.
pub const BUDGET_BYTES: usize = 512 << 20;
/// The first distance from an instruction at which a replay begins to step.
const FIRST_DISTANCE: Ps = Ps::from_us(10);

/// The time of the first snapshot, as the host's speed is not known before.
const FIRST_SNAPSHOT: Ps = Ps::from_us(10_000);
/// The host's time between snapshots, which is the time that going back by an instruction takes.
const PACE: Duration = Duration::from_millis(250);

/// The amount of output up to a moment.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OutputLength {
    console: usize,
    streams: BTreeMap<String, usize>,
}

impl OutputLength {
    /// Adds output. Returns the part of it that is new at the furthest moment of the run, which is `furthest`.
    pub fn add(&mut self, printed: &Printed, furthest: &mut OutputLength) -> Printed {
        let console = beyond(&mut self.console, &mut furthest.console, &printed.console);
        let stream = |(name, bytes): &(String, Vec<u8>)| {
            let output = self.streams.entry(name.clone()).or_default();
            let new = beyond(output, furthest.streams.entry(name.clone()).or_default(), bytes);
            (!new.is_empty()).then(|| (name.clone(), new))
        };
        let streams = printed.streams.iter().filter_map(stream).collect();
        Printed { console, streams, notes: printed.notes.clone(), is_restart: printed.is_restart }
    }
}

fn beyond(output: &mut usize, furthest: &mut usize, bytes: &[u8]) -> Vec<u8> {
    let known = furthest.saturating_sub(*output).min(bytes.len());
    *output += bytes.len();
    *furthest = (*furthest).max(*output);
    bytes[known..].to_vec()
}

/// A moment of a run that can be restored.
#[derive(Debug)]
struct Moment {
    /// The number of instructions of each core.
    instructions: Vec<u64>,
    /// A time that no core has passed.
    time: Ps,
    output: OutputLength,
    snapshot: Snapshot,
}

impl Moment {
    fn total(&self) -> u64 {
        self.instructions.iter().sum()
    }
}

/// The result of going back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Back {
    /// A breakpoint, the moment before an instruction with a watched access, or the end of a step.
    Halt(Halt),
    /// The start of the history.
    Begin,
}

/// An access that was found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Access {
    /// The core that made it, or that ran when a device made it.
    pub core: usize,
    /// The address of that core's next instruction.
    pub pc: u32,
    /// The core's number of instructions before it.
    pub instructions: u64,
    /// The core's time.
    pub time: Ps,
    /// The device, if a device made it.
    pub device: Option<String>,
}

/// The position of a machine: the instructions of all cores together, and the time of each.
struct Place {
    total: u64,
    times: Vec<Ps>,
}

impl Place {
    fn of(machine: &Machine) -> Place {
        let times = (0..machine.core_count()).map(|core| machine.time_of_core(core)).collect();
        Place { total: instructions(machine).iter().sum(), times }
    }

    /// True if the machine passes this place on its way to `later`, or is there. While cores wait, only time differs.
    fn is_within(&self, later: &Place) -> bool {
        self.total <= later.total && self.times.iter().zip(&later.times).all(|(time, later)| time <= later)
    }
}

/// An access or a breakpoint that was passed.
#[derive(Clone, Debug)]
struct Found {
    halt: Halt,
    /// The number of halts up to it, since the moment.
    count: usize,
    /// The core, its number of instructions after the access, and its time.
    core: usize,
    instructions: u64,
    time: Ps,
}

/// The run from one snapshot to the next.
#[derive(Debug)]
pub struct Lap {
    /// When the next snapshot is due.
    pub due: Ps,
    begun: Instant,
}

/// The snapshots of a run.
#[derive(Debug)]
pub struct History {
    moments: Vec<Moment>,
    /// The simulated time between snapshots.
    every: Ps,
    /// The state when the debugger connected, with its writes at that time.
    hold: Option<Snapshot>,
    budget_bytes: usize,
    /// The output up to the current place of the machine.
    pub output: OutputLength,
    /// The reason why there are no snapshots.
    refused: Option<String>,
}

impl History {
    /// A history that starts at the machine's current place.
    pub fn new(machine: &mut Machine, budget_bytes: usize) -> History {
        let (moments, every, output) = (Vec::new(), FIRST_SNAPSHOT, OutputLength::default());
        let mut history = History { moments, every, hold: None, budget_bytes, output, refused: None };
        history.begin_anew(machine);
        history
    }

    /// Something was written: the history starts again at the machine's current place.
    pub fn begin_anew(&mut self, machine: &mut Machine) {
        self.moments.clear();
        self.take(machine);
        let taken = self.moments.first().map(|moment| moment.snapshot.clone());
        if self.hold.as_ref().is_none_or(|hold| hold.time() >= machine.latest()) {
            self.hold = taken;
        }
    }

    /// The machine starts to run.
    pub fn begin_lap(&self, machine: &Machine) -> Lap {
        Lap { due: machine.latest().saturating_add(self.every), begun: host_time() }
    }

    /// Takes a snapshot if one is due. The interval to the next one depends on the host's speed.
    pub fn follow(&mut self, machine: &mut Machine, lap: &mut Lap) {
        if machine.latest() < lap.due {
            return;
        }
        self.every = match lap.begun.elapsed() {
            took if took < PACE / 2 => Ps(self.every.0.saturating_mul(2)),
            took if took > PACE * 2 => Ps(self.every.0 / 2),
            _ => self.every,
        };
        self.take(machine);
        *lap = self.begin_lap(machine);
    }

    /// Keeps a snapshot of the machine's current place.
    pub fn take(&mut self, machine: &mut Machine) {
        let instructions = instructions(machine);
        let is_new = self.moments.last().is_none_or(|last| last.total() < instructions.iter().sum());
        if !is_new {
            return;
        }
        match machine.snapshot() {
            Ok(snapshot) => {
                let (time, output) = (machine.latest(), self.output.clone());
                self.moments.push(Moment { instructions, time, output, snapshot });
                self.refused = None;
            }
            Err(error) => self.refused = Some(error.to_string()),
        }
        while self.bytes() > self.budget_bytes && self.moments.len() > 2 {
            // The first snapshot is the start of the history, the last one is needed next.
            let (mut place, last) = (0, self.moments.len() - 1);
            self.moments.retain(|_| {
                place += 1;
                place % 2 == 1 || place - 1 == last
            });
        }
    }

    fn bytes(&self) -> usize {
        self.moments.iter().map(|moment| moment.snapshot.size_bytes()).sum()
    }

    /// Goes back to the moment at which the debugger connected, with its writes at that time.
    ///
    /// # Errors
    /// Why that is not possible.
    pub fn reset(&mut self, machine: &mut Machine) -> Result<(), String> {
        self.check()?;
        let hold = self.hold.clone().ok_or("there is no history to go back in")?;
        machine.go_back(&hold).map_err(|error| error.to_string())?;
        machine.set_watches(machine.watches());
        (self.moments, self.output) = (Vec::new(), OutputLength::default());
        self.take(machine);
        Ok(())
    }

    /// Goes back by one instruction of a core.
    ///
    /// # Errors
    /// Why that is not possible.
    pub fn step_back(&mut self, machine: &mut Machine, core: usize, limit: Ps) -> Result<Back, String> {
        let (instructions, time) = (machine.position(core).instructions, machine.time_of_core(core));
        // A branch and the instruction in its delay slot are one step.
        for target in (instructions.saturating_sub(2)..instructions).rev() {
            if !self.undisturbed(machine, |history, machine| history.go_to(machine, core, target, time, limit))? {
                return Ok(Back::Begin);
            }
            if machine.position(core).instructions < instructions {
                return Ok(Back::Halt(Halt::Stepped { core }));
            }
        }
        self.go_to_begin(machine)
    }

    /// Goes back to the last breakpoint or condition before the machine's current place, or to the moment before the
    /// last watched access.
    ///
    /// # Errors
    /// Why that is not possible.
    pub fn run_back(&mut self, machine: &mut Machine, limit: Ps) -> Result<Back, String> {
        let Some((index, found)) = self.last_halt(machine, limit)? else { return self.go_to_begin(machine) };
        if let Halt::Watch { .. } = found.halt {
            // Goes to before the access: right after it, the value would still be that of the later moment.
            let Found { core, instructions, time, .. } = found;
            let before = instructions.saturating_sub(1);
            self.undisturbed(machine, |history, machine| history.go_to(machine, core, before, time, limit))?;
            return Ok(Back::Halt(found.halt));
        }
        self.load(machine, index)?;
        for _ in 0..found.count {
            self.resume(machine, None, Ps::MAX, limit);
        }
        Ok(Back::Halt(found.halt))
    }

    /// The last access before the machine's current place; the machine stays there.
    ///
    /// # Errors
    /// Why it can't be found.
    pub fn last_access(&mut self, machine: &mut Machine, watch: Watch, limit: Ps) -> Result<Option<Access>, String> {
        let (here, output) = (machine.snapshot().map_err(|error| error.to_string())?, self.output.clone());
        let found = self.undisturbed(machine, |history, machine| {
            if !machine.set_watches(vec![watch]).is_empty() {
                return Err("that can't be watched".to_owned());
            }
            let Some((index, found)) = history.last_halt(machine, limit)? else { return Ok(None) };
            history.load(machine, index)?;
            for _ in 0..found.count {
                history.resume(machine, None, Ps::MAX, limit);
            }
            let Found { core, instructions, time, .. } = found;
            let Halt::Watch { hit, .. } = found.halt else { return Ok(None) };
            let device = hit.device.map(|device| machine.device_name(device).to_owned());
            Ok(Some(Access { core, pc: machine.position(core).pc, instructions, time, device }))
        });
        machine.go_back(&here).map_err(|error| error.to_string())?;
        self.output = output;
        let watches = machine.watches();
        machine.set_watches(watches);
        found
    }

    /// The last halt before the machine's current place, and the index of the moment before it.
    fn last_halt(&mut self, machine: &mut Machine, limit: Ps) -> Result<Option<(usize, Found)>, String> {
        self.check()?;
        let here = Place::of(machine);
        let earlier: Vec<usize> =
            (0..self.moments.len()).filter(|index| self.moments[*index].total() < here.total).collect();
        let mut end = (here.total, machine.latest());
        for index in earlier.into_iter().rev() {
            self.load(machine, index)?;
            if let Some(found) = self.last_halt_until(machine, &here, end, limit) {
                return Ok(Some((index, found)));
            }
            let moment = &self.moments[index];
            end = (moment.total(), moment.time);
        }
        Ok(None)
    }

    /// The last halt from the machine's current place on, up to a number of instructions and a time, and before `here`.
    fn last_halt_until(
        &mut self,
        machine: &mut Machine,
        here: &Place,
        (most, end): (u64, Ps),
        limit: Ps,
    ) -> Option<Found> {
        let mut last = None;
        for count in 1.. {
            let halt = self.resume(machine, None, end.saturating_add(Ps(1)), limit);
            let (Halt::Break { core } | Halt::Watch { core, .. } | Halt::Trigger { core, .. }) = halt else { break };
            let place = Place::of(machine);
            // For an access, the halt is after it.
            let is_before = match halt {
                Halt::Watch { .. } => place.is_within(here),
                _ => place.total < here.total,
            };
            if place.total > most || !is_before {
                break;
            }
            let (instructions, time) = (machine.position(core).instructions, machine.time_of_core(core));
            last = Some(Found { halt, count, core, instructions, time });
        }
        last
    }

    /// Goes to where a core has run `target` instructions, or one more if it can't halt there. It had run them at
    /// `time` or a little before. False if history starts later; the machine is then at the start of it.
    fn go_to(&mut self, machine: &mut Machine, core: usize, target: u64, time: Ps, limit: Ps) -> Result<bool, String> {
        self.check()?;
        let Some(index) = self.moments.iter().rposition(|moment| moment.instructions[core] <= target) else {
            self.load(machine, 0)?;
            return Ok(false);
        };
        let mut distance = FIRST_DISTANCE;
        loop {
            self.load(machine, index)?;
            let until = time.saturating_sub(distance);
            if until <= self.moments[index].time {
                break;
            }
            self.resume(machine, None, until, limit);
            if machine.position(core).instructions <= target {
                break;
            }
            distance = Ps(distance.0.saturating_mul(8));
        }
        while machine.position(core).instructions < target {
            let step = Step { core, range: None, into_handlers: true };
            if let Halt::Ended(_) | Halt::Interrupted = self.resume(machine, Some(step), Ps::MAX, limit) {
                return Err("the run did not come to where it had been".to_owned());
            }
        }
        Ok(true)
    }

    /// Runs `work` without breakpoints and watchpoints.
    fn undisturbed<T>(
        &mut self,
        machine: &mut Machine,
        work: impl FnOnce(&mut History, &mut Machine) -> Result<T, String>,
    ) -> Result<T, String> {
        let (breaks, watches) = (machine.breaks(), machine.watches());
        machine.set_breaks([].into());
        machine.set_watches(Vec::new());
        machine.quiet_triggers(true);
        let result = work(self, machine);
        machine.quiet_triggers(false);
        machine.set_breaks(breaks);
        machine.set_watches(watches);
        result
    }

    fn go_to_begin(&mut self, machine: &mut Machine) -> Result<Back, String> {
        self.load(machine, 0)?;
        Ok(Back::Begin)
    }

    fn check(&self) -> Result<(), String> {
        match (&self.refused, self.moments.first()) {
            (Some(why), None) => Err(why.clone()),
            _ => Ok(()),
        }
    }

    fn load(&mut self, machine: &mut Machine, index: usize) -> Result<(), String> {
        self.check()?;
        let moment = self.moments.get(index).ok_or("there is no history to go back in")?;
        machine.go_back(&moment.snapshot).map_err(|error: SnapshotError| error.to_string())?;
        self.output = moment.output.clone();
        let watches = machine.watches();
        machine.set_watches(watches);
        Ok(())
    }

    /// Runs a part of the run whose output is known.
    fn resume(&mut self, machine: &mut Machine, step: Option<Step>, until: Ps, limit: Ps) -> Halt {
        let until = (until != Ps::MAX).then_some(until);
        machine.replay(true);
        let halt = machine.resume(step, until, limit, |printed| {
            self.output.add(printed, &mut OutputLength::default());
            true
        });
        machine.replay(false);
        halt
    }
}

/// The host's time: it decides when a snapshot is taken, and nothing else.
#[allow(clippy::disallowed_methods)]
fn host_time() -> Instant {
    Instant::now()
}

fn instructions(machine: &Machine) -> Vec<u64> {
    (0..machine.core_count()).map(|core| machine.position(core).instructions).collect()
}

//! The machine: cores, bus and events on one time line.

mod asleep;
mod calls;
mod critical_path;
pub mod debugging;
pub mod ending;
mod event_rates;
pub mod exercise;
pub mod host;
mod images;
pub mod lines;
pub mod loaded;
pub mod loading;
mod messages;
mod midst;
pub mod profiling;
mod programs;
mod progress;
pub mod snapshots;
pub mod tracing;
pub mod triggers;
mod typed;
pub mod unmodelled;
mod vectors;
pub mod windows;

use std::fs::File;

use crate::activity::Kinds;
use crate::bus::Bus;
use crate::core::{Compiled, Compiling, Core, CoreReport, Stop};
use crate::dt::params::Parameter;
use crate::observe::critical_path::CriticalPath;
use crate::observe::trace::Counters;
use crate::state::{Fresh, State};
use crate::time::{Cycles, Hz, Ps};
use crate::wires::parts::Light;
use debugging::Debugging;
use ending::StopRequest;
use programs::Program;
use progress::{Activity, Progress, Turn};
use triggers::Triggers;
use unmodelled::UnmodelledRegister;
use windows::{Window, Windows};

/// How far a core may run ahead of another, unless [`Machine::set_quantum`] says otherwise. An interrupt from one to
/// another that is busy may be taken late by so much.
const QUANTUM: Ps = Ps::from_us(1);
/// How many cycles pass at most between looks at the user's wish to stop; what was printed is looked at more often
/// ([`crate::observe::output`]).
const SLICE_CYCLES: Cycles = Cycles(10_000_000);

/// A device, as described to the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceInfo {
    /// Label.
    pub name: String,
    /// The compatible that chose its model.
    pub compatible: String,
    /// Path of its node.
    pub path: String,
    /// Its ranges: base and last address.
    pub ranges: Vec<(u32, u32)>,
}

/// A range of addresses with a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Region {
    /// Its name.
    pub name: String,
    /// First address.
    pub base: u32,
    /// Last address.
    pub last: u32,
}

/// A core, as described to the user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CoreInfo {
    /// Label.
    pub name: String,
    /// Most specific compatible.
    pub compatible: String,
    /// Instruction set.
    pub isa: String,
    /// Clock.
    pub clock: Hz,
    /// Caches, as text: "i-cache 16 KiB, 16-byte lines, 1 way".
    pub caches: Vec<String>,
    /// How it fetches what no cache holds: the name of one of [`crate::cpu::memory::fetch`]'s policies.
    pub fetch_policy: &'static str,
}

/// What `describe` shows of a board.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Description {
    /// `model` of the root node.
    pub model: String,
    /// Cores.
    pub cores: Vec<CoreInfo>,
    /// Clocks by label.
    pub clocks: Vec<(String, u64)>,
    /// Devices.
    pub devices: Vec<DeviceInfo>,
    /// Paths of the map entries, in the map's order.
    pub paths: Vec<String>,
    /// Timing parameters with their provenance.
    pub parameters: Vec<Parameter>,
    /// Peripherals that the chip has and the board has no model of, by address.
    pub unmodelled: Vec<Region>,
    /// Label of the second-level cache; empty if there is none.
    pub outer: String,
    /// All nodes by their paths, each with a number for all that it says: see [`snapshots`].
    pub nodes: Vec<(String, u64)>,
    /// What is allowed, and hardly meant: a line each, with its place.
    pub warnings: Vec<String>,
}

impl Description {
    /// The peripheral without a model that is at an address.
    pub fn unmodelled_at(&self, addr: u32) -> Option<&Region> {
        self.unmodelled.iter().find(|region| (region.base..=region.last).contains(&addr))
    }
}

/// How a run ended.
#[derive(Clone, Debug, PartialEq, Eq, State, Fresh)]
pub enum Outcome {
    /// The firmware ended it.
    Exit(i32),
    /// The limit on simulated time came first.
    Limit(String),
    /// All cores sleep, and nothing is left that would wake one.
    Asleep(String),
    /// The firmware could not go on.
    Fault(String),
    /// A script did not get what it expected from a serial line.
    Script(String),
    /// The user stopped it.
    Interrupted,
}

/// Everything that a run gives back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunReport {
    /// How it ended.
    pub outcome: Outcome,
    /// Simulated time: the local time of the core that got furthest, or the limit in the midst of its access.
    pub elapsed: Ps,
    /// Each core's.
    pub cores: Vec<CoreReport>,
    /// Totals of devices.
    pub counters: Vec<(String, u64)>,
    /// Words that the firmware gave as results, of each device that takes such, in the order of the board.
    pub results: Vec<(String, Vec<u32>)>,
    /// What the user should know.
    pub notes: Vec<String>,
    /// The board's lights, each with what it has done.
    pub lights: Vec<Light>,
    /// Calls of functions whose windows were asked for, in the order of their ends.
    pub windows: Vec<Window>,
    /// Files on the host that lack something of what the firmware stored, a sentence each.
    pub failed_saves: Vec<String>,
    /// Registers without a model that the firmware used.
    pub unmodelled: Vec<UnmodelledRegister>,
    /// Who held whom up, if what was waited for was asked for.
    pub critical_path: Option<CriticalPath>,
}

/// What was printed since someone looked last.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Printed {
    /// On the console.
    pub console: Vec<u8>,
    /// On lines of their own, by the label of the device, in the order of the board.
    pub streams: Vec<(String, Vec<u8>)>,
    /// Notes that should not wait for the end of the run: what makes it slow. They are among its notes, too.
    pub notes: Vec<String>,
    /// A debugger has begun the run anew: what was printed before is of another one.
    pub begins_anew: bool,
}

/// A board, ready to run.
pub struct Machine {
    bus: Bus,
    cores: Vec<Box<dyn Core>>,
    description: Description,
    /// The core that the loaded program is for.
    main: usize,
    /// What runs on each core, as far as it is known.
    programs: Vec<Option<Program>>,
    /// Where each core looks for its vector table after a reset, as the board has it.
    reset_tables: Vec<Option<u32>>,
    /// Where the user wants the program to begin, whatever its vector table says.
    wanted_start: Option<u32>,
    /// Functions that are watched: core and name.
    watched: Vec<(usize, String)>,
    windows: Windows,
    profiled: profiling::Profiled,
    /// How each core is getting on.
    progress: Vec<Progress>,
    /// What the user should know of the program, before it runs.
    program_notes: Vec<String>,
    quantum: Ps,
    /// A run is under way: images are taken.
    begun: bool,
    /// Images that could not be written at its end.
    failed_saves: Vec<String>,
    /// The end of the slice that is under way.
    slice_end: Option<Ps>,
    /// The turn of a core that is under way where the machine has stopped.
    turn: Option<Turn>,
    /// A snapshot could not be loaded, and has left nothing that could run: why.
    broken: Option<String>,
    typed: typed::Typed,
    /// When the host gets what was printed; `None` if nobody has looked yet whether something was.
    hand_over_at: Option<Ps>,
    /// How many of the storms the host was told of already.
    reported_excess: usize,
    /// Notes that belong to the end of the run.
    end_notes: Vec<String>,
    /// What would end the waits for registers without a model in which the run ended, by their addresses.
    answers: Vec<(u32, unmodelled::Answer)>,
    /// The core that ended the run by itself.
    ended_by: Option<usize>,
    /// When the limit or a device ended the run, if one has.
    ends_at: Option<Ps>,
    stop: StopRequest,
    debugging: Debugging,
    triggers: Triggers,
    /// For a timeline: its window, and totals so far.
    timeline_window: (Ps, Ps),
    totals_over_time: Counters,
}

impl Machine {
    /// Puts a machine together; [`crate::board::build`] does that from a devicetree.
    pub fn new(mut bus: Bus, cores: Vec<Box<dyn Core>>, description: Description) -> Machine {
        bus.set_core_clocks(cores.iter().map(|core| core.clock()).collect());
        Machine {
            bus,
            programs: cores.iter().map(|_| None).collect(),
            progress: vec![Progress::default(); cores.len()],
            wanted_start: None,
            reset_tables: cores.iter().map(|core| core.vector_table()).collect(),
            cores,
            description,
            main: 0,
            watched: Vec::new(),
            program_notes: Vec::new(),
            windows: Windows::default(),
            profiled: profiling::Profiled::default(),
            quantum: QUANTUM,
            begun: false,
            failed_saves: Vec::new(),
            slice_end: None,
            turn: None,
            broken: None,
            typed: typed::Typed::default(),
            hand_over_at: None,
            reported_excess: 0,
            end_notes: Vec::new(),
            answers: Vec::new(),
            ended_by: None,
            ends_at: None,
            stop: StopRequest::default(),
            debugging: Debugging::default(),
            triggers: Triggers::default(),
            timeline_window: (Ps::ZERO, Ps::MAX),
            totals_over_time: Counters::default(),
        }
    }

    /// What the board is.
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// The bus, for tests and tools.
    pub fn bus(&mut self) -> &mut Bus {
        &mut self.bus
    }

    /// Has a core held in reset until a device lets it go ([`Bus::core_reset`]).
    pub fn hold(&mut self, core: usize) {
        self.progress[core].activity = Activity::Held;
    }

    /// Lets a core run ahead of others by so much. Accesses to devices and shared memory do not depend on it; when an
    /// interrupt from one busy core to another is taken does.
    pub fn set_quantum(&mut self, quantum: Ps) {
        self.quantum = quantum.max(Ps(1));
    }

    /// Has the machine stop when this is asked for, with [`Outcome::Interrupted`].
    pub fn stop_on(&mut self, request: StopRequest) {
        self.stop = request;
    }

    /// Has code compiled for the host once it ran `runs` times, where that can be done (0: never). It changes nothing
    /// but the speed of the simulation; cores choose a number by themselves.
    pub fn compile_after(&mut self, runs: u16) {
        self.cores.iter_mut().for_each(|core| core.compile_after(runs));
    }

    /// The same, with more to choose.
    pub fn compile(&mut self, how: Compiling) {
        self.cores.iter_mut().for_each(|core| core.compile(how));
    }

    /// What each core has compiled so far: no two runs have to compile the same.
    pub fn compiled(&self) -> Vec<Compiled> {
        self.cores.iter().map(|core| core.compiled()).collect()
    }

    /// Has iterations of polling loops skipped or not. It changes nothing but the speed of the simulation.
    pub fn skip_polling(&mut self, skip: bool) {
        self.debugging.skips_polling = Some(skip);
        self.cores.iter_mut().for_each(|core| core.skip_polling(skip));
    }

    /// Has changes of wires recorded from now on, in [`Bus::waves`]: of the signals at these places there. Those that
    /// are too many for memory go to `file`, which is empty; without one there is a limit.
    pub fn record_waves(&mut self, signals: &[usize], file: Option<File>) {
        self.bus.wires.record_levels(&self.bus.waves);
        self.bus.waves.choose(signals);
        self.bus.device_signals.record(signals, &self.bus.activities, &self.bus.waves);
        match file {
            Some(file) => self.bus.waves.start_into(file),
            None => self.bus.waves.start(),
        }
    }

    /// Has activities of devices recorded from now on, in [`Bus::activities`]: those of these kinds, in so much memory.
    /// It changes nothing else.
    pub fn record_activities(&mut self, kinds: Kinds, most_bytes: usize) {
        self.bus.activities.start(kinds, most_bytes);
    }

    /// Cycles of each core that were skipped so far.
    pub fn skipped(&self) -> Vec<Cycles> {
        self.cores.iter().map(|core| core.skipped()).collect()
    }

    /// Runs until the firmware ends, `limit` is reached, `pause` says stop, or another thread does
    /// ([`Machine::stop_on`]). `pause` gets what was printed since the last call, soon after it was printed and before
    /// much has gathered; the simulation waits for it.
    pub fn run(&mut self, limit: Ps, mut pause: impl FnMut(&Printed) -> bool) -> RunReport {
        if let Err(fault) = self.begin_or_fault() {
            return self.report(fault);
        }
        let outcome = loop {
            if let Some(outcome) = self.debugging.take_ended() {
                break outcome;
            }
            let ended = self.run_next_slice(limit, &mut pause);
            // Nobody is there to halt for.
            self.debugging.take_halt();
            let go_on = pause(&self.take_printed());
            match ended {
                Some(outcome) => break outcome,
                None if !go_on => break Outcome::Interrupted,
                None => {}
            }
        };
        self.debugging.keep_end(&outcome);
        self.end(outcome, &mut pause)
    }

    /// Runs `count` instructions of the program's core one by one; gives its registers after each.
    pub fn trace(&mut self, count: usize, mut each: impl FnMut(&[u32])) -> Option<Outcome> {
        if let Err(fault) = self.begin_or_fault() {
            return Some(fault);
        }
        self.bus.master = Some(self.main);
        for _ in 0..count {
            let now = self.core_time(self.main);
            self.bus.run_events(now);
            self.follow_clocks();
            self.bus.master = Some(self.main);
            let stop = self.cores[self.main].step(&mut self.bus);
            each(&self.cores[self.main].registers());
            // Nobody is there to take what was printed.
            self.bus.output.take();
            match stop {
                Stop::Horizon | Stop::Mark | Stop::Break => {}
                Stop::Waiting => self.cores[self.main].idle(self.bus.events.next_due().min(now + self.quantum)),
                Stop::Exit(code) => return Some(Outcome::Exit(code)),
                Stop::Fault(fault) => return Some(Outcome::Fault(self.fault_text(self.main, &fault))),
            }
            if let Some(outcome) = self.outcome_of_devices() {
                return Some(outcome);
            }
        }
        None
    }

    /// The registers of the program's core: pc, then x0 to x31.
    pub fn registers(&self) -> Vec<u32> {
        self.cores[self.main].registers()
    }

    /// What has happened so far.
    pub fn report(&mut self, outcome: Outcome) -> RunReport {
        let elapsed = self.elapsed();
        for index in 0..self.cores.len() {
            // One that is there already has results under way, perhaps.
            if self.core_time(index) < elapsed {
                self.pass_time(index, elapsed);
            }
        }
        let mut cores = self.core_reports();
        let times: Vec<Ps> = self.cores.iter().map(|core| core.now()).collect();
        for (index, (core, now)) in cores.iter_mut().zip(times).enumerate() {
            match self.cut_of(index, elapsed) {
                Some(cut) => core.cut_off(&cut, &self.cause_of(index, &cut)),
                None => core.cut = self.progress[index].beyond(now, elapsed),
            }
        }
        self.name_calls(&mut cores);
        let counters = self.counters_of(&cores);
        let (results, notes) = (self.results(), self.notes());
        let lights = self.bus.lights(elapsed);
        let windows = self.reported_windows();
        let failed_saves = self.take_failed_saves();
        let unmodelled = self.unmodelled();
        let critical_path = self.critical_path(&cores, elapsed);
        RunReport {
            outcome,
            elapsed,
            cores,
            counters,
            results,
            notes,
            lights,
            windows,
            failed_saves,
            unmodelled,
            critical_path,
        }
    }

    /// Totals of cores and devices.
    fn totals(&mut self) -> Vec<(String, u64)> {
        let cores = self.core_reports();
        self.counters_of(&cores)
    }

    fn counters_of(&mut self, cores: &[CoreReport]) -> Vec<(String, u64)> {
        let mut counters: Vec<(String, u64)> = cores.iter().flat_map(|core| core.counters.clone()).collect();
        for (device, name) in self.bus.devices.iter_mut().zip(&self.bus.device_names) {
            device.iter_mut().for_each(|device| device.learn());
            let totals = device.iter().flat_map(|device| device.counters());
            counters.extend(totals.map(|(what, count)| (format!("{name}.{what}"), count)));
        }
        if let Some(outer) = &self.bus.outer {
            let name = &self.description.outer;
            counters.extend(outer.totals().map(|(what, count)| (format!("{name}.{what}"), count)));
        }
        counters
    }

    /// What each core has done so far.
    fn core_reports(&mut self) -> Vec<CoreReport> {
        self.reports_by(|core, bus| core.report(bus))
    }

    fn reports_by(&mut self, report: impl Fn(&mut dyn Core, &Bus) -> CoreReport) -> Vec<CoreReport> {
        let mut reports = Vec::new();
        for (index, core) in self.cores.iter_mut().enumerate() {
            // What lies between it and the memories has its own names.
            self.bus.master = Some(index);
            let mut report = report(core.as_mut(), &self.bus);
            self.progress[index].name_time_held(&mut report.counted);
            reports.push(report);
        }
        self.bus.master = None;
        reports
    }

    fn results(&self) -> Vec<(String, Vec<u32>)> {
        let devices = self.bus.device_names.iter().zip(&self.bus.devices);
        devices.filter_map(|(name, device)| Some((name.clone(), device.as_ref()?.results()?.to_vec()))).collect()
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = [&self.program_notes[..], &self.device_notes(), self.bus.host.notes.lines()].concat();
        notes.extend(self.event_rate_notes());
        if self.bus.noted.has_more() || self.bus.host.notes.has_more() {
            let kept = self.bus.notes().len() + self.bus.host.notes.lines().len();
            notes.push(format!("there are more notes than the {kept} that are kept"));
        }
        let dropped = self.bus.waves.summary().dropped;
        if dropped > 0 {
            notes.push(format!("the recording of wires is full: its last {dropped} changes are missing"));
        }
        if self.windows.lost > 0 {
            notes.push(format!("{} calls have no windows: there were too many", self.windows.lost));
        }
        for core in self.cores.iter().filter(|core| core.lost_calls() > 0) {
            let (name, lost) = (core.name(), core.lost_calls());
            notes.push(format!("{name}: {lost} calls of sections are not counted: too many had not returned"));
        }
        for (core, fault) in self.bus.traps.kept() {
            let name = if self.cores.len() > 1 { format!("{}: ", self.cores[*core].name()) } else { String::new() };
            let text = self.trap_text(*core, fault);
            notes.push(format!("{name}{text} (the firmware's trap handler took it)"));
        }
        if self.bus.traps.has_more() {
            notes.push(format!("further exceptions are not told, after the first {}", self.bus.traps.kept().len()));
        }
        notes.extend(self.unmodelled_notes());
        notes.extend(self.end_notes.iter().cloned());
        notes
    }
}

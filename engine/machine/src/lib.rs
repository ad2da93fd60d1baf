//! The machine: cores, bus and events on one time line.

mod asleep;
pub mod board;
mod calls;
mod critical_path;
mod cut;
pub mod debugging;
pub mod ending;
mod event_rates;
pub mod exchange;
pub mod exercise;
mod images;
pub mod lines;
pub mod loaded;
pub mod loading;
mod messages;
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

#[cfg(test)]
#[path = "../tests/all/main.rs"]
mod whole;

use std::fs::File;

use debugging::Debugging;
use ending::StopRequest;
use engine::activity::Kinds;
use engine::bus::Bus;
use engine::core::{Compiled, Compiling, Core, CoreReport, Stop};
use engine::dt::params::Parameter;
use engine::observe::critical_path::CriticalPath;
use engine::observe::trace::Counters;
use engine::pins::parts::Light;
use engine::state::{Fresh, State};
use engine::time::{Cycles, Hz, Ps};
use programs::Program;
use progress::{Activity, Progress, TimeSlice};
use triggers::Triggers;
use unmodelled::UnmodelledRegister;
use windows::{Window, Windows};

/// How far a core may run ahead of another, by default: see [`Machine::set_quantum`]. An interrupt from one core to
/// another that is busy may be taken late by this time.
const QUANTUM: Ps = Ps::from_us(1);
/// Maximum number of cycles between checks for the user's wish to stop; output is checked for more often
/// ([`engine::observe::output`]).
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
    /// How it fetches instructions that no cache holds: the name of one of [`engine::cpu::memory_system::fetch`]'s
    /// policies.
    pub fetch_policy: &'static str,
}

/// The description of a board, for `describe`.
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
    /// Label of the second-level cache; empty if the board has no such cache.
    pub outer: String,
    /// All nodes by their paths, each with a hash of its contents: see [`snapshots`].
    pub nodes: Vec<(String, u64)>,
    /// Settings that are allowed, and probably unintended: a line each, with its place.
    pub warnings: Vec<String>,
}

impl Description {
    /// The peripheral without a model that is at an address.
    pub fn unmodelled_at(&self, addr: u32) -> Option<&Region> {
        self.unmodelled.iter().find(|region| (region.base..=region.last).contains(&addr))
    }
}

/// The end of a run.
#[derive(Clone, Debug, PartialEq, Eq, State, Fresh)]
pub enum Outcome {
    /// The firmware ended it.
    Exit(i32),
    /// The limit on simulated time came first.
    Limit(String),
    /// All cores sleep, and no event is left that would wake one.
    Asleep(String),
    /// The firmware could not continue.
    Fault(String),
    /// A script did not get what it expected from a serial line.
    Script(String),
    /// The user stopped it.
    Interrupted,
}

/// The results of a run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunReport {
    /// Its end.
    pub outcome: Outcome,
    /// Simulated time: the local time of the core that got furthest, or the limit during its access.
    pub elapsed: Ps,
    /// Results of each core.
    pub cores: Vec<CoreReport>,
    /// Totals of devices.
    pub counters: Vec<(String, u64)>,
    /// Words that the firmware wrote as results, by device, in the order of the board.
    pub results: Vec<(String, Vec<u32>)>,
    /// Notes for the user.
    pub notes: Vec<String>,
    /// The board's lights, each with its history.
    pub lights: Vec<Light>,
    /// Windows of the calls of functions that were selected for it, in the order of their ends.
    pub windows: Vec<Window>,
    /// Files on the host that lack some of the firmware's writes, a sentence each.
    pub failed_saves: Vec<String>,
    /// Registers without a model that the firmware used.
    pub unmodelled: Vec<UnmodelledRegister>,
    /// The critical path across cores, if waits are recorded.
    pub critical_path: Option<CriticalPath>,
}

/// Output since the last look.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Printed {
    /// On the console.
    pub console: Vec<u8>,
    /// On lines of their own, by the label of the device, in the order of the board.
    pub streams: Vec<(String, Vec<u8>)>,
    /// Notes about causes of a slow run, which should not wait for its end. They are also among the run's notes.
    pub notes: Vec<String>,
    /// A debugger has restarted the run: output before this belongs to the earlier run.
    pub is_restart: bool,
}

/// A board, ready to run.
pub struct Machine {
    bus: Bus,
    cores: Vec<Box<dyn Core>>,
    description: Description,
    /// The core that the loaded program is for.
    main: usize,
    /// The program on each core, if it is known.
    programs: Vec<Option<Program>>,
    /// The address of each core's vector table after a reset, from the board.
    reset_tables: Vec<Option<u32>>,
    /// The start address that the user has chosen instead of the vector table's.
    wanted_start: Option<u32>,
    /// Watched functions: core and name.
    watched: Vec<(usize, String)>,
    windows: Windows,
    profiled: profiling::Profiled,
    /// The scheduling state of each core.
    progress: Vec<Progress>,
    /// Notes about the program, from before it runs.
    program_notes: Vec<String>,
    quantum: Ps,
    /// A run is in progress: images are locked.
    begun: bool,
    /// Images that could not be written at its end.
    failed_saves: Vec<String>,
    /// The end of the present slice.
    slice_end: Option<Ps>,
    /// The core slice in which the machine has stopped.
    time_slice: Option<TimeSlice>,
    /// Why the machine can't run: loading a snapshot has failed half-way.
    broken: Option<String>,
    typed: typed::Typed,
    /// When the output is passed to the host; `None` if it was not checked for yet.
    hand_over_at: Option<Ps>,
    /// How many of the excessive rates have been reported to the host.
    reported_excess: usize,
    /// Notes that belong to the end of the run.
    end_notes: Vec<String>,
    /// The register values that would end the waits in which the run ended, by the addresses of registers without a
    /// model.
    answers: Vec<(u32, unmodelled::Answer)>,
    /// The core that ended the run by itself.
    ended_by: Option<usize>,
    /// The time at which the limit or a device ended the run, if one has.
    ends_at: Option<Ps>,
    stop: StopRequest,
    debugging: Debugging,
    triggers: Triggers,
    /// The window of a timeline, and totals so far.
    timeline_window: (Ps, Ps),
    totals_over_time: Counters,
}

impl Machine {
    /// Assembles a machine; [`crate::board::build`] does that from a devicetree.
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
            time_slice: None,
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

    /// The description of the board.
    pub fn description(&self) -> &Description {
        &self.description
    }

    /// The bus, for tests and tools.
    pub fn bus(&mut self) -> &mut Bus {
        &mut self.bus
    }

    /// Holds a core in reset until a device releases it ([`Bus::core_reset`]).
    pub fn hold(&mut self, core: usize) {
        self.progress[core].activity = Activity::Held;
    }

    /// Sets how far a core may run ahead of others. Accesses to devices and shared memory do not depend on it; the time
    /// at which an interrupt from one busy core to another is taken does.
    pub fn set_quantum(&mut self, quantum: Ps) {
        self.quantum = quantum.max(Ps(1));
    }

    /// Makes the machine stop at this request, with [`Outcome::Interrupted`].
    pub fn stop_on(&mut self, request: StopRequest) {
        self.stop = request;
    }

    /// Compiles code for the host once it ran `runs` times, where that can be done (0: never). It affects only the
    /// speed of the simulation; cores have a default of their own.
    pub fn compile_after(&mut self, runs: u16) {
        self.cores.iter_mut().for_each(|core| core.compile_after(runs));
    }

    /// As [`Machine::compile_after`], with more options.
    pub fn compile(&mut self, how: Compiling) {
        self.cores.iter_mut().for_each(|core| core.compile(how));
    }

    /// Code that each core has compiled so far: it may differ between runs.
    pub fn compiled(&self) -> Vec<Compiled> {
        self.cores.iter().map(|core| core.compiled()).collect()
    }

    /// Enables or disables skipping of iterations of polling loops. It affects only the speed of the simulation.
    pub fn skip_polling(&mut self, skip: bool) {
        self.debugging.skips_polling = Some(skip);
        self.cores.iter_mut().for_each(|core| core.skip_polling(skip));
    }

    /// Records changes of wires from now on, in [`Bus::waves`], for the signals with these indices there. Changes that
    /// exceed the memory limit go to `file`, which is empty; without a file, recording stops at the limit.
    pub fn record_waves(&mut self, signals: &[usize], file: Option<File>) {
        self.bus.wires.record_levels(&self.bus.waves);
        self.bus.waves.choose(signals);
        self.bus.device_signals.record(signals, &self.bus.activities, &self.bus.waves);
        match file {
            Some(file) => self.bus.waves.start_into(file),
            None => self.bus.waves.start(),
        }
    }

    /// Records activities of devices from now on, of the given kinds, in [`Bus::activities`], in up to `most_bytes` of
    /// memory. It has no other effect.
    pub fn record_activities(&mut self, kinds: Kinds, most_bytes: usize) {
        self.bus.activities.start(kinds, most_bytes);
    }

    /// Cycles of each core that were skipped so far.
    pub fn skipped(&self) -> Vec<Cycles> {
        self.cores.iter().map(|core| core.skipped()).collect()
    }

    /// Runs until the firmware ends, `limit` is reached, `pause` returns true, or another thread requests a stop
    /// ([`Machine::stop_on`]). `pause` gets the output since its last call, soon after it was printed and before much
    /// has accumulated; the simulation waits for it.
    pub fn run(&mut self, limit: Ps, mut pause: impl FnMut(&Printed) -> bool) -> RunReport {
        if let Err(fault) = self.begin_or_fault() {
            return self.report(fault);
        }
        let outcome = loop {
            if let Some(outcome) = self.debugging.take_ended() {
                break outcome;
            }
            let ended = self.run_next_slice(limit, &mut pause);
            // Without a debugger, a halt is ignored.
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

    /// Runs `count` instructions of the program's core one by one; passes its registers to `each` after each.
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
            // Output is dropped.
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

    /// The results so far.
    pub fn report(&mut self, outcome: Outcome) -> RunReport {
        let elapsed = self.elapsed();
        for index in 0..self.cores.len() {
            // A core that has reached the end already may still have results on their way.
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
        if let Some(snoop) = &self.bus.snoop {
            for (index, core) in self.cores.iter().enumerate().filter(|(index, _)| snoop.has(*index)) {
                let totals = snoop.counts(index).named();
                counters.extend(totals.map(|(what, count)| (format!("{}.{what}", core.name()), count)));
            }
        }
        if let Some(outer) = &self.bus.outer {
            let name = &self.description.outer;
            counters.extend(outer.totals().map(|(what, count)| (format!("{name}.{what}"), count)));
        }
        counters
    }

    /// The reports of all cores so far.
    fn core_reports(&mut self) -> Vec<CoreReport> {
        self.reports_by(|core, bus| core.report(bus))
    }

    fn reports_by(&mut self, report: impl Fn(&mut dyn Core, &Bus) -> CoreReport) -> Vec<CoreReport> {
        let mut reports = Vec::new();
        for (index, core) in self.cores.iter_mut().enumerate() {
            // The causes of waits between a core and the memories have names of that core.
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
            notes.push(format!("only the first {kept} notes are shown; there are more"));
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
            notes.push(format!("further exceptions are not listed, after the first {}", self.bus.traps.kept().len()));
        }
        notes.extend(self.unmodelled_notes());
        notes.extend(self.end_notes.iter().cloned());
        notes
    }
}

//! Parts of a core that do not depend on how it runs instructions: its time by cause, watched functions, interrupt
//! inputs, the limit of its run, and the reason for a stop.

use super::accounts::{PastRates, Spent, Totals};
use super::calls::{Calls, News, What};
use super::cost::Breakdown;
use super::deadline::Deadline;
use super::irqs::Irqs;
use super::isa::CauseNames;
use super::memory_system::Accounts;
use super::profiler::Profile;
use super::profiler::reporting::{AtRate, Reported};
use super::sections::Sections;
use super::waits::{CallsAtEdge, IntervalWaits, Reporter, Shared, Waited, Waits, Within};
use crate::bus::Bus;
use crate::core::debug::Breaks;
use crate::core::{CallReport, CoreReport, Counted, Cut, SectionReport, Stop, WaitedIn, WindowIntervals};
use crate::event_rates::Source;
use crate::faults::CoreFault;
use crate::observe::profile::CoreProfile;
use crate::state::State;
use crate::time::{Cycles, Hz, Ps};
use std::sync::Arc;

/// A core without its way of running instructions.
#[derive(State)]
pub(crate) struct Shell {
    /// Label of its node.
    #[state(skip)]
    pub name: String,
    /// Its index in the machine.
    #[state(skip)]
    pub index: u32,
    pub clock: Hz,
    #[state(skip)]
    causes: &'static CauseNames,
    /// Its time: the number of the clock's edge; edge 0 is at time 0 at any rate.
    pub cycles: u64,
    /// Difference between that number and the cycles that the core has had: not 0 once its clock has changed.
    ahead_cycles: u64,
    /// Cycles that it slept through with its clock off, or was held in reset; and the former alone.
    stopped_cycles: u64,
    slept_cycles: u64,
    /// Its clock continues while it sleeps; the state when it began to sleep.
    pub clocked_asleep: bool,
    /// The user has had a note about that.
    has_noted_stop: bool,
    /// Its work at earlier rates of its clock.
    earlier: PastRates,
    pub instructions: u64,
    /// Exceptions and interrupts taken.
    pub exceptions: u64,
    #[state(skip)]
    pub deadline: Deadline,
    pub irqs: Irqs,
    /// It waits for an interrupt.
    pub waiting: bool,
    /// Reason to return to the machine before the next instruction.
    pub stop: Option<Stop>,
    /// Static time of instructions outside of blocks' complete runs.
    pub fixed: Breakdown,
    pub spent: Spent,
    pub sections: Sections<Totals>,
    /// The calls that it is in, if they are followed: for watched functions, conditions, a profile.
    pub calls: Option<Box<Calls>>,
    /// Breakpoints of a debugger.
    pub breaks: Breaks,
    pub profile: Option<Box<Profile>>,
    pub waits: Option<Box<Waits>>,
    /// The calls that it was in when it last reported a wait.
    pub known_calls: Arc<Within>,
    /// Counters of the core's current call path; valid only while there is a profile.
    #[state(skip)]
    pub counts: *mut u64,
    /// The rates that its clock has had, the present one last.
    pub rates: Vec<AtRate>,
}

// SAFETY: `counts` belongs to the profile, which no other object shares.
unsafe impl Send for Shell {}

impl Shell {
    /// The state after reset.
    pub fn new(name: String, index: u32, clock: Hz, causes: &'static CauseNames) -> Shell {
        Shell {
            name,
            index,
            clock,
            causes,
            cycles: 0,
            ahead_cycles: 0,
            stopped_cycles: 0,
            slept_cycles: 0,
            clocked_asleep: false,
            has_noted_stop: false,
            earlier: PastRates::default(),
            instructions: 0,
            exceptions: 0,
            deadline: Deadline::new(clock),
            irqs: Irqs::new(clock, index),
            waiting: false,
            stop: None,
            fixed: Breakdown::default(),
            spent: Spent::default(),
            sections: Sections::default(),
            calls: None,
            breaks: Breaks::default(),
            profile: None,
            waits: None,
            known_calls: Arc::default(),
            counts: std::ptr::null_mut(),
            rates: vec![AtRate { rate: clock, from: 0, ahead: 0 }],
        }
    }

    /// The core's cycles at the clock's edge number `cycle`.
    pub fn had(&self, cycle: u64) -> u64 {
        cycle.wrapping_sub(self.ahead_cycles)
    }

    /// The core's cycles without those that it slept through with its clock off: the value of a counter in the core's
    /// own clock domain.
    pub fn clocked(&self, cycle: u64) -> u64 {
        self.had(cycle).wrapping_sub(self.stopped_cycles)
    }

    /// Notes a read of a counter in the core's own clock domain, named by `what`, once, if it has stood still.
    #[inline]
    pub fn note_stop(&mut self, bus: &mut Bus, what: &str) {
        if self.slept_cycles > 0 && !self.has_noted_stop {
            self.has_noted_stop = true;
            let (name, slept, now) = (&self.name, self.slept_cycles, self.now());
            bus.note_of_core(what, || {
                format!("{name}: {what}; it had slept for {slept} cycles when it was read (first at {now})")
            });
        }
    }

    /// Changes the rate of the core's clock; the core's totals are `totals` now.
    pub fn change_clock(&mut self, rate: Hz, totals: Totals) {
        let had_cycles = self.had(self.cycles);
        let at = self.now();
        self.sections.change_clock(self.clock, &totals);
        self.earlier.end(self.clock, totals);
        self.clock = rate;
        self.cycles = rate.cycles_until_ceil(at).0;
        self.ahead_cycles = self.cycles.wrapping_sub(had_cycles);
        self.rates.push(AtRate { rate, from: had_cycles, ahead: self.ahead_cycles });
        self.waits.iter_mut().for_each(|waits| waits.change_clock(rate));
        self.deadline.change_clock(rate);
        self.irqs.change_clock(rate);
        if let Some(profile) = &mut self.profile {
            profile.follow_rates(&self.rates);
        }
    }

    /// The core's time, as simulated time.
    pub fn now(&self) -> Ps {
        self.clock.ps_at_floor(Cycles(self.cycles))
    }

    /// Updates the limit to the next event scheduled on the bus, and samples the interrupt inputs in `cycle`.
    pub fn update_limit(&mut self, bus: &Bus, cycle: u64) {
        self.deadline.follow(bus);
        self.irqs.follow(bus, cycle, &mut self.deadline);
    }

    /// True if the outer loop has to handle this address: it has a breakpoint.
    #[inline]
    pub fn stops_at(&self, pc: u32) -> bool {
        self.breaks.stop_at(pc)
    }

    /// True if there is any breakpoint.
    #[inline]
    pub fn has_stops(&self) -> bool {
        self.breaks.are_set()
    }

    /// Reason to return to the machine after calls have begun or ended, if any; not during single steps (`single`),
    /// after which the caller checks the calls itself.
    #[inline]
    pub fn stops_for_calls(&mut self, single: bool) -> Option<Stop> {
        if self.sections.has_marks() {
            return Some(Stop::Mark);
        }
        (!single && self.breaks.take_calls()).then_some(Stop::Break)
    }

    /// True if there is a breakpoint at `pc`, which is the next instruction.
    #[inline]
    pub fn breaks_at(&mut self, pc: u32) -> bool {
        self.breaks.are_set() && self.breaks.hit(pc, self.instructions, self.exceptions)
    }

    /// Lets time pass to the first edge at `until` or later. Returns the cycles.
    pub fn idle(&mut self, until: Ps) -> u64 {
        let cycles = self.clock.cycles_until_ceil(until).0.saturating_sub(self.cycles);
        self.cycles += cycles;
        self.spent.idle += cycles;
        if !self.clocked_asleep {
            self.stopped_cycles += cycles;
            self.slept_cycles += if self.waiting { cycles } else { 0 };
        }
        cycles
    }

    /// Counts an exception that is taken now.
    pub fn count_exception(&mut self, bus: &mut Bus, source: Source) {
        self.exceptions += 1;
        self.note_raised(bus, source, source.input);
        bus.exception(self.index, self.now(), source);
    }

    /// Passes the time at which an interrupt, now taken by the core's input `line`, became pending to the profile.
    pub fn note_raised(&mut self, bus: &mut Bus, source: Source, line: Option<u32>) {
        if let (Some(profile), Some(calls), Some(line)) = (&mut self.profile, &mut self.calls, line) {
            let raised = bus.interrupt_sources.take(self.index, line);
            let raised = raised.map(|(since, by)| (since, bus.device_names[by.0 as usize].clone()));
            profile.raised(calls, source.input, raised);
        }
    }

    /// Passes an exception requested by software to the profile: it does not wait for a line.
    pub fn note_asked_for(&mut self) {
        if let (Some(profile), Some(calls)) = (&mut self.profile, &mut self.calls) {
            profile.raised(calls, None, None);
        }
    }

    /// Stops the core with a fault from which the firmware can't continue.
    pub fn fault(&mut self, fault: CoreFault) {
        self.stop = Some(Stop::Fault(fault));
    }

    /// All time so far, including that of memory.
    pub fn totals(&self, memory: &Accounts) -> Totals {
        Totals {
            names: self.causes,
            instructions: self.instructions,
            cycles: self.cycles,
            fixed: self.fixed,
            spent: self.spent,
            memory: memory.clone(),
        }
    }

    /// The part of the core's time after `end`, if a long wait continues beyond it: see [`Cut`]. An instruction that
    /// begins before the end has its access within it, or starts it soon after it.
    pub fn cut(&self, memory: &Accounts, end: Ps) -> Option<Cut> {
        let long = memory.last_long()?;
        let end_cycle = self.clock.cycles_until_ceil(end).0;
        if end_cycle >= long.until || long.until > self.cycles {
            return None;
        }
        let cycle = end_cycle.max(long.from);
        let edge = self.clock.ps_at_floor(Cycles(cycle));
        let reached = if long.from < end_cycle { end } else { edge };
        Some(Cut { sum: long.sum, cycles: Cycles(self.cycles - cycle), reached, beyond: edge.saturating_sub(reached) })
    }

    /// The profile so far, without the part that is cut off.
    pub fn profile(&self, bus: &Bus, cut: Option<Cut>) -> Option<CoreProfile> {
        let shared = self.waits.as_ref().map(|waits| waits.sums(bus));
        let reported = Reported {
            name: &self.name,
            names: self.causes,
            bus,
            rates: &self.rates,
            had: self.had(self.cycles) - cut.map_or(0, |cut| cut.cycles.0),
            cut,
            calls: self.calls.as_deref(),
            shared: shared.as_ref(),
        };
        self.profile.as_ref().map(|profile| profile.report(&reported))
    }

    /// Keeps a cycle stack for the function at `pc`. Calls are followed.
    pub fn watch(&mut self, name: &str, pc: u32) {
        let section = self.sections.watch(name, pc, Totals::nothing(self.causes));
        self.calls.iter_mut().for_each(|calls| calls.watch(pc, section));
    }

    /// Accounts for calls that have begun and ended, at the core's totals `totals`; the first arguments of begun calls
    /// are in registers with these values.
    pub fn settle_news(&mut self, arguments: [u32; CallReport::REGISTERS], totals: &Totals) {
        let (at, rate) = (self.now(), self.clock);
        let Some(calls) = &mut self.calls else { return };
        self.breaks.calls_have_changed(calls.take_change());
        for News { section, number, what } in calls.take_news() {
            match what {
                What::Begun(return_pc) => {
                    self.sections.begin((section, number), (return_pc, arguments), totals, at);
                }
                What::Ended => self.sections.end(number, totals, rate),
                What::Lost => self.sections.lose(number),
            }
        }
    }

    /// Number of calls of watched functions that are not recorded in any stack, because too many were under way at the
    /// same time.
    pub fn lost_calls(&self) -> u64 {
        self.sections.lost() + self.calls.as_ref().map_or(0, |calls| calls.lost_watched)
    }

    /// The core's report; its totals are `totals`.
    pub fn report(&self, bus: &Bus, totals: &Totals, counters: Vec<(String, u64)>) -> CoreReport {
        let shared = self.waits.as_ref().map(|waits| waits.sums(bus));
        self.report_with(bus, totals, counters, shared)
    }

    /// As [`Shell::report`], without waits: waits from here on are separate, under this number of an interval.
    pub fn begin_interval(&mut self, bus: &Bus, totals: &Totals, interval: Option<u32>) -> CoreReport {
        if let (Some(waits), Some(interval)) = (&mut self.waits, interval) {
            let calls = CallsAtEdge { begun: self.sections.begun(), open: self.sections.open_calls() };
            waits.begin_interval(interval, (self.cycles, self.instructions), &totals.memory, &calls);
        }
        self.report_with(bus, totals, Vec::new(), None)
    }

    /// The waits in each of the given windows.
    pub fn waited_in(&self, bus: &Bus, windows: &[WindowIntervals]) -> Option<Vec<WaitedIn>> {
        let intervals = self.waits.as_ref()?.by_interval(bus, &self.sections.open_calls());
        let (reporter, none) = (Reporter::new(bus, self.causes), Waited::default());
        let reported = |window: &WindowIntervals| {
            let IntervalWaits { all, sections } = intervals.between(window.from, window.to);
            let of = |section| reporter.reported(sections.get(&section).unwrap_or(&none), window.rate);
            let sections = (0..self.sections.sections.len()).map(of).collect();
            WaitedIn { all: reporter.reported(&all, window.rate), sections }
        };
        Some(windows.iter().map(reported).collect())
    }

    fn report_with(
        &self,
        bus: &Bus,
        totals: &Totals,
        counters: Vec<(String, u64)>,
        mut shared: Option<Shared>,
    ) -> CoreReport {
        let counted = self.earlier.counted(bus, self.clock, totals);
        let reporter = shared.is_some().then(|| Reporter::new(bus, self.causes));
        let sections = self.section_reports(bus, shared.as_mut().zip(reporter.as_ref()));
        let at_clocks = counted.iter().map(Counted::time).fold(Ps::ZERO, |sum, time| sum + time);
        let reported = shared.zip(reporter).map(|(shared, reporter)| reporter.reported(&shared.all, self.clock));
        CoreReport {
            name: self.name.clone(),
            clock: self.clock,
            instructions: self.instructions,
            never_compiled: totals.fixed.never_compiled,
            cycles: Cycles(self.had(self.cycles)),
            counted,
            between_clocks: self.now().saturating_sub(at_clocks),
            cut: None,
            waited: reported,
            sections,
            counters,
        }
    }

    /// The reports of watched functions, with the waits in their calls if waits are recorded.
    fn section_reports(&self, bus: &Bus, shared: Option<(&mut Shared, &Reporter)>) -> Vec<SectionReport> {
        let mut reports = self.sections.reports(bus, self.clock);
        let mut ended = None;
        let mut reporter = None;
        if let Some((shared, names)) = shared {
            shared.close_calls(&self.sections.open_calls());
            ended = Some(shared.take_ended());
            for (index, report) in reports.iter_mut().enumerate() {
                let waited = shared.sections.get(&index).cloned().unwrap_or_default();
                report.waited = Some(names.reported(&waited, self.clock));
            }
            reporter = Some(names);
        }
        for (index, section) in self.sections.sections.iter().enumerate() {
            let Some(kept) = &section.kept else { continue };
            let mut kept = kept.clone();
            for ((of, number), waited) in ended.iter().flatten() {
                if *of == index {
                    kept.waited(*number, waited);
                }
            }
            let reported = |waited: &Waited| reporter.map(|reporter| reporter.reported(waited, self.clock));
            reports[index].kept = Some(kept.report(bus, reported));
        }
        reports
    }
}

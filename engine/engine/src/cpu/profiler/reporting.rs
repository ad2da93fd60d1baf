//! The report of a profile.

use std::collections::BTreeMap;

use super::counters::{Cause, Own, Row, Rows};
use super::paths::{Kind, NO_SITE, Path};
use super::slices::KeptSlices;
use super::{ELSEWHERE, MOST_INTERRUPTS, Profile, Taken};
use crate::bus::Bus;
use crate::core::Cut;
use crate::cpu::calls::Calls;
use crate::cpu::isa::CauseNames;
use crate::cpu::waits::Shared;
use crate::event_rates::Source;
use crate::observe::profile::{
    CallPath, CoreProfile, InstructionCost, PathKind, ShownCall, ShownTaskSlice, TakenInterrupt, TimedCall,
};
use crate::state::{Fresh, State};
use crate::time::{Cycles, Hz, Ps};

/// A period in which a core's clock had one rate.
#[derive(Clone, Copy, Debug, State, Fresh)]
pub struct AtRate {
    pub rate: Hz,
    /// The core's cycles when it began.
    pub from: u64,
    /// Difference between the numbers of the clock's edges and the core's cycles.
    pub ahead: u64,
}

/// Data of a core beside its profile.
pub struct Reported<'a> {
    pub name: &'a str,
    pub names: &'a CauseNames,
    pub bus: &'a Bus,
    /// Its clock's rates, the present one last.
    pub rates: &'a [AtRate],
    /// The core's cycles.
    pub had: u64,
    /// The part that is left out, because it is after the end of the run.
    pub cut: Option<Cut>,
    /// The calls under way.
    pub calls: Option<&'a Calls>,
    /// The core's waits.
    pub shared: Option<&'a Shared>,
}

impl Reported<'_> {
    /// The time at which the core had had `had` cycles.
    fn time(&self, had: u64) -> Ps {
        let at = self.rates.iter().rev().find(|at| at.from <= had).or(self.rates.first());
        at.map_or(Ps::ZERO, |at| at.rate.ps_at_floor(Cycles(had.wrapping_add(at.ahead))))
    }
}

impl Profile {
    /// The whole report.
    pub fn report(&self, reported: &Reported) -> CoreProfile {
        let mut causes = Causes::new(reported);
        let mut rows = self.counters.borrow().rows();
        if let Some(cut) = reported.cut {
            self.leave_out(cut, &mut rows);
        }
        let by_rate: Vec<Rows> = self.earlier_rates.iter().cloned().chain([rows]).collect();
        let costs = costs(&by_rate, &mut causes);
        let ends = reported.rates.iter().skip(1).map(|at| at.from).chain([reported.had]);
        let rates = reported.rates.iter().zip(ends).map(|(at, end)| (at.rate, Cycles(end.saturating_sub(at.from))));
        let timed = |calls: &Vec<super::paths::Call>| {
            let timed = |call: &super::paths::Call| TimedCall {
                path: call.path,
                begun: reported.time(call.begun),
                elapsed: Cycles(call.cycles),
                ended: reported.time(call.begun.wrapping_add(call.cycles)),
            };
            calls.iter().map(timed).collect()
        };
        CoreProfile {
            name: reported.name.to_owned(),
            rates: rates.collect(),
            causes: causes.names,
            paths: self.described_paths(reported),
            costs,
            calls: self.paths.calls.iter().map(timed).collect(),
            slices: self.reported_slices(reported),
            slices_complete_from: self
                .slices
                .as_ref()
                .and_then(KeptSlices::complete_from)
                .map(|had| reported.time(had)),
            task_slices: self.shown_task_slices(reported),
            waits: waits(reported),
            interrupts: self.interrupts.iter().filter_map(|taken| reported_interrupt(taken, reported)).collect(),
            notes: self.notes(reported.calls.map_or(0, |calls| calls.lost)),
        }
    }

    fn described_paths(&self, reported: &Reported) -> Vec<CallPath> {
        let described = |(number, path)| {
            let described = described(path, reported);
            let name = self.linux.as_ref().and_then(|linux| linux.name_of(number)).map(str::to_owned);
            CallPath { name: name.unwrap_or(described.name), ..described }
        };
        (0..).zip(&self.paths.all).map(described).collect()
    }

    /// Leaves out cycles of the long wait charged last, within which the run has ended. The number of cycles left out
    /// is that of the wait's rest; if the whole rest of its instruction is after the end, too, other charges are
    /// reduced as well.
    fn leave_out(&self, cut: Cut, rows: &mut Rows) {
        let is_own = |place: &(u32, u32)| self.last_long == Some((place.0, place.1, cut.sum));
        let mut left_cycles = cut.cycles.0;
        for (of_wait, of_sum) in [(true, true), (false, true), (false, false)] {
            for (place, row) in rows.iter_mut() {
                for (cause, cycles) in &mut row.cycles {
                    let (is_wait, is_sum) = (is_own(place), *cause == Cause::Memory(cut.sum));
                    if (!of_wait || is_wait) && (!of_sum || is_sum) {
                        let taken = left_cycles.min(*cycles);
                        *cycles -= taken;
                        left_cycles -= taken;
                    }
                }
            }
        }
    }

    fn reported_slices(&self, reported: &Reported) -> Vec<ShownCall> {
        let Some(slices) = &self.slices else { return Vec::new() };
        let ended = slices.calls().map(|(call, skipped)| (call.path, call.begun, call.begun + call.cycles, *skipped));
        let frames = reported.calls.into_iter().flat_map(Calls::frames);
        let under_way = frames.map(|frame| (frame.path, frame.begun, reported.had, 0));
        let timed = ended.chain(under_way).map(|(path, begun, ended, skipped)| ShownCall {
            path,
            begin: reported.time(begun),
            end: reported.time(ended),
            skipped,
        });
        timed.filter(|call| call.begin < slices.wanted.to && call.end > slices.wanted.from).collect()
    }

    fn shown_task_slices(&self, reported: &Reported) -> Vec<ShownTaskSlice> {
        let are_several = self.paths.all.iter().filter(|path| path.parent.is_none()).count() > 1;
        let (true, Some(switches), Some(slices)) = (are_several, &self.switches, &self.slices) else {
            return Vec::new();
        };
        let task_slices = switches.task_slices(reported.had);
        let timed = task_slices.map(|(task, begun, ended)| ShownTaskSlice {
            task,
            begin: reported.time(begun),
            end: reported.time(ended),
        });
        timed.filter(|slice| slice.begin < slices.wanted.to && slice.end > slices.wanted.from).collect()
    }

    fn notes(&self, lost_calls: u64) -> Vec<String> {
        let mut notes = self.linux.as_ref().map(|linux| linux.notes()).unwrap_or_default();
        if self.paths.shortened > 0 {
            notes.push(format!(
                "there are too many call paths: {} calls along further ones are shown below their task alone",
                self.paths.shortened
            ));
        }
        if self.paths.merged > 0 {
            notes.push(format!(
                "there are too many call paths: {} calls along further ones belong to their callers",
                self.paths.merged
            ));
        }
        if lost_calls > 0 {
            notes.push(format!(
                "calls are nested too deeply: {lost_calls} of them belong to the innermost one that is followed"
            ));
        }
        if self.paths.dropped_calls > 0 {
            notes.push(format!("{} calls of watched functions are not kept one by one", self.paths.dropped_calls));
        }
        if self.interrupts.len() == MOST_INTERRUPTS {
            notes.push(format!("of interrupts, only the first {MOST_INTERRUPTS} are kept one by one"));
        }
        notes
    }
}

fn waits(reported: &Reported) -> Vec<(u32, String, Ps)> {
    let paths = reported.shared.iter().flat_map(|shared| &shared.paths);
    paths
        .flat_map(|(path, waited)| waited.rows(reported.bus).into_iter().map(|(name, time)| (*path, name, time)))
        .collect()
}

/// An interrupt whose handler has ended.
fn reported_interrupt(taken: &Taken, reported: &Reported) -> Option<TakenInterrupt> {
    let (raised, by) = taken.raised.clone().map_or((None, None), |(raised, by)| (Some(raised), Some(by)));
    Some(TakenInterrupt {
        path: taken.path,
        input: taken.input,
        by,
        raised,
        taken: reported.time(taken.taken),
        begun: reported.time(taken.begun?),
        ended: reported.time(taken.ended?),
        cycles: Cycles(taken.ended?.saturating_sub(taken.taken)),
    })
}

fn described(path: &Path, reported: &Reported) -> CallPath {
    let known = |address: u32| (address != ELSEWHERE).then_some(address);
    let (kind, address, name) = match &path.kind {
        Kind::Task(address, name) => (PathKind::Task, known(*address), name.clone()),
        Kind::Function(address) => (PathKind::Function, known(*address), String::new()),
        Kind::Exception(source) => (PathKind::Exception, None, name_of(*source)),
    };
    CallPath {
        parent: path.parent,
        kind,
        address,
        return_address: (path.site != NO_SITE).then_some(path.site),
        name,
        calls: path.calls,
        elapsed: Cycles(path.elapsed),
        longest: Cycles(path.longest),
        shortest: Cycles(if path.calls > 0 { path.shortest } else { 0 }),
        longest_at: reported.time(path.longest_at),
    }
}

fn name_of(source: Source) -> String {
    match source.number {
        Some(number) => format!("{} {number}", source.name),
        None => source.name.to_owned(),
    }
}

/// Numbers of causes, in the order of their first use.
struct Causes {
    /// The names of the memory side's sums.
    of_memory: Vec<String>,
    of_own: [&'static str; Own::COUNT],
    numbers: BTreeMap<String, u32>,
    names: Vec<String>,
}

impl Causes {
    fn new(reported: &Reported) -> Causes {
        let names = reported.names;
        let of_own = [
            names.issue,
            names.operand_wait,
            names.long_operation,
            names.jump,
            names.long_operation,
            names.mispredicted,
            names.annulled,
            names.exceptions,
            names.idle,
        ];
        let of_memory = crate::cpu::memory_system::Accounts::names(reported.bus);
        Causes { of_memory, of_own, numbers: BTreeMap::new(), names: Vec::new() }
    }

    fn number(&mut self, cause: Cause) -> u32 {
        let name = match cause {
            Cause::Own(own) => self.of_own[own as usize],
            Cause::Memory(sum) => self.of_memory.get(sum as usize).map_or("memory", String::as_str),
        };
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = self.names.len() as u32;
        self.names.push(name.to_owned());
        self.numbers.insert(self.names[number as usize].clone(), number);
        number
    }
}

fn costs(by_rate: &[Rows], causes: &mut Causes) -> Vec<InstructionCost> {
    let mut costs: BTreeMap<(u32, u32), InstructionCost> = BTreeMap::new();
    for (rate, rows) in by_rate.iter().enumerate() {
        for ((path, pc), row) in rows {
            let cost = costs.entry((*path, *pc)).or_insert_with(|| InstructionCost {
                path: *path,
                address: (*pc != ELSEWHERE).then_some(*pc),
                executions: 0,
                charges: Vec::new(),
            });
            cost.executions = cost.executions.wrapping_add(row.executions);
            cost.charges.extend(charges(row, rate as u32, causes));
        }
    }
    costs.into_values().collect()
}

/// A row's cycles by cause: several sums may have the same name.
fn charges(row: &Row, rate: u32, causes: &mut Causes) -> Vec<(u32, u32, u64)> {
    let mut by_number: BTreeMap<u32, u64> = BTreeMap::new();
    for (cause, cycles) in &row.cycles {
        *by_number.entry(causes.number(*cause)).or_default() += cycles;
    }
    if row.saved > 0 {
        let cycles = by_number.entry(causes.number(Cause::Own(Own::Saved))).or_default();
        *cycles = cycles.wrapping_sub(row.saved);
    }
    by_number.into_iter().filter(|(_, cycles)| *cycles > 0).map(|(cause, cycles)| (cause, rate, cycles)).collect()
}

//! Windows: the activity of every core during a call of a watched function, and its waits.
//!
//! A core that reaches the start or end of such a call stops there until all running cores have reached that time; then
//! the totals of all cores are taken. Another core may be ahead by an instruction, or by up to the quantum if it ran
//! before: its part of a window is only as exact.
//!
//! The objects of cores' waits are known only some time later, so an interval of each core begins there
//! ([`engine::core::Core`]); at the end of the run, a window gets the intervals from its start to its end.

use super::Machine;
use engine::core::{CallMark, CoreReport, Counted, SectionReport, WindowIntervals};
use engine::state::{Fresh, State};
use engine::time::{Cycles, Ps};

/// Maximum number of windows: of more calls, only the first ones have windows. It also limits the number of calls that
/// have not returned.
const MOST_WINDOWS: usize = 4096;
/// Maximum number of intervals. Windows need more only if many calls never return; later windows then lack waits.
const MOST_INTERVALS: u32 = 4 * MOST_WINDOWS as u32;

/// A call, and the activity of all cores from its start to its end.
#[derive(Clone, Debug, PartialEq, Eq, State, Fresh)]
pub struct Window {
    /// The core that made the call, by its index.
    pub core: usize,
    /// The function.
    pub section: String,
    /// Time of its entry.
    pub begin: Ps,
    /// Time of its return.
    pub end: Ps,
    /// Each core's instructions, cycles, causes, sections and waits in that time. Causes without cycles are left out.
    pub cores: Vec<CoreReport>,
}

/// A call that has not returned yet.
#[derive(Debug, State, Fresh)]
struct Open {
    core: usize,
    section: String,
    begin: Ps,
    /// The interval that began with it.
    interval: Option<u32>,
    /// The reports of all cores at that time.
    before: Vec<CoreReport>,
}

/// The windows of a run.
#[derive(Debug, Default, State)]
pub(super) struct Windows {
    open: Vec<Open>,
    /// Calls that have ended, with their intervals: the first one, and the one that began with their end.
    done: Vec<(Window, Option<(u32, u32)>)>,
    /// Calls without windows, since there was no room.
    pub lost: u64,
    /// The number of the last interval.
    interval: u32,
}

impl Windows {
    /// The number of an interval that begins now, unless there are too many.
    fn next_interval(&mut self) -> Option<u32> {
        let begins = self.done.len() < MOST_WINDOWS && self.interval < MOST_INTERVALS;
        self.interval += u32::from(begins);
        begins.then_some(self.interval)
    }
}

impl Machine {
    /// The core has reached the start or end of calls, and so have all running cores reached that time.
    pub(super) fn follow_marks(&mut self, core: usize) {
        let now = self.core_time(core);
        let marks = self.cores[core].take_marks();
        if marks.is_empty() {
            return;
        }
        for other in 0..self.cores.len() {
            if self.is_idle(other) {
                self.pass_time(other, now);
            }
        }
        let interval = self.windows.next_interval();
        let reports = self.reports_by(|core, bus| core.begin_interval(bus, interval));
        for CallMark { section, begins } in marks {
            let name = reports[core].sections.get(section).map_or_else(String::new, |section| section.name.clone());
            let Windows { open, done, lost, .. } = &mut self.windows;
            if begins {
                if open.len() == MOST_WINDOWS {
                    open.remove(0);
                    *lost += 1;
                }
                open.push(Open { core, section: name, begin: now, interval, before: reports.clone() });
            } else if let Some(index) = open.iter().rposition(|open| (open.core, &open.section) == (core, &name)) {
                let Open { core, section, begin, interval: from, before } = open.remove(index);
                if done.len() == MOST_WINDOWS {
                    *lost += 1;
                    continue;
                }
                let cores = reports.iter().zip(&before).map(|(after, before)| between(before, after)).collect();
                done.push((Window { core, section, begin, end: now, cores }, from.zip(interval)));
            }
        }
    }

    /// The windows so far, with waits.
    pub(super) fn reported_windows(&mut self) -> Vec<Window> {
        let (mut windows, intervals): (Vec<Window>, Vec<_>) = self.windows.done.iter().cloned().unzip();
        for (index, core) in self.cores.iter().enumerate() {
            let known = windows.iter_mut().zip(&intervals).filter_map(|(window, intervals)| {
                let (report, (from, to)) = (&mut window.cores[index], (*intervals)?);
                let intervals = WindowIntervals { from, to, rate: report.clock };
                Some((report, intervals))
            });
            let (reports, intervals): (Vec<&mut CoreReport>, Vec<WindowIntervals>) = known.unzip();
            // The causes of waits between a core and the memories have names of that core.
            self.bus.master = Some(index);
            for (report, waited) in reports.into_iter().zip(core.waited_in(&self.bus, &intervals).into_iter().flatten())
            {
                report.waited = Some(waited.all);
                for (section, waited) in report.sections.iter_mut().zip(waited.sections) {
                    section.waited = Some(waited);
                }
            }
        }
        self.bus.master = None;
        windows
    }
}

/// A core's activity between two reports.
fn between(before: &CoreReport, after: &CoreReport) -> CoreReport {
    let sections = after.sections.iter().zip(&before.sections).map(|(after, before)| SectionReport {
        waited: None,
        kept: None,
        name: after.name.clone(),
        calls: after.calls - before.calls,
        instructions: after.instructions - before.instructions,
        counted: counted_between(&before.counted, &after.counted),
    });
    CoreReport {
        waited: None,
        name: after.name.clone(),
        clock: after.clock,
        instructions: after.instructions - before.instructions,
        never_compiled: after.never_compiled - before.never_compiled,
        cycles: Cycles(after.cycles.0 - before.cycles.0),
        counted: counted_between(&before.counted, &after.counted),
        between_clocks: after.between_clocks.saturating_sub(before.between_clocks),
        cut: None,
        sections: sections.collect(),
        counters: Vec::new(),
    }
}

/// A clock may return to an earlier rate: all counts at one rate are added up.
fn counted_between(before: &[Counted], after: &[Counted]) -> Vec<Counted> {
    let at = |counted: &[Counted], rate| -> Vec<(String, Cycles)> {
        counted.iter().filter(|part| part.rate == rate).flat_map(|part| part.causes.iter().cloned()).collect()
    };
    let mut passed: Vec<Counted> = Vec::new();
    for &Counted { rate, .. } in after {
        if passed.iter().all(|known| known.rate != rate) {
            passed.push(Counted { rate, causes: causes_between(&at(before, rate), &at(after, rate)) });
        }
    }
    passed
}

fn causes_between(before: &[(String, Cycles)], after: &[(String, Cycles)]) -> Vec<(String, Cycles)> {
    let total = |of: &[(String, Cycles)], cause: &str| {
        of.iter().filter(|(name, _)| name == cause).map(|(_, n)| n.0).sum::<u64>()
    };
    let mut passed: Vec<(String, Cycles)> = Vec::new();
    for (cause, _) in after {
        // A board may give two buses the same name.
        if passed.iter().all(|(known, _)| known != cause) {
            passed.push((cause.clone(), Cycles(total(after, cause) - total(before, cause))));
        }
    }
    passed.retain(|(_, cycles)| cycles.0 > 0);
    passed
}

#[cfg(test)]
mod tests {
    use super::*;
    use engine::time::Hz;

    #[test]
    fn a_clock_may_come_back_to_a_rate_within_a_window() {
        let at = |mhz: u64, cycles| Counted {
            rate: Hz::new(mhz * 1_000_000).unwrap(),
            causes: vec![("issue".to_string(), Cycles(cycles))],
        };
        // A window that begins when the clock is back at 8 MHz, and ends at 16 MHz.
        let before = [at(8, 100), at(16, 20), at(8, 5)];
        let after = [at(8, 100), at(16, 20), at(8, 35), at(16, 4)];
        assert_eq!(counted_between(&before, &after), [at(8, 30), at(16, 4)]);
        // For a section, the earlier counts at one rate are added up.
        let after = [at(8, 135), at(16, 20), at(16, 4)];
        assert_eq!(counted_between(&before, &after), [at(8, 30), at(16, 4)]);
    }
}

//! Windows: what every core did while a call of a watched function lasted, and what it waited for.
//!
//! A core that comes to the begin or end of such a call stops there until no other that runs is behind it; then all of
//! them are looked at. Another core may be ahead by an instruction, or by up to the quantum if it ran before: its share
//! of a window is as exact as that.
//!
//! What cores wait for is known only some time later, so an era of each begins there ([`crate::core::Core`]);
//! in the end a window has the eras from its begin to its end.

use super::Machine;
use crate::core::{CallMark, CoreReport, Counted, SectionReport, WindowIntervals};
use crate::state::{Fresh, State};
use crate::time::{Cycles, Ps};

/// Most windows that are kept: a run that makes more calls has them of the first ones. Of calls that never return, so
/// many are waited for.
const MOST_WINDOWS: usize = 4096;
/// Most eras: more than the windows that are kept begin and end with, but where many calls never return. Those that
/// come then have windows that don't tell of waits.
const MOST_ERAS: u32 = 4 * MOST_WINDOWS as u32;

/// A call, and what all cores did from its begin to its end.
#[derive(Clone, Debug, PartialEq, Eq, State, Fresh)]
pub struct Window {
    /// The core that made the call, by its index.
    pub core: usize,
    /// The function.
    pub section: String,
    /// When it was entered.
    pub begin: Ps,
    /// When it returned.
    pub end: Ps,
    /// Each core's instructions, cycles, causes, sections and waits in that time. Causes without cycles are left out.
    pub cores: Vec<CoreReport>,
}

/// A call under way.
#[derive(Debug, State, Fresh)]
struct Open {
    core: usize,
    section: String,
    begin: Ps,
    /// The era that began with it.
    interval: Option<u32>,
    /// How all cores were then.
    before: Vec<CoreReport>,
}

/// The windows of a run.
#[derive(Debug, Default, State)]
pub(super) struct Windows {
    open: Vec<Open>,
    /// Calls that have ended; and their eras, up to the one that began with their end.
    done: Vec<(Window, Option<(u32, u32)>)>,
    /// Calls for whose windows there was no room.
    pub lost: u64,
    /// The era that began last.
    interval: u32,
}

impl Windows {
    /// The number of an era that begins now, if one is to.
    fn next_interval(&mut self) -> Option<u32> {
        let begins = self.done.len() < MOST_WINDOWS && self.interval < MOST_ERAS;
        self.interval += u32::from(begins);
        begins.then_some(self.interval)
    }
}

impl Machine {
    /// The core has come to the begin or end of calls, and nobody that runs is behind it.
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

    /// The windows so far, with what was waited for in them.
    pub(super) fn reported_windows(&mut self) -> Vec<Window> {
        let (mut windows, intervals): (Vec<Window>, Vec<_>) = self.windows.done.iter().cloned().unzip();
        for (index, core) in self.cores.iter().enumerate() {
            let known = windows.iter_mut().zip(&intervals).filter_map(|(window, intervals)| {
                let (report, (from, to)) = (&mut window.cores[index], (*intervals)?);
                let intervals = WindowIntervals { from, to, rate: report.clock };
                Some((report, intervals))
            });
            let (reports, intervals): (Vec<&mut CoreReport>, Vec<WindowIntervals>) = known.unzip();
            // What lies between it and the memories has its own names.
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

/// What a core did between two reports.
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

/// A clock may come back to a rate that it had before: all that counted at a rate is taken together.
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
        // A board may call two of its buses alike.
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
    use crate::time::Hz;

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
        // The same of a section, which has its earlier rates together.
        let after = [at(8, 135), at(16, 20), at(16, 4)];
        assert_eq!(counted_between(&before, &after), [at(8, 30), at(16, 4)]);
    }
}

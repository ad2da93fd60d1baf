//! Windows: what every core did while a call of a watched function lasted.
//!
//! A core that comes to the begin or end of such a call stops there until no other that runs is behind it; then all of
//! them are looked at. Another core may be ahead by an instruction, or by up to the quantum if it ran before: its share
//! of a window is as exact as that.

use super::Machine;
use crate::core::{CallMark, CoreReport, Counted, SectionReport};
use crate::time::{Cycles, Ps};

/// Most windows that are kept: a run that makes more calls has them of the first ones. Of calls that never return, so
/// many are waited for.
const MOST_WINDOWS: usize = 4096;

/// A call, and what all cores did from its begin to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Window {
    /// The core that made the call, by its index.
    pub core: usize,
    /// The function.
    pub section: String,
    /// When it was entered.
    pub begin: Ps,
    /// When it returned.
    pub end: Ps,
    /// Each core's instructions, cycles, causes and sections in that time. Causes without cycles are left out.
    pub cores: Vec<CoreReport>,
}

/// The windows of a run.
#[derive(Debug, Default)]
pub(super) struct Windows {
    /// Calls under way: the core, the function, and how all were when it began.
    open: Vec<(usize, String, Ps, Vec<CoreReport>)>,
    pub done: Vec<Window>,
    /// Calls for whose windows there was no room.
    pub lost: u64,
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
        let reports = self.core_reports();
        for CallMark { section, begins } in marks {
            let name = reports[core].sections.get(section).map_or_else(String::new, |section| section.name.clone());
            if begins {
                if self.windows.open.len() == MOST_WINDOWS {
                    self.windows.open.remove(0);
                    self.windows.lost += 1;
                }
                self.windows.open.push((core, name, now, reports.clone()));
            } else if let Some(index) = self.windows.open.iter().rposition(|open| (open.0, &open.1) == (core, &name)) {
                let (core, section, begin, before) = self.windows.open.remove(index);
                if self.windows.done.len() == MOST_WINDOWS {
                    self.windows.lost += 1;
                    continue;
                }
                let cores = reports.iter().zip(&before).map(|(after, before)| between(before, after)).collect();
                self.windows.done.push(Window { core, section, begin, end: now, cores });
            }
        }
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

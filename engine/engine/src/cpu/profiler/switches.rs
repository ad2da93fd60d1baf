//! Switches of a core from one stack of calls to another, for a timeline that shows the running task.

use std::collections::VecDeque;

use crate::state::{Fresh, State};

/// From then on, the core is on the stack of a task.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
pub struct Switch {
    /// The core's cycles then.
    pub at: u64,
    /// The task's path.
    pub task: u32,
}

/// The latest switches, in order. The time between two of them belongs to one task, to the cycle.
#[derive(Debug, State, Fresh)]
pub struct Switches {
    most: usize,
    /// The window that they are for: the core's cycles at its start and at its end.
    pub window: (u64, u64),
    kept: VecDeque<Switch>,
}

impl Switches {
    /// Keeps at most `most` switches, starting with `first`.
    pub fn new(most: usize, first: Switch) -> Switches {
        Switches { most: most.max(1), window: (0, u64::MAX), kept: VecDeque::from([first]) }
    }

    /// Adds a switch. Before the window only the last one is kept, and after it only the first.
    pub fn push(&mut self, switch: Switch) {
        let (from, to) = self.window;
        if self.kept.back().is_some_and(|last| last.at > to) {
            return;
        }
        if switch.at <= from {
            self.kept.clear();
        }
        if self.kept.len() >= self.most {
            self.kept.pop_front();
        }
        self.kept.push_back(switch);
    }

    /// Adds the last switches, made by an iteration of a polling loop, `times` more times, once in `period` cycles.
    /// Their number is at most that of the kept ones.
    pub fn repeat(&mut self, last: &[Switch], times: u64, period: u64) {
        let (Some(first), Some(end)) = (last.first(), last.last()) else { return };
        let (from, to) = self.window;
        let most_times = self.most.div_ceil(last.len()) as u64;
        // The first switch after the window is wanted, and the last one before it.
        let latest = (to.saturating_sub(first.at) / period.max(1)).saturating_add(1).min(times);
        let earliest = (from.saturating_sub(end.at) / period.max(1)).max(1);
        for nth in earliest.max((latest + 1).saturating_sub(most_times))..=latest {
            last.iter().for_each(|switch| self.push(Switch { at: switch.at + nth * period, ..*switch }));
        }
    }

    /// The tasks, each with the start and the end of its run; the last one ends at `now`.
    pub fn task_slices(&self, now: u64) -> impl Iterator<Item = (u32, u64, u64)> {
        let ends = self.kept.iter().skip(1).map(|switch| switch.at).chain([now]);
        self.kept.iter().zip(ends).map(|(switch, end)| (switch.task, switch.at, end))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn switches(most: usize) -> Switches {
        let mut switches = Switches::new(most, Switch { at: 0, task: 0 });
        for (at, task) in [(10, 1), (30, 2), (35, 1)] {
            switches.push(Switch { at, task });
        }
        switches
    }

    fn task_slices(switches: &Switches, now: u64) -> Vec<(u32, u64, u64)> {
        switches.task_slices(now).collect()
    }

    #[test]
    fn tasks_run_until_others_do() {
        assert_eq!(task_slices(&switches(9), 50), [(0, 0, 10), (1, 10, 30), (2, 30, 35), (1, 35, 50)]);
    }

    #[test]
    fn the_latest_are_kept() {
        assert_eq!(task_slices(&switches(2), 50), [(2, 30, 35), (1, 35, 50)]);
        assert_eq!(task_slices(&switches(0), 50), [(1, 35, 50)]);
    }

    #[test]
    fn iterations_that_are_skipped_switch_as_the_one_that_was_run() {
        let last = [Switch { at: 30, task: 2 }, Switch { at: 35, task: 1 }];
        let mut repeated = switches(9);
        repeated.repeat(&last, 2, 100);
        assert_eq!(task_slices(&repeated, 300)[4..], [(2, 130, 135), (1, 135, 230), (2, 230, 235), (1, 235, 300)]);
        let mut many = switches(3);
        many.repeat(&last, 1 << 40, 100);
        let end = 100 << 40;
        assert_eq!(
            task_slices(&many, end + 40),
            [(1, end - 65, end + 30), (2, end + 30, end + 35), (1, end + 35, end + 40)]
        );
        many.repeat(&[], 5, 100);
        assert_eq!(task_slices(&many, end + 40).len(), 3);
    }

    #[test]
    fn switches_outside_of_the_window_take_no_room() {
        let last = [Switch { at: 30, task: 2 }, Switch { at: 35, task: 1 }];
        let mut windowed = switches(9);
        windowed.window = (1040, 1100);
        windowed.repeat(&last, 1 << 40, 100);
        let expected = [(1, 1035, 1130), (2, 1130, 2000)];
        assert_eq!(task_slices(&windowed, 2000), expected);
        windowed.push(Switch { at: 1200, task: 1 });
        assert_eq!(task_slices(&windowed, 2000), expected);
        let mut one_by_one = switches(9);
        one_by_one.window = (1040, 1100);
        for nth in 1..20 {
            last.iter().for_each(|switch| one_by_one.push(Switch { at: switch.at + 100 * nth, ..*switch }));
        }
        assert_eq!(task_slices(&one_by_one, 2000), expected);
    }
}

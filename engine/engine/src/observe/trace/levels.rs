//! The number of entries in FIFOs over time, from spans of entries.

use std::collections::BTreeMap;

use super::PS_PER_NS;
use super::slices::MOST_REPETITIONS;
use crate::activity::Span;
use crate::time::Ps;

/// The number of entries of a FIFO from a time on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Level {
    /// When.
    pub at: Ps,
    /// The index of the FIFO's track.
    pub track: u32,
    /// The number of entries.
    pub entries: u64,
}

/// A change of a number of entries, and its time.
type Step = (Ps, i64);

/// The levels of all FIFOs that have spans, by track, from the window's begin on. Entries that leave at its end or
/// after it are counted up to its end.
pub fn levels(spans: &[Span], window: (Ps, Ps)) -> Vec<Level> {
    let mut tracks: BTreeMap<u32, Vec<&Span>> = BTreeMap::new();
    for span in spans {
        tracks.entry(span.track).or_default().push(span);
    }
    let mut all = Vec::new();
    for (track, spans) in tracks {
        let mut steps = steps(spans);
        steps.sort_unstable();
        add_levels(track, &steps, window, &mut all);
    }
    all
}

/// The changes by spans of a track.
fn steps(spans: Vec<&Span>) -> Vec<Step> {
    let (mut many, few): (Vec<&Span>, Vec<&Span>) = spans.into_iter().partition(|span| span.times > MOST_REPETITIONS);
    let mut steps: Vec<Step> = few.iter().flat_map(|span| span.instances()).flat_map(there_and_gone).collect();
    many.sort_by_key(|span| span.end);
    let mut left = many.as_slice();
    while let Some(first) = left.first() {
        // An entry that an iteration adds leaves in it, or is known in the next one.
        let period = first.instance(1).0 - first.begin;
        let is_same = |span: &&&Span| span.recurs_with(first) && span.end <= first.end + period + period;
        let (loop_spans, others) = left.split_at(left.iter().take_while(is_same).count());
        repeat(loop_spans, &mut steps);
        left = others;
    }
    steps
}

fn there_and_gone((begin, end): (Ps, Ps)) -> [Step; 2] {
    [(begin, 1), (end, -1)]
}

/// The changes by iterations of a loop: each entry until the FIFO's level repeats from iteration to iteration, and each
/// one again when it empties; between these, the highest level of an iteration.
fn repeat(spans: &[&Span], steps: &mut Vec<Step>) {
    let begun_by = |span: &Span, at: Ps| span.times_within(Ps::ZERO, at + Ps(1));
    let entries = |at: Ps| spans.iter().map(|span| span.times_within(at, at + Ps(1))).sum::<u64>() as i64;
    let from = spans.iter().map(|span| span.end).max().unwrap_or_default();
    let to = spans.iter().map(|span| span.instance(span.times - 1).0).min().unwrap_or_default();
    // The begins of an iteration's entries, when those of all iterations before it have begun.
    let last_begins = spans.iter().map(|span| Some(span.instance(begun_by(span, to).checked_sub(1)?).0));
    let most = last_begins.map(|at| Some(entries(at.filter(|at| *at >= from)?))).collect::<Option<Vec<i64>>>();
    let Some(most) = most.and_then(|entries| entries.into_iter().max()) else {
        // The entries stay as long as the whole loop.
        return steps.extend(spans.iter().flat_map(|span| span.instances()).flat_map(there_and_gone));
    };
    for span in spans {
        let up = span.instances().take_while(|(begin, _)| *begin <= from);
        steps.extend(up.flat_map(there_and_gone).filter(|(at, _)| *at <= from));
        let down = span.instances().rev().take_while(|(_, end)| *end > to);
        steps.extend(down.flat_map(there_and_gone).filter(|(at, _)| *at > to));
    }
    steps.extend([(from, most - entries(from)), (to, entries(to) - most)]);
}

/// Adds the level at the window's begin, and each change of it within the window.
fn add_levels(track: u32, steps: &[Step], (from, to): (Ps, Ps), all: &mut Vec<Level>) {
    if from >= to {
        return;
    }
    let mut entries = 0;
    let before = steps.partition_point(|(at, _)| *at <= from);
    let mut change = |steps: &[Step]| {
        entries += steps.iter().map(|(_, change)| change).sum::<i64>();
        entries.max(0) as u64
    };
    let mut last = change(&steps[..before]);
    all.push(Level { at: from, track, entries: last });
    let within = &steps[before..steps.partition_point(|(at, _)| *at < to).max(before)];
    // The file has nanoseconds.
    for at_once in within.chunk_by(|one, next| one.0.0 / PS_PER_NS == next.0.0 / PS_PER_NS) {
        let now = change(at_once);
        if std::mem::replace(&mut last, now) != now {
            all.push(Level { at: at_once[0].0, track, entries: now });
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::activity::{Activities, Activity, Detail, Kind, Kinds};
    use crate::tiers::sized;
    use crate::time::Hz;

    static FIFO: Activity = Activity::new(Kind::Queue, "TX FIFO", "");

    fn of(activities: &Activities, from: u64, to: u64) -> Vec<(u64, u64)> {
        let levels = levels(&activities.spans(Ps(from), Ps(to)), (Ps(from), Ps(to)));
        levels.iter().map(|level| (level.at.0, level.entries)).collect()
    }

    #[test]
    fn what_comes_as_something_goes_is_no_change() {
        let activities = Activities::default();
        let scope = activities.scope("spi0");
        activities.start(Kinds::of(&[Kind::Queue]), 1 << 16);
        // The last entry stays until the end.
        for (begin, end) in [(1_000, 5_000), (2_000, 7_000), (5_000, 9_000), (7_000, u64::MAX)] {
            scope.span(&FIFO, Ps(begin), Ps(end), Detail::None);
        }
        assert_eq!(of(&activities, 0, 20_000), [(0, 0), (1_000, 1), (2_000, 2), (9_000, 1)]);
        assert_eq!(of(&activities, 3_000, 9_000), [(3_000, 2)]);
        assert_eq!(of(&activities, 9_000, 9_000), []);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(sized(64, 256)))]
        /// A polling loop whose iterations add some entries to a FIFO, each after `there` of them for the next one.
        #[test]
        fn a_loops_many_entries_are_few_levels_that_are_never_more_than_there_are(
            per_iteration in 1u64..4,
            there in 0u64..9,
            skipped in 65u64..4_000,
        ) {
            const PERIOD: u64 = 60_000;
            let activities = Activities::default();
            let scope = activities.scope("spi0");
            activities.start(Kinds::of(&[Kind::Queue]), 1 << 20);
            let apart = PERIOD / per_iteration;
            let at = |number: u64| Ps(number * apart);
            let stays = Ps(there * apart + apart / 2);
            let report = |number: u64| scope.span(&FIFO, at(number), at(number) + stays, Detail::None);
            // Some iterations that ran, those that were skipped, some that ran.
            let before = 20 * per_iteration;
            (0..before).for_each(report);
            let mark = activities.mark();
            (before..before + per_iteration).for_each(report);
            activities.repeat(&mark, Hz::new(1_000_000_000).unwrap(), PERIOD / 1_000, skipped);
            let after = before + per_iteration * (1 + skipped);
            (after..after + before).for_each(report);
            let levels = of(&activities, 0, u64::MAX);
            let most = there + 1;
            prop_assert_eq!(levels.iter().map(|(_, entries)| *entries).max(), Some(most));
            prop_assert_eq!(levels.last().map(|(_, entries)| *entries), Some(0));
            prop_assert!(levels.len() as u64 <= 4 * before + 4 * most + 8, "{} levels", levels.len());
            // Levels far from the loop's own entries are exact, and constant.
            let level_at = |at: Ps| levels[levels.partition_point(|(when, _)| *when <= at.0) - 1].1;
            prop_assert_eq!(level_at(at(before + per_iteration * skipped / 2)), most);
            let exact = |when: Ps| {
                (0..after + before).filter(|number| at(*number) <= when && when < at(*number) + stays).count() as u64
            };
            for number in (0..before).chain(after..after + before) {
                prop_assert_eq!(level_at(at(number)), exact(at(number)));
            }
        }
    }
}

//! The critical path through a run, in the form for users.

use std::collections::BTreeMap;

use super::Machine;
use super::progress::Activity;
use engine::core::CoreReport;
use engine::observe::critical_path::{CriticalPath, HandOver, Path, PathRow, PathStay, Paths, WORK, What};
use engine::observe::waits::{ASLEEP, Sort, WaitShare, WaitedFor};
use engine::time::{Cycles, Ps};

impl Machine {
    /// Follows the critical path from now on.
    pub(super) fn follow_critical_path(&mut self) {
        self.bus.follow_critical_path(self.quantum);
        if self.bus.critical.is_some() {
            self.cores.iter_mut().for_each(|core| core.watch_loops());
        }
        for core in 0..self.cores.len() {
            if self.progress[core].activity == Activity::Held {
                self.bus.core_sleeps(core, self.core_time(core));
            }
        }
    }

    /// A core leaves reset.
    pub(super) fn note_release(&self, core: usize) {
        let (clock, cycles) = (self.cores[core].clock(), self.cores[core].cycles());
        let edge_before = clock.ps_at_floor(Cycles(cycles.0.saturating_sub(1)));
        self.bus.core_wakes(core, self.core_time(core), edge_before);
    }

    /// The path that ends at `elapsed`, if waits are recorded.
    pub(super) fn critical_path(&self, reports: &[CoreReport], elapsed: Ps) -> Option<CriticalPath> {
        if let Some(critical) = &self.bus.critical {
            let mut paths = critical.borrow().clone();
            self.cores.iter().for_each(|core| core.add_to_path(&self.bus, &mut paths));
            let last = self.last_core(&paths);
            return Some(self.named_path(&paths, paths.path(last, elapsed)));
        }
        let [report] = reports else { return None };
        Some(path_of_one(report, report.waited.as_ref()?, elapsed))
    }

    /// The core that ended the run; if none did, the one that ran last.
    fn last_core(&self, paths: &Paths) -> usize {
        self.ended_by.or_else(|| paths.ended_by()).unwrap_or_else(|| {
            let at_work = |core: usize| match self.progress[core].activity {
                Activity::Held => Ps::ZERO,
                _ => paths.asleep_since(core).unwrap_or(Ps::MAX),
            };
            let cores = (0..self.cores.len()).rev();
            cores.max_by_key(|core| (at_work(*core), *core == self.main)).unwrap_or(self.main)
        })
    }

    fn named_path(&self, paths: &Paths, path: Path) -> CriticalPath {
        let tracks = self.bus.activities.tracks();
        let device = |device: u32| self.bus.device_names.get(device as usize).map_or("", String::as_str);
        let named = |what: What| match what {
            What::Work => WORK.to_owned(),
            What::Looking(id) => format!("{}: looked at", device(id)),
            What::Asleep(label) => match paths.label(label) {
                "" => ASLEEP.to_owned(),
                label => format!("{label}: interrupt awaited"),
            },
            What::Activity(track) => tracks
                .get(track as usize)
                .map_or_else(String::new, |track| format!("{}: {}", track.scope, track.activity.name)),
        };
        let core = |core: u32| self.cores[core as usize].name().to_owned();
        // Parts of a device have the same name.
        let mut times: BTreeMap<(u32, String), u64> = BTreeMap::new();
        for ((core, what), time) in &path.rows {
            *times.entry((*core, named(*what))).or_default() += time;
        }
        let rows = times.into_iter().map(|((by, what), time)| PathRow { core: core(by), what, time: Ps(time) });
        let hand_overs = path.hand_overs.iter().map(|((from, to, id), sleeps)| HandOver {
            from: core(*from),
            to: core(*to),
            device: device(id.0).to_owned(),
            times: sleeps.times,
            held: sleeps.held,
            longest: sleeps.longest,
            longest_from: sleeps.longest_from,
        });
        let (rows, hand_overs) = (by_time(rows), hand_overs.collect::<Vec<_>>());
        let stays = path.into_stays().into_iter().map(|stay| {
            let (what, mostly_time) = stay.mostly();
            PathStay { core: core(stay.core), begin: stay.begin, end: stay.end, mostly: named(what), mostly_time }
        });
        CriticalPath { rows, hand_overs: by_held(hand_overs), stays: stays.collect() }
    }
}

/// Sorted, longest first.
fn by_time(rows: impl Iterator<Item = PathRow>) -> Vec<PathRow> {
    let mut rows: Vec<PathRow> = rows.filter(|row| row.time > Ps::ZERO).collect();
    rows.sort_by_key(|row| std::cmp::Reverse(row.time));
    rows
}

fn by_held(mut hand_overs: Vec<HandOver>) -> Vec<HandOver> {
    hand_overs.sort_by_key(|hand_over| std::cmp::Reverse(hand_over.held));
    hand_overs
}

/// The path of a single core: what it waited for, and the rest.
fn path_of_one(report: &CoreReport, waited: &WaitedFor, elapsed: Ps) -> CriticalPath {
    let mut left = elapsed;
    let row = |what: String, time: Ps| PathRow { core: report.name.clone(), what, time };
    let mut rows = Vec::new();
    let stack = waited.stack(&report.stack()).into_iter();
    for WaitShare { share, .. } in stack.filter(|share| !matches!(share.sort, Sort::Accesses | Sort::Work)) {
        left = left.saturating_sub(share.time);
        rows.push(row(share.cause, share.time));
    }
    rows.push(row(WORK.to_owned(), left));
    let rows = by_time(rows.into_iter());
    let stay = rows.first().map(|longest| PathStay {
        core: report.name.clone(),
        begin: Ps::ZERO,
        end: elapsed,
        mostly: longest.what.clone(),
        mostly_time: longest.time,
    });
    CriticalPath { rows, hand_overs: Vec::new(), stays: stay.into_iter().collect() }
}

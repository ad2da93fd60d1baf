//! Call paths: a tree of tasks, functions and exceptions, each below what called or interrupted it.

use super::counters::Counters;
use crate::event_rates::Source;
use crate::state::{Fresh, State};

/// Paths at the most. What would be below a path for which there is no room belongs to that path.
const MOST_PATHS: usize = 1 << 14;
/// Calls of watched functions that are kept one by one.
const MOST_CALLS: usize = 1 << 20;

/// What a path ends in.
#[derive(Clone, Debug, PartialEq, Eq, State, Fresh)]
pub enum Kind {
    /// A stack of its own, which began at an address: of a task, or what the core began with. Its name, if it is known.
    Task(u32, String),
    /// The function at an address.
    Function(u32),
    /// An exception.
    Exception(Source),
}

/// A path, and what is known of calls along it. Times are cycles that the core has had.
#[derive(Debug, State)]
pub struct Path {
    /// The path that it goes on from; `None` for a task.
    pub parent: Option<u32>,
    /// What it ends in.
    pub kind: Kind,
    /// Where its calls return to: [`NO_SITE`] if that is not told apart, or nobody has called.
    pub site: u32,
    /// Calls that have ended.
    pub calls: u64,
    /// What they took, from their beginning to their end.
    pub elapsed: u64,
    /// The longest and the shortest of them.
    pub longest: u64,
    /// See [`Path::longest`].
    pub shortest: u64,
    /// When the longest began.
    pub longest_at: u64,
    /// Those that go on from it, by what they end in.
    next: Vec<(Key, u32)>,
    /// Its calls are kept one by one, under this number of a watched function.
    watched: Option<u32>,
    /// Its counters.
    #[state(skip)]
    counts: *mut u64,
}

/// No address that a call returns to: addresses of instructions are even.
pub const NO_SITE: u32 = u32::MAX;

/// What [`Kind`] a path is looked for by: an address and where calls return to, or [`EXCEPTION`] and the number of an
/// exception's source.
type Key = u64;
/// In the place of an address.
const EXCEPTION: u32 = u32::MAX;

#[inline(always)]
fn key(address: u32, site: u32) -> Key {
    Key::from(site) << u32::BITS | Key::from(address)
}

/// A call of a watched function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
pub struct Call {
    /// Its path.
    pub path: u32,
    /// When it began.
    pub begun: u64,
    /// What it took.
    pub cycles: u64,
}

/// All paths of a core.
#[derive(Debug, State)]
pub struct Paths {
    /// They only grow.
    pub all: Vec<Path>,
    /// Sources of exceptions that were taken.
    sources: Vec<Source>,
    /// Calls of a function that return to different addresses have different paths.
    by_site: bool,
    /// Functions whose calls are kept one by one, by their addresses.
    watched: Vec<u32>,
    /// Their calls.
    pub calls: Vec<Vec<Call>>,
    /// Calls that were too many to be kept.
    pub dropped_calls: u64,
    /// Calls below a path that belong to it, as there was no room.
    pub merged: u64,
}

impl Fresh for Path {
    fn fresh() -> Path {
        Path {
            parent: None,
            kind: Kind::fresh(),
            site: 0,
            calls: 0,
            elapsed: 0,
            longest: 0,
            shortest: 0,
            longest_at: 0,
            next: Vec::new(),
            watched: None,
            counts: std::ptr::null_mut(),
        }
    }
}

// SAFETY: the counters belong to the same core.
unsafe impl Send for Paths {}

impl Paths {
    /// No paths yet; calls of the functions at these addresses are kept one by one.
    pub fn new(watched: Vec<u32>, by_site: bool) -> Paths {
        let calls = vec![Vec::new(); watched.len()];
        Paths { all: Vec::new(), sources: Vec::new(), by_site, watched, calls, dropped_calls: 0, merged: 0 }
    }

    /// Paths have been loaded: they get counters. `None` if the host has no memory for them.
    pub fn count_with(&mut self, counters: &mut Counters) -> Option<()> {
        let (all, calls) = (self.all.len() as u32, self.calls.len() as u32);
        let is_sound = |path: &Path| {
            let next = path.next.iter().map(|(_, next)| *next);
            next.chain(path.parent).all(|path| path < all) && path.watched.is_none_or(|watched| watched < calls)
        };
        if all == 0 || !self.all.iter().all(is_sound) {
            return None;
        }
        for path in &mut self.all {
            path.counts = counters.add_path()?;
        }
        Some(())
    }

    /// The counters of a path.
    #[inline(always)]
    pub fn counts(&self, path: u32) -> *mut u64 {
        self.all[path as usize].counts
    }

    /// A new task.
    pub fn add_task(&mut self, counters: &mut Counters, address: u32, name: String) -> Option<u32> {
        self.add(counters, None, Kind::Task(address, name), NO_SITE)
    }

    /// A task is called so.
    pub fn name_task(&mut self, task: u32, called: String) {
        if let Some(Kind::Task(_, name)) = self.all.get_mut(task as usize).map(|path| &mut path.kind) {
            *name = called;
        }
    }

    /// The path of a call of the function at `address` from another path, which returns to `site`; that path itself if
    /// there is no room.
    #[inline]
    pub fn function(&mut self, counters: &mut Counters, from: u32, address: u32, site: u32) -> u32 {
        let site = if self.by_site { site } else { NO_SITE };
        let wanted = key(address, site);
        let found = self.all[from as usize].next.iter().find(|(key, _)| *key == wanted);
        match found {
            Some((_, path)) => *path,
            None => self.add_next(counters, from, wanted, (Kind::Function(address), site)),
        }
    }

    /// The path of an exception that is taken on another path; that path itself if there is no room.
    pub fn exception(&mut self, counters: &mut Counters, from: u32, source: Source) -> u32 {
        let known = self.sources.iter().position(|known| *known == source);
        let number = known.unwrap_or_else(|| {
            self.sources.push(source);
            self.sources.len() - 1
        });
        let wanted = key(EXCEPTION, number as u32);
        let found = self.all[from as usize].next.iter().find(|(known, _)| *known == wanted);
        match found {
            Some((_, path)) => *path,
            None => self.add_next(counters, from, wanted, (Kind::Exception(source), NO_SITE)),
        }
    }

    #[cold]
    #[inline(never)]
    fn add_next(&mut self, counters: &mut Counters, from: u32, key: Key, (kind, site): (Kind, u32)) -> u32 {
        let Some(path) = self.add(counters, Some(from), kind, site) else {
            self.merged += 1;
            return from;
        };
        self.all[from as usize].next.push((key, path));
        path
    }

    fn add(&mut self, counters: &mut Counters, parent: Option<u32>, kind: Kind, site: u32) -> Option<u32> {
        if self.all.len() >= MOST_PATHS {
            return None;
        }
        let counts = counters.add_path()?;
        let watched = match kind {
            Kind::Function(address) => self.watched.iter().position(|watched| *watched == address),
            _ => None,
        };
        self.all.push(Path {
            parent,
            kind,
            site,
            calls: 0,
            elapsed: 0,
            longest: 0,
            shortest: u64::MAX,
            longest_at: 0,
            next: Vec::new(),
            watched: watched.map(|place| place as u32),
            counts,
        });
        Some(self.all.len() as u32 - 1)
    }

    /// A call along a path has ended.
    #[inline]
    pub fn end_call(&mut self, path: u32, begun: u64, now: u64) {
        let cycles = now.wrapping_sub(begun);
        let of = &mut self.all[path as usize];
        of.calls += 1;
        of.elapsed = of.elapsed.wrapping_add(cycles);
        if cycles > of.longest || of.calls == 1 {
            (of.longest, of.longest_at) = (cycles, begun);
        }
        of.shortest = of.shortest.min(cycles);
        if let Some(watched) = of.watched {
            self.keep(watched, Call { path, begun, cycles });
        }
    }

    #[cold]
    fn keep(&mut self, watched: u32, call: Call) {
        let calls = &mut self.calls[watched as usize];
        if calls.len() < MOST_CALLS { calls.push(call) } else { self.dropped_calls += 1 }
    }

    /// A call like the last ones along a path has ended so many times more.
    pub fn repeat_call(&mut self, path: u32, cycles: u64, times: u64) {
        let of = &mut self.all[path as usize];
        of.calls += times;
        of.elapsed = of.elapsed.wrapping_add(cycles.wrapping_mul(times));
    }
}

//! Call paths: a tree of tasks, functions and exceptions, each below its caller or the code that it interrupted.

use std::collections::BTreeMap;

use super::counters::Counters;
use crate::event_rates::Source;
use crate::state::{Fresh, State};

/// Most paths. Further functions and exceptions have a path below their task, whatever they are called from.
const MOST_PATHS: usize = 1 << 14;
/// Most such short paths beyond these. Further ones are merged into the path below which they would be.
const MOST_SHORT: usize = 1 << 15;
/// Most tasks and exceptions beyond all these: a task without a path would be another one's time.
const MOST_FURTHER: usize = 1 << 12;
/// Most calls of watched functions that are kept one by one.
const MOST_CALLS: usize = 1 << 20;

/// Last element of a path.
#[derive(Clone, Debug, PartialEq, Eq, State, Fresh)]
pub enum Kind {
    /// A stack, which began at an address: of a task, or the initial stack. With its name, if known.
    Task(u32, String),
    /// The function at an address.
    Function(u32),
    /// An exception.
    Exception(Source),
}

/// A path, and its calls. Times are cycles of the core.
#[derive(Debug, State)]
pub struct Path {
    /// The path that it extends; `None` for a task.
    pub parent: Option<u32>,
    /// Its last element.
    pub kind: Kind,
    /// The return address of its calls: [`NO_SITE`] if return addresses are not distinguished, or there is no caller.
    pub site: u32,
    /// Number of calls that have ended.
    pub calls: u64,
    /// Their total duration, from start to end.
    pub elapsed: u64,
    /// The longest and the shortest duration.
    pub longest: u64,
    /// See [`Path::longest`].
    pub shortest: u64,
    /// Start of the longest call.
    pub longest_at: u64,
    /// The task at its start.
    task: u32,
    /// Paths that extend it, by their last elements.
    next: Vec<(Key, u32)>,
    /// The index of its watched function, if its calls are kept one by one.
    watched: Option<u32>,
    /// Its counters.
    #[state(skip)]
    counts: *mut u64,
}

/// Not a return address: addresses of instructions are even.
pub const NO_SITE: u32 = u32::MAX;

/// Key by which a path is looked up: the address and the return address of a function, or [`EXCEPTION`] and the number
/// of an exception's source.
type Key = u64;
/// Stands for an address.
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
    /// Its start.
    pub begun: u64,
    /// Its duration.
    pub cycles: u64,
}

/// All paths of a core.
#[derive(Debug, State)]
pub struct Paths {
    /// Paths are never removed.
    pub all: Vec<Path>,
    /// Sources of exceptions that were taken.
    sources: Vec<Source>,
    /// Calls of a function with different return addresses have different paths.
    by_site: bool,
    /// Functions whose calls are kept one by one, by their addresses.
    watched: Vec<u32>,
    /// Their calls.
    pub calls: Vec<Vec<Call>>,
    /// Number of calls that were not kept, because there were too many.
    pub dropped_calls: u64,
    /// Paths below a task for which there was no room elsewhere.
    short: BTreeMap<(u32, Key), u32>,
    /// Number of calls that have such a path.
    pub shortened: u64,
    /// Number of calls that were merged into a shorter path, because there were too many paths.
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
            task: 0,
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
        Paths {
            all: Vec::new(),
            sources: Vec::new(),
            by_site,
            watched,
            calls,
            dropped_calls: 0,
            short: BTreeMap::new(),
            shortened: 0,
            merged: 0,
        }
    }

    /// Gives counters to loaded paths. `None` if the host has no memory for them.
    pub fn count_with(&mut self, counters: &mut Counters) -> Option<()> {
        let (all, calls) = (self.all.len() as u32, self.calls.len() as u32);
        let is_sound = |path: &Path| {
            let next = path.next.iter().map(|(_, next)| *next);
            next.chain(path.parent).chain([path.task]).all(|path| path < all)
                && path.watched.is_none_or(|watched| watched < calls)
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

    /// Adds a task.
    pub fn add_task(&mut self, counters: &mut Counters, address: u32, name: String) -> Option<u32> {
        self.add(counters, None, Kind::Task(address, name), NO_SITE)
    }

    /// Sets the name of a task.
    pub fn name_task(&mut self, task: u32, called: String) {
        if let Some(Kind::Task(_, name)) = self.all.get_mut(task as usize).map(|path| &mut path.kind) {
            *name = called;
        }
    }

    /// The path of a call of the function at `address` from another path, with the return address `site`; that other
    /// path itself if there is no room.
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

    /// The path of an exception that is taken on another path; that other path itself if there is no room.
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

    /// Ends the functions at some addresses, which have other code now: their calls have new paths from now on. Returns
    /// the paths that end now, with the addresses.
    pub fn end_functions(&mut self, is_old: impl Fn(u32) -> bool) -> Vec<(u32, u32)> {
        let mut ended = Vec::new();
        self.short.retain(|(_, key), path| {
            let is_ended = *key as u32 != EXCEPTION && is_old(*key as u32);
            ended.extend(is_ended.then_some((*path, *key as u32)));
            !is_ended
        });
        for path in &mut self.all {
            path.next.retain(|(key, path)| {
                let address = *key as u32;
                let is_ended = address != EXCEPTION && is_old(address);
                ended.extend(is_ended.then_some((*path, address)));
                !is_ended
            });
        }
        ended
    }

    #[cold]
    #[inline(never)]
    fn add_next(&mut self, counters: &mut Counters, from: u32, key: Key, (kind, site): (Kind, u32)) -> u32 {
        if self.all.len() < MOST_PATHS
            && let Some(path) = self.add(counters, Some(from), kind.clone(), site)
        {
            self.all[from as usize].next.push((key, path));
            return path;
        }
        let task = self.all[from as usize].task;
        if let Some(path) = self.short.get(&(task, key)) {
            self.shortened += 1;
            return *path;
        }
        let Some(path) = self.add(counters, Some(task), kind, site) else {
            self.merged += 1;
            return from;
        };
        self.shortened += 1;
        self.short.insert((task, key), path);
        path
    }

    fn add(&mut self, counters: &mut Counters, parent: Option<u32>, kind: Kind, site: u32) -> Option<u32> {
        let further = if matches!(kind, Kind::Function(_)) { 0 } else { MOST_FURTHER };
        if self.all.len() >= MOST_PATHS + MOST_SHORT + further {
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
            task: parent.map_or(self.all.len() as u32, |parent| self.all[parent as usize].task),
            next: Vec::new(),
            watched: watched.map(|place| place as u32),
            counts,
        });
        Some(self.all.len() as u32 - 1)
    }

    /// Counts a call along a path that has ended.
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

    /// Counts `times` more calls equal to the last one along a path.
    pub fn repeat_call(&mut self, path: u32, cycles: u64, times: u64) {
        let of = &mut self.all[path as usize];
        of.calls += times;
        of.elapsed = of.elapsed.wrapping_add(cycles.wrapping_mul(times));
    }
}

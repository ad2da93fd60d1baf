//! Each core's critical path so far.
//!
//! A core stores to a device, and the device raises an interrupt input of another core: that store ends a piece of the
//! first core's path. If the second core sleeps until then, its path is the first core's path from there on. The
//! consequences of a store are what the device does during that call, and in the events that it schedules then. A piece
//! gets its waits later, when they are assigned ([`crate::cpu::waits`]).

use std::collections::{BTreeMap, VecDeque};

use super::nodes::{NodeId, Nodes, ROOT};
use super::path::{Entered, Path, Piece, What};
use crate::dt::wiring::DeviceId;
use crate::state::{Fresh, State};
use crate::time::Ps;

/// The number of events whose stores are remembered.
const MOST_EVENTS: usize = 1 << 14;

/// A store of a core to a device.
#[derive(Clone, Copy, Debug, State, Fresh)]
struct Store {
    core: u32,
    device: DeviceId,
    at: Ps,
    /// The path that leads to it, once a consequence of it counts.
    path: Option<NodeId>,
}

/// An interrupt input of a core went up.
#[derive(Clone, Copy, Debug, State, Fresh)]
struct Raise {
    at: Ps,
    /// The store of another core that caused it, if any.
    by: Option<Store>,
}

/// A core's path.
#[derive(Clone, Debug, Default, State, Fresh)]
struct CorePath {
    /// `head` is the path up to here; from here on it is the core's own time.
    begin: Ps,
    head: NodeId,
    /// Waits after `begin`.
    waits: BTreeMap<What, u64>,
    /// How the path changed to this core at `begin`.
    entered: Option<Entered>,
    /// Pieces of the core's time that may still get waits, in their order.
    incomplete: VecDeque<NodeId>,
    asleep_since: Option<Ps>,
    raised: Option<Raise>,
}

/// Where waits of a core belong.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// After the last piece that has an end.
    Open,
    /// A piece.
    Piece(u64),
}

/// The paths of all cores.
#[derive(Clone, Debug, Default, State, Fresh)]
pub struct Paths {
    cores: Vec<CorePath>,
    nodes: Nodes,
    /// The stores that cause the current calls, the innermost last.
    following: Vec<Option<Store>>,
    /// The stores that caused future events, by the events' numbers.
    events: BTreeMap<u64, Store>,
    /// Labels of devices whose interrupts were awaited.
    labels: Vec<String>,
    /// The longest time from the request until a core that does not sleep takes an interrupt.
    latest: Ps,
    /// The core whose store had the run end.
    ended_by: Option<u32>,
}

impl Paths {
    /// The paths of `cores` cores, which take interrupts at most `latest` after the request while they work: one core
    /// may be simulated ahead of another.
    pub fn new(cores: usize, latest: Ps) -> Paths {
        Paths { cores: vec![CorePath::default(); cores], latest, ..Paths::default() }
    }

    /// A core's store has arrived at a device. It causes what the device does up to [`Paths::over`].
    pub fn stored(&mut self, core: u32, device: DeviceId, at: Ps) {
        self.following.push(Some(Store { core, device, at, path: None }));
    }

    /// An event happens. Its own cause is the cause of what it does, up to [`Paths::over`].
    pub fn happens(&mut self, event: u64) {
        let store = self.events.remove(&event);
        self.following.push(store);
    }

    /// The call is over. It may have ended the run.
    pub fn over(&mut self, ends: bool) {
        if let Some(Some(store)) = self.following.pop()
            && ends
        {
            self.ended_by.get_or_insert(store.core);
        }
    }

    /// The core whose store ended the run, if one did.
    pub fn ended_by(&self) -> Option<usize> {
        self.ended_by.map(|core| core as usize)
    }

    /// The store that causes the current call, with the path that leads to it.
    fn cause(&mut self) -> Option<Store> {
        let store = (*self.following.last()?)?;
        if store.path.is_some() {
            return Some(store);
        }
        let (path, at) = self.cut(store.core, store.at);
        let store = Store { at, path: Some(path), ..store };
        if let Some(last) = self.following.last_mut() {
            *last = Some(store);
        }
        Some(store)
    }

    /// An event with this number was scheduled.
    pub fn asked_for(&mut self, event: u64) {
        if let Some(store) = self.cause() {
            self.events.insert(event, store);
            if self.events.len() > MOST_EVENTS {
                self.events.pop_first();
            }
        }
    }

    /// An interrupt input of a core goes high, or the core is let out of reset.
    pub fn raised(&mut self, core: usize, at: Ps) {
        let is_others = self.following.last().is_some_and(|store| store.is_some_and(|by| by.core as usize != core));
        let by = if is_others { self.cause() } else { None };
        self.cores[core].raised = Some(Raise { at, by });
    }

    /// A core sleeps from now on, unless it does already.
    pub fn sleeps(&mut self, core: usize, at: Ps) {
        self.cores[core].asleep_since.get_or_insert(at);
    }

    /// When the core's sleep began.
    pub fn asleep_since(&self, core: usize) -> Option<Ps> {
        self.cores[core].asleep_since
    }

    /// A core wakes at an edge of its clock; the edge before was at `edge_before`.
    pub fn wakes(&mut self, core: usize, at: Ps, edge_before: Ps) {
        let own = &mut self.cores[core];
        let Some(since) = own.asleep_since.take() else { return };
        // The cause of waking was pending at this edge, and not at the one before.
        if let Some(raise) = own.raised.take().filter(|raise| raise.at <= at && raise.at > edge_before) {
            self.go_over(core, raise, (since, at));
        }
    }

    /// A core takes an interrupt, and has only waited since `since`. True if it waited for another core.
    pub fn interrupted(&mut self, core: usize, since: Ps, at: Ps) -> bool {
        let raised = self.cores[core].raised.filter(|raise| raise.at <= at && raise.at + self.latest >= at);
        let is_others = raised.is_some_and(|raise| self.go_over(core, raise, (since, at)));
        if is_others {
            self.cores[core].raised = None;
        }
        is_others
    }

    /// A core's wait is over. If the cause is a store that came while it waited, the core's path is the path to that
    /// store.
    fn go_over(&mut self, core: usize, raise: Raise, (since, at): (Ps, Ps)) -> bool {
        let own = &mut self.cores[core];
        let store = raise.by.filter(|store| store.at > since && store.at >= own.begin && store.at <= at);
        let Some((store, head)) = store.and_then(|store| Some((store, store.path?))) else { return false };
        own.begin = store.at;
        own.head = head;
        own.waits.clear();
        own.entered = Some(Entered { from: store.core, device: store.device, held: at - since, since });
        true
    }

    /// Ends a piece of a core's path, at `at` or where it ended last: the path up to there, and the time of the end.
    fn cut(&mut self, core: u32, at: Ps) -> (NodeId, Ps) {
        let own = &mut self.cores[core as usize];
        if at <= own.begin {
            return (own.head, own.begin);
        }
        let (waits, entered) = (std::mem::take(&mut own.waits), own.entered.take());
        let piece = Piece { core, begin: own.begin, end: at, waits, entered };
        let node = self.nodes.add(own.head, piece);
        own.incomplete.push_back(node);
        (own.begin, own.head) = (at, node);
        if self.nodes.are_many() {
            self.settle();
        }
        (node, at)
    }

    /// The part of `from..to` in each place where waits of a core may belong. Time outside all places is on no path.
    pub fn places(&self, core: u32, from: Ps, to: Ps) -> Vec<(Place, Ps, Ps)> {
        let own = &self.cores[core as usize];
        let ends = |id: &NodeId| Some((Place::Piece(*id), self.nodes.ends(*id)?));
        let pieces = own.incomplete.iter().filter_map(ends);
        let all = pieces.chain([(Place::Open, (own.begin, Ps::MAX))]);
        let parts = all.map(|(place, (begin, end))| (place, begin.max(from), end.min(to)));
        parts.filter(|(_, begin, end)| begin < end).collect()
    }

    /// Adds a wait of a core to a place.
    pub fn add_wait(&mut self, core: u32, place: Place, what: What, time: Ps) {
        match place {
            Place::Open => *self.cores[core as usize].waits.entry(what).or_default() += time.0,
            Place::Piece(node) => self.nodes.add_wait(node, what, time),
        }
    }

    /// The place of a label, for [`What::Asleep`].
    pub fn label_place(&mut self, label: &str) -> u32 {
        let known = self.labels.iter().position(|known| known == label);
        known.unwrap_or_else(|| {
            self.labels.push(label.to_owned());
            self.labels.len() - 1
        }) as u32
    }

    /// The label at a place.
    pub fn label(&self, place: u32) -> &str {
        self.labels.get(place as usize).map_or("", String::as_str)
    }

    /// True if earlier waits of a core may still change its path.
    pub fn has_incomplete(&self, core: u32) -> bool {
        !self.cores[core as usize].incomplete.is_empty()
    }

    /// No more waits of a core come that were before `to`.
    pub fn waits_complete(&mut self, core: u32, to: Ps) {
        let own = &mut self.cores[core as usize];
        while let Some(node) = own.incomplete.front() {
            if self.nodes.ends(*node).is_some_and(|(_, end)| end > to) {
                break;
            }
            self.nodes.complete(*node);
            own.incomplete.pop_front();
        }
        if self.nodes.are_many() {
            self.settle();
        }
    }

    fn settle(&mut self) {
        let heads = self.cores.iter().map(|own| own.head);
        let raised = self.cores.iter().filter_map(|own| own.raised?.by?.path);
        let following = self.following.iter().filter_map(|store| (*store)?.path);
        let events = self.events.values().filter_map(|store| store.path);
        let roots = heads.chain(raised).chain(following).chain(events).filter(|node| *node != ROOT);
        let roots: Vec<NodeId> = roots.collect();
        self.nodes.settle(&roots);
        for own in &mut self.cores {
            own.incomplete.retain(|node| self.nodes.is_incomplete(*node));
        }
    }

    /// The number of pieces that are kept.
    pub fn pieces(&self) -> usize {
        self.nodes.len()
    }

    /// The path of a core that ends at `end`.
    pub fn path(&self, core: usize, end: Ps) -> Path {
        let own = &self.cores[core];
        let last = Piece {
            core: core as u32,
            begin: own.begin,
            end: end.max(own.begin),
            waits: own.waits.clone(),
            entered: own.entered,
        };
        self.nodes.path_to(own.head, Some(last), end)
    }
}

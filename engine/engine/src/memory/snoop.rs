//! The snoop control unit of a cluster: it keeps the data caches of several cores coherent.
//!
//! As in Arm's clusters, it has a copy of the tags of each core's data cache (Cortex-A7 MPCore TRM DDI 0464F, 2.1.3 and
//! 6.4). A line that several caches hold is stored to after the others have given it up; a miss that another cache can
//! serve is answered by that cache, not by the second level. A dirty line may be shared: its owner writes it back
//! (MOESI).
//!
//! Bytes stay in the memories, so contents are coherent whatever the unit does: it decides what accesses cost. Its tags
//! are true at once. A core's own directory, its shortcuts and its TLBs follow when that core runs next, before its
//! next instruction, by the messages that it finds in its inbox.

use super::cache::{CacheShape, NO_LINE};
use crate::state::{Fresh, State};

/// Entries of the TLBs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
pub enum TlbEntries {
    /// All of them.
    All,
    /// The entry of the page at a virtual address, if it is global or has this ASID.
    Page {
        /// Address; the low 12 bits are 0.
        va: u32,
        /// Address space.
        asid: u8,
    },
    /// The entries of the page at this virtual address in all address spaces.
    PageOfAll(u32),
    /// All non-global entries of this address space.
    Asid(u8),
}

/// What another core has done.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
pub enum Message {
    /// Another core loads from this line: stores to it have to ask first.
    Shared(u32),
    /// Another core stores to this line, or invalidates it: it is gone.
    Gone(u32),
    /// This line has been written back, and is clean.
    Clean(u32),
    /// Translations are invalidated.
    Translations(TlbEntries),
    /// The line of instructions at this physical address is invalidated.
    InstructionLine(u32),
    /// All lines of instructions and predictions of branches are invalidated.
    Instructions,
    /// All predictions of branches are invalidated.
    Branches,
}

/// Most messages that wait for a core. A core that gets more has to invalidate everything.
const MOST_MESSAGES: usize = 1 << 12;

/// A line of a core's data cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
struct Tag {
    /// Its address; [`NO_LINE`] when empty.
    line: u32,
    /// No other cache has it.
    unique: bool,
    dirty: bool,
}

const EMPTY: Tag = Tag { line: NO_LINE, unique: false, dirty: false };

/// What the unit knows of a core.
#[derive(Clone, Debug, State)]
struct OfCore {
    #[state(skip)]
    sets: u32,
    #[state(skip)]
    ways: u32,
    #[state(skip)]
    line_bytes: u32,
    /// The tags of its data cache; none for a core outside the cluster.
    #[state(with = crate::state::fixed)]
    tags: Vec<Tag>,
    /// The line with the reservation of its exclusive load.
    reserved: Option<u32>,
    inbox: Vec<Message>,
    counts: Counts,
}

/// Totals of a core.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State, Fresh)]
pub struct Counts {
    /// Misses that another core's cache has served.
    pub from_other: u64,
    /// Stores to present lines that had to ask, as other caches may have had them.
    pub upgrades: u64,
    /// Lines that other cores have taken away.
    pub lost: u64,
}

impl Counts {
    /// The totals, with the names for the user.
    pub fn named(self) -> [(&'static str, u64); 3] {
        [
            ("lines from other cores", self.from_other),
            ("stores to shared lines", self.upgrades),
            ("lines lost to other cores", self.lost),
        ]
    }
}

/// Cycles of the cores' clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SnoopTiming {
    /// From a miss to the data, if another core's cache has them.
    pub transfer_cycles: u64,
    /// From a store to a line that others may have, to the unit's permission.
    pub upgrade_cycles: u64,
}

/// The unit.
#[derive(Clone, Debug, State)]
pub struct Snoop {
    #[state(skip)]
    timing: SnoopTiming,
    #[state(with = crate::state::fixed)]
    cores: Vec<OfCore>,
}

impl Snoop {
    /// For cores with these data caches, by their index in the machine; `None` for a core outside of the cluster.
    pub fn new(caches: &[Option<CacheShape>], timing: SnoopTiming) -> Snoop {
        let of_core = |shape: &Option<CacheShape>| {
            let (sets, ways, line_bytes) = shape.map_or((0, 0, 1), |shape| {
                (shape.size_bytes / shape.line_bytes / shape.ways, shape.ways, shape.line_bytes)
            });
            let tags = vec![EMPTY; (sets * ways) as usize];
            let (inbox, counts) = (Vec::new(), Counts::default());
            OfCore { sets, ways, line_bytes, tags, reserved: None, inbox, counts }
        };
        Snoop { timing, cores: caches.iter().map(of_core).collect() }
    }

    /// Its timing.
    pub fn timing(&self) -> SnoopTiming {
        self.timing
    }

    /// Totals of a core.
    pub fn counts(&self, core: usize) -> Counts {
        self.cores.get(core).map_or_else(Counts::default, |core| core.counts)
    }

    /// True if the core is in the cluster.
    pub fn has(&self, core: usize) -> bool {
        self.cores.get(core).is_some_and(|core| !core.tags.is_empty())
    }

    /// A core's cache misses a line, and loads it for a store, or not. True if another cache has it, and gives it.
    pub fn miss(&mut self, core: usize, line: u32, store: bool) -> bool {
        let mut found = false;
        for other in self.others(core) {
            if self.cores[other].tag(line).is_some() {
                found = true;
                if store { self.take_from(other, line) } else { self.share(other, line) }
            }
        }
        self.cores[core].counts.from_other += u64::from(found);
        found
    }

    /// The line of a miss is in the core's cache, in the place of `victim`.
    pub fn filled(&mut self, core: usize, line: u32, victim: Option<u32>, store: bool) {
        let unique = store || !self.others(core).any(|other| self.cores[other].tag(line).is_some());
        self.left(core, victim.unwrap_or(NO_LINE));
        self.cores[core].insert(Tag { line, unique, dirty: store });
    }

    /// A line has left a core's cache.
    pub fn left(&mut self, core: usize, line: u32) {
        if line != NO_LINE
            && let Some(tag) = self.cores[core].tag_mut(line)
        {
            *tag = EMPTY;
        }
    }

    /// A core's cache has lost all lines, and the core its reservation.
    pub fn left_all(&mut self, core: usize) {
        if let Some(core) = self.cores.get_mut(core) {
            core.tags.fill(EMPTY);
            (core.reserved, core.inbox) = (None, Vec::new());
        }
    }

    /// True if a core's cache has a line, and no other has it.
    pub fn is_unique(&self, core: usize, line: u32) -> bool {
        self.cores.get(core).and_then(|core| core.tag(line)).is_some_and(|tag| tag.unique)
    }

    /// True if another core's cache has a line.
    pub fn is_elsewhere(&self, core: usize, line: u32) -> bool {
        self.others(core).any(|other| self.cores[other].tag(line).is_some())
    }

    /// A core stores to a line that its cache has. True if it had to ask, as others may have the line; they have lost
    /// it.
    pub fn store(&mut self, core: usize, line: u32) -> bool {
        let Some(tag) = self.cores[core].tag_mut(line) else { return false };
        tag.dirty = true;
        let asks = !std::mem::replace(&mut tag.unique, true);
        if asks {
            self.cores[core].counts.upgrades += 1;
            self.take(core, line);
        }
        asks
    }

    /// Other cores lose a line.
    pub fn take(&mut self, core: usize, line: u32) {
        for other in self.others(core) {
            if self.cores[other].tag(line).is_some() {
                self.take_from(other, line);
            }
        }
    }

    /// A core's line is clean.
    pub fn cleaned(&mut self, core: usize, line: u32) {
        self.cores[core].tag_mut(line).into_iter().for_each(|tag| tag.dirty = false);
    }

    /// Cleans a line in the caches of other cores: true if it has to be written back.
    pub fn clean_others(&mut self, core: usize, line: u32) -> bool {
        let mut dirty = false;
        for other in self.others(core) {
            if self.cores[other].tag_mut(line).is_some_and(|tag| std::mem::take(&mut tag.dirty)) {
                dirty = true;
                self.send(other, Message::Clean(line));
            }
        }
        dirty
    }

    /// Sends a message to all other cores of the cluster.
    pub fn notify_others(&mut self, core: usize, message: Message) {
        self.others(core).for_each(|other| self.send(other, message));
    }

    /// Takes the oldest messages for a core.
    pub fn take_messages(&mut self, core: usize) -> Vec<Message> {
        self.cores.get_mut(core).map_or_else(Vec::new, |core| std::mem::take(&mut core.inbox))
    }

    /// True if there are messages for a core.
    pub fn has_messages(&self, core: usize) -> bool {
        self.cores.get(core).is_some_and(|core| !core.inbox.is_empty())
    }

    // ---- Exclusive accesses

    /// A core has loaded exclusively from a physical address. From now on, a store of another core to its line passes
    /// the unit, which ends the reservation.
    pub fn reserve(&mut self, core: usize, physical: u32) {
        let Some(line) = self.line_of(core, physical) else { return };
        self.cores[core].reserved = Some(line);
        for other in self.others(core) {
            if self.cores[other].tag(line).is_some_and(|tag| tag.unique) {
                self.share(other, line);
            }
        }
    }

    /// True if the reservation holds: no other core has stored to the line.
    pub fn is_reserved(&self, core: usize, physical: u32) -> bool {
        let line = self.line_of(core, physical);
        line.is_none() || self.cores[core].reserved == line
    }

    /// A core stores to a physical address, without a shortcut.
    pub fn stored(&mut self, core: usize, physical: u32) {
        let Some(line) = self.line_of(core, physical) else { return };
        for other in self.others(core) {
            let reserved = &mut self.cores[other].reserved;
            *reserved = reserved.filter(|reserved| *reserved != line);
        }
    }

    // ---- Parts

    fn line_of(&self, core: usize, physical: u32) -> Option<u32> {
        self.has(core).then(|| physical & !(self.cores[core].line_bytes - 1))
    }

    fn others(&self, core: usize) -> impl Iterator<Item = usize> + use<> {
        let cluster = (0..self.cores.len()).fold(0_u64, |bits, other| bits | u64::from(self.has(other)) << other);
        (0..self.cores.len()).filter(move |other| *other != core && cluster >> other & 1 != 0)
    }

    fn share(&mut self, other: usize, line: u32) {
        let was_unique = self.cores[other].tag_mut(line).is_some_and(|tag| std::mem::take(&mut tag.unique));
        if was_unique {
            self.send(other, Message::Shared(line));
        }
    }

    fn take_from(&mut self, other: usize, line: u32) {
        self.left(other, line);
        let core = &mut self.cores[other];
        core.counts.lost += 1;
        core.reserved = core.reserved.filter(|reserved| *reserved != line);
        self.send(other, Message::Gone(line));
    }

    fn send(&mut self, other: usize, message: Message) {
        let inbox = &mut self.cores[other].inbox;
        let more = |message: &Message| matches!(message, Message::Translations(_) | Message::InstructionLine(_));
        if inbox.len() >= MOST_MESSAGES && more(&message) {
            // A core that is held in reset, or sleeps for long, reads none: it forgets all.
            inbox.retain(|message| !more(message));
            inbox.extend([Message::Translations(TlbEntries::All), Message::Instructions]);
            return;
        }
        if inbox.last() != Some(&message) {
            inbox.push(message);
        }
    }
}

impl OfCore {
    fn set(&self, line: u32) -> std::ops::Range<usize> {
        let first = ((line / self.line_bytes) & self.sets.wrapping_sub(1)) as usize * self.ways as usize;
        first..(first + self.ways as usize).min(self.tags.len())
    }

    fn tag(&self, line: u32) -> Option<&Tag> {
        self.tags.get(self.set(line))?.iter().find(|tag| tag.line == line)
    }

    fn tag_mut(&mut self, line: u32) -> Option<&mut Tag> {
        let set = self.set(line);
        self.tags.get_mut(set)?.iter_mut().find(|tag| tag.line == line)
    }

    fn insert(&mut self, tag: Tag) {
        let set = self.set(tag.line);
        if let Some(free) = self.tags[set].iter_mut().find(|other| other.line == NO_LINE || other.line == tag.line) {
            *free = tag;
        }
    }
}

#[cfg(test)]
mod tests;

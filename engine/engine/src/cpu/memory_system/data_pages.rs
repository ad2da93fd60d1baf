//! Shortcuts of pages that a micro TLB does not have at the moment, or that the present privilege may not access.
//!
//! Where addresses are translated by tables in memory, a shortcut serves only while the micro TLB has its page, and an
//! access of its kind with the present privilege is known to be allowed. Kernels flush the micro TLBs and change the
//! privilege all the time, and come back to the same pages. So such shortcuts are not removed: they are [`ASLEEP`],
//! which no access matches, until an access without a shortcut has found the page again, translated as before.
//!
//! [`ASLEEP`]: super::shortcut::ASLEEP

use super::access::{Access, Kind, MemoryType, Translation};
use super::shortcut::{SLOTS, Shortcuts, Wakes};

/// Most pages whose shortcuts are kept.
const MOST_PAGES: usize = 64;

/// A set of slots of the table of shortcuts.
pub type SlotSet = [u64; SLOTS / u64::BITS as usize];

/// A virtual page with its translation, and its shortcuts.
#[derive(Clone, Debug)]
struct Page {
    first: u32,
    bytes: u32,
    physical: u32,
    memory: MemoryType,
    slots: SlotSet,
    /// Accesses known to be allowed since the micro TLB got the page: in User mode, in privileged modes.
    known: [Wakes; 2],
    /// The kinds of shortcuts that serve now.
    awake: Wakes,
}

impl Page {
    fn is(&self, first: u32, physical: u32, to: &Translation) -> bool {
        (self.first, self.physical) == (first, physical) && (self.bytes, self.memory) == (to.page_bytes, to.memory)
    }

    fn wake(&mut self, shortcuts: &mut Shortcuts, wanted: Wakes) {
        if wanted != self.awake {
            shortcuts.wake(&self.slots, self.awake, wanted);
            self.awake = wanted;
        }
    }

    fn leave(&mut self, shortcuts: &mut Shortcuts) {
        self.known = [Wakes::Nothing; 2];
        self.wake(shortcuts, Wakes::Nothing);
    }
}

/// The pages with shortcuts.
#[derive(Debug)]
pub(super) struct DataPages {
    pages: Vec<Page>,
    /// Those that the micro TLB has, by their places in the list.
    present: Vec<u8>,
    /// The page that is replaced next.
    turn: usize,
    /// The page of the last access, by its place in the list.
    last: usize,
    /// The page of each slot that has a shortcut.
    of_slot: Box<[u8; SLOTS]>,
}

const _: () = assert!(MOST_PAGES <= u8::MAX as usize);

impl DataPages {
    pub fn new() -> DataPages {
        DataPages { pages: Vec::new(), present: Vec::new(), turn: 0, last: 0, of_slot: Box::new([0; SLOTS]) }
    }

    /// Records an access to `va`, whose page is in the micro TLB, that is allowed: the page's shortcuts of its kind
    /// serve from now on, if `privileged` is the core's privilege.
    pub fn accessed(&mut self, shortcuts: &mut Shortcuts, va: u32, to: &Translation, access: Access, privileged: bool) {
        let offset = va & (to.page_bytes - 1);
        let (first, physical) = (va - offset, to.physical - offset);
        if self.pages.get(self.last).is_none_or(|page| !page.is(first, physical, to)) {
            self.last = match self.pages.iter().position(|page| page.is(first, physical, to)) {
                Some(place) => place,
                None => self.add(shortcuts, (first, physical), to),
            };
        }
        let page = &mut self.pages[self.last];
        if page.known == [Wakes::Nothing; 2] {
            self.present.push(self.last as u8);
        }
        let wakes = if access.kind == Kind::Write { Wakes::LoadsAndStores } else { Wakes::Loads };
        // What User mode may do, privileged modes may do as well (ARM DDI 0406C, table B3-8).
        for known in &mut page.known[usize::from(access.privileged)..] {
            *known = wakes.max(*known);
        }
        page.wake(shortcuts, page.known[usize::from(privileged)]);
    }

    fn add(&mut self, shortcuts: &mut Shortcuts, (first, physical): (u32, u32), to: &Translation) -> usize {
        let page = Page {
            first,
            bytes: to.page_bytes,
            physical,
            memory: to.memory,
            slots: [0; SLOTS / u64::BITS as usize],
            known: [Wakes::Nothing; 2],
            awake: Wakes::Nothing,
        };
        if self.pages.len() < MOST_PAGES {
            self.pages.push(page);
            return self.pages.len() - 1;
        }
        // A micro TLB has fewer entries.
        while self.present.contains(&(self.turn as u8)) {
            self.turn = (self.turn + 1) % MOST_PAGES;
        }
        let place = self.turn;
        self.turn = (place + 1) % MOST_PAGES;
        let before = std::mem::replace(&mut self.pages[place], page);
        shortcuts.remove_slots(&before.slots);
        place
    }

    /// Records that a slot is going to have a shortcut of the last access's page. True if it has one of that page
    /// already.
    pub fn take_slot(&mut self, slot: usize) -> bool {
        let (word, bit) = (slot / u64::BITS as usize, 1 << (slot % u64::BITS as usize));
        let before = usize::from(std::mem::replace(&mut self.of_slot[slot], self.last as u8));
        if let Some(page) = self.pages.get_mut(before).filter(|_| before != self.last) {
            page.slots[word] &= !bit;
        }
        let Some(page) = self.pages.get_mut(self.last) else { return false };
        let has = page.slots[word] & bit != 0;
        page.slots[word] |= bit;
        has
    }

    /// Follows a change of the core's privilege.
    pub fn privilege_changed(&mut self, shortcuts: &mut Shortcuts, privileged: bool) {
        for place in &self.present {
            let page = &mut self.pages[usize::from(*place)];
            page.wake(shortcuts, page.known[usize::from(privileged)]);
        }
    }

    /// Follows the loss of the pages of a span from the micro TLB.
    pub fn left(&mut self, shortcuts: &mut Shortcuts, first: u32, bytes: u32) {
        let pages = &mut self.pages;
        self.present.retain(|place| {
            let page = &mut pages[usize::from(*place)];
            let stays = page.first.wrapping_sub(first) >= bytes && first.wrapping_sub(page.first) >= page.bytes;
            if !stays {
                page.leave(shortcuts);
            }
            stays
        });
    }

    /// Follows the loss of all pages from the micro TLB.
    pub fn all_left(&mut self, shortcuts: &mut Shortcuts) {
        for place in self.present.drain(..) {
            self.pages[usize::from(place)].leave(shortcuts);
        }
    }

    /// Forgets all pages: no shortcut is left.
    pub fn clear(&mut self) {
        self.pages.clear();
        self.present.clear();
        (self.turn, self.last) = (0, 0);
    }
}

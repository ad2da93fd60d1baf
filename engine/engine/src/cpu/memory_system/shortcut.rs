//! Shortcuts: lines whose accesses cost nothing beyond the instruction itself, and the host addresses of their bytes.
//!
//! Shortcuts make an access fast: one comparison checks alignment, hit and permission. A line is in the table only
//! while an access to it changes nothing in the cache's directory: the line is present and, for stores, already dirty
//! and without decoded instructions. Every operation that ends this removes the line.
//!
//! With LRU replacement an access does change something: the order of use. It does not while accesses use the line of
//! the set that was used last; so only that line has a shortcut. In a set whose lines are used alternately, all of them
//! have one: they are [`STAMPED`], and an access by them stores a stamp, a number that grows from instruction to
//! instruction. Before any operation on such a set, and before such a shortcut is removed, the uses since then are
//! entered in the directory, in the order of their stamps ([`Shortcuts::take_uses`]).
//!
//! A line that holds decoded instructions besides data has a shortcut of its own kind: a store to it checks the marks
//! of the code ([`CodeMarks`]) first.
//!
//! On a bus matrix an access that switches to another slave costs a cycle more. So each slave's lines are in a bank of
//! their own, and only the bank of the slave that was accessed last is searched ([`Shortcuts::choose`]).

use std::mem::offset_of;

use super::data_pages::SlotSet;
use crate::memory::cache::NO_LINE;
use crate::memory::code_marks::CodeMarks;

/// Slots of a core that is not on a bus matrix.
pub const SLOTS: usize = 1 << 10;
/// Banks: the first for addresses outside of a bus matrix's memories, the others for slaves; with more slaves than
/// that, they replace each other in turn.
const BANKS: usize = 4;
/// Slots of such a bank.
const BANK_SLOTS: usize = 1 << 9;
/// Addresses' bits below this select a shortcut's slot; translation does not change them.
const PAGE_BYTES: u32 = 0x1000;

/// A line of memory, in the slot that its address chooses.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Slot {
    /// Line address for loads; [`NO_LINE`] if empty.
    pub load_line: u32,
    /// Line address for stores; [`NO_LINE`] if empty, and with [`BESIDE_CODE`] if they have to check for code.
    pub store_line: u32,
    /// Host address of simulated address 0, as if this line's memory extended down to there.
    pub host_zero: usize,
}

/// A bit that is 0 in every aligned address: no other store matches such a line by mistake.
pub const BESIDE_CODE: u32 = 4;

/// A bit of shortcuts with stamps, for loads and for stores: it is 0 in the address of any line of 16 bytes or more.
/// Loads and stores without stamps do not match such a line.
pub const STAMPED: u32 = 8;

/// A bit of shortcuts that serve no access at the moment, for loads and for stores: in no aligned address of a line of
/// 32 bytes or more, and in none that an access is compared by. [`NO_LINE`] has it.
pub const ASLEEP: u32 = 16;

/// The shortcuts of a page that serve.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Wakes {
    /// None.
    Nothing,
    /// Those for loads.
    Loads,
    /// All.
    LoadsAndStores,
}

/// The last use of a slot's line by a shortcut with stamps that has not been entered in the directory yet.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(16))]
pub struct Used {
    /// Its stamp; 0 without a use.
    pub stamp: u64,
    /// Physical address of the line; [`NO_LINE`] if it is not stamped.
    physical: u32,
}

const UNUSED: Used = Used { stamp: 0, physical: NO_LINE };

// Compiled code addresses both by one offset.
const _: () = assert!(size_of::<Used>() == size_of::<Slot>());

/// Host addresses of a line's RAM and of its marks of code.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Marked {
    /// The RAM's first byte.
    pub ram: usize,
    /// The first word of its marks: see [`CodeMarks::as_ptr`].
    pub marks: usize,
}

/// Stores for which a shortcut is added.
#[derive(Clone, Copy, Debug)]
pub enum Stores {
    /// No stores beyond those allowed already.
    No,
    /// All stores.
    All,
    /// Stores that overwrite no decoded instructions.
    BesideCode(Marked),
}

impl Marked {
    /// The addresses for a RAM whose first byte is at `ram`.
    pub fn new(ram: *const u8, marks: &CodeMarks) -> Marked {
        Marked { ram: ram.expose_provenance(), marks: marks.as_ptr().expose_provenance() }
    }

    /// True if no decoded instructions are marked in one, two or four bytes at `host`, which are aligned in the RAM.
    #[inline]
    fn is_clear(self, host: usize, bytes: u32) -> bool {
        let half = (host - self.ram) / 2;
        let words: *const u32 = std::ptr::with_exposed_provenance(self.marks);
        // SAFETY: a shortcut's line lies inside a RAM, which has a word of marks for each 64 bytes. Both live as long
        // as the machine, and are accessed through pointers only.
        let word = unsafe { words.add(half / u32::BITS as usize).read() };
        let marks = if bytes > 2 { 3 } else { 1 };
        word >> (half % u32::BITS as usize) & marks == 0
    }
}

/// A direct-mapped table of lines.
#[derive(Debug)]
pub struct Shortcuts {
    /// Inside the core, at a fixed offset for compiled code.
    slots: [Slot; BANK_SLOTS * BANKS],
    /// Index of the first slot of the selected bank.
    bank: usize,
    /// Slots of a bank.
    bank_slots: usize,
    /// Slots of all banks that may hold lines.
    held_slots: usize,
    /// The slave whose lines are in each bank.
    owners: [u8; BANKS],
    /// The uses of slots that are [`STAMPED`].
    used: [Used; SLOTS],
    /// For slots with [`BESIDE_CODE`].
    marked: Box<[Marked; BANK_SLOTS * BANKS]>,
    line_shift: u32,
    line_mask: u32,
    /// [`STAMPED`] if there may be such shortcuts; else 0.
    stamped: u32,
    /// All bits of a tag for loads that are not part of the line's address.
    flags: u32,
    /// Buffer for [`Shortcuts::take_uses`].
    uses: Vec<Used>,
}

/// How [`ASLEEP`] changes: true if it is set, false if it is cleared.
fn change(before: bool, now: bool) -> Option<bool> {
    (before != now).then_some(before)
}

#[inline(always)]
fn set_asleep(line: u32, asleep: Option<bool>) -> u32 {
    match asleep {
        Some(true) => line | ASLEEP,
        Some(false) if line != NO_LINE => line & !ASLEEP,
        _ => line,
    }
}

/// The slots of a set.
fn numbers(slots: &SlotSet) -> impl Iterator<Item = usize> {
    slots.iter().enumerate().flat_map(|(word, bits)| {
        let mut left = *bits;
        std::iter::from_fn(move || {
            let bit = left.trailing_zeros();
            (left != 0).then(|| {
                left &= left - 1;
                word * u64::BITS as usize + bit as usize
            })
        })
    })
}

const EMPTY: Slot = Slot { load_line: NO_LINE, store_line: NO_LINE, host_zero: 0 };

impl Shortcuts {
    /// An empty table; lines have `line_bytes` (a power of two from 8, from 16 with stamps). On a bus matrix there are
    /// no stamps.
    pub fn new(line_bytes: u32, stamps: bool, on_matrix: bool) -> Shortcuts {
        let stamped = if stamps { STAMPED } else { 0 };
        Shortcuts {
            slots: [EMPTY; BANK_SLOTS * BANKS],
            bank: 0,
            bank_slots: if on_matrix { BANK_SLOTS } else { SLOTS },
            held_slots: if on_matrix { BANK_SLOTS * BANKS } else { SLOTS },
            owners: [0; BANKS],
            used: [UNUSED; SLOTS],
            marked: Box::new([Marked { ram: 0, marks: 0 }; BANK_SLOTS * BANKS]),
            line_shift: line_bytes.trailing_zeros(),
            line_mask: !(line_bytes - 1),
            stamped,
            flags: if line_bytes > ASLEEP { stamped | ASLEEP } else { stamped },
            uses: Vec::new(),
        }
    }

    /// The slot of an address, in the selected bank.
    #[inline(always)]
    fn number(&self, addr: u32) -> usize {
        self.bank | (addr >> self.line_shift) as usize & (self.bank_slots - 1)
    }

    /// Selects the bank with the lines of this slave; for 0, the bank of lines without a slave. On a bus matrix only.
    #[inline]
    pub fn choose(&mut self, slave: u8) {
        debug_assert!(self.held_slots > self.bank_slots);
        let bank = if slave == 0 { 0 } else { 1 + (usize::from(slave) - 1) % (BANKS - 1) };
        self.bank = bank * self.bank_slots;
        if self.owners[bank] != slave {
            self.owners[bank] = slave;
            self.slots[self.bank..][..self.bank_slots].fill(EMPTY);
        }
    }

    /// For compiled code: where this has the offset of the selected bank, in slots.
    pub const BANK: usize = offset_of!(Shortcuts, bank);
    /// For compiled code: where this has the slaves whose lines are in the banks, a byte each.
    pub const OWNERS: usize = offset_of!(Shortcuts, owners);
    /// Numbers of the banks with lines of slaves.
    pub const BANKS_OF_SLAVES: std::ops::Range<usize> = 1..BANKS;

    /// On a bus matrix, the slave at `addr`, if its bank has the line: then it is a memory.
    #[inline]
    pub fn slave_at(&self, addr: u32) -> Option<u8> {
        let (first, line) = ((addr >> self.line_shift) as usize & (BANK_SLOTS - 1), addr & self.line_mask);
        let has = |bank: &usize| self.slots[bank * BANK_SLOTS + first].load_line == line;
        Shortcuts::BANKS_OF_SLAVES.into_iter().find(has).map(|bank| self.owners[bank])
    }

    /// The host address for an aligned load of `bytes`, if the table has the line.
    #[inline(always)]
    pub fn load(&self, addr: u32, bytes: u32) -> Option<*const u8> {
        let slot = &self.slots[self.number(addr)];
        // A misaligned address keeps a low bit and matches no line.
        (addr & (self.line_mask | (bytes - 1)) == slot.load_line)
            .then(|| slot.host_zero.wrapping_add(addr as usize) as *const u8)
    }

    /// The host address for an aligned store of `bytes`, if the table has the line.
    #[inline(always)]
    pub fn store(&self, addr: u32, bytes: u32) -> Option<*mut u8> {
        let slot = &self.slots[self.number(addr)];
        (addr & (self.line_mask | (bytes - 1)) == slot.store_line)
            .then(|| slot.host_zero.wrapping_add(addr as usize) as *mut u8)
    }

    /// The host address for an aligned store of one, two or four bytes, if the table has the line as one that holds
    /// code, but the stored bytes hold none.
    #[inline]
    pub fn store_beside_code(&self, addr: u32, bytes: u32) -> Option<*mut u8> {
        let number = self.number(addr);
        let slot = &self.slots[number];
        let host = slot.host_zero.wrapping_add(addr as usize);
        let here = addr & (self.line_mask | (bytes - 1)) | BESIDE_CODE == slot.store_line;
        (here && self.marked[number].is_clear(host, bytes)).then_some(host as *mut u8)
    }

    /// As [`Shortcuts::load`], by a shortcut with stamps.
    #[inline]
    pub fn load_stamped(&mut self, addr: u32, bytes: u32, stamp: u64) -> Option<*const u8> {
        let number = (addr >> self.line_shift) as usize & (SLOTS - 1);
        let slot = &self.slots[number];
        (self.have_stamps() && addr & (self.line_mask | (bytes - 1)) | STAMPED == slot.load_line).then(|| {
            self.used[number].stamp = stamp;
            slot.host_zero.wrapping_add(addr as usize) as *const u8
        })
    }

    /// As [`Shortcuts::store`] and [`Shortcuts::store_beside_code`], by a shortcut with stamps.
    #[inline]
    pub fn store_stamped(&mut self, addr: u32, bytes: u32, stamp: u64) -> Option<*mut u8> {
        let number = (addr >> self.line_shift) as usize & (SLOTS - 1);
        let slot = &self.slots[number];
        let host = slot.host_zero.wrapping_add(addr as usize);
        let line = addr & (self.line_mask | (bytes - 1)) | STAMPED;
        let here = line == slot.store_line
            || line | BESIDE_CODE == slot.store_line && self.marked[number].is_clear(host, bytes);
        (self.have_stamps() && here).then(|| {
            self.used[number].stamp = stamp;
            host as *mut u8
        })
    }

    /// For compiled code: the offset of the first slot, the number of slots, and the shift that computes a slot's
    /// number from an address.
    pub fn layout(&self) -> (usize, usize, u32) {
        (offset_of!(Shortcuts, slots), self.bank_slots, self.line_shift)
    }

    /// For compiled code, if shortcuts may have stamps: the offset of the first slot's [`Used`].
    pub fn stamps_layout(&self) -> Option<usize> {
        self.have_stamps().then_some(offset_of!(Shortcuts, used))
    }

    /// True if shortcuts may have stamps.
    #[inline]
    pub fn have_stamps(&self) -> bool {
        self.stamped != 0
    }

    /// Address and size of the line of `addr`.
    pub fn line_of(&self, addr: u32) -> (u32, u32) {
        (addr & self.line_mask, 1 << self.line_shift)
    }

    /// Adds the line of `addr`, whose byte is at `host`. It has stamps if its physical address is given; the uses of
    /// the slot's old line have been taken.
    pub fn add(&mut self, addr: u32, host: *mut u8, stores: Stores, stamped: Option<u32>) {
        let line = addr & self.line_mask | stamped.map_or(0, |_| self.stamped);
        let number = self.number(addr);
        self.used[number % SLOTS] = Used { stamp: 0, physical: stamped.unwrap_or(NO_LINE) };
        let slot = &mut self.slots[number];
        let store_line = match stores {
            Stores::All => line,
            Stores::BesideCode(marked) => {
                self.marked[number] = marked;
                line | BESIDE_CODE
            }
            Stores::No if slot.load_line == line => slot.store_line,
            Stores::No => NO_LINE,
        };
        *slot = Slot { load_line: line, store_line, host_zero: (host as usize).wrapping_sub(addr as usize) };
    }

    /// Removes the line of `addr`.
    pub fn remove(&mut self, addr: u32) {
        let (line, flags) = (addr & self.line_mask, self.flags);
        let bank_slots = self.bank_slots;
        let first = (addr >> self.line_shift) as usize & (bank_slots - 1);
        for slot in self.held_mut().iter_mut().skip(first).step_by(bank_slots) {
            if slot.load_line & !flags == line {
                *slot = EMPTY;
            }
        }
    }

    /// Removes all lines whose bytes are the line at `host`, whatever their address; `low` is an address with the same
    /// low 12 bits, which translation does not change. True if there was such a line.
    pub fn remove_host(&mut self, low: u32, host: *const u8) -> bool {
        self.of_host(low, host).map(|slot| *slot = EMPTY).count() > 0
    }

    fn of_host(&mut self, low: u32, host: *const u8) -> impl Iterator<Item = &mut Slot> {
        let in_page = (low & (PAGE_BYTES - 1)) >> self.line_shift;
        let step = (PAGE_BYTES >> self.line_shift).max(1) as usize;
        let flags = self.flags;
        self.held_mut().iter_mut().skip(in_page as usize).step_by(step).filter(move |slot| {
            let line = slot.load_line & !flags;
            slot.load_line != NO_LINE && slot.host_zero.wrapping_add(line as usize) == host as usize
        })
    }

    /// The physical address of the line in the slot of `addr`, if it has a use that is not in the directory yet.
    pub fn used_in_slot_of(&self, addr: u32) -> Option<u32> {
        let used = self.used[(addr >> self.line_shift) as usize & (SLOTS - 1)];
        (used.stamp != 0).then_some(used.physical)
    }

    /// Passes the uses of a set's lines since they were last taken to `learn`, in their order: the set of a physical
    /// address in a cache with ways of `way_bytes`.
    pub fn take_uses_of_set(&mut self, physical: u32, way_bytes: u32, learn: impl FnMut(u32)) {
        let same_bytes = way_bytes.min(PAGE_BYTES);
        let first = ((physical & (same_bytes - 1)) >> self.line_shift) as usize;
        let step = (same_bytes >> self.line_shift).max(1) as usize;
        let in_set = (way_bytes - 1) & self.line_mask;
        let of_set = |used: &Used| (used.physical ^ physical) & in_set == 0;
        let uses = self.used.iter_mut().skip(first).step_by(step).filter(|used| used.stamp != 0 && of_set(used));
        self.uses.extend(uses.map(|used| Used { stamp: std::mem::take(&mut used.stamp), ..*used }));
        self.learn(learn);
    }

    /// As [`Shortcuts::take_uses_of_set`], for all sets.
    pub fn take_uses(&mut self, learn: impl FnMut(u32)) {
        let uses = self.used.iter_mut().filter(|used| used.stamp != 0);
        self.uses.extend(uses.map(|used| Used { stamp: std::mem::take(&mut used.stamp), ..*used }));
        self.learn(learn);
    }

    /// The lines that [`Shortcuts::take_uses`] would pass on, in their order.
    pub fn uses(&self) -> Vec<u32> {
        let used = if self.have_stamps() { &self.used[..] } else { &[] };
        let mut uses: Vec<Used> = used.iter().filter(|used| used.stamp != 0).copied().collect();
        uses.sort_unstable_by_key(|used| used.stamp);
        uses.into_iter().map(|used| used.physical).collect()
    }

    fn learn(&mut self, learn: impl FnMut(u32)) {
        self.uses.sort_unstable_by_key(|used| used.stamp);
        self.uses.drain(..).map(|used| used.physical).for_each(learn);
    }

    /// True if shortcuts may be [`ASLEEP`]: the bit is free.
    pub fn may_sleep(&self) -> bool {
        self.flags & ASLEEP != 0
    }

    /// The number of the slot of an address.
    pub fn slot_of(&self, addr: u32) -> usize {
        self.number(addr)
    }

    /// Removes the shortcut in the slot of an address.
    pub fn empty_slot_of(&mut self, addr: u32) {
        let number = self.number(addr);
        self.slots[number] = EMPTY;
    }

    /// Has the shortcuts in these slots serve as wanted, where they have served as `before` says.
    pub fn wake(&mut self, slots: &SlotSet, before: Wakes, wanted: Wakes) {
        let loads = change(before != Wakes::Nothing, wanted != Wakes::Nothing);
        let stores = change(before == Wakes::LoadsAndStores, wanted == Wakes::LoadsAndStores);
        for number in numbers(slots) {
            let slot = &mut self.slots[number];
            slot.load_line = set_asleep(slot.load_line, loads);
            slot.store_line = set_asleep(slot.store_line, stores);
        }
    }

    /// Removes the lines in these slots.
    pub fn remove_slots(&mut self, slots: &SlotSet) {
        numbers(slots).for_each(|number| self.slots[number] = EMPTY);
    }

    /// Removes the lines of `bytes` from `addr` on, both multiples of a line.
    pub fn remove_span(&mut self, addr: u32, bytes: u32) {
        for slot in self.held_mut() {
            if slot.load_line.wrapping_sub(addr) < bytes {
                *slot = EMPTY;
            }
        }
    }

    /// Removes the lines of the bytes from `host` on for stores; `low` is as in [`Shortcuts::remove_host`]. They hold
    /// decoded instructions now.
    pub fn forbid_stores_at(&mut self, low: u32, host: *const u8, bytes: u32) {
        let (in_line, line_bytes) = (low & !self.line_mask, 1 << self.line_shift);
        for at in (0..in_line + bytes).step_by(line_bytes) {
            let line = host.wrapping_sub(in_line as usize).wrapping_add(at as usize);
            self.of_host(low.wrapping_add(at), line).for_each(|slot| slot.store_line = NO_LINE);
        }
    }

    /// Removes all lines for stores: some of them may hold decoded instructions now.
    pub fn forbid_stores(&mut self) {
        for slot in self.held_mut() {
            slot.store_line = NO_LINE;
        }
    }

    /// Removes everything.
    pub fn clear(&mut self) {
        self.held_mut().fill(EMPTY);
    }

    /// Removes all lines and all uses.
    pub fn forget_all(&mut self) {
        self.clear();
        self.used.iter_mut().for_each(|used| used.stamp = 0);
        self.uses.clear();
    }

    /// The slave whose bank is selected; 0 without one.
    pub fn slave(&self) -> u8 {
        self.owners[self.bank / self.bank_slots]
    }

    /// The slots of all banks that may hold lines.
    fn held_mut(&mut self) -> &mut [Slot] {
        &mut self.slots[..self.held_slots]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_serves_aligned_accesses_inside_it_only() {
        let mut memory = [0u8; 64];
        let host = memory.as_mut_ptr();
        let mut shortcuts = Shortcuts::new(16, false, false);
        shortcuts.add(0x1014, host.wrapping_add(4), Stores::No, None);
        assert_eq!(shortcuts.load(0x101c, 4), Some(host.wrapping_add(12).cast_const()));
        assert_eq!(shortcuts.load(0x101d, 1), Some(host.wrapping_add(13).cast_const()));
        assert_eq!(shortcuts.load(0x101e, 4), None);
        assert_eq!(shortcuts.load(0x1020, 4), None);
        assert_eq!(shortcuts.store(0x1014, 4), None);
    }

    #[test]
    fn a_line_goes_under_all_its_addresses() {
        let mut memory = [0u8; 64];
        let host = memory.as_mut_ptr();
        let mut shortcuts = Shortcuts::new(32, false, false);
        shortcuts.add(0x1_0024, host.wrapping_add(4), Stores::All, None);
        shortcuts.add(0x2_3020, host, Stores::All, None);
        shortcuts.add(0x3_5020, host.wrapping_add(32), Stores::All, None);
        shortcuts.remove_host(0xf_e020, host);
        assert!(shortcuts.load(0x1_0020, 4).is_none() && shortcuts.load(0x2_3020, 4).is_none());
        assert!(shortcuts.store(0x3_5020, 4).is_some());
        shortcuts.remove_span(0x3_5000, 0x1000);
        assert!(shortcuts.load(0x3_5020, 4).is_none());
    }

    #[test]
    fn each_slave_has_lines_of_its_own() {
        let mut memory = [0u8; 64];
        let host = memory.as_mut_ptr();
        let mut shortcuts = Shortcuts::new(32, false, true);
        for slave in 1..=4 {
            shortcuts.choose(slave);
            assert!(shortcuts.load(0x1000, 4).is_none(), "those of slave {slave} are no other's");
            shortcuts.add(0x1000, host, Stores::All, None);
        }
        let mut has = |slave| {
            shortcuts.choose(slave);
            shortcuts.load(0x1000, 4).is_some()
        };
        assert!(has(2) && has(3) && has(4) && !has(0));
        assert!(!has(1), "the fourth has taken its place");
        assert_eq!(shortcuts.slave_at(0x1000), Some(2), "one of them that has the line");
        assert_eq!(shortcuts.slave_at(0x1020), None);
        shortcuts.choose(2);
        shortcuts.remove_host(0x1000, host);
        shortcuts.choose(3);
        assert!(shortcuts.load(0x1000, 4).is_none(), "all banks forget a line");
        shortcuts.add(0x1000, host, Stores::All, None);
        shortcuts.choose(2);
        shortcuts.forbid_stores();
        shortcuts.choose(3);
        assert!(shortcuts.load(0x1000, 4).is_some() && shortcuts.store(0x1000, 4).is_none());
    }

    #[test]
    fn an_empty_table_serves_no_address() {
        let shortcuts = Shortcuts::new(8, false, false);
        for addr in (0..=16).chain(u32::MAX - 16..=u32::MAX) {
            for bytes in [1, 2, 4] {
                assert!(shortcuts.load(addr, bytes).is_none() && shortcuts.store(addr, bytes).is_none(), "{addr:#x}");
            }
        }
    }

    #[test]
    fn stores_beside_code_look_for_it() {
        let (mut memory, mut marks) = ([0u8; 256], CodeMarks::try_new(256).unwrap());
        let host = memory.as_mut_ptr();
        let mut shortcuts = Shortcuts::new(32, false, false);
        // From offset 0x60 on; the code extends from 0x68 to 0x6e.
        let marked = Marked::new(host, &marks);
        shortcuts.add(0x2064, host.wrapping_add(0x64), Stores::BesideCode(marked), None);
        marks.mark(0x68, 6);
        assert!(shortcuts.store(0x2060, 4).is_none() && shortcuts.load(0x2060, 4).is_some());
        for addr in (0x2040..0x20a0).step_by(2) {
            for bytes in [1, 2, 4].into_iter().filter(|bytes| addr % bytes == 0) {
                let free = (0x2060..0x2080).contains(&addr) && (addr + bytes <= 0x2068 || addr >= 0x206e);
                let expected = free.then(|| host.wrapping_add(addr as usize - 0x2000));
                assert_eq!(shortcuts.store_beside_code(addr, bytes), expected, "{addr:#x} {bytes}");
            }
        }
        // A load changes nothing; the line may be removed for stores only.
        shortcuts.add(0x2064, host.wrapping_add(0x64), Stores::No, None);
        assert!(shortcuts.store_beside_code(0x2060, 4).is_some());
        shortcuts.forbid_stores_at(0x1_005e, host.wrapping_add(0x5e), 4);
        assert!(shortcuts.store_beside_code(0x2060, 4).is_none() && shortcuts.load(0x2060, 4).is_some());
    }

    #[test]
    fn only_who_stamps_finds_lines_with_stamps() {
        let (mut memory, marks) = ([0u8; 64], CodeMarks::try_new(64).unwrap());
        let host = memory.as_mut_ptr();
        let mut shortcuts = Shortcuts::new(16, true, false);
        shortcuts.add(0x1014, host.wrapping_add(4), Stores::All, Some(0x9010));
        let beside_code = Stores::BesideCode(Marked::new(host, &marks));
        shortcuts.add(0x1020, host.wrapping_add(16), beside_code, Some(0x9020));
        shortcuts.add(0x1030, host.wrapping_add(32), Stores::All, None);
        for addr in (0x1010..0x1040).step_by(4) {
            let is_plain = addr >= 0x1030;
            assert_eq!(shortcuts.load(addr, 4).is_some(), is_plain, "{addr:#x}");
            assert_eq!(shortcuts.store(addr, 4).is_some(), is_plain, "{addr:#x}");
            assert!(shortcuts.store_beside_code(addr, 4).is_none(), "{addr:#x}");
            assert_eq!(shortcuts.load_stamped(addr, 4, 1).is_some(), !is_plain, "{addr:#x}");
            assert_eq!(shortcuts.store_stamped(addr, 4, 1).is_some(), !is_plain, "{addr:#x}");
            assert!(
                shortcuts.load_stamped(addr + 1, 4, 1).is_none() && shortcuts.store_stamped(addr + 2, 4, 1).is_none()
            );
        }
        shortcuts.forbid_stores();
        assert!(shortcuts.store_stamped(0x1010, 4, 1).is_none() && shortcuts.load_stamped(0x1010, 4, 1).is_some());
        assert!(shortcuts.remove_host(0x9010, host) && !shortcuts.remove_host(0x9010, host));
        assert!(shortcuts.load_stamped(0x1010, 4, 1).is_none());
    }

    #[test]
    fn uses_are_taken_once_in_the_order_of_their_stamps() {
        let mut memory = [0u8; 0x400];
        let mut shortcuts = Shortcuts::new(16, true, false);
        // Lines of two sets in a cache with ways of 256 bytes.
        let lines = [0x1000, 0x1100, 0x1210, 0x1300];
        for line in lines {
            shortcuts.add(line, memory.as_mut_ptr().wrapping_add(line as usize - 0x1000), Stores::All, Some(line));
        }
        for (stamp, line) in [(3, 0x1100), (5, 0x1210), (7, 0x1300), (8, 0x1000), (9, 0x1100)] {
            assert!(shortcuts.load_stamped(line, 4, stamp).is_some());
        }
        assert_eq!(shortcuts.used_in_slot_of(0x1300), Some(0x1300));
        assert_eq!(shortcuts.uses(), [0x1210, 0x1300, 0x1000, 0x1100]);
        let mut taken = Vec::new();
        shortcuts.take_uses_of_set(0x7008, 256, |line| taken.push(line));
        assert_eq!(taken, [0x1300, 0x1000, 0x1100]);
        assert_eq!((shortcuts.used_in_slot_of(0x1300), shortcuts.uses()), (None, vec![0x1210]));
        assert!(shortcuts.store_stamped(0x1100, 4, 10).is_some());
        shortcuts.take_uses(|line| taken.push(line));
        assert_eq!(taken[3..], [0x1210, 0x1100]);
        assert!(shortcuts.uses().is_empty());
    }

    #[test]
    fn stores_are_a_permission_of_their_own() {
        let mut memory = [0u8; 64];
        let mut shortcuts = Shortcuts::new(16, false, false);
        shortcuts.add(0x1010, memory.as_mut_ptr(), Stores::All, None);
        assert!(shortcuts.store(0x1010, 4).is_some());
        shortcuts.add(0x1014, memory.as_mut_ptr().wrapping_add(4), Stores::No, None);
        assert!(shortcuts.store(0x1010, 4).is_some());
        shortcuts.forbid_stores();
        assert!(shortcuts.store(0x1010, 4).is_none());
        assert!(shortcuts.load(0x1010, 4).is_some());
        shortcuts.remove(0x101f);
        assert!(shortcuts.load(0x1010, 4).is_none());
    }
}

//! Shortcuts: lines whose accesses cost nothing beyond the instruction itself, and where their bytes are on the host.
//!
//! They are what makes an access fast: one comparison tells alignment, presence and permission. A line is here only
//! while an access to it changes nothing in the cache's directory: it is present and the most recently used of its set,
//! and, for stores, already dirty and without decoded instructions. Whatever makes that untrue removes it.
//!
//! A line that holds decoded instructions besides data has a shortcut of its own kind: a store to it looks at the marks
//! of the code ([`CodeMarks`]) first.

use crate::memory::cache::NO_LINE;
use crate::memory::code_marks::CodeMarks;

const SLOTS: usize = 1 << 10;

/// A line of memory, in the slot that its address chooses.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Slot {
    /// Line address for loads; [`NO_LINE`] if none.
    pub load_line: u32,
    /// Line address for stores; [`NO_LINE`] if none, and with [`BESIDE_CODE`] if they have to look for code.
    pub store_line: u32,
    /// Host address of simulated address 0, as if this line's memory went on down to there.
    pub host_zero: usize,
}

/// A bit that no address has whose other low bits say that it is aligned: no store finds such a line by mistake.
pub const BESIDE_CODE: u32 = 4;

/// Where a line's RAM and its marks of code are on the host.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Marked {
    /// The RAM's first byte.
    pub ram: usize,
    /// The first word of its marks: see [`CodeMarks::as_ptr`].
    pub marks: usize,
}

/// What stores a shortcut is for.
#[derive(Clone, Copy, Debug)]
pub enum Stores {
    /// None that were not allowed before.
    No,
    /// All.
    All,
    /// Those that write over no decoded instructions.
    BesideCode(Marked),
}

impl Marked {
    /// That of a RAM whose first byte is at `ram`.
    pub fn new(ram: *const u8, marks: &CodeMarks) -> Marked {
        Marked { ram: ram.expose_provenance(), marks: marks.as_ptr().expose_provenance() }
    }

    /// True if no decoded instructions are marked in one, two or four bytes at `host`, which are aligned in the RAM.
    #[inline]
    fn is_clear(self, host: usize, bytes: u32) -> bool {
        let half = (host - self.ram) / 2;
        let words: *const u32 = std::ptr::with_exposed_provenance(self.marks);
        // SAFETY: a shortcut's line lies inside a RAM, which has a word of marks for each 64 bytes. Both live as long
        // as the machine, and are reached by pointers only.
        let word = unsafe { words.add(half / u32::BITS as usize).read() };
        let marks = if bytes > 2 { 3 } else { 1 };
        word >> (half % u32::BITS as usize) & marks == 0
    }
}

/// A direct-mapped table of lines.
#[derive(Debug)]
pub struct Shortcuts {
    /// Inside the core, so that compiled code finds them from its address.
    slots: [Slot; SLOTS],
    /// For slots with [`BESIDE_CODE`].
    marked: Box<[Marked; SLOTS]>,
    line_shift: u32,
    line_mask: u32,
}

const EMPTY: Slot = Slot { load_line: NO_LINE, store_line: NO_LINE, host_zero: 0 };

impl Shortcuts {
    /// No shortcuts; lines of `line_bytes` (a power of two from 8).
    pub fn new(line_bytes: u32) -> Shortcuts {
        let line_shift = line_bytes.trailing_zeros();
        let marked = Box::new([Marked { ram: 0, marks: 0 }; SLOTS]);
        Shortcuts { slots: [EMPTY; SLOTS], marked, line_shift, line_mask: !(line_bytes - 1) }
    }

    /// Where the bytes of an aligned load of `bytes` are, if the line is here.
    #[inline(always)]
    pub fn load(&self, addr: u32, bytes: u32) -> Option<*const u8> {
        let slot = &self.slots[(addr >> self.line_shift) as usize & (SLOTS - 1)];
        // A misaligned address keeps a low bit and equals no line.
        (addr & (self.line_mask | (bytes - 1)) == slot.load_line)
            .then(|| slot.host_zero.wrapping_add(addr as usize) as *const u8)
    }

    /// Where the bytes of an aligned store of `bytes` go, if the line is here.
    #[inline(always)]
    pub fn store(&self, addr: u32, bytes: u32) -> Option<*mut u8> {
        let slot = &self.slots[(addr >> self.line_shift) as usize & (SLOTS - 1)];
        (addr & (self.line_mask | (bytes - 1)) == slot.store_line)
            .then(|| slot.host_zero.wrapping_add(addr as usize) as *mut u8)
    }

    /// Where the bytes of an aligned store of one, two or four bytes go, if the line is here as one that holds code,
    /// but none where they go.
    #[inline]
    pub fn store_beside_code(&self, addr: u32, bytes: u32) -> Option<*mut u8> {
        let number = (addr >> self.line_shift) as usize & (SLOTS - 1);
        let slot = &self.slots[number];
        let host = slot.host_zero.wrapping_add(addr as usize);
        let here = addr & (self.line_mask | (bytes - 1)) | BESIDE_CODE == slot.store_line;
        (here && self.marked[number].is_clear(host, bytes)).then_some(host as *mut u8)
    }

    /// For compiled code: where the first slot is in this, how many there are, and the shift that makes a slot's number
    /// from an address.
    pub fn layout(&self) -> (usize, usize, u32) {
        (std::mem::offset_of!(Shortcuts, slots), SLOTS, self.line_shift)
    }

    /// Address and size of the line of `addr`.
    pub fn line_of(&self, addr: u32) -> (u32, u32) {
        (addr & self.line_mask, 1 << self.line_shift)
    }

    /// Adds the line of `addr`, whose byte is at `host`.
    pub fn add(&mut self, addr: u32, host: *mut u8, stores: Stores) {
        let line = addr & self.line_mask;
        let number = (addr >> self.line_shift) as usize & (SLOTS - 1);
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
        let line = addr & self.line_mask;
        let slot = self.slot_mut(addr);
        if slot.load_line == line {
            *slot = EMPTY;
        }
    }

    /// Removes all lines whose bytes are the line at `host`, whatever their address; `low` is an address with the same
    /// low 12 bits, which no translation changes.
    pub fn remove_host(&mut self, low: u32, host: *const u8) {
        self.of_host(low, host).for_each(|slot| *slot = EMPTY);
    }

    fn of_host(&mut self, low: u32, host: *const u8) -> impl Iterator<Item = &mut Slot> {
        let in_page = (low & 0xfff) >> self.line_shift;
        let step = (0x1000 >> self.line_shift).max(1) as usize;
        self.slots.iter_mut().skip(in_page as usize).step_by(step).filter(move |slot| {
            slot.load_line != NO_LINE && slot.host_zero.wrapping_add(slot.load_line as usize) == host as usize
        })
    }

    /// Removes the lines of `bytes` from `addr` on, both multiples of a line.
    pub fn remove_span(&mut self, addr: u32, bytes: u32) {
        for slot in self.slots.iter_mut() {
            if slot.load_line.wrapping_sub(addr) < bytes {
                *slot = EMPTY;
            }
        }
    }

    /// Removes the lines of the bytes from `host` on for stores, as `low` has it in [`Shortcuts::remove_host`]: they
    /// hold decoded instructions now.
    pub fn forbid_stores_at(&mut self, low: u32, host: *const u8, bytes: u32) {
        let (in_line, line_bytes) = (low & !self.line_mask, 1 << self.line_shift);
        for at in (0..in_line + bytes).step_by(line_bytes) {
            let line = host.wrapping_sub(in_line as usize).wrapping_add(at as usize);
            self.of_host(low.wrapping_add(at), line).for_each(|slot| slot.store_line = NO_LINE);
        }
    }

    /// Removes all lines for stores: some of them may hold decoded instructions now.
    pub fn forbid_stores(&mut self) {
        for slot in self.slots.iter_mut() {
            slot.store_line = NO_LINE;
        }
    }

    /// Removes everything.
    pub fn clear(&mut self) {
        self.slots.fill(EMPTY);
    }

    fn slot_mut(&mut self, addr: u32) -> &mut Slot {
        &mut self.slots[(addr >> self.line_shift) as usize & (SLOTS - 1)]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_serves_aligned_accesses_inside_it_only() {
        let mut memory = [0u8; 64];
        let host = memory.as_mut_ptr();
        let mut shortcuts = Shortcuts::new(16);
        shortcuts.add(0x1014, host.wrapping_add(4), Stores::No);
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
        let mut shortcuts = Shortcuts::new(32);
        shortcuts.add(0x1_0024, host.wrapping_add(4), Stores::All);
        shortcuts.add(0x2_3020, host, Stores::All);
        shortcuts.add(0x3_5020, host.wrapping_add(32), Stores::All);
        shortcuts.remove_host(0xf_e020, host);
        assert!(shortcuts.load(0x1_0020, 4).is_none() && shortcuts.load(0x2_3020, 4).is_none());
        assert!(shortcuts.store(0x3_5020, 4).is_some());
        shortcuts.remove_span(0x3_5000, 0x1000);
        assert!(shortcuts.load(0x3_5020, 4).is_none());
    }

    #[test]
    fn an_empty_table_serves_no_address() {
        let shortcuts = Shortcuts::new(8);
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
        let mut shortcuts = Shortcuts::new(32);
        // From offset 0x60 on; the code reaches from 0x68 to 0x6e.
        let marked = Marked::new(host, &marks);
        shortcuts.add(0x2064, host.wrapping_add(0x64), Stores::BesideCode(marked));
        marks.mark(0x68, 6);
        assert!(shortcuts.store(0x2060, 4).is_none() && shortcuts.load(0x2060, 4).is_some());
        for addr in (0x2040..0x20a0).step_by(2) {
            for bytes in [1, 2, 4].into_iter().filter(|bytes| addr % bytes == 0) {
                let free = (0x2060..0x2080).contains(&addr) && (addr + bytes <= 0x2068 || addr >= 0x206e);
                let expected = free.then(|| host.wrapping_add(addr as usize - 0x2000));
                assert_eq!(shortcuts.store_beside_code(addr, bytes), expected, "{addr:#x} {bytes}");
            }
        }
        // A load tells nothing new; the line may go for stores only.
        shortcuts.add(0x2064, host.wrapping_add(0x64), Stores::No);
        assert!(shortcuts.store_beside_code(0x2060, 4).is_some());
        shortcuts.forbid_stores_at(0x1_005e, host.wrapping_add(0x5e), 4);
        assert!(shortcuts.store_beside_code(0x2060, 4).is_none() && shortcuts.load(0x2060, 4).is_some());
    }

    #[test]
    fn stores_are_a_permission_of_their_own() {
        let mut memory = [0u8; 64];
        let mut shortcuts = Shortcuts::new(16);
        shortcuts.add(0x1010, memory.as_mut_ptr(), Stores::All);
        assert!(shortcuts.store(0x1010, 4).is_some());
        shortcuts.add(0x1014, memory.as_mut_ptr().wrapping_add(4), Stores::No);
        assert!(shortcuts.store(0x1010, 4).is_some());
        shortcuts.forbid_stores();
        assert!(shortcuts.store(0x1010, 4).is_none());
        assert!(shortcuts.load(0x1010, 4).is_some());
        shortcuts.remove(0x101f);
        assert!(shortcuts.load(0x1010, 4).is_none());
    }
}

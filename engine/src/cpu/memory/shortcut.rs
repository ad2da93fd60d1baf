//! Shortcuts: lines whose accesses cost nothing beyond the instruction itself, and where their bytes are on the host.
//!
//! They are what makes an access fast: one comparison tells alignment, presence and permission. A line is here only
//! while an access to it changes nothing in the cache's directory: it is present and the most recently used of its set,
//! and, for stores, already dirty and without decoded instructions. Whatever makes that untrue removes it.

use crate::memory::cache::NO_LINE;

const SLOTS: usize = 1 << 10;

/// A line of memory, in the slot that its address chooses.
#[derive(Clone, Copy, Debug)]
#[repr(C)]
pub struct Slot {
    /// Line address for loads; [`NO_LINE`] if none.
    pub load_line: u32,
    /// Line address for stores; [`NO_LINE`] if none.
    pub store_line: u32,
    /// Host address of simulated address 0, as if this line's memory went on down to there.
    pub host_zero: usize,
}

/// A direct-mapped table of lines.
#[derive(Debug)]
pub struct Shortcuts {
    /// Inside the core, so that compiled code finds them from its address.
    slots: [Slot; SLOTS],
    line_shift: u32,
    line_mask: u32,
}

const EMPTY: Slot = Slot { load_line: NO_LINE, store_line: NO_LINE, host_zero: 0 };

impl Shortcuts {
    /// No shortcuts; lines of `line_bytes` (a power of two from 8).
    pub fn new(line_bytes: u32) -> Shortcuts {
        let line_shift = line_bytes.trailing_zeros();
        Shortcuts { slots: [EMPTY; SLOTS], line_shift, line_mask: !(line_bytes - 1) }
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
    pub fn add(&mut self, addr: u32, host: *mut u8, stores: bool) {
        let line = addr & self.line_mask;
        let slot = self.slot_mut(addr);
        let had_stores = slot.load_line == line && slot.store_line == line;
        *slot = Slot {
            load_line: line,
            store_line: if stores || had_stores { line } else { NO_LINE },
            host_zero: (host as usize).wrapping_sub(addr as usize),
        };
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
        let in_page = (low & 0xfff) >> self.line_shift;
        let step = (0x1000 >> self.line_shift).max(1) as usize;
        for slot in self.slots.iter_mut().skip(in_page as usize).step_by(step) {
            if slot.load_line != NO_LINE && slot.host_zero.wrapping_add(slot.load_line as usize) == host as usize {
                *slot = EMPTY;
            }
        }
    }

    /// Removes the lines of `bytes` from `addr` on, both multiples of a line.
    pub fn remove_span(&mut self, addr: u32, bytes: u32) {
        for slot in self.slots.iter_mut() {
            if slot.load_line.wrapping_sub(addr) < bytes {
                *slot = EMPTY;
            }
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
        shortcuts.add(0x1014, host.wrapping_add(4), false);
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
        shortcuts.add(0x1_0024, host.wrapping_add(4), true);
        shortcuts.add(0x2_3020, host, true);
        shortcuts.add(0x3_5020, host.wrapping_add(32), true);
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
    fn stores_are_a_permission_of_their_own() {
        let mut memory = [0u8; 64];
        let mut shortcuts = Shortcuts::new(16);
        shortcuts.add(0x1010, memory.as_mut_ptr(), true);
        assert!(shortcuts.store(0x1010, 4).is_some());
        shortcuts.add(0x1014, memory.as_mut_ptr().wrapping_add(4), false);
        assert!(shortcuts.store(0x1010, 4).is_some());
        shortcuts.forbid_stores();
        assert!(shortcuts.store(0x1010, 4).is_none());
        assert!(shortcuts.load(0x1010, 4).is_some());
        shortcuts.remove(0x101f);
        assert!(shortcuts.load(0x1010, 4).is_none());
    }
}

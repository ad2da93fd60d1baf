//! What memories and devices hold at an address: looked at and put there without time.

use super::code::CodeSpan;
use super::{Bus, MapEntry, Target};

impl Bus {
    /// True if so many bytes are at one entry of the map.
    pub fn is_mapped(&self, addr: u32, bytes: usize) -> bool {
        self.span(addr, bytes).is_some()
    }

    /// Copies bytes from memory or an execute-in-place window, without time or side effects. `false` if any of them is
    /// elsewhere.
    pub fn peek(&self, addr: u32, into: &mut [u8]) -> bool {
        let Some((entry, offset)) = self.span(addr, into.len()) else { return false };
        match self.map[entry].target {
            Target::Ram(ram) => self.rams[ram].read(offset, into),
            Target::Device(id, range) => {
                return self.devices[id.0 as usize].as_ref().is_some_and(|device| device.peek(range, offset, into));
            }
        }
        true
    }

    /// The word there, little-endian, as [`Bus::peek`] has it.
    pub fn peek_word(&self, addr: u32) -> Option<u32> {
        let mut bytes = [0; 4];
        self.peek(addr, &mut bytes).then(|| u32::from_le_bytes(bytes))
    }

    /// Copies bytes to RAM without time. `false` if any of them would go elsewhere.
    pub fn poke(&mut self, addr: u32, from: &[u8]) -> bool {
        let Some((entry, offset)) = self.span(addr, from.len()) else { return false };
        let Target::Ram(ram) = self.map[entry].target else { return false };
        self.write_ram(ram, offset, from);
        true
    }

    /// True if [`Bus::load`] can put a segment of `bytes`, `memory_bytes` long in memory, at `addr`.
    pub fn can_load(&self, addr: u32, bytes: u32, memory_bytes: u32) -> bool {
        let Some(entry) = self.entry_at(addr) else { return false };
        let MapEntry { last, target, .. } = self.map[entry];
        let fits = |bytes: u32| bytes == 0 || bytes - 1 <= last - addr;
        match target {
            Target::Ram(_) => fits(memory_bytes),
            Target::Device(..) => {
                let mut ends = [addr, addr.wrapping_add(bytes.saturating_sub(1))].into_iter();
                fits(bytes) && ends.all(|end| self.peek(end, &mut [0]))
            }
        }
    }

    /// Puts a segment where [`Bus::can_load`] holds, without time. RAM behind its bytes is cleared; flash is not: there
    /// the rest belongs to the memory that the firmware copies the segment to.
    pub fn load(&mut self, addr: u32, bytes: &[u8], memory_bytes: u32) {
        if !self.poke(addr, bytes) {
            self.load_device(addr, bytes);
            return;
        }
        let zeroes = memory_bytes as usize - bytes.len();
        self.poke(addr.wrapping_add(bytes.len() as u32), &vec![0; zeroes]);
    }

    fn load_device(&mut self, addr: u32, bytes: &[u8]) {
        if let Some((entry, offset)) = self.span(addr, bytes.len())
            && let Target::Device(id, range) = self.map[entry].target
            && let Some(device) = self.devices[id.0 as usize].as_mut()
        {
            device.preload(range, offset, bytes);
            // Nobody knows which of them have been decoded.
            self.code_written.tell(CodeSpan::ELSEWHERE);
        }
    }

    /// The entry that holds all of so many bytes, and their offset in it.
    pub(super) fn span(&self, addr: u32, len: usize) -> Option<(usize, u32)> {
        let entry = self.entry_at(addr)?;
        let len = u32::try_from(len).ok()?;
        let last = addr.checked_add(len.saturating_sub(1))?;
        (last <= self.map[entry].last).then(|| (entry, addr - self.map[entry].base))
    }
}

//! Contents of memories and devices at an address: read and written without time.

use super::code::CodeSpan;
use super::{Bus, Target};

impl Bus {
    /// True if all of `bytes` bytes are in one range of the map.
    pub fn is_mapped(&self, addr: u32, bytes: usize) -> bool {
        self.span(addr, bytes).is_some() || self.is_mapped_in_parts(addr, bytes)
    }

    #[cold]
    fn is_mapped_in_parts(&self, addr: u32, bytes: usize) -> bool {
        let Ok(len) = u32::try_from(bytes) else { return false };
        self.bytes_to_boundary(addr, len) < len
            && self.parts(addr, len).all(|(at, len)| self.span(at, len as usize).is_some())
    }

    /// Copies bytes from memory or an execute-in-place window, without time or side effects. `false` if any of them is
    /// outside.
    pub fn peek(&self, addr: u32, into: &mut [u8]) -> bool {
        let Some((entry, offset)) = self.span(addr, into.len()) else { return self.peek_in_parts(addr, into) };
        match self.map[entry].target {
            Target::Ram(ram) => self.rams[ram].read(offset, into),
            Target::Device(id, range) => {
                return self.devices[id.0 as usize].as_ref().is_some_and(|device| device.peek(range, offset, into));
            }
        }
        true
    }

    #[cold]
    fn peek_in_parts(&self, addr: u32, into: &mut [u8]) -> bool {
        self.is_mapped_in_parts(addr, into.len())
            && self.parts(addr, into.len() as u32).all(|(at, len)| {
                let begin = at.wrapping_sub(addr) as usize;
                self.peek(at, &mut into[begin..begin + len as usize])
            })
    }

    /// The little-endian word at an address, read as by [`Bus::peek`].
    pub fn peek_word(&self, addr: u32) -> Option<u32> {
        let mut bytes = [0; 4];
        self.peek(addr, &mut bytes).then(|| u32::from_le_bytes(bytes))
    }

    /// Copies bytes to RAM without time. `false` if any of them is outside.
    pub fn poke(&mut self, addr: u32, from: &[u8]) -> bool {
        let Some((entry, offset)) = self.span(addr, from.len()) else { return self.poke_in_parts(addr, from) };
        let Target::Ram(ram) = self.map[entry].target else { return false };
        self.write_ram(ram, offset, from);
        true
    }

    #[cold]
    fn poke_in_parts(&mut self, addr: u32, from: &[u8]) -> bool {
        if !self.is_mapped_in_parts(addr, from.len()) {
            return false;
        }
        let parts: Vec<(u32, u32)> = self.parts(addr, from.len() as u32).collect();
        let fits = parts.iter().all(|(at, _)| self.ram_at(*at).is_some());
        for (at, len) in parts.into_iter().filter(|_| fits) {
            let begin = at.wrapping_sub(addr) as usize;
            self.poke(at, &from[begin..begin + len as usize]);
        }
        fits
    }

    /// True if [`Bus::load`] can put a segment of `bytes`, `memory_bytes` long in memory, at `addr`.
    pub fn can_load(&self, addr: u32, bytes: u32, memory_bytes: u32) -> bool {
        if self.entry_at(addr).is_none() {
            return false;
        }
        let bytes = if self.is_cleared_at(addr) { memory_bytes } else { bytes };
        let fits = |(at, len): (u32, u32)| match self.entry_at(at).map(|entry| self.map[entry].target) {
            Some(Target::Ram(_)) => true,
            Some(Target::Device(..)) => [at, at.wrapping_add(len - 1)].into_iter().all(|end| self.peek(end, &mut [0])),
            None => false,
        };
        self.is_mapped(addr, bytes as usize) && self.parts(addr, bytes.max(1)).all(fits)
    }

    /// True if the rest of a program segment at `addr`, after the bytes from the file, is RAM and has to be cleared.
    /// Flash is not cleared, nor is an overlay's copy of it: there the rest belongs to the memory that the firmware
    /// copies the segment to.
    pub fn is_cleared_at(&self, addr: u32) -> bool {
        self.entry_at(addr).is_some_and(|entry| matches!(self.undermost(entry), Target::Ram(_)))
    }

    /// Loads a segment that [`Bus::can_load`] accepts, without time.
    pub fn load(&mut self, addr: u32, bytes: &[u8], memory_bytes: u32) {
        let parts: Vec<(u32, u32)> = self.parts(addr, bytes.len() as u32).collect();
        for (at, len) in parts {
            let begin = at.wrapping_sub(addr) as usize;
            if let Some((entry, offset)) = self.span(at, len as usize) {
                self.put(self.map[entry].target, offset, &bytes[begin..begin + len as usize]);
            }
        }
        if self.is_cleared_at(addr) {
            let zeroes = memory_bytes as usize - bytes.len();
            self.poke(addr.wrapping_add(bytes.len() as u32), &vec![0; zeroes]);
        }
    }

    /// Puts bytes into a memory or a device, without time.
    pub(super) fn put(&mut self, target: Target, offset: u32, bytes: &[u8]) {
        match target {
            Target::Ram(ram) => self.write_ram(ram, offset, bytes),
            Target::Device(id, range) => {
                if let Some(device) = self.devices[id.0 as usize].as_mut() {
                    device.preload(range, offset, bytes);
                    // It is unknown which of them have been decoded.
                    self.code_written.report(CodeSpan::ELSEWHERE);
                }
            }
        }
    }

    /// The entry that holds all `len` bytes, and their offset in it.
    pub(super) fn span(&self, addr: u32, len: usize) -> Option<(usize, u32)> {
        let entry = self.entry_at(addr)?;
        let len = u32::try_from(len).ok()?;
        let last = addr.checked_add(len.saturating_sub(1))?;
        (last <= self.map[entry].last).then(|| (entry, self.map[entry].offset(addr)))
    }
}

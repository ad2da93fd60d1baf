//! The memory of the calling program, as the program sees it: accessed without time, as by a debugger.

use crate::bus::Bus;
use crate::host::errno::Errno;
use crate::time::Ps;

/// Most bytes that are copied at once.
pub const CHUNK_BYTES: u32 = 1 << 16;
/// Longest text up to a 0 that is looked for.
const LONGEST_TEXT_BYTES: u32 = 1 << 20;

/// Texts are read in steps up to multiples of the first size; where memory ends before that, of the second, the
/// smallest size of memories and pages.
const STEPS_BYTES: [u32; 2] = [256, 4];

/// The address translation of a program.
pub trait View {
    /// The physical address of `va`, and the number of contiguous bytes from there on. `None` if it may not be read, or
    /// written if `write`.
    fn physical(&self, bus: &Bus, va: u32, write: bool) -> Option<(u32, u32)>;
}

/// The calling program.
pub struct Caller<'a> {
    /// The bus of its core.
    pub bus: &'a mut Bus,
    /// Its address translation.
    pub view: &'a dyn View,
    /// Time of the call.
    pub now: Ps,
}

impl Caller<'_> {
    /// Copies bytes from its memory.
    ///
    /// # Errors
    /// If some of them are not in memory.
    pub fn read(&self, from: u32, into: &mut [u8]) -> Result<(), Errno> {
        let mut done = 0;
        while done < into.len() {
            let va = from.wrapping_add(done as u32);
            let (physical, room) = self.view.physical(self.bus, va, false).ok_or(Errno::FAULT)?;
            let count = (into.len() - done).min(room as usize);
            if !self.bus.peek(physical, &mut into[done..done + count]) {
                return Err(Errno::FAULT);
            }
            done += count;
        }
        Ok(())
    }

    /// Copies bytes to its memory.
    ///
    /// # Errors
    /// If some of them would not be in memory.
    pub fn write(&mut self, to: u32, from: &[u8]) -> Result<(), Errno> {
        let mut done = 0;
        while done < from.len() {
            let va = to.wrapping_add(done as u32);
            let (physical, room) = self.view.physical(self.bus, va, true).ok_or(Errno::FAULT)?;
            let count = (from.len() - done).min(room as usize);
            if !self.bus.poke(physical, &from[done..done + count]) {
                return Err(Errno::FAULT);
            }
            done += count;
        }
        Ok(())
    }

    /// A word of its memory.
    ///
    /// # Errors
    /// If it is not in memory.
    pub fn word(&self, addr: u32) -> Result<u32, Errno> {
        let mut bytes = [0; 4];
        self.read(addr, &mut bytes)?;
        Ok(u32::from_le_bytes(bytes))
    }

    /// The `N` words of the block of parameters at an address.
    ///
    /// # Errors
    /// If they are not in memory.
    pub fn words<const N: usize>(&self, addr: u32) -> Result<[u32; N], Errno> {
        let mut words = [0; N];
        for (index, word) in (0..).zip(&mut words) {
            *word = self.word(addr.wrapping_add(4 * index))?;
        }
        Ok(words)
    }

    /// `length` bytes, up to a 0 among them; the length is limited, as for a path.
    ///
    /// # Errors
    /// If some of them are not in memory, or the length exceeds the limit.
    pub fn name(&self, from: u32, length: u32) -> Result<Vec<u8>, Errno> {
        if length > CHUNK_BYTES {
            return Err(Errno::NAME_TOO_LONG);
        }
        let mut name = vec![0; length as usize];
        self.read(from, &mut name)?;
        name.truncate(name.iter().position(|byte| *byte == 0).unwrap_or(name.len()));
        Ok(name)
    }

    /// The text at an address, up to its 0, or up to the end of memory.
    ///
    /// # Errors
    /// If it is not in memory.
    pub fn text(&self, from: u32) -> Result<Vec<u8>, Errno> {
        let mut text = Vec::new();
        while text.len() < LONGEST_TEXT_BYTES as usize {
            let mut bytes = [0; STEPS_BYTES[0] as usize];
            let addr = from.wrapping_add(text.len() as u32);
            let mut steps = STEPS_BYTES.iter().map(|step| (step - addr % step) as usize);
            let Some(count) = steps.find(|count| self.read(addr, &mut bytes[..*count]).is_ok()) else {
                return if text.is_empty() { Err(Errno::FAULT) } else { Ok(text) };
            };
            let end = bytes[..count].iter().position(|byte| *byte == 0);
            text.extend_from_slice(&bytes[..end.unwrap_or(count)]);
            if end.is_some() {
                break;
            }
        }
        Ok(text)
    }
}

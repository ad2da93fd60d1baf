//! Reads and decodes the code of a block.

use super::block::{Entry, Extent, Read};
use super::core::Arm;
use super::profile::Profile;
use super::{decode_a32, decode_t32};
use crate::bus::{Bus, BusFaultKind};
use crate::memory::first_level::Way;
use crate::memory::first_level::access::{Abort, Status};

/// Instructions a block has at the most.
const LONGEST_BLOCK: usize = 64;
/// A block does not go on in another page, which may be somewhere else.
const PAGE_BYTES: u32 = 1 << 12;

impl<P: Profile> Arm<P> {
    /// Decodes the block for `entry`: of a whole one that goes on in a line that is not in the cache, only the first
    /// line. The exception is that of its first instruction.
    pub(super) fn read_block(&mut self, bus: &mut Bus, entry: Entry) -> Result<u32, P::Exception> {
        if let Some(exception) = self.system.wrong_state() {
            return Err(exception);
        }
        let start = entry.pc & !1;
        let (way, physical) = self.memory.code_way(bus, &self.system, start).map_err(P::fetch_abort)?;
        let cold = way == Way::Cached && !self.memory.has_fetch_line(self.next_line(start));
        let one_line = entry.extent == Extent::Line || entry.extent == Extent::Whole && cold;
        let longest = if entry.extent == Extent::One { 1 } else { LONGEST_BLOCK };
        let mut read = Read { it: entry.it, ..Read::default() };
        let mut at = start;
        let ended = loop {
            let it = read.it;
            let ends = match self.read_instr(bus, &mut read, at, entry.pc & 1 != 0) {
                Ok(ends) => ends,
                Err(abort) if read.instrs.is_empty() => return Err(P::fetch_abort(abort)),
                Err(_) => break true,
            };
            let end = start.wrapping_add(read.bytes());
            if one_line && self.line_behind(start, end) && read.instrs.len() > 1 {
                read.pop(it);
                break false;
            }
            at = end;
            if ends || read.instrs.len() == longest || (at ^ start) >= PAGE_BYTES {
                break true;
            }
            if one_line && at == self.next_line(start) {
                break false;
            }
        };
        self.mark_code(bus, start, physical, at.wrapping_sub(start));
        let predicts = self.system.predicts_branches();
        let extent = if one_line && !ended { Extent::Line } else { entry.extent };
        let entry = Entry { extent, ..entry };
        Ok(self.blocks.add(&self.config.timing, predicts, entry, way, self.line_bytes, &read))
    }

    /// True if code from `start` to `end` reaches beyond the first line.
    fn line_behind(&self, start: u32, end: u32) -> bool {
        end.wrapping_sub(start) > self.next_line(start).wrapping_sub(start)
    }

    /// Reads the instruction at `at`: true if it ends a block.
    fn read_instr(&mut self, bus: &mut Bus, read: &mut Read, at: u32, thumb: bool) -> Result<bool, Abort<P::Status>> {
        let (first, it) = (read.ops.len(), read.it);
        let features = self.system.features();
        let instr = if thumb {
            let first = u16::from_le_bytes(self.code(bus, at)?);
            let long = first >> 11 >= 0b11101;
            let second = if long { u16::from_le_bytes(self.code(bus, at.wrapping_add(2))?) } else { 0 };
            decode_t32::decode(first, second, at, features, &mut read.it, &mut read.ops)
        } else {
            decode_a32::decode(u32::from_le_bytes(self.code(bus, at)?), at, features, &mut read.ops)
        };
        read.push(instr, at, it, first);
        Ok(instr.ends_block)
    }

    /// Bytes of code at `at`.
    fn code<const N: usize>(&mut self, bus: &mut Bus, at: u32) -> Result<[u8; N], Abort<P::Status>> {
        let mut bytes = [0; N];
        if self.memory.read_code(bus, &self.system, at, &mut bytes) {
            return Ok(bytes);
        }
        let (_, physical) = self.memory.code_way(bus, &self.system, at)?;
        let answer = if bus.entry_at(physical).is_some() { BusFaultKind::Slave } else { BusFaultKind::Unmapped };
        Err(Abort { va: at, status: P::Status::EXTERNAL, write: false, domain: 0, bus: Some(answer) })
    }

    /// Has stores to the code noticed; its last instruction may reach into the next page.
    fn mark_code(&mut self, bus: &mut Bus, start: u32, physical: u32, bytes: u32) {
        let here = bytes.min(PAGE_BYTES - start % PAGE_BYTES);
        bus.mark_code(physical, here);
        if bytes > here
            && let Ok((_, physical)) = self.memory.code_way(bus, &self.system, start.wrapping_add(here))
        {
            bus.mark_code(physical, bytes - here);
        }
    }
}

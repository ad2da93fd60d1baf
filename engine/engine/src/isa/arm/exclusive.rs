//! Exclusive accesses, after which a block continues.

use super::architecture::Profile;
use super::instruction_set::Arm;
use super::op::Op;
use super::system::Kind;
use crate::bus::Bus;
use crate::bus::device::AccessSize;
use crate::cpu::memory_system::access::how;

impl<P: Profile> Arm<P> {
    /// Ldrex and its variants.
    pub(super) fn load_exclusive(&mut self, bus: &mut Bus, index: u32, at: u32, op: Op) -> bool {
        let addr = self.x[usize::from(op.rn)];
        if self.must_wait(bus, index, at, addr, op.imm, Kind::Read) {
            return false;
        }
        match self.exclusive_load(bus, index, at, op) {
            Ok([low, high]) => {
                self.x[usize::from(op.rd)] = low;
                if op.imm == 8 {
                    self.x[usize::from(op.ra)] = high;
                }
                self.after_access(bus, index, at)
            }
            Err(exception) => self.raise_at(bus, index, at, exception),
        }
    }

    fn exclusive_load(&mut self, bus: &mut Bus, index: u32, at: u32, op: Op) -> Result<[u32; 2], P::Exception> {
        let (addr, bytes, size) = (self.x[usize::from(op.rn)], op.imm, size_of(op.imm));
        self.access_kind = "exclusive load";
        let low = self.load_at(bus, self.begins_cycle(index, at), addr, size, how::ALIGNED)?;
        let high = match bytes {
            8 => self.load_at(bus, self.begins_cycle(index, at), addr.wrapping_add(4), size, how::ALIGNED)?,
            _ => 0,
        };
        let physical = self.physical(bus, addr, Kind::Read).map_err(P::data_abort)?;
        self.isa.system.reserve(physical, bytes);
        bus.reserve(self.shell.index, physical);
        Ok([low, high])
    }

    /// Strex and its variants.
    pub(super) fn store_exclusive(&mut self, bus: &mut Bus, index: u32, at: u32, op: Op) -> bool {
        let addr = self.x[usize::from(op.rn)];
        if self.must_wait(bus, index, at, addr, op.imm, Kind::Write) {
            return false;
        }
        match self.exclusive_store(bus, index, at, op) {
            Ok(done) => {
                self.x[usize::from(op.rd)] = u32::from(!done);
                self.after_access(bus, index, at)
            }
            Err(exception) => self.raise_at(bus, index, at, exception),
        }
    }

    fn exclusive_store(&mut self, bus: &mut Bus, index: u32, at: u32, op: Op) -> Result<bool, P::Exception> {
        let [addr, low, high] = [op.rn, op.rm, op.ra].map(|register| self.x[usize::from(register)]);
        let (bytes, size) = (op.imm, size_of(op.imm));
        let physical = self.physical(bus, addr, Kind::Write).map_err(P::data_abort)?;
        if !self.isa.system.claim(physical, bytes) || !bus.is_reserved(self.shell.index, physical) {
            return Ok(false);
        }
        self.access_kind = "exclusive store";
        self.store_at(bus, self.begins_cycle(index, at), addr, (size, low), how::ALIGNED)?;
        if bytes == 8 {
            self.store_at(bus, self.begins_cycle(index, at), addr.wrapping_add(4), (size, high), how::ALIGNED)?;
        }
        Ok(true)
    }
}

/// Size of an access to `bytes`; for 8, that of each of its two words.
pub(super) fn size_of(bytes: u32) -> AccessSize {
    match bytes {
        1 => AccessSize::Byte,
        2 => AccessSize::Half,
        _ => AccessSize::Word,
    }
}

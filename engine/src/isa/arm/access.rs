//! Accesses that cost more than their instruction, or may: the slow paths of fetch, load and store.
//!
//! An access begins when its instruction's own cycle ends, and the core waits for it. What it costs, and to what it is
//! charged, is the memory's business.

use super::core::Arm;
use super::op::{Code, Op};
use super::profile::{Own, Profile};
use super::system::Kind;
use crate::bus::Bus;
use crate::cpu::access::Asked;
use crate::device::AccessSize;
use crate::memory::first_level::access::how;

impl<P: Profile> Arm<P> {
    /// A load that found no shortcut. True if the block goes on.
    #[cold]
    #[inline(never)]
    pub(super) fn load_slowly(&mut self, bus: &mut Bus, index: u32, at: u32, op: Op, addr: u32) -> bool {
        let size = size_of_access(op.code);
        let begins = self.begins_cycle(index, at);
        if P::HAS_OWN_REGISTERS && P::is_own(addr) {
            return match P::load_own(self, bus, begins, Own { addr, size }) {
                Ok(value) => {
                    self.x[usize::from(op.rd)] = extended(op.code, value);
                    self.after_access(bus, index, at)
                }
                Err(exception) => self.refuse_access(bus, index, at, op, exception),
            };
        }
        let asked = Asked { addr, size, how: op.ra, name: kind_of_access(op.code) };
        self.load(bus, index, at, asked, |x, value| x[usize::from(op.rd)] = extended(op.code, value))
    }

    fn refuse_access(&mut self, bus: &mut Bus, index: u32, at: u32, op: Op, exception: P::Exception) -> bool {
        self.access_kind = kind_of_access(op.code);
        self.raise_at(bus, index, at, exception)
    }

    /// A store that found no shortcut. True if the block goes on.
    #[cold]
    #[inline(never)]
    pub(super) fn store_slowly(&mut self, bus: &mut Bus, index: u32, at: u32, op: Op, addr: u32) -> bool {
        let size = size_of_access(op.code);
        let (begins, value) = (self.begins_cycle(index, at), self.x[usize::from(op.rd)]);
        if P::HAS_OWN_REGISTERS && P::is_own(addr) {
            return match P::store_own(self, bus, begins, Own { addr, size }, value) {
                Ok(()) => self.after_access(bus, index, at),
                Err(exception) => self.refuse_access(bus, index, at, op, exception),
            };
        }
        let asked = Asked { addr, size, how: op.ra, name: kind_of_access(op.code) };
        self.store(bus, index, at, asked, value)
    }

    /// A load or store of several words follows.
    #[cold]
    #[inline(never)]
    pub(super) fn several(&mut self, bus: &mut Bus, index: u32, at: u32, op: Op, addr: u32) -> bool {
        let kind = if op.ra & how::STORE != 0 { Kind::Write } else { Kind::Read };
        if self.must_wait(bus, index, at, addr, 4 * (op.imm & 0xff), kind) {
            return false;
        }
        if !self.isa.system.vfp_is_ready() && self.is_of_vfp(index, at) && !self.prepare_vfp(bus, index, at) {
            return false;
        }
        let (begins, words, store) = (self.begins_cycle(index, at), op.imm & 0xff, op.ra & how::STORE != 0);
        if let Some(cycles) = self.memory.several_direct(bus, self.quiet_from(begins), addr, words, store) {
            self.shell.cycles = self.shell.cycles.wrapping_add(cycles);
            return self.after_access(bus, index, at);
        }
        self.access_kind = if op.ra & how::STORE != 0 { "store of several words" } else { "load of several words" };
        let done = self.memory.several(bus, &self.isa.system, self.begins(index, at), addr, op.imm & 0xff, op.ra);
        self.written(bus, index, at, done)
    }
}

fn size_of_access(code: Code) -> AccessSize {
    match code {
        Code::Ldrb | Code::Ldrsb | Code::Strb => AccessSize::Byte,
        Code::Ldrh | Code::Ldrsh | Code::Strh => AccessSize::Half,
        _ => AccessSize::Word,
    }
}

pub(super) fn kind_of_access(code: Code) -> &'static str {
    match code {
        Code::Ldrb | Code::Ldrsb => "1-byte load",
        Code::Ldrh | Code::Ldrsh => "2-byte load",
        Code::Strb => "1-byte store",
        Code::Strh => "2-byte store",
        Code::Str | Code::StrUser => "4-byte store",
        _ => "4-byte load",
    }
}

/// A loaded value as the register gets it.
fn extended(code: Code, value: u32) -> u32 {
    match code {
        Code::Ldrsb => value as i8 as u32,
        Code::Ldrsh => value as i16 as u32,
        Code::Ldrb => value & 0xff,
        Code::Ldrh => value & 0xffff,
        _ => value,
    }
}

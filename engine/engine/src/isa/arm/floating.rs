//! VFP instructions in the core: they are undefined while VFP is disabled.

use super::access::moves;
use super::architecture::Profile;
use super::instruction_set::Arm;
use super::op::{Code, Op, TimingClass};
use super::system::Kind;
use super::vfp;
use crate::bus::Bus;
use crate::cpu::access::AccessRequest;

impl<P: Profile> Arm<P> {
    /// Arithmetic, and moves between the register files.
    pub(super) fn vfp(&mut self, bus: &mut Bus, index: u32, at: u32, op: Op) -> bool {
        if !self.isa.system.vfp_is_ready() && !self.prepare_vfp(bus, index, at) {
            return false;
        }
        let mut fpscr = self.isa.system.fpscr();
        if vfp::execute(op.imm, &mut self.isa.s, &mut self.x, &mut fpscr).is_err() {
            return self.refuse_vfp(bus, index, at);
        }
        self.isa.system.set_fpscr(fpscr);
        true
    }

    /// Vldr, Vstr.
    pub(super) fn access_vfp(&mut self, bus: &mut Bus, index: u32, at: u32, op: Op) -> bool {
        let addr = self.x[usize::from(op.rn)].wrapping_add(self.x[usize::from(op.rm)]).wrapping_add(op.imm);
        let kind = if op.code == Code::Vstr { Kind::Write } else { Kind::Read };
        if self.must_wait(bus, index, at, addr, 4, kind) {
            return false;
        }
        if !self.isa.system.vfp_is_ready() && !self.prepare_vfp(bus, index, at) {
            return false;
        }
        let request = AccessRequest { addr, moves: moves(op.code), how: op.ra };
        let register = usize::from(op.rd);
        if op.code == Code::Vstr {
            let value = self.isa.s[register];
            return self.store_by_shortcut(addr, value) || self.store(bus, index, at, request, value);
        }
        match self.load_by_shortcut(addr) {
            Some(value) => self.isa.s[register] = value,
            None => return self.load(bus, index, at, request, |core, value| core.isa.s[register] = value),
        }
        true
    }

    /// True if the instruction of operation `at` loads or stores VFP registers.
    pub(super) fn is_of_vfp(&self, index: u32, at: u32) -> bool {
        let instr = self.blocks.info(index, at).instr;
        let class = self.blocks.instrs_of(index)[usize::from(instr)].instr.class;
        matches!(class, TimingClass::VfpLoad | TimingClass::VfpStore)
    }

    /// Prepares the VFP instruction of operation `at`. False if it is not executed: then the block has been left.
    pub(super) fn prepare_vfp(&mut self, bus: &mut Bus, index: u32, at: u32) -> bool {
        match P::prepare_vfp(self, bus, self.begins_cycle(index, at)) {
            Ok(0) => true,
            Ok(cycles) => {
                self.shell.cycles = self.shell.cycles.wrapping_add(cycles);
                self.after_access(bus, index, at)
            }
            Err(Some(exception)) => self.raise_at(bus, index, at, exception),
            Err(None) => self.refuse_vfp(bus, index, at),
        }
    }

    /// Makes the instruction of operation `at` undefined: the block has been left, so this returns false.
    pub(super) fn refuse_vfp(&mut self, bus: &mut Bus, index: u32, at: u32) -> bool {
        self.unpatch();
        let instr = self.blocks.info(index, at).instr;
        self.leave_in_the_middle(index, instr);
        // It has just been fetched. In T32 the first halfword is the upper one.
        let word = self.code_word(bus, self.pc).unwrap_or(0);
        let encoding = if self.isa.system.state().thumb { word.rotate_left(16) } else { word };
        P::raise(self, bus, P::undefined(encoding));
        false
    }
}

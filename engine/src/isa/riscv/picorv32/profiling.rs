//! How the core tells its profile what it does: after each instruction.

use super::decoded::Kind;
use super::{Picorv32, SP};
use crate::bus::Bus;
use crate::cpu::profile::counters::What;
use crate::cpu::profile::{Flow, Seen};
use crate::isa::riscv::core::flow_of;
use crate::observe::profile::ProfileOptions;
use crate::storms::Source;

impl Picorv32 {
    pub(super) fn begin_profile(&mut self, options: &ProfileOptions) -> bool {
        let seen = Seen { fixed: self.shell.fixed, spent: self.shell.spent, memory: self.accounts.clone() };
        let begun = self.shell.begin_profile(options, u32::MAX, seen);
        self.look_ahead();
        begun
    }

    /// What goes on outside of instructions belongs to the one before.
    pub(super) fn charge_last(&mut self) {
        let (pc, now) = (self.pc, self.shell.cycles);
        let Some(profile) = &mut self.shell.profile else { return };
        profile.begin(pc, now);
        let last = profile.last_pc;
        self.shell.charge(last, &mut self.accounts);
    }

    /// Launches the instruction at the current address, and tells the profile, if there is one.
    pub(super) fn launch_one(&mut self, bus: &mut Bus) {
        if self.shell.profile.is_none() {
            return self.launch(bus);
        }
        self.charge_last();
        let (pc, launched) = (self.pc, self.shell.instructions);
        let kind = self.encoding.map(|encoding| self.table.find(pc, encoding)).map(|slot| *self.table.at(slot));
        self.launch(bus);
        self.profile_instruction(pc, self.shell.instructions != launched);
        let Some(decoded) = kind else { return };
        let behind = pc.wrapping_add(u32::from(decoded.len_bytes));
        let (target, sp, now) = (self.pc, self.x[SP], self.shell.cycles);
        let Some(profile) = &mut self.shell.profile else { return };
        match decoded.kind {
            Kind::Jal | Kind::Jalr => profile.follow(flow_of(&decoded.op), behind, target, sp, now),
            Kind::Retirq => profile.exception_return(target, sp, now),
            _ => profile.follow(Flow::On, behind, target, sp, now),
        }
    }

    fn profile_instruction(&mut self, pc: u32, ran: bool) {
        if let Some(profile) = &mut self.shell.profile
            && ran
        {
            profile.count_did(pc, What::Ran);
        }
        self.shell.charge(pc, &mut self.accounts);
    }

    /// An interrupt is taken from the code at the core's address.
    pub(super) fn profile_interrupt(&mut self, source: Source) {
        self.charge_last();
        let (pc, sp, now) = (self.pc, self.x[SP], self.shell.cycles);
        if let Some(profile) = &mut self.shell.profile {
            profile.exception(source, pc, sp, now);
        }
    }

    /// The core is at the handler's first instruction.
    pub(super) fn profile_handler(&mut self) {
        let (pc, now) = (self.pc, self.shell.cycles);
        self.shell.charge(pc, &mut self.accounts);
        if let Some(profile) = &mut self.shell.profile {
            profile.handler(pc, now);
        }
    }
}

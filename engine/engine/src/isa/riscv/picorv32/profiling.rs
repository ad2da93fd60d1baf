//! The core's reports to its profile, and of its calls: after each instruction.

use super::decoded::Kind;
use super::{Picorv32, SP};
use crate::bus::Bus;
use crate::cpu::calls::{Calls, Flow};
use crate::cpu::profiler::counters::What;
use crate::cpu::profiler::{Profile, Seen};
use crate::cpu::shell::Shell;
use crate::event_rates::Source;
use crate::isa::riscv::instruction_set::flow_of;
use crate::observe::profile::ProfileOptions;

impl Picorv32 {
    pub(super) fn begin_profile(&mut self, options: &ProfileOptions) -> bool {
        let seen = Seen { fixed: self.shell.fixed, spent: self.shell.spent, memory: self.accounts.clone() };
        let begun = self.shell.begin_profile(options, u32::MAX, seen);
        self.look_ahead();
        begun
    }

    /// True if the core is about to begin following calls.
    pub(super) fn begin_calls(&mut self) -> bool {
        let (pc, now) = (self.pc, self.shell.cycles);
        let Shell { calls, profile, .. } = &mut self.shell;
        if !calls.as_mut().is_some_and(|calls| calls.begin(profile, pc, now)) {
            return false;
        }
        if let Some(profile) = profile {
            profile.last_pc = pc;
        }
        self.shell.follow_path();
        self.settle_calls();
        true
    }

    /// Charges work outside of instructions to the previous one.
    pub(super) fn charge_last(&mut self) {
        self.begin_calls();
        let Some(profile) = &mut self.shell.profile else { return };
        let last = profile.last_pc;
        self.shell.charge(last, &mut self.accounts);
    }

    /// Launches the instruction at the current address, and reports to calls and the profile, if these are followed.
    pub(super) fn launch_one(&mut self, bus: &mut Bus) {
        if self.shell.calls.is_none() {
            return self.launch(bus);
        }
        self.charge_last();
        let (pc, launched) = (self.pc, self.shell.instructions);
        let kind = self.encoding.map(|encoding| self.table.find(pc, encoding)).map(|slot| *self.table.at(slot));
        self.launch(bus);
        self.profile_instruction(pc, self.shell.instructions != launched);
        let Some(decoded) = kind else { return };
        let after = pc.wrapping_add(u32::from(decoded.len_bytes));
        let (target, sp, cycle) = (self.pc, self.x[SP], self.shell.cycles);
        match decoded.kind {
            Kind::Jal | Kind::Jalr => self.shell.follow_jump(flow_of(&decoded.op), after, target, (sp, cycle)),
            Kind::Branch if target != after => self.shell.follow_jump(Flow::On, after, target, (sp, cycle)),
            Kind::Retirq => self.report_calls(|calls, profile| calls.exception_return(profile, target, sp, cycle)),
            _ => {}
        }
    }

    fn report_calls(&mut self, report: impl FnOnce(&mut Calls, &mut Option<Box<Profile>>)) {
        let Shell { calls, profile, .. } = &mut self.shell;
        if let Some(calls) = calls {
            report(calls, profile);
            self.shell.follow_path();
            self.settle_calls();
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

    /// Follows an interrupt, taken from the code at the core's address.
    pub(super) fn follow_interrupt(&mut self, source: Source) {
        self.charge_last();
        let (pc, sp, now) = (self.pc, self.x[SP], self.shell.cycles);
        self.report_calls(|calls, profile| calls.exception(profile, source, (pc, sp), now));
    }

    /// Follows the start of the handler.
    pub(super) fn follow_handler(&mut self) {
        let (pc, now) = (self.pc, self.shell.cycles);
        self.shell.charge(pc, &mut self.accounts);
        self.report_calls(|calls, profile| calls.handler(profile, pc, now));
    }
}

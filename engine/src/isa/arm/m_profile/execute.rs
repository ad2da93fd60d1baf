//! System instructions.

use super::super::op::{Code, Op};
use super::super::profile::SystemSide as _;
use super::super::psr::set_nzcv;
use super::super::registers::PC;
use super::super::system::{Barrier, Effect, Maintenance};
use super::nvic::LEAST_URGENT;
use super::{Exception, System, X};

/// A semihosting call: bkpt with this number ("Semihosting for AArch32 and AArch64", 2.0, section 3).
const SEMIHOSTING: u32 = 0xab;
/// FPSCR's number in vmrs and vmsr; there is no other register.
const FPSCR: u32 = 1;

impl System {
    /// Executes a system instruction. What is no system instruction does nothing.
    ///
    /// # Errors
    /// The exception that it takes instead.
    pub fn execute(&mut self, x: &mut X, op: &Op) -> Result<Effect, Exception> {
        let barrier = |barrier| Ok(Effect::Maintain(Maintenance::Barrier(barrier)));
        match op.code {
            Code::Svc => Err(Exception::Svc(op.imm)),
            Code::Bkpt if op.imm == SEMIHOSTING => Ok(Effect::Semihosting),
            Code::Bkpt => Err(Exception::Bkpt(op.imm)),
            Code::Undefined if !self.state.thumb => Err(Exception::InvalidState),
            Code::Undefined => Err(Exception::Undefined(op.imm)),
            Code::Mrs => {
                x[usize::from(op.rd)] = self.read_special(x, op.imm);
                Ok(Effect::Next)
            }
            Code::Msr => {
                let value = x[usize::from(op.rm)];
                Ok(self.told_of_map(|system| system.write_special(x, op.imm, value, op.ra)))
            }
            Code::Cps => Ok(self.told_of_map(|system| system.change_masks(op.imm))),
            Code::Vmrs => self.vmrs(x, op),
            Code::Vmsr if self.has_fpscr(op) => {
                self.set_fpscr(x[usize::from(op.rd)]);
                Ok(Effect::Next)
            }
            Code::Vmsr => Err(Exception::Undefined(0xeee0_0a10 | op.imm << 16 | u32::from(op.rd & 15) << 12)),
            Code::Wfi => Ok(Effect::Wait),
            Code::Wfe => Ok(self.wait_for_event()),
            Code::Sev => {
                self.event = true;
                Ok(Effect::Next)
            }
            Code::Dsb => barrier(Barrier::DataSynchronization),
            Code::Dmb => barrier(Barrier::DataMemory),
            Code::Isb => barrier(Barrier::InstructionSynchronization),
            _ => Ok(Effect::Next),
        }
    }

    /// Calls `change`, which may switch the MPU off or on by FAULTMASK.
    fn told_of_map(&mut self, change: impl FnOnce(&mut System)) -> Effect {
        let before = self.protection();
        change(self);
        if self.protection() == before { Effect::Next } else { Effect::TranslationChanged }
    }

    /// With interrupts masked nothing might end the wait here: it does not begin, as it need not.
    fn wait_for_event(&mut self) -> Effect {
        let happened = std::mem::replace(&mut self.event, false);
        let masked = self.masks.boosted(self.nvic.grouping()) < LEAST_URGENT;
        if happened || masked { Effect::Next } else { Effect::Wait }
    }

    fn has_fpscr(&self, op: &Op) -> bool {
        op.imm == FPSCR && self.floating.ready
    }

    fn vmrs(&self, x: &mut X, op: &Op) -> Result<Effect, Exception> {
        if !self.has_fpscr(op) {
            return Err(Exception::Undefined(0xeef0_0a10 | op.imm << 16 | u32::from(op.rd & 15) << 12));
        }
        if op.rd == PC {
            set_nzcv(x, self.fpscr());
        } else {
            x[usize::from(op.rd)] = self.fpscr();
        }
        Ok(Effect::Next)
    }
}

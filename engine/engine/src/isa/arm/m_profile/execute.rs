//! System instructions.

use super::super::architecture::SystemSide as _;
use super::super::op::{Code, Op};
use super::super::psr::set_register_or_nzcv;
use super::super::system::Effect;
use super::{Exception, System, X};

/// A semihosting call: bkpt with this number ("Semihosting for AArch32 and AArch64", 2.0, section 3).
const SEMIHOSTING: u32 = 0xab;
/// FPSCR's number in vmrs and vmsr; no other register is allowed.
const FPSCR: u32 = 1;

impl System {
    /// Executes a system instruction. Other instructions have no effect here.
    ///
    /// # Errors
    ///
    /// The exception that it raises instead.
    pub fn execute(&mut self, x: &mut X, op: &Op) -> Result<Effect, Exception> {
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
                Ok(self.effect_on_protection(|system| system.write_special(x, op.imm, value, op.ra)))
            }
            Code::Cps => Ok(self.effect_on_protection(|system| system.change_masks(op.imm))),
            Code::Vmrs | Code::Vmsr if op.imm != FPSCR || !self.floating.ready => {
                Err(Exception::Undefined(op.vfp_system_encoding()))
            }
            Code::Vmrs => {
                set_register_or_nzcv(x, op.rd, self.fpscr());
                Ok(Effect::Next)
            }
            Code::Vmsr => {
                self.set_fpscr(x[usize::from(op.rd)]);
                Ok(Effect::Next)
            }
            Code::Wfe => Ok(if self.event.wait_for_event() { Effect::Wait } else { Effect::Next }),
            Code::Wfi => {
                self.event.wait_for_interrupt();
                Ok(Effect::Wait)
            }
            // No other core receives it.
            Code::Sev => {
                self.event.send();
                Ok(Effect::Next)
            }
            code => Ok(Effect::of(code)),
        }
    }

    /// Calls `change`, which may disable or enable the MPU by FAULTMASK.
    fn effect_on_protection(&mut self, change: impl FnOnce(&mut System)) -> Effect {
        let before = self.protection();
        change(self);
        if self.protection() == before { Effect::Next } else { Effect::TranslationChanged }
    }
}

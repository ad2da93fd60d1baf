//! System instructions.

use super::super::op::{Code, Op};
use super::super::psr::set_register_or_nzcv;
use super::super::registers::{PC, SINK};
use super::exceptions::Exception;
use super::psr::MRS_MASK;
use super::registers::Number;
use super::{Effect, Now, System, X};

/// Semihosting calls: svc with these numbers ("Semihosting for AArch32 and AArch64", 2.0, section 3).
const SEMIHOSTING_A32: u32 = 0x12_3456;
const SEMIHOSTING_T32: u32 = 0xab;
/// setend be, in A32.
const SETEND_BE: u32 = 0xf101_0200;
/// smc #0, in A32.
pub const SMC: u32 = 0xe160_0070;
/// A coprocessor with the registers of a trivial Jazelle implementation, which read as zero: cp14 with this opc1.
const JAZELLE: u32 = 7;

/// The fields of mrc and mcr in [`Code::Mrc`]: number of the coprocessor, and of its register.
fn coprocessor(op: &Op) -> (u32, Number) {
    let field = |at: u32| op.imm >> at & 15;
    (field(0), (field(8), field(4), field(12), field(16)))
}

/// The encoding of mrc (or mcr), restored for messages.
fn encoding(op: &Op) -> u32 {
    let (coprocessor, (crn, opc1, crm, opc2)) = coprocessor(op);
    let read = u32::from(op.code == Code::Mrc) << 20;
    0xee00_0010 | read | opc1 << 21 | crn << 16 | u32::from(op.rd & 15) << 12 | coprocessor << 8 | opc2 << 5 | crm
}

impl System {
    /// Executes a system instruction, other than those that use memory (rfe, srs, swap, exclusive ones, accesses to
    /// User registers). Other instructions have no effect here.
    pub fn execute(&mut self, x: &mut X, op: &Op, now: &Now) -> Result<Effect, Exception> {
        match op.code {
            Code::Svc => self.call(op.imm),
            // The calling convention has no other number (DEN0028, SMC and HVC immediate value).
            Code::Smc if op.imm & 15 == 0 && self.is_privileged() => Ok(Effect::FirmwareCall),
            Code::Smc => Err(Exception::Undefined(SMC | op.imm & 15)),
            Code::Bkpt => Err(Exception::Bkpt(op.imm)),
            Code::Undefined => Err(Exception::Undefined(op.imm)),
            Code::Mrs => {
                x[op.rd as usize] = if op.imm & 1 != 0 { self.spsr() } else { self.cpsr(x) & MRS_MASK };
                Ok(Effect::Next)
            }
            Code::Msr => {
                let value = x[op.rm as usize];
                if op.imm >> 8 & 1 != 0 {
                    self.write_spsr(value, op.ra)
                } else {
                    self.write_cpsr(x, value, op.ra)
                }
                Ok(Effect::Next)
            }
            Code::Cps => {
                if self.is_privileged() {
                    self.change_state(x, op.imm);
                }
                Ok(Effect::Next)
            }
            Code::Setend if op.imm != 0 => Err(Exception::Undefined(SETEND_BE)),
            Code::Mrc => self.read_coprocessor(x, op, now),
            Code::Mcr => self.write_coprocessor(x, op, now),
            Code::Mrrc | Code::Mcrr => self.access_pair(x, op),
            Code::Vmrs => {
                let value = self.read_vfp(op.imm).ok_or(Exception::Undefined(op.vfp_system_encoding()))?;
                set_register_or_nzcv(x, op.rd, value);
                Ok(Effect::Next)
            }
            Code::Vmsr => {
                let written = self.write_vfp(op.imm, x[op.rd as usize]);
                written.ok_or(Exception::Undefined(op.vfp_system_encoding()))
            }
            Code::Wfe => Ok(self.wait_for_event()),
            Code::Wfi => {
                self.event.wait_for_interrupt();
                Ok(Effect::Wait)
            }
            Code::Sev => {
                self.event.send();
                Ok(Effect::SendEvent)
            }
            Code::ExceptionReturn => Ok(Effect::JumpTo(self.exception_return(x, x[op.rm as usize]))),
            code => Ok(Effect::of(code)),
        }
    }

    fn call(&self, number: u32) -> Result<Effect, Exception> {
        let semihosting = if self.state.thumb { SEMIHOSTING_T32 } else { SEMIHOSTING_A32 };
        if number == semihosting { Ok(Effect::Semihosting) } else { Err(Exception::Svc(number)) }
    }

    /// In User and System mode it is unpredictable: here a jump.
    fn exception_return(&mut self, x: &mut X, target: u32) -> u32 {
        let cpsr = if self.mode.has_spsr() { self.spsr() } else { self.cpsr(x) };
        self.leave(x, target, cpsr)
    }

    /// An interrupt ends the wait only if it is not masked (ARM, B1.8.13). With the timer's event stream enabled, the
    /// wait ends at once, which the architecture allows.
    fn wait_for_event(&mut self) -> Effect {
        let sleeps = self.event.wait_for_event();
        if sleeps && self.has_event_stream() {
            self.event.wake();
            return Effect::Next;
        }
        if sleeps { Effect::Wait } else { Effect::Next }
    }

    /// The effect of an access to one of the generic timer's registers.
    fn timer(&self, number: Number, op: &Op, written: Option<u32>) -> Option<Effect> {
        // With the program counter as the target the flags would be set, which is unpredictable for these registers.
        let to = if op.rd == PC { SINK } else { op.rd };
        self.timer_register(number, written, to, encoding(op))
    }

    fn read_coprocessor(&mut self, x: &mut X, op: &Op, now: &Now) -> Result<Effect, Exception> {
        let value = match coprocessor(op) {
            (15, number) => match self.timer(number, op, None) {
                Some(effect) => return Ok(effect),
                None => self.read_register(number, now),
            },
            (14, (_, JAZELLE, ..)) => Some(0),
            (14, number) => self.read_cp14(number),
            _ => None,
        };
        set_register_or_nzcv(x, op.rd, value.ok_or(Exception::Undefined(encoding(op)))?);
        Ok(Effect::Next)
    }

    fn write_coprocessor(&mut self, x: &mut X, op: &Op, now: &Now) -> Result<Effect, Exception> {
        let value = x[op.rd as usize];
        let effect = match coprocessor(op) {
            (15, number) => self.timer(number, op, Some(value)).or_else(|| self.write_register(number, value, now)),
            (14, (_, JAZELLE, ..)) => Some(Effect::Next),
            (14, number) => self.write_cp14(number, value),
            _ => None,
        };
        effect.ok_or(Exception::Undefined(encoding(op)))
    }

    /// mrrc and mcrr: the generic timer's registers of 64 bits, and two addresses of the debug logic.
    fn access_pair(&self, x: &mut X, op: &Op) -> Result<Effect, Exception> {
        let (coprocessor, (_, opc1, crm, _)) = coprocessor(op);
        let read = u32::from(op.code == Code::Mrrc) << 20;
        let registers = u32::from(op.ra & 15) << 16 | u32::from(op.rd & 15) << 12;
        let encoding = 0xec40_0000 | read | registers | coprocessor << 8 | opc1 << 4 | crm;
        if let (14, Code::Mrrc, Some(value)) = (coprocessor, op.code, self.wide_cp14(crm, opc1)) {
            (x[op.rd as usize], x[op.ra as usize]) = (value as u32, (value >> 32) as u32);
            return Ok(Effect::Next);
        }
        let value = u64::from(x[op.ra as usize]) << 32 | u64::from(x[op.rd as usize]);
        let written = (op.code == Code::Mcrr).then_some(value);
        let effect = self.wide_timer_register((crm, opc1), written, [op.rd, op.ra], encoding);
        effect.filter(|_| coprocessor == 15).ok_or(Exception::Undefined(encoding))
    }
}

//! Exceptions of instructions, their records, and their numbers (ARM, B1.5.6, B1.5.14 and B3.2.15 on).

use super::System;
use super::scb::{bfsr, hfsr, mmfsr, ufsr};
use crate::cpu::memory_system::access::Status;

/// Numbers of exceptions (ARM, B1.5.2).
pub mod number {
    #![allow(missing_docs)]
    pub const NMI: u8 = 2;
    pub const HARD_FAULT: u8 = 3;
    pub const MEM_MANAGE: u8 = 4;
    pub const BUS_FAULT: u8 = 5;
    pub const USAGE_FAULT: u8 = 6;
    pub const SVCALL: u8 = 11;
    pub const DEBUG_MONITOR: u8 = 12;
    pub const PEND_SV: u8 = 14;
    pub const SYS_TICK: u8 = 15;
    /// External interrupt 0.
    pub const EXTERNAL: u8 = 16;

    /// Its name; all external interrupts share one.
    pub const fn name(exception: u8) -> &'static str {
        match exception {
            NMI => "NMI",
            HARD_FAULT => "HardFault",
            MEM_MANAGE => "MemManage",
            BUS_FAULT => "BusFault",
            USAGE_FAULT => "UsageFault",
            SVCALL => "SVCall",
            DEBUG_MONITOR => "DebugMonitor",
            PEND_SV => "PendSV",
            SYS_TICK => "SysTick",
            EXTERNAL.. => "interrupt",
            _ => "exception",
        }
    }
}

/// DFSR.BKPT.
const DFSR_BKPT: u32 = 1 << 1;

/// Reason to leave the flow of instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exception {
    /// The pending exception: [`System::due`].
    Due,
    /// An undefined encoding, or one for a coprocessor that is absent or disabled (T32: first halfword on top).
    Undefined(u32),
    /// The instruction set A32, which does not exist here: a jump to an even address.
    InvalidState,
    /// A jump to a value that is not a valid return from the active exception.
    InvalidReturn(u32),
    /// A division by 0 while CCR.DIV_0_TRP is set.
    DivideByZero,
    /// Supervisor call, with its number.
    Svc(u32),
    /// Breakpoint, with its number.
    Bkpt(u32),
    /// A refused instruction fetch.
    PrefetchAbort(Abort),
    /// A refused data access.
    DataAbort(Abort),
}

/// A refused access.
pub type Abort = crate::cpu::memory_system::access::Abort<FaultStatus>;

/// Reason of an abort.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FaultStatus {
    /// The address is not a multiple of the size: a UsageFault.
    Alignment,
    /// The bus answered with an error: a BusFault.
    External,
    /// No region of the MPU allows it: a MemManage fault.
    Permission,
    /// The memory must not be executed: a MemManage fault.
    ExecuteNever,
    /// The private peripheral bus needs privilege: a BusFault.
    Unprivileged,
}

impl Status for FaultStatus {
    const ALIGNMENT: FaultStatus = FaultStatus::Alignment;
    const EXTERNAL: FaultStatus = FaultStatus::External;
}

/// A fault that even HardFault's handler can't take: the core stops for good (ARM, B1.5.15).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Lockup;

/// Phase of an exception's entry or return in which an access failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum During {
    /// The entry's stores.
    Stacking,
    /// The return's loads.
    Unstacking,
    /// Lazy preservation of the floating-point state.
    LazyStacking,
}

impl System {
    /// Records an exception of the instruction at `pc` and makes it pending, escalated if required; [`System::due`]
    /// then returns it, or a more urgent one. Returns the return address.
    ///
    /// # Errors
    ///
    /// [`Lockup`].
    pub fn raise(&mut self, exception: Exception, pc: u32) -> Result<u32, Lockup> {
        let wanted = match exception {
            Exception::Due => return Ok(pc),
            Exception::Svc(_) => number::SVCALL,
            Exception::Bkpt(_) => {
                self.scb.dfsr |= DFSR_BKPT;
                number::DEBUG_MONITOR
            }
            Exception::Undefined(encoding) => {
                let bit = if self.is_coprocessor_fault(encoding) { ufsr::NOCP } else { ufsr::UNDEFINSTR };
                self.usage_fault(bit)
            }
            Exception::InvalidState => self.usage_fault(ufsr::INVSTATE),
            Exception::InvalidReturn(_) => self.usage_fault(ufsr::INVPC),
            Exception::DivideByZero => self.usage_fault(ufsr::DIVBYZERO),
            Exception::PrefetchAbort(abort) => self.record(abort, mmfsr::IACCVIOL, bfsr::IBUSERR, false),
            Exception::DataAbort(abort) => self.record(abort, mmfsr::DACCVIOL, bfsr::PRECISERR, true),
        };
        self.pend_escalated(wanted, matches!(exception, Exception::Bkpt(_)))?;
        Ok(match exception {
            Exception::Svc(_) => {
                self.state.advance_it();
                pc.wrapping_add(2)
            }
            _ => pc,
        })
    }

    /// Records a failed access of an exception's entry or return, and makes the fault pending. The entry or return
    /// continues.
    ///
    /// # Errors
    ///
    /// [`Lockup`].
    pub fn stacking_failed(&mut self, abort: Abort, during: During) -> Result<(), Lockup> {
        let (memory, bus) = match during {
            During::Stacking => (mmfsr::MSTKERR, bfsr::STKERR),
            During::Unstacking => (mmfsr::MUNSTKERR, bfsr::UNSTKERR),
            During::LazyStacking => (mmfsr::MLSPERR, bfsr::LSPERR),
        };
        let wanted = self.record(abort, memory, bus, false);
        self.pend_escalated(wanted, false)
    }

    /// The vector of `exception`, which has just been activated, could not be read: HardFault is pending, to be
    /// activated in its place.
    ///
    /// # Errors
    ///
    /// [`Lockup`] if it was HardFault's or NMI's.
    pub fn vector_failed(&mut self, exception: u8) -> Result<(), Lockup> {
        self.scb.hfsr |= hfsr::VECTTBL;
        if exception <= number::HARD_FAULT {
            return Err(Lockup);
        }
        self.nvic.active.set(exception, false);
        self.nvic.pend(number::HARD_FAULT);
        self.changed();
        if self.due == Some(number::HARD_FAULT) { Ok(()) } else { Err(Lockup) }
    }

    fn usage_fault(&mut self, bit: u32) -> u8 {
        self.scb.cfsr |= bit;
        number::USAGE_FAULT
    }

    /// Status and address registers of an access.
    fn record(&mut self, abort: Abort, memory: u32, bus: u32, has_address: bool) -> u8 {
        match abort.status {
            FaultStatus::Alignment => self.usage_fault(ufsr::UNALIGNED),
            FaultStatus::External | FaultStatus::Unprivileged => {
                self.scb.cfsr |= bus;
                if has_address {
                    self.scb.set_fault_address(abort.va, bfsr::BFARVALID);
                }
                number::BUS_FAULT
            }
            FaultStatus::Permission | FaultStatus::ExecuteNever => {
                self.scb.cfsr |= memory;
                if has_address {
                    self.scb.set_fault_address(abort.va, mmfsr::MMARVALID);
                }
                number::MEM_MANAGE
            }
        }
    }

    /// Makes it pending, or HardFault if it is disabled or can't pre-empt the running code (ARM, B1.5.14).
    fn pend_escalated(&mut self, wanted: u8, breakpoint: bool) -> Result<(), Lockup> {
        let current = self.execution_priority();
        let taken = self.nvic.enabled.contains(wanted) && self.nvic.group_priority(wanted) < current;
        if !taken {
            if current < 0 {
                return Err(Lockup);
            }
            self.scb.hfsr |= if breakpoint { hfsr::DEBUGEVT } else { hfsr::FORCED };
        }
        self.nvic.pend(if taken { wanted } else { number::HARD_FAULT });
        self.changed();
        Ok(())
    }

    /// True for a coprocessor's encoding, if the coprocessor is absent or disabled (ARM, B1.5.14: NOCP).
    fn is_coprocessor_fault(&self, encoding: u32) -> bool {
        coprocessor(encoding).is_some_and(|number| !(matches!(number, 10 | 11) && self.floating_is_allowed()))
    }
}

/// Number of the coprocessor of an encoding.
pub(super) fn coprocessor(encoding: u32) -> Option<u32> {
    (encoding >> 29 == 7 && matches!(encoding >> 24 & 15, 12..=15)).then_some(encoding >> 8 & 15)
}

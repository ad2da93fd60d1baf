//! Exceptions, their entry and return (PRA, interrupts and exceptions).

use super::Effect;
use super::System;
use super::mmu::{Abort, TlbFault};
use super::registers::CONTEXT_PTE_BASE;
use super::status::{BD, BEV, ERL, EXL, IV};
use super::tlb::{HI_ASID, HI_VPN2};

/// Bases of the vectors, without and with Status.BEV.
const VECTORS: u32 = 0x8000_0000;
const VECTORS_BOOT: u32 = 0xbfc0_0200;
/// Offsets of the vectors.
const REFILL: u32 = 0x000;
const GENERAL: u32 = 0x180;
const INTERRUPT: u32 = 0x200;
/// The core's address after reset.
pub const RESET_VECTOR: u32 = 0xbfc0_0000;
/// Cause: number of the coprocessor, and the exception's code.
const CE_SHIFT: u32 = 28;
const CE: u32 = 3 << CE_SHIFT;
const EXC_CODE: u32 = 0x1f << 2;

/// Reason to leave the flow of instructions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exception {
    /// Interrupt.
    Interrupt,
    /// A load or fetch from an address that is not a multiple of the size, or that user mode may not use.
    AddressLoad(u32),
    /// A store to such an address.
    AddressStore(u32),
    /// The TLB has no entry for an address.
    TlbRefill {
        /// The address.
        va: u32,
        /// It was a store.
        write: bool,
    },
    /// The TLB's entry for an address is not valid.
    TlbInvalid {
        /// The address.
        va: u32,
        /// It was a store.
        write: bool,
    },
    /// A store to a page that must not be written (or not yet).
    TlbModified(u32),
    /// The bus did not answer a fetch, or answered with an error.
    BusFetch,
    /// The bus did not answer a load or store, or answered with an error.
    BusData,
    /// `syscall`.
    Syscall,
    /// `break`.
    Break,
    /// An undefined encoding.
    Reserved(u32),
    /// A coprocessor that does not exist, or must not be used: its number.
    CopUnusable(u8),
    /// Overflow of a signed addition or subtraction.
    Overflow,
    /// A conditional trap.
    Trap,
}

impl Exception {
    /// The exception of a refused access: of a fetch, or of data.
    pub fn from_abort(abort: Abort, fetch: bool) -> Exception {
        let Abort { va, write, .. } = abort;
        match abort.status {
            TlbFault::Alignment | TlbFault::Privilege if write => Exception::AddressStore(va),
            TlbFault::Alignment | TlbFault::Privilege => Exception::AddressLoad(va),
            TlbFault::Refill => Exception::TlbRefill { va, write },
            TlbFault::Invalid => Exception::TlbInvalid { va, write },
            TlbFault::Modified => Exception::TlbModified(va),
            TlbFault::External if fetch => Exception::BusFetch,
            TlbFault::External => Exception::BusData,
        }
    }

    /// Its name in messages.
    pub fn name(self) -> &'static str {
        match self {
            Exception::Interrupt => "interrupt",
            Exception::AddressLoad(_) | Exception::AddressStore(_) => "address error",
            Exception::TlbRefill { .. } => "TLB refill",
            Exception::TlbInvalid { .. } => "TLB invalid",
            Exception::TlbModified(_) => "TLB modified",
            Exception::BusFetch | Exception::BusData => "bus error",
            Exception::Syscall => "system call",
            Exception::Break => "breakpoint",
            Exception::Reserved(_) => "reserved instruction",
            Exception::CopUnusable(_) => "coprocessor unusable",
            Exception::Overflow => "integer overflow",
            Exception::Trap => "trap",
        }
    }

    /// Cause.ExcCode (PRA, Cause register ExcCode field).
    pub fn code(self) -> u32 {
        match self {
            Exception::Interrupt => 0,
            Exception::TlbModified(_) => 1,
            Exception::TlbRefill { write: false, .. } | Exception::TlbInvalid { write: false, .. } => 2,
            Exception::TlbRefill { .. } | Exception::TlbInvalid { .. } => 3,
            Exception::AddressLoad(_) => 4,
            Exception::AddressStore(_) => 5,
            Exception::BusFetch => 6,
            Exception::BusData => 7,
            Exception::Syscall => 8,
            Exception::Break => 9,
            Exception::Reserved(_) => 10,
            Exception::CopUnusable(_) => 11,
            Exception::Overflow => 12,
            Exception::Trap => 13,
        }
    }
}

impl System {
    /// Takes an exception of the instruction at `pc`, which may be in the delay slot of the previous branch; an
    /// interrupt is taken before the instruction. Returns the address of the handler.
    pub fn enter(&mut self, exception: Exception, pc: u32, in_delay_slot: bool) -> u32 {
        let vector = self.vector(exception);
        self.note_address(exception);
        let registers = &mut self.registers;
        // In a handler that has not saved the first exception's return address, that address is kept.
        if registers.status & EXL == 0 {
            registers.epc = if in_delay_slot { pc.wrapping_sub(4) } else { pc };
            registers.cause = registers.cause & !BD | if in_delay_slot { BD } else { 0 };
        }
        let coprocessor = if let Exception::CopUnusable(number) = exception { u32::from(number) & 3 } else { 0 };
        registers.cause = registers.cause & !(CE | EXC_CODE) | coprocessor << CE_SHIFT | exception.code() << 2;
        registers.status |= EXL;
        vector
    }

    /// The present vector of an exception.
    pub fn vector(&self, exception: Exception) -> u32 {
        let base = if self.registers.status & BEV == 0 { VECTORS } else { VECTORS_BOOT };
        base + match exception {
            Exception::TlbRefill { .. } if self.registers.status & EXL == 0 => REFILL,
            Exception::Interrupt if self.registers.cause & IV != 0 => INTERRUPT,
            _ => GENERAL,
        }
    }

    /// `eret`: returns to the address where the exception was taken, which is the result.
    pub fn eret(&mut self) -> (u32, Effect) {
        self.linked = false;
        let status = self.registers.status;
        if status & ERL != 0 {
            return (self.registers.error_epc, self.write_status(status & !ERL));
        }
        (self.registers.epc, self.write_status(status & !EXL))
    }

    /// Sets BadVAddr, and the registers that help a handler to find the page's entry.
    fn note_address(&mut self, exception: Exception) {
        let registers = &mut self.registers;
        match exception {
            Exception::AddressLoad(va) | Exception::AddressStore(va) => registers.bad_vaddr = va,
            Exception::TlbRefill { va, .. } | Exception::TlbInvalid { va, .. } | Exception::TlbModified(va) => {
                registers.bad_vaddr = va;
                registers.context = registers.context & CONTEXT_PTE_BASE | (va & HI_VPN2) >> 9;
                registers.entry_hi = va & HI_VPN2 | registers.entry_hi & HI_ASID;
            }
            _ => {}
        }
    }
}

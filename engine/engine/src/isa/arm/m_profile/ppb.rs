//! The private peripheral bus: registers of the core itself (ARM, B3.1.1).
//!
//! The system timer is on it, too, but it is a device of the bus.

use super::config::identification;
use super::exceptions::number;
use super::nvic::Grouping;
use super::scb::{ACTLR_MASK, CCR_MASK, CCR_USERSETMPEND, SCR_MASK, VTOR_MASK, set_shcsr, shcsr};
use super::trace::{DEMCR_MON_EN, DEMCR_TRCENA};
use super::{Abort, Events, FaultStatus, System};
use crate::bus::device::AccessSize;

const BASE: u32 = 0xe000_0000;
const ITM: u32 = 0xe000_0000;
const DWT: u32 = 0xe000_1000;
const FPB: u32 = 0xe000_2000;
const SCS: u32 = 0xe000_e000;
const TPIU: u32 = 0xe004_0000;
const ETM: u32 = 0xe004_1000;
const ROM_TABLE: u32 = 0xe00f_f000;
/// The vendor's page of the external part of the bus: STM32s have DBGMCU in it.
const VENDOR: u32 = 0xe004_2000;
/// Offset of the system timer in the system control space.
const SYSTICK: u32 = 0x010;

/// AIRCR: its key, and requests.
const VECTKEY: u32 = 0x05fa;
const VECTKEYSTAT: u32 = 0xfa05;
const SYSRESETREQ: u32 = 1 << 2;
const VECTCLRACTIVE: u32 = 1 << 1;
const VECTRESET: u32 = 1 << 0;

/// True for the addresses of the core's own registers.
#[inline]
pub fn is_ppb(addr: u32) -> bool {
    addr >> 20 == BASE >> 20 && addr & !0xf != SCS + SYSTICK && addr & !0xfff != VENDOR
}

/// True for registers that read the event counters, or start them: the watchpoint unit's registers except the cycle
/// counter and the comparators, and DEMCR.
#[inline]
pub fn counts_events(addr: u32) -> bool {
    match addr & !0xfff {
        DWT => matches!(addr & 0xffc, 0x0 | 0x8..=0x18),
        SCS => addr & 0xffc == 0xdfc,
        _ => false,
    }
}

/// True for the addresses of the instrumentation macrocell, which a board may have as a device.
#[inline]
pub fn is_itm(addr: u32) -> bool {
    addr & !0xfff == ITM
}

/// Effect of a store to a register on the core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// Only a check for pending exceptions.
    Done,
    /// All values computed from addresses, and decoded code, have to be dropped: the set of traps has changed.
    TranslationChanged,
    /// Data permissions have to be dropped, and the places of instructions checked: regions of the memory protection
    /// unit have changed.
    RegionsChanged,
    /// A reset of the board is requested (AIRCR.SYSRESETREQ or VECTRESET).
    Reset,
}

impl System {
    /// True while trace is on (DEMCR.TRCENA).
    pub fn traces(&self) -> bool {
        self.trace.demcr & DEMCR_TRCENA != 0
    }

    /// Updates the counts of the events.
    pub fn set_events(&mut self, events: Events) {
        self.trace.events = events;
    }

    /// Loads from a register, in core cycle `cycles`. Registers that do not exist read as 0.
    ///
    /// # Errors
    ///
    /// An address that belongs to no unit, a misaligned address, or no privilege.
    pub fn load_own(&self, addr: u32, size: AccessSize, cycles: u64) -> Result<u32, Abort> {
        self.check(addr, size, false)?;
        let word = match addr & !0xfff {
            ITM => self.trace.read_itm(addr & 0xffc),
            DWT => self.trace.read_dwt(addr & 0xffc, cycles),
            TPIU => self.trace.read_tpiu(addr & 0xffc),
            SCS => self.read_scs(addr & 0xffc),
            _ => 0,
        };
        Ok(size.extracted(word, addr))
    }

    /// Stores to a register.
    ///
    /// # Errors
    /// As for [`System::load_own`].
    pub fn store_own(&mut self, addr: u32, size: AccessSize, value: u32, cycles: u64) -> Result<Outcome, Abort> {
        self.check(addr, size, true)?;
        let offset = addr & 0xffc;
        // In registers where writing ones has an effect, the other byte lanes are zeros.
        let acts = matches!(offset, 0x100..=0x3ff | 0xd04 | 0xd0c | 0xd28 | 0xd2c | 0xd30 | 0xf00);
        let before = if addr & !0xfff == SCS && !acts { self.read_scs(offset) } else { 0 };
        let word = size.merged(before, addr, value);
        match addr & !0xfff {
            ITM => self.trace.write_itm(offset, word),
            DWT => self.trace.write_dwt(offset, word, cycles),
            TPIU => self.trace.write_tpiu(offset, word),
            SCS => return Ok(self.write_scs(offset, word, cycles)),
            _ => {}
        }
        Ok(Outcome::Done)
    }

    fn check(&self, addr: u32, size: AccessSize, write: bool) -> Result<(), Abort> {
        let refused = |status| Err(Abort { va: addr, status, write, domain: 0, bus: None });
        let may = self.is_privileged() || self.scb.ccr_has(CCR_USERSETMPEND) && write && addr & !3 == SCS + 0xf00;
        match addr & !0xfff {
            _ if !addr.is_multiple_of(size.bytes()) => refused(FaultStatus::Alignment),
            _ if !may => refused(FaultStatus::Unprivileged),
            ITM | DWT | FPB | SCS | TPIU | ETM | ROM_TABLE => Ok(()),
            _ => refused(FaultStatus::External),
        }
    }

    // ---- System control space

    fn read_scs(&self, offset: u32) -> u32 {
        let nvic = &self.nvic;
        match offset {
            // ICTR, ACTLR.
            0x004 => self.config.interrupts.saturating_sub(1) / 32,
            0x008 => self.scb.actlr,
            0x100..=0x11c | 0x180..=0x19c => nvic.words(8 * (offset & 0x1f))[0],
            0x200..=0x21c | 0x280..=0x29c => nvic.words(8 * (offset & 0x1f))[1],
            0x300..=0x31c => nvic.words(8 * (offset & 0x1f))[2],
            0x400..=0x4ec => self.priorities(u32::from(number::EXTERNAL) + offset - 0x400),
            0xd04 => self.icsr(),
            0xd08 => self.scb.vtor,
            0xd0c => VECTKEYSTAT << 16 | u32::from(nvic.grouping.0) << 8,
            0xd10 => self.scb.scr,
            0xd14 => self.scb.ccr,
            0xd18..=0xd20 => self.priorities(4 + offset - 0xd18),
            0xd24 => shcsr(nvic),
            0xd28 => self.scb.cfsr,
            0xd2c => self.scb.hfsr,
            0xd30 => self.scb.dfsr,
            0xd34 | 0xd38 => self.scb.fault_address,
            0xdfc => self.trace.demcr,
            _ => {
                let identity = identification(offset, self.config.features.vfp);
                identity.or_else(|| self.mpu.read(offset)).or_else(|| self.read_floating(offset)).unwrap_or(0)
            }
        }
    }

    fn write_scs(&mut self, offset: u32, value: u32, cycles: u64) -> Outcome {
        let ccr = self.scb.ccr;
        match offset {
            0x008 => self.scb.actlr = value & ACTLR_MASK,
            0x100..=0x11c => self.for_each(offset, value, |system, number| system.nvic.enable(number, true)),
            0x180..=0x19c => self.for_each(offset, value, |system, number| system.nvic.enable(number, false)),
            0x200..=0x21c => self.for_each(offset, value, |system, number| system.nvic.pend(number)),
            0x280..=0x29c => self.for_each(offset, value, |system, number| system.nvic.unpend(number)),
            0x400..=0x4ec => self.set_priorities(u32::from(number::EXTERNAL) + offset - 0x400, value),
            0xd04 => self.write_icsr(value),
            0xd08 => self.scb.vtor = value & VTOR_MASK,
            0xd0c => return self.write_aircr(value),
            0xd10 => self.scb.scr = value & SCR_MASK,
            0xd14 => self.scb.ccr = value & CCR_MASK,
            0xd18..=0xd20 => self.set_priorities(4 + offset - 0xd18, value),
            0xd24 => set_shcsr(&mut self.nvic, value),
            0xd28 => self.scb.cfsr &= !value,
            0xd2c => self.scb.hfsr &= !value,
            0xd30 => self.scb.dfsr &= !value,
            0xd34 | 0xd38 => self.scb.fault_address = value,
            0xdfc => {
                self.trace.set_demcr(value, cycles);
                self.nvic.enable(number::DEBUG_MONITOR, value & DEMCR_MON_EN != 0);
            }
            0xf00 if value & 0x1ff < self.config.interrupts => self.nvic.pend(value as u8 + number::EXTERNAL),
            _ if self.mpu.write(offset, value) => return Outcome::RegionsChanged,
            _ => {
                self.write_floating(offset, value);
            }
        }
        self.changed();
        if self.scb.ccr == ccr { Outcome::Done } else { Outcome::TranslationChanged }
    }

    /// Calls `act` for the external interrupts whose bits are set, in a register of a bank.
    fn for_each(&mut self, offset: u32, bits: u32, act: impl Fn(&mut System, u8)) {
        let first = 8 * (offset & 0x1f) + u32::from(number::EXTERNAL);
        (0..32).filter(|bit| bits >> bit & 1 != 0 && first + bit < 256).for_each(|bit| act(self, (first + bit) as u8));
    }

    /// Priorities of four exceptions.
    fn priorities(&self, first: u32) -> u32 {
        u32::from_le_bytes([0, 1, 2, 3].map(|at| self.nvic.priorities[(first + at).min(255) as usize]))
    }

    fn set_priorities(&mut self, first: u32, value: u32) {
        for (exception, priority) in (first..256).zip(value.to_le_bytes()) {
            self.nvic.set_priority(exception as u8, priority);
        }
    }

    fn icsr(&self) -> u32 {
        let nvic = &self.nvic;
        let pending = |exception: u8, bit: u32| u32::from(nvic.pending.contains(exception)) << bit;
        let others = nvic.active_count() - usize::from(self.in_handler() && nvic.active.contains(self.ipsr as u8));
        pending(number::NMI, 31)
            | pending(number::PEND_SV, 28)
            | pending(number::SYS_TICK, 26)
            | u32::from(nvic.has_pending_external()) << 22
            | u32::from(self.best_unmasked().unwrap_or(0)) << 12
            | u32::from(self.in_handler() && others == 0) << 11
            | u32::from(self.ipsr)
    }

    fn write_icsr(&mut self, value: u32) {
        for (bit, exception) in [(31, number::NMI), (28, number::PEND_SV), (26, number::SYS_TICK)] {
            if value >> bit & 1 != 0 {
                self.nvic.pend(exception);
            }
        }
        for (bit, exception) in [(27, number::PEND_SV), (25, number::SYS_TICK)] {
            if value >> bit & 1 != 0 {
                self.nvic.unpend(exception);
            }
        }
    }

    /// Writes without the key have no effect; VECTCLRACTIVE is only for debuggers.
    fn write_aircr(&mut self, value: u32) -> Outcome {
        if value >> 16 != VECTKEY {
            return Outcome::Done;
        }
        self.nvic.grouping = Grouping((value >> 8 & 7) as u8);
        self.changed();
        let requests = value & (SYSRESETREQ | VECTRESET) & !VECTCLRACTIVE;
        if requests != 0 { Outcome::Reset } else { Outcome::Done }
    }
}

//! The CPU interface: the interrupts that it signals, and those that it serves (IHI, chapter 4.4).

use super::Candidate;
use crate::prelude::*;

registers! {
    /// The register map. The minimum values of BPR and ABPR are for 32 priorities (TRM, table 8.9).
    const MAP "GICC_" {
        /// ACK_CTL: reads of IAR acknowledge interrupts of group 1, too. FIQ_EN: group 0 is signalled as FIQ. CBPR: BPR
        /// applies to both groups. EOI_MODE: EOIR only drops the priority, and DIR deactivates; for secure accesses,
        /// which all accesses of the model are.
        CTLR 0x00 rw mask 0x7ff { ENABLE_GRP0 0, ENABLE_GRP1 1, ACK_CTL 2, FIQ_EN 3, CBPR 4, EOI_MODE 9 };
        PMR 0x04 rw mask 0xf8;
        BPR 0x08 rw reset LEAST_BPR mask 7;
        IAR 0x0c ro volatile;
        EOIR 0x10 wo;
        RPR 0x14 ro volatile;
        HPPIR 0x18 ro volatile;
        ABPR 0x1c rw reset LEAST_ABPR mask 7;
        AIAR 0x20 ro volatile;
        AEOIR 0x24 wo;
        AHPPIR 0x28 ro volatile;
        /// Group priorities of the interrupts of group 0 that are served: bit n is priority 8 * n.
        APR0 0xd0 rw;
        /// Likewise of group 1.
        NSAPR0 0xe0 rw;
        /// Version 2, revision 1.
        IIDR 0xfc ro reset 0x0102_143b;
        DIR 0x1000 wo;
    }
}

const LEAST_BPR: u32 = 2;
const LEAST_ABPR: u32 = 3;
/// Numbers that are read if the interrupt is in the other group, or if no interrupt is pending.
const OTHER_GROUP: u32 = 1022;
const SPURIOUS: u32 = 1023;
const IDLE_PRIORITY: u32 = 0xff;

/// The interface.
#[derive(Clone, Debug, State, Polled)]
pub(super) struct CpuInterface {
    registers: Registers,
}

/// Registers that acknowledge: true for the alias, which is for group 1.
pub(super) const fn acknowledges(word: u32) -> Option<bool> {
    match word {
        IAR => Some(false),
        AIAR => Some(true),
        _ => None,
    }
}

impl CpuInterface {
    /// After reset.
    pub fn new() -> CpuInterface {
        CpuInterface { registers: Registers::new(&MAP) }
    }

    /// Levels of IRQ and FIQ.
    pub fn lines(&self, highest: Option<Candidate>) -> [bool; 2] {
        let fast = |first: Candidate| !first.group1 && self.registers.has(CTLR, CTLR_FIQ_EN);
        match highest.filter(|first| self.signals(*first)) {
            Some(first) => [!fast(first), fast(first)],
            None => [false; 2],
        }
    }

    /// True if the interrupt's group is enabled, and its priority passes the mask and preempts the interrupt that is
    /// served.
    fn signals(&self, first: Candidate) -> bool {
        let enable = if first.group1 { CTLR_ENABLE_GRP1 } else { CTLR_ENABLE_GRP0 };
        self.registers.has(CTLR, enable)
            && u32::from(first.priority) < self.registers[PMR]
            && self.group_priority(first) < self.running_priority()
    }

    /// The bits of a priority that decide on preemption.
    fn group_priority(&self, first: Candidate) -> u32 {
        // Group 1's binary point is one higher for the same bits.
        let is_own = first.group1 && !self.registers.has(CTLR, CTLR_CBPR);
        let subpriority = if is_own { self.registers[ABPR] } else { self.registers[BPR] + 1 };
        u32::from(first.priority) & !((1 << subpriority) - 1)
    }

    /// Group priorities that are served, of both groups.
    fn served(&self) -> u32 {
        self.registers[APR0] | self.registers[NSAPR0]
    }

    fn running_priority(&self) -> u32 {
        if self.served() == 0 { IDLE_PRIORITY } else { 8 * self.served().trailing_zeros() }
    }

    /// A read of IAR or its alias: the interrupt to serve, or as an error the special number that is read instead.
    pub fn acknowledge(&mut self, highest: Option<Candidate>, aliased: bool) -> Result<u32, u32> {
        let first = highest.filter(|first| self.signals(*first)).ok_or(SPURIOUS)?;
        if let Some(special) = self.hidden(first, aliased) {
            return Err(special);
        }
        let served = if first.group1 { NSAPR0 } else { APR0 };
        self.registers.put(served, 1 << (self.group_priority(first) / 8), true);
        Ok(first.id)
    }

    /// The special number that is read for an interrupt of the group that the register does not report.
    fn hidden(&self, first: Candidate, aliased: bool) -> Option<u32> {
        match (first.group1, aliased) {
            (false, true) => Some(SPURIOUS),
            (true, false) if !self.registers.has(CTLR, CTLR_ACK_CTL) => Some(OTHER_GROUP),
            _ => None,
        }
    }

    /// The value of a register whose read has no effect; `as_read` is the value of acknowledge registers for the
    /// highest pending interrupt.
    pub fn register(&self, word: u32, highest: Option<Candidate>, as_read: u32) -> u32 {
        match word {
            RPR => self.running_priority(),
            HPPIR | AHPPIR => highest.map_or(SPURIOUS, |first| self.hidden(first, word == AHPPIR).unwrap_or(as_read)),
            _ => self.registers.held(word),
        }
    }

    /// Writes a register. Returns the interrupt to deactivate, if any.
    pub fn write(&mut self, word: u32, value: u32) -> Option<u32> {
        let (row, _, new) = self.registers.write(word, value).ok()?;
        let id = new & 0x3ff;
        match row.offset {
            BPR => self.registers.set(BPR, new.max(LEAST_BPR)),
            ABPR => self.registers.set(ABPR, new.max(LEAST_ABPR)),
            EOIR | AEOIR if id < 1020 => {
                self.drop_priority();
                return (!self.registers.has(CTLR, CTLR_EOI_MODE)).then_some(id);
            }
            DIR => return Some(id),
            _ => {}
        }
        None
    }

    /// Ends the highest priority that is served.
    fn drop_priority(&mut self) {
        let bit = self.served() & self.served().wrapping_neg();
        let group = if self.registers.has(APR0, bit) { APR0 } else { NSAPR0 };
        self.registers.put(group, bit, false);
    }
}

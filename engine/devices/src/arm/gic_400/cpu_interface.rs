//! The CPU interface: the interrupts that it signals, and those that it serves (IHI, chapter 4.4).

use super::{Candidate, PRIORITY_MASK};
use engine::state::State;

const CTLR: u32 = 0x00;
const PMR: u32 = 0x04;
const BPR: u32 = 0x08;
const IAR: u32 = 0x0c;
const EOIR: u32 = 0x10;
const RPR: u32 = 0x14;
const HPPIR: u32 = 0x18;
const ABPR: u32 = 0x1c;
const AIAR: u32 = 0x20;
const AEOIR: u32 = 0x24;
const AHPPIR: u32 = 0x28;
const APR0: u32 = 0xd0;
const NSAPR0: u32 = 0xe0;
const IIDR: u32 = 0xfc;
const DIR: u32 = 0x1000;

const CTLR_ENABLE_GRP0: u32 = 1 << 0;
const CTLR_ENABLE_GRP1: u32 = 1 << 1;
/// Reads of IAR acknowledge interrupts of group 1, too.
const CTLR_ACK_CTL: u32 = 1 << 2;
/// Group 0 is signalled as FIQ.
const CTLR_FIQ_EN: u32 = 1 << 3;
/// BPR applies to both groups.
const CTLR_CBPR: u32 = 1 << 4;
/// EOIR only drops the priority; DIR deactivates. For secure accesses, which all accesses of the model are.
const CTLR_EOI_MODE: u32 = 1 << 9;
const CTLR_MASK: u32 = 0x7ff;
/// Version 2, revision 1.
const IIDR_VALUE: u32 = 0x0102_143b;
/// Minimum values of BPR and ABPR: 32 priorities (TRM, table 8.9).
const LEAST_BPR: u32 = 2;
const LEAST_ABPR: u32 = 3;
/// Numbers that are read if the interrupt is in the other group, or if no interrupt is pending.
const OTHER_GROUP: u32 = 1022;
const SPURIOUS: u32 = 1023;
const IDLE_PRIORITY: u32 = 0xff;

/// The interface.
#[derive(Clone, Debug, State)]
pub(super) struct CpuInterface {
    ctlr: u32,
    pmr: u32,
    bpr: u32,
    abpr: u32,
    /// Group priorities of the interrupts that are served, for each group: bit n is priority 8 * n.
    served: [u32; 2],
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
    pub const fn new() -> CpuInterface {
        CpuInterface { ctlr: 0, pmr: 0, bpr: LEAST_BPR, abpr: LEAST_ABPR, served: [0; 2] }
    }

    /// Levels of IRQ and FIQ.
    pub fn lines(&self, highest: Option<Candidate>) -> [bool; 2] {
        let fast = |first: Candidate| !first.group1 && self.ctlr & CTLR_FIQ_EN != 0;
        match highest.filter(|first| self.signals(*first)) {
            Some(first) => [!fast(first), fast(first)],
            None => [false; 2],
        }
    }

    /// True if the interrupt's group is enabled, and its priority passes the mask and preempts the interrupt that is
    /// served.
    fn signals(&self, first: Candidate) -> bool {
        let enable = if first.group1 { CTLR_ENABLE_GRP1 } else { CTLR_ENABLE_GRP0 };
        self.ctlr & enable != 0
            && u32::from(first.priority) < self.pmr
            && self.group_priority(first) < self.running_priority()
    }

    /// The bits of a priority that decide on preemption.
    fn group_priority(&self, first: Candidate) -> u32 {
        // Group 1's binary point is one higher for the same bits.
        let subpriority = if first.group1 && self.ctlr & CTLR_CBPR == 0 { self.abpr } else { self.bpr + 1 };
        u32::from(first.priority) & !((1 << subpriority) - 1)
    }

    fn running_priority(&self) -> u32 {
        let served = self.served[0] | self.served[1];
        if served == 0 { IDLE_PRIORITY } else { 8 * served.trailing_zeros() }
    }

    /// A read of IAR or its alias: the interrupt to serve, or as an error the special number that is read instead.
    pub fn acknowledge(&mut self, highest: Option<Candidate>, aliased: bool) -> Result<u32, u32> {
        let first = highest.filter(|first| self.signals(*first)).ok_or(SPURIOUS)?;
        if let Some(special) = self.hidden(first, aliased) {
            return Err(special);
        }
        self.served[usize::from(first.group1)] |= 1 << (self.group_priority(first) / 8);
        Ok(first.id)
    }

    /// The special number that is read for an interrupt of the group that the register does not report.
    fn hidden(&self, first: Candidate, aliased: bool) -> Option<u32> {
        match (first.group1, aliased) {
            (false, true) => Some(SPURIOUS),
            (true, false) if self.ctlr & CTLR_ACK_CTL == 0 => Some(OTHER_GROUP),
            _ => None,
        }
    }

    /// The value of a register whose read has no effect; `as_read` is the value of acknowledge registers for the
    /// highest pending interrupt.
    pub fn register(&self, word: u32, highest: Option<Candidate>, as_read: u32) -> u32 {
        match word {
            CTLR => self.ctlr,
            PMR => self.pmr,
            BPR => self.bpr,
            RPR => self.running_priority(),
            HPPIR | AHPPIR => highest.map_or(SPURIOUS, |first| self.hidden(first, word == AHPPIR).unwrap_or(as_read)),
            ABPR => self.abpr,
            APR0 => self.served[0],
            NSAPR0 => self.served[1],
            IIDR => IIDR_VALUE,
            _ => 0,
        }
    }

    /// Writes a register. Returns the interrupt to deactivate, if any.
    pub fn set_register(&mut self, word: u32, value: u32) -> Option<u32> {
        let id = value & 0x3ff;
        match word {
            CTLR => self.ctlr = value & CTLR_MASK,
            PMR => self.pmr = value & u32::from(PRIORITY_MASK),
            BPR => self.bpr = (value & 7).max(LEAST_BPR),
            ABPR => self.abpr = (value & 7).max(LEAST_ABPR),
            APR0 => self.served[0] = value,
            NSAPR0 => self.served[1] = value,
            EOIR | AEOIR if id < 1020 => {
                self.drop_priority();
                return (self.ctlr & CTLR_EOI_MODE == 0).then_some(id);
            }
            DIR => return Some(id),
            _ => {}
        }
        None
    }

    /// Ends the highest priority that is served.
    fn drop_priority(&mut self) {
        let served = self.served[0] | self.served[1];
        let bit = served & served.wrapping_neg();
        let group = usize::from(self.served[0] & bit == 0);
        self.served[group] &= !bit;
    }
}

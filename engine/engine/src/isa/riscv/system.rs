//! Control and status registers of machine mode (privileged specification, chapters 2 and 3).

use super::exceptions::{PLATFORM_INTERRUPTS, PRIORITY};

use crate::state::State;

/// mstatus.MIE: interrupts are taken.
const MSTATUS_MIE: u32 = 1 << 3;
/// mstatus.MPIE: MIE before the last trap.
const MSTATUS_MPIE: u32 = 1 << 7;
/// mstatus.MPP: mode before the last trap; machine mode is the only one.
const MSTATUS_MPP_MACHINE: u32 = 3 << 11;
/// RV32 with I, M and C.
const MISA_RV32IMC: u32 = 1 << 30 | 1 << 2 | 1 << 8 | 1 << 12;
/// mcountinhibit.CY and IR.
const COUNTINHIBIT_MASK: u32 = 1 << 0 | 1 << 2;
/// mcause.Interrupt.
const MCAUSE_INTERRUPT: u32 = 1 << 31;

/// A counter of the core in software's view: it can be written, and stopped.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State)]
struct Counter {
    /// Difference to the core's own count.
    offset: u64,
    /// Its value while stopped.
    stopped_at: Option<u64>,
}

impl Counter {
    fn value(&self, count: u64) -> u64 {
        self.stopped_at.unwrap_or_else(|| count.wrapping_add(self.offset))
    }

    fn set(&mut self, value: u64, count: u64) {
        match &mut self.stopped_at {
            Some(stopped_at) => *stopped_at = value,
            None => self.offset = value.wrapping_sub(count),
        }
    }

    fn set_stopped(&mut self, stop: bool, count: u64) {
        let value = self.value(count);
        self.stopped_at = stop.then_some(value);
        self.set(value, count);
    }
}

/// The core's state at the moment of an access, on which CSRs depend.
#[derive(Clone, Copy, Debug)]
pub struct CsrContext {
    /// Cycles since reset, up to this instruction.
    pub cycles: u64,
    /// Instructions since reset, without this one.
    pub instructions: u64,
    /// Interrupt lines that are high.
    pub pending: u32,
}

/// The CSR file.
#[derive(Clone, Debug, Default, PartialEq, Eq, State)]
pub struct Csrs {
    mstatus: u32,
    mie: u32,
    mtvec: u32,
    mscratch: u32,
    mepc: u32,
    mcause: u32,
    mtval: u32,
    mcountinhibit: u32,
    #[state(skip)]
    hart_id: u32,
    /// The bits of mip and mie that exist.
    #[state(skip)]
    interrupts: u32,
    mcycle: Counter,
    minstret: Counter,
    /// Software has written mtvec: before that, a trap has no handler.
    pub(super) has_handler: bool,
}

impl Csrs {
    /// The CSRs of hart `hart_id` after reset, with these implemented bits of mip and mie.
    pub fn new(hart_id: u32, interrupts: u32) -> Csrs {
        Csrs { hart_id, interrupts, ..Csrs::default() }
    }

    /// Reads a CSR; `None` if it does not exist.
    pub fn read(&self, number: u32, context: CsrContext) -> Option<u32> {
        let cycles = self.mcycle.value(context.cycles);
        let instructions = self.minstret.value(context.instructions);
        Some(match number {
            0x300 => self.mstatus | MSTATUS_MPP_MACHINE,
            0x301 => MISA_RV32IMC,
            0x304 => self.mie,
            0x305 => self.mtvec,
            0x310 => 0,
            0x320 => self.mcountinhibit,
            0x340 => self.mscratch,
            0x341 => self.mepc,
            0x342 => self.mcause,
            0x343 => self.mtval,
            0x344 => context.pending & self.interrupts,
            0xb00 | 0xc00 => cycles as u32,
            0xb80 | 0xc80 => (cycles >> 32) as u32,
            0xb02 | 0xc02 => instructions as u32,
            0xb82 | 0xc82 => (instructions >> 32) as u32,
            // Event counters and selectors, which do not count.
            0x323..=0x33f | 0xb03..=0xb1f | 0xb83..=0xb9f => 0,
            0xf11..=0xf13 | 0xf15 => 0,
            0xf14 => self.hart_id,
            _ => return None,
        })
    }

    /// Writes a CSR; `None` if it does not exist or is read-only.
    pub fn write(&mut self, number: u32, value: u32, context: CsrContext) -> Option<()> {
        let (cycles, instructions) = (context.cycles, context.instructions);
        match number {
            0x300 => self.mstatus = value & (MSTATUS_MIE | MSTATUS_MPIE),
            0x301 | 0x310 => {}
            0x304 => self.mie = value & self.interrupts,
            0x305 => {
                self.mtvec = value & !2;
                self.has_handler = true;
            }
            0x320 => self.inhibit(value & COUNTINHIBIT_MASK, context),
            0x340 => self.mscratch = value,
            0x341 => self.mepc = value & !1,
            0x342 => self.mcause = value,
            0x343 => self.mtval = value,
            // All of mip's bits are lines from devices.
            0x344 => {}
            0xb00 => self.mcycle.set(with_low(self.mcycle.value(cycles), value), cycles),
            0xb80 => self.mcycle.set(with_high(self.mcycle.value(cycles), value), cycles),
            // The write takes effect instead of the count of this instruction (section 3.1.11).
            0xb02 => self.minstret.set(with_low(self.minstret.value(instructions), value), instructions + 1),
            0xb82 => self.minstret.set(with_high(self.minstret.value(instructions), value), instructions + 1),
            0x323..=0x33f | 0xb03..=0xb1f | 0xb83..=0xb9f => {}
            _ => return None,
        }
        Some(())
    }

    /// The interrupt to take now, by its code in mcause, if one is pending and enabled, and interrupts are enabled.
    pub fn deliverable(&self, pending: u32) -> Option<u32> {
        let wanted = pending & self.mie;
        if self.mstatus & MSTATUS_MIE == 0 || wanted == 0 {
            return None;
        }
        let platform = wanted & PLATFORM_INTERRUPTS;
        if platform != 0 {
            return Some(platform.trailing_zeros());
        }
        PRIORITY.into_iter().map(|interrupt| interrupt as u32).find(|code| wanted & 1 << code != 0)
    }

    /// True if a pending interrupt ends a wfi: the global enable does not matter (section 3.3.3).
    pub fn wakes(&self, pending: u32) -> bool {
        pending & self.mie != 0
    }

    /// The first interrupt that is pending and not enabled, for the user.
    pub fn held_back(&self, pending: u32) -> Option<String> {
        let code = (pending & !self.mie).checked_ilog2()?;
        Some(format!("interrupt {code} is pending, but not enabled in mie"))
    }

    /// Enters a trap from `pc`: returns the handler's address.
    pub fn enter_trap(&mut self, pc: u32, cause: u32, value: u32, interrupt: bool) -> u32 {
        let previous = (self.mstatus & MSTATUS_MIE) << 4;
        self.mstatus = previous;
        self.mepc = pc & !1;
        self.mcause = if interrupt { MCAUSE_INTERRUPT | cause } else { cause };
        self.mtval = value;
        let vectored = interrupt && self.mtvec & 1 == 1;
        (self.mtvec & !3).wrapping_add(if vectored { 4 * cause } else { 0 })
    }

    /// mret: returns the address at which to continue.
    pub fn leave_trap(&mut self) -> u32 {
        self.mstatus = (self.mstatus & MSTATUS_MPIE) >> 4 | MSTATUS_MPIE;
        self.mepc
    }

    fn inhibit(&mut self, value: u32, context: CsrContext) {
        self.mcountinhibit = value;
        self.mcycle.set_stopped(value & 1 != 0, context.cycles);
        self.minstret.set_stopped(value & 4 != 0, context.instructions);
    }
}

fn with_low(old: u64, low: u32) -> u64 {
    old & !0xffff_ffff | u64::from(low)
}

fn with_high(old: u64, high: u32) -> u64 {
    old & 0xffff_ffff | u64::from(high) << 32
}

#[cfg(test)]
mod tests {
    use super::super::exceptions::MACHINE_INTERRUPTS;
    use super::*;

    const AT: CsrContext = CsrContext { cycles: 1000, instructions: 100, pending: 0 };

    #[test]
    fn counters_can_be_written_and_stopped() {
        let mut csrs = Csrs::new(0, MACHINE_INTERRUPTS);
        assert_eq!(csrs.read(0xb00, AT), Some(1000));
        csrs.write(0xb00, 5, AT).unwrap();
        assert_eq!(csrs.read(0xb00, CsrContext { cycles: 1010, ..AT }), Some(15));
        csrs.write(0x320, 1, CsrContext { cycles: 1010, ..AT }).unwrap();
        assert_eq!(csrs.read(0xb00, CsrContext { cycles: 5000, ..AT }), Some(15));
        csrs.write(0x320, 0, CsrContext { cycles: 5000, ..AT }).unwrap();
        assert_eq!(csrs.read(0xb00, CsrContext { cycles: 5001, ..AT }), Some(16));
        assert_eq!(csrs.read(0xc02, AT), Some(100));
    }

    #[test]
    fn a_trap_saves_and_mret_restores_the_interrupt_enable() {
        let mut csrs = Csrs::new(0, MACHINE_INTERRUPTS);
        csrs.write(0x300, MSTATUS_MIE, AT).unwrap();
        csrs.write(0x304, u32::MAX, AT).unwrap();
        csrs.write(0x305, 0x101, AT).unwrap();
        assert_eq!(csrs.deliverable(1 << 7 | 1 << 3), Some(3));
        assert_eq!(csrs.enter_trap(0x80, 7, 0, true), 0x100 + 28);
        assert_eq!(csrs.deliverable(u32::MAX), None);
        assert!(csrs.wakes(1 << 11));
        assert_eq!(csrs.leave_trap(), 0x80);
        assert_eq!(csrs.deliverable(u32::MAX), Some(11));
    }

    #[test]
    fn platform_interrupts_come_first_and_the_lowest_number_of_them() {
        let mut csrs = Csrs::new(0, MACHINE_INTERRUPTS | PLATFORM_INTERRUPTS);
        csrs.write(0x300, MSTATUS_MIE, AT).unwrap();
        csrs.write(0x304, u32::MAX, AT).unwrap();
        assert_eq!(csrs.read(0x304, AT), Some(0xffff_0888));
        assert_eq!(csrs.deliverable(1 << 31 | 1 << 17 | 1 << 11), Some(17));
        csrs.write(0x304, 1 << 31, AT).unwrap();
        assert_eq!(csrs.deliverable(u32::MAX), Some(31));
        assert_eq!(csrs.read(0x344, CsrContext { pending: 1 << 20 | 1 << 12, ..AT }), Some(1 << 20));
    }

    #[test]
    fn interrupts_that_a_core_does_not_have_are_never_seen() {
        let mut csrs = Csrs::new(0, MACHINE_INTERRUPTS);
        csrs.write(0x300, MSTATUS_MIE, AT).unwrap();
        csrs.write(0x304, u32::MAX, AT).unwrap();
        assert_eq!(csrs.deliverable(PLATFORM_INTERRUPTS), None);
        assert!(!csrs.wakes(PLATFORM_INTERRUPTS));
        assert_eq!(csrs.read(0x344, CsrContext { pending: u32::MAX, ..AT }), Some(MACHINE_INTERRUPTS));
    }

    #[test]
    fn csrs_that_are_not_there_are_refused() {
        let mut csrs = Csrs::new(3, MACHINE_INTERRUPTS);
        assert_eq!(csrs.read(0x180, AT), None);
        assert_eq!(csrs.write(0xf14, 1, AT), None);
        assert_eq!(csrs.write(0xc00, 1, AT), None);
        assert_eq!(csrs.read(0xf14, AT), Some(3));
    }
}

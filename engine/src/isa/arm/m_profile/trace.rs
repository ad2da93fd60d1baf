//! Debug and trace: DEMCR, the cycle counter of the data watchpoint unit, and the instrumentation macrocell (ARM, C1.6
//! to C1.8).
//!
//! There are no comparators and no profiling counters, which DWT_CTRL says. What is written to stimulus ports goes
//! nowhere.

/// DEMCR.
pub(super) const DEMCR_TRCENA: u32 = 1 << 24;
pub(super) const DEMCR_MON_EN: u32 = 1 << 16;
/// Those, MON_PEND, MON_STEP, MON_REQ, and the vector catches, which need a debugger.
const DEMCR_MASK: u32 = 0x010f_07f1;

/// DWT_CTRL: NOTRCPKT, NOEXTTRIG, NOPRFCNT; no comparators.
const DWT_CTRL_FIXED: u32 = 0x0d00_0000;
const DWT_CTRL_CYCCNTENA: u32 = 1 << 0;

/// Registers of the three units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Trace {
    pub demcr: u32,
    dwt_ctrl: u32,
    /// CYCCNT less the core's cycles, while it counts; else CYCCNT.
    cyccnt: u32,
    itm_enabled: u32,
    itm_privilege: u32,
    itm_control: u32,
}

impl Trace {
    fn counts(&self) -> bool {
        self.demcr & DEMCR_TRCENA != 0 && self.dwt_ctrl & DWT_CTRL_CYCCNTENA != 0
    }

    fn read_cyccnt(&self, cycles: u64) -> u32 {
        if self.counts() { self.cyccnt.wrapping_add(cycles as u32) } else { self.cyccnt }
    }

    fn set_cyccnt(&mut self, value: u32, cycles: u64) {
        self.cyccnt = if self.counts() { value.wrapping_sub(cycles as u32) } else { value };
    }

    /// Calls `change`, which may start or stop the counter.
    fn keep_cyccnt(&mut self, cycles: u64, change: impl FnOnce(&mut Trace)) {
        let value = self.read_cyccnt(cycles);
        change(self);
        self.set_cyccnt(value, cycles);
    }

    pub fn set_demcr(&mut self, value: u32, cycles: u64) {
        self.keep_cyccnt(cycles, |trace| trace.demcr = value & DEMCR_MASK);
    }

    /// The watchpoint unit's register at `offset`, in core cycle `cycles`.
    pub fn read_dwt(&self, offset: u32, cycles: u64) -> u32 {
        match offset {
            0x0 => DWT_CTRL_FIXED | self.dwt_ctrl,
            0x4 => self.read_cyccnt(cycles),
            _ => 0,
        }
    }

    pub fn write_dwt(&mut self, offset: u32, value: u32, cycles: u64) {
        match offset {
            0x0 => self.keep_cyccnt(cycles, |trace| trace.dwt_ctrl = value & DWT_CTRL_CYCCNTENA),
            0x4 => self.set_cyccnt(value, cycles),
            _ => {}
        }
    }

    /// The instrumentation macrocell's: stimulus ports always take what is written.
    pub fn read_itm(&self, offset: u32) -> u32 {
        match offset {
            0x0..=0x7f => 1,
            0xe00 => self.itm_enabled,
            0xe40 => self.itm_privilege,
            0xe80 => self.itm_control,
            _ => 0,
        }
    }

    pub fn write_itm(&mut self, offset: u32, value: u32) {
        match offset {
            0xe00 => self.itm_enabled = value,
            0xe40 => self.itm_privilege = value & 15,
            0xe80 => self.itm_control = value & 0x7f_0f1f,
            _ => {}
        }
    }
}

//! Debug and trace: DEMCR, the cycle counter and the comparators of the data watchpoint unit, the instrumentation
//! macrocell and the trace port (ARM, C1.6 to C1.10).
//!
//! The comparators are registers only: they match nothing. There are no profiling counters, which DWT_CTRL says. What
//! is written to stimulus ports goes nowhere, unless the board has a macrocell (`arm,armv7m-itm`).

/// DEMCR.
pub(super) const DEMCR_TRCENA: u32 = 1 << 24;
pub(super) const DEMCR_MON_EN: u32 = 1 << 16;
/// Those, MON_PEND, MON_STEP, MON_REQ, and the vector catches, which need a debugger.
const DEMCR_MASK: u32 = 0x010f_07f1;

/// DWT_CTRL: four comparators (TRM, 8.2); NOTRCPKT, NOEXTTRIG, NOPRFCNT.
const DWT_CTRL_FIXED: u32 = 0x4d00_0000;
/// The comparators' registers begin here, each 16 bytes behind the last: DWT_COMPn, DWT_MASKn, DWT_FUNCTIONn.
const COMPARATORS: u32 = 0x20;
const COMPARATOR_BYTES: u32 = 16;
/// DWT_MASKn: up to 32 KiB (TRM, table 8-1). DWT_FUNCTIONn: FUNCTION, EMITRANGE, DATAVSIZE, DATAVADDR0, DATAVADDR1;
/// CYCMATCH of the first, DATAVMATCH of the second.
const MASK_MASK: u32 = 0xf;
const FUNCTION_MASKS: [u32; 4] = [0x000f_fcaf, 0x000f_fd2f, 0x000f_fc2f, 0x000f_fc2f];
/// DWT_FUNCTION1.LNK1ENA: it can be linked to another.
const FUNCTION_FIXED: [u32; 4] = [0, 1 << 9, 0, 0];
/// TPIU_SSPSR: ports of 1 to 4 bits. TPIU_FFSR: no stopping of the formatter.
const TPIU_SSPSR: u32 = 0xf;
const TPIU_FFSR: u32 = 1 << 3;
const DWT_CTRL_CYCCNTENA: u32 = 1 << 0;

/// Registers of the three units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Trace {
    pub demcr: u32,
    dwt_ctrl: u32,
    /// CYCCNT less the core's cycles, while it counts; else CYCCNT.
    cyccnt: u32,
    /// DWT_COMPn, DWT_MASKn, DWT_FUNCTIONn.
    comparators: [[u32; 3]; 4],
    /// TPIU_CSPSR, TPIU_ACPR, TPIU_SPPR, TPIU_FFCR, as they differ from their resets.
    port: [u32; 4],
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
            _ => comparator(offset).map_or(0, |(number, register)| {
                self.comparators[number][register] | if register == 2 { FUNCTION_FIXED[number] } else { 0 }
            }),
        }
    }

    pub fn write_dwt(&mut self, offset: u32, value: u32, cycles: u64) {
        match offset {
            0x0 => self.keep_cyccnt(cycles, |trace| trace.dwt_ctrl = value & DWT_CTRL_CYCCNTENA),
            0x4 => self.set_cyccnt(value, cycles),
            _ => {
                if let Some((number, register)) = comparator(offset) {
                    let mask = [u32::MAX, MASK_MASK, FUNCTION_MASKS[number]][register];
                    self.comparators[number][register] = value & mask;
                }
            }
        }
    }

    /// The trace port's register at `offset`.
    pub fn read_tpiu(&self, offset: u32) -> u32 {
        match offset {
            0x000 => TPIU_SSPSR,
            0x300 => TPIU_FFSR,
            _ => port_register(offset).map_or(0, |(place, reset, _)| self.port[place] ^ reset),
        }
    }

    pub fn write_tpiu(&mut self, offset: u32, value: u32) {
        if let Some((place, reset, mask)) = port_register(offset) {
            self.port[place] = value & mask ^ reset;
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

/// A comparator by the offset of one of its registers, and which of them that is.
fn comparator(offset: u32) -> Option<(usize, usize)> {
    let within = offset.checked_sub(COMPARATORS)?;
    let (number, register) = (within / COMPARATOR_BYTES, within % COMPARATOR_BYTES / 4);
    (number < 4 && register < 3).then_some((number as usize, register as usize))
}

/// A register of the trace port that keeps what is written: its place, reset and bits (ARM, C1.10).
fn port_register(offset: u32) -> Option<(usize, u32, u32)> {
    Some(match offset {
        0x004 => (0, 1, 0xf),
        0x010 => (1, 0, 0x1fff),
        0x0f0 => (2, 1, 3),
        0x304 => (3, 0x102, 0x103),
        _ => return None,
    })
}

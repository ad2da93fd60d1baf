//! Debug and trace: DEMCR, the cycle counter and the comparators of the data watchpoint unit, the instrumentation
//! macrocell and the trace port (ARM, C1.6 to C1.10).
//!
//! The comparators are only registers: they match nothing. An event counter counts while its enable bit in DWT_CTRL and
//! DEMCR.TRCENA are set, and restarts at 0 with the former; its overflow makes no packet. Data written to stimulus
//! ports is dropped, unless the board has a macrocell (`arm,armv7m-itm`).

use crate::state::State;

/// DEMCR.
pub(super) const DEMCR_TRCENA: u32 = 1 << 24;
pub(super) const DEMCR_MON_EN: u32 = 1 << 16;
/// TRCENA, MON_PEND, MON_STEP, MON_REQ, and the vector catches, which need a debugger.
const DEMCR_MASK: u32 = 0x010f_07f1;

/// DWT_CTRL: four comparators (TRM, 8.2); NOTRCPKT, NOEXTTRIG.
const DWT_CTRL_FIXED: u32 = 0x4c00_0000;
/// The comparators' registers start here, 16 bytes each: DWT_COMPn, DWT_MASKn, DWT_FUNCTIONn.
const COMPARATORS: u32 = 0x20;
const COMPARATOR_BYTES: u32 = 16;
/// DWT_MASKn: up to 32 KiB (TRM, table 8-1). DWT_FUNCTIONn: FUNCTION, EMITRANGE, DATAVSIZE, DATAVADDR0, DATAVADDR1;
/// CYCMATCH of the first, DATAVMATCH of the second.
const MASK_MASK: u32 = 0xf;
const FUNCTION_MASKS: [u32; 4] = [0x000f_fcaf, 0x000f_fd2f, 0x000f_fc2f, 0x000f_fc2f];
/// DWT_FUNCTION1.LNK1ENA: it can be linked to another.
const FUNCTION_FIXED: [u32; 4] = [0, 1 << 9, 0, 0];
/// TPIU_SSPSR: ports of 1 to 4 bits. TPIU_FFSR: the formatter does not stop.
const TPIU_SSPSR: u32 = 0xf;
const TPIU_FFSR: u32 = 1 << 3;
const DWT_CTRL_CYCCNTENA: u32 = 1 << 0;
/// CPIEVTENA, EXCEVTENA, SLEEPEVTENA, LSUEVTENA, FOLDEVTENA, in the order of the counters.
const DWT_CTRL_EVENTS: u32 = 17;
const EVENT_COUNTERS: usize = 5;
const DWT_CTRL_MASK: u32 = DWT_CTRL_CYCCNTENA | 0x1f << DWT_CTRL_EVENTS;
/// DWT_CPICNT, the first of the event counters, which have 8 bits.
const CPICNT: u32 = 0x8;
const EVENT_MASK: u32 = 0xff;

/// Counts of the events of the event counters, since the core's reset.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State)]
pub struct Events {
    /// Further cycles of instructions other than loads and stores, and waits for fetches.
    pub cpi: u64,
    /// Cycles of exception entry and return.
    pub exceptions: u64,
    /// Cycles asleep.
    pub sleep: u64,
    /// Further cycles of loads and stores.
    pub load_store: u64,
    /// Instructions that took no cycle.
    pub folded: u64,
}

impl Events {
    fn in_order(self) -> [u32; EVENT_COUNTERS] {
        [self.cpi, self.exceptions, self.sleep, self.load_store, self.folded].map(|count| count as u32)
    }
}

/// Registers of the three units.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State)]
pub(super) struct Trace {
    pub demcr: u32,
    dwt_ctrl: u32,
    /// CYCCNT minus the core's cycles, while it counts; else CYCCNT.
    cyccnt: u32,
    /// The counts of events when last updated.
    pub events: Events,
    /// Event counters minus the counts of their events, while they count; else their values.
    counters: [u32; EVENT_COUNTERS],
    /// DWT_COMPn, DWT_MASKn, DWT_FUNCTIONn.
    comparators: [[u32; 3]; 4],
    /// TPIU_CSPSR, TPIU_ACPR, TPIU_SPPR, TPIU_FFCR, as XOR with their reset values.
    port: [u32; 4],
    itm_enabled: u32,
    itm_privilege: u32,
    itm_control: u32,
}

impl Trace {
    fn counts(&self) -> bool {
        self.demcr & DEMCR_TRCENA != 0 && self.dwt_ctrl & DWT_CTRL_CYCCNTENA != 0
    }

    /// True if an event counter is counting.
    fn counts_event(&self, number: usize) -> bool {
        self.demcr & DEMCR_TRCENA != 0 && self.dwt_ctrl >> (DWT_CTRL_EVENTS as usize + number) & 1 != 0
    }

    fn event_count(&self, number: usize) -> u32 {
        let counted = if self.counts_event(number) { self.events.in_order()[number] } else { 0 };
        self.counters[number].wrapping_add(counted) & EVENT_MASK
    }

    fn set_event_count(&mut self, number: usize, value: u32) {
        let counted = if self.counts_event(number) { self.events.in_order()[number] } else { 0 };
        self.counters[number] = value.wrapping_sub(counted);
    }

    fn read_cyccnt(&self, cycles: u64) -> u32 {
        if self.counts() { self.cyccnt.wrapping_add(cycles as u32) } else { self.cyccnt }
    }

    fn set_cyccnt(&mut self, value: u32, cycles: u64) {
        self.cyccnt = if self.counts() { value.wrapping_sub(cycles as u32) } else { value };
    }

    /// Calls `change`, which may start or stop counters.
    fn keep_counters(&mut self, cycles: u64, change: impl FnOnce(&mut Trace)) {
        let (value, before) = (self.read_cyccnt(cycles), self.dwt_ctrl);
        let events: [u32; EVENT_COUNTERS] = std::array::from_fn(|number| self.event_count(number));
        change(self);
        self.set_cyccnt(value, cycles);
        let enabled = (self.dwt_ctrl & !before) >> DWT_CTRL_EVENTS;
        for (number, value) in events.into_iter().enumerate() {
            self.set_event_count(number, if enabled >> number & 1 != 0 { 0 } else { value });
        }
    }

    pub fn set_demcr(&mut self, value: u32, cycles: u64) {
        self.keep_counters(cycles, |trace| trace.demcr = value & DEMCR_MASK);
    }

    /// The watchpoint unit's register at `offset`, in core cycle `cycles`.
    pub fn read_dwt(&self, offset: u32, cycles: u64) -> u32 {
        match offset {
            0x0 => DWT_CTRL_FIXED | self.dwt_ctrl,
            0x4 => self.read_cyccnt(cycles),
            CPICNT..=0x18 => self.event_count((offset - CPICNT) as usize / 4),
            _ => comparator(offset).map_or(0, |(number, register)| {
                self.comparators[number][register] | if register == 2 { FUNCTION_FIXED[number] } else { 0 }
            }),
        }
    }

    pub fn write_dwt(&mut self, offset: u32, value: u32, cycles: u64) {
        match offset {
            0x0 => self.keep_counters(cycles, |trace| trace.dwt_ctrl = value & DWT_CTRL_MASK),
            0x4 => self.set_cyccnt(value, cycles),
            CPICNT..=0x18 => self.set_event_count((offset - CPICNT) as usize / 4, value),
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

    /// The instrumentation macrocell's register: stimulus ports are always ready.
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

/// The comparator of a register at an offset, and the register's index in it.
fn comparator(offset: u32) -> Option<(usize, usize)> {
    let within = offset.checked_sub(COMPARATORS)?;
    let (number, register) = (within / COMPARATOR_BYTES, within % COMPARATOR_BYTES / 4);
    (number < 4 && register < 3).then_some((number as usize, register as usize))
}

/// A register of the trace port that keeps written values: its index, reset value and implemented bits (ARM, C1.10).
fn port_register(offset: u32) -> Option<(usize, u32, u32)> {
    Some(match offset {
        0x004 => (0, 1, 0xf),
        0x010 => (1, 0, 0x1fff),
        0x0f0 => (2, 1, 3),
        0x304 => (3, 0x102, 0x103),
        _ => return None,
    })
}

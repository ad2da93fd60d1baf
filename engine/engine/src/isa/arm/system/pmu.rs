//! Performance monitors (ARM, chapter C12; TRM, performance monitoring).

use super::effect::Now;

use crate::state::State;

/// Most event counters that a core can have here.
pub const MAX_COUNTERS: usize = 6;
/// Enable bit of the cycle counter in PMCNTENSET and similar registers.
const CYCLES: u32 = 1 << 31;
const PMCR_E: u32 = 1 << 0;
const PMCR_P: u32 = 1 << 1;
const PMCR_C: u32 = 1 << 2;
const PMCR_D: u32 = 1 << 3;
/// Stored bits of PMCR: E, D, X and DP.
const PMCR_KEPT: u32 = 0x39;
/// PMSWINC counts on counters that have this event.
const SOFTWARE_INCREMENT: u32 = 0;

/// Most instructions that a core completes in a cycle: those of a pair.
const INSTRUCTIONS_PER_CYCLE: u64 = 2;
/// Cycles between two looks at a counter of events that may not come for long.
const LOOKS_APART: u64 = 100;
/// Events of counters: instructions, and cycles.
const INSTRUCTIONS: u32 = 0x08;
const CORE_CYCLES: u32 = 0x11;

/// Totals since reset of the events that the counters can count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Events {
    /// Instructions completed.
    pub instructions: u64,
    /// Lines filled into the first-level instruction cache.
    pub icache_refills: u64,
    /// Lines filled into the first-level data cache.
    pub dcache_refills: u64,
    /// Dirty lines that it wrote back.
    pub dcache_write_backs: u64,
    /// Exceptions and interrupts taken.
    pub exceptions: u64,
}

/// Events that are counted, as in PMCEID0.
const KNOWN: u32 =
    1 << 0x00 | 1 << 0x01 | 1 << 0x02 | 1 << 0x03 | 1 << 0x05 | 1 << 0x08 | 1 << 0x09 | 1 << 0x11 | 1 << 0x15;

fn total(event: u32, now: &Now) -> u64 {
    match event {
        0x01 => now.events.icache_refills,
        0x03 => now.events.dcache_refills,
        INSTRUCTIONS => now.events.instructions,
        0x09 => now.events.exceptions,
        CORE_CYCLES => now.cycles,
        0x15 => now.events.dcache_write_backs,
        // Misses of the TLBs (2 and 5) are not counted.
        _ => 0,
    }
}

/// A 32-bit counter of a total that advances by itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State)]
struct Counter {
    value: u32,
    /// The total when it had this value.
    since: u64,
    /// Cycles before that which are still in the divider.
    divided: u64,
}

impl Counter {
    /// Its value with 33 bits (bit 32: overflow), and the content of the divider, when the total is `total`.
    fn at(&self, total: u64, running: bool, divide: bool) -> (u64, u64) {
        let passed = if running { total.wrapping_sub(self.since) } else { 0 };
        let (counts, left) = match divide {
            true => ((self.divided + passed) / 64, (self.divided + passed) % 64),
            false => (passed, self.divided),
        };
        (u64::from(self.value).wrapping_add(counts), left)
    }

    /// Brings it up to date.
    fn settle(&mut self, total: u64, running: bool, divide: bool) {
        let (value, left) = self.at(total, running, divide);
        *self = Counter { value: value as u32, since: total, divided: left };
    }
}

/// The monitors. Reading changes nothing in them.
#[derive(Clone, Debug, Default, PartialEq, Eq, State)]
pub(super) struct Pmu {
    control: u32,
    enabled: u32,
    overflowed: u32,
    selected: u32,
    user: u32,
    interrupts: u32,
    types: [u32; MAX_COUNTERS],
    events: [Counter; MAX_COUNTERS],
    cycles: Counter,
}

impl Pmu {
    /// True if User mode may use them (PMUSERENR.EN).
    pub(super) fn for_user(&self) -> bool {
        self.user & 1 != 0
    }

    /// Reads the register with these CRm and opc2 of c9.
    pub(super) fn read(&self, crm: u32, opc2: u32, counters: u8, now: &Now) -> Option<u32> {
        let selected = Some(self.selected as usize).filter(|n| *n < usize::from(counters));
        Some(match (crm, opc2) {
            (12, 0) => u32::from(counters) << 11 | self.control,
            (12, 1 | 2) => self.enabled,
            (12, 3) => self.overflowed_by(now),
            (12, 5) => self.selected,
            (12, 6) => KNOWN,
            (12, 7) => 0,
            (13, 0) => self.cycles.at(now.cycles, self.runs(CYCLES), self.control & PMCR_D != 0).0 as u32,
            (13, 1) => selected.map_or(0, |n| self.types[n]),
            (13, 2) => selected.map_or(0, |n| self.event(n, now) as u32),
            (14, 0) => self.user,
            (14, 1 | 2) => self.interrupts,
            _ => return None,
        })
    }

    /// Writes the register with these CRm and opc2 of c9.
    pub(super) fn write(&mut self, crm: u32, opc2: u32, value: u32, counters: u8, now: &Now) -> Option<()> {
        self.settle(now);
        let all = CYCLES | ((1 << counters) - 1);
        let selected = Some(self.selected as usize).filter(|n| *n < usize::from(counters));
        match (crm, opc2) {
            (12, 0) => self.set_control(value),
            (12, 1) => self.enabled |= value & all,
            (12, 2) => self.enabled &= !value,
            (12, 3) => self.overflowed &= !value,
            (12, 4) => self.increment(value, counters),
            (12, 5) => self.selected = value & 0x1f,
            (12, 6 | 7) => {}
            (13, 0) => self.cycles.value = value,
            (13, 1) => {
                if let Some(n) = selected {
                    self.types[n] = value & 0xff;
                    self.events[n].since = total(value & 0xff, now);
                }
            }
            (13, 2) => {
                if let Some(n) = selected {
                    self.events[n].value = value;
                }
            }
            (14, 0) => self.user = value & 1,
            (14, 1) => self.interrupts |= value & all,
            (14, 2) => self.interrupts &= !value,
            _ => return None,
        }
        Some(())
    }

    /// True if an overflow of some counter raises the interrupt.
    pub(super) fn may_interrupt(&self) -> bool {
        self.interrupts != 0
    }

    /// The level of the interrupt: a counter has overflowed that raises it (ARM, C12.4.9).
    pub(super) fn interrupts(&self, now: &Now) -> bool {
        self.control & PMCR_E != 0 && self.overflowed_by(now) & self.interrupts != 0
    }

    /// The cycle before which no counter that raises the interrupt overflows; `None` while none can. A counter of
    /// instructions or cycles overflows in that cycle at the latest, if it is looked at there, each time; one of other
    /// events up to [`LOOKS_APART`] cycles before the look that finds it.
    pub(super) fn next_look(&self, now: &Now) -> Option<u64> {
        let left = |value: u64| (1 << 32) - (value & 0xffff_ffff);
        let divide = self.control & PMCR_D != 0;
        let (cycles, divided) = self.cycles.at(now.cycles, self.runs(CYCLES), divide);
        let of_cycles = if divide { 64 * left(cycles) - divided } else { left(cycles) };
        let counters = (0..MAX_COUNTERS).map(|n| {
            let events = left(self.event(n, now));
            let cycles = match self.types[n] {
                CORE_CYCLES => events,
                INSTRUCTIONS => (events / INSTRUCTIONS_PER_CYCLE).max(1),
                _ => (events / INSTRUCTIONS_PER_CYCLE).max(LOOKS_APART),
            };
            (1 << n, cycles)
        });
        let waited_for = |bit: u32| self.runs(bit) && self.interrupts & !self.overflowed & bit != 0;
        let all = counters.chain([(CYCLES, of_cycles)]).filter(|(bit, _)| waited_for(*bit));
        all.map(|(_, cycles)| now.cycles + cycles).min()
    }

    fn runs(&self, bit: u32) -> bool {
        self.control & PMCR_E != 0 && self.enabled & bit != 0
    }

    /// Event counter `n`, with 33 bits.
    fn event(&self, n: usize, now: &Now) -> u64 {
        self.events[n].at(total(self.types[n], now), self.runs(1 << n), false).0
    }

    fn overflowed_by(&self, now: &Now) -> u32 {
        let cycles = self.cycles.at(now.cycles, self.runs(CYCLES), self.control & PMCR_D != 0).0;
        let cycles = if cycles >> 32 != 0 { CYCLES } else { 0 };
        (0..MAX_COUNTERS)
            .filter(|n| self.event(*n, now) >> 32 != 0)
            .fold(self.overflowed | cycles, |all, n| all | 1 << n)
    }

    /// Brings all counters up to date, before a change of how they count.
    fn settle(&mut self, now: &Now) {
        self.overflowed = self.overflowed_by(now);
        let (running, divide) = (self.runs(CYCLES), self.control & PMCR_D != 0);
        self.cycles.settle(now.cycles, running, divide);
        for n in 0..MAX_COUNTERS {
            let (total, running) = (total(self.types[n], now), self.runs(1 << n));
            self.events[n].settle(total, running, false);
        }
    }

    fn set_control(&mut self, value: u32) {
        self.control = value & PMCR_KEPT;
        if value & PMCR_P != 0 {
            self.events.iter_mut().for_each(|counter| counter.value = 0);
        }
        if value & PMCR_C != 0 {
            (self.cycles.value, self.cycles.divided) = (0, 0);
        }
    }

    /// Writes PMSWINC.
    fn increment(&mut self, which: u32, counters: u8) {
        for n in 0..usize::from(counters).min(MAX_COUNTERS) {
            if which & 1 << n != 0 && self.runs(1 << n) && self.types[n] == SOFTWARE_INCREMENT {
                let (value, over) = self.events[n].value.overflowing_add(1);
                self.events[n].value = value;
                self.overflowed |= u32::from(over) << n;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::NOW;
    use super::*;

    const COUNTERS: u8 = 2;

    fn at(cycles: u64) -> Now<'static> {
        Now { cycles, ..NOW }
    }

    fn write(pmu: &mut Pmu, crm: u32, opc2: u32, value: u32, cycles: u64) {
        pmu.write(crm, opc2, value, COUNTERS, &at(cycles)).unwrap();
    }

    fn read(pmu: &Pmu, crm: u32, opc2: u32, cycles: u64) -> u32 {
        pmu.read(crm, opc2, COUNTERS, &at(cycles)).unwrap()
    }

    #[test]
    fn the_cycle_counter_counts_while_it_is_enabled() {
        let mut pmu = Pmu::default();
        assert_eq!(read(&pmu, 13, 0, 500), 0);
        write(&mut pmu, 12, 1, CYCLES, 1000);
        assert_eq!(read(&pmu, 13, 0, 1500), 0, "PMCR.E is clear");
        write(&mut pmu, 12, 0, PMCR_E | PMCR_C, 2000);
        assert_eq!(read(&pmu, 13, 0, 2500), 500);
        write(&mut pmu, 12, 2, CYCLES, 3000);
        assert_eq!(read(&pmu, 13, 0, 9000), 1000);
        write(&mut pmu, 12, 0, PMCR_E | PMCR_C, 9000);
        assert_eq!(read(&pmu, 13, 0, 9000), 0);
        assert_eq!(read(&pmu, 12, 0, 0), 0x0000_1001);
    }

    #[test]
    fn divided_by_64_no_cycle_is_lost() {
        let mut pmu = Pmu::default();
        write(&mut pmu, 12, 1, CYCLES, 0);
        write(&mut pmu, 12, 0, PMCR_E | PMCR_D, 0);
        assert_eq!((read(&pmu, 13, 0, 63), read(&pmu, 13, 0, 64), read(&pmu, 13, 0, 6400)), (0, 1, 100));
        // A write to another register settles in the middle of 64.
        write(&mut pmu, 12, 5, 0, 100);
        assert_eq!((read(&pmu, 13, 0, 127), read(&pmu, 13, 0, 128)), (1, 2));
    }

    #[test]
    fn an_overflow_is_seen_and_cleared() {
        let mut pmu = Pmu::default();
        write(&mut pmu, 12, 1, CYCLES, 0);
        write(&mut pmu, 12, 0, PMCR_E, 0);
        write(&mut pmu, 13, 0, u32::MAX, 10);
        assert_eq!((read(&pmu, 12, 3, 10), read(&pmu, 12, 3, 11), read(&pmu, 13, 0, 11)), (0, CYCLES, 0));
        write(&mut pmu, 12, 3, CYCLES, 12);
        assert_eq!((read(&pmu, 12, 3, 13), read(&pmu, 13, 0, 13)), (0, 2));
    }

    #[test]
    fn the_cycle_counter_interrupts_when_it_overflows() {
        let mut pmu = Pmu::default();
        write(&mut pmu, 14, 1, CYCLES, 0);
        write(&mut pmu, 13, 0, u32::MAX - 99, 10);
        write(&mut pmu, 12, 0, PMCR_E, 10);
        assert_eq!(pmu.next_look(&at(10)), None, "it is not enabled");
        write(&mut pmu, 12, 1, CYCLES, 10);
        assert_eq!((pmu.next_look(&at(10)), pmu.next_look(&at(50))), (Some(110), Some(110)));
        assert_eq!((pmu.interrupts(&at(109)), pmu.interrupts(&at(110))), (false, true));
        write(&mut pmu, 12, 3, CYCLES, 120);
        assert_eq!((pmu.interrupts(&at(120)), pmu.next_look(&at(120))), (false, Some(110 + (1 << 32))));
        write(&mut pmu, 12, 0, PMCR_E | PMCR_D, 120);
        write(&mut pmu, 13, 0, u32::MAX, 120);
        assert_eq!(pmu.next_look(&at(130)), Some(120 + 64));
    }

    #[test]
    fn event_counters_are_looked_at_before_they_can_overflow() {
        let mut pmu = Pmu::default();
        for (crm, opc2, value) in [(12, 5, 0), (13, 1, 8), (13, 2, 0u32.wrapping_sub(100)), (14, 1, 1), (12, 1, 1)] {
            write(&mut pmu, crm, opc2, value, 0);
        }
        write(&mut pmu, 12, 0, PMCR_E, 0);
        let after = |instructions| Events { instructions, ..Events::default() };
        let look = |instructions, cycles| pmu.next_look(&Now { events: &after(instructions), ..at(cycles) });
        assert_eq!((look(0, 7), look(60, 57), look(99, 77)), (Some(57), Some(77), Some(78)));
        let events = after(100);
        assert!(pmu.interrupts(&Now { events: &events, ..at(90) }));
    }

    #[test]
    fn event_counters_count_their_event() {
        let mut pmu = Pmu::default();
        let events = Events { instructions: 100, dcache_refills: 7, ..Events::default() };
        let later = Events { instructions: 150, dcache_refills: 9, ..Events::default() };
        let (now, then) = (Now { events: &events, ..NOW }, Now { events: &later, ..NOW });
        for (crm, opc2, value) in [(12, 5, 1), (13, 1, 8), (12, 5, 0), (13, 1, 3), (12, 1, 3), (12, 0, PMCR_E)] {
            pmu.write(crm, opc2, value, COUNTERS, &now).unwrap();
        }
        assert_eq!(pmu.read(13, 2, COUNTERS, &then), Some(2));
        pmu.write(12, 5, 1, COUNTERS, &then).unwrap();
        assert_eq!(pmu.read(13, 2, COUNTERS, &then), Some(50));
        pmu.write(12, 5, 2, COUNTERS, &then).unwrap();
        assert_eq!(pmu.read(13, 2, COUNTERS, &then), Some(0), "there are two");
        assert_eq!(pmu.read(15, 0, COUNTERS, &then), None);
    }

    #[test]
    fn software_counts_with_pmswinc() {
        let mut pmu = Pmu::default();
        write(&mut pmu, 12, 1, 1, 0);
        write(&mut pmu, 12, 0, PMCR_E, 0);
        write(&mut pmu, 12, 4, 3, 0);
        write(&mut pmu, 12, 4, 1, 0);
        assert_eq!(read(&pmu, 13, 2, 0), 2);
        write(&mut pmu, 12, 5, 1, 0);
        assert_eq!(read(&pmu, 13, 2, 0), 0);
    }
}

//! `atmel,sama5d4-wdt`: Watchdog Timer (SAMA5D2 datasheet DS60001476, section WDT).
//!
//! Modelled: all registers. The counter runs from reset on, from 0xfff down, at a 128th of the slow clock: 16 s.
//! Writing WDT_MR and restarting reload it; a restart above WDD is an error. An underflow or an error sets its flag
//! and, with WDRSTEN, resets the board: the run ends, with exit status 1 and a note. WDT_CR.LOCKMR locks WDT_MR.
//!
//! Not modelled: the halts in debug state and while the processor idles (WDDBGHLT, WDIDLEHLT): the counter continues.

use crate::prelude::*;
use crate::support::board_reset::reset_board;
use crate::support::counter::Ticks;

registers! {
    /// The register map (Watchdog Timer User Interface).
    const MAP "WDT_" {
        CR 0x0 wo { WDRSTT 0, LOCKMR 4, KEY 24..32 };
        MR 0x4 rw reset 0x3fff_2fff mask 0x3fff_ffff { WDV 0..12, WDFIEN 12, WDRSTEN 13, WDDIS 15, WDD 16..28 };
        SR 0x8 ro { WDUNF 0 rc, WDERR 1 rc };
    }
}

/// WDT_CR.KEY.
const KEY: u32 = 0xa5;
/// Slow clocks of a count.
const PRESCALER: u64 = 128;

/// The device.
#[derive(Debug, State, Polled, RegisterBank)]
#[port(Port::APB)]
pub struct Wdt {
    #[poll(phase)]
    clock: ClockInput,
    #[state(skip)]
    slow_clock: Hz,
    interrupt: Option<IrqLine>,
    registers: Registers,
    locked: bool,
    /// The slow clock in which the counter was loaded.
    loaded: u64,
    alarm: Alarm,
}

/// For the list of models.
pub const MODEL: Model = Model::device(Group::Timer, &["atmel,sama5d4-wdt"], 1, from_node).naming(MAP.rows);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    let clock = reader.clock_input(0, "clock of its bus");
    let slow_clock = reader.clock(1, "the slow clock, which is divided by 128 and counted");
    reader.known(&["clock-names"]);
    Box::new(Wdt::new(clock, slow_clock, reader.interrupt(0, "its interrupt")))
}

impl Wdt {
    /// The device after reset.
    pub fn new(clock: impl Into<ClockInput>, slow_clock: Hz, interrupt: Option<IrqLine>) -> Wdt {
        let (registers, alarm) = (Registers::new(&MAP), Alarm::default());
        Wdt { clock: clock.into(), slow_clock, interrupt, registers, locked: false, loaded: 0, alarm }
    }

    fn runs(&self) -> bool {
        !self.registers.has(MR, MR_WDDIS)
    }

    /// Counts since the counter was loaded.
    fn ticks(&self) -> Ticks {
        Ticks { clock: self.slow_clock, divider: PRESCALER, origin: self.loaded }
    }

    /// When the counter underflows.
    fn expiry(&self) -> Option<Ps> {
        self.ticks().time_of(u64::from(self.registers.field(MR, MR_WDV)) + 1).filter(|_| self.runs())
    }

    fn load(&mut self, ctx: &mut Ctx) {
        self.loaded = self.slow_clock.cycles_until_floor(ctx.now).0;
        self.watch(ctx);
    }

    fn watch(&mut self, ctx: &mut Ctx) {
        match self.expiry() {
            Some(expiry) => self.alarm.set(expiry, 0, ctx),
            None => self.alarm.cancel(0, ctx),
        }
    }

    fn fault(&mut self, flag: u32, what: &str, ctx: &mut Ctx) {
        self.registers.put(SR, flag, true);
        if self.registers.has(MR, MR_WDRSTEN) {
            let end = "and the watchdog resets the board: the run ends (set WDT_MR.WDDIS to do without it)";
            reset_board(&format!("{what}, {end}"), ctx);
        }
    }

    fn restart(&mut self, ctx: &mut Ctx) {
        let counter = u64::from(self.registers.field(MR, MR_WDV)).saturating_sub(self.ticks().at(ctx.now));
        if self.runs() && counter > u64::from(self.registers.field(MR, MR_WDD)) {
            self.fault(SR_WDERR, "it was restarted while its counter was above WDT_MR.WDD", ctx);
        }
        self.load(ctx);
    }

    fn control(&mut self, value: u32, ctx: &mut Ctx) {
        if field(value, CR_KEY) != KEY {
            return;
        }
        self.locked |= value & CR_LOCKMR != 0;
        if value & CR_WDRSTT != 0 {
            self.restart(ctx);
        }
    }
}

impl Table for Wdt {
    const UPDATES_AFTER_READS: bool = true;

    fn wrote(&mut self, register: u32, old: u32, new: u32, ctx: &mut Ctx) {
        match register {
            CR => self.control(new, ctx),
            MR if self.locked => {
                self.registers.set(MR, old);
                ctx.note("WDT_MR is locked (WDT_CR.LOCKMR): a write to it had no effect");
            }
            MR => self.load(ctx),
            _ => {}
        }
    }

    fn update(&mut self, ctx: &mut Ctx) {
        ctx.set_irq(self.interrupt, self.registers[SR] != 0 && self.registers.has(MR, MR_WDFIEN));
    }
}

impl Device for Wdt {
    by_table!();

    fn reset(&mut self, ctx: &mut Ctx) {
        self.watch(ctx);
    }

    fn event(&mut self, _token: u32, ctx: &mut Ctx) {
        self.alarm.rang(ctx.now);
        if self.expiry() == Some(ctx.now) {
            self.fault(SR_WDUNF, "its counter ran out", ctx);
            self.load(ctx);
            self.update(ctx);
        } else {
            self.watch(ctx);
        }
    }

    fn clocks_changed(&mut self, ctx: &mut Ctx) {
        ctx.bus.clocks.update(&mut self.clock);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::{Bench, CPU_INTC, read_plain_node};
    use crate::registers::walk;
    use engine::bus::device::{DeviceId, ExitRequest};

    const KEYED: u32 = KEY << 24;

    /// A watchdog at reset, with a slow clock of 32768 Hz: a count is 1 s / 256.
    fn wdt() -> Bench {
        let clock = |hz| Hz::new(hz).unwrap();
        let device = Wdt::new(clock(83_000_000), clock(32_768), Some(IrqLine::Core { core: 0, bit: 4 }));
        let mut bench = Bench::new(device);
        bench.bus.with_device(DeviceId(0), Ps::ZERO, |device, ctx| device.reset(ctx));
        bench
    }

    const fn counts(counts: u64) -> Ps {
        Ps(counts * (1_000_000_000_000 / 256))
    }

    #[test]
    fn the_device_keeps_its_table() {
        walk::device_keeps_its_map(&MAP, &[], &mut wdt());
    }

    #[test]
    fn left_alone_it_resets_the_board_after_16_seconds() {
        let mut bench = wdt();
        bench.run(Ps(counts(4096).0 - 1));
        assert_eq!(bench.bus.exit, None);
        bench.run(counts(4096));
        assert_eq!(bench.bus.exit, Some(ExitRequest { code: 1, at: Ps::from_us(16_000_000) }));
        assert_eq!(bench.bus.notes().len(), 1);
    }

    #[test]
    fn disabled_or_restarted_in_time_it_does_not() {
        let mut bench = wdt();
        bench.write(counts(4000), MR, MR_WDDIS).unwrap();
        bench.run(counts(100_000));
        assert_eq!(bench.bus.exit, None);
        let mut bench = wdt();
        bench.write(counts(4000), CR, KEYED | CR_WDRSTT).unwrap();
        bench.run(Ps(counts(8096).0 - 1));
        assert_eq!(bench.bus.exit, None);
        // Without its key the command does nothing.
        bench.write(counts(8000), CR, CR_WDRSTT).unwrap();
        bench.run(counts(8096));
        assert!(bench.bus.exit.is_some());
    }

    #[test]
    fn a_restart_above_wdd_is_an_error() {
        let mut bench = wdt();
        bench.write(counts(0), MR, 50 << 16 | MR_WDFIEN | 99).unwrap();
        bench.run(counts(48));
        bench.write(counts(48), CR, KEYED | CR_WDRSTT).unwrap();
        assert_eq!((bench.pending(), bench.value(counts(48), SR), bench.pending()), (1 << 4, SR_WDERR, 0));
        bench.write(counts(97), CR, KEYED | CR_WDRSTT).unwrap();
        assert_eq!(bench.value(counts(97), SR), 0);
        // Without WDRSTEN an underflow interrupts, and counting continues.
        bench.run(counts(197));
        assert_eq!((bench.pending(), bench.value(counts(197), SR)), (1 << 4, SR_WDUNF));
        bench.run(counts(297));
        assert_eq!((bench.value(counts(297), SR), bench.bus.exit), (SR_WDUNF, None));
    }

    #[test]
    fn once_disabled_nothing_is_due() {
        let mut bench = wdt();
        assert_eq!(bench.bus.events.next_due(), counts(0x1000));
        bench.write(Ps(0), MR, MR_WDDIS).unwrap();
        assert_eq!(bench.bus.events.next_due(), Ps::MAX);
    }

    #[test]
    fn a_locked_mode_stays() {
        let mut bench = wdt();
        bench.write(counts(0), MR, MR_WDDIS).unwrap();
        bench.write(counts(0), CR, KEYED | CR_LOCKMR).unwrap();
        bench.write(counts(0), MR, 0x3fff_2fff).unwrap();
        assert_eq!((bench.value(counts(0), MR), bench.bus.notes().len()), (MR_WDDIS, 1));
    }

    #[test]
    fn a_node_gives_clocks_and_interrupt() {
        let (mut bench, faults) = read_plain_node(from_node, &[("interrupts-extended", &[CPU_INTC, 3])]);
        assert!(faults.is_empty(), "{faults:?}");
        bench.write(Ps(0), MR, MR_WDFIEN).unwrap();
        // A count of 128 clocks of 100 MHz.
        bench.run(Ps::from_ns(1280));
        assert_eq!(bench.pending(), 1 << 3);
    }
}

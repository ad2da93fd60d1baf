//! `atmel,sama5d4-wdt`: Watchdog Timer (SAMA5D2 datasheet DS60001476, section WDT).
//!
//! Modelled: all registers. The counter runs from reset on, from 0xfff down, at a 128th of the slow clock: 16 s.
//! Writing WDT_MR and restarting reload it; a restart above WDD is an error. An underflow or an error sets its flag
//! and, with WDRSTEN, resets the board: the run ends, with exit status 1 and a note. WDT_CR.LOCKMR locks WDT_MR.
//!
//! Not modelled: the halts in debug state and while the processor idles (WDDBGHLT, WDIDLEHLT): the counter continues.

use crate::model::{Group, Model};
use crate::support::apb;
use crate::support::axi_lite::edge_in_reach;
use crate::support::registers::{AccessKind, Register};
use engine::bus::device::{AccessSize, Alarm, Ctx, Device, IrqLine, Reply, SlaveError};
use engine::dt::reader::NodeReader;
use engine::dt::wiring::ClockInput;
use engine::polling::Poll;
use engine::state::State;
use engine::time::{Hz, Ps};

/// The register map (Watchdog Timer User Interface).
pub const REGISTERS: &[Register] = &[
    Register::new("WDT_CR", CR, AccessKind::Wo, 0, 0xff00_0000 | CR_LOCKMR | CR_WDRSTT),
    Register::new("WDT_MR", MR, AccessKind::Rw, MR_RESET, MR_MASK),
    Register::new("WDT_SR", SR, AccessKind::Ro, 0, SR_WDUNF | SR_WDERR),
];

const CR: u32 = 0x0;
const MR: u32 = 0x4;
const SR: u32 = 0x8;

const CR_WDRSTT: u32 = 1 << 0;
const CR_LOCKMR: u32 = 1 << 4;
/// WDT_CR.KEY.
const KEY: u32 = 0xa5;
const MR_WDV: u32 = 0xfff;
const MR_WDFIEN: u32 = 1 << 12;
const MR_WDRSTEN: u32 = 1 << 13;
const MR_WDDIS: u32 = 1 << 15;
const MR_MASK: u32 = 0x3fff_ffff;
const MR_RESET: u32 = 0x3fff_2fff;
const SR_WDUNF: u32 = 1 << 0;
const SR_WDERR: u32 = 1 << 1;

/// Slow clocks of a count.
const PRESCALER: u64 = 128;
/// The exit status of a run that the watchdog ends.
const EXIT_STATUS: i32 = 1;

/// The device.
#[derive(Debug, State)]
pub struct Wdt {
    clock: ClockInput,
    #[state(skip)]
    slow_clock: Hz,
    #[state(skip)]
    interrupt: Option<IrqLine>,
    mode: u32,
    locked: bool,
    status: u32,
    /// The slow clock in which the counter was loaded.
    loaded: u64,
    alarm: Alarm,
}

/// For the list of models.
pub const MODEL: Model = Model::device(Group::Timer, &["atmel,sama5d4-wdt"], 1, from_node).naming(REGISTERS);

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
        let alarm = Alarm::default();
        Wdt { clock: clock.into(), slow_clock, interrupt, mode: MR_RESET, locked: false, status: 0, loaded: 0, alarm }
    }

    fn runs(&self) -> bool {
        self.mode & MR_WDDIS == 0
    }

    /// When the counter underflows.
    fn expiry(&self) -> Option<Ps> {
        let counts = u64::from(self.mode & MR_WDV) + 1;
        edge_in_reach(self.slow_clock, self.loaded + counts * PRESCALER).filter(|_| self.runs())
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
        self.status |= flag;
        if self.mode & MR_WDRSTEN != 0 {
            ctx.note(&format!(
                "{what}, and the watchdog resets the board: the run ends (set WDT_MR.WDDIS to do without it)"
            ));
            ctx.exit_by_reset(EXIT_STATUS);
        }
    }

    fn restart(&mut self, ctx: &mut Ctx) {
        let passed = (self.slow_clock.cycles_until_floor(ctx.now).0 - self.loaded) / PRESCALER;
        let counter = u64::from(self.mode & MR_WDV).saturating_sub(passed);
        if self.runs() && counter > u64::from(self.mode >> 16 & 0xfff) {
            self.fault(SR_WDERR, "it was restarted while its counter was above WDT_MR.WDD", ctx);
        }
        self.load(ctx);
    }

    fn drive(&self, ctx: &mut Ctx) {
        ctx.set_irq(self.interrupt, self.status != 0 && self.mode & MR_WDFIEN != 0);
    }
}

impl Device for Wdt {
    fn reset(&mut self, ctx: &mut Ctx) {
        self.watch(ctx);
    }

    fn read(&mut self, _: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> Result<Reply, SlaveError> {
        let register = match offset & !3 {
            MR => self.mode,
            SR => std::mem::take(&mut self.status),
            _ => 0,
        };
        self.drive(ctx);
        Ok(apb::read(register, offset, size, ctx))
    }

    fn write(
        &mut self,
        _: usize,
        offset: u32,
        size: AccessSize,
        value: u32,
        ctx: &mut Ctx,
    ) -> Result<Reply, SlaveError> {
        match apb::written(value, offset, size) {
            (CR, value) if value >> 24 == KEY => {
                self.locked |= value & CR_LOCKMR != 0;
                if value & CR_WDRSTT != 0 {
                    self.restart(ctx);
                }
            }
            (MR, value) if !self.locked => {
                self.mode = value & MR_MASK;
                self.load(ctx);
            }
            (MR, _) => ctx.note("WDT_MR is locked (WDT_CR.LOCKMR): a write to it had no effect"),
            _ => {}
        }
        self.drive(ctx);
        Ok(Reply::written(ctx.now))
    }

    fn event(&mut self, _token: u32, ctx: &mut Ctx) {
        self.alarm.rang(ctx.now);
        if self.expiry() == Some(ctx.now) {
            self.fault(SR_WDUNF, "its counter ran out", ctx);
            self.load(ctx);
            self.drive(ctx);
        } else {
            self.watch(ctx);
        }
    }

    fn clocks_changed(&mut self, ctx: &mut Ctx) {
        ctx.bus.clocks.update(&mut self.clock);
    }

    fn polled(&mut self, poll: &mut Poll) -> bool {
        poll.phase(self.clock.rate);
        poll.state(self.mode);
        poll.state(self.status);
        poll.state(self.locked);
        poll.state(self.loaded);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::{Bench, CPU_INTC, read_plain_node};
    use crate::support::registers::walk;
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
        walk::device_keeps_its_table(REGISTERS, &[], &mut wdt());
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
        bench.write(counts(0), MR, MR_RESET).unwrap();
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

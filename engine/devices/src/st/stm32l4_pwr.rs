//! `st,stm32l4-pwr`: the power controller of an STM32L4+ (RM0432, "Power control (PWR)").
//!
//! Modelled: the voltage ranges with the regulator's transition time (VOSF), the boost mode (R1MODE) and the low-power
//! run mode (LPR, REGLPF), with a note if HCLK is above their limit; DBP, which lets software write the backup domain;
//! IOSV, without which pins on VDDIO2 are isolated; all other registers keep written values.
//!
//! Not modelled: the supplies, so PVD, PVM and brown-out never detect a fall; Stop, Standby and Shutdown (the core
//! sleeps, and a note says so); wake-up pins; pull-ups in Standby.

use crate::model::{Group, Model};
use crate::support::activities::{POWER, VOLTAGE};
use crate::support::registers::AccessKind::{Ro, Rw, Wo};
use crate::support::registers::{AccessKind, Register, find, flag};
use crate::support::stm32_clock_gate::{BACKUP_DOMAIN, ClockGate, SECOND_SUPPLY};
use engine::activity::Detail;
use engine::bus::device::{AccessSize, Alarm, Ctx, Device, Reply, SlaveError};
use engine::dt::reader::NodeReader;
use engine::dt::wiring::ClockInput;
use engine::polling::{Poll, Polled};
use engine::state::State;
use engine::time::Ps;

const CR1: u32 = 0x00;
const CR2: u32 = 0x04;
const SR2: u32 = 0x14;
const SCR: u32 = 0x18;
const CR5: u32 = 0x80;
const REGISTER_BYTES: u32 = 0x84;

const CR1_LPMS: u32 = 7;
const CR1_DBP: u32 = 1 << 8;
const CR1_VOS: u32 = 3 << 9;
const CR1_VOS_SHIFT: u32 = 9;
const CR1_LPR: u32 = 1 << 14;
const CR2_IOSV: u32 = 1 << 9;
const SR2_REGLPS: u32 = 1 << 8;
const SR2_REGLPF: u32 = 1 << 9;
const SR2_VOSF: u32 = 1 << 10;
const CR5_R1MODE: u32 = 1 << 8;

const REGISTERS: &[Register] = &[
    // PWR_CR3, including RRSTP.
    Register::new("PWR_CR1", CR1, Rw, 1 << CR1_VOS_SHIFT, CR1_LPMS | 1 << 4 | CR1_DBP | CR1_VOS | CR1_LPR),
    Register::new("PWR_CR2", CR2, Rw, 0, 0x6ff),
    Register::new("PWR_CR3", 0x08, Rw, 0x8000, 0x851f),
    Register::new("PWR_CR4", 0x0c, Rw, 0, 0x31f),
    Register::new("PWR_SR1", 0x10, Ro, 0, 0x811f),
    Register::new("PWR_SR2", SR2, Ro, 0, 0xff00),
    Register::new("PWR_SCR", SCR, Wo, 0, 0x11f),
    pull("PWR_PUCRA", 0x20),
    pull("PWR_PDCRA", 0x24),
    pull("PWR_PUCRB", 0x28),
    pull("PWR_PDCRB", 0x2c),
    pull("PWR_PUCRC", 0x30),
    pull("PWR_PDCRC", 0x34),
    pull("PWR_PUCRD", 0x38),
    pull("PWR_PDCRD", 0x3c),
    pull("PWR_PUCRE", 0x40),
    pull("PWR_PDCRE", 0x44),
    pull("PWR_PUCRF", 0x48),
    pull("PWR_PDCRF", 0x4c),
    pull("PWR_PUCRG", 0x50),
    pull("PWR_PDCRG", 0x54),
    pull("PWR_PUCRH", 0x58),
    pull("PWR_PDCRH", 0x5c),
    pull("PWR_PUCRI", 0x60),
    pull("PWR_PDCRI", 0x64),
    Register::new("PWR_CR5", CR5, Rw, CR5_R1MODE, CR5_R1MODE),
];

/// Pull-ups and pull-downs in Standby, one bit for each pin.
const fn pull(name: &'static str, offset: u32) -> Register {
    Register::new(name, offset, Rw, 0, 0xffff)
}

/// The device.
#[derive(Debug, State)]
pub struct Pwr {
    hclk: ClockInput,
    #[state(skip)]
    gate: ClockGate,
    #[state(skip)]
    regulator: Ps,
    /// Time from clearing LPR until the main regulator is on again.
    #[state(skip)]
    main_regulator: Ps,
    words: Vec<u32>,
    /// The end of VOSF, and of REGLPF after LPR was cleared.
    voltage_until: Ps,
    low_power_until: Ps,
    alarm: Alarm,
    writes: u64,
}

/// For the list of models.
pub const MODEL: Model = Model::device(Group::System, &["st,stm32l4-pwr"], 1, from_node).with_activities(POWER);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    let hclk = reader.clock_input(0, "HCLK, which the voltage limits");
    let gate = ClockGate::from_node(reader);
    let regulator = reader.timing_ps("cyclescope,vos-us", "from range 2 to range 1");
    let main =
        reader.timing_ps("cyclescope,main-regulator-us", "from low-power run mode until the main regulator is on");
    Box::new(Pwr::new(hclk, gate, [regulator, main]))
}

impl Pwr {
    /// The device after reset. The array has the transition times of the regulators.
    pub fn new(hclk: ClockInput, gate: ClockGate, [regulator, main_regulator]: [Ps; 2]) -> Pwr {
        let mut words = vec![0; REGISTER_BYTES as usize / 4];
        for register in REGISTERS {
            words[register.offset as usize / 4] = register.reset;
        }
        let (voltage_until, low_power_until) = (Ps::ZERO, Ps::ZERO);
        let alarm = Alarm::default();
        Pwr { hclk, gate, regulator, main_regulator, words, voltage_until, low_power_until, alarm, writes: 0 }
    }

    fn get(&self, offset: u32) -> u32 {
        self.words.get(offset as usize / 4).copied().unwrap_or(0)
    }

    fn value(&self, offset: u32, now: Ps) -> u32 {
        if offset != SR2 {
            return self.get(offset);
        }
        let low_power = self.get(CR1) & CR1_LPR != 0 || now < self.low_power_until;
        SR2_REGLPS | flag(SR2_REGLPF, low_power) | flag(SR2_VOSF, now < self.voltage_until)
    }

    fn write_register(&mut self, register: &Register, value: u32, ctx: &mut Ctx) {
        if register.access != AccessKind::Rw {
            return;
        }
        let before = self.get(register.offset);
        self.words[register.offset as usize / 4] = value & register.mask;
        match register.offset {
            CR1 => self.control_changed(before, value, ctx),
            CR2 => self.open_gates(ctx),
            CR5 => self.check(ctx),
            _ => {}
        }
    }

    fn control_changed(&mut self, before: u32, value: u32, ctx: &mut Ctx) {
        // RM0432, PWR_SR2.VOSF: set while the regulator's output changes to range 1.
        if before & CR1_VOS != value & CR1_VOS && value & CR1_VOS == 1 << CR1_VOS_SHIFT {
            self.voltage_until = ctx.now.saturating_add(self.regulator);
            ctx.span(&VOLTAGE, ctx.now, self.voltage_until, Detail::None);
            self.alarm.set(self.voltage_until, 0, ctx);
        }
        if before & CR1_LPR != 0 && value & CR1_LPR == 0 {
            self.low_power_until = ctx.now.saturating_add(self.main_regulator);
            ctx.span((&VOLTAGE, 1), ctx.now, self.low_power_until, Detail::None);
            self.alarm.set(self.low_power_until, 0, ctx);
        }
        if before & CR1_LPMS != value & CR1_LPMS && value & CR1_LPMS != 0 {
            ctx.note(
                "Stop, Standby and Shutdown (PWR_CR1.LPMS) are not modelled: the core sleeps, and clocks keep running",
            );
        }
        self.open_gates(ctx);
        self.check(ctx);
    }

    fn open_gates(&self, ctx: &mut Ctx) {
        let (register, bit) = BACKUP_DOMAIN;
        let backup = flag(1 << bit, self.get(CR1) & CR1_DBP != 0);
        let supply = flag(1 << SECOND_SUPPLY.1, self.get(CR2) & CR2_IOSV != 0);
        ctx.bus.clocks.set_gates(register, backup | supply);
        ctx.set_clocks(&[]);
    }

    /// Adds a note for a clock that is too fast for the voltage (RM0432, Dynamic voltage scaling management).
    fn check(&self, ctx: &mut Ctx) {
        let (cr1, boost) = (self.get(CR1), self.get(CR5) & CR5_R1MODE == 0);
        let (mode, most_mhz) = match cr1 >> CR1_VOS_SHIFT & 3 {
            _ if cr1 & CR1_LPR != 0 => ("low-power run mode", 2),
            1 if boost => ("range 1, boost mode", 120),
            1 => ("range 1, normal mode (PWR_CR5.R1MODE is 1)", 80),
            _ => ("range 2", 26),
        };
        let hz = self.hclk.rate.get();
        if hz > most_mhz * 1_000_000 {
            ctx.note(&format!("HCLK runs at {hz} Hz in {mode}, which allows {most_mhz} MHz: the chip may fail"));
        }
    }
}

impl Device for Pwr {
    fn reset(&mut self, ctx: &mut Ctx) {
        self.open_gates(ctx);
    }

    fn read(&mut self, _: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> Result<Reply, SlaveError> {
        self.gate.read(offset, size, ctx, |offset, ctx| self.value(offset, ctx.now))
    }

    fn write(
        &mut self,
        _: usize,
        offset: u32,
        size: AccessSize,
        value: u32,
        ctx: &mut Ctx,
    ) -> Result<Reply, SlaveError> {
        self.writes += 1;
        self.gate.write(offset, size, value, ctx, |offset, value, ctx| {
            if let Some(register) = find(REGISTERS, offset) {
                self.write_register(register, value, ctx);
            }
        })
    }

    /// A flag changes, which wakes polling loops.
    fn event(&mut self, _: u32, ctx: &mut Ctx) {
        self.alarm.rang(ctx.now);
        let later = [self.voltage_until, self.low_power_until].into_iter().filter(|until| *until > ctx.now).min();
        if let Some(later) = later {
            self.alarm.set(later, 0, ctx);
        }
    }

    fn clocks_changed(&mut self, ctx: &mut Ctx) {
        self.hclk.rate = ctx.bus.clocks.rate_of(self.hclk);
        self.check(ctx);
    }
}

impl Polled for Pwr {
    fn polled(&mut self, poll: &mut Poll) -> bool {
        poll.state(self.writes);
        poll.state(self.value(SR2, poll.now()));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::Bench;
    use crate::support::registers::walk::{self, Port};
    use engine::bus::device::DeviceId;
    use engine::time::Hz;

    fn pwr(mhz: u64) -> Bench {
        let hclk = ClockInput::fixed(Hz::new(mhz * 1_000_000).unwrap());
        let times = [Ps::from_us(20), Ps::from_us(5)];
        let mut bench = Bench::new(Pwr::new(hclk, ClockGate::default(), times));
        bench.bus.with_device(DeviceId(0), Ps(0), |device, ctx| device.reset(ctx));
        bench
    }

    #[test]
    fn registers_are_those_of_the_manual() {
        walk::device_keeps_its_table(REGISTERS, &["PWR_SR2"], &mut pwr(4));
        assert_eq!((pwr(4).get(CR1), pwr(4).get(CR5), pwr(4).get(SR2)), (0x200, 0x100, 0x100));
    }

    #[test]
    fn the_regulator_takes_its_time_up_and_none_down() {
        let mut bench = pwr(4);
        bench.put(CR1, 2 << 9);
        assert_eq!(bench.get(SR2), SR2_REGLPS);
        bench.put(CR1, 1 << 9);
        assert_eq!(bench.value(Ps::from_ns(19_999), SR2), SR2_REGLPS | SR2_VOSF);
        assert_eq!(bench.value(Ps::from_us(20), SR2), SR2_REGLPS);
    }

    #[test]
    fn low_power_run_mode_is_left_in_some_time() {
        let mut bench = pwr(2);
        bench.put(CR1, 1 << 9 | CR1_LPR);
        assert_eq!(bench.get(SR2), SR2_REGLPS | SR2_REGLPF);
        bench.write(Ps::from_us(10), CR1, 1 << 9).unwrap();
        assert_eq!(bench.value(Ps::from_us(14), SR2), SR2_REGLPS | SR2_REGLPF);
        assert_eq!(bench.value(Ps::from_us(15), SR2), SR2_REGLPS);
        assert!(bench.bus.notes().is_empty());
    }

    #[test]
    fn a_clock_too_fast_for_the_voltage_is_reported() {
        for (vos, r1mode, lpr, most) in [(1, 0, 0, 120), (1, 1, 0, 80), (2, 1, 0, 26), (1, 1, 1, 2)] {
            for (above, notes) in [(0, 0), (1, 1)] {
                let mut bench = pwr(most + above);
                let hclk = ClockInput::fixed(Hz::new((most + above) * 1_000_000).unwrap());
                let mut pwr = Pwr::new(hclk, ClockGate::default(), [Ps(0), Ps(0)]);
                pwr.words[CR5 as usize / 4] = r1mode << 8;
                bench.bus.devices[0] = Some(Box::new(pwr));
                bench.put(CR1, vos << 9 | lpr << 14);
                assert_eq!(bench.bus.notes().len(), notes, "{:?}", bench.bus.notes());
            }
        }
    }

    #[test]
    fn dbp_opens_the_backup_domain() {
        let (register, bit) = BACKUP_DOMAIN;
        let mut bench = pwr(4);
        assert!(!bench.bus.clocks.is_running(register, bit));
        bench.put(CR1, 1 << 9 | CR1_DBP);
        assert!(bench.bus.clocks.is_running(register, bit));
    }
}

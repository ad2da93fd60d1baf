//! `st,stm32f4-pwr`: the power controller of an STM32F4 (RM0090, "Power controller (PWR)", PWR_CR and PWR_CSR of the
//! STM32F405xx/07xx; RM0383, the same chapter).
//!
//! Modelled: the voltage scales with the regulator's transition time (VOSRDY), and a note if HCLK is above the limit of
//! a scale; DBP, which lets software write the backup domain; the backup regulator's ready flag. An STM32F411's VOS can
//! be written while the PLL is off, and takes effect while the PLL runs; otherwise the regulator is at scale 3.
//!
//! Not modelled: the supply, so PVD and brown-out never detect a fall; Stop and Standby (the core sleeps, and a note
//! says so); wake-up pins; regulator modes in Stop.

use crate::model::{Group, Model};
use crate::support::activities::{POWER, VOLTAGE};
use crate::support::kernel_clock::KernelClock;
use crate::support::registers::AccessKind::Rw;
use crate::support::registers::{Register, find, flag};
use crate::support::stm32_clock_gate::{BACKUP_DOMAIN, ClockGate};
use crate::support::stm32f4_part::Part;
use engine::activity::Detail;
use engine::bus::device::{AccessSize, Alarm, Ctx, Device, Reply, SlaveError};
use engine::dt::reader::NodeReader;
use engine::dt::wiring::ClockInput;
use engine::polling::{Poll, Polled};
use engine::state::State;
use engine::time::Ps;

const CR: u32 = 0x0;
const CSR: u32 = 0x4;

/// LPDS, PDDS.
const CR_DEEP_SLEEP: u32 = 3;
/// CWUF, CSBF: they clear flags, and read 0.
const CR_CLEARS: u32 = 3 << 2;
const CR_DBP: u32 = 1 << 8;
const CR_MASK: u32 = 0x3ff & !CR_CLEARS;
const CR_VOS_SHIFT: u32 = 14;
const CR_VOS: u32 = 3 << CR_VOS_SHIFT;
const CSR_BRR: u32 = 1 << 3;
const CSR_BRE: u32 = 1 << 9;
const CSR_VOSRDY: u32 = 1 << 14;
/// EWUP, BRE.
const CSR_MASK: u32 = 1 << 8 | CSR_BRE;

const F407: &[Register] = &[
    Register::new("PWR_CR", CR, Rw, 1 << CR_VOS_SHIFT, CR_MASK | 1 << CR_VOS_SHIFT),
    Register::new("PWR_CSR", CSR, Rw, 0, CSR_MASK),
];
/// PWR_CR with LPLVDS, MRLVDS, ADCDC1, FMSSR and FISSR.
const F411: &[Register] = &[
    Register::new("PWR_CR", CR, Rw, 2 << CR_VOS_SHIFT, CR_MASK | 3 << 10 | 1 << 13 | 3 << CR_VOS_SHIFT | 3 << 20),
    Register::new("PWR_CSR", CSR, Rw, 0, CSR_MASK),
];

impl Part {
    const fn pwr_registers(self) -> &'static [Register] {
        match self {
            Part::F407 => F407,
            Part::F411 => F411,
        }
    }

    /// The effective VOS while the PLL is off, in parts where VOS needs the PLL (RM0383, PWR_CR.VOS).
    const fn vos_without_pll(self) -> Option<u32> {
        match self {
            Part::F407 => None,
            Part::F411 => Some(1),
        }
    }

    /// The scale that VOS selects, and its maximum HCLK in MHz (RM0090, PWR_CR.VOS; RM0383, the same). The reserved
    /// value acts as the lowest.
    const fn scale(self, vos: u32) -> (u32, u64) {
        match (self, vos) {
            (Part::F407, 0) => (2, 144),
            (Part::F407, _) => (1, 168),
            (Part::F411, 3) => (1, 100),
            (Part::F411, 2) => (2, 84),
            (Part::F411, _) => (3, 64),
        }
    }
}

/// The device.
#[derive(Debug, State)]
pub struct Pwr {
    #[state(skip)]
    part: Part,
    hclk: ClockInput,
    /// An output of the PLL.
    pll: KernelClock,
    #[state(skip)]
    gate: ClockGate,
    #[state(skip)]
    regulator: Ps,
    #[state(skip)]
    backup_regulator: Ps,
    control: u32,
    status: u32,
    /// The end of the regulator's transition.
    changes_until: Option<Ps>,
    /// The time at which the backup regulator is ready.
    backup_from: Option<Ps>,
    alarm: Alarm,
    writes: u64,
}

/// For the list of models.
pub const MODEL: Model = Model::device(Group::System, &["st,stm32f4-pwr"], 1, from_node).with_activities(POWER);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    let part = Part::from_node(reader, "voltage scales");
    let hclk = reader.clock_input(0, "HCLK, which the voltage limits");
    let pll = KernelClock::new(reader.clock_input(1, "an output of the PLL, which shows whether the PLL runs"));
    let gate = ClockGate::from_node(reader);
    let regulator = reader.timing_ps("cyclescope,vos-us", "from a write of VOS until the regulator has that voltage");
    let backup = reader.timing_ps("cyclescope,backup-regulator-us", "from BRE until the backup regulator is ready");
    Box::new(Pwr::new(part, hclk, pll, gate, [regulator, backup]))
}

impl Pwr {
    /// The device after reset. The array has the transition times of the regulators.
    pub fn new(
        part: Part,
        hclk: ClockInput,
        pll: KernelClock,
        gate: ClockGate,
        [regulator, backup_regulator]: [Ps; 2],
    ) -> Pwr {
        Pwr {
            part,
            hclk,
            pll: pll.standing(),
            gate,
            regulator,
            backup_regulator,
            control: part.pwr_registers()[0].reset,
            status: 0,
            changes_until: None,
            backup_from: None,
            alarm: Alarm::default(),
            writes: 0,
        }
    }

    fn value(&self, offset: u32, now: Ps) -> u32 {
        match offset {
            CR => self.control,
            CSR => {
                let backup = self.backup_from.is_some_and(|from| from <= now);
                let stable = self.changes_until.is_none_or(|until| until <= now);
                self.status | flag(CSR_BRR, backup) | flag(CSR_VOSRDY, stable)
            }
            _ => 0,
        }
    }

    fn write_control(&mut self, value: u32, ctx: &mut Ctx) {
        let mut value = value;
        let is_locked = self.part.vos_without_pll().is_some() && self.pll.is_running();
        if is_locked && (value ^ self.control) & CR_VOS != 0 {
            ctx.note("PWR_CR.VOS was written while the PLL is on, when it is read-only: it keeps its value");
            value = value & !CR_VOS | self.control & CR_VOS;
        }
        let (changed, before) = (value ^ self.control, self.vos());
        self.control = value;
        self.scale_may_change(before, ctx);
        if changed & value & CR_DEEP_SLEEP != 0 {
            ctx.note("Stop and Standby (PWR_CR) are not modelled: the core sleeps, and clocks keep running");
        }
        self.open_backup_domain(ctx);
        self.check(ctx);
    }

    /// VOS in force.
    fn vos(&self) -> u32 {
        let without_pll = self.part.vos_without_pll().filter(|_| !self.pll.is_running());
        without_pll.unwrap_or(self.control >> CR_VOS_SHIFT & 3)
    }

    /// Starts a transition of the regulator if the scale differs from that of `before`.
    fn scale_may_change(&mut self, before: u32, ctx: &mut Ctx) {
        if self.vos() != before {
            let until = ctx.now.saturating_add(self.regulator);
            self.changes_until = Some(until);
            ctx.awaits(&VOLTAGE, Some(until), Detail::None);
            self.alarm.set(until, 0, ctx);
        }
    }

    fn write_status(&mut self, value: u32, ctx: &mut Ctx) {
        if (value & !self.status) & CSR_BRE != 0 {
            let ready = ctx.now.saturating_add(self.backup_regulator);
            self.backup_from = Some(ready);
            ctx.span((&VOLTAGE, 1), ctx.now, ready, Detail::None);
            self.alarm.set(ready, 0, ctx);
        } else if value & CSR_BRE == 0 {
            self.backup_from = None;
        }
        self.status = value;
    }

    fn open_backup_domain(&self, ctx: &mut Ctx) {
        let (register, bit) = BACKUP_DOMAIN;
        ctx.bus.clocks.set_gates(register, flag(1 << bit, self.control & CR_DBP != 0));
    }

    /// Adds a note for a clock that is too fast for the voltage.
    fn check(&self, ctx: &mut Ctx) {
        let vos = self.vos();
        let (scale, most_mhz) = self.part.scale(vos);
        let hz = self.hclk.rate.get();
        if hz > most_mhz * 1_000_000 {
            ctx.note(&format!(
                "HCLK runs at {hz} Hz with the regulator at scale {scale} (PWR_CR.VOS), which allows {most_mhz} MHz: \
                 the chip may fail"
            ));
        }
    }
}

impl Device for Pwr {
    fn reset(&mut self, ctx: &mut Ctx) {
        self.open_backup_domain(ctx);
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
            let mask = find(self.part.pwr_registers(), offset).map_or(0, |register| register.mask);
            match offset {
                CR => self.write_control(value & mask, ctx),
                CSR => self.write_status(value & mask, ctx),
                _ => {}
            }
        })
    }

    /// A flag changes, which wakes polling loops.
    fn event(&mut self, _: u32, ctx: &mut Ctx) {
        self.alarm.rang(ctx.now);
        let later = [self.changes_until, self.backup_from].into_iter().flatten().filter(|due| *due > ctx.now).min();
        if let Some(later) = later {
            self.alarm.set(later, 0, ctx);
        }
    }

    fn clocks_changed(&mut self, ctx: &mut Ctx) {
        let before = self.vos();
        self.hclk.rate = ctx.bus.clocks.rate_of(self.hclk);
        self.pll.follow(ctx);
        self.scale_may_change(before, ctx);
        self.check(ctx);
    }
}

impl Polled for Pwr {
    fn polled(&mut self, poll: &mut Poll) -> bool {
        poll.state(self.writes);
        poll.state(self.value(CSR, poll.now()));
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::{Bench, read_plain_node};
    use crate::support::registers::walk;
    use engine::bus::device::DeviceId;
    use engine::clocks::User;
    use engine::dt::wiring::ClockId;
    use engine::time::Hz;

    const PLL: ClockId = ClockId(4);

    fn pwr(part: Part, mhz: u64) -> Bench {
        let hclk = ClockInput::fixed(Hz::new(mhz * 1_000_000).unwrap());
        let times = [Ps::from_us(40), Ps::from_us(100)];
        let pll = KernelClock::new(ClockInput { rate: hclk.rate, id: Some(PLL) });
        let mut bench = Bench::new(Pwr::new(part, hclk, pll, ClockGate::default(), times));
        bench.bus.clocks.add_user(PLL, User::Device(DeviceId(0)));
        turn_pll(&mut bench, Ps(0), false);
        bench.bus.with_device(DeviceId(0), Ps(0), |device, ctx| device.reset(ctx));
        bench
    }

    fn turn_pll(bench: &mut Bench, at: Ps, on: bool) {
        if on {
            bench.bus.set_clocks(&[(PLL, Hz::new(48_000_000).unwrap())], at);
        } else {
            bench.bus.clocks.stop(PLL, None);
            bench.bus.set_clocks(&[], at);
        }
    }

    #[test]
    fn registers_are_those_of_the_manual() {
        for part in [Part::F407, Part::F411] {
            walk::device_keeps_its_table(part.pwr_registers(), &["PWR_CSR"], &mut pwr(part, 16));
        }
        assert_eq!(pwr(Part::F407, 16).value(Ps(0), CR), 0x4000);
        assert_eq!(pwr(Part::F411, 16).value(Ps(0), CR), 0x8000);
    }

    #[test]
    fn the_regulator_takes_its_time() {
        let mut bench = pwr(Part::F407, 16);
        assert_eq!(bench.value(Ps(0), CSR), CSR_VOSRDY);
        bench.write(Ps(0), CR, 0).unwrap();
        assert_eq!(bench.value(Ps::from_us(39), CSR), 0);
        assert_eq!(bench.value(Ps::from_us(40), CSR), CSR_VOSRDY);
        // No change, so no transition.
        bench.write(Ps::from_us(50), CR, 0).unwrap();
        assert_eq!(bench.value(Ps::from_us(50), CSR), CSR_VOSRDY);
        bench.write(Ps::from_us(50), CSR, CSR_BRE).unwrap();
        assert_eq!(bench.value(Ps::from_us(149), CSR), CSR_VOSRDY | CSR_BRE);
        assert_eq!(bench.value(Ps::from_us(150), CSR), CSR_VOSRDY | CSR_BRE | CSR_BRR);
    }

    #[test]
    fn each_flag_has_its_event() {
        let mut bench = pwr(Part::F407, 16);
        bench.write(Ps(0), CR, 0).unwrap();
        bench.write(Ps::from_us(1), CSR, CSR_BRE).unwrap();
        assert_eq!(bench.bus.events.next_due(), Ps::from_us(40));
        bench.run(Ps::from_us(40));
        assert_eq!(bench.bus.events.next_due(), Ps::from_us(101));
    }

    #[test]
    fn dbp_opens_the_backup_domain() {
        let mut bench = pwr(Part::F407, 16);
        let (register, bit) = BACKUP_DOMAIN;
        assert!(!bench.bus.clocks.is_running(register, bit));
        bench.write(Ps(0), CR, CR_DBP | 1 << CR_VOS_SHIFT).unwrap();
        assert!(bench.bus.clocks.is_running(register, bit));
    }

    #[test]
    fn a_clock_too_fast_for_the_voltage_is_reported() {
        let mut bench = pwr(Part::F407, 168);
        bench.write(Ps(0), CR, 1 << CR_VOS_SHIFT).unwrap();
        assert!(bench.bus.notes().is_empty());
        bench.write(Ps(0), CR, 0).unwrap();
        assert_eq!(bench.bus.notes().len(), 1);
        for (vos, mhz) in [(3, 100), (2, 84), (1, 64)] {
            for (above, notes) in [(0, 0), (1, 1)] {
                let mut bench = pwr(Part::F411, mhz + above);
                bench.write(Ps(0), CR, vos << CR_VOS_SHIFT).unwrap();
                turn_pll(&mut bench, Ps(0), true);
                let scale = format!("at scale {}", 4 - vos);
                let notes_of_it = bench.bus.notes().iter().filter(|note| note.contains(&scale)).count();
                assert_eq!(notes_of_it, notes, "VOS = {vos} at {} MHz", mhz + above);
            }
        }
    }

    #[test]
    fn vos_of_an_f411_is_in_force_while_the_pll_runs() {
        let mut bench = pwr(Part::F411, 16);
        bench.write(Ps(0), CR, 3 << CR_VOS_SHIFT).unwrap();
        assert_eq!(bench.value(Ps(0), CSR), CSR_VOSRDY, "scale 3, whatever VOS says");
        turn_pll(&mut bench, Ps::from_us(9), true);
        assert_eq!(bench.value(Ps::from_us(48), CSR), 0);
        assert_eq!(bench.value(Ps::from_us(49), CSR), CSR_VOSRDY);
        bench.write(Ps::from_us(50), CR, 2 << CR_VOS_SHIFT).unwrap();
        assert_eq!((bench.value(Ps::from_us(50), CR), bench.bus.notes().len()), (3 << CR_VOS_SHIFT, 1));
        turn_pll(&mut bench, Ps::from_us(60), false);
        assert_eq!((bench.value(Ps::from_us(99), CSR), bench.value(Ps::from_us(100), CSR)), (0, CSR_VOSRDY));
    }

    #[test]
    fn a_node_reports_its_times() {
        let times: &[(&str, &[u32])] = &[("cyclescope,vos-us", &[40]), ("cyclescope,backup-regulator-us", &[100])];
        let (_, faults) = read_plain_node(from_node, times);
        let unsourced = faults.iter().filter(|fault| !fault.contains("source")).count();
        assert_eq!(unsourced, 0, "{faults:?}");
    }
}

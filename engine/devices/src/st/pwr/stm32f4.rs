//! `st,stm32f4-pwr`: the power controller of an STM32F4 (RM0090, "Power controller (PWR)", PWR_CR and PWR_CSR of the
//! STM32F405xx/07xx; RM0383, the same chapter).
//!
//! Modelled: the voltage scales with the regulator's transition time (VOSRDY), and a note if HCLK is above the limit of
//! a scale; DBP, which lets software write the backup domain; the backup regulator's ready flag. An STM32F411's VOS can
//! be written while the PLL is off, and takes effect while the PLL runs; otherwise the regulator is at scale 3.
//!
//! Not modelled: the supply, so PVD and brown-out never detect a fall; Stop and Standby (the core sleeps, and a note
//! says so); wake-up pins; regulator modes in Stop.

use crate::prelude::*;

use super::{Generation, Pwr};
use crate::support::activities::POWER;
use crate::support::clock_gate::BACKUP_DOMAIN;
use crate::support::stm32f4_part::of_part;

registers! {
    const COMMON "PWR_" {
        CSR 0x4 rw { BRR 3 ro, EWUP 8, BRE 9, VOSRDY 14 ro };
    }

    const OF_F407 "PWR_" {
        CR 0x0 rw reset 0x4000 { LPDS 0, PDDS 1, PVDE 4, PLS 5..8, DBP 8, FPDS 9, VOS 14 };
    }
}

mod f411 {
    use super::registers;

    registers! {
        pub const MAP "PWR_" {
            CR 0x0 rw reset 0x8000 {
                LPDS 0, PDDS 1, PVDE 4, PLS 5..8, DBP 8, FPDS 9, LPLVDS 10, MRLVDS 11, ADCDC1 13, VOS 14..16, FMSSR 20,
                FISSR 21
            };
        }
    }
}

// Voltages by PWR_CR.VOS.
const SCALE_1: &str = "with the regulator at scale 1 (PWR_CR.VOS)";
const SCALE_2: &str = "with the regulator at scale 2 (PWR_CR.VOS)";
const SCALE_3: &str = "with the regulator at scale 3 (PWR_CR.VOS)";
/// VOS in force while the PLL is off, in parts where VOS needs the PLL (RM0383, PWR_CR.VOS).
const VOS_WITHOUT_PLL: usize = 1;

/// STM32F405 and STM32F407 (RM0090, PWR_CR.VOS).
const F407: Generation = Generation {
    map: &joined!(OF_F407, COMMON),
    control: CR,
    status: CSR,
    flags,
    wrote,
    open_gates,
    voltage,
    needs_pll: false,
    limits: &[(SCALE_2, 144), (SCALE_1, 168)],
};

/// STM32F411 (RM0383, the same). The reserved value acts as the lowest.
const F411: Generation = Generation {
    map: &joined!(f411::MAP, COMMON),
    needs_pll: true,
    limits: &[(SCALE_3, 64), (SCALE_3, 64), (SCALE_2, 84), (SCALE_1, 100)],
    ..F407
};

/// For the list of models.
pub const MODEL: Model =
    Model::device(Group::System, &["st,stm32f4-pwr"], 1, from_node).with_activities(POWER).naming(F411.map.rows);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    let generation = of_part(reader, "voltage scales", [&F407, &F411]);
    let hclk = reader.clock_input(0, "HCLK, which the voltage limits");
    let pll = reader.clock_input(1, "an output of the PLL, which shows whether the PLL runs");
    let gate = ClockGate::from_node(reader);
    let regulator = reader.timing_ps("cyclescope,vos-us", "from a write of VOS until the regulator has that voltage");
    let backup = reader.timing_ps("cyclescope,backup-regulator-us", "from BRE until the backup regulator is ready");
    Box::new(Pwr::new(generation, [hclk, pll], gate, [regulator, backup]))
}

/// VOS in force.
fn voltage(pwr: &Pwr, control: u32) -> usize {
    let needs_pll = pwr.generation.needs_pll && !pwr.pll.is_running();
    if needs_pll { VOS_WITHOUT_PLL } else { field(control, f411::CR_VOS) as usize }
}

fn flags(pwr: &Pwr, held: u32, now: Ps) -> u32 {
    let has_backup = held & CSR_BRE != 0 && !pwr.is_changing(1, now);
    held | flag(CSR_BRR, has_backup) | flag(CSR_VOSRDY, !pwr.is_changing(0, now))
}

fn open_gates(pwr: &Pwr, ctx: &mut Ctx) {
    let (register, bit) = BACKUP_DOMAIN;
    ctx.bus.clocks.set_gates(register, flag(1 << bit, pwr.registers.has(CR, CR_DBP)));
}

fn wrote(pwr: &mut Pwr, register: u32, old: u32, new: u32, ctx: &mut Ctx) {
    match register {
        CR => wrote_control(pwr, old, new, ctx),
        _ if new & !old & CSR_BRE != 0 => pwr.begin_span(1, ctx),
        _ if new & CSR_BRE == 0 => pwr.until[1] = Ps::ZERO,
        _ => {}
    }
}

fn wrote_control(pwr: &mut Pwr, old: u32, new: u32, ctx: &mut Ctx) {
    if pwr.generation.needs_pll && pwr.pll.is_running() && (old ^ new) & f411::CR_VOS != 0 {
        ctx.note("PWR_CR.VOS was written while the PLL is on, when it is read-only: it keeps its value");
        pwr.registers.set(CR, new & !f411::CR_VOS | old & f411::CR_VOS);
    }
    pwr.voltage_may_change(voltage(pwr, old), ctx);
    if new & !old & (CR_LPDS | CR_PDDS) != 0 {
        ctx.note("Stop and Standby (PWR_CR) are not modelled: the core sleeps, and clocks keep running");
    }
    open_gates(pwr, ctx);
    pwr.check(ctx);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::{Bench, read_plain_node};
    use crate::registers::walk;
    use engine::bus::device::DeviceId;
    use engine::clocks::User;
    use engine::dt::wiring::{ClockId, ClockInput};
    use engine::time::Hz;

    const PLL: ClockId = ClockId(4);
    const VOS_SHIFT: u32 = 14;

    fn pwr(part: &'static Generation, mhz: u64) -> Bench {
        let hclk = ClockInput::fixed(Hz::new(mhz * 1_000_000).unwrap());
        let times = [Ps::from_us(40), Ps::from_us(100)];
        let pll = ClockInput { rate: hclk.rate, id: Some(PLL) };
        let mut bench = Bench::new(Pwr::new(part, [hclk, pll], ClockGate::default(), times));
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
        for part in [&F407, &F411] {
            walk::device_keeps_its_map(part.map, &["PWR_CSR"], &mut pwr(part, 16));
        }
        assert_eq!(pwr(&F407, 16).value(Ps(0), CR), 0x4000);
        assert_eq!(pwr(&F411, 16).value(Ps(0), CR), 0x8000);
    }

    #[test]
    fn the_regulator_takes_its_time() {
        let mut bench = pwr(&F407, 16);
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
        let mut bench = pwr(&F407, 16);
        bench.write(Ps(0), CR, 0).unwrap();
        bench.write(Ps::from_us(1), CSR, CSR_BRE).unwrap();
        assert_eq!(bench.bus.events.next_due(), Ps::from_us(40));
        bench.run(Ps::from_us(40));
        assert_eq!(bench.bus.events.next_due(), Ps::from_us(101));
    }

    #[test]
    fn dbp_opens_the_backup_domain() {
        let mut bench = pwr(&F407, 16);
        let (register, bit) = BACKUP_DOMAIN;
        assert!(!bench.bus.clocks.is_running(register, bit));
        bench.write(Ps(0), CR, CR_DBP | 1 << VOS_SHIFT).unwrap();
        assert!(bench.bus.clocks.is_running(register, bit));
    }

    #[test]
    fn a_clock_too_fast_for_the_voltage_is_reported() {
        let mut bench = pwr(&F407, 168);
        bench.write(Ps(0), CR, 1 << VOS_SHIFT).unwrap();
        assert!(bench.bus.notes().is_empty());
        bench.write(Ps(0), CR, 0).unwrap();
        assert_eq!(bench.bus.notes().len(), 1);
        for (vos, mhz) in [(3, 100), (2, 84), (1, 64)] {
            for (above, notes) in [(0, 0), (1, 1)] {
                let mut bench = pwr(&F411, mhz + above);
                bench.write(Ps(0), CR, vos << VOS_SHIFT).unwrap();
                turn_pll(&mut bench, Ps(0), true);
                let scale = format!("at scale {}", 4 - vos);
                let notes_of_it = bench.bus.notes().iter().filter(|note| note.contains(&scale)).count();
                assert_eq!(notes_of_it, notes, "VOS = {vos} at {} MHz", mhz + above);
            }
        }
    }

    #[test]
    fn vos_of_an_f411_is_in_force_while_the_pll_runs() {
        let mut bench = pwr(&F411, 16);
        bench.write(Ps(0), CR, 3 << VOS_SHIFT).unwrap();
        assert_eq!(bench.value(Ps(0), CSR), CSR_VOSRDY, "scale 3, whatever VOS says");
        turn_pll(&mut bench, Ps::from_us(9), true);
        assert_eq!(bench.value(Ps::from_us(48), CSR), 0);
        assert_eq!(bench.value(Ps::from_us(49), CSR), CSR_VOSRDY);
        bench.write(Ps::from_us(50), CR, 2 << VOS_SHIFT).unwrap();
        assert_eq!((bench.value(Ps::from_us(50), CR), bench.bus.notes().len()), (3 << VOS_SHIFT, 1));
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

//! `st,stm32l4-pwr`: the power controller of an STM32L4+ (RM0432, "Power control (PWR)").
//!
//! Modelled: the voltage ranges with the regulator's transition time (VOSF), the boost mode (R1MODE) and the low-power
//! run mode (LPR, REGLPF), with a note if HCLK is above their limit; DBP, which lets software write the backup domain;
//! IOSV, without which pins on VDDIO2 are isolated; all other registers keep written values.
//!
//! Not modelled: the supplies, so PVD, PVM and brown-out never detect a fall; Stop, Standby and Shutdown (the core
//! sleeps, and a note says so); wake-up pins; pull-ups in Standby.

use crate::prelude::*;

use super::{Generation, Pwr};
use crate::support::activities::POWER;
use crate::support::clock_gate::{BACKUP_DOMAIN, SECOND_SUPPLY};

registers! {
    const MAP "PWR_" {
        CR1 0x00 rw reset 0x200 { LPMS 0..3, RRSTP 4, DBP 8, VOS 9..11, LPR 14 };
        CR2 0x04 rw mask 0x6ff { IOSV 9 };
        CR3 0x08 rw reset 0x8000 mask 0x851f;
        CR4 0x0c rw mask 0x31f;
        SR1 0x10 ro mask 0x811f;
        SR2 0x14 ro mask 0xff00 { REGLPS 8, REGLPF 9, VOSF 10 };
        SCR 0x18 wo mask 0x11f;
        /// Pull-ups and pull-downs in Standby, one bit for each pin.
        PUCR ['A'..'J'; 8] 0x20 rw mask 0xffff;
        PDCR ['A'..'J'; 8] 0x24 rw mask 0xffff;
        CR5 0x80 rw reset 0x100 { R1MODE 8 };
    }
}

/// The voltages (RM0432, Dynamic voltage scaling management).
const LIMITS: [(&str, u64); 4] = [
    ("in low-power run mode", 2),
    ("in range 1, boost mode", 120),
    ("in range 1, normal mode (PWR_CR5.R1MODE is 1)", 80),
    ("in range 2", 26),
];

static L4: Generation = Generation {
    map: &MAP,
    control: CR1,
    status: SR2,
    flags: |pwr, _, now| {
        let low_power = pwr.registers.has(CR1, CR1_LPR) || pwr.is_changing(1, now);
        SR2_REGLPS | flag(SR2_REGLPF, low_power) | flag(SR2_VOSF, pwr.is_changing(0, now))
    },
    wrote: |pwr, register, old, new, ctx| match register {
        CR1 => wrote_control(pwr, old, new, ctx),
        CR2 => open_gates(pwr, ctx),
        CR5 => pwr.check(ctx),
        _ => {}
    },
    open_gates,
    voltage: |pwr, control| match field(control, CR1_VOS) {
        _ if control & CR1_LPR != 0 => 0,
        1 if !pwr.registers.has(CR5, CR5_R1MODE) => 1,
        1 => 2,
        _ => 3,
    },
    needs_pll: false,
    limits: &LIMITS,
};

/// For the list of models.
pub const MODEL: Model =
    Model::device(Group::System, &["st,stm32l4-pwr"], 1, from_node).with_activities(POWER).naming(MAP.rows);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    let hclk = reader.clock_input(0, "HCLK, which the voltage limits");
    let gate = ClockGate::from_node(reader);
    let regulator = reader.timing_ps("cyclescope,vos-us", "from range 2 to range 1");
    let main =
        reader.timing_ps("cyclescope,main-regulator-us", "from low-power run mode until the main regulator is on");
    Box::new(Pwr::new(&L4, [hclk, hclk], gate, [regulator, main]))
}

fn wrote_control(pwr: &mut Pwr, old: u32, new: u32, ctx: &mut Ctx) {
    // RM0432, PWR_SR2.VOSF: set while the regulator's output changes to range 1.
    if (old ^ new) & CR1_VOS != 0 && field(new, CR1_VOS) == 1 {
        pwr.begin_span(0, ctx);
    }
    if old & !new & CR1_LPR != 0 {
        pwr.begin_span(1, ctx);
    }
    if (old ^ new) & CR1_LPMS != 0 && new & CR1_LPMS != 0 {
        ctx.note(
            "Stop, Standby and Shutdown (PWR_CR1.LPMS) are not modelled: the core sleeps, and clocks keep running",
        );
    }
    open_gates(pwr, ctx);
    pwr.check(ctx);
}

fn open_gates(pwr: &Pwr, ctx: &mut Ctx) {
    let (register, bit) = BACKUP_DOMAIN;
    let backup = flag(1 << bit, pwr.registers.has(CR1, CR1_DBP));
    let supply = flag(1 << SECOND_SUPPLY.1, pwr.registers.has(CR2, CR2_IOSV));
    ctx.bus.clocks.set_gates(register, backup | supply);
    ctx.set_clocks(&[]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::Bench;
    use crate::registers::walk::{self, Port};
    use engine::bus::device::DeviceId;
    use engine::dt::wiring::ClockInput;
    use engine::time::{Hz, Ps};

    fn new(hclk: ClockInput, times: [Ps; 2]) -> Pwr {
        Pwr::new(&L4, [hclk, hclk], ClockGate::NONE, times)
    }

    fn pwr(mhz: u64) -> Bench {
        let hclk = ClockInput::fixed(Hz::new(mhz * 1_000_000).unwrap());
        let times = [Ps::from_us(20), Ps::from_us(5)];
        let mut bench = Bench::new(new(hclk, times));
        bench.bus.with_device(DeviceId(0), Ps(0), |device, ctx| device.reset(ctx));
        bench
    }

    #[test]
    fn registers_are_those_of_the_manual() {
        walk::device_keeps_its_map(&MAP, &["PWR_SR2"], &mut pwr(4));
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
                let mut pwr = new(hclk, [Ps(0), Ps(0)]);
                pwr.registers.set(CR5, r1mode << 8);
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

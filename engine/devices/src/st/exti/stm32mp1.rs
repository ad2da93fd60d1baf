//! `st,stm32mp1-exti`: the extended interrupt and event controller of STM32MP1 (RM0436, "Extended interrupt and event
//! controller (EXTI)"), with three banks of 32 lines, which both processors share.
//!
//! Modelled: lines 0 to 15, each connected to a pin of one of the ports (EXTI_EXTICRx): edges (EXTI_RTSRx, EXTI_FTSRx),
//! software's bits (EXTI_SWIERx), a pending bit for each direction (EXTI_RPRx, EXTI_FPRx), and the interrupts to each
//! processor that has not masked them (EXTI_CnIMRx). A line whose event the MCU has not masked (EXTI_C2EMRx) ends its
//! wfe.
//!
//! Not modelled: the sources of the other lines, which are interrupts of peripherals: these reach the interrupt
//! controllers directly, and wake the processors. EXTI_C1EMRx and EXTI_TZENRx keep written values. The registers of
//! other lines keep theirs; software's bit makes a line with an edge detector pending.

use crate::prelude::*;
use engine::bus::device::DeviceId;

use super::{Bank, Exti, Generation, LineGroup, Params};
use crate::support::stm32_pin_lines::{PIN_LINES, PinLines};

registers! {
    /// The registers of the first bank's lines, and both processors' masks of the first bank. The other banks follow.
    const FIRST "EXTI_" {
        RTSR1 0x00 rw mask CONFIGURABLE[0];
        FTSR1 0x04 rw mask CONFIGURABLE[0];
        SWIER1 0x08 wo mask CONFIGURABLE[0];
        RPR1 0x0c w1c mask CONFIGURABLE[0];
        FPR1 0x10 w1c mask CONFIGURABLE[0];
        TZENR1 0x14 rw;
        EXTICR1 "EXTICR{}" [1..5; 4] 0x60 rw;
        C1IMR1 0x80 rw reset !CONFIGURABLE[0];
        C1EMR1 0x84 rw;
        C2IMR1 0xc0 rw reset !CONFIGURABLE[0];
        C2EMR1 0xc4 rw;
        /// Lines with an edge detector, by which Linux's driver distinguishes them from direct ones.
        HWCFGR4 0x3e4 ro reset CONFIGURABLE[2];
        HWCFGR3 0x3e8 ro reset CONFIGURABLE[1];
        HWCFGR2 0x3ec ro reset CONFIGURABLE[0];
        HWCFGR1 0x3f0 ro reset 0x000b_214b;
        VERR 0x3f4 ro reset 0x30 mask 0xff;
        IPIDR 0x3f8 ro reset 0x000e_0001;
        SIDR 0x3fc ro reset 0xa3c5_dd01;
    }

    /// Those of the other banks: which bits they have is in [`LINES`] and [`CONFIGURABLE`].
    const OTHERS "EXTI_" {
        RTSR2 "RTSR{}" [2..4; 0x20] 0x20 rw;
        FTSR2 "FTSR{}" [2..4; 0x20] 0x24 rw;
        SWIER2 "SWIER{}" [2..4; 0x20] 0x28 wo;
        RPR2 "RPR{}" [2..4; 0x20] 0x2c w1c;
        FPR2 "FPR{}" [2..4; 0x20] 0x30 w1c;
        TZENR2 0x34 rw;
        TZENR3 0x54 rw mask LINES[2];
        C1IMR2 "C1IMR{}" [2..4; 0x10] 0x90 rw;
        C1EMR2 "C1EMR{}" [2..4; 0x10] 0x94 rw;
        C2IMR2 "C2IMR{}" [2..4; 0x10] 0xd0 rw;
        C2EMR2 "C2EMR{}" [2..4; 0x10] 0xd4 rw;
    }
}

const ALL: Map = joined!(FIRST, OTHERS);
/// Lines with an edge detector: 0 to 16, 65, 66, 68, 73 and 74. The others are direct, and not masked after reset.
const CONFIGURABLE: [u32; 3] = [0x1_ffff, 0, 0x616];
/// Implemented lines.
const LINES: [u32; 3] = [u32::MAX, u32::MAX, 0xfff];
/// Bits by which EXTI_EXTICRx select a port.
const PORT_BITS: u32 = 8;

static GENERATION: Generation = Generation {
    map: &ALL,
    banks: &[
        Bank { rtsr: RTSR1, masks: &[C1IMR1, C2IMR1] },
        Bank { rtsr: RTSR2, masks: &[C1IMR2, C2IMR2] },
        Bank { rtsr: RTSR2 + 0x20, masks: &[C1IMR2 + 0x10, C2IMR2 + 0x10] },
    ],
    pending: [RPR1 - RTSR1, FPR1 - RTSR1],
    keeps_software: false,
    own: (1 << PIN_LINES) - 1,
    has_inputs: false,
    has_interrupts_first: false,
};

/// For the list of models.
pub const MODEL: Model = Model::device(Group::Interrupt, &["st,stm32mp1-exti"], 1, from_node).naming(FIRST.rows);

/// Builds the controller from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    let interrupts = reader.interrupts("the interrupts of lines 0 to 15 to the MPU, then those to the MCU");
    let ports = reader.ports("cyclescope,ports", "the GPIO ports, in the order of their numbers in EXTI_EXTICRx");
    let mcu = reader.core_index("st,mcu", "the core that is the MCU, which gets the events");
    Box::new(new(ports, &interrupts, mcu))
}

/// The controller after reset: its ports, the interrupts to the MPU and then to the MCU, and the core that is the MCU.
fn new(ports: Vec<Option<DeviceId>>, interrupts: &[Option<IrqLine>], mcu: Option<usize>) -> Exti {
    let group = |(place, interrupt): (usize, &Option<IrqLine>)| LineGroup {
        processor: place / PIN_LINES as usize,
        lines: 1 << (place as u32 % PIN_LINES),
        interrupt: *interrupt,
    };
    let groups = interrupts.iter().take(2 * PIN_LINES as usize).enumerate().map(group).collect();
    let direct = [0, 1, 2].map(|bank: usize| LINES[bank] & !CONFIGURABLE[bank]);
    let cores = vec![Vec::new(), mcu.into_iter().map(|core| core as u32).collect()];
    Exti::new(&GENERATION, Params { lines: LINES, direct, groups, cores }, PinLines::new(ports, EXTICR1, PORT_BITS))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::Bench;
    use crate::registers::walk;
    use crate::st::stm32_gpio::{self, Gpio};
    use engine::pins::Pin;
    use engine::time::Ps;

    const NOW: Ps = Ps(0);
    const RTSR3: u32 = RTSR2 + 0x20;
    const C1IMR3: u32 = C1IMR2 + 0x10;

    /// The controller is device 0, ports A and B are devices 1 and 2. Lines lead to inputs 0 to 15 of the core for the
    /// MPU, and to 16 to 31 for the MCU.
    fn exti() -> Bench {
        let lines: Vec<Option<IrqLine>> = (0..32).map(|bit| Some(IrqLine::Core { core: 0, bit })).collect();
        let ports = vec![Some(DeviceId(1)), Some(DeviceId(2))];
        let port = || Gpio::new(stm32_gpio::Params::default());
        let mut bench = Bench::new(new(ports, &lines, Some(0))).and(port()).and(port());
        for device in [1, 2] {
            bench.bus.wires.add_port(DeviceId(device), 1);
        }
        for device in [1, 2, 0] {
            bench.bus.with_device(DeviceId(device), NOW, |device, ctx| device.reset(ctx));
        }
        bench
    }

    fn drive(bench: &mut Bench, port: u32, number: u32, level: bool) {
        bench.bus.drive_pin(Pin::new(DeviceId(port), number), Some(level), NOW);
    }

    #[test]
    fn the_device_keeps_its_table() {
        let special = ["EXTI_SWIER1", "EXTI_RPR1", "EXTI_FPR1"];
        walk::device_keeps_its_map(&FIRST, &special, &mut exti());
        let mut bench = exti();
        assert_eq!((bench.value(NOW, C1IMR2), bench.value(NOW, C1IMR3)), (u32::MAX, 0x9e9));
        bench.write(NOW, RTSR3, u32::MAX).unwrap();
        bench.write(NOW, 0x20, u32::MAX).unwrap();
        assert_eq!((bench.value(NOW, RTSR3), bench.value(NOW, 0x20)), (0x616, 0));
    }

    #[test]
    fn edges_of_the_selected_pin_interrupt_who_has_not_masked_them() {
        let mut bench = exti();
        // Line 13 is port B's; the MPU uses its falling edge, the MCU both.
        bench.write(NOW, EXTICR1 + 12, 1 << 8).unwrap();
        bench.write(NOW, RTSR1, 1 << 13).unwrap();
        bench.write(NOW, FTSR1, 1 << 13).unwrap();
        bench.write(NOW, C1IMR1, 0).unwrap();
        bench.write(NOW, C2IMR1, 1 << 13).unwrap();
        drive(&mut bench, 1, 13, true);
        assert_eq!((bench.value(NOW, RPR1), bench.pending()), (0, 0), "a pin of the other port");
        drive(&mut bench, 2, 13, true);
        assert_eq!((bench.value(NOW, RPR1), bench.value(NOW, FPR1), bench.pending()), (1 << 13, 0, 1 << 29));
        bench.write(NOW, C1IMR1, 1 << 13).unwrap();
        assert_eq!(bench.pending(), 1 << 29 | 1 << 13);
        bench.write(NOW, RPR1, 1 << 13).unwrap();
        assert_eq!(bench.pending(), 0);
        drive(&mut bench, 2, 13, false);
        assert_eq!((bench.value(NOW, RPR1), bench.value(NOW, FPR1)), (0, 1 << 13));
        // Port A again, whose pin is high: an edge at the line.
        bench.write(NOW, EXTICR1 + 12, 0).unwrap();
        assert_eq!(bench.value(NOW, RPR1), 1 << 13);
    }

    #[test]
    fn software_makes_lines_pending() {
        let mut bench = exti();
        bench.write(NOW, C2IMR1, 1).unwrap();
        bench.write(NOW, SWIER1, 1).unwrap();
        assert_eq!((bench.value(NOW, SWIER1), bench.value(NOW, RPR1), bench.pending()), (0, 1, 1 << 16));
    }
}

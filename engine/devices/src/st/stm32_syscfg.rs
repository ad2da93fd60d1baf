//! `st,stm32-syscfg`: the system configuration controller of STM32F4 (RM0090, "System configuration controller
//! (SYSCFG)"), and `st,stm32l4-syscfg`: the SYSCFG of STM32L4+ (RM0432).
//!
//! Modelled: all registers; the multiplexers of SYSCFG_EXTICRx, which connect a pin of one of the ports to each of
//! EXTI's lines 0 to 15; SYSCFG_MEMRMP.MEM_MODE, which maps one of the board's memories at address 0, from the
//! instruction after the write on.
//!
//! Not modelled: the effect of the other registers. A memory that the board does not name (system memory, external
//! memories) is not mapped: a note says so, and the mapping at address 0 stays. On an STM32L4+, banks of the flash are
//! not swapped (FB_MODE, with a note), and SRAM2 is not erased (SYSCFG_SCSR).

use crate::prelude::*;
use engine::bus::device::{DeviceId, PortId};
use engine::pins::bits;

use crate::registers::{self, Lanes};
use crate::support::stm32_pin_lines::PinLines;

registers! {
    const COMMON "SYSCFG_" {
        EXTICR1 "EXTICR{}" [1..5; 4] 0x08 rw mask 0xffff;
    }

    const MORE_OF_F4 "SYSCFG_" {
        MEMRMP 0x00 rw mask 3;
        PMC 0x04 rw mask 1 << 23;
        CMPCR 0x20 rw mask 1;
    }
}

mod stm32l4 {
    use super::registers;

    registers! {
        pub const MORE "SYSCFG_" {
            MEMRMP 0x00 rw { MEM_MODE 0..3, FB_MODE 8 };
            CFGR1 0x04 rw reset 0x7c00_0001 mask 0xfc7f_0101;
            SCSR 0x18 rw mask 0;
            CFGR2 0x1c rw mask 0x0f;
            SWPR 0x20 rw;
            SKR 0x24 wo mask 0xff;
            SWPR2 0x28 rw;
        }
    }
}

/// The register map of an STM32F4.
pub const OF_F4: Map = joined!(COMMON, MORE_OF_F4);
/// The register map of an STM32L4+.
pub const OF_L4: Map = joined!(COMMON, stm32l4::MORE);

/// SYSCFG_MEMRMP.MEM_MODE.
const MEM_MODE: u32 = stm32l4::MEMRMP_MEM_MODE;
/// SYSCFG_MEMRMP.FB_MODE of an STM32L4+.
const FB_MODE: u32 = stm32l4::MEMRMP_FB_MODE;
/// Bits by which SYSCFG_EXTICRx select a port.
const PORT_BITS: u32 = 4;
/// The compatible of the STM32L4+'s SYSCFG.
const L4: &str = "st,stm32l4-syscfg";

/// The controller.
#[derive(Debug, State, Polled, RegisterBank)]
#[port(Port::new(Lanes::Kept))]
pub struct Syscfg {
    registers: Registers,
    pins: PinLines,
    /// EXTI's lines 0 to 15.
    lines: Vec<Option<IrqLine>>,
    /// Values of MEM_MODE, and the addresses of the memories that they map at address 0.
    #[state(skip)]
    memories: Vec<[u32; 2]>,
    gate: ClockGate,
}

/// For the list of models.
pub const MODEL: Model =
    Model::device(Group::System, &["st,stm32-syscfg", L4], 1, from_node).naming(OF_F4.rows).naming_as(L4, OF_L4.rows);

/// Builds the controller from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    reader.known(&["clocks"]);
    let map = if reader.node.compatibles().contains(&L4) { &OF_L4 } else { &OF_F4 };
    let meaning = "pairs: a value of SYSCFG_MEMRMP.MEM_MODE, and the address of the memory that it maps at 0";
    let memories = reader.pairs("cyclescope,boot-memories", meaning, meaning, |_| true);
    let ports = reader.ports("cyclescope,ports", "the GPIO ports, in the order of their numbers in SYSCFG_EXTICRx");
    let lines = reader.interrupts("EXTI's lines 0 to 15, in order");
    Box::new(Syscfg::new(map, ports, lines, memories, ClockGate::from_node(reader)))
}

impl Syscfg {
    /// The controller after reset, with ports by their numbers in SYSCFG_EXTICRx; `None` for ports that the chip lacks.
    fn new(
        map: &'static Map,
        ports: Vec<Option<DeviceId>>,
        lines: Vec<Option<IrqLine>>,
        memories: Vec<[u32; 2]>,
        gate: ClockGate,
    ) -> Syscfg {
        let pins = PinLines::new(ports, EXTICR1, PORT_BITS);
        Syscfg { registers: Registers::new(map), pins, lines, memories, gate }
    }

    /// Remaps address 0 after a change of SYSCFG_MEMRMP.
    fn remap(&self, old: u32, new: u32, ctx: &mut Ctx) {
        let (mode, changed) = (new & MEM_MODE, old ^ new);
        if changed & new & FB_MODE != 0 {
            ctx.note("SYSCFG_MEMRMP.FB_MODE is not modelled: the banks of the flash stay where they are");
        }
        if changed & MEM_MODE == 0 {
            return;
        }
        let memory = self.memories.iter().find(|[value, _]| *value == mode);
        if !memory.is_some_and(|[_, memory]| ctx.bus.show_at(0, *memory, ctx.id, ctx.now)) {
            ctx.note(&format!(
                "SYSCFG_MEMRMP.MEM_MODE is {mode}, and there is no model of that memory: \
                 what is at address 0 stays there"
            ));
        }
    }

    /// Passes changed lines on to EXTI.
    fn drive(&self, changed: u32, ctx: &mut Ctx) {
        for line in bits(changed) {
            let interrupt = self.lines.get(line as usize).copied().flatten();
            ctx.set_irq(interrupt, self.pins.levels() >> line & 1 != 0);
        }
    }
}

impl Table for Syscfg {
    fn wrote(&mut self, register: u32, old: u32, new: u32, ctx: &mut Ctx) {
        if register == MEMRMP {
            self.remap(old, new, ctx);
        } else if self.pins.has(register) {
            let changed = self.pins.connect(&self.registers, ctx);
            self.drive(changed, ctx);
        }
    }
}

/// A reset by the RCC does not reach its registers, so that the gate alone holds accesses back.
impl Device for Syscfg {
    fn reset(&mut self, ctx: &mut Ctx) {
        let changed = self.pins.follow(&self.registers, ctx);
        self.drive(changed, ctx);
    }

    fn read(&mut self, _: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> AccessResult {
        if self.gate.is_open(ctx) { registers::read(self, offset, size, ctx) } else { Ok(Reply::read(0, ctx.now)) }
    }

    fn write(&mut self, _: usize, offset: u32, size: AccessSize, value: u32, ctx: &mut Ctx) -> AccessResult {
        if self.registers.map().row(offset).is_some() && self.gate.is_open(ctx) {
            return registers::write(self, offset, size, value, ctx);
        }
        Ok(Reply::written(ctx.now))
    }

    fn pins_changed(&mut self, port: PortId, changed: u32, levels: u32, ctx: &mut Ctx) {
        let changed = self.pins.pins_changed(&self.registers, port, changed, levels);
        self.drive(changed, ctx);
    }

    fn passes_interrupts(&self) -> bool {
        true
    }
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

    /// The controller is device 0, ports are devices 1 and 2; lines lead to core 0's inputs.
    fn syscfg(map: &'static Map) -> Bench {
        let port = || Gpio::new(stm32_gpio::Params::default());
        let lines = (0..16).map(|bit| Some(IrqLine::Core { core: 0, bit })).collect();
        let ports = vec![Some(DeviceId(1)), None, Some(DeviceId(2))];
        let memories = vec![[3, 0x2000_0000]];
        let mut bench =
            Bench::new(Syscfg::new(map, ports, lines, memories, ClockGate::default())).and(port()).and(port());
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
    fn the_devices_keep_their_tables() {
        walk::device_keeps_its_map(&OF_F4, &[], &mut syscfg(&OF_F4));
        walk::device_keeps_its_map(&OF_L4, &[], &mut syscfg(&OF_L4));
    }

    #[test]
    fn each_line_has_the_pin_of_its_number_of_the_port_that_is_chosen() {
        let mut bench = syscfg(&OF_F4);
        drive(&mut bench, 1, 5, true);
        drive(&mut bench, 2, 6, true);
        assert_eq!(bench.pending(), 1 << 5);
        // EXTICR2: line 6 from port C, line 5 from port B, which the chip lacks.
        bench.write(NOW, EXTICR1 + 4, 0x0210).unwrap();
        assert_eq!(bench.pending(), 1 << 6);
        drive(&mut bench, 2, 6, false);
        drive(&mut bench, 1, 6, true);
        assert_eq!(bench.pending(), 0);
    }

    #[test]
    fn a_memory_that_the_board_has_not_is_not_shown() {
        let mut bench = syscfg(&OF_F4);
        for mode in [3, 1] {
            bench.write(NOW, MEMRMP, mode).unwrap();
        }
        let notes = bench.bus.notes();
        assert_eq!(notes.len(), 2, "{notes:?}");
        assert!(notes[0].contains("MEM_MODE is 3") && notes[1].contains("MEM_MODE is 1"), "{notes:?}");
    }
}

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

use crate::model::{Group, Model};
use crate::support::registers::{AccessKind, Register};
use crate::support::stm32_clock_gate::ClockGate;
use crate::support::stm32_pin_lines::{PIN_LINES, PinLines};
use engine::bus::device::{AccessSize, Ctx, Device, DeviceId, IrqLine, Reply, SlaveError};
use engine::dt::reader::NodeReader;
use engine::pins::{PortId, bits};
use engine::polling::{Poll, Polled};
use engine::state::State;

/// The register map: the registers of the first bank's lines, and both processors' masks of the first bank. The other
/// banks follow, 0x20 and 0x10 apart.
pub const REGISTERS: &[Register] = &[
    Register::new("EXTI_RTSR1", RTSR, AccessKind::Rw, 0, CONFIGURABLE[0]),
    Register::new("EXTI_FTSR1", FTSR, AccessKind::Rw, 0, CONFIGURABLE[0]),
    Register::new("EXTI_SWIER1", SWIER, AccessKind::Wo, 0, CONFIGURABLE[0]),
    Register::new("EXTI_RPR1", RPR, AccessKind::W1c, 0, CONFIGURABLE[0]),
    Register::new("EXTI_FPR1", FPR, AccessKind::W1c, 0, CONFIGURABLE[0]),
    Register::new("EXTI_TZENR1", TZENR, AccessKind::Rw, 0, u32::MAX),
    Register::new("EXTI_EXTICR1", EXTICR1, AccessKind::Rw, 0, u32::MAX),
    Register::new("EXTI_EXTICR2", 0x64, AccessKind::Rw, 0, u32::MAX),
    Register::new("EXTI_EXTICR3", 0x68, AccessKind::Rw, 0, u32::MAX),
    Register::new("EXTI_EXTICR4", EXTICR4, AccessKind::Rw, 0, u32::MAX),
    Register::new("EXTI_C1IMR1", MASKS, AccessKind::Rw, !CONFIGURABLE[0], u32::MAX),
    Register::new("EXTI_C1EMR1", MASKS + EMR, AccessKind::Rw, 0, u32::MAX),
    Register::new("EXTI_C2IMR1", MASKS + PROCESSOR, AccessKind::Rw, !CONFIGURABLE[0], u32::MAX),
    Register::new("EXTI_C2EMR1", MASKS + PROCESSOR + EMR, AccessKind::Rw, 0, u32::MAX),
];

const RTSR: u32 = 0x00;
const FTSR: u32 = 0x04;
const SWIER: u32 = 0x08;
const RPR: u32 = 0x0c;
const FPR: u32 = 0x10;
const TZENR: u32 = 0x14;
/// Bytes from a bank's lines to the next bank's.
const LINES_STRIDE: u32 = 0x20;
const EXTICR1: u32 = 0x60;
const EXTICR4: u32 = 0x6c;
/// EXTI_C1IMR1.
const MASKS: u32 = 0x80;
/// Bytes from EXTI_CnIMRx to EXTI_CnEMRx.
const EMR: u32 = 0x04;
/// Bytes from a bank's masks to the next bank's.
const MASKS_STRIDE: u32 = 0x10;
/// Bytes from the MPU's masks to the MCU's.
const PROCESSOR: u32 = 0x40;
const END: u32 = MASKS + 2 * PROCESSOR;

const BANKS: usize = 3;
/// Lines with an edge detector: 0 to 16, 65, 66, 68, 73 and 74. The others are direct, and not masked after reset.
const CONFIGURABLE: [u32; BANKS] = [0x1_ffff, 0, 0x616];
/// Implemented lines.
const LINES: [u32; BANKS] = [u32::MAX, u32::MAX, 0xfff];
/// Bits by which EXTI_EXTICRx select a port.
const PORT_BITS: u32 = 8;
const MPU: usize = 0;
const MCU: usize = 1;

/// The board's parameters of the controller.
#[derive(Clone, Debug, Default)]
pub struct Params {
    /// The GPIO ports by their numbers in EXTI_EXTICRx; `None` for ports that the chip lacks.
    pub ports: Vec<Option<DeviceId>>,
    /// The interrupts of lines 0 to 15 to the MPU and the MCU.
    pub interrupts: [Vec<Option<IrqLine>>; 2],
    /// The core that is the MCU.
    pub mcu: Option<usize>,
}

/// A bank of 32 lines, one bit each.
#[derive(Clone, Copy, Debug, Default, State)]
struct Bank {
    rising: u32,
    falling: u32,
    rising_pending: u32,
    falling_pending: u32,
    secure: u32,
}

/// The masks of one processor.
#[derive(Clone, Copy, Debug, State)]
struct Masks {
    interrupts: [u32; BANKS],
    events: [u32; BANKS],
    /// Lines whose interrupt is active.
    raised: u32,
}

/// The controller.
#[derive(Debug, State)]
pub struct Exti {
    #[state(skip)]
    params: Params,
    banks: [Bank; BANKS],
    masks: [Masks; 2],
    pins: PinLines,
    changes: u64,
}

/// The meaning of a register's offset.
enum Place {
    /// A register of lines: its bank, and its offset.
    Lines(usize, u32),
    /// EXTI_EXTICRn, with n counted from 0.
    Select(usize),
    /// A mask: its processor, its bank, and true for events.
    Mask(usize, usize, bool),
}

impl Place {
    fn at(offset: u32) -> Option<Place> {
        match offset {
            0..EXTICR1 => Some(Place::Lines((offset / LINES_STRIDE) as usize, offset % LINES_STRIDE)),
            EXTICR1..=EXTICR4 => Some(Place::Select((offset - EXTICR1) as usize / 4)),
            MASKS..END => {
                let (processor, bank) = ((offset - MASKS) / PROCESSOR, offset % PROCESSOR / MASKS_STRIDE);
                let is_there = (bank as usize) < BANKS && offset % MASKS_STRIDE <= EMR;
                is_there.then_some(Place::Mask(processor as usize, bank as usize, offset % MASKS_STRIDE == EMR))
            }
            _ => None,
        }
    }
}

/// For the list of models.
pub const MODEL: Model = Model::device(Group::Interrupt, &["st,stm32mp1-exti"], 1, from_node).naming(REGISTERS);

/// Builds the controller from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    let interrupts = reader.interrupts("the interrupts of lines 0 to 15 to the MPU, then those to the MCU");
    let (mpu, mcu) = interrupts.split_at(interrupts.len().min(PIN_LINES as usize));
    Box::new(Exti::new(Params {
        ports: reader.ports("cyclescope,ports", "the GPIO ports, in the order of their numbers in EXTI_EXTICRx"),
        interrupts: [mpu.to_vec(), mcu.to_vec()],
        mcu: reader.core_index("st,mcu", "the core that is the MCU, which gets the events"),
    }))
}

impl Exti {
    /// The controller after reset.
    pub fn new(params: Params) -> Exti {
        let direct = [0, 1, 2].map(|bank: usize| LINES[bank] & !CONFIGURABLE[bank]);
        Exti {
            pins: PinLines::new(params.ports.clone(), PORT_BITS),
            params,
            banks: [Bank::default(); BANKS],
            masks: [Masks { interrupts: direct, events: [0; BANKS], raised: 0 }; 2],
            changes: 0,
        }
    }

    fn register(&self, offset: u32) -> u32 {
        match Place::at(offset) {
            Some(Place::Lines(bank, register)) => {
                let bank = &self.banks[bank];
                match register {
                    RTSR => bank.rising,
                    FTSR => bank.falling,
                    RPR => bank.rising_pending,
                    FPR => bank.falling_pending,
                    TZENR => bank.secure,
                    _ => 0,
                }
            }
            Some(Place::Select(index)) => self.pins.register(index),
            Some(Place::Mask(processor, bank, false)) => self.masks[processor].interrupts[bank],
            Some(Place::Mask(processor, bank, true)) => self.masks[processor].events[bank],
            None => 0,
        }
    }

    fn set_register(&mut self, offset: u32, value: u32, ctx: &mut Ctx) {
        match Place::at(offset) {
            Some(Place::Lines(bank, register)) => {
                let (number, configurable) = (bank, value & CONFIGURABLE[bank]);
                let bank = &mut self.banks[bank];
                match register {
                    RTSR => bank.rising = configurable,
                    FTSR => bank.falling = configurable,
                    SWIER => {
                        bank.rising_pending |= configurable;
                        self.send_events(number, configurable, ctx);
                    }
                    RPR => bank.rising_pending &= !value,
                    FPR => bank.falling_pending &= !value,
                    TZENR => bank.secure = value & LINES[number],
                    _ => {}
                }
            }
            Some(Place::Select(index)) => {
                let changed = self.pins.select(index, value, ctx);
                self.edges(changed, ctx);
            }
            Some(Place::Mask(processor, bank, false)) => {
                self.masks[processor].interrupts[bank] = value & LINES[bank];
            }
            Some(Place::Mask(processor, bank, true)) => self.masks[processor].events[bank] = value & LINES[bank],
            None => {}
        }
        self.update(ctx);
    }

    /// Handles changed levels of the pins' lines.
    fn edges(&mut self, changed: u32, ctx: &mut Ctx) {
        let (levels, bank) = (self.pins.levels(), &mut self.banks[0]);
        let (rose, fell) = (changed & levels & bank.rising, changed & !levels & bank.falling);
        bank.rising_pending |= rose;
        bank.falling_pending |= fell;
        self.send_events(0, rose | fell, ctx);
        self.update(ctx);
    }

    /// Sends events for these lines of a bank.
    fn send_events(&self, bank: usize, lines: u32, ctx: &mut Ctx) {
        if let Some(core) = self.params.mcu
            && lines & self.masks[MCU].events[bank] != 0
        {
            ctx.send_event(core as u32);
        }
    }

    /// Drives the interrupts.
    fn update(&mut self, ctx: &mut Ctx) {
        self.changes += 1;
        let pending = self.banks[0].rising_pending | self.banks[0].falling_pending;
        for processor in [MPU, MCU] {
            let masks = &mut self.masks[processor];
            let asking = pending & masks.interrupts[0] & (u32::MAX >> (u32::BITS - PIN_LINES));
            let before = std::mem::replace(&mut masks.raised, asking);
            for line in bits(before ^ asking) {
                let interrupt = self.params.interrupts[processor].get(line as usize).copied().flatten();
                ctx.set_irq(interrupt, asking >> line & 1 != 0);
            }
        }
    }
}

impl Device for Exti {
    fn reset(&mut self, ctx: &mut Ctx) {
        let changed = self.pins.follow(ctx);
        self.edges(changed, ctx);
    }

    fn read(&mut self, _: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> Result<Reply, SlaveError> {
        ClockGate::NONE.read(offset, size, ctx, |offset, _| self.register(offset))
    }

    fn write(
        &mut self,
        _: usize,
        offset: u32,
        size: AccessSize,
        value: u32,
        ctx: &mut Ctx,
    ) -> Result<Reply, SlaveError> {
        ClockGate::NONE.write(offset, size, value, ctx, |offset, value, ctx| self.set_register(offset, value, ctx))
    }

    fn pins_changed(&mut self, port: PortId, changed: u32, levels: u32, ctx: &mut Ctx) {
        let changed = self.pins.pins_changed(port, changed, levels);
        if changed != 0 {
            self.edges(changed, ctx);
        }
    }

    fn interrupt_flags(&self) -> Option<String> {
        let asking = self.masks[MPU].raised | self.masks[MCU].raised;
        let lines: Vec<String> = bits(asking).map(|line| format!("line {line} pending")).collect();
        (!lines.is_empty()).then(|| lines.join(", "))
    }

    fn passes_interrupts(&self) -> bool {
        true
    }
}

impl Polled for Exti {
    fn polled(&mut self, poll: &mut Poll) -> bool {
        poll.state(self.changes);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::Bench;
    use crate::st::stm32_gpio::{self, Gpio};
    use crate::support::registers::walk;
    use engine::pins::Pin;
    use engine::time::Ps;

    const NOW: Ps = Ps(0);
    const C1IMR1: u32 = MASKS;
    const C2IMR1: u32 = MASKS + PROCESSOR;

    /// The controller is device 0, ports A and B are devices 1 and 2. Lines lead to inputs 0 to 15 of the core for the
    /// MPU, and to 16 to 31 for the MCU.
    fn exti() -> Bench {
        let lines = |first: u32| (0..16).map(|line| Some(IrqLine::Core { core: 0, bit: first + line })).collect();
        let ports = vec![Some(DeviceId(1)), Some(DeviceId(2))];
        let params = Params { ports, interrupts: [lines(0), lines(16)], mcu: Some(0) };
        let port = || Gpio::new(stm32_gpio::Params::default());
        let mut bench = Bench::new(Exti::new(params)).and(port()).and(port());
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
        walk::device_keeps_its_table(REGISTERS, &["EXTI_SWIER1", "EXTI_RPR1", "EXTI_FPR1"], &mut exti());
        let mut bench = exti();
        assert_eq!((bench.value(NOW, MASKS + 0x10), bench.value(NOW, MASKS + 0x20)), (u32::MAX, 0x9e9));
        bench.write(NOW, 2 * LINES_STRIDE + RTSR, u32::MAX).unwrap();
        bench.write(NOW, LINES_STRIDE + RTSR, u32::MAX).unwrap();
        assert_eq!((bench.value(NOW, 2 * LINES_STRIDE), bench.value(NOW, LINES_STRIDE)), (0x616, 0));
    }

    #[test]
    fn edges_of_the_selected_pin_interrupt_who_has_not_masked_them() {
        let mut bench = exti();
        // Line 13 is port B's; the MPU uses its falling edge, the MCU both.
        bench.write(NOW, EXTICR4, 1 << 8).unwrap();
        bench.write(NOW, RTSR, 1 << 13).unwrap();
        bench.write(NOW, FTSR, 1 << 13).unwrap();
        bench.write(NOW, C1IMR1, 0).unwrap();
        bench.write(NOW, C2IMR1, 1 << 13).unwrap();
        drive(&mut bench, 1, 13, true);
        assert_eq!((bench.value(NOW, RPR), bench.pending()), (0, 0), "a pin of the other port");
        drive(&mut bench, 2, 13, true);
        assert_eq!((bench.value(NOW, RPR), bench.value(NOW, FPR), bench.pending()), (1 << 13, 0, 1 << 29));
        bench.write(NOW, C1IMR1, 1 << 13).unwrap();
        assert_eq!(bench.pending(), 1 << 29 | 1 << 13);
        bench.write(NOW, RPR, 1 << 13).unwrap();
        assert_eq!(bench.pending(), 0);
        drive(&mut bench, 2, 13, false);
        assert_eq!((bench.value(NOW, RPR), bench.value(NOW, FPR)), (0, 1 << 13));
        // Port A again, whose pin is high: an edge at the line.
        bench.write(NOW, EXTICR4, 0).unwrap();
        assert_eq!(bench.value(NOW, RPR), 1 << 13);
    }

    #[test]
    fn software_makes_lines_pending() {
        let mut bench = exti();
        bench.write(NOW, C2IMR1, 1).unwrap();
        bench.write(NOW, SWIER, 1).unwrap();
        assert_eq!((bench.value(NOW, SWIER), bench.value(NOW, RPR), bench.pending()), (0, 1, 1 << 16));
    }
}

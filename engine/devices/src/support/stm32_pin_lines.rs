//! The multiplexers that connect each of EXTI's lines 0 to 15 to the pin of the same number, of the port that a field
//! of EXTICR1 to EXTICR4 selects (RM0090, "External interrupt/event line mapping"; RM0436, "EXTI external interrupt
//! selection register"). They are in SYSCFG, or in EXTI itself.

use crate::prelude::*;
use engine::bus::device::DeviceId;
use engine::pins::{Pin, PortId};

/// Lines that have a pin.
pub const PIN_LINES: u32 = 16;

/// The multiplexers, and the last levels of the lines.
#[derive(Debug, State, Polled)]
pub struct PinLines {
    /// The ports by their numbers in EXTICRx; `None` for a port that the chip does not have.
    #[state(skip)]
    ports: Vec<Option<DeviceId>>,
    /// The bits of EXTICRx that select a line's port; each register has the fields of four lines.
    #[state(skip)]
    field_bits: u32,
    /// The offset of EXTICR1.
    #[state(skip)]
    first: u32,
    /// A bit a line.
    levels: u32,
}

impl PinLines {
    /// Multiplexers that select among `ports`, by fields of this many bits in the registers from `first` on.
    pub const fn new(ports: Vec<Option<DeviceId>>, first: u32, field_bits: u32) -> PinLines {
        PinLines { ports, field_bits, first, levels: 0 }
    }

    /// No multiplexers, as these are in another device.
    pub const fn none() -> PinLines {
        PinLines::new(Vec::new(), 0, 0)
    }

    /// True if the register at an offset is one of EXTICRx.
    pub fn has(&self, register: u32) -> bool {
        self.field_bits > 0 && (self.first..self.first + PIN_LINES).contains(&register)
    }

    /// Watches all pins from now on, when the device comes out of reset. Returns the lines that have changed.
    pub fn follow(&mut self, registers: &Registers, ctx: &mut Ctx) -> u32 {
        for port in self.ports.iter().flatten() {
            for number in 0..PIN_LINES {
                ctx.bus.wires.watch(Pin::new(*port, number), ctx.id, false);
            }
        }
        self.connect(registers, ctx)
    }

    /// The level of each line, a bit a line.
    pub const fn levels(&self) -> u32 {
        self.levels
    }

    /// Pins of a port have changed. Returns the lines that have changed.
    pub fn pins_changed(&mut self, registers: &Registers, port: PortId, changed: u32, levels: u32) -> u32 {
        let changed_here =
            |line: &u32| changed >> line & 1 != 0 && self.port_of(*line, registers).map(PortId::from) == Some(port);
        let mask = (0..PIN_LINES).filter(changed_here).fold(0, |lines, line| lines | 1 << line);
        self.settle(self.levels & !mask | levels & mask)
    }

    /// Each line takes the level of its pin, as after a write of EXTICRx. Returns the lines that have changed.
    pub fn connect(&mut self, registers: &Registers, ctx: &Ctx) -> u32 {
        let is_high =
            |line: &u32| self.port_of(*line, registers).is_some_and(|port| ctx.bus.wires.levels(port) >> line & 1 != 0);
        let levels = (0..PIN_LINES).filter(is_high).fold(0, |lines, line| lines | 1 << line);
        self.settle(levels)
    }

    /// The port of a line's pin.
    fn port_of(&self, line: u32, registers: &Registers) -> Option<DeviceId> {
        let field = registers[self.first + line / 4 * 4] >> (self.field_bits * (line % 4));
        self.ports.get((field & ((1 << self.field_bits) - 1)) as usize).copied().flatten()
    }

    const fn settle(&mut self, levels: u32) -> u32 {
        let changed = self.levels ^ levels;
        self.levels = levels;
        changed
    }
}

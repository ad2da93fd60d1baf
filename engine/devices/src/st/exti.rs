//! The extended interrupt and event controllers of STM32s (RM0090, RM0432 and RM0436, "Extended interrupt and event
//! controller (EXTI)"): one device, by a table for each generation.

pub mod stm32;
pub mod stm32mp1;

use crate::prelude::*;
use engine::pins::PortId;

use crate::support::stm32_pin_lines::PinLines;

/// The most banks of 32 lines.
const MOST_BANKS: usize = 3;
/// From EXTI_IMR to EXTI_EMR.
const EMR: u32 = 4;
/// From EXTI_RTSR to EXTI_SWIER.
const SWIER: u32 = 8;

/// What a generation has of an EXTI.
#[derive(Debug)]
pub struct Generation {
    /// The register map.
    map: &'static Map,
    /// The registers of each 32 lines.
    banks: &'static [Bank],
    /// From EXTI_RTSR to the pending registers for rising and for falling edges.
    pending: [u32; 2],
    /// True if EXTI_SWIER keeps its bits until the line is no longer pending.
    keeps_software: bool,
    /// Lines of the first two banks whose interrupts are this device's.
    own: u64,
    /// True if lines are inputs of this device, and not only pins.
    has_inputs: bool,
    /// True if interrupts are driven before events are sent.
    has_interrupts_first: bool,
}

/// The registers of 32 lines.
#[derive(Debug)]
pub struct Bank {
    /// EXTI_RTSR; EXTI_FTSR, EXTI_SWIER and the pending registers follow.
    rtsr: u32,
    /// EXTI_IMR of each processor; EXTI_EMR follows each.
    masks: &'static [u32],
}

/// Lines that share an interrupt to a processor.
#[derive(Clone, Copy, Debug)]
pub struct LineGroup {
    /// The processor, by its place in the masks.
    pub processor: usize,
    /// A bit for each of its lines.
    pub lines: u64,
    /// The interrupt that the lines share.
    pub interrupt: Option<IrqLine>,
}

/// The board's parameters of the controller.
#[derive(Clone, Debug, Default)]
pub struct Params {
    /// The implemented lines of each bank, one bit each.
    pub lines: [u32; MOST_BANKS],
    /// Lines without an edge detector, which are not masked after reset.
    pub direct: [u32; MOST_BANKS],
    /// The interrupts.
    pub groups: Vec<LineGroup>,
    /// The cores of each processor that get events.
    pub cores: Vec<Vec<u32>>,
}

/// The controller: one bit for each line.
#[derive(Debug, State, Polled, RegisterBank)]
#[port(Port::gated(ClockGate::NONE))]
pub struct Exti {
    #[state(skip)]
    generation: &'static Generation,
    #[state(skip)]
    params: Params,
    registers: Registers,
    pins: PinLines,
    /// The levels of lines that are inputs of this device.
    levels: u64,
    /// Groups whose interrupt is active.
    raised: u64,
    /// The number of events sent: each ends a core's wfe.
    sent: u64,
}

impl Exti {
    /// The controller after reset.
    fn new(generation: &'static Generation, params: Params, pins: PinLines) -> Exti {
        let mut registers = Registers::new(generation.map);
        for (bank, direct) in generation.banks.iter().zip(params.direct) {
            bank.masks.iter().for_each(|imr| registers.set(*imr, direct));
        }
        Exti { generation, params, registers, pins, levels: 0, raised: 0, sent: 0 }
    }

    /// Lines of the first two banks that ask a processor for their interrupt.
    fn asking(&self, processor: usize) -> u64 {
        let of_bank = |bank: &Bank| {
            let pending = self.generation.pending.iter().fold(0, |lines, at| lines | self.registers[bank.rtsr + at]);
            u64::from(pending & self.registers[bank.masks[processor]])
        };
        (of_bank(&self.generation.banks[1]) << 32 | of_bank(&self.generation.banks[0])) & self.generation.own
    }

    /// Sends events for these lines of a bank to the processors that have not masked them (RM0090, 12.2.3).
    fn send_events(&mut self, bank: usize, lines: u32, ctx: &mut Ctx) {
        for (imr, cores) in self.generation.banks[bank].masks.iter().zip(&self.params.cores) {
            if self.registers.has(imr + EMR, lines) {
                self.sent += cores.len() as u64;
                cores.iter().for_each(|core| ctx.send_event(*core));
            }
        }
    }

    /// Lines of a bank became pending, at an edge or by software: interrupts and events.
    fn happened(&mut self, bank: usize, lines: u32, ctx: &mut Ctx) {
        if self.generation.has_interrupts_first {
            self.update(ctx);
        }
        self.send_events(bank, lines, ctx);
        self.update(ctx);
    }

    /// Edges at lines of a bank; returns those that are selected.
    fn take_edges(&mut self, bank: usize, edges: [u32; 2]) -> u32 {
        let (rtsr, mut selected) = (self.generation.banks[bank].rtsr, 0);
        for ((edge, lines), pending) in [0, 4].into_iter().zip(edges).zip(self.generation.pending) {
            let taken = lines & self.registers[rtsr + edge];
            self.registers.put(rtsr + pending, taken, true);
            selected |= taken;
        }
        selected
    }

    /// Changed levels of the pins' lines.
    fn pins_moved(&mut self, changed: u32, ctx: &mut Ctx) {
        let levels = self.pins.levels();
        let lines = self.take_edges(0, [changed & levels, changed & !levels]);
        self.happened(0, lines, ctx);
    }

    /// Software asks for lines of a bank.
    fn wrote_software(&mut self, bank: usize, old: u32, asked: u32, ctx: &mut Ctx) {
        let rtsr = self.generation.banks[bank].rtsr;
        if self.generation.keeps_software {
            self.registers.set(rtsr + SWIER, old | asked);
        }
        self.registers.put(rtsr + self.generation.pending[0], asked, true);
        self.happened(bank, asked, ctx);
    }
}

impl Table for Exti {
    fn wrote(&mut self, register: u32, old: u32, new: u32, ctx: &mut Ctx) {
        if self.pins.has(register) {
            let changed = self.pins.connect(&self.registers, ctx);
            return self.pins_moved(changed, ctx);
        }
        for (number, bank) in self.generation.banks.iter().enumerate() {
            let lines = self.params.lines[number];
            let configurable = lines & !self.params.direct[number];
            let at = register.wrapping_sub(bank.rtsr);
            if at < SWIER {
                self.registers.set(register, new & configurable);
            } else if at == SWIER {
                self.wrote_software(number, old, new & configurable & !old, ctx);
            } else if self.generation.pending.contains(&at) {
                // What is no longer pending can be asked for again.
                self.registers.set(bank.rtsr + SWIER, self.registers[bank.rtsr + SWIER] & new);
            } else if bank.masks.iter().any(|imr| [*imr, imr + EMR].contains(&register)) {
                self.registers.set(register, new & lines);
            }
        }
    }

    /// Drives the interrupts.
    fn update(&mut self, ctx: &mut Ctx) {
        for index in 0..self.params.groups.len() {
            let LineGroup { processor, lines, interrupt } = self.params.groups[index];
            let (level, bit) = (lines & self.asking(processor) != 0, 1 << (index % 64));
            if level != (self.raised & bit != 0) {
                self.raised ^= bit;
                ctx.set_irq(interrupt, level);
            }
        }
    }
}

impl Device for Exti {
    by_table!();

    fn reset(&mut self, ctx: &mut Ctx) {
        let changed = self.pins.follow(&self.registers, ctx);
        self.pins_moved(changed, ctx);
    }

    fn pins_changed(&mut self, port: PortId, changed: u32, levels: u32, ctx: &mut Ctx) {
        let changed = self.pins.pins_changed(&self.registers, port, changed, levels);
        if changed != 0 {
            self.pins_moved(changed, ctx);
        }
    }

    fn irq_input(&mut self, input: u32, level: bool, ctx: &mut Ctx) {
        let (bank, bit) = ((input / 32) as usize, 1 << (input % 32));
        let is_line = self.generation.has_inputs && self.params.lines.get(bank).is_some_and(|lines| lines & bit != 0);
        if !is_line || level == (self.levels >> input & 1 != 0) {
            return;
        }
        self.levels ^= 1 << input;
        let taken = self.take_edges(bank, if level { [bit, 0] } else { [0, bit] });
        if taken != 0 {
            self.happened(bank, taken, ctx);
        } else if level {
            self.send_events(bank, bit & self.params.direct[bank], ctx);
        }
    }

    fn interrupt_flags(&self) -> Option<String> {
        let asking = (0..self.params.cores.len()).fold(0, |lines, processor| lines | self.asking(processor));
        let lines: Vec<String> =
            (0..u64::BITS).filter(|line| asking >> line & 1 != 0).map(|line| format!("line {line} pending")).collect();
        (!lines.is_empty()).then(|| lines.join(", "))
    }

    fn passes_interrupts(&self) -> bool {
        true
    }
}

//! `st,stm32-dmamux`: the multiplexer of DMA requests of STM32L4+, G4 and others (RM0432, "DMA request multiplexer
//! (DMAMUX)").
//!
//! Modelled: DMAMUX_CxCR.DMAREQ_ID, which connects each channel of the controllers behind the multiplexer with one of
//! the requests. The controllers are `dma-masters`; channels 0 to 6 belong to the first. A device's request line is an
//! input of the multiplexer, numbered by the request: `dmas` gives the number.
//!
//! Not modelled: synchronisation and events (SE, EGE): requests pass at once, with a note; request generators (their
//! registers keep written values). A request passes without delay.

use crate::model::{Group, Model};
use crate::support::dma_lines::DmaLine;
use crate::support::registers::{AccessKind, Register};
use crate::support::stm32_clock_gate::ClockGate;
use engine::bus::device::{AccessSize, Ctx, Device, IrqLine, Reply, SlaveError};
use engine::dt::reader::NodeReader;
use engine::polling::{Poll, Polled};
use engine::state::State;

/// The registers of channel 0 and of the generators (RM0432, "DMAMUX register map").
pub const REGISTERS: &[Register] = &[
    Register::new("DMAMUX_C0CR", 0, AccessKind::Rw, 0, CCR_MASK),
    Register::new("DMAMUX_CSR", 0x80, AccessKind::Ro, 0, 0x3fff),
    Register::new("DMAMUX_CFR", 0x84, AccessKind::Wo, 0, 0x3fff),
    Register::new("DMAMUX_RG0CR", RG0CR, AccessKind::Rw, 0, RGCR_MASK),
    Register::new("DMAMUX_RG1CR", RG0CR + 4, AccessKind::Rw, 0, RGCR_MASK),
    Register::new("DMAMUX_RG2CR", RG0CR + 8, AccessKind::Rw, 0, RGCR_MASK),
    Register::new("DMAMUX_RG3CR", RG0CR + 12, AccessKind::Rw, 0, RGCR_MASK),
    Register::new("DMAMUX_RGSR", 0x140, AccessKind::Ro, 0, 0xf),
    Register::new("DMAMUX_RGCFR", 0x144, AccessKind::Wo, 0, 0xf),
];

const CCR_MASK: u32 = 0x1fff_ff7f;
const REQUEST: u32 = 0x7f;
/// SE and EGE.
const UNMODELLED: u32 = 1 << 16 | 1 << 9;
const RG0CR: u32 = 0x100;
const RGCR_MASK: u32 = 0x00ff_011f;
/// Channels of each controller.
const CHANNELS_OF_MASTER: u32 = 7;
const CHANNELS: usize = 14;
const REQUESTS: usize = 128;

/// The multiplexer.
#[derive(Debug, State)]
pub struct Mux {
    #[state(skip)]
    gate: ClockGate,
    controls: [u32; CHANNELS],
    generators: [u32; 4],
    /// Levels of the inputs.
    levels: [bool; REQUESTS],
    #[state(with = engine::state::fixed)]
    outputs: Vec<DmaLine>,
    changes: u64,
}

/// For the list of models.
pub const MODEL: Model = Model::device(Group::Dma, &["st,stm32-dmamux"], 1, from_node).naming(REGISTERS);

/// Builds the multiplexer from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    reader.known(&["#dma-cells", "dma-channels", "dma-requests", "clock-names", "resets", "interrupt-names"]);
    reader.known(&["clocks"]);
    reader.interrupt(0, "its overrun interrupt, which never occurs in the model");
    reader.u32_or("dma-generators", 4, 0..=4, "number of request generators");
    let masters = reader.dma_masters("dma-masters", 2, "the controllers behind the multiplexer");
    let outputs = masters.into_iter().flat_map(|line| {
        let lines = (0..CHANNELS_OF_MASTER).map(move |input| match line {
            IrqLine::Device { device, .. } => Some(IrqLine::Device { device, input }),
            IrqLine::Core { .. } => None,
        });
        lines.map(|line| DmaLine::new(line.into_iter().collect()))
    });
    let outputs = outputs.collect();
    Box::new(Mux::new(outputs, ClockGate::from_node(reader)))
}

impl Mux {
    /// The multiplexer after reset, with the lines of its channels.
    pub fn new(outputs: Vec<DmaLine>, gate: ClockGate) -> Mux {
        let (controls, generators, levels) = ([0; CHANNELS], [0; 4], [false; REQUESTS]);
        Mux { gate, controls, generators, levels, outputs, changes: 0 }
    }

    /// Reset by the RCC: registers return to their reset values.
    fn reset_registers(&mut self, ctx: &mut Ctx) {
        self.changes += 1;
        (self.controls, self.generators) = Default::default();
        (0..CHANNELS).for_each(|channel| self.drive(channel, ctx));
    }

    /// Drives the channel's line with the level of the selected input; 0 selects no input.
    fn drive(&mut self, channel: usize, ctx: &mut Ctx) {
        let request = self.controls[channel] & REQUEST;
        let level = request != 0 && self.levels[request as usize];
        if let Some(line) = self.outputs.get_mut(channel) {
            line.set(level, channel as u32, ctx);
        }
    }
}

impl Device for Mux {
    fn reset(&mut self, ctx: &mut Ctx) {
        self.gate.follow(ctx);
    }

    fn read(&mut self, _: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> Result<Reply, SlaveError> {
        self.gate.read(offset, size, ctx, |offset, _| {
            let index = (offset / 4) as usize;
            match offset {
                0..0x38 => self.controls[index],
                RG0CR..0x110 => self.generators[index & 3],
                _ => 0,
            }
        })
    }

    fn write(
        &mut self,
        _: usize,
        offset: u32,
        size: AccessSize,
        value: u32,
        ctx: &mut Ctx,
    ) -> Result<Reply, SlaveError> {
        self.gate.write(offset, size, value, ctx, |offset, value, ctx| {
            self.changes += 1;
            let index = (offset / 4) as usize;
            match offset {
                0..0x38 => {
                    if value & UNMODELLED != 0 {
                        ctx.note("synchronisation (DMAMUX_CxCR.SE, EGE) is not modelled: requests pass at once");
                    }
                    self.controls[index] = value & CCR_MASK;
                    self.drive(index, ctx);
                }
                RG0CR..0x110 => self.generators[index & 3] = value & RGCR_MASK,
                _ => {}
            }
        })
    }

    fn event(&mut self, token: u32, ctx: &mut Ctx) {
        if let Some(line) = self.outputs.get_mut(token as usize) {
            line.event(token, ctx);
        }
    }

    fn irq_input(&mut self, input: u32, level: bool, ctx: &mut Ctx) {
        let Some(line) = self.levels.get_mut(input as usize) else { return };
        self.changes += 1;
        *line = level;
        for channel in 0..CHANNELS {
            if self.controls[channel] & REQUEST == input {
                self.drive(channel, ctx);
            }
        }
    }

    fn clocks_changed(&mut self, ctx: &mut Ctx) {
        if self.gate.is_reset(ctx.bus) {
            self.reset_registers(ctx);
        }
    }

    fn passes_interrupts(&self) -> bool {
        true
    }
}

impl Polled for Mux {
    fn polled(&mut self, poll: &mut Poll) -> bool {
        poll.state(self.changes);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::Bench;
    use engine::time::Ps;

    #[test]
    fn each_channel_and_generator_has_a_register_of_its_own() {
        let mut bench = Bench::new(Mux::new(Vec::new(), ClockGate::default()));
        let registers = (0..0x38).step_by(4).chain((RG0CR..0x110).step_by(4));
        for offset in registers.clone() {
            bench.write(Ps(0), offset, (offset / 4) & 0x1f).unwrap();
        }
        for offset in registers {
            assert_eq!(bench.value(Ps(0), offset), (offset / 4) & 0x1f, "{offset:#x}");
        }
    }
}

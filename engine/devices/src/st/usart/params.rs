//! The parameters of the device, from its node.

use super::generation::{Generation, Words};
use crate::prelude::*;
use crate::support::kernel_clock::KernelClock;
use crate::support::pin_functions::PinFunctions;

/// The board's parameters of the device.
#[derive(Clone, Debug)]
pub struct Params {
    /// The clock from which the baud rate is divided.
    pub clock: KernelClock,
    /// Clocks from a write of the data register to the start bit.
    pub start_cycles: Cycles,
    /// The interrupt, to two processors that have an interrupt controller each.
    pub interrupts: [Option<IrqLine>; 2],
    /// Its clock enable bit in the RCC.
    pub gate: ClockGate,
    /// Characters that each FIFO holds; 1 without FIFOs.
    pub fifo_characters: usize,
    /// The requests to a DMA controller: there is room to send, a character has come.
    pub dma: [Vec<IrqLine>; 2],
    /// The pins that carry TX and RX.
    pub pins: PinFunctions,
}

impl Params {
    /// Reads the parameters from the node.
    pub fn from_node(generation: &Generation, reader: &mut NodeReader) -> Params {
        let &Generation { has_fifos, words: Words { clock, start, dma: [room, came], .. }, .. } = generation;
        let other = "its interrupt, to another processor";
        let fifo = "characters that each FIFO holds, a multiple of 8 up to 16";
        Params {
            clock: KernelClock::new(reader.clock_input(0, clock)),
            start_cycles: reader.timing_cycles("cyclescope,start-cycles", start),
            interrupts: [reader.interrupt(0, "its interrupt"), has_fifos.then(|| reader.interrupt(1, other)).flatten()],
            gate: ClockGate::from_node(reader),
            fifo_characters: if has_fifos {
                reader.u32_or("cyclescope,fifo-characters", 16, [8, 16], fifo) as usize
            } else {
                1
            },
            dma: [reader.dma_lines("tx", room), reader.dma_lines("rx", came)],
            pins: PinFunctions::from_node(reader, &["tx", "rx"]),
        }
    }
}

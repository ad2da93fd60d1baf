//! The parameters of the device, from its node.

use crate::support::kernel_clock::KernelClock;
use crate::support::pin_functions::PinFunctions;
use crate::support::stm32_clock_gate::ClockGate;
use engine::bus::device::IrqLine;
use engine::dt::reader::NodeReader;
use engine::state::State;
use engine::time::Cycles;

/// The compatible of an LPUART.
pub const LOW_POWER: &str = "st,stm32-lpuart";

/// The board's parameters of the device.
#[derive(Clone, Debug, State)]
pub struct Params {
    /// usart_ker_ck.
    pub kernel_clock: KernelClock,
    /// Clocks from a write of USART_TDR to the start bit.
    #[state(skip)]
    pub start_cycles: Cycles,
    /// The interrupt, to two processors that have an interrupt controller each.
    #[state(skip)]
    pub interrupts: [Option<IrqLine>; 2],
    /// Its clock enable bit in the RCC.
    #[state(skip)]
    pub gate: ClockGate,
    /// True for an LPUART, which has a baud rate generator of its own.
    #[state(skip)]
    pub is_low_power: bool,
    /// Characters that each FIFO holds.
    #[state(skip)]
    pub fifo_characters: usize,
    /// The requests to a DMA controller: USART_TDR has room, USART_RDR has a character.
    #[state(skip)]
    pub dma: [Vec<IrqLine>; 2],
    /// The pins that carry [`super::TX`] and [`super::RX`].
    pub pins: PinFunctions,
}

impl Params {
    /// Reads the parameters from the node.
    pub fn from_node(reader: &mut NodeReader) -> Params {
        reader.known(&["clock-names"]);
        let fifo = "characters that each FIFO holds, a multiple of 8 up to 16";
        Params {
            kernel_clock: KernelClock::new(
                reader.clock_input(0, "the kernel clock, from which the baud rate is divided"),
            ),
            start_cycles: reader
                .timing_cycles("cyclescope,start-cycles", "kernel clocks from a write of USART_TDR to the start bit"),
            interrupts: [
                reader.interrupt(0, "its interrupt"),
                reader.interrupt(1, "its interrupt, to another processor"),
            ],
            gate: ClockGate::from_node(reader),
            is_low_power: reader.node.compatibles().contains(&LOW_POWER),
            fifo_characters: reader.u32_or("cyclescope,fifo-characters", 16, [8, 16], fifo) as usize,
            dma: [reader.dma_lines("tx", "USART_TDR has room"), reader.dma_lines("rx", "USART_RDR has a character")],
            pins: PinFunctions::from_node(reader, &["tx", "rx"]),
        }
    }
}

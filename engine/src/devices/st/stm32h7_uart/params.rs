//! What a board says of the device.

use crate::bus::device::IrqLine;
use crate::devices::support::stm32_clock_gate::ClockGate;
use crate::dt::reader::NodeReader;
use crate::time::{Cycles, Hz};

/// What a board says of the device.
#[derive(Clone, Copy, Debug)]
pub struct Params {
    /// usart_ker_ck.
    pub kernel_clock: Hz,
    /// From a write of USART_TDR to the start bit.
    pub start_cycles: Cycles,
    /// Each gets the interrupt: two processors have a controller each.
    pub interrupts: [Option<IrqLine>; 2],
    /// The node is where `/chosen`'s stdout-path leads to.
    pub is_console: bool,
    /// Its enable bit.
    pub gate: ClockGate,
}

impl Params {
    /// From its node.
    pub fn from_node(reader: &mut NodeReader) -> Params {
        reader.known(&["clock-names"]);
        Params {
            kernel_clock: reader.clock(0, "the kernel clock, which the baud rate is divided from"),
            start_cycles: reader
                .timing_cycles("cyclescope,start-cycles", "kernel clocks from USART_TDR to the start bit"),
            interrupts: [
                reader.interrupt(0, "its interrupt"),
                reader.interrupt(1, "its interrupt, to another processor"),
            ],
            is_console: reader.is_stdout(),
            gate: ClockGate::from_node(reader),
        }
    }
}

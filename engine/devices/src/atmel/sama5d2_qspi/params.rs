//! The properties of the controller's node.

use crate::prelude::*;
use crate::support::axi_lite::AxiLitePort;
use engine::dt::reader::ANY;

/// The device's value in the scrambling function, if the node has none.
const RANDOM: u32 = 0x5a3d_2d51;

/// The controller's configuration and timing.
#[derive(Clone, Copy, Debug, State, Polled)]
pub struct Params {
    /// The peripheral clock: of the registers and the window, and the clock from which the serial clock is divided.
    #[poll(phase)]
    pub clock: ClockInput,
    /// The additional cycles of a register access: registers are accessed through a peripheral bridge, the window is
    /// not.
    #[state(skip)]
    pub register_cycles: Cycles,
    /// From the arrival of an access at the window to the first clock of the frame or of the data.
    #[state(skip)]
    pub request_cycles: Cycles,
    /// From the data's last clock to the answer.
    #[state(skip)]
    pub response_cycles: Cycles,
    /// True if a read of the window directly after the last address continues its frame; otherwise the frame ends with
    /// the bus's transfer, a burst or a single read.
    #[state(skip)]
    pub reads_go_on: bool,
    /// The device's own value in the scrambling function.
    #[state(skip)]
    pub random: u32,
    /// Interrupt output.
    pub interrupt: Option<IrqLine>,
    /// Requests to the DMA controller: QSPI_TDR is empty, QSPI_RDR is full.
    pub dma: [Option<IrqLine>; 2],
}

impl Params {
    /// The port of the registers.
    pub fn port(&self) -> Port {
        let (clock, read_cycles, write_cycles) = (self.clock.rate, self.register_cycles, self.register_cycles);
        Port::axi_lite(AxiLitePort { clock, read_cycles, write_cycles })
    }

    /// Reads the node, all but its children.
    pub fn from_node(reader: &mut NodeReader) -> Params {
        // Names only: the order of `clocks` and `dmas` is that of the names (pclk; tx, rx).
        reader.known(&["clock-names", "dma-names", "reg-names", "ranges"]);
        Params {
            clock: reader.clock_input(0, "the peripheral clock"),
            register_cycles: reader.timing_cycles(
                "cyclescope,register-cycles",
                "clocks of a register's access in addition to the way to the window",
            ),
            request_cycles: reader
                .timing_cycles("cyclescope,window-request-cycles", "clocks from an access to its first serial clock"),
            response_cycles: reader
                .timing_cycles("cyclescope,window-response-cycles", "clocks from the last serial clock to the answer"),
            reads_go_on: reader.timing_u32(
                "cyclescope,window-reads-go-on",
                0..=1,
                "1 if a read directly after the last address continues its frame, 0 if each bus transfer has its own",
            ) != 0,
            random: reader.u32_or(
                "cyclescope,scrambling-random-value",
                RANDOM,
                ANY,
                "what the scrambling key is combined with on this chip",
            ),
            interrupt: reader.interrupt(0, "its interrupt"),
            dma: [reader.dma_request(0, "QSPI_TDR is empty"), reader.dma_request(1, "QSPI_RDR is full")],
        }
    }
}

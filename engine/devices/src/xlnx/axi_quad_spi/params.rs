//! The properties of the core's node: the generator's options under the names of Xilinx's devicetree generator, and the
//! timing properties of Cyclescope.

use crate::prelude::*;
use crate::support::axi_lite::AxiLitePort;
use engine::dt::fault::FaultKind;
use engine::dt::reader::FREQUENCIES_HZ;
use engine::wire::spi::Lines;

/// The core's configuration and timing.
#[derive(Clone, Copy, Debug)]
pub struct Params {
    /// Register port, in the AXI clock.
    pub port: AxiLitePort,
    /// EXT_SPI_CLK.
    pub ext_spi_clock: Hz,
    /// `xlnx,sck-ratio`: EXT_SPI_CLK periods of a period of SCK.
    pub sck_ratio: u32,
    /// `xlnx,spi-mode`: 0 standard, 1 dual, 2 quad.
    pub lines: Lines,
    /// `xlnx,fifo-depth`: 16 or 256; 0 (no FIFO) in standard mode.
    pub fifo_depth: u32,
    /// `xlnx,num-ss-bits`: slave selects.
    pub slaves: u32,
    /// `xlnx,type-of-axi4-interface`: an AXI4 port that takes FIXED bursts at the FIFOs (enhanced mode), not AXI4-Lite
    /// (legacy).
    pub enhanced: bool,
    /// `xlnx,xip-mode`: the second `reg` range reads the memory.
    pub xip: bool,
    /// EXT_SPI_CLK periods until a write to the FIFO or to a control register takes effect on the wire's side.
    pub tx_sync_clocks: Cycles,
    /// AXI clocks until the AXI side sees the end of a byte.
    pub rx_sync_cycles: Cycles,
    /// Interrupt output.
    pub interrupt: Option<IrqLine>,
}

impl Params {
    /// The time of an edge of EXT_SPI_CLK.
    pub const fn spi_time(&self, edge: u64) -> Ps {
        self.ext_spi_clock.ps_at_floor(Cycles(edge))
    }

    /// The edge of EXT_SPI_CLK at which a write at `now` takes effect on the wire's side.
    pub fn effect_edge(&self, now: Ps) -> u64 {
        self.ext_spi_clock.cycles_until_ceil(now).0 + self.tx_sync_clocks.0
    }

    /// The last edge of EXT_SPI_CLK that the AXI side has seen at `now`.
    pub fn seen_edge(&self, now: Ps) -> u64 {
        let axi = self.port.clock;
        let cycle = axi.cycles_until_floor(now).0.saturating_sub(self.rx_sync_cycles.0);
        self.ext_spi_clock.cycles_until_floor(axi.ps_at_floor(Cycles(cycle))).0
    }

    /// The time at which the AXI side sees a byte that ended at `edge`.
    pub fn seen_at(&self, edge: u64) -> Ps {
        self.port.clock.after(self.spi_time(edge), self.rx_sync_cycles)
    }

    /// Reads the node, all but its children.
    pub fn from_node(reader: &mut NodeReader) -> Params {
        // Names only: the order of `clocks` is the binding's (AXI, then EXT_SPI_CLK).
        reader.known(&["clock-names"]);
        let port = AxiLitePort::from_node(reader);
        let lines = lines(reader);
        let sck_ratio = sck_ratio(reader, lines);
        let xip = switch(reader, "xlnx,xip-mode", "1 has the core serve a read window, 0 does not");
        if xip {
            reader.reg(2);
        }
        reader.u32_or("xlnx,num-transfer-bits", 8, [8], "this model transfers 8 bits at a time");
        reader.u32_or("xlnx,spi-memory", 2, [2], "this model decodes commands of Micron memories (2)");
        Params {
            port,
            ext_spi_clock: ext_spi_clock(reader, sck_ratio),
            sck_ratio,
            lines,
            fifo_depth: fifo_depth(reader, lines),
            slaves: reader.u32_or("xlnx,num-ss-bits", 1, 1..=32, "the core has 1 to 32 slave selects"),
            enhanced: switch(reader, "xlnx,type-of-axi4-interface", "0 is AXI4-Lite, 1 is AXI4 with bursts"),
            xip,
            tx_sync_clocks: reader
                .timing_cycles("cyclescope,tx-sync-clocks", "EXT_SPI_CLK clocks from AXI's side to the wire's"),
            rx_sync_cycles: reader
                .timing_cycles("cyclescope,rx-sync-cycles", "AXI clocks from the wire's side to AXI's"),
            interrupt: reader.interrupt(0, "its interrupt"),
        }
    }
}

fn switch(reader: &mut NodeReader, name: &str, meaning: &str) -> bool {
    reader.u32_or(name, 0, 0..=1, meaning) == 1
}

fn lines(reader: &mut NodeReader) -> Lines {
    let mode = reader.u32_or("xlnx,spi-mode", 0, 0..=2, "0 is standard, 1 dual, 2 quad");
    [Lines::Single, Lines::Dual, Lines::Quad][mode as usize]
}

/// PG153 v3.2, "Frequency Ratio": 2, 4, 8 and 16 n for n up to 128; 2 alone in dual and quad mode.
fn sck_ratio(reader: &mut NodeReader, lines: Lines) -> u32 {
    const NAME: &str = "xlnx,sck-ratio";
    let is_standard = lines == Lines::Single;
    let standard = reader.only_if(is_standard, "`xlnx,spi-mode` is 0", |reader| {
        let allowed =
            |ratio: u32| matches!(ratio, 2 | 4 | 8) || ratio.is_multiple_of(16) && (16..=2048).contains(&ratio);
        let meaning = "EXT_SPI_CLK over SCK is 2, 4, 8, or a multiple of 16 up to 2048";
        reader.u32_or(NAME, 16, allowed, meaning)
    });
    let several = reader.only_if(!is_standard, "`xlnx,spi-mode` is 1 or 2", |reader| {
        reader.u32_or(NAME, 2, [2], "in dual and quad mode EXT_SPI_CLK over SCK is 2")
    });
    if is_standard { standard } else { several }.unwrap_or(2)
}

fn fifo_depth(reader: &mut NodeReader, lines: Lines) -> u32 {
    let standard = lines == Lines::Single;
    let meaning = if standard { "a FIFO has 16 or 256 entries, or 0 for none" } else { "a FIFO has 16 or 256 entries" };
    reader.u32_or("xlnx,fifo-depth", 16, |depth| matches!(depth, 16 | 256) || (standard && depth == 0), meaning)
}

/// The clock at index 1; or, with a `clock-frequency` that is not 0, the EXT_SPI_CLK that gives that SCK: an option for
/// the user, since the core itself divides by a fixed ratio.
fn ext_spi_clock(reader: &mut NodeReader, sck_ratio: u32) -> Hz {
    let wired = reader.clock(1, "EXT_SPI_CLK, which the core divides by its ratio to SCK");
    let sck_hz = reader.u32_or(
        "clock-frequency",
        0,
        |hz| hz <= *FREQUENCIES_HZ.end(),
        "SCK is 1 to 4000000000 Hz, or 0 for EXT_SPI_CLK divided by the ratio",
    );
    if sck_hz == 0 {
        return wired;
    }
    Hz::new(u64::from(sck_hz) * u64::from(sck_ratio)).unwrap_or_else(|| {
        let kind = FaultKind::OutOfRange {
            property: "clock-frequency".into(),
            value: sck_hz.to_string(),
            allowed: format!("with an SCK ratio of {sck_ratio} EXT_SPI_CLK would be above 1 THz"),
        };
        reader.fault_at("clock-frequency", kind);
        wired
    })
}

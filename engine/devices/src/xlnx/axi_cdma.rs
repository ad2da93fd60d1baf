//! `xlnx,axi-cdma-1.00.a`: AMD's AXI Central DMA v4.1 (PG034; register space, "Programming Sequence"), in simple mode.
//!
//! A write to BTT starts a transfer of 32-bit words: bursts are read from the source into the engine's buffer, and
//! written to the destination as soon as their first word has arrived (with store and forward: their last). The timing
//! is computed cycle by cycle ([`transfer`]).
//!
//! Modelled: simple transfers, keyhole reads and writes (FIXED bursts), DataMover full and lite, all error bits of
//! simple mode, the interrupt. Not modelled: scatter/gather (its registers are named below; an access to one has a
//! note), the realignment engine (an address that is not word-aligned gives an internal error), data widths other than
//! 32 bits, separate clocks of registers and data.

pub mod transfer;

#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use self::transfer::{Failure, Side};
use crate::prelude::*;
use crate::support::activities::{DMA, TRANSFER};
use crate::support::axi_lite::AxiLitePort;
use engine::dt::reader::PowerOfTwo;
use engine::polling::Phase;

registers! {
    /// The register map (PG034 v4.1, "Register Space"). Of scatter/gather and of 64-bit addresses nothing is stored.
    const MAP "" {
        CDMACR 0x00 rw reset 0x0001_0002 mask 0xffff_707e {
            /// Reads 1.
            TAIL_PNTR_EN 1 ro,
            RESET 2,
            SG_MODE 3,
            KEYHOLE_READ 4,
            KEYHOLE_WRITE 5,
            CYCLIC_BD_ENABLE 6,
            IOC_IRQ_EN 12,
            DLY_IRQ_EN 13,
            ERR_IRQ_EN 14,
            /// Of scatter/gather, at its reset.
            IRQ_THRESHOLD 16..24 ro,
            IRQ_DELAY 24..32 ro,
        };
        CDMASR 0x04 w1c reset 0x0001_0002 mask 0xffff_777a {
            IDLE 1 ro,
            SG_INCLD 3 ro,
            DMA_INT_ERR 4 ro,
            DMA_SLV_ERR 5 ro,
            DMA_DEC_ERR 6 ro,
            SG_ERRORS 8..11 ro,
            IOC_IRQ 12,
            DLY_IRQ 13,
            ERR_IRQ 14,
            /// Of scatter/gather, at its reset.
            IRQ_THRESHOLD_STS 16..24 ro,
            IRQ_DELAY_STS 24..32 ro,
        };
        CURDESC_PNTR 0x08 rw volatile mask 0xffff_ffc0;
        CURDESC_PNTR_MSB 0x0c rw volatile;
        TAILDESC_PNTR 0x10 rw volatile mask 0xffff_ffc0;
        TAILDESC_PNTR_MSB 0x14 rw volatile;
        SA 0x18 rw;
        SA_MSB 0x1c rw volatile;
        DA 0x20 rw;
        DA_MSB 0x24 rw volatile;
        BTT 0x28 rw mask 0x03ff_ffff;
    }
}

/// Bits of CDMACR for scatter/gather.
const SCATTER_GATHER: u32 = CDMACR_SG_MODE | CDMACR_CYCLIC_BD_ENABLE | CDMACR_DLY_IRQ_EN;
/// Bits of CDMASR that halt the engine.
const ERRORS: u32 = CDMASR_DMA_INT_ERR | CDMASR_DMA_SLV_ERR | CDMASR_DMA_DEC_ERR;
/// Interrupts; their enables are at the same bits of CDMACR.
const INTERRUPTS: u32 = CDMASR_IOC_IRQ | CDMASR_ERR_IRQ;

/// The engine's configuration and timing.
#[derive(Clone, Copy, Debug)]
pub struct Params {
    /// Register port; its clock is also the data's.
    pub port: AxiLitePort,
    /// `xlnx,max-burst-len`: beats of the longest burst.
    pub max_burst_beats: u32,
    /// `xlnx,lite-mode`: one burst a transfer, and no splitting at 4 KiB boundaries.
    pub lite: bool,
    /// `xlnx,include-sf`: a burst is written when all of it has arrived.
    pub store_and_forward: bool,
    /// From the write of BTT to the first read address.
    pub setup_cycles: Cycles,
    /// From a word's arrival to its write (or, with the first word of a burst, to the write's address).
    pub forward_cycles: Cycles,
    /// Clocks without data between two bursts.
    pub burst_gap_cycles: Cycles,
    /// Interrupt output.
    pub interrupt: Option<IrqLine>,
}

/// The phase of the port's clock.
impl Phase for Params {
    fn phase(&self, poll: &mut Poll) {
        self.port.phase(poll);
    }
}

/// For the list of models.
pub const MODEL: Model =
    Model::device(Group::Dma, &["xlnx,axi-cdma-1.00.a"], 1, from_node).with_activities(DMA).naming(MAP.rows);

/// PG034 v4.1: 2 to 256 beats; "CDMA Lite Mode Restrictions": 16, 32 or 64.
fn max_burst_beats(reader: &mut NodeReader, lite: bool) -> u32 {
    let (least, most) = if lite { (16, 64) } else { (2, 256) };
    let meaning = format!("the longest burst has a power of two of beats, from {least} to {most}");
    reader.u32_or("xlnx,max-burst-len", 16, PowerOfTwo(least..=most), &meaning)
}

/// The engine.
#[derive(State, Polled, RegisterBank)]
#[port(Port::axi_lite(self.params.port))]
pub struct AxiCdma {
    #[state(skip)]
    #[poll(phase)]
    params: Params,
    registers: Registers,
    #[poll(skip = "a transfer continues by events, and each has its generation")]
    read: Side,
    #[poll(skip = "as `read`")]
    write: Side,
    /// Words between the sides, each with its arrival time.
    #[poll(skip = "as `read`")]
    buffer: VecDeque<(u32, Ps)>,
    /// The last write response of the transfer.
    #[poll(skip = "as `read`")]
    responded: Ps,
    /// The result of the transfer, reported at the end event.
    #[poll(skip = "as `read`")]
    outcome: Result<(), Failure>,
    /// Incremented by each transfer and reset: events of an earlier one are stale.
    generation: u32,
    #[poll(skip = "as `read`")]
    totals: Totals,
}

/// Totals since the start of the run.
#[derive(Clone, Copy, Debug, Default, State)]
struct Totals {
    transfers: u64,
    bytes: u64,
    bursts: u64,
}

/// The kind of an event: the two low bits of its token, below the generation.
const READ: u32 = 0;
const WRITE: u32 = 1;
const END: u32 = 2;

/// Builds the engine from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    reader.known(&["clock-names", "#dma-cells"]);
    reader.u32_or("xlnx,datawidth", 32, [32], "this model moves 32 bits a beat");
    reader.u32_or("xlnx,addrwidth", 32, [32], "this model has 32 address bits");
    let lite = reader.flag("xlnx,lite-mode", "the core is built in lite mode, with bursts of 16 to 64 beats");
    let params = Params {
        port: AxiLitePort::from_node(reader),
        max_burst_beats: max_burst_beats(reader, lite),
        lite,
        store_and_forward: reader.flag("xlnx,include-sf", "the core stores a burst before it forwards it"),
        setup_cycles: reader.timing_cycles("cyclescope,setup-cycles", "clocks from BTT to the first read address"),
        forward_cycles: reader.timing_cycles("cyclescope,forward-cycles", "clocks from a word read to it written"),
        burst_gap_cycles: reader.timing_cycles("cyclescope,burst-gap-cycles", "idle data clocks between two bursts"),
        interrupt: reader.interrupt(0, "its interrupt"),
    };
    Box::new(AxiCdma::new(params))
}

impl AxiCdma {
    /// An idle engine.
    pub fn new(params: Params) -> AxiCdma {
        let (read, write, responded, generation, totals) = Default::default();
        let (registers, outcome) = (Registers::new(&MAP), Ok(()));
        let buffer = VecDeque::with_capacity(2 * params.max_burst_beats as usize);
        AxiCdma { params, registers, read, write, buffer, responded, outcome, generation, totals }
    }

    fn wrote_control(&mut self, new: u32, ctx: &mut Ctx) {
        if new & CDMACR_RESET != 0 {
            self.generation += 1;
            self.registers.reset();
        } else if new & SCATTER_GATHER != 0 {
            ctx.note("CDMACR asks for scatter/gather, which is not modelled: the bits stay 0");
            self.registers.put(CDMACR, SCATTER_GATHER, false);
        }
    }

    /// BTT was written, over `old`.
    fn start(&mut self, old: u32, bytes: u32, ctx: &mut Ctx) {
        if !self.registers.has(CDMASR, CDMASR_IDLE) || self.registers.has(CDMASR, ERRORS) {
            ctx.note("BTT was written while the engine was busy or halted by an error: it has no effect");
            self.registers.set(BTT, old);
            return;
        }
        self.registers.put(CDMASR, CDMASR_IDLE, false);
        self.generation += 1;
        self.responded = ctx.now;
        self.outcome = Ok(());
        let first = self.params.port.clock.after(ctx.now, self.params.setup_cycles);
        if !self.accepts(bytes) {
            self.finish_at(first, Err(Failure::Internal), ctx);
            return;
        }
        self.buffer.clear();
        self.read = self.side(SA, CDMACR_KEYHOLE_READ);
        self.write = self.side(DA, CDMACR_KEYHOLE_WRITE);
        self.read.armed = true;
        self.schedule(first, READ, ctx);
    }

    /// A side of the transfer, with the register of its address, and its keyhole bit.
    fn side(&self, address: u32, keyhole: u32) -> Side {
        Side::new(self.registers[address], self.registers[BTT], self.registers.has(CDMACR, keyhole))
    }

    /// PG034: no empty transfer; word-aligned addresses without the realignment engine; one burst in lite mode.
    fn accepts(&self, bytes: u32) -> bool {
        let aligned = (self.registers[SA] | self.registers[DA]).is_multiple_of(4);
        bytes != 0 && aligned && (!self.params.lite || bytes <= self.params.max_burst_beats * 4)
    }

    fn schedule(&self, due: Ps, what: u32, ctx: &mut Ctx) {
        ctx.schedule(due, self.generation << 2 | what);
    }

    fn finish_at(&mut self, due: Ps, outcome: Result<(), Failure>, ctx: &mut Ctx) {
        // All later events of this transfer are stale.
        self.generation += 1;
        self.outcome = outcome;
        self.schedule(due.max(ctx.now), END, ctx);
    }

    fn end(&mut self) {
        let flags = match self.outcome {
            Ok(()) => CDMASR_IOC_IRQ,
            Err(Failure::Internal) => CDMASR_DMA_INT_ERR | CDMASR_ERR_IRQ,
            Err(Failure::Slave) => CDMASR_DMA_SLV_ERR | CDMASR_ERR_IRQ,
            Err(Failure::Decode) => CDMASR_DMA_DEC_ERR | CDMASR_ERR_IRQ,
        };
        self.registers.put(CDMASR, CDMASR_IDLE | flags, true);
        self.totals.transfers += 1;
    }
}

impl Table for AxiCdma {
    fn wrote(&mut self, register: u32, old: u32, new: u32, ctx: &mut Ctx) {
        match register {
            CDMACR => self.wrote_control(new, ctx),
            BTT => self.start(old, new, ctx),
            CDMASR | SA | DA => {}
            _ => {
                let name = MAP.row(register).map_or("", |row| row.name);
                ctx.note(&format!("{name} is of scatter/gather or 64-bit addresses, which are not modelled"));
            }
        }
    }

    fn refused(&mut self, register: u32, _: Refused, ctx: &mut Ctx) {
        ctx.note(&format!("a write to offset {register:#x}, where no register is, has no effect"));
    }

    fn update(&mut self, ctx: &mut Ctx) {
        let detail = || Detail::Address { address: self.registers[SA], bytes: self.registers[BTT] };
        ctx.level_with(&TRANSFER, !self.registers.has(CDMASR, CDMASR_IDLE), detail);
        ctx.set_irq(self.params.interrupt, self.registers.has(CDMASR, self.registers[CDMACR] & INTERRUPTS));
    }
}

impl Device for AxiCdma {
    by_table!();

    fn is_master(&self) -> bool {
        true
    }

    fn event(&mut self, token: u32, ctx: &mut Ctx) {
        if token >> 2 != self.generation & (u32::MAX >> 2) {
            return;
        }
        match token & 3 {
            READ => self.read_due(ctx),
            WRITE => self.write_due(ctx),
            _ => {
                self.end();
                self.update(ctx);
            }
        }
    }

    fn counters(&self) -> Vec<(String, u64)> {
        let Totals { transfers, bytes, bursts } = self.totals;
        totals([("transfers", transfers), ("bytes", bytes), ("bursts", bursts)])
    }
}

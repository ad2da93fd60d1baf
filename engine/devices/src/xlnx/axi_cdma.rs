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

use self::transfer::{Buffer, Failure, Side};
use crate::model::{Group, Model};
use crate::support::activities::{DMA, TRANSFER};
use crate::support::axi_lite::{AxiLitePort, on_lanes};
use crate::support::registers::{AccessKind, Register, find};
use engine::activity::Detail;
use engine::bus::device::{AccessSize, Ctx, Device, IrqLine, Reply, SlaveError};
use engine::dt::reader::{NodeReader, PowerOfTwo};
use engine::polling::{Poll, Polled};
use engine::state::State;
use engine::time::{Cycles, Ps};

const CDMACR: u32 = 0x00;
const CDMASR: u32 = 0x04;
const SA: u32 = 0x18;
const DA: u32 = 0x20;
const BTT: u32 = 0x28;

/// The register map (PG034 v4.1, "Register Space").
pub const REGISTERS: &[Register] = &[
    // TailPntrEn (bit 1) reads 1. For scatter/gather only, and not modelled: SGMode (3), CyclicBdEnable (6), Dly_IrqEn
    // (13), IRQThreshold (16 to 23, resets to 1), IRQDelay (24 to 31).
    Register::new("CDMACR", CDMACR, AccessKind::Rw, 0x0001_0002, 0xffff_707e),
    Register::new("CDMASR", CDMASR, AccessKind::W1c, 0x0001_0002, 0xffff_777a),
    Register::new("CURDESC_PNTR", 0x08, AccessKind::Rw, 0, 0xffff_ffc0),
    Register::new("CURDESC_PNTR_MSB", 0x0c, AccessKind::Rw, 0, u32::MAX),
    Register::new("TAILDESC_PNTR", 0x10, AccessKind::Rw, 0, 0xffff_ffc0),
    Register::new("TAILDESC_PNTR_MSB", 0x14, AccessKind::Rw, 0, u32::MAX),
    Register::new("SA", SA, AccessKind::Rw, 0, u32::MAX),
    Register::new("SA_MSB", 0x1c, AccessKind::Rw, 0, u32::MAX),
    Register::new("DA", DA, AccessKind::Rw, 0, u32::MAX),
    Register::new("DA_MSB", 0x24, AccessKind::Rw, 0, u32::MAX),
    Register::new("BTT", BTT, AccessKind::Rw, 0, 0x03ff_ffff),
];

/// Fields of CDMACR.
mod cr {
    pub const TAIL_POINTER_ENABLE: u32 = 1 << 1;
    pub const RESET: u32 = 1 << 2;
    pub const KEYHOLE_READ: u32 = 1 << 4;
    pub const KEYHOLE_WRITE: u32 = 1 << 5;
    pub const IOC_IRQ_ENABLE: u32 = 1 << 12;
    pub const ERR_IRQ_ENABLE: u32 = 1 << 14;
    /// Bits that software can set.
    pub const WRITABLE: u32 = KEYHOLE_READ | KEYHOLE_WRITE | IOC_IRQ_ENABLE | ERR_IRQ_ENABLE;
    /// Threshold of scatter/gather, at its reset.
    pub const FIXED: u32 = 1 << 16 | TAIL_POINTER_ENABLE;
    /// For scatter/gather: not modelled.
    pub const SCATTER_GATHER: u32 = 1 << 3 | 1 << 6 | 1 << 13;
}

/// Fields of CDMASR.
mod sr {
    pub const IDLE: u32 = 1 << 1;
    pub const DMA_INT_ERR: u32 = 1 << 4;
    pub const DMA_SLV_ERR: u32 = 1 << 5;
    pub const DMA_DEC_ERR: u32 = 1 << 6;
    pub const IOC_IRQ: u32 = 1 << 12;
    pub const ERR_IRQ: u32 = 1 << 14;
    pub const ERRORS: u32 = DMA_INT_ERR | DMA_SLV_ERR | DMA_DEC_ERR;
    pub const INTERRUPTS: u32 = IOC_IRQ | ERR_IRQ;
    /// Threshold status of scatter/gather, at its reset.
    pub const FIXED: u32 = 1 << 16;
}

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

/// For the list of models.
pub const MODEL: Model =
    Model::device(Group::Dma, &["xlnx,axi-cdma-1.00.a"], 1, from_node).with_activities(DMA).naming(REGISTERS);

impl Params {
    /// Reads the node.
    pub fn from_node(reader: &mut NodeReader) -> Params {
        reader.known(&["clock-names"]);
        reader.known(&["#dma-cells"]);
        reader.u32_or("xlnx,datawidth", 32, [32], "this model moves 32 bits a beat");
        reader.u32_or("xlnx,addrwidth", 32, [32], "this model has 32 address bits");
        let lite = reader.flag("xlnx,lite-mode", "the core is built in lite mode, with bursts of 16 to 64 beats");
        Params {
            port: AxiLitePort::from_node(reader),
            max_burst_beats: max_burst_beats(reader, lite),
            lite,
            store_and_forward: reader.flag("xlnx,include-sf", "the core stores a burst before it forwards it"),
            setup_cycles: reader.timing_cycles("cyclescope,setup-cycles", "clocks from BTT to the first read address"),
            forward_cycles: reader.timing_cycles("cyclescope,forward-cycles", "clocks from a word read to it written"),
            burst_gap_cycles: reader
                .timing_cycles("cyclescope,burst-gap-cycles", "idle data clocks between two bursts"),
            interrupt: reader.interrupt(0, "its interrupt"),
        }
    }
}

/// PG034 v4.1: 2 to 256 beats; "CDMA Lite Mode Restrictions": 16, 32 or 64.
fn max_burst_beats(reader: &mut NodeReader, lite: bool) -> u32 {
    let (least, most) = if lite { (16, 64) } else { (2, 256) };
    let meaning = format!("the longest burst has a power of two of beats, from {least} to {most}");
    reader.u32_or("xlnx,max-burst-len", 16, PowerOfTwo(least..=most), &meaning)
}

/// The engine.
#[derive(State)]
pub struct AxiCdma {
    #[state(skip)]
    params: Params,
    control: u32,
    status: u32,
    source_addr: u32,
    destination_addr: u32,
    bytes_to_transfer: u32,
    read: Side,
    write: Side,
    buffer: Buffer,
    /// The last write response of the transfer.
    responded: Ps,
    /// The result of the transfer, reported at the end event.
    outcome: Result<(), Failure>,
    /// Incremented by each transfer and reset: events of an earlier one are stale.
    generation: u32,
    totals: Totals,
    /// Incremented by every write and every step: nothing else changes the state.
    changes: u64,
}

/// Totals since the start of the run.
#[derive(Clone, Copy, Debug, Default, State)]
struct Totals {
    transfers: u64,
    bytes: u64,
    bursts: u64,
}

/// The kind of an event: the two low bits of its token, below the generation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Due {
    Read,
    Write,
    End,
}

/// Builds the engine from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    Box::new(AxiCdma::new(Params::from_node(reader)))
}

impl AxiCdma {
    /// An idle engine.
    pub fn new(params: Params) -> AxiCdma {
        AxiCdma {
            params,
            control: 0,
            status: sr::IDLE,
            source_addr: 0,
            destination_addr: 0,
            bytes_to_transfer: 0,
            read: Side::default(),
            write: Side::default(),
            buffer: Buffer::new(2 * params.max_burst_beats),
            responded: Ps::ZERO,
            outcome: Ok(()),
            generation: 0,
            totals: Totals::default(),
            changes: 0,
        }
    }

    fn register(&self, offset: u32) -> u32 {
        match offset {
            CDMACR => self.control | cr::FIXED,
            CDMASR => self.status | sr::FIXED,
            SA => self.source_addr,
            DA => self.destination_addr,
            BTT => self.bytes_to_transfer,
            _ => 0,
        }
    }

    fn set_register(&mut self, register: &Register, value: u32, ctx: &mut Ctx) {
        match register.offset {
            CDMACR if value & cr::RESET != 0 => self.reset(),
            CDMACR => {
                if value & cr::SCATTER_GATHER != 0 {
                    ctx.note("CDMACR asks for scatter/gather, which is not modelled: the bits stay 0");
                }
                self.control = value & cr::WRITABLE;
            }
            CDMASR => self.status &= !(value & sr::INTERRUPTS),
            SA => self.source_addr = value,
            DA => self.destination_addr = value,
            BTT => self.start(value & register.mask, ctx),
            _ => {
                ctx.note(&format!("{} is of scatter/gather or 64-bit addresses, which are not modelled", register.name))
            }
        }
    }

    fn reset(&mut self) {
        self.generation += 1;
        (self.control, self.status) = (0, sr::IDLE);
        (self.source_addr, self.destination_addr, self.bytes_to_transfer) = (0, 0, 0);
    }

    fn start(&mut self, bytes: u32, ctx: &mut Ctx) {
        if self.status & sr::IDLE == 0 || self.status & sr::ERRORS != 0 {
            ctx.note("BTT was written while the engine was busy or halted by an error: it has no effect");
            return;
        }
        self.bytes_to_transfer = bytes;
        self.status &= !sr::IDLE;
        self.generation += 1;
        self.responded = ctx.now;
        self.outcome = Ok(());
        let first = self.params.port.clock.after(ctx.now, self.params.setup_cycles);
        if !self.accepts(bytes) {
            self.finish_at(first, Err(Failure::Internal), ctx);
            return;
        }
        self.buffer.clear();
        self.read = Side::new(self.source_addr, bytes, self.control & cr::KEYHOLE_READ != 0);
        self.write = Side::new(self.destination_addr, bytes, self.control & cr::KEYHOLE_WRITE != 0);
        self.read.armed = true;
        self.schedule(first, Due::Read, ctx);
    }

    /// PG034: no empty transfer; word-aligned addresses without the realignment engine; one burst in lite mode.
    fn accepts(&self, bytes: u32) -> bool {
        let aligned = (self.source_addr | self.destination_addr).is_multiple_of(4);
        bytes != 0 && aligned && (!self.params.lite || bytes <= self.params.max_burst_beats * 4)
    }

    fn schedule(&self, due: Ps, what: Due, ctx: &mut Ctx) {
        ctx.schedule(due, self.generation << 2 | what as u32);
    }

    fn finish_at(&mut self, due: Ps, outcome: Result<(), Failure>, ctx: &mut Ctx) {
        // All later events of this transfer are stale.
        self.generation += 1;
        self.outcome = outcome;
        self.schedule(due.max(ctx.now), Due::End, ctx);
    }

    fn end(&mut self) {
        self.status |= sr::IDLE;
        self.status |= match self.outcome {
            Ok(()) => sr::IOC_IRQ,
            Err(Failure::Internal) => sr::DMA_INT_ERR | sr::ERR_IRQ,
            Err(Failure::Slave) => sr::DMA_SLV_ERR | sr::ERR_IRQ,
            Err(Failure::Decode) => sr::DMA_DEC_ERR | sr::ERR_IRQ,
        };
        self.totals.transfers += 1;
    }

    fn update_interrupt(&self, ctx: &mut Ctx) {
        let detail = || Detail::Address { address: self.source_addr, bytes: self.bytes_to_transfer };
        ctx.level_with(&TRANSFER, self.status & sr::IDLE == 0, detail);
        // The enables of IOC_Irq and Err_Irq are at the same bits of CDMACR.
        ctx.set_irq(self.params.interrupt, self.status & self.control & sr::INTERRUPTS != 0);
    }
}

impl Device for AxiCdma {
    fn is_master(&self) -> bool {
        true
    }

    fn read(&mut self, _: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> Result<Reply, SlaveError> {
        Ok(self.params.port.read(self.register(offset & !3), offset, size, ctx.now))
    }

    fn write(
        &mut self,
        _: usize,
        offset: u32,
        size: AccessSize,
        value: u32,
        ctx: &mut Ctx,
    ) -> Result<Reply, SlaveError> {
        self.changes += 1;
        match find(REGISTERS, offset & !3) {
            Some(register) => self.set_register(register, on_lanes(value, offset, size), ctx),
            None => ctx.note(&format!("a write to offset {offset:#x}, where no register is, has no effect")),
        }
        self.update_interrupt(ctx);
        Ok(self.params.port.written(ctx.now))
    }

    fn event(&mut self, token: u32, ctx: &mut Ctx) {
        if token >> 2 != self.generation & (u32::MAX >> 2) {
            return;
        }
        self.changes += 1;
        if token & 3 == Due::Read as u32 {
            self.read_due(ctx);
        } else if token & 3 == Due::Write as u32 {
            self.write_due(ctx);
        } else {
            self.end();
            self.update_interrupt(ctx);
        }
    }

    fn counters(&self) -> Vec<(String, u64)> {
        vec![
            ("transfers".to_owned(), self.totals.transfers),
            ("bytes".to_owned(), self.totals.bytes),
            ("bursts".to_owned(), self.totals.bursts),
        ]
    }
}

impl Polled for AxiCdma {
    fn polled(&mut self, poll: &mut Poll) -> bool {
        poll.phase(self.params.port.clock);
        poll.state(self.changes);
        true
    }
}

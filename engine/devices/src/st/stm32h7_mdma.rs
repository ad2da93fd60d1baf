//! `st,stm32h7-mdma`: the master DMA of STM32H7 and STM32MP1, MDMA (RM0436, "MDMA controller (MDMA)"), 32 channels.
//!
//! Modelled: transfers requested by software (MDMA_CxTCR.SWRM): buffers, blocks, repeated blocks and linked lists of
//! them, with all address modes, data sizes, bursts and updates between blocks; errors of access, alignment and size;
//! flags, the interrupt, the clock gate. Bytes are packed from the source's data size to the destination's.
//!
//! A buffer is read from the source into the FIFO, burst by burst, and then written to the destination. After each
//! buffer another channel may be served.
//!
//! Not modelled: requests of peripherals, and with them the writes to mask registers; exchange of bytes (BEX, HEX, WEX)
//! and padding (PAM); security; priorities (channels share the buses like separate masters).

mod channel;
mod transfer;

#[cfg(test)]
mod tests;

use self::channel::{Channel, Stage, ccr, cesr, cisr, ctcr};
use crate::model::{Group, Model};
use crate::support::activities::{DMA, TRANSFER};
use crate::support::registers::{AccessKind, Register, find, flag};
use crate::support::stm32_clock_gate::ClockGate;
use engine::activity::{Detail, Kind};
use engine::bus::device::{AccessSize, Ctx, Device, IrqLine, Reply, SlaveError};
use engine::dt::reader::NodeReader;
use engine::dt::wiring::ClockInput;
use engine::polling::{Poll, Polled};
use engine::state::State;
use engine::time::{Cycles, Ps};

/// A channel's registers (RM0436, "MDMA registers"), from its first on.
pub const REGISTERS: &[Register] = &[
    Register::new("MDMA_CxISR", CISR, AccessKind::Ro, 0, cisr::ALL | cisr::CRQA),
    Register::new("MDMA_CxIFCR", CIFCR, AccessKind::Wo, 0, cisr::ALL),
    Register::new("MDMA_CxESR", CESR, AccessKind::Ro, 0, 0xfff),
    Register::new("MDMA_CxCR", CCR, AccessKind::Rw, 0, 0x0001_71ff),
    Register::new("MDMA_CxTCR", CTCR, AccessKind::Rw, 0, u32::MAX),
    Register::new("MDMA_CxBNDTR", CBNDTR, AccessKind::Rw, 0, 0xfffd_ffff),
    Register::new("MDMA_CxSAR", CSAR, AccessKind::Rw, 0, u32::MAX),
    Register::new("MDMA_CxDAR", CDAR, AccessKind::Rw, 0, u32::MAX),
    Register::new("MDMA_CxBRUR", CBRUR, AccessKind::Rw, 0, u32::MAX),
    Register::new("MDMA_CxLAR", CLAR, AccessKind::Rw, 0, !7),
    Register::new("MDMA_CxTBR", CTBR, AccessKind::Rw, 0, 0x0003_003f),
    Register::new("MDMA_CxMAR", CMAR, AccessKind::Rw, 0, u32::MAX),
    Register::new("MDMA_CxMDR", CMDR, AccessKind::Rw, 0, u32::MAX),
];

/// One bit for each channel that interrupts.
const GISR0: u32 = 0x00;
const CHANNELS: usize = 32;
/// Offset of the channels' registers, and bytes for each channel.
const CHANNEL_BASE: u32 = 0x40;
const CHANNEL_BYTES: u32 = 0x40;

const CISR: u32 = 0x00;
const CIFCR: u32 = 0x04;
const CESR: u32 = 0x08;
const CCR: u32 = 0x0c;
const CTCR: u32 = 0x10;
const CBNDTR: u32 = 0x14;
const CSAR: u32 = 0x18;
const CDAR: u32 = 0x1c;
const CBRUR: u32 = 0x20;
const CLAR: u32 = 0x24;
const CTBR: u32 = 0x28;
const CMAR: u32 = 0x30;
const CMDR: u32 = 0x34;

/// The board's parameters of the controller.
#[derive(Clone, Copy, Debug, State)]
pub struct Params {
    /// The clock of registers and transfers.
    pub clock: ClockInput,
    /// Clocks from a request to the first access.
    #[state(skip)]
    pub setup_cycles: Cycles,
    /// Clocks from the end of a buffer to the first access of the next.
    #[state(skip)]
    pub buffer_cycles: Cycles,
    /// The interrupt, to two processors that have an interrupt controller each.
    #[state(skip)]
    pub interrupts: [Option<IrqLine>; 2],
    /// Its clock enable bit in the RCC.
    #[state(skip)]
    pub gate: ClockGate,
}

/// Totals since the start of the run.
#[derive(Clone, Copy, Debug, Default, State)]
struct Totals {
    blocks: u64,
    bytes: u64,
    nodes: u64,
}

/// The controller.
#[derive(Debug, State)]
pub struct Mdma {
    params: Params,
    #[state(with = engine::state::fixed)]
    channels: Vec<Channel>,
    totals: Totals,
    /// Incremented by every write and every step: only these change the state.
    changes: u64,
}

/// For the list of models.
pub const MODEL: Model =
    Model::device(Group::Dma, &["st,stm32h7-mdma"], 1, from_node).with_activities(DMA).naming(REGISTERS);

/// Builds the controller from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    reader.known(&["clock-names", "#dma-cells", "dma-channels", "dma-requests"]);
    Box::new(Mdma::new(Params {
        clock: reader.clock_input(0, "the clock of registers and transfers"),
        setup_cycles: reader.timing_cycles("cyclescope,setup-cycles", "clocks from a request to the first access"),
        buffer_cycles: reader.timing_cycles("cyclescope,buffer-cycles", "clocks from one buffer to the next"),
        interrupts: [reader.interrupt(0, "its interrupt"), reader.interrupt(1, "its interrupt, to another processor")],
        gate: ClockGate::from_node(reader),
    }))
}

impl Mdma {
    /// The controller after reset.
    pub fn new(params: Params) -> Mdma {
        Mdma { params, channels: vec![Channel::default(); CHANNELS], totals: Totals::default(), changes: 0 }
    }

    /// MDMA_GISR0.
    fn pending(&self) -> u32 {
        let channels = self.channels.iter().enumerate();
        channels.fold(0, |bits, (index, channel)| bits | flag(1 << index, channel.interrupts()))
    }

    fn update(&mut self, ctx: &mut Ctx) {
        if ctx.records(Kind::Transfer) {
            for (index, channel) in self.channels.iter().enumerate() {
                let detail = || Detail::Address { address: channel.source, bytes: channel.left() };
                ctx.level_with((&TRANSFER, index as u32), channel.stage != Stage::Idle, detail);
            }
        }
        let level = self.pending() != 0;
        for line in self.params.interrupts {
            ctx.set_irq(line, level);
        }
    }

    fn set_channel(&mut self, index: usize, offset: u32, value: u32, ctx: &mut Ctx) {
        let channel = &mut self.channels[index];
        match offset {
            CIFCR => channel.status &= !value,
            CCR => self.control(index, value, ctx),
            CISR | CESR => {}
            _ if channel.is_enabled() => {
                ctx.note(&format!("channel {index}: a register was written while EN is set, which locks it"));
            }
            _ => channel.set(offset, value),
        }
    }

    /// A write of MDMA_CxCR.
    fn control(&mut self, index: usize, value: u32, ctx: &mut Ctx) {
        let channel = &mut self.channels[index];
        let was_enabled = channel.is_enabled();
        channel.control = value & !ccr::SWRQ;
        if was_enabled && !channel.is_enabled() {
            channel.stop();
            channel.status |= cisr::CTCIF;
        }
        if !was_enabled && channel.is_enabled() {
            channel.error = channel.faults();
            if channel.error != 0 {
                ctx.note(&format!(
                    "channel {index}: sizes and addresses do not fit (MDMA_CxESR is {:#x})",
                    channel.error
                ));
                channel.fail(channel.error);
                return;
            }
            channel.begin_block();
        }
        if value & ccr::SWRQ != 0 {
            self.request(index, ctx);
        }
        let channel = &self.channels[index];
        if channel.is_enabled() && (channel.control & ccr::EXCHANGES != 0 || channel.transfer & ctcr::PAM != 0) {
            ctx.note(
                "exchange of bytes and padding (MDMA_CxCR, MDMA_CxTCR.PAM) are not modelled: bytes are packed in order",
            );
        }
    }

    /// Requests a transfer by software.
    fn request(&mut self, index: usize, ctx: &mut Ctx) {
        let channel = &mut self.channels[index];
        if !channel.is_enabled() || channel.transfer & ctcr::SWRM == 0 {
            ctx.note(&format!("channel {index}: a software request without EN or MDMA_CxTCR.SWRM has no effect"));
        } else if channel.stage == Stage::Idle {
            channel.stage = Stage::Read;
            channel.begin_request();
            self.arm(index, self.params.clock.rate.after(ctx.now, self.params.setup_cycles), ctx);
        }
    }

    /// Schedules the channel's next step, at `due`.
    fn arm(&mut self, index: usize, due: Ps, ctx: &mut Ctx) {
        let generation = self.channels[index].generation;
        ctx.schedule(due.max(ctx.now), generation << 5 | index as u32);
    }
}

/// The channel whose registers are at `offset`, and the register's offset among them.
fn channel_at(offset: u32) -> Option<(usize, u32)> {
    let within = offset.checked_sub(CHANNEL_BASE)?;
    let index = (within / CHANNEL_BYTES) as usize;
    (index < CHANNELS).then_some((index, within % CHANNEL_BYTES))
}

impl Device for Mdma {
    fn read(&mut self, _: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> Result<Reply, SlaveError> {
        self.params.gate.read(offset, size, ctx, |offset, _| match channel_at(offset) {
            Some((index, register)) => self.channels[index].get(register),
            None => flag(u32::MAX, offset == GISR0) & self.pending(),
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
        self.params.gate.write(offset, size, value, ctx, |offset, value, ctx| {
            self.changes += 1;
            if let Some((index, register)) = channel_at(offset) {
                let mask = find(REGISTERS, register).map_or(0, |register| register.mask);
                self.set_channel(index, register, value & mask, ctx);
            }
            self.update(ctx);
        })
    }

    fn event(&mut self, token: u32, ctx: &mut Ctx) {
        let index = (token % CHANNELS as u32) as usize;
        if self.channels[index].generation << 5 == token & !0x1f {
            self.changes += 1;
            self.step(index, ctx);
            self.update(ctx);
        }
    }

    /// All accesses come from steps, which are events: between requests the device makes no accesses.
    fn is_master(&self) -> bool {
        self.channels.iter().any(|channel| channel.stage != Stage::Idle)
    }

    fn clocks_changed(&mut self, ctx: &mut Ctx) {
        // Accesses under way on the bus end at the old rate.
        ctx.bus.clocks.update(&mut self.params.clock);
    }

    fn counters(&self) -> Vec<(String, u64)> {
        let Totals { blocks, bytes, nodes } = self.totals;
        [("blocks", blocks), ("bytes", bytes), ("nodes", nodes)].map(|(name, count)| (name.to_owned(), count)).to_vec()
    }
}

impl Polled for Mdma {
    fn polled(&mut self, poll: &mut Poll) -> bool {
        poll.state(self.changes);
        true
    }
}

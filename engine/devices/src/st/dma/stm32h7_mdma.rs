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

use self::channel::Channel;
use crate::prelude::*;
use crate::support::activities::DMA;
use crate::support::bus_master::{Stage, show_channels};

registers! {
    /// A channel's registers (RM0436, "MDMA registers"), from its first on.
    pub const MAP "MDMA_" {
        CISR "CxISR" 0x00 ro { TEIF 0, CTCIF 1, BRTIF 2, BTIF 3, TCIF 4, CRQA 16 };
        CIFCR "CxIFCR" 0x04 clear CISR mask FLAGS;
        CESR "CxESR" 0x08 ro mask 0xfff { TEA 0..7, TED 7, TELD 8, ASE 10, BSE 11 };
        CCR "CxCR" 0x0c rw mask 0x0001_71ff {
            EN 0,
            /// TEIE, CTCIE, BRTIE, BTIE, TCIE: the enables of the flags, one bit above them.
            INTERRUPTS 1..6,
            /// BEX, HEX, WEX.
            EXCHANGES 12..15,
            SWRQ 16,
        };
        CTCR "CxTCR" 0x10 rw mask u32::MAX {
            SINC 0..2, DINC 2..4, SSIZE 4..6, DSIZE 6..8, SINCOS 8..10, DINCOS 10..12, SBURST 12..15, DBURST 15..18,
            TLEN 18..25, PAM 26..28, TRGM 28..30, SWRM 30,
        };
        CBNDTR "CxBNDTR" 0x14 rw { BNDT 0..17, BRSUM 18, BRDUM 19, BRC 20..32 };
        CSAR "CxSAR" 0x18 rw;
        CDAR "CxDAR" 0x1c rw;
        CBRUR "CxBRUR" 0x20 rw { SUV 0..16, DUV 16..32 };
        CLAR "CxLAR" 0x24 rw mask !7;
        CTBR "CxTBR" 0x28 rw mask 0x0003_003f;
        CMAR "CxMAR" 0x30 rw;
        CMDR "CxMDR" 0x34 rw;
    }

    /// The controller's own register.
    const OWN "MDMA_" {
        /// One bit for each channel that interrupts.
        GISR0 0x00 ro volatile;
    }
}

const FLAGS: u32 = 0x1f;
const CHANNELS: usize = 32;
const PLACES: Banks = Banks { first: 0x40, bytes: 0x40, count: CHANNELS, begin: CISR };

/// The board's parameters of the controller.
#[derive(Clone, Copy, Debug)]
pub struct Params {
    /// The clock of registers and transfers.
    pub clock: ClockInput,
    /// Clocks from a request to the first access.
    pub setup_cycles: Cycles,
    /// Clocks from the end of a buffer to the first access of the next.
    pub buffer_cycles: Cycles,
    /// The interrupt, to two processors that have an interrupt controller each.
    pub interrupts: [Option<IrqLine>; 2],
    /// Its clock enable bit in the RCC.
    pub gate: ClockGate,
}

/// The controller.
#[derive(Debug, State, Polled, RegisterBank)]
#[port(Port::gated(self.params.gate))]
#[banks(channels, PLACES)]
pub struct Mdma {
    #[state(skip)]
    params: Params,
    clock: ClockInput,
    registers: Registers,
    #[state(with = engine::state::fixed)]
    channels: Vec<Channel>,
    blocks: u64,
    bytes: u64,
    nodes: u64,
}

/// For the list of models.
pub const MODEL: Model =
    Model::device(Group::Dma, &["st,stm32h7-mdma"], 1, from_node).with_activities(DMA).naming(MAP.rows);

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
        let (registers, channels) = (Registers::new(&OWN), vec![Channel::new(); CHANNELS]);
        Mdma { params, clock: params.clock, registers, channels, blocks: 0, bytes: 0, nodes: 0 }
    }

    /// MDMA_GISR0.
    fn pending(&self) -> u32 {
        let channels = self.channels.iter().enumerate();
        channels.fold(0, |bits, (index, channel)| bits | flag(1 << index, channel.interrupts()))
    }

    /// A write of MDMA_CxCR.
    fn control(&mut self, index: usize, was_enabled: bool, value: u32, ctx: &mut Ctx) {
        let channel = &mut self.channels[index];
        channel.registers.set(CCR, value & !CCR_SWRQ);
        if was_enabled && !channel.is_enabled() {
            channel.stop();
            channel.raise(CISR_CTCIF);
        }
        if !was_enabled && channel.is_enabled() {
            let error = channel.faults();
            channel.registers.set(CESR, error);
            if error != 0 {
                ctx.note(&format!("channel {index}: sizes and addresses do not fit (MDMA_CxESR is {error:#x})"));
                channel.fail(error);
                return;
            }
            channel.begin_block();
        }
        if value & CCR_SWRQ != 0 {
            self.request(index, ctx);
        }
        let Channel { registers, .. } = &self.channels[index];
        let is_unmodelled = registers.has(CCR, CCR_EXCHANGES) || registers.has(CTCR, CTCR_PAM);
        if registers.has(CCR, CCR_EN) && is_unmodelled {
            ctx.note(
                "exchange of bytes and padding (MDMA_CxCR, MDMA_CxTCR.PAM) are not modelled: bytes are packed in order",
            );
        }
    }

    /// Requests a transfer by software.
    fn request(&mut self, index: usize, ctx: &mut Ctx) {
        let channel = &mut self.channels[index];
        if !channel.is_enabled() || !channel.registers.has(CTCR, CTCR_SWRM) {
            ctx.note(&format!("channel {index}: a software request without EN or MDMA_CxTCR.SWRM has no effect"));
        } else if channel.stage == Stage::Idle {
            channel.stage = Stage::Read;
            channel.begin_request();
            self.arm(index, self.clock.rate.after(ctx.now, self.params.setup_cycles), ctx);
        }
    }

    /// Schedules the channel's next step, at `due`.
    fn arm(&mut self, index: usize, due: Ps, ctx: &mut Ctx) {
        let generation = self.channels[index].generation;
        ctx.schedule(due.max(ctx.now), generation << 5 | index as u32);
    }
}

impl Table for Mdma {
    fn shown(&mut self, register: u32, held: u32, _: &mut Ctx) -> u32 {
        match PLACES.at(register) {
            Some((index, CISR)) => held | flag(CISR_CRQA, self.channels[index].stage != Stage::Idle),
            None if register == GISR0 => self.pending(),
            _ => held,
        }
    }

    fn wrote(&mut self, register: u32, old: u32, new: u32, ctx: &mut Ctx) {
        match PLACES.at(register) {
            Some((index, CCR)) => self.control(index, old & CCR_EN != 0, new, ctx),
            // MDMA_CxIFCR has cleared flags.
            Some((_, CISR)) | None => {}
            Some((index, register)) => {
                let channel = &mut self.channels[index];
                if channel.is_enabled() {
                    ctx.note(&format!("channel {index}: a register was written while EN is set, which locks it"));
                    channel.registers.set(register, old);
                }
            }
        }
    }

    fn update(&mut self, ctx: &mut Ctx) {
        let each = |channel: &Channel| (channel.stage != Stage::Idle, channel.registers[CSAR], channel.left());
        show_channels(self.channels.iter().map(each), ctx);
        let level = self.pending() != 0;
        for line in self.params.interrupts {
            ctx.set_irq(line, level);
        }
    }
}

impl Device for Mdma {
    by_table!();

    fn event(&mut self, token: u32, ctx: &mut Ctx) {
        let index = (token % CHANNELS as u32) as usize;
        if self.channels[index].generation << 5 == token & !0x1f {
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
        ctx.bus.clocks.update(&mut self.clock);
    }

    fn counters(&self) -> Vec<(String, u64)> {
        totals([("blocks", self.blocks), ("bytes", self.bytes), ("nodes", self.nodes)])
    }
}

//! `st,stm32-dma`: the DMA controller of STM32F2, F4 and F7, eight streams with a FIFO each (RM0090, "DMA controller
//! (DMA)").
//!
//! Modelled: all registers; the choice of a request by CHSEL; direct mode and FIFO mode with its thresholds; different
//! data sizes, which the FIFO packs; bursts of both sides; increments, PINCOS; circular and double-buffer mode;
//! transfers between memories (if the node has `st,mem2mem`); priorities; the flags of half and complete transfers, bus
//! errors and wrong bursts; interrupts; disabling a stream, which still writes the FIFO's contents to memory.
//!
//! A device's request line is an input of this controller, numbered eight times the stream plus the channel. `dmas`
//! gives the number.
//!
//! The peripheral port and the memory port work in parallel, each for one stream at a time (AN4031, "DMA transfer
//! time"). `cyclescope,peripheral-cycles` and `cyclescope,memory-cycles` are the times between a request and the
//! access; the access takes the bus's time, at least one cycle for each beat. Before a transfer to a peripheral, the
//! first data are already in the FIFO.
//!
//! Not modelled: PFCTRL (DMA_SxNDTR gives the number of items, with a note), DMEIF and overruns of the FIFO, the lock
//! of the two ports' arbiters. Both sides of a circular transfer restart together, at its end. Accesses to memory that
//! the controller can't reach (`cyclescope,unreachable`) get an error response.
//!
//! A stream that is enabled again after its end moves as many items as before (RM0090, "DMA_SxNDTR"); a stream that was
//! disabled before its end moves the remaining items.

mod stream;
mod transfer;

#[cfg(test)]
mod tests;

use self::stream::{Direction, Stream, cr, fcr, flags};
use self::transfer::Port;
use crate::model::{Group, Model};
use crate::support::activities::{DMA, TRANSFER};
use crate::support::registers::{AccessKind, Register, flag};
use crate::support::stm32_clock_gate::ClockGate;
use crate::support::stm32_dma::{Requests, Unreachable};
use engine::activity::Detail;
use engine::bus::device::{AccessSize, Ctx, Device, IrqLine, Reply, SlaveError};
use engine::dt::reader::NodeReader;
use engine::dt::wiring::ClockInput;
use engine::polling::{Poll, Polled};
use engine::state::State;
use engine::time::Cycles;

/// The controller's own registers and those of stream 0 (RM0090, "DMA register map").
pub const REGISTERS: &[Register] = &[
    Register::new("DMA_LISR", LISR, AccessKind::Ro, 0, 0x0f7d_0f7d),
    Register::new("DMA_HISR", HISR, AccessKind::Ro, 0, 0x0f7d_0f7d),
    Register::new("DMA_LIFCR", LIFCR, AccessKind::Wo, 0, 0x0f7d_0f7d),
    Register::new("DMA_HIFCR", HIFCR, AccessKind::Wo, 0, 0x0f7d_0f7d),
    Register::new("DMA_S0CR", STREAM_BASE + CR, AccessKind::Rw, 0, CR_MASK),
    Register::new("DMA_S0NDTR", STREAM_BASE + NDTR, AccessKind::Rw, 0, 0xffff),
    Register::new("DMA_S0PAR", STREAM_BASE + PAR, AccessKind::Rw, 0, u32::MAX),
    Register::new("DMA_S0M0AR", STREAM_BASE + M0AR, AccessKind::Rw, 0, u32::MAX),
    Register::new("DMA_S0M1AR", STREAM_BASE + M1AR, AccessKind::Rw, 0, u32::MAX),
    Register::new("DMA_S0FCR", STREAM_BASE + FCR, AccessKind::Rw, fcr::RESET, 0xbf),
];

const LISR: u32 = 0x00;
const HISR: u32 = 0x04;
const LIFCR: u32 = 0x08;
const HIFCR: u32 = 0x0c;
const STREAMS: usize = 8;
const STREAM_BASE: u32 = 0x10;
const STREAM_BYTES: u32 = 0x18;
const CR: u32 = 0x00;
const NDTR: u32 = 0x04;
const PAR: u32 = 0x08;
const M0AR: u32 = 0x0c;
const M1AR: u32 = 0x10;
const FCR: u32 = 0x14;
const CR_MASK: u32 = 0x0fef_ffff;

/// The board's parameters of the controller.
#[derive(Clone, Copy, Debug, State)]
pub struct Params {
    /// The AHB's clock.
    pub clock: ClockInput,
    /// Clocks from a request to the access, at the peripheral port and at the memory port.
    #[state(skip)]
    pub port_cycles: [Cycles; 2],
    /// True if the controller can move data between memories.
    #[state(skip)]
    pub between_memories: bool,
    /// The ranges that the controller can't reach.
    #[state(skip)]
    pub unreachable: Unreachable,
    /// The interrupts of the streams.
    #[state(skip)]
    pub interrupts: [Option<IrqLine>; STREAMS],
    /// Its clock enable bit in the RCC.
    #[state(skip)]
    pub gate: ClockGate,
}

/// Totals since the start of the run.
#[derive(Clone, Copy, Debug, Default, State)]
struct Totals {
    buffers: u64,
    bytes: u64,
}

/// The controller.
#[derive(Debug, State)]
pub struct Dma {
    params: Params,
    #[state(with = engine::state::fixed)]
    streams: Vec<Stream>,
    ports: [Port; 2],
    requests: Requests,
    levels: [bool; STREAMS],
    totals: Totals,
    /// Incremented by every write, step and request: only these change the state.
    changes: u64,
}

/// For the list of models.
pub const MODEL: Model = Model::device(Group::Dma, &["st,stm32-dma-v1", "st,stm32-dma"], 1, from_node)
    .with_activities(DMA)
    .naming(REGISTERS);

/// Builds the controller from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    reader.known(&["clock-names", "#dma-cells", "dma-channels", "dma-requests", "interrupt-names", "resets"]);
    let meaning = ["AHB clocks from a peripheral's request to the access", "AHB clocks to an access of memory"];
    Box::new(Dma::new(Params {
        clock: reader.clock_input(0, "the AHB's clock"),
        port_cycles: [
            reader.timing_cycles("cyclescope,peripheral-cycles", meaning[0]),
            reader.timing_cycles("cyclescope,memory-cycles", meaning[1]),
        ],
        between_memories: reader.flag("st,mem2mem", "it can move data between memories"),
        unreachable: Unreachable::from_node(reader),
        interrupts: [0, 1, 2, 3, 4, 5, 6, 7]
            .map(|stream| reader.interrupt(stream, &format!("the interrupt of stream {stream}"))),
        gate: ClockGate::from_node(reader),
    }))
}

impl Dma {
    /// The controller after reset.
    pub fn new(params: Params) -> Dma {
        Dma {
            params,
            streams: vec![Stream::default(); STREAMS],
            ports: Default::default(),
            requests: Requests::new(8 * STREAMS),
            levels: [false; STREAMS],
            totals: Totals::default(),
            changes: 0,
        }
    }

    /// DMA_LISR, or DMA_HISR of the streams from 4 on.
    fn status(&self, first: usize) -> u32 {
        (0..4).map(|index| self.streams[first + index].flags << FLAG_SHIFTS[index]).sum()
    }

    fn clear(&mut self, first: usize, value: u32) {
        for (index, shift) in FLAG_SHIFTS.into_iter().enumerate() {
            self.streams[first + index].flags &= !(value >> shift & flags::ALL);
        }
    }

    fn register(&self, offset: u32) -> u32 {
        let Some((index, register)) = stream_at(offset) else {
            return match offset {
                LISR => self.status(0),
                HISR => self.status(4),
                _ => 0,
            };
        };
        let stream = &self.streams[index];
        match register {
            CR => stream.control | flag(cr::EN, stream.closing),
            NDTR => stream.items_left(),
            PAR => stream.peripheral,
            M0AR => stream.memories[0],
            M1AR => stream.memories[1],
            _ => stream.fifo_register(),
        }
    }

    fn set_register(&mut self, offset: u32, value: u32, ctx: &mut Ctx) {
        let Some((index, register)) = stream_at(offset) else {
            match offset {
                LIFCR => self.clear(0, value),
                HIFCR => self.clear(4, value),
                _ => {}
            }
            return;
        };
        let stream = &mut self.streams[index];
        let is_on = stream.is_enabled() || stream.closing;
        let target = usize::from(stream.control & cr::CT != 0);
        match register {
            CR => self.set_control(index, value & CR_MASK, ctx),
            // In double-buffer mode, the address of the buffer that is not in use can be changed.
            M0AR if !is_on || target == 1 => stream.memories[0] = value,
            M1AR if !is_on || target == 0 => stream.memories[1] = value,
            FCR if is_on => {
                stream.fifo_control = stream.fifo_control & !fcr::FEIE | value & fcr::FEIE;
            }
            FCR => stream.fifo_control = value & 0x87,
            _ if is_on => {
                ctx.note(&format!("stream {index}: a register was written while EN is set, which locks it"));
            }
            NDTR => (stream.items, stream.programmed) = (value & 0xffff, value & 0xffff),
            _ => stream.peripheral = value,
        }
    }

    /// Reset by the RCC: registers return to their reset values.
    fn reset_registers(&mut self, ctx: &mut Ctx) {
        self.changes += 1;
        for index in 0..STREAMS {
            self.lose_accesses(index);
        }
        self.streams = vec![Stream::default(); STREAMS];
        self.update(ctx);
    }

    fn set_control(&mut self, index: usize, value: u32, ctx: &mut Ctx) {
        let stream = &mut self.streams[index];
        if stream.closing && value & cr::EN != 0 {
            ctx.note(&format!("stream {index}: EN was set before it read 0 after being cleared: the stream stays off"));
        }
        if stream.is_enabled() || stream.closing {
            stream.control = stream.control & !cr::INTERRUPTS | value & cr::INTERRUPTS;
            if value & cr::EN == 0 && stream.is_enabled() {
                stream.control &= !cr::EN;
                stream.closing = true;
                self.close(index);
            }
            return;
        }
        stream.control = value;
        if value & cr::EN != 0 {
            self.enable(index, ctx);
        }
    }

    /// Turns a disabled stream off when its accesses have ended and all data that were read are in memory.
    fn close(&mut self, index: usize) {
        let stream = &mut self.streams[index];
        let holds = stream.direction() != Direction::ToPeripheral && !stream.fifo.is_empty();
        let is_under_way = self.ports.iter().any(|port| port.is_under_way(index));
        if stream.closing && !holds && !is_under_way {
            stream.flags |= flags::TCIF;
            stream.stop();
        }
    }

    fn enable(&mut self, index: usize, ctx: &mut Ctx) {
        let stream = &mut self.streams[index];
        if stream.control & cr::PFCTRL != 0 {
            ctx.note("the peripheral as flow controller (DMA_SxCR.PFCTRL) is not modelled: DMA_SxNDTR counts");
        }
        stream.reload();
        let refused = stream.direction() == Direction::Memories && !self.params.between_memories;
        if refused {
            ctx.note(&format!("stream {index}: this controller moves no data between memories"));
            stream.flags |= flags::TEIF;
        }
        if stream.burst_is_wrong() {
            ctx.note(&format!("stream {index}: the FIFO's threshold is no whole number of bursts (DMA_SxFCR.FTH)"));
            stream.flags |= flags::FEIF;
        }
        if refused || stream.burst_is_wrong() || stream.items == 0 {
            stream.control &= !cr::EN;
            return;
        }
        stream.begin();
    }

    fn update(&mut self, ctx: &mut Ctx) {
        for index in 0..STREAMS {
            let Stream { control, fifo_control, flags, .. } = self.streams[index];
            let stream = &self.streams[index];
            let address = stream.next[stream.source() as usize];
            let detail = || Detail::Address { address, bytes: stream.left[stream.source() as usize] };
            ctx.level_with((&TRANSFER, index as u32), stream.is_enabled() || stream.closing, detail);
            // The enable bits of DMA_SxCR are one position below their flags.
            let enabled = (control & cr::INTERRUPTS) << 1 | flag(flags::FEIF, fifo_control & fcr::FEIE != 0);
            let level = flags & enabled != 0;
            if std::mem::replace(&mut self.levels[index], level) != level {
                ctx.set_irq(self.params.interrupts[index], level);
            }
        }
    }
}

/// Positions of the flags of four streams in a register.
const FLAG_SHIFTS: [u32; 4] = [0, 6, 16, 22];

/// The stream whose registers are at `offset`, and the register's offset among them.
fn stream_at(offset: u32) -> Option<(usize, u32)> {
    let within = offset.checked_sub(STREAM_BASE)?;
    let index = (within / STREAM_BYTES) as usize;
    (index < STREAMS).then_some((index, within % STREAM_BYTES))
}

impl Device for Dma {
    fn reset(&mut self, ctx: &mut Ctx) {
        self.params.gate.follow(ctx);
    }

    fn read(&mut self, _: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> Result<Reply, SlaveError> {
        self.params.gate.read(offset, size, ctx, |offset, _| self.register(offset))
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
            self.set_register(offset, value, ctx);
            self.arbitrate(ctx);
            self.update(ctx);
        })
    }

    fn event(&mut self, token: u32, ctx: &mut Ctx) {
        self.changes += 1;
        self.step(token, ctx);
        self.update(ctx);
    }

    /// A peripheral's request line.
    fn irq_input(&mut self, input: u32, level: bool, ctx: &mut Ctx) {
        self.changes += 1;
        self.requests.set(input, level, ctx.now);
        self.arbitrate(ctx);
    }

    /// Accesses under way on the bus end at the old clock's rate.
    fn clocks_changed(&mut self, ctx: &mut Ctx) {
        self.params.clock.rate = ctx.bus.clocks.rate_of(self.params.clock);
        if self.params.gate.is_reset(ctx.bus) {
            self.reset_registers(ctx);
        }
    }

    fn is_master(&self) -> bool {
        self.streams.iter().any(|stream| stream.is_enabled() || stream.closing)
    }

    fn counters(&self) -> Vec<(String, u64)> {
        let Totals { buffers, bytes } = self.totals;
        [("buffers", buffers), ("bytes", bytes)].map(|(name, count)| (name.to_owned(), count)).to_vec()
    }
}

impl Polled for Dma {
    fn polled(&mut self, poll: &mut Poll) -> bool {
        poll.state(self.changes);
        true
    }
}

//! `st,stm32-dma-v2`: the DMA controller of STM32L4, G4 and others, seven channels without FIFOs (RM0432, "Direct
//! memory access controller (DMA)").
//!
//! Modelled: all registers; transfers in both directions, between memories, and between peripherals; different data
//! sizes, where data are cut or filled with zeroes; increments; circular mode; priorities; the flags of half and
//! complete transfers and of bus errors; interrupts. Requests come through a DMAMUX (`st,stm32-dmamux`): input n is
//! channel n + 1.
//!
//! One bus master serves one channel at a time: it reads a datum, and then writes it. `cyclescope,request-cycles` pass
//! between a request and the read, `cyclescope,transfer-cycles` after the write (AN2548, "DMA latency"); the accesses
//! take the bus's time, at least one cycle each.
//!
//! A channel that has moved all its data, and is not circular, keeps EN and does nothing until it is enabled again.

use crate::model::{Group, Model};
use crate::support::activities::{DMA, TRANSFER};
use crate::support::registers::{AccessKind, Register};
use crate::support::stm32_clock_gate::ClockGate;
use crate::support::stm32_dma::{Failed, Master, Requests, Unreachable};
use engine::activity::Detail;
use engine::bus::device::{AccessSize, Ctx, Device, IrqLine, Reply, SlaveError};
use engine::dt::reader::NodeReader;
use engine::dt::wiring::ClockInput;
use engine::polling::{Poll, Polled};
use engine::state::{Fresh, State};
use engine::time::{Cycles, Ps};

#[cfg(test)]
mod tests;

/// The controller's own registers and those of channel 1 (RM0432, "DMA register map").
pub const REGISTERS: &[Register] = &[
    Register::new("DMA_ISR", ISR, AccessKind::Ro, 0, 0x0fff_ffff),
    Register::new("DMA_IFCR", IFCR, AccessKind::Wo, 0, 0x0fff_ffff),
    Register::new("DMA_CCR1", CHANNEL_BASE + CCR, AccessKind::Rw, 0, CCR_MASK),
    Register::new("DMA_CNDTR1", CHANNEL_BASE + CNDTR, AccessKind::Rw, 0, 0x0003_ffff),
    Register::new("DMA_CPAR1", CHANNEL_BASE + CPAR, AccessKind::Rw, 0, u32::MAX),
    Register::new("DMA_CMAR1", CHANNEL_BASE + CMAR, AccessKind::Rw, 0, u32::MAX),
];

const ISR: u32 = 0x00;
const IFCR: u32 = 0x04;
const CHANNELS: usize = 7;
const CHANNEL_BASE: u32 = 0x08;
const CHANNEL_BYTES: u32 = 0x14;
const CCR: u32 = 0x00;
const CNDTR: u32 = 0x04;
const CPAR: u32 = 0x08;
const CMAR: u32 = 0x0c;
const CCR_MASK: u32 = 0x7fff;

const EN: u32 = 1 << 0;
/// TCIE, HTIE and TEIE, at the positions of the flags.
const INTERRUPTS: u32 = 0xe;
/// DIR: from memory.
const FROM_MEMORY: u32 = 1 << 4;
const CIRC: u32 = 1 << 5;
const PINC: u32 = 1 << 6;
const MINC: u32 = 1 << 7;
const PSIZE: u32 = 8;
const MSIZE: u32 = 10;
const PL: u32 = 12;
const MEM2MEM: u32 = 1 << 14;

const TCIF: u32 = 1 << 1;
const HTIF: u32 = 1 << 2;
const TEIF: u32 = 1 << 3;

/// The board's parameters of the controller.
#[derive(Clone, Copy, Debug, State)]
pub struct Params {
    /// The AHB's clock.
    pub clock: ClockInput,
    /// Clocks from a request to the read.
    #[state(skip)]
    pub request_cycles: Cycles,
    /// Clocks from the end of the write until the next request is considered.
    #[state(skip)]
    pub transfer_cycles: Cycles,
    /// The ranges that the controller can't reach.
    #[state(skip)]
    pub unreachable: Unreachable,
    /// The interrupts of the channels.
    #[state(skip)]
    pub interrupts: [Option<IrqLine>; CHANNELS],
    /// Its clock enable bit in the RCC.
    #[state(skip)]
    pub gate: ClockGate,
}

#[derive(Clone, Copy, Debug, Default, State)]
struct Channel {
    control: u32,
    /// DMA_CNDTRx: its value, and its value at the enable.
    left: u32,
    count: u32,
    peripheral: u32,
    memory: u32,
    /// Number of data moved since the enable.
    moved: u32,
    flags: u32,
}

impl Channel {
    /// Bytes of a datum at the address of a side.
    const fn size(&self, shift: u32) -> u32 {
        let size = self.control >> shift & 3;
        if size > 2 { 4 } else { 1 << size }
    }

    /// The next datum's source and destination: address and size in bytes.
    fn sides(&self) -> [(u32, u32); 2] {
        let side = |base: u32, shift: u32, increments: u32| {
            let size = self.size(shift);
            let step = if self.control & increments != 0 { size } else { 0 };
            (base.wrapping_add(self.moved * step), size)
        };
        let peripheral = side(self.peripheral, PSIZE, PINC);
        let memory = side(self.memory, MSIZE, MINC);
        if self.control & FROM_MEMORY != 0 { [memory, peripheral] } else { [peripheral, memory] }
    }

    const fn is_ready(&self, asked: bool) -> bool {
        self.control & EN != 0 && self.left > 0 && (asked || self.control & MEM2MEM != 0)
    }
}

/// The step of the controller on the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
enum Step {
    Read,
    Write(u32),
    Done,
}

/// The controller.
#[derive(Debug, State)]
pub struct Dma {
    params: Params,
    channels: [Channel; CHANNELS],
    requests: Requests,
    /// The channel that is served, and its next step.
    serves: Option<(usize, Step)>,
    levels: [bool; CHANNELS],
    transfers: u64,
    changes: u64,
}

/// For the list of models.
pub const MODEL: Model =
    Model::device(Group::Dma, &["st,stm32-dma-v2"], 1, from_node).with_activities(DMA).naming(REGISTERS);

/// Builds the controller from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    reader.known(&["clock-names", "#dma-cells", "dma-channels", "dma-requests", "interrupt-names", "resets"]);
    reader.flag("st,mem2mem", "the controller can move data between memories, which is always the case");
    reader.u32_or("dma-offset", 0, 0..=255, "the DMAMUX channel of the controller's first channel");
    let meaning = ["AHB clocks from a request to the read", "AHB clocks from the write to the next request"];
    Box::new(Dma::new(Params {
        clock: reader.clock_input(0, "the AHB's clock"),
        request_cycles: reader.timing_cycles("cyclescope,request-cycles", meaning[0]),
        transfer_cycles: reader.timing_cycles("cyclescope,transfer-cycles", meaning[1]),
        unreachable: Unreachable::from_node(reader),
        interrupts: [0, 1, 2, 3, 4, 5, 6]
            .map(|channel| reader.interrupt(channel, &format!("the interrupt of channel {}", channel + 1))),
        gate: ClockGate::from_node(reader),
    }))
}

impl Dma {
    /// The controller after reset.
    pub fn new(params: Params) -> Dma {
        Dma {
            params,
            channels: [Channel::default(); CHANNELS],
            requests: Requests::new(CHANNELS),
            serves: None,
            levels: [false; CHANNELS],
            transfers: 0,
            changes: 0,
        }
    }

    /// Reset by the RCC: registers return to their reset values.
    fn reset_registers(&mut self, ctx: &mut Ctx) {
        self.changes += 1;
        self.channels = Default::default();
        // Data that were read are discarded.
        if let Some((_, step @ Step::Write(_))) = &mut self.serves {
            *step = Step::Done;
        }
        self.update(ctx);
    }

    fn register(&self, offset: u32) -> u32 {
        let Some((index, register)) = channel_at(offset) else {
            let flags =
                |(index, channel): (usize, &Channel)| (channel.flags | u32::from(channel.flags != 0)) << (4 * index);
            return if offset == ISR { self.channels.iter().enumerate().map(flags).sum() } else { 0 };
        };
        let channel = &self.channels[index];
        match register {
            CCR => channel.control,
            CNDTR => channel.left,
            CPAR => channel.peripheral,
            CMAR => channel.memory,
            _ => 0,
        }
    }

    fn set_register(&mut self, offset: u32, value: u32, ctx: &mut Ctx) {
        let Some((index, register)) = channel_at(offset) else {
            if offset == IFCR {
                for (index, channel) in self.channels.iter_mut().enumerate() {
                    let cleared = value >> (4 * index) & 0xf;
                    // CGIF clears all.
                    channel.flags &= if cleared & 1 != 0 { 0 } else { !cleared };
                }
            }
            return;
        };
        let channel = &mut self.channels[index];
        match register {
            CCR => {
                if channel.control & EN == 0 && value & EN != 0 {
                    (channel.moved, channel.count) = (0, channel.left);
                }
                // Data that were read are discarded, and do not become part of the channel's next transfer.
                if value & EN == 0
                    && let Some((served, step @ Step::Write(_))) = &mut self.serves
                    && *served == index
                {
                    *step = Step::Done;
                }
                channel.control = value & CCR_MASK;
            }
            _ if channel.control & EN != 0 => {
                ctx.note(&format!("channel {}: a register was written while EN is set: it keeps its value", index + 1));
            }
            CNDTR => channel.left = value & 0x3_ffff,
            CPAR => channel.peripheral = value,
            CMAR => channel.memory = value,
            _ => {}
        }
    }

    /// Serves the requesting channel of the highest priority, if nothing is under way.
    fn arbitrate(&mut self, ctx: &mut Ctx) {
        if self.serves.is_some() {
            return;
        }
        let channels = self.channels.iter().enumerate();
        let ready = channels.filter(|(index, channel)| channel.is_ready(self.requests.is_asked(*index)));
        let next = ready.min_by_key(|(index, channel)| (3 - (channel.control >> PL & 3), *index));
        if let Some((index, _)) = next {
            self.serves = Some((index, Step::Read));
            ctx.schedule(self.params.clock.rate.after(ctx.now, self.params.request_cycles), 0);
        }
    }

    fn step(&mut self, ctx: &mut Ctx) {
        let Some((index, step)) = self.serves.take() else { return };
        let channel = self.channels[index];
        let next = match step {
            Step::Read if channel.is_ready(self.requests.is_asked(index)) => {
                self.read(channel, ctx).map(|(value, done)| Some((Step::Write(value), done)))
            }
            Step::Write(value) => self.write(index, value, ctx).map(|done| Some((Step::Done, done))),
            _ => Ok(None),
        };
        match next {
            Ok(Some((step, due))) => {
                self.serves = Some((index, step));
                ctx.schedule(due, 0);
            }
            Ok(None) => {}
            Err(Failed(address)) => {
                ctx.note(&format!("channel {}: a bus error at {address:#010x} ended the transfer", index + 1));
                self.channels[index].flags |= TEIF;
                self.channels[index].control &= !EN;
            }
        }
    }

    fn master(&self) -> Master {
        Master { clock: self.params.clock.rate, unreachable: self.params.unreachable }
    }

    /// The datum of the source, and when it arrived. The access serves a peripheral's request.
    fn read(&mut self, channel: Channel, ctx: &mut Ctx) -> Result<(u32, Ps), Failed> {
        let [(address, size), _] = channel.sides();
        let mut word = [0; 4];
        let done = self.master().read(address, size, 0, &mut word[..size as usize], ctx)?;
        Ok((u32::from_le_bytes(word), done))
    }

    fn write(&mut self, index: usize, value: u32, ctx: &mut Ctx) -> Result<Ps, Failed> {
        let [_, (address, size)] = self.channels[index].sides();
        let done = self.master().write(address, size, 0, &value.to_le_bytes()[..size as usize], ctx)?;
        self.requests.serve(index);
        self.transfers += 1;
        let channel = &mut self.channels[index];
        channel.left -= 1;
        channel.moved += 1;
        if channel.moved == channel.count.div_ceil(2) {
            channel.flags |= HTIF;
        }
        if channel.left == 0 {
            channel.flags |= TCIF;
            if channel.control & (CIRC | MEM2MEM) == CIRC {
                (channel.left, channel.moved) = (channel.count, 0);
            }
        }
        Ok(self.params.clock.rate.after(done, self.params.transfer_cycles))
    }

    fn update(&mut self, ctx: &mut Ctx) {
        for (index, channel) in self.channels.iter().enumerate() {
            let [(address, size), _] = channel.sides();
            let detail = || Detail::Address { address, bytes: channel.left * size };
            ctx.level_with((&TRANSFER, index as u32), channel.control & EN != 0 && channel.left > 0, detail);
            let level = channel.flags & channel.control & INTERRUPTS != 0;
            if std::mem::replace(&mut self.levels[index], level) != level {
                ctx.set_irq(self.params.interrupts[index], level);
            }
        }
    }
}

/// The channel whose registers are at `offset`, and the register's offset among them.
fn channel_at(offset: u32) -> Option<(usize, u32)> {
    let within = offset.checked_sub(CHANNEL_BASE)?;
    let index = (within / CHANNEL_BYTES) as usize;
    (index < CHANNELS).then_some((index, within % CHANNEL_BYTES))
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

    fn event(&mut self, _: u32, ctx: &mut Ctx) {
        self.changes += 1;
        self.step(ctx);
        self.arbitrate(ctx);
        self.update(ctx);
    }

    /// A request line.
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
        self.channels.iter().any(|channel| channel.control & EN != 0 && channel.left > 0)
    }

    fn counters(&self) -> Vec<(String, u64)> {
        vec![("transfers".to_owned(), self.transfers)]
    }
}

impl Polled for Dma {
    fn polled(&mut self, poll: &mut Poll) -> bool {
        poll.state(self.changes);
        true
    }
}

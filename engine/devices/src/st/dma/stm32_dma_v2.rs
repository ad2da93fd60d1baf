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

use super::{Wiring, timing};
use crate::prelude::*;
use crate::support::activities::DMA;
use crate::support::bus_master::Failed;

#[cfg(test)]
mod tests;

registers! {
    /// The controller's own registers.
    const OWN "DMA_" {
        ISR 0x00 ro volatile mask 0x0fff_ffff;
        IFCR 0x04 wo mask 0x0fff_ffff;
    }

    /// The registers of channel 1.
    const CHANNEL "DMA_" {
        CCR "CCR1" 0x08 rw {
            EN 0, TCIE 1, HTIE 2, TEIE 3, DIR 4, CIRC 5, PINC 6, MINC 7, PSIZE 8..10, MSIZE 10..12, PL 12..14,
            MEM2MEM 14,
        };
        CNDTR "CNDTR1" 0x0c rw mask 0x0003_ffff;
        CPAR "CPAR1" 0x10 rw;
        CMAR "CMAR1" 0x14 rw;
    }
}

/// The controller's own registers and those of channel 1 (RM0432, "DMA register map").
pub const MAP: Map = joined!(OWN, CHANNEL);

const CHANNELS: usize = 7;
const PLACES: Banks = Banks { first: CCR, bytes: 0x14, count: CHANNELS, begin: CCR };
/// The flags of a channel are at the positions of their enables; the first one is set while any of them is.
const TCIF: u32 = CCR_TCIE;
const HTIF: u32 = CCR_HTIE;
const TEIF: u32 = CCR_TEIE;
const INTERRUPTS: u32 = TCIF | HTIF | TEIF;

#[derive(Clone, Debug, Default, State, Polled)]
struct Channel {
    /// DMA_CNDTRx counts down.
    registers: Registers,
    /// DMA_CNDTRx at the enable.
    count: u32,
    /// Number of data moved since the enable.
    moved: u32,
    flags: u32,
}

impl Channel {
    fn new() -> Channel {
        Channel { registers: Registers::new(&CHANNEL), ..Channel::default() }
    }

    /// The next datum's source and destination: address and size in bytes.
    fn sides(&self) -> [(u32, u32); 2] {
        let side = |base: u32, size: u32, increments: u32| {
            let size = 1 << self.registers.field(CCR, size).min(2);
            let step = if self.registers.has(CCR, increments) { size } else { 0 };
            (self.registers[base].wrapping_add(self.moved * step), size)
        };
        let peripheral = side(CPAR, CCR_PSIZE, CCR_PINC);
        let memory = side(CMAR, CCR_MSIZE, CCR_MINC);
        if self.registers.has(CCR, CCR_DIR) { [memory, peripheral] } else { [peripheral, memory] }
    }

    /// True while the channel is on, and has data to move.
    fn is_active(&self) -> bool {
        self.registers.has(CCR, CCR_EN) && self.registers[CNDTR] > 0
    }

    fn is_ready(&self, asked: bool) -> bool {
        self.is_active() && (asked || self.registers.has(CCR, CCR_MEM2MEM))
    }

    /// Starts the transfer of the programmed number of data.
    fn begin(&mut self) {
        (self.moved, self.count) = (0, self.registers[CNDTR]);
    }

    /// Counts a datum that was moved.
    fn count(&mut self) {
        let left = self.registers[CNDTR] - 1;
        self.registers.set(CNDTR, left);
        self.moved += 1;
        if self.moved == self.count.div_ceil(2) {
            self.flags |= HTIF;
        }
        if left == 0 {
            self.flags |= TCIF;
            if self.registers[CCR] & (CCR_CIRC | CCR_MEM2MEM) == CCR_CIRC {
                self.registers.set(CNDTR, self.count);
                self.moved = 0;
            }
        }
    }
}

/// The step of the controller on the bus.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh, Polled)]
enum Step {
    Read,
    Write(u32),
    Done,
}

/// The controller.
#[derive(Debug, State, Polled, RegisterBank)]
#[port(Port::gated(self.wiring.gate))]
#[banks(channels, PLACES)]
pub struct Dma {
    registers: Registers,
    #[state(with = engine::state::fixed)]
    channels: Vec<Channel>,
    wiring: Wiring<CHANNELS>,
    /// The channel that is served, and its next step.
    serves: Option<(usize, Step)>,
    transfers: u64,
}

/// For the list of models.
pub const MODEL: Model =
    Model::device(Group::Dma, &["st,stm32-dma-v2"], 1, from_node).with_activities(DMA).naming(MAP.rows);

/// Builds the controller from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    reader.flag("st,mem2mem", "the controller can move data between memories, which is always the case");
    reader.u32_or("dma-offset", 0, 0..=255, "the DMAMUX channel of the controller's first channel");
    let cycles = [
        ("cyclescope,request-cycles", "AHB clocks from a request to the read"),
        ("cyclescope,transfer-cycles", "AHB clocks from the write to the next request"),
    ];
    let timing = timing(reader, cycles);
    Box::new(Dma::new(Wiring::from_node(reader, timing, CHANNELS, "channel", 1)))
}

impl Dma {
    /// The controller after reset.
    pub fn new(wiring: Wiring<CHANNELS>) -> Dma {
        let (registers, channels) = (Registers::new(&OWN), vec![Channel::new(); CHANNELS]);
        Dma { registers, channels, wiring, serves: None, transfers: 0 }
    }

    /// Reset by the RCC: registers return to their reset values.
    fn reset_registers(&mut self, ctx: &mut Ctx) {
        self.channels = vec![Channel::new(); CHANNELS];
        self.discard(None);
        self.show(ctx);
    }

    /// Discards data that were read, of a channel or of any.
    fn discard(&mut self, channel: Option<usize>) {
        if let Some((served, step @ Step::Write(_))) = &mut self.serves
            && channel.is_none_or(|channel| channel == *served)
        {
            *step = Step::Done;
        }
    }

    /// A write of DMA_IFCR.
    fn clear(&mut self, value: u32) {
        for (index, channel) in self.channels.iter_mut().enumerate() {
            let cleared = value >> (4 * index) & 0xf;
            // CGIF clears all.
            channel.flags &= if cleared & 1 != 0 { 0 } else { !cleared };
        }
    }

    /// Serves the requesting channel of the highest priority, if nothing is under way.
    fn arbitrate(&mut self, ctx: &mut Ctx) {
        if self.serves.is_some() {
            return;
        }
        let channels = self.channels.iter().enumerate();
        let ready = channels.filter(|(index, channel)| channel.is_ready(self.wiring.requests.is_asked(*index)));
        let next = ready.min_by_key(|(index, channel)| (3 - channel.registers.field(CCR, CCR_PL), *index));
        if let Some((index, _)) = next {
            self.serves = Some((index, Step::Read));
            ctx.schedule(self.wiring.after(ctx.now, 0), 0);
        }
    }

    fn step(&mut self, ctx: &mut Ctx) {
        let Some((index, step)) = self.serves.take() else { return };
        let channel = &self.channels[index];
        let next = match step {
            Step::Read if channel.is_ready(self.wiring.requests.is_asked(index)) => {
                self.read(index, ctx).map(|(value, done)| Some((Step::Write(value), done)))
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
                self.channels[index].registers.put(CCR, CCR_EN, false);
            }
        }
    }

    /// The datum of the source, and when it arrived. The access serves a peripheral's request.
    fn read(&mut self, index: usize, ctx: &mut Ctx) -> Result<(u32, Ps), Failed> {
        let [(address, size), _] = self.channels[index].sides();
        let mut word = [0; 4];
        let done = self.wiring.master().read(address, size, 0, &mut word[..size as usize], ctx)?;
        Ok((u32::from_le_bytes(word), done))
    }

    fn write(&mut self, index: usize, value: u32, ctx: &mut Ctx) -> Result<Ps, Failed> {
        let [_, (address, size)] = self.channels[index].sides();
        let done = self.wiring.master().write(address, size, 0, &value.to_le_bytes()[..size as usize], ctx)?;
        self.wiring.requests.serve(index);
        self.transfers += 1;
        self.channels[index].count();
        Ok(self.wiring.after(done, 1))
    }

    fn show(&mut self, ctx: &mut Ctx) {
        for (index, channel) in self.channels.iter().enumerate() {
            let [(address, size), _] = channel.sides();
            let detail = || Detail::Address { address, bytes: channel.registers[CNDTR] * size };
            let level = channel.flags & channel.registers[CCR] & INTERRUPTS != 0;
            self.wiring.show(index, channel.is_active(), detail, level, ctx);
        }
    }
}

impl Table for Dma {
    fn shown(&mut self, register: u32, held: u32, _: &mut Ctx) -> u32 {
        let flags =
            |(index, channel): (usize, &Channel)| (channel.flags | u32::from(channel.flags != 0)) << (4 * index);
        if register == ISR { self.channels.iter().enumerate().map(flags).sum() } else { held }
    }

    fn wrote(&mut self, register: u32, old: u32, new: u32, ctx: &mut Ctx) {
        if register == IFCR {
            self.clear(new);
        }
        let Some((index, register)) = PLACES.at(register) else { return };
        let channel = &mut self.channels[index];
        if register != CCR && channel.registers.has(CCR, CCR_EN) {
            ctx.note(&format!("channel {}: a register was written while EN is set: it keeps its value", index + 1));
            channel.registers.set(register, old);
        } else if register == CCR && new & CCR_EN == 0 {
            // Data that were read do not become part of the channel's next transfer.
            self.discard(Some(index));
        } else if register == CCR && old & CCR_EN == 0 {
            channel.begin();
        }
    }

    fn update(&mut self, ctx: &mut Ctx) {
        self.arbitrate(ctx);
        self.show(ctx);
    }
}

impl Device for Dma {
    by_table!();

    fn reset(&mut self, ctx: &mut Ctx) {
        self.wiring.gate.follow(ctx);
    }

    fn event(&mut self, _: u32, ctx: &mut Ctx) {
        self.step(ctx);
        self.update(ctx);
    }

    /// A request line.
    fn irq_input(&mut self, input: u32, level: bool, ctx: &mut Ctx) {
        self.wiring.requests.set(input, level, ctx.now);
        self.arbitrate(ctx);
    }

    fn clocks_changed(&mut self, ctx: &mut Ctx) {
        if self.wiring.follow(ctx) {
            self.reset_registers(ctx);
        }
    }

    fn is_master(&self) -> bool {
        self.channels.iter().any(Channel::is_active)
    }

    fn counters(&self) -> Vec<(String, u64)> {
        totals([("transfers", self.transfers)])
    }
}

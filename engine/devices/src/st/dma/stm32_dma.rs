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

use self::stream::{Side, Stream, flags};
use super::{Wiring, timing};
use crate::prelude::*;
use crate::support::activities::DMA;

registers! {
    /// The controller's own registers.
    const OWN "DMA_" {
        LISR 0x00 ro volatile mask FLAGS;
        HISR 0x04 ro volatile mask FLAGS;
        LIFCR 0x08 wo mask FLAGS;
        HIFCR 0x0c wo mask FLAGS;
    }

    /// The registers of stream 0.
    const STREAM "DMA_S0" {
        CR 0x10 rw mask 0x0fef_ffff {
            EN 0, DMEIE 1, TEIE 2, HTIE 3, TCIE 4, PFCTRL 5, DIR 6..8, CIRC 8, PINC 9, MINC 10, PSIZE 11..13,
            MSIZE 13..15, PINCOS 15, PL 16..18, DBM 18, CT 19, PBURST 21..23, MBURST 23..25, CHSEL 25..28,
        };
        NDTR 0x14 rw mask 0xffff;
        PAR 0x18 rw;
        M0AR 0x1c rw;
        M1AR 0x20 rw;
        FCR 0x24 rw reset 0x21 { FTH 0..2, DMDIS 2, FS 3..6 ro, FEIE 7 };
    }
}

/// The controller's own registers and those of stream 0 (RM0090, "DMA register map").
pub const MAP: Map = joined!(OWN, STREAM);

const FLAGS: u32 = 0x0f7d_0f7d;
/// Positions of the flags of four streams in a register.
const FLAG_SHIFTS: [u32; 4] = [0, 6, 16, 22];
const STREAMS: usize = 8;
/// Request lines: a stream can have the requests of eight channels.
const LINES: usize = 8 * STREAMS;
const PLACES: Banks = Banks { first: CR, bytes: 0x18, count: STREAMS, begin: CR };
const CR_INTERRUPTS: u32 = CR_DMEIE | CR_TEIE | CR_HTIE | CR_TCIE;

/// The controller.
#[derive(Debug, State, Polled, RegisterBank)]
#[port(Port::gated(self.wiring.gate))]
#[banks(streams, PLACES)]
pub struct Dma {
    /// True if the controller can move data between memories.
    #[state(skip)]
    between_memories: bool,
    registers: Registers,
    #[state(with = engine::state::fixed)]
    streams: Vec<Stream>,
    ports: [transfer::Port; 2],
    wiring: Wiring<STREAMS>,
    buffers: u64,
    bytes: u64,
}

/// For the list of models.
pub const MODEL: Model =
    Model::device(Group::Dma, &["st,stm32-dma-v1", "st,stm32-dma"], 1, from_node).with_activities(DMA).naming(MAP.rows);

/// Builds the controller from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    let cycles = [
        ("cyclescope,peripheral-cycles", "AHB clocks from a peripheral's request to the access"),
        ("cyclescope,memory-cycles", "AHB clocks to an access of memory"),
    ];
    let timing = timing(reader, cycles);
    let between_memories = reader.flag("st,mem2mem", "it can move data between memories");
    Box::new(Dma::new(between_memories, Wiring::from_node(reader, timing, LINES, "stream", 0)))
}

impl Dma {
    /// The controller after reset.
    pub fn new(between_memories: bool, wiring: Wiring<STREAMS>) -> Dma {
        let (registers, streams) = (Registers::new(&OWN), vec![Stream::new(); STREAMS]);
        Dma { between_memories, registers, streams, ports: Default::default(), wiring, buffers: 0, bytes: 0 }
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

    /// Reset by the RCC: registers return to their reset values.
    fn reset_registers(&mut self, ctx: &mut Ctx) {
        (0..STREAMS).for_each(|index| self.lose_accesses(index));
        self.streams = vec![Stream::new(); STREAMS];
        self.show(ctx);
    }

    /// A write of DMA_SxCR, which held `old`.
    fn set_control(&mut self, index: usize, old: u32, value: u32, ctx: &mut Ctx) {
        let stream = &mut self.streams[index];
        stream.registers.set(CR, old);
        if stream.closing && value & CR_EN != 0 {
            ctx.note(&format!("stream {index}: EN was set before it read 0 after being cleared: the stream stays off"));
        }
        if stream.is_on() {
            stream.registers.set(CR, old & !CR_INTERRUPTS | value & CR_INTERRUPTS);
            if value & CR_EN == 0 && stream.is_enabled() {
                stream.registers.put(CR, CR_EN, false);
                stream.closing = true;
                self.close(index);
            }
            return;
        }
        stream.registers.set(CR, value);
        if value & CR_EN != 0 {
            self.enable(index, ctx);
        }
    }

    /// Turns a disabled stream off when its accesses have ended and all data that were read are in memory.
    fn close(&mut self, index: usize) {
        let stream = &mut self.streams[index];
        let holds = stream.source() == Side::Peripheral && !stream.fifo.is_empty();
        let is_under_way = self.ports.iter().any(|port| port.is_under_way(index));
        if stream.closing && !holds && !is_under_way {
            stream.flags |= flags::TCIF;
            stream.stop();
        }
    }

    fn show(&mut self, ctx: &mut Ctx) {
        for (index, stream) in self.streams.iter().enumerate() {
            let source = stream.source() as usize;
            let detail = || Detail::Address { address: stream.next[source], bytes: stream.left[source] };
            // The enable bits of DMA_SxCR are one position below their flags.
            let enabled =
                (stream.registers[CR] & CR_INTERRUPTS) << 1 | flag(flags::FEIF, stream.registers.has(FCR, FCR_FEIE));
            self.wiring.show(index, stream.is_on(), detail, stream.flags & enabled != 0, ctx);
        }
    }

    fn enable(&mut self, index: usize, ctx: &mut Ctx) {
        let stream = &mut self.streams[index];
        if stream.registers.has(CR, CR_PFCTRL) {
            ctx.note("the peripheral as flow controller (DMA_SxCR.PFCTRL) is not modelled: DMA_SxNDTR counts");
        }
        stream.reload();
        let refused = stream.is_between_memories() && !self.between_memories;
        if refused {
            ctx.note(&format!("stream {index}: this controller moves no data between memories"));
            stream.flags |= flags::TEIF;
        }
        if stream.burst_is_wrong() {
            ctx.note(&format!("stream {index}: the FIFO's threshold is no whole number of bursts (DMA_SxFCR.FTH)"));
            stream.flags |= flags::FEIF;
        }
        if refused || stream.burst_is_wrong() || stream.items == 0 {
            stream.registers.put(CR, CR_EN, false);
            return;
        }
        stream.begin();
    }
}

impl Table for Dma {
    fn shown(&mut self, register: u32, held: u32, _: &mut Ctx) -> u32 {
        match (register, PLACES.at(register)) {
            (_, Some((index, register))) => self.streams[index].shown(register, held),
            (LISR, _) => self.status(0),
            (HISR, _) => self.status(4),
            _ => held,
        }
    }

    fn wrote(&mut self, register: u32, old: u32, new: u32, ctx: &mut Ctx) {
        match (register, PLACES.at(register)) {
            (LIFCR, _) => self.clear(0, new),
            (HIFCR, _) => self.clear(4, new),
            (_, Some((index, CR))) => self.set_control(index, old, new, ctx),
            (_, Some((index, register))) if !self.streams[index].takes(register, old, new) => {
                ctx.note(&format!("stream {index}: a register was written while EN is set, which locks it"));
            }
            _ => {}
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

    fn event(&mut self, token: u32, ctx: &mut Ctx) {
        self.step(token, ctx);
        self.show(ctx);
    }

    /// A peripheral's request line.
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
        self.streams.iter().any(Stream::is_on)
    }

    fn counters(&self) -> Vec<(String, u64)> {
        totals([("buffers", self.buffers), ("bytes", self.bytes)])
    }
}

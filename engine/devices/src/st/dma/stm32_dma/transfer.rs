//! The transfer of data: the controller has two ports, and each serves one stream at a time.
//!
//! A free port takes the stream of the highest priority that has an access to make. After the clocks for arbitration
//! and the address, the access goes to the bus; the port is free again when the access has ended.

use super::stream::{Side, Stream, flags};
use super::{CR, CR_CHSEL, CR_CIRC, CR_CT, CR_DBM, CR_PL, Dma};
use crate::prelude::*;
use crate::support::bus_master::Failed;

/// A port.
#[derive(Clone, Debug, Default, State, Polled)]
pub struct Port {
    /// The stream that the port serves.
    stream: Option<usize>,
    /// True while its access is on the bus.
    under_way: bool,
    /// True if the access belongs to a stream that an error has ended since.
    is_lost: bool,
    /// The data read for the stream, or as many bytes as it writes.
    data: Vec<u8>,
}

impl Port {
    /// True while an access for the stream is on the bus.
    pub fn is_under_way(&self, stream: usize) -> bool {
        self.under_way && !self.is_lost && self.stream == Some(stream)
    }
}

/// The meaning of an event: the start of a port's access, or its end.
const ACCESS: u32 = 0;
const DONE: u32 = 2;

const SIDES: [Side; 2] = [Side::Peripheral, Side::Memory];

impl Dma {
    /// Handles the event with this token.
    pub(super) fn step(&mut self, token: u32, ctx: &mut Ctx) {
        let side = SIDES[(token & 1) as usize];
        if token & DONE == ACCESS {
            self.access(side, ctx)
        } else {
            self.finish_access(side)
        }
        self.arbitrate(ctx);
    }

    /// Assigns free ports to streams that have accesses to make.
    pub(super) fn arbitrate(&mut self, ctx: &mut Ctx) {
        for side in SIDES {
            if self.ports[side as usize].stream.is_some() {
                continue;
            }
            let wants = |(index, stream): &(usize, &Stream)| stream.wants(side, self.is_asked(*index)).is_some();
            let streams = self.streams.iter().enumerate().filter(wants);
            // Among equal priorities, the lowest number is first.
            let Some((index, _)) = streams.min_by_key(|(index, stream)| (3 - stream.field(CR_PL), *index)) else {
                continue;
            };
            self.ports[side as usize].stream = Some(index);
            ctx.schedule(self.wiring.after(ctx.now, side as usize), ACCESS | side as u32);
        }
    }

    /// The request line of a stream: that of its channel.
    fn line(&self, index: usize) -> usize {
        8 * index + self.streams[index].field(CR_CHSEL) as usize
    }

    fn is_asked(&self, index: usize) -> bool {
        self.wiring.requests.is_asked(self.line(index))
    }

    fn access(&mut self, side: Side, ctx: &mut Ctx) {
        let Some(index) = self.ports[side as usize].stream else { return };
        // Meanwhile the stream may have been disabled, or the request withdrawn.
        let Some(bytes) = self.streams[index].wants(side, self.is_asked(index)) else {
            self.ports[side as usize].stream = None;
            return;
        };
        let master = self.wiring.master();
        let stream = &mut self.streams[index];
        let (address, size, step) = (stream.next[side as usize], stream.size(side), stream.step(side));
        let reads = stream.source() == side;
        let data = &mut self.ports[side as usize].data;
        data.clear();
        let result = if reads {
            data.resize(bytes as usize, 0);
            master.read(address, size, step, data, ctx)
        } else {
            data.extend(stream.fifo.drain(..bytes as usize));
            stream.check_fifo();
            master.write(address, size, step, data, ctx)
        };
        if side == Side::Peripheral {
            self.wiring.requests.serve(self.line(index));
        }
        match result {
            Ok(done) => {
                self.ports[side as usize].under_way = true;
                ctx.schedule(done, DONE | side as u32);
            }
            Err(Failed(address)) => {
                ctx.note(&format!("stream {index}: a bus error at {address:#010x} ended the transfer"));
                self.ports[side as usize].stream = None;
                self.lose_accesses(index);
                self.streams[index].flags |= flags::TEIF;
                self.streams[index].stop();
            }
        }
    }

    /// Marks the accesses of a stream on the bus as lost.
    pub(super) fn lose_accesses(&mut self, index: usize) {
        self.ports.iter_mut().for_each(|port| port.is_lost |= port.is_under_way(index));
    }

    fn finish_access(&mut self, side: Side) {
        let port = &mut self.ports[side as usize];
        let Some(index) = port.stream.take() else { return };
        port.under_way = false;
        if std::mem::take(&mut port.is_lost) {
            return;
        }
        let (stream, bytes) = (&mut self.streams[index], port.data.len() as u32);
        stream.moved(side, bytes);
        if stream.source() == side {
            stream.fifo.extend(&port.data);
            stream.check_fifo();
        } else {
            self.bytes += u64::from(bytes);
            self.count_moved(index, side, bytes);
        }
        self.close(index);
    }

    /// Counts bytes that have reached their destination, up to the half of a buffer or its end.
    fn count_moved(&mut self, index: usize, side: Side, bytes: u32) {
        let stream = &mut self.streams[index];
        let (left, whole) = (stream.left[side as usize], stream.items * stream.size(Side::Peripheral));
        if left <= whole / 2 && left + bytes > whole / 2 {
            stream.flags |= flags::HTIF;
        }
        if left > 0 {
            return;
        }
        stream.flags |= flags::TCIF;
        self.buffers += 1;
        let has_two = stream.registers.has(CR, CR_DBM);
        if has_two {
            stream.registers.put(CR, CR_CT, !stream.registers.has(CR, CR_CT));
        }
        if (has_two || stream.registers.has(CR, CR_CIRC)) && !stream.is_between_memories() {
            stream.begin();
        } else {
            stream.items = 0;
            stream.left = [0; 2];
            stream.stop();
        }
    }
}

//! The movement of data: alternate reads and writes, each at its own time.
//!
//! Between memories whose addresses are incremented on both sides, a step is a burst of MBSIZE data; a device that
//! takes bursts as a memory does, such as the QSPI's window, counts as a memory. All other transfers move datum by
//! datum, so that a device gets each access in order with those of the other masters. A synchronised channel waits for
//! its peripheral's request before each chunk. The next step begins with the write's response: the chip's FIFO, which
//! lets reads run ahead of writes, is not modelled.

use super::registers::*;
use super::{Channel, Xdmac};
use crate::prelude::*;
use crate::support::bus_master::{Failed, Stage, bursts_as_memory, is_memory, read_data, read_words, write_data};

impl Xdmac {
    /// The event of channel `index`: its next step.
    pub(super) fn step(&mut self, index: usize, ctx: &mut Ctx) {
        let stage = self.channels[index].stage;
        let result = match stage {
            Stage::Idle => return,
            Stage::Fetch => self.fetch(index, ctx).map_err(|failed| (failed, CIS_RBEIS)),
            Stage::Read if !self.may_read(index) => return,
            Stage::Read => self.read_data(index, ctx).map_err(|failed| (failed, CIS_RBEIS)),
            Stage::Write => self.write_data(index, ctx).map_err(|failed| (failed, CIS_WBEIS)),
        };
        match result {
            Ok(done) => self.arm(index, done, ctx),
            Err((_, error)) => {
                ctx.note(&format!("channel {index}: a bus error ended the transfer"));
                self.channels[index].raise(error);
                self.switch_off(index);
            }
        }
    }

    /// True if a chunk's data may be read: the chunk was requested, or the channel needs no request.
    pub(super) fn may_read(&mut self, index: usize) -> bool {
        let requests = self.requests;
        let channel = &mut self.channels[index];
        if self.suspended & 1 << index != 0 {
            return false;
        }
        if !channel.is(CC_TYPE) || channel.chunk_left > 0 {
            return true;
        }
        let asked = if channel.is(CC_SWREQ) {
            std::mem::take(&mut channel.asked)
        } else {
            requests >> channel.field(CC_PERID) & 1 != 0
        };
        if asked {
            channel.chunk_left = channel.chunk();
        }
        asked
    }

    fn fetch(&mut self, index: usize, ctx: &mut Ctx) -> Result<Ps, Failed> {
        let channel = &mut self.channels[index];
        let address = channel.next_descriptor();
        if !bursts_as_memory(address, ctx) {
            return Err(Failed(address));
        }
        let mut descriptor = [0; 9];
        let done = read_words(address, &mut descriptor[..channel.descriptor_words()], ctx)?;
        channel.load_descriptor(&descriptor);
        channel.linked = true;
        channel.begin_block();
        self.descriptors += 1;
        Ok(done)
    }

    fn read_data(&mut self, index: usize, ctx: &mut Ctx) -> Result<Ps, Failed> {
        let channel = &mut self.channels[index];
        if channel.left() == 0 {
            return Ok(self.end_block(index, ctx.now));
        }
        channel.stage = Stage::Write;
        if channel.is(CC_MEMSET) && channel.has_datum {
            return Ok(ctx.now);
        }
        let (count, datum_bytes) = (channel.data_of_step(ctx), channel.datum_bytes());
        channel.has_datum = true;
        channel.data.resize((count * datum_bytes) as usize, 0);
        read_data(channel.source(), datum_bytes, &mut channel.data, ctx)
    }

    fn write_data(&mut self, index: usize, ctx: &mut Ctx) -> Result<Ps, Failed> {
        let channel = &mut self.channels[index];
        let datum_bytes = channel.datum_bytes();
        let done = write_data(channel.registers[CDA], datum_bytes, &channel.data, ctx)?;
        let count = channel.data.len() as u32 / datum_bytes;
        self.bytes += channel.data.len() as u64;
        if !channel.moved(count) {
            return Ok(self.end_block(index, done));
        }
        Ok(self.next_read(index, done))
    }

    /// The time at which the channel samples its request line again: a peripheral needs some time to withdraw its
    /// request.
    fn next_read(&self, index: usize, done: Ps) -> Ps {
        let channel = &self.channels[index];
        if channel.is(CC_TYPE) && channel.chunk_left == 0 {
            return self.params.clock.rate.after(done, self.params.request_cycles);
        }
        done
    }

    fn end_block(&mut self, index: usize, done: Ps) -> Ps {
        let channel = &mut self.channels[index];
        channel.raise(CIS_BIS);
        self.blocks += 1;
        if channel.has_next() && channel.linked {
            channel.stage = Stage::Fetch;
        } else {
            channel.raise(flag(CIS_LIS, channel.linked));
            self.switch_off(index);
        }
        done
    }
}

impl Channel {
    /// The number of data that one step moves.
    fn data_of_step(&self, ctx: &Ctx) -> u32 {
        let increments = |mode| matches!(self.field(mode), INCREMENTED | MICROBLOCK_STRIDE);
        let bursts = increments(CC_SAM)
            && increments(CC_DAM)
            && !self.is(CC_MEMSET)
            && bursts_as_memory(self.source(), ctx)
            && is_memory(self.registers[CDA], ctx);
        let most = if self.is(CC_TYPE) { self.chunk_left.max(1) } else { u32::MAX };
        if bursts { self.burst().min(self.left()).min(most) } else { 1 }
    }
}

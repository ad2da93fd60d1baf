//! The transfer of data: bursts into the buffer, and bursts out of it, each at its own time.
//!
//! A side whose data are contiguous in memory is accessed in bursts. Other data are accessed one datum at a time, so
//! that a device gets each access in order with those of other masters. A datum of 64 bits is two words for a device.

use super::channel::{BLOCK, BLOCKS, LIST, Side};
use super::{CDAR, CESR_TEA, CESR_TED, CESR_TELD, CISR_BRTIF, CISR_BTIF, CISR_CTCIF, CISR_TCIF, CLAR, CSAR, Mdma};
use crate::prelude::*;
use crate::support::bus_master::{Failed, Stage, is_memory, read_data, read_words, write_data};

impl Mdma {
    /// The event of channel `index`: performs its next step.
    pub(super) fn step(&mut self, index: usize, ctx: &mut Ctx) {
        let result = match self.channels[index].stage {
            Stage::Idle => return,
            Stage::Fetch => self.fetch(index, ctx).map_err(|Failed(address)| (address, CESR_TELD)),
            Stage::Read => self.fill(index, ctx).map_err(|Failed(address)| (address, 0)),
            Stage::Write => self.empty(index, ctx).map_err(|Failed(address)| (address, CESR_TED)),
        };
        match result {
            Ok(Some(due)) => self.arm(index, due, ctx),
            Ok(None) => {}
            Err((address, error)) => {
                ctx.note(&format!("channel {index}: a bus error at {address:#010x} ended the transfer"));
                self.channels[index].fail(error | address & CESR_TEA);
            }
        }
    }

    /// Reads the next node of the list.
    fn fetch(&mut self, index: usize, ctx: &mut Ctx) -> Result<Option<Ps>, Failed> {
        let link = self.channels[index].registers[CLAR];
        if !is_memory(link, ctx) {
            return Err(Failed(link));
        }
        let mut words = [0; 10];
        let done = read_words(link, &mut words, ctx)?;
        self.nodes += 1;
        let channel = &mut self.channels[index];
        let trigger = channel.trigger();
        channel.load(&words);
        let error = channel.faults();
        if error != 0 {
            ctx.note(&format!("channel {index}: a node's sizes and addresses do not fit (MDMA_CxESR is {error:#x})"));
            channel.fail(error);
            return Ok(None);
        }
        if trigger != LIST {
            channel.stage = Stage::Idle;
            return Ok(None);
        }
        channel.stage = Stage::Read;
        channel.begin_request();
        Ok(Some(done))
    }

    /// Reads a burst from the source.
    fn fill(&mut self, index: usize, ctx: &mut Ctx) -> Result<Option<Ps>, Failed> {
        let channel = &mut self.channels[index];
        let (side, address) = (channel.reads(), channel.registers[CSAR]);
        let bytes = span(side, address, channel.to_read, ctx);
        let begin = channel.data.len();
        channel.data.resize(begin + bytes as usize, 0);
        let done = read_data(address, side.size, &mut channel.data[begin..], ctx)?;
        channel.registers.set(CSAR, moved(address, side, bytes));
        channel.to_read -= bytes;
        if channel.to_read == 0 {
            channel.stage = Stage::Write;
        }
        Ok(Some(done))
    }

    /// Writes a burst to the destination.
    fn empty(&mut self, index: usize, ctx: &mut Ctx) -> Result<Option<Ps>, Failed> {
        let channel = &mut self.channels[index];
        let (side, address) = (channel.writes(), channel.registers[CDAR]);
        let bytes = span(side, address, channel.data.len() as u32, ctx);
        let done = write_data(address, side.size, &channel.data[..bytes as usize], ctx)?;
        channel.data.drain(..bytes as usize);
        channel.registers.set(CDAR, moved(address, side, bytes));
        channel.count(bytes);
        self.bytes += u64::from(bytes);
        if self.channels[index].data.is_empty() { Ok(self.end_buffer(index, done)) } else { Ok(Some(done)) }
    }

    /// The step after a buffer, and its time.
    fn end_buffer(&mut self, index: usize, done: Ps) -> Option<Ps> {
        // A list may be endless: time must pass.
        let next = self.clock.rate.after(done, self.params.buffer_cycles.max(Cycles(1)));
        let channel = &mut self.channels[index];
        let trigger = channel.trigger();
        channel.raise(CISR_TCIF);
        if channel.left() > 0 {
            return self.go_on(index, trigger >= BLOCK, next);
        }
        self.blocks += 1;
        channel.raise(CISR_BTIF);
        if channel.repeats() {
            return self.go_on(index, trigger >= BLOCKS, next);
        }
        channel.raise(CISR_BRTIF);
        if channel.registers[CLAR] != 0 {
            channel.stage = Stage::Fetch;
            return Some(next);
        }
        channel.raise(CISR_CTCIF);
        channel.stop();
        None
    }

    /// Schedules the next buffer, at `next` if it belongs to the same request.
    fn go_on(&mut self, index: usize, same_request: bool, next: Ps) -> Option<Ps> {
        let channel = &mut self.channels[index];
        channel.stage = if same_request { Stage::Read } else { Stage::Idle };
        channel.begin_request();
        same_request.then_some(next)
    }
}

/// Bytes of the next access: a burst, if the data are contiguous in one memory.
fn span(side: Side, address: u32, left: u32, ctx: &Ctx) -> u32 {
    let is_contiguous = side.step == side.size as i32;
    if is_contiguous && is_memory(address, ctx) { side.burst.min(left) } else { side.size.min(left) }
}

fn moved(address: u32, side: Side, bytes: u32) -> u32 {
    address.wrapping_add_signed(side.step.wrapping_mul((bytes / side.size) as i32))
}

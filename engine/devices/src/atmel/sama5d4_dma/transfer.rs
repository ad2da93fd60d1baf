//! The movement of data: alternate reads and writes, each at its own time.
//!
//! Between memories whose addresses are incremented on both sides, a step is a burst of MBSIZE data; a device that
//! takes bursts as a memory does, such as the QSPI's window, counts as a memory. All other transfers move datum by
//! datum, so that a device gets each access in order with those of the other masters. A synchronised channel waits for
//! its peripheral's request before each chunk. The next step begins with the write's response: the chip's FIFO, which
//! lets reads run ahead of writes, is not modelled.

use super::channel::Stage;
use super::registers::{Addressing, CDA, CIS_BIS, CIS_LIS, CIS_RBEIS, CIS_WBEIS};
use super::{Channel, Xdmac};
use crate::prelude::*;
use engine::bus::Target;

/// An error answered, or the address is unmapped.
struct Failed;

impl Xdmac {
    /// The event of channel `index`: its next step.
    pub(super) fn step(&mut self, index: usize, ctx: &mut Ctx) {
        let stage = self.channels[index].stage;
        let result = match stage {
            Stage::Off => return,
            Stage::Fetch => self.fetch(index, ctx).map_err(|failed| (failed, CIS_RBEIS)),
            Stage::Read if !self.may_read(index) => return,
            Stage::Read => self.read_data(index, ctx).map_err(|failed| (failed, CIS_RBEIS)),
            Stage::Write => self.write_data(index, ctx).map_err(|failed| (failed, CIS_WBEIS)),
        };
        match result {
            Ok(done) => self.arm(index, done, ctx),
            Err((Failed, error)) => {
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
        if !channel.config().is_synchronised() || channel.chunk_left > 0 {
            return true;
        }
        let asked = if channel.config().asks_software() {
            std::mem::take(&mut channel.asked)
        } else {
            requests >> channel.config().request_line() & 1 != 0
        };
        if asked {
            channel.chunk_left = channel.config().chunk();
        }
        asked
    }

    fn fetch(&mut self, index: usize, ctx: &mut Ctx) -> Result<Ps, Failed> {
        let channel = &mut self.channels[index];
        let (address, words) = (channel.next_descriptor(), channel.next().words());
        let mut bytes = [0; 36];
        let done = read_memory(address, &mut bytes[..4 * words as usize], ctx)?;
        let mut descriptor = [0; 9];
        for (word, bytes) in descriptor.iter_mut().zip(bytes.chunks_exact(4)) {
            *word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
        }
        channel.load_descriptor(&descriptor);
        channel.linked = true;
        channel.begin_block();
        self.totals.descriptors += 1;
        Ok(done)
    }

    fn read_data(&mut self, index: usize, ctx: &mut Ctx) -> Result<Ps, Failed> {
        let channel = &mut self.channels[index];
        if channel.left() == 0 {
            return Ok(self.end_block(index, ctx.now));
        }
        channel.stage = Stage::Write;
        if channel.config().is_memset() && channel.has_datum {
            return Ok(ctx.now);
        }
        let count = channel.data_of_step(ctx);
        channel.has_datum = true;
        channel.data.resize((count * channel.config().datum_bytes()) as usize, 0);
        if count > 1 || is_memory(channel.source(), ctx) {
            return read_memory(channel.source(), &mut channel.data, ctx);
        }
        let size = channel.access_size();
        let mut at = ctx.now;
        let mut data = std::mem::take(&mut channel.data);
        let mut address = channel.source();
        for part in data.chunks_mut(4) {
            not_to_itself(address, ctx)?;
            let access = ctx.bus.read(at, address, size).map_err(|_| Failed)?;
            part.copy_from_slice(&access.value.to_le_bytes()[..part.len()]);
            at = access.done;
            address = address.wrapping_add(4);
        }
        self.channels[index].data = data;
        Ok(at)
    }

    fn write_data(&mut self, index: usize, ctx: &mut Ctx) -> Result<Ps, Failed> {
        let channel = &mut self.channels[index];
        let count = channel.data.len() as u32 / channel.config().datum_bytes();
        let mut address = channel.registers[CDA];
        let done = if count > 1 || is_memory(address, ctx) {
            write_memory(address, &channel.data, ctx)?
        } else {
            let mut at = ctx.now;
            for part in channel.data.chunks(4) {
                let mut word = [0; 4];
                word[..part.len()].copy_from_slice(part);
                not_to_itself(address, ctx)?;
                let written = ctx.bus.write(at, address, channel.access_size(), u32::from_le_bytes(word));
                at = written.map_err(|_| Failed)?.done;
                address = address.wrapping_add(4);
            }
            at
        };
        self.totals.bytes += channel.data.len() as u64;
        if !channel.moved(count) {
            return Ok(self.end_block(index, done));
        }
        Ok(self.next_read(index, done))
    }

    /// The time at which the channel samples its request line again: a peripheral needs some time to withdraw its
    /// request.
    fn next_read(&self, index: usize, done: Ps) -> Ps {
        let channel = &self.channels[index];
        if channel.config().is_synchronised() && channel.chunk_left == 0 {
            return self.params.clock.rate.after(done, self.params.request_cycles);
        }
        done
    }

    fn end_block(&mut self, index: usize, done: Ps) -> Ps {
        let channel = &mut self.channels[index];
        channel.raise(CIS_BIS);
        self.totals.blocks += 1;
        if channel.next().exists() && channel.linked {
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
        let incremented = |addressing| matches!(addressing, Addressing::Incremented | Addressing::MicroblockStride);
        let bursts = incremented(self.config().source())
            && incremented(self.config().destination())
            && !self.config().is_memset()
            && bursts_as_memory(self.source(), ctx)
            && is_memory(self.registers[CDA], ctx);
        let most = if self.config().is_synchronised() { self.chunk_left.max(1) } else { u32::MAX };
        if bursts { self.config().burst().min(self.left()).min(most) } else { 1 }
    }
}

fn is_memory(address: u32, ctx: &Ctx) -> bool {
    let entry = ctx.bus.entry_at(address);
    entry.is_some_and(|entry| matches!(ctx.bus.map[entry].target, Target::Ram(_)))
}

/// True for memory, and for a device's window that transfers the beats of a burst one after the other.
fn bursts_as_memory(address: u32, ctx: &Ctx) -> bool {
    let Some(entry) = ctx.bus.entry_at(address) else { return false };
    let entry = &ctx.bus.map[entry];
    match entry.target {
        Target::Ram(_) => true,
        // The controller itself is absent while it is being called.
        Target::Device(id, range) => {
            let device = ctx.bus.devices[id.0 as usize].as_ref();
            device.is_some_and(|device| device.streams(range, entry.offset(address)))
        }
    }
}

/// Refuses the controller's own registers: an access to the device that is being called is an access to itself.
fn not_to_itself(address: u32, ctx: &Ctx) -> Result<(), Failed> {
    let target = ctx.bus.entry_at(address).map(|entry| ctx.bus.map[entry].target);
    match target {
        Some(Target::Device(id, _)) if ctx.bus.is_busy(id) => Err(Failed),
        _ => Ok(()),
    }
}

fn read_memory(address: u32, into: &mut [u8], ctx: &mut Ctx) -> Result<Ps, Failed> {
    if !bursts_as_memory(address, ctx) || !ctx.bus.peek(address, into) {
        return Err(Failed);
    }
    let access = ctx.bus.read_burst(ctx.now, address, into.len() as u32);
    access.map(|access| access.done).map_err(|_| Failed)
}

fn write_memory(address: u32, data: &[u8], ctx: &mut Ctx) -> Result<Ps, Failed> {
    if !ctx.bus.poke(address, data) {
        return Err(Failed);
    }
    let access = ctx.bus.write_burst(ctx.now, address, data.len() as u32);
    access.map(|access| access.done).map_err(|_| Failed)
}

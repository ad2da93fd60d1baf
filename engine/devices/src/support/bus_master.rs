//! A controller's accesses to the bus: data one after the other, as to a device's registers, and bursts to memory.

use crate::prelude::*;
use crate::support::activities::TRANSFER;
use engine::activity::Kind;
use engine::bus::Target;

/// Bytes of the longest descriptor.
const MOST_DESCRIPTOR_BYTES: usize = 40;

/// The access to this address was answered with an error, or the address is unmapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failed(pub u32);

/// The next step of a channel that reads and writes alternately, and may follow a list of descriptors.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State, Fresh, Polled)]
pub enum Stage {
    /// It is off, or waits for a request of software.
    #[default]
    Idle,
    /// It reads its next descriptor.
    Fetch,
    /// It reads data, once it is requested.
    Read,
    /// It writes the data that it has read.
    Write,
}

/// Shows channels as activities: whether each is at work, its source address, and its bytes.
pub fn show_channels(channels: impl Iterator<Item = (bool, u32, u32)>, ctx: &mut Ctx) {
    if ctx.records(Kind::Transfer) {
        for (index, (is_on, address, bytes)) in channels.enumerate() {
            ctx.level_with((&TRANSFER, index as u32), is_on, || Detail::Address { address, bytes });
        }
    }
}

/// Bus accesses of a controller for one stream or channel.
#[derive(Clone, Copy, Debug, Default)]
pub struct Master {
    /// A beat takes at least one cycle of this clock.
    pub clock: Option<Hz>,
    /// Addresses that it can't reach: a base and a size.
    pub unreachable: Option<[u32; 2]>,
}

/// The access size of this many bytes.
pub fn size_of(bytes: u32) -> AccessSize {
    AccessSize::of_bytes(bytes).unwrap_or(AccessSize::Word)
}

impl Master {
    /// Reads data of `size` bytes each, from `address` on and `step` bytes apart. Returns the time of the last answer.
    ///
    /// # Errors
    /// If an error answers, or the address is unmapped.
    pub fn read(self, address: u32, size: u32, step: u32, into: &mut [u8], ctx: &mut Ctx) -> Result<Ps, Failed> {
        let (mut at, mut address) = (ctx.now, address);
        for datum in into.chunks_mut(size as usize) {
            self.check(address, ctx)?;
            let access = ctx.bus.read(at, address, size_of(size)).map_err(|_| Failed(address))?;
            datum.copy_from_slice(&access.value.to_le_bytes()[..datum.len()]);
            at = access.done.max(self.beat_ends(at));
            address = address.wrapping_add(step);
        }
        Ok(at)
    }

    /// Writes data likewise. Returns the time of the last answer.
    ///
    /// # Errors
    /// If an error answers, or the address is unmapped.
    pub fn write(self, address: u32, size: u32, step: u32, data: &[u8], ctx: &mut Ctx) -> Result<Ps, Failed> {
        let (mut at, mut address) = (ctx.now, address);
        for datum in data.chunks(size as usize) {
            self.check(address, ctx)?;
            let mut word = [0; 4];
            word[..datum.len()].copy_from_slice(datum);
            let access = ctx.bus.write(at, address, size_of(size), u32::from_le_bytes(word));
            at = access.map_err(|_| Failed(address))?.done.max(self.beat_ends(at));
            address = address.wrapping_add(step);
        }
        Ok(at)
    }

    fn beat_ends(self, begins: Ps) -> Ps {
        self.clock.map_or(begins, |clock| clock.after(begins, Cycles(1)))
    }

    /// Refuses the controller's own registers, and unreachable addresses.
    fn check(self, address: u32, ctx: &mut Ctx) -> Result<(), Failed> {
        if self.unreachable.is_some_and(|[base, size]| address.wrapping_sub(base) < size) {
            ctx.note(&format!("it has no way to {address:#010x}: the transfer ends with an error"));
            return Err(Failed(address));
        }
        match target(address, ctx) {
            Some((Target::Device(id, _), _)) if ctx.bus.is_busy(id) => Err(Failed(address)),
            _ => Ok(()),
        }
    }
}

/// What is at an address, and the offset there.
fn target(address: u32, ctx: &Ctx) -> Option<(Target, u32)> {
    let entry = &ctx.bus.map[ctx.bus.entry_at(address)?];
    Some((entry.target, entry.offset(address)))
}

/// True for memory.
pub fn is_memory(address: u32, ctx: &Ctx) -> bool {
    matches!(target(address, ctx), Some((Target::Ram(_), _)))
}

/// True for memory, and for a device's window that transfers the beats of a burst one after the other.
pub fn bursts_as_memory(address: u32, ctx: &Ctx) -> bool {
    match target(address, ctx) {
        Some((Target::Ram(_), _)) => true,
        // The controller itself is absent while it is being called.
        Some((Target::Device(id, range), offset)) => {
            let device = ctx.bus.devices[id.0 as usize].as_ref();
            device.is_some_and(|device| device.streams(range, offset))
        }
        None => false,
    }
}

/// Reads a burst. Returns the time of its last beat.
fn read_burst(address: u32, into: &mut [u8], ctx: &mut Ctx) -> Result<Ps, Failed> {
    if !ctx.bus.peek(address, into) {
        return Err(Failed(address));
    }
    let access = ctx.bus.read_burst(ctx.now, address, into.len() as u32);
    access.map(|access| access.done).map_err(|_| Failed(address))
}

/// Reads data of `size` bytes each: several, or data in memory, in a burst; one of a device by its registers, 64 bits
/// as two words. Returns the time of the last answer.
///
/// # Errors
/// If an error answers, or the address is unmapped.
pub fn read_data(address: u32, size: u32, into: &mut [u8], ctx: &mut Ctx) -> Result<Ps, Failed> {
    if into.len() > size as usize || is_memory(address, ctx) {
        return read_burst(address, into, ctx);
    }
    Master::default().read(address, size.min(4), 4, into, ctx)
}

/// Writes data likewise.
///
/// # Errors
/// If an error answers, or the address is unmapped.
pub fn write_data(address: u32, size: u32, data: &[u8], ctx: &mut Ctx) -> Result<Ps, Failed> {
    if data.len() > size as usize || is_memory(address, ctx) {
        return write_burst(address, data, ctx);
    }
    Master::default().write(address, size.min(4), 4, data, ctx)
}

/// Reads the words of a descriptor in memory in one burst. Returns the time of its last beat.
///
/// # Errors
/// If an error answers, or the address is unmapped.
pub fn read_words(address: u32, words: &mut [u32], ctx: &mut Ctx) -> Result<Ps, Failed> {
    let mut bytes = [0; MOST_DESCRIPTOR_BYTES];
    let done = read_burst(address, &mut bytes[..4 * words.len()], ctx)?;
    for (word, bytes) in words.iter_mut().zip(bytes.as_chunks().0) {
        *word = u32::from_le_bytes(*bytes);
    }
    Ok(done)
}

/// Writes a burst to memory. Returns the time of its response.
fn write_burst(address: u32, data: &[u8], ctx: &mut Ctx) -> Result<Ps, Failed> {
    if !ctx.bus.poke(address, data) {
        return Err(Failed(address));
    }
    let access = ctx.bus.write_burst(ctx.now, address, data.len() as u32);
    access.map(|access| access.done).map_err(|_| Failed(address))
}

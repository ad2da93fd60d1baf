//! Common parts of the DMA controllers of STM32s: request lines, which are latched until they are served, and accesses
//! to the bus.

use engine::bus::Target;
use engine::bus::device::{AccessSize, Ctx};
use engine::dt::reader::NodeReader;
use engine::state::{Fresh, State};
use engine::time::{Cycles, Hz, Ps};

/// Request lines.
#[derive(Clone, Debug, State)]
pub struct Requests(#[state(with = engine::state::fixed)] Vec<Request>);

#[derive(Clone, Copy, Debug, Default, State, Fresh)]
struct Request {
    level: bool,
    /// The line was raised, and has not been served.
    kept: bool,
    raised_at: Ps,
}

impl Requests {
    /// This many lines, all low.
    pub fn new(lines: usize) -> Requests {
        Requests(vec![Request::default(); lines])
    }

    /// Sets the level of a line. A line that is raised and lowered at the same time requests one transfer; lowering it
    /// later withdraws the request.
    pub fn set(&mut self, line: u32, level: bool, now: Ps) {
        let Some(request) = self.0.get_mut(line as usize) else { return };
        if level && !request.level {
            (request.kept, request.raised_at) = (true, now);
        } else if !level && request.raised_at != now {
            request.kept = false;
        }
        request.level = level;
    }

    /// True if the line requests a transfer.
    pub fn is_asked(&self, line: usize) -> bool {
        self.0.get(line).is_some_and(|request| request.level || request.kept)
    }

    /// The line's request gets its transfer.
    pub fn serve(&mut self, line: usize) {
        if let Some(request) = self.0.get_mut(line) {
            request.kept = false;
        }
    }
}

/// The access was answered with an error, or the address is unmapped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Failed(pub u32);

/// Addresses that a controller can't reach: a base and a size.
#[derive(Clone, Copy, Debug, Default)]
pub struct Unreachable(Option<[u32; 2]>);

impl Unreachable {
    /// The unreachable addresses of a node.
    pub fn from_node(reader: &mut NodeReader) -> Unreachable {
        let meaning = "the address and the size of a memory that the controller has no way to";
        Unreachable(reader.cells("cyclescope,unreachable", |[_, size]| size > 0, meaning))
    }

    /// Unreachable addresses from `base` on.
    pub const fn new(base: u32, size: u32) -> Unreachable {
        Unreachable(Some([base, size]))
    }

    fn has(self, address: u32) -> bool {
        self.0.is_some_and(|[base, size]| address.wrapping_sub(base) < size)
    }
}

/// Bus accesses of a controller for one stream or channel.
#[derive(Clone, Copy, Debug)]
pub struct Master {
    /// A beat takes at least one cycle of this clock.
    pub clock: Hz,
    /// Addresses that it can't reach.
    pub unreachable: Unreachable,
}

/// The access size of this many bytes.
const fn size_of(bytes: u32) -> AccessSize {
    match bytes {
        1 => AccessSize::Byte,
        2 => AccessSize::Half,
        _ => AccessSize::Word,
    }
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
            at = access.done.max(self.clock.after(at, Cycles(1)));
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
            at = access.map_err(|_| Failed(address))?.done.max(self.clock.after(at, Cycles(1)));
            address = address.wrapping_add(step);
        }
        Ok(at)
    }

    /// Refuses the controller's own registers and unreachable addresses.
    fn check(self, address: u32, ctx: &mut Ctx) -> Result<(), Failed> {
        if self.unreachable.has(address) {
            ctx.note(&format!("it has no way to {address:#010x}: the transfer ends with an error"));
            return Err(Failed(address));
        }
        let target = ctx.bus.entry_at(address).map(|entry| ctx.bus.map[entry].target);
        match target {
            Some(Target::Device(id, _)) if ctx.bus.is_busy(id) => Err(Failed(address)),
            _ => Ok(()),
        }
    }
}

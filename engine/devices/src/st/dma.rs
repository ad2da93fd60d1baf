//! The DMA controllers of STM32s: what they have in common. A controller serves requests by streams or channels, which
//! have registers of the same kind, an interrupt, and a bus master.

pub mod stm32_dma;
pub mod stm32_dma_v2;
pub mod stm32_dmamux;
pub mod stm32h7_mdma;

#[cfg(test)]
mod tests;

use crate::prelude::*;
use crate::support::activities::TRANSFER;
use engine::bus::Target;

/// Properties of Linux that have no effect here.
const KNOWN: &[&str] = &["clock-names", "#dma-cells", "dma-channels", "dma-requests", "interrupt-names", "resets"];

/// The registers of streams or channels, one after the other.
#[derive(Clone, Copy, Debug)]
struct Places {
    /// Offset of the first one's first register.
    first: u32,
    /// Bytes from one to the next.
    bytes: u32,
    count: usize,
}

impl Places {
    /// The number of the stream or channel whose register is at `offset`, and the offset of the first one's register of
    /// that kind.
    fn at(&self, offset: u32) -> Option<(usize, u32)> {
        let within = offset.checked_sub(self.first)?;
        let index = (within / self.bytes) as usize;
        (index < self.count).then_some((index, self.first + within % self.bytes))
    }
}

/// What is around the `N` streams or channels of a controller that serves requests of peripherals.
#[derive(Debug, State, Polled)]
pub struct Wiring<const N: usize> {
    /// The AHB's clock.
    clock: ClockInput,
    /// The ranges that the controller can't reach.
    #[state(skip)]
    unreachable: Unreachable,
    #[state(skip)]
    interrupts: [Option<IrqLine>; N],
    /// Its clock enable bit in the RCC.
    #[state(skip)]
    gate: ClockGate,
    requests: Requests,
    /// The levels of the interrupts.
    levels: [bool; N],
}

impl<const N: usize> Wiring<N> {
    /// With this many request lines.
    fn new(clock: ClockInput, lines: usize) -> Wiring<N> {
        let (unreachable, gate) = Default::default();
        Wiring { clock, unreachable, interrupts: [None; N], gate, requests: Requests::new(lines), levels: [false; N] }
    }

    /// Reads the node: the interrupts belong to a `what`, numbered from `first` on.
    fn from_node(reader: &mut NodeReader, clock: ClockInput, lines: usize, what: &str, first: usize) -> Wiring<N> {
        let unreachable = Unreachable::from_node(reader);
        let interrupts =
            std::array::from_fn(|index| reader.interrupt(index, &format!("the interrupt of {what} {}", first + index)));
        Wiring { unreachable, interrupts, gate: ClockGate::from_node(reader), ..Wiring::new(clock, lines) }
    }

    fn master(&self) -> Master {
        Master { clock: Some(self.clock.rate), unreachable: self.unreachable }
    }

    /// Shows a stream or channel: its activity, and the level of its interrupt.
    fn show(&mut self, index: usize, is_on: bool, detail: impl FnOnce() -> Detail, level: bool, ctx: &mut Ctx) {
        ctx.level_with((&TRANSFER, index as u32), is_on, detail);
        if std::mem::replace(&mut self.levels[index], level) != level {
            ctx.set_irq(self.interrupts[index], level);
        }
    }

    /// Takes over the settings of the RCC: accesses under way on the bus end at the old clock's rate. True if the
    /// controller is reset.
    fn follow(&mut self, ctx: &mut Ctx) -> bool {
        self.clock.rate = ctx.bus.clocks.rate_of(self.clock);
        self.gate.is_reset(ctx.bus)
    }
}

/// Request lines.
#[derive(Clone, Debug, State, Polled)]
pub struct Requests(#[state(with = engine::state::fixed)] Vec<Request>);

#[derive(Clone, Copy, Debug, Default, State, Fresh, Polled)]
struct Request {
    level: bool,
    /// The line was raised, and has not been served.
    kept: bool,
    #[poll(skip = "it counts at its own time only")]
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
    /// A controller that reaches all addresses.
    pub const NONE: Unreachable = Unreachable(None);

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
    pub clock: Option<Hz>,
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

//! `cyclescope,picosoc-simpleuart`: the serial port of PicoSoC (YosysHQ/picorv32, picosoc/simpleuart.v and picosoc.v).
//!
//! Modelled, to the cycle: both registers, and the sender as the clock drives it. It has no FIFO and no status: a write
//! of a byte is held on the bus until the sender is free. A bit takes the divider + 2 cycles, a byte ten of them. A
//! write of the divider, and reset, order 15 idle bits, which come before the next byte. A byte is on the console when
//! the sender takes it: nothing can stop it then, and the firmware has no way to learn when it has left.
//!
//! Not modelled: the receive line, which stays idle. So a read of the data register always gives all ones: no byte.
//!
//! One range: the divider at 0, the data at 4 (PicoSoC has them at 0x02000004 and 0x02000008). All but a held write is
//! answered in the cycle of the request; that is how the state machine is built, so the node has no timing properties.

mod sender;

use self::sender::{BYTE_BITS, Sender};
use crate::bus::device::{AccessSize, Ctx, Device, Reply, SlaveError};
use crate::devices::model::{Group, Model};
use crate::devices::support::axi_lite::{FOREVER, edge_in_reach};
use crate::devices::support::registers::{AccessKind, Register};
use crate::dt::reader::NodeReader;
use crate::polling::Poll;
use crate::time::{Cycles, Hz, Ps};

/// The register map, with the RTL's names.
pub const REGISTERS: &[Register] = &[
    Register::new("REG_DIV", REG_DIV, AccessKind::Rw, RESET_DIVIDER, u32::MAX),
    Register::new("REG_DAT", REG_DAT, AccessKind::Rw, NO_BYTE, u32::MAX),
];

const REG_DIV: u32 = 0x0;
const REG_DAT: u32 = 0x4;

/// The RTL's default, which neither of its boards changes.
const RESET_DIVIDER: u32 = 1;
/// What a read of the data register gives when no byte has come.
const NO_BYTE: u32 = u32::MAX;

/// The device.
#[derive(Debug)]
pub struct Simpleuart {
    clock: Hz,
    sender: Sender,
    sent_characters: u64,
    /// Writes: nothing else changes what is read.
    writes: u64,
}

/// For the list of models.
pub const MODEL: Model = Model::device(Group::Serial, &["cyclescope,picosoc-simpleuart"], 1, from_node);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    Box::new(Simpleuart::new(reader.clock(0, "the clock of the SoC, which bits are counted in")))
}

impl Simpleuart {
    /// The device after reset.
    pub fn new(clock: Hz) -> Simpleuart {
        Simpleuart { clock, sender: Sender::after_reset(RESET_DIVIDER), sent_characters: 0, writes: 0 }
    }

    /// Hands a byte to the sender as soon as that is free: when it takes the byte.
    fn send(&mut self, byte: u8, ctx: &mut Ctx) -> Ps {
        let requested = self.cycle(ctx.now);
        let free = self.sender.free_at(requested);
        let Some((cycle, at)) = free.and_then(|cycle| Some((cycle, edge_in_reach(self.clock, cycle.0)?))) else {
            ctx.note("a byte was written while the divider lets no bit end: the write is held for ever");
            return FOREVER;
        };
        self.sender.start(cycle, BYTE_BITS);
        self.sent_characters += 1;
        ctx.console(&[byte]);
        if cycle == requested { ctx.now } else { at }
    }

    fn set_divider(&mut self, divider: u32, now: Ps) {
        self.sender.set_divider(self.cycle(now), divider);
    }

    fn cycle(&self, at: Ps) -> Cycles {
        self.clock.cycles_until_ceil(at)
    }
}

impl Device for Simpleuart {
    fn read(&mut self, _: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> Result<Reply, SlaveError> {
        let register = match offset & !3 {
            REG_DIV => self.sender.divider(),
            REG_DAT => NO_BYTE,
            _ => 0,
        };
        Ok(Reply::read(size.extracted(register, offset), ctx.now))
    }

    fn write(
        &mut self,
        _: usize,
        offset: u32,
        size: AccessSize,
        value: u32,
        ctx: &mut Ctx,
    ) -> Result<Reply, SlaveError> {
        self.writes += 1;
        match (offset & !3, offset % 4) {
            (REG_DIV, _) => self.set_divider(size.merged(self.sender.divider(), offset, value), ctx.now),
            (REG_DAT, 0) => return Ok(Reply::written(self.send(value as u8, ctx))),
            (REG_DAT, _) => ctx.note("a write to the data register without its lowest byte sends nothing"),
            _ => ctx.note(&format!("a write to offset {offset:#x}, where no register is, has no effect")),
        }
        Ok(Reply::written(ctx.now))
    }

    fn polled(&mut self, poll: &mut Poll) -> bool {
        poll.state(self.writes);
        true
    }

    fn counters(&self) -> Vec<(String, u64)> {
        vec![("tx_characters".to_owned(), self.sent_characters)]
    }
}

#[cfg(test)]
mod tests;

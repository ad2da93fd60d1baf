//! `cyclescope,picosoc-simpleuart`: the serial port of PicoSoC (YosysHQ/picorv32, picosoc/simpleuart.v and picosoc.v).
//!
//! Modelled, to the cycle: both registers, transmitter and receiver. The transmitter has no FIFO and no status: a write
//! of a byte is held on the bus until the transmitter is free. A bit takes the divider + 2 cycles, a byte ten of them.
//! A write of the divider, and reset, request 15 idle bits, which are sent before the next byte. A byte is on the
//! console when the transmitter takes it: it can't be stopped then, and the firmware can't detect its end.
//!
//! A received byte is in the data register from the middle of its stop bit on; a read takes it, and returns all ones if
//! there is no byte. The next byte replaces an unread one. The other end waits until the firmware has written the
//! divider: before that, it does not know the rate.
//!
//! One range: the divider at 0, the data at 4 (PicoSoC has them at 0x02000004 and 0x02000008). All accesses except a
//! held write are answered in the cycle of the request; that is the structure of the state machine, so the node has no
//! timing properties.

mod sender;

use self::sender::{BYTE_BITS, Sender};
use crate::prelude::*;
use crate::support::activities::{SENT, SERIAL};
use crate::support::axi_lite::{FOREVER, edge_in_reach};
use crate::support::serial::receiver::{Receiver, Room};
use engine::bus::device::SerialPort;
use engine::bus::rates::LINE_HEARD;
use engine::serial::Passage;
use engine::serial::wave::Format;

registers! {
    /// The register map, with the RTL's names.
    const MAP "" {
        REG_DIV 0x0 rw reset RESET_DIVIDER;
        REG_DAT 0x4 rw reset NO_BYTE;
    }
}

/// The RTL's default, which both of its boards use.
const RESET_DIVIDER: u32 = 1;
/// The value of the data register without a received byte.
const NO_BYTE: u32 = u32::MAX;

/// The device.
#[derive(Debug, State, Polled)]
pub struct Simpleuart {
    #[state(skip)]
    clock: Hz,
    sender: Sender,
    receiver: Receiver,
    /// True if the firmware has written the divider.
    has_rate: bool,
    #[poll(total)]
    sent_characters: u64,
}

/// For the list of models.
pub const MODEL: Model = Model::device(Group::Serial, &["cyclescope,picosoc-simpleuart"], 1, from_node)
    .with_activities(SERIAL)
    .naming(MAP.rows);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    Box::new(Simpleuart::new(reader.clock(0, "the clock of the SoC, which bits are counted in")))
}

impl Simpleuart {
    /// The device after reset.
    pub fn new(clock: Hz) -> Simpleuart {
        Simpleuart {
            clock,
            sender: Sender::after_reset(RESET_DIVIDER),
            receiver: Receiver::default(),
            has_rate: false,
            sent_characters: 0,
        }
    }

    /// Passes a byte to the transmitter as soon as it is free: returns the time at which it takes the byte.
    fn send(&mut self, byte: u8, ctx: &mut Ctx) -> Ps {
        let requested = self.cycle(ctx.now);
        let free = self.sender.free_at(requested);
        let Some((cycle, at)) = free.and_then(|cycle| Some((cycle, edge_in_reach(self.clock, cycle.0)?))) else {
            ctx.note("a byte was written while the divider lets no bit end: the write is held for ever");
            return FOREVER;
        };
        self.sender.start(cycle, BYTE_BITS);
        self.sent_characters += 1;
        let heard = edge_in_reach(self.clock, cycle.0 + u64::from(BYTE_BITS) * self.bit_cycles());
        if let Some(end) = heard {
            ctx.clocked_span(&SENT, self.clock, at, end, Detail::Value(byte.into()));
        }
        ctx.character_sent(byte.into(), &self.line_format(), heard.unwrap_or(at), true);
        if cycle == requested { ctx.now } else { at }
    }

    /// How characters look on the line.
    fn line_format(&self) -> Format {
        Format::of_clocks(Format::bit_of(self.bit_cycles(), self.clock.get(), 1))
    }

    /// Cycles of a bit while the divider does not change.
    fn bit_cycles(&self) -> u64 {
        u64::from(self.sender.divider()) + 2
    }

    fn cycle(&self, at: Ps) -> Cycles {
        self.clock.cycles_until_ceil(at)
    }
}

impl Device for Simpleuart {
    fn read(&mut self, _: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> AccessResult {
        let register = match offset & !3 {
            REG_DIV => self.sender.divider(),
            REG_DAT => self.receiver.take(ctx.now, self.clock).map_or(NO_BYTE, u32::from),
            _ => 0,
        };
        Ok(Reply::read(size.extracted(register, offset), ctx.now))
    }

    fn write(&mut self, _: usize, offset: u32, size: AccessSize, value: u32, ctx: &mut Ctx) -> AccessResult {
        match (offset & !3, offset % 4) {
            (REG_DIV, _) => {
                self.has_rate = true;
                self.sender.set_divider(self.cycle(ctx.now), size.merged(self.sender.divider(), offset, value));
                ctx.line_changed();
            }
            (REG_DAT, 0) => return Ok(Reply::written(self.send(value as u8, ctx))),
            (REG_DAT, _) => ctx.note("a write to the data register without its lowest byte sends nothing"),
            _ => ctx.note(&format!("a write to offset {offset:#x}, where no register is, has no effect")),
        }
        Ok(Reply::written(ctx.now))
    }

    fn event(&mut self, token: u32, ctx: &mut Ctx) {
        if token == LINE_HEARD {
            ctx.hear_line(ctx.now);
        }
    }

    fn serial_port(&mut self) -> Option<&mut dyn SerialPort> {
        Some(self)
    }

    fn counters(&self) -> Vec<(String, u64)> {
        self.receiver.counters(self.sent_characters)
    }
}

impl SerialPort for Simpleuart {
    fn format(&self) -> Option<Format> {
        self.has_rate.then(|| self.line_format())
    }

    fn begin(&mut self, ctx: &mut Ctx) -> Option<Passage> {
        let (begins, bit) = (self.cycle(ctx.now).0, self.bit_cycles());
        // State 0 sees the start bit and takes a cycle; state 1 ends with the first count whose double exceeds the
        // divider; states 2 to 10, which sample the data bits and the stop bit, take a bit each.
        let half_bit = u64::from(self.sender.divider()) / 2 + 2;
        let received = edge_in_reach(self.clock, begins + 1 + half_bit + 9 * bit)?;
        let ends = edge_in_reach(self.clock, begins + u64::from(BYTE_BITS) * bit)?;
        self.has_rate.then_some(Passage { received: received.min(ends), ends, is_lost: false })
    }

    fn receive(&mut self, character: u8, ctx: &mut Ctx) {
        self.receiver.put(character, Room::REGISTER, ctx);
    }
}

#[cfg(test)]
mod tests;

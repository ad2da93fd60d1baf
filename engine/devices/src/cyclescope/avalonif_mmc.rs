//! `cyclescope,avalonif-mmc`: the MMC/SD SPI interface for Avalon of J-7SYSTEM Works (S. Osafune; avalonif_mmc.vhd,
//! revision of 3 April 2013). The revision of 2008 lacks the flag for a changed card and the register with the clock's
//! frequency.
//!
//! Modelled, to the clock: all four registers; the transfer of a byte (a clock of SCK has two halves of `divider + 1`
//! clocks, and the state machine takes one more half at the end of each byte: 17 halves a byte); writes that are lost
//! while a byte is on the wire; the contents of the receive register in that time; the down counter with its flag; the
//! slot's switches, which are read through registers; the interrupt. SCK idles high, and both sides sample on its
//! rising edge. The model has the received byte when the transfer starts, and shows it at its end.
//!
//! `cyclescope,read-cycles` and `cyclescope,write-cycles` are Avalon's wait states. A write takes effect at the end of
//! the first clock of its transfer, a read returns the state in the last clock. There are no byte enables: a write
//! narrower than a word writes zeroes to the other lanes.
//!
//! Not modelled: the switches' bouncing; the level of the write protection switch in the first clock after reset.

mod counter;
mod slot;

#[cfg(test)]
mod tests;

use self::counter::DownCounter;
use self::slot::Slot;
use crate::prelude::*;
use crate::support::axi_lite::{AxiLitePort, on_lanes};
use crate::support::hosted_chip::{CONTROLLER_EVENT, Chips, HostedChip};
use crate::support::interrupt_output::InterruptOutput;
use crate::support::spi_controller::{Format, SpiBus};
use engine::bus::device::PortId;
use engine::observe::spi::SPI;
use engine::wire::spi::{Lines, SpiTarget};

registers! {
    /// The register map. The interface's source has no names for its registers.
    const MAP "" {
        CONTROL "control" 0x0 rw reset 0x1f00 {
            /// The byte to send; the byte received.
            DATA 0..8,
            /// The card's chip select, active low.
            NCS 8,
            /// No byte is on the wire; writing 0 starts a byte. The source calls it `exit`.
            IDLE 9,
            /// Card detection switch: 0 with a card.
            CD 10,
            /// Write protection switch: 0 protects.
            WP 11,
            /// The down counter is at 0.
            FRCZERO 12,
            /// The card was put in or taken out; writing 0 clears.
            CDALTER 13,
            /// Interrupt enable.
            IRQENA 15,
        };
        DIVIDER "clock divider" 0x4 rw reset 0xff mask 0xff;
        COUNTER "down counter" 0x8 rw volatile;
        FREQUENCY "clock frequency" 0xc ro volatile;
    }
}

/// Bits of the control register that are stored; the others show the state of other parts.
const STORED: u32 = CONTROL_IRQENA | CONTROL_NCS;
/// Halves of a period of SCK in a byte: 16, and one after the last rising edge.
const BYTE_HALVES: u64 = 17;
const BITS: u32 = 8;

/// The interface.
#[derive(State, Polled)]
#[poll(first = AvalonifMmc::is_quiet)]
pub struct AvalonifMmc {
    #[state(skip)]
    port: AxiLitePort,
    registers: Registers,
    interrupt: InterruptOutput,
    /// With the card on select 0.
    bus: SpiBus,
    /// The edge from which on no byte is on the wire.
    #[poll(end)]
    idle_from: Cycles,
    /// The byte of the last transfer, or of the one in progress.
    received: u8,
    /// The byte before it.
    received_before: u8,
    #[poll(skip = "listed with the time, in `is_quiet`")]
    counter: DownCounter,
    slot: Slot,
}

/// For the list of models.
pub const MODEL: Model =
    Model::device(Group::Spi, &["cyclescope,avalonif-mmc"], 1, from_node).with_activities(SPI).naming(MAP.rows);

/// Builds the interface from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    let port = AxiLitePort::from_node(reader);
    let interrupt = reader.interrupt(0, "its interrupt");
    Box::new(AvalonifMmc::new(port, interrupt, Chips::from_node(reader, 1).into_only()))
}

impl AvalonifMmc {
    /// The interface after reset.
    pub fn new(port: AxiLitePort, interrupt: Option<IrqLine>, chip: Option<HostedChip>) -> AvalonifMmc {
        AvalonifMmc {
            port,
            registers: Registers::new(&MAP),
            interrupt: InterruptOutput::new(interrupt),
            bus: SpiBus::new(Chips::new(vec![chip])),
            idle_from: Cycles(0),
            received: 0,
            received_before: 0,
            counter: DownCounter::default(),
            slot: Slot::default(),
        }
    }

    /// Clocks in half a period of SCK.
    fn half(&self) -> u64 {
        u64::from(self.registers[DIVIDER]) + 1
    }

    fn is_selected(&self) -> bool {
        !self.registers.has(CONTROL, CONTROL_NCS)
    }

    /// The value of a register in clock `cycle`. Reading has no visible side effects.
    fn register(&mut self, offset: u32, cycle: Cycles) -> u32 {
        match offset & 0xc {
            CONTROL => self.control(cycle),
            DIVIDER => self.registers[DIVIDER],
            COUNTER => self.counter.read(cycle),
            // The source's generic for the frequency: the clock of the interface.
            _ => self.port.clock.get() as u32,
        }
    }

    /// The control register in clock `cycle`.
    fn control(&mut self, cycle: Cycles) -> u32 {
        let card = self.bus.chips.get(0);
        self.slot.look(self.port.clock, cycle, card);
        let protected = card.is_some_and(|card| card.write_protected());
        self.registers[CONTROL] & STORED
            | flag(CONTROL_CDALTER, self.slot.changed)
            | flag(CONTROL_FRCZERO, self.counter.flag(cycle))
            | flag(CONTROL_WP, !protected)
            | flag(CONTROL_CD, !self.slot.card_in)
            | flag(CONTROL_IDLE, cycle >= self.idle_from)
            | u32::from(self.receive_register(cycle))
    }

    /// The bits that were shifted in by `cycle`: bits of the byte in progress shift the previous byte out.
    fn receive_register(&self, cycle: Cycles) -> u8 {
        if !self.is_shifting(cycle) {
            return self.received;
        }
        let half = self.half();
        let start = self.idle_from.0 - BYTE_HALVES * half;
        let sampled = cycle.0.saturating_sub(start) / (2 * half);
        let both = u32::from(self.received_before) << BITS | u32::from(self.received);
        (both >> (u64::from(BITS) - sampled.min(u64::from(BITS)))) as u8
    }

    /// True if the receive register changes with the bits of a byte in progress. It does not if all bits are equal, as
    /// those of a busy card.
    fn is_shifting(&self, cycle: Cycles) -> bool {
        let both = [self.received_before, self.received];
        cycle < self.idle_from && both != [0; 2] && both != [u8::MAX; 2]
    }

    fn set_control(&mut self, value: u32, cycle: Cycles, ctx: &mut Ctx) {
        if value & CONTROL_CDALTER == 0 {
            self.slot.clear_changed(self.port.clock, cycle, self.bus.chips.get(0));
        }
        if !self.is_idle(cycle, ctx) {
            return;
        }
        // Taken at the end of the first clock of the transfer.
        let edge = Cycles(cycle.0 + 1);
        let was_selected = self.is_selected();
        self.registers.set(CONTROL, value & STORED);
        let (starts, ends_frame) = (value & CONTROL_IDLE == 0, was_selected && !self.is_selected());
        if was_selected != self.is_selected() {
            self.bus.select(0, !was_selected, self.port.clock.ps_at_floor(edge));
        }
        if starts {
            self.exchange((value & CONTROL_DATA) as u8, edge, ctx);
        }
        // Not after each byte of a frame: there are millions of bytes.
        if ends_frame || !starts {
            self.bus.chips.take_notes(ctx);
        }
        self.update_interrupt(cycle, ctx);
    }

    /// True if the state machine accepts writes in `cycle`.
    fn is_idle(&self, cycle: Cycles, ctx: &mut Ctx) -> bool {
        let idle = cycle >= self.idle_from;
        if !idle {
            ctx.note("a write while a byte is on the wire has no effect");
        }
        idle
    }

    /// Transfers a byte that is taken at `edge`.
    fn exchange(&mut self, byte: u8, edge: Cycles, ctx: &mut Ctx) {
        self.idle_from = Cycles(edge.0 + BYTE_HALVES * self.half());
        let end = self.port.clock.ps_at_floor(self.idle_from);
        let format = Format { bits: BITS, lsb_first: false, cpol: true, cpha: true, half: self.half() };
        let burst = format.burst(byte.into());
        // The data line rests high, so that it does not change if all bits are high.
        self.bus.pass_idle_clocks(burst, end);
        self.received_before = self.received;
        // SCK falls for the first time half a period after the write, and ends high.
        let clock = format.clock(self.port.clock, edge.0 + self.half());
        self.received = self.bus.exchange(burst, end, clock) as u8;
        if self.registers.has(CONTROL, CONTROL_IRQENA) {
            ctx.schedule(end, CONTROLLER_EVENT);
        }
    }

    fn update_interrupt(&mut self, cycle: Cycles, ctx: &mut Ctx) {
        self.interrupt.drive(self.registers.has(CONTROL, CONTROL_IRQENA) && cycle >= self.idle_from, ctx);
    }

    fn cycle(&self, at: Ps) -> Cycles {
        self.port.clock.cycles_until_ceil(at)
    }

    /// True if nothing changes from clock to clock except what is listed.
    fn is_quiet(&mut self, poll: &mut Poll) -> bool {
        let (clock, cycle) = (self.port.clock, self.cycle(poll.now()));
        let awaits_interrupt = self.registers.has(CONTROL, CONTROL_IRQENA) && cycle < self.idle_from;
        if poll.clock() != clock || awaits_interrupt {
            return false;
        }
        self.slot.look(clock, cycle, self.bus.chips.get(0));
        self.counter.list(clock, cycle, poll);
        self.slot.is_settled(clock, cycle, self.bus.chips.get(0)) && !self.is_shifting(cycle)
    }
}

impl Device for AvalonifMmc {
    fn reset(&mut self, ctx: &mut Ctx) {
        self.bus.name_lines(Lines::Single, ctx);
        self.bus.signals.rest(true, ctx.now);
        self.bus.chips.start(ctx);
    }

    fn shows_answers(&self, _range: usize, offset: u32) -> bool {
        offset & !3 == CONTROL
    }

    fn read(&mut self, _: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> AccessResult {
        // The last clock of the transfer begins when the wait states are over.
        let last = Cycles(self.cycle(ctx.now).0 + self.port.read_cycles.0);
        let register = self.register(offset, last);
        Ok(Reply::read(size.extracted(register, offset), self.port.clock.ps_at_floor(last)))
    }

    fn own_clock(&self) -> Option<Hz> {
        Some(self.port.clock)
    }

    fn read_alone(&mut self, _: usize, offset: u32, bytes: u32, edge: u64) -> Option<(u32, u64)> {
        let last = Cycles(edge + self.port.read_cycles.0);
        let size = AccessSize::of_bytes(bytes)?;
        Some((size.extracted(self.register(offset, last), offset), last.0))
    }

    fn write(&mut self, _: usize, offset: u32, size: AccessSize, value: u32, ctx: &mut Ctx) -> AccessResult {
        let value = on_lanes(value, offset, size);
        let cycle = self.cycle(ctx.now);
        match offset & 0xc {
            CONTROL => self.set_control(value, cycle, ctx),
            DIVIDER if self.is_idle(cycle, ctx) => self.registers.set(DIVIDER, value),
            DIVIDER => {}
            COUNTER => self.counter.load(value, Cycles(cycle.0 + 1)),
            _ => ctx.note("a write to the register with the clock's frequency, which is read only, has no effect"),
        }
        self.bus.chips.follow(None, ctx);
        Ok(Reply::written(self.port.clock.ps_at_floor(Cycles(cycle.0 + self.port.write_cycles.0))))
    }

    fn event(&mut self, token: u32, ctx: &mut Ctx) {
        self.bus.chips.event(token, ctx);
        self.update_interrupt(self.cycle(ctx.now), ctx);
    }

    fn pins_changed(&mut self, port: PortId, changed: u32, levels: u32, ctx: &mut Ctx) {
        self.bus.chips.pins_changed(port, changed, levels, ctx);
    }

    fn chips(&mut self) -> Vec<&mut dyn SpiTarget> {
        self.bus.chips.targets()
    }

    fn counters(&self) -> Vec<(String, u64)> {
        let SpiBus { words, clocks, frames, .. } = self.bus;
        self.bus.chips.counters_after(&[("bytes", words), ("sck_clocks", clocks), ("frames", frames)])
    }
}

//! The I2C interfaces of STM32 chips, as masters: what the older ([`v1`]) and the newer one ([`v2`]) have in common.
//! They have different registers and different steps on the bus; chips, pins, lines, requests and clocks are the same.

mod master;
pub mod v1;
pub mod v2;

#[cfg(test)]
mod tests;

use self::master::{Master, Timing};
use crate::prelude::*;
use crate::registers::Row;
use crate::support::dma_lines::DmaLine;
use crate::support::i2c_chips::{I2cChips, MASTER_EVENT};
use crate::support::kernel_clock::KernelClock;
use crate::support::pin_functions::{I2C_SIGNALS, PinFunctions};
use engine::bus::device::PortId;
use engine::observe::i2c::I2cSignals;

/// The token of the event that updates the DMA requests.
const DMA_ACTIVITIES: u32 = MASTER_EVENT + 1;

/// The board's parameters of the device.
#[derive(Clone, Copy, Debug, State, Polled)]
pub struct Params {
    /// The clock of the interface.
    pub clock: KernelClock,
    /// Cycles from a write of a register to its effect on the bus.
    #[state(skip)]
    pub start_cycles: Cycles,
    /// The event interrupt, to two processors that have an interrupt controller each.
    pub event: [Option<IrqLine>; 2],
    /// The error interrupt, to both processors.
    pub error: [Option<IrqLine>; 2],
    /// Its clock enable bit in the RCC.
    pub gate: ClockGate,
}

/// The levels of the lines to other devices.
pub struct Levels {
    event: bool,
    error: bool,
    /// Requests: transmit, receive.
    dma: [bool; 2],
}

/// One of the interfaces: its state, and what it does its own way.
pub trait Version: State + Polled + Send + Sized + 'static {
    /// The registers.
    const MAP: &'static Map;
    /// The register of received data.
    const RECEIVED: u32;

    /// The levels of its lines.
    fn levels(i2c: &I2c<Self>) -> Levels;

    /// The times on the bus that the registers select.
    fn timing(i2c: &I2c<Self>) -> Timing;

    /// Takes the master's next step, in its cycle.
    fn take_step(i2c: &mut I2c<Self>, at: u64);

    /// [`Table::shown`].
    fn shown(i2c: &mut I2c<Self>, register: u32, held: u32, ctx: &mut Ctx) -> u32;

    /// [`Table::wrote`].
    fn wrote(i2c: &mut I2c<Self>, register: u32, old: u32, new: u32, ctx: &mut Ctx);

    /// [`Table::refused`].
    fn refused(_: &I2c<Self>, _: &mut Ctx) {}

    /// The note for bits of a register that have no function.
    fn unmodelled(_register: u32) -> &'static str {
        ""
    }

    /// Reset by the RCC: registers return to their reset values.
    fn reset_registers(i2c: &mut I2c<Self>, ctx: &mut Ctx);
}

/// The device.
#[derive(State, Polled, RegisterBank)]
#[port(Port::gated(self.params.gate))]
#[poll(first = Self::look)]
pub struct I2c<V: Version> {
    params: Params,
    registers: Registers,
    /// The pins that carry SCL and SDA.
    pins: PinFunctions,
    #[poll(skip = "chips change with the frames' bytes, which are counted, and in events")]
    chips: I2cChips,
    #[poll(skip = "what is recorded changes no answer")]
    signals: I2cSignals,
    master: Master,
    own: V,
    /// Requests: transmit, receive.
    dma: [DmaLine; 2],
    alarm: Alarm,
}

/// What differs between the interfaces' nodes.
struct Meanings {
    /// The meaning of `cyclescope,start-cycles`.
    start: &'static str,
    /// When it requests data to send, and when with received data.
    sends: &'static str,
    has_data: &'static str,
    /// The number of processors that get its interrupts.
    processors: usize,
}

/// Builds the device from the rest of its node.
fn from_rest<V: Version>(reader: &mut NodeReader, clock: ClockInput, own: V, meanings: &Meanings) -> Box<dyn Device> {
    let start_cycles = reader.timing_cycles("cyclescope,start-cycles", meanings.start);
    let mut interrupts = |index: usize, meaning: &str| {
        let first = reader.interrupt(index, meaning);
        let another = format!("{meaning}, to another processor");
        [first, (meanings.processors > 1).then(|| reader.interrupt(index + 2, &another)).flatten()]
    };
    let (event, error) = (interrupts(0, "its event interrupt"), interrupts(1, "its error interrupt"));
    let (clock, gate) = (KernelClock::new(clock), ClockGate::from_node(reader));
    let params = Params { clock, start_cycles, event, error, gate };
    let dma = [("tx", meanings.sends), ("rx", meanings.has_data)];
    let dma = dma.map(|(name, meaning)| DmaLine::from_node(reader, name, meaning));
    let chips = I2cChips::from_node(reader);
    let pins = PinFunctions::from_node(reader, I2C_SIGNALS);
    Box::new(I2c { pins, ..I2c::new(params, own, dma, chips) })
}

impl<V: Version> I2c<V> {
    /// The device after reset, with the chips on its bus.
    pub fn new(params: Params, own: V, dma: [DmaLine; 2], chips: I2cChips) -> I2c<V> {
        I2c {
            params,
            registers: Registers::new(V::MAP),
            pins: PinFunctions::default(),
            chips,
            signals: I2cSignals::default(),
            master: Master::default(),
            own,
            dma,
            alarm: Alarm::default(),
        }
    }

    /// The cycle in which the effect of a write or read at this time appears on the bus.
    fn arrival(&self, ctx: &Ctx) -> u64 {
        self.params.clock.next_edge(ctx.now) + self.params.start_cycles.0
    }

    /// The time of a cycle.
    fn time(&self, cycle: u64) -> Ps {
        self.params.clock.rate().ps_at_floor(Cycles(cycle))
    }

    /// Interrupts, requests, chips, and an event at the master's next step.
    fn drive(&mut self, ctx: &mut Ctx) {
        let Levels { event, error, dma } = V::levels(self);
        self.params.event.into_iter().for_each(|line| ctx.set_irq(line, event));
        self.params.error.into_iter().for_each(|line| ctx.set_irq(line, error));
        for (line, level) in self.dma.iter_mut().zip(dma) {
            line.set(level, DMA_ACTIVITIES, ctx);
        }
        self.chips.settle(ctx);
        match self.master.next().and_then(|next| self.params.clock.due(next)) {
            Some(due) => self.alarm.set(due, MASTER_EVENT, ctx),
            None => self.alarm.cancel(MASTER_EVENT, ctx),
        }
    }

    /// All changes without an access, also in the chips, happen in events.
    fn look(&mut self, poll: &mut Poll) -> bool {
        let Some(next) = self.master.next() else { return true };
        if let Some(due) = self.params.clock.due(next) {
            poll.until(due);
        }
        next > self.params.clock.edge(poll.now())
    }

    /// Renumbers cycles for another clock: cycle `before` becomes cycle `now`.
    fn renumber(&mut self, before: u64, now: u64) {
        let moved = |cycle: u64| if cycle > before { now + (cycle - before) } else { cycle.min(now) };
        let Master { at, fell, data_at, rise, free_since, .. } = &mut self.master;
        for cycle in [at, fell, data_at, rise].into_iter().chain(free_since) {
            *cycle = moved(*cycle);
        }
    }
}

impl<V: Version> Table for I2c<V> {
    /// Takes all steps up to the time of the call.
    fn settle(&mut self, ctx: &mut Ctx) {
        let cycle = self.params.clock.edge(ctx.now);
        while let Some(at) = self.master.next().filter(|at| *at <= cycle) {
            V::take_step(self, at);
        }
    }

    fn shown(&mut self, register: u32, held: u32, ctx: &mut Ctx) -> u32 {
        V::shown(self, register, held, ctx)
    }

    fn was_read(&mut self, _: u32, ctx: &mut Ctx) {
        self.drive(ctx);
    }

    fn wrote(&mut self, register: u32, old: u32, new: u32, ctx: &mut Ctx) {
        V::wrote(self, register, old, new, ctx);
    }

    fn refused(&mut self, _: u32, _: Refused, ctx: &mut Ctx) {
        V::refused(self, ctx);
    }

    fn unmodelled(&mut self, row: &'static Row, _: u32, ctx: &mut Ctx) {
        ctx.note(V::unmodelled(row.offset));
    }

    fn update(&mut self, ctx: &mut Ctx) {
        self.settle(ctx);
        self.drive(ctx);
    }
}

impl<V: Version> Device for I2c<V> {
    by_table!();

    fn pops(&self, _range: usize, offset: u32) -> bool {
        offset & !3 == V::RECEIVED
    }

    fn reset(&mut self, ctx: &mut Ctx) {
        self.params.gate.follow(ctx);
        self.pins.follow(ctx);
        self.chips.connect(self.pins.carries_all());
        let name = ctx.label().to_owned();
        self.signals = I2cSignals::new(&ctx.bus.waves, ctx.scope(), &name);
        self.chips.start_up(ctx);
    }

    fn event(&mut self, token: u32, ctx: &mut Ctx) {
        if token == DMA_ACTIVITIES {
            self.dma.iter_mut().for_each(|line| line.event(DMA_ACTIVITIES, ctx));
            return;
        }
        if token == MASTER_EVENT {
            self.alarm.rang(ctx.now);
        }
        self.settle(ctx);
        self.chips.event(token, ctx);
        self.drive(ctx);
    }

    /// The rest of a step continues at the new clock's rate.
    fn clocks_changed(&mut self, ctx: &mut Ctx) {
        self.settle(ctx);
        let (before, now) = self.params.clock.follow(ctx);
        self.renumber(before, now);
        self.alarm.cancel(MASTER_EVENT, ctx);
        self.drive(ctx);
        if self.params.gate.is_reset(ctx.bus) {
            V::reset_registers(self, ctx);
            self.drive(ctx);
        }
    }

    fn pins_changed(&mut self, port: PortId, changed: u32, levels: u32, ctx: &mut Ctx) {
        self.settle(ctx);
        self.chips.pins_changed(port, changed, levels, ctx);
        self.drive(ctx);
    }

    fn pins_switched(&mut self, ctx: &mut Ctx) {
        self.settle(ctx);
        self.pins.look(ctx);
        self.chips.connect(self.pins.carries_all());
    }

    fn counters(&self) -> Vec<(String, u64)> {
        let Master { frames, bytes, nacks, .. } = self.master;
        let own = totals([("frames", frames), ("bytes", bytes), ("nacks", nacks)]);
        own.into_iter().chain(self.chips.counters()).collect()
    }
}

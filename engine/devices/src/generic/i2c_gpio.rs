//! `i2c-gpio`: an I2C bus on pins of GPIO ports (Linux's binding of that name). It has no registers: firmware generates
//! clocks and bits by pulling the pins low and releasing them, and reads the chips' answers there.
//!
//! Modelled: two wires with pull-ups on the board, whether the port's own are on or off. Firmware drives a pin low, or
//! makes it an input; if it drives a line high while a chip pulls it low, low wins, and a note says so. A chip puts
//! bits on SDA at SCL's falling edge, without delay, and holds SCL low while it stretches the clock; firmware that does
//! not check SCL then fails as on a board.
//!
//! Not modelled: rise and fall times. The firmware decides the speed of the bus: Linux's `i2c-gpio,delay-us` has no
//! effect here.

use super::spi_gpio::pin;
use crate::prelude::*;
use crate::support::hosted_chip::name_wire;
use crate::support::i2c_chips::{I2cChips, MASTER_EVENT};
use engine::activity::Scope;
use engine::bus::device::PortId;
use engine::observe::i2c::{BUS_BUSY, FRAME, I2C};
use engine::pins::Pin;
use engine::wire::i2c_pins::{Edge, I2cPins};

#[cfg(test)]
mod tests;

/// The bus.
#[derive(State, Polled)]
#[poll(never = "no loop reads it: it has no address")]
pub struct I2cGpio {
    #[state(skip)]
    scl: Pin,
    #[state(skip)]
    sda: Pin,
    chips: I2cChips,
    pins: I2cPins,
    /// The byte that a chip transmits.
    given: Option<u8>,
    /// The lines that the chips pull low: SCL, until this time, and SDA.
    stretched_until: Option<Ps>,
    pulls_sda: bool,
    alarm: Alarm,
    frames: u64,
    bytes: u64,
    scope: Scope,
}

/// For the list of models.
pub const MODEL: Model = Model::device(Group::I2c, &["i2c-gpio"], 0, from_node).with_activities(I2C);

/// Builds the bus from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    reader.known(&["i2c-gpio,delay-us", "i2c-gpio,scl-open-drain", "i2c-gpio,sda-open-drain"]);
    reader.known(&["i2c-gpio,scl-output-only", "i2c-gpio,timeout-ms"]);
    let scl = pin(reader, "scl-gpios", "the pin of the clock");
    let sda = pin(reader, "sda-gpios", "the pin of the data");
    let chips = I2cChips::from_node(reader);
    Box::new(I2cGpio::new(scl, sda, chips))
}

impl I2cGpio {
    /// The bus, between two pins.
    pub fn new(scl: Pin, sda: Pin, chips: I2cChips) -> I2cGpio {
        let pins = I2cPins::new(true, true);
        let (given, stretched_until, pulls_sda, alarm, frames, bytes, scope) = Default::default();
        I2cGpio { scl, sda, chips, pins, given, stretched_until, pulls_sda, alarm, frames, bytes, scope }
    }

    /// Reads the lines and handles their edges, until they no longer change.
    fn look(&mut self, ctx: &mut Ctx) {
        while let Some(edge) = self.pins.set(ctx.bus.wires.level(self.scl), ctx.bus.wires.level(self.sda)) {
            self.take_edge(edge, ctx.now);
            self.drive(ctx);
        }
        self.chips.settle(ctx);
    }

    fn take_edge(&mut self, edge: Edge, now: Ps) {
        match edge {
            Edge::Start | Edge::Stop => {
                let begins = edge == Edge::Start;
                self.scope.level(&BUS_BUSY, begins, now);
                self.scope.level(&FRAME, begins, now);
                self.frames += u64::from(begins);
                if begins {
                    self.chips.start(now);
                } else {
                    self.chips.stop(now);
                }
                (self.given, self.pulls_sda) = (None, false);
            }
            Edge::Bit(bit) => self.pulls_sda = self.given.is_some_and(|byte| byte << bit & 0x80 == 0),
            // The master acknowledges.
            Edge::Byte(_) if self.given.is_some() => {
                self.scope.bits(&FRAME, 8, None, self.given.map(u32::from));
                self.pulls_sda = false;
            }
            Edge::Byte(byte) => {
                self.scope.bits(&FRAME, 8, Some(byte.into()), None);
                let answer = self.chips.send(byte, now);
                self.pulls_sda = answer.ack;
                self.stretch(answer.stretch, now);
            }
            Edge::Acknowledge(ack) => self.acknowledge(ack, now),
        }
    }

    fn acknowledge(&mut self, ack: bool, now: Ps) {
        self.bytes += 1;
        if self.given.take().is_some() {
            self.chips.acknowledge(ack, now);
        }
        if ack && self.chips.are_read() {
            let given = self.chips.receive(now);
            self.given = Some(given.byte);
            self.stretch(given.stretch, now);
        }
        self.pulls_sda = self.given.is_some_and(|byte| byte & 0x80 == 0);
    }

    fn stretch(&mut self, stretch: Ps, now: Ps) {
        if stretch > Ps::ZERO {
            self.stretched_until = Some(now.saturating_add(stretch));
        }
    }

    /// Pulls the lines low, or releases them.
    fn drive(&mut self, ctx: &mut Ctx) {
        self.stretched_until = self.stretched_until.filter(|until| *until > ctx.now);
        if let Some(until) = self.stretched_until {
            self.alarm.set(until, MASTER_EVENT, ctx);
        }
        let low = |pulled: bool| pulled.then_some(false);
        ctx.bus.drive_pin(self.scl, low(self.stretched_until.is_some()), ctx.now);
        ctx.bus.drive_pin(self.sda, low(self.pulls_sda), ctx.now);
    }
}

impl Device for I2cGpio {
    fn reset(&mut self, ctx: &mut Ctx) {
        self.scope = ctx.scope();
        let label = ctx.label().to_owned();
        for (pin, name) in [(self.scl, "scl"), (self.sda, "sda")] {
            ctx.bus.wires.pull_up(pin);
            name_wire(pin, &label, name, ctx);
            ctx.bus.wires.watch(pin, ctx.id, false);
        }
        self.chips.start_up(ctx);
        self.pins = I2cPins::new(ctx.bus.wires.level(self.scl), ctx.bus.wires.level(self.sda));
    }

    fn pins_changed(&mut self, port: PortId, changed: u32, levels: u32, ctx: &mut Ctx) {
        self.chips.pins_changed(port, changed, levels, ctx);
        self.look(ctx);
    }

    fn event(&mut self, token: u32, ctx: &mut Ctx) {
        if token == MASTER_EVENT {
            self.alarm.rang(ctx.now);
            self.drive(ctx);
            self.look(ctx);
        }
        self.chips.event(token, ctx);
    }

    fn counters(&self) -> Vec<(String, u64)> {
        let own = totals([("frames", self.frames), ("bytes", self.bytes)]);
        own.into_iter().chain(self.chips.counters()).collect()
    }
}

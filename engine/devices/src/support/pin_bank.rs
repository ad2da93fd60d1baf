//! The pins of a GPIO controller: what the controller does to the wires at them, what it samples, and which changes are
//! events. A controller says how its registers configure the pins ([`PinModes`]); the rest is the same in all.

use crate::prelude::*;
use engine::bus::device::PortId;
use engine::pins::Drive;

/// How pins are configured, a bit a pin.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State)]
pub struct PinModes {
    /// Pins that the controller drives.
    pub outputs: u32,
    /// Those of them that it does not drive high.
    pub open_drain: u32,
    /// Pins that are pulled up.
    pub pull_ups: u32,
    /// Pins that are pulled down.
    pub pull_downs: u32,
    /// Pins for which a rising edge is an event.
    pub rising: u32,
    /// Pins for which a falling edge is an event.
    pub falling: u32,
    /// Pins for which the high level is an event.
    pub high: u32,
    /// Pins for which the low level is an event.
    pub low: u32,
}

impl PinModes {
    /// What the controller does to the wires while its output register has these levels.
    pub const fn driven(&self, levels: u32) -> Driven {
        let drive = Drive { enables: self.outputs & !(self.open_drain & levels), levels };
        Driven { drive, pull_ups: self.pull_ups, pull_downs: self.pull_downs }
    }
}

/// What a controller does to the wires of a bank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Driven {
    drive: Drive,
    pull_ups: u32,
    pull_downs: u32,
}

/// A bank of pins.
#[derive(Clone, Copy, Debug, Default, State, Polled)]
#[poll(first = PinBank::is_still)]
pub struct PinBank {
    #[state(skip)]
    number: u32,
    /// True if a wire may change before the next access, without an event.
    moving: bool,
    /// The number of changes of the wires, or of what the controller does to them, that may affect an answer.
    pub changes: u64,
}

impl PinBank {
    /// Bank `number` of a controller.
    pub const fn new(number: u32) -> PinBank {
        PinBank { number, moving: false, changes: 0 }
    }

    const fn port(&self, ctx: &Ctx) -> PortId {
        PortId { device: ctx.id, bank: self.number }
    }

    fn is_still(&mut self, _: &mut Poll) -> bool {
        !self.moving
    }

    /// Drives and pulls the wires.
    pub fn drive(&self, Driven { drive, pull_ups, pull_downs }: Driven, ctx: &mut Ctx) {
        ctx.bus.wires.set_pull_downs(self.port(ctx), pull_downs);
        ctx.bus.drive_port(self.port(ctx), drive, pull_ups, ctx.now);
    }

    /// The levels of the wires, for a read.
    pub fn sample(&mut self, ctx: &mut Ctx) -> u32 {
        let levels = ctx.bus.sample_port(self.port(ctx), ctx.now);
        self.moving = ctx.bus.wires.is_moving(self.port(ctx));
        levels
    }

    /// Pins with an event: an edge since the last call, or the level now.
    pub fn events(&self, modes: &PinModes, ctx: &mut Ctx) -> u32 {
        let (rose, fell) = ctx.bus.wires.take_edges(self.port(ctx));
        let levels = ctx.bus.wires.levels(self.port(ctx));
        rose & modes.rising | fell & modes.falling | levels & modes.high | !levels & modes.low
    }
}

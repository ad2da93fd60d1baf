//! The reset controller and the shutdown controller of SAMA5 chips: a command register at offset 0, whose command ends
//! the run, and registers of settings. A write has an effect with its key only.

pub mod sama5d2_shdwc;
pub mod sama5d3_rstc;

use crate::prelude::*;

/// The command register.
const CR: u32 = 0x0;
/// The key, and its bits of a write.
const KEY: u32 = 0xa5;
const KEY_BITS: u32 = 0xff00_0000;

/// What differs between the controllers.
struct Kind {
    map: &'static Map,
    /// Carries out a command.
    command: fn(u32, &mut Ctx),
    /// The note for a write without its key.
    without_key: &'static str,
}

/// The device.
#[derive(State, Polled, RegisterBank)]
#[port(Port::APB)]
struct Controller {
    #[poll(phase)]
    clock: ClockInput,
    #[state(skip)]
    kind: &'static Kind,
    registers: Registers,
}

impl Controller {
    /// The device of a node, after reset.
    fn from_node(kind: &'static Kind, reader: &mut NodeReader) -> Box<dyn Device> {
        let clock = reader.clock_input(0, "clock of its bus");
        Box::new(Controller { clock, kind, registers: Registers::new(kind.map) })
    }
}

impl Table for Controller {
    fn wrote(&mut self, register: u32, _old: u32, new: u32, ctx: &mut Ctx) {
        if register == CR {
            (self.kind.command)(new, ctx);
        }
    }

    fn refused(&mut self, _register: u32, why: Refused, ctx: &mut Ctx) {
        if why == Refused::Key {
            ctx.note(self.kind.without_key);
        }
    }
}

impl Device for Controller {
    by_table!();

    fn clocks_changed(&mut self, ctx: &mut Ctx) {
        ctx.bus.clocks.update(&mut self.clock);
    }
}

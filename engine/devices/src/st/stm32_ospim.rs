//! `st,stm32-ospim`: the OCTOSPI I/O manager of an STM32L4+ (RM0432, "OCTOSPI I/O manager (OCTOSPIM)"), which assigns
//! the signals of OCTOSPI1 and OCTOSPI2 to pins.
//!
//! Modelled: its registers, and their reset by RCC_AHB2RSTR.OSPIMRST. Not modelled: their effect. A board says which
//! memory is on which controller; OCTOSPI1 stays at port 1 and OCTOSPI2 at port 2, as after reset, whatever is written.

use crate::prelude::*;

registers! {
    /// The register map.
    const MAP "OCTOSPIM_" {
        P1CR 0x04 rw reset 0x0301_0111 mask 0x0707_0333;
        P2CR 0x08 rw reset 0x0705_0333 mask 0x0707_0333;
    }
}

/// The device.
#[derive(Debug, State, Polled, RegisterBank)]
#[port(Port::gated_with_lanes(self.gate))]
pub struct Ospim {
    registers: Registers,
    gate: ClockGate,
}

/// For the list of models.
pub const MODEL: Model = Model::device(Group::System, &["st,stm32-ospim"], 1, from_node).naming(MAP.rows);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    reader.known(&["clocks"]);
    Box::new(Ospim::new(ClockGate::from_node(reader)))
}

impl Ospim {
    /// The device after reset.
    pub fn new(gate: ClockGate) -> Ospim {
        Ospim { registers: Registers::new(&MAP), gate }
    }
}

impl Table for Ospim {}

impl Device for Ospim {
    by_table!();

    fn reset(&mut self, ctx: &mut Ctx) {
        self.gate.follow(ctx);
    }

    fn clocks_changed(&mut self, ctx: &mut Ctx) {
        if self.gate.is_reset(ctx.bus) {
            self.registers.reset();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::Bench;
    use crate::registers::walk;

    #[test]
    fn the_device_keeps_its_table() {
        walk::device_keeps_its_table(MAP.rows, &[], &mut Bench::new(Ospim::new(ClockGate::default())));
    }
}

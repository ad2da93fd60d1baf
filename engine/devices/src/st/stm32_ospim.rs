//! `st,stm32-ospim`: the OCTOSPI I/O manager of an STM32L4+ (RM0432, "OCTOSPI I/O manager (OCTOSPIM)"), which assigns
//! the signals of OCTOSPI1 and OCTOSPI2 to pins.
//!
//! Modelled: its registers, and their reset by RCC_AHB2RSTR.OSPIMRST. Not modelled: their effect. A board says which
//! memory is on which controller; OCTOSPI1 stays at port 1 and OCTOSPI2 at port 2, as after reset, whatever is written.

use crate::model::{Group, Model};
use crate::support::apb;
use crate::support::registers::{AccessKind, Register};
use crate::support::stm32_clock_gate::ClockGate;
use engine::bus::device::{AccessSize, Ctx, Device, Reply, SlaveError};
use engine::dt::reader::NodeReader;
use engine::polling::{Poll, Polled};
use engine::state::State;

/// The register map.
pub const REGISTERS: &[Register] = &[
    Register::new("OCTOSPIM_P1CR", 0x04, AccessKind::Rw, 0x0301_0111, 0x0707_0333),
    Register::new("OCTOSPIM_P2CR", 0x08, AccessKind::Rw, 0x0705_0333, 0x0707_0333),
];

/// The device.
#[derive(Debug, State)]
pub struct Ospim {
    values: [u32; 2],
    #[state(skip)]
    gate: ClockGate,
    writes: u64,
}

/// For the list of models.
pub const MODEL: Model = Model::device(Group::System, &["st,stm32-ospim"], 1, from_node).naming(REGISTERS);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    reader.known(&["clocks"]);
    Box::new(Ospim::new(ClockGate::from_node(reader)))
}

impl Ospim {
    /// The device after reset.
    pub fn new(gate: ClockGate) -> Ospim {
        Ospim { values: [REGISTERS[0].reset, REGISTERS[1].reset], gate, writes: 0 }
    }
}

/// The index of a register among the values.
fn place(offset: u32) -> Option<usize> {
    REGISTERS.iter().position(|register| register.offset == offset & !3)
}

impl Device for Ospim {
    fn reset(&mut self, ctx: &mut Ctx) {
        self.gate.follow(ctx);
    }

    fn read(&mut self, _: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> Result<Reply, SlaveError> {
        let open = self.gate.is_open(ctx);
        let value = place(offset).filter(|_| open).map_or(0, |place| self.values[place]);
        Ok(apb::read(value, offset, size, ctx))
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
        let takes = self.gate.takes_writes(ctx);
        if let Some(place) = place(offset).filter(|_| takes) {
            let old = self.values[place];
            self.values[place] = REGISTERS[place].after_write(old, size.merged(old, offset, value));
        }
        Ok(Reply::written(ctx.now))
    }

    fn clocks_changed(&mut self, ctx: &mut Ctx) {
        if self.gate.is_reset(ctx.bus) {
            self.values = [REGISTERS[0].reset, REGISTERS[1].reset];
            self.writes += 1;
        }
    }
}

impl Polled for Ospim {
    fn polled(&mut self, poll: &mut Poll) -> bool {
        poll.state(self.writes);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::Bench;
    use crate::support::registers::walk;

    #[test]
    fn the_device_keeps_its_table() {
        walk::device_keeps_its_table(REGISTERS, &[], &mut Bench::new(Ospim::new(ClockGate::default())));
    }
}

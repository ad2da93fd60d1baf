//! `atmel,sama5d2-shdwc`: Shutdown Controller (SAMA5D2 datasheet DS60001476, section SHDWC).
//!
//! Modelled: all registers. The shutdown command switches the board's power off: the run ends, with exit status 0.
//!
//! Not modelled: wake-up.

use crate::model::{Group, Model};
use crate::support::apb;
use crate::support::registers::{AccessKind, Register};
use engine::bus::device::{AccessSize, Ctx, Device, Reply, SlaveError};
use engine::dt::reader::NodeReader;
use engine::dt::wiring::ClockInput;
use engine::polling::{Poll, Polled};
use engine::state::State;

/// The register map (Shutdown Controller User Interface).
pub const REGISTERS: &[Register] = &[
    Register::new("SHDW_CR", CR, AccessKind::Wo, 0, 0xff00_0000 | CR_SHDW),
    Register::new("SHDW_MR", MR, AccessKind::Rw, MR_RESET, MR_MASK),
    Register::new("SHDW_SR", 0x8, AccessKind::Ro, 0, 0x0002_0001),
];

const CR: u32 = 0x0;
const MR: u32 = 0x4;

const CR_SHDW: u32 = 1 << 0;
/// SHDW_CR.KEY.
const KEY: u32 = 0xa5;
/// WKMODE0, CPTWK0, RTCWKEN.
const MR_MASK: u32 = 3 | 0xf << 4 | 1 << 17;
const MR_RESET: u32 = 3;

/// The device.
#[derive(Debug, State)]
pub struct Shdwc {
    clock: ClockInput,
    mode: u32,
}

/// For the list of models.
pub const MODEL: Model = Model::device(Group::System, &["atmel,sama5d2-shdwc"], 1, from_node).naming(REGISTERS);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    reader.known(&["atmel,wakeup-rtc-timer"]);
    Box::new(Shdwc::new(reader.clock_input(0, "clock of its bus")))
}

impl Shdwc {
    /// The device after reset.
    pub fn new(clock: impl Into<ClockInput>) -> Shdwc {
        Shdwc { clock: clock.into(), mode: MR_RESET }
    }
}

impl Device for Shdwc {
    fn read(&mut self, _: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> Result<Reply, SlaveError> {
        let register = if offset & !3 == MR { self.mode } else { 0 };
        Ok(apb::read(register, offset, size, ctx))
    }

    fn write(
        &mut self,
        _: usize,
        offset: u32,
        size: AccessSize,
        value: u32,
        ctx: &mut Ctx,
    ) -> Result<Reply, SlaveError> {
        match apb::written(value, offset, size) {
            (CR, value) if value >> 24 != KEY => {
                ctx.note("SHDW_CR was written without its key (0xa5): that has no effect");
            }
            (CR, value) if value & CR_SHDW != 0 => ctx.exit(0),
            (MR, value) => self.mode = value & MR_MASK,
            _ => {}
        }
        Ok(Reply::written(ctx.now))
    }

    fn clocks_changed(&mut self, ctx: &mut Ctx) {
        ctx.bus.clocks.update(&mut self.clock);
    }
}

impl Polled for Shdwc {
    fn polled(&mut self, poll: &mut Poll) -> bool {
        poll.phase(self.clock.rate);
        poll.state(self.mode);
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::{Bench, read_plain_node};
    use crate::support::registers::walk;
    use engine::bus::device::ExitRequest;
    use engine::time::Ps;

    fn shdwc() -> Bench {
        let (bench, faults) = read_plain_node(from_node, &[]);
        assert!(faults.is_empty(), "{faults:?}");
        bench
    }

    #[test]
    fn the_device_keeps_its_table() {
        walk::device_keeps_its_table(REGISTERS, &[], &mut shdwc());
    }

    #[test]
    fn the_command_with_its_key_switches_the_power_off() {
        for (written, exits, notes) in [(0xa500_0001, true, 0), (0xa500_0000, false, 0), (0x5a00_0001, false, 1)] {
            let mut bench = shdwc();
            bench.write(Ps(70), CR, written).unwrap();
            assert_eq!(bench.bus.exit, exits.then_some(ExitRequest { code: 0, at: Ps(70) }), "{written:#x}");
            assert_eq!(bench.bus.notes().len(), notes);
        }
    }
}

//! `atmel,sama5d3-rstc`: Reset Controller (SAMA5D2 datasheet DS60001476, section RSTC).
//!
//! Modelled: all registers. A processor reset (RSTC_CR.PROCRST) ends the run, with exit status 1 and a note: on a board
//! it restarts the firmware, which is of no use in a run. A reset of the peripherals alone does not reset them.
//!
//! Not modelled: the NRST pin, which stays high.

use crate::model::{Group, Model};
use crate::support::apb;
use crate::support::registers::{AccessKind, Register};
use engine::bus::device::{AccessSize, Ctx, Device, Reply, SlaveError};
use engine::dt::reader::NodeReader;
use engine::dt::wiring::ClockInput;
use engine::polling::{Poll, Polled};
use engine::state::State;

/// The register map (Reset Controller User Interface).
pub const REGISTERS: &[Register] = &[
    Register::new("RSTC_CR", CR, AccessKind::Wo, 0, 0xff00_0000 | CR_PROCRST | CR_PERRST),
    Register::new("RSTC_SR", SR, AccessKind::Ro, SR_NRSTL, 0x0003_0701),
    Register::new("RSTC_MR", MR, AccessKind::Rw, MR_URSTEN, MR_MASK),
];

const CR: u32 = 0x0;
const SR: u32 = 0x4;
const MR: u32 = 0x8;

const CR_PROCRST: u32 = 1 << 0;
const CR_PERRST: u32 = 1 << 2;
/// After a general reset: RSTTYP is 0.
const SR_NRSTL: u32 = 1 << 16;
const MR_URSTEN: u32 = 1 << 0;
const MR_MASK: u32 = MR_URSTEN | 1 << 4;
/// Bits 31 to 24 of writes that have an effect.
const KEY: u32 = 0xa5;

/// The exit status of a run that a reset ends.
const EXIT_STATUS: i32 = 1;

/// The device.
#[derive(Debug, State)]
pub struct Rstc {
    clock: ClockInput,
    mode: u32,
}

/// For the list of models.
pub const MODEL: Model = Model::device(Group::System, &["atmel,sama5d3-rstc"], 1, from_node).naming(REGISTERS);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    Box::new(Rstc::new(reader.clock_input(0, "clock of its bus")))
}

impl Rstc {
    /// The device after reset.
    pub fn new(clock: impl Into<ClockInput>) -> Rstc {
        Rstc { clock: clock.into(), mode: MR_URSTEN }
    }

    fn command(&mut self, value: u32, ctx: &mut Ctx) {
        if value & CR_PROCRST != 0 {
            ctx.note("the firmware resets the processor (RSTC_CR.PROCRST): the run ends");
            ctx.exit_by_reset(EXIT_STATUS);
        } else if value & CR_PERRST != 0 {
            ctx.note("a reset of the peripherals alone (RSTC_CR.PERRST) is not modelled: they keep their state");
        }
    }
}

impl Device for Rstc {
    fn read(&mut self, _: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> Result<Reply, SlaveError> {
        let register = match offset & !3 {
            SR => SR_NRSTL,
            MR => self.mode,
            _ => 0,
        };
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
            (CR | MR, value) if value >> 24 != KEY => {
                ctx.note("a register of the reset controller was written without its key (0xa5): that has no effect");
            }
            (CR, value) => self.command(value, ctx),
            (MR, value) => self.mode = value & MR_MASK,
            _ => {}
        }
        Ok(Reply::written(ctx.now))
    }

    fn clocks_changed(&mut self, ctx: &mut Ctx) {
        ctx.bus.clocks.update(&mut self.clock);
    }
}

impl Polled for Rstc {
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

    fn rstc() -> Bench {
        let (bench, faults) = read_plain_node(from_node, &[]);
        assert!(faults.is_empty(), "{faults:?}");
        bench
    }

    #[test]
    fn the_device_keeps_its_table() {
        walk::device_keeps_its_table(REGISTERS, &["RSTC_MR"], &mut rstc());
        let mut bench = rstc();
        bench.write(Ps(0), MR, 0x10).unwrap();
        assert_eq!((bench.value(Ps(0), MR), bench.bus.notes().len()), (MR_URSTEN, 1));
        bench.write(Ps(0), MR, KEY << 24 | 0x10).unwrap();
        assert_eq!(bench.value(Ps(0), MR), 0x10);
    }

    #[test]
    fn a_processor_reset_ends_the_run() {
        for (written, exits) in [(0xa500_0001, true), (0xa500_0005, true), (0xa500_0004, false), (0x0000_0001, false)] {
            let mut bench = rstc();
            bench.write(Ps(70), CR, written).unwrap();
            assert_eq!(bench.bus.exit, exits.then_some(ExitRequest { code: 1, at: Ps(70) }), "{written:#x}");
            assert_eq!(bench.bus.exit_is_reset, exits);
            assert_eq!(bench.bus.notes().len(), 1);
        }
    }
}

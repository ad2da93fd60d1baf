//! `atmel,sama5d2-sfr`: Special Function Registers (SAMA5D2 datasheet DS60001476, section SFR).
//!
//! Modelled: the registers, the key of SFR_AICREDIR, and the output of that register's NSAIC bit: an input of the
//! interrupt controller (see `atmel,sama5d2-aic`). SFR_L2CC_HRAMC, which makes the second-level cache's memory a cache,
//! keeps its value and has no effect.

use crate::model::{Group, Model};
use crate::support::apb;
use crate::support::register_file::{Bank, RegisterFile};
use crate::support::registers::AccessKind;
use engine::bus::device::{AccessSize, Ctx, Device, IrqLine, Reply, SlaveError};
use engine::dt::reader::NodeReader;
use engine::dt::wiring::ClockInput;
use engine::polling::{Poll, Polled};
use engine::state::State;

/// The register map (SFR User Interface). The serial numbers are invented.
const BANKS: &[Bank] = &[
    Bank::new("SFR_DDRCFG", 0x04, 1, AccessKind::Rw, 0x0000_0001, 0x0003_0001),
    Bank::new("SFR_OHCIICR", 0x10, 1, AccessKind::Rw, 0, 0x0880_0737),
    Bank::new("SFR_OHCIISR", 0x14, 1, AccessKind::Ro, 0, 0x7),
    Bank::new("SFR_SECURE", 0x28, 1, AccessKind::Rw, 0, 0x101),
    Bank::new("SFR_UTMICKTRIM", 0x30, 1, AccessKind::Rw, 0x0001_0000, 0x000f_0003),
    Bank::new("SFR_UTMIHSTRIM", 0x34, 1, AccessKind::Rw, 0x0004_4433, 0x0007_7777),
    Bank::new("SFR_UTMIFSTRIM", 0x38, 1, AccessKind::Rw, 0x0043_0211, 0x0077_0377),
    Bank::new("SFR_UTMISWAP", 0x3c, 1, AccessKind::Rw, 0, 0x7),
    Bank::new("SFR_EBICFG", 0x40, 1, AccessKind::Rw, 0, 0x1f1f),
    Bank::new("SFR_CAN", 0x48, 1, AccessKind::Rw, 0x0020_0020, u32::MAX),
    Bank::new("SFR_SN0", 0x4c, 1, AccessKind::Ro, 0x0000_5d27, u32::MAX),
    Bank::new("SFR_SN1", 0x50, 1, AccessKind::Ro, 0x0100_5d27, u32::MAX),
    Bank::new("SFR_AICREDIR", AICREDIR, 1, AccessKind::Rw, 0, AICREDIR_NSAIC),
    Bank::new("SFR_L2CC_HRAMC", 0x58, 1, AccessKind::Rw, 0, 0x1),
    Bank::new("SFR_I2SCLKSEL", 0x90, 1, AccessKind::Rw, 0, 0x3),
    Bank::new("SFR_QSPICLK", 0x94, 1, AccessKind::Rw, 0x1, 0x1),
];

const SN1: u32 = 0x50;
const AICREDIR: u32 = 0x54;
/// All interrupts go to the non-secure AIC.
const AICREDIR_NSAIC: u32 = 1 << 0;
/// The other bits of a write have this value, exclusive-or SFR_SN1.
const AICREDIR_KEY: u32 = 0xb6d8_1c4d;

/// The device.
#[derive(Debug, State)]
pub struct Sfr {
    registers: RegisterFile,
    #[state(skip)]
    redirection: Option<IrqLine>,
}

/// For the list of models.
pub const MODEL: Model = Model::device(Group::System, &["atmel,sama5d2-sfr"], 1, from_node);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    let clock = reader.clock_input(0, "clock of its bus");
    Box::new(Sfr::new(clock, reader.interrupt(0, "its interrupt")))
}

impl Sfr {
    /// The device after reset; `redirection` is the destination of NSAIC.
    pub fn new(clock: impl Into<ClockInput>, redirection: Option<IrqLine>) -> Sfr {
        Sfr { registers: RegisterFile::new(clock, BANKS, None), redirection }
    }

    fn redirect(&mut self, value: u32, ctx: &mut Ctx) {
        let key = AICREDIR_KEY ^ self.registers.value(SN1);
        if (value ^ key) & !AICREDIR_NSAIC != 0 {
            ctx.note("SFR_AICREDIR was written without its key (0xb6d81c4d exclusive-or SFR_SN1): that has no effect");
            return;
        }
        self.registers.set(AICREDIR, value);
        ctx.set_irq(self.redirection, value & AICREDIR_NSAIC != 0);
    }
}

impl Device for Sfr {
    fn read(&mut self, range: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> Result<Reply, SlaveError> {
        self.registers.read(range, offset, size, ctx)
    }

    fn write(
        &mut self,
        range: usize,
        offset: u32,
        size: AccessSize,
        value: u32,
        ctx: &mut Ctx,
    ) -> Result<Reply, SlaveError> {
        if offset & !3 != AICREDIR {
            return self.registers.write(range, offset, size, value, ctx);
        }
        let (_, value) = apb::written(value, offset, size);
        self.redirect(value, ctx);
        Ok(Reply::written(ctx.now))
    }

    fn clocks_changed(&mut self, ctx: &mut Ctx) {
        self.registers.clocks_changed(ctx);
    }
}

impl Polled for Sfr {
    fn polled(&mut self, poll: &mut Poll) -> bool {
        self.registers.polled(poll)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::{Bench, CPU_INTC, read_plain_node};
    use crate::support::register_file::keeps_its_banks;
    use engine::time::Ps;

    fn sfr() -> Bench {
        let (bench, faults) = read_plain_node(from_node, &[("interrupts-extended", &[CPU_INTC, 9])]);
        assert!(faults.is_empty(), "{faults:?}");
        bench
    }

    #[test]
    fn the_device_keeps_its_banks() {
        keeps_its_banks(&mut sfr(), BANKS, &["SFR_AICREDIR"]);
    }

    #[test]
    fn redirection_takes_its_key() {
        let mut bench = sfr();
        let serial = bench.value(Ps(0), SN1);
        bench.write(Ps(0), AICREDIR, AICREDIR_NSAIC).unwrap();
        assert_eq!((bench.value(Ps(0), AICREDIR), bench.pending(), bench.bus.notes().len()), (0, 0, 1));
        bench.write(Ps(0), AICREDIR, AICREDIR_KEY ^ serial | AICREDIR_NSAIC).unwrap();
        assert_eq!((bench.value(Ps(0), AICREDIR), bench.pending()), (AICREDIR_NSAIC, 1 << 9));
        bench.write(Ps(0), AICREDIR, (AICREDIR_KEY ^ serial) & !AICREDIR_NSAIC).unwrap();
        assert_eq!((bench.value(Ps(0), AICREDIR), bench.pending()), (0, 0));
    }
}

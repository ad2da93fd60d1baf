//! `atmel,sama5d2-sfr`: Special Function Registers (SAMA5D2 datasheet DS60001476, section SFR).
//!
//! Modelled: the registers, the key of SFR_AICREDIR, and the output of that register's NSAIC bit: an input of the
//! interrupt controller (see `atmel,sama5d2-aic`). SFR_L2CC_HRAMC, which makes the second-level cache's memory a cache,
//! keeps its value and has no effect.

use crate::prelude::*;
use crate::support::register_file::{Effects, RegisterFile};

registers! {
    /// The register map (SFR User Interface). The serial numbers are invented.
    const MAP "SFR_" {
        DDRCFG 0x04 rw reset 0x0000_0001 mask 0x0003_0001;
        OHCIICR 0x10 rw mask 0x0880_0737;
        OHCIISR 0x14 ro mask 0x7;
        SECURE 0x28 rw mask 0x101;
        UTMICKTRIM 0x30 rw reset 0x0001_0000 mask 0x000f_0003;
        UTMIHSTRIM 0x34 rw reset 0x0004_4433 mask 0x0007_7777;
        UTMIFSTRIM 0x38 rw reset 0x0043_0211 mask 0x0077_0377;
        UTMISWAP 0x3c rw mask 0x7;
        EBICFG 0x40 rw mask 0x1f1f;
        CAN 0x48 rw reset 0x0020_0020;
        SN0 0x4c ro reset 0x0000_5d27;
        SN1 0x50 ro reset SERIAL;
        /// NSAIC: all interrupts go to the non-secure AIC.
        AICREDIR 0x54 rw keyed KEY in !AICREDIR_NSAIC { NSAIC 0 };
        L2CC_HRAMC 0x58 rw mask 0x1;
        I2SCLKSEL 0x90 rw mask 0x3;
        QSPICLK 0x94 rw reset 0x1 mask 0x1;
    }
}

/// SFR_SN1.
const SERIAL: u32 = 0x0100_5d27;
/// The bits of a write of SFR_AICREDIR above NSAIC.
const KEY: u32 = (0xb6d8_1c4d ^ SERIAL) >> 1;

/// For the list of models.
pub const MODEL: Model = Model::device(Group::System, &["atmel,sama5d2-sfr"], 1, from_node).naming(MAP.rows);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    let clock = reader.clock_input(0, "clock of its bus");
    let note = "SFR_AICREDIR was written without its key (0xb6d81c4d exclusive-or SFR_SN1): that has no effect";
    let output = reader.interrupt(0, "its interrupt");
    let effects = Effects { wrote: Some(redirect), output, without_key: Some(note) };
    Box::new(RegisterFile::new(clock, &MAP).with(effects))
}

/// A write of SFR_AICREDIR: `redirection` is the destination of NSAIC.
fn redirect(register: u32, value: u32, redirection: Option<IrqLine>, ctx: &mut Ctx) {
    if register == AICREDIR {
        ctx.set_irq(redirection, value & AICREDIR_NSAIC != 0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::{Bench, CPU_INTC, read_plain_node};
    use crate::registers::walk;
    use engine::time::Ps;

    fn sfr() -> Bench {
        let (bench, faults) = read_plain_node(from_node, &[("interrupts-extended", &[CPU_INTC, 9])]);
        assert!(faults.is_empty(), "{faults:?}");
        bench
    }

    #[test]
    fn the_device_keeps_its_banks() {
        walk::device_keeps_its_table(MAP.rows, &["SFR_AICREDIR"], &mut sfr());
    }

    #[test]
    fn redirection_takes_its_key() {
        const KEYED: u32 = 0xb6d8_1c4d;
        let mut bench = sfr();
        let serial = bench.value(Ps(0), SN1);
        bench.write(Ps(0), AICREDIR, AICREDIR_NSAIC).unwrap();
        assert_eq!((bench.value(Ps(0), AICREDIR), bench.pending(), bench.bus.notes().len()), (0, 0, 1));
        bench.write(Ps(0), AICREDIR, KEYED ^ serial | AICREDIR_NSAIC).unwrap();
        assert_eq!((bench.value(Ps(0), AICREDIR), bench.pending()), (AICREDIR_NSAIC, 1 << 9));
        bench.write(Ps(0), AICREDIR, (KEYED ^ serial) & !AICREDIR_NSAIC).unwrap();
        assert_eq!((bench.value(Ps(0), AICREDIR), bench.pending()), (0, 0));
    }
}

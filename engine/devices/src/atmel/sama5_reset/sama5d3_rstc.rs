//! `atmel,sama5d3-rstc`: Reset Controller (SAMA5D2 datasheet DS60001476, section RSTC).
//!
//! Modelled: all registers. A processor reset (RSTC_CR.PROCRST) ends the run, with exit status 1 and a note: on a board
//! it restarts the firmware, which is of no use in a run. A reset of the peripherals alone does not reset them.
//!
//! Not modelled: the NRST pin, which stays high.

use super::{KEY, KEY_BITS, controller};
use crate::prelude::*;

registers! {
    /// The register map (Reset Controller User Interface). After a general reset: RSTTYP is 0.
    const MAP "RSTC_" {
        CR 0x0 wo keyed KEY in KEY_BITS { PROCRST 0, PERRST 2, KEY 24..32 };
        SR 0x4 ro reset SR_NRSTL { URSTS 0, RSTTYP 8..11, NRSTL 16, SRCMP 17 };
        MR 0x8 rw keyed KEY in KEY_BITS reset MR_URSTEN { URSTEN 0, URSTIEN 4 };
    }
}

/// The exit status of a run that a reset ends.
const EXIT_STATUS: i32 = 1;

/// For the list of models.
pub const MODEL: Model = Model::device(Group::System, &["atmel,sama5d3-rstc"], 1, from_node).naming(MAP.rows);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    let note = "a register of the reset controller was written without its key (0xa5): that has no effect";
    controller(reader, &MAP, command, note)
}

fn command(register: u32, value: u32, _: Option<IrqLine>, ctx: &mut Ctx) {
    if register != CR {
        return;
    }
    if value & CR_PROCRST != 0 {
        ctx.note("the firmware resets the processor (RSTC_CR.PROCRST): the run ends");
        ctx.exit_by_reset(EXIT_STATUS);
    } else if value & CR_PERRST != 0 {
        ctx.note("a reset of the peripherals alone (RSTC_CR.PERRST) is not modelled: they keep their state");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::{Bench, read_plain_node};
    use crate::registers::walk;
    use engine::bus::device::ExitRequest;
    use engine::time::Ps;

    fn rstc() -> Bench {
        let (bench, faults) = read_plain_node(from_node, &[]);
        assert!(faults.is_empty(), "{faults:?}");
        bench
    }

    #[test]
    fn the_device_keeps_its_table() {
        walk::device_keeps_its_table(MAP.rows, &["RSTC_MR"], &mut rstc());
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

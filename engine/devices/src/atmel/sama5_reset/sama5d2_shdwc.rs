//! `atmel,sama5d2-shdwc`: Shutdown Controller (SAMA5D2 datasheet DS60001476, section SHDWC).
//!
//! Modelled: all registers. The shutdown command switches the board's power off: the run ends, with exit status 0.
//!
//! Not modelled: wake-up.

use super::{KEY, KEY_BITS, controller};
use crate::prelude::*;

registers! {
    /// The register map (Shutdown Controller User Interface).
    const MAP "SHDW_" {
        CR 0x0 wo keyed KEY in KEY_BITS { SHDW 0, KEY 24..32 };
        MR 0x4 rw reset MR_WKMODE0 { WKMODE0 0..2, CPTWK0 4..8, RTCWKEN 17 };
        SR 0x8 ro mask 0x0002_0001;
    }
}

/// For the list of models.
pub const MODEL: Model = Model::device(Group::System, &["atmel,sama5d2-shdwc"], 1, from_node).naming(MAP.rows);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    reader.known(&["atmel,wakeup-rtc-timer"]);
    controller(reader, &MAP, command, "SHDW_CR was written without its key (0xa5): that has no effect")
}

fn command(register: u32, value: u32, _: Option<IrqLine>, ctx: &mut Ctx) {
    if register == CR && value & CR_SHDW != 0 {
        ctx.exit(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::{Bench, read_plain_node};
    use crate::registers::walk;
    use engine::bus::device::ExitRequest;
    use engine::time::Ps;

    fn shdwc() -> Bench {
        let (bench, faults) = read_plain_node(from_node, &[]);
        assert!(faults.is_empty(), "{faults:?}");
        bench
    }

    #[test]
    fn the_device_keeps_its_table() {
        walk::device_keeps_its_table(MAP.rows, &[], &mut shdwc());
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

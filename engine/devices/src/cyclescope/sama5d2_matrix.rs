//! `cyclescope,sama5d2-matrix`: the registers of SAMA5D2's two AHB matrices (datasheet DS60001476, section MATRIX).
//!
//! Modelled: the registers with their write protection. Their settings, arbitration and TrustZone's areas, have no
//! effect: each memory serves one master at a time, and all accesses are allowed.

use crate::model::{Group, Model};
use crate::support::register_file::{Bank, ProtectionAt, RegisterFile};
use crate::support::registers::AccessKind;
use engine::bus::device::Device;
use engine::dt::reader::NodeReader;

/// The register map (Bus Matrix User Interface).
const BANKS: &[Bank] = &[
    Bank::new("MATRIX_MCFG", 0x000, 12, AccessKind::Rw, 0, 0x7),
    Bank::new("MATRIX_SCFG", 0x040, 15, AccessKind::Rw, 0x1ff, 0x003f_01ff),
    Bank::new("MATRIX_PRAS, MATRIX_PRBS", 0x080, 30, AccessKind::Rw, 0, 0x3333_3333),
    Bank::new("MATRIX_MEIMR", 0x158, 1, AccessKind::Ro, 0, 0xfff),
    Bank::new("MATRIX_MESR", 0x15c, 1, AccessKind::Ro, 0, 0xfff),
    Bank::new("MATRIX_MEAR", 0x160, 12, AccessKind::Ro, 0, u32::MAX),
    Bank::new("MATRIX_SSR", 0x200, 15, AccessKind::Rw, 0, 0x00ff_ffff),
    Bank::new("MATRIX_SASSR", 0x240, 15, AccessKind::Rw, 0, u32::MAX),
    Bank::new("MATRIX_SRTSR", 0x284, 14, AccessKind::Rw, 0, u32::MAX),
    Bank::new("MATRIX_SPSELR", 0x2c0, 3, AccessKind::Rw, 0, u32::MAX),
];

/// MATRIX_WPMR, whose key is "MAT".
const PROTECTION: ProtectionAt = ProtectionAt { mode: 0x1e4, key: 0x4d_4154 };

/// For the list of models.
pub const MODEL: Model = Model::device(Group::System, &["cyclescope,sama5d2-matrix"], 1, from_node);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    Box::new(RegisterFile::new(reader.clock_input(0, "clock of its bus"), BANKS, Some(PROTECTION)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::read_plain_node;
    use crate::support::register_file::keeps_its_banks;
    use engine::time::Ps;

    #[test]
    fn the_device_keeps_its_banks_after_its_protection() {
        let (mut bench, faults) = read_plain_node(from_node, &[]);
        assert!(faults.is_empty(), "{faults:?}");
        keeps_its_banks(&mut bench, BANKS, &[]);
        bench.write(Ps(0), 0x1e4, 0x4d41_5401).unwrap();
        bench.write(Ps(0), 0x2c8, 7).unwrap();
        assert_eq!(bench.value(Ps(0), 0x1e8), 0x2c8 << 8 | 1);
    }
}

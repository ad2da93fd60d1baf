//! `atmel,sama5d3-ddramc`: the registers of the DDR-SDRAM controller MPDDRC (SAMA5D2 datasheet DS60001476, section
//! MPDDRC).
//!
//! Modelled: the registers, with their write protection. Commands and timings that firmware writes are kept and have no
//! effect: the memory answers from reset on, with the timing of its own node.

use crate::model::{Group, Model};
use crate::support::register_file::{Bank, ProtectionAt, RegisterFile};
use crate::support::registers::AccessKind;
use engine::bus::device::Device;
use engine::dt::reader::NodeReader;

/// The register map (MPDDRC User Interface); the status registers of monitors and DLLs read 0.
const BANKS: &[Bank] = &[
    Bank::new("MPDDRC_MR", 0x000, 1, AccessKind::Rw, 0, 0xff07),
    Bank::new("MPDDRC_RTR", 0x004, 1, AccessKind::Rw, 0, 0x0073_0fff),
    Bank::new("MPDDRC_CR", 0x008, 1, AccessKind::Rw, 0x7024, 0x00fb_7fff),
    Bank::new("MPDDRC_TPR0", 0x00c, 1, AccessKind::Rw, 0x2022_7225, u32::MAX),
    Bank::new("MPDDRC_TPR1", 0x010, 1, AccessKind::Rw, 0x03c8_0808, 0x0fff_ff7f),
    Bank::new("MPDDRC_TPR2", 0x014, 1, AccessKind::Rw, 0x0004_2062, 0x000f_ffff),
    Bank::new("MPDDRC_LPR", 0x01c, 1, AccessKind::Rw, 0x0001_0000, 0x0131_377f),
    Bank::new("MPDDRC_MD", 0x020, 1, AccessKind::Rw, 0x13, 0x0017),
    Bank::new("MPDDRC_LPDDR23_LPR", 0x028, 1, AccessKind::Rw, 0, u32::MAX),
    Bank::new("MPDDRC_LPDDR23_CAL_MR4", 0x02c, 1, AccessKind::Rw, 0, u32::MAX),
    Bank::new("MPDDRC_LPDDR23_TIM_CAL", 0x030, 1, AccessKind::Rw, 0x6, 0x00ff_ffff),
    Bank::new("MPDDRC_IO_CALIBR", 0x034, 1, AccessKind::Rw, 0x0087_0000, 0x00ff_7f17),
    Bank::new("MPDDRC_OCMS", 0x038, 1, AccessKind::Rw, 0, 0x1),
    Bank::new("MPDDRC_CONF_ARBITER", 0x044, 1, AccessKind::Rw, 0, u32::MAX),
    Bank::new("MPDDRC_TIMEOUT", 0x048, 1, AccessKind::Rw, 0, u32::MAX),
    Bank::new("MPDDRC_REQ_PORT_0123", 0x04c, 1, AccessKind::Rw, 0, u32::MAX),
    Bank::new("MPDDRC_REQ_PORT_4567", 0x050, 1, AccessKind::Rw, 0, u32::MAX),
    Bank::new("MPDDRC_BDW_PORT_0123", 0x054, 1, AccessKind::Ro, 0, u32::MAX),
    Bank::new("MPDDRC_BDW_PORT_4567", 0x058, 1, AccessKind::Ro, 0, u32::MAX),
    Bank::new("MPDDRC_RD_DATA_PATH", 0x05c, 1, AccessKind::Rw, 0, 0x3),
    Bank::new("MPDDRC_MCFGR", 0x060, 1, AccessKind::Rw, 0, u32::MAX),
    Bank::new("MPDDRC_MADDR", 0x064, 8, AccessKind::Rw, 0, u32::MAX),
    Bank::new("MPDDRC_MINFO", 0x084, 8, AccessKind::Ro, 0, u32::MAX),
    Bank::new("MPDDRC_DLL", 0x100, 6, AccessKind::Rw, 0, u32::MAX),
];

/// MPDDRC_WPMR, whose key is "DDR".
const PROTECTION: ProtectionAt = ProtectionAt { mode: 0xe4, key: 0x44_4452 };

/// For the list of models.
pub const MODEL: Model = Model::device(Group::System, &["atmel,sama5d3-ddramc"], 1, from_node);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    let clock = reader.clock_input(0, "clock of its bus");
    reader.known(&["clock-names"]);
    Box::new(RegisterFile::new(clock, BANKS, Some(PROTECTION)))
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
        bench.write(Ps(0), 0xe4, 0x4444_5201).unwrap();
        bench.write(Ps(0), 0x00c, 7).unwrap();
        assert_eq!(bench.value(Ps(0), 0xe8), 0x00c << 8 | 1);
    }
}

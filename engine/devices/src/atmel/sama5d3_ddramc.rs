//! `atmel,sama5d3-ddramc`: the registers of the DDR-SDRAM controller MPDDRC (SAMA5D2 datasheet DS60001476, section
//! MPDDRC).
//!
//! Modelled: the registers, with their write protection. Commands and timings that firmware writes are kept and have no
//! effect: the memory answers from reset on, with the timing of its own node.

use crate::prelude::*;
use crate::support::register_file::RegisterFile;

registers! {
    /// The register map (MPDDRC User Interface); the status registers of monitors and DLLs read 0.
    const MAP "MPDDRC_" {
        MR 0x000 rw locked_by WPMR_WPEN in WPMR mask 0xff07;
        RTR 0x004 rw locked_by WPMR_WPEN in WPMR mask 0x0073_0fff;
        CR 0x008 rw locked_by WPMR_WPEN in WPMR reset 0x7024 mask 0x00fb_7fff;
        TPR0 0x00c rw locked_by WPMR_WPEN in WPMR reset 0x2022_7225;
        TPR1 0x010 rw locked_by WPMR_WPEN in WPMR reset 0x03c8_0808 mask 0x0fff_ff7f;
        TPR2 0x014 rw locked_by WPMR_WPEN in WPMR reset 0x0004_2062 mask 0x000f_ffff;
        LPR 0x01c rw locked_by WPMR_WPEN in WPMR reset 0x0001_0000 mask 0x0131_377f;
        MD 0x020 rw locked_by WPMR_WPEN in WPMR reset 0x13 mask 0x0017;
        LPDDR23_LPR 0x028 rw locked_by WPMR_WPEN in WPMR;
        LPDDR23_CAL_MR4 0x02c rw locked_by WPMR_WPEN in WPMR;
        LPDDR23_TIM_CAL 0x030 rw locked_by WPMR_WPEN in WPMR reset 0x6 mask 0x00ff_ffff;
        IO_CALIBR 0x034 rw locked_by WPMR_WPEN in WPMR reset 0x0087_0000 mask 0x00ff_7f17;
        OCMS 0x038 rw locked_by WPMR_WPEN in WPMR mask 0x1;
        CONF_ARBITER 0x044 rw locked_by WPMR_WPEN in WPMR;
        TIMEOUT 0x048 rw locked_by WPMR_WPEN in WPMR;
        REQ_PORT_0123 0x04c rw locked_by WPMR_WPEN in WPMR;
        REQ_PORT_4567 0x050 rw locked_by WPMR_WPEN in WPMR;
        BDW_PORT_0123 0x054 ro;
        BDW_PORT_4567 0x058 ro;
        RD_DATA_PATH 0x05c rw locked_by WPMR_WPEN in WPMR mask 0x3;
        MCFGR 0x060 rw locked_by WPMR_WPEN in WPMR;
        MADDR [0..8; 4] 0x064 rw locked_by WPMR_WPEN in WPMR;
        MINFO [0..8; 4] 0x084 ro;
        DLL [0..6; 4] 0x100 rw locked_by WPMR_WPEN in WPMR;
        WPMR 0xe4 rw keyed 0x44_4452 in 0xffff_ff00 { WPEN 0 };
        WPSR 0xe8 ro { WPVS 0 rc, WPVSRC 8..24 rc };
    }
}

/// For the list of models.
pub const MODEL: Model = Model::device(Group::System, &["atmel,sama5d3-ddramc"], 1, from_node).naming(MAP.rows);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    let clock = reader.clock_input(0, "clock of its bus");
    reader.known(&["clock-names"]);
    Box::new(RegisterFile::new(clock, &MAP))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::read_plain_node;
    use crate::registers::walk;
    use engine::time::Ps;

    #[test]
    fn the_device_keeps_its_banks_after_its_protection() {
        let (mut bench, faults) = read_plain_node(from_node, &[]);
        assert!(faults.is_empty(), "{faults:?}");
        walk::device_keeps_its_table(MAP.rows, &["MPDDRC_WPMR"], &mut bench);
        bench.write(Ps(0), 0xe4, 0x4444_5201).unwrap();
        bench.write(Ps(0), 0x00c, 7).unwrap();
        assert_eq!(bench.value(Ps(0), 0xe8), 0x00c << 8 | 1);
    }
}

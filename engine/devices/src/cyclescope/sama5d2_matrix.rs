//! `cyclescope,sama5d2-matrix`: the registers of SAMA5D2's two AHB matrices (datasheet DS60001476, section MATRIX).
//!
//! Modelled: the registers with their write protection. Their settings, arbitration and TrustZone's areas, have no
//! effect: each memory serves one master at a time, and all accesses are allowed.

use crate::prelude::*;
use crate::support::register_file::RegisterFile;

registers! {
    /// The register map (Bus Matrix User Interface).
    const MAP "MATRIX_" {
        MCFG [0..12; 4] 0x000 rw locked_by WPMR_WPEN in WPMR mask 0x7;
        SCFG [0..15; 4] 0x040 rw locked_by WPMR_WPEN in WPMR reset 0x1ff mask 0x003f_01ff;
        PRAS [0..15; 8] 0x080 rw locked_by WPMR_WPEN in WPMR mask 0x3333_3333;
        PRBS [0..15; 8] 0x084 rw locked_by WPMR_WPEN in WPMR mask 0x3333_3333;
        MEIMR 0x158 ro mask 0xfff;
        MESR 0x15c ro mask 0xfff;
        MEAR [0..12; 4] 0x160 ro;
        SSR [0..15; 4] 0x200 rw locked_by WPMR_WPEN in WPMR mask 0x00ff_ffff;
        SASSR [0..15; 4] 0x240 rw locked_by WPMR_WPEN in WPMR;
        SRTSR [0..14; 4] 0x284 rw locked_by WPMR_WPEN in WPMR;
        SPSELR [0..3; 4] 0x2c0 rw locked_by WPMR_WPEN in WPMR;
        WPMR 0x1e4 rw keyed 0x4d_4154 in 0xffff_ff00 { WPEN 0 };
        WPSR 0x1e8 ro { WPVS 0 rc, WPVSRC 8..24 rc };
    }
}

/// For the list of models.
pub const MODEL: Model = Model::device(Group::System, &["cyclescope,sama5d2-matrix"], 1, from_node).naming(MAP.rows);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    Box::new(RegisterFile::from_node(&MAP, reader))
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
        walk::device_keeps_its_table(MAP.rows, &["MATRIX_WPMR"], &mut bench);
        bench.write(Ps(0), 0x1e4, 0x4d41_5401).unwrap();
        bench.write(Ps(0), 0x2c8, 7).unwrap();
        assert_eq!(bench.value(Ps(0), 0x1e8), 0x2c8 << 8 | 1);
    }
}

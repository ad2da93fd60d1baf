//! `ingenic,jz4740-nemc`: the registers of the JZ4740's external memory controller, including those for SDRAM, which
//! Linux leaves to the boot loader (Linux's jz4740.dtsi; U-Boot's asm/jz4740.h for names).
//!
//! Modelled: the registers, as U-Boot leaves them on a Ben NanoNote (arch/mips/cpu/xburst/jz4740.c with qi_lb60.h, for
//! an mclk of 112 MHz). Values that firmware writes are kept and have no effect: the SDRAM answers from reset on, with
//! the timing of its own node.
//!
//! Not modelled: static memories, NAND flash and its error correction. Their registers keep the written values; no
//! ready flag is ever set.

use crate::prelude::*;
use crate::support::register_file::RegisterFile;

registers! {
    /// The register map. SMCR and SACR are those of banks 1 to 4, with the addresses of Linux's jz4740.dtsi.
    const MAP "" {
        BCR 0x000 rw;
        SMCR [0..5; 4] 0x010 rw mask 0x0fff_77cf;
        SACR1 0x034 rw reset 0x18fc mask 0xffff;
        SACR2 0x038 rw reset 0x14fc mask 0xffff;
        SACR3 0x03c rw reset 0x0cfc mask 0xffff;
        SACR4 0x040 rw reset 0x08fc mask 0xffff;
        NFCSR 0x050 rw mask 0xff;
        DMCR 0x080 rw reset DMCR_SET mask 0x9fbe_ff7f;
        RTCSR 0x084 rw reset RTCSR_CKS_64 mask 0x87;
        RTCNT 0x088 rw mask 0xffff;
        RTCOR 0x08c rw reset RTCOR_SET mask 0xffff;
        DMAR0 0x090 rw reset 0x00fe mask 0xffff;
        NFECR 0x100 rw mask 0x1f;
        NFECC 0x104 ro;
        NFPAR [0..3; 4] 0x108 rw;
        NFINTS 0x114 rw;
        NFINTE 0x118 rw mask 0x1f;
        NFERR [0..4; 4] 0x11c ro;
    }
}

/// DMCR as set: 16 bits wide, 13 bits of row and 9 of column, 4 banks, refreshed; times of 5 (tRAS), 3 (tRCD), 3 (tRP),
/// 1 (write latency), 9 (tRC) and a CAS latency of 2.
const DMCR_SET: u32 =
    1 << 31 | 1 << 26 | 1 << 24 | 1 << 23 | 2 << 20 | 1 << 19 | 1 << 17 | 1 << 13 | 2 << 11 | 2 << 8 | 4 << 2 | 1;
/// RTCSR.CKS: a 64th of the clock is counted.
const RTCSR_CKS_64: u32 = 3;
/// RTCOR as set: a refresh each 31 counts.
const RTCOR_SET: u32 = 31;

/// For the list of models.
pub const MODEL: Model = Model::device(Group::System, &["ingenic,jz4740-nemc"], 1, from_node).naming(MAP.rows);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    let clock = reader.clock_input(0, "clock of its bus");
    Box::new(RegisterFile::new(clock, &MAP))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::read_plain_node;
    use crate::registers::walk;
    use engine::time::Ps;

    #[test]
    fn the_device_keeps_its_banks() {
        let (mut bench, faults) = read_plain_node(from_node, &[]);
        assert!(faults.is_empty(), "{faults:?}");
        walk::device_keeps_its_table(MAP.rows, &[], &mut bench);
    }

    #[test]
    fn software_finds_the_size_of_the_sdram_as_the_boot_loader_does() {
        let (mut bench, _) = read_plain_node(from_node, &[]);
        let dmcr = bench.value(Ps(0), 0x080);
        let (rows, columns) = (11 + (dmcr >> 20 & 3), 8 + (dmcr >> 26 & 7));
        let (bytes, banks) = (if dmcr >> 31 != 0 { 2 } else { 4 }, if dmcr >> 19 & 1 != 0 { 4 } else { 2 });
        assert_eq!((1 << (rows + columns)) * bytes * banks, 32 << 20);
    }
}

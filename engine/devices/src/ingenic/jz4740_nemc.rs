//! `ingenic,jz4740-nemc`: the registers of the JZ4740's external memory controller, including those for SDRAM, which
//! Linux leaves to the boot loader (Linux's jz4740.dtsi; U-Boot's asm/jz4740.h for names).
//!
//! Modelled: the registers, as U-Boot leaves them on a Ben NanoNote (arch/mips/cpu/xburst/jz4740.c with qi_lb60.h, for
//! an mclk of 112 MHz). Values that firmware writes are kept and have no effect: the SDRAM answers from reset on, with
//! the timing of its own node.
//!
//! Not modelled: static memories, NAND flash and its error correction. Their registers keep the written values; no
//! ready flag is ever set.

use crate::model::{Group, Model};
use crate::support::register_file::{Bank, RegisterFile};
use crate::support::registers::AccessKind;
use engine::bus::device::Device;
use engine::dt::reader::NodeReader;

/// The register map. SMCR and SACR are those of banks 1 to 4, with the addresses of Linux's jz4740.dtsi.
const BANKS: &[Bank] = &[
    Bank::new("BCR", 0x000, 1, AccessKind::Rw, 0, u32::MAX),
    Bank::new("SMCR", 0x010, 5, AccessKind::Rw, 0, 0x0fff_77cf),
    Bank::new("SACR1", 0x034, 1, AccessKind::Rw, 0x18fc, 0xffff),
    Bank::new("SACR2", 0x038, 1, AccessKind::Rw, 0x14fc, 0xffff),
    Bank::new("SACR3", 0x03c, 1, AccessKind::Rw, 0x0cfc, 0xffff),
    Bank::new("SACR4", 0x040, 1, AccessKind::Rw, 0x08fc, 0xffff),
    Bank::new("NFCSR", 0x050, 1, AccessKind::Rw, 0, 0xff),
    Bank::new("DMCR", 0x080, 1, AccessKind::Rw, DMCR_SET, 0x9fbe_ff7f),
    Bank::new("RTCSR", 0x084, 1, AccessKind::Rw, RTCSR_CKS_64, 0x87),
    Bank::new("RTCNT", 0x088, 1, AccessKind::Rw, 0, 0xffff),
    Bank::new("RTCOR", 0x08c, 1, AccessKind::Rw, RTCOR_SET, 0xffff),
    Bank::new("DMAR0", 0x090, 1, AccessKind::Rw, 0x00fe, 0xffff),
    Bank::new("NFECR", 0x100, 1, AccessKind::Rw, 0, 0x1f),
    Bank::new("NFECC", 0x104, 1, AccessKind::Ro, 0, u32::MAX),
    Bank::new("NFPAR", 0x108, 3, AccessKind::Rw, 0, u32::MAX),
    Bank::new("NFINTS", 0x114, 1, AccessKind::Rw, 0, u32::MAX),
    Bank::new("NFINTE", 0x118, 1, AccessKind::Rw, 0, 0x1f),
    Bank::new("NFERR", 0x11c, 4, AccessKind::Ro, 0, u32::MAX),
];

/// DMCR as set: 16 bits wide, 13 bits of row and 9 of column, 4 banks, refreshed; times of 5 (tRAS), 3 (tRCD), 3 (tRP),
/// 1 (write latency), 9 (tRC) and a CAS latency of 2.
const DMCR_SET: u32 =
    1 << 31 | 1 << 26 | 1 << 24 | 1 << 23 | 2 << 20 | 1 << 19 | 1 << 17 | 1 << 13 | 2 << 11 | 2 << 8 | 4 << 2 | 1;
/// RTCSR.CKS: a 64th of the clock is counted.
const RTCSR_CKS_64: u32 = 3;
/// RTCOR as set: a refresh each 31 counts.
const RTCOR_SET: u32 = 31;

/// For the list of models.
pub const MODEL: Model = Model::device(Group::System, &["ingenic,jz4740-nemc"], 1, from_node);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    let clock = reader.clock_input(0, "clock of its bus");
    Box::new(RegisterFile::new(clock, BANKS, None))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::read_plain_node;
    use crate::support::register_file::keeps_its_banks;
    use engine::time::Ps;

    #[test]
    fn the_device_keeps_its_banks() {
        let (mut bench, faults) = read_plain_node(from_node, &[]);
        assert!(faults.is_empty(), "{faults:?}");
        keeps_its_banks(&mut bench, BANKS, &[]);
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

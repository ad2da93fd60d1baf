//! `atmel,sama5d2-chipid`: Chip Identifier (SAMA5D2 datasheet DS60001476, section CHIPID): two registers that identify
//! an ATSAMA5D27C.

use crate::model::{Group, Model};
use crate::support::register_file::{Bank, RegisterFile};
use crate::support::registers::AccessKind;
use engine::bus::device::Device;
use engine::dt::reader::NodeReader;

/// The register map; values of the chip's third version from Linux (drivers/soc/atmel/soc.h).
const BANKS: &[Bank] = &[
    Bank::new("CHIPID_CIDR", 0x0, 1, AccessKind::Ro, 0x8a5c_08c2, u32::MAX),
    Bank::new("CHIPID_EXID", 0x4, 1, AccessKind::Ro, 0x0000_0011, u32::MAX),
];

/// For the list of models.
pub const MODEL: Model = Model::device(Group::System, &["atmel,sama5d2-chipid"], 1, from_node);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    Box::new(RegisterFile::new(reader.clock_input(0, "clock of its bus"), BANKS, None))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::read_plain_node;
    use crate::support::register_file::keeps_its_banks;

    #[test]
    fn both_registers_can_only_be_read() {
        let (mut bench, faults) = read_plain_node(from_node, &[]);
        assert!(faults.is_empty(), "{faults:?}");
        keeps_its_banks(&mut bench, BANKS, &[]);
    }
}

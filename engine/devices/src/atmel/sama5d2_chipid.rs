//! `atmel,sama5d2-chipid`: Chip Identifier (SAMA5D2 datasheet DS60001476, section CHIPID): two registers that identify
//! an ATSAMA5D27C.

use crate::prelude::*;
use crate::support::register_file::RegisterFile;

registers! {
    /// The register map; values of the chip's third version from Linux (drivers/soc/atmel/soc.h).
    const MAP "CHIPID_" {
        CIDR 0x0 ro reset 0x8a5c_08c2;
        EXID 0x4 ro reset 0x0000_0011;
    }
}

/// For the list of models.
pub const MODEL: Model = Model::device(Group::System, &["atmel,sama5d2-chipid"], 1, from_node).naming(MAP.rows);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    Box::new(RegisterFile::from_node(&MAP, reader))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::read_plain_node;
    use crate::registers::walk;

    #[test]
    fn both_registers_can_only_be_read() {
        let (mut bench, faults) = read_plain_node(from_node, &[]);
        assert!(faults.is_empty(), "{faults:?}");
        walk::device_keeps_its_table(MAP.rows, &[], &mut bench);
    }
}

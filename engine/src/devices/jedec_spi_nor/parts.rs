//! The flash parts: one row a part.
//!
//! Micron N25Q128A datasheets (3 V: n25q_128mb_3v_65nm Rev. R; 1.8 V: n25q_128mb_1_8v_65nm), sections "Device
//! Identification" and "Memory Organization".

use super::sfdp;

/// Bytes of a page: what one program command can reach.
pub const PAGE_BYTES: u32 = 256;
/// Bytes of a subsector, the smallest unit of erasure.
pub const SUBSECTOR_BYTES: u32 = 4096;
/// Bytes of a sector, the unit of protection.
pub const SECTOR_BYTES: u32 = 65_536;
/// Bytes of READ ID.
pub const ID_BYTES: usize = 20;

/// What distinguishes a part.
#[derive(Debug, PartialEq, Eq)]
pub struct Part {
    /// The devicetree compatible.
    pub compatible: &'static str,
    /// The name for messages.
    pub name: &'static str,
    /// READ ID: manufacturer, memory type, capacity, number of unique ID bytes, extended device ID, factory data.
    pub id: [u8; ID_BYTES],
    /// Size in bytes; a power of two.
    pub size_bytes: u32,
    /// Bytes that the program cycle handles at once: a page in part takes that part's share of the page's time.
    pub program_unit_bytes: u32,
    /// Serial flash discovery parameters.
    pub sfdp: &'static [u8],
}

/// READ ID of a part: 10h says that 16 bytes follow (2 of extended device ID, 14 of factory data, 0 here).
const fn id(memory_type: u8, capacity: u8) -> [u8; ID_BYTES] {
    let mut id = [0; ID_BYTES];
    id[0] = 0x20;
    id[1] = memory_type;
    id[2] = capacity;
    id[3] = 0x10;
    id
}

/// All parts. `micron,n25q128a` without a voltage is the 3 V part.
#[rustfmt::skip]
pub static PARTS: [Part; 3] = [
    Part { compatible: "micron,n25q128a",   name: "N25Q128A",   id: id(0xba, 0x18), size_bytes: 1 << 24, program_unit_bytes: 8, sfdp: &sfdp::N25Q128A },
    Part { compatible: "micron,n25q128a13", name: "N25Q128A13", id: id(0xba, 0x18), size_bytes: 1 << 24, program_unit_bytes: 8, sfdp: &sfdp::N25Q128A },
    Part { compatible: "micron,n25q128a11", name: "N25Q128A11", id: id(0xbb, 0x18), size_bytes: 1 << 24, program_unit_bytes: 8, sfdp: &sfdp::N25Q128A },
];

/// The part of the first compatible that names one.
pub fn find(compatibles: &[&str]) -> Option<&'static Part> {
    compatibles.iter().find_map(|compatible| PARTS.iter().find(|part| part.compatible == *compatible))
}

//! The flash parts, one row each, and the families to which they belong.
//!
//! Micron N25Q128A datasheets (3 V: n25q_128mb_3v_65nm Rev. R; 1.8 V: n25q_128mb_1_8v_65nm), sections "Device
//! Identification" and "Memory Organization". Cypress S25FL256L/S25FL128L datasheet (002-00124), sections "Address
//! Space Maps" and "Device Identification".

use super::commands::{self, Table};
use super::parameters::{self, Times};
use super::registers::Registers;
use super::sfdp;
use engine::dt::reader::NodeReader;

/// Bytes of a page, the largest unit of one program command.
pub const PAGE_BYTES: u32 = 256;
/// Bytes of a subsector, the smallest unit of erasure.
pub const SUBSECTOR_BYTES: u32 = 4096;
/// Bytes of a half block.
pub const HALF_BLOCK_BYTES: u32 = 32_768;
/// Bytes of a sector, the unit of protection.
pub const SECTOR_BYTES: u32 = 65_536;
/// The common properties of a family's parts.
#[derive(Debug)]
pub struct Family {
    /// The command set.
    pub commands: &'static Table,
    /// Reads the properties that only this family's nodes have.
    pub from_node: fn(&mut NodeReader, &Part) -> (Registers, Times),
}

/// The properties of a part.
#[derive(Debug)]
pub struct Part {
    /// The devicetree compatible.
    pub compatible: &'static str,
    /// The name for messages.
    pub name: &'static str,
    /// The family.
    pub family: &'static Family,
    /// READ ID: manufacturer, memory type, capacity, and the bytes after them.
    pub id: &'static [u8],
    /// Size in bytes; a power of two.
    pub size_bytes: u32,
    /// Serial flash discovery parameters.
    pub sfdp: &'static [u8],
}

/// Micron N25Q.
static N25Q: Family = Family { commands: &commands::n25q::TABLE, from_node: parameters::n25q };
/// Cypress FL-L.
static FL_L: Family = Family { commands: &commands::fl_l::TABLE, from_node: parameters::fl_l };

/// READ ID of an N25Q: 10h announces 16 more bytes (2 of extended device ID, 14 of factory data, 0 here).
const fn n25q_id(memory_type: u8, capacity: u8) -> [u8; 20] {
    let mut id = [0; 20];
    id[0] = 0x20;
    id[1] = memory_type;
    id[2] = capacity;
    id[3] = 0x10;
    id
}

static N25Q128A_3V_ID: [u8; 20] = n25q_id(0xba, 0x18);
static N25Q128A_1V8_ID: [u8; 20] = n25q_id(0xbb, 0x18);
static S25FL128L_ID: [u8; 3] = [0x01, 0x60, 0x18];

const fn n25q(compatible: &'static str, name: &'static str, id: &'static [u8]) -> Part {
    Part { compatible, name, family: &N25Q, id, size_bytes: 1 << 24, sfdp: &sfdp::N25Q128A }
}

const fn fl_l(compatible: &'static str, name: &'static str, id: &'static [u8]) -> Part {
    Part { compatible, name, family: &FL_L, id, size_bytes: 1 << 24, sfdp: &[] }
}

/// All parts. `micron,n25q128a` without a voltage is the 3 V part.
pub static PARTS: [Part; 6] = [
    n25q("micron,n25q128a", "N25Q128A", &N25Q128A_3V_ID),
    n25q("micron,n25q128a13", "N25Q128A13", &N25Q128A_3V_ID),
    n25q("micron,n25q128a11", "N25Q128A11", &N25Q128A_1V8_ID),
    fl_l("cypress,s25fl128l", "S25FL128L", &S25FL128L_ID),
    fl_l("infineon,s25fl128l", "S25FL128L", &S25FL128L_ID),
    fl_l("spansion,s25fl128l", "S25FL128L", &S25FL128L_ID),
];

/// The part of the first compatible that names one.
pub fn find(compatibles: &[&str]) -> Option<&'static Part> {
    compatibles.iter().find_map(|compatible| PARTS.iter().find(|part| part.compatible == *compatible))
}

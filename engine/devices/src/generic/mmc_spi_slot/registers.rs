//! The card's registers: SD Physical Layer Simplified Specification, chapter 5 (OCR, CID, CSD, SCR), 4.10.2 (SD Status)
//! and 4.3.10.4 (status of the switch command).

use super::capacity::Capacity;
use super::crc::crc7;
use super::parameters::Parameters;

/// OCR: 2.7 to 3.6 V.
pub const OCR_VOLTAGES: u32 = 0x00ff_8000;
/// OCR, bit 31: the power-up procedure has ended.
const OCR_POWERED_UP: u32 = 1 << 31;
/// OCR, bit 30 (CCS): a high capacity card; valid with the bit above.
const OCR_HIGH_CAPACITY: u32 = 1 << 30;

/// Command classes of the CSD: basic, block read, block write, erase, application specific, switch.
const CLASSES: u64 = 1 << 0 | 1 << 2 | 1 << 4 | 1 << 5 | 1 << 8 | 1 << 10;
/// TRAN_SPEED: 25 MHz.
const TRAN_SPEED: u64 = 0x32;

/// OCR of a card that is `ready` or not.
pub fn ocr(capacity: Capacity, ready: bool) -> u32 {
    match (ready, capacity.is_high()) {
        (false, _) => OCR_VOLTAGES,
        (true, false) => OCR_VOLTAGES | OCR_POWERED_UP,
        (true, true) => OCR_VOLTAGES | OCR_POWERED_UP | OCR_HIGH_CAPACITY,
    }
}

/// A field of a register of 128 bits: its name, highest and lowest bit, and value.
type Field = (&'static str, u32, u32, u64);

/// A register with the given fields, with the CRC7 in bits 7 to 1 and the 1 in bit 0.
fn with_crc<'a>(fields: impl IntoIterator<Item = &'a Field>) -> [u8; 16] {
    let value = fields.into_iter().fold(0, |all, (name, high, low, value)| {
        debug_assert!(high - low + 1 >= u64::BITS - value.leading_zeros(), "{name}: {value:#x} in [{high}:{low}]");
        all | u128::from(*value) << low
    });
    let mut bytes = value.to_be_bytes();
    bytes[15] = crc7(&bytes[..15]) << 1 | 1;
    bytes
}

/// CID, card identification: 5.2.
pub fn cid() -> [u8; 16] {
    with_crc(&CID)
}

/// Manufacturer 0 is not assigned.
const CID: [Field; 5] = [
    ("OID", 119, 104, u64::from_be_bytes(*b"\0\0\0\0\0\0CY")),
    ("PNM", 103, 64, u64::from_be_bytes(*b"\0\0\0CYCLE")),
    ("PRV", 63, 56, 0x10), // 1.0
    ("PSN", 55, 24, 1),
    ("MDT", 19, 8, 0x086), // June 2008
];

/// CSD, version 1.0, apart from the capacity. Access times, currents and the write factor are from Transcend's manual
/// of the TS2GSD150: the longest times that the fields can have, 25 to 45 mA, and 32.
const STANDARD_CSD: [Field; 9] = [
    ("TAAC", 119, 112, 0x7f),
    ("NSAC", 111, 104, 0xff),
    ("READ_BL_PARTIAL", 79, 79, 1),
    ("VDD_R_CURR_MIN", 61, 59, 5),
    ("VDD_R_CURR_MAX", 58, 56, 5),
    ("VDD_W_CURR_MIN", 55, 53, 5),
    ("VDD_W_CURR_MAX", 52, 50, 5),
    ("SECTOR_SIZE", 45, 39, 31),
    ("R2W_FACTOR", 28, 26, 5),
];

/// CSD, version 2.0, which fixes all fields except the size: 5.3.3.
const HIGH_CSD: [Field; 6] = [
    ("CSD_STRUCTURE", 127, 126, 1),
    ("TAAC", 119, 112, 0x0e), // 1 ms
    ("READ_BL_LEN", 83, 80, 9),
    ("SECTOR_SIZE", 45, 39, 0x7f),
    ("R2W_FACTOR", 28, 26, 2),
    ("WRITE_BL_LEN", 25, 22, 9),
];

/// CSD, card specific data.
pub fn csd(parameters: &Parameters) -> [u8; 16] {
    let common = [
        ("TRAN_SPEED", 103, 96, TRAN_SPEED),
        ("CCC", 95, 84, CLASSES),
        ("ERASE_BLK_EN", 46, 46, 1), // single blocks can be erased
        ("TMP_WRITE_PROTECT", 12, 12, u64::from(parameters.write_protect)),
    ];
    match parameters.capacity {
        Capacity::Standard { c_size, c_size_mult, read_bl_len } => {
            let size = [
                ("READ_BL_LEN", 83, 80, u64::from(read_bl_len)),
                ("C_SIZE", 73, 62, u64::from(c_size)),
                ("C_SIZE_MULT", 49, 47, u64::from(c_size_mult)),
                ("WRITE_BL_LEN", 25, 22, u64::from(read_bl_len)),
            ];
            with_crc(common.iter().chain(&STANDARD_CSD).chain(&size))
        }
        Capacity::High { c_size } => {
            with_crc(common.iter().chain(&HIGH_CSD).chain(&[("C_SIZE", 69, 48, u64::from(c_size))]))
        }
    }
}

/// SCR, 5.6: no security, 1 and 4 bit buses, zeros after an erase.
pub fn scr(parameters: &Parameters) -> [u8; 8] {
    [parameters.sd_spec, 0x05, 0, u8::from(parameters.set_block_count) << 1, 0, 0, 0, 0]
}

/// SD Status (ACMD13) of a card that uses four data lines or one.
pub fn sd_status(parameters: &Parameters, has_four_lines: bool) -> [u8; 64] {
    let mut status = [0; 64];
    status[0] = if has_four_lines { 0x80 } else { 0 };
    (status[8], status[10]) = (parameters.speed_class_code, parameters.au_size_code << 4);
    status
}

/// Status of CMD6 with this argument: every group has only its function 0, and, in SD mode, group 1 High Speed as
/// function 1 if the card has it.
pub fn switch_status(argument: u32, high_speed: bool) -> [u8; 64] {
    let mut status = [0; 64];
    let mut faulty = false;
    for group in 0..6 {
        // Groups 6 to 1 from byte 2 on: functions 0 and 15 (no influence).
        status[2 + 2 * group] = 0x80;
        status[3 + 2 * group] = 0x01;
        // Selections from byte 14 on: group 6 first, a nibble each.
        let wanted = argument >> (4 * (5 - group)) & 0xf;
        let is_high_speed = high_speed && group == 5;
        status[3 + 2 * group] |= u8::from(is_high_speed) << 1;
        if is_high_speed && wanted == 1 {
            status[14 + group / 2] |= 1;
        } else if !matches!(wanted, 0 | 0xf) {
            faulty = true;
            status[14 + group / 2] |= if group % 2 == 0 { 0xf0 } else { 0x0f };
        }
    }
    // The largest current, in mA; 0 if a function does not exist.
    status[1] = if faulty { 0 } else { 45 };
    status
}

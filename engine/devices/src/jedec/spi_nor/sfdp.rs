//! Serial flash discovery parameters (JEDEC JESD216) of the parts.
//!
//! Micron N25Q128A datasheet, section "Serial Flash Discovery Parameter Data": a header, one parameter header, and at
//! 30h the nine words of the basic flash parameter table.

/// Bytes of the header, its gap and the basic table.
const BYTES: usize = 0x30 + 9 * 4;

/// The nine words of the basic table.
const N25Q128A_BASIC: [u32; 9] = [
    0xfff1_20e5, // 4 KiB erase by 20h; 3 address bytes; 1-1-2, 1-2-2, 1-1-4 and 1-4-4 fast reads
    0x07ff_ffff, // density in bits, less one
    0x6b27_eb29, // 1-4-4: EBh, 1 mode and 9 dummy clocks; 1-1-4: 6Bh, 1 mode and 7 dummy clocks
    0xbb27_3b08, // 1-1-2: 3Bh, 8 dummy clocks; 1-2-2: BBh, 1 mode and 7 dummy clocks
    0xffff_ffff, // 2-2-2 and 4-4-4 fast reads exist
    0xbb27_ffff, // 2-2-2: BBh
    0xeb29_ffff, // 4-4-4: EBh
    0xd810_200c, // erase types: 2^12 bytes by 20h, 2^16 bytes by D8h
    0x0000_0000, // no further types
];

/// The N25Q128A's.
pub static N25Q128A: [u8; BYTES] = table(&N25Q128A_BASIC);

const fn table(basic: &[u32; 9]) -> [u8; BYTES] {
    let mut bytes = [0xff; BYTES];
    let header: [u32; 4] = [
        0x5044_4653, // "SFDP"
        0xff00_0100, // revision 1.0, one parameter header
        0x0901_0000, // JEDEC's basic table, revision 1.0, nine words
        0xff00_0030, // which stands at 30h
    ];
    let mut word = 0;
    while word < header.len() + basic.len() {
        let (value, at) =
            if word < header.len() { (header[word], word * 4) } else { (basic[word - 4], 0x30 + (word - 4) * 4) };
        let le = value.to_le_bytes();
        let mut byte = 0;
        while byte < 4 {
            bytes[at + byte] = le[byte];
            byte += 1;
        }
        word += 1;
    }
    bytes
}

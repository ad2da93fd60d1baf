//! The two checksums of the card: SD Physical Layer Simplified Specification, 4.5.

/// The CRC of commands and registers: x^7 + x^3 + 1, from 0; the seven bits right-aligned.
pub fn crc7(bytes: &[u8]) -> u8 {
    let mut crc = 0_u8;
    for byte in bytes {
        let mut byte = *byte;
        for _ in 0..8 {
            crc <<= 1;
            if (byte ^ crc) & 0x80 != 0 {
                crc ^= 0x09;
            }
            byte <<= 1;
        }
    }
    crc & 0x7f
}

/// The CRC of data blocks: x^16 + x^12 + x^5 + 1, from 0.
pub fn crc16(bytes: &[u8]) -> u16 {
    bytes.iter().fold(0, |crc, byte| crc << 8 ^ TABLE[usize::from((crc >> 8) as u8 ^ byte)])
}

static TABLE: [u16; 256] = table();

const fn table() -> [u16; 256] {
    let mut table = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        let mut crc = (byte as u16) << 8;
        let mut bit = 0;
        while bit < 8 {
            crc = if crc & 0x8000 != 0 { crc << 1 ^ 0x1021 } else { crc << 1 };
            bit += 1;
        }
        table[byte] = crc;
        byte += 1;
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The examples of the specification, 4.5: CMD0, CMD17 and its response, and 512 bytes of FFh.
    #[test]
    fn known_checksums() {
        assert_eq!(crc7(&[0x40, 0, 0, 0, 0]), 0x4a);
        assert_eq!(crc7(&[0x51, 0, 0, 0, 0]), 0x2a);
        assert_eq!(crc7(&[0x11, 0, 0, 0x09, 0]), 0x33);
        assert_eq!(crc16(&[0xff; 512]), 0x7fa1);
        assert_eq!(crc16(b"123456789"), 0x31c3);
    }
}

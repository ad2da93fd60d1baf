//! The frame check sequence of IEEE 802.15.4: the ITU-T CRC of 16 bits, from 0, least significant bit first, in the
//! last two bytes of the PSDU, the lower one first (AT86RF231 datasheet, section 8.2).

/// The check sequence of `bytes`.
pub fn fcs(bytes: &[u8]) -> [u8; 2] {
    /// x^16 + x^12 + x^5 + 1, reflected.
    const POLYNOMIAL: u16 = 0x8408;
    let crc = bytes.iter().fold(0, |crc: u16, byte| {
        (0..8).fold(crc ^ u16::from(*byte), |crc, _| if crc & 1 != 0 { crc >> 1 ^ POLYNOMIAL } else { crc >> 1 })
    });
    crc.to_le_bytes()
}

/// Puts the check sequence into the last two bytes of a PSDU of three or more.
pub fn close(psdu: &mut [u8]) {
    if let Some(payload) = psdu.len().checked_sub(2).filter(|payload| *payload > 0) {
        let check = fcs(&psdu[..payload]);
        psdu[payload..].copy_from_slice(&check);
    }
}

/// True if the last two bytes of a PSDU are the check sequence of the others.
pub fn is_valid(psdu: &[u8]) -> bool {
    psdu.len().checked_sub(2).is_some_and(|payload| psdu[payload..] == fcs(&psdu[..payload]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_standards_example_has_its_check_sequence() {
        // IEEE 802.15.4-2006, 7.2.1.9: an acknowledgement, 0100 0000 0000 0000 0101 0110 on the air, gives 0010 0111
        // 1001 1110.
        let frame = [0x02, 0x00, 0x6a];
        assert_eq!(fcs(&frame), [0xe4, 0x79]);
        assert!(is_valid(&[0x02, 0x00, 0x6a, 0xe4, 0x79]));
        assert!(!is_valid(&[0x02, 0x00, 0x6a, 0xe4, 0x78]));
        assert!(!is_valid(&[0x02]));
    }
}

//! Capacities in the CSD: SD Physical Layer Simplified Specification, 5.3.2 and 5.3.3.

const MIB: u64 = 1 << 20;
/// High capacity cards are larger than this.
pub const STANDARD_MAX_BYTES: u64 = 2048 * MIB;
/// The largest high capacity card.
const HIGH_MAX_BYTES: u64 = 32 * 1024 * MIB;
/// The unit of C_SIZE of a high capacity card.
const HIGH_UNIT_BYTES: u64 = 512 << 10;

/// A card's capacity in the fields of its CSD.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Capacity {
    /// SDSC, CSD version 1.0: (C_SIZE + 1) * 2^(C_SIZE_MULT + 2) * 2^READ_BL_LEN bytes, addressed by byte.
    Standard {
        /// 12 bits.
        c_size: u16,
        /// 3 bits.
        c_size_mult: u8,
        /// 9 or 10.
        read_bl_len: u8,
    },
    /// SDHC, CSD version 2.0: (C_SIZE + 1) * 512 KiB, addressed by block of 512 bytes.
    High {
        /// 22 bits.
        c_size: u32,
    },
}

/// The largest standard one.
impl Default for Capacity {
    fn default() -> Capacity {
        Capacity::Standard { c_size: 4095, c_size_mult: 7, read_bl_len: 10 }
    }
}

impl Capacity {
    /// An SDSC card of `bytes`; `None` if no fields give that number. Blocks of 512 bytes if that is possible.
    pub fn standard(bytes: u64) -> Option<Capacity> {
        for read_bl_len in 9..=10 {
            for c_size_mult in 0..=7 {
                let unit = 1 << (c_size_mult + 2 + read_bl_len);
                if bytes.is_multiple_of(unit) && (1..=4096).contains(&(bytes / unit)) {
                    let c_size = (bytes / unit - 1) as u16;
                    return Some(Capacity::Standard { c_size, c_size_mult, read_bl_len });
                }
            }
        }
        None
    }

    /// An SDHC card of `bytes`; `None` if no C_SIZE gives that number.
    pub fn high(bytes: u64) -> Option<Capacity> {
        let fits = bytes.is_multiple_of(HIGH_UNIT_BYTES) && (HIGH_UNIT_BYTES..=HIGH_MAX_BYTES).contains(&bytes);
        fits.then(|| Capacity::High { c_size: (bytes / HIGH_UNIT_BYTES - 1) as u32 })
    }

    /// The smallest capacity of at least `bytes` that a CSD can have: SDHC if `high`.
    pub fn next(bytes: u64, high: bool) -> Option<u64> {
        if high {
            let bytes = bytes.max(1).div_ceil(HIGH_UNIT_BYTES) * HIGH_UNIT_BYTES;
            return (bytes <= HIGH_MAX_BYTES).then_some(bytes);
        }
        let units = (11..=19).map(|shift| 1_u64 << shift);
        let fitting = units.map(|unit| (unit, bytes.max(1).div_ceil(unit))).filter(|(_, count)| *count <= 4096);
        fitting.map(|(unit, count)| unit * count).min()
    }

    /// In bytes.
    pub fn bytes(self) -> u64 {
        match self {
            Capacity::Standard { c_size, c_size_mult, read_bl_len } => {
                (u64::from(c_size) + 1) << (c_size_mult + 2 + read_bl_len)
            }
            Capacity::High { c_size } => (u64::from(c_size) + 1) * HIGH_UNIT_BYTES,
        }
    }

    /// In blocks of 512 bytes.
    pub fn blocks(self) -> u32 {
        (self.bytes() / 512) as u32
    }

    /// True for SDHC (CCS in the OCR).
    pub fn is_high(self) -> bool {
        matches!(self, Capacity::High { .. })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn capacities_at_the_limits() {
        let standard = |c_size, c_size_mult, read_bl_len| Some(Capacity::Standard { c_size, c_size_mult, read_bl_len });
        assert_eq!(Capacity::standard(2048), standard(0, 0, 9));
        assert_eq!(Capacity::standard(1 << 30), standard(4095, 7, 9));
        assert_eq!(Capacity::standard(2 << 30), standard(4095, 7, 10), "2 GB cards say 1024 bytes");
        assert_eq!(Capacity::standard((2 << 30) + (1 << 19)), None);
        assert_eq!(Capacity::standard(512), None);
        assert_eq!(Capacity::high(32 << 30), Some(Capacity::High { c_size: 0xffff }));
        assert_eq!(Capacity::high((32 << 30) + (1 << 19)), None);
        assert_eq!((Capacity::high(0), Capacity::standard(0)), (None, None));
    }

    proptest! {
        #[test]
        fn what_the_fields_say_is_the_capacity(bytes in 1_u64..3 << 30, high: bool) {
            let of = if high { Capacity::high } else { Capacity::standard };
            if let Some(capacity) = of(bytes) {
                prop_assert_eq!(capacity.bytes(), bytes);
            }
            if let Some(next) = Capacity::next(bytes, high) {
                prop_assert!(next >= bytes);
                prop_assert_eq!(of(next).map(Capacity::bytes), Some(next));
            } else {
                prop_assert!(!high && bytes > STANDARD_MAX_BYTES);
            }
        }
    }
}

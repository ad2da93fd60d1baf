//! Memory types and attributes of translation tables (ARM, B3.8).

use super::{Cacheability, MemoryType};

impl Cacheability {
    /// Cacheability from the two bits in TEX, TTBR.RGN and NMRR.
    pub fn from_bits(bits: u32) -> Cacheability {
        match bits & 3 {
            0 => Cacheability::NonCacheable,
            1 => Cacheability::WriteBackAllocate,
            2 => Cacheability::WriteThrough,
            _ => Cacheability::WriteBack,
        }
    }

    /// Those two bits, which are the outer attributes in PAR, too.
    fn bits(self) -> u32 {
        match self {
            Cacheability::NonCacheable => 0,
            Cacheability::WriteBackAllocate => 1,
            Cacheability::WriteThrough => 2,
            Cacheability::WriteBack => 3,
        }
    }

    /// The inner attributes in PAR (ARM, PAR).
    fn par_inner(self) -> u32 {
        match self.bits() {
            0 => 0,
            bits => 4 | bits,
        }
    }
}

impl MemoryType {
    /// Without TEX remap: TEX in `tex`, and bits C, B, S (ARM, B3.8).
    pub(in crate::isa::arm) fn plain(tex: u32, c: bool, b: bool, s: bool) -> MemoryType {
        let normal = |outer, inner| MemoryType::Normal {
            inner: Cacheability::from_bits(inner),
            outer: Cacheability::from_bits(outer),
            shareable: s,
        };
        match (tex, c, b) {
            (0, false, false) => MemoryType::StronglyOrdered,
            (0, false, true) => MemoryType::Device { shareable: true },
            (0, true, false) => normal(2, 2),
            (0, true, true) => normal(3, 3),
            (1, true, true) => normal(1, 1),
            (2, false, false) => MemoryType::Device { shareable: false },
            (4.., _, _) => normal(tex, u32::from(c) << 1 | u32::from(b)),
            // 001:0:0, and reserved encodings: the safest type.
            _ => normal(0, 0),
        }
    }

    /// With TEX remap: TEX\[0\], C, B choose a field of PRRR and NMRR (ARM, B3.8).
    pub(super) fn remapped(tex: u32, c: bool, b: bool, s: bool, prrr: u32, nmrr: u32) -> MemoryType {
        let n = (tex & 1) << 2 | u32::from(c) << 1 | u32::from(b);
        let shareable = |at_0: u32| prrr >> (at_0 + u32::from(s)) & 1 != 0;
        match prrr >> (2 * n) & 3 {
            0 => MemoryType::StronglyOrdered,
            1 => MemoryType::Device { shareable: shareable(16) },
            _ => MemoryType::Normal {
                inner: Cacheability::from_bits(nmrr >> (2 * n)),
                outer: Cacheability::from_bits(nmrr >> (2 * n + 16)),
                shareable: shareable(18),
            },
        }
    }

    /// Attributes in PAR.
    pub(super) fn par(self) -> u32 {
        match self {
            MemoryType::StronglyOrdered => 1 << 4 | 1 << 7,
            MemoryType::Device { shareable } => 3 << 4 | u32::from(shareable) << 7,
            MemoryType::Normal { inner, outer, shareable } => {
                inner.par_inner() << 4 | outer.bits() << 2 | u32::from(shareable) << 7
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn normal(outer: Cacheability, inner: Cacheability, shareable: bool) -> MemoryType {
        MemoryType::Normal { inner, outer, shareable }
    }

    #[test]
    fn plain_attributes_are_those_of_the_table() {
        use Cacheability::*;
        assert_eq!(MemoryType::plain(0, false, false, true), MemoryType::StronglyOrdered);
        assert_eq!(MemoryType::plain(0, false, true, false), MemoryType::Device { shareable: true });
        assert_eq!(MemoryType::plain(2, false, false, false), MemoryType::Device { shareable: false });
        assert_eq!(MemoryType::plain(0, true, false, false), normal(WriteThrough, WriteThrough, false));
        assert_eq!(MemoryType::plain(0, true, true, true), normal(WriteBack, WriteBack, true));
        assert_eq!(MemoryType::plain(1, false, false, false), MemoryType::NON_CACHEABLE);
        assert_eq!(MemoryType::plain(1, true, true, false), normal(WriteBackAllocate, WriteBackAllocate, false));
        assert_eq!(MemoryType::plain(6, false, true, false), normal(WriteThrough, WriteBackAllocate, false));
    }

    #[test]
    fn remapped_attributes_come_from_prrr_and_nmrr() {
        // Linux's: region 1 non-cacheable Normal, 2 write-through, 3 write-back, 7 allocating; 0 strongly ordered, 4
        // Device.
        let (prrr, nmrr) = (0xff0a_81a8, 0x40e0_40e0);
        let of = |n: u32, s| MemoryType::remapped(n >> 2, n & 2 != 0, n & 1 != 0, s, prrr, nmrr);
        use Cacheability::*;
        assert_eq!(of(0, false), MemoryType::StronglyOrdered);
        assert_eq!(of(1, true), normal(NonCacheable, NonCacheable, true));
        assert_eq!(of(2, false), normal(WriteThrough, WriteThrough, false));
        assert_eq!(of(3, true), normal(WriteBack, WriteBack, true));
        assert_eq!(of(4, false), MemoryType::Device { shareable: false });
        assert_eq!(of(7, false), normal(WriteBackAllocate, WriteBackAllocate, false));
    }

    #[test]
    fn par_has_the_attributes() {
        assert_eq!(MemoryType::plain(0, true, true, true).par(), 1 << 7 | 7 << 4 | 3 << 2);
        assert_eq!(MemoryType::plain(2, false, false, false).par(), 3 << 4);
    }
}

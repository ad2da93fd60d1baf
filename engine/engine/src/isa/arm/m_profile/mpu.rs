//! The memory protection unit (PMSAv7), and the default memory map (ARM, B3.1 and B3.5).

use super::scb::CCR_UNALIGN_TRP;
use super::{FaultStatus, System};
use crate::cpu::memory_system::Mmu;
use crate::cpu::memory_system::access::{Abort, Access, Cacheability, Kind, MemoryType, Translation};
use crate::state::State;

/// Number of regions of a Cortex-M4.
pub(super) const REGIONS: usize = 8;

/// MPU_CTRL.
const ENABLE: u32 = 1 << 0;
const HFNMIENA: u32 = 1 << 1;
const PRIVDEFENA: u32 = 1 << 2;
/// MPU_RBAR: a region's number comes with its address.
const RBAR_VALID: u32 = 1 << 4;
const RBAR_ADDR: u32 = !0x1f;
/// MPU_RASR.
const RASR_MASK: u32 = 0x173f_ff3f;
const RASR_ENABLE: u32 = 1 << 0;
const RASR_XN: u32 = 1 << 28;
/// The system's part of the map: regions do not change it.
const SYSTEM_BASE: u32 = 0xe000_0000;
/// Size of the parts of the default map.
const PART_BYTES: u32 = 1 << 29;
const SMALLEST_BYTES: u32 = 32;

/// The map in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Protection {
    /// The default map.
    Off,
    /// Regions.
    On,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State)]
struct Region {
    base: u32,
    attributes: u32,
}

impl Region {
    /// Its size in bytes minus 1, if it is enabled.
    fn mask(self) -> Option<u32> {
        let log2 = (self.attributes >> 1 & 31) + 1;
        (self.attributes & RASR_ENABLE != 0 && log2 >= 5).then(|| u32::MAX >> (32 - log2))
    }

    /// Size of its parts that are enabled or disabled as a whole.
    fn part_bytes(self, mask: u32) -> u32 {
        let has_parts = self.attributes >> 8 & 0xff != 0 && mask >= 0xff;
        if has_parts { (mask >> 3) + 1 } else { mask.wrapping_add(1) }
    }

    /// True if the region covers `va`.
    fn matches(self, va: u32) -> bool {
        let Some(mask) = self.mask() else { return false };
        if (va ^ self.base) & !mask != 0 {
            return false;
        }
        let part = if mask >= 0xff { (va & mask) / ((mask >> 3) + 1) } else { 8 };
        self.attributes >> 8 & 0xff & 1_u32.checked_shl(part).filter(|_| part < 8).unwrap_or(0) == 0
    }

    /// A block of up to `bytes` around `va` that no boundary of the region cuts.
    fn uncut(self, va: u32, mut bytes: u32) -> u32 {
        let Some(mask) = self.mask() else { return bytes };
        if (va ^ self.base) & !mask == 0 {
            let own = self.part_bytes(mask);
            return if own == 0 { bytes } else { bytes.min(own) };
        }
        while (va ^ self.base) & !(bytes - 1) == 0 && bytes > SMALLEST_BYTES {
            bytes /= 2;
        }
        bytes
    }

    fn allows(self, access: Access) -> bool {
        let (reads, writes) = match (self.attributes >> 24 & 7, access.privileged) {
            (1, true) | (2, true) | (3, _) => (true, true),
            (2, false) | (5, true) | (6 | 7, _) => (true, false),
            _ => (false, false),
        };
        match access.kind {
            Kind::Read | Kind::Execute => reads,
            Kind::Write => writes,
        }
    }

    fn memory(self) -> MemoryType {
        let bit = |at: u32| self.attributes >> at & 1 != 0;
        let (tex, c, b, shareable) = (self.attributes >> 19 & 7, bit(17), bit(16), bit(18));
        match tex {
            // Reserved if one of the bits is set.
            1 if c || b => MemoryType::plain(1, true, true, shareable),
            2 | 3 => MemoryType::Device { shareable: false },
            _ => MemoryType::plain(tex, c, b, shareable),
        }
    }
}

/// The registers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State)]
pub(super) struct Mpu {
    control: u32,
    number: u8,
    regions: [Region; REGIONS],
}

impl Mpu {
    pub fn read(&self, offset: u32) -> Option<u32> {
        let region = self.regions[usize::from(self.number)];
        Some(match offset {
            0xd90 => (REGIONS as u32) << 8,
            0xd94 => self.control,
            0xd98 => u32::from(self.number),
            0xd9c | 0xda4 | 0xdac | 0xdb4 => region.base | u32::from(self.number),
            0xda0 | 0xda8 | 0xdb0 | 0xdb8 => region.attributes,
            _ => return None,
        })
    }

    /// False if the register does not exist.
    pub fn write(&mut self, offset: u32, value: u32) -> bool {
        match offset {
            0xd90 => {}
            0xd94 => self.control = value & (ENABLE | HFNMIENA | PRIVDEFENA),
            0xd98 => self.number = value as u8 & (REGIONS as u8 - 1),
            0xd9c | 0xda4 | 0xdac | 0xdb4 => {
                if value & RBAR_VALID != 0 {
                    self.number = value as u8 & (REGIONS as u8 - 1);
                }
                self.regions[usize::from(self.number)].base = value & RBAR_ADDR;
            }
            0xda0 | 0xda8 | 0xdb0 | 0xdb8 => self.regions[usize::from(self.number)].attributes = value & RASR_MASK,
            _ => return false,
        }
        true
    }

    /// The region of `va`; `Some(None)` if a region is required and there is no match; `None` where the default map
    /// applies.
    fn region(&self, va: u32, privileged: bool) -> Option<Option<Region>> {
        if va >= SYSTEM_BASE {
            return None;
        }
        let found = self.regions.iter().rev().find(|region| region.matches(va));
        match found {
            None if privileged && self.control & PRIVDEFENA != 0 => None,
            found => Some(found.copied()),
        }
    }
}

/// The state at some time on which instruction fetches depend: the regions, if enabled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FetchMap(Option<Mpu>);

impl FetchMap {
    /// Address ranges in which instruction fetches of a mode differ from those under another map: first and last
    /// address of each part, until `concerns` holds for one.
    pub fn differs_where(
        &self,
        other: &FetchMap,
        privileged: bool,
        mut concerns: impl FnMut(u32, u32) -> bool,
    ) -> bool {
        if self == other {
            return false;
        }
        let mut bounds: Vec<u32> = bounds(self).chain(bounds(other)).collect();
        bounds.sort_unstable();
        bounds.dedup();
        let lasts = bounds.iter().skip(1).map(|next| next - 1).chain([u32::MAX]);
        bounds.iter().zip(lasts).any(|(first, last)| {
            self.fetched(*first, privileged) != other.fetched(*first, privileged) && concerns(*first, last)
        })
    }

    /// Memory type of an instruction at `va`; `None` if it must not be fetched.
    fn fetched(&self, va: u32, privileged: bool) -> Option<MemoryType> {
        let (memory, never) = match self.0.and_then(|mpu| mpu.region(va, privileged)) {
            None => default_map(va),
            Some(region) => {
                let access = Access { kind: Kind::Execute, privileged };
                let region = region.filter(|region| region.allows(access))?;
                (region.memory(), region.attributes & RASR_XN != 0)
            }
        };
        (!never).then_some(memory)
    }
}

/// Boundaries between which a map is uniform: ends of regions and of their parts, and of parts of the default map.
fn bounds(map: &FetchMap) -> impl Iterator<Item = u32> {
    let regions = map.0.map(|mpu| mpu.regions).unwrap_or_default();
    let of_regions =
        regions.into_iter().filter_map(|region| Some((region, region.mask()?))).flat_map(|(region, mask)| {
            let (first, step) = (region.base & !mask, region.part_bytes(mask));
            let parts = mask.checked_div(step).map_or(1, |parts| parts + 2);
            (0..parts).map(move |part| first.wrapping_add(part.wrapping_mul(step)))
        });
    of_regions.chain((0..8).map(|part| part * PART_BYTES))
}

impl System {
    /// The map in use: when it changes, all values computed from addresses have to be dropped.
    pub fn protection(&self) -> Protection {
        if self.mpu.control & ENABLE == 0 {
            return Protection::Off;
        }
        let ignored = self.mpu.control & HFNMIENA == 0 && self.execution_priority() < 0;
        if ignored { Protection::Off } else { Protection::On }
    }

    /// Translation of `va`, or the reason of a refusal.
    ///
    /// # Errors
    ///
    /// [`FaultStatus::Permission`], [`FaultStatus::ExecuteNever`].
    pub fn translate(&self, va: u32, access: Access) -> Result<Translation, Abort<FaultStatus>> {
        let refused = |status| Err(Abort { va, status, write: access.kind == Kind::Write, domain: 0, bus: None });
        let (memory, never, page_bytes) = match self.region(va, access.privileged) {
            Some(None) => return refused(FaultStatus::Permission),
            Some(Some(region)) if !region.allows(access) => return refused(FaultStatus::Permission),
            Some(Some(region)) => (region.memory(), region.attributes & RASR_XN != 0, self.page_bytes(va)),
            None => {
                let (memory, never) = default_map(va);
                (memory, never, self.page_bytes(va))
            }
        };
        if never && access.kind == Kind::Execute {
            return refused(FaultStatus::ExecuteNever);
        }
        Ok(Translation::of(va, page_bytes, memory))
    }

    /// As [`Mpu::region`], with the map in use.
    fn region(&self, va: u32, privileged: bool) -> Option<Option<Region>> {
        if self.protection() == Protection::Off { None } else { self.mpu.region(va, privileged) }
    }

    /// The present map for instruction fetches.
    pub fn fetch_map(&self) -> FetchMap {
        FetchMap((self.protection() == Protection::On).then_some(self.mpu))
    }

    /// True if that map equals `before`: quickly.
    #[inline]
    pub fn has_fetch_map(&self, before: &FetchMap) -> bool {
        match &before.0 {
            None => self.protection() == Protection::Off,
            Some(mpu) => *mpu == self.mpu && self.protection() == Protection::On,
        }
    }

    fn page_bytes(&self, va: u32) -> u32 {
        if self.protection() == Protection::Off {
            return PART_BYTES;
        }
        self.mpu.regions.iter().fold(PART_BYTES, |bytes, region| region.uncut(va, bytes))
    }
}

/// Memory type of an address without regions, and whether instructions must not be fetched there (ARM, B3.1).
fn default_map(va: u32) -> (MemoryType, bool) {
    let normal = |kind| MemoryType::Normal { inner: kind, outer: kind, shareable: false };
    match va >> 29 {
        0 | 4 => (normal(Cacheability::WriteThrough), false),
        1 | 3 => (normal(Cacheability::WriteBackAllocate), false),
        2 | 6 => (MemoryType::Device { shareable: false }, true),
        5 => (MemoryType::Device { shareable: true }, true),
        _ if va < 0xe010_0000 => (MemoryType::StronglyOrdered, true),
        _ => (MemoryType::Device { shareable: false }, true),
    }
}

impl Mmu for System {
    type Status = FaultStatus;

    const FETCHES_LINES: bool = true;

    fn translate(
        &self,
        va: u32,
        access: Access,
        _: impl FnMut(u32) -> Option<u32>,
    ) -> Result<Translation, Abort<FaultStatus>> {
        self.translate(va, access)
    }

    /// Addresses have attributes and permissions, with or without regions.
    fn mmu_is_on(&self) -> bool {
        true
    }

    /// There is no TLB.
    fn is_mapped(&self, _: u32) -> bool {
        false
    }

    fn dcache_is_on(&self) -> bool {
        false
    }

    /// A Cortex-M4 has no cache: this one belongs to the chip's flash interface, which enables and disables it.
    fn icache_is_on(&self) -> bool {
        true
    }

    fn checks_alignment(&self) -> bool {
        self.scb.ccr_has(CCR_UNALIGN_TRP)
    }

    fn is_privileged(&self) -> bool {
        self.is_privileged()
    }

    fn asid(&self) -> u8 {
        0
    }

    fn keeps_shareable(&self) -> bool {
        false
    }
}

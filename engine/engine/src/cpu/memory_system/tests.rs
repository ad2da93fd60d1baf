//! A core's memory side alone, with a RAM with access times, one without, and a device.

mod cached;
mod caches;
mod fetches;
mod matrix;
mod prefetching;
mod registers;
mod steps;
mod streaming;
mod tlbs;
mod uncached;
mod windows;

use super::config::{self, TlbShape};
use super::*;
use crate::bus::device::{AccessResult, AccessSize, Ctx, Device, DeviceId, Reply, SlaveError};
use crate::bus::{MapEntry, Route};
use crate::cpu::memory_system::access::{Access, Cacheability, Kind, Maintenance, MemoryType, Translation};
use crate::memory::cache::{Replacement, WritePolicy};
use crate::memory::outer::{OuterCache, OuterTiming};
use crate::memory::ram::{PortTiming, Ram};
use crate::polling::{Poll, Polled};
use crate::time::{Cycles, Hz, Ps};

pub(super) const RAM: u32 = 0x2000_0000;
pub(super) const LOCAL: u32 = 0x0030_0000;
pub(super) const DEVICE: u32 = 0xf000_0000;
/// A cycle of the core has 2 ns.
pub(super) const CORE_PS: u64 = 2_000;
/// 3 for the request, 6 at the RAM's port, 3 for the response.
pub(super) const READ: u64 = 12;

/// System registers with settings for tests; the MMU maps each address to itself.
pub(super) struct Registers {
    pub mmu: bool,
    pub dcache: bool,
    pub icache: bool,
    pub aligned: bool,
    pub privileged: bool,
    pub asid: u8,
    pub page_bytes: u32,
    pub memory: MemoryType,
    /// Added to virtual addresses from 0x8000_0000 up.
    pub offset: u32,
    /// Virtual addresses from here on need no TLB entry.
    pub unmapped_from: u32,
    /// See [`Mmu::may_stream`].
    pub streams: [bool; 2],
    /// See [`Mmu::prefetched_lines`].
    pub prefetched_lines: u32,
}

pub(super) const CACHED: MemoryType = MemoryType::Normal {
    inner: Cacheability::WriteBackAllocate,
    outer: Cacheability::WriteBackAllocate,
    shareable: false,
};

pub(super) fn all_off() -> Registers {
    Registers {
        mmu: false,
        dcache: false,
        icache: false,
        aligned: false,
        privileged: true,
        asid: 0,
        page_bytes: 1 << 20,
        memory: CACHED,
        offset: 0,
        unmapped_from: u32::MAX,
        streams: [true; 2],
        prefetched_lines: u32::MAX,
    }
}

pub(super) fn all_on() -> Registers {
    Registers { mmu: true, dcache: true, icache: true, ..all_off() }
}

/// Reasons for which these registers refuse an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Refused {
    Alignment,
    Translation,
    External,
}

impl Status for Refused {
    const ALIGNMENT: Refused = Refused::Alignment;
    const EXTERNAL: Refused = Refused::External;
}

impl Mmu for Registers {
    type Status = Refused;

    const WALKS: bool = true;

    /// Descriptors are words from the start of the RAM on, one per MiB: 0 is a fault.
    fn translate(
        &self,
        va: u32,
        access: Access,
        mut read: impl FnMut(u32) -> Option<u32>,
    ) -> Result<Translation, Abort<Refused>> {
        let physical = if self.mmu && (0x8000_0000..DEVICE).contains(&va) { va.wrapping_add(self.offset) } else { va };
        let table = RAM + 0x1_0000 + (va >> 20) * 4;
        let abort = |status| Abort { va, status, write: access.kind == Kind::Write, domain: 0, bus: None };
        if self.mmu && self.is_mapped(va) && read(table).is_none_or(|descriptor| descriptor == 0xdead) {
            return Err(abort(Refused::Translation));
        }
        let normal = access.kind == Kind::Execute || self.mmu;
        let memory = match self.memory {
            _ if va >= DEVICE => MemoryType::Device { shareable: true },
            _ if !normal => MemoryType::StronglyOrdered,
            _ if access.kind == Kind::Execute && !self.icache => MemoryType::NON_CACHEABLE,
            memory => memory,
        };
        Ok(Translation {
            physical,
            page_bytes: self.page_bytes,
            memory,
            walk_memory: self.memory,
            global: false,
            asid: self.asid,
        })
    }

    fn mmu_is_on(&self) -> bool {
        self.mmu
    }

    fn dcache_is_on(&self) -> bool {
        self.dcache
    }

    fn is_mapped(&self, va: u32) -> bool {
        va < self.unmapped_from
    }

    fn icache_is_on(&self) -> bool {
        self.icache
    }

    fn checks_alignment(&self) -> bool {
        self.aligned
    }

    fn is_privileged(&self) -> bool {
        self.privileged
    }

    fn asid(&self) -> u8 {
        self.asid
    }

    fn keeps_shareable(&self) -> bool {
        false
    }

    fn may_stream(&self) -> [bool; 2] {
        self.streams
    }

    fn prefetched_lines(&self) -> u32 {
        self.prefetched_lines
    }
}

/// A register that keeps the value last written, and takes 4 clocks of the bus.
#[derive(crate::state::State)]
struct Keeper(u32);

impl Device for Keeper {
    fn read(&mut self, _: usize, offset: u32, _: AccessSize, ctx: &mut Ctx) -> AccessResult {
        let done = ctx.now + Ps(4 * 3 * CORE_PS);
        if offset == 0 { Ok(Reply::read(self.0, done)) } else { Err(SlaveError { done }) }
    }

    fn write(&mut self, _: usize, _: u32, _: AccessSize, value: u32, ctx: &mut Ctx) -> AccessResult {
        self.0 = value;
        Ok(Reply::written(ctx.now + Ps(4 * 3 * CORE_PS)))
    }
}

impl Polled for Keeper {
    fn polled(&mut self, _: &mut Poll) -> bool {
        false
    }
}

/// The memory side, its bus, and the core's time.
pub(super) struct Rig {
    pub bus: Bus,
    pub memory: Memory,
    pub registers: Registers,
    pub now: u64,
    waited: u64,
}

pub(super) fn config() -> MemoryConfig {
    let shape = |ways| CacheShape {
        size_bytes: 1024,
        line_bytes: 32,
        ways,
        replacement: Replacement::PseudoRandom,
        write: WritePolicy::WriteBack,
    };
    MemoryConfig {
        unaligned_cycles: None,
        slave_switch_cycles: 0,
        clock: Hz::new(500_000_000).unwrap(),
        icache: Some(shape(2)),
        dcache: Some(shape(4)),
        tlb: TlbShape { micro_entries: 2, main_entries: 8, main_ways: 2 },
        tlb_cycles: 2,
        walk_hit_cycles: 1,
        store_buffer_entries: 0,
        read_allocate: Default::default(),
        prefetch_lines: 0,
        write_back: WriteBack::AfterFill,
        fetch: FetchPolicy::Chunks(Chunks { bytes: 8, ahead: false }),
        multiple_beat_bytes: 8,
        maintenance_cycles: 1,
        granule_bytes: config::PROTECTED_BYTES,
    }
}

pub(super) fn rig(registers: Registers, config: MemoryConfig) -> Rig {
    let clock = Hz::new(500_000_000).unwrap();
    let core = |bus_cycles: u64| Cycles(3 * bus_cycles);
    let port = |first| PortTiming {
        clock,
        first_word_cycles: first,
        write_first_word_cycles: first,
        beat_cycles: core(1),
        beat_bytes: 8,
        idle_grant_cycles: 0,
    };
    let entry = |name: &str, base, bytes: u32, target, route, cacheable| {
        MapEntry::new(name, base, base + (bytes - 1), target).on_route(route).kept_in_caches(cacheable)
    };
    let mut bus = Bus::default();
    bus.map = vec![
        entry("local", LOCAL, 0x1_0000, Target::Ram(1), None, false),
        entry("ram", RAM, 0x2_0000, Target::Ram(0), Some(0), true),
        entry("device", DEVICE, 0x1000, Target::Device(DeviceId(0), 0), Some(0), false),
    ];
    bus.routes = vec![Route { name: "matrix".into(), clock, request_cycles: core(1), response_cycles: core(1) }];
    bus.rams = vec![Ram::new(0x2_0000, port(core(2))), Ram::new(0x1_0000, port(Cycles(0)))];
    bus.device_names = vec!["device".into()];
    bus.add_core();
    bus.set_core_clocks(vec![config.clock]);
    bus.master = Some(0);
    bus.devices.push(Some(Box::new(Keeper(0))));
    Rig { bus, memory: Memory::new(config), registers, now: 3000, waited: 0 }
}

/// A second-level cache of 4 KiB: 2 cycles for the request, 1 for the tags, 1 and 3 for the data, 1 for the response.
pub(super) fn with_outer(mut rig: Rig, enabled: bool) -> Rig {
    let shape = CacheShape {
        size_bytes: 4096,
        line_bytes: 32,
        ways: 4,
        replacement: Replacement::RoundRobin,
        write: WritePolicy::WriteBack,
    };
    let (request_cycles, response_cycles, beat_cycles) = (Cycles(2), Cycles(1), Cycles(1));
    let clock = rig.memory.config.clock;
    let mut outer =
        OuterCache::new(shape, OuterTiming { clock, request_cycles, response_cycles, beat_cycles, beat_bytes: 8 });
    outer.enabled = enabled;
    rig.bus.outer = Some(outer);
    rig
}

impl Rig {
    /// Advances by the cycles waited, and compares them with the accounts.
    pub fn passed<T>(&mut self, done: Done<T, Refused>) -> (u64, Result<T, Abort<Refused>>) {
        self.waited += done.cycles;
        assert_eq!(self.memory.accounts().total(), self.waited, "causes sum to the time");
        self.now += done.cycles;
        (done.cycles, done.result)
    }

    pub fn load(&mut self, va: u32, size: AccessSize, how: u8) -> (u64, Result<u32, Abort<Refused>>) {
        let now = self.now;
        let done = self.memory.load(&mut self.bus, &self.registers, now, va, size, how);
        self.passed(done)
    }

    pub fn word(&mut self, va: u32) -> (u64, u32) {
        let (cycles, value) = self.load(va, AccessSize::Word, 0);
        (cycles, value.unwrap())
    }

    pub fn store(&mut self, va: u32, size: AccessSize, value: u32, how: u8) -> (u64, Result<(), Abort<Refused>>) {
        let now = self.now;
        let done = self.memory.store(&mut self.bus, &self.registers, now, va, size, value, how);
        self.passed(done)
    }

    /// A word, as an aligned store.
    pub fn put(&mut self, va: u32, value: u32) -> u64 {
        let (cycles, result) = self.store(va, AccessSize::Word, value, 0);
        result.unwrap();
        cycles
    }

    /// Maintenance that must not abort.
    pub fn maintain(&mut self, what: Maintenance) -> u64 {
        let now = self.now;
        let done = self.memory.maintain(&mut self.bus, &self.registers, now, what);
        let (cycles, result) = self.passed(done);
        result.unwrap();
        cycles
    }

    /// Time by cause, without the zeroes.
    pub fn causes(&self) -> Vec<(String, u64)> {
        let causes = self.memory.accounts().named(&self.bus).into_iter();
        causes.filter(|(_, cycles)| cycles.0 > 0).map(|(name, cycles)| (name, cycles.0)).collect()
    }
}

pub(super) fn named(causes: &[(&str, u64)]) -> Vec<(String, u64)> {
    causes.iter().map(|(name, cycles)| ((*name).to_owned(), *cycles)).collect()
}

//! The common parts of the small machines of all cores: memories, the path to the device, and checks of a run.

use crate::{Machine, Outcome, RunReport};
use engine::bus::device::{Device, DeviceId};
use engine::bus::{Bus, MapEntry, Route, Target};
use engine::cpu::memory_system::config::{PROTECTED_BYTES, TlbShape};
use engine::cpu::memory_system::{Chunks, FetchPolicy, MemoryConfig, WriteBack};
use engine::memory::cache::{CacheShape, Replacement, WritePolicy};
use engine::memory::ram::{PortTiming, Ram};
use engine::time::{Cycles, Hz, Ps};

/// Local memory, where programs begin. It answers at once.
pub const LOCAL: u32 = 0x0000_0000;
/// A period of the only clock.
pub const CYCLE_PS: u64 = 10_000;

pub fn clock() -> Hz {
    Hz::new(100_000_000).unwrap()
}

/// The addresses of a machine, except local memory.
pub struct Layout {
    /// The interconnect, which takes 3 cycles.
    pub route: &'static str,
    /// Behind the interconnect.
    pub device: u32,
    /// 10 cycles to the first word, 1 a further one.
    pub ddr: u32,
    /// RAM behind the interconnect, of 3 cycles: its name, its address, and whether caches may keep what is in it.
    pub slow: (&'static str, u32, bool),
}

fn ram(bus: &mut Bus, name: &str, base: u32, first_word_cycles: u64, route: Option<usize>, cacheable: bool) {
    let timing = PortTiming::symmetric(clock(), Cycles(first_word_cycles), Cycles(1), 4);
    let target = Target::Ram(bus.rams.len());
    bus.rams.push(Ram::new(0x1_0000, timing));
    bus.map.push(MapEntry::new(name, base, base + 0xffff, target).on_route(route).kept_in_caches(cacheable));
}

/// The bus of a machine with one core.
pub fn bus(layout: &Layout, device: impl Device + 'static) -> Bus {
    let mut bus = Bus::default();
    let (request_cycles, response_cycles) = (Cycles(2), Cycles(1));
    bus.routes.push(Route { name: layout.route.into(), clock: clock(), request_cycles, response_cycles });
    ram(&mut bus, "local", LOCAL, 0, None, false);
    bus.devices.push(Some(Box::new(device)));
    bus.device_names.push("late".into());
    let (base, last, target) = (layout.device, layout.device + 0xff, Target::Device(DeviceId(0), 0));
    bus.map.push(MapEntry::new("late", base, last, target).on_route(Some(0)));
    ram(&mut bus, "ddr", layout.ddr, 10, None, true);
    let (name, base, cacheable) = layout.slow;
    ram(&mut bus, name, base, 3, Some(0), cacheable);
    bus.map.sort_by_key(|entry| entry.base);
    bus.add_core();
    bus
}

/// A write-back cache with least-recently-used replacement.
pub fn cache_of(size_bytes: u32, line_bytes: u32, ways: u32) -> Option<CacheShape> {
    let (replacement, write) = (Replacement::LeastRecentlyUsed, WritePolicy::WriteBack);
    Some(CacheShape { size_bytes, line_bytes, ways, replacement, write })
}

/// Caches of eight sets with 32-byte lines.
pub fn first_level_cache() -> Option<CacheShape> {
    cache_of(512, 32, 2)
}

/// The memory side of a core with a first level, which only takes time for maintenance.
pub fn first_level(tlb: TlbShape) -> MemoryConfig {
    MemoryConfig {
        unaligned_cycles: None,
        slave_switch_cycles: 0,
        clock: clock(),
        icache: first_level_cache(),
        dcache: first_level_cache(),
        tlb,
        tlb_cycles: 0,
        walk_hit_cycles: 0,
        store_buffer_entries: 0,
        read_allocate: Default::default(),
        prefetch_lines: 0,
        write_back: WriteBack::AfterFill,
        fetch: FetchPolicy::Chunks(Chunks { bytes: 4, ahead: false }),
        multiple_beat_bytes: 4,
        maintenance_cycles: 1,
        granule_bytes: PROTECTED_BYTES,
    }
}

/// Words into memory, at a physical address.
pub fn put_physical(machine: &mut Machine, at: u32, words: &[u32]) {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    assert!(machine.bus().poke(at, &bytes));
}

/// Runs to the end, for at most 100 us.
pub fn run(machine: &mut Machine) -> RunReport {
    machine.run(Ps::from_us(100), |_| true)
}

/// Runs to the end, and reads the registers there.
pub fn run_to_end(mut machine: Machine) -> (RunReport, Vec<u32>) {
    let report = run(&mut machine);
    (report, machine.registers())
}

/// Cycles of one cause.
pub fn cause(report: &RunReport, name: &str) -> u64 {
    let causes = &report.cores[0].causes();
    causes.iter().find(|(cause, _)| cause == name).unwrap_or_else(|| panic!("no cause '{name}'")).1.0
}

/// All causes sum to the core's cycles.
pub fn assert_sums(report: &RunReport) {
    let core = &report.cores[0];
    assert_eq!(core.causes().iter().map(|(_, cycles)| cycles.0).sum::<u64>(), core.cycles.0, "{:?}", core.causes());
}

pub fn assert_exit(report: &RunReport) {
    assert_eq!(report.outcome, Outcome::Exit(0), "{:?}", report.outcome);
    assert_sums(report);
}

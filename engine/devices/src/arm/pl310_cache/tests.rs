//! The registers, and their effect on the cache on the bus.

use super::*;
use crate::bench::{Bench, read_node};
use crate::registers::walk;
use engine::bus::{MapEntry, Target};
use engine::memory::outer::OuterEvent;
use engine::memory::ram::{PortTiming, Ram};
use engine::time::Hz;

const SPECIAL: [&str; 12] =
    ["CR", "ECR", "CSR", "IPALR", "IWR", "CPALR", "CIR", "CWR", "CIPALR", "CIIR", "CIWR", "ICR"];

fn node() -> (Bench, Vec<String>) {
    let (mut bench, faults) = read_node(
        from_node_with_timing,
        &[("cache-size", &[128 << 10]), ("cache-line-size", &[32]), ("cache-sets", &[512])],
    );
    // A RAM of 100 MHz: 3 clocks and one for each further 8 bytes.
    let timing = PortTiming::symmetric(Hz::new(100_000_000).unwrap(), Cycles(3), Cycles(1), 8);
    bench.bus.rams.push(Ram::new(0x10_0000, timing));
    bench.bus.map.push(MapEntry::new("ram", 0, 0xf_ffff, Target::Ram(0)).kept_in_caches(true));
    bench.bus.outer = bench.bus.devices[0].as_mut().and_then(|device| device.outer_cache());
    (bench, faults)
}

/// The bench's node only has the timing of a register port.
fn from_node_with_timing(reader: &mut NodeReader) -> Box<dyn Device> {
    let port = AxiLitePort::from_node(reader);
    let (request_cycles, response_cycles, beat_cycles) = (Cycles(2), Cycles(1), Cycles(1));
    let timing = OuterTiming { clock: port.clock, request_cycles, response_cycles, beat_cycles, beat_bytes: 8 };
    Box::new(Pl310::new(port, OuterCache::new(read_shape(reader), timing)))
}

fn pl310() -> Bench {
    let (bench, faults) = node();
    assert!(faults.is_empty(), "{faults:?}");
    bench
}

/// A cache line that is dirty.
fn dirty(bench: &mut Bench, addr: u32) {
    let cache = bench.bus.outer.as_mut().unwrap();
    assert!(!cache.write(addr));
    cache.fill(addr, false, true);
}

#[test]
fn the_device_keeps_its_table() {
    walk::device_keeps_its_table(MAP.rows, &SPECIAL, &mut pl310());
}

#[test]
fn a_node_of_another_shape_is_refused() {
    let (_, faults) =
        read_node(from_node, &[("cache-size", &[64 << 10]), ("cache-line-size", &[32]), ("cache-sets", &[512])]);
    assert!(faults.iter().any(|fault| fault.contains("cache-size")), "{faults:?}");
    assert!(faults.iter().any(|fault| fault.contains("cyclescope,request-cycles")), "{faults:?}");
}

#[test]
fn control_turns_the_cache_on_and_latencies_are_set_before() {
    let mut bench = pl310();
    assert_eq!(bench.bus.outer.as_ref().unwrap().ram_cycles, [Cycles(2), Cycles(2)]);
    bench.write(Ps(0), DRCR, 0x132).unwrap();
    bench.write(Ps(0), CR, 1).unwrap();
    let cache = bench.bus.outer.as_ref().unwrap();
    assert!(cache.enabled);
    assert_eq!(cache.ram_cycles, [Cycles(2), Cycles(4)]);
    assert!(bench.write(Ps(0), TRCR, 0).is_err(), "not while it is on");
    bench.write(Ps(0), CR, 0).unwrap();
    assert!(!bench.bus.outer.as_ref().unwrap().enabled);
}

#[test]
fn a_line_is_cleaned_by_address_and_takes_its_time() {
    let mut bench = pl310();
    dirty(&mut bench, 0x1_2340);
    bench.write(Ps(0), CPALR, 0x1_2340).unwrap();
    // 2 clocks of the tags, 3 + 3 of the RAM.
    assert_eq!(bench.value(Ps(79_999), CSR), 1);
    assert_eq!(bench.value(Ps(80_000), CSR), 0);
    let cache = bench.bus.outer.as_mut().unwrap();
    assert!(!cache.clean(0x1_2340) && cache.read(0x1_2340, false));
    bench.write(Ps(100_000), IPALR, 0x1_2340).unwrap();
    assert!(!bench.bus.outer.as_mut().unwrap().read(0x1_2340, false));
}

#[test]
fn ways_are_worked_through() {
    let mut bench = pl310();
    // Sets 0 and 1, way 0; set 0, way 1.
    [0x0, 0x20, 0x4000].into_iter().for_each(|addr| dirty(&mut bench, addr));
    bench.write(Ps(0), CIWR, 0x01).unwrap();
    assert_eq!(bench.value(Ps(30_000), CIWR), 0x01);
    // 512 look-ups of 2 clocks, and two lines of 6.
    assert_eq!(bench.value(Ps((1024 + 12) * 10_000), CIWR), 0);
    let cache = bench.bus.outer.as_mut().unwrap();
    assert_eq!([0x0, 0x20, 0x4000].map(|addr| cache.read(addr, false)), [false, false, true]);
    bench.write(Ps(20_000_000), CIIR, 1 << 28).unwrap();
    assert!(!bench.bus.outer.as_mut().unwrap().read(0x4000, false));
}

#[test]
fn invalidating_loses_what_is_dirty() {
    let mut bench = pl310();
    dirty(&mut bench, 0x40);
    bench.write(Ps(0), IWR, 0xff).unwrap();
    let cache = bench.bus.outer.as_mut().unwrap();
    assert!(!cache.read(0x40, false));
    assert_eq!(cache.counters().write_backs, 0);
}

#[test]
fn locked_ways_are_not_allocated() {
    let mut bench = pl310();
    bench.write(Ps(0), DLKR, 0xff).unwrap();
    let cache = bench.bus.outer.as_mut().unwrap();
    cache.fill(0x80, false, false);
    assert!(!cache.read(0x80, false));
}

#[test]
fn events_are_counted_from_when_they_are_asked_for() {
    let mut bench = pl310();
    let read = |bench: &mut Bench| bench.bus.outer.as_mut().unwrap().read(0x80, false);
    read(&mut bench);
    bench.write(Ps(0), ECFGR0, 3 << 2).unwrap();
    bench.write(Ps(0), ECFGR1, 2 << 2).unwrap();
    bench.write(Ps(0), ECR, 1).unwrap();
    read(&mut bench);
    bench.bus.outer.as_mut().unwrap().fill(0x80, false, false);
    read(&mut bench);
    assert_eq!([EVR0, EVR1].map(|offset| bench.value(Ps(0), offset)), [2, 1]);
    bench.write(Ps(0), ECR, 0).unwrap();
    read(&mut bench);
    assert_eq!(bench.value(Ps(0), EVR0), 2);
    bench.write(Ps(0), ECR, 1 | 1 << 1).unwrap();
    assert_eq!([ECR, EVR0, EVR1].map(|offset| bench.value(Ps(0), offset)), [1, 0, 1]);
    assert_eq!(bench.bus.outer.as_ref().unwrap().events(OuterEvent::DataReadRequest), 4);
}

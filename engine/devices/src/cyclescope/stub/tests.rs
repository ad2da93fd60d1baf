//! Tests of peripherals without a model.

use super::*;
use crate::bench::Bench;
use engine::bus::device::DeviceId;
use engine::polling::Poll;
use engine::time::{Cycles, Hz, Ps};

fn bench(registers: &[&str]) -> Bench {
    Bench::new(Stub::new(registers.iter().map(|text| row(text).unwrap()).collect()))
}

fn reported(bench: &Bench) -> Vec<Touched> {
    bench.bus.devices[0].as_ref().unwrap().unmodelled()
}

#[test]
fn registers_keep_what_they_may() {
    let mut bench = bench(&["CR 0 reset 0x83 ones 0x2000000", "SR 4 ro reset 7", "KR 8 wo reset 9", "DR 0xc"]);
    let values = |bench: &mut Bench| [0, 4, 8, 0xc, 0x10].map(|offset| bench.value(Ps(0), offset));
    assert_eq!(values(&mut bench), [0x0200_0083, 7, 0, 0, 0]);
    for offset in [0, 4, 8, 0xc, 0x10] {
        assert_eq!(bench.write(Ps(5), offset, 0x55), Ok(Ps(5)));
    }
    assert_eq!(values(&mut bench), [0x0200_0055, 7, 0, 0x55, 0x55]);
}

#[test]
fn narrow_registers_share_a_word() {
    let mut bench = bench(&["A 0 bits 8 reset 0x11", "B 1 bits 8 ro reset 0x22", "C 2 bits 16 reset 0x4433"]);
    assert_eq!(bench.value(Ps(0), 0), 0x4433_2211);
    for (offset, size, value) in [(1, AccessSize::Byte, 0xee), (2, AccessSize::Half, 0xbbaa)] {
        bench.bus.with_device(DeviceId(0), Ps(0), |stub, ctx| stub.write(0, offset, size, value, ctx)).unwrap();
    }
    assert_eq!(bench.value(Ps(0), 0), 0xbbaa_2211);
    let names: Vec<_> = reported(&bench).into_iter().map(|touched| touched.name.unwrap()).collect();
    assert_eq!(names, ["A", "B", "C"]);
}

#[test]
fn uses_are_counted_by_register() {
    let mut bench = bench(&["CR 0"]);
    for now in [30, 40, 50] {
        bench.read(Ps(now), 0).unwrap();
    }
    bench.write(Ps(60), 0, 1).unwrap();
    bench.read(Ps(70), 0).unwrap();
    bench.write(Ps(80), 0x24, 1).unwrap();
    let used =
        |offset, name: Option<&str>, (reads, writes), [most_reads_in_a_row, reads_in_a_row, last]: [u64; 3], first| {
            Touched {
                range: 0,
                offset,
                name: name.map(str::to_owned),
                reads,
                writes,
                most_reads_in_a_row,
                reads_in_a_row,
                last: last as u32,
                first: Ps(first),
            }
        };
    assert_eq!(reported(&bench), [used(0, Some("CR"), (4, 1), [3, 1, 1], 30), used(0x24, None, (0, 1), [0, 0, 0], 80)]);
}

#[test]
fn more_registers_than_are_reported_of_are_counted() {
    let mut bench = bench(&[]);
    for index in 0..1010 {
        bench.write(Ps(0), 4 * index, index).unwrap();
    }
    assert_eq!((reported(&bench).len(), bench.value(Ps(0), 4 * 999), bench.value(Ps(0), 4 * 1000)), (1000, 999, 0));
    let counters = bench.bus.devices[0].as_ref().unwrap().counters();
    assert_eq!(counters, [("accesses to further registers".to_owned(), 11)]);
}

#[test]
fn reads_that_were_skipped_count() {
    let look = |bench: &mut Bench, cycles| {
        let mut poll = Poll::look(Hz::new(1_000_000).unwrap(), Cycles(cycles));
        assert!(bench.bus.devices[0].as_mut().unwrap().polled(&mut poll));
        poll
    };
    let mut bench = bench(&["SR 0"]);
    bench.read(Ps(0), 0).unwrap();
    let before = look(&mut bench, 10);
    bench.read(Ps(10), 0).unwrap();
    let after = look(&mut bench, 20);
    assert!(after.repeats(&before));
    bench.bus.devices[0].as_mut().unwrap().polled(&mut after.skip(&before, 1000));
    let touched = &reported(&bench)[0];
    assert_eq!((touched.reads, touched.most_reads_in_a_row), (1002, 1002));
    let before = look(&mut bench, 30);
    bench.write(Ps(20), 0, 1).unwrap();
    assert!(!look(&mut bench, 40).repeats(&before), "a store may be waited for");
}

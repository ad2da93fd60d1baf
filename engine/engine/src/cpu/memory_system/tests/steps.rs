//! Transfers computed in whole cycles, compared with those over the bus.

use proptest::prelude::*;

use super::super::access::how;
use super::*;
use crate::memory::dram::{Decoding, DramTiming};

/// A core at 498 MHz with an SDRAM at 166 MHz.
fn stepped(registers: Registers, buffer: u32, ahead: bool) -> Rig {
    let (core, bus) = (Hz::new(498_000_000).unwrap(), Hz::new(166_000_000).unwrap());
    let config = MemoryConfig {
        clock: core,
        store_buffer_entries: buffer,
        fetch: FetchPolicy::Chunks(Chunks { bytes: 8, ahead }),
        ..config()
    };
    let mut rig = rig(registers, config);
    let dram = DramTiming {
        banks: 8,
        row_bytes: 1024,
        decoding: Decoding::Interleaved,
        size_bytes: 0x2_0000,
        cas_cycles: 5,
        activate_cycles: 3,
        precharge_cycles: 3,
        row_cycles: 6,
        write_recovery_cycles: 4,
        write_to_read_cycles: 4,
        burst_cycles: 4,
        refresh_interval_cycles: 129,
        refresh_cycles: 27,
    };
    rig.bus.routes[0] =
        Route { name: "matrix".into(), clock: bus, request_cycles: Cycles(4), response_cycles: Cycles(2) };
    rig.bus.rams[0] = Ram::try_new(0x2_0000, PortTiming::symmetric(bus, Cycles(2), Cycles(1), 8), Some(dram)).unwrap();
    rig
}

#[test]
fn a_request_waits_for_the_edge_of_the_bus() {
    let mut rig = stepped(all_off(), 0, false);
    // Edge 1040 of the bus, some time after refresh 8 at 1032: its row is opened, and stays open. Request 4, tRCD 3, CL
    // 5, port 2, response 2.
    rig.now = 3300;
    assert_eq!(rig.word(RAM).0, 3 * (4 + 3 + 5 + 2 + 2));
    for late in 0..3 {
        rig.now = 3360 + 42 * late - late;
        assert_eq!(rig.word(RAM).0, late + 3 * (4 + 5 + 2 + 2));
    }
}

proptest! {
    #[test]
    fn both_ways_take_the_same_time(
        steps in prop::collection::vec((0u32..5, 0u32..0x4000, 0u64..40), 1..200),
        on: bool,
        buffer in 0u32..4,
        ahead: bool,
    ) {
        let registers = || if on { all_on() } else { all_off() };
        let (mut near, mut over) = (stepped(registers(), buffer, ahead), stepped(registers(), buffer, ahead));
        near.word(RAM);
        over.word(RAM);
        // Without the core's clock, no clock is in step with it.
        over.bus.set_core_clocks(Vec::new());
        for (what, offset, gap) in steps {
            let va = RAM + (offset & !3);
            let mut both = [0; 2];
            for (rig, took) in [&mut near, &mut over].into_iter().zip(&mut both) {
                rig.now += gap;
                *took = match what {
                    0 => rig.word(va).0,
                    1 => rig.put(va, offset),
                    2 => {
                        let now = rig.now;
                        let done = rig.memory.multiple(&mut rig.bus, &rig.registers, now, va & !15, 6, how::STORE);
                        rig.passed(done).0
                    }
                    3 => {
                        let now = rig.now;
                        let done = rig.memory.fetch_uncached(&mut rig.bus, &rig.registers, now, va, va + 4);
                        rig.passed(done).0
                    }
                    _ => rig.load(DEVICE, AccessSize::Word, 0).0,
                };
            }
            prop_assert_eq!(both[0], both[1]);
            prop_assert_eq!(near.causes(), over.causes());
        }
        let in_step = |rig: &Rig| (0..rig.bus.map.len()).filter(|entry| rig.bus.path(*entry).keeps_time()).count();
        prop_assert_eq!((in_step(&near), in_step(&over)), (1, 0));
    }
}

/// A step by the quick function where there is one, else by the general one: its cycles.
fn directly(rig: &mut Rig, what: u32, va: u32, words: u32) -> u64 {
    let (quiet, bus) = (Quiet { now: rig.now, until: u64::MAX }, &mut rig.bus);
    let cycles = match what {
        0 => rig.memory.load_flat(bus, quiet, va, 4, false).map(|(cycles, _)| cycles),
        1 => rig.memory.store_flat(bus, quiet, va, 4, va, false),
        2 => rig.memory.multiple_flat(bus, quiet, va, words, true),
        3 => rig.memory.multiple_flat(bus, quiet, va, words, false),
        4 => rig.memory.fetch_flat(bus, quiet, va, va + 4),
        _ => None,
    };
    match cycles {
        Some(cycles) => rig.passed(Done { cycles, result: Ok(()) }).0,
        None => the_long_way(rig, what, va, words),
    }
}

fn the_long_way(rig: &mut Rig, what: u32, va: u32, words: u32) -> u64 {
    let now = rig.now;
    let multiple = |rig: &mut Rig, how| {
        let done = rig.memory.multiple(&mut rig.bus, &rig.registers, now, va, words, how);
        rig.passed(done).0
    };
    match what {
        0 => rig.word(va).0,
        1 => rig.put(va, va),
        2 => multiple(rig, how::STORE),
        3 => multiple(rig, 0),
        4 => {
            let done = rig.memory.fetch_uncached(&mut rig.bus, &rig.registers, now, va, va + 4);
            rig.memory.use_fetched();
            rig.passed(done).0
        }
        _ => rig.load(DEVICE, AccessSize::Word, 0).0,
    }
}

proptest! {
    #[test]
    fn the_quick_path_takes_the_time_of_the_general_one(
        steps in prop::collection::vec((0u32..6, 0u32..0x40, 1u32..9, 0u64..40), 1..200),
        buffer in 0u32..4,
        outer: bool,
    ) {
        let rig = || {
            let rig = stepped(all_off(), buffer, false);
            if outer { with_outer(rig, false) } else { rig }
        };
        let (mut short, mut long) = (rig(), rig());
        let mut at = RAM;
        for (what, offset, words, gap) in steps {
            // Mostly sequential, like code.
            at = if offset < 0x30 { RAM + (at + 4) % 0x1000 } else { RAM + 64 * offset };
            short.now += gap;
            long.now += gap;
            prop_assert_eq!(directly(&mut short, what, at, words), the_long_way(&mut long, what, at, words));
            prop_assert_eq!(short.causes(), long.causes());
        }
    }
}

//! Iterations of polling loops that are skipped leave what running them leaves.

use super::*;
use crate::bench::Bench;
use crate::bench::polled::{Access, Loop};
use proptest::prelude::*;

fn bench() -> Bench {
    Bench::boxed(read_node(vec![flash(0)]).0)
}

/// The register with the pins driven by hand: chip select active, IO0 driven.
const SELECTED: u32 = 1 << CFG_OE.trailing_zeros();
const DESELECTED: u32 = SELECTED | CFG_CSB;

/// Eight clocks: what IO0 is at, and whether the register is read in each.
fn byte_by_hand(byte: u32, reads: bool) -> Vec<Access> {
    let clock = |bit: u32| {
        let level = SELECTED | byte >> bit & 1;
        let look = reads.then_some(Access::Read(0));
        [Access::Write(0, level), Access::Write(0, level | CFG_CLK)].into_iter().chain(look)
    };
    (0..8).rev().flat_map(clock).collect()
}

/// The flash's status register, by hand.
fn status_by_hand() -> Vec<Access> {
    let mut accesses = vec![Access::Write(0, DESELECTED), Access::Write(0, SELECTED)];
    accesses.extend(byte_by_hand(0x05, false));
    accesses.extend(byte_by_hand(0, true));
    accesses.push(Access::Write(0, DESELECTED));
    accesses
}

#[test]
fn a_loop_that_is_read_from_flash_is_skipped() {
    // A jump and the word after it; iterations of 3 * 300 cycles, whose length is a whole number of picoseconds.
    let jumps = [Access::ReadSecond(0x1000), Access::ReadSecond(0x1004), Access::ReadSecond(0x1008)];
    assert!(Loop::even(Soc::clock(), 300, &jumps).assert_skipped_as_run(bench, 100, 1000));
    // The words after the last request are complete.
    let after = || {
        let mut bench = bench();
        bench.bus.with_device(DeviceId(0), Ps(0), |device, ctx| device.burst(1, 0x1000, 16, ctx)).unwrap();
        bench
    };
    let look = [Access::Read(0)];
    assert!(Loop::even(Soc::clock(), 10, &look).assert_skipped_as_run(after, 2000, 1000));
    assert!(!Loop::even(Soc::clock(), 1, &look).assert_skipped_as_run(after, 370, 2), "the lines move");
}

#[test]
fn a_status_that_is_read_by_hand_is_skipped() {
    let polled = Loop::even(Soc::clock(), 6, &status_by_hand());
    assert!(polled.assert_skipped_as_run(bench, 100, 1000));
    // Looked at in the middle of a frame.
    let mut accesses = status_by_hand();
    accesses.rotate_left(21);
    assert!(Loop::even(Soc::clock(), 6, &accesses).assert_skipped_as_run(bench, 100, 1000));
}

/// An action of a loop.
fn access() -> impl Strategy<Value = Access> {
    let configurations = [MAP.rows[0].reset, CFG_ENABLE, SELECTED, DESELECTED, SELECTED | CFG_CLK, SELECTED | 1];
    prop_oneof![
        4 => (0_u32..8).prop_map(|word| Access::ReadSecond(0x1000 + 4 * word)),
        1 => Just(Access::Read(0)),
        1 => prop::sample::select(configurations.to_vec()).prop_map(|value| Access::Write(0, value)),
    ]
}

proptest! {
    #[test]
    fn skipped_iterations_are_as_run(
        distance in 1_u64..400,
        accesses in prop_oneof![prop::collection::vec(access(), 1..8), Just(status_by_hand())],
        start in 0_u64..1000,
        count in 1_u64..30,
    ) {
        Loop::even(Soc::clock(), distance, &accesses).assert_skipped_as_run(bench, start, count);
    }
}

//! Hosts that do anything.

use super::*;
use proptest::prelude::*;

#[derive(Clone, Debug)]
enum Act {
    Bytes(Vec<u8>),
    Command(u8, u32),
    Block(u8),
    Burst { lines: Lines, rate: Rate, drive: Drive, clocks: u32, bits: u32 },
    Chip(bool),
    Wait(u32),
    Idle(u32),
}

fn act() -> impl Strategy<Value = Act> {
    let lines = prop_oneof![Just(Lines::Single), Just(Lines::Dual), Just(Lines::Quad)];
    let rate = prop_oneof![Just(Rate::Single), Just(Rate::Double)];
    let drive = prop_oneof![Just(Drive::Controller), Just(Drive::Target), Just(Drive::Nobody)];
    let argument = prop_oneof![Just(0), Just(512), Just(CAPACITY_BYTES - 512), any::<u32>()];
    prop_oneof![
        proptest::collection::vec(any::<u8>(), 1..20).prop_map(Act::Bytes),
        (0_u8..64, argument).prop_map(|(index, argument)| Act::Command(index, argument)),
        prop_oneof![Just(0xfe), Just(0xfc)].prop_map(Act::Block),
        (lines, rate, drive, 1_u32..5, any::<u32>()).prop_map(|(lines, rate, drive, clocks, bits)| {
            let width = clocks * lines as u32 * rate as u32;
            let bits = if drive == Drive::Controller { bits & ((1_u64 << width) - 1) as u32 } else { 0 };
            Act::Burst { lines, rate, drive, clocks, bits }
        }),
        any::<bool>().prop_map(Act::Chip),
        (0_u32..100_000).prop_map(Act::Wait),
        (1_u32..100).prop_map(Act::Idle),
    ]
}

fn apply(bench: &mut Bench, act: &Act) {
    match act {
        Act::Bytes(bytes) => bench.send(bytes),
        Act::Command(index, argument) => {
            bench.send(&command_frame(*index, *argument));
            bench.bytes(3);
        }
        Act::Block(token) => {
            bench.block(*token, &pattern(3));
        }
        Act::Burst { lines, rate, drive, clocks, bits } => {
            bench.now += Ps(BYTE_PS);
            let (lines, rate, drive, clocks, bits) = (*lines, *rate, *drive, *clocks, *bits);
            let seen = bench.card.shift(Burst { lines, rate, drive, clocks, bits }, bench.now);
            let width = clocks * lines as u32 * rate as u32;
            assert!(u64::from(seen) < 1 << width);
        }
        Act::Chip(true) => bench.select(),
        Act::Chip(false) => bench.deselect(),
        Act::Wait(us) => bench.now += Ps::from_us(u64::from(*us)),
        Act::Idle(clocks) => bench.card.idle_clocks(*clocks, bench.now),
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn nothing_breaks_the_card(
        acts in proptest::collection::vec(act(), 1..60),
        ready: bool,
        is_high: bool,
        removed in 0_u32..30,
    ) {
        let mut changes = vec![("cyclescope,removed-after-blocks", cell(removed))];
        changes.extend(is_high.then(high));
        let mut bench = if ready { Bench::with(&changes) } else { Bench::cold(&changes) };
        for act in &acts {
            apply(&mut bench, act);
            // The pins show what the next clock brings.
            let next_clock = bench.card.next_clock();
            prop_assert_eq!(next_clock.levels[0] & !next_clock.driven, 0);
        }
        prop_assert!(bench.counter("blocks_written") <= bench.counter("commands") * 60);
        // And it can be brought back, unless it has left.
        bench.now += Ps::from_us(1_000_000);
        bench.deselect();
        bench.power_up();
        let answer = bench.command(0, 0);
        prop_assert_eq!(answer, if bench.card.present(bench.now) { 0x01 } else { 0xff });
    }
}

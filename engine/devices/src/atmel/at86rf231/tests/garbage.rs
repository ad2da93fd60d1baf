//! The chip survives any input from a controller.

use proptest::prelude::*;

use super::*;
use engine::polling::{Poll, Polled};
use engine::time::{Cycles, Hz};
use engine::wire::spi::{Drive, Rate};

/// Something done to the chip.
#[derive(Clone, Debug)]
enum Step {
    Select,
    FallsFirst,
    Deselect,
    Access(Vec<u8>),
    Shift(Burst, Option<Edges>),
    Pin(ControlPin, bool),
    Wait(u64),
    Wake,
}

fn burst() -> impl Strategy<Value = Burst> {
    let lines = prop_oneof![Just(Lines::Single), Just(Lines::Dual), Just(Lines::Quad)];
    let rate = prop_oneof![4 => Just(Rate::Single), 1 => Just(Rate::Double)];
    let drive = prop_oneof![Just(Drive::Controller), Just(Drive::Target), Just(Drive::Nobody)];
    (lines, rate, drive, 0u32..40, any::<u32>()).prop_map(|(lines, rate, drive, clocks, bits)| Burst {
        lines,
        rate,
        drive,
        clocks,
        bits,
    })
}

fn edges() -> impl Strategy<Value = Edges> {
    any::<[u64; 5]>().prop_map(|[since, rise, period, high, held]| Edges {
        data_since: Ps(since),
        first_rise: Ps(rise),
        period: Ps(period),
        high: Ps(high),
        held: Ps(held),
    })
}

fn step() -> impl Strategy<Value = Step> {
    let pin = prop_oneof![Just(ControlPin::Sleep), Just(ControlPin::Reset), Just(ControlPin::PowerOff)];
    // Commands and interrupts, so that frames go to and fro.
    let useful =
        (0xc2u8..=0xc2, prop_oneof![Just(0x02u8), Just(6), Just(8), Just(9), Just(3), Just(4), Just(0x16), Just(0x19)]);
    prop_oneof![
        1 => Just(Step::Select),
        1 => Just(Step::FallsFirst),
        1 => Just(Step::Deselect),
        1 => Just(Step::Wake),
        3 => proptest::collection::vec(any::<u8>(), 0..140).prop_map(Step::Access),
        6 => useful.prop_map(|(command, value)| Step::Access(vec![command, value])),
        2 => (burst(), proptest::option::of(edges())).prop_map(|(burst, edges)| Step::Shift(burst, edges)),
        1 => (pin, any::<bool>()).prop_map(|(pin, level)| Step::Pin(pin, level)),
        4 => (0u64..3_000_000_000).prop_map(Step::Wait),
    ]
}

proptest! {
    #[test]
    fn nothing_upsets_the_chip(
        steps in proptest::collection::vec(step(), 0..60),
        lengths in proptest::collection::vec(1u8..=127, 0..3),
    ) {
        let mut bench = Bench::cold(&lengths, 700);
        for step in steps {
            match step {
                Step::Select => bench.chip.select(bench.now),
                Step::FallsFirst => bench.chip.falls_first(bench.now),
                Step::Deselect => bench.chip.deselect(bench.now),
                Step::Access(bytes) => drop(bench.access(&bytes)),
                Step::Shift(burst, edges) => {
                    edges.into_iter().for_each(|edges| bench.chip.edges(edges));
                    bench.chip.shift(burst, bench.now);
                }
                Step::Pin(pin, level) => bench.control(pin, level),
                Step::Wait(ps) => {
                    bench.now += Ps(ps);
                    bench.chip.advance(bench.now);
                }
                Step::Wake => {
                    bench.now = bench.chip.wakes_at().unwrap_or(bench.now).max(bench.now);
                    bench.chip.advance(bench.now);
                }
            }
            // Due operations have been carried out, and the next one lies ahead.
            let late = bench.chip.wakes_at().filter(|at| *at < bench.now && bench.chip.now >= bench.now);
            prop_assert_eq!(late, None);
            bench.chip.next_clock_at(bench.now);
        }
        let on_air = bench.chip.totals.frames_on_air;
        let fates = ["frames_received", "frames_missed", "frames_filtered"];
        let known: u64 = fates.iter().map(|name| bench.counter(name)).sum();
        prop_assert!(on_air == known || on_air == known + 1);
    }
}

#[test]
fn a_loop_that_leaves_the_chip_alone_can_be_skipped_to_its_next_event() {
    let mut bench = Bench::with(&[5], 5000);
    bench.go(Command::RX_ON);
    bench.read(IRQ_STATUS);
    let clock = Hz::new(1_000_000).unwrap();
    let look = |bench: &mut Bench, cycle| {
        let mut poll = Poll::look(clock, Cycles(cycle));
        assert!(bench.chip.polled(&mut poll));
        poll
    };
    let start = clock.cycles_until_ceil(bench.now).0;
    let (before, after) = (look(&mut bench, start), look(&mut bench, start + 10));
    assert!(after.repeats(&before));
    assert_eq!(Some(after.deadline(&before)), bench.chip.wakes_at());
    bench.read(IRQ_STATUS);
    assert!(!look(&mut bench, start + 20).repeats(&before));
}

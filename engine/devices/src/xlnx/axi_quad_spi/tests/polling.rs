//! Iterations of polling loops that are skipped leave what running them leaves.

use super::*;
use crate::bench::polled::{Access, Loop};
use engine::polling::{Poll, Polled};
use proptest::prelude::*;

/// A chip whose answers are the same for ever.
#[derive(engine::state::State)]
struct Still;

impl SpiTarget for Still {
    fn select(&mut self, _now: Ps) {}

    fn shift(&mut self, burst: Burst, _end: Ps) -> u32 {
        0x55 ^ burst.clocks
    }

    fn deselect(&mut self, _now: Ps) {}
}

impl Polled for Still {
    fn polled(&mut self, poll: &mut Poll) -> bool {
        poll.until(Ps::from_us(100_000));
        true
    }
}

fn still(params: Params) -> Bench {
    let chip = HostedChip::new(Box::new(Still), "flash0".to_owned(), None, 0);
    let chips = [Some(chip)].into_iter().chain((1..params.slaves).map(|_| None)).collect();
    Bench::new(AxiQuadSpi::new(params, Chips::new(chips)))
}

/// A driver's exchange of two bytes: the status of a flash.
fn exchange(polls: usize) -> Vec<Access> {
    let begin = [(SPICR, STOP), (SPISSR, !1), (DTR, 0x05), (DTR, 0), (SPICR, RUN)];
    let end = [Access::Read(DRR), Access::Read(DRR), Access::Write(SPICR, STOP), Access::Write(SPISSR, !0)];
    let begin = begin.into_iter().map(|(register, value)| Access::Write(register, value));
    begin.chain(vec![Access::Read(SPISR); polls]).chain(end).collect()
}

/// After a write that empties the FIFO for the receiver.
fn cleared(params: Params) -> Bench {
    let mut bench = still(params);
    bench.write(Ps(0), SPICR, STOP | SPICR_TX_FIFO_RESET | SPICR_RX_FIFO_RESET).unwrap();
    bench
}

#[test]
fn an_exchange_of_bytes_is_skipped() {
    // 16 accesses of 10 cycles: 128 periods of the wire's clock.
    for lines in [Lines::Single, Lines::Quad] {
        let polled = Loop::even(mhz(100), 10, &exchange(7));
        assert!(polled.assert_skipped_as_run(|| cleared(params(lines)), 3, 10_000));
    }
    // 17 accesses of 9 cycles: the two clocks have the same phase again after 5 iterations.
    let polled = Loop::even(mhz(100), 9, &exchange(8));
    assert!(polled.assert_skipped_as_run(|| cleared(params(Lines::Single)), 3, 2000));
    assert!(polled.assert_skipped_as_run(|| cleared(Params { sck_ratio: 4, ..params(Lines::Single) }), 3, 2000));
}

#[test]
fn a_wait_for_a_slow_byte_is_skipped() {
    // A byte takes 8 * 2048 periods of 12.5 ns, 20480 cycles.
    let slow = || {
        let mut bench = cleared(Params { sck_ratio: 2048, ..params(Lines::Single) });
        for (register, value) in [(SPISSR, !1), (DTR, 0x05), (DTR, 0), (SPICR, RUN)] {
            bench.write(Ps(0), register, value).unwrap();
        }
        bench
    };
    let polled = Loop::even(mhz(100), 10, &[Access::Read(SPISR)]);
    for start in [0, 20_500] {
        assert!(polled.assert_skipped_as_run(slow, start, 2000), "{start}");
        // The first byte is through in between.
        assert!(!polled.assert_skipped_as_run(slow, start, 2100), "{start}");
    }
}

#[test]
fn bytes_that_will_interrupt_are_not_skipped() {
    let interrupting = |enabled| {
        let mut bench = cleared(params(Lines::Single));
        bench.write(Ps(0), IPIER, enabled).unwrap();
        bench.write(Ps(0), DGIER, DGIER_GIE).unwrap();
        bench
    };
    // Of an error that no exchange makes: else each byte's end is an event.
    let polled = Loop::even(mhz(100), 10, &exchange(7));
    assert!(!polled.assert_skipped_as_run(|| interrupting(IPISR_DRR_FULL), 3, 10));
    assert!(polled.assert_skipped_as_run(|| interrupting(1 << 9), 3, 10));
    let idle = Loop::even(mhz(100), 10, &[Access::Read(SPISR)]);
    assert!(idle.assert_skipped_as_run(|| interrupting(IPISR_DRR_FULL), 3, 10_000));
}

/// Registers, and what a loop may write to them.
fn access() -> impl Strategy<Value = Access> {
    prop_oneof![
        4 => prop::sample::select(vec![SPISR, SPICR, IPISR, DRR, TX_FIFO_OCY, RX_FIFO_OCY]).prop_map(Access::Read),
        4 => prop::sample::select(vec![0x05, 0x6b, 0x00, 0xff]).prop_map(|byte| Access::Write(DTR, byte)),
        2 => prop::sample::select(vec![
            RUN,
            STOP,
            RUN & !SPICR_MANUAL_SELECT,
            RUN | SPICR_RX_FIFO_RESET,
            RUN | SPICR_LOOP,
        ])
        .prop_map(|value| Access::Write(SPICR, value)),
        1 => prop::sample::select(vec![!0, !1]).prop_map(|value| Access::Write(SPISSR, value)),
        1 => (0_u32..0x4000).prop_map(|value| Access::Write(IPISR, value)),
    ]
}

proptest! {
    #[test]
    fn skipped_iterations_are_as_run(
        distance in 1_u64..50,
        accesses in prop_oneof![
            (1_usize..20).prop_map(exchange),
            prop::collection::vec(access(), 1..12),
        ],
        core in prop::sample::select(vec![100, 200, 300]),
        ratio in prop::sample::select(vec![2, 4, 32]),
        lines in prop::sample::select(vec![Lines::Single, Lines::Dual, Lines::Quad]),
        depth in prop::sample::select(vec![0, 16, 256]),
        start in 0_u64..1000,
        count in 1_u64..30,
    ) {
        let single = lines == Lines::Single;
        let params = Params {
            sck_ratio: if single { ratio } else { 2 },
            fifo_depth: if single { depth } else { depth.max(16) },
            ..params(lines)
        };
        Loop::even(mhz(core), distance, &accesses).assert_skipped_as_run(|| cleared(params), start, count);
    }
}

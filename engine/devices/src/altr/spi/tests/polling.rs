//! Iterations of polling loops that are fast-forwarded leave what running them leaves.

use super::*;
use engine::polling::{Poll, Polled};

/// A chip whose answers are the same for ever.
#[derive(engine::state::State)]
struct Still;

impl SpiTarget for Still {
    fn select(&mut self, _now: Ps) {}

    fn shift(&mut self, _burst: Burst, _end: Ps) -> u32 {
        0x55
    }

    fn deselect(&mut self, _now: Ps) {}
}

impl Polled for Still {
    fn polled(&mut self, poll: &mut Poll) -> bool {
        poll.until(Ps::from_us(900));
        true
    }
}

fn rig() -> Rig {
    let chips = Chips::new(vec![Some(HostedChip::new(Box::new(Still), String::new(), None, 0)), None]);
    Rig { bench: Bench::new(AltrSpi::new(params(1), chips)), saw: Arc::default() }
}

const ITERATION_CYCLES: u64 = 60;

/// Two words, the second held until the end of the first, and all reads.
fn iteration(rig: &mut Rig, index: u64) -> Vec<u32> {
    let cycle = 1000 + index * ITERATION_CYCLES;
    rig.put(cycle, TXDATA, 0xff);
    rig.put(cycle + 2, TXDATA, 0xff);
    let first = rig.get(cycle + 24, RXDATA);
    vec![first, rig.get(cycle + 46, STATUS), rig.get(cycle + 48, RXDATA)]
}

fn list(rig: &mut Rig, cycle: u64, mut poll: Poll) -> Option<Poll> {
    rig.bench.bus.with_device(DeviceId(0), at(cycle), |device, _| device.polled(&mut poll)).then_some(poll)
}

fn look(rig: &mut Rig, cycle: u64) -> Option<Poll> {
    list(rig, cycle, Poll::look(clock(), Cycles(cycle)))
}

fn totals(rig: &mut Rig) -> Vec<(String, u64)> {
    rig.bench.bus.with_device(DeviceId(0), Ps::ZERO, |device, _| device.counters())
}

#[test]
fn iterations_that_are_skipped_leave_what_running_them_leaves() {
    let (mut run, mut skipped) = (rig(), rig());
    for rig in [&mut run, &mut skipped] {
        (0..3).for_each(|index| drop(iteration(rig, index)));
    }
    let cycle = 1000 + 2 * ITERATION_CYCLES + 52;
    let before = look(&mut skipped, cycle).unwrap();
    iteration(&mut skipped, 3);
    let after = look(&mut skipped, cycle + ITERATION_CYCLES).unwrap();
    assert!(after.repeats(&before));
    assert_eq!(after.deadline(&before), Ps::from_us(900));
    list(&mut skipped, cycle + ITERATION_CYCLES, after.skip(&before, 100)).unwrap();
    (3..104).for_each(|index| drop(iteration(&mut run, index)));
    assert_eq!(iteration(&mut run, 104), iteration(&mut skipped, 104));
    assert_eq!(totals(&mut run), totals(&mut skipped));
}

#[test]
fn words_under_way_move_along() {
    let mut rig = rig();
    let mut look_after_two = |start| {
        rig.put(start, TXDATA, 0xff);
        rig.put(start + 2, TXDATA, 0xff);
        look(&mut rig, start + 10).unwrap()
    };
    let (first, before, after) = (look_after_two(100), look_after_two(160), look_after_two(220));
    assert!(!before.repeats(&first), "nothing had been received before the first iteration");
    assert!(after.repeats(&before));
    list(&mut rig, 230, after.skip(&before, 10)).unwrap();
    // In the shift register at 223, 18 clocks, one more, 18 clocks; ten iterations of 60 later.
    let end = 223 + 18 + 1 + 18 + 600;
    assert_eq!(rig.get(end - 2, STATUS) & STATUS_TMT, 0);
    assert_eq!(rig.get(end, STATUS) & STATUS_TMT, STATUS_TMT);
}

#[test]
fn other_clocks_interrupts_and_chips_that_refuse_are_not_skipped() {
    let mut still = rig();
    assert!(list(&mut still, 100, Poll::look(Hz::new(50_000_000).unwrap(), Cycles(50))).is_none());
    still.put(100, CONTROL, STATUS_RRDY);
    assert!(look(&mut still, 110).is_some());
    still.put(120, TXDATA, 1);
    assert!(look(&mut still, 125).is_none());
    // The chips of the other tests list nothing.
    assert!(look(&mut Rig::new(params(1)), 100).is_none());
}

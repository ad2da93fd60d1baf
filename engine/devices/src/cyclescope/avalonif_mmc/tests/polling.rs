//! Iterations of polling loops that are fast-forwarded leave what running them leaves.

use super::*;
use engine::polling::{Poll, Polled};

/// Iterations of a loop that sends a byte and asks twice.
const ITERATION_CYCLES: u64 = 40;

fn iteration(rig: &mut Rig, cycle: u64) -> Vec<u32> {
    rig.put(cycle, CONTROL, SELECTED | 0xff);
    vec![rig.get(cycle + 9, CONTROL), rig.get(cycle + 20, CONTROL)]
}

fn look(rig: &mut Rig, cycle: u64) -> Option<Poll> {
    list(rig, at(cycle), Poll::look(clock(), Cycles(cycle)))
}

fn list(rig: &mut Rig, now: Ps, mut poll: Poll) -> Option<Poll> {
    rig.bench.bus.with_device(DeviceId(0), now, |device, _| device.polled(&mut poll)).then_some(poll)
}

fn totals(rig: &mut Rig) -> Vec<(String, u64)> {
    rig.bench.bus.with_device(DeviceId(0), Ps::ZERO, |device, _| device.counters())
}

/// A card whose answers are the same for ever.
#[derive(engine::state::State)]
struct Still;

impl SpiTarget for Still {
    fn select(&mut self, _now: Ps) {}

    fn shift(&mut self, _burst: Burst, _end: Ps) -> u32 {
        0
    }

    fn deselect(&mut self, _now: Ps) {}
}

impl Polled for Still {
    fn polled(&mut self, poll: &mut Poll) -> bool {
        poll.until(Ps::from_us(900));
        true
    }
}

fn still_rig() -> Rig {
    let port = AxiLitePort { clock: clock(), read_cycles: Cycles(0), write_cycles: Cycles(0) };
    let mut rig = Rig {
        bench: Bench::new(AvalonifMmc::new(
            port,
            None,
            Some(HostedChip::new(Box::new(Still), "card0".to_owned(), None, 0)),
        )),
        saw: Arc::default(),
    };
    rig.put(5, DIVIDER, 0);
    rig.put(6, CONTROL, NOTHING & !CONTROL_CDALTER);
    rig
}

#[test]
fn iterations_that_are_skipped_leave_what_running_them_leaves() {
    // Lists made at any point of the loop.
    for offset in 0..ITERATION_CYCLES - 21 {
        let (mut run, mut skipped) = (still_rig(), still_rig());
        let mut cycle = 1000;
        for rig in [&mut run, &mut skipped] {
            for index in 0..3 {
                iteration(rig, cycle + index * ITERATION_CYCLES);
            }
        }
        cycle += 2 * ITERATION_CYCLES + 21 + offset;
        let before = look(&mut skipped, cycle).unwrap();
        iteration(&mut skipped, 1000 + 3 * ITERATION_CYCLES);
        let after = look(&mut skipped, cycle + ITERATION_CYCLES).unwrap();
        assert!(after.repeats(&before));
        assert_eq!(after.deadline(&before), Ps::from_us(900));
        list(&mut skipped, at(cycle + ITERATION_CYCLES), after.skip(&before, 100)).unwrap();
        for index in 3..104 {
            iteration(&mut run, 1000 + index * ITERATION_CYCLES);
        }
        let next = 1000 + 104 * ITERATION_CYCLES;
        assert_eq!(iteration(&mut run, next), iteration(&mut skipped, next));
        assert_eq!(totals(&mut run), totals(&mut skipped));
    }
}

#[test]
fn a_byte_under_way_moves_along() {
    let mut rig = still_rig();
    rig.put(100, CONTROL, SELECTED | 0xff);
    let before = look(&mut rig, 110).unwrap();
    rig.put(140, CONTROL, SELECTED | 0xff);
    let after = look(&mut rig, 150).unwrap();
    assert!(after.repeats(&before));
    list(&mut rig, at(150), after.skip(&before, 10)).unwrap();
    // Taken at edge 141, 17 clocks, and ten iterations of 40.
    assert!(!rig.is_idle(141 + 17 + 400 - 1) && rig.is_idle(141 + 17 + 400));
}

#[test]
fn a_flag_of_the_counter_is_a_deadline_and_its_value_is_not_skipped() {
    let mut rig = still_rig();
    rig.put(100, COUNTER, 5_000);
    let before = look(&mut rig, 110).unwrap();
    rig.get(120, CONTROL);
    let after = look(&mut rig, 150).unwrap();
    assert!(after.repeats(&before));
    // Taken at edge 101; 5000 clocks to 0, and one to the flag.
    assert_eq!(after.deadline(&before), at(101 + 5_000 + 1));
    assert_eq!(rig.get(6101, CONTROL) & rig.get(6102, CONTROL) & CONTROL_FRCZERO, CONTROL_FRCZERO);
    rig.put(7000, COUNTER, 5_000);
    let before = look(&mut rig, 7010).unwrap();
    rig.get(7020, COUNTER);
    let after = look(&mut rig, 7050).unwrap();
    assert!(!after.repeats(&before));
}

#[test]
fn the_flag_of_before_a_load_is_a_state_of_its_own() {
    let mut rig = still_rig();
    rig.put(100, COUNTER, 5_000);
    // Taken at edge 101, in whose clock the flag is still that of the counter at 0.
    let list = look(&mut rig, 100).unwrap();
    assert_eq!(list.deadline(&list), at(102));
    assert_eq!([101, 102].map(|cycle| rig.get(cycle, CONTROL) & CONTROL_FRCZERO), [CONTROL_FRCZERO, 0]);
}

#[test]
fn a_change_on_its_way_from_the_slot_refuses() {
    let mut rig = rig(at(100));
    assert!(look(&mut rig, 2).is_none(), "the card that is in from the start");
    let before = look(&mut rig, 3).unwrap();
    let after = look(&mut rig, 50).unwrap();
    assert!(after.repeats(&before));
    assert_eq!(after.deadline(&before), at(100));
    assert!(look(&mut rig, 101).is_none());
    assert!(!look(&mut rig, 102).unwrap().repeats(&after));
}

#[test]
fn what_differs_is_not_skipped() {
    let mut rig = rig(Ps::MAX);
    rig.put(5, DIVIDER, 0);
    iteration(&mut rig, 100);
    let before = look(&mut rig, 130).unwrap();
    iteration(&mut rig, 140);
    // The chip's next answer is another, and so is what the register shows.
    assert!(!look(&mut rig, 170).unwrap().repeats(&before));
}

#[test]
fn other_clocks_and_bytes_with_an_interrupt_refuse() {
    let mut rig = still_rig();
    let other = Poll::look(Hz::new(50_000_000).unwrap(), Cycles(100));
    assert!(list(&mut rig, Ps::from_us(2), other).is_none());
    rig.put(300, CONTROL, SELECTED | CONTROL_IRQENA | 0xff);
    assert!(look(&mut rig, 310).is_none());
    assert!(look(&mut rig, 330).is_some());
}

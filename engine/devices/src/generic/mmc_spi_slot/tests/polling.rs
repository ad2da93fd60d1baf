//! Lists for skipping of polling loops: what is skipped must come out as if it had run.

use super::*;
use engine::polling::{Poll, Polled};
use engine::time::{Cycles, Hz};

/// The polling core's clock: a byte of the bench is 32 of its cycles.
fn clock() -> Hz {
    Hz::new(100_000_000).unwrap()
}

const ITERATION_CYCLES: u64 = 32;

impl Bench {
    fn cycle(&self) -> Cycles {
        clock().cycles_until_ceil(self.now)
    }

    fn look(&mut self) -> Option<Poll> {
        let mut poll = Poll::look(clock(), self.cycle());
        self.card.polled(&mut poll).then_some(poll)
    }

    /// Waits for a byte other than `usual` with a byte an iteration, skipping where that is allowed: the byte, and how
    /// many were skipped.
    fn poll(&mut self, usual: u8, skipping: bool) -> (u8, u64) {
        let mut skipped = 0;
        loop {
            let before = self.look();
            let byte = self.exchange(0xff);
            if byte != usual {
                return (byte, skipped);
            }
            let (Some(before), Some(after)) = (before, self.look()) else { continue };
            if !skipping || !after.repeats(&before) {
                continue;
            }
            let until = clock().cycles_until_floor(after.deadline(&before)).0;
            // The last iteration before the deadline runs.
            let iterations = (until.saturating_sub(self.cycle().0) / ITERATION_CYCLES).saturating_sub(1);
            self.card.polled(&mut after.skip(&before, iterations));
            self.now += Ps(iterations * BYTE_PS);
            skipped += iterations;
        }
    }
}

/// Run and fast-forwarded, from the same start: the same byte at the same time, and the same totals.
fn assert_exact(start: impl Fn() -> Bench, usual: u8) -> u64 {
    let (mut run, mut skip) = (start(), start());
    let (byte, _) = run.poll(usual, false);
    let (skipped_byte, skipped) = skip.poll(usual, true);
    assert_eq!((skipped_byte, skip.now, skip.card.counters()), (byte, run.now, run.card.counters()));
    skipped
}

#[test]
fn busy_time_is_skipped_exactly() {
    let start = || {
        let mut bench = Bench::new();
        bench.command(24, 0);
        bench.block(0xfe, &pattern(1));
        bench
    };
    // 2330 us of 320 ns; the iterations near the end run.
    let skipped = assert_exact(start, 0);
    assert!(skipped > 7_200, "{skipped}");
}

#[test]
fn busy_time_in_a_multiple_write_is_skipped_after_a_pause() {
    let start = || {
        let mut bench = Bench::new();
        bench.command(25, 0);
        for block in 0..8 {
            bench.block(0xfc, &pattern(block));
        }
        // The host is busy itself for a while.
        bench.now += Ps::from_us(20);
        bench
    };
    assert!(assert_exact(start, 0) > 300);
}

#[test]
fn the_access_time_of_a_read_is_skipped_exactly() {
    let start = || {
        let mut bench = Bench::new();
        bench.command(17, 0);
        bench.exchange(0xff);
        bench
    };
    let skipped = assert_exact(start, 0xff);
    assert!(skipped > 700, "{skipped}");
}

#[test]
fn a_card_that_will_leave_is_watched_until_then() {
    let start = || {
        let changes = [("cyclescope,removed-at-ms", cell(30)), ("cyclescope,stuck-busy-block", cell(1))];
        let mut bench = Bench::with(&changes);
        bench.command(24, 0);
        bench.block(0xfe, &pattern(1));
        bench
    };
    assert!(assert_exact(start, 0) > 50_000);
}

/// Two registers of the same length: the card is in the same state except for the bytes that it will send.
#[test]
fn a_register_on_its_way_is_part_of_the_state() {
    let mut bench = Bench::new();
    let mut look_at = |index| {
        bench.deselect();
        bench.select();
        bench.command(index, 0);
        bench.exchange(0xff);
        bench.look().unwrap()
    };
    let (csd, cid, again) = (look_at(9), look_at(10), look_at(10));
    assert!(!cid.repeats(&csd));
    assert!(again.repeats(&cid));
}

/// A byte that is over soon after the end of busy has bits of both kinds.
#[test]
fn nothing_is_skipped_in_the_byte_in_which_busy_ends() {
    let mut bench = Bench::new();
    bench.command(24, 0);
    bench.block(0xfe, &pattern(1));
    let before = bench.look().unwrap();
    let end = before.deadline(&before);
    bench.now = Ps(end.0 - 10_000);
    assert!(bench.look().unwrap().repeats(&before));
    for late in [0, BYTE_PS - 10_000] {
        bench.now = Ps(end.0 + late);
        let look = bench.look().unwrap();
        assert!(!look.repeats(&look), "{late}");
    }
    bench.now = Ps(end.0 + BYTE_PS);
    let look = bench.look().unwrap();
    assert!(look.repeats(&look));
}

#[test]
fn the_middle_of_things_is_not_listed() {
    let mut bench = Bench::new();
    assert!(bench.look().is_some());
    bench.exchange(0x4d);
    assert!(bench.look().is_none(), "within a command");
    bench.send(&command_frame(13, 0)[1..]);
    assert!(bench.look().is_none(), "within a response");
    bench.bytes(3);
    assert!(bench.look().is_some());
    bench.command(24, 0);
    assert!(bench.look().is_some(), "it waits for a token");
    bench.exchange(0xfe);
    assert!(bench.look().is_none(), "within a block");
}

#[test]
fn commands_in_the_loop_are_counted_and_transfers_end_it() {
    let mut bench = Bench::new();
    let mut looks = Vec::new();
    for _ in 0..3 {
        bench.status();
        looks.push(bench.look().unwrap());
    }
    assert!(looks[2].repeats(&looks[1]));
    bench.write(0, &pattern(0));
    assert!(!bench.look().unwrap().repeats(&looks[2]));
}

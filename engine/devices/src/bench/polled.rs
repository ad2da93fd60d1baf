//! A loop of accesses to a device, run iteration by iteration and with skipped iterations.

use super::Bench;
use engine::bus::device::{AccessResult, AccessSize, DeviceId};
use engine::polling::Poll;
use engine::time::{Cycles, Hz, Ps};

/// An access of a loop, at a register's offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// A read.
    Read(u32),
    /// A read of the second range.
    ReadSecond(u32),
    /// A write, and its value.
    Write(u32, u32),
}

/// A loop: its accesses, each with its cycle in the iteration, in order, and the length of an iteration.
#[derive(Clone, Debug)]
pub struct Loop {
    clock: Hz,
    period: u64,
    accesses: Vec<(u64, Access)>,
}

/// Iterations after which a loop has settled, if it does, and those that are run after the skipped ones.
const FIRST: u64 = 6;
const LAST: u64 = 3;
/// Most passes through a loop that are tried as an iteration.
const MOST_PASSES: u64 = 8;

impl Loop {
    /// Accesses at equal distances.
    pub fn even(clock: Hz, distance: u64, accesses: &[Access]) -> Loop {
        let period = distance * accesses.len() as u64;
        Loop { clock, period, accesses: accesses.iter().enumerate().map(|(n, a)| (n as u64 * distance, *a)).collect() }
    }

    fn at(&self, cycle: u64) -> Ps {
        self.clock.ps_at_floor(Cycles(cycle))
    }

    /// Runs an iteration that begins in `cycle`: the values that it reads, and the time of each answer.
    fn iterate(&self, bench: &mut Bench, cycle: u64) -> Vec<AccessResult> {
        let answers = self.accesses.iter().map(|(offset, access)| {
            let at = self.at(cycle + offset);
            bench.run(at);
            bench.bus.with_device(DeviceId(0), at, |device, ctx| match *access {
                Access::Read(offset) => device.read(0, offset, AccessSize::Word, ctx),
                Access::ReadSecond(offset) => device.read(1, offset, AccessSize::Word, ctx),
                Access::Write(offset, value) => device.write(0, offset, AccessSize::Word, value, ctx),
            })
        });
        answers.collect()
    }

    fn list(bench: &mut Bench, poll: &mut Poll) -> bool {
        bench.bus.with_device(DeviceId(0), poll.now(), |device, _| device.polled(poll))
    }

    fn look(&self, bench: &mut Bench, cycle: u64) -> Option<Poll> {
        bench.run(self.at(cycle));
        let mut poll = Poll::look(self.clock, Cycles(cycle));
        Loop::list(bench, &mut poll).then_some(poll)
    }

    /// The lists at the end of an iteration, if they equal those at its start except for times and totals, for `count`
    /// more iterations. An iteration may be several passes through the loop. Also returns the number of passes that
    /// were run.
    fn repetition(&self, bench: &mut Bench, from: u64, count: u64) -> (Option<(Poll, Poll)>, u64) {
        let Some(before) = self.look(bench, from) else { return (None, 0) };
        let events = (bench.bus.events.scheduled(), bench.bus.events.next_due());
        for passes in 1..=MOST_PASSES {
            let end = from + passes * self.period;
            self.iterate(bench, end - self.period);
            let Some(after) = self.look(bench, end) else { return (None, passes) };
            let same_events = (bench.bus.events.scheduled(), bench.bus.events.next_due()) == events;
            let ahead = after.latest_end(&before).0.saturating_sub(end);
            let until = after.deadline(&before).min(bench.bus.events.next_due());
            let last = self.at(end + (count + 1) * passes * self.period + ahead);
            if same_events && after.repeats(&before) && last < until {
                return (Some((before, after)), passes);
            }
        }
        (None, MOST_PASSES)
    }

    /// Runs the loop on two benches, on one of them with `count` iterations skipped, if its state allows it. True if it
    /// did. Otherwise the lists of its state must at least have changed nothing.
    ///
    /// # Panics
    /// If anything is different afterwards.
    pub fn assert_skipped_as_run(&self, make: impl Fn() -> Bench, start: u64, count: u64) -> bool {
        let (mut run, mut skipped) = (make(), make());
        for bench in [&mut run, &mut skipped] {
            (0..FIRST).for_each(|n| drop(self.iterate(bench, start + n * self.period)));
        }
        let mut from = start + FIRST * self.period;
        let (lists, passes) = self.repetition(&mut skipped, from, count);
        let is_skipped = lists.is_some();
        if let Some((before, after)) = lists {
            Loop::list(&mut skipped, &mut after.skip(&before, count));
        }
        for _ in 0..passes * if is_skipped { count + 1 } else { 1 } {
            self.iterate(&mut run, from);
            from += self.period;
        }
        for _ in 0..LAST * passes.max(1) {
            assert_eq!(self.iterate(&mut run, from), self.iterate(&mut skipped, from), "in {self:?}");
            from += self.period;
        }
        let end = |bench: &mut Bench| {
            bench.run(self.at(from + self.period));
            let pending = bench.pending();
            let device = bench.bus.devices[0].as_mut();
            device.map(|device| (device.finish(self.at(from + 2 * self.period)), device.counters(), pending))
        };
        assert_eq!(end(&mut run), end(&mut skipped), "in {self:?}");
        is_skipped
    }
}

//! Loops that wait for a time of the core's own timer, as Linux's `udelay` does: each iteration reads the counter by an
//! instruction, and compares it.
//!
//! Registers hold the time, or its distance from a constant, so no iteration is like the one before. But all take the
//! same cycles, and the counter is a function of time: [`Counting`] gives the number of ticks until a comparison has
//! another result, and a search the iterations until then. After them, the registers are computed from the time at
//! which the last iteration has read the counter.

use super::counting::Counting;
use super::fast_forward::{
    MOST_RESULTS, Repeats, add_iterations, begin_repeating, is_steady, iterations_to_come, no_event_is_due, period,
    run_back_to, snapshot, view,
};
use super::iteration::{Iteration, LONGEST_COUNTED};
use super::polls::ClockRead;
use crate::bus::Bus;
use crate::time::{Cycles, Hz};

/// Iterations that are tried: the loop may not have settled in the first.
const TRIES: usize = 3;
/// Bits of the number of iterations that are added at once.
const MOST_BITS: u32 = 40;

/// The counter's values in the iterations to come: iteration 0 is the last that has run.
struct Clock<'a> {
    bus: &'a Bus,
    rate: Hz,
    /// The read at the beginning of iteration 0.
    read: ClockRead,
    period: u64,
}

impl Clock<'_> {
    /// The time with which iteration `number` begins.
    fn at(&self, number: u64) -> Option<u64> {
        let cycles = Cycles(self.read.cycles.checked_add(number.checked_mul(self.period)?)?);
        self.bus.count_at(self.read.register, self.rate.ps_at_floor(cycles))
    }

    /// Number of iterations after number 0 in which at most `ticks` have passed since then, and the high word of the
    /// time, also after the last of them, is the same.
    fn iterations_within(&self, ticks: u64) -> Option<u64> {
        let first = self.at(0)?;
        let fits = |number: u64| {
            let within = self.at(number).is_some_and(|time| time - first <= ticks);
            within && self.at(number + 1).is_some_and(|time| time >> 32 == first >> 32)
        };
        let grown = |number: u64, bit: u32| if fits(number | 1 << bit) { number | 1 << bit } else { number };
        Some((0..MOST_BITS).rev().fold(0, grown))
    }
}

/// Adds iterations of the loop at the current address, which follows an instruction that reads the time.
pub(super) fn skip_clock_loop<C: Repeats>(core: &mut C, bus: &mut Bus) -> Option<()> {
    (0..TRIES).find_map(|_| try_iteration(core, bus)).flatten()
}

/// Runs an iteration, and adds those that follow it. `None` to try another; `Some(None)` to give up.
fn try_iteration<C: Repeats>(core: &mut C, bus: &mut Bus) -> Option<Option<()>> {
    if core.is_full() || !no_event_is_due(core, bus) {
        return Some(None);
    }
    begin_repeating(core);
    let before = snapshot(core, bus);
    let Some(read) = core.polls().clock() else { return Some(None) };
    core.forget_touched();
    let mut iteration = Iteration::default();
    if run_back_to(core, before.pc, bus, &mut iteration, LONGEST_COUNTED).is_none() || !no_event_is_due(core, bus) {
        return Some(None);
    }
    let after = snapshot(core, bus);
    let Some(last) = core.polls().clock() else { return Some(None) };
    let period = period(&before, &after);
    let has_settled = last.reads == read.reads + 1
        && (last.register, last.to) == (read.register, read.to)
        && last.cycles.wrapping_sub(read.cycles) == period
        // Stores of the loop itself may be under way, but none that a device has seen.
        && !view(core).has_accessed_devices(bus)
        && is_steady(core, bus, &before, &after, &iteration);
    if !has_settled {
        return None;
    }
    let Some((ticks, steps)) = follow(core, &iteration, [&before.results, &after.results], read.to) else {
        return Some(None);
    };
    let rate = core.shell().clock;
    let most = Clock { bus, rate, read, period }.iterations_within(ticks)?;
    let Some(count) = iterations_to_come(core, bus, most, &before, &after) else { return Some(None) };
    let clock = Clock { bus, rate, read, period };
    let (first, then, next) = (clock.at(0)?, clock.at(count)?, clock.at(count + 1)?);
    let read_then = [before.results, after.results].map(|results| results[usize::from(read.to)]);
    if read_then != [first, clock.at(1)?].map(|time| time as u32) {
        return Some(None);
    }
    let growth = std::array::from_fn(|register| match register == usize::from(read.to) {
        true => (next as u32).wrapping_sub(after.results[register]),
        false => steps[register].wrapping_mul(then.wrapping_sub(first) as u32),
    });
    add_iterations(core, &before, &after, &iteration, (count, &growth));
    bus.activities.repeat(&before.activities, rate, period, count);
    view(core).move_devices_on(bus, count, &before.devices, after.devices);
    Some(Some(()))
}

/// The ticks that may pass until an iteration goes another way, and the steps of registers with each of them. Registers
/// that follow the time may be equal by chance, within a tick: the second look does not rely on them.
fn follow<C: Repeats>(
    core: &C,
    iteration: &Iteration,
    [before, after]: [&[u32; MOST_RESULTS]; 2],
    time: u8,
) -> Option<(u64, [u32; MOST_RESULTS])> {
    let look = |follows: &[u32; MOST_RESULTS]| {
        let mut counting = Counting::of_clock(before, after, time, follows)?;
        core.follow(iteration, &mut counting)?;
        counting.end_of_clock(before)
    };
    let (_, steps) = look(&[0; MOST_RESULTS])?;
    look(&steps).filter(|(_, again)| *again == steps)
}

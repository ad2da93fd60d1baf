//! Fast-forwards polling loops, with exactly the result of running every iteration.
//!
//! A candidate ([`super::polls`]) runs on, instruction by instruction. Each time it passes the instruction at which it
//! was found (several times per iteration, if that belongs to an inner loop), everything is compared: the core itself,
//! the memory that the loop wrote, future events, and the lists of the devices that it accessed. If nothing has changed
//! since the first time but times, totals, and registers that count iterations ([`super::counting`]), the code in
//! between is an iteration, and the following iterations are the same, up to the next event, the core's horizon, the
//! first deadline of a device, or the end of a count. All of them but the last are added at once.

use super::clock_loops::skip_clock_loop;
use super::counting::Counting;
use super::iteration::{Iteration, LONGEST_COUNTED, LONGEST_ITERATION, Lists, MOST_PASSES, TRIES, View};
use super::polls::Polls;
use crate::activity::Mark;
use crate::bus::Bus;
use crate::bus::entries::Entries;
use crate::cpu::accounts::Totals;
use crate::cpu::memory_system::Accounts;
use crate::cpu::sections::Totals as _;
use crate::cpu::shell::Shell;
use crate::inputs::Inputs;
use crate::time::Ps;

/// Most registers that keep results between instructions: see [`crate::cpu::isa::Isa::RESULTS`].
pub(crate) const MOST_RESULTS: usize = 40;

/// A core whose polling loops can be fast-forwarded, with or without blocks.
pub(crate) trait Repeats {
    /// The state on which the next instructions depend beside registers, memories and devices, and the core's own
    /// totals.
    type Own;

    fn shell(&self) -> &Shell;
    fn shell_mut(&mut self) -> &mut Shell;
    fn polls(&mut self) -> &mut Polls;
    /// The time of accesses, by cause.
    fn accounts(&self) -> &Accounts;
    fn accounts_mut(&mut self) -> &mut Accounts;

    /// Address of the next instruction.
    fn pc(&self) -> u32;
    /// Registers that keep results between instructions, in a fixed order.
    fn results(&self) -> [u32; MOST_RESULTS];
    /// Passes the operations of an iteration on these registers to `counting`. `None` if they do more than count.
    fn follow(&self, iteration: &Iteration, counting: &mut Counting) -> Option<()>;
    /// Adds `growth` to the registers.
    fn count_on(&mut self, growth: &[u32; MOST_RESULTS]);
    /// See [`Repeats::Own`].
    fn own(&self) -> Self::Own;

    /// Charges all work so far in the profile.
    fn settle_profile(&mut self);

    /// True if the core behaves from now on as it did from `before` on, in cycle `then`.
    fn behaves_like(&self, before: &Self::Own, then: u64) -> bool;
    /// Adds the core's own state and totals since `before`, in `iteration`, `times` more times, which take `cycles`.
    fn repeat(&mut self, before: &Self::Own, iteration: &Iteration, times: u64, cycles: u64);

    /// True if no store is under way that a device has seen already.
    fn is_settled(&self) -> bool;
    /// True if there is no room for the data of a closer look.
    fn is_full(&self) -> bool {
        false
    }
    /// Map entries that were accessed since [`Repeats::forget_touched`].
    fn touched(&self) -> Entries;
    fn forget_touched(&mut self);

    /// Runs one instruction, or a wait for its fetch; records what it overwrites in `iteration` first. `None` if the
    /// outer loop has to handle something before it, or if it changes more than registers and memory.
    fn run_watched(&mut self, bus: &mut Bus, iteration: &mut Iteration) -> Option<()>;
    /// The first cycle in which something outside of the loop may happen.
    fn limit(&mut self, bus: &mut Bus) -> u64;
}

/// Everything that an iteration may change, except the memory that it wrote.
pub(super) struct Snapshot<O> {
    pub pc: u32,
    pub results: [u32; MOST_RESULTS],
    own: O,
    /// Levels of the interrupt inputs.
    interrupts: [u32; Inputs::WORDS],
    exceptions: u64,
    pub counted: Totals,
    /// Number of events scheduled so far, and the time of the next.
    events: (u64, Ps),
    pub devices: Lists,
    /// Changes of wires recorded so far.
    waves_reported: u64,
    /// Activities of devices recorded so far.
    pub activities: Mark,
}

/// Cycles of the iteration from `before` to `after`.
pub(super) fn period<O>(before: &Snapshot<O>, after: &Snapshot<O>) -> u64 {
    after.counted.cycles - before.counted.cycles
}

/// Adds iterations of the loop at the current address, if it polls.
#[cold]
#[inline(never)]
pub(crate) fn fast_forward<C: Repeats>(core: &mut C, bus: &mut Bus) {
    core.polls().look();
    let done = match core.polls().clock() {
        Some(_) => skip_clock_loop(core, bus).is_some(),
        None => try_fast_forward(core, bus).is_some(),
    };
    if let Some(profile) = &mut core.shell_mut().profile {
        profile.end_repeating();
    }
    core.polls().looked(done);
}

fn try_fast_forward<C: Repeats>(core: &mut C, bus: &mut Bus) -> Option<()> {
    if core.is_full() {
        return None;
    }
    registers_recur(core, bus)?;
    (0..TRIES).find_map(|_| {
        is_settled(core, bus).then_some(())?;
        begin_repeating(core);
        let before = snapshot(core, bus);
        let (after, iteration, count) = find_iteration(core, bus, &before)?;
        let growth = |register: usize| after.results[register].wrapping_sub(before.results[register]);
        let growth = std::array::from_fn(|register| growth(register).wrapping_mul(count as u32));
        add_iterations(core, &before, &after, &iteration, (count, &growth));
        bus.activities.repeat(&before.activities, core.shell().clock, period(&before, &after), count);
        view(core).move_devices_on(bus, count, &before.devices, after.devices);
        Some(())
    })
}

/// Runs an iteration or two, to check whether the registers return to their values, or only count: most other loops
/// fail here.
fn registers_recur<C: Repeats>(core: &mut C, bus: &mut Bus) -> Option<()> {
    let (head, results, mut iteration) = (core.pc(), core.results(), Iteration::default());
    if core.polls().counts {
        run_back_to(core, head, bus, &mut iteration, LONGEST_COUNTED)?;
        return iterations_that_count(core, &results, &iteration).map(|_| ());
    }
    for _ in 0..MOST_PASSES {
        run_back_to(core, head, bus, &mut iteration, LONGEST_ITERATION)?;
        if core.results() == results {
            return Some(());
        }
    }
    None
}

/// Number of further iterations like the one that began with the registers `before`, as far as registers matter. `None`
/// if they have changed by more than counting.
fn iterations_that_count<C: Repeats>(core: &C, before: &[u32; MOST_RESULTS], iteration: &Iteration) -> Option<u64> {
    let mut counting = Counting::new(before, &core.results())?;
    if counting.is_still() {
        return Some(u64::MAX);
    }
    core.follow(iteration, &mut counting)?;
    counting.end()
}

/// Runs until the state is again as it was, and will recur often enough to be worthwhile; returns the number of further
/// iterations. `None` if that does not happen soon.
fn find_iteration<C: Repeats>(
    core: &mut C,
    bus: &mut Bus,
    before: &Snapshot<C::Own>,
) -> Option<(Snapshot<C::Own>, Iteration, u64)> {
    core.forget_touched();
    let mut iteration = Iteration::default();
    let expected = core.polls().expected_passes();
    for pass in 1..=MOST_PASSES {
        run_back_to(core, before.pc, bus, &mut iteration, LONGEST_ITERATION)?;
        // In a loop that was fast-forwarded before, the number of passes in an iteration is known.
        let counts = core.polls().counts;
        if pass < expected
            || !counts && core.results() != before.results
            || !is_settled(core, bus)
            || !view(core).devices_repeat(bus, &before.devices)?
        {
            continue;
        }
        let Some(most) = iterations_that_count(core, &before.results, &iteration) else { continue };
        let after = snapshot(core, bus);
        if is_steady(core, bus, before, &after, &iteration)
            && let Some(count) = iterations_to_come(core, bus, most, before, &after)
        {
            core.polls().passes = pass;
            return Some((after, iteration, count));
        }
    }
    None
}

/// Runs until the core is back at `head`, one instruction at a time. `None` if the outer loop has to handle something
/// first, or if the iteration takes more than `most` instructions.
pub(super) fn run_back_to<C: Repeats>(
    core: &mut C,
    head: u32,
    bus: &mut Bus,
    iteration: &mut Iteration,
    most: usize,
) -> Option<()> {
    let begun = core.shell().instructions;
    while iteration.steps < most {
        iteration.steps += 1;
        core.run_watched(bus, iteration)?;
        if core.pc() == head && core.shell().instructions != begun {
            return Some(());
        }
    }
    None
}

/// True if the iteration from `before` to `after` changed only times, totals and counting registers, so that the next
/// iteration is the same.
pub(super) fn is_steady<C: Repeats>(
    core: &C,
    bus: &Bus,
    before: &Snapshot<C::Own>,
    after: &Snapshot<C::Own>,
    iteration: &Iteration,
) -> bool {
    (after.pc, after.events, after.waves_reported) == (before.pc, before.events, before.waves_reported)
        && after.exceptions == before.exceptions
        && after.interrupts == before.interrupts
        && core.behaves_like(&before.own, before.counted.cycles)
        && iteration.left_memory_alone(bus)
        && bus.exit.is_none()
        && bus.activities.can_repeat(&before.activities, core.shell().clock, period(before, after))
        && view(core).accesses_repeat(bus, &before.devices, &after.devices)
}

pub(super) fn iterations_to_come<C: Repeats>(
    core: &mut C,
    bus: &mut Bus,
    most: u64,
    before: &Snapshot<C::Own>,
    after: &Snapshot<C::Own>,
) -> Option<u64> {
    let limit = core.limit(bus);
    view(core).iterations_to_come(bus, (limit, most), period(before, after), &before.devices, &after.devices)
}

/// Adds `count` more iterations like the one from `before` to `after`, in which the registers grow by `growth`.
pub(super) fn add_iterations<C: Repeats>(
    core: &mut C,
    before: &Snapshot<C::Own>,
    after: &Snapshot<C::Own>,
    iteration: &Iteration,
    (count, growth): (u64, &[u32; MOST_RESULTS]),
) {
    let cycles = count * period(before, after);
    core.settle_profile();
    let mut counted = after.counted.clone();
    counted.add_difference(&after.counted, &before.counted, count);
    let shell = core.shell_mut();
    let skipped = counted.instructions - after.counted.instructions;
    shell.waits.iter_mut().for_each(|waits| waits.skip(before.counted.instructions, skipped));
    (shell.instructions, shell.cycles, shell.fixed) = (counted.instructions, counted.cycles, counted.fixed);
    shell.spent = counted.spent;
    core.accounts_mut().become_as(&counted.memory);
    repeat_in_profile(core, count, cycles);
    core.repeat(&before.own, iteration, count, cycles);
    core.count_on(growth);
    core.polls().skipped_cycles += cycles;
}

/// Makes the profile record the following work so that it can be repeated.
pub(super) fn begin_repeating<C: Repeats>(core: &mut C) {
    core.settle_profile();
    let shell = core.shell_mut();
    let now = shell.had(shell.cycles);
    if let Some(profile) = &mut shell.profile {
        profile.begin_repeating(now);
    }
}

/// Adds the work recorded since then to the profile, `count` more times.
fn repeat_in_profile<C: Repeats>(core: &mut C, count: u64, cycles: u64) {
    if core.shell().profile.is_none() {
        return;
    }
    let (memory, shell) = (core.accounts().clone(), core.shell_mut());
    if let (Some(profile), Some(calls)) = (&mut shell.profile, &mut shell.calls) {
        profile.repeat(calls, (count, cycles), (shell.fixed, shell.spent), &memory);
    }
}

pub(super) fn snapshot<C: Repeats>(core: &C, bus: &mut Bus) -> Snapshot<C::Own> {
    let shell = core.shell();
    Snapshot {
        pc: core.pc(),
        results: core.results(),
        own: core.own(),
        interrupts: *shell.irqs.up(bus, shell.cycles).levels(),
        exceptions: shell.exceptions,
        counted: shell.totals(core.accounts()),
        events: (bus.events.scheduled(), bus.events.next_due()),
        devices: view(core).lists(bus),
        waves_reported: bus.waves.change_count(),
        activities: bus.activities.mark(),
    }
}

pub(super) fn view<C: Repeats>(core: &C) -> View {
    let shell = core.shell();
    View { clock: shell.clock, cycles: shell.cycles, touched: core.touched() }
}

/// True if no store is under way that a device has seen already, and no event has to run before devices are asked.
fn is_settled<C: Repeats>(core: &C, bus: &Bus) -> bool {
    core.is_settled() && no_event_is_due(core, bus)
}

/// True if no event has to run before the core goes on.
pub(super) fn no_event_is_due<C: Repeats>(core: &C, bus: &Bus) -> bool {
    let shell = core.shell();
    !shell.irqs.will_change(bus, shell.cycles) && bus.events.next_due() > shell.now()
}

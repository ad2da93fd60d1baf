//! Fast-forwards polling loops, with exactly the result of running every iteration.
//!
//! A candidate ([`super::polls`]) is run on, instruction by instruction, with a look at everything each time that it
//! passes the instruction at which it was found (several times an iteration, if that belongs to a loop within the
//! loop): the core itself, the memory that the loop wrote, events to come, and the lists of the devices that it
//! accessed. Once nothing has changed since the first look but times, totals, and registers that count iterations
//! ([`super::counting`]), what lies between is an iteration, and the next ones are the same, up to the next event, the
//! core's horizon, the first deadline that a device names, or the end of a count. All of them but the last are added at
//! once.

use super::accounts::Totals;
use super::counting::Counting;
use super::iteration::{Iteration, LONGEST_COUNTED, LONGEST_ITERATION, Lists, MOST_PASSES, TRIES, View};
use super::memory::Accounts;
use super::polls::Polls;
use super::sections::Totals as _;
use super::shell::Shell;
use crate::activity::Mark;
use crate::bus::Bus;
use crate::bus::entries::Entries;
use crate::inputs::Inputs;
use crate::time::Ps;

/// Most registers that instructions leave behind: see [`super::isa::Isa::RESULTS`].
pub(crate) const MOST_RESULTS: usize = 40;

/// A core whose polling loops can be fast-forwarded: what differs between one with blocks and one without.
pub(crate) trait Repeats {
    /// What the next instructions depend on beside registers, memories and devices, and totals of its own.
    type Own;

    fn shell(&self) -> &Shell;
    fn shell_mut(&mut self) -> &mut Shell;
    fn polls(&mut self) -> &mut Polls;
    /// Where memory's time went.
    fn accounts(&self) -> &Accounts;
    fn accounts_mut(&mut self) -> &mut Accounts;

    /// Address of the next instruction.
    fn pc(&self) -> u32;
    /// Registers that instructions leave behind, in a fixed order.
    fn results(&self) -> [u32; MOST_RESULTS];
    /// Tells `counting` what the instructions of an iteration do with them. `None` if they don't only count.
    fn follow(&self, iteration: &Iteration, counting: &mut Counting) -> Option<()>;
    /// Registers grow by so much.
    fn count_on(&mut self, growth: &[u32; MOST_RESULTS]);
    /// See [`Repeats::Own`].
    fn own(&self) -> Self::Own;

    /// What was done so far is charged in the profile.
    fn settle_profile(&mut self);

    /// True if what comes goes as it did from `before` on, which was in cycle `then`.
    fn behaves_like(&self, before: &Self::Own, then: u64) -> bool;
    /// Counts what is its own and has happened since `before`, in `iteration`, so many more times, which take `cycles`.
    fn repeat(&mut self, before: &Self::Own, iteration: &Iteration, times: u64, cycles: u64);

    /// True if no store is on its way that a device has seen already.
    fn is_settled(&self) -> bool;
    /// True if there is no room for what looking closer needs.
    fn is_full(&self) -> bool {
        false
    }
    /// Map entries that were accessed since [`Repeats::forget_touched`].
    fn touched(&self) -> Entries;
    fn forget_touched(&mut self);

    /// One instruction, or a wait for its fetch. What it writes is remembered in `iteration` first. `None` if something
    /// comes up that the outer loop has to see before it, or if it changes more than registers and memory.
    fn run_watched(&mut self, bus: &mut Bus, iteration: &mut Iteration) -> Option<()>;
    /// The first cycle in which something may happen that no loop does.
    fn limit(&mut self, bus: &mut Bus) -> u64;
}

/// Everything that an iteration may change, but the memory that it wrote.
struct Snapshot<O> {
    pc: u32,
    results: [u32; MOST_RESULTS],
    own: O,
    /// Levels of the interrupt inputs.
    interrupts: [u32; Inputs::WORDS],
    exceptions: u64,
    counted: Totals,
    /// How many were scheduled so far, and when the next is due.
    events: (u64, Ps),
    devices: Lists,
    /// Changes of wires that were recorded so far.
    waves_reported: u64,
    /// Activities of devices that were told so far.
    activities: Mark,
}

/// Cycles of the iteration from `before` to `after`.
fn period<O>(before: &Snapshot<O>, after: &Snapshot<O>) -> u64 {
    after.counted.cycles - before.counted.cycles
}

/// Adds iterations of the loop at the current address, if it polls.
#[cold]
#[inline(never)]
pub(crate) fn fast_forward<C: Repeats>(core: &mut C, bus: &mut Bus) {
    core.polls().look();
    let done = try_fast_forward(core, bus).is_some();
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
        add_iterations(core, &before, &after, &iteration, count);
        bus.activities.repeat(&before.activities, core.shell().clock, period(&before, &after), count);
        view(core).move_devices_on(bus, count, &before.devices, after.devices);
        Some(())
    })
}

/// Runs an iteration or two, to see whether the registers come back to what they are, or only count: most loops that
/// don't poll show it here.
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

/// How many more iterations go like the one that began with the registers `before`, as far as these go. `None` if they
/// are others now, and don't only count.
fn iterations_that_count<C: Repeats>(core: &C, before: &[u32; MOST_RESULTS], iteration: &Iteration) -> Option<u64> {
    let mut counting = Counting::new(before, &core.results())?;
    if counting.is_still() {
        return Some(u64::MAX);
    }
    core.follow(iteration, &mut counting)?;
    counting.end()
}

/// Runs until everything is again as it was, and will be so often that it is worth while: how often. `None` if that
/// does not happen soon.
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
        // Of a loop that was fast-forwarded before, the passes within its iterations are known.
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

/// Runs until the core is back at `head`, one instruction at a time. `None` if something comes up that the outer loop
/// has to see first, or if the iteration takes more than `most` instructions.
fn run_back_to<C: Repeats>(
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

/// True if the iteration from `before` to `after` changed nothing but times, totals and what registers count, so that
/// the next is the same.
fn is_steady<C: Repeats>(
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

fn iterations_to_come<C: Repeats>(
    core: &mut C,
    bus: &mut Bus,
    most: u64,
    before: &Snapshot<C::Own>,
    after: &Snapshot<C::Own>,
) -> Option<u64> {
    let limit = core.limit(bus);
    view(core).iterations_to_come(bus, (limit, most), period(before, after), &before.devices, &after.devices)
}

/// Counts so many more iterations like the one from `before` to `after`.
fn add_iterations<C: Repeats>(
    core: &mut C,
    before: &Snapshot<C::Own>,
    after: &Snapshot<C::Own>,
    iteration: &Iteration,
    count: u64,
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
    let growth = |register: usize| after.results[register].wrapping_sub(before.results[register]);
    core.count_on(&std::array::from_fn(|register| growth(register).wrapping_mul(count as u32)));
    core.polls().skipped_cycles += cycles;
}

/// The profile counts what comes so that it can be counted again.
fn begin_repeating<C: Repeats>(core: &mut C) {
    core.settle_profile();
    let shell = core.shell_mut();
    let now = shell.had(shell.cycles);
    if let Some(profile) = &mut shell.profile {
        profile.begin_repeating(now);
    }
}

/// The profile counts what it has counted since then so many times more.
fn repeat_in_profile<C: Repeats>(core: &mut C, count: u64, cycles: u64) {
    if core.shell().profile.is_none() {
        return;
    }
    let (memory, shell) = (core.accounts().clone(), core.shell_mut());
    if let (Some(profile), Some(calls)) = (&mut shell.profile, &mut shell.calls) {
        profile.repeat(calls, (count, cycles), (shell.fixed, shell.spent), &memory);
    }
}

fn snapshot<C: Repeats>(core: &C, bus: &mut Bus) -> Snapshot<C::Own> {
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

fn view<C: Repeats>(core: &C) -> View {
    let shell = core.shell();
    View { clock: shell.clock, cycles: shell.cycles, touched: core.touched() }
}

/// True if no store is on its way that a device has seen already, and no event has to come before devices are asked.
fn is_settled<C: Repeats>(core: &C, bus: &Bus) -> bool {
    let shell = core.shell();
    core.is_settled() && !shell.irqs.will_change(bus, shell.cycles) && bus.events.next_due() > shell.now()
}

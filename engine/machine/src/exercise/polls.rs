//! Checks that polling loops may be skipped: for tests, and for authors of models.
//!
//! Two machines of a board get the same random accesses, and between them the same loops of accesses at equal
//! distances. One machine runs each iteration. The other one skips iterations as a core does, where the devices' lists
//! of state allow it. The results must not differ.

use std::collections::BTreeMap;

use super::{Access, Act, Built, Numbers, ranges_of, store_something, type_characters};
use engine::bus::Bus;
use engine::bus::device::{AccessResult, DeviceId};
use engine::dt::fault::BoardFault;
use engine::polling::{Poll, repeats_until};
use engine::time::{Cycles, Hz, Ps};

/// Random accesses to a device before its loop.
const BEFORE: u64 = 24;
/// Iterations before the two that are compared.
const FIRST: u64 = 2;
/// Iterations after those that were skipped.
const AFTER: u64 = 3;
/// Most iterations that are skipped at once.
const MOST: u64 = 300;
/// Simulated time after which new machines go on: a random divider may make an access end hours later, and all that
/// happens until then would be simulated.
const LONGEST: Ps = Ps::from_us(1_000_000);
/// Characters that are typed at each serial port.
const TYPED: usize = 16;

/// What loops have shown.
#[derive(Debug, Default)]
pub struct Polls {
    /// The first difference between skipped and run iterations, a line; none is right.
    pub differences: Vec<String>,
    /// Skipped iterations, by the name of the device.
    pub skipped: BTreeMap<String, u64>,
}

/// A loop of accesses to a device.
struct Loop {
    clock: Hz,
    /// The cycle in which the next iteration begins.
    cycle: u64,
    period_cycles: u64,
    accesses: Vec<Access>,
}

/// The answers in an iteration, each with the loop's cycle after it, counted from the iteration's begin; `None` for an
/// error.
type Answers = Vec<(Option<u32>, u64)>;

impl Loop {
    fn any(numbers: &mut Numbers, clock: Hz, now: Ps, place: (DeviceId, usize, u32)) -> Loop {
        let mut reads = || loop {
            let access = Access::any(numbers, place);
            if matches!(access.act, Act::Read(_)) {
                return access;
            }
        };
        let mut accesses = vec![reads()];
        if numbers.below(4) == 0 {
            accesses.push(Access::any(numbers, place));
        }
        let period_cycles = 100 * accesses.len() as u64 + numbers.below(100);
        Loop { clock, cycle: clock.cycles_until_ceil(now).0 + 1, period_cycles, accesses }
    }

    fn now(&self) -> Ps {
        self.clock.ps_at_floor(Cycles(self.cycle))
    }

    /// Runs the next iteration. `None` if it takes longer than its period.
    fn run(&mut self, bus: &mut Bus) -> Option<Answers> {
        let (mut now, mut answers) = (self.now(), Answers::new());
        for access in &self.accesses {
            let answer = access.make(bus, now);
            let done = self.clock.cycles_until_ceil(answer.map_or_else(|error| error.done, |reply| reply.done));
            answers.push((answer.ok().map(|reply| reply.value), done.0 - self.cycle));
            now = self.clock.ps_at_floor(Cycles(done.0 + 1));
        }
        self.cycle += self.period_cycles;
        bus.run_events(self.now());
        (now < self.now()).then_some(answers)
    }

    /// The list of the device's state.
    fn list(&self, bus: &mut Bus) -> Option<Poll> {
        let mut poll = Poll::look(self.clock, Cycles(self.cycle));
        self.polled(bus, &mut poll).then_some(poll)
    }

    fn polled(&self, bus: &mut Bus, poll: &mut Poll) -> bool {
        let device = self.accesses[0].device.0 as usize;
        bus.devices[device].as_mut().is_some_and(|device| device.polled(poll))
    }

    /// Iterations that certainly go like the last one.
    fn to_come(&self, bus: &Bus, before: &Poll, after: &Poll) -> u64 {
        let until = repeats_until([(after, before)].into_iter(), self.clock, self.cycle);
        let limit = until.min(self.clock.cycles_until_floor(bus.events.next_due()).0);
        (limit.saturating_sub(self.cycle) / self.period_cycles).saturating_sub(1).min(MOST)
    }
}

/// Runs `loops` loops on the devices of a board, clocked by `clock` (that of a core: some devices allow no other).
///
/// # Errors
/// The errors of `build`.
pub fn exercise_polls(mut build: impl FnMut() -> Built, seed: u64, loops: u32) -> Result<Polls, Vec<BoardFault>> {
    let mut numbers = Numbers(seed);
    let (mut run, mut found) = (build()?, Polls::default());
    let (ranges, clock) = (ranges_of(run.bus()), run.cores[run.main].clock());
    if ranges.is_empty() {
        return Ok(found);
    }
    let typed: Vec<u8> = (0..TYPED).map(|_| numbers.next() as u8).collect();
    let mut begin = || -> Built {
        let mut machine = build()?;
        type_characters(&mut machine, &typed);
        store_something(machine.bus(), &ranges, &typed);
        Ok(machine)
    };
    let mut skips = begin()?;
    run = begin()?;
    let mut now = Ps::ZERO;
    for _ in 0..loops {
        if now > LONGEST {
            (run, skips, now) = (begin()?, begin()?, Ps::ZERO);
        }
        let place = ranges[numbers.below(ranges.len() as u64) as usize];
        for _ in 0..numbers.below(BEFORE) {
            let access = Access::any(&mut numbers, place);
            let answers = [&mut run, &mut skips].map(|machine| access.make(machine.bus(), now));
            if answers[0] != answers[1] {
                found.differences.push(difference(run.bus(), &access, now, &answers));
                return Ok(found);
            }
            now = now.max(answers[0].map_or_else(|error| error.done, |reply| reply.done));
            now = now.saturating_add(numbers.pause());
            if now > LONGEST {
                break;
            }
        }
        if now > LONGEST {
            continue;
        }
        let seed = numbers.next();
        let [mut one, mut other] = [(); 2].map(|()| Loop::any(&mut Numbers(seed), clock, now, place));
        let outcome = compare(run.bus(), &mut one, skips.bus(), &mut other);
        let name = run.bus().device_names[place.0.0 as usize].clone();
        match outcome {
            Ok(count) => *found.skipped.entry(name).or_default() += count,
            Err(what) => {
                found
                    .differences
                    .push(format!("{name}: {:x?} each {} cycles: {what}", one.accesses, one.period_cycles));
                return Ok(found);
            }
        }
        now = one.now();
    }
    Ok(found)
}

fn difference(bus: &Bus, access: &Access, now: Ps, answers: &[AccessResult; 2]) -> String {
    let name = &bus.device_names[access.device.0 as usize];
    format!("{name}: {access:x?} at {now}: {:x?}, and after skipped loops {:x?}", answers[0], answers[1])
}

/// Runs a loop on one machine, and skips iterations on another one: the number of those.
fn compare(run: &mut Bus, one: &mut Loop, skips: &mut Bus, other: &mut Loop) -> Result<u64, String> {
    let mut earlier = None;
    for _ in 0..FIRST {
        earlier = both(run, one, skips, other)?;
    }
    let before = other.list(skips);
    let last = both(run, one, skips, other)?;
    let after = other.list(skips);
    let mut count = 0;
    if let (Some(before), Some(after), Some(last)) = (before, after, &last)
        && earlier.as_ref() == Some(last)
        && after.repeats(&before)
    {
        count = other.to_come(skips, &before, &after);
        other.polled(skips, &mut after.skip(&before, count));
        other.cycle += count * other.period_cycles;
        for _ in 0..count {
            same(&one.run(run), &Some(last.clone()))?;
        }
    }
    for _ in 0..AFTER {
        both(run, one, skips, other)?;
    }
    let lists = [one.list(run), other.list(skips)].map(|list| format!("{list:?}"));
    if lists[0] == lists[1] { Ok(count) } else { Err(format!("the lists are {} and {}", lists[0], lists[1])) }
}

/// Runs an iteration on both machines: the answers, if it fits into the period.
fn both(run: &mut Bus, one: &mut Loop, skips: &mut Bus, other: &mut Loop) -> Result<Option<Answers>, String> {
    let (run, skips) = (one.run(run), other.run(skips));
    same(&run, &skips)?;
    Ok(run)
}

fn same(run: &Option<Answers>, skipped: &Option<Answers>) -> Result<(), String> {
    let equal = (run == skipped).then_some(());
    equal.ok_or_else(|| format!("{run:x?}, and {skipped:x?} where iterations are skipped"))
}

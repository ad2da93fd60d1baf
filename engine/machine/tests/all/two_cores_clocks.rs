//! Two cores whose clock changes. A change that is known in advance is exact; at an immediate change, the other core is
//! a little ahead.

use crate::whole::support::arm::*;
use crate::whole::support::pair::{CLOCKS, JOURNAL, QUANTA, SHARED, pair, run_pair};
use engine::bus::device::{AccessResult, AccessSize, Ctx, Device, DeviceId, Reply};
use engine::bus::{MapEntry, Target};
use engine::clocks::User;
use engine::dt::wiring::ClockId;
use engine::polling::{Poll, Polled};
use engine::time::{Hz, Ps};

const CLOCKS_OF: [ClockId; 2] = [ClockId(1), ClockId(2)];
const CONTROLLER: u32 = 0x4100_0000;

/// A write of n has the cores run at half of their rates n nanoseconds later.
#[derive(engine::state::State)]
struct Controller;

impl Device for Controller {
    fn read(&mut self, _: usize, _: u32, _: AccessSize, ctx: &mut Ctx) -> AccessResult {
        Ok(Reply::read(0, ctx.now))
    }

    fn write(&mut self, _: usize, _: u32, _: AccessSize, value: u32, ctx: &mut Ctx) -> AccessResult {
        ctx.schedule(ctx.now + Ps::from_ns(value.into()), 0);
        Ok(Reply::written(ctx.now))
    }

    fn event(&mut self, _: u32, ctx: &mut Ctx) {
        let halves = CLOCKS.map(|rate| Hz::new(rate / 2).unwrap());
        ctx.set_clocks(&[(CLOCKS_OF[0], halves[0]), (CLOCKS_OF[1], halves[1])]);
    }
}

impl Polled for Controller {
    fn polled(&mut self, _: &mut Poll) -> bool {
        false
    }
}

/// Takes n iterations of two cycles, or three.
fn delay(n: u32) -> [u32; 3] {
    [mov(7, n), subs(7, 7, 1), when(NE, b(-4))]
}

/// Core 0 halves the clocks `ns` after a write; core 1 counts, and writes to the journal. Returns the time of that, and
/// the times of each core at each rate.
fn counted(ns: u32, quantum: Ps) -> (Ps, Vec<Ps>) {
    let bases = [mov(8, 0), movt(8, SHARED >> 16), mov(9, 0), movt(9, JOURNAL >> 16), mov(10, 0)];
    let controller = [movt(10, CONTROLLER >> 16)];
    let halves = [&bases[..], &controller, &delay(4000), &[mov(3, ns), str(3, 10, 0)], &delay(40_000)].concat();
    let counts = [&bases[..], &delay(6000), &[str(8, 9, 0x44), WFI, b(-4)]].concat();
    let (mut machine, journal) = pair([&then_exit(&halves), &counts]);
    let bus = machine.bus();
    let target = Target::Device(DeviceId(bus.devices.len() as u32), 0);
    bus.devices.push(Some(Box::new(Controller)));
    bus.device_names.push("controller".into());
    let (name, base, last) = ("controller", CONTROLLER, CONTROLLER + 0xf);
    bus.map.push(MapEntry::new(name, base, last, target).on_route(Some(0)));
    bus.map.sort_by_key(|entry| entry.base);
    for (core, clock) in CLOCKS_OF.into_iter().enumerate() {
        bus.clocks.add_user(clock, User::Core(core));
    }
    let (report, entries) = run_pair((machine, journal), quantum);
    let [(Some(1), 0x44, _, at)] = entries[..] else { panic!("{entries:?}") };
    let rates = report.cores.iter().flat_map(|core| core.counted.iter().map(|counted| counted.time()));
    (at, rates.collect())
}

#[test]
fn no_core_runs_past_a_change_that_is_known_a_quantum_ahead() {
    let first = counted(1500, QUANTA[0]);
    assert_eq!(first.1.len(), 4);
    for quantum in &QUANTA[..3] {
        assert_eq!(counted(1500, *quantum), first, "{quantum}");
    }
}

#[test]
fn a_change_at_once_finds_another_core_a_quantum_ahead_at_most() {
    let exact = counted(0, QUANTA[0]);
    for quantum in &QUANTA[..3] {
        let (at, rates) = counted(0, *quantum);
        assert_eq!(rates[..2], exact.1[..2], "the core that changes them");
        // While it was ahead, it ran at twice the rate.
        assert!(at <= exact.0 && exact.0 - at <= *quantum + Ps::from_ns(20), "{quantum}: {at} {}", exact.0);
    }
}

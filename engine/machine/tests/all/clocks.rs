//! Clocks that firmware changes: the cycles of a program, and their lengths in time.

use crate::whole::support::arm_m::*;
use crate::{Machine, RunReport};
use engine::bus::device::{AccessResult, AccessSize, Ctx, Device, DeviceId, Reply};
use engine::bus::{MapEntry, Target};
use engine::clocks::User;
use engine::dt::wiring::ClockId;
use engine::observe::stack::Share;
use engine::polling::{Poll, Polled};
use engine::time::{Cycles, Hz, Ps};

const CLOCK: ClockId = ClockId(1);
const CONTROLLER: u32 = 0x5000_0000;
/// From the write of a rate to the change.
const SWITCH: Ps = Ps::from_ns(123);
const DDR: u32 = 0x8000_0000;

/// A write of n has the clock run at n kHz a while later.
#[derive(engine::state::State)]
struct Controller {
    rate: u32,
}

impl Device for Controller {
    fn read(&mut self, _: usize, _: u32, _: AccessSize, ctx: &mut Ctx) -> AccessResult {
        Ok(Reply::read(self.rate, ctx.now))
    }

    fn write(&mut self, _: usize, _: u32, _: AccessSize, value: u32, ctx: &mut Ctx) -> AccessResult {
        self.rate = value;
        ctx.schedule(ctx.now + SWITCH, 0);
        Ok(Reply::written(ctx.now))
    }

    fn event(&mut self, _: u32, ctx: &mut Ctx) {
        ctx.set_clocks(&[(CLOCK, khz(self.rate))]);
    }
}

impl Polled for Controller {
    fn polled(&mut self, _: &mut Poll) -> bool {
        false
    }
}

fn khz(rate: u32) -> Hz {
    Hz::new(u64::from(rate) * 1000).unwrap()
}

/// The machine. One clock drives all of it.
fn machine_by_one_clock(program: &[u16]) -> Machine {
    let mut machine = machine(program, &[]);
    let bus = machine.bus();
    let target = Target::Device(DeviceId(bus.devices.len() as u32), 0);
    bus.devices.push(Some(Box::new(Controller { rate: 100_000 })));
    bus.device_names.push("controller".into());
    let last = CONTROLLER + 0xf;
    bus.map.push(MapEntry::new("controller", CONTROLLER, last, target).on_route(Some(0)));
    bus.map.sort_by_key(|entry| entry.base);
    let rams = (0..bus.rams.len()).map(User::Ram);
    for user in rams.chain([User::Core(0), User::Route(0)]) {
        bus.clocks.add_user(CLOCK, user);
    }
    machine
}

/// A number of iterations that load from slow memory, store there, and compute.
fn works(iterations: u16) -> Code {
    code![movs(2, iterations), load_constant(3, DDR), ldr(4, 3, 0), adds(4, 1), str(4, 3, 4), subs(2, 1), bne_back(4),]
}

/// Sets the rate of the clock, and waits until it has surely changed.
fn change(rate: u32) -> Code {
    code![load_constant(5, CONTROLLER), load_constant(6, rate), str(6, 5, 0), movs(7, 100), subs(7, 1), bne_back(1)]
}

/// Works at each of the given rates, in kHz.
fn at_rates(rates: &[u32]) -> Code {
    let parts = rates.iter().flat_map(|rate| [change(*rate), works(50)].concat());
    let mut program = works(50);
    program.extend(parts);
    program.extend(exit());
    program
}

fn run_of(program: &[u16], how: impl FnOnce(&mut Machine)) -> (RunReport, Vec<u32>) {
    let mut machine = machine_by_one_clock(program);
    how(&mut machine);
    let report = machine.run(Ps::from_us(100_000), |_| true);
    assert_exit(&report);
    (report, machine.registers())
}

fn assert_stack_is_the_elapsed_time(report: &RunReport) {
    let shares = report.cores[0].stack();
    assert_eq!(Ps(shares.iter().map(|share| share.time.0).sum()), report.elapsed, "{shares:?}");
}

#[test]
fn cycles_are_the_same_at_any_rate_and_last_as_long_as_it_says() {
    let (same, _) = run_of(&at_rates(&[100_000, 100_000]), |_| {});
    let (changed, _) = run_of(&at_rates(&[8_000, 168_000]), |_| {});
    let cycles = |report: &RunReport| report.cores[0].cycles.0;
    // Each change comes a fixed time after its write: at other rates that is another number of cycles of the waiting
    // loop, but the loop makes the same number of them.
    assert_eq!(cycles(&changed), cycles(&same));
    assert_eq!(changed.cores[0].instructions, same.cores[0].instructions);
    let rates: Vec<u64> = changed.cores[0].counted.iter().map(|counted| counted.rate.get()).collect();
    assert_eq!(rates, [100_000_000, 8_000_000, 168_000_000]);
    let by_rates = changed.cores[0].counted.iter().map(|counted| counted.time()).fold(Ps::ZERO, |sum, time| sum + time);
    assert_eq!(changed.elapsed, by_rates + changed.cores[0].between_clocks);
    // Between two clocks there is less than a cycle of the next.
    assert!(changed.cores[0].between_clocks < khz(8_000).ps_at_floor(Cycles(1)) + khz(168_000).ps_at_floor(Cycles(1)));
    assert_stack_is_the_elapsed_time(&changed);
    assert_stack_is_the_elapsed_time(&same);
}

#[test]
fn a_rate_that_is_set_again_changes_nothing() {
    let (once, _) = run_of(&at_rates(&[100_000]), |_| {});
    assert_eq!(once.cores[0].counted.len(), 1);
    assert_eq!((once.elapsed, once.cores[0].between_clocks), (Ps(once.cores[0].cycles.0 * CYCLE_PS), Ps::ZERO));
}

#[test]
fn compiled_code_follows() {
    let program = at_rates(&[24_000, 99_038, 321, 168_000, 16_000]);
    let interpreted = run_of(&program, |machine| machine.compile_after(0));
    let compiled = run_of(&program, |machine| machine.compile_after(1));
    assert_eq!(compiled.0.cores, interpreted.0.cores);
    assert_eq!((compiled.0.elapsed, &compiled.1), (interpreted.0.elapsed, &interpreted.1));
    assert_stack_is_the_elapsed_time(&interpreted.0);
}

#[test]
fn a_watched_function_has_its_time_at_each_rate() {
    // The function changes the clock and works.
    let function = [vec![0xb500], change(8_000), works(20), vec![0xbd00]].concat();
    let call = code![[0xf000, 0xf800 | (exit().len() as u16)], exit()];
    let program = [call, function].concat();
    let at = PROGRAM + 2 * (2 + exit().len() as u32);
    let mut machine = machine_by_one_clock(&program);
    machine.watch_address("works", at);
    let report = machine.run(Ps::from_us(100_000), |_| true);
    assert_exit(&report);
    let section = &report.cores[0].sections[0];
    assert_eq!(section.calls, 1);
    let shares = section.stack();
    let causes = report.cores[0].stack();
    let of = |shares: &[Share], cause: &str| shares.iter().find(|share| share.cause == cause).map(|share| share.time);
    assert_eq!(of(&shares, "load: ddr"), of(&causes, "load: ddr"));
    assert_eq!(section.counted.iter().map(|counted| counted.rate.get()).collect::<Vec<_>>(), [100_000_000, 8_000_000]);
}

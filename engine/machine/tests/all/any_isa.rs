//! The core's behaviour for any instruction set, shown by a toy instruction set with the minimum of functions.

use std::sync::{Arc, Mutex};

use crate::{Description, Machine, Outcome, RunReport};
use engine::bus::device::{AccessResult, AccessSize, Ctx, Device, DeviceId, IrqLine, Reply};
use engine::bus::{Bus, MapEntry, Route, Target};
use engine::core::Core;
use engine::cpu::Config;
use engine::cpu::memory_system::MemoryConfig;
use engine::cpu::toy::{Code, EXIT, HANDLER, RETURN, ToyCore, WAIT, add, branch_if, jump, load, op, store};
use engine::memory::ram::{PortTiming, Ram};
use engine::polling::{Poll, Polled};
use engine::time::{Cycles, Hz, Ps};

const SHARED: u32 = 0x10_0000;
const DEVICE: u32 = 0x20_0000;
/// Offset of the addresses of the device and of the shared memory: an instruction's number is small.
const BASES: i8 = 120;
const PROGRAMS: [u32; 2] = [0x200, 0x1200];

/// Register 8 is the shared memory, 9 the device; 0 is 0.
fn bases() -> [u32; 2] {
    [load(8, 0, BASES + 4), load(9, 0, BASES)]
}

/// The writing core, the value, and the time.
type Entry = (Option<usize>, u32, Ps);

/// Records writes; a write of n to offset 4 raises the core's interrupt n cycles later, any to 8 lowers it; reads
/// return 1 for 10 us after a write to 12.
#[derive(Clone, Default, engine::state::State)]
struct Journal {
    #[state(skip)]
    entries: Arc<Mutex<Vec<Entry>>>,
    busy_until: Ps,
}

impl Device for Journal {
    fn read(&mut self, _: usize, _: u32, _: AccessSize, ctx: &mut Ctx) -> AccessResult {
        Ok(Reply::read(u32::from(ctx.now < self.busy_until), ctx.now))
    }

    fn write(&mut self, _: usize, offset: u32, _: AccessSize, value: u32, ctx: &mut Ctx) -> AccessResult {
        match offset {
            4 => ctx.schedule(Ps(ctx.now.0 + 10_000 * u64::from(value)), 0),
            8 => ctx.set_irq(Some(IrqLine::Core { core: 0, bit: 0 }), false),
            12 => self.busy_until = Ps(ctx.now.0 + 10_000_000),
            _ => self.entries.lock().unwrap().push((ctx.core, value, ctx.now)),
        }
        Ok(Reply::written(ctx.now))
    }

    fn event(&mut self, _: u32, ctx: &mut Ctx) {
        ctx.set_irq(Some(IrqLine::Core { core: 0, bit: 0 }), true);
    }
}

impl Polled for Journal {
    fn polled(&mut self, poll: &mut Poll) -> bool {
        poll.until(self.busy_until);
        true
    }
}

/// A machine with a core for each program, of 100 MHz and 70 MHz.
fn machine(programs: &[&[u32]]) -> (Machine, Journal) {
    let mut bus = Bus::default();
    let clock = Hz::new(100_000_000).unwrap();
    let (request_cycles, response_cycles) = (Cycles(1), Cycles(1));
    bus.routes.push(Route { name: "bus".into(), clock, request_cycles, response_cycles });
    for (name, base, first_word, route) in [("local", 0, 0, None), ("shared", SHARED, 3, Some(0))] {
        let target = Target::Ram(bus.rams.len());
        bus.rams.push(Ram::new(0x1_0000, PortTiming::symmetric(clock, Cycles(first_word), Cycles(1), 4)));
        bus.map.push(MapEntry::new(name, base, base + 0xffff, target).on_route(route));
    }
    if programs.len() > 1 {
        bus.rams[1].share();
    }
    let target = Target::Device(DeviceId(0), 0);
    bus.map.push(MapEntry::new("journal", DEVICE, DEVICE + 0xff, target).on_route(Some(0)));
    let journal = Journal::default();
    bus.devices.push(Some(Box::new(journal.clone())));
    bus.device_names.push("journal".into());
    let mut cores: Vec<Box<dyn Core>> = Vec::new();
    for index in 0..programs.len() {
        bus.add_core();
        let clock = Hz::new([100_000_000, 70_000_000][index]).unwrap();
        let memory = MemoryConfig::unbuffered(clock, None, None);
        let config = Config { name: format!("toy{index}"), index: index as u32, clock, timing: (), system: (), memory };
        cores.push(Box::new(ToyCore::at(config, PROGRAMS[index])));
    }
    let mut machine = Machine::new(bus, cores, Description::default());
    put(&mut machine, BASES as u32, &[DEVICE, SHARED]);
    for (at, program) in PROGRAMS.into_iter().zip(programs) {
        put(&mut machine, at, &[&bases(), *program].concat());
    }
    (machine, journal)
}

fn put(machine: &mut Machine, at: u32, words: &[u32]) {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    assert!(machine.bus().poke(at, &bytes));
}

fn run(machine: &mut Machine) -> RunReport {
    let report = machine.run(Ps::from_us(1000), |_| true);
    for core in &report.cores {
        assert_eq!(core.causes().iter().map(|(_, cycles)| cycles.0).sum::<u64>(), core.cycles.0, "{:?}", core.causes());
    }
    report
}

/// Adds up 20 words, then stores and loads around a loop.
fn sums() -> Vec<u32> {
    let round = [load(4, 3, 0), add(2, 4, 1), store(2, 3, 4), add(3, 3, 4), add(1, 1, -1), branch_if(1, -5)];
    [&[add(1, 0, 20), add(3, 8, 0)][..], &round, &[EXIT]].concat()
}

#[test]
fn blocks_take_what_single_steps_take() {
    let report = run(&mut machine(&[&sums()]).0);
    assert_eq!(report.outcome, Outcome::Exit(0));
    let mut stepped = machine(&[&sums()]).0;
    let mut states = 0;
    stepped.trace(usize::MAX, |_| states += 1);
    let stepped = stepped.report(Outcome::Exit(0));
    assert_eq!(
        (stepped.cores[0].cycles, &stepped.cores[0].causes()),
        (report.cores[0].cycles, &report.cores[0].causes())
    );
    assert_eq!(states, report.cores[0].instructions);
    // The loaded word is used at once in each iteration; each jump but the last takes a cycle.
    let cause = |name: &str| report.cores[0].causes().iter().find(|(cause, _)| cause == name).unwrap().1.0;
    assert_eq!((cause("results of loads"), cause("taken branches")), (20, 19));
}

#[test]
fn functions_are_timed_and_have_windows() {
    // A function at 0x300 with the number of iterations in register 5.
    let call =
        [add(6, 0, 96), add(6, 6, 96), add(6, 6, 96), add(6, 6, 96), add(6, 6, 96), add(6, 6, 96), add(6, 6, 96)];
    let calls = [&call[..], &[add(6, 6, 96), add(5, 0, 3), jump(14, 6), add(5, 0, 9), jump(14, 6), EXIT]].concat();
    let mut machine = machine(&[&calls]).0;
    put(&mut machine, 0x300, &[add(5, 5, -1), branch_if(5, -1), jump(12, 14)]);
    machine.watch_function("work", 0, 0x300, true);
    let report = run(&mut machine);
    assert_eq!(report.outcome, Outcome::Exit(0));
    let section = &report.cores[0].sections[0];
    assert_eq!((section.calls, section.instructions), (2, 2 * (3 + 9) + 2));
    let windows: Vec<u64> = report.windows.iter().map(|window| window.cores[0].cycles.0).collect();
    assert_eq!(windows, [2 * 3 + 2 + 2, 2 * 9 + 8 + 2]);
}

#[test]
fn polling_loops_are_skipped_to_the_same_end() {
    let polls = [store(0, 9, 12), load(3, 9, 0), branch_if(3, -1), EXIT];
    let mut skipping = machine(&[&polls]).0;
    let skipped = run(&mut skipping);
    let mut plain = machine(&[&polls]).0;
    plain.skip_polling(false);
    let plain = run(&mut plain);
    assert!(skipping.skipped()[0].0 > 0);
    assert_eq!((skipped.elapsed, &skipped.cores), (plain.elapsed, &plain.cores));
}

#[test]
fn an_interrupt_ends_a_wait() {
    let program = [add(2, 0, 50), store(2, 9, 4), WAIT, store(7, 9, 0), EXIT];
    let (mut machine, journal) = machine(&[&program]);
    put(&mut machine, HANDLER, &[add(7, 7, 1), store(0, 9, 8), RETURN]);
    let report = run(&mut machine);
    assert_eq!(report.outcome, Outcome::Exit(0));
    let entries = journal.entries.lock().unwrap();
    assert_eq!(entries.iter().map(|(core, value, _)| (*core, *value)).collect::<Vec<_>>(), [(Some(0), 1)]);
    let cause = |name: &str| report.cores[0].causes().iter().find(|(cause, _)| cause == name).unwrap().1.0;
    assert_eq!(cause("interrupt entry"), 3);
    assert!((45..=50).contains(&cause("wait for interrupt")), "{}", cause("wait for interrupt"));
}

#[test]
fn two_cores_see_one_order_however_far_one_runs_ahead() {
    // Both add to a shared word without synchronization, and write the values to the journal.
    let races = |last: &[u32]| {
        let round = [load(3, 8, 0), add(3, 3, 1), store(3, 8, 0), store(3, 9, 0), add(1, 1, -1), branch_if(1, -5)];
        [&[add(1, 0, 100)][..], &round, last].concat()
    };
    // Core 1 sets a flag when it is done, and core 0 waits for that.
    let waits = races(&[load(3, 8, 4), branch_if(3, 2), branch_if(8, -2), EXIT]);
    let says = races(&[add(2, 0, 1), store(2, 8, 4), WAIT, branch_if(8, -1)]);
    let of = |quantum: Ps| {
        let (mut machine, journal) = machine(&[&waits, &says]);
        machine.set_quantum(quantum);
        let report = run(&mut machine);
        assert_eq!(report.outcome, Outcome::Exit(0));
        let entries = journal.entries.lock().unwrap().clone();
        assert_eq!(entries.len(), 200);
        (report.elapsed, report.cores, entries)
    };
    let first = of(Ps(1));
    assert!(first.2.iter().map(|entry| entry.1).max().unwrap() < 200, "some additions are lost");
    for quantum in [Ps::from_ns(10), Ps::from_us(1), Ps::from_us(70)] {
        assert!(of(quantum) == first, "{quantum}");
    }
}

#[test]
fn what_goes_wrong_ends_the_run() {
    for (program, what) in [(op(Code::Illegal, 0, 0, 0), "no instruction"), (load(1, 0, -4), "nothing there")] {
        let Outcome::Fault(text) = run(&mut machine(&[&[program]]).0).outcome else { panic!("{what}") };
        assert!(text.contains(what), "{text}");
    }
}

#[test]
fn each_core_drops_what_another_writes_over() {
    // Core 0 waits for core 1, calls a function in shared memory, and reports; core 1 has changed the function
    // meanwhile.
    let waits = [load(3, 8, 0), branch_if(3, 2), branch_if(8, -2)];
    let calls = [add(6, 8, 64), jump(14, 6), store(5, 9, 0)];
    let first = [&calls[..], &[store(8, 8, 4)], &waits, &calls, &[EXIT]].concat();
    let new = [load(3, 8, 4), branch_if(3, 2), branch_if(8, -2), load(4, 8, 32), store(4, 8, 64), store(8, 8, 0)];
    let second = [&new[..], &[WAIT, branch_if(8, -1)]].concat();
    let (mut machine, journal) = machine(&[&first, &second]);
    put(&mut machine, SHARED + 32, &[add(5, 5, 100)]);
    put(&mut machine, SHARED + 64, &[add(5, 5, 1), jump(12, 14)]);
    assert_eq!(run(&mut machine).outcome, Outcome::Exit(0));
    let written: Vec<u32> = journal.entries.lock().unwrap().iter().map(|(_, value, _)| *value).collect();
    assert_eq!(written, [1, 101]);
}

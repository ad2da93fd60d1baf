//! Excessive rates of interrupts and exceptions are noted, and events without end at one time end the run.

use crate::whole::support::riscv::*;
use crate::{Description, Machine, Outcome};
use engine::bus::device::{AccessResult, AccessSize, Ctx, Device, DeviceId, Reply};
use engine::bus::{Bus, MapEntry, Target};
use engine::isa::riscv::instruction_set::Hart;
use engine::memory::ram::{PortTiming, Ram};
use engine::polling::{Poll, Polled};
use engine::time::{Cycles, Ps};

/// Where a trap's handler is.
const HANDLER: u32 = 0x100;

#[test]
fn an_interrupt_that_is_never_cleared_is_reported_of_with_its_device() {
    let set = [addi(1, 0, HANDLER as i32), csrrw(0, MTVEC, 1), lui(2, 0x1000), addi(2, 2, -0x800), csrrw(0, MIE, 2)];
    let raise = [lui(3, DEVICE), addi(4, 0, 1), sw(4, 3, 4), csrrsi(0, MSTATUS, 8), jal(0, 0)];
    let mut machine = machine(LOCAL, &[&set[..], &raise].concat(), 1);
    put(&mut machine, HANDLER, &[MRET]);
    let report = machine.run(Ps::from_us(60_000), |_| true);
    assert!(matches!(report.outcome, Outcome::Limit(_)), "{:?}", report.outcome);
    let [note, line] = &report.notes[..] else { panic!("{:?}", report.notes) };
    assert!(line.starts_with("cpu0: interrupt 11 from late was taken "), "{line}");
    assert!(line.contains(" times in a row, as its line never went down"), "{line}");
    assert!(
        note.starts_with("cpu0 takes some ") && note.contains(" exceptions in each simulated millisecond"),
        "{note}"
    );
    assert!(note.contains("most of them interrupt 11 from late (noticed at "), "{note}");
}

#[test]
fn a_handler_that_faults_again_and_again_is_reported_of() {
    // The handler returns to the undefined instruction.
    let mut machine = machine(LOCAL, &[addi(1, 0, HANDLER as i32), csrrw(0, MTVEC, 1), 0], 1);
    put(&mut machine, HANDLER, &[MRET]);
    let report = machine.run(Ps::from_us(60_000), |_| true);
    let reported = |note: &String| note.contains("most of them exception of cause 2 (noticed at ");
    assert!(report.notes.iter().any(reported), "{:?}", report.notes);
}

/// Schedules its next event at once, or after a number of picoseconds, in each of its events.
#[derive(engine::state::State)]
struct Again(u64);

impl Device for Again {
    fn read(&mut self, _: usize, _: u32, _: AccessSize, ctx: &mut Ctx) -> AccessResult {
        Ok(Reply::read(0, ctx.now))
    }

    fn write(&mut self, _: usize, _: u32, _: AccessSize, _: u32, ctx: &mut Ctx) -> AccessResult {
        Ok(Reply::written(ctx.now))
    }

    fn event(&mut self, token: u32, ctx: &mut Ctx) {
        ctx.schedule(Ps(ctx.now.0 + self.0), token);
    }
}

impl Polled for Again {
    fn polled(&mut self, _: &mut Poll) -> bool {
        false
    }
}

/// A hart that jumps to itself, and a device with such events, the first of them after 10 us.
fn with_events(apart_ps: u64) -> Machine {
    let mut bus = Bus::default();
    bus.rams.push(Ram::new(0x1000, PortTiming::symmetric(clock(), Cycles(0), Cycles(0), 4)));
    let ram = MapEntry::new("ram", 0, 0xfff, Target::Ram(0));
    bus.map.push(ram);
    bus.devices.push(Some(Box::new(Again(apart_ps))));
    bus.device_names.push("again0".into());
    bus.add_core();
    bus.events.schedule(Ps::from_us(10), DeviceId(0), 0);
    let hart = Hart::new(config(None, None));
    let mut machine = Machine::new(bus, vec![Box::new(hart)], Description::default());
    put(&mut machine, 0, &[jal(0, 0)]);
    machine
}

#[test]
fn a_time_that_does_not_pass_ends_the_run() {
    let report = with_events(0).run(Ps::from_us(100), |_| true);
    let Outcome::Fault(text) = report.outcome else { panic!("{:?}", report.outcome) };
    assert!(text.starts_with("again0: it has events without end at 10.000 us"), "{text}");
    assert!(report.elapsed < Ps::from_us(11), "{:?}", report.elapsed);
}

#[test]
fn a_device_that_never_rests_is_reported_of() {
    let report = with_events(100_000).run(Ps::from_us(70_000), |_| true);
    assert!(matches!(report.outcome, Outcome::Limit(_)), "{:?}", report.outcome);
    let note = "again0 has some 10000 events in each simulated millisecond (noticed at 51.000 ms): \
                that is what makes the run slow";
    assert_eq!(report.notes, [note]);
}

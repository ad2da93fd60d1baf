//! What programs print is handed over soon and in small pieces, and when that happens changes nothing: on cores of each
//! instruction set, on two cores, by semihosting, by a device's accesses and by its events.

use crate::support::{arm, mips, riscv};
use cyclescope_engine::bus::{MapEntry, Target};
use cyclescope_engine::device::{AccessSize, Ctx, Device, DeviceId, Reply, SlaveError};
use cyclescope_engine::machine::{Machine, Outcome, RunReport};
use cyclescope_engine::observe::output::HandOver;
use cyclescope_engine::time::{Cycles, Ps};

const ROUNDS: u32 = 300;
const TEXT: u32 = 0x4000;
/// At once, soon, by bytes alone, and at the end of a slice.
const HAND_OVERS: [(usize, u64); 5] = [(1, 1), (1 << 20, 7), (1 << 20, 1000), (10, 1 << 40), (1 << 20, 1 << 40)];

/// A write of n prints "!" at once on the console, and "." on the device's own line n nanoseconds later.
struct Printer;

impl Device for Printer {
    fn read(&mut self, _: usize, _: u32, _: AccessSize, ctx: &mut Ctx) -> Result<Reply, SlaveError> {
        Ok(Reply::read(0, ctx.now))
    }

    fn write(&mut self, _: usize, _: u32, _: AccessSize, value: u32, ctx: &mut Ctx) -> Result<Reply, SlaveError> {
        ctx.console(b"!");
        ctx.schedule(Ps(ctx.now.0 + 1000 * u64::from(value)), 0);
        Ok(Reply::written(ctx.now))
    }

    fn event(&mut self, _: u32, ctx: &mut Ctx) {
        ctx.stream(b".");
    }
}

fn add_printer(machine: &mut Machine, base: u32) {
    let bus = machine.bus();
    let target = Target::Device(DeviceId(bus.devices.len() as u32), 0);
    bus.devices.push(Some(Box::new(Printer)));
    bus.device_names.push("printer".into());
    bus.map.push(MapEntry { name: "printer".into(), base, last: base + 0xf, target, route: Some(0), cacheable: false });
    bus.map.sort_by_key(|entry| entry.base);
}

/// What was printed, and in how many pieces.
#[derive(Debug, Default, PartialEq, Eq)]
struct Text {
    console: Vec<u8>,
    stream: Vec<u8>,
    pieces: usize,
}

fn run(machine: &mut Machine, (bytes, cycles): (usize, u64)) -> (RunReport, Vec<u32>, Text) {
    machine.set_hand_over(HandOver { bytes, cycles: Cycles(cycles) });
    let mut text = Text::default();
    let report = machine.run(Ps::from_us(10_000), |printed| {
        text.console.extend_from_slice(&printed.console);
        printed.streams.iter().for_each(|(_, bytes)| text.stream.extend_from_slice(bytes));
        text.pieces += usize::from(!printed.console.is_empty() || !printed.streams.is_empty());
        true
    });
    (report, machine.registers(), text)
}

/// Runs the same for each hand-over. Gives what was printed.
fn run_alike(build: impl Fn() -> Machine) -> (RunReport, Text) {
    let (first, registers, text) = run(&mut build(), HAND_OVERS[0]);
    assert_eq!(first.outcome, Outcome::Exit(0));
    let mut pieces = vec![text.pieces];
    for hand_over in &HAND_OVERS[1..] {
        let (report, last, again) = run(&mut build(), *hand_over);
        assert!(report == first, "{hand_over:?}: {report:#?}\n{first:#?}");
        assert_eq!((last, &again.console, &again.stream), (registers.clone(), &text.console, &text.stream));
        pieces.push(again.pieces);
    }
    assert!(pieces[0] > ROUNDS as usize && pieces[1] > pieces[2] && pieces[4] == 1, "{pieces:?}");
    assert!(pieces[3] >= (text.console.len() + text.stream.len()) / 12, "{pieces:?}");
    (first, text)
}

fn arm_program() -> Vec<u32> {
    use arm::*;
    // A character by semihosting, one by the device, and some rounds between.
    let round = [
        mov(0, 3),
        mov(1, TEXT),
        0xef12_3456,
        str(6, 9, 0),
        mov(7, 20),
        subs(7, 7, 1),
        when(NE, b(-4)),
        ldr(3, 8, 0),
        add(3, 3, 1),
        str(3, 8, 0),
        subs(6, 6, 1),
    ];
    let back = when(NE, b(-4 * round.len() as i32));
    [&[mov(6, ROUNDS), mov(9, 0x100), movt(9, DEVICE >> 16), mov(8, 0x8000)], &round[..], &[back], &EXIT].concat()
}

#[test]
fn arm() {
    for config in [arm::config(), arm::cortex_a7()] {
        let build = || {
            let mut machine = arm::machine_with(config.clone(), arm::PROGRAM, &arm_program());
            arm::put(&mut machine, TEXT, &[u32::from(b'c')]);
            add_printer(&mut machine, arm::DEVICE + 0x100);
            machine
        };
        let (_, text) = run_alike(build);
        assert_eq!(text.console, b"c!".repeat(ROUNDS as usize));
    }
}

#[test]
fn mips() {
    use mips::*;
    let printer = KSEG1 + DEVICE + 0x100;
    // write(1, TEXT, 1), then as above; s0 counts, s1 is the device.
    let round = [
        addiu(T9, ZERO, 5),
        addiu(A0, ZERO, 1),
        la(5, KSEG0 + TEXT),
        ori(5, 5, TEXT),
        addiu(6, ZERO, 1),
        0x7000_007f,
        sw(S0, S1, 0),
        addiu(T0, ZERO, 20),
        addiu(T0, T0, -1),
        bne(T0, ZERO, -2),
        NOP,
        addiu(S0, S0, -1),
    ];
    let back = [bne(S0, ZERO, -(round.len() as i32 + 1)), NOP];
    let begin = [addiu(S0, ZERO, ROUNDS as i32), la(S1, printer), ori(S1, S1, printer & 0xffff)];
    let program = [&begin[..], &round, &back, &EXIT].concat();
    let build = || {
        let mut machine = machine(PROGRAM, &program);
        put(&mut machine, KSEG0 + TEXT, &[u32::from(b'c')]);
        add_printer(&mut machine, DEVICE + 0x100);
        machine
    };
    let (_, text) = run_alike(build);
    assert_eq!(text.console, b"c!".repeat(ROUNDS as usize));
}

#[test]
fn riscv_interpreted_and_compiled() {
    use riscv::*;
    let round = [
        addi(10, 0, 3),
        lui(11, TEXT),
        EXIT[3],
        EBREAK,
        EXIT[5],
        sw(16, 17, 0x100),
        addi(18, 0, 20),
        addi(18, 18, -1),
        bne(18, 0, -4),
        addi(16, 16, -1),
    ];
    let back = bne(16, 0, -4 * round.len() as i32);
    let program = [&[addi(16, 0, ROUNDS as i32), lui(17, DEVICE)], &round[..], &[back], &EXIT].concat();
    let build = |compile_after: u16| {
        let mut machine = machine(LOCAL, &program, 1);
        machine.compile_after(compile_after);
        put(&mut machine, TEXT, &[u32::from(b'c')]);
        add_printer(&mut machine, DEVICE + 0x100);
        machine
    };
    let (interpreted, text) = run_alike(|| build(0));
    assert_eq!(text.console, b"c!".repeat(ROUNDS as usize));
    assert!(run_alike(|| build(2)).0 == interpreted);
}

#[test]
fn two_cores_that_wake_each_other() {
    use crate::support::pair::{JOURNAL, SHARED, pair};
    use arm::*;
    // Each prints, adds to a shared word without care, and raises and lowers the other's interrupt; core 1 sleeps
    // between.
    let round = |core: u32| {
        let mut round =
            vec![mov(0, 3), mov(1, TEXT + 4 * core), 0xef12_3456, str(6, 10, 0), ldr(3, 8, 0), add(3, 3, 1)];
        round.extend([str(3, 8, 0), str(3, 9, 0x40 + 4 * core), mov(7, 9 + core), subs(7, 7, 1), when(NE, b(-4))]);
        if core == 0 {
            round.extend([mov(4, 1), str(4, 9, 4)]);
        } else {
            round.extend([WFI, mov(4, 0), str(4, 9, 4)]);
        }
        round
    };
    let begin = [mov(6, ROUNDS), mov(8, 0), movt(8, SHARED >> 16), mov(9, 0), movt(9, JOURNAL >> 16)];
    let program = |core: u32, end: &[u32]| {
        let round = [round(core), vec![subs(6, 6, 1)]].concat();
        let back = when(NE, b(-4 * round.len() as i32));
        [&begin[..], &[mov(10, 0), movt(10, 0x5000)], &round, &[back], end].concat()
    };
    let programs = [program(0, &EXIT), program(1, &[WFI, b(-4)])];
    for quantum in [Ps::from_ns(10), Ps::from_us(1)] {
        let journals = std::cell::RefCell::new(Vec::new());
        let build = || {
            let (mut machine, journal) = pair([&programs[0], &programs[1]]);
            machine.set_quantum(quantum);
            put(&mut machine, TEXT, &[u32::from(b'0'), u32::from(b'1')]);
            add_printer(&mut machine, 0x5000_0000);
            journals.borrow_mut().push(journal);
            machine
        };
        let (_, text) = run_alike(build);
        assert_eq!(text.console.iter().filter(|byte| **byte == b'0').count(), ROUNDS as usize);
        let journals: Vec<_> = journals.borrow().iter().map(|journal| journal.lock().unwrap().clone()).collect();
        assert!(journals[0].len() > ROUNDS as usize && journals.iter().all(|journal| *journal == journals[0]));
    }
}

#[test]
fn a_program_that_prints_without_end_is_handed_over_by_bytes_and_can_be_stopped() {
    use arm::*;
    // SYS_WRITE0 of 1000 characters.
    let program = [mov(0, 4), mov(1, TEXT), 0xef12_3456, b(-12)];
    let mut machine = machine(PROGRAM, &program);
    put(&mut machine, TEXT, &[u32::from_le_bytes(*b"abcd"); 250]);
    let mut sizes = Vec::new();
    let report = machine.run(Ps::MAX, |printed| {
        sizes.push(printed.console.len());
        sizes.len() < 5
    });
    assert_eq!(report.outcome, Outcome::Interrupted);
    // 64 KiB, and what the call that comes to it prints.
    assert_eq!(sizes, [66_000, 66_000, 66_000, 66_000, 66_000, 0, 0]);
}

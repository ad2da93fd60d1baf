//! The card behind a controller: whatever the firmware does again and again, iterations that are fast-forwarded
//! leave what running them leaves.

use super::*;
use crate::bench;
use crate::cyclescope::avalonif_mmc::AvalonifMmc;
use crate::support::axi_lite::AxiLitePort;
use crate::support::hosted_chip::HostedChip;
use engine::bus::device::DeviceId;
use engine::polling::Poll;
use engine::tiers::sized;
use engine::time::{Cycles, Hz};
use proptest::prelude::*;

const CONTROL: u32 = 0x0;
const DIVIDER: u32 = 0x4;
const COUNTER: u32 = 0x8;
/// Bits of the control register.
const CDALTER: u32 = 1 << 13;
const IDLE: u32 = 1 << 9;
const NCS: u32 = 1 << 8;

/// Iterations that are skipped at the most: all of them are run, too.
const MOST_ITERATIONS: u64 = 300;

/// An action of the firmware in an iteration.
#[derive(Clone, Debug)]
enum Step {
    /// Sends a byte, and reads the received one after a number of clocks, whether the byte is over or not.
    Exchange(u8, u64),
    /// A command and three bytes more.
    Command(u8, u32),
    Select(bool),
    Read(u32),
    LoadCounter(u32),
    ClearChange,
    Pause(u64),
}

fn clock() -> Hz {
    Hz::new(99_038_462).unwrap()
}

/// The controller with a card, and the firmware's time.
struct Rig {
    bench: bench::Bench,
    cycle: u64,
    byte_cycles: u64,
    selected: bool,
}

impl Rig {
    fn new(changes: Changes, divider: u8) -> Rig {
        let (card, faults) = read_node(&node(changes));
        assert_eq!(faults, []);
        let port = AxiLitePort { clock: clock(), read_cycles: Cycles(0), write_cycles: Cycles(0) };
        let card = HostedChip::new(Box::new(card), "card0".to_owned(), None, 0);
        let controller = AvalonifMmc::new(port, None, Some(card));
        let byte_cycles = 17 * (u64::from(divider) + 1);
        let mut rig = Rig { bench: bench::Bench::new(controller), cycle: 10, byte_cycles, selected: false };
        rig.put(DIVIDER, divider.into());
        for _ in 0..10 {
            rig.exchange(0xff);
        }
        rig.step(&Step::Select(true));
        rig
    }

    fn now(&self) -> Ps {
        clock().ps_at_floor(Cycles(self.cycle))
    }

    fn put(&mut self, register: u32, value: u32) {
        self.bench.write(self.now(), register, value).unwrap();
        self.cycle += 2;
    }

    fn get(&mut self, register: u32) -> u32 {
        self.cycle += 2;
        self.bench.value(self.now(), register)
    }

    fn control(&self) -> u32 {
        CDALTER | if self.selected { 0 } else { NCS }
    }

    fn send(&mut self, byte: u8, wait_cycles: u64) -> u32 {
        self.put(CONTROL, self.control() | u32::from(byte));
        self.cycle += wait_cycles;
        self.get(CONTROL)
    }

    fn exchange(&mut self, byte: u8) -> u32 {
        self.send(byte, self.byte_cycles)
    }

    /// The values that the firmware reads.
    fn step(&mut self, step: &Step) -> Vec<u32> {
        match *step {
            Step::Exchange(byte, wait_cycles) => return vec![self.send(byte, wait_cycles)],
            Step::Command(index, argument) => {
                let frame = command_frame(index, argument);
                return frame.into_iter().chain([0xff; 3]).map(|byte| self.exchange(byte)).collect();
            }
            Step::Select(selected) => {
                self.selected = selected;
                self.put(CONTROL, self.control() | IDLE);
            }
            Step::Read(register) => return vec![self.get(register)],
            Step::LoadCounter(value) => self.put(COUNTER, value),
            Step::ClearChange => self.put(CONTROL, self.control() & !CDALTER | IDLE),
            Step::Pause(cycles) => self.cycle += cycles,
        }
        Vec::new()
    }

    fn iteration(&mut self, steps: &[Step]) -> Vec<u32> {
        steps.iter().flat_map(|step| self.step(step)).collect()
    }

    fn list(&mut self, mut poll: Poll) -> Option<Poll> {
        let now = poll.now();
        self.bench.bus.with_device(DeviceId(0), now, |device, _| device.polled(&mut poll)).then_some(poll)
    }

    fn look(&mut self) -> Option<Poll> {
        self.list(Poll::look(clock(), Cycles(self.cycle)))
    }

    fn totals(&mut self) -> Vec<(String, u64)> {
        self.bench.bus.with_device(DeviceId(0), Ps::ZERO, |device, _| device.counters())
    }
}

/// Runs `steps` over and over in both rigs; iterations that may be skipped are, in one of them. How many that were.
fn run_and_skip(run: &mut Rig, skip: &mut Rig, steps: &[Step]) -> u64 {
    let mut skipped = 0;
    for _ in 0..12 {
        let before = skip.look();
        let (began, selected) = (skip.cycle, skip.selected);
        let seen = skip.iteration(steps);
        assert_eq!(run.iteration(steps), seen);
        let (Some(before), Some(after)) = (before, skip.look()) else { continue };
        let period = skip.cycle - began;
        // The firmware's own state is the same, too.
        if period == 0 || skip.selected != selected || !after.repeats(&before) {
            continue;
        }
        // As the core does it.
        let ahead = after.latest_end(&before).0.saturating_sub(skip.cycle);
        let until = clock().cycles_until_floor(after.deadline(&before)).0.saturating_sub(ahead);
        let iterations = (until.saturating_sub(skip.cycle) / period).saturating_sub(1).min(MOST_ITERATIONS);
        skip.list(after.skip(&before, iterations)).unwrap();
        skip.cycle += iterations * period;
        skipped += iterations;
        for iteration in 0..iterations {
            assert_eq!(run.iteration(steps), seen, "iteration {iteration} of {iterations}");
        }
        assert_eq!(run.totals(), skip.totals());
    }
    skipped
}

fn step() -> impl Strategy<Value = Step> {
    let byte = prop_oneof![8 => Just(0xff), 1 => any::<u8>()];
    let wait_cycles = prop_oneof![3 => Just(70_u64), 1 => 0_u64..70];
    let index = prop_oneof![3 => Just(13_u8), 1 => proptest::sample::select(vec![0, 8, 9, 10, 12, 17, 24, 41, 55, 58])];
    prop_oneof![
        8 => (byte, wait_cycles).prop_map(|(byte, wait_cycles)| Step::Exchange(byte, wait_cycles)),
        2 => (index, prop_oneof![Just(0_u32), Just(512), Just(u32::MAX)])
            .prop_map(|(index, argument)| Step::Command(index, argument)),
        2 => any::<bool>().prop_map(Step::Select),
        3 => proptest::sample::select(vec![CONTROL, DIVIDER, COUNTER]).prop_map(Step::Read),
        1 => prop_oneof![0_u32..300, 0_u32..100_000].prop_map(Step::LoadCounter),
        1 => Just(Step::ClearChange),
        2 => (0_u64..3000).prop_map(Step::Pause),
    ]
}

/// How far the firmware has come with the card before it goes round.
#[derive(Clone, Copy, Debug)]
enum Start {
    Cold,
    Initialising,
    Ready,
    Reading,
    Writing,
    WritingMany,
}

fn start(rig: &mut Rig, start: Start) {
    let command = |index, argument| Step::Command(index, argument);
    let initialise = [command(0, 0), command(8, 0x1aa), Step::Exchange(0xff, 70), Step::Exchange(0xff, 70)];
    let ready = [command(55, 0), command(41, 1 << 30)];
    if matches!(start, Start::Cold) {
        return;
    }
    rig.iteration(&initialise);
    rig.iteration(&ready);
    if matches!(start, Start::Initialising) {
        return;
    }
    rig.step(&Step::Pause(150_000));
    rig.iteration(&ready);
    let (index, token) = match start {
        Start::Reading => (17, None),
        Start::Writing => (24, Some(0xfe)),
        Start::WritingMany => (25, Some(0xfc)),
        _ => return,
    };
    rig.step(&command(index, 0));
    if let Some(token) = token {
        rig.exchange(token);
        for byte in pattern(1).into_iter().chain([0; 3]) {
            rig.exchange(byte);
        }
    }
}

#[test]
fn a_wait_for_the_end_of_busy_is_skipped() {
    let rig = || {
        let mut rig = Rig::new(&[], 1);
        start(&mut rig, Start::Writing);
        rig
    };
    let (mut run, mut skip) = (rig(), rig());
    assert_eq!(run_and_skip(&mut run, &mut skip, &[Step::Exchange(0xff, 34)]), 10 * MOST_ITERATIONS);
}

#[test]
fn writes_during_a_byte_see_its_bits_come_in() {
    // The card leaves while its data response is the last byte; writes have no effect while the next one is being sent.
    let rig = || {
        let mut rig = Rig::new(&[("cyclescope,removed-at-ms", cell(2))], 0);
        start(&mut rig, Start::Writing);
        rig
    };
    run_and_skip(&mut rig(), &mut rig(), &[Step::Exchange(0xff, 0)]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(sized(50, 250)))]

    #[test]
    fn whatever_goes_round_can_be_skipped(
        steps in proptest::collection::vec(step(), 1..8),
        from in proptest::sample::select(vec![
            Start::Cold, Start::Initialising, Start::Ready, Start::Reading, Start::Writing, Start::WritingMany,
        ]),
        approach in proptest::collection::vec(step(), 0..4),
        divider in 0_u8..4,
        removed_at_ms in 0_u32..6,
        is_stuck: bool,
    ) {
        let changes = [
            ("cyclescope,removed-at-ms", cell(removed_at_ms)),
            ("cyclescope,stuck-busy-block", cell(is_stuck.into())),
        ];
        let rig = || {
            let mut rig = Rig::new(&changes, divider);
            start(&mut rig, from);
            rig.iteration(&approach);
            rig
        };
        run_and_skip(&mut rig(), &mut rig(), &steps);
    }
}

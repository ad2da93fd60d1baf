//! Tests: a bus at 100 kHz with a chip that records the calls of the bus.

mod frames;
mod registers;
mod wires;

use engine::polling::{Poll, Polled};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use super::*;
use crate::bench::Bench;
use crate::support::hosted_chip::Hosted;
use engine::bus::device::DeviceId;
use engine::dt::wiring::ClockInput;
use engine::time::{Hz, Ps};
use engine::wire::i2c::{Answer, Direction, Given, I2cTarget};

/// RM0360, table 75 and similar tables: 100 kHz from a kernel clock of 16 MHz. PRESC 3, SCLDEL 4, SDADEL 2, SCLH 15,
/// SCLL 19.
const TIMING: u32 = 0x3042_0f13;
/// tSCLL: 20 * 4, tSCLH: 16 * 4, tSDADEL: 2 * 4 + 1, tSCLDEL: 5 * 4.
const LOW: u64 = 80;
const HIGH: u64 = 64;
const DATA: u64 = 9;
const SETUP: u64 = 20;
/// Falling in 10 ns, plus a filter of 50 ns: 60 ns are 0.96 clocks of 62.5 ns, so one, and two of the synchronisation.
const SYNC1: u64 = 3;
/// Rising in 100 ns: 150 ns are 2.4 clocks, so three, and two of the synchronisation.
const SYNC2: u64 = 5;
const PERIOD: u64 = SYNC1 + LOW + SYNC2 + HIGH;
/// Cycles from a write to its effect on the bus.
const START: u64 = 2;
/// From SDA's falling edge to the first falling edge of SCL.
const HOLD: u64 = SYNC1 + HIGH;
const ADDRESS: u8 = 0x48;

/// The calls of a chip, with their cycles.
type Calls = Arc<Mutex<Vec<(String, u64)>>>;

/// A chip that answers with given values, and records its calls.
#[derive(engine::state::State)]
struct Recorder {
    #[state(skip)]
    calls: Calls,
    answers: VecDeque<Answer>,
    bytes: VecDeque<Given>,
}

impl Recorder {
    fn record(&self, what: impl Into<String>, now: Ps) {
        let cycle = clock().cycles_until_floor(now).0;
        assert_eq!(cycle_ps(cycle), now, "between edges of the kernel clock");
        self.calls.lock().unwrap().push((what.into(), cycle));
    }

    fn answer(&mut self) -> Answer {
        self.answers.pop_front().unwrap_or(Answer::ACK)
    }
}

impl I2cTarget for Recorder {
    fn address(&mut self, direction: Direction, now: Ps) -> Answer {
        self.record(format!("{direction:?}"), now);
        self.answer()
    }

    fn general_call(&mut self, now: Ps) -> Answer {
        self.record("general call", now);
        self.answer()
    }

    fn write(&mut self, byte: u8, now: Ps) -> Answer {
        self.record(format!("{byte:#x}"), now);
        self.answer()
    }

    fn read(&mut self, now: Ps) -> Given {
        self.record("read", now);
        self.bytes.pop_front().unwrap_or(Given::byte(0xff))
    }

    fn acknowledged(&mut self, ack: bool, now: Ps) {
        self.record(if ack { "ack" } else { "nack" }, now);
    }

    fn repeated_start(&mut self, now: Ps) {
        self.record("repeated start", now);
    }

    fn stop(&mut self, now: Ps) {
        self.record("stop", now);
    }
}

fn clock() -> Hz {
    Hz::new(16_000_000).unwrap()
}

fn cycle_ps(cycle: u64) -> Ps {
    clock().ps_at_floor(Cycles(cycle))
}

/// A bus with a recorder on it.
struct Bus {
    bench: Bench,
    calls: Calls,
}

impl Bus {
    /// An interface that is not enabled yet.
    fn new(answers: &[Answer], bytes: &[Given]) -> Bus {
        let calls = Calls::default();
        let (answers, bytes) = (answers.iter().copied().collect(), bytes.iter().copied().collect());
        let chip: Box<dyn I2cTarget> = Box::new(Recorder { calls: Arc::clone(&calls), answers, bytes });
        let chips = I2cChips::new(vec![(ADDRESS, Hosted::new(chip, "chip".to_owned(), None, 0))]);
        let delays = Delays {
            falling: Ps::from_ns(10),
            rising: Ps::from_ns(100),
            analog_filter: Ps::from_ns(50),
            synchronisation: Cycles(2),
        };
        let [event, error] = [4, 5].map(|bit| [Some(IrqLine::Core { core: 0, bit }), None]);
        let gate = ClockGate::default();
        let params = Params {
            kernel_clock: KernelClock::new(ClockInput::fixed(clock())),
            delays,
            start_cycles: Cycles(START),
            event,
            error,
            gate,
        };
        Bus { bench: Bench::new(I2c::new(params, Default::default(), chips)), calls }
    }

    /// An enabled interface, with interrupts.
    fn on(answers: &[Answer], bytes: &[Given], interrupts: u32) -> Bus {
        let mut bus = Bus::new(answers, bytes);
        bus.write(0, TIMINGR, TIMING);
        bus.write(0, CR1, CR1_PE | interrupts);
        bus
    }

    fn write(&mut self, cycle: u64, register: u32, value: u32) {
        self.bench.run(cycle_ps(cycle));
        self.bench.write(cycle_ps(cycle), register, value).unwrap();
    }

    fn read(&mut self, cycle: u64, register: u32) -> u32 {
        self.bench.run(cycle_ps(cycle));
        self.bench.value(cycle_ps(cycle), register)
    }

    /// I2C_ISR changes from `before` to `after` in a cycle.
    #[track_caller]
    fn changes(&mut self, cycle: u64, before: u32, after: u32) {
        assert_eq!(self.read(cycle - 1, ISR), before, "a cycle before {cycle}");
        assert_eq!(self.read(cycle, ISR), after, "at {cycle}");
    }

    #[track_caller]
    fn assert_calls(&self, expected: &[(&str, u64)]) {
        let calls = self.calls.lock().unwrap();
        let calls: Vec<(&str, u64)> = calls.iter().map(|(what, cycle)| (what.as_str(), *cycle)).collect();
        assert_eq!(calls, expected);
    }
}

/// I2C_CR2 for a transfer of `bytes` bytes with the recorder.
const fn transfer(bytes: u32, more: u32) -> u32 {
    bytes << CR2_NBYTES | (ADDRESS as u32) << 1 | CR2_START | more
}

/// SCL's falling edges after the eighth and the ninth clock of the first byte after a START at `at`.
const fn first_byte(at: u64) -> [u64; 2] {
    let first_fall = at + HOLD;
    [first_fall + 8 * PERIOD, first_fall + 9 * PERIOD]
}

/// Records rising edges of its inputs, in place of a DMA controller.
#[derive(engine::state::State)]
struct Requests(#[state(skip)] Arc<Mutex<Vec<(u32, u64)>>>);

impl Device for Requests {
    fn read(&mut self, _: usize, _: u32, _: AccessSize, ctx: &mut Ctx) -> Result<Reply, SlaveError> {
        Ok(Reply::read(0, ctx.now))
    }

    fn write(&mut self, _: usize, _: u32, _: AccessSize, _: u32, ctx: &mut Ctx) -> Result<Reply, SlaveError> {
        Ok(Reply::written(ctx.now))
    }

    fn irq_input(&mut self, input: u32, level: bool, ctx: &mut Ctx) {
        if level {
            self.0.lock().unwrap().push((input, clock().cycles_until_floor(ctx.now).0));
        }
    }
}

impl Polled for Requests {
    fn polled(&mut self, _: &mut Poll) -> bool {
        false
    }
}

#[test]
fn bytes_are_asked_for_as_txis_is_set() {
    let kept = Arc::new(Mutex::new(Vec::new()));
    let line = |input| DmaLine::new(vec![IrqLine::Device { device: DeviceId(1), input }]);
    let delays = Delays {
        falling: Ps::from_ns(10),
        rising: Ps::from_ns(100),
        analog_filter: Ps::from_ns(50),
        synchronisation: Cycles(2),
    };
    let (event, error, gate) = ([None; 2], [None; 2], ClockGate::default());
    let params = Params {
        kernel_clock: KernelClock::new(ClockInput::fixed(clock())),
        delays,
        start_cycles: Cycles(START),
        event,
        error,
        gate,
    };
    let chip: Box<dyn I2cTarget> =
        Box::new(Recorder { calls: Calls::default(), answers: VecDeque::new(), bytes: VecDeque::new() });
    let chips = I2cChips::new(vec![(ADDRESS, Hosted::new(chip, "chip".to_owned(), None, 0))]);
    let bench = Bench::new(I2c::new(params, [line(3), line(4)], chips)).and(Requests(Arc::clone(&kept)));
    let mut bus = Bus { bench, calls: Calls::default() };
    bus.write(0, TIMINGR, TIMING);
    bus.write(0, CR1, CR1_PE | CR1_TXDMAEN);
    bus.write(0, CR2, transfer(1, 0));
    let [_, acknowledged] = first_byte(START);
    bus.bench.run(cycle_ps(acknowledged + 100));
    assert_eq!(*kept.lock().unwrap(), [(3, acknowledged + SYNC1)]);
}

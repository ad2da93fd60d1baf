//! What the tests of both interfaces have in common: a bus, clocked at 16 MHz, with a chip that records its calls.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};

use super::*;
use crate::bench::Bench;
use crate::support::hosted_chip::Hosted;
use engine::dt::wiring::ClockInput;
use engine::time::Hz;
use engine::wire::i2c::{Answer, Direction, Given, I2cTarget};

/// The calls of a chip, with their cycles.
type Calls = Arc<Mutex<Vec<(String, u64)>>>;

pub const ADDRESS: u8 = 0x48;
/// Cycles from a write to its effect on the bus.
pub const START: u64 = 2;

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
        let number = clock().cycles_until_floor(now).0;
        assert_eq!(cycle(number), now, "between edges of the clock");
        self.calls.lock().unwrap().push((what.into(), number));
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

pub fn clock() -> Hz {
    Hz::new(16_000_000).unwrap()
}

/// The time of a cycle.
pub fn cycle(number: u64) -> Ps {
    clock().ps_at_floor(Cycles(number))
}

/// Parameters of an interface with this clock, and the interrupts 4 and 5.
pub fn params(clock: ClockInput) -> Params {
    let [event, error] = [4, 5].map(|bit| [Some(IrqLine::Core { core: 0, bit }), None]);
    let (clock, gate) = (KernelClock::new(clock), ClockGate::default());
    Params { clock, start_cycles: Cycles(START), event, error, gate }
}

/// A bus with a recorder on it.
pub struct Bus {
    pub bench: Bench,
    calls: Calls,
}

impl Bus {
    /// An interface that is not enabled yet.
    pub fn new<V: Version>(params: Params, own: V, dma: [DmaLine; 2], (answers, bytes): (&[Answer], &[Given])) -> Bus {
        let calls = Calls::default();
        let (answers, bytes) = (answers.iter().copied().collect(), bytes.iter().copied().collect());
        let chip: Box<dyn I2cTarget> = Box::new(Recorder { calls: Arc::clone(&calls), answers, bytes });
        let chips = I2cChips::new(vec![(ADDRESS, Hosted::new(chip, "chip".to_owned(), None, 0))]);
        Bus { bench: Bench::new(I2c::new(params, own, dma, chips)), calls }
    }

    pub fn write(&mut self, at: u64, register: u32, value: u32) {
        self.bench.run(cycle(at));
        self.bench.write(cycle(at), register, value).unwrap();
    }

    pub fn read(&mut self, at: u64, register: u32) -> u32 {
        self.bench.run(cycle(at));
        self.bench.value(cycle(at), register)
    }

    /// A register changes from `before` to `after` in a cycle.
    #[track_caller]
    pub fn turns(&mut self, at: u64, register: u32, before: u32, after: u32) {
        assert_eq!(self.read(at - 1, register), before, "a cycle before {at}");
        assert_eq!(self.read(at, register), after, "at {at}");
    }

    /// The calls of the chip.
    pub fn calls(&self) -> Vec<(String, u64)> {
        self.calls.lock().unwrap().clone()
    }

    #[track_caller]
    pub fn assert_calls(&self, expected: &[(&str, u64)]) {
        let calls = self.calls();
        let calls: Vec<(&str, u64)> = calls.iter().map(|(what, at)| (what.as_str(), *at)).collect();
        assert_eq!(calls, expected);
    }
}

//! Tests: a bus at 100 kHz with a chip that records the calls of the bus.

mod frames;
mod registers;
mod wires;

use std::sync::{Arc, Mutex};

use super::*;
use crate::bench::Bench;
use crate::st::i2c::tests::{ADDRESS, Bus, START, clock, cycle as cycle_ps, params};
use crate::support::dma_lines::DmaLine;
use crate::support::hosted_chip::Hosted;
use crate::support::i2c_chips::I2cChips;
use engine::bus::device::{AccessResult, AccessSize, DeviceId, IrqLine, Reply};
use engine::dt::wiring::ClockInput;
use engine::polling::Poll;
use engine::time::{Cycles, Hz, Ps};
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
/// From SDA's falling edge to the first falling edge of SCL.
const HOLD: u64 = SYNC1 + HIGH;

/// An interface with these delays.
fn own(delays: Delays) -> V2 {
    V2 { delays, ..V2::default() }
}

/// The delays from which [`SYNC1`] and [`SYNC2`] result.
fn delays() -> Delays {
    Delays {
        falling: Ps::from_ns(10),
        rising: Ps::from_ns(100),
        analog_filter: Ps::from_ns(50),
        synchronisation: Cycles(2),
    }
}

/// An interface that is not enabled yet.
fn off(answers: &[Answer], bytes: &[Given]) -> Bus {
    Bus::new(params(ClockInput::fixed(clock())), own(delays()), Default::default(), (answers, bytes))
}

/// An enabled interface, with interrupts.
fn on(answers: &[Answer], bytes: &[Given], interrupts: u32) -> Bus {
    let mut bus = off(answers, bytes);
    bus.write(0, TIMINGR, TIMING);
    bus.write(0, CR1, CR1_PE | interrupts);
    bus
}

impl Bus {
    /// I2C_ISR changes from `before` to `after` in a cycle.
    #[track_caller]
    fn isr_turns(&mut self, at: u64, before: u32, after: u32) {
        self.turns(at, ISR, before, after);
    }
}

/// The lowest bit of I2C_CR2.NBYTES.
const NBYTES: u32 = CR2_NBYTES.trailing_zeros();

/// I2C_CR2 for a transfer of `bytes` bytes with the recorder.
const fn transfer(bytes: u32, more: u32) -> u32 {
    bytes << NBYTES | (ADDRESS as u32) << 1 | CR2_START | more
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
    fn read(&mut self, _: usize, _: u32, _: AccessSize, ctx: &mut Ctx) -> AccessResult {
        Ok(Reply::read(0, ctx.now))
    }

    fn write(&mut self, _: usize, _: u32, _: AccessSize, _: u32, ctx: &mut Ctx) -> AccessResult {
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
    let mut bus = Bus::new(params(ClockInput::fixed(clock())), own(delays()), [line(3), line(4)], (&[], &[]));
    bus.bench = bus.bench.and(Requests(Arc::clone(&kept)));
    bus.write(0, TIMINGR, TIMING);
    bus.write(0, CR1, CR1_PE | CR1_TXDMAEN);
    bus.write(0, CR2, transfer(1, 0));
    let [_, acknowledged] = first_byte(START);
    bus.bench.run(cycle_ps(acknowledged + 100));
    assert_eq!(*kept.lock().unwrap(), [(3, acknowledged + SYNC1)]);
}

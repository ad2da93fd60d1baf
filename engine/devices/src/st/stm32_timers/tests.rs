//! A timer at 84 MHz, whose period is not a whole number of picoseconds.

use super::*;
use crate::bench::Bench;
use crate::bench::polled::{Access, Loop};
use crate::registers::walk;
use engine::dt::wiring::ClockId;
use engine::time::{Cycles, Hz, Ps};

mod counting;
mod outputs;

const CLOCK: ClockId = ClockId(7);

fn mhz(value: u64) -> Hz {
    Hz::new(value * 1_000_000).unwrap()
}

fn at(cycle: u64) -> Ps {
    mhz(84).ps_at_floor(Cycles(cycle))
}

fn params() -> Params {
    let line = |bit| Some(IrqLine::Core { core: 0, bit });
    Params {
        clock: ClockInput { rate: mhz(84), id: Some(CLOCK) },
        bits: 16,
        channels: 4,
        is_advanced: true,
        counts_up: false,
        interrupts: [line(4), line(5), line(6), line(7)],
        gate: ClockGate::default(),
    }
}

fn timer(params: Params, pins: [Option<Pin>; 4]) -> Timer {
    Timer::new(params, pins, Default::default())
}

/// A timer with these registers written at the start, and CEN (with more of TIM_CR1) in cycle 0: the counter is enabled
/// from cycle 1 on.
struct Rig(Bench);

fn rig(registers: &[(u32, u32)], control: u32) -> Rig {
    let mut rig = Rig(Bench::new(timer(params(), [None; 4])));
    registers.iter().for_each(|(register, value)| rig.put(0, *register, *value));
    rig.put(0, CR1, control | CR1_CEN);
    rig
}

impl Rig {
    fn put(&mut self, cycle: u64, register: u32, value: u32) {
        self.0.run(at(cycle));
        self.0.write(at(cycle), register, value).unwrap();
    }

    fn get(&mut self, cycle: u64, register: u32) -> u32 {
        self.0.run(at(cycle));
        self.0.value(at(cycle), register)
    }

    /// TIM_CNT changes from `before` to `after` in a cycle.
    #[track_caller]
    fn counts(&mut self, cycle: u64, before: u32, after: u32) {
        assert_eq!((self.get(cycle - 1, CNT), self.get(cycle, CNT)), (before, after), "around {cycle}");
    }

    /// UIF is set in this cycle.
    #[track_caller]
    fn updates(&mut self, cycle: u64) {
        let mut flag = |cycle| self.get(cycle, SR) & UPDATE;
        assert_eq!((flag(cycle - 1), flag(cycle)), (0, UPDATE), "around {cycle}");
    }
}

#[test]
fn the_register_map_is_sound() {
    walk::table_is_sound(MAP.rows);
    let mut bench = Bench::new(timer(params(), [None; 4]));
    assert_eq!(bench.value(at(0), ARR), 0xffff);
    for (register, value) in [(CR2, 0x78), (SMCR, 0x70), (BDTR, 0x8001), (DCR, 0x305), (PSC, 9), (RCR, 3)] {
        bench.write(at(1), register, value).unwrap();
        assert_eq!(bench.value(at(1), register), value);
    }
    bench.write(at(2), CCMR1, 0x6871).unwrap();
    bench.write(at(2), CCER, 0x3021).unwrap();
    assert_eq!((bench.value(at(2), CCMR1), bench.value(at(2), CCER)), (0x6871, 0x3021));
}

#[test]
fn registers_that_a_timer_lacks_are_not_there() {
    let params = Params { is_advanced: false, counts_up: true, bits: 32, ..params() };
    let mut bench = Bench::new(timer(params, [None; 4]));
    for (register, value) in [(RCR, 3), (BDTR, 0x8000), (CR1, CR1_DIR | 3 << 5)] {
        bench.write(at(1), register, value).unwrap();
        assert_eq!(bench.value(at(1), register), 0);
    }
    assert_eq!(bench.value(at(1), ARR), u32::MAX);
}

#[test]
fn what_belongs_to_a_channel_is_there_with_it() {
    // Bits of TIM_CCMR1, TIM_CCMR2, TIM_CCER, TIM_DIER, and TIM_CCR1 to TIM_CCR4.
    let (has, lacks) = (0xffff, 0);
    for (channels, expected) in [
        (0, [0, 0, 0, 0x6141, lacks, lacks, lacks, lacks]),
        (1, [0xff, 0, 0xf, 0x6343, has, lacks, lacks, lacks]),
        (2, [0xffff, 0, 0xff, 0x6747, has, has, lacks, lacks]),
        (4, [0xffff, 0xffff, 0xffff, 0x7f5f, has, has, has, has]),
    ] {
        let params = Params { channels, ..params() };
        let mut bench = Bench::new(timer(params, [None; 4]));
        let registers = [CCMR1, CCMR2, CCER, DIER, CCR, CCR + 4, CCR + 8, CCR_LAST];
        // Without the bits of inputs, whose TIM_CCRx is read-only.
        let held = registers.map(|register| {
            let written = if matches!(register, CCMR1 | CCMR2) { 0xffff & !0x0303 } else { 0xff5f };
            let written = if register >= CCR { 0xffff } else { written };
            bench.write(at(1), register, written).unwrap();
            bench.value(at(1), register)
        });
        let inputs = |register: u32| if matches!(register, CCMR1 | CCMR2) { !0x0303 } else { u32::MAX };
        let mut expected = expected;
        for (value, register) in expected.iter_mut().zip(registers) {
            *value &= inputs(register) & if register == CCER { 0xff5f } else { u32::MAX };
        }
        assert_eq!(held, expected, "{channels} channels");
    }
}

#[test]
fn a_wait_for_an_update_is_skipped() {
    let make = || {
        let mut bench = Bench::new(timer(params(), [None; 4]));
        bench.write(at(0), PSC, 99).unwrap();
        bench.write(at(0), EGR, UPDATE).unwrap();
        bench.write(at(0), SR, 0).unwrap();
        bench.write(at(0), ARR, 999).unwrap();
        bench.write(at(0), CR1, CR1_CEN).unwrap();
        bench
    };
    assert!(Loop::even(mhz(84), 6, &[Access::Read(SR)]).assert_skipped_as_run(make, 2, 10_000));
    assert!(!Loop::even(mhz(84), 6, &[Access::Read(SR)]).assert_skipped_as_run(make, 2, 17_000), "an update comes");
    assert!(!Loop::even(mhz(84), 6, &[Access::Read(CNT)]).assert_skipped_as_run(make, 2, 100));
}

//! Requests that reach no further than the flash, beside those that are seen clock by clock: the same words, cycles,
//! counters and notes, in all modes.

use proptest::prelude::*;

use super::modes::{SINGLE, Setup, WIDE, leave_and_set_up};
use super::*;

/// An action of the firmware.
#[derive(Clone, Debug)]
enum Did {
    /// A read at an offset within the window's first words, or its last ones.
    Read(u32, AccessSize),
    /// The word after the last one read.
    Next,
    Wait(u64),
    /// Reads the configuration register, which shows the lines.
    Look,
    /// Sets flash and interface up, to agree or not.
    SetUp(Setup, u32),
}

fn did() -> impl Strategy<Value = Did> {
    let size = prop_oneof![Just(AccessSize::Byte), Just(AccessSize::Half), Just(AccessSize::Word)];
    let offset = prop_oneof![8 => 0u32..0x3000, 1 => 0x00ff_f000_u32..0x0100_1000];
    let setup = (0..WIDE.len() + 1, 0u32..16).prop_map(|(index, latency)| match WIDE.get(index) {
        Some(bits) => Setup { bits: *bits, latency },
        None => SINGLE,
    });
    prop_oneof![
        8 => (offset, size).prop_map(|(at, size)| Did::Read(at & !(size.bytes() - 1), size)),
        8 => Just(Did::Next),
        4 => (1u64..300).prop_map(Did::Wait),
        1 => Just(Did::Look),
        1 => (setup, prop_oneof![4 => Just(0u32), 1 => 1u32..3]).prop_map(|(setup, off)| Did::SetUp(setup, off)),
    ]
}

impl Soc {
    /// A read without a call of the device if possible: returns its result, and true if it was.
    fn read_by(&mut self, offset: u32, size: AccessSize) -> ((u64, u32), bool) {
        let device = self.bus.devices[0].as_mut().unwrap();
        if let Some((value, answered)) = device.read_alone(1, offset, size.bytes(), self.cycle) {
            let cycles = answered - std::mem::replace(&mut self.cycle, answered + 1);
            return ((cycles, value), true);
        }
        (self.access(|device, ctx| device.read(1, offset, size, ctx)), false)
    }

    fn does(&mut self, did: &Did, now: &mut (Setup, u32)) -> ((u64, u32), bool) {
        match *did {
            Did::Read(offset, size) => {
                now.1 = (offset & !3) + 4;
                return self.read_by(offset, size);
            }
            Did::Next => {
                let offset = now.1 % 0x0110_0000;
                now.1 = offset + 4;
                return self.read_by(offset, AccessSize::Word);
            }
            Did::Wait(cycles) => self.cycle += cycles,
            Did::Look => return ((0, self.config()), false),
            Did::SetUp(setup, off) => {
                leave_and_set_up(self, now.0, setup.latency);
                let latency = (setup.latency + off) % 16;
                self.configure(Setup { latency, ..setup }.config());
                now.0 = setup;
            }
        }
        ((0, 0), false)
    }
}

/// Does the same on two SoCs, one with recorded wires, which simulates each clock: returns the number of short reads.
fn compare(all: &[Did]) -> Result<usize, TestCaseError> {
    let (mut quick, mut slow) = (Soc::new(), Soc::new());
    slow.call(|device, ctx| device.reset(ctx));
    slow.bus.waves.start();
    let (mut now, mut times) = ([(SINGLE, 0); 2], 0);
    for did in all {
        let (got, short) = quick.does(did, &mut now[0]);
        let (expected, whole) = slow.does(did, &mut now[1]);
        prop_assert!(!whole, "what is recorded is seen clock by clock");
        prop_assert_eq!(got, expected, "{:?}", did);
        times += usize::from(short);
    }
    for soc in [&mut quick, &mut slow] {
        let now = Soc::clock().ps_at_floor(Cycles(soc.cycle));
        soc.call(|device, _| device.finish(now));
    }
    let counters = |soc: &Soc| soc.bus.devices[0].as_ref().unwrap().counters();
    prop_assert_eq!(counters(&quick), counters(&slow));
    prop_assert_eq!(quick.bus.notes(), slow.bus.notes());
    Ok(times)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn short_and_whole_requests_are_the_same(all in proptest::collection::vec(did(), 1..80)) {
        compare(&all)?;
    }
}

#[test]
fn requests_with_settled_settings_are_short() {
    for setup in WIDE.into_iter().map(|bits| Setup { bits, latency: 4 }).chain([SINGLE]) {
        let mut all = vec![Did::SetUp(setup, 0)];
        for index in 0..30 {
            all.extend([Did::Read((index * 0x5c) & !3, AccessSize::Word), Did::Wait(u64::from(index)), Did::Next]);
        }
        // Up to the first jump or two, each frame is seen.
        assert!(compare(&all).unwrap() >= 54, "{setup:?}");
    }
}

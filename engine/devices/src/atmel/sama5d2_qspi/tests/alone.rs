//! Reads of the window that reach no further than the memory, beside those that are seen clock by clock: the same data,
//! times, counters and notes, whatever the settings of controller and memory.

use proptest::prelude::*;

use super::*;
use engine::bus::repeated_reads::ReadRecord;

/// An action of the firmware.
#[derive(Clone, Debug)]
enum Did {
    /// QSPI_ICR and QSPI_IFR.
    Frame(u32, u32),
    /// QSPI_SCR.
    Clock(u32),
    /// The memory's volatile configuration register: dummy clocks, XIP, wrap.
    Configure(u32),
    Last,
    Wait(u64),
    Load(u32, AccessSize),
    Burst(u32, u32),
    /// Continues after the last access.
    Follow(AccessSize),
    Disable,
}

fn size() -> impl Strategy<Value = AccessSize> {
    prop_oneof![Just(AccessSize::Byte), Just(AccessSize::Half), Just(AccessSize::Word)]
}

fn offset() -> impl Strategy<Value = u32> {
    prop_oneof![8 => 0u32..0x4000, 1 => 0x00ff_ff00_u32..0x0100_0100, 1 => any::<u32>().prop_map(|at| at >> 5)]
}

fn did() -> impl Strategy<Value = Did> {
    let opcode = prop_oneof![
        3 => Just(0xeb_u32), 1 => Just(0xbb), 1 => Just(0x0b), 1 => Just(0x3b), 1 => Just(0x6b), 1 => Just(0x03),
        1 => Just(0x9f), 1 => any::<u8>().prop_map(u32::from),
    ];
    let right = (any::<bool>(), any::<bool>(), prop_oneof![3 => Just(10u32), 1 => 0u32..16]).prop_map(
        |(continuous, option, dummies)| {
            let option = if option { ifr::OPTEN | ifr::OPTL_4BIT } else { 0 };
            let continuous = if continuous { ifr::CRM } else { 0 };
            ifr::QUAD_READ & !ifr::dummies(31) | ifr::dummies(dummies) | option | continuous
        },
    );
    let any_frame = (0u32..7, any::<u32>()).prop_map(|(width, bits)| bits & 0x001f_7770 | ifr::DATAEN | width);
    let frame = prop_oneof![4 => right, 1 => any_frame];
    prop_oneof![
        2 => (opcode, 0u32..16, frame).prop_map(|(opcode, option, frame)| Did::Frame(opcode | option << 16, frame)),
        1 => (0u32..6, 0u32..4).prop_map(|(divider, delay)| Did::Clock(divider << 8 | delay << 16)),
        1 => any::<u8>().prop_map(|value| Did::Configure(u32::from(value))),
        1 => Just(Did::Last),
        1 => (0u64..100_000).prop_map(Did::Wait),
        8 => (offset(), size()).prop_map(|(at, size)| Did::Load(at & !(size.bytes() - 1), size)),
        8 => (offset(), 1u32..9).prop_map(|(at, words)| Did::Burst(at & !3, 4 * words)),
        4 => size().prop_map(Did::Follow),
        1 => Just(Did::Disable),
    ]
}

impl Rig {
    /// Reads a beat as compiled code does, without a call. False if the controller has to be called.
    fn reads_as_code(&mut self, offset: u32, edge: u64) -> bool {
        let device = self.bench.bus.devices[0].as_mut().unwrap();
        let Some(window) = device.repeated_reads(1, 8) else { return false };
        let record: *mut ReadRecord = std::ptr::with_exposed_provenance_mut(window.record);
        // SAFETY: the device is there, and nobody else uses it now.
        let record = unsafe { &mut *record };
        if record.holds == 0 {
            return false;
        }
        record.free_edge = record.free_edge.max(edge + window.before_cycles) + record.busy_cycles;
        record.reads += 1;
        record.last = u64::from(offset);
        self.now = clock().ps_at_floor(Cycles(record.free_edge.wrapping_add_signed(window.after_cycles)));
        true
    }

    /// An access to the window, without a call of the device if possible: returns its result, and true if it was.
    fn read_by(&mut self, offset: u32, bytes: u32, short: bool) -> (Option<u32>, bool) {
        self.bench.bus.run_events(self.now);
        let edge = clock().cycles_until_ceil(self.now).0;
        if short && bytes == 8 && self.as_code && self.reads_as_code(offset, edge) {
            return (None, true);
        }
        let device = self.bench.bus.devices[0].as_mut().unwrap();
        if let Some((value, answered)) = device.read_alone(1, offset, bytes, edge).filter(|_| short) {
            self.now = clock().ps_at_floor(Cycles(answered));
            return (Some(value), true);
        }
        let size =
            [AccessSize::Byte, AccessSize::Half, AccessSize::Word].into_iter().find(|size| size.bytes() == bytes);
        let value = match size {
            Some(size) => self.load(offset, size),
            None => self.device(|device, ctx| device.burst(1, offset, bytes, ctx)).map(|done| {
                self.now = done;
                0
            }),
        };
        (value.map_err(|error| self.now = error.done).ok(), false)
    }

    fn does(&mut self, did: &Did, next: &mut u32, short: bool) -> (Option<u32>, bool) {
        let read = match *did {
            Did::Load(offset, size) => Some((offset, size.bytes())),
            Did::Burst(offset, bytes) => Some((offset, bytes)),
            Did::Follow(size) => Some((next.next_multiple_of(size.bytes()), size.bytes())),
            _ => None,
        };
        if let Some((offset, bytes)) = read {
            *next = offset.wrapping_add(bytes);
            return self.read_by(offset, bytes, short);
        }
        match *did {
            Did::Frame(instruction, frame) => self.frame(instruction, frame),
            Did::Clock(value) => self.put(SCR, value),
            Did::Configure(value) => {
                self.put(CR, CR_LASTXFER);
                self.frame(0x06, ifr::INSTEN);
                self.frame(0x81, ifr::INSTEN | ifr::DATAEN | ifr::WRITE);
                self.store(0, AccessSize::Byte, value);
                self.put(CR, CR_LASTXFER);
                self.frame(0xeb, ifr::QUAD_READ);
            }
            Did::Last => self.put(CR, CR_LASTXFER),
            Did::Wait(wait) => self.now += Ps(wait),
            _ => {
                self.put(CR, CR_QSPIDIS);
                self.put(CR, CR_QSPIEN);
            }
        }
        (None, false)
    }
}

/// Does the same on two rigs, one with recorded wires, which simulates each clock: returns the number of short reads.
fn compare(reads_go_on: bool, all: &[Did]) -> Result<usize, TestCaseError> {
    let rig = || {
        // A third of the controller's clock is slow enough, half of it is not.
        let flash = flash_with(&[("spi-max-frequency", 60_000_000)]);
        let mut rig = Rig::holding(flash, Params { reads_go_on, interrupt: None, ..params() }).in_memory_mode();
        rig.frame(0xeb, ifr::QUAD_READ);
        rig
    };
    let (mut quick, mut slow) = (rig(), rig());
    quick.as_code = true;
    slow.bench.record();
    let (mut next, mut times) = ([0; 2], 0);
    for did in all {
        let (value, short) = quick.does(did, &mut next[0], true);
        let (expected, whole) = slow.does(did, &mut next[1], true);
        prop_assert!(!whole, "what is recorded is seen clock by clock");
        let is_burst = matches!(did, Did::Burst(_, 8..));
        prop_assert!(is_burst || value == expected, "{:?}: {:x?}, not {:x?}", did, value, expected);
        prop_assert_eq!(quick.now, slow.now, "{:?}", did);
        times += usize::from(short);
    }
    let counters = |rig: &mut Rig| {
        rig.device(|device, _| {
            device.learn();
            device.counters()
        })
    };
    prop_assert_eq!(counters(&mut quick), counters(&mut slow));
    prop_assert_eq!(quick.notes(), slow.notes());
    prop_assert_eq!(quick.get(SR), slow.get(SR));
    Ok(times)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn short_and_whole_reads_are_the_same(
        reads_go_on in any::<bool>(),
        all in proptest::collection::vec(did(), 1..60),
    ) {
        compare(reads_go_on, &all)?;
    }
}

#[test]
fn a_clock_that_becomes_too_fast_in_a_frame_is_noted() {
    let mut all = vec![Did::Clock(THIRD)];
    all.extend([0, 0x100, 0x200, 0x300, 0x308, 0x310].map(|offset| Did::Burst(offset, 8)));
    all.extend([Did::Clock(0), Did::Burst(0x318, 4)]);
    assert!(compare(true, &all).unwrap() >= 2);
}

#[test]
fn reads_with_settled_settings_are_short() {
    for (reads_go_on, frame) in [(false, ifr::QUAD_READ), (true, ifr::QUAD_READ)] {
        let mut all = vec![Did::Frame(0xeb, frame)];
        all.extend((0..100).map(|index| Did::Burst((index * 0x38) & !7, 8)));
        // Until the frames are known to be identical, each is simulated.
        assert!(compare(reads_go_on, &all).unwrap() >= 95);
    }
}

#[test]
fn reads_in_continuous_read_mode_are_short() {
    // XIP on: bit 3 of the volatile configuration register is 0, and the option's 0 on IO0 confirms it.
    let frame = ifr::QUAD_READ & !ifr::dummies(31) | ifr::dummies(9) | ifr::OPTEN | ifr::OPTL_4BIT | ifr::CRM;
    let mut all = vec![Did::Configure(0xa3), Did::Frame(0xeb, frame)];
    all.extend((0..100).map(|index| Did::Burst((index * 0x38) & !7, 8)));
    assert!(compare(false, &all).unwrap() >= 95);
}

//! Accesses to a device's registers by the known path, compared with the general functions.

use crate::polling::{Poll, Polled};
use proptest::prelude::*;

use super::*;
use crate::cpu::memory_system::mmu::Identity;

/// The device's clock; the core's is three times as fast, or not in step with it.
const BUS_HZ: u64 = 100_000_000;
/// From here on, the device answers with an error.
const ERRORS: u32 = 0x80;
/// Up to here, a read reaches nothing but the device.
const NEAR: u32 = 0x40;

/// Registers that count accesses. An access takes 2 clocks, after the previous one.
#[derive(Default, crate::state::State)]
struct Counts {
    free: u64,
    accesses: u32,
    alone: u64,
}

impl Counts {
    fn clock() -> Hz {
        Hz::new(BUS_HZ).unwrap()
    }

    fn access(&mut self, edge: u64) -> u64 {
        self.accesses = self.accesses.wrapping_mul(3).wrapping_add(0x0107_0503);
        self.free = self.free.max(edge) + 2;
        self.free
    }

    fn access_at(&mut self, now: Ps) -> Ps {
        let edge = Counts::clock().cycles_until_ceil(now).0;
        Counts::clock().ps_at_floor(Cycles(self.access(edge)))
    }
}

impl Device for Counts {
    fn read(&mut self, _: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> AccessResult {
        let done = self.access_at(ctx.now);
        let value = size.extracted(self.accesses, offset);
        if offset < ERRORS { Ok(Reply::read(value, done)) } else { Err(SlaveError { done }) }
    }

    fn write(&mut self, _: usize, offset: u32, _: AccessSize, value: u32, ctx: &mut Ctx) -> AccessResult {
        let done = self.access_at(ctx.now);
        self.accesses ^= value;
        if offset < ERRORS { Ok(Reply::written(done)) } else { Err(SlaveError { done }) }
    }

    fn own_clock(&self) -> Option<Hz> {
        Some(Counts::clock())
    }

    fn read_alone(&mut self, _: usize, offset: u32, bytes: u32, edge: u64) -> Option<(u32, u64)> {
        let size = AccessSize::of_bytes(bytes).filter(|_| offset < NEAR)?;
        self.alone += 1;
        let done = self.access(edge);
        Some((size.extracted(self.accesses, offset), done))
    }

    fn counters(&self) -> Vec<(String, u64)> {
        vec![("alone".to_owned(), self.alone)]
    }
}

impl Polled for Counts {
    fn polled(&mut self, _: &mut Poll) -> bool {
        false
    }
}

fn with_registers(core_hz: u64, routed: bool, cached: bool) -> Rig {
    let (core, bus) = (Hz::new(core_hz).unwrap(), Counts::clock());
    let shape = CacheShape {
        size_bytes: 512,
        line_bytes: 16,
        ways: 1,
        replacement: Replacement::LeastRecentlyUsed,
        write: WritePolicy::WriteBack,
    };
    let mut rig = rig(all_off(), MemoryConfig::unbuffered(core, None, cached.then_some(shape)));
    rig.bus.routes[0] =
        Route { name: "matrix".into(), clock: bus, request_cycles: Cycles(2), response_cycles: Cycles(1) };
    rig.bus.map[2].route = routed.then_some(0);
    rig.bus.devices[0] = Some(Box::new(Counts::default()));
    rig.bus.set_core_clocks(vec![core]);
    rig.memory.translation_changed(&Identity);
    rig
}

/// Result of an access: its cycles, and the value or the kind of refusal.
type Outcome = (u64, Result<u32, Refused>);

/// An access by the known path, if `short` and there is one, else by the general function; the path is known
/// afterwards.
fn access(rig: &mut Rig, short: bool, store: bool, addr: u32, size: AccessSize, until: u64) -> Outcome {
    let quiet = Quiet { now: rig.now, until };
    let value = rig.now as u32;
    let (memory, bus) = (&mut rig.memory, &mut rig.bus);
    let quick = match store {
        false if short => memory.load_register(bus, quiet, addr, size).map(|(done, _)| done),
        true if short => memory.store_register(bus, quiet, addr, size, value).map(zero),
        _ => None,
    };
    let done: Done<u32, Refused> = quick.unwrap_or_else(|| {
        let plain = Identity;
        let done = match store {
            false => as_refused(memory.load(bus, &plain, quiet.now, addr, size, 0)),
            true => as_refused(zero(memory.store(bus, &plain, quiet.now, addr, size, value, 0))),
        };
        memory.remember_device(bus, addr);
        done
    });
    let (cycles, result) = rig.passed(done);
    (cycles, result.map_err(|abort| abort.status))
}

fn zero<S>(done: Done<(), S>) -> Done<u32, S> {
    Done { cycles: done.cycles, result: done.result.map(|()| 0) }
}

/// In these tests only the bus refuses accesses.
fn as_refused<S>(done: Done<u32, S>) -> Done<u32, Refused> {
    let refused = |abort: Abort<S>| Abort {
        va: abort.va,
        status: Refused::External,
        write: abort.write,
        domain: abort.domain,
        bus: abort.bus,
    };
    Done { cycles: done.cycles, result: done.result.map_err(refused) }
}

proptest! {
    #[test]
    fn the_known_path_gives_the_results_of_the_general_one(
        steps in prop::collection::vec((any::<bool>(), 0u32..0x90, 0usize..3, 0u64..20, 0u64..40), 1..60),
        core_hz in prop::sample::select(vec![3 * BUS_HZ, BUS_HZ, 250_000_000]),
        routed: bool,
        cached: bool,
    ) {
        let [mut short, mut long] = [(); 2].map(|()| with_registers(core_hz, routed, cached));
        for (store, offset, size, gap, quiet) in steps {
            let size = [AccessSize::Byte, AccessSize::Half, AccessSize::Word][size];
            let addr = DEVICE + offset / size.bytes() * size.bytes();
            short.now += gap;
            long.now += gap;
            let until = short.now + quiet;
            let one = access(&mut short, true, store, addr, size, until);
            prop_assert_eq!(one, access(&mut long, false, store, addr, size, until));
            prop_assert_eq!(short.causes(), long.causes());
            prop_assert_eq!(short.memory.touched(), long.memory.touched());
        }
    }
}

#[test]
fn a_read_that_reaches_no_further_is_made_alone() {
    let mut rig = with_registers(3 * BUS_HZ, true, true);
    let read = |rig: &mut Rig, until| access(rig, true, false, DEVICE, AccessSize::Word, until).1.is_ok();
    let alone = |rig: &Rig| rig.bus.devices[0].as_ref().unwrap().counters()[0].1;
    assert!(read(&mut rig, 0));
    let known = alone(&rig);
    // The path is known now, and no event is due before the request arrives.
    assert!(read(&mut rig, u64::MAX));
    assert_eq!(alone(&rig), known + 1);
    // An event may be due before it.
    let next = rig.now + 1;
    assert!(read(&mut rig, next));
    assert_eq!(alone(&rig), known + 1);
    // If another core may access the device, the access needs a time.
    let mut two = with_registers(3 * BUS_HZ, true, true);
    two.bus.add_core();
    assert!(read(&mut two, u64::MAX) && read(&mut two, u64::MAX));
    assert_eq!(alone(&two), 0);
}

#[test]
fn a_path_is_that_of_one_device_alone() {
    let mut rig = with_registers(3 * BUS_HZ, true, false);
    let quiet = Quiet { now: rig.now, until: 0 };
    let mut is_known =
        |addr| rig.memory.load_register::<Refused>(&mut rig.bus, quiet, addr, AccessSize::Word).is_some();
    assert!(!is_known(DEVICE) && !is_known(0) && !is_known(u32::MAX - 3));
    let last = Quiet { now: 9000, until: 0 };
    let nothing = rig.memory.load_register::<Refused>(&mut rig.bus, last, u32::MAX, AccessSize::Byte);
    assert!(nothing.is_none(), "a byte at the last address is at no device");
    rig.memory.remember_device(&rig.bus, DEVICE);
    rig.memory.remember_device(&rig.bus, RAM);
    let mut is_known =
        |addr| rig.memory.load_register::<Refused>(&mut rig.bus, quiet, addr, AccessSize::Word).is_some();
    assert!(is_known(DEVICE) && is_known(DEVICE + 0xffc));
    for addr in [DEVICE - 4, DEVICE + 0x1000, DEVICE + 2, DEVICE + 0x1_0000, RAM, 0] {
        assert!(!is_known(addr), "{addr:#x}");
    }
}

//! Fetches and loads from a window of a device on the core's clock: those that reach nothing else, compared with those
//! over the bus.

use crate::polling::{Poll, Polled};
use proptest::prelude::*;

use super::*;

/// The clock of the bus, and of the window.
const BUS_HZ: u64 = 166_000_000;
/// Addresses with this bit are read over the bus only.
const FAR: u32 = 0x40;

/// Stored words, each its own offset. An access takes 3 clocks, or 2 for a word, after the previous one.
#[derive(crate::state::State)]
struct Stored {
    free: u64,
    /// Every read uses the bus.
    refuses: bool,
    /// Number of reads that reached nothing else.
    alone: u64,
}

impl Stored {
    fn clock() -> Hz {
        Hz::new(BUS_HZ).unwrap()
    }

    fn access(&mut self, edge: u64, bytes: u32) -> u64 {
        self.free = self.free.max(edge) + 3 + 2 * u64::from(bytes.div_ceil(4));
        self.free
    }
}

impl Device for Stored {
    fn read(&mut self, _: usize, offset: u32, size: AccessSize, ctx: &mut Ctx) -> AccessResult {
        let done = self.access(Stored::clock().cycles_until_ceil(ctx.now).0, size.bytes());
        Ok(Reply::read(size.extracted(offset & !3, offset), Stored::clock().ps_at_floor(Cycles(done))))
    }

    fn write(&mut self, _: usize, _: u32, _: AccessSize, _: u32, ctx: &mut Ctx) -> AccessResult {
        Ok(Reply::written(ctx.now))
    }

    fn burst(&mut self, _: usize, _: u32, bytes: u32, ctx: &mut Ctx) -> Result<Ps, SlaveError> {
        let done = self.access(Stored::clock().cycles_until_ceil(ctx.now).0, bytes);
        Ok(Stored::clock().ps_at_floor(Cycles(done)))
    }

    fn peek(&self, _: usize, _: u32, into: &mut [u8]) -> bool {
        into.fill(0);
        true
    }

    fn own_clock(&self) -> Option<Hz> {
        Some(Stored::clock())
    }

    fn read_alone(&mut self, _: usize, offset: u32, bytes: u32, edge: u64) -> Option<(u32, u64)> {
        if self.refuses || offset & FAR != 0 {
            return None;
        }
        self.alone += 1;
        let done = self.access(edge, bytes);
        let value = (offset & !3) >> (8 * (offset % 4)) & u32::MAX >> (32 - 8 * bytes.min(4));
        Some((value, done))
    }

    fn counters(&self) -> Vec<(String, u64)> {
        vec![("alone".to_owned(), self.alone)]
    }
}

impl Polled for Stored {
    fn polled(&mut self, _: &mut Poll) -> bool {
        false
    }
}

fn windowed(outer: bool, routed: bool, refuses: bool) -> Rig {
    let (core, bus) = (Hz::new(3 * BUS_HZ).unwrap(), Hz::new(BUS_HZ).unwrap());
    let mut rig = rig(all_off(), MemoryConfig { clock: core, ..config() });
    rig.bus.routes[0] =
        Route { name: "matrix".into(), clock: bus, request_cycles: Cycles(4), response_cycles: Cycles(2) };
    rig.bus.map[2].route = routed.then_some(0);
    rig.bus.devices[0] = Some(Box::new(Stored { free: 0, refuses, alone: 0 }));
    rig.bus.set_core_clocks(vec![core]);
    let mut rig = if outer { with_outer(rig, false) } else { rig };
    rig.word(RAM);
    rig
}

/// A step, by the quick function if `short` and there is one: its cycles, and the value of a load.
fn step(rig: &mut Rig, short: bool, what: u32, va: u32) -> (u64, u32) {
    let (quiet, size) = (Quiet { now: rig.now, until: u64::MAX }, [1, 2, 4][what as usize % 3]);
    let va = va & !(size - 1);
    if what < 3 {
        let load = if short { rig.memory.load_alone(&mut rig.bus, quiet, va, size) } else { None };
        if let Some((cycles, value)) = load {
            return (rig.passed(Done { cycles, result: Ok(()) }).0, value);
        }
        let size = [AccessSize::Byte, AccessSize::Half, AccessSize::Word][what as usize];
        let (cycles, value) = rig.load(va, size, 0);
        return (cycles, value.unwrap());
    }
    let fetch = if short { rig.memory.fetch_flat(&mut rig.bus, quiet, va, va + size) } else { None };
    if let Some(cycles) = fetch {
        return (rig.passed(Done { cycles, result: Ok(()) }).0, 0);
    }
    let done = rig.memory.fetch_uncached(&mut rig.bus, &rig.registers, quiet.now, va, va + size);
    rig.memory.use_fetched();
    (rig.passed(done).0, 0)
}

fn alone(rig: &Rig) -> u64 {
    rig.bus.devices[0].as_ref().unwrap().counters()[0].1
}

proptest! {
    #[test]
    fn what_reaches_no_further_takes_the_time_of_the_bus(
        steps in prop::collection::vec((0u32..6, 0u32..0x200, 0u64..40), 1..100),
        outer: bool,
        routed: bool,
    ) {
        let (mut short, mut long) = (windowed(outer, routed, false), windowed(outer, routed, true));
        for (what, offset, gap) in steps {
            short.now += gap;
            long.now += gap;
            let va = DEVICE + offset;
            prop_assert_eq!(step(&mut short, true, what, va), step(&mut long, false, what, va));
            prop_assert_eq!(short.causes(), long.causes());
            prop_assert_eq!(short.memory.touched(), long.memory.touched());
        }
        prop_assert_eq!(alone(&long), 0);
    }
}

#[test]
fn reads_before_an_event_reach_no_further_and_those_after_it_do() {
    let mut rig = windowed(true, true, false);
    let reads = |rig: &mut Rig, until| {
        let quiet = Quiet { now: rig.now, until };
        rig.memory.load_alone(&mut rig.bus, quiet, DEVICE, 4).map(|(cycles, _)| cycles)
    };
    // The request takes 2 cycles to the second level's port, then 4 clocks of the bus from its next edge on, which is
    // 1001.
    rig.now = 3000;
    assert_eq!(reads(&mut rig, 3 * 1005), None);
    assert_eq!(alone(&rig), 0);
    assert!(reads(&mut rig, 3 * 1005 + 1).is_some());
    assert_eq!(alone(&rig), 1);
    rig.bus.add_core();
    assert_eq!(reads(&mut rig, u64::MAX), None, "another core may come to it");
}

//! Accesses through the data cache of a core without translation: the quick functions compared with the general ones.

use proptest::prelude::*;

use super::*;
use crate::cpu::memory_system::mmu::Identity;

/// A second address of the RAM.
const ALIAS: u32 = 0x4000_0000;
/// A memory on another clock than the core's.
const APART: u32 = LOCAL;

fn cached(ways: u32, replacement: Replacement) -> Rig {
    let clock = config().clock;
    let shape = CacheShape { size_bytes: 512, line_bytes: 16, ways, replacement, write: WritePolicy::WriteBack };
    let mut rig = rig(all_off(), MemoryConfig::unbuffered(clock, None, Some(shape)));
    let port = rig.bus.rams[0].timing();
    rig.bus.rams[1] = Ram::new(0x1_0000, PortTiming { clock: Hz::new(300_000_000).unwrap(), ..port });
    rig.bus.map[0].cacheable = true;
    let alias = MapEntry { base: ALIAS, last: ALIAS + 0x1_ffff, origin: ALIAS, ..rig.bus.map[1].clone() };
    rig.bus.map.insert(2, alias);
    rig.bus.set_core_clocks(vec![clock]);
    // The first access determines the paths.
    rig.word(RAM);
    rig.now = 6000;
    rig.memory.translation_changed(&Identity);
    rig
}

#[derive(Clone, Copy, Debug)]
struct Step {
    /// 0 and 1: a load; 2 and 3: a store; 4: code is decoded.
    what: u32,
    addr: u32,
    size: AccessSize,
    gap: u64,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let sizes = prop::sample::select(vec![AccessSize::Byte, AccessSize::Half, AccessSize::Word]);
    let bases = prop::sample::select(vec![RAM, RAM, RAM + 0x1_ff00, ALIAS, APART]);
    let step = (0u32..25, bases, 0u32..0x900, sizes, 0u64..40).prop_map(|(what, base, offset, size, gap)| Step {
        what: what % 5 * u32::from(what < 24) + 4 * u32::from(what == 24),
        addr: base + (offset % (0x100 * (1 + 8 * u32::from(base & 0xffff == 0)))) / size.bytes() * size.bytes(),
        size,
        gap,
    });
    prop::collection::vec(step, 1..200)
}

/// A step, by the quick function if `short` and there is one: its cycles, the value of a load, and whether the function
/// was quick.
fn step(rig: &mut Rig, short: bool, Step { what, addr, size, gap }: Step) -> (u64, u32, bool) {
    rig.now += gap;
    let (now, bus) = (rig.now, &mut rig.bus);
    let quiet = Quiet { now, until: u64::MAX };
    let value = now as u32 * 0x0101;
    let quick = match what {
        0 | 1 if short => rig.memory.load_cached(bus, quiet, addr, size.bytes()),
        2 | 3 if short => rig.memory.store_cached(bus, quiet, addr, size.bytes(), value).map(|cycles| (cycles, 0)),
        4 => {
            let epoch = bus.code_marked.epoch();
            bus.mark_code(addr, size.bytes());
            rig.memory.follow_marks(bus, epoch);
            Some((0, 0))
        }
        _ => None,
    };
    if let Some((cycles, value)) = quick {
        return (rig.passed(Done { cycles, result: Ok(()) }).0, value, true);
    }
    let (cycles, result) = match what {
        0 | 1 => {
            let done = rig.memory.load(bus, &Identity, now, addr, size, 0);
            (done.cycles, done.result.map_err(|abort| abort.status))
        }
        _ => {
            let done = rig.memory.store(bus, &Identity, now, addr, size, value, 0);
            (done.cycles, done.result.map(|()| 0).map_err(|abort| abort.status))
        }
    };
    rig.passed(Done { cycles, result: Ok(()) }).1.unwrap();
    (cycles, result.unwrap(), false)
}

/// Which shortcuts cover the access of a step: for loads, for stores, for stores next to code.
fn leads(rig: &Rig, Step { addr, size, .. }: Step) -> [bool; 3] {
    let (memory, bytes) = (&rig.memory, size.bytes());
    [
        memory.load_shortcut(addr, bytes).is_some(),
        memory.store_shortcut(addr, bytes).is_some(),
        memory.store_beside_code(addr, bytes).is_some(),
    ]
}

proptest! {
    #[test]
    fn the_quick_path_through_the_cache_gives_the_same_results(
        steps in steps(),
        (ways, replacement) in prop::sample::select(vec![
            (1, Replacement::LeastRecentlyUsed),
            (2, Replacement::RoundRobin),
            (4, Replacement::PseudoRandom),
        ]),
    ) {
        let (mut short, mut long) = (cached(ways, replacement), cached(ways, replacement));
        for one in steps {
            let (cycles, value, was_short) = step(&mut short, true, one);
            let (others_cycles, others_value, _) = step(&mut long, false, one);
            prop_assert_eq!((cycles, value), (others_cycles, others_value));
            prop_assert_eq!(was_short, one.what == 4 || one.addr & 0xfff0_0000 != APART & 0xfff0_0000);
            prop_assert_eq!(short.causes(), long.causes());
            prop_assert_eq!(short.memory.cache_counters(), long.memory.cache_counters());
            prop_assert_eq!(short.memory.touched(), long.memory.touched());
            prop_assert_eq!(short.bus.code_written.epoch(), long.bus.code_written.epoch());
            // The general functions also remove those for the line's other addresses.
            for (here, there) in leads(&short, one).into_iter().zip(leads(&long, one)) {
                prop_assert!(here || !there);
            }
            let [load, store, beside_code] = leads(&short, one);
            let cache = short.memory.state.dcache.as_mut().unwrap();
            prop_assert_eq!(load, load && cache.touch(one.addr, false));
            prop_assert_eq!(store || beside_code, (store || beside_code) && cache.is_dirty(one.addr));
        }
    }
}

#[test]
fn an_event_before_a_fill_is_left_to_the_long_way() {
    let mut rig = cached(1, Replacement::LeastRecentlyUsed);
    let load = |rig: &mut Rig, addr, until| {
        let quiet = Quiet { now: rig.now, until };
        rig.memory.load_cached(&mut rig.bus, quiet, addr, 4).map(|(cycles, _)| cycles)
    };
    // The request reaches the RAM 3 cycles later.
    assert_eq!(load(&mut rig, RAM, 6003), None);
    assert_eq!(rig.memory.cache_counters()[1].fills, 0);
    assert!(load(&mut rig, RAM, 6004).is_some_and(|cycles| cycles > 0));
    // A hit needs no transfer.
    assert_eq!(load(&mut rig, RAM + 4, 6000), Some(0));
}

#[test]
fn other_caches_and_buffers_are_left_to_the_general_path() {
    let clock = config().clock;
    let shape = CacheShape {
        size_bytes: 512,
        line_bytes: 16,
        ways: 2,
        replacement: Replacement::RoundRobin,
        write: WritePolicy::WriteBack,
    };
    let plain = MemoryConfig::unbuffered(clock, None, Some(shape));
    let with = |shape| MemoryConfig { dcache: Some(shape), ..plain };
    assert!(Memory::is_cached_simply(&plain, &Identity));
    assert!(!Memory::is_cached_simply(&plain, &all_on()));
    for other in [
        with(CacheShape { replacement: Replacement::LeastRecentlyUsed, ..shape }),
        with(CacheShape { write: WritePolicy::WriteThrough, ..shape }),
        MemoryConfig { dcache: None, ..plain },
        MemoryConfig { store_buffer_entries: 1, ..plain },
        MemoryConfig { write_back: WriteBack::AfterFill, ..plain },
    ] {
        assert!(!Memory::is_cached_simply(&other, &Identity), "{other:?}");
    }
}

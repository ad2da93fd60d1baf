//! The data cache and the second level, compared with plain models.

use std::cell::Cell;
use std::collections::BTreeMap;

use crate::tiers::sized;
use proptest::prelude::*;

use super::super::access::how;
use super::*;
use crate::cpu::memory_system::access::{Lines, TlbEntries};

/// 4 beats through the RAM's port.
const FILL: u64 = READ + 3 * 3;

fn quiet(config: MemoryConfig) -> MemoryConfig {
    MemoryConfig { tlb_cycles: 0, walk_hit_cycles: 0, ..config }
}

/// A rig whose TLBs know the RAM's page, and whose data cache is empty.
fn warm(config: MemoryConfig) -> Rig {
    let mut rig = rig(all_on(), quiet(config));
    rig.word(RAM);
    let all = Maintenance::Dcache { lines: Lines::All, clean: false, invalidate: true };
    rig.maintain(all);
    rig
}

#[test]
fn a_miss_fills_a_line_and_hits_have_shortcuts() {
    let mut rig = warm(config());
    rig.bus.poke(RAM + 0x44, &7u32.to_le_bytes());
    assert_eq!(rig.word(RAM + 0x44), (FILL, 7));
    assert_eq!(rig.word(RAM + 0x5c).0, 0);
    assert!(rig.memory.load_shortcut(RAM + 0x40, 4).is_some());
    assert!(rig.memory.store_shortcut(RAM + 0x40, 4).is_none(), "it is clean");
    assert_eq!(rig.put(RAM + 0x40, 1), 0);
    assert!(rig.memory.store_shortcut(RAM + 0x44, 4).is_some());
}

#[test]
fn a_store_that_misses_is_not_waited_for() {
    let mut rig = warm(MemoryConfig { store_buffer_entries: 4, ..config() });
    assert_eq!(rig.put(RAM + 0x80, 1), 0);
    // The next miss waits for the end of that fill.
    assert_eq!(rig.word(RAM + 0xc0).0, 2 * FILL);
}

#[test]
fn cleaning_writes_back_and_invalidating_forgets() {
    let mut rig = warm(config());
    rig.put(RAM + 0x80, 1);
    let clean = Maintenance::Dcache { lines: Lines::At(RAM + 0x84), clean: true, invalidate: false };
    assert_eq!(rig.maintain(clean), 1 + FILL);
    assert_eq!(rig.maintain(clean), 1);
    assert!(rig.memory.store_shortcut(RAM + 0x80, 4).is_none());
    assert_eq!(rig.word(RAM + 0x80), (0, 1));
    rig.maintain(Maintenance::Dcache { lines: Lines::At(RAM + 0x84), clean: false, invalidate: true });
    assert!(rig.memory.load_shortcut(RAM + 0x80, 4).is_none());
    assert_eq!(rig.word(RAM + 0x80), (FILL, 1));
}

#[test]
fn set_and_way_reach_every_line() {
    let mut rig = warm(config());
    // 8 sets of 4 ways.
    for n in 0..32 {
        rig.put(RAM + 32 * n, n);
    }
    for (way, set) in (0..4).flat_map(|way| (0..8).map(move |set| (way, set))) {
        rig.maintain(Maintenance::Dcache { lines: Lines::SetWay(way << 30 | set << 5), clean: true, invalidate: true });
    }
    assert_eq!(rig.memory.cache_counters()[1].write_backs, 32);
    assert!((0..32).all(|n| rig.memory.load_shortcut(RAM + 32 * n, 4).is_none()));
    assert_eq!(rig.word(RAM + 32).0, FILL);
}

#[test]
fn a_line_goes_under_all_its_virtual_addresses() {
    let mut rig = rig(Registers { offset: RAM.wrapping_sub(0x8010_1000), ..all_on() }, quiet(config()));
    rig.word(0x8010_1000);
    rig.put(RAM + 0x40, 3);
    assert_eq!(rig.word(0x8010_1040), (0, 3));
    assert!(rig.memory.load_shortcut(0x8010_1040, 4).is_some() && rig.memory.load_shortcut(RAM + 0x40, 4).is_some());
    rig.maintain(Maintenance::Dcache { lines: Lines::At(RAM + 0x40), clean: true, invalidate: true });
    assert!(rig.memory.load_shortcut(0x8010_1040, 4).is_none() && rig.memory.load_shortcut(RAM + 0x40, 4).is_none());
}

#[test]
fn the_second_level_answers_what_it_has() {
    let mut rig = with_outer(warm(config()), true);
    // Request and tags, the fill over the bus, response.
    assert_eq!(rig.word(RAM + 0x40).0, 2 + 1 + FILL + 1);
    rig.maintain(Maintenance::Dcache { lines: Lines::All, clean: false, invalidate: true });
    assert_eq!(rig.word(RAM + 0x40).0, 2 + 1 + 4 + 1);
    let outer = rig.bus.outer.as_ref().unwrap();
    assert_eq!(outer.counters().fills, 1);
}

#[test]
fn user_mode_has_shortcuts_of_its_own() {
    let mut rig = warm(config());
    rig.word(RAM);
    rig.memory.privilege_changed(false);
    rig.registers.privileged = false;
    assert!(rig.memory.load_shortcut(RAM, 4).is_none());
    rig.word(RAM);
    assert!(rig.memory.load_shortcut(RAM, 4).is_some());
    rig.memory.privilege_changed(true);
    rig.registers.privileged = true;
    assert_eq!(rig.load(RAM, AccessSize::Word, how::UNPRIVILEGED).0, 0);
    assert!(rig.memory.load_shortcut(RAM, 4).is_none(), "it says nothing of privileged loads");
}

#[test]
fn an_unaligned_access_touches_each_line_that_it_lies_in() {
    let mut rig = warm(config());
    let bytes: Vec<u8> = (0..64).collect();
    rig.bus.poke(RAM + 0x200, &bytes);
    assert_eq!(rig.load(RAM + 0x21e, AccessSize::Word, 0), (2 * FILL, Ok(0x2120_1f1e)));
    assert_eq!(rig.load(RAM + 0x201, AccessSize::Half, 0), (0, Ok(0x0201)));
    assert_eq!(rig.store(RAM + 0x21f, AccessSize::Word, 0xa4a3_a2a1, 0), (0, Ok(())));
    let mut after = [0; 6];
    rig.bus.peek(RAM + 0x21e, &mut after);
    assert_eq!(after, [0x1e, 0xa1, 0xa2, 0xa3, 0xa4, 0x23]);
}

/// A program's operation on its memory.
#[derive(Clone, Copy, Debug)]
enum Step {
    Load(u32, AccessSize),
    Store(u32, AccessSize, u32),
    Clean(u32),
    Drop(u32),
    ForgetTlb,
    Mark(u32),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let size = prop_oneof![Just(AccessSize::Byte), Just(AccessSize::Half), Just(AccessSize::Word)];
    // 4 KiB: four times the data cache.
    let place = 0u32..4096;
    let step = prop_oneof![
        8 => (place.clone(), size.clone()).prop_map(|(at, size)| Step::Load(at, size)),
        8 => (place.clone(), size, any::<u32>()).prop_map(|(at, size, value)| Step::Store(at, size, value)),
        1 => place.clone().prop_map(Step::Clean),
        1 => place.clone().prop_map(Step::Drop),
        1 => Just(Step::ForgetTlb),
        1 => place.prop_map(Step::Mark),
    ];
    prop::collection::vec(step, 1..400)
}

/// A data cache with LRU replacement.
fn by_use(ways: u32) -> MemoryConfig {
    let mut config = config();
    if let Some(shape) = &mut config.dcache {
        (shape.replacement, shape.ways) = (Replacement::LeastRecentlyUsed, ways);
    }
    config
}

/// Accesses by shortcuts, with stamps and without, leave the cache in the same state as without shortcuts: the same
/// lines, used in the same order. So the same lines are replaced.
#[test]
fn stamps_report_the_order_of_use() {
    let stamped = Cell::new(0);
    let cases = (steps(), any::<u64>(), any::<bool>(), 1u32..3, 0u32..3);
    proptest!(ProptestConfig::with_cases(sized(40, 200)), |((steps, aliases, is_near, ways, buffer) in cases)| {
        let config = MemoryConfig { store_buffer_entries: buffer, ..by_use(1 << ways) };
        let offset = RAM.wrapping_sub(0x8010_0000);
        let rigs = || rig(Registers { offset, ..all_on() }, config);
        let (mut quick, mut slow) = (rigs(), rigs());
        let mut before = Vec::new();
        for (n, step) in steps.into_iter().enumerate() {
            let stamp = n as u64 + 1;
            // Each line has two virtual addresses.
            let base = if aliases >> (n % 64) & 1 == 0 { RAM } else { 0x8010_0000 };
            // Eight lines in one or two sets.
            let place = |at: u32, bytes: u32| base + (at & if is_near { 0x71f } else { 0xfff }) / bytes * bytes;
            quick.now += 1;
            slow.now += 1;
            match step {
                Step::Load(at, size) => {
                    let (va, bytes) = (place(at, size.bytes()), size.bytes());
                    let (cycles, value) = slow.load(va, size, 0);
                    let with_stamp = quick.memory.load_stamped(va, bytes, stamp);
                    stamped.set(stamped.get() + u32::from(with_stamp.is_some()));
                    match quick.memory.load_shortcut(va, bytes).or(with_stamp) {
                        // SAFETY: it points into the RAM.
                        Some(host) => prop_assert_eq!((cycles, unsafe { host.read() }), (0, value.unwrap() as u8)),
                        None => prop_assert_eq!(quick.load(va, size, 0), (cycles, value)),
                    }
                }
                Step::Store(at, size, value) => {
                    let (va, bytes) = (place(at, size.bytes()), size.bytes());
                    let (cycles, result) = slow.store(va, size, value, 0);
                    let with_stamp = quick.memory.store_stamped(va, bytes, stamp);
                    stamped.set(stamped.get() + u32::from(with_stamp.is_some()));
                    match quick.memory.store_shortcut(va, bytes).or(with_stamp) {
                        Some(_) => {
                            prop_assert_eq!(cycles, 0);
                            quick.bus.poke(va - base + RAM, &value.to_le_bytes()[..bytes as usize]);
                        }
                        None => prop_assert_eq!(quick.store(va, size, value, 0), (cycles, result)),
                    }
                }
                Step::Clean(at) | Step::Drop(at) => {
                    let invalidate = matches!(step, Step::Drop(_));
                    let what = Maintenance::Dcache { lines: Lines::At(base + at), clean: true, invalidate };
                    prop_assert_eq!(quick.maintain(what), slow.maintain(what));
                }
                Step::ForgetTlb => {
                    let what = Maintenance::Tlb(TlbEntries::All);
                    prop_assert_eq!(quick.maintain(what), slow.maintain(what));
                }
                Step::Mark(at) => [&mut quick, &mut slow].into_iter().for_each(|rig| {
                    let known = rig.bus.code_marked.epoch();
                    rig.bus.mark_code(RAM + at, 4.min(4096 - at));
                    rig.memory.follow_marks(&rig.bus, known);
                }),
            }
            prop_assert!(same_lines(&quick.memory.state(), &slow.memory.state()));
            prop_assert_eq!(quick.memory.cache_counters(), slow.memory.cache_counters());
            // Both accounts agree on whether a state of one or two steps ago has recurred.
            before.push([&quick, &slow].map(|rig| (rig.memory.state(), rig.now)));
            for states in before.iter().rev().take(4) {
                let [by_quick, by_slow] = [(&quick, &states[0]), (&slow, &states[1])]
                    .map(|(rig, (state, then))| rig.memory.behaves_like(rig.now, state, *then));
                prop_assert_eq!(by_quick, by_slow);
            }
        }
    });
    assert!(stamped.get() > sized(200, 1000), "{}", stamped.get());
}

#[test]
fn lines_that_are_used_in_turn_have_shortcuts_with_stamps() {
    let mut rig = rig(all_on(), by_use(4));
    let line = |n: u32| RAM + 256 * n;
    let mut stamp = 0;
    let mut by_stamp = |rig: &mut Rig, n: u32| {
        stamp += 1;
        rig.memory.load_stamped(line(n), 4, stamp).is_some()
    };
    // One that is used again and again needs no stamps.
    for n in [0, 1, 2] {
        rig.load(line(n), AccessSize::Word, 0).1.unwrap();
        assert!(rig.memory.load_shortcut(line(n), 4).is_some() && !by_stamp(&mut rig, n));
    }
    // The last round gives all three lines stamps.
    for n in (0..3).cycle().take(STAMPED_AFTER as usize + 2) {
        assert_eq!(rig.load(line(n), AccessSize::Word, 0).0, 0);
    }
    assert!((0..3).all(|n| rig.memory.load_shortcut(line(n), 4).is_none()));
    assert!((0..3).all(|n| by_stamp(&mut rig, n)));
    // The state recurs after a full round, and not after half of one.
    let before = rig.memory.state();
    assert!(by_stamp(&mut rig, 0) && !rig.memory.behaves_like(rig.now, &before, rig.now));
    assert!(by_stamp(&mut rig, 1) && by_stamp(&mut rig, 2) && rig.memory.behaves_like(rig.now, &before, rig.now));
    // The fourth line has room. The fifth replaces the least recently used one.
    rig.load(line(3), AccessSize::Word, 0).1.unwrap();
    assert!([1, 0, 3, 2].into_iter().all(|n| by_stamp(&mut rig, n)));
    rig.load(line(4), AccessSize::Word, 0).1.unwrap();
    assert_eq!([0, 1, 2, 3, 4].map(|n| by_stamp(&mut rig, n)), [true, false, true, true, true]);
    // Other sets have their own state.
    rig.load(line(0) + 32, AccessSize::Word, 0).1.unwrap();
    assert!(rig.memory.load_shortcut(line(0) + 32, 4).is_some());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(sized(40, 200)))]

    /// Values are those of plain memory; an access has a shortcut only where the directory would have let it pass
    /// without time or change.
    #[test]
    fn accesses_do_what_plain_memory_does(steps in steps(), outer: bool, lru: bool, buffer in 0u32..5) {
        let mut config = MemoryConfig { store_buffer_entries: buffer, ..config() };
        if let (true, Some(shape)) = (lru, &mut config.dcache) {
            shape.replacement = Replacement::LeastRecentlyUsed;
        }
        let mut rig = rig(all_on(), config);
        if outer {
            rig = with_outer(rig, true);
        }
        let mut plain: BTreeMap<u32, u8> = BTreeMap::new();
        for step in steps {
            rig.now += 1;
            match step {
                Step::Load(at, size) => {
                    let at = at & 0xfff & !u32::from(at % 3 != 0).wrapping_mul(size.bytes() - 1);
                    let shortcut = rig.memory.load_shortcut(RAM + at, size.bytes());
                    let before = rig.memory.state();
                    let (cycles, value) = rig.load(RAM + at, size, 0);
                    let byte = |n: u32| u32::from(plain.get(&(at + n)).copied().unwrap_or(0)) << (8 * n);
                    prop_assert_eq!(value.unwrap(), (0..size.bytes()).map(byte).sum::<u32>());
                    if let Some(host) = shortcut {
                        prop_assert_eq!(cycles, 0);
                        prop_assert_eq!(host, host_of(&rig.bus, RAM + at).unwrap().cast_const());
                        prop_assert!(same_lines(&rig.memory.state(), &before));
                    }
                }
                Step::Store(at, size, value) => {
                    let at = at & 0xfff & !u32::from(at % 3 != 0).wrapping_mul(size.bytes() - 1);
                    let shortcut = rig.memory.store_shortcut(RAM + at, size.bytes());
                    let (before, epoch) = (rig.memory.state(), rig.bus.code_written.epoch());
                    let (cycles, result) = rig.store(RAM + at, size, value, 0);
                    prop_assert!(result.is_ok());
                    plain.extend((0..size.bytes()).map(|n| (at + n, (value >> (8 * n)) as u8)));
                    if let Some(host) = shortcut {
                        prop_assert_eq!((cycles, rig.bus.code_written.epoch()), (0, epoch));
                        prop_assert_eq!(host, host_of(&rig.bus, RAM + at).unwrap());
                        prop_assert!(same_lines(&rig.memory.state(), &before));
                    }
                }
                Step::Clean(at) => {
                    let lines = Lines::At(RAM + at);
                    rig.maintain(Maintenance::Dcache { lines, clean: true, invalidate: false });
                }
                Step::Drop(at) => {
                    let lines = Lines::At(RAM + at);
                    rig.maintain(Maintenance::Dcache { lines, clean: true, invalidate: true });
                }
                Step::ForgetTlb => {
                    rig.maintain(Maintenance::Tlb(TlbEntries::All));
                }
                Step::Mark(at) => {
                    let known = rig.bus.code_marked.epoch();
                    rig.bus.mark_code(RAM + at, 4.min(4096 - at));
                    rig.memory.follow_marks(&rig.bus, known);
                }
            }
        }
    }

    /// Hits and misses are those of one list of lines per set.
    #[test]
    fn hits_are_those_of_a_naive_cache(lines in prop::collection::vec((0u32..128, any::<bool>()), 1..400)) {
        let mut config = config();
        if let Some(shape) = &mut config.dcache {
            shape.replacement = Replacement::LeastRecentlyUsed;
        }
        let mut rig = warm(config);
        let mut sets: Vec<Vec<u32>> = vec![Vec::new(); 8];
        for (line, store) in lines {
            let set = &mut sets[line as usize % 8];
            let hit = set.contains(&line);
            set.retain(|other| *other != line);
            set.push(line);
            if set.len() > 4 {
                set.remove(0);
            }
            // After all write-backs.
            rig.now += 1000;
            let va = RAM + 32 * line;
            let memory = &mut rig.memory;
            let shortcut = match store {
                true => memory.store_shortcut(va, 4).is_some(),
                false => memory.load_shortcut(va, 4).is_some(),
            };
            prop_assert!(!shortcut || hit);
            if !shortcut {
                let cycles = if store { rig.put(va, line) } else { rig.word(va).0 };
                prop_assert_eq!(cycles, if hit { 0 } else { FILL });
            }
        }
    }
}

fn same_lines(one: &State, other: &State) -> bool {
    let same_cache = |one: &Option<Cache>, other: &Option<Cache>| match (one, other) {
        (Some(one), Some(other)) => one.behaves_like(other),
        _ => true,
    };
    same_cache(&one.dcache, &other.dcache) && one.tlb == other.tlb
}

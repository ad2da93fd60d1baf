//! Segments, and the TLB, filled by software.

use super::super::mmu::TlbFault;
use super::*;
use crate::cpu::memory_system::access::{Access, Kind, MemoryType, Translation};

const LO_V: u32 = 1 << 1;
const LO_D: u32 = 1 << 2;
const LO_G: u32 = 1 << 0;
const UNCACHED: u32 = 2 << 3;
const CACHED: u32 = 3 << 3;

fn translate(system: &System, va: u32, kind: Kind) -> Result<Translation, TlbFault> {
    system.translate_address(va, Access { kind, privileged: system.is_privileged() })
}

fn read(system: &System, va: u32) -> Result<u32, TlbFault> {
    translate(system, va, Kind::Read).map(|to| to.physical)
}

fn write(system: &System, va: u32) -> Result<u32, TlbFault> {
    translate(system, va, Kind::Write).map(|to| to.physical)
}

/// Puts a pair of pages into entry `index`.
fn map(system: &mut System, index: u32, hi: u32, lo: [u32; 2], mask: u32) -> Effect {
    for (register, value) in [(0, index), (10, hi), (2, lo[0]), (3, lo[1]), (5, mask)] {
        set(system, register, value);
    }
    system.tlbwi()
}

/// EntryLo of a page at a physical address.
fn page(physical: u32, flags: u32) -> u32 {
    physical >> 12 << 6 | flags
}

#[test]
fn kernel_segments_are_not_mapped() {
    let mut system = started();
    let to = translate(&system, 0x8123_4567, Kind::Execute).unwrap();
    assert_eq!((to.physical, to.page_bytes), (0x0123_4567, 512 << 20));
    assert!(matches!(to.memory, MemoryType::Normal { .. }) && to.global);
    let to = translate(&system, 0xb001_0000, Kind::Write).unwrap();
    assert_eq!((to.physical, to.page_bytes, to.memory), (0x1001_0000, 512 << 20, MemoryType::StronglyOrdered));
    assert_eq!(read(&system, 0x9fff_ffff), Ok(0x1fff_ffff));
    // Config.K0 has the cacheability of kseg0.
    set(&mut system, 16, 2);
    assert_eq!(translate(&system, 0x8000_0000, Kind::Read).unwrap().memory, MemoryType::StronglyOrdered);
    set(&mut system, 16, 1);
    assert_eq!(translate(&system, 0x8000_0000, Kind::Read).unwrap().memory, MemoryType::NON_CACHEABLE);
}

#[test]
fn kuseg_and_kseg2_need_entries() {
    let mut system = started();
    for va in [0, 0x7fff_fffc, 0xc000_0000, 0xffff_fffc] {
        assert_eq!(read(&system, va), Err(TlbFault::Refill), "{va:#x}");
    }
    map(&mut system, 0, 0xc000_0000, [page(0x10_0000, LO_V | CACHED), 0], 0);
    assert_eq!(read(&system, 0xc000_0ffc), Ok(0x10_0ffc));
}

#[test]
fn with_erl_kuseg_is_not_mapped() {
    let system = reset();
    let to = translate(&system, 0x1234, Kind::Write).unwrap();
    assert_eq!((to.physical, to.page_bytes, to.memory), (0x1234, 1 << 31, MemoryType::StronglyOrdered));
}

#[test]
fn user_mode_has_kuseg_alone() {
    let mut system = started();
    map(&mut system, 0, 0x40_0000, [page(0x10_0000, LO_V), 0], 0);
    set(&mut system, 12, 0x10);
    assert_eq!(read(&system, 0x40_0004), Ok(0x10_0004));
    for va in [0x8000_0000, 0xa000_0000, 0xc000_0000, 0xe000_0000] {
        assert_eq!(read(&system, va), Err(TlbFault::Privilege), "{va:#x}");
        assert_eq!(translate(&system, va, Kind::Execute), Err(TlbFault::Privilege));
    }
}

#[test]
fn an_entry_maps_two_pages() {
    let mut system = started();
    let lo = [page(0x10_0000, LO_V | LO_D | CACHED), page(0x55_5000, LO_V | UNCACHED)];
    assert_eq!(map(&mut system, 5, 0x40_0000, lo, 0), Effect::TranslationChanged);
    assert_eq!((read(&system, 0x40_0ffc), write(&system, 0x40_0ffc)), (Ok(0x10_0ffc), Ok(0x10_0ffc)));
    assert_eq!((read(&system, 0x40_1008), write(&system, 0x40_1008)), (Ok(0x55_5008), Err(TlbFault::Modified)));
    assert_eq!(translate(&system, 0x40_1000, Kind::Read).unwrap().memory, MemoryType::StronglyOrdered);
    assert_eq!(read(&system, 0x40_2000), Err(TlbFault::Refill));
    // The second page is not valid, for stores and for loads.
    map(&mut system, 5, 0x40_0000, [lo[0], LO_D], 0);
    assert_eq!((read(&system, 0x40_1008), write(&system, 0x40_1008)), (Err(TlbFault::Invalid), Err(TlbFault::Invalid)));
    // A write without a change is not reported.
    assert_eq!(map(&mut system, 5, 0x40_0000, [lo[0], LO_D], 0), Effect::Next);
}

#[test]
fn address_spaces_are_apart_but_for_global_pages() {
    let mut system = started();
    map(&mut system, 0, 0x40_0007, [page(0x10_0000, LO_V), page(0, LO_G)], 0);
    map(&mut system, 1, 0x50_0007, [page(0x20_0000, LO_V | LO_G), page(0, LO_G)], 0);
    assert_eq!((read(&system, 0x40_0000), read(&system, 0x50_0000)), (Ok(0x10_0000), Ok(0x20_0000)));
    assert!(!translate(&system, 0x40_0000, Kind::Read).unwrap().global);
    set(&mut system, 10, 8);
    assert_eq!((read(&system, 0x40_0000), read(&system, 0x50_0000)), (Err(TlbFault::Refill), Ok(0x20_0000)));
    assert!(translate(&system, 0x50_0000, Kind::Read).unwrap().global);
}

#[test]
fn pages_have_all_sizes() {
    for power in 0..=6 {
        let bytes = 4096u32 << (2 * power);
        let mask = (2 * bytes - 1) & !0x1fff;
        let mut system = started();
        // Address bits within the page do not matter, in EntryHi and in EntryLo.
        let lo = [page(0x0400_0000, LO_V), page(0x0600_0000 | (bytes / 2), LO_V)];
        map(&mut system, 0, 0x4000_0000 | bytes, lo, mask);
        assert_eq!(get(&system, 5), mask);
        let to = translate(&system, 0x4000_0000 + bytes - 4, Kind::Read).unwrap();
        assert_eq!((to.physical, to.page_bytes), (0x0400_0000 + bytes - 4, bytes));
        assert_eq!(read(&system, 0x4000_0000 + bytes), Ok(0x0600_0000));
        assert_eq!(read(&system, 0x4000_0000 + 2 * bytes), Err(TlbFault::Refill));
    }
    // Other masks are undefined.
    let mut system = started();
    for (written, kept) in [(0x2000, 0), (0xe000, 0x6000), (0x0180_0000, 0), (0x0006_6000, 0x6000)] {
        set(&mut system, 5, written);
        assert_eq!(get(&system, 5), kept);
    }
}

#[test]
fn entries_are_read_and_found_again() {
    let mut system = started();
    map(&mut system, 9, 0x40_0007, [page(0x10_0000, LO_V | LO_D | LO_G), page(0x20_0000, LO_V)], 0x6000);
    map(&mut system, 10, 0x0060_0007, [page(0x30_0000, LO_G), page(0x40_0000, LO_G)], 0);
    for register in [2, 3, 5] {
        set(&mut system, register, 0);
    }
    set(&mut system, 10, 0x40_6007);
    assert_eq!(system.tlbp(), Effect::Next);
    assert_eq!(get(&system, 0), 9);
    assert_eq!(system.tlbr(), Effect::Next);
    assert_eq!(
        [10, 2, 3, 5].map(|register| get(&system, register)),
        [0x40_0007, 0x4006, 0x8002, 0x6000],
        "G is that of both"
    );
    set(&mut system, 10, 0x60_0055);
    system.tlbp();
    assert_eq!(get(&system, 0), 10);
    assert_eq!(system.tlbr(), Effect::TranslationChanged, "the address space is that of the entry");
    assert_eq!([10, 2, 3].map(|register| get(&system, register)), [0x60_0007, 0xc001, 0x1_0001]);
    set(&mut system, 10, 0x70_0000);
    system.tlbp();
    assert_eq!(get(&system, 0), 1 << 31);
    // P is set by hardware, and can't be written by software.
    set(&mut system, 0, 9);
    assert_eq!(get(&system, 0), 1 << 31 | 9);
    system.tlbr();
    assert_eq!(get(&system, 10), 0x40_0007);
}

#[test]
fn random_goes_down_to_what_is_wired() {
    let mut system = started();
    let at = |instructions| Now { pending: 0, instructions };
    system.write(6, 0, 29, at(1000));
    let random: Vec<u32> = (1000..1005).map(|instructions| system.register(1, 0, at(instructions))).collect();
    assert_eq!(random, [31, 30, 29, 31, 30]);
    map(&mut system, 0, 0x40_0000, [page(0x10_0000, LO_V), 0], 0);
    system.write(6, 0, 29, at(2000));
    system.write(10, 0, 0x80_0000, NOW);
    assert_eq!(system.tlbwr(at(2001)), Effect::TranslationChanged);
    system.tlbp();
    assert_eq!(get(&system, 0), 30);
    // All but the last entry are wired, which is the maximum.
    system.write(6, 0, 31, at(0));
    assert_eq!((1..4).map(|n| system.register(1, 0, at(n))).collect::<Vec<_>>(), [31; 3]);
}

#[test]
fn nothing_matches_after_reset() {
    let mut system = started();
    for va in (0..0x8000_0000u32).step_by(0x0100_0000).chain([0xc000_0000, 0xe000_0000]) {
        assert_eq!(read(&system, va), Err(TlbFault::Refill));
    }
    set(&mut system, 10, 0);
    system.tlbp();
    assert_eq!(get(&system, 0), 1 << 31);
}

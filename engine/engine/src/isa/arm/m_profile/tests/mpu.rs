//! Memory protection: ARM, B3.1 and B3.5.

use super::*;
use crate::cpu::memory_system::access::{Access, Cacheability, Kind, MemoryType};
use proptest::prelude::*;

const CTRL: u32 = 0xd94;
const RBAR: u32 = 0xd9c;
const RASR: u32 = 0xda0;
const ON: u32 = 1;
const HFNMIENA: u32 = 2;
const PRIVDEFENA: u32 = 4;
const READ_WRITE: u32 = 3 << 24;
const READ_ONLY: u32 = 6 << 24;
const NORMAL: u32 = 1 << 19;
const XN: u32 = 1 << 28;

/// RASR of an enabled region of `bytes`.
fn sized(bytes: u32) -> u32 {
    (bytes.trailing_zeros() - 1) << 1 | 1
}

fn region(rig: &mut Rig, number: u32, base: u32, attributes: u32) {
    rig.write(RBAR, base | 1 << 4 | number);
    rig.write(RASR, attributes);
}

fn asked(rig: &Rig, va: u32, kind: Kind, privileged: bool) -> Result<MemoryType, FaultStatus> {
    let found = rig.system.translate(va, Access { kind, privileged });
    found.map(|found| found.memory).map_err(|abort| abort.status)
}

#[test]
fn without_regions_the_map_is_the_architectures() {
    let rig = rig();
    let normal = |kind| MemoryType::Normal { inner: kind, outer: kind, shareable: false };
    for (va, memory, executes) in [
        (0x0000_0000, normal(Cacheability::WriteThrough), true),
        (0x2000_0000, normal(Cacheability::WriteBackAllocate), true),
        (0x4000_0000, MemoryType::Device { shareable: false }, false),
        (0x6000_0000, normal(Cacheability::WriteBackAllocate), true),
        (0x9fff_fffc, normal(Cacheability::WriteThrough), true),
        (0xa000_0000, MemoryType::Device { shareable: true }, false),
        (0xc000_0000, MemoryType::Device { shareable: false }, false),
        (0xe000_e100, MemoryType::StronglyOrdered, false),
    ] {
        assert_eq!(asked(&rig, va, Kind::Write, false), Ok(memory), "{va:#x}");
        let fetched = asked(&rig, va, Kind::Execute, true);
        assert_eq!(fetched, if executes { Ok(memory) } else { Err(FaultStatus::ExecuteNever) }, "{va:#x}");
    }
    assert_eq!(
        rig.system.translate(0x2000_0000, Access { kind: Kind::Read, privileged: true }).unwrap().page_bytes,
        1 << 29
    );
}

#[test]
fn the_highest_region_that_matches_counts() {
    let mut rig = rig();
    region(&mut rig, 0, 0x2000_0000, sized(0x1_0000) | READ_WRITE | NORMAL | XN);
    region(&mut rig, 1, 0x2000_1000, sized(0x1000) | READ_ONLY | NORMAL);
    assert!(asked(&rig, 0x3000_0000, Kind::Read, false).is_ok(), "the unit is off");
    rig.write(CTRL, ON);
    for (va, kind, expected) in [
        (0x2000_0000, Kind::Write, Ok(())),
        (0x2000_0000, Kind::Execute, Err(FaultStatus::ExecuteNever)),
        (0x2000_1ffc, Kind::Write, Err(FaultStatus::Permission)),
        (0x2000_1ffc, Kind::Execute, Ok(())),
        (0x2000_2000, Kind::Write, Ok(())),
        (0x2001_0000, Kind::Read, Err(FaultStatus::Permission)),
        (0xe000_e000, Kind::Read, Ok(())),
    ] {
        assert_eq!(asked(&rig, va, kind, true).map(|_| ()), expected, "{va:#x} {kind:?}");
    }
    rig.write(CTRL, ON | PRIVDEFENA);
    assert!(asked(&rig, 0x2001_0000, Kind::Read, true).is_ok());
    assert_eq!(asked(&rig, 0x2001_0000, Kind::Read, false), Err(FaultStatus::Permission));
}

#[test]
fn parts_of_a_region_can_be_left_out() {
    let mut rig = rig();
    region(&mut rig, 3, 0x2000_0000, sized(0x800) | READ_WRITE | NORMAL | 0x82 << 8);
    rig.write(CTRL, ON);
    for (va, there) in [(0x2000_00ff, true), (0x2000_0100, false), (0x2000_0200, true), (0x2000_0700, false)] {
        assert_eq!(asked(&rig, va, Kind::Read, false).is_ok(), there, "{va:#x}");
    }
    let page = |va| rig.system.translate(va, Access { kind: Kind::Read, privileged: true }).unwrap().page_bytes;
    assert_eq!(page(0x2000_0000), 0x100);
}

#[test]
fn a_page_is_cut_by_no_region() {
    let mut rig = rig();
    region(&mut rig, 0, 0x2000_4000, sized(0x20) | READ_ONLY);
    rig.write(CTRL, ON | PRIVDEFENA);
    let page = |va| rig.system.translate(va, Access { kind: Kind::Read, privileged: true }).unwrap().page_bytes;
    assert_eq!([0x2000_4000, 0x2000_4020, 0x2000_0000, 0x4000_0000].map(page), [0x20, 0x20, 0x4000, 1 << 29]);
}

#[test]
fn permissions_are_those_of_the_table() {
    // Reads and writes, privileged and not.
    let table = [(0, 0, 0), (1, 2, 0), (2, 2, 1), (3, 2, 2), (5, 1, 0), (6, 1, 1), (7, 1, 1)];
    for (ap, privileged, user) in table {
        let mut rig = rig();
        region(&mut rig, 0, 0, 0x3f | ap << 24);
        rig.write(CTRL, ON);
        for (privilege, allowed) in [(true, privileged), (false, user)] {
            let may = |kind| u32::from(asked(&rig, 0x2000_0000, kind, privilege).is_ok());
            assert_eq!(may(Kind::Read) + may(Kind::Write), allowed, "{ap} {privilege}");
        }
    }
}

#[test]
fn hard_fault_and_nmi_see_no_regions_unless_reported() {
    let mut rig = rig();
    rig.write(CTRL, ON);
    assert_eq!(rig.system.protection(), Protection::On);
    rig.write(0xd04, 1 << 31);
    rig.take();
    assert_eq!(rig.system.protection(), Protection::Off);
    rig.write(CTRL, ON | HFNMIENA);
    assert_eq!(rig.system.protection(), Protection::On);
    rig.write(CTRL, ON);
    rig.leave();
    let mask = Op { code: Code::Cps, rd: 0, rn: 0, rm: 0, ra: 0, imm: 1 << 9 | 1 << 6 };
    assert_eq!(rig.execute(mask), Ok(Effect::TranslationChanged));
    assert_eq!(rig.execute(mask), Ok(Effect::Next));
}

#[test]
fn registers_read_as_written() {
    let mut rig = rig();
    region(&mut rig, 5, 0x2000_1234, 0xffff_ffff);
    assert_eq!([0xd90, 0xd98, RBAR, RASR].map(|at| rig.read(at)), [0x800, 5, 0x2000_1225, 0x173f_ff3f]);
    rig.write(0xd98, 2);
    assert_eq!(rig.read(RASR), 0);
    let store = rig.system.store_own(SCS + CTRL, AccessSize::Word, 0xff, 0);
    assert_eq!((store, rig.read(CTRL)), (Ok(Outcome::RegionsChanged), 7));
}

fn regions() -> impl Strategy<Value = Vec<(u32, u32)>> {
    let base = prop_oneof![(0u32..64).prop_map(|at| 0x2000_0000 + at * 0x20), any::<u32>()];
    let attributes =
        (5u32..32, 0u32..8, 0u32..256, any::<bool>(), any::<bool>()).prop_map(|(size, ap, parts, xn, on)| {
            (size - 1) << 1 | u32::from(on) | ap << 24 | parts << 8 | u32::from(xn) << 28 | NORMAL
        });
    prop::collection::vec((base, attributes), 0..4)
}

fn rig_with(regions: &[(u32, u32)], control: u32) -> Rig {
    let mut rig = rig();
    for (number, (base, attributes)) in regions.iter().enumerate() {
        region(&mut rig, number as u32, base & !0x1f, *attributes);
    }
    rig.write(CTRL, control);
    rig
}

proptest! {
    #[test]
    fn maps_differ_in_just_the_parts_whose_instructions_come_otherwise(
        one in regions(), other in regions(), controls in prop::array::uniform2(0u32..8), privileged in any::<bool>(),
        near in 0u32..0x1000, anywhere in any::<u32>()
    ) {
        let rigs = [rig_with(&one, controls[0]), rig_with(&other, controls[1])];
        let [now, before] = rigs.each_ref().map(|rig| rig.system.fetch_map());
        let mut parts = Vec::new();
        let differs = now.differs_where(&before, privileged, |first, last| {
            parts.push(first..=last);
            false
        });
        prop_assert!(!differs, "no part concerns anybody");
        for va in [0x2000_0000 + near, anywhere, near] {
            let fetched = rigs.each_ref().map(|rig| asked(rig, va, Kind::Execute, privileged).ok());
            let is_in_part = parts.iter().any(|part| part.contains(&va));
            prop_assert_eq!(fetched[0] != fetched[1], is_in_part, "{:#x} {:?}", va, fetched);
        }
        prop_assert_eq!(now.differs_where(&before, privileged, |_, _| true), !parts.is_empty());
        prop_assert!(rigs[0].system.has_fetch_map(&now));
    }
}

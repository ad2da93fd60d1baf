//! Translation tables in a small memory.

use super::super::tests::{cp15, set_cp15, system};
use super::*;

const SCTLR: (u32, u32, u32, u32) = (1, 0, 0, 0);
const READ: Access = Access { kind: Kind::Read, privileged: true };
const USER_READ: Access = Access { kind: Kind::Read, privileged: false };
const WRITE: Access = Access { kind: Kind::Write, privileged: true };
const USER_WRITE: Access = Access { kind: Kind::Write, privileged: false };
const EXECUTE: Access = Access { kind: Kind::Execute, privileged: true };
/// Section attributes: normal memory, write-back, allocating.
const WBWA: u32 = 1 << 12 | 3 << 2;

/// A system with its MMU enabled (and the bits `sctlr`), the first table at 0x4000, domain 0 client and 1 manager;
/// other domains have no access.
fn mapped(sctlr: u32) -> System {
    let (mut system, mut x) = system();
    set_cp15(&mut system, &mut x, (2, 0, 0, 0), 0x4000);
    set_cp15(&mut system, &mut x, (3, 0, 0, 0), 0b1101);
    set_cp15(&mut system, &mut x, SCTLR, sctlr | SCTLR_M | SCTLR_C | SCTLR_I);
    system
}

/// Reads from a memory with `words`; all others are 0, and addresses from 0x1000_0000 on do not answer.
fn memory(words: &[(u32, u32)]) -> impl FnMut(u32) -> Option<u32> + '_ {
    |at| (at < 0x1000_0000).then(|| words.iter().find(|word| word.0 == at).map_or(0, |word| word.1))
}

fn status(result: Result<Translation, Abort>) -> FaultStatus {
    result.unwrap_err().status
}

/// Translation of a load, and the addresses of the descriptors that were read.
fn translated(system: &System, va: u32, words: &[(u32, u32)]) -> (Translation, Vec<u32>) {
    let (mut walk, mut read) = (Vec::new(), memory(words));
    let to = system.translate(va, READ, |addr| {
        walk.push(addr);
        read(addr)
    });
    (to.unwrap(), walk)
}

fn normal(kind: Cacheability) -> MemoryType {
    MemoryType::Normal { inner: kind, outer: kind, shareable: false }
}

#[test]
fn without_the_mmu_addresses_are_as_they_are() {
    let (mut system, mut x) = system();
    let of = |system: &System, access| system.translate(0x1234_5678, access, |_| panic!("a walk")).unwrap();
    let data = of(&system, READ);
    assert_eq!((data.physical, data.memory), (0x1234_5678, MemoryType::StronglyOrdered));
    assert_eq!(of(&system, EXECUTE).memory, MemoryType::NON_CACHEABLE);
    set_cp15(&mut system, &mut x, SCTLR, SCTLR_I | SCTLR_C);
    assert_eq!(of(&system, EXECUTE).memory, normal(Cacheability::WriteThrough));
    assert_eq!(of(&system, READ).memory, MemoryType::StronglyOrdered);
}

#[test]
fn sections_and_supersections() {
    let system = mapped(0);
    let words = [(0x4004, 0x0030_0000 | WBWA | 3 << 10 | 1 << 17 | 2), (0x4080, 0x0700_0000 | 1 << 18 | 3 << 10 | 2)];
    let (section, walk) = translated(&system, 0x0012_3456, &words);
    assert_eq!((section.physical, section.page_bytes), (0x0032_3456, 1 << 20));
    assert_eq!((section.memory, walk), (normal(Cacheability::WriteBackAllocate), vec![0x4004]));
    assert!(!section.global);
    let large = system.translate(0x0200_1000, READ, memory(&words)).unwrap();
    assert_eq!((large.physical, large.page_bytes, large.global), (0x0700_1000, 16 << 20, true));
    assert_eq!(large.memory, MemoryType::StronglyOrdered);
}

#[test]
fn small_and_large_pages() {
    let system = mapped(0);
    let words = [
        (0x4008, 0x8000 | 1),
        (0x8004, 0x0055_5000 | 1 << 6 | 3 << 2 | 3 << 4 | 2),
        (0x8040, 0x0066_0000 | 1 << 12 | 3 << 2 | 3 << 4 | 1),
    ];
    let (small, walk) = translated(&system, 0x0020_1234, &words);
    assert_eq!((small.physical, small.page_bytes), (0x0055_5234, 4 << 10));
    assert_eq!((small.memory, walk), (normal(Cacheability::WriteBackAllocate), vec![0x4008, 0x8004]));
    let large = system.translate(0x0021_0234, READ, memory(&words)).unwrap();
    assert_eq!((large.physical, large.page_bytes), (0x0066_0234, 64 << 10));
    assert_eq!(large.memory, normal(Cacheability::WriteBackAllocate));
}

#[test]
fn faults_say_where_the_walk_ended() {
    let system = mapped(0);
    let words = [(0x4008, 0x8000 | 5 << 5 | 1), (0x400c, 3), (0x4010, 0x2000_0000 | 1), (0x8004, 0x0055_5032)];
    assert_eq!(status(system.translate(0x0010_0000, READ, memory(&words))), FaultStatus::TranslationSection);
    assert_eq!(status(system.translate(0x0030_0000, READ, memory(&words))), FaultStatus::TranslationSection);
    let page = system.translate(0x0020_0000, USER_WRITE, memory(&words)).unwrap_err();
    assert_eq!((page.status, page.domain, page.write, page.va), (FaultStatus::TranslationPage, 5, true, 0x0020_0000));
    assert_eq!(status(system.translate(0x0020_1000, READ, memory(&words))), FaultStatus::DomainPage);
    assert_eq!(status(system.translate(0x0040_0000, READ, memory(&words))), FaultStatus::WalkSecond);
    assert_eq!(status(system.translate(0x0040_0000, READ, |_| None)), FaultStatus::WalkFirst);
}

#[test]
fn permissions_are_those_of_the_table() {
    let system = mapped(0);
    // Privileged read, write; User read, write.
    let rows = [
        (0b000, [false, false, false, false]),
        (0b001, [true, true, false, false]),
        (0b010, [true, true, true, false]),
        (0b011, [true, true, true, true]),
        (0b100, [false, false, false, false]),
        (0b101, [true, false, false, false]),
        (0b110, [true, false, true, false]),
        (0b111, [true, false, true, false]),
    ];
    for (permissions, allowed) in rows {
        let bits = (permissions & 3) << 10 | permissions >> 2 << 15;
        let words = [(0x4000, bits | 2), (0x4004, bits | 1 << 5 | 2)];
        let may =
            [READ, WRITE, USER_READ, USER_WRITE].map(|access| system.translate(0, access, memory(&words)).is_ok());
        assert_eq!(may, allowed, "AP {permissions:03b}");
        assert!(system.translate(0x0010_0000, USER_WRITE, memory(&words)).is_ok(), "a manager may all");
    }
}

#[test]
fn execute_never_holds_for_clients() {
    let system = mapped(0);
    let words =
        [(0x4000, 3 << 10 | 1 << 4 | 2), (0x4004, 3 << 10 | 1 << 5 | 1 << 4 | 2), (0x4008, 0x8001), (0x8000, 0x33)];
    assert_eq!(status(system.translate(0, EXECUTE, memory(&words))), FaultStatus::PermissionSection);
    assert!(system.translate(0, READ, memory(&words)).is_ok());
    assert!(system.translate(0x0010_0000, EXECUTE, memory(&words)).is_ok());
    assert_eq!(status(system.translate(0x0020_0000, EXECUTE, memory(&words))), FaultStatus::PermissionPage);
}

#[test]
fn the_access_flag_comes_before_the_domain() {
    let system = mapped(SCTLR_AFE);
    let words = [(0x4000, 2 << 10 | 7 << 5 | 2), (0x4004, 3 << 10 | 2), (0x4008, 1 << 10 | 2)];
    assert_eq!(status(system.translate(0, READ, memory(&words))), FaultStatus::AccessFlagSection);
    assert!(system.translate(0x0010_0000, USER_WRITE, memory(&words)).is_ok());
    assert_eq!(status(system.translate(0x0020_0000, USER_READ, memory(&words))), FaultStatus::PermissionSection);
}

#[test]
fn the_second_base_is_for_high_addresses() {
    let mut system = mapped(0);
    let mut x = [0; 256];
    set_cp15(&mut system, &mut x, (2, 0, 0, 0), 0x5000);
    set_cp15(&mut system, &mut x, (2, 0, 0, 1), 0x1_0000);
    set_cp15(&mut system, &mut x, (2, 0, 0, 2), 2);
    let words = [(0x5000 + 0x3ff * 4, 3 << 10 | 2), (0x1_0000 + 0x400 * 4, 0x0010_0000 | 3 << 10 | 2)];
    assert_eq!(system.translate(0x3ff0_0000, READ, memory(&words)).unwrap().physical, 0);
    assert_eq!(system.translate(0x4000_0000, READ, memory(&words)).unwrap().physical, 0x0010_0000);
    set_cp15(&mut system, &mut x, (2, 0, 0, 2), 2 | 1 << 5);
    assert!(system.translate(0x3ff0_0000, READ, memory(&words)).is_ok());
    assert_eq!(status(system.translate(0x4000_0000, READ, memory(&words))), FaultStatus::TranslationSection);
}

#[test]
fn attributes_are_those_of_the_tables_whatever_caches_are_on() {
    let mut system = mapped(0);
    let mut x = [0; 256];
    let words = [(0x4000, WBWA | 3 << 10 | 2)];
    for caches in [0, SCTLR_I, SCTLR_C] {
        set_cp15(&mut system, &mut x, SCTLR, SCTLR_M | caches);
        for access in [READ, EXECUTE] {
            let to = system.translate(0, access, memory(&words)).unwrap();
            assert_eq!(to.memory, normal(Cacheability::WriteBackAllocate));
            let walked = normal(Cacheability::NonCacheable);
            assert!(caches == SCTLR_C || to.walk_memory == walked, "walks are data");
        }
    }
}

#[test]
fn remap_and_walk_attributes_come_from_their_registers() {
    let mut system = mapped(SCTLR_TRE);
    let mut x = [0; 256];
    set_cp15(&mut system, &mut x, (10, 0, 2, 0), 0x0002_0002);
    set_cp15(&mut system, &mut x, (10, 0, 2, 1), 0x0002_0003);
    // Inner write-back allocating, outer write-through, shared.
    set_cp15(&mut system, &mut x, (2, 0, 0, 0), 0x4000 | 1 << 6 | 2 << 3 | 2);
    let words = [(0x4000, 6 << 12 | 3 << 10 | 2), (0x4004, 3 << 10 | 1 << 2 | 2)];
    let region = system.translate(0, READ, memory(&words)).unwrap();
    let (inner, outer) = (Cacheability::WriteBack, Cacheability::WriteThrough);
    assert_eq!(region.memory, MemoryType::Normal { inner, outer, shareable: false });
    let inner = Cacheability::WriteBackAllocate;
    assert_eq!(region.walk_memory, MemoryType::Normal { inner, outer, shareable: true });
    let other = system.translate(0x0010_0000, READ, memory(&words)).unwrap();
    assert_eq!(other.memory, MemoryType::StronglyOrdered);
}

#[test]
fn translations_by_software_end_in_par() {
    let mut system = mapped(0);
    let mut x = [0; 256];
    let words = [(0x4000, 0x0030_0000 | WBWA | 3 << 10 | 2)];
    let result = system.translate(0x1234, READ, memory(&words));
    system.translated(result);
    assert_eq!(cp15(&mut system, &mut x, (7, 0, 4, 0)), Some(0x0030_1000 | 5 << 4 | 1 << 2));
    let result = system.translate(0x0010_0000, READ, memory(&words));
    system.translated(result);
    assert_eq!(cp15(&mut system, &mut x, (7, 0, 4, 0)), Some(5 << 1 | 1));
}

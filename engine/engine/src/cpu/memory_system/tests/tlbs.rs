//! Translation lookaside buffers and walks.

use super::*;
use crate::cpu::memory_system::access::TlbEntries;

/// Of a table that the data cache does not hold: a line.
const WALK: u64 = READ + 9;

fn tlb_config() -> MemoryConfig {
    MemoryConfig { tlb_cycles: 2, walk_hit_cycles: 1, ..config() }
}

fn table(mb: u32) -> u32 {
    RAM + 0x1_0000 + mb * 4
}

#[test]
fn a_walk_reads_the_table_and_is_remembered() {
    let mut rig = rig(all_on(), tlb_config());
    assert_eq!(rig.load(DEVICE, AccessSize::Word, 0).0, 2 + 1 + WALK + 18);
    assert_eq!(rig.load(DEVICE, AccessSize::Word, 0).0, 18);
    let causes = rig.causes();
    assert!(causes.contains(&("TLB miss".to_owned(), 3)) && causes.contains(&("walk: ram".to_owned(), 15)));
    // The micro TLB has 2 entries: this evicts the device's, which the main TLB still has.
    for n in 0..2 {
        let _ = rig.load(LOCAL + (n << 20), AccessSize::Word, 0);
    }
    rig.now += 100;
    assert_eq!(rig.load(DEVICE, AccessSize::Word, 0).0, 2 + 18);
}

#[test]
fn an_entry_stays_until_it_is_invalidated() {
    let mut rig = rig(all_on(), tlb_config());
    rig.load(LOCAL, AccessSize::Word, 0).1.unwrap();
    rig.bus.poke(table(LOCAL >> 20), &0xdead_u32.to_le_bytes());
    assert!(rig.load(LOCAL, AccessSize::Word, 0).1.is_ok());
    rig.maintain(Maintenance::Tlb(TlbEntries::Page { va: LOCAL, asid: 0 }));
    let abort = rig.load(LOCAL, AccessSize::Word, 0).1.unwrap_err();
    assert_eq!((abort.status, abort.va), (Refused::Translation, LOCAL));
}

#[test]
fn address_spaces_have_entries_of_their_own() {
    let mut rig = rig(all_on(), tlb_config());
    rig.load(LOCAL, AccessSize::Word, 0).1.unwrap();
    let walks = |rig: &Rig| {
        rig.memory.counters("cpu0", &[]).into_iter().find(|(name, _)| name == "cpu0.table walks").unwrap().1
    };
    assert_eq!(walks(&rig), 1);
    for (asid, expected) in [(1, 2), (0, 2), (1, 2)] {
        rig.registers.asid = asid;
        rig.memory.translation_changed(&rig.registers);
        rig.load(LOCAL, AccessSize::Word, 0).1.unwrap();
        assert_eq!(walks(&rig), expected);
    }
    rig.maintain(Maintenance::Tlb(TlbEntries::Asid(0)));
    rig.load(LOCAL, AccessSize::Word, 0).1.unwrap();
    assert_eq!(walks(&rig), 2);
}

#[test]
fn a_page_that_leaves_the_micro_tlb_takes_its_shortcuts_along() {
    let mut rig = rig(Registers { page_bytes: 4096, ..all_on() }, tlb_config());
    for n in 0..3 {
        rig.word(LOCAL + (n << 12));
    }
    let has_shortcut = |rig: &Rig, n: u32| rig.memory.load_shortcut(LOCAL + (n << 12), 4).is_some();
    assert_eq!([0, 1, 2].map(|n| has_shortcut(&rig, n)), [false, true, true]);
}

#[test]
fn a_larger_page_takes_the_place_of_smaller_ones_inside_it() {
    let mut rig = rig(Registers { page_bytes: 4096, offset: 0x8000_0000, ..all_on() }, tlb_config());
    let va = LOCAL + 0x8000_0000;
    rig.word(va + 0x1000);
    assert!(rig.memory.load_shortcut(va + 0x1000, 4).is_some());
    // From now on, tables map the page to a section elsewhere.
    (rig.registers.page_bytes, rig.registers.offset) = (1 << 20, RAM.wrapping_sub(va));
    rig.bus.poke(RAM + 0x1000, &7_u32.to_le_bytes());
    assert_eq!(rig.word(va + 0x1000).1, 0, "its page is in the TLB");
    rig.word(va);
    assert_eq!(rig.memory.load_shortcut(va + 0x1000, 4), None);
    assert_eq!(rig.word(va + 0x1000).1, 7);
}

#[test]
fn what_a_tlb_has_is_good_for_both_sides_whichever_cache_is_on() {
    let mut rig = rig(Registers { dcache: false, ..all_on() }, tlb_config());
    rig.word(RAM);
    let line = rig.memory.fetch_line(&mut rig.bus, &rig.registers, rig.now, RAM);
    assert!(rig.passed(line).1.is_ok());
    assert!(rig.memory.has_fetch_line(RAM), "fetched through the cache");
    rig.word(RAM);
    assert_eq!(rig.memory.cache_counters().map(|counters| counters.fills), [1, 0]);
}

#[test]
fn code_is_where_the_tlbs_have_it_and_else_where_the_tables_say() {
    let mut rig = rig(Registers { page_bytes: 4096, offset: 0x8000_0000, ..all_on() }, tlb_config());
    let va = RAM + 0x8000_0000;
    rig.memory.translation_changed(&rig.registers);
    let stays = |rig: &Rig| rig.memory.code_stays(&rig.bus, &rig.registers, va, va + 7);
    let place = |rig: &Rig| rig.memory.code_via(&rig.bus, &rig.registers, va).map(|(_, physical)| physical);
    assert!(rig.memory.note_code(&rig.bus, &rig.registers, va, va + 7) && stays(&rig));
    assert!(!rig.memory.has_code_page(&rig.registers, va));
    let page = rig.memory.fetch_page(&mut rig.bus, &rig.registers, rig.now, va);
    assert_eq!(rig.passed(page).0, 2 + 1 + WALK);
    assert!(rig.memory.has_code_page(&rig.registers, va));
    rig.registers.offset += 0x4000;
    assert!(stays(&rig) && place(&rig) == Ok(RAM), "the TLB was not invalidated");
    // The micro TLB has 2 entries, the main one 2 for each of 4 pages.
    let epoch = rig.memory.fetch_epoch();
    for other in [4, 8, 12] {
        let page = rig.memory.fetch_page(&mut rig.bus, &rig.registers, rig.now, va + (other << 12));
        rig.passed(page).1.unwrap();
    }
    assert_ne!(rig.memory.fetch_epoch(), epoch, "blocks are looked at again");
    assert!(!rig.memory.has_code_page(&rig.registers, va) && !stays(&rig));
    assert_eq!(place(&rig), Ok(RAM + 0x4000));
    assert!(!rig.memory.note_code(&rig.bus, &rig.registers, va, va + 7), "there are others from elsewhere");
    rig.memory.forget_code();
    assert!(rig.memory.note_code(&rig.bus, &rig.registers, va, va + 7) && stays(&rig));
}

#[test]
fn an_address_that_no_tlb_maps_takes_no_entry_and_no_time() {
    let mut rig = rig(Registers { unmapped_from: 0, ..all_on() }, tlb_config());
    let misses = |rig: &Rig| rig.memory.counters("cpu0", &[])[3].clone();
    assert_eq!(rig.load(LOCAL, AccessSize::Word, 0), (0, Ok(0)));
    assert_eq!(misses(&rig), ("cpu0.micro TLB misses".to_owned(), 0));
    rig.registers.unmapped_from = u32::MAX;
    assert!(rig.load(LOCAL, AccessSize::Word, 0).0 > 0);
    assert_eq!(misses(&rig).1, 1);
}

#[test]
fn without_the_mmu_nothing_is_walked() {
    let mut rig = rig(all_off(), tlb_config());
    assert_eq!(rig.load(LOCAL, AccessSize::Word, 0), (0, Ok(0)));
    assert_eq!(rig.memory.counters("cpu0", &[("own", 1)])[5], ("cpu0.table walks".to_owned(), 0));
}

//! Translation lookaside buffers and walks.

use super::*;
use crate::cpu::memory_system::access::{Lines, TlbEntries};

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
    assert!(rig.has_line(RAM), "fetched through the cache");
    rig.word(RAM);
    assert_eq!(rig.memory.cache_counters().map(|counters| counters.fills), [1, 0]);
}

#[test]
fn code_is_where_the_tlbs_have_it_and_else_where_the_tables_say() {
    let mut rig = rig(Registers { page_bytes: 4096, offset: 0x8000_0000, ..all_on() }, tlb_config());
    let va = RAM + 0x8000_0000;
    rig.memory.translation_changed(&rig.registers);
    let page = |rig: &mut Rig| rig.memory.code_page(&rig.bus, &rig.registers, va).unwrap();
    let place = |rig: &Rig| rig.memory.code_via(&rig.bus, &rig.registers, va).map(|(_, physical)| physical);
    let first = page(&mut rig);
    let stays = |rig: &mut Rig| rig.memory.code_stays(&rig.bus, &rig.registers, (va, va + 7), (first, first));
    assert!(stays(&mut rig) && !rig.memory.has_code_page(first));
    let fetched = rig.memory.fetch_page(&mut rig.bus, &rig.registers, rig.now, va);
    assert_eq!(rig.passed(fetched).0, 2 + 1 + WALK);
    assert!(rig.memory.has_code_page(first) && rig.memory.is_valid(rig.memory.mark_of(first)));
    rig.registers.offset += 0x4000;
    assert!(stays(&mut rig) && place(&rig) == Ok(RAM), "the TLB was not invalidated");
    // The micro TLB has 2 entries, the main one 2 for each of 4 pages.
    let epoch = rig.memory.fetch_epoch();
    for other in [4, 8, 12] {
        let page = rig.memory.fetch_page(&mut rig.bus, &rig.registers, rig.now, va + (other << 12));
        rig.passed(page).1.unwrap();
    }
    assert_ne!(rig.memory.fetch_epoch(), epoch, "regions are looked at again");
    assert!(!rig.memory.has_code_page(first) && !stays(&mut rig));
    assert_eq!(place(&rig), Ok(RAM + 0x4000));
    assert_ne!(page(&mut rig), first, "code from elsewhere");
    rig.registers.offset -= 0x4000;
    assert_eq!(page(&mut rig), first, "mapped as before, it is the same page");
}

#[test]
fn lines_of_a_page_are_there_again_with_the_page() {
    let mut rig = rig(all_on(), tlb_config());
    rig.fetch_line(RAM).1.unwrap();
    assert!(rig.has_line(RAM));
    let page = rig.memory.code_page(&rig.bus, &rig.registers, RAM).unwrap();
    let mark = rig.memory.mark_of(page);
    rig.memory.note_block(RAM, 7);
    let flush = |rig: &mut Rig| _ = rig.maintain(Maintenance::Tlb(TlbEntries::All));
    for change in [flush as fn(&mut Rig), |rig: &mut Rig| rig.memory.mapping_changed()] {
        change(&mut rig);
        assert!(!rig.has_line(RAM) && !rig.memory.is_valid(mark));
        assert!(rig.fetch_line(RAM + 0x40).0 > 0, "the page's entry takes time");
        assert!(rig.has_line(RAM) && rig.memory.is_valid(mark), "the other line has not gone");
    }
    assert!(!rig.memory.has_stale_blocks());
    rig.maintain(Maintenance::Icache(Lines::At(RAM)));
    assert!(!rig.has_line(RAM) && rig.has_line(RAM + 0x40));
    assert_eq!(rig.memory.take_stale_blocks().unwrap().collect::<Vec<_>>(), [7]);
    rig.maintain(Maintenance::Icache(Lines::All));
    assert!(!rig.has_line(RAM + 0x40) && !rig.memory.is_valid(mark), "no block has its lines");
}

#[test]
fn a_fetch_with_another_privilege_is_of_another_page() {
    let mut rig = rig(all_on(), tlb_config());
    rig.memory.translation_changed(&rig.registers);
    rig.fetch_line(RAM).1.unwrap();
    let page = rig.memory.code_page(&rig.bus, &rig.registers, RAM).unwrap();
    rig.registers.privileged = false;
    rig.memory.privilege_changed(false);
    assert!(!rig.has_line(RAM) && rig.memory.has_fetch_line(page, RAM));
    rig.registers.privileged = true;
    rig.memory.privilege_changed(true);
    assert!(rig.has_line(RAM), "it was not touched");
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

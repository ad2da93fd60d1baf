use super::*;
use crate::memory::cache::{Replacement, WritePolicy};

const LINE: u32 = 0x1040;

/// Two cores with caches of 4 sets of 2 lines of 64 bytes, and a third outside of the cluster.
fn cluster() -> Snoop {
    let shape = CacheShape {
        size_bytes: 512,
        line_bytes: 64,
        ways: 2,
        replacement: Replacement::PseudoRandom,
        write: WritePolicy::WriteBack,
    };
    Snoop::new(&[Some(shape), Some(shape), None], SnoopTiming { transfer_cycles: 10, upgrade_cycles: 5 })
}

/// A core loads a line, or stores to it, as its memory side does. True if another cache gave it.
fn fill(snoop: &mut Snoop, core: usize, line: u32, store: bool) -> bool {
    let given = snoop.miss(core, line, store);
    snoop.filled(core, line, None, store);
    given
}

#[test]
fn a_line_of_one_core_is_its_own() {
    let mut snoop = cluster();
    assert!(!fill(&mut snoop, 0, LINE, false));
    assert!(snoop.is_unique(0, LINE) && !snoop.is_unique(1, LINE));
    assert!(!snoop.store(0, LINE), "it need not ask");
    assert!(snoop.take_messages(1).is_empty());
    assert_eq!(snoop.counts(0), Counts::default());
}

#[test]
fn a_line_that_is_loaded_by_both_is_shared_until_one_stores() {
    let mut snoop = cluster();
    fill(&mut snoop, 0, LINE, true);
    assert!(fill(&mut snoop, 1, LINE, false), "the dirty line comes from the other cache");
    assert!(!snoop.is_unique(0, LINE) && !snoop.is_unique(1, LINE));
    assert_eq!(snoop.take_messages(0), [Message::Shared(LINE)]);
    assert!(snoop.store(1, LINE) && snoop.is_unique(1, LINE));
    assert_eq!(snoop.take_messages(0), [Message::Gone(LINE)]);
    assert!(!snoop.store(1, LINE), "it has asked");
    assert!(!snoop.is_unique(0, LINE));
    assert!(fill(&mut snoop, 0, LINE, true), "and back");
    assert_eq!(snoop.take_messages(1), [Message::Gone(LINE)]);
    let counts = |core| {
        let Counts { from_other, upgrades, lost } = snoop.counts(core);
        (from_other, upgrades, lost)
    };
    assert_eq!((counts(0), counts(1)), ((1, 0, 1), (1, 1, 1)));
}

#[test]
fn lines_that_leave_are_nobodys() {
    let mut snoop = cluster();
    fill(&mut snoop, 0, LINE, true);
    snoop.filled(0, LINE + 0x100, Some(LINE), false);
    assert!(!fill(&mut snoop, 1, LINE, false) && snoop.is_unique(1, LINE));
    assert!(snoop.take_messages(0).is_empty());
    snoop.left_all(1);
    assert!(!fill(&mut snoop, 0, LINE, false) && snoop.is_unique(0, LINE));
}

#[test]
fn a_dirty_line_of_another_core_is_cleaned_once() {
    let mut snoop = cluster();
    fill(&mut snoop, 0, LINE, true);
    assert!(snoop.clean_others(1, LINE) && !snoop.clean_others(1, LINE));
    assert_eq!(snoop.take_messages(0), [Message::Clean(LINE)]);
    snoop.take(1, LINE);
    assert_eq!(snoop.take_messages(0), [Message::Gone(LINE)]);
    snoop.take(1, LINE);
    assert!(!snoop.has_messages(0));
}

#[test]
fn a_store_of_another_core_ends_a_reservation() {
    let mut snoop = cluster();
    for (holds, line) in [(true, LINE + 0x40), (false, LINE)] {
        fill(&mut snoop, 0, LINE, false);
        snoop.reserve(0, LINE + 4);
        assert!(snoop.is_reserved(0, LINE + 4) && !snoop.is_reserved(1, LINE + 4));
        snoop.stored(0, LINE);
        assert!(snoop.is_reserved(0, LINE + 4), "its own store does not");
        fill(&mut snoop, 1, line, true);
        snoop.stored(1, line);
        assert_eq!(snoop.is_reserved(0, LINE + 4), holds);
    }
    // A store past the caches, too.
    snoop.reserve(0, LINE + 4);
    snoop.stored(1, LINE + 60);
    assert!(!snoop.is_reserved(0, LINE + 4));
}

#[test]
fn a_reservation_makes_another_core_ask_before_it_stores() {
    let mut snoop = cluster();
    fill(&mut snoop, 1, LINE, true);
    // The line is not cached by the core that reserves it.
    snoop.reserve(0, LINE);
    assert_eq!(snoop.take_messages(1), [Message::Shared(LINE)]);
    assert!(snoop.store(1, LINE));
    snoop.stored(1, LINE);
    assert!(!snoop.is_reserved(0, LINE));
}

#[test]
fn a_core_outside_the_cluster_has_no_part_in_it() {
    let mut snoop = cluster();
    assert!(!snoop.has(2) && snoop.is_reserved(2, LINE));
    fill(&mut snoop, 0, LINE, true);
    snoop.notify_others(0, Message::Branches);
    assert!(snoop.take_messages(2).is_empty());
    assert_eq!(snoop.take_messages(1), [Message::Branches]);
}

#[test]
fn a_core_that_reads_no_messages_forgets_all_in_the_end() {
    let mut snoop = cluster();
    for page in 0..2 * MOST_MESSAGES as u32 {
        snoop.notify_others(0, Message::Translations(TlbEntries::PageOfAll(page << 12)));
    }
    let messages = snoop.take_messages(1);
    assert!(messages.len() <= MOST_MESSAGES && messages.contains(&Message::Translations(TlbEntries::All)));
}

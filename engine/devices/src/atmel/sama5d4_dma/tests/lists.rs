//! Linked lists.

use super::*;

/// NDE, NSEN, NDEN.
const BOTH: u32 = 7;

#[test]
fn descriptors_of_all_views_are_followed() {
    let mut rig = rig(0);
    rig.store(RAM, &count(1, 16));
    let (first, second, third, last) = (RAM + 0x800, RAM + 0x840, RAM + 0x880, RAM + 0x8c0);
    // View 1 first; each says what the next one is.
    rig.store(first, &[second, 2 | (BOTH | 2 << 3) << 24, RAM, RAM + 0x100]);
    rig.store(second, &[third, 1 | (BOTH | 3 << 3) << 24, RAM + 0x10, RAM + 0x110, COPY & !SOURCE_UP]);
    // Two microblocks of one word each, a word apart at the destination.
    rig.store(third, &[last, 1 | 5 << 24, RAM + 0x20, RAM + 0x120, WORDS | 1 << 16 | 2 << 18, 1, 0, 0, 4]);
    // View 0 with the destination's address: the source and the microblocks continue.
    rig.store(last, &[0, 1, RAM + 0x140]);
    rig.set(3, &[(CNDA, first), (CNDC, BOTH | 1 << 3), (CC, COPY), (CIE, CIS_LIS)]);
    rig.put(GIE, 1 << 3);
    rig.run(3);
    assert_eq!(rig.words(RAM + 0x100, 2), [1, 2]);
    assert_eq!(rig.words(RAM + 0x110, 1), [5]);
    assert_eq!(rig.words(RAM + 0x120, 3), [9, 0, 10]);
    assert_eq!(rig.words(RAM + 0x140, 3), [11, 0, 12]);
    assert_eq!((rig.bus.core_irqs[0].low(), rig.get(GIS)), (1 << 6, 1 << 3));
    assert_eq!((rig.status(3), rig.bus.core_irqs[0].low(), rig.get(GS)), (CIS_BIS | CIS_LIS, 0, 0));
    let counters = rig.bus.devices[0].as_ref().unwrap().counters();
    assert_eq!(counters, [("blocks".to_owned(), 4), ("bytes".to_owned(), 28), ("descriptors".to_owned(), 4)]);
}

#[test]
fn a_descriptor_that_is_nowhere_is_a_read_error() {
    let mut rig = rig(0);
    rig.set(0, &[(CNDA, 0x1000), (CNDC, BOTH | 1 << 3), (CC, COPY)]);
    rig.run(0);
    assert_eq!((rig.status(0), rig.get(GS)), (CIS_RBEIS, 0));
}

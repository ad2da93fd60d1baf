//! Loads and stores past the caches.

use super::super::access::how;
use super::*;
use crate::cpu::memory_system::access::Barrier;

#[test]
fn with_all_off_each_access_takes_its_way() {
    let mut rig = rig(all_off(), config());
    assert_eq!(rig.put(RAM + 8, 0x1234_5678), READ);
    assert_eq!(rig.word(RAM + 8), (READ, 0x1234_5678));
    assert_eq!(rig.load(RAM + 9, AccessSize::Byte, 0), (READ, Ok(0x56)));
    assert_eq!(rig.memory.load_shortcut(RAM + 8, 4), None);
    let expected = named(&[("load: ram", 12), ("store: ram", 6), ("interconnect: matrix", 18)]);
    assert_eq!(rig.causes(), expected);
}

#[test]
fn local_memory_costs_nothing_and_has_a_shortcut_from_then_on() {
    let mut rig = rig(all_off(), config());
    assert_eq!(rig.put(LOCAL + 4, 7), 0);
    assert_eq!(rig.word(LOCAL + 4), (0, 7));
    assert!(rig.memory.load_shortcut(LOCAL + 4, 4).is_some() && rig.memory.store_shortcut(LOCAL, 1).is_some());
    rig.bus.mark_code(LOCAL, 6);
    rig.memory.follow_marks(&rig.bus, 0);
    let epoch = rig.bus.code_written.epoch();
    assert_eq!(rig.put(LOCAL + 4, 8), 0);
    assert!(rig.memory.store_shortcut(LOCAL, 1).is_none());
    assert_eq!(rig.bus.code_written.epoch(), epoch + 1, "a store to decoded code is seen");
}

#[test]
fn the_controller_of_a_second_level_cache_is_on_the_way_even_if_off() {
    let mut rig = with_outer(rig(all_off(), config()), false);
    assert_eq!(rig.word(RAM).0, READ + 3);
    assert_eq!(rig.causes()[2], ("second-level cache".to_owned(), 3));
}

#[test]
fn several_registers_are_one_transfer_for_each_32_bytes() {
    for (beat, words, va, cycles) in [
        (8, 4, RAM, READ + 3),
        (8, 4, RAM + 4, READ + 2 * 3),
        (8, 8, RAM, READ + 3 * 3),
        (4, 8, RAM, READ + 7 * 3),
        (8, 4, RAM + 24, 2 * READ),
    ] {
        let mut rig = rig(all_off(), MemoryConfig { multiple_beat_bytes: beat, ..config() });
        for n in 0..words {
            rig.bus.poke(va + 4 * n, &(n + 1).to_le_bytes());
        }
        let done = rig.memory.multiple(&mut rig.bus, &rig.registers, 3000, va, words, 0);
        assert_eq!(rig.passed(done).0, cycles, "{words} words at {va:#x}, {beat} bytes a beat");
        for n in 0..words {
            assert_eq!(rig.load(va + 4 * n, AccessSize::Word, how::REPORTED), (0, Ok(n + 1)));
        }
    }
}

#[test]
fn several_registers_of_a_device_are_accessed_one_by_one() {
    let mut rig = rig(all_off(), config());
    let done = rig.memory.multiple(&mut rig.bus, &rig.registers, 3000, DEVICE, 2, how::STORE);
    assert_eq!(rig.passed(done).0, 0);
    assert_eq!(rig.store(DEVICE, AccessSize::Word, 9, how::REPORTED).0, 18);
    assert_eq!(rig.load(DEVICE, AccessSize::Word, how::REPORTED), (18, Ok(9)));
}

#[test]
fn a_store_buffer_lets_the_core_go_on() {
    let mut rig = rig(all_on(), MemoryConfig { store_buffer_entries: 2, tlb_cycles: 0, ..config() });
    rig.word(DEVICE);
    let before = rig.causes();
    assert_eq!(rig.put(DEVICE, 5), 0);
    rig.now += 6;
    // The next access to ordered memory waits for it.
    assert_eq!(rig.word(DEVICE), (12 + 18, 5));
    assert!(!before.iter().any(|(cause, _)| cause == "store buffer"));
    assert!(rig.causes().contains(&("store buffer".to_owned(), 12)));
}

#[test]
fn a_strongly_ordered_store_is_waited_for() {
    let mut rig = rig(all_off(), MemoryConfig { store_buffer_entries: 2, ..config() });
    assert_eq!((rig.put(DEVICE, 5), rig.word(DEVICE)), (18, (18, 5)));
    let done = rig.memory.multiple(&mut rig.bus, &rig.registers, 3000, RAM, 4, how::STORE);
    assert!(rig.passed(done).0 >= READ);
}

#[test]
fn normal_stores_queue_up_and_merge() {
    let non_cacheable = Registers { memory: MemoryType::NON_CACHEABLE, ..all_on() };
    let mut rig = rig(non_cacheable, MemoryConfig { store_buffer_entries: 2, tlb_cycles: 0, ..config() });
    rig.word(RAM + 0x100);
    assert_eq!((rig.put(RAM, 1), rig.put(RAM + 8, 2), rig.put(RAM + 12, 3)), (0, 0, 0));
    // The buffer is full: the first ends 12 cycles after it began.
    assert_eq!(rig.put(RAM + 16, 4), READ);
    assert_eq!(rig.maintain(Maintenance::Barrier(Barrier::DataSynchronization)), 2 * READ);
    assert_eq!([0, 8, 12, 16].map(|offset| rig.word(RAM + offset).1), [1, 2, 3, 4]);
}

#[test]
fn unaligned_accesses_are_for_normal_memory() {
    let mut off = rig(all_off(), config());
    let abort = off.load(RAM + 2, AccessSize::Word, 0).1.unwrap_err();
    assert_eq!((abort.status, abort.va, abort.write), (Refused::Alignment, RAM + 2, false));
    for (registers, flags) in [(Registers { aligned: true, ..all_on() }, 0), (all_on(), how::ALIGNED)] {
        let mut rig = rig(registers, config());
        let abort = rig.store(RAM + 1, AccessSize::Half, 1, flags).1.unwrap_err();
        assert_eq!((abort.status, abort.va, abort.write), (Refused::Alignment, RAM + 1, true));
    }
    let mut rig = rig(all_on(), config());
    let abort = rig.load(DEVICE + 2, AccessSize::Word, 0).1.unwrap_err();
    assert_eq!(abort.status, Refused::Alignment);
}

#[test]
fn nothing_and_errors_are_aborts() {
    let mut rig = rig(all_off(), config());
    let abort = rig.load(0x7000_0000, AccessSize::Word, 0).1.unwrap_err();
    assert_eq!((abort.status, abort.bus), (Refused::External, Some(crate::faults::BusFaultKind::Unmapped)));
    let (cycles, result) = rig.load(DEVICE + 4, AccessSize::Word, 0);
    assert_eq!((cycles, result.unwrap_err().bus), (18, Some(crate::faults::BusFaultKind::Slave)));
}

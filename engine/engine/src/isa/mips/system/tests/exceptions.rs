//! Exceptions from their handlers' view.

use super::*;
use crate::faults::BusFaultKind;

const VA: u32 = 0x1234_5678;
const PC: u32 = 0x8001_0040;

fn refill(write: bool) -> Exception {
    Exception::TlbRefill { va: VA, write }
}

#[test]
fn vectors_are_those_of_the_table() {
    // BEV and IV; then refill, a refill in a handler, an interrupt, any other exception.
    let table = [
        (0, 0, [0x8000_0000, 0x8000_0180, 0x8000_0180, 0x8000_0180]),
        (0, 0x0080_0000, [0x8000_0000, 0x8000_0180, 0x8000_0200, 0x8000_0180]),
        (0x0040_0000, 0, [0xbfc0_0200, 0xbfc0_0380, 0xbfc0_0380, 0xbfc0_0380]),
        (0x0040_0000, 0x0080_0000, [0xbfc0_0200, 0xbfc0_0380, 0xbfc0_0400, 0xbfc0_0380]),
    ];
    for (status, cause, vectors) in table {
        let enter = |exl: u32, exception| {
            let mut system = started();
            set(&mut system, 12, status | exl);
            set(&mut system, 13, cause);
            system.enter(exception, PC, false)
        };
        let found = [
            enter(0, refill(false)),
            enter(2, refill(true)),
            enter(0, Exception::Interrupt),
            enter(0, Exception::Syscall),
        ];
        assert_eq!(found, vectors, "status {status:#x}, cause {cause:#x}");
    }
}

#[test]
fn codes_are_those_of_the_table() {
    let invalid = |write| Exception::TlbInvalid { va: VA, write };
    let table = [
        (Exception::Interrupt, 0),
        (Exception::TlbModified(VA), 1),
        (refill(false), 2),
        (invalid(false), 2),
        (refill(true), 3),
        (invalid(true), 3),
        (Exception::AddressLoad(VA), 4),
        (Exception::AddressStore(VA), 5),
        (Exception::BusFetch, 6),
        (Exception::BusData, 7),
        (Exception::Syscall, 8),
        (Exception::Break, 9),
        (Exception::Reserved(0), 10),
        (Exception::CopUnusable(0), 11),
        (Exception::Overflow, 12),
        (Exception::Trap, 13),
    ];
    for (exception, code) in table {
        let mut system = started();
        set(&mut system, 13, 0x300);
        system.enter(exception, PC, false);
        assert_eq!(get(&system, CAUSE), 0x300 | code << 2, "{exception:?}");
        assert_eq!((get(&system, STATUS), get(&system, 14)), (2, PC));
    }
}

#[test]
fn an_exception_in_a_delay_slot_goes_back_to_the_branch() {
    let mut system = started();
    system.enter(Exception::Syscall, PC, true);
    assert_eq!((get(&system, CAUSE), get(&system, 14)), (0x8000_0020, PC - 4));
    assert_eq!(system.eret(), (PC - 4, Effect::Next));
    system.enter(Exception::Syscall, PC, false);
    assert_eq!((get(&system, CAUSE), get(&system, 14)), (0x20, PC));
}

#[test]
fn an_exception_in_a_handler_keeps_where_the_first_came_from() {
    let mut system = started();
    system.enter(Exception::Syscall, PC, true);
    system.enter(refill(true), 0x8000_0180, false);
    assert_eq!((get(&system, CAUSE), get(&system, 14), get(&system, 8)), (0x8000_000c, PC - 4, VA));
}

#[test]
fn the_coprocessor_is_reported() {
    for number in 0..4 {
        let mut system = started();
        system.enter(Exception::CopUnusable(number), PC, false);
        assert_eq!(get(&system, CAUSE), u32::from(number) << 28 | 11 << 2);
    }
    let mut system = started();
    system.enter(Exception::CopUnusable(3), PC, false);
    system.enter(Exception::Break, PC, false);
    assert_eq!(get(&system, CAUSE), 9 << 2);
}

#[test]
fn a_miss_leaves_what_its_handler_needs() {
    for exception in [refill(false), Exception::TlbInvalid { va: VA, write: true }, Exception::TlbModified(VA)] {
        let mut system = started();
        set(&mut system, 4, 0xff80_0000);
        set(&mut system, 10, 0x42);
        system.enter(exception, PC, false);
        assert_eq!((get(&system, 8), get(&system, 10)), (VA, 0x1234_4042));
        assert_eq!(get(&system, 4), 0xff80_0000 | (VA >> 13) << 4);
    }
    let mut system = started();
    set(&mut system, 10, 0x42);
    system.enter(Exception::AddressStore(VA), PC, false);
    assert_eq!((get(&system, 8), get(&system, 10), get(&system, 4)), (VA, 0x42, 0));
    system.enter(Exception::BusData, PC, false);
    assert_eq!(get(&system, 8), VA);
}

#[test]
fn user_mode_enters_the_kernel_and_comes_back() {
    let mut system = started();
    set(&mut system, 12, 0x0000_0413);
    set(&mut system, 14, 0x0040_0000);
    assert_eq!(system.eret(), (0x0040_0000, Effect::Next));
    assert!(!system.is_privileged() && system.deliverable(4));
    system.enter(Exception::Interrupt, 0x0040_0010, false);
    assert!(system.is_privileged() && !system.deliverable(4));
    assert_eq!(system.eret().0, 0x0040_0010);
    assert!(!system.is_privileged());
}

#[test]
fn an_error_returns_by_its_own_register() {
    let mut system = reset();
    set(&mut system, 14, 0x8000_1000);
    set(&mut system, 30, 0x8000_2000);
    set(&mut system, 12, 0x6);
    assert_eq!(system.eret(), (0x8000_2000, Effect::TranslationChanged));
    assert_eq!(system.eret(), (0x8000_1000, Effect::Next));
    assert_eq!(get(&system, STATUS), 0);
}

#[test]
fn refusals_become_exceptions() {
    let of = |status, write, fetch| {
        Exception::from_abort(Abort { va: VA, status, write, domain: 0, bus: Some(BusFaultKind::Slave) }, fetch)
    };
    for status in [TlbFault::Alignment, TlbFault::Privilege] {
        assert_eq!(of(status, false, true), Exception::AddressLoad(VA));
        assert_eq!(of(status, false, false), Exception::AddressLoad(VA));
        assert_eq!(of(status, true, false), Exception::AddressStore(VA));
    }
    assert_eq!(of(TlbFault::Refill, true, false), refill(true));
    assert_eq!(of(TlbFault::Invalid, false, true), Exception::TlbInvalid { va: VA, write: false });
    assert_eq!(of(TlbFault::Modified, true, false), Exception::TlbModified(VA));
    assert_eq!(of(TlbFault::External, false, true), Exception::BusFetch);
    assert_eq!(of(TlbFault::External, true, false), Exception::BusData);
}

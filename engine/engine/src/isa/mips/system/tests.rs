//! Coprocessor 0 from a program's view.

mod exceptions;
mod tlb;

use super::*;

pub(super) const NOW: Now = Now { pending: 0, instructions: 0 };
const STATUS: u8 = 12;
const CAUSE: u8 = 13;
const BEV_ERL: u32 = 0x0040_0004;

/// A core after reset.
pub(super) fn reset() -> System {
    System::new(SystemConfig::xburst(None, None))
}

/// A core after its start-up code: kernel mode, vectors in RAM, interrupts off.
pub(super) fn started() -> System {
    let mut system = reset();
    set(&mut system, STATUS, 0);
    system
}

/// Writes a register in kernel mode.
pub(super) fn set(system: &mut System, register: u8, value: u32) -> Effect {
    system.write(register, 0, value, NOW)
}

/// Reads a register in any mode.
pub(super) fn get(system: &System, register: u8) -> u32 {
    system.register(register, 0, NOW)
}

#[test]
fn reset_is_as_in_the_manual() {
    let system = reset();
    assert_eq!(get(&system, STATUS), BEV_ERL);
    assert_eq!((get(&system, CAUSE), get(&system, 6), get(&system, 1)), (0, 0, 31));
    assert!(system.is_privileged() && !system.deliverable(!0));
    assert_eq!((get(&system, 15), get(&system, 16)), (0x0ad0_024f, 0x8000_0483));
    assert_eq!(system.register(16, 1, NOW), 31 << 25);
}

#[test]
fn registers_keep_what_exists_of_them() {
    let mut system = started();
    let kept = [
        (0, 0x1f),
        (2, 0x03ff_ffff),
        (3, 0x03ff_ffff),
        (4, 0xff80_0000),
        (5, 0x01ff_e000),
        (6, 0x1f),
        (8, 0),
        (9, 0),
        (10, 0xffff_e0ff),
        (11, 0),
        (13, 0x0080_0300),
        (14, u32::MAX),
        (15, 0x0ad0_024f),
        (16, 0x8000_0487),
        (17, 0),
        (18, 0),
        (28, u32::MAX),
        (30, u32::MAX),
        (31, 0),
    ];
    for (register, value) in kept {
        set(&mut system, register, u32::MAX);
        assert_eq!(get(&system, register), value, "register {register}");
    }
    set(&mut system, STATUS, u32::MAX);
    assert_eq!(get(&system, STATUS), 0x1040_ff17);
    // Other selects are other registers.
    assert_eq!(system.write(16, 1, 0, NOW), Effect::Next);
    assert_eq!(
        (system.register(16, 1, NOW), system.register(16, 2, NOW), system.register(12, 1, NOW)),
        (31 << 25, 0, 0)
    );
}

#[test]
fn user_mode_needs_cu0() {
    let mut system = started();
    assert_eq!(set(&mut system, STATUS, 0x10), Effect::Next);
    assert!(!system.is_privileged() && !system.may_use_cp0());
    // EXL and ERL are kernel mode.
    for status in [0x12, 0x14] {
        let mut system = started();
        set(&mut system, STATUS, status);
        assert!(system.is_privileged());
    }
    let mut system = started();
    set(&mut system, STATUS, 0x1000_0010);
    assert!(!system.is_privileged() && system.may_use_cp0());
}

#[test]
fn interrupts_need_their_mask_and_no_handler() {
    let mut system = started();
    let mut with = |status| {
        set(&mut system, STATUS, status);
        (system.deliverable(1 << 2), system.wakes(1 << 2))
    };
    assert_eq!(with(0x0401), (true, true));
    assert_eq!(with(0x0400), (false, true), "IE");
    assert_eq!(with(0xfb01), (false, false), "IM");
    assert_eq!(with(0x0403), (false, true), "EXL");
    assert_eq!(with(0x0405), (false, true), "ERL");
}

#[test]
fn software_requests_interrupts_0_and_1_alone() {
    let mut system = started();
    set(&mut system, STATUS, 0xff01);
    assert!(!system.deliverable(3), "no line leads there");
    assert_eq!(set(&mut system, CAUSE, u32::MAX), Effect::Next);
    assert!(system.deliverable(0));
    assert_eq!(system.register(13, 0, Now { pending: 0x84, ..NOW }), 0x0080_8700);
}

#[test]
fn what_changes_translation_is_reported() {
    let mut system = started();
    assert_eq!(set(&mut system, 10, 0x1_2000), Effect::Next);
    assert_eq!(set(&mut system, 10, 0x1_2005), Effect::TranslationChanged);
    assert_eq!(set(&mut system, 16, 3), Effect::Next);
    assert_eq!(set(&mut system, 16, 2), Effect::TranslationChanged);
    assert_eq!(set(&mut system, STATUS, 0x2), Effect::Next);
    assert_eq!(set(&mut system, STATUS, 0x4), Effect::TranslationChanged);
    assert_eq!(system.eret(), (0, Effect::TranslationChanged));
    assert_eq!(system.eret(), (0, Effect::Next));
}

#[test]
fn a_link_lasts_to_sc_or_eret() {
    let mut system = started();
    assert!(!system.take_link());
    system.link();
    assert!(system.take_link() && !system.take_link());
    system.link();
    system.eret();
    assert!(!system.take_link());
}

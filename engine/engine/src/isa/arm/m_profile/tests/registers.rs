//! Special registers, and those of the private peripheral bus.

use super::*;

#[test]
fn reset_values() {
    let mut rig = rig();
    for (offset, value) in [
        (0xd00, 0x410f_c241),
        (0xd04, 0),
        (0xd08, 0),
        (0xd0c, 0xfa05_0000),
        (0xd10, 0),
        (0xd14, 0x200),
        (0xd88, 0),
        (0xf34, 0xc000_0000),
        (0x004, 4),
        (0xd60, 0x0114_1110),
        (0xf40, 0x1011_0021),
        (0xd78, 0),
    ] {
        assert_eq!(rig.read(offset), value, "{offset:#x}");
    }
    assert_eq!([0, 5, 8, 16, 17, 19, 20].map(|number| rig.special(number)), [0, 0, STACK, 0, 0, 0, 0]);
    assert_eq!(rig.system.xpsr(&rig.x), 1 << 24);
}

#[test]
fn msr_writes_what_its_mask_names() {
    let mut rig = rig();
    let msr = |rig: &mut Rig, fields: u8, value: u32| {
        rig.x[22] = value;
        rig.execute(Op { code: Code::Msr, rd: 0, rn: 0, rm: 22, ra: fields, imm: 0 }).unwrap();
        rig.special(0)
    };
    assert_eq!(msr(&mut rig, 8, u32::MAX), 0xf800_0000);
    assert_eq!(msr(&mut rig, 4, 0x000a_0000), 0xf80a_0000);
    assert_eq!(msr(&mut rig, 12, 0x5005_ffff), 0x5005_0000);
    rig.write(0xd04, 1 << 28);
    rig.take();
    assert_eq!([0, 1, 2, 3, 5, 6, 7].map(|number| rig.special(number) & 0xff), [0, 14, 0, 14, 14, 0, 14]);
}

#[test]
fn without_privilege_little_is_read_and_less_written() {
    let mut rig = rig();
    rig.set_special(9, 0x2000_0800);
    rig.set_special(20, 1);
    assert!(!rig.system.is_privileged());
    rig.set_special(16, 1);
    rig.set_special(20, 0);
    rig.cps(1 << 9 | 1 << 7);
    assert_eq!([8, 9, 16, 20].map(|number| rig.special(number)), [0, 0, 0, 1]);
    let refused = rig.system.load_own(SCS + 0xd00, AccessSize::Word, 0).unwrap_err();
    assert_eq!(refused.status, FaultStatus::Unprivileged);
    assert!(rig.system.store_own(SCS + 0xf00, AccessSize::Word, 3, 0).is_err());
    // A handler is privileged, and its return restores the old state.
    rig.raise(Exception::Svc(0)).unwrap();
    assert!(rig.system.is_privileged());
    rig.write(0xd14, 0x202);
    rig.leave();
    assert!(!rig.system.is_privileged() && rig.system.store_own(SCS + 0xf00, AccessSize::Word, 3, 0).is_ok());
}

#[test]
fn interrupts_are_enabled_and_pended_by_ones() {
    let mut rig = rig();
    rig.write(0x10c, 1 << 7 | 1 << 8);
    rig.write(0x18c, 1 << 7);
    assert_eq!([0x10c, 0x18c, 0x100].map(|at| rig.read(at)), [1 << 8, 1 << 8, 0]);
    rig.write(0x20c, 1 << 8);
    rig.write(0xf00, 149);
    rig.write(0xf00, 150);
    assert_eq!([0x20c, 0x210, 0xd04].map(|at| rig.read(at)), [1 << 8, 1 << 21, 1 << 22 | 120 << 12]);
    assert_eq!(rig.take(), 120);
    // An exception that is pending but not enabled is not the next one.
    assert_eq!([0x30c, 0xd04].map(|at| rig.read(at)), [1 << 8, 1 << 22 | 1 << 11 | 120]);
    rig.write(0x110, 1 << 21);
    assert_eq!(rig.read(0xd04) >> 12 & 0x1ff, 165);
    rig.write(0x290, 1 << 21);
    assert_eq!(rig.read(0x210), 0);
    // Bits above the number of interrupts.
    rig.write(0x110, u32::MAX);
    assert_eq!(rig.read(0x110), 0x003f_ffff);
}

#[test]
fn priorities_are_bytes() {
    let mut rig = rig();
    let write = |rig: &mut Rig, at: u32, size, value| rig.system.store_own(SCS + at, size, value, 0).unwrap();
    write(&mut rig, 0x455, AccessSize::Byte, 0xab);
    write(&mut rig, 0xd22, AccessSize::Half, 0x3412);
    assert_eq!((rig.read(0x454), rig.read(0xd20)), (0x0000_a000, 0x3010_0000));
    assert_eq!(rig.system.load_own(SCS + 0x455, AccessSize::Byte, 0), Ok(0xa0));
    assert_eq!(rig.system.load_own(SCS + 0xd22, AccessSize::Half, 0), Ok(0x3010));
}

#[test]
fn the_cycle_counter_counts_while_it_is_on() {
    const DWT: u32 = 0xe000_1000;
    let mut rig = rig();
    let mut write = |at: u32, value: u32, cycle: u64| {
        rig.system.store_own(at, AccessSize::Word, value, cycle).unwrap();
    };
    write(DWT, 1, 100);
    write(SCS + 0xdfc, 1 << 24, 200);
    write(DWT + 4, 0, 1000);
    let read = |rig: &Rig, cycle: u64| rig.system.load_own(DWT + 4, AccessSize::Word, cycle).unwrap();
    assert_eq!([1000, 1023, 1000 + (1 << 32) + 5].map(|cycle| read(&rig, cycle)), [0, 23, 5]);
    rig.system.store_own(DWT, AccessSize::Word, 0, 2000).unwrap();
    assert_eq!(read(&rig, 3000), 1000);
    assert_eq!(rig.system.load_own(DWT, AccessSize::Word, 0), Ok(0x4c00_0000));
}

#[test]
fn event_counters_count_from_zero_while_they_are_enabled() {
    const DWT: u32 = 0xe000_1000;
    let mut rig = rig();
    let events = |load_store| Events { load_store, folded: 7, ..Events::default() };
    let write = |rig: &mut Rig, at: u32, value: u32| rig.system.store_own(at, AccessSize::Word, value, 0).unwrap();
    let counts = |rig: &Rig| [0x14, 0x18].map(|at| rig.system.load_own(DWT + at, AccessSize::Word, 0).unwrap());
    write(&mut rig, SCS + 0xdfc, 1 << 24);
    write(&mut rig, DWT + 0x14, 0x55);
    rig.system.set_events(events(100));
    assert_eq!(counts(&rig), [0x55, 0], "not enabled yet");
    // LSUEVTENA.
    write(&mut rig, DWT, 1 << 20);
    assert_eq!(counts(&rig), [0, 0]);
    rig.system.set_events(events(400));
    assert_eq!(counts(&rig), [300 & 0xff, 0]);
    write(&mut rig, DWT + 0x14, 9);
    rig.system.set_events(events(401));
    assert_eq!(counts(&rig), [10, 0]);
    write(&mut rig, DWT, 0);
    rig.system.set_events(events(500));
    assert_eq!(counts(&rig), [10, 0], "it stands still");
}

#[test]
fn comparators_and_the_trace_port_keep_what_is_written() {
    const DWT: u32 = 0xe000_1000;
    const TPIU: u32 = 0xe004_0000;
    let mut rig = rig();
    let mut kept = |at: u32| {
        rig.system.store_own(at, AccessSize::Word, u32::MAX, 0).unwrap();
        rig.system.load_own(at, AccessSize::Word, 0).unwrap()
    };
    assert_eq!([0x20, 0x24, 0x28, 0x38, 0x58].map(|at| kept(DWT + at)), [u32::MAX, 0xf, 0xf_fcaf, 0xf_ff2f, 0xf_fc2f]);
    assert_eq!([0x2c, 0x60].map(|at| kept(DWT + at)), [0, 0], "there are four");
    assert_eq!([0x000, 0x004, 0x010, 0x0f0, 0x304].map(|at| kept(TPIU + at)), [0xf, 0xf, 0x1fff, 3, 0x103]);
    let fresh = rig_reads(&[DWT + 0x38, TPIU + 0x004, TPIU + 0x0f0, TPIU + 0x300, TPIU + 0x304]);
    assert_eq!(fresh, [0x200, 1, 1, 8, 0x102]);
}

/// Values of registers after reset.
fn rig_reads(addresses: &[u32]) -> Vec<u32> {
    let rig = rig();
    addresses.iter().map(|at| rig.system.load_own(*at, AccessSize::Word, 0).unwrap()).collect()
}

#[test]
fn addresses_of_the_private_bus() {
    assert!(is_ppb(0xe000_0000) && is_ppb(0xe000_ed00) && is_ppb(0xe00f_ffff) && is_ppb(0xe000_e020));
    assert!(!is_ppb(0xe000_e010) && !is_ppb(0xe000_e01c) && !is_ppb(0xe010_0000) && !is_ppb(0xdfff_ffff));
    let rig = rig();
    let status = |addr, size| rig.system.load_own(addr, size, 0).map_err(|abort| abort.status);
    assert_eq!(status(0xe000_3000, AccessSize::Word), Err(FaultStatus::External));
    assert_eq!(status(0xe000_ed02, AccessSize::Word), Err(FaultStatus::Alignment));
    assert_eq!(status(0xe00f_f000, AccessSize::Word), Ok(0));
    assert_eq!(status(0xe000_0004, AccessSize::Byte), Ok(1));
}

#[test]
fn a_reset_is_asked_for_with_the_key() {
    let mut rig = rig();
    let mut write = |value| rig.system.store_own(SCS + 0xd0c, AccessSize::Word, value, 0).unwrap();
    assert_eq!([0x05fa_0004, 0x0000_0004, 0x05fa_0300].map(&mut write), [Outcome::Reset, Outcome::Done, Outcome::Done]);
}

#[test]
fn what_traps_changes_what_addresses_mean() {
    let mut rig = rig();
    let write = rig.system.store_own(SCS + 0xd14, AccessSize::Word, 0x208, 0);
    assert_eq!(write, Ok(Outcome::TranslationChanged));
    assert!(crate::cpu::memory_system::Mmu::checks_alignment(&rig.system));
}

#[test]
fn an_event_ends_the_next_wait() {
    let mut rig = rig();
    let op = |code| Op { code, rd: 0, rn: 0, rm: 0, ra: 0, imm: 0 };
    assert_eq!(rig.execute(op(Code::Wfe)), Ok(Effect::Wait));
    rig.execute(op(Code::Sev)).unwrap();
    rig.system.event_register().wake();
    assert_eq!(
        [(); 2].map(|()| rig.execute(op(Code::Wfe))),
        [Ok(Effect::Wait), Ok(Effect::Wait)],
        "it ended the first"
    );
    assert_eq!(rig.execute(op(Code::Wfi)), Ok(Effect::Wait));
    rig.execute(op(Code::Sev)).unwrap();
    assert_eq!([(); 2].map(|()| rig.execute(op(Code::Wfe))), [Ok(Effect::Next), Ok(Effect::Wait)]);
}

/// Conditions that end a sleep in wfe: SEVONPEND, an interrupt's enable and PRIMASK (ARM, B1.5.18); and a sleep in wfi
/// (B1.5.19).
#[test]
fn what_ends_a_sleep() {
    let op = |code| Op { code, rd: 0, rn: 0, rm: 0, ra: 0, imm: 0 };
    let woken = |code: Code, sevonpend: u32, enabled: bool, masked: bool, inputs: &Inputs| {
        let mut rig = rig();
        rig.write(0xd10, sevonpend << 4);
        if enabled {
            rig.enable(3, 0x10);
        }
        if masked {
            rig.set_special(16, 1);
        }
        assert_eq!(rig.execute(op(code)), Ok(Effect::Wait));
        let wakes = SystemSide::wakes(&rig.system, inputs);
        assert!(!SystemSide::wakes(&rig.system, &Inputs::default()));
        rig.system.see(inputs);
        assert_eq!(SystemSide::wakes(&rig.system, inputs), wakes, "{code:?}");
        wakes
    };
    let (raised, mut sent) = (inputs(&[3]), Inputs::default());
    sent.send_event(Ps(1));
    let all = [(false, false), (false, true), (true, false), (true, true)];
    let by = |code, sevonpend, inputs| all.map(|(on, masked)| woken(code, sevonpend, on, masked, inputs));
    assert_eq!(by(Code::Wfe, 0, &raised), [false, false, true, false]);
    assert_eq!(by(Code::Wfe, 1, &raised), [true; 4]);
    assert_eq!(by(Code::Wfi, 0, &raised), [false, false, true, true]);
    assert_eq!(by(Code::Wfi, 1, &raised), [false, false, true, true]);
    assert_eq!((by(Code::Wfe, 0, &sent), by(Code::Wfi, 0, &sent)), ([true; 4], [false; 4]));
}

#[test]
fn sleeping_on_exit_is_for_thread_mode() {
    let mut rig = rig();
    rig.write(0xd10, 2);
    rig.write(0xd04, 1 << 28);
    rig.take();
    assert!(!rig.system.sleeps_on_exit());
    rig.leave();
    assert!(rig.system.sleeps_on_exit());
}

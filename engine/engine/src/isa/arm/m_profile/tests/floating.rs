//! Floating-point state over exceptions: ARM, B1.5.7.

use super::*;

const FPCCR: u32 = 0xf34;
const LSPACT: u32 = 1;
const EXTENDED: u32 = 0x68;

/// With the unit enabled, and its registers in use.
fn in_use(fpccr: u32) -> Rig {
    let mut rig = rig();
    assert!(!rig.system.floating_is_allowed());
    rig.write(0xd88, 0xf << 20);
    rig.write(FPCCR, fpccr);
    assert!(rig.system.floating_is_allowed() && !rig.system.vfp_is_ready());
    rig.system.begin_floating();
    assert!(rig.system.vfp_is_ready());
    assert_eq!(rig.special(20), 4);
    rig.s = std::array::from_fn(|at| 0x3f80_0000 + at as u32);
    rig.system.set_fpscr(0x2000_0000);
    rig.write(0xd04, 1 << 28);
    rig
}

#[test]
fn a_frame_has_room_that_a_handler_without_them_leaves() {
    let mut rig = in_use(3 << 30);
    rig.take();
    assert_eq!((rig.sp(), rig.lr()), (STACK - EXTENDED, 0xffff_ffe9));
    assert_eq!((rig.read(0xf38), rig.read(FPCCR) & 0xb), (STACK - EXTENDED + 0x20, LSPACT | 8));
    assert!(!rig.system.vfp_is_ready() && rig.special(20) == 0);
    assert!(!rig.memory.contains_key(&(STACK - EXTENDED + 0x20)));
    assert_eq!(rig.leave(), None);
    assert_eq!((rig.sp(), rig.special(20), rig.read(FPCCR) & LSPACT), (STACK, 4, 0));
    assert!(rig.system.vfp_is_ready() && rig.s[1] == 0x3f80_0001);
}

#[test]
fn a_handler_that_needs_them_stores_them_first() {
    let mut rig = in_use(3 << 30);
    rig.take();
    let address = rig.system.lazy_address().unwrap();
    assert_eq!((address, rig.system.lazy_is_privileged()), (STACK - EXTENDED + 0x20, true));
    rig.store_floating(address);
    rig.system.floating_is_saved();
    rig.system.begin_floating();
    assert!(rig.system.vfp_is_ready() && rig.system.lazy_address().is_none());
    assert_eq!(rig.system.fpscr(), 0x2000_0000, "FPDSCR's part alone is set anew");
    rig.s = [0; 16];
    rig.system.set_fpscr(0);
    assert_eq!(rig.leave(), None);
    assert_eq!((rig.s[15], rig.system.fpscr()), (0x3f80_000f, 0x2000_0000));
}

#[test]
fn a_nested_frame_is_lazy_only_once() {
    let mut rig = in_use(3 << 30);
    rig.write(0xd20, 0x0080_0000);
    rig.enable(0, 0);
    rig.take();
    rig.lines(&[0]);
    rig.take();
    rig.lines(&[]);
    assert_eq!((rig.sp(), rig.lr()), (STACK - EXTENDED - 0x20, exc_return::HANDLER));
    assert_eq!(rig.system.lazy_address(), Some(STACK - EXTENDED + 0x20));
    assert_eq!([rig.leave(), rig.leave()], [None, None]);
    assert!(rig.system.vfp_is_ready());
}

#[test]
fn without_laziness_they_are_stored_at_once() {
    let mut rig = in_use(1 << 31);
    rig.take();
    assert_eq!(rig.memory[&(STACK - EXTENDED + 0x20 + 64)], 0x2000_0000);
    assert_eq!(rig.system.lazy_address(), None);
    rig.s = [0; 16];
    assert_eq!(rig.leave(), None);
    assert_eq!(rig.s[2], 0x3f80_0002);
}

#[test]
fn without_automatic_preservation_frames_are_short() {
    let mut rig = rig();
    rig.write(0xd88, 0xf << 20);
    rig.write(FPCCR, 0);
    assert!(rig.system.vfp_is_ready());
    rig.system.begin_floating();
    assert_eq!(rig.special(20), 0);
    rig.write(0xd04, 1 << 28);
    rig.take();
    assert_eq!(rig.sp(), STACK - 0x20);
}

#[test]
fn a_new_context_begins_with_fpdscr() {
    let mut rig = rig();
    rig.write(0xd88, 0xf << 20);
    rig.write(0xf3c, u32::MAX);
    assert_eq!(rig.read(0xf3c), 0x07c0_0000);
    rig.system.begin_floating();
    assert_eq!(rig.system.fpscr(), 0x07c0_0000);
}

#[test]
fn cpacr_can_keep_user_code_away() {
    let mut rig = rig();
    rig.write(0xd88, 0x5 << 20);
    rig.system.begin_floating();
    assert!(rig.system.vfp_is_ready());
    rig.set_special(20, 5);
    assert!(!rig.system.vfp_is_ready() && !rig.system.floating_is_allowed());
    let read = Op { code: Code::Vmrs, rd: 0, rn: 0, rm: 0, ra: 0, imm: 1 };
    assert_eq!(rig.execute(read), Err(Exception::Undefined(0xeef1_0a10)));
}

//! System instructions from a program's view.

use super::super::in_block::InBlock;
use super::super::op::{Code, Features, Op};
use super::super::registers::{C, N_SOURCE, Q, SINK, V, Z_SOURCE};
use super::registers::Number;
use super::*;
use crate::cpu::memory_system::Mmu as _;
use crate::inputs::Inputs;
use crate::isa::arm::architecture::SystemSide;
use crate::time::Ps;

const EVENTS: Events =
    Events { instructions: 0, icache_refills: 0, dcache_refills: 0, dcache_write_backs: 0, exceptions: 0 };
pub(super) const NOW: Now = Now { cycles: 0, events: &EVENTS, pending: 0 };
const FEATURES: Features = Features {
    divide: false,
    vfp: true,
    vfp_d32: true,
    m_profile: false,
    traps_division: false,
    ends_division_early: false,
};

/// A core after reset, with all registers 0 and no flag set.
pub(super) fn system() -> (System, X) {
    let mut x = [0; COUNT];
    x[Z_SOURCE as usize] = 1;
    (System::new(SystemConfig::cortex_a5(FEATURES, None, None)), x)
}

fn op(code: Code, rd: u8, imm: u32) -> Op {
    Op { code, rd, rn: 16, rm: 16, ra: 17, imm }
}

fn coprocessor(code: Code, coproc: u32, (crn, opc1, crm, opc2): Number) -> Op {
    op(code, 3, coproc | opc1 << 4 | crn << 8 | crm << 12 | opc2 << 16)
}

/// Reads a register of coprocessor 15 with mrc.
pub(super) fn cp15(system: &mut System, x: &mut X, number: Number) -> Option<u32> {
    system.execute(x, &coprocessor(Code::Mrc, 15, number), &NOW).ok()?;
    Some(x[3])
}

/// Writes a register of coprocessor 15 with mcr.
pub(super) fn set_cp15(system: &mut System, x: &mut X, number: Number, value: u32) -> Option<Effect> {
    x[3] = value;
    system.execute(x, &coprocessor(Code::Mcr, 15, number), &NOW).ok()
}

fn to_user(system: &mut System, x: &mut X) {
    system.write_cpsr(x, 0x10, 1);
}

#[test]
fn mrs_shows_and_msr_writes_status_registers() {
    let (mut system, mut x) = system();
    system.state.thumb = true;
    system.state.it = 0x12;
    assert_eq!(system.execute(&mut x, &op(Code::Mrs, 2, 0), &NOW), Ok(Effect::Next));
    assert_eq!(x[2], 0x1d3);
    x[1] = 0xf800_0092;
    let msr = |imm, ra| Op { rm: 1, ra, ..op(Code::Msr, 0, imm) };
    system.execute(&mut x, &msr(0x100, 9), &NOW).unwrap();
    system.execute(&mut x, &op(Code::Mrs, 2, 1), &NOW).unwrap();
    assert_eq!(x[2], 0xf800_0092);
    system.execute(&mut x, &msr(0, 9), &NOW).unwrap();
    assert_eq!((system.mode(), x[C as usize], x[V as usize], x[Q as usize]), (Mode::Irq, 1, 1, 1));
}

#[test]
fn cps_does_nothing_in_user_mode() {
    let (mut system, mut x) = system();
    system.execute(&mut x, &op(Code::Cps, 0, 1 << 10 | 1 << 7), &NOW).unwrap();
    assert_eq!(system.deliverable(1), Some(Exception::Irq));
    to_user(&mut system, &mut x);
    system.execute(&mut x, &op(Code::Cps, 0, 1 << 9 | 1 << 7 | 1 << 5 | 0x13), &NOW).unwrap();
    assert_eq!((system.mode(), system.deliverable(1)), (Mode::User, Some(Exception::Irq)));
}

#[test]
fn calls_are_exceptions_or_semihosting() {
    let (mut system, mut x) = system();
    let mut svc = |thumb, number| {
        system.state.thumb = thumb;
        system.execute(&mut x, &op(Code::Svc, 0, number), &NOW)
    };
    assert_eq!(svc(false, 0x12_3456), Ok(Effect::Semihosting));
    assert_eq!(svc(true, 0xab), Ok(Effect::Semihosting));
    assert_eq!(svc(false, 0xab), Err(Exception::Svc(0xab)));
    assert_eq!(svc(true, 0), Err(Exception::Svc(0)));
    assert_eq!(system.execute(&mut x, &op(Code::Bkpt, 0, 5), &NOW), Err(Exception::Bkpt(5)));
    assert_eq!(system.execute(&mut x, &op(Code::Smc, 0, 0), &NOW), Ok(Effect::FirmwareCall));
    assert_eq!(system.execute(&mut x, &op(Code::Smc, 0, 3), &NOW), Err(Exception::Undefined(0xe160_0073)));
    assert_eq!(system.execute(&mut x, &op(Code::Setend, 0, 1), &NOW), Err(Exception::Undefined(0xf101_0200)));
}

#[test]
fn an_exception_and_its_return_leave_all_as_it_was() {
    let (mut system, mut x) = system();
    system.restore_cpsr(&mut x, 0x8000_0030);
    x[13] = 0x500;
    assert_eq!(system.enter(&mut x, Exception::Irq, 0x2002), 0x18);
    x[13] = 0x900;
    x[4] = x[14] - 4;
    let back = Op { rm: 4, ..op(Code::ExceptionReturn, 0, 0) };
    assert_eq!(system.execute(&mut x, &back, &NOW), Ok(Effect::JumpTo(0x2002)));
    assert_eq!((system.cpsr(&x), x[13]), (0x8000_0030, 0x500));
    // In User mode, which has no SPSR, it is a jump.
    assert_eq!(system.execute(&mut x, &back, &NOW), Ok(Effect::JumpTo(0x2002)));
}

#[test]
fn identification_is_that_of_a_cortex_a5() {
    let (mut system, mut x) = system();
    assert_eq!(cp15(&mut system, &mut x, (0, 0, 0, 0)), Some(0x410f_c051));
    assert_eq!(cp15(&mut system, &mut x, (0, 0, 0, 5)), Some(0xc000_0000));
    assert_eq!(cp15(&mut system, &mut x, (0, 0, 1, 4)), Some(0x0010_0103));
    assert_eq!(cp15(&mut system, &mut x, (9, 0, 12, 0)), Some(0x4105_1000));
    assert_eq!(set_cp15(&mut system, &mut x, (0, 2, 0, 0), 1), Some(Effect::Next));
    assert_eq!(cp15(&mut system, &mut x, (0, 2, 0, 0)), Some(1));
    assert_eq!(set_cp15(&mut system, &mut x, (0, 0, 0, 0), 1), None);
}

#[test]
fn sctlr_keeps_what_exists_and_reports_when_translation_changes() {
    let (mut system, mut x) = system();
    let sctlr = (1, 0, 0, 0);
    assert_eq!(cp15(&mut system, &mut x, sctlr), Some(0x00c5_0078));
    assert_eq!(set_cp15(&mut system, &mut x, sctlr, u32::MAX), Some(Effect::TranslationChanged));
    assert_eq!(cp15(&mut system, &mut x, sctlr), Some(0x70c5_3c7f));
    assert_eq!(set_cp15(&mut system, &mut x, sctlr, u32::MAX), Some(Effect::Next));
    assert!(system.checks_alignment() && system.icache_is_on() && system.dcache_is_on() && system.mmu_is_on());
    assert!(system.predicts_branches() && system.has_swap());
    for number in [(2, 0, 0, 0), (2, 0, 0, 1), (3, 0, 0, 0), (13, 0, 0, 1), (10, 0, 2, 1)] {
        let effect = if number.0 == 3 { Effect::DomainsChanged } else { Effect::MappingChanged };
        assert_eq!(set_cp15(&mut system, &mut x, number, 0x1234_5678), Some(effect));
        assert_eq!(cp15(&mut system, &mut x, number), Some(0x1234_5678));
    }
    assert_eq!(set_cp15(&mut system, &mut x, (12, 0, 0, 0), 0x123), Some(Effect::Next));
    assert_eq!(cp15(&mut system, &mut x, (12, 0, 0, 0)), Some(0x120));
}

#[test]
fn user_mode_reaches_few_registers() {
    let (mut system, mut x) = system();
    for n in 2..=4 {
        set_cp15(&mut system, &mut x, (13, 0, 0, n), 10 * n);
    }
    to_user(&mut system, &mut x);
    assert_eq!(set_cp15(&mut system, &mut x, (13, 0, 0, 2), 21), Some(Effect::Next));
    let read = [2, 3, 4].map(|n| cp15(&mut system, &mut x, (13, 0, 0, n)));
    assert_eq!(read, [Some(21), Some(30), None]);
    assert_eq!(set_cp15(&mut system, &mut x, (13, 0, 0, 3), 1), None);
    assert_eq!(cp15(&mut system, &mut x, (1, 0, 0, 0)), None);
    assert_eq!(cp15(&mut system, &mut x, (9, 0, 13, 0)), None);
    let barrier = Effect::Maintain(Maintenance::Barrier(Barrier::DataMemory));
    assert_eq!(set_cp15(&mut system, &mut x, (7, 0, 10, 5), 0), Some(barrier));
    assert_eq!(set_cp15(&mut system, &mut x, (7, 0, 5, 0), 0), None);
    // With PMUSERENR.EN the counters, too.
    system.enter(&mut x, Exception::Svc(0), 0);
    set_cp15(&mut system, &mut x, (9, 0, 14, 0), 1);
    to_user(&mut system, &mut x);
    assert_eq!(cp15(&mut system, &mut x, (9, 0, 13, 0)), Some(0));
    assert_eq!(set_cp15(&mut system, &mut x, (9, 0, 14, 1), 1), None);
}

#[test]
fn what_is_not_there_is_undefined_with_its_encoding() {
    let (mut system, mut x) = system();
    let mrc = coprocessor(Code::Mrc, 15, (11, 1, 2, 3));
    assert_eq!(system.execute(&mut x, &mrc, &NOW), Err(Exception::Undefined(0xee3b_3f72)));
    let mcr = coprocessor(Code::Mcr, 14, (0, 0, 0, 0));
    assert_eq!(system.execute(&mut x, &mcr, &NOW), Err(Exception::Undefined(0xee00_3e10)));
    let mrrc = Op { ra: 4, ..coprocessor(Code::Mrrc, 15, (0, 1, 14, 0)) };
    assert_eq!(system.execute(&mut x, &mrrc, &NOW), Err(Exception::Undefined(0xec54_3f1e)));
}

#[test]
fn pending_interrupts_are_seen_in_isr() {
    let (mut system, mut x) = system();
    let isr = coprocessor(Code::Mrc, 15, (12, 0, 1, 0));
    system.execute(&mut x, &isr, &Now { pending: 3, ..NOW }).unwrap();
    assert_eq!(x[3], 0xc0);
}

#[test]
fn wfe_waits_for_what_can_come() {
    let (mut system, mut x) = system();
    let mut run = |code| system.execute(&mut x, &op(code, 0, 0), &NOW);
    assert_eq!(run(Code::Wfi), Ok(Effect::Wait));
    assert_eq!(run(Code::Wfe), Ok(Effect::Wait));
    let irq = |events| {
        let mut inputs = Inputs::default();
        inputs.set(0, true, Ps(1));
        (0..events).for_each(|_| inputs.send_event(Ps(1)));
        inputs
    };
    let wakes = |system: &System, inputs| SystemSide::wakes(system, &inputs);
    assert_eq!([0, 1].map(|events| wakes(&system, irq(events))), [false, true], "all interrupts are masked");
    system.write_cpsr(&mut x, 0x13, 1);
    assert!(wakes(&system, irq(0)));
    system.event_register().wake();
    let mut run = |code| system.execute(&mut x, &op(code, 0, 0), &NOW);
    assert_eq!(run(Code::Sev), Ok(Effect::SendEvent));
    assert_eq!((run(Code::Wfe), run(Code::Wfe)), (Ok(Effect::Next), Ok(Effect::Wait)));
    // The generic timer's events are not modelled in time: a wfe may end at any.
    system.registers.cntkctl = 1 << 2;
    assert_eq!(system.execute(&mut x, &op(Code::Wfe, 0, 0), &NOW), Ok(Effect::Next));
}

#[test]
fn vfp_is_switched_on_with_cpacr_and_fpexc() {
    let (mut system, mut x) = system();
    x[0] = 1 << 30;
    assert_eq!(
        system.execute(&mut x, &op(Code::Vmsr, 0, 8), &NOW),
        Err(Exception::Undefined(0xeee8_0a10)),
        "CPACR denies it"
    );
    set_cp15(&mut system, &mut x, (1, 0, 0, 2), 0xf << 20);
    assert!(!system.vfp_is_ready());
    assert!(system.execute(&mut x, &op(Code::Vmrs, 2, 1), &NOW).is_err());
    system.execute(&mut x, &op(Code::Vmsr, 0, 8), &NOW).unwrap();
    assert!(system.vfp_is_ready());
    x[0] = 0x6000_0000 | 3 << 22 | 0x9f9f;
    system.execute(&mut x, &op(Code::Vmsr, 0, 1), &NOW).unwrap();
    assert_eq!(system.fpscr(), 0x60c0_009f);
    // vmrs APSR_nzcv.
    system.execute(&mut x, &op(Code::Vmrs, 15, 1), &NOW).unwrap();
    assert_eq!((x[N_SOURCE as usize], x[Z_SOURCE as usize], x[C as usize]), (0, 0, 1));
    system.execute(&mut x, &op(Code::Vmrs, 2, 7), &NOW).unwrap();
    assert_eq!(x[2], 0x1011_0222);
    to_user(&mut system, &mut x);
    assert!(system.vfp_is_ready());
    assert!(system.execute(&mut x, &op(Code::Vmrs, 2, 8), &NOW).is_err());
}

#[test]
fn a_store_is_done_once_after_its_load() {
    let (mut system, _) = system();
    assert!(!system.claim(0x100, 4));
    system.reserve(0x100, 4);
    assert!(system.claim(0x100, 4) && !system.claim(0x100, 4));
    system.reserve(0x100, 4);
    assert!(!system.claim(0x104, 4) && !system.claim(0x100, 4));
    system.reserve(0x100, 8);
    assert!(!system.claim(0x100, 4));
    system.reserve(0x100, 1);
    system.clear_reservation();
    assert!(!system.claim(0x100, 1));
}

fn in_block(rd: u8, what: InBlock) -> Op {
    op(Code::InBlock, rd, what.imm())
}

#[test]
fn masks_are_set_in_privileged_modes_only() {
    let (mut system, mut x) = system();
    system.write_cpsr(&mut x, 0x13, 1);
    system.execute_in_block(&mut x, &in_block(SINK, InBlock::Mask(0x80))).unwrap();
    system.execute_in_block(&mut x, &in_block(3, InBlock::Status)).unwrap();
    assert_eq!(x[3] & 0xdf, 0x93);
    system.write_cpsr(&mut x, 0x10, 1);
    system.execute_in_block(&mut x, &in_block(SINK, InBlock::Mask(0x1c0))).unwrap();
    system.execute_in_block(&mut x, &in_block(3, InBlock::Status)).unwrap();
    assert_eq!(x[3] & 0xdf, 0x10);
}

#[test]
fn user_mode_reads_no_thread_id_of_privileged_modes() {
    let (mut system, mut x) = system();
    for opc2 in 2..=4 {
        assert!(set_cp15(&mut system, &mut x, (13, 0, 0, opc2), 10 + opc2).is_some());
    }
    let mut read = |system: &mut System, opc2| {
        system.execute_in_block(&mut x, &in_block(5, InBlock::ThreadId(opc2))).map(|()| x[5])
    };
    assert_eq!([2, 3, 4].map(|opc2| read(&mut system, opc2)), [Ok(12), Ok(13), Ok(14)]);
    to_user(&mut system, &mut [0; COUNT]);
    // mrc p15, 0, r5, c13, c0, 4
    let undefined = Err(Exception::Undefined(0xee1d_5f90));
    assert_eq!([2, 3, 4].map(|opc2| read(&mut system, opc2)), [Ok(12), Ok(13), undefined]);
}

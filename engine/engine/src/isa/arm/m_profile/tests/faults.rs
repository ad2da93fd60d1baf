//! Faults: records, escalation, lockup, invalid returns.

use super::*;

const CFSR: u32 = 0xd28;
const HFSR: u32 = 0xd2c;
const SHCSR: u32 = 0xd24;
const FORCED: u32 = 1 << 30;

#[test]
fn a_fault_whose_handler_is_disabled_becomes_a_hard_fault() {
    let mut rig = rig();
    assert_eq!(rig.raise(bus_error(0x6000_0000)), Ok(number::HARD_FAULT));
    assert_eq!((rig.read(CFSR), rig.read(HFSR), rig.read(0xd38)), (0x8200, FORCED, 0x6000_0000));
    assert_eq!(rig.memory[&(STACK - 8)], CODE, "it returns to the instruction");
    assert_eq!(rig.raise(bus_error(0)), Err(Lockup));
    // Status bits are cleared by ones.
    rig.write(CFSR, 0x200);
    rig.write(HFSR, FORCED);
    assert_eq!((rig.read(CFSR), rig.read(HFSR)), (0x8000, 0));
}

#[test]
fn an_enabled_handler_gets_its_fault_unless_something_more_urgent_runs() {
    let mut rig = rig();
    rig.write(SHCSR, 7 << 16);
    assert_eq!(rig.raise(bus_error(4)), Ok(number::BUS_FAULT));
    assert_eq!((rig.read(HFSR), rig.read(SHCSR)), (0, 7 << 16 | 1 << 1));
    assert_eq!(rig.raise(Exception::Undefined(0xde00)), Ok(number::HARD_FAULT), "of the same priority");
    assert_eq!((rig.read(HFSR), rig.read(CFSR)), (FORCED, 0x1_8200));
    assert_eq!(rig.lr(), exc_return::HANDLER);
    assert_eq!([rig.leave(), rig.leave()], [None, None]);
}

#[test]
fn each_cause_has_its_bit() {
    let abort = |status| Abort { va: 0x22, status, write: true, domain: 0, bus: None };
    for (exception, fault, cfsr) in [
        (Exception::Undefined(0xe800_0000), number::USAGE_FAULT, 1 << 16),
        (Exception::InvalidState, number::USAGE_FAULT, 1 << 17),
        (Exception::InvalidReturn(0xffff_fff9), number::USAGE_FAULT, 1 << 18),
        // mrc p15; vadd.f32 with the unit off.
        (Exception::Undefined(0xee11_0f10), number::USAGE_FAULT, 1 << 19),
        (Exception::Undefined(0xee30_0a00), number::USAGE_FAULT, 1 << 19),
        (Exception::DivideByZero, number::USAGE_FAULT, 1 << 25),
        (Exception::DataAbort(abort(FaultStatus::Alignment)), number::USAGE_FAULT, 1 << 24),
        (Exception::DataAbort(abort(FaultStatus::Permission)), number::MEM_MANAGE, 0x82),
        (Exception::PrefetchAbort(abort(FaultStatus::ExecuteNever)), number::MEM_MANAGE, 0x01),
        (Exception::PrefetchAbort(abort(FaultStatus::External)), number::BUS_FAULT, 0x100),
        (Exception::DataAbort(abort(FaultStatus::Unprivileged)), number::BUS_FAULT, 0x8200),
    ] {
        let mut rig = rig();
        rig.write(SHCSR, 7 << 16);
        assert_eq!(rig.raise(exception), Ok(fault), "{exception:?}");
        assert_eq!(rig.read(CFSR), cfsr, "{exception:?}");
    }
    // With the unit enabled, an encoding of double precision is undefined.
    let mut rig = rig();
    rig.write(0xd88, 0xf << 20);
    assert_eq!(rig.raise(Exception::Undefined(0xee30_0b00)), Ok(number::HARD_FAULT));
    assert_eq!(rig.read(CFSR), 1 << 16);
}

#[test]
fn there_is_one_fault_address() {
    let mut rig = rig();
    let refused = |va, status| Exception::DataAbort(Abort { va, status, write: false, domain: 0, bus: None });
    rig.system.raise(refused(0x44, FaultStatus::Permission), CODE).unwrap();
    assert_eq!([CFSR, 0xd34, 0xd38].map(|at| rig.read(at)), [0x82, 0x44, 0x44]);
    rig.system.raise(refused(0x88, FaultStatus::External), CODE).unwrap();
    assert_eq!([CFSR, 0xd34, 0xd38].map(|at| rig.read(at)), [0x8202, 0x88, 0x88]);
}

#[test]
fn breakpoints_go_to_the_monitor_if_it_is_on() {
    let mut rig = rig();
    rig.write(0xdfc, 1 << 16);
    assert_eq!(rig.raise(Exception::Bkpt(1)), Ok(number::DEBUG_MONITOR));
    assert_eq!(rig.read(0xd30), 2);
    rig.leave();
    rig.write(0xdfc, 0);
    assert_eq!(rig.raise(Exception::Bkpt(1)), Ok(number::HARD_FAULT));
    assert_eq!(rig.read(HFSR), 1 << 31);
    let call = Op { code: Code::Bkpt, rd: 0, rn: 0, rm: 0, ra: 0, imm: 0xab };
    assert_eq!(rig.execute(call), Ok(Effect::Semihosting));
}

#[test]
fn a_call_that_can_not_be_taken_is_a_hard_fault() {
    let mut rig = rig();
    rig.cps(1 << 9 | 1 << 7);
    assert_eq!(rig.raise(Exception::Svc(0)), Ok(number::HARD_FAULT));
    assert_eq!(rig.read(HFSR), FORCED);
}

#[test]
fn a_frame_that_can_not_be_stored_is_a_fault_of_its_own() {
    let mut rig = rig();
    rig.enable(0, 0x20);
    rig.lines(&[0]);
    let abort = Abort { va: 0, status: FaultStatus::External, write: true, domain: 0, bus: None };
    let fault = |rig: &mut Rig| rig.system.stacking_failed(abort, During::Stacking).unwrap();
    assert_eq!(rig.take_after(fault), number::HARD_FAULT);
    assert_eq!(rig.read(CFSR), 1 << 12);
    rig.lines(&[]);
    assert_eq!(rig.leave(), Some(16), "the interrupt is still pending");
}

#[test]
fn a_vector_that_can_not_be_read_is_a_hard_fault() {
    let mut rig = rig();
    rig.enable(0, 0);
    rig.lines(&[0]);
    rig.take();
    rig.lines(&[]);
    rig.system.vector_failed(16).unwrap();
    let link = rig.lr();
    assert_eq!((rig.activate(link), rig.read(HFSR)), (number::HARD_FAULT, 2));
    assert_eq!(rig.system.vector_failed(number::HARD_FAULT), Err(Lockup));
}

#[test]
fn returns_that_fit_nothing_are_faults() {
    let handled = || {
        let mut rig = rig();
        rig.write(0xd04, 1 << 28);
        rig.take();
        rig
    };
    // Not an EXC_RETURN value.
    let mut rig = handled();
    rig.x[14] = 0xffff_fff0;
    assert_eq!(rig.leave(), Some(number::HARD_FAULT));
    assert_eq!((rig.read(CFSR), rig.lr(), rig.sp()), (1 << 18, 0xffff_fff0, STACK - 0x20));
    // To Handler mode by a frame of Thread mode, and the other way round.
    let mut rig = handled();
    rig.x[14] = exc_return::HANDLER;
    assert_eq!((rig.leave(), rig.sp()), (Some(number::HARD_FAULT), STACK - 0x20));
    let mut rig = handled();
    rig.memory.insert(STACK - 4, 0x0100_0010);
    assert_eq!(rig.leave(), Some(number::HARD_FAULT));
    // To Thread mode from a nested handler, unless CCR.NONBASETHRDENA allows it.
    for (ccr, result) in [(0x200, Some(number::HARD_FAULT)), (0x201, None)] {
        let mut rig = handled();
        rig.write(0xd14, ccr);
        rig.write(0xd20, 0x0080_0000);
        rig.enable(0, 0);
        rig.lines(&[0]);
        rig.take();
        rig.lines(&[]);
        rig.x[14] = exc_return::THREAD_MAIN;
        rig.memory.insert(rig.sp() + 28, 0x0100_0000);
        assert_eq!(rig.leave(), result);
    }
    // For an exception that is no longer active.
    let mut rig = handled();
    rig.write(SHCSR, 0);
    assert_eq!(rig.leave(), Some(number::HARD_FAULT));
}

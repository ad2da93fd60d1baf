//! Polling loops of a MIPS core that is as fast as its bus or a few times faster, with instructions that only its
//! instruction set has.

use crate::RunReport;
use crate::whole::conformance;
use crate::whole::support::mips::*;
use engine::cpu::memory_system::MemoryConfig;
use engine::isa::mips::config::CoreConfig;
use engine::tiers::sized;
use engine::time::Hz;
use proptest::prelude::*;

const SYNC: u32 = 0x0000_000f;

/// The core at `mhz` MHz; its bus, the memories and the device are at 100.
fn core_at(mhz: u64) -> CoreConfig {
    let clock = Hz::new(mhz * 1_000_000).unwrap();
    let config = config();
    CoreConfig { clock, memory: MemoryConfig { clock, ..config.memory }, ..config }
}

/// Runs a program with and without skipping. Returns the common report, and the cycles that were skipped.
fn with_and_without_skipping(mhz: u64, at: u32, program: &[u32]) -> (RunReport, u64) {
    conformance::with_and_without_skipping(|| machine_with(core_at(mhz), at, program))
}

/// Waits for an event that comes after `cycles` of the bus. An iteration has `body`, and `slot` in the branch's delay
/// slot.
fn wait_for_event(cycles: u32, body: &[u32], slot: u32) -> Vec<u32> {
    let mut program = vec![NORMAL, la(S0, KSEG1 + DEVICE), la(S1, KSEG0 + DDR), ori(S1, S1, 0x8000)];
    program.extend([lui(T0, cycles >> 16), ori(T0, T0, cycles & 0xffff), sw(T0, S0, 4)]);
    program.push(lw(A0, S0, 0));
    program.extend(body);
    program.extend([beq(A0, ZERO, -(body.len() as i32 + 2)), slot]);
    then_exit(&program)
}

#[test]
fn a_wait_for_an_event_is_skipped() {
    for (mhz, at) in [(100, PROGRAM), (100, KSEG0 + DDR), (300, PROGRAM), (300, KSEG0 + DDR)] {
        let (report, skipped) = with_and_without_skipping(mhz, at, &wait_for_event(100_000, &[], NOP));
        assert!(skipped > 95 * report.cores[0].cycles.0 / 100, "{mhz} MHz at {at:#x}: {skipped}");
        assert!(report.counters.iter().any(|(name, reads)| name == "late.reads" && *reads > 5000));
    }
}

#[test]
fn a_clock_that_the_bus_does_not_divide_is_run() {
    let (_, skipped) = with_and_without_skipping(250, PROGRAM, &wait_for_event(50_000, &[], NOP));
    assert_eq!(skipped, 0);
}

#[test]
fn a_loop_that_links_a_load_is_run() {
    let (_, skipped) = with_and_without_skipping(100, PROGRAM, &wait_for_event(50_000, &[ll(T2, S1, 0)], NOP));
    assert_eq!(skipped, 0);
}

#[test]
fn a_look_at_random_is_no_iteration() {
    // This one finds the same entry each time, as its 32 instructions are as many as there are entries; others would
    // not.
    let mut body = vec![mfc0(T1, 1)];
    body.resize(32 - 3, NOP);
    let (_, skipped) = with_and_without_skipping(100, PROGRAM, &wait_for_event(50_000, &body, NOP));
    assert_eq!(skipped, 0);
}

/// An interrupt counts up a word of DDR at a fixed interval; the program polls the device and that word, until it is 5.
#[test]
fn interrupts_are_taken_at_the_same_instruction() {
    for (mhz, cycles) in [(100, 977), (300, 10_001), (100, 12_345)] {
        let mut program = vec![NORMAL, la(S0, KSEG1 + DEVICE), la(S1, KSEG0 + DDR), addiu(T0, ZERO, cycles)];
        program.extend([addiu(T2, ZERO, 5), ori(T1, ZERO, ENABLED), mtc0(T1, STATUS), sw(T0, S0, 4)]);
        program.extend([lw(A0, S0, 20), lw(A0, S1, 0), bne(A0, T2, -3), NOP]);
        let program = then_exit(&program);
        let (_, skipped) = conformance::with_and_without_skipping(|| {
            let mut machine = machine_with(core_at(mhz), PROGRAM, &program);
            let handler = [sw(ZERO, S0, 8), lw(K0, S1, 0), addiu(K0, K0, 1), sw(K0, S1, 0), sw(T0, S0, 4), ERET];
            put(&mut machine, GENERAL_VECTOR, &handler);
            machine
        });
        assert!(cycles < 1000 || skipped > 3 * cycles as u64, "{mhz} MHz: {skipped}");
    }
}

/// Instructions that an iteration may have: results that come late, memory of all kinds, branches and coprocessor 0.
fn body() -> impl Strategy<Value = Vec<u32>> {
    let one = prop::sample::select(vec![
        vec![NOP],
        vec![mul(T1, S1, S1), addu(T1, T1, T1)],
        vec![multu(S0, S1)],
        vec![divu(S1, S0), mflo(T2)],
        vec![lw(T1, S1, 4), addu(T2, T1, T1)],
        vec![sw(S1, S1, 8), lbu(T2, S1, 9)],
        vec![swl(S0, S1, 13), swr(S0, S1, 14), lwl(T2, S1, 13), lwr(T2, S1, 14)],
        vec![la(T3, KSEG1 + SLOW), sw(S0, T3, 0), lw(T1, T3, 0)],
        vec![mfc0(T1, STATUS), mtc0(T1, STATUS)],
        vec![SYNC],
        vec![ll(T2, S1, 0)],
        vec![beql(ZERO, A0, 1), NOP],
        vec![bne(A0, ZERO, 1), mul(T1, S0, S0)],
        vec![sw(A0, S0, 8), lw(T2, S0, 0)],
        vec![lw(T1, S1, 0x200), lw(T1, S1, 0x400)],
    ]);
    prop::collection::vec(one, 0..8).prop_map(|parts| parts.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(sized(40, 256)))]

    #[test]
    fn skipping_changes_nothing(
        cycles in 0_u32..60_000,
        body in body(),
        slot in 0_usize..3,
        at in 0_usize..3,
        mhz in prop::sample::select(vec![100, 200, 300, 250]),
    ) {
        let slot = [NOP, lw(T1, S1, 0), mul(T2, S1, S0)][slot];
        let at = [PROGRAM, KSEG0 + DDR, KSEG1 + SLOW + 0x1000][at];
        with_and_without_skipping(mhz, at, &wait_for_event(cycles, &body, slot));
    }
}

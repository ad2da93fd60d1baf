//! The Cortex-M4 in a small machine: the cycles of exceptions in memory without wait states, and the effects of faults.

use crate::Outcome;
use crate::whole::support::arm_m::*;
use engine::core::Core;
use engine::isa::arm::instruction_set::CortexM;
use engine::time::Ps;

/// NVIC_ISER0, and the offsets of ISPR0 and IPR0 from it.
const ISER: u32 = 0xe000_e100;
const ISPR: u16 = 0x100;
const IPR: u32 = 0xe000_e400;
const CPACR: u32 = 0xe000_ed88;
const FPCCR: u32 = 0xe000_ef34;
const DEMCR: u32 = 0xe000_edfc;
const DWT_CTRL: u32 = 0xe000_1000;

/// r7 becomes the address of CYCCNT, which counts; r6 that of the interrupts' registers (pend at [r6 + 0x100] by
/// [`pend`]); interrupts 0, 1 and 5 are enabled, with the priorities 0x80, 0x80 and 0.
fn begin() -> Code {
    code![
        load_constant(0, DEMCR),
        load_constant(1, 1 << 24),
        str(1, 0, 0),
        load_constant(0, DWT_CTRL),
        movs(1, 1),
        str(1, 0, 0),
        load_constant(0, IPR),
        load_constant(1, 0x8080),
        str(1, 0, 0),
        load_constant(6, ISER),
        movs(1, 0x23),
        str(1, 6, 0),
        load_constant(6, ISER + u32::from(ISPR)),
        load_constant(7, DWT_CTRL),
    ]
}

/// Reads CYCCNT.
fn stamp(rd: u16) -> u16 {
    ldr(rd, 7, 4)
}

/// Makes the interrupts in r`rt` pending.
fn pend(rt: u16) -> u16 {
    str(rt, 6, 0)
}

fn register(registers: &[u32], number: usize) -> u32 {
    registers[1 + number]
}

/// Cycles from one stamp to the other.
fn between(registers: &[u32], from: usize, to: usize) -> u32 {
    register(registers, to).wrapping_sub(register(registers, from))
}

// ---- Times

#[test]
fn a_run_begins_where_the_vector_table_says() {
    let (report, registers) = run_with(&code![movs(2, 7), adds(2, 1), exit()], &[]);
    assert_eq!((register(&registers, 2), register(&registers, 13)), (8, STACK));
    assert_eq!(report.cores[0].instructions, 2 + 4 + 1);
}

#[test]
fn a_loop_takes_three_cycles_an_iteration() {
    // Taken nine times or once, at 1 + 2; once not taken.
    let cycles = |iterations| {
        let (report, _) = run_with(&code![movs(2, iterations), subs(2, 1), bne_back(1), exit()], &[]);
        report.cores[0].cycles.0
    };
    assert_eq!(cycles(10) - cycles(2), 8 * 3);
}

#[test]
fn an_interrupt_is_entered_in_12_cycles_and_left_in_10() {
    let program = code![begin(), movs(1, 1), stamp(3), pend(1), stamp(5), exit()];
    let (_, registers) = run_with(&program, &[(external(0), code![stamp(4), BX_LR])]);
    // A load, a store in its data cycle; then the entry.
    assert_eq!(between(&registers, 3, 4), 2 + 12);
    assert_eq!(between(&registers, 4, 5), 2 + 10);
}

#[test]
fn a_return_by_pop_takes_its_loads_more() {
    let program = code![begin(), movs(1, 1), pend(1), stamp(5), exit()];
    let cycles_of = |handler: Code| {
        let (report, registers) = run_with(&program, &[(external(0), handler)]);
        assert_eq!(register(&registers, 13), STACK);
        report.cores[0].cycles.0
    };
    assert_eq!(cycles_of(code![PUSH_R4_LR, POP_R4_PC]) - cycles_of(code![BX_LR]), 3 + 2);
}

#[test]
fn pending_interrupts_are_chained_in_6_cycles() {
    let program = code![begin(), movs(1, 3), pend(1), NOP, exit()];
    let handlers = [(external(0), code![stamp(4), BX_LR]), (external(1), code![stamp(5), BX_LR])];
    let (report, registers) = run_with(&program, &handlers);
    assert_eq!(between(&registers, 4, 5), 2 + 6);
    let counters = &report.cores[0].counters;
    assert!(counters.contains(&("cm4.exceptions".to_owned(), 2)), "{counters:?}");
}

/// Interrupt 0 is pended, and the device's interrupt a growing number of cycles after an earlier point: the time of
/// each handler's stamp, counted from that point.
fn races() -> Vec<(u32, u32)> {
    let handlers = [(external(0), code![stamp(4), BX_LR]), (external(5), code![str(0, 2, 8), stamp(5), BX_LR])];
    let race = |after| {
        let device = code![load_constant(2, DEVICE), movs(0, after), movs(1, 1), str(0, 2, 4)];
        let program = code![begin(), device, NOP, NOP, stamp(3), pend(1), NOP, exit()];
        let (_, registers) = run_with(&program, &handlers);
        (between(&registers, 3, 4), between(&registers, 3, 5))
    };
    (0..40).map(race).collect()
}

#[test]
fn what_comes_late_and_is_more_urgent_is_handled_first() {
    let races = races();
    // Tail-chaining follows: the load's other cycle, and 6.
    let late: Vec<u32> = races.iter().filter(|(first, late)| late + 2 + 6 == *first).map(|(_, late)| *late).collect();
    // Alone, interrupt 0 would stamp 14 cycles after; the late one has a store before that. What comes in the last 6
    // cycles has the vector read again.
    assert_eq!(late, [16, 16, 16, 16, 16, 16, 17, 18, 19, 20, 21], "{races:?}");
}

#[test]
fn what_comes_during_a_return_is_handled_without_ending_it() {
    let races = races();
    let nested = races.iter().position(|(first, late)| (16..1000).contains(late) && *first == 14).unwrap_or(0);
    let late: Vec<u32> = races[nested..].iter().map(|(_, late)| *late).take(12).collect();
    // During the load; while the return is still a jump; while the frame would be read: from there on it takes 6
    // cycles; in the program after it.
    assert_eq!(late, [30, 30, 26, 26, 27, 28, 29, 30, 31, 32, 33, 40], "{races:?}");
}

#[test]
fn floating_point_state_is_stored_when_it_is_needed() {
    let enable = code![load_constant(0, CPACR), load_constant(1, 0xf << 20), str(1, 0, 0)];
    let frame = |handler: Code, lazily: bool| {
        let eagerly = code![load_constant(0, FPCCR), load_constant(1, 1 << 31), str(1, 0, 0)];
        let chosen = if lazily { Vec::new() } else { eagerly };
        let program =
            code![begin(), enable.clone(), chosen, movs(1, 1), vmov(0, 1), stamp(3), pend(1), stamp(5), exit()];
        run_with(&program, &[(external(0), handler)]).1
    };
    let untouched = frame(code![stamp(4), BX_LR], true);
    assert_eq!((between(&untouched, 3, 4), between(&untouched, 4, 5)), (2 + 12, 2 + 10));
    let used = frame(code![stamp(4), vmov(0, 7), BX_LR], true);
    assert_eq!((between(&used, 3, 4), between(&used, 4, 5)), (2 + 12, 2 + 17 + 1 + 10 + 17));
    let at_once = frame(code![stamp(4), vmov(0, 7), BX_LR], false);
    assert_eq!((between(&at_once, 3, 4), between(&at_once, 4, 5)), (2 + 12 + 17, 2 + 1 + 10 + 17));
    // pc, r0 to r14, xPSR, then S0: what the program had there.
    for registers in [untouched, used, at_once] {
        assert_eq!(registers[17], 1);
    }
}

#[test]
fn an_interrupt_wakes_and_is_taken_at_its_time() {
    let program = code![begin(), load_constant(2, DEVICE), movs(0, 200), stamp(3), str(0, 2, 4), WFI, stamp(5), exit()];
    let (report, registers) = run_with(&program, &[(external(5), code![str(0, 2, 8), stamp(4), BX_LR])]);
    // The store begins 2 cycles after the first stamp and arrives 2 later; 200 later the interrupt comes. The handler
    // has a store before its stamp, and the load waits for it. The counter that gives the stamps stands still
    // meanwhile.
    let slept = cause(&report, "wait for interrupt");
    assert_eq!(u64::from(between(&registers, 3, 4)) + slept, 2 + 2 + 200 + 12 + 1 + 2);
    assert!(slept > 150);
}

#[test]
fn after_a_reset_the_core_begins_anew() {
    let mut core = CortexM::new(config());
    // The state before the reset: handlers, masks and registers are set.
    let mut bus = machine(&code![begin(), CPSID_I, movs(1, 1), pend(1), movs(2, 9), FOREVER], &[]);
    core.run(bus.bus(), Ps::from_us(2));
    assert_eq!(core.registers()[3], 9);
    let before = core.cycles();
    core.reset(bus.bus());
    let registers = core.registers();
    assert_eq!((registers[0], registers[1 + 2], registers[14], registers[15]), (PROGRAM, 0, STACK, u32::MAX));
    // Thread mode, nothing but T.
    assert_eq!((registers[16] & 0x0fff_ffff, core.cycles()), (1 << 24, before));
    let mut again = machine_with(core, &code![movs(2, 7), exit()], &[]);
    let report = run(&mut again);
    assert_eq!((report.outcome, again.registers()[3]), (Outcome::Exit(0), 7));
}

// ---- Faults

fn fault_of(program: &[u16], handlers: &[(u32, Code)]) -> String {
    let mut machine = machine(program, handlers);
    match run(&mut machine).outcome {
        Outcome::Fault(text) => text,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_fault_without_a_handler_says_what_happened() {
    let stuck = [(HARD_FAULT, code![FOREVER])];
    let text = fault_of(&code![load_constant(0, 0x3000_0000), ldr(1, 0, 0)], &stuck);
    assert_eq!(
        text,
        "cm4: pc 0x00000408: BusFault: 4-byte load at 0x30000000: nothing is mapped there; nearest: \
         late 0x40000000-0x400000ff; the instruction: ldr r1, [r0]; its handler is a branch to itself; --unmapped \
         warn goes on"
    );
    let text = fault_of(&code![load_constant(0, 0x100), bx(0)], &stuck);
    assert!(text.contains("UsageFault: the address jumped to is even"), "{text}");
    // HardFault's own handler does the same again.
    let text = fault_of(&code![0xdeff_u16], &[(HARD_FAULT, code![0xdeff_u16])]);
    assert!(text.contains("udf") && text.contains("locks the core up"), "{text}");
}

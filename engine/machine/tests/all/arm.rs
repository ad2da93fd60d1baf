//! The Arm core in a small machine: what instructions cost, exceptions, interrupts, and that no cycle is lost.

use crate::Outcome;
use crate::whole::support::arm::*;
use engine::core::Compiling;
use engine::cpu::memory_system::config::ReadAllocate;
use engine::isa::arm::config::CoreConfig;
use engine::memory::ram::Ram;
use engine::time::Ps;

/// Cycles of `EXIT`: the call is charged as a return from an exception.
const EXIT_CYCLES: u64 = 3 + 4;

fn cycles_of(program: &[u32]) -> u64 {
    let (report, _) = run_program(&then_exit(program));
    assert_exit(&report);
    report.cores[0].cycles.0 - EXIT_CYCLES
}

// ---- Static costs

#[test]
fn a_loop_without_prediction_pays_for_its_taken_branches() {
    // 10 iterations of subs and bne; taken 9 times at 1 + 5 cycles, once not at 1.
    assert_eq!(cycles_of(&[mov(2, 10), subs(2, 2, 1), when(NE, b(-4))]), 1 + 10 + 9 * 6 + 1);
}

#[test]
fn a_loop_with_prediction_pays_until_it_is_learned() {
    // SCTLR.Z: the history of ten taken branches is new each time, so no prediction exists for the first nine.
    let program = [mrc(5, SCTLR), ORR_Z, mcr(5, SCTLR), mov(2, 200), subs(2, 2, 1), when(NE, b(-4))];
    let (report, _) = run_program(&then_exit(&program));
    assert_exit(&report);
    // Nine at the start, until all branches of the history are taken; and the last one.
    assert_eq!(cause(&report, "mispredicted branches"), (9 + 1) * 5);
    assert_eq!(cause(&report, "taken branches"), 0);
}

#[test]
fn results_are_waited_for() {
    for (program, waits) in [
        (vec![mov(3, 0x40), ldr(2, 3, 0), add(4, 2, 1)], 1 + 1),
        (vec![mov(3, 0x40), NOP, ldr(2, 3, 0), NOP, add(4, 2, 1)], 0),
        (vec![mov(3, 1), add_shifted(2, 2, 3, 4)], 1),
        (vec![mov(3, 1), add_register(2, 2, 3)], 0),
        (vec![mul(3, 2, 2), add(4, 3, 1)], 1),
    ] {
        let (report, _) = run_program(&then_exit(&program));
        assert_exit(&report);
        assert_eq!(cause(&report, "operand results"), waits, "{program:x?}");
    }
}

#[test]
fn two_instructions_may_take_one_cycle() {
    let cycles = |program: &[u32]| {
        let program = [program, &EXIT].concat();
        run_to_end(machine_with(cortex_a7(), PROGRAM, &program)).0.cores[0].cycles.0
    };
    let none = cycles(&[]);
    assert_eq!(cycles(&[mov(2, 1), mov(3, 2), mov(4, 3), mov(5, 4)]) - none, 2);
    assert_eq!(cycles(&[mul(3, 2, 2), mul(4, 2, 2)]) - none, 2);
}

#[test]
fn an_instruction_whose_condition_fails_takes_its_own_cycle_only() {
    let compared = [mov(2, 1), mov(13, 0x800), cmp(2, 1)];
    let list = 0x10f0;
    let with = |condition| cycles_of(&[&compared[..], &[when(condition, stmdb(13, list)), NOP]].concat());
    // One result is needed early: sp, but three cycles before.
    assert_eq!((with(EQ), with(NE)), (3 + 5 + 1, 3 + 1 + 1));
    let with = |condition| cycles_of(&[&compared[..], &[when(condition, b(8)), NOP, NOP]].concat());
    assert_eq!((with(EQ), with(NE)), (3 + 6 + 1, 3 + 1 + 2));
}

#[test]
fn instructions_may_be_skipped_right_after_reset() {
    // Until the block's end, more cycles are taken back for registers that are not stored than have been counted.
    let skipped = [mov(2, 1), cmp(2, 1), when(NE, stmdb(13, 0x10f0)), when(NE, stmdb(13, 0x10f0))];
    let taken = [&skipped[..], &[movt(3, DDR >> 16), ldr(4, 3, 0), str(4, 3, 4)]].concat();
    let (report, _) = run_program(&then_exit(&taken));
    assert_exit(&report);
    // Those of the exit's call.
    assert_eq!(cause(&report, "long operations"), 3);
}

// ---- Memory

#[test]
fn with_the_caches_off_each_access_goes_over_the_bus() {
    let program = then_exit(&[movt(3, DDR >> 16), ldr(2, 3, 0), str(2, 3, 4)]);
    let (report, _) = run_program(&program);
    assert_exit(&report);
    assert_eq!((cause(&report, "load: ddr"), cause(&report, "store: ddr")), (10, 10));
}

#[test]
fn uncached_code_is_fetched_word_by_word() {
    let mut machine = machine(SLOW, &then_exit(&[NOP]));
    let report = run(&mut machine);
    assert_exit(&report);
    assert_eq!((cause(&report, "fetch: slow"), cause(&report, "interconnect: axi")), (5 * 3, 5 * 3));
}

#[test]
fn code_is_fetched_by_lines_once_the_cache_is_on() {
    // Cache on, then a barrier; the loop of three instructions lies in one line.
    let on = [mrc(5, SCTLR), ORR_I, mcr(5, SCTLR), ISB, NOP, NOP, NOP, NOP];
    let iteration = [mov(2, 50), NOP, NOP, NOP, NOP, NOP, subs(2, 2, 1), when(NE, b(-4))];
    let mut machine = machine(DDR, &[&on[..], &iteration, &EXIT].concat());
    let report = run(&mut machine);
    assert_exit(&report);
    // Four words uncached, then three lines: that of the barrier's end, the loop's, the exit's.
    let line = 10 + 7;
    assert!((3 * line..=3 * line + 6 * 10).contains(&cause(&report, "fetch: ddr")), "{:?}", report.cores[0].causes());
}

#[test]
fn misaligned_stores_across_either_end_of_code_are_seen() {
    // A function adds 1 and branches to an addition of 100. A store across the function's start makes the 1 a 5; a
    // store across its end makes the branch conditional, and makes the data after it the return.
    let function = PROGRAM + 4 * 17;
    let call = |at: u32| bl(function.wrapping_sub(PROGRAM + 4 * at) as i32);
    let first = [mov(1, function - 2), mov(2, 0x1234), movt(2, add(4, 4, 5) & 0xffff), call(3), str(2, 1, 0), call(5)];
    let second = [mov(2, when(NE, b(8)) >> 16), movt(2, bx(14) & 0xffff), mov(3, 0), cmp(3, 0), str(2, 1, 8), call(11)];
    let functions = [0x1111_1111, add(4, 4, 1), b(8), bx(14) & !0xffff, add(4, 4, 100), bx(14)];
    let (report, registers) = run_program(&[&first, &second, &EXIT[..], &functions].concat());
    assert_exit(&report);
    assert_eq!(registers[1 + 4], (1 + 100) + (5 + 100) + 5);
}

// ---- Exceptions

/// Vectors at 0: each entry jumps to what its handler's offset from [`PROGRAM`] says.
fn with_vectors(program: &[u32], vector: u32, handler: &[u32]) -> crate::Machine {
    let at = PROGRAM + 0x400;
    let mut machine = machine(PROGRAM, program);
    put(&mut machine, vector, &[b((at - vector) as i32)]);
    put(&mut machine, at, handler);
    machine
}

#[test]
fn a_supervisor_call_comes_back() {
    let mut machine = with_vectors(&then_exit(&[0xef00_0001, add(2, 2, 1)]), 8, &[add(2, 2, 0x10), RETURN]);
    let report = run(&mut machine);
    assert_exit(&report);
    assert_eq!(machine.registers()[1 + 2], 0x11);
    assert_eq!(cause(&report, "exception entry"), 5);
    assert!(report.notes.is_empty());
}

#[test]
fn an_undefined_instruction_with_a_handler_is_a_note() {
    let mut machine = with_vectors(&then_exit(&[0xe7f0_00f0, add(2, 2, 1)]), 4, &[add(2, 2, 0x10), RETURN]);
    let report = run(&mut machine);
    assert_exit(&report);
    assert_eq!(machine.registers()[1 + 2], 0x11);
    assert_eq!(
        report.notes,
        ["pc 0x00000100: undefined instruction 0xe7f000f0: udf, a trap that the program or its compiler put there; \
             the instruction: udf #0; lr 0x00000000 (the firmware's trap handler took it)"]
    );
}

fn fault_of(program: &[u32], vector: u32, at_vector: u32) -> String {
    let mut machine = machine(PROGRAM, program);
    put(&mut machine, vector, &[at_vector]);
    let report = run(&mut machine);
    assert_sums(&report);
    let Outcome::Fault(text) = report.outcome else { panic!("{:?}", report.outcome) };
    text
}

#[test]
fn faults_without_a_handler_end_the_run() {
    assert_eq!(
        fault_of(&[0xe7f0_00f0], 4, 0),
        "cpu0: pc 0x00000100: undefined instruction 0xe7f000f0: udf, a trap that the program or its compiler put \
         there; the instruction: udf #0; lr 0x00000000; its exception vector leads to no instruction"
    );
    let forever = b(0);
    assert_eq!(
        fault_of(&[movt(3, 0x7000), NOP, ldr(2, 3, 0)], 0x10, forever),
        "cpu0: pc 0x00000108: data abort: 4-byte load at 0x70000000: nothing is mapped there; nearest: ddr \
         0x80000000-0x8000ffff; the instruction: ldr r2, [r3]; its handler is a branch to itself; --unmapped warn goes \
         on"
    );
    assert_eq!(
        fault_of(&[movt(3, 0x4000), str(2, 3, 12)], 0x10, b(0x10)),
        "cpu0: pc 0x00000104: data abort: 4-byte store at 0x4000000c: late answered with an error; the \
         instruction: str r2, [r3, #0xc]; its exception vector leads to no instruction"
    );
    assert_eq!(
        fault_of(&[movt(3, 0x7000), bx(3)], 0x0c, 0),
        "cpu0: pc 0x70000000: prefetch abort: instruction fetch at 0x70000000: nothing is mapped there; nearest: ddr \
         0x80000000-0x8000ffff; lr 0x00000000; its exception vector leads to no instruction"
    );
    assert_eq!(
        fault_of(&[movt(3, 0x4000), ldr(2, 3, 1)], 0x10, 0),
        "cpu0: pc 0x00000104: data abort: 4-byte load at 0x40000001: alignment fault: all memory is strongly \
         ordered while the MMU is off, and takes no address that is not a multiple of the size; the instruction: \
         ldr r2, [r3, #1]; its exception vector leads to no instruction"
    );
}

// ---- Translation

/// TTBR0, DACR.
const TTBR0: (u32, u32, u32, u32) = (2, 0, 0, 0);
const DACR: (u32, u32, u32, u32) = (3, 0, 0, 0);
/// Descriptor bits of a section: that it is one; AP for all modes, for privileged modes only, for reads only; Normal
/// write-back memory; Device.
const SECTION: u32 = 2;
const FOR_ALL: u32 = 3 << 10;
const PRIVILEGED: u32 = 1 << 10;
const READ_ONLY: u32 = 1 << 15 | 3 << 10;
const WRITE_BACK: u32 = 1 << 12 | 3 << 2;
const DEVICE_MEMORY: u32 = 1 << 2;

/// A machine with a translation table in the second half of DDR: identity mapping, DDR and slow RAM cached, the slow
/// RAM also at 0x12300000 (read only) and at 0x45600000 (for privileged modes). The program starts with MMU, caches and
/// branch prediction on.
fn translated(program: &[u32]) -> crate::Machine {
    translated_with(config(), program)
}

fn translated_with(core: CoreConfig, program: &[u32]) -> crate::Machine {
    let table = DDR + 0x8000;
    let on = [
        mov(5, table & 0xffff),
        movt(5, table >> 16),
        mcr(5, TTBR0),
        mov(5, 1),
        mcr(5, DACR),
        mrc(5, SCTLR),
        ORR_Z,
        ORR_I,
        0xe385_5005,
        mcr(5, SCTLR),
        ISB,
    ];
    let mut machine = machine_with(core, DDR, &[&on[..], program].concat());
    let sections = [
        (LOCAL, LOCAL | FOR_ALL),
        (DEVICE, DEVICE | FOR_ALL | DEVICE_MEMORY),
        (DDR, DDR | FOR_ALL | WRITE_BACK),
        (SLOW, SLOW | FOR_ALL | WRITE_BACK),
        (0x1230_0000, SLOW | READ_ONLY | WRITE_BACK),
        (0x4560_0000, SLOW | PRIVILEGED | WRITE_BACK),
    ];
    for (va, descriptor) in sections {
        put(&mut machine, table + (va >> 20) * 4, &[descriptor | SECTION]);
    }
    machine
}

#[test]
fn what_is_written_at_one_address_is_read_at_its_other() {
    let program = [movt(3, SLOW >> 16), mov(4, 0), movt(4, 0x1230), mov(2, 77), str(2, 3, 0x100), ldr(6, 4, 0x100)];
    let mut machine = translated(&then_exit(&program));
    let report = run(&mut machine);
    assert_exit(&report);
    assert_eq!(machine.registers()[1 + 6], 77);
    // One line of the slow RAM, 3 + 7 cycles at it; three descriptors are read past the cache.
    assert_eq!((cause(&report, "store: slow"), cause(&report, "load: slow")), (10, 0));
    assert_eq!(cause(&report, "walk: ddr"), 3 * 10);
}

#[test]
fn a_load_of_several_words_has_used_the_lines_before_its_abort() {
    // The last line of the DDR, which is followed by nothing, and two others of its set in a cache with two ways.
    let (last, other, third) = (0xffe0, 0xfee0, 0xfde0);
    let addresses = [(8, other), (9, last + 0x18), (10, third)];
    let set = addresses.map(|(register, offset)| [mov(register, offset), movt(register, DDR >> 16)]).concat();
    let in_turn = [ldr(6, 8, 0), ldr(6, 9, 0)].repeat(10);
    // ldmia r9, {r0-r3}
    let program = [&set[..], &in_turn, &[0xe899_000f, ldr(6, 10, 0), ldr(7, 8, 0)]].concat();
    let [report, without_shortcuts] = [false, true].map(|is_shared| {
        let mut machine = translated(&then_exit(&program));
        // The handler's first instruction uses the other line. subs pc, lr, #4: returns to after the load.
        put(&mut machine, LOCAL + 0x10, &[ldr(6, 8, 0), 0xe25e_f004]);
        if is_shared {
            machine.bus().rams.iter_mut().for_each(Ram::share);
        }
        let report = run(&mut machine);
        assert_exit(&report);
        report
    });
    assert_eq!(report.cores[0].counters, without_shortcuts.cores[0].counters);
    assert_eq!(report, without_shortcuts);
}

/// svc 0x123456.
const SEMIHOSTING: u32 = 0xef12_3456;

#[test]
fn semihosting_reaches_memory_by_the_programs_addresses() {
    let (write0, elapsed, text) = (4, 0x30, u32::from_le_bytes(*b"hi!\0"));
    let store = [movt(3, SLOW >> 16), mov(2, text & 0xffff), movt(2, text >> 16), str(2, 3, 0x100)];
    let print = [mov(0, write0), mov(1, 0x100), movt(1, 0x1230), SEMIHOSTING];
    // A read-only page is not written, even by the host.
    let refused = [mov(0, elapsed), mov(1, 0x100), movt(1, 0x1230), SEMIHOSTING, add(6, 0, 0)];
    let written = [mov(0, elapsed), mov(1, 0x104), movt(1, 0x4560), SEMIHOSTING, add(7, 0, 0), ldr(8, 3, 0x100)];
    let mut machine = translated(&then_exit(&[&store[..], &print, &refused, &written].concat()));
    let mut console = Vec::new();
    let report = machine.run(Ps::from_us(1000), |printed| {
        console.extend_from_slice(&printed.console);
        true
    });
    assert_exit(&report);
    assert_eq!(console, b"hi!");
    assert_eq!(machine.registers()[1 + 6..][..3], [u32::MAX, 0, text]);
}

/// Cps to User mode.
const TO_USER: u32 = 0xf102_0010;

#[test]
fn the_memory_management_says_why_it_refuses() {
    for (program, what) in [
        (vec![mov(4, 0), movt(4, 0x1230), str(2, 4, 8)], "4-byte store at 0x12300008: permission fault, section"),
        (
            vec![mov(4, 0), movt(4, 0x4560), TO_USER, ldr(2, 4, 8)],
            "4-byte load at 0x45600008: permission fault, section",
        ),
        (vec![mov(4, 4), movt(4, 0x2220), ldr(2, 4, 0)], "4-byte load at 0x22200004: translation fault, section"),
    ] {
        let report = run(&mut translated(&program));
        assert_sums(&report);
        let Outcome::Fault(text) = report.outcome else { panic!("{:?}", report.outcome) };
        assert!(text.contains(&format!("data abort: {what}")), "{text}");
    }
    let report = run(&mut translated(&[mov(4, 4), movt(4, 0x4560), TO_USER, bx(4)]));
    let Outcome::Fault(text) = report.outcome else { panic!("{:?}", report.outcome) };
    let what = "pc 0x45600004: prefetch abort: instruction fetch at 0x45600004: permission fault, section";
    assert!(text.contains(what), "{text}");
}

#[test]
fn an_interrupt_that_a_store_causes_comes_when_the_store_has_arrived() {
    // Device memory. With a store buffer the core continues at once, and the store arrives at the device two cycles
    // later.
    let handler = [str(3, 3, 8), add(2, 2, 1), RETURN_FROM_IRQ];
    let program =
        [NOP, NOP, mov(3, 0), movt(3, DEVICE >> 16), ldr(4, 3, 0), ENABLE, str(4, 3, 24), NOP, NOP, NOP, NOP, NOP, NOP];
    let before = |entries: u32| {
        let mut core = config();
        core.memory.store_buffer_entries = entries;
        let mut machine = translated_with(core, &then_exit(&program));
        put(&mut machine, 0x18, &[b(0x500 - 0x18)]);
        put(&mut machine, 0x500, &handler);
        let mut at = Vec::new();
        assert_eq!(machine.trace(100, |registers| at.push(registers[0])), Some(Outcome::Exit(0)));
        assert_eq!(machine.registers()[1 + 2], 1);
        assert_sums(&machine.report(Outcome::Exit(0)));
        at.iter().position(|pc| *pc == 0x18)
    };
    assert_eq!((before(0), before(4)), (Some(18), Some(20)));
}

#[test]
fn an_interrupt_that_came_while_masked_is_pending_until_its_end_has_arrived() {
    // The line rises at about the time of the load, and a store that lowers it is still on its way when interrupts are
    // enabled.
    let cpsid = 0xf10c_0080;
    let handler = [add(2, 2, 1), str(3, 3, 8), RETURN_FROM_IRQ];
    let program = |due| {
        let iteration = [cpsid, str(4, 3, 4), b(4), NOP, NOP, NOP, NOP, ldr(7, 3, 0), b(4), str(3, 3, 8), ENABLE, NOP];
        let iterations = [subs(8, 8, 1), when(NE, b(-4 * 13))];
        then_exit(&[&[movt(3, DEVICE >> 16), mov(4, due), mov(8, 4)], &iteration[..], &iterations[..]].concat())
    };
    let machine = |due| {
        let mut core = config();
        core.memory.store_buffer_entries = 4;
        core.timing.status = 1;
        let mut machine = translated_with(core, &[mov(7, PROGRAM), bx(7)]);
        put(&mut machine, PROGRAM, &program(due));
        put(&mut machine, 0x18, &[b(0x500 - 0x18)]);
        put(&mut machine, 0x500, &handler);
        machine
    };
    let mut taken = 0;
    for due in 1..40 {
        let (mut running, mut stepping) = (machine(due), machine(due));
        let ran = run(&mut running);
        assert_exit(&ran);
        assert_eq!(stepping.trace(1000, |_| {}), Some(Outcome::Exit(0)), "due after {due}");
        assert_eq!(stepping.report(Outcome::Exit(0)).cores, ran.cores, "due after {due}");
        taken += running.registers()[1 + 2];
    }
    assert!(taken > 0);
}

#[test]
fn stepping_and_running_take_the_same_time_with_caches_and_translation() {
    let program = [
        &[mov(13, 0x900), movt(13, SLOW >> 16), mov(2, 30), mov(6, 0x200), movt(6, DDR >> 16)][..],
        &[cmp(2, 10), when(NE, mul(3, 2, 2)), when(EQ, stmdb(13, 0xf0)), ldr(4, 6, 8), add_shifted(3, 3, 4, 2)],
        &[str(3, 6, 8), add(6, 6, 36), stmdb(13, 0x10f0), ldm(13, 0x10f0), subs(2, 2, 1), when(NE, b(-10 * 4))],
        &EXIT,
    ]
    .concat();
    let (mut running, mut stepping) = (translated(&program), translated(&program));
    let ran = run(&mut running);
    assert_exit(&ran);
    assert_eq!(stepping.trace(1000, |_| {}), Some(Outcome::Exit(0)));
    assert_eq!(stepping.report(Outcome::Exit(0)).cores, ran.cores);
    assert_eq!(stepping.registers(), running.registers());
}

#[test]
fn a_load_of_several_words_misses_in_each_of_its_lines_compiled_or_not() {
    // r13 has the address of the words; the line at an offset of `evicted` bytes is evicted each time. r2 counts, r14
    // has addresses.
    let program = |words: usize, start: u32, evicted: u32| {
        let others = (0..13).filter(|register| *register != 2).take(words);
        let list = others.fold(0, |list, register| list | 1 << register);
        let place = [mov(13, 0x900 + start), movt(13, SLOW >> 16), mov(2, 12)];
        let load = [add(14, 13, evicted), mcr(14, (7, 0, 14, 1)), ldm(13, list), subs(2, 2, 1), when(NE, b(-4 * 4))];
        [&place[..], &load, &EXIT].concat()
    };
    for words in 2..=12 {
        for (start, evicted) in [(0, 0), (0, 32), (0, 40), (4, 28), (28, 4), (28, 36)] {
            let program = program(words, start, evicted);
            let [interpreted, compiled] = [0, 2].map(|after| {
                let mut machine = translated(&program);
                machine.compile(Compiling::after(after));
                let report = run(&mut machine);
                assert_exit(&report);
                (report, machine.registers())
            });
            assert_eq!(compiled, interpreted, "{words} words from {start} on, without the line at {evicted}");
        }
    }
}

#[test]
fn lines_written_whole_are_read_no_more_compiled_or_not() {
    let program = |order: [u32; 8], actlr: u32| {
        let place = [mov(5, actlr), mcr(5, (1, 0, 0, 1)), mov(6, 0x4000), movt(6, DDR >> 16), mov(2, 16)];
        let stores = order.map(|at| [str(2, 6, at), str(2, 6, at + 4)]).concat();
        let next = [add(6, 6, 64), subs(2, 2, 1), when(NE, b(-18 * 4))];
        [&place[..], &stores, &next, &EXIT].concat()
    };
    let fills = |order, actlr| {
        let machine = || {
            let mut core = config();
            core.memory.store_buffer_entries = 4;
            core.memory.read_allocate = ReadAllocate { lines: 3, outer_lines: 0 };
            let mut machine = translated_with(core, &[mov(7, PROGRAM), bx(7)]);
            put(&mut machine, PROGRAM, &program(order, actlr));
            machine
        };
        let [interpreted, compiled] = [0, 2].map(|after| {
            let mut machine = machine();
            machine.compile(Compiling::after(after));
            let report = run(&mut machine);
            assert_exit(&report);
            report
        });
        assert_eq!(compiled, interpreted);
        let mut stepping = machine();
        assert_eq!(stepping.trace(1000, |_| {}), Some(Outcome::Exit(0)));
        assert_eq!(stepping.report(Outcome::Exit(0)).cores, interpreted.cores);
        let counters = &interpreted.cores[0].counters;
        counters.iter().find(|(name, _)| name == "cpu0.d-cache fills").map(|(_, total)| *total)
    };
    let (in_order, shuffled) = ([0, 8, 16, 24, 32, 40, 48, 56], [40, 16, 56, 0, 32, 24, 48, 8]);
    // ACTLR.RADIS.
    let each = fills(in_order, 1 << 12);
    assert_eq!(fills(in_order, 0), each.map(|each| each - 29));
    assert_eq!(fills(shuffled, 0), each);
}

// ---- T32

/// Halfwords as words.
fn halves(code: &[u16]) -> Vec<u32> {
    let padded: Vec<u16> = code.iter().copied().chain([0xbf00; 2]).collect();
    padded.chunks_exact(2).map(|pair| u32::from(pair[1]) << 16 | u32::from(pair[0])).collect()
}

#[test]
fn an_it_block_runs_what_its_conditions_say() {
    // movs r2, #5; cmp r2, #5; itte eq; moveq r3, #1; addeq r3, r3, #2; movne r3, #9; then, in A32, the exit.
    let code = [0x2205, 0x2a05, 0xbf06, 0x2301, 0x3302, 0x2309, 0x4778, 0xbf00];
    let program = [halves(&code)[..4].to_vec(), EXIT.to_vec()].concat();
    for at in [PROGRAM, SLOW] {
        let mut machine = machine(at | 1, &program);
        let report = run(&mut machine);
        assert_exit(&report);
        assert_eq!(machine.registers()[1 + 3], 3);
        assert_eq!(report.cores[0].instructions, 7 + 4);
    }
}

// ---- Floating point

/// mov r5, #0xf << 20; mcr to CPACR, which allows cp10 and cp11 then.
const ALLOW_VFP: [u32; 2] = [0xe3a0_560f, 0xee01_5f50];
/// mov r5, #1 << 30; vmsr fpexc, r5: EN.
const ENABLE_VFP: [u32; 2] = [0xe3a0_5101, 0xeee8_5a10];

#[test]
fn vfp_is_undefined_until_it_is_on() {
    // vmrs r6, fpexc without CPACR; vadd.f32 s0, s0, s1; vldr s0, [r2]; vldmia r2!, {d0, d1} without FPEXC.EN.
    for (before, encoding, text) in [
        (&[][..], 0xeef8_6a10, "vmrs r6, fpexc"),
        (&ALLOW_VFP[..], 0xee30_0a20, "vadd.f32 s0, s0, s1"),
        (&ALLOW_VFP[..], 0xed92_0a00, "vldr s0, [r2]"),
        (&ALLOW_VFP[..], 0xecb2_0b04, "vldmia r2!, {d0, d1}"),
    ] {
        let mut machine = machine(PROGRAM, &then_exit(&[before, &[encoding, NOP]].concat()));
        // The vector of the undefined instruction: returns to after it.
        put(&mut machine, 4, &[RETURN]);
        let report = run(&mut machine);
        assert_exit(&report);
        let pc = PROGRAM + 4 * before.len() as u32;
        let note = format!(
            "pc {pc:#010x}: undefined instruction {encoding:#010x}: floating point, which CPACR or FPEXC disables; the \
             instruction: {text}; lr 0x00000000 (the firmware's trap handler took it)"
        );
        assert_eq!(report.notes, [note]);
        assert_eq!(machine.registers()[1 + 2], 0, "no write-back");
    }
}

#[test]
fn floating_point_computes_loads_and_stores() {
    let on = [ALLOW_VFP, ENABLE_VFP].concat();
    let program = [
        mov(2, 0x600),
        // vmov.f64 d16, #1.0; vmov.f64 d1, #3.0; vdiv.f64 d0, d16, d1; vstmia r2!, {d0, d1}; vldr d20, [r2, #-16]; vmov
        // r6, r7, d20.
        0xeef7_0b00,
        0xeeb0_1b08,
        0xee80_0b81,
        0xeca2_0b04,
        0xed52_4b04,
        0xec57_6b34,
        // vmrs r8, fpscr; vcmp.f64 d0, d1; vmrs APSR_nzcv, fpscr; movmi r9, #1.
        0xeef1_8a10,
        0xeeb4_0b41,
        0xeef1_fa10,
        when(4, mov(9, 1)),
    ];
    let (report, registers) = run_program(&then_exit(&[&on[..], &program].concat()));
    assert_exit(&report);
    // A third: inexact.
    assert_eq!((registers[1 + 7], registers[1 + 6], registers[1 + 8]), (0x3fd5_5555, 0x5555_5555, 0x10));
    assert_eq!((registers[1 + 2], registers[1 + 9]), (0x610, 1));
}

//! The MIPS core in a small machine: what instructions cost, exceptions, interrupts, and that no cycle is lost.

use crate::whole::support::mips::*;
use crate::{Machine, Outcome};
use engine::memory::ram::Ram;

/// Cycles of `EXIT`.
const EXIT_CYCLES: u64 = 3;

fn cycles_of(program: &[u32]) -> u64 {
    let (report, _) = run_program(&then_exit(program));
    assert_exit(&report);
    report.cores[0].cycles.0 - EXIT_CYCLES
}

// ---- Static costs

#[test]
fn a_loop_pays_for_the_branches_that_were_not_expected() {
    // Ten iterations of three instructions. In the first, the branch has no prediction; in the last, it is predicted
    // taken.
    let program = [addiu(T0, ZERO, 10), addiu(T0, T0, -1), bne(T0, ZERO, -2), addiu(T1, T1, 1)];
    let (report, registers) = run_program(&then_exit(&program));
    assert_exit(&report);
    assert_eq!(registers[1 + T1 as usize], 10, "a delay slot runs, taken or not");
    assert_eq!(report.cores[0].cycles.0, 1 + 10 * 3 + 2 * 6 + EXIT_CYCLES);
    assert_eq!(cause(&report, "mispredicted branches"), 2 * 6);
}

#[test]
fn results_are_waited_for() {
    for (program, waits) in [
        (vec![la(S0, KSEG0), lw(T0, S0, 0), addiu(T1, T0, 1)], 2),
        (vec![la(S0, KSEG0), lw(T0, S0, 0), NOP, addiu(T1, T0, 1)], 1),
        (vec![la(S0, KSEG0), lw(T0, S0, 0), NOP, NOP, addiu(T1, T0, 1)], 0),
        // The loaded value is overwritten: no instruction waits for it.
        (vec![la(S0, KSEG0), lw(T0, S0, 0), addiu(T0, ZERO, 1), addiu(T1, T0, 1)], 0),
        (vec![mul(T0, T1, T1), addiu(T1, T0, 1)], 4),
        (vec![multu(T1, T1), mflo(T0)], 4),
        // The multiplier takes another one two cycles later.
        (vec![multu(T1, T1), multu(T1, T1), NOP, NOP, NOP, NOP, mflo(T0)], 1),
        (vec![divu(T1, T0), mflo(T0)], 19),
        (vec![divu(T1, T0), NOP, multu(T1, T1)], 18),
        (vec![divu(T1, T0), addiu(T1, ZERO, 1), NOP], 0),
    ] {
        let (report, _) = run_program(&then_exit(&program));
        assert_exit(&report);
        assert_eq!(cause(&report, "operand results"), waits, "{program:x?}");
        assert_eq!(report.cores[0].cycles.0, program.len() as u64 + waits + EXIT_CYCLES);
    }
}

#[test]
fn calls_return_to_after_their_delay_slots() {
    let function = PROGRAM + 0x40;
    let mut program = vec![jal(function), addiu(T0, ZERO, 1), addiu(T1, T1, 7)];
    program.extend(EXIT);
    program.resize(0x40 / 4, NOP);
    program.extend([jr(RA), addiu(T1, T0, 1)]);
    let (report, registers) = run_program(&program);
    assert_exit(&report);
    assert_eq!(registers[1 + T1 as usize], 9);
    // Neither jal nor jr has a prediction.
    assert_eq!(cause(&report, "mispredicted branches"), 3 + 6);
}

#[test]
fn a_likely_branch_annuls_its_delay_slot_unless_it_is_taken() {
    let with = |rs| {
        let (report, registers) = run_program(&then_exit(&[beql(rs, ZERO, 1), addiu(T0, T0, 1), addiu(T1, T1, 1)]));
        assert_exit(&report);
        let annulled = cause(&report, "annulled delay slots");
        (registers[1 + T0 as usize], registers[1 + T1 as usize], annulled, report.cores[0].cycles.0 - EXIT_CYCLES)
    };
    assert_eq!(with(ZERO), (1, 1, 0, 3 + 6));
    let mut program = vec![addiu(T2, ZERO, 1), beql(T2, ZERO, 1), addiu(T0, T0, 1), addiu(T1, T1, 1)];
    program.extend(EXIT);
    let (report, registers) = run_program(&program);
    assert_exit(&report);
    assert_eq!((registers[1 + T0 as usize], registers[1 + T1 as usize]), (0, 1));
    assert_eq!(cause(&report, "annulled delay slots"), 1);
    assert_eq!(report.cores[0].instructions, 3 + 3);
}

#[test]
fn system_instructions_take_their_time() {
    assert_eq!(cycles_of(&[mfc0(T0, STATUS), NOP]), 2 + 1);
    assert_eq!(cycles_of(&[mfc0(T0, STATUS), mtc0(T0, STATUS), 0x0000_000f]), 2 + 2 + 1);
}

// ---- Memory

#[test]
fn kseg0_is_cached_and_kseg1_is_not() {
    let program =
        [la(S0, KSEG0 + DDR), la(S1, KSEG1 + DDR), lw(T0, S0, 0), lw(T0, S0, 4), lw(T0, S1, 0), sw(T0, S1, 4)];
    let (report, _) = run_program(&then_exit(&program));
    assert_exit(&report);
    // A line of eight words; two single ones.
    assert_eq!((cause(&report, "load: ddr"), cause(&report, "store: ddr")), (10 + 7 + 10, 10));
}

#[test]
fn uncached_code_is_fetched_word_by_word() {
    let mut machine = machine(KSEG1 + SLOW, &then_exit(&[NOP, NOP]));
    let report = run(&mut machine);
    assert_exit(&report);
    assert_eq!((cause(&report, "fetch: slow"), cause(&report, "interconnect: ahb")), (5 * 3, 5 * 3));
}

#[test]
fn cached_code_is_fetched_by_lines() {
    // Two lines: the loop lies across them.
    let program = [NOP, NOP, NOP, NOP, addiu(T0, ZERO, 50), addiu(T0, T0, -1), NOP, bne(T0, ZERO, -3), NOP];
    let mut machine = machine(KSEG0 + DDR, &then_exit(&program));
    let report = run(&mut machine);
    assert_exit(&report);
    assert_eq!(cause(&report, "fetch: ddr"), 2 * (10 + 7));
    assert_eq!(cause(&report, "issue"), 5 + 50 * 4 + 3);
}

#[test]
fn any_word_is_moved_by_two_instructions() {
    let program = [
        la(S0, KSEG0 + DDR),
        lwl(T0, S0, 4),
        lwr(T0, S0, 1),
        swl(T0, S0, 14),
        swr(T0, S0, 11),
        lbu(T1, S0, 12),
        la(S1, KSEG1 + DDR),
        swr(T0, S1, 22),
        lw(T2, S1, 20),
    ];
    let mut machine = machine(PROGRAM, &then_exit(&program));
    put(&mut machine, KSEG0 + DDR, &[0x4433_2211, 0x8877_6655]);
    let report = run(&mut machine);
    assert_exit(&report);
    let registers = machine.registers();
    assert_eq!(registers[1 + T0 as usize], 0x5544_3322);
    assert_eq!(registers[1 + T1 as usize], 0x33);
    assert_eq!(registers[1 + T2 as usize], 0x3322_0000);
}

#[test]
fn a_conditional_store_needs_its_load() {
    let program =
        [la(S0, KSEG0 + DDR), addiu(T1, ZERO, 7), ll(T0, S0, 0), sc(T1, S0, 0), addiu(T2, ZERO, 9), sc(T2, S0, 0)];
    let mut machine = machine(PROGRAM, &then_exit(&program));
    assert_exit(&run(&mut machine));
    let registers = machine.registers();
    assert_eq!((registers[1 + T1 as usize], registers[1 + T2 as usize]), (1, 0));
    let mut bytes = [0; 4];
    assert!(machine.bus().peek(DDR, &mut bytes));
    assert_eq!(u32::from_le_bytes(bytes), 7);
}

#[test]
fn cache_operations_reach_the_line_that_they_name() {
    // Index Writeback Invalidate (D), Hit Invalidate (I), Index Invalidate (I).
    let dirty = [la(S0, KSEG0 + DDR), sw(T0, S0, 0)];
    let written_back = |operation: u32, offset: i32| {
        let program = [&dirty[..], &[cache(operation, S0, offset), lw(T0, S0, 0)]].concat();
        let (report, _) = run_program(&then_exit(&program));
        assert_exit(&report);
        let fills = report.counters.iter().find(|(name, _)| name == "cpu0.d-cache fills").map(|(_, fills)| *fills);
        (fills, report.counters.contains(&("cpu0.d-cache write-backs".into(), 1)))
    };
    // Sets are 256 bytes apart in their ways: the line is in one of the two.
    let by_index = [written_back(0x01, 0), written_back(0x01, 0x100)];
    assert!(by_index.contains(&(Some(2), true)) && by_index.contains(&(Some(1), false)), "{by_index:?}");
    assert_eq!(written_back(0x15, 4), (Some(2), true));
    assert_eq!(written_back(0x19, 4), (Some(1), true));
    assert_eq!(written_back(0x11, 4), (Some(2), false));
    assert_eq!(written_back(0x15, 32), (Some(1), false));
    assert_eq!(written_back(0x10, 0), (Some(1), false));
}

// ---- Exceptions

/// A program that begins with vectors in memory, with a handler.
fn with_handler(program: &[u32], handler: &[u32]) -> Machine {
    let program = [&[NORMAL], program, &EXIT].concat();
    let mut machine = machine(PROGRAM, &program);
    put(&mut machine, GENERAL_VECTOR, handler);
    machine
}

/// Returns to after the instruction that raised the exception.
const RETURN_AFTER: [u32; 4] = [0x401a_7000, 0x275a_0004, 0x409a_7000, ERET];

#[test]
fn a_system_call_comes_back() {
    let mut machine = with_handler(&[SYSCALL, addiu(T0, T0, 1)], &[&[addiu(T0, T0, 0x10)], &RETURN_AFTER[..]].concat());
    let report = run(&mut machine);
    assert_exit(&report);
    assert_eq!(machine.registers()[1 + T0 as usize], 0x11);
    // The call's own cycle, and the entry of the handler.
    assert_eq!(cause(&report, "exception entry"), 1 + 5);
    assert!(report.notes.is_empty());
}

#[test]
fn an_exception_in_a_delay_slot_reports_its_branch() {
    let overflows = [lui(T0, 0x7fff), ori(T0, T0, 0xffff), beq(ZERO, ZERO, 2), addi(T1, T0, 1), NOP, addiu(T2, T2, 1)];
    let handler = [mfc0(T3, CAUSE), mfc0(S0, EPC), addiu(T0, ZERO, 3), mfc0(S1, EPC), mtc0(S1, EPC), ERET];
    let mut machine = with_handler(&overflows, &handler);
    let report = run(&mut machine);
    assert_exit(&report);
    let registers = machine.registers();
    assert_eq!(registers[1 + T3 as usize], 1 << 31 | 12 << 2, "BD, Ov");
    assert_eq!(registers[1 + S0 as usize], PROGRAM + 12);
    assert_eq!((registers[1 + T1 as usize], registers[1 + T2 as usize]), (4, 1), "the branch was run again");
    assert_eq!(report.notes, ["pc 0x80000410: integer overflow (the firmware's trap handler took it)"]);
}

#[test]
fn faults_without_a_handler_end_the_run() {
    let text = |program: &[u32], handler: &[u32]| fault_text(&run(&mut with_handler(program, handler))).to_owned();
    assert_eq!(
        text(&[0x7000_0002 | 0x3c], &[]),
        "cpu0: pc 0x80000404: reserved instruction 0x7000003e: MXU, the media extension of XBurst, which is not \
         modelled; lr 0x00000000; there is no handler at its exception vector"
    );
    assert_eq!(
        text(&[la(S0, KSEG1 + 0x1800_0000), lw(T0, S0, 8)], &[beq(ZERO, ZERO, -1)]),
        "cpu0: pc 0x80000408: bus error: 4-byte load at 0x18000008: nothing is mapped there; nearest: late \
         0x10000000-0x100000ff; the instruction: lw $t0, 8($s0); its handler is a branch to itself; --unmapped warn \
         goes on"
    );
    assert_eq!(
        text(&[la(S0, KSEG1 + DEVICE), sw(T0, S0, 12)], &[j(GENERAL_VECTOR)]),
        "cpu0: pc 0x80000408: bus error: 4-byte store at 0x1000000c: late answered with an error; the \
         instruction: sw $t0, 0xc($s0); its handler is a branch to itself"
    );
    let unaligned = text(&[la(S0, KSEG0), lw(T0, S0, 2)], &[]);
    assert!(
        unaligned.starts_with(
            "cpu0: pc 0x80000408: address error: 4-byte load at 0x80000002, which is no multiple of its size"
        ),
        "{unaligned}"
    );
    let jump = text(&[la(S0, KSEG0), addiu(S0, S0, 0x402), jr(S0), NOP], &[]);
    assert!(
        jump.starts_with("cpu0: pc 0x80000402: address error: instruction fetch at 0x80000402, which is no multiple"),
        "{jump}"
    );
    // The handler's first instruction fails as well.
    let nested = text(&[SYSCALL], &[SYSCALL]);
    assert!(nested.ends_with("it happened at its own exception vector"), "{nested}");
    let again = text(&[SYSCALL], &[addiu(T0, ZERO, 1), lw(T0, ZERO, 1)]);
    assert!(again.ends_with("its handler raises it again and again"), "{again}");
}

#[test]
fn vectors_in_the_boot_rom_lead_nowhere() {
    let (report, _) = run_program(&[SYSCALL]);
    let text = fault_text(&report);
    assert!(
        text.contains("system call; nothing can be fetched at its exception vector (while Status.BEV is set"),
        "{text}"
    );
}

#[test]
fn a_call_in_a_loop_is_no_endless_exception() {
    let program = [addiu(T0, ZERO, 3000), SYSCALL, addiu(T0, T0, -1), bne(T0, ZERO, -3), NOP];
    // The handler sees the same registers each time.
    let handler =
        [&[addu(K1, T0, ZERO), addiu(T0, ZERO, 0)][..], &RETURN_AFTER[..3], &[addu(T0, K1, ZERO), ERET]].concat();
    let mut machine = with_handler(&program, &handler);
    let report = machine.run(engine::time::Ps::from_us(1000), |_| true);
    assert_exit(&report);
    assert!(report.counters.contains(&("cpu0.exceptions".into(), 3000)));
}

// ---- The TLB

/// Maps the pair of pages at `va` to DDR's second half, and reads there.
fn mapped(lo: u32) -> Vec<u32> {
    vec![
        lui(T0, 0x0040),
        mtc0(T0, ENTRY_HI),
        lui(T1, (DDR + 0x8000) >> 12 << 6 >> 16),
        ori(T1, T1, (DDR + 0x8000) >> 12 << 6 & 0xffff | lo),
        mtc0(T1, ENTRY_LO0),
        mtc0(T1, ENTRY_LO1),
        TLBWI,
        addiu(T2, ZERO, 77),
        sw(T2, T0, 8),
        lw(T3, T0, 0x1008),
    ]
}

#[test]
fn pages_lead_where_the_tlb_says() {
    // Cached, dirty, valid, global.
    let mut machine = with_handler(&mapped(3 << 3 | 7), &[]);
    let report = run(&mut machine);
    assert_exit(&report);
    assert_eq!(machine.registers()[1 + T3 as usize], 77, "both pages are the same");
    let text = fault_text(&run(&mut with_handler(&mapped(3 << 3 | 3), &[]))).to_owned();
    assert!(
        text.contains("pc 0x80000424: TLB modified: 4-byte store at 0x00400008: a page that is not writable"),
        "{text}"
    );
}

#[test]
fn a_refill_handler_maps_what_is_missed() {
    // The handler enters the missing pair; the program's second page is another entry of the pair.
    let program = [lui(T0, 0x0040), addiu(T2, ZERO, 5), sw(T2, T0, 0), lw(T3, T0, 0)];
    let refill = [
        lui(K1, (DDR + 0x8000) >> 12 << 6 >> 16),
        ori(K1, K1, (DDR + 0x8000) >> 12 << 6 & 0xffff | 3 << 3 | 7),
        mtc0(K1, ENTRY_LO0),
        mtc0(K1, ENTRY_LO1),
        0x4200_0006,
        ERET,
    ];
    let mut machine = with_handler(&program, &[]);
    put(&mut machine, REFILL_VECTOR, &refill);
    let report = run(&mut machine);
    assert_exit(&report);
    assert_eq!(machine.registers()[1 + T3 as usize], 5);
    assert!(report.notes.is_empty() && report.counters.contains(&("cpu0.exceptions".into(), 1)));
}

/// Enters the pair of pages at 4 MiB, for an address space, as entry `index`: both are the page at `physical`, cached
/// and writable.
fn entry(index: i32, asid: i32, physical: u32) -> Vec<u32> {
    let lo = physical >> 12 << 6 | 3 << 3 | 6;
    vec![
        addiu(K0, ZERO, index),
        mtc0(K0, 0),
        lui(K0, 0x0040),
        addiu(K0, K0, asid),
        mtc0(K0, ENTRY_HI),
        lui(K1, lo >> 16),
        ori(K1, K1, lo & 0xffff),
        mtc0(K1, ENTRY_LO0),
        mtc0(K1, ENTRY_LO1),
        TLBWI,
    ]
}

#[test]
fn another_address_space_has_other_code_and_data() {
    // One function at the same address of both, which adds a number of its own and one from memory.
    let call = [lui(T0, 0x0040), 0x0100_f809, NOP];
    let switch = [lui(K0, 0x0040), addiu(K0, K0, 1), mtc0(K0, ENTRY_HI)];
    let pages = [entry(0, 1, DDR + 0x8000), entry(1, 2, DDR + 0xa000)].concat();
    let program = [&pages[..], &call, &switch, &call, &call].concat();
    let mut machine = with_handler(&program, &[]);
    for (n, page) in [(1, 0x8000), (100, 0xa000)] {
        let function = [lw(T1, T0, 0x40), addiu(T2, T2, n), jr(RA), addu(T3, T3, T1)];
        put(&mut machine, KSEG0 + DDR + page, &function);
        put(&mut machine, KSEG0 + DDR + page + 0x40, &[10 * n as u32]);
    }
    assert_exit(&run(&mut machine));
    let registers = machine.registers();
    assert_eq!((registers[1 + T2 as usize], registers[1 + T3 as usize]), (102, 1020));
}

#[test]
fn user_mode_has_no_way_into_the_kernels_segments() {
    let enter = [&entry(0, 0, DDR + 0x8000)[..], &[la(S0, KSEG0 + DDR), sw(T0, S0, 0), lw(T0, S0, 0)]].concat();
    // EPC, then Status: UM, EXL.
    let to_user = [lui(T0, 0x0040), mtc0(T0, EPC), ori(T1, ZERO, 0x12), mtc0(T1, STATUS), ERET];
    let handler = [&[mfc0(T2, CAUSE), mfc0(T3, EPC)], &EXIT[..]].concat();
    for (user, code, at) in [
        ([NOP, lw(T0, S0, 0)], 4, 0x0040_0004),
        ([NOP, sw(T0, S0, 0)], 5, 0x0040_0004),
        ([jr(S0), NOP], 4, KSEG0 + DDR),
        ([NOP, mfc0(T0, STATUS)], 11, 0x0040_0004),
        ([NOP, ERET], 11, 0x0040_0004),
    ] {
        let mut machine = with_handler(&[&enter[..], &to_user].concat(), &handler);
        put(&mut machine, KSEG0 + DDR + 0x8000, &user);
        assert_exit(&run(&mut machine));
        let registers = machine.registers();
        assert_eq!((registers[1 + T2 as usize] >> 2 & 31, registers[1 + T3 as usize]), (code, at), "{user:x?}");
    }
}

// ---- Interrupts

/// Lowers the line, and counts in T9.
const ON_INTERRUPT: [u32; 4] = [0x3c1a_b000, 0xaf40_0008, 0x2739_0001, ERET];

#[test]
fn an_interrupt_is_taken_at_its_time_and_returned_from() {
    // Raised 100 cycles after the store reached the device.
    let program = [
        la(S0, KSEG1 + DEVICE),
        addiu(T0, ZERO, 100),
        ori(T1, ZERO, ENABLED),
        mtc0(T1, STATUS),
        sw(T0, S0, 4),
        beq(T9, ZERO, -1),
        addiu(T2, T2, 1),
    ];
    let mut machine = with_handler(&program, &ON_INTERRUPT);
    let report = run(&mut machine);
    assert_exit(&report);
    assert!(report.counters.contains(&("cpu0.exceptions".into(), 1)));
    // The store's answer comes one cycle after the device has it. The first iteration, with a wrong prediction, takes 8
    // cycles, others 2: the interrupt comes before a delay slot, whose branch is run again, and falls through.
    let iterations = machine.registers()[1 + T2 as usize];
    assert_eq!(iterations, 1 + (100 - 1 - 8) / 2 + 1);
}

#[test]
fn interrupts_that_software_asks_for_are_taken_once_they_are_enabled() {
    // Cause.IP0; Status.IM0 and IE.
    let program =
        [ori(T0, ZERO, 0x100), mtc0(T0, CAUSE), NOP, ori(T1, ZERO, 0x101), mtc0(T1, STATUS), addiu(T2, T2, 1)];
    let handler = [mtc0(ZERO, CAUSE), addu(T3, T2, ZERO), addiu(T9, T9, 1), ERET];
    let mut machine = with_handler(&program, &handler);
    assert_exit(&run(&mut machine));
    let registers = machine.registers();
    assert_eq!((registers[1 + T9 as usize], registers[1 + T3 as usize]), (1, 0), "before the next instruction");
}

#[test]
fn an_interrupt_without_a_handler_ends_the_run() {
    let program = [ori(T0, ZERO, 0x100), mtc0(T0, CAUSE), ori(T1, ZERO, 0x101), mtc0(T1, STATUS), NOP];
    let report = run(&mut with_handler(&program, &[]));
    assert_eq!(fault_text(&report), "cpu0: pc 0x80000414: interrupt; there is no handler at its exception vector");
}

// ---- Hosting interface

#[test]
fn the_hosting_interface_prints_and_ends_the_run() {
    let text = PROGRAM + 0x100;
    // write(1, text, 5), then exit(3).
    let program = [
        addiu(T9, ZERO, 5),
        addiu(A0, ZERO, 1),
        la(5, text),
        ori(5, 5, text & 0xffff),
        addiu(6, ZERO, 5),
        0x7000_007f,
        addu(T0, V0, ZERO),
        addiu(T9, ZERO, 1),
        addiu(A0, ZERO, 3),
        0x7000_007f,
    ];
    let mut machine = machine(PROGRAM, &program);
    put(&mut machine, text, &[u32::from_le_bytes(*b"hell"), u32::from(b'o')]);
    let mut printed = Vec::new();
    let report = machine.run(engine::time::Ps::from_us(100), |text| {
        printed.extend_from_slice(&text.console);
        true
    });
    assert_eq!((report.outcome, printed.as_slice()), (Outcome::Exit(3), &b"hello"[..]));
    assert_eq!(machine.registers()[1 + T0 as usize], 5);
}

#[test]
fn parts_of_words_in_lines_used_in_turn_need_no_shortcuts_to_take_their_time() {
    // Three lines of a set; the cache holds two at a time. sb, sh and lb.
    let part = |code: u32, offset: u32| code << 26 | S0 << 21 | T0 << 16 | offset;
    let body = [
        [lwl(T0, S0, 5), lwr(T0, S0, 0x102), swl(T0, S0, 6), swr(T0, S0, 0x105), part(0x28, 7), part(0x29, 0x10a)],
        [part(0x20, 0x107), lwl(T0, S0, 9), sw(T0, S0, 0x100), swl(T0, S0, 0x10d), lw(T0, S0, 0), lwr(T0, S0, 0x20e)],
    ]
    .concat();
    let count = [addiu(T1, T1, -1), bne(T1, ZERO, -(body.len() as i32) - 2), NOP];
    let begin = [la(S0, KSEG0 + DDR), addiu(T1, ZERO, 60)];
    let program = then_exit(&[&begin[..], &body, &count].concat());
    let run = |compile_after: u16, is_shared: bool| {
        let mut machine = machine(PROGRAM, &program);
        machine.compile_after(compile_after);
        put(&mut machine, KSEG0 + DDR, &(0..256).map(|n: u32| n.wrapping_mul(0x1234_5677)).collect::<Vec<_>>());
        if is_shared {
            machine.bus().rams.iter_mut().for_each(Ram::share);
        }
        let report = run(&mut machine);
        assert_exit(&report);
        let mut data = vec![0; 1024];
        assert!(machine.bus().peek(DDR, &mut data));
        (report, machine.registers(), data)
    };
    let expected = run(0, true);
    assert_eq!(run(0, false), expected);
    assert_eq!(run(2, false), expected);
}

//! The core in a small machine: what instructions cost, traps, interrupts, caches, and that no cycle is lost.

use crate::Outcome;
use crate::whole::conformance::with_and_without_skipping;
use crate::whole::support::riscv::*;
use engine::cpu::memory_system::MemoryConfig;
use engine::isa::riscv::timing::CoreTiming;
use engine::memory::cache::{CacheShape, WritePolicy};

// ---- Static costs

#[test]
fn a_loop_pays_for_its_taken_branches() {
    // 10 iterations of addi and bne; the branch is taken 9 times at 3 cycles, once not at 1.
    let (report, _) = run_program(&then_exit(&[addi(5, 0, 10), addi(5, 5, -1), bne(5, 0, -4)]));
    assert_exit(&report);
    assert_eq!(report.cores[0].cycles.0, 1 + 10 + 9 * 3 + 1 + EXIT_CYCLES);
    assert_eq!(cause(&report, "jumps and taken branches"), 9 * 2);
}

#[test]
fn a_predicted_loop_pays_most_for_its_end() {
    // The branch is taken 9 times at 3 cycles, as predicted, once not at 6; the forward one after it is taken at 6.
    let timing = CoreTiming { mispredicted_branch: Some(6), ..timing() };
    let program = then_exit(&[addi(5, 0, 10), addi(5, 5, -1), bne(5, 0, -4), beq(5, 0, 8), NOP]);
    let report = run(&mut machine_with(timing, LOCAL, &program, 1));
    assert_exit(&report);
    assert_eq!(report.cores[0].cycles.0, 1 + 10 + 9 * 3 + 6 + 6 + EXIT_CYCLES);
    assert_eq!(cause(&report, "jumps and taken branches"), 9 * 2 + 5 + 5);
}

#[test]
fn a_dependent_instruction_waits_for_a_load_across_a_branch_not_taken() {
    for (program, stall) in [
        (vec![lw(5, 0, 0x40), addi(6, 5, 0)], 1),
        (vec![lw(5, 0, 0x40), NOP, addi(6, 5, 0)], 0),
        (vec![lw(5, 0, 0x40), beq(5, 5, 4), NOP], 1),
        (vec![lw(5, 0, 0x40), jal(0, 4), addi(6, 5, 0)], 0),
    ] {
        let (report, _) = run_program(&then_exit(&program));
        assert_exit(&report);
        assert_eq!(cause(&report, "load and multiply results"), stall, "{program:x?}");
    }
}

#[test]
fn a_division_takes_its_cycles() {
    let (report, registers) = run_program(&then_exit(&[addi(5, 0, 100), addi(6, 0, 7), divu(7, 5, 6)]));
    assert_exit(&report);
    assert_eq!(registers[1 + 7], 14);
    assert_eq!(report.cores[0].cycles.0, 2 + 34 + EXIT_CYCLES);
    assert_eq!(cause(&report, "long operations"), 33);
}

#[test]
fn counters_count_up_to_their_own_instruction() {
    let (report, registers) =
        run_program(&then_exit(&[NOP, NOP, csrrs(5, MCYCLE, 0), csrrs(6, MINSTRET, 0), csrrs(7, MCYCLE, 0)]));
    assert_exit(&report);
    assert_eq!(registers[1 + 5..=1 + 7], [2, 3, 4]);
}

// ---- Memory

#[test]
fn a_miss_fills_a_line_and_the_next_access_is_free() {
    // A line is 4 words: 10 + 3 = 13 cycles, once.
    let program = then_exit(&[lui(5, DDR), lw(6, 5, 0), lw(7, 5, 12), sw(6, 5, 4), lw(6, 5, 4)]);
    let (report, _) = run_program(&program);
    assert_exit(&report);
    assert_eq!(cause(&report, "load: ddr"), 13);
    assert_eq!(report.cores[0].cycles.0, 5 + 13 + EXIT_CYCLES);
}

#[test]
fn a_dirty_line_is_written_back_before_its_place_is_taken() {
    // Four sets of 16 bytes: DDR and DDR + 64 share one. Store miss: 13; load of the other: write back 13, fill 13.
    let (report, registers) =
        run_program(&then_exit(&[lui(5, DDR), addi(6, 0, 42), sw(6, 5, 0), lw(7, 5, 64), lw(8, 5, 0)]));
    assert_exit(&report);
    assert_eq!(registers[1 + 8], 42);
    assert_eq!(cause(&report, "store: ddr"), 13 + 13);
    assert_eq!(cause(&report, "load: ddr"), 13 + 13);
    assert!(report.counters.contains(&("cpu0.d-cache.write-backs".into(), 1)));
}

#[test]
fn a_store_goes_through_to_memory_where_the_cache_keeps_none() {
    // The first store misses and changes nothing in the cache, so the load fills; the second hits, and goes out as
    // well.
    let program = then_exit(&[lui(5, DDR), sw(0, 5, 0), lw(6, 5, 0), sw(5, 5, 4), lw(7, 5, 4)]);
    let dcache = cache(1).map(|shape| CacheShape { write: WritePolicy::WriteThrough, ..shape });
    let (report, registers) = run_to_end(machine_of(config(cache(1), dcache), LOCAL, &program));
    assert_exit(&report);
    assert_eq!(registers[1 + 7], DDR);
    assert_eq!(cause(&report, "store: ddr"), 2 * 10);
    assert_eq!(cause(&report, "load: ddr"), 13);
    assert!(report.counters.contains(&("cpu0.d-cache.write-backs".into(), 0)));
}

#[test]
fn a_load_whose_line_fill_fails_faults_at_its_own_address() {
    // The handler after the program ends the run; the device answers bursts with an error, though caches may keep it.
    let program = then_exit(&[addi(5, 0, 16), csrrw(0, MTVEC, 5), lui(5, DEVICE), lw(6, 5, 0x18), csrrs(7, MTVAL, 0)]);
    let mut machine = machine(LOCAL, &program, 1);
    machine.bus().map.iter_mut().filter(|entry| entry.base == DEVICE).for_each(|entry| entry.cacheable = true);
    let (report, registers) = run_to_end(machine);
    assert_exit(&report);
    assert_eq!(registers[1 + 7], DEVICE + 0x18);
    // To the device and back; no line was filled, and none was written back.
    assert_eq!(cause(&report, "load: late"), 3);
}

#[test]
fn stores_wait_in_a_buffer_and_a_device_waits_for_them() {
    let program = then_exit(&[lui(5, BRAM), lui(6, DEVICE), sw(0, 5, 0), sw(0, 5, 16), lw(7, 6, 0)]);
    let cycles = |entries| {
        let mut config = config(None, None);
        config.memory = MemoryConfig { store_buffer_entries: entries, ..config.memory };
        let report = run(&mut machine_of(config, LOCAL, &program));
        assert_exit(&report);
        (report.cores[0].cycles.0, cause(&report, "store buffer"))
    };
    // A store takes 2 + 3 + 1, the load 2 + 7 + 1.
    assert_eq!(cycles(0), (5 + EXIT_CYCLES + 2 * 6 + 10, 0));
    // The stores are written one after the other from the end of the first's own cycle on; the load is ordered after
    // both.
    assert_eq!(cycles(2), (5 + EXIT_CYCLES + 12 - 2 + 10, 10));
}

#[test]
fn two_ways_keep_two_lines_of_a_set_and_drop_the_older() {
    let program = then_exit(&[lui(5, DDR), lw(6, 5, 0), lw(6, 5, 64), lw(6, 5, 0), lw(6, 5, 128), lw(6, 5, 0)]);
    let mut machine = machine(LOCAL, &program, 2);
    let report = run(&mut machine);
    assert_exit(&report);
    // 0, 64 and 128 miss; 0 hits twice, as it is the younger one when 128 comes.
    assert_eq!(cause(&report, "load: ddr"), 3 * 13);
}

#[test]
fn code_in_ddr_is_fetched_by_lines() {
    // 3 instructions and EXIT's 5 that are fetched: 9 with its second mark, in 3 lines of 4.
    let mut machine = machine(DDR, &then_exit(&[NOP, NOP, NOP]), 1);
    let report = run(&mut machine);
    assert_exit(&report);
    assert_eq!(cause(&report, "fetch: ddr"), 2 * 13);
    assert_eq!(report.cores[0].cycles.0, 3 + EXIT_CYCLES + 2 * 13);
}

#[test]
fn uncached_code_is_fetched_word_by_word() {
    // Each word: 2 + 3 + 1 cycles; 1 + 5 words.
    let mut machine = machine(BRAM, &then_exit(&[NOP]), 1);
    let report = run(&mut machine);
    assert_exit(&report);
    assert_eq!(cause(&report, "fetch: bram"), 6 * 3);
    assert_eq!(cause(&report, "interconnect: axi"), 6 * 3);
}

#[test]
fn a_device_access_costs_the_way_and_the_device() {
    let (report, registers) = run_program(&then_exit(&[lui(5, DEVICE), addi(6, 0, 5), sw(6, 5, 0), lw(7, 5, 0)]));
    assert_exit(&report);
    assert_eq!(registers[1 + 7], 5);
    assert_eq!(cause(&report, "load: late"), 7);
    assert_eq!(cause(&report, "interconnect: axi"), 2 * 3);
    assert_eq!(report.cores[0].cycles.0, 4 + 3 + 3 + 7 + EXIT_CYCLES);
}

#[test]
fn what_comes_due_on_the_way_to_a_device_comes_first() {
    // The event is due n cycles after the write arrives. The load begins 2 cycles after that (response, its own cycle)
    // and arrives after 2 more.
    for (after, seen) in [(3, 6), (4, 6), (5, 5)] {
        let program = [lui(5, DEVICE), addi(6, 0, 5), sw(6, 5, 0), addi(7, 0, after), sw(7, 5, 4), lw(8, 5, 0)];
        let (report, registers) = run_program(&then_exit(&program));
        assert_exit(&report);
        assert_eq!(registers[1 + 8], seen, "due after {after}");
    }
}

#[test]
fn fence_i_empties_the_instruction_cache() {
    let mut machine = machine(DDR, &then_exit(&[NOP, FENCE_I]), 1);
    let report = run(&mut machine);
    assert_exit(&report);
    // The first line is fetched twice, the second once.
    assert_eq!(cause(&report, "fetch: ddr"), 3 * 13);
}

// ---- Exceptions

/// Runs `program` with a handler that keeps mcause, mepc and mtval in x28 to x30 and ends the run.
fn trapped(program: &[u32]) -> [u32; 3] {
    const HANDLER: u32 = 0x800;
    let begin = [addi(31, 0, 0x400), add(31, 31, 31), csrrw(0, MTVEC, 31)];
    let mut machine = machine(LOCAL, &[&begin, program].concat(), 1);
    let handler = [csrrs(28, MCAUSE, 0), csrrs(29, MEPC, 0), csrrs(30, MTVAL, 0)];
    put(&mut machine, HANDLER, &then_exit(&handler));
    let report = run(&mut machine);
    assert_exit(&report);
    assert_eq!(cause(&report, "trap entry"), 5);
    let registers = machine.registers();
    [registers[1 + 28], registers[1 + 29], registers[1 + 30]]
}

#[test]
fn exceptions_have_their_cause_address_and_value() {
    const UNMAPPED: u32 = 0x2000_0000;
    for (what, program, expected) in [
        ("illegal", vec![NOP, 0xffff_ffff], [2, 16, 0xffff_ffff]),
        ("illegal CSR", vec![csrrs(5, 0x7c0, 0)], [2, 12, csrrs(5, 0x7c0, 0)]),
        ("read-only CSR", vec![csrrw(0, 0xf14, 5)], [2, 12, csrrw(0, 0xf14, 5)]),
        ("load misaligned", vec![lw(5, 0, 0x102)], [4, 12, 0x102]),
        ("store misaligned", vec![sw(5, 0, 0x101)], [6, 12, 0x101]),
        ("load from nothing", vec![lui(5, UNMAPPED), lw(6, 5, 8)], [5, 16, UNMAPPED + 8]),
        ("store to nothing", vec![lui(5, UNMAPPED), sw(6, 5, 4)], [7, 16, UNMAPPED + 4]),
        ("device error", vec![lui(5, DEVICE), lw(6, 5, 12)], [5, 16, DEVICE + 12]),
        ("jump to nothing", vec![lui(5, UNMAPPED), jalr(0, 5, 0)], [1, UNMAPPED, UNMAPPED]),
        ("ecall", vec![NOP, ECALL], [11, 16, 0]),
        ("ebreak", vec![NOP, EBREAK], [3, 16, 16]),
    ] {
        assert_eq!(trapped(&program), expected, "{what}");
    }
}

#[test]
fn a_trap_without_a_handler_ends_the_run_with_the_reason() {
    let cases = [
        (
            vec![lui(5, 0x2000_0000), lw(6, 5, 0)],
            "cpu0: pc 0x00000004: load access fault: 4-byte load at 0x20000000: nothing is mapped there; nearest: \
             local 0x00000000-0x0000ffff; the instruction: lw t1, 0(t0); no trap handler is set (mtvec has not been \
             written); --unmapped warn goes on",
        ),
        (
            vec![0],
            "cpu0: pc 0x00000000: illegal instruction 0x00000000; no trap handler is set (mtvec has not been written)",
        ),
        (
            vec![lui(5, DEVICE), lw(6, 5, 12)],
            "cpu0: pc 0x00000004: load access fault: 4-byte load at 0x4000000c: late answered with an error; the \
             instruction: lw t1, 12(t0); no trap handler is set (mtvec has not been written)",
        ),
        (
            vec![lw(6, 0, 1)],
            "cpu0: pc 0x00000000: load address misaligned: 4-byte load at 0x00000001, which is no multiple of its \
             size; the instruction: lw t1, 1(zero); no trap handler is set (mtvec has not been written)",
        ),
        (
            vec![lui(5, 0x3000_0000), csrrw(0, MTVEC, 5), ECALL],
            "cpu0: pc 0x00000008: environment call from machine mode; mtvec points to no memory",
        ),
        (
            vec![addi(5, 0, 8), csrrw(0, MTVEC, 5), EBREAK],
            "cpu0: pc 0x00000008: breakpoint; it happened on the first instruction of the trap handler",
        ),
    ];
    for (program, message) in cases {
        let (report, _) = run_program(&program);
        assert_eq!(report.outcome, Outcome::Fault(message.into()));
        assert_sums(&report);
    }
}

// ---- Interrupts

/// Enables the external interrupt with its handler at 0x800, and asks the device for it `after` cycles after its write.
fn with_interrupt(after: i32, rest: &[u32]) -> Vec<u32> {
    let begin = [
        addi(31, 0, 0x400),
        add(31, 31, 31),
        csrrw(0, MTVEC, 31),
        csrrw(0, MIE, 31),
        lui(5, DEVICE),
        addi(6, 0, after),
        sw(6, 5, 4),
        csrrsi(0, MSTATUS, 8),
    ];
    [&begin, rest].concat()
}

#[test]
fn an_interrupt_is_taken_at_the_first_instruction_after_its_time() {
    // The write takes effect at cycle 7 + 2; the interrupt is due 20 cycles later, at 29, amid straight-line code. Of
    // the 64 nops, those that issue at cycles 11 to 28 run: the next is the one that is interrupted.
    let mut machine = machine(LOCAL, &with_interrupt(20, &[NOP; 64]), 1);
    put(&mut machine, 0x800, &then_exit(&[csrrs(29, MEPC, 0), csrrs(28, MCAUSE, 0)]));
    let report = run(&mut machine);
    assert_exit(&report);
    let registers = machine.registers();
    assert_eq!(registers[1 + 28], 0x8000_000b);
    assert_eq!(registers[1 + 29], 4 * (8 + (29 - 11)));
    assert_eq!(report.cores[0].cycles.0, 29 + 5 + 2 + EXIT_CYCLES);
}

#[test]
fn wfi_sleeps_to_the_interrupt_and_the_time_is_charged() {
    let mut machine = machine(LOCAL, &with_interrupt(1000, &then_exit(&[WFI])), 1);
    put(&mut machine, 0x800, &[csrrs(28, MCAUSE, 0), sw(0, 5, 8), MRET]);
    let report = run(&mut machine);
    assert_exit(&report);
    // Due at 9 + 1000; the wfi was over at 12.
    assert_eq!(cause(&report, "wait for interrupt"), 1009 - 12);
    // Handler: trap 5, csr 1, store 1 + 3, mret 3.
    assert_eq!(report.cores[0].cycles.0, 1009 + 5 + 1 + 4 + 3 + EXIT_CYCLES);
}

// ---- Polling

/// The table of decoded blocks has 65536 places, and each instruction of uncached code takes two. Straight-line code
/// can fill almost all of it: the first look at the loop after it may not find room for the loop's single instructions.
#[test]
fn a_loop_is_skipped_when_the_table_of_blocks_is_nearly_full() {
    // Waits for the device's event, in a loop with 60 nops.
    let iteration = [vec![lw(10, 8, 0)], vec![NOP; 60], vec![beq(10, 0, -4 * 61)]].concat();
    let wait = then_exit(&[&[lui(8, DEVICE), lui(5, 0x18000), addi(5, 5, 1696), sw(5, 8, 4)], &iteration[..]].concat());
    const C_NOP_TWICE: u32 = 0x0001_0001;
    for shorter in [0, 4, 8, 12, 16, 20] {
        let mut filler = vec![C_NOP_TWICE; 0x1_0000 / 4 - 2 - shorter];
        filler.extend([addi(7, 0, LOCAL as i32), jalr(0, 7, 0)]);
        let (_, skipped) = with_and_without_skipping(|| {
            let mut machine = machine(BRAM, &filler, 2);
            put(&mut machine, LOCAL, &wait);
            machine
        });
        assert!(skipped > 90_000, "{skipped}");
    }
}

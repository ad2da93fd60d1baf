//! A Cortex-M4 that runs from the flash of an STM32F4: lines counted by hand, and random programs that are interpreted,
//! compiled, single-stepped and run in slices.

use engine::tiers::sized;
use proptest::prelude::*;
use std::collections::BTreeMap;

use crate::bench::read_plain_node;
use crate::st::flash::stm32f4::from_node;
use engine::bus::device::{AccessSize, DeviceId};
use engine::bus::{Bus, MapEntry, Target};
use engine::core::{Core, CoreReport, Stop};
use engine::cpu::memory_system::MemoryConfig;
use engine::isa::arm::config::CoreConfig;
use engine::isa::arm::instruction_set::cortex_m;
use engine::isa::arm::m_profile::SystemConfig;
use engine::isa::arm::timing::{CoreTiming, ThreeStage};
use engine::memory::cache::{CacheShape, Replacement, WritePolicy};
use engine::memory::ram::{PortTiming, Ram};
use engine::time::{Cycles, Hz, Ps};

const FLASH: u32 = 0x0800_0000;
const REGISTERS: u32 = 0x4002_3c00;
const SRAM: u32 = 0x2000_0000;
const BYTES: u32 = 16 << 10;
const CODE: u32 = FLASH + 0x100;
const TO_ITSELF: u16 = 0xe7fe;
const NARROW: u16 = 0x3001;
const WIDE: [u16; 2] = [0xf101, 0x0101];
const PREFETCH: u32 = 0x100;
const ICACHE: u32 = 0x200;

/// A core, out of reset, with this code; FLASH_ACR has these bits.
fn board(code: &[u16], acr: u32) -> (Box<dyn Core>, Bus) {
    let clock = Hz::new(100_000_000).unwrap();
    let (bench, faults) = read_plain_node(
        from_node,
        &[
            ("reg", &[REGISTERS, 0x400, FLASH, BYTES]),
            ("cyclescope,line-bytes", &[16]),
            ("cyclescope,data-cache-lines", &[8]),
            ("cyclescope,words-ahead", &[3]),
            ("cyclescope,prefetched-lines-kept", &[1]),
            ("cyclescope,prefetch-abandoned", &[1]),
            ("cyclescope,program-us", &[16]),
            ("cyclescope,erase-16k-x8-ms", &[400]),
            ("cyclescope,erase-16k-x16-ms", &[300]),
            ("cyclescope,erase-16k-x32-ms", &[250]),
            ("cyclescope,erase-64k-x8-ms", &[1]),
            ("cyclescope,erase-64k-x16-ms", &[1]),
            ("cyclescope,erase-64k-x32-ms", &[1]),
            ("cyclescope,erase-128k-x8-ms", &[1]),
            ("cyclescope,erase-128k-x16-ms", &[1]),
            ("cyclescope,erase-128k-x32-ms", &[1]),
            ("cyclescope,mass-erase-x8-ms", &[1]),
            ("cyclescope,mass-erase-x16-ms", &[1]),
            ("cyclescope,mass-erase-x32-ms", &[1]),
        ],
    );
    assert_eq!(faults, Vec::<String>::new());
    let mut bus = bench.bus;
    bus.rams = vec![Ram::new(0x1000, PortTiming::symmetric(clock, Cycles(0), Cycles(1), 4))];
    let entry = |name: &str, base: u32, bytes: u32, target, cacheable| {
        MapEntry::new(name, base, base + bytes - 1, target).kept_in_caches(cacheable)
    };
    bus.map = vec![
        entry("flash window", FLASH, BYTES, Target::Device(DeviceId(0), 1), true),
        entry("sram", SRAM, 0x1000, Target::Ram(0), false),
        entry("flash", REGISTERS, 0x400, Target::Device(DeviceId(0), 0), false),
    ];
    let mut place = |at: u32, bytes: &[u8]| assert!(bus.devices[0].as_mut().unwrap().preload(1, at - FLASH, bytes));
    place(FLASH, &(SRAM + 0x1000).to_le_bytes());
    place(FLASH + 4, &(CODE | 1).to_le_bytes());
    place(CODE, &code.iter().flat_map(|half| half.to_le_bytes()).collect::<Vec<u8>>());
    bus.with_device(DeviceId(0), Ps::ZERO, |device, ctx| device.reset(ctx));
    bus.with_device(DeviceId(0), Ps::ZERO, |device, ctx| device.write(0, 0, AccessSize::Word, acr, ctx)).unwrap();
    let (replacement, write) = (Replacement::LeastRecentlyUsed, WritePolicy::WriteBack);
    let icache = Some(CacheShape { size_bytes: 1024, line_bytes: 16, ways: 64, replacement, write });
    let three_stage = ThreeStage { load: 2, register_jump: 2, memory_jump: 3, ..ThreeStage::default() };
    let mut core = cortex_m(CoreConfig {
        name: "cpu".to_owned(),
        index: 0,
        clock,
        timing: CoreTiming { three_stage: Some(three_stage), taken_branch: 2, ..CoreTiming::default() },
        memory: MemoryConfig::unbuffered(clock, icache, None),
        system: SystemConfig::cortex_m4(false, 1, 4, FLASH),
    });
    core.reset(&mut bus);
    bus.master = Some(0);
    (core, bus)
}

/// The address of the next instruction.
fn pc_of(core: &dyn Core) -> u32 {
    core.registers()[0] & !1
}

/// The general registers, from R0 on.
fn general(core: &dyn Core) -> Vec<u32> {
    core.registers()[1..].to_vec()
}

/// Cycles until the instruction at an address is next.
fn cycles_to(code: &[u16], acr: u32, target: u32) -> u64 {
    let (mut core, mut bus) = board(code, acr);
    for _ in 0..10_000 {
        if pc_of(&*core) == target {
            return core.cycles().0;
        }
        bus.run_events(core.now());
        core.step(&mut bus);
    }
    panic!("it does not come there");
}

/// Runs up to a time, or until the core stops.
fn run_to(core: &mut dyn Core, bus: &mut Bus, until: Ps) -> Stop {
    let mut stop = Stop::Horizon;
    while core.now() < until && matches!(stop, Stop::Horizon) {
        let now = core.now();
        bus.run_events(now);
        stop = core.run(bus, until);
    }
    stop
}

/// Cycles of straight-line code, to its end.
fn straight(instructions: &[u16], acr: u32) -> u64 {
    let code = [instructions, &[TO_ITSELF]].concat();
    cycles_to(&code, acr, CODE + 2 * (code.len() as u32 - 1))
}

#[test]
fn straight_code_waits_for_each_line() {
    // RM0090, "Instruction prefetch": a read brings 128 bits: eight instructions of 16, or four of 32. With 5 wait
    // states, four lines: 5 for the first. The core asks for the next one when it has the four words of this one, in
    // the fourth of eight cycles: 1 is left; or in the last of four: 5. The jump to itself is in a fifth line, not
    // fetched.
    assert_eq!(straight(&[NARROW; 32], 0), 32);
    assert_eq!(straight(&[NARROW; 32], 5), 32 + 5 + 3);
    assert_eq!(straight(&[WIDE; 16].concat(), 5), 16 + 4 * 5);
    // With prefetch, the next line arrives 6 cycles after the previous one: it is used in cycle 8, or in 4 + 2.
    assert_eq!(straight(&[NARROW; 32], PREFETCH | 5), 32 + 5);
    assert_eq!(straight(&[WIDE; 16].concat(), PREFETCH | 5), 16 + 5 + 3 * 2);
    // The caches have no effect on code that runs once.
    assert_eq!(straight(&[NARROW; 32], ICACHE | 5), 32 + 5 + 3);
}

#[test]
fn an_instruction_across_two_lines_waits_for_both() {
    // Seven of 16 bits, then one of 32, whose second half is in the second line: the core asks for that when it has the
    // four words of the first one, three cycles before it is due. Five of eight wait states are left.
    let code = [&[NARROW; 7][..], &WIDE, &[NARROW; 2]].concat();
    for acr in [8, ICACHE | 8] {
        assert_eq!(straight(&code, acr), 10 + 8 + 5, "{acr:#x}");
    }
}

#[test]
fn a_loop_of_two_lines_is_fetched_again_unless_it_is_cached() {
    // r7 iterations of 14 additions, subs and bne, which fill two lines exactly. A taken branch takes two cycles, one
    // that is not taken takes one. The core asks for the second line in the fourth of eight cycles: 4 wait states are
    // over when it is due.
    let rounds = 10;
    let mut code = vec![0xbf00; 7];
    code.push(0x2700 | rounds);
    code.extend([NARROW; 14]);
    code.extend([0x3f01, 0xd1ef, TO_ITSELF]);
    let end = CODE + 2 * (code.len() as u32 - 1);
    let (rounds, once) = (u64::from(rounds), cycles_to(&code, 0, end));
    let wait = |acr: u32| cycles_to(&code, acr, end) - once;
    assert_eq!(once, 8 + 16 * rounds + (rounds - 1));
    assert_eq!(wait(4), rounds * 4, "the first line of all, and that of each further round");
    assert_eq!(wait(ICACHE | 4), 4, "each line once");
}

/// movw and movt.
fn constant(register: u16, value: u32) -> Vec<u16> {
    let half = |opcode: u16, imm: u16| {
        let low = (imm >> 8 & 7) << 12 | register << 8 | imm & 0xff;
        [opcode | (imm >> 11 & 1) << 10 | imm >> 12, low]
    };
    [half(0xf240, value as u16), half(0xf2c0, (value >> 16) as u16)].concat()
}

/// A store of a word at an address.
fn store(addr: u32, value: u32) -> Vec<u16> {
    [constant(6, addr), constant(5, value), vec![0x6035]].concat()
}

#[test]
fn what_a_program_writes_to_its_flash_runs_when_that_is_done() {
    let place = FLASH + 0x1000;
    let code = [
        // The keys, FLASH_CR.PG with words; two additions of 5 and a jump to itself.
        store(REGISTERS + 0x04, 0x4567_0123),
        store(REGISTERS + 0x04, 0xcdef_89ab),
        store(REGISTERS + 0x10, 0x201),
        store(place, 0x3005_3005),
        store(place + 4, 0xe7fe_e7fe),
        constant(6, place | 1),
        vec![0x4730],
    ]
    .concat();
    for acr in [0, 5, ICACHE | PREFETCH | 5] {
        let cycles = cycles_to(&code, acr, place + 4);
        // Each word takes 16 us, in which only the cache can answer fetches.
        assert!((3200..3300).contains(&cycles), "{acr:#x}: {cycles}");
        let (mut core, mut bus) = board(&code, acr);
        run_to(&mut *core, &mut bus, Ps(100_000_000));
        assert_eq!(general(&*core)[0], 10, "{acr:#x}");
    }
}

#[test]
fn memory_for_data_gives_no_instructions() {
    let jump = [constant(6, SRAM | 1), vec![0x4730]].concat();
    for refuses in [false, true] {
        let (mut core, mut bus) = board(&jump, 0);
        assert!(bus.poke(SRAM, &[0xfe, 0xe7]));
        if refuses {
            bus.rams[0].refuse_fetches();
        }
        run_to(&mut *core, &mut bus, Ps(1_000_000));
        assert_eq!(pc_of(&*core) == SRAM, !refuses);
    }
}

/// Addresses of a memory as an overlay on the flash, and on its own: neither is on the system bus.
const OVERLAY: u32 = FLASH + 0x1000;
const OWN: u32 = 0x1000_0000;
const OVERLAY_BYTES: u32 = 0x400;

/// The board with one more memory with `cycles`, at address `at`, and code that jumps to its second word.
fn board_with_memory(at: u32, cycles: u64, code: &[u16], acr: u32) -> (Box<dyn Core>, Bus) {
    let (core, mut bus) = board(&[constant(6, at | 5), constant(4, FLASH), vec![0x4730]].concat(), acr);
    bus.rams.push(Ram::new(OVERLAY_BYTES, PortTiming::symmetric(core.clock(), Cycles(cycles), Cycles(1), 4)));
    let entry = MapEntry::new("memory", at, at + OVERLAY_BYTES - 1, Target::Ram(1));
    if at == OVERLAY {
        bus.lay(entry);
    } else {
        bus.map.insert(1, entry);
    }
    bus.set_core_clocks(vec![core.clock()]);
    assert!(bus.poke(at + 4, &code.iter().flat_map(|half| half.to_le_bytes()).collect::<Vec<u8>>()));
    (core, bus)
}

#[test]
fn code_in_an_overlay_takes_the_time_of_its_memory() {
    // 50 iterations: literals from the memory, words of the flash on both sides of an overlay, a store next to the
    // code.
    let code = [
        vec![0x2732],
        // ldr r0, [pc, #36]; ldr r1, [pc, #36]; adds r2, r0, r2.
        vec![0x4809, 0x4909, 0x1882],
        // addw r5, r4, #0xffc; ldr r0, [r5]; ldr.w r1, [r5, #0x404]; adds r2, r1.
        vec![0xf604, 0x75fc, 0x6828, 0xf8d5, 0x1404, 0x1852],
        // subw r5, r6, #5; str.w r2, [r5, #0x3fc]; ldr.w r1, [r5, #0x3fc].
        vec![0xf2a6, 0x0505, 0xf8c5, 0x23fc, 0xf8d5, 0x13fc],
        vec![0x3f01, 0xd1ee, TO_ITSELF, 0, 0x1234, 0x5678, 0x9abc, 0xdef0, 0x1111, 0x2222],
    ]
    .concat();
    let run = |at: u32, cycles: u64, acr: u32, compile_after: u16| {
        let (mut core, mut bus) = board_with_memory(at, cycles, &code, acr);
        core.compile_after(compile_after);
        assert!(matches!(run_to(&mut *core, &mut bus, Ps(100_000_000)), Stop::Horizon));
        assert_eq!((pc_of(&*core), general(&*core)[7]), (at + 4 + 2 * 18, 0), "it has come to its end");
        // Its state at its end shows the time.
        let report = core.report(&bus);
        let mut causes = BTreeMap::new();
        report.causes().into_iter().for_each(|(name, cycles)| *causes.entry(name).or_insert(0) += cycles.0);
        (report.instructions, general(&*core)[..3].to_vec(), causes)
    };
    for acr in [0, 5, PREFETCH | ICACHE | 0x400 | 5] {
        let mut faster = u64::MAX;
        for cycles in [0, 1, 3] {
            let own = run(OWN, cycles, acr, 0);
            for (at, compile_after) in [(OVERLAY, 0), (OVERLAY, 1), (OWN, 1)] {
                assert_eq!(run(at, cycles, acr, compile_after), own, "{at:#x} {cycles} {acr:#x} {compile_after}");
            }
            assert!(own.0 < faster, "{cycles} {acr:#x}");
            faster = own.0;
        }
    }
}

#[test]
fn instructions_may_lie_across_the_ends_of_an_overlay() {
    // Straight-line code through an overlay of 64 bytes; instructions of 32 bits cross its boundaries.
    let code = [&[NARROW; 7][..], &WIDE.repeat(40), &[TO_ITSELF]].concat();
    let run = |overlay: Option<u32>, compile_after: u16| {
        let (mut core, mut bus) = board(&code, ICACHE | 3);
        if let Some(base) = overlay {
            let timing = bus.rams[0].timing();
            bus.rams.push(Ram::new(64, timing));
            bus.lay(MapEntry::new("overlay", base, base + 63, Target::Ram(1)));
            let bytes: Vec<u8> = code.iter().flat_map(|half| half.to_le_bytes()).collect();
            bus.load(CODE, &bytes, bytes.len() as u32);
        }
        core.compile_after(compile_after);
        run_to(&mut *core, &mut bus, Ps(5_000_000));
        (general(&*core)[0], general(&*core)[1])
    };
    for base in [None, Some(CODE), Some(CODE + 64)] {
        for compile_after in [0, 1] {
            assert_eq!(run(base, compile_after), (7, 40), "{base:x?} {compile_after}");
        }
    }
}

// ---- Random programs

#[derive(Clone, Debug)]
enum Step {
    Narrow(u8),
    Wide(u8),
    Literal(u8, u8),
    Skip(u8, usize),
    Acr(u16),
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let step = prop_oneof![
        10 => (0u8..4).prop_map(Step::Narrow),
        10 => (0u8..4).prop_map(Step::Wide),
        4 => (0u8..4, 0u8..40).prop_map(|(register, word)| Step::Literal(register, word)),
        4 => (0u8..14, 1usize..12).prop_map(|(condition, over)| Step::Skip(condition, over)),
        1 => (0u16..8).prop_map(|bits| Step::Acr(bits << 8 | if bits % 3 == 0 { 0 } else { bits })),
    ];
    prop::collection::vec(step, 4..300)
}

fn place(step: &Step) -> Vec<u16> {
    match *step {
        Step::Narrow(register) => vec![NARROW + (u16::from(register) << 8)],
        Step::Wide(register) => vec![0xf110 | u16::from(register), u16::from(register) << 8 | 7],
        Step::Literal(register, word) => vec![0x4800 | u16::from(register) << 8 | u16::from(word)],
        Step::Skip(..) => vec![0xbf00],
        Step::Acr(acr) => vec![0xf240 | (acr >> 11 & 1) << 10, (acr >> 8 & 7) << 12 | 5 << 8 | acr & 0xff, 0x6035],
    }
}

/// `rounds` iterations of `steps`, after code that sets up the registers.
fn assemble(steps: &[Step], rounds: u8) -> Vec<u16> {
    let mut code = vec![0xf643, 0x4600, 0xf2c4, 0x0602, 0x2700 | u16::from(rounds)];
    let begin = code.len();
    let mut starts = Vec::new();
    for step in steps {
        starts.push(code.len());
        code.extend(place(step));
    }
    starts.push(code.len());
    for (number, step) in steps.iter().enumerate() {
        if let Step::Skip(condition, over) = *step {
            let target = starts[(number + 1 + over).min(steps.len())];
            let distance = target as i32 - starts[number] as i32 - 2;
            code[starts[number]] = 0xd000 | u16::from(condition) << 8 | distance as u16 & 0xff;
        }
    }
    code.extend([0x3f01, 0xd000]);
    let back = begin as i32 - code.len() as i32 - 2;
    code.extend([0xe000 | back as u16 & 0x7ff, TO_ITSELF]);
    code
}

#[derive(Debug, PartialEq)]
struct Left {
    registers: Vec<u32>,
    report: CoreReport,
    flash: Vec<(String, u64)>,
}

fn left(mut core: Box<dyn Core>, bus: &Bus) -> Left {
    Left { registers: core.registers(), report: core.report(bus), flash: bus.devices[0].as_ref().unwrap().counters() }
}

/// Long after the end of such a program: the core is at the jump to itself.
const LIMIT: Ps = Ps(900_000_000);

fn run(code: &[u16], acr: u32, compile_after: u16, slice: Ps) -> Left {
    let (mut core, mut bus) = board(code, acr);
    core.compile_after(compile_after);
    let mut until = Ps::ZERO;
    while until < LIMIT {
        until = (until + slice).min(LIMIT);
        assert!(matches!(run_to(&mut *core, &mut bus, until), Stop::Horizon));
    }
    left(core, &bus)
}

fn step(code: &[u16], acr: u32) -> Left {
    let (mut core, mut bus) = board(code, acr);
    while core.now() < LIMIT {
        core.step(&mut bus);
    }
    left(core, &bus)
}

/// Few where the tests themselves are emulated, as for aarch64: an emulator is slow with new code.
const CASES: u32 = if cfg!(target_arch = "x86_64") { 24 } else { 3 };

proptest! {
    #![proptest_config(ProptestConfig::with_cases(sized(CASES.div_ceil(6), CASES)))]

    #[test]
    fn flash_takes_the_same_time_however_it_is_run(
        steps in steps(), rounds in 2u8..40, bits in 0u32..8, latency in 0u32..6, slice_ps in 300_000u64..5_000_000,
    ) {
        let (code, acr) = (assemble(&steps, rounds), bits << 8 | latency);
        let interpreted = run(&code, acr, 0, LIMIT);
        prop_assert_eq!(&run(&code, acr, 1, LIMIT), &interpreted);
        prop_assert_eq!(&run(&code, acr, 1, Ps(slice_ps)), &interpreted);
        prop_assert_eq!(&step(&code, acr), &interpreted);
    }
}

//! Both tiers, and runs in slices, compared with each other: the same registers, memory, time, causes and counters.

use crate::polling::{Poll, Polled};
use crate::tiers::sized;
use proptest::prelude::*;

use super::super::instruction_set::{CoreConfig, Hart, SystemConfig};
use super::super::timing::CoreTiming;
use crate::bus::device::{AccessResult, AccessSize, Ctx, Device, DeviceId, IrqLine, Reply};
use crate::bus::{Bus, MapEntry, Target};
use crate::core::{Core, CoreReport, Stop};
use crate::cpu::memory_system::MemoryConfig;
use crate::memory::cache::{CacheShape, Replacement, WritePolicy};
use crate::memory::ram::{PortTiming, Ram};
use crate::time::{Cycles, Hz, Ps};

const DDR: u32 = 0x8000_0000;
const DATA: u32 = DDR + 0x4000;
const TICKER: u32 = 0x4000_0000;
const RAM_BYTES: u32 = 0x8000;
/// General registers of the random code; those below and above have special uses.
const FIRST: u8 = 5;
const GENERAL: u8 = 8;
const DATA_BASE: u8 = 16;
const ROUNDS: u8 = 17;
const TICKER_BASE: u8 = 18;
const INTERRUPTS: u8 = 19;
const SCRATCH: u8 = 20;
const LOCAL_BASE: u8 = 21;
/// The address after the code, where there is data.
const AFTER: u8 = 23;

/// Raises the machine timer interrupt every `period`; a store lowers it, and another one ends the run.
#[derive(crate::state::State)]
struct Ticker {
    period: Ps,
    accesses: u32,
}

impl Device for Ticker {
    fn read(&mut self, _: usize, _: u32, _: AccessSize, ctx: &mut Ctx) -> AccessResult {
        self.accesses += 1;
        Ok(Reply::read(self.accesses, ctx.now + Ps(70_001)))
    }

    fn write(&mut self, _: usize, offset: u32, _: AccessSize, _: u32, ctx: &mut Ctx) -> AccessResult {
        if offset == 0 {
            ctx.set_irq(Some(IrqLine::Core { core: 0, bit: 7 }), false);
        } else {
            ctx.exit(0);
        }
        Ok(Reply::written(ctx.now + Ps(30_000)))
    }

    fn event(&mut self, token: u32, ctx: &mut Ctx) {
        ctx.set_irq(Some(IrqLine::Core { core: 0, bit: 7 }), true);
        ctx.schedule(ctx.now + self.period, token);
    }
}

impl Polled for Ticker {
    fn polled(&mut self, _: &mut Poll) -> bool {
        false
    }
}

// ---- Programs

/// One random step of a program; numbers are truncated to the encoding's fields.
#[derive(Clone, Debug)]
enum Step {
    Register { kind: usize, rd: u8, rs1: u8, rs2: u8 },
    Immediate { funct3: u32, rd: u8, rs1: u8, imm: u32 },
    Access { kind: usize, register: u8, offset: u32, local: bool, aligned: bool },
    Beside { register: u8, word: u32, store: bool },
    Poll { rd: u8 },
    Branch { funct3: usize, rs1: u8, rs2: u8, skip: u32 },
    Call,
    Count { rd: u8, instructions: bool },
    Patch { target: usize, add: u32, fence: bool },
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let register = || FIRST..FIRST + GENERAL;
    let step = prop_oneof![
        24 => (0usize..18, register(), register(), register())
            .prop_map(|(kind, rd, rs1, rs2)| Step::Register { kind, rd, rs1, rs2 }),
        16 => (0u32..8, register(), register(), any::<u32>())
            .prop_map(|(funct3, rd, rs1, imm)| Step::Immediate { funct3, rd, rs1, imm }),
        32 => (0usize..8, register(), 0u32..2000, any::<bool>(), prop::bool::weighted(0.97))
            .prop_map(|(kind, register, offset, local, aligned)| {
                Step::Access { kind, register, offset, local, aligned }
            }),
        8 => (register(), 0u32..8, any::<bool>())
            .prop_map(|(register, word, store)| Step::Beside { register, word, store }),
        3 => register().prop_map(|rd| Step::Poll { rd }),
        12 => (0usize..6, register(), register(), 1u32..6)
            .prop_map(|(funct3, rs1, rs2, skip)| Step::Branch { funct3, rs1, rs2, skip }),
        4 => Just(Step::Call),
        4 => (register(), any::<bool>()).prop_map(|(rd, instructions)| Step::Count { rd, instructions }),
        2 => (0usize..40, 0u32..100, any::<bool>()).prop_map(|(target, add, fence)| Step::Patch { target, add, fence }),
    ];
    prop::collection::vec(step, 10..40)
}

#[derive(Clone, Debug)]
struct Program {
    body: Vec<Step>,
    function: Vec<Step>,
    values: Vec<u32>,
    rounds: u32,
    local_code: bool,
    ways: u32,
    period_ps: u64,
}

fn programs() -> impl Strategy<Value = Program> {
    let value = prop_oneof![Just(0), Just(1), Just(u32::MAX), Just(1 << 31), any::<u32>()];
    let values = prop::collection::vec(value, GENERAL as usize);
    let board = (any::<bool>(), prop_oneof![Just(1u32), Just(2)], 1_000_000u64..40_000_000);
    (steps(), steps(), values, 3u32..60, board).prop_map(|(body, function, values, rounds, board)| {
        let (local_code, ways, period_ps) = board;
        Program { body, function, values, rounds, local_code, ways, period_ps }
    })
}

fn i_type(opcode: u32, funct3: u32, rd: u8, rs1: u8, imm: u32) -> u32 {
    imm << 20 | u32::from(rs1) << 15 | funct3 << 12 | u32::from(rd) << 7 | opcode
}

fn s_type(funct3: u32, rs1: u8, rs2: u8, imm: u32) -> u32 {
    (imm >> 5 & 0x7f) << 25 | u32::from(rs2) << 20 | u32::from(rs1) << 15 | funct3 << 12 | (imm & 31) << 7 | 0x23
}

fn branch(funct3: u32, rs1: u8, rs2: u8, offset: i32) -> u32 {
    let o = offset as u32;
    let upper = (o >> 12 & 1) << 31 | (o >> 5 & 0x3f) << 25;
    upper | u32::from(rs2) << 20 | u32::from(rs1) << 15 | funct3 << 12 | (o >> 1 & 15) << 8 | (o >> 11 & 1) << 7 | 0x63
}

fn jal(rd: u8, offset: i32) -> u32 {
    let o = offset as u32;
    (o >> 20 & 1) << 31
        | (o >> 1 & 0x3ff) << 21
        | (o >> 11 & 1) << 20
        | (o >> 12 & 0xff) << 12
        | u32::from(rd) << 7
        | 0x6f
}

fn csr(funct3: u32, rd: u8, rs1: u8, number: u32) -> u32 {
    i_type(0x73, funct3, rd, rs1, number)
}

/// lui and addi.
fn load_constant(code: &mut Vec<u32>, rd: u8, value: u32) {
    code.push(value.wrapping_add(0x800) & 0xffff_f000 | u32::from(rd) << 7 | 0x37);
    code.push(i_type(0x13, 0, rd, rd, value & 0xfff));
}

/// Code whose place is not known yet.
enum Later {
    Word(u32),
    /// A branch over `.1` steps.
    Skip(u32, u32),
    Call,
    /// Instructions that store `.1` over the first word of step `.0`.
    Patch(usize, u32),
}

fn lower(step: &Step) -> Vec<Later> {
    let word = match *step {
        Step::Register { kind, rd, rs1, rs2 } => {
            let (funct7, funct3) = match kind {
                0..8 => (0, kind as u32),
                8..16 => (1, kind as u32 - 8),
                16 => (0x20, 0),
                _ => (0x20, 5),
            };
            i_type(0x33, funct3, rd, rs1, funct7 << 5 | u32::from(rs2))
        }
        Step::Immediate { funct3, rd, rs1, imm } => {
            let imm = match funct3 {
                1 => imm & 31,
                5 => imm & 0x41f & !0x400 | (imm >> 7 & 1) << 10,
                _ => imm & 0xfff,
            };
            i_type(0x13, funct3, rd, rs1, imm)
        }
        Step::Access { kind, register, offset, local, aligned } => {
            let base = if local { LOCAL_BASE } else { DATA_BASE };
            let funct3 = [0, 1, 2, 4, 5, 0, 1, 2][kind];
            let offset = if aligned { offset & !3 } else { offset };
            if kind < 5 { i_type(0x03, funct3, register, base, offset) } else { s_type(funct3, base, register, offset) }
        }
        Step::Beside { register, word, store: true } => s_type(2, AFTER, register, 4 * word),
        Step::Beside { register, word, store: false } => i_type(0x03, 2, register, AFTER, 4 * word),
        Step::Poll { rd } => i_type(0x03, 2, rd, TICKER_BASE, 8),
        Step::Count { rd, instructions } => csr(2, rd, 0, if instructions { 0xb02 } else { 0xb00 }),
        Step::Branch { funct3, rs1, rs2, skip } => {
            return vec![Later::Skip(branch([0, 1, 4, 5, 6, 7][funct3], rs1, rs2, 0), skip)];
        }
        Step::Call => return vec![Later::Call],
        Step::Patch { target, add, fence } => {
            let addi = i_type(0x13, 0, FIRST, FIRST, add);
            let fence = fence.then_some(Later::Word(i_type(0x0f, 1, 0, 0, 0)));
            return std::iter::once(Later::Patch(target, addi)).chain(fence).collect();
        }
    };
    vec![Later::Word(word)]
}

/// Words that a [`Later`] takes.
fn words(later: &Later) -> u32 {
    if matches!(later, Later::Patch(..)) { 5 } else { 1 }
}

/// Places steps at `at`; calls have the target `function`.
fn place(steps: &[Step], at: u32, function: Option<u32>) -> Vec<u32> {
    let lowered: Vec<Vec<Later>> = steps.iter().map(lower).collect();
    let mut starts = vec![at];
    for step in &lowered {
        starts.push(starts[starts.len() - 1] + 4 * step.iter().map(words).sum::<u32>());
    }
    let mut code = Vec::new();
    for (number, later) in lowered.iter().enumerate().flat_map(|(number, step)| step.iter().map(move |l| (number, l))) {
        let pc = at + 4 * code.len() as u32;
        match later {
            Later::Word(word) => code.push(*word),
            Later::Skip(word, skip) => {
                let target = starts[(number + 1 + *skip as usize).min(steps.len())];
                code.push(word | branch(0, 0, 0, target.wrapping_sub(pc) as i32) & 0xfe00_0f80);
            }
            Later::Call => code.push(function.map_or(0x13, |to| jal(1, to.wrapping_sub(pc) as i32))),
            Later::Patch(step, addi) => {
                load_constant(&mut code, SCRATCH, starts[step % steps.len()]);
                load_constant(&mut code, SCRATCH + 2, *addi);
                code.push(s_type(2, SCRATCH, SCRATCH + 2, 0));
            }
        }
    }
    code
}

/// The whole program for `base`: handler, function, set-up, loop. Returns the code and its entry.
fn assemble(program: &Program, base: u32) -> (Vec<u32>, u32) {
    let code = assemble_before(program, base, 0).0;
    assemble_before(program, base, base + 4 * code.len() as u32)
}

/// As [`assemble`], with data at `after`.
fn assemble_before(program: &Program, base: u32, after: u32) -> (Vec<u32>, u32) {
    // Interrupts are counted and lowered; exceptions skip their instruction.
    let mut code = vec![csr(2, SCRATCH, 0, 0x342), branch(4, SCRATCH, 0, 20)];
    code.extend([
        csr(2, SCRATCH, 0, 0x341),
        i_type(0x13, 0, SCRATCH, SCRATCH, 4),
        csr(1, 0, SCRATCH, 0x341),
        0x3020_0073,
    ]);
    code.extend([i_type(0x13, 0, INTERRUPTS, INTERRUPTS, 1), s_type(2, TICKER_BASE, 0, 0), 0x3020_0073]);
    let function = base + 4 * code.len() as u32;
    code.extend(place(&program.function, function, None));
    code.push(i_type(0x67, 0, 0, 1, 0));
    let entry = base + 4 * code.len() as u32;
    for (register, value) in (FIRST..).zip(&program.values) {
        load_constant(&mut code, register, *value);
    }
    let bases = [(DATA_BASE, DATA), (ROUNDS, program.rounds), (TICKER_BASE, TICKER), (LOCAL_BASE, 0x4000)];
    for (register, value) in bases.into_iter().chain([(AFTER, after), (SCRATCH, base)]) {
        load_constant(&mut code, register, value);
    }
    code.extend([
        csr(1, 0, SCRATCH, 0x305),
        i_type(0x13, 0, SCRATCH, 0, 0x80),
        csr(2, 0, SCRATCH, 0x304),
        csr(6, 0, 8, 0x300),
    ]);
    let body = base + 4 * code.len() as u32;
    code.extend(place(&program.body, body, Some(function)));
    code.push(i_type(0x13, 0, ROUNDS, ROUNDS, 0xfff));
    let back = body.wrapping_sub(base + 4 * code.len() as u32 + 4) as i32;
    code.extend([branch(0, ROUNDS, 0, 8), jal(0, back), s_type(2, TICKER_BASE, 0, 4)]);
    (code, entry)
}

// ---- Runs

fn board(program: &Program) -> (Hart, Bus) {
    let clock = Hz::new(100_000_000).unwrap();
    let port = |first| PortTiming::symmetric(clock, Cycles(first), Cycles(1), 4);
    let entry = |name: &str, base: u32, target, cacheable| {
        let last = base + RAM_BYTES - 1;
        MapEntry::new(name, base, last, target).kept_in_caches(cacheable)
    };
    let mut bus = Bus::default();
    bus.rams = vec![Ram::new(RAM_BYTES, port(0)), Ram::new(RAM_BYTES, port(20))];
    bus.map = vec![
        entry("lmb", 0, Target::Ram(0), false),
        entry("ticker", TICKER, Target::Device(DeviceId(0), 0), false),
        entry("ddr", DDR, Target::Ram(1), true),
    ];
    bus.devices.push(Some(Box::new(Ticker { period: Ps(program.period_ps), accesses: 0 })));
    bus.device_names.push("ticker".to_owned());
    bus.add_core();
    bus.events.schedule(Ps(program.period_ps), DeviceId(0), 0);
    let timing = CoreTiming {
        load_use: 2,
        multiply_use: 3,
        multiply: 1,
        divide: 34,
        taken_branch: 2,
        mispredicted_branch: Some(4),
        jump: 2,
        indirect_jump: 2,
        csr: 1,
        trap: 5,
        mret: 5,
        fence_i: 3,
    };
    let cache = |size_bytes| {
        let (replacement, write) = (Replacement::LeastRecentlyUsed, WritePolicy::WriteBack);
        Some(CacheShape { size_bytes, line_bytes: 16, ways: program.ways, replacement, write })
    };
    let memory = MemoryConfig::unbuffered(clock, cache(256), cache(256));
    let system = SystemConfig { hart: 0, interrupts: 0 };
    let hart = Hart::new(CoreConfig { name: "cpu".to_owned(), index: 0, clock, timing, memory, system });
    (hart, bus)
}

/// Final state of a run.
#[derive(Debug, PartialEq)]
struct Left {
    registers: Vec<u32>,
    report: CoreReport,
    memory: Vec<u8>,
    ended: bool,
}

/// Few where the tests themselves are emulated, as for aarch64: an emulator is slow with new code.
const CASES: u32 = if cfg!(target_arch = "x86_64") { 150 } else { 6 };
/// Programs that have not ended by then are compared in their present state.
const LIMIT: Ps = Ps(3_000_000_000);

fn run(program: &Program, compile_after: u16, slice: Ps) -> Left {
    let (mut hart, mut bus) = board(program);
    hart.compile_after(compile_after);
    let base = if program.local_code { 0 } else { DDR };
    let (code, entry) = assemble(program, base);
    for (place, word) in (base..).step_by(4).zip(code) {
        assert!(bus.poke(place, &word.to_le_bytes()));
    }
    hart.set_pc(entry);
    let (mut until, mut ended) = (Ps(0), false);
    while !ended && until < LIMIT {
        until = (until + slice).min(LIMIT);
        while !ended && hart.shell.now() < until {
            let now = hart.shell.now();
            bus.run_events(now);
            ended = !matches!(hart.run(&mut bus, until), Stop::Horizon) || bus.exit.is_some();
        }
    }
    let mut memory = vec![0; 2 * RAM_BYTES as usize];
    let (local, ddr) = memory.split_at_mut(RAM_BYTES as usize);
    assert!(bus.peek(0, local) && bus.peek(DDR, ddr));
    Left { registers: hart.registers(), report: hart.report(&bus), memory, ended }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(sized(CASES.div_ceil(5), CASES)))]

    #[test]
    fn compiled_code_does_what_the_interpreter_does(program in programs()) {
        let interpreted = run(&program, 0, LIMIT);
        let causes: u64 = interpreted.report.causes().iter().map(|(_, cycles)| cycles.0).sum();
        prop_assert_eq!(causes, interpreted.report.cycles.0);
        prop_assert_eq!(&run(&program, 1, LIMIT), &interpreted);
        prop_assert_eq!(&run(&program, 3, LIMIT), &interpreted);
    }

    #[test]
    fn a_run_in_slices_is_the_run_at_once(program in programs(), slice_ps in 300_000u64..5_000_000) {
        let at_once = run(&program, 0, LIMIT);
        prop_assert_eq!(&run(&program, 1, Ps(slice_ps)), &at_once);
    }
}

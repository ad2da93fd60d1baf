//! A small machine with an Arm core: local memory at 0, DDR behind caches, a device that answers late and can interrupt, slow RAM.
#![allow(dead_code, clippy::unwrap_used, clippy::panic)]

use cyclescope_engine::bus::{Bus, MapEntry, Route, Target};
use cyclescope_engine::core::Core;
use cyclescope_engine::device::{AccessSize, Ctx, Device, DeviceId, IrqLine, Reply, SlaveError};
use cyclescope_engine::isa::arm::config::CoreConfig;
use cyclescope_engine::isa::arm::core::Arm;
use cyclescope_engine::isa::arm::op::Features;
use cyclescope_engine::isa::arm::system::SystemConfig;
use cyclescope_engine::isa::arm::timing::CoreTiming;
use cyclescope_engine::machine::{Description, Machine, Outcome, RunReport};
use cyclescope_engine::memory::cache::{CacheShape, Replacement, WritePolicy};
use cyclescope_engine::memory::first_level::MemoryConfig;
use cyclescope_engine::memory::first_level::config::TlbShape;
use cyclescope_engine::memory::ram::{PortTiming, Ram};
use cyclescope_engine::polling::Poll;
use cyclescope_engine::time::{Cycles, Hz, Ps};

/// Local memory, where programs begin.
pub const LOCAL: u32 = 0x0000_0000;
/// DDR: 10 cycles to the first word, 1 a further one.
pub const DDR: u32 = 0x8000_0000;
/// The device.
pub const DEVICE: u32 = 0x4000_0000;
/// RAM behind the interconnect: 3 cycles, and 3 on the way.
pub const SLOW: u32 = 0xc000_0000;
/// A period of the only clock.
pub const CYCLE_PS: u64 = 10_000;

pub fn clock() -> Hz {
    Hz::new(100_000_000).unwrap()
}

pub fn timing() -> CoreTiming {
    CoreTiming {
        early_use: 1,
        load_use: 1,
        multiply_use: 1,
        register_shift: 1,
        multiply: 1,
        multiply_long: 2,
        multiple_word: 1,
        status: 2,
        coprocessor: 2,
        barrier: 1,
        exception: 5,
        exception_return: 4,
        taken_branch: 1,
        mispredicted_branch: 5,
        ..CoreTiming::default()
    }
}

/// Word 0 reads what was last written, 7 cycles after the request. A write of n to offset 4 raises the interrupt n cycles later and adds 1 to
/// word 0, one to offset 8 lowers it, one to offset 24 raises it at once. Offset 12 answers with an error. After a write of n to offset 20, reads there give 0 for n cycles,
/// then 1.
#[derive(Default)]
pub struct Late {
    value: u32,
    ready_at: Ps,
    reads: u64,
}

impl Device for Late {
    fn read(&mut self, _: usize, offset: u32, _: AccessSize, ctx: &mut Ctx) -> Result<Reply, SlaveError> {
        let done = clock().after(ctx.now, Cycles(7));
        self.reads += 1;
        match offset {
            12 => Err(SlaveError { done }),
            20 => Ok(Reply::read(u32::from(done >= self.ready_at), done)),
            _ => Ok(Reply::read(self.value, done)),
        }
    }

    fn write(&mut self, _: usize, offset: u32, _: AccessSize, value: u32, ctx: &mut Ctx) -> Result<Reply, SlaveError> {
        match offset {
            0 => self.value = value,
            4 => ctx.schedule(Ps(ctx.now.0 + u64::from(value) * CYCLE_PS), 0),
            20 => self.ready_at = Ps(ctx.now.0 + u64::from(value) * CYCLE_PS),
            8 | 24 => ctx.set_irq(Some(IrqLine::Core { core: 0, bit: 0 }), offset == 24),
            _ => return Err(SlaveError { done: ctx.now }),
        }
        Ok(Reply::written(ctx.now))
    }

    fn event(&mut self, _: u32, ctx: &mut Ctx) {
        self.value += 1;
        ctx.set_irq(Some(IrqLine::Core { core: 0, bit: 0 }), true);
    }

    fn polled(&mut self, poll: &mut Poll) -> bool {
        poll.state(self.value);
        poll.until(self.ready_at);
        poll.counter(&mut self.reads);
        true
    }

    fn counters(&self) -> Vec<(String, u64)> {
        vec![("reads".to_owned(), self.reads)]
    }
}

fn ram(bus: &mut Bus, name: &str, base: u32, first_word_cycles: u64, route: Option<usize>, cacheable: bool) {
    let timing = PortTiming::symmetric(clock(), Cycles(first_word_cycles), Cycles(1), 4);
    let target = Target::Ram(bus.rams.len());
    bus.rams.push(Ram::new(0x1_0000, timing));
    bus.map.push(MapEntry { name: name.into(), base, last: base + 0xffff, target, route, cacheable });
}

fn bus() -> Bus {
    let mut bus = Bus::default();
    let (request_cycles, response_cycles) = (Cycles(2), Cycles(1));
    bus.routes.push(Route { name: "axi".into(), clock: clock(), request_cycles, response_cycles });
    ram(&mut bus, "local", LOCAL, 0, None, false);
    bus.devices.push(Some(Box::new(Late::default())));
    bus.device_names.push("late".into());
    let target = Target::Device(DeviceId(0), 0);
    let last = DEVICE + 0xff;
    bus.map.push(MapEntry { name: "late".into(), base: DEVICE, last, target, route: Some(0), cacheable: false });
    ram(&mut bus, "ddr", DDR, 10, None, true);
    ram(&mut bus, "slow", SLOW, 3, Some(0), true);
    bus.core_irqs.push(0);
    bus
}

fn cache() -> Option<CacheShape> {
    let (replacement, write) = (Replacement::LeastRecentlyUsed, WritePolicy::WriteBack);
    Some(CacheShape { size_bytes: 512, line_bytes: 32, ways: 2, replacement, write })
}

/// The core, with caches of eight sets with 32-byte lines.
pub fn config() -> CoreConfig {
    let memory = MemoryConfig {
        clock: clock(),
        icache: cache(),
        dcache: cache(),
        tlb: TlbShape { micro_entries: 8, main_entries: 64, main_ways: 2 },
        tlb_cycles: 0,
        walk_hit_cycles: 0,
        store_buffer_entries: 0,
        uncached_fetch_bytes: 4,
        fetches_ahead: false,
        several_beat_bytes: 4,
        maintenance_cycles: 1,
    };
    let features = Features { vfp: true, vfp_d32: true, ..Features::default() };
    CoreConfig {
        name: "cpu0".to_owned(),
        index: 0,
        clock: clock(),
        timing: timing(),
        system: SystemConfig::cortex_a5(features, cache(), cache()),
        memory,
    }
}

/// The machine, with a program in one of its memories. Bit 0 of `at` chooses T32.
pub fn machine(at: u32, program: &[u32]) -> Machine {
    machine_with(config(), at, program)
}

/// The machine with another core.
pub fn machine_with(config: CoreConfig, at: u32, program: &[u32]) -> Machine {
    let mut core = Arm::new(config);
    core.set_pc(at);
    let mut machine = Machine::new(bus(), vec![Box::new(core)], Description::default());
    put(&mut machine, at & !1, program);
    machine
}

/// Words into memory.
pub fn put(machine: &mut Machine, at: u32, words: &[u32]) {
    let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
    assert!(machine.bus().poke(at, &bytes));
}

/// Runs to the end, for 100 us at the most.
pub fn run(machine: &mut Machine) -> RunReport {
    machine.run(Ps::from_us(100), |_| true)
}

/// Runs a program at [`PROGRAM`] in local memory that ends in `EXIT`.
pub fn run_program(program: &[u32]) -> (RunReport, Vec<u32>) {
    let mut machine = machine(PROGRAM, program);
    let report = run(&mut machine);
    (report, machine.registers())
}

/// Cycles of one cause.
pub fn cause(report: &RunReport, name: &str) -> u64 {
    let causes = &report.cores[0].causes;
    causes.iter().find(|(cause, _)| cause == name).unwrap_or_else(|| panic!("no cause '{name}'")).1.0
}

/// All causes sum to the core's cycles.
pub fn assert_sums(report: &RunReport) {
    let core = &report.cores[0];
    assert_eq!(core.causes.iter().map(|(_, cycles)| cycles.0).sum::<u64>(), core.cycles.0, "{:?}", core.causes);
}

pub fn assert_exit(report: &RunReport) {
    assert_eq!(report.outcome, Outcome::Exit(0), "{:?}", report.outcome);
    assert_sums(report);
}

/// Where programs begin: vectors are before it.
pub const PROGRAM: u32 = LOCAL + 0x100;

// ---- Encodings, all with condition "always"

pub fn mov(rd: u32, imm: u32) -> u32 {
    0xe300_0000 | imm >> 12 << 16 | rd << 12 | imm & 0xfff
}
pub fn movt(rd: u32, imm: u32) -> u32 {
    0xe340_0000 | imm >> 12 << 16 | rd << 12 | imm & 0xfff
}
pub fn add(rd: u32, rn: u32, imm: u32) -> u32 {
    0xe280_0000 | rn << 16 | rd << 12 | imm
}
pub fn add_register(rd: u32, rn: u32, rm: u32) -> u32 {
    0xe080_0000 | rn << 16 | rd << 12 | rm
}
/// With rm shifted left by `by`.
pub fn add_shifted(rd: u32, rn: u32, rm: u32, by: u32) -> u32 {
    add_register(rd, rn, rm) | by << 7
}
pub fn subs(rd: u32, rn: u32, imm: u32) -> u32 {
    0xe250_0000 | rn << 16 | rd << 12 | imm
}
pub fn cmp(rn: u32, imm: u32) -> u32 {
    0xe350_0000 | rn << 16 | imm
}
pub fn mul(rd: u32, rn: u32, rm: u32) -> u32 {
    0xe000_0090 | rd << 16 | rm << 8 | rn
}
pub fn ldr(rt: u32, rn: u32, imm: u32) -> u32 {
    0xe590_0000 | rn << 16 | rt << 12 | imm
}
pub fn str(rt: u32, rn: u32, imm: u32) -> u32 {
    0xe580_0000 | rn << 16 | rt << 12 | imm
}
/// ldmia rn!, {list}
pub fn ldm(rn: u32, list: u32) -> u32 {
    0xe8b0_0000 | rn << 16 | list
}
/// stmdb rn!, {list}
pub fn stmdb(rn: u32, list: u32) -> u32 {
    0xe920_0000 | rn << 16 | list
}
pub fn b(offset: i32) -> u32 {
    0xea00_0000 | ((offset - 8) >> 2) as u32 & 0x00ff_ffff
}
pub fn bl(offset: i32) -> u32 {
    b(offset) | 1 << 24
}
pub fn bx(rm: u32) -> u32 {
    0xe12f_ff10 | rm
}
/// The instruction, if `condition` holds (0 eq, 1 ne, ...).
pub fn when(condition: u32, encoding: u32) -> u32 {
    encoding & 0x0fff_ffff | condition << 28
}
/// Moves r`rt` to cp15's crn, opc1, crm, opc2.
pub fn mcr(rt: u32, (crn, opc1, crm, opc2): (u32, u32, u32, u32)) -> u32 {
    0xee00_0f10 | opc1 << 21 | crn << 16 | rt << 12 | opc2 << 5 | crm
}
pub fn mrc(rt: u32, register: (u32, u32, u32, u32)) -> u32 {
    mcr(rt, register) | 1 << 20
}
/// orr r5, r5, #1 << 11 (SCTLR.Z), and #1 << 12 (SCTLR.I).
pub const ORR_Z: u32 = 0xe385_5b02;
pub const ORR_I: u32 = 0xe385_5a01;
pub const ISB: u32 = 0xf57f_f06f;
pub const SCTLR: (u32, u32, u32, u32) = (1, 0, 0, 0);
pub const EQ: u32 = 0;
pub const NE: u32 = 1;
pub const NOP: u32 = 0xe320_f000;
pub const WFI: u32 = 0xe320_f003;
/// cpsie i
pub const ENABLE: u32 = 0xf108_0080;
/// subs pc, lr, #4
pub const RETURN_FROM_IRQ: u32 = 0xe25e_f004;
/// movs pc, lr
pub const RETURN: u32 = 0xe1b0_f00e;

/// Ends the run with status 0: r0 = SYS_EXIT, r1 = ADP_Stopped_ApplicationExit, then the semihosting call: 4 instructions.
pub const EXIT: [u32; 4] = [0xe3a0_0018, 0xe300_1026, 0xe340_1002, 0xef12_3456];

/// A program followed by `EXIT`.
pub fn then_exit(program: &[u32]) -> Vec<u32> {
    [program, &EXIT].concat()
}

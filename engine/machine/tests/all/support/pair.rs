//! A machine with two cores of different clocks: local memory for their programs, memory that they share, and a device
//! that keeps a journal.

use std::sync::{Arc, Mutex};

use super::debugged::run_debugged;
use super::{arm, mips, rig, riscv, snapshots};
use crate::{Description, Machine, Outcome, RunReport};
use engine::bus::device::{AccessResult, AccessSize, Ctx, Device, DeviceId, IrqLine, Reply};
use engine::bus::{Bus, MapEntry, Route, Target};
use engine::core::Core;
use engine::cpu::Config;
use engine::cpu::memory_system::MemoryConfig;
use engine::isa::arm::instruction_set::CortexA;
use engine::isa::mips::instruction_set::Mips;
use engine::isa::riscv::instruction_set::Hart;
use engine::memory::ram::{PortTiming, Ram};
use engine::polling::{Poll, Polled};
use engine::time::{Cycles, Hz, Ps};

/// Memory that both write: 3 cycles at 200 MHz, and as many on the way.
pub const SHARED: u32 = 0x2000_0000;
/// The journal.
pub const JOURNAL: u32 = 0x4000_0000;
/// Where the cores' programs begin.
pub const PROGRAMS: [u32; 2] = [0x100, 0x8100];
/// Clocks of the cores, neither a multiple of the other.
pub const CLOCKS: [u64; 2] = [650_000_000, 200_000_000];

/// How far a core is run ahead of the other.
pub const QUANTA: [Ps; 4] = [Ps(1), Ps::from_ns(10), Ps::from_us(1), Ps::from_us(70)];

/// What the journal holds: core, offset, value, time.
pub type Entries = Vec<(Option<usize>, u32, u32, Ps)>;

/// Keeps the writes from offset 0x40 on, and their times. A write to offset 4 n, for core n, raises the interrupt of
/// that core, or lowers it if the value is 0; a write to 0x10 + 4 n raises it after the value in nanoseconds; a write
/// to 0x20 + 4 n lets the core out of reset, or holds it if the value is 0. After a write of n to 0x30, reads there
/// give 0 for n nanoseconds, then 1.
#[derive(engine::state::State)]
pub struct Journal {
    #[state(skip)]
    entries: Arc<Mutex<Entries>>,
    ready_at: Ps,
    /// The cores' input that it drives.
    interrupt: u32,
}

impl Device for Journal {
    fn read(&mut self, _: usize, _: u32, _: AccessSize, ctx: &mut Ctx) -> AccessResult {
        Ok(Reply::read(u32::from(ctx.now >= self.ready_at), ctx.now))
    }

    fn write(&mut self, _: usize, offset: u32, _: AccessSize, value: u32, ctx: &mut Ctx) -> AccessResult {
        let core = offset / 4 % 4;
        match offset / 16 {
            0 => ctx.set_irq(Some(IrqLine::Core { core, bit: self.interrupt }), value != 0),
            1 => ctx.schedule(Ps(ctx.now.0 + 1000 * u64::from(value)), core),
            2 => ctx.bus.core_reset(core as usize, value == 0, ctx.now),
            3 => self.ready_at = Ps(ctx.now.0 + 1000 * u64::from(value)),
            _ => self.entries.lock().unwrap().push((ctx.core, offset, value, ctx.now)),
        }
        Ok(Reply::written(ctx.now))
    }

    fn event(&mut self, core: u32, ctx: &mut Ctx) {
        assert_eq!(ctx.core, None);
        ctx.set_irq(Some(IrqLine::Core { core, bit: self.interrupt }), true);
    }
}

impl Polled for Journal {
    fn polled(&mut self, poll: &mut Poll) -> bool {
        poll.until(self.ready_at);
        true
    }
}

/// The machine with two Arm cores, and its journal. Each program ends by itself.
pub fn pair(programs: [&[u32]; 2]) -> (Machine, Arc<Mutex<Entries>>) {
    let code = programs.map(|program| program.iter().flat_map(|word| word.to_le_bytes()).collect::<Vec<u8>>());
    pair_at([0, 1].map(cortex_a5), PROGRAMS, 0, [&code[0], &code[1]])
}

/// A Cortex-A5 of the pair's.
pub fn cortex_a5(index: u32) -> Box<dyn Core> {
    let mut config = Config { name: format!("cpu{index}"), index, clock: clock(index), ..arm::config() };
    config.memory.clock = config.clock;
    Box::new(CortexA::new(config))
}

/// A hart without caches.
pub fn hart(index: u32) -> Hart {
    let (name, memory) = (format!("cpu{index}"), MemoryConfig::unbuffered(clock(index), None, None));
    let mut config = Config { name, index, clock: clock(index), memory, ..riscv::config(None, None) };
    config.system.hart = index;
    Hart::new(config)
}

/// An XBurst.
pub fn xburst(index: u32) -> Box<dyn Core> {
    let mut config = Config { name: format!("cpu{index}"), index, clock: clock(index), ..mips::config() };
    config.memory.clock = config.clock;
    Box::new(Mips::new(config))
}

fn clock(core: u32) -> Hz {
    Hz::new(CLOCKS[core as usize]).unwrap()
}

/// The machine with cores that begin at the given addresses of their own address spaces. `interrupt` is the input that
/// the journal raises.
pub fn pair_at(
    mut cores: [Box<dyn Core>; 2],
    starts: [u32; 2],
    interrupt: u32,
    programs: [&[u8]; 2],
) -> (Machine, Arc<Mutex<Entries>>) {
    let entries = Arc::default();
    let mut bus = Bus::default();
    let hz = |hz| Hz::new(hz).unwrap();
    let (request_cycles, response_cycles) = (Cycles(2), Cycles(1));
    bus.routes.push(Route { name: "ahb".into(), clock: hz(200_000_000), request_cycles, response_cycles });
    for (name, base, clock, first, route) in
        [("local", rig::LOCAL, hz(650_000_000), 0, None), ("shared", SHARED, hz(200_000_000), 3, Some(0))]
    {
        let target = Target::Ram(bus.rams.len());
        bus.rams.push(Ram::new(0x1_0000, PortTiming::symmetric(clock, Cycles(first), Cycles(1), 4)));
        bus.map.push(MapEntry::new(name, base, base + 0xffff, target).on_route(route));
    }
    bus.rams[1].share();
    let (base, last, target) = (JOURNAL, JOURNAL + 0xff, Target::Device(DeviceId(0), 0));
    bus.map.push(MapEntry::new("journal", base, last, target).on_route(Some(0)));
    bus.devices.push(Some(Box::new(Journal { entries: Arc::clone(&entries), ready_at: Ps::ZERO, interrupt })));
    bus.device_names.push("journal".into());
    for (core, at) in cores.iter_mut().zip(starts) {
        bus.add_core();
        core.set_pc(at);
    }
    let mut machine = Machine::new(bus, Vec::from(cores), Description::default());
    for (at, program) in PROGRAMS.into_iter().zip(programs) {
        assert!(machine.bus().poke(at, program));
    }
    (machine, entries)
}

/// Like [`run_pair`], under a debugger that halts the cores again and again.
fn run_pair_debugged((mut machine, journal): (Machine, Arc<Mutex<Entries>>)) -> (RunReport, Entries) {
    let code = PROGRAMS[0]..PROGRAMS[0] + 0x100;
    let (report, _) = run_debugged(&mut machine, 1, Ps::from_us(5000), code);
    let entries = journal.lock().unwrap().clone();
    (report, entries)
}

/// Runs both to the exit, one ahead of the other by at most `quantum`.
pub fn run_pair((mut machine, journal): (Machine, Arc<Mutex<Entries>>), quantum: Ps) -> (RunReport, Entries) {
    machine.set_quantum(quantum);
    let report = machine.run(Ps::from_us(5000), |_| true);
    assert_eq!(report.outcome, Outcome::Exit(0));
    rig::assert_sums(&report);
    let entries = journal.lock().unwrap().clone();
    (report, entries)
}

/// Runs the machine for each quantum, and from snapshots in the middle, and compares the results.
pub fn run_and_compare(build: impl Fn() -> (Machine, Arc<Mutex<Entries>>)) -> (RunReport, Entries) {
    let first = run_pair(build(), QUANTA[0]);
    for quantum in QUANTA {
        let again = run_pair(build(), quantum);
        assert!(again == first, "{quantum}: {:#?}\n{:#?}", again.0, first.0);
        let built = || {
            let (mut machine, _) = build();
            machine.set_quantum(quantum);
            machine
        };
        let elapsed = first.0.elapsed.0;
        snapshots::change_nothing(built, [elapsed / 17, elapsed / 3, elapsed / 7 * 5].map(Ps));
    }
    let debugged = run_pair_debugged(build());
    assert!(debugged == first, "debugged: {:#?}\n{:#?}", debugged.0, first.0);
    first
}

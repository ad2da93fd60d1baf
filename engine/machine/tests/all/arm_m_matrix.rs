//! Random programs on the Cortex-M4 whose accesses switch the bus matrix. The result is equal whether they are
//! interpreted or compiled, run in one go, in slices or instruction by instruction, with shortcuts to memory or
//! without.

use crate::whole::support::arm_m::*;
use crate::whole::support::late::{LOWER, RAISE_LATER};
use crate::whole::support::random;
use crate::{Machine, Outcome, RunReport};
use engine::bus::path::View;
use engine::bus::{Bus, MapEntry, Target};
use engine::core::Compiling;
use engine::isa::arm::instruction_set::CortexM;
use engine::memory::ram::{PortTiming, Ram};
use engine::tiers::sized;
use engine::time::{Cycles, Ps};

/// Memories on the matrix, with consecutive addresses: more than there are banks of shortcuts.
const SRAMS: u32 = 4;
const SRAM: u32 = 0x2000_0000;
const SRAM_BYTES: u32 = 0x1000;
/// The stack is in the second.
const TOP: u32 = SRAM + 2 * SRAM_BYTES;
/// Words that an interrupt counts in, in the third; and data beside code.
const COUNTED: u32 = SRAM + 2 * SRAM_BYTES + 0x800;
const IN_SRAM: u32 = SRAM + 3 * SRAM_BYTES + 0x108;
/// The values of r4 to r9: addresses in each memory, one at the end of a memory, and one on the data bus.
const BASES: [u32; 6] = [
    SRAM + 0x200,
    SRAM + SRAM_BYTES + 0x400,
    SRAM + 2 * SRAM_BYTES + 0x600,
    SRAM + 3 * SRAM_BYTES,
    SRAM + SRAM_BYTES - 0x84,
    LOCAL + 0x6000,
];
/// Offsets from them.
const REACH: u32 = 0x108;
const RESULTS: u32 = 4;
const CPACR: u32 = 0xe000_ed88;
const ISER: u32 = 0xe000_e100;

struct Random {
    state: u64,
    /// The bases that a program uses, as bits: a small number of slaves have all their shortcuts at the same time.
    bases: u32,
}

impl Random {
    fn below(&mut self, bound: u32) -> u32 {
        random::below(&mut self.state, bound)
    }

    fn result(&mut self) -> u16 {
        self.below(RESULTS) as u16
    }

    fn base(&mut self) -> u16 {
        loop {
            let number = self.below(BASES.len() as u32);
            if self.bases >> number & 1 == 1 {
                return 4 + number as u16;
            }
        }
    }

    /// An access of `bytes` bytes, mostly aligned, by `opcode`, with a base register added.
    fn access(&mut self, opcode: u16, bytes: u32) -> Code {
        let odd = if self.below(12) == 0 { self.below(bytes) } else { 0 };
        let offset = bytes * self.below(REACH / bytes - 1) + odd;
        vec![opcode | self.base(), self.result() << 12 | offset as u16]
    }

    fn step(&mut self) -> Code {
        let (rd, rn, base) = (self.result(), self.result(), self.base());
        match self.below(20) {
            // ldr, str, ldrb, strb, ldrsb, ldrh, strh, ldrsh with an offset.
            0..3 => self.access(0xf8d0, 4),
            3..6 => self.access(0xf8c0, 4),
            6 => self.access(0xf890, 1),
            7 => self.access(0xf880, 1),
            8 => self.access(0xf990, 1),
            9 => self.access(0xf8b0, 2),
            10 => self.access(0xf8a0, 2),
            11 => self.access(0xf9b0, 2),
            // ldmia and stmia of r0 to r3, and vldmia and vstmia of s0 up.
            12 => vec![0xe890 | base, 3 << self.below(3)],
            13 => vec![0xe880 | base, 7 << self.below(2)],
            14 => vec![0xec90 | base, 0x0a01 + self.below(16) as u16],
            15 => vec![0xec80 | base, 0x0a01 + self.below(16) as u16],
            // vldr and vstr of s0; push and pop.
            16 => vec![0xed90 | base, 0x0a00 | self.below(REACH / 4) as u16],
            17 => vec![0xed80 | base, 0x0a00 | self.below(REACH / 4) as u16],
            18 => vec![0xb403, 0xbc0c],
            _ if self.below(2) == 0 => vec![adds(rd, 0x31)],
            // adds of registers.
            _ => vec![0x1800 | rd << 6 | rn << 3 | rd],
        }
    }

    /// Rounds of the same; bases move on by a word from round to round.
    fn program(&mut self) -> Code {
        self.bases = 1 + self.below((1 << BASES.len()) - 1);
        let enable = code![load_constant(0, CPACR), load_constant(1, 0xf << 20), str(1, 0, 0)];
        let interrupts = code![load_constant(0, ISER), movs(1, 1 << DEVICE_INTERRUPT), str(1, 0, 0)];
        let bases: Code = (4..).zip(BASES).flat_map(|(register, base)| load_constant(register, base)).collect();
        let rounds = 20 + self.below(30);
        let mut code = code![enable, interrupts, bases, load_constant(10, DEVICE), load_constant(11, rounds)];
        let top = code.len();
        // The device's interrupt comes after a number of cycles, one less each round: add r0, r11, #n; str r0, [r10,
        // #4].
        let after = self.below(250) as u16;
        code.extend([0xf10b, after, 0xf8ca, RAISE_LATER as u16]);
        for _ in 0..16 {
            code.extend(self.step());
        }
        // add r4 and r8, #4 now and then; subs r11, #1; beq over a wide branch back.
        if self.below(2) == 0 {
            code.extend([0xf104, 0x0404, 0xf108, 0x0804]);
        }
        code.extend([0xf1bb, 0x0b01, 0xd001]);
        let by = (top as i32 - code.len() as i32 - 2) as u32;
        code.extend([0xf000 | (by >> 11 & 0x3ff) as u16 | 0x400, 0xb800 | (by & 0x7ff) as u16]);
        code![code, exit()]
    }
}

/// Lowers the interrupt, and counts it in a memory.
fn handlers() -> Vec<(u32, Code)> {
    let lower = code![load_constant(0, DEVICE), str(0, 0, LOWER as u16)];
    let count = code![load_constant(0, COUNTED), ldr(1, 0, 0), adds(1, 1), str(1, 0, 0)];
    vec![(external(DEVICE_INTERRUPT), code![lower, count, BX_LR])]
}

/// The small machine with memories on a matrix; whatever is on the interconnect is one slave more.
fn bus_with_matrix() -> Bus {
    let mut bus = bus_with_device();
    for number in 0..SRAMS {
        let (base, target) = (SRAM + SRAM_BYTES * number, Target::Ram(bus.rams.len()));
        bus.rams.push(Ram::new(SRAM_BYTES, PortTiming::symmetric(clock(), Cycles(0), Cycles(1), 4)));
        let (name, last) = (format!("sram{number}"), base + SRAM_BYTES - 1);
        bus.map.push(MapEntry::new(name, base, last, target));
    }
    bus.map.sort_by_key(|entry| entry.base);
    let view = |entry: &MapEntry| {
        let in_sram = entry.base.wrapping_sub(SRAM) / SRAM_BYTES;
        let slave = if in_sram < SRAMS { 1 + in_sram } else { 1 + SRAMS };
        View { route: entry.route, local: in_sram < SRAMS || entry.base == LOCAL, slave: slave as u8 }
    };
    bus.views = vec![bus.map.iter().map(view).collect()];
    bus
}

fn machine_of(program: &[u16], at: u32, how: Compiling) -> Machine {
    let mut machine = machine_on(bus_with_matrix(), CortexM::new(config()), &[], &handlers());
    // Half of the bytes have the bit of a sign.
    let data: Vec<u32> = (0..SRAM_BYTES / 4).map(|n| 0x9e37_79b9_u32.wrapping_mul(n + 1)).collect();
    (0..SRAMS).for_each(|number| put_physical(&mut machine, SRAM + SRAM_BYTES * number, &data));
    put_physical(&mut machine, LOCAL, &[TOP, at | 1]);
    put_code(&mut machine, at, program);
    machine.compile(how);
    machine
}

/// All visible state at the end.
fn ending(machine: &mut Machine, report: &RunReport) -> String {
    assert_exit(report);
    let mut data = vec![0; (SRAMS * SRAM_BYTES) as usize];
    machine.bus().peek(SRAM, &mut data[..SRAM_BYTES as usize]);
    for (number, data) in (0..).zip(data.chunks_mut(SRAM_BYTES as usize)) {
        machine.bus().peek(SRAM + SRAM_BYTES * number, data);
    }
    let core = &report.cores[0];
    let registers = machine.registers();
    format!("{:?} {registers:x?} {} {:?} {:?} {data:?}", core.cycles, core.instructions, core.causes(), core.counters)
}

/// Longer than any program takes.
const LONGEST: Ps = Ps::from_us(20_000);

fn run_whole(machine: &mut Machine) -> RunReport {
    machine.run(LONGEST, |_| true)
}

#[test]
fn however_it_runs_it_turns_as_often() {
    let (mut turns, mut regions) = (0, 0);
    let seeds = sized(16, 80);
    for seed in 1..=seeds {
        let program = Random { state: 0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed), bases: 0 }.program();
        let at = if seed.is_multiple_of(4) { IN_SRAM } else { PROGRAM };
        let of = |how| machine_of(&program, at, how);
        let mut interpreted = of(Compiling::after(0));
        let report = run_whole(&mut interpreted);
        let expected = ending(&mut interpreted, &report);
        turns += cause(&report, "bus matrix");

        let mut slow = of(Compiling::after(0));
        slow.bus().rams.iter_mut().for_each(Ram::share);
        let report = run_whole(&mut slow);
        assert_eq!(ending(&mut slow, &report), expected, "{seed}: without shortcuts");

        for after in [1, 5] {
            let mut compiled = of(Compiling::after(after));
            let report = run_whole(&mut compiled);
            assert_eq!(ending(&mut compiled, &report), expected, "{seed}: compiled after {after}");
            assert_eq!(compiled.compiled()[0].refused, 0);
            regions += compiled.compiled()[0].regions;
        }

        for how in [Compiling::after(0), Compiling::after(1)] {
            let mut sliced = of(how);
            let mut slices = (1..).map(|n| sliced.run(Ps(n * 61 * CYCLE_PS), |_| true));
            let report = slices.find(|report| !matches!(report.outcome, Outcome::Limit(_))).unwrap();
            drop(slices);
            assert_eq!(ending(&mut sliced, &report), expected, "{seed}: in slices");
        }

        let mut stepped = of(Compiling::after(0));
        assert_eq!(stepped.trace(1_000_000, |_| ()), Some(Outcome::Exit(0)), "{seed}");
        let report = stepped.report(Outcome::Exit(0));
        assert_eq!(ending(&mut stepped, &report), expected, "{seed}: instruction by instruction");
    }
    assert!(turns > 125 * seeds && regions > 2 * seeds, "{turns} {regions}");
}

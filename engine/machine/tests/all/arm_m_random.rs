//! Random programs on the Cortex-M4, with interrupts at any time: the result is equal in one go, in slices and
//! instruction by instruction.

use crate::whole::support::arm_m::*;
use crate::whole::support::debugged::{Halts, run_debugged};
use crate::whole::support::random;
use crate::whole::support::snapshots;
use crate::{Machine, Outcome, RunReport};
use engine::tiers::sized;
use engine::time::Ps;

/// Registers for results are r0 to r3; r4 is the address of local data, r5 of the device, r6 of the interrupts'
/// registers, r7 counts iterations.
const RESULTS: u32 = 4;
const DATA: u32 = LOCAL + 0x6000;
/// NVIC_ISER0, with ISPR0 after it.
const ISER: u32 = 0xe000_e100;
const CPACR: u32 = 0xe000_ed88;

struct Random(u64);

impl Random {
    fn below(&mut self, bound: u32) -> u32 {
        random::below(&mut self.0, bound)
    }

    fn result(&mut self) -> u16 {
        self.below(RESULTS) as u16
    }

    /// An instruction that does not change the flow of control.
    fn simple(&mut self) -> Code {
        let (rd, rn, rm) = (self.result(), self.result(), self.result());
        let word = 4 * self.below(16) as u16;
        match self.below(22) {
            0 => vec![adds(rd, 0x17)],
            // adds and subs with registers, lsls, mul, eors, sbcs.
            1 => vec![0x1800 | rm << 6 | rn << 3 | rd],
            2 => vec![0x1a00 | rm << 6 | rn << 3 | rd],
            3 => vec![0x0040 | rn << 3 | rd],
            4 => vec![0x4340 | rn << 3 | rd],
            5 => vec![0x4040 | rn << 3 | rd],
            6 => vec![0x4180 | rn << 3 | rd],
            // udiv, smlad, add with a shifted operand, ubfx.
            7 => vec![0xfbb0 | rn, 0xf0f0 | rd << 8 | rm],
            8 => vec![0xfb20 | rn, rm << 12 | rd << 8 | rd],
            9 => vec![0xeb00 | rn, 0x00c0 | rd << 8 | rm],
            10 => vec![0xf3c0 | rn, rd << 8 | 7],
            11 | 12 => vec![ldr(rd, 4, word)],
            13 => vec![str(rn, 4, word)],
            // strb and ldrsb with a register offset; the offset has to be small.
            14 => vec![movs(rm, 9), 0x5400 | rm << 6 | 4 << 3 | rn],
            // An unaligned load.
            15 => vec![0xf8d4, rd << 12 | (word + 2)],
            16 => vec![0xb403, 0xbc0c],
            // ldmia r4, {r1, r2}, wide.
            17 => vec![0xe894, 0x0006],
            // The device: a read, or an interrupt to come.
            18 => vec![ldr(rd, 5, 0)],
            19 => vec![movs(rd, 5 + 3 * word), str(rd, 5, 4)],
            20 => self.floating(),
            _ => self.seldom(),
        }
    }

    fn floating(&mut self) -> Code {
        match self.below(4) {
            0 => vmov(self.below(4) as u16, self.result()).to_vec(),
            // vadd.f32 s0, s1, s2; vldr s3, [r4, #8]; vstr.
            1 => vec![0xee30, 0x0a81],
            2 => vec![0xedd4, 0x1a02],
            _ => vec![0xed84, 0x0a03],
        }
    }

    fn seldom(&mut self) -> Code {
        match self.below(6) {
            0 => vec![svc(self.below(200) as u16)],
            // Interrupts 0 and 1, and masks.
            1 | 2 => vec![movs(0, 1 + self.below(3) as u16), 0xf8c6, 0x0100],
            3 => vec![CPSID_I, adds(1, 3), CPSIE_I],
            // dsb; udf, which is a fault.
            4 => vec![0xf3bf, 0x8f4f],
            _ => vec![0xde01],
        }
    }

    /// Instructions with a condition: it, and up to four of 16 bits.
    fn conditional(&mut self) -> Code {
        let (count, condition) = (1 + self.below(4), self.below(14) as u16);
        // All "then": the low bit of the condition again, and the end mark.
        let mask = (1..count).fold(0, |mask, at| mask | (condition & 1) << (4 - at)) | 1 << (4 - count);
        let mut code = vec![0xbf00 | condition << 4 | mask];
        for _ in 0..count {
            let (rd, rn) = (self.result(), self.result());
            code.push(match self.below(4) {
                0 => ldr(rd, 4, 8),
                1 => str(rd, 4, 12),
                _ => adds(rd, 1) & 0xf8ff | rn << 8,
            });
        }
        code
    }

    /// A conditional branch forward, over what it may skip.
    fn branch(&mut self) -> Code {
        let skipped: Code = (0..1 + self.below(6)).flat_map(|_| self.simple()).collect();
        let condition = self.below(14) as u16;
        [vec![0xd000 | condition << 8 | (skipped.len() as u16 - 1)], skipped].concat()
    }

    fn program(&mut self) -> Code {
        let enable = code![load_constant(0, CPACR), load_constant(1, 0xf << 20), str(1, 0, 0)];
        let priorities = code![load_constant(0, 0xe000_e400), load_constant(1, 0x80a0), str(1, 0, 0)];
        let bases = code![load_constant(4, DATA), load_constant(5, DEVICE), load_constant(6, ISER)];
        let mut code = code![enable, priorities, bases, movs(0, 0x23), str(0, 6, 0), movs(7, 3)];
        let top = code.len();
        for _ in 0..20 {
            code.extend(match self.below(6) {
                0 => self.conditional(),
                1 => self.branch(),
                _ => self.simple(),
            });
        }
        // subs r7, #1; beq over a wide branch back.
        code.extend([subs(7, 1), 0xd001]);
        let by = (top as i32 - code.len() as i32 - 2) as u32;
        code.extend([0xf000 | (by >> 11 & 0x3ff) as u16 | 0x400, 0xb800 | (by & 0x7ff) as u16]);
        code![code, exit()]
    }
}

fn handlers() -> Vec<(u32, Code)> {
    vec![
        // The device's: it is lowered. It uses floating point, and a scratch word.
        (external(5), code![str(0, 5, 8), vmov(1, 5), ldr(0, 4, 60), adds(0, 1), str(0, 4, 60), BX_LR]),
        (external(0), code![PUSH_R4_LR, movs(0, 2), 0xf8c6_u16, 0x0100_u16, POP_R4_PC]),
        (external(1), code![ldr(0, 4, 56), adds(0, 1), str(0, 4, 56), BX_LR]),
        (SVCALL, code![vmov(0, 4), BX_LR]),
        // Returns to after the instruction of two bytes.
        (HARD_FAULT, code![0x9806_u16, adds(0, 2), 0x9006_u16, BX_LR]),
    ]
}

/// All visible state at the end.
fn ending(machine: &mut Machine, report: &RunReport) -> String {
    let mut data = [0; 64];
    machine.bus().peek(DATA, &mut data);
    let core = &report.cores[0];
    let registers = machine.registers();
    format!("{:?} {registers:x?} {} {:?} {:?} {data:?}", core.cycles, core.instructions, core.causes(), core.counters)
}

#[test]
fn however_it_runs_it_comes_to_the_same() {
    let (mut exceptions, mut halts) = (0, Halts::default());
    let seeds = sized(40, 150);
    for seed in 1..=seeds {
        let program = Random(0x9e37_79b9_7f4a_7c15_u64.wrapping_mul(seed)).program();
        let mut whole = machine(&program, &handlers());
        let report = run(&mut whole);
        assert_eq!(report.outcome, Outcome::Exit(0), "{seed}: {program:x?}");
        assert_sums(&report);
        let expected = ending(&mut whole, &report);
        exceptions += report.cores[0].counters.iter().find(|(name, _)| name == "cm4.exceptions").unwrap().1;

        let mut sliced = machine(&program, &handlers());
        let report = (1..).map(|n| sliced.run(Ps(n * 37 * CYCLE_PS), |_| true)).find(|report| !is_limit(report));
        let report = report.unwrap_or_else(|| panic!("{seed}: no end"));
        assert_eq!(ending(&mut sliced, &report), expected, "{seed}: in slices");

        let times = [seed * 1_700, seed * 9_100, seed * 21_000].map(|cycles| Ps(cycles * CYCLE_PS / 150));
        snapshots::change_nothing(|| machine(&program, &handlers()), [Ps(1)].into_iter().chain(times));

        let mut stepped = machine(&program, &handlers());
        assert_eq!(stepped.trace(100_000, |_| ()), Some(Outcome::Exit(0)), "{seed}");
        let report = stepped.report(Outcome::Exit(0));
        assert_eq!(ending(&mut stepped, &report), expected, "{seed}: instruction by instruction");

        let mut debugged = machine(&program, &handlers());
        let code = PROGRAM..PROGRAM + 2 * program.len() as u32;
        let (report, had) = run_debugged(&mut debugged, seed, Ps::from_us(1_000_000), code);
        assert_eq!(ending(&mut debugged, &report), expected, "{seed}: debugged");
        halts.breaks += had.breaks;
        halts.steps += had.steps;
        halts.times += had.times;
    }
    assert!(halts.breaks.min(halts.steps).min(halts.times) > seeds as usize * 2 / 3, "{halts:?}");
    assert!(exceptions > seeds * 10 / 3, "{exceptions}");
}

fn is_limit(report: &RunReport) -> bool {
    matches!(report.outcome, Outcome::Limit(_))
}

//! Random programs on the MIPS core: however they are run, in one go, in slices or instruction by instruction, all comes to the same.

use crate::support::mips::*;
use crate::support::random;
use cyclescope_engine::isa::mips::config::CoreConfig;
use cyclescope_engine::machine::{Machine, Outcome};
use cyclescope_engine::time::Ps;

/// Registers for results, and those that hold addresses: of DDR cached and uncached, slow memory, the device, a page of the TLB.
const RESULTS: u32 = 6;
const BASES: [(u32, u32); 5] = [
    (16, KSEG0 + DDR + 0x4000),
    (17, KSEG1 + DDR + 0x4000),
    (18, KSEG0 + SLOW + 0x4000),
    (19, KSEG1 + DEVICE),
    (20, 0x0040_0000),
];
/// Counts the rounds of the program's loop.
const ROUNDS: u32 = 21;
/// A second one, so that branches go both ways.
const STEPS: u32 = 22;

struct Random(u64);

impl Random {
    fn below(&mut self, bound: u32) -> u32 {
        random::below(&mut self.0, bound)
    }

    fn result(&mut self) -> u32 {
        T0 + self.below(RESULTS)
    }

    fn base(&mut self) -> u32 {
        // The device is met less often.
        let which = self.below(9) as usize;
        BASES[if which < 5 { which } else { which % 3 }].0
    }

    /// An instruction that goes on behind itself, or raises an exception whose handler does.
    fn simple(&mut self) -> u32 {
        let (rd, rs, rt) = (self.result(), self.result(), self.result());
        let (base, word) = (self.base(), 4 * self.below(24) as i32);
        let device = base == BASES[3].0;
        let choice = self.below(20);
        match choice {
            0..=3 => addu(rd, rs, rt),
            4 => addi(rd, rs, 0x7000),
            5 => register(0x2a, rd, rs, rt),
            6 => mul(rd, rs, rt),
            7 => register(0x18, 0, rs, rt),
            8 => register(0x1b, 0, rs, rt),
            9 => mflo(rd),
            10 if !device => lbu(rd, base, word + 1),
            11 if !device => lwl(rd, base, word + 2),
            12 if !device => swr(rt, base, word + 1),
            13 if !device => sb(rt, base, word + 3),
            14 if !device && word % 8 == 0 => lw(rd, base, word + 2),
            10..=14 if device => sw(STEPS, base, 4),
            15 if self.below(4) == 0 => SYSCALL,
            16 if self.below(3) == 0 => cache([0x01, 0x15, 0x19, 0x10][self.below(4) as usize], BASES[0].0, word),
            17 => mfc0(rd, STATUS),
            _ if self.below(2) == 0 && !device => sw(rt, base, word),
            _ => lw(rd, base, if device { 0 } else { word }),
        }
    }

    /// A branch forward, with its delay slot and what it may skip.
    fn branch(&mut self) -> Vec<u32> {
        let skipped = self.below(12);
        let (rs, rt, by) = (self.result(), self.result(), 1 + skipped as i32);
        let branch = match self.below(6) {
            0 => beq(rs, rt, by),
            1 => bne(rs, rt, by),
            2 => beql(rs, rt, by),
            3 => 0x5400_0000 | STEPS << 21 | by as u32,
            // bgezal and bltzall.
            4 => 0x0411_0000 | rs << 21 | by as u32,
            _ => 0x0412_0000 | rs << 21 | by as u32,
        };
        let mut code = vec![branch, self.simple()];
        code.extend((0..skipped).map(|_| self.simple()));
        code
    }

    fn program(&mut self) -> Vec<u32> {
        let mut code = vec![NORMAL];
        for (register, address) in BASES {
            code.extend([la(register, address), ori(register, register, address & 0xffff)]);
        }
        code.extend([addiu(ROUNDS, ZERO, 3), ori(K0, ZERO, ENABLED), mtc0(K0, STATUS)]);
        let top = code.len();
        code.push(addiu(STEPS, STEPS, 23));
        for _ in 0..20 {
            if self.below(3) == 0 {
                code.extend(self.branch());
            } else {
                code.push(self.simple());
            }
        }
        code.push(addiu(ROUNDS, ROUNDS, -1));
        let by = top as i32 - code.len() as i32 - 1;
        code.extend([bne(ROUNDS, ZERO, by), self.simple()]);
        then_exit(&code)
    }
}

/// Counts interrupts.
const INTERRUPTS: u32 = 23;

/// What exceptions go through: interrupts are acknowledged; other instructions are skipped, with the branch before them if they are in its slot.
fn handler() -> Vec<u32> {
    let (andi_code, bgez_cause) = (0x335b_007c, 0x0741_0002);
    vec![
        mfc0(K0, CAUSE),
        andi_code,
        bne(K1, ZERO, 5),
        la(K1, KSEG1 + DEVICE),
        sw(ZERO, K1, 8),
        addiu(INTERRUPTS, INTERRUPTS, 1),
        ERET,
        NOP,
        mfc0(K1, EPC),
        addiu(K1, K1, 4),
        bgez_cause,
        NOP,
        addiu(K1, K1, 4),
        mtc0(K1, EPC),
        ERET,
    ]
}

fn machine_of(core: &CoreConfig, at: u32, program: &[u32]) -> Machine {
    let mut machine = machine_with(core.clone(), at, program);
    put(&mut machine, GENERAL_VECTOR, &handler());
    let lo = (DDR + 0x8000) >> 12 << 6 | 3 << 3 | 7;
    let refill =
        [lui(K1, lo >> 16), ori(K1, K1, lo & 0xffff), mtc0(K1, ENTRY_LO0), mtc0(K1, ENTRY_LO1), 0x4200_0006, ERET];
    put(&mut machine, REFILL_VECTOR, &refill);
    machine
}

/// The longest that a program may take.
const LONGEST: Ps = Ps::from_us(1000);

/// Runs in slices of so many cycles.
fn run_in_slices(machine: &mut Machine, cycles: u64) -> Outcome {
    for slice in 1.. {
        let until = Ps(slice * cycles * CYCLE_PS);
        let outcome = machine.run(until.min(LONGEST), |_| true).outcome;
        if !matches!(outcome, Outcome::Limit(_)) || until > LONGEST {
            return outcome;
        }
    }
    unreachable!()
}

#[test]
fn programs_take_the_same_time_however_they_are_run() {
    let mut random = Random(0x1234_5678_9abc_def1);
    let mut interrupts = 0;
    for number in 0..150 {
        let program = random.program();
        let at = [PROGRAM, KSEG0 + DDR, KSEG1 + SLOW][number % 3];
        let core = CoreConfig { branch_targets: [0, 4, 64][number / 3 % 3], ..config() };
        let mut machines = [0; 3].map(|_| machine_of(&core, at, &program));
        let [running, stepping, sliced] = &mut machines;
        let ran = running.run(LONGEST, |_| true);
        let outcome = ran.outcome.clone();
        assert!(matches!(outcome, Outcome::Exit(0)), "{number}: {outcome:?}");
        assert_sums(&ran);
        assert_eq!(stepping.trace(1_000_000, |_| {}), Some(outcome.clone()), "{number}");
        assert_eq!(stepping.report(outcome.clone()).cores, ran.cores, "{number}");
        assert_eq!(run_in_slices(sliced, 1 + u64::from(random.below(60))), outcome, "{number}");
        assert_eq!(sliced.report(outcome).cores, ran.cores, "{number}");
        assert_eq!(stepping.registers(), running.registers(), "{number}");
        assert_eq!(sliced.registers(), running.registers(), "{number}");
        interrupts += running.registers()[1 + INTERRUPTS as usize];
    }
    assert!(interrupts > 100, "{interrupts}");
}

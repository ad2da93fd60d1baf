//! Random programs on the MIPS core: the result is equal in one go, in slices and instruction by instruction.

use crate::whole::support::debugged::run_debugged;
use crate::whole::support::mips::*;
use crate::whole::support::random;
use crate::whole::support::snapshots;
use crate::{Machine, Outcome};
use engine::isa::mips::config::CoreConfig;
use engine::isa::mips::config::SystemConfig;
use engine::isa::mips::timing::CoreTiming;
use engine::tiers::sized;
use engine::time::Ps;

/// Registers for results, and those that hold addresses: of DDR cached and uncached, slow memory, the device, a page
/// of the TLB.
const RESULTS: u32 = 6;
const BASES: [(u32, u32); 5] = [
    (16, KSEG0 + DDR + 0x4000),
    (17, KSEG1 + DDR + 0x4000),
    (18, KSEG0 + SLOW + 0x4000),
    (19, KSEG1 + DEVICE),
    (20, 0x0040_0000),
];
/// Counts the iterations of the program's loop.
const ITERATIONS: u32 = 21;
/// A second one, so that branches go both ways.
const STEPS: u32 = 22;
/// Counts the iterations of a loop in the loop.
const INNER: u32 = 24;
/// Holds the address of the second function.
const FUNCTION: u32 = 15;
/// Where functions are in the program's page and the next: the first before the end of a page, which the second begins.
const FUNCTIONS: [u32; 2] = [0xfe4, 0x1000];
const PAGE_BYTES: u32 = 0x1000;

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

    /// An instruction that does not change the flow of control, or raises an exception whose handler returns to after
    /// it.
    fn simple(&mut self) -> u32 {
        let (rd, rs, rt) = (self.result(), self.result(), self.result());
        let (base, word) = (self.base(), 4 * self.below(24) as i32);
        let device = base == BASES[3].0;
        let choice = self.below(25);
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
            18 => register(0x10, rd, 0, 0),
            19 => register(0x1a, 0, rs, rt),
            // madd, teq, movz, sync; another address space.
            20 => 0x7000_0000 | register(0, 0, rs, rt),
            21 if self.below(2) == 0 => register(0x34, 0, rs, rt),
            21 => register(0x0a, rd, rs, rt),
            22 if self.below(4) == 0 => 0x0000_000f,
            22 if self.below(4) == 0 => mtc0(STEPS, ENTRY_HI),
            22 if !device => ll(rd, base, word),
            23 if !device => sc(rd, base, word),
            _ if self.below(2) == 0 && !device => sw(rt, base, word),
            _ => lw(rd, base, if device { 0 } else { word }),
        }
    }

    /// An instruction for a delay slot: sometimes another branch.
    fn slot(&mut self) -> u32 {
        match self.below(25) {
            0 => beq(self.result(), self.result(), 1),
            1 => beql(self.result(), self.result(), 2),
            _ => self.simple(),
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
        let mut code = vec![branch, self.slot()];
        // A branch in the slot skips one or two of the instructions after it.
        code.extend((0..skipped + 2).map(|_| self.simple()));
        code
    }

    /// A loop of a few iterations.
    fn inner_loop(&mut self) -> Vec<u32> {
        let mut code = vec![addiu(INNER, ZERO, 1 + self.below(4) as i32)];
        code.extend((0..self.below(6)).map(|_| self.simple()));
        let by = -(code.len() as i32 + 1);
        let branch = if self.below(2) == 0 { bne(INNER, ZERO, by) } else { 0x5400_0000 | bne(INNER, ZERO, by) };
        code.extend([addiu(INNER, INNER, -1), branch, self.simple()]);
        code
    }

    /// The program, for code that begins at `at`.
    fn program(&mut self, at: u32) -> Vec<u32> {
        let mut code = Vec::new();
        for (register, address) in BASES {
            code.extend([la(register, address), ori(register, register, address & 0xffff)]);
        }
        let functions = FUNCTIONS.map(|offset| (at & !(PAGE_BYTES - 1)) + offset);
        let function = functions[1];
        code.extend([la(FUNCTION, function), ori(FUNCTION, FUNCTION, function & 0xffff)]);
        code.extend([addiu(ITERATIONS, ZERO, 3), ori(K0, ZERO, ENABLED), mtc0(K0, STATUS)]);
        let top = code.len();
        code.push(addiu(STEPS, STEPS, 23));
        for _ in 0..20 {
            match self.below(12) {
                0..=3 => code.extend(self.branch()),
                4 => code.extend(self.inner_loop()),
                5 => code.extend([jal(functions[0]), self.simple()]),
                // jalr
                6 => code.extend([0x0000_f809 | FUNCTION << 21, self.simple()]),
                _ => code.push(self.simple()),
            }
        }
        code.push(addiu(ITERATIONS, ITERATIONS, -1));
        let by = top as i32 - code.len() as i32 - 1;
        code.extend([bne(ITERATIONS, ZERO, by), self.simple()]);
        let mut code = then_exit(&code);
        let length = (functions[0] - at) as usize / 4;
        assert!(code.len() < length, "{}", code.len());
        code.resize(length, NOP);
        // The first ends with its page, and its slot is in the next: the second function's first instruction.
        code.extend((0..6).map(|_| self.simple()));
        code.push(jr(RA));
        code.extend((0..self.below(6)).map(|_| self.simple()));
        // An exception in the slot leaves the jump out.
        code.extend([jr(RA), self.simple(), jr(RA), NOP]);
        code
    }
}

/// Counts interrupts.
const INTERRUPTS: u32 = 23;

/// The handler of exceptions: it acknowledges interrupts, and skips other instructions, with the branch before them if
/// they are in its slot.
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

/// Where programs are, by virtual address and physical one: in local memory, DDR, uncached memory, and a page that the
/// TLB maps.
const PLACES: [(u32, u32); 4] =
    [(KSEG0 + 0x3000, 0x3000), (KSEG0 + DDR, DDR), (KSEG1 + SLOW, SLOW), (0x0050_0000, DDR + 0x8000)];

/// A core's table in which almost nothing takes time, and one in which everything takes long except the exception
/// entry.
const FAST: CoreTiming = CoreTiming {
    load_use: 0,
    multiply: 1,
    multiply_use: 0,
    divide: 1,
    coprocessor: 1,
    barrier: 1,
    exception: 0,
    exception_return: 1,
    taken_branch: 1,
    unpredicted_jump: 0,
    mispredicted_branch: 0,
};
const SLOW_BUT_FOR_EXCEPTIONS: CoreTiming = CoreTiming {
    load_use: 7,
    multiply: 3,
    multiply_use: 9,
    divide: 60,
    coprocessor: 3,
    barrier: 2,
    taken_branch: 3,
    unpredicted_jump: 1,
    mispredicted_branch: 4,
    ..FAST
};

/// The machine, whose core goes to the program when it has left the state after reset.
fn machine_of(core: &CoreConfig, (at, physical): (u32, u32), program: &[u32]) -> Machine {
    let start = [NORMAL, la(K0, at), ori(K0, K0, at & 0xffff), jr(K0), NOP];
    let mut machine = machine_with(core.clone(), PROGRAM, &start);
    put(&mut machine, physical, program);
    put(&mut machine, GENERAL_VECTOR, &handler());
    // Even pages are in DDR's first half, odd ones in its second.
    let lo = |physical: u32| physical >> 12 << 6 | 3 << 3 | 7;
    let set = |physical: u32, register: u32| {
        [lui(K1, lo(physical) >> 16), ori(K1, K1, lo(physical) & 0xffff), mtc0(K1, register)]
    };
    let (even, odd) = (set(DDR + 0x8000, ENTRY_LO0), set(DDR + 0x9000, ENTRY_LO1));
    put(&mut machine, REFILL_VECTOR, &[&even[..], &odd, &[0x4200_0006, ERET]].concat());
    machine
}

/// The longest that a program may take.
const LONGEST: Ps = Ps::from_us(5000);

/// Runs in slices of `cycles` cycles.
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
    for number in 0..sized(40, 300) {
        let (at, physical) = PLACES[number % PLACES.len()];
        // Lines begin anywhere in the program; the mapped one goes to where no data is.
        let offset = 4 * random.below(8) + if physical == DDR + 0x8000 { 0x100 } else { 0 };
        let place = (at + offset, physical + offset);
        let program = random.program(place.0);
        let timing = [timing(), timing(), FAST, SLOW_BUT_FOR_EXCEPTIONS][number / 4 % 4];
        let system = SystemConfig { branch_targets: [0, 4, 64][number / 3 % 3], ..config().system };
        let core = CoreConfig { system, timing, ..config() };
        let mut machines = [0; 4].map(|_| machine_of(&core, place, &program));
        if number % 5 == 0 {
            machines
                .iter_mut()
                .for_each(|machine| machine.watch_address("function", (at & !(PAGE_BYTES - 1)) + FUNCTIONS[0]));
        }
        let [running, stepping, sliced, debugged] = &mut machines;
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
        let code = place.0..place.0 + 4 * program.len() as u32;
        let (report, _) = run_debugged(debugged, number as u64 + 1, LONGEST, code);
        assert_eq!(report.cores, ran.cores, "{number}: debugged");
        assert_eq!(debugged.registers(), running.registers(), "{number}: debugged");
        let watched = number % 5 == 0;
        let build = || {
            let mut machine = machine_of(&core, place, &program);
            if watched {
                machine.watch_address("function", (at & !(PAGE_BYTES - 1)) + FUNCTIONS[0]);
            }
            machine
        };
        let times = [1, 20, 1 + number as u64 * 37].map(|cycles| Ps(cycles * CYCLE_PS));
        snapshots::change_nothing(build, times);
        interrupts += running.registers()[1 + INTERRUPTS as usize];
    }
    assert!(interrupts > 100, "{interrupts}");
}

//! Detection of polling loops: the same read of a device, again and again, with the same registers, or with registers
//! that count.

use crate::bus::device::CoreRegister;

/// Number of instructions whose reads are watched at once.
const SLOTS: usize = 8;
/// Equal reads after which a loop is examined; doubled after each examination without success.
const FIRST_NEEDED: u32 = 8;
/// Maximum of that number: in a wait, registers may change each millisecond, with the clock's tick.
const MOST_NEEDED: u32 = 1 << 10;
/// Number of consecutive different reads after which the recorded read is replaced.
const PATIENCE: u32 = 64;

/// Most cycles between two reads of the time in a loop.
const LONGEST_WAIT_CYCLES: u64 = 2000;

/// A register of the core's timer that counts the time, and the place for its low word: see [`super::clock_loops`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ClockRead {
    /// The timer's register.
    pub register: CoreRegister,
    /// The general register that gets the low word.
    pub to: u8,
    /// The cycle of the last read.
    pub cycles: u64,
    /// Number of reads so far.
    pub reads: u64,
}

/// Record of the instruction that read the time last.
#[derive(Clone, Copy, Debug)]
struct ClockReads {
    pc: u32,
    read: Option<ClockRead>,
    in_a_row: u32,
    needed: u32,
}

/// Record of an instruction that reads a device.
#[derive(Clone, Copy, Debug)]
struct Slot {
    instr: u64,
    registers: u32,
    reads: u32,
    equal: u32,
    /// The registers at its last read, their change since the read before, and the number of equal changes in a row.
    last: u32,
    step: u32,
    steady: u32,
    needed: u32,
    /// Passes of this instruction in an iteration of the loop fast-forwarded last.
    passes: u32,
}

/// A slot without an instruction.
const EMPTY: Slot = Slot {
    instr: u64::MAX,
    registers: 0,
    reads: 0,
    equal: 0,
    last: 0,
    step: 0,
    steady: 0,
    needed: FIRST_NEEDED,
    passes: 0,
};

/// Watches reads of devices.
#[derive(Debug)]
pub(crate) struct Polls {
    slots: [Slot; SLOTS],
    last: usize,
    /// The slot that the next new instruction gets.
    next: usize,
    /// Fast-forwarding is enabled.
    enabled: bool,
    /// A loop is being examined; its reads meanwhile do not count.
    looking: bool,
    /// A loop seems to poll: the outer loop should examine it.
    pub has_candidate: bool,
    /// Its registers differ from iteration to iteration, always by the same step.
    pub counts: bool,
    /// Passes of the instruction in an iteration of the examined loop.
    pub passes: u32,
    /// It reads the time.
    follows_clock: bool,
    clock: ClockReads,
    /// Cycles that were fast-forwarded.
    pub skipped_cycles: u64,
}

impl Default for Polls {
    fn default() -> Polls {
        Polls {
            slots: [EMPTY; SLOTS],
            last: 0,
            next: 0,
            enabled: true,
            looking: false,
            has_candidate: false,
            counts: false,
            passes: 0,
            follows_clock: false,
            clock: ClockReads { pc: 0, read: None, in_a_row: 0, needed: FIRST_NEEDED },
            skipped_cycles: 0,
        }
    }
}

impl Polls {
    /// A new record without reads, enabled as this one is.
    pub fn afresh(&self) -> Polls {
        Polls { enabled: self.enabled, skipped_cycles: self.skipped_cycles, ..Polls::default() }
    }

    /// Records a read of a device by the instruction identified by `instr`; `x` are the registers after it.
    pub fn note_read<const REGISTERS: usize>(&mut self, instr: u64, x: &[u32; REGISTERS]) {
        if !self.enabled || self.looking {
            return;
        }
        self.last = self.slots.iter().position(|slot| slot.instr == instr).unwrap_or_else(|| {
            self.next = (self.next + 1) % SLOTS;
            self.next
        });
        let slot = &mut self.slots[self.last];
        let registers = fingerprint(x);
        if slot.instr != instr {
            *slot = Slot { instr, registers, last: registers, ..EMPTY };
            return;
        }
        let step = registers.wrapping_sub(slot.last);
        slot.steady = if step == slot.step { slot.steady + 1 } else { 0 };
        (slot.last, slot.step) = (registers, step);
        if step != 0 && slot.steady >= slot.needed {
            (self.has_candidate, self.counts) = (true, true);
        }
        if slot.registers == registers {
            slot.equal += 1;
            slot.reads = 0;
            self.has_candidate |= slot.equal >= slot.needed;
        } else {
            slot.reads += 1;
            if slot.reads > PATIENCE {
                *slot = Slot { registers, reads: 0, equal: 0, ..*slot };
            }
        }
    }

    /// Records a read of the time by the instruction at `pc`.
    pub fn note_clock(&mut self, pc: u32, register: CoreRegister, to: u8, cycles: u64) {
        let before = self.clock.read;
        let reads = before.map_or(0, |read| read.reads) + 1;
        self.clock.read = Some(ClockRead { register, to, cycles, reads });
        if !self.enabled || self.looking {
            return;
        }
        if pc != self.clock.pc {
            (self.clock.pc, self.clock.needed, self.clock.in_a_row) = (pc, FIRST_NEEDED, 0);
        }
        let is_near = before.is_some_and(|read| cycles.wrapping_sub(read.cycles) <= LONGEST_WAIT_CYCLES);
        self.clock.in_a_row = if is_near { self.clock.in_a_row + 1 } else { 0 };
        if self.clock.in_a_row >= self.clock.needed {
            (self.has_candidate, self.follows_clock) = (true, true);
        }
    }

    /// The last read of the time, if the candidate is a loop that reads it.
    pub fn clock(&self) -> Option<ClockRead> {
        self.clock.read.filter(|_| self.follows_clock)
    }

    /// Passes of the instruction in an iteration, if the candidate is the loop that was last fast-forwarded there.
    pub fn expected_passes(&self) -> u32 {
        self.slots[self.last].passes
    }

    /// Enables or disables fast-forwarding.
    pub fn enable(&mut self, skip: bool) {
        self.enabled = skip;
        (self.has_candidate, self.counts, self.follows_clock) = (false, false, false);
    }

    /// Starts the examination of the candidate.
    pub fn look(&mut self) {
        self.looking = true;
    }

    /// Ends the examination of the candidate, which was fast-forwarded if `done`.
    pub fn looked(&mut self, done: bool) {
        (self.looking, self.has_candidate, self.counts) = (false, false, false);
        if std::mem::take(&mut self.follows_clock) {
            self.clock.in_a_row = 0;
            self.clock.needed = if done { FIRST_NEEDED } else { MOST_NEEDED.min(2 * self.clock.needed) };
            return;
        }
        let slot = &mut self.slots[self.last];
        slot.needed = if done { FIRST_NEEDED } else { MOST_NEEDED.min(2 * slot.needed) };
        slot.passes = if done { self.passes } else { 0 };
        (slot.reads, slot.equal, slot.steady) = (0, 0, 0);
    }
}

/// A hash of the registers: it differs, except for rare collisions, when any register differs, and by the same number
/// each time where registers count. Narrow, so that the host can process several registers at once.
fn fingerprint<const REGISTERS: usize>(x: &[u32; REGISTERS]) -> u32 {
    const { assert!(REGISTERS >= 32) };
    let weight = |register: usize| 0x9e37_79b9_u32.wrapping_mul(2 * register as u32 + 1);
    (0..32).fold(0, |sum: u32, register| sum.wrapping_add(x[register].wrapping_mul(weight(register))))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reads(polls: &mut Polls, mut value: impl FnMut(u32) -> u32, count: u32) -> Option<u32> {
        let mut x = [0; 256];
        (0..count).find(|read| {
            x[10] = value(*read);
            polls.note_read(0x40, &x);
            polls.has_candidate
        })
    }

    #[test]
    fn a_pattern_that_repeats_is_found_and_a_steady_count() {
        assert_eq!(reads(&mut Polls::default(), |_| 0, 100), Some(8));
        assert_eq!(reads(&mut Polls::default(), |read| read % 3, 100), Some(24));
        assert_eq!(reads(&mut Polls::default(), |read| read * read / 3, 10_000), None);
        assert_eq!(reads(&mut Polls::default(), |read| 7 * read, 100), Some(9));
    }

    #[test]
    fn as_many_reads_as_there_are_slots_do_not_disturb_each_other() {
        let mut polls = Polls::default();
        // Numbers that differ in few bits, as those of neighbouring blocks do.
        let instrs: Vec<u64> = (0..SLOTS as u64).map(|n| (0x150 + n) << 32 | (8 * n)).collect();
        let iterations = (0..100).take_while(|_| {
            instrs.iter().for_each(|instr| polls.note_read(*instr, &[0; 256]));
            !polls.has_candidate
        });
        assert_eq!(iterations.count(), 8);
    }

    #[test]
    fn a_wait_is_found_however_many_looks_were_in_vain_before() {
        let mut polls = Polls::default();
        for wait in 0..30 {
            assert!(reads(&mut polls, |_| wait, 5_000).is_some(), "{wait}");
            polls.looked(false);
        }
        // By other instructions, with other registers: each differs from the record.
        assert!(reads(&mut polls, |read| 100 + read * read, 10_000).is_none());
        assert!(reads(&mut polls, |_| 99, 5_000).is_some());
    }

    #[test]
    fn nothing_is_found_while_it_is_off_or_a_look_under_way() {
        let mut polls = Polls::default();
        assert_eq!(reads(&mut polls, |_| 0, 100), Some(8));
        polls.enable(false);
        assert!(!polls.has_candidate, "what had been found is forgotten");
        assert_eq!(reads(&mut polls, |_| 0, 100), None);
        polls.look();
        polls.looked(true);
        assert_eq!(reads(&mut polls, |_| 0, 100), None, "a look does not switch it on");
        polls.enable(true);
        polls.look();
        assert_eq!(reads(&mut polls, |_| 0, 100), None);
        polls.looked(true);
        assert!(reads(&mut polls, |_| 0, 100).is_some());
    }

    #[test]
    fn looks_in_vain_become_rare() {
        let mut polls = Polls::default();
        assert_eq!(reads(&mut polls, |_| 0, 100), Some(8));
        polls.looked(false);
        assert_eq!(reads(&mut polls, |_| 0, 100), Some(15));
        polls.looked(true);
        assert_eq!(reads(&mut polls, |_| 0, 100), Some(7));
    }
}

//! Notices that a loop polls: the same read of a device, again and again, with the same registers.

/// Reads by different instructions that are watched at once.
const SLOTS: usize = 8;
/// Equal reads that make a loop worth a closer look; doubled each time that the look was in vain.
const FIRST_NEEDED: u32 = 8;
/// No more than so many: a wait may see its registers change each millisecond, when a clock ticks.
const MOST_NEEDED: u32 = 1 << 10;
/// A read that was remembered to compare with is replaced after so many others in a row.
const PATIENCE: u32 = 64;

/// What is remembered of one instruction that reads a device.
#[derive(Clone, Copy, Debug)]
struct Slot {
    place: u64,
    registers: u32,
    reads: u32,
    equal: u32,
    needed: u32,
    /// Passes of this instruction in a round of the loop that was last skipped.
    passes: u32,
}

/// A slot that stands for no instruction.
const EMPTY: Slot = Slot { place: u64::MAX, registers: 0, reads: 0, equal: 0, needed: FIRST_NEEDED, passes: 0 };

/// Watches reads of devices.
#[derive(Debug)]
pub(crate) struct Polls {
    slots: [Slot; SLOTS],
    last: usize,
    /// The slot that the next new instruction gets.
    turn: usize,
    /// Skipping is switched on.
    enabled: bool,
    /// A look is under way, whose own reads are no news.
    looking: bool,
    /// A loop seems to poll: the outer loop should look.
    pub found: bool,
    /// Passes of the instruction in a round of the loop being looked at.
    pub passes: u32,
    /// Cycles that were skipped.
    pub skipped_cycles: u64,
}

impl Default for Polls {
    fn default() -> Polls {
        Polls {
            slots: [EMPTY; SLOTS],
            last: 0,
            turn: 0,
            enabled: true,
            looking: false,
            found: false,
            passes: 0,
            skipped_cycles: 0,
        }
    }
}

impl Polls {
    /// A device was read by the instruction that `place` stands for; `x` are the registers behind it.
    pub fn saw(&mut self, place: u64, x: &[u32; 256]) {
        if !self.enabled || self.looking {
            return;
        }
        self.last = self.slots.iter().position(|slot| slot.place == place).unwrap_or_else(|| {
            self.turn = (self.turn + 1) % SLOTS;
            self.turn
        });
        let slot = &mut self.slots[self.last];
        let registers = fingerprint(x);
        if slot.place != place {
            *slot = Slot { place, registers, ..EMPTY };
        } else if slot.registers == registers {
            slot.equal += 1;
            slot.reads = 0;
            self.found |= slot.equal >= slot.needed;
        } else {
            slot.reads += 1;
            if slot.reads > PATIENCE {
                *slot = Slot { registers, reads: 0, equal: 0, ..*slot };
            }
        }
    }

    /// Passes of the instruction that make up a round, if the loop that was found is the one that was last skipped
    /// there.
    pub fn expected_passes(&self) -> u32 {
        self.slots[self.last].passes
    }

    /// Switches skipping on or off.
    pub fn enable(&mut self, skip: bool) {
        self.enabled = skip;
        self.found = false;
    }

    /// The loop that was found is looked at from now on.
    pub fn look(&mut self) {
        self.looking = true;
    }

    /// What became of the loop that was looked at.
    pub fn looked(&mut self, skipped: bool) {
        (self.looking, self.found) = (false, false);
        let slot = &mut self.slots[self.last];
        slot.needed = if skipped { FIRST_NEEDED } else { MOST_NEEDED.min(2 * slot.needed) };
        slot.passes = if skipped { self.passes } else { 0 };
        (slot.reads, slot.equal) = (0, 0);
    }
}

/// A number that differs, but for rare chance, when any register does. Narrow, so that the host takes several registers
/// at once.
fn fingerprint(x: &[u32; 256]) -> u32 {
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
            polls.saw(0x40, &x);
            polls.found
        })
    }

    #[test]
    fn a_pattern_that_repeats_is_found_and_a_count_is_not() {
        assert_eq!(reads(&mut Polls::default(), |_| 0, 100), Some(8));
        assert_eq!(reads(&mut Polls::default(), |read| read % 3, 100), Some(24));
        assert_eq!(reads(&mut Polls::default(), |read| read / 3, 10_000), None);
    }

    #[test]
    fn as_many_reads_as_there_are_slots_do_not_disturb_each_other() {
        let mut polls = Polls::default();
        // Places that differ in few bits, as those of neighbouring blocks do.
        let places: Vec<u64> = (0..SLOTS as u64).map(|n| (0x150 + n) << 32 | (8 * n)).collect();
        let rounds = (0..100).take_while(|_| {
            places.iter().for_each(|place| polls.saw(*place, &[0; 256]));
            !polls.found
        });
        assert_eq!(rounds.count(), 8);
    }

    #[test]
    fn a_wait_is_found_however_many_looks_were_in_vain_before() {
        let mut polls = Polls::default();
        for wait in 0..30 {
            assert!(reads(&mut polls, |_| wait, 5_000).is_some(), "{wait}");
            polls.looked(false);
        }
        // From other places, with other registers: none of them equal to what was remembered.
        assert!(reads(&mut polls, |read| 100 + read, 10_000).is_none());
        assert!(reads(&mut polls, |_| 99, 5_000).is_some());
    }

    #[test]
    fn nothing_is_found_while_skipping_is_off_or_a_look_under_way() {
        let mut polls = Polls::default();
        assert_eq!(reads(&mut polls, |_| 0, 100), Some(8));
        polls.enable(false);
        assert!(!polls.found, "what had been found is forgotten");
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

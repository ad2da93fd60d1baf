//! Which instructions issue together, in a core that issues up to two a cycle: the first issue slot takes any
//! instruction, the second one a direct branch, or, in some cores, arithmetic with one register operand (GCC's pipeline
//! description of the Cortex-A7, gcc/config/arm/cortex-a7.md).

use super::latencies::Kind;
use super::{CoreTiming, Pending};
use crate::dt::reader::NodeReader;
use crate::isa::arm::decoded::Decoded;
use crate::isa::arm::op::{Instr, TimingClass};
use crate::isa::arm::registers::{FLAGS, PC, RegisterSet};

/// Registers that the next instruction must not need to issue together with the last one: registers read as usual, and
/// early. The flags are number 15.
pub type Busy = [u16; 2];

/// Words of a load or store multiple that pass in one step: 1 if the node does not give the number.
pub fn read_transfer_words(reader: &mut NodeReader) -> u8 {
    const NAME: &str = "cyclescope,transfer-words";
    let meaning = "a step of a load or store of several has one or two words";
    reader.given(NAME, |reader| reader.timing_u32(NAME, 1..=2, meaning) as u8).unwrap_or(1)
}

impl CoreTiming {
    /// True if an instruction with ready operands can issue together with the previous one.
    pub(super) fn may_join(&self, decoded: &Decoded, pending: &Pending) -> bool {
        let instr = &decoded.instr;
        if instr.class == TimingClass::Branch {
            return pending.pairs;
        }
        let [busy, busy_early] = pending.busy;
        pending.takes_arithmetic
            && matches!(instr.class, TimingClass::Alu | TimingClass::IfThen)
            && decoded.flow_of_data.kind != Kind::Bits
            && (instr.reads & ((1 << PC) - 1)).count_ones() <= 1
            && with_flags(instr.reads | instr.writes) & busy == 0
            && with_flags(instr.reads_early) & busy_early == 0
    }

    /// Updates the state after an instruction that issued first in its cycle, without a second one: which instruction
    /// may join it. `busy` has the results that were under way when it issued.
    pub(super) fn lead(&self, instr: &Instr, busy: Busy, pending: &mut Pending) {
        let room = self.leaves_room(instr);
        let takes_any = self.dual_issue && instr.class != TimingClass::Branch;
        pending.pairs = takes_any && (room || !self.dual_issue_immediates);
        pending.takes_arithmetic = room && self.dual_issue_immediates;
        if pending.takes_arithmetic {
            pending.busy = busy.map(|set| set | with_flags(instr.writes));
        }
    }

    /// True if an instruction leaves the second issue slot free.
    fn leaves_room(&self, instr: &Instr) -> bool {
        use TimingClass::*;
        match instr.class {
            Alu | AluShift | AluShiftRegister | IfThen | Load | Store | Branch | VfpAdd | VfpMultiply
            | VfpMultiplyAdd => true,
            // In this direction (to VFP registers) they take both slots.
            VfpMove | VfpMoveTwo => instr.reads == 0,
            VfpLoad | VfpStore => instr.words == 1,
            _ => false,
        }
    }
}

impl Pending {
    /// Registers that can't be read yet.
    pub(super) fn busy(&self) -> Busy {
        let waiting = |waits: u64| {
            (0..16).filter(|register| waits >> (4 * register) & 15 != 0).fold(0, |set, register| set | 1 << register)
        };
        if self.ready | self.early == 0 { [0; 2] } else { [waiting(self.ready), waiting(self.early)] }
    }
}

/// A set with the flags as number 15.
fn with_flags(set: RegisterSet) -> u16 {
    (set & ((1 << PC) - 1)) as u16 | u16::from(set & FLAGS != 0) << PC
}

#[cfg(test)]
mod tests {
    use super::super::tests::{decoded, instr, table, total};
    use super::*;

    /// The cycles with a table for dual issue of arithmetic with one register, and two words per cycle.
    fn total_of_pairs(program: &[(Instr, RegisterSet)]) -> u32 {
        let table = CoreTiming { dual_issue_immediates: true, transfer_words: 2, ..table() };
        let mut pending = Pending::NONE;
        let costs = program.iter().map(|(instr, loaded)| table.step(&decoded(*instr, *loaded), &mut pending));
        costs.map(|cost| cost.stall_cycles + cost.issue_cycles).sum()
    }

    #[test]
    fn arithmetic_with_one_register_goes_with_what_leaves_a_way_free() {
        let simple = |to: u32, from: u32| (instr(TimingClass::Alu, 1 << to, 1 << from), 0);
        let full = |to: u32| (instr(TimingClass::Alu, 1 << to, 0b11 << 8), 0);
        assert_eq!(total_of_pairs(&[simple(0, 4), simple(1, 5)]), 1);
        assert_eq!(total_of_pairs(&[full(0), simple(1, 5), full(2), simple(3, 5)]), 2);
        assert_eq!(total_of_pairs(&[simple(0, 4), full(1)]), 2, "two registers, the second way has no room");
        assert_eq!(total_of_pairs(&[simple(0, 4), simple(1, 5), simple(2, 6)]), 2, "two at a time");
        let store = (instr(TimingClass::Store, 0, 0b11), 0);
        assert_eq!(total_of_pairs(&[store, simple(2, 2)]), 1);
        assert_eq!(total_of_pairs(&[simple(2, 2), store]), 2);
        let product = (instr(TimingClass::Multiply, 1, 0b11 << 4), 0);
        assert_eq!(total_of_pairs(&[product, simple(2, 2)]), 2);
        assert_eq!(total(&[simple(0, 4), simple(1, 5)]), 2, "not in other cores");
    }

    #[test]
    fn what_goes_along_needs_nothing_that_is_not_there_yet() {
        let simple = |to: u32, from: u32| (instr(TimingClass::Alu, 1 << to, 1 << from), 0);
        assert_eq!(total_of_pairs(&[simple(0, 4), simple(1, 0)]), 2, "the result of its companion");
        assert_eq!(total_of_pairs(&[simple(0, 4), simple(0, 5)]), 2, "the same result");
        let load = (instr(TimingClass::Load, 1, 1 << 4), 1);
        // The loaded register would be readable in the next cycle.
        assert_eq!(total_of_pairs(&[load, (instr(TimingClass::Alu, 2, 0b11 << 8), 0), simple(2, 0)]), 3);
        assert_eq!(total_of_pairs(&[load, (instr(TimingClass::Alu, 2, 0b11 << 8), 0), simple(2, 5)]), 2);
        let compare = (instr(TimingClass::Alu, FLAGS, 1 << 4), 0);
        let branch = (instr(TimingClass::Branch, 0, FLAGS), 0);
        assert_eq!(total_of_pairs(&[compare, branch]), 1, "branches are predicted");
        let conditional = (instr(TimingClass::Alu, 2, FLAGS), 0);
        assert_eq!(total_of_pairs(&[compare, conditional]), 2);
        // A branch that is not taken issues with a second instruction, but not with another branch.
        assert_eq!(total_of_pairs(&[branch, simple(0, 4)]), 1);
        assert_eq!(total_of_pairs(&[branch, branch]), 2);
    }

    #[test]
    fn two_words_may_pass_at_once() {
        let multiple = |words| (Instr { words, ..instr(TimingClass::LoadMultiple, 0x1f, 0x20) }, 0x1f);
        let cycles = [2, 3, 4, 5].map(|words| total_of_pairs(&[multiple(words)]));
        assert_eq!(cycles, [1, 2, 2, 3]);
    }
}

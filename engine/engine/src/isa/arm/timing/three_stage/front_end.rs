//! The front end of a core of three stages: a prefetch buffer of a few words in front of the decode stage.
//!
//! The buffer holds the words of the instruction in decode, those after it, and those on their way. In each cycle the
//! front end requests a word if there will be room for it; the word can be decoded two cycles later (Arm knowledge
//! article 103488664). An instruction of four bytes across two words needs both of them. A word is free when the last
//! instruction with a halfword in it leaves decode. The front end knows that in the same cycle, and requests the next
//! word at once; but it learns it a cycle late while the execution stage is busy with an instruction of several cycles
//! or with floating point. So three instructions of four bytes across words wait a cycle after one of several cycles
//! (Lenngren, IACR ePrint 2025/523), and single-cycle floating-point instructions across words wait a cycle for each
//! three (Arm knowledge article ka006138).

use super::super::cycles;
use super::is_of_code;
use crate::dt::reader::NodeReader;
use crate::isa::arm::decoded::Decoded;
use crate::isa::arm::op::TimingClass;
use crate::isa::arm::registers::FLAGS;
use crate::state::Fresh;

/// Words that fill any buffer.
const FULL: u8 = u8::MAX;
/// An instruction before that occupies the execution stage for longer has let the buffer fill.
const LONGEST_HELD_CYCLES: u32 = 8;

/// The front end's part of the timing table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, crate::state::State, Fresh)]
pub struct FrontEnd {
    /// Words of the buffer, those on their way included; 0 for a front end that is never late.
    pub words: u8,
    /// Cycles by which the front end learns late that an instruction leaves decode: 0 or 1.
    pub late_release: u8,
    /// Requests that a conditional branch to a fixed address takes for its target, though it is not taken: 0 or 1.
    pub branch_fetches: u8,
    /// Requests that a load of a constant beside the code takes: the memory reads one word at a time. 0 or 1.
    pub constant_fetches: u8,
    /// The longest refill of a jump beyond its own cycle; 0 for no such limit.
    pub most_refill: u8,
    /// Further cycle of a jump to code on the system bus, through whose register it is fetched.
    pub system_fetch: u8,
    /// An IT instruction takes no cycle after an instruction of two bytes.
    pub folds: bool,
}

/// State that affects the next instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, crate::state::State, Fresh)]
pub struct State {
    /// Words from the next instruction's first one that were requested.
    words: u8,
    /// The last of them can be decoded only in the cycle after `held_cycles` begin.
    is_fresh: bool,
    /// Cycles from the start of the last instruction to the earliest start of the next one.
    held_cycles: u8,
    /// Until `held_cycles` have passed the front end learns late what leaves decode.
    is_late: bool,
    /// In the first cycle of `held_cycles` a load of a constant uses the code's memory.
    contends: bool,
    /// The last instruction jumped.
    jumped: bool,
    /// The last instruction has two bytes, and an IT instruction can be folded into it.
    narrow: bool,
}

impl Default for State {
    fn default() -> State {
        State::NONE
    }
}

impl State {
    /// The state with a full buffer.
    pub const NONE: State = State {
        words: FULL,
        is_fresh: false,
        held_cycles: 1,
        is_late: false,
        contends: false,
        jumped: false,
        narrow: false,
    };

    /// True right after a jump.
    pub fn jumped(self) -> bool {
        self.jumped
    }
}

/// When an instruction could start without the front end, and for how long it occupies the execution stage.
#[derive(Clone, Copy, Debug)]
pub struct Schedule {
    /// Cycles that it waits for operands.
    pub wait_cycles: u32,
    /// Cycles by which it overlaps the last instruction.
    pub overlap_cycles: u32,
    /// Its cycles from its start to the earliest start of one that does not overlap it.
    pub alone_cycles: u32,
}

impl FrontEnd {
    /// Reads it from a `cpu` node.
    pub fn from_node(reader: &mut NodeReader) -> FrontEnd {
        FrontEnd {
            words: reader.timing_u32("cyclescope,prefetch-words", 2..=16, "words of the prefetch buffer (2 to 16)")
                as u8,
            late_release: cycles(
                reader,
                "late-release",
                0,
                "by how much later, 0 or 1, the prefetch buffer learns that an instruction leaves decode, if the one \
                 before takes several cycles or is of floating point",
            ),
            branch_fetches: reader.timing_u32(
                "cyclescope,branch-fetches",
                0..=1,
                "fetches (0 or 1) that a conditional branch takes from the code after it, though it is not taken",
            ) as u8,
            constant_fetches: reader.timing_u32(
                "cyclescope,constant-fetches",
                0..=1,
                "fetches (0 or 1) that a load of a constant beside the code takes from the code",
            ) as u8,
            most_refill: cycles(reader, "most-refill", 1, "the most that a jump takes beyond its own cycle"),
            system_fetch: cycles(reader, "system-fetch", 0, "further cycles of a jump to code on the system bus"),
            folds: reader.flag("cyclescope,folded-it", "an IT instruction takes no cycle after one of two bytes"),
        }
    }

    /// The state after a jump, for which `cycles` pass: the target's word is there when it can be decoded, and the next
    /// word follows in the next cycle; after the longest refill that one is there, too.
    pub fn jumped(&self, cycles: u32) -> State {
        let is_longest = self.most_refill > 0 && cycles >= u32::from(self.most_refill);
        State { words: 2 + u8::from(is_longest), is_fresh: true, jumped: true, ..State::NONE }
    }

    /// If the instruction takes no cycle because it is folded into the previous one: the state after it. They leave
    /// decode together, so that a full buffer has room a cycle earlier.
    pub fn fold(&self, decoded: &Decoded, state: State) -> Option<State> {
        if !self.folds || decoded.instr.class != TimingClass::IfThen || !state.narrow {
            return None;
        }
        let had_no_room = state.words >= self.words && !state.is_fresh;
        let (freed, is_fresh) = match freed_words(decoded) {
            0 => (0, state.is_fresh),
            _ if had_no_room => (0, true),
            freed => (freed, state.is_fresh),
        };
        let words = state.words.min(self.words).saturating_sub(freed);
        Some(State { words, is_fresh, narrow: false, ..state })
    }

    /// Further cycles of a jump to this instruction on the system bus.
    pub fn system_cycles(&self, decoded: &Decoded, state: State) -> u32 {
        if state.jumped && decoded.on_system_bus { u32::from(self.system_fetch) } else { 0 }
    }

    /// Passes an instruction: its wait for the front end, and the state for the next one.
    pub fn pass(&self, decoded: &Decoded, state: State, schedule: Schedule) -> (u32, State) {
        if self.words == 0 {
            return (0, State { narrow: is_narrow(decoded), ..State::NONE });
        }
        let (needed, freed) = (needed_words(decoded), freed_words(decoded));
        let takes_fetch = self.branch_fetches > 0 && is_conditional_branch(decoded);
        let earliest = schedule.wait_cycles as i32 - schedule.overlap_cycles as i32;
        let (mut words, mut is_fresh) = (state.words.min(self.words), state.is_fresh);
        let mut cycle = -i32::from(state.held_cycles);
        let mut decoding = false;
        let mut contends = state.contends && self.constant_fetches > 0;
        loop {
            let enters = !decoding && words - u8::from(is_fresh) >= needed;
            decoding |= enters;
            let leaves = decoding && cycle + 1 >= earliest;
            let is_known = leaves && !(state.is_late && self.late_release > 0 && cycle < 0);
            let kept = words - if is_known { freed } else { 0 };
            is_fresh = kept < self.words && !(enters && takes_fetch) && !contends;
            contends = false;
            words += u8::from(is_fresh);
            cycle += 1;
            if leaves {
                break;
            }
        }
        let after = State {
            words: words - freed,
            is_fresh,
            held_cycles: schedule.alone_cycles.min(LONGEST_HELD_CYCLES) as u8,
            is_late: learns_late(decoded),
            contends: is_of_code(decoded),
            jumped: false,
            narrow: is_narrow(decoded),
        };
        ((cycle - earliest) as u32, after)
    }
}

/// True if an IT instruction can be folded into this one.
fn is_narrow(decoded: &Decoded) -> bool {
    decoded.instr.len_bytes == 2 && decoded.instr.class != TimingClass::IfThen
}

/// Words with a part of the instruction.
fn needed_words(decoded: &Decoded) -> u8 {
    1 + u8::from(decoded.in_upper_half && decoded.instr.len_bytes == 4)
}

/// Words that no later instruction needs.
fn freed_words(decoded: &Decoded) -> u8 {
    u8::from(decoded.in_upper_half || decoded.instr.len_bytes == 4)
}

fn is_conditional_branch(decoded: &Decoded) -> bool {
    decoded.instr.class == TimingClass::Branch && decoded.instr.reads & FLAGS != 0
}

/// True for instructions of several cycles, and of floating point, in the execution stage.
fn learns_late(decoded: &Decoded) -> bool {
    use TimingClass::{Divide, LoadMultiple, StoreMultiple, VfpLoad, VfpStore};
    decoded.floating.floating
        || matches!(decoded.instr.class, LoadMultiple | StoreMultiple | VfpLoad | VfpStore | Divide)
}

//! The front end of a core of three stages: it fetches a word per cycle, into a buffer of three words.
//!
//! The buffer is refilled after a jump; an instruction of four bytes needs both halves before it can be decoded. The
//! front end is late when consecutive instructions of four bytes cross word boundaries. And an IT instruction is folded
//! into a short one before it.

use super::super::cycles;
use crate::dt::reader::NodeReader;
use crate::isa::arm::decoded::Decoded;
use crate::isa::arm::op::TimingClass;
use crate::state::Fresh;

/// Number of consecutive instructions across words; at the last of them the front end is late.
const RUN: u8 = 3;
/// At least [`RUN`] such instructions.
const WAITED: u8 = 1 << 3;
/// One of them is not a store.
const OTHERS: u8 = 1 << 2;
/// An instruction of at least this many cycles lets the front end fill its buffer.
const CATCHES_UP_CYCLES: u32 = 3;

/// The front end's part of the timing table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, crate::state::State, Fresh)]
pub struct FrontEnd {
    /// Further cycle of a jump to an instruction of four bytes.
    pub wide_target: u8,
    /// Further cycle of a jump to such an instruction across two words.
    pub straddled_target: u8,
    /// The longest refill of a jump beyond its own cycle; 0 for no such limit.
    pub most_refill: u8,
    /// Further cycle of a jump to code on the system bus, through whose register it is fetched.
    pub system_fetch: u8,
    /// Stall at the third of consecutive instructions across words: at the fourth if all are stores.
    pub straddling_run: u8,
    /// An IT instruction takes no cycle after an instruction of two bytes.
    pub folds: bool,
}

/// State that affects the next instruction.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, crate::state::State, Fresh)]
pub struct State {
    /// The last instruction jumped: cycles that passed for that, plus 1.
    jumped: u8,
    /// The last instruction has two bytes.
    narrow: bool,
    /// Instructions across words right before: their number, with [`OTHERS`], or [`WAITED`].
    run: u8,
}

impl State {
    /// The empty state.
    pub const NONE: State = State { jumped: 0, narrow: false, run: 0 };

    /// The state after a jump, for which `cycles` pass.
    pub fn jumped(cycles: u32) -> State {
        State { jumped: cycles.min(u32::from(u8::MAX) - 1) as u8 + 1, ..State::NONE }
    }
}

impl FrontEnd {
    /// Reads it from a `cpu` node.
    pub fn from_node(reader: &mut NodeReader) -> FrontEnd {
        FrontEnd {
            wide_target: cycles(reader, "wide-target", 0, "further cycles of a jump to an instruction of four bytes"),
            straddled_target: cycles(
                reader,
                "straddled-target",
                0,
                "further cycles of a jump to a four-byte instruction that lies across two words",
            ),
            most_refill: cycles(reader, "most-refill", 1, "the most that a jump takes beyond its own cycle"),
            system_fetch: cycles(reader, "system-fetch", 0, "further cycles of a jump to code on the system bus"),
            straddling_run: cycles(
                reader,
                "straddling-run",
                0,
                "stall at the third of instructions that lie across words, one after the other",
            ),
            folds: reader.flag("cyclescope,folded-it", "an IT instruction takes no cycle after one of two bytes"),
        }
    }

    /// True if the instruction takes no cycle: it is folded into the previous one, and `state` is the state after that.
    pub fn is_folded(&self, decoded: &Decoded, state: State) -> bool {
        self.folds && decoded.instr.class == TimingClass::IfThen && state.narrow
    }

    /// Cycles that the front end still needs for a jump's target.
    pub fn refill_cycles(&self, decoded: &Decoded, state: State) -> u32 {
        if state.jumped == 0 {
            return 0;
        }
        let wide = if decoded.instr.len_bytes == 4 { u32::from(self.wide_target) } else { 0 };
        let straddled = if decoded.straddles { u32::from(self.straddled_target) } else { 0 };
        let most = if self.most_refill == 0 { u32::MAX } else { u32::from(self.most_refill) };
        let system = if decoded.on_system_bus { u32::from(self.system_fetch) } else { 0 };
        (wide + straddled).min(most.saturating_sub(u32::from(state.jumped) - 1)) + system
    }

    /// Passes an instruction that issues for `issue_cycles`: its wait for the front end, and the state for the next
    /// one.
    pub fn pass(&self, decoded: &Decoded, state: State, issue_cycles: u32) -> (u32, State) {
        let (waits, run) = if decoded.straddles { go_on(decoded, state.run) } else { (false, 0) };
        let run = if issue_cycles < CATCHES_UP_CYCLES { run } else { 0 };
        let stall_cycles = if waits { u32::from(self.straddling_run) } else { 0 };
        let narrow = decoded.instr.len_bytes == 2 && decoded.instr.class != TimingClass::IfThen;
        (stall_cycles, State { jumped: 0, narrow, run: if self.straddling_run > 0 { run } else { 0 } })
    }
}

/// Adds an instruction across words: whether it waits, and the new run.
fn go_on(decoded: &Decoded, run: u8) -> (bool, u8) {
    if run == WAITED {
        return (false, run);
    }
    let others = if decoded.instr.class == TimingClass::Store { run & OTHERS } else { OTHERS };
    let before = run & !OTHERS;
    match before + 1 {
        // A run of stores alone is one instruction longer.
        count if count > RUN || count == RUN && others != 0 => (true, WAITED),
        count => (false, count | others),
    }
}

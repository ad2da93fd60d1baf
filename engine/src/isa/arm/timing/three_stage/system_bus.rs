//! Accesses that find the data bus idle: a bus matrix may have to grant them their port again.
//!
//! The address cycle of a load overlaps the data cycle of the previous load, or follows that of a store directly. Then
//! the bus is never idle between the two.

use super::accesses;
use crate::cpu::cost::OnBus;
use crate::isa::arm::decoded::Decoded;
use crate::isa::arm::op::TimingClass;
use crate::state::Fresh;

/// State that affects the next access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, crate::state::State, Fresh)]
pub struct State {
    /// The instruction right before, if it is a load or store of one register.
    before: Before,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, crate::state::State, Fresh)]
enum Before {
    #[default]
    Other,
    Load,
    Store,
    /// A store that found the bus idle.
    IdleStore,
}

impl State {
    /// The initial state.
    pub const NONE: State = State { before: Before::Other };

    /// Passes an instruction that stalls and issues for the given cycles, `along` with the previous load if true: the
    /// state of the bus for its access, and the state for the next one.
    pub fn pass(self, decoded: &Decoded, stall_cycles: u32, issue_cycles: u32, along: bool) -> (OnBus, State) {
        use TimingClass::*;
        let instr = &decoded.instr;
        // Constant loads and table branches read the memory of the code, and so use its bus.
        let of_code = instr.reads_early == 0 || instr.class == TableBranch;
        if !accesses(instr) || of_code && !decoded.on_system_bus {
            return (OnBus::AsItIs, State::NONE);
        }
        let loads = !matches!(instr.class, Store | StoreMultiple | VfpStore);
        let is_single = matches!(instr.class, Load | Store);
        let right_after = match self.before {
            Before::Other => false,
            Before::Load => along,
            Before::Store | Before::IdleStore => stall_cycles == 0 && (instr.class != Store || issue_cycles == 1),
        };
        let on_bus = match right_after {
            true if self.before == Before::IdleStore => OnBus::AfterIdleStore,
            true => OnBus::RightAfter,
            false => OnBus::Idle,
        };
        let before = match (is_single, loads) {
            (false, _) => Before::Other,
            (true, true) => Before::Load,
            (true, false) if on_bus == OnBus::Idle => Before::IdleStore,
            (true, false) => Before::Store,
        };
        (on_bus, State { before })
    }
}

//! Accesses that find the data bus idle: a bus matrix may have to grant them their port again.
//!
//! The address cycle of a load overlaps the data cycle of the previous load, or follows that of a store directly. Then
//! the bus is never idle between the two.

use super::{Before, accesses};
use crate::cpu::cost::OnBus;
use crate::isa::arm::decoded::Decoded;
use crate::isa::arm::op::TimingClass;
use crate::state::Fresh;

/// State that affects the next access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, crate::state::State, Fresh)]
pub struct State {
    /// The instruction right before is a store of one register that found the bus idle.
    stored_idle: bool,
}

impl State {
    /// The initial state.
    pub const NONE: State = State { stored_idle: false };

    /// Passes an instruction that stalls and issues for the given cycles, with the access `before` it, which it
    /// overlaps if `along` is true: the state of the bus for its access, and the state for the next one.
    pub fn pass(
        self,
        decoded: &Decoded,
        before: Before,
        stall_cycles: u32,
        issue_cycles: u32,
        along: bool,
    ) -> (OnBus, State) {
        use TimingClass::*;
        let instr = &decoded.instr;
        // Constant loads and table branches read the memory of the code, and so use its bus.
        let of_code = instr.reads_early == 0 || instr.class == TableBranch;
        if !accesses(instr) || of_code && !decoded.on_system_bus {
            return (OnBus::AsItIs, State::NONE);
        }
        let right_after = match before {
            Before::Other | Before::Constant => false,
            Before::Load => along,
            Before::Store | Before::IndexedStore => stall_cycles == 0 && (instr.class != Store || issue_cycles == 1),
        };
        let on_bus = match right_after {
            true if self.stored_idle => OnBus::AfterIdleStore,
            true => OnBus::RightAfter,
            false => OnBus::Idle,
        };
        (on_bus, State { stored_idle: instr.class == Store && on_bus == OnBus::Idle })
    }
}

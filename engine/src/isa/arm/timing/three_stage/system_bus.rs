//! Which accesses find the data side's bus idle: a bus matrix may have to grant them their port anew.
//!
//! The address cycle of a load goes along with the data cycle of the load before, or comes right behind that of a
//! store. Then the bus is never idle between the two. Behind a store it does not count as idle for the next access
//! either, at whatever distance: the write buffer has the store's address on the bus until another one comes.

use super::accesses;
use crate::cpu::cost::OnBus;
use crate::isa::arm::decoded::Decoded;
use crate::isa::arm::op::TimingClass;
use crate::state::Fresh;

/// What it has to do with the next access.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, crate::state::State, Fresh)]
pub struct State {
    /// The instruction right before is a load or store of one register.
    before: Before,
    /// The last access was a load.
    loaded: bool,
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
    /// None of it: as behind a store.
    pub const NONE: State = State { before: Before::Other, loaded: false };

    /// What there is behind a wait or a jump.
    pub fn waited(self) -> State {
        State { before: Before::Other, ..self }
    }

    /// Lets an instruction pass that stalls and issues for so many cycles, `along` with the load before it if so: how
    /// it finds the bus, and what that has to do with the next one.
    pub fn pass(self, decoded: &Decoded, stall_cycles: u32, issue_cycles: u32, along: bool) -> (OnBus, State) {
        use TimingClass::*;
        let instr = &decoded.instr;
        // Literals come over the bus for constants, if the code is there, and so does what table branches read.
        let of_code = instr.reads_early == 0 || instr.class == TableBranch;
        if !accesses(instr) || of_code && !decoded.on_system_bus {
            return (OnBus::AsItIs, self.waited());
        }
        let loads = !matches!(instr.class, Store | StoreMultiple | VfpStore);
        let is_single = matches!(instr.class, Load | Store);
        let right_after = match self.before {
            Before::Other => false,
            Before::Load => along && instr.class == Load,
            Before::Store | Before::IdleStore => stall_cycles == 0 && (instr.class != Store || issue_cycles == 1),
        };
        let on_bus = match right_after {
            true if self.before == Before::IdleStore => OnBus::AfterIdleStore,
            true => OnBus::RightAfter,
            false if self.loaded => OnBus::Idle,
            false => OnBus::AsItIs,
        };
        let before = match (is_single, loads) {
            (false, _) => Before::Other,
            (true, true) => Before::Load,
            (true, false) if on_bus == OnBus::Idle => Before::IdleStore,
            (true, false) => Before::Store,
        };
        (on_bus, State { before, loaded: loads })
    }
}

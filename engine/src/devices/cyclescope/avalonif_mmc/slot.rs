//! The slot's switch for card detection, as the interface sees it: through three registers in a row.

use crate::devices::support::hosted_chip::HostedChip;
use crate::state::State;
use crate::time::{Cycles, Hz};

/// Edges from the one at which the first register takes the switch's level to the one at which the last shows it.
const DELAY_CYCLES: u64 = 2;

/// The last register, and the flag for its changes.
#[derive(Debug, Default, State)]
pub struct Slot {
    /// A card is in. After reset the registers say that none is.
    pub card_in: bool,
    /// That has changed since the flag was cleared.
    pub changed: bool,
    /// The card that may be in from the start has been looked for.
    looked: bool,
}

impl Slot {
    /// Brings both up to clock `cycle`. A card may leave between two looks, but none comes.
    pub fn look(&mut self, clock: Hz, cycle: Cycles, chip: &Option<HostedChip>) {
        let present = |edge| chip.as_ref().is_some_and(|chip| chip.present(clock.ps_at_floor(Cycles(edge))));
        let taken = cycle.0.saturating_sub(DELAY_CYCLES);
        // The first edge after reset is number 1.
        if taken > 0 && !self.looked {
            self.looked = true;
            self.changed = present(1);
        }
        let card_in = taken > 0 && present(taken);
        self.changed |= card_in != self.card_in;
        self.card_in = card_in;
    }

    /// True if the last register shows in clock `cycle` what the switch says: no change is on its way.
    pub fn is_settled(&self, clock: Hz, cycle: Cycles, chip: &Option<HostedChip>) -> bool {
        self.card_in == chip.as_ref().is_some_and(|chip| chip.present(clock.ps_at_floor(cycle)))
    }

    /// A write in clock `cycle` clears the flag; a change that is seen with that write sets it again.
    pub fn clear_changed(&mut self, clock: Hz, cycle: Cycles, chip: &Option<HostedChip>) {
        self.look(clock, cycle, chip);
        self.changed = false;
    }
}

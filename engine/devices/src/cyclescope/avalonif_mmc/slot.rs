//! The slot's switch for card detection, as the interface reads it: through three registers in a row.

use crate::prelude::*;
use crate::support::hosted_chip::HostedChip;

/// Edges from the one at which the first register takes the switch's level to the one at which the last shows it.
const DELAY_CYCLES: u64 = 2;

/// The last register, and the flag for its changes.
#[derive(Debug, Default, State, Polled)]
pub struct Slot {
    /// True if a card is in the slot. After reset the registers show no card.
    pub card_in: bool,
    /// True if that has changed since the flag was cleared.
    pub changed: bool,
    /// True after the check for a card that is in the slot from the start.
    looked: bool,
}

impl Slot {
    /// Brings both up to clock `cycle`. A card may be taken out between two calls, but none is put in.
    #[inline]
    pub fn look(&mut self, clock: Hz, cycle: Cycles, chip: Option<&HostedChip>) {
        let present = |edge| chip.is_some_and(|chip| chip.present(clock.ps_at_floor(Cycles(edge))));
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

    /// True if the last register shows the switch's level in clock `cycle`: no change is in the other registers.
    pub fn is_settled(&self, clock: Hz, cycle: Cycles, chip: Option<&HostedChip>) -> bool {
        self.card_in == chip.is_some_and(|chip| chip.present(clock.ps_at_floor(cycle)))
    }

    /// A write in clock `cycle` clears the flag; a change in the same clock sets it again.
    pub fn clear_changed(&mut self, clock: Hz, cycle: Cycles, chip: Option<&HostedChip>) {
        self.look(clock, cycle, chip);
        self.changed = false;
    }
}

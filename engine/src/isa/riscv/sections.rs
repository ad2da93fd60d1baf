//! A hart's watched functions.

use super::accounts::Totals;
use super::core::Hart;
use crate::cpu::sections::Place;

const RA: usize = 1;
const SP: usize = 2;

/// Where a hart is, as far as calls are concerned: from the address and the registers.
pub(super) fn place_of(pc: u32, x: &[u32]) -> Place {
    Place { pc, return_pc: x[RA], sp: x[SP] }
}

impl Hart {
    /// Everything so far.
    pub(super) fn totals(&mut self) -> Totals {
        let mut totals = self.counted();
        totals.fixed.add_runs(self.blocks.totals(), 1);
        totals
    }

    /// Everything so far but the static time of whole blocks, which is in their runs.
    pub(super) fn counted(&self) -> Totals {
        Totals {
            instructions: self.instructions,
            cycles: self.cycles,
            fixed: self.parts,
            causes: self.causes,
            memory: self.memory.accounts().clone(),
        }
    }

    /// Looks whether a watched function begins or ends at the current address.
    pub(super) fn follow_sections(&mut self) {
        if !self.sections.stops_at(self.pc) {
            return;
        }
        let now = self.totals();
        if self.sections.follow(place_of(self.pc, &self.x), &now) {
            // Blocks may already be linked to there.
            self.drop_blocks();
        }
    }
}

//! What was printed goes to the host: at the end of each slice, and between when it is due. Then the core goes on as if
//! it had not come back, so that nothing depends on when that was.

use super::{Machine, Printed};
use crate::core::Stop;
use crate::observe::output::HandOver;
use crate::time::Ps;

/// Gets what was printed since the last call. False if the user wants to stop. It may take its time: the simulation
/// waits.
pub(super) type Pause<'a> = &'a mut dyn FnMut(&Printed) -> bool;

impl Machine {
    /// When the host gets what was printed; the end of a slice comes as well. It changes nothing else.
    pub fn set_hand_over(&mut self, hand_over: HandOver) {
        self.bus.output.hand_over = hand_over;
    }

    /// Runs a core up to `horizon`, with what it prints handed over when that is due. `None` if the user wants to stop.
    pub(super) fn run_printing(&mut self, core: usize, horizon: Ps, pause: Pause) -> Option<Stop> {
        loop {
            if let Some(at) = self.hand_over_at {
                self.bus.order.break_off(at);
            }
            let stop = self.cores[core].run(&mut self.bus, horizon);
            let broken_off = self.bus.order.take_broken_off();
            if stop != Stop::Horizon || !broken_off {
                return Some(stop);
            }
            let (now, before) = (self.core_time(core), self.hand_over_at);
            if !self.hand_over_if_due(now, pause) {
                return None;
            }
            if self.hand_over_at == before {
                // It came back for something else.
                return Some(stop);
            }
        }
    }

    /// Hands over what was printed if that is due at `now`. False if the user wants to stop.
    pub(super) fn hand_over_if_due(&mut self, now: Ps, pause: Pause) -> bool {
        if self.bus.output.is_empty() {
            return true;
        }
        let soon = now.saturating_add(self.cores[0].clock().ps_at_floor(self.bus.output.hand_over.cycles));
        let due = *self.hand_over_at.get_or_insert(soon);
        (!self.bus.output.is_full() && now < due) || (pause(&self.take_printed()) && !self.stop.is_made())
    }

    /// What was printed since the last call.
    pub(super) fn take_printed(&mut self) -> Printed {
        self.hand_over_at = None;
        let (console, streams) = self.bus.output.take();
        let named =
            streams.into_iter().map(|(device, bytes)| (self.bus.device_names[device.0 as usize].clone(), bytes));
        Printed { console, streams: named.collect(), notes: self.new_storm_notes() }
    }
}

//! Reasons why a pending exception does not end a sleep, for the user.

use super::exceptions::number;
use super::{Sleep, System};

impl System {
    /// The first pending exception, and the reason why it does not end the sleep; `None` if no exception is pending.
    pub(super) fn held_back(&self) -> Option<String> {
        let exception = self.nvic.pending.iter().next()?;
        let name = match exception.checked_sub(number::EXTERNAL) {
            Some(input) => format!("interrupt {input}"),
            None => number::name(exception).to_owned(),
        };
        let is_event = self.event.sleep() == Sleep::Event;
        let no_event = match (is_event, self.scb.sends_events()) {
            (false, _) => "",
            (true, false) => ", and with SCR.SEVONPEND clear that is no event",
            (true, true) => ", and only an exception that becomes pending is an event",
        };
        Some(format!("{name} is pending, but {}{no_event}", self.why_held_back(exception)))
    }

    fn why_held_back(&self, exception: u8) -> &'static str {
        let priority = self.nvic.group_priority(exception);
        let is_masked = |boosted: i16| priority >= boosted;
        if !self.nvic.enabled.contains(exception) {
            return if exception < number::EXTERNAL { "not enabled in SHCSR" } else { "not enabled in the NVIC" };
        }
        if self.masks.faultmask {
            return "masked by FAULTMASK";
        }
        if is_masked(self.masks.but_primask(self.nvic.grouping)) {
            return "held back by BASEPRI";
        }
        if is_masked(self.nvic.active_priority()) {
            return "no more urgent than the handler that sleeps";
        }
        "masked by PRIMASK"
    }
}

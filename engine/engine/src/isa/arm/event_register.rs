//! The event register of wfe, and the ends of a sleep (ARMv7-M ARM, DDI 0403E, B1.5.18; ARMv7-A ARM, DDI 0406C,
//! B1.8.13).

use crate::state::{Fresh, State};

/// Condition that ends a core's sleep.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State, Fresh)]
pub enum Sleep {
    /// An interrupt, masked or not: wfi.
    #[default]
    Interrupt,
    /// An event, or an interrupt that is taken: wfe.
    Event,
    /// The sleep is over: an event has occurred.
    Over,
}

/// The register, and the sleep that an event ends.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State, Fresh)]
pub struct EventRegister {
    is_set: bool,
    sleep: Sleep,
    /// Number of pulses at the core's event input that it has seen.
    seen: u32,
}

impl EventRegister {
    /// The state after reset, with `pulses` at the core's event input so far.
    pub fn after(pulses: u32) -> EventRegister {
        EventRegister { seen: pulses, ..EventRegister::default() }
    }

    /// Sends an event: it ends a sleep in wfe, or is kept for the next one.
    pub fn send(&mut self) {
        if self.sleep == Sleep::Event { self.sleep = Sleep::Over } else { self.is_set = true }
    }

    /// wfe is executed. True if the core sleeps.
    pub fn wait_for_event(&mut self) -> bool {
        let sleeps = !std::mem::take(&mut self.is_set);
        self.sleep = if sleeps { Sleep::Event } else { Sleep::Over };
        sleeps
    }

    /// Begins a sleep by wfi, or as after wfi.
    pub fn wait_for_interrupt(&mut self) {
        self.sleep = Sleep::Interrupt;
    }

    /// Ends a sleep when the core takes an interrupt: further events are for the next wfe.
    pub fn wake(&mut self) {
        if self.sleep == Sleep::Event {
            self.sleep = Sleep::Over;
        }
    }

    /// Condition that ends the core's sleep.
    pub fn sleep(&self) -> Sleep {
        self.sleep
    }

    /// Updates the number of pulses at the core's event input.
    #[inline]
    pub fn see(&mut self, pulses: u32) {
        if self.has_not_seen(pulses) {
            self.seen = pulses;
            self.send();
        }
    }

    /// True if some of the pulses are new.
    #[inline]
    pub fn has_not_seen(&self, pulses: u32) -> bool {
        self.seen != pulses
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_event_ends_one_sleep() {
        let mut events = EventRegister::after(7);
        events.see(7);
        assert!(events.wait_for_event());
        events.see(9);
        assert_eq!(events.sleep(), Sleep::Over);
        assert!(events.wait_for_event(), "it has ended a sleep, and is not kept");
        events.wake();
        events.send();
        assert!(!events.wait_for_event(), "it is kept for the next wfe");
        events.wait_for_interrupt();
        events.send();
        assert_eq!(events.sleep(), Sleep::Interrupt);
        assert!(!events.wait_for_event());
    }
}

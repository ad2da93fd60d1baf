//! Excessive rates of events and exceptions, which slow down the simulation, and endless events at one simulated time.
//!
//! A timer with a period of one clock, an interrupt that is never cleared, a handler that faults again and again, a DMA
//! engine that triggers itself: the simulation is right, and slow. So events are counted by device and exceptions by
//! core, in simulated milliseconds. Where one keeps such a rate for long enough, a note names it. All of it depends on
//! simulated time alone. Counting happens at events and exceptions only.

mod entries;

pub use entries::{Entered, Entries};

use crate::dt::wiring::{DeviceId, IrqLine};
use crate::state::{Fresh, State};
use crate::time::Ps;

/// The period in which a rate is measured.
const WINDOW: Ps = Ps(1_000_000_000);
/// Limit of an ordinary number of events in a window: long transfers of DMA engines have some 3000.
const MANY_EVENTS: u64 = 5000;
/// The same limit for exceptions.
const MANY_EXCEPTIONS: u64 = 1000;
/// This many in a row, at such a rate, take the host a good part of a second.
const ENOUGH: u64 = 500_000;
/// No device has this many events at one time.
const MOST_AT_ONCE: u64 = 1_000_000;

/// The rate of one kind of event, by windows.
#[derive(Clone, Copy, Debug, Default, State, Fresh)]
struct Rate {
    window: u64,
    /// Events in the present window.
    count: u64,
    /// Events in the windows before it, as long as each had many.
    streak: u64,
    /// Events in the last of those windows.
    before: u64,
    reported: bool,
}

impl Rate {
    /// Counts an event at `now`. Returns the number in a window, once, when the rate is excessive.
    fn add(&mut self, now: Ps, many: u64) -> Option<u64> {
        let window = now.0 / WINDOW.0;
        if window != self.window {
            let goes_on = window == self.window + 1 && self.count >= many;
            self.streak = if goes_on { self.streak + self.count } else { 0 };
            (self.window, self.before, self.count) = (window, self.count, 0);
        }
        self.count += 1;
        let event_rates = !self.reported && self.streak >= ENOUGH;
        self.reported |= event_rates;
        event_rates.then_some(self.before)
    }
}

/// An exception, or an interrupt, in the core's terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
pub struct Source {
    /// Its name.
    pub name: &'static str,
    /// Its number, if several have that name.
    pub number: Option<u32>,
    /// For an interrupt, the core's input.
    pub input: Option<u32>,
}

/// Exceptions of a core.
#[derive(Clone, Debug, Default, State, Fresh)]
struct Taken {
    rate: Rate,
    /// Exceptions since the rate became excessive, by source.
    sources: Vec<(Source, u64)>,
}

/// An excessive rate to report.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
pub enum ExcessiveRate {
    /// A device has events.
    Events {
        /// The device.
        device: DeviceId,
        /// Events in a simulated millisecond.
        each_ms: u64,
    },
    /// A core takes exceptions.
    Exceptions {
        /// Its index.
        core: usize,
        /// Exceptions in a simulated millisecond.
        each_ms: u64,
        /// The most frequent source.
        most: Source,
        /// If that source is an interrupt: the device that raised it last, and if that is an interrupt controller, the
        /// device that raised the controller's input.
        from: [Option<DeviceId>; 2],
    },
}

/// Detects excessive rates.
#[derive(Debug, Default, State)]
pub struct EventRates {
    events: Vec<Rate>,
    taken: Vec<Taken>,
    /// The device that raised each line last.
    raised: Vec<(IrqLine, DeviceId)>,
    /// Entries into the handlers of interrupts.
    pub entries: Entries,
    /// Excessive rates so far, with the times at which they were detected.
    pub found: Vec<(ExcessiveRate, Ps)>,
    /// A device with endless events, and the time that does not pass.
    pub endless: Option<(DeviceId, Ps)>,
    instant: Ps,
    at_instant: u64,
}

impl EventRates {
    /// A device has an event at `due`. True if the number of events at that time shows that it would never pass.
    pub fn event(&mut self, device: DeviceId, due: Ps) -> bool {
        self.at_instant = if due == self.instant { self.at_instant + 1 } else { 0 };
        self.instant = due;
        if self.at_instant >= MOST_AT_ONCE {
            self.endless = Some((device, due));
            return true;
        }
        let index = device.0 as usize;
        if index >= self.events.len() {
            self.events.resize(index + 1, Rate::default());
        }
        if let Some(each_ms) = self.events[index].add(due, MANY_EVENTS) {
            self.found.push((ExcessiveRate::Events { device, each_ms }, due));
        }
        false
    }

    /// A core takes an exception at `now`.
    pub fn exception(&mut self, core: u32, now: Ps, source: Source) {
        let core = core as usize;
        if core >= self.taken.len() {
            self.taken.resize(core + 1, Taken::default());
        }
        let taken = &mut self.taken[core];
        if taken.rate.streak == 0 && taken.rate.count == 0 {
            taken.sources.clear();
        }
        match taken.sources.iter_mut().find(|(known, _)| *known == source) {
            Some((_, count)) => *count += 1,
            None => taken.sources.push((source, 1)),
        }
        if let Some(each_ms) = taken.rate.add(now, MANY_EXCEPTIONS) {
            let most = taken.sources.iter().max_by_key(|(_, count)| *count).map_or(source, |(most, _)| *most);
            let from = self.raisers(core as u32, most);
            self.found.push((ExcessiveRate::Exceptions { core, each_ms, most, from }, now));
        }
    }

    /// A device raises a line.
    pub fn raised(&mut self, line: IrqLine, device: DeviceId) {
        match self.raised.iter().position(|(known, _)| *known == line) {
            // The most recent entry is the last one.
            Some(at) if at + 1 == self.raised.len() => self.raised[at].1 = device,
            Some(at) => {
                self.raised.remove(at);
                self.raised.push((line, device));
            }
            None => self.raised.push((line, device)),
        }
    }

    /// The device that raised an interrupt last, and if that is an interrupt controller, the device that raised its
    /// input.
    pub fn raisers(&self, core: u32, source: Source) -> [Option<DeviceId>; 2] {
        let last = |is: &dyn Fn(IrqLine) -> bool| {
            self.raised.iter().rev().find(|(line, _)| is(*line)).map(|(_, device)| *device)
        };
        let first = source.input.and_then(|bit| last(&|line| line == IrqLine::Core { core, bit }));
        let after = first.and_then(|controller| {
            last(&|line| matches!(line, IrqLine::Device { device, .. } if device == controller))
        });
        [first, after]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SOURCE: Source = Source { name: "interrupt", number: Some(7), input: Some(7) };

    /// `each_ms` events of a device in each of `ms` milliseconds.
    fn events(event_rates: &mut EventRates, each_ms: u64, ms: u64) {
        for at in 0..each_ms * ms {
            assert!(!event_rates.event(DeviceId(1), Ps(at * (WINDOW.0 / each_ms))));
        }
    }

    #[test]
    fn a_device_that_never_rests_is_reported_once() {
        let mut event_rates = EventRates::default();
        events(&mut event_rates, 10_000, 120);
        let [(ExcessiveRate::Events { device: DeviceId(1), each_ms: 10_000 }, at)] = event_rates.found[..] else {
            panic!("{:?}", event_rates.found)
        };
        // After 50 full milliseconds: 500,000 of them.
        assert_eq!(at, Ps(50 * WINDOW.0));
    }

    #[test]
    fn bursts_and_ordinary_rates_are_not_excessive() {
        let mut event_rates = EventRates::default();
        events(&mut event_rates, MANY_EVENTS - 1, 500);
        // Many at once, but with pauses.
        for burst in 1..200 {
            for at in 0..10_000 {
                event_rates.event(DeviceId(2), Ps(2 * burst * WINDOW.0 + at * 1000));
            }
        }
        assert_eq!(event_rates.found, []);
    }

    #[test]
    fn the_most_frequent_exception_is_named_with_its_source() {
        let mut event_rates = EventRates::default();
        event_rates.raised(IrqLine::Device { device: DeviceId(3), input: 2 }, DeviceId(5));
        event_rates.raised(IrqLine::Device { device: DeviceId(3), input: 4 }, DeviceId(6));
        event_rates.raised(IrqLine::Core { core: 0, bit: 7 }, DeviceId(3));
        let fault = Source { name: "data abort", number: None, input: None };
        for at in 0..1_000_000 {
            event_rates.exception(0, Ps(at * 100_000), if at % 10 == 0 { fault } else { SOURCE });
        }
        let [(ExcessiveRate::Exceptions { core: 0, each_ms: 10_000, most, from }, _)] = event_rates.found[..] else {
            panic!("{:?}", event_rates.found)
        };
        assert_eq!((most, from), (SOURCE, [Some(DeviceId(3)), Some(DeviceId(6))]));
    }

    #[test]
    fn a_time_that_does_not_pass_is_noticed() {
        let mut event_rates = EventRates::default();
        let ends = (0..2 * MOST_AT_ONCE).position(|_| event_rates.event(DeviceId(4), Ps(7)));
        assert_eq!((ends, event_rates.endless), (Some(MOST_AT_ONCE as usize), Some((DeviceId(4), Ps(7)))));
    }
}

//! The event queue: scheduled events, in one order on every host.
//!
//! Events due at the same time run in the order of their device's number, then in the order in which they were
//! scheduled. A device keeps a token of its latest request and ignores an event whose token is stale. It cancels an
//! event that would otherwise hide that a waiting machine has nothing left to wait for.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::dt::wiring::DeviceId;
use crate::state::{Fresh, State};
use crate::time::Ps;

/// An event that a device has scheduled.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, State, Fresh)]
pub struct Event {
    /// Its time.
    pub due: Ps,
    /// The device that scheduled it.
    pub device: DeviceId,
    /// Breaks ties within a device: first scheduled, first run.
    sequence: u64,
    /// The device's token for the event.
    pub token: u32,
}

impl Event {
    /// Its number among all events ever scheduled.
    #[inline]
    pub const fn number(&self) -> u64 {
        self.sequence
    }
}

/// All events to come.
#[derive(Debug, Default, State)]
pub struct EventQueue {
    heap: BinaryHeap<Reverse<Event>>,
    scheduled: u64,
}

impl EventQueue {
    /// Schedules an event of `device` with `token` at `due`.
    #[inline]
    pub fn schedule(&mut self, due: Ps, device: DeviceId, token: u32) {
        self.scheduled += 1;
        self.heap.push(Reverse(Event { due, device, sequence: self.scheduled, token }));
    }

    /// Drops the events that `device` has scheduled with `token`.
    #[inline]
    pub fn cancel(&mut self, device: DeviceId, token: u32) {
        self.heap.retain(|Reverse(event)| (event.device, event.token) != (device, token));
    }

    /// True if stale events have to be dropped because of the length of the queue: firmware that sets a timer again and
    /// again, each time a little earlier, must not fill the memory.
    #[inline]
    pub fn are_many(&self) -> bool {
        self.heap.len() >= 10_000
    }

    /// Number of events ever scheduled.
    #[inline]
    pub fn scheduled(&self) -> u64 {
        self.scheduled
    }

    /// The time of the next event; [`Ps::MAX`] if the queue is empty.
    #[inline]
    pub fn next_due(&self) -> Ps {
        self.heap.peek().map_or(Ps::MAX, |Reverse(event)| event.due)
    }

    /// All events in the queue, in their order.
    #[inline]
    pub fn to_come(&self) -> Vec<Event> {
        let mut events: Vec<Event> = self.heap.iter().map(|Reverse(event)| *event).collect();
        events.sort();
        events
    }

    /// Takes the next event if it is due at `now` or earlier.
    #[inline]
    pub fn pop_due(&mut self, now: Ps) -> Option<Event> {
        if self.next_due() > now {
            return None;
        }
        self.heap.pop().map(|Reverse(event)| event)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_times_run_by_device_then_by_age() {
        let mut queue = EventQueue::default();
        for (due, device, token) in [(20, 1, 0), (10, 2, 1), (10, 1, 2), (10, 1, 3)] {
            queue.schedule(Ps(due), DeviceId(device), token);
        }
        let order: Vec<u32> = std::iter::from_fn(|| queue.pop_due(Ps(20))).map(|event| event.token).collect();
        assert_eq!(order, [2, 3, 1, 0]);
    }

    #[test]
    fn a_cancelled_event_is_gone_and_others_are_not() {
        let mut queue = EventQueue::default();
        for (due, device, token) in [(5, 1, 0), (6, 1, 1), (7, 2, 0), (8, 1, 0)] {
            queue.schedule(Ps(due), DeviceId(device), token);
        }
        queue.cancel(DeviceId(1), 0);
        let left: Vec<Ps> = std::iter::from_fn(|| queue.pop_due(Ps::MAX)).map(|event| event.due).collect();
        assert_eq!(left, [Ps(6), Ps(7)]);
    }

    #[test]
    fn an_event_is_not_taken_before_it_is_due() {
        let mut queue = EventQueue::default();
        queue.schedule(Ps(5), DeviceId(0), 7);
        assert_eq!(queue.pop_due(Ps(4)), None);
        assert_eq!(queue.pop_due(Ps(5)).map(|event| event.token), Some(7));
        assert_eq!(queue.next_due(), Ps::MAX);
    }
}

//! The common part of all UARTs' receivers: characters that wait for the firmware, and counts of received characters
//! and of those lost in an overrun.

use std::collections::VecDeque;

use crate::prelude::*;
use crate::support::axi_lite::edge_in_reach;
use engine::serial::Passage;

/// The effect of a further character on a full receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenFull {
    /// The new character is lost.
    Keep,
    /// The new character replaces the last one.
    Overwrite,
}

/// Received characters that firmware has not read.
#[derive(Clone, Debug, Default, State, Polled)]
pub struct Receiver {
    waiting: VecDeque<u8>,
    received_characters: u64,
    lost_characters: u64,
}

impl Receiver {
    /// A character has been received; `capacity` of them can wait. False, with a note, if one was lost.
    pub fn put(&mut self, character: u8, capacity: usize, when_full: WhenFull, ctx: &mut Ctx) -> bool {
        self.received_characters += 1;
        let has_room = self.waiting.len() < capacity;
        if !has_room {
            ctx.note("a character was received before the firmware had read those before: one is lost (overrun)");
            self.lost_characters += 1;
            if when_full == WhenFull::Keep {
                return false;
            }
            self.waiting.pop_back();
        }
        self.waiting.push_back(character);
        has_room
    }

    /// The firmware reads the first character, if there is one.
    pub fn take(&mut self) -> Option<u8> {
        self.waiting.pop_front()
    }

    /// The number of waiting characters.
    pub fn len(&self) -> usize {
        self.waiting.len()
    }

    /// True if no character waits.
    pub fn is_empty(&self) -> bool {
        self.waiting.is_empty()
    }

    /// Drops the waiting characters.
    pub fn clear(&mut self) {
        self.waiting.clear();
    }

    /// For [`engine::bus::device::Device::counters`], after the transmitter's totals; a line without a received
    /// character has none of its own.
    pub fn counters(&self, mut counters: Vec<(String, u64)>) -> Vec<(String, u64)> {
        if self.received_characters > 0 {
            counters.push(("rx_characters".to_owned(), self.received_characters));
            counters.push(("rx_lost_characters".to_owned(), self.lost_characters));
        }
        counters
    }
}

/// The passage of a character that begins at the first edge of `clock` from `now` on, and takes `cycles` of its cycles.
/// `None` if its end is beyond the end of any run.
pub fn passage(clock: Hz, now: Ps, cycles: u64) -> Option<Passage> {
    let ends = edge_in_reach(clock, clock.cycles_until_ceil(now).0.checked_add(cycles)?)?;
    Some(Passage::whole(ends)).filter(|_| cycles > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::Bench;
    use crate::cyclescope::picosoc_simpleuart::Simpleuart;
    use engine::bus::device::DeviceId;

    #[test]
    fn a_full_receiver_loses_the_new_character_or_the_last_one() {
        let clock = Hz::new(1_000_000).unwrap();
        let mut bench = Bench::new(Simpleuart::new(clock));
        for (when_full, left) in [(WhenFull::Keep, *b"ab"), (WhenFull::Overwrite, *b"ac")] {
            let mut receiver = Receiver::default();
            let mut put = |character| {
                bench.bus.with_device(DeviceId(0), Ps(7), |_, ctx| receiver.put(character, 2, when_full, ctx))
            };
            assert_eq!(b"abc".map(&mut put), [true, true, false]);
            assert_eq!([receiver.take(), receiver.take(), receiver.take()], [Some(left[0]), Some(left[1]), None]);
            let counters = [("rx_characters".to_owned(), 3), ("rx_lost_characters".to_owned(), 1)];
            assert_eq!(receiver.counters(Vec::new()), counters);
        }
        assert_eq!(bench.bus.notes().len(), 1);
    }

    #[test]
    fn a_character_takes_whole_cycles_from_the_next_edge() {
        let clock = Hz::new(100_000_000).unwrap();
        // Begins at 20 ns; 10 cycles of 10 ns.
        assert_eq!(passage(clock, Ps(12_000), 10), Some(Passage::whole(Ps(120_000))));
        assert_eq!(passage(clock, Ps(12_000), 0), None);
        assert_eq!(passage(clock, Ps(12_000), u64::MAX), None);
    }
}

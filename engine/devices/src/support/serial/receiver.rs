//! The common part of all UARTs' receivers: characters that wait for the firmware, and counts of received characters
//! and of those lost in an overrun.

use crate::prelude::*;
use crate::support::activities::RX_FIFO;
use crate::support::axi_lite::edge_in_reach;
use crate::support::fifo_entries::Fifo;
use engine::activity::Activity;
use engine::serial::Passage;

/// The effect of a further character on a full receiver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum WhenFull {
    /// The new character is lost.
    Keep,
    /// The new character replaces the last one.
    Overwrite,
}

/// The room for received characters.
#[derive(Clone, Copy, Debug)]
pub struct Room {
    /// The number of characters that can wait.
    pub characters: usize,
    /// What a further one does.
    pub when_full: WhenFull,
    /// For an enabled FIFO, whose characters are recorded: the time of the arrival, an edge of a clock.
    pub recorded: Option<(Ps, Hz)>,
}

impl Room {
    /// A register of one character, which the next one replaces.
    pub const REGISTER: Room = Room { characters: 1, when_full: WhenFull::Overwrite, recorded: None };
}

/// Received characters that firmware has not read.
#[derive(Clone, Debug, State, Polled)]
pub struct Receiver {
    #[poll(edge = poll.clock())]
    waiting: Fifo<u8>,
    received_characters: u64,
    lost_characters: u64,
}

impl Default for Receiver {
    fn default() -> Receiver {
        Receiver::new(&RX_FIFO)
    }
}

impl Receiver {
    /// An empty receiver, whose FIFO is recorded as this activity.
    pub const fn new(activity: &'static Activity) -> Receiver {
        Receiver { waiting: Fifo::new(activity), received_characters: 0, lost_characters: 0 }
    }

    /// Records characters as activities of this device from now on.
    pub fn observe(&mut self, ctx: &Ctx) {
        self.waiting.observe(ctx);
    }

    /// A character has been received. False, with a note, if one was lost.
    pub fn put(&mut self, character: u8, room: Room, ctx: &mut Ctx) -> bool {
        self.received_characters += 1;
        let has_room = self.waiting.len() < room.characters;
        if !has_room {
            ctx.note("a character was received before the firmware had read those before: one is lost (overrun)");
            self.lost_characters += 1;
            if room.when_full == WhenFull::Keep {
                return false;
            }
            self.waiting.drop_last(room.recorded);
        }
        match room.recorded {
            Some((at, _)) => self.waiting.push(character, at),
            None => self.waiting.hold(character),
        }
        has_room
    }

    /// The firmware reads the first character, if there is one, at an edge of a clock.
    pub fn take(&mut self, at: Ps, clock: Hz) -> Option<u8> {
        self.waiting.pop(at, clock)
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
    pub fn clear(&mut self, at: Ps, clock: Hz) {
        self.waiting.clear(at, clock);
    }

    /// The run is over: the remaining characters stay.
    pub fn stay(&mut self, clock: Hz) {
        self.waiting.stay(clock);
    }

    /// For [`engine::bus::device::Device::counters`], with the number of sent characters; a line without a received
    /// character has no counters of those.
    pub fn counters(&self, sent_characters: u64) -> Vec<(String, u64)> {
        let received = [("rx_characters", self.received_characters), ("rx_lost_characters", self.lost_characters)];
        let received = received.into_iter().filter(|_| self.received_characters > 0);
        let counters = [("tx_characters", sent_characters)].into_iter().chain(received);
        counters.map(|(name, count)| (name.to_owned(), count)).collect()
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
            let room = Room { characters: 2, when_full, recorded: None };
            let mut put =
                |character| bench.bus.with_device(DeviceId(0), Ps(7), |_, ctx| receiver.put(character, room, ctx));
            assert_eq!(b"abc".map(&mut put), [true, true, false]);
            assert_eq!([(); 3].map(|()| receiver.take(Ps(8), clock)), [Some(left[0]), Some(left[1]), None]);
            let counters = [("tx_characters", 5), ("rx_characters", 3), ("rx_lost_characters", 1)];
            assert_eq!(receiver.counters(5), counters.map(|(name, count)| (name.to_owned(), count)));
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

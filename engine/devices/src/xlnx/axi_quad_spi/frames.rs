//! Statistics of the core's wire, as a logic analyser would count them: frames by their first byte (the memory's
//! command), the clocks of each kind, and the time for which SCK was stopped within them.

use std::collections::BTreeMap;

use crate::prelude::*;
use engine::polling::Edge;

/// The frames of one kind.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State, Fresh, Polled)]
pub struct Totals {
    /// Times that a slave was selected and at least one byte followed.
    #[poll(total)]
    pub frames: u64,
    /// Periods of SCK.
    #[poll(total)]
    pub sck_clocks: u64,
    /// Periods of EXT_SPI_CLK for which SCK was stopped between a byte and the next one of the same frame: the transmit
    /// FIFO was empty, or the core was stopped.
    #[poll(total)]
    pub idle_clocks: u64,
    /// Periods of EXT_SPI_CLK for which first bytes waited in the transmit FIFO until SCK started to shift them: the
    /// FIFO was being filled, or no slave was selected.
    #[poll(total)]
    pub waiting_clocks: u64,
}

/// A byte on the wire, in edges of EXT_SPI_CLK.
#[derive(Clone, Copy, Debug)]
pub struct Shifted {
    /// The byte that was sent.
    pub byte: u8,
    /// Its periods of SCK.
    pub sck_clocks: u32,
    /// The first edge at which the wire could have taken it.
    pub there: u64,
    /// The start of its first clock.
    pub start: u64,
    /// The end of its last clock.
    pub end: u64,
}

/// The frame in progress, with the totals of all frames of its kind.
#[derive(Clone, Copy, Debug, State, Fresh)]
struct Current {
    command: u8,
    totals: Totals,
    last_end: u64,
}

/// All frames so far.
#[derive(Debug, Default, State)]
pub struct Frames {
    /// By first byte, without the kind of the frame in progress.
    ended: BTreeMap<u8, Totals>,
    current: Option<Current>,
}

impl Frames {
    /// A byte was shifted to a selected slave.
    #[inline]
    pub fn byte(&mut self, shifted: Shifted) {
        let ended = &mut self.ended;
        let current = self.current.get_or_insert_with(|| {
            let mut totals = ended.remove(&shifted.byte).unwrap_or_default();
            totals.frames += 1;
            totals.waiting_clocks += shifted.start - shifted.there;
            Current { command: shifted.byte, totals, last_end: shifted.start }
        });
        current.totals.sck_clocks += u64::from(shifted.sck_clocks);
        current.totals.idle_clocks += shifted.start - current.last_end;
        current.last_end = shifted.end;
    }

    /// The slave select has changed: the next byte begins a frame.
    pub fn end(&mut self) {
        if let Some(current) = self.current.take() {
            self.ended.insert(current.command, current.totals);
        }
    }

    /// The totals by first byte, in its order, including those of a frame in progress.
    pub fn totals(&self) -> BTreeMap<u8, Totals> {
        let mut found = self.ended.clone();
        found.extend(self.current.map(|current| (current.command, current.totals)));
        found
    }

    /// The totals as counters: `command_6b.frames` and so on.
    pub fn counters(&self) -> impl Iterator<Item = (String, u64)> {
        self.totals().into_iter().flat_map(|(command, totals)| {
            [
                ("frames", totals.frames),
                ("sck_clocks", totals.sck_clocks),
                ("idle_clocks", totals.idle_clocks),
                ("waiting_clocks", totals.waiting_clocks),
            ]
            .map(|(name, count)| (format!("command_{command:02x}.{name}"), count))
        })
    }
}

/// All totals, and the edge at which the last byte ended.
impl Edge for Frames {
    fn edge(&mut self, clock: Hz, poll: &mut Poll) {
        self.ended.polled(poll);
        poll.state(self.current.is_some());
        if let Some(current) = &mut self.current {
            poll.state(current.command);
            current.totals.polled(poll);
            poll.edge(clock, &mut current.last_end);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A byte that was there some edges before its first clock.
    fn shifted(byte: u8, sck_clocks: u32, there: u64, start: u64) -> Shifted {
        Shifted { byte, sck_clocks, there, start, end: start + 2 * u64::from(sck_clocks) }
    }

    #[test]
    fn frames_are_reported_apart_by_their_first_byte() {
        let mut frames = Frames::default();
        frames.end();
        frames.byte(shifted(0x6b, 8, 90, 100));
        frames.byte(shifted(0x05, 2, 95, 116));
        frames.byte(shifted(0x05, 2, 127, 127));
        frames.end();
        // The pause between two frames belongs to no frame.
        frames.byte(shifted(0x05, 8, 499, 500));
        let quad = Totals { frames: 1, sck_clocks: 12, idle_clocks: 7, waiting_clocks: 10 };
        let status = Totals { frames: 1, sck_clocks: 8, idle_clocks: 0, waiting_clocks: 1 };
        assert_eq!(frames.totals(), BTreeMap::from([(0x05, status), (0x6b, quad)]));
        frames.end();
        frames.byte(shifted(0x6b, 8, 600, 600));
        frames.end();
        assert_eq!(frames.totals()[&0x6b], Totals { frames: 2, sck_clocks: 20, ..quad });
        let counters: Vec<_> = frames.counters().skip(6).collect();
        assert_eq!(counters, [("command_6b.idle_clocks".to_owned(), 7), ("command_6b.waiting_clocks".to_owned(), 10)]);
    }
}

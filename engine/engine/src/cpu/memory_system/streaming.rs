//! Write streaming, which Arm calls read allocate mode: after some lines in a row that stores write whole, a store
//! that misses fills no line. Its data are gathered, and a whole line goes out as one burst.
//!
//! A line that a store fills is watched until the fill ends: if stores write all of it before, it counts (Arm's
//! knowledge article KA16133 on the Cortex-A7). One that is not whole by then, or when the next store misses, ends the
//! row. The mode ends with a burst of less than a line, or with a load from the line that is being written (so in the
//! Cortex-M7 TRM, DDI 0489F, 5.9.1, and in those of later cores). That the Cortex-A5 does likewise is assumed: its
//! manual names the mode.
//!
//! Simplified: a store that hits any other line does not end the gathering of a line; a gathered line stays in the
//! buffer until another store misses, a load wants it, or a barrier waits for it.

use super::meter::Trip;
use super::mmu::Mmu;
use super::outward::{Transfer, line_of, outer_keeps};
use super::translate::Place;
use super::{Memory, Purpose, Via, renumbered};
use crate::bus::BusFault;
use crate::bus::device::AccessSize;
use crate::memory::cache::{NO_LINE, WritePolicy};
use crate::memory::outer::OuterCache;
use crate::state::{Fresh, State};

/// Bytes of an entry of the store buffer.
const ENTRY_BYTES: u32 = 8;
/// Longest line whose bytes are watched.
pub(super) const MOST_LINE_BYTES: u32 = u64::BITS;

/// Lines in a row after which a level of cache allocates no more lines for stores; 0 for never.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReadAllocate {
    /// Lines that stores have filled and written whole, of the first level.
    pub lines: u32,
    /// Bursts of a line in that mode, of the second level.
    pub outer_lines: u32,
}

/// Progress of the stores towards the mode, and in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
pub(super) struct Streaming {
    /// The line that is watched, or gathered in the mode; [`NO_LINE`] for none.
    line: u32,
    /// Its bytes that stores have written: bit n is byte n.
    written: u64,
    /// The core cycle in which the fill of a watched line ends.
    fill_ends: u64,
    /// Whole lines in a row.
    lines: u32,
    /// Bursts in a row since the mode began.
    bursts: u32,
    /// The second-level cache may keep the gathered line.
    outer: bool,
    /// The line of the latest burst.
    sent: u32,
    /// The core cycle in which the second level's latest victim has been written.
    victim_ends: u64,
}

impl Default for Streaming {
    fn default() -> Streaming {
        Streaming {
            line: NO_LINE,
            written: 0,
            fill_ends: 0,
            lines: 0,
            bursts: 0,
            outer: false,
            sent: NO_LINE,
            victim_ends: 0,
        }
    }
}

impl Streaming {
    /// True if `line` is watched or gathered: each store to it counts.
    pub fn concerns(&self, line: u32) -> bool {
        self.line == line
    }

    /// Ends the row.
    fn stop(&mut self) {
        (self.line, self.lines, self.bursts) = (NO_LINE, 0, 0);
    }

    /// True if the stores under way in cycle `now` equal those in the state `before`, in cycle `then`.
    pub fn behaves_like(&self, now: u64, before: &Streaming, then: u64) -> bool {
        let ahead = |own: &Streaming, now: u64| [own.fill_ends, own.victim_ends].map(|end| end.saturating_sub(now));
        let apart = |own: &Streaming| Streaming { fill_ends: 0, victim_ends: 0, ..*own };
        ahead(self, now) == ahead(before, then) && apart(self) == apart(before)
    }

    /// Renumbers cycles: `before` is `now` from now on.
    pub fn renumber(&mut self, before: u64, now: u64) {
        self.fill_ends = renumbered(self.fill_ends, before, now);
        self.victim_ends = renumbered(self.victim_ends, before, now);
    }

    /// Shifts all ends by `cycles`.
    pub fn move_on(&mut self, cycles: u64) {
        self.fill_ends += cycles;
        self.victim_ends += cycles;
    }
}

impl Memory {
    /// The levels of cache that may stop to allocate lines for stores.
    pub(super) fn streaming_levels<M: Mmu>(&self, mmu: &M) -> [bool; 2] {
        let config = &self.config;
        let watches = config
            .dcache
            .is_some_and(|shape| shape.write == WritePolicy::WriteBack && shape.line_bytes <= MOST_LINE_BYTES);
        let first = watches && config.read_allocate.lines > 0 && config.store_buffer_entries > 0;
        let [may_first, may_second] = mmu.may_stream();
        [first && may_first, may_second]
    }

    /// A store of `size` to a line of the data cache, in a core that streams writes.
    pub(super) fn store_watched(&mut self, trip: &mut Trip, place: Place, size: AccessSize) -> Result<(), BusFault> {
        let line = self.line_of_data(place.physical);
        let bytes = (u64::MAX >> (u64::BITS - size.bytes())) << (place.physical - line);
        if self.touch_line(trip.bus, place.physical, true) {
            self.snoop_hit(trip, place.physical);
            if self.state.streaming.concerns(line) {
                self.count_written(trip.meter.now(), bytes);
            }
            return Ok(());
        }
        let other = ![NO_LINE, line].contains(&self.state.streaming.line);
        if self.is_streaming() && !other {
            return self.gather(trip, place, line, bytes);
        }
        if other {
            self.end_streaming(trip)?;
        }
        self.fill_missing(trip, place, Purpose::Store)?;
        let (state, fill_ends) = (&mut self.state.streaming, self.state.fill_ends);
        (state.line, state.written, state.fill_ends) = (line, bytes, fill_ends);
        Ok(())
    }

    /// True in the mode.
    fn is_streaming(&self) -> bool {
        self.state.streaming.lines >= self.config.read_allocate.lines
    }

    /// Counts bytes that a store writes into the watched line.
    fn count_written(&mut self, now: u64, bytes: u64) {
        let (whole, state) = (self.whole_line(), &mut self.state.streaming);
        if now >= state.fill_ends {
            return state.stop();
        }
        state.written |= bytes;
        if state.written == whole {
            state.line = NO_LINE;
            state.lines = state.lines.saturating_add(1);
        }
    }

    /// A store that misses in the mode, to the line that is gathered, or to the next one: it goes out when it is whole.
    fn gather(&mut self, trip: &mut Trip, place: Place, line: u32, bytes: u64) -> Result<(), BusFault> {
        let state = &mut self.state.streaming;
        if state.line == NO_LINE {
            (state.line, state.written, state.outer) = (line, 0, place.outer);
        }
        state.written |= bytes;
        if let (Some(snoop), Some(core)) = (&mut trip.bus.snoop, trip.bus.master) {
            snoop.take(core, line);
        }
        if self.state.streaming.written == self.whole_line() {
            self.send_gathered(trip)?;
        }
        Ok(())
    }

    /// Before a load fills a line: the mode ends if that line is being written; the load waits for that.
    pub(super) fn fill_after_stores(&mut self, trip: &mut Trip, physical: u32) -> Result<(), BusFault> {
        let line = self.line_of_data(physical);
        let state = &self.state.streaming;
        let under_way = state.sent == line && self.state.stores.all_done() > trip.meter.now();
        if self.is_streaming() && (state.concerns(line) || under_way) {
            self.end_streaming(trip)?;
            self.wait_for_stores(trip);
        }
        Ok(())
    }

    /// A barrier waits for what is gathered, which goes out and so ends the mode.
    pub(super) fn end_gathering(&mut self, trip: &mut Trip) -> Result<(), BusFault> {
        if self.gathers() { self.end_streaming(trip) } else { Ok(()) }
    }

    /// True if another store to `line`, of up to a word, is gathered, and is not the last one.
    pub(super) fn gathers_more(&self, line: u32) -> bool {
        let state = &self.state.streaming;
        self.streams[0]
            && self.gathers()
            && state.concerns(line)
            && (self.whole_line() & !state.written).count_ones() > 4
    }

    /// True if stores have begun a line in the mode.
    fn gathers(&self) -> bool {
        self.is_streaming() && self.state.streaming.line != NO_LINE
    }

    /// Ends the row of lines, or the mode, in which what is gathered goes out.
    fn end_streaming(&mut self, trip: &mut Trip) -> Result<(), BusFault> {
        if self.gathers() {
            self.send_gathered(trip)?;
        }
        self.state.streaming.stop();
        Ok(())
    }

    /// Sends the gathered bytes as a burst, for which the core does not wait unless the buffer is still full of the one
    /// before.
    fn send_gathered(&mut self, trip: &mut Trip) -> Result<(), BusFault> {
        let (whole, state) = (self.whole_line(), &mut self.state.streaming);
        let (line, written, outer) = (std::mem::replace(&mut state.line, NO_LINE), state.written, state.outer);
        state.sent = line;
        // A line takes some of the buffer's entries.
        let lines = (self.config.store_buffer_entries * ENTRY_BYTES / self.line_bytes()).max(1);
        let mut after = self.after_stores_of(trip, lines);
        let place = Place { physical: line, via: Via::Cached, ordered: false, waits: false, outer };
        if written == whole {
            self.state.streaming.bursts = self.state.streaming.bursts.saturating_add(1);
            self.write_whole_line(&mut after, place)?;
        } else {
            let (first, count) = (written.trailing_zeros() % u64::BITS, written.count_ones().max(1));
            let part = Place { physical: line.wrapping_add(first), ..place };
            self.write_part(&mut after, part, Transfer::LateWriteBurst(count))?;
        }
        let ends = after.meter.now();
        self.state.stores.push(ends, None);
        Ok(())
    }

    /// A whole line, written to the second level without a fill; or to memory, if that level streams writes, too.
    fn write_whole_line(&mut self, trip: &mut Trip, place: Place) -> Result<(), BusFault> {
        let (line, bytes) = (place.physical, self.line_bytes());
        let threshold = if self.streams[1] { self.config.read_allocate.outer_lines } else { 0 };
        let allocates = threshold == 0 || self.state.streaming.bursts <= threshold;
        if !place.outer || !outer_keeps(trip.bus, line) {
            return self.transfer(trip, line, Transfer::LateWriteBurst(bytes)).map(|_| ());
        }
        if !allocates {
            return self.write_part(trip, place, Transfer::LateWriteBurst(bytes));
        }
        self.pass_outer(trip, |outer: &OuterCache| outer.timing().request_cycles + outer.lookup_cycles(true));
        self.state.outer_uses += 1;
        let Some(cache) = trip.bus.outer_mut() else { return Ok(()) };
        let line = line_of(cache, line);
        if !cache.write(line)
            && let Some(victim) = cache.fill(line, false, true).filter(|victim| victim.dirty)
        {
            // The victim waits in the second level's eviction buffer for the one before: they leave one by one.
            trip.meter.pass(self.state.streaming.victim_ends);
            let mut later = trip.after();
            self.cast_out(&mut later, victim.line_addr);
            self.state.streaming.victim_ends = later.meter.now();
        }
        Ok(())
    }

    fn line_of_data(&self, physical: u32) -> u32 {
        physical & !(self.line_bytes() - 1)
    }

    fn line_bytes(&self) -> u32 {
        self.config.dcache.map_or(MOST_LINE_BYTES, |shape| shape.line_bytes)
    }

    fn whole_line(&self) -> u64 {
        u64::MAX >> (u64::BITS - self.line_bytes().min(MOST_LINE_BYTES))
    }
}

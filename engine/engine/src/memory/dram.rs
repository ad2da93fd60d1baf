//! The time of an SDRAM behind a controller that leaves rows open: banks, rows, refresh.
//!
//! A row stays open until another one of its bank is accessed, or until all are closed for a refresh. Times are in
//! clocks of the controller's port, which is the memory's own clock; names are those of JEDEC's DDR3 standard
//! (JESD79-3) and of the chips' datasheets.

use super::ram::Direction;

use crate::state::{Fresh, State};

/// Mapping of addresses to banks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decoding {
    /// The next row of addresses is in the next bank.
    Interleaved,
    /// It is in the same bank, up to its end.
    Sequential,
}

/// Shape and times of the memory. Cycles of its clock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DramTiming {
    /// Banks, a power of two up to [`MOST_BANKS`].
    pub banks: u32,
    /// Bytes of a row, over all chips; a power of two.
    pub row_bytes: u32,
    /// Mapping of addresses to banks.
    pub decoding: Decoding,
    /// Size of all banks.
    pub size_bytes: u32,
    /// From a read or write command to its first data (CL, CWL).
    pub cas_cycles: u64,
    /// From activating a row to a read or write command in it (tRCD).
    pub activate_cycles: u64,
    /// From closing a row to activating another one of its bank (tRP).
    pub precharge_cycles: u64,
    /// From activating a row to closing it (tRAS).
    pub row_cycles: u64,
    /// From a write's last data to closing its row (tWR).
    pub write_recovery_cycles: u64,
    /// From a write's last data to a read command (tWTR).
    pub write_to_read_cycles: u64,
    /// Clocks of data of a burst, whether all of it is needed or not.
    pub burst_cycles: u64,
    /// From one refresh to the next (tREFI).
    pub refresh_interval_cycles: u64,
    /// A refresh (tRFC).
    pub refresh_cycles: u64,
}

/// Most banks of a memory.
pub const MOST_BANKS: usize = 8;
/// Above the number of clocks of data of any transfer.
const MOST_BEATS: u64 = 256;
/// No row.
const CLOSED: u32 = u32::MAX;

/// A bank.
#[derive(Clone, Copy, Debug, State, Fresh)]
struct Bank {
    row: u32,
    /// The clock from which its row may be closed.
    may_close: u64,
}

/// The state of the memory.
#[derive(Clone, Debug, State)]
pub struct Dram {
    #[state(skip)]
    timing: DramTiming,
    banks: [Bank; MOST_BANKS],
    /// The clock from which the next command can be issued.
    free: u64,
    /// The clock from which a read command can be issued.
    may_read: u64,
    /// The clock of the next refresh.
    next_refresh: u64,
}

impl Dram {
    /// All rows closed.
    pub fn new(timing: DramTiming) -> Dram {
        let bank = Bank { row: CLOSED, may_close: 0 };
        let next_refresh = timing.refresh_interval_cycles;
        Dram { timing, banks: [bank; MOST_BANKS], free: 0, may_read: 0, next_refresh }
    }

    /// Cycles that a transfer with this many clocks of data adds to its port's time: for a read, up to its first data.
    /// A write's data are accepted as soon as its command can be issued.
    pub fn transfer(&mut self, from: u64, offset: u32, beats: u64, direction: Direction) -> u64 {
        let turn = self.free.saturating_sub(from);
        let at = self.command(from, offset, beats, direction);
        match direction {
            Direction::Read => at - from + self.timing.cas_cycles,
            Direction::Write => turn,
        }
    }

    /// No transfer that the port has begun waits longer: twice the sum of all possible waits.
    pub fn longest_wait(&self) -> u64 {
        let timing = &self.timing;
        let all = [
            timing.cas_cycles,
            timing.activate_cycles,
            timing.precharge_cycles,
            timing.row_cycles,
            timing.write_recovery_cycles,
            timing.write_to_read_cycles,
            timing.burst_cycles,
            timing.refresh_cycles,
            MOST_BEATS,
        ];
        2 * all.iter().sum::<u64>()
    }

    /// The clock of the read or write command for `offset`, requested at clock `from`. The command takes the time of
    /// its bursts.
    fn command(&mut self, from: u64, offset: u32, beats: u64, direction: Direction) -> u64 {
        let mut at = from.max(self.free);
        if at >= self.next_refresh {
            at = self.refresh(at);
        }
        let timing = &self.timing;
        if direction == Direction::Read {
            at = at.max(self.may_read);
        }
        let (bank, row) = timing.place(offset);
        let bank = &mut self.banks[bank];
        if bank.row != row {
            let closed = if bank.row == CLOSED { at } else { at.max(bank.may_close) + timing.precharge_cycles };
            at = closed + timing.activate_cycles;
            *bank = Bank { row, may_close: closed + timing.row_cycles };
        }
        let data = beats.next_multiple_of(timing.burst_cycles.max(1));
        self.free = at + data;
        if direction == Direction::Write {
            let last = at + timing.cas_cycles + data;
            bank.may_close = bank.may_close.max(last + timing.write_recovery_cycles);
            self.may_read = last + timing.write_to_read_cycles;
        }
        at
    }

    /// Closes all rows by the latest refresh that has begun by clock `at`; returns the clock from which commands can be
    /// issued again.
    fn refresh(&mut self, at: u64) -> u64 {
        let interval = self.timing.refresh_interval_cycles.max(1);
        let begun = self.next_refresh + at.saturating_sub(self.next_refresh) / interval * interval;
        self.next_refresh = begun + interval;
        let latest = self.banks.iter().filter(|bank| bank.row != CLOSED).map(|bank| bank.may_close).max();
        self.banks.iter_mut().for_each(|bank| bank.row = CLOSED);
        let closed = latest.map_or(begun, |may_close| begun.max(may_close) + self.timing.precharge_cycles);
        at.max(closed + self.timing.refresh_cycles)
    }
}

impl Dram {
    /// Changes the rate of the memory's clock: its clock `before` is its clock `now`. Future clocks keep their
    /// distance; the controller continues counting towards the next refresh.
    pub fn renumber(&mut self, before: u64, now: u64) {
        if before >= self.next_refresh {
            self.free = self.free.max(self.refresh(before));
        }
        let ahead = |at: u64| if at > before { now + (at - before) } else { 0 };
        for bank in &mut self.banks {
            bank.may_close = ahead(bank.may_close);
        }
        (self.free, self.may_read, self.next_refresh) =
            (ahead(self.free), ahead(self.may_read), ahead(self.next_refresh));
    }
}

impl DramTiming {
    /// True if its numbers are consistent.
    pub fn is_sound(&self) -> bool {
        let powers = [self.banks, self.row_bytes].iter().all(|n| n.is_power_of_two());
        powers && self.banks as usize <= MOST_BANKS && self.refresh_interval_cycles > 2 * self.refresh_cycles
    }

    /// Bank and row of an offset.
    fn place(&self, offset: u32) -> (usize, u32) {
        let row = offset >> self.row_bytes.trailing_zeros();
        let rows = (self.size_bytes / self.row_bytes / self.banks).max(1);
        match self.decoding {
            Decoding::Interleaved => ((row & (self.banks - 1)) as usize, row >> self.banks.trailing_zeros()),
            Decoding::Sequential => (((row / rows) & (self.banks - 1)) as usize, row % rows),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn timing(decoding: Decoding) -> DramTiming {
        DramTiming {
            banks: 8,
            row_bytes: 4096,
            decoding,
            size_bytes: 256 << 20,
            cas_cycles: 5,
            activate_cycles: 3,
            precharge_cycles: 3,
            row_cycles: 6,
            write_recovery_cycles: 4,
            write_to_read_cycles: 4,
            burst_cycles: 4,
            refresh_interval_cycles: 1297,
            refresh_cycles: 27,
        }
    }

    fn dram() -> Dram {
        Dram::new(timing(Decoding::Interleaved))
    }

    proptest! {
        /// In the port's order: a transfer begins when the previous one has been answered, or later.
        #[test]
        fn no_transfer_waits_longer_than_is_said(
            transfers in prop::collection::vec((0u64..60, any::<u32>(), 1u64..9, any::<bool>()), 1..300),
        ) {
            let (mut dram, mut free) = (dram(), 0);
            for (later, offset, beats, writes) in transfers {
                let direction = if writes { Direction::Write } else { Direction::Read };
                let begins = free + later;
                let waits = dram.transfer(begins, offset & 0x3f_ffff, beats, direction);
                prop_assert!(waits <= dram.longest_wait(), "{}", waits);
                free = begins + waits + beats;
            }
        }
    }

    #[test]
    fn another_rate_keeps_what_lies_ahead() {
        let mut dram = dram();
        let mut other = dram.clone();
        dram.command(1000, 0, 1, Direction::Write);
        other.command(1000, 0, 1, Direction::Write);
        // 4 clocks on; the next refresh is 293 clocks ahead.
        other.renumber(1004, 9004);
        for (from, offset) in [(1004, 0x20_0000), (1010, 0x20_0000), (1297, 0), (1300, 64)] {
            let [usual, later] = [(&mut dram, 0), (&mut other, 8000)]
                .map(|(dram, ahead)| dram.command(from + ahead, offset, 1, Direction::Read) - ahead);
            assert_eq!(usual, later, "from {from}");
        }
        // Refreshes that were due are done when the clock changes.
        let mut dram = self::dram();
        dram.command(10, 0, 1, Direction::Read);
        dram.renumber(3 * 1297 + 5, 77);
        assert_eq!(dram.command(77, 0, 1, Direction::Read), 77 - 5 + 3 + 27 + 3);
        assert_eq!(dram.next_refresh, 77 - 5 + 1297);
    }

    #[test]
    fn an_open_row_is_read_at_once() {
        let mut dram = dram();
        assert_eq!(dram.command(100, 0, 1, Direction::Read), 103, "it is closed");
        assert_eq!(dram.command(110, 64, 1, Direction::Read), 110);
        assert_eq!(dram.command(111, 128, 1, Direction::Read), 114, "a burst has 4 clocks");
        assert_eq!(dram.command(111, 192, 8, Direction::Read), 118);
        assert_eq!(dram.command(111, 256, 1, Direction::Read), 126);
    }

    #[test]
    fn another_row_of_the_bank_closes_it() {
        let mut dram = dram();
        assert_eq!(dram.command(100, 0, 1, Direction::Read), 103);
        // tRAS from 100, then tRP and tRCD.
        assert_eq!(dram.command(101, 8 * 4096, 1, Direction::Read), 107 + 3 + 3);
        // Another bank is opened independently.
        assert_eq!(dram.command(200, 4096, 1, Direction::Read), 203);
        assert_eq!(dram.command(300, 8 * 4096 + 8, 1, Direction::Read), 300);
    }

    #[test]
    fn reads_and_closing_wait_for_written_data() {
        let mut dram = dram();
        assert_eq!(dram.command(100, 0, 1, Direction::Write), 103);
        // CWL and 4 clocks of data, then tWTR.
        assert_eq!(dram.clone().command(104, 64, 1, Direction::Read), 112 + 4);
        assert_eq!(dram.clone().command(104, 64, 1, Direction::Write), 107);
        // tWR, tRP, tRCD.
        assert_eq!(dram.command(104, 8 * 4096, 1, Direction::Write), 116 + 3 + 3);
    }

    #[test]
    fn a_refresh_closes_all_rows() {
        let mut dram = dram();
        dram.command(100, 0, 1, Direction::Read);
        // Begun at 1297: tRP, tRFC, tRCD.
        assert_eq!(dram.command(1300, 0, 1, Direction::Read), 1297 + 3 + 27 + 3);
        assert_eq!(dram.command(1400, 0, 1, Direction::Read), 1400);
        // Long after a refresh, the row is merely closed.
        assert_eq!(dram.command(10 * 1297 + 500, 0, 1, Direction::Read), 10 * 1297 + 503);
    }

    #[test]
    fn decoding_says_where_the_next_row_lies() {
        let [interleaved, sequential] = [Decoding::Interleaved, Decoding::Sequential].map(timing);
        assert_eq!([0, 4096, 8 * 4096].map(|offset| interleaved.place(offset)), [(0, 0), (1, 0), (0, 1)]);
        assert_eq!([0, 4096, 32 << 20].map(|offset| sequential.place(offset)), [(0, 0), (0, 1), (1, 0)]);
    }

    proptest! {
        /// Commands are issued in order, none before its request, and an open row costs nothing.
        #[test]
        fn commands_keep_their_distance(
            wanted in prop::collection::vec((0u64..60, 0u32..1 << 17, any::<bool>()), 1..200),
        ) {
            let (mut dram, mut now, mut last) = (dram(), 0, None);
            for (gap, offset, write) in wanted {
                now += gap;
                let direction = if write { Direction::Write } else { Direction::Read };
                let at = dram.command(now, offset, 1, direction);
                prop_assert!(at >= now);
                if let Some(last) = last {
                    prop_assert!(at >= last + 4);
                }
                let again = dram.clone().command(at + 20, offset, 1, direction);
                let near_refresh = (at + 20) % 1297 < 60;
                prop_assert!(again == at + 20 || near_refresh);
                last = Some(at);
            }
        }
    }
}

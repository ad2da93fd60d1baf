//! State for skipping of polling loops: all state, and the times at which it changes by itself.

use super::operations::Erase;
use super::receiving::Stage;
use super::sending::Source;
use super::{Card, Data, State};
use engine::polling::Poll;
use engine::time::Ps;

impl Card {
    /// Lists the state; false within a byte, a command, a response or a block.
    pub(super) fn list(&mut self, poll: &mut Poll) -> bool {
        let quiet =
            self.line.bits() == 0 && self.command_bytes == 0 && !self.reply.is_pending() && !self.leaves_after_byte;
        if !quiet || !self.list_data(poll) {
            return false;
        }
        self.list_state(poll);
        self.change_at(poll, self.busy_until);
        if let State::Initialising(until) = self.state {
            self.change_at(poll, until);
        }
        if let Some(at) = self.parameters.faults.removed_at.filter(|_| !self.removed) {
            self.change_at(poll, at);
        }
        poll.counter(&mut self.totals.commands);
        poll.counter(&mut self.totals.crc_errors);
        poll.counter(&mut self.totals.busy_bytes);
        self.translation.polled(poll);
        true
    }

    /// Lists the use of the data line.
    fn list_data(&mut self, poll: &mut Poll) -> bool {
        match self.data {
            Data::None => poll.state(0_u64),
            Data::Receiving(receiving) => {
                if receiving.stage != Stage::Token {
                    return false;
                }
                poll.state(1 | u64::from(receiving.multiple) << 8 | u64::from(receiving.refused.unwrap_or(0)) << 16);
                poll.state(receiving.lba);
                poll.state(receiving.left);
            }
            Data::Sending(sending) => {
                if sending.at > 0 || sending.gap > 0 {
                    return false;
                }
                poll.state(2 | u64::from(sending.error.unwrap_or(0)) << 8 | u64::from(sending.len) << 16);
                if let Source::Medium { place, multiple, left } = sending.source {
                    poll.state(place);
                    poll.state(u64::from(left) << 1 | u64::from(multiple));
                }
                // Registers have no address on the card.
                for bytes in self.buffer[..usize::from(sending.len) + 2].chunks(8) {
                    poll.state(bytes.iter().fold(0, |word, byte| word << 8 | u64::from(*byte)));
                }
                self.change_at(poll, sending.ready);
            }
        }
        true
    }

    fn list_state(&self, poll: &mut Poll) {
        let flags = [self.selected, self.removed, self.crc_on, self.application, self.knows_high_capacity];
        poll.state(flags.iter().fold(0, |bits, flag| bits << 1 | u64::from(*flag)));
        poll.state(match self.state {
            State::PowerUp => 0,
            State::Idle => 1,
            State::Ready => 2,
            State::Initialising(until) => 3_u64.saturating_add(until.0),
        });
        poll.state(u64::from(self.power_up_clocks) << 32 | u64::from(self.block_bytes) << 8 | u64::from(self.status));
        poll.state(u64::from(self.announced) << 32 | u64::from(self.block_count));
        poll.state(self.well_written);
        let (first, last) = match self.erase {
            Erase::None => (u64::MAX, u64::MAX),
            Erase::From(first) => (u64::from(first), u64::MAX),
            Erase::Range(first, last) => (u64::from(first), u64::from(last)),
        };
        poll.state(first);
        poll.state(last);
        // A loop that transfers blocks is not a polling loop.
        for total in [
            self.totals.blocks_read,
            self.totals.blocks_written,
            self.totals.sectors_erased,
            self.totals.blocks_received,
            self.busy_until.0,
        ] {
            poll.state(total);
        }
    }

    /// The card's output changes with the clock that ends at `at`. A byte in progress may have seen that before `poll`
    /// is made: its controller lists how far it is ahead. A byte that ends later is assumed to begin at most one byte
    /// of the fastest clock before, and may see both sides of the change for that time.
    fn change_at(&self, poll: &mut Poll, at: Ps) {
        let now = poll.now();
        if now < at {
            poll.until(at);
        } else if now < at.saturating_add(self.pace.byte()) {
            poll.refuse();
        }
    }
}

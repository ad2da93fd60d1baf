//! Deadlines for skipping of polling loops: the times at which the state changes by itself.

use super::*;

impl Card {
    /// Lists the deadlines, and data that are about to be sent; false within a byte, a command, a response or a block.
    pub(super) fn list_times(&mut self, poll: &mut Poll) -> bool {
        let is_quiet =
            self.line.bits() == 0 && self.command_bytes == 0 && !self.reply.is_pending() && !self.leaves_after_byte;
        let data_due = match self.data {
            _ if !is_quiet => return false,
            Data::Receiving(receiving) if receiving.stage != Stage::Token => return false,
            Data::Sending(sending) if sending.at > 0 || sending.gap > 0 => return false,
            Data::None | Data::Receiving(_) => None,
            Data::Sending(sending) => {
                // Registers have no address on the card.
                for bytes in self.buffer[..usize::from(sending.len) + 2].chunks(8) {
                    poll.state(bytes.iter().fold(0, |word, byte| word << 8 | u64::from(*byte)));
                }
                Some(sending.ready)
            }
        };
        let ready = if let State::Initialising(until) = self.state { Some(until) } else { None };
        let removed = self.parameters.faults.removed_at.filter(|_| !self.removed);
        for at in [Some(self.busy_until), data_due, ready, removed].into_iter().flatten() {
            self.change_at(poll, at);
        }
        true
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

//! Data from the host: write commands with their tokens, data responses and busy times: 7.2.4 and 7.3.3.

use super::*;

/// Before each block of a multiple write.
pub const START_BLOCK_MULTIPLE: u8 = 0xfc;
/// Ends a multiple write.
pub const STOP_TRAN: u8 = 0xfd;

/// Data responses: xxx0sss1; the card drives the upper bits high.
pub mod data_response {
    /// Data accepted.
    pub const ACCEPTED: u8 = 0xe5;
    /// Rejected: the CRC16 is wrong.
    pub const CRC_ERROR: u8 = 0xeb;
    /// Rejected: a write error, which CMD13 reports.
    pub const WRITE_ERROR: u8 = 0xed;
}

/// The phase of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh, Polled)]
pub(super) enum Stage {
    /// It waits for a token.
    Token,
    /// This many bytes of a block and its CRC have been received.
    Block(u16),
    /// The block is complete since that time; the data response comes next.
    Check(Ps),
}

/// A write command in progress.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh, Polled)]
pub(super) struct Receiving {
    pub(super) stage: Stage,
    pub(super) multiple: bool,
    /// The next block.
    pub(super) lba: u32,
    /// The number of CMD23's blocks that are still to come; 0 if only the host knows it.
    pub(super) left: u32,
    /// The data response of an error, which all later blocks get, too: the host has to stop.
    pub(super) refused: Option<u8>,
}

impl Receiving {
    pub(super) fn new(lba: u32, multiple: bool, left: u32) -> Receiving {
        Receiving { stage: Stage::Token, multiple, lba, left: if multiple { left } else { 1 }, refused: None }
    }
}

impl Card {
    /// Starts a write command of `announced` blocks (0: not known).
    pub(super) fn start_write(&mut self, receiving: Receiving, announced: u32, end: Ps) {
        self.well_written = 0;
        self.data = Data::Receiving(receiving);
        if !self.parameters.write_protect {
            let announced = if receiving.multiple { announced } else { 1 };
            self.translation.begin_write(receiving.lba, announced, end);
        }
    }

    /// Takes a byte other than FFh between blocks.
    pub(super) fn take_token(&mut self, token: u8, end: Ps) {
        let Data::Receiving(receiving) = &mut self.data else { return };
        let expected = if receiving.multiple { "FCh, FDh or CMD12" } else { "FEh" };
        match (receiving.multiple, token) {
            // A controller that only reads keeps the line low.
            (_, 0) => {}
            (false, START_BLOCK) | (true, START_BLOCK_MULTIPLE | STOP_TRAN) if self.busy_until > end => {
                self.notes.add(format!("token {token:02X}h ignored: the card is busy"));
            }
            (false, START_BLOCK) | (true, START_BLOCK_MULTIPLE) => receiving.stage = Stage::Block(0),
            (true, STOP_TRAN) => {
                self.end_write(end);
                self.reply = Reply::pause();
            }
            _ => self.notes.add(format!("{token:02X}h is no token here; the card waits for {expected}")),
        }
    }

    /// A block and its CRC have been received.
    pub(super) fn take_block(&mut self, end: Ps) {
        let Data::Receiving(receiving) = &mut self.data else { return };
        receiving.stage = Stage::Check(end);
        self.totals.blocks_received += 1;
        if self.parameters.faults.crc_error_block == Some(self.totals.blocks_received) {
            self.buffer[BLOCK_BYTES / 2] ^= 0x10;
            let note = "as the board asked: a bit of a data block changed on its way to the card";
            self.notes.add(note.to_owned());
        }
    }

    /// The data response of the block that was complete at `end`: an accepted block is stored.
    pub(super) fn finish_block(&mut self, end: Ps) -> u8 {
        let Data::Receiving(mut receiving) = self.data else { return 0xff };
        receiving.stage = Stage::Token;
        let response = receiving.refused.unwrap_or_else(|| self.store(receiving.lba));
        let last = receiving.left == 1;
        let accepted = response == data_response::ACCEPTED;
        if accepted {
            let until = self.translation.block(receiving.lba, end);
            self.occupy_for_write(until, end);
            receiving.lba = receiving.lba.saturating_add(1);
            receiving.left = receiving.left.saturating_sub(1);
        } else {
            receiving.refused = Some(response);
        }
        let complete = !receiving.multiple || accepted && last;
        self.data = Data::Receiving(receiving);
        if complete {
            self.end_write(end);
        }
        if accepted {
            self.inject_after_block();
        }
        response
    }

    fn store(&mut self, lba: u32) -> u8 {
        let (data, crc) = self.buffer.split_at(BLOCK_BYTES);
        if self.session.crc_on && crc != crc16(data).to_be_bytes() {
            self.totals.crc_errors += 1;
            self.notes.add(format!("data for block {lba} refused: the CRC16 is wrong"));
            return data_response::CRC_ERROR;
        }
        if self.parameters.write_protect {
            self.session.status |= r2::PROTECTION_VIOLATION;
            self.note_write_protected();
            return data_response::WRITE_ERROR;
        }
        if lba >= self.blocks() {
            self.session.status |= r2::OUT_OF_RANGE;
            self.note_past_the_end();
            return data_response::WRITE_ERROR;
        }
        if let Err(error) = self.medium.write(u64::from(lba) * BLOCK_BYTES as u64, data) {
            self.session.status |= r2::ERROR;
            self.note_image("written", &error);
            return data_response::WRITE_ERROR;
        }
        self.totals.blocks_written += 1;
        self.well_written += 1;
        data_response::ACCEPTED
    }

    /// Faults that the board injects after a block.
    fn inject_after_block(&mut self) {
        let faults = self.parameters.faults;
        let written = Some(self.totals.blocks_written);
        if faults.stuck_busy_block == written {
            self.occupy(&WRITE_BUSY, Ps::MAX, self.busy_until);
            self.notes.add("as the board asked: the card stays busy for ever".to_owned());
        }
        if faults.removed_after_blocks == written {
            self.leaves_after_byte = true;
        }
    }

    /// The write command is over.
    pub(super) fn end_write(&mut self, end: Ps) {
        self.data = Data::None;
        if !self.parameters.write_protect {
            let until = self.translation.end_write(end);
            self.occupy_for_write(until, end);
        }
    }

    /// Chip select rose within a write command.
    pub(super) fn abandon_write(&mut self, receiving: Receiving, now: Ps) {
        match receiving.stage {
            // The card has the whole block, and the host skips the response.
            Stage::Check(end) => {
                self.finish_block(end);
            }
            Stage::Token if receiving.multiple => {}
            _ => {
                self.notes.add("chip select rose within a write: abandoned".to_owned());
                self.data = Data::Receiving(Receiving { stage: Stage::Token, ..receiving });
                if !receiving.multiple {
                    self.end_write(now);
                }
            }
        }
    }
}

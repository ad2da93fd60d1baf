//! The execution of each command at its end.

use super::notes::Note;
use super::receiving::Receiving;
use super::reply::{Answer, OK, r1, r2};
use super::wire::Out;
use super::{BLOCK_BYTES, Card, Data, ERASE_BUSY, INITIALISING, State, WRITE_BUSY};
use crate::prelude::*;
use engine::state;

/// An erase sequence in progress: 4.3.5.
#[derive(Clone, Copy, Debug, PartialEq, Eq, state::State, state::Fresh, Polled)]
pub(super) enum Erase {
    None,
    From(u32),
    Range(u32, u32),
}

impl Card {
    pub(super) fn go_idle(&mut self, end: Ps) -> Answer {
        self.state = State::Idle;
        self.data = Data::None;
        self.crc_on = false;
        self.knows_high_capacity = false;
        self.block_bytes = BLOCK_BYTES as u16;
        (self.announced, self.block_count) = (0, 0);
        self.erase = Erase::None;
        self.status = 0;
        // It ends the present program (7.2.4), unless the card hangs.
        if self.busy_until != Ps::MAX {
            if self.busy_until > end {
                self.scope.cut(&WRITE_BUSY, end);
                self.scope.cut(&ERASE_BUSY, end);
            }
            self.busy_until = self.busy_until.min(end);
        }
        OK
    }

    pub(super) fn initialise(&mut self, argument: u32, end: Ps) -> Answer {
        let knows = self.knows_high_capacity && argument & 1 << 30 != 0;
        if self.state == State::Idle && (knows || !self.parameters.capacity.is_high()) {
            let until = end.saturating_add(self.parameters.initialisation);
            self.scope.span(&INITIALISING, end, until, Detail::None);
            self.state = State::Initialising(until);
        }
        if let State::Initialising(until) = self.state
            && end >= until
        {
            self.state = State::Ready;
        }
        OK
    }

    /// R7: the voltage (1 is 2.7 to 3.6 V) if it can run on it, and the check pattern.
    pub(super) fn send_if_cond(&mut self, argument: u32) -> Answer {
        self.knows_high_capacity = true;
        let accepted = if argument >> 8 & 0xf == 1 { 0x100 } else { 0 };
        Answer::Long(accepted | argument & 0xff)
    }

    pub(super) fn set_block_length(&mut self, argument: u32) -> Answer {
        if !(1..=BLOCK_BYTES as u32).contains(&argument) {
            return Answer::R1(r1::PARAMETER);
        }
        if !self.parameters.capacity.is_high() {
            self.block_bytes = argument as u16;
        }
        OK
    }

    pub(super) fn set_block_count(&mut self, argument: u32) -> Answer {
        self.block_count = argument;
        OK
    }

    pub(super) fn announce(&mut self, argument: u32) -> Answer {
        self.announced = argument & 0x7f_ffff;
        OK
    }

    pub(super) fn expect_application(&mut self) -> Answer {
        self.application = true;
        OK
    }

    pub(super) fn set_crc(&mut self, argument: u32) -> Answer {
        self.crc_on = argument & 1 != 0;
        OK
    }

    pub(super) fn send_sd_status(&mut self) -> Answer {
        self.send_register(&{ self.registers.sd_status });
        Answer::R2
    }

    pub(super) fn send_register(&mut self, bytes: &[u8]) -> Answer {
        self.start_register(bytes);
        OK
    }

    /// CMD12.
    pub(super) fn stop(&mut self, end: Ps) -> Answer {
        match self.data {
            Data::None => {}
            Data::Receiving(_) => self.end_write(end),
            Data::Sending(sending) => {
                self.data = Data::None;
                if let Out::Byte(byte) = sending.next(end, &self.buffer[..]) {
                    return Answer::R1AfterData(byte);
                }
            }
        }
        OK
    }

    pub(super) fn read(&mut self, argument: u32, multiple: bool, end: Ps) -> Answer {
        let left = std::mem::take(&mut self.block_count);
        match self.place(argument, self.block_bytes) {
            Ok(place) => self.start_read(place, multiple, if multiple { left } else { 1 }, end),
            Err(errors) => return Answer::R1(errors),
        }
        OK
    }

    pub(super) fn write(&mut self, argument: u32, multiple: bool, end: Ps) -> Answer {
        let (announced, left) = (std::mem::take(&mut self.announced), std::mem::take(&mut self.block_count));
        if self.block_bytes != BLOCK_BYTES as u16 {
            return Answer::R1(r1::PARAMETER);
        }
        match self.place(argument, BLOCK_BYTES as u16) {
            Ok(place) => {
                let receiving = Receiving::new((place / BLOCK_BYTES as u64) as u32, multiple, left);
                self.start_write(receiving, if announced > 0 { announced } else { left }, end);
            }
            Err(errors) => return Answer::R1(errors),
        }
        OK
    }

    /// The address of a transfer in bytes, or the error bits.
    fn place(&mut self, argument: u32, bytes: u16) -> Result<u64, u8> {
        let unit = if self.parameters.capacity.is_high() { BLOCK_BYTES as u64 } else { 1 };
        let place = u64::from(argument) * unit;
        if place + u64::from(bytes) > self.parameters.capacity.bytes() {
            self.notes.add(Note::PastTheEnd { blocks: self.blocks() });
            return Err(r1::PARAMETER);
        }
        // A block must not cross a physical block's boundary (READ_BLK_MISALIGN and WRITE_BLK_MISALIGN are 0).
        if place % BLOCK_BYTES as u64 + u64::from(bytes) > BLOCK_BYTES as u64 {
            return Err(r1::ADDRESS);
        }
        Ok(place)
    }

    /// The block that an erase command addresses: bits below a block are ignored.
    fn erase_block(&mut self, argument: u32) -> Result<u32, Answer> {
        let block = if self.parameters.capacity.is_high() { argument } else { argument / BLOCK_BYTES as u32 };
        if block >= self.blocks() {
            self.erase = Erase::None;
            self.notes.add(Note::PastTheEnd { blocks: self.blocks() });
            return Err(Answer::R1(r1::PARAMETER));
        }
        Ok(block)
    }

    pub(super) fn erase_from(&mut self, argument: u32) -> Answer {
        match self.erase_block(argument) {
            Ok(block) => self.erase = Erase::From(block),
            Err(answer) => return answer,
        }
        OK
    }

    pub(super) fn erase_to(&mut self, argument: u32) -> Answer {
        let Erase::From(first) = self.erase else {
            self.erase = Erase::None;
            return Answer::R1(r1::ERASE_SEQUENCE);
        };
        match self.erase_block(argument) {
            Ok(last) => self.erase = Erase::Range(first, last),
            Err(answer) => return answer,
        }
        OK
    }

    pub(super) fn erase(&mut self, end: Ps) -> Answer {
        let Erase::Range(first, last) = std::mem::replace(&mut self.erase, Erase::None) else {
            return Answer::R1(r1::ERASE_SEQUENCE);
        };
        if first > last {
            self.status |= r2::ERASE_PARAMETER;
            return Answer::R1(r1::PARAMETER);
        }
        if self.parameters.write_protect {
            self.status |= r2::ERASE_SKIP;
            self.notes.add(Note::WriteProtected);
            return OK;
        }
        if let Err(error) = self.medium.erase(first, last) {
            self.status |= r2::ERROR;
            self.note_image("erased", &error);
        }
        self.totals.sectors_erased += u64::from(last - first) + 1;
        let until = self.translation.erase(first, last, end);
        self.occupy(&ERASE_BUSY, until, end);
        OK
    }
}

//! The execution of each command at its end.

use super::*;

/// An erase sequence in progress: 4.3.5.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, state::State, state::Fresh, Polled)]
pub(super) enum Erase {
    #[default]
    None,
    From(u32),
    Range(u32, u32),
}

/// What the host has set since CMD0, and what the card has to report.
#[derive(Clone, Copy, Debug, state::State, Polled)]
pub(super) struct Session {
    pub crc_on: bool,
    /// True after CMD8: the host supports high capacity cards.
    pub knows_high_capacity: bool,
    pub block_bytes: u16,
    /// ACMD23's number of blocks, or 0.
    pub announced: u32,
    /// CMD23's number of blocks, or 0.
    pub block_count: u32,
    pub erase: Erase,
    /// The second byte of R2: errors that have not been reported.
    pub status: u8,
}

impl Default for Session {
    fn default() -> Session {
        let (erase, block_bytes) = (Erase::None, BLOCK_BYTES as u16);
        Session {
            crc_on: false,
            knows_high_capacity: false,
            block_bytes,
            announced: 0,
            block_count: 0,
            erase,
            status: 0,
        }
    }
}

impl Card {
    pub(super) fn go_idle(&mut self, end: Ps) -> Answer {
        self.state = State::Idle;
        self.data = Data::None;
        self.session = Session::default();
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
        let knows = self.session.knows_high_capacity && argument & 1 << 30 != 0;
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
        self.session.knows_high_capacity = true;
        let accepted = if argument >> 8 & 0xf == 1 { 0x100 } else { 0 };
        Ok(Response::Long(accepted | argument & 0xff))
    }

    pub(super) fn set_block_length(&mut self, argument: u32) -> Answer {
        if !(1..=BLOCK_BYTES as u32).contains(&argument) {
            return Err(r1::PARAMETER);
        }
        if !self.parameters.capacity.is_high() {
            self.session.block_bytes = argument as u16;
        }
        OK
    }

    pub(super) fn set_block_count(&mut self, argument: u32) -> Answer {
        self.session.block_count = argument;
        OK
    }

    pub(super) fn announce(&mut self, argument: u32) -> Answer {
        self.session.announced = argument & 0x7f_ffff;
        OK
    }

    pub(super) fn expect_application(&mut self) -> Answer {
        self.application = true;
        OK
    }

    pub(super) fn set_crc(&mut self, argument: u32) -> Answer {
        self.session.crc_on = argument & 1 != 0;
        OK
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
                    return Ok(Response::R1AfterData(byte));
                }
            }
        }
        OK
    }

    pub(super) fn read(&mut self, argument: u32, multiple: bool, end: Ps) -> Answer {
        let left = std::mem::take(&mut self.session.block_count);
        let place = self.place(argument, self.session.block_bytes)?;
        self.load_block(place, multiple, if multiple { left } else { 1 }, false, end);
        OK
    }

    pub(super) fn write(&mut self, argument: u32, multiple: bool, end: Ps) -> Answer {
        let (announced, left) =
            (std::mem::take(&mut self.session.announced), std::mem::take(&mut self.session.block_count));
        if self.session.block_bytes != BLOCK_BYTES as u16 {
            return Err(r1::PARAMETER);
        }
        let place = self.place(argument, BLOCK_BYTES as u16)?;
        let receiving = Receiving::new((place / BLOCK_BYTES as u64) as u32, multiple, left);
        self.start_write(receiving, if announced > 0 { announced } else { left }, end);
        OK
    }

    /// The address of a transfer in bytes, or the error bits.
    fn place(&mut self, argument: u32, bytes: u16) -> Result<u64, u8> {
        let unit = if self.parameters.capacity.is_high() { BLOCK_BYTES as u64 } else { 1 };
        let place = u64::from(argument) * unit;
        if place + u64::from(bytes) > self.parameters.capacity.bytes() {
            self.note_past_the_end();
            return Err(r1::PARAMETER);
        }
        // A block must not cross a physical block's boundary (READ_BLK_MISALIGN and WRITE_BLK_MISALIGN are 0).
        if place % BLOCK_BYTES as u64 + u64::from(bytes) > BLOCK_BYTES as u64 {
            return Err(r1::ADDRESS);
        }
        Ok(place)
    }

    /// The block that an erase command addresses: bits below a block are ignored.
    fn erase_block(&mut self, argument: u32) -> Result<u32, u8> {
        let block = if self.parameters.capacity.is_high() { argument } else { argument / BLOCK_BYTES as u32 };
        if block >= self.blocks() {
            self.session.erase = Erase::None;
            self.note_past_the_end();
            return Err(r1::PARAMETER);
        }
        Ok(block)
    }

    pub(super) fn erase_from(&mut self, argument: u32) -> Answer {
        self.session.erase = Erase::From(self.erase_block(argument)?);
        OK
    }

    pub(super) fn erase_to(&mut self, argument: u32) -> Answer {
        let Erase::From(first) = self.session.erase else {
            self.session.erase = Erase::None;
            return Err(r1::ERASE_SEQUENCE);
        };
        self.session.erase = Erase::Range(first, self.erase_block(argument)?);
        OK
    }

    pub(super) fn erase(&mut self, end: Ps) -> Answer {
        let Erase::Range(first, last) = std::mem::replace(&mut self.session.erase, Erase::None) else {
            return Err(r1::ERASE_SEQUENCE);
        };
        if first > last {
            self.session.status |= r2::ERASE_PARAMETER;
            return Err(r1::PARAMETER);
        }
        if self.parameters.write_protect {
            self.session.status |= r2::ERASE_SKIP;
            self.note_write_protected();
            return OK;
        }
        if let Err(error) = self.medium.erase(first, last) {
            self.session.status |= r2::ERROR;
            self.note_image("erased", &error);
        }
        self.totals.sectors_erased += u64::from(last - first) + 1;
        let until = self.translation.erase(first, last, end);
        self.occupy(&ERASE_BUSY, until, end);
        OK
    }
}

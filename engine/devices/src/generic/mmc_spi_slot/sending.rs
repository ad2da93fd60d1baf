//! Data to the host: registers and blocks, with their tokens: 7.2.3 and 7.3.3.

use super::*;

/// Before each block.
pub const START_BLOCK: u8 = 0xfe;

/// Data error tokens: 7.3.3.3.
pub mod error_token {
    /// A general error.
    pub const ERROR: u8 = 0x01;
    /// Data could not be corrected.
    pub const ECC_FAILED: u8 = 0x04;
    /// Past the last block.
    pub const OUT_OF_RANGE: u8 = 0x08;

    /// The bit of R2 for the same error.
    pub const fn in_r2(token: u8) -> u8 {
        match token {
            ERROR => super::r2::ERROR,
            ECC_FAILED => super::r2::ECC_FAILED,
            _ => super::r2::OUT_OF_RANGE,
        }
    }
}

/// The source of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh, Polled)]
pub(super) enum Source {
    Register,
    /// The contents, from this byte on.
    Medium {
        place: u64,
        multiple: bool,
        left: u32,
    },
}

/// Data that are being sent: bytes before the token, then the token, `len` bytes and their CRC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh, Polled)]
pub(super) struct Sending {
    pub(super) source: Source,
    pub(super) gap: u8,
    /// The earliest time of the token.
    pub(super) ready: Ps,
    /// The number of bytes that have been sent, including the token.
    pub(super) at: u16,
    pub(super) len: u16,
    /// The error token that is sent instead of data.
    pub(super) error: Option<u8>,
}

impl Sending {
    /// The output in a byte that begins at `start`.
    pub(super) fn next(&self, start: Ps, buffer: &[u8]) -> Out {
        match self.at {
            _ if self.gap > 0 || start < self.ready || self.is_over() => Out::Level,
            0 => Out::Byte(self.error.unwrap_or(START_BLOCK)),
            at => Out::Byte(buffer[usize::from(at) - 1]),
        }
    }

    /// A byte begins at `start`.
    pub(super) fn advance(&mut self, start: Ps) {
        if self.gap > 0 {
            self.gap -= 1;
        } else if start >= self.ready {
            self.at += 1;
        }
    }

    /// True if all bytes have been sent.
    pub(super) fn is_over(&self) -> bool {
        if self.error.is_some() { self.at > 0 } else { self.at == self.len + 3 }
    }

    /// True if some bytes have been sent, but not all data.
    fn is_cut(&self) -> bool {
        self.at <= self.len && self.error.is_none()
    }
}

impl Card {
    /// Sends a register's bytes after the response, after the same number of bytes as before a response.
    pub(super) fn start_register(&mut self, bytes: &[u8]) {
        self.fill(bytes.len(), |_, into| into.copy_from_slice(bytes));
        let (gap, len) = (self.parameters.response_bytes, bytes.len() as u16);
        self.data = Data::Sending(Sending { source: Source::Register, gap, ready: Ps::ZERO, at: 0, len, error: None });
    }

    /// A whole block, or its error token, has been sent.
    pub(super) fn next_block(&mut self, end: Ps) {
        let Data::Sending(sending) = self.data else { return };
        let Source::Medium { place, multiple, left } = sending.source else {
            self.data = Data::None;
            return;
        };
        self.totals.blocks_read += u64::from(sending.error.is_none());
        match (multiple, sending.error) {
            (false, _) | (true, None) if left == 1 => self.data = Data::None,
            (_, None) => self.load_block(place + u64::from(sending.len), multiple, left.saturating_sub(1), true, end),
            // The host has to stop it.
            (_, Some(_)) => self.data = Data::Sending(Sending { at: 0, ready: Ps::MAX, ..sending }),
        }
        // Errors are cleared when they are read, in whichever response (SanDisk, SD Card Product Manual, Clearing
        // Status Bits).
        self.session.status &= !sending.error.map_or(0, error_token::in_r2);
    }

    /// Sends blocks from byte `place` on: `left` of them, or without end if that is 0.
    pub(super) fn load_block(&mut self, place: u64, multiple: bool, left: u32, sequential: bool, end: Ps) {
        let len = self.session.block_bytes;
        let error = self.block_error(place, len);
        let ready = match error {
            None => self.translation.read((place / BLOCK_BYTES as u64) as u32, sequential, end),
            Some(_) => end,
        };
        let detail = Detail::Address { address: place.min(u64::from(u32::MAX)) as u32, bytes: u32::from(len) };
        self.scope.span(&READ_ACCESS, end, ready, detail);
        let source = Source::Medium { place, multiple, left };
        self.data = Data::Sending(Sending { source, gap: 1, ready, at: 0, len, error });
    }

    /// Reads a block into the buffer; returns the error token if that fails.
    fn block_error(&mut self, place: u64, len: u16) -> Option<u8> {
        if place + u64::from(len) > self.parameters.capacity.bytes() {
            self.session.status |= r2::OUT_OF_RANGE;
            return Some(error_token::OUT_OF_RANGE);
        }
        if place % BLOCK_BYTES as u64 + u64::from(len) > BLOCK_BYTES as u64 {
            return Some(error_token::ERROR);
        }
        if self.parameters.faults.read_error_block == Some(self.totals.blocks_read + 1) {
            self.session.status |= r2::ECC_FAILED;
            self.notes.add("as the board asked: a block could not be read".to_owned());
            return Some(error_token::ECC_FAILED);
        }
        let mut result = Ok(());
        self.fill(usize::from(len), |medium, into| result = medium.read(place, into));
        let error = result.err()?;
        self.session.status |= r2::ERROR;
        self.note_image("read", &error);
        Some(error_token::ERROR)
    }

    /// Puts `len` bytes into the buffer, and their CRC after them.
    fn fill(&mut self, len: usize, copy: impl FnOnce(&super::Medium, &mut [u8])) {
        copy(&self.medium, &mut self.buffer[..len]);
        let crc = crc16(&self.buffer[..len]);
        self.buffer[len..len + 2].copy_from_slice(&crc.to_be_bytes());
    }

    /// Chip select went inactive: transfers in progress are abandoned. The busy signal continues, as does a multiple
    /// write between its blocks.
    pub(super) fn abandon(&mut self, now: Ps) {
        self.line = ByteLine::default();
        self.command_bytes = 0;
        self.reply = super::Reply::default();
        match self.data {
            Data::None => {}
            Data::Sending(sending) => {
                if sending.is_cut() {
                    self.notes.add("chip select rose within a read: abandoned".to_owned());
                }
                self.data = Data::None;
            }
            Data::Receiving(receiving) => self.abandon_write(receiving, now),
        }
    }
}

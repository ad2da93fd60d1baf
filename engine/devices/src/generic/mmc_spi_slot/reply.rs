//! Responses: 7.3.2.

use super::wire::Out;
use engine::state::State;

/// Bits of R1.
pub mod r1 {
    /// In idle state: the initialisation has not ended.
    pub const IDLE: u8 = 0x01;
    /// An erase sequence was cleared by a command out of it.
    pub const ERASE_RESET: u8 = 0x02;
    /// Illegal command.
    pub const ILLEGAL: u8 = 0x04;
    /// The command's CRC7 is wrong.
    pub const CRC: u8 = 0x08;
    /// Error in the sequence of erase commands.
    pub const ERASE_SEQUENCE: u8 = 0x10;
    /// A misaligned address.
    pub const ADDRESS: u8 = 0x20;
    /// An argument outside the allowed range.
    pub const PARAMETER: u8 = 0x40;
}

/// Bits of R2's second byte.
pub mod r2 {
    /// An erase left out protected blocks.
    pub const ERASE_SKIP: u8 = 0x02;
    /// A general error.
    pub const ERROR: u8 = 0x04;
    /// Data could not be corrected.
    pub const ECC_FAILED: u8 = 0x10;
    /// A write to a protected block.
    pub const PROTECTION_VIOLATION: u8 = 0x20;
    /// An invalid selection of blocks for an erase.
    pub const ERASE_PARAMETER: u8 = 0x40;
    /// Past the last block.
    pub const OUT_OF_RANGE: u8 = 0x80;
}

/// The answer to a command. Errors are bits of R1; its idle bit is added.
pub(super) type Answer = Result<Response, u8>;

/// A response without errors.
pub(super) enum Response {
    R1,
    /// R1 of a command that interrupted data: the next data byte is sent before it.
    R1AfterData(u8),
    /// R3 and R7.
    Long(u32),
    R2,
}

/// R1 without an error.
pub(super) const OK: Answer = Ok(Response::R1);

/// A response that is being sent: NCR, then its bytes.
#[derive(Clone, Copy, Debug, Default, State)]
pub(super) struct Reply {
    /// Bytes before the response.
    gap: u8,
    /// The first of them after CMD12: the rest of the data.
    stuff: Option<u8>,
    bytes: [u8; 5],
    len: u8,
    at: u8,
}

impl Reply {
    pub(super) fn new(gap: u8, bytes: &[u8]) -> Reply {
        let mut reply = Reply { gap, len: bytes.len() as u8, ..Reply::default() };
        reply.bytes[..bytes.len()].copy_from_slice(bytes);
        reply
    }

    pub(super) fn after_data(gap: u8, stuff: u8, r1: u8) -> Reply {
        Reply { stuff: Some(stuff), ..Reply::new(gap, &[r1]) }
    }

    /// One byte high: NBR, the byte between the stop token and the busy signal.
    pub(super) fn pause() -> Reply {
        Reply::new(0, &[0xff])
    }

    pub(super) fn is_pending(&self) -> bool {
        self.at < self.len
    }

    pub(super) fn next(&self) -> Out {
        match self.stuff {
            _ if self.gap == 0 => Out::Byte(self.bytes[usize::from(self.at)]),
            Some(byte) => Out::Byte(byte),
            None => Out::Level,
        }
    }

    pub(super) fn advance(&mut self) {
        self.stuff = None;
        if self.gap > 0 {
            self.gap -= 1;
        } else {
            self.at += 1;
        }
    }
}

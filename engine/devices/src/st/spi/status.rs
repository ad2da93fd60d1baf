//! The state of the interface, by its registers: the direction of words, and SPI_SR.

use super::registers::*;
use super::shifter::Direction;
use super::{FIFO_BYTES, Spi};
use crate::registers::flag;

impl Spi {
    /// True if the interface sends or receives.
    pub(super) fn is_on(&self) -> bool {
        self.registers[CR1] & (CR1_SPE | CR1_MSTR) == CR1_SPE | CR1_MSTR
    }

    /// The direction of words (RM0090 and RM0432, "Configuring the SPI for half-duplex communication" and following).
    pub(super) fn direction(&self) -> Direction {
        let is = |bit: u32| self.registers.has(CR1, bit);
        match (is(CR1_BIDIMODE), is(CR1_BIDIOE), is(CR1_RXONLY)) {
            (true, true, _) => Direction::Out,
            (true, false, _) => Direction::InOnMosi,
            (false, _, true) => Direction::In,
            (false, _, false) => Direction::Both,
        }
    }

    /// True if SCK runs without data to send.
    pub(super) fn clocks_by_itself(&self) -> bool {
        self.is_on() && self.direction().clocks_by_itself()
    }

    /// SPI_SR.BSY. In the interface without FIFOs it reads 0 while receiving on one data line (RM0090, "BSY flag").
    pub(super) fn is_busy(&self) -> bool {
        let is_shown = self.has_fifos || self.direction() != Direction::InOnMosi;
        is_shown && (self.shifter.is_busy() || self.is_on() && !self.transmit.is_empty())
    }

    pub(super) fn status(&self) -> u32 {
        // If the frame size is changed while frames wait, the level must not exceed the number of frames.
        let bytes = |frames: usize| (frames * self.frame_bytes()).min(FIFO_BYTES);
        let (waiting, come) = (bytes(self.transmit.len()), bytes(self.receive.len()));
        let busy = flag(SR_BSY, self.is_busy());
        if !self.has_fifos {
            return self.flags | busy | flag(SR_TXE, waiting == 0) | flag(SR_RXNE, come > 0);
        }
        let threshold = if self.registers.has(CR2, CR2_FRXTH) { 1 } else { 2 };
        let level = [0, 1, 2, 2, 3][come];
        let filled = [0, 1, 2, 3, 3][waiting];
        let flags = flag(SR_TXE, waiting <= FIFO_BYTES / 2) | flag(SR_RXNE, come >= threshold);
        self.flags | busy | flags | level << SR_FRLVL.trailing_zeros() | filled << SR_FTLVL.trailing_zeros()
    }
}

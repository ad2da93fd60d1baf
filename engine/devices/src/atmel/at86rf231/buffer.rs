//! The frame buffer: 128 bytes that SPI and the radio share (datasheet, section 9.3).
//!
//! A frame that is to be sent begins with its PHR at address 0. For a received frame, the PSDU begins there, and its
//! LQI follows; the PHR is kept separately, and a frame buffer read returns it first.

use super::BUFFER_BYTES;
use engine::state::State;

/// The buffer, and the kind of its contents.
#[derive(Clone, Debug, State)]
pub struct FrameBuffer {
    bytes: [u8; BUFFER_BYTES],
    /// PHR of the received frame, if the buffer holds one.
    received: Option<u8>,
}

/// Empty, as after reset. The contents of a real buffer are unknown then; this buffer holds zeroes.
impl Default for FrameBuffer {
    fn default() -> FrameBuffer {
        FrameBuffer { bytes: [0; BUFFER_BYTES], received: None }
    }
}

impl FrameBuffer {
    /// The byte at an SRAM address; the address counter wraps.
    pub fn get(&self, address: u8) -> u8 {
        self.bytes[usize::from(address) % BUFFER_BYTES]
    }

    /// Stores a byte at an SRAM address.
    pub fn set(&mut self, address: u8, byte: u8) {
        self.bytes[usize::from(address) % BUFFER_BYTES] = byte;
    }

    /// A frame buffer write begins, or a frame from the air: sets the kind of the contents from now on.
    pub fn take_over(&mut self, received: Option<u8>) {
        self.received = received;
    }

    /// The PHR that a frame buffer read returns: the length of the frame.
    pub fn phr(&self) -> u8 {
        self.received.unwrap_or(self.bytes[0])
    }

    /// Byte `index` after the PHR of a frame buffer read: the PSDU, and then the LQI of a received frame. A frame that
    /// was written has no LQI, and the chip returns the byte after it; beyond the end of the buffer it returns 0.
    pub fn frame(&self, index: usize) -> u8 {
        let address = if self.received.is_some() { index } else { index + 1 };
        self.bytes.get(address).copied().filter(|_| index <= usize::from(self.phr() & 0x7f)).unwrap_or(0)
    }
}

//! Frames that are sent (datasheet, sections 7.1.4.4, 8.1 and 8.2.3).

use super::*;

/// A bit of the frame control field's first byte.
const ACK_REQUEST: u8 = 1 << 5;

/// The stage of the frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, state::State, state::Fresh)]
enum Stage {
    /// The PLL settles and the amplifier starts.
    Starting,
    /// Preamble, SFD and PHR.
    Header,
    Psdu,
}

/// A frame being sent.
#[derive(Clone, Debug, state::State, state::Fresh)]
pub(super) struct Transmission {
    stage: Stage,
    /// The first symbol.
    pub begin: Ps,
    /// The first symbol of the PSDU.
    psdu: Ps,
    byte: Ps,
    /// Bytes of the PSDU, known once the PHR is sent.
    length: u8,
    /// The PSDU that was sent.
    sent: Vec<u8>,
}

impl Transmission {
    /// The time of its next stage.
    pub(super) fn next(&self) -> Ps {
        match self.stage {
            Stage::Starting => self.begin,
            Stage::Header => self.psdu,
            Stage::Psdu => self.psdu.saturating_add(Ps(self.byte.0 * u64::from(self.length))),
        }
    }

    /// Bytes of the PSDU that have begun by `now`.
    fn begun(&self, now: Ps) -> usize {
        if self.stage != Stage::Psdu || now < self.psdu {
            return 0;
        }
        let bytes = (now - self.psdu).0 / self.byte.0 + 1;
        bytes.min(u64::from(self.length)) as usize
    }

    /// Takes the bytes that are sent by `now` from the buffer.
    pub(super) fn flow(&mut self, now: Ps, buffer: &FrameBuffer) {
        let begun = self.begun(now);
        while self.sent.len() < begun {
            // The PHR is at address 0.
            self.sent.push(buffer.get(self.sent.len() as u8 + 1));
        }
    }

    /// True if the byte of the PSDU with this index was written too late.
    pub(super) fn has_passed(&self, index: usize) -> bool {
        index < self.sent.len()
    }
}

impl Transceiver {
    /// TX_START or SLP_TR in PLL_ON.
    pub(super) fn start_transmission(&mut self) {
        if self.transmission.is_some() {
            return;
        }
        let begin = self.now.max(self.locked_at).saturating_add(self.times.transmit_start);
        self.transmission = Some(Transmission {
            stage: Stage::Starting,
            begin,
            psdu: begin.saturating_add(Ps::from_us(BYTE_US * (HEADER_BYTES + PHR_BYTES))),
            byte: air::byte_time(self.data_rate()),
            length: 0,
            sent: Vec::new(),
        });
    }

    /// The frame's next stage is due.
    pub(super) fn go_on_sending(&mut self) {
        let Some(frame) = &mut self.transmission else { return };
        match frame.stage {
            Stage::Starting => {
                frame.stage = Stage::Header;
                if self.transaction.is_none() {
                    self.state = State::BUSY_TX;
                }
            }
            Stage::Header => {
                frame.stage = Stage::Psdu;
                frame.length = self.buffer.get(0) & 0x7f;
            }
            Stage::Psdu => self.end_transmission(),
        }
    }

    fn end_transmission(&mut self) {
        let Some(mut frame) = self.transmission.take() else { return };
        frame.flow(self.now, &self.buffer);
        let (register, bits) = self.part.auto_crc();
        if self.registers.has(register, bits) {
            fcs::close(&mut frame.sent);
        }
        self.totals.frames_sent += 1;
        self.totals.frames_sent_invalid += u64::from(!fcs::is_valid(&frame.sent));
        self.totals.bytes_sent += frame.sent.len() as u64;
        let asks = frame.sent.first().is_some_and(|control| control & ACK_REQUEST != 0);
        self.last_sent = frame.sent;
        // PLL_ON is entered at once; a frame can be received or sent when the PLL has settled.
        self.locked_at = self.now.saturating_add(self.times.transmit_end);
        if self.transaction.is_some() {
            return self.await_acknowledgement(asks);
        }
        self.raise(IRQ_STATUS_TRX_END);
        self.arrive_busy_end(State::PLL_ON);
    }
}

//! Frames from the peer (datasheet, sections 7.1.2.5, 8.1, 8.2.4, 11.3 and 11.8).
//!
//! The peer sends its first frame an interval after the receiver has started to listen, and each further frame an
//! interval after the start of the previous one, or at its end if that is later; with a header it also waits for its
//! acknowledgement. A frame that begins while the receiver is not listening is missed; the peer then waits until it
//! listens again. The first byte of a payload is the frame's number modulo 256, each further byte is one more; the last
//! two bytes of three or more are the check sequence. Preamble, SFD and PHR have 250 kbit/s at any data rate (section
//! 11.3.2).

use super::*;

/// The best link quality: the peer is near.
const LQI: u8 = 0xff;

/// The stage of the frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, state::State, state::Fresh)]
enum Stage {
    /// Preamble and SFD.
    Synchronisation,
    Phr,
    Psdu,
}

/// A frame being received.
#[derive(Clone, Debug, state::State, state::Fresh)]
pub(super) struct Reception {
    stage: Stage,
    begin: Ps,
    /// The time of a byte of the PSDU.
    byte: Ps,
    psdu: Vec<u8>,
    /// The number of bytes of the PSDU in the buffer.
    stored: usize,
}

impl Reception {
    fn at_byte(&self, bytes: u64) -> Ps {
        self.begin.saturating_add(Ps::from_us(BYTE_US * bytes))
    }

    /// The time of its next stage.
    pub(super) fn next(&self) -> Ps {
        match self.stage {
            Stage::Synchronisation => self.at_byte(HEADER_BYTES),
            Stage::Phr => self.psdu_begins(),
            Stage::Psdu => self.end(),
        }
    }

    fn psdu_begins(&self) -> Ps {
        self.at_byte(HEADER_BYTES + PHR_BYTES)
    }

    fn end(&self) -> Ps {
        self.psdu_begins().saturating_add(Ps(self.byte.0 * self.psdu.len() as u64))
    }

    pub(super) fn psdu(&self) -> &[u8] {
        &self.psdu
    }

    /// Stores the bytes that were received by `now`.
    pub(super) fn flow(&mut self, now: Ps, buffer: &mut FrameBuffer) {
        if self.stage != Stage::Psdu {
            return;
        }
        let since = now.saturating_sub(self.psdu_begins());
        let come = (since.0 / self.byte.0).min(self.psdu.len() as u64) as usize;
        for (address, byte) in self.psdu.iter().enumerate().take(come).skip(self.stored) {
            buffer.set(address as u8, *byte);
        }
        self.stored = come;
    }

    /// True if the byte of the PSDU with this index is read too early.
    pub(super) fn lacks(&self, index: usize) -> bool {
        self.stage == Stage::Psdu && index >= self.stored
    }
}

impl Transceiver {
    /// The receiver starts to listen: a waiting peer sends its next frame an interval later.
    pub(super) fn listen(&mut self) {
        if !self.peer.lengths.is_empty() && self.next_frame_at.is_none() {
            self.next_frame_at = Some(self.now.saturating_add(self.peer.interval));
        }
    }

    /// The peer begins a frame.
    pub(super) fn begin_frame(&mut self) {
        let number = self.totals.frames_on_air;
        let turn = number % (self.peer.lengths.len() as u64).max(1);
        let Some(length) = self.peer.lengths.get(turn as usize).copied() else {
            self.next_frame_at = None;
            return;
        };
        self.totals.frames_on_air += 1;
        let frame = Reception {
            stage: Stage::Synchronisation,
            begin: self.now,
            byte: air::byte_time(self.peer.rate),
            psdu: air::psdu(length, number, self.peer.destination),
            stored: 0,
        };
        self.air_until = frame.end();
        let answered = TURNAROUND.saturating_add(air::ack_time(self.peer.rate));
        let waits = self.peer.destination.map_or(Ps::ZERO, |_| answered);
        let next = self.now.saturating_add(self.peer.interval).max(frame.end().saturating_add(waits));
        let listens = self.is_listening();
        self.next_frame_at = listens.then_some(next);
        if listens && self.hears() {
            self.reception = Some(frame);
        } else {
            self.totals.frames_missed += 1;
        }
    }

    fn is_listening(&self) -> bool {
        matches!(self.state, State::RX_ON | State::RX_AACK_ON) && self.transition.is_none()
    }

    #[cold]
    fn note_other_rate(&mut self) {
        let note = "frames come at another data rate than OQPSK_DATA_RATE says: none is received";
        self.notes.add(note.to_owned());
    }

    /// False if a listening receiver takes no frame: its buffer is protected, or reception is disabled.
    fn hears(&mut self) -> bool {
        let other_rate = self.data_rate() != self.peer.rate;
        if other_rate {
            self.note_other_rate();
        }
        let locked = self.now >= self.locked_at;
        locked && !other_rate && !self.protected && !self.registers.has(RX_SYN, RX_SYN_RX_PDT_DIS)
    }

    /// The frame's next stage is due.
    pub(super) fn go_on_receiving(&mut self) {
        let Some(frame) = &mut self.reception else { return };
        match frame.stage {
            Stage::Synchronisation => {
                frame.stage = Stage::Phr;
                self.state = if self.state == State::RX_AACK_ON { State::BUSY_RX_AACK } else { State::BUSY_RX };
                self.set_energy(self.now);
            }
            Stage::Phr => {
                frame.stage = Stage::Psdu;
                self.buffer.take_over(Some(frame.psdu.len() as u8));
                if self.state == State::BUSY_RX_AACK {
                    let (psdu, begins, byte) = (frame.psdu.clone(), frame.psdu_begins(), frame.byte);
                    self.expect_address(&psdu, begins, byte);
                }
                self.raise(IRQ_STATUS_RX_START);
            }
            Stage::Psdu => self.end_reception(),
        }
    }

    fn end_reception(&mut self) {
        let Some(mut frame) = self.reception.take() else { return };
        frame.flow(self.now, &mut self.buffer);
        // At other rates the energy is stored in place of the link quality (AVR2022, high data rates).
        let quality = if self.peer.rate == 0 { LQI } else { self.registers[PHY_ED_LEVEL] as u8 };
        self.buffer.set(frame.psdu.len() as u8, quality);
        // A frame of one byte has no check sequence, and does not change the result of the last check.
        if frame.psdu.len() >= 2 {
            let valid = fcs::is_valid(&frame.psdu);
            self.registers.put(PHY_RSSI, PHY_RSSI_RX_CRC_VALID, valid);
            self.protected = valid && self.registers.has(TRX_CTRL_2, TRX_CTRL_2_RX_SAFE_MODE);
        }
        if self.state == State::BUSY_RX_AACK {
            return self.end_reception_in_aack(&frame);
        }
        self.count_received(frame.psdu.len());
        self.arrive_busy_end(State::RX_ON);
    }

    /// A frame has been received, and raises TRX_END.
    pub(super) fn count_received(&mut self, bytes: usize) {
        self.totals.frames_received += 1;
        self.totals.bytes_received += bytes as u64;
        self.raise(IRQ_STATUS_TRX_END);
    }
}

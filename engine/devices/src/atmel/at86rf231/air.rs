//! The other traffic on the air: the peer, and other stations' frames.
//!
//! Other stations use the channel for the first `busy` of every interval, from the start of the run on. Only
//! measurements detect them: they neither send to the chip nor corrupt its frames.

use super::*;

/// Acknowledgements begin 12 symbols after the frame: aTurnaroundTime (IEEE 802.15.4-2006, 6.4.1).
pub const TURNAROUND: Ps = Ps::from_us(12 * SYMBOL_US);
/// Bytes of an acknowledgement's PSDU (7.2.2.3).
pub const ACK_BYTES: u64 = 5;
/// The peer's header (frame control, sequence number, PAN, destination, source), and a check sequence after it.
pub const LEAST_ADDRESSED_BYTES: u8 = 9 + 2;
/// The peer's own short address.
const PEER_ADDRESS: u16 = 0x0001;
/// PHY_ED_LEVEL for a frame of the peer, which is near: -91 dBm + 60.
const PEER_ED_LEVEL: u8 = 60;

/// The peer.
#[derive(Clone, Debug, Default)]
pub struct Peer {
    /// Lengths of the frames' PSDUs in bytes, used in rotation; if empty, the peer is silent.
    pub lengths: Vec<u8>,
    /// From the start of a frame, or of listening, to the start of the next frame.
    pub interval: Ps,
    /// Data rate of its frames, as a value of OQPSK_DATA_RATE.
    pub rate: u8,
    /// PAN and short address to which its frames go; `None`: they have no header.
    pub destination: Option<(u16, u16)>,
    /// The number of frames that it acknowledges, of 100 that request it.
    pub acknowledged_pct: u64,
}

/// Other stations.
#[derive(Clone, Copy, Debug, Default)]
pub struct Others {
    /// The time for which they use the channel in each interval.
    pub busy: Ps,
    /// The interval; 0 for no other stations.
    pub interval: Ps,
    /// Their energy, as a value of PHY_ED_LEVEL.
    pub ed_level: u8,
}

impl Others {
    /// True if they use the channel at any time from `from` to `to`.
    pub fn are_heard(&self, from: Ps, to: Ps) -> bool {
        if self.interval == Ps::ZERO || self.busy == Ps::ZERO {
            return false;
        }
        let phase = from.0 % self.interval.0;
        phase < self.busy.0 || phase.saturating_add(to.saturating_sub(from).0) > self.interval.0
    }
}

/// The time of a byte of a PSDU at OQPSK_DATA_RATE `rate`.
pub fn byte_time(rate: u8) -> Ps {
    Ps(Ps::from_us(BYTE_US).0 >> rate)
}

/// The time of an acknowledgement on the air, from its preamble on: the header has 250 kbit/s at any rate.
pub fn ack_time(rate: u8) -> Ps {
    Ps::from_us(BYTE_US * (super::HEADER_BYTES + super::PHR_BYTES)).saturating_add(Ps(byte_time(rate).0 * ACK_BYTES))
}

/// The peer's frame number `number`: its bytes count up from that number, and the check sequence ends it. With a
/// destination it is a data frame with that header, which requests an acknowledgement.
pub fn psdu(length: u8, number: u64, destination: Option<(u16, u16)>) -> Vec<u8> {
    let mut bytes: Vec<u8> = (0..length).map(|index| (number as u8).wrapping_add(index)).collect();
    if let Some((pan, short)) = destination.filter(|_| length >= LEAST_ADDRESSED_BYTES) {
        bytes[..3].copy_from_slice(&[0x61, 0x88, number as u8]);
        for (place, word) in [(3, pan), (5, short), (7, PEER_ADDRESS)] {
            bytes[place..place + 2].copy_from_slice(&word.to_le_bytes());
        }
    }
    fcs::close(&mut bytes);
    bytes
}

impl Transceiver {
    /// The energy on the channel from `from` until now, as PHY_ED_LEVEL shows it, and true if there was a carrier.
    pub(super) fn heard_since(&self, from: Ps) -> (u8, bool) {
        let peer = self.reception.is_some() || self.air_until > from;
        let others = self.others.are_heard(from, self.now);
        let level = |heard: bool, level: u8| if heard { level } else { 0 };
        (level(peer, PEER_ED_LEVEL).max(level(others, self.others.ed_level)), peer || others)
    }

    /// A clear channel assessment from `from` until now, by CCA_MODE and CCA_ED_THRES (section 8.5): true if the
    /// channel is busy.
    pub(super) fn is_busy_since(&self, from: Ps) -> bool {
        let (level, carrier) = self.heard_since(from);
        // The threshold is RSSI_BASE_VAL + 2 dB each step, PHY_ED_LEVEL counts dB from RSSI_BASE_VAL on.
        let energy = u32::from(level) > 2 * self.registers.field(CCA_THRES, CCA_THRES_CCA_ED_THRES);
        match self.registers.field(PHY_CC_CCA, PHY_CC_CCA_CCA_MODE) {
            0 if self.part == Part::At86rf231 => carrier || energy,
            0 | 1 => energy,
            2 => carrier,
            _ => carrier && energy,
        }
    }

    /// True if the peer acknowledges the frame that was sent: `acknowledged_pct` of 100, evenly distributed.
    pub(super) fn peer_acknowledges(&mut self) -> bool {
        let before = self.totals.asked * self.peer.acknowledged_pct / 100;
        self.totals.asked += 1;
        let after = self.totals.asked * self.peer.acknowledged_pct / 100;
        after > before && self.peer.rate == self.data_rate()
    }
}

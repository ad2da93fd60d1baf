//! RX_AACK: reception with address filter and automatic acknowledgement (datasheet, section 7.2.3; IEEE 802.15.4-2006,
//! 7.5.6.2, the third level).

use super::*;

const BEACON: u8 = 0;
const DATA: u8 = 1;
const ACKNOWLEDGEMENT: u8 = 2;
const COMMAND: u8 = 3;
/// The MAC command that requests pending data.
const DATA_REQUEST: u8 = 4;
const BROADCAST: [u8; 2] = [0xff; 2];
/// An acknowledgement that is being sent.
#[derive(Clone, Debug, state::State, state::Fresh)]
pub(super) struct Acknowledgement {
    /// Its end.
    pub until: Ps,
    psdu: Vec<u8>,
}

/// A MAC header.
#[derive(Clone, Copy, Debug)]
struct Header<'a> {
    kind: u8,
    asks: bool,
    version: u8,
    sequence: u8,
    destination: Option<(&'a [u8], &'a [u8])>,
    source_pan: Option<&'a [u8]>,
    bytes: usize,
}

/// The header of a PSDU; `None` if the frame is too short for its control field, or has a reserved addressing mode.
fn header(psdu: &[u8]) -> Option<Header<'_>> {
    let payload = psdu.get(..psdu.len().checked_sub(2)?)?;
    let [low, high, sequence, ..] = *payload else { return None };
    let mut at = 3;
    let mut take = |bytes: usize| {
        at += bytes;
        payload.get(at - bytes..at)
    };
    let address_bytes = |mode: u8| [Some(0), None, Some(2), Some(8)][usize::from(mode & 3)];
    let (to, from) = (address_bytes(high >> 2)?, address_bytes(high >> 6)?);
    let destination = if to == 0 { None } else { Some((take(2)?, take(to)?)) };
    let compressed = low & 0x40 != 0 && destination.is_some();
    let source_pan = match from {
        0 => None,
        _ if compressed => destination.map(|(pan, _)| pan),
        _ => Some(take(2)?),
    };
    take(from)?;
    let (kind, asks, version) = (low & 7, low & 0x20 != 0, high >> 4 & 3);
    Some(Header { kind, asks, version, sequence, destination, source_pan, bytes: at })
}

/// The handling of a frame in RX_AACK.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Verdict {
    /// True if it is indicated.
    pub accepted: bool,
    /// True if it gets an acknowledgement.
    pub acknowledged: bool,
    /// Bytes up to the end of its addresses.
    pub header_bytes: usize,
}

/// The address filter.
pub(super) fn verdict(registers: &Registers, psdu: &[u8]) -> Verdict {
    let Some(header) = header(psdu) else {
        return Verdict { accepted: false, acknowledged: false, header_bytes: 0 };
    };
    let is_reserved = header.kind > COMMAND;
    let filtered = !is_reserved || registers.has(XAH_CTRL_1, XAH_CTRL_1_AACK_FLTR_RES_FT);
    let known =
        header.kind != ACKNOWLEDGEMENT && (!is_reserved || registers.has(XAH_CTRL_1, XAH_CTRL_1_AACK_UPLD_RES_FT));
    let accepted = known && (!filtered || is_version(registers, header) && is_ours(registers, header));
    let broadcast = header.destination.is_some_and(|(_, address)| address == BROADCAST);
    let answers = matches!(header.kind, DATA | COMMAND) || is_reserved && filtered;
    let silent = registers.has(CSMA_SEED_1, CSMA_SEED_1_AACK_DIS_ACK);
    Verdict {
        accepted,
        acknowledged: accepted && header.asks && answers && !broadcast && !silent,
        header_bytes: header.bytes,
    }
}

/// AACK_FVN_MODE: the greatest version; 3: any.
fn is_version(registers: &Registers, header: Header) -> bool {
    let greatest = registers.field(CSMA_SEED_1, CSMA_SEED_1_AACK_FVN_MODE);
    greatest == 3 || u32::from(header.version) <= greatest
}

fn is_ours(registers: &Registers, header: Header) -> bool {
    let own = |first: u32, bytes: usize| -> Vec<u8> {
        (first..).take(bytes).map(|address| registers[address] as u8).collect()
    };
    let pan = own(PAN_ID, 2);
    if header.kind == BEACON {
        return header.source_pan.is_some_and(|source| source == pan) || pan == BROADCAST;
    }
    match header.destination {
        Some((to, address)) => {
            let first = if address.len() == 2 { SHORT_ADDR } else { IEEE_ADDR };
            (to == pan || to == BROADCAST) && (address == own(first, address.len()) || address == BROADCAST)
        }
        // Only a source address: for the coordinator of its PAN.
        None => {
            registers.has(CSMA_SEED_1, CSMA_SEED_1_AACK_I_AM_COORD)
                && header.source_pan.is_some_and(|source| source == pan)
        }
    }
}

impl Transceiver {
    /// The length of a frame is known: if its addresses match, AMI is raised when they have been received.
    pub(super) fn expect_address(&mut self, psdu: &[u8], begins: Ps, byte: Ps) {
        let verdict = verdict(&self.registers, psdu);
        if verdict.accepted {
            let at =
                begins.saturating_add(Ps(byte.0 * verdict.header_bytes as u64)).saturating_add(self.times.interrupt);
            self.pending.push((at, IRQ_STATUS_AMI));
        }
    }

    /// A frame has been received.
    pub(super) fn end_reception_in_aack(&mut self, frame: &Reception) {
        let psdu = frame.psdu();
        let verdict = verdict(&self.registers, psdu);
        let promiscuous = self.registers.has(XAH_CTRL_1, XAH_CTRL_1_AACK_PROM_MODE);
        let indicated = promiscuous || verdict.accepted && fcs::is_valid(psdu);
        if !indicated {
            self.totals.frames_filtered += 1;
            self.protected = false;
            return self.arrive_busy_end(State::RX_AACK_ON);
        }
        self.count_received(psdu.len());
        if !verdict.acknowledged {
            self.set_trac(Trac::Success);
            return self.arrive_busy_end(State::RX_AACK_ON);
        }
        let short = self.registers.has(XAH_CTRL_1, XAH_CTRL_1_AACK_ACK_TIME);
        // AACK_ACK_TIME: two symbols (section 11.3).
        let wait = if short { Ps::from_us(BYTE_US) } else { TURNAROUND };
        let until = self.now.saturating_add(wait).saturating_add(air::ack_time(self.data_rate()));
        self.acknowledgement = Some(Acknowledgement { until, psdu: self.acknowledgement_of(psdu) });
    }

    pub(super) fn acknowledgement_of(&self, psdu: &[u8]) -> Vec<u8> {
        let header = header(psdu);
        let asks_for_data = header.is_some_and(|header| {
            header.kind == COMMAND && psdu.get(header.bytes).is_some_and(|id| *id == DATA_REQUEST)
        });
        let pending = asks_for_data && self.registers.has(CSMA_SEED_1, CSMA_SEED_1_AACK_SET_PD);
        let sequence = header.map_or(0, |header| header.sequence);
        let mut ack = vec![ACKNOWLEDGEMENT | u8::from(pending) << 4, 0, sequence, 0, 0];
        fcs::close(&mut ack);
        ack
    }

    /// The acknowledgement has been sent.
    pub(super) fn end_acknowledgement(&mut self) {
        let Some(ack) = self.acknowledgement.take() else { return };
        self.totals.acknowledgements_sent += 1;
        self.last_sent = ack.psdu;
        self.set_trac(Trac::Success);
        self.locked_at = self.now.saturating_add(self.times.transmit_end);
        self.arrive_busy_end(State::RX_AACK_ON);
    }
}

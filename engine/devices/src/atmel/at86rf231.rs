//! Atmel AT86RF231 and AT86RF230, transceivers for IEEE 802.15.4 at 2.4 GHz (`atmel,at86rf231`, `atmel,at86rf230`), as
//! a chip on SPI. Documents: Atmel 8111, "AT86RF231, Low Power 2.4 GHz Transceiver", from which sections and tables are
//! cited; for the AT86RF230 Atmel 5131.
//!
//! Modelled: all accesses of section 6.2 with PHY_STATUS; all registers with their reset values and access types; the
//! states of the Basic and the Extended Operating Mode, each transition with its typical time, SLP_TR, /RST and the
//! supply; interrupts with their latency, mask and polarity; transmission with automatic FCS at 250 to 2000 kbit/s;
//! TX_ARET with CSMA-CA, acknowledgement and retries; reception from a peer on the air at the same rates with FCS
//! check, LQI, RX_SAFE_MODE, RX_PDT_DIS; RX_AACK with the address filter and automatic acknowledgement; frame buffer
//! access conflicts (TRX_UR); energy and clear channel measurements; the timing limits t1 to t9 of the wire, with a
//! note for the first violation of each. MISO is undriven for t1, and shows the previous bit for t2.
//!
//! The AT86RF230 is the older part: no dynamic buffer protection, no data rates above 250 kbit/s, no FORCE_PLL_ON, no
//! interrupts for addresses and measurements, fewer registers, slower starts.
//!
//! A frame of one byte is received and sent like any other: it is the shortest that the chip supports (section 9.3.2),
//! though IEEE 802.15.4 has no frame below 5 bytes. It has no FCS, so RX_CRC_VALID does not change, and RX_SAFE_MODE
//! does not protect it.
//!
//! Not modelled: RX_ON_NOCLK (the chip stays in its state, with a note), slotted operation (an acknowledgement is sent
//! without waiting for a slot), pending data at the peer (SUCCESS_DATA_PENDING does not occur), CLKM, AES (SRAM
//! addresses wrap at 128), antenna diversity, the frame buffer empty indicator, the battery monitor (the voltage is
//! always sufficient), random numbers, power and distance (the peer is near), AMI in the Basic Operating Mode, and a
//! peer with another data rate than the chip's (the frame is missed, with a note). The interrupt TRX_UR is exact from
//! the first byte on, while the chip may raise it wrongly in the first 64 us.

// `wire` is the wire, `access` its bytes, `states` the states, `radio` the chip's own operations, `transmitting` and
// `receiving` are frames, `csma` is TX_ARET, `aack` RX_AACK, `air` the other traffic on the air, `part` the two parts,
// `buffer` the frame buffer, `registers` the map, `limits` the limits of the wire, `fcs` the check sequence.

mod aack;
mod access;
mod air;
mod buffer;
mod csma;
mod fcs;
mod limits;
mod parameters;
mod part;
mod radio;
mod receiving;
mod registers;
mod states;
#[cfg(test)]
mod tests;
mod transmitting;
mod wire;

use aack::Acknowledgement;
use access::Access;
use air::{Others, Peer, TURNAROUND};
use buffer::FrameBuffer;
use csma::{BackOffs, Trac, Transaction};
use limits::Checker;
use parameters::{Parameters, Times};
pub use part::Part;
use radio::Measured;
use receiving::Reception;
use registers::*;
use states::{Command, State, Transition};
use transmitting::Transmission;
use wire::Line;

use crate::prelude::*;
use engine::activity::Scope;
use engine::state;
use engine::wire::notes::Notes;
use engine::wire::spi::{Burst, ControlPin, Edges, NextClock, SpiTarget};

/// For the list of models.
pub const MODEL: Model =
    Model::spi_chip(&["atmel,at86rf230", "atmel,at86rf231"], from_node).with_activities(radio::ACTIVITIES);

/// A chip as its node describes it, on a controller's wire.
fn from_node(reader: &mut NodeReader) -> Box<dyn SpiTarget> {
    let is_230 = |compatible: &&str| *compatible == MODEL.compatibles[0];
    let known = reader.node.compatibles().into_iter().find(|compatible| MODEL.compatibles.contains(compatible));
    let part = if known.as_ref().is_some_and(is_230) { Part::At86rf230 } else { Part::At86rf231 };
    Box::new(Transceiver::new(part, parameters::from_node(reader)))
}

/// Size of the frame buffer.
const BUFFER_BYTES: usize = 128;
/// The longest PSDU.
const MAX_PSDU_BYTES: usize = 127;
/// A symbol at 2.4 GHz (IEEE 802.15.4-2006, 6.5).
const SYMBOL_US: u64 = 16;
/// A byte at 250 kbit/s: two symbols.
const BYTE_US: u64 = 2 * SYMBOL_US;
/// Preamble and SFD.
const HEADER_BYTES: u64 = 5;
/// The frame's length.
const PHR_BYTES: u64 = 1;

/// Totals since the start of the run.
#[derive(Clone, Copy, Debug, Default, state::State, Counters)]
struct Totals {
    register_reads: u64,
    register_writes: u64,
    frame_buffer_reads: u64,
    /// Those of them that ended after the PHR.
    frame_buffer_length_reads: u64,
    frame_buffer_writes: u64,
    sram_accesses: u64,
    frames_received: u64,
    frames_missed: u64,
    /// Frames that RX_AACK did not indicate.
    frames_filtered: u64,
    acknowledgements_sent: u64,
    frames_sent: u64,
    /// Those of them with a wrong FCS, or without one.
    frames_sent_invalid: u64,
    frames_repeated: u64,
    frames_unacknowledged: u64,
    /// Assessments that found the channel busy.
    channel_busy: u64,
    /// Transactions that failed for that reason.
    channel_access_failures: u64,
    bytes_received: u64,
    bytes_sent: u64,
    underruns: u64,
    bytes: u64,
    spi_clocks: u64,
    /// Frames that the peer began.
    #[counter(skip)]
    frames_on_air: u64,
    /// Sent frames whose header requests an acknowledgement.
    #[counter(skip)]
    asked: u64,
}

/// The chip.
#[derive(Clone, Debug, Default, state::State)]
pub struct Transceiver {
    #[state(skip)]
    part: Part,
    #[state(skip)]
    times: Times,
    #[state(skip)]
    peer: Peer,
    #[state(skip)]
    others: Others,
    notes: Notes<String>,
    totals: Totals,
    /// The time up to which all events have been carried out.
    now: Ps,
    /// Counts all changes: two states with the same number are the same.
    version: u64,

    line: Line,
    access: Access,
    checker: Checker,
    /// The edges of the next burst.
    edges: Option<Edges>,

    in_reset: bool,
    /// True if TRX_OFF is entered from a reset.
    resetting: bool,
    sleep_pin: bool,
    sleep_pin_rose_at: Ps,

    registers: Registers,
    buffer: FrameBuffer,
    /// True if RX_SAFE_MODE protects the buffer from the next frame.
    protected: bool,
    state: State,
    transition: Option<Transition>,
    /// The state that a command requested in a BUSY state.
    stored: Option<State>,
    /// The time at which the PLL has locked.
    locked_at: Ps,
    /// Interrupts that have not reached the pin: the time, and the bits.
    pending: Vec<(Ps, u32)>,
    measurement: Option<(Ps, Measured)>,
    cca_done: bool,
    cca_clear: bool,
    transmission: Option<Transmission>,
    transaction: Option<Transaction>,
    back_offs: BackOffs,
    /// The PSDU that was sent last.
    last_sent: Vec<u8>,
    reception: Option<Reception>,
    acknowledgement: Option<Acknowledgement>,
    /// The end of the peer's last frame, whether it was received or not.
    air_until: Ps,
    next_frame_at: Option<Ps>,
    scope: Scope,
}

impl Transceiver {
    /// A chip; its supply comes on at time 0.
    fn new(part: Part, parameters: Parameters) -> Transceiver {
        let Parameters { times, limits, peer, others } = parameters;
        let checker = Checker::new(limits);
        let mut chip = Transceiver { part, times, peer, others, checker, ..Transceiver::default() };
        chip.power_up();
        chip
    }

    /// An access to the chip at `now`.
    fn touch(&mut self, now: Ps) {
        self.pass_to(now);
        self.version += 1;
    }
}

impl SpiTarget for Transceiver {
    fn observe(&mut self, scope: Scope) {
        scope.declare(radio::ACTIVITIES);
        self.scope = scope;
        self.record_activities();
    }

    fn select(&mut self, now: Ps) {
        self.touch(now);
        self.begin_frame_on_wire(now);
    }

    fn shift(&mut self, burst: Burst, end: Ps) -> u32 {
        self.version += 1;
        let received = self.pass(burst, end);
        self.record_activities();
        received
    }

    fn deselect(&mut self, now: Ps) {
        self.touch(now);
        if self.line.selected {
            self.end_frame_on_wire(now);
            self.record_activities();
        }
    }

    fn edges(&mut self, edges: Edges) {
        self.edges = Some(edges);
    }

    fn falls_first(&mut self, now: Ps) {
        self.touch(now);
        if self.line.selected {
            self.begin_ahead();
        }
    }

    fn control(&mut self, pin: ControlPin, level: bool, now: Ps) {
        self.touch(now);
        match pin {
            ControlPin::PowerOff if level && self.checker.powered => self.power_down(),
            ControlPin::PowerOff if !level && !self.checker.powered => self.power_up(),
            ControlPin::Reset if level == self.in_reset => {
                self.in_reset = !level;
                match level {
                    _ if !self.checker.powered => {}
                    false => self.hold_reset(),
                    true => self.release_reset(),
                }
            }
            ControlPin::Sleep if level != self.sleep_pin => self.sleep_pin(level),
            ControlPin::PowerOff | ControlPin::Reset | ControlPin::Sleep => {}
        }
        self.record_activities();
    }

    fn advance(&mut self, now: Ps) {
        self.pass_to(now);
    }

    fn wakes_at(&self) -> Option<Ps> {
        self.next_at()
    }

    fn interrupt(&self) -> Option<bool> {
        Some(self.irq_pin())
    }

    fn next_clock(&self) -> NextClock {
        self.shown(None)
    }

    fn next_clock_at(&self, now: Ps) -> NextClock {
        self.shown(Some(now))
    }

    fn take_notes(&mut self) -> Vec<String> {
        self.notes.take()
    }

    fn counters(&self) -> Vec<(&'static str, u64)> {
        let mut counters = self.totals.counters();
        counters.push(("timing_violations", self.checker.violations));
        counters
    }
}

/// The number of changes stands for all state, which then need not be listed: a frame's bytes, queues, the air.
impl Polled for Transceiver {
    fn polled(&mut self, poll: &mut Poll) -> bool {
        poll.state(self.version);
        if let Some(at) = self.next_at() {
            poll.until(at);
        }
        !self.line.selected
    }
}

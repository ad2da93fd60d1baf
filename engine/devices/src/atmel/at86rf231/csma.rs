//! TX_ARET: transmission with automatic CSMA-CA, acknowledgement and retries (datasheet, section 7.2.4; IEEE
//! 802.15.4-2006, 7.5.1.4 and 7.5.6.4).
//!
//! A transaction is a back-off of 0 to 2^BE - 1 periods, a clear channel assessment of eight symbols, the frame, and
//! the wait for an acknowledgement if its header requests one. After a busy channel there is another attempt with a
//! longer back-off; a frame without acknowledgement is sent again. The random number generator for back-offs is a shift
//! register of 11 bits (x^11 + x^9 + 1): the chip's own is not documented. CSMA_SEED sets it when it is written, in a
//! reset, and when the chip leaves SLEEP.

use super::*;

/// aUnitBackoffPeriod.
const BACK_OFF: Ps = Ps::from_us(20 * SYMBOL_US);
/// A clear channel assessment.
const ASSESSMENT: Ps = Ps::from_us(8 * SYMBOL_US);
/// macAckWaitDuration.
const ACK_WAIT: Ps = Ps::from_us(54 * SYMBOL_US);
/// MAX_CSMA_RETRIES: the frame is sent at once, and only once.
const AT_ONCE: u8 = 7;
/// aMaxBE of the AT86RF230's standard, which has no register for it (IEEE 802.15.4-2003, 7.4.2).
const AT86RF230_MAX_BE: u8 = 5;

/// TRAC_STATUS (table 7-12).
#[derive(Clone, Copy, Debug, PartialEq, Eq, state::State, state::Fresh)]
pub(super) enum Trac {
    Success = 0,
    ChannelAccessFailure = 3,
    NoAck = 5,
    Invalid = 7,
}

/// The event for which a transaction waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, state::State, state::Fresh)]
enum Step {
    BackOff,
    Assessment,
    /// The end of the frame, which has its own time.
    Frame,
    /// The end of an acknowledgement.
    Acknowledgement,
    /// The end of the wait for an acknowledgement that does not come.
    Silence,
}

/// A transaction.
#[derive(Clone, Copy, Debug, state::State, state::Fresh)]
pub(super) struct Transaction {
    step: Step,
    until: Ps,
    /// The number of busy assessments.
    busy: u8,
    exponent: u8,
    /// The number of retries.
    repeats: u8,
}

impl Transaction {
    /// The time of its next step.
    pub(super) fn next(&self) -> Option<Ps> {
        (self.step != Step::Frame).then_some(self.until)
    }
}

/// The random number generator for back-offs.
#[derive(Clone, Copy, Debug, Default, state::State)]
pub(super) struct BackOffs(u16);

impl BackOffs {
    /// Seeded from the registers. A shift register of zeroes would stay zero: 0 counts as 1.
    pub(super) fn new(registers: &Registers) -> BackOffs {
        let seed = registers[CSMA_SEED_0] | registers.field(CSMA_SEED_1, CSMA_SEED_1_CSMA_SEED) << 8;
        BackOffs(seed.max(1) as u16)
    }

    /// A random number of back-off periods, of `exponent` bits.
    fn draw(&mut self, exponent: u8) -> u64 {
        (0..exponent).fold(0, |drawn, _| {
            let bit = (self.0 >> 10 ^ self.0 >> 8) & 1;
            self.0 = (self.0 << 1 | bit) & 0x7ff;
            drawn << 1 | u64::from(bit)
        })
    }
}

impl Transceiver {
    /// TX_START or SLP_TR in TX_ARET_ON.
    pub(super) fn start_transaction(&mut self) {
        self.state = State::BUSY_TX_ARET;
        self.set_trac(Trac::Invalid);
        let start = Transaction { step: Step::BackOff, until: self.now, busy: 0, exponent: 0, repeats: 0 };
        self.attempt(start);
    }

    /// The frame's first attempt, or a retry.
    fn attempt(&mut self, transaction: Transaction) {
        let first = Transaction { busy: 0, exponent: self.exponents().0, ..transaction };
        if self.max_csma_retries() == AT_ONCE {
            self.send_in(first);
        } else {
            self.back_off(first);
        }
    }

    fn back_off(&mut self, transaction: Transaction) {
        let periods = self.back_offs.draw(transaction.exponent);
        let until = self.now.saturating_add(Ps(BACK_OFF.0 * periods));
        self.transaction = Some(Transaction { step: Step::BackOff, until, ..transaction });
    }

    fn send_in(&mut self, transaction: Transaction) {
        self.transaction = Some(Transaction { step: Step::Frame, ..transaction });
        self.start_transmission();
    }

    /// The transaction's next step is due.
    pub(super) fn go_on_transacting(&mut self) {
        let Some(transaction) = self.transaction else { return };
        match transaction.step {
            Step::BackOff => {
                let until = self.now.saturating_add(ASSESSMENT);
                self.transaction = Some(Transaction { step: Step::Assessment, until, ..transaction });
            }
            Step::Assessment if self.is_busy_since(self.now.saturating_sub(ASSESSMENT)) => self.defer(transaction),
            Step::Assessment => self.send_in(transaction),
            Step::Frame => {}
            Step::Acknowledgement => self.end_transaction(Trac::Success),
            Step::Silence => self.repeat(transaction),
        }
    }

    fn defer(&mut self, transaction: Transaction) {
        self.totals.channel_busy += 1;
        let busy = transaction.busy + 1;
        if busy > self.max_csma_retries() {
            self.end_transaction(Trac::ChannelAccessFailure);
        } else {
            let (least, most) = self.exponents();
            let exponent = (transaction.exponent + 1).min(most.max(least));
            self.back_off(Transaction { busy, exponent, ..transaction });
        }
    }

    /// The frame has been sent.
    pub(super) fn await_acknowledgement(&mut self, asks: bool) {
        let Some(transaction) = self.transaction else { return };
        if !asks {
            return self.end_transaction(Trac::Success);
        }
        let (step, span) = if self.peer_acknowledges() {
            let ack = air::ack_time(self.data_rate());
            (Step::Acknowledgement, TURNAROUND.saturating_add(ack))
        } else {
            (Step::Silence, ACK_WAIT)
        };
        self.transaction = Some(Transaction { step, until: self.now.saturating_add(span), ..transaction });
    }

    fn repeat(&mut self, transaction: Transaction) {
        let allowed = if self.max_csma_retries() == AT_ONCE {
            0
        } else {
            self.registers.field(XAH_CTRL_0, XAH_CTRL_0_MAX_FRAME_RETRIES) as u8
        };
        if transaction.repeats >= allowed {
            self.end_transaction(Trac::NoAck);
        } else {
            self.totals.frames_repeated += 1;
            self.attempt(Transaction { repeats: transaction.repeats + 1, ..transaction });
        }
    }

    fn end_transaction(&mut self, trac: Trac) {
        self.transaction = None;
        match trac {
            Trac::Success => {}
            Trac::ChannelAccessFailure => self.totals.channel_access_failures += 1,
            _ => self.totals.frames_unacknowledged += 1,
        }
        self.set_trac(trac);
        self.raise(IRQ_STATUS_TRX_END);
        self.arrive_busy_end(State::TX_ARET_ON);
    }

    pub(super) fn set_trac(&mut self, trac: Trac) {
        let command = self.registers.field(TRX_STATE, TRX_STATE_TRX_CMD);
        self.registers.set(TRX_STATE, (trac as u32) << 5 | command);
    }

    fn max_csma_retries(&self) -> u8 {
        self.registers.field(XAH_CTRL_0, XAH_CTRL_0_MAX_CSMA_RETRIES) as u8
    }

    /// MIN_BE and MAX_BE.
    fn exponents(&self) -> (u8, u8) {
        match self.part {
            Part::At86rf230 => ((self.registers[CSMA_SEED_1] >> 6) as u8, AT86RF230_MAX_BE),
            Part::At86rf231 => {
                let both = self.registers[CSMA_BE];
                (field(both, CSMA_BE_MIN_BE) as u8, field(both, CSMA_BE_MAX_BE) as u8)
            }
        }
    }
}

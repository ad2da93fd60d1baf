//! The chip's own operations, in the order of time: transitions, interrupts, frames on the air, measurements.

use super::*;
use engine::activity::{Activity, Kind};

static CHANGING: Activity = Activity::new(Kind::Busy, "state transition", "from a command, or a pin, to the new state");
static SENDING: Activity =
    Activity::new(Kind::Other, "frame sent", "from TX_START or SLP_TR, with the PLL's settling, to the frame's end");
static RECEIVING: Activity = Activity::new(Kind::Other, "frame received", "from the preamble to the frame's end");
static ACKNOWLEDGING: Activity = Activity::new(Kind::Other, "acknowledgement", "that the chip sends by itself");
static MEASURING: Activity = Activity::new(Kind::Conversion, "measurement", "of energy, or of a clear channel");
/// The activities that the chip records.
pub(super) const ACTIVITIES: &[&Activity] = &[&CHANGING, &SENDING, &RECEIVING, &ACKNOWLEDGING, &MEASURING];

/// An operation that is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Due {
    Transition(State),
    Transmission,
    Transaction,
    Reception,
    Acknowledgement,
    FrameBegins,
    Measurement,
    Interrupt,
}

/// The quantity that is being measured.
#[derive(Clone, Copy, Debug, PartialEq, Eq, state::State, state::Fresh)]
pub(super) enum Measured {
    Energy,
    ClearChannel,
}

impl Transceiver {
    /// The next due operation, and its time. Operations at the same time are in the order of this list.
    fn next(&self) -> Option<(Ps, Due)> {
        let transition = self.transition.map(|transition| (transition.at, Due::Transition(transition.to)));
        let transmission = self.transmission.as_ref().map(|frame| (frame.next(), Due::Transmission));
        let transaction = self.transaction.and_then(|transaction| transaction.next()).map(|at| (at, Due::Transaction));
        let reception = self.reception.as_ref().map(|frame| (frame.next(), Due::Reception));
        let acknowledgement = self.acknowledgement.as_ref().map(|ack| (ack.until, Due::Acknowledgement));
        let begins = self.next_frame_at.map(|at| (at, Due::FrameBegins));
        let measurement = self.measurement.map(|(at, _)| (at, Due::Measurement));
        let interrupt = self.pending.iter().map(|(at, _)| *at).min().map(|at| (at, Due::Interrupt));
        let all = [transition, transmission, transaction, reception, acknowledgement, begins, measurement, interrupt];
        all.into_iter().flatten().min_by_key(|(at, _)| *at)
    }

    /// The time of the next operation.
    pub(super) fn next_at(&self) -> Option<Ps> {
        self.next().map(|(at, _)| at)
    }

    /// Carries out all operations that are due by `now`. A time in the past changes nothing.
    pub(super) fn pass_to(&mut self, now: Ps) {
        while let Some((at, due)) = self.next().filter(|(at, _)| *at <= now) {
            self.now = self.now.max(at);
            self.version += 1;
            self.happen(due);
            self.record_activities();
        }
        self.now = self.now.max(now);
        self.flow();
    }

    /// Records the chip's present activities.
    pub(super) fn record_activities(&self) {
        if self.scope.is_on() {
            let levels = [
                (&CHANGING, self.transition.is_some()),
                (&SENDING, self.transmission.is_some()),
                (&RECEIVING, self.reception.is_some()),
                (&ACKNOWLEDGING, self.acknowledgement.is_some()),
                (&MEASURING, self.measurement.is_some()),
            ];
            levels.into_iter().for_each(|(what, on)| self.scope.level(what, on, self.now));
        }
    }

    fn happen(&mut self, due: Due) {
        match due {
            Due::Transition(to) => self.arrive(to),
            Due::Transmission => self.go_on_sending(),
            Due::Transaction => self.go_on_transacting(),
            Due::Reception => self.go_on_receiving(),
            Due::Acknowledgement => self.end_acknowledgement(),
            Due::FrameBegins => self.begin_frame(),
            Due::Measurement => self.end_measurement(),
            Due::Interrupt => {
                let now = self.now;
                let due = self.pending.iter().filter(|(at, _)| *at <= now).fold(0, |bits, (_, bit)| bits | bit);
                self.pending.retain(|(at, _)| *at > now);
                self.flag(due);
            }
        }
    }

    /// Moves bytes between the buffer and the air as time passes.
    fn flow(&mut self) {
        let now = self.now;
        if let Some(frame) = &mut self.transmission {
            frame.flow(now, &self.buffer);
        }
        if let Some(frame) = &mut self.reception {
            frame.flow(now, &mut self.buffer);
        }
    }

    /// Stops the radio: frames in progress are lost.
    pub(super) fn stop_radio(&mut self) {
        self.transmission = None;
        self.transaction = None;
        self.acknowledgement = None;
        if self.reception.take().is_some() {
            self.totals.frames_missed += 1;
        }
        self.protected = false;
        self.stored = None;
    }

    /// Raises an interrupt: it is visible after the latency.
    pub(super) fn raise(&mut self, bits: u32) {
        self.pending.push((self.now.saturating_add(self.times.interrupt), bits));
    }

    /// Makes interrupts visible. Masked ones are dropped unless IRQ_MASK_MODE is set (section 6.6).
    pub(super) fn flag(&mut self, bits: u32) {
        let keeps_all = self.registers.has(TRX_CTRL_1, TRX_CTRL_1_IRQ_MASK_MODE);
        let kept = if keeps_all { 0xff } else { self.registers[IRQ_MASK] };
        self.registers.put(IRQ_STATUS, bits & self.part.interrupts() & kept, true);
    }

    /// OQPSK_DATA_RATE: 250 kbit/s times two to its power (table 11-9).
    pub(super) fn data_rate(&self) -> u8 {
        self.registers.field(TRX_CTRL_2, TRX_CTRL_2_OQPSK_DATA_RATE) as u8
    }

    /// The level of the interrupt pin.
    pub(super) fn irq_pin(&self) -> bool {
        let active = self.registers.has(IRQ_STATUS, self.registers[IRQ_MASK]);
        self.checker.powered && active != self.registers.has(TRX_CTRL_1, TRX_CTRL_1_IRQ_POLARITY)
    }

    /// Starts a measurement: only a listening receiver can make it (sections 8.4 and 8.5).
    pub(super) fn measure(&mut self, what: Measured) {
        if what == Measured::ClearChannel {
            self.cca_done = false;
        }
        if matches!(self.state, State::RX_ON | State::BUSY_RX) && self.measurement.is_none() {
            self.measurement = Some((self.now.saturating_add(self.times.measurement), what));
        }
    }

    fn end_measurement(&mut self) {
        let Some((_, what)) = self.measurement.take() else { return };
        let begun = self.now.saturating_sub(self.times.measurement);
        match what {
            Measured::Energy => self.set_energy(begun),
            Measured::ClearChannel => (self.cca_done, self.cca_clear) = (true, !self.is_busy_since(begun)),
        }
        self.raise(IRQ_STATUS_AWAKE_CCA_ED);
    }

    /// Sets the energy on the channel since `from`, as PHY_ED_LEVEL shows it.
    pub(super) fn set_energy(&mut self, from: Ps) {
        let (level, _) = self.heard_since(from);
        self.registers.set(PHY_ED_LEVEL, level.into());
    }
}

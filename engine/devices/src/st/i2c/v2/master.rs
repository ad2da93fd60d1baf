//! The master: the sequence on the bus, step by step. A step is at an edge of a line, or where the master detects one;
//! its cycle of the kernel clock is known as soon as the previous step is done.

use super::registers::*;
use super::timing::Timing;
use super::{I2c, V2};
use crate::prelude::*;
use crate::st::i2c::master;

/// The master's position in a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State, Fresh, Polled)]
pub enum Step {
    /// No frame is under way.
    #[default]
    Idle,
    /// SDA falls: START.
    Start,
    /// The START is detected.
    StartSeen,
    /// SCL falls after START.
    FirstFall,
    /// SCL falls after the eighth clock of a byte.
    Bits,
    /// That falling edge is detected.
    BitsSeen,
    /// SCL falls after the acknowledge clock.
    Acknowledge,
    /// That falling edge is detected.
    AcknowledgeSeen,
    /// The firmware has ended the hold of SCL: a byte follows.
    Byte,
    /// The firmware has ended the hold of SCL: a repeated START follows.
    Restart,
    /// The firmware has ended the hold of SCL: a STOP follows.
    StopOrdered,
    /// SCL rises before a repeated START.
    RestartRise,
    /// SCL rises before a STOP.
    StopRise,
    /// SDA rises: STOP.
    Stop,
    /// The STOP is detected.
    StopSeen,
    /// SCL is held low until I2C_TXDR is written.
    HeldForData,
    /// SCL is held low until I2C_RXDR is read.
    HeldForRead,
    /// SCL is held low until I2C_CR2 is written: TC or TCR is set.
    HeldForCommand,
}

impl master::Step for Step {
    fn waits(self) -> bool {
        matches!(self, Step::Idle | Step::HeldForData | Step::HeldForRead | Step::HeldForCommand)
    }
}

impl I2c<V2> {
    pub(super) fn timing(&self) -> Timing {
        let (timingr, cr1) = (self.registers[TIMINGR], self.registers[CR1]);
        Timing::of(timingr, cr1, self.params.clock.rate(), &self.own.delays)
    }

    /// True if I2C_TXDR is needed: one of the remaining bytes may be on the bus.
    pub(super) fn needs_data(&self) -> bool {
        let on_the_bus =
            matches!(self.master.step, Step::Bits | Step::BitsSeen | Step::Acknowledge | Step::AcknowledgeSeen);
        self.master.in_data && !self.master.reads && self.own.left > u32::from(on_the_bus)
    }

    /// True if any of `bits` is set in I2C_CR2.
    fn is_set(&self, bits: u32) -> bool {
        self.registers.has(CR2, bits)
    }

    pub(super) fn take_step(&mut self, at: u64, timing: Timing) {
        match self.master.step {
            Step::Start => self.start(at, timing),
            Step::StartSeen => {
                self.own.is_busy = true;
                self.master.go(Step::FirstFall, at + timing.high);
            }
            Step::FirstFall => self.address(at, timing),
            Step::Bits => self.end_bits(at, timing),
            Step::BitsSeen => self.bits_seen(at, timing),
            Step::Acknowledge => self.end_acknowledge(at, timing),
            Step::AcknowledgeSeen => self.acknowledge_seen(at, timing),
            Step::Byte => self.next_byte(at, timing),
            Step::Restart => self.restart(at, timing),
            Step::StopOrdered => self.begin_stop(at, timing),
            Step::RestartRise => self.rise(true, timing.sync2 + timing.low, Step::Start),
            Step::StopRise => self.rise(false, timing.rise_to_fall(), Step::Stop),
            Step::Stop => self.stop(at, timing),
            Step::StopSeen => self.stop_seen(at),
            Step::Idle | Step::HeldForData | Step::HeldForRead | Step::HeldForCommand => {}
        }
    }

    /// I2C_CR2.START was set while no frame is under way, or during a frame that has ended now: START follows when the
    /// bus has been free for tBUF.
    pub(super) fn order_start(&mut self, arrival: u64) {
        let free = self.master.free_since.map_or(0, |since| since + self.timing().low);
        self.master.go(Step::Start, arrival.max(free));
    }

    fn start(&mut self, at: u64, timing: Timing) {
        self.start_frame(at);
        self.master.go(Step::StartSeen, at + timing.sync1);
    }

    /// SCL falls after START: the address follows.
    fn address(&mut self, at: u64, timing: Timing) {
        self.signals.scl(self.time(at), false);
        let (reads, command) = (self.is_set(CR2_RD_WRN), self.registers[CR2]);
        let address = (command >> 1) as u8 & 0x7f;
        // No chip has the header of a 10-bit address.
        let address = if command & CR2_ADD10 == 0 { address } else { 0x78 | (command >> 8) as u8 & 3 };
        let master = &mut self.master;
        (master.fell, master.is_address, master.reads, master.in_data) = (at, true, reads, false);
        master.byte = address << 1 | u8::from(reads);
        self.begin_bits(at, timing);
    }

    /// SDA and then SCL change after the last falling edge of SCL, at `at` or later. Returns SCL's rising edge.
    fn end_of_low(&mut self, at: u64, timing: Timing) -> u64 {
        let data_at = at.max(self.master.fell + timing.sync1 + timing.data_delay);
        let let_go = (self.master.fell + timing.least_low()).max(data_at + timing.setup);
        let chips = self.params.clock.next_edge(self.master.stretched_until);
        (self.own.data_at, self.master.rise) = (data_at, let_go.max(chips));
        self.master.rise
    }

    fn begin_bits(&mut self, at: u64, timing: Timing) {
        let rise = self.end_of_low(at, timing);
        self.master.go(Step::Bits, rise + timing.rise_to_fall() + 7 * timing.period());
    }

    fn end_bits(&mut self, at: u64, timing: Timing) {
        self.record_bits(u64::MAX, timing);
        let now = self.time(at);
        self.master.fell = at;
        if self.master.receives() {
            self.signals.chips_sda(now, true);
        } else {
            self.hear_answer(now);
        }
        self.master.go(Step::BitsSeen, at + timing.sync1);
    }

    fn bits_seen(&mut self, at: u64, timing: Timing) {
        if self.master.receives() {
            if self.own.received.is_some() {
                self.master.go(Step::HeldForRead, at);
                return;
            }
            self.own.received = Some(self.master.byte);
            self.registers.set(RXDR, self.master.byte.into());
            self.own.left = self.own.left.saturating_sub(1);
            let is_last = self.own.left == 0 && !self.is_set(CR2_RELOAD);
            self.master.ack = !is_last && !self.is_set(CR2_STOP);
        }
        let rise = self.end_of_low(at, timing);
        self.master.go(Step::Acknowledge, rise + timing.rise_to_fall());
    }

    fn end_acknowledge(&mut self, at: u64, timing: Timing) {
        self.record_acknowledge(u64::MAX, timing);
        if self.end_byte(at) {
            self.signals.chips_sda(self.time(at), self.master.byte & 0x80 != 0);
        }
        self.master.go(Step::AcknowledgeSeen, at + timing.sync1);
    }

    fn acknowledge_seen(&mut self, at: u64, timing: Timing) {
        let refused = !self.master.receives() && !self.master.ack;
        if std::mem::take(&mut self.master.is_address) {
            self.registers.put(CR2, CR2_START, false);
            self.master.in_data = !refused;
            self.own.left = self.nbytes();
        } else if !self.master.reads {
            self.own.left = self.own.left.saturating_sub(1);
        }
        if refused {
            self.own.flags |= ISR_NACKF;
        }
        if refused || self.is_set(CR2_STOP) {
            self.begin_stop(at, timing);
        } else if self.own.left > 0 {
            self.next_byte(at, timing);
        } else {
            self.end_of_bytes(at, timing);
        }
    }

    pub(super) fn nbytes(&self) -> u32 {
        self.registers.field(CR2, CR2_NBYTES)
    }

    /// Handles the end of NBYTES.
    fn end_of_bytes(&mut self, at: u64, timing: Timing) {
        if self.is_set(CR2_RELOAD) {
            self.own.flags |= ISR_TCR;
            self.master.go(Step::HeldForCommand, at);
        } else if self.is_set(CR2_AUTOEND) {
            self.begin_stop(at, timing);
        } else if self.is_set(CR2_START) {
            self.restart(at, timing);
        } else {
            self.own.flags |= ISR_TC;
            self.master.go(Step::HeldForCommand, at);
        }
    }

    fn next_byte(&mut self, at: u64, timing: Timing) {
        if self.master.reads {
            self.begin_bits(at, timing);
        } else if let Some(byte) = self.own.to_send.take() {
            self.master.byte = byte;
            self.begin_bits(at, timing);
        } else {
            self.master.go(Step::HeldForData, at);
        }
    }

    /// I2C_CR2.NBYTES was written while TCR is set.
    pub(super) fn reload(&mut self, arrival: u64) {
        self.own.flags &= !ISR_TCR;
        self.own.left = self.nbytes();
        self.master.go(Step::Byte, arrival);
    }

    fn restart(&mut self, at: u64, timing: Timing) {
        self.master.in_data = false;
        let rise = self.end_of_low(at, timing);
        self.master.go(Step::RestartRise, rise);
    }

    fn begin_stop(&mut self, at: u64, timing: Timing) {
        self.master.in_data = false;
        let rise = self.end_of_low(at, timing);
        self.master.go(Step::StopRise, rise);
    }

    /// Sets SDA's level, and lets SCL rise after it; the next step follows `cycles` cycles later.
    fn rise(&mut self, sda: bool, cycles: u64, next: Step) {
        let rise = self.master.rise;
        self.signals.master_sda(self.time(self.own.data_at), sda);
        self.signals.scl(self.time(rise), true);
        self.master.go(next, rise + cycles);
    }

    fn stop(&mut self, at: u64, timing: Timing) {
        let now = self.time(at);
        self.signals.chips_sda(now, true);
        self.stop_frame(now);
        self.master.go(Step::StopSeen, at + timing.sync2);
    }

    fn stop_seen(&mut self, at: u64) {
        self.own.flags |= ISR_STOPF;
        self.own.is_busy = false;
        self.registers.put(CR2, CR2_STOP, false);
        self.master.free_since = Some(at);
        self.master.step = Step::Idle;
        if self.is_set(CR2_START) {
            self.order_start(at);
        }
    }

    /// PE was cleared: the master releases both lines, whatever its state.
    pub(super) fn abandon(&mut self, cycle: u64) {
        let (timing, now) = (self.timing(), self.time(cycle));
        match self.master.step {
            Step::Bits => self.record_bits(cycle, timing),
            Step::Acknowledge => self.record_acknowledge(cycle, timing),
            _ => {}
        }
        self.let_go(now, !matches!(self.master.step, Step::Idle | Step::Start));
        self.own = V2 { delays: self.own.delays, ..V2::default() };
    }
}

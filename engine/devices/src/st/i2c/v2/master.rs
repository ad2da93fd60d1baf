//! The master: the sequence on the bus, step by step. A step is at an edge of a line, or where the master detects one;
//! its cycle of the kernel clock is known as soon as the previous step is done.

use super::registers::*;
use super::{I2c, V2, Version};
use crate::st::i2c::master::{Master, Step, Timing};

impl I2c<V2> {
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
            Step::Restart => self.leave_data(Step::RestartRise, at, timing),
            Step::StopOrdered => self.leave_data(Step::StopRise, at, timing),
            Step::RestartRise => self.rise(true, timing.sync2 + timing.low, Step::Start),
            Step::StopRise => self.rise(false, timing.rise_to_fall(), Step::Stop),
            Step::Stop => self.stop(at, timing),
            Step::StopSeen => self.stop_seen(at),
            _ => {}
        }
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
            self.leave_data(Step::StopRise, at, timing);
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
            self.leave_data(Step::StopRise, at, timing);
        } else if self.is_set(CR2_START) {
            self.leave_data(Step::RestartRise, at, timing);
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
        let (timing, now) = (V2::timing(self), self.time(cycle));
        match self.master.step {
            Step::Bits => self.record_bits(cycle, timing),
            Step::Acknowledge => self.record_acknowledge(cycle, timing),
            _ => {}
        }
        self.let_go(now, !matches!(self.master.step, Step::Idle | Step::Start));
        self.own = V2 { delays: self.own.delays, ..V2::default() };
    }

    /// Records the edges of the acknowledge clock in the waveform, up to a cycle.
    fn record_acknowledge(&mut self, until: u64, timing: Timing) {
        let Master { ack, rise, data_at, .. } = self.master;
        let sda = !self.master.receives() || !ack;
        if data_at <= until {
            self.signals.master_sda(self.time(data_at), sda);
        }
        for (at, level) in [(rise, true), (rise + timing.rise_to_fall(), false)] {
            if at <= until {
                self.signals.scl(self.time(at), level);
            }
        }
    }
}

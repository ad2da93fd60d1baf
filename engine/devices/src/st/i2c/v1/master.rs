//! The master: the sequence on the bus, step by step, in cycles of PCLK1 (RM0090, "I2C master mode"). A step that needs
//! the firmware waits for a register access, with SCL low.

use super::registers::*;
use super::{I2c, V1, Version};
use crate::prelude::*;
use crate::st::i2c::master::Step;

impl I2c<V1> {
    /// True if any of `bits` is set in I2C_CR1.
    fn is_set(&self, bits: u32) -> bool {
        self.registers.has(CR1, bits)
    }

    /// Takes the next step, in its cycle.
    pub(super) fn take_step(&mut self, at: u64) {
        match self.master.step {
            Step::Start => self.start(at),
            Step::FirstFall => self.started(at),
            Step::Bits => self.end_bits(at),
            Step::Acknowledge => self.end_acknowledge(at),
            Step::RestartRise => self.let_rise(true, Step::Start),
            Step::StopRise => self.let_rise(false, Step::Stop),
            _ => self.stop(at),
        }
    }

    /// I2C_CR1.START or STOP was set while the master waits: it acts at `at`.
    pub(super) fn order(&mut self, at: u64) {
        let (starts, stops) = (self.is_set(CR1_START), self.is_set(CR1_STOP));
        match self.master.step {
            Step::Idle if starts => self.order_start(at),
            Step::Idle => self.registers.put(CR1, CR1_STOP, false),
            // A byte that waits in the shift register does not prevent the end of the frame.
            Step::HeldForData | Step::HeldForCommand | Step::HeldForRead if starts || stops => self.leave(at),
            _ => {}
        }
    }

    /// Ends the frame, or continues with a repeated START.
    fn leave(&mut self, at: u64) {
        self.own.flags &= if self.master.step == Step::HeldForRead { u32::MAX } else { !SR1_BTF };
        self.own.to_send = None;
        let next = if self.is_set(CR1_STOP) { Step::StopRise } else { Step::RestartRise };
        self.leave_data(next, at, V1::timing(self));
    }

    fn start(&mut self, at: u64) {
        self.start_frame(at);
        self.own.is_master = true;
        self.master.go(Step::FirstFall, at + V1::timing(self).high);
    }

    fn started(&mut self, at: u64) {
        self.signals.scl(self.time(at), false);
        self.master.fell = at;
        self.registers.put(CR1, CR1_START, false);
        self.own.flags |= SR1_SB;
        self.master.go(Step::HeldForAddress, at);
    }

    /// Starts the address byte that was written.
    pub(super) fn address(&mut self, byte: u8, at: u64) {
        self.own.flags &= !SR1_SB;
        (self.master.is_address, self.master.reads) = (true, byte & 1 != 0);
        self.begin(byte, at);
    }

    fn begin(&mut self, byte: u8, at: u64) {
        self.master.byte = byte;
        self.begin_bits(at, V1::timing(self));
    }

    fn end_bits(&mut self, at: u64) {
        let timing = V1::timing(self);
        self.record_bits(u64::MAX, timing);
        let now = self.time(at);
        self.master.fell = at;
        if self.master.receives() {
            self.signals.chips_sda(now, true);
            let ack = self.is_set(CR1_ACK);
            let now_acked = if self.is_set(CR1_POS) { self.own.next_ack } else { ack };
            (self.master.ack, self.own.next_ack) = (now_acked, ack);
            self.signals.master_sda(now, !now_acked);
        } else {
            self.signals.master_sda(now, true);
            self.hear_answer(now);
        }
        let rise = self.end_of_low(at, timing);
        self.master.go(Step::Acknowledge, rise + timing.high);
    }

    fn end_acknowledge(&mut self, at: u64) {
        let (now, received, byte) = (self.time(at), self.master.receives(), self.master.byte);
        self.signals.scl(self.time(self.master.rise), true);
        self.signals.scl(now, false);
        self.end_byte(at);
        if received {
            self.signals.master_sda(now, true);
        }
        let is_address = std::mem::take(&mut self.master.is_address);
        if received {
            self.received(byte, at);
        } else if !self.master.ack {
            self.own.flags |= SR1_AF;
            self.master.step = Step::HeldForCommand;
            self.order(at);
        } else if is_address {
            self.addressed(at);
        } else {
            self.sent(at);
        }
    }

    fn addressed(&mut self, at: u64) {
        self.own.flags |= SR1_ADDR;
        self.master.in_data = true;
        self.own.next_ack = self.is_set(CR1_ACK);
        self.master.go(Step::HeldForClear, at);
    }

    /// Continues after ADDR was cleared.
    pub(super) fn cleared(&mut self, at: u64) {
        if self.master.step != Step::HeldForClear {
            return;
        }
        if self.master.reads {
            let byte = self.master.byte;
            self.begin(byte, at);
        } else if let Some(byte) = self.own.to_send.take() {
            self.begin(byte, at);
        } else {
            self.master.step = Step::HeldForData;
            self.order(at);
        }
    }

    /// Handles the end of a byte that was sent.
    fn sent(&mut self, at: u64) {
        if self.is_set(CR1_STOP | CR1_START) {
            self.leave(at);
        } else if let Some(byte) = self.own.to_send.take() {
            self.begin(byte, at);
        } else {
            self.own.flags |= SR1_BTF;
            self.master.step = Step::HeldForData;
        }
    }

    /// Handles a write of I2C_DR.
    pub(super) fn send(&mut self, byte: u8, at: u64) {
        match self.master.step {
            Step::HeldForAddress => self.address(byte, at),
            Step::HeldForData => {
                self.own.flags &= !SR1_BTF;
                self.begin(byte, at);
            }
            _ => self.own.to_send = Some(byte),
        }
    }

    /// Handles a byte that was received.
    fn received(&mut self, byte: u8, at: u64) {
        let ends = self.is_set(CR1_STOP | CR1_START);
        if self.own.data.is_none() {
            self.own.data = Some(byte);
            if ends {
                self.leave(at);
            } else if self.master.ack {
                let next = self.master.byte;
                self.begin(next, at);
            } else {
                self.master.step = Step::HeldForCommand;
            }
            return;
        }
        self.own.shifted = Some(byte);
        self.own.flags |= SR1_BTF;
        self.master.step = Step::HeldForRead;
        if ends {
            self.leave(at);
        }
    }

    /// Handles a read of I2C_DR: a byte that waits in the shift register moves there.
    pub(super) fn taken(&mut self, at: u64) {
        self.own.data = self.own.shifted.take();
        self.own.flags &= !SR1_BTF;
        if self.master.step == Step::HeldForRead {
            self.master.step = Step::HeldForCommand;
            if self.is_set(CR1_STOP | CR1_START) {
                self.leave(at);
            } else if self.master.ack {
                let next = self.master.byte;
                self.begin(next, at);
            }
        }
    }

    /// The chip releases SDA, and SCL rises before a START or a STOP.
    fn let_rise(&mut self, sda: bool, next: Step) {
        self.signals.chips_sda(self.time(self.master.fell), true);
        self.rise(sda, V1::timing(self).high, next);
    }

    fn stop(&mut self, at: u64) {
        self.stop_frame(self.time(at));
        self.own.is_master = false;
        self.registers.put(CR1, CR1_STOP, false);
        self.master.free_since = Some(at);
        self.master.step = Step::Idle;
        self.order(at);
    }

    /// PE was cleared, or SWRST set: the master releases both lines, which chips see as a STOP.
    pub(super) fn abandon(&mut self, now: Ps) {
        self.let_go(now, self.own.is_master);
        let V1 { rising, seen_address, last, .. } = self.own;
        self.own = V1 { rising, seen_address, last, ..V1::default() };
    }
}

//! The master: the sequence on the bus, step by step, in cycles of PCLK1 (RM0090, "I2C master mode"). A step that needs
//! the firmware waits for a register access, with SCL low.

use super::registers::*;
use super::{I2c, V1};
use crate::prelude::*;
use crate::st::i2c::master::{self, Master};

/// The master's position in a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State, Fresh, Polled)]
pub enum Step {
    /// No frame is under way.
    #[default]
    Idle,
    /// SDA falls: START.
    Start,
    /// SCL falls after START: SB is set.
    Started,
    /// SCL falls after the eighth clock of a byte.
    Bits,
    /// SCL falls after the acknowledge clock.
    Acknowledge,
    /// SCL rises before a repeated START or a STOP.
    RestartRise,
    StopRise,
    /// SDA rises: STOP.
    Stop,
    /// SCL is held low until the address is written (SB), ADDR is cleared, data are written or read, or START or STOP
    /// is set.
    HeldForAddress,
    HeldForClear,
    HeldForData,
    HeldForRead,
    HeldForOrder,
}

impl master::Step for Step {
    fn waits(self) -> bool {
        matches!(
            self,
            Step::Idle
                | Step::HeldForAddress
                | Step::HeldForClear
                | Step::HeldForData
                | Step::HeldForRead
                | Step::HeldForOrder
        )
    }
}

impl I2c<V1> {
    /// Cycles for which SCL is low and high (I2C_CCR).
    fn halves(&self) -> (u64, u64) {
        let ccr = self.registers[CCR];
        let count = u64::from(ccr & CCR_COUNT).max(1);
        let (low, high) = match ccr & (CCR_FAST | CCR_DUTY) {
            CCR_FAST => (2 * count, count),
            duty if duty & CCR_FAST != 0 => (16 * count, 9 * count),
            _ => (count, count),
        };
        // A rising edge longer than I2C_TRISE lengthens the clock.
        let rises_in = self.params.clock.rate().cycles_until_ceil(self.own.rising).0;
        (low, high + rises_in.saturating_sub(u64::from(self.registers[TRISE])))
    }

    /// True if any of `bits` is set in I2C_CR1.
    fn is_set(&self, bits: u32) -> bool {
        self.registers.has(CR1, bits)
    }

    /// Takes the next step, in its cycle.
    pub(super) fn take_step(&mut self, at: u64) {
        match self.master.step {
            Step::Start => self.start(at),
            Step::Started => self.started(at),
            Step::Bits => self.end_bits(at),
            Step::Acknowledge => self.end_acknowledge(at),
            Step::RestartRise => self.rise(true, Step::Start),
            Step::StopRise => self.rise(false, Step::Stop),
            _ => self.stop(at),
        }
    }

    /// I2C_CR1.START or STOP was set while the master waits: it acts at `at`.
    pub(super) fn order(&mut self, at: u64) {
        let (starts, stops) = (self.is_set(CR1_START), self.is_set(CR1_STOP));
        match self.master.step {
            Step::Idle if starts => {
                let free = self.master.free_since.map_or(0, |since| since + self.halves().0);
                self.master.go(Step::Start, at.max(free));
            }
            Step::Idle => self.registers.put(CR1, CR1_STOP, false),
            Step::HeldForData | Step::HeldForOrder if starts || stops => self.leave(at),
            // A byte that waits in the shift register does not prevent the end of the frame.
            Step::HeldForRead if starts || stops => self.leave(at),
            _ => {}
        }
    }

    /// Ends the frame, or continues with a repeated START.
    fn leave(&mut self, at: u64) {
        let rise = self.release(at);
        self.own.flags &= if self.master.step == Step::HeldForRead { u32::MAX } else { !SR1_BTF };
        self.master.in_data = false;
        self.own.to_send = None;
        let next = if self.is_set(CR1_STOP) { Step::StopRise } else { Step::RestartRise };
        self.master.go(next, rise);
    }

    fn start(&mut self, at: u64) {
        self.start_frame(at);
        self.own.is_master = true;
        self.master.go(Step::Started, at + self.halves().1);
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

    /// SCL's next rising edge, if the master releases it at `at`.
    fn release(&mut self, at: u64) -> u64 {
        let chips = self.params.clock.rate().cycles_until_ceil(self.master.stretched_until).0;
        self.master.rise = at.max(self.master.fell + self.halves().0).max(chips);
        self.master.rise
    }

    fn begin(&mut self, byte: u8, at: u64) {
        let (low, high) = self.halves();
        let rise = self.release(at);
        self.master.byte = byte;
        self.master.go(Step::Bits, rise + high + 7 * (low + high));
    }

    fn end_bits(&mut self, at: u64) {
        self.record_bits();
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
        let rise = self.release(at);
        self.master.go(Step::Acknowledge, rise + self.halves().1);
    }

    fn end_acknowledge(&mut self, at: u64) {
        let (now, received, byte) = (self.time(at), self.master.receives(), self.master.byte);
        self.signals.scl(self.time(self.master.rise), true);
        self.signals.scl(now, false);
        self.end_byte(at);
        if received {
            self.signals.master_sda(now, true);
        }
        if std::mem::take(&mut self.master.is_address) {
            self.addressed(at);
        } else if received {
            self.received(byte, at);
        } else {
            self.sent(at);
        }
    }

    fn addressed(&mut self, at: u64) {
        if !self.master.ack {
            self.own.flags |= SR1_AF;
            self.master.step = Step::HeldForOrder;
            self.order(at);
            return;
        }
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
        if !self.master.ack {
            self.own.flags |= SR1_AF;
            self.master.step = Step::HeldForOrder;
            self.order(at);
            return;
        }
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
                self.master.step = Step::HeldForOrder;
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
            self.master.step = Step::HeldForOrder;
            if self.is_set(CR1_STOP | CR1_START) {
                self.leave(at);
            } else if self.master.ack {
                let next = self.master.byte;
                self.begin(next, at);
            }
        }
    }

    /// Sets SDA to its level, and lets SCL rise before a START or a STOP.
    fn rise(&mut self, sda: bool, next: Step) {
        let rise = self.master.rise;
        // SDA changes while SCL is low.
        self.signals.chips_sda(self.time(self.master.fell), true);
        self.signals.master_sda(self.time(self.master.fell), sda);
        self.signals.scl(self.time(rise), true);
        self.master.go(next, rise + self.halves().1);
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

    /// Records the eight clocks of a byte in the waveform.
    fn record_bits(&mut self) {
        let (low, high) = self.halves();
        let receives = self.master.receives();
        let Master { byte, rise, fell, .. } = self.master;
        for bit in 0..8 {
            let rise = rise + bit * (low + high);
            let falls_before = if bit == 0 { fell } else { rise - low };
            let (change, level) = (self.time(falls_before), byte << bit & 0x80 != 0);
            if receives {
                self.signals.chips_sda(change, level);
            } else {
                self.signals.master_sda(change, level);
            }
            self.signals.scl(self.time(rise), true);
            self.signals.scl(self.time(rise + high), false);
        }
    }
}

//! The master: the sequence on the bus, step by step, in cycles of PCLK1 (RM0090, "I2C master mode"). A step that needs
//! the firmware waits for a register access, with SCL low.

use super::I2c;
use super::registers::*;
use engine::bus::device::Ctx;
use engine::state::{Fresh, State};
use engine::time::{Cycles, Ps};

/// The master's position in a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State, Fresh)]
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

/// The master's state.
#[derive(Clone, Copy, Debug, Default, State)]
pub struct Master {
    pub step: Step,
    /// The cycle of the step, unless it waits for the firmware.
    pub at: u64,
    /// SCL's last falling edge, and its next or latest rising edge.
    fell: u64,
    rise: u64,
    /// The byte on the bus, whether it is the address, and its acknowledge.
    byte: u8,
    is_address: bool,
    ack: bool,
    /// With POS: the acknowledge of the next byte.
    next_ack: bool,
    /// The chip sends the bytes.
    pub reads: bool,
    /// A chip holds SCL low until this time.
    stretched_until: Ps,
    /// The cycle of the last STOP.
    free_since: Option<u64>,
    pub frames: u64,
    pub bytes: u64,
    pub nacks: u64,
}

impl Master {
    /// The cycle of the next step; `None` if the master waits for the firmware or is idle.
    pub const fn next(&self) -> Option<u64> {
        match self.step {
            Step::Idle
            | Step::HeldForAddress
            | Step::HeldForClear
            | Step::HeldForData
            | Step::HeldForRead
            | Step::HeldForOrder => None,
            _ => Some(self.at),
        }
    }

    const fn go(&mut self, step: Step, at: u64) {
        (self.step, self.at) = (step, at);
    }

    /// The whole state, for the detection of polling loops.
    pub fn state(&self, mut report: impl FnMut(u64)) {
        [self.step as u64, self.at, self.frames, self.bytes].into_iter().for_each(&mut report);
    }

    /// Renumbers cycles for another clock: cycle `before` becomes cycle `now`.
    pub fn move_by(&mut self, before: u64, now: u64) {
        let moved = |cycle: u64| if cycle > before { now + (cycle - before) } else { cycle.min(now) };
        (self.at, self.fell, self.rise) = (moved(self.at), moved(self.fell), moved(self.rise));
        self.free_since = self.free_since.map(moved);
    }
}

impl I2c {
    /// Cycles for which SCL is low and high (I2C_CCR).
    fn halves(&self) -> (u64, u64) {
        let count = u64::from(self.ccr & CCR_COUNT).max(1);
        let (low, high) = match self.ccr & (CCR_FAST | CCR_DUTY) {
            CCR_FAST => (2 * count, count),
            duty if duty & CCR_FAST != 0 => (16 * count, 9 * count),
            _ => (count, count),
        };
        // A rising edge longer than I2C_TRISE lengthens the clock.
        let rises_in = self.params.clock.rate.cycles_until_ceil(self.params.rising).0;
        (low, high + rises_in.saturating_sub(u64::from(self.trise)))
    }

    fn time(&self, cycle: u64) -> Ps {
        self.params.clock.rate.ps_at_floor(Cycles(cycle))
    }

    /// Takes all steps up to the time of the call.
    pub(super) fn settle(&mut self, ctx: &Ctx) {
        let cycle = self.params.clock.rate.cycles_until_floor(ctx.now).0;
        while let Some(at) = self.master.next().filter(|at| *at <= cycle) {
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
    }

    /// I2C_CR1.START or STOP was set while the master waits: it acts at `at`.
    pub(super) fn order(&mut self, at: u64) {
        let (starts, stops) = (self.control & CR1_START != 0, self.control & CR1_STOP != 0);
        match self.master.step {
            Step::Idle if starts => {
                let free = self.master.free_since.map_or(0, |since| since + self.halves().0);
                self.master.go(Step::Start, at.max(free));
            }
            Step::Idle => self.control &= !CR1_STOP,
            Step::HeldForData | Step::HeldForOrder if starts || stops => self.leave(at),
            // A byte that waits in the shift register does not prevent the end of the frame.
            Step::HeldForRead if starts || stops => self.leave(at),
            _ => {}
        }
    }

    /// Ends the frame, or continues with a repeated START.
    fn leave(&mut self, at: u64) {
        let rise = self.release(at);
        self.flags &= if self.master.step == Step::HeldForRead { u32::MAX } else { !SR1_BTF };
        self.in_data = false;
        self.to_send = None;
        let next = if self.control & CR1_STOP != 0 { Step::StopRise } else { Step::RestartRise };
        self.master.go(next, rise);
    }

    fn start(&mut self, at: u64) {
        let now = self.time(at);
        self.signals.master_sda(now, false);
        self.signals.frame(true, now);
        self.chips.start(now);
        self.master.frames += 1;
        self.is_master = true;
        self.master.go(Step::Started, at + self.halves().1);
    }

    fn started(&mut self, at: u64) {
        self.signals.scl(self.time(at), false);
        self.master.fell = at;
        self.control &= !CR1_START;
        self.flags |= SR1_SB;
        self.master.go(Step::HeldForAddress, at);
    }

    /// Starts the address byte that was written.
    pub(super) fn address(&mut self, byte: u8, at: u64) {
        self.flags &= !SR1_SB;
        (self.master.is_address, self.master.reads) = (true, byte & 1 != 0);
        self.begin(byte, at);
    }

    /// SCL's next rising edge, if the master releases it at `at`.
    fn release(&mut self, at: u64) -> u64 {
        let chips = self.params.clock.rate.cycles_until_ceil(self.master.stretched_until).0;
        self.master.rise = at.max(self.master.fell + self.halves().0).max(chips);
        self.master.rise
    }

    fn begin(&mut self, byte: u8, at: u64) {
        let (low, high) = self.halves();
        let rise = self.release(at);
        self.master.byte = byte;
        self.master.go(Step::Bits, rise + high + 7 * (low + high));
    }

    const fn receives(&self) -> bool {
        self.master.reads && !self.master.is_address
    }

    fn end_bits(&mut self, at: u64) {
        self.record_bits();
        let now = self.time(at);
        self.master.fell = at;
        if self.receives() {
            self.signals.chips_sda(now, true);
            let ack = self.control & CR1_ACK != 0;
            let now_acked = if self.control & CR1_POS != 0 { self.master.next_ack } else { ack };
            (self.master.ack, self.master.next_ack) = (now_acked, ack);
            self.signals.master_sda(now, !now_acked);
        } else {
            self.signals.master_sda(now, true);
            let answer = self.chips.send(self.master.byte, now);
            self.signals.chips_sda(now, !answer.ack);
            (self.master.ack, self.master.stretched_until) = (answer.ack, now.saturating_add(answer.stretch));
        }
        let rise = self.release(at);
        self.master.go(Step::Acknowledge, rise + self.halves().1);
    }

    fn end_acknowledge(&mut self, at: u64) {
        let (now, ack) = (self.time(at), self.master.ack);
        self.signals.scl(self.time(self.master.rise), true);
        self.signals.scl(now, false);
        self.master.fell = at;
        self.master.bytes += 1;
        self.signals.byte(self.master.byte, self.receives());
        self.master.nacks += u64::from(!ack);
        let received = self.receives();
        if received {
            self.chips.acknowledge(ack, now);
            self.signals.master_sda(now, true);
        } else {
            self.signals.chips_sda(now, true);
        }
        let byte = self.master.byte;
        if self.master.reads && ack {
            let given = self.chips.receive(now);
            (self.master.byte, self.master.stretched_until) = (given.byte, now.saturating_add(given.stretch));
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
            self.flags |= SR1_AF;
            self.master.step = Step::HeldForOrder;
            self.order(at);
            return;
        }
        self.flags |= SR1_ADDR;
        self.in_data = true;
        self.master.next_ack = self.control & CR1_ACK != 0;
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
        } else if let Some(byte) = self.to_send.take() {
            self.begin(byte, at);
        } else {
            self.master.step = Step::HeldForData;
            self.order(at);
        }
    }

    /// Handles the end of a byte that was sent.
    fn sent(&mut self, at: u64) {
        if !self.master.ack {
            self.flags |= SR1_AF;
            self.master.step = Step::HeldForOrder;
            self.order(at);
            return;
        }
        if self.control & (CR1_STOP | CR1_START) != 0 {
            self.leave(at);
        } else if let Some(byte) = self.to_send.take() {
            self.begin(byte, at);
        } else {
            self.flags |= SR1_BTF;
            self.master.step = Step::HeldForData;
        }
    }

    /// Handles a write of I2C_DR.
    pub(super) fn send(&mut self, byte: u8, at: u64) {
        match self.master.step {
            Step::HeldForAddress => self.address(byte, at),
            Step::HeldForData => {
                self.flags &= !SR1_BTF;
                self.begin(byte, at);
            }
            _ => self.to_send = Some(byte),
        }
    }

    /// Handles a byte that was received.
    fn received(&mut self, byte: u8, at: u64) {
        let ends = self.control & (CR1_STOP | CR1_START) != 0;
        if self.data.is_none() {
            self.data = Some(byte);
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
        self.shifted = Some(byte);
        self.flags |= SR1_BTF;
        self.master.step = Step::HeldForRead;
        if ends {
            self.leave(at);
        }
    }

    /// Handles a read of I2C_DR: a byte that waits in the shift register moves there.
    pub(super) fn taken(&mut self, at: u64) {
        self.data = self.shifted.take();
        self.flags &= !SR1_BTF;
        if self.master.step == Step::HeldForRead {
            self.master.step = Step::HeldForOrder;
            if self.control & (CR1_STOP | CR1_START) != 0 {
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
        let now = self.time(at);
        self.signals.master_sda(now, true);
        self.signals.frame(false, now);
        self.chips.stop(now);
        self.is_master = false;
        self.control &= !CR1_STOP;
        self.master.free_since = Some(at);
        self.master.step = Step::Idle;
        self.order(at);
    }

    /// PE was cleared, or SWRST set: the master releases both lines, which chips see as a STOP.
    pub(super) fn abandon(&mut self, now: Ps) {
        if self.is_master {
            self.signals.scl(now, true);
            self.signals.chips_sda(now, true);
            self.signals.master_sda(now, true);
            self.signals.frame(false, now);
            self.chips.stop(now);
        }
        let Master { frames, bytes, nacks, .. } = self.master;
        self.master = Master { frames, bytes, nacks, ..Master::default() };
        (self.flags, self.is_master, self.in_data) = (0, false, false);
        (self.to_send, self.data, self.shifted) = (None, None, None);
    }

    /// Records the eight clocks of a byte in the waveform.
    fn record_bits(&mut self) {
        let (low, high) = self.halves();
        let receives = self.receives();
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

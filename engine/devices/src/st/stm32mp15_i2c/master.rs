//! The master: the sequence on the bus, step by step. A step is at an edge of a line, or where the master detects one;
//! its cycle of the kernel clock is known as soon as the previous step is done.

use super::I2c;
use super::registers::*;
use super::timing::Timing;
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

/// The master's state.
#[derive(Clone, Copy, Debug, Default, State)]
pub struct Master {
    /// The next step, and its cycle; a step that waits for the firmware has no cycle.
    pub step: Step,
    pub at: u64,
    /// SCL's last falling edge.
    pub fell: u64,
    /// SCL's next or latest rising edge, and the change of SDA before it.
    pub rise: u64,
    pub data_at: u64,
    /// The byte on the bus, and whether it is the address.
    pub byte: u8,
    is_address: bool,
    /// The acknowledge of the byte.
    pub ack: bool,
    /// The chip sends the bytes.
    pub reads: bool,
    /// The chip has acknowledged its address, and the frame has not ended.
    in_data: bool,
    /// Bytes of NBYTES that have not been acknowledged.
    left: u32,
    /// A chip holds SCL low until this time.
    stretched_until: Ps,
    /// The cycle in which the last STOP was detected.
    free_since: Option<u64>,
    /// Totals.
    pub frames: u64,
    pub bytes: u64,
    pub nacks: u64,
}

impl Master {
    /// The cycle of the next step; `None` if the master waits for the firmware or is idle.
    pub const fn next(&self) -> Option<u64> {
        match self.step {
            Step::Idle | Step::HeldForData | Step::HeldForRead | Step::HeldForCommand => None,
            _ => Some(self.at),
        }
    }

    const fn is_on_the_bus(&self) -> bool {
        !matches!(self.step, Step::Idle | Step::Start)
    }

    /// True if I2C_TXDR is needed: one of the remaining bytes may be on the bus.
    pub const fn needs_data(&self) -> bool {
        let on_the_bus = matches!(self.step, Step::Bits | Step::BitsSeen | Step::Acknowledge | Step::AcknowledgeSeen);
        self.in_data && !self.reads && self.left > on_the_bus as u32
    }

    /// Renumbers cycles for another clock: cycle `before` becomes cycle `now`.
    pub fn move_by(&mut self, before: u64, now: u64) {
        let moved = |cycle: u64| if cycle > before { now + (cycle - before) } else { cycle.min(now) };
        (self.at, self.fell, self.rise, self.data_at) =
            (moved(self.at), moved(self.fell), moved(self.rise), moved(self.data_at));
        self.free_since = self.free_since.map(moved);
    }

    const fn go(&mut self, step: Step, at: u64) {
        (self.step, self.at) = (step, at);
    }

    /// The whole state, for the detection of polling loops.
    pub fn state(&self, mut report: impl FnMut(u64)) {
        [self.step as u64, self.at, self.frames, self.bytes, self.left.into()].into_iter().for_each(&mut report);
    }
}

impl I2c {
    fn timing(&self) -> Timing {
        Timing::of(self.timing, self.control, self.params.kernel_clock.rate(), &self.params.delays)
    }

    pub(super) fn time(&self, cycle: u64) -> Ps {
        self.params.kernel_clock.rate().ps_at_floor(Cycles(cycle))
    }

    /// Takes all steps up to the time of the call.
    pub(super) fn settle(&mut self, ctx: &mut Ctx) {
        let cycle = self.params.kernel_clock.edge(ctx.now);
        while let Some(at) = self.master.next().filter(|at| *at <= cycle) {
            self.take_step(at, self.timing());
        }
    }

    fn take_step(&mut self, at: u64, timing: Timing) {
        match self.master.step {
            Step::Start => self.start(at, timing),
            Step::StartSeen => {
                self.is_busy = true;
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
        let now = self.time(at);
        self.signals.master_sda(now, false);
        self.signals.frame(true, now);
        self.chips.start(now);
        self.master.frames += 1;
        self.master.go(Step::StartSeen, at + timing.sync1);
    }

    /// SCL falls after START: the address follows.
    fn address(&mut self, at: u64, timing: Timing) {
        self.signals.scl(self.time(at), false);
        let reads = self.command & CR2_RD_WRN != 0;
        let address = (self.command >> CR2_SADD) as u8 & 0x7f;
        // No chip has the header of a 10-bit address.
        let address = if self.command & CR2_ADD10 == 0 { address } else { 0x78 | (self.command >> 8) as u8 & 3 };
        let master = &mut self.master;
        (master.fell, master.is_address, master.reads, master.in_data) = (at, true, reads, false);
        master.byte = address << 1 | u8::from(reads);
        self.begin_bits(at, timing);
    }

    /// SDA and then SCL change after the last falling edge of SCL, at `at` or later. Returns SCL's rising edge.
    fn end_of_low(&mut self, at: u64, timing: Timing) -> u64 {
        let data_at = at.max(self.master.fell + timing.sync1 + timing.data_delay);
        let let_go = (self.master.fell + timing.least_low()).max(data_at + timing.setup);
        let chips = self.params.kernel_clock.next_edge(self.master.stretched_until);
        (self.master.data_at, self.master.rise) = (data_at, let_go.max(chips));
        self.master.rise
    }

    fn begin_bits(&mut self, at: u64, timing: Timing) {
        let rise = self.end_of_low(at, timing);
        self.master.go(Step::Bits, rise + timing.rise_to_fall() + 7 * timing.period());
    }

    /// True if the chip sends the byte on the bus.
    pub(super) const fn receives(&self) -> bool {
        self.master.reads && !self.master.is_address
    }

    fn end_bits(&mut self, at: u64, timing: Timing) {
        self.record_bits(u64::MAX, timing);
        let now = self.time(at);
        self.master.fell = at;
        if self.receives() {
            self.signals.chips_sda(now, true);
        } else {
            let answer = self.chips.send(self.master.byte, now);
            self.signals.chips_sda(now, !answer.ack);
            (self.master.ack, self.master.stretched_until) = (answer.ack, now.saturating_add(answer.stretch));
        }
        self.master.go(Step::BitsSeen, at + timing.sync1);
    }

    fn bits_seen(&mut self, at: u64, timing: Timing) {
        if self.receives() {
            if self.received.is_some() {
                self.master.go(Step::HeldForRead, at);
                return;
            }
            self.received = Some(self.master.byte);
            self.receive_data = self.master.byte;
            self.master.left = self.master.left.saturating_sub(1);
            let is_last = self.master.left == 0 && self.command & CR2_RELOAD == 0;
            self.master.ack = !is_last && self.command & CR2_STOP == 0;
        }
        let rise = self.end_of_low(at, timing);
        self.master.go(Step::Acknowledge, rise + timing.rise_to_fall());
    }

    fn end_acknowledge(&mut self, at: u64, timing: Timing) {
        self.record_acknowledge(u64::MAX, timing);
        let (now, ack) = (self.time(at), self.master.ack);
        self.master.fell = at;
        self.master.bytes += 1;
        self.signals.byte(self.master.byte, self.receives());
        self.master.nacks += u64::from(!ack);
        if self.receives() {
            self.chips.acknowledge(ack, now);
        } else {
            self.signals.chips_sda(now, true);
        }
        if self.master.reads && ack {
            let given = self.chips.receive(now);
            (self.master.byte, self.master.stretched_until) = (given.byte, now.saturating_add(given.stretch));
            self.signals.chips_sda(now, given.byte & 0x80 != 0);
        }
        self.master.go(Step::AcknowledgeSeen, at + timing.sync1);
    }

    fn acknowledge_seen(&mut self, at: u64, timing: Timing) {
        let refused = !self.receives() && !self.master.ack;
        if std::mem::take(&mut self.master.is_address) {
            self.command &= !CR2_START;
            self.master.in_data = !refused;
            self.master.left = self.nbytes();
        } else if !self.master.reads {
            self.master.left = self.master.left.saturating_sub(1);
        }
        if refused {
            self.flags |= ISR_NACKF;
        }
        if refused || self.command & CR2_STOP != 0 {
            self.begin_stop(at, timing);
        } else if self.master.left > 0 {
            self.next_byte(at, timing);
        } else {
            self.end_of_bytes(at, timing);
        }
    }

    pub(super) const fn nbytes(&self) -> u32 {
        self.command >> CR2_NBYTES & 0xff
    }

    /// Handles the end of NBYTES.
    fn end_of_bytes(&mut self, at: u64, timing: Timing) {
        if self.command & CR2_RELOAD != 0 {
            self.flags |= ISR_TCR;
            self.master.go(Step::HeldForCommand, at);
        } else if self.command & CR2_AUTOEND != 0 {
            self.begin_stop(at, timing);
        } else if self.command & CR2_START != 0 {
            self.restart(at, timing);
        } else {
            self.flags |= ISR_TC;
            self.master.go(Step::HeldForCommand, at);
        }
    }

    fn next_byte(&mut self, at: u64, timing: Timing) {
        if self.master.reads {
            self.begin_bits(at, timing);
        } else if let Some(byte) = self.to_send.take() {
            self.master.byte = byte;
            self.begin_bits(at, timing);
        } else {
            self.master.go(Step::HeldForData, at);
        }
    }

    /// I2C_CR2.NBYTES was written while TCR is set.
    pub(super) fn reload(&mut self, arrival: u64) {
        self.flags &= !ISR_TCR;
        self.master.left = self.nbytes();
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
        let Master { rise, data_at, .. } = self.master;
        self.signals.master_sda(self.time(data_at), sda);
        self.signals.scl(self.time(rise), true);
        self.master.go(next, rise + cycles);
    }

    fn stop(&mut self, at: u64, timing: Timing) {
        let now = self.time(at);
        self.signals.chips_sda(now, true);
        self.signals.master_sda(now, true);
        self.signals.frame(false, now);
        self.chips.stop(now);
        self.master.go(Step::StopSeen, at + timing.sync2);
    }

    fn stop_seen(&mut self, at: u64) {
        self.flags |= ISR_STOPF;
        self.is_busy = false;
        self.command &= !CR2_STOP;
        self.master.free_since = Some(at);
        self.master.step = Step::Idle;
        if self.command & CR2_START != 0 {
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
        if self.master.is_on_the_bus() {
            self.signals.scl(now, true);
            self.signals.chips_sda(now, true);
            self.signals.master_sda(now, true);
            self.signals.frame(false, now);
            self.chips.stop(now);
        }
        let Master { frames, bytes, nacks, .. } = self.master;
        self.master = Master { frames, bytes, nacks, ..Master::default() };
    }
}

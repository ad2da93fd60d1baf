//! The master's state that both interfaces have, and what both do on the bus. Times are cycles of the interface's
//! clock.

use super::{I2c, Version};
use crate::prelude::*;

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
    /// SCL is held low until the address is written.
    HeldForAddress,
    /// SCL is held low until the flag of the address is cleared.
    HeldForClear,
    /// SCL is held low until data are written.
    HeldForData,
    /// SCL is held low until data are read.
    HeldForRead,
    /// SCL is held low until a control register is written.
    HeldForCommand,
}

impl Step {
    /// True if the step has no cycle: the master is idle, or waits for the firmware.
    pub const fn waits(self) -> bool {
        matches!(
            self,
            Step::Idle
                | Step::HeldForAddress
                | Step::HeldForClear
                | Step::HeldForData
                | Step::HeldForRead
                | Step::HeldForCommand
        )
    }
}

/// Times on the bus, in cycles of the interface's clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Timing {
    /// From pulling SCL or SDA low to the detection.
    pub sync1: u64,
    /// From releasing a line to the detection.
    pub sync2: u64,
    /// From a detected falling edge of SCL to its release.
    pub low: u64,
    /// From a detected rising edge of SCL to its falling edge.
    pub high: u64,
    /// From a detected falling edge of SCL to the change of SDA; 0 if SDA changes as SCL falls.
    pub data_delay: u64,
    /// SCL stays low for this time after the change of SDA.
    pub setup: u64,
}

impl Timing {
    /// The minimum time from a falling edge of SCL to its release.
    pub const fn least_low(&self) -> u64 {
        let data = self.data_delay + self.setup;
        self.sync1 + if self.low > data { self.low } else { data }
    }

    /// The period of clocks without clock stretching.
    pub const fn period(&self) -> u64 {
        self.least_low() + self.rise_to_fall()
    }

    /// Time from the release of SCL to its falling edge.
    pub const fn rise_to_fall(&self) -> u64 {
        self.sync2 + self.high
    }
}

/// The master's state.
#[derive(Clone, Copy, Debug, Default, State, Polled)]
pub struct Master {
    /// The next step, and its cycle; a step that waits for the firmware has no cycle.
    pub step: Step,
    pub at: u64,
    /// SCL's last falling edge, the change of SDA after it, and SCL's next or latest rising edge.
    pub fell: u64,
    pub data_at: u64,
    pub rise: u64,
    /// The byte on the bus, whether it is the address, and its acknowledge.
    pub byte: u8,
    pub is_address: bool,
    pub ack: bool,
    /// The chip sends the bytes.
    pub reads: bool,
    /// A chip has acknowledged its address, and the frame continues.
    pub in_data: bool,
    /// A chip holds SCL low until this time.
    pub stretched_until: Ps,
    /// The cycle of the last STOP.
    pub free_since: Option<u64>,
    /// Totals.
    pub frames: u64,
    pub bytes: u64,
    pub nacks: u64,
}

impl Master {
    /// The cycle of the next step; `None` if the master waits for the firmware or is idle.
    pub fn next(&self) -> Option<u64> {
        (!self.step.waits()).then_some(self.at)
    }

    pub fn go(&mut self, step: Step, at: u64) {
        (self.step, self.at) = (step, at);
    }

    /// True if the chip sends the byte on the bus.
    pub const fn receives(&self) -> bool {
        self.reads && !self.is_address
    }
}

impl<V: Version> I2c<V> {
    /// START is ordered: it follows when the bus has been free for the low time of a clock.
    pub(super) fn order_start(&mut self, at: u64) {
        let free = self.master.free_since.map_or(0, |since| since + V::timing(self).low);
        self.master.go(Step::Start, at.max(free));
    }

    /// SDA and then SCL change after the last falling edge of SCL, at `at` or later. Returns SCL's rising edge.
    pub(super) fn end_of_low(&mut self, at: u64, timing: Timing) -> u64 {
        let fell = self.master.fell;
        let data_at = match timing.data_delay {
            0 => fell,
            delay => at.max(fell + timing.sync1 + delay),
        };
        let let_go = at.max(fell + timing.least_low()).max(data_at + timing.setup);
        let chips = self.params.clock.next_edge(self.master.stretched_until);
        (self.master.data_at, self.master.rise) = (data_at, let_go.max(chips));
        self.master.rise
    }

    /// The byte on the bus begins.
    pub(super) fn begin_bits(&mut self, at: u64, timing: Timing) {
        let rise = self.end_of_low(at, timing);
        self.master.go(Step::Bits, rise + timing.rise_to_fall() + 7 * timing.period());
    }

    /// The frame ends, or a repeated START follows: SCL rises before it.
    pub(super) fn leave_data(&mut self, step: Step, at: u64, timing: Timing) {
        self.master.in_data = false;
        let rise = self.end_of_low(at, timing);
        self.master.go(step, rise);
    }

    /// Sets SDA's level, and lets SCL rise after it; the next step follows `cycles` cycles later.
    pub(super) fn rise(&mut self, sda: bool, cycles: u64, next: Step) {
        let Master { data_at, rise, .. } = self.master;
        self.signals.master_sda(self.time(data_at), sda);
        self.signals.scl(self.time(rise), true);
        self.master.go(next, rise + cycles);
    }

    /// Records the edges of a byte's eight clocks in the waveform, up to a cycle.
    pub(super) fn record_bits(&mut self, until: u64, timing: Timing) {
        let receives = self.master.receives();
        let clock = self.params.clock.rate();
        let Master { byte, rise, fell, data_at, .. } = self.master;
        let time = |cycle: u64| clock.ps_at_floor(Cycles(cycle));
        let signals = &mut self.signals;
        let mut last_fall = fell;
        for bit in 0..8u32 {
            let level = byte << bit & 0x80 != 0;
            let rise = rise + u64::from(bit) * timing.period();
            // SDA's next level follows the falling edge: at once from a chip, after a delay from the master.
            let change = if bit == 0 { data_at } else { last_fall + timing.sync1 + timing.data_delay };
            if receives && last_fall <= until {
                signals.chips_sda(time(last_fall), level);
            }
            // A master without a delay has released SDA with the acknowledge.
            if change <= until && (!receives || timing.data_delay > 0) {
                signals.master_sda(time(change), receives || level);
            }
            last_fall = rise + timing.rise_to_fall();
            for (at, level) in [(rise, true), (last_fall, false)] {
                if at <= until {
                    signals.scl(time(at), level);
                }
            }
        }
    }

    /// START.
    pub(super) fn start_frame(&mut self, at: u64) {
        let now = self.time(at);
        self.signals.master_sda(now, false);
        self.signals.frame(true, now);
        self.chips.start(now);
        self.master.frames += 1;
    }

    /// STOP.
    pub(super) fn stop_frame(&mut self, now: Ps) {
        self.signals.master_sda(now, true);
        self.signals.frame(false, now);
        self.chips.stop(now);
    }

    /// The eight clocks of a byte of the master have ended: the chips answer.
    pub(super) fn hear_answer(&mut self, now: Ps) {
        let answer = self.chips.send(self.master.byte, now);
        self.signals.chips_sda(now, !answer.ack);
        (self.master.ack, self.master.stretched_until) = (answer.ack, now.saturating_add(answer.stretch));
    }

    /// The acknowledge clock has ended. True if the chip sends another byte, which is on the bus now.
    pub(super) fn end_byte(&mut self, at: u64) -> bool {
        let (now, receives, ack) = (self.time(at), self.master.receives(), self.master.ack);
        self.master.fell = at;
        self.master.bytes += 1;
        self.signals.byte(self.master.byte, receives);
        self.master.nacks += u64::from(!ack);
        if receives {
            self.chips.acknowledge(ack, now);
        } else {
            self.signals.chips_sda(now, true);
        }
        let continues = self.master.reads && ack;
        if continues {
            let given = self.chips.receive(now);
            (self.master.byte, self.master.stretched_until) = (given.byte, now.saturating_add(given.stretch));
        }
        continues
    }

    /// The master is switched off: it releases both lines, which chips see as a STOP within a frame.
    pub(super) fn let_go(&mut self, now: Ps, is_on_the_bus: bool) {
        if is_on_the_bus {
            self.signals.scl(now, true);
            self.signals.chips_sda(now, true);
            self.stop_frame(now);
        }
        let Master { frames, bytes, nacks, .. } = self.master;
        self.master = Master { frames, bytes, nacks, ..Master::default() };
    }
}

//! The master's state that both interfaces have, and what both do on the bus. Times are cycles of the interface's
//! clock.

use super::{I2c, Version};
use crate::prelude::*;

/// The master's position in a frame.
pub trait Step: Copy + Default + PartialEq + Send + State + Fresh + Polled {
    /// True if the step has no cycle: the master is idle, or waits for the firmware.
    fn waits(self) -> bool;
}

/// The master's state.
#[derive(Clone, Copy, Debug, Default, State, Polled)]
pub struct Master<S: Step> {
    /// The next step, and its cycle; a step that waits for the firmware has no cycle.
    pub step: S,
    pub at: u64,
    /// SCL's last falling edge, and its next or latest rising edge.
    pub fell: u64,
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

impl<S: Step> Master<S> {
    /// The cycle of the next step; `None` if the master waits for the firmware or is idle.
    pub fn next(&self) -> Option<u64> {
        (!self.step.waits()).then_some(self.at)
    }

    pub fn go(&mut self, step: S, at: u64) {
        (self.step, self.at) = (step, at);
    }

    /// True if the chip sends the byte on the bus.
    pub const fn receives(&self) -> bool {
        self.reads && !self.is_address
    }
}

impl<V: Version> I2c<V> {
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

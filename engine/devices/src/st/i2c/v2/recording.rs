//! Records the master's clocks in waveforms, after they have ended.

use super::timing::Timing;
use super::{I2c, V2};
use crate::st::i2c::master::Master;
use engine::time::Cycles;

impl I2c<V2> {
    /// Records the edges of a byte's eight clocks in the waveform, up to a cycle.
    pub(super) fn record_bits(&mut self, until: u64, timing: Timing) {
        let receives = self.master.receives();
        let clock = self.params.clock.rate();
        let (Master { byte, rise, fell, .. }, data_at) = (self.master, self.own.data_at);
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
            if change <= until {
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

    /// Records the edges of the acknowledge clock, likewise.
    pub(super) fn record_acknowledge(&mut self, until: u64, timing: Timing) {
        let (Master { ack, rise, .. }, data_at) = (self.master, self.own.data_at);
        let fall = rise + timing.rise_to_fall();
        let sda = !self.master.receives() || !ack;
        if data_at <= until {
            self.signals.master_sda(self.time(data_at), sda);
        }
        for (at, level) in [(rise, true), (fall, false)] {
            if at <= until {
                self.signals.scl(self.time(at), level);
            }
        }
    }
}

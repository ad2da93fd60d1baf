//! Records the master's clocks in waveforms, after they have ended.

use super::I2c;
use super::master::Master;
use super::timing::Timing;
use engine::time::Cycles;

impl I2c {
    /// Records the edges of a byte's eight clocks in the waveform, up to a cycle.
    pub(super) fn record_bits(&mut self, until: u64, timing: Timing) {
        let receives = self.receives();
        let clock = self.params.kernel_clock.rate();
        let Master { byte, rise, data_at, fell, .. } = self.master;
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
        let Master { ack, rise, data_at, .. } = self.master;
        let fall = rise + timing.rise_to_fall();
        let sda = !self.receives() || !ack;
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

//! One channel, in ticks of its clock.
//!
//! A compare with RC that triggers takes the tick in which the counter would become RC and makes it 0: a period has RC
//! ticks, as software expects. In the modes without that, the counter becomes RC in the tick of the compare.

use super::{
    CMR_CPCDIS, CMR_CPCSTOP, CMR_CPCTRG, CMR_UPDOWN, CMR_WAVE, SR_CLKSTA, SR_COVFS, SR_CPAS, SR_CPBS, SR_CPCS,
};
use crate::prelude::*;

/// The number of steps after which each kind of event has occurred at least once.
const MOST_STEPS: usize = 12;

/// A channel's settings.
#[derive(Clone, Copy, Debug)]
pub struct Mode {
    /// TC_CMR.
    pub cmr: u32,
    /// TC_RA.
    pub ra: u32,
    /// TC_RB.
    pub rb: u32,
    /// TC_RC.
    pub rc: u32,
}

impl Mode {
    /// Waveform mode.
    pub const fn is_waveform(self) -> bool {
        self.cmr & CMR_WAVE != 0
    }

    /// Counts up and down.
    const fn is_updown(self) -> bool {
        self.is_waveform() && self.cmr & CMR_UPDOWN != 0
    }

    /// True if RC triggers: the same bit in both modes.
    const fn rc_triggers(self) -> bool {
        self.cmr & CMR_CPCTRG != 0
    }

    /// RC as the counter's end: a counter that ends at 0 takes a tick for it.
    fn end(self) -> u64 {
        u64::from(if self.rc_triggers() { self.rc.max(1) } else { u32::MAX })
    }

    /// Ticks of a period, from 0 to 0.
    fn period(self) -> u64 {
        match (self.is_updown(), self.rc_triggers()) {
            (true, _) => 2 * self.end(),
            (false, true) => self.end(),
            (false, false) => 1 << 32,
        }
    }
}

/// A channel's counter.
#[derive(Clone, Copy, Debug, Default, State, Polled)]
pub struct Channel {
    /// TC_SR's flags.
    pub flags: u32,
    /// CLKSTA.
    pub enabled: bool,
    /// True if a trigger has started the counter, and nothing has stopped it since.
    #[poll(skip = "it changes with a command, which is counted, or with a flag")]
    started: bool,
    /// True if a trigger takes effect in the next tick.
    #[poll(skip = "commands are counted")]
    triggered: bool,
    #[poll(skip = "it changes by itself; reads of the counter are counted")]
    down: bool,
    /// TC_CV.
    #[poll(skip = "it changes by itself; its reads are counted")]
    pub value: u32,
    /// The tick of this state: the number of the last edge of its clock.
    #[poll(skip = "time passes")]
    pub tick: u64,
}

impl Channel {
    /// TC_SR; reading clears its flags.
    pub fn take_status(&mut self) -> u32 {
        std::mem::take(&mut self.flags) | flag(SR_CLKSTA, self.enabled)
    }

    /// CLKDIS: only a trigger starts the counter again.
    pub fn disable(&mut self) {
        (self.enabled, self.started, self.triggered) = (false, false, false);
    }

    /// A trigger, which takes effect in the next tick.
    pub fn trigger(&mut self) {
        self.triggered = true;
    }

    /// Brings the counter up to `tick`.
    pub fn settle(&mut self, tick: u64, mode: Mode) {
        let mut left = tick - self.tick;
        self.tick = tick;
        if left > 0 && self.triggered {
            self.take_trigger(mode);
            left -= 1;
        }
        while left > 0 && self.started {
            if self.value == 0 && !self.down {
                // Further whole periods change nothing: flags only wait to be read.
                let period = mode.period();
                left = if left > 2 * period { period + left % period } else { left };
            }
            left -= self.step(left, mode);
        }
    }

    /// The tick in which one of `flags` that is not set will be set; `None` if that never happens.
    pub fn tick_of(&self, flags: u32, mode: Mode) -> Option<u64> {
        let wanted = flags & !self.flags;
        if wanted == 0 || !(self.started || self.triggered) {
            return None;
        }
        let mut ahead = *self;
        let mut tick = self.tick;
        if ahead.triggered {
            ahead.take_trigger(mode);
            tick += 1;
        }
        for _ in 0..MOST_STEPS {
            if ahead.flags & wanted != 0 || !ahead.started {
                break;
            }
            tick += ahead.step(u64::MAX, mode);
        }
        (ahead.flags & wanted != 0).then_some(tick)
    }

    /// A trigger resets the counter, or reverses a counter that counts up and down.
    fn take_trigger(&mut self, mode: Mode) {
        self.triggered = false;
        if self.started && mode.is_updown() {
            // At 0 it can only count up.
            self.down = !self.down && self.value > 0;
        } else {
            (self.value, self.down) = (0, false);
        }
        self.started = true;
    }

    /// Counts to its next event, but at most `most` ticks, and returns their number.
    fn step(&mut self, most: u64, mode: Mode) -> u64 {
        let value = u64::from(self.value);
        let turn = if self.down {
            value
        } else if value < mode.end() {
            mode.end() - value + u64::from(!mode.is_updown() && !mode.rc_triggers())
        } else {
            // Above its end it wraps, as without an end.
            (1 << 32) - value
        };
        let compares = [(mode.ra, mode.is_waveform()), (mode.rb, mode.is_waveform()), (mode.rc, true)];
        let distance = |target: u32| {
            let target = u64::from(target);
            if self.down { value.checked_sub(target) } else { target.checked_sub(value) }
        };
        let targets = compares.iter().filter(|(_, counts)| *counts).filter_map(|(target, _)| distance(*target));
        let ticks = targets.filter(|ticks| *ticks > 0).fold(turn.max(1), u64::min).min(most);
        if ticks == turn {
            self.turn(value, mode);
        } else {
            self.value = if self.down { value - ticks } else { value + ticks } as u32;
        }
        let at_rc = ticks == turn && !self.down && mode.rc_triggers() && !mode.is_updown() && value < mode.end();
        self.compare(at_rc, mode);
        ticks
    }

    /// The counter has reached its end.
    fn turn(&mut self, before: u64, mode: Mode) {
        if self.down {
            (self.value, self.down) = (0, false);
        } else if mode.is_updown() && before < mode.end() {
            (self.value, self.down) = (mode.end() as u32, true);
        } else {
            if !mode.rc_triggers() || before >= mode.end() {
                self.flags |= SR_COVFS;
            }
            self.value = 0;
        }
    }

    /// Sets the flags of the reached values; `at_rc`: it reached RC, which made it 0.
    fn compare(&mut self, at_rc: bool, mode: Mode) {
        if mode.is_waveform() {
            self.flags |= flag(SR_CPAS, self.value == mode.ra) | flag(SR_CPBS, self.value == mode.rb);
        }
        if at_rc || self.value == mode.rc {
            self.flags |= SR_CPCS;
            if mode.is_waveform() {
                self.started &= mode.cmr & CMR_CPCSTOP == 0;
                if mode.cmr & CMR_CPCDIS != 0 {
                    (self.enabled, self.started) = (false, false);
                }
            }
        }
    }
}

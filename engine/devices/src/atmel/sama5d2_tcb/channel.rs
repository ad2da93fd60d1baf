//! One channel, in ticks of its clock.
//!
//! A compare with RC that triggers takes the tick in which the counter would become RC and makes it 0: a period has RC
//! ticks, as software expects. In the modes without that, the counter becomes RC in the tick of the compare.

use engine::state::State;

/// TC_CMR.TCCLKS: the clock.
pub const CMR_TCCLKS: u32 = 7;
/// Bits of TC_CMR that exist in both modes.
pub const CMR_MASK: u32 = 0xffff_fff7 | CMR_CLKI;
const CMR_CLKI: u32 = 1 << 3;
/// Waveform mode: RC stops the counter, or disables its clock.
const CMR_CPCSTOP: u32 = 1 << 6;
const CMR_CPCDIS: u32 = 1 << 7;
/// WAVSEL: up and down, with a turn (or reset) at RC.
const CMR_WAVSEL_UPDOWN: u32 = 1 << 13;
const CMR_WAVSEL_RC: u32 = 1 << 14;
/// Capture mode: RC triggers. The same bit as WAVSEL's.
const CMR_CPCTRG: u32 = 1 << 14;
const CMR_WAVE: u32 = 1 << 15;

const SR_COVFS: u32 = 1 << 0;
const SR_CPAS: u32 = 1 << 2;
const SR_CPBS: u32 = 1 << 3;
const SR_CPCS: u32 = 1 << 4;
/// The clock is enabled.
pub const SR_CLKSTA: u32 = 1 << 16;
/// Flags that raise interrupts.
pub const FLAGS: u32 = 0xff;

/// The number of steps after which each kind of event has occurred at least once.
const MOST_STEPS: usize = 12;

/// A channel's registers and counter.
#[derive(Clone, Copy, Debug, Default, State)]
pub struct Channel {
    /// TC_CMR.
    pub cmr: u32,
    /// TC_SMMR.
    pub smmr: u32,
    /// TC_EMR.
    pub emr: u32,
    /// TC_RA.
    pub ra: u32,
    /// TC_RB.
    pub rb: u32,
    /// TC_RC.
    pub rc: u32,
    /// TC_IMR.
    pub interrupt_mask: u32,
    /// TC_SR's flags.
    pub flags: u32,
    /// CLKSTA.
    pub enabled: bool,
    /// True if a trigger has started the counter, and nothing has stopped it since.
    started: bool,
    /// True if a trigger takes effect in the next tick.
    triggered: bool,
    down: bool,
    value: u32,
    /// The tick of this state.
    tick: u64,
}

impl Channel {
    /// Waveform mode.
    pub const fn is_waveform(&self) -> bool {
        self.cmr & CMR_WAVE != 0
    }

    /// TC_CV.
    pub const fn value(&self) -> u32 {
        self.value
    }

    /// TC_SR; reading clears its flags.
    pub fn take_status(&mut self) -> u32 {
        std::mem::take(&mut self.flags) | if self.enabled { SR_CLKSTA } else { 0 }
    }

    /// CLKDIS: only a trigger starts the counter again.
    pub fn disable(&mut self) {
        (self.enabled, self.started, self.triggered) = (false, false, false);
    }

    /// A trigger, which takes effect in the next tick.
    pub fn trigger(&mut self) {
        self.triggered = true;
    }

    /// Counts another clock from now on; `tick` is the number of its last edge.
    pub fn stand_at(&mut self, tick: u64) {
        self.tick = tick;
    }

    /// Brings the counter up to `tick`.
    pub fn settle(&mut self, tick: u64) {
        let mut left = tick - self.tick;
        self.tick = tick;
        if left > 0 && self.triggered {
            self.take_trigger();
            left -= 1;
        }
        while left > 0 && self.started {
            if self.value == 0 && !self.down {
                // Further whole periods change nothing: flags only wait to be read.
                let period = self.period();
                left = if left > 2 * period { period + left % period } else { left };
            }
            left -= self.step(left);
        }
    }

    /// The tick in which one of `flags` that is not set will be set; `None` if that never happens.
    pub fn tick_of(&self, flags: u32) -> Option<u64> {
        let wanted = flags & !self.flags;
        if wanted == 0 || !(self.started || self.triggered) {
            return None;
        }
        let mut ahead = *self;
        let mut tick = self.tick;
        if ahead.triggered {
            ahead.take_trigger();
            tick += 1;
        }
        for _ in 0..MOST_STEPS {
            if ahead.flags & wanted != 0 || !ahead.started {
                break;
            }
            tick += ahead.step(u64::MAX);
        }
        (ahead.flags & wanted != 0).then_some(tick)
    }

    /// A trigger resets the counter, or reverses a counter that counts up and down.
    fn take_trigger(&mut self) {
        self.triggered = false;
        if self.started && self.is_updown() {
            // At 0 it can only count up.
            self.down = !self.down && self.value > 0;
        } else {
            (self.value, self.down) = (0, false);
        }
        self.started = true;
    }

    const fn is_updown(&self) -> bool {
        self.is_waveform() && self.cmr & CMR_WAVSEL_UPDOWN != 0
    }

    /// True if RC triggers: the same bit in both modes.
    const fn rc_triggers(&self) -> bool {
        self.cmr & (CMR_WAVSEL_RC | CMR_CPCTRG) != 0
    }

    /// RC as the counter's end: a counter that ends at 0 takes a tick for it.
    fn end(&self) -> u64 {
        u64::from(if self.rc_triggers() { self.rc.max(1) } else { u32::MAX })
    }

    /// Ticks of a period, from 0 to 0.
    fn period(&self) -> u64 {
        match (self.is_updown(), self.rc_triggers()) {
            (true, _) => 2 * self.end(),
            (false, true) => self.end(),
            (false, false) => 1 << 32,
        }
    }

    /// Counts to its next event, but at most `most` ticks, and returns their number.
    fn step(&mut self, most: u64) -> u64 {
        let value = u64::from(self.value);
        let turn = if self.down {
            value
        } else if value < self.end() {
            self.end() - value + u64::from(!self.is_updown() && !self.rc_triggers())
        } else {
            // Above its end it wraps, as without an end.
            (1 << 32) - value
        };
        let compares = [(self.ra, self.is_waveform()), (self.rb, self.is_waveform()), (self.rc, true)];
        let distance = |target: u32| {
            let target = u64::from(target);
            if self.down { value.checked_sub(target) } else { target.checked_sub(value) }
        };
        let targets = compares.iter().filter(|(_, counts)| *counts).filter_map(|(target, _)| distance(*target));
        let ticks = targets.filter(|ticks| *ticks > 0).fold(turn.max(1), u64::min).min(most);
        if ticks == turn {
            self.turn(value);
        } else {
            self.value = if self.down { value - ticks } else { value + ticks } as u32;
        }
        self.compare(ticks == turn && !self.down && self.rc_triggers() && !self.is_updown() && value < self.end());
        ticks
    }

    /// The counter has reached its end.
    fn turn(&mut self, before: u64) {
        if self.down {
            (self.value, self.down) = (0, false);
        } else if self.is_updown() && before < self.end() {
            (self.value, self.down) = (self.end() as u32, true);
        } else {
            if !self.rc_triggers() || before >= self.end() {
                self.flags |= SR_COVFS;
            }
            self.value = 0;
        }
    }

    /// Sets the flags of the reached values; `at_rc`: it reached RC, which made it 0.
    fn compare(&mut self, at_rc: bool) {
        if self.is_waveform() {
            self.flags |= if self.value == self.ra { SR_CPAS } else { 0 };
            self.flags |= if self.value == self.rb { SR_CPBS } else { 0 };
        }
        if at_rc || self.value == self.rc {
            self.flags |= SR_CPCS;
            if self.is_waveform() {
                self.started &= self.cmr & CMR_CPCSTOP == 0;
                if self.cmr & CMR_CPCDIS != 0 {
                    (self.enabled, self.started) = (false, false);
                }
            }
        }
    }
}

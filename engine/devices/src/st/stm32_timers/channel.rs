//! A capture/compare channel (RM0090, "Capture/compare channels").

use super::counter::Counter;
use super::registers::{CCER_E, CCER_NP, CCER_P, CCMR_ICPSC, CCMR_OCM, CCMR_OCM_HIGH, CCMR_OCPE, CCMR_SELECT};
use engine::pins::Pin;
use engine::state::State;

/// A channel.
#[derive(Clone, Copy, Debug, Default, State)]
pub struct Channel {
    /// The channel's eight bits of TIM_CCMRx, and bit 16 at the position that it has for channel 1.
    pub mode: u32,
    /// The channel's four bits of TIM_CCER.
    pub enable: u32,
    /// TIM_CCRx: the written value, and the one in force.
    pub written: u32,
    pub value: u32,
    /// OCxREF.
    pub reference: bool,
    /// The pin that the board connects to the channel, for a chip whose pin functions are unknown.
    #[state(skip)]
    pub pin: Option<Pin>,
    /// True if pins of the chip carry the channel.
    pub is_carried: bool,
    /// The level that the channel drives on those pins.
    pub driven: Option<bool>,
    /// Edges that ICxPSC has counted since the last capture.
    pub edges: u32,
}

/// Effect of OCxM on a match.
const ACTIVE_ON_MATCH: u32 = 1;
const INACTIVE_ON_MATCH: u32 = 2;
const TOGGLE: u32 = 3;
const FORCE_INACTIVE: u32 = 4;
const FORCE_ACTIVE: u32 = 5;
const PWM1: u32 = 6;
const PWM2: u32 = 7;

impl Channel {
    /// True for a channel that captures.
    pub const fn is_input(&self) -> bool {
        self.mode & CCMR_SELECT != 0
    }

    /// True if TIM_CCRx takes effect with the next update.
    pub const fn has_preload(&self) -> bool {
        !self.is_input() && self.mode & CCMR_OCPE != 0
    }

    /// OCxM.
    pub const fn output_mode(&self) -> u32 {
        self.mode >> CCMR_OCM & 7 | (self.mode & CCMR_OCM_HIGH) >> 13
    }

    /// CCxE.
    pub const fn is_enabled(&self) -> bool {
        self.enable & CCER_E != 0
    }

    /// True if the channel drives its pin.
    pub const fn drives(&self) -> bool {
        (self.pin.is_some() || self.is_carried) && !self.is_input() && self.enable & CCER_E != 0
    }

    /// Handles a match: the counter has just become TIM_CCRx.
    pub const fn on_match(&mut self) {
        match self.output_mode() {
            ACTIVE_ON_MATCH => self.reference = true,
            INACTIVE_ON_MATCH => self.reference = false,
            TOGGLE => self.reference = !self.reference,
            _ => {}
        }
    }

    /// OCxREF in the modes in which the counter's value determines it, or in which it is fixed.
    pub fn follow(&mut self, counter: &Counter) {
        // When counting down the counter is above TIM_CCRx, when counting up not below it.
        let beyond = if counter.down { counter.value > self.value } else { counter.value >= self.value };
        match self.output_mode() {
            FORCE_INACTIVE => self.reference = false,
            FORCE_ACTIVE => self.reference = true,
            PWM1 => self.reference = !beyond,
            PWM2 => self.reference = beyond,
            _ => {}
        }
    }

    /// The level of the pin, if the channel drives it; `outputs` is MOE of a timer that has it.
    pub fn level(&self, outputs: bool) -> Option<bool> {
        (self.drives() && outputs).then_some(self.reference != (self.enable & CCER_P != 0))
    }

    /// True if an edge of the input is captured; with ICxPSC, only some edges are.
    pub const fn captures(&mut self, rises: bool) -> bool {
        if self.enable & CCER_E == 0 {
            return false;
        }
        let wanted = match (self.enable & CCER_P != 0, self.enable & CCER_NP != 0) {
            (false, _) => rises,
            (true, false) => !rises,
            (true, true) => true,
        };
        if wanted {
            self.edges += 1;
        }
        let due = wanted && self.edges >= 1 << (self.mode >> CCMR_ICPSC & 3);
        if due {
            self.edges = 0;
        }
        due
    }
}

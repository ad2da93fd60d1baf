//! A capture/compare channel (RM0090, "Capture/compare channels").

use super::counter::Counter;
use super::{CCER_CC1E, CCER_CC1NP, CCER_CC1P};
use crate::prelude::*;
use engine::pins::Pin;

/// The bits of TIM_CCMRx that channel 1 has.
pub const MODE: u32 = 0xff | OCM_HIGH;
/// CCxS.
pub const SELECT: u32 = 3;
const ICPSC: u32 = 3 << 2;
const OCPE: u32 = 1 << 3;
/// OCxM, and its fourth bit, of an STM32L4.
const OCM: u32 = 7 << 4;
const OCM_HIGH: u32 = 1 << 16;

/// A channel.
#[derive(Clone, Copy, Debug, Default, State, Polled)]
pub struct Channel {
    /// The channel's eight bits of TIM_CCMRx, and bit 16 at the position that it has for channel 1.
    pub mode: u32,
    /// The channel's four bits of TIM_CCER.
    pub enable: u32,
    /// TIM_CCRx in force, or as captured.
    #[poll(skip = "loops that read it count as moving accesses")]
    pub value: u32,
    /// OCxREF.
    #[poll(skip = "pins show it, in events")]
    pub reference: bool,
    /// The pin that the board connects to the channel, for a chip whose pin functions are unknown.
    #[state(skip)]
    pub pin: Option<Pin>,
    /// True if pins of the chip carry the channel.
    pub is_carried: bool,
    /// The level that the channel drives on those pins.
    #[poll(skip = "it changes in events")]
    pub driven: Option<bool>,
    /// Edges that ICxPSC has counted since the last capture.
    #[poll(skip = "captures are in events, and in flags")]
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
        self.mode & SELECT != 0
    }

    /// True if TIM_CCRx takes effect with the next update.
    pub const fn has_preload(&self) -> bool {
        !self.is_input() && self.mode & OCPE != 0
    }

    /// OCxM.
    pub const fn output_mode(&self) -> u32 {
        field(self.mode, OCM) | field(self.mode, OCM_HIGH) << 3
    }

    /// CCxE.
    pub const fn is_enabled(&self) -> bool {
        self.enable & CCER_CC1E != 0
    }

    /// True if the channel drives its pin.
    pub const fn drives(&self) -> bool {
        (self.pin.is_some() || self.is_carried) && !self.is_input() && self.enable & CCER_CC1E != 0
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
        (self.drives() && outputs).then_some(self.reference != (self.enable & CCER_CC1P != 0))
    }

    /// True if an edge of the input is captured; with ICxPSC, only some edges are.
    pub fn captures(&mut self, rises: bool) -> bool {
        let is_edge = match (self.enable & CCER_CC1P != 0, self.enable & CCER_CC1NP != 0) {
            (false, _) => rises,
            (true, false) => !rises,
            (true, true) => true,
        };
        let is_wanted = is_edge && self.is_enabled();
        self.edges += u32::from(is_wanted);
        let is_due = is_wanted && self.edges >= 1 << field(self.mode, ICPSC);
        if is_due {
            self.edges = 0;
        }
        is_due
    }
}

//! A channel: its registers, and the conversion of codes (RM0090, "Noise generation", "Triangle-wave generation").

use super::{CR_MAMP1, CR_WAVE1};
use crate::prelude::*;

/// The cause of a conversion.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh, Polled)]
pub enum Converts {
    /// A write, of a channel that waits for no trigger.
    Held,
    /// A trigger, which also advances the generators.
    Triggered,
}

/// The first value of the noise generator.
const FIRST_NOISE: u32 = 0xaaa;
const MOST: u32 = 0xfff;

/// A channel.
#[derive(Clone, Copy, Debug, State, Polled)]
pub struct Channel {
    /// DAC_DORx.
    pub code: u32,
    /// The value at the output.
    pub shown: u32,
    /// The time of the next conversion, and its cause.
    pub due: Option<(Ps, Converts)>,
    /// A DMA controller has been asked for data; it was asked again before they came.
    pub waits_for_dma: bool,
    pub underruns: bool,
    /// The time at which the channel was turned on, until its output has a value.
    pub on_since: Option<Ps>,
    noise: u32,
    triangle: u32,
    falls: bool,
    pub conversions: u64,
}

impl Default for Channel {
    fn default() -> Channel {
        Channel {
            code: 0,
            shown: 0,
            due: None,
            waits_for_dma: false,
            underruns: false,
            on_since: None,
            noise: FIRST_NOISE,
            triangle: 0,
            falls: false,
            conversions: 0,
        }
    }
}

impl Channel {
    /// Turns the channel on or off: the generators restart.
    pub fn restart(&mut self) {
        let Channel { shown, conversions, .. } = *self;
        *self = Channel { shown, conversions, ..Channel::default() };
    }

    /// Converts: the code becomes the data plus the generator's value, by the channel's half of DAC_CR.
    pub fn convert(&mut self, what: Converts, half: u32, data: u32) {
        let amplitude = (2 << field(half, CR_MAMP1).min(11)) - 1;
        let added = match field(half, CR_WAVE1) {
            _ if what == Converts::Held => 0,
            0 => 0,
            1 => self.next_noise() & amplitude,
            _ => self.next_triangle(amplitude),
        };
        self.code = (data + added).min(MOST);
        self.conversions += 1;
    }

    /// Advances the noise generator: a shift register of 12 bits with feedback from bits 0, 1, 4 and 6, which never
    /// stays at 0.
    fn next_noise(&mut self) -> u32 {
        let noise = self.noise & MOST;
        let feedback = noise ^ noise >> 1 ^ noise >> 4 ^ noise >> 6 ^ u32::from(noise == 0);
        self.noise = noise >> 1 | (feedback & 1) << 11;
        noise
    }

    /// Advances the triangle generator: up to the amplitude and down to 0, by one each time.
    fn next_triangle(&mut self, amplitude: u32) -> u32 {
        let triangle = self.triangle.min(amplitude);
        self.falls = triangle >= amplitude || self.falls && triangle > 0;
        self.triangle = if self.falls { triangle - 1 } else { triangle + 1 };
        triangle
    }
}

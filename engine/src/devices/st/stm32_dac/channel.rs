//! A channel: what it holds, and what becomes of that (RM0090, "Noise generation", "Triangle-wave generation").

use super::registers::{CR_MAMP, CR_WAVE};
use crate::state::{Fresh, State};
use crate::time::Ps;

/// Why a code is taken over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
pub enum Converts {
    /// No trigger is waited for.
    Held,
    /// A trigger came, which moves the generators on.
    Triggered,
}

/// The first value of the noise generator.
const FIRST_NOISE: u32 = 0xaaa;
const MOST: u32 = 0xfff;

/// A channel.
#[derive(Clone, Copy, Debug, State)]
pub struct Channel {
    /// What the data registers hold, right-aligned, and DAC_DORx.
    pub data: u32,
    pub code: u32,
    /// What is at the output.
    pub shown: u32,
    /// When the next code is taken over.
    pub due: Option<(Ps, Converts)>,
    /// A DMA controller has been asked for data; it was asked again before that came.
    pub waits_for_dma: bool,
    pub underruns: bool,
    /// When it was turned on, until something is at the output.
    pub on_since: Option<Ps>,
    noise: u32,
    triangle: u32,
    falls: bool,
    pub conversions: u64,
}

impl Default for Channel {
    fn default() -> Channel {
        Channel {
            data: 0,
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
    /// It is turned on or off: what it holds stays, and its generators begin anew.
    pub fn restart(&mut self) {
        let Channel { data, shown, conversions, .. } = *self;
        *self = Channel { data, shown, conversions, ..Channel::default() };
    }

    /// The code becomes what is held, and what a generator adds, by the channel's half of DAC_CR.
    pub fn convert(&mut self, what: Converts, half: u32) {
        let amplitude = (2 << (half >> CR_MAMP & 0xf).min(11)) - 1;
        let added = match half >> CR_WAVE & 3 {
            _ if what == Converts::Held => 0,
            0 => 0,
            1 => self.next_noise() & amplitude,
            _ => self.next_triangle(amplitude),
        };
        self.code = (self.data + added).min(MOST);
        self.conversions += 1;
    }

    /// A shift register of 12 bits, which bits 0, 1, 4 and 6 make go on, and which never stays at 0.
    fn next_noise(&mut self) -> u32 {
        let noise = self.noise & MOST;
        let feedback = noise ^ noise >> 1 ^ noise >> 4 ^ noise >> 6 ^ u32::from(noise == 0);
        self.noise = noise >> 1 | (feedback & 1) << 11;
        noise
    }

    /// Up to the amplitude and down to 0, a step each time.
    fn next_triangle(&mut self, amplitude: u32) -> u32 {
        let triangle = self.triangle.min(amplitude);
        self.falls = triangle >= amplitude || self.falls && triangle > 0;
        self.triangle = if self.falls { triangle - 1 } else { triangle + 1 };
        triangle
    }
}

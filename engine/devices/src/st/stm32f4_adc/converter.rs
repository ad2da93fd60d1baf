//! One converter: its registers and the sequence that is under way, in cycles of PCLK2.

use super::{CR1, CR2, HTR, LTR, SMPR1, SMPR2, SQR1, SQR3};
use engine::state::{Fresh, State};

/// Bits of ADC_SR.
pub mod sr {
    pub const AWD: u32 = 1 << 0;
    pub const EOC: u32 = 1 << 1;
    pub const STRT: u32 = 1 << 4;
    pub const OVR: u32 = 1 << 5;
}

/// Bits of ADC_CR1.
pub mod cr1 {
    pub const AWDCH: u32 = 0x1f;
    pub const EOCIE: u32 = 1 << 5;
    pub const AWDIE: u32 = 1 << 6;
    pub const SCAN: u32 = 1 << 8;
    pub const AWDSGL: u32 = 1 << 9;
    pub const AWDEN: u32 = 1 << 23;
    pub const RES: u32 = 24;
    pub const OVRIE: u32 = 1 << 26;
}

/// Bits of ADC_CR2.
pub mod cr2 {
    pub const ADON: u32 = 1 << 0;
    pub const CONT: u32 = 1 << 1;
    pub const DMA: u32 = 1 << 8;
    pub const EOCS: u32 = 1 << 10;
    pub const ALIGN: u32 = 1 << 11;
    pub const SWSTART: u32 = 1 << 30;
    /// JSWSTART, JEXTEN, EXTEN.
    pub const UNMODELLED: u32 = 1 << 22 | 3 << 20 | 3 << 28;
}

/// Cycles of ADCCLK for the sampling of a channel, by its SMP (RM0090, "ADC sample time register").
const SAMPLE_CYCLES: [u64; 8] = [3, 15, 28, 56, 84, 112, 144, 480];

/// A conversion that is under way: its position in the sequence, and its end.
#[derive(Clone, Copy, Debug, State, Fresh)]
struct Conversion {
    place: u32,
    end: u64,
}

/// A converter.
#[derive(Clone, Copy, Debug, State)]
pub struct Converter {
    pub status: u32,
    /// Register values, by offset.
    pub registers: [u32; 20],
    data: u32,
    /// The data register has unread data.
    waits: bool,
    conversion: Option<Conversion>,
    pub conversions: u64,
}

impl Default for Converter {
    fn default() -> Converter {
        let mut registers = [0; 20];
        registers[HTR as usize / 4] = 0xfff;
        Converter { status: 0, registers, data: 0, waits: false, conversion: None, conversions: 0 }
    }
}

impl Converter {
    const fn of(&self, offset: u32) -> u32 {
        self.registers[offset as usize / 4]
    }

    const fn bits(&self) -> u32 {
        12 - 2 * (self.of(CR1) >> cr1::RES & 3)
    }

    /// The length of the sequence: one, unless SCAN is set.
    const fn length(&self) -> u32 {
        if self.of(CR1) & cr1::SCAN != 0 { (self.of(SQR1) >> 20 & 0xf) + 1 } else { 1 }
    }

    /// The channel at a position of the sequence.
    const fn channel(&self, place: u32) -> usize {
        let (register, within) = (SQR3 - 4 * (place / 6), place % 6);
        (self.of(register) >> (5 * within) & 0x1f) as usize
    }

    /// Cycles of ADCCLK for a conversion: sampling, and one cycle for each bit.
    const fn cycles(&self, channel: usize) -> u64 {
        let (register, within) = if channel < 10 { (SMPR2, channel) } else { (SMPR1, channel - 10) };
        let sample = if within < 10 { self.of(register) >> (3 * within) & 7 } else { 0 };
        SAMPLE_CYCLES[sample as usize] + self.bits() as u64
    }

    fn begin(&mut self, place: u32, at: u64, divider: u64) {
        let end = at + self.cycles(self.channel(place)) * divider;
        self.conversion = Some(Conversion { place, end });
    }

    /// A write of ADC_CR2. A sequence that software starts begins in the cycle `at`.
    pub fn set_control2(&mut self, value: u32, at: u64, divider: u64) {
        self.registers[CR2 as usize / 4] = value & !cr2::SWSTART;
        if value & cr2::ADON == 0 {
            self.conversion = None;
        } else if value & cr2::SWSTART != 0 && self.status & sr::OVR == 0 {
            self.status |= sr::STRT;
            self.begin(0, at, divider);
        }
    }

    /// The channel whose conversion ends by `cycle`, if any.
    pub fn ends_by(&self, cycle: u64) -> Option<usize> {
        self.conversion.filter(|conversion| conversion.end <= cycle).map(|conversion| self.channel(conversion.place))
    }

    /// Ends the conversion with a code of 12 bits.
    pub fn end(&mut self, code: u32, divider: u64) {
        let Some(Conversion { place, end }) = self.conversion.take() else { return };
        let (control, control2) = (self.of(CR1), self.of(CR2));
        self.conversions += 1;
        let watched = control & cr1::AWDSGL == 0 || self.channel(place) == (control & cr1::AWDCH) as usize;
        if control & cr1::AWDEN != 0 && watched && (code > self.of(HTR) || code < self.of(LTR)) {
            self.status |= sr::AWD;
        }
        let is_last = place + 1 >= self.length();
        // If each datum is to be read, by DMA or software, one that is not read in time is an overrun.
        let is_read = control2 & (cr2::DMA | cr2::EOCS) != 0;
        if is_read && self.waits {
            self.status |= sr::OVR;
            return;
        }
        let bits = self.bits();
        let code = code >> (12 - bits);
        let left = if bits == 6 { 2 } else { 16 - bits };
        self.data = if control2 & cr2::ALIGN != 0 { code << left } else { code };
        self.waits = true;
        if is_last || control2 & cr2::EOCS != 0 {
            self.status |= sr::EOC;
        }
        if !is_last {
            self.begin(place + 1, end, divider);
        } else if control2 & cr2::CONT != 0 {
            self.begin(0, end, divider);
        }
    }

    /// A read of ADC_DR, which clears EOC.
    pub const fn take(&mut self) -> u32 {
        self.status &= !sr::EOC;
        self.waits = false;
        self.data
    }

    pub fn interrupts(&self) -> bool {
        let enabled = |enable: u32, bit: u32| self.of(CR1) & enable != 0 && self.status & bit != 0;
        enabled(cr1::EOCIE, sr::EOC) || enabled(cr1::AWDIE, sr::AWD) || enabled(cr1::OVRIE, sr::OVR)
    }

    /// True if a DMA controller is to read the data.
    pub const fn asks(&self) -> bool {
        self.of(CR2) & cr2::DMA != 0 && self.waits && self.status & sr::OVR == 0
    }

    /// The end of the conversion.
    pub fn next(&self) -> Option<u64> {
        self.conversion.map(|conversion| conversion.end)
    }

    /// Renumbers cycles for another clock: cycle `before` becomes cycle `now`.
    pub fn move_by(&mut self, before: u64, now: u64) {
        if let Some(conversion) = &mut self.conversion {
            conversion.end = now + conversion.end.saturating_sub(before);
        }
    }
}

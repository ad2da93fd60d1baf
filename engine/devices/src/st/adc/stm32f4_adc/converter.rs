//! One converter: its registers and the sequence that is under way, in cycles of PCLK2.

use super::*;
use crate::st::adc::{aligned, bits_of};
use engine::state::Fresh;

/// Cycles of ADCCLK for the sampling of a channel, by its SMP (RM0090, "ADC sample time register").
const SAMPLE_CYCLES: [u64; 8] = [3, 15, 28, 56, 84, 112, 144, 480];

/// A conversion that is under way: its position in the sequence, and its end.
#[derive(Clone, Copy, Debug, State, Fresh, Polled)]
struct Conversion {
    place: u32,
    end: u64,
}

/// A converter.
#[derive(Debug, Default, State, Polled)]
pub struct Converter {
    pub registers: Registers,
    data: u32,
    /// The data register has unread data.
    waits: bool,
    conversion: Option<Conversion>,
    pub conversions: u64,
}

impl Converter {
    /// A converter after reset.
    pub fn new() -> Converter {
        Converter { registers: Registers::new(&MAP), ..Converter::default() }
    }

    /// The converter is reset; its total stays.
    pub fn reset(&mut self) {
        *self = Converter { conversions: self.conversions, ..Converter::new() };
    }

    fn has(&self, register: u32, bits: u32) -> bool {
        self.registers.has(register, bits)
    }

    fn raise(&mut self, flags: u32) {
        self.registers.put(SR, flags, true);
    }

    fn bits(&self) -> u32 {
        bits_of(self.registers.field(CR1, CR1_RES))
    }

    /// The length of the sequence: one, unless SCAN is set.
    fn length(&self) -> u32 {
        if self.has(CR1, CR1_SCAN) { self.registers.field(SQR1, SQR1_L) + 1 } else { 1 }
    }

    /// The channel at a position of the sequence.
    fn channel(&self, place: u32) -> usize {
        let (register, within) = (SQR3 - 4 * (place / 6), place % 6);
        (self.registers[register] >> (5 * within) & 0x1f) as usize
    }

    /// Cycles of ADCCLK for a conversion: sampling, and one cycle for each bit.
    fn cycles(&self, channel: usize) -> u64 {
        let (register, within) = if channel < 10 { (SMPR2, channel) } else { (SMPR1, channel - 10) };
        let sample = if within < 10 { self.registers[register] >> (3 * within) & 7 } else { 0 };
        SAMPLE_CYCLES[sample as usize] + u64::from(self.bits())
    }

    fn begin(&mut self, place: u32, at: u64, divider: u64) {
        let end = at + self.cycles(self.channel(place)) * divider;
        self.conversion = Some(Conversion { place, end });
    }

    /// A write of ADC_CR2. A sequence that software starts begins in the cycle `at`.
    pub fn set_control2(&mut self, value: u32, at: u64, divider: u64) {
        self.registers.set(CR2, value & !CR2_SWSTART);
        if value & CR2_ADON == 0 {
            self.conversion = None;
        } else if value & CR2_SWSTART != 0 && !self.has(SR, SR_OVR) {
            self.raise(SR_STRT);
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
        self.conversions += 1;
        let watched =
            !self.has(CR1, CR1_AWDSGL) || self.channel(place) == self.registers.field(CR1, CR1_AWDCH) as usize;
        let is_outside = code > self.registers[HTR] || code < self.registers[LTR];
        if self.has(CR1, CR1_AWDEN) && watched && is_outside {
            self.raise(SR_AWD);
        }
        let is_last = place + 1 >= self.length();
        // If each datum is to be read, by DMA or software, one that is not read in time is an overrun.
        if self.has(CR2, CR2_DMA | CR2_EOCS) && self.waits {
            self.raise(SR_OVR);
            return;
        }
        let bits = self.bits();
        self.data = aligned(code >> (12 - bits), bits, self.has(CR2, CR2_ALIGN));
        self.waits = true;
        if is_last || self.has(CR2, CR2_EOCS) {
            self.raise(SR_EOC);
        }
        if !is_last {
            self.begin(place + 1, end, divider);
        } else if self.has(CR2, CR2_CONT) {
            self.begin(0, end, divider);
        }
    }

    /// A read of ADC_DR, which clears EOC.
    pub fn take(&mut self) -> u32 {
        self.registers.put(SR, SR_EOC, false);
        self.waits = false;
        self.data
    }

    pub fn interrupts(&self) -> bool {
        let enabled = |enable: u32, bit: u32| self.has(CR1, enable) && self.has(SR, bit);
        enabled(CR1_EOCIE, SR_EOC) || enabled(CR1_AWDIE, SR_AWD) || enabled(CR1_OVRIE, SR_OVR)
    }

    /// True if a DMA controller is to read the data.
    pub fn asks(&self) -> bool {
        self.has(CR2, CR2_DMA) && self.waits && !self.has(SR, SR_OVR)
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

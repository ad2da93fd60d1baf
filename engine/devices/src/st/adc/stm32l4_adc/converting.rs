//! Conversions: their duration, their result, and what follows them.

use super::*;
use crate::registers::flag;
use crate::st::adc::{CHANNELS, aligned, bits_of};

/// Twice the sampling cycles of a channel, by its SMP, and twice the cycles of a conversion, by RES.
const SAMPLE_HALVES: [u64; 8] = [5, 13, 25, 49, 95, 185, 495, 1281];
const CONVERSION_HALVES: [u64; 4] = [25, 21, 17, 13];

impl Adc {
    /// The channel at a position of the sequence.
    pub(super) fn channel(&self, place: u32) -> usize {
        // The first field of ADC_SQR1 is the length.
        let (register, field) = ((place + 1) / 5, (place + 1) % 5);
        (self.registers[SQR1 + 4 * register] >> (6 * field) & 0x1f) as usize
    }

    /// The oversampler's number of conversions, and the shift of their sum.
    fn oversampling(&self) -> (u64, u32) {
        let (ratio, shift) = (self.registers.field(CFGR2, CFGR2_OVSR), self.registers.field(CFGR2, CFGR2_OVSS));
        if self.has(CFGR2, CFGR2_ROVSE) { (2 << ratio, shift) } else { (1, 0) }
    }

    /// Edges for a position of the sequence: sampling and conversion, times the oversampler's number.
    pub(super) fn edges(&self, place: u32) -> u64 {
        let channel = self.channel(place);
        let register = if channel < 10 { SMPR1 } else { SMPR2 };
        let sample = (self.registers[register] >> (3 * (channel % 10)) & 7) as usize;
        let plus = if sample == 0 && self.has(SMPR1, SMPR1_SMPPLUS) { 2 } else { 0 };
        let halves = SAMPLE_HALVES[sample] + plus + CONVERSION_HALVES[self.registers.field(CFGR, CFGR_RES) as usize];
        self.oversampling().0 * halves / 2 * self.clock().1
    }

    /// The result of a conversion of a channel: 12 bits.
    fn sample(&self, channel: usize) -> u32 {
        let is_connected = match channel {
            0 => self.has(CCR, CCR_VREFEN),
            17 => self.has(CCR, CCR_CH17SEL),
            18 => self.has(CCR, CCR_CH18SEL),
            _ => channel < CHANNELS,
        };
        if is_connected { self.params.inputs.code(channel) } else { 0 }
    }

    /// Handles the end of a conversion.
    pub(super) fn end(&mut self, place: u32, end: u64) {
        let channel = self.channel(place);
        let (ratio, shift) = self.oversampling();
        let bits = bits_of(self.registers.field(CFGR, CFGR_RES));
        let code = self.sample(channel) >> (12 - bits);
        self.conversions += ratio;
        self.watch(channel, code << (12 - bits));
        let is_last = place >= self.registers.field(SQR1, SQR1_L);
        self.raise(ISR_EOC | flag(ISR_EOS, is_last) | flag(ISR_OVR, self.waits));
        if !self.waits || self.has(CFGR, CFGR_OVRMOD) {
            let sum = ((u64::from(code) * ratio) >> shift) as u32;
            self.data = aligned(sum, bits, self.has(CFGR, CFGR_ALIGN) && ratio == 1) & 0xffff;
            self.waits = true;
        }
        let next = if is_last { 0 } else { place + 1 };
        self.doing = if is_last && !self.has(CFGR, CFGR_CONT) {
            self.registers.put(CR, CR_ADSTART, false);
            Doing::Nothing
        } else if self.has(CFGR, CFGR_AUTDLY) {
            Doing::Waiting(next)
        } else {
            Doing::Converting(next, end + self.edges(next))
        };
    }

    /// Analog watchdog 1.
    fn watch(&mut self, channel: usize, code: u32) {
        let is_watched = !self.has(CFGR, CFGR_AWD1SGL) || channel == self.registers.field(CFGR, CFGR_AWD1CH) as usize;
        let range = self.registers.field(TR1, TR1_LT1)..=self.registers[TR1] >> 16;
        if self.has(CFGR, CFGR_AWD1EN) && is_watched && !range.contains(&code) {
            self.raise(ISR_AWD1);
        }
    }
}

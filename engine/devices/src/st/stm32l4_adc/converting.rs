//! Conversions: their duration, their result, and what follows them.

use super::registers::*;
use super::{Adc, CHANNELS, Doing, TEMPERATURE, VBAT, VREFINT};
use crate::support::registers::flag;

/// Twice the sampling cycles of a channel, by its SMP, and twice the cycles of a conversion, by RES.
const SAMPLE_HALVES: [u64; 8] = [5, 13, 25, 49, 95, 185, 495, 1281];
const CONVERSION_HALVES: [u64; 4] = [25, 21, 17, 13];

impl Adc {
    /// The channel at a position of the sequence.
    pub(super) const fn channel(&self, place: u32) -> usize {
        // The first field of ADC_SQR1 is the length.
        let (register, field) = ((place + 1) / 5, (place + 1) % 5);
        (self.of(SQR1 + 4 * register) >> (6 * field) & 0x1f) as usize
    }

    /// The oversampler's number of conversions, and the shift of their sum.
    const fn oversampling(&self) -> (u64, u32) {
        let control = self.of(CFGR2);
        if control & CFGR2_ROVSE == 0 { (1, 0) } else { (2 << (control >> 2 & 7), control >> 5 & 0xf) }
    }

    /// Edges for a position of the sequence: sampling and conversion, times the oversampler's number.
    pub(super) const fn edges(&self, place: u32) -> u64 {
        let channel = self.channel(place);
        let field = if channel < 10 { self.of(SMPR1) >> (3 * channel) } else { self.of(SMPR2) >> (3 * (channel % 10)) };
        let sample = (field & 7) as usize;
        let plus = if sample == 0 && self.of(SMPR1) & SMPR1_SMPPLUS != 0 { 2 } else { 0 };
        let halves = SAMPLE_HALVES[sample] + plus + CONVERSION_HALVES[(self.of(CFGR) >> CFGR_RES & 3) as usize];
        self.oversampling().0 * halves / 2 * self.clock().1
    }

    /// The result of a conversion of a channel: 12 bits.
    const fn sample(&self, channel: usize) -> u32 {
        let enable = match channel {
            VREFINT => CCR_VREFEN,
            TEMPERATURE => CCR_CH17SEL,
            VBAT => CCR_CH18SEL,
            CHANNELS.. => return 0,
            _ => return self.code(channel),
        };
        if self.common & enable != 0 { self.code(channel) } else { 0 }
    }

    const fn code(&self, channel: usize) -> u32 {
        let code = self.params.inputs_uv[channel] as u64 * 4096 / self.params.reference_uv as u64;
        if code > 4095 { 4095 } else { code as u32 }
    }

    /// Handles the end of a conversion.
    pub(super) fn end(&mut self, place: u32, end: u64) {
        let (control, channel) = (self.of(CFGR), self.channel(place));
        let (ratio, shift) = self.oversampling();
        let bits = 12 - 2 * (control >> CFGR_RES & 3);
        let code = self.sample(channel) >> (12 - bits);
        self.conversions += ratio;
        let (low, high) = (self.of(TR1) & 0xfff, self.of(TR1) >> 16);
        let watched = control & CFGR_AWD1SGL == 0 || channel == (control >> CFGR_AWD1CH & 0x1f) as usize;
        let compared = code << (12 - bits);
        if control & CFGR_AWD1EN != 0 && watched && (compared > high || compared < low) {
            self.set(ISR, ISR_AWD1, 0);
        }
        let is_last = place >= self.of(SQR1) & 0xf;
        self.set(ISR, ISR_EOC | flag(ISR_EOS, is_last), 0);
        if self.waits {
            self.set(ISR, ISR_OVR, 0);
        }
        if !self.waits || control & CFGR_OVRMOD != 0 {
            let sum = ((u64::from(code) * ratio) >> shift) as u32;
            let left = if bits == 6 { 2 } else { 16 - bits };
            let is_left = control & CFGR_ALIGN != 0 && ratio == 1;
            self.data = if is_left { sum << left } else { sum } & 0xffff;
            self.waits = true;
        }
        let next = if is_last { 0 } else { place + 1 };
        self.doing = match control & (CFGR_CONT | CFGR_AUTDLY) {
            _ if is_last && control & CFGR_CONT == 0 => {
                self.set(CR, 0, CR_ADSTART);
                Doing::Nothing
            }
            both if both & CFGR_AUTDLY != 0 => Doing::Waiting(next),
            _ => Doing::Converting(next, end + self.edges(next)),
        };
    }
}

//! A character's frame on the line, by the UART's settings.

use super::h7::{CR1_M0, CR1_M1, CR1_OVER8, CR1_PCE, CR1_PS, CR2_DATAINV, CR2_MSBFIRST, CR2_STOP, CR2_TXINV};
use crate::prelude::*;
use engine::serial::wave::{Format, Parity};

/// Length of the stop bits in half bits, by USART_CR2.STOP: 1, 0.5, 2 and 1.5 bits.
const STOP_HALVES: [u64; 4] = [2, 1, 4, 3];
/// Divisors by USART_PRESC; values above 11 act as 11.
const PRESCALERS: [u64; 12] = [1, 2, 4, 6, 8, 10, 12, 16, 32, 64, 128, 256];
/// Minimum of USART_BRR, or with OVER8 of twice USART_BRR without its lowest bits.
const LEAST_DIVIDER: u32 = 16;
/// Minimum of LPUART_BRR.
const LEAST_LOW_POWER_DIVIDER: u32 = 0x300;
/// LPUART_BRR, and a frame's bits in the model, count these parts of a clock.
const PARTS: u64 = 256;

/// The format of characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The length of a bit, in 256ths of a kernel clock; a whole number of clocks in a USART.
    bit_parts: u64,
    /// The format on the line, without the length of a bit.
    format: Format,
}

impl Frame {
    /// The format that registers select; `None` without a baud rate.
    pub fn of(cr1: u32, cr2: u32, brr: u32, presc: u32) -> Option<Frame> {
        let prescaler = PRESCALERS[(presc as usize).min(PRESCALERS.len() - 1)];
        // With OVER8 the lowest 3 bits of BRR are USARTDIV[3:1], and USARTDIV counts half clocks.
        let (divider, halves) = if cr1 & CR1_OVER8 == 0 { (brr, 1) } else { (brr & !0xf | (brr & 7) << 1, 2) };
        if divider < LEAST_DIVIDER {
            return None;
        }
        Some(Frame::formatted(cr1, cr2, u64::from(divider) * prescaler / halves * PARTS))
    }

    /// The format of an LPUART, whose bits take LPUART_BRR 256ths of a clock; edges are at whole clocks.
    pub fn of_low_power(cr1: u32, cr2: u32, brr: u32, presc: u32) -> Option<Frame> {
        let prescaler = PRESCALERS[(presc as usize).min(PRESCALERS.len() - 1)];
        let has_rate = brr >= LEAST_LOW_POWER_DIVIDER;
        has_rate.then(|| Frame::formatted(cr1, cr2, u64::from(brr) * prescaler))
    }

    fn formatted(cr1: u32, cr2: u32, bit_parts: u64) -> Frame {
        let parity = match cr1 & (CR1_PCE | CR1_PS) {
            CR1_PCE => Parity::Even,
            has if has & CR1_PCE != 0 => Parity::Odd,
            _ => Parity::None,
        };
        let word_bits = match cr1 & (CR1_M1 | CR1_M0) {
            CR1_M0 => 9,
            CR1_M1 => 7,
            _ => 8,
        };
        let has = |bit| cr2 & bit != 0;
        let format = Format {
            bit_fs: 0,
            // The word's highest bit is the parity bit, if there is one.
            data_bits: word_bits - u32::from(parity != Parity::None),
            parity,
            stop_halves: STOP_HALVES[field(cr2, CR2_STOP) as usize],
            inversions: (has(CR2_TXINV), has(CR2_DATAINV), has(CR2_MSBFIRST)),
        };
        Frame { bit_parts, format }
    }

    /// The frame's format on the line, with the clock that its bits count.
    pub fn format(self, clock: Hz) -> Format {
        Format { bit_fs: Format::bit_of(self.bit_parts, clock.get(), PARTS), ..self.format }
    }

    /// Kernel clocks of `bits` bits.
    pub const fn cycles_of_bits(self, bits: u64) -> u64 {
        bits * self.bit_parts / PARTS
    }

    /// Kernel clocks from the start of the start bit to the end of the stop bits.
    pub fn cycles(self) -> u64 {
        let word_bits = self.data_bits() + u32::from(self.format.parity != Parity::None);
        (2 * (1 + u64::from(word_bits)) + self.format.stop_halves) * self.bit_parts / (2 * PARTS)
    }

    /// Data bits of a character.
    pub const fn data_bits(self) -> u32 {
        self.format.data_bits
    }

    /// The data of a character, without parity.
    pub const fn data(self, character: u16) -> u16 {
        character & ((1 << self.data_bits()) - 1)
    }

    /// The parity bit of a character's data, if the frame has one.
    fn parity(self, data: u16) -> Option<bool> {
        let is_odd = self.format.parity == Parity::Odd;
        (self.format.parity != Parity::None).then(|| data.count_ones().is_multiple_of(2) == is_odd)
    }

    /// The word as the receiver has it: a character's data, and above them the parity bit, if there is one.
    pub fn received(self, character: u16) -> u16 {
        let data = self.data(character);
        data | u16::from(self.parity(data) == Some(true)) << self.data_bits()
    }

    /// Calls `edge` for each change of the line, with kernel clocks since the start of the start bit and the new level.
    pub fn edges(self, character: u16, mut edge: impl FnMut(u64, bool)) {
        let data = self.data(character);
        let (is_inverted, inverts_data, high_first) = self.format.inversions;
        let sent = |bit: u32| {
            let place = if high_first { self.data_bits() - 1 - bit } else { bit };
            (data >> place & 1 != 0) != inverts_data
        };
        let bits = (0..self.data_bits()).map(sent).chain(self.parity(data));
        let mut level = true;
        for (index, bit) in std::iter::once(false).chain(bits).chain([true]).enumerate() {
            if bit != level {
                level = bit;
                edge(self.cycles_of_bits(index as u64), level != is_inverted);
            }
        }
    }
}

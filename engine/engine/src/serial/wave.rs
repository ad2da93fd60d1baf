//! Characters as levels of a wire, and a receiver that samples the wire at its own rate: how it reads characters that
//! were sent at another rate, or in another format.
//!
//! A start edge begins a character. Each bit is sampled in its middle, by the receiver's own bit length. A start bit
//! that is high in its middle is ignored. The receiver looks for the next edge from the middle of the stop bit on. Bit
//! lengths are in femtoseconds, as few rates have bits of whole picoseconds.

use std::collections::VecDeque;

use crate::state::{Fresh, State};
use crate::time::Ps;

const FS_OF_PS: u64 = 1000;
const FS_OF_SECOND: u128 = 1_000_000_000_000_000;
/// The difference of rates at which a receiver may fail: it tolerates 3 to 5 percent.
const NOTED_PER_MILLE: u64 = 30;

/// A parity bit.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State, Fresh)]
pub enum Parity {
    /// No parity bit.
    #[default]
    None,
    /// An even number of ones.
    Even,
    /// An odd number.
    Odd,
    /// Always this level.
    Fixed(bool),
}

/// The format of characters on a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
pub struct Format {
    /// Femtoseconds of a bit.
    pub bit_fs: u64,
    /// 5 to 9.
    pub data_bits: u32,
    /// The bit after the data bits.
    pub parity: Parity,
    /// The length of the stop bit, in half bits.
    pub stop_halves: u64,
    /// The line, the data, and the order of the bits are inverted.
    pub inversions: (bool, bool, bool),
}

/// A character as a receiver reads it from the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
pub struct Received {
    /// When its stop bit was sampled.
    pub at: Ps,
    /// Its data bits.
    pub data: u16,
    /// Its errors.
    pub errors: Errors,
}

/// The errors of a received character.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State, Fresh)]
pub struct Errors {
    /// Its stop bit was low.
    pub framing: bool,
    /// Its parity bit was wrong.
    pub parity: bool,
    /// The line changed near the middle of a bit.
    pub noise: bool,
}

impl Format {
    /// Eight data bits without parity at a rate, as 8N1.
    #[inline]
    pub const fn at_baud(baud: u32) -> Format {
        Format::of_clocks(FS_OF_SECOND as u64 / if baud == 0 { 1 } else { baud as u64 })
    }

    /// Eight data bits without parity, by the length of a bit.
    #[inline]
    pub const fn of_clocks(bit_fs: u64) -> Format {
        Format { bit_fs, data_bits: 8, parity: Parity::None, stop_halves: 2, inversions: (false, false, false) }
    }

    /// The length of a bit of `parts / (hz * per)` seconds: a number of clocks, or of parts of a clock.
    #[inline]
    pub const fn bit_of(parts: u64, hz: u64, per: u64) -> u64 {
        let fs = parts as u128 * FS_OF_SECOND / (hz as u128 * per as u128);
        if fs == 0 { 1 } else { fs as u64 }
    }

    /// The format of a devicetree's console: "115200n8"; `None` for other texts.
    pub fn of_options(options: &str) -> Option<Format> {
        let digits = options.find(|character: char| !character.is_ascii_digit()).unwrap_or(options.len());
        let baud = options[..digits].parse().ok().filter(|baud| *baud > 0)?;
        let mut rest = options[digits..].chars();
        let parity = match rest.next() {
            None | Some('n') => Parity::None,
            Some('e') => Parity::Even,
            Some('o') => Parity::Odd,
            Some(_) => return None,
        };
        let data_bits = match rest.next() {
            None => 8,
            Some(digit @ '5'..='8') => digit.to_digit(10)?,
            Some(_) => return None,
        };
        Some(Format { data_bits, parity, ..Format::at_baud(baud) })
    }

    /// Bits a second, rounded.
    #[inline]
    pub const fn baud(&self) -> u64 {
        ((FS_OF_SECOND + self.bit_fs as u128 / 2) / self.bit_fs as u128) as u64
    }

    const fn has_parity(&self) -> bool {
        !matches!(self.parity, Parity::None)
    }

    /// Bits before the stop bit, including the start bit.
    const fn bits(&self) -> u64 {
        1 + self.data_bits as u64 + self.has_parity() as u64
    }

    /// The length of a character, in femtoseconds.
    #[inline]
    pub const fn frame_fs(&self) -> u64 {
        self.bit_fs * (2 * self.bits() + self.stop_halves) / 2
    }

    /// The length of a character in whole picoseconds, rounded up.
    #[inline]
    pub const fn frame(&self) -> Ps {
        Ps(self.frame_fs().div_ceil(FS_OF_PS))
    }

    fn parity_of(&self, data: u16) -> bool {
        match self.parity {
            Parity::None => true,
            Parity::Even => data.count_ones() % 2 == 1,
            Parity::Odd => data.count_ones().is_multiple_of(2),
            Parity::Fixed(level) => level,
        }
    }

    /// True if a receiver of format `other` reads characters of this format correctly: the bits are equal, and the
    /// rates differ by less than half a bit at the middle of the stop bit.
    #[inline]
    pub fn suits(&self, other: &Format) -> bool {
        let same = self.data_bits == other.data_bits
            && self.parity == other.parity
            && self.inversions == other.inversions
            && self.stop_halves >= 2;
        let samples = 2 * self.bits() + 1;
        same && self.bit_fs.abs_diff(other.bit_fs) * samples < other.bit_fs.min(self.bit_fs)
    }

    /// True if the rates differ enough that a receiver may fail.
    #[inline]
    pub const fn strays_from(&self, other: &Format) -> bool {
        self.bit_fs.abs_diff(other.bit_fs) * 1000 > other.bit_fs * NOTED_PER_MILLE
    }

    /// The usual notation: "115200 baud 8N1".
    pub fn in_words(&self) -> String {
        let parity = match self.parity {
            Parity::None => 'N',
            Parity::Even => 'E',
            Parity::Odd => 'O',
            Parity::Fixed(true) => 'M',
            Parity::Fixed(false) => 'S',
        };
        let stop = ["0", "0.5", "1", "1.5", "2"][(self.stop_halves as usize).min(4)];
        let inverted = if self.inversions == (false, false, false) { "" } else { ", inverted or high bit first" };
        format!("{} baud {}{parity}{stop}{inverted}", self.baud(), self.data_bits)
    }

    /// Calls `edge` for each change of the line by a character that begins at `begin_fs`.
    fn edges(&self, data: u16, begin_fs: u64, mut edge: impl FnMut(u64, bool)) {
        let (line, inverted, high_first) = self.inversions;
        let place = |bit: u32| if high_first { self.data_bits - 1 - bit } else { bit };
        let sent = |bit: u32| (data >> place(bit) & 1 != 0) != inverted;
        let parity = self.has_parity().then(|| self.parity_of(data));
        let bits = (0..self.data_bits).map(sent).chain(parity);
        let mut level = true;
        for (index, bit) in std::iter::once(false).chain(bits).chain([true]).enumerate() {
            if bit != level {
                level = bit;
                edge(begin_fs + index as u64 * self.bit_fs, level != line);
            }
        }
    }
}

/// A receiver, and the part of the wire that it still needs.
#[derive(Clone, Debug, Default, State)]
pub struct Ear {
    /// Changes of the wire that may still count, each with its time in femtoseconds.
    edges: VecDeque<(u64, bool)>,
    /// The level before these changes.
    low_before: bool,
    /// The receiver looks for a start edge from here on.
    from_fs: u64,
}

impl Ear {
    /// A character is on the wire from `begin` on, after all others.
    #[inline]
    pub fn hear(&mut self, sent: &Format, data: u16, begin: Ps) {
        let edges = &mut self.edges;
        sent.edges(data, begin.0 * FS_OF_PS, |at, level| edges.push_back((at, level)));
    }

    /// True if no change of the wire counts any more.
    #[inline]
    pub fn is_quiet(&self) -> bool {
        self.edges.iter().all(|(at, level)| *level || *at < self.from_fs) && !self.ends_low()
    }

    fn ends_low(&self) -> bool {
        self.edges.back().map_or(self.low_before, |(_, level)| !level)
    }

    fn level_at(&self, at_fs: u64) -> bool {
        self.edges.iter().rev().find(|(at, _)| *at <= at_fs).map_or(!self.low_before, |(_, level)| *level)
    }

    /// The next start edge.
    fn start(&self) -> Option<u64> {
        let mut low = self.low_before;
        for (at, level) in &self.edges {
            if !level && !low && *at >= self.from_fs {
                return Some(*at);
            }
            low = !level;
        }
        None
    }

    /// When the next character will have been received, from the known part of the wire.
    #[inline]
    pub fn next(&self, format: &Format) -> Option<Ps> {
        let stop_fs = self.start()? + self.stop_sample_fs(format);
        Some(Ps(stop_fs.div_ceil(FS_OF_PS)))
    }

    const fn stop_sample_fs(&self, format: &Format) -> u64 {
        format.bit_fs * (2 * format.bits() + 1) / 2
    }

    /// The next character that has been received by `now`.
    pub fn take(&mut self, format: &Format, now: Ps) -> Option<Received> {
        loop {
            let start = self.start()?;
            let middle = |bit: u64| start + format.bit_fs * (2 * bit + 1) / 2;
            if self.level_at(middle(0)) {
                if middle(0) > now.0 * FS_OF_PS {
                    return None;
                }
                self.forget(middle(0));
                continue;
            }
            let stop = middle(format.bits());
            if stop > now.0 * FS_OF_PS {
                return None;
            }
            let sampled = |bit: u32| u16::from(self.level_at(middle(1 + u64::from(bit)))) << bit;
            let data = (0..format.data_bits).map(sampled).sum();
            let parity_bit = self.level_at(middle(1 + u64::from(format.data_bits)));
            // The three samples around the middle, of sixteen in a bit.
            let margin = format.bit_fs / 16;
            let is_noisy = |bit: u64| self.level_at(middle(bit) - margin) != self.level_at(middle(bit) + margin);
            let errors = Errors {
                framing: !self.level_at(stop),
                parity: format.has_parity() && parity_bit != format.parity_of(data),
                noise: (0..format.bits()).any(is_noisy),
            };
            self.forget(stop);
            return Some(Received { at: Ps(stop.div_ceil(FS_OF_PS)), data, errors });
        }
    }

    /// Drops changes before `from_fs`, from where on the receiver looks for an edge.
    fn forget(&mut self, from_fs: u64) {
        self.from_fs = from_fs;
        while let Some((_, level)) = self.edges.front().filter(|(at, _)| *at < from_fs).copied() {
            self.low_before = !level;
            self.edges.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads characters that are sent as `from` without a pause with a receiver of `to`.
    fn heard(from: Format, to: Format, text: &[u8]) -> Vec<Received> {
        let (mut ear, mut begin) = (Ear::default(), Ps(1_000_000));
        for character in text {
            ear.hear(&from, u16::from(*character), begin);
            begin += from.frame();
        }
        std::iter::from_fn(|| ear.take(&to, Ps::from_us(1_000_000))).collect()
    }

    fn data(received: &[Received]) -> Vec<u8> {
        received.iter().map(|one| one.data as u8).collect()
    }

    #[test]
    fn rates_within_half_a_bit_at_the_stop_bit_are_heard_and_others_not() {
        let line = Format::at_baud(115_200);
        // 9.5 bits: half a bit is 5.26 %.
        for (baud, suits) in [(115_200, true), (109_800, true), (109_000, false), (120_900, true), (121_600, false)] {
            let sent = Format::at_baud(baud);
            assert_eq!(sent.suits(&line), suits, "{baud}");
            let received = heard(sent, line, b"Uz\0\xff");
            let clean = data(&received) == b"Uz\0\xff" && received.iter().all(|one| !one.errors.framing);
            assert_eq!(clean, suits, "{baud}: {received:?}");
        }
        assert!(Format::at_baud(111_000).strays_from(&line) && !Format::at_baud(113_000).strays_from(&line));
    }

    #[test]
    fn half_the_rate_doubles_each_bit() {
        let line = Format::at_baud(115_200);
        // 'h', 0x68, low bit first after the start bit: 0 00010110 1, each twice: 00 00 00 00 11 00 11 11 00 11.
        let received = heard(Format::at_baud(57_600), line, b"h");
        // Start, 0001 0000 with the stop bit high; from there low at 10: 0 0 1111 00 11 and idle.
        let [first, second] = received[..] else { panic!("{received:?}") };
        // Bits 1 to 8: 0 0 0 0 0 0 0 1; bit 9 is 1: a clean 0x80. The next edge is at bit 10.
        assert_eq!((first.data, first.errors.framing), (0x80, false));
        // 0 | 0 1 1 1 1 0 0 1 | 1.
        assert_eq!((second.data, second.errors.framing), (0x9e, false));
        // 9.5 bits from the edge at 1 us: 82.465 us.
        assert_eq!(first.at.0 / 1_000_000, 83);
    }

    #[test]
    fn twice_the_rate_halves_them() {
        let line = Format::at_baud(115_200);
        // Each sample is every second bit of the sent ones: samples at 1, 3, 5 ... bits of twice the rate fall on
        // edges.
        let received = heard(Format::at_baud(460_800), line, b"\0\0\0\0");
        assert!(received.iter().all(|one| one.data != 0), "{received:?}");
        // A break: low for longer than a character.
        let received = heard(Format::at_baud(9_600), line, b"\0");
        assert_eq!((received.len(), received[0].data, received[0].errors.framing), (1, 0, true));
    }

    #[test]
    fn other_formats_show_in_data_and_errors() {
        let line = Format::at_baud(9_600);
        let even = Format { parity: Parity::Even, ..line };
        // Three ones: the parity bit is 1, which is where the stop bit is sampled; the stop bit follows.
        assert_eq!(data(&heard(even, line, b"aC")), b"aC");
        // Two ones: it is 0.
        let received = heard(even, line, b"A");
        assert_eq!((received[0].data, received[0].errors.framing), (0x41, true));
        // Without a parity bit the stop bit is taken for it.
        let received = heard(line, even, b"A");
        assert!(received[0].errors.parity, "{received:?}");
        let seven = Format { data_bits: 7, ..line };
        assert_eq!(data(&heard(seven, line, b"A")), [0xc1]);
        assert!(!seven.suits(&line) && !even.suits(&line) && line.suits(&line));
        let inverted = Format { inversions: (true, false, false), ..line };
        assert!(!inverted.suits(&line));
    }

    #[test]
    fn options_of_a_console_are_read() {
        let format = |options| Format::of_options(options).map(|format| format.in_words());
        assert_eq!(format("115200n8").as_deref(), Some("115200 baud 8N1"));
        assert_eq!(format("9600e7").as_deref(), Some("9600 baud 7E1"));
        assert_eq!(format("57600").as_deref(), Some("57600 baud 8N1"));
        assert_eq!((format(""), format("0n8"), format("9600x"), format("9600n9")), (None, None, None, None));
    }
}

//! CAN: frames, their bits on the wire, and the bit time of a node (ISO 11898-1; Bosch, CAN Specification 2.0). A bit
//! is recessive (true) or dominant (false); a dominant bit wins.

pub mod reading;
pub mod script;
pub mod text;

use crate::state::{Fresh, State};
use crate::time::{Cycles, Hz, Ps};

/// Bits after the last bit of a frame in which no node sends.
pub const INTERMISSION_BITS: u64 = 3;
/// An error flag, active or passive.
pub const ERROR_FLAG_BITS: u64 = 6;
/// Recessive bits after the last error flag.
pub const ERROR_DELIMITER_BITS: u64 = 8;
/// Bits for which an error-passive node waits additionally after it has sent.
pub const SUSPEND_BITS: u64 = 8;
/// Recessive bits in a row after which the bus is free.
pub const IDLE_BITS: u64 = 11;
/// Bits of the end of frame.
const EOF_BITS: usize = 7;
/// x^15 + x^14 + x^10 + x^8 + x^7 + x^4 + x^3 + 1.
const CRC_POLYNOMIAL: u32 = 0x4599;

/// A data frame or a remote frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State, Fresh)]
pub struct Frame {
    /// The identifier, of 11 or 29 bits.
    pub id: u32,
    /// It has 29 bits.
    pub is_extended: bool,
    /// A remote frame: it requests data, and has none.
    pub is_remote: bool,
    /// The data length code, 0 to 15: above 8 it means 8.
    pub length: u8,
    /// The data.
    pub data: [u8; 8],
}

/// The bits of a frame on the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bits {
    /// From the start of frame to the end of frame, with stuff bits; the acknowledge slot as the sender has it,
    /// recessive.
    pub levels: Vec<bool>,
    /// The number of bits up to the end of the arbitration field.
    pub arbitration: usize,
    /// The index of the acknowledge slot.
    pub acknowledge: usize,
}

impl Frame {
    /// A data frame with an identifier of 11 bits.
    pub fn standard(id: u32, data: &[u8]) -> Frame {
        let mut frame = Frame { id, length: data.len().min(8) as u8, ..Frame::default() };
        frame.data[..frame.length as usize].copy_from_slice(&data[..frame.length as usize]);
        frame
    }

    /// Its data; empty for a remote frame.
    pub fn bytes(&self) -> &[u8] {
        let bytes = if self.is_remote { 0 } else { self.length.min(8) as usize };
        &self.data[..bytes]
    }

    /// The arbitration priority: the smallest value wins, as its bits do on the wire.
    pub const fn priority(&self) -> u64 {
        let (id, remote) = (self.id as u64, self.is_remote as u64);
        if self.is_extended {
            (id >> 18) << 21 | 3 << 19 | (id & 0x3_ffff) << 1 | remote
        } else {
            id << 21 | remote << 20
        }
    }

    /// The bits of the frame.
    pub fn bits(&self) -> Bits {
        let mut bits = Stuffed::default();
        bits.push(0, 1);
        let remote = u32::from(self.is_remote);
        if self.is_extended {
            bits.push(self.id >> 18, 11);
            // SRR and IDE.
            bits.push(3, 2);
            bits.push(self.id, 18);
            bits.push(remote, 1);
        } else {
            bits.push(self.id, 11);
            bits.push(remote, 1);
        }
        let arbitration = bits.levels.len();
        // r1 and r0, or IDE and r0.
        bits.push(0, 2);
        bits.push(self.length.into(), 4);
        self.bytes().iter().for_each(|byte| bits.push((*byte).into(), 8));
        bits.push(bits.crc, 15);
        let mut levels = bits.levels;
        let acknowledge = levels.len() + 1;
        // The delimiters on both sides of the slot, the slot itself, and the end of frame.
        levels.resize(acknowledge + 2 + EOF_BITS, true);
        Bits { levels, arbitration, acknowledge }
    }
}

/// Collects bits, with a stuff bit of the opposite level after each five equal bits.
#[derive(Default)]
struct Stuffed {
    levels: Vec<bool>,
    run: u32,
    crc: u32,
}

impl Stuffed {
    /// Adds the lowest `count` bits, highest first.
    fn push(&mut self, value: u32, count: u32) {
        for bit in (0..count).rev() {
            let level = value >> bit & 1 != 0;
            self.crc = next_crc(self.crc, level);
            self.add(level);
            if self.run == 5 {
                self.add(!level);
            }
        }
    }

    fn add(&mut self, level: bool) {
        self.run = if self.levels.last() == Some(&level) { self.run + 1 } else { 1 };
        self.levels.push(level);
    }
}

/// The CRC after one more bit.
const fn next_crc(crc: u32, level: bool) -> u32 {
    let feedback = (crc >> 14 & 1 != 0) != level;
    let shifted = crc << 1 & 0x7fff;
    if feedback { shifted ^ CRC_POLYNOMIAL } else { shifted }
}

/// A node's bit timing: a synchronization segment of one time quantum, and two segments with the sample point between
/// them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
pub struct BitTime {
    /// The clock from which time quanta are made.
    pub clock: Hz,
    /// Clock cycles of a time quantum.
    pub quantum_cycles: u32,
    /// Time quanta from the synchronization segment to the sample point.
    pub before_sample: u32,
    /// Time quanta after the sample point.
    pub after_sample: u32,
    /// The largest number of time quanta by which an edge moves the sample point.
    pub jump: u32,
}

impl BitTime {
    /// The bit timing for this many bits a second, with the sample point at 87.5 % (CiA 301's recommendation).
    pub fn of_rate(bits_per_second: u32) -> Option<BitTime> {
        let clock = Hz::new(16 * u64::from(bits_per_second))?;
        Some(BitTime { clock, quantum_cycles: 1, before_sample: 13, after_sample: 2, jump: 1 })
    }

    /// Time quanta of a bit.
    pub const fn quanta(&self) -> u32 {
        1 + self.before_sample + self.after_sample
    }

    /// Cycles of a bit.
    pub const fn cycles(&self) -> u64 {
        self.quantum_cycles as u64 * self.quanta() as u64
    }

    /// Bits a second, rounded down.
    pub fn bits_per_second(&self) -> u64 {
        self.clock.get() / self.cycles()
    }

    /// True if the bits of both have the same length.
    pub fn is_as_long_as(&self, other: &BitTime) -> bool {
        let [own, others] = [(self, other), (other, self)]
            .map(|(one, another)| u128::from(one.clock.get()) * u128::from(another.cycles()));
        own == others
    }

    /// The start of a bit, in a frame that began at an edge of the clock.
    pub fn begin(&self, first: u64, bit: u64) -> Ps {
        self.clock.ps_at_floor(Cycles(first.saturating_add(bit.saturating_mul(self.cycles()))))
    }

    /// The sample point of a bit.
    pub fn sample(&self, first: u64, bit: u64) -> Ps {
        let into = u64::from(self.quantum_cycles) * u64::from(1 + self.before_sample);
        self.clock.ps_at_floor(Cycles(first.saturating_add(bit.saturating_mul(self.cycles())).saturating_add(into)))
    }

    /// The time at which this node samples a bit of another node's frame, to which it is synchronized.
    pub fn sample_of(&self, sender: &BitTime, first: u64, bit: u64) -> Ps {
        if self.clock == sender.clock && self.cycles() == sender.cycles() {
            return self.sample(first, bit);
        }
        self.sample(self.clock.cycles_until_ceil(sender.begin(first, bit)).0, 0)
    }

    /// The end of this many bits from the next edge of the clock on.
    pub fn after(&self, at: Ps, bits: u64) -> Ps {
        self.begin(self.clock.cycles_until_ceil(at).0, bits)
    }

    /// The first boundary between two bits at `at` or later; one boundary is at `origin`.
    pub fn boundary(&self, origin: Ps, at: Ps) -> Ps {
        let first = self.clock.cycles_until_ceil(origin).0;
        let passed = self.clock.cycles_until_ceil(at).0.saturating_sub(first);
        self.begin(first, passed.div_ceil(self.cycles()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(levels: &[bool]) -> String {
        levels.iter().map(|level| if *level { '1' } else { '0' }).collect()
    }

    #[test]
    fn a_frame_is_as_long_as_its_fields_and_stuff_bits() {
        // SOF, 11 of the identifier, RTR, IDE, r0, 4 of the length, 16 of data, 15 of the CRC, and 10 after it: 60.
        // RTR, IDE, r0 and the length's first two bits are five dominant ones, which a stuff bit follows.
        let bits = Frame::standard(0x555, &[0xaa, 0x55]).bits();
        assert_eq!(text(&bits.levels[..13]), "0101010101010");
        assert_eq!((bits.levels.len(), bits.arbitration), (60 + 1, 13));
        assert_eq!(bits.acknowledge, bits.levels.len() - 9);
        assert_eq!(text(&bits.levels[bits.acknowledge - 1..]), "1111111111");
        // SOF and four bits of the identifier are dominant, then a stuff bit, and so on.
        let zero = Frame::standard(0, &[]).bits();
        assert_eq!(text(&zero.levels[..12]), "000001000001");
    }

    /// "123456789" has the check value 0x059e (the catalogue of parametrised CRC algorithms, CRC-15/CAN).
    #[test]
    fn the_crc_is_that_of_the_specification() {
        let mut bits = Stuffed::default();
        b"123456789".iter().for_each(|byte| bits.push((*byte).into(), 8));
        assert_eq!(bits.crc, 0x059e);
    }

    #[test]
    fn priorities_are_those_of_the_wire() {
        let extended = |id| Frame { is_extended: true, ..Frame::standard(id, &[]) };
        let remote = |frame: Frame| Frame { is_remote: true, ..frame };
        let frames = [
            Frame::standard(0x122, &[9]),
            Frame::standard(0x123, &[]),
            remote(Frame::standard(0x123, &[])),
            extended(0x123 << 18),
            remote(extended(0x123 << 18)),
            extended(0x123 << 18 | 1),
            Frame::standard(0x124, &[]),
        ];
        for pair in frames.windows(2) {
            assert!(pair[0].priority() < pair[1].priority(), "{pair:?}");
            let [first, second] = [0, 1].map(|index| pair[index].bits().levels);
            let differ = first.iter().zip(&second).position(|(one, other)| one != other).unwrap();
            assert!(!first[differ], "{pair:?}");
        }
    }

    #[test]
    fn a_bit_is_made_of_whole_cycles() {
        // PCLK1 of 42 MHz, BRP 6, 1 + 11 + 2 quanta: 500 kbit/s, sampled at 12 / 14.
        let clock = Hz::new(42_000_000).unwrap();
        let time = BitTime { clock, quantum_cycles: 6, before_sample: 11, after_sample: 2, jump: 1 };
        assert_eq!((time.cycles(), time.bits_per_second()), (84, 500_000));
        assert_eq!(time.begin(0, 3), Ps::from_us(6));
        assert_eq!(time.sample(84, 0), clock.ps_at_floor(Cycles(84 + 72)));
        assert_eq!(time.boundary(Ps::from_us(1), Ps::from_us(4)), Ps::from_us(5));
        assert_eq!(time.boundary(Ps::from_us(1), Ps::from_us(5)), Ps::from_us(5));
        assert!(time.is_as_long_as(&BitTime::of_rate(500_000).unwrap()));
        assert!(!time.is_as_long_as(&BitTime::of_rate(250_000).unwrap()));
    }
}

//! How a node reads a frame whose sender has another bit time: it samples the wire at its own times, and resynchronises
//! on the edges that it sees (Bosch, CAN Specification 2.0, "Synchronization").

use super::{BitTime, Bits, next_crc};
use crate::state::{Fresh, State};

/// The errors of a frame, in the terms of bxCAN's LEC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Fresh)]
pub enum Fault {
    /// Six equal bits in a row.
    Stuff,
    /// A bit of a fixed recessive field is dominant.
    Form,
    /// No node acknowledged.
    Acknowledge,
    /// A recessive bit was sent, and a dominant one was on the wire.
    BitRecessive,
    /// A dominant bit was sent, and a recessive one was on the wire.
    BitDominant,
    /// The CRC differs.
    Crc,
}

/// The first error that a node detects in a frame, and the sender's bit at which it detects it; `None` if it reads the
/// frame correctly. The acknowledge slot is dominant.
pub fn first_fault(reader: &BitTime, sender: &BitTime, bits: &Bits) -> Option<(Fault, u64)> {
    if reader.is_as_long_as(sender) {
        return None;
    }
    let level = |bit: u64| bit as usize != bits.acknowledge && bits.levels.get(bit as usize).copied().unwrap_or(true);
    let sender_bit = |quantum: u64| {
        let time = u128::from(quantum) * u128::from(reader.quantum_cycles) * u128::from(sender.clock.get());
        (time / (u128::from(reader.clock.get()) * u128::from(sender.cycles()))) as u64
    };
    let mut parser = Parser::default();
    let mut sampler = Sampler { length: reader.quanta(), sample: 1 + reader.before_sample, ..Sampler::default() };
    // After the end the wire is recessive, which every reader takes for an error or the end.
    let last = bits.levels.len() as u64 + 12;
    let mut quantum = 0;
    while sender_bit(quantum) < last {
        let at = sender_bit(quantum);
        if let Some(level) = sampler.next(level(at), reader) {
            match parser.push(level) {
                Read::More => {}
                Read::Fault(fault) => return Some((fault, at)),
                Read::End => return parser.is_of(bits).then_some(()).map_or(Some((Fault::Crc, at)), |()| None),
            }
        }
        quantum += 1;
    }
    Some((Fault::Form, last))
}

/// A reader's position within its bit.
#[derive(Default)]
struct Sampler {
    phase: u32,
    /// Quanta of this bit, and the position of its sample point.
    length: u32,
    sample: u32,
    before: Option<bool>,
    sampled: Option<bool>,
    is_synchronized: bool,
}

impl Sampler {
    /// Takes a time quantum with this level. Returns the level of the bit if the sample point is at the start of the
    /// quantum.
    fn next(&mut self, level: bool, time: &BitTime) -> Option<bool> {
        let falls = self.before == Some(true) && !level && self.sampled == Some(true);
        if falls && !self.is_synchronized && self.phase > 0 {
            self.is_synchronized = true;
            if self.phase < self.sample {
                let late = self.phase.min(time.jump);
                (self.sample, self.length) = (self.sample + late, self.length + late);
            } else {
                self.length = self.length.saturating_sub(time.jump.min(self.length - self.phase)).max(self.phase);
                if self.length == self.phase {
                    self.turn(time);
                }
            }
        }
        self.before = Some(level);
        self.phase += 1;
        let sampled = (self.phase == self.sample).then_some(level);
        if sampled.is_some() {
            (self.sampled, self.is_synchronized) = (sampled, false);
        }
        if self.phase >= self.length {
            self.turn(time);
        }
        sampled
    }

    fn turn(&mut self, time: &BitTime) {
        (self.phase, self.length, self.sample) = (0, time.quanta(), 1 + time.before_sample);
    }
}

enum Read {
    More,
    Fault(Fault),
    End,
}

/// Parses bits into fields.
#[derive(Default)]
struct Parser {
    run: u32,
    last: Option<bool>,
    /// Bits without stuff bits, up to the end of the CRC, and the CRC over the bits before the CRC field.
    bits: Vec<bool>,
    crc: u32,
    /// Bits after the CRC.
    after: u32,
    read: Vec<bool>,
}

impl Parser {
    fn field(&self, from: usize, count: usize) -> usize {
        self.bits[from..from + count].iter().fold(0, |value, bit| value << 1 | usize::from(*bit))
    }

    /// The number of bits before the CRC, once it is known.
    fn body(&self) -> Option<usize> {
        let control = if *self.bits.get(13)? { 35 } else { 15 };
        let length = (self.bits.len() >= control + 4).then(|| self.field(control, 4).min(8))?;
        let is_remote = self.bits[if control == 35 { 32 } else { 12 }];
        Some(control + 4 + if is_remote { 0 } else { 8 * length })
    }

    fn push(&mut self, level: bool) -> Read {
        self.read.push(level);
        let body = self.body();
        if body.is_some_and(|body| self.bits.len() == body + 15) && (self.run < 5 || self.after > 0) {
            return self.push_after(level);
        }
        let is_stuffed = self.run == 5;
        self.run = if self.last == Some(level) { self.run + 1 } else { 1 };
        self.last = Some(level);
        if is_stuffed {
            return if self.run > 5 { Read::Fault(Fault::Stuff) } else { Read::More };
        }
        if body.is_none_or(|body| self.bits.len() < body) {
            self.crc = next_crc(self.crc, level);
        }
        self.bits.push(level);
        Read::More
    }

    /// Takes the CRC's delimiter, the acknowledge slot with its delimiter, and the end of frame.
    fn push_after(&mut self, level: bool) -> Read {
        self.after += 1;
        let body = self.bits.len() - 15;
        match self.after {
            2 => Read::More,
            _ if !level => Read::Fault(Fault::Form),
            3 if self.field(body, 15) != self.crc as usize => Read::Fault(Fault::Crc),
            9 => Read::End,
            _ => Read::More,
        }
    }

    /// True if the bits that were read are this frame.
    fn is_of(&self, bits: &Bits) -> bool {
        self.read.iter().zip(&bits.levels).enumerate().all(|(at, (read, sent))| at == bits.acknowledge || read == sent)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::time::Hz;
    use crate::wire::can::Frame;
    use proptest::prelude::*;

    fn time(mhz_16: u64) -> BitTime {
        BitTime { clock: Hz::new(mhz_16).unwrap(), ..BitTime::of_rate(500_000).unwrap() }
    }

    #[test]
    fn another_rate_is_a_fault_and_a_little_more_is_not() {
        let bits = Frame::standard(0x123, &[1, 2, 3]).bits();
        let fault = |mhz| first_fault(&time(mhz), &time(8_000_000), &bits);
        // 0.2 %, which an edge every five bits compensates.
        assert_eq!(fault(8_016_000), None);
        assert_eq!(fault(7_984_000), None);
        // At twice the rate, three dominant bits are read as six.
        let (what, at) = fault(16_000_000).unwrap();
        assert_eq!((what, at), (Fault::Stuff, 2));
        assert!(fault(4_000_000).is_some() && fault(7_200_000).is_some() && fault(8_800_000).is_some());
    }

    proptest! {
        #[test]
        fn a_frame_is_read_as_it_was_sent(
            (id, length) in (0u32..1 << 29, 0u8..16),
            (extended, remote) in any::<(bool, bool)>(),
            data in any::<[u8; 8]>(),
        ) {
            let id = if extended { id } else { id & 0x7ff };
            let bits = Frame { id, is_extended: extended, is_remote: remote, length, data }.bits();
            // With a rate that is almost the same, the parser reads the whole frame.
            prop_assert_eq!(first_fault(&time(8_000_001), &time(8_000_000), &bits), None);
            let mut parser = Parser::default();
            let wire = bits.levels.iter().enumerate().map(|(at, level)| *level && at != bits.acknowledge);
            let end = wire.map(|level| matches!(parser.push(level), Read::End)).position(|ends| ends);
            prop_assert_eq!(end, Some(bits.levels.len() - 2));
        }

        #[test]
        fn no_rate_hangs(reader in 1u64..100_000_000, before in 1u32..16, after in 1u32..8, jump in 1u32..4) {
            let bits = Frame::standard(0x7ff, &[0; 8]).bits();
            let clock = Hz::new(reader).unwrap();
            let (before_sample, after_sample) = (before, after);
            let reader =
                BitTime { clock, quantum_cycles: 1, before_sample, after_sample, jump: jump.min(after) };
            let _ = first_fault(&reader, &time(8_000_000), &bits);
        }
    }
}

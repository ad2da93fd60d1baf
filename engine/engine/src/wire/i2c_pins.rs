//! The I2C wire as two pins: decodes the levels of SCL and SDA, for a master whose lines firmware pulls low and
//! releases by hand.
//!
//! SDA counts on the rising edge of SCL, with the level from before the edge: a change together with the clock counts
//! from the next edge on. A change of SDA while SCL stays high is a START or a STOP.

use crate::state::State;

/// The event that an edge of the lines means.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Edge {
    /// A START, or a repeated one.
    Start,
    /// A STOP.
    Stop,
    /// SCL has fallen after one of the bits 1 to 7 of a byte: the transmitter puts the next bit on SDA.
    Bit(u32),
    /// SCL has fallen after the eighth clock: the byte that was on SDA.
    Byte(u8),
    /// SCL has fallen after the ninth clock: true if SDA was low in it.
    Acknowledge(bool),
}

/// Clocks of a byte with its acknowledge.
const CLOCKS: u32 = 9;

/// The present levels, and the position in the frame.
#[derive(Clone, Copy, Debug, State)]
pub struct I2cPins {
    scl: bool,
    sda: bool,
    /// Rising edges of SCL since the frame or its last byte began; `None` outside of frames.
    clocks: Option<u32>,
    /// The levels of SDA on these edges.
    bits: u32,
}

impl I2cPins {
    /// Lines with these levels, outside of any frame.
    pub const fn new(scl: bool, sda: bool) -> I2cPins {
        I2cPins { scl, sda, clocks: None, bits: 0 }
    }

    /// The lines have these levels now.
    pub fn set(&mut self, scl: bool, sda: bool) -> Option<Edge> {
        let before = std::mem::replace(self, I2cPins { scl, sda, ..*self });
        if before.scl && scl {
            return self.condition(before.sda);
        }
        let clocks = self.clocks?;
        if scl && !before.scl {
            (self.clocks, self.bits) = (Some(clocks + 1), self.bits << 1 | u32::from(before.sda));
        }
        if !before.scl || scl || clocks == 0 {
            return None;
        }
        Some(match clocks {
            8 => Edge::Byte(self.bits as u8),
            CLOCKS => {
                self.clocks = Some(0);
                Edge::Acknowledge(self.bits & 1 == 0)
            }
            bit => Edge::Bit(bit),
        })
    }

    /// SCL is high, and SDA was so before.
    const fn condition(&mut self, before: bool) -> Option<Edge> {
        match (before, self.sda) {
            (true, false) => {
                self.clocks = Some(0);
                Some(Edge::Start)
            }
            (false, true) if self.clocks.is_some() => {
                self.clocks = None;
                Some(Edge::Stop)
            }
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Changes one after the other: `c` and `d` pull SCL and SDA low, `C` and `D` let them go.
    fn edges(changes: &str) -> Vec<Edge> {
        let mut pins = I2cPins::new(true, true);
        let (mut scl, mut sda) = (true, true);
        let set = |change: char| {
            match change {
                'c' | 'C' => scl = change == 'C',
                _ => sda = change == 'D',
            }
            pins.set(scl, sda)
        };
        changes.chars().filter_map(set).collect()
    }

    #[test]
    fn a_byte_and_its_acknowledge_are_seen() {
        // 0xa5, acknowledged, STOP.
        let bits = ["DCc", "dCc", "DCc", "dCc", "dCc", "DCc", "dCc", "DCc"].concat();
        let mut expected = vec![Edge::Start];
        expected.extend((1..8).map(Edge::Bit));
        expected.extend([Edge::Byte(0xa5), Edge::Acknowledge(true), Edge::Stop]);
        assert_eq!(edges(&format!("dc{bits}dCcCD")), expected);
    }

    #[test]
    fn a_repeated_start_begins_anew_in_the_middle_of_a_byte() {
        assert_eq!(edges("dcDCcDCd"), [Edge::Start, Edge::Bit(1), Edge::Start]);
        assert_eq!(edges("dcDCcDCdc"), [Edge::Start, Edge::Bit(1), Edge::Start]);
    }

    #[test]
    fn outside_of_frames_clocks_and_stops_mean_nothing() {
        assert_eq!(edges("cCcCcCcC"), []);
        assert_eq!(edges("cdCD"), []);
        assert_eq!(edges("dcCDcCcC"), [Edge::Start, Edge::Stop]);
    }

    #[test]
    fn what_changes_together_with_the_clock_counts_later() {
        let mut pins = I2cPins::new(true, true);
        assert_eq!(pins.set(true, false), Some(Edge::Start));
        // SDA changes as SCL falls: no STOP.
        assert_eq!(pins.set(false, true), None);
        // It changes as SCL rises: the clock has the level before.
        assert_eq!(pins.set(true, false), None);
        assert_eq!(pins.set(false, false), Some(Edge::Bit(1)));
        assert_eq!(pins.bits, 1);
    }
}

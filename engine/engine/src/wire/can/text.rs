//! Frames as can-utils write them: `123#DEADBEEF`, `12345678#`, `123#R4`, and lines of `candump -L`.

use std::fmt;

use super::Frame;
use crate::time::Ps;

impl fmt::Display for Frame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.is_extended {
            write!(f, "{:08X}#", self.id)?
        } else {
            write!(f, "{:03X}#", self.id)?
        }
        if self.is_remote {
            f.write_str("R")?;
            return if self.length == 0 { Ok(()) } else { write!(f, "{:X}", self.length.min(8)) };
        }
        self.bytes().iter().try_for_each(|byte| write!(f, "{byte:02X}"))?;
        // A length code above 8 follows the data.
        if self.length > 8 { write!(f, "_{:X}", self.length) } else { Ok(()) }
    }
}

/// The line of `candump -L` for a frame that was on the wire of `interface` at `at`.
pub fn log_line(at: Ps, interface: &str, frame: &Frame) -> String {
    let us = at.0 / 1_000_000;
    format!("({:010}.{:06}) {interface} {frame}\n", us / 1_000_000, us % 1_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_written_as_by_can_utils() {
        let frame = Frame::standard(0x23, &[0xde, 0xad]);
        assert_eq!(frame.to_string(), "023#DEAD");
        assert_eq!(Frame { is_extended: true, ..frame }.to_string(), "00000023#DEAD");
        assert_eq!(Frame { is_remote: true, ..frame }.to_string(), "023#R2");
        assert_eq!(Frame { is_remote: true, length: 0, ..frame }.to_string(), "023#R");
        assert_eq!(Frame { length: 9, ..frame }.to_string(), "023#DEAD000000000000_9");
        assert_eq!(log_line(Ps(1_000_002_999_999), "can1", &frame), "(0000000001.000002) can1 023#DEAD\n");
    }
}

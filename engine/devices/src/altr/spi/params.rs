//! The properties of the core's node: the generator's options under its own names, and the timing properties of
//! Cyclescope.

use crate::prelude::*;
use crate::support::axi_lite::AxiLitePort;
use crate::support::spi_controller::Format;
use engine::dt::reader::FREQUENCIES_HZ;

/// The core's configuration and timing.
#[derive(Clone, Copy, Debug)]
pub struct Params {
    /// Register port; SCK is divided from its clock.
    pub port: AxiLitePort,
    /// `altr,databits`, `altr,lsbfirst`, `altr,clockpolarity`, `altr,clockphase`, and the divider of SCK.
    pub format: Format,
    /// `num-cs`: slave selects.
    pub slaves: u32,
    /// Interrupt output.
    pub interrupt: Option<IrqLine>,
}

impl Params {
    /// Reads the node, all but its children.
    pub fn from_node(reader: &mut NodeReader) -> Params {
        let port = AxiLitePort::from_node(reader);
        let target_hz = reader.u32(
            "clock-frequency",
            FREQUENCIES_HZ,
            "the most that SCK may have, in hertz and above 0: it gets the nearest even part of the clock below that, \
             half the clock at the most",
        );
        let mut option = |name: &str, meaning: &str| reader.u32_or(name, 0, 0..=1, meaning) == 1;
        let lsb_first = option("altr,lsbfirst", "0 is the highest bit first, 1 the lowest");
        let cpol = option("altr,clockpolarity", "the level of SCK at rest, 0 or 1");
        let cpha = option("altr,clockphase", "0 samples on the first edge of a clock, 1 on the second");
        let bits = reader.u32_or("altr,databits", 8, 1..=32, "a word has 1 to 32 bits");
        let half = half_cycles(port.clock, target_hz.max(1));
        Params {
            port,
            format: Format { bits, lsb_first, cpol, cpha, half },
            slaves: reader.u32_or("num-cs", 1, 1..=32, "the core has 1 to 32 slave selects"),
            interrupt: reader.interrupt(0, "its interrupt"),
        }
    }
}

/// Half of the even divider that gives at most `target_hz`, as the generator selects it.
const fn half_cycles(clock: Hz, target_hz: u32) -> u64 {
    clock.get().div_ceil(2 * target_hz as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dividers_are_even_and_never_too_small() {
        let clock = Hz::new(99_038_462).unwrap();
        // 62.5 MHz to 2 MHz: 31.25, so 32.
        assert_eq!(half_cycles(Hz::new(62_500_000).unwrap(), 2_000_000), 16);
        assert_eq!(half_cycles(clock, 25_000_000), 2);
        assert_eq!(half_cycles(clock, 49_519_231), 1);
        assert_eq!(half_cycles(clock, 49_519_230), 2);
        assert_eq!(half_cycles(clock, u32::MAX), 1);
        // An odd divider, 3, gives too much by the rule: 4.
        assert_eq!(half_cycles(Hz::new(75_000_000).unwrap(), 25_000_000), 2);
    }
}

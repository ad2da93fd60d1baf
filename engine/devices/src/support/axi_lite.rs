//! The register port of small devices: a 32-bit AXI4-Lite slave that answers every read in one number of clocks and
//! every write in another (Xilinx's AXI4-Lite IPIF, PG155, is built this way).

use crate::prelude::*;
use engine::polling::Phase;

/// No events are scheduled beyond this simulated time (106 days).
pub const FOREVER: Ps = Ps(u64::MAX / 2);

/// A register port and its timing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, State, Polled)]
pub struct AxiLitePort {
    /// Clock of the port, and of most devices that have one.
    pub clock: Hz,
    /// From the read request at the port to its data.
    #[state(skip)]
    pub read_cycles: Cycles,
    /// From the write request at the port to its response.
    #[state(skip)]
    pub write_cycles: Cycles,
}

/// The phase of its clock.
impl Phase for AxiLitePort {
    fn phase(&self, poll: &mut Poll) {
        poll.phase(self.clock);
    }
}

impl AxiLitePort {
    /// Reads `clocks` (index 0), `cyclescope,read-cycles` and `cyclescope,write-cycles`.
    pub fn from_node(reader: &mut NodeReader) -> AxiLitePort {
        let clock = reader.clock(0, "the clock of the register port");
        AxiLitePort::with_clock(reader, clock)
    }

    /// [`AxiLitePort::from_node`] on a clock that may change: the device follows it.
    pub fn on_clock_input(reader: &mut NodeReader) -> (AxiLitePort, ClockInput) {
        let clock = reader.clock_input(0, "the clock of the register port");
        (AxiLitePort::with_clock(reader, clock.rate), clock)
    }

    fn with_clock(reader: &mut NodeReader, clock: Hz) -> AxiLitePort {
        AxiLitePort {
            clock,
            read_cycles: reader.timing_cycles("cyclescope,read-cycles", "clocks in which the port answers a read"),
            write_cycles: reader.timing_cycles("cyclescope,write-cycles", "clocks in which the port answers a write"),
        }
    }

    /// The answer to a read of `size` at `offset` that arrived at `now`, from the whole register's value.
    pub fn read(&self, register: u32, offset: u32, size: AccessSize, now: Ps) -> Reply {
        Reply::read(size.extracted(register, offset), self.clock.after(now, self.read_cycles))
    }

    /// The answer to a write that arrived at `now`.
    pub fn written(&self, now: Ps) -> Reply {
        Reply::written(self.clock.after(now, self.write_cycles))
    }
}

/// The value that the port passes to a register for a write at `offset`, on its byte lanes. The write strobes of an
/// access narrower than the register are ignored, as these cores do: the other lanes write zeroes.
pub const fn on_lanes(value: u32, offset: u32, size: AccessSize) -> u32 {
    let lanes = u32::MAX >> (32 - 8 * size.bytes());
    (value & lanes) << (8 * (offset % 4))
}

/// The time of edge number `cycles` of `clock`; `None` beyond the end of any run.
pub fn edge_in_reach(clock: Hz, cycles: u64) -> Option<Ps> {
    (cycles <= clock.cycles_until_floor(FOREVER).0).then(|| clock.ps_at_floor(Cycles(cycles)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn narrow_accesses_use_their_byte_lanes() {
        let clock = Hz::new(100_000_000).unwrap();
        let port = AxiLitePort { clock, read_cycles: Cycles(4), write_cycles: Cycles(3) };
        // A request at 12 ns is taken at the edge of 20 ns: 20 + 4 * 10 = 60 ns.
        assert_eq!(port.read(0x8765_4321, 0, AccessSize::Word, Ps(12_000)), Reply::read(0x8765_4321, Ps(60_000)));
        assert_eq!(port.read(0x8765_4321, 6, AccessSize::Half, Ps(20_000)), Reply::read(0x8765, Ps(60_000)));
        assert_eq!(port.read(0x8765_4321, 1, AccessSize::Byte, Ps(20_000)).value, 0x43);
        assert_eq!(port.written(Ps(20_000)), Reply::written(Ps(50_000)));
        assert_eq!(on_lanes(0xabcd, 2, AccessSize::Byte), 0x00cd_0000);
        assert_eq!(on_lanes(0x8765_4321, 0, AccessSize::Word), 0x8765_4321);
    }

    #[test]
    fn edges_beyond_any_run_are_out_of_reach() {
        let clock = Hz::new(100_000_000).unwrap();
        assert_eq!(edge_in_reach(clock, 5), Some(Ps(50_000)));
        assert_eq!(edge_in_reach(clock, u64::MAX), None);
    }
}

//! The port by which a bus reaches a device's registers: clock gate, byte lanes, time of an answer.

use engine::bus::device::{AccessSize, Ctx, Reply};
use engine::time::Ps;

use crate::support::axi_lite::{AxiLitePort, on_lanes};
use crate::support::clock_gate::{ClockGate, on_all_lanes};

/// What an access narrower than a register writes to the register's other byte lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lanes {
    /// Zeroes: a bus without write strobes, as an APB of the AMBA 3 protocol, or a core that ignores them.
    Zeroes,
    /// The same value again: a bridge that repeats it on all lanes, as those of an STM32.
    Repeated,
    /// What they hold.
    Kept,
}

/// A port of registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Port {
    gate: ClockGate,
    lanes: Lanes,
    /// Clocks of an answer; without them it comes in the cycle of the request.
    clocked: Option<AxiLitePort>,
    /// The bits of an offset that select a register, and bytes of it.
    decoded: u32,
}

impl Port {
    /// A port that answers in the cycle of the request.
    pub const fn new(lanes: Lanes) -> Port {
        Port { gate: ClockGate::NONE, lanes, clocked: None, decoded: u32::MAX }
    }

    /// On an APB: narrow writes have zeroes on the other lanes.
    pub const APB: Port = Port::new(Lanes::Zeroes);

    /// Behind the clock gate and the bridge of an STM32.
    pub const fn gated(gate: ClockGate) -> Port {
        Port { gate, ..Port::new(Lanes::Repeated) }
    }

    /// Behind a clock gate, with narrow writes that change their own lanes only.
    pub const fn gated_with_lanes(gate: ClockGate) -> Port {
        Port { gate, ..Port::new(Lanes::Kept) }
    }

    /// An AXI4-Lite slave, which takes some clocks.
    pub const fn axi_lite(port: AxiLitePort) -> Port {
        Port { clocked: Some(port), ..Port::new(Lanes::Zeroes) }
    }

    /// The same port, of a device that decodes these bits of an offset only.
    #[must_use]
    pub const fn decoding(self, decoded: u32) -> Port {
        Port { decoded, ..self }
    }

    /// The part of an offset that the device decodes.
    pub const fn offset(&self, offset: u32) -> u32 {
        offset & self.decoded
    }

    /// True if a read reaches the registers; else a note says why.
    pub fn takes_reads(&self, ctx: &mut Ctx) -> bool {
        self.gate.is_open(ctx)
    }

    /// True if a write reaches the registers; else a note says why.
    pub fn takes_writes(&self, ctx: &mut Ctx) -> bool {
        self.gate.takes_writes(ctx)
    }

    /// The word that a write of `value` at `offset` passes to a register that holds `held`.
    pub const fn word(&self, held: u32, value: u32, offset: u32, size: AccessSize) -> u32 {
        match self.lanes {
            Lanes::Zeroes => on_lanes(value, offset, size),
            Lanes::Repeated => on_all_lanes(value, size),
            Lanes::Kept => size.merged(held, offset, value),
        }
    }

    /// The answer to a read of a register with this value, by a device that is ready at `ready`.
    pub fn read(&self, register: u32, offset: u32, size: AccessSize, ready: Ps) -> Reply {
        match self.clocked {
            Some(port) => port.read(register, offset, size, ready),
            None => Reply::read(size.extracted(register, offset), ready),
        }
    }

    /// The answer to a write, by a device that is ready at `ready`.
    pub fn written(&self, ready: Ps) -> Reply {
        self.clocked.map_or(Reply::written(ready), |port| port.written(ready))
    }
}

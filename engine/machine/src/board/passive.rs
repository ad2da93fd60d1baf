//! Nodes that are no devices: other nodes refer to them, or they only group nodes.

use super::{cluster, routes};
use engine::dt::reader::{NodeReader, VARIABLE, declare_clock};

/// Such a node.
pub struct Passive {
    /// The devicetree compatible.
    pub compatible: &'static str,
    /// The purpose of the node.
    pub about: &'static str,
    /// Declares the properties that others read from it.
    pub declare: fn(&mut NodeReader),
}

/// All such nodes except `simple-bus` and routes, which have properties of their own.
pub const PASSIVE: [Passive; 7] = [
    Passive {
        compatible: "fixed-clock",
        about: "A clock of the board, which others name in `clocks`. Other properties are not looked at.",
        declare: declare_clock,
    },
    Passive {
        compatible: VARIABLE,
        about: "A clock that a clock controller of the board drives, and firmware changes through it. Its frequency \
                is the one out of reset.",
        declare: declare_clock,
    },
    Passive {
        compatible: "arm,cpu-intc",
        about: "The interrupt inputs of an A-profile core, as a child of its node: 0 is IRQ, 1 is FIQ.",
        declare: |_| (),
    },
    Passive {
        compatible: cluster::COMPATIBLE,
        about: "The snoop control unit of a cluster of Cortex-A7, which keeps their data caches coherent. It is looked \
                at only on a board that runs several of them.",
        declare: |reader| _ = cluster::read_times(reader),
    },
    Passive {
        compatible: "riscv,cpu-intc",
        about: "The interrupt inputs of a RISC-V core, as a child of its node: numbers are those of mip's bits, 0 to \
                31.",
        declare: |_| (),
    },
    Passive {
        compatible: "mti,cpu-interrupt-controller",
        about: "The interrupt inputs of a MIPS core, as a child of its node: 2 to 7, as in Cause.IP.",
        declare: |_| (),
    },
    Passive {
        compatible: "arm,armv7m-nvic",
        about: "The interrupt inputs of an M-profile core, as a child of its node: external interrupts from 0 on; \
                255 is the system timer's.",
        declare: |_| (),
    },
];

/// The compatibles of nodes that are no devices, those with properties of their own among them.
pub fn names() -> impl Iterator<Item = &'static str> {
    PASSIVE.iter().map(|it| it.compatible).chain(["simple-bus", routes::COMPATIBLE])
}

/// True for a compatible of a node that is no device.
pub fn is_passive(compatible: &str) -> bool {
    routes::is_compatible(compatible) || names().any(|name| name == compatible)
}

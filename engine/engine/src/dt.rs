//! The devicetree, as models read it: nodes with file and line, faults, typed properties with their sources.
//!
//! [`node::Node`] is raw; a model asks a [`reader::NodeReader`] for each property that it takes. Every fault is
//! collected, and nothing is built while there is one. All readers of nodes use this module; it depends only on time.

pub mod fault;
pub mod inputs;
pub mod interrupts;
pub mod linux;
pub mod node;
pub mod params;
pub mod reader;
#[cfg(any(test, feature = "testing"))]
pub mod testing;
pub mod wiring;

/// Maximum of `#interrupt-cells` and similar properties: no binding has more.
pub const MOST_CELLS: u32 = 8;

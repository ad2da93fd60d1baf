//! The devicetree, as models read it: nodes with file and line, faults, typed properties with their sources.
//!
//! [`node::Node`] is raw; a model asks a [`reader::NodeReader`] for each property that it takes. Every fault is
//! collected, and nothing is built while there is one. All that reads nodes uses this module; it knows time and nothing
//! else.

pub mod fault;
pub mod inputs;
pub mod interrupts;
pub mod linux;
pub mod node;
pub mod params;
pub mod reader;
pub mod wiring;

/// Most cells that a node may have others use for a number of its kind (`#interrupt-cells` and the like): no binding
/// has more.
pub const MOST_CELLS: u32 = 8;

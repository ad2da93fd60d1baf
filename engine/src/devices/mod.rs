//! Device models: one file a model, named after its devicetree compatible.

use crate::board::reader::NodeReader;
use crate::device::Device;

pub mod registers;

/// A device model: the compatible it answers to, how many `reg` ranges it has, and how it is built from its node.
pub struct Model {
    /// The devicetree compatible.
    pub compatible: &'static str,
    /// Ranges of `reg` that it needs at least.
    pub ranges: usize,
    /// Reads the node; faults go to the reader, and then the result is never used.
    pub from_node: fn(&mut NodeReader) -> Box<dyn Device>,
}

/// All device models, in the order of their compatibles.
pub const MODELS: &[Model] = &[];

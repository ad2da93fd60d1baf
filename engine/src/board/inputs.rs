//! Inputs of interrupt controllers: the numbers that a board may name.

use std::ops::RangeInclusive;

use super::node::Node;

/// Of controllers that have fewer or more than their kind mostly has. Cause.IP 0 and 1 of a MIPS core are software's own; input 255 of an NVIC
/// is the system timer's, those below are external interrupts.
const INPUTS: &[(&str, RangeInclusive<u32>)] = &[
    ("arm,armv7m-nvic", 0..=255),
    ("ingenic,jz4740-intc", 0..=31),
    ("mti,cpu-interrupt-controller", 2..=7),
    ("xlnx,xps-intc-1.00.a", 0..=31),
];

/// The inputs that the controller of this node has, as far as its compatible says.
pub fn of(node: &Node) -> Option<RangeInclusive<u32>> {
    let compatibles = node.compatibles();
    INPUTS.iter().find(|(name, _)| compatibles.contains(name)).map(|(_, inputs)| inputs.clone())
}

/// The end of a sentence about an input that is not there.
pub fn in_words(controller: Option<&Node>) -> String {
    let known = controller.and_then(|node| Some((node.label(), of(node)?)));
    known.map_or_else(String::new, |(name, inputs)| format!(": {name} has {} to {}", inputs.start(), inputs.end()))
}

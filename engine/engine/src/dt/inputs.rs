//! Inputs of interrupt controllers: the numbers that a board may name.

use std::ops::RangeInclusive;

use super::node::Node;

/// Input ranges of controllers that differ from the default. Interrupts 0 to 15 of a GIC, and Cause.IP 0 and 1 of a
/// MIPS core, are raised by software only; input 255 of an NVIC is the system timer's, those below are external
/// interrupts.
const INPUTS: &[(&str, RangeInclusive<u32>)] = &[
    ("arm,armv7m-nvic", 0..=255),
    ("arm,cortex-a7-gic", 16..=287),
    ("arm,gic-400", 16..=287),
    ("ingenic,jz4740-intc", 0..=31),
    ("mti,cpu-interrupt-controller", 2..=7),
    ("xlnx,xps-intc-1.00.a", 0..=31),
];
/// Controllers whose specifiers are a kind (0: shared, 1: private to a processor), a number of that kind, and flags
/// (Linux's binding of arm,gic).
const GICS: [&str; 2] = ["arm,cortex-a7-gic", "arm,gic-400"];
/// First interrupts of a GIC that are private, and shared.
const FIRST_PRIVATE: u32 = 16;
const FIRST_SHARED: u32 = 32;

/// The inputs of this node's controller, if its compatible is known.
pub fn of(node: &Node) -> Option<RangeInclusive<u32>> {
    let compatibles = node.compatibles();
    INPUTS.iter().find(|(name, _)| compatibles.contains(name)).map(|(_, inputs)| inputs.clone())
}

/// The number of the input that these cells name; `None` if they name none.
pub fn number(controller: Option<&Node>, cells: &[u32]) -> Option<u32> {
    match *cells {
        [kind, number, ..] if controller.is_some_and(is_gic) => match kind {
            0 => number.checked_add(FIRST_SHARED),
            1 if number < FIRST_SHARED - FIRST_PRIVATE => Some(number + FIRST_PRIVATE),
            _ => None,
        },
        _ => cells.first().copied(),
    }
}

fn is_gic(node: &Node) -> bool {
    node.compatibles().iter().any(|compatible| GICS.contains(compatible))
}

/// Controllers whose requests are a stream and one of its eight channels (RM0090, "DMA1 request mapping").
const STREAMS: [&str; 2] = ["st,stm32-dma", "st,stm32-dma-v1"];
/// Controllers whose requests are a channel, which firmware picks, and a request's number.
const MULTIPLEXERS: [&str; 1] = ["st,stm32-dmamux"];
/// Controllers whose requests are a request's number, and settings of the channel that the driver picks.
const ROUTERS: [&str; 1] = ["st,stm32h7-dmamux"];

/// The number of the request line that these cells of `dmas` name.
pub fn request(controller: &Node, cells: &[u32]) -> Option<u32> {
    let is_one_of = |names: &[&str]| controller.compatibles().iter().any(|compatible| names.contains(compatible));
    match *cells {
        [stream @ 0..8, channel @ 0..8, ..] if is_one_of(&STREAMS) => Some(8 * stream + channel),
        _ if is_one_of(&STREAMS) => None,
        [_, request, ..] if is_one_of(&MULTIPLEXERS) => Some(request),
        [request, ..] if is_one_of(&ROUTERS) => Some(request),
        [cell, ..] => Some(cell >> 24 & 0x7f),
        [] => None,
    }
}

/// The end of a message about an input that does not exist.
pub fn in_words(controller: Option<&Node>) -> String {
    if let Some(gic) = controller.filter(|node| is_gic(node)) {
        return format!(": {} has 0 (shared) with 0 to 255, and 1 (private) with 0 to 15", gic.label());
    }
    let known = controller.and_then(|node| Some((node.label(), of(node)?)));
    known.map_or_else(String::new, |(name, inputs)| format!(": {name} has {} to {}", inputs.start(), inputs.end()))
}

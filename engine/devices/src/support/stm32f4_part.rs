//! The part of the STM32F4 family.

use engine::dt::reader::NodeReader;

/// A part, or several that are identical in all models.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// STM32F405 and STM32F407.
    F407,
    /// STM32F411.
    F411,
}

impl Part {
    /// The part of a node: `cyclescope,part`. `whose` names the property that depends on the part.
    pub fn from_node(reader: &mut NodeReader, whose: &str) -> Part {
        let parts = [("stm32f407", Part::F407), ("stm32f411", Part::F411)];
        reader.word_or_first("cyclescope,part", &parts, &format!("the part, whose {whose} these are"))
    }
}

//! The parts of the STM32F4 family: STM32F405 and STM32F407, which are identical in all models, and STM32F411.

use engine::dt::reader::NodeReader;

/// What a node's part has (`cyclescope,part`), of that of STM32F405 and STM32F407 and that of STM32F411. `whose` names
/// the property that depends on the part.
pub fn of_part<T: Copy>(reader: &mut NodeReader, whose: &str, [f407, f411]: [T; 2]) -> T {
    let parts = [("stm32f407", f407), ("stm32f411", f411)];
    reader.word_or_first("cyclescope,part", &parts, &format!("the part, whose {whose} these are"))
}

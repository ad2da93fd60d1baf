//! `st,stm32g4-usart`: the USARTs and UARTs of an STM32G4, with FIFOs of 8 characters (RM0440, "Universal
//! synchronous/asynchronous receiver transmitter (USART/UART)").
//!
//! The same as `st,stm32h7-uart`, which has what is modelled and what is not, but for the registers that identify that
//! one: a G4's has none of them.

use super::Usart;
use super::generation::Generation;
use super::h7;
use super::params::Params;
use crate::prelude::*;
use crate::support::activities::SERIAL_WITH_FIFOS;

/// The register map (RM0440, "USART registers").
pub const MAP: Map = joined!(h7::COMMON, h7::OF_USART);

/// The USART of STM32G4.
pub static GENERATION: Generation = Generation { map: &MAP, ..h7::GENERATION };

/// For the list of models.
pub const MODEL: Model = Model::device(Group::Serial, &["st,stm32g4-usart"], 1, from_node)
    .with_activities(SERIAL_WITH_FIFOS)
    .naming(MAP.rows);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    reader.known(&["clock-names"]);
    Box::new(Usart::device(&GENERATION, Params::from_node(&GENERATION, reader)))
}

//! What differs from one generation of the USART to the next.

use super::Usart;
use super::frame::Frame;
use crate::prelude::*;

/// The offset of a register that a generation does not have.
pub const NOWHERE: u32 = u32::MAX;

/// The offsets of the registers that the common behaviour uses.
#[derive(Debug)]
pub struct Places {
    /// USART_CR1.
    pub cr1: u32,
    /// USART_CR2.
    pub cr2: u32,
    /// USART_CR3.
    pub cr3: u32,
    /// USART_BRR.
    pub brr: u32,
    /// USART_PRESC.
    pub presc: u32,
    /// USART_RTOR.
    pub rtor: u32,
    /// The register of received data.
    pub rdr: u32,
}

/// The texts that name registers.
#[derive(Debug)]
pub struct Words {
    /// The clock of a node.
    pub clock: &'static str,
    /// The node's `cyclescope,start-cycles`.
    pub start: &'static str,
    /// The conditions of the requests to a DMA controller.
    pub dma: [&'static str; 2],
    /// The register of data to send.
    pub tdr: &'static str,
}

/// A generation. The bits of all generations have the positions that [`super::h7`] gives, except for UE; a bit that a
/// generation does not have is not among those that exist in its map.
#[derive(Debug)]
pub struct Generation {
    /// Its registers.
    pub map: &'static Map,
    /// Their places.
    pub at: Places,
    /// USART_CR1.UE.
    pub ue: u32,
    /// The bits of USART_CR3 that together enable the interrupt by ORE, FE and NE.
    pub error_enables: u32,
    /// The flags whose interrupts firmware that sleeps may wait for.
    pub announced: u32,
    /// True with FIFOs, and with a second interrupt line, to another processor.
    pub has_fifos: bool,
    /// True if a sender that waits for the receiver's clock continues as soon as that comes.
    pub resumes_with_clock: bool,
    /// The format of characters, from USART_CR1, USART_CR2, USART_BRR and USART_PRESC.
    pub frame: fn(u32, u32, u32, u32) -> Option<Frame>,
    /// [`crate::registers::Table::shown`].
    pub shown: fn(&mut Usart, u32, u32, &mut Ctx) -> u32,
    /// [`crate::registers::Table::wrote`].
    pub wrote: fn(&mut Usart, u32, u32, u32, &mut Ctx),
    /// Its texts.
    pub words: Words,
}

//! `st,stm32-usart`: the USARTs and UARTs of STM32F4 and older STM32 families (RM0090, "Universal synchronous
//! asynchronous receiver transmitter (USART)").
//!
//! Modelled: all registers; the transmitter with USART_DR and the shift register; 8 and 9 bits, parity, stop bits; the
//! baud rate from the peripheral's bus clock, USART_BRR and OVER8; the idle frame that TE sends first; TXE, TC, RXNE,
//! ORE and IDLE with the sequences that clear them (a read of USART_SR, then an access to USART_DR); interrupts;
//! requests to a DMA controller. A bit takes whole clocks; the start bit comes `cyclescope,start-cycles` clocks after a
//! write of USART_DR. When the clock changes, a character on the line continues at the new rate.
//!
//! If TX has no pin (`devices/support/pin_functions.rs`), sent characters are lost, with a note, without an effect on
//! the USART. If RX has no pin while the receiver is on, incoming characters are lost, with a note.
//!
//! Sent characters appear on the console (of the node that `/chosen`'s stdout-path names) or in the node's own stream
//! at the end of their stop bits; characters that are still under way when the firmware ends are sent, too. A received
//! character is in USART_DR at the end of its stop bits; with parity, the highest bit of its word is the parity bit. A
//! character that arrives while RXNE is set is lost. With RTSE, the sender waits meanwhile.
//!
//! If the console's line has another format than the USART's settings, each receiver decodes the waveform with its own
//! settings (`serial/wave.rs`), with PE, FE and NF.
//!
//! Not modelled: break, mute mode, synchronous, smartcard, IrDA, LIN and half-duplex modes, CTS. A character under way
//! is completed when UE is cleared, and lost when TE is cleared.

use super::generation::{Generation, NOWHERE, Places, Words};
use super::h7::{ISR_IDLE, ISR_RXNE, ISR_TC, ISR_TXE};
use super::params::Params;
use super::{Frame, Usart};
use crate::prelude::*;
use crate::support::activities::SERIAL;

registers! {
    /// The register map (RM0090, "USART registers").
    pub const MAP "USART_" {
        SR 0x00 rw volatile reset ISR_TXE | ISR_TC mask 0x3ff;
        DR 0x04 rw volatile mask 0x1ff;
        BRR 0x08 rw mask 0xffff;
        CR1 0x0c rw mask 0xbfff {
            SBK 0, RWU 1, RE 2, TE 3, IDLEIE 4, RXNEIE 5, TCIE 6, TXEIE 7, PEIE 8, PS 9, PCE 10, M 12, UE 13, OVER8 15
        };
        CR2 0x10 rw mask 0x7f6f { CLKEN 11 unmodelled, STOP 12..14, LINEN 14 unmodelled };
        CR3 0x14 rw mask 0xfff {
            EIE 0, IREN 1 unmodelled, HDSEL 3 unmodelled, SCEN 5 unmodelled, DMAR 6, DMAT 7, RTSE 8, CTSE 9 unmodelled
        };
        GTPR 0x18 rw mask 0xffff;
    }
}

/// The USART of STM32F4.
pub const GENERATION: Generation = Generation {
    map: &MAP,
    at: Places { cr1: CR1, cr2: CR2, cr3: CR3, brr: BRR, presc: NOWHERE, rtor: NOWHERE, rdr: DR },
    ue: CR1_UE,
    error_enables: CR3_EIE | CR3_DMAR,
    announced: ISR_RXNE | ISR_IDLE,
    has_fifos: false,
    resumes_with_clock: false,
    frame: Frame::of,
    shown,
    wrote,
    words: Words {
        clock: "the clock of its bus, from which the baud rate is divided",
        start: "clocks from a write of USART_DR to the start bit",
        dma: ["USART_DR is free", "USART_DR has a character"],
        tdr: "USART_DR",
    },
};

/// For the list of models.
pub const MODEL: Model = Model::device(Group::Serial, &["st,stm32-usart", "st,stm32-uart"], 1, from_node)
    .with_activities(SERIAL)
    .naming(MAP.rows);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    Box::new(Usart::device(&GENERATION, Params::from_node(&GENERATION, reader)))
}

fn shown(usart: &mut Usart, register: u32, held: u32, ctx: &mut Ctx) -> u32 {
    match register {
        SR => {
            usart.seen = usart.status();
            usart.seen
        }
        DR => take(usart, ctx),
        _ => held,
    }
}

/// A read of USART_DR. It clears the flags that were seen in USART_SR before, except for TC.
fn take(usart: &mut Usart, ctx: &mut Ctx) -> u32 {
    usart.flags &= !usart.seen | ISR_TC;
    usart.seen &= ISR_TC;
    let character = u16::from(usart.take(ctx));
    usart.frame().map_or(character, |frame| frame.received(character)).into()
}

fn wrote(usart: &mut Usart, register: u32, old: u32, new: u32, ctx: &mut Ctx) {
    match register {
        SR => {
            // A write of 0 clears TC and RXNE; other flags are read-only.
            usart.flags &= new | !ISR_TC;
            if new & ISR_RXNE == 0 {
                usart.last = usart.line.take(ctx.now).unwrap_or(usart.last);
            }
        }
        DR => {
            usart.flags &= !(usart.seen & ISR_TC);
            usart.seen &= !ISR_TC;
            usart.send(new, ctx);
        }
        CR1 => set_cr1(usart, old, new, ctx),
        _ => {}
    }
}

fn set_cr1(usart: &mut Usart, old: u32, new: u32, ctx: &mut Ctx) {
    if new & CR1_SBK != 0 {
        ctx.note("a break (USART_CR1.SBK) is not modelled: nothing is sent");
    }
    // The end of the break character clears SBK.
    usart.registers.put(CR1, CR1_SBK, false);
    if new & CR1_TE == 0 {
        if usart.line.is_shifting() {
            ctx.note("TE was cleared while a character was being sent: it is lost");
        }
        usart.line.cut(ctx);
    }
    usart.begin_idle_frame(old, ctx);
}

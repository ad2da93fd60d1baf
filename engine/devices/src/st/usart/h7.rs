//! `st,stm32h7-uart`: the UARTs of STM32H7 and STM32MP1 (RM0436, "Universal synchronous/asynchronous receiver
//! transmitter (USART/UART)"), the UARTs of STM32L4+, with FIFOs of 8 characters (RM0432), and, as `st,stm32-lpuart`,
//! their LPUART (RM0432, "Low-power universal asynchronous receiver transmitter (LPUART)").
//!
//! Modelled: all registers; the transmitter with TDR or its FIFO of 16 characters and the shift register; word lengths,
//! parity, stop bits; the baud rate from the kernel clock, its prescaler, USART_BRR and OVER8; the idle frame that TE
//! sends first; TXE (TXFNF), TC, TXFE, TXFT, TEACK and REACK; the receiver with RDR or its FIFO of 16 characters, RXNE
//! (RXFNE), RXFF, RXFT, ORE, OVRDIS, IDLE, RTOF; interrupts; requests to a DMA controller; registers that are locked
//! while UE is set. A bit takes whole clocks of the kernel clock; in an LPUART it takes LPUART_BRR / 256 clocks, with
//! edges at whole clocks. When the kernel clock changes, a character on the line continues at the new rate; when it
//! stops, the line stops. The start bit comes `cyclescope,start-cycles` kernel clocks after a write of USART_TDR.
//!
//! If TX has no pin (`devices/support/pin_functions.rs`), sent characters are lost, with a note, without an effect on
//! the UART. If RX has no pin while the receiver is on, incoming characters are lost, with a note.
//!
//! Sent characters appear on the console (of the node that `/chosen`'s stdout-path names) or in the node's own stream
//! at the end of their stop bits; characters that are still under way when the firmware ends are sent, too. A received
//! character is in USART_RDR at the end of its stop bits. With RTSE, the sender waits while the receiver is full.
//!
//! If the console's line has another format than the UART's settings, each receiver decodes the waveform with its own
//! settings (`serial/wave.rs`), with PE, FE and NE.
//!
//! Not modelled: the receiver's character match, break, synchronous, smartcard, IrDA, LIN and half-duplex modes, CTS,
//! low-power modes.

use super::generation::{Generation, Places, Words};
use super::params::Params;
use super::{ACKNOWLEDGES, Frame, TIMERS, Usart};
use crate::prelude::*;
use crate::support::activities::SERIAL_WITH_FIFOS;

registers! {
    /// What a USART and an LPUART have in common (RM0436, "USART registers").
    pub const COMMON "USART_" {
        CR1 0x00 rw mask u32::MAX {
            UE 0, UESM 1, RE 2, TE 3, IDLEIE 4,
            /// RXFNEIE with the FIFO.
            RXNEIE 5,
            TCIE 6,
            /// TXFNFIE with the FIFO.
            TXEIE 7,
            PEIE 8, PS 9, PCE 10, WAKE 11, M0 12, MME 13, CMIE 14, OVER8 15, DEDT 16..21, DEAT 21..26,
            RTOIE 26, EOBIE 27, M1 28, FIFOEN 29, TXFEIE 30, RXFFIE 31
        };
        CR2 0x04 rw mask 0xffff_ff79 {
            SLVEN 0 unmodelled, CLKEN 11 unmodelled, STOP 12..14, LINEN 14 unmodelled, SWAP 15 unmodelled,
            TXINV 17, DATAINV 18, MSBFIRST 19, ABREN 20 unmodelled, RTOEN 23
        };
        CR3 0x08 rw mask 0xfffe_ffff {
            EIE 0, IREN 1 unmodelled, HDSEL 3 unmodelled, SCEN 5 unmodelled, DMAR 6, DMAT 7, RTSE 8,
            CTSE 9 unmodelled, OVRDIS 12, TXFTIE 23, RXFTCFG 25..28, RXFTIE 28, TXFTCFG 29..32
        };
        GTPR 0x10 rw mask 0xffff;
        /// RTO: number of bits without a start bit after a character.
        RTOR 0x14 rw { RTO 0..24, BLEN 24..32 };
        RQR 0x18 wo mask 0x1f { SBKRQ 1, RXFRQ 3, TXFRQ 4 };
        ISR 0x1c ro volatile reset ISR_TC | ISR_TXE mask 0x0fff_ffff {
            PE 0, FE 1, NE 2, ORE 3, IDLE 4,
            /// RXFNE with the FIFO.
            RXNE 5,
            TC 6,
            /// TXFNF with the FIFO.
            TXE 7,
            RTOF 11, TEACK 21, REACK 22, TXFE 23, RXFF 24, RXFT 26, TXFT 27
        };
        /// Its bits have the positions of the flags that they clear.
        ICR 0x20 wo mask 0x0012_3bff { ORECF 3, IDLECF 4, TCCF 6, RTOCF 11 };
        RDR 0x24 ro volatile mask 0x1ff;
        TDR 0x28 rw mask 0x1ff;
        PRESC 0x2c rw mask 0xf;
    }

    /// What identifies those of an STM32MP1.
    pub const IDENTITY "USART_" {
        HWCFGR2 0x3ec ro reset CONFIGURATION mask 0xff;
        HWCFGR1 0x3f0 ro reset CONFIGURATION;
        VERR 0x3f4 ro reset 0x23 mask 0xff;
        IPIDR 0x3f8 ro reset 0x0013_0003;
        SIDR 0x3fc ro reset 0xa3c5_dd01;
    }

    /// A USART's own.
    pub const OF_USART "USART_" {
        BRR 0x0c rw mask 0xffff;
    }

    /// An LPUART's own.
    pub const OF_LPUART "USART_" {
        LONG_BRR "BRR" 0x0c rw mask 0xf_ffff;
    }
}

/// The register map of a USART.
pub const MAP: Map = joined!(COMMON, OF_USART, IDENTITY);
const LPUART_MAP: Map = joined!(COMMON, OF_LPUART, IDENTITY);

/// The reset value of USART_HWCFGR1 and USART_HWCFGR2 (RM0436).
const CONFIGURATION: u32 = 0x14;
/// PS, PCE, WAKE, M0, OVER8, DEDT, DEAT, M1, FIFOEN: writable while UE is 0.
const CR1_LOCKED: u32 = 0x33ff_9e00;
/// The flags of errors in a character.
pub const ISR_ERRORS: u32 = ISR_PE | ISR_FE | ISR_NE;
/// The flags of the receiver.
const ISR_OF_RECEIVER: u32 = ISR_ERRORS | ISR_ORE | ISR_IDLE | ISR_RXNE | ISR_RTOF | ISR_RXFF | ISR_RXFT;

/// The USART of STM32H7, MP1 and L4+.
pub const GENERATION: Generation = Generation {
    map: &MAP,
    at: Places { cr1: CR1, cr2: CR2, cr3: CR3, brr: BRR, presc: PRESC, rtor: RTOR, rdr: RDR },
    ue: CR1_UE,
    error_enables: CR3_EIE,
    announced: ISR_OF_RECEIVER,
    has_fifos: true,
    resumes_with_clock: true,
    frame: Frame::of,
    shown,
    wrote,
    words: Words {
        clock: "the kernel clock, from which the baud rate is divided",
        start: "kernel clocks from a write of USART_TDR to the start bit",
        dma: ["USART_TDR has room", "USART_RDR has a character"],
        tdr: "USART_TDR",
    },
};

/// The LPUART of the same chips, which has a baud rate generator of its own.
pub const LPUART: Generation = Generation { map: &LPUART_MAP, frame: Frame::of_low_power, ..GENERATION };
const LOW_POWER: &str = "st,stm32-lpuart";

/// For the list of models.
pub const MODEL: Model = Model::device(Group::Serial, &["st,stm32h7-uart", LOW_POWER], 1, from_node)
    .with_activities(SERIAL_WITH_FIFOS)
    .naming(MAP.rows);

/// Builds the device from its node.
pub fn from_node(reader: &mut NodeReader) -> Box<dyn Device> {
    reader.known(&["clock-names"]);
    let generation = if reader.node.compatibles().contains(&LOW_POWER) { &LPUART } else { &GENERATION };
    Box::new(Usart::device(generation, Params::from_node(generation, reader)))
}

fn shown(usart: &mut Usart, register: u32, held: u32, ctx: &mut Ctx) -> u32 {
    match register {
        ISR => usart.status(),
        RDR => usart.take(ctx).into(),
        _ => held,
    }
}

fn wrote(usart: &mut Usart, register: u32, old: u32, new: u32, ctx: &mut Ctx) {
    match register {
        BRR | PRESC | GTPR if usart.is_enabled() && new != old => {
            note_locked("USART_BRR, USART_PRESC or USART_GTPR", ctx);
            usart.registers.set(register, old);
        }
        CR1 => set_cr1(usart, old, new, ctx),
        RQR => request(usart, new, ctx),
        ICR => usart.flags &= !new,
        TDR if usart.send(new, ctx) => usart.flags &= !ISR_TC,
        _ => {}
    }
}

fn request(usart: &mut Usart, value: u32, ctx: &mut Ctx) {
    if value & RQR_TXFRQ != 0 {
        usart.line.drop_waiting(ctx.now);
    }
    if value & RQR_RXFRQ != 0 {
        usart.line.drop_received(ctx.now);
    }
    if value & RQR_SBKRQ != 0 {
        ctx.note("a break (USART_RQR.SBKRQ) is not modelled: nothing is sent");
    }
}

fn set_cr1(usart: &mut Usart, old: u32, new: u32, ctx: &mut Ctx) {
    let locked = if old & new & CR1_UE != 0 { CR1_LOCKED } else { 0 };
    if (old ^ new) & locked != 0 {
        note_locked("USART_CR1", ctx);
    }
    usart.registers.set(CR1, old & locked | new & !locked);
    if new & CR1_UE == 0 {
        usart.discard(ctx);
    }
    let arrival = usart.arrival(ctx);
    for (timer, enable) in ACKNOWLEDGES {
        let (on, flag) = (CR1_UE | enable, TIMERS[timer]);
        if new & on != on {
            usart.line.timers[timer] = None;
            usart.flags &= !flag;
        } else if usart.flags & flag == 0 {
            usart.line.timers[timer].get_or_insert(arrival);
        }
    }
    usart.begin_idle_frame(old, ctx);
}

/// Adds a note for a write to locked fields.
fn note_locked(registers: &str, ctx: &mut Ctx) {
    ctx.note(&format!("{registers} was written while UE is set, which locks it: the fields keep their values"));
}

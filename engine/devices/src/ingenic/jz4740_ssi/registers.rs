//! The register map (JZ4740 Programming Manual, chapter Synchronous Serial Interface; names of bits as in Rockbox's
//! jz4740.h).

use crate::prelude::*;
use crate::support::spi_controller::Format;

registers! {
    /// All registers.
    pub const MAP "" {
        SSIDR 0x00 rw volatile mask 0x1_ffff;
        SSICR0 0x04 rw {
            DISREV 0, RFLUSH 1, TFLUSH 2, FSEL 6, RFINC 8, RFINE 9, LOOP 10, REIE 11, TEIE 12, RIE 13, TIE 14, SSIE 15
        };
        SSICR1 0x08 rw reset 0x0000_7860 mask 0xfff0_fff3 {
            POL 0, PHA 1, FLEN 4..8, RTRG 8..10, TTRG 10..12, FMAT 20..22, UNFIN 23, LFST 25, TCKFI 26..28,
            TFVCK 28..30, FRMHL 30..32
        };
        SSISR 0x0c rw reset 0x98 {
            OVER 0 w0c, UNDR 1 w0c, RFHF 2 ro, TFHE 3 ro, RFE 4 ro, TFF 5 ro, BUSY 6 ro, END 7 ro,
            RFIFO_NUM 8..13 ro, TFIFO_NUM 13..18 ro
        };
        SSIITR 0x10 rw mask 0xffff;
        SSIICR 0x14 rw mask 0x7;
        SSIGR 0x18 rw mask 0xff;
    }
}

/// The numbers of words that TTRG and RTRG select.
pub const TRIGGERS: [usize; 4] = [1, 4, 8, 14];

/// The settings of a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State, Polled)]
pub struct Settings {
    /// Words of 2 to 17 bits, and SCK.
    pub format: Format,
    /// The controller receives what it sends.
    pub is_loop: bool,
    /// The chip select that frames use: 0 is SSI_CE_.
    pub select: usize,
    /// The chip selects that are active high, one bit each.
    pub active_high: u32,
    /// Cycles from the chip select to the first bit's time.
    pub lead: u64,
    /// Cycles from the last bit's time to the chip select's end.
    pub trail: u64,
}

impl Settings {
    /// Those of the registers.
    pub fn of(registers: &Registers) -> Settings {
        let (cr0, cr1) = (registers[SSICR0], registers[SSICR1]);
        let format = Format {
            bits: field(cr1, SSICR1_FLEN) + 2,
            lsb_first: cr1 & SSICR1_LFST != 0,
            cpol: cr1 & SSICR1_POL != 0,
            cpha: cr1 & SSICR1_PHA != 0,
            half: u64::from(registers[SSIGR]) + 1,
        };
        let clocks = |bits: u32| u64::from(field(cr1, bits)) * format.period();
        Settings {
            format,
            is_loop: cr0 & SSICR0_LOOP != 0,
            select: usize::from(cr0 & SSICR0_FSEL != 0),
            active_high: field(cr1, SSICR1_FRMHL),
            lead: clocks(SSICR1_TFVCK),
            trail: clocks(SSICR1_TCKFI),
        }
    }

    /// True if a chip select is active high.
    pub const fn is_active_high(self, select: usize) -> bool {
        self.active_high >> select & 1 != 0
    }
}

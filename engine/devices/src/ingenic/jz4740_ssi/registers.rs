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
    /// SSICR0.
    cr0: u32,
    /// SSICR1.
    cr1: u32,
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
        Settings { format, cr0, cr1 }
    }

    /// True if the controller receives what it sends.
    pub fn is_loop(self) -> bool {
        self.cr0 & SSICR0_LOOP != 0
    }

    /// The chip select that frames use: 0 is SSI_CE_.
    pub fn select(self) -> usize {
        usize::from(self.cr0 & SSICR0_FSEL != 0)
    }

    /// True if a chip select is active high.
    pub fn is_active_high(self, select: usize) -> bool {
        field(self.cr1, SSICR1_FRMHL) >> select & 1 != 0
    }

    /// Cycles from the chip select to the first bit's time.
    pub fn lead(self) -> u64 {
        u64::from(field(self.cr1, SSICR1_TFVCK)) * self.format.period()
    }

    /// Cycles from the last bit's time to the chip select's end.
    pub fn trail(self) -> u64 {
        u64::from(field(self.cr1, SSICR1_TCKFI)) * self.format.period()
    }
}

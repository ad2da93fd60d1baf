//! The register map (JZ4740 Programming Manual, chapter Synchronous Serial Interface; names of bits as in Rockbox's
//! jz4740.h).

use crate::prelude::*;

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
const TRIGGERS: [usize; 4] = [1, 4, 8, 14];

/// The settings of a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State, Polled)]
pub struct Settings {
    /// SSICR0.
    pub cr0: u32,
    /// SSICR1.
    pub cr1: u32,
    /// SSIGR.CGV.
    pub divider: u32,
}

impl Settings {
    /// Those of the registers.
    pub fn of(registers: &Registers) -> Settings {
        Settings { cr0: registers[SSICR0], cr1: registers[SSICR1], divider: registers[SSIGR] }
    }

    /// Bits of a word: 2 to 17.
    pub fn bits(self) -> u32 {
        field(self.cr1, SSICR1_FLEN) + 2
    }

    /// The bits of a word, as a mask.
    pub fn mask(self) -> u32 {
        (1 << self.bits()) - 1
    }

    /// A word in the order of the wire, or back: the first bit highest.
    pub fn ordered(self, word: u32) -> u32 {
        if self.cr1 & SSICR1_LFST != 0 { word.reverse_bits() >> (32 - self.bits()) } else { word }
    }

    /// The chip select that frames use: 0 is SSI_CE_.
    pub fn select(self) -> usize {
        usize::from(self.cr0 & SSICR0_FSEL != 0)
    }

    /// True if a chip select is active high.
    pub fn is_active_high(self, select: usize) -> bool {
        field(self.cr1, SSICR1_FRMHL) >> select & 1 != 0
    }

    /// Clocks of SCK from the chip select to the first bit's time.
    pub fn lead_clocks(self) -> u32 {
        field(self.cr1, SSICR1_TFVCK)
    }

    /// Clocks of SCK from the last bit's time to the chip select's end.
    pub fn trail_clocks(self) -> u32 {
        field(self.cr1, SSICR1_TCKFI)
    }

    /// The number of words in the transmit FIFO at and below which it requests more.
    pub fn transmit_trigger(self) -> usize {
        TRIGGERS[field(self.cr1, SSICR1_TTRG) as usize]
    }

    /// The number of words in the receive FIFO from which on it requests a read.
    pub fn receive_trigger(self) -> usize {
        TRIGGERS[field(self.cr1, SSICR1_RTRG) as usize]
    }
}

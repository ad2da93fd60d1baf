//! The register map (JZ4740 Programming Manual, chapter Synchronous Serial Interface; names of bits as in Rockbox's
//! jz4740.h).

use crate::support::registers::{AccessKind, Register};
use engine::state::State;

pub const SSIDR: u32 = 0x00;
pub const SSICR0: u32 = 0x04;
pub const SSICR1: u32 = 0x08;
pub const SSISR: u32 = 0x0c;
pub const SSIITR: u32 = 0x10;
pub const SSIICR: u32 = 0x14;
pub const SSIGR: u32 = 0x18;

/// All registers.
pub const REGISTERS: &[Register] = &[
    Register::new("SSIDR", SSIDR, AccessKind::Rw, 0, 0x1_ffff),
    Register::new("SSICR0", SSICR0, AccessKind::Rw, 0, 0xff47),
    Register::new("SSICR1", SSICR1, AccessKind::Rw, 0x0000_7860, 0xfff0_fff3),
    Register::new("SSISR", SSISR, AccessKind::Rw, sr::END | sr::RFE | sr::TFHE, 0x0003_ffff),
    Register::new("SSIITR", SSIITR, AccessKind::Rw, 0, 0xffff),
    Register::new("SSIICR", SSIICR, AccessKind::Rw, 0, 0x7),
    Register::new("SSIGR", SSIGR, AccessKind::Rw, 0, 0xff),
];

/// Bits of SSICR0.
pub mod cr0 {
    pub const SSIE: u32 = 1 << 15;
    pub const TIE: u32 = 1 << 14;
    pub const RIE: u32 = 1 << 13;
    pub const TEIE: u32 = 1 << 12;
    pub const REIE: u32 = 1 << 11;
    pub const LOOP: u32 = 1 << 10;
    pub const FSEL: u32 = 1 << 6;
    pub const TFLUSH: u32 = 1 << 2;
    pub const RFLUSH: u32 = 1 << 1;
    pub const DISREV: u32 = 1 << 0;
}

/// Bits of SSICR1.
pub mod cr1 {
    pub const FRMHL_SHIFT: u32 = 30;
    pub const TFVCK_SHIFT: u32 = 28;
    pub const TCKFI_SHIFT: u32 = 26;
    pub const LFST: u32 = 1 << 25;
    pub const UNFIN: u32 = 1 << 23;
    pub const FMAT: u32 = 3 << 20;
    pub const TTRG_SHIFT: u32 = 10;
    pub const RTRG_SHIFT: u32 = 8;
    pub const FLEN_SHIFT: u32 = 4;
    pub const PHA: u32 = 1 << 1;
    pub const POL: u32 = 1 << 0;
}

/// Bits of SSISR.
pub mod sr {
    pub const TFIFO_NUM_SHIFT: u32 = 13;
    pub const RFIFO_NUM_SHIFT: u32 = 8;
    pub const END: u32 = 1 << 7;
    pub const BUSY: u32 = 1 << 6;
    pub const TFF: u32 = 1 << 5;
    pub const RFE: u32 = 1 << 4;
    pub const TFHE: u32 = 1 << 3;
    pub const RFHF: u32 = 1 << 2;
    pub const UNDR: u32 = 1 << 1;
    pub const OVER: u32 = 1 << 0;
}

/// The numbers of words that TTRG and RTRG select.
const TRIGGERS: [usize; 4] = [1, 4, 8, 14];

/// The settings of a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State)]
pub struct Settings {
    /// SSICR0.
    pub cr0: u32,
    /// SSICR1.
    pub cr1: u32,
    /// SSIGR.CGV.
    pub divider: u32,
}

impl Settings {
    /// Bits of a word: 2 to 17.
    pub fn bits(self) -> u32 {
        (self.cr1 >> cr1::FLEN_SHIFT & 0xf) + 2
    }

    /// The bits of a word, as a mask.
    pub fn mask(self) -> u32 {
        (1 << self.bits()) - 1
    }

    /// A word in the order of the wire, or back: the first bit highest.
    pub fn ordered(self, word: u32) -> u32 {
        if self.cr1 & cr1::LFST != 0 { word.reverse_bits() >> (32 - self.bits()) } else { word }
    }

    /// The chip select that frames use: 0 is SSI_CE_.
    pub fn select(self) -> usize {
        usize::from(self.cr0 & cr0::FSEL != 0)
    }

    /// True if a chip select is active high.
    pub fn is_active_high(self, select: usize) -> bool {
        self.cr1 >> (cr1::FRMHL_SHIFT + select as u32) & 1 != 0
    }

    /// Clocks of SCK from the chip select to the first bit's time.
    pub fn lead_clocks(self) -> u32 {
        self.cr1 >> cr1::TFVCK_SHIFT & 3
    }

    /// Clocks of SCK from the last bit's time to the chip select's end.
    pub fn trail_clocks(self) -> u32 {
        self.cr1 >> cr1::TCKFI_SHIFT & 3
    }

    /// The number of words in the transmit FIFO at and below which it requests more.
    pub fn transmit_trigger(self) -> usize {
        TRIGGERS[(self.cr1 >> cr1::TTRG_SHIFT & 3) as usize]
    }

    /// The number of words in the receive FIFO from which on it requests a read.
    pub fn receive_trigger(self) -> usize {
        TRIGGERS[(self.cr1 >> cr1::RTRG_SHIFT & 3) as usize]
    }
}

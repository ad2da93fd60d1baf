//! The register maps (RM0090 and RM0432, "SPI register map").

use crate::registers::{Map, joined, registers};

registers! {
    /// The registers of both interfaces.
    pub const COMMON "SPI_" {
        CR1 0x00 rw mask 0xffff {
            CPHA 0, CPOL 1, MSTR 2,
            /// SCK is PCLK / 2^(BR + 1).
            BR 3..6,
            SPE 6, LSBFIRST 7, SSI 8, SSM 9, RXONLY 10, DFF 11, CRCNEXT 12, CRCEN 13,
            /// With BIDIMODE: the data line is an output.
            BIDIOE 14,
            /// One data line, MOSI, for both directions.
            BIDIMODE 15
        };
        SR 0x08 ro volatile reset SR_TXE mask 0x1ff3 { RXNE 0, TXE 1, MODF 5, OVR 6, BSY 7, FRLVL 9..11, FTLVL 11..13 };
        DR 0x0c rw volatile mask 0xffff;
        CRCPR 0x10 rw reset 7 mask 0xffff;
        RXCRCR 0x14 ro mask 0xffff;
        TXCRCR 0x18 ro mask 0xffff;
        I2SCFGR 0x1c rw mask 0x0fbf;
        I2SPR 0x20 rw reset 2 mask 0x03ff;
    }

    /// SPI_CR2 with FIFOs.
    pub const OF_FIFOS "SPI_" {
        CR2 0x04 rw reset CR2_DS_RESET mask 0x7fff {
            RXDMAEN 0, TXDMAEN 1, SSOE 2, ERRIE 5, RXNEIE 6, TXEIE 7,
            /// The size of a word, minus one.
            DS 8..12,
            FRXTH 12
        };
    }

    /// SPI_CR2 without FIFOs.
    pub const OF_WORDS "SPI_" {
        SHORT_CR2 "CR2" 0x04 rw mask 0xf7;
    }
}

/// The interface with FIFOs.
pub const WITH_FIFOS: Map = joined!(COMMON, OF_FIFOS);
/// The interface without FIFOs.
pub const WITHOUT_FIFOS: Map = joined!(COMMON, OF_WORDS);

/// SPI_CR2 after reset: words of 8 bits.
pub const CR2_DS_RESET: u32 = 7 << CR2_DS.trailing_zeros();

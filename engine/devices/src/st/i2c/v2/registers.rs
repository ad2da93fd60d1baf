//! The register map (RM0436, "I2C registers").

use crate::registers::registers;

registers! {
    /// All registers, but those that identify the part (I2C_HWCFGR to I2C_SIDR), which read 0.
    pub const MAP "I2C_" {
        CR1 0x00 rw mask 0x00ff_dfff {
            PE 0, TXIE 1, RXIE 2, ADDRIE 3, NACKIE 4, STOPIE 5, TCIE 6, ERRIE 7,
            /// A number of kernel clocks.
            DNF 8..12,
            ANFOFF 12, TXDMAEN 14, RXDMAEN 15, SBC 16 unmodelled, NOSTRETCH 17 unmodelled, WUPEN 18 unmodelled,
            GCEN 19 unmodelled, SMBHEN 20 unmodelled, SMBDEN 21 unmodelled, ALERTEN 22 unmodelled, PECEN 23 unmodelled
        };
        CR2 0x04 rw mask 0x07ff_ffff {
            SADD 0..10, RD_WRN 10, ADD10 11, HEAD10R 12, START 13, STOP 14, NACK 15, NBYTES 16..24, RELOAD 24,
            AUTOEND 25, PECBYTE 26
        };
        OAR1 0x08 rw mask 0x87ff;
        OAR2 0x0c rw mask 0x87fe;
        TIMINGR 0x10 rw mask 0xf0ff_ffff { SCLL 0..8, SCLH 8..16, SDADEL 16..20, SCLDEL 20..24, PRESC 28..32 };
        TIMEOUTR 0x14 rw mask 0x8fff_9fff { TIMOUTEN 15 unmodelled, TEXTEN 31 unmodelled };
        ISR 0x18 ro volatile reset ISR_TXE mask 0x00ff_bfff {
            TXE 0, TXIS 1, RXNE 2, NACKF 4, STOPF 5, TC 6, TCR 7, BUSY 15
        };
        /// NACKCF and STOPCF have the positions of their flags; ADDRCF clears I2C_CR2.START, too.
        ICR 0x1c wo mask 0x3f38 { ADDRCF 3, NACKCF 4, STOPCF 5 };
        PECR 0x20 ro mask 0xff;
        RXDR 0x24 ro mask 0xff;
        TXDR 0x28 rw mask 0xff;
    }
}

/// DNF and ANFOFF: writable while PE is 0.
pub const CR1_LOCKED: u32 = CR1_DNF | CR1_ANFOFF;
/// What software can set but not clear.
pub const CR2_SET_ONLY: u32 = CR2_START | CR2_STOP | CR2_NACK | CR2_PECBYTE;
/// Bits of I2C_CR1, and the flags whose interrupts they enable.
pub const ENABLES: [(u32, u32); 5] = [
    (CR1_TXIE, ISR_TXIS),
    (CR1_RXIE, ISR_RXNE),
    (CR1_NACKIE, ISR_NACKF),
    (CR1_STOPIE, ISR_STOPF),
    (CR1_TCIE, ISR_TC | ISR_TCR),
];

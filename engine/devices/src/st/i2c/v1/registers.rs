//! The register map (RM0090, "I2C register map").

use crate::registers::registers;

registers! {
    /// All registers.
    pub const MAP "I2C_" {
        CR1 0x00 rw mask 0xbffb {
            PE 0, SMBUS 1, SMBTYPE 3, ENARP 4, ENPEC 5, ENGC 6, NOSTRETCH 7, START 8, STOP 9, ACK 10, POS 11, PEC 12,
            ALERT 13, SWRST 15
        };
        CR2 0x04 rw mask 0x1f3f { FREQ 0..6, ITERREN 8, ITEVTEN 9, ITBUFEN 10, DMAEN 11, LAST 12 };
        OAR1 0x08 rw mask 0xc3ff;
        OAR2 0x0c rw mask 0xff;
        DR 0x10 rw volatile mask 0xff;
        SR1 0x14 rw volatile mask 0xdfdf { SB 0, ADDR 1, BTF 2, RXNE 6, TXE 7, AF 10 };
        SR2 0x18 ro volatile mask 0xfff7 { MSL 0, BUSY 1, TRA 2 };
        CCR 0x1c rw mask 0xcfff { COUNT 0..12, DUTY 14, FAST 15 };
        TRISE 0x20 rw reset TRISE_RESET mask 0x3f;
        FLTR 0x24 rw mask 0x1f;
    }
}

pub const CR1_UNMODELLED: u32 = CR1_SMBUS | CR1_ENARP | CR1_ENPEC | CR1_PEC | CR1_ALERT;
/// What hardware clears while PE is 0.
pub const CR1_CLEARED_WITHOUT_PE: u32 = CR1_START | CR1_STOP | CR1_ACK | CR1_POS | CR1_PEC | CR1_ALERT;
pub const TRISE_RESET: u32 = 2;
/// Flags that a write of 0 clears.
pub const SR1_ERRORS: u32 = 0xdf00;

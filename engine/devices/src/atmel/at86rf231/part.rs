//! The two parts of the model and their differences: AT86RF230 (Atmel 5131) and its successor AT86RF231 (Atmel 8111).

use super::registers::{
    COMMON, IRQ_STATUS_AMI, IRQ_STATUS_AWAKE_CCA_ED, PHY_TX_PWR, RF231, TRX_CTRL_1, TRX_CTRL_1_TX_AUTO_CRC_ON,
};
use super::states::Command;
use crate::prelude::*;

/// Which part it is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Part {
    /// Atmel 5131.
    At86rf230,
    /// Atmel 8111.
    #[default]
    At86rf231,
}

/// The registers of the AT86RF230 that are not those of both parts.
mod of_230 {
    use super::registers;

    registers! {
        pub const MAP "" bytes {
            PHY_TX_PWR 0x05 rw mask 0x8f { TX_AUTO_CRC_ON 7 };
            PHY_RSSI 0x06 ro;
            PHY_ED_LEVEL 0x07 ro;
            IRQ_MASK 0x0e rw reset 0xff;
            PLL_CF 0x1a ro reset 0x5f;
            PART_NUM 0x1c ro reset 0x02;
            SHORT_ADDR "SHORT_ADDR_{}" [0..2; 1] 0x20 rw;
            PAN_ID "PAN_ID_{}" [0..2; 1] 0x22 rw;
            XAH_CTRL 0x2c rw reset 0x38 mask 0xfe;
            CSMA_SEED_1 0x2e rw reset 0xc2 mask 0xef;
        }
    }
}

/// All registers of the AT86RF230. It has no TRX_CTRL_1, TRX_CTRL_2, RX_CTRL, SFD_VALUE, ANT_DIV, RX_SYN, XAH_CTRL_1
/// and CSMA_BE; its least back-off exponent is in CSMA_SEED_1, TX_AUTO_CRC_ON in PHY_TX_PWR. PART_NUM, PHY_ED_LEVEL and
/// PHY_CC_CCA are quoted from its drivers; the other reset values and writable bits are those of the AT86RF231's
/// registers with the same fields, and are not checked against 5131.
pub const RF230: Map = joined!(COMMON, of_230::MAP);

impl Part {
    /// Its registers.
    pub const fn map(self) -> &'static Map {
        match self {
            Part::At86rf230 => &RF230,
            Part::At86rf231 => &RF231,
        }
    }

    /// Its interrupts: the AT86RF230 has none for wake-up, measurement and address.
    pub const fn interrupts(self) -> u32 {
        match self {
            Part::At86rf230 => !(IRQ_STATUS_AWAKE_CCA_ED | IRQ_STATUS_AMI),
            Part::At86rf231 => 0xff,
        }
    }

    /// False for a command whose value is reserved and has no effect.
    pub fn knows(self, command: Command) -> bool {
        self == Part::At86rf231 || command != Command::FORCE_PLL_ON
    }

    /// Register and bit of TX_AUTO_CRC_ON.
    pub const fn auto_crc(self) -> (u32, u32) {
        match self {
            Part::At86rf230 => (PHY_TX_PWR, of_230::PHY_TX_PWR_TX_AUTO_CRC_ON),
            Part::At86rf231 => (TRX_CTRL_1, TRX_CTRL_1_TX_AUTO_CRC_ON),
        }
    }
}

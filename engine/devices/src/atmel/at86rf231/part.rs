//! The two parts of the model and their differences: AT86RF230 (Atmel 5131) and its successor AT86RF231 (Atmel 8111).

use super::registers::{
    CCA_THRES, CSMA_SEED_0, CSMA_SEED_1, FTN_CTRL, IRQ_MASK, IRQ_STATUS, PHY_CC_CCA, PHY_ED_LEVEL, PHY_RSSI,
    PHY_TX_PWR, PLL_CF, PLL_DCU, REGISTERS, Register, TRX_STATE, TRX_STATUS, VREG_CTRL, XAH_CTRL_0, bit, irq, register,
};
use super::states::Command;

/// Which part it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    /// Atmel 5131.
    At86rf230,
    /// Atmel 8111.
    At86rf231,
}

/// Registers of the AT86RF230, in the order of their addresses. It has no TRX_CTRL_1, TRX_CTRL_2, RX_CTRL, SFD_VALUE,
/// ANT_DIV, RX_SYN, XAH_CTRL_1 and CSMA_BE; its least back-off exponent is in CSMA_SEED_1, TX_AUTO_CRC_ON in
/// PHY_TX_PWR. PART_NUM, PHY_ED_LEVEL and PHY_CC_CCA are quoted from its drivers; the other reset values and writable
/// bits are those of the AT86RF231's registers with the same fields, and are not checked against 5131.
pub const REGISTERS_230: &[Register] = &[
    register("TRX_STATUS", TRX_STATUS, 0x00, 0x00),
    register("TRX_STATE", TRX_STATE, 0x00, 0x1f),
    register("TRX_CTRL_0", 0x03, 0x19, 0xff),
    register("PHY_TX_PWR", PHY_TX_PWR, 0x00, 0x8f),
    register("PHY_RSSI", PHY_RSSI, 0x00, 0x00),
    register("PHY_ED_LEVEL", PHY_ED_LEVEL, 0x00, 0x00),
    register("PHY_CC_CCA", PHY_CC_CCA, 0x2b, 0x7f),
    register("CCA_THRES", CCA_THRES, 0xc7, 0x0f),
    register("IRQ_MASK", IRQ_MASK, 0xff, 0xff),
    register("IRQ_STATUS", IRQ_STATUS, 0x00, 0x00),
    register("VREG_CTRL", VREG_CTRL, 0x00, 0x88),
    register("BATMON", 0x11, 0x02, 0x1f),
    register("XOSC_CTRL", 0x12, 0xf0, 0xff),
    register("FTN_CTRL", FTN_CTRL, 0x58, 0x00),
    register("PLL_CF", PLL_CF, 0x5f, 0x00),
    register("PLL_DCU", PLL_DCU, 0x20, 0x00),
    register("PART_NUM", 0x1c, 0x02, 0x00),
    register("VERSION_NUM", 0x1d, 0x02, 0x00),
    register("MAN_ID_0", 0x1e, 0x1f, 0x00),
    register("MAN_ID_1", 0x1f, 0x00, 0x00),
    register("SHORT_ADDR_0", 0x20, 0x00, 0xff),
    register("SHORT_ADDR_1", 0x21, 0x00, 0xff),
    register("PAN_ID_0", 0x22, 0x00, 0xff),
    register("PAN_ID_1", 0x23, 0x00, 0xff),
    register("IEEE_ADDR_0", 0x24, 0x00, 0xff),
    register("IEEE_ADDR_1", 0x25, 0x00, 0xff),
    register("IEEE_ADDR_2", 0x26, 0x00, 0xff),
    register("IEEE_ADDR_3", 0x27, 0x00, 0xff),
    register("IEEE_ADDR_4", 0x28, 0x00, 0xff),
    register("IEEE_ADDR_5", 0x29, 0x00, 0xff),
    register("IEEE_ADDR_6", 0x2a, 0x00, 0xff),
    register("IEEE_ADDR_7", 0x2b, 0x00, 0xff),
    register("XAH_CTRL", XAH_CTRL_0, 0x38, 0xfe),
    register("CSMA_SEED_0", CSMA_SEED_0, 0xea, 0xff),
    register("CSMA_SEED_1", CSMA_SEED_1, 0xc2, 0xef),
];

impl Part {
    /// Its registers.
    pub const fn registers(self) -> &'static [Register] {
        match self {
            Part::At86rf230 => REGISTERS_230,
            Part::At86rf231 => REGISTERS,
        }
    }

    /// Its interrupts: the AT86RF230 has none for wake-up, measurement and address.
    pub const fn interrupts(self) -> u8 {
        match self {
            Part::At86rf230 => !(irq::AWAKE_CCA_ED | irq::AMI),
            Part::At86rf231 => 0xff,
        }
    }

    /// False for a command whose value is reserved and has no effect.
    pub fn knows(self, command: Command) -> bool {
        self == Part::At86rf231 || command != Command::ForcePllOn
    }

    /// Register and bit of TX_AUTO_CRC_ON.
    pub const fn auto_crc(self) -> (u8, u8) {
        match self {
            Part::At86rf230 => (PHY_TX_PWR, 1 << 7),
            Part::At86rf231 => (super::registers::TRX_CTRL_1, bit::TX_AUTO_CRC_ON),
        }
    }
}

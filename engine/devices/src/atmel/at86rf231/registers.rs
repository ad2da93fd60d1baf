//! The register map: addresses, values after reset, and the bits that software may write, from the datasheet's
//! descriptions of the registers. Reset values of whole registers are also in Avrora's simulation of the chip, and
//! agree except for the random bits of PHY_RSSI.

use super::part::Part;
use engine::state::State;

/// A register of 8 bits.
#[derive(Clone, Copy, Debug)]
pub struct Register {
    /// The datasheet's name.
    pub name: &'static str,
    /// Address in an access of registers.
    pub address: u8,
    /// Value after reset.
    pub reset: u8,
    /// Bits that software may write; the others keep their value.
    pub writable: u8,
}

pub(super) const fn register(name: &'static str, address: u8, reset: u8, writable: u8) -> Register {
    Register { name, address, reset, writable }
}

pub const TRX_STATUS: u8 = 0x01;
pub const TRX_STATE: u8 = 0x02;
pub const TRX_CTRL_1: u8 = 0x04;
pub const PHY_TX_PWR: u8 = 0x05;
pub const PHY_RSSI: u8 = 0x06;
pub const PHY_ED_LEVEL: u8 = 0x07;
pub const PHY_CC_CCA: u8 = 0x08;
pub const CCA_THRES: u8 = 0x09;
pub const TRX_CTRL_2: u8 = 0x0c;
pub const IRQ_MASK: u8 = 0x0e;
pub const IRQ_STATUS: u8 = 0x0f;
pub const VREG_CTRL: u8 = 0x10;
pub const BATMON: u8 = 0x11;
pub const RX_SYN: u8 = 0x15;
pub const XAH_CTRL_1: u8 = 0x17;
pub const FTN_CTRL: u8 = 0x18;
pub const PLL_CF: u8 = 0x1a;
pub const PLL_DCU: u8 = 0x1b;
pub const XAH_CTRL_0: u8 = 0x2c;
pub const CSMA_SEED_0: u8 = 0x2d;
pub const CSMA_SEED_1: u8 = 0x2e;
pub const CSMA_BE: u8 = 0x2f;

/// All registers of the AT86RF231, in the order of their addresses. A bit that starts an operation (`..._START`,
/// `CCA_REQUEST`) reads 0, and is not among the bits that keep their value.
pub const REGISTERS: &[Register] = &[
    register("TRX_STATUS", TRX_STATUS, 0x00, 0x00),
    register("TRX_STATE", TRX_STATE, 0x00, 0x1f),
    register("TRX_CTRL_0", 0x03, 0x19, 0xff),
    register("TRX_CTRL_1", TRX_CTRL_1, 0x20, 0xff),
    register("PHY_TX_PWR", PHY_TX_PWR, 0xc0, 0xff),
    register("PHY_RSSI", PHY_RSSI, 0x60, 0x00),
    register("PHY_ED_LEVEL", PHY_ED_LEVEL, 0xff, 0x00),
    register("PHY_CC_CCA", PHY_CC_CCA, 0x2b, 0x7f),
    register("CCA_THRES", CCA_THRES, 0xc7, 0x0f),
    register("RX_CTRL", 0x0a, 0xb7, 0x0f),
    register("SFD_VALUE", 0x0b, 0xa7, 0xff),
    register("TRX_CTRL_2", TRX_CTRL_2, 0x00, 0x83),
    register("ANT_DIV", 0x0d, 0x03, 0x0f),
    register("IRQ_MASK", IRQ_MASK, 0x00, 0xff),
    register("IRQ_STATUS", IRQ_STATUS, 0x00, 0x00),
    register("VREG_CTRL", VREG_CTRL, 0x00, 0x88),
    register("BATMON", BATMON, 0x02, 0x1f),
    register("XOSC_CTRL", 0x12, 0xf0, 0xff),
    register("RX_SYN", RX_SYN, 0x00, 0x8f),
    register("XAH_CTRL_1", XAH_CTRL_1, 0x00, 0x36),
    register("FTN_CTRL", FTN_CTRL, 0x58, 0x00),
    register("PLL_CF", PLL_CF, 0x57, 0x00),
    register("PLL_DCU", PLL_DCU, 0x20, 0x00),
    register("PART_NUM", 0x1c, 0x03, 0x00),
    register("VERSION_NUM", 0x1d, 0x02, 0x00),
    register("MAN_ID_0", 0x1e, 0x1f, 0x00),
    register("MAN_ID_1", 0x1f, 0x00, 0x00),
    register("SHORT_ADDR_0", 0x20, 0xff, 0xff),
    register("SHORT_ADDR_1", 0x21, 0xff, 0xff),
    register("PAN_ID_0", 0x22, 0xff, 0xff),
    register("PAN_ID_1", 0x23, 0xff, 0xff),
    register("IEEE_ADDR_0", 0x24, 0x00, 0xff),
    register("IEEE_ADDR_1", 0x25, 0x00, 0xff),
    register("IEEE_ADDR_2", 0x26, 0x00, 0xff),
    register("IEEE_ADDR_3", 0x27, 0x00, 0xff),
    register("IEEE_ADDR_4", 0x28, 0x00, 0xff),
    register("IEEE_ADDR_5", 0x29, 0x00, 0xff),
    register("IEEE_ADDR_6", 0x2a, 0x00, 0xff),
    register("IEEE_ADDR_7", 0x2b, 0x00, 0xff),
    register("XAH_CTRL_0", XAH_CTRL_0, 0x38, 0xff),
    register("CSMA_SEED_0", CSMA_SEED_0, 0xea, 0xff),
    register("CSMA_SEED_1", CSMA_SEED_1, 0x42, 0xff),
    register("CSMA_BE", CSMA_BE, 0x53, 0xff),
];

/// The bits with a function in the model.
pub mod bit {
    pub const TRX_STATUS_CCA_DONE: u8 = 1 << 7;
    pub const TRX_STATUS_CCA_STATUS: u8 = 1 << 6;
    pub const TRX_CMD: u8 = 0x1f;
    pub const TX_AUTO_CRC_ON: u8 = 1 << 5;
    pub const IRQ_MASK_MODE: u8 = 1 << 1;
    pub const IRQ_POLARITY: u8 = 1 << 0;
    pub const RX_CRC_VALID: u8 = 1 << 7;
    pub const CCA_REQUEST: u8 = 1 << 7;
    pub const CHANNEL: u8 = 0x1f;
    pub const RX_SAFE_MODE: u8 = 1 << 7;
    pub const OQPSK_DATA_RATE: u8 = 0x03;
    pub const AVDD_OK: u8 = 1 << 6;
    pub const DVDD_OK: u8 = 1 << 2;
    pub const BATMON_OK: u8 = 1 << 5;
    pub const RX_PDT_DIS: u8 = 1 << 7;
    pub const START: u8 = 1 << 7;
    pub const CCA_MODE: u8 = 0x60;
    pub const CCA_ED_THRES: u8 = 0x0f;
    pub const AACK_FLTR_RES_FT: u8 = 1 << 5;
    pub const AACK_UPLD_RES_FT: u8 = 1 << 4;
    pub const AACK_ACK_TIME: u8 = 1 << 2;
    pub const AACK_PROM_MODE: u8 = 1 << 1;
    pub const AACK_SET_PD: u8 = 1 << 5;
    pub const AACK_DIS_ACK: u8 = 1 << 4;
    pub const AACK_I_AM_COORD: u8 = 1 << 3;
}

/// Interrupts, as bits of IRQ_STATUS and IRQ_MASK (section 6.6).
pub mod irq {
    pub const PLL_LOCK: u8 = 1 << 0;
    pub const RX_START: u8 = 1 << 2;
    pub const TRX_END: u8 = 1 << 3;
    /// AWAKE_END and CCA_ED_DONE.
    pub const AWAKE_CCA_ED: u8 = 1 << 4;
    /// An address matches.
    pub const AMI: u8 = 1 << 5;
    pub const TRX_UR: u8 = 1 << 6;
}

/// The first byte that the chip sends in an access, as selected by TRX_CTRL_1's SPI_CMD_MODE (table 6-3).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PhyStatus {
    Nothing,
    Register(u8),
}

/// The result of a write.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Written {
    Done,
    /// The register of this name is read-only.
    ReadOnly(&'static str),
    /// There is no register at the address.
    Nowhere,
}

/// The registers' values, without the values that follow from the chip's state.
#[derive(Clone, Debug, State)]
pub struct Registers {
    #[state(skip)]
    part: Part,
    values: [u8; 64],
}

impl Registers {
    /// After reset.
    pub fn new(part: Part) -> Registers {
        let mut values = [0; 64];
        for register in part.registers() {
            values[usize::from(register.address)] = register.reset;
        }
        Registers { part, values }
    }

    /// The value at an address below 64.
    pub fn get(&self, address: u8) -> u8 {
        self.values[usize::from(address & 0x3f)]
    }

    /// Sets a value, whether software may write it or not.
    pub fn set(&mut self, address: u8, value: u8) {
        self.values[usize::from(address & 0x3f)] = value;
    }

    /// A write by software, to the writable bits.
    pub fn write(&mut self, address: u8, value: u8) -> Written {
        let Some(register) = self.at(address) else { return Written::Nowhere };
        let kept = self.get(address) & !register.writable;
        self.set(address, kept | value & register.writable);
        let starts = matches!(address, PHY_ED_LEVEL | FTN_CTRL | PLL_CF | PLL_DCU);
        if register.writable == 0 && !starts { Written::ReadOnly(register.name) } else { Written::Done }
    }

    /// The register at an address.
    pub fn at(&self, address: u8) -> Option<&'static Register> {
        self.part.registers().iter().find(|register| register.address == address)
    }

    /// True if any of `bits` is set.
    pub fn has(&self, address: u8, bits: u8) -> bool {
        self.get(address) & bits != 0
    }

    /// SPI_CMD_MODE.
    pub fn phy_status(&self) -> PhyStatus {
        match self.get(TRX_CTRL_1) >> 2 & 3 {
            0 => PhyStatus::Nothing,
            1 => PhyStatus::Register(TRX_STATUS),
            2 => PhyStatus::Register(PHY_RSSI),
            _ => PhyStatus::Register(IRQ_STATUS),
        }
    }

    /// OQPSK_DATA_RATE: 250 kbit/s times two to its power (table 11-9).
    pub fn data_rate(&self) -> u8 {
        self.get(TRX_CTRL_2) & bit::OQPSK_DATA_RATE
    }
}

//! The register map: addresses, values after reset, and the bits that software may write, from the datasheet's
//! descriptions of the registers. Reset values of whole registers are also in Avrora's simulation of the chip, and
//! agree except for the random bits of PHY_RSSI.

use crate::prelude::*;

registers! {
    /// Registers that both parts have, with the same reset values. A bit that starts an operation (`..._START`,
    /// `CCA_REQUEST`) reads 0, and does not keep its value.
    pub const COMMON "" bytes {
        TRX_STATUS 0x01 ro { STATUS 0..5, CCA_STATUS 6, CCA_DONE 7 };
        TRX_STATE 0x02 rw { TRX_CMD 0..5, TRAC_STATUS 5..8 ro };
        TRX_CTRL_0 0x03 rw reset 0x19;
        PHY_CC_CCA 0x08 rw reset 0x2b { CHANNEL 0..5, CCA_MODE 5..7, CCA_REQUEST 7 ro };
        CCA_THRES 0x09 rw reset 0xc7 { CCA_ED_THRES 0..4, RESERVED 4..8 ro };
        /// Interrupts (section 6.6). AWAKE_CCA_ED: AWAKE_END and CCA_ED_DONE. AMI: an address matches.
        IRQ_STATUS 0x0f ro mask 0xff { PLL_LOCK 0, RX_START 2, TRX_END 3, AWAKE_CCA_ED 4, AMI 5, TRX_UR 6 };
        VREG_CTRL 0x10 rw { DVDD_OK 2 ro, DVREG_EXT 3, AVDD_OK 6 ro, AVREG_EXT 7 };
        BATMON 0x11 rw reset 0x02 { BATMON_VTH 0..5, BATMON_OK 5 ro };
        XOSC_CTRL 0x12 rw reset 0xf0;
        FTN_CTRL 0x18 ro reset 0x58;
        PLL_DCU 0x1b ro reset 0x20 mask 0xff { START 7 };
        VERSION_NUM 0x1d ro reset 0x02;
        MAN_ID_0 0x1e ro reset 0x1f;
        MAN_ID_1 0x1f ro;
        IEEE_ADDR "IEEE_ADDR_{}" [0..8; 1] 0x24 rw;
        CSMA_SEED_0 0x2d rw reset 0xea;
    }

    /// Those of the AT86RF231 alone.
    pub const OF_231 "" bytes {
        TRX_CTRL_1 0x04 rw reset 0x20 mask 0xff {
            IRQ_POLARITY 0, IRQ_MASK_MODE 1, SPI_CMD_MODE 2..4, TX_AUTO_CRC_ON 5
        };
        PHY_TX_PWR 0x05 rw reset 0xc0;
        PHY_RSSI 0x06 ro reset 0x60 mask 0xff { RX_CRC_VALID 7 };
        PHY_ED_LEVEL 0x07 ro reset 0xff;
        RX_CTRL 0x0a rw reset 0xb7 { PDT_THRES 0..4, RESERVED 4..8 ro };
        SFD_VALUE 0x0b rw reset 0xa7;
        TRX_CTRL_2 0x0c rw { OQPSK_DATA_RATE 0..2, RX_SAFE_MODE 7 };
        ANT_DIV 0x0d rw reset 0x03 mask 0x0f;
        IRQ_MASK 0x0e rw;
        RX_SYN 0x15 rw mask 0x8f { RX_PDT_DIS 7 };
        XAH_CTRL_1 0x17 rw {
            AACK_PROM_MODE 1, AACK_ACK_TIME 2, AACK_UPLD_RES_FT 4, AACK_FLTR_RES_FT 5
        };
        PLL_CF 0x1a ro reset 0x57;
        PART_NUM 0x1c ro reset 0x03;
        SHORT_ADDR "SHORT_ADDR_{}" [0..2; 1] 0x20 rw reset 0xff;
        PAN_ID "PAN_ID_{}" [0..2; 1] 0x22 rw reset 0xff;
        XAH_CTRL_0 0x2c rw reset 0x38 mask 0xff { MAX_CSMA_RETRIES 1..4, MAX_FRAME_RETRIES 4..8 };
        CSMA_SEED_1 0x2e rw reset 0x42 {
            CSMA_SEED 0..3, AACK_I_AM_COORD 3, AACK_DIS_ACK 4, AACK_SET_PD 5, AACK_FVN_MODE 6..8
        };
        CSMA_BE 0x2f rw reset 0x53 { MIN_BE 0..4, MAX_BE 4..8 };
    }
}

/// All registers of the AT86RF231.
pub const RF231: Map = joined!(COMMON, OF_231);

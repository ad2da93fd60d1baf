//! The register map (RM0436, "SDMMC registers").

use crate::registers::registers;

registers! {
    pub const MAP "SDMMC_" {
        POWER 0x00 rw { PWRCTRL 0..2, VSWITCH 2 unmodelled, VSWITCHEN 3 unmodelled, DIRPOL 4 };
        CLKCR 0x04 rw {
            CLKDIV 0..10, PWRSAV 12, WIDBUS 14..16, NEGEDGE 16, HWFC_EN 17, DDR 18 unmodelled, BUSSPEED 19,
            SELCLKRX 20..22
        };
        ARGR 0x08 rw;
        CMDR 0x0c rw {
            CMDINDEX 0..6, CMDTRANS 6, CMDSTOP 7, WAITRESP 8..10, WAITINT 10 unmodelled, WAITPEND 11 unmodelled,
            CPSMEN 12, DTHOLD 13 unmodelled, BOOTMODE 14 unmodelled, BOOTEN 15 unmodelled, CMDSUSPEND 16 unmodelled
        };
        RESPCMDR 0x10 ro mask 0x3f;
        RESP1R "RESP{}R" [1..5; 4] 0x14 ro;
        DTIMER 0x24 rw;
        DLENR 0x28 rw mask 0x01ff_ffff;
        DCTRL 0x2c rw {
            DTEN 0, DTDIR 1, DTMODE 2..4, DBLOCKSIZE 4..8, RWSTART 8 unmodelled, RWSTOP 9 unmodelled,
            RWMOD 10 unmodelled, SDIOEN 11 unmodelled, BOOTACKEN 12 unmodelled, FIFORST 13
        };
        DCNTR 0x30 ro volatile;
        STAR 0x34 ro mask 0x1fff_ffff {
            CCRCFAIL 0, DCRCFAIL 1, CTIMEOUT 2, DTIMEOUT 3, TXUNDERR 4, RXOVERR 5, CMDREND 6, CMDSENT 7, DATAEND 8,
            DHOLD 9,
            DBCKEND 10, DABORT 11, DPSMACT 12, CPSMACT 13, TXFIFOHE 14, RXFIFOHF 15, TXFIFOF 16, RXFIFOF 17, TXFIFOE 18,
            RXFIFOE 19, BUSYD0 20, BUSYD0END 21, SDIOIT 22, ACKFAIL 23, ACKTIMEOUT 24, VSWEND 25, CKSTOP 26, IDMATE 27,
            IDMABTC 28
        };
        ICR 0x38 clear STAR mask 0x1fe0_0fff;
        MASKR 0x3c rw mask 0x17ff_efff;
        ACKTIMER 0x40 rw mask 0x01ff_ffff;
        IDMACTRLR 0x50 rw {
            IDMAEN 0,
            /// A linked list of buffers.
            IDMABMODE 1,
        };
        /// IDMABNDT: bytes of a buffer of a linked list, a multiple of 32.
        IDMABSIZER 0x54 rw mask 0x0001_ffe0;
        IDMABASER 0x58 rw mask !3;
        IDMALAR 0x64 rw { IDMALA 2..16, ABR 29, ULS 30, ULA 31 };
        IDMABAR 0x68 rw mask !3;
        /// FIFOR, at 16 addresses.
        FIFOR "FIFOR{}" [0..16; 4] 0x80 rw volatile;
        VERR 0x3f4 ro reset 0x10;
        IPIDR 0x3f8 ro reset 0x0014_0022;
        SIDR 0x3fc ro reset 0xa3c5_dd01;
    }
}

/// A response is short without a CRC, or long (SDMMC_CMDR.WAITRESP); else it is short with a CRC.
pub const SHORT_WITHOUT_CRC: u32 = 2;
pub const LONG: u32 = 3;
/// SDMMC_POWER.PWRCTRL: the card is clocked.
pub const ON: u32 = 3;

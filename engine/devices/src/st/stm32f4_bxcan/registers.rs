//! Registers of a bxCAN (RM0090, "CAN registers"), without those of its filters.

use crate::registers::registers;

registers! {
    /// The register map: control and status, transmit mailboxes, receive mailboxes.
    pub const MAP "CAN_" {
        /// DBF, debug freeze, has no effect in the model.
        MCR 0x00 rw reset MCR_SLEEP | MCR_DBF mask 0x0001_80ff {
            INRQ 0, SLEEP 1, TXFP 2, RFLM 3, NART 4, AWUM 5, ABOM 6, TTCM 7, RESET 15, DBF 16,
        };
        /// SAMP and RX, the last sample and the present one, are always recessive.
        MSR 0x04 rw reset MSR_SAMP | MSR_RX | MSR_SLAK mask 0x0f1f {
            INAK 0 ro, SLAK 1 ro, ERRI 2 w1c, WKUI 3 w1c, SLAKI 4 w1c, TXM 8 ro, RXM 9 ro, SAMP 10 ro, RX 11 ro,
        };
        /// Bits of mailbox 0; the next mailboxes' follow, eight bits apart.
        TSR 0x08 rw volatile reset 0x1c00_0000 mask u32::MAX { RQCP 0, TXOK 1, ALST 2, TERR 3, ABRQ 7 };
        RF0R 0x0c rw volatile mask 0x3b { FULL 3, FOVR 4, RFOM 5 };
        RF1R 0x10 rw volatile mask 0x3b;
        /// FMPIE, FFIE and FOVIE of FIFO 0; those of FIFO 1 are three bits above.
        IER 0x14 rw mask 0x0003_8f7f {
            TMEIE 0, FMPIE 1, FFIE 2, FOVIE 3, EWGIE 8, EPVIE 9, BOFIE 10, LECIE 11, ERRIE 15, WKUIE 16, SLKIE 17,
        };
        ESR 0x18 rw volatile mask 0xffff_0077 { EWGF 0, EPVF 1, BOFF 2, LEC 4..7 };
        BTR 0x1c rw reset 0x0123_0000 mask 0xc37f_03ff {
            BRP 0..10, TS1 16..20, TS2 20..23, SJW 24..26, LBKM 30, SILM 31,
        };
        TIR "TI{}R" [0..3; 16] 0x180 rw volatile mask u32::MAX { TXRQ 0, RTR 1, IDE 2 };
        TDTR "TDT{}R" [0..3; 16] 0x184 rw volatile mask 0xffff_010f { TGT 8 };
        TDLR "TDL{}R" [0..3; 16] 0x188 rw volatile;
        TDHR "TDH{}R" [0..3; 16] 0x18c rw volatile;
        RIR "RI{}R" [0..2; 16] 0x1b0 ro volatile mask 0xffff_fffe;
        RDTR "RDT{}R" [0..2; 16] 0x1b4 ro volatile mask 0xffff_ff0f;
        RDLR "RDL{}R" [0..2; 16] 0x1b8 ro volatile;
        RDHR "RDH{}R" [0..2; 16] 0x1bc ro volatile;
    }
}

/// The end of the mailboxes.
pub const END: u32 = 0x1d0;
/// Fields of TSR: the mailbox that is written next, those that are empty, and those that are sent last.
pub const TSR_CODE: u32 = 24;
pub const TSR_TME: u32 = 26;
pub const TSR_LOW: u32 = 29;

//! Registers and bits of the controller (RM0432, "OCTOSPI registers").

use crate::registers::registers;

registers! {
    /// The register map.
    pub const MAP "OCTOSPI_" {
        /// DQM: two memories in parallel. ENABLES: of the flags of SR, in their order.
        CR 0x000 rw mask 0x30df_1fcd {
            EN 0, DMAEN 2, TCEN 3, DQM 6, FSEL 7, FTHRES 8..13, ENABLES 16..21, APMS 22, PMM 23, FMODE 28..30,
        };
        DCR1 0x008 rw mask 0x071f_0703 { CKMODE 0, CSHT 8..11, DEVSIZE 16..21 };
        DCR2 0x00c rw mask 0x0007_00ff { PRESCALER 0..8 };
        DCR3 0x010 rw mask 0x001f_00ff;
        SR 0x020 ro mask 0x3f3f { TEF 0, TCF 1, FTF 2, SMF 3, TOF 4, BUSY 5, FLEVEL 8..14 };
        FCR 0x024 wo mask 0x1b;
        DLR 0x040 rw;
        AR 0x048 rw;
        DR 0x050 rw volatile;
        PSMKR 0x080 rw;
        PSMAR 0x088 rw;
        PIR 0x090 rw mask 0xffff;
        CCR 0x100 rw mask 0xaf3f_3f3f { SIOO 31 };
        TCR 0x108 rw mask 0x5000_001f;
        IR 0x110 rw;
        ABR 0x120 rw;
        LPTR 0x130 rw mask 0xffff;
        WCCR 0x180 rw mask 0x2f3f_3f3f;
        WTCR 0x188 rw mask 0x1f;
        WIR 0x190 rw;
        WABR 0x1a0 rw;
        HLCR 0x200 rw mask 0x00ff_ff03;
    }
}

/// A write of 1 to this bit of CR ends the present operation; it reads 0.
pub const CR_ABORT: u32 = 1 << 1;
/// Flags of SR that have an enable in CR.
pub const SR_FLAGS: u32 = 0x1f;

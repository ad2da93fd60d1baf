//! The register map, and the fields.

use crate::prelude::*;
use crate::support::memory_wire::FrameTiming;
use engine::wire::spi::Lines;

registers! {
    /// The register map (SAMA5D2 Series datasheet, "Quad Serial Peripheral Interface (QSPI)", "Register Summary").
    pub const MAP "QSPI_" {
        CR 0x00 wo { QSPIEN 0, QSPIDIS 1, SWRST 7, LASTXFER 24 };
        MR 0x04 rw locked_by WPMR_WPEN in WPMR {
            SMM 0, LLB 1, WDRBT 2, SMRM 3, CSMODE 4..6, NBBITS 8..12, DLYBCT 16..24, DLYCS 24..32
        };
        RDR 0x08 ro volatile mask 0xffff;
        TDR 0x0c wo mask 0xffff;
        SR 0x10 ro volatile { RDRF 0, TDRE 1, TXEMPTY 2, OVRES 3, CSR 8, CSS 9, INSTRE 10, QSPIENS 24 };
        IER 0x14 set IMR mask INTERRUPTS;
        IDR 0x18 clear IMR mask INTERRUPTS;
        IMR 0x1c ro mask INTERRUPTS;
        SCR 0x20 rw locked_by WPMR_WPEN in WPMR { CPOL 0, CPHA 1, SCBR 8..16, DLYBS 16..24 };
        IAR 0x30 rw;
        ICR 0x34 rw { INST 0..8, OPT 16..24 };
        IFR 0x38 rw {
            WIDTH 0..3, INSTEN 4, ADDREN 5, OPTEN 6, DATAEN 7, OPTL 8..10, ADDRL 10, TFRTYP 12..14, CRM 14, NBDUM 16..21
        };
        SMR 0x40 rw locked_by WPMR_WPEN in WPMR { SCREN 0, RVDIS 1 };
        SKR 0x44 wo locked_by WPMR_WPEN in WPMR;
        /// The key is "QSP".
        WPMR 0xe4 rw keyed 0x51_5350 in 0xffff_ff00 { WPEN 0 };
        WPSR 0xe8 ro { WPVS 0 rc, WPVSRC 8..16 rc };
    }
}

/// Bits of QSPI_SR that interrupt.
pub const INTERRUPTS: u32 = SR_RDRF | SR_TDRE | SR_TXEMPTY | SR_OVRES | SR_CSR | SR_CSS | SR_INSTRE;

/// QSPI_IFR.TFRTYP.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State, Fresh)]
pub enum Transfer {
    /// TRSFR_READ.
    #[default]
    Read,
    /// TRSFR_READ_MEMORY: at any address of the window, unscrambled.
    ReadMemory,
    /// TRSFR_WRITE.
    Write,
    /// TRSFR_WRITE_MEMORY: scrambled.
    WriteMemory,
}

/// The settings for words and frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State)]
pub struct Settings {
    /// QSPI_MR.
    pub mode: u32,
    /// QSPI_IFR.
    pub frame: u32,
    /// QSPI_ICR.
    pub instruction: u32,
    /// QSPI_IAR.
    pub address: u32,
}

impl Settings {
    /// Those of the registers.
    pub fn of(registers: &Registers) -> Settings {
        let [mode, frame, instruction, address] = [MR, IFR, ICR, IAR].map(|register| registers[register]);
        Settings { mode, frame, instruction, address }
    }

    /// SMM: serial memory mode, else SPI mode.
    pub const fn serial_memory(self) -> bool {
        self.mode & MR_SMM != 0
    }

    /// SMRM: data of TRSFR_READ and TRSFR_WRITE frames pass through QSPI_RDR and QSPI_TDR, not through the window.
    pub const fn register_mode(self) -> bool {
        self.mode & MR_SMRM != 0
    }

    /// WDRBT: no transfer begins before QSPI_RDR has been read; in SPI mode.
    pub const fn waits_for_read(self) -> bool {
        self.mode & MR_WDRBT != 0
    }

    /// NBBITS: bits of a word in SPI mode, 8 to 16; the codes above 8 are reserved, and count as 16.
    pub fn word_bits(self) -> u32 {
        8 + field(self.mode, MR_NBBITS).min(8)
    }

    /// DLYBCT in peripheral clocks: after each transfer in SPI mode.
    pub const fn after_word_cycles(self) -> u64 {
        if self.serial_memory() { 0 } else { 32 * field(self.mode, MR_DLYBCT) as u64 }
    }

    /// WIDTH (application note 44043, table 2-1): lines of the instruction, of address and option, of data. 7 is
    /// reserved, and counts as 6.
    pub const fn lines(self) -> (Lines, Lines, Lines) {
        match field(self.frame, IFR_WIDTH) {
            0 => (Lines::Single, Lines::Single, Lines::Single),
            1 => (Lines::Single, Lines::Single, Lines::Dual),
            2 => (Lines::Single, Lines::Single, Lines::Quad),
            3 => (Lines::Single, Lines::Dual, Lines::Dual),
            4 => (Lines::Single, Lines::Quad, Lines::Quad),
            5 => (Lines::Dual, Lines::Dual, Lines::Dual),
            _ => (Lines::Quad, Lines::Quad, Lines::Quad),
        }
    }

    /// INST, if INSTEN sends it.
    pub fn opcode(self) -> Option<u8> {
        (self.frame & IFR_INSTEN != 0).then_some(self.instruction as u8)
    }

    /// Bits of the address, if ADDREN sends it.
    pub fn address_bits(self) -> Option<u32> {
        (self.frame & IFR_ADDREN != 0).then_some(if self.frame & IFR_ADDRL != 0 { 32 } else { 24 })
    }

    /// Bits of the option code and its value, if OPTEN sends it: the low bits of OPT.
    pub fn option(self) -> Option<(u32, u32)> {
        let bits = 1 << field(self.frame, IFR_OPTL);
        (self.frame & IFR_OPTEN != 0).then_some((bits, field(self.instruction, ICR_OPT) & ((1 << bits) - 1)))
    }

    /// DATAEN.
    pub const fn has_data(self) -> bool {
        self.frame & IFR_DATAEN != 0
    }

    /// TFRTYP.
    pub const fn transfer(self) -> Transfer {
        match field(self.frame, IFR_TFRTYP) {
            0 => Transfer::Read,
            1 => Transfer::ReadMemory,
            2 => Transfer::Write,
            _ => Transfer::WriteMemory,
        }
    }

    /// CRM: after the first frame of a memory read, frames have no instruction.
    pub const fn continuous(self) -> bool {
        self.frame & IFR_CRM != 0 && matches!(self.transfer(), Transfer::ReadMemory)
    }

    /// NBDUM.
    pub const fn dummies(self) -> u32 {
        field(self.frame, IFR_NBDUM)
    }
}

/// The times of QSPI_SCR and QSPI_MR, in peripheral clocks.
pub fn timing(registers: &Registers) -> FrameTiming {
    let [cpol, cpha] = [SCR_CPOL, SCR_CPHA].map(|bit| registers.has(SCR, bit));
    let period = u64::from(registers.field(SCR, SCR_SCBR)) + 1;
    // DLYBS counts to the first edge; 0 is half a period of the serial clock. With CPHA 0 that edge is in the middle of
    // the first bit, whose first half is part of the wait; with CPHA 1 it begins the first bit.
    let half = period.div_ceil(2);
    let to_edge = match registers.field(SCR, SCR_DLYBS) {
        0 => half,
        cycles => cycles.into(),
    };
    let before_clock = if cpha { to_edge } else { to_edge.saturating_sub(half) };
    let inactive = u64::from(registers.field(MR, MR_DLYCS)).max(1);
    FrameTiming { period, before_clock, inactive, cpol, cpha, ..FrameTiming::default() }
}

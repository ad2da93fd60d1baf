//! The register map, and the fields.

use crate::support::registers::{AccessKind, Register};
use engine::state::{Fresh, State};
use engine::wire::spi::Lines;

pub const QSPI_CR: u32 = 0x00;
pub const QSPI_MR: u32 = 0x04;
pub const QSPI_RDR: u32 = 0x08;
pub const QSPI_TDR: u32 = 0x0c;
pub const QSPI_SR: u32 = 0x10;
pub const QSPI_IER: u32 = 0x14;
pub const QSPI_IDR: u32 = 0x18;
pub const QSPI_IMR: u32 = 0x1c;
pub const QSPI_SCR: u32 = 0x20;
pub const QSPI_IAR: u32 = 0x30;
pub const QSPI_ICR: u32 = 0x34;
pub const QSPI_IFR: u32 = 0x38;
pub const QSPI_SMR: u32 = 0x40;
pub const QSPI_SKR: u32 = 0x44;
pub const QSPI_WPMR: u32 = 0xe4;
pub const QSPI_WPSR: u32 = 0xe8;

/// The register map (SAMA5D2 Series datasheet, "Quad Serial Peripheral Interface (QSPI)", "Register Summary").
pub const REGISTERS: &[Register] = &[
    Register::new("QSPI_CR", QSPI_CR, AccessKind::Wo, 0, 0x0100_0083),
    Register::new("QSPI_MR", QSPI_MR, AccessKind::Rw, 0, 0xffff_0f3f),
    Register::new("QSPI_RDR", QSPI_RDR, AccessKind::Ro, 0, 0xffff),
    Register::new("QSPI_TDR", QSPI_TDR, AccessKind::Wo, 0, 0xffff),
    Register::new("QSPI_SR", QSPI_SR, AccessKind::Ro, 0, 0x0100_070f),
    Register::new("QSPI_IER", QSPI_IER, AccessKind::Wo, 0, sr::INTERRUPTS),
    Register::new("QSPI_IDR", QSPI_IDR, AccessKind::Wo, 0, sr::INTERRUPTS),
    Register::new("QSPI_IMR", QSPI_IMR, AccessKind::Ro, 0, sr::INTERRUPTS),
    Register::new("QSPI_SCR", QSPI_SCR, AccessKind::Rw, 0, 0x00ff_ff03),
    Register::new("QSPI_IAR", QSPI_IAR, AccessKind::Rw, 0, u32::MAX),
    Register::new("QSPI_ICR", QSPI_ICR, AccessKind::Rw, 0, 0x00ff_00ff),
    Register::new("QSPI_IFR", QSPI_IFR, AccessKind::Rw, 0, 0x001f_77f7),
    Register::new("QSPI_SMR", QSPI_SMR, AccessKind::Rw, 0, 0x3),
    Register::new("QSPI_SKR", QSPI_SKR, AccessKind::Wo, 0, u32::MAX),
    Register::new("QSPI_WPMR", QSPI_WPMR, AccessKind::Rw, 0, 0xffff_ff01),
    Register::new("QSPI_WPSR", QSPI_WPSR, AccessKind::Ro, 0, 0xff01),
];

/// Fields of QSPI_CR.
pub mod cr {
    pub const QSPIEN: u32 = 1 << 0;
    pub const QSPIDIS: u32 = 1 << 1;
    pub const SWRST: u32 = 1 << 7;
    pub const LASTXFER: u32 = 1 << 24;
}

/// Bits of QSPI_SR, and of the interrupt registers.
pub mod sr {
    pub const RDRF: u32 = 1 << 0;
    pub const TDRE: u32 = 1 << 1;
    pub const TXEMPTY: u32 = 1 << 2;
    pub const OVRES: u32 = 1 << 3;
    pub const CSR: u32 = 1 << 8;
    pub const CSS: u32 = 1 << 9;
    pub const INSTRE: u32 = 1 << 10;
    pub const QSPIENS: u32 = 1 << 24;
    pub const INTERRUPTS: u32 = RDRF | TDRE | TXEMPTY | OVRES | CSR | CSS | INSTRE;
}

/// Fields of QSPI_SMR.
pub mod smr {
    pub const SCREN: u32 = 1 << 0;
    pub const RVDIS: u32 = 1 << 1;
}

/// True for the registers that QSPI_WPMR.WPEN protects.
pub const fn is_protected(offset: u32) -> bool {
    matches!(offset, QSPI_MR | QSPI_SCR | QSPI_SMR | QSPI_SKR)
}

/// The condition for chip select to go inactive in SPI mode (QSPI_MR.CSMODE). In serial memory mode it is LASTXFER for
/// all values of the field.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SelectMode {
    /// If the next word is missing when a transfer ends.
    NotReloaded,
    /// After the word that was in QSPI_TDR when QSPI_CR.LASTXFER was written.
    LastTransfer,
    /// After each transfer.
    Systematically,
}

/// QSPI_MR.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State)]
pub struct Mode(pub u32);

impl Mode {
    /// SMM: serial memory mode, else SPI mode.
    pub const fn serial_memory(self) -> bool {
        self.0 & 1 << 0 != 0
    }

    /// LLB: the sent data are received; in SPI mode.
    pub const fn loopback(self) -> bool {
        self.0 & 1 << 1 != 0 && !self.serial_memory()
    }

    /// WDRBT: no transfer begins before QSPI_RDR has been read; in SPI mode.
    pub const fn waits_for_read(self) -> bool {
        self.0 & 1 << 2 != 0
    }

    /// SMRM: data of TRSFR_READ and TRSFR_WRITE frames pass through QSPI_RDR and QSPI_TDR, not through the window.
    pub const fn register_mode(self) -> bool {
        self.0 & 1 << 3 != 0
    }

    /// CSMODE, or its forced value.
    pub const fn select_mode(self) -> SelectMode {
        match self.0 >> 4 & 3 {
            _ if self.serial_memory() => SelectMode::LastTransfer,
            0 => SelectMode::NotReloaded,
            1 => SelectMode::LastTransfer,
            _ => SelectMode::Systematically,
        }
    }

    /// NBBITS: bits of a word in SPI mode, 8 to 16; the codes above 8 are reserved, and count as 16.
    pub const fn word_bits(self) -> u32 {
        let code = self.0 >> 8 & 0xf;
        8 + if code > 8 { 8 } else { code }
    }

    /// DLYBCT in peripheral clocks: after each transfer in SPI mode.
    pub const fn after_word_cycles(self) -> u64 {
        if self.serial_memory() { 0 } else { 32 * (self.0 >> 16 & 0xff) as u64 }
    }

    /// DLYCS in peripheral clocks: the least time for which chip select is inactive.
    pub const fn inactive_cycles(self) -> u64 {
        let cycles = (self.0 >> 24) as u64;
        if cycles == 0 { 1 } else { cycles }
    }
}

/// QSPI_SCR.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State)]
pub struct SerialClock(pub u32);

impl SerialClock {
    /// CPOL.
    pub const fn polarity(self) -> bool {
        self.0 & 1 != 0
    }

    /// CPHA.
    pub const fn phase(self) -> bool {
        self.0 & 2 != 0
    }

    /// Peripheral clocks of a period of the serial clock: SCBR + 1.
    pub const fn period_cycles(self) -> u64 {
        (self.0 >> 8 & 0xff) as u64 + 1
    }

    /// From chip select to the first clock's period. DLYBS counts to the first edge; 0 is half a period of the serial
    /// clock. With CPHA 0 that edge is in the middle of the first bit, whose first half is part of the wait; with CPHA
    /// 1 it begins the first bit.
    pub const fn before_clock_cycles(self) -> u64 {
        let half = self.period_cycles().div_ceil(2);
        let to_edge = match (self.0 >> 16 & 0xff) as u64 {
            0 => half,
            cycles => cycles,
        };
        if self.phase() { to_edge } else { to_edge.saturating_sub(half) }
    }
}

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

/// QSPI_IFR with QSPI_ICR: the phases of a frame.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, State)]
pub struct Instruction {
    /// QSPI_IFR.
    pub ifr: u32,
    /// QSPI_ICR.
    pub icr: u32,
}

impl Instruction {
    /// WIDTH (application note 44043, table 2-1): lines of the instruction, of address and option, of data. 7 is
    /// reserved, and counts as 6.
    pub const fn lines(self) -> (Lines, Lines, Lines) {
        match self.ifr & 7 {
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
        (self.ifr & 1 << 4 != 0).then_some(self.icr as u8)
    }

    /// Bits of the address, if ADDREN sends it.
    pub fn address_bits(self) -> Option<u32> {
        (self.ifr & 1 << 5 != 0).then_some(if self.ifr & 1 << 10 != 0 { 32 } else { 24 })
    }

    /// Bits of the option code and its value, if OPTEN sends it: the low bits of OPT.
    pub fn option(self) -> Option<(u32, u32)> {
        let bits = 1 << (self.ifr >> 8 & 3);
        (self.ifr & 1 << 6 != 0).then_some((bits, self.icr >> 16 & ((1 << bits) - 1)))
    }

    /// DATAEN.
    pub const fn has_data(self) -> bool {
        self.ifr & 1 << 7 != 0
    }

    /// TFRTYP.
    pub const fn transfer(self) -> Transfer {
        match self.ifr >> 12 & 3 {
            0 => Transfer::Read,
            1 => Transfer::ReadMemory,
            2 => Transfer::Write,
            _ => Transfer::WriteMemory,
        }
    }

    /// CRM: after the first frame of a memory read, frames have no instruction.
    pub const fn continuous(self) -> bool {
        self.ifr & 1 << 14 != 0 && matches!(self.transfer(), Transfer::ReadMemory)
    }

    /// NBDUM.
    pub const fn dummies(self) -> u32 {
        self.ifr >> 16 & 0x1f
    }
}

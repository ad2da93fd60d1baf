//! The registers of the N25Q128A and what their bits mean.
//!
//! Micron N25Q128A datasheet, sections "Nonvolatile and Volatile Registers", tables "Status Register Bit Definitions",
//! "Nonvolatile Configuration Register Bit Definitions", "Volatile ..." and "Enhanced Volatile ...", "Flag Status
//! Register Bit Definitions", "Lock Register", "Protected Area Sizes".

use super::{Condition, Failure, ReadEnd, WriteTime, Writing, Written};
use crate::jedec::spi_nor::commands::{Command, Dummies, Protocol, Source, Target};
use crate::jedec::spi_nor::notes::Note;
use crate::jedec::spi_nor::parts::SECTOR_BYTES;
use engine::state::State;

/// Status register: write in progress.
const WIP: u8 = 1 << 0;
/// Status register: write enable latch.
const WEL: u8 = 1 << 1;
/// Status register: block protect bits 2 to 0.
const BP_LOW: u8 = 7 << 2;
/// Status register: protected blocks count from the bottom, not from the top.
const BOTTOM: u8 = 1 << 5;
/// Status register: block protect bit 3.
const BP3: u8 = 1 << 6;
/// Status register bits that WRITE STATUS REGISTER writes: write disable (bit 7; W# is held high, so it locks nothing)
/// and protection.
const STATUS_WRITABLE: u8 = 0xfc;

/// Flag status register: ready.
const READY: u8 = 1 << 7;
/// Flag status register: an erase is suspended.
const ERASE_SUSPENDED: u8 = 1 << 6;
/// Flag status register: an erase failed.
const ERASE_ERROR: u8 = 1 << 5;
/// Flag status register: a program failed.
const PROGRAM_ERROR: u8 = 1 << 4;
/// Flag status register: a program is suspended.
const PROGRAM_SUSPENDED: u8 = 1 << 2;
/// Flag status register: the error was caused by protection.
const PROTECTION_ERROR: u8 = 1 << 1;

/// Volatile configuration register: XIP is off.
const XIP_OFF: u8 = 1 << 3;
/// Lock register: the sector is write-protected.
const WRITE_LOCKED: u8 = 1 << 0;
/// Lock register: it can't be changed before the next reset.
const LOCKED_DOWN: u8 = 1 << 1;

/// Delivered state of the nonvolatile configuration register.
pub const NONVOLATILE_DEFAULT: u16 = 0xffff;
/// Volatile configuration register except for dummy clocks and XIP: bit 2 reads 0, wrap is off.
const VOLATILE_BASE: u8 = 0x03;
/// Enhanced volatile configuration register except for protocol, hold and drive: bit 5 reads 0, VPP acceleration is
/// off.
const ENHANCED_BASE: u8 = 0x08;

/// All registers except the volatile state of a cycle in progress.
#[derive(Clone, Debug, State)]
pub struct Registers {
    /// Status register, bits 7 to 2.
    status: u8,
    /// Error bits of the flag status register.
    errors: u8,
    /// The nonvolatile configuration register.
    nonvolatile: u16,
    /// The volatile configuration register.
    volatile: u8,
    /// The enhanced volatile configuration register.
    enhanced: u8,
    /// Lock register of each sector.
    #[state(with = engine::state::fixed)]
    locks: Vec<u8>,
}

impl Registers {
    /// Registers after power-up.
    pub fn new(nonvolatile: u16, size_bytes: u32) -> Registers {
        let locks = vec![0; (size_bytes / SECTOR_BYTES) as usize];
        let mut registers = Registers { status: 0, errors: 0, nonvolatile, volatile: 0, enhanced: 0, locks };
        registers.reset();
        registers
    }

    /// Power-up and RESET MEMORY: loads the volatile registers from the nonvolatile one.
    pub fn reset(&mut self) {
        let nonvolatile = self.nonvolatile;
        let dummies = (nonvolatile >> 8) as u8 & 0xf0;
        let xip_off = if nonvolatile >> 9 & 7 == 7 { XIP_OFF } else { 0 };
        self.volatile = dummies | xip_off | VOLATILE_BASE;
        let protocol = (nonvolatile & 0xc) as u8; // bit 3 quad off, bit 2 dual off
        let hold = (nonvolatile & 0x10) as u8;
        let drive = (nonvolatile >> 6 & 7) as u8;
        self.enhanced = protocol << 4 | hold | ENHANCED_BASE | drive;
        self.errors = 0;
        self.locks.fill(0);
    }

    /// The protocol in use; quad wins where both are on.
    pub const fn protocol(&self) -> Protocol {
        match self.enhanced >> 6 {
            0 | 1 => Protocol::Quad,
            2 => Protocol::Dual,
            _ => Protocol::Extended,
        }
    }

    /// Dummy clocks of a command; by default 10 in the quad protocol.
    pub const fn dummy_clocks(&self, dummies: Dummies) -> u32 {
        match (dummies, self.volatile >> 4) {
            (Dummies::None, _) => 0,
            (Dummies::Fixed(clocks), _) => clocks,
            (Dummies::Configured(clocks), 0 | 15) => {
                if matches!(self.protocol(), Protocol::Quad) {
                    10
                } else {
                    clocks
                }
            }
            (Dummies::Configured(_), clocks) => clocks as u32,
        }
    }

    /// Bytes after which a read with dummy clocks wraps, if it does.
    pub(super) const fn wrap_bytes(&self, command: &Command) -> Option<u32> {
        match (command.dummies, self.volatile & 3) {
            (Dummies::Configured(_), 0) => Some(16),
            (Dummies::Configured(_), 1) => Some(32),
            (Dummies::Configured(_), 2) => Some(64),
            _ => None,
        }
    }

    /// A fast read's confirmation bit turns XIP on, if the volatile configuration register allows it, or off for the
    /// following frames, and then sets the register's bit back.
    pub(super) fn continues(&mut self, end: ReadEnd) -> bool {
        match end.confirmation {
            Some(false) if self.volatile & XIP_OFF == 0 => true,
            Some(true) if end.continuing => {
                self.volatile |= XIP_OFF;
                false
            }
            _ => end.continuing,
        }
    }

    /// The fast read that is active right after power-up (nonvolatile configuration register, bits 11 to 9).
    pub const fn xip_opcode_at_power_up(&self) -> Option<u8> {
        match self.nonvolatile >> 9 & 7 {
            0 => Some(0x0b),
            1 => Some(0x3b),
            2 => Some(0xbb),
            3 => Some(0x6b),
            4 => Some(0xeb),
            _ => None,
        }
    }

    /// A byte of a register.
    pub(super) fn read(&self, source: Source, address: u32, index: u32, condition: Condition) -> u8 {
        match source {
            Source::Status => {
                let latch = if condition.write_enabled { WEL } else { 0 };
                self.status | latch | if condition.busy { WIP } else { 0 }
            }
            Source::FlagStatus => {
                self.errors
                    | if condition.busy { 0 } else { READY }
                    | if condition.erase_suspended { ERASE_SUSPENDED } else { 0 }
                    | if condition.program_suspended { PROGRAM_SUSPENDED } else { 0 }
            }
            Source::Lock => self.lock(address),
            Source::Nonvolatile => self.nonvolatile.to_le_bytes()[index as usize % 2],
            Source::Volatile => self.volatile,
            Source::EnhancedVolatile => self.enhanced,
            _ => 0xff,
        }
    }

    /// Writes a register: volatile ones in 40 ns.
    pub(super) fn write(&mut self, writing: Writing) -> Written {
        let value = writing.data[0];
        let mut written = Written { time: WriteTime::None, note: None };
        match writing.target {
            Target::Status => {
                self.status = value & STATUS_WRITABLE;
                written.time = WriteTime::Status;
            }
            Target::Nonvolatile => {
                self.nonvolatile = u16::from_le_bytes([value, writing.data[1]]);
                written.time = WriteTime::Nonvolatile;
            }
            Target::Lock => {
                let address = writing.address;
                if !self.write_lock(address, value) {
                    written.note = Some(Note::LockedDown { address });
                }
            }
            Target::Volatile => self.volatile = value & 0xfb,
            Target::EnhancedVolatile => self.enhanced = value & 0xdf,
            Target::Registers | Target::AnyRegister => {}
        }
        written
    }

    /// Records an error; the chip is ready again at once.
    pub(super) fn fail(&mut self, failure: Failure) -> bool {
        self.errors |= PROTECTION_ERROR
            | match failure {
                Failure::Program => PROGRAM_ERROR,
                Failure::Erase => ERASE_ERROR,
            };
        false
    }

    pub(super) fn clear_errors(&mut self) {
        self.errors = 0;
    }

    fn lock(&self, address: u32) -> u8 {
        self.locks[(address / SECTOR_BYTES) as usize]
    }

    /// WRITE LOCK REGISTER: false if the register is locked down.
    fn write_lock(&mut self, address: u32, value: u8) -> bool {
        let lock = &mut self.locks[(address / SECTOR_BYTES) as usize];
        let open = *lock & LOCKED_DOWN == 0;
        if open {
            *lock = value & (WRITE_LOCKED | LOCKED_DOWN);
        }
        open
    }

    /// True if the sector of `address` is protected, by block protection or by its lock register.
    pub fn is_protected(&self, address: u32) -> bool {
        let sectors = self.locks.len() as u32;
        let sector = address / SECTOR_BYTES;
        let protected = self.protected_sectors();
        let by_block = if self.status & BOTTOM != 0 { sector < protected } else { sector >= sectors - protected };
        by_block || self.lock(address) & WRITE_LOCKED != 0
    }

    /// True if any sector is protected: BULK ERASE then does nothing.
    pub fn is_any_protected(&self) -> bool {
        self.protected_sectors() > 0 || self.locks.iter().any(|lock| lock & WRITE_LOCKED != 0)
    }

    /// Block protect value n protects 2^(n-1) sectors, up to all.
    fn protected_sectors(&self) -> u32 {
        let level = u32::from((self.status & BP_LOW) >> 2 | (self.status & BP3) >> 3);
        let sectors = self.locks.len() as u32;
        if level == 0 { 0 } else { sectors.min(1 << (level - 1)) }
    }
}
